//! The scene graph: nodes sorted parents first, and which of them are to be seen.

use std::collections::VecDeque;

use glam::{DMat3, DVec3, Quat, Vec3};
use gltf::json::Node;

use super::ImportError;
use super::context::Context;
use crate::character::{Joint, LocalTransform, Skeleton};

/// Furthest a quaternion's length may be from 1, or a matrix from its parts, before it is worth a warning.
const TOLERANCE: f32 = 1e-3;

pub(super) struct Graph {
    pub skeleton: Skeleton,
    /// The joint that each node of the file became.
    pub joint_of: Vec<u32>,
    /// Whether each node of the file is in the scene.
    pub visible: Vec<bool>,
}

pub(super) fn read(context: &Context) -> Result<Graph, ImportError> {
    let nodes = &context.document.nodes;
    let per_joint = size_of::<Joint>() + 16;
    context.budget.spend(nodes.len(), per_joint, || "the scene graph".into())?;
    let parents = parents(context)?;
    let mut order: VecDeque<usize> = (0..nodes.len()).filter(|&node| parents[node].is_none()).collect();
    let mut skeleton = Skeleton { joints: Vec::with_capacity(nodes.len()) };
    let mut joint_of = vec![u32::MAX; nodes.len()];
    while let Some(node) = order.pop_front() {
        joint_of[node] = skeleton.joints.len() as u32;
        skeleton.joints.push(Joint {
            name: nodes[node].name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("node {node}")),
            parent: parents[node].map(|parent| joint_of[parent]),
            rest: transform(context, node)?,
        });
        order.extend(
            children(&nodes[node]).filter(|&child| parents[child] == Some(node) && joint_of[child] == u32::MAX),
        );
    }
    if let Some(node) = joint_of.iter().position(|&joint| joint == u32::MAX) {
        return Err(graph_error(context, node, "is its own ancestor".into()));
    }
    let visible = visible(context, &parents);
    Ok(Graph { skeleton, joint_of, visible })
}

fn children(node: &Node) -> impl Iterator<Item = usize> {
    node.children.iter().flatten().map(|child| child.value())
}

fn graph_error(context: &Context, node: usize, problem: String) -> ImportError {
    ImportError::NodeGraph { file: context.file.into(), object: context.node_name(node), problem }
}

fn parents(context: &Context) -> Result<Vec<Option<usize>>, ImportError> {
    let nodes = &context.document.nodes;
    let mut parents: Vec<Option<usize>> = vec![None; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for child in children(node) {
            context.lookup(nodes, child, "child node", || context.node_name(index))?;
            match parents[child] {
                None => parents[child] = Some(index),
                Some(first) if first == index => {
                    context.warn(format!("{} lists child {child} twice; once is enough", context.node_name(index)));
                }
                Some(first) => {
                    let problem = format!("is a child of both node {first} and node {index}");
                    return Err(graph_error(context, child, problem));
                }
            }
        }
    }
    Ok(parents)
}

/// The nodes below the roots of the default scene; of all scenes without a default; all nodes without scenes.
fn visible(context: &Context, parents: &[Option<usize>]) -> Vec<bool> {
    let document = context.document;
    let chosen = document.scene.map(|scene| scene.value());
    let scenes = match chosen {
        Some(chosen) if chosen < document.scenes.len() => &document.scenes[chosen..=chosen],
        Some(chosen) => {
            context.warn(format!("the default scene {chosen} does not exist; all scenes are read"));
            &document.scenes[..]
        }
        None => &document.scenes[..],
    };
    if scenes.is_empty() {
        return vec![true; parents.len()];
    }
    let mut visible = vec![false; parents.len()];
    let mut open = Vec::new();
    for root in scenes.iter().flat_map(|scene| &scene.nodes).map(|node| node.value()) {
        match parents.get(root) {
            None => context.warn(format!("a scene names node {root}, the file has {}; left out", parents.len())),
            Some(Some(parent)) => {
                let name = context.node_name(root);
                context.warn(format!(
                    "a scene lists {name}, a child of node {parent}, as a root; its parent still moves it"
                ));
                open.push(root);
            }
            Some(None) => open.push(root),
        }
    }
    while let Some(node) = open.pop() {
        if !visible[node] {
            visible[node] = true;
            open.extend(children(&document.nodes[node]));
        }
    }
    visible
}

fn transform(context: &Context, index: usize) -> Result<LocalTransform, ImportError> {
    let node = &context.document.nodes[index];
    let object = || context.node_name(index);
    let mut local = match node.matrix {
        Some(matrix) => {
            if !matrix.iter().all(|value| value.is_finite()) {
                return Err(context.non_finite(format!("{}, matrix", object())));
            }
            if node.translation.is_some() || node.rotation.is_some() || node.scale.is_some() {
                context
                    .warn(format!("{} has a matrix and translation, rotation or scale; the matrix is used", object()));
            }
            let (local, exact) = decompose(&matrix);
            if !exact {
                context.warn(format!(
                    "{}: its matrix shears or projects, which joints cannot; the nearest scale and rotation are used. \
                     Apply its transform before exporting",
                    object()
                ));
            }
            local
        }
        None => {
            let rotation = Quat::from_array(node.rotation.map_or([0.0, 0.0, 0.0, 1.0], |rotation| rotation.0));
            let length = rotation.length();
            if !(length.is_finite()) {
                return Err(context.non_finite(format!("{}, rotation", object())));
            }
            if (length - 1.0).abs() > TOLERANCE {
                context.warn(format!("{}: its rotation has the length {length} instead of 1; normalised", object()));
            }
            LocalTransform {
                translation: node.translation.map_or(Vec3::ZERO, Vec3::from_array),
                rotation: if length > 0.0 { rotation / length } else { Quat::IDENTITY },
                scale: node.scale.map_or(Vec3::ONE, Vec3::from_array),
            }
        }
    };
    local.translation *= context.meters_per_unit;
    if !(local.translation.is_finite() && local.scale.is_finite() && local.rotation.is_finite()) {
        return Err(context.non_finite(format!("{}, translation, rotation or scale", object())));
    }
    Ok(local)
}

/// Splits a matrix into its parts; whether they make it up again is the second result.
///
/// A sheared matrix keeps its x axis, the plane of x and y, and the lengths of its columns. A mirroring one gets a
/// negative x scale. Columns of zero length get a direction that the others leave free.
fn decompose(matrix: &[f32; 16]) -> (LocalTransform, bool) {
    let column = |at: usize| DVec3::new(matrix[at].into(), matrix[at + 1].into(), matrix[at + 2].into());
    let linear = DMat3::from_cols(column(0), column(4), column(8));
    let mut scale = DVec3::new(linear.x_axis.length(), linear.y_axis.length(), linear.z_axis.length());
    if linear.determinant() < 0.0 {
        scale.x = -scale.x;
    }
    let unit = |column: DVec3, length: f64| if length == 0.0 { DVec3::ZERO } else { column / length };
    let (x, y, z) = (unit(linear.x_axis, scale.x), unit(linear.y_axis, scale.y), unit(linear.z_axis, scale.z));
    let x = first_direction([x, y.cross(z).normalize_or_zero(), perpendicular(y), perpendicular(z), DVec3::X]);
    let across = |v: DVec3| (v - x * v.dot(x)).normalize_or_zero();
    let y = first_direction([across(y), across(z.cross(x)), perpendicular(x)]);
    let rotation = DMat3::from_cols(x, y, x.cross(y));
    let again = rotation * DMat3::from_diagonal(scale);
    let error = (0..3).map(|axis| (again.col(axis) - linear.col(axis)).length()).fold(0.0, f64::max);
    let affine = matrix[3] == 0.0 && matrix[7] == 0.0 && matrix[11] == 0.0 && matrix[15] == 1.0;
    let local = LocalTransform {
        translation: column(12).as_vec3(),
        rotation: glam::DQuat::from_mat3(&rotation).normalize().as_quat(),
        scale: scale.as_vec3(),
    };
    (local, affine && error <= f64::from(TOLERANCE) * scale.abs().max_element())
}

fn first_direction<const N: usize>(candidates: [DVec3; N]) -> DVec3 {
    candidates.into_iter().find(|v| v.length_squared() > 0.5).unwrap_or(DVec3::X)
}

/// Some unit vector across `v`; zero for zero.
fn perpendicular(v: DVec3) -> DVec3 {
    if v.length_squared() > 0.5 { v.any_orthonormal_vector() } else { DVec3::ZERO }
}
