//! Paths that bundles follow, and the stations along them.

use glam::{DVec2, DVec3};

use super::mirror::Plane;
use super::{FittedPart, Layout};
use crate::character::first_flesh::Limb;
use crate::character::skin_tree::SkinTree;

/// Stations from one section to the next.
pub(super) const FINE: usize = 3;
/// Stations before the first section and after the last.
pub(super) const BEYOND: usize = 5;
/// How far the ends of a bundle stay from the ends of its path, over the skin's distance from it.
const INSET: f64 = 0.15;

/// A path through joints with the skin's distance from it.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) part: FittedPart,
    /// The joints that it goes along; the last point of the path is the end of the last one.
    pub(super) joints: Vec<u32>,
    /// The twist joints along it.
    pub(super) twists: Vec<u32>,
    /// The joints that hold the path's ends, or carry the flesh there.
    pub(super) held_by: [u32; 2],
    /// The joint at a limb's far end, on which its flesh pulls; `None` where that moves nothing, but marks the end.
    pub(super) end_joint: Option<u32>,
    pub(super) path: Vec<DVec3>,
    pub(super) radii: Vec<f64>,
}

impl Course {
    pub(super) fn of_limb(index: usize, limb: &Limb, tree: &SkinTree) -> Self {
        Self {
            part: FittedPart::Limb(index),
            joints: vec![limb.joint],
            twists: limb.twists.clone(),
            held_by: limb.held_by,
            end_joint: Some(limb.end_joint).filter(|&end| tree.has_skin_beyond(end)),
            path: limb.line.to_vec(),
            radii: limb.radii.clone(),
        }
    }

    pub(super) fn length(&self) -> f64 {
        self.path.windows(2).map(|pair| pair[0].distance(pair[1])).sum()
    }

    pub(super) fn radius_at(&self, along: f64) -> f64 {
        let last = self.radii.len() - 1;
        let at = along.clamp(0.0, 1.0) * last as f64;
        let (low, high) = (at.floor() as usize, (at.ceil() as usize).min(last));
        self.radii[low] + (self.radii[high] - self.radii[low]) * (at - low as f64)
    }

    /// Stations along the path; their u axes lie near `normal` where that is across the path.
    pub(super) fn frames(&self, normal: DVec3, layout: &Layout) -> Frames {
        let length = self.length();
        let inset = |along: f64| (INSET * self.radius_at(along)).min(0.1 * length);
        let (first, last) = (inset(0.0), length - inset(1.0));
        // Sections at the joints and evenly between them.
        let mut sections = vec![first];
        let mut joint_sections = vec![0];
        let mut before = 0.0;
        for (k, pair) in self.path.windows(2).enumerate() {
            let to = if k + 2 == self.path.len() { last } else { before + pair[0].distance(pair[1]) };
            let from = sections[sections.len() - 1];
            let share = layout.segments as f64 * (to - from) / (last - first);
            let least = if self.path.len() > 2 { 2 } else { 1 };
            let count = (share.round() as usize).max(least);
            sections.extend((1..=count).map(|i| from + (to - from) * i as f64 / count as f64));
            joint_sections.push(sections.len() - 1);
            before += pair[0].distance(pair[1]);
        }
        let mut along = Vec::new();
        let step = |a: f64, b: f64| (b - a) / FINE as f64;
        let start = step(sections[0], sections[1]);
        along.extend((1..=BEYOND).rev().map(|i| sections[0] - start * i as f64));
        for pair in sections.windows(2) {
            along.extend((0..FINE).map(|i| pair[0] + step(pair[0], pair[1]) * i as f64));
        }
        let end = sections.len() - 1;
        let stop = step(sections[end - 1], sections[end]);
        along.extend((0..=BEYOND).map(|i| sections[end] + stop * i as f64));
        let stations = self.stations(&along, normal);
        Frames { stations, joint_sections, length }
    }

    fn stations(&self, along: &[f64], normal: DVec3) -> Vec<Station> {
        let length = self.length();
        let tangent_reach = 0.08 * length;
        let first = self.at(tangent_reach) - self.at(-tangent_reach);
        let wanted = if first.normalize().dot(normal).abs() < 0.8 { normal } else { first.any_orthonormal_vector() };
        let mut u = wanted;
        along
            .iter()
            .map(|&s| {
                let w = (self.at(s + tangent_reach) - self.at(s - tangent_reach)).normalize_or(first.normalize());
                u = (u - w * w.dot(u)).normalize_or(w.any_orthonormal_vector());
                Station { along: s, place: self.at(s), u, v: w.cross(u), w, radius: self.radius_at(s / length) }
            })
            .collect()
    }

    /// The place (m) at an arc length, on the path's line drawn on beyond its ends.
    fn at(&self, along: f64) -> DVec3 {
        let mut before = 0.0;
        let last = self.path.len() - 2;
        for (k, pair) in self.path.windows(2).enumerate() {
            let span = pair[0].distance(pair[1]);
            if along <= before + span || k == last {
                return pair[0] + (pair[1] - pair[0]) * ((along - before) / span);
            }
            before += span;
        }
        self.path[0]
    }
}

/// A plane across a course.
#[derive(Clone, Copy, Debug)]
pub(super) struct Station {
    /// Arc length (m).
    pub(super) along: f64,
    /// Where the path meets it (m).
    pub(super) place: DVec3,
    /// Its axes, and its normal along the path; left-handed on the mirrored side.
    pub(super) u: DVec3,
    pub(super) v: DVec3,
    pub(super) w: DVec3,
    /// The skin's usual distance (m).
    pub(super) radius: f64,
}

impl Station {
    pub(super) fn flat(&self, place: DVec3) -> DVec2 {
        let offset = place - self.place;
        DVec2::new(offset.dot(self.u), offset.dot(self.v))
    }

    pub(super) fn space(&self, flat: DVec2) -> DVec3 {
        self.place + self.u * flat.x + self.v * flat.y
    }
}

/// The stations of a course: [`BEYOND`] before the first section, [`FINE`] from each section to the next, and
/// [`BEYOND`] after the last.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    pub(super) stations: Vec<Station>,
    /// The sections at the path's points.
    pub(super) joint_sections: Vec<usize>,
    pub(super) length: f64,
}

impl Frames {
    pub(super) fn section_count(&self) -> usize {
        (self.stations.len() - 2 * BEYOND - 1) / FINE + 1
    }

    /// The station of a section.
    pub(super) fn of_section(section: usize) -> usize {
        BEYOND + FINE * section
    }

    pub(super) fn mirrored(&self, plane: &Plane) -> Self {
        let stations = self
            .stations
            .iter()
            .map(|station| Station {
                place: plane.image(station.place),
                u: plane.turn(station.u),
                v: plane.turn(station.v),
                w: plane.turn(station.w),
                ..*station
            })
            .collect();
        Self { stations, ..self.clone() }
    }
}
