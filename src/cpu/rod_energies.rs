//! Energies of one segment, their gradients and Gauss–Newton blocks; its twin is
//! `shaders/shared/rod_energies.wgsl`.
//!
//! What they are energies of is in [`strains`](super::strains).
//!
//! Energies, each ½·coefficient·residual² with the coefficients of the rest row (errata 2 gives the moduli):
//!
//! | residual | equation |
//! |---|---|
//! | Γ_w − Γ̄_w (axial), Γ_u − Γ̄_u and Γ_v − Γ̄_v (shear) | (11) |
//! | s − s̄ (lateral, s̄ = 1; of muscle that has shortened see [`lateral_residual`]), and Δ² for the rest of its two Gauss points | (12) |
//! | Δ | (13), with the smoothing of errata 11 |
//! | sΩ − Ω̄ | (14) |
//! | s²Γ_w − Λ̄ | (18), scalar as errata 3 has it, where its coefficient is positive; Λ̄ is Γ̄_w as built; see [`volume_residual`] |
//! | Γ_w − sΛ̄ | instead of (18) where its coefficient is negative, see below |
//! | s³Ω_u − Ω̄_u, s³Ω_v − Ω̄_v | (19), (20) |
//!
//! ν < 0 makes λ negative and (18) unbounded from below: a rod that swells past twice its radius never stops. To
//! first order λ(ε + 2η)² = 3λε² + 6λη² − 2λ(ε − η)², so `build` then takes 3|λ| from the axial and 6|λ| from the
//! lateral modulus and VOLUME is −2|λ|, read as a penalty on what is not the same stretch along and across.
//!
//! What the strains are compared with is a segment's [`Reference`]. What its fibres add is in [`fibres`](super::fibres).
//!
//! The blocks are JᵀKJ and one term more for the force N along w, whose own second derivative is
//! (K − N/Γ_w)|y − Γ_wμ|² + N/Γ_w|y|² together with the shear stiffness K, y what the slope does across w.
//!
//! A segment under pressure, N < 0, is stiffer against shear by |N|/Γ_w: its sections cannot tilt without shortening it
//! further. Less of it, and one solve turns them by more than the way to balance and back. Taken as |N|Γ_w/|Γ|², which is
//! the same where w is along the path, and nothing where the sections have yet to turn round. The negative rest, which
//! lets a rod buckle, is left out of the blocks and stays in the forces.
//!
//! Of what a segment under tension resists turning with, N/Γ_w|y|², a share is counted (`string_share`): nothing where a
//! solve starts from the prediction, to which inertia has stretched a swinging rod by more than it ever will be, and the
//! tension that this would count holds it back; all of it where a solve starts again from where the chain stood. Without
//! it a thin tendon under tension, EI/l² ≪ N, is thrown across its path by N l²/EI times the way to balance.
//! [`super::solve_rods`] sees to it that no solve is led astray.
//!
//! Derivatives are by world displacements δc, by δs and by world rotation vectors α (of a) and β (of b), which
//! turn a frame as q → exp(α/2) q. Let t = Im p/(1 + Re p) in the world's axes, the tangent of half the angle
//! between q_m and either end. Then, exactly,
//!
//! - q_m turns by μ = ½(α + β − t × (β − α)),
//! - R_m δΓ = δ∇c + ∇c × μ, so ∂Γ/∂α = `M_a = ½[∇c]×(1 + [t]×)`, ∂Γ/∂β = `M_b = ½[∇c]×(1 − [t]×)`,
//! - R_m δΩ = (1 + |t|²)/l·(β − α).
//!
//! With G = [∇c]×, the blocks by the mean turn ½(α + β) and by the difference β − α need GᵀKG and its products with `[t]×`
//! only; those by α and β follow from them.

use super::fibres::{Excitation, add_fibres, contract, fibre_potential, fibre_stretch};
use super::lanes::{Entry, Lane, Lanes, unrolled};
use super::math::{Mat3, Sym3, V3};
use super::strains::{Reference, Section, SegmentStrain, measure};
use crate::layout::rest;

/// Unknowns of a node, in this order: place (3), scale, rotation (3).
pub const UNKNOWNS: usize = 7;

/// The least |Γ|² with which a pressed segment's stiffness against shear is taken.
pub const LEAST_SLOPE2: f32 = 0.01;

/// Below which share of its rest value a volume is defended more strongly, and how much: see [`volume_residual`].
pub const THIN: f32 = 0.5;
/// See [`THIN`].
pub const STEEPER: f32 = 4.0;

/// A 7-vector over a node's unknowns.
pub type Vec7<V> = [V; UNKNOWNS];
/// A 7×7 block by rows; of a symmetric one only the lower triangle is meant.
pub type Mat7<V> = [[V; UNKNOWNS]; UNKNOWNS];

/// What a segment adds to the system of its two nodes.
#[derive(Clone, Copy)]
pub struct SegmentTerms<V> {
    /// Gradient by the unknowns of a.
    pub gradient_a: Vec7<V>,
    /// Gradient by the unknowns of b.
    pub gradient_b: Vec7<V>,
    /// Block of a with itself, lower triangle.
    pub block_aa: Mat7<V>,
    /// Block of a (rows) with b (columns).
    pub block_ab: Mat7<V>,
    /// Block of b with itself, lower triangle.
    pub block_bb: Mat7<V>,
}

impl<V: Lane> SegmentTerms<V> {
    /// Those of no segment.
    #[inline(always)]
    pub fn none<L: Lanes<V = V>>(lanes: L) -> Self {
        let zero = lanes.splat(0.0);
        let (gradient, block) = ([zero; UNKNOWNS], [[zero; UNKNOWNS]; UNKNOWNS]);
        Self { gradient_a: gradient, gradient_b: gradient, block_aa: block, block_ab: block, block_bb: block }
    }
}

/// What (18) measures of J = s²Γ_w, and its derivative by J: J − Λ̄, and faster below [`THIN`]·Λ̄.
///
/// With J − Λ̄ alone a segment of ν around 0.45 that is pressed to a tenth of its length gives up its volume at once: its
/// tension falls while it is pressed on.
#[inline(always)]
pub fn volume_residual<L: Lanes>(lanes: L, ratio: L::V, rest_stretch: L::V) -> (L::V, L::V) {
    let thin = (rest_stretch * lanes.splat(THIN) - ratio).max(lanes.splat(0.0));
    let steeper = thin * lanes.splat(STEEPER);
    (ratio - rest_stretch - steeper * thin, lanes.splat(1.0) + steeper + steeper)
}

/// What (12) measures of s, and its derivative by s: s − s̄, and where activation has left β of the reference,
/// √β(s − s̄)(1 + ½(1 − β)(s̄/s − 1)).
///
/// At constant volume, s² = 1/Γ, (s − s̄)² is not convex beyond Γ = 1.78/s̄², and what has shortened by 0.7 or more would neck
/// when it is drawn out. (s − s̄²/s)² is convex everywhere; this is ½√β(s − s̄²/s) where β is near 0, and between convex as
/// much farther out as has shortened, so that with the axial stiffness tension rises (`tests/stability/curves.rs`). Of what
/// fascia lets in β knows nothing.
#[inline(always)]
pub fn lateral_residual<L: Lanes>(lanes: L, s: L::V, reference: &Reference<L::V>) -> (L::V, L::V) {
    let one = lanes.splat(1.0);
    let off = s - reference.scale;
    let Some(left) = reference.length_left else { return (off, one) };
    let (size, share) = (left.sqrt(), (one - left) * lanes.splat(0.5));
    let ratio = reference.scale / s;
    (size * off * (one + share * (ratio - one)), size * (one + share * (ratio * ratio - one)))
}

/// The residuals of a segment in the order of the table above, beside their coefficients: axial, two shears,
/// lateral, scale difference, three of (14) (with BEND_UV left to [`elastic_energy`]), volume, (19), (20), likeness.
#[inline(always)]
pub fn residuals<L: Lanes>(
    lanes: L,
    strain: &SegmentStrain<L::V>,
    row: &[Entry<L::Scalar>],
    reference: &Reference<L::V>,
) -> [(L::V, L::V); 12] {
    let [gu, gv, gw] = strain.strain.0;
    let [ou, ov, ow] = strain.darboux.0;
    let (s, s2) = (strain.scale, strain.scale * strain.scale);
    let s3 = s2 * s;
    let (zero, stretch) = (lanes.splat(0.0), lanes.at(row, rest::STRETCH));
    let (swelling, _) = volume_residual(lanes, s2 * gw, stretch);
    let Stiffness { axial, shear, lateral, difference, volume } = Stiffness::of(lanes, row, reference);
    [
        (gw - reference.strain.0[2], axial),
        (gu - reference.strain.0[0], shear),
        (gv - reference.strain.0[1], shear),
        (lateral_residual(lanes, s, reference).0, lateral),
        (strain.scale_difference, difference),
        (s * ou - reference.darboux.0[0], lanes.at(row, rest::BEND_U)),
        (s * ov - reference.darboux.0[1], lanes.at(row, rest::BEND_V)),
        (s * ow - reference.darboux.0[2], lanes.at(row, rest::TORSION)),
        (swelling, volume.max(zero)),
        (s3 * ou - reference.darboux.0[0], lanes.at(row, rest::VOLUME_BEND_U)),
        (s3 * ov - reference.darboux.0[1], lanes.at(row, rest::VOLUME_BEND_V)),
        (gw - s * stretch, (-volume).max(zero)),
    ]
}

/// The stiffnesses (J) of a segment by its strains, as far as they are counted.
struct Stiffness<V> {
    axial: V,
    shear: V,
    lateral: V,
    difference: V,
    volume: V,
}

impl<V: Lane> Stiffness<V> {
    #[inline(always)]
    fn of<L: Lanes<V = V>>(lanes: L, row: &[Entry<L::Scalar>], reference: &Reference<V>) -> Self {
        let whole = Self {
            axial: lanes.at(row, rest::AXIAL),
            shear: shear_stiffness(lanes, row, reference),
            lateral: lanes.at(row, rest::LATERAL),
            difference: lanes.at(row, rest::SCALE_DIFFERENCE),
            volume: lanes.at(row, rest::VOLUME),
        };
        let Some(counted) = reference.counted else { return whole };
        Self {
            axial: whole.axial * counted,
            shear: whole.shear * counted,
            lateral: whole.lateral * counted,
            difference: whole.difference * counted,
            volume: whole.volume * counted,
        }
    }
}

/// The stiffness (J) of (11) by Γ_u and Γ_v. Where activation has left β of the reference, what it took pulls along the path,
/// as fibres do, however sections are tilted against it: AXIAL·(1 − β)·|Γ| in place of Γ_w, to second order. By Γ_w alone
/// sections would rather lie down than bear the tension, from a shortening 1 − β of SHEAR over AXIAL on.
#[inline(always)]
fn shear_stiffness<L: Lanes>(lanes: L, row: &[Entry<L::Scalar>], reference: &Reference<L::V>) -> L::V {
    let shear = lanes.at(row, rest::SHEAR);
    match reference.length_left {
        None => shear,
        Some(left) => shear + lanes.at(row, rest::AXIAL) * (lanes.splat(1.0) - left),
    }
}

/// A segment's potential (J), apart for what rounding does to its parts.
#[derive(Clone, Copy)]
pub struct Stored<V> {
    /// By how far it is stretched, sheared and swollen, and by its fibres.
    pub strain: V,
    /// By how far it is bent and twisted.
    pub turn: V,
}

impl<V: Lane> Stored<V> {
    /// All of it (J).
    #[inline(always)]
    pub fn whole(&self) -> V {
        self.strain + self.turn
    }

    /// The sum of two.
    #[inline(always)]
    pub fn with(self, other: Self) -> Self {
        Self { strain: self.strain + other.strain, turn: self.turn + other.turn }
    }
}

/// The segment's elastic energy.
#[inline(always)]
pub fn elastic_energy<L: Lanes>(
    lanes: L,
    strain: &SegmentStrain<L::V>,
    row: &[Entry<L::Scalar>],
    reference: &Reference<L::V>,
) -> Stored<L::V> {
    let residuals = residuals(lanes, strain, row, reference);
    let half = lanes.splat(0.5);
    let (mut twice, mut turn) = (lanes.splat(0.0), lanes.at(row, rest::BEND_UV) * residuals[5].0 * residuals[6].0);
    unrolled!(for k in 0..12 {
        let (residual, coefficient) = residuals[k];
        if matches!(k, 5..=7 | 9 | 10) {
            turn = turn + half * coefficient * residual * residual;
        } else {
            twice = twice + coefficient * residual * residual;
        }
    });
    Stored { strain: half * twice, turn }
}

/// The potential of a segment: its elastic energy, and that of its fibres, if anything makes them pull.
#[inline(always)]
pub fn segment_potential<L: Lanes>(
    lanes: L,
    [a, b]: [Section<L::V>; 2],
    row: &[Entry<L::Scalar>],
    reference: Reference<L::V>,
    excitation: Option<&Excitation<L::V>>,
) -> Stored<L::V> {
    let strain = measure(lanes, a, b, lanes.at(row, rest::INV_LENGTH));
    let Some(excitation) = excitation else {
        return elastic_energy(lanes, &strain, row, &reference);
    };
    let reference = reference.shortened(lanes, excitation.shortening(lanes, row));
    let mut stored = elastic_energy(lanes, &strain, row, &reference);
    stored.strain = stored.strain + fibre_potential(lanes, fibre_stretch(lanes, &strain, row), row, excitation);
    stored
}

/// Gradient and Gauss–Newton blocks of the segment's elastic energy and of its fibres, if anything makes them pull.
#[inline(always)]
pub fn segment_terms<L: Lanes>(
    lanes: L,
    [a, b]: [Section<L::V>; 2],
    row: &[Entry<L::Scalar>],
    reference: Reference<L::V>,
    excitation: Option<&Excitation<L::V>>,
    string_share: L::V,
) -> SegmentTerms<L::V> {
    let strain = measure(lanes, a, b, lanes.at(row, rest::INV_LENGTH));
    let Some(excitation) = excitation else {
        return elastic_terms(lanes, &strain, row, &reference, string_share);
    };
    let reference = reference.shortened(lanes, excitation.shortening(lanes, row));
    let mut terms = elastic_terms(lanes, &strain, row, &reference, string_share);
    let fibres = contract(lanes, fibre_stretch(lanes, &strain, row), row, excitation);
    add_fibres(lanes, &strain, row, &fibres, &mut terms);
    terms
}

/// As [`segment_terms`], of the elastic energy alone.
#[inline(always)]
fn elastic_terms<L: Lanes>(
    lanes: L,
    measured: &SegmentStrain<L::V>,
    row: &[Entry<L::Scalar>],
    reference: &Reference<L::V>,
    string_share: L::V,
) -> SegmentTerms<L::V> {
    let (zero, half, two, three) = (lanes.splat(0.0), lanes.splat(0.5), lanes.splat(2.0), lanes.splat(3.0));
    let quarter = lanes.splat(0.25);
    let inv_length = lanes.at(row, rest::INV_LENGTH);
    let SegmentStrain { axes, slope, strain, darboux, half_turn, scale: s, scale_difference } = *measured;
    let [_, _, w] = axes;
    let [gu, gv, gw] = strain.0;
    let (ou, ov) = (darboux.0[0], darboux.0[1]);
    let s2 = s * s;

    // (11) and (18): force and stiffness by Γ, both by Γ_w and s.
    let Stiffness { axial, shear, lateral, difference, volume } = Stiffness::of(lanes, row, reference);
    let (volume, likeness) = (volume.max(zero), (-volume).max(zero));
    let rest_stretch = lanes.at(row, rest::STRETCH);
    let (swelling, swelling_rate) = volume_residual(lanes, s2 * gw, rest_stretch);
    let volume_force = volume * swelling_rate * swelling;
    let volume_stiffness = volume * swelling_rate * swelling_rate;
    let likeness_force = likeness * (gw - s * rest_stretch);
    let likeness_by_scale = likeness * rest_stretch;
    let axial_stiffness = axial + volume_stiffness * (s2 * s2) + likeness;
    let tension = axial * (gw - reference.strain.0[2]) + s2 * volume_force + likeness_force;
    let across_u = shear * (gu - reference.strain.0[0]);
    let across_v = shear * (gv - reference.strain.0[1]);
    let pull = to_world(&axes, V3([across_u, across_v, tension]));
    let volume_by_scale = two * s * gw;
    let force_by_scale = w * (volume_stiffness * s2 * volume_by_scale - likeness_by_scale);
    let slope2 = slope.dot(slope);
    let by_slope = gw.max(zero) / slope2.max(lanes.splat(LEAST_SLOPE2));
    let pressure = (-tension).max(zero) * by_slope;
    let string = string_share * tension.max(zero) * by_slope;
    let propped = shear + pressure;
    let along = axial_stiffness - propped;

    // (14), (19), (20): moment and stiffness by Ω, both by Ω and s.
    let (bend_u, bend_v, bend_uv) =
        (lanes.at(row, rest::BEND_U), lanes.at(row, rest::BEND_V), lanes.at(row, rest::BEND_UV));
    let torsion = lanes.at(row, rest::TORSION);
    let (volume_bend_u, volume_bend_v) = (lanes.at(row, rest::VOLUME_BEND_U), lanes.at(row, rest::VOLUME_BEND_V));
    let [ku, kv, kw] = (darboux * s - reference.darboux).0;
    let moment = V3([bend_u * ku + bend_uv * kv, bend_uv * ku + bend_v * kv, torsion * kw]);
    let s3 = s2 * s;
    let volume_moment_u = volume_bend_u * (s3 * ou - reference.darboux.0[0]);
    let volume_moment_v = volume_bend_v * (s3 * ov - reference.darboux.0[1]);
    let scaled_moment =
        V3([s * moment.0[0] + s3 * volume_moment_u, s * moment.0[1] + s3 * volume_moment_v, s * moment.0[2]]);
    let s6 = s3 * s3;
    let bent = V3([bend_u * ou + bend_uv * ov, bend_uv * ou + bend_v * ov, torsion * darboux.0[2]]);
    let three_s5 = three * s3 * s2;
    let turning_by_scale = V3([
        s * bent.0[0] + three_s5 * volume_bend_u * ou,
        s * bent.0[1] + three_s5 * volume_bend_v * ov,
        s * bent.0[2],
    ]);

    // By s: (12), (14), (18), (19), (20); by Δ: (12), (13).
    let three_s2 = three * s2;
    let (broadening, broadening_rate) = lateral_residual(lanes, s, reference);
    let lateral_force = lateral * broadening_rate;
    let scale_force = lateral_force * broadening + volume_by_scale * volume_force - rest_stretch * likeness_force
        + darboux.dot(moment)
        + three_s2 * (ou * volume_moment_u + ov * volume_moment_v);
    let scale_stiffness = lateral_force * broadening_rate
        + volume_stiffness * volume_by_scale * volume_by_scale
        + likeness_by_scale * rest_stretch
        + darboux.dot(bent)
        + three_s2 * three_s2 * (volume_bend_u * ou * ou + volume_bend_v * ov * ov);

    // From strains to the two nodes' unknowns.
    let t = to_world(&axes, half_turn);
    let turn_rate = (lanes.splat(1.0) + half_turn.dot(half_turn)) * inv_length;
    let couple = pull.cross(slope) * half;
    let twisted = t.cross(couple);
    let moment_world = to_world(&axes, scaled_moment) * turn_rate;
    let force = pull * inv_length;
    let (torque_a, torque_b) = (couple - twisted - moment_world, couple + twisted + moment_world);
    let half_scale_force = half * scale_force;
    let difference_force = difference * scale_difference;

    // K = propped·1 + along·wwᵀ; p = Gᵀw. By the places K/l², with the mean turn KG/l.
    let inv_length2 = inv_length * inv_length;
    let places = Sym3::transverse((propped + string) * inv_length2, (along - string) * inv_length2, w);
    let p = w.cross(slope);
    let [gx, gy, gz] = (slope * (propped * inv_length)).0;
    let crossed = [[zero, -gz, gy], [gz, zero, -gx], [-gy, gx, zero]];
    let lever = p * (along * inv_length);
    let mut with_mean = crossed;
    unrolled!(for i in 0..3 {
        unrolled!(for j in 0..3 {
            with_mean[i][j] = (crossed[i][j] + w.0[i] * lever.0[j]) * half;
        });
    });
    let with_turn = times_cross(&with_mean, t);

    // GᵀKG/4 by the mean turn, its product with [t]× by mean and difference, the bending's by the difference.
    let tilt = slope * (propped * quarter);
    let lever = p * (along * quarter);
    let isotropic = slope.dot(tilt);
    let mut mean = [[zero; 3]; 3];
    unrolled!(for i in 0..3 {
        unrolled!(for j in 0..3 {
            if j <= i {
                mean[i][j] = p.0[i] * lever.0[j] - slope.0[i] * tilt.0[j];
                mean[j][i] = mean[i][j];
            }
        });
        mean[i][i] = mean[i][i] + isotropic;
    });
    let mixed = times_cross(&mean, t);
    let turn_rate2 = turn_rate * turn_rate;
    let turning = Sym3::from_axes(
        axes,
        (s2 * bend_u + s6 * volume_bend_u) * turn_rate2,
        (s2 * bend_v + s6 * volume_bend_v) * turn_rate2,
        s2 * bend_uv * turn_rate2,
        s2 * torsion * turn_rate2,
    );
    let mut apart = [[zero; 3]; 3];
    unrolled!(for j in 0..3 {
        let turned = V3([mixed[0][j], mixed[1][j], mixed[2][j]]).cross(t);
        unrolled!(for i in 0..3 {
            apart[i][j] = turned.0[i] + turning.get(i, j);
        });
    });

    let scale_pull = force_by_scale * (half * inv_length);
    let by_scale = force_by_scale.cross(slope) * quarter;
    let by_scale_twisted = t.cross(by_scale);
    let scale_turn = to_world(&axes, turning_by_scale) * (half * turn_rate);
    let (scale_torque_a, scale_torque_b) =
        (by_scale - by_scale_twisted - scale_turn, by_scale + by_scale_twisted + scale_turn);
    let quarter_scale = scale_stiffness * quarter;

    let mut block_aa = [[zero; UNKNOWNS]; UNKNOWNS];
    let mut block_ab = [[zero; UNKNOWNS]; UNKNOWNS];
    let mut block_bb = [[zero; UNKNOWNS]; UNKNOWNS];
    unrolled!(for i in 0..3 {
        unrolled!(for j in 0..3 {
            let (pull_a, pull_b) = (with_mean[i][j] + with_turn[i][j], with_mean[i][j] - with_turn[i][j]);
            block_ab[i][j] = -places.get(i, j);
            block_ab[i][4 + j] = -pull_b;
            block_ab[4 + j][i] = pull_a;
            block_aa[4 + j][i] = -pull_a;
            block_bb[4 + j][i] = pull_b;
            // By α and β: the mean's, what mixes it with the difference, and the difference's.
            block_ab[4 + i][4 + j] = mean[i][j] - apart[i][j] + (mixed[j][i] - mixed[i][j]);
            if j <= i {
                let (both, mix) = (mean[i][j] + apart[i][j], mixed[i][j] + mixed[j][i]);
                block_aa[i][j] = places.get(i, j);
                block_bb[i][j] = places.get(i, j);
                block_aa[4 + i][4 + j] = both + mix;
                block_bb[4 + i][4 + j] = both - mix;
            }
        });
        block_aa[3][i] = -scale_pull.0[i];
        block_bb[3][i] = scale_pull.0[i];
        block_ab[i][3] = -scale_pull.0[i];
        block_ab[3][i] = scale_pull.0[i];
        block_aa[4 + i][3] = scale_torque_a.0[i];
        block_bb[4 + i][3] = scale_torque_b.0[i];
        block_ab[4 + i][3] = scale_torque_a.0[i];
        block_ab[3][4 + i] = scale_torque_b.0[i];
    });
    block_aa[3][3] = quarter_scale + difference;
    block_bb[3][3] = quarter_scale + difference;
    block_ab[3][3] = quarter_scale - difference;

    SegmentTerms {
        gradient_a: gradient(-force, half_scale_force - difference_force, torque_a),
        gradient_b: gradient(force, half_scale_force + difference_force, torque_b),
        block_aa,
        block_ab,
        block_bb,
    }
}

/// A vector of the middle's axes in the world.
#[inline(always)]
pub(super) fn to_world<V: Lane>(axes: &[V3<V>; 3], v: V3<V>) -> V3<V> {
    axes[0] * v.0[0] + axes[1] * v.0[1] + axes[2] * v.0[2]
}

#[inline(always)]
fn gradient<V: Lane>(force: V3<V>, scale: V, torque: V3<V>) -> Vec7<V> {
    [force.0[0], force.0[1], force.0[2], scale, torque.0[0], torque.0[1], torque.0[2]]
}

/// `m [t]×`: row by row, the row × t.
#[inline(always)]
fn times_cross<V: Lane>(m: &Mat3<V>, t: V3<V>) -> Mat3<V> {
    [V3(m[0]).cross(t).0, V3(m[1]).cross(t).0, V3(m[2]).cross(t).0]
}
