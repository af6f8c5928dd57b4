//! Scenes in which chains touch solids, or are thrown down.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use sinew::flesh::{BonePill, Flesh, Holds, RodSpec};
use sinew::scenes::octopuses::Octopus;
use sinew::{
    Coefficient, Collisions, CombineRule, Convex, FleshHandle, HalfSpace, Mesh, Motion, Physics, Pose, Shape, Skin,
    Solid,
};

use super::scenes::{hung, no_bones, rods, soft};
use super::{DT, Scene};

fn placed(shape: Shape, place: DVec3, turn: DQuat, friction: f32) -> Solid {
    Solid::new(Arc::new(shape), Pose::new(place, turn), friction)
}

/// A table with a ball and a post on it, some way off from the world's origin.
fn table(_: usize) -> Vec<Solid> {
    let slab = Shape::Cuboid { half_extents: Vec3::new(0.7, 0.5, 0.6) };
    let post = Shape::Capsule { ends: [Vec3::new(0.0, -0.1, 0.0), Vec3::new(0.1, 0.3, 0.0)], radius: 0.04 };
    let tilted = DQuat::from_scaled_axis(DVec3::new(0.06, 0.3, -0.04));
    vec![
        placed(slab, DVec3::new(0.2, -0.5, 0.3), tilted, 0.5),
        placed(Shape::Ball { radius: 0.3 }, DVec3::new(0.4, -0.1, 0.33), DQuat::IDENTITY, 0.4),
        placed(post, DVec3::new(0.1, 0.0, 0.6), DQuat::from_rotation_x(0.2), 0.3),
    ]
}

/// What slips on what carries it along, and stops there.
pub fn on_a_floor_that_turns() -> [Scene; 2] {
    [("on a floor that turns", 0, 36), ("meeting itself on a floor that turns", 4, 60)].map(|(name, passes, before)| {
        let mut scene = Scene::new(name, &[], no_bones);
        let octopus = Octopus::default().build().unwrap();
        let root = Pose::new(DVec3::new(0.3, 0.4, 0.1), DQuat::from_rotation_y(0.4));
        scene.flesh = vec![(octopus, Arc::new(Skin::default()), root)];
        scene.planes = vec![HalfSpace::ground(0.0, 0.5).turning(DVec3::Y * 4.0, DVec3::ZERO)];
        (scene.config.substeps, scene.config.passes, scene.before) = (2, passes, before);
        scene
    })
}

/// Two that move: one that sweeps, and a tall table that turns and rises.
fn movers(step: usize) -> Vec<Solid> {
    let t = step as f64 * DT;
    let velocity = DVec3::new(0.05, 0.01, 0.3);
    let bar = Shape::Capsule { ends: [Vec3::X * 0.1, Vec3::X * 0.9], radius: 0.05 };
    let bar = placed(bar, DVec3::new(0.0, 0.04, -0.12) + velocity * t, DQuat::from_rotation_y(0.05), 0.6);
    let (spin, rise) = (DVec3::Y * 0.2, DVec3::Y * 0.02);
    let table = Shape::Cuboid { half_extents: Vec3::new(0.9, 5.0, 0.7) };
    let centre = DVec3::new(0.5, -5.06, 0.25) + rise * t;
    let table = placed(table, centre, DQuat::from_scaled_axis(spin * t), 0.5);
    vec![bar.moving(velocity), table.moving(rise).turning(spin, centre)]
}

/// A cylinder that lies and one that stands, a cone, and a round cuboid on a large disc.
fn turned_shapes(_: usize) -> Vec<Solid> {
    let disc = Shape::Cylinder { half_height: 2.0, radius: 30.0 };
    let log = Shape::Cylinder { half_height: 0.4, radius: 0.12 };
    let post = Shape::Cylinder { half_height: 0.1, radius: 0.15 };
    let cone = Shape::Cone { half_height: 0.15, radius: 0.2 };
    let brick = Shape::Cuboid { half_extents: Vec3::new(0.08, 0.05, 0.1) };
    let round = placed(brick, DVec3::new(0.25, -0.04, 0.35), DQuat::from_rotation_y(0.4), 0.5);
    vec![
        placed(disc, DVec3::new(4.0, -2.1, 3.0), DQuat::from_rotation_y(0.3), 0.5),
        placed(log, DVec3::new(0.5, -0.1, 0.1), DQuat::from_scaled_axis(DVec3::new(1.5, 0.0, 0.1)), 0.5),
        placed(post, DVec3::new(0.85, -0.05, 0.3), DQuat::IDENTITY, 0.3),
        placed(cone, DVec3::new(0.1, -0.02, 0.1), DQuat::from_rotation_x(0.1), 0.6),
        Solid { border_radius: 0.03, ..round },
    ]
}

/// Hilly ground, solid below, of triangles that share their points.
fn hills() -> Mesh {
    let count = 14_u32;
    let height = |i: u32, k: u32| 0.05 * (1.3 * i as f32).sin() * (0.9 * k as f32).cos();
    let point = |i: u32, k: u32| Vec3::new(0.15 * i as f32 - 0.5, height(i, k), 0.15 * k as f32 - 0.6);
    let points = (0..count).flat_map(|i| (0..count).map(move |k| point(i, k))).collect();
    let quad = |i: u32, k: u32| {
        let at = |i: u32, k: u32| i * count + k;
        [[at(i, k), at(i, k + 1), at(i + 1, k)], [at(i + 1, k), at(i, k + 1), at(i + 1, k + 1)]]
    };
    let triangles = (0..count - 1).flat_map(|i| (0..count - 1).flat_map(move |k| quad(i, k))).collect();
    Mesh::new(points, triangles, true).unwrap()
}

/// Hills, with a polyhedron and a thin roof of two sides on them.
fn triangles(_: usize) -> Vec<Solid> {
    static SHAPES: std::sync::OnceLock<[Arc<Shape>; 3]> = std::sync::OnceLock::new();
    let shapes = SHAPES.get_or_init(|| {
        let corners = [Vec3::new(0.2, 0.0, 0.1), Vec3::new(-0.2, 0.0, 0.15), Vec3::new(0.0, 0.0, -0.2), Vec3::Y * 0.12];
        let faces = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        let faces = faces.into_iter().map(|[a, b, c]| [a, c, b]).collect();
        let convex = Convex::new(&corners, faces).unwrap();
        let roof = [Vec3::new(-0.1, 0.0, -0.3), Vec3::new(-0.1, 0.0, 0.3), Vec3::new(0.0, 0.08, -0.3)];
        let roof =
            [roof[0], roof[1], roof[2], Vec3::new(0.0, 0.08, 0.3), Vec3::new(0.1, 0.0, -0.3), Vec3::new(0.1, 0.0, 0.3)];
        let sides = vec![[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5]];
        let roof = Mesh::new(roof.to_vec(), sides, false).unwrap();
        [Shape::Mesh(hills()), Shape::Convex(convex), Shape::Mesh(roof)].map(Arc::new)
    });
    let at = |shape: usize, place: DVec3, turn: DQuat| Solid::new(shapes[shape].clone(), Pose::new(place, turn), 0.5);
    let tilted = DQuat::from_scaled_axis(DVec3::new(0.05, 0.4, -0.03));
    vec![
        at(0, DVec3::new(0.1, -0.06, 0.05), tilted),
        at(1, DVec3::new(0.3, 0.0, 0.3), DQuat::from_rotation_y(0.3)),
        Solid { border_radius: 0.01, ..at(2, DVec3::new(0.75, 0.03, 0.2), DQuat::from_rotation_y(0.2)) },
    ]
}

/// Rods that lie, and one that falls on its end, faster than the usual stiffness stops; stopped in one substep, and thrown in that which is
/// compared, by what has restitution.
pub fn thrown_down() -> Vec<Scene> {
    let mut hit = rods(DVec3::Y * 0.06, DVec3::X + DVec3::Y * 0.06, 0.05, &[8; 3], soft());
    hit.extend(rods(DVec3::new(0.3, 0.2, 1.0), DVec3::new(0.3, 1.0, 1.0), 0.05, &[6], soft()));
    let mut on_a_floor = Scene::new("thrown on a floor", &hit, no_bones);
    on_a_floor.planes = vec![HalfSpace::ground(0.0, 0.5)];
    on_a_floor.play = |physics, handle, _| throw_down(physics, handle);
    on_a_floor.before = 3;
    let mut bouncing = Scene::new("bouncing", &hit, no_bones);
    bouncing.planes = vec![HalfSpace::ground(0.0, 0.5).bouncing(0.6)];
    let mut off_a_table = Scene::new("bouncing off a table", &hit, no_bones);
    off_a_table.solids = bouncing_table;
    for scene in [&mut bouncing, &mut off_a_table] {
        scene.play = |physics, handle, step| {
            if step <= 1 {
                throw_down(physics, handle);
            }
        };
        scene.config.substeps = 1;
        scene.before = 1;
    }
    vec![on_a_floor, bouncing, off_a_table]
}

fn throw_down(physics: &mut Physics, handle: FleshHandle) {
    let down = Motion { velocity: DVec3::NEG_Y * 20.0, spin: DVec3::ZERO, centre: DVec3::ZERO };
    physics.set_velocity(handle, down).unwrap();
}

/// A table of which flesh bounces.
fn bouncing_table(_: usize) -> Vec<Solid> {
    let top = Arc::new(Shape::Cuboid { half_extents: Vec3::new(3.0, 0.2, 3.0) });
    vec![Solid::new(top, Pose::from_translation(DVec3::NEG_Y * 0.2), 0.5).bouncing(0.6)]
}

fn lying(height: f64) -> Vec<RodSpec> {
    let up = DVec3::Y * height;
    rods(up, DVec3::X + up, 0.05, &[8, 6, 9, 5, 7], soft())
}

/// Solids of every form that a GPU knows, at rest and moving.
pub fn on_solids() -> Vec<Scene> {
    let mut on_table = Scene::new("on a table", &lying(0.3), no_bones);
    on_table.solids = table;
    on_table.before = 30;
    let mut pushed = Scene::new("pushed by solids", &lying(0.06), no_bones);
    pushed.solids = movers;
    pushed.before = 50;
    let mut shapes = Scene::new("on cylinders and cones", &lying(0.2), no_bones);
    shapes.solids = turned_shapes;
    shapes.before = 60;
    shapes.play = |physics, handle, _| {
        let friction = Some(Coefficient::new(0.3, CombineRule::GeometricMean));
        physics.set_collisions(handle, Collisions { friction, ..Collisions::default() }).unwrap();
    };
    let bridge = hung(hung(lying(0.3), 0, 0, Holds::CLAMP), 99, 1, Holds::CLAMP);
    let mut carried = Scene::new("carried into solids", &bridge, sinking_bones);
    carried.solids = table;
    let mut on_mesh = Scene::new("on triangles", &lying(0.2), no_bones);
    on_mesh.solids = triangles;
    // Where no rod is about to slip or to let go, which roundings would decide.
    on_mesh.before = 60;
    let up = DVec3::Y * 0.051;
    let mut flat = Scene::new("pressed flat", &rods(up, DVec3::X + up, 0.05, &[8; 3], soft()), no_bones);
    flat.solids = press;
    flat.before = 20;
    vec![on_table, pushed, shapes, carried, over_bones(), on_mesh, flat]
}

/// A plate that comes down on the middles of rods on the ground.
fn press(step: usize) -> Vec<Solid> {
    let plate = Shape::Cuboid { half_extents: Vec3::new(0.15, 0.1, 0.6) };
    let height = (0.1 - 0.006 * step as f64).max(0.01);
    let ground =
        placed(Shape::Cuboid { half_extents: Vec3::new(3.0, 0.2, 3.0) }, DVec3::Y * -0.2, DQuat::IDENTITY, 0.8);
    vec![ground, placed(plate, DVec3::new(0.5, height + 0.1, 0.1), DQuat::IDENTITY, 0.8)]
}

/// Two bones that go down.
fn sinking_bones(step: usize) -> Vec<Pose> {
    let down = DVec3::NEG_Y * (0.8 * step as f64 * DT);
    vec![Pose::from_translation(down), Pose::from_translation(DVec3::X + down)]
}

/// Two bones that swing, and a third on which nothing hangs.
fn three_bones(step: usize) -> Vec<Pose> {
    let t = step as f64 * DT;
    let swing = DQuat::from_scaled_axis(DVec3::new(0.05, 0.2, 0.1) * (1.0 * t).sin());
    let third = Pose::new(DVec3::new(0.3, 0.1 * t.min(0.15), 0.0), DQuat::from_rotation_y(0.1 * t));
    vec![Pose::new(DVec3::X * (0.1 * t), swing), Pose::new(DVec3::X * (1.0 + 0.1 * t), swing), third]
}

/// Rods between two bones that lie on pills of these and of a third.
fn over_bones() -> Scene {
    let bridge = hung(hung(lying(0.0), 0, 0, Holds::CLAMP), 99, 1, Holds::CLAMP);
    let mut scene = Scene::new("over their bones", &bridge, three_bones);
    let pill = |bone, ends, radius| BonePill { bone, ends, radius, friction: 0.4 };
    let pills = [
        pill(0, [Vec3::new(0.4, -0.08, -0.2), Vec3::new(0.5, -0.08, 0.7)], 0.06),
        pill(1, [Vec3::new(-0.2, 0.1, -0.2), Vec3::new(-0.25, 0.1, 0.7)], 0.04),
        pill(2, [Vec3::new(0.0, -0.1, -0.2), Vec3::new(0.0, -0.1, 0.7)], 0.05),
    ];
    let flesh = Flesh::clone(&scene.flesh[0].0).with_bone_pills(&pills).unwrap();
    scene.flesh[0].0 = Arc::new(flesh);
    scene.touches_bones = true;
    scene.before = 30;
    scene
}
