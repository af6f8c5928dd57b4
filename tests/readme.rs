//! The README shows what is there.

use std::path::Path;

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
    use sinew::step::Stage;
    for stage in Stage::ALL {
        if matches!(stage, Stage::GatherInputs | Stage::ScatterOutputs) {
            continue;
        }
        for file in [format!("src/cpu/{}.rs", stage.name()), format!("shaders/{}.wgsl", stage.name())] {
            assert!(!text(&file).is_empty(), "{file} is empty");
        }
    }
}
