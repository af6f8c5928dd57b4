//! Bad luck and bad input: random starts, random parameters, errors that name the field.

mod common;

use common::{FRAME, OneRod, Random, material, weightless};
use glam::DVec3;
use sinew::flesh::{BuildError, Flesh, Holds, RodSpec};
use sinew::step::StepConfig;
use sinew::{Material, Pose};

/// More samples where the code is fast.
const SAMPLES: usize = if cfg!(debug_assertions) { 200 } else { 1000 };

/// Largest distance (m) of a node from where it is at rest, once the rod is laid over its rest shape by its own
/// middle frame, and the largest change of a scale.
fn off_rest(rod: &OneRod) -> f64 {
    let chain = &rod.physics.flesh(rod.handle).unwrap().chains()[0];
    let nodes = rod.nodes();
    let middle = nodes.len() / 2;
    // Best-fitting rigid motion of a straight rod: its centre, and the direction along it.
    let count = nodes.len() as f64;
    let centre = nodes.iter().map(|n| n.place).sum::<DVec3>() / count;
    let rest_centre = chain.rest.iter().map(|p| p.translation).sum::<DVec3>() / count;
    let along = |to: DVec3, rest: DVec3| to * rest.dot(DVec3::X);
    let axis = nodes
        .iter()
        .zip(&chain.rest)
        .map(|(n, p)| along(n.place - centre, p.translation - rest_centre))
        .sum::<DVec3>()
        .normalize();
    let untwisted = nodes[middle].frame.as_dquat() * chain.rest[middle].rotation.conjugate();
    nodes
        .iter()
        .zip(&chain.rest)
        .map(|(node, rest)| {
            let place = centre + axis * (rest.translation - rest_centre).dot(DVec3::X);
            let frame = (untwisted * rest.rotation).dot(node.frame.as_dquat()).abs().min(1.0);
            let turned = 2.0 * frame.acos();
            node.place.distance(place).max(f64::from((node.scale - 1.0).abs())).max(turned * 0.01)
        })
        .fold(0.0, f64::max)
}

#[test]
fn free_rod_finds_its_shape_from_anywhere() {
    let mut spec = RodSpec::straight("free", DVec3::ZERO, DVec3::X, 20, 0.01);
    spec.material = material(1.0e7, 0.45, 1000.0, 5.0);
    let (mut worst, mut failed) = (0.0_f64, Vec::new());
    for seed in 0..200 {
        let mut random = Random(seed);
        let mut rod = OneRod::new(&spec, &[], weightless(4));
        for j in 0..rod.node_count() {
            let mut node = rod.node(j);
            node.place = random.vector(0.0, 1.0);
            node.frame = random.rotation().as_quat();
            rod.set_node(j, &node);
        }
        rod.run(FRAME, 300);
        let off = off_rest(&rod);
        if !rod.is_sound() || off.is_nan() || off > 0.01 {
            failed.push((seed, off));
        }
        worst = worst.max(off);
    }
    println!(
        "200 random starts, after 5 s: within {:.4} % of the rest shape (bar 1 %); failed: {failed:?}",
        100.0 * worst
    );
    assert!(failed.is_empty());
}

/// A rod with every parameter drawn at random, its bones, and how it is stepped.
fn random_scene(random: &mut Random) -> (RodSpec, Vec<Pose>, StepConfig, f64) {
    let segments = 2 + (random.bits() % 12) as usize;
    let length = random.log_uniform(1.0e-4, 10.0);
    let radius = random.log_uniform(1.0e-4, 10.0);
    let mut rod = RodSpec::straight("random", DVec3::ZERO, DVec3::X * length, segments, radius);
    rod.material = Material {
        youngs_modulus: random.log_uniform(1.0e2, 1.0e12),
        poissons_ratio: random.uniform(-0.5, 0.4999),
        density: random.log_uniform(1.0, 2.0e4),
        damping: if random.bits().is_multiple_of(2) { 0.0 } else { random.uniform(0.0, 20.0) },
        ..Default::default()
    };
    let bones = match random.bits() % 4 {
        0 => 0,
        1 => 2,
        _ => 1,
    };
    if bones > 0 {
        rod = rod.attach(0, 0, Holds::CLAMP);
    }
    if bones > 1 {
        rod = rod.attach(segments, 1, Holds::CLAMP);
    }
    let config = StepConfig {
        substeps: [1, 4][(random.bits() % 2) as usize],
        iterations: 1 + (random.bits() % 2) as u32,
        ..Default::default()
    };
    (rod, vec![Pose::IDENTITY; bones], config, random.log_uniform(1.0e-4, 0.1))
}

/// Dropped from rest under gravity.
#[test]
fn random_parameters_stay_finite() {
    let mut failed = Vec::new();
    for seed in 0..SAMPLES as u64 {
        let (spec, bones, config, dt) = random_scene(&mut Random(seed));
        let mut rod = OneRod::new(&spec, &bones, config);
        rod.run(dt, 600);
        if !rod.is_sound() {
            failed.push(seed);
        }
    }
    println!("{SAMPLES} random scenes, 600 steps: not finite: {failed:?}");
    assert!(failed.is_empty());
}

fn straight() -> RodSpec {
    RodSpec::straight("biceps", DVec3::ZERO, DVec3::X, 4, 0.1).attach(0, 0, Holds::CLAMP)
}

fn error_of(change: impl Fn(&mut RodSpec)) -> BuildError {
    let mut rod = straight();
    change(&mut rod);
    Flesh::build(&[rod], &[Pose::IDENTITY]).expect_err("the spec is out of range")
}

#[test]
fn build_errors_name_the_rod_and_the_field() {
    type Change = fn(&mut RodSpec);
    let cases: [(&str, Change); 23] = [
        ("material.youngs_modulus", |r| r.material.youngs_modulus = f64::NAN),
        ("material.youngs_modulus", |r| r.material.youngs_modulus = 0.0),
        ("material.youngs_modulus", |r| r.material.youngs_modulus = f64::INFINITY),
        ("material.poissons_ratio", |r| r.material.poissons_ratio = 0.5),
        ("material.poissons_ratio", |r| r.material.poissons_ratio = -1.0),
        ("material.poissons_ratio", |r| r.material.poissons_ratio = f64::NAN),
        ("material.density", |r| r.material.density = 0.0),
        ("material.density", |r| r.material.density = -1.0),
        ("material.damping", |r| r.material.damping = -1.0),
        ("material.damping", |r| r.material.damping = f64::NAN),
        ("material.overrides.volume_modulus", |r| r.material.overrides.volume_modulus = Some(-1.0e9)),
        ("material.overrides.smoothing", |r| r.material.overrides.smoothing = Some(f64::NAN)),
        ("nodes[2].place", |r| r.nodes[2].place.y = f64::NAN),
        ("nodes[2].place", |r| r.nodes[2].place.y = f64::INFINITY),
        ("nodes[1].section.area", |r| r.nodes[1].section.area = 0.0),
        ("nodes[1].section.second_moment_u", |r| r.nodes[1].section.second_moment_u = f64::NAN),
        ("nodes[1].section.product_moment", |r| r.nodes[1].section.product_moment = 1.0),
        ("nodes[1].place", |r| r.nodes[2].place = r.nodes[1].place),
        ("nodes[2]", |r| r.nodes[3].place = r.nodes[1].place * 1.01),
        ("attachments[0].node", |r| r.attachments[0].node = 5),
        ("attachments[0].bone", |r| r.attachments[0].bone = 1),
        ("attachments[0]` and `attachments[1]", |r| r.attachments.push(r.attachments[0])),
        ("nodes", |r| r.nodes.truncate(1)),
    ];
    for (field, change) in cases {
        let message = error_of(change).to_string();
        println!("{message}");
        assert!(message.contains(field) && message.contains("biceps"), "{field}: {message}");
    }
    let nowhere = Pose::from_translation(DVec3::NAN);
    let error = Flesh::build(&[straight()], &[nowhere]).expect_err("a bone is not finite");
    assert_eq!(error, BuildError::BoneNotFinite { bone: 0 });
}
