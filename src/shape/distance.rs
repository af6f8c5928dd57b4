//! Signed distances in closed form: how far, and the unit direction in which that grows.

use glam::{DVec2, DVec3};

/// From all that is within a radius of a segment.
pub(super) fn from_segment([a, b]: [DVec3; 2], radius: f64, point: DVec3) -> (f64, DVec3) {
    let along = b - a;
    let share = (along.dot(point - a) / along.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    let from = point - (a + along * share);
    let length = from.length();
    let normal =
        if length > 0.0 { from / length } else { along.any_orthogonal_vector().try_normalize().unwrap_or(DVec3::Y) };
    (length - radius, normal)
}

/// From a box about the origin.
pub(super) fn from_cuboid(half: DVec3, point: DVec3) -> (f64, DVec3) {
    let side = DVec3::ONE.copysign(point);
    let beyond = point.abs() - half;
    let outside = beyond.max(DVec3::ZERO);
    let length = outside.length();
    if length > 0.0 {
        return (length, outside / length * side);
    }
    let deep = beyond.max_element();
    let face = (0..3).find(|&k| beyond[k] == deep).unwrap_or(0);
    (deep, DVec3::AXES[face] * side[face])
}

/// From a cylinder along y about the origin: a rectangle of the radius and the height.
pub(super) fn from_cylinder(half_height: f64, radius: f64, point: DVec3) -> (f64, DVec3) {
    let (out, away) = radial(point);
    let [beyond_side, beyond_end] = [out - radius, point.y.abs() - half_height];
    let up = DVec3::Y * 1.0_f64.copysign(point.y);
    match (beyond_side > 0.0, beyond_end > 0.0) {
        (true, true) => {
            let length = beyond_side.hypot(beyond_end);
            (length, (away * beyond_side + up * beyond_end) / length)
        }
        (true, false) => (beyond_side, away),
        (false, true) => (beyond_end, up),
        _ if beyond_side > beyond_end => (beyond_side, away),
        _ => (beyond_end, up),
    }
}

/// From a cone along y about the origin, its apex up: a triangle of the radius and the height.
pub(super) fn from_cone(half_height: f64, radius: f64, point: DVec3) -> (f64, DVec3) {
    let (out, away) = radial(point);
    let here = DVec2::new(out, point.y);
    let (apex, rim) = (DVec2::new(0.0, half_height), DVec2::new(radius, -half_height));
    let flank = apex - rim;
    // Out of the flank, and how far.
    let outward = DVec2::new(flank.y, -flank.x).normalize();
    let (of_flank, of_base) = (outward.dot(here - rim), -half_height - here.y);
    let in_space = |way: DVec2| away * way.x + DVec3::Y * way.y;
    if of_flank <= 0.0 && of_base <= 0.0 {
        return if of_flank > of_base { (of_flank, in_space(outward)) } else { (of_base, DVec3::NEG_Y) };
    }
    let share = flank.dot(here - rim) / flank.length_squared();
    if of_base > 0.0 && out <= radius {
        return (of_base, DVec3::NEG_Y);
    }
    if of_flank > 0.0 && (0.0..=1.0).contains(&share) {
        return (of_flank, in_space(outward));
    }
    let from = here - if share > 1.0 { apex } else { rim };
    let length = from.length();
    if length > 0.0 { (length, in_space(from / length)) } else { (0.0, in_space(outward)) }
}

/// How far a point is from the y axis, and in which direction.
fn radial(point: DVec3) -> (f64, DVec3) {
    let out = point.x.hypot(point.z);
    (out, if out > 0.0 { DVec3::new(point.x / out, 0.0, point.z / out) } else { DVec3::X })
}
