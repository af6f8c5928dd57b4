// Narrow phase: where two pills are deepest in each other, and the one or two points at which they then touch; the twin of
// src/cpu/pills.rs, which says why.

// A pill: all spheres between two.
struct Pill {
    // Centres of its first and last sphere (m), from an origin that both pills share.
    first: vec3<f32>,
    last: vec3<f32>,
    // Their radii (m).
    radii: vec2<f32>,
}

// Where two pills are nearest, or deepest.
struct Nearest {
    // Where on each pill, 0 at its first sphere, 1 at its last.
    along: vec2<f32>,
    // Unit direction from the second pill to the first.
    direction: vec3<f32>,
    // The gap there (m), negative inside.
    gap: f32,
}

// A point at which pills touch, and which share of the contact it has.
struct PillPoint {
    nearest: Nearest,
    // Of both points together 1.
    share: f32,
    // How far the pills lie along each other: 1 where they are parallel, 0 where they cross.
    flat: f32,
}

// The sine of the angle between surfaces from which on pills do not touch along all that lies beside each other.
const CROSSED: f32 = 0.2;

// That from which on they touch at a single point.
const ROCKS: f32 = 0.35;

// By how much less deep than the deepest, over the smaller radius, what bears with it may be.
const LEVEL: f32 = 0.02;

// How far pills lie along each other from where on points go as far as the gap is level.
const ALONGSIDE: f32 = 0.25;

fn pill_centre(pill: Pill, along: f32) -> vec3<f32> {
    return pill.first + (pill.last - pill.first) * along;
}

fn pill_radius(pill: Pill, along: f32) -> f32 {
    return pill.radii.x + (pill.radii.y - pill.radii.x) * along;
}

// Where on a pill the sphere is that is nearest to a point: where the line to it leaves the pill's cone squarely.
fn nearest_to(pill: Pill, point: vec3<f32>) -> f32 {
    let axis = pill.last - pill.first;
    let grows = pill.radii.y - pill.radii.x;
    let from_first = point - pill.first;
    let length2 = dot(axis, axis);
    let along = dot(from_first, axis) / larger(length2, MIN_POSITIVE);
    let aside = from_first - axis * along;
    // Of a cone whose spheres lie inside each other the larger end is all there is.
    let rest2 = length2 - grows * grows;
    let lean = grows * sqrt(dot(aside, aside) / (larger(rest2, MIN_POSITIVE) * larger(length2, MIN_POSITIVE)));
    let end = where_less(0.0, grows, 1.0, 0.0);
    return where_less(0.0, rest2, between(along + lean, 0.0, 1.0), end);
}

// Of two pills at given places.
fn nearest_at(a: Pill, b: Pill, along: vec2<f32>, fallback: vec3<f32>) -> Nearest {
    let apart = pill_centre(a, along.x) - pill_centre(b, along.y);
    let length = sqrt(dot(apart, apart));
    // Too near to have one.
    let way = select(fallback, direction(apart), 1.0e-12 < length);
    return Nearest(along, way, length - (pill_radius(a, along.x) + pill_radius(b, along.y)));
}

// A unit vector across both axes, or, where these are one line, across it.
fn across_axes(u: vec3<f32>, v: vec3<f32>) -> vec3<f32> {
    let both = cross(u, v);
    let any = u + v;
    let size = abs(any);
    let axis = vec3<f32>(where_less(size.x, size.y, 1.0, 0.0), where_less(size.x, size.y, 0.0, 1.0), 0.0);
    let one_line = cross(any, axis);
    let tiny = 1.0e-24;
    let least2 = dot(u, u) * dot(v, v) * 1.0e-8;
    let line = select(vec3<f32>(0.0, 1.0, 0.0), one_line, 0.0 < dot(one_line, one_line) - tiny);
    return direction(select(line, both, 0.0 < dot(both, both) - larger(least2, tiny)));
}

// The one of both whose gap is less, the first where neither is.
fn deeper(best: Nearest, other: Nearest) -> Nearest {
    let is_deeper = other.gap < best.gap;
    return Nearest(
        select(best.along, other.along, is_deeper),
        select(best.direction, other.direction, is_deeper),
        select(best.gap, other.gap, is_deeper),
    );
}

// Where two pills are nearest, or deepest.
fn nearest_of(a: Pill, b: Pill) -> Nearest {
    let u = a.last - a.first;
    let v = b.last - b.first;
    let grows_a = a.radii.y - a.radii.x;
    let grows_b = b.radii.y - b.radii.x;
    let fallback = across_axes(u, v);

    var best = nearest_at(a, b, vec2<f32>(0.0, nearest_to(b, a.first)), fallback);
    best = deeper(best, nearest_at(a, b, vec2<f32>(1.0, nearest_to(b, a.last)), fallback));
    best = deeper(best, nearest_at(a, b, vec2<f32>(nearest_to(a, b.first), 0.0), fallback));
    best = deeper(best, nearest_at(a, b, vec2<f32>(nearest_to(a, b.last), 1.0), fallback));

    // Inside: n = αu + βv + γ·u × v, then λn = w₀ + s·u − t·v for the distance λ.
    let uu = dot(u, u);
    let uv = dot(u, v);
    let vv = dot(v, v);
    let normal = cross(u, v);
    // |u × v|² is uu·vv − uv², without its cancellation.
    let square = dot(normal, normal);
    let inv = 1.0 / larger(square, MIN_POSITIVE);
    let alpha = (grows_a * vv + grows_b * uv) * inv;
    let beta = -((grows_b * uu + grows_a * uv) * inv);
    let in_plane = u * alpha + v * beta;
    let left = 1.0 - dot(in_plane, in_plane);
    let start = a.first - b.first;
    let height = dot(start, normal);
    // λγ|u × v|² is the height.
    let far = sqrt(height * height / (larger(square, MIN_POSITIVE) * larger(left, MIN_POSITIVE)));
    let p = far * grows_a - dot(start, u);
    let q = far * grows_b + dot(start, v);
    let inside = vec2<f32>(between((p * vv + q * uv) * inv, 0.0, 1.0), between((q * uu + p * uv) * inv, 0.0, 1.0));
    var crossing = nearest_at(a, b, inside, fallback);
    // Of axes along each other the edges are all there is.
    let is_crossing = 1.0e-6 < left && larger(uu * vv * 1.0e-8, MIN_POSITIVE) < square;
    return select_nearest(best, deeper(best, crossing), is_crossing);
}

fn select_nearest(a: Nearest, b: Nearest, second: bool) -> Nearest {
    return Nearest(
        select(a.along, b.along, second),
        select(a.direction, b.direction, second),
        select(a.gap, b.gap, second),
    );
}

// The points at which two pills touch: where they are nearest; or, the more they lie along each other, towards the two ends of
// what of the first lies beside the second, so that the force does not hop from one end to the other as they rock.
fn points_of(a: Pill, b: Pill) -> array<PillPoint, 2> {
    let deepest = nearest_of(a, b);
    let along_a = a.last - a.first;
    let along_b = b.last - b.first;
    // What of the axes goes along the surfaces, and how the gap grows along each.
    let leans = vec2<f32>(dot(deepest.direction, along_a), dot(deepest.direction, along_b));
    let u = along_a - deepest.direction * leans.x;
    let v = along_b - deepest.direction * leans.y;
    let slopes = vec2<f32>(leans.x - (a.radii.y - a.radii.x), leans.y + (b.radii.y - b.radii.x));
    let uu = dot(u, u);
    let vv = dot(v, v);
    let normal = cross(u, v);
    // By s²·sin²/2d the gap grows along them, d from axis to axis: it is the smaller radius that this is little or much to. By a slope
    // it grows however thick they are. Of what leads straight into the other nothing lies along it.
    let radii = vec2<f32>(pill_radius(a, deepest.along.x), pill_radius(b, deepest.along.y));
    let thinness = smaller(radii.x, radii.y) * 2.0 / larger(radii.x + radii.y, MIN_POSITIVE);
    let crosses2 = dot(normal, normal) / larger(uu * vv, MIN_POSITIVE) * thinness;
    let leads2 = slopes.x * slopes.x / larger(uu, MIN_POSITIVE) + slopes.y * slopes.y / larger(vv, MIN_POSITIVE);
    let off2 = where_less(0.0, uu * vv, crosses2 + leads2, 1.0);
    let along = lie_along(off2 * (1.0 / (CROSSED * CROSSED)));
    let bears = lie_along(off2 * (1.0 / (ROCKS * ROCKS)));

    let first = between(dot(b.first - a.first, u) / larger(uu, MIN_POSITIVE), 0.0, 1.0);
    let last = between(dot(b.last - a.first, u) / larger(uu, MIN_POSITIVE), 0.0, 1.0);
    let share = where_less(0.0, bears, 0.5, 1.0);
    let level = smaller(radii.x, radii.y) * LEVEL;
    return array<PillPoint, 2>(
        point_towards(a, b, deepest, first, share, vec2<f32>(along, bears), level),
        point_towards(a, b, deepest, last, 1.0 - share, vec2<f32>(along, bears), level),
    );
}

// How far pills lie along each other, given how far off that they are.
fn lie_along(off: f32) -> f32 {
    let left = 1.0 - smaller(off, 1.0);
    return left * left;
}

// The point towards an end of what of the first pill bears.
fn point_towards(a: Pill, b: Pill, deepest: Nearest, end: f32, share: f32, lies: vec2<f32>, level: f32) -> PillPoint {
    // The gap rises with the square of how far it is from the deepest.
    let rise = larger(onto(a, b, end, deepest.direction).gap - deepest.gap, level);
    let alongside = smaller(lies.y * (1.0 / ALONGSIDE), 1.0);
    let reach = larger(lies.x, sqrt(level / larger(rise, MIN_POSITIVE)) * alongside);
    let there = onto(a, b, deepest.along.x + (end - deepest.along.x) * reach, deepest.direction);
    return PillPoint(select_nearest(deepest, there, 0.0 < lies.y), share, lies.x);
}

// A place on the first pill and what of the second is nearest to it.
fn onto(a: Pill, b: Pill, on_a: f32, fallback: vec3<f32>) -> Nearest {
    return nearest_at(a, b, vec2<f32>(on_a, nearest_to(b, pill_centre(a, on_a))), fallback);
}
