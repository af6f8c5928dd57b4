//! One SIMD lane is one chain: the scalar type that every CPU stage is generic over.
//!
//! `f32` steps one chain of a group and is the specification, [`Wide`] steps all eight at once, `f64` is for
//! tests. Only operations that IEEE 754 rounds exactly appear here (no fused multiply-add, no approximate
//! reciprocal, no transcendental), so every instance gives the same bits.

use std::ops::{Add, Div, Mul, Neg, Sub};

use fearless_simd::{Simd, f32x4, f32x8, prelude::*};

/// Chains in a group.
pub const LANES: usize = crate::layout::LANES as usize;

/// One entry of a row: a value for each chain of a group.
pub type Entry<T> = [T; LANES];

/// A loop over a few indices written out, so that a block's entries can live in registers.
macro_rules! unrolled {
    (for $i:ident in 0..3 $body:block) => {
        unrolled!(@each $i [0 1 2] $body)
    };
    (for $i:ident in 0..7 $body:block) => {
        unrolled!(@each $i [0 1 2 3 4 5 6] $body)
    };
    (for $i:ident in 0..12 $body:block) => {
        unrolled!(@each $i [0 1 2 3 4 5 6 7 8 9 10 11] $body)
    };
    (@each $i:ident [$($index:literal)*] $body:block) => {
        $({
            let $i: usize = $index;
            $body
        })*
    };
}
pub(crate) use unrolled;

/// An array of what an expression is for each of a few indices, written out: what is given to `array::map`, like every closure
/// that is called twice or by an iterator, would be compiled without the instructions that [`Wide`] stands for.
macro_rules! each {
    ($k:ident in 0..2 => $value:expr) => {
        each!(@of $k [0 1] $value)
    };
    ($k:ident in 0..3 => $value:expr) => {
        each!(@of $k [0 1 2] $value)
    };
    ($k:ident in 0..4 => $value:expr) => {
        each!(@of $k [0 1 2 3] $value)
    };
    ($k:ident in 0..8 => $value:expr) => {
        each!(@of $k [0 1 2 3 4 5 6 7] $value)
    };
    (@of $k:ident [$($index:literal)*] $value:expr) => {
        [$({
            let $k: usize = $index;
            $value
        }),*]
    };
}
pub(crate) use each;

/// What an expression is, found by a function of its own with the instructions that the lanes have: compilers take more than twice as
/// long for a function of twice the size. It belongs to the module that it is asked for in, so that modules are compiled beside
/// each other.
macro_rules! apart {
    ($lanes:expr, $run:expr) => {{
        /// Without the instructions itself, so that nothing is moved out of the function that has them, or into it.
        #[inline(never)]
        fn alone<L: $crate::cpu::lanes::Lanes, R>(lanes: L, run: impl FnOnce() -> R) -> R {
            lanes.vectorize(run)
        }
        alone(
            $lanes,
            #[inline(always)]
            || $run,
        )
    }};
}
pub(crate) use apart;

/// Runs `$op` with the best instructions among those that this crate is compiled for.
///
/// On x86-64 these are AVX-512, AVX2 and the baseline. Each takes as long to compile again; a fourth, SSE4.2, has registers no
/// wider than the baseline's. Unit tests have the baseline alone: `tests/` run the others.
macro_rules! with_instructions {
    ($level:expr, $simd:ident => $op:expr) => {{
        let level: fearless_simd::Level = $level;
        #[cfg(target_arch = "x86_64")]
        match (level.as_avx512(), level.as_avx2(), level.as_sse2()) {
            #[cfg(not(test))]
            (Some($simd), _, _) => fearless_simd::Simd::vectorize(
                $simd,
                #[inline(always)]
                || $op,
            ),
            #[cfg(not(test))]
            (None, Some($simd), _) => fearless_simd::Simd::vectorize(
                $simd,
                #[inline(always)]
                || $op,
            ),
            (_, _, Some($simd)) => fearless_simd::Simd::vectorize(
                $simd,
                #[inline(always)]
                || $op,
            ),
            (_, _, None) => unreachable!("every x86-64 machine has SSE2"),
        }
        #[cfg(not(target_arch = "x86_64"))]
        fearless_simd::dispatch!(level, $simd => $op)
    }};
}
pub(crate) use with_instructions;

/// A number, or eight of them in step.
pub trait Lane:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// Square root.
    fn sqrt(self) -> Self;
    /// `a` where `self < other`, else `b` (also where either is NaN).
    fn where_less(self, other: Self, a: Self, b: Self) -> Self;

    /// The smaller of two.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.where_less(other, self, other)
    }

    /// The larger of two.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        other.where_less(self, self, other)
    }

    /// `self`, held between two bounds.
    #[inline(always)]
    fn clamp(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }
}

/// Which chains of a group are stepped, and how their entries are loaded and stored.
pub trait Lanes: Copy {
    /// What rows are made of.
    type Scalar: Copy;
    /// What the arithmetic is made of.
    type V: Lane;

    /// The same number in every lane.
    fn splat(self, value: f32) -> Self::V;
    /// Reads an entry.
    fn load(self, entry: &Entry<Self::Scalar>) -> Self::V;
    /// Reads an entry of a row.
    ///
    /// A method, because a closure would be compiled without the instructions that [`Wide`] stands for.
    #[inline(always)]
    fn at(self, row: &[Entry<Self::Scalar>], entry: usize) -> Self::V {
        self.load(&row[entry])
    }
    /// Reads eight numbers that lie side by side, for every lane from a row of its own.
    fn gather(self, rows: &[Entry<Self::Scalar>], of: &[u32; LANES]) -> [Self::V; LANES];
    /// Writes eight numbers side by side, every lane's into the row that is its own.
    fn scatter(self, values: [Self::V; LANES], rows: &mut [Entry<Self::Scalar>]);

    /// Runs a closure, which must be one that is always inlined, with the instructions that these lanes have.
    fn vectorize<R>(self, run: impl FnOnce() -> R) -> R;
    /// One unit in the last place of 1.
    fn epsilon(self) -> Self::V;
    /// Whether any lane's flag, 0 or 1, is 1.
    fn any(self, flag: Self::V) -> bool;
    /// Writes an entry.
    fn store(self, value: Self::V, entry: &mut Entry<Self::Scalar>);
}

macro_rules! impl_scalar_lane {
    ($scalar:ident, $one:ident, $doc:literal) => {
        impl Lane for $scalar {
            #[inline(always)]
            fn sqrt(self) -> Self {
                $scalar::sqrt(self)
            }

            #[inline(always)]
            fn where_less(self, other: Self, a: Self, b: Self) -> Self {
                if self < other { a } else { b }
            }
        }

        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub struct $one(
            /// Which lane of the group.
            pub usize,
        );

        impl Lanes for $one {
            type Scalar = $scalar;
            type V = $scalar;

            #[inline(always)]
            fn splat(self, value: f32) -> $scalar {
                $scalar::from(value)
            }

            #[inline(always)]
            fn load(self, entry: &Entry<$scalar>) -> $scalar {
                entry[self.0]
            }

            #[inline(always)]
            fn gather(self, rows: &[Entry<$scalar>], of: &[u32; LANES]) -> [$scalar; LANES] {
                rows[of[self.0] as usize]
            }

            #[inline(always)]
            fn scatter(self, values: [$scalar; LANES], rows: &mut [Entry<$scalar>]) {
                rows[self.0] = values;
            }

            #[inline(always)]
            fn vectorize<R>(self, run: impl FnOnce() -> R) -> R {
                run()
            }

            #[inline(always)]
            fn epsilon(self) -> $scalar {
                $scalar::EPSILON
            }

            #[inline(always)]
            fn any(self, flag: $scalar) -> bool {
                flag >= 0.5
            }

            #[inline(always)]
            fn store(self, value: $scalar, entry: &mut Entry<$scalar>) {
                entry[self.0] = value;
            }
        }
    };
}

impl_scalar_lane!(f32, OneF32, "One chain at a time in f32: the specification.");
impl_scalar_lane!(f64, OneF64, "One chain at a time in f64, for tests.");

macro_rules! impl_vector_lane {
    ($lane:ident, $vector:ident, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub struct $lane<S: Simd>(pub(super) $vector<S>);

        impl_vector_lane!(@operator $lane, Add, add, +);
        impl_vector_lane!(@operator $lane, Sub, sub, -);
        impl_vector_lane!(@operator $lane, Mul, mul, *);
        impl_vector_lane!(@operator $lane, Div, div, /);

        impl<S: Simd> Neg for $lane<S> {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }

        impl<S: Simd> Lane for $lane<S> {
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self(self.0.sqrt())
            }

            #[inline(always)]
            fn where_less(self, other: Self, a: Self, b: Self) -> Self {
                Self(self.0.simd_lt(other.0).select(a.0, b.0))
            }
        }
    };
    (@operator $lane:ident, $trait:ident, $method:ident, $operator:tt) => {
        impl<S: Simd> $trait for $lane<S> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0 $operator other.0)
            }
        }
    };
}

impl_vector_lane!(F32x8, f32x8, "Eight lanes of f32.");
impl_vector_lane!(F32x4, f32x4, "Four lanes of f32.");

/// Rows become columns, of eight: the bits of an entry's row and column, read as one number, go round by one each time that rows are
/// zipped with those half of them on, and so change places in as many times as a row's number has bits.
#[inline(always)]
fn turned<S: Simd>(rows: [f32x8<S>; 8]) -> [f32x8<S>; 8] {
    zipped(zipped(zipped(rows)))
}

#[inline(always)]
fn zipped<S: Simd>(rows: [f32x8<S>; 8]) -> [f32x8<S>; 8] {
    each!(k in 0..8 => {
        let (a, b) = (rows[k / 2], rows[k / 2 + 4]);
        if k.is_multiple_of(2) { a.zip_low(b) } else { a.zip_high(b) }
    })
}

/// As [`turned`], of four.
#[inline(always)]
fn turned_four<S: Simd>(rows: [f32x4<S>; 4]) -> [f32x4<S>; 4] {
    zipped_four(zipped_four(rows))
}

#[inline(always)]
fn zipped_four<S: Simd>(rows: [f32x4<S>; 4]) -> [f32x4<S>; 4] {
    each!(k in 0..4 => {
        let (a, b) = (rows[k / 2], rows[k / 2 + 2]);
        if k.is_multiple_of(2) { a.zip_low(b) } else { a.zip_high(b) }
    })
}

/// All eight chains of a group at once, with the instructions that `S` stands for.
#[derive(Clone, Copy, Debug)]
pub struct Wide<S>(
    /// Proof that the instructions are there.
    pub S,
);

impl<S: Simd> Lanes for Wide<S> {
    type Scalar = f32;
    type V = F32x8<S>;

    #[inline(always)]
    fn splat(self, value: f32) -> F32x8<S> {
        F32x8(f32x8::splat(self.0, value))
    }

    #[inline(always)]
    fn load(self, entry: &Entry<f32>) -> F32x8<S> {
        F32x8(f32x8::from_slice(self.0, entry))
    }

    #[inline(always)]
    fn gather(self, rows: &[Entry<f32>], of: &[u32; LANES]) -> [F32x8<S>; LANES] {
        let columns = turned(each!(lane in 0..8 => f32x8::from_slice(self.0, &rows[of[lane] as usize])));
        each!(k in 0..8 => F32x8(columns[k]))
    }

    #[inline(always)]
    fn scatter(self, values: [F32x8<S>; LANES], rows: &mut [Entry<f32>]) {
        let of_lanes = turned(each!(k in 0..8 => values[k].0));
        for (row, values) in rows[..LANES].iter_mut().zip(of_lanes) {
            values.store_slice(row);
        }
    }

    #[inline(always)]
    fn vectorize<R>(self, run: impl FnOnce() -> R) -> R {
        self.0.vectorize(run)
    }

    #[inline(always)]
    fn epsilon(self) -> F32x8<S> {
        self.splat(f32::EPSILON)
    }

    #[inline(always)]
    fn any(self, flag: F32x8<S>) -> bool {
        flag.0.simd_ge(f32x8::splat(self.0, 0.5)).any_true()
    }

    #[inline(always)]
    fn store(self, value: F32x8<S>, entry: &mut Entry<f32>) {
        value.0.store_slice(entry);
    }
}

/// Half of a group at once, for machines whose registers hold four numbers.
#[derive(Clone, Copy, Debug)]
pub struct Half<S>(
    /// Proof that the instructions are there.
    pub S,
    /// Its first lane: 0 or 4.
    pub usize,
);

impl<S: Simd> Half<S> {
    #[inline(always)]
    pub(super) fn first(self) -> usize {
        self.1 & 4
    }
}

impl<S: Simd> Lanes for Half<S> {
    type Scalar = f32;
    type V = F32x4<S>;

    #[inline(always)]
    fn splat(self, value: f32) -> F32x4<S> {
        F32x4(f32x4::splat(self.0, value))
    }

    #[inline(always)]
    fn load(self, entry: &Entry<f32>) -> F32x4<S> {
        F32x4(f32x4::from_slice(self.0, &entry[self.first()..][..4]))
    }

    #[inline(always)]
    fn gather(self, rows: &[Entry<f32>], of: &[u32; LANES]) -> [F32x4<S>; LANES] {
        let of_lanes = each!(lane in 0..4 => &rows[of[self.first() + lane] as usize]);
        let low = turned_four(each!(lane in 0..4 => f32x4::from_slice(self.0, &of_lanes[lane][..4])));
        let high = turned_four(each!(lane in 0..4 => f32x4::from_slice(self.0, &of_lanes[lane][4..])));
        each!(k in 0..8 => F32x4(if k < 4 { low[k] } else { high[k - 4] }))
    }

    #[inline(always)]
    fn scatter(self, values: [F32x4<S>; LANES], rows: &mut [Entry<f32>]) {
        let low = turned_four(each!(k in 0..4 => values[k].0));
        let high = turned_four(each!(k in 0..4 => values[4 + k].0));
        for (lane, row) in rows[self.first()..][..4].iter_mut().enumerate() {
            low[lane].store_slice(&mut row[..4]);
            high[lane].store_slice(&mut row[4..]);
        }
    }

    #[inline(always)]
    fn vectorize<R>(self, run: impl FnOnce() -> R) -> R {
        self.0.vectorize(run)
    }

    #[inline(always)]
    fn epsilon(self) -> F32x4<S> {
        self.splat(f32::EPSILON)
    }

    #[inline(always)]
    fn any(self, flag: F32x4<S>) -> bool {
        flag.0.simd_ge(f32x4::splat(self.0, 0.5)).any_true()
    }

    #[inline(always)]
    fn store(self, value: F32x4<S>, entry: &mut Entry<f32>) {
        value.0.store_slice(&mut entry[self.first()..][..4]);
    }
}
