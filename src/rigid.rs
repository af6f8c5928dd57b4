//! Rigid bodies beside the flesh: rapier's world, bones that follow poses, and the solids that flesh touches.
//!
//! The only room that names rapier. Rapier owns every rigid pose; this module converts at the edge.

mod solids;

pub use solids::{LeftOut, TouchedColliders, collider_id, collider_of};

use crate::Pose;
use glam::{DVec3, Quat, Vec3};
use rapier3d::math::Pose as RapierPose;
use rapier3d::na::Unit;
use rapier3d::prelude::{
    BroadPhaseBvh, CCDSolver, ColliderBuilder, ColliderHandle, ColliderSet, ImpulseJointSet, IntegrationParameters,
    IslandManager, MultibodyJointSet, NarrowPhase, PhysicsPipeline, RigidBody, RigidBodyBuilder, RigidBodyHandle,
    RigidBodySet, SoftBodySet,
};

/// The very rapier that this crate was built with, for hosts that add bodies of their own.
pub use rapier3d;

/// What can be wrong with a request to the rigid world.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RigidError {
    /// The handle's body was removed, or belongs to another world.
    #[error("no rigid body {0:?} in this world; drop handles of bodies that you remove")]
    NoSuchBody(RigidBodyHandle),
    /// Only a bone takes a target.
    #[error("rigid body {0:?} is not a bone; make it kinematic and position-based, as spawn_bone does")]
    NotABone(RigidBodyHandle),
    /// Rapier works in f32 around its origin.
    #[error("the pose {0:?} has no finite f32 form; check it for NaN and set RigidWorld::origin near the scene")]
    PoseNotFinite(Pose),
    /// Rapier holds no such solid.
    #[error(
        "the bone's capsule {0:?} is no solid that rapier can hold: its radius must be {low:e} to {high:e} m, and its ends \
         within {high:e} m of the bone; spawn the character larger or smaller",
        low = SOLID_SIZES.start(),
        high = SOLID_SIZES.end()
    )]
    BadCapsule(BoneCapsule),
    /// A plane needs finite numbers, and friction of at least 0.
    #[error("a ground at height {height} m with friction {friction}; both are finite and friction is at least 0")]
    BadGround {
        /// Height of the plane (m).
        height: f64,
        /// Coefficient of friction.
        friction: f32,
    },
    /// A time step is finite and not negative.
    #[error("time step {0} s; give step() a finite dt of at least 0 s")]
    BadTimeStep(f32),
}

/// Sizes (m) of solids that rapier can hold. It works in f32, in which the mass of smaller ones vanishes: nothing feels
/// them; larger ones' volumes overflow.
pub const SOLID_SIZES: std::ops::RangeInclusive<f32> = 1.0e-7..=1.0e7;

/// The solid around a bone: a segment in the bone's own frame, thickened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoneCapsule {
    /// One end of the axis, in the bone's frame (m).
    pub start: Vec3,
    /// The other end, in the bone's frame (m); equal ends make a ball.
    pub end: Vec3,
    /// Radius around the axis (m).
    pub radius: f32,
}

impl BoneCapsule {
    fn is_solid(&self) -> bool {
        let within = |end: Vec3| end.is_finite() && end.abs().max_element() <= *SOLID_SIZES.end();
        within(self.start) && within(self.end) && SOLID_SIZES.contains(&self.radius)
    }

    fn collider(&self) -> ColliderBuilder {
        // Rapier divides by the axis' length.
        if self.start.distance(self.end) <= 1e-6 * self.radius {
            ColliderBuilder::ball(self.radius).translation(self.start)
        } else {
            ColliderBuilder::capsule_from_endpoints(self.start, self.end, self.radius)
        }
    }
}

/// Rapier's sets and pipelines as one value; a host that has its own can move them in and out.
///
/// Every pose that enters or leaves through methods is in the world; rapier's own numbers are relative to
/// [`origin`](Self::origin).
///
/// Sizes: solids may measure [`SOLID_SIZES`]. Rapier is tuned to bodies of about a metre: it lets them overlap by
/// `normalized_allowed_linear_error` (5 mm) and caps speeds at `normalized_max_linear_velocity` (400 m/s), both times
/// `length_unit`, which scenes of toys and of giants set to their own size in
/// [`integration_parameters`](Self::integration_parameters). A body that is thinner than the way that it falls in a step,
/// 3 mm at 60 Hz, falls through others unless its continuous collision detection is on or steps are shorter.
pub struct RigidWorld {
    /// Where rapier's origin lies in the world (m). Rapier works in f32, which is 0.5 mm coarse 5 km away: a distant
    /// scene sets this near itself, before its first body.
    pub origin: DVec3,
    /// Acceleration of dynamic bodies (m/s²).
    pub gravity: Vec3,
    /// Rapier's solver settings; [`step`](Self::step) writes `dt`.
    pub integration_parameters: IntegrationParameters,
    /// The step.
    pub pipeline: PhysicsPipeline,
    /// Groups of bodies that touch, and which of them sleep.
    pub islands: IslandManager,
    /// Which boxes overlap.
    pub broad_phase: BroadPhaseBvh,
    /// Which shapes touch, and where.
    pub narrow_phase: NarrowPhase,
    /// Rigid bodies.
    pub bodies: RigidBodySet,
    /// Shapes.
    pub colliders: ColliderSet,
    /// Joints solved as impulses.
    pub impulse_joints: ImpulseJointSet,
    /// Joints in reduced coordinates.
    pub multibody_joints: MultibodyJointSet,
    /// Rapier's own soft bodies; Sinew adds none.
    pub soft_bodies: SoftBodySet,
    /// Continuous collision detection.
    pub ccd_solver: CCDSolver,
    /// Bodies that characters were spawned with. Those that no [`BoneBodies`](crate::components::BoneBodies) names any more the
    /// next step removes.
    pub character_bones: Vec<RigidBodyHandle>,
    /// Which colliders flesh touches.
    pub touched: TouchedColliders,
}

impl Default for RigidWorld {
    /// Empty, with gravity (0, −9.81, 0) and rapier's default settings.
    fn default() -> Self {
        Self {
            origin: DVec3::ZERO,
            gravity: Vec3::new(0.0, -9.81, 0.0),
            integration_parameters: IntegrationParameters::default(),
            pipeline: PhysicsPipeline::new(),
            islands: IslandManager::new(),
            broad_phase: BroadPhaseBvh::new(),
            narrow_phase: NarrowPhase::new(),
            bodies: RigidBodySet::new(),
            colliders: ColliderSet::new(),
            impulse_joints: ImpulseJointSet::new(),
            multibody_joints: MultibodyJointSet::new(),
            soft_bodies: SoftBodySet::new(),
            ccd_solver: CCDSolver::new(),
            character_bones: Vec::new(),
            touched: TouchedColliders::default(),
        }
    }
}

impl RigidWorld {
    /// Advances all rigid bodies by `dt` (s); bones arrive at their targets.
    ///
    /// # Errors
    /// [`RigidError::BadTimeStep`] if `dt` is negative or not finite.
    pub fn step(&mut self, dt: f32) -> Result<(), RigidError> {
        if !dt.is_finite() || dt < 0.0 {
            return Err(RigidError::BadTimeStep(dt));
        }
        self.integration_parameters.dt = dt;
        self.pipeline.step(
            self.gravity,
            &self.integration_parameters,
            &mut self.islands,
            &mut self.broad_phase,
            &mut self.narrow_phase,
            &mut self.bodies,
            &mut self.colliders,
            &mut self.impulse_joints,
            &mut self.multibody_joints,
            &mut self.soft_bodies,
            &mut self.ccd_solver,
            &(),
            &(),
        );
        Ok(())
    }

    /// Adds a kinematic, position-based body at `pose`, with a capsule around it if one is given. It goes where
    /// [`set_bone_target`](Self::set_bone_target) says, pushes dynamic bodies aside and is never pushed.
    ///
    /// # Errors
    /// [`RigidError::PoseNotFinite`], [`RigidError::BadCapsule`]; nothing is added then.
    pub fn spawn_bone(&mut self, pose: &Pose, capsule: Option<BoneCapsule>) -> Result<RigidBodyHandle, RigidError> {
        let position = self.to_rapier(pose)?;
        if let Some(capsule) = capsule.filter(|capsule| !capsule.is_solid()) {
            return Err(RigidError::BadCapsule(capsule));
        }
        let body = self.bodies.insert(RigidBodyBuilder::kinematic_position_based().pose(position));
        if let Some(capsule) = capsule {
            self.colliders.insert_with_parent(capsule.collider(), body, &mut self.bodies);
        }
        Ok(body)
    }

    /// Where a bone is to be at the end of the next [`step`](Self::step); what it touches feels the velocity that
    /// takes it there.
    ///
    /// # Errors
    /// [`RigidError::NoSuchBody`], [`RigidError::NotABone`], [`RigidError::PoseNotFinite`]; the bone stays then.
    pub fn set_bone_target(&mut self, handle: RigidBodyHandle, pose: &Pose) -> Result<(), RigidError> {
        let position = self.to_rapier(pose)?;
        self.bone_mut(handle)?.set_next_kinematic_position(position);
        Ok(())
    }

    /// Puts a bone at `pose` at once, without velocity: nothing on the way is touched.
    ///
    /// # Errors
    /// As [`set_bone_target`](Self::set_bone_target).
    pub fn teleport_bone(&mut self, handle: RigidBodyHandle, pose: &Pose) -> Result<(), RigidError> {
        let position = self.to_rapier(pose)?;
        let bone = self.bone_mut(handle)?;
        bone.set_position(position, true);
        bone.set_linvel(Vec3::ZERO, true);
        bone.set_angvel(Vec3::ZERO, true);
        Ok(())
    }

    /// Takes a bone out of all collisions, or brings it back.
    ///
    /// # Errors
    /// [`RigidError::NoSuchBody`], [`RigidError::NotABone`].
    pub fn enable_bone(&mut self, handle: RigidBodyHandle, enabled: bool) -> Result<(), RigidError> {
        let bone = self.bone_mut(handle)?;
        if bone.is_enabled() != enabled {
            bone.set_enabled(enabled);
        }
        Ok(())
    }

    /// Where any rigid body is, bone or not.
    ///
    /// # Errors
    /// [`RigidError::NoSuchBody`].
    pub fn body_pose(&self, handle: RigidBodyHandle) -> Result<Pose, RigidError> {
        let body = self.bodies.get(handle).ok_or(RigidError::NoSuchBody(handle))?;
        Ok(self.to_world(body.position()))
    }

    /// Removes a body with its colliders and joints.
    ///
    /// # Errors
    /// [`RigidError::NoSuchBody`] if it is gone already.
    pub fn remove_body(&mut self, handle: RigidBodyHandle) -> Result<(), RigidError> {
        let removed = self.bodies.remove(
            handle,
            &mut self.islands,
            &mut self.colliders,
            &mut self.impulse_joints,
            &mut self.multibody_joints,
            &mut self.soft_bodies,
            true,
        );
        self.character_bones.retain(|bone| *bone != handle);
        removed.map(|_| ()).ok_or(RigidError::NoSuchBody(handle))
    }

    /// Adds a fixed floor, solid below y = `height` (m), with Coulomb friction, for rigid bodies and flesh alike.
    ///
    /// # Errors
    /// [`RigidError::BadGround`] if a number is not finite or friction is negative.
    pub fn spawn_ground(&mut self, height: f64, friction: f32) -> Result<ColliderHandle, RigidError> {
        let local = (height - self.origin.y) as f32;
        if !local.is_finite() || !friction.is_finite() || friction < 0.0 {
            return Err(RigidError::BadGround { height, friction });
        }
        let plane = ColliderBuilder::halfspace(Unit::new_unchecked(Vec3::Y)).translation(Vec3::Y * local);
        Ok(self.colliders.insert(plane.friction(friction)))
    }

    /// A world pose as rapier holds it: f32, relative to [`origin`](Self::origin).
    ///
    /// # Errors
    /// [`RigidError::PoseNotFinite`] if a number is not finite, overflows f32, or the rotation is 0.
    pub fn to_rapier(&self, pose: &Pose) -> Result<RapierPose, RigidError> {
        let translation = (pose.translation - self.origin).as_vec3();
        let rotation = pose.rotation.normalize().as_quat();
        if translation.is_finite() && rotation.is_finite() {
            Ok(RapierPose::from_parts(translation, rotation))
        } else {
            Err(RigidError::PoseNotFinite(*pose))
        }
    }

    /// One of rapier's poses in the world.
    pub fn to_world(&self, pose: &RapierPose) -> Pose {
        let rotation: Quat = pose.rotation;
        Pose::new(self.origin + pose.translation.as_dvec3(), rotation.as_dquat().normalize())
    }

    fn bone_mut(&mut self, handle: RigidBodyHandle) -> Result<&mut RigidBody, RigidError> {
        let body = self.bodies.get_mut(handle).ok_or(RigidError::NoSuchBody(handle))?;
        if body.body_type() == rapier3d::prelude::RigidBodyType::KinematicPositionBased {
            Ok(body)
        } else {
            Err(RigidError::NotABone(handle))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HalfSpace;
    use glam::DQuat;

    const DT: f32 = 1.0 / 60.0;
    /// 5 km from the world's origin.
    const FAR: DVec3 = DVec3::new(4000.25, 0.0, -3000.5);

    fn spawn_ball(world: &mut RigidWorld, place: DVec3, radius: f32) -> RigidBodyHandle {
        let position = world.to_rapier(&Pose::from_translation(place)).unwrap();
        let body = world.bodies.insert(RigidBodyBuilder::dynamic().pose(position));
        world.colliders.insert_with_parent(ColliderBuilder::ball(radius), body, &mut world.bodies);
        body
    }

    fn run(world: &mut RigidWorld, seconds: f32) {
        (0..(seconds / DT).round() as usize).for_each(|_| world.step(DT).unwrap());
    }

    #[test]
    fn ball_falls_freely_then_rests_on_the_ground() {
        for origin in [DVec3::ZERO, FAR] {
            let mut world = RigidWorld { origin, ..Default::default() };
            world.spawn_ground(0.5, 0.7).unwrap();
            let ball = spawn_ball(&mut world, origin + DVec3::Y * 3.0, 0.25);
            run(&mut world, 0.5);
            let fallen = 3.0 - world.body_pose(ball).unwrap().translation.y;
            // ½gt² within what a first-order step of 1/60 s is off, ½gt·dt.
            assert!((fallen - 0.5 * 9.81 * 0.25).abs() < 0.05, "fell {fallen} m in half a second");
            run(&mut world, 3.0);
            let rest = world.body_pose(ball).unwrap().translation - origin;
            assert!((rest.y - 0.75).abs() < 2e-3, "rests at {rest}");
            assert!(rest.x.abs() < 1e-3 && rest.z.abs() < 1e-3, "rolled away to {rest}");
            assert!(world.bodies[ball].linvel().length() < 1e-2);
        }
    }

    #[test]
    fn bone_follows_its_target_and_pushes_a_ball() {
        let mut world = RigidWorld { gravity: Vec3::ZERO, ..Default::default() };
        let capsule = BoneCapsule { start: Vec3::Y * -0.5, end: Vec3::Y * 0.5, radius: 0.1 };
        let bone = world.spawn_bone(&Pose::IDENTITY, Some(capsule)).unwrap();
        let ball = spawn_ball(&mut world, DVec3::new(0.4, 0.0, 0.0), 0.1);
        for step in 1..=60 {
            let travelled = f64::from(step) / 60.0;
            let target = Pose::new(DVec3::X * travelled, DQuat::from_rotation_y(travelled));
            world.set_bone_target(bone, &target).unwrap();
            world.step(DT).unwrap();
            let pose = world.body_pose(bone).unwrap();
            assert!(pose.translation.distance(target.translation) < 1e-6);
            assert!(pose.rotation.dot(target.rotation).abs() > 1.0 - 1e-9);
        }
        let pushed = world.body_pose(ball).unwrap().translation;
        assert!(pushed.x > 1.19 && pushed.y.abs() < 0.05, "the ball is at {pushed}, the bone passed it");
        assert!(world.bodies[ball].linvel().x > 0.9, "the ball did not take the bone's speed of 1 m/s");
    }

    #[test]
    fn teleported_bone_passes_a_ball_by() {
        let mut world = RigidWorld { gravity: Vec3::ZERO, ..Default::default() };
        let ball_like = BoneCapsule { start: Vec3::ZERO, end: Vec3::ZERO, radius: 0.1 };
        let bone = world.spawn_bone(&Pose::IDENTITY, Some(ball_like)).unwrap();
        let ball = spawn_ball(&mut world, DVec3::X * 0.5, 0.1);
        world.step(DT).unwrap();
        world.teleport_bone(bone, &Pose::from_translation(DVec3::X)).unwrap();
        run(&mut world, 0.5);
        assert_eq!(world.body_pose(bone).unwrap().translation, DVec3::X);
        assert_eq!(world.body_pose(ball).unwrap().translation, DVec3::X * 0.5);
    }

    #[test]
    fn half_spaces_stand_in_the_world() {
        let mut world = RigidWorld { origin: FAR, ..Default::default() };
        world.spawn_ground(-1.5, 0.25).unwrap();
        // A plane that tips over with its body: its own +Y comes to lie along −X.
        let tipped = Pose::new(FAR + DVec3::X * 3.0, DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2));
        let bone = world.spawn_bone(&tipped, None).unwrap();
        let plane = || ColliderBuilder::halfspace(Unit::new_unchecked(Vec3::Y)).friction(0.75).restitution(0.5);
        world.colliders.insert_with_parent(plane(), bone, &mut world.bodies);
        world.colliders.insert(plane().sensor(true));
        world.colliders.insert(plane().enabled(false));
        spawn_ball(&mut world, FAR, 0.1);
        world.step(DT).unwrap();

        let planes = world.half_spaces();
        assert_eq!(planes.len(), 2, "sensors, disabled colliders and balls are no planes: {planes:?}");
        assert_eq!(HalfSpace { id: None, ..planes[0] }, HalfSpace::ground(-1.5, 0.25));
        let ids: Vec<_> = planes.iter().filter_map(|plane| plane.id).map(collider_of).collect();
        assert!(ids.len() == 2 && ids.iter().all(|id| world.colliders[*id].shape().as_halfspace().is_some()));
        assert!(planes[1].normal.distance(DVec3::NEG_X) < 1e-6 && planes[1].friction == 0.75);
        assert_eq!([planes[0].restitution, planes[1].restitution], [0.0, 0.5]);
        assert!(planes[1].distance(tipped.translation).abs() < 1e-9);
        assert!((planes[1].distance(FAR) - 3.0).abs() < 1e-6, "the origin is 3 m outside");
    }

    /// A lift that goes up and turns: where it is after the step, and how it moved in it.
    #[test]
    fn half_spaces_move_with_their_bodies() {
        let mut world = RigidWorld { origin: FAR, ..Default::default() };
        let at = Pose::from_translation(FAR + DVec3::X * 2.0);
        let lift = world.spawn_bone(&at, None).unwrap();
        let plane = ColliderBuilder::halfspace(Unit::new_unchecked(Vec3::Y));
        world.colliders.insert_with_parent(plane, lift, &mut world.bodies);
        let dt = f64::from(DT);
        let next = Pose::new(at.translation + DVec3::Y * (3.0 * dt), DQuat::from_rotation_y(0.5 * dt));
        world.set_bone_target(lift, &next).unwrap();
        world.step(DT).unwrap();
        let [plane] = world.half_spaces()[..] else { panic!("one half-space") };
        assert!(plane.distance(next.translation).abs() < 1e-6);
        assert!(plane.velocity.distance(DVec3::Y * 3.0) < 1e-4 && plane.spin.distance(DVec3::Y * 0.5) < 1e-4);
        assert!(plane.centre.distance(next.translation) < 1e-5, "{}", plane.centre);
    }

    #[test]
    fn poses_survive_the_way_through_rapier() {
        let pose = Pose::new(FAR + DVec3::new(0.1, 0.2, 0.3), DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -1.0, 2.0));
        let world = RigidWorld { origin: FAR, ..Default::default() };
        let back = world.to_world(&world.to_rapier(&pose).unwrap());
        assert!(back.translation.distance(pose.translation) < 1e-7);
        assert!(back.rotation.dot(pose.rotation).abs() > 1.0 - 1e-12);
        let coarse = RigidWorld::default();
        let lost = coarse.to_world(&coarse.to_rapier(&pose).unwrap());
        assert!(lost.translation.distance(pose.translation) > 1e-5, "without an origin nearby f32 must show");
    }

    #[test]
    fn a_world_may_live_on_another_thread() {
        let mut world = RigidWorld::default();
        let ball = spawn_ball(&mut world, DVec3::ZERO, 0.1);
        let stepped = std::thread::spawn(move || world.step(DT).map(|()| world)).join().unwrap().unwrap();
        assert!(stepped.body_pose(ball).unwrap().translation.y < 0.0);
    }

    #[test]
    fn bad_requests_are_named() {
        let mut world = RigidWorld::default();
        let bone = world.spawn_bone(&Pose::IDENTITY, None).unwrap();
        let ball = spawn_ball(&mut world, DVec3::Y, 0.1);
        for bad in [
            Pose::from_translation(DVec3::NAN),
            Pose::from_translation(DVec3::splat(1e60)),
            Pose::new(DVec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
        ] {
            assert!(matches!(world.set_bone_target(bone, &bad), Err(RigidError::PoseNotFinite(_))));
            assert!(matches!(world.spawn_bone(&bad, None), Err(RigidError::PoseNotFinite(_))));
        }
        let flat = BoneCapsule { start: Vec3::ZERO, end: Vec3::Y, radius: 0.0 };
        assert_eq!(world.spawn_bone(&Pose::IDENTITY, Some(flat)), Err(RigidError::BadCapsule(flat)));
        assert_eq!(world.bodies.len(), 2, "a refused bone leaves nothing behind");
        assert_eq!(world.set_bone_target(ball, &Pose::IDENTITY), Err(RigidError::NotABone(ball)));
        assert!(matches!(world.spawn_ground(f64::NAN, 0.5), Err(RigidError::BadGround { .. })));
        assert!(matches!(world.spawn_ground(0.0, -0.5), Err(RigidError::BadGround { .. })));
        assert_eq!(world.step(-0.1), Err(RigidError::BadTimeStep(-0.1)));
        world.step(0.0).unwrap();
        world.remove_body(ball).unwrap();
        assert_eq!(world.body_pose(ball), Err(RigidError::NoSuchBody(ball)));
        assert_eq!(world.remove_body(ball), Err(RigidError::NoSuchBody(ball)));
        assert_eq!(world.teleport_bone(ball, &Pose::IDENTITY), Err(RigidError::NoSuchBody(ball)));
    }
}
