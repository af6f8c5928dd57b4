//! What a GPU knows of segments that may meet, and of pairs of them.

use bytemuck::{Pod, Zeroable};

/// A segment that may touch those of other chains in the frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct Segment {
    /// Its centre (m), from an origin that all share.
    pub centre: [f32; 3],
    /// Radius of a sphere that it does not leave in the frame (m); below 0 where there is no segment.
    pub reach: f32,
    /// Of the grid.
    pub level: u32,
    /// Its chain: its group times [`LANES`](super::LANES), and its lane.
    pub chain: u32,
    /// The node with which it begins.
    pub node: u32,
    /// Its instance: the first segment of that.
    pub base: u32,
    /// Its first node's place (m), from the same origin.
    pub first: [f32; 3],
    /// Its radius there (m).
    pub first_radius: f32,
    /// Its second node's place (m).
    pub last: [f32; 3],
    /// Its radius there (m).
    pub last_radius: f32,
    /// Its first node's velocity (m/s).
    pub first_velocity: [f32; 3],
    /// How far beyond what velocities take it it may come (m).
    pub slack: f32,
    /// Its second node's velocity (m/s).
    pub last_velocity: [f32; 3],
    /// [`FORGETS`] and what of its own instance's it may touch, [`OWN_CHAINS`] and [`WITHIN_CHAINS`].
    pub flags: u32,
    /// The first pair of its instance's segments that overlap at rest.
    pub overlap_base: u32,
    /// How many there are.
    pub overlap_count: u32,
    /// The groups in which it is for other instances.
    pub memberships: u32,
    /// The groups of these that it touches.
    pub touches: u32,
}

/// Of [`Segment::flags`]: what it touched in the frame before is not this instance's.
pub const FORGETS: u32 = 1;

/// Of [`Segment::flags`] and [`Group::own`](super::Group::own): it touches its instance's other chains.
pub const OWN_CHAINS: u32 = 2;

/// Of [`Segment::flags`] and [`Group::own`](super::Group::own): it touches segments of its own chain.
pub const WITHIN_CHAINS: u32 = 4;

/// Words of a segment's partners: those that it may touch in the frame.
pub mod partners {
    /// The place of its first one among all segments' partners.
    pub const FIRST: usize = 0;
    /// How many it has.
    pub const COUNT: usize = 1;
    /// The first of the pairs in which it comes first.
    pub const FIRST_PAIR: usize = 2;
    /// How many these are.
    pub const UPPER: usize = 3;
    /// How many partners there was room for.
    pub const LISTED: usize = 4;
    /// How many words there are.
    pub const ENTRIES: usize = 5;
}

/// In the place of a chain, what no pair is.
pub const NO_PAIR: u32 = u32::MAX;

/// Cells around a segment, its own too, in which others of a level may be that it touches.
pub const CELLS_AROUND: u32 = 27;

/// On a GPU, the bits of 1.0, to which words of rows that press add theirs, so that they stay plain numbers.
pub const PRESSING: u32 = 1.0_f32.to_bits();

/// On a GPU, words that say how many contact rows of meetings press in a solve, and did at most in the frame's solves before it.
pub const PRESSING_WORDS: u32 = 2;

/// How many levels the GPU's grid has, each with cells twice as large as the one before.
pub const LEVELS: u32 = 64;

/// Which of them has cells of a metre.
pub const LEVEL_OF_METRES: u32 = 32;

/// Words before those of the grid's cells: which levels have segments, one bit each.
pub const CELLS_HEADER: u32 = LEVELS / 32;

/// How many cells the grid's table has for a segment at most.
pub const CELLS_A_SEGMENT: u32 = 4;
