//! What can go wrong while stepping.

use crate::layout::GROUPS_TOGETHER;

/// A muscle's name that no chain has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no muscle `{muscle}`; there are: {}", known.join(", "))]
pub struct UnknownMuscle {
    /// The name asked for.
    pub muscle: String,
    /// The names that there are.
    pub known: Vec<String>,
}

/// What can go wrong while stepping.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A time step out of range.
    #[error("dt is {0} s; it must be between 10⁻⁶ and 10 s (skip the step instead of passing 0)")]
    BadTimeStep(f64),
    /// Zero substeps, iterations or retries.
    #[error("config.{0} is 0; it must be at least 1")]
    ZeroCount(&'static str),
    /// More retries than a chain can have any use for.
    #[error("config.retries is {given}; it must be at most {most}")]
    ManyRetries {
        /// How many were asked for.
        given: u32,
        /// How many there may be.
        most: u32,
    },
    /// More passes than chains that touch have any use for.
    #[error("config.passes is {given}; it must be at most {most}")]
    ManyPasses {
        /// How many were asked for.
        given: u32,
        /// How many there may be.
        most: u32,
    },
    /// More solves in a substep and substeps in a frame than any scene has use for.
    #[error(
        "config.substeps × config.iterations, on a GPU times config.passes + 1 where that is above 1, is {given}; it must be at most \
         {most}"
    )]
    ManySolves {
        /// How many were asked for.
        given: u64,
        /// How many there may be.
        most: u64,
    },
    /// A handle whose instance was removed. A handle of another `Physics` may name one of this one's.
    #[error("the flesh handle names no instance; it was removed")]
    NoSuchFlesh,
    /// A bone pose count that does not match.
    #[error("{given} bone poses were given, but this flesh hangs on {expected}")]
    BoneCount {
        /// How many were given.
        given: usize,
        /// How many there are.
        expected: usize,
    },
    /// A root pose that is not finite.
    #[error("the root's pose is not finite, beyond 10⁹ m, or its rotation is no unit quaternion")]
    RootNotFinite,
    /// A palette of the wrong length.
    #[error("{given} palette matrices were given, but this skin has {expected}")]
    PaletteLength {
        /// How many were given.
        given: usize,
        /// How many there are.
        expected: usize,
    },
    /// A chain that is not there.
    #[error("there is no chain {chain}; this flesh has {count}")]
    NoSuchChain {
        /// The chain asked for.
        chain: usize,
        /// How many there are.
        count: usize,
    },
    /// A muscle that is not there.
    #[error(transparent)]
    UnknownMuscle(#[from] UnknownMuscle),
    /// A node that is not there.
    #[error("there is no node {node} in chain {chain}; it has {count}")]
    NoSuchNode {
        /// The chain.
        chain: usize,
        /// The node asked for.
        node: usize,
        /// How many there are.
        count: usize,
    },
    /// Lengths that nothing can jump by.
    #[error("config.jump is {0} lengths; it must be above 0 (infinity takes nothing as a jump)")]
    BadJump(f64),
    /// A time or a share that nothing sleeps by.
    #[error("config.{name} is {value}; it must be {allowed}")]
    BadSleep {
        /// Of the two fields of the configuration.
        name: &'static str,
        /// What it is.
        value: f64,
        /// What it may be.
        allowed: &'static str,
    },
    /// A gravity that is not finite, or beyond 10⁶ m/s².
    #[error("config.gravity is {0} m/s²; it must be finite and below 10⁶")]
    BadGravity(glam::DVec3),
    /// A force, an impulse, an acceleration or a motion that is not finite, or too large.
    #[error("{what} is {value}; it must be finite and no longer than {most:e}")]
    BadPush {
        /// Which it is, with its unit.
        what: &'static str,
        /// What was given.
        value: glam::DVec3,
        /// How long it may be.
        most: f64,
    },
    /// A coefficient of friction that no flesh has.
    #[error(
        "collisions.friction.value is {0}; it must be between 0 and 1000, or friction None for what is touched to say"
    )]
    BadFriction(f32),
    /// A coefficient of restitution is out of range.
    #[error(
        "collisions.restitution.value is {0}; it must be between 0 and 1, or restitution None for what is touched to say"
    )]
    BadRestitution(f32),
    /// A plane that is none.
    #[error(
        "planes[{0}] needs a unit normal, an offset and a centre within 10¹² m, a friction between 0 and 1000, a restitution between 0 and 1, and at most 10⁴ m/s and rad/s"
    )]
    BadPlane(usize),
    /// A solid that is none.
    #[error(
        "solids[{0}] needs a shape that is one (Shape::check), a finite pose within 10⁹ m, a border and friction between 0 and 1000, dents between 0 and 1, and at most 10⁴ m/s and rad/s"
    )]
    BadSolid(usize),
    /// A form that flesh touches on the CPU alone: a mesh of more than 2²⁴ triangles.
    #[error(
        "solid {solid} of Physics::all_solids is a {form} of more than 2²⁴ primitives, which flesh touches on the CPU alone; split it, leave it out, or step on the CPU"
    )]
    SolidOnGpu {
        /// Its place in [`Physics::all_solids`](crate::Physics::all_solids).
        solid: usize,
        /// What it is.
        form: &'static str,
    },
    /// More chains hang on each other than a GPU steps together; chains of like depth and length in one flesh, eight a group, count as
    /// if they did.
    #[error(
        "`{chain}` and what hangs on it, or is in groups of eight with that, are {chains} chains in more than {GROUPS_TOGETHER} groups, the most that a GPU steps together: hang fewer on each other, give each tree flesh of its own, or step on the CPU"
    )]
    TreesOnGpu {
        /// The first of these chains.
        chain: String,
        /// How many there are.
        chains: usize,
    },
    /// A skin whose vertex names a matrix, section, node, chain or bone that is not there; one past the last vertex for
    /// a section that none follows, or where there are not as many [`Skin::rest_linear`](crate::Skin::rest_linear) as vertices.
    #[error("vertex {0} of the skin names a palette matrix, section, node, chain or bone that is not there")]
    BadSkin(usize),
    /// A skin's morph target that cannot be.
    #[error(
        "morph target {0} of the skin has a weight beyond 1000, or rows that are not by ascending vertices of the skin, or beyond 10⁹ m"
    )]
    BadMorphTarget(usize),
    /// Morph weights of the wrong number.
    #[error("{given} morph weights were given, but this skin has {expected} morph targets")]
    MorphCount {
        /// How many were given.
        given: usize,
        /// How many there are.
        expected: usize,
    },
    /// A morph weight that makes no sense.
    #[error(
        "the weight of morph target {morph} is {weight}; it must be between -1000 and 1000 (1 is all of the target)"
    )]
    BadMorphWeight {
        /// The target.
        morph: usize,
        /// What was given.
        weight: f32,
    },
    /// A morph target that is not there.
    #[error("there is no morph target `{morph}`; there are: {}", known.join(", "))]
    UnknownMorph {
        /// The name asked for.
        morph: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A network that is for another mesh.
    #[cfg(feature = "neural")]
    #[error("the network moves {network} vertices, the skin has {skin}: it is of another mesh; train it on this one")]
    NetworkVertices {
        /// How many the network moves.
        network: usize,
        /// How many the skin has.
        skin: usize,
    },
    /// Joints or muscles of the wrong number.
    #[cfg(feature = "neural")]
    #[error("{given} {what} were given, but the network reads {expected}")]
    NetworkInputs {
        /// Joints or muscles.
        what: &'static str,
        /// How many were given.
        given: usize,
        /// How many it reads.
        expected: usize,
    },
    /// A skin that blends dual quaternions, where what networks add was learnt beneath linear blending.
    #[cfg(feature = "neural")]
    #[error(
        "the skin blends dual quaternions, but networks are trained for linear blending: set Skin::blending (FleshOptions::blending of a character) to Linear, or leave the network out"
    )]
    NetworkBlending,
    /// An instance without a network.
    #[cfg(feature = "neural")]
    #[error("the flesh has no network; give it one with Physics::set_network")]
    NoNetwork,
    /// A time that nothing passes in.
    #[error("a blend of {0} s; it must be between 0 (at once) and 1000 s")]
    BadBlend(f64),
    /// An activation that makes no sense.
    #[error("activation {0}; it must be between 0 and 10 (1 is the material's peak stress)")]
    BadActivation(f32),
    /// A bone pose that is not finite.
    #[error("the pose of bone {0} is not finite, beyond 10⁹ m, or its rotation is no unit quaternion")]
    BoneNotFinite(usize),
    /// Recording into an encoder without a GPU.
    #[cfg(feature = "gpu")]
    #[error("this Physics steps on the CPU; use step_flesh, or make it with Backend::Gpu or with_device")]
    NotOnGpu,
    /// The GPU failed; [`Physics::switch_backend`](crate::Physics::switch_backend) continues from the last state that
    /// arrived.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] crate::gpu::GpuError),
}
