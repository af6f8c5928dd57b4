//! Stage `deform_skin`: linear blend skinning, and on top of it what the rods do; its twin is
//! `shaders/deform_skin.wgsl`.

use glam::{Quat, Vec3};

use super::lanes::Entry;
use crate::flesh::FleshState;
use crate::layout::node;
use crate::skin::{PaletteMatrix, RodBinding, Skin, SkinInputs, SkinVertex};

/// Place (m) and unit normal of a vertex in model space.
pub fn deform_vertex(skin: &Skin, inputs: &SkinInputs, state: &FleshState, vertex: &SkinVertex) -> (Vec3, Vec3) {
    let (rest, rest_normal) = (Vec3::from_array(vertex.position), Vec3::from_array(vertex.normal));
    let mut matrix = [[0.0; 4]; 3];
    for (k, &weight) in vertex.weights.iter().enumerate() {
        if weight != 0.0 {
            let joint = vertex.joints[k / 2] >> (16 * (k % 2)) & 0xffff;
            blend_in(&mut matrix, &inputs.palette[joint as usize], weight);
        }
    }
    let row = |i: usize| Vec3::new(matrix[i][0], matrix[i][1], matrix[i][2]);
    let (x, y, z) = (row(0), row(1), row(2));
    let mut place = Vec3::new(x.dot(rest) + matrix[0][3], y.dot(rest) + matrix[1][3], z.dot(rest) + matrix[2][3]);
    // Normals go by the cofactors, the inverse transpose times the determinant, whose sign undoes a mirroring.
    let (cx, cy, cz) = (y.cross(z), z.cross(x), x.cross(y));
    let side = if x.dot(cx) < 0.0 { -1.0 } else { 1.0 };
    let mut normal = unit(Vec3::new(cx.dot(rest_normal), cy.dot(rest_normal), cz.dot(rest_normal)) * side, rest_normal);
    let first = vertex.first_binding as usize;
    for binding in &skin.bindings[first..first + vertex.binding_count as usize] {
        let (pull, turn) = rod_pull(binding, inputs, state);
        place += pull;
        normal += turn;
    }
    (place, unit(normal, rest_normal))
}

fn unit(v: Vec3, fallback: Vec3) -> Vec3 {
    let length2 = v.dot(v);
    if length2 > 0.0 { v * (1.0 / length2.sqrt()) } else { fallback }
}

fn blend_in(matrix: &mut PaletteMatrix, other: &PaletteMatrix, weight: f32) {
    for (row, other) in matrix.iter_mut().zip(other) {
        for (value, other) in row.iter_mut().zip(other) {
            *value += weight * other;
        }
    }
}

/// How far a rod moves a vertex (m) and its normal.
fn rod_pull(binding: &RodBinding, inputs: &SkinInputs, state: &FleshState) -> (Vec3, Vec3) {
    let rows = &state.groups[binding.group as usize].nodes;
    let row = |node: u32| &rows[node as usize * node::ENTRIES..][..node::ENTRIES];
    let lane = binding.lane as usize;
    let (a, b) = (row(binding.node), row(binding.node + 1));
    let place_a = section_point(a, lane, Vec3::from_array(binding.offset_a));
    let place_b = section_point(b, lane, Vec3::from_array(binding.offset_b));
    let chain = &inputs.chains[binding.chain as usize];
    let bone = &inputs.bones[binding.bone as usize];
    let place = chain.transform_point(place_a * (1.0 - binding.blend) + place_b * binding.blend);
    let pull = place - bone.transform_point(Vec3::from_array(binding.bone_offset));
    let normal = chain.rotate(frame(a, lane) * Vec3::from_array(binding.normal_a));
    let turn = normal - bone.rotate(Vec3::from_array(binding.bone_normal));
    (pull * binding.weight, turn * binding.weight)
}

fn frame(row: &[Entry<f32>], lane: usize) -> Quat {
    let at = |k: usize| row[node::FRAME + k][lane];
    Quat::from_xyzw(at(0), at(1), at(2), at(3))
}

fn section_point(row: &[Entry<f32>], lane: usize, offset: Vec3) -> Vec3 {
    let at = |k: usize| row[k][lane];
    let scale = at(node::SCALE);
    let scaled = Vec3::new(offset.x * scale, offset.y * scale, offset.z);
    Vec3::new(at(node::PLACE), at(node::PLACE + 1), at(node::PLACE + 2)) + frame(row, lane) * scaled
}
