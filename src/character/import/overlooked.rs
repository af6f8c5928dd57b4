//! What an author meant for a muscle and wrote where nothing reads it: each a warning with the object and the fix.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use gltf::json::Extras;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::context::{Context, shorten};
use super::node_mesh::same_attribute;
use super::spelling;
use crate::character::muscles::ENDS_ATTRIBUTE;

/// Most names in one warning.
const MAX_NAMED: usize = 4;

/// Words by which muscles go.
const MUSCLE_WORDS: [&str; 19] = [
    "bicep",
    "tricep",
    "deltoid",
    "brachialis",
    "brachioradialis",
    "pectoral",
    "trapezius",
    "latissimus",
    "gluteus",
    "quadricep",
    "gastrocnemius",
    "soleus",
    "hamstring",
    "femoris",
    "vastus",
    "sartorius",
    "tibialis",
    "masseter",
    "muscle",
];

/// Warns of muscles that nothing reads; `json` is the file's JSON, `found` whether it or its sidecar has any muscle.
pub(super) fn warn(context: &Context, json: &[u8], found: bool) {
    misplaced(context);
    let marked = attributes(context, json);
    if !found {
        without_properties(context, &marked);
    }
}

/// Properties of a muscle on what is no node.
fn misplaced(context: &Context) {
    let document = context.document;
    let warn = |object: String, extras: &Extras, fix: &dyn Fn() -> String| {
        for property in extras.iter().flat_map(|extras| keys(extras.get())) {
            let meant = match spelling::meant(&property) {
                Some(meant) => meant,
                None if property == "sinew" || property.starts_with("sinew.") => property.clone(),
                None => continue,
            };
            let renamed = if meant == property { String::new() } else { format!(", as {meant}") };
            let property = shorten(&property);
            context.warn(format!("{object}, extras: {property} is not read there; {}{renamed}", fix()));
        }
    };
    for (index, mesh) in document.meshes.iter().enumerate() {
        let users = || {
            let uses = |node: &usize| document.nodes[*node].mesh.is_some_and(|mesh| mesh.value() == index);
            let mut names = (0..document.nodes.len()).filter(uses).map(|node| context.node_name(node));
            names.next().unwrap_or_else(|| "its object".into())
        };
        let fix = || {
            let place = "Blender: Object Properties › Custom Properties, not those of Object Data";
            format!("put it on the object {} ({place})", users())
        };
        warn(context.mesh_name(index), &mesh.extras, &fix);
    }
    let plain = || "put it on the muscle's object".to_string();
    for (index, skin) in document.skins.iter().enumerate() {
        warn(context.skin_name(index), &skin.extras, &plain);
    }
    for (index, scene) in document.scenes.iter().enumerate() {
        warn(format!("scene {index}"), &scene.extras, &plain);
    }
    for (index, material) in document.materials.iter().enumerate() {
        warn(super::context::named("material", index, material.name.as_deref()), &material.extras, &plain);
    }
}

/// Warns of attributes that are nearly the one of a muscle's ends; gives back the meshes that have either.
fn attributes(context: &Context, json: &[u8]) -> HashSet<usize> {
    #[derive(Deserialize)]
    struct Meshes {
        #[serde(default)]
        meshes: Vec<Mesh>,
    }
    #[derive(Deserialize)]
    struct Mesh {
        #[serde(default)]
        primitives: Vec<Primitive>,
    }
    #[derive(Deserialize)]
    struct Primitive {
        #[serde(default)]
        attributes: BTreeMap<String, IgnoredAny>,
    }
    // The typed document keeps no attribute whose name glTF forbids.
    if !json.windows(5).any(|word| word.eq_ignore_ascii_case(b"sinew")) {
        return HashSet::new();
    }
    let Ok(Meshes { meshes }) = serde_json::from_slice(json) else { return HashSet::new() };
    let mut marked = HashSet::new();
    for (index, mesh) in meshes.iter().enumerate() {
        let names: HashSet<&str> =
            mesh.primitives.iter().flat_map(|primitive| primitive.attributes.keys()).map(String::as_str).collect();
        let mut wrong: Vec<(&str, &str)> =
            names.iter().filter_map(|name| Some((*name, spelling::meant_ends(name)?))).collect();
        wrong.sort_unstable();
        if !wrong.is_empty() || names.iter().any(|name| same_attribute(name, ENDS_ATTRIBUTE)) {
            marked.insert(index);
        }
        for (name, right) in wrong {
            let (mesh, name) = (context.mesh_name(index), shorten(name));
            context.warn(format!("{mesh}: the attribute {name} does not mark a muscle's ends; rename it {right}"));
        }
    }
    marked
}

/// Warns of objects named like muscles, or marked as those, in a file without any property.
fn without_properties(context: &Context, marked: &HashSet<usize>) {
    let document = context.document;
    let is_empty = |extras: &Extras| extras.as_ref().is_none_or(|extras| keys(extras.get()).is_empty());
    let none = document.nodes.iter().all(|node| is_empty(&node.extras))
        && document.meshes.iter().all(|mesh| is_empty(&mesh.extras))
        && document.materials.iter().all(|material| is_empty(&material.extras))
        && document.scenes.iter().all(|scene| is_empty(&scene.extras));
    if !none {
        return;
    }
    let bones: HashSet<usize> =
        document.skins.iter().flat_map(|skin| &skin.joints).map(|joint| joint.value()).collect();
    let named = |&node: &usize| {
        let source = &document.nodes[node];
        let name = source.name.as_deref().map(shorten).unwrap_or_default().to_lowercase();
        let objects = source.mesh.is_some() || source.children.as_ref().is_none_or(Vec::is_empty);
        // A skinned MuscleMan is a character.
        let like = |word: &str| name.contains(word) && (source.skin.is_none() || word != "muscle");
        let marked = source.mesh.is_some_and(|mesh| marked.contains(&mesh.value()));
        marked || objects && !bones.contains(&node) && MUSCLE_WORDS.iter().any(|word| like(word))
    };
    let nodes: Vec<usize> = (0..document.nodes.len()).filter(named).collect();
    if nodes.is_empty() {
        return;
    }
    let names: Vec<String> = nodes.iter().take(MAX_NAMED).map(|&node| context.node_name(node)).collect();
    let more = nodes.len() - names.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    context.warn(format!(
        "{}{more}: like a muscle by its name or its marked ends, but nothing in the file has custom properties, so there is no muscle; in \
         Blender give the object the property sinew.muscle, and tick Include › Data › Custom Properties in the export",
        names.join(", ")
    ));
}

/// The keys of an object in JSON; of anything else none.
fn keys(text: &str) -> Vec<String> {
    struct Keys;
    impl<'de> Visitor<'de> for Keys {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("custom properties")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
            let mut keys = Vec::new();
            while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                keys.push(key);
            }
            Ok(keys)
        }
    }
    // What is not an object has no keys, and other text is not JSON.
    serde_json::Deserializer::from_str(text).deserialize_map(Keys).unwrap_or_default()
}
