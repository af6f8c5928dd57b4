//! What a character is once its file has been read: plain, immutable data.

use std::sync::Arc;

use glam::{Affine3A, Quat, Vec3, Vec4};

use super::{BoneSpec, MuscleSpec};
use crate::MorphTarget;

/// A joint of the skeleton: any node of the file's scene graph, whether a skin names it or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// The node's name in the file, or `node N`.
    pub name: String,
    /// Index of the parent joint, always smaller than this joint's own index.
    pub parent: Option<u32>,
    /// Transform relative to the parent in the rest pose.
    pub rest: LocalTransform,
}

/// Translation (m), rotation and scale of a joint relative to its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LocalTransform {
    /// Translation (m).
    pub translation: Vec3,
    /// Rotation, a unit quaternion (x, y, z, w).
    pub rotation: Quat,
    /// Scale along the joint's axes; negative mirrors.
    pub scale: Vec3,
}

impl LocalTransform {
    /// No translation, no rotation, scale 1.
    pub const IDENTITY: Self = Self { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

    /// The same as a matrix.
    pub fn to_affine(self) -> Affine3A {
        Affine3A::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }
}

impl Default for LocalTransform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// The scene graph, parents before children.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skeleton {
    /// All joints, parents first.
    pub joints: Vec<Joint>,
}

/// One entry of the matrix palette that vertices index: a joint with the inverse bind matrix of one skin.
///
/// Skins that share a joint with different bind matrices have an entry each. A mesh that hangs on a node
/// without a skin has the entry (that node, identity).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaletteEntry {
    /// Index into [`Skeleton::joints`].
    pub joint: u32,
    /// From mesh space to the joint's space in the bind pose.
    pub inverse_bind: Affine3A,
}

/// How many palette entries may pull on one vertex.
pub const MAX_INFLUENCES: usize = 8;

/// All meshes of the character, as one indexed triangle list in mesh space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinMesh {
    /// Places in mesh space (m), morph targets applied at their default weights.
    pub positions: Vec<Vec3>,
    /// Unit normals, one per vertex; computed where the file has none.
    pub normals: Vec<Vec3>,
    /// Unit tangents, and the side that the bitangent w · (normal × tangent) is on, 1 or −1; one per vertex, zeros where its
    /// mesh has none. Empty where none has any.
    pub tangents: Vec<Vec4>,
    /// Triangles, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Palette entries that pull on each vertex; unused slots are 0 with weight 0.
    pub influence_joints: Vec<[u16; MAX_INFLUENCES]>,
    /// Their weights; each vertex's sum is 1.
    pub influence_weights: Vec<[f32; MAX_INFLUENCES]>,
    /// Morph targets, those of a node together and in order. They are all in [`Self::positions`], [`Self::normals`] and
    /// [`Self::tangents`] at their default weights; what they add is by units of these.
    pub morphs: Arc<Vec<MorphTarget>>,
    /// Linear RGBA base colour of each triangle, for pictures.
    pub triangle_colors: Vec<[f32; 4]>,
}

/// How values between keys are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Straight between keys (spherical for rotations).
    Linear,
    /// The last key's value.
    Step,
    /// Hermite splines with tangents in the file.
    CubicSpline,
}

/// What a track drives, with its keys' values: one per key, or (in-tangent, value, out-tangent) per key for
/// [`Interpolation::CubicSpline`]; of weights as many for each of these as there are morph targets.
#[derive(Clone, Debug, PartialEq)]
pub enum TrackValues {
    /// Translations (m).
    Translation(Vec<Vec3>),
    /// Rotations.
    Rotation(Vec<Quat>),
    /// Scales.
    Scale(Vec<Vec3>),
    /// Weights of the morph targets of the joint's mesh: those of a key together.
    Weights(Vec<f32>),
}

/// One property of one joint over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// Index into [`Skeleton::joints`].
    pub joint: u32,
    /// How values between keys are found.
    pub interpolation: Interpolation,
    /// Key times (s), increasing.
    pub times: Vec<f32>,
    /// Key values.
    pub values: TrackValues,
}

/// A named animation.
#[derive(Clone, Debug, PartialEq)]
pub struct Animation {
    /// The animation's name in the file, or `animation N`.
    pub name: String,
    /// Last key time over all tracks (s).
    pub duration: f32,
    /// What it drives.
    pub tracks: Vec<Track>,
}

/// Something in the file that was read, but not as written; the text names the object and the fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning(pub String);

/// Everything read from a character's file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CharacterAsset {
    /// The file's stem, or the name the caller gave.
    pub name: String,
    /// The scene graph.
    pub skeleton: Skeleton,
    /// Matrix palette of the skin.
    pub palette: Vec<PaletteEntry>,
    /// All meshes as one.
    pub mesh: SkinMesh,
    /// All animations.
    pub animations: Vec<Animation>,
    /// Muscles that the author describes, in the order of nodes, those of a sidecar alone after them by name.
    pub muscles: Vec<MuscleSpec>,
    /// Bones that the author describes, which the flesh stays out of.
    pub bones: Vec<BoneSpec>,
    /// What was read, but not as written.
    pub warnings: Vec<Warning>,
}
