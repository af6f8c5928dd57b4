//! Palette matrices taken apart for dual quaternion skinning (Kavan et al. 2008, "Geometric skinning with approximate dual
//! quaternion blending", 4): a rigid motion as a unit dual quaternion, after a stretch.

use bytemuck::{Pod, Zeroable};
use glam::{DMat3, DQuat, DVec3};

use crate::skin::PaletteMatrix;

/// How the matrices of the joints that pull on a vertex become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SkinBlending {
    /// Their weighted sum: linear blend skinning, as glTF has it. What is twisted between joints gets thinner, to nothing at half
    /// a turn.
    #[default]
    Linear,
    /// Their rigid parts as dual quaternions, each the shorter way round, their stretches as a weighted sum: what is twisted stays
    /// as thick, what is bent bulges a little on the inside.
    DualQuaternion,
}

/// A palette matrix M = Q P, Q a rigid motion and P a stretch in mesh space before it, symmetric.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct DualMatrix {
    /// The rotation in Q, a unit quaternion (x, y, z, w).
    pub rotation: [f32; 4],
    /// Half its translation (m) times the rotation: the dual part.
    pub dual: [f32; 4],
    /// P's entries xx, yy, zz.
    pub stretch: [f32; 4],
    /// P's entries xy, xz, yz.
    pub shear: [f32; 4],
}

impl DualMatrix {
    /// A matrix taken apart; one that squeezes to nothing along some axis turns nothing.
    pub fn new(matrix: &PaletteMatrix) -> Self {
        let [x, y, z] = matrix.map(|row| row.map(f64::from));
        let linear = DMat3::from_cols_array(&[x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]]);
        let turn = orthogonal_part(linear).unwrap_or(DMat3::IDENTITY);
        // What mirrors is a rotation after a stretch that mirrors.
        let turn = if turn.determinant() < 0.0 { -turn } else { turn };
        let rotation = DQuat::from_mat3(&turn).normalize();
        let stretch = turn.transpose() * linear;
        let mean = |i: usize, j: usize| (0.5 * (stretch.col(j)[i] + stretch.col(i)[j])) as f32;
        let moved = DVec3::new(x[3], y[3], z[3]);
        let dual = DQuat::from_xyzw(0.5 * moved.x, 0.5 * moved.y, 0.5 * moved.z, 0.0) * rotation;
        Self {
            rotation: rotation.as_quat().to_array(),
            dual: dual.as_quat().to_array(),
            stretch: [mean(0, 0), mean(1, 1), mean(2, 2), 0.0],
            shear: [mean(0, 1), mean(0, 2), mean(1, 2), 0.0],
        }
    }
}

/// The orthogonal factor of the polar decomposition, by Higham's scaled Newton iteration: sums, products and roots alone, the same
/// on every machine. `None` where there is none.
fn orthogonal_part(matrix: DMat3) -> Option<DMat3> {
    const ROUNDS: usize = 24;
    let norm = |m: &DMat3| m.to_cols_array().iter().map(|entry| entry * entry).sum::<f64>().sqrt();
    let size = norm(&matrix);
    let mut turn = matrix * (1.0 / size);
    if !turn.is_finite() || turn.determinant().abs() < 1.0e-12 {
        return None;
    }
    for _ in 0..ROUNDS {
        let inverse = turn.inverse().transpose();
        let scale = (norm(&inverse) / norm(&turn)).sqrt();
        let next = (turn * scale + inverse * (1.0 / scale)) * 0.5;
        let change = norm(&(next - turn));
        turn = next;
        if change < 1.0e-14 {
            break;
        }
    }
    turn.is_finite().then_some(turn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette_matrix;
    use glam::{Affine3A, Quat, Vec3};

    #[test]
    fn a_matrix_is_its_parts() {
        let turn = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 2.5);
        let scales = [Vec3::ONE, Vec3::new(0.01, 0.02, 0.03), Vec3::new(-1.0, 2.0, 0.5), Vec3::splat(-100.0)];
        for scale in scales {
            let along = Quat::from_rotation_x(0.7);
            let squeezed = Affine3A::from_scale_rotation_translation(Vec3::ONE, turn, Vec3::new(1.0, -2.0, 3.0))
                * Affine3A::from_quat(along)
                * Affine3A::from_scale(scale)
                * Affine3A::from_quat(along.inverse());
            let parts = DualMatrix::new(&palette_matrix(&squeezed));
            let [xx, yy, zz, _] = parts.stretch;
            let [xy, xz, yz, _] = parts.shear;
            let stretch = glam::Mat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
            let rotation = Quat::from_array(parts.rotation);
            let moved = Quat::from_array(parts.dual) * rotation.inverse();
            let made = Affine3A::from_mat3_translation(
                glam::Mat3::from_quat(rotation) * stretch,
                2.0 * Vec3::new(moved.x, moved.y, moved.z),
            );
            let size = scale.abs().max_element();
            assert!((made.matrix3 - squeezed.matrix3).to_cols_array().iter().all(|off| off.abs() < 1.0e-6 * size));
            assert!((made.translation - squeezed.translation).length() < 1.0e-6);
        }
        // What is flat, or nothing, is finite all the same.
        for scale in [Vec3::ZERO, Vec3::new(1.0, 0.0, 1.0), Vec3::splat(1.0e-30), Vec3::splat(1.0e30)] {
            let parts = DualMatrix::new(&palette_matrix(&Affine3A::from_scale(scale)));
            let words: &[f32; 16] = bytemuck::cast_ref(&parts);
            assert!(words.iter().all(|word| word.is_finite()), "{scale}: {parts:?}");
        }
    }
}
