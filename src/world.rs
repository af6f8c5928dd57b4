//! Characters in an hecs world: systems as free functions over `&mut World`, and the step that runs them.
//!
//! Data flow of a step, one function each: what has lost its entity is removed ([`remove_orphans`]) → excitations (components)
//! ([`excite`]) and morph weights ([`morph`]) → poses and roots (components) to kinematic bodies ([`drive_bodies`]) → rapier steps
//! ([`RigidWorld::step`]) → bones, also those that follow bodies, palettes and planes ([`gather_inputs`]) → flesh steps
//! ([`Physics::step_flesh`], or `Physics::encode` into the host's own encoder) → muscles' states and health (components)
//! ([`scatter_outputs`]); [`contact_events`] then says who touches whom. [`Physics::step`] calls them in this order; a host with a
//! schedule of its own calls them itself.
//!
//! A character whose pose, excitation or body cannot be what it is keeps what it had, and says so in [`Health::fault`]; the
//! others step. One [`Physics`] is for one world: flesh that was spawned into another one would seem to have lost its entity.

mod events;
mod snapshot;
mod spawn;
mod systems;

pub use events::{ContactBody, EntityContact, contact_events};
#[cfg(feature = "rapier")]
pub use snapshot::restore;
pub use snapshot::{CharacterSnapshot, restore_without_bodies, save};
#[cfg(feature = "rapier")]
pub use spawn::despawn;
pub use spawn::despawn_without_bodies;
#[cfg(feature = "rapier")]
pub use systems::{drive_bodies, gather_inputs, remove_orphans};
pub use systems::{excite, gather_inputs_without_bodies, morph, remove_orphans_without_bodies, scatter_outputs};

use glam::DVec3;
use hecs::{Entity, World};

#[cfg(doc)]
use crate::Health;
use crate::character::CharacterError;
use crate::components::{Activations, CharacterInstance, MorphWeights, RootTransform};
use crate::physics::{check_activation, check_morph_weights, morphs_named};
use crate::{FleshBudget, Physics, SkinnedVertices, SnapshotError, StepError};

#[cfg(feature = "rapier")]
use crate::Pose;
#[cfg(feature = "rapier")]
use crate::components::{BoneBodies, BoundJoints, CharacterPose};
#[cfg(feature = "rapier")]
use crate::rigid::{RigidError, RigidWorld};

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
    /// The network is for another character.
    #[cfg(feature = "neural")]
    #[error(transparent)]
    Network(#[from] crate::neural::NetworkMismatch),
    /// An entity without a character.
    #[error("entity {0:?} is no character; use the one that Character::spawn returned")]
    NotACharacter(Entity),
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

/// Sets how much a character has of all morph targets of a name. [`MorphWeights`] keeps it until it is set again.
///
/// # Errors
/// [`WorldError::NotACharacter`]; [`WorldError::Step`] with [`StepError::UnknownMorph`], which lists the names that there are, or
/// with [`StepError::BadMorphWeight`]. Nothing changed then.
pub fn morph_named(world: &mut World, entity: Entity, name: &str, weight: f32) -> Result<(), WorldError> {
    let (instance, weights) = world
        .query_one_mut::<(&CharacterInstance, Option<&mut MorphWeights>)>(entity)
        .map_err(|_| WorldError::NotACharacter(entity))?;
    let skin = &instance.body.skin;
    let named = morphs_named(&skin.morphs, name)?;
    check_morph_weights(&[weight])?;
    let set = |own: &mut Vec<f32>| {
        let lacking = skin.morphs.iter().skip(own.len()).map(|morph| morph.weight);
        own.extend(lacking);
        named.iter().for_each(|&index| own[index] = weight);
    };
    match weights {
        Some(weights) => set(&mut weights.0),
        None => {
            let mut weights = MorphWeights::default();
            set(&mut weights.0);
            world.insert_one(entity, weights).map_err(|_| WorldError::NotACharacter(entity))?;
        }
    }
    Ok(())
}

/// Gives a character's skin a network, in the place of the one that it had: from the next step on it reads the character's pose and
/// activations, and moves its vertices before they are skinned ([`Physics::set_network`], [`Physics::set_detail`]).
///
/// # Errors
/// [`WorldError::NotACharacter`]; [`WorldError::Network`] with everything in which the character is not the one that the network is
/// for.
#[cfg(feature = "neural")]
pub fn set_network(
    world: &World,
    physics: &mut Physics,
    entity: Entity,
    network: std::sync::Arc<crate::neural::CorrectiveNetwork>,
) -> Result<(), WorldError> {
    let instance = world.get::<&CharacterInstance>(entity).map_err(|_| WorldError::NotACharacter(entity))?;
    let binding = network.bind(&instance.character)?;
    Ok(physics.set_network(instance.flesh, network, binding)?)
}

/// Has the skin of the characters near `viewer` (m, in the world) go with their rods, as many as the budget says, and that of the far
/// with their networks ([`Physics::keep_to_budget`]). Called before each step, or now and then.
///
/// # Errors
/// [`WorldError::Step`] with [`StepError::BadBlend`]; nothing changed then.
pub fn keep_to_budget(
    world: &mut World,
    physics: &mut Physics,
    budget: &FleshBudget,
    viewer: DVec3,
) -> Result<(), WorldError> {
    let characters = world.query_mut::<(&CharacterInstance, &RootTransform)>().into_iter();
    let distances: Vec<_> = characters
        .map(|(instance, root)| (instance.flesh, root.0.translation.distance(viewer)))
        .filter(|(flesh, _)| physics.skin_motion(*flesh).is_ok())
        .collect();
    Ok(physics.keep_to_budget(budget, &distances)?)
}

/// Puts a character's root elsewhere: its flesh is at rest there, without velocity, and no bone sweeps through
/// what lies between. Joints bound to rigid bodies stay with them: a ragdoll's bodies are the game's to move, first.
/// Its skin follows with the next step.
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

/// A character's skin after the last step, or on a GPU as it arrived last: see [`Physics::vertices`].
///
/// # Errors
/// [`WorldError::NotACharacter`].
pub fn vertices<'a>(world: &World, physics: &'a Physics, entity: Entity) -> Result<&'a SkinnedVertices, WorldError> {
    Ok(physics.vertices(flesh_of(world, entity)?)?)
}

fn flesh_of(world: &World, entity: Entity) -> Result<crate::FleshHandle, WorldError> {
    let instance = world.get::<&CharacterInstance>(entity).map_err(|_| WorldError::NotACharacter(entity))?;
    Ok(instance.flesh)
}

impl Physics {
    /// Steps everything by `dt` (s): rapier with the bones as kinematic bodies, then the flesh on bones and ground.
    ///
    /// Flesh touches [`Physics::planes`], [`Physics::solids`] and rapier's colliders (`RigidWorld::solids`), and moves with those on
    /// bodies that move; it does not push them. Rapier falls by
    /// `RigidWorld::gravity`, flesh by [`crate::step::StepConfig::gravity`]. A character whose pose, excitation or body is not
    /// what it can be keeps what it had: [`Health::fault`] says so.
    ///
    /// # Errors
    /// [`WorldError`]; see [`Physics::step_flesh`]. Neither rapier nor the flesh has moved then, but where a GPU fails in this very
    /// step: rapier is then one ahead.
    #[cfg(feature = "rapier")]
    pub fn step(&mut self, world: &mut World, rigid: &mut RigidWorld, dt: f64) -> Result<(), WorldError> {
        self.check_step(dt)?;
        remove_orphans(world, self, rigid);
        excite(world, self);
        morph(world, self);
        drive_bodies(world, self, rigid);
        rigid.step(dt as f32)?;
        gather_inputs(world, self, rigid);
        self.step_flesh(dt)?;
        scatter_outputs(world, self);
        Ok(())
    }

    /// Steps the flesh of all characters by `dt` (s) without rigid bodies; planes are [`Physics::planes`].
    ///
    /// # Errors
    /// [`WorldError`]; see [`Physics::step_flesh`].
    pub fn step_world(&mut self, world: &mut World, dt: f64) -> Result<(), WorldError> {
        self.check_step(dt)?;
        remove_orphans_without_bodies(world, self);
        excite(world, self);
        morph(world, self);
        gather_inputs_without_bodies(world, self);
        self.step_flesh(dt)?;
        scatter_outputs(world, self);
        Ok(())
    }
}
