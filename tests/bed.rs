//! Muscles in their beds: what they lie along takes nothing of their tension, and their ends bend on their bones.

mod common;

use std::sync::Arc;

use common::{FRAME, OneRod};
use glam::{DQuat, DVec3};
use sinew::flesh::{Bundle, Carriers, Contraction, Disc, Flesh, Holds, RodSpec};
use sinew::step::StepConfig;
use sinew::{Physics, Pose};

/// Sections of the muscle.
const SECTIONS: usize = 9;
/// How far the elbow is along the upper arm (m), and the muscle off both bones.
const ELBOW: f64 = 0.3;
const OFF: f64 = 0.022;

/// A spindle along x on the bending side of an elbow at rest, from 6 cm along the upper arm, bone 0, to `beyond` (m) the elbow
/// on the forearm, bone 1.
fn muscle(beyond: f64, fascia: bool) -> RodSpec {
    muscle_of(SECTIONS, beyond, fascia)
}

fn muscle_of(sections: usize, beyond: f64, fascia: bool) -> RodSpec {
    let (from, to) = (0.06, ELBOW + beyond);
    let place = |j: usize| from + (to - from) * j as f64 / (sections - 1) as f64;
    let fibre = |k: usize| {
        let around = k as f64 * std::f64::consts::TAU / 6.0;
        let disc = |j: usize| {
            let radius = 0.007 + 0.011 * (std::f64::consts::PI * j as f64 / (sections - 1) as f64).sin();
            let out = if k == 6 { 0.0 } else { radius * 2.0 / 3.0 };
            let across = DVec3::new(0.0, around.cos(), around.sin()) * out;
            Disc { place: DVec3::new(place(j), OFF, 0.0) + across, radius: radius / 7.0_f64.sqrt() }
        };
        (0..sections).map(disc).collect()
    };
    let mut rod = RodSpec::from_bundle("muscle", &Bundle { fibres: (0..7).map(fibre).collect() }).expect("all as long");
    rod.contraction = Contraction { peak_force: Some(150.0), optimal_stretch: Some(1.0), ..Contraction::default() };
    rod.fascia = if fascia { RodSpec::FASCIA } else { 0.0 };
    rod.slides_in_bed = true;
    // Round the elbow by both bones.
    let blend = |j: usize| ((place(j) - ELBOW) / 0.06 + 0.5).clamp(0.0, 1.0);
    let nodes = (0..sections).map(|j| if j + 1 == sections { 1.0 } else { blend(j) }).collect();
    rod.carriers = Carriers { bones: vec![0, 1], nodes };
    rod.attach(0, 0, Holds::PIVOT).attach(sections - 1, 1, Holds::PIVOT)
}

/// The forearm bent by an angle towards the muscle, and turned about itself by another (rad).
fn arm(bent: f64, turned: f64) -> [Pose; 2] {
    let frame = DQuat::from_rotation_z(bent) * DQuat::from_rotation_x(turned);
    [Pose::IDENTITY, Pose::new(DVec3::X * ELBOW, frame)]
}

/// A muscle that ends 7 mm beyond the joint or 4 cm, that bones carry round it on a path which folds when they bend: excited or
/// not, it takes the way that is left, and pulls on both bones alike.
#[test]
fn a_muscle_that_ends_at_the_joint_follows_it() {
    let mut worst = [0.0_f64; 3];
    for beyond in [0.007, 0.04] {
        for activation in [0.0_f32, 0.3, 1.0, 10.0] {
            let weightless = StepConfig { gravity: DVec3::ZERO, ..StepConfig::default() };
            let mut rod = OneRod::new(&muscle(beyond, true), &arm(0.0, 0.0), weightless);
            rod.physics.set_activation(rod.handle, 0, activation).unwrap();
            let (mut volume, mut stretch) = (0.0_f64, 0.0_f64);
            for frame in 1..=240 {
                let bent = 140.0_f64.to_radians() * f64::from(frame.min(120)) / 120.0;
                rod.set_bones(&arm(bent, 0.0));
                rod.run(FRAME, 1);
                let quality = rod.physics.quality();
                assert!(quality.volume_error_max.is_finite() && quality.stretch_error_max.is_finite());
                volume = volume.max(quality.volume_error_max);
                stretch = stretch.max(quality.stretch_error_max);
            }
            let state = rod.physics.muscle(rod.handle, 0).unwrap();
            let [origin, insertion] = [state.origin_force, state.insertion_force].map(DVec3::length);
            println!(
                "{beyond} m beyond the elbow, activation {activation}: volume {:.1} % off, stretch {:.1} % at most; at 140° \
                 {:.3} of its length, {origin:.1} N on its origin, {insertion:.1} N on its insertion",
                100.0 * volume,
                100.0 * stretch,
                state.stretch
            );
            assert!(origin.is_finite() && insertion.is_finite() && (activation == 0.0 || origin > 10.0));
            let lost = if activation > 0.0 { (insertion / origin - 1.0).abs() } else { 0.0 };
            worst = [worst[0].max(volume), worst[1].max(stretch), worst[2].max(lost)];
        }
    }
    println!("volume, stretch, force lost: at most {worst:.3?} (bars 0.02, 0.4, 0.03)");
    assert!(worst[0] <= 0.02 && worst[1] <= 0.4 && worst[2] <= 0.03);
}

/// What a muscle does in its bed, to the bit, does not hang on the muscles that share its group: one of fewer sections is
/// padded there, and slides by its own.
#[test]
fn a_muscle_slides_the_same_whatever_shares_its_group() {
    let after = |beside: &[usize]| {
        let rods: Vec<RodSpec> =
            std::iter::once(&SECTIONS).chain(beside).map(|&sections| muscle_of(sections, 0.04, true)).collect();
        let flesh = Arc::new(Flesh::build(&rods, &arm(0.0, 0.0)).expect("sound"));
        assert_eq!(flesh.groups().len(), 1);
        let mut physics = Physics::with_config(StepConfig::default());
        let handle = physics.insert(flesh, &arm(0.0, 0.0), Pose::IDENTITY).expect("fits");
        (0..rods.len()).for_each(|chain| physics.set_activation(handle, chain, 0.5).expect("is there"));
        for frame in 1..=120 {
            physics.set_bones(handle, &arm(2.0 * f64::from(frame) / 120.0, 0.0), Pose::IDENTITY).expect("two bones");
            physics.step_flesh(FRAME).expect("steps");
        }
        (0..SECTIONS).map(|node| physics.node(handle, 0, node).expect("is there")).collect::<Vec<_>>()
    };
    let alone = after(&[]);
    for beside in [&[4][..], &[30], &[5, 17]] {
        assert_eq!(after(beside), alone, "beside {beside:?}");
    }
}

/// A pivot's section stays square to the path, and what the bone turns about the path twists the rod.
#[test]
fn a_pivot_lets_the_rod_bend_and_holds_its_twist() {
    let mut rod = OneRod::new(&muscle(0.04, false), &arm(0.0, 0.0), StepConfig::default());
    for frame in 1..=240 {
        let share = f64::from(frame.min(60)) / 60.0;
        rod.set_bones(&arm(0.6 * share, 0.5 * share));
        rod.run(FRAME, 1);
    }
    let nodes = rod.nodes();
    for (end, next) in [(0, 1), (SECTIONS - 1, SECTIONS - 2)] {
        let path = (nodes[next].place - nodes[end].place).normalize();
        let tilt = (nodes[end].frame.as_dquat() * DVec3::Z).cross(path).length();
        println!("end {end}: its section is tilted by {tilt:.4} rad against the path (bar 0.002)");
        assert!(tilt <= 2.0e-3);
    }
    // The frames' turn about the path from one end to the other.
    let twist: f64 = nodes
        .windows(2)
        .map(|pair| {
            let turn = pair[0].frame.as_dquat().conjugate() * pair[1].frame.as_dquat();
            2.0 * turn.z.atan2(turn.w)
        })
        .sum();
    println!("twisted by {twist:.4} rad between its ends (0.5 of the bone, ± what bending adds)");
    assert!((twist - 0.5).abs() <= 0.05);
}

/// A bed without friction takes nothing of a muscle's tension, however far it slides along it: what pulls on the insertion
/// pulls on the origin.
#[test]
#[cfg(feature = "gltf")]
fn a_bed_takes_no_tension() {
    let character =
        sinew::Character::load(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/arm.glb")).expect("loads");
    let (asset, body) = (character.asset(), character.body());
    let forearm = asset.skeleton.joints.iter().position(|joint| joint.name == "forearm").expect("is there");
    let curl = asset.animations.iter().find(|animation| animation.name == "curl").expect("is there");
    let mut physics = Physics::with_config(StepConfig { gravity: DVec3::ZERO, ..StepConfig::default() });
    let mut pose = asset.skeleton.rest_pose();
    let at_rest = pose[forearm].rotation;
    let bones = |pose: &[_]| body.posed(asset, pose, &Pose::IDENTITY, &[]).0;
    let flesh = physics.insert(body.flesh.clone(), &bones(&pose), Pose::IDENTITY).expect("fits");
    let authored = body.muscles.len()..body.flesh.chains().len();
    let mut worst = 0.0_f64;
    for frame in 1..=360_u16 {
        // Out to where the animation bends it most, and held there and half-way back.
        let share = [0.5, 0.5, 0.25, 0.25, 0.1, 0.1][usize::from((frame - 1) / 60)];
        let before = pose[forearm].rotation;
        curl.sample(curl.duration * share, &mut pose);
        pose[forearm].rotation = before.slerp(pose[forearm].rotation, 0.1);
        physics.set_bones(flesh, &bones(&pose), Pose::IDENTITY).expect("is there");
        authored.clone().for_each(|chain| physics.set_activation(flesh, chain, 1.0).expect("is there"));
        physics.step_flesh(FRAME).expect("steps");
        if frame % 120 != 0 {
            continue;
        }
        let bent = at_rest.angle_between(pose[forearm].rotation).to_degrees();
        for chain in authored.clone() {
            let state = physics.muscle(flesh, chain).expect("is there");
            let [origin, insertion] = [state.origin_force, state.insertion_force].map(DVec3::length);
            let lost = insertion / origin - 1.0;
            let name = &body.flesh.chains()[chain].name;
            println!(
                "{name} at {bent:.0}°: {insertion:.1} N at its insertion, {origin:.1} N at its origin ({:+.1} %)",
                100.0 * lost
            );
            assert!(lost.is_finite());
            worst = worst.max(lost.abs());
        }
    }
    println!("{:.1} % at most (bar 2 %)", 100.0 * worst);
    assert!(worst <= 0.02);
}
