//! The start of VIPER's figure 14: a band at rest whose ends are, at once, twice as far apart. One implicit Euler step
//! (77) is minimised from there, by this crate's solve or by the paper's update (28), on the same rows in f32.

#![allow(dead_code, reason = "each user takes a part")]
#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use fearless_simd::{Level, Simd};
use glam::DVec3;
use sinew::cpu::group::{Group, GroupRest};
use sinew::cpu::lanes::{Entry, LANES, OneF64, Wide};
use sinew::cpu::math::{Quaternion, V3};
use sinew::cpu::rod_energies::{UNKNOWNS, residuals, segment_terms};
use sinew::cpu::strains::{Reference, Section, measure};
use sinew::flesh::{BuildError, Flesh, FleshState, Holds, RodSpec};
use sinew::layout::{chain, input, node, reaction, rest};
use sinew::step::{Stage, StepConfig, StepParams};
use sinew::{LaneWidth, Material, Pose};

use super::viper_2019::{Sweep, Viper2019};

/// The step (s).
pub const STEP: f64 = 1.0 / 60.0;

/// What is minimised, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solver {
    /// One block-tridiagonal Gauss–Newton solve an iteration.
    BlockTridiagonal,
    /// One update (28) of every constraint an iteration.
    Viper2019 {
        /// The relaxation β.
        beta: f32,
        /// The order.
        sweep: Sweep,
    },
}

/// Where a minimisation stands, of the first chain, in f64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Elastic energy but for the volume's (J).
    pub strain: f64,
    /// Energy of (18) (J).
    pub volume: f64,
    /// What is minimised, (77) (J).
    pub total: f64,
    /// |∇(77)| over the free unknowns, in the metric of A⁻¹, in which metres and radians compare.
    pub residual: f64,
}

/// Eight bands side by side in the lanes of one group.
pub struct Figure14 {
    rest: GroupRest<f32>,
    start: Vec<Entry<f32>>,
    nodes: Vec<Entry<f32>>,
    inputs: Vec<Entry<f32>>,
    chains: Vec<Entry<f32>>,
    reactions: Vec<Entry<f32>>,
    scratch: Vec<Entry<f32>>,
    paper: Viper2019<f32>,
    params: StepParams,
    level: Level,
}

impl Figure14 {
    /// Bands of 1 m, 10 cm thick, of 1 MPa.
    pub fn new(segments: usize, poissons_ratio: f64) -> Result<Self, BuildError> {
        let bones = [Pose::IDENTITY, Pose::from_translation(DVec3::X)];
        let mut band = RodSpec::straight("band", DVec3::ZERO, DVec3::X, segments, 0.05)
            .attach(0, 0, Holds::CLAMP)
            .attach(segments, 1, Holds::CLAMP);
        band.material = Material { youngs_modulus: 1.0e6, poissons_ratio, ..Material::default() };
        let flesh = Flesh::build(&vec![band; LANES], &bones)?;
        let rest = flesh.groups()[0].clone();
        let state = FleshState::at_rest(&flesh, &bones, &Pose::IDENTITY);
        let (rows, chains) = state.rows().next().unwrap_or_default();
        let (mut start, chains) = (rows.to_vec(), chains.to_vec());
        let end = segments * node::ENTRIES;
        for at in [node::PLACE, node::MOVED, node::PREDICTED_MOVE] {
            start[end + at].iter_mut().for_each(|x| *x += 1.0);
        }
        let config = StepConfig { substeps: 1, gravity: DVec3::ZERO, ..StepConfig::default() };
        Ok(Self {
            nodes: start.clone(),
            start,
            inputs: vec![[0.0; LANES]; input::ENTRIES],
            chains,
            reactions: vec![[0.0; LANES]; rest.reaction_count * reaction::ENTRIES],
            scratch: vec![[0.0; LANES]; rest.scratch_len()],
            paper: Viper2019::new(rest.node_count),
            // Each is one step, however far that leads.
            params: StepParams { retries: 0, ..StepParams::new(&config, STEP, 0, 0.0) },
            rest,
            level: Level::new(),
        })
    }

    /// Back to the start.
    pub fn restart(&mut self) {
        self.nodes.copy_from_slice(&self.start);
        self.chains[chain::HISTORY] = [0.0; LANES];
        self.paper.reset();
    }

    /// Goes on from where it stands.
    pub fn iterate(&mut self, solver: Solver, iterations: usize) {
        let mut group = Group {
            rest: &self.rest,
            nodes: &mut self.nodes,
            inputs: &self.inputs,
            forces: &[],
            planes: &[],
            tangents: &[],
            chains: &mut self.chains,
            contacts: &mut [],
            meets: &mut [],
            solved: &mut [],
            reactions: &mut self.reactions,
            scratch: &mut self.scratch,
        };
        for _ in 0..iterations {
            match solver {
                Solver::BlockTridiagonal => {
                    // How far a scale may go in one substep guards stepping, and a step that doubles a band is more
                    // than it allows; here the guard goes along.
                    for index in 0..group.rest.node_count {
                        let row = group.row_mut(index);
                        row[node::PREV_SCALE] = row[node::SCALE];
                    }
                    // Wherever it leads, so that each is one step from where the last one ended.
                    group.chains[chain::START_POTENTIAL] = [f32::MAX; LANES];
                    LaneWidth::Eight.run_stage(Stage::SolveRods, &self.params, &mut group);
                }
                Solver::Viper2019 { beta, sweep } => {
                    let (paper, step) = (&mut self.paper, self.params.h);
                    // With the instructions that the crate's own solve has.
                    #[cfg(target_arch = "x86_64")]
                    match (self.level.as_avx512(), self.level.as_avx2(), self.level.as_sse2()) {
                        (Some(simd), _, _) => update(simd, paper, step, beta, sweep, &mut group),
                        (None, Some(simd), _) => update(simd, paper, step, beta, sweep, &mut group),
                        (None, None, Some(simd)) => update(simd, paper, step, beta, sweep, &mut group),
                        (None, None, None) => unreachable!("every x86-64 machine has SSE2"),
                    }
                    #[cfg(not(target_arch = "x86_64"))]
                    {
                        let level = self.level;
                        fearless_simd::dispatch!(level, simd => update(simd, paper, step, beta, sweep, &mut group));
                    }
                }
            }
        }
    }

    /// How far the minimisation is.
    pub fn progress(&self) -> Progress {
        let rows: Vec<Entry<f64>> = self.nodes.iter().map(|entry| entry.map(f64::from)).collect();
        let rests: Vec<Entry<f64>> = self.rest.rows.iter().map(|entry| entry.map(f64::from)).collect();
        let row = |j: usize| &rows[j * node::ENTRIES..][..node::ENTRIES];
        let rest_row = |j: usize| &rests[j * rest::ENTRIES..][..rest::ENTRIES];
        let lanes = OneF64(0);
        let count = self.rest.node_count;
        let mut gradient = vec![[0.0; UNKNOWNS]; count];
        let mut progress = Progress { strain: 0.0, volume: 0.0, total: 0.0, residual: 0.0 };
        for j in 0..count - 1 {
            let (a, b) = (section(row(j)), section(row(j + 1)));
            let strain = measure(lanes, a, b, rest_row(j)[rest::INV_LENGTH][0]);
            let reference = Reference::built(lanes, rest_row(j));
            for (k, (residual, coefficient)) in
                residuals(lanes, &strain, rest_row(j), &reference).into_iter().enumerate()
            {
                let energy = 0.5 * coefficient * residual * residual;
                *(if k == 8 { &mut progress.volume } else { &mut progress.strain }) += energy;
            }
            let terms = segment_terms(lanes, [a, b], rest_row(j), reference, None, 0.0);
            for k in 0..UNKNOWNS {
                gradient[j][k] += terms.gradient_a[k];
                gradient[j + 1][k] += terms.gradient_b[k];
            }
        }
        progress.total = progress.strain + progress.volume;
        let inv_step2 = 1.0 / (STEP * STEP);
        let mut square = 0.0;
        for (j, gradient) in gradient.iter().enumerate() {
            let (row, rest_row) = (row(j), rest_row(j));
            for k in 0..UNKNOWNS {
                let (mass, free, lag) = match k {
                    0..3 => {
                        let lag = row[node::MOVED + k][0] - row[node::PREDICTED_MOVE + k][0];
                        (rest_row[rest::MASS][0], rest_row[rest::FREE_PLACE][0], lag)
                    }
                    3 => {
                        let lag = row[node::SCALE][0] - row[node::PREDICTED_SCALE][0];
                        (rest_row[rest::INERTIA_W][0], rest_row[rest::FREE_SCALE][0], lag)
                    }
                    // A straight band's frames stay as they are.
                    _ => (rest_row[rest::INERTIA_U][0], rest_row[rest::FREE_FRAME][0], 0.0),
                };
                progress.total += 0.5 * mass * inv_step2 * lag * lag * free;
                square += free * (gradient[k] + mass * inv_step2 * lag).powi(2) / mass;
            }
        }
        progress.residual = square.sqrt();
        progress
    }

    /// How many iterations bring the residual to a part of what it is at the start, at most `most`.
    pub fn iterations_to(&mut self, solver: Solver, part: f64, most: usize) -> Option<usize> {
        self.restart();
        let wanted = part * self.progress().residual;
        (1..=most).find(|_| {
            self.iterate(solver, 1);
            self.progress().residual <= wanted
        })
    }

    /// Scales of the first band.
    pub fn scales(&self) -> Vec<f64> {
        self.nodes.chunks(node::ENTRIES).map(|row| f64::from(row[node::SCALE][0])).collect()
    }
}

fn section(row: &[Entry<f64>]) -> Section<f64> {
    Section {
        place: V3::load(OneF64(0), row, node::PLACE),
        scale: row[node::SCALE][0],
        frame: Quaternion::load(OneF64(0), row, node::FRAME),
    }
}

/// The fastest of the paper's solvers from this start: β by trial.
pub fn fastest_viper(figure: &mut Figure14, sweep: Sweep) -> Option<(Solver, usize)> {
    const BETAS: [f32; 10] = [0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 1.0];
    let tried = BETAS.into_iter().filter_map(|beta| {
        let solver = Solver::Viper2019 { beta, sweep };
        // A β too large passes 1 % on its way and never settles.
        let iterations = figure.iterations_to(solver, 0.01, 5000)?;
        let mut last = figure.progress().residual;
        let falls = (0..10).all(|_| {
            figure.iterate(solver, iterations);
            let residual = figure.progress().residual;
            std::mem::replace(&mut last, residual) > residual
        });
        falls.then_some((solver, iterations))
    });
    tried.min_by_key(|&(_, iterations)| iterations)
}

/// One iteration of the paper's, with the instructions that `S` stands for.
fn update<S: Simd>(
    simd: S,
    paper: &mut Viper2019<f32>,
    step: f32,
    beta: f32,
    sweep: Sweep,
    group: &mut Group<'_, f32>,
) {
    simd.vectorize(
        #[inline(always)]
        || paper.update(Wide(simd), step, beta, sweep, group),
    );
}
