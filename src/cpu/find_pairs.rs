//! Which segments may touch those of other chains in a frame.
//!
//! A segment is a pill; its bounding sphere, widened by how far it may go in the frame, goes through the grid, and what comes out
//! is kept where the pills themselves may come together at the speed that they have against each other. Segments of one chain do not
//! meet, nor do those of one instance that overlap at rest.

use fearless_simd::{Simd, SimdBase};
use glam::DVec3;

use super::LaneWidth;
use super::grid::{Pair, PairFinder, PairThreads, Sphere};
use super::group::GroupRest;
use super::kin::Room;
use super::lanes::{Entry, Half, LANES, Lane, Lanes, OneF32, Wide, each, with_instructions};
use super::math::V3;
use super::meetings::{PairBlock, Side};
use super::pills::{Pill, nearest};
use crate::backend::SegmentPair;
use crate::flesh::GroupState;
use crate::instances::{FleshHandle, Instances, REMEMBERED, SegmentName, Touch};
use crate::layout::{MAX_BONES, POSE, chain, force, input, meet, node, rest, shown};

/// Names a segment from frame to frame: its instance, and which of that.
type Name = (FleshHandle, SegmentName);

/// A segment that may meet others.
#[derive(Clone, Copy)]
struct Segment {
    name: Name,
    /// Which of the groups that there are.
    place: u32,
    lane: u32,
    /// The node with which it begins.
    node: u32,
    pill: Pill<f32>,
    /// Velocities of its ends (m/s).
    velocities: [V3<f32>; 2],
    /// How far beyond what these take it it may come (m).
    slack: f32,
}

/// What the host gives a chain in the frame to come.
pub(super) struct Given<'a> {
    inputs: &'a [Entry<f32>],
    forces: &'a [Entry<f32>],
    lane: usize,
    kicked: bool,
    /// How far its bones go (m), and what hangs on them with them.
    pub carried: f32,
}

impl<'a> Given<'a> {
    pub fn of(state: &'a GroupState, rest: &GroupRest<f32>, forces: &'a [Entry<f32>], lane: usize) -> Self {
        let inputs = &state.inputs;
        let bones = if inputs[input::HANGS][lane] > 0.5 { MAX_BONES } else { 0 };
        let reach = rest.row(0)[rest::LENGTH][lane];
        let moved = (0..bones * POSE).step_by(POSE).map(|bone| {
            let apart = |at: usize| {
                let [from, to] = [input::BONE_FROM, input::BONE_TO].map(|pose| inputs[pose + bone + at][lane]);
                (to - from) * (to - from)
            };
            let (goes, turns) = ((0..3).map(apart).sum::<f32>().sqrt(), (3..POSE).map(apart).sum::<f32>().sqrt());
            // |q − q'| is 2·sin(φ/4), at least 0.45 φ; what hangs on a bone is taken to be within two lengths of it.
            goes + turns * 2.3 * 2.0 * reach
        });
        let carried = moved.fold(0.0, f32::max);
        Self { inputs, forces, lane, kicked: inputs[input::KICKED][lane] > 0.5, carried }
    }

    fn vector(&self, rows: &[Entry<f32>], at: usize) -> V3<f32> {
        V3(std::array::from_fn(|k| rows[at + k][self.lane]))
    }

    /// A node's velocity with what it is kicked with (m/s).
    pub fn velocity(&self, row: &[Entry<f32>], index: usize) -> V3<f32> {
        let velocity = self.vector(row, node::VELOCITY);
        if !self.kicked {
            return velocity;
        }
        let spin = self.vector(self.inputs, input::KICK_SPIN).cross(self.vector(row, node::PLACE));
        let kick = self.vector(self.inputs, input::KICK_VELOCITY) + spin;
        let pushed = self.force_on(index).map_or(V3([0.0; 3]), |row| self.vector(row, force::VELOCITY));
        velocity * self.inputs[input::KEPT][self.lane] + kick + pushed
    }

    /// By how much its ends are accelerated beside gravity at most (m/s²).
    pub fn acceleration(&self, ends: [usize; 2]) -> f32 {
        let size = |v: V3<f32>| v.dot(v).sqrt();
        let pushed = ends.map(|end| self.force_on(end).map_or(0.0, |row| size(self.vector(row, force::ACCELERATION))));
        size(self.vector(self.inputs, input::ACCELERATION)) + pushed[0].max(pushed[1])
    }

    /// How far a node may come in a frame of so long (s), under gravity of so much (m).
    pub fn comes(&self, state: &GroupState, index: usize, gravity: f32, frame: f32) -> f32 {
        let velocity = self.velocity(&state.nodes[index * node::ENTRIES..][..node::ENTRIES], index);
        let accelerated = gravity + self.acceleration([index; 2]);
        velocity.dot(velocity).sqrt() * frame + 0.5 * accelerated * frame * frame + self.carried
    }

    fn force_on(&self, index: usize) -> Option<&'a [Entry<f32>]> {
        self.forces.get(index * force::ENTRIES..(index + 1) * force::ENTRIES)
    }
}

/// A group that may meet others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeetingGroup {
    /// Which node of what is shown is its first.
    pub base: u32,
    /// Which of [`Meetings::sides`] each lane's begin with, and where the last one's end.
    pub sides: [u32; LANES + 1],
}

/// Who meets whom.
#[derive(Default)]
pub(super) struct Meetings {
    finder: PairFinder,
    segments: Vec<Segment>,
    spheres: Vec<Sphere>,
    pairs: Vec<Pair>,
    /// Of every pair.
    names: Vec<[Name; 2]>,
    /// All pairs, in ascending order.
    pub blocks: Vec<PairBlock>,
    /// The segments that meet others, by group, lane and node, once for each pair.
    pub sides: Vec<Side>,
    /// Of every group; `None` of those that meet nobody.
    pub groups: Vec<Option<MeetingGroup>>,
    /// What all groups show.
    pub shown: Vec<Entry<f32>>,
    /// Room for each group that meets others.
    pub rooms: Vec<Room>,
}

impl Meetings {
    /// Finds who may meet in a frame of so long (s); what was remembered of a pair is kept.
    pub fn find(&mut self, width: LaneWidth, threads: &PairThreads, instances: &Instances, frame: f32, gravity: f32) {
        self.gather(instances, frame, gravity);
        let Self { finder, segments, spheres, pairs, .. } = self;
        let keep = |a: u32, b: u32| {
            let (a, b) = (&segments[a as usize], &segments[b as usize]);
            let together = || instances.get(a.name.0).is_ok_and(|own| own.flesh.overlap_at_rest([a.name.1, b.name.1]));
            (a.place, a.lane) != (b.place, b.lane) && !(a.name.0 == b.name.0 && together())
        };
        finder.find(threads, spheres, keep, pairs);
        keep_near(width, threads, segments, pairs, frame);
        self.make_blocks(instances);
        self.sort_sides(instances);
    }

    /// The segments and their spheres.
    fn gather(&mut self, instances: &Instances, frame: f32, gravity: f32) {
        self.segments.clear();
        self.spheres.clear();
        let mut common: Option<DVec3> = None;
        let mut place = 0;
        for (handle, instance) in instances.handles() {
            for (group, (rest, state)) in instance.flesh.groups.iter().zip(&instance.state.nodes.groups).enumerate() {
                for lane in (0..LANES).filter(|_| instance.active.flesh) {
                    let vector = |rows: &[Entry<f32>], at: usize| std::array::from_fn(|k| rows[at + k][lane]);
                    let origin = DVec3::from_array(vector(&state.chains, chain::ORIGIN).map(f64::from));
                    let shift = (origin - *common.get_or_insert(origin)).as_vec3();
                    let given = Given::of(state, rest, instance.forces.get(group).map_or(&[], Vec::as_slice), lane);
                    for index in 0..rest.node_count.saturating_sub(1) {
                        if rest.row(index)[rest::INV_LENGTH][lane] <= 0.0 {
                            break;
                        }
                        let row = |index: usize| &state.nodes[index * node::ENTRIES..][..node::ENTRIES];
                        let ends = [index, index + 1]
                            .map(|index| V3((shift + glam::Vec3::from(vector(row(index), node::PLACE))).to_array()));
                        let radii = [index, index + 1]
                            .map(|index| rest.row(index)[rest::RADIUS][lane] * row(index)[node::SCALE][lane]);
                        let velocities = [index, index + 1].map(|index| given.velocity(row(index), index));
                        let speed = velocities.map(|v| v.dot(v).sqrt());
                        let accelerated = gravity + given.acceleration([index, index + 1]);
                        let slack = 0.5 * accelerated * frame * frame + 0.05 * radii[0].max(radii[1]) + given.carried;
                        let margin = speed[0].max(speed[1]) * frame + slack;
                        let along = ends[1] - ends[0];
                        self.spheres.push(Sphere {
                            centre: (ends[0] + along * 0.5).0,
                            radius: 0.5 * along.dot(along).sqrt() + radii[0].max(radii[1]) + margin,
                        });
                        self.segments.push(Segment {
                            name: (handle, [group, lane, index].map(|part| part as u16)),
                            place,
                            lane: lane as u32,
                            node: index as u32,
                            pill: Pill { ends, radii },
                            velocities,
                            slack,
                        });
                    }
                }
                place += 1;
            }
        }
        self.groups.clear();
        self.groups.resize(place as usize, None);
    }

    /// Makes the pairs' rows, with what they remember of the frame before.
    fn make_blocks(&mut self, instances: &Instances) {
        self.names.clear();
        self.blocks.clear();
        let mut own: Option<FleshHandle> = None;
        let mut touches = [].iter().peekable();
        for &pair in &self.pairs {
            let names @ [(handle, first), (other, second)] = pair.map(|index| self.segments[index as usize].name);
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
            .filter(|instance| instance.active.flesh)
            .for_each(|instance| instance.state.touches.clear());
        for (pair, [(handle, own), (other, theirs)]) in self.names.iter().copied().enumerate() {
            let (block, lane) = (&self.blocks[pair / LANES], pair % LANES);
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

    /// Sorts the pairs' sides by their segments, and says who shows where.
    fn sort_sides(&mut self, instances: &Instances) {
        let segments = &self.segments;
        let mut next = vec![0_u32; segments.len() + 1];
        for segment in self.pairs.iter().flatten() {
            next[*segment as usize + 1] += 1;
        }
        for index in 1..next.len() {
            next[index] += next[index - 1];
        }
        let (mut nodes, mut index) = (0, 0);
        let mut sides_of = |place: usize| -> [u32; LANES + 1] {
            std::array::from_fn(|lane| {
                let first = next[index];
                let own = segments[index..].iter();
                index += own.take_while(|segment| (segment.place, segment.lane) == (place as u32, lane as u32)).count();
                first
            })
        };
        let mut first = 0;
        for instance in instances.iter() {
            let rests = &instance.flesh.groups;
            let sides: Vec<_> = (first..first + rests.len()).map(&mut sides_of).collect();
            let meets = |sides: &[u32; LANES + 1]| sides[LANES] > sides[0];
            // What hangs together is stepped together.
            let together = !instance.flesh.branches.is_empty() && sides.iter().any(meets);
            for ((group, sides), rest) in self.groups[first..].iter_mut().zip(sides).zip(rests) {
                if together || meets(&sides) {
                    *group = Some(MeetingGroup { base: nodes as u32, sides });
                    nodes += rest.node_count;
                }
            }
            first += rests.len();
        }
        self.sides.clear();
        self.sides.resize(2 * self.pairs.len(), Side::default());
        for (pair, segments_of) in self.pairs.iter().enumerate() {
            for (side, &segment) in segments_of.iter().enumerate() {
                let Segment { node, place, lane, .. } = segments[segment as usize];
                let at = &mut next[segment as usize];
                self.sides[*at as usize] = Side { segment: node, pair: pair as u32, side: side as u32 };
                *at += 1;
                let base = self.groups[place as usize].map_or(0, |group| group.base);
                let row = (base + node) as usize * shown::ENTRIES;
                self.blocks[pair / LANES].first[side][pair % LANES] = (row * LANES) as u32 + lane;
            }
        }
        self.shown.resize(nodes * shown::ENTRIES, [0.0; LANES]);
    }
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
