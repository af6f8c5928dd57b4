//! Solids that flesh touches.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use crate::half_space::{FARTHEST, FASTEST, MOST_TURN};
use crate::{CollisionGroups, Collisions, CombineRule, Pose, Shape};

/// A solid body that flesh stays out of: a shape somewhere in the world.
///
/// As a [`HalfSpace`](crate::HalfSpace) it is where it is at the end of the next step, and moves there in it as a rigid body does
/// that has its velocity and its spin: set all anew before each step. One that is only put elsewhere, without a velocity, pushes
/// out what it then holds at 1 m/s.
///
/// Of all solids, and triangles of meshes, a segment of flesh touches the 128 nearest, and what is up to 10 m away at a frame's start;
/// on a GPU in each substep the 4 nearest points where it touches any.
/// What a solid has pressed is remembered by its place in the list, for friction: keep their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// Its form.
    pub shape: Arc<Shape>,
    /// By how much it is thicker than its shape all round (m).
    pub border_radius: f32,
    /// Where it is at the step's end.
    pub pose: Pose,
    /// Velocity of its point at [`Solid::centre`]: how far that goes in the step over the step's length (m/s).
    pub velocity: DVec3,
    /// Angular velocity in the step (rad/s).
    pub spin: DVec3,
    /// The point in the world about which it turns, where it is at the step's end (m).
    pub centre: DVec3,
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
    /// By which share of its rest radius it dents flesh between two held ends, 0 to 1, before that goes with its bones wherever
    /// they carry it, into the solid too. 0 for ground, into which animation may sink feet.
    pub dents: f32,
}

impl Solid {
    /// A solid at rest, with a coefficient of friction.
    pub fn new(shape: Arc<Shape>, pose: Pose, friction: f32) -> Self {
        let still = DVec3::ZERO;
        let centre = pose.translation;
        let (friction_rule, restitution, restitution_rule, groups) = Default::default();
        Self {
            shape,
            border_radius: 0.0,
            pose,
            velocity: still,
            spin: still,
            centre,
            friction,
            friction_rule,
            restitution,
            restitution_rule,
            groups,
            id: None,
            dents: 0.5,
        }
    }

    /// It at rest, where it is at the step's end.
    pub fn still(self) -> Self {
        Self { velocity: DVec3::ZERO, spin: DVec3::ZERO, centre: self.pose.translation, ..self }
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

    /// Whether it is one: a shape that is ([`Shape::check`]), a pose and a centre that are finite and within 10⁹ m and 10¹² m,
    /// a border and friction between 0 and 1000, dents and restitution between 0 and 1, and velocities up to 10⁴ m/s and 10⁴ rad/s.
    pub fn is_sound(&self) -> bool {
        let shares = [self.dents, self.restitution].iter().all(|share| (0.0..=1.0).contains(share));
        let bounded = shares && (0.0..=1.0e3).contains(&self.friction) && (0.0..=1.0e3).contains(&self.border_radius);
        let slow = self.velocity.length() <= FASTEST && self.spin.length() <= FASTEST;
        self.shape.check().is_ok() && self.pose.is_sound() && self.centre.length() <= FARTHEST && bounded && slow
    }

    /// Whether flesh touches it that touches what is said.
    pub(crate) fn is_met_by(&self, collisions: &Collisions) -> bool {
        collisions.solids && collisions.groups.meets(self.groups)
    }

    /// Where it was when a share was left of a step of so long (s).
    pub(crate) fn before(&self, left: f64, time: f64) -> Pose {
        if left == 0.0 || (self.velocity == DVec3::ZERO && self.spin == DVec3::ZERO) {
            return self.pose;
        }
        let (goes, turns) = self.motion(left, time);
        let back = DQuat::from_scaled_axis(-turns);
        let place = back * (self.pose.translation - self.centre) + self.centre - goes;
        Pose { translation: place, rotation: (back * self.pose.rotation).normalize() }
    }

    /// How far it goes (m) and turns (rad) in a share of a step of so long (s).
    pub(crate) fn motion(&self, share: f64, time: f64) -> (DVec3, DVec3) {
        (self.velocity * (share * time), (self.spin * time).clamp_length_max(MOST_TURN) * share)
    }
}
