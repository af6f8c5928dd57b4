//! Muscles of a file: finds their objects on nodes, puts the sidecar's keys over them, and ties them to meshes.

use std::collections::HashMap;

use super::ImportError;
use super::context::{Context, shorten};
use super::muscle_extras::{Found, on_node};
use super::node_mesh::{Ends, NodeMesh};
use super::nodes::Graph;
use super::rigs::Rigs;
use crate::character::muscles::object::MuscleObject;
use crate::character::muscles::schema::{self, Object};
use crate::character::muscles::{
    BoneObject, BoneSpec, ENDS_ATTRIBUTE, JointNames, MuscleError, MuscleShape, MuscleSpec, SIZES, Sidecar, Thickness,
    check_bones, check_sizes,
};

/// A muscle before meshes are read.
pub(super) struct Plan<'a> {
    name: String,
    object: MuscleObject,
    /// The node that says it.
    node: Option<usize>,
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

/// The muscles of nodes and sidecar, with all keys read.
pub(super) fn plan<'a>(
    context: &Context<'a>,
    graph: &Graph,
    rigs: &Rigs,
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
            Some(mesh) => {
                let own = |joints: &[u32]| node.and_then(|node| rigs.own(graph.joint_of[node], joints));
                Some(names.find_own(mesh, &name, "mesh", &own).map_err(|error| origin.fail(error))?)
            }
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
        plans.push(Plan { name, object, node, mesh_node, origin });
    }
    Ok(plans)
}

/// The bones of a sidecar.
pub(super) fn bones(context: &Context, graph: &Graph, sidecar: Option<&Sidecar>) -> Result<Vec<BoneSpec>, ImportError> {
    let Some(sidecar) = sidecar.filter(|sidecar| !sidecar.bones.is_empty()) else { return Ok(Vec::new()) };
    let fail = |source| ImportError::Muscle { file: sidecar.label.clone(), source: Box::new(source) };
    context.budget.spend(sidecar.bones.len(), size_of::<BoneSpec>(), || "its bones".into())?;
    let names = JointNames::new(&graph.skeleton);
    let size = f64::from(context.meters_per_unit);
    let read = |(index, object): (usize, &Object)| {
        let object = BoneObject::read(object, index, &mut |text| context.warn(text))?;
        Ok(object.to_spec(index, &names)?.scaled(size))
    };
    let bones: Vec<BoneSpec> = sidecar.bones.iter().enumerate().map(read).collect::<Result<_, _>>().map_err(fail)?;
    check_bones(&bones, &graph.skeleton, if size == 1.0 { 1.0 } else { SIZES }).map_err(fail)?;
    Ok(bones)
}

/// The nodes whose meshes are muscles'.
pub(super) fn node_meshes(plans: &[Plan]) -> HashMap<usize, NodeMesh> {
    let wanted = |plan: &Plan| {
        let attribute = plan.object.ends_attribute.clone().unwrap_or_else(|| ENDS_ATTRIBUTE.into());
        Some((plan.mesh_node?, NodeMesh::new(attribute)))
    };
    plans.iter().filter_map(wanted).collect()
}

/// Makes the muscles, now that meshes are read.
pub(super) fn finish(
    context: &Context,
    graph: &Graph,
    rigs: &Rigs,
    plans: Vec<Plan>,
    meshes: &HashMap<usize, NodeMesh>,
) -> Result<Vec<MuscleSpec>, ImportError> {
    let names = JointNames::new(&graph.skeleton);
    let mut muscles = Vec::with_capacity(plans.len());
    for Plan { name, object, node, mesh_node, origin } in plans {
        let ends = Ends { muscle: &name, object: &object };
        let read = mesh_node.and_then(|node| Some((node, meshes.get(&node)?)));
        let mesh = match read.filter(|(_, mesh)| !mesh.is_empty()) {
            Some((node, mesh)) => Some(ends.of(mesh, graph.joint_of[node]).map_err(|error| origin.fail(error))?),
            None => {
                ends.none().map_err(|error| origin.fail(error))?;
                None
            }
        };
        let of = node.or(mesh_node).map(|node| graph.joint_of[node]);
        let own = |joints: &[u32]| of.and_then(|of| rigs.own(of, joints)).or_else(|| rigs.only_bone(joints));
        let spec = schema::to_spec(object, name, (&names, &own), mesh).map_err(|error| origin.fail(error))?;
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
