//! What of an instance comes back from a GPU.

/// What a GPU sends back of an instance after each step, to be seen some steps later; on the CPU all of it is always there. Asked
/// for nothing, it sends how often chains were laid anew ([`Health::resets`](crate::Health::resets)) and whether it sleeps, 12 bytes an
/// instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBack {
    /// Its nodes, bones and activations, whole: what [`Physics::state`](crate::Physics::state), `node`, `swing`, `muscle` and
    /// `reaction` show, and what outlives a lost device. About 300 bytes a node.
    pub state: bool,
    /// Its deformed vertices, for [`Physics::vertices`](crate::Physics::vertices): 40 bytes each.
    pub vertices: bool,
    /// What its cross-sections do to its skin, for [`Physics::section_matrices`](crate::Physics::section_matrices): 96 bytes
    /// each.
    pub sections: bool,
}

impl ReadBack {
    /// Nothing beside its health.
    pub const NOTHING: Self = Self { state: false, vertices: false, sections: false };

    /// All that there is.
    pub const ALL: Self = Self { state: true, vertices: true, sections: true };

    /// What either asks for.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            state: self.state || other.state,
            vertices: self.vertices || other.vertices,
            sections: self.sections || other.sections,
        }
    }
}
