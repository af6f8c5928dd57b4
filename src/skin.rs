//! Skin: vertices that follow joints by linear blend skinning, and the cross-sections of the rods beneath them (VIPER 7.4).

mod dual;
mod morphs;

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Vec3, Vec4};

use crate::flesh::{Flesh, FleshState};
use crate::{Pose, StepError};

pub use dual::{DualMatrix, SkinBlending};
#[cfg(feature = "gltf")]
pub(crate) use morphs::MOST_MORPH;
pub use morphs::{MOST_MORPH_WEIGHT, MorphRow, MorphTarget};

/// A vertex at rest, as kernels read it.
///
/// With p its place in mesh space and v̄ its rest place in model space, it goes to LBS(p) + Σ wⱼ Dⱼ v̄ over its sections:
/// linear blend skinning by its joints, and on top of that how far each [`SectionMatrix`] Dⱼ has moved it away from
/// where the section's bones alone would have it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct SkinVertex {
    /// Place in mesh space (m).
    pub position: [f32; 3],
    /// The vertex's first entry in [`Skin::weights`].
    pub first_section: u32,
    /// Unit normal in mesh space.
    pub normal: [f32; 3],
    /// How many sections it follows, at most [`MAX_SECTIONS`].
    pub section_count: u32,
    /// Place at rest in model space (m).
    pub rest_position: [f32; 3],
    /// Fills 16 bytes.
    pub padding_a: u32,
    /// Unit normal at rest in model space.
    pub rest_normal: [f32; 3],
    /// Fills 16 bytes.
    pub padding_b: u32,
    /// Palette entries that pull on it, two of 16 bits to a word, the lower half first.
    pub joints: [u32; 4],
    /// Their weights.
    pub weights: [f32; 8],
    /// Unit tangent in mesh space, and the side that the bitangent is on: 1 or −1. All 0 where the mesh has none.
    pub tangent: [f32; 4],
    /// As long as rest takes the unit tangent, in model space: with v̄ it is what v̄ changes by along the tangent.
    pub rest_tangent: [f32; 3],
    /// Fills 16 bytes.
    pub padding_c: u32,
}

/// How many cross-sections a vertex may follow.
pub const MAX_SECTIONS: usize = 8;

/// How strongly a vertex follows a cross-section.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct SectionWeight {
    /// Index into [`Skin::sections`].
    pub section: u32,
    /// 0 to 1.
    pub weight: f32,
}

/// A cross-section that skin follows: a node of a chain, at rest, and the bones that carry it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct SkinSection {
    /// Its centre at rest in model space (m).
    pub place: [f32; 3],
    /// The chain's group in its flesh.
    pub group: u32,
    /// Its frame at rest in model space, a unit quaternion.
    pub frame: [f32; 4],
    /// The node.
    pub node: u32,
    /// The chain's lane.
    pub lane: u32,
    /// The chain.
    pub chain: u32,
    /// From the first bone (0) to the second (1).
    pub bone_blend: f32,
    /// The bones that carry it; the number of bones stands for the root.
    pub bones: [u32; 2],
    /// How far its skin goes along with its centre, away from where the bones have it, at most (m); 0 for all the way,
    /// see [`SectionMatrix`].
    pub reach: f32,
    /// Fills 16 bytes.
    pub padding: u32,
}

impl SkinSection {
    /// A node of a chain.
    ///
    /// # Panics
    /// Where there is no such chain or node.
    pub fn new(flesh: &Flesh, chain: usize, node: usize) -> Self {
        let info = &flesh.chains()[chain];
        let root = flesh.bones().len();
        let (bones, blend) = flesh.carriers(chain, node).unwrap_or(([root; 2], 0.0));
        Self {
            place: info.rest[node].translation.as_vec3().to_array(),
            group: info.group as u32,
            frame: info.rest[node].rotation.as_quat().to_array(),
            node: node as u32,
            lane: info.lane as u32,
            chain: chain as u32,
            bone_blend: blend as f32,
            bones: bones.map(|bone| bone as u32),
            ..Self::default()
        }
    }

    /// Every node of every chain, chain after chain.
    pub fn all(flesh: &Flesh) -> Vec<Self> {
        let chains = flesh.chains().iter().enumerate();
        chains.flat_map(|(chain, info)| (0..info.node_count()).map(move |node| Self::new(flesh, chain, node))).collect()
    }
}

/// What a cross-section does beyond its bones, from model space at rest to model space now: three rows of four each.
///
/// With T = (c, R, s) the section and T̄ the same at rest, T T̄⁻¹ v̄ = c + R diag(s, s, 1) R̄ᵀ(v̄ − c̄): a section scales
/// across, the nodes themselves carry stretch along. C is the blend of the motions from rest of the bones that carry it.
///
/// Where the section has a reach ρ and its centre has gone a way d = c − C c̄, both are divided by √(1 + d²/ρ²): no
/// bone's jerk then tears skin that is meant to stay near it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct SectionMatrix {
    /// D = T T̄⁻¹ − C.
    pub place: [[f32; 4]; 3],
    /// R R̄ᵀ minus the rotation in C; the fourth column is 0.
    pub normal: [[f32; 4]; 3],
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

impl SkinVertex {
    /// The vertex with what pulls on it in ascending order, as the CPU sums it: of dual quaternions, which way round is shorter depends
    /// on that.
    #[cfg(feature = "gpu")]
    pub(crate) fn in_order(mut self) -> Self {
        let mut pulls: [(u32, f32); 8] =
            std::array::from_fn(|k| (self.joints[k / 2] >> (16 * (k % 2)) & 0xffff, self.weights[k]));
        pulls.sort_by_key(|&(joint, weight)| (weight == 0.0, joint));
        self.joints = [0; 4];
        for (k, (joint, weight)) in pulls.into_iter().enumerate() {
            self.joints[k / 2] |= joint << (16 * (k % 2));
            self.weights[k] = weight;
        }
        self
    }
}

/// Skin ready to be deformed; immutable and shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    /// The vertices.
    pub vertices: Vec<SkinVertex>,
    /// Which sections the vertices follow and how strongly, those of a vertex together.
    pub weights: Vec<SectionWeight>,
    /// The sections.
    pub sections: Vec<SkinSection>,
    /// How many matrices the palette has.
    pub palette_len: usize,
    /// How those that pull on a vertex become one.
    pub blending: SkinBlending,
    /// M̄, the linear part of what takes each vertex from mesh to model space at rest, three rows, at scale 1; empty where that is the
    /// identity for all.
    pub rest_linear: Arc<Vec<[[f32; 3]; 3]>>,
    /// The scale along each axis of model space at which it is at rest, which [`Self::rest_linear`] is to be multiplied by.
    pub rest_scale: Vec3,
    /// What moves vertices before they are skinned, by weights of each instance.
    pub morphs: Arc<Vec<MorphTarget>>,
}

impl Default for Skin {
    fn default() -> Self {
        Self {
            vertices: Vec::new(),
            weights: Vec::new(),
            sections: Vec::new(),
            palette_len: 0,
            blending: SkinBlending::default(),
            rest_linear: Arc::default(),
            rest_scale: Vec3::ONE,
            morphs: Arc::default(),
        }
    }
}

impl Skin {
    /// Whether it has neither vertices nor sections, and so nothing that goes with rods.
    #[cfg(feature = "gpu")]
    pub(crate) fn is_empty(&self) -> bool {
        self.vertices.is_empty() && self.sections.is_empty()
    }

    /// Whether all that vertices, sections and morph targets name is there.
    ///
    /// # Errors
    /// [`StepError::BadSkin`] with the first vertex that names something that is not; [`StepError::BadMorphTarget`].
    pub(crate) fn check(&self, flesh: &Flesh) -> Result<(), StepError> {
        let there = |section: &SkinSection| {
            flesh.chains().get(section.chain as usize).is_some_and(|chain| {
                chain.group == section.group as usize
                    && chain.lane == section.lane as usize
                    && (section.node as usize) < chain.node_count()
            }) && section.bones.iter().all(|&bone| (bone as usize) <= flesh.bones().len())
        };
        let followed = |pair: &SectionWeight| self.sections.get(pair.section as usize).is_some_and(there);
        let sound = |vertex: &SkinVertex| {
            let (first, count) = (vertex.first_section as usize, vertex.section_count as usize);
            let joints = vertex.joints.iter().flat_map(|pair| [pair & 0xffff, pair >> 16]);
            joints.zip(vertex.weights).all(|(joint, weight)| weight == 0.0 || (joint as usize) < self.palette_len)
                && (count == 0
                    || count <= MAX_SECTIONS
                        && first
                            .checked_add(count)
                            .and_then(|end| self.weights.get(first..end))
                            .is_some_and(|pairs| pairs.iter().all(followed)))
        };
        let vertices = self.vertices.len();
        match self.vertices.iter().position(|vertex| !sound(vertex)) {
            Some(vertex) => return Err(StepError::BadSkin(vertex)),
            // A section that no vertex follows is posed all the same.
            None if !self.sections.iter().all(there) => return Err(StepError::BadSkin(vertices)),
            None if ![0, vertices].contains(&self.rest_linear.len()) => return Err(StepError::BadSkin(vertices)),
            None => {}
        }
        match self.morphs.iter().position(|morph| !morph.fits(vertices)) {
            Some(morph) => Err(StepError::BadMorphTarget(morph)),
            None => Ok(()),
        }
    }

    /// Whether any vertex has a tangent.
    pub fn has_tangents(&self) -> bool {
        self.vertices.iter().any(|vertex| vertex.tangent[3] != 0.0)
    }

    /// A vertex's entry of [`Self::rest_linear`], at its scale.
    pub(crate) fn linear_of(&self, vertex: usize) -> [[f32; 3]; 3] {
        let linear =
            self.rest_linear.get(vertex).copied().unwrap_or([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        [0, 1, 2].map(|i| linear[i].map(|entry| entry * self.rest_scale[i]))
    }

    /// Which sections a vertex of this skin follows.
    ///
    /// # Panics
    /// Where the vertex names weights that are not there.
    pub fn sections_of(&self, vertex: &SkinVertex) -> &[SectionWeight] {
        &self.weights[vertex.first_section as usize..][..vertex.section_count as usize]
    }

    /// How many vertices follow a chain.
    ///
    /// # Panics
    /// Where vertices name weights or sections that are not there.
    pub fn vertices_on(&self, chain: usize) -> usize {
        let on = |pair: &SectionWeight| self.sections[pair.section as usize].chain as usize == chain;
        self.vertices.iter().filter(|vertex| self.sections_of(vertex).iter().any(on)).count()
    }

    /// Drops the sections that no vertex follows.
    ///
    /// # Panics
    /// Where weights name sections that are not there.
    pub fn drop_idle_sections(&mut self) {
        let mut places = vec![None; self.sections.len()];
        let mut kept = Vec::new();
        for pair in &mut self.weights {
            let place = &mut places[pair.section as usize];
            let place = place.get_or_insert_with(|| {
                kept.push(self.sections[pair.section as usize]);
                kept.len() as u32 - 1
            });
            pair.section = *place;
        }
        self.sections = kept;
    }
}

/// What the skin of one instance follows in a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinInputs {
    /// The palette.
    pub palette: Vec<PaletteMatrix>,
    /// The same taken apart, where dual quaternions are blended.
    pub duals: Vec<DualMatrix>,
    /// From each chain's own origin to model space.
    pub chains: Vec<ModelPose>,
    /// The motion of each bone from rest in model space to model space now, and last that of the root, which is none.
    pub bones: Vec<ModelPose>,
}

impl SkinInputs {
    /// Part of stage `gather_inputs`: takes a skin's palette.
    pub fn take_palette(&mut self, skin: &Skin, palette: &[PaletteMatrix]) {
        self.palette.clear();
        self.palette.extend_from_slice(palette);
        self.duals.clear();
        if skin.blending == SkinBlending::DualQuaternion {
            self.duals.extend(palette.iter().map(DualMatrix::new));
        }
    }

    /// Part of stage `gather_inputs`: chains and bones as the root sees them. `bones` are one pose for each bone of the
    /// flesh. Leaves the palette as it is.
    pub fn gather(&mut self, flesh: &Flesh, state: &FleshState, bones: &[Pose], root: &Pose) {
        let to_model = root.inverse();
        let chain = |chain| ModelPose::new(to_model * Pose::from_translation(state.next_origin(flesh, chain)));
        self.chains.clear();
        self.chains.extend((0..flesh.chains().len()).map(chain));
        let moved = |(bone, rest): (&Pose, &Pose)| ModelPose::new(to_model * *bone * rest.inverse());
        self.bones.clear();
        self.bones.extend(bones.iter().zip(flesh.bones()).map(moved));
        self.bones.push(ModelPose::new(Pose::IDENTITY));
    }
}

/// Deformed vertices, in model space: as the root sees them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinnedVertices {
    /// Places (m).
    pub positions: Vec<Vec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// Unit tangents, and the side that the bitangent w · (normal × tangent) is on, as glTF has them: 1 or −1. What has none has
    /// zeros; empty where no vertex has any.
    pub tangents: Vec<Vec4>,
    /// The step after which they stand so.
    pub step: u64,
}
