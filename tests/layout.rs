//! What the shaders declare is what Rust declares.
#![cfg(feature = "gpu")]

mod common;

use common::layout::{check_declarations, check_kernel};
use sinew::gpu::{ARRAYS, KERNELS, Loops, SHARED};
use sinew::step::{Domain, Size, Stage};

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
    for rust in sinew::gpu::STRUCTS {
        assert!(shared().contains(&format!("struct {} {{", rust.name)), "no shader declares {}", rust.name);
    }
    let wgsl: String =
        ["shaders", "shaders/bindings"].into_iter().flat_map(sources).map(|(_, text)| text).chain([shared()]).collect();
    let whole = sinew::gpu::CONSTANTS.iter().copied().flatten().map(|(name, _)| name);
    for name in whole.chain(sinew::gpu::FLOAT_CONSTANTS.iter().map(|(name, _)| name)) {
        assert!(wgsl.contains(&format!("const {name}:")), "no shader declares {name}");
    }
}

#[test]
fn every_stage_on_the_gpu_has_its_kernel_file_and_bindings() {
    let files = sources("shaders");
    for (stage, specs) in KERNELS {
        assert_eq!(specs.is_empty(), stage.domain() == Domain::Host, "{}", stage.name());
        for spec in *specs {
            assert_eq!(check_kernel(spec, ARRAYS), [""; 0], "{}", spec.entry);
            assert_eq!(spec.stage, stage.name());
            let (_, text) = files.iter().find(|(name, _)| name == spec.stage).expect("a file of the stage's name");
            assert!(spec.source.ends_with(text.as_str()), "{}.wgsl is not what the kernel is made of", spec.stage);
            // Every pass of a file is in its stage's row.
            let entries = text.matches("@compute").count();
            assert_eq!(entries, specs.len(), "{}.wgsl has {entries} entry points", spec.stage);
            if let Size::Indirect(name) = spec.size {
                assert!(ARRAYS.iter().any(|array| array.name == name && array.indirect), "{}: {name}", spec.entry);
            }
        }
    }
    let stages: Vec<_> = KERNELS.iter().map(|(stage, _)| *stage).collect();
    assert_eq!(stages, Stage::ALL);
    assert_eq!(files.len(), KERNELS.iter().filter(|(_, specs)| !specs.is_empty()).count());
}

/// Drivers may divide by the product of two divisors, and have no number below [`f32::MIN_POSITIVE`]: 0/MIN_POSITIVE/¼ is then no number.
/// On an NVIDIA H200 tentacles that touched were laid anew for want of one there.
#[test]
fn quotients_that_are_divided_again_are_kept_from_the_least_number() {
    let mut found = 0;
    for (stage, spec) in KERNELS.iter().flat_map(|(stage, specs)| specs.iter().map(move |spec| (stage, spec))) {
        for line in spec.written().lines() {
            let divisors: Vec<&str> = line.split(" / larger(").skip(1).collect();
            // Sums of quotients are not divided again one by one.
            if divisors.len() > 1 && !line.contains(" + ") {
                found += 1;
                let guarded = divisors.iter().all(|divisor| divisor.contains("LEAST_DIVISOR"));
                assert!(guarded, "{}: {line}", stage.name());
            }
        }
    }
    assert!(found >= 2, "where friction's anchor is found, such quotients are");
}

/// What a driver does not write out, no loop over small matrices or rows is left of.
#[test]
fn unrolled_kernels_have_no_loops_of_known_count() {
    let unrolled = || KERNELS.iter().flat_map(|(_, specs)| *specs).filter(|spec| spec.loops == Loops::WrittenOut);
    assert!(unrolled().count() > 0);
    for spec in unrolled() {
        let wgsl = spec.wgsl();
        for head in wgsl.lines().filter(|line| line.trim_start().starts_with("for (")) {
            let by_chain = ["count", "segments", "MAX_BONES"].iter().any(|name| head.contains(name));
            assert!(by_chain && !head.contains("UNKNOWNS"), "{}: {head}", spec.stage);
        }
    }
}

#[test]
fn a_difference_is_found() {
    let changes = [
        ("node_base: u32,\n    rest_base: u32", "rest_base: u32,\n    node_base: u32"),
        ("node_count: u32", "nodes: u32"),
        ("    node_count: u32,\n", ""),
        ("node_count: u32", "node_count: u32,\n    extra: u32"),
        ("gravity: vec3<f32>,\n    h: f32", "h: f32,\n    gravity: vec3<f32>"),
        ("const LANES: u32 = 8u", "const LANES: u32 = 4u"),
        ("const NODE_SCALE: u32 = 3u", "const NODE_SCALE: u32 = 4u"),
        ("const SCALE_LIMIT: f32 = 1.3", "const SCALE_LIMIT: f32 = 1.2"),
    ];
    for (from, to) in changes {
        let wgsl = shared();
        assert!(wgsl.contains(from), "nothing to change: {from}");
        assert_ne!(check_declarations(&wgsl.replace(from, to)), [""; 0], "{from} became {to}");
    }
    let stages = [
        "@compute @workgroup_size(32) fn trial() {}",
        "struct Unknown { a: f32 } @group(0) @binding(1) var<storage> table: array<Unknown>;",
        "const UNKNOWN: u32 = 3u;",
    ];
    for stage in stages {
        assert_eq!(check_declarations(&format!("{}\n{stage}", shared())).len(), 1, "{stage}");
    }
}
