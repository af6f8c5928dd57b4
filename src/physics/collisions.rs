//! What an instance touches.

use super::Physics;
use crate::collisions::MOST_FRICTION;
use crate::instances::FleshHandle;
use crate::{Coefficient, Collisions, StepError};

impl Physics {
    /// Says what an instance's flesh touches from the next step on; what it touched and touches no more lets go of it then. It is none of
    /// what snapshots hold.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`], [`StepError::BadFriction`] or [`StepError::BadRestitution`]; then all stays as it was.
    pub fn set_collisions(&mut self, handle: FleshHandle, collisions: Collisions) -> Result<(), StepError> {
        if self.get(handle)?.collisions == collisions {
            return Ok(());
        }
        let beyond = |own: Option<Coefficient>, most: f32| {
            own.map(|own| own.value).filter(|value| !(0.0..=most).contains(value))
        };
        if let Some(friction) = beyond(collisions.friction, MOST_FRICTION) {
            return Err(StepError::BadFriction(friction));
        }
        if let Some(restitution) = beyond(collisions.restitution, 1.0) {
            return Err(StepError::BadRestitution(restitution));
        }
        self.instances.wake_around(handle);
        self.get_mut(handle)?.collisions = collisions;
        Ok(())
    }

    /// What an instance's flesh touches.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn collisions(&self, handle: FleshHandle) -> Result<Collisions, StepError> {
        Ok(self.get(handle)?.collisions)
    }
}
