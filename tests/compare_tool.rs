//! `sinew compare`: its figures against the same sums made here, and its pictures.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Output};

use glam::Vec3;
use hecs::World;
use serde_json::Value;
use sinew::components::{CharacterInstance, CharacterPose};
use sinew::neural::{CorrectiveNetwork, Layer, MeshHash, NetworkSpec, PartSpec, Precision};
use sinew::rigid::RigidWorld;
use sinew::{Character, Physics, Pose};

const ARM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb");
const DT: f64 = 1.0 / 60.0;
const FRAMES: u32 = 72;

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sinew-compare-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

fn compare(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew")).args(["compare", "--backend", "cpu"]).args(args).output().unwrap()
}

fn told(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// A network of the arm that moves every vertex by one displacement, at any pose.
fn constant(arm: &Character, displacement: Vec3) -> CorrectiveNetwork {
    let mesh = &arm.asset().mesh;
    let count = mesh.positions.len();
    let part = PartSpec {
        input_mean: vec![0.0; 9],
        input_scale: vec![1.0; 9],
        layers: [Layer::zeros(9, 1), Layer::zeros(1, 1), Layer::zeros(1, 1)],
        low: vec![0.0],
        high: vec![0.0],
        basis: vec![0.0; 3 * count],
    };
    let spec = NetworkSpec {
        joints: vec!["forearm".into()],
        mesh: MeshHash::of(&mesh.positions, &mesh.triangles),
        vertex_count: count,
        mean: displacement.to_array().repeat(count),
        passive: Some(part),
        ..NetworkSpec::default()
    };
    CorrectiveNetwork::new(&spec, Precision::F32, 0.0).unwrap()
}

/// How far each vertex is from its simulated place by joints alone, frame after frame: stepped here, joints by `rigid_vertices`.
fn lacks(arm: &Character, settle: u32) -> Vec<Vec<f64>> {
    let (mut world, mut rigid, mut physics) = (World::new(), RigidWorld::default(), Physics::default());
    rigid.spawn_ground(0.0, 0.8).unwrap();
    let entity = arm.spawn(&mut world, &mut rigid, &mut physics, Pose::IDENTITY).unwrap();
    sinew::world::activate(&mut world, entity, "biceps_long", 0.7).unwrap();
    let curl = arm.asset().animation("curl").unwrap();
    let flesh = world.get::<&CharacterInstance>(entity).unwrap().flesh;
    let mut all = Vec::new();
    for frame in 0..=settle + FRAMES {
        let time = frame.saturating_sub(settle) as f32 / 60.0;
        curl.sample(curl.looped(time), &mut world.get::<&mut CharacterPose>(entity).unwrap().0);
        if frame == 0 {
            sinew::world::teleport(&mut world, &mut physics, &mut rigid, entity, Pose::IDENTITY).unwrap();
            continue;
        }
        physics.step(&mut world, &mut rigid, DT).unwrap();
        if frame > settle {
            let by_joints = arm.body().rigid_vertices(arm.asset(), &world.get::<&CharacterPose>(entity).unwrap().0);
            let simulated = &physics.vertices(flesh).unwrap().positions;
            all.push(by_joints.iter().zip(simulated).map(|(a, b)| f64::from(a.distance(*b))).collect());
        }
    }
    all
}

#[test]
fn the_figures_are_those_of_the_skins_and_the_pictures_show_them() {
    let arm = Character::load(ARM).unwrap();
    let folder = Folder::new("figures");
    let [network, report, gif] = ["zero.safetensors", "report.json", "compare.gif"].map(|name| folder.file(name));
    constant(&arm, Vec3::ZERO).save(&network).unwrap();
    let frames = FRAMES.to_string();
    let drive =
        [ARM, "--animation", "curl", "--activation", "biceps_long=0.7", "--settle", "0.25", "--frames", &frames];
    let with = |more: &[&str]| {
        let text = told(&compare(&[&drive[..], more].concat()));
        let report: Value = serde_json::from_str(&std::fs::read_to_string(&report).unwrap()).unwrap();
        (text, report)
    };
    let (text, found) = with(&["--network", &network, "--gif", &gif, "--report", &report]);
    println!("{text}");

    let lacks = lacks(&arm, 15);
    let squares = |vertex: usize| lacks.iter().map(|frame| frame[vertex].powi(2)).sum::<f64>();
    let all: Vec<f64> = (0..lacks[0].len()).map(squares).collect();
    let least = all.iter().copied().fold(0.0, f64::max) * 1.0e-4;
    let moving: Vec<usize> = (0..all.len()).filter(|&vertex| all[vertex] > least).collect();
    let sum: f64 = moving.iter().map(|&vertex| all[vertex]).sum();
    let rms = (sum / (moving.len() * lacks.len()) as f64).sqrt();
    let max = moving.iter().flat_map(|&vertex| lacks.iter().map(move |frame| frame[vertex])).fold(0.0, f64::max);
    println!("{} of {} vertices: {:.4} mm, {:.4} mm", moving.len(), all.len(), 1.0e3 * rms, 1.0e3 * max);
    let number = |value: &Value| value.as_f64().unwrap();
    let counted = number(&found["moving"]);
    assert!((counted / moving.len() as f64 - 1.0).abs() < 2.0e-3 && moving.len() < all.len() && moving.len() > 1000);
    for (key, expected) in [("rms", rms), ("max", max)] {
        let found = number(&found["skinning"][key]);
        assert!((found / expected - 1.0).abs() < 2.0e-3, "{key}: {found}, not {expected}");
    }
    // What moves nothing removes nothing, to the bit.
    assert_eq!((&found["by_network"], number(&found["removed"])), (&found["skinning"], 0.0));
    assert!(text.contains(&format!("{:.3}", 1.0e3 * number(&found["skinning"]["rms"]))), "{text}");
    assert!(text.contains("removes 0.0 %"), "{text}");

    // Every second frame is shown; heat is where skin lacks something, in colours that the simulated one has not.
    let mut decoder = gif::DecodeOptions::new();
    decoder.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = decoder.read_info(File::open(&gif).unwrap()).unwrap();
    let (width, height) = (usize::from(decoder.width()), usize::from(decoder.height()));
    let (mut shown, mut pixels) = (0, vec![0_u8; width * height * 4]);
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        shown += 1;
        let left = usize::from(frame.left);
        for (row, line) in frame.buffer.chunks(usize::from(frame.width) * 4).enumerate() {
            let begin = ((usize::from(frame.top) + row) * width + left) * 4;
            for (to, from) in pixels[begin..].chunks_mut(4).zip(line.chunks(4)).filter(|(_, from)| from[3] > 0) {
                to.copy_from_slice(from);
            }
        }
    }
    assert_eq!((shown, width % 3), (FRAMES / 2, 0));
    let panel = width / 3;
    // Much redder than it is blue, and much more so than it is green: what clay is not.
    let hot = |index: usize| {
        let pixel = |&at: &usize| at % width / panel == index && at / width < height - 30;
        let red = |at: &usize| {
            let [r, g, b] = [0, 1, 2].map(|k| i32::from(pixels[at * 4 + k]));
            r - g > 70 && r - b > 70
        };
        (0..width * height).filter(pixel).filter(red).count()
    };
    let hot = [0, 1, 2].map(hot);
    println!("{shown} pictures of {width} x {height}; {hot:?} pixels are hot");
    assert!(hot[0] > 100 && hot[0] == hot[2] && hot[1] < hot[0] / 10, "{hot:?}");

    // One that moves all by 4 cm is off by about that.
    constant(&arm, Vec3::Y * 0.04).save(&network).unwrap();
    let (text, moved) = with(&["--network", &network, "--report", &report]);
    println!("{text}");
    assert_eq!(moved["skinning"], found["skinning"]);
    assert!((0.03..0.05).contains(&number(&moved["by_network"]["rms"])) && number(&moved["removed"]) < -1.0, "{moved}");

    // Without one there are two pictures, and no line of it.
    let (text, alone) = with(&["--png", &folder.file("last.png"), "--report", &report]);
    assert!(
        alone["removed"].is_null() && alone["skinning"] == found["skinning"] && !text.contains("network"),
        "{text}"
    );
    let decoder = png::Decoder::new(std::io::BufReader::new(File::open(folder.file("last.png")).unwrap()));
    let info = decoder.read_info().unwrap();
    assert_eq!((info.info().width as usize, info.info().height as usize), (2 * panel, height));
}

#[test]
fn what_does_not_fit_is_said() {
    let network = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/networks/i8.safetensors");
    for (args, part) in [
        (&[ARM, "--network", network][..], "train it on this one"),
        (&[ARM, "--network", ARM], "no whole safetensors file"),
        (&[ARM, "--animation", "walk"], "has no animation `walk`"),
        (&[ARM, "--settle", "100"], "--settle is 100"),
        (&[ARM, "--scale", "0"], "--scale is 0"),
        (&[ARM, "--scale", "nan"], "--scale is NaN"),
        (&[ARM, "--activation", "biceps_longo=1"], "biceps_long"),
    ] {
        let output = compare(args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        println!("{error}");
        assert!(output.status.code() == Some(2) && error.contains(part), "{error}");
    }
}
