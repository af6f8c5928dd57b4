//! Pill against pill in closed form, against a search in f64.

mod common;

use common::Random;
use glam::DVec3;
use sinew::cpu::lanes::{OneF32, OneF64};
use sinew::cpu::math::V3;
use sinew::cpu::pills::{Pill, nearest, points};

/// A pill's ends and radii.
type Spheres = ([DVec3; 2], [f64; 2]);

/// What D(s, t) is at the least, by golden sections in both.
fn search(a: &Spheres, b: &Spheres) -> f64 {
    let at = |of: &Spheres, along: f64| (of.0[0].lerp(of.0[1], along), of.1[0] + (of.1[1] - of.1[0]) * along);
    let gap = |s: f64, t: f64| {
        let ((p, r), (q, w)) = (at(a, s), at(b, t));
        p.distance(q) - r - w
    };
    golden(|s| golden(|t| gap(s, t)))
}

/// The least of a convex function between 0 and 1.
fn golden(of: impl Fn(f64) -> f64) -> f64 {
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut x, mut y) = (1.0 - ratio, ratio);
    let (mut at_x, mut at_y) = (of(x), of(y));
    for _ in 0..36 {
        if at_x < at_y {
            (high, y, at_y) = (y, x, at_x);
            x = high - ratio * (high - low);
            at_x = of(x);
        } else {
            (low, x, at_x) = (x, y, at_y);
            y = low + ratio * (high - low);
            at_y = of(y);
        }
    }
    at_x.min(at_y).min(of(0.0)).min(of(1.0))
}

/// A pair of pills of any size between a millimetre and ten metres; every other one is degenerate in one way.
fn pair(random: &mut Random, index: usize) -> (Spheres, Spheres) {
    let size = 10.0_f64.powf(random.uniform(-3.0, 1.0));
    let pill = |random: &mut Random| -> Spheres {
        let from = random.vector(-1.0, 1.0) * size;
        let to = from + random.vector(-1.0, 1.0) * size;
        ([from, to], [random.uniform(0.01, 0.5) * size, random.uniform(0.01, 0.5) * size])
    };
    let (mut a, mut b) = (pill(random), pill(random));
    match index % 22 {
        // Spheres.
        1 => a.0[1] = a.0[0],
        3 => (a.0[1], b.0[1]) = (a.0[0], b.0[0]),
        // A cone's tip, and one end in the other.
        5 => a.1[0] = 0.0,
        7 => a.1[1] = a.1[0] + 1.5 * a.0[0].distance(a.0[1]),
        // Along each other, and on one line.
        9 => b.0[1] = b.0[0] + (a.0[1] - a.0[0]) * random.uniform(-2.0, 2.0),
        11 => (b.0[0], b.0[1]) = (a.0[0].lerp(a.0[1], 0.3), a.0[0].lerp(a.0[1], 1.8)),
        // The same, or the same the other way round.
        13 => b = a,
        15 => b = ([a.0[1], a.0[0]], [a.1[1], a.1[0]]),
        // Axes that cross.
        17 => {
            let (middle, half) = (a.0[0].lerp(a.0[1], 0.4), random.vector(-1.0, 1.0) * size);
            b.0 = [middle - half, middle + half];
        }
        // Cylinders.
        19 => (a.1[1], b.1[1]) = (a.1[0], b.1[0]),
        // Nearly along each other.
        21 => b.0[1] = b.0[0] + (a.0[1] - a.0[0]) + random.vector(-1.0e-4, 1.0e-4) * size,
        _ => {}
    }
    (a, b)
}

fn in_f32((ends, radii): &Spheres) -> Pill<f32> {
    Pill { ends: ends.map(|end| V3(end.as_vec3().to_array())), radii: radii.map(|radius| radius as f32) }
}

#[test]
fn the_deepest_spheres_are_those_that_a_search_finds() {
    let mut random = Random(21);
    let (mut worst, mut worst_points, mut pairs) = (0.0_f64, 0.0_f64, 0);
    for index in 0..100_000 {
        let (a, b) = pair(&mut random, index);
        let (p, q) = (in_f32(&a), in_f32(&b));
        // As f32 has them.
        let back = |pill: &Pill<f32>| -> Spheres {
            (pill.ends.map(|end| DVec3::from_array(end.0.map(f64::from))), pill.radii.map(f64::from))
        };
        let (a, b) = (back(&p), back(&q));
        let found = nearest(OneF32(0), &p, &q);
        let lengths = [&a, &b].map(|of| of.0[0].distance(of.0[1]).max(of.1[0]).max(of.1[1]));
        let size = lengths[0].max(lengths[1]).max(a.0[0].distance(b.0[0]));
        worst = worst.max((f64::from(found.gap) - search(&a, &b)).abs() / size);
        // Where it says they are that deep they are.
        let [s, t] = found.along.map(f64::from);
        assert!((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t));
        let apart = a.0[0].lerp(a.0[1], s) - b.0[0].lerp(b.0[1], t);
        let radii = a.1[0] + (a.1[1] - a.1[0]) * s + b.1[0] + (b.1[1] - b.1[0]) * t;
        worst_points = worst_points.max((apart.length() - radii - f64::from(found.gap)).abs() / size);
        let direction = DVec3::from_array(found.direction.0.map(f64::from));
        assert!((direction.length() - 1.0).abs() < 1.0e-5, "{direction} in case {}", index % 22);
        worst_points = worst_points.max((direction * apart.length() - apart).length() / size);
        pairs += 1;
    }
    println!("{pairs} pairs: depth off by {worst:.1e} of size, witnesses by {worst_points:.1e} (bar 1e-4)");
    assert!(worst <= 1.0e-4 && worst_points <= 1.0e-4);
}

/// Shares are of the whole, points are on the pills, and none of them jumps as one pill turns past the other.
#[test]
fn points_of_contact_do_not_hop() {
    let lanes = OneF64(0);
    let pill = |from: DVec3, to: DVec3, radii: [f64; 2]| Pill { ends: [V3(from.to_array()), V3(to.to_array())], radii };
    let a = pill(DVec3::ZERO, DVec3::X, [0.1, 0.12]);
    let mut worst = 0.0_f64;
    let step = 1.0e-4;
    for slope in [0.0, 0.02, -0.05] {
        let mut before: Option<(DVec3, f64)> = None;
        for k in 0..20_000 {
            let angle = -1.0 + step * f64::from(k);
            let way = DVec3::new(angle.cos(), slope * angle, angle.sin()).normalize() * 0.45;
            let b = pill(DVec3::new(0.5, 0.19, 0.02) - way, DVec3::new(0.5, 0.19, 0.02) + way, [0.1, 0.09]);
            let both = points(lanes, &a, &b);
            assert!((both[0].share + both[1].share - 1.0).abs() < 1.0e-12);
            // The couple and the force of penalties that are as stiff as their shares.
            let moments = both.map(|point| {
                let depth = (-point.nearest.gap).max(0.0) * point.share;
                let at = DVec3::from_array(a.centre(point.nearest.along[0]).0);
                (at.cross(DVec3::from_array(point.nearest.direction.0)) * depth, depth)
            });
            let now = (moments[0].0 + moments[1].0, moments[0].1 + moments[1].1);
            if let Some(before) = before {
                worst = worst.max(((now.0 - before.0).length() + (now.1 - before.1).abs()) / step);
            }
            before = Some(now);
        }
    }
    println!("as a pill turns by 1 rad, depth and its moment change by {worst:.2} m at most (bar 1)");
    assert!(worst <= 1.0);
}
