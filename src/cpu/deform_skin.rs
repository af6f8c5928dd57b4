//! Stage `deform_skin`: linear blend skinning, and on top of it what the cross-sections do; its twin is
//! `shaders/deform_skin.wgsl`.
//!
//! One lane is one vertex of a block ([`SkinBlocks`]). All widths give the same bits: each vertex's sums are in the order in which
//! its block lists matrices, and what it does not follow of these adds 0.

use fearless_simd::{Simd, SimdBase};
use glam::{Vec3, Vec4};

use super::LaneWidth;
use super::lanes::{Half, LANES, Lane, Lanes, OneF32, Wide, with_instructions};
use super::math::V3;
use super::skin_blocks::{CHUNK, Follows, SkinBlocks, Weights};
use super::skin_lanes::{Deformed, Out, Rows, SkinLanes};
use crate::skin::{PaletteMatrix, SectionMatrix, SkinnedVertices};

/// A chunk of an instance's skin, what it follows, and where it goes.
pub struct Vertices<'a> {
    blocks: &'a SkinBlocks,
    chunk: usize,
    palette: &'a [PaletteMatrix],
    sections: &'a [SectionMatrix],
    out: Out<'a>,
}

impl<'a> Vertices<'a> {
    /// All of a skin's, some at a time.
    pub fn new(
        blocks: &'a SkinBlocks,
        palette: &'a [PaletteMatrix],
        sections: &'a [SectionMatrix],
        skinned: &'a mut SkinnedVertices,
    ) -> impl Iterator<Item = Self> {
        let count = blocks.skin.vertices.len();
        let SkinnedVertices { positions, normals, tangents, .. } = skinned;
        positions.resize(count, Vec3::ZERO);
        normals.resize(count, Vec3::ZERO);
        tangents.resize(if blocks.mesh_tangents.is_empty() { 0 } else { count }, Vec4::ZERO);
        let mut tangents = tangents.chunks_mut(CHUNK);
        let written = positions.chunks_mut(CHUNK).zip(normals.chunks_mut(CHUNK));
        written.enumerate().map(move |(chunk, (positions, normals))| Self {
            blocks,
            chunk,
            palette,
            sections,
            out: Out { positions, normals, tangents: tangents.next().unwrap_or_default() },
        })
    }
}

/// Writes places (m), unit normals and tangents of vertices in model space, the same bits at every width.
pub fn deform_skin(width: LaneWidth, vertices: &mut Vertices<'_>) {
    match width {
        LaneWidth::One => (0..LANES).for_each(|lane| deform_lanes(OneF32(lane), vertices)),
        _ => with_instructions!(width.level(), simd => deform_wide(simd, vertices)),
    }
}

#[inline(always)]
fn deform_wide<S: Simd>(simd: S, vertices: &mut Vertices<'_>) {
    if const { S::f32s::LEN < LANES } {
        deform_lanes(Half(simd, 0), vertices);
        deform_lanes(Half(simd, 4), vertices);
    } else {
        deform_lanes(Wide(simd), vertices);
    }
}

#[inline(always)]
fn deform_lanes<L: SkinLanes>(lanes: L, vertices: &mut Vertices<'_>) {
    let blocks = vertices.blocks.of_chunk(vertices.chunk);
    if vertices.out.tangents.is_empty() {
        for block in blocks {
            deform_block::<L, false>(lanes, vertices, block);
        }
    } else {
        for block in blocks {
            deform_block::<L, true>(lanes, vertices, block);
        }
    }
}

#[inline(always)]
fn deform_block<L: SkinLanes, const TANGENTS: bool>(lanes: L, vertices: &mut Vertices<'_>, index: usize) {
    let Vertices { blocks, palette, sections, out, .. } = vertices;
    let (block, mesh) = (&blocks.blocks[index], &blocks.mesh[index]);
    let matrix = match &block.joints {
        Follows::Shared(range) => {
            let (shared, weights) = blocks.shared(range);
            blend(lanes, shared, weights, |entry: u32| &palette[entry as usize])
        }
        Follows::Apart(starts) => lanes.blend_apart(palette, &blocks.pulls, starts),
    };
    let mesh_place = V3::load(lanes, &mesh.place, 0);
    let mesh_normal = V3::load(lanes, &mesh.normal, 0);
    let mut place = apply(matrix, mesh_place) + V3([matrix[0][3], matrix[1][3], matrix[2][3]]);
    // Normals go by the cofactors, the inverse transpose times the determinant, whose sign undoes a mirroring.
    let [x, y, z] = [row(matrix, 0), row(matrix, 1), row(matrix, 2)];
    let cofactors = [y.cross(z), z.cross(x), x.cross(y)];
    let determinant = x.dot(cofactors[0]);
    let turned = V3([cofactors[0].dot(mesh_normal), cofactors[1].dot(mesh_normal), cofactors[2].dot(mesh_normal)]);
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let side = determinant.where_less(zero, lanes.splat(-1.0), one);
    let mut normal = unit(lanes, turned, side, mesh_normal);
    // Tangents lie in the surface: they go as places beside each other go.
    let mut tangent = V3([zero; 3]);
    if TANGENTS {
        tangent = apply(matrix, V3::load(lanes, &blocks.mesh_tangents[index], 0));
    }
    if let Some((follows, model)) = &block.sections {
        let model = *model as usize;
        let [moved, turned] = match follows {
            Follows::Shared(range) => {
                let (shared, weights) = blocks.shared(range);
                [
                    blend(lanes, shared, weights, |section: u32| &sections[section as usize].place),
                    blend(lanes, shared, weights, |section: u32| &sections[section as usize].normal),
                ]
            }
            Follows::Apart(starts) => lanes.blend_sections_apart(sections, &blocks.pulls, starts),
        };
        let at_rest = &blocks.model[model];
        let offset = V3([moved[0][3], moved[1][3], moved[2][3]]);
        place = place + (apply(moved, V3::load(lanes, &at_rest.place, 0)) + offset);
        normal = unit(lanes, normal + apply(turned, V3::load(lanes, &at_rest.normal, 0)), one, normal);
        if TANGENTS {
            tangent = tangent + apply(moved, V3::load(lanes, &blocks.model_tangents[model], 0));
        }
    }
    let mut deformed = Deformed { place, normal, tangent: [zero; 4] };
    if TANGENTS {
        let given = &blocks.mesh_tangents[index];
        let [x, y, z] = tangent.direction(lanes).0;
        // A mirroring turns the bitangent over against normal × tangent.
        deformed.tangent = [x, y, z, lanes.load(&given[3]) * side];
    }
    lanes.put(deformed, out, &block.vertices);
}

/// The weighted sum of matrices that the block shares, the same for all lanes.
#[inline(always)]
fn blend<'a, L: Lanes<Scalar = f32>>(
    lanes: L,
    shared: &[u32],
    weights: &[Weights],
    matrix: impl Fn(u32) -> &'a PaletteMatrix,
) -> Rows<L::V> {
    let mut sum = [[lanes.splat(0.0); 4]; 3];
    for (&index, weights) in shared.iter().zip(weights) {
        let (matrix, weight) = (matrix(index), lanes.load(&weights.0));
        for i in 0..3 {
            for j in 0..4 {
                sum[i][j] = sum[i][j] + lanes.splat(matrix[i][j]) * weight;
            }
        }
    }
    sum
}

#[inline(always)]
fn row<V: Lane>(matrix: Rows<V>, i: usize) -> V3<V> {
    V3([matrix[i][0], matrix[i][1], matrix[i][2]])
}

/// Without the fourth column.
#[inline(always)]
fn apply<V: Lane>(matrix: Rows<V>, v: V3<V>) -> V3<V> {
    V3([row(matrix, 0).dot(v), row(matrix, 1).dot(v), row(matrix, 2).dot(v)])
}

/// A vector times a sign over its length; what has none stays as it was.
#[inline(always)]
fn unit<L: Lanes>(lanes: L, v: V3<L::V>, side: L::V, fallback: V3<L::V>) -> V3<L::V> {
    let length2 = v.dot(v);
    let zero = lanes.splat(0.0);
    let scaled = v * (side / length2.sqrt());
    let mut unit = fallback;
    for k in 0..3 {
        unit.0[k] = zero.where_less(length2, scaled.0[k], fallback.0[k]);
    }
    unit
}
