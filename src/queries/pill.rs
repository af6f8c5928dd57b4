//! Pills in f64, and where what moves straight on first meets one.
//!
//! The gap to a pill is convex, also in how far something has gone straight on: what does not near it from outside never will,
//! and where the gap, going on as it does now, would be closed, it is not yet.

use glam::DVec3;

use crate::cpu::lanes::OneF64;
use crate::cpu::math::V3;
use crate::cpu::pills::{self, nearest};

/// The convex hull of two spheres: a capsule whose ends may be of different sizes. One sphere where both are the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pill {
    /// Centres of its first and last sphere, in the world (m).
    pub ends: [DVec3; 2],
    /// Their radii (m).
    pub radii: [f64; 2],
}

/// Where a pill's surface is nearest to something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foot {
    /// Where on the pill, 0 to 1.
    pub along: f64,
    /// Out of the pill.
    pub normal: DVec3,
    /// How far away it is (m), negative inside.
    pub gap: f64,
}

/// Over a pill's size, how near a way's end must be to its surface.
const TOLERANCE: f64 = 1.0e-9;

/// Over a way's length, what f64 leaves of a gap at its end.
const ROUNDING: f64 = 1.0e-15;

/// Of cones that are blunter than this, 1 − sin² of their half angle, the closed form has few digits.
const BLUNT: f64 = 1.0e-4;

/// Steps towards a pill at most. Beside a tangent each takes half the way that is left, elsewhere they double the digits.
const STEPS: usize = 64;

impl Pill {
    /// A sphere.
    pub fn sphere(centre: DVec3, radius: f64) -> Self {
        Self { ends: [centre; 2], radii: [radius; 2] }
    }

    /// A capsule of one radius.
    pub fn capsule(from: DVec3, to: DVec3, radius: f64) -> Self {
        Self { ends: [from, to], radii: [radius; 2] }
    }

    /// The centre of a sphere of it.
    pub(super) fn centre(&self, along: f64) -> DVec3 {
        self.ends[0].lerp(self.ends[1], along)
    }

    /// The radius of a sphere of it.
    pub(super) fn radius(&self, along: f64) -> f64 {
        self.radii[0] + (self.radii[1] - self.radii[0]) * along
    }

    /// It with all radii larger by as much.
    pub(super) fn grown(&self, by: f64) -> Self {
        Self { radii: self.radii.map(|radius| radius + by), ..*self }
    }

    /// Its length and its thickness (m).
    fn size(&self) -> f64 {
        self.ends[0].distance(self.ends[1]) + self.radii[0].max(self.radii[1])
    }

    /// Seen from a place, after it has gone some way: in this order, for the digits.
    fn seen_from(&self, place: DVec3, gone: DVec3) -> pills::Pill<f64> {
        pills::Pill { ends: self.ends.map(|end| V3((end - place + gone).to_array())), radii: self.radii }
    }

    /// A normal of its surface at each of its spheres, in the plane of its axis and of a direction across that.
    fn normal_towards(&self, across: DVec3) -> DVec3 {
        let Some((axis, length)) = unit(self.ends[1] - self.ends[0]) else {
            return unit(across).map_or(DVec3::Y, |(across, _)| across);
        };
        let across = unit(across).and_then(|(across, _)| across.reject_from_normalized(axis).try_normalize());
        let sine = ((self.radii[1] - self.radii[0]) / length).clamp(-1.0, 1.0);
        across.unwrap_or(axis.any_orthonormal_vector()) * (1.0 - sine * sine).sqrt() - axis * sine
    }

    /// The normal where a sphere's centre lies `apart` from that of a sphere of it, and how far that is.
    fn normal_at(&self, along: f64, apart: DVec3, across: DVec3) -> (DVec3, f64) {
        match unit(apart) {
            // Nearer, rounding alone would say where out is.
            Some((normal, length)) if length > TOLERANCE * self.radius(along) => (normal, length),
            near => (self.normal_towards(across), near.map_or(0.0, |(_, length)| length)),
        }
    }

    /// Where it is nearest to a point that has gone some way.
    pub(super) fn foot(&self, point: DVec3, gone: DVec3) -> Foot {
        let seen = self.seen_from(point, -gone);
        let along = seen.nearest_to(OneF64(0), V3([0.0; 3]));
        let apart = -DVec3::from_array(seen.centre(along).0);
        let (normal, length) = self.normal_at(along, apart, apart);
        Foot { along, normal, gap: length - self.radius(along) }
    }

    /// Where it is nearest to, or deepest in, another pill that has gone some way.
    pub(super) fn foot_of_pill(&self, other: &Self, gone: DVec3) -> Foot {
        let [other_pill, own] =
            [(other, gone), (self, DVec3::ZERO)].map(|(pill, gone)| pill.seen_from(self.ends[0], gone));
        let found = nearest(OneF64(0), &other_pill, &own);
        let along = found.along[1];
        let apart = DVec3::from_array((other_pill.centre(found.along[0]) - own.centre(along)).0);
        let (normal, _) = self.normal_at(along, apart, DVec3::from_array(found.direction.0));
        Foot { along, normal, gap: found.gap }
    }

    /// How far a point goes in a direction of length 1 until it meets the pill (m), at most so far; 0 from inside.
    pub(super) fn met_by_point(&self, from: DVec3, direction: DVec3, farthest: f64) -> Option<f64> {
        let start = self.foot(from, DVec3::ZERO);
        if start.gap <= 0.0 {
            return Some(0.0);
        }
        if start.normal.dot(direction) >= 0.0 || start.gap > farthest {
            return None;
        }
        let foot = |gone: f64| self.foot(from, direction * gone);
        let slack = TOLERANCE * self.size();
        match self.entry(from, direction) {
            Entry::Never => None,
            Entry::At(gone) => {
                let gone = gone.max(0.0);
                let met = foot(gone).gap.abs() <= slack + ROUNDING * gone;
                let gone =
                    if met { Some(gone) } else { approach(direction, farthest, slack, foot).map(|(gone, _)| gone) };
                gone.filter(|gone| *gone <= farthest)
            }
            Entry::Unclear => approach(direction, farthest, slack, foot).map(|(gone, _)| gone),
        }
    }

    /// How far another pill goes in a direction of length 1 until it meets this one (m), at most so far, and where; 0 from
    /// inside.
    pub(super) fn met_by_pill(&self, other: &Self, direction: DVec3, farthest: f64) -> Option<(f64, Foot)> {
        let slack = TOLERANCE * self.size().max(other.size());
        approach(direction, farthest, slack, |gone| self.foot_of_pill(other, direction * gone))
    }

    /// Where a line enters it, from a point outside on that comes nearer.
    fn entry(&self, from: DVec3, direction: DVec3) -> Entry {
        let (axis, grows) = (self.ends[1] - self.ends[0], self.radii[1] - self.radii[0]);
        // From where the line is beside the pill, for the digits.
        let beside = (self.centre(0.5) - from).dot(direction);
        let near = self.ends.map(|end| (from - end) + direction * beside);
        let (length2, grows2) = (axis.length_squared(), grows * grows);
        let rest2 = length2 - grows2;
        let mut first = f64::INFINITY;
        for (near, radius) in near.into_iter().zip(self.radii) {
            let ahead = near.dot(direction);
            let half2 = radius * radius - (near - direction * ahead).length_squared();
            if half2 >= 0.0 {
                first = first.min(-ahead - half2.sqrt());
            }
        }
        if rest2 > 0.0 {
            if rest2 < BLUNT * length2 {
                return Entry::Unclear;
            }
            // Of the spheres at c₀ + s·u with radii r₀ + s·ρ, |p − c|² − r² is least at s = ((p − c₀)·u + r₀ρ) / (u² − ρ²), and
            // there |p − c₀|² − r₀² − s²(u² − ρ²): along the line a quadratic.
            let radius = self.radii[0];
            let (at, goes) = (near[0].dot(axis) + radius * grows, direction.dot(axis));
            let square = 1.0 - goes * goes / rest2;
            let half = near[0].dot(direction) - at * goes / rest2;
            let rest = near[0].length_squared() - radius * radius - at * at / rest2;
            let left = half * half - square * rest;
            if left >= 0.0 {
                let sum = -(half + left.sqrt().copysign(half));
                for gone in [sum / square, rest / sum] {
                    let along = (at + gone * goes) / rest2;
                    if (-TOLERANCE..=1.0 + TOLERANCE).contains(&along) {
                        first = first.min(gone);
                    }
                }
            }
        }
        if first.is_finite() { Entry::At(first + beside) } else { Entry::Never }
    }
}

/// Where a line enters a pill.
enum Entry {
    /// After so far (m).
    At(f64),
    Never,
    /// The closed form has too few digits to say.
    Unclear,
}

/// A vector's direction and length, however long it is; of one of no length, or of one that is not finite, none.
pub(super) fn unit(vector: DVec3) -> Option<(DVec3, f64)> {
    let most = vector.abs().max_element();
    let scaled = vector / most;
    let length = scaled.length();
    (most > 0.0 && length.is_finite()).then(|| (scaled / length, most * length))
}

/// How far something goes in a direction until a gap is closed (m), at most so far, and where, within some slack (m): each step
/// as far as would close a gap that goes on narrowing as it does, which is never too far.
fn approach(direction: DVec3, farthest: f64, slack: f64, foot: impl Fn(f64) -> Foot) -> Option<(f64, Foot)> {
    let (mut gone, mut here) = (0.0, foot(0.0));
    let slack = |gone: f64| slack + ROUNDING * gone;
    for _ in 0..STEPS {
        let nears = -here.normal.dot(direction);
        let there = gone + here.gap / nears;
        let arrived = here.gap <= slack(gone) && there - gone <= slack(gone);
        if here.gap <= 0.0 || (nears > 0.0 && arrived) {
            return Some((gone, here));
        }
        if nears <= 0.0 || there > farthest {
            break;
        }
        (gone, here) = (there, foot(there));
    }
    (here.gap <= slack(gone)).then_some((gone, here))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pills of every kind with rays that go by or at them; the closed form says what steps towards the pill come to, and only
    /// of blunt cones it leaves that to them.
    #[test]
    fn the_closed_form_is_where_steps_arrive() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let (mut worst, mut counts) = (0.0_f64, [0; 4]);
        for index in 0..60_000 {
            let mut vector = || DVec3::from_array([0; 3].map(|_| 2.0 * random() - 1.0));
            let (from, axis, beside) = (vector() * 4.0, vector(), vector());
            let sine = match index % 5 {
                0 => 0.0,
                1 => random(),
                2 => 1.0 - 10.0_f64.powf(-12.0 * random()),
                3 => 1.0 + 0.2 * random(),
                _ => -random(),
            };
            let radius = if index % 7 == 0 { 0.0 } else { 0.3 * random() };
            let other = (radius + sine * axis.length()).max(0.0);
            let pill =
                Pill { ends: [DVec3::ZERO, if index % 11 == 0 { DVec3::ZERO } else { axis }], radii: [radius, other] };
            let aim = pill.centre(random()) + beside * (1.5 * radius.max(other));
            let Some((direction, _)) = unit(aim - from) else { continue };
            let start = pill.foot(from, DVec3::ZERO);
            // Lines and points no line meets but by chance.
            let thin = radius.max(other) == 0.0;
            if thin || start.gap <= 0.0 || start.normal.dot(direction) >= 0.0 {
                counts[0] += 1;
                continue;
            }
            let slack = TOLERANCE * pill.size();
            let foot = |gone: f64| pill.foot(from, direction * gone);
            let steps = approach(direction, 100.0, slack, foot);
            let met = pill.met_by_point(from, direction, 100.0);
            match (pill.entry(from, direction), steps) {
                (Entry::At(gone), Some((steps, _))) => {
                    assert!(foot(gone).gap.abs() <= slack, "{pill:?}, from {from} to {direction}");
                    let sine = -foot(gone).normal.dot(direction);
                    worst = worst.max((gone - steps).abs() * sine / pill.size());
                    assert!(met == Some(gone));
                    counts[1] += 1;
                }
                (Entry::Unclear, steps) => {
                    assert_eq!(met, steps.map(|steps| steps.0));
                    counts[2] += 1;
                }
                (Entry::Never, steps) => {
                    // Steps take what passes by within their slack for a hit.
                    let passes = |foot: Foot| foot.gap > -slack && foot.normal.dot(direction).abs() < 1.0e-3;
                    assert!(steps.is_none_or(|(_, foot)| passes(foot)), "{pill:?}, from {from} to {direction}");
                    counts[3] += 1;
                }
                (Entry::At(gone), None) => panic!("{pill:?} is not {gone} m from {from} along {direction}"),
            }
        }
        println!(
            "{} not ahead, {} met, {} blunt, {} passed; off by {worst:.1e} of size (bar 1e-8)",
            counts[0], counts[1], counts[2], counts[3]
        );
        assert!(worst < 1.0e-8 && counts.iter().all(|count| *count > 2000));
    }
}
