//! Fibres of one segment: how far they are stretched, how they pull, and what that adds to the segment's terms; its twin
//! is `shaders/shared/fibres.wgsl`.
//!
//! The segment's fibres have a mean stretch λ, weighted by their areas, by |Γ| and linear in sΩ, s and Δ about rest
//! ([`fibre_stretch`]). By |Γ|, not Γ_w: fibres pull along the path, and leave the tilt of the sections against it to
//! shear.
//!
//! A muscle is one contractile element. Its force–length f_l depends on the mean stretch m of the whole chain at the
//! substep's start, and on the segment's own as far as that makes them alike: on the ascending limb a segment that is longer
//! than the mean pulls the more by f_l's slope there, on the descending one by nothing. Segments in series that each had a
//! descending limb would pop like sarcomeres without titin (Morgan 1990), one long and all others short. So in a substep
//! they pull by ([`contract`])
//! ACTIVE·activation·(f_l(m)·f_v(dλ/dt) + f_l′⁺(m)·(λ − m) − p(λ)) + ACTIVE·PASSIVE·f_p(λ) + FIBRE_STIFFNESS·(λ − 1),
//! every term of which rises with λ, and has a potential ([`fibre_potential`]). By p sarcomeres that are short push back
//! ([`SHORT`]): f_l alone would pull them to nothing. Activation shortens the segment's reference by SHORTENING.
//!
//! The blocks are those of the stiffness by λ and, on the places, of a string's across the path ([`add_fibres`]).
//!
//! Tendon that a belly makes taut has no tension yet when the step is solved that brings it. With the string's stiffness
//! of its old tension, its nodes would be free to go wherever the belly's new tension draws them through the least kink.
//! So across the path a segment is at least as stiff as what is in series with it will make it: SERIES is the peak tension
//! of that, of which activation and [`RESTING`] are expected. It adds no force, and where the tension is the expected one
//! it is the string's own stiffness.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::group::Group;
use super::lanes::{Entry, Lane, Lanes, unrolled};
use super::math::{Sym3, V3};
use super::rod_energies::{SegmentTerms, to_world};
use super::strains::SegmentStrain;
use crate::layout::{chain, input, rest};
use crate::step::StepParams;

/// How far below λ = 1, where passive tension starts with a kink, fibres already have the stiffness of just above it: a
/// solve that knew of none would throw them far beyond, and the next one back.
pub const TOE: f32 = 0.05;

/// The share of its peak force that a muscle is taken to bear at rest, by whatever stretches it.
pub const RESTING: f32 = 0.1;

/// The stretch over the optimal one below which thick filaments meet the Z-discs and push against them (Gordon, Huxley and
/// Julian 1966).
pub const SHORT: f32 = 0.45;

/// How much they push for each optimal length that fibres are shorter, over peak tension: at 0.35 of it, as f_l pulls.
pub const PUSH: f32 = 5.775;

/// What makes a segment's fibres contract in this substep.
#[derive(Clone, Copy)]
pub struct Excitation<V> {
    /// Activation: 0 at rest, 1 at peak tension.
    pub activation: V,
    /// Mean fibre stretch of what contracts in the chain, at the substep's start.
    pub mean_stretch: V,
    /// Fibre stretch λ_n of the segment at the substep's start.
    pub prev_stretch: V,
    /// One over the substep (1/s).
    pub inv_step: V,
}

impl<V: Lane> Excitation<V> {
    /// That of a group's chains; [`Excitation::prev_stretch`] is each segment's own.
    #[inline(always)]
    pub fn of_chain<L: Lanes<V = V>>(lanes: L, params: &StepParams, group: &Group<L::Scalar>) -> Self {
        Self {
            activation: lanes.load(&group.inputs[input::ACTIVATION]),
            mean_stretch: lanes.load(&group.chains[chain::MEAN_STRETCH]),
            prev_stretch: lanes.splat(1.0),
            inv_step: lanes.splat(params.inv_h),
        }
    }

    /// Length of the segment's reference over that at rest: 1 − SHORTENING at full activation, and no less beyond.
    #[inline(always)]
    pub fn shortening<L: Lanes<V = V>>(&self, lanes: L, row: &[Entry<L::Scalar>]) -> V {
        let one = lanes.splat(1.0);
        one - self.activation.min(one) * lanes.at(row, rest::SHORTENING)
    }

    /// f_l = x(2 − x), x the mean stretch over the optimal one, and by how much it rises with it.
    #[inline(always)]
    fn by_length<L: Lanes<V = V>>(&self, lanes: L, row: &[Entry<L::Scalar>]) -> (V, V) {
        let (zero, one, two) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(2.0));
        let inv_optimal = lanes.at(row, rest::INV_OPTIMAL);
        let x = (self.mean_stretch * inv_optimal).clamp(zero, two);
        (zero.where_less(inv_optimal, x * (two - x), one), ((one - x) * two * inv_optimal).max(zero))
    }
}

/// How a segment's fibres pull.
pub struct Contraction<V> {
    /// Tension times rest length, the potential's derivative by λ (J).
    pub pull: V,
    /// Its derivative by λ (J).
    pub stiffness: V,
    /// Tension times rest length to expect from what is in series (J), at least 0.
    pub in_series: V,
}

/// Mean stretch λ of the segment's fibres, weighted by their areas: 1 at rest.
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

/// How fibres of stretch λ pull: f_l as [`Excitation`] has it, and f_p = e^{λ−1} − 1 above λ = 1 (thesis 6.4.2; to fifth
/// order, 10⁻³ at λ = 2, from where it goes on straight); f_v by `force_velocity`.
#[inline(always)]
pub fn contract<L: Lanes>(
    lanes: L,
    stretch: L::V,
    row: &[Entry<L::Scalar>],
    excitation: &Excitation<L::V>,
) -> Contraction<L::V> {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let (by_length, rise) = excitation.by_length(lanes, row);
    let lengthened = stretch - excitation.prev_stretch;
    let inv_rate = lanes.at(row, rest::INV_MAX_VELOCITY) * excitation.inv_step;
    let (by_rate, by_rate_slope) = force_velocity(lanes, lengthened * inv_rate);

    let y = (stretch - one).max(zero);
    let near = y.min(one);
    let (passive, passive_slope) = exponential(lanes, near);
    let passive_tension = passive + passive_slope * (y - near);
    let passive_slope = lanes.splat(1.0 - TOE).where_less(stretch, passive_slope, zero);

    let (peak, activation) = (lanes.at(row, rest::ACTIVE), excitation.activation);
    let (elastic, passive_share) = (lanes.at(row, rest::FIBRE_STIFFNESS), lanes.at(row, rest::PASSIVE));
    let (inv_optimal, push) = (lanes.at(row, rest::INV_OPTIMAL), lanes.splat(PUSH));
    let pushed = pushed_by(lanes, stretch, inv_optimal);
    let push_slope = zero.where_less(pushed, push * inv_optimal, zero);
    let active = activation * (by_length * by_rate + rise * (stretch - excitation.mean_stretch) - push * pushed);
    let slope = activation * (by_length * by_rate_slope * inv_rate + rise + push_slope) + passive_share * passive_slope;
    Contraction {
        pull: peak * (active + passive_share * passive_tension) + elastic * (stretch - one),
        stiffness: peak * slope + elastic,
        in_series: ((activation + lanes.splat(RESTING)) * lanes.at(row, rest::SERIES)).max(zero),
    }
}

/// How much shorter than [`SHORT`] fibres are, over the optimal stretch; nothing without one.
#[inline(always)]
fn pushed_by<L: Lanes>(lanes: L, stretch: L::V, inv_optimal: L::V) -> L::V {
    let zero = lanes.splat(0.0);
    zero.where_less(inv_optimal, (lanes.splat(SHORT) - stretch * inv_optimal).max(zero), zero)
}

/// Hill's f_v and its derivative, by the rate v of λ over the fastest shortening: (1 + v)/(1 − 4v) while fibres shorten, 0
/// where they do so faster, 1 + 5v/(1 + 10v) while they lengthen.
#[inline(always)]
fn force_velocity<L: Lanes>(lanes: L, v: L::V) -> (L::V, L::V) {
    let (zero, one, five) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(5.0));
    let slow = v.max(-one);
    let side = one / v.where_less(zero, one - slow * lanes.splat(4.0), one + slow * lanes.splat(10.0));
    let force = v.where_less(zero, (one + slow) * side, one + slow * five * side);
    (force, (-one).where_less(v, five * side * side, zero))
}

/// e^y − 1 for y from 0 to 1, to fifth order, and the derivative of that.
#[inline(always)]
fn exponential<L: Lanes>(lanes: L, y: L::V) -> (L::V, L::V) {
    let (one, half, sixth, twenty_fourth) =
        (lanes.splat(1.0), lanes.splat(0.5), lanes.splat(1.0 / 6.0), lanes.splat(1.0 / 24.0));
    let series = one + y * (half + y * (sixth + y * (twenty_fourth + y * lanes.splat(1.0 / 120.0))));
    (y * series, one + y * (one + y * (half + y * (sixth + y * twenty_fourth))))
}

/// Places of Gauss's rule at three points between 0 and 1.
pub const GAUSS: [f32; 3] = [0.112_701_66, 0.5, 0.887_298_35];

/// The integral of [`contract`]'s pull over λ (J), of its active part from λ_n on; that of f_v by Gauss's rule, which is
/// right to 1 % where fibres shorten as fast as they can, and to rounding where they are slow.
#[inline(always)]
pub fn fibre_potential<L: Lanes>(
    lanes: L,
    stretch: L::V,
    row: &[Entry<L::Scalar>],
    excitation: &Excitation<L::V>,
) -> L::V {
    let (zero, half, one) = (lanes.splat(0.0), lanes.splat(0.5), lanes.splat(1.0));
    let (by_length, rise) = excitation.by_length(lanes, row);
    let lengthened = stretch - excitation.prev_stretch;
    let v = lengthened * (lanes.at(row, rest::INV_MAX_VELOCITY) * excitation.inv_step);
    let (early, _) = force_velocity(lanes, v * lanes.splat(GAUSS[0]));
    let (middle, _) = force_velocity(lanes, v * lanes.splat(GAUSS[1]));
    let (late, _) = force_velocity(lanes, v * lanes.splat(GAUSS[2]));
    let by_rate = (early + late) * lanes.splat(5.0 / 18.0) + middle * lanes.splat(8.0 / 18.0);
    let beyond_mean = stretch - excitation.mean_stretch;
    let inv_optimal = lanes.at(row, rest::INV_OPTIMAL);
    let pushed = pushed_by(lanes, stretch, inv_optimal);
    let optimal = one / zero.where_less(inv_optimal, inv_optimal, one);
    let active = by_length * by_rate * lengthened
        + half * (rise * beyond_mean * beyond_mean + lanes.splat(PUSH) * optimal * pushed * pushed);

    let y = (stretch - one).max(zero);
    let near = y.min(one);
    let beyond = y - near;
    let fifth = lanes.splat(1.0 / 24.0) * lanes.splat(0.2) + near * lanes.splat(1.0 / 720.0);
    let integral = half + near * (lanes.splat(1.0 / 6.0) + near * (lanes.splat(1.0 / 24.0) + near * fifth));
    let (passive, slope) = exponential(lanes, near);
    let passive = near * near * integral + beyond * (passive + half * slope * beyond);
    let strain = stretch - one;
    lanes.at(row, rest::ACTIVE) * (excitation.activation * active + lanes.at(row, rest::PASSIVE) * passive)
        + half * lanes.at(row, rest::FIBRE_STIFFNESS) * strain * strain
}

/// Adds the fibres' gradient pull·j and their blocks stiffness·jjᵀ, with j the derivative of λ by the unknowns, and the
/// string's stiffness across the path on the places.
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

    // By |Γ|: along the path, with no couple on the sections.
    let by_slope = lanes.at(row, rest::FIBRE_STRAIN);
    let inv_slope = one / strain.slope.dot(strain.slope).sqrt().max(lanes.splat(1.0e-6));
    let path = strain.slope * inv_slope;
    let place = path * (by_slope * inv_length);

    // By sΩ, s and Δ.
    let by_darboux = V3::load(lanes, row, rest::FIBRE_DARBOUX);
    let turn_rate = (one + strain.half_turn.dot(strain.half_turn)) * inv_length;
    let turn = to_world(&strain.axes, by_darboux) * (strain.scale * turn_rate);
    let ([x, y, z], [u, v, w]) = (place.0, turn.0);
    let swelling = (lanes.at(row, rest::FIBRE_SCALE) + by_darboux.dot(strain.darboux)) * half;
    let tapering = lanes.at(row, rest::FIBRE_DIFFERENCE);
    let by_a = [-x, -y, -z, swelling - tapering, -u, -v, -w];
    let by_b = [x, y, z, swelling + tapering, u, v, w];

    unrolled!(for i in 0..7 {
        terms.gradient_a[i] = terms.gradient_a[i] + fibres.pull * by_a[i];
        terms.gradient_b[i] = terms.gradient_b[i] + fibres.pull * by_b[i];
        let (stiff_a, stiff_b) = (fibres.stiffness * by_a[i], fibres.stiffness * by_b[i]);
        unrolled!(for j in 0..7 {
            let both = stiff_b * by_b[j];
            // But for the scales, what is by b is against what is by a.
            let (across, own) = if i == 3 || j == 3 { (stiff_a * by_b[j], stiff_a * by_a[j]) } else { (-both, both) };
            terms.block_ab[i][j] = terms.block_ab[i][j] + across;
            if j <= i {
                terms.block_aa[i][j] = terms.block_aa[i][j] + own;
                terms.block_bb[i][j] = terms.block_bb[i][j] + both;
            }
        });
    });

    let taut = (fibres.pull * by_slope).max(fibres.in_series) * inv_slope * inv_length * inv_length;
    let string = Sym3::transverse(taut, -taut, path);
    unrolled!(for i in 0..3 {
        unrolled!(for j in 0..3 {
            terms.block_ab[i][j] = terms.block_ab[i][j] - string.get(i, j);
            if j <= i {
                terms.block_aa[i][j] = terms.block_aa[i][j] + string.get(i, j);
                terms.block_bb[i][j] = terms.block_bb[i][j] + string.get(i, j);
            }
        });
    });
}
