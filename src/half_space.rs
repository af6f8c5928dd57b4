//! Planes that flesh rests on.

use glam::DVec3;

use crate::{CollisionGroups, Collisions, CombineRule};

/// Everything below a plane is solid: normal · x < offset is inside.
///
/// It is where it is at the end of the next step, and moves there in it as a rigid body does that has its velocity and its
/// spin: flesh is carried by a lift and turned by a turntable, and a rising floor takes it along. Set both anew before each
/// step: one whose velocity is into the flesh and whose offset stays comes at it anew in every step. One that is only put
/// elsewhere, without a velocity, pushes out what it then holds at 1 m/s. In a step it turns by one radian at most, and of a
/// step so long that part of it is left out ([`StepConfig::split`](crate::step::StepConfig::split)) it moves in the part that
/// is not.
///
/// What a half-space has pressed is remembered by its place in the list, for friction: keep their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    /// Unit normal of the plane, out of the solid.
    pub normal: DVec3,
    /// Signed distance of the plane from the world's origin along the normal (m).
    pub offset: f64,
    /// Coulomb's coefficient of friction (1).
    pub friction: f32,
    /// How that is combined with what flesh says of itself ([`Collisions::friction`]), if that does.
    pub friction_rule: CombineRule,
    /// Newton's coefficient of restitution, 0 to 1 (1): with which share of the speed at which flesh comes to it, straight against its
    /// surface, it leaves again; of what comes as slowly as gravity alone makes it in two substeps, nothing. What is stopped is thrown as
    /// heavy as it was where it touched: all of what is stiff against a substep, else what is near. Where anything has it, all flesh is
    /// stepped in first order. With 1, what is stiff may gain some percent of energy where a step turns it far. 0 by default: flesh
    /// bounces by its own elasticity.
    pub restitution: f32,
    /// How that is combined with what flesh says of itself ([`Collisions::restitution`]), if that does.
    pub restitution_rule: CombineRule,
    /// Which flesh it touches, by [`Collisions::groups`]: all by default.
    pub groups: CollisionGroups,
    /// Names it in contact events ([`Physics::contact_events`](crate::Physics::contact_events)), together with all that have the same;
    /// without, by default, its place in the list does.
    pub id: Option<u64>,
    /// Velocity of its point at [`HalfSpace::centre`]: how far that goes in the step over the step's length (m/s).
    pub velocity: DVec3,
    /// Angular velocity in the step (rad/s).
    pub spin: DVec3,
    /// The point in the world about which it turns, where it is at the step's end (m).
    pub centre: DVec3,
}

/// The largest velocity (m/s) and spin (rad/s) of a half-space.
pub(crate) const FASTEST: f64 = 1.0e4;

/// The farthest that it and its centre may be from the world's origin (m).
pub(crate) const FARTHEST: f64 = 1.0e12;

/// By how much one turns in a frame at most (rad).
pub(crate) const MOST_TURN: f64 = 1.0;

impl HalfSpace {
    /// A half-space at rest, of a unit normal, an offset (m) and a coefficient of friction.
    pub fn new(normal: DVec3, offset: f64, friction: f32) -> Self {
        let still = DVec3::ZERO;
        let (friction_rule, restitution, restitution_rule, groups) = Default::default();
        Self {
            normal,
            offset,
            friction,
            friction_rule,
            restitution,
            restitution_rule,
            groups,
            id: None,
            velocity: still,
            spin: still,
            centre: still,
        }
    }

    /// The floor: solid below y = `height` (m).
    pub fn ground(height: f64, friction: f32) -> Self {
        Self::new(DVec3::Y, height, friction)
    }

    /// It at rest, where it is at the step's end.
    pub fn still(self) -> Self {
        let still = DVec3::ZERO;
        Self { velocity: still, spin: still, centre: still, ..self }
    }

    /// It with a velocity (m/s).
    pub fn moving(self, velocity: DVec3) -> Self {
        Self { velocity, ..self }
    }

    /// It turning about a point of the world (m) with an angular velocity (rad/s).
    pub fn turning(self, spin: DVec3, centre: DVec3) -> Self {
        Self { spin, centre, ..self }
    }

    /// It touching flesh by these groups.
    pub fn in_groups(self, groups: CollisionGroups) -> Self {
        Self { groups, ..self }
    }

    /// It with a coefficient of restitution.
    pub fn bouncing(self, restitution: f32) -> Self {
        Self { restitution, ..self }
    }

    /// It with an id.
    pub fn named(self, id: u64) -> Self {
        Self { id: Some(id), ..self }
    }

    /// Whether it is one: a unit normal, an offset and a centre within 10¹² m, friction between 0 and 1000, restitution between 0 and 1,
    /// and velocities up to 10⁴ m/s and 10⁴ rad/s.
    pub fn is_sound(&self) -> bool {
        let unit = (self.normal.length() - 1.0).abs() < 1.0e-3;
        let near = self.offset.abs() <= FARTHEST && self.centre.length() <= FARTHEST;
        let slow = self.velocity.length() <= FASTEST && self.spin.length() <= FASTEST;
        let bounded = (0.0..=1.0e3).contains(&self.friction) && (0.0..=1.0).contains(&self.restitution);
        unit && near && slow && bounded
    }

    /// It as flesh meets it that touches what is said, where it is nobody's so far away that nothing comes to it.
    pub(crate) fn met_by(&self, collisions: &Collisions) -> Self {
        if collisions.half_spaces && collisions.groups.meets(self.groups) {
            let friction = collisions.rubs_on(self.friction, self.friction_rule);
            let restitution = collisions.bounces_off(self.restitution, self.restitution_rule);
            return Self { friction, restitution, ..*self };
        }
        Self::new(self.normal, -FARTHEST, 0.0)
    }

    /// Signed distance of a point from the plane (m), negative inside the solid.
    pub fn distance(&self, point: DVec3) -> f64 {
        self.normal.dot(point) - self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_is_signed() {
        let slope = HalfSpace::new(DVec3::new(0.6, 0.8, 0.0), 2.0, 0.5);
        assert!((slope.distance(DVec3::new(1.2, 1.6, 7.0))).abs() < 1e-12);
        assert!((slope.distance(DVec3::new(1.8, 2.4, 7.0)) - 1.0).abs() < 1e-12);
        assert!((HalfSpace::ground(1.0, 0.5).distance(DVec3::ZERO) + 1.0).abs() < 1e-12);
    }
}
