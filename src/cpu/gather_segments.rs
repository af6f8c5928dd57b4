//! Stage `gather_segments`: the segments of all chains that are stepped, with how far they may go in the frame. Its twin is
//! `shaders/gather_segments.wgsl`, which counts them in the cells of its grid, too, and bounds them by spheres, and larger ones: by
//! how fast they go at all.

use glam::DVec3;

use super::find_pairs::{Meetings, Name};
use super::grid::Bounds;
use super::group::GroupRest;
use super::lanes::{Entry, LANES};
use super::math::V3;
use super::pills::Pill;
use super::threads::Threads;
use crate::flesh::GroupState;
use crate::instances::{FleshHandle, Instance, Instances};
use crate::layout::{MAX_BONES, POSE, chain, force, input, node, rest};

/// By how much rounding may take places of all segments, from one origin, from each other, over how far they are from that.
pub const PLACES_ROUND: f32 = 2.4e-7;

/// A segment that may meet others.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub name: Name,
    /// Which of the groups that there are.
    pub place: u32,
    pub lane: u32,
    /// The node with which it begins.
    pub node: u32,
    pub pill: Pill<f32>,
    /// Velocities of its ends (m/s).
    pub velocities: [V3<f32>; 2],
    /// How far beyond what these take it it may come (m).
    pub slack: f32,
    /// Whether its instance sleeps.
    pub asleep: bool,
    /// The mass of its chain, or of the tree that this is of (kg).
    pub body_mass: f32,
    /// Whether bones hold or carry both its ends.
    pub obeys: bool,
    /// Which of what overlaps at rest in its flesh begins with it, first and end.
    pub beside: [u32; 2],
}

/// What the host gives a chain in the frame to come.
pub(super) struct Given<'a> {
    inputs: &'a [Entry<f32>],
    forces: &'a [Entry<f32>],
    lane: usize,
    kicked: bool,
    /// How far the chain's origin goes (m), of which the host knows already, and its rows not yet.
    shift: V3<f32>,
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
        let origin = |rows: &[Entry<f32>], at: usize| V3([0, 1, 2].map(|k| rows[at + k][lane]));
        let shift = origin(inputs, input::ORIGIN) - origin(&state.chains, chain::ORIGIN);
        Self { inputs, forces, lane, kicked: inputs[input::KICKED][lane] > 0.5, shift, carried }
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
        let spin = self.vector(self.inputs, input::KICK_SPIN).cross(self.vector(row, node::PLACE) - self.shift);
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

/// What segments are gathered from.
struct Source<'a> {
    handle: FleshHandle,
    instance: &'a Instance,
    /// Which of all groups its first is.
    place: u32,
    /// From where all places are reckoned (m).
    common: DVec3,
    /// s.
    frame: f32,
    /// m/s².
    gravity: f32,
}

impl Source<'_> {
    /// Its segments, by group, lane and node.
    fn gather(&self, segments: &mut Vec<Segment>) {
        let &Self { handle, instance, place, common, frame, gravity } = self;
        segments.clear();
        let asleep = instance.state.rest.is_asleep();
        // In the order of the segments, too.
        let overlaps = instance.flesh.overlaps();
        let mut beside = 0..0;
        for (group, (rest, state)) in instance.flesh.groups.iter().zip(&instance.state.nodes.groups).enumerate() {
            for lane in 0..LANES {
                let vector = |rows: &[Entry<f32>], at: usize| std::array::from_fn(|k| rows[at + k][lane]);
                let origin = DVec3::from_array(vector(&state.chains, chain::ORIGIN).map(f64::from));
                let shift = (origin - common).as_vec3();
                let body_mass = rest.row(0)[rest::BODY_MASS][lane];
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
                    let accelerated = gravity + given.acceleration([index, index + 1]);
                    let farthest = ends.map(|V3(end)| end.into_iter().fold(0.0_f32, |most, x| most.max(x.abs())));
                    let rounds = PLACES_ROUND * farthest[0].max(farthest[1]);
                    let slack =
                        0.5 * accelerated * frame * frame + 0.05 * radii[0].max(radii[1]) + given.carried + rounds;
                    let name = [group, lane, index].map(|part| part as u16);
                    let first = beside.end + overlaps[beside.end..].iter().take_while(|pair| pair[0] < name).count();
                    beside = first..first + overlaps[first..].iter().take_while(|pair| pair[0] == name).count();
                    segments.push(Segment {
                        asleep,
                        beside: [beside.start, beside.end].map(|index| index as u32),
                        name: (handle, name),
                        place: place + group as u32,
                        lane: lane as u32,
                        node: index as u32,
                        pill: Pill { ends, radii },
                        velocities,
                        slack,
                        body_mass,
                        obeys: [index, index + 1].iter().all(|index| rest.obeys(*index, lane)),
                    });
                }
            }
        }
    }
}

impl Meetings {
    /// The segments and their bounds.
    pub fn gather_segments(&mut self, threads: &Threads, instances: &Instances, frame: f32, gravity: f32) {
        let any_awake = instances.iter().any(|instance| instance.works().flesh);
        let common = common_origin(instances);
        self.collisions.clear();
        let mut sources = Vec::new();
        for (handle, instance) in instances.handles() {
            if any_awake && instance.steps().flesh {
                sources.push(Source { handle, instance, place: self.collisions.len() as u32, common, frame, gravity });
            }
            self.collisions.extend(instance.flesh.groups.iter().map(|_| instance.collisions));
        }
        self.gathered.resize_with(sources.len().max(self.gathered.len()), Vec::new);
        let mut work: Vec<_> = sources.into_iter().zip(&mut self.gathered).collect();
        threads.for_many(&mut work, |(source, segments)| source.gather(segments));
        self.segments.clear();
        work.into_iter().for_each(|(_, segments)| self.segments.extend_from_slice(segments));
        self.bound_segments(frame);
    }

    /// Boxes around where segments may go in a frame, seen from the velocity that most of them have (the median along each axis):
    /// what falls together is no nearer for it. From whatever velocity, what comes near at the speed that two have against each
    /// other has boxes that overlap.
    fn bound_segments(&mut self, frame: f32) {
        let mut along_axis = Vec::with_capacity(self.segments.len());
        let most = V3([0, 1, 2].map(|k| {
            along_axis.clear();
            along_axis.extend(self.segments.iter().map(|of| of.velocities[0].0[k]).filter(|v| v.is_finite()));
            let middle = along_axis.len() / 2;
            if along_axis.is_empty() { 0.0 } else { *along_axis.select_nth_unstable_by(middle, f32::total_cmp).1 }
        }));
        self.bounds.clear();
        self.bounds.extend(self.segments.iter().map(|segment| {
            let Segment { pill: Pill { ends: [a, b], radii }, velocities, slack, .. } = segment;
            let [u, v] = velocities.map(|v| (v - most).dot(v - most).sqrt());
            // What rounding may take from it is added.
            let goes = (u.max(v) * frame + slack) * 1.001;
            Bounds {
                low: [0, 1, 2].map(|k| (a.0[k] - radii[0]).min(b.0[k] - radii[1]) - goes),
                high: [0, 1, 2].map(|k| (a.0[k] + radii[0]).max(b.0[k] + radii[1]) + goes),
            }
        }));
        self.motions.clear();
        self.motions.extend(self.segments.iter().flat_map(Segment::motion));
    }
}

/// From where all places are reckoned: the median along each axis of where instances are, so that what is far away takes nothing
/// from the others.
fn common_origin(instances: &Instances) -> DVec3 {
    let stepped = instances.iter().filter(|instance| instance.steps().flesh && !instance.flesh.chains().is_empty());
    let mut origins: Vec<_> =
        stepped.map(|instance| instance.state.nodes.origin(&instance.flesh, 0).to_array()).collect();
    let middle = origins.len() / 2;
    DVec3::from_array([0, 1, 2].map(|k| {
        if origins.is_empty() {
            return 0.0;
        }
        origins.select_nth_unstable_by(middle, |a, b| a[k].total_cmp(&b[k])).1[k]
    }))
}

impl Segment {
    pub fn is_of_chain(&self, other: &Self) -> bool {
        (self.place, self.lane) == (other.place, other.lane)
    }

    /// Whether it and one after it, of the same instance, leave each other alone.
    pub fn overlaps_at_rest(&self, instances: &Instances, other: &Self) -> bool {
        let [first, end] = self.beside.map(|index| index as usize);
        let beside = |own: &Instance| {
            own.flesh.overlaps()[first..end].binary_search_by_key(&other.name.1, |pair| pair[1]).is_ok()
        };
        first < end && instances.get(self.name.0).is_ok_and(beside)
    }

    /// Where it is and how it goes, in two rows: both ends (m) and both radii (m); both velocities (m/s) and the slack (m).
    fn motion(&self) -> [Entry<f32>; 2] {
        let Self { pill: Pill { ends: [V3(a), V3(b)], radii }, velocities: [V3(u), V3(v)], slack, .. } = *self;
        [[a[0], a[1], a[2], b[0], b[1], b[2], radii[0], radii[1]], [u[0], u[1], u[2], v[0], v[1], v[2], slack, 0.0]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far segments' bounds go along an axis.
    fn reaches(velocities: &[[f32; 3]]) -> Vec<f32> {
        let segment = |(index, &velocity): (usize, &[f32; 3])| Segment {
            name: (FleshHandle::of(index, 0), [0; 3]),
            place: 0,
            lane: 0,
            node: 0,
            pill: Pill { ends: [V3([0.0; 3]), V3([0.1, 0.0, 0.0])], radii: [0.03; 2] },
            velocities: [V3(velocity); 2],
            slack: 0.001,
            body_mass: 1.0,
            obeys: false,
            asleep: false,
            beside: [0; 2],
        };
        let mut meetings = Meetings::default();
        meetings.segments.extend(velocities.iter().enumerate().map(segment));
        meetings.bound_segments(1.0 / 60.0);
        meetings.bounds.iter().map(|bounds| bounds.high[2] - bounds.low[2]).collect()
    }

    #[test]
    fn what_falls_together_reaches_no_farther_for_its_speed() {
        let (at_rest, falling) = (reaches(&[[0.0; 3]; 5]), reaches(&[[1.0, -30.0, 2.0]; 5]));
        assert_eq!(at_rest, falling);
        // One that is flung, and one of no velocity at all, are no burden to the others.
        let mixed = reaches(&[[0.0; 3], [300.0, 0.0, 0.0], [0.0; 3], [0.0; 3], [f32::NAN; 3]]);
        assert_eq!([mixed[0], mixed[2], mixed[3]], [at_rest[0]; 3]);
        assert!((mixed[1] - at_rest[1] - 10.0).abs() < 0.02, "it goes 5 m in the frame: {}", mixed[1]);
        assert!(mixed[4].is_nan());
        assert!(reaches(&[]).is_empty());
    }
}
