//! The core: instances of flesh, stepped together. Knows neither hecs nor rapier.

use std::sync::Arc;

use glam::DVec3;

use crate::cpu::deform_skin::deform_vertex;
use crate::cpu::{Frame, LaneWidth, Threads};
use crate::flesh::{Flesh, FleshState, NodeState};
use crate::skin::{PaletteMatrix, Skin, SkinInputs, SkinnedVertices};
use crate::step::{Stage, StepConfig, StepParams, schedule};
use crate::timing::{StageClock, StageTimes, stage_scope};
use crate::{HalfSpace, Pose, Quality};

/// Names an instance of flesh in a [`Physics`]; stays invalid once its instance is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FleshHandle {
    index: u32,
    generation: u32,
}

/// What can go wrong while stepping.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A time step that is not a positive, finite number.
    #[error("dt is {0} s; it must be finite and above 0 (skip the step instead of passing 0)")]
    BadTimeStep(f64),
    /// Zero substeps or iterations.
    #[error("config.{0} is 0; it must be at least 1")]
    ZeroCount(&'static str),
    /// A handle whose instance was removed, or of another `Physics`.
    #[error("the flesh handle names no instance; it was removed or belongs to another Physics")]
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
    #[error("the pose given for the root is not finite")]
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
    /// An activation that makes no sense.
    #[error("activation {0}; it must be between 0 and 10 (1 is the material's peak stress)")]
    BadActivation(f32),
    /// A snapshot of another set of instances.
    #[error("the snapshot has other instances than this Physics; spawn and remove the same ones before restoring")]
    OtherScene,
    /// A bone pose that is not finite.
    #[error("the pose given for bone {0} is not finite")]
    BoneNotFinite(usize),
}

/// How an instance is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// How often its state went bad and it was put back to rest.
    pub resets: u32,
}

/// What an instance keeps from step to step.
#[derive(Clone, Debug, PartialEq)]
struct InstanceState {
    nodes: FleshState,
    /// Where the bones are to be at the next frame's end.
    bones: Vec<Pose>,
    /// Where the root is to be at the next frame's end.
    root: Pose,
    /// One for each chain.
    activations: Vec<f32>,
    palette: Vec<PaletteMatrix>,
    health: Health,
}

impl InstanceState {
    /// Whether everything has as many entries as in another state.
    fn has_shape_of(&self, other: &Self) -> bool {
        self.nodes.has_shape_of(&other.nodes)
            && self.bones.len() == other.bones.len()
            && self.activations.len() == other.activations.len()
            && self.palette.len() == other.palette.len()
    }
}

struct Instance {
    flesh: Arc<Flesh>,
    skin: Arc<Skin>,
    state: InstanceState,
    skin_inputs: SkinInputs,
    vertices: SkinnedVertices,
}

struct Slot {
    generation: u32,
    instance: Option<Instance>,
}

/// The whole state of a [`Physics`], see [`Physics::save`].
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    instances: Vec<(u32, Option<InstanceState>)>,
    last_substep: f64,
    step: u64,
}

/// All flesh of a scene.
pub struct Physics {
    /// How frames are stepped; may change between frames.
    pub config: StepConfig,
    /// Which CPU lanes are used; both give the same bits.
    pub lane_width: LaneWidth,
    /// Planes that all flesh stays in front of; the first four count.
    pub planes: Vec<HalfSpace>,
    /// Whether [`Physics::stage_times`] is measured.
    pub measure_stages: bool,
    slots: Vec<Slot>,
    threads: Threads,
    last_substep: f64,
    step: u64,
    stage_times: StageTimes,
}

impl Default for Physics {
    fn default() -> Self {
        Self::new(StepConfig::default())
    }
}

impl Physics {
    /// An empty scene.
    pub fn new(config: StepConfig) -> Self {
        Self {
            config,
            lane_width: LaneWidth::default(),
            planes: Vec::new(),
            measure_stages: false,
            slots: Vec::new(),
            threads: Threads::new(config.threads),
            last_substep: 0.0,
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
        check_pose(&flesh, bones, &root)?;
        let identity = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
        let state = InstanceState {
            nodes: FleshState::at_rest(&flesh, bones, &root),
            bones: bones.to_vec(),
            root,
            activations: vec![0.0; flesh.chains().len()],
            palette: vec![identity; skin.palette_len],
            health: Health::default(),
        };
        let instance =
            Instance { flesh, skin, state, skin_inputs: SkinInputs::default(), vertices: SkinnedVertices::default() };
        let index = self.slots.iter().position(|slot| slot.instance.is_none()).unwrap_or(self.slots.len());
        if index == self.slots.len() {
            self.slots.push(Slot { generation: 0, instance: None });
        }
        self.slots[index].instance = Some(instance);
        Ok(FleshHandle { index: index as u32, generation: self.slots[index].generation })
    }

    /// Removes an instance; its handle becomes invalid.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn remove(&mut self, handle: FleshHandle) -> Result<(), StepError> {
        self.get(handle)?;
        let slot = &mut self.slots[handle.index as usize];
        slot.instance = None;
        slot.generation += 1;
        Ok(())
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

    /// Sets the skin's palette for the next step: from mesh to model space.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`] or [`StepError::PaletteLength`].
    pub fn set_palette(
        &mut self,
        handle: FleshHandle,
        palette: impl ExactSizeIterator<Item = PaletteMatrix>,
    ) -> Result<(), StepError> {
        let instance = self.get_mut(handle)?;
        let (given, expected) = (palette.len(), instance.skin.palette_len);
        if given != expected {
            return Err(StepError::PaletteLength { given, expected });
        }
        instance.state.palette.clear();
        instance.state.palette.extend(palette);
        Ok(())
    }

    /// Sets a chain's activation: 0 at rest, 1 at the material's peak stress.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`], [`StepError::NoSuchChain`] or [`StepError::BadActivation`].
    pub fn set_activation(&mut self, handle: FleshHandle, chain: usize, activation: f32) -> Result<(), StepError> {
        let instance = self.get_mut(handle)?;
        let count = instance.state.activations.len();
        let slot = instance.state.activations.get_mut(chain).ok_or(StepError::NoSuchChain { chain, count })?;
        if !(0.0..=10.0).contains(&activation) {
            return Err(StepError::BadActivation(activation));
        }
        *slot = activation;
        Ok(())
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
        self.get_mut(handle)?.reset();
        Ok(())
    }

    /// An instance's nodes.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn state(&self, handle: FleshHandle) -> Result<&FleshState, StepError> {
        Ok(&self.get(handle)?.state.nodes)
    }

    /// An instance's nodes, to change.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn state_mut(&mut self, handle: FleshHandle) -> Result<&mut FleshState, StepError> {
        Ok(&mut self.get_mut(handle)?.state.nodes)
    }

    /// What an instance is made of.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn flesh(&self, handle: FleshHandle) -> Result<&Arc<Flesh>, StepError> {
        Ok(&self.get(handle)?.flesh)
    }

    /// What a node of a chain is doing.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`], [`StepError::NoSuchChain`] or [`StepError::NoSuchNode`].
    pub fn node(&self, handle: FleshHandle, chain: usize, node: usize) -> Result<NodeState, StepError> {
        let instance = self.get(handle)?;
        check_node(&instance.flesh, chain, node)?;
        Ok(instance.state.nodes.node(&instance.flesh, chain, node))
    }

    /// Where an instance's bones are after the last step.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn bones(&self, handle: FleshHandle) -> Result<&[Pose], StepError> {
        Ok(&self.get(handle)?.state.nodes.bones)
    }

    /// How far a node of a chain is from where its bones alone carry it (m, in the world); 0 at rest.
    ///
    /// # Errors
    /// As for [`Physics::node`].
    pub fn swing(&self, handle: FleshHandle, chain: usize, node: usize) -> Result<DVec3, StepError> {
        let Instance { flesh, state, .. } = self.get(handle)?;
        check_node(flesh, chain, node)?;
        let carried = state.nodes.carried(flesh, chain, node, &state.root);
        Ok(state.nodes.node(flesh, chain, node).place - carried.translation)
    }

    /// An instance's skin after the last step: empty before its first one, and until the next one what it was before
    /// a [`Physics::teleport`], [`Physics::reset`] or [`Physics::restore`].
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn vertices(&self, handle: FleshHandle) -> Result<&SkinnedVertices, StepError> {
        Ok(&self.get(handle)?.vertices)
    }

    /// How an instance is doing.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn health(&self, handle: FleshHandle) -> Result<Health, StepError> {
        Ok(self.get(handle)?.state.health)
    }

    /// How well all rods keep volume and length, and how far the last solve was from balance.
    pub fn quality(&self) -> Quality {
        let mut quality = Quality::default();
        for instance in self.slots.iter().filter_map(|slot| slot.instance.as_ref()) {
            quality.add(&instance.flesh, &instance.state.nodes, &self.planes, self.last_substep);
        }
        quality
    }

    /// How many steps were taken.
    pub fn step_count(&self) -> u64 {
        self.step
    }

    /// Time spent in each stage of the last step, if [`Physics::measure_stages`] was on.
    pub fn stage_times(&self) -> StageTimes {
        self.stage_times
    }

    /// Steps all flesh by `dt` (s), bones moving to the poses last set.
    ///
    /// An instance whose state is no longer finite is put back to rest on its bones and counted in its
    /// [`Health`]; the others go on.
    ///
    /// # Errors
    /// [`StepError::BadTimeStep`] or [`StepError::ZeroCount`]; then nothing moved.
    pub fn step_flesh(&mut self, dt: f64) -> Result<(), StepError> {
        self.check_step(dt)?;
        if self.threads.count() != self.config.threads {
            self.threads = Threads::new(self.config.threads);
        }
        let clock = StageClock::new(self.measure_stages);
        let start = clock.start();
        self.gather_inputs();
        clock.stop(Stage::GatherInputs, start);
        self.step_on_cpu(dt, &clock);
        self.last_substep = dt / f64::from(self.config.substeps);
        self.step += 1;
        let start = clock.start();
        self.scatter_outputs();
        clock.stop(Stage::ScatterOutputs, start);
        self.stage_times = clock.take();
        Ok(())
    }

    /// Whether a step of `dt` (s) can be taken.
    pub(crate) fn check_step(&self, dt: f64) -> Result<(), StepError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(StepError::BadTimeStep(dt));
        }
        for (count, name) in [(self.config.substeps, "substeps"), (self.config.iterations, "iterations")] {
            if count == 0 {
                return Err(StepError::ZeroCount(name));
            }
        }
        Ok(())
    }

    fn gather_inputs(&mut self) {
        stage_scope!(Stage::GatherInputs);
        let planes = &self.planes;
        for Instance { flesh, state, skin_inputs, .. } in instances(&mut self.slots) {
            state.nodes.gather_inputs(flesh, &state.bones, &state.activations, planes);
            skin_inputs.gather(&state.nodes, &state.bones, &state.root);
            skin_inputs.palette.clone_from(&state.palette);
        }
    }

    fn step_on_cpu(&mut self, dt: f64, clock: &StageClock) {
        let config = &self.config;
        let substeps: Vec<StepParams> =
            (0..config.substeps).map(|i| StepParams::new(config, dt, i, self.last_substep)).collect();
        let schedule = schedule(config);
        let frame = Frame { width: self.lane_width, schedule: &schedule, substeps: &substeps, clock };
        let groups = instances(&mut self.slots)
            .flat_map(|instance| instance.flesh.groups.iter().zip(instance.state.nodes.groups.iter_mut()))
            .collect();
        frame.step_groups(&self.threads, groups);
        for Instance { skin, state, skin_inputs, vertices, .. } in instances(&mut self.slots) {
            frame.deform_skin(&self.threads, (skin, skin_inputs, &state.nodes), vertices);
        }
    }

    fn scatter_outputs(&mut self) {
        stage_scope!(Stage::ScatterOutputs);
        let step = self.step;
        for instance in instances(&mut self.slots) {
            instance.vertices.step = step;
            if !instance.state.nodes.is_finite() {
                instance.state.health.resets += 1;
                instance.reset();
                instance.skin_at_rest();
            }
        }
    }

    /// The whole state; [`Physics::restore`] then continues bit for bit.
    pub fn save(&self) -> Snapshot {
        let instances = self
            .slots
            .iter()
            .map(|slot| (slot.generation, slot.instance.as_ref().map(|instance| instance.state.clone())))
            .collect();
        Snapshot { instances, last_substep: self.last_substep, step: self.step }
    }

    /// Goes back to a saved state.
    ///
    /// # Errors
    /// [`StepError::OtherScene`] where instances were added or removed since, or have other rods, bones or palettes;
    /// then nothing changed.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), StepError> {
        let same = self.slots.len() == snapshot.instances.len()
            && self.slots.iter().zip(&snapshot.instances).all(|(slot, (generation, state))| {
                let same_shape = match (&slot.instance, state) {
                    (Some(instance), Some(state)) => instance.state.has_shape_of(state),
                    (here, there) => here.is_none() && there.is_none(),
                };
                slot.generation == *generation && same_shape
            });
        if !same {
            return Err(StepError::OtherScene);
        }
        for (slot, (_, state)) in self.slots.iter_mut().zip(&snapshot.instances) {
            if let (Some(instance), Some(state)) = (&mut slot.instance, state) {
                instance.state = state.clone();
            }
        }
        self.last_substep = snapshot.last_substep;
        self.step = snapshot.step;
        Ok(())
    }

    /// A hash of all node state: equal states have equal hashes, on any machine.
    pub fn state_hash(&self) -> u64 {
        // FNV-1a over the bits, a word at a time.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let instances = self.slots.iter().filter_map(|slot| slot.instance.as_ref());
        for group in instances.flat_map(|instance| &instance.state.nodes.groups) {
            for value in group.nodes.iter().flatten() {
                hash = (hash ^ u64::from(value.to_bits())).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
        hash
    }

    fn get(&self, handle: FleshHandle) -> Result<&Instance, StepError> {
        self.slots
            .get(handle.index as usize)
            .filter(|slot| slot.generation == handle.generation)
            .and_then(|slot| slot.instance.as_ref())
            .ok_or(StepError::NoSuchFlesh)
    }

    fn get_mut(&mut self, handle: FleshHandle) -> Result<&mut Instance, StepError> {
        self.slots
            .get_mut(handle.index as usize)
            .filter(|slot| slot.generation == handle.generation)
            .and_then(|slot| slot.instance.as_mut())
            .ok_or(StepError::NoSuchFlesh)
    }
}

impl Instance {
    fn reset(&mut self) {
        self.state.nodes = FleshState::at_rest(&self.flesh, &self.state.bones, &self.state.root);
    }

    /// Deforms the skin anew, on flesh that was reset after stage `deform_skin`.
    fn skin_at_rest(&mut self) {
        let Self { skin, state, skin_inputs, vertices, .. } = self;
        skin_inputs.gather(&state.nodes, &state.bones, &state.root);
        (vertices.positions, vertices.normals) =
            skin.vertices.iter().map(|vertex| deform_vertex(skin, skin_inputs, &state.nodes, vertex)).unzip();
    }
}

fn instances(slots: &mut [Slot]) -> impl Iterator<Item = &mut Instance> {
    slots.iter_mut().filter_map(|slot| slot.instance.as_mut())
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
    if !root.is_finite() {
        return Err(StepError::RootNotFinite);
    }
    match bones.iter().position(|pose| !pose.is_finite()) {
        Some(bone) => Err(StepError::BoneNotFinite(bone)),
        None => Ok(()),
    }
}
