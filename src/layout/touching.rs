//! Rows of what touches chains: contact rows, as the solve takes them up, and what chains that meet each other know of that.

/// Entries of a contact row: something that touches a chain, as the solve takes it up and whatever it is.
///
/// A group's rows are in the order of their segments, and in all lanes a row is on the same one; a lane that has nothing there
/// has no stiffness in it, and no entry that is no number. With c, s and θ how far the chain has gone, swollen and turned since
/// the substep's start where the row acts, the distance is g = gap + d·c − σs, and its surface has gone
/// u = (1 − ddᵀ)c + r d × θ across d. The row stores ½k·min(g, 0)² and, by friction, what pulling the surface away from its
/// anchor takes: by a spring k_t|u − anchor| up to Coulomb's limit, and the limit from there.
pub mod contact {
    /// The node with which the segment begins that it acts on.
    pub const SEGMENT: usize = 0;
    /// Where on the segment, 0 at its first node, 1 at its second.
    pub const ALONG: usize = 1;
    /// Unit direction d in which it presses, 3 entries.
    pub const DIRECTION: usize = 2;
    /// By how much the distance shrinks as the scale grows, σ (m): the rest radius there.
    pub const SCALE_TERM: usize = 5;
    /// How far from the chain's axis it acts, r (m): the arm with which friction turns the chain.
    pub const ARM: usize = 6;
    /// The distance at the substep's start (m), negative inside, with the depth left to it that it may keep.
    pub const GAP: usize = 7;
    /// Stiffness k (N/m); 0 where nothing touches.
    pub const STIFFNESS: usize = 8;
    /// Friction's stiffness where it sticks, k_t (N/m).
    pub const FRICTION: usize = 9;
    /// Coulomb's limit (N).
    pub const LIMIT: usize = 10;
    /// 1 where the first solve takes it as sticking, wherever the prediction is.
    pub const STICKS: usize = 11;
    /// How far the surface goes across d until friction does not pull (m), 3 entries: as far as what touches goes, and as far
    /// again as it takes to pull as in the last substep where it held.
    pub const ANCHOR: usize = 12;
    /// The dual: with what force it pressed in the last solve (N), by its whole step; of what meets others, in balance, by as much as was
    /// taken of each. Within the first solve, how deep it was in the way where that was set up (m), negative where it was off it.
    pub const DUAL: usize = 15;
    /// With what force friction pulled in the last solve (N), 3 entries, by as much of its step. Within the first solve, how far the
    /// surface had gone from the anchor where that was set up (m).
    pub const TANGENT: usize = 16;
    /// Stiffness κ (N·m) against the chain's turning there otherwise than [`TURN`], up to [`ROLLING_LIMIT`]: rolling and drilling
    /// friction.
    pub const ROLLING: usize = 19;
    /// The most that this takes (N·m).
    pub const ROLLING_LIMIT: usize = 20;
    /// How far what touches turns (rad), 3 entries.
    pub const TURN: usize = 21;
    /// 1 where it pressed in the last substep on a chain that met others then: the first solve has it in its matrix wherever the
    /// chain begins. −1 where it bounces: the first solve has it out of its matrix.
    pub const STAYS: usize = 24;
    /// With what force it throws the chain in this substep (N), which moves where its nodes are predicted to go; of what comes at it,
    /// also from afar, less than 0: by for how long it has stopped it at the substep's end (s). 0, and the next two, without restitution.
    pub const BOUNCE: usize = 25;
    /// In the place of it and the next two, of meetings: from the chain's axis at the substep's start to the middle of the gap
    /// between both surfaces (m), 3 entries.
    pub const MIDDLE: usize = BOUNCE;
    /// How heavy the chain is there: the least impulse of a substep in that time over by how much it has slowed it (kg), 0 before any.
    pub const MASS: usize = 26;
    /// How fast it came (m/s).
    pub const CAME: usize = 27;
    /// How fast it came in the last substep (m/s).
    pub const COMES: usize = 28;
    /// How many entries a row has.
    pub const ENTRIES: usize = 29;
}

/// Entries of a tangent row: the plane that is tangent to a solid where a segment is nearest to it in a substep, in every lane its
/// own. A group's are in the order of their segments, two for each segment and solid: for the node that begins it, and for what is
/// deeper between its nodes.
pub mod tangent {
    use super::super::plane;

    /// The node with which the segment begins.
    pub const SEGMENT: usize = 0;
    /// Where on the segment, 0 at its first node, 1 at its second.
    pub const ALONG: usize = 1;
    /// Which share of its stiffness it has: 0 where nothing is there to touch.
    pub const SHARE: usize = 2;
    /// By which share of its radius flesh that bones carry into it is dented.
    pub const DENTS: usize = 3;
    /// 1 where it is a bone of the chain's own, else 0: its bones carry no flesh into that, what lies on it is not squeezed, and it is
    /// as stiff as it takes to hold what presses on it.
    pub const OWN: usize = 4;
    /// How far what touches it may be from it besides (m), at most 0.
    pub const ALLOWED: usize = 5;
    /// The plane, from the substep's start to its end, see [`plane`].
    pub const PLANE: usize = 6;
    /// How many entries a row has.
    pub const ENTRIES: usize = PLANE + plane::ENTRIES;
}

/// Entries of what the last solve's matrix has of a contact row, where chains meet.
pub mod solved {
    /// Its stiffness there (N/m), 0 where it did not press.
    pub const STIFFNESS: usize = 0;
    /// Friction's stiffness there (N/m).
    pub const FRICTION: usize = 1;
    /// How much less that is along one direction, in which the row slips (N/m).
    pub const SLIPPING: usize = 2;
    /// That direction, 3 entries.
    pub const WAY: usize = 3;
    /// With what force the row presses as the matrices have it by as much as was taken of their steps (N): also below 0.
    pub const FORCE: usize = 6;
    /// Rolling friction's stiffness there (N·m).
    pub const ROLLING: usize = 7;
    /// With what couple it turns the chain, likewise (N·m), 3 entries.
    pub const COUPLE: usize = 8;
    /// What a pass begins with: force, friction's pull and couple, 7 entries.
    pub const BEFORE: usize = 11;
    /// By how much the last pass changed them, 7 entries.
    pub const CHANGE: usize = 18;
    /// How many entries a row has.
    pub const ENTRIES: usize = 25;
}

/// Entries of a meet row: a point at which two segments of different chains touch or may, reckoned from the first of both.
///
/// With c, s and θ how far each side has gone, swollen and turned there since the substep's start, their gap is
/// g = gap + d·(c_a − c_b) − σ_a s_a − σ_b s_b, and their surfaces have slid by (1 − ddᵀ)(c_a − c_b) + d × (r_a θ_a + r_b θ_b)
/// against each other.
pub mod meet {
    /// Where on each segment, 2 entries.
    pub const ALONG: usize = 0;
    /// Unit direction d from the second side to the first, 3 entries.
    pub const DIRECTION: usize = 2;
    /// By how much the gap shrinks as each side's scale grows (m), 2 entries: the rest radii there.
    pub const SCALE_TERM: usize = 5;
    /// How far from each side's axis it acts (m), 2 entries.
    pub const ARM: usize = 7;
    /// The gap at the substep's start (m), no deeper than it is to come out in the substep, nor than what is not let in.
    pub const GAP: usize = 9;
    /// Stiffness k (N/m); 0 where nothing can touch in the substep.
    pub const STIFFNESS: usize = 10;
    /// Friction's stiffness k_t (N/m).
    pub const FRICTION: usize = 11;
    /// How far the surfaces go against each other until friction does not pull (m), 3 entries.
    pub const ANCHOR: usize = 12;
    /// Coulomb's coefficient µ.
    pub const RUBS: usize = 15;
    /// By how much they turn against each other until rolling friction does not hold them back (rad), 3 entries.
    pub const TURN_ANCHOR: usize = 16;
    /// With what force both press (N).
    pub const FORCE: usize = 19;
    /// With what force friction pulls the first side (N), 3 entries.
    pub const PULL: usize = 20;
    /// With what couple rolling friction turns the first side (N·m), 3 entries.
    pub const COUPLE: usize = 23;
    /// How stiff the pair is over γ times their mass there (1/s²), whatever the step; 0 of a new one.
    pub const OVER_MASS: usize = 26;
    /// What is remembered from substep to substep.
    pub const MEMORY: std::ops::Range<usize> = FORCE..ENTRIES;
    /// How many entries a row has.
    pub const ENTRIES: usize = 27;
    /// On a GPU, how many entries eight pairs have: two points each, of which what is remembered is there for either of two frames in
    /// turn.
    pub const OF_PAIRS: usize = 2 * FORCE + 4 * (ENTRIES - FORCE);
}

/// Entries of what a node shows other chains: where it stands, from [`INV_MASS`](shown::INV_MASS) on what it takes to tell how it
/// goes, and from [`CARRIED`](shown::CARRIED) on where its bones have it.
pub mod shown {
    /// The chain's origin in the world (m), 3 entries.
    pub const ORIGIN: usize = 0;
    /// Place at the substep's start (m), 3 entries.
    pub const PLACE: usize = 3;
    /// Rest radius (m).
    pub const RADIUS: usize = 6;
    /// Scale at the substep's start.
    pub const SCALE: usize = 7;
    /// One over the node's mass (1/kg); 0 where a bone holds it.
    pub const INV_MASS: usize = 8;
    /// How far it has moved since (m), 3 entries, swollen, and turned (rad), 3 entries; before the first solve, as far as it would
    /// at the speed that it has.
    pub const MOVED: usize = 9;
    /// See [`MOVED`].
    pub const SCALING: usize = 12;
    /// See [`MOVED`].
    pub const TURN: usize = 13;
    /// Where bones carry it at the substep's end (m), 3 entries, of a node that they hold or carry: of others whatever was there.
    pub const CARRIED: usize = 16;
    /// How many entries a row has.
    pub const ENTRIES: usize = 24;
}
