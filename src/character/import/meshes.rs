//! All visible meshes as one: the loop over nodes and primitives, places, normals, colours and winding.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{Mat3A, Vec3, Vec4};
use gltf::json::mesh::{Primitive, Semantic};
use gltf::json::validation::Checked;

use super::ImportError;
use super::accessor::{COLORS, ENDS, FLOAT_VEC3, FLOAT_VEC4, View};
use super::context::{Context, named};
use super::influences::{self, Binding, Influences};
use super::morphs::{self, Morph};
use super::node_mesh::{Appended, NodeMesh, same_attribute};
use super::nodes::Graph;
use super::skins::Palette;
use super::triangles;
use crate::character::SkinMesh;
use crate::skin::{MorphRow, MorphTarget};

/// Appends every visible mesh to `mesh`, notes where those of `muscles` are in it, by their nodes, and says how many
/// vertices skins move.
pub(super) fn read(
    context: &Context,
    graph: &Graph,
    palette: &mut Palette,
    mesh: &mut SkinMesh,
    muscles: &mut HashMap<usize, NodeMesh>,
) -> Result<usize, ImportError> {
    let mut skinned_vertices = 0;
    let mut all_morphs = Vec::new();
    let mut seen = vec![false; context.document.meshes.len()];
    for (index, node) in context.document.nodes.iter().enumerate() {
        if !graph.visible[index] {
            continue;
        }
        let skin = match node.skin {
            Some(skin) => {
                context.lookup(&context.document.skins, skin.value(), "skin", || context.node_name(index))?;
                Some(skin.value())
            }
            None => None,
        };
        let Some(mesh_index) = node.mesh.map(|mesh| mesh.value()) else {
            if skin.is_some() {
                context.warn(format!("{} has a skin but no mesh", context.node_name(index)));
            }
            continue;
        };
        let source = context.lookup(&context.document.meshes, mesh_index, "mesh", || context.node_name(index))?;
        seen[mesh_index] = true;
        if source.primitives.is_empty() {
            context.warn(format!("{} has no primitives", context.mesh_name(mesh_index)));
        }
        let mut targets = morphs::targets(context, source, node.weights.as_deref(), graph.joint_of[index], &|| {
            context.mesh_name(mesh_index)
        })?;
        let mut moved = Vec::new();
        let mut muscle = muscles.get_mut(&index);
        let ends_attribute = muscle.as_ref().map(|muscle| muscle.attribute.clone());
        for (number, primitive) in source.primitives.iter().enumerate() {
            let reader = PrimitiveReader {
                context,
                primitive,
                targets: &targets,
                ends_attribute: ends_attribute.as_deref(),
                name: &|| format!("{}, primitive {number}", context.mesh_name(mesh_index)),
            };
            let mut part = reader.read(index, skin, palette)?;
            if part.skinned {
                skinned_vertices += part.positions.len();
            }
            let (name, ends) = (reader.name, part.ends.take());
            if let Some(muscle) = muscle.as_deref_mut() {
                context.budget.spend(part.used.len(), 2 * size_of::<u32>(), name)?;
                muscle.append(Appended {
                    first: [mesh.positions.len(), mesh.triangles.len()],
                    triangle_count: part.triangles.len(),
                    used: &part.used,
                    file_count: part.file_count,
                    ends,
                });
            }
            moved.push((mesh.positions.len() as u32, std::mem::take(&mut part.morphs)));
            append(context, mesh, part, palette, name)?;
        }
        for (first, morphs) in moved {
            for (target, rows) in targets.iter_mut().zip(morphs) {
                target.rows.extend(rows.into_iter().map(|row| MorphRow { vertex: first + row.vertex, ..row }));
            }
        }
        all_morphs.append(&mut targets);
    }
    mesh.morphs = Arc::new(all_morphs);
    let mut unseen = (0..seen.len()).filter(|&mesh| !seen[mesh]);
    if let Some(first) = unseen.next() {
        let (first, more) = (context.mesh_name(first), unseen.count());
        context.warn(format!("{first} and {more} more meshes hang on no node of the scene; left out unread"));
    }
    Ok(skinned_vertices)
}

/// One primitive on one node.
struct Part {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// Empty where there are none.
    tangents: Vec<Vec4>,
    triangles: Vec<[u32; 3]>,
    colors: Vec<[f32; 4]>,
    influences: Influences,
    /// Of each target what it moves, by the part's own vertices.
    morphs: Vec<Vec<MorphRow>>,
    skinned: bool,
    /// Which of the file's vertices these are, rising.
    used: Vec<u32>,
    /// How many the file has.
    file_count: usize,
    /// The attribute that marks a muscle's ends, where it is asked for and there.
    ends: Option<Vec<f32>>,
}

struct PrimitiveReader<'a> {
    context: &'a Context<'a>,
    primitive: &'a Primitive,
    targets: &'a [MorphTarget],
    /// Name of the attribute that marks a muscle's ends, on a muscle's node.
    ends_attribute: Option<&'a str>,
    name: &'a dyn Fn() -> String,
}

impl PrimitiveReader<'_> {
    fn attribute(&self, semantic: Semantic) -> Option<gltf::json::Index<gltf::json::Accessor>> {
        self.primitive.attributes.get(&Checked::Valid(semantic)).copied()
    }

    fn field(&self, field: &'static str) -> impl Fn() -> String {
        move || format!("{}, {field}", (self.name)())
    }

    fn read(&self, node: usize, skin: Option<usize>, palette: &mut Palette) -> Result<Part, ImportError> {
        let mut part = Part {
            positions: Vec::new(),
            normals: Vec::new(),
            tangents: Vec::new(),
            triangles: Vec::new(),
            colors: Vec::new(),
            influences: Influences::default(),
            morphs: Vec::new(),
            skinned: false,
            used: Vec::new(),
            file_count: 0,
            ends: None,
        };
        let Some(accessor) = self.attribute(Semantic::Positions) else {
            self.context.warn(format!("{} has no POSITION; left out", (self.name)()));
            return Ok(part);
        };
        let positions = self.context.view(accessor, &FLOAT_VEC3, &self.field("POSITION"))?;
        if positions.is_all_zero() {
            self.context.warn(format!("{}: its POSITION has no data and is all zeros", (self.name)()));
        }
        part.file_count = positions.count;
        let source_triangles = triangles::read(self.context, self.primitive, positions.count, self.name)?;
        if source_triangles.is_empty() {
            return Ok(part);
        }
        let per_vertex = 3 * size_of::<u32>() + 2 * size_of::<Vec3>() + Influences::BYTES_PER_VERTEX;
        let corners = source_triangles.len() * 3;
        self.context.budget.spend(corners.min(positions.count), per_vertex, self.name)?;
        self.context.budget.spend(corners, 2 * size_of::<u32>() + size_of::<[f32; 4]>(), self.name)?;

        // Only vertices that triangles use: exporters let many primitives share one long accessor.
        let mut used: Vec<u32> = source_triangles.as_flattened().to_vec();
        used.sort_unstable();
        used.dedup();
        let compact = |vertex: u32| used.binary_search(&vertex).unwrap_or(0) as u32;
        part.triangles = source_triangles.iter().map(|triangle| triangle.map(compact)).collect();

        let morphs = morphs::open(self.context, self.primitive, self.targets, positions.count, self.name)?;
        // Morphs are read on demand; what is paid for is the work, which a few bytes of JSON could otherwise multiply.
        self.context.budget.spend(morphs.len().saturating_mul(used.len()), size_of::<Vec3>(), self.name)?;
        part.positions = self.positions(&positions, &morphs, &used)?;
        let (normals, per_normal) = self.normals(&morphs, &used, &part);
        part.normals = normals;
        let (tangents, per_tangent) = self.tangents(&morphs, &used)?;
        part.tangents = tangents;
        for morph in &morphs {
            part.morphs.push(morph.rows(self.context, &used, [&per_normal, &per_tangent], self.name)?);
        }
        part.colors = self.colors(&source_triangles);
        let binding = self.binding(node, skin, palette)?;
        part.skinned = matches!(binding, Binding::Skin { .. });
        let attributes = influences::Attributes {
            context: self.context,
            primitive: self.primitive,
            vertex_count: positions.count,
            name: self.name,
        };
        part.influences = attributes.read(&binding, &used)?;
        part.ends = self.ends(&used)?;
        part.used = used;
        Ok(part)
    }

    fn binding(&self, node: usize, skin: Option<usize>, palette: &mut Palette) -> Result<Binding, ImportError> {
        let has_joints = self.attribute(Semantic::Joints(0)).is_some();
        let has_weights = self.attribute(Semantic::Weights(0)).is_some();
        let entries = skin.map(|skin| palette.skin(skin)).transpose()?.filter(|entries| !entries.is_empty());
        if let Some(entries) = entries.filter(|_| has_joints && has_weights) {
            return Ok(Binding::Skin { entries });
        }
        let name = self.name;
        if skin.is_some() {
            self.context
                .warn(format!("{} is on a skinned node without JOINTS_0 and WEIGHTS_0; it hangs on the node", name()));
        } else if has_joints || has_weights {
            let node = self.context.node_name(node);
            self.context.warn(format!("{} has joints or weights but {node} has no skin; it hangs on the node", name()));
        }
        Ok(Binding::Rigid { entry: palette.rigid(node)? })
    }

    fn ends(&self, used: &[u32]) -> Result<Option<Vec<f32>>, ImportError> {
        let Some(name) = self.ends_attribute else { return Ok(None) };
        let is_it = |semantic: &Checked<Semantic>| matches!(semantic, Checked::Valid(Semantic::Extras(own)) if same_attribute(own, name));
        let Some((_, &accessor)) = self.primitive.attributes.iter().find(|(semantic, _)| is_it(semantic)) else {
            return Ok(None);
        };
        let view = self.context.view(accessor, &ENDS, &self.field("the attribute of a muscle's ends"))?;
        self.context.budget.spend(used.len(), size_of::<f32>(), self.name)?;
        Ok(Some(used.iter().map(|&vertex| view.number(vertex as usize, 0)).collect()))
    }

    fn positions(&self, view: &View, morphs: &[Morph], used: &[u32]) -> Result<Vec<Vec3>, ImportError> {
        let mut positions = Vec::with_capacity(used.len());
        for &vertex in used {
            let vertex = vertex as usize;
            let given = Vec3::from_array(view.numbers(vertex));
            let mut place = morphs::sum(given, vertex, morphs, |morph| morph.positions.as_ref());
            place *= self.context.meters_per_unit;
            if !place.is_finite() {
                return Err(self.context.non_finite(format!("{}, POSITION of vertex {vertex}", (self.name)())));
            }
            positions.push(place);
        }
        Ok(positions)
    }

    /// The file's normals, and by what each was multiplied; where they are missing, zero or not finite, those of the triangles
    /// around, and 0.
    fn normals(&self, morphs: &[Morph], used: &[u32], part: &Part) -> (Vec<Vec3>, Vec<f32>) {
        let view = self
            .attribute(Semantic::Normals)
            .and_then(|accessor| self.context.optional_view(accessor, &FLOAT_VEC3, &self.field("NORMAL")));
        let mut computed = None;
        let mut bad = 0;
        let mut normals = Vec::with_capacity(used.len());
        let mut factors = Vec::new();
        for (compact, &vertex) in used.iter().enumerate() {
            let vertex = vertex as usize;
            let given = view.as_ref().filter(|view| vertex < view.count).and_then(|view| {
                let given = Vec3::from_array(view.numbers(vertex));
                let normal = morphs::sum(given, vertex, morphs, |morph| morph.normals.as_ref());
                unit(normal)
            });
            if !morphs.is_empty() {
                factors.push(given.map_or(0.0, |(_, factor)| factor));
            }
            let given = given.map(|(normal, _)| normal);
            bad += usize::from(view.is_some() && given.is_none());
            normals.push(given.unwrap_or_else(|| {
                computed.get_or_insert_with(|| smooth_normals(&part.positions, &part.triangles))[compact]
            }));
        }
        if bad > 0 {
            self.context
                .warn(format!("{}: {bad} normals are missing, zero or not finite; computed anew", (self.name)()));
        }
        (normals, factors)
    }

    /// The file's tangents, and by what each was multiplied; zeros where they are missing, zero or not finite.
    fn tangents(&self, morphs: &[Morph], used: &[u32]) -> Result<(Vec<Vec4>, Vec<f32>), ImportError> {
        let view = self
            .attribute(Semantic::Tangents)
            .and_then(|accessor| self.context.optional_view(accessor, &FLOAT_VEC4, &self.field("TANGENT")));
        let Some(view) = view else { return Ok((Vec::new(), Vec::new())) };
        self.context.budget.spend(used.len(), 2 * size_of::<Vec4>(), self.name)?;
        let mut bad = 0;
        let mut tangents = Vec::with_capacity(used.len());
        let mut factors = Vec::new();
        for vertex in used.iter().map(|&vertex| vertex as usize) {
            let given = (vertex < view.count).then(|| {
                let given = Vec4::from_array(view.numbers(vertex));
                let tangent = morphs::sum(given.truncate(), vertex, morphs, |morph| morph.tangents.as_ref());
                let side = if given.w < 0.0 { -1.0 } else { 1.0 };
                unit(tangent).map(|(tangent, factor)| (tangent.extend(side), factor))
            });
            let given = given.flatten();
            bad += usize::from(given.is_none());
            let (tangent, factor) = given.unwrap_or_default();
            tangents.push(tangent);
            if !morphs.is_empty() {
                factors.push(factor);
            }
        }
        if bad > 0 {
            self.context.warn(format!("{}: {bad} tangents are missing, zero or not finite; left out", (self.name)()));
        }
        Ok((tangents, factors))
    }

    /// The material's base colour times the mean vertex colour, per triangle.
    fn colors(&self, triangles: &[[u32; 3]]) -> Vec<[f32; 4]> {
        let base = self.base_color();
        let view = self
            .attribute(Semantic::Colors(0))
            .and_then(|accessor| self.context.optional_view(accessor, &COLORS, &self.field("COLOR_0")));
        let Some(view) = view else { return vec![base; triangles.len()] };
        let mut bad = 0;
        let colors = triangles
            .iter()
            .map(|triangle| {
                std::array::from_fn(|channel| {
                    if channel >= view.width {
                        return base[channel];
                    }
                    let sum: f32 = triangle.iter().map(|&vertex| view.number(vertex as usize, channel)).sum();
                    let color = base[channel] * sum / 3.0;
                    bad += usize::from(!color.is_finite());
                    if color.is_finite() { color.clamp(0.0, 1.0) } else { base[channel] }
                })
            })
            .collect();
        if bad > 0 {
            self.context.warn(format!("{}: {bad} vertex colours are not finite; taken as white", (self.name)()));
        }
        colors
    }

    fn base_color(&self) -> [f32; 4] {
        const WHITE: [f32; 4] = [1.0; 4];
        let Some(index) = self.primitive.material.map(|material| material.value()) else { return WHITE };
        let Some(material) = self.context.document.materials.get(index) else {
            self.context.warn(format!("{} names material {index}, which does not exist; drawn white", (self.name)()));
            return WHITE;
        };
        let color = material.pbr.as_ref().and_then(|pbr| pbr.base_color_factor).unwrap_or(WHITE);
        if color.iter().all(|channel| channel.is_finite()) {
            return color.map(|channel| channel.clamp(0.0, 1.0));
        }
        let name = named("material", index, material.name.as_deref());
        self.context.warn(format!("{name}: its base colour is not finite; drawn white"));
        WHITE
    }
}

/// A unit vector, and by what it was multiplied to be one. In f64: squares of f32 extremes overflow or vanish.
fn unit(vector: Vec3) -> Option<(Vec3, f32)> {
    let vector = vector.as_dvec3();
    Some((vector.try_normalize()?.as_vec3(), vector.length_recip() as f32))
}

/// Normals by the areas of the triangles around each vertex; +Y where there is no area.
fn smooth_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut sums = vec![glam::DVec3::ZERO; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| positions[vertex as usize].as_dvec3());
        let area = (b - a).cross(c - a);
        for &vertex in triangle {
            sums[vertex as usize] += area;
        }
    }
    sums.into_iter().map(|sum| sum.try_normalize().map_or(Vec3::Y, |normal| normal.as_vec3())).collect()
}

fn append(
    context: &Context,
    mesh: &mut SkinMesh,
    part: Part,
    palette: &Palette,
    name: &dyn Fn() -> String,
) -> Result<(), ImportError> {
    let first = mesh.positions.len() as u32;
    let mirrored = Mirrored::new(&part.influences, palette);
    for triangle in &part.triangles {
        let [a, b, c] = triangle.map(|vertex| vertex + first);
        mesh.triangles.push(if mirrored.triangle(triangle) { [a, c, b] } else { [a, b, c] });
    }
    for (vertex, position) in part.positions.iter().enumerate() {
        if !part.influences.blend(vertex, &palette.rest).transform_point3(*position).is_finite() {
            return Err(context.non_finite(format!("{}: a vertex carried to its rest pose", name())));
        }
    }
    if !part.tangents.is_empty() || !mesh.tangents.is_empty() {
        // Meshes before the first one with tangents have none.
        mesh.tangents.resize(first as usize, Vec4::ZERO);
        mesh.tangents.extend(part.tangents);
        mesh.tangents.resize(first as usize + part.positions.len(), Vec4::ZERO);
    }
    mesh.positions.extend(part.positions);
    mesh.normals.extend(part.normals);
    mesh.triangle_colors.extend(part.colors);
    mesh.influence_joints.extend(part.influences.joints);
    mesh.influence_weights.extend(part.influences.weights);
    Ok(())
}

/// Tells which triangles skinning turns inside out at rest.
struct Mirrored<'a> {
    influences: &'a Influences,
    palette: &'a Palette<'a>,
    any: bool,
}

impl<'a> Mirrored<'a> {
    fn new(influences: &'a Influences, palette: &'a Palette) -> Self {
        let any = influences.joints.iter().flatten().any(|&entry| palette.mirrors[usize::from(entry)]);
        Self { influences, palette, any }
    }

    fn triangle(&self, triangle: &[u32; 3]) -> bool {
        let blend = |vertex: &u32| self.influences.blend(*vertex as usize, &self.palette.rest).matrix3;
        self.any && triangle.iter().map(blend).sum::<Mat3A>().determinant() < 0.0
    }
}
