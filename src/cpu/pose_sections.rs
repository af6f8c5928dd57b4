//! Stage `pose_sections`: how far each cross-section that skin follows has gone from where its bones alone would have
//! it; its twin is `shaders/pose_sections.wgsl`.

use super::lanes::OneF32;
use super::math::{Quaternion, V3};
use crate::flesh::FleshState;
use crate::layout::node;
use crate::skin::{ModelPose, SectionMatrix, Skin, SkinInputs, SkinSection};

/// Writes the matrix of every section that the skin follows, of which the skin goes along with a share; none where that is 0.
pub fn pose_sections(
    skin: &Skin,
    inputs: &SkinInputs,
    state: &FleshState,
    share: f32,
    matrices: &mut Vec<SectionMatrix>,
) {
    matrices.clear();
    if share > 0.0 {
        matrices.extend(skin.sections.iter().map(|section| section_matrix(section, inputs, state, share)));
    }
}

/// T T̄⁻¹ − C, and the same of the rotations alone, of which skin goes along with a share.
fn section_matrix(section: &SkinSection, inputs: &SkinInputs, state: &FleshState, share: f32) -> SectionMatrix {
    let lanes = OneF32(section.lane as usize);
    let row = &state.groups[section.group as usize].nodes[section.node as usize * node::ENTRIES..][..node::ENTRIES];
    let chain = &inputs.chains[section.chain as usize];
    let [first, second] = section.bones.map(|bone| &inputs.bones[bone as usize]);
    let along = section.bone_blend;
    let frame = Quaternion::load(lanes, row, node::FRAME);
    let node_place = V3::load(lanes, row, node::PLACE);
    let scale = row[node::SCALE][section.lane as usize];

    let rest_frame = Quaternion(section.frame);
    let turn = rotation(chain).product(frame).product(rest_frame.conjugate()).normalised(lanes).axes(lanes);
    let tangent = rest_frame.axes(lanes)[2].0;
    // R diag(s, s, 1) R̄ᵀ = s·RR̄ᵀ + (1 − s)·w w̄ᵀ.
    let w = turn[0] * tangent[0] + turn[1] * tangent[1] + turn[2] * tangent[2];
    let stays = 1.0 - scale;
    let (bone_a, bone_b) = (rotation(first).axes(lanes), rotation(second).axes(lanes));
    let carried: [V3<f32>; 3] = std::array::from_fn(|i| bone_a[i] * (1.0 - along) + bone_b[i] * along);
    let linear: [V3<f32>; 3] = std::array::from_fn(|i| (turn[i] * scale + w * (stays * tangent[i])) - carried[i]);

    let place = rotation(chain).rotate(lanes, node_place) + V3(chain.translation);
    let by_bones = (carried[0] * section.place[0] + carried[1] * section.place[1] + carried[2] * section.place[2])
        + (V3(first.translation) * (1.0 - along) + V3(second.translation) * along);
    let moved = place - by_bones;
    let offset = moved - (linear[0] * section.place[0] + linear[1] * section.place[1] + linear[2] * section.place[2]);
    let normal: [V3<f32>; 3] = std::array::from_fn(|i| turn[i] - carried[i]);
    let share = share_within(section.reach, moved) * share;
    let rows = |[x, y, z]: [V3<f32>; 3], last: [f32; 3]| {
        std::array::from_fn(|i| [x.0[i] * share, y.0[i] * share, z.0[i] * share, last[i] * share])
    };
    SectionMatrix { place: rows(linear, offset.0), normal: rows(normal, [0.0; 3]) }
}

/// How much of what a section does its skin goes along with, the centre's way (m) given; reach 0 is all.
fn share_within(reach: f32, moved: V3<f32>) -> f32 {
    if reach > 0.0 { reach / (reach * reach + moved.dot(moved)).sqrt() } else { 1.0 }
}

fn rotation(pose: &ModelPose) -> Quaternion<f32> {
    Quaternion(pose.rotation)
}
