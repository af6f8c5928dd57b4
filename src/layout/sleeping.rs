//! What a GPU knows of whether instances sleep.

/// Words of how still an instance is, of either of two frames in turn.
pub mod rest_watch {
    /// For how long it has been still (s), with all that it may have touched meanwhile as far as that is known; bits of an f32.
    pub const STILL: usize = 0;
    /// In which recording that was so.
    pub const RECORDING: usize = 1;
    /// The least of [`STILL`] among those that it may touch in the frame, as of the frame before; 0 where one is stirred in it.
    pub const BESIDE: usize = 2;
    /// 1 where it moved or was stirred.
    pub const STIRRED: usize = 3;
    /// How many words there are.
    pub const ENTRIES: usize = 4;

    /// Over how many frames at least what sleeps has been still: the one to come is among them, and of two at least one was seen.
    pub const LEAST_FRAMES: f32 = 1.5;

    /// Longer than anything is still (s).
    pub const EVER: f32 = 1.0e30;
}

/// What [`chain::SLEEPS`](super::chain::SLEEPS) says, else 0.
pub mod sleeps {
    /// The chain sleeps in the frame.
    pub const NOW: f32 = 1.0;
    /// It slept in the one before.
    pub const BEFORE: f32 = 0.5;
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
