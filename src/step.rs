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
    /// Chains that are where flesh cannot be are laid anew along their bones.
    CheckHealth,
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
    Run(Stage::CheckHealth),
    Run(Stage::PoseSections),
    Run(Stage::DeformSkin),
    Run(Stage::ScatterOutputs),
];

impl Stage {
    /// All stages, in the order in which they first run.
    pub const ALL: [Self; 10] = [
        Self::GatherInputs,
        Self::MoveBones,
        Self::Predict,
        Self::SolveRods,
        Self::SolveContacts,
        Self::UpdateVelocities,
        Self::CheckHealth,
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
            Self::CheckHealth => "check_health",
            Self::PoseSections => "pose_sections",
            Self::DeformSkin => "deform_skin",
            Self::ScatterOutputs => "scatter_outputs",
        }
    }
}

/// The longest frame (s) that [`StepConfig::substeps`] are for. A longer one has more, so that a substep stays as short.
pub const LONGEST_FRAME: f64 = 1.0 / 30.0;

/// How many times [`StepConfig::substeps`] a frame has at most. Of the time that these leave out nothing is simulated: the
/// flesh goes with its bones.
pub const MOST_SPLIT: u32 = 8;

/// The most that [`StepConfig::retries`] may be.
pub const MOST_RETRIES: u32 = 64;

/// How a frame is stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepConfig {
    /// Substeps of a frame of at most [`LONGEST_FRAME`], at least 1; see [`StepConfig::split`].
    pub substeps: u32,
    /// Solves a substep, at least 1.
    pub iterations: u32,
    /// Solves that a chain may take beyond each solve of the schedule that was led astray or went far, 1 to
    /// [`MOST_RETRIES`]: where bones jerk and motion is wild. A calm chain takes none of them.
    pub retries: u32,
    /// Gravity (m/s²).
    pub gravity: DVec3,
    /// How time is integrated.
    pub integrator: Integrator,
    /// By how many lengths the root or a bone may go in one frame beyond what lies between standing still and going on as
    /// in the last one; farther is a jump, and taken as a teleport. Above 0; infinity takes nothing as a jump. The root's
    /// length is the flesh's size at rest; a bone's, against the root, that of the longest chain on it, and at least 0.15
    /// of the flesh's size. Frames longer than [`LONGEST_FRAME`] have as many times the lengths.
    pub jump: f64,
    /// Threads on the CPU; 0 takes all there are.
    pub threads: usize,
}

impl Default for StepConfig {
    fn default() -> Self {
        Self {
            substeps: 4,
            iterations: 1,
            retries: 3,
            gravity: DVec3::new(0.0, -9.81, 0.0),
            integrator: Integrator::ImplicitEuler,
            jump: 1.0,
            threads: 0,
        }
    }
}

/// What became of a frame's time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameReport {
    /// Substeps taken.
    pub substeps: u32,
    /// Time that the flesh was simulated for (s), the last part of the frame.
    pub simulated: f64,
    /// Time that was asked for (s). Bones move through all of it.
    pub asked: f64,
}

impl StepConfig {
    /// How a frame of `dt` (s) is split: into [`StepConfig::substeps`] up to [`LONGEST_FRAME`], into as many more as it is
    /// longer, and into [`MOST_SPLIT`] times as many at most.
    pub fn split(&self, dt: f64) -> FrameReport {
        let most = self.substeps.saturating_mul(MOST_SPLIT);
        let simulated = dt.min(f64::from(MOST_SPLIT) * LONGEST_FRAME);
        // A frame of a whole number of substeps has no other for rounding.
        let wanted = f64::from(self.substeps) * (simulated / LONGEST_FRAME) * (1.0 - 1.0e-9);
        FrameReport { substeps: (wanted.ceil() as u32).clamp(self.substeps, most), simulated, asked: dt }
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
    /// All substeps of the frame (s).
    pub frame: f32,
    /// How many groups there are.
    pub group_count: u32,
    /// How many skin blocks there are.
    pub skin_block_count: u32,
    /// How many section blocks there are.
    pub section_block_count: u32,
    /// Fills 64 bytes.
    pub padding: [u32; 2],
}

impl StepParams {
    /// The parameters of one substep of a frame of `dt` (s), split as [`StepConfig::split`] says; `last_h` is the substep
    /// before the frame (s), or 0.
    pub fn new(config: &StepConfig, dt: f64, substep: u32, last_h: f64) -> Self {
        let FrameReport { substeps, simulated, .. } = config.split(dt);
        let h = simulated / f64::from(substeps);
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
            alpha: if substep + 1 == substeps { 1.0 } else { (f64::from(substep + 1) / f64::from(substeps)) as f32 },
            second_order: if second_order { 1.0 } else { 0.0 },
            first_substep: u32::from(substep == 0),
            retries: config.retries,
            frame: simulated as f32,
            group_count: 0,
            skin_block_count: 0,
            section_block_count: 0,
            padding: [0; 2],
        }
    }
}

/// The stages of a frame of `substeps` and so many `iterations` a substep in order, each with the index of its substep (0
/// outside of substeps).
pub fn schedule(substeps: u32, iterations: u32) -> Vec<(Stage, u32)> {
    fn walk(counts: [u32; 2], table: &[Entry], substep: u32, into: &mut Vec<(Stage, u32)>) {
        let [substeps, iterations] = counts;
        for entry in table {
            match *entry {
                Run(stage) => into.push((stage, substep)),
                Substeps(inner) => (0..substeps).for_each(|substep| walk(counts, inner, substep, into)),
                Iterations(inner) => (0..iterations).for_each(|_| walk(counts, inner, substep, into)),
            }
        }
    }
    let mut stages = Vec::new();
    walk([substeps, iterations], FRAME, 0, &mut stages);
    stages
}
