// The floor and what lies behind it, over the whole picture.

const ABOVE = vec3f(0.56, 0.64, 0.74);
const HORIZON = vec3f(0.80, 0.83, 0.86);
const TILE_A = vec3f(0.52, 0.53, 0.55);
const TILE_B = vec3f(0.61, 0.62, 0.64);

struct Pixel {
    @builtin(position) clip: vec4f,
    @location(0) at: vec2f,
}

struct Painted {
    @location(0) colour: vec4f,
    @builtin(frag_depth) depth: f32,
}

@vertex
fn floor_vertex(@builtin(vertex_index) index: u32) -> Pixel {
    let at = vec2f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0);
    return Pixel(vec4f(at, 1.0, 1.0), at);
}

/// -1 and 1 on alternate tiles, as soft between them as a pixel is wide.
fn stripes(at: f32, width: f32) -> f32 {
    let saw = abs(fract(at * 0.5) - 0.5) * 4.0 - 1.0;
    return clamp(saw / clamp(2.0 * width, 1e-4, 1.0), -1.0, 1.0) * clamp(2.0 - 2.0 * width, 0.0, 1.0);
}

@fragment
fn floor_fragment(pixel: Pixel) -> Painted {
    let ray = view.forward + pixel.at.x * view.across + pixel.at.y * view.up;
    let sky = mix(ABOVE, HORIZON, min((0.5 - 0.5 * pixel.at.y) * 1.4, 1.0));
    let steps = (view.floor - view.eye.y) / ray.y;
    let place = view.eye + ray * steps;
    let tiles = (place.xz + vec2f(view.pattern_x, view.pattern_z)) / view.tile;
    let width = fwidth(tiles);
    var painted = Painted(vec4f(encoded(sky), 1.0), 1.0);
    let away = length(place.xz) / view.distance;
    let fade = smoothstep(0.35, 1.45, away);
    if steps <= 0.0 || fade >= 1.0 || view.eye.y < view.floor {
        return painted;
    }
    let pattern = stripes(tiles.x, width.x) * stripes(tiles.y, width.y) * 0.5 + 0.5;
    let share = key_share(place + vec3f(0.0, 0.004 * view.size, 0.0), 0.008);
    // Where the key light is kept off at close quarters, so is some of the sky's.
    let lit = mix(TILE_A, TILE_B, pattern) * (SKY * (0.7 + 0.3 * share) + KEY * (view.key.y * share));
    painted.colour = vec4f(encoded(mix(lit, sky, fade)), 1.0);
    let clip = view.view_projection * vec4f(place, 1.0);
    painted.depth = clamp(clip.z / clip.w, 0.0, 1.0);
    return painted;
}
