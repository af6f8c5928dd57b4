//! Free rods on solids: what holds of planes holds of their faces, and edges, balls and thin walls are no holes.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::step::StepConfig;
use sinew::{HalfSpace, Physics, Pose, Shape, Solid, Touched};

use super::common::{FRAME, OneRod, material};
use super::{FAR, GRAVITY, LENGTH, RADIUS, SEGMENTS, Scene};

fn cuboid(half_extents: Vec3) -> Arc<Shape> {
    Arc::new(Shape::Cuboid { half_extents })
}

/// A large box whose upper face is at a pose's xz plane.
fn slab(face: Pose, friction: f32) -> Solid {
    let pose = face * Pose::from_translation(DVec3::NEG_Y * 0.5);
    Solid::new(cuboid(Vec3::new(5.0, 0.5, 5.0)), pose, friction)
}

impl Scene {
    fn on(config: StepConfig, root: Pose, solids: Vec<Solid>) -> Self {
        let mut scene = Self::stepped(config, root, Vec::new());
        scene.physics.solids = solids;
        scene
    }

    /// How deep the rod is in a solid (m), at its nodes and between them; negative outside.
    fn depth_in(&self, solid: &Solid) -> f64 {
        let nodes = self.nodes();
        let at = |along: f64| {
            let (j, t) = ((along as usize).min(SEGMENTS - 1), along - (along as usize).min(SEGMENTS - 1) as f64);
            let (a, b) = (&nodes[j], &nodes[j + 1]);
            let place = solid.pose.inverse().transform_point(a.place.lerp(b.place, t));
            let radius = f64::from(a.radius) + (f64::from(b.radius) - f64::from(a.radius)) * t;
            let distance = |primitive| solid.shape.surface(primitive, place).distance;
            radius - distance(0)
        };
        (0..=SEGMENTS * 32).map(|k| at(k as f64 / 32.0)).fold(f64::MIN, f64::max)
    }

    fn speed(&self) -> f32 {
        self.nodes().iter().map(|n| n.velocity.length()).fold(0.0, f32::max)
    }
}

/// A rod falls on a box as it does on a plane.
#[test]
fn a_face_is_a_plane() {
    for at in [DVec3::ZERO, FAR] {
        let tilt = DQuat::from_rotation_z(0.3);
        let root = Pose::new(at + DVec3::Y * 0.4, tilt);
        let mut plane = Scene::new(root, vec![HalfSpace::ground(at.y, 0.5)]);
        let mut face = Scene::on(StepConfig::default(), root, vec![slab(Pose::from_translation(at), 0.5)]);
        let mut apart = 0.0_f64;
        for frame in 0..240 {
            plane.step();
            face.step();
            let pairs = plane.nodes().into_iter().zip(face.nodes());
            apart = pairs.map(|(a, b)| a.place.distance(b.place)).fold(apart, f64::max);
            if frame == 30 {
                println!("{:.0} m away, half a second on: {apart:.1e} m apart", at.length());
            }
        }
        println!("{:.0} m away: box and plane {apart:.1e} m apart, {:.1e} m/s left", at.length(), face.speed());
        assert!(face.is_sound() && apart < 1.0e-3 && face.speed() < 1.0e-3);
    }
}

/// Two rails narrower than a segment, under the middles of two: nodes alone would fall between.
#[test]
fn a_rod_lies_on_rails_between_its_nodes() {
    let segment = LENGTH / SEGMENTS as f64;
    for offset in [0.0, 0.25, 0.5, 0.9] {
        let rail = |node: f64| {
            let place = DVec3::new((node + offset) * segment, -0.05, 0.0);
            Solid::new(cuboid(Vec3::new(0.002, 0.05, 0.5)), Pose::from_translation(place), 0.5)
        };
        let rails = vec![rail(1.0), rail(8.0)];
        let mut scene = Scene::on(StepConfig::default(), Pose::from_translation(DVec3::Y * 0.06), rails.clone());
        scene.run(3.0);
        let depth = rails.iter().map(|rail| scene.depth_in(rail)).fold(f64::MIN, f64::max);
        println!("rails at {offset} of a segment: {depth:.1e} m deep (bar 1e-4), {:.1e} m/s left", scene.speed());
        assert!(scene.is_sound() && depth.abs() < 1.0e-4 && scene.speed() < 1.0e-3);
    }
}

/// A plate presses the middle of a free rod to a twelfth of its thickness for two seconds: it is not laid anew, in the plate, and is what
/// it was once the plate is gone.
#[test]
fn what_is_pressed_flat_comes_back_by_itself() {
    let mut rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X * LENGTH, SEGMENTS, RADIUS);
    rod.material = material(1.0e5, 0.45, 1000.0, 3.0);
    let mut rod = OneRod::new(&rod, &[], StepConfig::default());
    let ground = slab(Pose::from_translation(DVec3::NEG_Y * RADIUS), 0.8);
    let plate = |height: f64| {
        let place = DVec3::new(0.5 * LENGTH, height - RADIUS + 0.1, 0.0);
        Solid::new(cuboid(Vec3::new(0.06, 0.1, 0.5)), Pose::from_translation(place), 0.8)
    };
    let mut thinnest = f32::INFINITY;
    for frame in 0..360 {
        let time = f64::from(frame) * FRAME;
        let (down, up) = ((time / 0.8).min(1.0), ((time - 3.0) / 0.5).clamp(0.0, 1.0));
        let height = 2.0 * RADIUS * (1.0 - (1.0 - 1.0 / 12.0) * down + 2.0 * up);
        rod.physics.solids = vec![ground.clone(), plate(height)];
        rod.run(FRAME, 1);
        thinnest = rod.nodes().iter().map(|node| node.scale).fold(thinnest, f32::min);
    }
    let nodes = rod.nodes();
    let thickness = nodes.iter().map(|node| (node.scale - 1.0).abs()).fold(0.0, f32::max);
    let length: f64 = nodes.windows(2).map(|pair| pair[0].place.distance(pair[1].place)).sum();
    let resets = rod.physics.health(rod.handle).expect("is there").resets;
    println!(
        "pressed to {thinnest:.2} of its thickness, {resets} laid anew (bar 0); two and a half seconds after, off by {thickness:.1e} in \
         thickness and {:.1e} in length (bars 1e-2)",
        (length / LENGTH - 1.0).abs()
    );
    assert!(thinnest < 0.2 && resets == 0 && thickness < 1.0e-2 && (length / LENGTH - 1.0).abs() < 1.0e-2);
}

/// A rod held at one end lies over a ball that is smaller than a segment, wherever the ball is along it.
#[test]
fn a_held_rod_lies_over_a_ball() {
    for along in [0.3, 0.32, 0.35, 0.4, 0.47] {
        let mut rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X * LENGTH, SEGMENTS, RADIUS);
        rod.material = material(3.0e6, 0.3, 1000.0, 3.0);
        let mut rod = OneRod::new(&rod.attach(0, 0, Holds::CLAMP), &[Pose::IDENTITY], StepConfig::default());
        let radius = 0.01_f32;
        let centre = DVec3::new(along, -RADIUS - 0.02, 0.0);
        rod.physics.solids = vec![Solid::new(Arc::new(Shape::Ball { radius }), Pose::from_translation(centre), 0.5)];
        rod.run(FRAME, 240);
        let nodes = rod.nodes();
        let gap = |j: usize, t: f64| {
            let (a, b) = (&nodes[j], &nodes[j + 1]);
            let thick = f64::from(a.radius) * (1.0 - t) + f64::from(b.radius) * t;
            a.place.lerp(b.place, t).distance(centre) - thick - f64::from(radius)
        };
        let least = (0..SEGMENTS * 64).map(|k| gap(k / 64, (k % 64) as f64 / 64.0)).fold(f64::MAX, f64::min);
        let speed = nodes.iter().map(|n| n.velocity.length()).fold(0.0, f32::max);
        println!("ball at {along} m: {least:.1e} m from it (bar 1e-4), {speed:.1e} m/s left");
        assert!(rod.is_sound() && least.abs() < 1.0e-4 && speed < 1.0e-3);
    }
}

/// Thrown at a wall of 5 cm.
#[test]
fn a_thin_wall_stops_what_is_fast() {
    for (speed, substeps) in [(10.0, 4), (30.0, 4), (30.0, 8)] {
        for turn in [0.0, 0.4, 1.57] {
            let wall = Solid::new(cuboid(Vec3::new(0.025, 2.0, 2.0)), Pose::from_translation(DVec3::X * 2.0), 0.5);
            let config = StepConfig { substeps, gravity: DVec3::ZERO, ..StepConfig::default() };
            let root = Pose::new(DVec3::ZERO, DQuat::from_rotation_z(turn));
            let mut scene = Scene::on(config, root, vec![wall.clone()]);
            scene.push(DVec3::X * speed);
            let (mut farthest, mut deepest) = (f64::MIN, f64::MIN);
            for _ in 0..60 {
                scene.step();
                farthest = scene.nodes().iter().map(|n| n.place.x).fold(farthest, f64::max);
                deepest = deepest.max(scene.depth_in(&wall));
            }
            println!("{speed} m/s, {substeps} substeps, turned by {turn}: up to {farthest:.3} m, {deepest:.1e} m deep");
            assert!(scene.is_sound() && farthest < 1.975 && deepest < 0.1 * RADIUS);
        }
    }
}

/// A box that rises and falls with 3 m/s, and one that turns with 2 rad/s, take along what lies on them.
#[test]
fn moving_boxes_carry() {
    for speed in [3.0, -3.0] {
        let root = Pose::from_translation(DVec3::Y * RADIUS);
        let mut scene = Scene::on(StepConfig::default(), root, vec![slab(Pose::IDENTITY, 0.5)]);
        scene.run(0.5);
        let ramp = 30.0;
        let mut height = 0.0;
        for frame in 1..=90 {
            let now = speed * (f64::from(frame) / ramp).min(1.0);
            height += now * FRAME;
            let face = Pose::from_translation(DVec3::Y * height);
            scene.physics.solids = vec![slab(face, 0.5).moving(DVec3::Y * now)];
            scene.step();
        }
        let gap = scene.nodes().iter().map(|n| n.place.y - height - f64::from(n.radius)).fold(f64::MAX, f64::min);
        println!("box at {speed} m/s: {gap:.1e} m above it (bar 1e-4)");
        assert!(scene.is_sound() && gap.abs() < 1.0e-4);
    }
    let root = Pose::from_translation(DVec3::new(-0.25, RADIUS, 0.5));
    let mut scene = Scene::bowed(StepConfig::default(), root, Vec::new());
    scene.physics.solids = vec![slab(Pose::IDENTITY, 0.8)];
    scene.run(0.5);
    let start = scene.centre();
    let (mut turned, frames) = (0.0, 90);
    for frame in 1..=frames {
        let now = 2.0 * (f64::from(frame) / 60.0).min(1.0);
        turned += now * FRAME;
        let face = Pose::new(DVec3::ZERO, DQuat::from_rotation_y(turned));
        scene.physics.solids = vec![slab(face, 0.8).turning(DVec3::Y * now, DVec3::ZERO)];
        scene.step();
    }
    let wanted = DQuat::from_rotation_y(turned) * start;
    let off = scene.centre().distance(wanted) / (turned * start.length());
    println!("box turned by {turned:.3} rad: {:.4} of its way off (bar 1 %)", off);
    assert!(scene.is_sound() && off < 0.01);
}

/// What is remembered of solids goes with a snapshot, whatever the lanes.
#[test]
fn solids_are_deterministic() {
    let scene = || {
        let ball = Solid::new(Arc::new(Shape::Ball { radius: 0.1 }), Pose::from_translation(DVec3::X * 0.2), 0.5);
        let tilted = Pose::new(DVec3::ZERO, DQuat::from_rotation_z(-0.2));
        let mut scene =
            Scene::on(StepConfig::default(), Pose::from_translation(DVec3::Y * 0.3), vec![slab(tilted, 0.6), ball]);
        scene.run(1.0);
        scene
    };
    let mut whole = scene();
    let snapshot = whole.physics.save_flesh(whole.handle).expect("is there");
    let bits =
        |scene: &Scene| -> Vec<_> { scene.nodes().iter().flat_map(|n| n.place.to_array().map(f64::to_bits)).collect() };
    whole.run(0.5);
    for width in [sinew::LaneWidth::One, sinew::LaneWidth::EightBaseline] {
        let mut other = scene();
        other.physics.lane_width = width;
        other.physics.restore_flesh(other.handle, &snapshot).expect("is its own");
        other.run(0.5);
        assert_eq!(bits(&whole), bits(&other), "{width:?}");
    }
}

/// Half-spaces and solids come and go between any two steps, on any number of rods, and snapshots go back to another set of them.
#[test]
fn solids_and_planes_change_in_any_order() {
    let rods: Vec<_> = (0..11)
        .map(|k| {
            let from = DVec3::new(0.0, 0.1, 0.15 * f64::from(k));
            let to = from + DVec3::X * LENGTH;
            let mut rod = RodSpec::straight("rod", from, to, SEGMENTS - (k as usize) % 4, RADIUS);
            rod.material = material(1.0e6, 0.3, 1000.0, 0.5);
            rod
        })
        .collect();
    let flesh = Arc::new(Flesh::build(&rods, &[]).expect("in range"));
    let run = |threads: usize, width: sinew::LaneWidth, passes: u32| {
        let config = StepConfig { threads, passes, ..StepConfig::default() };
        let mut physics = Physics::with_config(config);
        physics.lane_width = width;
        let handle = physics.insert(flesh.clone(), &[], Pose::IDENTITY).expect("finite");
        let ball =
            |x: f64| Solid::new(Arc::new(Shape::Ball { radius: 0.1 }), Pose::from_translation(DVec3::X * x), 0.5);
        let mut saved = None;
        for frame in 0..48 {
            physics.planes = (0..frame / 5 % 3).map(|k| HalfSpace::ground(-0.01 * f64::from(k), 0.5)).collect();
            physics.solids = match frame / 4 % 4 {
                0 => vec![slab(Pose::IDENTITY, 0.5)],
                1 => vec![ball(0.1), slab(Pose::from_translation(DVec3::Y * 0.02), 0.5), ball(0.4)],
                2 => Vec::new(),
                _ => vec![slab(Pose::IDENTITY, 0.5).turning(DVec3::Y * 200.0, DVec3::ZERO).moving(DVec3::X)],
            };
            let dt = if frame % 7 == 6 { 0.7 } else { FRAME };
            physics.step_flesh(dt).expect("steps");
            assert!(physics.state(handle).expect("is there").is_finite(), "frame {frame}");
            let _listed = physics.contacts(handle).expect("is there").count();
            match frame {
                20 => saved = Some(physics.save_flesh(handle).expect("is there")),
                31 | 37 => physics.restore_flesh(handle, saved.as_ref().expect("was saved")).expect("is its own"),
                _ => {}
            }
        }
        physics.state_hash()
    };
    for passes in [0, 2] {
        let hash = run(1, sinew::LaneWidth::Eight, passes);
        for (threads, width) in
            [(2, sinew::LaneWidth::Eight), (1, sinew::LaneWidth::One), (3, sinew::LaneWidth::EightBaseline)]
        {
            assert_eq!(hash, run(threads, width, passes), "{threads} threads, {width:?}, {passes} passes");
        }
    }
}

/// What is taken away holds no more; what bones hold inside is not thrown out.
#[test]
fn solids_come_and_go() {
    let root = Pose::from_translation(DVec3::Y * RADIUS);
    let mut scene = Scene::on(StepConfig::default(), root, vec![slab(Pose::IDENTITY, 0.5)]);
    scene.run(0.5);
    scene.physics.solids.clear();
    scene.run(0.5);
    let fallen = RADIUS - scene.centre().y;
    println!("falls by {fallen:.3} m in half a second");
    assert!((fallen / (0.5 * GRAVITY * 0.25) - 1.0).abs() < 0.02);
    let mut rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X * LENGTH, SEGMENTS, RADIUS);
    rod.material = material(1.0e5, 0.3, 1000.0, 1.0);
    let flesh = Arc::new(Flesh::build(&[rod.attach(0, 0, Holds::CLAMP)], &[Pose::IDENTITY]).expect("in range"));
    let mut physics = Physics::default();
    physics.solids = vec![Solid::new(cuboid(Vec3::splat(0.12)), Pose::IDENTITY, 0.5)];
    let handle = physics.insert(flesh, &[Pose::IDENTITY], Pose::IDENTITY).expect("finite");
    for _ in 0..240 {
        physics.step_flesh(FRAME).expect("steps");
    }
    let node = physics.node(handle, 0, 1).expect("is there");
    println!("beside a held node within a box: {:.1e} m off", node.place.distance(DVec3::X * 0.05));
    assert_eq!(physics.health(handle).expect("is there").resets, 0);
    assert!(physics.state(handle).expect("is there").is_finite());
}

/// Pinched between two plates to half its thickness a rod keeps its volume, thickens beside them (31), and pushes both alike.
#[test]
fn a_pinched_rod_goes_aside() {
    const PINCHED: usize = 20;
    const SHORT: f64 = 0.25;
    for (youngs_modulus, across) in [(3.0e3, 0.1_f32), (1.0e4, 0.1), (3.0e4, 0.1)] {
        let mut rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X * SHORT, PINCHED, RADIUS);
        rod.material = material(youngs_modulus, 0.499, 1000.0, 20.0);
        let config = StepConfig { gravity: DVec3::ZERO, ..StepConfig::default() };
        let flesh = Arc::new(
            Flesh::build(&[rod.attach(0, 0, Holds::CLAMP).attach(PINCHED, 0, Holds::CLAMP)], &[Pose::IDENTITY])
                .expect("in range"),
        );
        let mut physics = Physics::with_config(config);
        let handle = physics.insert(flesh, &[Pose::IDENTITY], Pose::IDENTITY).expect("finite");
        let volume = |physics: &Physics| physics.muscle(handle, 0).expect("is there").volume;
        let before = volume(&physics);
        let plate = |side: f64, gap: f64, speed: f64| {
            let place = DVec3::new(0.5 * SHORT, side * (gap + 0.05), 0.0);
            let shape = cuboid(Vec3::new(0.5 * across, 0.05, 0.2));
            Solid::new(shape, Pose::from_translation(place), 0.02).moving(DVec3::NEG_Y * (side * speed))
        };
        let speed = RADIUS * 0.5;
        for frame in 1..=300 {
            let closing = if frame <= 60 { speed } else { 0.0 };
            let gap = RADIUS - speed * FRAME * f64::from(frame.min(60));
            physics.solids = vec![plate(1.0, gap, closing), plate(-1.0, gap, closing)];
            physics.step_flesh(FRAME).expect("steps");
        }
        let mut forces = [0.0; 2];
        for contact in physics.contacts(handle).expect("is there") {
            let Touched::Solid(plate) = contact.touched else { panic!("{contact:?}") };
            forces[plate] += f64::from(contact.force);
        }
        let scales: Vec<f32> = (0..=PINCHED).map(|j| physics.node(handle, 0, j).expect("is there").scale).collect();
        let speed =
            (0..=PINCHED).map(|j| physics.node(handle, 0, j).expect("is there").velocity.length()).fold(0.0, f32::max);
        let kept = volume(&physics) / before - 1.0;
        let uneven = (forces[0] - forces[1]).abs() / forces[0].max(forces[1]);
        println!(
            "E {youngs_modulus:.0e} Pa, plates of {across} m: volume {:+.2} % (bar 2), {:.3} N on each, {uneven:.1e} of it apart, {speed:.1e} m/s left; \
             scales {:.3?}",
            100.0 * kept,
            forces[0],
            scales
        );
        assert!(physics.state(handle).expect("is there").is_finite());
        assert!(kept.abs() < 0.02 && uneven < 5.0e-3 && (scales[PINCHED / 2] - 0.5).abs() < 0.05);
        assert!([PINCHED / 8, PINCHED * 7 / 8].iter().all(|&j| scales[j] > 1.02), "the flanks thicken");
    }
}

/// Into ground that dents nothing flesh between two held ends goes with its bones; what dents it does so by its share.
#[test]
fn ground_leaves_flesh_to_its_bones() {
    let thinned_by = |dents: f32| {
        let mut rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X * LENGTH, SEGMENTS, RADIUS);
        rod.material = material(1.0e5, 0.45, 1000.0, 5.0);
        let rod = rod.attach(0, 0, Holds::CLAMP).attach(SEGMENTS, 0, Holds::CLAMP);
        let config = StepConfig { gravity: DVec3::ZERO, ..StepConfig::default() };
        let mut rod = OneRod::new(&rod, &[Pose::IDENTITY], config);
        // 1 cm into its middle.
        let place = Pose::from_translation(DVec3::new(0.5 * LENGTH, -RADIUS + 0.01 - 0.05, 0.0));
        let shape = cuboid(Vec3::new(0.08, 0.05, 0.2));
        rod.physics.solids = vec![Solid { dents, ..Solid::new(shape, place, 0.5) }];
        rod.run(FRAME, 120);
        assert!(rod.is_sound());
        let middle = rod.node(SEGMENTS / 2);
        middle.place.y - f64::from(middle.radius) + RADIUS
    };
    let [ground, prop] = [thinned_by(0.0), thinned_by(0.5)];
    println!("its lower side is {ground:.1e} m higher over ground, {prop:.4} m over what dents it");
    assert!(ground.abs() < 1.0e-6 && (0.0099..0.02).contains(&prop));
}
