//! The README shows what is there.

use std::path::Path;

use sinew::step::{Domain, Stage};

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_listings_are_the_examples() {
    for example in ["examples/embed.rs", "examples/host_device.rs"] {
        assert!(text("README.md").contains(&text(example)), "copy {example} into README.md's listing");
    }
}

#[test]
fn the_examples_are_short() {
    for example in ["examples/embed.rs", "examples/host_device.rs"] {
        let lines = text(example).lines().count();
        println!("{example} has {lines} lines");
        assert!(lines <= 80);
    }
}

/// The manifest's version of a crate, without what may follow the first two numbers.
fn version(manifest: &str, name: &str) -> String {
    let prefix = format!("{name} = ");
    let is_dependency = |line: &&str| line.starts_with(&prefix) && !line.contains("dep:");
    let line = manifest.lines().find(is_dependency).unwrap_or_else(|| panic!("Cargo.toml has no {name}"));
    let quoted = line.split('"').find(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    quoted.unwrap_or_else(|| panic!("no version in {line}")).to_string()
}

#[test]
fn the_embedding_needs_no_registry_and_names_versions_and_features() {
    let (readme, manifest) = (text("README.md"), text("Cargo.toml"));
    assert!(!readme.contains("cargo add sinew"), "there is no registry to add it from");
    for name in ["glam", "hecs", "rapier3d", "wgpu"] {
        let row = format!("| {name} | {} | `sinew::{name}` |", version(&manifest, name));
        assert!(readme.contains(&row), "README.md lacks {row}");
    }
    let line = readme.lines().find(|line| line.starts_with("sinew = {")).expect("README.md says how to depend on it");
    let features = line.split('[').nth(1).and_then(|rest| rest.split(']').next()).expect("with features");
    let features: Vec<&str> = features.split(", ").map(|feature| feature.trim_matches('"')).collect();
    println!("{line}");
    assert!(line.contains("path = ") && line.contains("default-features = false"));
    for feature in &features {
        assert!(manifest.contains(&format!("\n{feature} = [")), "Cargo.toml has no feature {feature}");
    }
    let check = features.join(",");
    assert!(text("test").contains(&check), "./test checks other features than {check}");
}

#[test]
fn every_stage_has_its_two_files() {
    for stage in Stage::ALL {
        if stage.domain() == Domain::Host {
            continue;
        }
        // What chains do that meet the CPU does between its stages: whose twins they are, their shaders say.
        let own = (!stage.domain().is_of_meetings()).then(|| format!("src/cpu/{}.rs", stage.name()));
        for file in own.into_iter().chain([format!("shaders/{}.wgsl", stage.name())]) {
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
            let head: String =
                text(&path.to_string_lossy()).lines().take_while(|line| line.starts_with("//")).collect();
            let named = head.split_whitespace().map(|word| word.trim_end_matches([',', ';', '.']));
            let named = named.filter(|word| word.starts_with("src/")).map(str::to_owned);
            let twins = [format!("src/cpu/{name}.rs"), format!("src/{name}.rs")].into_iter().chain(named);
            let twins: Vec<String> = twins.collect();
            assert!(twins.iter().any(|twin| root.join(twin).is_file()), "{} has no twin {twins:?}", path.display());
            seen += 1;
        }
    }
    assert!(seen > Stage::ALL.len(), "only {seen} shaders were found");
}
