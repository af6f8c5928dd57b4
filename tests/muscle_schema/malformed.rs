//! What is wrong with a muscle is said with muscle, key and fix.

use serde_json::{Value, json};
use sinew::character::{MuscleError, Sidecar};

use super::{but, error_of, path, with_extras, with_muscle};

fn variant(error: &MuscleError) -> String {
    let text = format!("{error:?}");
    text.split([' ', '{']).next().unwrap_or_default().into()
}

#[test]
fn malformed_muscles_are_errors_that_name_muscle_key_and_fix() {
    let disc = json!({ "place": [0, 0, 0], "radius": 0.01 });
    let next = json!({ "place": [0, 1, 0], "radius": 0.01 });
    let ends = |rest: Value| {
        let mut muscle = json!({ "origin": "Upper", "insertion": "Lower" });
        muscle.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        muscle
    };
    let bundle = |fibres: Value| ends(json!({ "bundle": { "fibres": fibres } }));
    let joint = |name: &str, y: f64| json!({ "joint": name, "place": [0, y, 0] });
    // The muscle, the error, the key, and what its text says besides.
    let cases: Vec<(Value, &str, &str, &str)> = vec![
        (json!({}), "Missing", "path", "give a path"),
        (json!({ "path": path() }), "Missing", "radius", "peak_force"),
        (json!({ "origin": "Upper", "insertion": "Lower", "radius": 0.1 }), "Missing", "path", "mesh"),
        (ends(json!({ "mesh": "Hand" })), "AmbiguousJoint", "mesh", "/Root/Other/Hand"),
        (ends(json!({ "mesh": "Upper" })), "Mesh", "mesh", "without a mesh"),
        (but("origin", json!("Uper")), "UnknownJoint", "origin", "did you mean \"Upper\""),
        (but("origin", json!("Hand")), "AmbiguousJoint", "origin", "/Root/Other/Hand, /Root/Upper/Lower/Hand"),
        (but("origin", json!("Lower")), "Conflict", "origin", "path[0]"),
        (but("origin", json!(3)), "Type", "origin", "a joint's name"),
        (but("insertion", json!({ "place": [0, 0, 0] })), "Type", "insertion", "joint"),
        (but("insertion", json!({ "joint": "Nowhere" })), "UnknownJoint", "insertion.joint", "Nowhere"),
        (but("insertion", json!({ "joint": "Lower", "place": [0, 9, 0] })), "Conflict", "insertion", "path[1]"),
        (but("path", json!("Upper")), "Type", "path", "list"),
        (but("path", json!([])), "Missing", "path", "two points"),
        (but("path", json!([joint("Upper", 0.0)])), "Shape", "path", "2 to 64"),
        (but("path", json!(vec![joint("Upper", 0.1); 65])), "Shape", "path", "65 points"),
        (but("path", json!([joint("Upper", 0.1), joint("Upper", 0.1)])), "Shape", "path[1]", "path[0]"),
        (but("path", json!([joint("Upper", 0.1), {}])), "Type", "path[1]", "joint"),
        (
            but("path", json!([joint("Upper", 0.1), { "joint": "Lower", "place": [0, 1] }])),
            "Type",
            "path[1].place",
            "[x, y, z]",
        ),
        (
            but("path", json!([joint("Upper", 0.1), { "joint": 7, "place": [0, 1, 0] }])),
            "Type",
            "path[1].joint",
            "name",
        ),
        (but("path", json!([joint("Upper", 0.1), joint("Lower", 1e30)])), "Range", "path[1].place[1]", "10000"),
        (but("path", json!([joint("Upper", 0.1), joint("Lowr", 0.0)])), "UnknownJoint", "path[1].joint", "Lower"),
        (
            but(
                "path",
                json!([
                    joint("Root", 0.0),
                    joint("Upper", 0.0),
                    joint("Lower", 0.0),
                    joint("Other", 0.0),
                    joint("Plain", 0.0)
                ]),
            ),
            "Shape",
            "path",
            "5 joints",
        ),
        (but("radius", json!("thick")), "Type", "radius", "a number from"),
        (but("radius", json!(-0.01)), "Range", "radius", "(m)"),
        (but("radius", json!(0)), "Range", "radius", "1e-5"),
        (but("volume", json!(1e-4)), "Conflict", "radius", "volume"),
        (json!({ "path": path(), "peak_force": 0 }), "Range", "peak_force", "(N)"),
        (json!({ "path": path(), "peak_force": 100, "peak_stress": 0 }), "Conflict", "peak_force", "peak_stress"),
        (json!({ "path": path(), "volume": 1e9 }), "Range", "volume", "m³"),
        (but("taper", json!(2)), "Range", "taper", "0.05"),
        (but("fibre_count", json!(0)), "Range", "fibre_count", "64"),
        (but("fibre_count", json!(7.5)), "Type", "fibre_count", "whole number"),
        (but("fibre_count", json!(-3)), "Type", "fibre_count", "whole number"),
        (but("section_count", json!(1)), "Range", "section_count", "from 2"),
        (but("section_count", json!(65)), "Range", "section_count", "64"),
        (but("material", json!("musle")), "UnknownMaterial", "material", "did you mean \"muscle\""),
        (but("material", json!({ "preset": "bone" })), "UnknownMaterial", "material.preset", "tendon"),
        (but("material", json!({ "youngs_modulus": 1 })), "Range", "material.youngs_modulus", "Pa"),
        (but("material", json!({ "poissons_ratio": 0.5 })), "Range", "material.poissons_ratio", "0.4999"),
        (but("material", json!({ "density": "heavy" })), "Type", "material.density", "kg/m³"),
        (but("material", json!(["muscle"])), "Type", "material", "preset"),
        (but("peak_stress", json!(-1)), "Range", "peak_stress", "Pa"),
        (but("tendon", json!(0.3)), "Type", "tendon", "two fractions"),
        (but("tendon", json!([0.5, 0.6])), "Range", "tendon", "together"),
        (but("tendon", json!([0.5, -0.1])), "Range", "tendon[1]", "0.9"),
        (but("optimal_stretch", json!(0)), "Range", "optimal_stretch", "0.5"),
        (but("passive", json!(-1)), "Range", "passive", "from 0 to 100"),
        (but("passive", json!("stiff")), "Type", "passive", "a number from"),
        (but("max_velocity", json!(0)), "Range", "max_velocity", "optimal lengths/s"),
        (but("activation_time", json!(-1)), "Range", "activation_time", "(s)"),
        (but("deactivation_time", json!(true)), "Type", "deactivation_time", "(s)"),
        (but("rigid", json!("yes")), "Type", "rigid", "true or false"),
        (but("rigid", json!(2)), "Type", "rigid", "true or false"),
        (but("shortening", json!(1)), "Range", "shortening", "0.9"),
        (but("bundle", json!({ "fibres": [] })), "Conflict", "path", "bundle"),
        (bundle(json!([])), "Range", "bundle.fibres", "from 1 to 64"),
        (bundle(json!([[disc]])), "Shape", "bundle.fibres[0]", "2 to 64"),
        (bundle(json!([[disc, next], [disc]])), "Shape", "bundle.fibres[1]", "fibre 0 has 2"),
        (bundle(json!([[disc, disc]])), "Shape", "bundle.fibres", "apart"),
        (bundle(json!([[disc, { "place": [0, 1, 0], "radius": 0 }]])), "Range", "bundle.fibres[0][1].radius", "(m)"),
        (bundle(json!([[disc, { "place": [0, 1, 0] }]])), "Type", "bundle.fibres[0][1]", "radius"),
        (json!({ "bundle": { "fibres": [[disc, next]] }, "insertion": "Lower" }), "Missing", "origin", "joint"),
        (ends(json!({ "mesh": "Plain", "sources": [0] })), "Missing", "sinks", "both or neither"),
        (ends(json!({ "mesh": "Plain", "sources": [0], "sinks": [4] })), "Mesh", "sinks[0]", "has 4"),
        (ends(json!({ "mesh": "Plain", "sources": [], "sinks": [3] })), "Mesh", "sources", "no vertex"),
        (ends(json!({ "mesh": "Plain", "sources": [0, 1], "sinks": [1, 2] })), "Mesh", "sinks", "source too"),
        (ends(json!({ "mesh": "Plain", "sources": [-1], "sinks": [1] })), "Type", "sources[0]", "vertex indices"),
        (ends(json!({ "mesh": "Plain", "ends_attribute": "_ENDS" })), "Mesh", "ends_attribute", "_ENDS"),
        (
            ends(json!({ "mesh": "Plain", "ends_attribute": "_ENDS", "sources": [0], "sinks": [1] })),
            "Conflict",
            "sources",
            "ends_attribute",
        ),
        (but("sources", json!([0])), "Mesh", "sources", "no mesh"),
    ];
    println!("{} malformed muscles", cases.len());
    assert!(cases.len() >= 30);
    for (muscle, expected, key, part) in cases {
        let (file, error) = error_of(with_muscle(muscle.clone()).import());
        let text = error.to_string();
        assert_eq!((variant(&error).as_str(), error.key()), (expected, Some(key)), "{muscle}: {text}");
        assert_eq!((file.as_str(), error.muscle()), ("built", Some("biceps")), "{muscle}: {text}");
        for part in ["biceps", key.split(['[', '.']).next().unwrap(), part] {
            assert!(text.contains(part), "{muscle}: {text:?} lacks {part:?}");
        }
    }
}

#[test]
fn malformed_properties_and_sidecars_are_errors_that_name_the_place() {
    let extras = [
        (json!({ "sinew": 3 }), "node 0 \"Root\", extras.sinew: is 3 instead of an object"),
        (json!({ "sinew": "{" }), "text that is not JSON"),
        (json!({ "sinew": { "muscle": [] } }), "extras.sinew.muscle: is [] instead of an object"),
        (json!({ "sinew": { "muscle": "biceps" } }), "text that is not JSON"),
        (json!({ "sinew.muscle": true }), "extras.sinew.muscle: is true"),
        (json!({ "sinew.muscle.path": "[{" }), "extras.sinew.muscle.path: is not JSON"),
        (json!({ "sinew": { "version": 2, "muscle": {} } }), "version 2 is not read, versions 1 to 1 are"),
        (json!({ "sinew": { "muscle": { "version": "1" } } }), "version \"1\" is not read"),
        (json!({ "sinew": { "muscle": { "name": 5 } } }), "muscle \"Root\": name: is 5"),
        (json!({ "sinew": { "muscle": { "name": "" } } }), "a name in quotes"),
    ];
    for (extras, part) in extras {
        let (_, error) = error_of(with_extras(0, extras.clone()).import());
        assert!(error.to_string().contains(part), "{extras}: {error} lacks {part:?}");
    }
    let sidecars = [
        ("", "is not JSON"),
        ("[]", "is not a JSON object"),
        ("{", "is not JSON"),
        ("{\"muscles\": {}}", "version null is not read"),
        ("{\"version\": 2, \"muscles\": {}}", "versions 1 to 1 are"),
        ("{\"version\": 1}", "has no muscles"),
        ("{\"version\": 1, \"muscles\": 7}", "neither an object nor a list"),
        ("{\"version\": 1, \"muscles\": {\"a\": 7}}", "muscle \"a\": muscles: is not an object"),
        ("{\"version\": 1, \"muscles\": [{}]}", "muscle \"muscles[0]\": name is missing"),
        ("{\"version\": 1, \"muscles\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}", "same name"),
        ("{\"version\": 1, \"muscles\": {\"a\": {\"name\": \"b\"}}}", "leave name out"),
        ("{\"version\": 1, \"muscles\": {\"\": {}}}", "name is missing"),
        ("{\"version\": 1, \"muscles\": {\"a\": {\"radius\": 1, \"volume\": 1}}}", "keep one of them"),
        ("{\"version\": 1, \"muscles\": {\"a\": {\"radius\": 1e999}}}", "out of range"),
    ];
    for (text, part) in sidecars {
        let error = Sidecar::from_slice("x", text.as_bytes()).expect_err(text);
        assert!(error.to_string().contains(part), "{text}: {error} lacks {part:?}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_sidecar = format!("{{\"version\":1,\"muscles\":{deep}}}");
    assert!(matches!(Sidecar::from_slice("x", deep_sidecar.as_bytes()), Err(MuscleError::Json { .. })));
    let (_, error) = error_of(with_extras(0, json!({ "sinew": deep })).import());
    assert!(matches!(error, MuscleError::Json { .. }), "{error}");
}
