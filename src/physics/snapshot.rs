//! The whole state: saved, restored, hashed.

use super::instance::InstanceState;
use super::{Physics, StepError};
use crate::skin::SkinnedVertices;

/// The whole state of a [`Physics`], see [`Physics::save`].
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    instances: Vec<(u32, Option<InstanceState>)>,
    last_substep: f64,
    last_solve_step: f64,
    step: u64,
}

impl Physics {
    /// The whole state as [`Physics::state`] shows it, so [`Physics::finish`] first on a GPU; [`Physics::restore`]
    /// then continues bit for bit.
    pub fn save(&self) -> Snapshot {
        let instances = self
            .slots
            .iter()
            .map(|slot| (slot.generation, slot.instance.as_ref().map(|instance| instance.state.clone())))
            .collect();
        let Self { last_substep, last_solve_step, .. } = *self;
        Snapshot { instances, last_substep, last_solve_step, step: self.state_step() }
    }

    /// Goes back to a saved state of the flesh; configuration, planes, the hecs world and rigid bodies are the host's.
    /// Skin is empty until the next step.
    ///
    /// # Errors
    /// [`StepError::OtherScene`] where instances were added or removed since, or are of other flesh; then nothing
    /// changed.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), StepError> {
        let same = self.slots.len() == snapshot.instances.len()
            && self.slots.iter().zip(&snapshot.instances).all(|(slot, (generation, state))| {
                slot.generation == *generation
                    && match (&slot.instance, state) {
                        (Some(instance), Some(state)) => instance.state.fits(state),
                        (instance, state) => instance.is_none() && state.is_none(),
                    }
            });
        if !same {
            return Err(StepError::OtherScene);
        }
        for (slot, (_, state)) in self.slots.iter_mut().zip(&snapshot.instances) {
            if let (Some(instance), Some(state)) = (&mut slot.instance, state) {
                instance.state = state.clone();
                instance.vertices = SkinnedVertices::default();
                instance.changed = true;
            }
        }
        self.last_substep = snapshot.last_substep;
        self.last_solve_step = snapshot.last_solve_step;
        self.at_step(snapshot.step);
        Ok(())
    }

    /// A hash of all node state as [`Physics::state`] shows it: equal states have equal hashes, on any machine.
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
}
