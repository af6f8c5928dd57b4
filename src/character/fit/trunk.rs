//! The trunk: from the hips over the spine to the neck.

use glam::DVec3;

use super::course::Course;
use super::{Figure, FittedPart};
use crate::character::first_flesh::Limb;
use crate::layout::MAX_BONES;

/// A spine bends less than this from joint to joint (cosine).
const LEAST_COSINE: f64 = 0.5;
/// Joints of a spine are farther apart than this share of its length.
const LEAST_SPAN: f64 = 0.1;
/// By how much a part of the skeleton must have more limbs than those beside it to be the upper body.
const CLEARLY_MORE: f64 = 1.3;

/// The joints of the spine from the hips on, and the place where it ends.
pub(super) struct Spine {
    pub(super) joints: Vec<u32>,
    pub(super) end: Option<DVec3>,
}

impl Spine {
    /// The joints whose flesh the trunk is.
    pub(super) fn covered(&self) -> &[u32] {
        &self.joints[..self.joints.len() - usize::from(self.end.is_none())]
    }
}

/// The last stretch of the skeleton between two joints where limbs branch off, on the way from the common ancestor of
/// all limbs into the part with clearly the most limbs; drawn on to the neck where a joint lies straight ahead.
pub(super) fn find(figure: &Figure, limbs: &[Limb]) -> Option<Spine> {
    let tree = figure.tree;
    let mut below = vec![0_usize; figure.joints.len()];
    limbs.iter().for_each(|limb| below[limb.joint as usize] += 1);
    for &joint in tree.order().iter().rev() {
        if let Some(parent) = tree.parents()[joint as usize] {
            below[parent as usize] += below[joint as usize];
        }
    }
    let roots = tree.order().iter().copied().filter(|&joint| tree.parents()[joint as usize].is_none());
    let mut at = roots.max_by_key(|&joint| (below[joint as usize], std::cmp::Reverse(joint)))?;
    let (mut path, mut last) = (Vec::new(), Vec::new());
    loop {
        let mut branches: Vec<u32> = limbed(at, &below, figure);
        branches.sort_by_key(|&child| (std::cmp::Reverse(below[child as usize]), child));
        path.push(at);
        if branches.len() > 1 {
            if path.len() > 1 && limbed(path[0], &below, figure).len() > 1 {
                last = path;
            }
            path = vec![at];
        }
        let clear = match branches[..] {
            [] => false,
            [_] => true,
            [first, second, ..] => below[first as usize] as f64 >= CLEARLY_MORE * below[second as usize] as f64,
        };
        if !clear {
            break;
        }
        at = branches[0];
    }
    spine(figure, last)
}

/// The joints that hang on a joint and have limbs.
fn limbed(joint: u32, below: &[usize], figure: &Figure) -> Vec<u32> {
    figure.tree.children(joint).iter().copied().filter(|&child| below[child as usize] > 0).collect()
}

fn spine(figure: &Figure, mut joints: Vec<u32>) -> Option<Spine> {
    let chest = *joints.last()?;
    let place = |joint: u32| figure.joints[joint as usize];
    let hips = place(joints[0]);
    let whole = hips.distance(place(chest));
    if joints.len() < 2 || whole <= 0.0 {
        return None;
    }
    // Joints that lead astray or stand close together have no say.
    let mut kept = vec![joints[0]];
    for (k, &joint) in joints.iter().enumerate().skip(1) {
        let from = place(kept[kept.len() - 1]);
        let step = place(joint) - from;
        let ahead = (place(chest) - from).normalize_or_zero();
        let is_last = k + 1 == joints.len();
        if is_last || (step.length() > LEAST_SPAN * whole && step.normalize().dot(ahead) > LEAST_COSINE) {
            if is_last && kept.len() > 1 && step.length() <= LEAST_SPAN * whole {
                kept.pop();
            }
            kept.push(joint);
        }
    }
    while kept.len() > MAX_BONES {
        let span = |k: usize| place(kept[k - 1]).distance(place(kept[k + 1]));
        let least = (1..kept.len() - 1).min_by(|&a, &b| span(a).total_cmp(&span(b)))?;
        kept.remove(least);
    }
    joints = kept;
    let ahead = (place(chest) - place(joints[joints.len() - 2])).normalize_or_zero();
    let steps: Vec<DVec3> = figure.tree.children(chest).iter().map(|&child| place(child) - place(chest)).collect();
    let cosine = |step: DVec3| step.normalize_or_zero().dot(ahead);
    let straight = |step: &&DVec3| {
        let length = step.length();
        // Collars come in twos, a neck does not.
        let is_twin = |other: &DVec3| {
            (other.length() - length).abs() < 0.03 * length
                && (cosine(*other) - cosine(**step)).abs() < 0.02
                && other.dot(**step) < 0.97 * length * length
        };
        length > LEAST_SPAN * whole && length < 1.5 * whole && cosine(**step) > 0.8 && !steps.iter().any(is_twin)
    };
    let end = steps.iter().filter(straight).max_by(|a, b| cosine(**a).total_cmp(&cosine(**b)));
    let end = end.map(|step| place(chest) + *step);
    Some(Spine { joints, end })
}

/// The spine's course; its radii are the medians of the distances of the skin that is no limb's.
pub(super) fn course(figure: &Figure, limbs: &[Limb], spine: Spine) -> Course {
    const STATIONS: usize = 5;
    let mut path: Vec<DVec3> = spine.joints.iter().map(|&joint| figure.joints[joint as usize]).collect();
    path.extend(spine.end);
    let mut joints = spine.joints;
    let end_joint = joints[joints.len() - 1];
    if spine.end.is_none() {
        joints.pop();
    }
    let of_limb = limb_skin(figure, limbs);
    let held_by = [joints[0], end_joint];
    let mut course = Course {
        part: FittedPart::Trunk,
        joints,
        twists: Vec::new(),
        held_by,
        end_joint: None,
        path,
        radii: vec![1.0],
    };
    let probe = super::FittedMuscle {
        part: FittedPart::Trunk,
        joints: Vec::new(),
        path: course.path.clone(),
        radii: vec![1.0],
        bundle: crate::flesh::Bundle::default(),
        holds: Vec::new(),
        carriers: Default::default(),
        skin_volume: 0.0,
        own_skin: 0.0,
        mirror: None,
    };
    let around: Vec<(f64, f64)> = (0..figure.positions.len())
        .filter(|&vertex| !of_limb[figure.strongest[vertex] as usize])
        .map(|vertex| probe.along(figure.positions[vertex].as_dvec3()))
        .filter(|(along, distance)| (-0.1..=1.1).contains(along) && *distance < course.length())
        .collect();
    let median = |low: f64, high: f64| {
        let mut radii: Vec<f64> = around.iter().filter(|(t, _)| (low..=high).contains(t)).map(|&(_, r)| r).collect();
        radii.sort_by(f64::total_cmp);
        radii.get(radii.len() / 2).copied()
    };
    let whole = median(-0.1, 1.1).unwrap_or(0.25 * course.length()).max(1.0e-3 * course.length());
    course.radii = (0..STATIONS)
        .map(|i| {
            let t = i as f64 / (STATIONS - 1) as f64;
            median(t - 0.15, t + 0.15).unwrap_or(whole).clamp(0.5 * whole, 1.6 * whole)
        })
        .collect();
    course
}

/// Which joints move skin of limbs: the limbs' own, and all beyond them.
pub(super) fn limb_skin(figure: &Figure, limbs: &[Limb]) -> Vec<bool> {
    let mut of_limb = vec![false; figure.joints.len()];
    limbs.iter().for_each(|limb| of_limb[limb.joint as usize] = true);
    for &joint in figure.tree.order() {
        of_limb[joint as usize] |= figure.tree.parents()[joint as usize].is_some_and(|parent| of_limb[parent as usize]);
    }
    of_limb
}
