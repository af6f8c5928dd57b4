//! What the kernels of a substep are told.

use super::{FrameReport, Integrator, StepConfig};

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
    /// 1 for the second-order step, else 0.
    pub second_order: f32,
    /// 1 in the frame's first substep.
    pub first_substep: u32,
    /// Solves that a chain may take beyond those of the schedule.
    pub retries: u32,
    /// All substeps of the frame (s).
    pub frame: f32,
    /// How many groups are stepped.
    pub group_count: u32,
    /// How many skin blocks are at work.
    pub skin_block_count: u32,
    /// How many section blocks are at work.
    pub section_block_count: u32,
    /// Which of the substep's solves this is.
    pub iteration: u32,
    /// How many half-spaces there are.
    pub plane_count: u32,
    /// How many instances there are, places of those that are gone included.
    pub instance_count: u32,
    /// Which recording of a frame this is.
    pub recording: u32,
    /// How many groups, after those that are stepped, only go with their bones.
    pub carried_count: u32,
    /// How many solves a substep has.
    pub iterations: u32,
    /// How many passes bring chains together that meet; 0 where none may.
    pub passes: u32,
    /// Which of them this is; as many as there are once all have been.
    pub settling: u32,
    /// How many places for segments there are.
    pub segment_count: u32,
    /// How many slots the table of the grid's cells has.
    pub cell_count: u32,
    /// For how many pairs there is room.
    pub pair_capacity: u32,
    /// Which contact row is the first of meetings.
    pub meet_base: u32,
    /// The first word among scratch rows of what the last solve's matrix has of contact rows; before it lie those that say which of
    /// meetings' rows press.
    pub solved_base: u32,
    /// 1 where pairs were found in the recording before this one, of which those remember of whose instances the host has not told
    /// the state in this one; 2 where it has told what all pairs remember; else 0.
    pub remembers: u32,
    /// How many blocks of vertices morph targets move.
    pub morph_block_count: u32,
    /// How many instances have networks at work.
    pub network_count: u32,
    /// How many groups of these there are, whose vertices are moved together.
    pub network_group_count: u32,
    /// How many blocks of vertices networks move, those of a group once.
    pub network_block_count: u32,
    /// How many of the groups that are stepped, the first, are of chains that neither hang on others nor bear them.
    pub lone_count: u32,
    /// How many levels of chains that hang on chains the others have.
    pub level_count: u32,
    /// How many solids there are on a GPU.
    pub solid_count: u32,
    /// The first word of what is said of them.
    pub solid_base: u32,
    /// 1 where flesh bounces off anything, else 0.
    pub bounces: u32,
    /// After how long flesh sleeps that stands still (s).
    pub sleep_after: f32,
    /// By which share of its radius a node may go and stand still nonetheless.
    pub sleep_within: f32,
    /// How many boxes there are on a GPU within which something changes.
    pub stir_count: u32,
}

impl StepParams {
    /// Whether reactions are asked for: what is read of them is the frame's last substep's.
    pub fn asks_for_reactions(&self) -> bool {
        self.alpha == 1.0
    }

    /// Which share of the frame this substep is.
    pub fn substep_share(&self) -> f32 {
        self.h / self.frame
    }

    /// The parameters of one substep of a frame of `dt` (s), split as [`StepConfig::split`] says; `last_h` is the substep
    /// before the frame (s), or 0.
    pub fn new(config: &StepConfig, dt: f64, substep: u32, last_h: f64) -> Self {
        let FrameReport { substeps, simulated, .. } = config.split(dt);
        let h = simulated / f64::from(substeps);
        let known = last_h > 0.0;
        let last_h = if substep == 0 && known { last_h } else { h };
        // Backward differences need equal steps.
        let uniform = (h - last_h).abs() <= 1.0e-6 * h;
        Self {
            gravity: config.gravity.as_vec3().to_array(),
            h: h as f32,
            inv_h: (1.0 / h) as f32,
            h_over_last_h: (h / last_h) as f32,
            alpha: if substep + 1 == substeps { 1.0 } else { (f64::from(substep + 1) / f64::from(substeps)) as f32 },
            second_order: match config.integrator {
                Integrator::ImplicitEuler => 0.0,
                Integrator::SecondOrder => f32::from(uniform),
            },
            first_substep: u32::from(substep == 0),
            retries: config.retries,
            frame: simulated as f32,
            sleep_after: config.sleep_after as f32,
            sleep_within: config.sleep_within as f32,
            ..Self::default()
        }
    }
}

/// How many slots a solve has.
pub(super) fn settlings(passes: u32) -> u32 {
    if passes > 0 { passes + 1 } else { 1 }
}

/// The parameters of each slot of [`schedule`](super::schedule), for a frame of `dt` (s) after a substep of `last_h` (s), or 0.
pub fn params_of(config: &StepConfig, dt: f64, last_h: f64, passes: u32) -> Vec<StepParams> {
    let iterations = config.iterations;
    let substeps = 0..config.split(dt).substeps;
    let of = |substep| {
        let params = StepParams { iterations, passes, ..StepParams::new(config, dt, substep, last_h) };
        let solves = (0..iterations).map(move |iteration| StepParams { iteration, ..params });
        solves.flat_map(move |params| (0..settlings(passes)).map(move |settling| StepParams { settling, ..params }))
    };
    substeps.flat_map(of).collect()
}
