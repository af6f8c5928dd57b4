use clap::Parser;

use super::*;
use crate::test_support::{asset, graphics_device};

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
