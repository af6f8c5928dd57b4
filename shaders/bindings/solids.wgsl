// Solids as chains touch them: where they go in a substep, and how far a point is from their shapes; the twin of src/cpu/solids.rs,
// src/shape/distance.rs and src/shape/mesh.rs, where all of it is in f64.
//
// A place is told in a solid's frame by two parts, that of the chain's origin and what is left: the first may be large, and what it
// is near to is taken off it before the second, which is small, is added. So distances have the digits of the chain's own places
// however large the solid is.

@group(0) @binding(7) var<storage, read> solids: array<u32>;

// How much deeper than its ends, over the radius, a segment is between them from which on it touches there with all its stiffness.
const DEEPER: f32 = 0.05;

// Slopes of the gap over the length below which a pill lies flat.
const FLAT: f32 = 1.0e-4;

const BISECTIONS: u32 = 12u;

// From how much a slope changes on over the length between two points as near as that are found to be, there is a kink between.
const KINK: f32 = 0.01;

// How a solid goes in a substep.
struct Moving {
    // Where it is at the substep's start: a place of the lattice of origins (m), and how far from there.
    anchor: vec3<f32>,
    offset: vec3<f32>,
    frame: Quaternion,
    // How it turns and goes to where it is at its end.
    turn: Quaternion,
    by: vec3<f32>,
    // How far it goes where it turns about (m), and by how much it turns (rad).
    goes: vec3<f32>,
    turns: vec3<f32>,
    // About where, halfway, from where it is at the start (m).
    about: vec3<f32>,
}

// A place in a solid's frame.
struct Spot {
    far: vec3<f32>,
    near: vec3<f32>,
}

// What of a shape is nearest to a point.
struct Facing {
    // Signed distance (m).
    distance: f32,
    // Out of the solid.
    normal: vec3<f32>,
    // Whether that is this primitive's to say.
    own: bool,
}

fn solid_row_of(solid: u32) -> u32 {
    return params.solid_base + solid * SOLID_ENTRIES;
}

fn number_at(at: u32) -> f32 {
    return bitcast<f32>(solids[at]);
}

fn vector_at(at: u32) -> vec3<f32> {
    return vec3<f32>(number_at(at), number_at(at + 1u), number_at(at + 2u));
}

fn frame_at(at: u32) -> Quaternion {
    return Quaternion(vector_at(at), number_at(at + 3u));
}

// How it goes in this substep.
fn moving_of(row: u32) -> Moving {
    return moving_at(solids[row + SOLID_MOTION] + min(substep_now(), solids[row + SOLID_MOTIONS] - 1u) * MOTION_ENTRIES);
}

// Which of the frame's substeps this is.
fn substep_now() -> u32 {
    return u32(params.alpha * params.frame * params.inv_h + 0.5) - 1u;
}

fn moving_at(at: u32) -> Moving {
    return Moving(
        vector_at(at + MOTION_ANCHOR),
        vector_at(at + MOTION_OFFSET),
        frame_at(at + MOTION_FRAME),
        frame_at(at + MOTION_TURN),
        vector_at(at + MOTION_BY),
        vector_at(at + MOTION_GOES),
        vector_at(at + MOTION_TURNS),
        vector_at(at + MOTION_ABOUT),
    );
}

// A place against a chain's origin (m) in the solid's frame.
fn spot_of(moving: Moving, origin: vec3<f32>, place: vec3<f32>) -> Spot {
    let back = conjugate(moving.frame);
    return Spot(rotate(back, origin - moving.anchor), rotate(back, place - moving.offset));
}

fn whole_spot(spot: Spot) -> vec3<f32> {
    return spot.far + spot.near;
}

// 1 or -1, as a coordinate is.
fn sides_of(v: vec3<f32>) -> vec3<f32> {
    return select(vec3<f32>(1.0), vec3<f32>(-1.0), v < vec3<f32>());
}

// From all that is within a radius of a segment.
fn from_segment(first: vec3<f32>, last: vec3<f32>, radius: f32, spot: Spot) -> Facing {
    let along = last - first;
    let point = (spot.far - first) + spot.near;
    let share = between(dot(along, point) / larger(dot(along, along), MIN_POSITIVE), 0.0, 1.0);
    let out = point - along * share;
    let length2 = dot(out, out);
    if length2 > 0.0 {
        let length = sqrt(length2);
        return Facing(length - radius, out * (1.0 / length), true);
    }
    // On the segment: any direction across it.
    let least = abs(along.x) <= abs(along.y) && abs(along.x) <= abs(along.z);
    let across_it = cross(along, select(vec3<f32>(0.0, 0.0, 1.0), vec3<f32>(1.0, 0.0, 0.0), least));
    let normal = select(vec3<f32>(0.0, 1.0, 0.0), direction(across_it), dot(across_it, across_it) > 0.0);
    return Facing(0.0 - radius, normal, true);
}

// From a box about the origin.
fn from_cuboid(half: vec3<f32>, spot: Spot) -> Facing {
    let side = sides_of(whole_spot(spot));
    let beyond = (spot.far * side - half) + spot.near * side;
    let outside = max(beyond, vec3<f32>());
    let length = sqrt(dot(outside, outside));
    if length > 0.0 {
        return Facing(length, outside * side * (1.0 / length), true);
    }
    if beyond.x >= beyond.y && beyond.x >= beyond.z {
        return Facing(beyond.x, vec3<f32>(side.x, 0.0, 0.0), true);
    }
    if beyond.y >= beyond.z {
        return Facing(beyond.y, vec3<f32>(0.0, side.y, 0.0), true);
    }
    return Facing(beyond.z, vec3<f32>(0.0, 0.0, side.z), true);
}

// How far a point is from the y axis, and in which direction: the last is its length.
fn radial_of(spot: Spot) -> vec4<f32> {
    let point = whole_spot(spot);
    let out = sqrt(point.x * point.x + point.z * point.z);
    if out > 0.0 {
        return vec4<f32>(point.x / out, 0.0, point.z / out, out);
    }
    return vec4<f32>(1.0, 0.0, 0.0, 0.0);
}

// From a cylinder along y about the origin.
fn from_cylinder(half_height: f32, radius: f32, spot: Spot) -> Facing {
    let radial = radial_of(spot);
    let side = sides_of(whole_spot(spot)).y;
    let beyond_side = radial.w - radius;
    let beyond_end = (spot.far.y * side - half_height) + spot.near.y * side;
    let up = vec3<f32>(0.0, side, 0.0);
    if beyond_side > 0.0 && beyond_end > 0.0 {
        let length = sqrt(beyond_side * beyond_side + beyond_end * beyond_end);
        return Facing(length, (radial.xyz * beyond_side + up * beyond_end) * (1.0 / length), true);
    }
    if beyond_side > 0.0 || (beyond_end <= 0.0 && beyond_side > beyond_end) {
        return Facing(beyond_side, radial.xyz, true);
    }
    return Facing(beyond_end, up, true);
}

// From a cone along y about the origin, its apex up.
fn from_cone(half_height: f32, radius: f32, spot: Spot) -> Facing {
    let radial = radial_of(spot);
    // From the rim, and the apex from there.
    let here = vec2<f32>(radial.w - radius, (spot.far.y + half_height) + spot.near.y);
    let flank = vec2<f32>(0.0 - radius, 2.0 * half_height);
    let flank2 = dot(flank, flank);
    let outward = vec2<f32>(flank.y, 0.0 - flank.x) * (1.0 / sqrt(flank2));
    let of_flank = dot(outward, here);
    let of_base = 0.0 - here.y;
    let on_flank = radial.xyz * outward.x + vec3<f32>(0.0, outward.y, 0.0);
    let down = vec3<f32>(0.0, -1.0, 0.0);
    if of_flank <= 0.0 && of_base <= 0.0 {
        if of_flank > of_base {
            return Facing(of_flank, on_flank, true);
        }
        return Facing(of_base, down, true);
    }
    if of_base > 0.0 && here.x <= 0.0 {
        return Facing(of_base, down, true);
    }
    let share = dot(flank, here) / flank2;
    if of_flank > 0.0 && share >= 0.0 && share <= 1.0 {
        return Facing(of_flank, on_flank, true);
    }
    let out = select(here, here - flank, share > 1.0);
    let length = sqrt(dot(out, out));
    if length > 0.0 {
        let way = out * (1.0 / length);
        return Facing(length, radial.xyz * way.x + vec3<f32>(0.0, way.y, 0.0), true);
    }
    return Facing(0.0, on_flank, true);
}

// How far a point is from a primitive of a solid, and in which direction.
fn surface_of(row: u32, primitive: u32, spot: Spot) -> Facing {
    let shape = solids[row + SOLID_SHAPE];
    switch solids[row + SOLID_FORM] {
        case FORM_CUBOID: {
            return from_cuboid(vector_at(shape), spot);
        }
        case FORM_CYLINDER: {
            return from_cylinder(number_at(shape), number_at(shape + 1u), spot);
        }
        case FORM_CONE: {
            return from_cone(number_at(shape), number_at(shape + 1u), spot);
        }
        case FORM_CONVEX: {
            return from_convex(shape, spot);
        }
        case FORM_MESH: {
            return from_triangle(shape, primitive, spot);
        }
        default: {
            return from_segment(vector_at(shape), vector_at(shape + 3u), number_at(shape + 6u), spot);
        }
    }
}

// A segment in a solid's frame.
struct SpotPill {
    first: Spot,
    last: Spot,
    first_radius: f32,
    last_radius: f32,
}

fn spot_along(pill: SpotPill, along: f32) -> Spot {
    return Spot(pill.first.far, pill.first.near + (pill.last.near - pill.first.near) * along);
}

fn radius_along(pill: SpotPill, along: f32) -> f32 {
    return pill.first_radius + (pill.last_radius - pill.first_radius) * along;
}

// Where a pill is deepest between two points on it that are as near as bisections bring them: of each how far along it is, how far
// from what it touches, and how that grows.
fn deepest_between(first: vec3<f32>, last: vec3<f32>, length: f32) -> f32 {
    // Where the tangents of both ends cross: the very place of a kink. Of what is round they do so in the middle, which is not to be
    // had of distances as they are rounded.
    let middle = 0.5 * (first.x + last.x);
    if last.z - first.z < KINK * length {
        return middle;
    }
    let crossing = (first.y - last.y + last.z * last.x - first.z * first.x) / (last.z - first.z);
    return select(middle, crossing, crossing >= first.x && crossing <= last.x);
}
