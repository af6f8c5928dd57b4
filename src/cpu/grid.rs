//! Broad phase: which of many boxes, or spheres, overlap, on a uniform grid of levels.
//!
//! A box is on the level of its size, rounded up to a power of four: sizes over decades do not coarsen each other's cells. A level's
//! cells are as large as the largest box on it, so that what overlaps a box of that level or a finer one is in the 3 × 3 rows of
//! cells along x around its centre. Boxes lie sorted by level, z, y and x, which is finer than the cells, so that what a row has
//! near a box is one range. Up to eight boxes that follow each other in a row are tested at once against each of a range; they
//! look for their ranges in the same order, and in each row only ever go forward. On their own level boxes look at the rows that
//! come after theirs alone, and meet each other once. Work is split by boxes, not by cells: crowded cells stay parallel.

use fearless_simd::{Level as Instructions, Simd, f32x8, prelude::*};

use super::lanes::{LANES, each, with_instructions};
use super::threads::Threads;

/// A bounding sphere, with the margin that it is to have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sphere {
    /// Centre (m), from an origin that all spheres share.
    pub centre: [f32; 3],
    /// Radius (m).
    pub radius: f32,
}

/// A bounding box along the axes (m), from an origin that all boxes share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub low: [f32; 3],
    pub high: [f32; 3],
}

/// A pair of spheres or boxes, the lower index first.
pub type Pair = [u32; 2];

/// How many cells there are along each axis at most; beyond, the outermost cells reach on for ever.
const CELLS: u64 = 1 << 19;

/// By how much finer than the cells boxes are sorted along x.
const FINER: f64 = 8.0;

/// By how much larger than the largest box cells are, so that rounding takes nothing that overlaps two cells apart.
const ROUNDED: f64 = 1.0 + 1.0e-9;

/// How many boxes a thread takes up at a time.
const CHUNK: usize = 128;

/// A box in its cell.
#[derive(Clone, Copy, Default)]
struct Placed {
    /// Level, then z, y and x of the cell.
    cell: u64,
    /// Which box; of those that look on a level of larger cells, which of the sorted ones.
    index: u32,
}

/// Boxes of about one size.
#[derive(Clone, Copy)]
struct Level {
    /// Its exponent.
    exponent: u32,
    /// Which of the sorted boxes are on it.
    first: usize,
    end: usize,
    /// The size of its cells (m).
    size: f64,
}

/// Finds pairs, and keeps its room from one call to the next.
#[derive(Default)]
pub struct PairFinder {
    placed: Vec<Placed>,
    /// The boxes of `placed`.
    boxes: Vec<Bounds>,
    /// Those that there are.
    levels: Vec<Level>,
    bounds: Vec<Bounds>,
    found: Vec<Vec<Pair>>,
    /// Of each box, where the next pair goes that it is the first of.
    next: Vec<u32>,
}

impl Bounds {
    /// Around a sphere and what rounding adds to it; no numbers of what is not finite, or of a negative radius.
    fn around(sphere: &Sphere) -> Self {
        let &Sphere { centre, radius } = sphere;
        let sound = radius.is_finite() && radius >= 0.0;
        let reach = |k: usize| if sound { radius + (radius + centre[k].abs()) * 1.0e-6 } else { f32::NAN };
        Self {
            low: std::array::from_fn(|k| (centre[k] - reach(k)).clamp(f32::MIN, f32::MAX)),
            high: std::array::from_fn(|k| (centre[k] + reach(k)).clamp(f32::MIN, f32::MAX)),
        }
    }

    fn is_sound(&self) -> bool {
        (0..3).all(|k| self.low[k].is_finite() && self.high[k].is_finite() && self.low[k] <= self.high[k])
    }

    /// The longest edge (m).
    fn size(&self) -> f64 {
        (0..3).map(|k| f64::from(self.high[k]) - f64::from(self.low[k])).fold(0.0, f64::max)
    }
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
        let mut bounds = std::mem::take(&mut self.bounds);
        bounds.clear();
        bounds.extend(spheres.iter().map(Bounds::around));
        let left_out = self.find_boxes(threads, &bounds, pairs, |found| {
            found.retain(|&[a, b]| overlap(&spheres[a as usize], &spheres[b as usize]) && keep(a, b));
        });
        self.bounds = bounds;
        left_out
    }

    /// Writes all pairs of boxes that overlap, but for those that `sift` takes out of some of them, in ascending order: the same
    /// at any number of threads. What is not finite, or ends before it begins, overlaps nothing; how many those are.
    pub(super) fn find_boxes(
        &mut self,
        threads: &PairThreads,
        bounds: &[Bounds],
        pairs: &mut Vec<Pair>,
        sift: impl Fn(&mut Vec<Pair>) + Sync + Send,
    ) -> usize {
        let grid = self.place(bounds);
        let chunks = self.placed.len().div_ceil(CHUNK);
        self.found.resize_with(chunks.max(self.found.len()), Vec::new);
        let Self { placed, boxes, levels, found, .. } = self;
        let (placed, sorted) = (&placed[..], Sorted { placed, boxes });
        let mut work: Vec<_> = found[..chunks].iter_mut().enumerate().collect();
        threads.0.for_each_init(&mut work, Vec::new, |seekers, (chunk, found)| {
            found.clear();
            let own = *chunk * CHUNK..placed.len().min((*chunk + 1) * CHUNK);
            for level in &*levels {
                // What is on a finer level lies in the order of finer cells, which is not that of these.
                let before = level.first.clamp(own.start, own.end);
                seekers.clear();
                seekers.extend((own.start..before).map(|index| {
                    let centre = grid.centre(&bounds[placed[index].index as usize]);
                    Placed { cell: grid.cell_of(level, centre), index: index as u32 }
                }));
                seekers.sort_unstable_by_key(|seeker| seeker.cell);
                sorted.look(level, seekers, &AROUND, found);
                let on_level = before..level.end.clamp(own.start, own.end);
                seekers.clear();
                seekers.extend(on_level.map(|index| Placed { cell: placed[index].cell, index: index as u32 }));
                sorted.look(level, seekers, &AFTER, found);
            }
            sift(found);
        });
        self.in_order(chunks, bounds.len(), pairs);
        bounds.len() - self.placed.len()
    }

    /// Writes what so many chunks found in ascending order: counted by the first of so many boxes, and sorted among the few of each.
    fn in_order(&mut self, chunks: usize, boxes: usize, pairs: &mut Vec<Pair>) {
        let Self { found, next, .. } = self;
        let found = || found[..chunks].iter().flatten();
        next.clear();
        next.resize(boxes, 0);
        found().for_each(|&[first, _]| next[first as usize] += 1);
        let mut count = 0;
        for next in &mut *next {
            count += std::mem::replace(next, count);
        }
        pairs.clear();
        pairs.resize(count as usize, [0; 2]);
        for &pair in found() {
            let next = &mut next[pair[0] as usize];
            pairs[*next as usize] = pair;
            *next += 1;
        }
        pairs.chunk_by_mut(|a, b| a[0] == b[0]).for_each(|of_one| of_one.sort_unstable());
    }

    /// Sorts boxes into their cells.
    fn place(&mut self, bounds: &[Bounds]) -> Grid {
        let Self { placed, boxes, levels, .. } = self;
        let (mut low, mut least) = ([f64::MAX; 3], f64::MAX);
        for of in bounds.iter().filter(|of| of.is_sound()) {
            (0..3).for_each(|k| low[k] = low[k].min(f64::from(of.low[k])));
            least = least.min(of.size());
        }
        // Points are in cells that are small, not of no size.
        let least = least.max(1.0e-9);
        let grid = Grid { low };
        // The first power of four that is no less: of two there are more levels to look through, and a scene's parts are not of
        // sizes so different that larger cells cost as much.
        let exponent = |size: f64| (((size / least).max(1.0).log2() * 0.5).ceil() as u32).min(127);
        let mut sizes = [0.0_f64; 128];
        placed.clear();
        for (index, of) in bounds.iter().enumerate().filter(|(_, of)| of.is_sound()) {
            let level = exponent(of.size());
            sizes[level as usize] = sizes[level as usize].max(of.size());
            placed.push(Placed { cell: u64::from(level) << 57, index: index as u32 });
        }
        let of_level =
            |exponent: u32| Level { exponent, first: 0, end: 0, size: sizes[exponent as usize].max(1.0e-9) * ROUNDED };
        for placed in &mut *placed {
            let level = of_level((placed.cell >> 57) as u32);
            placed.cell = grid.cell_of(&level, grid.centre(&bounds[placed.index as usize]));
        }
        placed.sort_unstable_by_key(|placed| placed.cell);
        levels.clear();
        let mut first = 0;
        for of_one in placed.chunk_by(|one, next| one.cell >> 57 == next.cell >> 57) {
            let end = first + of_one.len();
            levels.push(Level { first, end, ..of_level((of_one[0].cell >> 57) as u32) });
            first = end;
        }
        boxes.clear();
        boxes.extend(placed.iter().map(|placed| bounds[placed.index as usize]));
        grid
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
    low: [f64; 3],
}

impl Grid {
    /// A box's centre from the lowest corner (m).
    fn centre(&self, of: &Bounds) -> [f64; 3] {
        std::array::from_fn(|k| 0.5 * (f64::from(of.low[k]) + f64::from(of.high[k])) - self.low[k])
    }

    /// The cell of a level that a place is in.
    fn cell_of(&self, level: &Level, [x, y, z]: [f64; 3]) -> u64 {
        let inv_size = 1.0 / level.size;
        // Cells begin at 1, so that there is one before the first.
        let at = |along: f64| ((along * inv_size) as u64).min(CELLS - 3) + 1;
        let x = ((x * (inv_size * FINER)) as u64 + MARGIN).min(CELLS - 1 - MARGIN);
        (u64::from(level.exponent) << 57) | (at(z) << 38) | (at(y) << 19) | x
    }
}

/// Within how many of the finer cells along x centres of boxes lie that overlap.
const MARGIN: u64 = FINER as u64 + 1;

/// One cell on along y, and along z.
const ROW: i64 = 1 << 19;
const LAYER: i64 = 1 << 38;

/// The rows around that of a box, and those of them that come after it, with its own.
const AROUND: [i64; 9] = [-LAYER - ROW, -LAYER, -LAYER + ROW, -ROW, 0, ROW, LAYER - ROW, LAYER, LAYER + ROW];
const AFTER: [i64; 5] = [0, ROW, LAYER - ROW, LAYER, LAYER + ROW];

/// Boxes in the order of their cells.
#[derive(Clone, Copy)]
struct Sorted<'a> {
    placed: &'a [Placed],
    boxes: &'a [Bounds],
}

impl Sorted<'_> {
    /// Adds the pairs of some boxes, which are given in the order of their cells on a level, with those that lie in some of the
    /// rows around them there; in their own row, of those that lie on the level, with those after them.
    fn look<const ROWS: usize>(self, level: &Level, seekers: &[Placed], rows: &[i64; ROWS], found: &mut Vec<Pair>) {
        if seekers.is_empty() {
            return;
        }
        with_instructions!(Instructions::new(), simd => self.look_wide(simd, level, seekers, rows, found));
    }

    #[inline(always)]
    fn look_wide<S: Simd, const ROWS: usize>(
        self,
        simd: S,
        level: &Level,
        seekers: &[Placed],
        rows: &[i64; ROWS],
        found: &mut Vec<Pair>,
    ) {
        let others = &self.placed[..level.end];
        let boxes = &self.boxes[..level.end];
        let mut cursors = [0; ROWS];
        for (cursor, row) in cursors.iter_mut().zip(rows) {
            let from = seekers[0].cell.wrapping_add_signed(*row) - MARGIN;
            *cursor = level.first + others[level.first..].partition_point(|other| other.cell < from);
        }
        let mut left = seekers;
        while let Some(leader) = left.first() {
            // As many as are in one row.
            let mut count = 1;
            while count < left.len().min(LANES) && left[count].cell >> 19 == leader.cell >> 19 {
                count += 1;
            }
            let (own, after) = left.split_at(count);
            left = after;
            let on_level = own[0].index as usize >= level.first;
            let begin = own[0].index as usize;
            let (mut low, mut high) = ([[f32::NAN; LANES]; 3], [[f32::NAN; LANES]; 3]);
            for (lane, seeker) in own.iter().enumerate() {
                let of = &self.boxes[seeker.index as usize];
                for k in 0..3 {
                    (low[k][lane], high[k][lane]) = (of.low[k], of.high[k]);
                }
            }
            let low = each!(k in 0..3 => f32x8::from_slice(simd, &low[k]));
            let high = each!(k in 0..3 => f32x8::from_slice(simd, &high[k]));
            for (cursor, row) in cursors.iter_mut().zip(rows) {
                let from = own[0].cell.wrapping_add_signed(*row) - MARGIN;
                let to = own[count - 1].cell.wrapping_add_signed(*row) + MARGIN;
                while *cursor < others.len() && others[*cursor].cell < from {
                    *cursor += 1;
                }
                let own_row = *row == 0 && on_level;
                let mut at = if own_row { begin + 1 } else { *cursor };
                while at < others.len() && others[at].cell <= to {
                    let Bounds { low: other_low, high: other_high } = &boxes[at];
                    let mut both = low[0].simd_le(f32x8::splat(simd, other_high[0]))
                        & high[0].simd_ge(f32x8::splat(simd, other_low[0]));
                    for k in 1..3 {
                        both &= low[k].simd_le(f32x8::splat(simd, other_high[k]));
                        both &= high[k].simd_ge(f32x8::splat(simd, other_low[k]));
                    }
                    let mut bits = both.to_bitmask();
                    // Of its own row only those before it, which do not know of it.
                    if own_row && at < begin + LANES {
                        bits &= (1 << (at - begin)) - 1;
                    }
                    while bits != 0 {
                        let own = self.placed[own[bits.trailing_zeros() as usize].index as usize].index;
                        bits &= bits - 1;
                        let other = others[at].index;
                        found.push([own.min(other), own.max(other)]);
                    }
                    at += 1;
                }
            }
        }
    }
}

fn overlap(a: &Sphere, b: &Sphere) -> bool {
    let apart: [f32; 3] = std::array::from_fn(|k| a.centre[k] - b.centre[k]);
    let reach = a.radius + b.radius;
    apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2] <= reach * reach
}
