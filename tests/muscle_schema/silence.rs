//! What an author meant and wrote elsewhere, or otherwise, is said with the object and the fix.

use serde_json::{Value, json};
use sinew::character::{Character, CharacterAsset, FleshOptions, MuscleError, MuscleShape, Sidecar};

use super::builder::{Builder, assert_warns, tetrahedron};
use super::{but, character, error_of, path, with_extras, with_muscle};

fn warnings(asset: &CharacterAsset) -> Vec<&str> {
    asset.warnings.iter().map(|warning| warning.0.as_str()).collect()
}

/// Flesh with what was warned of on the way.
fn flesh(builder: &Builder) -> Character {
    Character::from_asset(builder.import_sound(), &FleshOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn warns(character: &Character, parts: &[&str]) {
    assert_warns(character.asset(), parts);
}

#[test]
fn a_muscle_on_a_mesh_s_data_is_told_where_it_belongs() {
    let muscle = json!({ "sinew.muscle": "{\"origin\": \"Upper\", \"insertion\": \"Lower\"}" });
    let mut builder = character();
    builder.json["meshes"][0]["extras"] = muscle.clone();
    let asset = builder.import_sound();
    println!("{:?}", warnings(&asset));
    assert_eq!(asset.muscles, []);
    assert_warns(&asset, &["mesh 0 \"Body\"", "sinew.muscle", "node 6 \"Muscle\"", "Object Properties"]);
    // With a wrong name as well, both are said.
    let mut builder = character();
    builder.json["meshes"][0]["extras"] = json!({ "Sinew.Muscle": 1 });
    assert_warns(&builder.import_sound(), &["mesh 0 \"Body\"", "Sinew.Muscle", "as sinew.muscle"]);
    for (list, object) in [("scenes", "scene 0"), ("materials", "material 0"), ("skins", "skin 0")] {
        let mut builder = character();
        if builder.json.get(list).is_none() {
            builder.push(list, if list == "skins" { json!({ "joints": [1] }) } else { json!({}) });
        }
        builder.json[list][0]["extras"] = muscle.clone();
        assert_warns(&builder.import_sound(), &[object, "sinew.muscle", "muscle's object"]);
    }
    // Other properties there are others' business.
    let mut builder = character();
    builder.json["meshes"][0]["extras"] = json!({ "muscle": 1, "sinewy": 2, "targetNames": ["sinew.muscle"] });
    builder.json["scenes"][0]["extras"] = json!(["sinew.muscle"]);
    assert_eq!(warnings(&builder.import_sound()).iter().filter(|text| text.contains("inew")).count(), 0);
}

#[test]
fn a_property_nearly_of_the_right_name_is_told_it() {
    let plain = with_extras(6, json!({ "other": 3 })).import_sound().warnings.len();
    for (written, right) in [
        ("Sinew.muscle", "rename it sinew.muscle"),
        ("sinew_muscle", "rename it sinew.muscle"),
        ("sinew.Muscle", "rename it sinew.muscle"),
        ("SINEW_MUSCLE", "rename it sinew.muscle"),
        ("sinew muscle", "rename it sinew.muscle"),
        ("sinew.muscel", "rename it sinew.muscle"),
        ("Sinew", "rename it sinew"),
        ("sinew_muscle_radius", "rename it sinew.muscle.radius"),
    ] {
        let asset =
            with_extras(6, json!({ written: "{\"origin\": \"Upper\", \"insertion\": \"Lower\"}" })).import_sound();
        assert_eq!((asset.muscles.len(), asset.warnings.len()), (0, plain + 1), "{written}: {:?}", warnings(&asset));
        assert_warns(&asset, &["node 6 \"Muscle\"", written, right]);
    }
    // Beside the right one it is said too.
    let both = json!({ "sinew.muscle": but("taper", json!(1)), "sinew_muscle": 3 });
    let asset = with_extras(6, both).import_sound();
    assert_eq!(asset.muscles.len(), 1);
    assert_warns(&asset, &["sinew_muscle", "rename it sinew.muscle"]);
    for other in ["sinewy", "muscle", "mass", "muscle_group"] {
        assert_eq!(with_extras(6, json!({ other: 3 })).import_sound().warnings.len(), plain, "{other}");
    }
}

#[test]
fn an_attribute_nearly_of_the_right_name_is_told_it() {
    let marked = |attribute: &str| {
        let mut builder = with_extras(6, json!({ "sinew.muscle": { "origin": "Upper", "insertion": "Lower" } }));
        let marks = builder.floats("SCALAR", 1, &[-1.0, 0.0, 0.0, 1.0]);
        builder.json["meshes"][0]["primitives"][0]["attributes"][attribute] = json!(marks);
        builder.import_sound()
    };
    for wrong in ["SINEW_ENDS", "sinew_ends", "_SINEW_END", "_SINEWENDS"] {
        assert_warns(&marked(wrong), &["mesh 0 \"Body\"", wrong, "rename it _SINEW_ENDS"]);
    }
    // Exporters write it so; Blender 3.4 adds an underscore of its own.
    for right in ["_SINEW_ENDS", "_sinew_ends", "__SINEW_ENDS"] {
        let asset = marked(right);
        assert!(!warnings(&asset).iter().any(|text| text.contains("attribute")), "{:?}", warnings(&asset));
        let mesh = asset.muscles[0].mesh.as_ref().unwrap();
        assert_eq!((&mesh.sources[..], &mesh.sinks[..]), (&[0][..], &[3][..]), "{right}");
    }
}

#[test]
fn a_file_without_properties_and_an_object_named_like_a_muscle_is_told_of_the_export() {
    let named = |name: &str, extras: Value| {
        let mut builder = character();
        builder.json["nodes"][6]["name"] = json!(name);
        builder.json["nodes"][7]["extras"] = extras;
        builder.import_sound()
    };
    for name in ["Biceps.L", "left_TRICEPS", "Rectus femoris", "muscle_03"] {
        assert_warns(&named(name, json!({})), &["node 6", name, "Include › Data › Custom Properties"]);
    }
    let quiet = |asset: &CharacterAsset| !warnings(asset).iter().any(|text| text.contains("Custom Properties"));
    // `Muscle` and `Plain` in a file whose properties came along, and a file of other names.
    assert!(quiet(&named("Biceps", json!({ "mass": 3 }))) && quiet(&named("Shirt", json!({}))));
    // A sidecar may be all that the author wants.
    let beside =
        json!({ "version": 1, "muscles": { "b": { "mesh": "Biceps", "origin": "Upper", "insertion": "Lower" } } });
    let mut builder = character();
    builder.json["nodes"][6]["name"] = json!("Biceps");
    assert!(quiet(&super::import_beside(&builder, super::sidecar(&beside)).unwrap()));
    // Marked ends are a muscle's, whatever its name; bones and characters of such names are none.
    let mut builder = character();
    builder.json["nodes"][6]["name"] = json!("Mesh.003");
    let marks = builder.floats("SCALAR", 1, &[-1.0, 0.0, 0.0, 1.0]);
    builder.json["meshes"][0]["primitives"][0]["attributes"]["_SINEW_ENDS"] = json!(marks);
    assert_warns(&builder.import_sound(), &["Mesh.003", "Custom Properties"]);
    let mut builder = character();
    builder.json["nodes"][6]["name"] = json!("Shirt");
    builder.json["nodes"][3]["name"] = json!("biceps_helper");
    builder.push("skins", json!({ "joints": [1, 2, 3] }));
    assert!(quiet(&builder.import_sound()));
}

#[test]
fn slips_in_json_are_told_the_fix() {
    for (text, part) in [
        ("{'origin': 'Upper', 'insertion': 'Lower'}", "use double quotes"),
        ("{“origin”: “Upper”, “insertion”: “Lower”}", "use double quotes"),
        ("{\"origin\": \"Upper\", \"insertion\": \"Lower\",}", "trailing comma"),
        ("{\"origin\": \"Upper\", \"insertion\": \"Lower\", \"rigid\": True}", "write true, false and null"),
    ] {
        for extras in [json!({ "sinew.muscle": text }), json!({ "sinew": format!("{{\"muscle\": {text}}}") })] {
            let (_, error) = error_of(with_extras(6, extras).import());
            println!("{error}");
            assert!(matches!(error, MuscleError::Json { .. }) && error.to_string().contains("node 6 \"Muscle\""));
            assert!(error.to_string().contains(part), "{error} lacks {part:?}");
        }
        let beside = format!("{{\"version\": 1, \"muscles\": {{\"biceps\": {text}}}}}");
        let error = Sidecar::from_slice("hero.muscles.json", beside.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(part), "{error} lacks {part:?}");
    }
    let (_, error) = error_of(with_extras(6, json!({ "sinew.muscle.path": "[{'joint': 'Upper'}]" })).import());
    assert!(error.to_string().contains("use double quotes"), "{error}");
    // Quotes within quotes are sound.
    let muscle = json!({ "name": "Bob’s 'left', ", "origin": "Upper", "insertion": "Lower" });
    assert_eq!(with_extras(6, json!({ "sinew.muscle": muscle.to_string() })).import_sound().muscles.len(), 1);
}

/// Two rigs with equal names of joints: the second is 5 m beside the first. Node 10 is an object without a parent.
fn two_rigs() -> Builder {
    let mut builder = tetrahedron();
    for (at, x) in [(0, 0.0), (4, 5.0)] {
        builder.push("nodes", json!({ "name": "Rig", "translation": [x, 0, 0], "children": [at + 1, at + 3] }));
        builder.push("nodes", json!({ "name": "Upper", "translation": [0, 1, 0], "children": [at + 2] }));
        builder.push("nodes", json!({ "name": "Lower", "translation": [0, 0.3, 0] }));
        builder.push("nodes", json!({ "name": "Object" }));
        builder.push("skins", json!({ "joints": [at + 1, at + 2] }));
    }
    builder.push("nodes", json!({ "name": "Worn" }));
    builder.json["nodes"][6]["children"] = json!([9]);
    builder.push("nodes", json!({ "name": "Held" }));
    builder.push("nodes", json!({ "name": "Alone" }));
    builder.json["scenes"] = json!([{ "nodes": [0, 4, 8, 10] }]);
    builder
}

#[test]
fn a_muscle_s_own_armature_says_which_joint_of_a_name_is_meant() {
    let on = |node: usize| {
        let mut builder = two_rigs();
        builder.json["nodes"][node]["extras"] = json!({ "sinew.muscle": { "path": path(), "radius": 0.02 } });
        builder
    };
    let side = |asset: &CharacterAsset| {
        let mut model = Vec::new();
        asset.skeleton.model_matrices(&asset.skeleton.rest_pose(), &mut model);
        let MuscleShape::Path(points) = &asset.muscles[0].shape else { panic!("a path") };
        points.iter().map(|point| model[point.joint as usize].translation.x).collect::<Vec<f32>>()
    };
    // Children of the armatures, a child of the second one's bone, and the bone itself.
    for (node, x) in [(3, 0.0), (7, 5.0), (9, 5.0), (1, 0.0), (6, 5.0)] {
        assert_eq!(side(&on(node).import_sound()), [x, x], "node {node}");
    }
    // A surface that the second armature's skin moves.
    let mut worn = on(8);
    let slots = worn.accessor(&[0, 1, 0, 0].repeat(4), 5121, "VEC4", 4);
    let weights = worn.floats("VEC4", 4, &[0.75, 0.25, 0.0, 0.0].repeat(4));
    let attributes = &mut worn.json["meshes"][0]["primitives"][0]["attributes"];
    (attributes["JOINTS_0"], attributes["WEIGHTS_0"]) = (json!(slots), json!(weights));
    (worn.json["nodes"][8]["mesh"], worn.json["nodes"][8]["skin"]) = (json!(0), json!(1));
    assert_eq!(side(&worn.import_sound()), [5.0, 5.0]);
    // Nothing tells what an object of neither means.
    let (_, error) = error_of(on(10).import());
    println!("{error}");
    assert!(matches!(error, MuscleError::AmbiguousJoint { .. }) && error.to_string().contains("/Rig/Upper"));
    // An object of a bone's name is not the bone.
    let mut builder = on(3);
    builder.json["nodes"][10]["name"] = json!("Upper");
    builder.json["nodes"][7]["name"] = json!("Lower");
    assert_eq!(side(&builder.import_sound()), [0.0, 0.0]);
}

#[test]
fn a_muscle_farther_off_than_the_character_is_large_is_left_out() {
    let centimetres = json!({ "radius": 2, "path": [
        { "joint": "Upper", "place": [0, 5, -3] }, { "joint": "Lower", "place": [0, 4, -1] },
    ] });
    let mut builder = with_muscle(centimetres);
    builder.json["nodes"][6]["extras"] = json!({ "sinew.muscle": { "name": "sound", "path": path(), "radius": 0.02 } });
    let character = flesh(&builder);
    println!("{:?}", warnings(character.asset()));
    let names: Vec<&str> = character.asset().muscles.iter().map(|muscle| muscle.name.as_str()).collect();
    assert_eq!(names, ["sound"]);
    let chains = character.body().flesh.chains();
    assert!(chains.iter().all(|chain| chain.name != "biceps") && chains.iter().any(|chain| chain.name == "sound"));
    assert_eq!(character.authored_muscles().len(), 1);
    warns(&character, &["muscle \"biceps\" is left out", "\"Upper\"", "divide", "100"]);

    // As thick as the character is large.
    let character = flesh(&with_muscle(json!({ "radius": 9, "path": path() })));
    warns(&character, &["muscle \"biceps\" is left out", "radius", "metres"]);
    assert_eq!(character.asset().muscles.len(), 0);

    // A mesh far away is not even viperized.
    let mut builder = with_extras(6, json!({ "sinew.muscle": { "origin": "Upper", "insertion": "Lower" } }));
    builder.json["nodes"][6]["translation"] = json!([0, 0, 50]);
    let character = flesh(&builder);
    warns(&character, &["muscle \"Muscle\" is left out", "its mesh", "apply its scale"]);
}

#[test]
fn a_muscle_far_from_its_bones_is_warned_of() {
    // The figure of tetrahedra is 3 m large, a quarter of that is far.
    let at = |z: f64| {
        let point = |joint: &str| json!({ "joint": joint, "place": [0, 0.1, z] });
        flesh(&with_muscle(json!({ "radius": 0.02, "path": [point("Upper"), point("Lower")] })))
    };
    let near = at(0.5);
    assert!(!warnings(near.asset()).iter().any(|text| text.contains("from the bone")));
    let far = at(1.0);
    println!("{:?}", warnings(far.asset()));
    warns(&far, &["muscle \"biceps\"", "its origin is 1.00 m from the bone of \"Upper\"", "move it there"]);
    // Each end 0.6 m beyond the other's bone, and 0.9 m from its own.
    let point = |joint: &str, y: f64| json!({ "joint": joint, "place": [0, y, 0.1] });
    let swapped = flesh(&with_muscle(json!({ "radius": 0.02, "path": [point("Upper", 1.2), point("Lower", -0.9)] })));
    println!("{:?}", warnings(swapped.asset()));
    assert!(!warnings(swapped.asset()).iter().any(|text| text.contains("_SINEW_ENDS")), "a path has no ends to mark");
    warns(&swapped, &["muscle \"biceps\"", "origin and insertion", "seem to be swapped"]);
    warns(&far, &["muscle \"biceps\"", "its insertion is", "\"Lower\""]);
    assert_eq!(far.asset().muscles.len(), 1);
    let ends = far.authored_muscles()[0].ends;
    assert!((ends[0].from_bone - 1.0).abs() < 1e-6 && ends[0].place.distance(glam::DVec3::new(0.0, 0.1, 1.0)) < 1e-6);
    assert!(ends[1].model_place.distance(glam::DVec3::new(0.0, 1.7, 1.0)) < 1e-6);
}
