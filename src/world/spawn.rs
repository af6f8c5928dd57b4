//! Characters come into a world, and go.

use hecs::{Entity, World};

use super::{WorldError, flesh_of};
use crate::character::{Character, Placement};
use crate::components::{Activations, CharacterInstance, CharacterPose, MorphWeights, RootTransform};
use crate::skin::palette_matrix;
use crate::{Health, Physics};

#[cfg(feature = "rapier")]
use crate::components::BoneBodies;
#[cfg(feature = "rapier")]
use crate::rigid::{BoneCapsule, RigidWorld};

impl Character {
    /// Spawns the character in its rest pose, with its bones as kinematic bodies in the rigid world.
    ///
    /// Its skin ([`super::vertices`]) is there at once, so that it can be drawn before its first step.
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
                Ok(handle) => {
                    rigid.character_bones.push(handle);
                    bodies.0.push(handle);
                }
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
        let activations = Activations(vec![0.0; body.flesh.chains().len()]);
        let morphs = MorphWeights(body.skin.morph_weights());
        let instance = CharacterInstance { character: self.clone(), body, flesh };
        let entity = world.spawn((instance, CharacterPose(pose), RootTransform(root), activations, Health::default()));
        if !morphs.0.is_empty() {
            world.insert_one(entity, morphs).map_err(|_| WorldError::NotACharacter(entity))?;
        }
        physics.mark_spawned(flesh, entity)?;
        Ok(entity)
    }
}

/// Removes a character with its flesh and its bones' bodies, at once; of one that the game despawns by hecs alone the next
/// step finds these ([`super::remove_orphans`]).
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
    if physics.flesh(flesh).is_ok() {
        physics.remove(flesh)?;
    }
    world.despawn(entity).map_err(|_| WorldError::NotACharacter(entity))
}
