//! Which joints carry a muscle's cross-sections: those along which it runs.
//!
//! Between two joints that hold it a muscle runs along the joints from one to the other in the skeleton. Each of its sections
//! is carried by the joint beside which it lies at rest, and around the place where one joint turns against the next by both.

use glam::{Affine3A, DVec3};

use crate::character::Skeleton;
use crate::flesh::{Carriers, Holds, arc_lengths};
use crate::layout::MAX_BONES;

/// How far from where two joints meet both carry, over the muscle's distance from there.
const REACH: f64 = 1.5;
/// The least and the most of that, over the length between two holds.
const REACH_LIMITS: [f64; 2] = [0.1, 0.35];
/// The least share of the length between two holds along which a joint between them carries.
const LEAST_STRETCH: f64 = 0.05;

/// A stretch of a muscle between two holds: the joints along it, and how far along the muscle (m) each meets the next and how
/// far from it (m).
struct Span {
    joints: Vec<u32>,
    meets: Vec<(f64, f64)>,
    from: f64,
    to: f64,
}

/// What carries the sections of a muscle at `places` (m) that is held at some nodes, its joints at rest given.
pub fn carriers(
    holds: &[(usize, u32, Holds)],
    places: &[DVec3],
    skeleton: &Skeleton,
    joints: &[Affine3A],
) -> Carriers<u32> {
    let arc = arc_lengths(places);
    let mut spans: Vec<Span> = holds
        .windows(2)
        .map(|pair| {
            let ([(first, a, _), (last, b, _)], at) = ([pair[0], pair[1]], joints);
            let nearest = |joint: u32, least: f64| {
                let centre = at[joint as usize].translation.as_dvec3();
                let reached = (first..=last).filter(|&node| arc[node] >= least);
                let distance = |&node: &usize| places[node].distance(centre);
                reached
                    .min_by(|x, y| distance(x).total_cmp(&distance(y)))
                    .map_or((least, 0.0), |node| (arc[node], distance(&node)))
            };
            let mut span = Span { joints: vec![a], meets: Vec::new(), from: arc[first], to: arc[last] };
            for (joint, meets_at) in between(skeleton, a, b) {
                let least = span.meets.last().map_or(span.from, |meets| meets.0);
                span.meets.push(nearest(meets_at, least));
                span.joints.push(joint);
            }
            span
        })
        .collect();
    thin_out(&mut spans, holds);

    let mut bones: Vec<u32> = Vec::new();
    let mut nodes = vec![0.0; places.len()];
    for (span, pair) in spans.iter().zip(holds.windows(2)) {
        if bones.last() != span.joints.first() {
            bones.push(span.joints[0]);
        }
        let slot = (bones.len() - 1) as f64;
        bones.extend(&span.joints[1..]);
        for node in pair[0].0..=pair[1].0 {
            nodes[node] = slot + span.blend(arc[node]);
        }
        nodes[pair[1].0..].fill((bones.len() - 1) as f64);
    }
    if bones.is_empty() {
        bones.extend(holds.first().map(|hold| hold.1));
    }
    Carriers { bones, nodes }
}

impl Span {
    /// How far along its joints a place is carried (0 at the first, 1 at the second, …), given how far along the muscle it
    /// is (m).
    fn blend(&self, at: f64) -> f64 {
        let length = self.to - self.from;
        let [least, most] = REACH_LIMITS.map(|share| share * length);
        let ramp = |(k, &(meets, distance)): (usize, &(f64, f64))| {
            let before = k.checked_sub(1).map_or(self.from, |k| 0.5 * (self.meets[k].0 + meets));
            let after = self.meets.get(k + 1).map_or(self.to, |next| 0.5 * (next.0 + meets));
            let least = least.min(0.5 * (after - before));
            // Both bounds may be one number, but for rounding.
            let middle = meets.max(before + least).min(after - least);
            let reach = (REACH * distance).clamp(least, most.max(least)).min(middle - before).min(after - middle);
            if reach > 0.0 {
                ((at - middle) / (2.0 * reach) + 0.5).clamp(0.0, 1.0)
            } else {
                f64::from(u8::from(at > middle))
            }
        };
        self.meets.iter().enumerate().map(ramp).sum()
    }

    /// How far (m) the k-th joint carries alone, about.
    fn stretch(&self, k: usize) -> f64 {
        self.meets[k].0 - self.meets[k - 1].0
    }
}

/// The joints from one to another through the skeleton, without the first, each with the joint at whose place it meets the one
/// before.
fn between(skeleton: &Skeleton, from: u32, to: u32) -> Vec<(u32, u32)> {
    if from == to {
        return Vec::new();
    }
    let up = |joint: u32| {
        std::iter::successors(Some(joint), |&joint| skeleton.joints[joint as usize].parent).collect::<Vec<u32>>()
    };
    let (rising, falling) = (up(from), up(to));
    let Some(common) = rising.iter().position(|joint| falling.contains(joint)) else { return vec![(to, to)] };
    let mut path: Vec<(u32, u32)> = rising[..=common].windows(2).map(|pair| (pair[1], pair[0])).collect();
    let fallen = falling.iter().take_while(|&&joint| joint != rising[common]);
    path.extend(fallen.copied().collect::<Vec<_>>().into_iter().rev().map(|joint| (joint, joint)));
    path
}

/// Takes joints out that carry next to nothing, and those that carry least until there are no more than a rod can hang on.
fn thin_out(spans: &mut [Span], holds: &[(usize, u32, Holds)]) {
    loop {
        let held = 1 + holds.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
        let inner: usize = spans.iter().map(|span| span.joints.len().saturating_sub(2)).sum();
        let shortest = spans
            .iter()
            .enumerate()
            .flat_map(|(which, span)| (1..span.joints.len().max(2) - 1).map(move |k| (which, k, span.stretch(k))))
            .min_by(|a, b| a.2.total_cmp(&b.2));
        let Some((which, k, stretch)) = shortest else { return };
        let span = &mut spans[which];
        if held + inner <= MAX_BONES && stretch >= LEAST_STRETCH * (span.to - span.from) {
            return;
        }
        let ((before, near), (after, far)) = (span.meets[k - 1], span.meets[k]);
        span.meets[k - 1] = (0.5 * (before + after), near.max(far) + 0.5 * (after - before));
        span.meets.remove(k);
        span.joints.remove(k);
    }
}
