//! The CPU path: complete, and the specification of the GPU's. One module a stage.

pub mod block_tridiagonal;
pub(crate) mod carry;
pub mod check_health;
pub mod deform_skin;
pub mod fascia;
pub mod fibres;
pub mod group;
pub mod holds;
pub mod lanes;
pub mod math;
mod move_bones;
pub mod node_terms;
pub mod pose_sections;
pub mod potential;
pub mod predict;
pub mod rod_energies;
pub mod solve_contacts;
pub mod solve_rods;
pub mod strains;
pub mod update_velocities;

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd};
use group::{Group, GroupRest};
use lanes::{Half, LANES, Lanes, OneF32, Wide, apart, with_instructions};

use crate::flesh::{FleshState, GroupState};
use crate::layout::scratch;
use crate::skin::{PaletteMatrix, SectionMatrix, Skin, SkinInputs, SkinnedVertices};
use crate::step::{Stage, StepParams};
use crate::timing::{StageClock, stage_scope};
use glam::Vec3;

/// Which lanes the CPU steps with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneWidth {
    /// A whole group's chains at once, with the best instructions the machine has.
    #[default]
    Eight,
    /// A whole group's chains, with the instructions that every machine of the target has.
    EightBaseline,
    /// One chain at a time: the specification.
    One,
}

impl LaneWidth {
    fn level(self) -> Level {
        if self == Self::EightBaseline { Level::baseline() } else { Level::new() }
    }
}

/// Runs one stage on the chains that `lanes` stands for; host stages and the skin's are not its business.
#[inline(always)]
pub fn run_stage<L: Lanes>(lanes: L, stage: Stage, params: &StepParams, group: &mut Group<L::Scalar>)
where
    L::Scalar: PartialEq + Into<f64>,
{
    match stage {
        Stage::MoveBones => {
            stage_scope!(Stage::MoveBones);
            apart!(lanes, move_bones::move_bones(lanes, params, group));
        }
        Stage::Predict => {
            stage_scope!(Stage::Predict);
            apart!(lanes, predict::predict(lanes, params, group));
        }
        Stage::SolveRods => {
            stage_scope!(Stage::SolveRods);
            apart!(lanes, solve_rods::solve_rods(lanes, params, group));
        }
        Stage::SolveContacts => {
            stage_scope!(Stage::SolveContacts);
            apart!(lanes, solve_contacts::solve_contacts(lanes, params, group));
        }
        Stage::UpdateVelocities => {
            stage_scope!(Stage::UpdateVelocities);
            apart!(lanes, update_velocities::update_velocities(lanes, params, group));
        }
        Stage::CheckHealth => {
            stage_scope!(Stage::CheckHealth);
            apart!(lanes, check_health::check_health(lanes, params, group));
        }
        Stage::GatherInputs | Stage::PoseSections | Stage::DeformSkin | Stage::ScatterOutputs => {}
    }
}

/// A frame as the CPU runs it.
pub(crate) struct Frame<'a> {
    /// Which lanes to step with.
    pub width: LaneWidth,
    /// The frame's stages in order, each with the index of its substep.
    pub schedule: &'a [(Stage, u32)],
    /// Parameters of each substep.
    pub substeps: &'a [StepParams],
    /// Where stage times go.
    pub clock: &'a StageClock,
}

/// Room for a group's block factors, kept from group to group.
type Scratch = Vec<lanes::Entry<f32>>;

impl Frame<'_> {
    /// Steps groups through all substeps; chains of different groups never meet inside a frame, so threads take
    /// them in any order.
    pub fn step_groups(&self, threads: &Threads, mut groups: Vec<(&GroupRest<f32>, &mut GroupState)>) {
        threads.for_each(&mut groups, Scratch::new, |scratch, (rest, state)| self.step_group(rest, state, scratch));
    }

    fn step_group(&self, rest: &GroupRest<f32>, state: &mut GroupState, scratch: &mut Scratch) {
        if scratch.len() < rest.node_count * scratch::ENTRIES {
            scratch.resize(rest.node_count * scratch::ENTRIES, [0.0; LANES]);
        }
        let mut group =
            Group { rest, nodes: &mut state.nodes, inputs: &state.inputs, chains: &mut state.chains, scratch };
        match self.width {
            LaneWidth::Eight | LaneWidth::EightBaseline => {
                with_instructions!(self.width.level(), simd => self.run_vectors(simd, &mut group))
            }
            LaneWidth::One => self.each_stage(|stage, params| {
                (0..LANES).for_each(|lane| run_stage(OneF32(lane), stage, params, &mut group));
            }),
        }
    }

    /// Eight chains at once, or twice four, as the registers have it. A stage is done for the whole group before the
    /// next one starts, so that what it asks of the group has one answer whatever the width.
    #[inline(always)]
    fn run_vectors<S: Simd>(&self, simd: S, group: &mut Group<f32>) {
        for &(stage, substep) in self.schedule {
            let (start, params) = (self.clock.start(), &self.substeps[substep as usize]);
            if const { S::f32s::LEN < LANES } {
                run_stage(Half(simd, 0), stage, params, group);
                run_stage(Half(simd, 4), stage, params, group);
            } else {
                run_stage(Wide(simd), stage, params, group);
            }
            self.clock.stop(stage, start);
        }
    }

    fn each_stage(&self, mut run: impl FnMut(Stage, &StepParams)) {
        for &(stage, substep) in self.schedule {
            let start = self.clock.start();
            run(stage, &self.substeps[substep as usize]);
            self.clock.stop(stage, start);
        }
    }

    /// Poses the sections that the skin of one instance follows.
    pub fn pose_sections(
        &self,
        (skin, inputs, state): (&Skin, &SkinInputs, &FleshState),
        matrices: &mut Vec<SectionMatrix>,
    ) {
        stage_scope!(Stage::PoseSections);
        let start = self.clock.start();
        pose_sections::pose_sections(skin, inputs, state, matrices);
        self.clock.stop(Stage::PoseSections, start);
    }

    /// Deforms the skin of one instance.
    pub fn deform_skin(
        &self,
        threads: &Threads,
        (skin, palette, sections): (&Skin, &[PaletteMatrix], &[SectionMatrix]),
        out: &mut SkinnedVertices,
    ) {
        const CHUNK: usize = 512;
        let width = self.width;
        stage_scope!(Stage::DeformSkin);
        let start = self.clock.start();
        out.positions.resize(skin.vertices.len(), Vec3::ZERO);
        out.normals.resize(skin.vertices.len(), Vec3::ZERO);
        let mut chunks: Vec<_> = skin
            .vertices
            .chunks(CHUNK)
            .zip(out.positions.chunks_mut(CHUNK).zip(out.normals.chunks_mut(CHUNK)))
            .collect();
        threads.for_each(
            &mut chunks,
            || (),
            |(), (vertices, (positions, normals))| {
                deform_skin::deform_vertices(width, skin, (palette, sections), vertices, (positions, normals));
            },
        );
        self.clock.stop(Stage::DeformSkin, start);
    }
}

/// The threads that the CPU steps with.
pub(crate) struct Threads {
    #[cfg(feature = "parallel")]
    pool: Option<rayon::ThreadPool>,
    count: usize,
}

impl Threads {
    /// `count` threads; 0 for as many as there are cores.
    pub fn new(count: usize) -> Self {
        #[cfg(feature = "parallel")]
        // Without threads to be had, one goes on alone.
        let pool = if count == 1 { None } else { rayon::ThreadPoolBuilder::new().num_threads(count).build().ok() };
        Self {
            #[cfg(feature = "parallel")]
            pool,
            count,
        }
    }

    /// The count asked for.
    pub fn count(&self) -> usize {
        self.count
    }

    fn for_each<T: Send, S>(
        &self,
        items: &mut [T],
        init: impl Fn() -> S + Sync + Send,
        run: impl Fn(&mut S, &mut T) + Sync + Send,
    ) {
        #[cfg(feature = "parallel")]
        if let (Some(pool), true) = (&self.pool, items.len() > 1) {
            use rayon::prelude::*;
            pool.install(|| items.par_iter_mut().for_each_init(&init, &run));
            return;
        }
        let mut scratch = init();
        items.iter_mut().for_each(|item| run(&mut scratch, item));
    }
}
