//! Stage `deform_skin`: linear blend skinning, and on top of it what the cross-sections do; its twin is
//! `shaders/deform_skin.wgsl`.
//!
//! Matrices are blended by rows and then turned over, so that a vertex meets columns: no sums across a register.

use glam::{Mat4, Vec3, Vec3A, Vec4};

use crate::skin::{PaletteMatrix, SectionMatrix, Skin, SkinVertex};

/// Writes places (m) and unit normals of vertices in model space.
pub fn deform_vertices(
    skin: &Skin,
    palette: &[PaletteMatrix],
    sections: &[SectionMatrix],
    vertices: &[SkinVertex],
    (positions, normals): (&mut [Vec3], &mut [Vec3]),
) {
    for ((vertex, position), normal) in vertices.iter().zip(positions).zip(normals) {
        let (place, unit_normal) = deform_vertex(skin, palette, sections, vertex);
        *position = place.into();
        *normal = unit_normal.into();
    }
}

#[inline(always)]
fn deform_vertex(
    skin: &Skin,
    palette: &[PaletteMatrix],
    sections: &[SectionMatrix],
    vertex: &SkinVertex,
) -> (Vec3A, Vec3A) {
    let mut by_joints = [Vec4::ZERO; 3];
    for (k, &weight) in vertex.weights.iter().enumerate() {
        if weight != 0.0 {
            let joint = vertex.joints[k / 2] >> (16 * (k % 2)) & 0xffff;
            blend_in(&mut by_joints, &palette[joint as usize], weight);
        }
    }
    let [x, y, z, offset] = columns(by_joints);
    let mesh_normal = vertex.normal;
    let mut place = apply([x, y, z], vertex.position) + offset;
    // Normals go by the cofactors, the inverse transpose times the determinant, whose sign undoes a mirroring.
    let cofactors = [y.cross(z), z.cross(x), x.cross(y)];
    let side = if x.dot(cofactors[0]) < 0.0 { -1.0 } else { 1.0 };
    let mut normal = unit(apply(cofactors, mesh_normal) * side, mesh_normal.into());
    if vertex.section_count != 0 {
        let (mut moves, mut turns) = ([Vec4::ZERO; 3], [Vec4::ZERO; 3]);
        for pair in skin.sections_of(vertex) {
            let matrix = &sections[pair.section as usize];
            blend_in(&mut moves, &matrix.place, pair.weight);
            blend_in(&mut turns, &matrix.normal, pair.weight);
        }
        let [x, y, z, offset] = columns(moves);
        place += apply([x, y, z], vertex.rest_position) + offset;
        let [x, y, z, _] = columns(turns);
        normal = unit(normal + apply([x, y, z], vertex.rest_normal), normal);
    }
    (place, normal)
}

#[inline(always)]
fn blend_in(rows: &mut [Vec4; 3], other: &[[f32; 4]; 3], weight: f32) {
    rows[0] += Vec4::from_array(other[0]) * weight;
    rows[1] += Vec4::from_array(other[1]) * weight;
    rows[2] += Vec4::from_array(other[2]) * weight;
}

#[inline(always)]
fn columns([x, y, z]: [Vec4; 3]) -> [Vec3A; 4] {
    let turned = Mat4::from_cols(x, y, z, Vec4::ZERO).transpose();
    [turned.x_axis, turned.y_axis, turned.z_axis, turned.w_axis].map(Vec3A::from_vec4)
}

#[inline(always)]
fn apply([x, y, z]: [Vec3A; 3], v: [f32; 3]) -> Vec3A {
    x * v[0] + y * v[1] + z * v[2]
}

#[inline(always)]
fn unit(v: Vec3A, fallback: Vec3A) -> Vec3A {
    let length2 = v.dot(v);
    if length2 > 0.0 { v * (1.0 / length2.sqrt()) } else { fallback }
}
