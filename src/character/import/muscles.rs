//! Muscles of a file: finds their objects on nodes, puts the sidecar's keys over them, and ties them to meshes.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::ImportError;
use super::context::{Context, shorten};
use super::nodes::Graph;
use crate::character::muscles::object::MuscleObject;
use crate::character::muscles::schema::{self, Object};
use crate::character::muscles::{
    ENDS_ATTRIBUTE, JointNames, MeshEnds, MuscleError, MuscleMesh, MuscleShape, MuscleSpec, SIZES, Sidecar, Thickness,
    check_sizes,
};

/// Name of the extension.
const EXTENSION: &str = "SINEW_muscle";

/// A muscle before meshes are read.
pub(super) struct Plan<'a> {
    name: String,
    object: MuscleObject,
    /// The node whose mesh is its surface.
    mesh_node: Option<usize>,
    origin: Origin<'a>,
}

/// Where a muscle's keys come from.
struct Origin<'a> {
    file: &'a str,
    sidecar: Option<&'a Sidecar>,
}

impl Origin<'_> {
    /// The error with the file that says the key at fault.
    fn fail(&self, source: MuscleError) -> ImportError {
        let key = source.key().and_then(|key| key.split(['.', '[']).next());
        let said = |sidecar: &&Sidecar| {
            let muscle = source.muscle().and_then(|muscle| {
                sidecar.muscles.iter().find(|(name, _)| shorten(name) == muscle).map(|(_, object)| object)
            });
            key.zip(muscle).is_some_and(|(key, object)| object.contains_key(key))
        };
        let file = self.sidecar.filter(said).map_or(self.file, |sidecar| &sidecar.label).into();
        ImportError::Muscle { file, source: Box::new(source) }
    }
}

/// A muscle's object as a node says it.
struct Found {
    name: String,
    node: usize,
    object: Object,
}

/// The muscles of nodes and sidecar, with all keys read.
pub(super) fn plan<'a>(
    context: &Context<'a>,
    graph: &Graph,
    sidecar: Option<&'a Sidecar>,
) -> Result<Vec<Plan<'a>>, ImportError> {
    let plain = |source| ImportError::Muscle { file: context.file.into(), source: Box::new(source) };
    let mut found: Vec<Found> = Vec::new();
    let mut by_name: HashMap<String, usize> = HashMap::new();
    for node in 0..context.document.nodes.len() {
        let Some(muscle) = on_node(context, node)? else { continue };
        schema::check_alternatives(&muscle.object, &muscle.name).map_err(plain)?;
        if let Some(&other) = by_name.get(&muscle.name) {
            let places = format!("{} and {}", context.node_name(found[other].node), context.node_name(node));
            return Err(plain(MuscleError::Duplicate { muscle: shorten(&muscle.name).into(), places }));
        }
        by_name.insert(muscle.name.clone(), found.len());
        found.push(muscle);
    }
    let mut drafts: Vec<(String, Option<usize>, Object)> =
        found.into_iter().map(|Found { name, node, object }| (name, Some(node), object)).collect();
    if let Some(sidecar) = sidecar {
        sidecar.warnings.iter().for_each(|warning| context.warn(warning.clone()));
        for (name, later) in &sidecar.muscles {
            match by_name.get(name) {
                Some(&at) => schema::replace_keys(&mut drafts[at].2, later),
                None => drafts.push((name.clone(), None, later.clone())),
            }
        }
    }
    context.budget.spend(drafts.len(), size_of::<MuscleSpec>() + size_of::<Plan>(), || "its muscles".into())?;
    if drafts.is_empty() {
        return Ok(Vec::new());
    }
    let names = JointNames::new(&graph.skeleton);
    let mut node_of = vec![0; graph.joint_of.len()];
    for (node, &joint) in graph.joint_of.iter().enumerate() {
        node_of[joint as usize] = node;
    }
    let mut owner: HashMap<usize, String> = HashMap::new();
    let mut plans = Vec::with_capacity(drafts.len());
    for (name, node, object) in drafts {
        let origin = Origin { file: context.file, sidecar };
        let object = schema::read(&object, &name, &mut |text| context.warn(text)).map_err(|e| origin.fail(e))?;
        let named = match &object.mesh {
            Some(mesh) => Some(names.find(mesh, &name, "mesh").map_err(|error| origin.fail(error))?),
            None => None,
        };
        let has_mesh = |node: &usize| context.document.nodes[*node].mesh.is_some();
        let mesh_node = named.map(|joint| node_of[joint as usize]).or(node).filter(has_mesh);
        let problem = match mesh_node.map(|node| (node, owner.insert(node, name.clone()))) {
            None if named.is_some() => Some("is a node without a mesh; name one that has a mesh".to_string()),
            Some((node, Some(other))) => Some(format!(
                "{} has the mesh of muscle {:?} already; give each muscle a node with a mesh of its own",
                context.node_name(node),
                shorten(&other)
            )),
            _ => None,
        };
        if let Some(problem) = problem {
            let (muscle, key) = (shorten(&name).into(), "mesh".into());
            return Err(origin.fail(MuscleError::Mesh { muscle, key, problem }));
        }
        plans.push(Plan { name, object, mesh_node, origin });
    }
    Ok(plans)
}

fn on_node(context: &Context, node: usize) -> Result<Option<Found>, ImportError> {
    let fail = |source| ImportError::Muscle { file: context.file.into(), source: Box::new(source) };
    let place = |property: &str| format!("{}, {property}", context.node_name(node));
    let source = &context.document.nodes[node];
    let extras = match &source.extras {
        Some(extras) => {
            let text = extras.get();
            if text.contains("sinew") {
                // What a parsed value takes, at the most.
                context.budget.spend(text.len(), size_of::<Value>(), || place("extras"))?;
                from_extras(text, &place("extras"), context).map_err(fail)?
            } else {
                None
            }
        }
        None => None,
    };
    let extension = match source.extensions.as_ref().and_then(|extensions| extensions.others.get(EXTENSION)) {
        Some(value) => {
            if extras.is_some() {
                let node = context.node_name(node);
                context.warn(format!("{node} has a muscle in extras and as {EXTENSION}; the extension is read"));
            }
            Some(to_object(value.clone(), &place(EXTENSION)).map_err(fail)?)
        }
        None => None,
    };
    let Some(mut object) = extension.or(extras) else { return Ok(None) };
    schema::check_version(object.remove("version").as_ref(), &place("its muscle")).map_err(fail)?;
    let own = || source.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("node {node}"));
    let name = match object.remove("name") {
        None | Some(Value::Null) => own(),
        Some(Value::String(name)) if !name.is_empty() => name,
        Some(other) => {
            let problem = format!("is {}", shorten(&other.to_string()));
            let (muscle, expected) = (shorten(&own()).into(), "a name in quotes".into());
            return Err(fail(MuscleError::Type { muscle, key: "name".into(), problem, expected }));
        }
    };
    Ok(Some(Found { name, node, object }))
}

/// The muscle in a node's extras: `sinew: {muscle: {…}}`, `"sinew.muscle": {…}`, or `"sinew.muscle.KEY": …`, one custom
/// property each. Objects may be texts that hold JSON.
fn from_extras(text: &str, place: &str, context: &Context) -> Result<Option<Object>, MuscleError> {
    let problem = |error: serde_json::Error| json(place, format!("is not sound JSON: {error}"));
    let mut reader = serde_json::Deserializer::from_str(text);
    let mut properties = reader.deserialize_any(Properties).map_err(problem)?;
    let mut object: Option<Object> = None;
    if let Some(sinew) = properties.remove("sinew") {
        let mut sinew = to_object(sinew, &format!("{place}.sinew"))?;
        schema::check_version(sinew.remove("version").as_ref(), &format!("{place}.sinew"))?;
        if let Some(muscle) = sinew.remove("muscle") {
            object = Some(to_object(muscle, &format!("{place}.sinew.muscle"))?);
        }
        for key in sinew.keys().take(16) {
            context.warn(format!("{place}.sinew: the key {} is unknown and left out; known is muscle", shorten(key)));
        }
    }
    if let Some(muscle) = properties.remove("sinew.muscle") {
        if object.is_some() {
            context.warn(format!("{place}: sinew and sinew.muscle both say a muscle; sinew.muscle is read"));
        }
        object = Some(to_object(muscle, &format!("{place}.sinew.muscle"))?);
    }
    for (property, value) in properties {
        let Some(key) = property.strip_prefix("sinew.muscle.") else {
            let property = shorten(&property);
            context.warn(format!("{place}: the property {property} is unknown and left out; known is sinew.muscle"));
            continue;
        };
        let value = match value {
            // A text property is the only one that can hold a list of objects.
            Value::String(text) if text.trim_start().starts_with(['[', '{']) => serde_json::from_str(&text)
                .map_err(|error| json(&format!("{place}.{}", shorten(&property)), format!("is not JSON: {error}")))?,
            value => value,
        };
        object.get_or_insert_default().insert(key.into(), value);
    }
    Ok(object)
}

fn json(place: &str, problem: String) -> MuscleError {
    let fix = "write {\"muscle\": {…}} as property sinew, or {…} as property sinew.muscle";
    MuscleError::Json { place: place.into(), problem, fix }
}

fn to_object(value: Value, place: &str) -> Result<Object, MuscleError> {
    let value = match value {
        Value::String(text) => {
            serde_json::from_str(&text).map_err(|error| json(place, format!("is text that is not JSON: {error}")))?
        }
        value => value,
    };
    match value {
        Value::Object(object) => Ok(object),
        other => Err(json(place, format!("is {} instead of an object", shorten(&other.to_string())))),
    }
}

/// Keeps the properties of a node that begin with `sinew`; extras that are no object have none.
struct Properties;

impl<'de> Visitor<'de> for Properties {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("custom properties")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut kept = Object::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == "sinew" || key.starts_with("sinew.") {
                kept.insert(key, map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(kept)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Object, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Object::new())
    }

    fn visit_str<E>(self, _: &str) -> Result<Object, E> {
        Ok(Object::new())
    }
}

/// What a muscle wants to know of its node's mesh.
pub(super) struct NodeMesh {
    /// Name of the vertex attribute that marks its ends.
    pub attribute: String,
    /// Its vertices in the character's mesh.
    vertices: Range<u32>,
    /// Its triangles in the character's mesh.
    triangles: Range<u32>,
    /// For each of the vertices its number in the file, primitives one after another; rising.
    file_vertices: Vec<u32>,
    /// How many the file has.
    file_count: usize,
    /// The attribute's value per vertex; empty where no primitive has it.
    ends: Vec<f32>,
}

/// One primitive of a node, as it is about to be appended to the character's mesh.
pub(super) struct Appended<'a> {
    /// The vertex and the triangle that it starts with.
    pub first: [usize; 2],
    pub triangle_count: usize,
    /// Which of the primitive's vertices in the file are used, rising.
    pub used: &'a [u32],
    /// How many vertices the primitive has in the file.
    pub file_count: usize,
    /// The ends attribute per used vertex.
    pub ends: Option<Vec<f32>>,
}

impl NodeMesh {
    pub fn append(&mut self, part: Appended) {
        let [vertex, triangle] = part.first.map(|first| first as u32);
        if self.vertices.is_empty() {
            (self.vertices, self.triangles) = (vertex..vertex, triangle..triangle);
        }
        self.vertices.end = vertex + part.used.len() as u32;
        self.triangles.end = triangle + part.triangle_count as u32;
        let before = self.file_vertices.len();
        self.file_vertices.extend(part.used.iter().map(|&used| used.saturating_add(self.file_count as u32)));
        self.file_count += part.file_count;
        if let Some(ends) = part.ends {
            self.ends.resize(before, 0.0);
            self.ends.extend(ends);
        } else if !self.ends.is_empty() {
            self.ends.resize(self.file_vertices.len(), 0.0);
        }
    }
}

/// The nodes whose meshes are muscles'.
pub(super) fn node_meshes(plans: &[Plan]) -> HashMap<usize, NodeMesh> {
    let wanted = |plan: &Plan| {
        let mesh = NodeMesh {
            attribute: plan.object.ends_attribute.clone().unwrap_or_else(|| ENDS_ATTRIBUTE.into()),
            vertices: 0..0,
            triangles: 0..0,
            file_vertices: Vec::new(),
            file_count: 0,
            ends: Vec::new(),
        };
        Some((plan.mesh_node?, mesh))
    };
    plans.iter().filter_map(wanted).collect()
}

/// Whether a vertex attribute, without its leading underscore, is the one of a name. Exporters change the case, and
/// some add an underscore of their own.
pub(super) fn same_attribute(attribute: &str, name: &str) -> bool {
    attribute.trim_start_matches('_').eq_ignore_ascii_case(name.trim_start_matches('_'))
}

/// Makes the muscles, now that meshes are read.
pub(super) fn finish(
    context: &Context,
    graph: &Graph,
    plans: Vec<Plan>,
    meshes: &HashMap<usize, NodeMesh>,
) -> Result<Vec<MuscleSpec>, ImportError> {
    let names = JointNames::new(&graph.skeleton);
    let mut muscles = Vec::with_capacity(plans.len());
    for Plan { name, object, mesh_node, origin } in plans {
        let ends = Ends { muscle: &name, object: &object };
        let read = mesh_node.and_then(|node| Some((node, meshes.get(&node)?)));
        let mesh = match read.filter(|(_, mesh)| !mesh.vertices.is_empty()) {
            Some((node, mesh)) => Some(ends.of(mesh, graph.joint_of[node]).map_err(|error| origin.fail(error))?),
            None => {
                ends.none().map_err(|error| origin.fail(error))?;
                None
            }
        };
        let spec = schema::to_spec(object, name, &names, mesh).map_err(|error| origin.fail(error))?;
        let spec = spec.scaled(f64::from(context.meters_per_unit));
        let sizes = if context.meters_per_unit == 1.0 { 1.0 } else { SIZES };
        check_sizes(std::slice::from_ref(&spec), &graph.skeleton, sizes).map_err(|error| origin.fail(error))?;
        let shaped = matches!(spec.shape, MuscleShape::Mesh | MuscleShape::Bundle(_));
        if shaped && matches!(spec.thickness, Some(Thickness::Radius(_) | Thickness::Volume(_))) {
            let muscle = shorten(&spec.name);
            context.warn(format!("muscle {muscle:?}: radius and volume are a path's; its mesh or bundle has its own"));
        }
        muscles.push(spec);
    }
    warn_of_forces(context, &muscles);
    Ok(muscles)
}

/// Warns where a unit other than the metre takes forces along, which their author may have meant as they stand.
fn warn_of_forces(context: &Context, muscles: &[MuscleSpec]) {
    let area = f64::from(context.meters_per_unit).powi(2);
    let forceful = muscles.iter().filter(|muscle| matches!(muscle.thickness, Some(Thickness::PeakForce(_))));
    let named: Vec<String> = forceful.map(|muscle| format!("{:?}", shorten(&muscle.name))).take(8).collect();
    if area != 1.0 && !named.is_empty() {
        context.warn(format!(
            "peak_force of {}{} is taken {area:e} times, with the areas, as meters_per_unit is {}; say it of the \
             character in metres per unit 1, or say radius instead",
            named.join(", "),
            if named.len() == 8 { " and others" } else { "" },
            context.meters_per_unit
        ));
    }
}

/// Finds a muscle mesh's ends.
struct Ends<'a> {
    muscle: &'a str,
    object: &'a MuscleObject,
}

impl Ends<'_> {
    fn fail<T>(&self, key: &str, problem: String) -> Result<T, MuscleError> {
        Err(MuscleError::Mesh { muscle: shorten(self.muscle).into(), key: key.into(), problem })
    }

    /// Fails where keys speak of a mesh that is not there.
    fn none(&self) -> Result<(), MuscleError> {
        let MuscleObject { mesh, sources, sinks, ends_attribute, .. } = self.object;
        let keys = [
            ("mesh", mesh.is_some()),
            ("sources", sources.is_some()),
            ("sinks", sinks.is_some()),
            ("ends_attribute", ends_attribute.is_some()),
        ];
        match keys.iter().find(|(_, said)| *said) {
            Some((key, _)) => self.fail(
                key,
                "no mesh with triangles goes with it in the scene; put the muscle on a node with one, or name the \
                 node as mesh"
                    .into(),
            ),
            None => Ok(()),
        }
    }

    fn of(&self, mesh: &NodeMesh, joint: u32) -> Result<MuscleMesh, MuscleError> {
        let (ends, sources, sinks) = match (&self.object.sources, &self.object.sinks) {
            (Some(sources), Some(sinks)) => {
                if self.object.ends_attribute.is_some() {
                    let (key, other) = ("sources".into(), "ends_attribute".into());
                    let fix = "keep one of them";
                    return Err(MuscleError::Conflict { muscle: shorten(self.muscle).into(), key, other, fix });
                }
                let found = (self.listed("sources", sources, mesh)?, self.listed("sinks", sinks, mesh)?);
                (MeshEnds::Vertices { sources: sources.clone(), sinks: sinks.clone() }, found.0, found.1)
            }
            (None, None) => self.marked(mesh)?,
            (sources, _) => {
                let key = if sources.is_some() { "sinks" } else { "sources" };
                let fix = "sources and sinks go together: give both or neither";
                return Err(MuscleError::Missing { muscle: shorten(self.muscle).into(), key: key.into(), fix });
            }
        };
        let (vertices, triangles) = (mesh.vertices.clone(), mesh.triangles.clone());
        Ok(MuscleMesh { joint, vertices, triangles, ends, sources, sinks })
    }

    /// Vertices by their numbers in the file; those that no triangle uses are not there.
    fn listed(&self, key: &str, list: &[u32], mesh: &NodeMesh) -> Result<Vec<u32>, MuscleError> {
        if let Some((at, vertex)) = list.iter().enumerate().find(|(_, vertex)| **vertex as usize >= mesh.file_count) {
            let problem = format!("there is no vertex {vertex}; the node's mesh has {} in the file", mesh.file_count);
            return self.fail(&format!("{key}[{at}]"), problem);
        }
        let distinct: HashSet<u32> = list.iter().copied().collect();
        let mut found: Vec<u32> = distinct
            .iter()
            .filter_map(|vertex| mesh.file_vertices.binary_search(vertex).ok())
            .map(|at| mesh.vertices.start + at as u32)
            .collect();
        if found.is_empty() {
            return self.fail(key, "names no vertex that a triangle uses; list vertices at the muscle's end".into());
        }
        found.sort_unstable();
        Ok(found)
    }

    fn marked(&self, mesh: &NodeMesh) -> Result<(MeshEnds, Vec<u32>, Vec<u32>), MuscleError> {
        let side = |sign: f32| -> Vec<u32> {
            let marked = mesh.vertices.clone().zip(&mesh.ends).filter(|(_, value)| **value * sign > 0.0);
            marked.map(|(vertex, _)| vertex).collect()
        };
        let (sources, sinks) = (side(-1.0), side(1.0));
        let name = mesh.attribute.clone();
        match (sources.is_empty(), sinks.is_empty()) {
            (false, false) => return Ok((MeshEnds::Attribute(name), sources, sinks)),
            (true, true) if self.object.ends_attribute.is_none() => {
                return Ok((MeshEnds::Nearest, Vec::new(), Vec::new()));
            }
            _ => {}
        }
        let named = shorten(&name);
        if mesh.ends.is_empty() {
            let problem = format!(
                "the mesh has no vertex attribute {named:?}; its name needs a leading underscore, and the export needs \
                 attributes turned on"
            );
            return self.fail("ends_attribute", problem);
        }
        let side =
            if sources.is_empty() { "negative value, for the origin" } else { "positive value, for the insertion" };
        self.fail("ends_attribute", format!("no vertex has a {side} in {named:?}; mark both ends, or neither"))
    }
}
