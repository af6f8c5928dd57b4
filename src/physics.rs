//! The core: instances of flesh, stepped together. Knows neither hecs nor rapier.

mod active;
mod budget;
mod collisions;
mod contacts;
mod events;
mod flesh_contacts;
mod morphs;
#[cfg(feature = "neural")]
mod networks;
mod pushes;
mod queries;
mod readings;
mod saved;
mod skin;
mod sleep;
mod snapshot;
mod stepping;

pub(crate) use active::ActiveBackend;
pub use active::{Backend, BackendError};
pub use budget::FleshBudget;
pub use contacts::{Contact, Touched};
use events::EventLog;
pub(crate) use events::Named;
pub use events::{ContactEvent, ContactPhase, ContactWith};
pub use flesh_contacts::{ContactSide, FleshContact};
#[cfg(feature = "hecs")]
pub(crate) use morphs::{check_morph_weights, morphs_named};
pub use saved::{RowSizes, SNAPSHOT_VERSION, SnapshotError};
pub(crate) use sleep::Changes;
pub use snapshot::{FleshSnapshot, Restored, Snapshot};
use stepping::Stepped;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::backend::{BackendReport, PipelineProgress};
use crate::cpu::LaneWidth;
use crate::flesh::{Flesh, FleshState};
#[cfg(feature = "hecs")]
use crate::instances::Fault;
use crate::instances::{Active, FleshHandle, Instance, Instances, ReadBack};
use crate::skin::Skin;
use crate::step::{FrameReport, StepConfig};
use crate::timing::StageTimes;
use crate::{HalfSpace, Pose, Solid, StepError, UnknownMuscle};

/// All flesh of a scene.
pub struct Physics {
    /// How frames are stepped; may change between frames.
    pub config: StepConfig,
    /// Which CPU lanes are used; both give the same bits.
    pub lane_width: LaneWidth,
    /// Half-spaces that all flesh stays out of, beside those of a rigid world; set anew before each step where they move, see
    /// [`HalfSpace`].
    pub planes: Vec<HalfSpace>,
    /// Solids that all flesh stays out of, beside those of a rigid world; set anew before each step where they move, see
    /// [`Solid`].
    pub solids: Vec<Solid>,
    /// Whether [`Physics::stage_times`] is measured.
    pub measure_stages: bool,
    /// Whether [`Physics::contact_events`] are gathered; off by default, and it costs nothing then. On a GPU it is one dispatch a
    /// substep, and 32 bytes a step come back for each contact of a chain that there is room for.
    pub gather_events: bool,
    /// What a GPU sends back of every instance: by default vertices alone, and nothing is enough for a host that draws from GPU
    /// memory (`Physics::vertex_slice`). More of one instance is sent by [`Physics::ask_for`]. The CPU's is all there.
    pub read_back: ReadBack,
    /// The host's threads, on which the CPU steps, and finds what a GPU is told, instead of [`StepConfig::threads`] of its own.
    #[cfg(feature = "parallel")]
    pub thread_pool: Option<Arc<rayon::ThreadPool>>,
    /// Planes of the world around, after [`Physics::planes`].
    world_planes: Vec<HalfSpace>,
    /// Solids of the world around, after [`Physics::solids`].
    world_solids: Vec<Solid>,
    event_log: EventLog,
    pub(crate) backend: ActiveBackend,
    pub(crate) instances: Instances,
    /// The newest frames, as many as a GPU may go back to.
    frames: VecDeque<Stepped>,
    /// Of the newest frame, where flesh may sleep.
    surroundings: sleep::Surroundings,
    pub(crate) step: u64,
    pub(crate) stage_times: StageTimes,
}

impl Default for Physics {
    fn default() -> Self {
        Self::with_config(StepConfig::default())
    }
}

impl Physics {
    /// An empty scene, stepped by a backend as [`StepConfig::default`] says; [`Physics::config`] changes that.
    ///
    /// On a GPU this compiles all pipelines, so that no step does.
    ///
    /// # Errors
    /// [`BackendError`] for [`Backend::Gpu`] without a working adapter, or in a build without feature `gpu`.
    pub fn new(backend: Backend) -> Result<Self, BackendError> {
        Self::new_with_progress(backend, |_| ())
    }

    /// As [`Physics::new`]; `progress` is told before each of a GPU's pipelines is compiled, and once all are ready.
    ///
    /// # Errors
    /// As for [`Physics::new`].
    pub fn new_with_progress(
        backend: Backend,
        mut progress: impl FnMut(PipelineProgress),
    ) -> Result<Self, BackendError> {
        Ok(Self { backend: ActiveBackend::new(backend, &mut progress)?, ..Self::default() })
    }

    /// An empty scene, stepped by the CPU.
    pub fn with_config(config: StepConfig) -> Self {
        Self {
            config,
            lane_width: LaneWidth::default(),
            planes: Vec::new(),
            solids: Vec::new(),
            measure_stages: false,
            gather_events: false,
            read_back: ReadBack { vertices: true, ..ReadBack::NOTHING },
            #[cfg(feature = "parallel")]
            thread_pool: None,
            world_planes: Vec::new(),
            world_solids: Vec::new(),
            event_log: EventLog::default(),
            backend: ActiveBackend::default(),
            instances: Instances::default(),
            frames: VecDeque::new(),
            surroundings: sleep::Surroundings::default(),
            step: 0,
            stage_times: StageTimes::default(),
        }
    }

    /// Adds an instance, at rest on bones at the given poses; free rods go with `root`.
    ///
    /// # Errors
    /// [`StepError::BoneCount`] or [`StepError::BoneNotFinite`].
    pub fn insert(&mut self, flesh: Arc<Flesh>, bones: &[Pose], root: Pose) -> Result<FleshHandle, StepError> {
        self.insert_with_skin(flesh, Arc::new(Skin::default()), bones, root)
    }

    /// As [`Physics::insert`], with skin to deform after every step; its palette is all identity until
    /// [`Physics::set_palette`].
    ///
    /// # Errors
    /// As for [`Physics::insert`].
    pub fn insert_with_skin(
        &mut self,
        flesh: Arc<Flesh>,
        skin: Arc<Skin>,
        bones: &[Pose],
        root: Pose,
    ) -> Result<FleshHandle, StepError> {
        skin.check(&flesh)?;
        self.insert_sound(flesh, skin, bones, root)
    }

    /// As [`Physics::insert_with_skin`], with a skin that names nothing that is not there.
    pub(crate) fn insert_sound(
        &mut self,
        flesh: Arc<Flesh>,
        skin: Arc<Skin>,
        bones: &[Pose],
        root: Pose,
    ) -> Result<FleshHandle, StepError> {
        check_pose(&flesh, bones, &root)?;
        let blocks = self.instances.blocks_of(skin);
        Ok(self.instances.insert(Instance { step: self.step, ..Instance::new(flesh, blocks, bones, root) }))
    }

    /// Removes an instance; its handle becomes invalid.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn remove(&mut self, handle: FleshHandle) -> Result<(), StepError> {
        self.instances.wake_around(handle);
        self.instances.remove(handle)
    }

    /// Says where the bones and the root are at the end of the next step.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`], [`StepError::BoneCount`] or [`StepError::BoneNotFinite`].
    pub fn set_bones(&mut self, handle: FleshHandle, bones: &[Pose], root: Pose) -> Result<(), StepError> {
        let instance = self.get_mut(handle)?;
        check_pose(&instance.flesh, bones, &root)?;
        instance.state.bones.copy_from_slice(bones);
        instance.state.root = root;
        Ok(())
    }

    /// Excites a chain: 0 for rest, 1 for the material's peak stress. Its activation goes there with the chain's time
    /// constants ([`crate::flesh::Contraction`]), at once where they are 0.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`], [`StepError::NoSuchChain`] or [`StepError::BadActivation`].
    pub fn set_activation(&mut self, handle: FleshHandle, chain: usize, activation: f32) -> Result<(), StepError> {
        let instance = self.get_mut(handle)?;
        let count = instance.state.excitations.len();
        let slot = instance.state.excitations.get_mut(chain).ok_or(StepError::NoSuchChain { chain, count })?;
        check_activation(activation)?;
        *slot = activation;
        Ok(())
    }

    /// As [`Physics::set_activation`], for the first chain of a name.
    ///
    /// # Errors
    /// As for [`Physics::set_activation`]; [`StepError::UnknownMuscle`] lists the names that there are.
    pub fn set_activation_named(
        &mut self,
        handle: FleshHandle,
        muscle: &str,
        activation: f32,
    ) -> Result<(), StepError> {
        let chain = muscle_index(&self.get(handle)?.flesh, muscle)?;
        self.set_activation(handle, chain, activation)
    }

    /// All instances that there are.
    pub fn instances(&self) -> impl Iterator<Item = FleshHandle> {
        self.instances.handles().map(|(handle, _)| handle)
    }

    /// Notes that an instance is a character's in an hecs world, and goes with it.
    #[cfg(feature = "hecs")]
    pub(crate) fn mark_spawned(&mut self, handle: FleshHandle, entity: hecs::Entity) -> Result<(), StepError> {
        self.get_mut(handle)?.entity = Some(entity);
        Ok(())
    }

    /// All instances that are a character's in an hecs world.
    #[cfg(feature = "hecs")]
    pub(crate) fn spawned(&self) -> impl Iterator<Item = FleshHandle> {
        self.instances.handles().filter(|(_, instance)| instance.entity.is_some()).map(|(handle, _)| handle)
    }

    /// Excites an instance's first chains all at once, or where one cannot be so none of them, which its health then says.
    #[cfg(feature = "hecs")]
    pub(crate) fn excite(&mut self, handle: FleshHandle, excitations: &[f32]) {
        let Ok(Instance { state, .. }) = self.get_mut(handle) else { return };
        let count = state.excitations.len();
        let sound = |(chain, value): (usize, &f32)| chain < count && check_activation(*value).is_ok();
        let bad = (0..).zip(excitations).position(|excited| !sound(excited));
        if bad.is_none() {
            state.excitations[..excitations.len()].copy_from_slice(excitations);
        }
        state.health.note_excitation(bad.map(Fault::Excitation));
    }

    /// Notes that an instance's pose was refused.
    #[cfg(feature = "hecs")]
    pub(crate) fn note_pose(&mut self, handle: FleshHandle, fault: Fault) {
        if let Ok(instance) = self.get_mut(handle) {
            instance.state.health.note_pose(fault);
        }
    }

    /// Half-spaces of a world beside the flesh, after [`Physics::planes`], until they are set again: rapier's, every step. One
    /// that moves faster than [`HalfSpace::is_sound`] allows is taken as put where it is; those without a unit normal or near
    /// enough are left out; friction is taken as 1000 at most.
    pub fn set_world_planes(&mut self, planes: impl IntoIterator<Item = HalfSpace>) {
        let bounded = planes.into_iter().map(|plane| HalfSpace { friction: plane.friction.min(1.0e3), ..plane });
        let sound = bounded.map(|plane| if plane.is_sound() { plane } else { plane.still() });
        self.world_planes = sound.filter(HalfSpace::is_sound).collect();
    }

    /// Solids of a world beside the flesh, after [`Physics::solids`], until they are set again: rapier's, every step. Those that
    /// are not sound are taken as [`Physics::set_world_planes`] takes half-spaces. See [`StepError::SolidOnGpu`].
    pub fn set_world_solids(&mut self, solids: impl IntoIterator<Item = Solid>) {
        let most = |friction: f32| if friction > 1.0e3 { 1.0e3 } else { friction };
        let bounded = solids.into_iter().map(|solid| Solid { friction: most(solid.friction), ..solid });
        let sound = bounded.map(|solid| if solid.is_sound() { solid } else { solid.still() });
        self.world_solids = sound.filter(Solid::is_sound).collect();
    }

    /// Whether an instance is as it was put in, which it is once: no pose of its bones has come yet that it moves to.
    #[cfg(feature = "hecs")]
    pub(crate) fn take_fresh(&mut self, handle: FleshHandle) -> Result<bool, StepError> {
        Ok(std::mem::take(&mut self.get_mut(handle)?.fresh))
    }

    /// Puts an instance at rest on bones at the given poses, without velocity.
    ///
    /// # Errors
    /// As for [`Physics::set_bones`].
    pub fn teleport(&mut self, handle: FleshHandle, bones: &[Pose], root: Pose) -> Result<(), StepError> {
        self.set_bones(handle, bones, root)?;
        self.reset(handle)
    }

    /// Puts an instance at rest on its bones, without velocity.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn reset(&mut self, handle: FleshHandle) -> Result<(), StepError> {
        self.instances.wake_around(handle);
        self.instances.part(handle);
        self.get_mut(handle)?.reset();
        Ok(())
    }

    /// An instance's nodes: on the CPU after the last step, on a GPU as they last arrived where they are asked for
    /// ([`Physics::ask_for`], [`Physics::state_step`]; [`Physics::finish`] waits for the last step's).
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn state(&self, handle: FleshHandle) -> Result<&FleshState, StepError> {
        Ok(&self.get(handle)?.state.nodes)
    }

    /// An instance's nodes, to change. On a GPU this waits for the last step.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`], and as for [`Physics::finish`].
    pub fn state_mut(&mut self, handle: FleshHandle) -> Result<&mut FleshState, StepError> {
        self.get(handle)?;
        self.wait()?;
        self.instances.wake_around(handle);
        let instance = self.get_mut(handle)?;
        (instance.fresh, instance.changed, instance.placed) = (false, true, false);
        Ok(&mut instance.state.nodes)
    }

    /// Says what of an instance steps do from the next one on: a paused one costs next to nothing.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn set_active(&mut self, handle: FleshHandle, active: Active) -> Result<(), StepError> {
        if self.get(handle)?.active != active {
            self.instances.wake_around(handle);
        }
        self.get_mut(handle)?.active = active;
        Ok(())
    }

    /// What of an instance steps do.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn active(&self, handle: FleshHandle) -> Result<Active, StepError> {
        Ok(self.get(handle)?.active)
    }

    /// Has a GPU send this back of an instance from the next step on, beside [`Physics::read_back`] of all.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn ask_for(&mut self, handle: FleshHandle, read_back: ReadBack) -> Result<(), StepError> {
        self.get_mut(handle)?.asked = read_back;
        Ok(())
    }

    /// The step whose outcome [`Physics::state`], [`Physics::node`] and their like show of an instance: the last one on the CPU; on
    /// a GPU the one that arrived last while its state was asked for ([`ReadBack::state`]), or that [`Physics::finish`] waited
    /// for.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn state_step(&self, handle: FleshHandle) -> Result<u64, StepError> {
        Ok(self.get(handle)?.step)
    }

    /// Waits for the last step, so that [`Physics::state`] and its like show all of it, asked for or not: for snapshots and
    /// tests, never in a frame. Does nothing on the CPU. Encoders filled by `encode` must have been submitted. On a GPU
    /// [`Physics::contact_events`] are then those that came back with it: read those of the last step before.
    ///
    /// # Errors
    /// `StepError::Gpu` where the device failed; the state that last arrived then stays.
    pub fn finish(&mut self) -> Result<(), StepError> {
        self.wait()?;
        self.note_finished();
        Ok(())
    }

    /// As [`Physics::finish`]; contact events are left as they are, and what came back is told with the next step.
    fn wait(&mut self) -> Result<(), StepError> {
        self.backend.finish(&mut self.instances, self.step)?;
        self.instances.iter_mut().for_each(|instance| instance.step = self.step);
        Ok(())
    }

    /// What steps this scene.
    pub fn backend_report(&self) -> BackendReport {
        self.backend.report()
    }

    /// Goes on with another backend, all state as it is after the last step. Where a GPU was lost, it is as it last arrived of
    /// instances whose state was asked for ([`ReadBack::state`]) or finished a moment ago; the others are at rest on their bones.
    /// Activations stay.
    ///
    /// # Errors
    /// As for [`Physics::new`]; the backend then stays.
    pub fn switch_backend(&mut self, backend: Backend) -> Result<(), BackendError> {
        self.switch_backend_with_progress(backend, |_| ())
    }

    /// As [`Physics::switch_backend`], with progress as of [`Physics::new_with_progress`].
    ///
    /// # Errors
    /// As for [`Physics::switch_backend`].
    pub fn switch_backend_with_progress(
        &mut self,
        backend: Backend,
        mut progress: impl FnMut(PipelineProgress),
    ) -> Result<(), BackendError> {
        let next = ActiveBackend::new(backend, &mut progress)?;
        #[cfg(all(feature = "gpu", feature = "neural"))]
        self.check_room(&next, None)?;
        self.go_on_with(next);
        Ok(())
    }

    /// As [`Physics::switch_backend`], with a backend that is there.
    pub(crate) fn go_on_with(&mut self, next: ActiveBackend) {
        if self.wait().is_err() {
            self.backend.give_up(&mut self.instances);
        }
        self.backend = next;
        for instance in self.instances.iter_mut() {
            (instance.changed, instance.placed) = (true, false);
        }
        self.at_step(self.step);
    }

    /// Tells the backend that the instances are what the host says, at a step.
    pub(crate) fn at_step(&mut self, step: u64) {
        self.step = step;
        self.instances.iter_mut().for_each(|instance| instance.step = step);
        self.backend.put_at(step);
    }

    /// The step that all instances show, or the oldest that one of them does.
    fn shown_step(&self) -> u64 {
        self.instances.iter().map(|instance| instance.step).min().unwrap_or(self.step)
    }

    /// What became of the last frame's time: long ones are split, and beyond that left out.
    pub fn last_frame(&self) -> FrameReport {
        self.newest().time
    }

    /// All that flesh stays in front of: [`Physics::planes`], then rapier's half-spaces as the last step found them.
    pub fn all_planes(&self) -> Vec<HalfSpace> {
        self.planes.iter().chain(&self.world_planes).copied().collect()
    }

    /// All solids that flesh stays out of: [`Physics::solids`], then rapier's as the last step found them.
    pub fn all_solids(&self) -> impl Iterator<Item = &Solid> {
        self.solids.iter().chain(&self.world_solids)
    }

    /// How many steps were taken.
    pub fn step_count(&self) -> u64 {
        self.step
    }

    /// Time spent in each stage of the last step, or on a GPU with timestamps of the last one whose times have
    /// arrived, if [`Physics::measure_stages`] was on.
    pub fn stage_times(&self) -> StageTimes {
        self.stage_times
    }

    /// Says whether the world around wants to know an instance's state, beside what is asked for of it.
    #[cfg(feature = "hecs")]
    pub(crate) fn want_state(&mut self, handle: FleshHandle, wanted: bool) {
        if let Ok(instance) = self.get_mut(handle) {
            instance.wanted = wanted;
        }
    }

    pub(crate) fn get(&self, handle: FleshHandle) -> Result<&Instance, StepError> {
        self.instances.get(handle)
    }

    fn get_mut(&mut self, handle: FleshHandle) -> Result<&mut Instance, StepError> {
        self.instances.get_mut(handle)
    }
}

/// The first chain of a name.
pub(crate) fn muscle_index(flesh: &Flesh, muscle: &str) -> Result<usize, UnknownMuscle> {
    flesh.chain_named(muscle).ok_or_else(|| UnknownMuscle {
        muscle: muscle.into(),
        known: flesh.chains().iter().map(|chain| chain.name.clone()).collect(),
    })
}

pub(crate) fn check_activation(activation: f32) -> Result<(), StepError> {
    if (0.0..=10.0).contains(&activation) { Ok(()) } else { Err(StepError::BadActivation(activation)) }
}

fn check_node(flesh: &Flesh, chain: usize, node: usize) -> Result<(), StepError> {
    let chains = flesh.chains();
    let info = chains.get(chain).ok_or(StepError::NoSuchChain { chain, count: chains.len() })?;
    let count = info.node_count();
    if node < count { Ok(()) } else { Err(StepError::NoSuchNode { chain, node, count }) }
}

fn check_pose(flesh: &Flesh, bones: &[Pose], root: &Pose) -> Result<(), StepError> {
    let expected = flesh.bones().len();
    if bones.len() != expected {
        return Err(StepError::BoneCount { given: bones.len(), expected });
    }
    if !root.is_sound() {
        return Err(StepError::RootNotFinite);
    }
    match bones.iter().position(|pose| !pose.is_sound()) {
        Some(bone) => Err(StepError::BoneNotFinite(bone)),
        None => Ok(()),
    }
}
