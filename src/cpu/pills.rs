//! Narrow phase: where two pills are deepest in each other, VIPER (29)–(30) in closed form, and the one or two points at which
//! they then touch.
//!
//! A pill is all spheres between two, c(s) = c₀ + s·u and r(s) = r₀ + s·ρ, 0 ≤ s ≤ 1. The gap between two pills' spheres,
//! D(s, t) = |c_a(s) − c_b(t)| − r_a(s) − r_b(t), is convex. Where it is least inside, the direction n between the centres has
//! n·u_a = ρ_a and n·u_b = −ρ_b, which leave two unit vectors, mirrored at the plane of the axes; the side decides. Else it is
//! least on an edge: a sphere at a pill's end against the other pill. All five are tried by what they come to.
//!
//! How level the gap is around there says what goes along the surfaces, u and v less what of them goes along n: D's second
//! derivatives are those of the distance alone, and what is left of them along the valley is |u|²sin²φ/d with the angle φ between
//! those two. Cones that lie along each other have axes that do not.

use super::lanes::{Lane, Lanes, each};
use super::math::V3;

/// A pill: all spheres between two.
#[derive(Clone, Copy)]
pub struct Pill<V> {
    /// Centres of its first and last sphere (m), from an origin that both pills share.
    pub ends: [V3<V>; 2],
    /// Their radii (m).
    pub radii: [V; 2],
}

/// Where two pills are nearest, or deepest.
#[derive(Clone, Copy)]
pub struct Nearest<V> {
    /// Where on each pill, 0 at its first sphere, 1 at its last.
    pub along: [V; 2],
    /// Unit direction from the second pill to the first.
    pub direction: V3<V>,
    /// The gap there (m), negative inside.
    pub gap: V,
}

/// A point at which pills touch, and which share of the contact it has.
#[derive(Clone, Copy)]
pub struct Point<V> {
    /// Where.
    pub nearest: Nearest<V>,
    /// Of both points together 1.
    pub share: V,
    /// How far the pills lie along each other: 1 where they are parallel, 0 where they cross.
    pub flat: V,
}

/// The sine of the angle between surfaces from which on pills of one radius do not touch along all that lies beside each other.
pub const CROSSED: f32 = 0.2;

/// That from which on they touch at a single point; up to there, as far as the gap is level. Where the axes are d apart a single
/// point goes d/sin²φ along them for each radian that they tilt against each other, of which no matrix knows: what presses with n
/// times its weight so rocks from substep to substep once n·12·g·d·h²/(l·sin φ)² is about 2, which of pills 4 cm thick and 12 cm
/// long at 1/120 s and n = 10 is at 0.3.
pub const ROCKS: f32 = 0.35;

/// By how much less deep than the deepest, over the smaller radius, what bears with it may be.
pub const LEVEL: f32 = 0.02;

/// How far pills lie along each other from where on points go as far as the gap is level.
pub const ALONGSIDE: f32 = 0.25;

impl<V: Lane> Pill<V> {
    /// The centre of a sphere of it.
    #[inline(always)]
    pub fn centre(&self, along: V) -> V3<V> {
        self.ends[0] + (self.ends[1] - self.ends[0]) * along
    }

    /// The radius of a sphere of it.
    #[inline(always)]
    pub fn radius(&self, along: V) -> V {
        self.radii[0] + (self.radii[1] - self.radii[0]) * along
    }

    /// Where on it the sphere is that is nearest to a point: where the line to it leaves the pill's cone squarely.
    #[inline(always)]
    pub fn nearest_to<L: Lanes<V = V>>(&self, lanes: L, point: V3<V>) -> V {
        let (zero, one, least) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(f32::MIN_POSITIVE));
        let axis = self.ends[1] - self.ends[0];
        let grows = self.radii[1] - self.radii[0];
        let from = point - self.ends[0];
        let length2 = axis.dot(axis);
        let along = from.dot(axis) / length2.max(least);
        let aside = from - axis * along;
        // Of a cone whose spheres lie inside each other the larger end is all there is.
        let rest2 = length2 - grows * grows;
        let lean = grows * (aside.dot(aside) / (rest2.max(least) * length2.max(least))).sqrt();
        let end = zero.where_less(grows, one, zero);
        zero.where_less(rest2, (along + lean).clamp(zero, one), end)
    }
}

/// Of two pills at given places.
#[inline(always)]
fn at<L: Lanes>(lanes: L, [a, b]: [&Pill<L::V>; 2], along: [L::V; 2], fallback: V3<L::V>) -> Nearest<L::V> {
    let apart = a.centre(along[0]) - b.centre(along[1]);
    let length = apart.dot(apart).sqrt();
    let direction = apart.direction(lanes);
    // Too near to have one.
    let direction = over(lanes.splat(1.0e-12), length, direction, fallback);
    Nearest { along, direction, gap: length - (a.radius(along[0]) + b.radius(along[1])) }
}

/// A unit vector across both axes, or, where these are one line, across it.
#[inline(always)]
fn across<L: Lanes>(lanes: L, u: V3<L::V>, v: V3<L::V>) -> V3<L::V> {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let both = u.cross(v);
    let any = u + v;
    let [x, y] = each!(k in 0..2 => any.0[k].max(zero - any.0[k]));
    let axis = V3([x.where_less(y, one, zero), x.where_less(y, zero, one), zero]);
    let one_line = any.cross(axis);
    let up = V3([zero, one, zero]);
    let tiny = lanes.splat(1.0e-24);
    let least2 = u.dot(u) * v.dot(v) * lanes.splat(1.0e-8);
    let line = over(zero, one_line.dot(one_line) - tiny, one_line, up);
    over(zero, both.dot(both) - least2.max(tiny), both, line).direction(lanes)
}

/// A vector where `value` is over a limit, else another.
#[inline(always)]
fn over<V: Lane>(limit: V, value: V, a: V3<V>, b: V3<V>) -> V3<V> {
    V3(each!(k in 0..3 => limit.where_less(value, a.0[k], b.0[k])))
}

impl<V: Lane> Nearest<V> {
    /// Itself where `value` is over a limit, else another.
    #[inline(always)]
    fn where_over(self, limit: V, value: V, other: Self) -> Self {
        Self {
            along: each!(k in 0..2 => limit.where_less(value, self.along[k], other.along[k])),
            direction: over(limit, value, self.direction, other.direction),
            gap: limit.where_less(value, self.gap, other.gap),
        }
    }

    /// The deeper one.
    #[inline(always)]
    fn or_deeper(self, other: Self) -> Self {
        other.where_over(other.gap, self.gap, self)
    }
}

/// Where two pills are nearest, or deepest.
#[inline(always)]
pub fn nearest<L: Lanes>(lanes: L, a: &Pill<L::V>, b: &Pill<L::V>) -> Nearest<L::V> {
    let (zero, one, least) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(f32::MIN_POSITIVE));
    let (u, v) = (a.ends[1] - a.ends[0], b.ends[1] - b.ends[0]);
    let (grows_a, grows_b) = (a.radii[1] - a.radii[0], b.radii[1] - b.radii[0]);
    let fallback = across(lanes, u, v);
    let pills = [a, b];

    let begins = at(lanes, pills, [zero, b.nearest_to(lanes, a.ends[0])], fallback);
    let ends = at(lanes, pills, [one, b.nearest_to(lanes, a.ends[1])], fallback);
    let other_begins = at(lanes, pills, [a.nearest_to(lanes, b.ends[0]), zero], fallback);
    let other_ends = at(lanes, pills, [a.nearest_to(lanes, b.ends[1]), one], fallback);
    let on_edge = begins.or_deeper(ends).or_deeper(other_begins).or_deeper(other_ends);

    // Inside: n = αu + βv + γ·u × v, then λn = w₀ + s·u − t·v for the distance λ.
    let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
    let normal = u.cross(v);
    // |u × v|² is uu·vv − uv², without its cancellation.
    let square = normal.dot(normal);
    let inv = one / square.max(least);
    let alpha = (grows_a * vv + grows_b * uv) * inv;
    let beta = -((grows_b * uu + grows_a * uv) * inv);
    let in_plane = u * alpha + v * beta;
    let left = one - in_plane.dot(in_plane);
    let start = a.ends[0] - b.ends[0];
    let height = start.dot(normal);
    // λγ|u × v|² is the height.
    let distance = (height * height / (square.max(least) * left.max(least))).sqrt();
    let (p, q) = (distance * grows_a - start.dot(u), distance * grows_b + start.dot(v));
    let inside = [((p * vv + q * uv) * inv).clamp(zero, one), ((q * uu + p * uv) * inv).clamp(zero, one)];
    let crossing = at(lanes, pills, inside, fallback);
    let valid = lanes.splat(1.0e-6).where_less(left, one, zero);
    // Of axes along each other the edges are all there is.
    let valid = (uu * vv * lanes.splat(1.0e-8)).max(least).where_less(square, valid, zero);
    let gap = lanes.splat(0.5).where_less(valid, crossing.gap, lanes.splat(f32::MAX));
    on_edge.or_deeper(Nearest { gap, ..crossing })
}

/// How far pills lie along each other, 1 to 0, given how far off that they are.
#[inline(always)]
fn lie_along<L: Lanes>(lanes: L, off: L::V) -> L::V {
    let left = lanes.splat(1.0) - off.min(lanes.splat(1.0));
    left * left
}

/// A place on the first pill and what of the second is nearest to it.
#[inline(always)]
fn onto<L: Lanes>(lanes: L, [a, b]: [&Pill<L::V>; 2], on_a: L::V, fallback: V3<L::V>) -> Nearest<L::V> {
    at(lanes, [a, b], [on_a, b.nearest_to(lanes, a.centre(on_a))], fallback)
}

/// The points at which two pills touch: where they are nearest; or, the more they lie along each other, towards the two ends of
/// what of the first lies beside the second, so that the force does not hop from one end to the other as they rock. As far as the
/// gap is level they go all the way.
#[inline(always)]
pub fn points<L: Lanes>(lanes: L, a: &Pill<L::V>, b: &Pill<L::V>) -> [Point<L::V>; 2] {
    let deepest = nearest(lanes, a, b);
    points_around(lanes, [a, b], deepest, &alignment(lanes, a, b, &deepest))
}

/// How pills are aligned where they are nearest.
#[derive(Clone, Copy)]
pub struct Alignment<V> {
    /// What goes along the surface there, of the first pill's axis (m).
    way: V3<V>,
    /// See [`Point::flat`].
    along: V,
    /// As that, up to where pills touch at a single point: 0 from there.
    pub bears: V,
    /// The smaller radius there (m).
    radius: V,
}

/// How pills are aligned that are nearest somewhere. The shader, which asks for it nowhere else, has it within `points_of`.
#[inline(always)]
pub fn alignment<L: Lanes>(lanes: L, a: &Pill<L::V>, b: &Pill<L::V>, deepest: &Nearest<L::V>) -> Alignment<L::V> {
    let (zero, one, least) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(f32::MIN_POSITIVE));
    let (along_a, along_b) = (a.ends[1] - a.ends[0], b.ends[1] - b.ends[0]);
    // What of the axes goes along the surfaces, and how the gap grows along each.
    let [leans_a, leans_b] = [deepest.direction.dot(along_a), deepest.direction.dot(along_b)];
    let (u, v) = (along_a - deepest.direction * leans_a, along_b - deepest.direction * leans_b);
    let slopes = [leans_a - (a.radii[1] - a.radii[0]), leans_b + (b.radii[1] - b.radii[0])];
    let (uu, vv, normal) = (u.dot(u), v.dot(v), u.cross(v));
    // By s²·sin²/2d the gap grows along them, d from axis to axis: it is the smaller radius that this is little or much to. By a slope
    // it grows however thick they are. Of what leads straight into the other nothing lies along it.
    let radii = [a.radius(deepest.along[0]), b.radius(deepest.along[1])];
    let thinness = radii[0].min(radii[1]) * lanes.splat(2.0) / (radii[0] + radii[1]).max(least);
    let crosses2 = normal.dot(normal) / (uu * vv).max(least) * thinness;
    let leads2 = slopes[0] * slopes[0] / uu.max(least) + slopes[1] * slopes[1] / vv.max(least);
    let off2 = zero.where_less(uu * vv, crosses2 + leads2, one);
    let along = lie_along(lanes, off2 * lanes.splat(1.0 / (CROSSED * CROSSED)));
    let bears = lie_along(lanes, off2 * lanes.splat(1.0 / (ROCKS * ROCKS)));
    Alignment { way: u, along, bears, radius: radii[0].min(radii[1]) }
}

/// As [`points`], of pills that are nearest somewhere and aligned so.
#[inline(always)]
pub fn points_around<L: Lanes>(
    lanes: L,
    [a, b]: [&Pill<L::V>; 2],
    deepest: Nearest<L::V>,
    aligned: &Alignment<L::V>,
) -> [Point<L::V>; 2] {
    let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
    let least = lanes.splat(f32::MIN_POSITIVE);
    let Alignment { way: u, along, bears, radius } = *aligned;
    let uu = u.dot(u);
    let ends = each!(k in 0..2 => ((b.ends[k] - a.ends[0]).dot(u) / uu.max(least)).clamp(zero, one));
    let deep = deepest.along[0];
    let crossed = zero.where_less(bears, zero, one);
    let share = half.where_less(crossed, one, half);
    let shares = [share, one - share];
    let level = radius * lanes.splat(LEVEL);
    let alongside = (bears * lanes.splat(1.0 / ALONGSIDE)).min(one);
    each!(k in 0..2 => {
        // The gap rises with the square of how far it is from the deepest.
        let rise = (onto(lanes, [a, b], ends[k], deepest.direction).gap - deepest.gap).max(level);
        let reach = along.max((level / rise.max(least)).sqrt() * alongside);
        let on_a = deep + (ends[k] - deep) * reach;
        let there = onto(lanes, [a, b], on_a, deepest.direction);
        Point { nearest: deepest.where_over(half, crossed, there), share: shares[k], flat: along }
    })
}
