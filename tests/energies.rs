//! Energies, gradients and Gauss–Newton blocks against central differences, in f64 lanes.
#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

mod common;

use common::{Random, entry};
use glam::{DQuat, DVec3};
use sinew::cpu::group::Group;
use sinew::cpu::lanes::{Entry, OneF64};
use sinew::cpu::math::{Quaternion, V3};
use sinew::cpu::rod_energies::{
    Excitation, Section, UNKNOWNS, contract, energy, fibre_stretch, measure, residuals, segment_terms,
};
use sinew::cpu::run_stage;
use sinew::cpu::solve_rods::REACH;
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::layout::{chain, input, node, rest, scratch};
use sinew::step::{Stage, StepConfig, StepParams};
use sinew::{Material, ModuliOverrides, Pose};

const LANES: OneF64 = OneF64(0);
/// Step of the central differences.
const STEP: f64 = 1.0e-5;
/// The bar of all comparisons here, relative.
const BAR: f64 = 1.0e-5;

fn moved(s: Section<f64>, unknown: usize, by: f64) -> Section<f64> {
    let mut to = s;
    match unknown {
        0..3 => to.place.0[unknown] += by,
        3 => to.scale += by,
        _ => {
            let mut turn = [0.0; 3];
            turn[unknown - 4] = by;
            to.frame = s.frame.turned(LANES, V3(turn));
        }
    }
    to
}

/// A pair of neighbouring sections under large strain, and a rest row with every coefficient in use.
fn random_segment(random: &mut Random) -> (Section<f64>, Section<f64>, Vec<Entry<f64>>) {
    let section = |random: &mut Random, frame: DQuat| Section {
        place: V3(random.vector(-0.5, 0.5).to_array()),
        scale: random.uniform(0.5, 2.0),
        frame: Quaternion(frame.to_array()),
    };
    let first = random.rotation();
    let mut second = random.rotation();
    // The Darboux vector has a kink at half a turn.
    while first.dot(second).abs() < 0.2 {
        second = random.rotation();
    }
    let (a, b) = (section(random, first), section(random, second));
    let mut row = vec![entry(0.0); rest::ENTRIES];
    for at in row.iter_mut().take(rest::ENTRIES).skip(rest::STRAIN) {
        *at = entry(random.uniform(0.5, 2.0));
    }
    row[rest::INV_LENGTH] = entry(random.uniform(0.5, 3.0));
    for k in 0..3 {
        row[rest::STRAIN + k] = entry(random.uniform(-1.0, 1.0));
        row[rest::DARBOUX + k] = entry(random.uniform(-2.0, 2.0));
    }
    // Negative in the likeness of stretch and scale that ν < 0 asks for.
    row[rest::VOLUME] = entry(random.uniform(-2.0, 2.0));
    row[rest::BEND_UV] = entry(random.uniform(-0.4, 0.4));
    for at in rest::FIBRE_STRAIN..=rest::FIBRE_DIFFERENCE {
        row[at] = entry(random.uniform(-1.0, 1.0));
    }
    row[rest::INV_MAX_VELOCITY] = entry(0.0);
    if random.uniform(0.0, 1.0) < 0.3 {
        row[rest::INV_OPTIMAL] = entry(0.0);
    }
    (a, b, row)
}

/// Activation of fibres at a steady length.
fn steady(activation: f64) -> Excitation<f64> {
    Excitation { activation, prev_stretch: 0.0, inv_step: 1.0 }
}

/// Largest difference of two arrays over the largest entry of the second.
fn relative(found: &[f64], expected: &[f64]) -> f64 {
    let scale = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    found.iter().zip(expected).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / scale
}

#[test]
fn segment_gradients_match_central_differences() {
    let mut random = Random(1);
    let mut worst = 0.0_f64;
    for _ in 0..500 {
        let (a, b, row) = random_segment(&mut random);
        let activation = random.uniform(0.0, 1.0);
        let terms = segment_terms(LANES, a, b, &row, Some(&steady(activation)), 0.0);
        let by_difference = |unknown: usize| {
            let at = |by: f64| {
                if unknown < UNKNOWNS {
                    energy(LANES, moved(a, unknown, by), b, &row, activation)
                } else {
                    energy(LANES, a, moved(b, unknown - UNKNOWNS, by), &row, activation)
                }
            };
            (at(STEP) - at(-STEP)) / (2.0 * STEP)
        };
        let expected: Vec<f64> = (0..2 * UNKNOWNS).map(by_difference).collect();
        let found: Vec<f64> = terms.gradient_a.into_iter().chain(terms.gradient_b).collect();
        worst = worst.max(relative(&found, &expected));
    }
    println!("segment gradients: {worst:.1e} relative (bar {BAR:.0e})");
    assert!(worst <= BAR);
}

/// The string's stiffness of a segment under tension, on the mean turn of its two ends, across w: N·Γ_w/4 on each.
fn string_block(a: Section<f64>, b: Section<f64>, row: &[Entry<f64>], [activation, slack]: [f64; 2]) -> [[f64; 3]; 3] {
    let strain = measure(LANES, a, b, row[rest::INV_LENGTH][0]);
    let terms = residuals(LANES, &strain, row);
    let (axial, volume, likeness) = (terms[0], terms[8], terms[11]);
    let fibres = contract(LANES, fibre_stretch(LANES, &strain, row), row, &steady(activation));
    let tension =
        (axial.0 + fibres.shortening) * axial.1 + strain.scale.powi(2) * volume.0 * volume.1 + likeness.0 * likeness.1;
    let quarter = 0.25 * (tension.max(0.0) * strain.strain.0[2].max(0.0) - slack).max(0.0);
    let w = strain.axes[2].0;
    std::array::from_fn(|i| std::array::from_fn(|j| quarter * (if i == j { 1.0 - w[i] * w[j] } else { -w[i] * w[j] })))
}

#[test]
fn segment_blocks_match_dense_jacobians() {
    let mut random = Random(2);
    let mut worst = 0.0_f64;
    for _ in 0..500 {
        let (a, b, row) = random_segment(&mut random);
        let of =
            |a: Section<f64>, b: Section<f64>| residuals(LANES, &measure(LANES, a, b, row[rest::INV_LENGTH][0]), &row);
        let mut jacobian = [[0.0; 2 * UNKNOWNS]; 12];
        for unknown in 0..2 * UNKNOWNS {
            let at = |by: f64| {
                if unknown < UNKNOWNS { of(moved(a, unknown, by), b) } else { of(a, moved(b, unknown - UNKNOWNS, by)) }
            };
            for (k, (ahead, behind)) in at(STEP).into_iter().zip(at(-STEP)).enumerate() {
                jacobian[k][unknown] = (ahead.0 - behind.0) / (2.0 * STEP);
            }
        }
        // K is diagonal but for the coupling of the two bendings.
        let here = of(a, b);
        let (activation, slack) = (random.uniform(0.0, 1.0), random.uniform(0.0, 1.0));
        let strain = measure(LANES, a, b, row[rest::INV_LENGTH][0]);
        let fibres = contract(LANES, fibre_stretch(LANES, &strain, &row), &row, &steady(activation));
        // Along the path and, as a string's, across it, on the places' difference over l.
        let slope = DVec3::from_array(strain.slope.0);
        let (by_slope, along) = (row[rest::FIBRE_STRAIN][0], slope.normalize().to_array());
        let across = fibres.pull * by_slope / slope.length();
        let on_places = |i: usize, j: usize| {
            let [i, j] = [i, j].map(|k| if k < UNKNOWNS { k } else { k - UNKNOWNS });
            if i > 2 || j > 2 {
                return 0.0;
            }
            let unit = if i == j { across } else { 0.0 };
            let stiff = fibres.stiffness * by_slope * by_slope - across;
            (unit + stiff * along[i] * along[j]) * row[rest::INV_LENGTH][0].powi(2)
        };
        let dense = |i: usize, j: usize| {
            let diagonal: f64 = (0..12).map(|k| here[k].1 * jacobian[k][i] * jacobian[k][j]).sum();
            let coupling = jacobian[5][i] * jacobian[6][j] + jacobian[6][i] * jacobian[5][j];
            let side = if (i < UNKNOWNS) == (j < UNKNOWNS) { 1.0 } else { -1.0 };
            diagonal + row[rest::BEND_UV][0] * coupling + side * on_places(i, j)
        };
        let string = string_block(a, b, &row, [activation, slack]);
        let string = |i: usize, j: usize| if i > 3 && j > 3 { string[i - 4][j - 4] } else { 0.0 };
        let terms = segment_terms(LANES, a, b, &row, Some(&steady(activation)), slack);
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        for i in 0..UNKNOWNS {
            for j in 0..UNKNOWNS {
                if j <= i {
                    found.extend([terms.block_aa[i][j], terms.block_bb[i][j]]);
                    expected.push(dense(i, j) + string(i, j));
                    expected.push(dense(UNKNOWNS + i, UNKNOWNS + j) + string(i, j));
                }
                found.push(terms.block_ab[i][j]);
                expected.push(dense(i, UNKNOWNS + j) + string(i, j));
            }
        }
        worst = worst.max(relative(&found, &expected));
    }
    println!("segment blocks against JᵀKJ: {worst:.1e} relative (bar {BAR:.0e})");
    assert!(worst <= BAR);
}

#[test]
fn fibre_stiffness_is_the_derivative_of_their_pull() {
    let mut random = Random(7);
    let (mut worst, mut stiff) = (0.0_f64, 0);
    for _ in 0..2000 {
        let mut row = vec![entry(0.0); rest::ENTRIES];
        row[rest::ACTIVE] = entry(random.uniform(0.5, 2.0));
        row[rest::INV_OPTIMAL] = entry(random.uniform(0.5, 1.5));
        row[rest::PASSIVE] = entry(random.uniform(0.0, 1.0));
        row[rest::INV_MAX_VELOCITY] = entry(random.uniform(0.0, 0.2));
        let stretch = random.uniform(0.3, 1.9_f64.min(1.99 / row[rest::INV_OPTIMAL][0]));
        let prev_stretch = stretch + random.uniform(-0.05, 0.05);
        let excitation = Excitation { activation: random.uniform(0.0, 1.0), prev_stretch, inv_step: 60.0 };
        let at = |by: f64| contract(LANES, stretch + by, &row, &excitation);
        let slope = (at(STEP).pull - at(-STEP).pull) / (2.0 * STEP);
        let here = at(0.0);
        assert!(here.pull >= 0.0, "fibres never push");
        // Kinks: λ = 1 (passive), at rest (rate), fully shortening.
        let kink = (stretch - 1.0).abs() < STEP || (stretch - prev_stretch).abs() < STEP;
        if !kink && slope > 0.0 && (at(-STEP).stiffness - here.stiffness).abs() < 0.01 * (1.0 + slope) {
            stiff += 1;
            worst = worst.max((here.stiffness - slope).abs() / slope.max(1.0));
        }
    }
    println!("fibre stiffness against differences: {worst:.1e} over {stiff} (bar {BAR:.0e})");
    assert!(stiff > 500 && worst <= BAR);
}

/// A deformed chain in the middle of a substep, in f64: held at one end, in contact, with every energy on.
struct Chain {
    rest: sinew::cpu::group::GroupRest<f64>,
    nodes: Vec<Entry<f64>>,
    inputs: Vec<Entry<f64>>,
    chains: Vec<Entry<f64>>,
    inv_h: f64,
}

const NODES: usize = 6;
/// One over the substep (1/s).
const INV_H: f64 = 256.0;

impl Chain {
    fn new(random: &mut Random) -> Self {
        let overrides =
            ModuliOverrides { volume_bending_modulus: Some(300.0), surface_bending: Some(0.02), ..Default::default() };
        let mut rod = RodSpec::straight("chain", DVec3::ZERO, DVec3::X, NODES - 1, 0.1);
        for node in &mut rod.nodes {
            node.place += random.vector(-0.05, 0.05);
            node.section.second_moment_u *= random.uniform(0.7, 1.3);
            node.section.product_moment = random.uniform(-0.3, 0.3) * node.section.second_moment_v;
        }
        rod.material = Material {
            youngs_modulus: 1000.0,
            poissons_ratio: [0.4, -0.3][(random.bits() % 2) as usize],
            density: 500.0,
            damping: 0.0,
            overrides,
            ..Material::default()
        };
        let rod = rod.attach(0, 0, Holds::CLAMP);
        let flesh = Flesh::build(&[rod], &[Pose::IDENTITY]).unwrap();
        let rest = flesh.groups()[0].to_f64();
        let chains = vec![entry(0.0); chain::ENTRIES];
        let mut inputs = vec![entry(0.0); input::ENTRIES];
        inputs[input::PLANES + 1] = entry(1.0);
        let mut nodes = vec![entry(0.0); NODES * node::ENTRIES];
        for j in 0..NODES {
            let pose = flesh.chains()[0].rest[j];
            let row = &mut nodes[j * node::ENTRIES..][..node::ENTRIES];
            let turned = |random: &mut Random, by: f64| {
                let turn = DQuat::from_scaled_axis(random.vector(-by, by));
                (turn * pose.rotation).to_array()
            };
            let put = |row: &mut [Entry<f64>], at: usize, values: &[f64]| {
                for (k, &value) in values.iter().enumerate() {
                    row[at + k] = entry(value);
                }
            };
            let previous = pose.translation + random.vector(-0.02, 0.02);
            let move_now = random.vector(-0.01, 0.01);
            put(row, node::PREV_PLACE, &previous.to_array());
            put(row, node::MOVED, &move_now.to_array());
            put(row, node::PLACE, &(previous + move_now).to_array());
            put(row, node::PREDICTED_MOVE, &(move_now + random.vector(-0.01, 0.01)).to_array());
            put(row, node::FRAME, &turned(random, 0.15));
            put(row, node::PREDICTED_FRAME, &turned(random, 0.15));
            let scale = random.uniform(0.95, 1.05);
            put(row, node::SCALE, &[scale]);
            put(row, node::PREV_SCALE, &[scale + random.uniform(-0.02, 0.02)]);
            put(row, node::PREDICTED_SCALE, &[scale + random.uniform(-0.02, 0.02)]);
            put(row, node::CONTACT_NORMAL, &random.vector(-1.0, 1.0).normalize().to_array());
            put(row, node::CONTACT_OFFSET, &[if j % 2 == 0 { 0.8 } else { -5.0 }]);
            put(row, node::CONTACT_STIFFNESS, &[random.uniform(50.0, 300.0)]);
            put(row, node::FRICTION_LIMIT, &[if j % 2 == 0 { random.uniform(10.0, 90.0) } else { 0.0 }]);
        }
        Self { rest, nodes, inputs, chains, inv_h: INV_H }
    }

    fn read<const N: usize>(&self, j: usize, at: usize) -> [f64; N] {
        std::array::from_fn(|k| self.nodes[j * node::ENTRIES + at + k][0])
    }

    fn sections(&self) -> Vec<Section<f64>> {
        (0..NODES)
            .map(|j| Section {
                place: V3(self.read(j, node::PLACE)),
                scale: self.read::<1>(j, node::SCALE)[0],
                frame: Quaternion(self.read(j, node::FRAME)),
            })
            .collect()
    }

    /// Residuals r and their weights k: the potential that a substep lessens is Σ½k r². Written anew from the
    /// papers' equations where the solver adds terms of its own; the segments' come from `rod_energies`, which the
    /// tests above check.
    fn residuals(&self, at: &[Section<f64>]) -> Vec<(f64, f64)> {
        let mut all = Vec::new();
        let inv_h2 = self.inv_h * self.inv_h;
        for (j, s) in at.iter().enumerate() {
            let rest_at = |entry: usize| self.rest.row(j)[entry][0];
            // (73): translation, scale, rotation.
            let previous: [f64; 3] = self.read(j, node::PREV_PLACE);
            let predicted: [f64; 3] = self.read(j, node::PREDICTED_MOVE);
            for k in 0..3 {
                all.push((s.place.0[k] - previous[k] - predicted[k], rest_at(rest::MASS) * inv_h2));
            }
            let [scale] = self.read(j, node::PREDICTED_SCALE);
            all.push((s.scale - scale, rest_at(rest::INERTIA_W) * inv_h2));
            let target = DQuat::from_array(self.read(j, node::PREDICTED_FRAME));
            let local = target.conjugate() * (DQuat::from_array(s.frame.0) * target.conjugate()).xyz() * 2.0;
            let [prev_scale] = self.read(j, node::PREV_SCALE);
            let turning = prev_scale * prev_scale * inv_h2;
            let (iu, iv, iuv) = (rest_at(rest::INERTIA_U), rest_at(rest::INERTIA_V), rest_at(rest::INERTIA_UV));
            // ½(Iu·x² + 2Iuv·x·y + Iv·y²) as a sum of squares.
            all.push((local.x + local.y * iuv / iu, iu * turning));
            all.push((local.y, (iv - iuv * iuv / iu) * turning));
            all.push((local.z, rest_at(rest::INERTIA_W) * turning));
            // Contact and friction; the last substep moved nothing.
            let normal = DVec3::from_array(self.read(j, node::CONTACT_NORMAL));
            let place = DVec3::from_array(s.place.0);
            let gap = normal.dot(place) - self.read::<1>(j, node::CONTACT_OFFSET)[0] - s.scale * rest_at(rest::RADIUS);
            all.push((gap.min(0.0), self.read::<1>(j, node::CONTACT_STIFFNESS)[0]));
            let slid = place - DVec3::from_array(previous);
            let slid = slid - normal * normal.dot(slid);
            let predicted = DVec3::from_array(self.read(j, node::PREDICTED_MOVE));
            let predicted = (predicted - normal * normal.dot(predicted)).length();
            let [limit] = self.read(j, node::FRICTION_LIMIT);
            let slide = (predicted - limit / (rest_at(rest::MASS) * inv_h2)).max(1.0e-12);
            let friction = (limit / slide).min(self.read::<1>(j, node::CONTACT_STIFFNESS)[0]);
            all.extend(slid.to_array().map(|x| (x, friction)));
        }
        for (j, pair) in at.windows(2).enumerate() {
            let row = self.rest.row(j);
            let strain = measure(LANES, pair[0], pair[1], row[rest::INV_LENGTH][0]);
            let terms = residuals(LANES, &strain, row);
            let (u, v, uv) = (terms[5].1, terms[6].1, row[rest::BEND_UV][0]);
            for (k, (residual, coefficient)) in terms.into_iter().enumerate() {
                all.push(match k {
                    5 => (residual + terms[6].0 * uv / u, coefficient),
                    6 => (residual, v - uv * uv / u),
                    _ => (residual, coefficient),
                });
            }
        }
        all
    }

    /// (15) at the inner nodes: ½C(s′₊ − s′₋)².
    fn surface_residuals(&self, at: &[Section<f64>]) -> Vec<(f64, f64)> {
        (1..NODES - 1)
            .map(|j| {
                let slope = |a: usize| (at[a + 1].scale - at[a].scale) * self.rest.row(a)[rest::INV_LENGTH][0];
                (slope(j) - slope(j - 1), self.rest.row(j)[rest::SURFACE_BENDING][0])
            })
            .collect()
    }

    /// Gradient of the potential, and JᵀKJ, by central differences of the residuals.
    fn dense(&self, of: impl Fn(&[Section<f64>]) -> Vec<(f64, f64)>) -> (Vec<f64>, Vec<Vec<f64>>) {
        let at = self.sections();
        let here = of(&at);
        let size = NODES * UNKNOWNS;
        let columns: Vec<Vec<f64>> = (0..size)
            .map(|unknown| {
                let residual = |by: f64| {
                    let mut to = at.clone();
                    to[unknown / UNKNOWNS] = moved(to[unknown / UNKNOWNS], unknown % UNKNOWNS, by);
                    of(&to)
                };
                let pairs = residual(STEP).into_iter().zip(residual(-STEP));
                pairs.map(|(ahead, behind)| (ahead.0 - behind.0) / (2.0 * STEP)).collect()
            })
            .collect();
        let gradient = columns.iter().map(|c| c.iter().zip(&here).map(|(j, (r, k))| j * r * k).sum()).collect();
        let product = |i: usize, j: usize| -> f64 {
            columns[i].iter().zip(&columns[j]).zip(&here).map(|((a, b), (_, k))| a * b * k).sum()
        };
        let matrix = (0..size).map(|i| (0..size).map(|j| product(i, j)).collect()).collect();
        (gradient, matrix)
    }
}

/// Gaussian elimination with pivoting.
fn solve_dense(mut matrix: Vec<Vec<f64>>, mut rhs: Vec<f64>) -> Vec<f64> {
    let n = rhs.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| matrix[a][k].abs().total_cmp(&matrix[b][k].abs())).unwrap();
        matrix.swap(k, pivot);
        rhs.swap(k, pivot);
        for i in k + 1..n {
            let factor = matrix[i][k] / matrix[k][k];
            let (above, below) = matrix.split_at_mut(i);
            for (to, from) in below[0].iter_mut().zip(&above[k]).skip(k) {
                *to -= factor * from;
            }
            rhs[i] -= factor * rhs[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| matrix[k][j] * rhs[j]).sum();
        rhs[k] = (rhs[k] - known) / matrix[k][k];
    }
    rhs
}

/// Inertia (73), every segment energy, surface bending (15), contact, friction, a held node, factor and solve: the
/// step that the stage takes, against a dense solve of the same system built from central differences.
#[test]
fn solve_rods_takes_the_dense_gauss_newton_step() {
    let mut random = Random(3);
    let mut worst = 0.0_f64;
    for _ in 0..20 {
        let mut chain = Chain::new(&mut random);
        let (mut gradient, mut matrix) = chain.dense(|at| chain.residuals(at));
        let (surface_gradient, surface_matrix) = chain.dense(|at| chain.surface_residuals(at));
        let size = gradient.len();
        for i in 0..size {
            gradient[i] += surface_gradient[i];
            for j in 0..size {
                let far = (i / UNKNOWNS).abs_diff(j / UNKNOWNS) == 2;
                if far {
                    // Left out of the matrix, with its bound on both diagonals.
                    matrix[i][i] += surface_matrix[i][j].abs();
                } else {
                    matrix[i][j] += surface_matrix[i][j];
                }
            }
        }
        let before = chain.sections();
        for (j, pair) in before.windows(2).enumerate() {
            let string = string_block(
                pair[0],
                pair[1],
                chain.rest.row(j),
                [0.0, chain.rest.row(j)[rest::STRING_INERTIA][0] * chain.inv_h * chain.inv_h],
            );
            for (a, b) in [(j, j), (j, j + 1), (j + 1, j), (j + 1, j + 1)] {
                for i in 0..3 {
                    for k in 0..3 {
                        matrix[a * UNKNOWNS + 4 + i][b * UNKNOWNS + 4 + k] += string[i][k];
                    }
                }
            }
        }
        for held in [0, 1, 2, 4, 5, 6] {
            gradient[held] = 0.0;
            for j in 0..size {
                matrix[held][j] = 0.0;
                matrix[j][held] = 0.0;
            }
            matrix[held][held] = 1.0;
        }
        let mut expected = solve_dense(matrix, gradient.iter().map(|g| -g).collect());
        // What bounds a step: a turn of one radian, and a move of REACH lengths.
        let length: f64 = (0..NODES - 1).map(|j| 1.0 / chain.rest.row(j)[rest::INV_LENGTH][0]).sum();
        for step in expected.chunks_mut(UNKNOWNS) {
            for (range, bound) in [(0..3, f64::from(REACH) * length), (4..7, 1.0)] {
                let over = step[range.clone()].iter().map(|x| x * x).sum::<f64>() / (bound * bound);
                step[range].iter_mut().for_each(|x| *x /= (1.0 + over).sqrt());
            }
        }

        let config = StepConfig { substeps: 1, ..Default::default() };
        let params = StepParams::new(&config, 1.0 / INV_H, 0, 0.0);
        let mut room = vec![entry(0.0); NODES * scratch::ENTRIES];
        let mut group = Group {
            rest: &chain.rest,
            nodes: &mut chain.nodes,
            inputs: &chain.inputs,
            chains: &mut chain.chains,
            scratch: &mut room,
        };
        run_stage(LANES, Stage::SolveRods, &params, &mut group);

        let mut found = Vec::new();
        for (from, to) in before.iter().zip(chain.sections()) {
            found.extend((to.place - from.place).0);
            found.push(to.scale - from.scale);
            found.extend(from.frame.turn_to(LANES, to.frame).0);
        }
        let limited = before.iter().enumerate().any(|(j, s)| {
            let factor = (s.scale + expected[j * UNKNOWNS + 3]) / chain.read::<1>(j, node::PREV_SCALE)[0];
            !(1.0 / 1.29..1.29).contains(&factor)
        });
        assert!(!limited, "the sample must not reach the limit of the scale");
        worst = worst.max(relative(&found, &expected));
    }
    println!("solve_rods against a dense Gauss–Newton step: {worst:.1e} relative (bar {BAR:.0e})");
    assert!(worst <= BAR);
}
