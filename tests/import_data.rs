//! Imports every file of the shared data folder: malformed ones for robustness, characters for exactness.
#![cfg(feature = "gltf")]

mod common;
#[path = "import_support/reference.rs"]
mod reference;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use common::data;
use glam::{Affine3A, DVec3, Mat3A, Vec3};
use reference::Reference;
use serde_json::Value;
use sinew::character::{CharacterAsset, ImportError, ImportOptions};

/// Counts bytes held now and at most.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands every call to the system's allocator unchanged; the counters do not touch the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller's promises about `layout` are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: `pointer` came from `System.alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test at a time, so that peaks belong to the file being read.
static TURN: Mutex<()> = Mutex::new(());

/// All glTF files below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|kind| ["gltf", "glb", "vrm"].iter().any(|known| kind == *known)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// What one import took.
struct Cost {
    seconds: f64,
    bytes: usize,
}

fn measured<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let start = Instant::now();
    let result = work();
    let seconds = start.elapsed().as_secs_f64();
    (result, Cost { seconds, bytes: PEAK.load(Ordering::Relaxed).saturating_sub(before) })
}

/// Whatever an import gives back must be usable: indices in range, numbers finite.
fn check_sound(asset: &CharacterAsset) {
    let mesh = &asset.mesh;
    let vertices = mesh.positions.len();
    assert_eq!(mesh.normals.len(), vertices);
    assert_eq!(mesh.influence_joints.len(), vertices);
    assert_eq!(mesh.influence_weights.len(), vertices);
    assert_eq!(mesh.triangle_colors.len(), mesh.triangles.len());
    assert!(mesh.positions.iter().all(|position| position.is_finite()));
    assert!(mesh.normals.iter().all(|normal| (normal.length() - 1.0).abs() < 1e-4));
    assert!(mesh.tangents.is_empty() || mesh.tangents.len() == vertices);
    assert!(mesh.tangents.iter().all(|tangent| {
        let length = tangent.truncate().length();
        *tangent == glam::Vec4::ZERO || (length - 1.0).abs() < 1e-4 && tangent.w.abs() == 1.0
    }));
    assert!(mesh.triangles.iter().flatten().all(|&vertex| (vertex as usize) < vertices));
    assert!(
        mesh.influence_joints.iter().flatten().all(|&entry| vertices == 0 || usize::from(entry) < asset.palette.len())
    );
    assert!(mesh.influence_weights.iter().all(|weights| (weights.iter().sum::<f32>() - 1.0).abs() < 1e-5));
    let joints = &asset.skeleton.joints;
    assert!(
        joints.iter().enumerate().all(|(index, joint)| joint.parent.is_none_or(|parent| (parent as usize) < index))
    );
    assert!(asset.palette.iter().all(|entry| (entry.joint as usize) < joints.len()));
    for animation in &asset.animations {
        let mut pose = asset.skeleton.rest_pose();
        for time in [-1.0, 0.0, animation.duration * 0.37, animation.duration, 1e9, f32::NAN, f32::INFINITY] {
            animation.sample(time, &mut pose);
            assert!(pose.iter().all(|local| local.translation.is_finite()
                && local.scale.is_finite()
                && (local.rotation.length() - 1.0).abs() < 1e-4));
        }
    }
}

/// Linear blend skinning in f32, as the crate's matrices give it.
fn skinned(asset: &CharacterAsset, palette: &[Affine3A]) -> Vec<Vec3> {
    let mesh = &asset.mesh;
    let pulls = mesh.influence_joints.iter().zip(&mesh.influence_weights);
    mesh.positions
        .iter()
        .zip(pulls)
        .map(|(position, (joints, weights))| {
            let pull =
                |(&joint, &weight): (&u16, &f32)| palette[usize::from(joint)].transform_point3(*position) * weight;
            joints.iter().zip(weights).map(pull).sum()
        })
        .collect()
}

#[test]
fn malformed_files_give_errors_or_warnings() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let (Some(malformed), Some(negative)) = (data("gltf_malformed"), data("gltf_generator/Negative")) else { return };
    let mut paths = files(&malformed);
    paths.extend(files(&negative));
    let (mut errors, mut warned, mut clean) = (0, 0, 0);
    let (mut slowest, mut largest) = ((0.0, String::new()), (0, String::new()));
    for path in &paths {
        let name = path.strip_prefix(malformed.parent().unwrap()).unwrap().display().to_string();
        let (result, cost) = measured(|| CharacterAsset::load(path, &ImportOptions::default()));
        assert!(cost.seconds < 1.0, "{name} took {} s", cost.seconds);
        assert!(cost.bytes < 100_000_000, "{name} took {} bytes", cost.bytes);
        if cost.seconds > slowest.0 {
            slowest = (cost.seconds, name.clone());
        }
        if cost.bytes > largest.0 {
            largest = (cost.bytes, name.clone());
        }
        match result {
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains(&*path.to_string_lossy()), "{text} does not name the file");
                errors += 1;
                println!("error    {}", text.replace(&*malformed.parent().unwrap().to_string_lossy(), ""));
            }
            Ok(asset) => {
                check_sound(&asset);
                let kind = if asset.warnings.is_empty() { "clean  " } else { "warning" };
                *(if asset.warnings.is_empty() { &mut clean } else { &mut warned }) += 1;
                println!("{kind}  {name}: {}", asset.warnings.first().map_or("", |warning| &warning.0));
            }
        }
    }
    println!("{} files: {errors} errors, {warned} with warnings, {clean} clean", paths.len());
    println!("slowest {:.1} ms: {}", slowest.0 * 1e3, slowest.1);
    println!("largest {:.2} MB: {}", largest.0 as f64 / 1e6, largest.1);
    assert_eq!(errors + warned + clean, paths.len());
    assert!(errors > 0 && warned > 0);
}

/// The generator's README names the two files that a 2.0 reader must refuse.
#[test]
fn positive_generator_files_load() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let Some(folder) = data("gltf_generator/Positive") else { return };
    let mut loaded = 0;
    for path in files(&folder) {
        let result = CharacterAsset::load(&path, &ImportOptions::default());
        match path.file_stem().unwrap().to_str().unwrap() {
            "Compatibility_04" => assert!(matches!(result, Err(ImportError::Version { .. }))),
            "Compatibility_05" => assert!(matches!(
                result,
                Err(ImportError::RequiredExtension { extension, .. }) if extension == "FAKE_materials_quantumRendering"
            )),
            _ => {
                check_sound(&result.unwrap_or_else(|error| panic!("{error}")));
                loaded += 1;
            }
        }
    }
    println!("{loaded} positive generator files load");
    assert!(loaded > 0);
}

#[test]
fn characters_skin_like_the_reference() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let folders = ["gltf_khronos", "gltf_humanoid", "gltf_edge", "gltf_generator/Positive"];
    let paths: Vec<PathBuf> = folders.iter().filter_map(|folder| data(folder)).flat_map(|path| files(&path)).collect();
    let (mut compared, mut skinned_files, mut worst) = (0, 0, (0.0, String::new()));
    for path in &paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("Compatibility_04") || name.starts_with("Compatibility_05") {
            continue;
        }
        let (asset, cost) = measured(|| CharacterAsset::load(path, &ImportOptions::default()));
        let asset = asset.unwrap_or_else(|error| panic!("{error}"));
        check_sound(&asset);
        let reference = Reference::load(path);
        let error = deviation(&asset, &reference);
        let frames = first_animation_frames(&asset);
        let outward = outward_share(&asset);
        assert!(outward > 0.97, "{name}: only {outward} of its area faces the way its normals do");
        println!(
            "{name}: {} joints, {} palette entries, {} vertices, {} triangles, {frames} frames, \
             deviation {error:.1e} of size, {:.1} % outward, {:.1} ms, {:.1} MB, {} warnings",
            asset.skeleton.joints.len(),
            asset.palette.len(),
            asset.mesh.positions.len(),
            asset.mesh.triangles.len(),
            outward * 100.0,
            cost.seconds * 1e3,
            cost.bytes as f64 / 1e6,
            asset.warnings.len()
        );
        for warning in &asset.warnings {
            println!("    {}", warning.0);
        }
        if error > worst.0 {
            worst = (error, name.clone());
        }
        compared += 1;
        assert!(error <= 1e-5, "{name} deviates by {error:e} of its size");
        let says_so = asset.warnings.iter().any(|warning| warning.0.contains("nothing is skinned"));
        assert_eq!(says_so, !reference.has_skin(), "{name}: whether it says that nothing is skinned");
        skinned_files += usize::from(reference.has_skin());
    }
    println!(
        "{compared} files, {skinned_files} of them skinned, worst deviation {:.1e} of the size: {}",
        worst.0, worst.1
    );
    assert!(paths.is_empty() || compared > 0);
}

/// Worst distance between the import and the reference over rest and first animation, relative to the size.
fn deviation(asset: &CharacterAsset, reference: &Reference) -> f64 {
    let vertices = reference.vertices();
    assert_eq!(vertices.len(), asset.mesh.positions.len());
    let size = {
        let globals = reference.global_matrices(None);
        let places: Vec<DVec3> = vertices.iter().map(|vertex| vertex.skinned(&globals)).collect();
        let low = places.iter().fold(DVec3::INFINITY, |low, place| low.min(*place));
        let high = places.iter().fold(DVec3::NEG_INFINITY, |high, place| high.max(*place));
        if places.is_empty() { 1.0 } else { (high - low).length() }
    };
    let mut worst: f64 = 0.0;
    let duration = asset.animations.first().map_or(0.0, |animation| animation.duration);
    for step in 0..8 {
        let time = if step == 0 { None } else { Some(duration * (step as f32 - 0.7) / 6.0) };
        let time = time.filter(|_| !asset.animations.is_empty());
        let mut pose = asset.skeleton.rest_pose();
        if let Some(time) = time {
            asset.animations[0].sample(time, &mut pose);
        }
        let (mut model, mut palette) = (Vec::new(), Vec::new());
        asset.skeleton.model_matrices(&pose, &mut model);
        asset.palette_matrices(&model, &mut palette);
        let globals = reference.global_matrices(time.map(|time| (0, f64::from(time))));
        for (place, vertex) in skinned(asset, &palette).iter().zip(&vertices) {
            worst = worst.max((place.as_dvec3() - vertex.skinned(&globals)).length() / size);
        }
    }
    worst
}

/// How much of the area at rest faces the way its vertices' normals do.
fn outward_share(asset: &CharacterAsset) -> f32 {
    let (mut model, mut palette) = (Vec::new(), Vec::new());
    asset.skeleton.model_matrices(&asset.skeleton.rest_pose(), &mut model);
    asset.palette_matrices(&model, &mut palette);
    let places = skinned(asset, &palette);
    let normal = |vertex: u32| {
        let vertex = vertex as usize;
        let pulls = asset.mesh.influence_joints[vertex].iter().zip(asset.mesh.influence_weights[vertex]);
        let blend: Mat3A = pulls.map(|(&joint, weight)| palette[usize::from(joint)].matrix3 * weight).sum();
        (blend.inverse().transpose() * asset.mesh.normals[vertex]).normalize_or_zero()
    };
    let (mut outward, mut total) = (0.0, f32::MIN_POSITIVE);
    for &[a, b, c] in &asset.mesh.triangles {
        let place = |vertex: u32| places[vertex as usize];
        let area = (place(b) - place(a)).cross(place(c) - place(a));
        total += area.length();
        if area.dot(normal(a) + normal(b) + normal(c)) >= 0.0 {
            outward += area.length();
        }
    }
    if asset.mesh.triangles.is_empty() { 1.0 } else { outward / total }
}

/// Samples the first animation at 60 Hz for 300 frames; every vertex must stay finite.
fn first_animation_frames(asset: &CharacterAsset) -> usize {
    let Some(animation) = asset.animations.first() else { return 0 };
    let (mut model, mut palette) = (Vec::new(), Vec::new());
    let mut pose = asset.skeleton.rest_pose();
    for frame in 0..300 {
        animation.sample(animation.looped(frame as f32 / 60.0), &mut pose);
        asset.skeleton.model_matrices(&pose, &mut model);
        asset.palette_matrices(&model, &mut palette);
        assert!(skinned(asset, &palette).iter().all(|place| place.is_finite()), "frame {frame}");
    }
    300
}

/// Puts nasty values in the place of every value of small sound files, one at a time.
#[test]
fn mutated_files_do_not_panic() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let Some(folder) = data("gltf_generator/Positive") else { return };
    let (mut imports, mut errors) = (0, 0);
    let mut worst = Cost { seconds: 0.0, bytes: 0 };
    for name in [
        "Animation_Skin/Animation_Skin_04",
        "Animation_Node/Animation_Node_05",
        "Buffer_Interleaved/Buffer_Interleaved_00",
    ] {
        let path = folder.join(format!("{name}.gltf"));
        let original: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for pointer in pointers(&original) {
            for nasty in [
                "-1",
                "0",
                "1",
                "255",
                "4294967295",
                "18446744073709551615",
                "1e39",
                "-1e30",
                "null",
                "[]",
                "{}",
                "\"x\"",
                "[[[0]]]",
            ] {
                let mut mutated = original.clone();
                *mutated.pointer_mut(&pointer).unwrap() = serde_json::from_str(nasty).unwrap();
                let bytes = serde_json::to_vec(&mutated).unwrap();
                let import = || CharacterAsset::from_slice(name, &bytes, path.parent(), &ImportOptions::default());
                let (result, cost) = measured(import);
                imports += 1;
                match result {
                    Ok(asset) => check_sound(&asset),
                    Err(error) => {
                        errors += 1;
                        assert!(error.to_string().contains(name), "{error}");
                    }
                }
                worst = Cost { seconds: worst.seconds.max(cost.seconds), bytes: worst.bytes.max(cost.bytes) };
            }
        }
    }
    println!(
        "{imports} mutations, {errors} errors, worst {:.1} ms, {:.2} MB",
        worst.seconds * 1e3,
        worst.bytes as f64 / 1e6
    );
    assert!(errors > 0 && worst.seconds < 1.0 && worst.bytes < 100_000_000);
}

/// Files of a million bytes that are nothing but one kind of object: peak memory per byte of file.
#[test]
fn memory_is_in_proportion_to_the_file() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let lists = [
        ("nodes", "{}"),
        ("nodes", r#"{"mesh":0}"#),
        ("nodes", r#"{"matrix":[1,0,0,0,1,1,0,0,0,0,1,0,0,0,0,1]}"#),
        ("meshes", r#"{"primitives":[{"attributes":{}}]}"#),
        ("skins", r#"{"joints":[0]}"#),
        ("animations", "{}"),
        ("materials", "{}"),
        ("buffers", "{}"),
        ("bufferViews", r#"{"buffer":0,"byteLength":1}"#),
        ("accessors", r#"{"count":1,"componentType":5126,"type":"VEC3"}"#),
        ("scenes", "{}"),
        ("images", "{}"),
        ("extras", "0"),
    ];
    for (list, item) in lists {
        let items = vec![item; 1_000_000 / (item.len() + 1)].join(",");
        let extra = if item.contains("mesh\"") { r#","meshes":[{"primitives":[{"attributes":{}}]}]"# } else { "" };
        let file = format!(r#"{{"asset":{{"version":"2.0"}},"{list}":[{items}]{extra}}}"#);
        let import = || CharacterAsset::from_slice("many", file.as_bytes(), None, &ImportOptions::default());
        let (result, cost) = measured(import);
        let outcome =
            result.map_or_else(|error| error.to_string(), |asset| format!("{} warnings", asset.warnings.len()));
        let factor = cost.bytes as f64 / file.len() as f64;
        println!("{list} of {item}: {factor:.0} bytes per byte, {:.0} ms, {outcome}", cost.seconds * 1e3);
        assert!(cost.bytes < 400 * file.len() && cost.seconds < 10.0);
    }
}

/// JSON pointers to every value.
fn pointers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((pointer, value)) = open.pop() {
        match value {
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(key, item)| (format!("{pointer}/{key}"), item)))
            }
            Value::Object(items) => open.extend(items.iter().map(|(key, item)| (format!("{pointer}/{key}"), item))),
            _ => {}
        }
        found.push(pointer);
    }
    found
}
