//! What `run` and `scene` report and dump.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use sinew::flesh::FleshState;
use sinew::step::Stage;
use sinew::{FleshHandle, Physics, Quality};

use crate::Error;

/// The report; its keys are documented in the README.
#[derive(Serialize)]
pub struct Report {
    pub version: &'static str,
    pub input: String,
    pub backend: String,
    pub adapter: Option<String>,
    pub frames: u32,
    pub dt: f64,
    pub substeps: u32,
    pub iterations: u32,
    pub threads: usize,
    pub counts: Counts,
    pub timing_ms: Timing,
    pub quality: Quality,
    pub finite: bool,
    pub resets: u32,
    pub laid_anew: Vec<Named>,
    pub teleports: u32,
    pub jumped: Vec<Named>,
    pub time: Time,
    pub state_hash: String,
    pub warnings: Vec<String>,
}

#[derive(Default, Serialize)]
pub struct Counts {
    pub characters: usize,
    pub bundles: usize,
    pub rods: usize,
    pub nodes: usize,
    pub segments: usize,
    pub pills: usize,
    pub dofs: usize,
    pub vertices: usize,
    pub joints: usize,
    pub contacts: usize,
    /// Characters that sleep after the last frame.
    pub asleep: usize,
}

#[derive(Serialize)]
pub struct Timing {
    pub step: StepTiming,
    pub stages: BTreeMap<&'static str, f64>,
}

#[derive(Serialize)]
pub struct StepTiming {
    pub median: f64,
    pub p95: f64,
    pub max: f64,
}

/// How often something happened to what has a name.
#[derive(Serialize)]
pub struct Named {
    pub name: String,
    pub times: u32,
}

/// What became of the frames' time, all together (s), and the most substeps that one had.
#[derive(Clone, Copy, Default, Serialize)]
pub struct Time {
    pub asked: f64,
    pub simulated: f64,
    pub substeps_max: u32,
}

/// What is gathered while stepping: step times, stage times, and how ill volume and length were kept at any time.
#[derive(Default)]
pub struct Clock {
    steps: Vec<f64>,
    stages: BTreeMap<&'static str, f64>,
    time: Time,
    worst: Quality,
}

impl Clock {
    pub fn add(&mut self, step: Duration, physics: &Physics) {
        self.steps.push(step.as_secs_f64() * 1000.0);
        let times = physics.stage_times();
        for stage in Stage::ALL {
            *self.stages.entry(stage.name()).or_default() += times.get(stage);
        }
        let frame = physics.last_frame();
        self.time.asked += frame.asked;
        self.time.simulated += frame.simulated;
        self.time.substeps_max = self.time.substeps_max.max(frame.substeps);
        self.judge(physics);
    }

    /// Takes in how ill they are kept now.
    pub fn judge(&mut self, physics: &Physics) {
        let now = physics.quality();
        for (worst, now) in [
            (&mut self.worst.volume_error_max, now.volume_error_max),
            (&mut self.worst.stretch_error_max, now.stretch_error_max),
        ] {
            // What is not a number is worse than any.
            *worst = if now.is_nan() { f64::MAX } else { worst.max(now) };
        }
    }

    /// The last frame's, but for the worst volume and stretch, which are those of all frames.
    fn quality(&self, physics: &Physics) -> Quality {
        let mut quality = physics.quality();
        (quality.volume_error_max, quality.stretch_error_max) =
            (self.worst.volume_error_max, self.worst.stretch_error_max);
        quality
    }

    fn timing(&self) -> Timing {
        let mut sorted = self.steps.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let index = (share * (sorted.len().saturating_sub(1)) as f64).round() as usize;
            sorted.get(index).copied().unwrap_or(0.0)
        };
        let count = self.steps.len().max(1) as f64;
        Timing {
            step: StepTiming { median: at(0.5), p95: at(0.95), max: at(1.0) },
            stages: self.stages.iter().map(|(&name, total)| (name, total / count)).collect(),
        }
    }
}

/// What the report cannot ask [`Physics`] for.
pub struct Told {
    pub input: String,
    pub frames: u32,
    pub dt: f64,
    pub counts: Counts,
    /// The bones' names.
    pub bones: Vec<String>,
    pub warnings: Vec<String>,
}

impl Told {
    fn jumped(&self, bone: Option<usize>) -> String {
        match bone {
            None => "the root".into(),
            Some(bone) => self.bones.get(bone).cloned().unwrap_or_else(|| format!("bone {bone}")),
        }
    }
}

pub fn report(physics: &Physics, handle: FleshHandle, told: Told, clock: &Clock) -> Result<Report, Error> {
    let backend = physics.backend_report();
    let health = physics.health(handle)?;
    let all = || physics.instances().filter_map(|handle| physics.health(handle).ok());
    // Chains of one name are counted together, of whichever instance they are.
    let mut laid_anew: Vec<Named> = Vec::new();
    for laid in all().flat_map(|health| &health.laid_anew) {
        match laid_anew.iter_mut().find(|named| named.name == laid.name) {
            Some(named) => named.times += laid.times,
            None => laid_anew.push(Named { name: laid.name.clone(), times: laid.times }),
        }
    }
    let jumped = health.jumped.iter().map(|jumped| Named { name: told.jumped(jumped.bone), times: jumped.times });
    Ok(Report {
        laid_anew,
        jumped: jumped.collect(),
        resets: all().map(|health| health.resets).sum(),
        teleports: all().map(|health| health.teleports).sum(),
        time: clock.time,
        version: env!("CARGO_PKG_VERSION"),
        input: told.input,
        backend: backend.backend.into(),
        adapter: backend.adapter,
        frames: told.frames,
        dt: told.dt,
        substeps: physics.config.substeps,
        iterations: physics.config.iterations,
        threads: physics.config.threads,
        counts: counts(physics, told.counts)?,
        timing_ms: clock.timing(),
        quality: clock.quality(physics),
        finite: physics.instances().all(|handle| physics.state(handle).is_ok_and(FleshState::is_finite)),
        state_hash: format!("{:016x}", physics.state_hash()),
        warnings: told.warnings,
    })
}

/// Of all instances together.
fn counts(physics: &Physics, told: Counts) -> Result<Counts, Error> {
    let mut counts = told;
    for handle in physics.instances() {
        let flesh = physics.flesh(handle)?;
        let (bundles, nodes) = (flesh.chains().len(), flesh.node_count());
        counts.bundles += bundles;
        counts.rods += flesh.chains().iter().map(|chain| chain.fibres.len().max(1)).sum::<usize>();
        counts.nodes += nodes;
        counts.segments += nodes - bundles;
        counts.dofs += 7 * nodes;
        counts.contacts += physics.contacts(handle)?.count();
        counts.asleep += usize::from(physics.is_asleep(handle)?);
    }
    counts.contacts += physics.flesh_contacts().count();
    Ok(counts)
}

/// Writes figures as JSON.
pub fn write(path: &Path, report: &impl Serialize) -> Result<(), Error> {
    save(path, serde_json::to_string_pretty(report)? + "\n")
}

/// Writes every node of every instance as CSV, rods numbered through.
pub fn dump(path: &Path, physics: &Physics) -> Result<(), Error> {
    let mut text = String::from("rod,node,x,y,z,scale,radius,qx,qy,qz,qw\n");
    let chains = |handle| {
        let count = physics.flesh(handle).map_or(0, |flesh| flesh.chains().len());
        (0..count).map(move |chain| (handle, chain))
    };
    for (rod, (handle, chain)) in physics.instances().flat_map(chains).enumerate() {
        for index in 0..physics.flesh(handle)?.chains()[chain].node_count() {
            let node = physics.node(handle, chain, index)?;
            let (p, q) = (node.place, node.frame);
            writeln!(
                text,
                "{rod},{index},{},{},{},{},{},{},{},{},{}",
                p.x, p.y, p.z, node.scale, node.radius, q.x, q.y, q.z, q.w
            )?;
        }
    }
    save(path, text)
}

fn save(path: &Path, text: String) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()).into())
}
