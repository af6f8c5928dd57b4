//! Morph targets: their names, the weights that they are in the mesh with, and what they move.

use glam::Vec3;
use gltf::json::mesh::Primitive;
use gltf::json::{Accessor, Extras, Index, Mesh};
use serde::Deserialize;

use super::ImportError;
use super::accessor::{FLOAT_VEC3, View};
use super::context::{Context, shorten};
use crate::skin::{MOST_MORPH, MOST_MORPH_WEIGHT, MorphRow, MorphTarget};

/// The targets of a node's mesh, which move nothing yet; `weights` are the node's own.
pub(super) fn targets(
    context: &Context,
    mesh: &Mesh,
    weights: Option<&[f32]>,
    joint: u32,
    name: &dyn Fn() -> String,
) -> Result<Vec<MorphTarget>, ImportError> {
    let count_of = |primitive: &Primitive| primitive.targets.as_ref().map_or(0, Vec::len);
    let counts = || mesh.primitives.iter().map(count_of);
    let count = counts().max().unwrap_or(0);
    if counts().any(|other| other != count) {
        context.warn(format!(
            "{} has primitives of {count} morph targets and of fewer; what is missing moves nothing",
            name()
        ));
    }
    let weights = weights.or(mesh.weights.as_deref()).unwrap_or_default();
    if weights.len() > count {
        context.warn(format!("{} has {count} morph targets for {} weights", name(), weights.len()));
    }
    context.budget.spend(count, size_of::<MorphTarget>() + 16, name)?;
    let names = target_names(&mesh.extras).or_else(|| {
        // As some exporters of VRM have them.
        mesh.primitives.iter().find_map(|primitive| target_names(&primitive.extras))
    });
    let names = names.unwrap_or_default();
    let target = |index: usize| {
        let weight = weights.get(index).copied().unwrap_or(0.0);
        let sound = weight.abs() <= MOST_MORPH_WEIGHT;
        if !sound {
            context.warn(format!(
                "{} has a morph weight that is not finite, or beyond {MOST_MORPH_WEIGHT}; taken as 0",
                name()
            ));
        }
        let own = names.get(index).filter(|name| !name.is_empty());
        MorphTarget {
            name: own.map_or_else(|| format!("target {index}"), |name| shorten(name).to_owned()),
            joint,
            weight: if sound { weight } else { 0.0 },
            rows: Vec::new(),
        }
    };
    Ok((0..count).map(target).collect())
}

fn target_names(extras: &Extras) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Names {
        #[serde(rename = "targetNames")]
        names: Vec<String>,
    }
    Some(serde_json::from_str::<Names>(extras.as_ref()?.get()).ok()?.names)
}

/// A target of a primitive, with the weight that it is in the mesh with.
pub(super) struct Morph<'a> {
    pub weight: f32,
    pub positions: Option<View<'a>>,
    pub normals: Option<View<'a>>,
    pub tangents: Option<View<'a>>,
}

/// The targets of a primitive of so many vertices.
pub(super) fn open<'a>(
    context: &'a Context<'a>,
    primitive: &Primitive,
    targets: &[MorphTarget],
    vertex_count: usize,
    name: &dyn Fn() -> String,
) -> Result<Vec<Morph<'a>>, ImportError> {
    let view = |accessor: Option<Index<Accessor>>| {
        let view = context.optional_view(accessor?, &FLOAT_VEC3, &|| format!("{}, a morph target", name()))?;
        if view.count == vertex_count {
            return Some(view);
        }
        let count = view.count;
        context.warn(format!("{}: a morph target has {count} vertices, the mesh {vertex_count}; left out", name()));
        None
    };
    let mut morphs = Vec::new();
    for (given, target) in primitive.targets.iter().flatten().zip(targets) {
        context.budget.spend(1, size_of::<Morph>(), name)?;
        morphs.push(Morph {
            weight: target.weight,
            positions: view(given.positions),
            normals: view(given.normals),
            tangents: view(given.tangents),
        });
    }
    Ok(morphs)
}

/// The sum of a vector and what targets add to it.
pub(super) fn sum<'a>(
    vector: Vec3,
    vertex: usize,
    morphs: &'a [Morph<'a>],
    deltas: fn(&'a Morph<'a>) -> Option<&'a View<'a>>,
) -> Vec3 {
    let mut sum = vector;
    for morph in morphs.iter().filter(|morph| morph.weight != 0.0) {
        if let Some(deltas) = deltas(morph) {
            sum += Vec3::from_array(deltas.numbers(vertex)) * morph.weight;
        }
    }
    sum
}

impl Morph<'_> {
    /// What it moves of the file's vertices that are used; `per_unit` are what normals and tangents of the mesh were divided by so
    /// that they are unit ones, inverted, which their displacements are divided by too.
    pub fn rows(
        &self,
        context: &Context,
        used: &[u32],
        per_unit: [&[f32]; 2],
        name: &dyn Fn() -> String,
    ) -> Result<Vec<MorphRow>, ImportError> {
        let row = |(compact, &vertex): (usize, &u32)| {
            let vector = |view: &Option<View>, factor: f32| {
                view.as_ref().map_or([0.0; 3], |view| view.numbers::<3>(vertex as usize).map(|part| part * factor))
            };
            let [normal, tangent] = per_unit.map(|per_unit| per_unit.get(compact).copied().unwrap_or(0.0));
            MorphRow {
                vertex: compact as u32,
                place: vector(&self.positions, context.meters_per_unit),
                normal: vector(&self.normals, normal),
                tangent: vector(&self.tangents, tangent),
            }
        };
        let parts = |row: &MorphRow| [row.place, row.normal, row.tangent];
        let sound = |row: &MorphRow| parts(row).iter().flatten().all(|part| part.abs() <= MOST_MORPH);
        let moves = |row: &MorphRow| parts(row) != [[0.0; 3]; 3];
        let (mut count, mut bad) = (0, 0);
        for row in used.iter().enumerate().map(row) {
            (count, bad) = (count + usize::from(moves(&row)), bad + usize::from(!sound(&row)));
        }
        if bad > 0 {
            context.warn(format!(
                "{}: a morph target moves {bad} vertices by what is not finite or beyond {MOST_MORPH:e} m; they stay",
                name()
            ));
        }
        context.budget.spend(count, size_of::<MorphRow>(), name)?;
        Ok(used.iter().enumerate().map(row).filter(|row| moves(row) && sound(row)).collect())
    }
}
