//! The state of one instance of flesh.

use glam::{DQuat, DVec3, Quat, Vec3};

use super::bone_motion::BoneMotion;
use super::build::{Chain, Flesh};
use super::spec::Hang;
use crate::cpu::carry::OFF_JOINT;
use crate::cpu::lanes::{Entry, LANES};
use crate::cpu::solid_slots::SolidSlot;
use crate::cpu::solved::LEAST_SCALE;
use crate::half_space::MOST_TURN;
use crate::instances::Pushes;
use crate::layout::{MAX_BONES, POSE, chain, contact, input, node, plane, reaction, rest};
use crate::step::FrameReport;
use crate::{Collisions, HalfSpace, Pose};

/// A group's rows, see [`crate::layout`].
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GroupState {
    pub(crate) nodes: Vec<Entry<f32>>,
    pub(crate) inputs: Vec<Entry<f32>>,
    pub(crate) planes: Vec<Entry<f32>>,
    pub(crate) chains: Vec<Entry<f32>>,
    pub(crate) contacts: Vec<Entry<f32>>,
    /// What solids the chains may touch in the newest frame, in the order of their segments.
    pub(crate) slots: Vec<SolidSlot>,
    /// What of these they are nearest to in a substep.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) tangents: Vec<Entry<f32>>,
    /// Contact rows of meetings in the last substep: nothing that the next one goes on from.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) meets: Vec<Entry<f32>>,
    pub(crate) reactions: Vec<Entry<f32>>,
}

/// What a node is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeState {
    /// Place in the world (m).
    pub place: DVec3,
    /// Scale of the cross-section (1).
    pub scale: f32,
    /// Frame; its third axis is the rod's tangent.
    pub frame: Quat,
    /// Velocity (m/s).
    pub velocity: Vec3,
    /// Angular velocity (rad/s).
    pub spin: Vec3,
    /// Radius of the disc with the section's area (m).
    pub radius: f32,
}

impl NodeState {
    /// Its place and frame.
    pub fn pose(&self) -> Pose {
        Pose { translation: self.place, rotation: self.frame.as_dquat() }
    }
}

/// What a node did in the newest substep to what holds or guides it: by its segments, its weight and inertia, and what touches
/// it. 0 where nothing holds it, and before the first step. Fascia's tie to the bones beside is none of it; where a solve was
/// led astray, it is that of its whole step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reaction {
    /// Force in the world (N).
    pub force: DVec3,
    /// Couple about the node in the world (N·m).
    pub couple: DVec3,
}

/// Node state of one instance, each chain's relative to an origin of its own, which its rows say.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FleshState {
    pub(crate) groups: Vec<GroupState>,
    /// How the bones went in the last frame.
    pub(crate) motion: BoneMotion,
}

/// What the host says of a frame.
pub(crate) struct FrameInputs<'a> {
    /// Where the bones are at its end.
    pub bones: &'a [Pose],
    /// Where the root is at its end.
    pub root: &'a Pose,
    /// One for each chain.
    pub activations: &'a [f32],
    /// What accelerates the flesh beside gravity (m/s²).
    pub acceleration: DVec3,
    /// What the game gives it.
    pub pushes: &'a Pushes,
    /// Half-spaces, and what it touches of them.
    pub around: (&'a [HalfSpace], &'a Collisions),
    /// Whether the flesh only goes with its bones.
    pub goes_along: bool,
    /// How long it is.
    pub frame: FrameReport,
    /// [`StepConfig::jump`](crate::step::StepConfig::jump).
    pub jump: f64,
}

/// Origins of long chains move in steps of this (m), so that shifts are exact in f32.
const ORIGIN_STEP: f64 = 0.125;
/// How far a chain's first bone-held place may be from its origin, in steps, before the origin follows.
const ORIGIN_REACH: f64 = 4.0;
/// As [`ORIGIN_REACH`], of the first node of a free chain.
const FREE_ORIGIN_REACH: f64 = 16.0;
/// How far from the world's origin one follows a free chain (m).
const FARTHEST: f64 = 1.0e9;

impl Chain {
    /// In which steps its origin moves (m): the largest power of two below a quarter of its length, so that places have
    /// digits for its strains whatever its size.
    fn origin_step(&self) -> f64 {
        (0.25 * self.rest_length).log2().floor().exp2().min(ORIGIN_STEP)
    }

    /// The place nearest to another one where its origin may be, one that f32 holds. Farther than 2²⁴ steps from the world's
    /// origin, 2000 km or of a chain of 1 cm 32 km, these are as coarse as f32's digits there, and the chain's places are as
    /// far from its origin: of a chain of 1 cm, 1000 km away, 3 cm, in which f32 still has 2·10⁻⁹ m.
    fn origin_at(&self, place: DVec3) -> DVec3 {
        ((place / self.origin_step()).round() * self.origin_step()).as_vec3().as_dvec3()
    }
}

impl FleshState {
    /// At rest, each rod carried rigidly by the bones that it hangs on; a free rod goes with `root`.
    pub fn at_rest(flesh: &Flesh, bones: &[Pose], root: &Pose) -> Self {
        let groups = flesh
            .groups
            .iter()
            .map(|rest| {
                let mut nodes = vec![[0.0; LANES]; rest.node_count * node::ENTRIES];
                for j in 0..rest.node_count {
                    for at in [node::SCALE, node::FRAME + 3, node::PREV_FRAME + 3, node::TARGET_FRAME + 3] {
                        nodes[j * node::ENTRIES + at] = [1.0; LANES];
                    }
                }
                let mut inputs = vec![[0.0; LANES]; input::ENTRIES];
                let mut chains = vec![[0.0; LANES]; chain::ENTRIES];
                for w in (0..3 * MAX_BONES).map(|pose| pose * POSE + 6) {
                    chains[w] = [1.0; LANES];
                }
                for w in (0..2 * MAX_BONES).map(|pose| pose * POSE + 6) {
                    inputs[w] = [1.0; LANES];
                }
                inputs[input::HANGS] = [1.0; LANES];
                let reactions = vec![[0.0; LANES]; rest.reaction_count * reaction::ENTRIES];
                GroupState { nodes, inputs, chains, reactions, ..GroupState::default() }
            })
            .collect();
        let motion = BoneMotion::still(bones, root);
        let mut state = Self { groups, motion };
        for index in 0..flesh.chains.len() {
            state.rest_chain(flesh, index, root);
        }
        state
    }

    /// Where a chain's bones alone carry one of its nodes; a free chain's go with what it hangs on, or with `root`.
    pub(crate) fn carried(&self, flesh: &Flesh, chain: usize, node: usize, root: &Pose) -> Pose {
        carried_by(&self.motion.to, flesh, chain, node, root)
    }
}

/// How a free chain is carried: from the space of the bones' rest poses to the world, given where the bones are.
fn carrier(bones: &[Pose], flesh: &Flesh, chain: &Chain, root: &Pose) -> Pose {
    chain.hangs.map_or(*root, |Hang { rod, node }| {
        carried_by(bones, flesh, rod, node, root) * flesh.chains[rod].rest[node].inverse()
    })
}

/// Where bones alone, which are where `bones` says, carry a node.
fn carried_by(bones: &[Pose], flesh: &Flesh, chain: usize, node: usize, root: &Pose) -> Pose {
    let info = &flesh.chains[chain];
    let (rest, row) = (&info.rest[node], flesh.groups[info.group].row(node));
    let entry = |entry: usize| f64::from(row[entry][info.lane]);
    let (slot, turn_slot) = (entry(rest::HOLD_SLOT) as usize, entry(rest::TURN_SLOT) as usize);
    let along = (entry(rest::BONE_BLEND) - slot as f64).max(0.0);
    let by = |slot: usize, turn_slot: usize| {
        let (bone, turn) = (info.bone_in_slot(slot)?, info.bone_in_slot(turn_slot)?);
        let frame = |poses: &[Pose]| Pose::new(poses[bone].translation, poses[turn].rotation);
        Some(frame(bones) * frame(&flesh.bones).inverse() * *rest)
    };
    let (Some(first), Some(second)) = (by(slot, turn_slot), by(slot + 1, entry(rest::NEXT_TURN_SLOT) as usize)) else {
        return carrier(bones, flesh, info, root) * *rest;
    };
    let mut place = first.translation.lerp(second.translation, along);
    let share = entry(rest::CHORD_SHARE);
    if let (true, Some(first), Some(next)) = (share > 0.0, info.bone_in_slot(slot), info.bone_in_slot(slot + 1)) {
        // As `cpu::carry` has it.
        let local = |at: usize| DVec3::from_array(std::array::from_fn(|k| entry(at + k)));
        let [first, next] = [first, next].map(|bone| bones[bone]);
        let straight =
            first.transform_point(local(rest::CHORD_PLACE)).lerp(next.transform_point(local(rest::CHORD_NEXT)), share);
        let joint = if entry(rest::CHORD_JOINT) > 0.5 { next.translation } else { first.translation };
        let near2 = place.distance_squared(joint);
        let farther = (straight.distance_squared(joint) - near2) / (f64::from(OFF_JOINT) * near2).max(1.0e-30);
        place = place.lerp(straight, farther.clamp(0.0, 1.0));
    }
    Pose::new(place, (first.rotation * (1.0 - along) + beside(second.rotation, first.rotation) * along).normalize())
}

impl FleshState {
    /// The host's part: bones, input and plane rows, without those that stages write.
    #[cfg(feature = "gpu")]
    pub(crate) fn without_rows(&self) -> Self {
        let group = |GroupState { inputs, planes, .. }: &GroupState| GroupState {
            nodes: vec![],
            inputs: inputs.clone(),
            planes: planes.clone(),
            ..GroupState::default()
        };
        Self { groups: self.groups.iter().map(group).collect(), motion: self.motion.clone() }
    }

    /// A chain's origin in the world from the frame's start on (m).
    pub(crate) fn next_origin(&self, flesh: &Flesh, chain: usize) -> DVec3 {
        let info = &flesh.chains[chain];
        read_vec3(&self.groups[info.group].inputs, input::ORIGIN, info.lane).as_dvec3()
    }

    /// Notes that the rows' origins are those of the newest frame that is known: a GPU has sent rows back.
    #[cfg(feature = "gpu")]
    pub(crate) fn take_origins(&mut self) {
        for GroupState { inputs, chains, .. } in &mut self.groups {
            inputs[input::ORIGIN..][..3].copy_from_slice(&chains[chain::ORIGIN..][..3]);
        }
    }

    /// A chain's origin in the world, to which its rows are relative (m).
    pub(crate) fn origin(&self, flesh: &Flesh, chain: usize) -> DVec3 {
        let info = &flesh.chains[chain];
        read_vec3(&self.groups[info.group].chains, chain::ORIGIN, info.lane).as_dvec3()
    }

    /// Puts one chain at rest on its bones, without velocity.
    fn rest_chain(&mut self, flesh: &Flesh, index: usize, root: &Pose) {
        let Chain { group, lane, bones, rest, .. } = &flesh.chains[index];
        let mut poses: Vec<Pose> = (0..rest.len()).map(|j| self.carried(flesh, index, j, root)).collect();
        for j in 1..poses.len() {
            poses[j].rotation = beside(poses[j].rotation, poses[j - 1].rotation);
        }
        let origin = flesh.chains[index].origin_at(poses[0].translation);
        let state = &mut self.groups[*group];
        write_vec3(&mut state.inputs, input::ORIGIN, *lane, origin.as_vec3());
        write_vec3(&mut state.chains, chain::ORIGIN, *lane, origin.as_vec3());
        let padded = state.nodes.len() / node::ENTRIES;
        for j in 0..padded {
            let row = &mut state.nodes[j * node::ENTRIES..][..node::ENTRIES];
            for entry in row.iter_mut() {
                entry[*lane] = 0.0;
            }
            let pose = poses[j.min(poses.len() - 1)];
            let place = (pose.translation - origin).as_vec3();
            let frame = pose.rotation.as_quat();
            for at in [node::PLACE, node::PREV_PLACE, node::TARGET_PLACE, node::BED] {
                write_vec3(row, at, *lane, place);
            }
            for at in [node::FRAME, node::PREV_FRAME, node::PREDICTED_FRAME, node::TARGET_FRAME] {
                write_quat(row, at, *lane, frame);
            }
            for at in [node::SCALE, node::PREV_SCALE, node::PREDICTED_SCALE] {
                row[at][*lane] = 1.0;
            }
            let rest_row = flesh.groups[*group].row(j);
            for (to, from) in [(node::REFERENCE_STRAIN, rest::STRAIN), (node::REFERENCE_DARBOUX, rest::DARBOUX)] {
                (0..3).for_each(|k| row[to + k][*lane] = rest_row[from + k][*lane]);
            }
            row[node::REFERENCE_SCALE][*lane] = rest_row[rest::SCALE][*lane];
        }
        state.chains[chain::HISTORY][*lane] = 0.0;
        let on_bones = !flesh.anchored(&flesh.chains[index]).bones.is_empty();
        state.inputs[input::HANGS][*lane] = match (bones.is_empty(), on_bones) {
            (false, _) => 1.0,
            (true, true) => input::ON_CHAIN,
            (true, false) => 0.0,
        };
        if bones.is_empty() && on_bones {
            let carrier = carrier(&self.motion.to, flesh, &flesh.chains[index], root);
            for pose in [input::BONE_FROM, input::BONE_TO] {
                write_pose(&mut state.inputs, pose, *lane, &carrier, origin);
            }
            for pose in [chain::BONE_OLDER, chain::BONE_PREV, chain::BONE_NOW] {
                write_pose(&mut state.chains, pose, *lane, &carrier, origin);
            }
        }
        for slot in 0..MAX_BONES {
            let Some(bone) = flesh.chains[index].bone_in_slot(slot) else { break };
            let (at, bone) = (slot * POSE, &self.motion.to[bone]);
            for pose in [input::BONE_FROM, input::BONE_TO] {
                write_pose(&mut state.inputs, pose + at, *lane, bone, origin);
            }
            for pose in [chain::BONE_OLDER, chain::BONE_PREV, chain::BONE_NOW] {
                write_pose(&mut state.chains, pose + at, *lane, bone, origin);
            }
        }
    }

    /// Has the origins of free chains follow where these are as far as `rows` tell: of a GPU, those that were read back last. Whether
    /// any did.
    #[cfg(feature = "gpu")]
    pub(crate) fn follow(&mut self, flesh: &Flesh, rows: &Self) -> bool {
        let mut moved = false;
        for info in flesh.chains.iter().filter(|info| flesh.anchored(info).bones.is_empty()) {
            if let Some(place) = rows.adrift(info) {
                moved |= self.move_origin(info, place, FREE_ORIGIN_REACH);
            }
        }
        moved
    }

    /// Puts a chain's origin to a place that is farther from it than so many of its steps; whether it is.
    fn move_origin(&mut self, info: &Chain, place: DVec3, reach: f64) -> bool {
        let inputs = &mut self.groups[info.group].inputs;
        let origin = read_vec3(inputs, input::ORIGIN, info.lane).as_dvec3();
        let is_far = (place - origin).abs().max_element() > reach * info.origin_step();
        if is_far {
            write_vec3(inputs, input::ORIGIN, info.lane, info.origin_at(place).as_vec3());
        }
        is_far
    }

    /// Where the first node of a free chain is in the world. `None` where it is nowhere, and where a GPU has its rows.
    fn adrift(&self, info: &Chain) -> Option<DVec3> {
        let GroupState { nodes, chains, .. } = &self.groups[info.group];
        if nodes.is_empty() {
            return None;
        }
        let origin = read_vec3(chains, chain::ORIGIN, info.lane).as_dvec3();
        let place = origin + read_vec3(nodes, node::PLACE, info.lane).as_dvec3();
        (place.is_finite() && place.abs().max_element() < FARTHEST).then_some(place)
    }

    /// Stage `gather_inputs`: where the bones go in this frame, and origins that follow them. Tells of what jumped: a bone,
    /// or `None` for the root.
    pub(crate) fn gather_inputs(&mut self, flesh: &Flesh, inputs: &FrameInputs, told: impl FnMut(Option<usize>)) {
        let FrameInputs { bones, root, activations, acceleration, pushes, around, goes_along, frame, jump } = *inputs;
        let (planes, collisions) = around;
        if goes_along {
            self.motion.go_along(bones, root, &frame);
        } else {
            self.motion.begin(flesh, (bones, root), &frame, jump, told);
        }
        for (index, info) in flesh.chains.iter().enumerate() {
            let anchored = flesh.anchored(info);
            let teleport = self.motion.teleport(&anchored.bones, anchored.rest_length);
            let by = match info.bones.first() {
                Some(&first) => bones[first] * flesh.bones[first].inverse(),
                None => carrier(bones, flesh, info, root),
            };
            if !anchored.bones.is_empty() {
                self.move_origin(info, (by * info.rest[0]).translation, ORIGIN_REACH);
            } else if let Some(place) = self.adrift(info) {
                self.move_origin(info, place, FREE_ORIGIN_REACH);
            }
            let state = &mut self.groups[info.group].inputs;
            let origin = read_vec3(state, input::ORIGIN, info.lane).as_dvec3();
            state[input::TELEPORT][info.lane] = teleport;
            if let Some(&first) = info.bones.first() {
                for slot in 0..MAX_BONES {
                    let bone = info.bone_in_slot(slot).unwrap_or(first);
                    let at = slot * POSE;
                    write_pose(state, input::BONE_FROM + at, info.lane, &self.motion.from[bone], origin);
                    write_pose(state, input::BONE_TO + at, info.lane, &bones[bone], origin);
                }
            } else {
                let from = carrier(&self.motion.from, flesh, info, root);
                write_pose(state, input::BONE_FROM, info.lane, &from, origin);
                write_pose(state, input::BONE_TO, info.lane, &by, origin);
            }
            state[input::ACTIVATION][info.lane] = activations[index];
            write_vec3(state, input::ACCELERATION, info.lane, acceleration.as_vec3());
            state[input::LOAD][info.lane] = (acceleration.length() + pushes.load(flesh, index)) as f32;
            state[input::KICKED][info.lane] = if pushes.kicks(index) { 1.0 } else { 0.0 };
            state[input::KEPT][info.lane] = pushes.kept;
            for (at, kick) in [input::KICK_VELOCITY, input::KICK_SPIN].into_iter().zip(pushes.motion_at(origin)) {
                write_vec3(state, at, info.lane, kick.as_vec3());
            }
            state[input::FORCES] = [-1.0; LANES];
            let rows = &mut self.groups[info.group].planes;
            rows.resize(planes.len() * plane::ENTRIES, [0.0; LANES]);
            for (row, half_space) in rows.chunks_exact_mut(plane::ENTRIES).zip(planes) {
                write_plane(row, info.lane, &half_space.met_by(collisions), origin, frame.simulated);
            }
        }
        self.motion.end(bones, goes_along);
    }

    /// Makes room for what the half-spaces of the newest frame may touch: each node each of them. With another count of them
    /// it is forgotten how hard they and solids pressed.
    pub(crate) fn make_room_for_contacts(&mut self) {
        for group in &mut self.groups {
            if group.contacts.len() != group.contact_count() * contact::ENTRIES {
                group.leave_solids();
                group.contacts.clear();
                group.contacts.resize(group.contact_count() * contact::ENTRIES, [0.0; LANES]);
            }
        }
    }

    /// How often each chain was laid anew.
    pub(crate) fn resets(&self, flesh: &Flesh) -> impl Iterator<Item = u32> {
        flesh.chains.iter().map(|info| self.groups[info.group].chains[chain::RESETS][info.lane] as u32)
    }

    /// Whether no chain is where flesh cannot be, or was a moment ago: `check_health` may have to lay such a one anew.
    pub(crate) fn is_well(&self, flesh: &Flesh) -> bool {
        flesh.chains.iter().all(|info| self.groups[info.group].chains[chain::UNWELL][info.lane] <= 0.0)
    }

    /// Puts every chain at rest on bones, as [`Self::at_rest`]; how often chains were laid anew is kept.
    pub(crate) fn rest_on(&mut self, flesh: &Flesh, bones: &[Pose], root: &Pose) {
        let mut state = Self::at_rest(flesh, bones, root);
        for (new, old) in state.groups.iter_mut().zip(&self.groups) {
            new.chains[chain::RESETS] = old.chains[chain::RESETS];
        }
        *self = state;
    }

    /// Takes all motion from it.
    pub(crate) fn stop(&mut self) {
        for row in self.groups.iter_mut().flat_map(|group| group.nodes.chunks_exact_mut(node::ENTRIES)) {
            row[node::VELOCITY..node::PREV_PLACE].fill([0.0; LANES]);
        }
    }

    /// Each group's node rows and chain rows, see [`crate::layout`].
    #[doc(hidden)]
    pub fn rows(&self) -> impl Iterator<Item = (&[Entry<f32>], &[Entry<f32>])> {
        self.groups.iter().map(|group| (group.nodes.as_slice(), group.chains.as_slice()))
    }

    /// Each group's node rows, to change.
    #[doc(hidden)]
    pub fn node_rows_mut(&mut self) -> impl Iterator<Item = &mut [Entry<f32>]> {
        self.groups.iter_mut().map(|group| group.nodes.as_mut_slice())
    }

    /// Each group's contact rows, see [`crate::layout::contact`].
    #[doc(hidden)]
    pub fn contacts(&self) -> impl Iterator<Item = &[Entry<f32>]> {
        self.groups.iter().map(|group| group.contacts.as_slice())
    }

    /// Each group's contact rows of half-spaces alone.
    #[cfg(feature = "gpu")]
    #[doc(hidden)]
    pub fn contacts_of_half_spaces(&self) -> impl Iterator<Item = Vec<Entry<f32>>> {
        self.groups.iter().map(GroupState::of_planes)
    }

    /// Each group's contact rows of meetings with other chains in the last substep, see [`crate::layout::contact`].
    #[doc(hidden)]
    pub fn meets(&self) -> impl Iterator<Item = &[Entry<f32>]> {
        self.groups.iter().map(|group| group.meets.as_slice())
    }

    /// Each group's reaction rows, see [`crate::layout::reaction`].
    #[doc(hidden)]
    pub fn reactions(&self) -> impl Iterator<Item = &[Entry<f32>]> {
        self.groups.iter().map(|group| group.reactions.as_slice())
    }

    /// What a node did in the newest substep to what holds or guides it.
    pub fn reaction(&self, flesh: &Flesh, chain: usize, index: usize) -> Reaction {
        let info = &flesh.chains[chain];
        let Some(slot) = flesh.groups[info.group].reactions[index] else { return Reaction::default() };
        let row = &self.groups[info.group].reactions[slot * reaction::ENTRIES..][..reaction::ENTRIES];
        let [force, couple] = [reaction::FORCE, reaction::COUPLE].map(|at| read_vec3(row, at, info.lane).as_dvec3());
        Reaction { force, couple }
    }

    /// What a node is doing.
    pub fn node(&self, flesh: &Flesh, chain: usize, index: usize) -> NodeState {
        let info = &flesh.chains[chain];
        let row = &self.groups[info.group].nodes[index * node::ENTRIES..][..node::ENTRIES];
        let lane = info.lane;
        let vec3 = |at: usize| Vec3::new(row[at][lane], row[at + 1][lane], row[at + 2][lane]);
        let scale = row[node::SCALE][lane];
        NodeState {
            place: self.origin(flesh, chain) + vec3(node::PLACE).as_dvec3(),
            scale,
            frame: Quat::from_xyzw(
                row[node::FRAME][lane],
                row[node::FRAME + 1][lane],
                row[node::FRAME + 2][lane],
                row[node::FRAME + 3][lane],
            ),
            velocity: vec3(node::VELOCITY),
            spin: vec3(node::SPIN),
            radius: scale * info.sections[index].radius() as f32,
        }
    }

    /// Overwrites a node's place (m), frame, scale and velocity (m/s); for tests and for games that throw things. Neighbours
    /// that were turned against each other by less than half a turn are so afterwards, and those by more by more.
    pub fn set_node(&mut self, flesh: &Flesh, chain: usize, index: usize, to: &NodeState) {
        let info = &flesh.chains[chain];
        let (lane, count) = (info.lane, info.node_count());
        let origin = self.origin(flesh, chain);
        let group = &mut self.groups[info.group];
        let row = &mut group.nodes[index * node::ENTRIES..][..node::ENTRIES];
        write_vec3(row, node::PLACE, lane, (to.place - origin).as_vec3());
        row[node::SCALE][lane] = if to.scale < LEAST_SCALE { LEAST_SCALE } else { to.scale };
        write_vec3(row, node::VELOCITY, lane, to.velocity);
        write_vec3(row, node::SPIN, lane, to.spin);
        group.chains[chain::HISTORY][lane] = 0.0;
        // Of q and −q, the one by which neighbours stay turned against each other by less than half a turn, or by more.
        let frame = |nodes: &[Entry<f32>], j: usize| {
            Quat::from_array(std::array::from_fn(|k| nodes[j * node::ENTRIES + node::FRAME + k][lane]))
        };
        let old = frame(&group.nodes, index);
        let mut new = to.frame;
        if index > 0 {
            let before = frame(&group.nodes, index - 1);
            new = if (new.dot(before) < 0.0) == (old.dot(before) < 0.0) { new } else { -new };
        }
        write_quat(&mut group.nodes[index * node::ENTRIES..][..node::ENTRIES], node::FRAME, lane, new);
        if index + 1 < count {
            let after = frame(&group.nodes, index + 1);
            if (new.dot(after) < 0.0) != (old.dot(after) < 0.0) {
                for j in index + 1..count {
                    let turned = -frame(&group.nodes, j);
                    write_quat(&mut group.nodes[j * node::ENTRIES..][..node::ENTRIES], node::FRAME, lane, turned);
                }
            }
        }
    }

    /// Whether every place, scale and frame is finite, and every velocity: solves that come to nothing leave a chain where it
    /// is.
    pub fn is_finite(&self) -> bool {
        self.groups.iter().all(|group| {
            group.nodes.chunks(node::ENTRIES).all(|row| row[node::STATE].iter().flatten().all(|x| x.is_finite()))
        })
    }
}

/// The same rotation by the one of both quaternions that is nearer to another one.
pub(super) fn beside(rotation: DQuat, other: DQuat) -> DQuat {
    if rotation.dot(other) < 0.0 { -rotation } else { rotation }
}

fn read_vec3(row: &[Entry<f32>], at: usize, lane: usize) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|k| row[at + k][lane]))
}

fn write_vec3(row: &mut [Entry<f32>], at: usize, lane: usize, value: Vec3) {
    for (k, value) in value.to_array().into_iter().enumerate() {
        row[at + k][lane] = value;
    }
}

/// A half-space as a chain sees it whose origin is given, in a frame of so long (s).
fn write_plane(row: &mut [Entry<f32>], lane: usize, half_space: &HalfSpace, origin: DVec3, frame: f64) {
    let HalfSpace { normal, velocity, spin, centre, friction, restitution, .. } = *half_space;
    let (goes, turns) = (velocity * frame, (spin * frame).clamp_length_max(MOST_TURN));
    let back = DQuat::from_scaled_axis(-turns);
    let normal_from = back * normal;
    let near = origin - normal * (half_space.distance(origin) / normal.length_squared());
    let near_from = back * (near - centre) + centre - goes;
    for (normal_at, normal, offset_at, near) in [
        (plane::NORMAL_FROM, normal_from, plane::OFFSET_FROM, near_from),
        (plane::NORMAL_TO, normal, plane::OFFSET_TO, near),
    ] {
        write_vec3(row, normal_at, lane, normal.as_vec3());
        row[offset_at][lane] = normal.dot(near - origin) as f32;
    }
    row[plane::FRICTION][lane] = friction;
    row[plane::RESTITUTION][lane] = restitution;
    // About where the centre is halfway.
    write_vec3(row, plane::MOVE, lane, (goes + turns.cross(origin - (centre - goes * 0.5))).as_vec3());
    write_vec3(row, plane::TURN, lane, turns.as_vec3());
}

fn write_quat(row: &mut [Entry<f32>], at: usize, lane: usize, value: Quat) {
    for (k, value) in value.to_array().into_iter().enumerate() {
        row[at + k][lane] = value;
    }
}

fn write_pose(row: &mut [Entry<f32>], at: usize, lane: usize, pose: &Pose, origin: DVec3) {
    write_vec3(row, at, lane, (pose.translation - origin).as_vec3());
    write_quat(row, at + 3, lane, pose.rotation.as_quat());
}
