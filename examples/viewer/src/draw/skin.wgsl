// The skin, straight from the arrays that the simulation writes.

@group(1) @binding(0) var<uniform> model: mat4x4f;
// Three floats a vertex, in model space.
@group(1) @binding(1) var<storage, read> positions: array<f32>;
@group(1) @binding(2) var<storage, read> normals: array<f32>;
// Three vertices a triangle.
@group(1) @binding(3) var<storage, read> triangles: array<u32>;
// Linear RGBA a triangle.
@group(1) @binding(4) var<storage, read> colours: array<vec4f>;

struct Corner {
    @builtin(position) clip: vec4f,
    @location(0) place: vec3f,
    @location(1) normal: vec3f,
    @location(2) @interpolate(flat) colour: vec3f,
}

fn place_of(vertex: u32) -> vec3f {
    let place = vec3f(positions[3 * vertex], positions[3 * vertex + 1], positions[3 * vertex + 2]);
    return (model * vec4f(place, 1.0)).xyz;
}

@vertex
fn skin_vertex(@builtin(vertex_index) index: u32) -> Corner {
    let vertex = triangles[index];
    let normal = vec3f(normals[3 * vertex], normals[3 * vertex + 1], normals[3 * vertex + 2]);
    var corner: Corner;
    corner.place = place_of(vertex);
    corner.clip = view.view_projection * vec4f(corner.place, 1.0);
    corner.normal = (model * vec4f(normal, 0.0)).xyz;
    corner.colour = colours[index / 3].rgb;
    return corner;
}

@vertex
fn shadow_vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    return view.light_projection * vec4f(place_of(triangles[index]), 1.0);
}

@fragment
fn skin_fragment(corner: Corner, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let n = normalize(corner.normal) * select(-1.0, 1.0, front);
    let to_eye = normalize(view.eye - corner.place);
    // Light wraps a little past the terminator, as it does on skin.
    let wrapped = max((dot(n, view.key) + 0.15) / 1.15, 0.0);
    let share = key_share(corner.place + n * (0.012 * view.size), 0.004);
    let up = n.y * 0.5 + 0.5;
    let edge = 1.0 - max(dot(n, to_eye), 0.0);
    let gloss = pow(max(dot(n, normalize(view.key + to_eye)), 0.0), 16.0);
    let diffuse = BOUNCE + (SKY - BOUNCE) * up + KEY * (wrapped * share);
    let lit = corner.colour * diffuse + KEY * (0.10 * gloss * share) + RIM * (edge * edge * edge * up * 0.5);
    return vec4f(encoded(lit), 1.0);
}
