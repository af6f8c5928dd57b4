//! `sinew figures` writes what it says.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::Command;

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
    let run = Command::new(env!("CARGO_BIN_EXE_sinew")).arg("figures").arg(&dir).arg("--coarse").output().unwrap();
    let told = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 7, "{told}");
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
        assert!(caption.starts_with("Figure ") && caption.chars().any(|c| c.is_ascii_digit()));
    }
    std::fs::remove_dir_all(dir).unwrap();
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
