//! Makes the project's own characters: `cargo run --release --example make_assets`, or with another folder as
//! its argument. The same bytes come out everywhere; a test compares them with the committed files.

mod generator;

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("assets"), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    for model in [generator::arm(), generator::octopus()] {
        let path = folder.join(format!("{}.glb", model.name));
        let bytes = model.to_glb()?;
        let vertices: Vec<usize> = model.surfaces.iter().map(|s| s.positions.len()).collect();
        println!("{}: {vertices:?} vertices, {} joints, {} bytes", path.display(), model.joints.len(), bytes.len());
        std::fs::write(path, bytes)?;
    }
    Ok(())
}
