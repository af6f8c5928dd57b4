//! Scale-invariant shape matching, VIPER (32)–(36): which similarity transform took a cross-section's discs from
//! rest to where they are.
//!
//! A muscle's own cross-sections are unknowns of the solve and need no matching. This is for discs that something
//! else moved: rods that are imported, or stepped one by one.

use glam::{DMat3, DQuat, DVec3};

use crate::Pose;

/// A similarity transform x → c + s·R·x, (32).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similarity {
    /// c (m).
    pub translation: DVec3,
    /// R, a unit quaternion.
    pub rotation: DQuat,
    /// s (1).
    pub scale: f64,
}

impl Default for Similarity {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl From<Pose> for Similarity {
    /// The transform of scale 1.
    fn from(pose: Pose) -> Self {
        Self { translation: pose.translation, rotation: pose.rotation, scale: 1.0 }
    }
}

impl Similarity {
    /// Leaves everything where it is.
    pub const IDENTITY: Self = Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: 1.0 };

    /// Carries a point (m).
    pub fn transform_point(&self, point: DVec3) -> DVec3 {
        self.translation + self.rotation * point * self.scale
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
    }
}

impl std::ops::Mul for Similarity {
    type Output = Self;

    /// Applies `other` first, then `self`.
    fn mul(self, other: Self) -> Self {
        Self {
            translation: self.transform_point(other.translation),
            rotation: (self.rotation * other.rotation).normalize(),
            scale: self.scale * other.scale,
        }
    }
}

/// A fibre where it passes a cross-section at rest: T̄_i of (33), whose scale is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestDisc {
    /// Its centre (m) and frame.
    pub pose: Pose,
    /// Its radius r̄ (m).
    pub radius: f64,
}

/// Why discs could not be matched.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MatchError {
    /// A section without discs.
    #[error("`discs` is empty; a cross-section has at least one")]
    NoDiscs,
    /// A rest disc of no radius, or with a number that is not finite.
    #[error("`discs[{disc}]` has radius {radius} m; its radius must be above 0 and its pose finite")]
    BadRestDisc {
        /// Which disc.
        disc: usize,
        /// Its radius (m).
        radius: f64,
    },
    /// Another number of discs than at rest.
    #[error("{given} discs are given for a cross-section of {expected}; give one for each, in the same order")]
    DiscCount {
        /// How many were given.
        given: usize,
        /// How many there are at rest.
        expected: usize,
    },
    /// A disc whose transform is not finite.
    #[error("`current[{disc}]` is not finite; match again once it is")]
    NotFinite {
        /// Which disc.
        disc: usize,
    },
}

/// A cross-section's discs at rest, ready to be matched.
///
/// The match is the least-squares one over all points of the discs. Over a disc, (p − μ)(p̄ − μ̄)ᵀ integrates to its
/// area times (c − μ)(c̄ − μ̄)ᵀ and s r̄²/4 R(1 − e_z e_zᵀ)R̄ᵀ: so each disc counts with its rest area, and the columns u
/// and v of its frame with half its rest radius, s_i r̄_i/2 R_i (errata 7, to the factor). Every column is then a
/// length, so that the answer does not depend on the unit, and setting discs to what the match gives keeps their
/// linear and angular momentum. The frames alone carry the rotation where centres cannot: one fibre, coincident
/// fibres, and the turn of collinear ones about their line.
#[derive(Clone, Debug, PartialEq)]
pub struct RestSection {
    discs: Vec<RestDisc>,
    /// Each disc's share of the area.
    weights: Vec<f64>,
    /// μ̄ (m).
    centroid: DVec3,
    /// Denominator of (35) (m²).
    spread: f64,
}

impl RestSection {
    /// Takes a section's discs at rest.
    ///
    /// # Errors
    /// [`MatchError::NoDiscs`] or [`MatchError::BadRestDisc`].
    pub fn new(discs: Vec<RestDisc>) -> Result<Self, MatchError> {
        let sound = |disc: &RestDisc| disc.radius > 0.0 && disc.radius.is_finite() && disc.pose.is_finite();
        if let Some(disc) = discs.iter().position(|disc| !sound(disc)) {
            return Err(MatchError::BadRestDisc { disc, radius: discs[disc].radius });
        }
        let largest = discs.iter().map(|disc| disc.radius).fold(0.0, f64::max);
        let areas: Vec<f64> = discs.iter().map(|disc| (disc.radius / largest).powi(2)).collect();
        let area: f64 = areas.iter().sum();
        if area == 0.0 {
            return Err(MatchError::NoDiscs);
        }
        let weights: Vec<f64> = areas.iter().map(|each| each / area).collect();
        let centroid = discs.iter().zip(&weights).map(|(disc, weight)| disc.pose.translation * *weight).sum();
        let spread = discs.iter().zip(&weights).map(|(disc, weight)| {
            weight * (0.5 * disc.radius * disc.radius + disc.pose.translation.distance_squared(centroid))
        });
        Ok(Self { spread: spread.sum(), weights, centroid, discs })
    }

    /// The discs at rest.
    pub fn discs(&self) -> &[RestDisc] {
        &self.discs
    }

    /// μ̄, the centroid at rest (m), each disc counted with its area.
    pub fn centroid(&self) -> DVec3 {
        self.centroid
    }

    /// T* of (33): what takes the discs at rest closest to `current`, their transforms T_i in the order of
    /// [`RestSection::discs`]. `start` is a rotation to start from: the last match's, or any.
    ///
    /// # Errors
    /// [`MatchError::DiscCount`] or [`MatchError::NotFinite`].
    pub fn matched(&self, current: &[Similarity], start: DQuat) -> Result<Similarity, MatchError> {
        if current.len() != self.discs.len() {
            return Err(MatchError::DiscCount { given: current.len(), expected: self.discs.len() });
        }
        if let Some(disc) = current.iter().position(|disc| !disc.is_finite()) {
            return Err(MatchError::NotFinite { disc });
        }
        let centroid: DVec3 = current.iter().zip(&self.weights).map(|(disc, weight)| disc.translation * *weight).sum();
        // The sum in (34).
        let mut moment = DMat3::ZERO;
        for ((disc, now), &weight) in self.discs.iter().zip(current).zip(&self.weights) {
            let (frame, rest_frame) = (DMat3::from_quat(now.rotation), DMat3::from_quat(disc.pose.rotation));
            let turn = outer(frame.x_axis, rest_frame.x_axis) + outer(frame.y_axis, rest_frame.y_axis);
            let (arm, rest_arm) = (now.translation - centroid, disc.pose.translation - self.centroid);
            moment += turn * (weight * 0.25 * disc.radius * disc.radius * now.scale);
            moment += outer(arm * weight, rest_arm);
        }
        let rotation = rotational_part(&moment, start);
        // (35): the sum of entries of R*B ∘ C is tr(R*ᵀ C Bᵀ).
        let scale = trace_of_product(&DMat3::from_quat(rotation), &moment) / self.spread;
        Ok(Similarity { translation: centroid - rotation * self.centroid * scale, rotation, scale })
    }

    /// What the match makes of the discs, T* T̄_i of (33), in the order of [`RestSection::discs`].
    pub fn carried(&self, matched: Similarity) -> impl Iterator<Item = Similarity> {
        self.discs.iter().map(move |disc| matched * Similarity::from(disc.pose))
    }
}

/// Steps that [`rotational_part`] takes at most before it looks for a better turn.
const MOST_STEPS: usize = 60;
/// A step below this (rad) is the last.
const LAST_STEP: f64 = 1.0e-11;
/// What of a matrix' size counts as nothing.
const NOTHING: f64 = 1.0e-14;

/// The rotation nearest to a matrix: R that maximises tr(RᵀA), by the iteration of Müller et al. 2016, "A robust
/// method to extract the rotational part of deformations", from a rotation to start with.
///
/// With S = ARᵀ, a turn ω of R changes tr(RᵀA) by g·ω − ½ωᵀHω, g = Σ R_i × A_i over columns and H = tr(S)·1 − S
/// symmetrised. Müller et al. step by g/|tr S|, which takes some r⁻² steps for a section r times as thick as wide, and
/// can circle where tr S is small. This steps by |H|⁻¹g, H with its eigenvalues' signs dropped, and by half and half
/// again where that does not climb. Both stop on saddles too, of which there are up to three: there S is symmetric,
/// and half a turn about an eigenvector of a negative eigenvalue of H leads off, so that the answer does not depend on
/// the start but where the matrix leaves it open. What it leaves open (a matrix of rank 1, or 0) stays as it started.
pub fn rotational_part(matrix: &DMat3, start: DQuat) -> DQuat {
    let sound = start.is_finite() && start.length_squared() > 0.0;
    let mut rotation = if sound { start.normalize() } else { DQuat::IDENTITY };
    let largest = matrix.to_cols_array().into_iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
    if !(largest.is_finite() && largest > 0.0) {
        return rotation;
    }
    let matrix = *matrix * (1.0 / largest);
    let size = trace_of_product(&matrix, &matrix).sqrt();
    // Half turns lead through ever larger traces; there are only three saddles.
    for _ in 0..4 {
        let curvature = climb(&matrix, size, &mut rotation);
        if is_definite(&curvature, size) {
            break;
        }
        let (values, vectors) = eigenvectors(&curvature);
        let least = (0..3).fold(0, |least, k| if values[k] < values[least] { k } else { least });
        if values[least] >= -1.0e-10 * size {
            break;
        }
        rotation =
            (DQuat::from_axis_angle(vectors.col(least).normalize(), std::f64::consts::PI) * rotation).normalize();
    }
    rotation
}

/// Follows [`rotational_part`]'s steps until there are none; returns the last H.
fn climb(matrix: &DMat3, size: f64, rotation: &mut DQuat) -> DMat3 {
    let mut h = DMat3::ZERO;
    for _ in 0..MOST_STEPS {
        let r = DMat3::from_quat(*rotation);
        let s = *matrix * r.transpose();
        let height = s.x_axis.x + s.y_axis.y + s.z_axis.z;
        let pull = r.x_axis.cross(matrix.x_axis) + r.y_axis.cross(matrix.y_axis) + r.z_axis.cross(matrix.z_axis);
        h = DMat3::from_diagonal(DVec3::splat(height)) - (s + s.transpose()) * 0.5;
        let mut turn = if is_definite(&h, size) {
            h.inverse() * pull
        } else {
            let (values, vectors) = eigenvectors(&h);
            let along = vectors.transpose() * pull;
            let by = |k: usize| if values[k].abs() > NOTHING * size { along[k] / values[k].abs() } else { 0.0 };
            vectors * DVec3::new(by(0), by(1), by(2))
        };
        turn = turn.clamp_length_max(1.0);
        let turned = |turn: DVec3| (DQuat::from_scaled_axis(turn) * *rotation).normalize();
        let falls = |to: DQuat| trace_of_product(&DMat3::from_quat(to), matrix) < height - NOTHING * size;
        let mut next = turned(turn);
        while turn.length() > LAST_STEP && falls(next) {
            turn *= 0.5;
            next = turned(turn);
        }
        *rotation = next;
        if turn.length() <= LAST_STEP {
            break;
        }
    }
    h
}

/// Whether a symmetric matrix is positive definite by more than rounding.
fn is_definite(h: &DMat3, size: f64) -> bool {
    let minor = h.x_axis.x * h.y_axis.y - h.x_axis.y * h.y_axis.x;
    h.x_axis.x > 0.0 && minor > 0.0 && h.determinant() > NOTHING * size.powi(3)
}

/// The eigenvalues of a symmetric matrix and its eigenvectors as columns, by Jacobi's rotations.
fn eigenvectors(matrix: &DMat3) -> ([f64; 3], DMat3) {
    let (mut a, mut vectors) = (*matrix, DMat3::IDENTITY);
    for _ in 0..8 {
        for (i, k) in [(0, 1), (0, 2), (1, 2)] {
            let off = a.col(k)[i];
            if off == 0.0 {
                continue;
            }
            let ratio = (a.col(k)[k] - a.col(i)[i]) / (2.0 * off);
            let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
            let cosine = 1.0 / tangent.hypot(1.0);
            let mut turn = DMat3::IDENTITY;
            turn.col_mut(i)[i] = cosine;
            turn.col_mut(k)[k] = cosine;
            turn.col_mut(k)[i] = tangent * cosine;
            turn.col_mut(i)[k] = -tangent * cosine;
            a = turn.transpose() * a * turn;
            vectors *= turn;
        }
    }
    ([a.x_axis.x, a.y_axis.y, a.z_axis.z], vectors)
}

/// a bᵀ.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// tr(aᵀ b), the sum of entries of a ∘ b.
fn trace_of_product(a: &DMat3, b: &DMat3) -> f64 {
    a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis)
}
