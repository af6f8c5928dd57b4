//! The instances of flesh that are stepped together: what each is made of, what it keeps from step to step, and what the
//! host asks of it. Backends read and write them, and note in them what they have taken; nothing here calls a backend.

mod active;
mod health;
mod instance;
mod mix;
mod network;
mod pushes;
mod read_back;
mod sleep;
mod tally;
mod touch;

pub use active::Active;
pub use health::{Fault, Health, Jumped, LaidAnew};
pub(crate) use instance::{Instance, InstanceState, deltas_of};
pub use mix::SkinMotion;
pub(crate) use mix::{MOST_BLEND, Mix};
#[cfg(feature = "neural")]
pub(crate) use network::batches;
pub(crate) use network::{InstanceNetwork, NetworkSettings};
pub use pushes::Motion;
pub(crate) use pushes::{MOST_ACCELERATION, MOST_VELOCITY, Pushes};
pub use read_back::ReadBack;
pub(crate) use sleep::Rest;
pub(crate) use tally::{Pressed, Tally};
pub(crate) use touch::{REMEMBERED, SegmentName, Touch};

use std::sync::Arc;

use crate::StepError;
use crate::cpu::skin_blocks::SkinBlocks;
use crate::skin::Skin;

/// Names an instance of flesh in a [`Physics`](crate::Physics); stays invalid once its instance is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FleshHandle {
    index: u32,
    generation: u32,
}

impl FleshHandle {
    /// That of a slot's instance.
    #[cfg(any(feature = "gpu", test))]
    pub(crate) fn of(slot: usize, generation: u32) -> Self {
        Self { index: slot as u32, generation }
    }

    /// Slot and generation.
    pub(crate) fn parts(self) -> (usize, u32) {
        (self.index as usize, self.generation)
    }
}

/// A place for an instance.
#[derive(Default)]
pub(crate) struct Slot {
    /// How many instances it has had before this one.
    pub generation: u32,
    pub instance: Option<Instance>,
}

/// All instances, by handle.
#[derive(Default)]
pub(crate) struct Instances {
    pub slots: Vec<Slot>,
    /// Slots without an instance; the one that was left last is taken first.
    free: Vec<u32>,
}

impl Instances {
    /// Adds an instance.
    pub fn insert(&mut self, instance: Instance) -> FleshHandle {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.instance = Some(instance);
        FleshHandle { index, generation: slot.generation }
    }

    /// The vertices of a skin in blocks: those of an instance that has it too, or, as at another scale, one whose vertices follow
    /// the same; else new ones.
    pub fn blocks_of(&self, skin: Arc<Skin>) -> Arc<SkinBlocks> {
        if let Some(other) = self.iter().find(|instance| Arc::ptr_eq(&instance.blocks.skin, &skin)) {
            return other.blocks.clone();
        }
        let alike = self.iter().find_map(|instance| instance.blocks.of_alike(&skin));
        Arc::new(alike.unwrap_or_else(|| SkinBlocks::new(skin)))
    }

    /// Removes an instance; its handle becomes invalid.
    pub fn remove(&mut self, handle: FleshHandle) -> Result<(), StepError> {
        self.get(handle)?;
        let slot = &mut self.slots[handle.index as usize];
        slot.instance = None;
        slot.generation += 1;
        self.free.push(handle.index);
        Ok(())
    }

    pub fn get(&self, handle: FleshHandle) -> Result<&Instance, StepError> {
        let slot = self.slots.get(handle.index as usize).filter(|slot| slot.generation == handle.generation);
        slot.and_then(|slot| slot.instance.as_ref()).ok_or(StepError::NoSuchFlesh)
    }

    pub fn get_mut(&mut self, handle: FleshHandle) -> Result<&mut Instance, StepError> {
        let slot = self.slots.get_mut(handle.index as usize).filter(|slot| slot.generation == handle.generation);
        slot.and_then(|slot| slot.instance.as_mut()).ok_or(StepError::NoSuchFlesh)
    }

    /// Those that there are, in the order of their slots.
    pub fn iter(&self) -> impl Iterator<Item = &Instance> {
        self.slots.iter().filter_map(|slot| slot.instance.as_ref())
    }

    /// As [`Self::iter`], to write.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Instance> {
        self.slots.iter_mut().filter_map(|slot| slot.instance.as_mut())
    }

    /// Those that there are, with their handles.
    pub fn handles(&self) -> impl Iterator<Item = (FleshHandle, &Instance)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let handle = FleshHandle { index: index as u32, generation: slot.generation };
            Some((handle, slot.instance.as_ref()?))
        })
    }

    /// As [`Self::handles`], to write.
    pub fn handles_mut(&mut self) -> impl Iterator<Item = (FleshHandle, &mut Instance)> {
        self.slots.iter_mut().enumerate().filter_map(|(index, slot)| {
            let handle = FleshHandle { index: index as u32, generation: slot.generation };
            Some((handle, slot.instance.as_mut()?))
        })
    }

    /// All slots, for a backend that keeps its own store beside them.
    #[cfg(feature = "gpu")]
    pub fn slots(&mut self) -> &mut [Slot] {
        &mut self.slots
    }
}
