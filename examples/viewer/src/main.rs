//! A window that shows a character's flesh, or a heap of it: `cargo run --release -p sinew-viewer -- FILE.glb`.

mod app;
mod bone_solids;
mod camera;
mod draw;
mod graphics;
mod heap;
mod screenshot;
mod shown;
mod simulation;
mod stage;
#[cfg(test)]
mod test_support;
mod thrown;
mod ui;

use std::error::Error;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::heap::SceneName;
use crate::thrown::Projectile;

/// Shows a character's flesh, or a heap of it. Drag to orbit, right-drag to pan, wheel to zoom, shift-drag to move the
/// character, G to throw something; drop a .glb onto the window to load it.
#[derive(Parser, Clone, Debug)]
pub struct Arguments {
    /// The character, a .glb, .gltf or .vrm file.
    #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/octopus.glb"))]
    file: PathBuf,
    /// What there is to see at first; the panel changes it.
    #[arg(long, value_enum, default_value = "character")]
    scene: SceneName,
    /// How many things a heap has, 25 unless said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=heap::MOST as i64))]
    count: Option<u16>,
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
    /// Shows where flesh is pressed.
    #[arg(long)]
    contacts: bool,
    /// Throws this in the first frame.
    #[arg(long, value_enum, value_name = "WHAT")]
    throw: Option<Projectile>,
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

impl Arguments {
    /// Refuses what does not go together.
    fn checked(self) -> Result<Self, clap::Error> {
        let why = match (self.scene, self.count) {
            (SceneName::Character, Some(_)) => {
                "--count says how many things a heap has: add --scene octopuses or --scene pile, or leave it out"
            }
            _ => return Ok(self),
        };
        Err(Self::command().error(ErrorKind::MissingRequiredArgument, why))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse().checked().unwrap_or_else(|error| error.exit());
    let mut app = app::App::new(arguments);
    let event_loop = winit::event_loop::EventLoop::new()
        .map_err(|error| format!("no window can be opened ({error}); without a display, run it under xvfb-run"))?;
    event_loop.run_app(&mut app)?;
    app.outcome()
}
