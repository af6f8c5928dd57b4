// Flesh without a skin: hulls as solids in the picture.

@vertex
fn bare_vertex(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Corner {
    return hull_corner(index, instance);
}

@vertex
fn bare_shadow_vertex(
    @builtin(vertex_index) index: u32,
    @builtin(instance_index) instance: u32,
) -> @builtin(position) vec4f {
    return view.light_projection * vec4f(hull_corner(index, instance).place, 1.0);
}

@fragment
fn bare_fragment(corner: Corner) -> @location(0) vec4f {
    return vec4f(encoded(lit(corner.colour, corner.place, normalize(corner.normal))), 1.0);
}
