//! Muscles as authors describe them: what is wrong is said with muscle, key and fix; what is right comes through
//! extras, extension and sidecar, and comes back from a written file as it was.
#![cfg(feature = "gltf")]

#[allow(dead_code, reason = "each test binary uses a part")]
#[path = "import_support/builder.rs"]
mod builder;

use builder::{Builder, assert_warns, tetrahedron};
use glam::DVec3;
use proptest::prelude::*;
use serde_json::{Value, json};
use sinew::character::{
    CharacterAsset, ImportError, ImportOptions, JointNames, MUSCLE_LIMITS, MaterialPreset, MeshEnds, MuscleError,
    MuscleMaterial, MuscleShape, MuscleSpec, PathPoint, Sidecar, SidecarSource, Thickness, check_muscles, sidecar_path,
    write_sidecar,
};
use sinew::flesh::{Bundle, Disc};

/// Root over Upper over Lower over Hand, and over Other over a second Hand; Muscle (node 6) has a tetrahedron, Plain
/// (node 7) another one.
fn character() -> Builder {
    let mut builder = tetrahedron();
    for (name, children, place) in [
        ("Root", json!([1, 4]), [0.0, 1.0, 0.0]),
        ("Upper", json!([2]), [0.0, 0.3, 0.0]),
        ("Lower", json!([3]), [0.0, 0.3, 0.0]),
        ("Hand", Value::Null, [0.0, 0.3, 0.0]),
        ("Other", json!([5]), [0.3, 0.0, 0.0]),
        ("Hand", Value::Null, [0.3, 0.0, 0.0]),
    ] {
        let mut node = json!({ "name": name, "translation": place });
        if !children.is_null() {
            node["children"] = children;
        }
        builder.push("nodes", node);
    }
    builder.push("nodes", json!({ "name": "Muscle", "mesh": 0 }));
    builder.push("nodes", json!({ "name": "Plain", "mesh": 0, "translation": [2, 0, 0] }));
    builder.json["scenes"] = json!([{ "nodes": [0, 6, 7] }]);
    builder
}

/// The character with extras on a node.
fn with_extras(node: usize, extras: Value) -> Builder {
    let mut builder = character();
    builder.json["nodes"][node]["extras"] = extras;
    builder
}

/// The character with one muscle, `biceps`, by extras on a node without a mesh.
fn with_muscle(muscle: Value) -> Builder {
    let mut muscle = muscle;
    muscle["name"] = json!("biceps");
    with_extras(0, json!({ "sinew": { "muscle": muscle } }))
}

fn sidecar(text: &Value) -> Sidecar {
    Sidecar::from_slice("hero.muscles.json", text.to_string().as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn import_beside(builder: &Builder, sidecar: Sidecar) -> Result<CharacterAsset, ImportError> {
    let options = ImportOptions { sidecar: SidecarSource::Given(sidecar), ..Default::default() };
    CharacterAsset::from_slice("hero.glb", &builder.bytes(), None, &options)
}

fn error_of(result: Result<CharacterAsset, ImportError>) -> (String, MuscleError) {
    match result {
        Err(ImportError::Muscle { file, source }) => (file, source),
        Err(other) => panic!("not a muscle's error: {other}"),
        Ok(asset) => panic!("no error, muscles {:?}", asset.muscles),
    }
}

fn path() -> Value {
    json!([
        { "joint": "Upper", "place": [0, 0.05, 0.02] },
        { "joint": "Lower", "place": [0, 0.05, 0.01] },
    ])
}

/// A path with one key more, or another one.
fn but(key: &str, value: Value) -> Value {
    let mut muscle = json!({ "path": path(), "radius": 0.02 });
    muscle[key] = value;
    muscle
}

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
        (but("origin", json!("Hand")), "AmbiguousJoint", "origin", "/Root/Upper/Lower/Hand, /Root/Other/Hand"),
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

#[test]
fn two_nodes_cannot_say_one_muscle_or_share_a_mesh() {
    let mut builder = with_muscle(but("taper", json!(1)));
    builder.json["nodes"][1]["extras"] = json!({ "sinew.muscle": { "name": "biceps" } });
    let (_, error) = error_of(builder.import());
    assert!(
        matches!(&error, MuscleError::Duplicate { places, .. } if places.contains("node 0") && places.contains("node 1"))
    );

    let mut builder = with_muscle(json!({ "mesh": "Muscle", "origin": "Upper", "insertion": "Lower" }));
    builder.json["nodes"][6]["extras"] = json!({ "sinew": { "muscle": { "origin": "Upper", "insertion": "Lower" } } });
    let (_, error) = error_of(builder.import());
    assert!(matches!(&error, MuscleError::Mesh { problem, .. } if problem.contains("biceps")), "{error}");
}

#[test]
fn every_form_of_extras_and_the_extension_say_the_same() {
    let muscle = but("taper", json!(0.5));
    let object = with_extras(0, json!({ "sinew": { "version": 1, "muscle": muscle } })).import_sound();
    let spec = &object.muscles[0];
    assert_eq!((object.muscles.len(), spec.name.as_str(), spec.taper), (1, "Root", 0.5));
    let text = json!({ "muscle": muscle }).to_string();
    let mut extension = character();
    extension.json["nodes"][0]["extensions"] = json!({ "SINEW_muscle": muscle });
    extension.json["extensionsUsed"] = json!(["SINEW_muscle"]);
    let forms = [
        with_extras(0, json!({ "sinew": text })),
        with_extras(0, json!({ "sinew": { "muscle": muscle.to_string() } })),
        with_extras(0, json!({ "sinew.muscle": muscle, "sinewy": 3, "other": [[]] })),
        with_extras(0, json!({ "sinew.muscle": muscle.to_string() })),
        with_extras(
            0,
            json!({ "sinew.muscle.path": path().to_string(), "sinew.muscle.radius": 0.02, "sinew.muscle.taper": 0.5 }),
        ),
        extension,
    ];
    for builder in &forms {
        let asset = builder.import_sound();
        assert_eq!(asset.muscles, object.muscles, "{}", builder.json["nodes"][0]);
        assert!(!asset.warnings.iter().any(|warning| warning.0.contains("inew")), "{:?}", asset.warnings);
    }
    let mut both = with_extras(0, json!({ "sinew": { "muscle": { "radius": "wrong" } } }));
    both.json["nodes"][0]["extensions"] = json!({ "SINEW_muscle": muscle });
    let asset = both.import_sound();
    assert_eq!(asset.muscles, object.muscles);
    assert_warns(&asset, &["node 0 \"Root\"", "the extension is read"]);
    // Extras that are not ours, of any kind.
    for extras in [json!(3), json!("sinew"), json!(["sinew"]), json!(null), json!({ "a": { "sinew": 1 } })] {
        assert_eq!(with_extras(0, extras).import_sound().muscles, []);
    }
}

#[test]
fn a_path_has_its_places_and_defaults() {
    let asset = with_muscle(json!({
        "path": [
            { "joint": "Upper", "place": [0, 0.05, 0.02], "radius": 0.01 },
            { "joint": "Upper/Lower", "place": [0, 0.05, 0.03] },
            { "joint": "Lower/Hand", "place": [0, 0.1, 0.01] },
        ],
        "peak_force": 600,
        "material": { "preset": "tendon", "density": 1120 },
        "rigid": 1,
    }))
    .import_sound();
    let spec = &asset.muscles[0];
    let points = match &spec.shape {
        MuscleShape::Path(points) => points,
        other => panic!("{other:?}"),
    };
    let names: Vec<&str> =
        points.iter().map(|point| asset.skeleton.joints[point.joint as usize].name.as_str()).collect();
    assert_eq!(names, ["Upper", "Lower", "Hand"]);
    let mut model = Vec::new();
    asset.skeleton.model_matrices(&asset.skeleton.rest_pose(), &mut model);
    let place = points[2].model_place(&model[points[2].joint as usize]);
    println!("the insertion lies at {place}");
    assert!(place.distance(DVec3::new(0.0, 2.0, 0.01)) < 1e-6);
    assert_eq!([points[0].radius, points[1].radius], [Some(0.01), None]);
    assert_eq!(spec.thickness, Some(Thickness::PeakForce(600.0)));
    assert_eq!((spec.origin.joint, spec.insertion.joint), (points[0].joint, points[2].joint));
    let tendon = MuscleMaterial { preset: MaterialPreset::Tendon, density: Some(1120.0), ..Default::default() };
    assert_eq!((spec.material, spec.rigid), (tendon, true));
    let default = MuscleSpec::default();
    assert_eq!(
        (spec.fibre_count, spec.section_count, spec.taper, spec.max_velocity, spec.activation_time),
        (default.fibre_count, default.section_count, default.taper, None, default.activation_time)
    );
    // Two placed ends are a path too.
    let ends = json!({
        "origin": { "joint": "Upper", "place": [0, 0, 0] }, "insertion": { "joint": "Lower", "place": [0, 0.1, 0] },
        "radius": 0.01,
    });
    let straight = with_muscle(ends).import_sound();
    assert!(matches!(&straight.muscles[0].shape, MuscleShape::Path(points) if points.len() == 2));
}

#[test]
fn places_are_metres_whatever_the_joint_s_scale() {
    let mut builder = with_muscle(but("taper", json!(1)));
    builder.json["nodes"][0]["scale"] = json!([0.01, 0.01, 0.01]);
    builder.json["nodes"][1]["rotation"] = json!([0.0, 0.0, 1.0, 0.0]);
    let asset = builder.import_sound();
    let mut model = Vec::new();
    asset.skeleton.model_matrices(&asset.skeleton.rest_pose(), &mut model);
    let MuscleShape::Path(points) = &asset.muscles[0].shape else { panic!("a path") };
    let place = points[0].model_place(&model[points[0].joint as usize]);
    println!("5 cm along an upside-down bone of a rig in centimetres end at {place}");
    assert!(place.distance(DVec3::new(0.0, 1.003 - 0.05, 0.02)) < 1e-6);
}

#[test]
fn a_mesh_is_the_muscle_s_and_stays_in_the_skin() {
    let ends = json!({ "origin": "Upper", "insertion": { "joint": "Lower", "place": [0, 0.1, 0] } });
    let muscle = |extra: Value| {
        let mut muscle = ends.clone();
        muscle.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        muscle
    };
    let plain = character().import_sound();
    let nearest = with_extras(6, json!({ "sinew.muscle": muscle(json!({})) })).import_sound();
    assert_eq!(nearest.mesh, plain.mesh);
    let mesh = nearest.muscles[0].mesh.as_ref().unwrap();
    assert_eq!((mesh.vertices.clone(), mesh.triangles.clone(), &mesh.ends), (0..4, 0..4, &MeshEnds::Nearest));
    assert_eq!(nearest.skeleton.joints[mesh.joint as usize].name, "Muscle");
    assert_eq!(nearest.muscles[0].shape, MuscleShape::Mesh);

    let listed = with_extras(7, json!({ "sinew.muscle": muscle(json!({ "sources": [3, 0, 3], "sinks": [1] })) }));
    let listed = listed.import_sound();
    let mesh = listed.muscles[0].mesh.as_ref().unwrap();
    println!("the second mesh has vertices {:?}, sources {:?}, sinks {:?}", mesh.vertices, mesh.sources, mesh.sinks);
    assert_eq!((mesh.vertices.clone(), mesh.triangles.clone()), (4..8, 4..8));
    assert_eq!((&mesh.sources[..], &mesh.sinks[..]), (&[4, 7][..], &[5][..]));

    // By attribute, in two primitives the second of which leaves vertex 0 unused.
    let mut builder = character();
    let marks = builder.floats("SCALAR", 1, &[-1.0, 0.0, 2.0, 1.0]);
    let positions = builder.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].clone();
    let corners = builder.accessor(&[1, 2, 3], 5121, "SCALAR", 3);
    builder.json["meshes"][0]["primitives"][0]["attributes"]["_sinew_ends"] = json!(marks);
    let second = json!({ "attributes": { "POSITION": positions, "__SINEW_ENDS": marks }, "indices": corners });
    builder.json["meshes"][0]["primitives"].as_array_mut().unwrap().push(second);
    builder.json["nodes"][7]["extras"] = json!({ "sinew.muscle": ends });
    let asset = builder.import_sound();
    let mesh = asset.muscles[0].mesh.as_ref().unwrap();
    assert_eq!((mesh.vertices.clone(), mesh.triangles.clone()), (7..14, 5..10));
    assert_eq!((&mesh.sources[..], &mesh.sinks[..]), (&[7][..], &[9, 10, 12, 13][..]));
    assert_eq!(mesh.ends, MeshEnds::Attribute("_SINEW_ENDS".into()));
    builder.json["nodes"][7]["extras"]["sinew.muscle"]["sources"] = json!([5]);
    builder.json["nodes"][7]["extras"]["sinew.muscle"]["sinks"] = json!([7, 0]);
    let asset = builder.import_sound();
    let mesh = asset.muscles[0].mesh.as_ref().unwrap();
    assert_eq!(
        (&mesh.sources[..], &mesh.sinks[..]),
        (&[11][..], &[7, 13][..]),
        "file's vertex 5 is the 2nd's vertex 1"
    );
    let one_sided = builder.floats("SCALAR", 1, &[-1.0, 0.0, 0.0, 0.0]);
    let mut one = character();
    (one.binary, one.json) = (builder.binary.clone(), builder.json.clone());
    one.json["nodes"][7]["extras"] = json!({ "sinew.muscle": ends });
    for primitive in [0, 1] {
        let attributes = &mut one.json["meshes"][0]["primitives"][primitive]["attributes"];
        *attributes = json!({ "POSITION": positions, "_SINEW_ENDS": one_sided });
    }
    let (_, error) = error_of(one.import());
    assert!(error.to_string().contains("no vertex has a positive value"), "{error}");
}

#[test]
fn unknown_keys_warn_with_the_nearest_known() {
    let mut muscle = but("raduis", json!(1));
    muscle["material"] = json!({ "preset": "fat", "young_modulus": 3 });
    muscle["path"][1]["radios"] = json!(0.1);
    muscle["zzzzzzzzzz"] = json!(0);
    let mut builder = with_muscle(muscle);
    builder.json["nodes"][0]["extras"]["sinew"]["pill"] = json!({});
    let asset = builder.import_sound();
    assert_warns(&asset, &["biceps", "raduis", "did you mean radius?"]);
    assert_warns(&asset, &["biceps", "material.young_modulus", "did you mean youngs_modulus?"]);
    assert_warns(&asset, &["biceps", "path[1].radios", "did you mean radius?"]);
    assert_warns(&asset, &["biceps", "zzzzzzzzzz", "known are name, origin"]);
    assert_warns(&asset, &["extras.sinew", "pill", "known is muscle"]);
    let many: serde_json::Map<String, Value> = (0..10_000).map(|i| (format!("key{i}"), json!(i))).collect();
    let mut muscle = but("taper", json!(1));
    muscle.as_object_mut().unwrap().extend(many);
    let start = std::time::Instant::now();
    let asset = with_muscle(muscle).import_sound();
    println!("10 000 unknown keys: {} warnings in {:?}", asset.warnings.len(), start.elapsed());
    assert!(asset.warnings.len() < 30);
    let beside = sidecar(&json!({ "version": 1, "muscles": {}, "muscels": {} }));
    let asset = import_beside(&character(), beside).unwrap();
    assert_warns(&asset, &["hero.muscles.json", "muscels"]);
    let thick = json!({ "mesh": "Plain", "origin": "Upper", "insertion": "Lower", "volume": 1 });
    assert_warns(&with_muscle(thick).import_sound(), &["biceps", "radius and volume are a path's"]);
}

#[test]
fn a_sidecar_replaces_key_by_key_and_adds() {
    let mut first = but("taper", json!(0.5));
    first["tendon"] = json!([0.1, 0.2]);
    let builder = with_muscle(first);
    let from_file = builder.import_sound().muscles[0].clone();
    let beside = sidecar(&json!({
        "$schema": "muscles.schema.json",
        "version": 1,
        "muscles": {
            "biceps": { "volume": 1e-4, "taper": null, "rigid": true },
            "added": { "mesh": "Plain", "origin": "Upper", "insertion": "Lower" },
        },
    }));
    let asset = import_beside(&builder, beside).unwrap();
    let expected = MuscleSpec {
        thickness: Some(Thickness::Volume(1e-4)),
        taper: MuscleSpec::default().taper,
        rigid: true,
        ..from_file.clone()
    };
    assert_eq!(asset.muscles[0], expected);
    assert_eq!((asset.muscles.len(), asset.muscles[1].name.as_str()), (2, "added"));
    let list = sidecar(&json!({ "version": 1, "muscles": [{ "name": "biceps", "rigid": true, "taper": 0.5 }] }));
    let asset = import_beside(&builder, list).unwrap();
    assert_eq!(asset.muscles, [MuscleSpec { rigid: true, ..from_file }]);
    // The error is the file's that says the key.
    let wrong = sidecar(&json!({ "version": 1, "muscles": { "biceps": { "shortening": 2 } } }));
    let (file, error) = error_of(import_beside(&builder, wrong));
    assert_eq!((file.as_str(), error.key()), ("hero.muscles.json", Some("shortening")));
    let wrong = sidecar(&json!({ "version": 1, "muscles": { "biceps": { "rigid": true } } }));
    let (file, error) = error_of(import_beside(&with_muscle(but("taper", json!(7))), wrong));
    assert_eq!((file.as_str(), error.key()), ("hero.glb", Some("taper")));
}

/// Muscles of every shape with no key at its default.
fn varied(asset: &CharacterAsset) -> Vec<MuscleSpec> {
    let joints = JointNames::new(&asset.skeleton);
    let find = |name| joints.find(name, "", "").unwrap();
    let third = 1.0 / 3.0;
    let point =
        |joint, y| PathPoint { joint: find(joint), place: DVec3::new(0.1 * third, y, -1e-9), radius: Some(third) };
    let base = asset.muscles[0].clone();
    let path = MuscleSpec {
        name: "path \"ü\"/1".into(),
        shape: MuscleShape::Path(vec![point("Root", 0.7), point("Lower/Hand", third), point("Other/Hand", 0.2)]),
        origin: sinew::character::MuscleEnd { joint: find("Root"), place: Some(point("Root", 0.7).place) },
        insertion: sinew::character::MuscleEnd {
            joint: find("Other/Hand"),
            place: Some(point("Other/Hand", 0.2).place),
        },
        mesh: None,
        thickness: Some(Thickness::Volume(third * 1e-3)),
        taper: 0.7 * third,
        fibre_count: 5,
        section_count: 64,
        material: MuscleMaterial {
            preset: MaterialPreset::Fat,
            youngs_modulus: Some(1e5 * third),
            poissons_ratio: Some(third),
            density: Some(900.1),
            damping: Some(0.1),
        },
        peak_stress: Some(2.5e5),
        tendon: [0.1, third],
        optimal_stretch: 1.1,
        max_velocity: Some(10.0 * third),
        activation_time: 0.01,
        deactivation_time: 0.04,
        rigid: true,
        shortening: 0.1 + third,
    };
    let fibre =
        |x: f64| (0..3).map(move |j| Disc { place: DVec3::new(x, f64::from(j) * third, 0.3), radius: 0.1 * third });
    let bundle = MuscleSpec {
        name: "bundle".into(),
        shape: MuscleShape::Bundle(Bundle { fibres: vec![fibre(0.1).collect(), fibre(third).collect()] }),
        fibre_count: 2,
        section_count: 3,
        thickness: Some(Thickness::PeakForce(100.0 * third)),
        mesh: None,
        ..base.clone()
    };
    vec![base, bundle, path]
}

#[test]
fn what_is_written_is_read_back_to_the_bit() {
    let mesh = json!({ "mesh": "Plain", "origin": "Upper", "insertion": "Lower", "sources": [0], "sinks": [1, 2] });
    let mut asset = with_muscle(mesh).import_sound();
    asset.muscles[0].insertion.place = Some(DVec3::new(0.1, 0.2, 0.7));
    let muscles = varied(&asset);
    check_muscles(&muscles, &asset.skeleton).unwrap();
    let folder = std::env::temp_dir().join(format!("sinew-muscles-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("hero.glb");
    std::fs::write(&file, character().bytes()).unwrap();
    write_sidecar(sidecar_path(&file), &muscles, &asset.skeleton).unwrap();
    let read = CharacterAsset::load(&file, &ImportOptions::default()).unwrap();
    let without = ImportOptions { sidecar: SidecarSource::Nowhere, ..Default::default() };
    assert_eq!(CharacterAsset::load(&file, &without).unwrap().muscles, []);
    let warned: Vec<_> = read.warnings.iter().filter(|warning| warning.0.contains("muscle")).collect();
    let by_name = |list: &[MuscleSpec]| {
        let mut list = list.to_vec();
        list.sort_by(|a, b| a.name.cmp(&b.name));
        list
    };
    let text = std::fs::read_to_string(sidecar_path(&file)).unwrap();
    println!("{} bytes hold {} muscles; warnings: {warned:?}", text.len(), read.muscles.len());
    assert_eq!(by_name(&read.muscles), by_name(&muscles));
    assert!(warned.is_empty());
    // A bundle baked into what is there keeps the other keys.
    let mut beside = Sidecar::read(sidecar_path(&file)).unwrap().unwrap();
    assert_eq!(beside.names().count(), 3);
    let MuscleShape::Bundle(baked) = &muscles[1].shape else { panic!("a bundle") };
    beside.insert_bundle(&muscles[2], baked, &JointNames::new(&asset.skeleton)).unwrap();
    beside.write(sidecar_path(&file)).unwrap();
    let again = CharacterAsset::load(&file, &ImportOptions::default()).unwrap();
    let spec = again.muscles.iter().find(|muscle| muscle.name == muscles[2].name).unwrap();
    assert_eq!(spec.shape, muscles[1].shape);
    assert_eq!(
        (spec.insertion.joint, spec.tendon, spec.fibre_count),
        (muscles[2].insertion.joint, muscles[2].tendon, 2)
    );
    std::fs::write(sidecar_path(&file), "{\"version\": 9}").unwrap();
    let (named, error) = error_of(CharacterAsset::load(&file, &ImportOptions::default()));
    assert!(named.ends_with("hero.muscles.json") && error.to_string().contains("version 9"), "{named}: {error}");
    std::fs::remove_dir_all(&folder).unwrap();
    // What cannot be sound is not written.
    let twice = [muscles[1].clone(), muscles[1].clone()];
    let error = write_sidecar(sidecar_path(&file), &twice, &asset.skeleton).unwrap_err();
    assert!(error.to_string().contains("same name"), "{error}");
    let nan = [MuscleSpec { taper: f64::NAN, ..muscles[1].clone() }];
    let error = write_sidecar(sidecar_path(&file), &nan, &asset.skeleton).unwrap_err();
    assert!(error.to_string().contains("taper is NaN"), "{error}");
}

#[test]
fn joints_have_the_shortest_name_that_is_theirs() {
    let asset = character().import_sound();
    let joints = JointNames::new(&asset.skeleton);
    let references: Vec<String> =
        (0..asset.skeleton.joints.len() as u32).map(|joint| joints.reference(joint).unwrap()).collect();
    println!("{references:?}");
    for (joint, reference) in references.iter().enumerate() {
        assert_eq!(joints.find(reference, "", ""), Ok(joint as u32));
    }
    assert!(references.contains(&"Lower/Hand".into()) && references.contains(&"Upper".into()));
    for wrong in ["", "/", "Hand/", "/Hand", "Upper/Hand", "/Upper"] {
        assert!(matches!(joints.find(wrong, "m", "k"), Err(MuscleError::UnknownJoint { .. })), "{wrong:?}");
    }
    for right in ["/Root/Other/Hand", "Root/Other", "/Root"] {
        assert!(joints.find(right, "m", "k").is_ok(), "{right:?}");
    }
}

/// Any JSON, of a few levels.
fn any_json() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("Upper".to_string()),
        Just("Hand".to_string()),
        Just("muscle".to_string()),
        Just("[{".to_string()),
        ".{0,6}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3i64..80).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-2.0..2.0).prop_map(|value: f64| Value::from(value)),
        name.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any_key(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    let keys = [
        "name",
        "origin",
        "insertion",
        "path",
        "mesh",
        "sources",
        "sinks",
        "bundle",
        "fibres",
        "joint",
        "material",
        "preset",
        "version",
    ];
    let known: Vec<String> = keys.into_iter().chain(MUSCLE_LIMITS.map(|limits| limits.key)).map(String::from).collect();
    prop_oneof![4 => prop::sample::select(known), 1 => ".{0,5}"]
}

/// Replaces, removes or renames something inside, where `at` leads.
fn mutate(value: &mut Value, at: &[u32], key: &str, new: &Value) {
    let Some((&first, rest)) = at.split_first() else { return *value = new.clone() };
    match value {
        Value::Object(object) if !object.is_empty() => {
            let chosen = object.keys().nth(first as usize % object.len()).cloned().unwrap_or_default();
            match first % 11 {
                0 => drop(object.remove(&chosen)),
                1 => drop(object.insert(key.into(), new.clone())),
                _ => object.get_mut(&chosen).into_iter().for_each(|inner| mutate(inner, rest, key, new)),
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let chosen = first as usize % list.len();
            match first % 11 {
                0 => drop(list.remove(chosen)),
                1 => list.insert(chosen, new.clone()),
                _ => mutate(&mut list[chosen], rest, key, new),
            }
        }
        other => *other = new.clone(),
    }
}

fn is_typed(result: Result<CharacterAsset, ImportError>) -> Result<bool, TestCaseError> {
    match result {
        Ok(asset) => {
            let sound = check_muscles(&asset.muscles, &asset.skeleton);
            prop_assert!(sound.is_ok(), "{:?}", sound);
            Ok(true)
        }
        Err(ImportError::Muscle { source, .. }) => {
            prop_assert!(!source.to_string().is_empty());
            Ok(false)
        }
        Err(other) => Err(TestCaseError::fail(format!("{other}"))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_a_muscle_or_a_typed_error(value in any_json(), form in 0..4) {
        let extras = match form {
            0 => json!({ "sinew": { "muscle": value } }),
            1 => json!({ "sinew.muscle": value.to_string() }),
            2 => json!({ "sinew": value }),
            _ => json!({ "sinew.muscle.path": value }),
        };
        is_typed(with_extras(6, extras).import())?;
        let text = json!({ "version": 1, "muscles": { "biceps": value } }).to_string();
        if let Ok(beside) = Sidecar::from_slice("x", text.as_bytes()) {
            is_typed(import_beside(&character(), beside))?;
        }
    }

    #[test]
    fn a_mutated_muscle_is_a_muscle_or_a_typed_error(
        changes in prop::collection::vec((prop::collection::vec(any::<u32>(), 0..6), any_key(), any_json()), 1..3),
        which in 0..3usize,
    ) {
        let disc = |y: f64| json!({ "place": [0, y, 0], "radius": 0.01 });
        let mut all = but("tendon", json!([0.1, 0.2]));
        for limits in MUSCLE_LIMITS.iter().filter(|limits| !["peak_force", "volume", "place", "fibres", "tendon"].contains(&limits.key)) {
            all[limits.key] = json!(limits.high.min(2.0));
        }
        all["taper"] = json!(0.4);
        all["shortening"] = json!(0.1);
        for key in ["youngs_modulus", "poissons_ratio", "density", "damping"] {
            all.as_object_mut().unwrap().remove(key);
        }
        all["material"] = json!({ "preset": "tendon", "youngs_modulus": 1e6, "poissons_ratio": 0.4, "density": 1100, "damping": 3 });
        let mut muscle = [
            all,
            json!({ "mesh": "Plain", "origin": "Upper", "insertion": "Lower", "sources": [0], "sinks": [1, 2] }),
            json!({ "origin": "Upper", "insertion": "Lower", "bundle": { "fibres": [[disc(0.0), disc(0.5)], [disc(0.1), disc(0.6)]] } }),
        ][which].clone();
        prop_assert!(is_typed(with_extras(6, json!({ "sinew.muscle": muscle })).import())?, "{}", muscle);
        for (at, key, new) in &changes {
            mutate(&mut muscle, at, key, new);
        }
        is_typed(with_extras(6, json!({ "sinew.muscle": muscle })).import())?;
    }

    #[test]
    fn any_bytes_are_a_sidecar_or_a_typed_error(bytes in prop::collection::vec(any::<u8>(), 0..64), cut in 0..400usize) {
        let read = Sidecar::from_slice("x", &bytes);
        prop_assert!(read.is_err_and(|error| error.to_string().contains("sidecar")));
        let text = json!({ "version": 1, "muscles": { "biceps": but("taper", json!(1)) } }).to_string();
        let cut = cut.min(text.len() - 1);
        prop_assert!(Sidecar::from_slice("x", &text.as_bytes()[..cut]).is_err());
    }
}
