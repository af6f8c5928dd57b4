//! Where every number lies: the same bytes on the CPU and on the GPU.
//!
//! Chains go in groups of eight, one chain a lane. A group's data is `[node][entry][lane]`, so that a SIMD
//! register and eight neighbouring GPU threads both read neighbouring words; shorter chains of a group are padded
//! with inert nodes. Eight row kinds:
//!
//! - *rest* rows ([`rest`]), one per node, of the asset: what the node and the segment after it are made of; on a GPU one more
//!   ([`tree`]) of a group in which chains hang on others or bear them;
//! - *node* rows ([`node`]), one per node, of the state;
//! - *input* rows ([`input`]), one per group: where the bones go in this frame;
//! - *force* rows ([`force`]), one per node of a group of which any node is pushed in this frame;
//! - *plane* rows ([`plane`]), one per half-space and group: where it is in this frame;
//! - *chain* rows ([`chain`]), one per group, of the state: how those bones moved;
//! - *contact* rows ([`contact`]), as many as can touch a group's chains: what touches them;
//! - *reaction* rows ([`reaction`]), one per node that bones hold or guide: what it does to them.
//!
//! All places are relative to the chain's own origin (m), which its rows say.

mod networks;
mod pairs;
mod skin;
mod sleeping;
mod solids;
mod solving;
mod tallying;
mod touching;
mod wgsl;

pub use networks::{BLOCK_NUMBERS, MOST_OUTPUT, NETWORK_GROUP, NetworkGroup, NetworkLayers, NetworkPlace, NetworkRun};
pub use pairs::{
    CELLS_A_SEGMENT, CELLS_AROUND, CELLS_HEADER, FORGETS, LEVEL_OF_METRES, LEVELS, NO_PAIR, OWN_CHAINS, PRESSING,
    PRESSING_WORDS, Segment, WITHIN_CHAINS, partners,
};
pub use skin::{MorphBlock, MorphPull, NO_DELTAS, SectionBlock, SkinBlock, SkinnedVertex};
pub use sleeping::{rest_watch, sleeps, stir};
pub use solids::{
    BOX_ITEM_ENTRIES, BOX_NODE_ENTRIES, CONVEX_ENTRIES, NO_RULE, TOUCHES, form, mesh, motion, solid, touch, triangle,
};
pub use solving::{borne, held, rigid, scratch, stump};
pub use tallying::{tallies, tally};
pub use touching::{contact, meet, shown, solved, tangent};
pub use wgsl::{StructLayout, WgslField, WgslStruct, field_size};

use bytemuck::{Pod, Zeroable};

/// Chains side by side in a group: lanes of one SIMD register, words of one 32-byte sector.
pub const LANES: u32 = 8;

/// Threads of a compute workgroup; one thread works on one chain, one cross-section or one vertex. WebGPU's default limit is
/// 256.
pub const WORKGROUP_SIZE: u32 = 64;

/// How many groups have threads in one workgroup: on a GPU, the most of which chains can hang on each other.
pub const GROUPS_TOGETHER: usize = (WORKGROUP_SIZE / LANES) as usize;

/// Workgroups in a row of a dispatch, WebGPU's default limit; larger dispatches have several rows.
pub const MAX_WORKGROUPS: u32 = 65535;

/// Where a group's rows lie on the GPU; its own place in the table is its input row and its chain row.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Group {
    /// Its first node's row among node rows.
    pub node_base: u32,
    /// Its first node's row among rest rows, which instances of the same flesh share.
    pub rest_base: u32,
    /// Nodes of the group's longest chain, to which shorter ones are padded; 0 where nothing is stored.
    pub node_count: u32,
    /// Its first contact row.
    pub contact_base: u32,
    /// Its first reaction row.
    pub reaction_base: u32,
    /// Its first node's row among scratch rows; after its nodes' are those of [`held`] nodes, in the order of reaction rows, and
    /// one [`stump`] row where chains hang on chains.
    pub scratch_base: u32,
    /// The first segment of its instance, among places for all: one for each node and lane.
    pub segment_base: u32,
    /// The first pair of its flesh's segments that overlap at rest.
    pub overlap_base: u32,
    /// How many there are.
    pub overlap_count: u32,
    /// In which recording the host told its state last.
    pub told_in: u32,
    /// What of its own instance's it touches: [`OWN_CHAINS`], [`WITHIN_CHAINS`].
    pub own: u32,
    /// The groups in which it is for other instances.
    pub memberships: u32,
    /// The groups of these that it touches.
    pub touches: u32,
    /// The first of the contact rows in which it has what solids are to it, see [`touch`].
    pub touch_base: u32,
    /// How many of these a node has: [`TOUCHES`], or 0.
    pub touch_count: u32,
    /// The groups in which it is for solids.
    pub to_solids: u32,
    /// The groups of solids that it touches.
    pub touched_solids: u32,
    /// By which coefficient it rubs on solids, as bits of an f32.
    pub rubs: u32,
    /// By which rule, as [`CombineRule`](crate::CombineRule) numbers them; [`NO_RULE`] where they alone say so.
    pub rubs_by: u32,
    /// By which coefficient it bounces off solids, as bits of an f32.
    pub bounces: u32,
    /// By which rule, as that of friction.
    pub bounces_by: u32,
    /// The first word of the pills of its instance's bones, as [`solid`] has them.
    pub pill_base: u32,
    /// How many there are that it touches.
    pub pill_count: u32,
    /// The first word of what they are to it: of each pill and lane, in which of the chain's slots its bone is; then where each node is
    /// at rest in each lane, 3 words.
    pub pill_rest_base: u32,
    /// The first word of how they go: for how many substeps that is told, then each pill's [`motion`]s.
    pub pill_motion_base: u32,
    /// Which instance's it is.
    pub instance: u32,
}

/// Which groups an instance's chains are in, among all groups.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct InstanceGroups {
    /// The first.
    pub group_base: u32,
    /// How many.
    pub group_count: u32,
}

/// What an instance says of itself after a frame without being asked.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct HealthReport {
    /// How often its chains were laid anew, all together.
    pub resets: u32,
    /// [`StepParams::recording`](crate::step::StepParams::recording) of the frame.
    pub recording: u32,
    /// 1 where it slept in the frame, else 0.
    pub asleep: u32,
}

/// Word index of one entry of one lane in an array whose rows have `entries` entries.
pub const fn word(row: u32, entries: u32, entry: u32, lane: u32) -> usize {
    (row as usize * entries as usize + entry as usize) * LANES as usize + lane as usize
}

/// Workgroups that give each chain of `group_count` groups its thread.
pub const fn workgroups(group_count: u32) -> u32 {
    (group_count as u64 * LANES as u64).div_ceil(WORKGROUP_SIZE as u64) as u32
}

/// Entries of a pose: place (m, 3 entries) and frame (4 entries).
pub const POSE: usize = 7;

/// How many bones a chain can hang on; one of fewer repeats its last.
pub const MAX_BONES: usize = 4;

/// Entries of a rest row. Segment entries speak of the segment from this node to the next; its coefficients
/// carry the segment's length, so that an energy is ½·coefficient·residual².
pub mod rest {
    /// Lumped mass ρAL (kg).
    pub const MASS: usize = 0;
    /// Rotational inertia ρL∬y² about u (kg·m²).
    pub const INERTIA_U: usize = 1;
    /// Rotational inertia ρL∬x² about v (kg·m²).
    pub const INERTIA_V: usize = 2;
    /// Product of inertia −ρL∬xy (kg·m²).
    pub const INERTIA_UV: usize = 3;
    /// Polar inertia ρL∬(x² + y²) about w (kg·m²); the scale's inertia too, (73).
    pub const INERTIA_W: usize = 4;
    /// Rest radius (m).
    pub const RADIUS: usize = 5;
    /// Damping (1/s).
    pub const DAMPING: usize = 6;
    /// Which bones carry the node: between the chain's bones n and n + 1 where it is n + fraction.
    pub const BONE_BLEND: usize = 7;
    /// 0 where a bone holds the node's place, else 1.
    pub const FREE_PLACE: usize = 8;
    /// 0 where a bone holds the node's frame, else 1.
    pub const FREE_FRAME: usize = 9;
    /// 0 where the node's scale is held at its rest value, else 1.
    pub const FREE_SCALE: usize = 10;
    /// Which of the chain's bones holds the node, or carries it with the one after it.
    pub const HOLD_SLOT: usize = 11;
    /// The node's place from that bone's origin (m), in the frame of the bone that it turns with, 3 entries; of a free chain,
    /// of the root.
    pub const HOLD_PLACE: usize = 12;
    /// The node's frame in the frame of the bone that it turns with, 4 entries.
    pub const HOLD_FRAME: usize = 15;
    /// Coefficient of (15) at the node, on the difference of the two slopes' residual.
    pub const SURFACE_BENDING: usize = 19;
    /// One over the segment's rest length (1/m).
    pub const INV_LENGTH: usize = 20;
    /// Rest value of R̄ᵀ∇c̄ (1) for (11), 3 entries; with what balances the rest pose.
    pub const STRAIN: usize = 21;
    /// Rest Darboux vector (1/m), 3 entries; with what balances the rest pose.
    pub const DARBOUX: usize = 24;
    /// Axial part of (11).
    pub const AXIAL: usize = 27;
    /// Shear part of (11).
    pub const SHEAR: usize = 28;
    /// (12).
    pub const LATERAL: usize = 29;
    /// (13), the rest of (12) at two Gauss points, and the smoothing of errata 11, on s_b − s_a.
    pub const SCALE_DIFFERENCE: usize = 30;
    /// (18); where negative, of the likeness of stretch and scale instead.
    pub const VOLUME: usize = 31;
    /// (14) about u.
    pub const BEND_U: usize = 32;
    /// (14) about v.
    pub const BEND_V: usize = 33;
    /// (14), coupling of u and v.
    pub const BEND_UV: usize = 34;
    /// (14) about w.
    pub const TORSION: usize = 35;
    /// (19).
    pub const VOLUME_BEND_U: usize = 36;
    /// (20).
    pub const VOLUME_BEND_V: usize = 37;
    /// 1 where both ends of the chain are held: then bones that carry the node into a plane, or into other flesh that bones carry, are
    /// obeyed.
    pub const CARRIED: usize = 38;
    /// In the first node's row: what an error of one unit in the last place of every place and scale of the chain is worth
    /// (J), over that unit squared.
    pub const STRAIN_ROUNDING: usize = 39;
    /// Rest value of Γ_w (1) for (18).
    pub const STRETCH: usize = 40;
    /// 1 where the place is held across the path only: the node slides.
    pub const SLIDES: usize = 41;
    /// Peak tension times length of the segment's fibres (J): what full activation adds to the energy per unit of
    /// fibre stretch.
    pub const ACTIVE: usize = 42;
    /// Fibre stretch by |Γ| (1).
    pub const FIBRE_STRAIN: usize = 43;
    /// Fibre stretch by sΩ (m), 3 entries.
    pub const FIBRE_DARBOUX: usize = 44;
    /// Fibre stretch by the scale (1).
    pub const FIBRE_SCALE: usize = 47;
    /// Fibre stretch by the scale's difference (1).
    pub const FIBRE_DIFFERENCE: usize = 48;
    /// One over the fibre stretch at which fibres are strongest; 0 where they are equally strong at any.
    pub const INV_OPTIMAL: usize = 49;
    /// Passive tension over peak tension.
    pub const PASSIVE: usize = 50;
    /// One over the fastest shortening (s, per rest length); 0 where tension does not depend on it.
    pub const INV_MAX_VELOCITY: usize = 51;
    /// Fraction of its rest length that full activation takes away from the segment's reference.
    pub const SHORTENING: usize = 52;
    /// Rest value of the scale (1) for (12): 1 but for what balances the rest pose.
    pub const SCALE: usize = 53;
    /// Elastic stiffness of the segment's fibres by their stretch (J), beside what makes them contract.
    pub const FIBRE_STIFFNESS: usize = 54;
    /// Peak tension times length (J) of what contracts in series with the segment and not in it.
    pub const SERIES: usize = 55;
    /// In the first node's row: as [`STRAIN_ROUNDING`], of every frame.
    pub const TURN_ROUNDING: usize = 56;
    /// In the first node's row: stiffness over mass of the segment that has most of it (1/s²).
    pub const FASTEST2: usize = 57;
    /// The node's place in the frame of the bone after [`HOLD_SLOT`] (m), 3 entries: carried by both, it goes with this one
    /// by the fraction of [`BONE_BLEND`].
    pub const NEXT_PLACE: usize = 58;
    /// The node's frame in that bone's frame, 4 entries.
    pub const NEXT_FRAME: usize = 61;
    /// Γ of the rest pose (1), 3 entries: [`STRAIN`] without what balances it.
    pub const BUILT_STRAIN: usize = 65;
    /// Ω of the rest pose (1/m), 3 entries: [`DARBOUX`] without what balances it.
    pub const BUILT_DARBOUX: usize = 68;
    /// How much of what bones let the chain in by the segment takes, 0 to 1; tendon takes nothing.
    pub const LETS_IN: usize = 71;
    /// 1 where the segment, at rest, is bent as its bones carry it, 0 where it is bent as built.
    pub const FOLLOWS: usize = 72;
    /// What fascia ties the node with (N/m).
    pub const FASCIA: usize = 73;
    /// What more it ties it with across its path by how far the chain is stretched (N/m).
    pub const FASCIA_TAUT: usize = 74;
    /// What more it ties it with across its path by activation (N/m).
    pub const FASCIA_ACTIVE: usize = 75;
    /// In the first node's row: the chain's length (m).
    pub const LENGTH: usize = 76;
    /// In the first node's row: the mass of the chain, or of the tree that it is of, over the least axial or shear stiffness of a segment
    /// (s²/m): times gravity, by how much that weight stretches a segment at most.
    pub const WEIGHT_STRETCH: usize = 77;
    /// Which of the chain's bones the node turns with: the one that holds it, but at a socket the one before.
    pub const TURN_SLOT: usize = 78;
    /// In the first node's row: 1 where fascia ties the chain.
    pub const TIED: usize = 79;
    /// Which of the chain's bones the node turns with on the next one's way, as [`TURN_SLOT`].
    pub const NEXT_TURN_SLOT: usize = 80;
    /// 1 where the frame that a bone gives the node turns with the rod's path.
    pub const TURNS: usize = 81;
    /// Where on the next bone's way a node goes straight round the inside of a bend: how far it is from what the one bone
    /// carries to what the next one does, 0 to 1; 0 where it does not.
    pub const CHORD_SHARE: usize = 82;
    /// What the one bone carries of that, in its frame (m), 3 entries.
    pub const CHORD_PLACE: usize = 83;
    /// What the next bone carries, in its frame (m), 3 entries.
    pub const CHORD_NEXT: usize = 86;
    /// 0 where the two bones turn against each other about the first one's origin, 1 where about the next one's.
    pub const CHORD_JOINT: usize = 89;
    /// 1 where fascia ties the node and the path is not bent much at rest: a fold there is none of the muscle's.
    pub const UNFOLDS: usize = 90;
    /// In the first node's row: along how many segments of its bed the chain may slide; 0 where it keeps its place.
    pub const SLIDES_IN_BED: usize = 91;
    /// The segment's inertia over its stiffness by strain, ml²/k (s²): see [`crate::cpu::strains::RESOLVED`].
    pub const STRAIN_TIME2: usize = 92;
    /// The least share of that stiffness that is counted.
    pub const LEAST_COUNTED: usize = 93;
    /// Which of the group's reaction rows is the node's; −1 where no lane's bones hold or guide it.
    pub const REACTION: usize = 94;
    /// 1 where the node hangs on a node of another chain.
    pub const HUNG: usize = 95;
    /// In the first node's row: the mass of the chain, or of the tree that it is of (kg).
    pub const BODY_MASS: usize = 96;
    /// How many entries a row has.
    pub const ENTRIES: usize = 97;
}

/// Entries of the rest row that a group has on a GPU after those of its nodes where chains of it hang on others or bear them: which.
/// A chain is named by its number among all lanes of its flesh's groups; −1 is none.
pub mod tree {
    /// The chain itself.
    pub const CHAIN: usize = 0;
    /// What it hangs on.
    pub const STEM: usize = 1;
    /// Which node of that.
    pub const STEM_NODE: usize = 2;
    /// Which node of its own, its last.
    pub const NODE: usize = 3;
    /// The first that hangs on it, in the order of the nodes that bear them.
    pub const FIRST: usize = 4;
    /// After it, the next that hangs on the same stem.
    pub const NEXT: usize = 5;
    /// The chain of its tree that hangs on none.
    pub const ROOT: usize = 6;
    /// After it, the next of its tree, in the order of their groups.
    pub const FOLLOWING: usize = 7;
    /// How many stems there are below it.
    pub const LEVEL: usize = 8;
    /// Which scratch row of the group keeps what is left of it, see [`stump`](super::stump).
    pub const STUMP: usize = 9;
    /// Its last section at rest in the frame of the one that it hangs on: place (m), 3 entries.
    pub const PLACE: usize = 10;
    /// And frame, 4 entries.
    pub const FRAME: usize = 13;
    /// How many chains its tree has.
    pub const COUNT: usize = 17;
    /// How many entries it takes, no more than a rest row has.
    pub const ENTRIES: usize = 18;
}

/// Entries of a node row, by who writes them.
pub mod node {
    use std::ops::Range;

    /// Place (m), 3 entries.
    pub const PLACE: usize = 0;
    /// Scale of the cross-section (1).
    pub const SCALE: usize = 3;
    /// Frame, a unit quaternion, 4 entries; its third axis is the tangent.
    pub const FRAME: usize = 4;
    /// Velocity (m/s), 3 entries; within a substep, what inertia and gravity alone would make of it.
    pub const VELOCITY: usize = 8;
    /// Rate of the scale (1/s).
    pub const SCALE_RATE: usize = 11;
    /// Angular velocity in the world (rad/s), 3 entries; within a substep, what inertia alone would make of it.
    pub const SPIN: usize = 12;
    /// Where and how fast the node is: `solve_rods` and `update_velocities` write these, `predict` the first guess, and `settle` adds to
    /// velocities and spins.
    pub const STATE: Range<usize> = PLACE..OLDER_MOVE;

    /// The last substep's move (m), 3 entries.
    pub const OLDER_MOVE: usize = 15;
    /// The last substep's change of scale.
    pub const OLDER_SCALING: usize = 18;
    /// The last substep's turn (rad), 3 entries.
    pub const OLDER_TURN: usize = 19;
    /// The velocity before the last substep (m/s), 3 entries.
    pub const OLDER_VELOCITY: usize = 22;
    /// The scale's rate before the last substep (1/s).
    pub const OLDER_SCALE_RATE: usize = 25;
    /// The angular velocity before the last substep (rad/s), 3 entries.
    pub const OLDER_SPIN: usize = 26;
    /// What the second order goes on from: `update_velocities` writes these, `predict` velocity and spin. With [`STATE`] it is all
    /// that a frame leaves to the next.
    pub const HISTORY: Range<usize> = OLDER_MOVE..PREV_PLACE;

    /// Place at the substep's start (m), 3 entries.
    pub const PREV_PLACE: usize = 29;
    /// Scale at the substep's start.
    pub const PREV_SCALE: usize = 32;
    /// Frame at the substep's start, 4 entries.
    pub const PREV_FRAME: usize = 33;
    /// What inertia alone would move the node (m), (21), 3 entries.
    pub const PREDICTED_MOVE: usize = 37;
    /// What inertia alone would make of the scale, (23).
    pub const PREDICTED_SCALE: usize = 40;
    /// What inertia alone would make of the frame, (22), 4 entries.
    pub const PREDICTED_FRAME: usize = 41;
    /// Fibre stretch of the segment after the node at the substep's start, where fibres have a say.
    pub const PREV_FIBRE_STRETCH: usize = 45;
    /// Place minus place at the substep's start (m), 3 entries: small, so that inertia is exact in f32. `solve_rods` writes it
    /// with the place.
    pub const MOVED: usize = 46;
    /// Where the substep starts, and where it would go by itself: `predict` writes these.
    pub const START: Range<usize> = PREV_PLACE..TARGET_PLACE;

    /// Where the bone holds or would carry the node (m), 3 entries.
    pub const TARGET_PLACE: usize = 49;
    /// The frame in which the bone holds or would carry the node, 4 entries; of a node that slides, turned to the path.
    pub const TARGET_FRAME: usize = 52;
    /// Γ̄ (1) in this substep of the segment after the node, 3 entries, where fascia has it follow its bones.
    pub const REFERENCE_STRAIN: usize = 56;
    /// Ω̄ (1/m), as [`REFERENCE_STRAIN`], 3 entries.
    pub const REFERENCE_DARBOUX: usize = 59;
    /// s̄ (1), as [`REFERENCE_STRAIN`].
    pub const REFERENCE_SCALE: usize = 62;
    /// What fascia ties the node with across its path in this substep (N/m), by tension.
    pub const TIE: usize = 63;
    /// Where on the path along which bones carry the chain fascia ties the node to (m), 3 entries.
    pub const BED: usize = 64;
    /// In which direction the node may slide there, 3 entries.
    pub const BED_PATH: usize = 67;
    /// What bones make of it in the substep: `move_bones` writes these, `predict` which of its two quaternions a held frame is.
    pub const TARGETS: Range<usize> = TARGET_PLACE..ENTRIES;

    /// How many entries a row has.
    pub const ENTRIES: usize = 70;
}

/// Entries of an input row: what the host says of a group's chains once a frame.
pub mod input {
    use super::{MAX_BONES, POSE};

    /// The bones' poses at the frame's start; of a free chain, the root's pose in the first slot.
    pub const BONE_FROM: usize = 0;
    /// The bones' poses at the frame's end.
    pub const BONE_TO: usize = MAX_BONES * POSE;
    /// The chain's origin in the world from the frame's start on (m), 3 entries: a point of a lattice, see
    /// [`super::chain::ORIGIN`].
    pub const ORIGIN: usize = 2 * MAX_BONES * POSE;
    /// 1 where the chain hangs on a bone, [`ON_CHAIN`] where on a chain that does, 0 where it is free.
    pub const HANGS: usize = ORIGIN + 3;
    /// See [`HANGS`].
    pub const ON_CHAIN: f32 = 0.75;
    /// Activation of the chain, 0 at rest, 1 at peak stress.
    pub const ACTIVATION: usize = HANGS + 1;
    /// 0 where the frame starts where the last one ended, ¼ where the bones jerk from there. Else they are elsewhere at once,
    /// and with them the chain: 1 where it keeps its shape and its motion against them, ¾ where it keeps its shape and moves as
    /// they do, 2 where they are elsewhere against each other, so that it is laid anew.
    pub const TELEPORT: usize = ACTIVATION + 1;
    /// What accelerates the chain beside gravity (m/s²), 3 entries.
    pub const ACCELERATION: usize = TELEPORT + 1;
    /// By how much that, and what forces on its nodes are over its mass, accelerate it at most (m/s²).
    pub const LOAD: usize = ACCELERATION + 3;
    /// 1 where the velocities are changed at the frame's start, else 0.
    pub const KICKED: usize = LOAD + 1;
    /// Which share of them is kept then.
    pub const KEPT: usize = KICKED + 1;
    /// What is added to them at the chain's origin (m/s), 3 entries.
    pub const KICK_VELOCITY: usize = KEPT + 1;
    /// What is added to the angular velocities (rad/s), 3 entries; to a node's velocity, also what that makes at its place.
    pub const KICK_SPIN: usize = KICK_VELOCITY + 3;
    /// On a GPU, which of the frame's force rows is the first of the group's; −1 where no node is pushed.
    pub const FORCES: usize = KICK_SPIN + 3;
    /// On a GPU, in the i-th row: which group is the i-th of those at work in the frame, first those that are stepped, of which
    /// those with trees come last, then those that only go with their bones; −1 is none.
    pub const WORKS: usize = FORCES + 1;
    /// On a GPU, 1 where the instance is given something else than in the frame before, which wakes it, else 0.
    pub const STIRRED: usize = WORKS + 1;
    /// How many entries a row has.
    pub const ENTRIES: usize = STIRRED + 1;
}

/// Entries of a force row: what a node is given in a frame beside what all of its chain is.
pub mod force {
    /// Force over mass (m/s²), 3 entries.
    pub const ACCELERATION: usize = 0;
    /// Impulse over mass (m/s), at the frame's start, 3 entries.
    pub const VELOCITY: usize = 3;
    /// How many entries a row has.
    pub const ENTRIES: usize = 6;
}

/// Entries of a plane row: a half-space as a chain sees it in a frame, in which its surface moves as a rigid body does.
pub mod plane {
    /// Unit normal at the frame's start, 3 entries.
    pub const NORMAL_FROM: usize = 0;
    /// Distance of the plane from the chain's origin along it (m).
    pub const OFFSET_FROM: usize = 3;
    /// Unit normal at the frame's end, 3 entries.
    pub const NORMAL_TO: usize = 4;
    /// Distance of the plane from the chain's origin along it (m).
    pub const OFFSET_TO: usize = 7;
    /// Coulomb's coefficient of friction (1).
    pub const FRICTION: usize = 8;
    /// How far the surface goes in the frame at the chain's origin (m), 3 entries.
    pub const MOVE: usize = 9;
    /// By how much it turns in the frame (rad), 3 entries.
    pub const TURN: usize = 12;
    /// Newton's coefficient of restitution (1).
    pub const RESTITUTION: usize = 15;
    /// How many entries a row has.
    pub const ENTRIES: usize = 16;
}

/// Entries of a chain row: how a group's bones moved, carried from substep to substep.
pub mod chain {
    use super::{MAX_BONES, POSE};

    /// The bones' poses one substep before this substep's start.
    pub const BONE_OLDER: usize = 0;
    /// The bones' poses at this substep's start.
    pub const BONE_PREV: usize = MAX_BONES * POSE;
    /// The bones' poses at this substep's end.
    pub const BONE_NOW: usize = 2 * MAX_BONES * POSE;
    /// 1 where the last substep is known, so that the second-order step may use it; below 0, the substeps for which it
    /// may not.
    pub const HISTORY: usize = 3 * MAX_BONES * POSE;
    /// Mean fibre stretch at the substep's start of what contracts, where fibres have a say.
    pub const MEAN_STRETCH: usize = HISTORY + 1;
    /// What the chain stores at the substep's start but for contacts, with what bones hold where they hold it now (J).
    pub const START_POTENTIAL: usize = HISTORY + 2;
    /// What the chain stores where the last solve ended (J), of its elasticity alone; −1 where that is not all it stores.
    pub const POTENTIAL: usize = HISTORY + 3;
    /// 1 where a solve of this substep was led astray or went far, else 0.
    pub const ROUGH: usize = HISTORY + 4;
    /// Which share of the velocities leaves the chain with no more energy than it had; a free one keeps its momenta.
    pub const CALM: usize = HISTORY + 5;
    /// How long the chain has been where flesh cannot be (s); time in which it is not counts off.
    pub const UNWELL: usize = HISTORY + 6;
    /// How often the chain was laid anew.
    pub const RESETS: usize = HISTORY + 7;
    /// Activation in the last substep.
    pub const ACTIVATION: usize = HISTORY + 8;
    /// The chain's origin in the world (m), 3 entries, to which its rows' places are relative. It is a multiple of a power of two
    /// in metres that f32 holds, and so is the difference of two chains' origins: the place of one from the other is exact at
    /// any distance from the world's origin.
    pub const ORIGIN: usize = HISTORY + 9;
    /// 1 where the chain met another in the last solve, else 0.
    pub const MEETS: usize = HISTORY + 12;
    /// On a GPU, whether the chain sleeps in the frame or did in the one before: see [`sleeps`](super::sleeps).
    pub const SLEEPS: usize = HISTORY + 13;
    /// How many entries a row has.
    pub const ENTRIES: usize = HISTORY + 14;
}

/// Entries of a reaction row: what a node that bones hold or guide does to what holds it in a frame's last substep, contacts,
/// inertia and the half segments beside it included; 0 in what is not held.
pub mod reaction {
    /// Force (N), 3 entries.
    pub const FORCE: usize = 0;
    /// Couple about the node (N·m), 3 entries.
    pub const COUPLE: usize = 3;
    /// How many entries a row has.
    pub const ENTRIES: usize = 6;
}
