//! Stage `deform_skin`: linear blend skinning, and on top of it what the cross-sections do; its twin is
//! `shaders/deform_skin.wgsl`.
//!
//! Matrices are blended by rows, two of a section's six in a register, and then turned over, so that a vertex meets columns:
//! no sums across a register.

use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x8};
use glam::{Mat4, Vec3, Vec3A, Vec4};

use super::LaneWidth;
use super::lanes::with_instructions;
use crate::skin::{PaletteMatrix, SectionMatrix, Skin, SkinVertex, SkinnedVertices};

/// Some vertices of an instance's skin, what they follow, and where they go.
pub struct Vertices<'a> {
    skin: &'a Skin,
    palette: &'a [PaletteMatrix],
    sections: &'a [SectionMatrix],
    at_rest: &'a [SkinVertex],
    positions: &'a mut [Vec3],
    normals: &'a mut [Vec3],
}

/// How many vertices a thread takes at a time.
const CHUNK: usize = 512;

impl<'a> Vertices<'a> {
    /// All of a skin's, some at a time.
    pub fn new(
        skin: &'a Skin,
        palette: &'a [PaletteMatrix],
        sections: &'a [SectionMatrix],
        skinned: &'a mut SkinnedVertices,
    ) -> impl Iterator<Item = Self> {
        skinned.positions.resize(skin.vertices.len(), Vec3::ZERO);
        skinned.normals.resize(skin.vertices.len(), Vec3::ZERO);
        let written = skinned.positions.chunks_mut(CHUNK).zip(skinned.normals.chunks_mut(CHUNK));
        skin.vertices.chunks(CHUNK).zip(written).map(move |(at_rest, (positions, normals))| Self {
            skin,
            palette,
            sections,
            at_rest,
            positions,
            normals,
        })
    }
}

/// Writes places (m) and unit normals of vertices in model space, the same bits at every width.
pub fn deform_skin(width: LaneWidth, vertices: &mut Vertices<'_>) {
    let Vertices { skin, palette, sections, at_rest, positions, normals } = vertices;
    with_instructions!(width.level(), simd => {
        for ((vertex, position), normal) in at_rest.iter().zip(positions.iter_mut()).zip(normals.iter_mut()) {
            let (place, unit_normal) = deform_vertex(simd, skin, palette, sections, vertex);
            *position = place.into();
            *normal = unit_normal.into();
        }
    })
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
    // Normals go by the cofactors, the inverse transpose times the determinant, whose sign undoes a mirroring.
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
