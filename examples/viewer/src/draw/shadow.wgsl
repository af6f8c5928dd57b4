@group(2) @binding(0) var shadow_map: texture_depth_2d;
@group(2) @binding(1) var shadow_sampler: sampler_comparison;

/// Share of the key light that reaches a place; softness in shares of the map.
fn key_share(place: vec3f, softness: f32) -> f32 {
    const TAPS = 16u;
    let clip = view.light_projection * vec4f(place, 1.0);
    let at = clip.xy * vec2f(0.5, -0.5) + 0.5;
    if any(abs(clip.xyz - vec3f(0.0, 0.0, 0.5)) > vec3f(1.0, 1.0, 0.5)) {
        return 1.0;
    }
    var lit = 0.0;
    for (var i = 0u; i < TAPS; i++) {
        // A sunflower's seeds fill a disc evenly.
        let radius = sqrt((f32(i) + 0.5) / f32(TAPS)) * softness;
        let angle = f32(i) * 2.399963;
        let tap = at + radius * vec2f(cos(angle), sin(angle));
        lit += textureSampleCompareLevel(shadow_map, shadow_sampler, tap, clip.z);
    }
    return lit / f32(TAPS);
}
