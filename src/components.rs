//! Components of the hecs world: plain data, what the game sets and what it reads.

use std::sync::Arc;

use crate::character::{Body, Character, LocalTransform};
use crate::flesh::MuscleState;
use crate::physics::muscle_index;
use crate::{FleshHandle, Pose, UnknownMuscle};

/// Where a character's root is in the world; the game moves it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RootTransform(pub Pose);

/// The pose of a character, one transform (m) for each joint of its skeleton; the game animates it.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CharacterPose(pub Vec<LocalTransform>);

/// Excitation of each muscle, in the order of the chains of [`Body::flesh`]: 0 at rest, 1 at peak tension, at
/// most 10. Activation goes there with the muscle's time constants. [`crate::world::activate`] sets one by its name.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Activations(pub Vec<f32>);

/// How much of each morph target a character's skin has, in the order of its mesh's
/// [`morphs`](crate::character::SkinMesh::morphs): 0 for none, 1 for all of it. Spawned characters that have targets have it, with
/// the weights of their file. [`crate::world::morph_named`] sets those of a name, [`Animation::sample_morphs`](
/// crate::character::Animation::sample_morphs) those that an animation drives.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MorphWeights(pub Vec<f32>);

/// What each muscle does, in the order of the chains of [`Body::flesh`]; filled after every step for entities that the
/// game gives it to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MuscleStates(pub Vec<MuscleState>);

/// What ties an entity to its flesh; made by [`Character::spawn`].
#[derive(Clone, Debug)]
pub struct CharacterInstance {
    /// The character.
    pub character: Character,
    /// Its body at the scale of the spawn.
    pub body: Arc<Body>,
    /// Its flesh in [`crate::Physics`].
    pub flesh: FleshHandle,
}

impl CharacterInstance {
    /// Index of a muscle among [`Activations`] and [`MuscleStates`]: the first of a name.
    ///
    /// # Errors
    /// [`UnknownMuscle`], which lists the names that there are.
    pub fn muscle(&self, name: &str) -> Result<usize, UnknownMuscle> {
        muscle_index(&self.body.flesh, name)
    }
}

/// The kinematic rigid bodies that follow a character's bones, in the order of [`Body::bones`].
#[cfg(feature = "rapier")]
#[derive(Clone, Debug, Default)]
pub struct BoneBodies(pub Vec<crate::rigid::rapier3d::prelude::RigidBodyHandle>);

/// Joints that follow rigid bodies instead of the pose: a ragdoll's. A body's pose is its joint's rigid part; what
/// hangs on the joint goes along, and the joint's own body in [`BoneBodies`] is disabled while it is bound.
#[cfg(feature = "rapier")]
#[derive(Clone, Debug, Default)]
pub struct BoundJoints(pub Vec<(u32, crate::rigid::rapier3d::prelude::RigidBodyHandle)>);
