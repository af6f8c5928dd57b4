// The skin, straight from the array that the simulation writes.

struct Skin {
    // From model space to the picture's.
    model: mat4x4f,
    // Where the skin begins in `vertices`.
    first: u32,
    // From the step before (0) to the last one (1).
    alpha: f32,
}

// A deformed vertex in model space; scalars, so that it is 40 bytes.
struct SkinnedVertex {
    position: array<f32, 3>,
    normal: array<f32, 3>,
    tangent: array<f32, 4>,
}

@group(1) @binding(0) var<uniform> skin: Skin;
// After the step before the last, from 0 on.
@group(1) @binding(1) var<storage, read> earlier: array<SkinnedVertex>;
// After the last step, from skin.first on.
@group(1) @binding(2) var<storage, read> vertices: array<SkinnedVertex>;
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

fn vector(v: array<f32, 3>) -> vec3f {
    return vec3f(v[0], v[1], v[2]);
}

fn place_of(vertex: u32) -> vec3f {
    let now = vector(vertices[skin.first + vertex].position);
    let place = mix(vector(earlier[vertex].position), now, skin.alpha);
    return (skin.model * vec4f(place, 1.0)).xyz;
}

@vertex
fn skin_vertex(@builtin(vertex_index) index: u32) -> Corner {
    let vertex = triangles[index];
    let normal = mix(vector(earlier[vertex].normal), vector(vertices[skin.first + vertex].normal), skin.alpha);
    var corner: Corner;
    corner.place = place_of(vertex);
    corner.clip = view.view_projection * vec4f(corner.place, 1.0);
    corner.normal = (skin.model * vec4f(normal, 0.0)).xyz;
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
    return vec4f(encoded(lit(corner.colour, corner.place, n)), 1.0);
}
