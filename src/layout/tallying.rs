//! What a GPU tells of who presses whom in a frame.

/// Words of the row before all others of tallies.
pub mod tallies {
    /// How many tallies wanted a row; of those that got none this counts each try.
    pub const FOUND: usize = 0;
    /// For how many there is room.
    pub const ROOM: usize = 1;
    /// Which row is the first tally's. Before it, after this row, each chain has a word: its newest tally, counted from 1; 0 of none.
    pub const FIRST: usize = 2;
}

/// Words of a tally: what one thing presses a chain with in a frame.
pub mod tally {
    /// The chain's next one, counted from 1; 0 after the last.
    pub const NEXT: usize = 0;
    /// The place of the chain's instance.
    pub const INSTANCE: usize = 1;
    /// Which chain it is among all.
    pub const CHAIN: usize = 2;
    /// What presses it: the place of an instance, or, with [`PLANE`] or [`SOLID`], of a half-space or a solid.
    pub const OTHER: usize = 3;
    /// With what impulse along the normals (N·s), bits of an f32.
    pub const IMPULSE: usize = 4;
    /// What all that, with friction, gives the chain (N·s), 3 words, bits of f32s.
    pub const PUSH: usize = 5;
    /// How many words there are.
    pub const ENTRIES: usize = 8;

    /// In [`OTHER`], of a half-space.
    pub const PLANE: u32 = 1 << 30;
    /// In [`OTHER`], of a solid.
    pub const SOLID: u32 = 1 << 31;
}
