//! Bundles of fibres: what meshes are viperized into, and how their cross-sections become a rod's nodes.
//!
//! A muscle is one rod whose cross-sections carry fibres: fibre k at node j sits at c_j + s_j R_j p_kj with radius
//! s_j r_kj, so that the scale-invariant shape matching of VIPER (32)–(36) holds by construction.

use std::f64::consts::PI;

use glam::{DMat3, DQuat, DVec3};

use super::RodNode;
use crate::{Pose, Section};

/// A fibre where it passes a cross-section, in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// Its centre (m).
    pub place: DVec3,
    /// Its radius (m).
    pub radius: f64,
}

/// A fibre where it passes a node, in the node's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fibre {
    /// From the node's place (m), along u, v and w.
    pub offset: DVec3,
    /// Its radius (m).
    pub radius: f64,
}

impl Fibre {
    /// Its cross-section (m²).
    pub fn area(&self) -> f64 {
        PI * self.radius * self.radius
    }
}

/// K fibres through M cross-sections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    /// `fibres[k][j]` is where fibre k passes section j; all have the same number of sections.
    pub fibres: Vec<Vec<Disc>>,
}

impl Bundle {
    /// How many sections its fibres pass.
    pub fn section_count(&self) -> usize {
        self.fibres.first().map_or(0, Vec::len)
    }

    /// Nodes at the sections' centroids, and the fibres in the frames that a rod through these nodes has.
    ///
    /// # Panics
    /// Where fibres pass different numbers of sections; [`RodSpec::from_bundle`](super::RodSpec::from_bundle) has an
    /// error for that.
    pub fn sections(&self) -> (Vec<RodNode>, Vec<Vec<Fibre>>) {
        let area = |disc: &Disc| disc.radius * disc.radius;
        let places: Vec<DVec3> = (0..self.section_count())
            .map(|j| {
                let discs = || self.fibres.iter().map(move |fibre| &fibre[j]);
                let total: f64 = discs().map(area).sum();
                // Moments about one of the discs, so that a bundle far from the origin loses no digits.
                let base = self.fibres[0][j].place;
                base + discs().map(|disc| (disc.place - base) * area(disc)).sum::<DVec3>()
                    / total.max(f64::MIN_POSITIVE)
            })
            .collect();
        let frames = frames_along(&places, None);
        let fibres: Vec<Vec<Fibre>> = self
            .fibres
            .iter()
            .map(|fibre| {
                fibre
                    .iter()
                    .zip(&frames)
                    .map(|(disc, pose)| Fibre {
                        offset: pose.rotation.conjugate() * (disc.place - pose.translation),
                        radius: disc.radius,
                    })
                    .collect()
            })
            .collect();
        let nodes = places
            .iter()
            .enumerate()
            .map(|(j, &place)| RodNode { place, section: Section::of_fibres(fibres.iter().map(|fibre| &fibre[j])) })
            .collect();
        (nodes, fibres)
    }
}

impl Section {
    /// The section that fibres make together, about its node: the sums of their areas and moments. It turns as one, so
    /// its torsion constant is its polar moment.
    pub fn of_fibres<'a>(fibres: impl Iterator<Item = &'a Fibre>) -> Self {
        let mut sum =
            Self { area: 0.0, second_moment_u: 0.0, second_moment_v: 0.0, product_moment: 0.0, torsion_constant: 0.0 };
        for fibre in fibres {
            let (area, own) = (fibre.area(), Self::disc(fibre.radius).second_moment_u);
            let DVec3 { x, y, .. } = fibre.offset;
            sum.area += area;
            sum.second_moment_u += own + area * y * y;
            sum.second_moment_v += own + area * x * x;
            sum.product_moment -= area * x * y;
            sum.torsion_constant += 2.0 * own + area * (x * x + y * y);
        }
        sum
    }
}

/// How far along a path each of its places is (m); of at least one.
pub(crate) fn arc_lengths(places: &[DVec3]) -> Vec<f64> {
    let mut arc = vec![0.0];
    arc.extend(places.windows(2).scan(0.0, |sum, pair| {
        *sum += pair[0].distance(pair[1]);
        Some(*sum)
    }));
    arc
}

/// Frames along a path: tangents halve the angle at inner places, and u is carried along without twist, from near a
/// wanted direction if there is one. A path of one place, or without length, has the world's frame.
pub(crate) fn frames_along(places: &[DVec3], u_axis: Option<DVec3>) -> Vec<Pose> {
    let directions: Vec<DVec3> = places.windows(2).map(|p| (p[1] - p[0]).normalize_or(DVec3::Z)).collect();
    let tangent = |j: usize| {
        let before = directions.get(j.saturating_sub(1)).copied().unwrap_or(DVec3::Z);
        let after = directions.get(j).copied().unwrap_or(before);
        (before + after).normalize_or(after)
    };
    let first = tangent(0);
    let wanted = u_axis.unwrap_or_else(|| first.any_orthonormal_vector());
    let across = wanted - first * first.dot(wanted);
    let u = if across.length() > 1.0e-9 { across.normalize() } else { first.any_orthonormal_vector() };
    let mut frame = DQuat::from_mat3(&DMat3::from_cols(u, first.cross(u), first)).normalize();
    let mut last = first;
    let mut poses = Vec::with_capacity(places.len());
    for (j, &place) in places.iter().enumerate() {
        let next = tangent(j);
        frame = (DQuat::from_rotation_arc(last, next) * frame).normalize();
        last = next;
        poses.push(Pose::new(place, frame));
    }
    poses
}
