//! What an instance touches.

use super::Physics;
use crate::collisions::MOST_FRICTION;
use crate::instances::FleshHandle;
use crate::{Collisions, Friction, StepError};

impl Physics {
    /// Says what an instance's flesh touches from the next step on; what it touched and touches no more lets go of it then. It is none of
    /// what snapshots hold.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`] or [`StepError::BadFriction`]; then all stays as it was.
    pub fn set_collisions(&mut self, handle: FleshHandle, collisions: Collisions) -> Result<(), StepError> {
        if self.get(handle)?.collisions == collisions {
            return Ok(());
        }
        match collisions.friction {
            Some(Friction { coefficient, .. }) if !(0.0..=MOST_FRICTION).contains(&coefficient) => {
                Err(StepError::BadFriction(coefficient))
            }
            _ => {
                self.instances.wake_around(handle);
                self.get_mut(handle)?.collisions = collisions;
                Ok(())
            }
        }
    }

    /// What an instance's flesh touches.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn collisions(&self, handle: FleshHandle) -> Result<Collisions, StepError> {
        Ok(self.get(handle)?.collisions)
    }
}
