//! A frame: what it asks for, its substeps and stages in order, and how the CPU runs them.

use super::instance::InstanceState;
use super::{ActiveBackend, Health, Instance, Physics, StepError, instances};
use crate::cpu::{Frame, Threads};
use crate::flesh::{Flesh, FleshState, FrameInputs};
use crate::step::{FrameReport, MOST_RETRIES, Stage, StepConfig, StepParams, schedule};
use crate::timing::{StageClock, stage_scope};
use crate::{HalfSpace, Pose};

impl Physics {
    /// Steps all flesh by `dt` (s), bones moving to the poses last set.
    ///
    /// A `dt` longer than [`LONGEST_FRAME`](crate::step::LONGEST_FRAME) has more substeps, and [`Physics::last_frame`] says how
    /// many. A chain that is where flesh cannot be is laid anew along its bones, a root or bone that jumps is taken as a
    /// teleport, and both are counted and named in the instance's [`Health`](super::Health); the others go on.
    ///
    /// # Errors
    /// A [`StepError`] where the time step, the counts, gravity or a plane are out of range, and nothing moved; or what the
    /// GPU says.
    pub fn step_flesh(&mut self, dt: f64) -> Result<(), StepError> {
        self.check_step(dt)?;
        match &self.backend {
            ActiveBackend::Cpu => self.frame_on_cpu(dt),
            #[cfg(feature = "gpu")]
            ActiveBackend::Gpu(_) => self.step_on_gpu(dt)?,
        }
        Ok(())
    }

    pub(crate) fn check_step(&self, dt: f64) -> Result<(), StepError> {
        check_time_step(dt)?;
        let StepConfig { substeps, iterations, retries, .. } = self.config;
        for (count, name) in [(substeps, "substeps"), (iterations, "iterations"), (retries, "retries")] {
            if count == 0 {
                return Err(StepError::ZeroCount(name));
            }
        }
        if retries > MOST_RETRIES {
            return Err(StepError::ManyRetries { given: retries, most: MOST_RETRIES });
        }
        if self.config.jump.is_nan() || self.config.jump <= 0.0 {
            return Err(StepError::BadJump(self.config.jump));
        }
        if !(self.config.gravity.is_finite() && self.config.gravity.length() < 1.0e6) {
            return Err(StepError::BadGravity(self.config.gravity));
        }
        let sound = |plane: &HalfSpace| {
            let unit = (plane.normal.length() - 1.0).abs() < 1.0e-3;
            unit && plane.offset.is_finite() && (0.0..=1.0e3).contains(&plane.friction)
        };
        match self.planes.iter().position(|plane| !sound(plane)) {
            Some(plane) => Err(StepError::BadPlane(plane)),
            None => Ok(()),
        }
    }

    /// Counts a frame of these substeps.
    pub(crate) fn stepped(&mut self, dt: f64, substeps: &[StepParams]) {
        let second_order = substeps.last().map_or(0.0, |params| f64::from(params.second_order));
        self.last_frame = self.config.split(dt);
        self.last_substep = self.last_frame.simulated / f64::from(self.last_frame.substeps);
        self.last_solve_step = self.last_substep / (1.0 + 0.5 * second_order);
        self.step += 1;
    }

    /// Parameters of each substep of a frame.
    pub(crate) fn substep_params(&self, dt: f64) -> Vec<StepParams> {
        let substeps = self.config.split(dt).substeps;
        (0..substeps).map(|i| StepParams::new(&self.config, dt, i, self.last_substep)).collect()
    }

    /// The stages in order of a frame of so many substeps, each with the index of its substep.
    pub(crate) fn frame_schedule(&self, substeps: &[StepParams]) -> Vec<(Stage, u32)> {
        let mut stages = schedule(substeps.len() as u32, self.config.iterations);
        if let Some(end) = self.last_stage.and_then(|last| stages.iter().position(|(stage, _)| *stage == last)) {
            stages.truncate(end + 1);
        }
        stages
    }

    fn frame_on_cpu(&mut self, dt: f64) {
        if self.threads.count() != self.config.threads {
            self.threads = Threads::new(self.config.threads);
        }
        let clock = StageClock::new(self.measure_stages);
        let start = clock.start();
        self.activate(dt);
        self.gather_inputs(dt);
        clock.stop(Stage::GatherInputs, start);
        let substeps = self.substep_params(dt);
        self.step_on_cpu(&substeps, &clock);
        self.stepped(dt, &substeps);
        let start = clock.start();
        self.scatter_outputs();
        clock.stop(Stage::ScatterOutputs, start);
        self.stage_times = clock.take();
    }

    /// Part of stage `gather_inputs`: muscles follow what excites them.
    pub(crate) fn activate(&mut self, dt: f64) {
        instances(&mut self.slots).for_each(|instance| instance.activate(dt));
    }

    fn gather_inputs(&mut self, dt: f64) {
        stage_scope!(Stage::GatherInputs);
        let frame = HostFrame { planes: &self.planes, time: self.config.split(dt), jump: self.config.jump };
        for Instance { flesh, state, skin_inputs, .. } in instances(&mut self.slots) {
            let InstanceState { nodes, bones, root, activations, health, .. } = state;
            frame.gather_inputs(flesh, nodes, (bones, root, activations), health);
            skin_inputs.gather(flesh, &state.nodes, &state.bones, &state.root);
            skin_inputs.palette.clone_from(&state.palette);
        }
    }

    fn step_on_cpu(&mut self, substeps: &[StepParams], clock: &StageClock) {
        let schedule = self.frame_schedule(substeps);
        let frame = Frame { width: self.lane_width, schedule: &schedule, substeps, clock };
        let groups = instances(&mut self.slots)
            .flat_map(|instance| instance.flesh.groups.iter().zip(instance.state.nodes.groups.iter_mut()))
            .collect();
        frame.step_groups(&self.threads, groups);
        for Instance { flesh, state, .. } in instances(&mut self.slots) {
            state.health.follow(flesh, &state.nodes);
        }
        let scheduled = |wanted| schedule.iter().any(|(stage, _)| *stage == wanted);
        if !scheduled(Stage::PoseSections) {
            return;
        }
        for instance in instances(&mut self.slots) {
            let Instance { skin, state, skin_inputs, section_matrices, vertices, .. } = instance;
            frame.pose_sections((skin, skin_inputs, &state.nodes), section_matrices);
            if scheduled(Stage::DeformSkin) {
                frame.deform_skin(&self.threads, (skin, &skin_inputs.palette, section_matrices), vertices);
            }
        }
    }

    fn scatter_outputs(&mut self) {
        stage_scope!(Stage::ScatterOutputs);
        let step = self.step;
        for instance in instances(&mut self.slots) {
            instance.vertices.step = step;
        }
    }
}

/// What all instances are told of a frame alike.
pub(crate) struct HostFrame<'a> {
    /// Contact planes.
    pub planes: &'a [HalfSpace],
    /// How it is split.
    pub time: FrameReport,
    /// [`StepConfig::jump`](crate::step::StepConfig::jump).
    pub jump: f64,
}

impl HostFrame<'_> {
    /// Part of stage `gather_inputs`: one instance's input rows, and what of it jumped.
    pub fn gather_inputs(
        &self,
        flesh: &Flesh,
        nodes: &mut FleshState,
        (bones, root, activations): (&[Pose], &Pose, &[f32]),
        health: &mut Health,
    ) {
        let Self { planes, time: frame, jump } = *self;
        let mut jumps = 0;
        nodes.gather_inputs(flesh, &FrameInputs { bones, root, activations, planes, frame, jump }, |bone| {
            health.jumped(bone);
            jumps = 1;
        });
        health.teleports += jumps;
    }
}

fn check_time_step(dt: f64) -> Result<(), StepError> {
    if (1.0e-6..=10.0).contains(&dt) { Ok(()) } else { Err(StepError::BadTimeStep(dt)) }
}
