//! The seam between [`Physics`](crate::Physics) and what steps it: a frame as it is asked for, and what every backend does.

use glam::DVec3;

use crate::cpu::LaneWidth;
use crate::cpu::solids::SolidScene;
use crate::flesh::{Flesh, FleshState, FrameInputs};
use crate::instances::{Active, Health, Instances, Pushes, ReadBack};
use crate::physics::{Changes, Named};
use crate::step::{FrameReport, Scheduled, StepParams};
use crate::timing::StageTimes;
use crate::{Collisions, HalfSpace, Pose, StepError};

/// What steps a [`Physics`](crate::Physics).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendReport {
    /// `cpu` or `gpu`.
    pub backend: &'static str,
    /// The GPU's name and graphics interface; `None` on the CPU.
    pub adapter: Option<String>,
}

/// How far a GPU's pipelines are compiled. On a driver that has them in its cache this takes milliseconds, else up to
/// some seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineProgress {
    /// The stage whose pipeline is being compiled; `None` once all are ready.
    pub compiling: Option<&'static str>,
    /// How many are ready.
    pub ready: usize,
    /// How many there are.
    pub total: usize,
}

/// A pair of segments that may touch each other in a frame: of each the place of its instance, and its group, its lane there and the
/// node with which it begins.
#[doc(hidden)]
pub type SegmentPair = [(usize, [u16; 3]); 2];

/// What [`PipelineProgress`] goes to.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(PipelineProgress);

/// A frame as a backend is asked for it.
pub(crate) struct Frame<'a> {
    /// Its stages in order.
    pub schedule: &'a [Scheduled],
    /// Whether stages that look at nothing but their own chain are run together.
    pub fused: bool,
    /// The parameters of each slot of the schedule.
    pub params: &'a [StepParams],
    /// What all instances are told of it alike.
    pub host: HostFrame<'a>,
    /// Solids around.
    pub solids: &'a SolidScene,
    /// What around flesh is other than in the frame before.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "the CPU's flesh was woken by it"))]
    pub changes: &'a Changes,
    /// The step's number.
    pub step: u64,
    /// With which lanes the CPU steps.
    pub lane_width: LaneWidth,
    /// How many threads the CPU has; 0 for all there are.
    pub threads: usize,
    /// The host's threads, which the CPU has instead.
    #[cfg(feature = "parallel")]
    pub pool: Option<&'a std::sync::Arc<rayon::ThreadPool>>,
    /// What of every instance a GPU sends back.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "the CPU's is all there"))]
    pub read_back: ReadBack,
    /// How many passes bring chains together that meet; 0 for chains that do not.
    pub passes: u32,
    /// How what presses is named; `None` where nobody asks for contact events.
    pub events: Option<Named<'a>>,
    /// Whether stages are timed.
    pub timed: bool,
}

/// What steps instances. After every method they show a state that can be stepped on.
pub(crate) trait FleshBackend: Send {
    /// Whether it can step at all.
    ///
    /// # Errors
    /// The device's failure.
    fn ready(&self) -> Result<(), StepError>;

    /// What it is.
    fn report(&self) -> BackendReport;

    /// Steps all instances by a frame, or has it begun; the times of its stages, where they are known, or of an earlier
    /// frame's (ms).
    ///
    /// # Errors
    /// What the device says; then no instance has lost what it showed.
    fn step(&mut self, instances: &mut Instances, frame: &Frame<'_>) -> Result<StageTimes, StepError>;

    /// Waits until the instances show the newest step, whose number is `step`.
    ///
    /// # Errors
    /// What the device says; the instances then show what arrived last.
    fn finish(&mut self, instances: &mut Instances, step: u64) -> Result<(), StepError>;

    /// Has the instances show the newest step that was submitted, after one that was not, and goes on from there; that step's
    /// number, or `None` where there is nothing that is not submitted.
    ///
    /// # Errors
    /// What the device says; then only [`Self::give_up`] goes on.
    fn start_again(&mut self, instances: &mut Instances) -> Result<Option<u64>, StepError>;

    /// Gives up what it has that the instances do not show: those that have shown no step lately are put at rest on their bones,
    /// activations as they are.
    fn give_up(&mut self, instances: &mut Instances);

    /// Notes that the host has put every instance at a step.
    fn put_at(&mut self, step: u64);

    /// Of which step what the instances' tallies say is, where the newest one taken is number `step`; the newest of several. `None` where
    /// nothing has come since that was last asked.
    fn take_tallied(&mut self, step: u64) -> Option<u64>;

    /// Which pairs of segments the newest step found that may touch each other, in order.
    ///
    /// # Errors
    /// What the device says.
    fn pairs(&mut self) -> Result<Vec<SegmentPair>, StepError>;
}

/// What all instances are told of a frame alike.
#[derive(Clone, Copy)]
pub(crate) struct HostFrame<'a> {
    /// Contact planes.
    pub planes: &'a [HalfSpace],
    /// How it is split.
    pub time: FrameReport,
    /// [`StepConfig::jump`](crate::step::StepConfig::jump).
    pub jump: f64,
}

impl HostFrame<'_> {
    /// Part of stage `gather_inputs`: one instance's activations follow what excites them.
    pub fn activate(&self, flesh: &Flesh, activations: &mut [f32], excitations: &[f32]) {
        for (chain, (activation, &excitation)) in flesh.chains().iter().zip(activations.iter_mut().zip(excitations)) {
            *activation = chain.activation_after(self.time.asked, *activation, excitation);
        }
    }

    /// Part of stage `gather_inputs`: one instance's activations follow what excites them, and with them its input rows are
    /// written, as far as it is active; what of it jumped is told to its health. `nodes` and `activations` are as a backend has
    /// them at the newest frame.
    pub fn gather_inputs(
        &self,
        (flesh, active, collisions): (&Flesh, Active, &Collisions),
        (nodes, activations): (&mut FleshState, &mut [f32]),
        (bones, root, excitations): (&[Pose], &Pose, &[f32]),
        (acceleration, pushes): (DVec3, &Pushes),
        health: &mut Health,
    ) {
        let Self { planes, time: frame, jump } = *self;
        if active == Active::PAUSED {
            return nodes.motion.leave(bones, root, &frame);
        }
        if active.flesh {
            self.activate(flesh, activations, excitations);
        }
        let goes_along = !active.flesh;
        let mut jumps = 0;
        let around = (planes, collisions);
        let inputs = FrameInputs { bones, root, activations, acceleration, pushes, around, goes_along, frame, jump };
        nodes.gather_inputs(flesh, &inputs, |bone| {
            health.jumped(bone);
            jumps = 1;
        });
        health.teleports += jumps;
    }
}
