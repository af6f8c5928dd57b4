//! A frame: what is asked of the backend, and what is known afterwards.

use super::sleep::Changes;
use super::{ActiveBackend, Named, Physics};
#[cfg(feature = "gpu")]
use crate::Solid;
use crate::backend::{Frame, HostFrame, SegmentPair};
use crate::cpu::solids::SolidScene;
use crate::instances::{Instance, Instances};
use crate::layout::GROUPS_TOGETHER;
use crate::step::{
    FrameReport, MOST_GRAVITY, MOST_PASSES, MOST_RETRIES, MOST_SOLVES, Scheduled, Stage, StepConfig, StepParams, Walk,
    params_of, schedule,
};
use crate::{HalfSpace, StepError};

impl Physics {
    /// Steps all flesh by `dt` (s), bones moving to the poses last set.
    ///
    /// A `dt` longer than [`LONGEST_FRAME`](crate::step::LONGEST_FRAME) has more substeps, and [`Physics::last_frame`] says how
    /// many. A chain that is where flesh cannot be is laid anew along its bones, a root or bone that jumps is taken as a
    /// teleport, and both are counted and named in the instance's [`Health`](crate::Health); the others go on.
    ///
    /// # Errors
    /// A [`StepError`] where the time step, the counts, gravity, a plane or a solid are out of range, and nothing moved; or what the
    /// GPU says.
    pub fn step_flesh(&mut self, dt: f64) -> Result<(), StepError> {
        self.step_flesh_by(dt, &Walk::default())
    }

    /// As [`Physics::step_flesh`], the frame's table walked otherwise: for tests that compare stage by stage, and benches.
    ///
    /// # Errors
    /// As for [`Physics::step_flesh`].
    #[doc(hidden)]
    pub fn step_flesh_by(&mut self, dt: f64, walk: &Walk) -> Result<(), StepError> {
        self.check_step(dt)?;
        let plan = self.plan(dt);
        let changes = self.rouse(&plan);
        let (backend, instances, frame) = self.begin(&plan, &changes);
        let frame = Frame { schedule: walk.of(&plan.schedule), fused: walk.fused, ..frame };
        let stepped = backend.step(instances, &frame);
        self.stage_times = self.or_start_again(stepped)?;
        self.let_sleep(&plan);
        self.stepped(&plan);
        Ok(())
    }

    /// Which pairs of segments the newest step found that may touch each other, in order: for tests. Waits for a GPU.
    ///
    /// # Errors
    /// `StepError::Gpu` where the device failed.
    #[doc(hidden)]
    pub fn segment_pairs(&mut self) -> Result<Vec<SegmentPair>, StepError> {
        self.backend.pairs()
    }

    pub(crate) fn check_step(&self, dt: f64) -> Result<(), StepError> {
        check_time_step(dt)?;
        let StepConfig { substeps, iterations, retries, passes, .. } = self.config;
        for (count, name) in [(substeps, "substeps"), (iterations, "iterations"), (retries, "retries")] {
            if count == 0 {
                return Err(StepError::ZeroCount(name));
            }
        }
        // On a GPU each pass has parameters of its own.
        let settlings = if self.on_cpu() || passes == 0 { 1 } else { u64::from(passes) + 1 };
        let solves = u64::from(substeps) * u64::from(iterations) * settlings;
        if solves > MOST_SOLVES {
            return Err(StepError::ManySolves { given: solves, most: MOST_SOLVES });
        }
        if retries > MOST_RETRIES {
            return Err(StepError::ManyRetries { given: retries, most: MOST_RETRIES });
        }
        if passes > MOST_PASSES {
            return Err(StepError::ManyPasses { given: passes, most: MOST_PASSES });
        }
        if self.config.jump.is_nan() || self.config.jump <= 0.0 {
            return Err(StepError::BadJump(self.config.jump));
        }
        for (name, value, sound, allowed) in [
            (
                "sleep_after",
                self.config.sleep_after,
                self.config.sleep_after > 0.0,
                "above 0 s (infinity lets nothing sleep)",
            ),
            (
                "sleep_within",
                self.config.sleep_within,
                (0.0..=1.0).contains(&self.config.sleep_within),
                "within 0 and 1",
            ),
        ] {
            if !sound {
                return Err(StepError::BadSleep { name, value, allowed });
            }
        }
        if !(self.config.gravity.is_finite() && self.config.gravity.length() < MOST_GRAVITY) {
            return Err(StepError::BadGravity(self.config.gravity));
        }
        if let Some(plane) = self.planes.iter().position(|plane| !plane.is_sound()) {
            return Err(StepError::BadPlane(plane));
        }
        if let Some(solid) = self.solids.iter().position(|solid| !solid.is_sound()) {
            return Err(StepError::BadSolid(solid));
        }
        #[cfg(feature = "gpu")]
        if !self.on_cpu() {
            let left_out = |solid: &Solid| crate::gpu::solid_pool::form_of(&solid.shape).is_none();
            if let Some((solid, placed)) = self.all_solids().enumerate().find(|(_, solid)| left_out(solid)) {
                return Err(StepError::SolidOnGpu { solid, form: placed.shape.name() });
            }
        }
        if !self.on_cpu() {
            let families = self.instances.iter().flat_map(|instance| {
                let flesh = &instance.flesh;
                flesh.families.iter().map(move |family| (flesh, family))
            });
            if let Some((flesh, family)) = families.into_iter().find(|(_, family)| family.len() > GROUPS_TOGETHER) {
                let chains = || flesh.chains().iter().filter(|chain| family.contains(&chain.group));
                let chain = chains().next().map_or_else(String::new, |chain| chain.name.clone());
                return Err(StepError::TreesOnGpu { chain, chains: chains().count() });
            }
        }
        self.backend.ready()
    }

    /// Whether the CPU steps.
    pub(crate) fn on_cpu(&self) -> bool {
        self.backend.report().backend == "cpu"
    }

    /// What a frame of `dt` (s) is made of.
    pub(crate) fn plan(&self, dt: f64) -> Plan {
        let time = self.config.split(dt);
        let on_cpu = self.on_cpu();
        // The CPU passes by itself.
        let passes = if on_cpu { 0 } else { self.config.passes };
        let planes = self.all_planes();
        let of_flesh = |instance: &Instance| instance.collisions.restitution.is_some_and(|own| own.value > 0.0);
        let bounces = planes.iter().any(|plane| plane.restitution > 0.0)
            || self.all_solids().any(|solid| solid.restitution > 0.0)
            || self.instances.iter().any(of_flesh);
        let mut params = params_of(&self.config, dt, self.newest().substeps[0], passes);
        for params in params.iter_mut().filter(|_| bounces) {
            // What throws is an impulse, which backward differences would make more of.
            (params.bounces, params.second_order) = (1, 0.0);
        }
        let mut schedule = schedule(time.substeps, self.config.iterations, passes);
        // The CPU tallies by itself, too.
        schedule.retain(|scheduled| scheduled.stage != Stage::Tally || self.gather_events && !on_cpu);
        Plan { schedule, params, planes, solids: SolidScene::new(self.all_solids().cloned(), time.simulated), time }
    }

    /// The backend, what it steps, and the frame that it is asked for by a plan.
    pub(crate) fn begin<'a>(
        &'a mut self,
        plan: &'a Plan,
        changes: &'a Changes,
    ) -> (&'a mut ActiveBackend, &'a mut Instances, Frame<'a>) {
        self.instances.begin_frame(plan.time.asked);
        let frame = Frame {
            schedule: &plan.schedule,
            fused: true,
            params: &plan.params,
            host: HostFrame { planes: &plan.planes, time: plan.time, jump: self.config.jump },
            solids: &plan.solids,
            changes,
            step: self.step + 1,
            lane_width: self.lane_width,
            threads: self.config.threads,
            #[cfg(feature = "parallel")]
            pool: self.thread_pool.as_ref(),
            read_back: self.read_back,
            passes: self.config.passes,
            events: self.gather_events.then(|| Named::new(plan, [self.planes.len(), self.solids.len()])),
            timed: self.measure_stages,
        };
        (&mut self.backend, &mut self.instances, frame)
    }

    /// What a step came to; where it failed, all goes on from the newest one that was submitted.
    pub(crate) fn or_start_again<T>(&mut self, stepped: Result<T, StepError>) -> Result<T, StepError> {
        // The first error is what is said.
        stepped.inspect_err(|_| drop(self.start_again()))
    }

    /// Goes on from the newest step that was submitted, or where that is lost with the device, from what there is.
    pub(crate) fn start_again(&mut self) -> Result<(), StepError> {
        match self.backend.start_again(&mut self.instances) {
            Ok(None) => Ok(()),
            Ok(Some(step)) => {
                self.at_step(step);
                self.frames.retain(|frame| frame.step <= step);
                Ok(())
            }
            Err(error) => {
                self.backend.give_up(&mut self.instances);
                Err(error)
            }
        }
    }

    /// The newest frame; nothing before the first.
    pub(crate) fn newest(&self) -> Stepped {
        self.frames.back().copied().unwrap_or_default()
    }

    /// The frame of a step, if it is remembered, else the newest.
    pub(crate) fn stepped_at(&self, step: u64) -> Stepped {
        self.frames.iter().find(|frame| frame.step == step).copied().unwrap_or_else(|| self.newest())
    }

    /// Counts a frame.
    pub(crate) fn stepped(&mut self, plan: &Plan) {
        let second_order = plan.params.last().map_or(0.0, |params| f64::from(params.second_order));
        let substep = plan.time.simulated / f64::from(plan.time.substeps);
        let substeps = [substep, substep / (1.0 + 0.5 * second_order)];
        self.step += 1;
        self.frames.push_back(Stepped { step: self.step, substeps, time: plan.time });
        if self.frames.len() > REMEMBERED {
            self.frames.pop_front();
        }
        self.instances.iter_mut().for_each(|instance| instance.pushes.clear());
        self.note_contacts(plan);
    }
}

/// How many frames are remembered that a GPU may go back to.
const REMEMBERED: usize = 128;

/// A frame that was stepped.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stepped {
    /// Its number.
    pub step: u64,
    /// Its last substep and the h̃ of that one's solve (s).
    pub substeps: [f64; 2],
    /// How it was split.
    pub time: FrameReport,
}

/// What a frame is made of.
pub(crate) struct Plan {
    /// How it is split.
    pub time: FrameReport,
    /// Its stages in order.
    pub schedule: Vec<Scheduled>,
    /// The parameters of each slot.
    pub params: Vec<StepParams>,
    /// What all flesh stays in front of.
    pub planes: Vec<HalfSpace>,
    /// And which solids.
    pub solids: SolidScene,
}

fn check_time_step(dt: f64) -> Result<(), StepError> {
    if (1.0e-6..=10.0).contains(&dt) { Ok(()) } else { Err(StepError::BadTimeStep(dt)) }
}
