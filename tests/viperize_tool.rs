//! `sinew viperize` writes a sidecar that `sinew run` reads.

use std::path::PathBuf;
use std::process::{Command, Output};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew-viperize-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn sinew(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew")).args(args).output().unwrap()
}

/// A closed spindle between two places along x, as OBJ.
fn spindle() -> String {
    let (rings, around) = (12, 16);
    let mut text = String::from("v 0 0 0\n");
    for ring in 1..rings {
        let along = ring as f64 / rings as f64;
        let radius = 0.03 * (std::f64::consts::PI * along).sin();
        for k in 0..around {
            let angle = std::f64::consts::TAU * k as f64 / around as f64;
            text += &format!("v {} {} {}\n", 0.2 * along, radius * angle.cos(), radius * angle.sin());
        }
    }
    text += "v 0.2 0 0\n";
    let at = |ring: usize, k: usize| 2 + (ring - 1) * around + k % around;
    let last = 2 + (rings - 1) * around;
    for k in 0..around {
        text += &format!("f 1 {} {}\n", at(1, k + 1), at(1, k));
        text += &format!("f {last} {} {}\n", at(rings - 1, k), at(rings - 1, k + 1));
        for ring in 1..rings - 1 {
            text += &format!("f {} {} {} {}\n", at(ring, k), at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k));
        }
    }
    text
}

const OCTOPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/octopus.glb");

#[test]
fn a_mesh_becomes_a_sidecar_that_run_reads() {
    let folder = folder("round");
    let (mesh, side, report) = (folder.join("spindle.obj"), folder.join("o.muscles.json"), folder.join("r.json"));
    std::fs::write(&mesh, spindle()).unwrap();
    let [mesh, side, report] = [&mesh, &side, &report].map(|path| path.to_str().unwrap());
    let ends = ["--origin", "tentacle_0_0", "--insertion", "tentacle_0_1"];
    let made = sinew(
        &[
            &["viperize", mesh, "--muscle", "spindle", "--character", OCTOPUS, "--out", side, "--fibres", "5"],
            &ends[..],
        ]
        .concat(),
    );
    let said = String::from_utf8_lossy(&made.stdout).into_owned() + &String::from_utf8_lossy(&made.stderr);
    print!("{said}");
    assert!(made.status.success(), "{said}");

    let ran = sinew(&[
        "run",
        OCTOPUS,
        "--muscles",
        side,
        "--frames",
        "5",
        "--backend",
        "cpu",
        "--report",
        report,
        "--activation",
        "spindle=0.5",
    ]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let plain = std::fs::read_to_string(report).unwrap();
    let count = |key: &str| -> usize {
        let from = plain.find(&format!("\"{key}\":")).unwrap() + key.len() + 3;
        plain[from..].trim_start().chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
    };
    println!("{} bundles, {} rods", count("bundles"), count("rods"));
    assert!(count("rods") >= count("bundles") + 4, "five fibres in one bundle");
    assert!(plain.contains("\"finite\": true"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn errors_name_the_thing_and_the_fix() {
    let folder = folder("errors");
    let mesh = folder.join("open.stl");
    std::fs::write(&mesh, "no mesh").unwrap();
    let mesh = mesh.to_str().unwrap();
    for (args, told) in [
        (vec!["viperize", "nowhere.obj", "--muscle", "m"], "nowhere.obj"),
        (vec!["viperize", mesh, "--muscle", "m", "--character", OCTOPUS], "open.stl"),
        (vec!["viperize", OCTOPUS, "--muscle", "biceps"], "biceps"),
        (vec!["run", OCTOPUS, "--muscles", "nowhere.json"], "nowhere.json"),
    ] {
        let output = sinew(&args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        println!("{error}");
        assert_eq!(output.status.code(), Some(2));
        assert!(error.contains(told), "{error}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
