//! Which segments may touch those of other chains in a frame.
//!
//! A segment is a pill; its bounding box, widened by how far it may go in the frame, goes through the grid, and what comes out
//! is kept where the pills themselves may come together at the speed that they have against each other. Who may meet at all
//! [`Collisions`] say: by default not segments of one chain; and never those of one instance that overlap at rest.

use std::ops::Range;

use fearless_simd::{Simd, SimdBase};

use super::LaneWidth;
use super::gather_segments::Segment;
use super::grid::{Bounds, Pair, PairFinder, PairThreads};
use super::kin::Room;
use super::lanes::{Entry, Half, LANES, Lane, Lanes, OneF32, Wide, each, with_instructions};
use super::math::V3;
use super::meetings::{PairBlock, Side};
use super::pills::{Pill, nearest};
use super::sort_sides::MeetingGroup;
use super::threads::Threads;
use crate::backend::SegmentPair;
use crate::instances::{FleshHandle, Instance, Instances, Pressed, REMEMBERED, SegmentName, Touch};
use crate::layout::meet;
use crate::step::Stage;
use crate::timing::StageClock;
use crate::{Collisions, ContactWith};

/// How many pairs a thread takes up at a time.
const CHUNK: usize = 64 * LANES;

/// Names a segment from frame to frame: its instance, and which of that.
pub(super) type Name = (FleshHandle, SegmentName);

/// Who meets whom.
#[derive(Default)]
pub(super) struct Meetings {
    finder: PairFinder,
    /// The segments of each instance that is stepped; beyond, room of earlier frames.
    pub gathered: Vec<Vec<Segment>>,
    /// All of them, one instance after the other.
    pub segments: Vec<Segment>,
    pub bounds: Vec<Bounds>,
    /// Of every segment, see [`Segment::motion`].
    pub motions: Vec<Entry<f32>>,
    /// What the instance of every group touches.
    pub collisions: Vec<Collisions>,
    pub pairs: Vec<Pair>,
    /// Of every pair, which it is in the blocks.
    pub slots: Vec<u32>,
    /// Of every place in the blocks, which pair is there.
    pub order: Vec<u32>,
    /// All pairs, those that are likely to press beside each other, see [`Likely`]: the others' blocks have nothing to press. Among
    /// those that are as likely in ascending order.
    pub blocks: Vec<PairBlock>,
    /// Of every place in the blocks, whether the pair there has something to leave with its instance: what it remembers, or with what
    /// it pressed.
    leaves: Vec<[bool; LANES]>,
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
            clock.timed(Stage::GatherSegments, || self.gather_segments(&threads.0, instances, frame, gravity));
            // What is woken may be near to more that sleeps.
            let woke = clock.timed(Stage::FindPairs, || {
                self.near(width, threads, instances, frame);
                self.wake_near(instances)
            });
            if !woke {
                break;
            }
        }
        clock.timed(Stage::FindPairs, || self.make_blocks(width, threads, instances, frame));
    }

    /// The pairs of segments that may touch, but of those that sleep with each other.
    fn near(&mut self, width: LaneWidth, threads: &PairThreads, instances: &Instances, frame: f32) {
        let Self { finder, segments, bounds, motions, collisions, pairs, .. } = self;
        let sides = |pair: &Pair| pair.map(|index| &segments[index as usize]);
        finder.find_boxes(threads, bounds, pairs, |found| {
            found.retain(|pair| {
                let [a, b] = sides(pair);
                !(a.asleep && b.asleep || a.is_of_chain(b) && !collisions[a.place as usize].within_chains)
            });
            keep_near(width, motions, found, frame);
            found.retain(|pair| {
                let [a, b] = sides(pair);
                let (of_one, of_chain) = (a.name.0 == b.name.0, a.is_of_chain(b));
                let [own, theirs] = [a, b].map(|side| &collisions[side.place as usize]);
                let wanted = match (of_one, of_chain) {
                    (_, true) => own.within_chains,
                    (true, _) => own.own_chains,
                    _ => own.among_others().meets(theirs.among_others()),
                };
                wanted && !(of_one && a.overlaps_at_rest(instances, b))
            });
        });
    }

    /// Wakes what sleeps near to what is awake; says whether anything did.
    fn wake_near(&self, instances: &mut Instances) -> bool {
        let sleepers = self.pairs.iter().flatten().map(|&index| &self.segments[index as usize]);
        let mut woke = false;
        for sleeper in sleepers.filter(|segment| segment.asleep) {
            woke = true;
            instances.wake_near(sleeper.name.0);
        }
        woke
    }

    /// What is remembered of some pairs that follow each other from the frame before.
    fn remember<'a>(&self, instances: &'a Instances, pairs: &[Pair], remembered: &mut [Option<&'a Touch>]) {
        let mut own: Option<FleshHandle> = None;
        let mut touches = [].iter().peekable();
        for (indices, remembered) in pairs.iter().zip(remembered) {
            let [(handle, first), (other, second)] = indices.map(|index| self.segments[index as usize].name);
            let pair = (first, other, second);
            if own != Some(handle) {
                let all = &instances.get(handle).expect("has a segment").state.touches;
                touches = all[all.partition_point(|touch| touch.pair() < pair)..].iter().peekable();
                own = Some(handle);
            }
            while touches.next_if(|touch| touch.pair() < pair).is_some() {}
            *remembered = touches.next_if(|touch| touch.pair() == pair);
        }
    }

    /// Makes the pairs' rows, with what they remember of the frame before.
    fn make_blocks(&mut self, width: LaneWidth, threads: &PairThreads, instances: &Instances, frame: f32) {
        let (remembered, likely) = self.remembered_and_likely(width, threads, instances, frame);
        self.order = Self::order(&likely);
        let Self { segments, collisions, pairs, slots, order, blocks, .. } = self;
        slots.clear();
        slots.resize(pairs.len(), 0);
        order.iter().enumerate().for_each(|(slot, pair)| slots[*pair as usize] = slot as u32);
        // What else is in them from the frame before is written before it is read.
        blocks.resize(pairs.len().div_ceil(LANES), PairBlock::NONE);
        if let Some(last) = blocks.last_mut() {
            *last = PairBlock::NONE;
        }
        let fill = |pair: u32, block: &mut PairBlock, lane: usize| {
            let (indices, remembered) = (pairs[pair as usize], remembered[pair as usize]);
            block.there[lane] = 1.0;
            for (side, ends) in block.joined.iter_mut().enumerate() {
                for (end, joined) in ends.iter_mut().enumerate() {
                    joined[lane] = f32::from(u8::from(is_joined(instances, segments, indices, [side, end])));
                }
            }
            for (point, memory) in block.memory.iter_mut().enumerate() {
                memory[lane] = remembered.map_or([0.0; REMEMBERED], |touch| touch.points[point]);
            }
            let body_masses = indices.map(|index| segments[index as usize].body_mass);
            block.heavier[lane] = body_masses[0] / body_masses[1];
            let obey = indices.iter().all(|index| segments[*index as usize].obeys);
            block.obeys[lane] = f32::from(u8::from(obey));
            let [own, theirs] = indices.map(|index| &collisions[segments[index as usize].place as usize]);
            let rubs = own.rubs_with(theirs);
            block.points.iter_mut().for_each(|row| row[meet::RUBS][lane] = rubs);
        };
        threads.0.for_each(&mut in_chunks(order, blocks), |(pairs, blocks)| {
            let all = pairs.iter().enumerate();
            all.for_each(|(at, pair)| fill(*pair, &mut blocks[at / LANES], at % LANES));
        });
    }

    /// What is remembered of every pair, and how likely it is to press.
    fn remembered_and_likely<'a>(
        &self,
        width: LaneWidth,
        threads: &PairThreads,
        instances: &'a Instances,
        frame: f32,
    ) -> (Vec<Option<&'a Touch>>, Vec<Likely>) {
        let Self { motions, pairs, .. } = self;
        let (mut remembered, mut likely) = (vec![None; pairs.len()], vec![Likely::IsNear; pairs.len()]);
        let of_chunks = pairs.chunks(CHUNK).zip(remembered.chunks_mut(CHUNK)).zip(likely.chunks_mut(CHUNK));
        let presses = |touch: &Touch| touch.points.iter().any(|[force, ..]| *force > 0.0);
        threads.0.for_each(&mut of_chunks.collect::<Vec<_>>(), |((pairs, remembered), likely)| {
            self.remember(instances, pairs, remembered);
            let mut near = [NearBlock::default(); CHUNK / LANES];
            find_near(width, motions, pairs, frame, Near::InTheEnd, &mut near[..pairs.len().div_ceil(LANES)]);
            let near = near.iter().flat_map(|block| block.near);
            for ((likely, remembered), near) in likely.iter_mut().zip(&**remembered).zip(near) {
                *likely = match remembered {
                    Some(touch) if presses(touch) => Likely::Presses,
                    _ if near > 0.5 => Likely::ComesTogether,
                    Some(_) => Likely::Pressed,
                    None => Likely::IsNear,
                };
            }
        });
        (remembered, likely)
    }

    /// The pairs by how likely they are to press, and among those that are as likely in their order.
    fn order(likely: &[Likely]) -> Vec<u32> {
        let mut order: Vec<u32> = (0..likely.len() as u32).collect();
        order.sort_by_key(|&pair| likely[pair as usize]);
        order
    }

    /// The pairs, by the places of their instances.
    pub fn pairs(&self) -> impl Iterator<Item = SegmentPair> {
        self.pairs.iter().map(|pair| {
            pair.map(|index| {
                let (handle, name) = self.segments[index as usize].name;
                (handle.parts().0, name)
            })
        })
    }

    /// Leaves with the instances what pairs that touch remember, and with what they pressed.
    pub fn keep(&mut self, threads: &Threads, instances: &mut Instances) {
        self.note_leaving(threads);
        let (mut segment_end, mut pair_end) = (0, 0);
        let of_instance = |(handle, instance): (FleshHandle, _)| {
            let up_to_it = |segment: &&Segment| segment.name.0.parts().0 <= handle.parts().0;
            segment_end += self.segments[segment_end..].iter().take_while(up_to_it).count();
            let begin = pair_end;
            pair_end += self.pairs[begin..].iter().take_while(|[first, _]| (*first as usize) < segment_end).count();
            (handle, instance, begin..pair_end)
        };
        let concerned =
            |(_, instance, pairs): &(_, &mut Instance, Range<usize>)| instance.works().flesh || !pairs.is_empty();
        let mut work: Vec<_> = instances.handles_mut().map(of_instance).filter(concerned).collect();
        debug_assert_eq!(pair_end, self.pairs.len(), "all pairs are of instances that there are");
        threads.for_many(&mut work, |(handle, instance, pairs)| self.keep_of(*handle, instance, pairs.clone()));
    }

    /// Notes which pairs have something to leave.
    fn note_leaving(&mut self, threads: &Threads) {
        let Self { blocks, leaves, pressed, .. } = self;
        leaves.clear();
        leaves.resize(blocks.len(), [false; LANES]);
        let begins = (0..blocks.len()).step_by(CHUNK / LANES);
        let of_chunks = blocks.chunks(CHUNK / LANES).zip(leaves.chunks_mut(CHUNK / LANES)).zip(begins);
        threads.for_each(&mut of_chunks.collect::<Vec<_>>(), |((blocks, leaves), begin)| {
            for (at, (block, leaves)) in blocks.iter().zip(&mut **leaves).enumerate() {
                let pressed = pressed.get(*begin + at).map_or(&[0.0; LANES], |[impulse, ..]| impulse);
                for lane in 0..LANES {
                    let touches = Touch::remembers(&[0, 1].map(|point| block.memory[point][lane]));
                    leaves[lane] = touches || pressed[lane] > 0.0;
                }
            }
        });
    }

    /// Leaves with an instance what pairs remember that begin with its segments.
    fn keep_of(&self, handle: FleshHandle, instance: &mut Instance, pairs: Range<usize>) {
        if instance.works().flesh {
            instance.state.touches.clear();
        }
        for (&slot, pair) in self.slots[pairs.clone()].iter().zip(&self.pairs[pairs]) {
            let (index, lane) = (slot as usize / LANES, slot as usize % LANES);
            if !self.leaves[index][lane] {
                continue;
            }
            let points = [0, 1].map(|point| self.blocks[index].memory[point][lane]);
            let touches = Touch::remembers(&points);
            let pressed = self.pressed.get(index).filter(|sums| sums[0][lane] > 0.0);
            let [(begins, own), (other, theirs)] = pair.map(|index| self.segments[index as usize].name);
            debug_assert_eq!(begins, handle);
            if let Some(pressed) = pressed.filter(|_| handle != other) {
                instance.tally.with.push((ContactWith::Flesh(other), pressed.map(|sums| sums[lane])));
            }
            if touches {
                instance.state.touches.push(Touch { own, other, theirs, points });
            }
        }
    }
}

/// Pairs in the order of their blocks, and these, as threads take them up.
pub(super) fn in_chunks<'a>(order: &'a [u32], blocks: &'a mut [PairBlock]) -> Vec<(&'a [u32], &'a mut [PairBlock])> {
    order.chunks(CHUNK).zip(blocks.chunks_mut(CHUNK / LANES)).collect()
}

/// Whether a side's chain goes on past one end of its segment with one that may touch the other side too.
fn is_joined(instances: &Instances, segments: &[Segment], mut pair: Pair, [side, end]: [usize; 2]) -> bool {
    let own = &segments[pair[side] as usize];
    let next = if end == 0 { pair[side].wrapping_sub(1) } else { pair[side] + 1 };
    if segments.get(next as usize).is_none_or(|next| !next.is_of_chain(own)) {
        return false;
    }
    pair[side] = next;
    let [a, b] = pair.map(|index| &segments[index as usize]);
    a.name.0 != b.name.0 || !a.overlaps_at_rest(instances, b)
}

/// How likely a pair is to press in the frame, the likeliest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likely {
    /// It pressed at the end of the last frame.
    Presses,
    /// It would at the end of this one, by how it goes.
    ComesTogether,
    /// It pressed not long ago.
    Pressed,
    /// It is no farther away than it may come.
    IsNear,
}

/// Keeps those of some pairs of segments that may come to touch in a frame at the speed that they have against each other.
fn keep_near(width: LaneWidth, motions: &[Entry<f32>], pairs: &mut Vec<Pair>, frame: f32) {
    let mut blocks = vec![NearBlock::default(); pairs.len().div_ceil(LANES)];
    find_near(width, motions, pairs, frame, Near::InReach, &mut blocks);
    let mut near = blocks.iter().flat_map(|block| &block.near);
    pairs.retain(|_| near.next().is_some_and(|&flag| flag > 0.5));
}

/// Finds which of some pairs are near in some sense, block by block.
fn find_near(
    width: LaneWidth,
    motions: &[Entry<f32>],
    pairs: &[Pair],
    frame: f32,
    near: Near,
    blocks: &mut [NearBlock],
) {
    for (pairs, NearBlock { rows, .. }) in pairs.chunks(LANES).zip(&mut *blocks) {
        for (lane, pair) in pairs.iter().enumerate() {
            (rows[0][lane], rows[1][lane]) = (2 * pair[0], 2 * pair[1]);
        }
    }
    match width {
        LaneWidth::Eight | LaneWidth::EightBaseline => {
            with_instructions!(width.level(), simd => near_wide(simd, motions, frame, near, blocks))
        }
        LaneWidth::One => (0..LANES).for_each(|lane| flag_near(OneF32(lane), motions, frame, near, blocks)),
    }
}

/// When a pair is near.
#[derive(Clone, Copy)]
enum Near {
    /// Where it may come to touch in the frame at the speed that both sides have against each other.
    InReach,
    /// Where it touches once both have gone on for the frame.
    InTheEnd,
}

/// Eight pairs of segments.
#[derive(Clone, Copy, Default)]
struct NearBlock {
    /// Of each side, where its rows begin among all motions.
    rows: [[u32; LANES]; 2],
    /// 1 where they are near, else 0.
    near: Entry<f32>,
}

/// Flags which of some pairs are near.
#[inline(always)]
fn flag_near<L: Lanes<Scalar = f32>>(
    lanes: L,
    motions: &[Entry<f32>],
    frame: f32,
    when: Near,
    blocks: &mut [NearBlock],
) {
    for NearBlock { rows, near } in blocks {
        let sides = each!(side in 0..2 => lanes.gather(motions, &rows[side]));
        let next = each!(side in 0..2 => each!(lane in 0..8 => rows[side][lane] + 1));
        let going = each!(side in 0..2 => lanes.gather(motions, &next[side]));
        let velocities = each!(side in 0..2 => each!(end in 0..2 => V3(each!(k in 0..3 => going[side][3 * end + k]))));
        let pills = each!(side in 0..2 => Pill {
            ends: each!(end in 0..2 => {
                let place = V3(each!(k in 0..3 => sides[side][3 * end + k]));
                match when {
                    Near::InReach => place,
                    Near::InTheEnd => place + velocities[side][end] * lanes.splat(frame),
                }
            }),
            radii: each!(end in 0..2 => sides[side][6 + end]),
        });
        let mut fastest2 = lanes.splat(0.0);
        for i in 0..2 {
            for k in 0..2 {
                let apart = velocities[0][i] - velocities[1][k];
                fastest2 = fastest2.max(apart.dot(apart));
            }
        }
        let reach = match when {
            Near::InReach => fastest2.sqrt() * lanes.splat(frame) + (going[0][6] + going[1][6]),
            Near::InTheEnd => lanes.splat(0.0),
        };
        let gap = nearest(lanes, &pills[0], &pills[1]).gap;
        lanes.store(gap.where_less(reach, lanes.splat(1.0), lanes.splat(0.0)), near);
    }
}

#[inline(always)]
fn near_wide<S: Simd>(simd: S, motions: &[Entry<f32>], frame: f32, when: Near, blocks: &mut [NearBlock]) {
    if const { S::f32s::LEN < LANES } {
        flag_near(Half(simd, 0), motions, frame, when, blocks);
        flag_near(Half(simd, 4), motions, frame, when, blocks);
    } else {
        flag_near(Wide(simd), motions, frame, when, blocks);
    }
}
