//! Saved states, threads, lanes, and one character's bad luck: the same bits for all that should not notice.

use glam::DVec3;
use sinew::LaneWidth;
use sinew::flesh::NodeState;
use sinew::{Physics, Pose, SkinnedVertices};

use crate::{FRAME, Scene, at, character};

/// Two characters half sunk in a ground with friction.
fn grounded() -> (Scene, Vec<(hecs::Entity, Pose)>) {
    above_ground(0.15)
}

/// Two characters with a ground at a height (m).
fn above_ground(height: f64) -> (Scene, Vec<(hecs::Entity, Pose)>) {
    let mut scene = Scene::default();
    scene.rigid.spawn_ground(height, 0.6).unwrap();
    let mut entities = Vec::new();
    for (name, home) in [("octopus.glb", at(0.0, 0.0, 0.0)), ("arm.glb", at(2.0, 0.0, 0.0))] {
        entities.push((scene.spawn(&character(name), home), home));
    }
    (scene, entities)
}

fn run(scene: &mut Scene, entities: &[(hecs::Entity, Pose)], frames: std::ops::Range<u32>) {
    for frame in frames {
        let time = f64::from(frame) * FRAME;
        for &(entity, home) in entities {
            scene.animate(entity, time);
            scene.sway(entity, home, time);
        }
        scene.step();
    }
}

/// Hash and skins after a second and a half.
fn outcome(height: f64, change: impl Fn(&mut Physics)) -> (u64, Vec<SkinnedVertices>) {
    let (mut scene, entities) = above_ground(height);
    change(&mut scene.physics);
    run(&mut scene, &entities, 0..90);
    assert!(entities.iter().all(|&(entity, _)| scene.health(entity).resets == 0));
    (scene.physics.state_hash(), entities.iter().map(|&(entity, _)| scene.skin(entity)).collect())
}

#[test]
fn threads_and_lanes_give_the_same_bits() {
    let one = outcome(0.15, |physics| physics.config.threads = 1);
    for threads in [2, 0] {
        let other = outcome(0.15, |physics| physics.config.threads = threads);
        println!("1 thread {:016x}, {threads} threads {:016x}", one.0, other.0);
        assert!(one == other, "{threads} threads give other bits");
    }
    for width in [LaneWidth::One, LaneWidth::Eight, LaneWidth::EightBaseline] {
        let other = outcome(0.15, |physics| physics.lane_width = width);
        println!("{width:?} {:016x}", other.0);
        assert!(one == other, "{width:?} gives other bits");
    }
    let floating = outcome(-10.0, |_| {});
    assert_ne!(one.0, floating.0, "nothing touches the ground, so this shows nothing");
}

#[test]
fn a_restored_state_goes_on_as_if_nothing_had_been() {
    let (mut scene, entities) = grounded();
    run(&mut scene, &entities, 0..45);
    let saved = scene.physics.save();
    let hash = scene.physics.state_hash();
    let flesh = scene.flesh(entities[0].0);
    scene.physics.set_activation(flesh, 0, 0.5).unwrap();
    run(&mut scene, &entities, 45..75);
    let straight: Vec<_> = entities.iter().map(|&(entity, _)| (scene.nodes(entity), scene.skin(entity))).collect();
    let straight_hash = scene.physics.state_hash();
    assert_ne!(hash, straight_hash);

    // Elsewhere, in other steps: nothing of it may be left.
    scene.physics.step_flesh(0.011).unwrap();
    run(&mut scene, &entities, 20..40);
    assert!(scene.physics.restore(&saved).unwrap().is_whole());
    assert_eq!(scene.physics.state_hash(), hash);
    assert!(scene.physics.save() == saved);
    run(&mut scene, &entities, 45..75);
    println!("went on {straight_hash:016x}, restored and went on {:016x}", scene.physics.state_hash());
    assert_eq!(scene.physics.state_hash(), straight_hash);
    for (&(entity, _), (nodes, skin)) in entities.iter().zip(straight) {
        assert!(scene.nodes(entity) == nodes && scene.skin(entity) == skin);
    }
}

#[test]
fn not_a_number_lays_one_chain_anew_alone() {
    let clean = {
        let (mut scene, entities) = grounded();
        run(&mut scene, &entities, 0..60);
        (scene.nodes(entities[1].0), scene.skin(entities[1].0))
    };
    type Spoil = fn(&mut NodeState);
    let spoils: [(&str, Spoil); 5] = [
        ("place", |node| node.place = DVec3::NAN),
        ("velocity", |node| node.velocity.y = f32::NAN),
        ("scale", |node| node.scale = f32::INFINITY),
        ("frame", |node| node.frame.x = f32::NAN),
        ("spin", |node| node.spin.z = f32::NEG_INFINITY),
    ];
    for (what, spoil) in spoils {
        let (mut scene, entities) = grounded();
        let [(octopus, _), (arm, _)] = entities[..] else { panic!("two were spawned") };
        run(&mut scene, &entities, 0..30);
        let handle = scene.flesh(octopus);
        let flesh = scene.physics.flesh(handle).unwrap().clone();
        let mut node = scene.physics.node(handle, 1, 3).unwrap();
        spoil(&mut node);
        scene.physics.state_mut(handle).unwrap().set_node(&flesh, 1, 3, &node);
        run(&mut scene, &entities, 30..31);
        let swing = scene.chain_swing(octopus, 1);
        let skin = scene.skin(octopus);
        let sound = skin.positions.iter().chain(&skin.normals).all(|v| v.is_finite());
        println!("{what}: laid anew {swing:.1e} m from where its bones carry it; skin finite: {sound}");
        let health = scene.health(octopus);
        let anew: Vec<_> = health.laid_anew.iter().map(|laid| (laid.chain, laid.name.as_str(), laid.times)).collect();
        // Of the last spin nothing is left where the solve starts again from the substep's start.
        let expected = if what == "spin" { vec![] } else { vec![(1, flesh.chains()[1].name.as_str(), 1)] };
        assert_eq!(anew, expected, "{what}");
        assert!(swing <= if what == "spin" { 5.0e-3 } else { 1.0e-6 }, "{what}");
        let resets = expected.len() as u32;
        assert!(sound, "{what}: the skin of that step is not finite");
        run(&mut scene, &entities, 31..60);
        assert_eq!((scene.health(octopus).resets, scene.health(arm).resets), (resets, 0), "{what}");
        assert!(scene.physics.state(handle).unwrap().is_finite());
        assert!((scene.nodes(arm), scene.skin(arm)) == clean, "{what}: the other one noticed");
    }
}
