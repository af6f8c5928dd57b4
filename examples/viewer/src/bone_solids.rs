//! A character's bones as solids for what is thrown at it.

use std::sync::Arc;

use glam::DVec3;
use sinew::character::Body;
use sinew::{CollisionGroups, Collisions, Pose, Shape, Solid};

/// The group of what bones stop.
const STOPPED: CollisionGroups = CollisionGroups::new(u32::MAX, 1 << 31);
/// How thick a bone is that flesh hangs on, over its pill.
const CORE: f32 = 0.6;
/// What goes farther in a step is put there (m).
const JUMP: f64 = 0.5;

/// What the character's own flesh touches: all but its bones.
pub fn own_flesh() -> Collisions {
    let groups = CollisionGroups::new(!STOPPED.filter, u32::MAX);
    Collisions { groups, ..Collisions::default() }
}

/// Where bones were a step ago.
#[derive(Default)]
pub struct BoneSolids {
    before: Vec<Pose>,
}

impl BoneSolids {
    /// The pills of a body whose bones are at these poses, moving as they did in the last step of `dt` (s).
    pub fn follow(&mut self, body: &Body, bones: Vec<Pose>, dt: f64) -> Vec<Solid> {
        let fleshy = |bone| body.flesh.chains().iter().any(|chain| chain.bones.contains(&bone));
        let solid = |pill: &sinew::character::Pill| {
            let share = if fleshy(pill.bone) { CORE } else { 1.0 };
            let shape = Shape::Capsule { ends: pill.ends, radius: share * pill.radii[0].min(pill.radii[1]) };
            let pose = bones[pill.bone];
            let solid = Solid::new(Arc::new(shape), pose, 0.5).in_groups(STOPPED);
            match self.before.get(pill.bone) {
                Some(before) if before.translation.distance(pose.translation) < JUMP => {
                    let (velocity, spin) = motion(before, &pose, dt);
                    solid.moving(velocity).turning(spin, pose.translation)
                }
                _ => solid,
            }
        };
        let solids = body.pills.iter().map(solid).collect();
        self.before = bones;
        solids
    }

    /// Forgets where they were.
    pub fn forget(&mut self) {
        self.before.clear();
    }
}

/// The velocity (m/s) and the spin (rad/s) that lead from a pose to another one.
fn motion(from: &Pose, to: &Pose, dt: f64) -> (DVec3, DVec3) {
    let turn = to.rotation * from.rotation.inverse();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    ((to.translation - from.translation) / dt, turn.to_scaled_axis() / dt)
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;

    #[test]
    fn a_turn_is_taken_the_short_way() {
        let to = Pose::new(DVec3::X, -DQuat::from_rotation_y(0.1));
        let (velocity, spin) = motion(&Pose::IDENTITY, &to, 0.5);
        assert!(velocity.distance(DVec3::X * 2.0) < 1e-12 && spin.distance(DVec3::Y * 0.2) < 1e-12, "{spin}");
    }
}
