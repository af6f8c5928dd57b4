//! Fibres of one segment: how far they are stretched, how they pull, and what that adds to the segment's terms; its twin
//! is `shaders/shared/fibres.wgsl`.
//!
//! The segment's fibres have a mean stretch λ, weighted by their areas, by |Γ| and linear in sΩ, s and Δ about rest
//! ([`fibre_stretch`]). With it they pull by
//! ACTIVE·(activation·f_a(λ)·f_v(dλ/dt) + PASSIVE·f_p(λ)) + FIBRE_STIFFNESS·(λ − 1) ([`contract`]), and activation shortens
//! Γ̄_w of (11) by SHORTENING. By |Γ|, not Γ_w: fibres pull along the path, and leave the tilt of the sections against
//! it to shear. Their stiffness along the path and, as a string's, across it is exact on the places ([`add_fibres`]);
//! that by the other strains is left out.
//!
//! Tendon that an activation makes taut has no tension yet when the step is solved that brings it. With the string's
//! stiffness of its old tension, its nodes would be free to go wherever the belly's new tension draws them through the
//! least kink. So across the path a segment is at least as stiff as activation will make it: SERIES is the peak tension
//! of what contracts in series with it. At rest under that tension this is the string's own stiffness; it adds no force.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::lanes::{Entry, Lane, Lanes, unrolled};
use super::math::{Sym3, V3};
use super::rod_energies::{SegmentStrain, SegmentTerms, to_world};
use crate::layout::rest;

/// What makes a segment's fibres contract in this substep.
#[derive(Clone, Copy)]
pub struct Excitation<V> {
    /// Activation: 0 at rest, 1 at peak tension.
    pub activation: V,
    /// Fibre stretch at the substep's start, where tension depends on its rate.
    pub prev_stretch: V,
    /// One over the substep (1/s).
    pub inv_step: V,
}

/// How a segment's fibres pull.
pub struct Contraction<V> {
    /// Tension times rest length, the energy's derivative by λ (J).
    pub pull: V,
    /// Its derivative by λ, where positive (J).
    pub stiffness: V,
    /// What activation takes off Γ̄_w.
    pub shortening: V,
    /// Tension times rest length that activation brings in series (J), at least 0.
    pub in_series: V,
}

/// Mean stretch λ of the segment's fibres, weighted by tension: 1 at rest.
///
/// Fibre i is at p_i in the sections' frames, so its slope in the axes of q_m is Γ + Δ/l p̄_i + s(p_i′ + Ω × p̄_i), with
/// p̄_i the mean of its two offsets and p_i′ their difference over l. Its length is taken linear in what it has besides
/// Γ, and Γ by its length, so that it does not depend on how sections are tilted against the path.
#[inline(always)]
pub fn fibre_stretch<L: Lanes>(lanes: L, strain: &SegmentStrain<L::V>, row: &[Entry<L::Scalar>]) -> L::V {
    lanes.at(row, rest::FIBRE_STRAIN) * strain.slope.dot(strain.slope).sqrt()
        + V3::load(lanes, row, rest::FIBRE_DARBOUX).dot(strain.darboux) * strain.scale
        + lanes.at(row, rest::FIBRE_SCALE) * strain.scale
        + lanes.at(row, rest::FIBRE_DIFFERENCE) * strain.scale_difference
}

/// How fibres of stretch λ pull: f_a = x(2 − x) with x = λ over the optimal stretch, and f_p = e^{λ−1} − 1 above
/// λ = 1 (thesis 6.4.2; the exponential to fifth order, 10⁻³ at λ = 2); by the rate v of λ over the fastest shortening
/// Hill's f_v = (1 + v)/(1 − 4v) while they shorten, 1 + 5v/(1 + 10v) while they lengthen.
#[inline(always)]
pub fn contract<L: Lanes>(
    lanes: L,
    stretch: L::V,
    row: &[Entry<L::Scalar>],
    excitation: &Excitation<L::V>,
) -> Contraction<L::V> {
    let (zero, one, two) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(2.0));
    let inv_optimal = lanes.at(row, rest::INV_OPTIMAL);
    let x = (stretch * inv_optimal).clamp(zero, two);
    let by_length = zero.where_less(inv_optimal, x * (two - x), one);
    let by_length_slope = (one - x) * two * inv_optimal;

    let inv_rate = lanes.at(row, rest::INV_MAX_VELOCITY) * excitation.inv_step;
    let v = ((stretch - excitation.prev_stretch) * inv_rate).max(-one);
    let four_v = v * lanes.splat(4.0);
    let ten_v = v * lanes.splat(10.0);
    let side = v.where_less(zero, one / (one - four_v), one / (one + ten_v));
    let by_rate = v.where_less(zero, (one + v) * side, one + v * lanes.splat(5.0) * side);
    let by_rate_slope = lanes.splat(5.0) * side * side * inv_rate;

    let y = (stretch - one).max(zero);
    let exponential = one
        + y * (lanes.splat(0.5)
            + y * (lanes.splat(1.0 / 6.0) + y * (lanes.splat(1.0 / 24.0) + y * lanes.splat(1.0 / 120.0))));
    let passive = lanes.at(row, rest::PASSIVE) * (y * exponential);
    let passive_slope = lanes.at(row, rest::PASSIVE)
        * zero.where_less(
            y,
            one + y * (one + y * (lanes.splat(0.5) + y * (lanes.splat(1.0 / 6.0) + y * lanes.splat(1.0 / 24.0)))),
            zero,
        );

    let (active, activation) = (lanes.at(row, rest::ACTIVE), excitation.activation);
    let elastic = lanes.at(row, rest::FIBRE_STIFFNESS);
    let slope = activation * (by_length_slope * by_rate + by_length * by_rate_slope) + passive_slope;
    Contraction {
        pull: active * (activation * by_length * by_rate + passive) + elastic * (stretch - one),
        stiffness: active * slope.max(zero) + elastic,
        shortening: activation * lanes.at(row, rest::SHORTENING),
        in_series: (activation * lanes.at(row, rest::SERIES)).max(zero),
    }
}

/// The integral of [`contract`]'s pull over λ at a steady length (J).
#[inline(always)]
pub fn fibre_energy<L: Lanes>(lanes: L, stretch: L::V, row: &[Entry<L::Scalar>], activation: L::V) -> L::V {
    let (zero, one, third) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(1.0 / 3.0));
    let inv_optimal = lanes.at(row, rest::INV_OPTIMAL);
    let x = (stretch * inv_optimal).clamp(zero, lanes.splat(2.0));
    let by_length = zero.where_less(inv_optimal, x * x * (one - x * third) / inv_optimal, stretch);
    let y = (stretch - one).max(zero);
    let fifth = lanes.splat(1.0 / 24.0) * lanes.splat(0.2) + y * lanes.splat(1.0 / 720.0);
    let exponential = lanes.splat(0.5) + y * (lanes.splat(1.0 / 6.0) + y * (lanes.splat(1.0 / 24.0) + y * fifth));
    let strain = stretch - one;
    lanes.at(row, rest::ACTIVE) * (activation * by_length + lanes.at(row, rest::PASSIVE) * y * y * exponential)
        + lanes.splat(0.5) * lanes.at(row, rest::FIBRE_STIFFNESS) * strain * strain
}

/// Adds the fibres' gradient, and their block on the places.
#[inline(always)]
pub fn add_fibres<L: Lanes>(
    lanes: L,
    strain: &SegmentStrain<L::V>,
    row: &[Entry<L::Scalar>],
    fibres: &Contraction<L::V>,
    terms: &mut SegmentTerms<L::V>,
) {
    let (one, half) = (lanes.splat(1.0), lanes.splat(0.5));
    let inv_length = lanes.at(row, rest::INV_LENGTH);
    let pull = fibres.pull;

    // By |Γ|: along the path, with no couple on the sections.
    let by_slope = lanes.at(row, rest::FIBRE_STRAIN);
    let inv_slope = one / strain.slope.dot(strain.slope).sqrt().max(lanes.splat(1.0e-6));
    let path = strain.slope * inv_slope;
    let force = path * (pull * by_slope * inv_length);
    let string = (pull * by_slope).max(fibres.in_series) * inv_slope;
    let along = fibres.stiffness * by_slope * by_slope;
    let stiffness = Sym3::transverse(string, along - string, path);
    let inv_length2 = inv_length * inv_length;

    // By sΩ, s and Δ.
    let by_darboux = V3::load(lanes, row, rest::FIBRE_DARBOUX);
    let turn_rate = (one + strain.half_turn.dot(strain.half_turn)) * inv_length;
    let moment = to_world(&strain.axes, by_darboux) * (strain.scale * pull * turn_rate);
    let swelling = (lanes.at(row, rest::FIBRE_SCALE) + by_darboux.dot(strain.darboux)) * pull * half;
    let tapering = lanes.at(row, rest::FIBRE_DIFFERENCE) * pull;

    unrolled!(for i in 0..3 {
        terms.gradient_a[i] = terms.gradient_a[i] - force.0[i];
        terms.gradient_b[i] = terms.gradient_b[i] + force.0[i];
        terms.gradient_a[4 + i] = terms.gradient_a[4 + i] - moment.0[i];
        terms.gradient_b[4 + i] = terms.gradient_b[4 + i] + moment.0[i];
        for j in 0..3 {
            let place = stiffness.get(i, j) * inv_length2;
            terms.block_ab[i][j] = terms.block_ab[i][j] - place;
            if j <= i {
                terms.block_aa[i][j] = terms.block_aa[i][j] + place;
                terms.block_bb[i][j] = terms.block_bb[i][j] + place;
            }
        }
    });
    terms.gradient_a[3] = terms.gradient_a[3] + swelling - tapering;
    terms.gradient_b[3] = terms.gradient_b[3] + swelling + tapering;
}
