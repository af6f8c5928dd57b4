//! What a user says of a rod, and what can be wrong with it.

use glam::DVec3;

use super::bundle::{Bundle, Fibre};
use crate::layout::MAX_BONES;
use crate::{Material, Section};

/// A node of a rod at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodNode {
    /// Place at rest (m), in the space of the bones' rest poses.
    pub place: DVec3,
    /// Cross-section at rest.
    pub section: Section,
}

impl RodNode {
    /// A node with a round cross-section of a radius (m).
    pub fn disc(place: DVec3, radius: f64) -> Self {
        Self { place, section: Section::disc(radius) }
    }
}

/// What a bone holds of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holds {
    /// Its place.
    pub place: bool,
    /// Its frame.
    pub frame: bool,
    /// Its scale, at 1. Off unless asked: a bone holds place and frame, not thickness (errata 11).
    pub scale: bool,
    /// Its place across the rod only: the node slides along the path's direction through it, through the place that the
    /// bone gives it. A via point, without friction; with `frame`, a sleeve along that frame's tangent.
    pub guide: bool,
    /// Its frame turns the shortest way from where the bone has it to where the rod's path goes, as of the substep's start: the
    /// bone holds how far the rod is twisted, and lets it bend.
    pub pivot: bool,
    /// What is held goes with the bone's origin, as all that a bone holds, but turns with the bone before it along the rod:
    /// flesh of a limb that ends at the joint beyond it. Without a bone before, no difference.
    pub socket: bool,
}

impl Holds {
    /// Place and frame: a clamp.
    pub const CLAMP: Self = Self { place: true, frame: true, scale: false, guide: false, pivot: false, socket: false };
    /// Place only: a pin.
    pub const PIN: Self = Self { place: true, frame: false, scale: false, guide: false, pivot: false, socket: false };
    /// Place, and the frame's turn about the path: a tendon's end, which bends on its bone as a hinge does in any direction.
    pub const PIVOT: Self = Self { place: true, frame: true, scale: false, guide: false, pivot: true, socket: false };
    /// Place and frame, at a joint: they go with the bone's origin and turn with the bone before it along the rod.
    pub const SOCKET: Self = Self { place: true, frame: true, scale: false, guide: false, pivot: false, socket: true };
    /// Place across the rod only: a via point.
    pub const GUIDE: Self = Self { place: false, frame: false, scale: false, guide: true, pivot: false, socket: false };
}

/// A node that a bone holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Index of the node in its rod.
    pub node: usize,
    /// Index of the bone.
    pub bone: usize,
    /// What the bone holds.
    pub holds: Holds,
}

/// What a rod's last node hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hang {
    /// Index of another rod.
    pub rod: usize,
    /// Index of the node there.
    pub node: usize,
}

/// Which bones carry the nodes of a rod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Carriers<B> {
    /// The bones, in order along the rod, among them all that hold it; at most four.
    pub bones: Vec<B>,
    /// For each node, which of these: between the n-th and the next where it is n + fraction.
    pub nodes: Vec<f64>,
}

impl<B: Copy> Carriers<B> {
    /// The same with other names for the bones.
    pub fn map<C>(&self, name: impl FnMut(B) -> C) -> Carriers<C> {
        Carriers { bones: self.bones.iter().copied().map(name).collect(), nodes: self.nodes.clone() }
    }
}

/// A rod: a chain of cross-sections, straight or curved at rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RodSpec {
    /// What reports and errors call it.
    pub name: String,
    /// At least two nodes.
    pub nodes: Vec<RodNode>,
    /// What it is made of.
    pub material: Material,
    /// What each segment is made of where that is not the same everywhere (tendons); none for [`RodSpec::material`].
    /// Damping and peak stress are the rod's.
    pub segment_materials: Vec<Material>,
    /// Nodes held by bones; none leaves the rod free. From the first node on, the bone may change three times. Where the first and the
    /// last one's places are held, bones carry all that is between: into a solid they may, and into other such flesh (see
    /// [`StepConfig::passes`](crate::step::StepConfig::passes)).
    pub attachments: Vec<Attachment>,
    /// What the rod's last node hangs on, as a branch on its stem: it keeps the place and the frame that it has at rest in the
    /// section of that node, and goes out and in as the section swells. Give its nodes from its free end on.
    /// A GPU steps up to 64 chains that hang on each other, fewer where their lengths and depths are many: see
    /// [`StepError::TreesOnGpu`](crate::StepError::TreesOnGpu).
    pub hangs: Option<Hang>,
    /// Which bones carry which nodes; none for those that hold it, by arc length from one to the next.
    pub carriers: Carriers<usize>,
    /// Acceleration (m/s²) under which fascia lets a section sag by 0.06 of its radius, 0 to 10⁶: it ties each section
    /// softly to the path along which its bones carry the rod, and flesh that they let in rests shorter and thicker instead of
    /// being pressed. [`RodSpec::FASCIA`] for a muscle in a body; 0 for free flesh.
    pub fascia: f64,
    /// Whether fascia lets it slide along that path without friction, as muscle in its bed; else each section keeps its own
    /// place on it, as flesh that has grown to its bones.
    pub slides_in_bed: bool,
    /// A direction near which the sections' u axes lie, or `None` for any; without a say where there are fibres.
    pub u_axis: Option<DVec3>,
    /// `fibres[k][j]` is fibre k where it passes node j; none for a rod that is one fibre along its axis.
    pub fibres: Vec<Vec<Fibre>>,
    /// How the fibres contract.
    pub contraction: Contraction,
    /// Whether the cross-sections keep their size (rigid shape matching) instead of swelling and shrinking.
    pub rigid: bool,
    /// Gravity (m/s²) under which the rest pose is in balance: rest strains are chosen so. Zero for strains that are
    /// those of the rest pose itself, and for rods that no bone clamps or that hang on another.
    pub rest_gravity: DVec3,
}

/// How a rod's fibres contract: their tension is activation × peak stress × area × what depends on their stretch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contraction {
    /// How much of each segment contracts, 0 to 1 (belly); none for 1 everywhere. What is 0 is tendon: it bears its tension
    /// in its middle.
    pub contractile: Vec<f64>,
    /// Tension (N) of the whole muscle at full activation, the same wherever it contracts, as of fibres that go from
    /// tendon to tendon; `None` for peak stress × area, cross-section by cross-section.
    pub peak_force: Option<f64>,
    /// The stretch over rest length at which fibres are strongest, for f_a = x(2 − x) of thesis 6.4.2 with x = stretch /
    /// optimal stretch, less 5.775·(0.45 − x) where they are shorter than 0.45: they pull with nothing at 0.35; `None` for
    /// fibres that are as strong at any stretch.
    pub optimal_stretch: Option<f64>,
    /// Passive tension over peak tension, of f_p = e^(stretch − 1) − 1 beside the rod's own elasticity; 0 for none.
    pub passive: f64,
    /// The fastest shortening (rest lengths/s) for Hill's force–velocity law; `None` for tension that does not depend
    /// on it.
    pub max_velocity: Option<f64>,
    /// How much of its rest length full activation takes away from what contracts, 0 to 0.9, beside any tension.
    pub shortening: f64,
    /// How much of [`Contraction::shortening`] each segment takes, 0 to 1: where a muscle bulges although it is held at
    /// both ends. None for as much as contracts.
    pub shortens: Vec<f64>,
    /// Time constant (s) with which activation rises to excitation; 0 for at once.
    pub activation_time: f64,
    /// Time constant (s) with which activation falls to excitation; 0 for at once.
    pub deactivation_time: f64,
}

impl RodSpec {
    /// [`RodSpec::fascia`] of a muscle that keeps its bed on Earth.
    pub const FASCIA: f64 = 9.81;

    /// A straight rod of equal round sections (m) between two places (m).
    pub fn straight(name: impl Into<String>, from: DVec3, to: DVec3, segments: usize, radius: f64) -> Self {
        let nodes =
            (0..=segments).map(|j| RodNode::disc(from.lerp(to, j as f64 / segments.max(1) as f64), radius)).collect();
        Self { name: name.into(), nodes, ..Default::default() }
    }

    /// A muscle through a bundle's cross-sections, see [`Bundle::sections`].
    ///
    /// # Errors
    /// [`BuildError::Ragged`] where fibres pass different numbers of sections.
    pub fn from_bundle(name: impl Into<String>, bundle: &Bundle) -> Result<Self, BuildError> {
        let name = name.into();
        let count = bundle.section_count();
        if let Some(fibre) = bundle.fibres.iter().position(|fibre| fibre.len() != count) {
            return Err(BuildError::Ragged { rod: name, fibre, count: bundle.fibres[fibre].len(), expected: count });
        }
        let (nodes, fibres) = bundle.sections();
        Ok(Self { name, nodes, fibres, ..Default::default() })
    }

    /// Hangs the last node on a node of another rod.
    pub fn hang(self, rod: usize, node: usize) -> Self {
        Self { hangs: Some(Hang { rod, node }), ..self }
    }

    /// Holds a node by a bone; each node by one at most.
    pub fn attach(mut self, node: usize, bone: usize, holds: Holds) -> Self {
        self.attachments.push(Attachment { node, bone, holds });
        self
    }
}

/// The sizes of scale that a character may have (1).
pub const SCALE_RANGE: std::ops::RangeInclusive<f32> = 1.0e-6..=1.0e6;

/// Why flesh could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// A rod of fewer than two nodes.
    #[error("rod `{rod}`: `nodes` has {count} entries; a rod needs at least 2")]
    TooFewNodes {
        /// The rod's name.
        rod: String,
        /// How many nodes it has.
        count: usize,
    },
    /// A rod of more nodes than a kernel takes.
    #[error("rod `{rod}`: `nodes` has {count} entries; at most {most} are stepped, so split the rod")]
    TooManyNodes {
        /// The rod's name.
        rod: String,
        /// How many nodes it has.
        count: usize,
        /// How many it may have.
        most: usize,
    },
    /// A number outside what the solver takes.
    #[error("rod `{rod}`: `{field}` is {value:e}; it must be {expected}")]
    OutOfRange {
        /// The rod's name.
        rod: String,
        /// The field, with the node's index where there is one.
        field: String,
        /// The number given.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// A scale along the model's axes that leaves no body.
    #[error("the scale is {scale}; along each axis it must be finite and {:e} to {:e} in size", SCALE_RANGE.start(), SCALE_RANGE.end())]
    Scale {
        /// The scale given.
        scale: glam::Vec3,
    },
    /// A bone that holds a rod and is not among those that carry it, or not in their order.
    #[error(
        "rod `{rod}`: `attachments[{attachment}]` holds node {node} by a bone that `carriers.bones` does not come to there; list the bones in the order of the nodes"
    )]
    CarrierOrder {
        /// The rod's name.
        rod: String,
        /// Which attachment.
        attachment: usize,
        /// Its node.
        node: usize,
    },
    /// Two neighbouring nodes at one place.
    #[error(
        "rod `{rod}`: `nodes[{node}].place` and the next one are {length:e} m apart; merge nodes closer than {least:e} m"
    )]
    ShortSegment {
        /// The rod's name.
        rod: String,
        /// The segment's first node.
        node: usize,
        /// Its length (m).
        length: f64,
        /// The least length (m).
        least: f64,
    },
    /// A rod that doubles back on itself at a node.
    #[error("rod `{rod}`: `nodes[{node}]` turns back on itself; add a node so that the path bends by less than 150°")]
    Folded {
        /// The rod's name.
        rod: String,
        /// The node.
        node: usize,
    },
    /// An attachment to a node or bone that is not there.
    #[error("rod `{rod}`: `attachments[{attachment}].{field}` is {index}, but there are {count}")]
    NoSuch {
        /// The rod's name.
        rod: String,
        /// Which attachment.
        attachment: usize,
        /// `node` or `bone`.
        field: &'static str,
        /// The index given.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// Two attachments of one node, of which one would have no say.
    #[error(
        "rod `{rod}`: `attachments[{first}]` and `attachments[{second}]` both hold node {node}; join them into one"
    )]
    HeldTwice {
        /// The rod's name.
        rod: String,
        /// Which attachment.
        first: usize,
        /// Which other one.
        second: usize,
        /// The node.
        node: usize,
    },
    /// A rod that hangs on a rod or a node that is not there.
    #[error("rod `{rod}`: `hangs.{field}` is {index}, but there are {count}")]
    NoSuchStem {
        /// The rod's name.
        rod: String,
        /// `rod` or `node`.
        field: &'static str,
        /// The index given.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A rod that hangs, over others or at once, on itself.
    #[error("rods {} hang on each other in a ring; let one of them hang on a bone or be free", .rods.join(", "))]
    HangsOnItself {
        /// The names of the rods of the ring, each of which hangs on the next and the last on the first.
        rods: Vec<String>,
    },
    /// A rod whose last node hangs on a rod and is held by a bone too.
    #[error(
        "rod `{rod}`: `attachments[{attachment}]` holds the last node, which `hangs` on another rod; drop one of them"
    )]
    HeldAndHung {
        /// The rod's name.
        rod: String,
        /// Which attachment.
        attachment: usize,
    },
    /// A rod along which bones change too often.
    #[error(
        "rod `{rod}`: `attachments` go over {count} bones from its first node to its last; at most {MAX_BONES}, so split it"
    )]
    TooManyBones {
        /// The rod's name.
        rod: String,
        /// How many bones it goes over.
        count: usize,
    },
    /// Fibres, or shares that contract, that do not match the rod's nodes.
    #[error("rod `{rod}`: fibre {fibre} passes {count} sections; it must pass all {expected}")]
    Ragged {
        /// The rod's name.
        rod: String,
        /// The fibre.
        fibre: usize,
        /// How many sections it passes.
        count: usize,
        /// How many there are.
        expected: usize,
    },
    /// A list that does not match the rod's nodes.
    #[error("rod `{rod}`: `{field}` has {count} entries; give one for each of {expected} nodes, or none")]
    NodeCount {
        /// The rod's name.
        rod: String,
        /// The list.
        field: &'static str,
        /// How many entries it has.
        count: usize,
        /// How many nodes the rod has.
        expected: usize,
    },
    /// A list that does not match the rod's segments.
    #[error("rod `{rod}`: `{field}` has {count} entries; give one for each of {expected} segments, or none")]
    SegmentCount {
        /// The rod's name.
        rod: String,
        /// The list.
        field: &'static str,
        /// How many entries it has.
        count: usize,
        /// How many segments the rod has.
        expected: usize,
    },
    /// A pill that no bone has.
    #[error(transparent)]
    BonePill(#[from] super::BonePillError),
    /// A bone whose rest pose is not finite.
    #[error("`bones[{bone}]` has a rest pose that is not finite")]
    BoneNotFinite {
        /// The bone.
        bone: usize,
    },
}
