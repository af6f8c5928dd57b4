//! `sinew figures` writes what it says, and what it says is right.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Pixels of a PNG: width, height, and rgba.
fn pixels(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut rgba = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgba).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgba, png::BitDepth::Eight));
    (info.width, info.height, rgba)
}

#[test]
fn figures_have_their_size_and_curves() {
    let dir = tempdir("figures");
    let report = dir.join("report.json");
    let mut tool = Command::new(env!("CARGO_BIN_EXE_sinew"));
    let run = tool.arg("figures").arg(&dir).args(["--coarse", "--report"]).arg(&report).output().unwrap();
    let told = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 8, "{told}");
    for line in lines {
        let (path, caption) = line.split_once(": ").unwrap();
        let (width, height, rgba) = pixels(Path::new(path));
        // The curves' two commonest colours, and black letters.
        let near = |wanted: [u8; 3]| {
            rgba.chunks(4).filter(|p| wanted.iter().zip(*p).all(|(a, b)| a.abs_diff(*b) < 24)).count()
        };
        let (curves, letters) = (near([31, 119, 180]) + near([214, 39, 40]), near([0, 0, 0]));
        let white = near([255, 255, 255]) as f64 / (f64::from(width) * f64::from(height));
        println!(
            "{caption:.60}…: {width}×{height}, {curves} pixels of curves, {letters} of letters, {:.0} % white",
            100.0 * white
        );
        assert!(width == 960 && (400..=2000).contains(&height));
        assert!(curves >= 300 && letters >= 1000 && white > 0.7 && white < 0.99);
        assert!(caption.starts_with("Figure ") || path.ends_with("figure_growth.png"));
        assert!(caption.chars().any(|c| c.is_ascii_digit()));
    }
    assert_physics(&serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap());
    std::fs::remove_dir_all(dir).unwrap();
}

/// The numbers that captions tell, against what physics or the paper asks of them.
fn assert_physics(report: &Value) {
    let within = |figure: u32, name: &str, [low, high]: [f64; 2]| {
        let number = report["figures"][figure.to_string()][name].as_f64();
        let number = number.unwrap_or_else(|| panic!("figure {figure} lacks {name}: {report}"));
        println!("figure {figure}: {name} {number:.6} (bars {low} to {high})");
        assert!(number >= low && number <= high, "figure {figure}: {name} is {number}");
        number
    };
    let near = |figure: u32, name: &str, expected: f64, share: f64| {
        within(figure, name, [expected * (1.0 - share), expected * (1.0 + share)])
    };
    // A rod that keeps its volume is as thick as length^(-1/2) leaves it; one of ν = 0 keeps its thickness.
    within(5, "volume_error", [0.0, 3.0e-3]);
    within(5, "scale_error", [0.0, 1.5e-3]);
    within(5, "least_stretch", [0.5, 0.75]);
    within(5, "most_stretch", [1.9, 2.5]);
    within(5, "scale_error_of_standard_rod", [0.0, 1.0e-5]);
    // A bulge runs as waves do in an elastic bar.
    let bar = near(6, "bar_speed", 10.0, 1.0e-9);
    near(6, "speed", bar, 0.05);
    // The turn and the scale that the discs were given, but for what disturbed them; no other scale is nearer.
    near(9, "turn", 0.4, 0.2);
    near(9, "scale", 1.45, 0.05);
    let distance = within(9, "distance", [1.0e-3, 2.0e-3]);
    within(9, "least_distance_with_other_scales", [distance, 2.0e-3]);
    within(9, "distance_with_scale_held", [2.0 * distance, 1.0]);
    // What an independent minimisation found.
    near(10, "belly_stretch", 0.856, 0.5e-2);
    near(10, "belly_scale", 1.079, 0.5e-2);
    near(10, "end_stretch", 1.148, 0.5e-2);
    near(10, "end_scale", 0.935, 0.5e-2);
    within(10, "volume_error_scale_free", [0.0, 1.0e-2]);
    // With the scale held, volume is kept by not shortening.
    within(10, "scale_error_scale_held", [0.0, 1.0e-6]);
    let held = within(10, "belly_stretch_scale_held", [0.98, 1.0]);
    within(10, "volume_error_scale_held", [0.99 * (1.0 - held), 0.02]);
    // The paper's figure: the volume kept while the length doubles.
    near(13, "elongation", 1.0, 1.0e-2);
    within(13, "elongation_at_the_end", [0.0, 1.0e-2]);
    within(13, "volume_error_mean", [0.0, 0.3e-2]);
    within(13, "volume_error_max", [0.0, 1.0e-2]);
    within(13, "volume_error_of_material", [0.0, 0.2e-2]);
    // One factor-and-solve for hundreds of updates.
    within(14, "solves", [1.0, 5.0]);
    for way in ["jacobi", "gauss_seidel"] {
        within(14, &format!("{way}_ratio"), [10.0, 1.0e4]);
        within(14, &format!("{way}_last_residual"), [0.0, 1.0e-2]);
    }
    within(14, "last_residual", [0.0, 1.0e-5]);
    // A scale with inertia swings; one that follows from the length sees no pinch. Both swing about where volume is kept.
    within(15, "swing_pinched", [0.1, 1.0]);
    within(15, "swing_pinched_computed", [0.0, 1.0e-3]);
    let swing = within(15, "swing_pulled", [0.1, 1.0]);
    within(15, "swing_pulled_computed", [0.05, swing]);
    near(15, "mean_stretch_pulled", 1.3, 0.03);
    near(15, "mean_stretch_pulled_computed", 1.3, 0.03);
    for name in ["exponent_falling", "exponent_at_worst"] {
        let exponent = report["figures"]["growth"][name].as_f64().unwrap();
        println!("growth: {name} {exponent:.2} of 4 to 16 octopuses");
        assert!((0.0..2.0).contains(&exponent), "{name} is {exponent}");
    }
}

#[test]
fn unknown_figures_are_said() {
    let dir = tempdir("no_figures");
    let run =
        Command::new(env!("CARGO_BIN_EXE_sinew")).arg("figures").arg(&dir).args(["--figure", "4"]).output().unwrap();
    let error = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(error.contains("--figure 4") && error.contains("14"), "{error}");
}

fn tempdir(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("sinew_{name}_{}", std::process::id()))
}
