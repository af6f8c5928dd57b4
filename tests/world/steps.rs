//! Fixed steps for varying frames, and vertices in between.

use glam::Vec3;
use sinew::{FixedStep, SkinnedVertices};

#[test]
fn fixed_steps_add_up() {
    let mut clock = FixedStep::new(1.0 / 60.0);
    // A display at 144 Hz: in 10 s, 600 steps but for rounding, never two at once.
    let mut steps = 0;
    let mut most = 0;
    for _ in 0..1440 {
        let now = clock.advance(1.0 / 144.0);
        steps += now;
        most = most.max(now);
        assert!((0.0..1.0).contains(&clock.alpha()));
    }
    println!("144 Hz for 10 s: {steps} steps of 1/60 s, at most {most} a frame, {:.3} of one left", clock.alpha());
    assert!((599..=600).contains(&steps) && most == 1);

    let mut clock = FixedStep::new(0.25);
    assert_eq!((clock.advance(0.125), clock.alpha()), (0, 0.5));
    assert_eq!((clock.advance(0.1875), clock.alpha()), (1, 0.25));
    assert_eq!((clock.advance(0.75), clock.alpha()), (3, 0.25));
    // A hitch of 10 s: four steps, the rest is dropped, the fraction is kept.
    assert_eq!((clock.advance(10.0), clock.alpha()), (4, 0.25));
    assert_eq!((clock.advance(0.25), clock.alpha()), (1, 0.25));
    clock.max_steps = 1;
    assert_eq!((clock.advance(0.5), clock.alpha()), (1, 0.25));
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        assert_eq!((clock.advance(bad), clock.alpha()), (0, 0.25), "a frame of {bad} s");
    }
}

#[test]
fn vertices_lie_between_two_steps() {
    let tangents = |first: Vec3| vec![first.extend(-1.0), Vec3::X.extend(1.0)];
    let (positions, normals) = (vec![Vec3::ZERO, Vec3::X], vec![Vec3::X, Vec3::Y]);
    let last = SkinnedVertices { positions, normals, tangents: tangents(Vec3::Y), step: 4 };
    let (positions, normals) = (vec![Vec3::Y, Vec3::X * 3.0], vec![Vec3::Y, Vec3::Y]);
    let now = SkinnedVertices { positions, normals, tangents: tangents(Vec3::X), step: 5 };
    let mut out = SkinnedVertices::default();
    now.interpolated(&last, 0.25, &mut out);
    assert_eq!(out.positions, [Vec3::Y * 0.25, Vec3::X * 1.5]);
    assert!(out.normals[0].distance(Vec3::new(3.0, 1.0, 0.0).normalize()) < 1.0e-6 && out.normals[1] == Vec3::Y);
    let tangent = Vec3::new(1.0, 3.0, 0.0).normalize().extend(-1.0);
    assert!(out.tangents[0].distance(tangent) < 1.0e-6 && out.tangents[1] == Vec3::X.extend(1.0));
    assert_eq!(out.step, 5);
    now.interpolated(&last, 0.0, &mut out);
    assert_eq!(out.positions, last.positions);
    now.interpolated(&last, 1.0, &mut out);
    assert_eq!(out, now);
    // Nothing to start from: the first step's vertices.
    now.interpolated(&SkinnedVertices::default(), 0.25, &mut out);
    assert_eq!(out, now);
}
