//! Curves of motion, from the four operations alone.

use glam::{Quat, Vec3};

/// Sine of a full turn times `turns`: the Taylor series on a quarter turn.
pub fn wave(turns: f32) -> f32 {
    let t = f64::from(turns - turns.floor());
    let (t, sign) = if t < 0.5 { (t, 1.0) } else { (t - 0.5, -1.0) };
    let t = if t > 0.25 { 0.5 - t } else { t };
    let x = t * std::f64::consts::TAU;
    let (mut term, mut sum) = (x, x);
    for n in 1..10 {
        term *= -x * x / f64::from((2 * n) * (2 * n + 1));
        sum += term;
    }
    (sign * sum) as f32
}

/// From 0 at `start` to 1 at `end` (s), without a jump of velocity.
pub fn ease(t: f32, start: f32, end: f32) -> f32 {
    let x = ((t - start) / (end - start)).clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// From value to value at the times (s) of `keys`, without a jump of velocity.
pub fn through(t: f32, keys: &[(f32, f32)]) -> f32 {
    let steps = keys.windows(2).map(|pair| (pair[1].1 - pair[0].1) * ease(t, pair[0].0, pair[1].0));
    keys[0].1 + steps.sum::<f32>()
}

/// The turn by `degrees` about a unit `axis`.
pub fn turn(axis: Vec3, degrees: f32) -> Quat {
    let half = degrees / 720.0;
    let v = axis * wave(half);
    Quat::from_xyzw(v.x, v.y, v.z, wave(half + 0.25))
}

/// First `b`, then `a`. Written out because glam's own product rounds differently with and without SIMD.
pub fn after(a: Quat, b: Quat) -> Quat {
    let (u, v) = (Vec3::new(a.x, a.y, a.z), Vec3::new(b.x, b.y, b.z));
    let w = v * a.w + u * b.w + u.cross(v);
    Quat::from_xyzw(w.x, w.y, w.z, a.w * b.w - u.dot(v))
}
