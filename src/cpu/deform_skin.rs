//! Stage `deform_skin`: linear blend skinning, and on top of it what the cross-sections do; its twin is
//! `shaders/deform_skin.wgsl`.
//!
//! One lane is one vertex of a block ([`SkinBlocks`]). All widths give the same bits: each vertex's sums are in the order in which
//! its block lists matrices, and what it does not follow of these adds 0.

use fearless_simd::{Simd, SimdBase};
use glam::Vec3;

use super::LaneWidth;
use super::lanes::{Half, LANES, Lane, Lanes, OneF32, Wide, with_instructions};
use super::math::V3;
use super::skin_blocks::{AtRest, Block, CHUNK, Follows, SkinBlocks, Weights};
use super::skin_lanes::{Rows, SkinLanes};
use crate::skin::{PaletteMatrix, SectionMatrix, SkinnedVertices};

/// A chunk of an instance's skin, what it follows, and where it goes.
pub struct Vertices<'a> {
    blocks: &'a SkinBlocks,
    chunk: usize,
    palette: &'a [PaletteMatrix],
    sections: &'a [SectionMatrix],
    positions: &'a mut [Vec3],
    normals: &'a mut [Vec3],
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
        skinned.positions.resize(count, Vec3::ZERO);
        skinned.normals.resize(count, Vec3::ZERO);
        let written = skinned.positions.chunks_mut(CHUNK).zip(skinned.normals.chunks_mut(CHUNK));
        written.enumerate().map(move |(chunk, (positions, normals))| Self {
            blocks,
            chunk,
            palette,
            sections,
            positions,
            normals,
        })
    }
}

/// Writes places (m) and unit normals of vertices in model space, the same bits at every width.
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
    let range = vertices.blocks.of_chunk(vertices.chunk);
    let blocks = vertices.blocks;
    for (block, mesh) in blocks.blocks[range.clone()].iter().zip(&blocks.mesh[range]) {
        deform_block(lanes, vertices, block, mesh);
    }
}

#[inline(always)]
fn deform_block<L: SkinLanes>(lanes: L, vertices: &mut Vertices<'_>, block: &Block, mesh: &AtRest) {
    let Vertices { blocks, palette, sections, positions, normals, .. } = vertices;
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
    let zero = lanes.splat(0.0);
    let side = determinant.where_less(zero, lanes.splat(-1.0), lanes.splat(1.0));
    let mut normal = unit(lanes, turned, side, mesh_normal);
    if let Some((follows, model)) = &block.sections {
        let model = &blocks.model[*model as usize];
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
        place = place + (apply(moved, V3::load(lanes, &model.place, 0)) + V3([moved[0][3], moved[1][3], moved[2][3]]));
        normal = unit(lanes, normal + apply(turned, V3::load(lanes, &model.normal, 0)), lanes.splat(1.0), normal);
    }
    lanes.put(place.0, positions, &block.vertices);
    lanes.put(normal.0, normals, &block.vertices);
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
