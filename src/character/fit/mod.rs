//! Fitting: bundles of fibres in the space between bone and skin, for characters whose author gave none.
//!
//! ```text
//! limbs ──────────────┐
//! skeleton ─ trunk ─► courses ─ mirror ─► pairs ─ profile ─► polar profiles by station
//! skin at rest ───────┘                                        │ bundle: sites (Lloyd), radii
//!                                     FittedMuscle (Bundle, joints, path) ◄┘
//! ```
//!
//! A course is a path through joints. At stations along it the skin is cut by a plane, rays from the path to the cut
//! give the space that there is, and fibres are spread over it evenly, from the middle of the course outwards, each
//! section from the sites of the one before.

mod bundle;
mod course;
mod mirror;
mod parts;
mod profile;
mod trunk;

use glam::{DVec3, Vec3};

use super::first_flesh::Limb;
use super::skin_tree::SkinTree;
use crate::flesh::{Bundle, Carriers, Holds};

use course::Course;

/// What is fitted into: a character at rest in model space.
pub struct Figure<'a> {
    /// Places of the skin's vertices (m).
    pub positions: &'a [Vec3],
    /// Its triangles, counter-clockwise from outside.
    pub triangles: &'a [[u32; 3]],
    /// For each vertex, the joint that pulls strongest on it.
    pub strongest: &'a [u32],
    /// Places of the joints (m).
    pub joints: &'a [DVec3],
    /// How they hang together.
    pub tree: &'a SkinTree,
}

/// How bundles are laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Fibres of a bundle, 1 to 64.
    pub fibres: usize,
    /// Segments along a limb.
    pub segments: usize,
    /// How close to the skin fibres may come: their distance from the path over the skin's.
    pub fill: f64,
}

/// What a muscle was fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FittedPart {
    /// A limb, by its index in [`Body::limbs`](super::Body::limbs).
    Limb(usize),
    /// The trunk from the hips to the neck.
    Trunk,
}

/// A bundle that fills the space between bones and skin.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedMuscle {
    /// What it was fitted to.
    pub part: FittedPart,
    /// The joints whose skin it carries, in order along it.
    pub joints: Vec<u32>,
    /// From joint to joint, and on to its end (m), model space at rest.
    pub path: Vec<DVec3>,
    /// The skin's distance from the path (m) at evenly spaced stations from end to end.
    pub radii: Vec<f64>,
    /// Its fibres, model space at rest.
    pub bundle: Bundle,
    /// Nodes, the joints that hold them and how.
    pub holds: Vec<(usize, u32, Holds)>,
    /// The joints that carry its nodes; none for those that hold it.
    pub carriers: Carriers<u32>,
    /// Volume of the skin around it (m³), by its profiles.
    pub skin_volume: f64,
    /// Share of the directions around it in which its own skin is the nearest, and not another part.
    pub own_skin: f64,
    /// The muscle on the other side that is its mirror image, itself where it is its own.
    pub mirror: Option<usize>,
}

impl FittedMuscle {
    /// The skin's distance from the path (m) at a fraction of its length.
    pub fn radius_at(&self, along: f64) -> f64 {
        let last = self.radii.len() - 1;
        let at = along.clamp(0.0, 1.0) * last as f64;
        let (low, high) = (at.floor() as usize, (at.ceil() as usize).min(last));
        self.radii[low] + (self.radii[high] - self.radii[low]) * (at - low as f64)
    }

    /// The share of its length along which any of some lines (m) runs inside it: nearer to the path than the skin.
    pub fn share_run_by(&self, lines: &[Vec<DVec3>]) -> f64 {
        const STATIONS: usize = 64;
        let length: f64 = self.path.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
        let mut passed = [false; STATIONS];
        for ends in lines.iter().flat_map(|line| line.windows(2)) {
            // Half a station at a time, so that none is skipped.
            let count = (2.0 * STATIONS as f64 * ends[0].distance(ends[1]) / length).ceil().clamp(1.0, 1.0e4);
            for step in 0..=count as usize {
                let (along, distance) = self.along(ends[0].lerp(ends[1], step as f64 / count));
                if (0.0..1.0).contains(&along) && distance <= self.radius_at(along) {
                    passed[(along * STATIONS as f64) as usize] = true;
                }
            }
        }
        passed.into_iter().filter(|&passed| passed).count() as f64 / STATIONS as f64
    }

    /// The longest stretch (m) between two nodes that are held.
    pub fn span(&self) -> f64 {
        let (nodes, _) = self.bundle.sections();
        let stretch = |pair: &[(usize, u32, Holds)]| {
            nodes[pair[0].0..=pair[1].0].windows(2).map(|ends| ends[0].place.distance(ends[1].place)).sum::<f64>()
        };
        self.holds.windows(2).map(stretch).fold(0.0, f64::max)
    }

    /// How far along the path a place is, as a fraction of its length, beyond 0 and 1 before and after it; and its
    /// distance (m) from the path, or from its line drawn on.
    pub fn along(&self, place: DVec3) -> (f64, f64) {
        let length: f64 = self.path.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
        let last = self.path.len() - 2;
        let mut before = 0.0;
        let mut best = (0.0, f64::INFINITY);
        for (k, pair) in self.path.windows(2).enumerate() {
            let span = pair[0].distance(pair[1]);
            let axis = (pair[1] - pair[0]) / span;
            let offset = place - pair[0];
            let low = if k == 0 { f64::NEG_INFINITY } else { 0.0 };
            let high = if k == last { f64::INFINITY } else { span };
            let at = offset.dot(axis).clamp(low, high);
            let distance = (offset - axis * at).length();
            if distance < best.1 {
                best = ((before + at) / length, distance);
            }
            before += span;
        }
        best
    }
}

/// Fits a bundle to every limb, and to the trunk where `trunk` says so and there is one. The limbs that the trunk
/// takes the place of are taken out of `limbs`.
pub fn fit(figure: &Figure, limbs: &mut Vec<Limb>, trunk: bool, layout: &Layout) -> Vec<FittedMuscle> {
    let spine = if trunk { trunk::find(figure, limbs) } else { None };
    if let Some(spine) = &spine {
        limbs.retain(|limb| !spine.covered().contains(&limb.joint));
    }
    let mut courses: Vec<Course> =
        limbs.iter().enumerate().map(|(index, limb)| Course::of_limb(index, limb, figure.tree)).collect();
    courses.extend(spine.map(|spine| trunk::course(figure, limbs, spine)));
    let skin = profile::Triangles::new(figure);
    let images = mirror::find(&courses);
    mirror::straighten(&mut courses, &images);
    let mut muscles: Vec<Option<FittedMuscle>> = vec![None; courses.len()];
    for index in 0..courses.len() {
        if muscles[index].is_some() {
            continue;
        }
        let image = images[index].map(|(other, _)| other);
        let sides = match &images[index] {
            Some((other, plane)) => {
                let frames = courses[index].frames(plane.normal, layout);
                let mirrored = frames.mirrored(plane);
                if *other == index {
                    vec![(index, frames.clone()), (index, mirrored)]
                } else {
                    vec![(index, frames), (*other, mirrored)]
                }
            }
            None => vec![(index, courses[index].frames(DVec3::X, layout))],
        };
        let profiles = profile::common(&skin, figure, &courses, &sides);
        let laid = bundle::lay(&sides[0].1, &profiles, layout);
        for (which, frames) in &sides {
            if muscles[*which].is_none() {
                let mut muscle = bundle::place(&courses[*which], frames, &profiles, &laid);
                muscle.mirror = image.map(|other| if *which == index { other } else { index });
                muscles[*which] = Some(muscle);
            }
        }
    }
    muscles.into_iter().flatten().collect()
}
