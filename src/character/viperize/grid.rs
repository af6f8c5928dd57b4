//! The solid that a surface encloses, as a grid of cells.

use super::{ViperizeError, tree::TriangleTree};
use glam::{DVec3, IVec3, UVec3};

/// No cell.
pub(super) const NONE: u32 = u32::MAX;
/// How far winding numbers at a block's corners stay from ½ where the block is taken to be on one side as a whole.
const CLEAR: f64 = 0.25;
/// Cells in the box around the solid, at most.
const MOST_CELLS: f64 = 3e7;

/// One cell, of which any of 2×2×2 samples is inside.
pub(super) struct Cell {
    /// Position in the grid.
    pub(super) at: UVec3,
    /// Bit x + 2y + 4z: the sample there is inside.
    pub(super) inside: u8,
    /// The next cells along −x, −y, −z, +x, +y, +z, or [`NONE`].
    pub(super) neighbours: [u32; 6],
    /// Which part of the face to each neighbour is open, in quarters.
    pub(super) open: [u8; 6],
}

/// The cells of a solid, ordered by z, y, x.
pub(super) struct VolumeGrid {
    /// Edge of a cell (m).
    pub(super) size: f64,
    origin: DVec3,
    dimensions: UVec3,
    /// Index of each cell of the box among `cells`, or [`NONE`].
    lookup: Vec<u32>,
    pub(super) cells: Vec<Cell>,
    /// Whether any sample is wound round more than once.
    pub(super) overlapping: bool,
}

impl VolumeGrid {
    /// About `cells` cells; `triangles` are those of `tree`.
    ///
    /// # Errors
    /// [`ViperizeError::NoVolume`].
    pub(super) fn new(triangles: &[[DVec3; 3]], tree: &TriangleTree, cells: usize) -> Result<Self, ViperizeError> {
        let corners = || triangles.iter().flatten();
        let min = corners().fold(DVec3::INFINITY, |min, &corner| min.min(corner));
        let max = corners().fold(DVec3::NEG_INFINITY, |max, &corner| max.max(corner));
        let extent = max - min;
        if triangles.is_empty() || !(extent.max_element() > 0.0) {
            return Err(ViperizeError::NoVolume);
        }
        let coarse = Self::with_size(tree, min, max, extent.max_element() / 48.0);
        if coarse.cells.is_empty() {
            return Err(ViperizeError::NoVolume);
        }
        let bounding = extent.max(DVec3::splat(coarse.size)).element_product();
        let size = (coarse.volume() / cells as f64).max(bounding / MOST_CELLS).cbrt();
        let grid = Self::with_size(tree, min, max, size);
        if grid.cells.is_empty() { Err(ViperizeError::NoVolume) } else { Ok(grid) }
    }

    fn with_size(tree: &TriangleTree, min: DVec3, max: DVec3, size: f64) -> Self {
        let dimensions = ((max - min) / size).ceil().as_uvec3() + 2;
        let origin = 0.5 * (min + max) - 0.5 * size * dimensions.as_dvec3();
        let mut fill = Fill { tree, origin, size, dimensions, masks: vec![0; volume(dimensions)], overlapping: false };
        fill.block(UVec3::ZERO, dimensions);
        let mut lookup = vec![NONE; fill.masks.len()];
        let mut cells = Vec::new();
        for (index, &inside) in fill.masks.iter().enumerate() {
            if inside != 0 {
                lookup[index] = cells.len() as u32;
                let row = index / dimensions.x as usize;
                let at = [index % dimensions.x as usize, row % dimensions.y as usize, row / dimensions.y as usize];
                let at = UVec3::from_array(at.map(|part| part as u32));
                cells.push(Cell { at, inside, neighbours: [NONE; 6], open: [0; 6] });
            }
        }
        let mut grid = Self { size, origin, dimensions, lookup, cells, overlapping: fill.overlapping };
        grid.join();
        grid
    }

    /// Finds neighbours and how far the faces to them are open.
    fn join(&mut self) {
        const LOW: [u8; 3] = [0b0101_0101, 0b0011_0011, 0b0000_1111];
        for index in 0..self.cells.len() {
            for axis in 0..3 {
                let next = self.at(self.cells[index].at.as_ivec3() + IVec3::AXES[axis]);
                if next == NONE {
                    continue;
                }
                let high = (self.cells[index].inside & !LOW[axis]) >> (1 << axis);
                let open = (high & self.cells[next as usize].inside & LOW[axis]).count_ones() as u8;
                if open > 0 {
                    self.cells[index].neighbours[3 + axis] = next;
                    self.cells[index].open[3 + axis] = open;
                    self.cells[next as usize].neighbours[axis] = index as u32;
                    self.cells[next as usize].open[axis] = open;
                }
            }
        }
    }

    /// The cell at a position in the grid, or [`NONE`].
    pub(super) fn at(&self, at: IVec3) -> u32 {
        if at.cmplt(IVec3::ZERO).any() || at.cmpge(self.dimensions.as_ivec3()).any() {
            return NONE;
        }
        self.lookup[linear(at.as_uvec3(), self.dimensions)]
    }

    /// The position in the grid of a place in space.
    pub(super) fn position(&self, place: DVec3) -> IVec3 {
        ((place - self.origin) / self.size).floor().as_ivec3()
    }

    /// Centre of a cell (m).
    pub(super) fn centre(&self, cell: usize) -> DVec3 {
        self.origin + self.size * (self.cells[cell].at.as_dvec3() + 0.5)
    }

    /// What of a cell is inside (m³).
    pub(super) fn cell_volume(&self, cell: usize) -> f64 {
        f64::from(self.cells[cell].inside.count_ones()) / 8.0 * self.size.powi(3)
    }

    /// Volume of the solid (m³).
    pub(super) fn volume(&self) -> f64 {
        let samples: u64 = self.cells.iter().map(|cell| u64::from(cell.inside.count_ones())).sum();
        samples as f64 / 8.0 * self.size.powi(3)
    }

    /// Whether a place is in a sample that is inside.
    pub(super) fn contains(&self, place: DVec3) -> bool {
        let cell = self.at(self.position(place));
        if cell == NONE {
            return false;
        }
        let high = place.cmpge(self.centre(cell as usize)).bitmask();
        self.cells[cell as usize].inside >> high & 1 == 1
    }

    /// The connected parts of the cells with equal `label`s, each in the order of a breadth-first search.
    pub(super) fn flood<L: PartialEq>(&self, label: impl Fn(u32) -> L) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.cells.len()];
        let mut parts = Vec::new();
        for start in 0..self.cells.len() as u32 {
            if std::mem::replace(&mut seen[start as usize], true) {
                continue;
            }
            let own = label(start);
            let mut part = vec![start];
            let mut next = 0;
            while let Some(&cell) = part.get(next) {
                next += 1;
                for &neighbour in &self.cells[cell as usize].neighbours {
                    if neighbour != NONE && !seen[neighbour as usize] && label(neighbour) == own {
                        seen[neighbour as usize] = true;
                        part.push(neighbour);
                    }
                }
            }
            parts.push(part);
        }
        parts
    }

    /// Leaves the cells out that `keep` does not name.
    pub(super) fn retain(&mut self, keep: &[bool]) {
        let mut index = 0;
        self.cells.retain(|_| {
            index += 1;
            keep[index - 1]
        });
        self.lookup.fill(NONE);
        for (index, cell) in self.cells.iter_mut().enumerate() {
            self.lookup[linear(cell.at, self.dimensions)] = index as u32;
            (cell.neighbours, cell.open) = ([NONE; 6], [0; 6]);
        }
        self.join();
    }
}

fn linear(at: UVec3, dimensions: UVec3) -> usize {
    at.x as usize + dimensions.x as usize * (at.y as usize + dimensions.y as usize * at.z as usize)
}

fn volume(dimensions: UVec3) -> usize {
    dimensions.to_array().iter().map(|&side| side as usize).product()
}

/// Fills the masks of a box of cells by blocks: a block without triangles whose corners are clearly on one side is
/// that side's as a whole, for the winding number is harmonic there; any other is halved.
struct Fill<'a> {
    tree: &'a TriangleTree,
    origin: DVec3,
    size: f64,
    dimensions: UVec3,
    masks: Vec<u8>,
    overlapping: bool,
}

impl Fill<'_> {
    fn block(&mut self, low: UVec3, high: UVec3) {
        let sides = high - low;
        let (min, max) = (self.place(low.as_dvec3()), self.place(high.as_dvec3()));
        if sides.max_element() <= 16 && !self.tree.may_pass(min, max) {
            let corners = (0..9).map(|corner: u32| match corner {
                8 => 0.5 * (min + max),
                _ => DVec3::select(glam::BVec3::new(corner & 1 > 0, corner & 2 > 0, corner & 4 > 0), max, min),
            });
            let windings: Vec<f64> = corners.map(|corner| self.tree.winding_number(corner)).collect();
            if windings.iter().all(|&winding| winding < 0.5 - CLEAR) {
                return;
            }
            if windings.iter().all(|&winding| winding > 0.5 + CLEAR) {
                self.overlapping |= windings.iter().any(|&winding| winding > 1.5);
                for z in low.z..high.z {
                    for y in low.y..high.y {
                        let first = linear(UVec3::new(low.x, y, z), self.dimensions);
                        self.masks[first..first + sides.x as usize].fill(u8::MAX);
                    }
                }
                return;
            }
        }
        if sides == UVec3::ONE {
            self.masks[linear(low, self.dimensions)] = self.samples(low);
            return;
        }
        let axis = (0..3).max_by_key(|&axis| (sides[axis], 2 - axis)).unwrap_or(0);
        let (mut left_high, mut right_low) = (high, low);
        left_high[axis] = low[axis] + sides[axis] / 2;
        right_low[axis] = left_high[axis];
        self.block(low, left_high);
        self.block(right_low, high);
    }

    fn samples(&mut self, cell: UVec3) -> u8 {
        let mut mask = 0;
        for sample in 0..8_u32 {
            let part = UVec3::new(sample & 1, sample >> 1 & 1, sample >> 2).as_dvec3();
            let winding = self.tree.winding_number(self.place(cell.as_dvec3() + 0.25 + 0.5 * part));
            mask |= u8::from(winding > 0.5) << sample;
            self.overlapping |= winding > 1.5;
        }
        mask
    }

    fn place(&self, at: DVec3) -> DVec3 {
        self.origin + self.size * at
    }
}
