//! The README shows what is there.

use std::path::Path;

use sinew::step::Stage;

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_listing_is_the_example() {
    assert!(text("README.md").contains(&text("examples/embed.rs")), "copy examples/embed.rs into README.md's listing");
}

#[test]
fn the_example_is_short() {
    let lines = text("examples/embed.rs").lines().count();
    println!("examples/embed.rs has {lines} lines");
    assert!(lines <= 80);
}

#[test]
fn every_stage_has_its_two_files() {
    for stage in Stage::ALL {
        if matches!(stage, Stage::GatherInputs | Stage::ScatterOutputs) {
            continue;
        }
        for file in [format!("src/cpu/{}.rs", stage.name()), format!("shaders/{}.wgsl", stage.name())] {
            assert!(!text(&file).is_empty(), "{file} is empty");
        }
    }
}

#[test]
fn every_shader_has_its_twin_in_rust() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for folder in ["shaders", "shaders/shared", "shaders/bindings"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("the shaders are in the repository") {
            let path = entry.expect("a readable folder").path();
            if path.extension().is_none_or(|end| end != "wgsl") {
                continue;
            }
            let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            let twins = [format!("src/cpu/{name}.rs"), format!("src/{name}.rs")];
            assert!(twins.iter().any(|twin| root.join(twin).is_file()), "{} has no twin {twins:?}", path.display());
            seen += 1;
        }
    }
    assert!(seen > Stage::ALL.len(), "only {seen} shaders were found");
}
