//! Skin: vertices that follow joints by linear blend skinning, and the rods beneath them.

use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, DVec3, Quat, Vec3};

use crate::Pose;
use crate::flesh::{Flesh, FleshState};

/// A vertex at rest, as kernels read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct SkinVertex {
    /// Place in mesh space (m).
    pub position: [f32; 3],
    /// The vertex's first entry in [`Skin::bindings`].
    pub first_binding: u32,
    /// Unit normal in mesh space.
    pub normal: [f32; 3],
    /// How many bindings it has.
    pub binding_count: u32,
    /// Palette entries that pull on it, two of 16 bits to a word, the lower half first.
    pub joints: [u32; 4],
    /// Their weights.
    pub weights: [f32; 8],
}

/// How far a rod pulls a vertex away from where its bone alone would have it.
///
/// With the vertex at rest at o_a and o_b in the frames of neighbouring nodes a and b and at o in the bone's frame,
/// it moves by weight·[(1 − blend)·T_a o_a + blend·T_b o_b − B o]: nothing while the rod is at rest on its bone.
/// T o = c + R (s·o_u, s·o_v, o_w): a section scales across, the nodes themselves carry stretch along.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct RodBinding {
    /// How strongly the rod pulls, 0 to 1.
    pub weight: f32,
    /// From node a (0) to node b (1).
    pub blend: f32,
    /// The chain's group in its flesh.
    pub group: u32,
    /// Node a; b is the next one.
    pub node: u32,
    /// The vertex at rest in node a's frame (m).
    pub offset_a: [f32; 3],
    /// The chain's lane.
    pub lane: u32,
    /// The vertex at rest in node b's frame (m).
    pub offset_b: [f32; 3],
    /// The chain.
    pub chain: u32,
    /// The vertex at rest in the bone's frame (m).
    pub bone_offset: [f32; 3],
    /// The bone.
    pub bone: u32,
    /// The normal at rest in node a's frame.
    pub normal_a: [f32; 3],
    /// Fills 16 bytes.
    pub padding_a: u32,
    /// The normal at rest in the bone's frame.
    pub bone_normal: [f32; 3],
    /// Fills 16 bytes.
    pub padding_b: u32,
}

/// A rigid motion into model space, as kernels read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct ModelPose {
    /// Rotation, a unit quaternion.
    pub rotation: [f32; 4],
    /// Translation (m).
    pub translation: [f32; 3],
    /// Fills 16 bytes.
    pub padding: u32,
}

impl ModelPose {
    fn new(pose: Pose) -> Self {
        Self {
            rotation: pose.rotation.as_quat().to_array(),
            translation: pose.translation.as_vec3().to_array(),
            padding: 0,
        }
    }

    /// Rotates and moves a point (m).
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        self.rotate(point) + Vec3::from_array(self.translation)
    }

    /// Rotates a direction.
    pub fn rotate(&self, direction: Vec3) -> Vec3 {
        Quat::from_array(self.rotation) * direction
    }
}

/// A matrix of the palette, from mesh to model space: three rows of four.
pub type PaletteMatrix = [[f32; 4]; 3];

/// The rows of an affine matrix.
pub fn palette_matrix(matrix: &Affine3A) -> PaletteMatrix {
    let m = matrix.matrix3;
    let t = matrix.translation;
    [
        [m.x_axis.x, m.y_axis.x, m.z_axis.x, t.x],
        [m.x_axis.y, m.y_axis.y, m.z_axis.y, t.y],
        [m.x_axis.z, m.y_axis.z, m.z_axis.z, t.z],
    ]
}

/// Skin ready to be deformed; immutable and shared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// The vertices.
    pub vertices: Vec<SkinVertex>,
    /// The rods' pulls, those of a vertex together.
    pub bindings: Vec<RodBinding>,
    /// How many matrices the palette has.
    pub palette_len: usize,
}

impl Skin {
    /// Whether all that vertices name is there.
    ///
    /// # Errors
    /// The first vertex that names something that is not.
    pub(crate) fn check(&self, flesh: &Flesh) -> Result<(), usize> {
        let bound = |binding: &RodBinding| {
            flesh.chains().get(binding.chain as usize).is_some_and(|chain| {
                chain.group == binding.group as usize
                    && chain.lane == binding.lane as usize
                    && (binding.node as usize) < chain.node_count() - 1
            }) && (binding.bone as usize) < flesh.bones().len()
        };
        let sound = |vertex: &SkinVertex| {
            let (first, count) = (vertex.first_binding as usize, vertex.binding_count as usize);
            let joints = vertex.joints.iter().flat_map(|pair| [pair & 0xffff, pair >> 16]);
            joints.zip(vertex.weights).all(|(joint, weight)| weight == 0.0 || (joint as usize) < self.palette_len)
                && (count == 0
                    || first
                        .checked_add(count)
                        .and_then(|end| self.bindings.get(first..end))
                        .is_some_and(|bindings| bindings.iter().all(bound)))
        };
        self.vertices.iter().position(|vertex| !sound(vertex)).map_or(Ok(()), Err)
    }
}

/// What the skin of one instance follows in a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinInputs {
    /// The palette.
    pub palette: Vec<PaletteMatrix>,
    /// From each chain's own origin to model space.
    pub chains: Vec<ModelPose>,
    /// From each bone to model space.
    pub bones: Vec<ModelPose>,
}

impl SkinInputs {
    /// Part of stage `gather_inputs`: chains and bones as the root sees them.
    pub(crate) fn gather(&mut self, state: &FleshState, bones: &[Pose], root: &Pose) {
        let to_model = root.inverse();
        let chain = |origin: &DVec3| ModelPose::new(to_model * Pose::from_translation(*origin));
        self.chains.clear();
        self.chains.extend(state.origins.iter().map(chain));
        self.bones.clear();
        self.bones.extend(bones.iter().map(|bone| ModelPose::new(to_model * *bone)));
    }
}

/// Deformed vertices, in model space: as the root sees them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinnedVertices {
    /// Places (m).
    pub positions: Vec<Vec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// The step after which they stand so.
    pub step: u64,
}
