//! `sinew scene`.

use sinew::scenes::SceneParameters;

use crate::frames::{step_frames, timed};
use crate::picture::RodFilm;
use crate::report::{Counts, Told};
use crate::run::{assignment, conclude, physics};
use crate::{Error, StepArgs};

#[derive(clap::Args)]
pub struct SceneArgs {
    /// cantilevers, band, arm, logs, octopuses, slope, rolling, pinch or pile.
    name: String,
    /// Sets a parameter of the scene.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    step: StepArgs,
}

pub fn scene(args: &SceneArgs) -> Result<(), Error> {
    args.step.check_folders()?;
    let mut parameters = SceneParameters::of(&args.name)?;
    for text in &args.set {
        let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is no KEY=VALUE"))?;
        parameters.set(key, value)?;
    }
    let scene = parameters.build(&args.name)?;
    let dt = args.step.of_frames.dt;
    let mut physics = physics(&args.step.of_frames, scene.config)?;
    physics.measure_stages = args.step.report.is_some();
    let handle = scene.insert(&mut physics)?;
    let mut activations = Vec::new();
    for text in &args.step.of_frames.activations {
        let (name, value) = assignment(text)?;
        let chain = scene.flesh.chain_named(name).ok_or_else(|| format!("there is no rod `{name}`"))?;
        activations.push((chain, value));
    }

    let film = || RodFilm::new(&scene, dt);
    let clock = step_frames(&args.step, &mut physics, handle, film, |physics, frame| {
        let time = f64::from(frame) * dt;
        scene.drive(physics, handle, time)?;
        scene.move_solids(physics, time - dt, time);
        for &(chain, value) in &activations {
            physics.set_activation(handle, chain, value)?;
        }
        Ok(timed(|| physics.step_flesh(dt))?)
    })?;
    let told = Told {
        input: args.name.clone(),
        frames: args.step.of_frames.frames,
        dt,
        counts: Counts::default(),
        bones: Vec::new(),
        warnings: Vec::new(),
    };
    conclude(&args.step, &physics, handle, told, &clock)
}
