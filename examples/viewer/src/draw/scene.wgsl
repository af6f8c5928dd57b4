// What every shader of the scene knows: the view, and how things are lit. Places are relative to the camera's target.

struct View {
    view_projection: mat4x4f,
    // From places to the shadow map: x, y in -1..1, z in 0..1.
    light_projection: mat4x4f,
    eye: vec3f,
    // Size of what casts shadows (m).
    size: f32,
    // Unit vector towards the key light.
    key: vec3f,
    // From the target to the eye (m).
    distance: f32,
    // A pixel's ray is forward + x·across + y·up, x and y in -1..1.
    forward: vec3f,
    // Height of the floor (m).
    floor: f32,
    across: vec3f,
    // Side of a tile (m).
    tile: f32,
    up: vec3f,
    // Where the camera's target lies in the floor's pattern (m).
    pattern_x: f32,
    pattern_z: f32,
}
@group(0) @binding(0) var<uniform> view: View;

const SKY = vec3f(0.50, 0.56, 0.66);
const BOUNCE = vec3f(0.27, 0.24, 0.22);
const KEY = vec3f(0.86, 0.80, 0.70);
const RIM = vec3f(0.36, 0.42, 0.50);

/// Keeps bright values below 1 without a visible step, then encodes them as sRGB.
fn encoded(colour: vec3f) -> vec3f {
    let over = max(colour - 0.7, vec3f(0.0)) / 0.3;
    let bent = min(max(colour, vec3f(0.0)), vec3f(0.7)) + 0.3 * (1.0 - 1.0 / (1.0 + over));
    let curve = 1.055 * pow(bent, vec3f(1.0 / 2.4)) - 0.055;
    return select(curve, bent * 12.92, bent <= vec3f(0.0031308));
}
