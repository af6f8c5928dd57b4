//! Muscles as authors describe them: what is wrong is said with muscle, key and fix; what is right comes through
//! extras, extension and sidecar, and comes back from a written file as it was.
#![cfg(feature = "gltf")]

#[allow(dead_code, reason = "each test binary uses a part")]
#[path = "import_support/builder.rs"]
mod builder;
#[path = "muscle_schema/malformed.rs"]
mod malformed;
#[path = "muscle_schema/meshes.rs"]
mod meshes;
#[path = "muscle_schema/random.rs"]
mod random;
#[path = "muscle_schema/silence.rs"]
mod silence;
#[path = "muscle_schema/spawned.rs"]
mod spawned;

use builder::{Builder, assert_warns, tetrahedron};
use glam::DVec3;
use serde_json::{Value, json};
use sinew::character::{
    CharacterAsset, ImportError, ImportOptions, JointNames, MaterialPreset, MuscleError, MuscleMaterial, MuscleShape,
    MuscleSpec, PathPoint, Sidecar, SidecarSource, Thickness, check_muscles, sidecar_path, write_sidecar,
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
        Err(ImportError::Muscle { file, source }) => (file, *source),
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
        "peak_stress": 3e5,
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
        passive: third,
        max_velocity: Some(10.0 * third),
        activation_time: 0.01,
        deactivation_time: 0.04,
        rigid: true,
        fascia: false,
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
fn what_is_written_is_read_back() {
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

/// JSON lets an object say a key twice, and keeps what is said last: of two muscles of one name the first would be gone.
#[test]
fn a_sidecar_that_says_a_muscle_or_a_key_twice_is_refused() {
    for (muscles, key) in [
        (r#""biceps": {"origin": "Upper"}, "triceps": {}, "biceps": {"insertion": "Lower"}"#, "biceps"),
        (r#""biceps": {"tendon": 0.1, "tendon": 0.2}"#, "tendon"),
    ] {
        let text = format!("{{\"version\": 1,\n \"muscles\": {{{muscles}}}}}");
        let error = Sidecar::from_slice("hero.muscles.json", text.as_bytes()).unwrap_err();
        println!("{error}");
        let text = error.to_string();
        assert!(text.contains(&format!("{key:?} twice")) && text.contains("line 2"), "{text}");
        assert!(matches!(error, MuscleError::Json { .. }));
    }
}

#[test]
fn muscles_filled_by_hand_are_checked() {
    let mut asset = with_muscle(json!({ "mesh": "Plain", "origin": "Upper", "insertion": "Lower" })).import_sound();
    let sound = varied(&asset);
    assert_eq!(check_muscles(&sound, &asset.skeleton), Ok(()));
    let [mesh, bundle, path] = [0, 1, 2].map(|at: usize| sound[at].clone());
    let far = |mut points: Vec<PathPoint>, joint| {
        points[1].joint = joint;
        points
    };
    let MuscleShape::Path(points) = path.shape.clone() else { panic!("a path") };
    let wrong = [
        (MuscleSpec::default(), "name"),
        (MuscleSpec { name: "empty".into(), ..Default::default() }, "path"),
        (MuscleSpec { shape: MuscleShape::Path(far(points, 99)), ..path.clone() }, "path[1].joint"),
        (MuscleSpec { mesh: None, ..mesh.clone() }, "mesh"),
        (MuscleSpec { origin: sinew::character::MuscleEnd { joint: 99, place: None }, ..bundle.clone() }, "origin"),
        (MuscleSpec { shape: MuscleShape::Bundle(Bundle::default()), ..bundle.clone() }, "bundle.fibres"),
        (MuscleSpec { passive: f64::NAN, ..path.clone() }, "passive"),
        (MuscleSpec { shortening: f64::INFINITY, ..mesh.clone() }, "shortening"),
    ];
    for (spec, key) in wrong {
        let error = check_muscles(&[spec], &asset.skeleton).unwrap_err();
        println!("{error}");
        assert_eq!(error.key(), Some(key), "{error}");
    }
    asset.muscles = vec![bundle.clone(), bundle];
    let error = check_muscles(&asset.muscles, &asset.skeleton).unwrap_err();
    assert!(matches!(error, MuscleError::Duplicate { .. }), "{error}");
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

#[test]
fn the_readme_tells_every_key_of_the_schema_and_its_json_is_sound() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let schema: Value =
        serde_json::from_slice(&std::fs::read(root.join("assets/muscles.schema.json")).unwrap()).unwrap();
    let table: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `")).collect();
    let keys = schema["$defs"]["muscle"]["properties"].as_object().unwrap();
    println!("{} keys", keys.len());
    assert!(keys.len() > 20);
    for key in keys.keys() {
        assert!(table.iter().any(|line| line.contains(&format!("`{key}`"))), "README.md's table lacks {key}");
    }
    let listing = readme.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let listed = Sidecar::from_slice("README.md", listing.as_bytes()).unwrap();
    let mut builder = character();
    builder.json["nodes"][1]["name"] = json!("upper_arm");
    builder.json["nodes"][2]["name"] = json!("forearm");
    builder.json["nodes"][7]["name"] = json!("Triceps");
    let quoted = |start: &str| {
        let from = readme.find(start).unwrap_or_else(|| panic!("README.md lacks {start}"));
        readme[from..].split('`').next().unwrap().to_string()
    };
    builder.json["nodes"][6]["extras"] = json!({ "sinew.muscle": quoted("{\"origin\": \"upper_arm\"") });
    builder.json["nodes"][3]["name"] = json!("biceps");
    builder.json["nodes"][3]["extras"] = json!({ "sinew.muscle": quoted("{\"radius\": 0.02, \"path\"") });
    let asset = import_beside(&builder, listed).unwrap();
    let names: Vec<&str> = asset.muscles.iter().map(|muscle| muscle.name.as_str()).collect();
    assert_eq!(names, ["biceps", "Muscle", "triceps"]);
    assert_eq!(asset.muscles[0].thickness, Some(Thickness::PeakForce(600.0)));
    assert!(!asset.warnings.iter().any(|warning| warning.0.contains("unknown")), "{:?}", asset.warnings);
}
