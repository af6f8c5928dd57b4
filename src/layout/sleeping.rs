//! What a GPU knows of whether instances sleep.

/// Words of how still an instance is, of either of two frames in turn.
pub mod rest_watch {
    /// For how long it has been still (s), bits of an f32.
    pub const STILL: usize = 0;
    /// For how long all that it hangs together with by touch has been, as far as that is known (s), bits of an f32.
    pub const ISLAND: usize = 1;
    /// In which recording that was so.
    pub const RECORDING: usize = 2;
    /// The least of [`ISLAND`] among those that it may touch in the frame, as of the frame before.
    pub const BESIDE: usize = 3;
    /// 1 where it moved or was stirred.
    pub const STIRRED: usize = 4;
    /// How many words there are.
    pub const ENTRIES: usize = 5;

    /// Longer than anything is still (s).
    pub const EVER: f32 = 1.0e30;
}

/// Entries of a box within which something changes that wakes what sleeps there.
pub mod stir {
    /// Its least corner in the world (m), 3 entries.
    pub const LOW: usize = 0;
    /// Its greatest corner (m), 3 entries.
    pub const HIGH: usize = 3;
    /// How many entries there are.
    pub const ENTRIES: usize = 6;
}
