//! Stage `deform_skin`: linear blend or dual quaternion skinning, and on top of it what the cross-sections do; its twin is
//! `shaders/deform_skin.wgsl`.
//!
//! One lane is one vertex of a block ([`SkinBlocks`]). All widths give the same bits: each vertex's sums are in the order in which
//! its block lists matrices, and what it does not follow of these adds 0. What moves vertices before they are skinned is gathered by
//! blocks; a skin without any of that does not ask for it.
#![expect(clippy::needless_range_loop, reason = "entries of a matrix are named by row and column")]

use fearless_simd::{Simd, SimdBase};
use glam::{Vec3, Vec4};

use super::LaneWidth;
use super::lanes::{Half, LANES, Lane, Lanes, OneF32, Wide, apart, with_instructions};
use super::math::{Quaternion, V3};
use super::skin_blocks::{AtRest, CHUNK, Follows, SkinBlocks, Tangents, Weights};
use super::skin_lanes::{Deformed, Out, Rows, SkinLanes};
use crate::skin::{DualMatrix, PaletteMatrix, SectionMatrix, SkinInputs, SkinnedVertices};

/// What is added to vertices in mesh space before they are skinned, in the host's order; each for all vertices, or empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deltas<'a> {
    /// To places (m): by morph targets, and by networks.
    pub places: [&'a [Vec3]; 2],
    /// To unit normals.
    pub normals: &'a [Vec3],
    /// To unit tangents.
    pub tangents: &'a [Vec3],
}

impl<'a> Deltas<'a> {
    fn of_chunk(self, chunk: usize) -> Self {
        let of = |all: &'a [Vec3]| all.chunks(CHUNK).nth(chunk).unwrap_or_default();
        Self { places: self.places.map(of), normals: of(self.normals), tangents: of(self.tangents) }
    }

    fn moves(&self) -> bool {
        self.places.iter().any(|places| !places.is_empty())
    }
}

/// A chunk of an instance's skin, what it follows, and where it goes.
pub struct Vertices<'a> {
    blocks: &'a SkinBlocks,
    chunk: usize,
    inputs: &'a SkinInputs,
    sections: &'a [SectionMatrix],
    deltas: Deltas<'a>,
    out: Out<'a>,
}

impl<'a> Vertices<'a> {
    /// All of a skin's, some at a time.
    pub fn new(
        blocks: &'a SkinBlocks,
        inputs: &'a SkinInputs,
        sections: &'a [SectionMatrix],
        deltas: Deltas<'a>,
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
            inputs,
            sections,
            deltas: deltas.of_chunk(chunk),
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
        for first in [0, 4] {
            deform_lanes(Half(simd, first), vertices);
        }
    } else {
        deform_lanes(Wide(simd), vertices);
    }
}

#[inline(always)]
fn deform_lanes<L: SkinLanes>(lanes: L, vertices: &mut Vertices<'_>) {
    for block in vertices.blocks.of_chunk(vertices.chunk) {
        deform_block(lanes, vertices, block);
    }
}

#[inline(always)]
fn deform_block<L: SkinLanes>(lanes: L, vertices: &mut Vertices<'_>, index: usize) {
    let Vertices { blocks, inputs, sections, deltas, out, .. } = vertices;
    let palette = inputs.palette.as_slice();
    let has_tangents = !out.tangents.is_empty();
    let block = &blocks.blocks[index];
    // Where nothing moves its vertices before they are skinned, a block is as it is given.
    let moved = if deltas.moves() { Some(apart!(lanes, move_block(lanes, blocks, *deltas, index))) } else { None };
    let mesh = match &moved {
        Some(moved) => &moved.mesh,
        None => &blocks.mesh[index],
    };
    let matrix = match &block.joints {
        Follows::Shared(range) => {
            let (shared, weights) = blocks.shared(range);
            blend(lanes, shared, weights, |entry: u32| &palette[entry as usize])
        }
        Follows::Dual(range) => {
            let (shared, weights) = blocks.shared(range);
            blend_duals(lanes, shared, weights, &inputs.duals)
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
    if has_tangents {
        let given = match &moved {
            Some(moved) => &moved.mesh_tangents,
            None => &blocks.mesh_tangents[index],
        };
        tangent = apply(matrix, V3::load(lanes, given, 0));
    }
    // None are posed where skin does not go with them.
    if let (Some((follows, model)), false) = (&block.sections, sections.is_empty()) {
        let model = *model as usize;
        let [gone, turned] = match follows {
            Follows::Shared(range) | Follows::Dual(range) => {
                let (shared, weights) = blocks.shared(range);
                [
                    blend(lanes, shared, weights, |section: u32| &sections[section as usize].place),
                    blend(lanes, shared, weights, |section: u32| &sections[section as usize].normal),
                ]
            }
            Follows::Apart(starts) => lanes.blend_sections_apart(sections, &blocks.pulls, starts),
        };
        let at_rest = match &moved {
            Some(moved) => &moved.model,
            None => &blocks.model[model],
        };
        let offset = V3([gone[0][3], gone[1][3], gone[2][3]]);
        place = place + (apply(gone, V3::load(lanes, &at_rest.place, 0)) + offset);
        normal = unit(lanes, normal + apply(turned, V3::load(lanes, &at_rest.normal, 0)), one, normal);
        if has_tangents {
            let given = match &moved {
                Some(moved) => &moved.model_tangents,
                None => &blocks.model_tangents[model],
            };
            tangent = tangent + apply(gone, V3::load(lanes, given, 0));
        }
    }
    let mut deformed = Deformed { place, normal, tangent: [zero; 4] };
    if has_tangents {
        let [x, y, z] = tangent.direction(lanes).0;
        // A mirroring turns the bitangent over against normal × tangent.
        deformed.tangent = [x, y, z, lanes.load(&blocks.mesh_tangents[index][3]) * side];
    }
    lanes.put(deformed, out, &block.vertices);
}

/// A block whose vertices were moved before they are skinned.
#[derive(Default)]
struct MovedBlock {
    mesh: AtRest,
    model: AtRest,
    mesh_tangents: Tangents,
    model_tangents: Tangents,
}

/// Where a block's vertices are with what is added to them: p + δ in mesh space, v̄ + M̄δ in model space.
#[inline(always)]
fn move_block<L: Lanes<Scalar = f32>>(lanes: L, blocks: &SkinBlocks, deltas: Deltas<'_>, index: usize) -> MovedBlock {
    let (block, given) = (&blocks.blocks[index], &blocks.mesh[index]);
    let mut moved = MovedBlock::default();
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let place = gather(lanes, deltas.places, &block.vertices);
    let tangent = gather(lanes, [deltas.tangents, &[]], &block.vertices);
    let mut normal = V3::load(lanes, &given.normal, 0);
    if !deltas.normals.is_empty() {
        normal = unit(lanes, normal + gather(lanes, [deltas.normals, &[]], &block.vertices), one, normal);
    }
    (V3::load(lanes, &given.place, 0) + place).store(lanes, &mut moved.mesh.place, 0);
    normal.store(lanes, &mut moved.mesh.normal, 0);
    if let Some(given) = blocks.mesh_tangents.get(index) {
        (V3::load(lanes, given, 0) + tangent).store(lanes, &mut moved.mesh_tangents, 0);
    }
    let Some((_, model)) = &block.sections else { return moved };
    let model = *model as usize;
    let given = &blocks.model[model];
    let linear = rest_linear(lanes, blocks, index);
    let mut rest_normal = V3::load(lanes, &given.normal, 0);
    if !deltas.normals.is_empty() {
        let [x, y, z] = linear;
        let cofactors = [y.cross(z), z.cross(x), x.cross(y)];
        let side = x.dot(cofactors[0]).where_less(zero, lanes.splat(-1.0), one);
        rest_normal = unit(lanes, rows_times(cofactors, normal), side, rest_normal);
    }
    (V3::load(lanes, &given.place, 0) + rows_times(linear, place)).store(lanes, &mut moved.model.place, 0);
    rest_normal.store(lanes, &mut moved.model.normal, 0);
    if let Some(given) = blocks.model_tangents.get(model) {
        let rest_tangent = V3::load(lanes, given, 0) + rows_times(linear, tangent);
        rest_tangent.store(lanes, &mut moved.model_tangents, 0);
    }
    moved
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

/// The matrix of blended dual quaternions and stretches. Of both quaternions that stand for a rotation, the one that is nearer to
/// the sum of those before it counts.
#[inline(always)]
fn blend_duals<L: Lanes<Scalar = f32>>(
    lanes: L,
    shared: &[u32],
    weights: &[Weights],
    duals: &[DualMatrix],
) -> Rows<L::V> {
    let zero = lanes.splat(0.0);
    let (mut rotation, mut dual) = ([zero; 4], [zero; 4]);
    let (mut stretch, mut shear) = ([zero; 3], [zero; 3]);
    for (&index, weights) in shared.iter().zip(weights) {
        let (joint, weight) = (&duals[index as usize], lanes.load(&weights.0));
        let mut along = lanes.splat(joint.rotation[0]) * rotation[0];
        for k in 1..4 {
            along = along + lanes.splat(joint.rotation[k]) * rotation[k];
        }
        let near = along.where_less(zero, -weight, weight);
        for k in 0..4 {
            rotation[k] = rotation[k] + lanes.splat(joint.rotation[k]) * near;
            dual[k] = dual[k] + lanes.splat(joint.dual[k]) * near;
        }
        for k in 0..3 {
            stretch[k] = stretch[k] + lanes.splat(joint.stretch[k]) * weight;
            shear[k] = shear[k] + lanes.splat(joint.shear[k]) * weight;
        }
    }
    let length = Quaternion(rotation).dot(Quaternion(rotation)).sqrt();
    let inverse = lanes.splat(1.0) / length.max(lanes.splat(1.0e-12));
    let rotation = Quaternion(rotation).scale(inverse);
    let dual = Quaternion(dual).scale(inverse);
    // 2 d q̄ of the unit dual quaternion q + ε d.
    let (turn, moved) = (rotation.imaginary(), dual.imaginary());
    let offset = (moved * rotation.0[3] - turn * dual.0[3] + turn.cross(moved)) * lanes.splat(2.0);
    let [u, v, w] = rotation.axes(lanes);
    let x = u * stretch[0] + v * shear[0] + w * shear[1];
    let y = u * shear[0] + v * stretch[1] + w * shear[2];
    let z = u * shear[1] + v * shear[2] + w * stretch[2];
    let [ox, oy, oz] = offset.0;
    [[x.0[0], y.0[0], z.0[0], ox], [x.0[1], y.0[1], z.0[1], oy], [x.0[2], y.0[2], z.0[2], oz]]
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

#[inline(always)]
fn rows_times<V: Lane>([x, y, z]: [V3<V>; 3], v: V3<V>) -> V3<V> {
    V3([x.dot(v), y.dot(v), z.dot(v)])
}

/// M̄ of each lane's vertex, three rows.
#[inline(always)]
fn rest_linear<L: Lanes<Scalar = f32>>(lanes: L, blocks: &SkinBlocks, index: usize) -> [V3<L::V>; 3] {
    let first = index / (CHUNK / LANES) * CHUNK;
    let mut rows = [[0.0; LANES]; 9];
    for lane in 0..LANES {
        let linear = blocks.skin.linear_of(first + usize::from(blocks.blocks[index].vertices[lane]));
        for (k, &entry) in linear.as_flattened().iter().enumerate() {
            rows[k][lane] = entry;
        }
    }
    [V3::load(lanes, &rows, 0), V3::load(lanes, &rows, 3), V3::load(lanes, &rows, 6)]
}

/// The sum of what two lists have for each lane's vertex; an empty list has nothing.
#[inline(always)]
fn gather<L: Lanes<Scalar = f32>>(lanes: L, lists: [&[Vec3]; 2], vertices: &[u16; LANES]) -> V3<L::V> {
    let mut sums = [[0.0; LANES]; 3];
    for list in lists {
        if list.is_empty() {
            continue;
        }
        for lane in 0..LANES {
            let [x, y, z] = list[usize::from(vertices[lane])].to_array();
            sums[0][lane] += x;
            sums[1][lane] += y;
            sums[2][lane] += z;
        }
    }
    V3::load(lanes, &sums, 0)
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
