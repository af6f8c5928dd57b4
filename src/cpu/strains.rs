//! What a segment's strains are, and what they are compared with; its twin is `shaders/shared/strains.wgsl`.
//!
//! A segment joins nodes a and b, rest length l. Measured at its middle, with q_m = normalised (q_a + q_b) and
//! axes u, v, w of q_m:
//!
//! - strain Γ = R_mᵀ∇c, ∇c = (c_b − c_a)/l (37);
//! - Darboux vector Ω = 4·Im p/(1 + Re p)/l, p = q̄_a q_b (40, with the tangent of the quarter angle);
//! - scale s = (s_a + s_b)/2 (8) and its difference Δ = s_b − s_a.
//!
//! Frames go on as they turn, and q and −q, which turn alike, are not the same state: so a segment may be bent and twisted by
//! more than half a turn, its energy rises all the way to a whole one, and it comes back the way it went. By the shorter way
//! the middle's axes would jump at half a turn, and what is beyond would hang there for good.

use super::group::Group;
use super::lanes::{Entry, Lane, Lanes};
use super::math::{Quaternion, V3};
use crate::layout::{node, rest};

/// The least 1 + Re p, of a segment that is all but a whole turn round.
pub const LEAST_COSINE: f32 = 1.0e-3;

/// Of how many units in the last place of a segment's stiffness by strain its inertia over h̃² is made up at least: what is
/// stiffer for its step is counted as stiff as that ([`most_stiffness`]).
///
/// Else the sum of both on the system's diagonal would have little left of the inertia, and a pendulum of E = 10¹² Pa in
/// steps of 1/60 s swings 4 % too fast. The weight of a uniform rod stretches it by some 10⁻⁶ more for that; what its fibres
/// pull with, by no more than a thousandth ([`rest::LEAST_COUNTED`]).
pub const RESOLVED: f32 = 16.0;

/// What the energies read of a node.
#[derive(Clone, Copy)]
pub struct Section<V> {
    /// Place (m).
    pub place: V3<V>,
    /// Scale (1).
    pub scale: V,
    /// Frame.
    pub frame: Quaternion<V>,
}

impl<V: Lane> Section<V> {
    /// Reads it from a node row.
    #[inline(always)]
    pub fn load<L: Lanes<V = V>>(lanes: L, row: &[Entry<L::Scalar>]) -> Self {
        Self {
            place: V3::load(lanes, row, node::PLACE),
            scale: lanes.load(&row[node::SCALE]),
            frame: Quaternion::load(lanes, row, node::FRAME),
        }
    }
}

/// The segment's strain measures.
pub struct SegmentStrain<V> {
    /// The axes u, v, w of q_m.
    pub axes: [V3<V>; 3],
    /// ∇c in the world.
    pub slope: V3<V>,
    /// Γ in the axes of q_m.
    pub strain: V3<V>,
    /// Ω in the axes of q_m (1/m).
    pub darboux: V3<V>,
    /// t in the axes of q_m.
    pub half_turn: V3<V>,
    /// s.
    pub scale: V,
    /// Δ.
    pub scale_difference: V,
}

/// Measures a segment; `inv_length` is one over its rest length.
#[inline(always)]
pub fn measure<L: Lanes>(lanes: L, a: Section<L::V>, b: Section<L::V>, inv_length: L::V) -> SegmentStrain<L::V> {
    let one = lanes.splat(1.0);
    let half = lanes.splat(0.5);
    let relative = a.frame.conjugate().product(b.frame);
    let half_turn = relative.imaginary() * (one / (one + relative.0[3]).max(lanes.splat(LEAST_COSINE)));
    let axes = (a.frame + b.frame).normalised(lanes).axes(lanes);
    let slope = (b.place - a.place) * inv_length;
    SegmentStrain {
        axes,
        slope,
        strain: V3([axes[0].dot(slope), axes[1].dot(slope), axes[2].dot(slope)]),
        darboux: half_turn * (lanes.splat(4.0) * inv_length),
        half_turn,
        scale: (a.scale + b.scale) * half,
        scale_difference: b.scale - a.scale,
    }
}

/// What a segment's strains are where it bears no stress.
#[derive(Clone, Copy)]
pub struct Reference<V> {
    /// Γ̄.
    pub strain: V3<V>,
    /// Ω̄ (1/m).
    pub darboux: V3<V>,
    /// s̄.
    pub scale: V,
    /// The length that a muscle's activation leaves of it, where one may.
    pub length_left: Option<V>,
    /// The share of its stiffness by strain that is counted, where that may not be all ([`RESOLVED`]).
    pub counted: Option<V>,
}

impl<V: Lane> Reference<V> {
    /// That of a segment: as built, or as [`fascia`](super::fascia) has it; `most` is its chain's [`most_stiffness`].
    #[inline(always)]
    pub fn of<L: Lanes<V = V>>(lanes: L, group: &Group<L::Scalar>, segment: usize, most: Option<V>) -> Self {
        let rest_row = group.rest.row(segment);
        let reference = if group.rest.has_fascia {
            Self::followed(lanes, group.row(segment))
        } else {
            Self::built(lanes, rest_row)
        };
        reference.counted(lanes, rest_row, most)
    }

    /// Of a segment no stiffer than its step resolves.
    #[inline(always)]
    pub fn counted<L: Lanes<V = V>>(self, lanes: L, row: &[Entry<L::Scalar>], most: Option<V>) -> Self {
        let counted = match most {
            Some(most) => {
                let share = most * lanes.at(row, rest::STRAIN_TIME2);
                Some(share.max(lanes.at(row, rest::LEAST_COUNTED)).min(lanes.splat(1.0)))
            }
            None => None,
        };
        Self { counted, ..self }
    }

    /// As fascia has it in this substep; from the segment's node row.
    #[inline(always)]
    pub fn followed<L: Lanes<V = V>>(lanes: L, row: &[Entry<L::Scalar>]) -> Self {
        Self {
            strain: V3::load(lanes, row, node::REFERENCE_STRAIN),
            darboux: V3::load(lanes, row, node::REFERENCE_DARBOUX),
            scale: lanes.at(row, node::REFERENCE_SCALE),
            length_left: None,
            counted: None,
        }
    }

    /// As built; from its rest row.
    #[inline(always)]
    pub fn built<L: Lanes<V = V>>(lanes: L, row: &[Entry<L::Scalar>]) -> Self {
        Self {
            strain: V3::load(lanes, row, rest::STRAIN),
            darboux: V3::load(lanes, row, rest::DARBOUX),
            scale: lanes.at(row, rest::SCALE),
            length_left: None,
            counted: None,
        }
    }

    /// Shorter along w by a factor, and as much thicker as keeps the volume.
    #[inline(always)]
    pub fn shortened<L: Lanes<V = V>>(self, lanes: L, by: V) -> Self {
        let [u, v, w] = self.strain.0;
        let scale = self.scale * (lanes.splat(1.0) / by.sqrt());
        Self { strain: V3([u, v, w * by]), scale, length_left: Some(by), ..self }
    }
}

/// The most stiffness by strain over inertia (1/s²) that a step resolves; `None` where no chain has more. `first` is the first
/// node's rest row, `unit` that in the last place of 1.
#[inline(always)]
pub fn most_stiffness<L: Lanes>(lanes: L, first: &[Entry<L::Scalar>], inv_step2: L::V, unit: L::V) -> Option<L::V> {
    let most = inv_step2 / (lanes.splat(RESOLVED) * unit);
    let stiffer = most.where_less(lanes.at(first, rest::FASTEST2), lanes.splat(1.0), lanes.splat(0.0));
    lanes.any(stiffer).then_some(most)
}
