//! What a step does with a world, one function a part. None of them fails: a character whose components are not what they can
//! be keeps what it had, and its health says so.

use std::collections::HashSet;

use glam::Affine3A;
use hecs::World;

use crate::components::{Activations, CharacterInstance, CharacterPose, MorphWeights, MuscleStates, RootTransform};
use crate::skin::palette_matrix;
use crate::{Fault, Health, Physics, Pose};

#[cfg(feature = "rapier")]
use super::held_joints;
#[cfg(feature = "rapier")]
use crate::components::{BoneBodies, BoundJoints};
#[cfg(feature = "rapier")]
use crate::rigid::RigidWorld;

/// Removes the flesh of spawned characters that no [`CharacterInstance`] of this world names any more, because its entity was
/// despawned or lost it; and their bones' bodies that no character's
/// [`BoneBodies`] names. What was inserted by handle stays.
#[cfg(feature = "rapier")]
pub fn remove_orphans(world: &mut World, physics: &mut Physics, rigid: &mut RigidWorld) {
    remove_orphans_without_bodies(world, physics);
    let named: HashSet<_> =
        world.query_mut::<(&CharacterInstance, &BoneBodies)>().into_iter().flat_map(|(_, bodies)| &bodies.0).collect();
    let orphans: Vec<_> = rigid.character_bones.iter().filter(|bone| !named.contains(bone)).copied().collect();
    rigid.character_bones.retain(|bone| named.contains(bone));
    for bone in orphans {
        // Not those that the game has removed itself.
        if rigid.body_pose(bone).is_ok() {
            rigid.remove_body(bone).expect("it is there");
        }
    }
}

/// As [`remove_orphans`], of characters without rigid bodies.
pub fn remove_orphans_without_bodies(world: &mut World, physics: &mut Physics) {
    let named: HashSet<_> =
        world.query_mut::<&CharacterInstance>().into_iter().map(|instance| instance.flesh).collect();
    let orphans: Vec<_> = physics.spawned().filter(|handle| !named.contains(handle)).collect();
    for handle in orphans {
        physics.remove(handle).expect("it is there");
    }
}

/// Excites all characters' muscles as their [`Activations`] say. One with a value out of range keeps its excitations. The first
/// that may refuse something in a frame: what was refused in the last one is forgotten.
pub fn excite(world: &mut World, physics: &mut Physics) {
    for (instance, activations) in world.query_mut::<(&CharacterInstance, Option<&Activations>)>() {
        physics.excite(instance.flesh, activations.map_or(&[], |activations| &activations.0));
    }
}

/// Sets how much all characters' skins have of their morph targets as their [`MorphWeights`] say. One with a weight out of range
/// keeps what it had.
pub fn morph(world: &mut World, physics: &mut Physics) {
    for (instance, weights) in world.query_mut::<(&CharacterInstance, &MorphWeights)>() {
        physics.morph(instance.flesh, &weights.0);
    }
}

/// Says to rapier where the bodies of all characters' bones go by its next step. Those of a character whose pose cannot be
/// stay; of one that has lost bodies, the others go.
#[cfg(feature = "rapier")]
pub fn drive_bodies(world: &mut World, physics: &mut Physics, rigid: &mut RigidWorld) {
    type Parts<'a> =
        (&'a CharacterInstance, &'a CharacterPose, &'a RootTransform, &'a BoneBodies, Option<&'a BoundJoints>);
    for (instance, pose, root, bodies, bound) in world.query_mut::<Parts>() {
        let (bones, held) = match posed_beside(rigid, instance, pose, root, bound) {
            Ok(((bones, _), held)) => (bones, held),
            Err(fault) => {
                physics.note_pose(instance.flesh, fault);
                continue;
            }
        };
        for ((handle, bone), joint) in bodies.0.iter().zip(&bones).zip(&instance.body.bones) {
            // A bound joint's own body is the one it is bound to; a second solid in its place would push it.
            let enabled = held.iter().all(|(held, _)| held != joint);
            if rigid.enable_bone(*handle, enabled).and_then(|()| rigid.set_bone_target(*handle, bone)).is_err() {
                physics.note_pose(instance.flesh, Fault::Body);
            }
        }
    }
}

/// Says to the flesh of all characters where their bones go in its next step, joints bound to bodies with these; and to all
/// flesh which of rapier's half-spaces and solids it touches beside [`Physics::planes`] and [`Physics::solids`]: not those of
/// characters' bones, nor of bodies that joints are bound to.
#[cfg(feature = "rapier")]
pub fn gather_inputs(world: &mut World, physics: &mut Physics, rigid: &mut RigidWorld) {
    physics.set_world_planes(rigid.half_spaces());
    let joints = world.query_mut::<&BoundJoints>().into_iter().flat_map(|bound| &bound.0);
    let bound: HashSet<_> = joints.map(|(_, body)| *body).collect();
    physics.set_world_solids(rigid.solids(|body| bound.contains(&body)));
    for (instance, pose, root, bound) in
        world.query_mut::<(&CharacterInstance, &CharacterPose, &RootTransform, Option<&BoundJoints>)>()
    {
        match posed_beside(rigid, instance, pose, root, bound) {
            Ok((posed, held)) => gather(physics, instance, (root, pose, &held), Ok(posed)),
            Err(fault) => gather(physics, instance, (root, pose, &[]), Err(fault)),
        }
    }
}

/// As [`gather_inputs`], of characters without rigid bodies.
pub fn gather_inputs_without_bodies(world: &mut World, physics: &mut Physics) {
    physics.set_world_planes([]);
    physics.set_world_solids([]);
    for (instance, pose, root) in world.query_mut::<(&CharacterInstance, &CharacterPose, &RootTransform)>() {
        gather(physics, instance, (root, pose, &[]), posed(instance, pose, root, &[]));
    }
}

/// Bones in the world and the palette in model space.
type Posed = (Vec<Pose>, Vec<Affine3A>);

/// What a character's components make of it; `held` are joints that follow rigid poses in model space.
fn posed(
    instance: &CharacterInstance,
    pose: &CharacterPose,
    root: &RootTransform,
    held: &[(u32, Pose)],
) -> Result<Posed, Fault> {
    if !root.0.is_sound() {
        return Err(Fault::Root);
    }
    let expected = instance.character.asset().skeleton.joints.len();
    if pose.0.len() != expected {
        return Err(Fault::Joints { given: pose.0.len(), expected });
    }
    if let Some(joint) = pose.0.iter().position(|joint| !joint.to_affine().is_finite()) {
        return Err(Fault::Joint(joint));
    }
    let (bones, palette) = instance.body.posed(instance.character.asset(), &pose.0, &root.0, held);
    match bones.iter().position(|bone| !bone.is_sound()) {
        Some(bone) => Err(Fault::Bone(bone)),
        None if palette.iter().all(Affine3A::is_finite) => Ok((bones, palette)),
        None => Err(Fault::Skin),
    }
}

/// As [`posed`], with joints where the bodies are that they are bound to, which it says too; rapier can hold all bones.
#[cfg(feature = "rapier")]
fn posed_beside(
    rigid: &RigidWorld,
    instance: &CharacterInstance,
    pose: &CharacterPose,
    root: &RootTransform,
    bound: Option<&BoundJoints>,
) -> Result<(Posed, Vec<(u32, Pose)>), Fault> {
    let held = held_joints(rigid, bound, &root.0).map_err(|_| Fault::Body)?;
    let posed = posed(instance, pose, root, &held)?;
    match posed.0.iter().position(|bone| rigid.to_rapier(bone).is_err()) {
        Some(bone) => Err(Fault::Bone(bone)),
        None => Ok((posed, held)),
    }
}

/// One character's bones and palette, and what its network reads, unless something of it cannot be.
fn gather(
    physics: &mut Physics,
    instance: &CharacterInstance,
    (root, pose, held): (&RootTransform, &CharacterPose, &[(u32, Pose)]),
    posed: Result<Posed, Fault>,
) {
    let handle = instance.flesh;
    match posed {
        // Into the first pose after its spawn it did not move.
        Ok((bones, palette)) => {
            let set = match physics.take_fresh(handle) {
                Ok(true) => physics.teleport(handle, &bones, root.0),
                _ => physics.set_bones(handle, &bones, root.0),
            };
            if set.and_then(|()| physics.set_palette(handle, palette.iter().map(palette_matrix))).is_err() {
                physics.note_pose(handle, Fault::Flesh);
            }
            turn(physics, instance, pose, held);
        }
        Err(fault) => physics.note_pose(handle, fault),
    }
}

/// Says to a character's network how its joints are turned, if it has one.
#[cfg_attr(not(feature = "neural"), allow(unused_variables, reason = "there are none"))]
fn turn(physics: &mut Physics, instance: &CharacterInstance, pose: &CharacterPose, held: &[(u32, Pose)]) {
    #[cfg(feature = "neural")]
    if let Ok(Some((_, binding))) = physics.network(instance.flesh) {
        let turns = instance.body.turns(instance.character.asset(), &pose.0, held, &binding.joints);
        physics.set_joint_rotations(instance.flesh, &turns).expect("one for each joint that it reads");
    }
}

/// Muscles' states and health become components, for entities that have them. On a GPU they are those that have arrived; as
/// long as an entity has [`MuscleStates`] its instance's state is sent back.
pub fn scatter_outputs(world: &mut World, physics: &mut Physics) {
    for (instance, muscles, health) in
        world.query_mut::<(&CharacterInstance, Option<&mut MuscleStates>, Option<&mut Health>)>()
    {
        physics.want_state(instance.flesh, muscles.is_some());
        if let Some(muscles) = muscles {
            let chains = 0..instance.body.flesh.chains().len();
            muscles.0.clear();
            muscles.0.extend(chains.filter_map(|chain| physics.muscle(instance.flesh, chain).ok()));
        }
        let Some(health) = health else { continue };
        match physics.health(instance.flesh) {
            Ok(now) if health == now => {}
            Ok(now) => health.clone_from(now),
            Err(_) => health.fault = Some(Fault::Flesh),
        }
    }
}
