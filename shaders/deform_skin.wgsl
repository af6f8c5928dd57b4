// Stage deform_skin: linear blend or dual quaternion skinning, and on top of it what the cross-sections do; the twin of
// src/cpu/deform_skin.rs. One thread is one vertex.

@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> skin_blocks: array<SkinBlock>;
@group(0) @binding(2) var<storage, read> skin_vertices: array<SkinVertex>;
@group(0) @binding(3) var<storage, read> section_weights: array<SectionWeight>;
@group(0) @binding(4) var<storage, read> palette: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> section_matrices: array<SectionMatrix>;
@group(0) @binding(6) var<storage, read_write> skinned: array<SkinnedVertex>;
@group(0) @binding(7) var<storage, read> working_skin_blocks: array<u32>;
@group(0) @binding(8) var<storage, read> skin_deltas: array<f32>;

// Place (m), unit normal and tangent of a vertex in model space.
@compute @workgroup_size(WORKGROUP_SIZE)
fn deform_skin(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let thread = thread_of(invocation);
    let workgroup = thread / WORKGROUP_SIZE;
    if workgroup >= params.skin_block_count {
        return;
    }
    let block = skin_blocks[working_skin_blocks[workgroup]];
    let local = thread % WORKGROUP_SIZE;
    if local >= block.vertex_count {
        return;
    }
    let at = block.vertex_base + local;
    let moves = block.linear_base != NO_DELTAS;
    var delta = Delta(vec3<f32>(), skin_vertices[at].normal, vec3<f32>());
    if moves {
        delta = delta_of(block, local, delta);
    }
    let position = skin_vertices[at].position + delta.place;
    let mesh_normal = delta.normal;
    let matrix = joints_matrix(block, at);
    let x = matrix[0];
    let y = matrix[1];
    let z = matrix[2];
    var place = vec3<f32>(dot(x.xyz, position) + x.w, dot(y.xyz, position) + y.w, dot(z.xyz, position) + z.w);
    // Normals go by the cofactors, the inverse transpose times the determinant, whose sign undoes a mirroring.
    let cx = cross(y.xyz, z.xyz);
    let cy = cross(z.xyz, x.xyz);
    let cz = cross(x.xyz, y.xyz);
    let side = where_less(dot(x.xyz, cx), 0.0, -1.0, 1.0);
    let cofactors = vec3<f32>(dot(cx, mesh_normal), dot(cy, mesh_normal), dot(cz, mesh_normal));
    var normal = unit(cofactors * side, mesh_normal);
    // Tangents lie in the surface: they go as places beside each other go.
    let mesh_tangent = skin_vertices[at].tangent.xyz + delta.tangent;
    var tangent = vec3<f32>(dot(x.xyz, mesh_tangent), dot(y.xyz, mesh_tangent), dot(z.xyz, mesh_tangent));
    let section_count = skin_vertices[at].section_count;
    if section_count != 0u && block.matrix_base != NO_DELTAS {
        let first = block.weight_base + skin_vertices[at].first_section;
        var place_x = vec4<f32>();
        var place_y = vec4<f32>();
        var place_z = vec4<f32>();
        var normal_x = vec4<f32>();
        var normal_y = vec4<f32>();
        var normal_z = vec4<f32>();
        for (var index = first; index < first + section_count; index++) {
            let weight = section_weights[index].weight;
            let matrix = section_matrices[block.matrix_base + section_weights[index].section];
            place_x = place_x + matrix.place[0] * weight;
            place_y = place_y + matrix.place[1] * weight;
            place_z = place_z + matrix.place[2] * weight;
            normal_x = normal_x + matrix.normal[0] * weight;
            normal_y = normal_y + matrix.normal[1] * weight;
            normal_z = normal_z + matrix.normal[2] * weight;
        }
        var at_rest = Delta(
            skin_vertices[at].rest_position,
            skin_vertices[at].rest_normal,
            skin_vertices[at].rest_tangent,
        );
        if moves {
            at_rest = moved_at_rest(block, local, at_rest, delta);
        }
        let rest = vec4<f32>(at_rest.place, 1.0);
        let rest_normal = vec4<f32>(at_rest.normal, 0.0);
        place = place + vec3<f32>(dot(place_x, rest), dot(place_y, rest), dot(place_z, rest));
        let turn = vec3<f32>(dot(normal_x, rest_normal), dot(normal_y, rest_normal), dot(normal_z, rest_normal));
        normal = unit(normal + turn, normal);
        let rest_tangent = at_rest.tangent;
        let along = vec3<f32>(
            dot(place_x.xyz, rest_tangent),
            dot(place_y.xyz, rest_tangent),
            dot(place_z.xyz, rest_tangent),
        );
        tangent = tangent + along;
    }
    tangent = direction(tangent);
    // A mirroring turns the bitangent over against normal × tangent.
    let bitangent_side = skin_vertices[at].tangent.w * side;
    skinned[block.skinned_base + local] = SkinnedVertex(
        array<f32, 3>(place.x, place.y, place.z),
        array<f32, 3>(normal.x, normal.y, normal.z),
        array<f32, 4>(tangent.x, tangent.y, tangent.z, bitangent_side),
    );
}

// What is added to a vertex's place and tangent, and its unit normal; or what a vertex is at rest.
struct Delta {
    place: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec3<f32>,
}

// What morph targets and networks add to a vertex of a block in mesh space, given it without.
fn delta_of(block: SkinBlock, local: u32, given: Delta) -> Delta {
    var delta = given;
    if block.morph_base != NO_DELTAS {
        let first = block.morph_base + 9u * local;
        let normal = unit(given.normal + delta3(first + 3u), given.normal);
        delta = Delta(delta3(first), normal, delta3(first + 6u));
    }
    if block.network_base != NO_DELTAS {
        delta.place = delta.place + delta3(block.network_base + 3u * local);
    }
    return delta;
}

// Place, normal and tangent at rest in model space, given where these are without the delta.
fn moved_at_rest(block: SkinBlock, local: u32, given: Delta, delta: Delta) -> Delta {
    let first = block.linear_base + 9u * local;
    let x = delta3(first);
    let y = delta3(first + 3u);
    let z = delta3(first + 6u);
    let place = given.place + vec3<f32>(dot(x, delta.place), dot(y, delta.place), dot(z, delta.place));
    let tangent = given.tangent + vec3<f32>(dot(x, delta.tangent), dot(y, delta.tangent), dot(z, delta.tangent));
    if block.morph_base == NO_DELTAS {
        return Delta(place, given.normal, tangent);
    }
    let cx = cross(y, z);
    let cy = cross(z, x);
    let cz = cross(x, y);
    let side = where_less(dot(x, cx), 0.0, -1.0, 1.0);
    let cofactors = vec3<f32>(dot(cx, delta.normal), dot(cy, delta.normal), dot(cz, delta.normal));
    return Delta(place, unit(cofactors * side, given.normal), tangent);
}

fn delta3(first: u32) -> vec3<f32> {
    return vec3<f32>(skin_deltas[first], skin_deltas[first + 1u], skin_deltas[first + 2u]);
}

// The palette entry of a vertex's pull.
fn joint_of(at: u32, k: u32) -> u32 {
    return (skin_vertices[at].joints[k / 2u] >> (16u * (k % 2u))) & 0xffffu;
}

// The rows of what the joints of a vertex make of it.
fn joints_matrix(block: SkinBlock, at: u32) -> array<vec4<f32>, 3> {
    if block.dual != 0u {
        return dual_matrix(block, at);
    }
    var x = vec4<f32>();
    var y = vec4<f32>();
    var z = vec4<f32>();
    for (var k = 0u; k < 8u; k++) {
        let weight = skin_vertices[at].weights[k];
        if weight != 0.0 {
            let joint = joint_of(at, k);
            let row = 3u * (block.palette_base + joint);
            x = x + palette[row] * weight;
            y = y + palette[row + 1u] * weight;
            z = z + palette[row + 2u] * weight;
        }
    }
    return array<vec4<f32>, 3>(x, y, z);
}

// The matrix of blended dual quaternions and stretches. Of both quaternions that stand for a rotation, the one that is nearer
// to the sum of those before it counts.
fn dual_matrix(block: SkinBlock, at: u32) -> array<vec4<f32>, 3> {
    var turned = vec4<f32>();
    var moved = vec4<f32>();
    var stretch = vec4<f32>();
    var shear = vec4<f32>();
    for (var k = 0u; k < 8u; k++) {
        let weight = skin_vertices[at].weights[k];
        if weight != 0.0 {
            let joint = joint_of(at, k);
            let row = 3u * block.palette_base + 4u * joint;
            let near = where_less(dot(palette[row], turned), 0.0, -weight, weight);
            turned = turned + palette[row] * near;
            moved = moved + palette[row + 1u] * near;
            stretch = stretch + palette[row + 2u] * weight;
            shear = shear + palette[row + 3u] * weight;
        }
    }
    let inverse = 1.0 / larger(sqrt(dot(turned, turned)), 1.0e-12);
    let q = turned * inverse;
    let d = moved * inverse;
    // 2 d q̄ of the unit dual quaternion q + ε d.
    let offset = (d.xyz * q.w - q.xyz * d.w + cross(q.xyz, d.xyz)) * 2.0;
    let axes = axes_of(q);
    let x = axes[0] * stretch.x + axes[1] * shear.x + axes[2] * shear.y;
    let y = axes[0] * shear.x + axes[1] * stretch.y + axes[2] * shear.z;
    let z = axes[0] * shear.y + axes[1] * shear.z + axes[2] * stretch.z;
    return array<vec4<f32>, 3>(
        vec4<f32>(x.x, y.x, z.x, offset.x),
        vec4<f32>(x.y, y.y, z.y, offset.y),
        vec4<f32>(x.z, y.z, z.z, offset.z),
    );
}

fn unit(v: vec3<f32>, fallback: vec3<f32>) -> vec3<f32> {
    let length2 = dot(v, v);
    if length2 > 0.0 {
        return v * (1.0 / sqrt(length2));
    }
    return fallback;
}
