//! Words of solids as a GPU has them, and of what they are to chains there.

/// How many rows of solids a node has on a GPU: of what a segment touches the nearest.
pub const TOUCHES: u32 = 4;

/// In the place of a rule, where flesh does not say how it rubs or bounces.
pub const NO_RULE: u32 = u32::MAX;

/// Contact rows of what solids are to a group's chains: a first one says of each lane how many it has, and in which recording that
/// was; then each node has [`TOUCHES`], and as many [`tangent`](super::tangent) rows that go with them.
pub mod touch {
    use super::super::tangent;

    /// In the first row, of which recording it is, by its last 16 bits.
    pub const RECORDING: usize = 1;
    /// In the first row, above 0 where anything is near that the chain may touch.
    pub const NEAR: usize = 2;
    /// In a tangent row after its own entries: which solid that is, which primitive of it, and 1 where it is between the nodes, 3
    /// entries; −1 is none.
    pub const SOLID: usize = tangent::ENTRIES;
}

/// Words of a solid.
pub mod solid {
    /// What it is, see [`form`](super::form).
    pub const FORM: usize = 0;
    /// The first word of its shape.
    pub const SHAPE: usize = 1;
    /// The first word of how it goes, see [`motion`](super::motion).
    pub const MOTION: usize = 2;
    /// For how many substeps that is told: of one at rest, once.
    pub const MOTIONS: usize = 3;
    /// By how much it is thicker than its shape (m).
    pub const BORDER: usize = 4;
    /// Coulomb's coefficient.
    pub const FRICTION: usize = 5;
    /// How that is combined.
    pub const RUBS_BY: usize = 6;
    /// By which share of its radius it dents flesh that its bones carry into it.
    pub const DENTS: usize = 7;
    /// The groups in which it is.
    pub const MEMBERSHIPS: usize = 8;
    /// The groups that it touches.
    pub const FILTER: usize = 9;
    /// The middle of a ball around it in its own frame (m), 3 words.
    pub const CENTRE: usize = 10;
    /// The radius of that, border and all (m).
    pub const EXTENT: usize = 13;
    /// How far a point of it goes in the frame at most (m).
    pub const SWEEP: usize = 14;
    /// Newton's coefficient of restitution.
    pub const RESTITUTION: usize = 15;
    /// How that is combined.
    pub const BOUNCES_BY: usize = 16;
    /// How many words.
    pub const ENTRIES: usize = 17;
}

/// Words of how a solid goes in a substep.
pub mod motion {
    /// Where it is at the substep's start: a multiple of ⅛ m in each direction, 3 words.
    pub const ANCHOR: usize = 0;
    /// How far from there (m), 3 words.
    pub const OFFSET: usize = 3;
    /// Its frame then, 4 words.
    pub const FRAME: usize = 6;
    /// The turn from there to its frame at the substep's end, 4 words.
    pub const TURN: usize = 10;
    /// How far its origin goes (m), 3 words.
    pub const BY: usize = 14;
    /// How far it goes where it turns about (m), 3 words.
    pub const GOES: usize = 17;
    /// By how much it turns (rad), 3 words.
    pub const TURNS: usize = 20;
    /// About where, halfway, from where it is at the start (m), 3 words.
    pub const ABOUT: usize = 23;
    /// How many words.
    pub const ENTRIES: usize = 26;
}

/// Forms of solids.
pub mod form {
    /// All that is within a radius of a segment: a ball or a capsule. Its ends, 6 words, and the radius.
    pub const SEGMENT: usize = 1;
    /// A box: half of its sides, 3 words.
    pub const CUBOID: usize = 2;
    /// A cylinder: half of its height, and the radius.
    pub const CYLINDER: usize = 3;
    /// A cone, as the cylinder.
    pub const CONE: usize = 4;
    /// A convex polyhedron: how many triangles it has, then of each [`CONVEX_ENTRIES`](super::CONVEX_ENTRIES).
    pub const CONVEX: usize = 5;
    /// A mesh, see [`mesh`](super::mesh).
    pub const MESH: usize = 6;
}

/// Words of a convex polyhedron's triangle: its normal, 3 words, how far along that the polyhedron reaches, and its corners, 9 words.
pub const CONVEX_ENTRIES: u32 = 13;

/// Words of a mesh. Its tree's nodes follow, then what the leaves hold, its triangles, its points and its lists of points.
pub mod mesh {
    /// 1 where it is solid behind.
    pub const ONE_SIDED: usize = 0;
    /// How many nodes its tree has.
    pub const NODE_COUNT: usize = 1;
    /// Where what the leaves hold begins, from the mesh's first word.
    pub const ITEMS: usize = 2;
    /// Where triangles begin.
    pub const TRIANGLES: usize = 3;
    /// Where points begin.
    pub const POINTS: usize = 4;
    /// How many words.
    pub const ENTRIES: usize = 5;
}

/// Words of a node of a tree of boxes: its corners, 6 words, how many nodes there are below, and which items it holds, 2 words.
pub const BOX_NODE_ENTRIES: u32 = 9;

/// Words of an item there: its corners, 6 words, and which it is.
pub const BOX_ITEM_ENTRIES: u32 = 7;

/// Words of a mesh's triangle, which begin with its three points.
pub mod triangle {
    /// By bits, which of its edges and corners it is asked of.
    pub const ASKED: usize = 3;
    /// Of each edge, where the list of the other points of triangles there begins, from the mesh's first word, and how many they are.
    pub const ACROSS: usize = 4;
    /// Of each corner, the same of the points beside it of triangles there.
    pub const AROUND: usize = 10;
    /// How many words.
    pub const ENTRIES: usize = 16;
}
