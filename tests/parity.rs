//! The GPU does what the CPU does: raw rows stage by stage, the canonical cantilever, and the same bits run after run.
#![cfg(feature = "gpu")]

mod common;

use std::sync::Arc;

use common::parity::{
    DT, OF_KINDS, Scene, apart_by_kind, both, compare, contracting, jerked, jerked_trees, scenes, treading,
};
use glam::DVec3;
use sinew::cpu::solve_rods::ROUGH;
use sinew::flesh::{Flesh, FleshState, Holds, MuscleState, NodeState, RodSpec};
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
                physics.step_flesh_by(scene.frame, &walk).unwrap();
                physics.finish().unwrap();
            }
            let (worst, at) = compare(scene, stage, &cpu, &gpu, &handles);
            line += &format!(" {} {worst:.2}", stage.name());
            if worst.is_nan() || worst > 1.0 {
                let by_kind = apart_by_kind(scene, stage, &cpu, &gpu, &handles);
                let by_rounding = off_by_rounding(scene, stage, &start, &cpu, &handles, by_kind);
                line += &format!(" (by roundings at least {:.2})", by_rounding.into_iter().fold(0.0, f32::max));
                let is_off = |(off, by_rounding): (&f32, f32)| !off.is_finite() || *off > is_rounded(by_rounding);
                if by_kind.iter().zip(by_rounding).any(is_off) {
                    let name = stage.name();
                    off.push(format!(
                        "{} after {name}: {by_kind:?} × 1e-5, {by_rounding:?} by roundings, {at}",
                        scene.name
                    ));
                }
            }
        }
        println!("{line}  (× 1e-5)");
    }
    assert!(off.is_empty(), "{}", off.join("\n"));
}

/// A GPU may be as far from the CPU as so many times what the CPU is from itself by roundings: it has some units in the last place in each
/// of many quotients and roots, and sums in another order, where the CPU is given one unit in what it starts from.
const ROUNDINGS: f32 = 10.0;

/// From how many states that are rounded otherwise the CPU starts. What roundings decide comes out in one of few ways, the rarest of
/// which that was seen is one in some ten.
const TRIES: u32 = 24;

/// How far off (10⁻⁵) rows may be of a kind that is so far off by roundings.
fn is_rounded(by_rounding: f32) -> f32 {
    (ROUNDINGS * by_rounding).max(1.0)
}

/// By how much (10⁻⁵) the CPU's rows of each kind are off its own where it starts from what is otherwise rounded: a step's length that
/// is up to eight roundings off, or nodes ([`round_otherwise`]) and bones. It is tried until that is enough for rows that are off by `off`.
fn off_by_rounding(
    scene: &Scene,
    stage: Stage,
    start: &Snapshot,
    cpu: &Physics,
    handles: &[FleshHandle],
    off: [f32; OF_KINDS],
) -> [f32; OF_KINDS] {
    let walk = Walk { last: Some(stage), ..Walk::default() };
    let of_steps = [-8.0, -2.0, -1.0, 1.0, 2.0, 8.0].map(|by| (by, None));
    let of_nodes = (1..=TRIES).map(|seed| (0.0, Some(seed)));
    let mut most = [0.0_f32; OF_KINDS];
    for (by, seed) in of_steps.into_iter().chain(of_nodes) {
        let mut other = Physics::default();
        let others = scene.fill(&mut other);
        other.restore(start).unwrap();
        scene.pose(&mut other, &others, scene.before + 1);
        for (index, (handle, (flesh, _, root))) in others.iter().zip(&scene.flesh).enumerate() {
            let Some(seed) = seed else { break };
            let mut draw = draws(seed << 16 | index as u32);
            round_otherwise(other.state_mut(*handle).unwrap(), &mut draw);
            let mut bones = (scene.bones)(scene.before + 1)[..flesh.bones().len()].to_vec();
            for bone in &mut bones {
                bone.translation += DVec3::from_array([0; 3].map(|_| ROUNDING * (f64::from(draw()) - 1.0)));
            }
            other.set_bones(*handle, &bones, *root).unwrap();
        }
        other.step_flesh_by(scene.frame * (1.0 + by * f64::from(f32::EPSILON)), &walk).unwrap();
        let by_kind = apart_by_kind(scene, stage, cpu, &other, handles);
        assert!(by_kind.iter().all(|off| off.is_finite()), "{}: {by_kind:?}", scene.name);
        most = std::array::from_fn(|kind| most[kind].max(by_kind[kind]));
        if off.iter().zip(most).all(|(off, most)| *off <= is_rounded(most)) {
            break;
        }
    }
    most
}

/// Numbers 0 to 2 as they fall.
fn draws(seed: u32) -> impl FnMut() -> u32 {
    let mut count = 0_u32;
    move || {
        count += 1;
        // The finisher of MurmurHash3.
        let mut bits = count ^ seed.wrapping_mul(0x9e37_79b9);
        bits = (bits ^ bits >> 16).wrapping_mul(0x85eb_ca6b);
        bits = (bits ^ bits >> 13).wrapping_mul(0xc2b2_ae35);
        (bits ^ bits >> 16) % 3
    }
}

/// Has what a frame leaves to the next be the next number up, the next one down, or what it is, entry by entry. Frames stay of length 1.
fn round_otherwise(state: &mut FleshState, mut draw: impl FnMut() -> u32) {
    for row in state.node_rows_mut().flat_map(|rows| rows.chunks_exact_mut(node::ENTRIES)) {
        for entry in [node::STATE, node::HISTORY].into_iter().flatten() {
            for value in &mut row[entry] {
                *value = [*value, value.next_up(), value.next_down()][draw() as usize];
            }
        }
        for lane in 0..row[node::FRAME].len() {
            let frame: [f64; 4] = std::array::from_fn(|k| row[node::FRAME + k][lane].into());
            let length = frame.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
            (0..4).for_each(|k| row[node::FRAME + k][lane] = (frame[k] / length) as f32);
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

/// What each muscle of [`contracting`] says of itself after 20 frames, its bones off by `off` (m) throughout.
fn muscles_after(mut physics: Physics, off: f64) -> Vec<MuscleState> {
    let scene = contracting();
    let handles = scene.fill(&mut physics);
    let (flesh, _, root) = &scene.flesh[0];
    for step in 1..=20 {
        scene.pose(&mut physics, &handles, step);
        let mut bones = (scene.bones)(step)[..flesh.bones().len()].to_vec();
        bones.iter_mut().for_each(|bone| bone.translation += DVec3::splat(off));
        physics.set_bones(handles[0], &bones, *root).unwrap();
        physics.step_flesh(DT).unwrap();
    }
    physics.finish().unwrap();
    (0..flesh.chains().len()).map(|chain| physics.muscle(handles[0], chain).unwrap()).collect()
}

/// What a muscle says of itself is the same from either backend, to 10⁻⁴ of the largest tension, or to four times what it is off on the
/// CPU where bones are roundings off: of the stiffest one, of 20 MPa and 20 cm², a rounding of its strain is 5·10⁻⁵ of that.
#[test]
fn muscles_say_the_same_of_themselves() {
    let Some(gpu) = common::gpu_physics() else { return };
    let on_cpu = muscles_after(Physics::default(), 0.0);
    let on_gpu = muscles_after(gpu, 0.0);
    let rounded = [-4, -3, -2, -1, 1, 2, 3, 4].map(|k| muscles_after(Physics::default(), f64::from(k) * ROUNDING));
    let most = on_cpu.iter().map(|muscle| muscle.tension.abs()).fold(0.0, f64::max);
    assert!(most > 1.0 && on_cpu.iter().any(|muscle| muscle.activation > 0.5), "nothing pulls");
    let apart = |a: &MuscleState, b: &MuscleState| {
        let forces = (a.origin_force.distance(b.origin_force)).max(a.insertion_force.distance(b.insertion_force));
        forces.max((a.tension - b.tension).abs()) / most
    };
    for (chain, (a, b)) in on_cpu.iter().zip(&on_gpu).enumerate() {
        let (off, scatter) = (apart(a, b), rounded.iter().map(|of| apart(a, &of[chain])).fold(0.0, f64::max));
        println!(
            "activation {:.3}, {:.2} N: {off:.1e} of the largest tension apart, {scatter:.1e} by roundings",
            a.activation, a.tension
        );
        assert_eq!(a.activation, b.activation);
        // Else anything would pass.
        assert!(scatter < 2.0e-4, "{scatter}");
        assert!(off <= f64::max(1.0e-4, 4.0 * scatter), "{off}");
        assert!((a.stretch - b.stretch).abs() <= 1.0e-4 && (a.volume_ratio - b.volume_ratio).abs() <= 1.0e-4);
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
