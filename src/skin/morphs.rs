//! Morph targets: what moves vertices before they are skinned, by weights that the game or an animation sets.

use bytemuck::{Pod, Zeroable};

use super::Skin;

/// What a morph target adds to a vertex at weight 1, in mesh space, as kernels read it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct MorphRow {
    /// The vertex.
    pub vertex: u32,
    /// To its place (m).
    pub place: [f32; 3],
    /// To its unit normal.
    pub normal: [f32; 3],
    /// To its unit tangent.
    pub tangent: [f32; 3],
}

/// A morph target (glTF 2.0, 3.7.2.2): a blend shape, a shape key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MorphTarget {
    /// Its name, `extras.targetNames` in glTF, or `target N`. Several may have the same: those of a face in parts.
    pub name: String,
    /// The joint, that is the node of the file, whose mesh it moves; an animation's weights are for all targets of one.
    pub joint: u32,
    /// The weight at which it is in the vertices as they are given.
    pub weight: f32,
    /// What it moves, by ascending vertices; others stay.
    pub rows: Vec<MorphRow>,
}

/// How far a weight of a morph target may be from 0.
pub const MOST_MORPH_WEIGHT: f32 = 1.0e3;

/// How far a morph target may move a vertex at weight 1 (m).
pub(crate) const MOST_MORPH: f32 = 1.0e9;

impl MorphTarget {
    /// Whether it moves vertices of a mesh of so many, each once, by what can be.
    pub(crate) fn fits(&self, vertices: usize) -> bool {
        let bounded = |part: &f32| part.abs() <= MOST_MORPH;
        self.weight.abs() <= MOST_MORPH_WEIGHT
            && self.rows.windows(2).all(|pair| pair[0].vertex < pair[1].vertex)
            && self.rows.last().is_none_or(|row| (row.vertex as usize) < vertices)
            && self.rows.iter().all(|row| [row.place, row.normal, row.tangent].iter().flatten().all(bounded))
    }
}

impl Skin {
    /// The weights at which its morph targets are in its vertices.
    pub fn morph_weights(&self) -> Vec<f32> {
        self.morphs.iter().map(|morph| morph.weight).collect()
    }

    /// Whether weights, one for each morph target, move any vertex away from where it is given.
    pub(crate) fn is_morphed(&self, weights: &[f32]) -> bool {
        self.morphs.iter().zip(weights).any(|(morph, weight)| morph.weight != *weight)
    }
}
