//! Which segments may touch those of other chains in a frame.
//!
//! A segment is a pill; its bounding sphere, widened by how far it may go in the frame, goes through the grid, and what comes out
//! is kept where the pills themselves may come together at the speed that they have against each other. Who may meet at all
//! [`Collisions`] say: by default not segments of one chain; and never those of one instance that overlap at rest.

use fearless_simd::{Simd, SimdBase};

use super::LaneWidth;
use super::gather_segments::Segment;
use super::grid::{Pair, PairFinder, PairThreads, Sphere};
use super::kin::Room;
use super::lanes::{Entry, Half, LANES, Lane, Lanes, OneF32, Wide, each, with_instructions};
use super::math::V3;
use super::meetings::{PairBlock, Side};
use super::pills::{Pill, nearest};
use super::sort_sides::MeetingGroup;
use crate::Collisions;
use crate::backend::SegmentPair;
use crate::instances::{FleshHandle, Instances, Pressed, REMEMBERED, SegmentName, Touch};
use crate::layout::meet;
use crate::step::Stage;
use crate::timing::StageClock;

/// Names a segment from frame to frame: its instance, and which of that.
pub(super) type Name = (FleshHandle, SegmentName);

/// Who meets whom.
#[derive(Default)]
pub(super) struct Meetings {
    finder: PairFinder,
    pub segments: Vec<Segment>,
    pub spheres: Vec<Sphere>,
    /// What the instance of every group touches.
    pub collisions: Vec<Collisions>,
    pub pairs: Vec<Pair>,
    /// Of every pair.
    names: Vec<[Name; 2]>,
    /// All pairs, in ascending order.
    pub blocks: Vec<PairBlock>,
    /// The segments that meet others, by group, lane and node, once for each pair.
    pub sides: Vec<Side>,
    /// Of every group as it is stepped; `None` of those that meet nobody.
    pub groups: Vec<Option<MeetingGroup>>,
    /// With what impulse pairs press in the frame, block by block, where that is asked for.
    pub pressed: Vec<Pressed>,
    /// What all groups show.
    pub shown: Vec<Entry<f32>>,
    /// Room for each group that meets others.
    pub rooms: Vec<Room>,
}

impl Meetings {
    /// Finds who may meet in a frame of so long (s); what was remembered of a pair is kept.
    pub fn find(
        &mut self,
        width: LaneWidth,
        threads: &PairThreads,
        instances: &mut Instances,
        frame: f32,
        gravity: f32,
        clock: &StageClock,
    ) {
        loop {
            clock.timed(Stage::GatherSegments, || self.gather_segments(instances, frame, gravity));
            // What is woken may be near to more that sleeps.
            let woke = clock.timed(Stage::FindPairs, || {
                self.near(width, threads, instances, frame);
                self.wake_near(instances)
            });
            if !woke {
                break;
            }
        }
        clock.timed(Stage::FindPairs, || self.make_blocks(instances));
    }

    /// The pairs of segments that may touch, but of those that sleep with each other.
    fn near(&mut self, width: LaneWidth, threads: &PairThreads, instances: &Instances, frame: f32) {
        let Self { finder, segments, spheres, collisions, pairs, .. } = self;
        let keep = |a: u32, b: u32| {
            let (a, b) = (&segments[a as usize], &segments[b as usize]);
            if a.asleep && b.asleep {
                return false;
            }
            let together = || instances.get(a.name.0).is_ok_and(|own| own.flesh.overlap_at_rest([a.name.1, b.name.1]));
            let (of_one, of_chain) = (a.name.0 == b.name.0, (a.place, a.lane) == (b.place, b.lane));
            let [own, theirs] = [a, b].map(|side| &collisions[side.place as usize]);
            let wanted = match (of_one, of_chain) {
                (_, true) => own.within_chains,
                (true, _) => own.own_chains,
                _ => own.among_others().meets(theirs.among_others()),
            };
            wanted && !(of_one && together())
        };
        finder.find(threads, spheres, keep, pairs);
        keep_near(width, threads, segments, pairs, frame);
    }

    /// Wakes what sleeps near to what is awake; says whether anything did.
    fn wake_near(&self, instances: &mut Instances) -> bool {
        let sleepers = self.pairs.iter().flatten().map(|&index| &self.segments[index as usize]);
        let mut woke = false;
        for sleeper in sleepers.filter(|segment| segment.asleep) {
            woke = true;
            instances.wake(sleeper.name.0);
        }
        woke
    }

    /// Makes the pairs' rows, with what they remember of the frame before.
    fn make_blocks(&mut self, instances: &Instances) {
        self.names.clear();
        self.blocks.clear();
        let mut own: Option<FleshHandle> = None;
        let mut touches = [].iter().peekable();
        for &indices in &self.pairs {
            let names @ [(handle, first), (other, second)] = indices.map(|index| self.segments[index as usize].name);
            if own != Some(handle) {
                let instance = instances.get(handle).expect("has a segment");
                own = Some(handle);
                touches = instance.state.touches.iter().peekable();
            }
            let pair = (first, other, second);
            while touches.next_if(|touch| touch.pair() < pair).is_some() {}
            let remembered = touches.next_if(|touch| touch.pair() == pair);
            let lane = self.names.len() % LANES;
            if lane == 0 {
                self.blocks.push(PairBlock::NONE);
            }
            let block = self.blocks.last_mut().expect("has a lane left");
            block.there[lane] = 1.0;
            for (side, ends) in block.joined.iter_mut().enumerate() {
                for (end, joined) in ends.iter_mut().enumerate() {
                    joined[lane] = f32::from(u8::from(is_joined(instances, &self.segments, indices, [side, end])));
                }
            }
            for (point, row) in block.points.iter_mut().enumerate() {
                for (k, entry) in meet::MEMORY.enumerate() {
                    row[entry][lane] = remembered.map_or(0.0, |touch| touch.points[point][k]);
                }
            }
            self.names.push(names);
        }
    }

    /// The pairs, by the places of their instances.
    pub fn pairs(&self) -> impl Iterator<Item = SegmentPair> {
        self.names.iter().map(|pair| pair.map(|(handle, name)| (handle.parts().0, name)))
    }

    /// Leaves with the instances what pairs that touch remember.
    pub fn keep(&self, instances: &mut Instances) {
        instances
            .iter_mut()
            .filter(|instance| instance.works().flesh)
            .for_each(|instance| instance.state.touches.clear());
        for (pair, [(handle, own), (other, theirs)]) in self.names.iter().copied().enumerate() {
            let (block, lane) = (&self.blocks[pair / LANES], pair % LANES);
            if let Some(pressed) = self.pressed.get(pair / LANES).filter(|sums| sums[0][lane] > 0.0)
                && handle != other
                && let Ok(instance) = instances.get_mut(handle)
            {
                instance.tally.flesh.push((other, pressed.map(|sums| sums[lane])));
            }
            let touches = block.points.iter().any(|row| row[meet::FORCE][lane] > 0.0 || row[meet::RATIO][lane] > 1.0);
            if touches && let Ok(instance) = instances.get_mut(handle) {
                let points = block.points.each_ref().map(|row| {
                    let rows = &row[meet::MEMORY];
                    std::array::from_fn::<f32, REMEMBERED, _>(|k| rows[k][lane])
                });
                instance.state.touches.push(Touch { own, other, theirs, points });
            }
        }
    }
}

/// Whether a side's chain goes on past one end of its segment with one that may touch the other side too.
fn is_joined(instances: &Instances, segments: &[Segment], mut pair: Pair, [side, end]: [usize; 2]) -> bool {
    let own = &segments[pair[side] as usize];
    let next = if end == 0 { pair[side].wrapping_sub(1) } else { pair[side] + 1 };
    let of_chain = |other: &&Segment| (other.place, other.lane) == (own.place, own.lane);
    if segments.get(next as usize).filter(of_chain).is_none() {
        return false;
    }
    pair[side] = next;
    let [(a, first), (b, second)] = pair.map(|index| segments[index as usize].name);
    a != b || !instances.get(a).is_ok_and(|own| own.flesh.overlap_at_rest([first, second]))
}

/// Keeps those of some pairs of segments that may come to touch in a frame at the speed that they have against each other.
fn keep_near(width: LaneWidth, threads: &PairThreads, segments: &[Segment], pairs: &mut Vec<Pair>, frame: f32) {
    let mut near = vec![[0.0; LANES]; pairs.len().div_ceil(LANES)];
    let mut work: Vec<_> = pairs.chunks(LANES * BLOCKS).zip(near.chunks_mut(BLOCKS)).collect();
    threads.0.for_each(
        &mut work,
        || (),
        |(), (pairs, near)| {
            for (pairs, near) in pairs.chunks(LANES).zip(&mut **near) {
                let sides = gather_sides(segments, pairs);
                match width {
                    LaneWidth::Eight | LaneWidth::EightBaseline => {
                        with_instructions!(width.level(), simd => near_wide(simd, &sides, frame, near))
                    }
                    LaneWidth::One => (0..LANES).for_each(|lane| may_touch(OneF32(lane), &sides, frame, near)),
                }
            }
        },
    );
    let mut near = near.as_flattened().iter();
    pairs.retain(|_| near.next().is_some_and(|&flag| flag > 0.5));
}

/// How many blocks of pairs a thread takes up at a time.
const BLOCKS: usize = 32;

/// Entries of one side of eight pairs: both ends (m), both radii (m), both velocities (m/s), and the slack (m).
type SideRows = [Entry<f32>; 15];

fn gather_sides(segments: &[Segment], pairs: &[Pair]) -> [SideRows; 2] {
    let mut sides = [[[0.0; LANES]; 15]; 2];
    for (lane, pair) in pairs.iter().enumerate() {
        for (rows, &index) in sides.iter_mut().zip(pair) {
            let Segment { pill: Pill { ends: [a, b], radii }, velocities: [u, v], slack, .. } =
                &segments[index as usize];
            let values = a.0.iter().chain(&b.0).chain(radii).chain(&u.0).chain(&v.0).chain([slack]);
            rows.iter_mut().zip(values).for_each(|(row, value)| row[lane] = *value);
        }
    }
    sides
}

/// Flags which of eight pairs may come to touch.
#[inline(always)]
fn may_touch<L: Lanes<Scalar = f32>>(lanes: L, sides: &[SideRows; 2], frame: f32, near: &mut Entry<f32>) {
    let pills = each!(side in 0..2 => Pill {
        ends: each!(end in 0..2 => V3::load(lanes, &sides[side], 3 * end)),
        radii: each!(end in 0..2 => lanes.load(&sides[side][6 + end])),
    });
    let velocities = each!(side in 0..2 => each!(end in 0..2 => V3::load(lanes, &sides[side], 8 + 3 * end)));
    let mut fastest2 = lanes.splat(0.0);
    for i in 0..2 {
        for k in 0..2 {
            let apart = velocities[0][i] - velocities[1][k];
            fastest2 = fastest2.max(apart.dot(apart));
        }
    }
    let slack = lanes.load(&sides[0][14]) + lanes.load(&sides[1][14]);
    let reach = fastest2.sqrt() * lanes.splat(frame) + slack;
    let gap = nearest(lanes, &pills[0], &pills[1]).gap;
    lanes.store(gap.where_less(reach, lanes.splat(1.0), lanes.splat(0.0)), near);
}

#[inline(always)]
fn near_wide<S: Simd>(simd: S, sides: &[SideRows; 2], frame: f32, near: &mut Entry<f32>) {
    if const { S::f32s::LEN < LANES } {
        may_touch(Half(simd, 0), sides, frame, near);
        may_touch(Half(simd, 4), sides, frame, near);
    } else {
        may_touch(Wide(simd), sides, frame, near);
    }
}
