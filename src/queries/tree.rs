//! A tree of boxes, each around those below it.

/// A box, from an origin that all share (m). f32, rounded outwards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub low: [f32; 3],
    pub high: [f32; 3],
}

/// A box of the tree.
#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Bounds,
    holds: Below,
}

/// What a box of the tree holds.
#[derive(Clone, Copy, Debug)]
enum Below {
    /// One of those that it was built over.
    Leaf(u32),
    /// The next of its boxes, and this one.
    Two(u32),
}

/// Boxes in boxes.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

/// How many bins the surface heuristic tells places apart by.
const BINS: usize = 16;

/// How many levels are split by the surface heuristic; those below halve what they hold.
const UNEVEN: u32 = 48;

/// How many boxes wait at most while one is looked into: one a level.
const WAITING: usize = UNEVEN as usize + 34;

impl Bounds {
    /// Around nothing.
    pub const NONE: Self = Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    /// The box between two corners.
    pub fn around(low: [f64; 3], high: [f64; 3]) -> Self {
        let below = |x: f64| if f64::from(x as f32) > x { (x as f32).next_down() } else { x as f32 };
        Self { low: low.map(below), high: high.map(|x| -below(-x)) }
    }

    /// Around another one too.
    pub fn with(self, other: &Self) -> Self {
        Self {
            low: [0, 1, 2].map(|k| self.low[k].min(other.low[k])),
            high: [0, 1, 2].map(|k| self.high[k].max(other.high[k])),
        }
    }

    /// Twice where its middle is along an axis.
    fn middle(&self, axis: usize) -> f32 {
        self.low[axis] + self.high[axis]
    }

    /// Half its surface (m²).
    fn surface(&self) -> f64 {
        let [x, y, z] = [0, 1, 2].map(|k| f64::from(self.high[k]) - f64::from(self.low[k]));
        x * y + y * z + z * x
    }

    /// Where a line enters it that starts in a box of some half lengths around a place and goes along the axes with one over these
    /// rates; negative from inside. None where it never does.
    pub fn entry(&self, from: [f64; 3], half: [f64; 3], inv_direction: [f64; 3]) -> Option<f64> {
        let (mut enters, mut leaves) = (f64::NEG_INFINITY, f64::INFINITY);
        for k in 0..3 {
            let low = (f64::from(self.low[k]) - half[k] - from[k]) * inv_direction[k];
            let high = (f64::from(self.high[k]) + half[k] - from[k]) * inv_direction[k];
            enters = enters.max(low.min(high));
            leaves = leaves.min(low.max(high));
        }
        (enters <= leaves && leaves >= 0.0).then_some(enters)
    }

    /// How far it is from a place at least, of what lies in it; where the place is inside, how deep at most.
    pub fn distance(&self, from: [f64; 3]) -> f64 {
        let (mut outside2, mut inside) = (0.0, f64::NEG_INFINITY);
        for (k, from) in from.into_iter().enumerate() {
            let beyond = (f64::from(self.low[k]) - from).max(from - f64::from(self.high[k]));
            outside2 += beyond.max(0.0) * beyond.max(0.0);
            inside = inside.max(beyond);
        }
        if inside > 0.0 { outside2.sqrt() } else { inside }
    }
}

/// The bin with which the second half best begins; none where there is no telling.
fn least_surface(boxes: &[Bounds], order: &[u32], bin: impl Fn(&u32) -> usize) -> Option<usize> {
    let mut bins = [(Bounds::NONE, 0); BINS];
    for leaf in order {
        let (bounds, count) = &mut bins[bin(leaf)];
        (*bounds, *count) = (bounds.with(&boxes[*leaf as usize]), *count + 1);
    }
    let join = |a: (Bounds, usize), b: &(Bounds, usize)| (a.0.with(&b.0), a.1 + b.1);
    let mut after = [(Bounds::NONE, 0); BINS];
    let mut all = (Bounds::NONE, 0);
    for k in (0..BINS).rev() {
        all = join(all, &bins[k]);
        after[k] = all;
    }
    let (mut before, mut best) = ((Bounds::NONE, 0), None);
    for k in 1..BINS {
        before = join(before, &bins[k - 1]);
        if before.1 > 0 && after[k].1 > 0 {
            let cost = [before, after[k]].map(|(bounds, count)| bounds.surface() * count as f64);
            let cost = cost[0] + cost[1];
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, k));
            }
        }
    }
    best.map(|(_, k)| k)
}

/// Puts those first of which something is true; how many they are.
fn partition(order: &mut [u32], is_first: impl Fn(&u32) -> bool) -> usize {
    let mut count = 0;
    for k in 0..order.len() {
        if is_first(&order[k]) {
            order.swap(count, k);
            count += 1;
        }
    }
    count
}

impl Tree {
    /// Builds it over boxes: splits them along the longest side of where they are, there where the halves' surfaces, each times
    /// how many are in it, are least (MacDonald & Booth 1990, binned as Wald 2007 has it).
    pub fn build(&mut self, boxes: &[Bounds]) {
        self.nodes.clear();
        let mut order: Vec<u32> = (0..boxes.len() as u32).collect();
        if !order.is_empty() {
            self.split(boxes, &mut order, 0);
        }
    }

    fn split(&mut self, boxes: &[Bounds], order: &mut [u32], level: u32) {
        let bounds = order.iter().fold(Bounds::NONE, |all, leaf| all.with(&boxes[*leaf as usize]));
        let index = self.nodes.len();
        self.nodes.push(Node { bounds, holds: Below::Leaf(order[0]) });
        if order.len() == 1 {
            return;
        }
        let spread = |axis: usize| {
            let middles = order.iter().map(|leaf| boxes[*leaf as usize].middle(axis));
            let (low, high) = middles.fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
            (low, high - low)
        };
        let sides = [0, 1, 2].map(spread);
        let axis = (1..3).fold(0, |most, axis| if sides[axis].1 > sides[most].1 { axis } else { most });
        let middle = |leaf: &u32| boxes[*leaf as usize].middle(axis);
        let bin = |leaf: &u32| (((middle(leaf) - sides[axis].0) / sides[axis].1 * BINS as f32) as usize).min(BINS - 1);
        let half = match least_surface(boxes, order, bin).filter(|_| level < UNEVEN) {
            Some(from) => partition(order, |leaf| bin(leaf) < from),
            None => {
                let half = order.len() / 2;
                order.select_nth_unstable_by(half, |a, b| middle(a).total_cmp(&middle(b)).then(a.cmp(b)));
                half
            }
        };
        let (low, high) = order.split_at_mut(half);
        self.split(boxes, low, level + 1);
        self.nodes[index].holds = Below::Two(self.nodes.len() as u32);
        self.split(boxes, high, level + 1);
    }

    /// Visits leaves, nearer boxes first, but none in boxes that are farther than `farthest`, which each visit says anew.
    /// `near` says how far a box is at least, or that nothing in it matters.
    pub fn visit(
        &self,
        mut farthest: f64,
        near: impl Fn(&Bounds) -> Option<f64>,
        mut visit: impl FnMut(usize, f64) -> f64,
    ) {
        let mut waiting = [(0.0, 0_u32); WAITING];
        let mut count = 0;
        let Some(root) = self.nodes.first() else { return };
        if let Some(distance) = near(&root.bounds) {
            (waiting[0], count) = ((distance, 0), 1);
        }
        while count > 0 {
            count -= 1;
            let (distance, index) = waiting[count];
            if distance > farthest {
                continue;
            }
            let second = match self.nodes[index as usize].holds {
                Below::Two(second) => second,
                Below::Leaf(leaf) => {
                    farthest = visit(leaf as usize, farthest);
                    continue;
                }
            };
            let mut children = [index + 1, second].map(|child| (near(&self.nodes[child as usize].bounds), child));
            // The one to be looked into first comes last.
            if children[0].0 <= children[1].0 {
                children.swap(0, 1);
            }
            for (distance, child) in children {
                if let Some(distance) = distance {
                    waiting[count] = (distance, child);
                    count += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Small boxes at random, as dense however many they are; or each twice as far away as the one before.
    fn boxes(count: usize, doubling: bool) -> Vec<Bounds> {
        let (mut state, side) = (1_u64, (count as f64).cbrt());
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let at = |k: usize| 2.0_f64.powi(k as i32 % 250 - 125);
        let low = (0..count).map(|k| if doubling { [at(k), 0.0, 0.0] } else { [0; 3].map(|_| side * random()) });
        low.map(|low| Bounds::around(low, low.map(|x| x + 0.2))).collect()
    }

    /// How many boxes lines look at, on average; each visits every leaf that it enters.
    fn looked_at(boxes: &[Bounds], lines: usize) -> f64 {
        let mut tree = Tree::default();
        tree.build(boxes);
        let count = Cell::new(0);
        for line in 0..lines {
            let side = (boxes.len() as f64).cbrt();
            let from = [0.37, 0.71, 0.13].map(|part| (part * line as f64).fract() * side);
            let inv = [0.3, 0.5, 0.9].map(|part| 1.0 / ((part * line as f64).fract() - 0.4871));
            let entry = |bounds: &Bounds| {
                count.set(count.get() + 1);
                bounds.entry(from, [0.0; 3], inv)
            };
            let mut visited = vec![false; boxes.len()];
            tree.visit(f64::INFINITY, entry, |leaf, farthest| {
                assert!(!std::mem::replace(&mut visited[leaf], true), "once");
                farthest
            });
            for (leaf, visited) in visited.iter().enumerate() {
                assert_eq!(*visited, boxes[leaf].entry(from, [0.0; 3], inv).is_some());
            }
        }
        count.get() as f64 / lines as f64
    }

    #[test]
    fn lines_look_at_few_boxes_and_miss_none() {
        let counts = [1_000, 10_000, 100_000].map(|count| looked_at(&boxes(count, false), 50));
        println!("a line through 1000, 10 000 and 100 000 boxes looks at {counts:.0?} (bar 3 times as many each)");
        assert!(counts[1] < 3.0 * counts[0] && counts[2] < 3.0 * counts[1]);
        // However uneven it is, and where all are in one place.
        looked_at(&boxes(5_000, true), 20);
        looked_at(&[Bounds::around([1.0; 3], [2.0; 3]); 1_000], 20);
        looked_at(&[], 2);
    }

    #[test]
    fn boxes_are_rounded_outwards() {
        for x in [0.0, 0.1, -0.1, 1.0 + 1.0e-9, -1.0 - 1.0e-9, 1.0e300, -1.0e300, 1.0e-300, -1.0e-300] {
            let Bounds { low, high } = Bounds::around([x; 3], [x; 3]);
            assert!(f64::from(low[0]) <= x && x <= f64::from(high[0]), "{x}");
        }
    }
}
