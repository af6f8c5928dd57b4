//! `sinew train`: corrective networks from baked data.

use std::fmt::Write as _;
use std::path::PathBuf;

use glam::Vec3;
use indicatif::{ProgressBar, ProgressStyle};
use plotters::prelude::SeriesLabelPosition;
use sinew::Character;
use sinew::bake::DataSet;
use sinew::neural::{ErrorRow, MOVING_SHARE, Precision, SkinErrors, SkinnedBy};
use sinew::picture::{Camera, Image, MeshView, Scene};
use sinew::train::{TrainBackend, TrainOptions, Trained, TrainingData, train};

use crate::figures::plot::{Curve, Figure, Panel};
use crate::heat::{heat, side_by_side};
use crate::picture::VIEW;
use crate::run::loaded;
use crate::{Error, print};

#[derive(clap::Args)]
pub struct TrainArgs {
    /// A folder that `sinew bake` has filled.
    data: PathBuf,
    /// The network's file.
    #[arg(long, value_name = "NET.safetensors")]
    out: PathBuf,
    /// The character that was baked: errors are then told by part of its skin.
    #[arg(long, value_name = "FILE")]
    character: Option<PathBuf>,
    /// What one unit of the character's file is (m).
    #[arg(long, default_value_t = 1.0)]
    meters_per_unit: f32,
    /// What perceptrons are trained on; gpu needs a build with feature train-gpu.
    #[arg(long, value_enum, default_value = "cpu")]
    backend: TrainBackendArg,
    /// Of what is random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Which share of the poses is held out.
    #[arg(long, default_value_t = TrainOptions::default().held_out)]
    held_out: f64,
    /// Principal components of the passive network and of the active one, at most.
    #[arg(long, value_delimiter = ',', num_args = 1, value_name = "P,A", default_values_t = TrainOptions::default().components)]
    components: Vec<usize>,
    /// Units of the two hidden layers.
    #[arg(long, value_delimiter = ',', num_args = 1, value_name = "H,H", default_values_t = TrainOptions::default().hidden)]
    hidden: Vec<usize>,
    /// Epochs, at most.
    #[arg(long, default_value_t = TrainOptions::default().epochs)]
    epochs: u32,
    /// Epochs without a better one after which it is enough.
    #[arg(long, default_value_t = TrainOptions::default().patience)]
    patience: u32,
    /// Samples a batch.
    #[arg(long, default_value_t = TrainOptions::default().batch)]
    batch: usize,
    /// AdamW's rate in the first epoch.
    #[arg(long, default_value_t = TrainOptions::default().learning_rate)]
    learning_rate: f64,
    /// By which share of itself, times the rate, a weight falls in each step.
    #[arg(long, default_value_t = TrainOptions::default().weight_decay)]
    weight_decay: f64,
    /// What the basis is stored in.
    #[arg(long, value_enum, default_value = "f16")]
    precision: PrecisionArg,
    /// Blocks of vertices that a component moves by no more than this (m) are not stored.
    #[arg(long, default_value_t = TrainOptions::default().threshold)]
    threshold: f32,
    /// Where checkpoints go, which a killed run goes on from; beside NET by default.
    #[arg(long, value_name = "DIR")]
    checkpoints: Option<PathBuf>,
    /// Draws what is left over, epoch by epoch.
    #[arg(long, value_name = "LOSS.png")]
    plot: Option<PathBuf>,
    /// Draws what each vertex lacks (RMS) in what was held out, by skinning alone and with the network, on the --character.
    #[arg(long, value_name = "HEAT.png", requires = "character")]
    heat: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum TrainBackendArg {
    Cpu,
    Gpu,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum PrecisionArg {
    F32,
    F16,
    I8,
}

pub fn train_networks(args: &TrainArgs) -> Result<(), Error> {
    let pair = |name: &str, values: &[usize]| -> Result<[usize; 2], Error> {
        values.try_into().map_err(|_| format!("--{name} takes two numbers, such as 32,64").into())
    };
    let options = TrainOptions {
        backend: match args.backend {
            TrainBackendArg::Cpu => TrainBackend::Cpu,
            TrainBackendArg::Gpu => TrainBackend::Gpu,
        },
        seed: args.seed,
        held_out: args.held_out,
        components: pair("components", &args.components)?,
        hidden: pair("hidden", &args.hidden)?,
        epochs: args.epochs,
        patience: args.patience,
        batch: args.batch,
        learning_rate: args.learning_rate,
        weight_decay: args.weight_decay,
        precision: match args.precision {
            PrecisionArg::F32 => Precision::F32,
            PrecisionArg::F16 => Precision::F16,
            PrecisionArg::I8 => Precision::I8,
        },
        threshold: args.threshold,
        ..TrainOptions::default()
    };
    let data = DataSet::open(&args.data)?;
    let load = |file: &PathBuf| loaded(file, None, args.meters_per_unit);
    let character = args.character.as_ref().map(load).transpose()?;
    character.iter().try_for_each(|character| data.check(character))?;
    let mut samples = TrainingData::read(&data)?;
    character.iter().for_each(|character| samples.name_parts(character));
    let checkpoints = args.checkpoints.clone().unwrap_or_else(|| args.out.with_extension("checkpoints"));
    let bar = ProgressBar::no_length()
        .with_style(ProgressStyle::with_template("training {msg} {bar:30} {pos}/{len}, at most {eta} left")?);
    let trained = train(&samples, &options, Some(&checkpoints), &mut |progress| {
        bar.set_length(u64::from(progress.epochs));
        if u64::from(progress.epoch) < bar.position() {
            bar.reset_eta();
        }
        bar.set_position(u64::from(progress.epoch));
        bar.set_message(format!("{}, {:.2} % held out left over", progress.which.name(), 100.0 * progress.held_out));
        true
    });
    bar.finish_and_clear();
    let trained = trained?;
    trained.network.save(&args.out)?;
    if let Some(path) = &args.plot {
        curves(&trained).draw()?.write_png(path)?;
    }
    if let (Some(path), Some(character)) = (&args.heat, &character) {
        heat_map(character, &trained.held_out)?.write_png(path)?;
    }
    print(&told(args, &samples, &trained)?)
}

fn told(args: &TrainArgs, data: &TrainingData, trained: &Trained) -> Result<String, Error> {
    let mut text = String::new();
    let [passive, active] = trained.unexplained;
    writeln!(
        text,
        "{}: from {} samples, {} components that leave {:.1e} and {:.1e} of the variance over, {:.2} MB",
        args.out.display(),
        data.len(),
        trained.network.component_count(),
        passive,
        active,
        trained.network.to_bytes().len() as f64 * 1.0e-6
    )?;
    let percent = 100.0 * MOVING_SHARE;
    writeln!(
        text,
        "errors of vertices (mm): of all, and RMS of those that move beyond skinning, by over {percent:.0} % of what the farthest does"
    )?;
    writeln!(
        text,
        "{:<24} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "part", "poses", "rms", "max", "without", "moving", "rms", "without", "removed"
    )?;
    for row in trained.network.errors() {
        let ErrorRow { part, poses, rms, max, skinning_rms, moving, moving_rms, moving_skinning_rms, .. } = row;
        let [rms, max, without, moving_rms, moving_without] =
            [rms, max, skinning_rms, moving_rms, moving_skinning_rms].map(|length| length * 1.0e3);
        write!(text, "{part:<24} {poses:>8} {rms:>9.4} {max:>9.4} {without:>9.4}")?;
        write!(text, " {moving:>9} {moving_rms:>9.4} {moving_without:>9.4}")?;
        writeln!(text, " {:>9}", row.removed().map_or("-".into(), |removed| format!("{:.1} %", 100.0 * removed)))?;
    }
    Ok(text)
}

/// What each vertex lacks (RMS), on the mesh at rest, from the front and from behind.
fn heat_map(character: &Character, errors: &SkinErrors) -> Result<Image, Error> {
    const SIDE: u32 = 320;
    let (asset, body) = (character.asset(), character.body());
    let positions = body.rigid_vertices(asset, &asset.skeleton.rest_pose());
    let normals = asset.mesh.normals.clone();
    let figures = errors.over_moving();
    let most = 2.0 * figures.skinning[0] as f32;
    let mut panels = Vec::new();
    for (view, place) in [(VIEW, ""), (Vec3::new(-VIEW.x, VIEW.y, -VIEW.z), ", from behind")] {
        let titles = [(SkinnedBy::Joints, "skinning alone"), (SkinnedBy::Network, "network")];
        for (by, title) in titles {
            let mut scene = Scene::new(Camera::framing_points(&positions, view, 1.0));
            let colours = heat(&body.triangles, &errors.rms(by), most);
            scene.meshes.push(MeshView {
                positions: &positions,
                normals: &normals,
                triangles: &body.triangles,
                triangle_colours: &colours,
            });
            panels.push((format!("{title}, held out{place}"), scene.render(SIDE, SIDE)?));
        }
    }
    Ok(side_by_side(&panels, most))
}

/// What is left over of coefficients' variance, epoch by epoch.
fn curves(trained: &Trained) -> Figure {
    let panel = |title: &str, history: &[[f32; 2]]| {
        let curve = |label: &str, colour: usize, which: usize| {
            let points = history.iter().enumerate();
            Curve::new(label, colour, points.map(|(epoch, losses)| ((epoch + 1) as f64, f64::from(losses[which]))))
        };
        Panel {
            title: title.into(),
            x_label: "epoch".into(),
            y_label: "share of the variance left over".into(),
            log: true,
            legend: Some(SeriesLabelPosition::UpperRight),
            curves: vec![curve("training", 0, 0), curve("held out", 1, 1)],
            ..Panel::default()
        }
    };
    let mut panels = vec![panel("passive", &trained.passive)];
    if !trained.active.is_empty() {
        panels.push(panel("active", &trained.active));
    }
    Figure {
        number: 0,
        title: "Training".into(),
        caption: "What perceptrons leave over of the variance of their coefficients, and so of vertices.".into(),
        numbers: Vec::new(),
        panels,
    }
}
