//! Broad phase: which of many spheres overlap, on a uniform grid of levels.
//!
//! A sphere is in one cell, of the level whose cells are as large as its diameter, rounded up to a power of two: sizes over
//! decades do not coarsen each other's cells. What overlaps it on a level of larger or equal cells is then in the 3 × 3 × 3
//! cells there around its centre. Cells lie sorted by level, z, y and x, so that three of them in a row along x are one range;
//! spheres look for their ranges in the same order, and each of the nine rows only ever goes forward. Work is split by spheres,
//! not by cells: crowded cells stay parallel.

use super::threads::Threads;

/// A bounding sphere, with the margin that it is to have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sphere {
    /// Centre (m), from an origin that all spheres share.
    pub centre: [f32; 3],
    /// Radius (m).
    pub radius: f32,
}

/// A pair of spheres, the lower index first.
pub type Pair = [u32; 2];

/// How many cells there are along each axis at most; beyond, the outermost cells reach on for ever.
const CELLS: u64 = 1 << 19;

/// How many spheres a thread takes up at a time.
const CHUNK: usize = 512;

/// A sphere in its cell.
#[derive(Clone, Copy, Default)]
struct Placed {
    /// Level, then z, y and x of the cell.
    cell: u64,
    index: u32,
}

/// Finds pairs, and keeps its room from one call to the next.
#[derive(Default)]
pub struct PairFinder {
    placed: Vec<Placed>,
    /// Of the levels that have spheres: their exponent, and which of `placed` is the first of them.
    levels: Vec<(u32, usize)>,
    found: Vec<Vec<Pair>>,
}

impl PairFinder {
    /// Writes all pairs of spheres that overlap and that `keep` keeps, in ascending order: the same at any number of threads,
    /// |a − b|² ≤ (r_a + r_b)² in f32. What is not finite, or of a negative radius, overlaps nothing; how many those are.
    pub fn find(
        &mut self,
        threads: &PairThreads,
        spheres: &[Sphere],
        keep: impl Fn(u32, u32) -> bool + Sync,
        pairs: &mut Vec<Pair>,
    ) -> usize {
        pairs.clear();
        self.placed.clear();
        let sound = |sphere: &Sphere| {
            sphere.centre.iter().all(|x| x.is_finite()) && sphere.radius.is_finite() && sphere.radius >= 0.0
        };
        let mut low = [f32::MAX; 3];
        let mut least = f32::MAX;
        for sphere in spheres.iter().filter(|sphere| sound(sphere)) {
            (0..3).for_each(|k| low[k] = low[k].min(sphere.centre[k]));
            least = least.min(sphere.radius);
        }
        // Points are in cells that are small, not of no size.
        let grid = Grid { low, least: f64::from(least).max(1.0e-9) * 2.0 };
        for (index, sphere) in spheres.iter().enumerate().filter(|(_, sphere)| sound(sphere)) {
            let level = grid.level(sphere.radius);
            self.placed.push(Placed { cell: cell(level, grid.cell_of(level, sphere.centre)), index: index as u32 });
        }
        self.placed.sort_unstable_by_key(|placed| (placed.cell, placed.index));
        self.levels.clear();
        for (first, placed) in self.placed.iter().enumerate() {
            let level = (placed.cell >> 57) as u32;
            if self.levels.last().is_none_or(|(last, _)| *last != level) {
                self.levels.push((level, first));
            }
        }

        let chunks = self.placed.len().div_ceil(CHUNK);
        self.found.resize_with(chunks.max(self.found.len()), Vec::new);
        let (placed, levels) = (&self.placed, &self.levels);
        let mut work: Vec<_> = self.found[..chunks].iter_mut().enumerate().collect();
        threads.0.for_each(
            &mut work,
            || (),
            |(), (chunk, found)| {
                found.clear();
                let own = &placed[*chunk * CHUNK..placed.len().min((*chunk + 1) * CHUNK)];
                for (at, &(level, first)) in levels.iter().enumerate() {
                    let end = levels.get(at + 1).map_or(placed.len(), |next| next.1);
                    grid.look(spheres, own, (level, &placed[first..end]), &keep, found);
                }
            },
        );
        self.found[..chunks].iter().for_each(|found| pairs.extend_from_slice(found));
        pairs.sort_unstable();
        spheres.len() - self.placed.len()
    }
}

/// Threads for [`PairFinder::find`].
#[derive(Clone)]
pub struct PairThreads(pub(super) Threads);

impl PairThreads {
    /// `count` threads; 0 for as many as there are cores.
    pub fn new(count: usize) -> Self {
        Self(Threads::new(count))
    }
}

/// Where cells are.
struct Grid {
    /// The lowest corner (m).
    low: [f32; 3],
    /// The size of the finest level's cells (m).
    least: f64,
}

impl Grid {
    /// The level whose cells a sphere's diameter fits in.
    fn level(&self, radius: f32) -> u32 {
        let ratio = 2.0 * f64::from(radius) / self.least;
        // The first power of two that is no less.
        (ratio.max(1.0).log2().ceil() as u32).min(127)
    }

    fn cell_of(&self, level: u32, centre: [f32; 3]) -> [u64; 3] {
        let inv_size = 1.0 / (self.least * 2.0_f64.powi(level as i32));
        std::array::from_fn(|k| {
            let along = (f64::from(centre[k]) - f64::from(self.low[k])) * inv_size;
            // Cells begin at 1, so that there is one before the first.
            (along as u64).min(CELLS - 3) + 1
        })
    }

    /// Adds the pairs of spheres of a chunk with those of a level of no smaller cells.
    fn look(
        &self,
        spheres: &[Sphere],
        own: &[Placed],
        (level, others): (u32, &[Placed]),
        keep: &impl Fn(u32, u32) -> bool,
        found: &mut Vec<Pair>,
    ) {
        let mut rows = [None; 9];
        for placed in own {
            let own_level = (placed.cell >> 57) as u32;
            if own_level > level {
                break;
            }
            let sphere = spheres[placed.index as usize];
            let [x, y, z] = self.cell_of(level, sphere.centre);
            for (row, cursor) in rows.iter_mut().enumerate() {
                let (y, z) = (y + row as u64 % 3 - 1, z + row as u64 / 3 - 1);
                let (from, to) = (cell(level, [x - 1, y, z]), cell(level, [x + 1, y, z]));
                // A finer level's spheres lie in the order of finer cells, which is not that of these.
                let mut at = match cursor {
                    Some(at) if own_level == level => *at,
                    _ => others.partition_point(|other| other.cell < from),
                };
                while at < others.len() && others[at].cell < from {
                    at += 1;
                }
                if own_level == level {
                    *cursor = Some(at);
                }
                for other in others[at..].iter().take_while(|other| other.cell <= to) {
                    // Of the same level each pair is met twice.
                    if own_level == level && other.index <= placed.index {
                        continue;
                    }
                    let pair = [placed.index.min(other.index), placed.index.max(other.index)];
                    if overlap(&spheres[pair[0] as usize], &spheres[pair[1] as usize]) && keep(pair[0], pair[1]) {
                        found.push(pair);
                    }
                }
            }
        }
    }
}

fn cell(level: u32, [x, y, z]: [u64; 3]) -> u64 {
    (u64::from(level) << 57) | (z << 38) | (y << 19) | x
}

fn overlap(a: &Sphere, b: &Sphere) -> bool {
    let apart: [f32; 3] = std::array::from_fn(|k| a.centre[k] - b.centre[k]);
    let reach = a.radius + b.radius;
    apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2] <= reach * reach
}
