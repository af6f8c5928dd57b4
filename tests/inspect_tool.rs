//! `sinew inspect` and `sinew run` tell an author where the muscles are, and what was made of the file.

#[allow(dead_code, reason = "each test binary uses a part")]
#[path = "import_support/builder.rs"]
mod builder;

use std::process::{Command, Output};

use serde_json::{Value, json};

fn sinew(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew")).args(args).output().unwrap()
}

fn inspected(file: &str) -> (String, Value) {
    let [text, object] = [&["inspect", file][..], &["inspect", "--json", file]].map(|args| {
        let output = sinew(args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    });
    (text, serde_json::from_str(&object).unwrap())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn authored_muscles_have_their_size_force_and_ends() {
    let (text, object) = inspected(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb"));
    let muscles = object["muscles"].as_array().unwrap();
    assert_eq!(muscles.len(), 6);
    assert!(object["rods"][0]["name"].is_string() && object["animations"][0]["name"].is_string());
    assert!(number(&object["animations"][0]["seconds"]) > 0.0 && number(&object["height"]) > 0.0);
    // Peak isometric forces of arm26.
    for (name, force) in [("biceps_long", 624.3), ("brachialis", 987.26), ("triceps_medial", 624.3)] {
        let muscle = muscles.iter().find(|muscle| muscle["name"] == name).unwrap();
        println!("{muscle}");
        let [length, radius, volume] = ["length", "radius", "volume"].map(|key| number(&muscle[key]));
        assert!((number(&muscle["peak_force"]) / force - 1.0).abs() < 1e-3, "{name}");
        // A spindle is thinner than the cylinder around it.
        let cylinder = std::f64::consts::PI * radius * radius * length;
        assert!((0.05..0.6).contains(&length) && (0.2..1.0).contains(&(volume / cylinder)), "{name}");
        for (end, joint) in [(0, "origin"), (1, "insertion")] {
            let end = &muscle["ends"][end];
            assert_eq!(end["joint"], muscle[joint], "{name}");
            let length = |key: &str| -> f64 {
                end[key].as_array().unwrap().iter().map(|axis| number(axis).powi(2)).sum::<f64>().sqrt()
            };
            // As far from its joint in the joint's axes as the bone is near, at most.
            assert!(number(&end["from_bone"]) <= length("place") + 1e-9 && length("place") < 0.5, "{name}");
            assert!(length("model_place") > 0.0);
        }
        assert!(text.contains(&format!("peak force {force:.0} N")), "{text}");
    }
    assert!(text.contains("m from the bone") && text.contains("insertion: "), "{text}");
}

#[test]
fn networks_say_what_they_are_and_whether_they_fit() {
    let network = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/networks/i8.safetensors");
    let (text, object) = inspected(network);
    println!("{text}");
    assert_eq!((&object["vertices"], &object["precision"]), (&json!(150), &json!("I8")));
    assert_eq!((&object["passive"]["hidden"], &object["active"]["components"]), (&json!([12, 12]), &json!(6)));
    assert!(number(&object["density"]) < 0.7 && number(&object["reach"]) > 0.0 && object["fits"].is_null());
    assert!(text.contains("4 joints") && text.contains("held out") && text.contains("stays within"), "{text}");

    let arm = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb");
    let output = sinew(&["inspect", "--json", arm, "--network", network]);
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["topology"].as_str().unwrap().len(), 16);
    let differences = object["network"]["differences"].as_array().unwrap();
    assert!(object["network"]["fits"] == false && differences.len() == 8, "{differences:?}");
    let output = sinew(&["inspect", arm, "--network", network]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("does not fit") && text.contains("train it on this one"), "{text}");
    for (args, part) in [
        (["inspect", network, "--network", network], "is a network itself"),
        (["inspect", arm, "--network", arm], "no whole safetensors file"),
    ] {
        let output = sinew(&args);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && error.contains(part), "{error}");
    }
}

#[test]
fn what_is_left_out_is_in_no_list_and_is_said() {
    let mut builder = builder::tetrahedron();
    let point = |joint: &str, y: f64| json!({ "joint": joint, "place": [0, y, 0] });
    let muscle = |y: f64| json!({ "sinew.muscle": { "radius": 0.02, "path": [point("Upper", y), point("Lower", y)] } });
    builder.push("nodes", json!({ "name": "Upper", "children": [1, 2], "mesh": 0 }));
    builder.push("nodes", json!({ "name": "Lower", "translation": [0, 0.5, 0] }));
    builder.push("nodes", json!({ "name": "centimetres", "extras": muscle(20.0) }));
    builder.push("nodes", json!({ "name": "metres", "extras": muscle(0.2) }));
    builder.json["scenes"] = json!([{ "nodes": [0, 3] }]);
    let folder = std::env::temp_dir().join(format!("sinew-inspect-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("cm.glb");
    std::fs::write(&file, builder.bytes()).unwrap();
    let file = file.to_str().unwrap();
    let (text, object) = inspected(file);
    println!("{text}");
    let names: Vec<&Value> = object["muscles"].as_array().unwrap().iter().map(|muscle| &muscle["name"]).collect();
    assert_eq!(names, ["metres"]);
    assert!(object["rods"].as_array().unwrap().iter().all(|rod| rod["name"] != "centimetres"));
    assert!(text.contains("warning: muscle \"centimetres\" is left out"), "{text}");
    let ran = sinew(&["run", file, "--frames", "1", "--backend", "cpu"]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.contains("muscle \"centimetres\" is left out"), "{said}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_first_line_is_our_own() {
    let output = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["scene", "band", "--frames", "1"])
        .env_remove("XDG_RUNTIME_DIR")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    assert!(!told.contains("XDG_RUNTIME_DIR"), "{told}");
}
