// How what is solid is lit.

fn lit(colour: vec3f, place: vec3f, n: vec3f) -> vec3f {
    let to_eye = normalize(view.eye - place);
    // Light wraps a little past the terminator, as it does on skin.
    let wrapped = max((dot(n, view.key) + 0.15) / 1.15, 0.0);
    let share = key_share(place + n * (0.012 * view.size), 0.004);
    let up = n.y * 0.5 + 0.5;
    let edge = 1.0 - max(dot(n, to_eye), 0.0);
    let gloss = pow(max(dot(n, normalize(view.key + to_eye)), 0.0), 16.0);
    let diffuse = BOUNCE + (SKY - BOUNCE) * up + KEY * (wrapped * share);
    return colour * diffuse + KEY * (0.10 * gloss * share) + RIM * (edge * edge * edge * up * 0.5);
}
