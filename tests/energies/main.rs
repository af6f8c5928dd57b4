//! Energies, gradients and Gauss–Newton blocks against central differences, in f64 lanes.
#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

mod chain;
#[path = "../common/mod.rs"]
mod common;

use chain::{Chain, INV_H, NODES};
use common::{Random, entry};
use glam::{DQuat, DVec3};
use sinew::cpu::fibres::{Excitation, RESTING, TOE, contract, fibre_stretch};
use sinew::cpu::group::Group;
use sinew::cpu::lanes::{Entry, OneF64};
use sinew::cpu::math::{Quaternion, V3};
use sinew::cpu::rod_energies::{
    LEAST_SLOPE2, Section, SegmentStrain, UNKNOWNS, energy, measure, residuals, segment_terms,
};
use sinew::cpu::run_stage;
use sinew::cpu::solve_rods::REACH;
use sinew::layout::{node, rest, scratch};
use sinew::step::{Stage, StepConfig, StepParams};

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

/// A segment's force along w (J).
fn tension(strain: &SegmentStrain<f64>, row: &[Entry<f64>], activation: f64) -> f64 {
    let terms = residuals(LANES, strain, row);
    let (axial, volume, likeness) = (terms[0], terms[8], terms[11]);
    let fibres = contract(LANES, fibre_stretch(LANES, strain, row), row, &steady(activation));
    (axial.0 + fibres.shortening) * axial.1 + strain.scale.powi(2) * volume.0 * volume.1 + likeness.0 * likeness.1
}

/// By how much a segment under pressure N is stiffer against shear: |N|Γ_w/|Γ|².
fn prop(strain: &SegmentStrain<f64>, row: &[Entry<f64>], activation: f64) -> f64 {
    let pressure = (-tension(strain, row, activation)).max(0.0);
    pressure * strain.strain.0[2].max(0.0) / strain.slope.dot(strain.slope).max(f64::from(LEAST_SLOPE2))
}

/// The string's stiffness of a segment under tension, on the mean turn of its two ends, across w: N·Γ_w/4 on each.
fn string_block(a: Section<f64>, b: Section<f64>, row: &[Entry<f64>], [activation, slack]: [f64; 2]) -> [[f64; 3]; 3] {
    let strain = measure(LANES, a, b, row[rest::INV_LENGTH][0]);
    let quarter = 0.25 * (tension(&strain, row, activation).max(0.0) * strain.strain.0[2].max(0.0) - slack).max(0.0);
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
        let mut here = of(a, b);
        let (activation, slack) = (random.uniform(0.0, 1.0), random.uniform(0.0, 1.0));
        let strain = measure(LANES, a, b, row[rest::INV_LENGTH][0]);
        let fibres = contract(LANES, fibre_stretch(LANES, &strain, &row), &row, &steady(activation));
        let stretch = |a: Section<f64>, b: Section<f64>| {
            fibre_stretch(LANES, &measure(LANES, a, b, row[rest::INV_LENGTH][0]), &row)
        };
        let by: Vec<f64> = (0..2 * UNKNOWNS)
            .map(|unknown| {
                let at = |by: f64| {
                    if unknown < UNKNOWNS {
                        stretch(moved(a, unknown, by), b)
                    } else {
                        stretch(a, moved(b, unknown - UNKNOWNS, by))
                    }
                };
                (at(STEP) - at(-STEP)) / (2.0 * STEP)
            })
            .collect();
        // A string's across the path, on the places' difference over l.
        let slope = DVec3::from_array(strain.slope.0);
        let (by_slope, along) = (row[rest::FIBRE_STRAIN][0], slope.normalize().to_array());
        let in_series = (activation + f64::from(RESTING)) * row[rest::SERIES][0];
        let across = (fibres.pull * by_slope).max(in_series) / slope.length();
        let prop = prop(&strain, &row, activation);
        here[1].1 += prop;
        here[2].1 += prop;
        let on_places = |i: usize, j: usize| {
            let [i, j] = [i, j].map(|k| if k < UNKNOWNS { k } else { k - UNKNOWNS });
            if i > 2 || j > 2 {
                return 0.0;
            }
            let unit = if i == j { across } else { 0.0 };
            (unit - across * along[i] * along[j]) * row[rest::INV_LENGTH][0].powi(2)
        };
        let dense = |i: usize, j: usize| {
            let diagonal: f64 = (0..12).map(|k| here[k].1 * jacobian[k][i] * jacobian[k][j]).sum();
            let coupling = jacobian[5][i] * jacobian[6][j] + jacobian[6][i] * jacobian[5][j];
            let side = if (i < UNKNOWNS) == (j < UNKNOWNS) { 1.0 } else { -1.0 };
            let fibres = fibres.stiffness * by[i] * by[j];
            diagonal + row[rest::BEND_UV][0] * coupling + side * on_places(i, j) + fibres
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
        let stretch = random.uniform(0.3, 2.6_f64.min(1.99 / row[rest::INV_OPTIMAL][0]));
        let prev_stretch = stretch + random.uniform(-0.05, 0.05);
        let excitation = Excitation { activation: random.uniform(0.0, 1.0), prev_stretch, inv_step: 60.0 };
        let at = |by: f64| contract(LANES, stretch + by, &row, &excitation);
        let slope = (at(STEP).pull - at(-STEP).pull) / (2.0 * STEP);
        let here = at(0.0);
        assert!(here.pull >= 0.0, "contractile fibres never push");
        if (1.0 - 0.9 * f64::from(TOE)..1.0).contains(&stretch) {
            let slack = Excitation { activation: 0.0, ..excitation };
            let as_above = row[rest::ACTIVE][0] * row[rest::PASSIVE][0];
            assert!((contract(LANES, stretch, &row, &slack).stiffness - as_above).abs() <= BAR, "at {stretch}");
        }
        // Kinks: λ = 1 (passive), at rest (rate), fully shortening; below λ = 1 the stiffness is that of above.
        let toe = 1.0 - f64::from(TOE) - STEP..1.0 + STEP;
        let kink = toe.contains(&stretch) || (stretch - prev_stretch).abs() < STEP;
        if !kink && slope > 0.0 && (at(-STEP).stiffness - here.stiffness).abs() < 0.01 * (1.0 + slope) {
            stiff += 1;
            worst = worst.max((here.stiffness - slope).abs() / slope.max(1.0));
        }
    }
    println!("fibre stiffness against differences: {worst:.1e} over {stiff} (bar {BAR:.0e})");
    assert!(stiff > 500 && worst <= BAR);
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
    let (mut worst, mut pressed) = (0.0_f64, 0);
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
        let props: Vec<f64> = before
            .windows(2)
            .enumerate()
            .map(|(j, pair)| {
                let row = chain.rest.row(j);
                prop(&measure(LANES, pair[0], pair[1], row[rest::INV_LENGTH][0]), row, 0.0)
            })
            .collect();
        pressed += props.iter().filter(|prop| **prop > 0.0).count();
        let (_, propped) = chain.dense(|at| chain.shears(at, &props));
        for (to, from) in matrix.iter_mut().flatten().zip(propped.iter().flatten()) {
            *to += from;
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
    println!("solve_rods against a dense Gauss–Newton step: {worst:.1e} relative, {pressed} pressed (bar {BAR:.0e})");
    assert!(pressed > 0);
    assert!(worst <= BAR);
}
