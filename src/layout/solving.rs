//! Scratch rows: what a solve keeps of each node, and of chains that hang on each other, for what goes on from it in the substep.

/// Entries of the scratch row of a node in `solve_rods`: the block factor.
pub mod scratch {
    /// Unit lower triangle of the node's factored block, 21 entries by rows.
    pub const LOWER: usize = 0;
    /// Entry of row i, column k < i of the lower triangle.
    pub const fn lower(i: usize, k: usize) -> usize {
        LOWER + i * i.saturating_sub(1) / 2 + k
    }
    /// One over the pivots, 7 entries.
    pub const INV_PIVOT: usize = 21;
    /// L⁻¹ of the coupling to the next node, 49 entries by rows.
    pub const COUPLING: usize = 28;
    /// L⁻¹ of the right-hand side, 7 entries.
    pub const RHS: usize = 77;
    /// The step that a solve found, 7 entries.
    pub const STEP: usize = 84;
    /// Where the node was before it: what it had moved (m), its scale and its frame, 8 entries.
    pub const BASE: usize = 91;
    /// On a GPU, the rows of meetings whose segment the node begins: which of all sides the first is, and how many sides.
    pub const SIDES: usize = 99;
    /// How many entries a row has.
    pub const ENTRIES: usize = 101;
}

/// Entries of the scratch row in which `solve_rods` keeps the rows of a held node before they are taken out of the system,
/// what the nodes before have added to them included.
pub mod held {
    /// The right-hand side, 7 entries.
    pub const RHS: usize = 0;
    /// The node's block, its lower triangle by rows, 28 entries.
    pub const BLOCK: usize = 7;
    /// The coupling to the next node, 49 entries by rows.
    pub const COUPLING: usize = 35;
    /// How many entries it takes, no more than a scratch row has.
    pub const ENTRIES: usize = 84;
}

/// Entries of the scratch row in which `solve_rods` keeps what a node bears of the chains that hang on it: what they add to its
/// rows once they are eliminated.
pub mod borne {
    /// What they add to the right-hand side, 7 entries.
    pub const RHS: usize = 0;
    /// What they add to the node's block, its lower triangle by rows, 28 entries.
    pub const BLOCK: usize = 7;
    /// How many entries it takes, no more than a scratch row has.
    pub const ENTRIES: usize = 35;
}

/// Entries of the scratch row in which `solve_rods` keeps what is left of a chain that hangs on another once all of it is
/// eliminated but place and frame of its last node, the six unknowns that it shares with what it hangs on.
pub mod stump {
    /// Their right-hand side, 6 entries.
    pub const RHS: usize = 0;
    /// Their block, its lower triangle by rows, 21 entries.
    pub const BLOCK: usize = 6;
    /// Their coupling to the node's scale, 6 entries.
    pub const COUPLING: usize = 27;
    /// From the node that it hangs on to its own (m), 3 entries.
    pub const ARM: usize = 33;
    /// How its own moves by the scale of the node that it hangs on (m), 3 entries.
    pub const OUTWARD: usize = 36;
    /// What of it is added to the rows of that node, as [`borne`](super::borne) has it.
    pub const BORNE: usize = 39;
    /// The step of that node, 7 entries.
    pub const STEP: usize = BORNE + super::borne::ENTRIES;
    /// How many entries it takes, no more than a scratch row has.
    pub const ENTRIES: usize = STEP + 7;
}

/// Entries of the first node's scratch row in which it is kept, up to the solve, how a chain that hangs on others or bears them
/// moves with all of them as one rigid body.
pub mod rigid {
    /// Centre of mass from the chain's origin (m), 3 entries.
    pub const CENTRE: usize = 0;
    /// Its velocity (m/s), 3 entries.
    pub const VELOCITY: usize = 3;
    /// Spin (rad/s), 3 entries.
    pub const SPIN: usize = 6;
}
