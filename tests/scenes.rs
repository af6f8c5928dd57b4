//! The canonical scenes open, step and show what they are for; parameters that none of them takes are refused.

#[path = "common/mod.rs"]
mod common;

use common::FRAME;
use glam::{DQuat, DVec3};
use sinew::flesh::NodeState;
use sinew::scenes::{PARAMETERS, SCENES, Scene, SceneError, SceneParameters, SlopeSurface};
use sinew::{FleshHandle, Physics, Touched};

const GRAVITY: f64 = 9.81;

/// A scene that is stepped as the tool steps it.
struct Run {
    scene: Scene,
    physics: Physics,
    handle: FleshHandle,
    frame: u32,
}

impl Run {
    fn new(name: &str, parameters: &SceneParameters) -> Self {
        let scene = parameters.build(name).expect("in range");
        let mut physics = Physics::with_config(scene.config);
        let handle = scene.insert(&mut physics).expect("finite");
        Self { scene, physics, handle, frame: 0 }
    }

    fn run(&mut self, seconds: f64) {
        for _ in 0..(seconds / FRAME).round() as usize {
            let from = f64::from(self.frame) * FRAME;
            self.frame += 1;
            self.scene.drive(&mut self.physics, self.handle, from + FRAME).expect("finite");
            self.scene.move_solids(&mut self.physics, from, from + FRAME);
            self.physics.step_flesh(FRAME).expect("steps");
        }
    }

    fn nodes(&self, handle: FleshHandle) -> Vec<NodeState> {
        let chains = self.physics.flesh(handle).expect("is there").chains();
        let of = |chain: usize| {
            (0..chains[chain].node_count()).map(move |j| self.physics.node(handle, chain, j).expect("is there"))
        };
        (0..chains.len()).flat_map(of).collect()
    }

    /// Velocity of the first chain's middle (m/s).
    fn velocity(&self) -> DVec3 {
        let nodes = self.nodes(self.handle);
        nodes.iter().map(|node| node.velocity.as_dvec3()).sum::<DVec3>() / nodes.len() as f64
    }

    fn is_sound(&self) -> bool {
        self.physics.instances().all(|handle| {
            self.physics.health(handle).expect("is there").resets == 0
                && self.physics.state(handle).expect("is there").is_finite()
        })
    }
}

#[test]
fn every_scene_opens_and_steps() {
    for name in SCENES {
        let mut parameters = SceneParameters::of(name).expect("is there");
        parameters.rods = parameters.rods.min(9);
        let mut run = Run::new(name, &parameters);
        let places = |run: &Run| run.nodes(run.handle).iter().map(|node| node.place).collect::<Vec<_>>();
        let start = places(&run);
        run.run(2.0);
        let moved = start.iter().zip(places(&run)).map(|(a, b)| a.distance(b)).fold(0.0, f64::max);
        let quality = run.physics.quality();
        println!(
            "{name}: moves by {moved:.1e} m in two seconds, {} contacts with flesh, {:.2} % of the radius deep",
            run.physics.flesh_contacts().count(),
            100.0 * quality.penetration_max
        );
        // Logs lie still; all others fall, stretch, slide or give way.
        assert!(run.is_sound() && moved < 50.0 && (moved > 1.0e-3 || *name == "logs"), "{name}");
        assert!(quality.energy.kinetic.is_finite() && quality.penetration_max < 0.1, "{name}");
    }
}

#[test]
fn values_that_no_scene_takes_are_refused() {
    for (key, values) in [
        ("angle", ["-1", "90", "steep"]),
        ("friction", ["-0.1", "1001", "nan"]),
        ("speed", ["1e4", "inf", "fast"]),
        ("spin", ["-1e9", "NaN", ""]),
        ("depth", ["-0.1", "0.51", "1/2"]),
        ("surface", ["", "ice", "PLANE"]),
        ("count", ["0", "-3", "many"]),
        ("segments", ["0", "1001", "-1"]),
        ("radius", ["-1", "0", "nan"]),
        ("length", ["-1", "1e9", "long"]),
        ("stretch", ["-0.5", "inf", "2x"]),
        ("sleep_after", ["0", "-1", "never"]),
    ] {
        assert!(PARAMETERS.contains(&key));
        for value in values {
            let error = SceneParameters::of("slope").expect("is there").set(key, value).expect_err(value);
            let text = error.to_string();
            assert!(
                matches!(error, SceneError::BadValue { .. }) && text.contains(key) && text.contains(value),
                "{text}"
            );
        }
    }
    let error =
        SceneParameters::of("logs").expect("is there").set("layers", "100000").expect_err("too many").to_string();
    assert!(error.contains("1 to 1000"), "{error}");
    let mut wakeful = SceneParameters::of("octopuses").expect("is there");
    wakeful.set("sleep_after", "inf").expect("never sleeps");
    assert_eq!(wakeful.config.sleep_after, f64::INFINITY);
    // Nor those that a program sets.
    let slope = || SceneParameters::of("slope").expect("is there");
    for bad in [
        SceneParameters { angle: f64::NAN, ..slope() },
        SceneParameters { friction: -1.0, ..slope() },
        SceneParameters { depth: 2.0, ..slope() },
    ] {
        assert!(matches!(bad.build("slope"), Err(SceneError::BadValue { .. })), "{bad:?}");
    }
    for name in SCENES {
        for (radius, length) in [(f64::NAN, 1.0), (0.0, 1.0), (0.01, f64::NAN), (0.01, f64::INFINITY), (0.01, 0.0)] {
            let bad = SceneParameters { radius, length, rods: 2, ..SceneParameters::of(name).expect("is there") };
            // The arm's are arm26's.
            assert!(*name == "arm" || bad.build(name).is_err(), "{name}, radius {radius}, length {length}");
        }
    }
    assert!(matches!(slope().build("nowhere"), Err(SceneError::NoSuchScene { .. })));
}

/// How fast a rod goes down a slope after half a second (m/s), and by how much more after half a second more.
fn slides(surface: SlopeSurface, substeps: u32, segments: usize, friction: f64, angle: f64) -> [f64; 2] {
    let slope = SceneParameters {
        rods: 1,
        surface,
        segments,
        friction,
        angle: angle.to_degrees(),
        ..SceneParameters::of("slope").expect("is there")
    };
    let mut run =
        Run::new("slope", &SceneParameters { config: sinew::step::StepConfig { substeps, ..slope.config }, ..slope });
    let down = DQuat::from_rotation_z(-angle) * DVec3::X;
    run.run(0.5);
    let before = run.velocity().dot(down);
    run.run(0.5);
    assert!(run.is_sound());
    [before, run.velocity().dot(down) - before]
}

/// A degree below the angle of friction a rod stays where it is, a degree above it slides as Coulomb says to a quarter of a degree,
/// whatever it lies on.
#[test]
fn rods_slip_within_a_degree_on_every_surface() {
    let steps: &[u32] = if cfg!(debug_assertions) { &[1, 4] } else { &[1, 2, 4, 8, 32] };
    let on_rods = [(10, 0.1), (10, 1.0), (10, 0.5), (20, 0.5), (40, 0.1), (40, 0.5), (40, 1.0)];
    let on_solids = [(5, 0.5), (10, 0.1), (10, 1.0), (40, 0.1), (40, 0.5), (40, 1.0)];
    let mut missed = Vec::new();
    for &substeps in steps {
        for surface in SlopeSurface::ALL {
            let (mut creeps, mut off) = (0.0_f64, 0.0_f64);
            let cases = if surface == SlopeSurface::Rods { &on_rods[..] } else { &on_solids[..] };
            for &(segments, friction) in cases {
                let degree = 1.0_f64.to_radians();
                let limit = f64::atan(friction);
                let below = slides(surface, substeps, segments, friction, limit - degree);
                let above = slides(surface, substeps, segments, friction, limit + degree);
                let steeper = limit + degree;
                let exact = GRAVITY * (steeper.sin() - friction * steeper.cos()) * 0.5;
                // By how many degrees the angle of friction would be another to gain as much.
                let by_angle = GRAVITY * (steeper.cos() + friction * steeper.sin()) * 0.5 * degree;
                creeps = creeps.max((below[0] + below[1]).abs());
                off = off.max(((above[1] - exact) / by_angle).abs());
                if (below[0] + below[1]).abs() > 1.0e-3 || ((above[1] - exact) / by_angle).abs() > 0.25 {
                    missed.push((surface, substeps, segments, friction, below, above, exact));
                }
            }
            println!(
                "{}, {substeps} substeps: creeps by {creeps:.1e} m/s a degree below (bar 1e-3), slides a degree above as if by {off:.3}° \
                 more or less (bar 0.25)",
                surface.name()
            );
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

/// Nothing holds a rod back that does not rub, on rods either.
#[test]
fn rods_without_friction_slide_as_gravity_says() {
    for surface in SlopeSurface::ALL {
        let angle = 5.0_f64.to_radians();
        let (found, exact) = (slides(surface, 4, 10, 0.0, angle)[1], 0.5 * GRAVITY * angle.sin());
        // Rods are round, and what slides over them goes up and down.
        let bar = if surface == SlopeSurface::Rods { 1.0e-2 } else { 1.0e-3 };
        println!("{}: {found:.4} m/s gained in half a second, exact {exact:.4} (bar {bar})", surface.name());
        assert!((found / exact - 1.0).abs() < bar);
    }
}

/// A log rolls down at g·sin θ/(1 + κ), κ = ½.
#[test]
fn logs_roll_down() {
    for surface in [SlopeSurface::Plane, SlopeSurface::Cuboid, SlopeSurface::Mesh] {
        for degrees in [5.0_f64, 13.0] {
            let rolling =
                SceneParameters { angle: degrees, surface, ..SceneParameters::of("rolling").expect("is there") };
            let mut run = Run::new("rolling", &rolling);
            run.run(0.25);
            let start = run.velocity().length();
            run.run(0.5);
            let (found, exact) = ((run.velocity().length() - start) / 0.5, GRAVITY * degrees.to_radians().sin() / 1.5);
            println!("{}, {degrees}°: rolls at {found:.4} m/s², exact {exact:.4} (bar 2 %)", surface.name());
            assert!(run.is_sound() && (found / exact - 1.0).abs() <= 0.02);
        }
    }
}

/// Pushed it keeps two thirds of its speed, spun a third of its surface's.
#[test]
fn pushed_and_spun_logs_end_up_rolling() {
    for (speed, spin) in [(2.0, 0.0), (0.0, 50.0)] {
        let rolling = SceneParameters { angle: 0.0, speed, spin, ..SceneParameters::of("rolling").expect("is there") };
        let mut run = Run::new("rolling", &rolling);
        run.run(1.0);
        let (found, exact) = (run.velocity().x, (2.0 * speed + spin * rolling.radius) / 3.0);
        println!("at {speed} m/s, {spin} rad/s: rolls at {found:.4} m/s, exact {exact:.4} (bar 2 %)");
        assert!(run.is_sound() && (found / exact - 1.0).abs() <= 0.02);
    }
}

/// Pinched to half its thickness a rod keeps its volume, thickens beside the plates, and pushes both alike.
#[test]
fn pinched_rods_go_aside() {
    for depth in [0.2, 0.5] {
        let pinch = SceneParameters { depth, ..SceneParameters::of("pinch").expect("is there") };
        let mut run = Run::new("pinch", &pinch);
        let volume = |run: &Run| run.physics.muscle(run.handle, 0).expect("is there").volume;
        let before = volume(&run);
        run.run(5.0);
        let mut forces = [0.0; 2];
        for contact in run.physics.contacts(run.handle).expect("is there") {
            let Touched::Solid(plate) = contact.touched else { panic!("{contact:?}") };
            forces[plate] += f64::from(contact.force);
        }
        let kept = volume(&run) / before - 1.0;
        let uneven = (forces[0] - forces[1]).abs() / forces[0].max(forces[1]);
        let scales: Vec<f32> = run.nodes(run.handle).iter().map(|node| node.scale).collect();
        let quality = run.physics.quality();
        println!(
            "pinched by {depth}: volume {:+.2} % (bar 2), {:.3} N on each, {uneven:.1e} of it apart (bar 5e-3), {:.1} % of the radius \
             deep, {:.1e} m/s left; scales {scales:.2?}",
            100.0 * kept,
            forces[0],
            100.0 * quality.penetration_max,
            quality.speed_max
        );
        let segments = pinch.segments;
        assert!(run.is_sound() && kept.abs() < 0.02 && uneven < 5.0e-3);
        assert!((f64::from(scales[segments / 2]) - (1.0 - depth)).abs() < 0.05);
        assert!([segments / 8, segments * 7 / 8].iter().all(|&j| scales[j] > 1.02), "the flanks thicken");
    }
}

/// What falls in a pile stays over the ground.
#[test]
fn a_mixed_pile_stays_over_the_ground() {
    let count = if cfg!(debug_assertions) { 10 } else { 24 };
    let pile = SceneParameters { rods: count, ..SceneParameters::of("pile").expect("is there") };
    let mut run = Run::new("pile", &pile);
    let (mut lowest, mut worst) = (f64::MAX, 0.0_f64);
    let energy = |run: &Run| run.physics.quality().energy;
    let start = energy(&run);
    for _ in 0..16 {
        run.run(0.25);
        for handle in run.physics.instances() {
            lowest = run.nodes(handle).iter().map(|node| node.place.y / f64::from(node.radius)).fold(lowest, f64::min);
        }
        worst = worst.max(run.physics.quality().penetration_max);
    }
    let (end, quality) = (energy(&run), run.physics.quality());
    println!(
        "{count} things: axes no lower than {lowest:.2} radii over the ground (bar 0), {:.0} % of the smaller radius deep at the worst, \
         {:.1} % after 4 s, {:.2e} in the mean; {:.2} m/s left; energy {:.1} J of {:.1}",
        100.0 * worst,
        100.0 * quality.penetration_max,
        quality.penetration_mean,
        quality.speed_max,
        end.kinetic + end.potential + end.elastic,
        start.potential
    );
    assert!(run.is_sound() && lowest > 0.0);
    assert!(end.kinetic + end.potential + end.elastic < start.kinetic + start.potential + start.elastic);
}

#[cfg(feature = "cli")]
mod tool {
    use std::process::{Command, Output};

    use serde_json::Value;

    fn sinew(args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_sinew")).args(args).output().unwrap()
    }

    /// A run of one frame has a moving picture of one; what cannot be written is told before anything is stepped.
    #[test]
    fn one_frame_is_a_picture_and_folders_are_looked_for_first() {
        let folder = std::env::temp_dir().join(format!("sinew_gif_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let gif = folder.join("one.gif");
        let output = sinew(&["scene", "band", "--frames", "1", "--gif", gif.to_str().unwrap()]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(std::fs::read(&gif).unwrap().starts_with(b"GIF89a"));
        std::fs::remove_file(&gif).unwrap();
        let nowhere = folder.join("none").join("r.json");
        for (option, file) in [("--report", &nowhere), ("--dump", &nowhere), ("--png", &nowhere), ("--gif", &folder)] {
            // So many frames would take hours.
            let output = sinew(&["scene", "band", "--frames", "1000000000", option, file.to_str().unwrap()]);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            println!("{told}");
            assert!(
                output.status.code() == Some(2) && told.contains(file.to_str().unwrap()) && told.contains("folder")
            );
        }
        std::fs::remove_dir(&folder).unwrap();
    }

    /// What the report says of contacts and motion is what is there.
    #[test]
    fn reports_say_how_flesh_touches_and_moves() {
        let file = std::env::temp_dir().join(format!("sinew_scene_{}.json", std::process::id()));
        let path = file.to_str().unwrap();
        let report = |args: &[&str]| -> Value {
            let output = sinew(&[&["scene"], args, &["--report", path]].concat());
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap()
        };
        let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
        let logs = report(&["logs", "--set", "layers=2", "--frames", "60"]);
        println!("{} {}", logs["counts"], logs["quality"]);
        // Eleven nodes of each of three logs on the ground, and nine places where logs cross, at one of two nodes or at both.
        let contacts = logs["counts"]["contacts"].as_u64().unwrap();
        assert!((20..=33 + 36).contains(&contacts), "{contacts}");
        let quality = &logs["quality"];
        let (deepest, mean) = (number(&quality["penetration_max"]), number(&quality["penetration_mean"]));
        assert!(mean > 0.0 && deepest >= mean && deepest < 0.05);
        assert!(number(&quality["speed_max"]) < 1.0e-2 && number(&quality["energy"]["potential"]) > 0.0);

        let band = report(&["rolling", "--set", "angle=0", "--set", "speed=3", "--frames", "1"]);
        let quality = &band["quality"];
        println!("{quality}");
        // A log of 0.5 m with a radius of 3 cm.
        let mass = 1060.0 * std::f64::consts::PI * 0.03 * 0.03 * 0.5;
        let speed = number(&quality["speed_max"]);
        assert!((2.8..=3.0).contains(&speed));
        assert!((number(&quality["momentum"][0]) / (mass * speed) - 1.0).abs() < 1.0e-3);
        assert!(number(&quality["momentum"][1]).abs() < 0.01 * mass);
        // About the origin, its spin and the height of its axis: it has begun to roll.
        assert!(number(&quality["angular_momentum"][2]) < 0.0);
        let kinetic = number(&quality["energy"]["kinetic"]);
        assert!(kinetic >= 0.5 * mass * speed * speed * 0.999 && kinetic < 0.5 * mass * 9.0);
        assert!((number(&quality["energy"]["potential"]) / (mass * 9.81 * 0.03) - 1.0).abs() < 0.01);
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn scenes_are_drawn_and_bad_ones_are_said() {
        let file = std::env::temp_dir().join(format!("sinew_scene_{}.png", std::process::id()));
        for name in ["slope", "rolling", "pinch", "pile"] {
            let output = sinew(&["scene", name, "--set", "count=2", "--frames", "2", "--png", file.to_str().unwrap()]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(std::fs::metadata(&file).unwrap().len() > 1000, "{name}");
            std::fs::remove_file(&file).unwrap();
        }
        let output = sinew(&["scene", "slope", "--set", "angle=steep"]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && told.contains("angle") && told.contains("0 to 89"), "{told}");
    }
}
