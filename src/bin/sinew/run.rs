//! `sinew run`.

use std::path::{Path, PathBuf};

use hecs::{Entity, World};
use indicatif::{ProgressBar, ProgressStyle};
use sinew::character::{Animation, FleshOptions, ImportOptions, Sidecar, SidecarSource};
use sinew::components::{CharacterInstance, CharacterPose, MorphWeights};
use sinew::rigid::RigidWorld;
use sinew::step::StepConfig;
use sinew::{Backend, Character, FleshHandle, MOST_MORPH_WEIGHT, Physics, Pose};

use crate::frames::{step_frames, timed};
use crate::picture::CharacterFilm;
use crate::report::{Clock, Counts, Named, Report, Told, dump, report, write};
use crate::{BackendArg, Error, FrameArgs, StepArgs, print};

/// A character, and what moves it.
#[derive(clap::Args)]
pub struct CharacterArgs {
    /// A .glb, .gltf or .vrm file.
    pub file: PathBuf,
    /// The animation to play; the first one by default.
    #[arg(long)]
    animation: Option<String>,
    /// What one unit of the file is (m).
    #[arg(long, default_value_t = 1.0)]
    meters_per_unit: f32,
    /// A sidecar with muscles, instead of the one beside FILE.
    #[arg(long, value_name = "SIDECAR")]
    muscles: Option<PathBuf>,
}

impl CharacterArgs {
    pub fn load(&self) -> Result<Character, Error> {
        loaded(&self.file, self.muscles.as_deref(), self.meters_per_unit)
    }

    /// The animation to play, if there is any.
    pub fn animation<'a>(&self, character: &'a Character) -> Result<Option<&'a Animation>, Error> {
        let animations = &character.asset().animations;
        match &self.animation {
            None => Ok(animations.first()),
            Some(name) => character.asset().animation(name).map(Some).ok_or_else(|| {
                let names: Vec<&str> = animations.iter().map(|animation| animation.name.as_str()).collect();
                let has = if names.is_empty() { "none".to_string() } else { names.join(", ") };
                format!("{} has no animation `{name}`; it has: {has}", self.file.display()).into()
            }),
        }
    }
}

#[derive(clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    character: CharacterArgs,
    #[command(flatten)]
    step: StepArgs,
}

/// The character of a file, with the muscles of a sidecar, or of the one beside it.
pub fn loaded(file: &Path, muscles: Option<&Path>, meters_per_unit: f32) -> Result<Character, Error> {
    let sidecar = match muscles {
        Some(path) => SidecarSource::Given(
            Sidecar::read(path)?.ok_or_else(|| format!("{}: there is no such sidecar", path.display()))?,
        ),
        None => SidecarSource::Beside,
    };
    let import = ImportOptions { meters_per_unit, sidecar, ..Default::default() };
    Ok(Character::load_with(file, &import, &FleshOptions::default())?)
}

/// Has a character's pose and morph weights where an animation has them at a time (s), again and again.
pub fn animate(
    world: &World,
    entity: Entity,
    character: &Character,
    animation: &Animation,
    time: f64,
) -> Result<(), Error> {
    let time = animation.looped(time as f32);
    let mut pose = world.get::<&mut CharacterPose>(entity)?;
    animation.sample(time, &mut pose.0);
    if let Ok(mut weights) = world.get::<&mut MorphWeights>(entity) {
        animation.sample_morphs(time, &character.asset().mesh.morphs, &mut weights.0);
        weights.0.iter_mut().for_each(|weight| *weight = weight.clamp(-MOST_MORPH_WEIGHT, MOST_MORPH_WEIGHT));
    }
    Ok(())
}

/// Excites a character's muscles, each as a `MUSCLE=VALUE` says.
pub fn excite(world: &mut World, entity: Entity, activations: &[String]) -> Result<(), Error> {
    for text in activations {
        let (muscle, value) = assignment(text)?;
        sinew::world::activate(world, entity, muscle, value)?;
    }
    Ok(())
}

pub fn run(args: &RunArgs) -> Result<(), Error> {
    args.step.check_folders()?;
    let character = args.character.load()?;
    let animation = args.character.animation(&character)?;
    let frames = &args.step.of_frames;
    let mut world = World::new();
    let mut rigid = RigidWorld::default();
    rigid.spawn_ground(0.0, 0.8)?;
    let mut physics = physics(frames, StepConfig::default())?;
    physics.measure_stages = args.step.report.is_some();
    let entity = character.spawn(&mut world, &mut rigid, &mut physics, Pose::IDENTITY)?;
    excite(&mut world, entity, &frames.activations)?;
    let handle = world.get::<&CharacterInstance>(entity)?.flesh;

    let film = || CharacterFilm::new(&character, animation, frames.dt);
    let clock = step_frames(&args.step, &mut physics, handle, film, |physics, frame| {
        if let Some(animation) = animation {
            animate(&world, entity, &character, animation, f64::from(frame) * frames.dt)?;
        }
        Ok(timed(|| physics.step(&mut world, &mut rigid, frames.dt))?)
    })?;
    finish(args, &character, &physics, handle, &clock)
}

/// Physics on the backend asked for.
pub fn physics(args: &FrameArgs, config: StepConfig) -> Result<Physics, Error> {
    let backend = match args.backend {
        // Where chains touch, solids and bones may too: with what force these press is told on the CPU alone.
        BackendArg::Auto if config.passes == 0 => Backend::Auto,
        BackendArg::Auto | BackendArg::Cpu => Backend::Cpu,
        BackendArg::Gpu => Backend::Gpu,
    };
    let bar =
        ProgressBar::no_length().with_style(ProgressStyle::with_template("compiling {msg} {bar:40} {pos}/{len}")?);
    let mut physics = Physics::new_with_progress(backend, |progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.ready as u64);
        bar.set_message(progress.compiling.unwrap_or_default());
    })?;
    bar.finish_and_clear();
    physics.config = StepConfig { threads: args.threads, ..config };
    Ok(physics)
}

/// `NAME=VALUE` with a number.
pub fn assignment(text: &str) -> Result<(&str, f32), Error> {
    let (name, value) = text.rsplit_once('=').ok_or_else(|| format!("`{text}` is no NAME=VALUE"))?;
    let value = value.parse().map_err(|_| format!("`{value}` in `{text}` is no number"))?;
    Ok((name, value))
}

fn finish(
    args: &RunArgs,
    character: &Character,
    physics: &Physics,
    handle: FleshHandle,
    clock: &Clock,
) -> Result<(), Error> {
    let counts = Counts {
        characters: 1,
        pills: character.body().pills.len(),
        vertices: character.asset().mesh.positions.len(),
        joints: character.asset().skeleton.joints.len(),
        ..Counts::default()
    };
    let told = Told {
        input: args.character.file.display().to_string(),
        frames: args.step.of_frames.frames,
        dt: args.step.of_frames.dt,
        counts,
        bones: bone_names(character),
        warnings: character.warnings().iter().map(|warning| warning.0.clone()).collect(),
    };
    conclude(&args.step, physics, handle, told, clock)
}

/// What went wrong, in words.
fn misfortunes(report: &Report) -> Vec<String> {
    let names = |named: &[Named]| -> String {
        let words: Vec<String> = named.iter().map(|n| format!("{} ({} times)", n.name, n.times)).collect();
        words.join(", ")
    };
    let mut lines = Vec::new();
    if !report.finite {
        lines.push("the state at the end is not finite".into());
    }
    if report.resets > 0 {
        lines.push(format!(
            "flesh went where it cannot be and was laid anew along its bones: {}",
            names(&report.laid_anew)
        ));
    }
    if report.teleports > 0 {
        lines.push(format!(
            "in {} frames there were jumps that no motion explains, taken as teleports: {}",
            report.teleports,
            names(&report.jumped)
        ));
    }
    if report.time.simulated < report.time.asked {
        lines.push(format!(
            "frames were too long to follow: {:.3} of {:.3} s were simulated, in up to {} substeps a frame",
            report.time.simulated, report.time.asked, report.time.substeps_max
        ));
    }
    lines
}

/// The joints that the bones of a character's flesh are.
fn bone_names(character: &Character) -> Vec<String> {
    let joints = &character.asset().skeleton.joints;
    character.body().bones.iter().map(|&joint| joints[joint as usize].name.clone()).collect()
}

/// Prints the run in a few lines, and writes report and dump where asked for.
pub fn conclude(
    args: &StepArgs,
    physics: &Physics,
    handle: FleshHandle,
    told: Told,
    clock: &Clock,
) -> Result<(), Error> {
    for warning in &told.warnings {
        eprintln!("warning: {warning}");
    }
    let report = report(physics, handle, told, clock)?;
    let (counts, quality) = (&report.counts, &report.quality);
    print(&format!(
        "{}: {} frames of {:.2} ms on the {}: {} rods, {} nodes, {} vertices\n\
         step: median {:.3} ms, 95 % {:.3} ms, max {:.3} ms\n\
         volume error: mean {:.3} %, max {:.3} %; stretch: mean {:.3} %, max {:.3} %\n\
         finite: {}, resets: {}, state {}\n",
        report.input,
        report.frames,
        report.dt * 1000.0,
        report.backend,
        counts.rods,
        counts.nodes,
        counts.vertices,
        report.timing_ms.step.median,
        report.timing_ms.step.p95,
        report.timing_ms.step.max,
        100.0 * quality.volume_error_mean,
        100.0 * quality.volume_error_max,
        100.0 * quality.stretch_error_mean,
        100.0 * quality.stretch_error_max,
        report.finite,
        report.resets,
        report.state_hash
    ))?;
    for line in misfortunes(&report) {
        eprintln!("warning: {line}");
    }
    if let Some(path) = &args.report {
        write(path, &report)?;
    }
    if let Some(path) = &args.dump {
        dump(path, physics)?;
    }
    Ok(())
}
