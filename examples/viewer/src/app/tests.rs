use clap::Parser;

use super::*;
use crate::test_support::{asset, graphics_device};
use crate::thrown::Projectile;

fn opened(file: &str) -> App {
    let path = asset(file);
    App::new(Arguments::parse_from(["sinew-viewer".as_ref(), path.as_os_str()]))
}

fn name(app: &App) -> &str {
    &app.simulation.as_ref().expect("there is a character").character().expect("is one").asset().name
}

#[test]
fn a_dropped_file_takes_the_place_of_what_was_there() {
    let mut app = opened("arm.glb");
    assert_eq!((name(&app), app.panel.error.as_deref()), ("arm", None));
    (0..3).for_each(|_| app.step());
    app.load(&asset("octopus.glb"));
    assert_eq!((name(&app), app.panel.error.as_deref()), ("octopus", None));
    app.step();
    assert!(!app.now.rods.is_empty());
}

#[test]
fn a_broken_file_says_why_and_leaves_what_was_there() {
    let broken = std::env::temp_dir().join(format!("sinew-viewer-broken-{}.glb", std::process::id()));
    std::fs::write(&broken, b"glTF\x02\0\0\0 and no more").expect("the temporary folder takes a file");
    let mut app = opened("arm.glb");
    for bad in [broken.clone(), broken.with_extension("missing.glb")] {
        (0..3).for_each(|_| app.step());
        let before = app.now.clone();
        app.load(&bad);
        let error = app.panel.error.clone().expect("the panel says why");
        println!("{error}");
        assert!(error.contains("sinew-viewer-broken"), "it names the file");
        assert_eq!((name(&app), app.panel.paused, app.now.rods.len()), ("arm", false, before.rods.len()));
        assert!(app.now == before, "nothing moved");
        app.step();
        assert!(app.now != before, "it goes on");
    }
    std::fs::remove_file(broken).expect("it is there");
    app.load(&asset("octopus.glb"));
    assert_eq!((name(&app), app.panel.error.as_deref()), ("octopus", None), "a good file clears the complaint");

    // With nothing there before.
    let mut app = opened("no such file.glb");
    assert!(app.simulation.is_none() && app.panel.error.is_some());
    app.step();
    app.load(&asset("arm.glb"));
    assert_eq!((name(&app), app.panel.error.as_deref()), ("arm", None));
}

#[test]
fn switching_what_steps_keeps_the_state() {
    let Some(device) = graphics_device() else { return };
    let (mut app, mut twin) = (opened("octopus.glb"), opened("octopus.glb"));
    for app in [&mut app, &mut twin] {
        let simulation = app.simulation.as_mut().expect("is there");
        simulation.settings.sway = 0.1;
        // Off the floor, where a rounding decides in which substep a foot leaves it.
        simulation.teleport(DVec3::Y).expect("goes there");
    }
    let mut last = 0.0_f64;
    for backend in [Backend::Cpu, Backend::Gpu, Backend::Cpu, Backend::Gpu] {
        let simulation = app.simulation.as_mut().expect("is there");
        simulation.device = Some(device.clone());
        simulation.settings.stepper.0 = backend;
        for _ in 0..4 {
            app.step();
            twin.step();
        }
        app.panel.overlays.rods = true;
        app.settle();
        assert_eq!(app.panel.error, None);
        let simulation = app.simulation.as_ref().expect("is there");
        let on_gpu = matches!(simulation.skin(), Ok(Some(crate::draw::SkinSource::Gpu(_))));
        assert_eq!(on_gpu, backend == Backend::Gpu);
        let pairs = app.now.rods.iter().flatten().zip(twin.now.rods.iter().flatten());
        let apart = pairs.map(|(a, b)| a.0.distance(b.0)).fold(0.0, f64::max);
        let swing = twin.simulation.as_ref().map_or(0.0, Simulation::swing);
        println!("{backend:?}: {apart:.1e} m from stepping by the CPU throughout; flesh swings by {swing:.1e} m");
        assert!(apart < 1.0e-6 && swing > 1.0e-4 && swing != last, "{apart} m");
        last = swing;
    }
}

fn heap(arguments: &[&str]) -> App {
    let all = ["sinew-viewer"].iter().chain(arguments);
    let app = App::new(Arguments::parse_from(all).checked().expect("they go together"));
    assert_eq!(app.panel.error, None);
    app
}

fn counts(app: &App) -> crate::simulation::Counts {
    app.simulation.as_ref().expect("there is a scene").counts()
}

#[test]
fn what_is_thrown_at_a_pile_is_stopped_by_it() {
    let mut app = heap(&["--scene", "octopuses", "--count", "9"]);
    assert_eq!((counts(&app).awake, app.now.bare.len(), app.now.contacts.len()), (9, 9, 0), "all in the air");
    (0..90).for_each(|_| app.step());
    let down = counts(&app);
    println!("{down:?}");
    assert_eq!(Some(app.now.contacts.len()), down.contacts);
    let on_flesh = app.now.contacts.iter().filter(|at| at.normal.y < 0.99 && at.force > 0.0).count();
    assert!(down.contacts > Some(50) && on_flesh > 0, "they lie on the ground and on each other");

    // Down at a head.
    let (head, _) = app.now.bare[2].rods[0][2];
    (app.camera.target, app.camera.pitch, app.camera.distance) = (head, 1.2, 3.0);
    app.panel.throw.projectile = Projectile::Ball;
    app.act(Action::Throw);
    assert_eq!((app.panel.error.as_deref(), counts(&app).thrown, app.now.bare.len()), (None, 1, 10));
    let thrown = |app: &App| app.now.bare.last().expect("is there").rods[0].clone();
    let start = thrown(&app)[0].0;
    app.step();
    let speed = thrown(&app)[0].0.distance(start) / app.steps.dt;
    assert!((speed - app.panel.throw.speed).abs() < 0.5, "it flies at {speed} m/s");
    // It comes to what is there before it comes to the ground: it falls no more where that is far away. What it bounces off it presses
    // for less than a frame, so that contacts at a frame's end need not tell.
    let (mut last, mut stopped) = (thrown(&app)[0].0, None);
    for _ in 0..120 {
        app.step();
        let (place, radius) = thrown(&app)[0];
        let fell = (last.y - place.y) / app.steps.dt;
        if stopped.is_none() && fell < 0.5 * app.panel.throw.speed {
            stopped = Some(place.y - f64::from(radius));
        }
        assert!(place.y > 0.5 * f64::from(radius), "it is not in the ground");
        last = place;
    }
    assert_eq!(app.panel.error, None);
    let above = stopped.expect("it is stopped");
    println!("stopped {:.0} mm above the ground, after 2 s at {last}, {:?}", 1e3 * above, counts(&app));
    assert!(above > 0.05 && last.y < 1.0, "flesh, not the ground, stops it");
}

#[test]
fn what_is_thrown_at_a_character_is_stopped_by_its_bones() {
    let mut app = opened("arm.glb");
    // At the chest, which has no flesh.
    app.camera.target = DVec3::new(0.0, app.ball.0.y, 0.0);
    (app.camera.yaw, app.camera.pitch, app.camera.distance) = (0.0, 0.0, 1.5);
    app.act(Action::Throw);
    let at = |app: &App| app.now.bare[0].rods[0][0].0;
    let start = at(&app).z;
    let mut least = start;
    for _ in 0..60 {
        app.step();
        least = least.min(at(&app).z);
    }
    println!("a ball thrown from {start:.2} m came to {least:.2} m, and lies at {:.2}", at(&app));
    assert_eq!(app.panel.error, None);
    assert!((0.1..0.4).contains(&least), "it stops at the chest, {least} m");
    app.act(Action::Teleport);
    app.step();
    assert_eq!(app.panel.error, None, "bones jump without a velocity");
}

#[test]
fn the_oldest_of_what_was_thrown_gives_way() {
    let mut app = heap(&["--scene", "octopuses", "--count", "1", "--throw", "log"]);
    app.panel.throw.most = 3;
    for projectile in Projectile::ALL.into_iter().cycle().take(5) {
        app.panel.throw.projectile = projectile;
        (0..20).for_each(|_| app.step());
        app.act(Action::Throw);
        assert_eq!(app.panel.error, None);
    }
    let numbers: Vec<usize> = app.now.bare.iter().map(|bare| bare.number).collect();
    assert_eq!((numbers, counts(&app).thrown), (vec![0, 4, 5, 6], 3));
    app.act(Action::Throw);
    let error = app.panel.error.take().expect("there is no room yet");
    println!("{error}");
    app.camera.pitch = -1.0;
    app.act(Action::Throw);
    let error = app.panel.error.take().expect("the camera is under the floor");
    println!("{error}");
    assert_eq!(counts(&app).thrown, 3);
}

#[test]
fn scenes_give_way_to_each_other() {
    let mut app = heap(&["--scene", "pile", "--count", "8"]);
    (0..3).for_each(|_| app.step());
    assert_eq!((counts(&app).awake, app.simulation.as_ref().and_then(Simulation::character).is_none()), (8, true));
    (app.panel.scene, app.panel.count) = (SceneName::Octopuses, 4);
    app.act(Action::Open);
    app.act(Action::Teleport);
    app.step();
    app.act(Action::Reset);
    assert_eq!((counts(&app).awake, app.panel.scene, app.panel.error.as_deref()), (4, SceneName::Octopuses, None));
    app.panel.scene = SceneName::Character;
    app.act(Action::Open);
    assert_eq!((name(&app), app.now.bare.len()), ("octopus", 0));
    (0..30).for_each(|_| app.step());
    app.act(Action::Throw);
    app.step();
    assert_eq!((app.panel.error.as_deref(), counts(&app).thrown, app.now.bare.len()), (None, 1, 1));
    app.act(Action::Reset);
    assert_eq!((app.panel.error.as_deref(), counts(&app).thrown, app.now.bare.len()), (None, 0, 0));

    app.file = asset("no such file.glb");
    app.panel.scene = SceneName::Pile;
    app.act(Action::Open);
    app.panel.scene = SceneName::Character;
    app.act(Action::Open);
    let error = app.panel.error.clone().expect("the file is gone");
    assert!(error.contains("no such file.glb") && app.panel.scene == SceneName::Pile, "{error}");
}

#[test]
fn bad_arguments_say_what_to_give_instead() {
    for (arguments, named) in [
        (&["--scene", "heap"][..], "octopuses"),
        (&["--scene", "octopuses", "--count", "0"], "1..=200"),
        (&["--count", "25"], "--scene octopuses"),
        (&["--throw", "cat"], "ball"),
    ] {
        let all = ["sinew-viewer"].iter().chain(arguments);
        let error = Arguments::try_parse_from(all).and_then(Arguments::checked).expect_err("is refused").to_string();
        assert!(error.contains(arguments[arguments.len() - 2]) && error.contains(named), "{error}");
    }
}

#[test]
fn what_the_backend_refuses_is_taken_back() {
    let Some(device) = graphics_device() else { return };
    let mut app = opened("octopus.glb");
    let simulation = app.simulation.as_mut().expect("is there");
    simulation.device = Some(device.clone());
    simulation.settings.stepper.0 = Backend::Gpu;
    app.step();
    assert_eq!((app.panel.error.as_deref(), counts(&app).contacts), (None, None), "a GPU lists none");
    for projectile in Projectile::ALL {
        app.panel.throw.projectile = projectile;
        let before = counts(&app).thrown;
        app.act(Action::Throw);
        assert_eq!(app.panel.error, None);
        app.step();
        let refused = app.panel.error.take();
        println!("{}: {refused:?}", projectile.name());
        assert!(refused.is_none() || projectile == Projectile::Octopus);
        assert_eq!(counts(&app).thrown, before + usize::from(refused.is_none()));
        (0..20).for_each(|_| app.step());
        assert_eq!(app.panel.error, None, "it goes on");
    }

    app.panel.scene = SceneName::Octopuses;
    app.panel.count = 2;
    app.act(Action::Open);
    app.step();
    assert!(counts(&app).contacts.is_some(), "the CPU steps a heap");
    let simulation = app.simulation.as_mut().expect("is there");
    simulation.device = Some(device);
    simulation.settings.stepper.0 = Backend::Gpu;
    app.step();
    println!("{:?}", app.panel.error);
    assert_eq!(
        app.panel.error.take().is_some(),
        counts(&app).contacts.is_some(),
        "the CPU goes on where it is refused"
    );
    app.step();
    assert_eq!(app.panel.error, None);
}
