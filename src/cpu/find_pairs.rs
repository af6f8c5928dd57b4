//! Which segments may touch those of other chains in a frame.
//!
//! A segment is a pill; its bounding sphere, widened by how far it may go in the frame, goes through the grid, and what comes out
//! is kept where the pills themselves may come together at the speed that they have against each other. Segments of one chain do not
//! meet, nor do those of one instance that overlap at rest.

use glam::DVec3;

use super::grid::{Pair, PairFinder, PairThreads, Sphere};
use super::group::GroupRest;
use super::kin::Room;
use super::lanes::{Entry, LANES, OneF32, OneF64};
use super::math::V3;
use super::meetings::{PairBlock, Side};
use super::pills::{Pill, nearest};
use crate::backend::SegmentPair;
use crate::flesh::{Flesh, GroupState};
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
    pub fn find(&mut self, instances: &Instances, threads: &PairThreads, frame: f32, gravity: f32) {
        self.gather(instances, frame, gravity);
        let Self { finder, segments, spheres, pairs, .. } = self;
        let keep = |a: u32, b: u32| {
            let (a, b) = (&segments[a as usize], &segments[b as usize]);
            (a.place, a.lane) != (b.place, b.lane) && a.may_touch(b, frame)
        };
        finder.find(threads, spheres, keep, pairs);
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
        let mut own: Option<(FleshHandle, &Flesh)> = None;
        let mut touches = [].iter().peekable();
        let (segments, mut kept) = (&self.segments, Vec::with_capacity(self.pairs.len()));
        for &[a, b] in &self.pairs {
            let names @ [(handle, first), (other, second)] = [a, b].map(|index| segments[index as usize].name);
            if own.is_none_or(|own| own.0 != handle) {
                let instance = instances.get(handle).expect("has a segment");
                own = Some((handle, &instance.flesh));
                touches = instance.state.touches.iter().peekable();
            }
            let overlap = own.is_some_and(|(_, flesh)| handle == other && overlap_at_rest(flesh, [first, second]));
            if overlap {
                continue;
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
            kept.push([a, b]);
        }
        self.pairs = kept;
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

impl Segment {
    /// Whether it may come to touch another one in a frame.
    fn may_touch(&self, other: &Self, frame: f32) -> bool {
        let apart = |i: usize, k: usize| self.velocities[i] - other.velocities[k];
        let fastest = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, k)| apart(i, k).dot(apart(i, k)).sqrt());
        let fastest = fastest.into_iter().fold(0.0, f32::max);
        let reach = fastest * frame + self.slack + other.slack;
        nearest(OneF32(0), &self.pill, &other.pill).gap <= reach
    }
}

/// How deep two segments of one instance are in each other, over the smaller radius, from which on they overlap at rest: less is
/// what rods that lie on each other are off by.
const OVERLAP: f64 = 0.01;

/// Whether two segments of one instance overlap at rest.
fn overlap_at_rest(flesh: &Flesh, names: [SegmentName; 2]) -> bool {
    let pill = |name: SegmentName| {
        let [group, lane, index] = name.map(usize::from);
        let chain = flesh.chains().iter().find(|chain| (chain.group, chain.lane) == (group, lane));
        let rest = &chain.expect("has a segment").rest;
        let radius = |index: usize| f64::from(flesh.groups[group].row(index)[rest::RADIUS][lane]);
        Pill {
            ends: [index, index + 1].map(|index| V3(rest[index].translation.to_array())),
            radii: [index, index + 1].map(radius),
        }
    };
    let [a, b] = names.map(pill);
    let smaller = a.radii.into_iter().chain(b.radii).fold(f64::MAX, f64::min);
    nearest(OneF64(0), &a, &b).gap < -OVERLAP * smaller
}

/// Pairs of segments of different chains that overlap at rest, in order.
#[cfg(feature = "gpu")]
pub(crate) fn overlaps_at_rest(flesh: &Flesh) -> Vec<[SegmentName; 2]> {
    let (mut names, mut spheres) = (Vec::new(), Vec::new());
    let origin = flesh.chains().first().map_or(DVec3::ZERO, |chain| chain.rest[0].translation);
    let mut chains: Vec<_> = flesh.chains().iter().collect();
    chains.sort_by_key(|chain| (chain.group, chain.lane));
    for chain in chains {
        for index in 0..chain.rest.len().saturating_sub(1) {
            let [a, b] = [index, index + 1].map(|index| chain.rest[index].translation - origin);
            let radius = |index| flesh.groups[chain.group].row(index)[rest::RADIUS][chain.lane];
            let reach = 0.5 * a.distance(b) as f32 + radius(index).max(radius(index + 1));
            spheres.push(Sphere { centre: a.midpoint(b).as_vec3().to_array(), radius: reach * 1.0001 });
            names.push([chain.group, chain.lane, index].map(|part| part as u16));
        }
    }
    let names_of = |a: u32, b: u32| [a, b].map(|index| names[index as usize]);
    let keep = |a: u32, b: u32| {
        let [a, b] = names_of(a, b);
        a[..2] != b[..2] && overlap_at_rest(flesh, [a, b])
    };
    let mut pairs = Vec::new();
    PairFinder::default().find(&PairThreads::new(1), &spheres, keep, &mut pairs);
    pairs.into_iter().map(|[a, b]| names_of(a, b)).collect()
}
