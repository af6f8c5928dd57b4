//! An instance's own bone pills ([`BonePill`](crate::flesh::BonePill)) as solids that its chains touch.
//!
//! Data flow: before a frame's first solve, [`OwnBones::near`] finds for every chain which segments may come to touch which pill in
//! the frame, beside what [`solids`](super::solids) finds, and they get slots in one list. Before each substep's first solve,
//! [`OwnBones::meets`] says of each how the pill goes in the substep, and how deep the segment may be in it ([`RestGap`]): from
//! there on it is a solid like any other.
//!
//! A pill goes as its bone does for the chain that touches it: by the chain's own rows, which `move_bones` interpolates through the
//! frame, so that what a chain hangs on and what it lies on move together. Where the chain does not hang on that bone, it goes
//! straight and turns steadily from where [`BoneMotion`] has it at the frame's start to its end.
//!
//! Flesh between two held ends goes into ground and props wherever its bones carry it. Into its own bones it does not: it is let in
//! as deep as it is at rest. What bones hold or guide never touches them, nor what is between it and the next node. Muscles press on
//! their bones by a thousand times their weight, as deep as a hundredth of their radius
//! ([`FIRM`](super::solve_contacts::FIRM)), and are not squeezed by it: a round section that yielded to a pull on one side would be
//! thinned to nothing, where flesh is flattened.

use glam::{DQuat, DVec3, Vec3};

use super::gather_segments::Given;
use super::group::GroupRest;
use super::lanes::{Entry, LANES};
use super::solid_slots::SolidSlot;
use super::solids::{Ends, Found, Moved, SLACK, bounded, local};
use crate::flesh::{BoneMotion, Chain, Flesh, GroupState};
use crate::half_space::MOST_TURN;
use crate::layout::{MAX_BONES, POSE, chain, node, rest};
use crate::step::StepParams;
use crate::{Pose, Shape};

/// What an instance's chains stay out of on its own bones, for one of its groups.
#[derive(Clone, Copy)]
pub(crate) struct OwnBones<'a> {
    flesh: &'a Flesh,
    /// How the instance's bones go in the frame.
    motion: &'a BoneMotion,
    group: usize,
}

impl<'a> OwnBones<'a> {
    /// Of each group of an instance, where its flesh has any.
    pub fn of_groups(flesh: &'a Flesh, motion: &'a BoneMotion) -> impl Iterator<Item = Option<Self>> {
        let any = !flesh.bone_pills.pills.is_empty();
        (0..).map(move |group| any.then_some(Self { flesh, motion, group }))
    }

    fn chain(&self, lane: usize) -> Option<&'a Chain> {
        self.flesh.bone_pills.lanes[self.group][lane].map(|chain| &self.flesh.chains[chain])
    }

    /// Finds what the group's segments may touch in a frame.
    pub(super) fn near(
        &self,
        params: &StepParams,
        rest: &GroupRest<f32>,
        state: &GroupState,
        forces: &[Entry<f32>],
        found: &mut Vec<Found>,
    ) {
        let [x, y, z] = params.gravity;
        let gravity = (x * x + y * y + z * z).sqrt();
        let (bones, frame) = (&self.flesh.bone_pills, params.frame);
        for lane in 0..LANES {
            let Some(info) = self.chain(lane) else { continue };
            let given = Given::of(state, rest, forces, lane);
            let segments: Vec<Ends> =
                (0..info.node_count()).map(|j| Ends::of(rest, &state.nodes, &state.chains, j, lane)).collect();
            let own_way = |j: usize| {
                let velocity = given.velocity(&state.nodes[j * node::ENTRIES..][..node::ENTRIES], j);
                DVec3::from_array(velocity.0.map(|way| f64::from(way * frame)))
            };
            let ways: Vec<DVec3> = (0..info.node_count()).map(own_way).collect();
            let pushed = (0..info.node_count())
                .map(|j| given.acceleration([j; 2]))
                .fold(gravity, |most, by| most.max(gravity + by));
            let pushed = f64::from(0.5 * pushed * frame * frame);
            let carries: Vec<Pose> = info.bones.iter().map(|&bone| self.carry(bone)).collect();
            for (index, (pill, shape)) in bones.pills.iter().zip(&bones.shapes).enumerate() {
                let (from, carry) = (&self.motion.from[pill.bone], self.carry(pill.bone));
                let turn = carry.rotation.to_scaled_axis().length();
                // Against the pill: what does not move with it comes to it, or is carried to it by another bone.
                let comes = |(ends, way): (&Ends, &DVec3)| {
                    let goes = |carry: &Pose| carry.transform_point(ends.places[0]) - ends.places[0];
                    let with_pill = goes(&carry);
                    let by_bones = carries.iter().map(|other| goes(other).distance(with_pill)).fold(0.0, f64::max);
                    // A quarter of the turn is more than how far an arc is from its chord.
                    way.distance(with_pill) + by_bones + 0.25 * turn * with_pill.length()
                };
                // What is stopped at one end whips at the other.
                let coming = segments.iter().zip(&ways).map(comes).fold(0.0, f64::max) + pushed;
                for (j, ends) in segments.iter().enumerate().filter(|(j, _)| !is_held(rest, *j, lane)) {
                    let reach = bounded(coming + f64::from(SLACK * ends.radii[0].max(ends.radii[1])));
                    let middle = local(from, ends.places[0].lerp(ends.places[1], 0.5));
                    if shape.surface(0, middle).distance - ends.extent() <= reach {
                        found.push((j as u32, lane, SolidSlot::of_pill(index)));
                    }
                }
            }
        }
    }

    /// How a bone goes in the frame: by what a place at its start becomes one at its end.
    fn carry(&self, bone: usize) -> Pose {
        self.motion.to[bone] * self.motion.from[bone].inverse()
    }

    /// How the pills go in a substep, by pill and lane: filled as they are asked for.
    pub(super) fn moves(&self) -> Vec<Option<Moved>> {
        vec![None; self.flesh.bone_pills.pills.len() * LANES]
    }

    /// What the segment in a lane meets of a pill in a substep; `None` where it does not reach it.
    pub(super) fn meets(
        &self,
        (pill, lane): (usize, usize),
        (rest, nodes, chains): (&'a GroupRest<f32>, &[Entry<f32>], &[Entry<f32>]),
        (params, moves): (&StepParams, &mut [Option<Moved>]),
        ends: &Ends,
        segment: usize,
    ) -> Option<MetPill<'a>> {
        let bones = &self.flesh.bone_pills;
        let (of_pill, shape, info) = (bones.pills.get(pill)?, &bones.shapes[pill], self.chain(lane)?);
        let moved =
            *moves[pill * LANES + lane].get_or_insert_with(|| self.moved(of_pill.bone, lane, info, chains, params));
        let rest_gap = RestGap { rest, info, lane, segment, shape, bone: &self.flesh.bones[of_pill.bone] };

        // Twice as far as both go towards each other: up to there `solve_contacts` has it press.
        let middle = ends.places[0].lerp(ends.places[1], 0.5);
        let by_pill = moved.goes.length() + moved.turns.length() * (middle.distance(moved.about) + ends.extent());
        let comes = [segment, rest_gap.next()].map(|index| {
            let row = &nodes[index * node::ENTRIES..][..node::ENTRIES];
            let goes = Vec3::from_array([0, 1, 2].map(|k| row[node::MOVED + k][lane])).length();
            let grows = row[node::SCALE][lane] - row[node::PREV_SCALE][lane];
            f64::from(goes + grows.abs() * rest.row(index)[rest::RADIUS][lane])
        });
        let gap = shape.surface(0, local(&moved.earlier, middle)).distance - ends.extent();
        let reaches = gap <= 2.0 * (comes[0].max(comes[1]) + by_pill);
        reaches.then_some(MetPill { shape, friction: of_pill.friction, moved, rest_gap })
    }

    fn moved(&self, bone: usize, lane: usize, info: &Chain, chains: &[Entry<f32>], params: &StepParams) -> Moved {
        let slot = info.bones.iter().position(|&own| own == bone).filter(|&slot| slot < MAX_BONES);
        let [earlier, later] = match slot {
            Some(slot) => [chain::BONE_PREV, chain::BONE_NOW].map(|at| pose_in(chains, at + slot * POSE, lane)),
            None => return moved_with([&self.motion.from[bone], &self.motion.to[bone]], params),
        };
        moved_between(earlier, later)
    }
}

/// How what is on a bone goes in a substep, given where that is at the frame's start and at its end.
pub(crate) fn moved_with([from, to]: [&Pose; 2], params: &StepParams) -> Moved {
    let end = f64::from(params.alpha);
    let [earlier, later] = [end - f64::from(params.substep_share()), end].map(|share| between(from, to, share));
    moved_between(earlier, later)
}

fn moved_between(earlier: Pose, later: Pose) -> Moved {
    let turns = shorter(later.rotation * earlier.rotation.conjugate()).to_scaled_axis();
    Moved {
        earlier,
        later,
        goes: later.translation - earlier.translation,
        turns: turns.clamp_length_max(MOST_TURN),
        about: (earlier.translation + later.translation) * 0.5,
    }
}

/// A pill that a segment meets in a substep.
pub(super) struct MetPill<'a> {
    pub shape: &'a Shape,
    pub friction: f32,
    pub moved: Moved,
    pub rest_gap: RestGap<'a>,
}

/// How deep a segment is in a pill at rest.
pub(super) struct RestGap<'a> {
    rest: &'a GroupRest<f32>,
    info: &'a Chain,
    lane: usize,
    segment: usize,
    shape: &'a Shape,
    /// Its bone at rest.
    bone: &'a Pose,
}

impl RestGap<'_> {
    /// Whether it may touch at its first node, and between both.
    pub fn touches(&self) -> [bool; SolidSlot::ROWS] {
        let [own, next] = [self.segment, self.next()].map(|index| !is_held(self.rest, index, self.lane));
        [own, own && next]
    }

    /// How far a point on it may be from the pill (m): 0, or below where it is so at rest.
    pub fn allowed(&self, along: f64) -> f32 {
        let ends = [self.segment, self.next()];
        let [a, b] = ends.map(|index| self.info.rest[index].translation);
        let [first, second] = ends.map(|index| f64::from(self.rest.row(index)[rest::RADIUS][self.lane]));
        let distance = self.shape.surface(0, local(self.bone, a.lerp(b, along))).distance;
        (distance - (first + (second - first) * along)).min(0.0) as f32
    }

    fn next(&self) -> usize {
        (self.segment + 1).min(self.info.node_count() - 1)
    }
}

/// Whether a bone holds or guides a node, which nothing else moves, or it goes with another chain's.
fn is_held(rest: &GroupRest<f32>, index: usize, lane: usize) -> bool {
    let row = rest.row(index);
    row[rest::FREE_PLACE][lane] == 0.0 || row[rest::SLIDES][lane] != 0.0 || row[rest::HUNG][lane] != 0.0
}

/// A pose of a chain's rows in the world.
fn pose_in(chains: &[Entry<f32>], at: usize, lane: usize) -> Pose {
    let read = |at: usize| f64::from(chains[at][lane]);
    let vector = |at: usize| DVec3::new(read(at), read(at + 1), read(at + 2));
    let rotation = DQuat::from_xyzw(read(at + 3), read(at + 4), read(at + 5), read(at + 6));
    Pose::new(vector(chain::ORIGIN) + vector(at), rotation.normalize())
}

fn between(from: &Pose, to: &Pose, share: f64) -> Pose {
    let turn = shorter(to.rotation * from.rotation.conjugate()).to_scaled_axis() * share;
    Pose::new(from.translation.lerp(to.translation, share), (DQuat::from_scaled_axis(turn) * from.rotation).normalize())
}

/// The rotation by the one of both quaternions that turns by at most half a turn.
fn shorter(turn: DQuat) -> DQuat {
    if turn.w < 0.0 { -turn } else { turn }
}
