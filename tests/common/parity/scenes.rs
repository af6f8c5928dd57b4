//! The scenes: rods, how their bones move, and what the game does to them.

use std::sync::Arc;

use glam::{DQuat, DVec3, Mat3, Quat, Vec3};
use sinew::flesh::{Bundle, Carriers, Contraction, Disc, Flesh, Holds, RodSpec};
use sinew::scenes::Cantilevers;
use sinew::step::Integrator;
use sinew::{
    Active, Coefficient, Collisions, CombineRule, FleshHandle, HalfSpace, Material, MorphRow, MorphTarget, Motion,
    Physics, Pose, Skin,
};

use super::super::sheet;
use super::carried::carried_into_each_other;
use super::solids::{on_a_floor_that_turns, on_solids, thrown_down};
use super::{DT, Scene};

/// Several rods of a material between two places, side by side, of the segment counts given.
pub fn rods(from: DVec3, to: DVec3, radius: f64, segments: &[usize], material: Material) -> Vec<RodSpec> {
    let rod = |(index, &count): (usize, &usize)| {
        let aside = DVec3::Z * (0.11 * index as f64);
        let mut rod = RodSpec::straight(format!("rod {index}"), from + aside, to + aside, count, radius);
        rod.material = material;
        rod
    };
    segments.iter().enumerate().map(rod).collect()
}

pub fn no_bones(_: usize) -> Vec<Pose> {
    Vec::new()
}

fn still_bone(_: usize) -> Vec<Pose> {
    vec![Pose::IDENTITY]
}

/// A bone that after the twenty-fifth step is torn up and away.
fn torn_bone(step: usize) -> Vec<Pose> {
    vec![Pose::from_translation(DVec3::new(0.0, 0.02, 0.01) * step.saturating_sub(25) as f64)]
}

/// Two bones that swing and run off, so that origins follow in the thirteenth step, the one that is compared.
fn moving_bones(step: usize) -> Vec<Pose> {
    let t = step as f64 * DT;
    let run = DVec3::new(11.7 * t * t, 0.2 * (7.0 * t).sin(), 0.0);
    let swing = DQuat::from_scaled_axis(DVec3::new(0.3, 1.0, 0.2) * (3.0 * t).sin());
    vec![Pose::new(run, swing), Pose::new(run + DVec3::X, swing * DQuat::from_rotation_x(t))]
}

/// Two bones that draw a rod out to 1.1 times its length.
fn parting_bones(step: usize) -> Vec<Pose> {
    vec![Pose::IDENTITY, Pose::from_translation(DVec3::X * (1.0 + 0.025 * (step as f64).min(4.0)))]
}

/// As [`moving_bones`], and in the thirteenth step both elsewhere at once, together.
fn bones_elsewhere(step: usize) -> Vec<Pose> {
    let jump = Pose::new(DVec3::new(40.0, -3.0, 7.0), DQuat::from_scaled_axis(DVec3::new(1.0, -0.4, 0.3)));
    let there = if step > 12 { jump } else { Pose::IDENTITY };
    moving_bones(step).into_iter().map(|bone| there * bone).collect()
}

/// As [`moving_bones`], and in the thirteenth step one of them elsewhere at once.
fn bones_torn_apart(step: usize) -> Vec<Pose> {
    let mut bones = moving_bones(step);
    if step > 12 {
        bones[1].translation.z += 1.3;
    }
    bones
}

/// Three bones along a limb of 1.2 m that bends at its two joints.
fn joint_bones(step: usize) -> Vec<Pose> {
    let t = step as f64 * DT;
    let first = Pose::new(DVec3::Y * (0.3 * t), DQuat::from_rotation_y(0.5 * t));
    let second = first * Pose::new(DVec3::X * 0.4, DQuat::from_rotation_z(0.9 * t));
    let third = second * Pose::new(DVec3::X * 0.4, DQuat::from_rotation_z(0.7 * t));
    vec![first, second, third]
}

/// Spindles of seven fibres that go over three bones by a via point each: with stiff tendons and every law of contraction,
/// rigid, in balance under gravity, and one that hangs by one end.
fn muscles() -> Vec<RodSpec> {
    let spindle = |index: usize| {
        let aside = DVec3::new(0.0, 0.06, 0.15 * index as f64);
        let fibre = |k: usize| {
            let around = k as f64 * std::f64::consts::TAU / 6.0;
            let out = if k == 6 { 0.0 } else { 0.03 };
            let disc = |j: usize| {
                let along = j as f64 / 9.0;
                let belly = 0.3 + 0.7 * (std::f64::consts::PI * along).sin();
                let across = DVec3::new(0.0, around.cos(), around.sin()) * (out * belly);
                Disc { place: aside + DVec3::X * (1.2 * along) + across, radius: 0.011 * belly }
            };
            (0..10).map(disc).collect()
        };
        let bundle = Bundle { fibres: (0..7).map(fibre).collect() };
        let mut rod = RodSpec::from_bundle(format!("muscle {index}"), &bundle).unwrap();
        rod.material = Material { peak_stress: 5.0e4, ..soft() };
        rod.attach(0, 0, Holds::CLAMP)
    };
    let mut over = spindle(0).attach(4, 1, Holds::GUIDE).attach(9, 2, Holds::CLAMP);
    over.contraction = Contraction {
        contractile: vec![0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0],
        optimal_stretch: Some(1.1),
        passive: 0.3,
        max_velocity: Some(8.0),
        shortening: 0.1,
        ..Default::default()
    };
    let tendon = Material { fibre_modulus: 5.0e6, ..over.material };
    over.segment_materials = vec![over.material; 9];
    (over.segment_materials[0], over.segment_materials[8]) = (tendon, tendon);
    let mut rigid = spindle(1).attach(5, 1, Holds::GUIDE).attach(9, 2, Holds::PIN);
    rigid.rigid = true;
    let mut balanced = spindle(2);
    balanced.material.youngs_modulus = 2.0e7;
    balanced.rest_gravity = DVec3::new(0.0, -9.81, 0.0);
    vec![over, rigid, balanced]
}

pub fn soft() -> Material {
    Material { youngs_modulus: 2.0e5, poissons_ratio: 0.45, damping: 2.0, ..Material::default() }
}

pub fn hung(mut rods: Vec<RodSpec>, at: usize, bone: usize, holds: Holds) -> Vec<RodSpec> {
    for rod in &mut rods {
        let node = at.min(rod.nodes.len() - 1);
        *rod = rod.clone().attach(node, bone, holds);
    }
    rods
}

/// Muscles of every law of contraction that go over three bones at rest, and are activated at once.
pub fn contracting() -> Scene {
    let mut scene = Scene::new("contracting", &muscles(), |_| joint_bones(0));
    scene.activation = 1.0;
    scene.before = 0;
    scene
}

/// A bone that is put down and lifted, seven times a second.
fn treading_bone(step: usize) -> Vec<Pose> {
    let t = step as f64 * DT;
    vec![Pose::from_translation(DVec3::new(0.3 * t, -0.02 * (1.0 - (44.0 * t).cos()), 0.0))]
}

/// Rods that hang from a bone which puts their lower ends on the ground, drags them over it and lifts them again.
pub fn treading() -> Scene {
    let hanging = rods(DVec3::Y * 0.41, DVec3::new(0.1, 0.03, 0.0), 0.02, &[8, 6, 11], soft());
    let mut scene = Scene::new("treading", &hung(hanging, 0, 0, Holds::CLAMP), treading_bone);
    scene.planes = vec![HalfSpace::ground(0.0, 0.8)];
    scene.before = 0;
    scene
}

/// Rods of other instances and of one that meet: across each other, along each other, end to end, thick on thin, on the ground and
/// hung, thrown together and led astray by it.
fn meeting() -> Vec<Scene> {
    let (x, z) = (DVec3::X, DVec3::Z);
    let rod = |name: &str, from: DVec3, to: DVec3, segments: usize, radius: f64| {
        let mut rod = RodSpec::straight(name, from, to, segments, radius);
        rod.material = soft();
        rod
    };
    let lying = [rod("one", DVec3::ZERO, x * 0.9, 9, 0.05), rod("other", z * 0.2, z * 0.2 + x * 0.8, 7, 0.04)];
    let upper = [
        rod("across", DVec3::new(0.33, 0.092, -0.3), DVec3::new(0.37, 0.088, 0.4), 6, 0.05),
        rod("along", DVec3::new(0.52, 0.093, -0.01), DVec3::new(0.83, 0.096, 0.02), 5, 0.05),
        rod("thin", DVec3::new(0.1, 0.066, -0.2), DVec3::new(0.1, 0.064, 0.3), 11, 0.02),
        rod("upright", DVec3::new(0.95, 0.01, 0.03), DVec3::new(0.99, 0.5, 0.03), 6, 0.05),
    ];
    let hung =
        [rod("hung", DVec3::new(-0.1, 0.16, 0.1), DVec3::new(0.7, 0.165, 0.1), 8, 0.03).attach(0, 0, Holds::CLAMP)];
    let mut scene = Scene::new("meeting", &lying, no_bones);
    scene.bones = still_bone;
    for (rods, bones) in [(&upper[..], &[][..]), (&hung, &[Pose::IDENTITY])] {
        let flesh = Arc::new(Flesh::build(rods, bones).unwrap());
        scene.flesh.push((flesh, Arc::new(Skin::default()), Pose::IDENTITY));
    }
    scene.config.passes = 4;
    scene.before = 0;
    scene.play = |physics, handle, step| {
        let chains = physics.flesh(handle).unwrap().chains().len();
        rub(physics, handle, [Some((0.8, CombineRule::GeometricMean)), None][usize::from(chains == 2)]);
        // Of three instances the second is dragged over the first.
        if step == 1 && physics.flesh(handle).unwrap().chains().len() == 4 {
            let velocity = DVec3::new(0.6, -0.4, 0.2);
            let motion = Motion { velocity, spin: DVec3::new(0.5, 1.0, 2.0), centre: DVec3::new(0.5, 0.1, 0.0) };
            physics.set_velocity(handle, motion).unwrap();
        }
    };
    let again = || Scene { flesh: scene.flesh.clone(), planes: Vec::new(), ..scene };
    let mut grounded = again();
    grounded.name = "meeting on the ground";
    grounded.planes = vec![HalfSpace::ground(-0.0495, 0.5)];
    grounded.config.integrator = Integrator::SecondOrder;
    // What is pushed out of the ground at first stands; what stays on it is in the matrix wherever it begins. Later, what rounding
    // parts grows.
    grounded.before = 1;
    // What pressed is as stiff as it was.
    let mut shorter = Scene { planes: grounded.planes.clone(), flesh: scene.flesh.clone(), ..grounded };
    shorter.name = "meeting in a shorter frame";
    shorter.frame = DT / 3.0;
    let mut longer = Scene { planes: grounded.planes.clone(), flesh: scene.flesh.clone(), ..grounded };
    longer.name = "meeting in a longer frame";
    longer.frame = DT * 1.5;
    // What is pressed by more than moves it goes on beyond that one step.
    let mut once_more = Scene { planes: grounded.planes.clone(), flesh: scene.flesh.clone(), ..grounded };
    once_more.name = "meeting with one step more";
    once_more.config.retries = 1;
    // What is light bears what is heavier.
    let mut heavier = again();
    heavier.name = "meeting what is heavier";
    let dense = upper.clone().map(|mut rod| {
        rod.material.density *= 60.0;
        rod
    });
    heavier.flesh[1].0 = Arc::new(Flesh::build(&dense, &[]).unwrap());
    let mut thrown = again();
    thrown.name = "thrown together";
    thrown.config.iterations = 2;
    thrown.play = |physics, handle, step| {
        let chains = physics.flesh(handle).unwrap().chains().len();
        rub(physics, handle, [Some((0.3, CombineRule::Multiply)), None][usize::from(chains == 2)]);
        if step == 1 && physics.flesh(handle).unwrap().chains().len() == 4 {
            let motion = Motion { velocity: DVec3::NEG_Y * 12.0, spin: DVec3::new(1.0, 2.0, 9.0), centre: DVec3::ZERO };
            physics.set_velocity(handle, motion).unwrap();
        }
    };
    // Faster than one substep lets what meets others; and what meets none.
    let mut flung = again();
    flung.name = "flung by a bone";
    let alone = rod("alone", DVec3::new(-0.1, 2.0, 0.1), DVec3::new(0.7, 2.0, 0.1), 8, 0.03).attach(0, 0, Holds::CLAMP);
    let alone = Arc::new(Flesh::build(&[alone], &[Pose::IDENTITY]).unwrap());
    flung.flesh.push((alone, Arc::new(Skin::default()), Pose::IDENTITY));
    flung.config.jump = f64::INFINITY;
    flung.bones = |step| vec![Pose::from_translation(DVec3::new(0.5, -2.0, 3.0) * step.min(1) as f64)];
    vec![scene, grounded, shorter, longer, once_more, heavier, thrown, flung]
}

/// Has flesh rub by a coefficient and its rule.
fn rub(physics: &mut Physics, handle: FleshHandle, by: Option<(f32, CombineRule)>) {
    let friction = by.map(|(value, rule)| Coefficient::new(value, rule));
    physics.set_collisions(handle, Collisions { friction, ..Collisions::default() }).unwrap();
}

/// A body and what hangs on it, from their tips to it: five arms, of one of them two twigs, and of one of these a third; a rod beside.
pub fn branched(clamped: bool) -> Vec<RodSpec> {
    let rod = |name: String, from: DVec3, to: DVec3, segments: usize, radius: f64| RodSpec {
        material: soft(),
        ..RodSpec::straight(name, from, to, segments, radius)
    };
    let body = rod("body".into(), DVec3::ZERO, DVec3::Y * 0.4, 4, 0.08);
    let body = if clamped { body.attach(0, 0, Holds::CLAMP) } else { body };
    let mut rods = vec![body];
    for arm in 0..5 {
        let out = DQuat::from_rotation_y(0.3 + std::f64::consts::TAU * arm as f64 / 5.0) * DVec3::X;
        let root = out * 0.07 + DVec3::Y * 0.3;
        // One hangs lower than the others, and has fewer segments.
        let (node, segments) = if arm == 3 { (0, 4) } else { (3, 6) };
        rods.push(rod(format!("arm {arm}"), root + out * 0.5 + DVec3::Y * 0.05, root, segments, 0.02).hang(0, node));
    }
    for (twig, (stem, node)) in [(2, 2), (2, 4), (6, 1)].into_iter().enumerate() {
        let root = rods[stem].nodes[node].place;
        let tip = root + DVec3::new(0.02, 0.15, 0.1);
        rods.push(rod(format!("twig {twig}"), tip, root, 3, 0.012).hang(stem, node));
    }
    rods.push(rod("beside".into(), DVec3::Z * 2.0, DVec3::new(0.3, 0.1, 2.0), 7, 0.03));
    rods
}

/// A tree that hangs on a bone which jerks, so that solves are led astray and steps shortened.
pub fn jerked_trees() -> Scene {
    let jerking = |step: usize| {
        let jerked = if step > 12 && step % 2 == 1 { 1.0 } else { 0.0 };
        let turn = DQuat::from_scaled_axis(DVec3::new(0.3, 1.2, 0.8) * jerked);
        vec![Pose::new(DVec3::new(-0.3, 0.5, -0.2) * jerked, turn)]
    };
    let mut scene = Scene::new("jerked trees", &branched(true), jerking);
    scene.config.jump = f64::INFINITY;
    scene
}

/// Trees that hang on a bone and free ones, in every law of motion; on the ground, thrown, and among others.
fn trees() -> Vec<Scene> {
    let flesh = |clamped: bool, root: DVec3| {
        let bones: &[Pose] = if clamped { &[Pose::IDENTITY] } else { &[] };
        let built = Flesh::build(&branched(clamped), bones).unwrap();
        (Arc::new(built), Arc::new(Skin::default()), Pose::from_translation(root))
    };
    let scene = |name: &'static str| {
        let mut scene = Scene::new(name, &[], moving_bones);
        scene.flesh = vec![flesh(true, DVec3::ZERO), flesh(false, DVec3::new(3.0, 0.05, 0.4))];
        scene
    };
    let mut hanging = scene("trees");
    hanging.spin = Vec3::new(0.5, 1.0, 3.0);
    let mut pushed = scene("trees, second order");
    pushed.config.integrator = Integrator::SecondOrder;
    pushed.config.iterations = 2;
    pushed.play = |physics, handle, step| {
        physics.add_force(handle, 2, 0, DVec3::new(0.1, -0.2, 0.1)).unwrap();
        if step == 10 || step == 13 {
            let motion =
                Motion { velocity: DVec3::new(0.3, 1.0, 0.2), spin: DVec3::new(1.0, 2.0, 3.0), centre: DVec3::Y };
            physics.add_velocity(handle, motion).unwrap();
        }
    };
    let mut fallen = scene("trees on the ground");
    fallen.planes = vec![HalfSpace::ground(0.0, 0.5)];
    fallen.bones = |_| vec![Pose::from_translation(DVec3::Y * 0.05), Pose::IDENTITY];
    fallen.before = 25;
    let mut scenes = vec![hanging, pushed, fallen];
    // Beside another, body on an arm and arms on arms, and thrown at it.
    for (name, ground, speed) in [
        ("trees meeting", None, 1.0),
        ("trees meeting on the ground", Some(-0.079), 1.0),
        ("trees thrown together", None, 12.0),
    ] {
        let mut scene = Scene::new(name, &[], |_| vec![Pose::from_translation(DVec3::Z * 5.0)]);
        let (over, skin, _) = flesh(false, DVec3::ZERO);
        let over = (over, skin, Pose::new(DVec3::new(0.31, 0.045, 0.0), DQuat::from_rotation_y(-0.3)));
        scene.flesh = vec![flesh(false, DVec3::ZERO), over];
        // What a bone bears of what has hardly begun to swing is nothing but roundings.
        scene.flesh.extend((speed < 2.0).then(|| flesh(true, DVec3::ZERO)));
        scene.planes = ground.map(|height| HalfSpace::ground(height, 0.5)).into_iter().collect();
        scene.config.passes = 4;
        scene.config.iterations = if speed > 2.0 { 2 } else { 1 };
        // Before any row is as near to where passes end that roundings decide.
        scene.before = if speed > 2.0 { 0 } else { 3 };
        scene.play = if speed > 2.0 {
            |physics, handle, step| thrown_on(physics, handle, step, 12.0)
        } else {
            |physics, handle, step| thrown_on(physics, handle, step, 1.0)
        };
        scenes.push(scene);
    }
    scenes
}

/// Throws the second instance at the first one in the first step.
fn thrown_on(physics: &mut Physics, handle: FleshHandle, step: usize, speed: f64) {
    if step == 1 && physics.instances().position(|other| other == handle) == Some(1) {
        let velocity = DVec3::new(-0.5, -1.0, 0.1) * speed;
        let motion = Motion { velocity, spin: DVec3::new(0.2, 0.5, 0.3), centre: DVec3::new(0.3, 0.2, 0.0) };
        physics.set_velocity(handle, motion).unwrap();
    }
}

/// Skin that morph targets move before it is skinned, and networks: an instance each of both, of one of these, of the other by dual
/// quaternions, and with all given weights.
fn moved_skin(rods: &[RodSpec]) -> Scene {
    let mut scene = Scene::new("moved skin", rods, moving_bones);
    let flesh = scene.flesh[0].0.clone();
    let mut skin = sheet(&flesh);
    let turned = Mat3::from_quat(Quat::from_rotation_x(0.4)) * Mat3::from_diagonal(Vec3::new(1.1, -0.9, 1.2));
    skin.rest_linear = Arc::new(vec![turned.transpose().to_cols_array_2d(); skin.vertices.len()]);
    let row = |vertex: u32, k: u32| {
        let part = |salt: u32| ((vertex * 7 + salt * 5 + k * 3) % 11) as f32 * 0.01 - 0.05;
        let three = |salt: u32| [part(salt), part(salt + 1), part(salt + 2)];
        MorphRow { vertex, place: three(0), normal: three(3).map(|part| 5.0 * part), tangent: three(7) }
    };
    let target = |k: u32| MorphTarget {
        name: format!("target {k}"),
        weight: 0.25 * k as f32,
        rows: (0..150).filter(|vertex| vertex % (k + 2) == 0).map(|vertex| row(vertex, k)).collect(),
        ..MorphTarget::default()
    };
    skin.morphs = Arc::new((0..3).map(target).collect());
    let skin = Arc::new(skin);
    let dual = Arc::new(Skin { blending: sinew::SkinBlending::DualQuaternion, ..Skin::clone(&skin) });
    let roots = [0.0, 0.4, 0.8].map(|x| Pose::from_translation(DVec3::X * x));
    scene.activation = 0.4;
    scene.flesh = vec![
        (flesh.clone(), skin.clone(), roots[0]),
        (flesh.clone(), skin.clone(), roots[1]),
        (flesh.clone(), dual, roots[2]),
        (flesh, skin, Pose::IDENTITY),
    ];
    scene.play = |physics, handle, step| {
        let (slot, t) = (physics.instances().position(|other| other == handle).unwrap(), step as f32 * 0.07);
        if slot == 0 || slot == 2 {
            physics.set_morphs(handle, &[t.sin(), 1.0 - t, 0.5]).unwrap();
        }
        #[cfg(feature = "neural")]
        if slot < 2 {
            use sinew::neural::{Binding, Detail};
            if physics.network(handle).unwrap().is_none() {
                physics
                    .set_network(handle, crate::common::network(), Binding { joints: vec![0; 2], muscles: vec![1, 0] })
                    .unwrap();
            }
            let detail = [Detail::default(), Detail { weight: 0.75, passive: 2.5, active: 1.25 }][slot];
            physics.set_detail(handle, detail).unwrap();
            let turns = [Quat::from_rotation_x(t), Quat::from_rotation_y(0.5 - 2.0 * t)];
            physics.set_joint_rotations(handle, &turns).unwrap();
        }
    };
    scene
}

/// Scenes that together reach every branch of every stage; the last one has skin.
pub fn scenes() -> Vec<Scene> {
    let x = DVec3::X;
    let mut scenes = Vec::new();

    let cantilevers = Cantilevers { rods: 11, ..Cantilevers::default() }.build().unwrap();
    let mut scene = Scene::new("cantilevers", &[], still_bone);
    scene.flesh = vec![(cantilevers.clone(), Arc::new(Skin::default()), Pose::IDENTITY); 2];
    scenes.push(scene);

    let mut curved = rods(DVec3::ZERO, x, 0.04, &[9, 9, 9], soft());
    curved[0].nodes[4].place.y += 0.2;
    let mut scene = Scene::new("free rods", &curved, no_bones);
    scene.config.gravity = DVec3::new(1.0, -3.0, 0.5);
    scene.spin = Vec3::new(0.5, 1.0, 3.0);
    scenes.push(scene);

    let mut scene =
        Scene::new("rods on a slope", &rods(DVec3::Y * 0.06, x + DVec3::Y * 0.3, 0.05, &[8; 9], soft()), no_bones);
    let slope = HalfSpace::new(DVec3::new(0.6, 0.8, 0.0).normalize(), -0.1, 0.3);
    let slope = slope.moving(DVec3::new(0.9, 1.2, -0.3)).turning(DVec3::new(0.3, -0.4, 0.2), DVec3::X);
    scene.planes = vec![HalfSpace::ground(0.0, 0.6), slope];
    scene.config.iterations = 2;
    scene.before = 25;
    scenes.push(scene);

    // Along a slope they slide, across it they roll; and one less steep that just holds them.
    for (name, angle, friction) in [("slipping", 0.5_f64, 0.3_f32), ("about to slip", 0.45, 0.5)] {
        let (down, normal) = (DVec3::new(angle.cos(), -angle.sin(), 0.0), DVec3::new(angle.sin(), angle.cos(), 0.0));
        let mut lying = rods(DVec3::ZERO, down, 0.05, &[8; 3], soft());
        lying.extend(rods(DVec3::Z, DVec3::Z * 1.5 + down * 0.1, 0.05, &[8; 2], soft()));
        let mut scene = Scene::new(name, &lying, no_bones);
        scene.planes = vec![HalfSpace::new(normal, -0.05, friction)];
        scene.before = 25;
        scenes.push(scene);
    }

    // Torn off the ground in the step that is compared.
    let mut scene =
        Scene::new("torn off", &hung(rods(DVec3::ZERO, x, 0.05, &[8; 3], soft()), 0, 0, Holds::PIN), torn_bone);
    scene.planes = vec![HalfSpace::ground(-0.0505, 0.5)];
    scene.before = 25;
    scenes.push(scene);

    let bridge = hung(hung(rods(DVec3::ZERO, x, 0.05, &[10; 5], soft()), 0, 0, Holds::CLAMP), 99, 1, Holds::CLAMP);
    scenes.push(Scene::new("moving bones", &bridge, moving_bones));

    let mut scene = Scene::new("second order", &bridge, moving_bones);
    scene.config.integrator = Integrator::SecondOrder;
    scenes.push(scene);

    let unresolved = Material { youngs_modulus: 1.0e12, ..soft() };
    let pinned = hung(rods(DVec3::ZERO, x, 0.02, &[10, 4], unresolved), 0, 0, Holds::PIN);
    let mut scene = Scene::new("stiffer than resolved", &pinned, still_bone);
    scene.config.substeps = 1;
    scenes.push(scene);

    let mut stiff = soft();
    stiff.overrides.surface_bending = Some(1.0e5);
    stiff.overrides.volume_bending_modulus = Some(1.0e5);
    let held = hung(rods(DVec3::ZERO, x, 0.05, &[7, 6], stiff), 0, 0, Holds { scale: true, ..Holds::PIN });
    scenes.push(Scene::new("surface and volume bending", &held, still_bone));

    let mut scene = Scene::new("active", &bridge, moving_bones);
    scene.activation = 0.8;
    scenes.push(scene);

    let stiff = Material { youngs_modulus: 2.0e7, ..soft() };
    let drawn = hung(hung(rods(DVec3::ZERO, x, 0.05, &[10], stiff), 0, 0, Holds::CLAMP), 99, 1, Holds::CLAMP);
    scenes.push(Scene::new("taut", &drawn, parting_bones));

    let auxetic = Material { poissons_ratio: -0.3, ..soft() };
    scenes.push(Scene::new(
        "negative Poisson's ratio",
        &hung(rods(DVec3::ZERO, x, 0.05, &[8], auxetic), 0, 0, Holds::PIN),
        still_bone,
    ));

    let mut scene = Scene::new("carried into a plane", &bridge, moving_bones);
    scene.planes = vec![HalfSpace::new(DVec3::Z, -0.04, 0.5)];
    scenes.push(scene);

    let mut mixed = hung(rods(DVec3::ZERO, x, 0.05, &[3, 14, 8, 5, 2, 9], soft()), 0, 0, Holds::CLAMP);
    mixed.extend(rods(DVec3::NEG_Z, x, 0.05, &[4, 11, 1], soft()));
    scenes.push(Scene::new("mixed lengths, hung and free", &mixed, still_bone));

    let mut scene = Scene::new("muscles", &muscles(), joint_bones);
    scene.activation = 0.7;
    scenes.push(scene);

    // Let in by bones that bend, beside a floor: grown to its place, from a clamp to a socket, and sliding in its bed on
    // pivots.
    let tied = |index: usize| {
        let segments = [11, 11, 7][index];
        let half = segments / 2;
        let aside = DVec3::new(0.0, 0.05, 0.15 * index as f64);
        let mut rod = RodSpec::straight(format!("tied {index}"), aside, aside + DVec3::X * 1.2, segments, 0.03);
        rod.material = Material { peak_stress: 5.0e4, ..soft() };
        rod.fascia = RodSpec::FASCIA;
        let blend =
            |j: usize| if j <= half { j as f64 / half as f64 } else { 1.0 + (j - half - 1) as f64 / half as f64 };
        let nodes = (0..=segments).map(blend).collect();
        rod.carriers = Carriers { bones: vec![0, 1, 2], nodes };
        rod.slides_in_bed = index > 0;
        rod.contraction.optimal_stretch = rod.slides_in_bed.then_some(1.2);
        let ends = if rod.slides_in_bed { [Holds::PIVOT; 2] } else { [Holds::CLAMP, Holds::SOCKET] };
        rod.attach(0, 0, ends[0]).attach(segments, 2, ends[1])
    };
    let mut scene = Scene::new("tied in their beds", &[tied(0), tied(1), tied(2)], joint_bones);
    scene.activation = 0.5;
    scene.planes = vec![HalfSpace::new(DVec3::Z, -0.02, 0.5)];
    scene.config.iterations = 2;
    scenes.push(scene);

    // All that a game may give flesh, beside bones that move; and in the place of its velocities.
    let mut scene = Scene::new("pushed", &mixed, moving_bones);
    scene.config.integrator = Integrator::SecondOrder;
    scene.play = |physics, handle, step| {
        if !(10..=13).contains(&step) {
            return;
        }
        physics.set_acceleration(handle, DVec3::new(0.5, -1.0, 3.0)).unwrap();
        physics.add_force(handle, 1, 5, DVec3::new(0.3, -0.2, 0.4)).unwrap();
        physics.apply_impulse(handle, 7, 9, DVec3::new(-0.02, 0.05, 0.01)).unwrap();
        let centre = physics.node(handle, 7, 3).unwrap().place;
        let [velocity, spin] = [DVec3::new(0.1, 0.3, -0.2), DVec3::new(0.2, -0.4, 0.6)];
        physics.add_velocity(handle, Motion { velocity, spin, centre }).unwrap();
    };
    scenes.push(scene);
    let mut scene = Scene::new("thrown", &mixed, moving_bones);
    scene.play = |physics, handle, step| {
        if !(10..=13).contains(&step) {
            return;
        }
        let [velocity, spin] = [DVec3::new(1.0, 2.0, -0.5), DVec3::new(0.7, -0.4, 0.6)];
        physics.set_velocity(handle, Motion { velocity, spin, centre: DVec3::Y }).unwrap();
    };
    scenes.push(scene);

    // Free, and struck so that solves are led astray.
    let mut scene = Scene::new("struck", &rods(DVec3::ZERO, x, 0.05, &[10, 7, 5], soft()), no_bones);
    scene.play = |physics, handle, step| {
        let impulse = if step > 12 { 60.0 } else { 0.0 };
        for (rod, node) in [(0, 3), (1, 6), (2, 2)] {
            physics.apply_impulse(handle, rod, node, DVec3::new(0.1, 1.0, -0.5) * impulse).unwrap();
        }
    };
    scenes.push(scene);

    // It went along with its bones, and goes on by itself; and it goes along still.
    let mut scene = Scene::new("goes on", &bridge, moving_bones);
    scene.play = |physics, handle, step| {
        physics.set_active(handle, Active { flesh: !(6..=12).contains(&step), skin: true }).unwrap();
    };
    scenes.push(scene);
    let mut scene = Scene::new("goes along", &bridge, moving_bones);
    scene.play = |physics, handle, step| physics.set_active(handle, Active { flesh: step < 8, skin: true }).unwrap();
    scenes.push(scene);

    scenes.push(Scene::new("elsewhere at once", &bridge, bones_elsewhere));
    scenes.push(Scene::new("torn apart", &bridge, bones_torn_apart));

    scenes.extend(meeting());
    scenes.extend(carried_into_each_other());
    scenes.extend(trees());
    scenes.extend(on_solids());
    scenes.extend(on_a_floor_that_turns());
    scenes.extend(thrown_down());

    let mut skinned = bridge.clone();
    skinned.extend(rods(DVec3::NEG_Z, x + DVec3::NEG_Z, 0.05, &[6], soft()));
    let mut scene = Scene::new("dual skin", &skinned, moving_bones);
    let skin = Arc::new(sheet(&scene.flesh[0].0));
    let dual = Skin { blending: sinew::SkinBlending::DualQuaternion, ..Skin::clone(&skin) };
    scene.flesh[0].1 = Arc::new(dual);
    scenes.push(scene);
    scenes.push(moved_skin(&skinned));
    // Last: where skin comes back, tests take it.
    let mut scene = Scene::new("skin", &skinned, moving_bones);
    let first = scene.flesh[0].0.clone();
    scene.flesh = vec![
        (first.clone(), skin.clone(), Pose::IDENTITY),
        (cantilevers, Arc::new(Skin::default()), Pose::IDENTITY),
        (first, skin, Pose::new(DVec3::new(0.3, 0.1, 0.0), DQuat::from_rotation_y(0.4))),
    ];
    scenes.push(scene);
    scenes
}
