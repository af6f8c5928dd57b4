//! Iso-surfaces of the harmonic field, evenly spaced along the muscle.

use super::{
    ends::{Role, STEPS, geodesic},
    grid::{NONE, VolumeGrid},
};
use glam::DVec3;

/// Cells over which the field's mean gradient is taken.
const CELLS_PER_BIN: usize = 64;
/// Nearest that an end section comes to the muscle's end, as a part of its length.
const LEAST_INSET: f64 = 0.01;
/// Farthest that it stays from it.
const MOST_INSET: f64 = 0.25;

/// The muscle's arc length as a function of place: what the harmonic field becomes when it is stretched so that it
/// grows by a metre per metre, in the mean over each of its iso-surfaces.
pub(super) struct ArcLength {
    /// Of every cell's centre, from the source end (m).
    pub(super) along: Vec<f64>,
    /// Its gradient in every cell.
    gradients: Vec<DVec3>,
    /// Of the whole muscle (m).
    pub(super) length: f64,
    /// Volume before equally spaced arc lengths from 0 to `length` (m³).
    cumulative: Vec<f64>,
    /// Spacing of `cumulative` (m).
    step: f64,
}

impl ArcLength {
    pub(super) fn new(grid: &VolumeGrid, roles: &[Role], field: &[f64]) -> Self {
        let mut along = stretched(grid, roles, field);
        // The zones beyond the field: by distance from where it begins.
        let free: Vec<u32> = (0..roles.len() as u32).filter(|&cell| roles[cell as usize] == Role::Free).collect();
        let distances = geodesic(grid, &free);
        let end = free.iter().map(|&cell| along[cell as usize]).fold(0.0, f64::max);
        let unit = grid.size / f64::from(STEPS[0]);
        for (cell, role) in roles.iter().enumerate() {
            let beyond = f64::from(distances[cell].min(1 << 24)) * unit - grid.size;
            match role {
                Role::Free => {}
                Role::Source => along[cell] = -beyond,
                Role::Sink => along[cell] = end.max(along[cell]) + beyond,
            }
        }
        let half = 0.5 * grid.size;
        let start = along.iter().copied().fold(f64::INFINITY, f64::min) - half;
        let length = along.iter().copied().fold(f64::NEG_INFINITY, f64::max) + half - start;
        for place in &mut along {
            *place -= start;
        }
        let gradients = (0..along.len()).map(|cell| gradient(grid, cell, &along)).collect();
        let count = (4.0 * length / grid.size).ceil().max(1.0) as usize;
        let step = length / count as f64;
        // A cell's volume is spread over a cell's length; `whole` collects it where that is passed.
        let mut cumulative = vec![0.0; count + 1];
        let mut whole = vec![0.0; count + 1];
        for (cell, place) in along.iter().enumerate() {
            let volume = grid.cell_volume(cell);
            let first = ((place - half) / step).floor().max(0.0) as usize;
            for index in first..=count {
                let part = (index as f64 * step - (place - half)) / grid.size;
                if part >= 1.0 {
                    whole[index] += volume;
                    break;
                }
                cumulative[index] += part.max(0.0) * volume;
            }
        }
        let mut before = 0.0;
        for (sum, whole) in cumulative.iter_mut().zip(whole) {
            before += whole;
            *sum += before;
        }
        Self { along, gradients, length, cumulative, step }
    }

    /// Volume before an arc length (m³).
    pub(super) fn volume_before(&self, along: f64) -> f64 {
        let at = (along / self.step).clamp(0.0, (self.cumulative.len() - 1) as f64);
        let index = (at as usize).min(self.cumulative.len() - 2);
        let part = at - index as f64;
        (1.0 - part) * self.cumulative[index] + part * self.cumulative[index + 1]
    }

    /// Area of the iso-surface at an arc length, meaned over a cell to either side (m²).
    pub(super) fn area(&self, along: f64, cell: f64) -> f64 {
        let (low, high) = ((along - cell).max(0.0), (along + cell).min(self.length));
        (self.volume_before(high) - self.volume_before(low)) / (high - low)
    }

    /// Evenly spaced arc lengths for `sections`, the first and the last so far inside that the half spheres of `fibres`
    /// equal discs there end with the muscle.
    pub(super) fn levels(&self, sections: usize, fibres: usize, cell: f64) -> Vec<f64> {
        let least = (LEAST_INSET * self.length).max(1.5 * cell);
        let inset = |place: &dyn Fn(f64) -> f64| {
            let steps = (MOST_INSET * self.length / self.step) as usize;
            let fits = |&inset: &f64| {
                let area = self.area(place(inset), cell);
                inset * inset * std::f64::consts::PI * fibres as f64 >= area
            };
            let insets = (0..steps).map(|step| least + step as f64 * self.step);
            insets.take_while(|&inset| inset <= MOST_INSET * self.length).find(fits).unwrap_or(MOST_INSET * self.length)
        };
        let first = inset(&|inset| inset);
        let last = self.length - inset(&|inset| self.length - inset);
        let part = |section: usize| section as f64 / (sections - 1) as f64;
        (0..sections).map(|section| first + part(section) * (last - first)).collect()
    }

    /// Arc length at a place by the nearest cell's value and gradient, or nothing outside the grid.
    pub(super) fn at(&self, grid: &VolumeGrid, place: DVec3) -> Option<f64> {
        let cell = grid.at(grid.position(place));
        let value = |cell: usize| self.along[cell] + self.gradients[cell].dot(place - grid.centre(cell));
        (cell != NONE).then(|| value(cell as usize))
    }
}

/// Arc length of the free cells; 0 elsewhere.
fn stretched(grid: &VolumeGrid, roles: &[Role], field: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..roles.len()).filter(|&cell| roles[cell] == Role::Free).collect();
    order.sort_unstable_by(|&a, &b| field[a].total_cmp(&field[b]).then(a.cmp(&b)));
    let mut along = vec![0.0; roles.len()];
    let (mut low, mut passed) = (0.0, 0.0);
    for bin in order.chunks(CELLS_PER_BIN) {
        let high = if bin.len() == CELLS_PER_BIN { field[bin[bin.len() - 1]] } else { 1.0 };
        let volume: f64 = bin.iter().map(|&cell| grid.cell_volume(cell)).sum();
        let slope: f64 = bin.iter().map(|&cell| grid.cell_volume(cell) * gradient(grid, cell, field).length()).sum();
        let length = if slope > 0.0 { (high - low) * volume / slope } else { 0.0 };
        for &cell in bin {
            let part = if high > low { ((field[cell] - low) / (high - low)).min(1.0) } else { 1.0 };
            along[cell] = passed + part * length;
        }
        passed += length;
        low = high;
    }
    along
}

/// Gradient of a field in a cell (its unit per m): along each axis the mean over the two faces, each as far as it is
/// open; nothing passes a closed one.
fn gradient(grid: &VolumeGrid, cell: usize, field: &[f64]) -> DVec3 {
    let Some(own) = grid.cells.get(cell) else { return DVec3::ZERO };
    let mut gradient = DVec3::ZERO;
    for axis in 0..3 {
        let (mut sum, mut open) = (0.0, 0.0);
        for (side, sign) in [(axis, -1.0), (axis + 3, 1.0)] {
            if own.neighbours[side] != NONE {
                let face = f64::from(own.open[side]);
                sum += sign * face * (field[own.neighbours[side] as usize] - field[cell]);
                open += face;
            }
        }
        if open > 0.0 {
            gradient[axis] = sum / (open * grid.size);
        }
    }
    gradient
}

/// A piece of an iso-surface.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    pub(super) place: DVec3,
    /// Its area (m²).
    pub(super) area: f64,
    /// The connected pieces of the muscle before and behind the section that it lies between: where heads are apart,
    /// fibres stay in theirs.
    pub(super) pieces: [u32; 2],
}

/// One iso-surface.
pub(super) struct Section {
    pub(super) samples: Vec<Sample>,
    /// Sum of the samples' areas (m²).
    pub(super) area: f64,
}

/// The iso-surfaces at arc lengths, as the points where they pass between the centres of cells.
pub(super) fn sections(grid: &VolumeGrid, arc: &ArcLength, levels: &[f64]) -> Vec<Section> {
    let slab = |cell: u32| levels.partition_point(|&level| level <= arc.along[cell as usize]);
    let mut pieces = vec![0; grid.cells.len()];
    for (piece, cells) in grid.flood(slab).iter().enumerate() {
        for &cell in cells {
            pieces[cell as usize] = piece as u32;
        }
    }
    let mut samples: Vec<Vec<Sample>> = levels.iter().map(|_| Vec::new()).collect();
    for (cell, own) in grid.cells.iter().enumerate() {
        for axis in 0..3 {
            let next = own.neighbours[3 + axis] as usize;
            if own.neighbours[3 + axis] == NONE {
                continue;
            }
            let (here, there) = (arc.along[cell], arc.along[next]);
            let (low, high) = (here.min(there), here.max(there));
            let beside = if here < there { [pieces[cell], pieces[next]] } else { [pieces[next], pieces[cell]] };
            let first = levels.partition_point(|&level| level <= low);
            for (section, &level) in samples.iter_mut().zip(levels).skip(first).take_while(|(_, level)| **level <= high)
            {
                let normal = (arc.gradients[cell] + arc.gradients[next]).normalize_or_zero();
                let base = grid.centre(cell) + grid.size * (level - here) / (there - here) * DVec3::AXES[axis];
                let area = normal[axis].abs() * 0.25 * grid.size * grid.size;
                section.extend(quarters(own.inside, grid.cells[next].inside, axis).map(|quarter| {
                    let place = base + 0.25 * grid.size * quarter;
                    Sample { place, area, pieces: beside }
                }));
            }
        }
    }
    let section = |samples: Vec<Sample>| {
        let area = samples.iter().map(|sample| sample.area).sum();
        Section { samples, area }
    };
    samples.into_iter().map(section).collect()
}

/// The open quarters of the face between two cells, as ±1 across its axis.
fn quarters(here: u8, there: u8, axis: usize) -> impl Iterator<Item = DVec3> {
    (0..8_usize).filter(move |sample| sample >> axis & 1 == 0).filter_map(move |sample| {
        let open = here >> (sample | 1 << axis) & there >> sample & 1 == 1;
        let side = |other: usize| if other == axis { 0.0 } else { (sample >> other & 1) as f64 * 2.0 - 1.0 };
        open.then(|| DVec3::new(side(0), side(1), side(2)))
    })
}
