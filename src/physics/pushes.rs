//! Forces, impulses and velocities from the game. None of it reads back what a GPU has.

use glam::DVec3;

use super::{Physics, check_node};
use crate::instances::{FleshHandle, Motion};
use crate::{StepError, step};

/// The most that a force (N) or an impulse (N·s) may be.
const MOST_PUSH: f64 = 1.0e9;

/// The most that a velocity (m/s) or a spin (rad/s) may be.
const MOST_MOTION: f64 = 1.0e4;

impl Physics {
    /// Pushes a node of a chain with a force (N, in the world) all through the next step; several add up. What it is attached to
    /// by a bone, the bone takes ([`Physics::reaction`]). However light a node is, it is not accelerated by more than 10⁶ m/s².
    ///
    /// # Errors
    /// As for [`Physics::node`]; [`StepError::BadPush`] for more than 10⁹ N.
    pub fn add_force(&mut self, handle: FleshHandle, chain: usize, node: usize, force: DVec3) -> Result<(), StepError> {
        self.push(handle, chain, node, [("the force", force), ("", DVec3::ZERO)])
    }

    /// Gives a node of a chain an impulse (N·s, in the world) at the start of the next step; several add up. However light a node is,
    /// its velocity does not change by more than 10⁴ m/s.
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
        self.push(handle, chain, node, [("", DVec3::ZERO), ("the impulse", impulse)])
    }

    /// Accelerates all of an instance's flesh beside gravity (m/s², in the world), until it is set again: by wind, or because the
    /// game's world is itself a vehicle.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`]; [`StepError::BadPush`] for more than 10⁶ m/s².
    pub fn set_acceleration(&mut self, handle: FleshHandle, acceleration: DVec3) -> Result<(), StepError> {
        let instance = self.get_mut(handle)?;
        instance.state.acceleration = check("the acceleration", acceleration, step::MOST_GRAVITY)?;
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

    fn push(
        &mut self,
        handle: FleshHandle,
        chain: usize,
        node: usize,
        given: [(&'static str, DVec3); 2],
    ) -> Result<(), StepError> {
        let instance = self.get_mut(handle)?;
        check_node(&instance.flesh, chain, node)?;
        let [force, impulse] = given.map(|(what, value)| check(what, value, MOST_PUSH));
        instance.pushes.push(chain, node, [force?, impulse?]);
        Ok(())
    }
}

fn check(what: &'static str, value: DVec3, most: f64) -> Result<DVec3, StepError> {
    if value.length() <= most { Ok(value) } else { Err(StepError::BadPush { what, value, most }) }
}

fn check_motion(motion: Motion) -> Result<Motion, StepError> {
    check("the velocity", motion.velocity, MOST_MOTION)?;
    check("the spin", motion.spin, MOST_MOTION)?;
    check("the centre", motion.centre, 1.0e12)?;
    Ok(motion)
}
