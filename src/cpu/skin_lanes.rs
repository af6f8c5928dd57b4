//! What skin asks of lanes beside arithmetic: matrices of a vertex each, and places that go where the host has them.

use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x4, f32x8};
use glam::Vec3;

use super::lanes::{F32x4, F32x8, Half, LANES, Lanes, OneF32, Wide};
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

    /// Writes three numbers to where each lane's vertex is.
    fn put(self, values: [Self::V; 3], out: &mut [Vec3], vertices: &[u16; LANES]);
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
    fn put(self, values: [f32; 3], out: &mut [Vec3], vertices: &[u16; LANES]) {
        out[usize::from(vertices[self.0])] = Vec3::from_array(values);
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

#[inline(always)]
fn put_four<S: Simd>([x, y, z]: [f32x4<S>; 3], out: &mut [Vec3], vertices: &[u16]) {
    let turned = turn_over([x, y, z, z]);
    for lane in 0..4 {
        let [x, y, z, _] = <[f32; 4]>::from(turned[lane]);
        out[usize::from(vertices[lane])] = Vec3::new(x, y, z);
    }
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
    fn put(self, [x, y, z]: [F32x4<S>; 3], out: &mut [Vec3], vertices: &[u16; LANES]) {
        put_four([x.0, y.0, z.0], out, &vertices[self.first()..][..4]);
    }
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
    fn put(self, [x, y, z]: [F32x8<S>; 3], out: &mut [Vec3], vertices: &[u16; LANES]) {
        let ((x, x_high), (y, y_high), (z, z_high)) = (x.0.split(), y.0.split(), z.0.split());
        put_four([x, y, z], out, &vertices[..4]);
        put_four([x_high, y_high, z_high], out, &vertices[4..]);
    }
}
