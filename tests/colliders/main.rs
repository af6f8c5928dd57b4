//! Flesh on rapier's colliders: every form, those that move, those that are not to be touched.

#![cfg(feature = "rapier")]

mod groups;
#[path = "../common/rods.rs"]
#[allow(dead_code)]
mod rods;

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use rods::material;
use sinew::components::BoundJoints;
use sinew::flesh::{Flesh, RodSpec};
use sinew::rapier3d::geometry::Group;
use sinew::rapier3d::math::{IVector, Pose as RapierPose};
use sinew::rapier3d::parry::utils::Array2;
use sinew::rapier3d::prelude::*;
use sinew::rigid::{BoneCapsule, LeftOut, RigidWorld};
use sinew::step::StepConfig;
use sinew::{FleshHandle, Physics, Pose, Touched};

const FRAME: f64 = 1.0 / 60.0;
const RADIUS: f64 = 0.03;
const LENGTH: f64 = 0.5;
const SEGMENTS: usize = 10;

/// A free rod beside rapier.
struct Scene {
    world: hecs::World,
    rigid: RigidWorld,
    physics: Physics,
    rod: FleshHandle,
}

impl Scene {
    /// A rod along x about a place, turned about y and z, beside one collider.
    fn new(collider: impl Into<Collider>, place: DVec3, turn: f64, tilt: f64) -> Self {
        let mut rigid = RigidWorld::default();
        rigid.colliders.insert(collider);
        Self::beside(rigid, place, turn, tilt)
    }

    fn beside(rigid: RigidWorld, place: DVec3, turn: f64, tilt: f64) -> Self {
        let half = DVec3::X * (0.5 * LENGTH);
        let mut rod = RodSpec::straight("rod", -half, half, SEGMENTS, RADIUS);
        rod.material = material(1.0e7, 0.3, 1000.0, 0.0);
        let flesh = Arc::new(Flesh::build(&[rod], &[]).expect("in range"));
        let mut physics = Physics::with_config(StepConfig::default());
        let root = Pose::new(place, DQuat::from_rotation_y(turn) * DQuat::from_rotation_z(tilt));
        let rod = physics.insert(flesh, &[], root).expect("finite");
        Self { world: hecs::World::new(), rigid, physics, rod }
    }

    fn step(&mut self) {
        self.physics.step(&mut self.world, &mut self.rigid, FRAME).expect("steps");
    }

    fn run(&mut self, seconds: f64) {
        (0..(seconds / FRAME).round() as usize).for_each(|_| self.step());
    }

    /// Places (m) along the rod's axis, and how thick it is there (m).
    fn axis(&self) -> Vec<(DVec3, f64)> {
        let nodes: Vec<_> = (0..=SEGMENTS).map(|j| self.physics.node(self.rod, 0, j).expect("is there")).collect();
        let between = |k: usize| {
            let (j, t) = ((k / 16).min(SEGMENTS - 1), k as f64 / 16.0 - (k / 16).min(SEGMENTS - 1) as f64);
            let radius = f64::from(nodes[j].radius) * (1.0 - t) + f64::from(nodes[j + 1].radius) * t;
            (nodes[j].place.lerp(nodes[j + 1].place, t), radius)
        };
        (0..=16 * SEGMENTS).map(between).collect()
    }

    /// The gap between the rod and all colliders as parry has it (m), negative inside, and how far the axis is from them (m).
    fn gap(&self) -> (f64, f64) {
        let mut least = (f64::MAX, f64::MAX);
        for (_, collider) in self.rigid.colliders.iter() {
            for (place, radius) in self.axis() {
                let there = collider.shape().project_point(collider.position(), place.as_vec3(), false);
                let distance = f64::from(there.point.distance(place.as_vec3()));
                let distance = if there.is_inside { -distance } else { distance };
                least = (least.0.min(distance - radius), least.1.min(distance));
            }
        }
        least
    }

    fn centre(&self) -> DVec3 {
        let axis = self.axis();
        axis.iter().map(|(place, _)| *place).sum::<DVec3>() / axis.len() as f64
    }

    fn speed(&self) -> f32 {
        (0..=SEGMENTS)
            .map(|j| self.physics.node(self.rod, 0, j).expect("is there").velocity.length())
            .fold(0.0, f32::max)
    }

    fn is_sound(&self) -> bool {
        self.physics.health(self.rod).expect("is there").resets == 0
            && self.physics.state(self.rod).expect("is there").is_finite()
    }
}

/// A bowl and a field of hills, of so many cells a side.
fn hills(count: usize) -> Array2<f32> {
    let height = |i: usize, k: usize| 0.3 * ((i as f32 * 0.9).sin() + (k as f32 * 0.7).cos());
    Array2::new(count, count, (0..count * count).map(|at| height(at % count, at / count)).collect())
}

fn bowl() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (rings, around) = (6_u32, 16_u32);
    let mut points = vec![Vec3::ZERO];
    for ring in 1..=rings {
        let out = ring as f32 * 0.25;
        let corner = |k: u32| {
            let (sin, cos) = (k as f32 / around as f32 * std::f32::consts::TAU).sin_cos();
            Vec3::new(out * cos, 0.35 * out * out, out * sin)
        };
        points.extend((0..around).map(corner));
    }
    let at = |ring: u32, k: u32| 1 + (ring - 1) * around + k % around;
    let mut triangles: Vec<_> = (0..around).map(|k| [0, at(1, k + 1), at(1, k)]).collect();
    for ring in 1..rings {
        triangles.extend((0..around).flat_map(|k| {
            [[at(ring, k), at(ring, k + 1), at(ring + 1, k)], [at(ring + 1, k), at(ring, k + 1), at(ring + 1, k + 1)]]
        }));
    }
    (points, triangles)
}

/// All of rapier's forms but half-spaces, with their tops at about y = 0 and large enough to lie on.
fn forms() -> Vec<(&'static str, ColliderBuilder)> {
    let hull: Vec<Vec3> = (0..40)
        .map(|k| {
            let (a, b) = (k as f32 * 2.4, 1.0 - 2.0 * (k as f32 + 0.5) / 40.0);
            Vec3::new(a.cos() * (1.0 - b * b).sqrt(), b, a.sin() * (1.0 - b * b).sqrt()) * 0.8
        })
        .collect();
    let (points, triangles) = bowl();
    let down = |builder: ColliderBuilder, by: f32| builder.translation(Vec3::NEG_Y * by);
    let boxes = vec![
        (RapierPose::from_translation(Vec3::new(-0.4, 0.0, 0.0)), SharedShape::cuboid(0.3, 0.2, 0.5)),
        (RapierPose::from_translation(Vec3::new(0.4, 0.1, 0.0)), SharedShape::ball(0.3)),
    ];
    let voxels: Vec<_> = (0..64).map(|k| IVector::new(k % 8 - 4, (k % 3) - 3, k / 8 - 4)).collect();
    let flat = [Vec3::new(-2.0, 0.0, -2.0), Vec3::new(-2.0, 0.1, 2.0), Vec3::new(2.0, 0.0, 0.0)];
    vec![
        ("ball", down(ColliderBuilder::ball(0.8), 0.8)),
        ("cuboid", down(ColliderBuilder::cuboid(0.5, 0.3, 0.4), 0.3)),
        ("round cuboid", down(ColliderBuilder::round_cuboid(0.4, 0.2, 0.3, 0.1), 0.3)),
        ("capsule", down(ColliderBuilder::capsule_z(0.5, 0.3), 0.3)),
        ("cylinder", down(ColliderBuilder::cylinder(0.3, 0.5), 0.3)),
        ("round cylinder", down(ColliderBuilder::round_cylinder(0.2, 0.4, 0.1), 0.3)),
        ("cone", down(ColliderBuilder::cone(0.4, 0.8), 0.4)),
        ("round cone", down(ColliderBuilder::round_cone(0.4, 0.8, 0.1), 0.5)),
        ("convex", down(ColliderBuilder::convex_hull(&hull).expect("a volume"), 0.8)),
        ("round convex", down(ColliderBuilder::round_convex_hull(&hull, 0.05).expect("a volume"), 0.85)),
        ("compound", down(ColliderBuilder::compound(boxes), 0.3)),
        ("segment", ColliderBuilder::segment(Vec3::new(0.0, 0.0, -1.0), Vec3::new(0.1, 0.1, 1.0))),
        ("polyline", ColliderBuilder::polyline(vec![Vec3::new(0.0, 0.0, -1.0), Vec3::ZERO, Vec3::Z], None)),
        ("triangle", ColliderBuilder::triangle(flat[0], flat[1], flat[2])),
        ("round triangle", ColliderBuilder::round_triangle(flat[0], flat[1], flat[2], 0.05)),
        ("trimesh", ColliderBuilder::trimesh(points.clone(), triangles.clone()).expect("a mesh")),
        (
            "oriented trimesh",
            ColliderBuilder::trimesh_with_flags(points, triangles, TriMeshFlags::ORIENTED).expect("a mesh"),
        ),
        ("heightfield", ColliderBuilder::heightfield(hills(12), Vec3::new(3.0, 1.0, 3.0))),
        ("voxels", ColliderBuilder::voxels(Vec3::splat(0.25), &voxels)),
    ]
}

/// Dropped from different heights in different ways onto every form: it never gets deeper than it may, also while it lands, and what
/// stays on a flat one comes to rest. Depths are parry's.
#[test]
fn every_form_is_touched() {
    for (name, form) in forms() {
        let (mut touched, mut stayed) = (0, 0);
        let (mut deepest, mut at_rest, mut speed) = (0.0_f64, 0.0_f64, 0.0_f32);
        for (turn, tilt, height) in [(0.0, 0.0, 0.6), (0.7, 0.3, 0.8), (1.5, 0.0, 1.5), (0.3, 1.3, 1.2)] {
            let mut scene = Scene::new(form.clone(), DVec3::new(0.05, height, 0.03), turn, tilt);
            let mut least = f64::MAX;
            for _ in 0..240 {
                scene.step();
                let (gap, _) = scene.gap();
                least = least.min(gap);
            }
            assert!(scene.is_sound(), "{name}");
            deepest = deepest.max(-least);
            touched += usize::from(least < 1.0e-3);
            if scene.centre().y > -1.5 {
                stayed += 1;
                at_rest = at_rest.max(-scene.gap().0);
                speed = speed.max(scene.speed());
            }
        }
        println!(
            "{name}: touched {touched} of 4 times, {:.1} % of the radius deep at most; {stayed} stay, {:.2} % deep, {speed:.1e} m/s",
            100.0 * deepest / RADIUS,
            100.0 * at_rest / RADIUS
        );
        // What is not hollowed out lets rods roll and slide for ever: they have no damping.
        let keeps_still = ["cuboid", "cylinder"].contains(&name);
        assert!(!keeps_still || stayed == 4 && speed < 5.0e-3, "{name}");
        assert!(touched >= 3 && deepest < 0.3 * RADIUS && at_rest < 0.05 * RADIUS);
    }
}

/// Over a mesh of many triangles a rod slides as over one plane.
#[test]
fn a_flat_mesh_is_smooth() {
    let count = 24_u32;
    let points = (0..count * count).map(|k| {
        Vec3::new((k / count) as f32, 0.0, (k % count) as f32) * 0.17 - Vec3::splat(2.0) * Vec3::new(1.0, 0.0, 1.0)
    });
    let cells = (0..count - 1).flat_map(|i| (0..count - 1).map(move |k| i * count + k));
    let triangles = cells.flat_map(|at| [[at, at + 1, at + count], [at + count, at + 1, at + count + 1]]);
    let mesh = |flags| {
        let (points, triangles) = (points.clone().collect(), triangles.clone().collect());
        ColliderBuilder::trimesh_with_flags(points, triangles, flags).expect("a mesh").friction(0.3)
    };
    let plane = ColliderBuilder::halfspace(sinew::rapier3d::na::Unit::new_unchecked(Vec3::Y)).friction(0.3);
    let slid = |collider: ColliderBuilder| {
        let mut scene = Scene::new(collider, DVec3::new(-0.7, RADIUS, 0.1), 0.4, 0.0);
        scene.run(0.25);
        let flesh = scene.physics.flesh(scene.rod).expect("is there").clone();
        for j in 0..=SEGMENTS {
            let mut node = scene.physics.node(scene.rod, 0, j).expect("is there");
            node.velocity = Vec3::new(2.0, 0.0, 0.2);
            scene.physics.state_mut(scene.rod).expect("is there").set_node(&flesh, 0, j, &node);
        }
        let mut jumped = 0.0_f64;
        for _ in 0..90 {
            scene.step();
            jumped = jumped.max(scene.centre().y - RADIUS);
        }
        (scene.centre(), jumped)
    };
    let (exact, _) = slid(plane);
    for (name, flags) in [("two sides", TriMeshFlags::empty()), ("one side", TriMeshFlags::ORIENTED)] {
        let (found, jumped) = slid(mesh(flags));
        println!(
            "{name}: comes {:.1e} m from where a plane has it after {:.2} m, and jumps by {jumped:.1e} m",
            found.distance(exact),
            exact.x + 0.7
        );
        assert!(found.distance(exact) < 2.0e-3 && jumped < 1.0e-4);
    }
}

/// A degree below the angle of friction it stays, a degree above it slides: on a box and on triangles.
#[test]
fn rods_slip_on_colliders_as_coulomb_says() {
    let triangles = vec![[0, 1, 2], [2, 1, 3]];
    let corner = |k: u32| Vec3::new((k >> 1) as f32 * 8.0 - 4.0, 0.0, (k & 1) as f32 * 8.0 - 4.0);
    let mesh = SharedShape::trimesh((0..4).map(corner).collect(), triangles).expect("a mesh");
    for substeps in [1, 4, 32] {
        for friction in [0.1_f32, 0.5, 1.0] {
            for (name, shape, down) in [
                ("plane", SharedShape::halfspace(Vec3::Y), 0.0),
                ("box", SharedShape::cuboid(4.0, 0.5, 4.0), 0.5),
                ("mesh", mesh.clone(), 0.0_f32),
            ] {
                let limit = f64::from(friction).atan();
                let gained = |angle: f64| {
                    let turn = DQuat::from_rotation_z(-angle);
                    let place = (turn * DVec3::Y * -f64::from(down)).as_vec3();
                    let pose = RapierPose::from_parts(place, turn.as_quat());
                    let collider = ColliderBuilder::new(shape.clone()).position(pose).friction(friction);
                    let mut scene = Scene::new(collider, turn * DVec3::Y * RADIUS, 0.0, -angle);
                    scene.physics.config.substeps = substeps;
                    let along = turn * DVec3::X;
                    let speed = |scene: &Scene| {
                        let of = |j| scene.physics.node(scene.rod, 0, j).expect("is there").velocity.as_dvec3();
                        ((of(0) + of(SEGMENTS)) * 0.5).dot(along)
                    };
                    scene.run(0.5);
                    let before = speed(&scene);
                    scene.run(0.5);
                    (before, speed(&scene) - before)
                };
                let degree = 1.0_f64.to_radians();
                let (below, above) = (gained(limit - degree), gained(limit + degree));
                let exact = 9.81 * ((limit + degree).sin() - f64::from(friction) * (limit + degree).cos()) * 0.5;
                println!(
                    "{name}, {substeps} substeps, friction {friction}: {:.1e} m/s below, gains {:.4} above, Coulomb {exact:.4}",
                    below.0, above.1
                );
                assert!(below.0.abs() < 1.0e-3 && (above.1 / exact - 1.0).abs() < 0.02);
            }
        }
    }
}

/// Thrown at triangles and at a thin wall.
#[test]
fn nothing_goes_through_what_is_thin() {
    let triangles = vec![[0, 1, 2], [2, 1, 3]];
    let corner = |k: u32| Vec3::new(0.0, (k >> 1) as f32 * 8.0 - 4.0, (k & 1) as f32 * 8.0 - 4.0);
    let mesh = ColliderBuilder::trimesh((0..4).map(corner).collect(), triangles).expect("a mesh");
    let wall = ColliderBuilder::cuboid(0.025, 4.0, 4.0);
    let (points, triangles) = Cuboid::new(Vec3::new(0.025, 4.0, 4.0)).to_trimesh();
    let closed = ColliderBuilder::trimesh_with_flags(points, triangles, TriMeshFlags::ORIENTED).expect("a mesh");
    for (name, collider) in [("mesh", mesh), ("wall of 5 cm", wall), ("mesh of a wall", closed)] {
        for (speed, substeps) in [(10.0_f32, 4), (30.0, 4), (30.0, 8)] {
            for (turn, tilt) in [(0.0, 0.0), (0.5, 0.3), (1.57, 0.0), (0.2, 1.5)] {
                let mut scene = Scene::new(collider.clone(), DVec3::new(-2.0, 0.13, 0.07), turn, tilt);
                scene.physics.config = StepConfig { substeps, gravity: DVec3::ZERO, ..StepConfig::default() };
                let flesh = scene.physics.flesh(scene.rod).expect("is there").clone();
                for j in 0..=SEGMENTS {
                    let mut node = scene.physics.node(scene.rod, 0, j).expect("is there");
                    node.velocity = Vec3::X * speed;
                    scene.physics.state_mut(scene.rod).expect("is there").set_node(&flesh, 0, j, &node);
                }
                let mut farthest = f64::MIN;
                for _ in 0..60 {
                    scene.step();
                    farthest = scene.axis().iter().map(|(place, _)| place.x).fold(farthest, f64::max);
                }
                println!(
                    "{name}, {speed} m/s, {substeps} substeps, turned by {turn} and {tilt}: axis up to {farthest:.3} m"
                );
                assert!(scene.is_sound() && farthest < -0.2 * RADIUS && scene.centre().x < -RADIUS);
            }
        }
    }
}

/// What moves carries and pushes; a collider that is taken away, disabled, a sensor or in another group is not touched.
#[test]
fn who_is_touched() {
    let fallen = |change: &dyn Fn(&mut Scene, ColliderHandle)| {
        let mut rigid = RigidWorld::default();
        let floor = rigid.colliders.insert(ColliderBuilder::cuboid(2.0, 0.5, 2.0).translation(Vec3::NEG_Y * 0.5));
        let mut scene = Scene::beside(rigid, DVec3::Y * RADIUS, 0.0, 0.0);
        change(&mut scene, floor);
        scene.run(0.5);
        assert!(scene.is_sound());
        RADIUS - scene.centre().y
    };
    assert!(fallen(&|_, _| ()).abs() < 1.0e-3);
    assert!(fallen(&|scene, floor| scene.rigid.colliders[floor].set_enabled(false)) > 1.0);
    assert!(fallen(&|scene, floor| scene.rigid.colliders[floor].set_sensor(true)) > 1.0);
    let apart = |scene: &mut Scene, _| {
        scene.rigid.touched.groups = InteractionGroups::new(Group::GROUP_1, Group::GROUP_2, InteractionTestMode::And);
    };
    assert!(fallen(&apart).abs() < 1.0e-3, "the floor is in all groups");
    let floor_apart = |scene: &mut Scene, floor| {
        apart(scene, floor);
        let groups = InteractionGroups::new(Group::GROUP_3, Group::GROUP_3, InteractionTestMode::And);
        scene.rigid.colliders[floor].set_collision_groups(groups);
    };
    assert!(fallen(&floor_apart) > 1.0);
    let plane_apart = |scene: &mut Scene, floor| {
        floor_apart(scene, floor);
        let ground = scene.rigid.spawn_ground(0.0, 0.5).expect("a ground");
        let groups = InteractionGroups::new(Group::GROUP_3, Group::GROUP_3, InteractionTestMode::And);
        scene.rigid.colliders[ground].set_collision_groups(groups);
    };
    assert!(fallen(&plane_apart) > 1.0, "half-spaces have groups too");
    let removed = |scene: &mut Scene, floor| {
        let RigidWorld { colliders, islands, bodies, soft_bodies, .. } = &mut scene.rigid;
        let _removed = colliders.remove(floor, islands, bodies, soft_bodies, true);
    };
    assert!(fallen(&removed) > 1.0);
}

/// A character's own bones and what its joints are bound to are inside its flesh.
#[test]
fn own_bodies_are_not_touched() {
    let fallen = |bound: bool, bone: bool| {
        let mut rigid = RigidWorld::default();
        let capsule = BoneCapsule { start: Vec3::NEG_X * 0.2, end: Vec3::X * 0.2, radius: 0.1 };
        let pose = Pose::from_translation(DVec3::NEG_Y * 0.1);
        let body = rigid.spawn_bone(&pose, Some(capsule)).expect("a capsule");
        if bone {
            rigid.character_bones.push(body);
        }
        let mut scene = Scene::beside(rigid, DVec3::Y * 0.3, 0.0, 0.0);
        if bound {
            scene.world.spawn((BoundJoints(vec![(0, body)]),));
        }
        let solids = scene.rigid.solids(|_| false).len();
        // Those that no character names are removed by a step.
        if !bone {
            scene.run(0.5);
        }
        (solids, 0.3 - scene.centre().y)
    };
    let (solids, by) = fallen(false, false);
    assert!(solids == 1 && by < 0.3, "{by}");
    let (solids, by) = fallen(true, false);
    assert!(solids == 1 && by > 1.0, "{by}");
    assert_eq!(fallen(false, true).0, 0);
}

/// A lift, a box that falls with rapier, and what is no number.
#[test]
fn colliders_that_move() {
    let mut rigid = RigidWorld::default();
    let lift = rigid.bodies.insert(RigidBodyBuilder::kinematic_velocity_based().translation(Vec3::NEG_Y * 0.5));
    rigid.colliders.insert_with_parent(ColliderBuilder::cuboid(2.0, 0.5, 2.0), lift, &mut rigid.bodies);
    let mut scene = Scene::beside(rigid, DVec3::Y * RADIUS, 0.0, 0.0);
    scene.run(0.25);
    for frame in 0..120 {
        let speed = 3.0 * (frame as f32 / 30.0).min(1.0);
        scene.rigid.bodies[lift].set_linvel(Vec3::Y * speed, true);
        scene.step();
    }
    let top = f64::from(scene.rigid.bodies[lift].translation().y) + 0.5;
    println!("on a lift: {:.1e} m above it", scene.centre().y - RADIUS - top);
    assert!(scene.is_sound() && (scene.centre().y - RADIUS - top).abs() < 1.0e-3);

    // Flesh and a box fall alike, the box first on the ground, and the flesh onto it.
    let mut rigid = RigidWorld::default();
    rigid.spawn_ground(0.0, 0.5).expect("a ground");
    let falling = rigid.bodies.insert(RigidBodyBuilder::dynamic().translation(Vec3::Y * 1.0));
    rigid.colliders.insert_with_parent(ColliderBuilder::cuboid(0.5, 0.2, 0.5), falling, &mut rigid.bodies);
    let mut scene = Scene::beside(rigid, DVec3::Y * 1.4, 0.3, 0.0);
    scene.run(3.0);
    println!("on a box that fell: {:.1e} m off it, {:.1e} m/s", scene.gap().0, scene.speed());
    assert!(scene.is_sound() && scene.gap().0.abs() < 0.05 * RADIUS && scene.centre().y > 0.4);
}

/// A form of the host's own is named and passed through; other colliders are touched as ever.
#[test]
fn what_cannot_be_touched_is_named() {
    let mut rigid = RigidWorld::default();
    let floor = rigid.colliders.insert(ColliderBuilder::cuboid(2.0, 0.5, 2.0).translation(Vec3::NEG_Y * 0.5));
    let flat = rigid.colliders.insert(ColliderBuilder::cuboid(2.0, 0.0, 2.0));
    let far = rigid.colliders.insert(ColliderBuilder::ball(1.0).translation(Vec3::splat(2.0e9)));
    let mut scene = Scene::beside(rigid, DVec3::Y * RADIUS, 0.0, 0.0);
    scene.run(0.2);
    println!("{:?}", scene.rigid.touched.left_out);
    assert!(scene.is_sound() && scene.gap().0.abs() < 1.0e-3);
    let left_out = &scene.rigid.touched.left_out;
    assert!(matches!(left_out[..], [(a, LeftOut::Shape(_)), (b, LeftOut::Place)] if a == flat && b == far));
    let colliders = &scene.rigid.touched.colliders;
    let mut pressed: Vec<_> = scene.physics.contacts(scene.rod).expect("is there").collect();
    assert!(pressed.len() > SEGMENTS);
    pressed.retain(|contact| !matches!(contact.touched, Touched::Solid(solid) if colliders[solid] == floor));
    assert!(pressed.is_empty(), "{pressed:?}");
}
