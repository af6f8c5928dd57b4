//! The baseline of `benches/skin.rs`: skin vertex by vertex, in the order and layout of [`SkinVertex`], two rows of matrices in a
//! register.

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f32x4, f32x8};
use glam::{Mat4, Vec3, Vec3A, Vec4};
use sinew::{PaletteMatrix, SectionMatrix, Skin, SkinVertex, SkinnedVertices};

/// Writes places (m) and unit normals of all vertices.
pub fn deform(skin: &Skin, palette: &[PaletteMatrix], sections: &[SectionMatrix], out: &mut SkinnedVertices) {
    out.positions.resize(skin.vertices.len(), Vec3::ZERO);
    out.normals.resize(skin.vertices.len(), Vec3::ZERO);
    dispatch!(Level::new(), simd => deform_all(simd, skin, palette, sections, out));
}

#[inline(always)]
fn deform_all<S: Simd>(
    simd: S,
    skin: &Skin,
    palette: &[PaletteMatrix],
    sections: &[SectionMatrix],
    out: &mut SkinnedVertices,
) {
    for ((vertex, position), normal) in skin.vertices.iter().zip(&mut out.positions).zip(&mut out.normals) {
        let (place, unit_normal) = deform_vertex(simd, skin, palette, sections, vertex);
        *position = place.into();
        *normal = unit_normal.into();
    }
}

#[inline(always)]
fn deform_vertex<S: Simd>(
    simd: S,
    skin: &Skin,
    palette: &[PaletteMatrix],
    sections: &[SectionMatrix],
    vertex: &SkinVertex,
) -> (Vec3A, Vec3A) {
    let (mut rows, mut last_row) = (f32x8::splat(simd, 0.0), f32x4::splat(simd, 0.0));
    for (k, &weight) in vertex.weights.iter().enumerate() {
        if weight != 0.0 {
            let joint = vertex.joints[k / 2] >> (16 * (k % 2)) & 0xffff;
            let matrix: &[f32; 12] = bytemuck::cast_ref(&palette[joint as usize]);
            rows += f32x8::from_slice(simd, &matrix[..8]) * weight;
            last_row += f32x4::from_slice(simd, &matrix[8..]) * weight;
        }
    }
    let mut blended = [[0.0; 4]; 3];
    rows.store_slice(&mut bytemuck::cast_mut::<PaletteMatrix, [f32; 12]>(&mut blended)[..8]);
    last_row.store_slice(&mut blended[2]);
    let [x, y, z, offset] = columns(blended.map(Vec4::from_array));
    let mesh_normal = vertex.normal;
    let mut place = apply([x, y, z], vertex.position) + offset;
    let cofactors = [y.cross(z), z.cross(x), x.cross(y)];
    let side = if x.dot(cofactors[0]) < 0.0 { -1.0 } else { 1.0 };
    let mut normal = unit(apply(cofactors, mesh_normal) * side, mesh_normal.into());
    if vertex.section_count != 0 {
        let mut rows = [f32x8::splat(simd, 0.0); 3];
        for pair in skin.sections_of(vertex) {
            let matrix: &[[f32; 8]; 3] = bytemuck::cast_ref(&sections[pair.section as usize]);
            for k in 0..3 {
                rows[k] += f32x8::from_slice(simd, &matrix[k]) * pair.weight;
            }
        }
        let mut blended = SectionMatrix::default();
        for (two, row) in bytemuck::cast_mut::<_, [[f32; 8]; 3]>(&mut blended).iter_mut().zip(rows) {
            row.store_slice(two);
        }
        let [x, y, z, offset] = columns(blended.place.map(Vec4::from_array));
        place += apply([x, y, z], vertex.rest_position) + offset;
        let [x, y, z, _] = columns(blended.normal.map(Vec4::from_array));
        normal = unit(normal + apply([x, y, z], vertex.rest_normal), normal);
    }
    (place, normal)
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
