//! Chains that hang on chains.

mod common;

use std::sync::Arc;

use common::{FRAME, backends, material};
use glam::{DQuat, DVec3};
use sinew::flesh::{BuildError, Flesh, Holds, RodSpec};
use sinew::step::{Integrator, StepConfig};
use sinew::{FleshHandle, HalfSpace, LaneWidth, Motion, Physics, Pose};

const STIFF: f64 = 1.0e6;
const STIFFER: f64 = 1.0e8;

fn rod(name: &str, from: DVec3, to: DVec3, segments: usize, radius: f64) -> RodSpec {
    RodSpec { material: material(STIFF, 0.4, 1000.0, 2.0), ..RodSpec::straight(name, from, to, segments, radius) }
}

fn step(physics: &mut Physics, frames: usize) {
    (0..frames).for_each(|_| physics.step_flesh(FRAME).unwrap());
    physics.finish().unwrap();
}

/// The CPU, and a GPU where there is one, each set up so.
fn each(config: StepConfig) -> impl Iterator<Item = (&'static str, Physics)> {
    backends().into_iter().map(move |(name, mut physics)| {
        physics.config = config;
        (name, physics)
    })
}

fn place(physics: &Physics, handle: FleshHandle, chain: usize, node: usize) -> DVec3 {
    physics.node(handle, chain, node).unwrap().place
}

/// A body that stands on a bone, and arms around it, from their tips to it, in an order of one's choice.
fn star(order: &[usize], clamped: bool) -> Arc<Flesh> {
    let body = rod("body", DVec3::ZERO, DVec3::Y * 0.4, 4, 0.08);
    let arms = order.iter().map(|&arm| {
        let out = DQuat::from_rotation_y(0.3 + std::f64::consts::TAU * arm as f64 / 8.0) * DVec3::X;
        let root = out * 0.07 + DVec3::Y * 0.3;
        rod(&format!("arm {arm}"), root + out * 0.5 + DVec3::Y * 0.05, root, 6, 0.02).hang(0, 3)
    });
    let body = if clamped { body.attach(0, 0, Holds::CLAMP) } else { body };
    let rods: Vec<RodSpec> = std::iter::once(body).chain(arms).collect();
    Arc::new(Flesh::build(&rods, &[Pose::IDENTITY]).unwrap())
}

const ALL: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// A rod cut in two, of which one half hangs on the other, is the rod; scales, which each half has its own of at the cut, are
/// held.
#[test]
fn a_rod_cut_in_two_swings_as_one() {
    for (cut, integrator) in [
        (1, Integrator::ImplicitEuler),
        (8, Integrator::ImplicitEuler),
        (19, Integrator::ImplicitEuler),
        (8, Integrator::SecondOrder),
    ] {
        let at = |node: usize| DVec3::new(0.04, 0.02, 0.02) * node as f64;
        let path = |nodes: Vec<usize>| {
            let mut path = rod("rod", at(0), at(1), nodes.len() - 1, 0.03);
            path.nodes.iter_mut().zip(nodes).for_each(|(to, node)| to.place = at(node));
            path.material = material(STIFF, 0.0, 1000.0, 2.0);
            RodSpec { rigid: true, ..path }
        };
        let whole = path((0..=20).collect()).attach(0, 0, Holds::CLAMP);
        let halves =
            [path((0..=cut).collect()).attach(0, 0, Holds::CLAMP), path((cut..=20).rev().collect()).hang(0, cut)];
        for (name, mut physics) in each(StepConfig { integrator, ..StepConfig::default() }) {
            let of = |physics: &mut Physics, rods: &[RodSpec]| {
                let flesh = Arc::new(Flesh::build(rods, &[Pose::IDENTITY]).unwrap());
                physics.insert(flesh, &[Pose::IDENTITY], Pose::IDENTITY).unwrap()
            };
            let (one, two) = (of(&mut physics, std::slice::from_ref(&whole)), of(&mut physics, &halves));
            let mut worst: f64 = 0.0;
            let mut most: f64 = 0.0;
            for frame in 0..90 {
                let shaken = DVec3::new(0.0, 0.05, 0.03) * (0.2 * f64::from(frame)).sin();
                let bone = Pose::new(shaken, DQuat::from_rotation_z(0.1 * (0.3 * f64::from(frame)).sin()));
                for handle in [one, two] {
                    physics.set_bones(handle, &[bone], Pose::IDENTITY).unwrap();
                }
                step(&mut physics, 1);
                for node in 0..=20 {
                    let whole = physics.node(one, 0, node).unwrap();
                    let (chain, own) = if node < cut { (0, node) } else { (1, 20 - node) };
                    let half = physics.node(two, chain, own).unwrap();
                    worst = worst.max(whole.place.distance(half.place));
                    most = most.max(whole.place.distance(at(node)));
                }
                assert!(place(&physics, two, 0, cut).distance(place(&physics, two, 1, 20 - cut)) < 1.0e-6);
            }
            println!("{name}, cut at {cut}, {integrator:?}: {worst:.1e} m off after swinging {most:.2} m (bar 1e-5)");
            assert!(worst < 1.0e-5 && most > 0.5, "{worst:e}, {most}");
        }
    }
}

#[test]
fn a_star_hangs_with_all_its_weight_on_its_bone() {
    let flesh = star(&ALL, true);
    let mass: f64 = (0..9).map(|chain| flesh.mass(chain)).sum();
    for (name, mut physics) in each(StepConfig::default()) {
        let handle = physics.insert(flesh.clone(), &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
        step(&mut physics, 600);
        let reaction = physics.reaction(handle, 0, 0).unwrap();
        let off = (reaction.force - DVec3::NEG_Y * mass * 9.81).length() / (mass * 9.81);
        println!("{name}: weight on the bone off by {off:.1e}, couple {:.1e} N·m (bar 1e-4)", reaction.couple.length());
        assert!(off < 1.0e-4, "{reaction:?}");
    }
}

/// Its arms bend as cantilevers on a stem that twists with them: small loads, in closed form.
#[test]
fn a_branched_cantilever_bends_as_beams_do() {
    // A stem along x; at its end a cross of two arms along ±z, of which one is heavier: it twists the stem.
    let (length, arm, radius) = (1.0, 0.5, 0.02);
    let end = DVec3::X * length;
    let stiff = |rod: RodSpec| RodSpec { material: material(STIFFER, 0.4, 1000.0, 5.0), ..rod };
    let stem = stiff(rod("stem", DVec3::ZERO, end, 40, radius)).attach(0, 0, Holds::CLAMP);
    let branch = |name: &str, out: DVec3| stiff(rod(name, end + out * arm, end, 20, radius)).hang(0, 40);
    let flesh = Flesh::build(&[stem, branch("left", DVec3::Z), branch("right", DVec3::NEG_Z)], &[Pose::IDENTITY]);
    let flesh = Arc::new(flesh.unwrap());
    for (name, mut physics) in each(StepConfig { gravity: DVec3::ZERO, ..StepConfig::default() }) {
        let handle = physics.insert(flesh.clone(), &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
        let force = 1.0e-2;
        // 4 s, in which damping leaves e⁻¹⁰ of what swings.
        for _ in 0..240 {
            physics.add_force(handle, 1, 0, DVec3::NEG_Y * force).unwrap();
            physics.step_flesh(FRAME).unwrap();
        }
        physics.finish().unwrap();
        let (e, second) = (STIFFER, std::f64::consts::PI / 4.0 * radius.powi(4));
        let g = e / 2.8;
        let bending = |l: f64| force * l.powi(3) / (3.0 * e * second);
        let twist = force * arm * length / (2.0 * g * second);
        let tip = -place(&physics, handle, 1, 0).y;
        let expected = bending(length) + bending(arm) + twist * arm;
        let stem = -place(&physics, handle, 0, 40).y;
        let other = place(&physics, handle, 2, 0).y + stem;
        println!(
            "{name}: tip {tip:.6} m of {expected:.6}, stem {stem:.6} of {:.6}, other arm up {other:.6} of {:.6}",
            bending(length),
            twist * arm
        );
        assert!((tip / expected - 1.0).abs() < 0.01, "{tip} {expected}");
        assert!((stem / bending(length) - 1.0).abs() < 0.01);
        assert!((other / (twist * arm) - 1.0).abs() < 0.01);
    }
}

#[test]
fn the_order_of_branches_is_nobodys_business() {
    let orders = [ALL, [3, 7, 1, 0, 6, 2, 5, 4]];
    for ((name, mut physics), frames) in each(StepConfig::default()).zip([120, 30]) {
        let bar = 1.0e-6;
        let handles =
            orders.map(|order| physics.insert(star(&order, true), &[Pose::IDENTITY], Pose::IDENTITY).unwrap());
        let mut worst: f64 = 0.0;
        for frame in 0..frames {
            let bone = Pose::new(DVec3::X * 0.1 * (0.2 * f64::from(frame)).sin(), DQuat::IDENTITY);
            handles.iter().for_each(|&handle| physics.set_bones(handle, &[bone], Pose::IDENTITY).unwrap());
            step(&mut physics, 1);
            for arm in 0..8 {
                let [a, b] = [0, 1].map(|k| {
                    let chain = 1 + orders[k].iter().position(|&at| at == arm).unwrap();
                    place(&physics, handles[k], chain, 0)
                });
                worst = worst.max(a.distance(b));
            }
        }
        println!("{name}, arms in another order: {worst:.1e} m apart (bar {bar:.0e})");
        assert!(worst < bar, "{worst:e}");
    }
}

/// A free star that spins and is bent keeps what it has of both momenta.
#[test]
fn a_free_star_keeps_its_momentum() {
    let flesh = star(&ALL, false);
    for integrator in [Integrator::ImplicitEuler, Integrator::SecondOrder] {
        for (name, mut physics) in each(StepConfig { gravity: DVec3::ZERO, integrator, ..StepConfig::default() }) {
            let handle = physics.insert(flesh.clone(), &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
            let motion =
                Motion { velocity: DVec3::new(1.0, 2.0, -0.5), spin: DVec3::new(0.5, 2.0, 0.3), centre: DVec3::ZERO };
            physics.set_velocity(handle, motion).unwrap();
            physics.apply_impulse(handle, 3, 0, DVec3::new(0.0, 0.3, 0.1)).unwrap();
            step(&mut physics, 1);
            let momentum = |physics: &Physics| {
                let mut sum = DVec3::ZERO;
                for chain in 0..9 {
                    let info = &flesh.chains()[chain];
                    for node in 0..info.node_count() {
                        let mass =
                            f64::from(flesh.groups()[info.group].row(node)[sinew::layout::rest::MASS][info.lane]);
                        sum += physics.node(handle, chain, node).unwrap().velocity.as_dvec3() * mass;
                    }
                }
                sum
            };
            let before = momentum(&physics);
            step(&mut physics, 120);
            let after = momentum(&physics);
            let off = before.distance(after) / before.length();
            println!("{name}, {integrator:?}: momentum off by {off:.1e} of itself after 2 s (bar 1e-4)");
            assert!(off < 1.0e-4, "{before} {after}");
        }
    }
}

/// Stars over three parts of so many frames each: in the middle of the first one is thrown, in the second the other is turned over,
/// in the third it is far away. The state's hash, how far arms came off their bodies (m), and how often chains were laid anew.
fn jerked(mut physics: Physics, part: u32) -> (u64, f64, u32) {
    physics.planes = vec![HalfSpace::new(DVec3::Y, -0.5, 0.5)];
    let handles: Vec<_> = [true, false]
        .into_iter()
        .map(|clamped| physics.insert(star(&ALL, clamped), &[Pose::IDENTITY], Pose::IDENTITY).unwrap())
        .collect();
    let mut worst: f64 = 0.0;
    for frame in 0..3 * part {
        // Shaken, thrown, turned over and put elsewhere.
        let shake = f64::from((frame * 7) % 5) * 0.03;
        let far = if frame > 2 * part { DVec3::new(4000.0, 0.0, 3.0) } else { DVec3::ZERO };
        let turn = DQuat::from_xyzw(0.0, 0.0, if frame > part { 1.0 } else { 0.0 }, 1.0).normalize();
        let bone = Pose::new(DVec3::X * shake + far, turn);
        physics.set_bones(handles[0], &[bone], Pose::IDENTITY).unwrap();
        if frame == part / 2 {
            let motion =
                Motion { velocity: DVec3::new(3.0, 9.0, 0.0), spin: DVec3::new(8.0, 0.0, 5.0), centre: DVec3::ZERO };
            physics.set_velocity(handles[1], motion).unwrap();
        }
        step(&mut physics, 1);
        for &handle in &handles {
            let body = physics.node(handle, 0, 3).unwrap();
            for arm in 0..8 {
                let out = DQuat::from_rotation_y(0.3 + std::f64::consts::TAU * arm as f64 / 8.0) * DVec3::X * 0.07;
                let root = physics.node(handle, 1 + arm, 6).unwrap();
                let rest = physics.flesh(handle).unwrap().chains()[0].rest[3].rotation;
                let there = body.place + (body.frame.as_dquat() * rest.conjugate()) * out * f64::from(body.scale);
                worst = worst.max(root.place.distance(there));
            }
        }
    }
    let resets = handles.iter().map(|&handle| physics.health(handle).unwrap().resets).sum();
    (physics.state_hash(), worst, resets)
}

#[test]
fn what_is_jerked_and_thrown_stays_together() {
    let on_cpu = |width, threads| {
        let mut physics = Physics::with_config(StepConfig { threads, ..StepConfig::default() });
        physics.lane_width = width;
        jerked(physics, 60)
    };
    let (first, worst, resets) = on_cpu(LaneWidth::Eight, 1);
    println!(
        "arms are off their body by {worst:.1e} m at most, {resets} chains laid anew (bar 1e-5 m but for f32 far away)"
    );
    assert!(worst < 5.0e-4, "{worst:e}");
    for (width, threads) in [(LaneWidth::EightBaseline, 2), (LaneWidth::One, 1)] {
        assert_eq!(on_cpu(width, threads).0, first, "{width:?}");
    }
}

/// On a GPU too, and the same bits run after run.
#[cfg(feature = "gpu")]
#[test]
fn what_is_jerked_and_thrown_stays_together_on_a_gpu() {
    let run = || common::gpu_physics().map(|physics| jerked(physics, 10));
    let Some((first, worst, resets)) = run() else { return };
    println!("arms are off their body by {worst:.1e} m at most, {resets} chains laid anew (bar 5e-4 m)");
    assert!(worst < 5.0e-4, "{worst:e}");
    assert_eq!(run().map(|again| again.0), Some(first));
}

#[test]
fn what_cannot_hang_is_refused() {
    let a = rod("a", DVec3::ZERO, DVec3::X, 4, 0.1);
    let build = |rods: &[RodSpec]| Flesh::build(rods, &[Pose::IDENTITY]).unwrap_err();
    let ring = build(&[a.clone().hang(1, 0), RodSpec { name: "b".into(), ..a.clone() }.hang(0, 2)]);
    assert!(matches!(&ring, BuildError::HangsOnItself { rods } if rods.len() == 2), "{ring}");
    let own = build(&[a.clone().hang(0, 0)]);
    assert!(matches!(&own, BuildError::HangsOnItself { rods } if rods.len() == 1), "{own}");
    let nowhere = build(&[a.clone().hang(3, 0)]);
    assert!(matches!(nowhere, BuildError::NoSuchStem { field: "rod", index: 3, count: 1, .. }), "{nowhere}");
    let no_node = build(&[a.clone(), a.clone().hang(0, 5)]);
    assert!(matches!(no_node, BuildError::NoSuchStem { field: "node", index: 5, count: 5, .. }), "{no_node}");
    let held = build(&[a.clone(), a.clone().hang(0, 2).attach(4, 0, Holds::CLAMP)]);
    assert!(matches!(held, BuildError::HeldAndHung { attachment: 0, .. }), "{held}");
    for error in [ring, own, nowhere, no_node, held] {
        println!("{error}");
    }
}

/// A saved tree goes on as the one that it was saved from.
#[cfg(feature = "serde")]
#[test]
fn a_tree_is_restored_to_the_bit() {
    let mut physics = Physics::default();
    physics.planes = vec![HalfSpace::new(DVec3::Y, -0.2, 0.5)];
    let handles =
        [true, false].map(|clamped| physics.insert(star(&ALL, clamped), &[Pose::IDENTITY], Pose::IDENTITY).unwrap());
    step(&mut physics, 40);
    let saved = physics.save();
    step(&mut physics, 40);
    let hash = physics.state_hash();
    physics.restore(&saved).unwrap();
    step(&mut physics, 40);
    assert_eq!(physics.state_hash(), hash, "{handles:?}");
}

/// A rod that hangs on none is rubbed and spins as it does in flesh of its own, whatever else there is in its flesh: what passes leave
/// out spins its sections too, and what implicit Euler takes is given back.
#[test]
fn a_rod_beside_a_tree_goes_as_by_itself() {
    let log = |from: DVec3, to: DVec3| RodSpec {
        material: material(STIFFER, 0.4, 1000.0, 0.0),
        ..RodSpec::straight("log", from, to, 6, 0.05)
    };
    let lying = log(DVec3::X * -0.4, DVec3::X * 0.4);
    let body = rod("body", DVec3::Z * 20.0, DVec3::new(0.0, 0.4, 20.0), 4, 0.08);
    let arm = rod("arm", DVec3::new(0.5, 0.4, 20.0), DVec3::new(0.07, 0.3, 20.0), 6, 0.02).hang(0, 3);
    let config = StepConfig { passes: 6, gravity: DVec3::ZERO, ..StepConfig::default() };
    for (name, mut physics) in each(config) {
        let run = |physics: &mut Physics, rods: &[RodSpec]| {
            let chain = rods.len() - 1;
            let flesh = Arc::new(Flesh::build(rods, &[]).unwrap());
            let across = Arc::new(Flesh::build(&[log(DVec3::Z * -0.3, DVec3::Z * 0.3)], &[]).unwrap());
            let handle = physics.insert(flesh, &[], Pose::IDENTITY).unwrap();
            let other = physics.insert(across, &[], Pose::from_translation(DVec3::Y * 0.11)).unwrap();
            let motion = Motion { velocity: DVec3::new(0.0, -2.0, 3.0), spin: DVec3::ZERO, centre: DVec3::ZERO };
            physics.set_velocity(other, motion).unwrap();
            step(physics, 6);
            let nodes: Vec<_> = (0..7).map(|node| physics.node(handle, chain, node).unwrap()).collect();
            for flesh in [handle, other] {
                assert!(physics.remove(flesh).is_ok());
            }
            nodes
        };
        let alone = run(&mut physics, std::slice::from_ref(&lying));
        let beside = run(&mut physics, &[body.clone(), arm.clone(), lying.clone()]);
        let spin = alone.iter().map(|node| f64::from(node.spin.x)).sum::<f64>() / 7.0;
        let apart = alone.iter().zip(&beside).map(|(a, b)| (a.spin - b.spin).length()).fold(0.0, f32::max);
        println!("{name}: rubbed, it spins by {spin:.3} rad/s; beside a tree off by {apart:.1e} (bar 1e-3 of it)");
        assert!(spin.abs() > 1.0 && f64::from(apart) <= 1.0e-3 * spin.abs());
    }
}

/// Chains of a tree that is broken are laid anew with it, and hang together.
#[test]
fn a_broken_tree_is_laid_anew_whole() {
    for clamped in [true, false] {
        let flesh = star(&ALL, clamped);
        for (name, mut physics) in each(StepConfig::default()) {
            let handle = physics.insert(flesh.clone(), &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
            step(&mut physics, 10);
            let mut node = physics.node(handle, 4, 2).unwrap();
            node.place = DVec3::splat(f64::NAN);
            physics.state_mut(handle).unwrap().set_node(&flesh, 4, 2, &node);
            step(&mut physics, 1);
            let health = physics.health(handle).unwrap();
            println!("{name}, clamped {clamped}: {} chains laid anew", health.resets);
            assert_eq!(health.resets, 9);
            step(&mut physics, 60);
            assert!(physics.state(handle).unwrap().is_finite());
            let body = place(&physics, handle, 0, 3);
            for arm in 1..9 {
                let apart = place(&physics, handle, arm, 6).distance(body);
                assert!((apart - 0.07).abs() < 5.0e-3, "arm {arm} is {apart} m from the body's axis");
            }
            assert_eq!(physics.health(handle).unwrap().resets, 9);
        }
    }
}

/// Where the nodes of some flesh are after a while at some of several sites, 10 m from each other; at every third, two fall on each
/// other, and all fall on the floor, each from a height of its own. Beside them falls a rod, from which places are rounded where it is
/// found who is near whom.
fn at_sites(sites: std::ops::Range<usize>, flesh: &Arc<Flesh>, width: LaneWidth) -> Vec<Vec<DVec3>> {
    let mut physics = Physics::with_config(StepConfig { passes: 6, ..StepConfig::default() });
    physics.lane_width = width;
    physics.planes = vec![HalfSpace::ground(0.0, 0.5)];
    let beside = Flesh::build(&[rod("beside", DVec3::X * -10.0, DVec3::X * -9.0, 3, 0.04)], &[]).unwrap();
    physics.insert(Arc::new(beside), &[], Pose::from_translation(DVec3::Y)).unwrap();
    let handles: Vec<_> = sites
        .flat_map(|site| {
            let turned = DQuat::from_rotation_y(0.3 * site as f64) * DQuat::from_rotation_x(0.5);
            let at = DVec3::new(10.0 * site as f64, 0.3 + 0.01 * site as f64, 0.0);
            let above = Pose::new(at + DVec3::new(0.06, 0.25, 0.03), turned);
            [Some(Pose::from_translation(at)), (site % 3 == 0).then_some(above)]
        })
        .flatten()
        .map(|root| physics.insert(flesh.clone(), &[], root).unwrap())
        .collect();
    step(&mut physics, 40);
    let nodes = |handle: FleshHandle| {
        let physics = &physics;
        let of = move |(chain, info): (usize, &sinew::flesh::Chain)| {
            (0..info.node_count()).map(move |node| place(physics, handle, chain, node))
        };
        flesh.chains().iter().enumerate().flat_map(of).collect()
    };
    handles.into_iter().map(nodes).collect()
}

/// Chains of several instances share SIMD lanes; each goes as it would alone, to the bit.
#[test]
fn who_else_there_is_changes_nothing() {
    const SITES: usize = 24;
    let octopus = {
        let parameters = sinew::scenes::SceneParameters::of("octopuses").unwrap();
        sinew::scenes::SceneParameters { rods: 1, ..parameters }.build("octopuses").unwrap().flesh
    };
    let log = Arc::new(Flesh::build(&[rod("log", DVec3::X * -0.2, DVec3::X * 0.2, 6, 0.04)], &[]).unwrap());
    for (name, flesh) in [("octopuses", octopus), ("logs", log)] {
        let alone: Vec<_> = (0..SITES).flat_map(|site| at_sites(site..site + 1, &flesh, LaneWidth::Eight)).collect();
        let fell = alone.iter().flatten().filter(|place| place.y < 0.1).count();
        for width in [LaneWidth::Eight, LaneWidth::One] {
            let together = at_sites(0..SITES, &flesh, width);
            let alike = alone.iter().zip(&together).filter(|(a, b)| a == b).count();
            println!("{name}, {width:?}: {alike} of {} go as alone, {fell} nodes lie", alone.len());
            assert!(alike == alone.len() && together.len() == alone.len() && fell > 100);
        }
    }
}

/// Two octopuses, one over the other and turned, that fall on the floor; places of all nodes after each frame. `off` (m) is how far
/// both are from there.
#[cfg(feature = "gpu")]
fn fallen(mut physics: Physics, frames: usize, off: f64) -> Vec<Vec<DVec3>> {
    let parameters = sinew::scenes::SceneParameters::of("octopuses").unwrap();
    let scene = sinew::scenes::SceneParameters { rods: 1, ..parameters }.build("octopuses").unwrap();
    physics.config = StepConfig { sleep_after: f64::INFINITY, ..scene.config };
    physics.planes = scene.planes;
    let turned = DQuat::from_rotation_y(0.3) * DQuat::from_rotation_x(0.5);
    let roots = [
        Pose::from_translation(DVec3::new(-off, 0.45 + off, off)),
        Pose::new(DVec3::new(0.06 + off, 1.0 - off, 0.03), turned),
    ];
    let handles = roots.map(|root| physics.insert(scene.flesh.clone(), &[], root).unwrap());
    let places = (0..frames).map(|_| {
        step(&mut physics, 1);
        let nodes = |handle| {
            let physics = &physics;
            let of = move |(chain, info): (usize, &sinew::flesh::Chain)| {
                (0..info.node_count()).map(move |node| place(physics, handle, chain, node))
            };
            scene.flesh.chains().iter().enumerate().flat_map(of).collect::<Vec<_>>()
        };
        handles.map(nodes).concat()
    });
    let places = places.collect();
    for handle in handles {
        assert!(physics.state(handle).unwrap().is_finite());
        assert_eq!(physics.health(handle).unwrap().resets, 0);
    }
    places
}

/// The GPU is as far from the CPU as ten times what that is from itself where it starts up to four roundings off, until heaps are
/// anyone's: a GPU rounds otherwise in every step. In the end both lie as high.
#[cfg(feature = "gpu")]
#[test]
fn octopuses_fall_on_each_other_alike() {
    const FRAMES: usize = 90;
    let Some(gpu) = common::gpu_physics() else { return };
    let far = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    let on_gpu = fallen(gpu, FRAMES, 0.0);
    let on_cpu = fallen(Physics::default(), FRAMES, 0.0);
    let others: Vec<_> =
        (-12..=12).filter(|k| *k != 0).map(|k| fallen(Physics::default(), FRAMES, 0.4e-7 * f64::from(k))).collect();
    let scatters: Vec<f64> = (0..FRAMES)
        .map(|frame| others.iter().map(|other| far(&other[frame], &on_cpu[frame])).fold(5.0e-7, f64::max))
        .collect();
    let known = scatters.iter().take_while(|scatter| **scatter < 1.0e-3).count();
    let lowest = |places: &[DVec3]| places.iter().map(|place| place.y).fold(f64::INFINITY, f64::min);
    for frame in 0..known {
        let (off, bar) = (far(&on_gpu[frame], &on_cpu[frame]), 10.0 * scatters[frame]);
        println!("frame {}: {off:.1e} m apart (bar {bar:.1e}), lowest at {:.3} m", frame + 1, lowest(&on_cpu[frame]));
        assert!(off <= bar);
    }
    let height = |places: &[DVec3]| places.iter().map(|place| place.y).sum::<f64>() / places.len() as f64;
    let [cpu, gpu] = [&on_cpu, &on_gpu].map(|run| height(&run[FRAMES - 1]));
    let spread = others.iter().map(|run| (height(&run[FRAMES - 1]) - cpu).abs()).fold(0.0, f64::max);
    println!("after {known} frames anyone's; {cpu:.4} m high in the end, {gpu:.4} on the GPU, others {spread:.4} off");
    assert!(known > 20 && lowest(&on_cpu[known - 1]) < 0.03, "nothing touches before");
    assert!((gpu - cpu).abs() < 0.02 && lowest(&on_gpu[FRAMES - 1]) > 0.005);
}

/// Trees of many sizes, two in one flesh and a rod beside them, share workgroups, and none is astride of two; some are paused and removed.
#[cfg(feature = "gpu")]
#[test]
fn trees_of_many_sizes_share_workgroups() {
    let Some(gpu) = common::gpu_physics() else { return };
    let two = {
        let long = rod("long", DVec3::ZERO, DVec3::X, 9, 0.03);
        let twig =
            |name: &str, stem, root: DVec3| rod(name, root + DVec3::new(0.1, -0.2, 0.05), root, 3, 0.01).hang(stem, 1);
        let other = RodSpec { name: "other".into(), ..rod("", DVec3::Z, DVec3::Z + DVec3::X * 0.5, 5, 0.03) };
        let apart = [3.0, 4.0].map(|x| rod("apart", DVec3::X * x, DVec3::new(x, 0.5, 0.0), 6, 0.02));
        let [first, second] = [DVec3::X / 9.0, DVec3::Z + DVec3::X * 0.1];
        let twigs = [twig("a", 0, first), twig("b", 1, second), twig("c", 1, second)];
        let rods: Vec<RodSpec> =
            [long.attach(0, 0, Holds::CLAMP), other].into_iter().chain(twigs).chain(apart).collect();
        Arc::new(Flesh::build(&rods, &[Pose::IDENTITY]).unwrap())
    };
    let many: Vec<usize> = (0..20).collect();
    let fleshes = [star(&many, true), star(&ALL, false), star(&many, false), two.clone(), star(&ALL[..3], true), two];
    let places = [Physics::default(), gpu].map(|mut physics| {
        let insert = |(index, flesh): (usize, &Arc<Flesh>)| {
            let root = Pose::from_translation(DVec3::Y * index as f64);
            physics.insert(flesh.clone(), &[Pose::IDENTITY], root).unwrap()
        };
        let mut handles: Vec<_> = fleshes.iter().enumerate().map(insert).collect();
        step(&mut physics, 4);
        physics.set_active(handles[0], sinew::Active { flesh: false, skin: true }).unwrap();
        physics.remove(handles.remove(1)).unwrap();
        step(&mut physics, 4);
        let nodes = |handle: &FleshHandle| {
            let chains = physics.flesh(*handle).unwrap().chains().iter().enumerate();
            let of = |(chain, info): (usize, &sinew::flesh::Chain)| {
                (0..info.node_count()).map(|node| place(&physics, *handle, chain, node)).collect::<Vec<_>>()
            };
            chains.flat_map(of).collect::<Vec<_>>()
        };
        handles.iter().flat_map(nodes).collect::<Vec<_>>()
    });
    let [on_cpu, on_gpu] = &places;
    let far = on_cpu.iter().zip(on_gpu).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    println!("{} nodes, {far:.1e} m apart (bar 1e-5)", on_cpu.len());
    assert!(on_cpu.len() == on_gpu.len() && far < 1.0e-5);
}

/// So many chains as there are threads in a workgroup hang on each other; of more a GPU says so.
#[cfg(feature = "gpu")]
#[test]
fn a_gpu_refuses_trees_of_too_many_chains() {
    let Some(mut physics) = common::gpu_physics() else { return };
    let orders = [56, 57].map(|count| (0..count).collect::<Vec<usize>>());
    let most = physics.insert(star(&orders[0], true), &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
    step(&mut physics, 1);
    let more = physics.insert(star(&orders[1], true), &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
    let refused = physics.step_flesh(FRAME).unwrap_err();
    assert_eq!(refused, sinew::StepError::TreesOnGpu { chain: "body".into(), chains: 58 });
    println!("{refused}");
    physics.remove(more).unwrap();
    step(&mut physics, 1);
    assert!(physics.flesh(most).is_ok());
}
