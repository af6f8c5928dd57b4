//! A window that shows a character's flesh: `cargo run --release -p sinew-viewer -- FILE.glb`.

mod app;
mod camera;
mod draw;
mod graphics;
mod screenshot;
mod shown;
mod simulation;
mod stage;
#[cfg(test)]
mod test_support;
mod ui;

use std::error::Error;
use std::path::PathBuf;

use clap::Parser;

/// Shows a character's flesh. Drag to orbit, right-drag to pan, wheel to zoom, shift-drag to move the character;
/// drop a .glb onto the window to load it.
#[derive(Parser, Clone, Debug)]
pub struct Arguments {
    /// The character, a .glb, .gltf or .vrm file.
    #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/octopus.glb"))]
    file: PathBuf,
    /// How large the file's unit is (m).
    #[arg(long, default_value_t = 1.0, value_name = "M")]
    meters_per_unit: f32,
    /// Saves a picture of the window after --frames and quits.
    #[arg(long, value_name = "PNG")]
    screenshot: Option<PathBuf>,
    /// Frames before the screenshot, each one step of 1/60 s whatever the clock says.
    #[arg(long, default_value_t = 60, value_name = "N")]
    frames: u32,
    /// Shows the rods.
    #[arg(long)]
    rods: bool,
    /// Shows the pills.
    #[arg(long)]
    pills: bool,
    /// Swings the root to either side by this (m).
    #[arg(long, default_value_t = 0.0, value_name = "M")]
    sway: f64,
    /// What steps at first; the panel changes it.
    #[arg(long, value_enum, default_value = "auto")]
    backend: BackendArgument,
}

/// What steps.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum BackendArgument {
    /// The GPU that draws where it is a real one, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU that draws, a software one too.
    Gpu,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut app = app::App::new(Arguments::parse());
    let event_loop = winit::event_loop::EventLoop::new()
        .map_err(|error| format!("no window can be opened ({error}); without a display, run it under xvfb-run"))?;
    event_loop.run_app(&mut app)?;
    app.outcome()
}
