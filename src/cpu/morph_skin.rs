//! Stage `morph_skin`: what morph targets add to vertices before these are skinned; its twin is `shaders/morph_skin.wgsl`.

use glam::Vec3;

use crate::skin::Skin;

/// What morph targets add to each vertex, in mesh space and the host's order; nothing where all have the weight that they are given
/// with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Morphed {
    /// To places (m).
    pub places: Vec<Vec3>,
    /// To unit normals.
    pub normals: Vec<Vec3>,
    /// To unit tangents, where the skin has any.
    pub tangents: Vec<Vec3>,
    /// The weights that it is of.
    weights: Vec<f32>,
}

/// Sums the targets of a skin, each as often as its weight is from the one that it is given with.
pub fn morph_skin(skin: &Skin, weights: &[f32], morphed: &mut Morphed) {
    if morphed.weights == weights {
        return;
    }
    let Morphed { places, normals, tangents, weights: of } = morphed;
    of.clear();
    of.extend_from_slice(weights);
    let counts = match skin.is_morphed(weights) {
        true => [skin.vertices.len(), if skin.has_tangents() { skin.vertices.len() } else { 0 }],
        false => [0; 2],
    };
    for (sums, count) in [(&mut *places, counts[0]), (normals, counts[0]), (tangents, counts[1])] {
        sums.clear();
        sums.resize(count, Vec3::ZERO);
    }
    for (morph, weight) in skin.morphs.iter().zip(weights) {
        let by = weight - morph.weight;
        if by == 0.0 {
            continue;
        }
        for row in &morph.rows {
            let vertex = row.vertex as usize;
            morphed.places[vertex] += Vec3::from(row.place) * by;
            morphed.normals[vertex] += Vec3::from(row.normal) * by;
            if let Some(tangent) = morphed.tangents.get_mut(vertex) {
                *tangent += Vec3::from(row.tangent) * by;
            }
        }
    }
}
