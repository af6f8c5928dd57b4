//! Forces, impulses and velocities from the game. None of it reads back what a GPU has.

use glam::DVec3;

use super::{Physics, check_node};
use crate::StepError;
use crate::instances::{FleshHandle, Instance, MOST_ACCELERATION, MOST_VELOCITY, Motion, Pushes};

/// The most that a force (N) or an impulse (N·s) may be.
const MOST_PUSH: f64 = 1.0e9;

/// How far away the centre of a motion may be (m).
const FARTHEST: f64 = 1.0e12;

impl Physics {
    /// Pushes a node of a chain with a force (N, in the world) all through the next step; several add up. What it is attached to
    /// by a bone, the bone takes ([`Physics::reaction`]). However light a node is, it is not accelerated by more than 10⁶ m/s².
    ///
    /// # Errors
    /// As for [`Physics::node`]; [`StepError::BadPush`] for more than 10⁹ N.
    pub fn add_force(&mut self, handle: FleshHandle, chain: usize, node: usize, force: DVec3) -> Result<(), StepError> {
        let force = check("the force (N)", force, MOST_PUSH)?;
        self.pushes_of(handle, chain, node)?.push(chain, node, [force, DVec3::ZERO]);
        Ok(())
    }

    /// Gives a node of a chain an impulse (N·s, in the world) at the start of the next step; several add up. However light a node
    /// is, its velocity does not change by more than 10⁴ m/s.
    ///
    /// # Errors
    /// As for [`Physics::node`]; [`StepError::BadPush`] for more than 10⁹ N·s.
    pub fn apply_impulse(
        &mut self,
        handle: FleshHandle,
        chain: usize,
        node: usize,
        impulse: DVec3,
    ) -> Result<(), StepError> {
        let impulse = check("the impulse (N·s)", impulse, MOST_PUSH)?;
        self.pushes_of(handle, chain, node)?.push(chain, node, [DVec3::ZERO, impulse]);
        Ok(())
    }

    /// Accelerates all of an instance's flesh beside gravity (m/s², in the world), until it is set again: by wind, or because the
    /// game's world is itself a vehicle.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`]; [`StepError::BadPush`] for more than 10⁶ m/s².
    pub fn set_acceleration(&mut self, handle: FleshHandle, acceleration: DVec3) -> Result<(), StepError> {
        let acceleration = check("the acceleration (m/s²)", acceleration, MOST_ACCELERATION)?;
        if self.get(handle)?.state.acceleration != acceleration {
            self.wake(handle)?;
        }
        self.get_mut(handle)?.state.acceleration = acceleration;
        Ok(())
    }

    /// Puts a rigid motion in the place of the velocities of all of an instance's flesh but what bones hold, at the start of the
    /// next step.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`]; [`StepError::BadPush`] for a velocity or a spin of more than 10⁴ m/s or rad/s.
    pub fn set_velocity(&mut self, handle: FleshHandle, motion: Motion) -> Result<(), StepError> {
        self.get_mut(handle)?.pushes.replace(check_motion(motion)?);
        Ok(())
    }

    /// As [`Physics::set_velocity`], beside the velocities that it has: throws it.
    ///
    /// # Errors
    /// As for [`Physics::set_velocity`].
    pub fn add_velocity(&mut self, handle: FleshHandle, motion: Motion) -> Result<(), StepError> {
        self.get_mut(handle)?.pushes.add(check_motion(motion)?);
        Ok(())
    }

    /// What an instance is given, if it has such a node.
    fn pushes_of(&mut self, handle: FleshHandle, chain: usize, node: usize) -> Result<&mut Pushes, StepError> {
        let Instance { flesh, pushes, .. } = self.get_mut(handle)?;
        check_node(flesh, chain, node)?;
        Ok(pushes)
    }
}

fn check(what: &'static str, value: DVec3, most: f64) -> Result<DVec3, StepError> {
    if value.length() <= most { Ok(value) } else { Err(StepError::BadPush { what, value, most }) }
}

fn check_motion(motion: Motion) -> Result<Motion, StepError> {
    check("the velocity (m/s)", motion.velocity, MOST_VELOCITY)?;
    check("the spin (rad/s)", motion.spin, MOST_VELOCITY)?;
    check("the centre (m)", motion.centre, FARTHEST)?;
    Ok(motion)
}
