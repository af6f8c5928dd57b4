//! The GPU does what the CPU does: raw rows stage by stage, the canonical cantilever, and the same bits run after run.
#![cfg(feature = "gpu")]

mod common;

use std::sync::Arc;

use common::parity::{DT, Scene, apart, both, compare, contracting, jerked, jerked_trees, scenes, treading};
use glam::DVec3;
use sinew::cpu::solve_rods::ROUGH;
use sinew::flesh::{Flesh, FleshState, Holds, NodeState, RodSpec};
use sinew::layout::{chain, node};
use sinew::scenes::Cantilevers;
use sinew::step::{Domain, Stage, Walk};
use sinew::{FleshHandle, Physics, Pose, Snapshot};

/// In halves, which so run beside each other.
#[test]
fn every_stage_leaves_the_rows_of_its_twin_in_every_second_scene() {
    every_stage_is_as_its_twin(scenes().iter().step_by(2));
}

#[test]
fn every_stage_leaves_the_rows_of_its_twin_in_the_scenes_between() {
    every_stage_is_as_its_twin(scenes().iter().skip(1).step_by(2));
}

fn every_stage_is_as_its_twin<'a>(scenes: impl Iterator<Item = &'a Scene>) {
    let mut off = Vec::new();
    for scene in scenes {
        let Some((mut cpu, mut gpu, handles)) = both(scene) else { break };
        let start = cpu.save();
        let mut line = format!("{:28}", scene.name);
        let meets = scene.config.passes > 0;
        for stage in Stage::ALL.into_iter().filter(|stage| stage.domain() != Domain::Host) {
            // What chains do that meet the CPU does between its stages; the solve is then what comes before passes, or after.
            if stage.domain().is_of_meetings() || meets && stage == Stage::SolveRods {
                continue;
            }
            // No frame has it in which nobody asks for events: tests/gpu_events.rs does.
            if stage == Stage::Tally {
                continue;
            }
            let walk = Walk { last: Some(stage), ..Walk::default() };
            for physics in [&mut cpu, &mut gpu] {
                physics.restore(&start).unwrap();
            }
            for physics in [&mut cpu, &mut gpu] {
                scene.pose(physics, &handles, scene.before + 1);
                physics.step_flesh_by(DT, &walk).unwrap();
                physics.finish().unwrap();
            }
            let (worst, at) = compare(scene, stage, &cpu, &gpu, &handles);
            line += &format!(" {} {worst:.2}", stage.name());
            if worst.is_nan() || worst > 1.0 {
                let by_rounding = off_by_rounding(scene, stage, &start, &cpu, &handles, worst / ROUNDINGS);
                line += &format!(" ({by_rounding:.2} by roundings)");
                if !worst.is_finite() || worst > ROUNDINGS * by_rounding {
                    let name = stage.name();
                    off.push(format!("{} after {name}: {worst} × 1e-5, {by_rounding} by roundings, {at}", scene.name));
                }
            }
        }
        println!("{line}  (× 1e-5)");
    }
    assert!(off.is_empty(), "{}", off.join("\n"));
}

/// A GPU may be as far from the CPU as so many times what the CPU is from itself by roundings.
const ROUNDINGS: f32 = 10.0;

/// By how much (10⁻⁵) the CPU's rows are off its own where it starts from what is otherwise rounded: a step's length that is up to
/// eight roundings off, or nodes of which any entry is one off. Rows that roundings decide come out in one of few ways: it is tried
/// until they are off by `enough`.
fn off_by_rounding(
    scene: &Scene,
    stage: Stage,
    start: &Snapshot,
    cpu: &Physics,
    handles: &[FleshHandle],
    enough: f32,
) -> f32 {
    let walk = Walk { last: Some(stage), ..Walk::default() };
    let of_steps = [-8.0, -2.0, -1.0, 1.0, 2.0, 8.0].map(|by| (by, None));
    let of_nodes = (1..=24).map(|seed| (0.0, Some(seed)));
    let mut most = 0.0_f32;
    for (by, seed) in of_steps.into_iter().chain(of_nodes) {
        let mut other = Physics::default();
        let others = scene.fill(&mut other);
        other.restore(start).unwrap();
        if let Some(seed) = seed {
            others.iter().for_each(|handle| round_otherwise(other.state_mut(*handle).unwrap(), seed));
        }
        scene.pose(&mut other, &others, scene.before + 1);
        other.step_flesh_by(DT * (1.0 + by * f64::from(f32::EPSILON)), &walk).unwrap();
        let off = apart(scene, stage, cpu, &other, handles);
        assert!(off.is_finite(), "{}: {off}", scene.name);
        most = most.max(off);
        if most >= enough {
            break;
        }
    }
    most
}

/// Has every entry that a frame leaves to the next be one unit in the last place more, as much less, or what it is.
fn round_otherwise(state: &mut FleshState, seed: u32) {
    for (row, entry) in state.node_rows_mut().flat_map(|rows| rows.iter_mut().enumerate()) {
        let at = row % node::ENTRIES;
        if !(node::STATE.contains(&at) || node::HISTORY.contains(&at)) {
            continue;
        }
        for (lane, value) in entry.iter_mut().enumerate() {
            let draw = ((row * 8 + lane) as u32).wrapping_add(seed << 24).wrapping_mul(0x9e37_79b9) >> 16;
            *value *= 1.0 + (draw % 3) as f32 * f32::EPSILON - f32::EPSILON;
        }
    }
}

#[test]
fn chains_are_laid_anew_alike() {
    let scene = scenes().into_iter().find(|scene| scene.name.starts_with("mixed lengths")).expect("there");
    let Some((mut cpu, mut gpu, handles)) = both(&scene) else { return };
    // One that hangs, and two that are free: of one, nobody knows any more where it was.
    type Spoil = fn(&mut NodeState);
    let spoils: [(usize, Spoil); 3] = [
        (1, |node| node.place = DVec3::NAN),
        (6, |node| node.scale = f32::INFINITY),
        (7, |node| node.velocity.x = f32::NAN),
    ];
    let flesh = scene.flesh[0].0.clone();
    let mut nodes = Vec::new();
    for (chain, spoil) in spoils {
        let mut node = cpu.node(handles[0], chain, 3).unwrap();
        spoil(&mut node);
        nodes.push((chain, node));
    }
    let start = cpu.save();
    for physics in [&mut cpu, &mut gpu] {
        physics.restore(&start).unwrap();
        for (chain, node) in &nodes {
            physics.state_mut(handles[0]).unwrap().set_node(&flesh, *chain, 3, node);
        }
        scene.pose(physics, &handles, scene.before + 1);
        physics.step_flesh(DT).unwrap();
        physics.finish().unwrap();
        let mut anew: Vec<usize> =
            physics.health(handles[0]).unwrap().laid_anew.iter().map(|laid| laid.chain).collect();
        anew.sort_unstable();
        assert_eq!(anew, [1, 6, 7]);
    }
    let (worst, at) = compare(&scene, Stage::DeformSkin, &cpu, &gpu, &handles);
    println!("laid anew on the CPU and on the GPU: {worst:.2} × 1e-5 apart");
    assert!(worst <= 1.0, "{worst} × 1e-5, {at}");
}

/// One unit in the last place of a place of about 1 m (m).
const ROUNDING: f64 = 1.2e-7;

/// Places of all nodes after each of some frames of a scene, with its last bone off by `off` (m) throughout; and in how
/// many frames solves of a chain were led astray, summed over chains.
fn run(scene: &Scene, physics: &mut Physics, frames: usize, off: f64) -> (Vec<Vec<DVec3>>, usize) {
    let handles = scene.fill(physics);
    let (mut places, mut astray) = (Vec::new(), 0);
    // A chain that was led astray counts from −ROUGH/h up by one a substep.
    let substeps = scene.config.substeps as f32;
    let rough = (1.0 - ROUGH / DT as f32) * substeps - 0.5;
    for step in 1..=scene.before + frames {
        for (handle, (flesh, _, root)) in handles.iter().zip(&scene.flesh) {
            let mut bones = (scene.bones)(step)[..flesh.bones().len()].to_vec();
            bones.last_mut().unwrap().translation.x += off;
            physics.set_bones(*handle, &bones, *root).unwrap();
        }
        physics.step_flesh(DT).unwrap();
        physics.finish().unwrap();
        if step <= scene.before {
            continue;
        }
        let mut now = Vec::new();
        for (handle, (flesh, ..)) in handles.iter().zip(&scene.flesh) {
            for (index, chain) in flesh.chains().iter().enumerate() {
                now.extend((0..chain.node_count()).map(|node| physics.node(*handle, index, node).unwrap().place));
            }
            let histories = physics.state(*handle).unwrap().rows().flat_map(|(_, chains)| chains[chain::HISTORY]);
            astray += histories.filter(|&history| history < rough).count();
            assert_eq!(physics.health(*handle).unwrap().resets, 0);
        }
        places.push(now);
    }
    (places, astray)
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

/// Runs a scene on the CPU, on the GPU, and on the CPU again with roundings that differ: the GPU may be as far from the
/// CPU as four times what the CPU's runs are from each other, and what a few roundings of a place are. Returns what the
/// CPU made of it.
fn backends_end_as_close_as_roundings_do(scene: &Scene, frames: usize) -> Option<(Vec<Vec<DVec3>>, usize)> {
    let mut gpu = common::gpu_physics()?;
    let (on_cpu, astray) = run(scene, &mut Physics::default(), frames, 0.0);
    let (on_gpu, astray_on_gpu) = run(scene, &mut gpu, frames, 0.0);
    let others: Vec<_> = (-4..=4)
        .filter(|&k| k != 0)
        .map(|k| run(scene, &mut Physics::default(), frames, f64::from(k) * ROUNDING).0)
        .collect();
    let mut failed = false;
    for frame in 0..frames {
        let scatter = others.iter().map(|other| farthest(&other[frame], &on_cpu[frame])).fold(0.0, f64::max);
        let off = farthest(&on_gpu[frame], &on_cpu[frame]);
        let bar = 4.0 * scatter.max(4.0 * ROUNDING);
        println!(
            "{}, frame {}: {off:.1e} m apart, the CPU's own runs {scatter:.1e} (bar {bar:.1e})",
            scene.name,
            frame + 1
        );
        // Where they part from each other, anything would pass.
        assert!(scatter < 1.0e-3);
        failed |= off > bar;
    }
    println!("{}: led astray {astray} times on the CPU, {astray_on_gpu} on the GPU", scene.name);
    assert!(!failed, "{}: the backends differ", scene.name);
    assert_eq!(astray > 0, astray_on_gpu > 0);
    Some((on_cpu, astray))
}

#[test]
fn jerked_chains_are_led_back_alike() {
    for scene in jerked() {
        let Some((_, astray)) = backends_end_as_close_as_roundings_do(&scene, 6) else { return };
        assert!(astray > 6, "few solves were led astray");
    }
}

#[test]
fn jerked_trees_are_led_back_alike() {
    let scene = jerked_trees();
    let Some((_, astray)) = backends_end_as_close_as_roundings_do(&scene, 6) else { return };
    assert!(astray > 6, "few solves were led astray");
}

#[test]
fn trees_are_laid_anew_alike() {
    let scene = scenes().into_iter().find(|scene| scene.name == "trees").expect("there");
    let Some((mut cpu, mut gpu, handles)) = both(&scene) else { return };
    let flesh = scene.flesh[0].0.clone();
    // An arm of the one that hangs, and the last twig of the one that is free.
    let spoilt = [(handles[0], 2), (handles[1], 8)].map(|(handle, chain)| {
        let lost = NodeState { place: DVec3::NAN, ..cpu.node(handle, chain, 1).unwrap() };
        (handle, chain, lost)
    });
    let start = cpu.save();
    for physics in [&mut cpu, &mut gpu] {
        physics.restore(&start).unwrap();
        for (handle, chain, node) in &spoilt {
            physics.state_mut(*handle).unwrap().set_node(&flesh, *chain, 1, node);
        }
        scene.pose(physics, &handles, scene.before + 1);
        physics.step_flesh(DT).unwrap();
        physics.finish().unwrap();
        for handle in &handles {
            // All but what is beside.
            assert_eq!(physics.health(*handle).unwrap().resets, 9);
        }
    }
    let (worst, at) = compare(&scene, Stage::DeformSkin, &cpu, &gpu, &handles);
    println!("laid anew on the CPU and on the GPU: {worst:.2} × 1e-5 apart");
    assert!(worst <= 1.0, "{worst} × 1e-5, {at}");
}

#[test]
fn chains_are_put_down_and_lifted_alike() {
    let scene = treading();
    let Some((places, _)) = backends_end_as_close_as_roundings_do(&scene, 20) else { return };
    let lowest = |places: &[DVec3]| places.iter().map(|place| place.y).fold(f64::INFINITY, f64::min);
    let [down, up] = [f64::min, f64::max].map(|of| places.iter().map(|places| lowest(places)).reduce(of).unwrap());
    println!("{}: lowest at {down:.4} to {up:.4} m", scene.name);
    assert!(down < 0.02 && up > 0.025, "not on the ground, or not lifted");
}

#[test]
fn muscles_contract_alike() {
    let scene = contracting();
    let Some((places, _)) = backends_end_as_close_as_roundings_do(&scene, 30) else { return };
    let rest: Vec<DVec3> =
        run(&Scene { activation: 0.0, ..contracting() }, &mut Physics::default(), 30, 0.0).0.remove(29);
    let moved = farthest(&places[29], &rest);
    println!("{}: {moved:.3} m from where they are without activation", scene.name);
    assert!(moved > 0.05, "nothing contracts");
}

/// What a muscle says of itself is the same from either backend, to 10⁻⁴ of its largest force.
#[test]
fn muscles_say_the_same_of_themselves() {
    let scene = contracting();
    let Some(gpu) = common::gpu_physics() else { return };
    let states = [Physics::default(), gpu].map(|mut physics| {
        let handles = scene.fill(&mut physics);
        for step in 1..=20 {
            scene.pose(&mut physics, &handles, step);
            physics.step_flesh(DT).unwrap();
        }
        physics.finish().unwrap();
        let chains = scene.flesh[0].0.chains().len();
        (0..chains).map(|chain| physics.muscle(handles[0], chain).unwrap()).collect::<Vec<_>>()
    });
    let [on_cpu, on_gpu] = &states;
    let most = on_cpu.iter().map(|muscle| muscle.tension.abs()).fold(0.0, f64::max);
    assert!(most > 1.0 && on_cpu.iter().any(|muscle| muscle.activation > 0.5), "nothing pulls");
    for (a, b) in on_cpu.iter().zip(on_gpu) {
        let forces = (a.origin_force.distance(b.origin_force)).max(a.insertion_force.distance(b.insertion_force));
        let off = forces.max((a.tension - b.tension).abs()) / most;
        println!("activation {:.3}, {:.2} N: {off:.1e} of the largest tension apart", a.activation, a.tension);
        assert_eq!(a.activation, b.activation);
        assert!(
            off <= 1.0e-4
                && (a.stretch - b.stretch).abs() <= 1.0e-4
                && (a.volume_ratio - b.volume_ratio).abs() <= 1.0e-4
        );
    }
}

/// The cantilever's tip over its length, from the elastica of Γ = 1, 5 and 20, and the bar.
const ELASTICA: [(f64, [f64; 2], f64); 3] = [
    (1.0, [0.9912463953, -0.1234714020], 2.0e-4),
    (5.0, [0.8466571800, -0.4959050446], 5.0e-4),
    (20.0, [0.4452320522, -0.8298814434], 1.0e-3),
];

/// Clamped rods of 20 segments at Γ = 1, 5, 20, clamped to a bone.
fn elasticas(at: DVec3) -> Arc<Flesh> {
    let rod = |(index, (gamma, ..)): (usize, &(f64, [f64; 2], f64))| {
        let from = at + DVec3::Z * index as f64;
        let mut rod = RodSpec::straight(format!("Γ = {gamma}"), from, from + DVec3::X, 20, 0.01);
        rod.material = Cantilevers::default().with_gamma(*gamma, 9.81).material;
        rod.attach(0, 0, Holds::CLAMP)
    };
    let rods: Vec<RodSpec> = ELASTICA.iter().enumerate().map(rod).collect();
    Arc::new(Flesh::build(&rods, &[Pose::from_translation(at)]).unwrap())
}

#[test]
fn cantilevers_come_to_rest_on_the_elastica() {
    let Some(mut physics) = common::gpu_physics() else { return };
    let places = [DVec3::ZERO, DVec3::new(5000.0, 30.0, -2000.0)];
    let insert = |at: &DVec3| physics.insert(elasticas(*at), &[Pose::from_translation(*at)], Pose::IDENTITY).unwrap();
    let handles: Vec<FleshHandle> = places.iter().map(insert).collect();
    for _ in 0..600 {
        physics.step_flesh(DT).unwrap();
    }
    physics.finish().unwrap();
    assert_eq!((physics.state_step(handles[0]), physics.step_count()), (Ok(600), 600));
    for (handle, at) in handles.iter().zip(places) {
        for (chain, (gamma, tip, bar)) in ELASTICA.iter().enumerate() {
            let place = physics.node(*handle, chain, 20).unwrap().place - at;
            let error = (place.x - tip[0]).hypot(place.y - tip[1]);
            println!("Γ = {gamma} at {at}: tip off by {:.4} % of L", 100.0 * error);
            assert!(error <= *bar, "Γ = {gamma} at {at}: {place}");
        }
    }
}

#[test]
fn two_runs_of_every_second_scene_have_the_same_bits_and_stay_finite() {
    two_runs_have_the_same_bits(0);
}

#[test]
fn two_runs_of_the_scenes_between_have_the_same_bits_and_stay_finite() {
    two_runs_have_the_same_bits(1);
}

fn two_runs_have_the_same_bits(first: usize) {
    let run = || {
        let mut physics = common::gpu_physics()?;
        let mut hashes = Vec::new();
        for scene in scenes().iter().skip(first).step_by(2) {
            let handles = scene.fill(&mut physics);
            for step in 1..=40 {
                scene.pose(&mut physics, &handles, step % 25);
                physics.step_flesh(DT).unwrap();
            }
            physics.finish().unwrap();
            hashes.push(physics.state_hash());
            // The last first, so that the next scene's are in its order.
            for handle in handles.into_iter().rev() {
                assert_eq!(physics.health(handle).unwrap().resets, 0, "{}", scene.name);
                let vertices = physics.vertices(handle).unwrap();
                assert!(vertices.positions.iter().chain(&vertices.normals).all(|v| v.is_finite()));
                physics.remove(handle).unwrap();
            }
        }
        Some(hashes)
    };
    let Some(first) = run() else { return };
    println!("{first:x?}");
    assert_eq!(Some(first), run());
}
