//! Muscles whose surface is a mesh of the file.

use serde_json::{Value, json};
use sinew::character::{Character, FleshOptions, MeshEnds, MuscleError, MuscleShape};

use super::{but, character, error_of, path, with_extras, with_muscle};

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
fn a_skinned_surface_is_plain_skin_and_says_so() {
    let muscle = json!({ "sinew.muscle": { "path": path(), "radius": 0.02 } });
    let warnings = |builder: &super::Builder| -> Vec<String> {
        let character = Character::from_asset(builder.import_sound(), &FleshOptions::default());
        let character = character.unwrap_or_else(|error| panic!("{error}"));
        let of_surface = |text: &&String| text.contains("plain skin");
        character.warnings().iter().map(|warning| &warning.0).filter(of_surface).cloned().collect()
    };
    let mut builder = with_extras(6, muscle);
    assert_eq!(warnings(&builder), Vec::<String>::new());

    let slots = builder.accessor(&[0, 1, 0, 0].repeat(4), 5121, "VEC4", 4);
    let weights = builder.floats("VEC4", 4, &[0.75, 0.25, 0.0, 0.0].repeat(4));
    let attributes = &mut builder.json["meshes"][0]["primitives"][0]["attributes"];
    (attributes["JOINTS_0"], attributes["WEIGHTS_0"]) = (json!(slots), json!(weights));
    builder.push("skins", json!({ "joints": [1, 2] }));
    builder.json["nodes"][6]["skin"] = json!(0);
    let said = warnings(&builder);
    println!("{said:?}");
    assert_eq!(said.len(), 1);
    for part in ["muscle \"Muscle\"", "skinned", "parent it to a bone"] {
        assert!(said[0].contains(part), "{said:?} lacks {part:?}");
    }

    // A joint of no size cannot carry the surface, but another one can.
    let mut builder = with_extras(6, json!({ "sinew.muscle": { "path": path(), "radius": 0.02 } }));
    builder.json["nodes"][2]["scale"] = json!([0, 0, 0]);
    let said = warnings(&builder);
    println!("{said:?}");
    assert!(said.len() == 1 && said[0].contains("no size"), "{said:?}");
}
