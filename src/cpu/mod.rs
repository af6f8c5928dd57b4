//! The CPU path: complete, and the specification of the GPU's. One module a stage.

pub mod block_tridiagonal;
pub mod group;
pub mod lanes;
pub mod math;
mod move_bones;
mod predict;
pub mod rod_energies;
mod solve_contacts;
pub mod solve_rods;
mod update_velocities;

use fearless_simd::{Level, dispatch};
use group::{Group, GroupRest};
use lanes::{LANES, Lanes, OneF32, Wide};

use crate::flesh::GroupState;
use crate::layout::scratch;
use crate::step::{Stage, StepParams};

/// Which lanes the CPU steps with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneWidth {
    /// Eight chains at once, with the best instructions the machine has.
    #[default]
    Eight,
    /// One chain at a time: the specification.
    One,
}

/// Runs one stage on the chains that `lanes` stands for; host stages and the skin's are not its business.
#[inline(always)]
pub fn run_stage<L: Lanes>(lanes: L, stage: Stage, params: &StepParams, group: &mut Group<L::Scalar>)
where
    L::Scalar: PartialEq + Into<f64>,
{
    match stage {
        Stage::MoveBones => move_bones::move_bones(lanes, params, group),
        Stage::Predict => predict::predict(lanes, params, group),
        Stage::SolveRods => solve_rods::solve_rods(lanes, params, group),
        Stage::SolveContacts => solve_contacts::solve_contacts(lanes, params, group),
        Stage::UpdateVelocities => update_velocities::update_velocities(lanes, params, group),
        Stage::GatherInputs | Stage::DeformSkin | Stage::ScatterOutputs => {}
    }
}

/// A frame as the CPU runs it.
pub struct Frame<'a> {
    /// Which lanes to step with.
    pub width: LaneWidth,
    /// The instructions to use.
    pub level: Level,
    /// The frame's stages in order, each with the index of its substep.
    pub schedule: &'a [(Stage, u32)],
    /// Parameters of each substep.
    pub substeps: &'a [StepParams],
}

impl Frame<'_> {
    /// Steps one group through all substeps; chains of different groups never meet inside a frame.
    pub fn step_group(&self, rest: &GroupRest<f32>, state: &mut GroupState, scratch: &mut Vec<lanes::Entry<f32>>) {
        if scratch.len() < rest.node_count * scratch::ENTRIES {
            scratch.resize(rest.node_count * scratch::ENTRIES, [0.0; LANES]);
        }
        let mut group = Group { rest, nodes: &mut state.nodes, chains: &mut state.chains, scratch };
        match self.width {
            LaneWidth::Eight => dispatch!(self.level, simd => self.run_stages(Wide(simd), &mut group)),
            LaneWidth::One => (0..LANES).for_each(|lane| self.run_stages(OneF32(lane), &mut group)),
        }
    }

    #[inline(always)]
    fn run_stages<L: Lanes>(&self, lanes: L, group: &mut Group<L::Scalar>)
    where
        L::Scalar: PartialEq + Into<f64>,
    {
        for &(stage, substep) in self.schedule {
            run_stage(lanes, stage, &self.substeps[substep as usize], group);
        }
    }
}
