// Stage deform_skin: linear blend skinning, and on top of it what the rods do; the twin of src/cpu/deform_skin.rs.
// One thread is one vertex.

@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> skin_blocks: array<SkinBlock>;
@group(0) @binding(2) var<storage, read> skin_vertices: array<SkinVertex>;
@group(0) @binding(3) var<storage, read> rod_bindings: array<RodBinding>;
@group(0) @binding(4) var<storage, read> palette: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> model_poses: array<ModelPose>;
@group(0) @binding(6) var<storage, read> groups: array<Group>;
@group(0) @binding(7) var<storage, read> node_rows: array<f32>;
@group(0) @binding(8) var<storage, read_write> skinned: array<SkinnedVertex>;

// Place (m) and normal, or what is added to them.
struct Deformed {
    place: vec3<f32>,
    normal: vec3<f32>,
}

// Place (m) and unit normal of a vertex in model space.
@compute @workgroup_size(WORKGROUP_SIZE)
fn deform_skin(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let thread = thread_of(invocation);
    let block_index = thread / WORKGROUP_SIZE;
    if block_index >= params.skin_block_count {
        return;
    }
    let block = skin_blocks[block_index];
    let local = thread % WORKGROUP_SIZE;
    if local >= block.vertex_count {
        return;
    }
    let at = block.vertex_base + local;
    let rest = skin_vertices[at].position;
    let rest_normal = skin_vertices[at].normal;
    var x = vec4<f32>();
    var y = vec4<f32>();
    var z = vec4<f32>();
    for (var k = 0u; k < 8u; k++) {
        let weight = skin_vertices[at].weights[k];
        if weight != 0.0 {
            let joint = (skin_vertices[at].joints[k / 2u] >> (16u * (k % 2u))) & 0xffffu;
            let row = 3u * (block.palette_base + joint);
            x = x + weight * palette[row];
            y = y + weight * palette[row + 1u];
            z = z + weight * palette[row + 2u];
        }
    }
    var place = vec3<f32>(dot(x.xyz, rest) + x.w, dot(y.xyz, rest) + y.w, dot(z.xyz, rest) + z.w);
    // Normals go by the cofactors, the inverse transpose times the determinant, whose sign undoes a mirroring.
    let cx = cross(y.xyz, z.xyz);
    let cy = cross(z.xyz, x.xyz);
    let cz = cross(x.xyz, y.xyz);
    let side = where_less(dot(x.xyz, cx), 0.0, -1.0, 1.0);
    let cofactors = vec3<f32>(dot(cx, rest_normal), dot(cy, rest_normal), dot(cz, rest_normal));
    var normal = unit(cofactors * side, rest_normal);
    let first = block.binding_base + skin_vertices[at].first_binding;
    let binding_count = skin_vertices[at].binding_count;
    for (var index = first; index < first + binding_count; index++) {
        let pull = rod_pull(block, index);
        place = place + pull.place;
        normal = normal + pull.normal;
    }
    normal = unit(normal, rest_normal);
    skinned[block.skinned_base + local] =
        SkinnedVertex(array<f32, 3>(place.x, place.y, place.z), array<f32, 3>(normal.x, normal.y, normal.z));
}

fn unit(v: vec3<f32>, fallback: vec3<f32>) -> vec3<f32> {
    let length2 = dot(v, v);
    if length2 > 0.0 {
        return v * (1.0 / sqrt(length2));
    }
    return fallback;
}

// How far a rod moves a vertex (m) and its normal.
fn rod_pull(block: SkinBlock, index: u32) -> Deformed {
    let binding = rod_bindings[index];
    let node = groups[block.group_base + binding.group].node_base + binding.node;
    let a = word(node, NODE_ENTRIES, 0u, binding.lane);
    let b = word(node + 1u, NODE_ENTRIES, 0u, binding.lane);
    let place_a = section_point(a, binding.offset_a);
    let place_b = section_point(b, binding.offset_b);
    let chain = model_poses[block.pose_base + binding.chain];
    let bone = model_poses[block.pose_base + block.chain_count + binding.bone];
    let place = transform_point(chain, place_a * (1.0 - binding.blend) + place_b * binding.blend);
    let pull = place - transform_point(bone, binding.bone_offset);
    let normal = rotate(chain.rotation, rotate(frame_at(a), binding.normal_a));
    let turn = normal - rotate(bone.rotation, binding.bone_normal);
    return Deformed(pull * binding.weight, turn * binding.weight);
}

fn transform_point(pose: ModelPose, point: vec3<f32>) -> vec3<f32> {
    return rotate(pose.rotation, point) + pose.translation;
}

fn node_at(row: u32, entry: u32) -> f32 {
    return node_rows[row + entry * LANES];
}

fn frame_at(row: u32) -> Quaternion {
    return Quaternion(
        node_at(row, NODE_FRAME),
        node_at(row, NODE_FRAME + 1u),
        node_at(row, NODE_FRAME + 2u),
        node_at(row, NODE_FRAME + 3u),
    );
}

fn section_point(row: u32, offset: vec3<f32>) -> vec3<f32> {
    let scale = node_at(row, NODE_SCALE);
    let scaled = vec3<f32>(offset.xy * scale, offset.z);
    let place =
        vec3<f32>(node_at(row, NODE_PLACE), node_at(row, NODE_PLACE + 1u), node_at(row, NODE_PLACE + 2u));
    return place + rotate(frame_at(row), scaled);
}
