//! What the shaders declare is what Rust declares.
#![cfg(feature = "gpu")]

mod common;

use common::layout::check_declarations;
use sinew::gpu::SHARED;

fn sources(folder: &str) -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut sources: Vec<_> = std::fs::read_dir(folder)
        .expect("the shaders are in the repository")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "wgsl"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a readable file");
            (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), text)
        })
        .collect();
    sources.sort();
    sources
}

fn shared() -> String {
    SHARED.join("\n")
}

#[test]
fn every_shared_file_is_in_every_kernel() {
    let files = sources("shaders/shared");
    assert_eq!(files.len(), SHARED.len());
    for (name, text) in files {
        assert!(SHARED.contains(&text.as_str()), "gpu::SHARED lacks {name}.wgsl");
    }
}

#[test]
fn shared_structs_and_constants_equal_those_of_rust() {
    assert_eq!(check_declarations(&shared()), [""; 0]);
    for rust in sinew::layout::STRUCTS {
        assert!(shared().contains(&format!("struct {} {{", rust.name)), "no shader declares {}", rust.name);
    }
    for (name, _) in sinew::layout::CONSTANTS {
        assert!(shared().contains(&format!("const {name}:")), "no shader declares {name}");
    }
}

#[test]
fn every_stage_file_has_the_entry_point_of_its_name() {
    for (name, text) in sources("shaders") {
        let wgsl = format!("{}\n{text}", shared());
        assert_eq!(check_declarations(&wgsl), [""; 0], "{name}.wgsl");
        let module = naga::front::wgsl::parse_str(&wgsl).expect("checked above");
        let entries: Vec<_> = module.entry_points.iter().map(|entry| &entry.name).collect();
        assert_eq!(entries, [&name], "{name}.wgsl");
    }
}

#[test]
fn a_difference_is_found() {
    let changes = [
        ("node_base: u32,\n    node_count: u32", "node_count: u32,\n    node_base: u32"),
        ("chain_count: u32", "chains: u32"),
        ("    chain_count: u32,\n", ""),
        ("chain_count: u32", "chain_count: u32,\n    extra: u32"),
        ("gravity: vec3<f32>,\n    substep_seconds: f32", "substep_seconds: f32,\n    gravity: vec3<f32>"),
        ("const LANES: u32 = 8u", "const LANES: u32 = 4u"),
        ("struct Group", "struct Groups"),
    ];
    for (from, to) in changes {
        let wgsl = shared();
        assert!(wgsl.contains(from), "nothing to change: {from}");
        assert_ne!(check_declarations(&wgsl.replace(from, to)), [""; 0], "{from} became {to}");
    }
    let stage = "@compute @workgroup_size(32) fn trial() {}";
    assert_eq!(check_declarations(&format!("{}\n{stage}", shared())).len(), 1);
}
