//! The command-line tool: thin, on the public API.

mod bake;
mod compare;
mod figures;
mod frames;
mod heat;
mod inspect;
mod network;
mod picture;
mod report;
mod run;
mod scene;
mod sheets;
#[cfg(feature = "train")]
mod train;
mod viperize;

use std::io::Write as _;
use std::process::ExitCode;

use clap::builder::RangedU64ValueParser;
use clap::{Args, Parser, Subcommand};

/// Gives game characters flesh.
#[derive(Parser)]
#[command(name = "sinew", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// What is in a character's file, what Sinew would make of it, and every warning.
    Inspect(inspect::InspectArgs),
    /// Steps a character through an animation.
    Run(run::RunArgs),
    /// Steps a character and draws it side by side: skinned alone, simulated, and by a network, with what these two lack.
    Compare(compare::CompareArgs),
    /// Steps a canonical scene.
    Scene(scene::SceneArgs),
    /// Bakes the fibres of a muscle's mesh into a sidecar.
    Viperize(viperize::ViperizeArgs),
    /// Bakes training data for corrective networks.
    Bake(bake::BakeArgs),
    /// Trains corrective networks from baked data.
    #[cfg(feature = "train")]
    Train(train::TrainArgs),
    /// Draws the paper's figures from runs of our own.
    Figures(figures::FiguresArgs),
}

/// Where to step.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum BackendArg {
    /// The GPU where there is a real one, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU.
    Gpu,
}

/// What is stepped, and where.
#[derive(Args)]
struct FrameArgs {
    /// How many frames.
    #[arg(long, default_value_t = 150)]
    frames: u32,
    /// The time step (s).
    #[arg(long, default_value_t = 1.0 / 60.0)]
    dt: f64,
    /// Where to step.
    #[arg(long, value_enum, default_value = "auto")]
    backend: BackendArg,
    /// Threads on the CPU, up to 1024; 0 for all.
    #[arg(long, default_value_t = 0, value_parser = RangedU64ValueParser::<usize>::new().range(0..=1024))]
    threads: usize,
    /// Sets a rod's activation, 0 to 10; 1 is all that a muscle has.
    #[arg(long = "activation", value_name = "MUSCLE=VALUE")]
    activations: Vec<String>,
}

/// What is drawn.
#[derive(Args)]
struct PictureArgs {
    /// Draws a moving picture.
    #[arg(long, value_name = "G.gif")]
    gif: Option<std::path::PathBuf>,
    /// Draws the last frame.
    #[arg(long, value_name = "P.png")]
    png: Option<std::path::PathBuf>,
}

/// Options that `run` and `scene` share.
#[derive(Args)]
struct StepArgs {
    #[command(flatten)]
    of_frames: FrameArgs,
    #[command(flatten)]
    pictures: PictureArgs,
    /// Writes a report as JSON.
    #[arg(long, value_name = "R.json")]
    report: Option<std::path::PathBuf>,
    /// Writes all nodes after the last frame as CSV.
    #[arg(long, value_name = "NODES.csv")]
    dump: Option<std::path::PathBuf>,
}

impl StepArgs {
    /// What is to be written has a folder to be written to, which is told before anything is stepped.
    fn check_folders(&self) -> Result<(), Error> {
        let files = [&self.pictures.gif, &self.pictures.png, &self.report, &self.dump];
        for file in files.into_iter().flatten() {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            if file.is_dir() {
                return Err(format!("cannot write {}: it is a folder; name a file in it", file.display()).into());
            }
            if folder.is_some_and(|folder| !folder.is_dir()) {
                return Err(format!("cannot write {}: its folder is not there; make it first", file.display()).into());
            }
        }
        Ok(())
    }
}

/// What went wrong, in a line that names the thing and the fix.
type Error = Box<dyn std::error::Error>;

/// Writes to standard output; a reader that has seen enough is no error.
fn print(text: &str) -> Result<(), Error> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Where a session has no folder for sockets, Mesa's Vulkan layer looks there for a display all the same, and complains before
/// anything that we say. In a folder that is not there it finds none.
fn keep_mesa_quiet() {
    const NAME: &str = "XDG_RUNTIME_DIR";
    if cfg!(unix) && std::env::var_os(NAME).is_none() {
        // SAFETY: no other thread is there yet that could read the environment.
        unsafe { std::env::set_var(NAME, "/nonexistent") };
    }
}

fn main() -> ExitCode {
    keep_mesa_quiet();
    let result = match Cli::parse().command {
        Command::Inspect(args) => inspect::inspect(&args),
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Scene(args) => scene::scene(&args),
        Command::Viperize(args) => viperize::viperize_muscle(&args),
        Command::Bake(args) => bake::bake_character(&args),
        #[cfg(feature = "train")]
        Command::Train(args) => train::train_networks(&args),
        Command::Figures(args) => figures::figures(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sinew: {error}");
            ExitCode::from(2)
        }
    }
}
