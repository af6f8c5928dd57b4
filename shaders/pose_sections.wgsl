// Stage pose_sections: how far each cross-section that skin follows has gone from where its bones alone would have it;
// the twin of src/cpu/pose_sections.rs. One thread is one cross-section.

@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> section_blocks: array<SectionBlock>;
@group(0) @binding(2) var<storage, read> skin_sections: array<SkinSection>;
@group(0) @binding(3) var<storage, read> model_poses: array<ModelPose>;
@group(0) @binding(4) var<storage, read> groups: array<Group>;
@group(0) @binding(5) var<storage, read> node_rows: array<f32>;
@group(0) @binding(6) var<storage, read_write> section_matrices: array<SectionMatrix>;
@group(0) @binding(7) var<storage, read> working_section_blocks: array<vec2<u32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn pose_sections(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let thread = thread_of(invocation);
    let workgroup = thread / WORKGROUP_SIZE;
    if workgroup >= params.section_block_count {
        return;
    }
    let working = working_section_blocks[workgroup];
    let block = section_blocks[working.x];
    let local = thread % WORKGROUP_SIZE;
    if local >= block.section_count {
        return;
    }
    section_matrices[block.matrix_base + local] = section_matrix(block, skin_sections[block.section_base + local], bitcast<f32>(working.y));
}

// T T̄⁻¹ − C, and the same of the rotations alone, of which skin goes along with a share.
fn section_matrix(block: SectionBlock, section: SkinSection, goes_along: f32) -> SectionMatrix {
    let row = word(groups[block.group_base + section.group].node_base + section.node, NODE_ENTRIES, 0u, section.lane);
    let chain = model_poses[block.pose_base + section.chain];
    let first = model_poses[block.pose_base + block.chain_count + section.bones.x];
    let second = model_poses[block.pose_base + block.chain_count + section.bones.y];
    let along = section.bone_blend;
    let frame = Quaternion(
        node_at(row, NODE_FRAME),
        node_at(row, NODE_FRAME + 1u),
        node_at(row, NODE_FRAME + 2u),
        node_at(row, NODE_FRAME + 3u),
    );
    let node_place = vec3<f32>(node_at(row, NODE_PLACE), node_at(row, NODE_PLACE + 1u), node_at(row, NODE_PLACE + 2u));
    let scale = node_at(row, NODE_SCALE);

    let turn = axes_of(normalised(product(product(chain.rotation, frame), conjugate(section.frame))));
    let tangent = axes_of(section.frame)[2];
    // R diag(s, s, 1) R̄ᵀ = s·RR̄ᵀ + (1 − s)·w w̄ᵀ.
    let w = turn[0] * tangent.x + turn[1] * tangent.y + turn[2] * tangent.z;
    let stays = 1.0 - scale;
    let bone_a = axes_of(first.rotation);
    let bone_b = axes_of(second.rotation);
    let carried_x = bone_a[0] * (1.0 - along) + bone_b[0] * along;
    let carried_y = bone_a[1] * (1.0 - along) + bone_b[1] * along;
    let carried_z = bone_a[2] * (1.0 - along) + bone_b[2] * along;
    let x = (turn[0] * scale + w * (stays * tangent.x)) - carried_x;
    let y = (turn[1] * scale + w * (stays * tangent.y)) - carried_y;
    let z = (turn[2] * scale + w * (stays * tangent.z)) - carried_z;

    let place = rotate(chain.rotation, node_place) + chain.translation;
    let by_bones = (carried_x * section.place.x + carried_y * section.place.y + carried_z * section.place.z)
        + (first.translation * (1.0 - along) + second.translation * along);
    let moved = place - by_bones;
    let offset = moved - (x * section.place.x + y * section.place.y + z * section.place.z);
    let nx = turn[0] - carried_x;
    let ny = turn[1] - carried_y;
    let nz = turn[2] - carried_z;
    let share = share_within(section.reach, moved) * goes_along;
    return SectionMatrix(
        array<vec4<f32>, 3>(
            vec4<f32>(x.x, y.x, z.x, offset.x) * share,
            vec4<f32>(x.y, y.y, z.y, offset.y) * share,
            vec4<f32>(x.z, y.z, z.z, offset.z) * share,
        ),
        array<vec4<f32>, 3>(
            vec4<f32>(nx.x, ny.x, nz.x, 0.0) * share,
            vec4<f32>(nx.y, ny.y, nz.y, 0.0) * share,
            vec4<f32>(nx.z, ny.z, nz.z, 0.0) * share,
        ),
    );
}

// How much of what a section does its skin goes along with, the centre's way (m) given; reach 0 is all.
fn share_within(reach: f32, moved: vec3<f32>) -> f32 {
    if reach > 0.0 {
        return reach / sqrt(reach * reach + dot(moved, moved));
    }
    return 1.0;
}

fn node_at(row: u32, entry: u32) -> f32 {
    return node_rows[row + entry * LANES];
}
