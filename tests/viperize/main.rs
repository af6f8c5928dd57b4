//! Viperization: bundles of known solids, sound and dirty, of scanned muscles, and typed errors for the rest.

#[path = "../common/mod.rs"]
mod common;
mod files;
mod measure;
mod refusals;
mod shapes;

use glam::DVec3;
use measure::{Measured, signed_volume};
use shapes::*;
use sinew::character::viperize::*;
use sinew::flesh::Disc;

fn viperized(mesh: &TriangleMesh, ends: &Ends, options: &ViperizeOptions) -> Viperized {
    viperize(mesh, ends, options, &mut |_| {}).expect("it can be viperized")
}

fn defaults() -> ViperizeOptions {
    ViperizeOptions::default()
}

/// Mean place of a section's discs (m).
fn centre(viperized: &Viperized, section: usize) -> DVec3 {
    let fibres = &viperized.bundle.fibres;
    fibres.iter().map(|fibre| fibre[section].place).sum::<DVec3>() / fibres.len() as f64
}

/// Largest distance of a section's centre from a line through `START` (m).
fn off_axis(viperized: &Viperized) -> f64 {
    let off = |section| (centre(viperized, section) - START).reject_from_normalized(direction()).length();
    (0..viperized.sections.len()).map(off).fold(0.0, f64::max)
}

#[test]
fn a_cylinder_between_painted_faces_is_cut_straight() {
    let mesh = cylinder();
    let [sources, sinks] = cylinder_faces();
    let viperized = viperized(&mesh, &Ends::Vertices { sources, sinks }, &defaults());
    let height = |disc: &Disc| (disc.place - START).dot(direction());
    let off_level = |fibre: &Vec<Disc>| {
        let off = fibre.iter().zip(&viperized.sections).map(|(disc, level)| (height(disc) - level).abs());
        off.fold(0.0, f64::max)
    };
    let off_level = viperized.bundle.fibres.iter().map(off_level).fold(0.0, f64::max);
    let radii: Vec<f64> = viperized.bundle.fibres[0].iter().map(|disc| disc.radius).collect();
    let (thin, thick) = (radii.iter().copied().fold(1.0, f64::min), radii.iter().copied().fold(0.0, f64::max));
    let tips = [height(&viperized.bundle.fibres[0][0]) - radii[0], LENGTH - viperized.sections[7] - radii[7]];
    println!(
        "length {:.4} of {LENGTH} m; discs off their level {:.2e} m, off the axis {:.2e} m; radii {thin:.5}…{thick:.5} m; \
         caps end {tips:?} m inside",
        viperized.length,
        off_level,
        off_axis(&viperized)
    );
    assert!((viperized.length / LENGTH - 1.0).abs() < 0.01);
    assert!(off_level < 0.7 * viperized.cell && off_axis(&viperized) < 0.25 * viperized.cell);
    assert!(thick / thin < 1.03, "a cylinder's fibres are cylinders");
    assert!(tips.iter().all(|tip| tip.abs() < 1.5 * viperized.cell + 0.1 * radii[0]), "the caps end with the muscle");
    assert!((viperized.mesh_volume / signed_volume(&mesh) - 1.0).abs() < 1e-9);
    Measured::new("cylinder", &mesh, &viperized).assert(1e-9);
}

#[test]
fn a_cylinders_ends_are_found() {
    let mesh = cylinder();
    let end = START + LENGTH * direction();
    let beyond = Ends::Nearest([START - 0.1 * direction(), end + DVec3::splat(0.05)]);
    let swapped = Ends::Nearest([end, START]);
    for (name, ends, along) in [("auto", Ends::Auto, 1.0), ("nearest", beyond, 1.0), ("swapped", swapped, -1.0)] {
        let viperized = viperized(&mesh, &ends, &defaults());
        let forward = (centre(&viperized, 7) - centre(&viperized, 0)).normalize().dot(direction());
        println!("{name}: length {:.4}, off the axis {:.2e} m", viperized.length, off_axis(&viperized));
        assert!(forward * along > 0.9999, "from origin to insertion");
        assert!((viperized.length / LENGTH - 1.0).abs() < 0.03 && off_axis(&viperized) < 0.5 * viperized.cell);
        Measured::new(name, &mesh, &viperized).assert(1e-9);
    }
}

#[test]
fn a_spindles_radii_follow_it() {
    let mesh = spindle();
    let viperized = viperized(&mesh, &Ends::Auto, &ViperizeOptions { sections: 12, ..defaults() });
    let worst = (1..11).map(|section| {
        let t = (centre(&viperized, section) - START).dot(direction()) / LENGTH;
        let radius = viperized.bundle.fibres[0][section].radius * 8_f64.sqrt();
        (radius / spindle_radius(t) - 1.0).abs()
    });
    let worst = worst.fold(0.0, f64::max);
    println!("√8 × radius against the spindle's: worst {worst:.3}; off the axis {:.2e} m", off_axis(&viperized));
    assert!(worst < 0.15 && off_axis(&viperized) < 0.5 * viperized.cell);
    Measured::new("spindle", &mesh, &viperized).assert(1e-9);
}

#[test]
fn a_bent_tubes_fibres_bend_with_it() {
    let mesh = bent_tube();
    let length = BEND_RADIUS * BEND_ANGLE;
    let faces = Ends::Vertices {
        sources: (0..32).chain([65 * 32]).collect(),
        sinks: (64 * 32..65 * 32).chain([65 * 32 + 1]).collect(),
    };
    for (name, ends) in [("painted", faces), ("auto", Ends::Auto)] {
        let viperized = viperized(&mesh, &ends, &ViperizeOptions { sections: 12, ..defaults() });
        let angle = |place: DVec3| place.y.atan2(place.x);
        let turns = angle(centre(&viperized, 11)) > angle(centre(&viperized, 0));
        let mut worst = [(viperized.length / length - 1.0).abs(), 0.0, 0.0];
        for section in 0..12 {
            let centre = centre(&viperized, section);
            let along = BEND_RADIUS * if turns { angle(centre) } else { BEND_ANGLE - angle(centre) };
            worst[1] = f64::max(worst[1], (centre.truncate().length() - BEND_RADIUS).abs().max(centre.z.abs()));
            worst[2] = f64::max(worst[2], (along - viperized.sections[section]).abs());
        }
        println!("{name}: length {:.4} of {length:.4} m; off it, the arc and the level: {worst:.4?}", viperized.length);
        let grows = |fibre: &Vec<Disc>| fibre.windows(2).all(|p| (angle(p[1].place) > angle(p[0].place)) == turns);
        assert!(viperized.bundle.fibres.iter().all(grows), "angles grow");
        assert!(worst[0] < 0.01 && worst[1] < 0.001 && worst[2] < 0.003);
        Measured::new(name, &mesh, &viperized).assert(1e-9);
    }
}

#[test]
fn fibres_stay_in_their_head() {
    let mesh = two_heads();
    let ends = Ends::Nearest([DVec3::ZERO, DVec3::new(0.0, 0.25, 0.0)]);
    let viperized = viperized(&mesh, &ends, &ViperizeOptions { sections: 12, ..defaults() });
    let mut heads = [0; 2];
    for fibre in &viperized.bundle.fibres {
        let above: Vec<f64> = fibre.iter().filter(|disc| disc.place.y > 0.18).map(|disc| disc.place.x).collect();
        assert!(above.len() >= 2 && above.iter().all(|x| x.signum() == above[0].signum()), "it crosses: {above:?}");
        heads[usize::from(above[0] < 0.0)] += 1;
    }
    // Three parts that overlap: what two of them share counts once.
    let twice = signed_volume(&mesh);
    println!("fibres per head {heads:?}; {:.4} of the parts' volumes", viperized.mesh_volume / twice);
    assert!(heads[0] > heads[1] && heads[1] > 0, "as many as the head is wide");
    assert!(viperized.mesh_volume < 0.97 * twice && viperized.mesh_volume > 0.7 * twice);
}

#[test]
fn dirt_does_not_matter() {
    let sound = cylinder();
    let all = with_flips(with_duplicates(with_walls(with_holes(sound.clone(), 0.02)), 0.1), 0.3);
    let cases = [
        ("inside out", with_flips(sound.clone(), 1.0), 1e-9),
        ("holes", with_holes(sound.clone(), 0.03), 0.02),
        ("flips", with_flips(sound.clone(), 0.3), 1e-9),
        ("duplicates", with_duplicates(sound.clone(), 0.2), 1e-9),
        ("walls", with_walls(sound.clone()), 1e-9),
        ("all of them", all, 0.02),
    ];
    for (name, dirty, volume) in cases {
        let viperized = viperized(&dirty, &Ends::Auto, &defaults());
        assert!(off_axis(&viperized) < viperized.cell, "{name}: off the axis by {} m", off_axis(&viperized));
        Measured::new(name, &sound, &viperized).assert(volume);
    }
}

#[test]
fn the_unit_of_length_and_the_place_do_not_matter() {
    let mut far = spindle();
    for place in &mut far.positions {
        *place = 1000.0 * *place + DVec3::new(7e4, 0.0, -3e4);
    }
    let (near, far) = (viperized(&spindle(), &Ends::Auto, &defaults()), viperized(&far, &Ends::Auto, &defaults()));
    let apart = |(a, b): (&Disc, &Disc)| {
        let moved = 1000.0 * a.place + DVec3::new(7e4, 0.0, -3e4);
        (moved.distance(b.place) / 1000.0).max((a.radius - b.radius / 1000.0).abs())
    };
    let discs = |viperized: &Viperized| viperized.bundle.fibres.concat();
    let worst = discs(&near).iter().zip(&discs(&far)).map(apart).fold(0.0, f64::max);
    println!("in millimetres, 76 m away: apart {worst:.1e} m");
    assert!(worst < 1e-4);
}

#[test]
fn the_same_input_gives_the_same_bits() {
    let mesh = with_holes(bent_tube(), 0.02);
    let first = viperized(&mesh, &Ends::Auto, &defaults());
    for _ in 0..2 {
        assert!(viperized(&mesh, &Ends::Auto, &defaults()) == first);
    }
    println!("{} discs, thrice the same", first.bundle.fibres.concat().len());
}

#[test]
fn any_number_of_fibres_and_sections() {
    let mesh = spindle();
    for (fibres, sections) in [(1, 2), (1, 64), (64, 2), (3, 5), (64, 64)] {
        let options = ViperizeOptions { fibres, sections, ..defaults() };
        let mut told = Vec::new();
        let viperized = viperize(&mesh, &Ends::Auto, &options, &mut |part| told.push(part)).expect("within range");
        let discs = viperized.bundle.fibres.concat();
        assert_eq!(viperized.bundle.fibres.len(), fibres);
        assert_eq!(viperized.bundle.section_count(), sections);
        assert!(discs.iter().all(|disc| disc.place.is_finite() && disc.radius > 0.0));
        assert!(told.windows(2).all(|pair| pair[0] <= pair[1]) && told.last() == Some(&1.0), "{told:?}");
        let measured = Measured::new(&format!("{fibres} × {sections}"), &mesh, &viperized);
        assert!((measured.volume - 1.0).abs() < 1e-9 && measured.monotone);
    }
}

const SCANS: &str = "anatomy/muscle_mesh/opendihu";

fn scan(folder: &std::path::Path, name: &str) -> TriangleMesh {
    let bytes = std::fs::read(folder.join(name)).expect("the scan is there");
    read_stl(&bytes, 0.001).expect("it is STL")
}

#[test]
fn the_clean_biceps() {
    let Some(folder) = common::data(SCANS) else { return };
    let mesh = scan(&folder, "biceps_full.stl");
    let start = std::time::Instant::now();
    let viperized = viperized(&mesh, &Ends::Auto, &defaults());
    println!("{:.2} s of wall time; length {:.3} m", start.elapsed().as_secs_f64(), viperized.length);
    Measured::new("biceps_full", &mesh, &viperized).assert(0.01);
}

#[test]
fn the_raw_biceps() {
    let Some(folder) = common::data(SCANS) else { return };
    let raw = scan(&folder, "left_biceps_brachii.stl");
    let start = std::time::Instant::now();
    let viperized = viperized(&raw, &Ends::Auto, &defaults());
    println!("{:.2} s of wall time; length {:.3} m", start.elapsed().as_secs_f64(), viperized.length);
    // The clean mesh is the same muscle, 0.635 m higher and without the walls inside.
    let mut clean = scan(&folder, "biceps_full.stl");
    clean.positions.iter_mut().for_each(|place| place.z -= 0.635);
    Measured::new("left_biceps_brachii", &clean, &viperized).assert(0.05);
}
