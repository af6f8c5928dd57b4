//! What skin asks of lanes beside arithmetic: matrices of a vertex each, and places that go where the host has them.
#![expect(clippy::needless_range_loop, reason = "sums in registers are named by their lanes")]

use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x8};
use glam::{Vec3, Vec4};

use super::lanes::{F32x4, F32x8, Half, LANES, Lanes, OneF32, Wide};
use super::math::V3;
use super::skin_blocks::{Pull, Starts};
use crate::skin::{PaletteMatrix, SectionMatrix};

/// A matrix's rows for each lane.
pub type Rows<V> = [[V; 4]; 3];

/// Some lanes of a block of vertices.
pub trait SkinLanes: Lanes<Scalar = f32> {
    /// The weighted sum of each lane's own matrices.
    fn blend_apart(self, matrices: &[PaletteMatrix], pulls: &[Pull], starts: &Starts) -> Rows<Self::V>;

    /// The same of two matrices each, of places and of normals.
    fn blend_sections_apart(self, matrices: &[SectionMatrix], pulls: &[Pull], starts: &Starts) -> [Rows<Self::V>; 2];

    /// Writes where each lane's vertex goes.
    fn put(self, values: Deformed<Self::V>, out: &mut Out<'_>, vertices: &[u16; LANES]);
}

/// Where vertices go.
pub struct Deformed<V> {
    /// Places (m).
    pub place: V3<V>,
    /// Unit normals.
    pub normal: V3<V>,
    /// Unit tangents and bitangents' sides, where there are any.
    pub tangent: [V; 4],
}

/// Of a chunk's vertices, in the host's order, what there is of tangents as long as the others.
pub struct Out<'a> {
    /// Places (m).
    pub positions: &'a mut [Vec3],
    /// Unit normals.
    pub normals: &'a mut [Vec3],
    /// Empty where there are none.
    pub tangents: &'a mut [Vec4],
}

impl SkinLanes for OneF32 {
    #[inline(always)]
    fn blend_apart(self, matrices: &[PaletteMatrix], pulls: &[Pull], starts: &Starts) -> Rows<f32> {
        let mut sum = [[0.0; 4]; 3];
        for pull in own(self.0, pulls, starts) {
            add(&mut sum, &matrices[pull.matrix as usize], pull.weight);
        }
        sum
    }

    #[inline(always)]
    fn blend_sections_apart(self, matrices: &[SectionMatrix], pulls: &[Pull], starts: &Starts) -> [Rows<f32>; 2] {
        let mut sums = [[[0.0; 4]; 3]; 2];
        for pull in own(self.0, pulls, starts) {
            let matrix = &matrices[pull.matrix as usize];
            add(&mut sums[0], &matrix.place, pull.weight);
            add(&mut sums[1], &matrix.normal, pull.weight);
        }
        sums
    }

    #[inline(always)]
    fn put(self, values: Deformed<f32>, out: &mut Out<'_>, vertices: &[u16; LANES]) {
        let vertex = usize::from(vertices[self.0]);
        out.positions[vertex] = Vec3::from_array(values.place.0);
        out.normals[vertex] = Vec3::from_array(values.normal.0);
        if !out.tangents.is_empty() {
            out.tangents[vertex] = Vec4::from_array(values.tangent);
        }
    }
}

#[inline(always)]
fn own<'a>(lane: usize, pulls: &'a [Pull], starts: &Starts) -> &'a [Pull] {
    &pulls[starts[lane] as usize..starts[lane + 1] as usize]
}

#[inline(always)]
fn add(sum: &mut PaletteMatrix, matrix: &PaletteMatrix, weight: f32) {
    for i in 0..3 {
        for j in 0..4 {
            sum[i][j] += matrix[i][j] * weight;
        }
    }
}

/// The sums of four lanes from one on, a row in a register each: `[row][lane]`.
#[inline(always)]
fn blend_four<S: Simd>(
    simd: S,
    (matrices, pulls): (&[PaletteMatrix], &[Pull]),
    starts: &Starts,
    first: usize,
) -> [[f32x4<S>; 4]; 3] {
    let mut sums = [[f32x4::splat(simd, 0.0); 4]; 3];
    for lane in 0..4 {
        // Two rows in a register.
        let (mut rows, mut last) = (f32x8::splat(simd, 0.0), f32x4::splat(simd, 0.0));
        for pull in own(first + lane, pulls, starts) {
            let matrix: &[f32; 12] = bytemuck::cast_ref(&matrices[pull.matrix as usize]);
            rows += f32x8::from_slice(simd, &matrix[..8]) * pull.weight;
            last += f32x4::from_slice(simd, &matrix[8..]) * pull.weight;
        }
        (sums[0][lane], sums[1][lane]) = rows.split();
        sums[2][lane] = last;
    }
    sums
}

/// As [`blend_four`], of places and normals.
#[inline(always)]
fn blend_four_sections<S: Simd>(
    simd: S,
    (matrices, pulls): (&[SectionMatrix], &[Pull]),
    starts: &Starts,
    first: usize,
) -> [[f32x4<S>; 4]; 6] {
    let mut sums = [[f32x4::splat(simd, 0.0); 4]; 6];
    for lane in 0..4 {
        let mut rows = [f32x8::splat(simd, 0.0); 3];
        for pull in own(first + lane, pulls, starts) {
            let matrix: &[[f32; 8]; 3] = bytemuck::cast_ref(&matrices[pull.matrix as usize]);
            for k in 0..3 {
                rows[k] += f32x8::from_slice(simd, &matrix[k]) * pull.weight;
            }
        }
        for k in 0..3 {
            (sums[2 * k][lane], sums[2 * k + 1][lane]) = rows[k].split();
        }
    }
    sums
}

/// Rows become columns.
#[inline(always)]
fn turn_over<S: Simd>([a, b, c, d]: [f32x4<S>; 4]) -> [f32x4<S>; 4] {
    let (ac, ac_high) = (a.zip_low(c), a.zip_high(c));
    let (bd, bd_high) = (b.zip_low(d), b.zip_high(d));
    [ac.zip_low(bd), ac.zip_high(bd), ac_high.zip_low(bd_high), ac_high.zip_high(bd_high)]
}

#[inline(always)]
fn half_row<S: Simd>(lanes: [f32x4<S>; 4]) -> [F32x4<S>; 4] {
    let [x, y, z, w] = turn_over(lanes);
    [F32x4(x), F32x4(y), F32x4(z), F32x4(w)]
}

#[inline(always)]
fn wide_row<S: Simd>(low: [f32x4<S>; 4], high: [f32x4<S>; 4]) -> [F32x8<S>; 4] {
    let ([x, y, z, w], [x_high, y_high, z_high, w_high]) = (turn_over(low), turn_over(high));
    [F32x8(x.combine(x_high)), F32x8(y.combine(y_high)), F32x8(z.combine(z_high)), F32x8(w.combine(w_high))]
}

/// Of four lanes: place, normal and tangent.
#[inline(always)]
fn put_four<S: Simd>(
    [x, y, z]: [f32x4<S>; 3],
    [u, v, w]: [f32x4<S>; 3],
    tangent: [f32x4<S>; 4],
    out: &mut Out<'_>,
    vertices: &[u16],
) {
    let (places, normals) = (turn_over([x, y, z, z]), turn_over([u, v, w, w]));
    let count = out.positions.len();
    let of_normals = &mut out.normals[..count];
    if out.tangents.is_empty() {
        for lane in 0..4 {
            let vertex = usize::from(vertices[lane]);
            out.positions[vertex] = three(places[lane]);
            of_normals[vertex] = three(normals[lane]);
        }
    } else {
        let tangents = turn_over(tangent);
        let of_tangents = &mut out.tangents[..count];
        for lane in 0..4 {
            let vertex = usize::from(vertices[lane]);
            out.positions[vertex] = three(places[lane]);
            of_normals[vertex] = three(normals[lane]);
            of_tangents[vertex] = Vec4::from_array(<[f32; 4]>::from(tangents[lane]));
        }
    }
}

#[inline(always)]
fn three<S: Simd>(four: f32x4<S>) -> Vec3 {
    let [x, y, z, _] = <[f32; 4]>::from(four);
    Vec3::new(x, y, z)
}

impl<S: Simd> SkinLanes for Half<S> {
    #[inline(always)]
    fn blend_apart(self, matrices: &[PaletteMatrix], pulls: &[Pull], starts: &Starts) -> Rows<F32x4<S>> {
        let [x, y, z] = blend_four(self.0, (matrices, pulls), starts, self.first());
        [half_row(x), half_row(y), half_row(z)]
    }

    #[inline(always)]
    fn blend_sections_apart(self, matrices: &[SectionMatrix], pulls: &[Pull], starts: &Starts) -> [Rows<F32x4<S>>; 2] {
        let [x, y, z, u, v, w] = blend_four_sections(self.0, (matrices, pulls), starts, self.first());
        [[half_row(x), half_row(y), half_row(z)], [half_row(u), half_row(v), half_row(w)]]
    }

    #[inline(always)]
    fn put(self, values: Deformed<F32x4<S>>, out: &mut Out<'_>, vertices: &[u16; LANES]) {
        let [x, y, z, w] = values.tangent;
        let of = &vertices[self.first()..][..4];
        put_four(half(values.place), half(values.normal), [x.0, y.0, z.0, w.0], out, of);
    }
}

#[inline(always)]
fn half<S: Simd>(V3([x, y, z]): V3<F32x4<S>>) -> [f32x4<S>; 3] {
    [x.0, y.0, z.0]
}

#[inline(always)]
fn halves<S: Simd>(V3([x, y, z]): V3<F32x8<S>>) -> [[f32x4<S>; 3]; 2] {
    let ((x, x_high), (y, y_high), (z, z_high)) = (x.0.split(), y.0.split(), z.0.split());
    [[x, y, z], [x_high, y_high, z_high]]
}

impl<S: Simd> SkinLanes for Wide<S> {
    #[inline(always)]
    fn blend_apart(self, matrices: &[PaletteMatrix], pulls: &[Pull], starts: &Starts) -> Rows<F32x8<S>> {
        let low = blend_four(self.0, (matrices, pulls), starts, 0);
        let high = blend_four(self.0, (matrices, pulls), starts, 4);
        [wide_row(low[0], high[0]), wide_row(low[1], high[1]), wide_row(low[2], high[2])]
    }

    #[inline(always)]
    fn blend_sections_apart(self, matrices: &[SectionMatrix], pulls: &[Pull], starts: &Starts) -> [Rows<F32x8<S>>; 2] {
        let low = blend_four_sections(self.0, (matrices, pulls), starts, 0);
        let high = blend_four_sections(self.0, (matrices, pulls), starts, 4);
        [
            [wide_row(low[0], high[0]), wide_row(low[1], high[1]), wide_row(low[2], high[2])],
            [wide_row(low[3], high[3]), wide_row(low[4], high[4]), wide_row(low[5], high[5])],
        ]
    }

    #[inline(always)]
    fn put(self, values: Deformed<F32x8<S>>, out: &mut Out<'_>, vertices: &[u16; LANES]) {
        let [[place, place_high], [normal, normal_high]] = [halves(values.place), halves(values.normal)];
        let [x, y, z, w] = values.tangent;
        let [[x, y, z], [x_high, y_high, z_high]] = halves(V3([x, y, z]));
        let (w, w_high) = w.0.split();
        put_four(place, normal, [x, y, z, w], out, &vertices[..4]);
        put_four(place_high, normal_high, [x_high, y_high, z_high, w_high], out, &vertices[4..]);
    }
}
