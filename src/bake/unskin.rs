//! Inverse linear blend skinning, vertex by vertex (thesis 6.3): δ = LBS⁻¹(φ) − X.

use glam::{Affine3A, DMat3, DVec3, Vec3};

use crate::skin::{Skin, SkinVertex};

/// A blended matrix that squeezes by more than this, against rest, is next to singular.
pub const LEAST_STRETCH: f64 = 0.1;

/// What vertices are moved by before skinning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unskinned {
    /// δ in mesh space (m), one a vertex.
    pub deltas: Vec<Vec3>,
    /// The vertices that were pulled back through a matrix next to singular: skinned again they are not quite where they were.
    pub singular: Vec<u32>,
}

/// A vertex's blended matrix.
fn blended(vertex: &SkinVertex, palette: &[Affine3A]) -> (DMat3, DVec3) {
    let entries = vertex.joints.iter().flat_map(|pair| [pair & 0xffff, pair >> 16]);
    let mut sum = (DMat3::ZERO, DVec3::ZERO);
    for (entry, weight) in entries.zip(vertex.weights).filter(|(_, weight)| *weight != 0.0) {
        let (matrix, weight) = (&palette[entry as usize], f64::from(weight));
        sum.0 += DMat3::from_cols_array(&matrix.matrix3.to_cols_array().map(f64::from)) * weight;
        sum.1 += matrix.translation.as_dvec3() * weight;
    }
    sum
}

fn norm(matrix: &DMat3) -> f64 {
    matrix.to_cols_array().iter().map(|entry| entry * entry).sum::<f64>().sqrt()
}

/// Pulls skinned `positions` (m, model space) back through a skin's linear blend: with A the blended matrix of a vertex and Ā the
/// same at rest, δ = Ā⁻¹ (A Ā⁻¹)⁻¹ (φ − LBS(X)).
///
/// Where A Ā⁻¹ = B squeezes by more than [`LEAST_STRETCH`] = ε, B⁻¹ is damped: (BᵀB + λ²)⁻¹ Bᵀ with λ² = ε² − s² and s the least that B
/// may stretch by (Nakamura and Hanafusa 1986), which goes on evenly and gives at most |φ − LBS(X)| / ε before Ā⁻¹.
///
/// # Panics
/// Where there is not one place a vertex, or a palette lacks entries that vertices name.
pub fn unskin(skin: &Skin, rest: &[Affine3A], palette: &[Affine3A], positions: &[Vec3]) -> Unskinned {
    assert_eq!(positions.len(), skin.vertices.len(), "one place a vertex");
    let mut pulled = Unskinned::default();
    for (index, (vertex, position)) in skin.vertices.iter().zip(positions).enumerate() {
        let (matrix, translation) = blended(vertex, palette);
        let off = position.as_dvec3() - (matrix * Vec3::from(vertex.position).as_dvec3() + translation);
        let (at_rest, _) = blended(vertex, rest);
        let to_mesh = at_rest.inverse();
        let (delta, sound) = if to_mesh.is_finite() {
            let (moved, sound) = solve(matrix * to_mesh, off);
            (to_mesh * moved, sound)
        } else {
            (DVec3::ZERO, false)
        };
        if !sound {
            pulled.singular.push(index as u32);
        }
        pulled.deltas.push(delta.as_vec3());
    }
    pulled
}

/// B⁻¹ d, and whether it is that.
fn solve(matrix: DMat3, off: DVec3) -> (DVec3, bool) {
    let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let cofactors = DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
    // 1 over the norm of the inverse: between the least singular value over √3 and that itself.
    let stretch = matrix.determinant().abs() / norm(&cofactors).max(f64::MIN_POSITIVE);
    if stretch >= LEAST_STRETCH {
        return (matrix.inverse() * off, true);
    }
    let damping = LEAST_STRETCH * LEAST_STRETCH - stretch * stretch;
    let normal = matrix.transpose() * matrix + DMat3::from_diagonal(DVec3::splat(damping));
    (normal.inverse() * (matrix.transpose() * off), false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;

    fn skin(weights: [f32; 2]) -> Skin {
        let position = [0.3, -0.2, 0.5];
        let vertex = SkinVertex {
            position,
            joints: [1 << 16, 0, 0, 0],
            weights: [weights[0], weights[1], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            ..SkinVertex::default()
        };
        Skin { vertices: vec![vertex], palette_len: 2, ..Skin::default() }
    }

    /// Skins a moved vertex.
    fn skinned(skin: &Skin, palette: &[Affine3A], delta: Vec3) -> Vec3 {
        let vertex = &skin.vertices[0];
        let (matrix, translation) = blended(vertex, palette);
        (matrix * (Vec3::from(vertex.position) + delta).as_dvec3() + translation).as_vec3()
    }

    #[test]
    fn what_was_skinned_is_pulled_back_also_of_a_mesh_in_centimetres() {
        for scale in [1.0, 0.01, -2.0] {
            let skin = skin([0.6, 0.4]);
            let rest = [Affine3A::from_scale(Vec3::splat(scale)); 2];
            let moved =
                |turn: f32| Affine3A::from_rotation_translation(Quat::from_rotation_y(turn), Vec3::new(1.0, 2.0, 0.1));
            let palette = [rest[0], moved(1.9) * rest[1]];
            let delta = Vec3::new(0.01, -0.02, 0.03);
            let pulled = unskin(&skin, &rest, &palette, &[skinned(&skin, &palette, delta)]);
            assert!(
                pulled.singular.is_empty() && pulled.deltas[0].distance(delta) < 1.0e-6 / scale.abs(),
                "{pulled:?}"
            );
        }
    }

    #[test]
    fn next_to_singular_deltas_are_bounded_said_and_go_on_evenly() {
        let skin = skin([0.5, 0.5]);
        let rest = [Affine3A::IDENTITY; 2];
        let off = Vec3::new(0.01, 0.02, -0.005);
        let pulled = |turn: f32| {
            let palette = [Affine3A::IDENTITY, Affine3A::from_rotation_y(turn)];
            let pulled = unskin(&skin, &rest, &palette, &[skinned(&skin, &palette, Vec3::ZERO) + off]);
            (pulled.deltas[0], pulled.singular.len())
        };
        let (mut last, mut largest, mut jump) = (pulled(2.5).0, 0.0_f32, 0.0_f32);
        for step in 0..=2000 {
            // Through half a turn, where both bones cancel.
            let turn = 2.5 + step as f32 * 6.0e-4;
            let (delta, _) = pulled(turn);
            jump = jump.max(delta.distance(last));
            (last, largest) = (delta, largest.max(delta.length()));
        }
        println!("largest {largest} m of {} m off, largest step {jump} m", off.length());
        assert!(largest <= off.length() * (1.0 / LEAST_STRETCH) as f32 * 1.001 && jump < 0.01 * largest);
        assert_eq!((pulled(2.0).1, pulled(std::f32::consts::PI).1), (0, 1));
        assert!(pulled(std::f32::consts::PI).0.is_finite());
    }
}
