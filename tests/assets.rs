//! The project's own characters: what is committed is what the generator makes, is sound glTF, moves well and
//! looks as it did. Pictures go to `tests/output`.

#[path = "assets/character.rs"]
mod character;
#[allow(dead_code)]
#[path = "../examples/make_assets/generator/mod.rs"]
mod generator;

use character::Character;
use glam::Vec3;
use sinew::picture::{Bounds, Camera, Image, MeshView, OverlayPill, OverlayRod, Scene, write_gif};
use std::path::PathBuf;

const NAMES: [&str; 2] = ["arm", "octopus"];

fn asset(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("assets/{name}.glb"))
}

fn output(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/output");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn picture(character: &Character, time: Option<f32>, camera: Camera, overlays: bool) -> Image {
    let globals = character.globals(time);
    let (positions, normals) = character.skinned(&globals);
    let mut scene = Scene::new(camera);
    scene.meshes.push(MeshView {
        positions: &positions,
        normals: &normals,
        triangles: &character.triangles,
        triangle_colours: &character.colours,
    });
    let chains: Vec<(Vec<Vec3>, Vec<f32>)> = character
        .parents
        .iter()
        .enumerate()
        .filter_map(|(i, parent)| parent.map(|p| (globals[p].w_axis.truncate(), globals[i].w_axis.truncate())))
        .map(|(a, b)| {
            (
                (0..=6).map(|k| a.lerp(b, k as f32 / 6.0)).collect(),
                vec![0.010, 0.014, 0.017, 0.018, 0.017, 0.014, 0.010],
            )
        })
        .collect();
    if overlays {
        for (i, (points, radii)) in chains.iter().enumerate() {
            if i % 2 == 0 {
                scene.pills.push(OverlayPill {
                    ends: [points[0], points[6]],
                    radii: [0.04, 0.034],
                    colour: [0.05, 0.45, 0.75, 0.9],
                });
            }
            scene.rods.push(OverlayRod { points, radii, colour: [0.75, 0.06, 0.05, 0.9] });
        }
    }
    scene.render(480, 360).unwrap()
}

fn camera(character: &Character) -> Camera {
    let mut seen = Vec::new();
    for i in 0..12 {
        let time = character.duration() * i as f32 / 12.0;
        seen.extend(character.skinned(&character.globals(Some(time))).0);
    }
    Camera::framing_points(&seen, Vec3::new(0.45, 0.42, 1.0), 4.0 / 3.0)
}

#[test]
fn committed_files_are_what_the_generator_makes() {
    for model in [generator::arm(), generator::octopus()] {
        let made = model.to_glb().unwrap();
        let committed = std::fs::read(asset(model.name)).unwrap();
        assert!(made == committed, "assets/{}.glb differs: cargo run --release --example make_assets", model.name);
        assert!(made.len() < 600_000, "{}: {} bytes", model.name, made.len());
    }
}

#[test]
fn meshes_are_closed_smooth_and_skinned() {
    for name in NAMES {
        let character = Character::load(&asset(name));
        let vertices = character.positions.len();
        println!("{name}: {vertices} vertices, {} triangles", character.triangles.len());
        assert!((3000..9000).contains(&vertices));
        for (i, weights) in character.weights.iter().enumerate() {
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{name}: weights of vertex {i}: {weights:?}");
            assert!((character.normals[i].length() - 1.0).abs() < 1e-4, "{name}: normal of vertex {i}");
        }
        let mut against = 0;
        for t in &character.triangles {
            let [a, b, c] = t.map(|v| character.positions[v as usize]);
            let face = (b - a).cross(c - a).normalize_or_zero();
            against += usize::from(t.iter().any(|&v| character.normals[v as usize].dot(face) < -0.2));
        }
        assert!(against * 200 < character.triangles.len(), "{name}: {against} triangles against their normals");
    }
}

#[test]
fn they_stand_on_the_floor_and_loop() {
    for name in NAMES {
        let character = Character::load(&asset(name));
        let bind = character.skinned(&character.globals(None)).0;
        let lowest = |positions: &[Vec3]| Bounds::of(positions).min.y;
        assert!(lowest(&bind).abs() < 0.01, "{name} starts at {}", lowest(&bind));
        for frame in 0..60 {
            let time = character.duration() * frame as f32 / 60.0;
            let low = lowest(&character.skinned(&character.globals(Some(time))).0);
            assert!(low > -0.03, "{name} sinks to {low} at {time} s");
        }
        let (first, last) = (character.globals(Some(0.0)), character.globals(Some(character.duration())));
        for (a, b) in first.iter().zip(&last) {
            assert!(a.abs_diff_eq(*b, 1e-4), "{name} does not loop");
        }
    }
}

#[test]
fn pictures() {
    for name in NAMES {
        let character = Character::load(&asset(name));
        let camera = camera(&character);
        picture(&character, None, camera, false).write_png(output(&format!("{name}.png"))).unwrap();
        let seen = picture(&character, None, camera, true);
        seen.write_png(output(&format!("{name}_overlays.png"))).unwrap();
        for i in 1..6 {
            let time = character.duration() * i as f32 / 6.0;
            picture(&character, Some(time), camera, false).write_png(output(&format!("{name}_{i}.png"))).unwrap();
        }
        assert_eq!((seen.width, seen.height), (480, 360));
    }
}

#[test]
fn a_gif_of_thirty_frames_is_small() {
    let character = Character::load(&asset("octopus"));
    let camera = camera(&character);
    let start = std::time::Instant::now();
    let frames: Vec<Image> = (0..30).map(|i| picture(&character, Some(i as f32 / 10.0), camera, true)).collect();
    let drawn = start.elapsed();
    let path = output("octopus.gif");
    write_gif(&path, &frames, 100).unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len();
    println!("30 frames drawn in {drawn:.2?}, written in {:.2?}: {bytes} bytes", start.elapsed() - drawn);
    assert!(bytes < 1_000_000, "{bytes} bytes");
}
