//! What a host can ask of nodes after a step.

#[path = "common/mod.rs"]
mod common;

use glam::DVec3;
use sinew::scenes::Cantilevers;
use sinew::{Physics, Pose, StepError};

#[test]
fn swing_is_where_a_node_is_against_where_its_bone_carries_it() {
    let flesh = Cantilevers { rods: 1, ..Default::default() }.build().unwrap();
    let tip = flesh.chains()[0].node_count() - 1;
    let mut physics = Physics::default();
    // Far away and turned, so that rest is not the origin.
    let bone = Pose::new(DVec3::new(3000.0, 2.0, -4000.0), glam::DQuat::from_rotation_y(0.7));
    let handle = physics.insert(flesh, &[bone], Pose::IDENTITY).unwrap();
    let at_rest = physics.swing(handle, 0, tip).unwrap();
    assert!(at_rest.length() < 1e-6, "a rod at rest swings by {at_rest}");

    for _ in 0..30 {
        physics.step_flesh(1.0 / 60.0).unwrap();
    }
    let swing = physics.swing(handle, 0, tip).unwrap();
    let carried = bone.transform_point(DVec3::X);
    let expected = physics.node(handle, 0, tip).unwrap().place - carried;
    println!("after half a second the tip hangs {:.2} mm below its bone", -1e3 * swing.y);
    assert!((swing - expected).length() < 1e-6, "{swing} against {expected}");
    assert!(swing.y < -1e-3, "gravity does not show: {swing}");
    assert!(physics.swing(handle, 0, 0).unwrap().length() < 1e-4, "the clamped end left its bone");
}

#[test]
fn chains_and_nodes_that_are_not_there_are_errors() {
    let flesh = Cantilevers { rods: 2, ..Default::default() }.build().unwrap();
    assert_eq!(flesh.chain_named("cantilever 1"), Some(1));
    assert_eq!(flesh.chain_named("triceps"), None);
    let count = flesh.chains()[0].node_count();
    let mut physics = Physics::default();
    let handle = physics.insert(flesh, &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
    assert_eq!(physics.node(handle, 2, 0), Err(StepError::NoSuchChain { chain: 2, count: 2 }));
    let missing = StepError::NoSuchNode { chain: 1, node: count, count };
    assert_eq!(physics.node(handle, 1, count), Err(missing.clone()));
    assert_eq!(physics.swing(handle, 1, count), Err(missing));
}

/// A bone that turns on and on, told by quaternions with w ≥ 0, whose sign hence flips at half a turn, twists nothing.
#[test]
fn a_bone_may_be_told_by_either_quaternion() {
    for (name, mut physics) in common::backends() {
        let flesh = Cantilevers { rods: 1, ..Default::default() }.build().unwrap();
        let tip = flesh.chains()[0].node_count() - 1;
        physics.config.gravity = DVec3::ZERO;
        let handle = physics.insert(flesh, &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
        let mut most = 0.0_f32;
        for frame in 1..=180 {
            let turn = glam::DQuat::from_rotation_x(f64::from(frame) * (2.0 * std::f64::consts::TAU / 180.0));
            let told = if turn.w < 0.0 { -turn } else { turn };
            physics.set_bones(handle, &[Pose::new(DVec3::ZERO, told)], Pose::IDENTITY).unwrap();
            physics.step_flesh(1.0 / 60.0).unwrap();
            physics.finish().unwrap();
            let [here, there] = [0, tip].map(|node| physics.node(handle, 0, node).unwrap().frame);
            most = most.max(2.0 * here.dot(there).abs().min(1.0).acos());
        }
        println!(
            "{name}: twisted by {most:.3} rad at most on the way (bar 0.01), swings by {:.1e} m in the end",
            physics.swing(handle, 0, tip).unwrap().length()
        );
        assert!(most < 0.01);
    }
}
