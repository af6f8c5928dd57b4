//! One character, saved and restored alone.

use hecs::{Entity, World};

use super::{WorldError, flesh_of};
use crate::components::{Activations, CharacterInstance, CharacterPose, MorphWeights, RootTransform};
use crate::{FleshSnapshot, Physics, SnapshotError};

#[cfg(feature = "rapier")]
use super::{bodies_with, bones_at};
#[cfg(feature = "rapier")]
use crate::rigid::RigidWorld;

/// A character's state: its flesh, and what the game has set of it. With feature `serde` it can be written and read as a
/// [`crate::Snapshot`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CharacterSnapshot {
    /// Its flesh.
    pub flesh: FleshSnapshot,
    /// Its pose.
    pub pose: CharacterPose,
    /// Its root.
    pub root: RootTransform,
    /// What excites its muscles.
    pub activations: Activations,
    /// How much of each morph target its skin has, where the game says so.
    pub morphs: Option<MorphWeights>,
}

/// A character's state as [`Physics::state`] shows it, so [`Physics::finish`] first on a GPU.
///
/// # Errors
/// [`WorldError::NotACharacter`].
pub fn save(world: &World, physics: &Physics, entity: Entity) -> Result<CharacterSnapshot, WorldError> {
    let flesh = physics.save_flesh(flesh_of(world, entity)?)?;
    let mut query =
        world.query_one::<(&CharacterPose, &RootTransform, Option<&Activations>, Option<&MorphWeights>)>(entity);
    let (pose, root, activations, morphs) = query.get().map_err(|_| WorldError::NotACharacter(entity))?;
    Ok(CharacterSnapshot {
        flesh,
        pose: pose.clone(),
        root: *root,
        activations: activations.cloned().unwrap_or_default(),
        morphs: morphs.cloned(),
    })
}

/// Puts a character back to a saved state of its own, or of another one of the same character at the same scale; the
/// bodies of its bones go where the pose has them, without velocity. Bodies of [`crate::components::BoundJoints`] are the
/// game's to move.
///
/// # Errors
/// [`WorldError::NotACharacter`]; [`WorldError::Snapshot`] where the snapshot is of other flesh, or cannot be restored;
/// [`WorldError::Rigid`] where a body is gone or cannot go there. Nothing changed then.
#[cfg(feature = "rapier")]
pub fn restore(
    world: &mut World,
    physics: &mut Physics,
    rigid: &mut RigidWorld,
    entity: Entity,
    snapshot: &CharacterSnapshot,
) -> Result<(), WorldError> {
    check(world, entity, snapshot)?;
    let bones = bones_at(world, rigid, entity, Some(&snapshot.pose), &snapshot.root.0)?;
    let bodies = bodies_with(world, entity, &bones);
    for (handle, bone) in &bodies {
        rigid.to_rapier(bone)?;
        rigid.body_pose(*handle)?;
    }
    restore_without_bodies(world, physics, entity, snapshot)?;
    for (handle, bone) in &bodies {
        rigid.teleport_bone(*handle, bone)?;
    }
    Ok(())
}

/// As [`restore`], for a character without rigid bodies.
///
/// # Errors
/// As for [`restore`].
pub fn restore_without_bodies(
    world: &mut World,
    physics: &mut Physics,
    entity: Entity,
    snapshot: &CharacterSnapshot,
) -> Result<(), WorldError> {
    check(world, entity, snapshot)?;
    physics.restore_flesh(flesh_of(world, entity)?, &snapshot.flesh)?;
    let CharacterSnapshot { pose, root, activations, morphs, .. } = snapshot.clone();
    let gone = |_| WorldError::NotACharacter(entity);
    world.insert(entity, (pose, root, activations)).map_err(gone)?;
    match morphs {
        Some(morphs) => world.insert_one(entity, morphs).map_err(gone),
        // What the flesh's state says stands then; a component would say otherwise with the next step.
        None if world.get::<&MorphWeights>(entity).is_ok() => {
            world.remove_one::<MorphWeights>(entity).map(drop).map_err(|_| WorldError::NotACharacter(entity))
        }
        None => Ok(()),
    }
}

/// Whether the pose is one of the character's.
fn check(world: &World, entity: Entity, snapshot: &CharacterSnapshot) -> Result<(), WorldError> {
    let instance = world.get::<&CharacterInstance>(entity).map_err(|_| WorldError::NotACharacter(entity))?;
    let (given, expected) = (snapshot.pose.0.len(), instance.character.asset().skeleton.joints.len());
    if given != expected {
        let difference = format!("its pose has {given} joints, this character {expected}");
        return Err(SnapshotError::OtherFlesh { difference }.into());
    }
    let sound = snapshot.pose.0.iter().all(|joint| joint.to_affine().is_finite());
    if sound && snapshot.root.0.is_sound() { Ok(()) } else { Err(SnapshotError::NotSound("joints").into()) }
}
