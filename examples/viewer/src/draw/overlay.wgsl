// Hulls that are drawn over the picture.

@vertex
fn overlay_vertex(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Corner {
    return hull_corner(index, instance);
}

@fragment
fn overlay_fragment(corner: Corner) -> @location(0) vec4f {
    let n = normalize(corner.normal);
    let to_eye = normalize(view.eye - corner.place);
    let edge = 1.0 - abs(dot(n, to_eye));
    let gloss = pow(max(dot(n, normalize(view.key + to_eye)), 0.0), 16.0);
    let lit = corner.colour * (0.35 + 0.6 * (dot(n, view.key) * 0.5 + 0.5)) + 0.16 * gloss;
    let opacity = mix(0.16, 1.0, corner.body) + 0.4 * edge * edge;
    return vec4f(encoded(lit), min(opacity, 1.0));
}
