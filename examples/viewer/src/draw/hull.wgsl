// Hulls of two spheres: segments of rods, pills, and lines where flesh is pressed.

struct Hull {
    start: vec3f,
    start_radius: f32,
    end: vec3f,
    end_radius: f32,
    // Linear.
    colour: vec3f,
    // 1 hides what is behind, also at the middle; 0 is a glassy shell.
    body: f32,
}
@group(1) @binding(0) var<storage, read> hulls: array<Hull>;

// Corners around a hull, and rings from each pole to the rim of its cap.
override SIDES: u32;
override RINGS: u32;

struct Corner {
    // The depth pass and the colour pass must agree to the bit.
    @builtin(position) @invariant clip: vec4f,
    @location(0) place: vec3f,
    @location(1) normal: vec3f,
    @location(2) @interpolate(flat) colour: vec3f,
    @location(3) @interpolate(flat) body: f32,
}

fn hull_corner(index: u32, instance: u32) -> Corner {
    var hull = hulls[instance];
    let thicker = hull.start_radius - hull.end_radius;
    // Where one sphere swallows the other the hull is that sphere.
    if abs(thicker) >= distance(hull.start, hull.end) {
        let first = thicker > 0.0;
        hull.start = select(hull.end, hull.start, first);
        hull.start_radius = max(hull.start_radius, hull.end_radius);
        hull.end = hull.start;
        hull.end_radius = hull.start_radius;
    }
    let across = hull.end - hull.start;
    let span = length(across);
    let along = select(vec3f(0.0, 1.0, 0.0), across / max(span, 1e-12), span > 1e-9);
    let tilt = (hull.start_radius - hull.end_radius) / max(span, 1e-9);
    let rim = vec2f(sqrt(1.0 - tilt * tilt), tilt);

    // Two triangles a patch of the grid of rings and sides.
    let patch_index = index / 6u;
    let corner_index = index % 6u;
    let far = u32(corner_index == 2u || corner_index == 4u || corner_index == 5u);
    let right = u32(corner_index == 1u || corner_index == 2u || corner_index == 4u);
    let ring = patch_index / SIDES + far;
    let side = (patch_index % SIDES + right) % SIDES;

    let second = ring >= RINGS;
    let step = select(f32(ring), f32(2u * RINGS - 1u - ring), second) / f32(RINGS - 1u);
    let pole = vec2f(0.0, select(-1.0, 1.0, second));
    let blended = mix(pole, rim, step);
    let profile = select(rim, blended / max(length(blended), 1e-6), length(blended) > 1e-6);

    let helper = select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 0.0, 1.0), abs(along.x) > 0.7);
    let u = normalize(cross(along, helper));
    let v = cross(along, u);
    let angle = 6.2831853 * f32(side) / f32(SIDES);
    var corner: Corner;
    corner.normal = (u * cos(angle) + v * sin(angle)) * profile.x + along * profile.y;
    let centre = select(hull.start, hull.end, second);
    corner.place = centre + corner.normal * select(hull.start_radius, hull.end_radius, second);
    corner.clip = view.view_projection * vec4f(corner.place, 1.0);
    corner.colour = hull.colour;
    corner.body = hull.body;
    return corner;
}
