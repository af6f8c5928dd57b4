//! Characters in an hecs world: systems as free functions over `&mut World`, and the step that runs them.
//!
//! Data flow of a step: poses and roots (components) → bones (rigid poses) → kinematic bodies → rapier steps →
//! joints bound to bodies follow them → flesh steps → skin and health (components).

mod snapshot;

#[cfg(feature = "rapier")]
pub use snapshot::restore;
pub use snapshot::{CharacterSnapshot, restore_without_bodies, save};

use hecs::{Entity, World};

use crate::character::{Character, CharacterError, Placement};
use crate::components::{Activations, CharacterInstance, CharacterPose, MuscleStates, RootTransform};
use crate::physics::check_activation;
use crate::skin::palette_matrix;
use crate::{Health, Physics, Pose, SkinnedVertices, SnapshotError, StepError};

#[cfg(feature = "rapier")]
use crate::components::{BoneBodies, BoundJoints};
#[cfg(feature = "rapier")]
use crate::rigid::{BoneCapsule, RigidError, RigidWorld};

/// What can go wrong with characters in a world.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The character cannot be spawned so.
    #[error(transparent)]
    Character(#[from] CharacterError),
    /// The flesh cannot step.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A saved state cannot be restored.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The rigid world refused.
    #[cfg(feature = "rapier")]
    #[error(transparent)]
    Rigid(#[from] RigidError),
    /// An entity without a character.
    #[error("entity {0:?} is no character; use the one that Character::spawn returned")]
    NotACharacter(Entity),
}

impl Character {
    /// Spawns the character in its rest pose, with its bones as kinematic bodies in the rigid world.
    ///
    /// [`SkinnedVertices`] are there at once, so that it can be drawn before its first step.
    ///
    /// # Errors
    /// [`WorldError`] where the placement is not finite or out of range; then nothing was spawned.
    #[cfg(feature = "rapier")]
    pub fn spawn(
        &self,
        world: &mut World,
        rigid: &mut RigidWorld,
        physics: &mut Physics,
        placement: impl Into<Placement>,
    ) -> Result<Entity, WorldError> {
        let entity = self.spawn_without_bodies(world, physics, placement)?;
        match self.spawn_bodies(world, rigid, entity) {
            Ok(()) => Ok(entity),
            Err(error) => {
                despawn(world, physics, rigid, entity)?;
                Err(error)
            }
        }
    }

    #[cfg(feature = "rapier")]
    fn spawn_bodies(&self, world: &mut World, rigid: &mut RigidWorld, entity: Entity) -> Result<(), WorldError> {
        let (body, bones) = {
            let mut query = world.query_one::<(&CharacterInstance, &CharacterPose, &RootTransform)>(entity);
            let (instance, pose, root) = query.get().map_err(|_| WorldError::NotACharacter(entity))?;
            let (bones, _) = instance.body.posed(self.asset(), &pose.0, &root.0, &[]);
            (instance.body.clone(), bones)
        };
        let mut bodies = BoneBodies::default();
        for (index, bone) in bones.iter().enumerate() {
            let capsule = body.pills.iter().find(|pill| pill.bone == index).map(|pill| BoneCapsule {
                start: pill.ends[0],
                end: pill.ends[1],
                radius: pill.radii[0].min(pill.radii[1]),
            });
            match rigid.spawn_bone(bone, capsule) {
                Ok(handle) => bodies.0.push(handle),
                Err(error) => {
                    for handle in bodies.0 {
                        rigid.remove_body(handle)?;
                    }
                    return Err(error.into());
                }
            }
        }
        world.insert_one(entity, bodies).map_err(|_| WorldError::NotACharacter(entity))
    }

    /// Spawns the character without rigid bodies.
    ///
    /// # Errors
    /// As for [`Character::spawn`].
    pub fn spawn_without_bodies(
        &self,
        world: &mut World,
        physics: &mut Physics,
        placement: impl Into<Placement>,
    ) -> Result<Entity, WorldError> {
        let Placement { pose: root, scale } = placement.into();
        let body = self.body_at(scale)?;
        let pose = self.asset().skeleton.rest_pose();
        let (bones, palette) = body.posed(self.asset(), &pose, &root, &[]);
        let flesh = physics.insert_sound(body.flesh.clone(), body.skin.clone(), &bones, root)?;
        physics.set_palette(flesh, palette.iter().map(palette_matrix))?;
        physics.deform_skin(flesh)?;
        let vertices = physics.vertices(flesh)?.clone();
        let activations = Activations(vec![0.0; body.flesh.chains().len()]);
        let instance = CharacterInstance { character: self.clone(), body, flesh };
        Ok(world.spawn((instance, CharacterPose(pose), RootTransform(root), activations, vertices, Health::default())))
    }
}

/// Removes a character with its flesh and its bones' bodies.
///
/// # Errors
/// [`WorldError::NotACharacter`], or what the rigid world says of bodies that the game has removed; all else is gone
/// then nevertheless.
#[cfg(feature = "rapier")]
pub fn despawn(
    world: &mut World,
    physics: &mut Physics,
    rigid: &mut RigidWorld,
    entity: Entity,
) -> Result<(), WorldError> {
    let bodies = world.remove_one::<BoneBodies>(entity).unwrap_or_default();
    let mut removed = Ok(());
    for handle in bodies.0 {
        removed = removed.and(rigid.remove_body(handle));
    }
    despawn_without_bodies(world, physics, entity)?;
    Ok(removed?)
}

/// Removes a character that has no rigid bodies, with its flesh.
///
/// # Errors
/// [`WorldError::NotACharacter`].
pub fn despawn_without_bodies(world: &mut World, physics: &mut Physics, entity: Entity) -> Result<(), WorldError> {
    let flesh = flesh_of(world, entity)?;
    physics.remove(flesh)?;
    world.despawn(entity).map_err(|_| WorldError::NotACharacter(entity))
}

/// Excites a character's muscle by its name: 0 at rest, 1 at peak tension, at most 10. [`Activations`] keeps it until it is
/// set again.
///
/// # Errors
/// [`WorldError::NotACharacter`]; [`WorldError::Step`] with [`StepError::UnknownMuscle`], which lists the names that there
/// are, or with [`StepError::BadActivation`]. Nothing changed then.
pub fn activate(world: &mut World, entity: Entity, muscle: &str, activation: f32) -> Result<(), WorldError> {
    let (instance, activations) = world
        .query_one_mut::<(&CharacterInstance, &mut Activations)>(entity)
        .map_err(|_| WorldError::NotACharacter(entity))?;
    let index = instance.muscle(muscle).map_err(StepError::from)?;
    check_activation(activation)?;
    if activations.0.len() <= index {
        activations.0.resize(index + 1, 0.0);
    }
    activations.0[index] = activation;
    Ok(())
}

/// Puts a character's root elsewhere: its flesh is at rest there, without velocity, and no bone sweeps through
/// what lies between. Joints bound to rigid bodies stay with them: a ragdoll's bodies are the game's to move, first.
/// [`SkinnedVertices`] follow with the next step.
///
/// # Errors
/// [`WorldError::NotACharacter`], or [`WorldError::Step`] or [`WorldError::Rigid`] where the pose is not finite or a
/// body is gone; then nothing moved.
#[cfg(feature = "rapier")]
pub fn teleport(
    world: &mut World,
    physics: &mut Physics,
    rigid: &mut RigidWorld,
    entity: Entity,
    root: Pose,
) -> Result<(), WorldError> {
    let bones = bones_at(world, rigid, entity, None, &root)?;
    let bodies = bodies_with(world, entity, &bones);
    for (handle, bone) in &bodies {
        rigid.to_rapier(bone)?;
        rigid.body_pose(*handle)?;
    }
    physics.teleport(flesh_of(world, entity)?, &bones, root)?;
    let transform = world.query_one_mut::<&mut RootTransform>(entity);
    transform.map_err(|_| WorldError::NotACharacter(entity))?.0 = root;
    for (handle, bone) in bodies {
        rigid.teleport_bone(handle, &bone)?;
    }
    Ok(())
}

/// Where a character's bones are in its pose, or in another one, with its root at a place; bound joints stay with their
/// bodies.
#[cfg(feature = "rapier")]
fn bones_at(
    world: &World,
    rigid: &RigidWorld,
    entity: Entity,
    pose: Option<&CharacterPose>,
    root: &Pose,
) -> Result<Vec<Pose>, WorldError> {
    let mut query =
        world.query_one::<(&CharacterInstance, &CharacterPose, &RootTransform, Option<&BoundJoints>)>(entity);
    let (instance, own, _, bound) = query.get().map_err(|_| WorldError::NotACharacter(entity))?;
    let held = held_joints(rigid, bound, root)?;
    Ok(instance.body.posed(instance.character.asset(), &pose.unwrap_or(own).0, root, &held).0)
}

/// A character's bodies, with their bones.
#[cfg(feature = "rapier")]
fn bodies_with(
    world: &World,
    entity: Entity,
    bones: &[Pose],
) -> Vec<(crate::rigid::rapier3d::prelude::RigidBodyHandle, Pose)> {
    let bodies = world.get::<&BoneBodies>(entity);
    bodies.into_iter().flat_map(|bodies| bodies.0.clone()).zip(bones.iter().copied()).collect()
}

/// Joints that follow rigid bodies, with where these are in model space.
#[cfg(feature = "rapier")]
fn held_joints(rigid: &RigidWorld, bound: Option<&BoundJoints>, root: &Pose) -> Result<Vec<(u32, Pose)>, RigidError> {
    let bound = bound.into_iter().flat_map(|bound| &bound.0);
    bound.map(|&(joint, handle)| Ok((joint, root.inverse() * rigid.body_pose(handle)?))).collect()
}

fn flesh_of(world: &World, entity: Entity) -> Result<crate::FleshHandle, WorldError> {
    let instance = world.get::<&CharacterInstance>(entity).map_err(|_| WorldError::NotACharacter(entity))?;
    Ok(instance.flesh)
}

impl Physics {
    /// Steps everything by `dt` (s): rapier with the bones as kinematic bodies, then the flesh on bones and ground.
    ///
    /// [`Physics::planes`] become rapier's half-spaces, of which flesh touches the first four. Rapier falls by
    /// `RigidWorld::gravity`, flesh by [`crate::step::StepConfig::gravity`].
    ///
    /// # Errors
    /// [`WorldError`]; see [`Physics::step_flesh`]. Where a time step is bad, a body is gone or its bone's pose is
    /// not finite, neither rapier nor the flesh has moved.
    #[cfg(feature = "rapier")]
    pub fn step(&mut self, world: &mut World, rigid: &mut RigidWorld, dt: f64) -> Result<(), WorldError> {
        self.check_step(dt)?;
        for (bound, root) in world.query_mut::<(&BoundJoints, &RootTransform)>() {
            held_joints(rigid, Some(bound), &root.0)?;
        }
        excite(self, world)?;
        for (instance, pose, root, bodies, bound) in
            world.query_mut::<(&CharacterInstance, &CharacterPose, &RootTransform, &BoneBodies, Option<&BoundJoints>)>()
        {
            let held = held_joints(rigid, bound, &root.0)?;
            let (bones, _) = instance.body.posed(instance.character.asset(), &pose.0, &root.0, &held);
            for ((handle, bone), joint) in bodies.0.iter().zip(&bones).zip(&instance.body.bones) {
                // A bound joint's own body is the one it is bound to; a second solid in its place would push it.
                rigid.enable_bone(*handle, held.iter().all(|(held, _)| held != joint))?;
                rigid.set_bone_target(*handle, bone)?;
            }
        }
        rigid.step(dt as f32)?;
        for (instance, pose, root, bound) in
            world.query_mut::<(&CharacterInstance, &CharacterPose, &RootTransform, Option<&BoundJoints>)>()
        {
            let held = held_joints(rigid, bound, &root.0)?;
            gather(self, instance, pose, root, &held)?;
        }
        self.planes = rigid.half_spaces();
        self.step_flesh(dt)?;
        scatter_outputs(world, self)
    }

    /// Steps the flesh of all characters by `dt` (s) without rigid bodies; planes are [`Physics::planes`].
    ///
    /// # Errors
    /// [`WorldError`]; see [`Physics::step_flesh`].
    pub fn step_world(&mut self, world: &mut World, dt: f64) -> Result<(), WorldError> {
        excite(self, world)?;
        for (instance, pose, root) in world.query_mut::<(&CharacterInstance, &CharacterPose, &RootTransform)>() {
            gather(self, instance, pose, root, &[])?;
        }
        self.step_flesh(dt)?;
        scatter_outputs(world, self)
    }
}

/// Excites all characters' muscles.
fn excite(physics: &mut Physics, world: &mut World) -> Result<(), WorldError> {
    for (instance, activations) in world.query_mut::<(&CharacterInstance, &Activations)>() {
        for (chain, &activation) in activations.0.iter().enumerate() {
            physics.set_activation(instance.flesh, chain, activation)?;
        }
    }
    Ok(())
}

/// One character's components become bones and palette; `held` are joints that follow rigid poses in model space.
fn gather(
    physics: &mut Physics,
    instance: &CharacterInstance,
    pose: &CharacterPose,
    root: &RootTransform,
    held: &[(u32, Pose)],
) -> Result<(), WorldError> {
    let (bones, palette) = instance.body.posed(instance.character.asset(), &pose.0, &root.0, held);
    if physics.take_fresh(instance.flesh)? {
        // Into the first pose after its spawn it did not move.
        physics.teleport(instance.flesh, &bones, root.0)?;
    } else {
        physics.set_bones(instance.flesh, &bones, root.0)?;
    }
    physics.set_palette(instance.flesh, palette.iter().map(palette_matrix))?;
    Ok(())
}

/// Skin, muscles' states and health become components, for entities that have them.
fn scatter_outputs(world: &mut World, physics: &Physics) -> Result<(), WorldError> {
    for (instance, vertices, muscles, health) in world.query_mut::<(
        &CharacterInstance,
        Option<&mut SkinnedVertices>,
        Option<&mut MuscleStates>,
        Option<&mut Health>,
    )>() {
        if let Some(vertices) = vertices {
            vertices.clone_from(physics.vertices(instance.flesh)?);
        }
        if let Some(muscles) = muscles {
            muscles.0.clear();
            for chain in 0..instance.body.flesh.chains().len() {
                muscles.0.push(physics.muscle(instance.flesh, chain)?);
            }
        }
        if let Some(health) = health {
            let now = physics.health(instance.flesh)?;
            if health != now {
                health.clone_from(now);
            }
        }
    }
    Ok(())
}
