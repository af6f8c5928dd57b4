//! The whole frame on one screen.
//!
//! [`FRAME`] is the order of the stages, written once: the CPU runner, the GPU encoder and the profiler walk it.
//! A stage's name is its WGSL file, its CPU module, its pipeline, its profiler scope and its timestamp label.

use glam::DVec3;

/// A stage of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Host: bones, activations and teleports become chain rows.
    GatherInputs,
    /// Bones interpolated through the frame; targets of held nodes.
    MoveBones,
    /// Inertial prediction and the first iterate.
    Predict,
    /// One block-tridiagonal Gauss–Newton solve for every chain.
    SolveRods,
    /// Contact terms for the next solve.
    SolveContacts,
    /// Velocities from the substep's motion.
    UpdateVelocities,
    /// How far each cross-section has gone from where its bones alone would have it.
    PoseSections,
    /// Linear blend skinning and cross-sections move the vertices.
    DeformSkin,
    /// Host: results to the world.
    ScatterOutputs,
}

/// An entry of the frame's table.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    /// Runs once where it stands.
    Run(Stage),
    /// Runs `substeps` times.
    Substeps(&'static [Entry]),
    /// Runs `iterations` times.
    Iterations(&'static [Entry]),
}

use Entry::{Iterations, Run, Substeps};

/// The frame.
pub const FRAME: &[Entry] = &[
    Run(Stage::GatherInputs),
    Substeps(&[
        Run(Stage::MoveBones),
        Run(Stage::Predict),
        Iterations(&[Run(Stage::SolveRods), Run(Stage::SolveContacts)]),
        Run(Stage::UpdateVelocities),
    ]),
    Run(Stage::PoseSections),
    Run(Stage::DeformSkin),
    Run(Stage::ScatterOutputs),
];

impl Stage {
    /// All stages, in the order in which they first run.
    pub const ALL: [Self; 9] = [
        Self::GatherInputs,
        Self::MoveBones,
        Self::Predict,
        Self::SolveRods,
        Self::SolveContacts,
        Self::UpdateVelocities,
        Self::PoseSections,
        Self::DeformSkin,
        Self::ScatterOutputs,
    ];

    /// The stage's one name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::GatherInputs => "gather_inputs",
            Self::MoveBones => "move_bones",
            Self::Predict => "predict",
            Self::SolveRods => "solve_rods",
            Self::SolveContacts => "solve_contacts",
            Self::UpdateVelocities => "update_velocities",
            Self::PoseSections => "pose_sections",
            Self::DeformSkin => "deform_skin",
            Self::ScatterOutputs => "scatter_outputs",
        }
    }
}

/// How a frame is stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepConfig {
    /// Substeps a frame, at least 1.
    pub substeps: u32,
    /// Solves a substep, at least 1.
    pub iterations: u32,
    /// Solves that a chain may take beyond those in a substep whose solve was led astray, at least 1: where bones jerk
    /// and motion is wild. A calm chain takes none of them.
    pub retries: u32,
    /// Gravity (m/s²).
    pub gravity: DVec3,
    /// How time is integrated.
    pub integrator: Integrator,
    /// Threads on the CPU; 0 takes all there are.
    pub threads: usize,
}

impl Default for StepConfig {
    fn default() -> Self {
        Self {
            substeps: 4,
            iterations: 1,
            retries: 2,
            gravity: DVec3::new(0.0, -9.81, 0.0),
            integrator: Integrator::ImplicitEuler,
            threads: 0,
        }
    }
}

/// How time is integrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// First order, damps fast motion; a spinning rod loses (ωh)² of its momentum a substep.
    #[default]
    ImplicitEuler,
    /// Second-order backward differences (BDF2), where implicit Euler's damping shows. It needs equal steps: the first
    /// substep after `dt` or `substeps` change is an implicit Euler one.
    SecondOrder,
}

/// What every stage of a substep knows; the uniform of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct StepParams {
    /// Gravity (m/s²).
    pub gravity: [f32; 3],
    /// The substep (s).
    pub h: f32,
    /// One over the substep (1/s).
    pub inv_h: f32,
    /// This substep over the last one.
    pub h_over_last_h: f32,
    /// How far through the frame's bone motion this substep ends, 0 to 1.
    pub alpha: f32,
    /// 1 for the second-order step.
    pub second_order: f32,
    /// 1 in the frame's first substep.
    pub first_substep: u32,
    /// Solves that a chain may take beyond those of the schedule.
    pub retries: u32,
    /// How many groups there are.
    pub group_count: u32,
    /// How many skin blocks there are.
    pub skin_block_count: u32,
    /// How many section blocks there are.
    pub section_block_count: u32,
    /// To a multiple of 16 bytes, as a uniform has it.
    pub padding_a: u32,
    /// See [`Self::padding_a`].
    pub padding_b: u32,
    /// See [`Self::padding_a`].
    pub padding_c: u32,
}

impl StepParams {
    /// The parameters of one substep of a frame of `dt` (s); `last_h` is the substep before the frame (s), or 0.
    pub fn new(config: &StepConfig, dt: f64, substep: u32, last_h: f64) -> Self {
        let h = dt / f64::from(config.substeps);
        let known = last_h > 0.0;
        let last_h = if substep == 0 && known { last_h } else { h };
        // Backward differences need equal steps.
        let uniform = (h - last_h).abs() <= 1.0e-6 * h;
        let second_order = config.integrator == Integrator::SecondOrder && uniform;
        Self {
            gravity: config.gravity.as_vec3().to_array(),
            h: h as f32,
            inv_h: (1.0 / h) as f32,
            h_over_last_h: (h / last_h) as f32,
            alpha: if substep + 1 == config.substeps {
                1.0
            } else {
                (f64::from(substep + 1) / f64::from(config.substeps)) as f32
            },
            second_order: if second_order { 1.0 } else { 0.0 },
            first_substep: u32::from(substep == 0),
            retries: config.retries,
            ..Self::default()
        }
    }
}

/// The frame's stages in order, each with the index of its substep (0 outside of substeps).
pub fn schedule(config: &StepConfig) -> Vec<(Stage, u32)> {
    fn walk(config: &StepConfig, table: &[Entry], substep: u32, into: &mut Vec<(Stage, u32)>) {
        for entry in table {
            match *entry {
                Run(stage) => into.push((stage, substep)),
                Substeps(inner) => (0..config.substeps).for_each(|substep| walk(config, inner, substep, into)),
                Iterations(inner) => (0..config.iterations).for_each(|_| walk(config, inner, substep, into)),
            }
        }
    }
    let mut stages = Vec::new();
    walk(config, FRAME, 0, &mut stages);
    stages
}
