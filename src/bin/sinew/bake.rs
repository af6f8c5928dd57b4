//! `sinew bake`: training data for corrective networks.

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use sinew::bake::{
    BakeOptions, BakeSummary, FlawedSample, Limits, Part, Plan, PoseSource, SettleOptions, Source, bake,
};

use crate::run::loaded;
use crate::{Error, print};

/// What `--poses` calls the file's own animations.
const ANIMATIONS: &str = "animations";

#[derive(clap::Args)]
#[command(after_long_help = LIMITS_HELP)]
pub struct BakeArgs {
    /// A .glb, .gltf or .vrm file.
    file: PathBuf,
    /// Where poses come from: `animations`, for those of FILE, or a file of limits (see below); both may be given, and limits then
    /// overrule what the animations reach. By default the animations.
    #[arg(long, value_name = "animations|LIMITS.json")]
    poses: Vec<String>,
    /// The folder to write shards and manifest.json to; what is whole there stays.
    #[arg(long, value_name = "DATA")]
    out: PathBuf,
    /// How many samples.
    #[arg(long, default_value_t = BakeOptions::default().samples)]
    samples: u32,
    /// Of what is random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Samples a pose: one without activations, the others with one muscle and with several by turns.
    #[arg(long, default_value_t = BakeOptions::default().per_pose)]
    per_pose: u32,
    /// The largest activation.
    #[arg(long, default_value_t = BakeOptions::default().most_activation)]
    most_activation: f32,
    /// By which share of a joint's range a pose goes from an animation's frame, at most, to either side.
    #[arg(long, default_value_t = BakeOptions::default().around)]
    around: f64,
    /// By which share of themselves the ranges that animations reach are widened.
    #[arg(long, default_value_t = BakeOptions::default().beyond)]
    beyond: f64,
    /// Bakes every Nth shard from the Ith on (from 0), for array schedulers; the same command without it makes the whole.
    #[arg(long, value_name = "I/N", value_parser = part)]
    shard: Option<Part>,
    /// Samples a shard: what a killed run loses at most.
    #[arg(long, default_value_t = BakeOptions::default().shard_samples)]
    shard_samples: u32,
    /// Threads; 0 for all.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// The time step (s).
    #[arg(long, default_value_t = SettleOptions::default().dt)]
    dt: f64,
    /// Substeps of it.
    #[arg(long, default_value_t = SettleOptions::default().substeps)]
    substeps: u32,
    /// Gravity along -y (m/s²).
    #[arg(long, default_value_t = SettleOptions::default().gravity)]
    gravity: f64,
    /// How long bones move from rest to the pose (s).
    #[arg(long, default_value_t = SettleOptions::default().move_time)]
    move_time: f64,
    /// Flesh is at rest once no node has been faster than this times the skin's size (1/s), for --still-time.
    #[arg(long, default_value_t = SettleOptions::default().still_speed)]
    still_speed: f64,
    /// See --still-speed (s).
    #[arg(long, default_value_t = SettleOptions::default().still_time)]
    still_time: f64,
    /// After so long (s) a sample counts as not settled.
    #[arg(long, default_value_t = SettleOptions::default().most_time)]
    most_time: f64,
    /// What one unit of the file is (m).
    #[arg(long, default_value_t = 1.0)]
    meters_per_unit: f32,
    /// A sidecar with muscles, instead of the one beside FILE.
    #[arg(long, value_name = "SIDECAR")]
    muscles: Option<PathBuf>,
}

const LIMITS_HELP: &str = "\
Limits are in JSON, degrees about a joint's own axes at rest; what is not named does not turn:

  { \"version\": 1, \"joints\": {
      \"elbow\": { \"euler\": { \"x\": [0, 130] }, \"order\": \"xyz\" },
      \"shoulder\": { \"twist_axis\": \"y\", \"twist\": [-45, 45], \"swing\": { \"x\": [-60, 90], \"z\": [-30, 30] } } } }";

/// `I/N`.
fn part(text: &str) -> Result<Part, String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match parts {
        Some((index, count)) if index < count => Ok(Part { index, count }),
        _ => Err("must be I/N with I from 0 to N - 1, such as 0/8".into()),
    }
}

fn source(text: &str) -> Result<PoseSource, Error> {
    if text == ANIMATIONS {
        return Ok(PoseSource::Animations);
    }
    let json = std::fs::read_to_string(text)
        .map_err(|error| format!("{text}: {error}; give `{ANIMATIONS}` or a file of limits"))?;
    Ok(PoseSource::Limits(Limits::from_json(&json).map_err(|error| format!("{text}: {error}"))?))
}

pub fn bake_character(args: &BakeArgs) -> Result<(), Error> {
    let character = loaded(&args.file, args.muscles.as_deref(), args.meters_per_unit)?;
    let sources = args.poses.iter().map(|text| source(text)).collect::<Result<Vec<_>, _>>()?;
    let options = BakeOptions {
        samples: args.samples,
        seed: args.seed,
        per_pose: args.per_pose,
        shard_samples: args.shard_samples,
        around: args.around,
        beyond: args.beyond,
        most_activation: args.most_activation,
        settle: SettleOptions {
            dt: args.dt,
            substeps: args.substeps,
            gravity: args.gravity,
            move_time: args.move_time,
            still_speed: args.still_speed,
            still_time: args.still_time,
            most_time: args.most_time,
            ..SettleOptions::default()
        },
    };
    let plan = Plan::new(&character, &Source::of(&args.file)?, &sources, &options)?;
    let summary = with_progress(&plan, args)?;
    print(&told(&plan, args, &summary))
}

fn with_progress(plan: &Plan, args: &BakeArgs) -> Result<BakeSummary, Error> {
    let bar = ProgressBar::no_length()
        .with_style(ProgressStyle::with_template("baking {bar:40} {pos}/{len} samples, {eta} left")?);
    let part = args.shard.unwrap_or(Part::WHOLE);
    let summary = bake(plan, &args.out, part, args.threads, &|progress| {
        if progress.done == progress.kept {
            bar.set_length(u64::from(progress.total));
            bar.set_position(u64::from(progress.kept));
            // What was there already says nothing of how long the others take.
            bar.reset_eta();
        } else {
            bar.inc(1);
        }
    });
    bar.finish_and_clear();
    Ok(summary?)
}

fn told(plan: &Plan, args: &BakeArgs, summary: &BakeSummary) -> String {
    const MOST_LISTED: usize = 8;
    let head = plan.head();
    let mut text = format!(
        "{}: {} samples of {} joints and {} muscles, {} vertices, in {} shards; {} baked, {} there before\n",
        args.out.display(),
        head.options.samples,
        head.joints.len(),
        head.muscles.len(),
        head.vertices,
        plan.shard_count(),
        summary.baked,
        summary.kept
    );
    if summary.damaged > 0 {
        eprintln!("warning: {} shards were damaged, and baked anew", summary.damaged);
    }
    let Some(manifest) = &summary.manifest else {
        text += "not all shards are there yet: bake the others; the same command without --shard makes the whole\n";
        return text;
    };
    let used: u32 = manifest.shards.iter().map(|shard| shard.used).sum();
    let settled: u32 = manifest.shards.iter().map(|shard| shard.settled).sum();
    let singular: u64 = manifest.shards.iter().map(|shard| shard.singular).sum();
    text += &format!("{settled} came to rest, {used} are used; manifest.json has them all\n");
    for FlawedSample { sample, used, residual, why } in manifest.flawed.iter().take(MOST_LISTED) {
        let fate = if *used { "used all the same" } else { "not used" };
        eprintln!("warning: sample {sample}: {why} ({residual:.1e} sizes a second): {fate}");
    }
    if manifest.flawed.len() > MOST_LISTED {
        eprintln!("warning: and {} more, see `flawed` in manifest.json", manifest.flawed.len() - MOST_LISTED);
    }
    if singular > 0 {
        let all = u64::from(head.options.samples) * head.vertices;
        eprintln!("warning: {singular} of {all} vertices were pulled back through a matrix that is next to singular");
    }
    text
}
