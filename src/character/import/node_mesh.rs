//! The mesh of a muscle's node: where it is in the character's mesh, and which of its vertices are the muscle's ends.

use std::collections::HashSet;
use std::ops::Range;

use super::context::shorten;
use crate::character::muscles::object::MuscleObject;
use crate::character::muscles::{MeshEnds, MuscleError, MuscleMesh};

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
    /// A mesh of which nothing has been read yet.
    pub fn new(attribute: String) -> Self {
        Self { attribute, vertices: 0..0, triangles: 0..0, file_vertices: Vec::new(), file_count: 0, ends: Vec::new() }
    }

    /// Whether nothing of it is in the character's mesh.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

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

/// Whether a vertex attribute, without its leading underscore, is the one of a name. Exporters change the case, and
/// some add an underscore of their own.
pub(super) fn same_attribute(attribute: &str, name: &str) -> bool {
    attribute.trim_start_matches('_').eq_ignore_ascii_case(name.trim_start_matches('_'))
}

/// Finds a muscle mesh's ends.
pub(super) struct Ends<'a> {
    pub muscle: &'a str,
    pub object: &'a MuscleObject,
}

impl Ends<'_> {
    fn fail<T>(&self, key: &str, problem: String) -> Result<T, MuscleError> {
        Err(MuscleError::Mesh { muscle: shorten(self.muscle).into(), key: key.into(), problem })
    }

    /// Fails where keys speak of a mesh that is not there.
    pub fn none(&self) -> Result<(), MuscleError> {
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

    /// The mesh with its ends; `joint` is its node.
    pub fn of(&self, mesh: &NodeMesh, joint: u32) -> Result<MuscleMesh, MuscleError> {
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
