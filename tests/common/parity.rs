//! Scenes for both backends, and how their states are compared.

use std::sync::Arc;

use glam::{Affine3A, DQuat, DVec3, Mat3, Quat, Vec3};
use sinew::flesh::{Bundle, Carriers, Contraction, Disc, Flesh, Holds, RodSpec};
use sinew::layout::{LANES, chain, contact, node, reaction, rest};
use sinew::scenes::Cantilevers;
use sinew::step::{Integrator, Stage, StepConfig};
use sinew::{Active, FleshHandle, HalfSpace, Material, MorphRow, MorphTarget, Motion, Physics, Pose, Skin};

/// A frame (s).
pub const DT: f64 = 1.0 / 60.0;

/// A scene: what to insert, how to step, how bones move.
pub struct Scene {
    pub name: &'static str,
    pub config: StepConfig,
    pub planes: Vec<HalfSpace>,
    pub flesh: Vec<(Arc<Flesh>, Arc<Skin>, Pose)>,
    pub bones: fn(usize) -> Vec<Pose>,
    pub activation: f32,
    /// How fast all chains turn about the world's origin at first (rad/s).
    pub spin: Vec3,
    /// What the game does to each instance before each step.
    pub play: fn(&mut Physics, FleshHandle, usize),
    /// Steps on the CPU before the comparison.
    pub before: usize,
}

impl Scene {
    fn new(name: &'static str, rods: &[RodSpec], bones: fn(usize) -> Vec<Pose>) -> Self {
        let flesh = Arc::new(Flesh::build(rods, &bones(0)).unwrap());
        let flesh = vec![(flesh, Arc::new(Skin::default()), Pose::IDENTITY)];
        Self {
            name,
            config: StepConfig::default(),
            planes: Vec::new(),
            flesh,
            bones,
            activation: 0.0,
            spin: Vec3::ZERO,
            play: |_, _, _| (),
            before: 12,
        }
    }

    pub fn fill(&self, physics: &mut Physics) -> Vec<FleshHandle> {
        physics.config = self.config;
        physics.planes = self.planes.clone();
        let insert = |(flesh, skin, root): &(Arc<Flesh>, Arc<Skin>, Pose)| {
            let bones = &(self.bones)(0)[..flesh.bones().len()];
            let handle = physics.insert_with_skin(flesh.clone(), skin.clone(), bones, *root).unwrap();
            // Turned, moved and sheared, and one of two mirrored.
            let matrix = |index: usize| {
                let mirrored = if index % 2 == 1 { -1.0 } else { 1.0 };
                let turn = Quat::from_rotation_z(0.3 + 0.2 * index as f32);
                let shear = Affine3A::from_mat3(Mat3::from_cols(Vec3::X, Vec3::new(0.2, 1.1, 0.0), Vec3::Z * mirrored));
                let moved = Vec3::new(0.1, 0.05 * index as f32, 0.2);
                sinew::palette_matrix(&(Affine3A::from_rotation_translation(turn, moved) * shear))
            };
            physics.set_palette(handle, (0..skin.palette_len).map(matrix)).unwrap();
            for (chain, info) in flesh.chains().iter().enumerate() {
                physics.set_activation(handle, chain, self.activation).unwrap();
                for node in (0..info.node_count()).filter(|_| self.spin != Vec3::ZERO) {
                    let mut turning = physics.node(handle, chain, node).unwrap();
                    turning.velocity = self.spin.cross(turning.place.as_vec3());
                    turning.spin = self.spin;
                    physics.state_mut(handle).unwrap().set_node(flesh, chain, node, &turning);
                }
            }
            handle
        };
        self.flesh.iter().map(insert).collect()
    }

    pub fn pose(&self, physics: &mut Physics, handles: &[FleshHandle], step: usize) {
        for (handle, (flesh, _, root)) in handles.iter().zip(&self.flesh) {
            physics.set_bones(*handle, &(self.bones)(step)[..flesh.bones().len()], *root).unwrap();
            (self.play)(physics, *handle, step);
        }
    }
}

/// Several rods of a material between two places, side by side, of the segment counts given.
fn rods(from: DVec3, to: DVec3, radius: f64, segments: &[usize], material: Material) -> Vec<RodSpec> {
    let rod = |(index, &count): (usize, &usize)| {
        let aside = DVec3::Z * (0.11 * index as f64);
        let mut rod = RodSpec::straight(format!("rod {index}"), from + aside, to + aside, count, radius);
        rod.material = material;
        rod
    };
    segments.iter().enumerate().map(rod).collect()
}

fn no_bones(_: usize) -> Vec<Pose> {
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

fn soft() -> Material {
    Material { youngs_modulus: 2.0e5, poissons_ratio: 0.45, damping: 2.0, ..Material::default() }
}

fn hung(mut rods: Vec<RodSpec>, at: usize, bone: usize, holds: Holds) -> Vec<RodSpec> {
    for rod in &mut rods {
        let node = at.min(rod.nodes.len() - 1);
        *rod = rod.clone().attach(node, bone, holds);
    }
    rods
}

/// Two bones of which one jumps by 0.6 m and turns by 1.5 rad, `by` times that, in every other step after
/// [`Scene::before`], and back.
fn jerking_bones(step: usize, by: f64) -> Vec<Pose> {
    let jerked = if step > 12 && step % 2 == 1 { by } else { 0.0 };
    let turn = DQuat::from_scaled_axis(DVec3::new(0.3, 1.2, 0.8) * jerked);
    vec![Pose::IDENTITY, Pose::new(DVec3::new(1.0 - 0.3 * jerked, 0.5 * jerked, -0.2 * jerked), turn)]
}

/// Rods between two bones that jerk, so that solves are led astray and steps shortened, to bounds and between them: by
/// themselves, long ones, and with all that stores energy. With jerks of 3 times, of 1.5 with long rods, or of 2 against a half-space,
/// runs of the CPU part from each other; so they do where they begin within one.
pub fn jerked() -> [Scene; 3] {
    let between = |segments: &[usize], material| {
        let rods = rods(DVec3::ZERO, DVec3::X, 0.05, segments, material);
        hung(hung(rods, 0, 0, Holds::CLAMP), 99, 1, Holds::CLAMP)
    };
    let few = [10, 7, 5];
    let alone = Scene::new("jerked", &between(&few, soft()), |step| jerking_bones(step, 2.5));
    let long = Scene::new("jerked, long", &between(&[40, 33], soft()), |step| jerking_bones(step, 1.0));
    let mut material = soft();
    material.overrides.surface_bending = Some(1.0e4);
    material.overrides.volume_bending_modulus = Some(1.0e4);
    material.fibre_modulus = 1.0e4;
    material.peak_stress = 2.0e4;
    let mut with_all = Scene::new("jerked with all", &between(&few, material), |step| jerking_bones(step, 1.2));
    with_all.activation = 0.5;
    with_all.planes = vec![HalfSpace::new(DVec3::Z, -0.055, 0.5)];
    with_all.config.integrator = Integrator::SecondOrder;
    with_all.config.iterations = 2;
    let mut scenes = [alone, long, with_all];
    for scene in &mut scenes {
        // They are to be followed, however far they go.
        scene.config.jump = f64::INFINITY;
    }
    scenes
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
    let mut thrown = again();
    thrown.name = "thrown together";
    thrown.config.iterations = 2;
    thrown.play = |physics, handle, step| {
        if step == 1 && physics.flesh(handle).unwrap().chains().len() == 4 {
            let motion = Motion { velocity: DVec3::NEG_Y * 12.0, spin: DVec3::new(1.0, 2.0, 9.0), centre: DVec3::ZERO };
            physics.set_velocity(handle, motion).unwrap();
        }
    };
    vec![scene, grounded, thrown]
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
        ("trees meeting on the ground", Some(-0.0795), 1.0),
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
        scene.before = if speed > 2.0 { 0 } else { 4 };
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
    let mut skin = super::sheet(&flesh);
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

    // What is faster than the usual stiffness stops: rods that lie, and one that falls on its end.
    let mut hit = rods(DVec3::Y * 0.06, x + DVec3::Y * 0.06, 0.05, &[8; 3], soft());
    hit.extend(rods(DVec3::new(0.3, 0.2, 1.0), DVec3::new(0.3, 1.0, 1.0), 0.05, &[6], soft()));
    let mut scene = Scene::new("thrown on a floor", &hit, no_bones);
    scene.planes = vec![HalfSpace::ground(0.0, 0.5)];
    scene.play = |physics, handle, _| {
        let down = Motion { velocity: DVec3::NEG_Y * 20.0, spin: DVec3::ZERO, centre: DVec3::ZERO };
        physics.set_velocity(handle, down).unwrap();
    };
    scene.before = 3;
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
    scenes.extend(trees());

    let mut skinned = bridge.clone();
    skinned.extend(rods(DVec3::NEG_Z, x + DVec3::NEG_Z, 0.05, &[6], soft()));
    let mut scene = Scene::new("dual skin", &skinned, moving_bones);
    let skin = Arc::new(super::sheet(&scene.flesh[0].0));
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

/// A kind of row that a group has: its name, its entries, and what of an entry 1e-5 is relative to.
struct Kind {
    name: &'static str,
    entries: usize,
    scale: fn(usize, Scales) -> f32,
}

const KINDS: [Kind; 4] = [
    Kind { name: "node", entries: node::ENTRIES, scale: node_scale },
    Kind { name: "chain", entries: chain::ENTRIES, scale: chain_scale },
    Kind { name: "contact", entries: contact::ENTRIES, scale: contact_scale },
    Kind { name: "reaction", entries: reaction::ENTRIES, scale: reaction_scale },
];
/// Where of [`KINDS`] each is.
const NODE: usize = 0;
const CONTACT: usize = 2;
const REACTION: usize = 3;

/// A group's rows of each of [`KINDS`].
type GroupRows = [Vec<[f32; 8]>; KINDS.len()];

/// Rows of an instance, and its skin.
#[derive(Clone)]
struct Rows {
    groups: Vec<GroupRows>,
    vertices: Vec<f32>,
    normals: Vec<f32>,
    tangents: Vec<f32>,
    /// Twelve entries of place and twelve of normal a section.
    sections: Vec<f32>,
    /// How often chains were laid anew, as the instance reports it.
    resets: u32,
}

fn rows(physics: &Physics, handle: FleshHandle) -> Rows {
    let state = physics.state(handle).unwrap();
    let groups = state.rows().zip(state.contacts().zip(state.reactions()));
    let groups =
        groups.map(|((nodes, chains), (contacts, reactions))| [nodes, chains, contacts, reactions].map(<[_]>::to_vec));
    let vertices = physics.vertices(handle).unwrap();
    Rows {
        groups: groups.collect(),
        vertices: vertices.positions.iter().flat_map(|v| v.to_array()).collect(),
        normals: vertices.normals.iter().flat_map(|v| v.to_array()).collect(),
        tangents: vertices.tangents.iter().flat_map(|v| v.to_array()).collect(),
        sections: bytemuck::cast_slice(physics.section_matrices(handle).unwrap()).to_vec(),
        resets: physics.health_report(handle).unwrap().resets,
    }
}

/// Scale of an entry: what 1e-5 is relative to.
#[derive(Clone, Copy)]
struct Scales {
    size: f32,
    h: f32,
    contact: f32,
    energy: f32,
    /// Ten times the largest force of a contact (N), or what it is rounded by over 10⁻⁵.
    dual: f32,
    /// Ten times the largest force (N) and the largest couple (N·m) on a bone: they may differ by 10⁻⁴.
    reactions: [f32; 2],
}

fn node_scale(entry: usize, scales: Scales) -> f32 {
    use node::*;
    let in_range = |at: usize, count: usize| (at..at + count).contains(&entry);
    let places = [PLACE, PREV_PLACE, MOVED, PREDICTED_MOVE, OLDER_MOVE, TARGET_PLACE, BED];
    if places.iter().any(|at| in_range(*at, 3)) {
        scales.size
    } else if in_range(VELOCITY, 3) || in_range(OLDER_VELOCITY, 3) {
        scales.size / scales.h
    } else if in_range(SPIN, 3) || in_range(OLDER_SPIN, 3) || [SCALE_RATE, OLDER_SCALE_RATE].contains(&entry) {
        1.0 / scales.h
    } else {
        1.0
    }
}

/// Friction is as stiff as a contact at most; a force may be off by 10⁻⁴ of the largest.
fn contact_scale(entry: usize, scales: Scales) -> f32 {
    match entry {
        contact::SCALE_TERM | contact::ARM | contact::GAP => scales.size,
        contact::ANCHOR..contact::DUAL => scales.size,
        contact::STIFFNESS | contact::FRICTION => scales.contact,
        contact::LIMIT | contact::DUAL.. => scales.dual,
        _ => 1.0,
    }
}

fn reaction_scale(entry: usize, scales: Scales) -> f32 {
    scales.reactions[usize::from(entry >= reaction::COUPLE)]
}

fn chain_scale(entry: usize, scales: Scales) -> f32 {
    match entry {
        chain::START_POTENTIAL | chain::POTENTIAL => scales.energy,
        // 10⁻⁶ m: less than the lattice's step.
        chain::ORIGIN.. => 0.1,
        _ if entry < chain::HISTORY && entry % 7 < 3 => scales.size,
        _ => 1.0,
    }
}

/// What 1e-5 is relative to where places and frames that each may differ by δ = 1e-5 store energy Ψ = ½kx²: 1e-5 of it is
/// 2δ√(RΨ) + Rδ², with R what the first rest row has for errors of one.
fn energy_scale(cpu: &[Rows], scene: &Scene) -> f32 {
    let mut most = 1.0_f32;
    for (rows, (flesh, ..)) in cpu.iter().zip(&scene.flesh) {
        for ([_, chains, ..], rests) in rows.groups.iter().zip(flesh.groups()) {
            let of_errors = rests.rows[rest::STRAIN_ROUNDING].iter().zip(&rests.rows[rest::TURN_ROUNDING]);
            let of_errors = of_errors.map(|(strain, turn)| strain + turn);
            for entry in [chain::START_POTENTIAL, chain::POTENTIAL] {
                for (stored, of_errors) in chains[entry].iter().zip(of_errors.clone()) {
                    most = most.max(2.0 * (of_errors * stored.abs()).sqrt() + 1.0e-5 * of_errors);
                }
            }
        }
    }
    most
}

/// The largest difference of two states in units of what each entry may differ by (1e-5 of its scale), and where.
fn difference(cpu: &[Rows], gpu: &[Rows], scales: Scales) -> (f32, String) {
    let mut worst = (0.0, "nowhere".to_owned());
    let mut check = |a: f32, b: f32, scale: f32, at: &dyn Fn() -> String| {
        let off = (a - b).abs() / (1.0e-5 * scale);
        if off.is_nan() || off > worst.0 {
            worst =
                (if off.is_nan() { f32::INFINITY } else { off }, format!("{}: {a} on the CPU, {b} on the GPU", at()));
        }
    };
    assert_eq!(cpu.len(), gpu.len());
    for (instance, (cpu, gpu)) in cpu.iter().zip(gpu).enumerate() {
        let skin = |rows: &Rows| (rows.vertices.len(), rows.normals.len(), rows.tangents.len());
        let counts = |rows: &Rows| (rows.groups.len(), skin(rows), rows.sections.len());
        assert_eq!(counts(cpu), counts(gpu));
        for (group, (a, b)) in cpu.groups.iter().zip(&gpu.groups).enumerate() {
            for (Kind { name, entries, scale }, (a, b)) in KINDS.iter().zip(a.iter().zip(b)) {
                assert_eq!(a.len(), b.len());
                for (row, (a, b)) in a.iter().zip(b).enumerate() {
                    let (index, entry) = (row / entries, row % entries);
                    for lane in 0..LANES as usize {
                        let at =
                            || format!("instance {instance} group {group} {name} {index} entry {entry} lane {lane}");
                        check(a[lane], b[lane], scale(entry, scales), &at);
                    }
                }
            }
        }
        check(cpu.resets as f32, gpu.resets as f32, 1.0, &|| format!("instance {instance} resets"));
        for (index, (a, b)) in cpu.vertices.iter().zip(&gpu.vertices).enumerate() {
            check(*a, *b, scales.size, &|| format!("instance {instance} vertex {}", index / 3));
        }
        for (index, (a, b)) in cpu.normals.iter().zip(&gpu.normals).enumerate() {
            check(*a, *b, 1.0, &|| format!("instance {instance} normal {}", index / 3));
        }
        for (index, (a, b)) in cpu.tangents.iter().zip(&gpu.tangents).enumerate() {
            check(*a, *b, 1.0, &|| format!("instance {instance} tangent {}", index / 4));
        }
        for (index, (a, b)) in cpu.sections.iter().zip(&gpu.sections).enumerate() {
            check(*a, *b, scales.size, &|| format!("instance {instance} section {} entry {}", index / 24, index % 24));
        }
    }
    worst
}

/// Targets of lanes that hold nothing, beds of lanes without fascia and stretches of lanes whose fibres have no say are
/// nobody's, nor is what lanes without a chain store: the CPU writes a group's, the GPU a chain's.
fn without_idle_entries(rows: &mut Rows, flesh: &Flesh, scene: &Scene) {
    let activation = scene.activation;
    for ([nodes, chains, ..], rests) in rows.groups.iter_mut().zip(flesh.groups()) {
        // Where any of a group meets another, the CPU finds anew what all of it store.
        if scene.config.passes > 0 {
            chains[chain::POTENTIAL] = [0.0; LANES as usize];
        }
        let rest_rows = rests.rows.chunks(rest::ENTRIES);
        for lane in 0..LANES as usize {
            if rests.rows[rest::RADIUS][lane] == 0.0 {
                chains[chain::POTENTIAL][lane] = 0.0;
            }
            for (row, rest_row) in nodes.chunks_mut(node::ENTRIES).zip(rest_rows.clone()) {
                if rests.rows[rest::TIED][lane] == 0.0 || rest_row[rest::RADIUS][lane] == 0.0 {
                    row[node::BED..node::BED_PATH + 3].iter_mut().for_each(|entry| entry[lane] = 0.0);
                }
            }
            let acts = [rest::FIBRE_STIFFNESS, rest::PASSIVE, rest::SERIES];
            let stiff = rest_rows.clone().any(|row| acts.iter().any(|&entry| row[entry][lane] > 0.0));
            if !stiff && (activation == 0.0 || rests.rows[rest::RADIUS][lane] == 0.0) {
                nodes.iter_mut().skip(node::PREV_FIBRE_STRETCH).step_by(node::ENTRIES).for_each(|row| row[lane] = 0.0);
                chains[chain::MEAN_STRETCH][lane] = 0.0;
            }
        }
    }
    for (group, targeted) in rows.groups.iter_mut().zip(flesh.targeted_lanes()) {
        for (row, lanes) in group[NODE].iter_mut().enumerate() {
            let (index, entry) = (row / node::ENTRIES, row % node::ENTRIES);
            if (node::TARGET_PLACE..node::TARGET_FRAME + 4).contains(&entry) {
                for lane in 0..LANES as usize {
                    if !targeted[index][lane] {
                        lanes[lane] = 0.0;
                    }
                }
            }
        }
    }
}

/// A scene on both backends, on the CPU after the steps before the comparison; `None` without an adapter.
pub fn both(scene: &Scene) -> Option<(Physics, Physics, Vec<FleshHandle>)> {
    let mut gpu = super::gpu_physics()?;
    let mut cpu = Physics::with_config(scene.config);
    let handles = scene.fill(&mut cpu);
    assert_eq!(scene.fill(&mut gpu), handles);
    for step in 1..=scene.before {
        scene.pose(&mut cpu, &handles, step);
        cpu.step_flesh(DT).unwrap();
    }
    Some((cpu, gpu, handles))
}

/// What two backends have after a stage, and in which units it may differ.
fn measured(
    scene: &Scene,
    last: Stage,
    cpu: &Physics,
    gpu: &Physics,
    handles: &[FleshHandle],
) -> (Vec<Rows>, Vec<Rows>, Scales) {
    let all = |physics: &Physics| -> Vec<Rows> {
        let of = |(handle, (flesh, ..)): (&FleshHandle, &(Arc<Flesh>, Arc<Skin>, Pose))| {
            let mut rows = rows(physics, *handle);
            if last != Stage::DeformSkin {
                (rows.vertices, rows.normals, rows.tangents) = Default::default();
            }
            if !matches!(last, Stage::PoseSections | Stage::DeformSkin) {
                rows.sections.clear();
                rows.resets *= u32::from(last == Stage::ReportHealth);
            }
            without_idle_entries(&mut rows, flesh, scene);
            rows
        };
        handles.iter().zip(&scene.flesh).map(of).collect()
    };
    let cpu = all(cpu);
    let gpu = all(gpu);
    let contact = cpu
        .iter()
        .flat_map(|rows| &rows.groups)
        .flat_map(|group| group[CONTACT].iter().skip(contact::STIFFNESS).step_by(contact::ENTRIES))
        .flatten()
        .fold(1.0_f32, |most, value| most.max(*value));
    let is_found = scene.before > 0 || !matches!(last, Stage::MoveBones | Stage::Predict);
    assert!(scene.planes.is_empty() || !is_found || contact > 1.0, "{}: nothing touches", scene.name);
    // The most that friction holds with is μk·depth, and a depth may differ as places may.
    let h = (DT / f64::from(scene.config.substeps)) as f32;
    let mut reactions = [1.0e-3_f32; 2];
    for (row, values) in cpu.iter().flat_map(|rows| &rows.groups).flat_map(|group| group[REACTION].iter().enumerate()) {
        let most = &mut reactions[usize::from(row % reaction::ENTRIES >= reaction::COUPLE)];
        *most = values.iter().fold(*most, |most, value| most.max(10.0 * value.abs()));
    }
    let of_contacts = |group: &'_ GroupRows| {
        group[CONTACT].chunks(contact::ENTRIES).flat_map(|row| row[contact::DUAL]).collect::<Vec<_>>()
    };
    let duals = cpu.iter().flat_map(|rows| &rows.groups).flat_map(of_contacts);
    let dual = duals.fold(1.0e-3_f32, |most, value| most.max(10.0 * value));
    // With what friction pulls is its stiffness times how far the surface has gone, which is rounded.
    let pulls = cpu.iter().flat_map(|rows| &rows.groups).flat_map(|group| {
        group[CONTACT].chunks(contact::ENTRIES).flat_map(|row| {
            let moved = row[contact::SEGMENT][0] as usize * node::ENTRIES + node::MOVED;
            let moved = &group[NODE][moved..moved + 3];
            let far = |lane: usize| moved.iter().fold(0.0_f32, |most, entry| most.max(entry[lane].abs()));
            (0..LANES as usize).map(move |lane| row[contact::FRICTION][lane] * far(lane))
        })
    });
    let rounded = pulls.filter(|pull| pull.is_finite()).fold(0.0, f32::max) * f32::EPSILON;
    let dual = dual.max(rounded / 1.0e-5);
    let scales = Scales { size: 1.0, h, contact, energy: energy_scale(&cpu, scene), dual, reactions };
    (cpu, gpu, scales)
}

/// The largest difference of two backends after a stage in units of what entries may differ by.
pub fn apart(scene: &Scene, last: Stage, cpu: &Physics, gpu: &Physics, handles: &[FleshHandle]) -> f32 {
    let (cpu, gpu, scales) = measured(scene, last, cpu, gpu, handles);
    difference(&cpu, &gpu, scales).0
}

/// The largest difference of two backends after a stage in units of what entries may differ by, and where. That the comparison
/// sees each entry of a row off by three times that is checked each time.
pub fn compare(scene: &Scene, last: Stage, cpu: &Physics, gpu: &Physics, handles: &[FleshHandle]) -> (f32, String) {
    let (cpu, mut gpu, scales) = measured(scene, last, cpu, gpu, handles);
    let found = difference(&cpu, &gpu, scales);

    for (kind, Kind { name, entries, scale }) in KINDS.iter().enumerate() {
        for entry in 0..gpu[0].groups[0][kind].len().min(*entries) {
            let (was, by) = (gpu[0].groups[0][kind][entry][0], 3.0e-5 * scale(entry, scales));
            gpu[0].groups[0][kind][entry][0] = cpu[0].groups[0][kind][entry][0] + by;
            let seen = difference(&cpu, &gpu, scales).0 > 1.0;
            assert!(seen, "{}: a perturbed {name} entry {entry} is not seen", scene.name);
            gpu[0].groups[0][kind][entry][0] = was;
        }
    }
    for entry in 0..gpu[0].sections.len().min(24) {
        let was = gpu[0].sections[entry];
        gpu[0].sections[entry] = cpu[0].sections[entry] + 3.0e-5 * scales.size;
        assert!(
            difference(&cpu, &gpu, scales).0 > 1.0,
            "{}: a perturbed section entry {entry} is not seen",
            scene.name
        );
        gpu[0].sections[entry] = was;
    }
    if let (Some(vertex), Some(rest)) = (gpu[0].vertices.first_mut(), cpu[0].vertices.first()) {
        *vertex = rest + 3.0e-5 * scales.size;
        assert!(difference(&cpu, &gpu, scales).0 > 1.0, "{}: a perturbed vertex is not seen", scene.name);
    }
    found
}
