//! The core: instances of flesh, stepped together. Knows neither hecs nor rapier.

use std::sync::Arc;

use fearless_simd::Level;

use crate::Pose;
use crate::cpu::{Frame, LaneWidth};
use crate::flesh::{Flesh, FleshState, NodeState, Plane};
use crate::step::{StepConfig, StepParams, schedule};

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

struct Instance {
    flesh: Arc<Flesh>,
    state: FleshState,
    /// Where the bones are to be at the next frame's end.
    bones: Vec<Pose>,
    root: Pose,
    health: Health,
}

struct Slot {
    generation: u32,
    instance: Option<Instance>,
}

/// The whole state of a [`Physics`], see [`Physics::save`].
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    instances: Vec<Option<(u32, FleshState, Vec<Pose>, Pose, Health)>>,
    last_substep: f64,
    step: u64,
}

/// All flesh of a scene.
pub struct Physics {
    /// How frames are stepped; may change between frames.
    pub config: StepConfig,
    /// Which CPU lanes are used; both give the same bits.
    pub lane_width: LaneWidth,
    /// Planes that all flesh stays in front of, at most four.
    pub planes: Vec<Plane>,
    slots: Vec<Slot>,
    level: Level,
    last_substep: f64,
    step: u64,
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
            slots: Vec::new(),
            level: Level::new(),
            last_substep: 0.0,
            step: 0,
        }
    }

    /// Adds an instance, at rest on bones at the given poses; free rods go with `root`.
    ///
    /// # Errors
    /// [`StepError::BoneCount`] or [`StepError::BoneNotFinite`].
    pub fn insert(&mut self, flesh: Arc<Flesh>, bones: &[Pose], root: Pose) -> Result<FleshHandle, StepError> {
        check_bones(&flesh, bones)?;
        let state = FleshState::at_rest(&flesh, bones, &root);
        let instance = Instance { flesh, state, bones: bones.to_vec(), root, health: Health::default() };
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

    /// Says where the bones are at the end of the next step.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`], [`StepError::BoneCount`] or [`StepError::BoneNotFinite`].
    pub fn set_bones(&mut self, handle: FleshHandle, bones: &[Pose]) -> Result<(), StepError> {
        let instance = self.get_mut(handle)?;
        check_bones(&instance.flesh, bones)?;
        instance.bones.copy_from_slice(bones);
        Ok(())
    }

    /// Puts an instance at rest on bones at the given poses, without velocity; also what `reset` does.
    ///
    /// # Errors
    /// As for [`Physics::set_bones`].
    pub fn teleport(&mut self, handle: FleshHandle, bones: &[Pose], root: Pose) -> Result<(), StepError> {
        let instance = self.get_mut(handle)?;
        check_bones(&instance.flesh, bones)?;
        instance.bones.copy_from_slice(bones);
        instance.root = root;
        instance.state = FleshState::at_rest(&instance.flesh, bones, &root);
        Ok(())
    }

    /// An instance's state.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn state(&self, handle: FleshHandle) -> Result<&FleshState, StepError> {
        Ok(&self.get(handle)?.state)
    }

    /// An instance's state, to change.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn state_mut(&mut self, handle: FleshHandle) -> Result<&mut FleshState, StepError> {
        Ok(&mut self.get_mut(handle)?.state)
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
    /// [`StepError::NoSuchFlesh`].
    pub fn node(&self, handle: FleshHandle, chain: usize, node: usize) -> Result<NodeState, StepError> {
        let instance = self.get(handle)?;
        Ok(instance.state.node(&instance.flesh, chain, node))
    }

    /// How an instance is doing.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn health(&self, handle: FleshHandle) -> Result<Health, StepError> {
        Ok(self.get(handle)?.health)
    }

    /// How many steps were taken.
    pub fn step_count(&self) -> u64 {
        self.step
    }

    /// Steps all flesh by `dt` (s), bones moving to the poses last set.
    ///
    /// An instance whose state is no longer finite is put back to rest on its bones and counted in its
    /// [`Health`]; the others go on.
    ///
    /// # Errors
    /// [`StepError::BadTimeStep`] or [`StepError::ZeroCount`]; then nothing moved.
    pub fn step(&mut self, dt: f64) -> Result<(), StepError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(StepError::BadTimeStep(dt));
        }
        for (count, name) in [(self.config.substeps, "substeps"), (self.config.iterations, "iterations")] {
            if count == 0 {
                return Err(StepError::ZeroCount(name));
            }
        }
        let config = self.config;
        let substeps: Vec<StepParams> =
            (0..config.substeps).map(|i| StepParams::new(&config, dt, i, self.last_substep)).collect();
        let schedule = schedule(&config);
        let frame = Frame { width: self.lane_width, level: self.level, schedule: &schedule, substeps: &substeps };
        let planes = &self.planes;
        for instance in self.slots.iter_mut().filter_map(|slot| slot.instance.as_mut()) {
            instance.state.gather_inputs(&instance.flesh, &instance.bones, planes);
        }
        let groups = self
            .slots
            .iter_mut()
            .filter_map(|slot| slot.instance.as_mut())
            .flat_map(|instance| instance.flesh.groups.iter().zip(instance.state.groups.iter_mut()));
        let mut scratch = Vec::new();
        for (rest, state) in groups {
            frame.step_group(rest, state, &mut scratch);
        }
        for instance in self.slots.iter_mut().filter_map(|slot| slot.instance.as_mut()) {
            if !instance.state.is_finite() {
                instance.state = FleshState::at_rest(&instance.flesh, &instance.bones, &instance.root);
                instance.health.resets += 1;
            }
        }
        self.last_substep = dt / f64::from(config.substeps);
        self.step += 1;
        Ok(())
    }

    /// The whole state; [`Physics::restore`] then continues bit for bit.
    pub fn save(&self) -> Snapshot {
        let instances = self
            .slots
            .iter()
            .map(|slot| {
                slot.instance.as_ref().map(|i| (slot.generation, i.state.clone(), i.bones.clone(), i.root, i.health))
            })
            .collect();
        Snapshot { instances, last_substep: self.last_substep, step: self.step }
    }

    /// A hash of all node state: equal states have equal hashes, on any machine.
    pub fn state_hash(&self) -> u64 {
        // FNV-1a over the bits.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for instance in self.slots.iter().filter_map(|slot| slot.instance.as_ref()) {
            for group in &instance.state.groups {
                for byte in bytemuck::cast_slice::<_, u8>(&group.nodes) {
                    hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
                }
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

fn check_bones(flesh: &Flesh, bones: &[Pose]) -> Result<(), StepError> {
    let expected = flesh.bones().len();
    if bones.len() != expected {
        return Err(StepError::BoneCount { given: bones.len(), expected });
    }
    match bones.iter().position(|pose| !pose.is_finite()) {
        Some(bone) => Err(StepError::BoneNotFinite(bone)),
        None => Ok(()),
    }
}
