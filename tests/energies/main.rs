//! Energies, gradients and Gauss–Newton blocks against central differences, in f64 lanes.
#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

mod chain;
#[path = "../common/mod.rs"]
mod common;
mod tree;

use chain::{Chain, INV_H, NODES};
use common::{Random, entry};
use glam::{DQuat, DVec3};
use sinew::cpu::contact_rows::Again;
use sinew::cpu::contact_rows::System;
use sinew::cpu::contacts::{Cursors, add_contacts, stored_by_contacts};
use sinew::cpu::fibres::{Excitation, RESTING, SHORT, TOE, contract, fibre_potential, fibre_stretch};
use sinew::cpu::group::Group;
use sinew::cpu::holds::When;
use sinew::cpu::lanes::{Entry, OneF64};
use sinew::cpu::math::{Quaternion, V3};
use sinew::cpu::potential::{standing, stored_at_start};
use sinew::cpu::rod_energies::{
    LEAST_SLOPE2, SegmentTerms, THIN, UNKNOWNS, residuals, segment_potential, segment_terms, volume_residual,
};
use sinew::cpu::run_stage;
use sinew::cpu::strains::{Reference, Section, SegmentStrain, measure};
use sinew::layout::{chain as chain_rows, contact, node, rest};
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
    row[rest::SHORTENING] = entry(random.uniform(0.0, 0.9));
    if random.uniform(0.0, 1.0) < 0.3 {
        row[rest::INV_OPTIMAL] = entry(0.0);
    }
    (a, b, row)
}

/// Fibres of a muscle whose mean stretch is on the ascending limb or beyond it, whose pull does not depend on their rate.
fn random_excitation(random: &mut Random) -> Excitation<f64> {
    Excitation {
        activation: random.uniform(0.0, 1.5),
        mean_stretch: random.uniform(0.0, 2.5),
        prev_stretch: random.uniform(0.0, 2.0),
        inv_step: 1.0,
    }
}

/// Largest difference of two arrays over the largest entry of the second.
fn relative(found: &[f64], expected: &[f64]) -> f64 {
    let scale = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    found.iter().zip(expected).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / scale
}

#[test]
fn segment_gradients_match_central_differences() {
    let mut random = Random(1);
    let (mut worst, mut thin) = (0.0_f64, 0);
    for _ in 0..500 {
        let (a, b, row) = random_segment(&mut random);
        let excitation = random_excitation(&mut random);
        let strain = measure(LANES, a, b, row[rest::INV_LENGTH][0]);
        thin += usize::from(strain.scale.powi(2) * strain.strain.0[2] < f64::from(THIN) * row[rest::STRETCH][0]);
        let excitation = [None, Some(&excitation)][usize::from(random.uniform(0.0, 1.0) < 0.8)];
        let terms = segment_terms(LANES, [a, b], &row, Reference::built(LANES, &row), excitation, 0.0);
        let by_difference = |unknown: usize| {
            let at = |by: f64| {
                let ends =
                    if unknown < UNKNOWNS { [moved(a, unknown, by), b] } else { [a, moved(b, unknown - UNKNOWNS, by)] };
                segment_potential(LANES, ends, &row, Reference::built(LANES, &row), excitation).whole()
            };
            (at(STEP) - at(-STEP)) / (2.0 * STEP)
        };
        let expected: Vec<f64> = (0..2 * UNKNOWNS).map(by_difference).collect();
        let found: Vec<f64> = terms.gradient_a.into_iter().chain(terms.gradient_b).collect();
        worst = worst.max(relative(&found, &expected));
    }
    println!("segment gradients: {worst:.1e} relative, {thin} of 500 thin (bar {BAR:.0e})");
    assert!(worst <= BAR && thin > 100 && thin < 400);
}

/// A segment's force along w (J).
fn tension(strain: &SegmentStrain<f64>, row: &[Entry<f64>], reference: &Reference<f64>) -> f64 {
    let terms = residuals(LANES, strain, row, reference);
    let (axial, volume, likeness) = (terms[0], terms[8], terms[11]);
    let (s2, gw) = (strain.scale.powi(2), strain.strain.0[2]);
    let (_, rate) = volume_residual(LANES, s2 * gw, row[rest::STRETCH][0]);
    axial.0 * axial.1 + s2 * rate * volume.0 * volume.1 + likeness.0 * likeness.1
}

/// By how much a segment under pressure N is stiffer against shear: |N|Γ_w/|Γ|².
fn prop(strain: &SegmentStrain<f64>, row: &[Entry<f64>], reference: &Reference<f64>) -> f64 {
    let pressure = (-tension(strain, row, reference)).max(0.0);
    pressure * strain.strain.0[2].max(0.0) / strain.slope.dot(strain.slope).max(f64::from(LEAST_SLOPE2))
}

#[test]
fn segment_blocks_match_dense_jacobians() {
    let mut random = Random(2);
    let mut worst = 0.0_f64;
    for _ in 0..500 {
        let (a, b, row) = random_segment(&mut random);
        let excitation = random_excitation(&mut random);
        let reference = Reference::built(LANES, &row).shortened(LANES, excitation.shortening(LANES, &row));
        let of = |a: Section<f64>, b: Section<f64>| {
            residuals(LANES, &measure(LANES, a, b, row[rest::INV_LENGTH][0]), &row, &reference)
        };
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
        let strain = measure(LANES, a, b, row[rest::INV_LENGTH][0]);
        let fibres = contract(LANES, fibre_stretch(LANES, &strain, &row), &row, &excitation);
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
        let in_series = (excitation.activation + f64::from(RESTING)) * row[rest::SERIES][0];
        let across = (fibres.pull * by_slope).max(in_series) / slope.length();
        let prop = prop(&strain, &row, &reference);
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
        let terms = segment_terms(LANES, [a, b], &row, Reference::built(LANES, &row), Some(&excitation), 0.0);
        let (mut found, mut expected) = (Vec::new(), Vec::new());
        for i in 0..UNKNOWNS {
            for j in 0..UNKNOWNS {
                if j <= i {
                    found.extend([terms.block_aa[i][j], terms.block_bb[i][j]]);
                    expected.push(dense(i, j));
                    expected.push(dense(UNKNOWNS + i, UNKNOWNS + j));
                }
                found.push(terms.block_ab[i][j]);
                expected.push(dense(i, UNKNOWNS + j));
            }
        }
        worst = worst.max(relative(&found, &expected));
    }
    println!("segment blocks against JᵀKJ: {worst:.1e} relative (bar {BAR:.0e})");
    assert!(worst <= BAR);
}

/// A row of a muscle's fibres, and how they are excited, at a stretch of 0.3 to 2.6.
fn random_fibres(random: &mut Random) -> (Vec<Entry<f64>>, Excitation<f64>, f64) {
    let mut row = vec![entry(0.0); rest::ENTRIES];
    row[rest::ACTIVE] = entry(random.uniform(0.5, 2.0));
    row[rest::INV_OPTIMAL] = entry([0.0, random.uniform(0.5, 1.5)][(random.bits() % 2) as usize]);
    row[rest::PASSIVE] = entry(random.uniform(0.0, 1.0));
    row[rest::INV_MAX_VELOCITY] = entry(random.uniform(0.0, 0.2));
    row[rest::FIBRE_STIFFNESS] = entry([0.0, random.uniform(0.0, 1.0)][(random.bits() % 2) as usize]);
    let stretch = random.uniform(0.3, 2.6);
    let excitation = Excitation {
        activation: random.uniform(0.0, 10.0),
        mean_stretch: random.uniform(0.3, 2.6),
        prev_stretch: stretch + random.uniform(-0.05, 0.05),
        inv_step: 60.0,
    };
    (row, excitation, stretch)
}

#[test]
fn fibre_stiffness_is_the_derivative_of_their_pull_and_never_negative() {
    let mut random = Random(7);
    let (mut worst, mut compared) = (0.0_f64, 0);
    for _ in 0..2000 {
        let (row, excitation, stretch) = random_fibres(&mut random);
        let at = |by: f64| contract(LANES, stretch + by, &row, &excitation);
        let slope = (at(STEP).pull - at(-STEP).pull) / (2.0 * STEP);
        let here = at(0.0);
        let elastic = row[rest::FIBRE_STIFFNESS][0] * (stretch - 1.0);
        let short = stretch * row[rest::INV_OPTIMAL][0] < f64::from(SHORT);
        assert!(short || here.pull >= elastic, "what contracts pushes where its filaments meet, and nowhere else");
        assert!(here.stiffness >= 0.0 && slope >= -BAR, "tension that falls with stretch: {slope}");
        if (1.0 - 0.9 * f64::from(TOE)..1.0).contains(&stretch) {
            let slack = Excitation { activation: 0.0, ..excitation };
            let as_above = row[rest::ACTIVE][0] * row[rest::PASSIVE][0] + row[rest::FIBRE_STIFFNESS][0];
            assert!((contract(LANES, stretch, &row, &slack).stiffness - as_above).abs() <= BAR, "at {stretch}");
        }
        // Kinks: λ = 1 (passive), fully shortening, and λ = 2; below λ = 1 the stiffness is that of above. The second
        // derivative has one at rest (rate).
        let v = (stretch - excitation.prev_stretch) * row[rest::INV_MAX_VELOCITY][0] * excitation.inv_step;
        let toe = 1.0 - f64::from(TOE) - STEP..1.0 + STEP;
        let kink = toe.contains(&stretch) || (v + 1.0).abs() < 1.0e-3 || v.abs() < 1.0e-3;
        if !kink {
            compared += 1;
            worst = worst.max((here.stiffness - slope).abs() / slope.max(1.0));
        }
    }
    println!("fibre stiffness against differences: {worst:.1e} over {compared} (bar {BAR:.0e})");
    assert!(compared > 1000 && worst <= BAR);
}

/// Exact but for f_v: its integral is by Gauss's rule at three points.
#[test]
fn fibre_potential_is_the_integral_of_their_pull() {
    let mut random = Random(8);
    let mut worst = [0.0_f64; 2];
    for index in 0..2000 {
        let (mut row, excitation, to) = random_fibres(&mut random);
        let from = excitation.prev_stretch;
        if index % 2 == 0 {
            row[rest::INV_MAX_VELOCITY] = entry(0.0);
        }
        // By Simpson's rule on 200 intervals, from λ_n, where the active part is nothing.
        let pull = |x: f64| contract(LANES, x, &row, &excitation).pull;
        let width = (to - from) / 200.0;
        let integral: f64 = (0..200)
            .map(|k| {
                let x = from + width * f64::from(k);
                (pull(x) + 4.0 * pull(x + 0.5 * width) + pull(x + width)) * width / 6.0
            })
            .sum();
        let potential = fibre_potential(LANES, to, &row, &excitation) - fibre_potential(LANES, from, &row, &excitation);
        let work = pull(from).abs().max(pull(to).abs()) * (to - from).abs();
        let off = (potential - integral).abs() / work.max(1.0e-9);
        worst[index % 2] = worst[index % 2].max(off);
    }
    let [steady, worst] = worst;
    println!("fibres' work: off by {steady:.1e} (bar 1e-5), by {worst:.1e} with Hill's law (bar 1e-2)");
    assert!(steady <= 1.0e-5 && worst <= 1.0e-2);
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
        let before = chain.sections();
        let (mut gradient, mut matrix) = chain.dense(&before, |at| chain.residuals_of_step(at));
        let (surface_gradient, surface_matrix) = chain.dense(&before, |at| chain.surface_residuals(at));
        // The inertia of turns is taken in the matrix as where the nodes are as predicted.
        let (turn_gradient, _) = chain.dense(&before, |at| chain.turn_residuals(at));
        let (_, turn_matrix) = chain.dense(&chain.as_predicted(), |at| chain.turn_residuals(at));
        let size = gradient.len();
        for i in 0..size {
            gradient[i] += surface_gradient[i] + turn_gradient[i];
            for j in 0..size {
                matrix[i][j] += turn_matrix[i][j];
                let far = (i / UNKNOWNS).abs_diff(j / UNKNOWNS) == 2;
                if far {
                    // Left out of the matrix, with its bound on both diagonals.
                    matrix[i][i] += surface_matrix[i][j].abs();
                } else {
                    matrix[i][j] += surface_matrix[i][j];
                }
            }
        }
        let props: Vec<f64> = before
            .windows(2)
            .enumerate()
            .map(|(j, pair)| {
                let row = chain.rest.row(j);
                prop(&measure(LANES, pair[0], pair[1], row[rest::INV_LENGTH][0]), row, &Reference::built(LANES, row))
            })
            .collect();
        pressed += props.iter().filter(|prop| **prop > 0.0).count();
        let (_, propped) = chain.dense(&before, |at| chain.shears(at, &props));
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
        let expected = solve_dense(matrix, gradient.iter().map(|g| -g).collect());

        let config = StepConfig { substeps: 1, ..Default::default() };
        let mut params = StepParams::new(&config, 1.0 / INV_H, 0, 0.0);
        params.retries = 0;
        // Wherever it leads: these states are no rest, and the step is what is asked for.
        chain.chains[chain_rows::START_POTENTIAL] = entry(f64::MAX);
        let mut room = vec![entry(0.0); chain.rest.scratch_len()];
        run_stage(LANES, Stage::SolveRods, &params, &mut chain.group(&mut room));

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

/// What the solver compares steps by is what they descend: the gradient of [`standing`]'s level by differences against
/// that of the residuals written anew; at the substep's start it is what is stored there.
#[test]
fn the_potential_of_a_chain_has_the_gradient_that_its_step_descends() {
    let mut random = Random(4);
    let (mut worst, mut start) = (0.0_f64, 0.0_f64);
    for _ in 0..20 {
        let mut chain = Chain::new(&mut random);
        let before = chain.sections();
        let parts = [
            chain.dense(&before, |at| chain.residuals(at)).0,
            chain.dense(&before, |at| chain.surface_residuals(at)).0,
            chain.dense(&before, |at| chain.turn_residuals(at)).0,
        ];
        let expected: Vec<f64> = (0..NODES * UNKNOWNS).map(|i| parts.iter().map(|part| part[i]).sum()).collect();
        let mut room = vec![entry(0.0); chain.rest.scratch_len()];
        let mut level = |at: &[Section<f64>]| {
            chain.put(at);
            standing(LANES, &chain.group(&mut room), INV_H * INV_H, None).level()
        };
        let mut found = Vec::new();
        for unknown in 0..NODES * UNKNOWNS {
            let mut moved_by = |by: f64| {
                let mut to = before.clone();
                to[unknown / UNKNOWNS] = moved(to[unknown / UNKNOWNS], unknown % UNKNOWNS, by);
                level(&to)
            };
            found.push((moved_by(STEP) - moved_by(-STEP)) / (2.0 * STEP));
        }
        worst = worst.max(relative(&found, &expected));

        let at_start = chain.at_start();
        chain.put(&at_start);
        let group = chain.group(&mut room);
        let stored =
            stored_at_start(LANES, &group, INV_H * INV_H, None) + stored_by_contacts(LANES, &group, When::Start);
        let there = standing(LANES, &group, INV_H * INV_H, None);
        assert!(there.motion <= 1.0e-20, "{} J of motion at the start", there.motion);
        start = start.max((there.level() / stored - 1.0).abs());
    }
    println!("Π's gradient: {worst:.1e} relative (bar {BAR:.0e}); Π at the start: {start:.1e} (bar 1e-12)");
    assert!(worst <= BAR && start <= 1.0e-12);
}

/// Friction in the solve, stuck and slipping: its gradient is that of what it stores, and its matrix how that changes where the
/// nodes have not turned, for there the lever does not change but for the order of turns.
#[test]
fn friction_pulls_as_what_it_stores() {
    let mut random = Random(11);
    let (mut worst, mut slipping) = ([0.0_f64; 2], 0);
    for case in 0..40 {
        let mut chain = Chain::new(&mut random);
        for j in 0..NODES {
            let frame: [f64; 4] = chain.read(j, node::PREV_FRAME);
            for (k, value) in frame.into_iter().enumerate() {
                chain.nodes[j * node::ENTRIES + node::FRAME + k] = entry(value);
            }
            let row = &mut chain.contacts[j * contact::ENTRIES..][..contact::ENTRIES];
            // Of friction alone.
            row[contact::GAP] = entry(5.0);
            row[contact::FRICTION] = entry(random.uniform(10.0, 90.0));
            row[contact::LIMIT] = entry(if case % 2 == 0 { 1.0e3 } else { random.uniform(0.01, 0.1) });
            slipping += usize::from(row[contact::LIMIT][0] < 1.0);
        }
        let before = chain.sections();
        let mut room = vec![entry(0.0); chain.rest.scratch_len()];
        let mut gradient_at = |at: &[Section<f64>], differ: bool| -> (Vec<f64>, Vec<Vec<f64>>) {
            let mut level = |at: &[Section<f64>]| {
                chain.put(at);
                let group = chain.group(&mut room);
                stored_by_contacts(LANES, &group, When::Now)
            };
            let slope = |level: &mut dyn FnMut(&[Section<f64>]) -> f64, unknown: usize| {
                let mut by = |by: f64| {
                    let mut to = at.to_vec();
                    to[unknown / UNKNOWNS] = moved(to[unknown / UNKNOWNS], unknown % UNKNOWNS, by);
                    level(&to)
                };
                (by(STEP) - by(-STEP)) / (2.0 * STEP)
            };
            let expected = (0..NODES * UNKNOWNS).map(|unknown| slope(&mut level, unknown)).collect();
            if !differ {
                return (expected, Vec::new());
            }
            chain.put(at);
            (expected, friction_matrix(&mut chain.group(&mut room)))
        };
        let (expected, system) = gradient_at(&before, true);
        worst[0] = worst[0].max(relative(&system[NODES * UNKNOWNS], &expected));
        let columns: Vec<Vec<f64>> = (0..NODES * UNKNOWNS)
            .map(|unknown| {
                let mut by = |by: f64| {
                    let mut to = before.clone();
                    to[unknown / UNKNOWNS] = moved(to[unknown / UNKNOWNS], unknown % UNKNOWNS, by);
                    gradient_at(&to, false).0
                };
                let (up, down) = (by(1.0e-4), by(-1.0e-4));
                up.iter().zip(&down).map(|(up, down)| (up - down) / 2.0e-4).collect()
            })
            .collect();
        // By turns one after the other: what of it depends on their order is skew.
        let flat = |of: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            (0..NODES * UNKNOWNS)
                .flat_map(|i| (0..NODES * UNKNOWNS).map(move |k| (i, k)))
                .map(|(i, k)| of(i, k))
                .collect()
        };
        let even = flat(&|i, k| (columns[i][k] + columns[k][i]) / 2.0);
        worst[1] = worst[1].max(relative(&flat(&|i, k| system[i][k]), &even));
    }
    println!("friction's gradient: {:.1e} relative (bar {BAR:.0e}); its matrix: {:.1e} (bar 1e-3)", worst[0], worst[1]);
    assert!(slipping > 0 && worst[0] <= BAR && worst[1] <= 1.0e-3);
}

/// The matrix that contact rows add to a chain's system, column by column, and after it their gradient.
fn friction_matrix(group: &mut Group<'_, f64>) -> Vec<Vec<f64>> {
    let mut all = vec![vec![0.0; NODES * UNKNOWNS]; NODES * UNKNOWNS + 1];
    let mut cursors = Cursors::of(group);
    for index in 0..NODES {
        let mut system =
            System { block: [[0.0; UNKNOWNS]; UNKNOWNS], rhs: [0.0; UNKNOWNS], terms: SegmentTerms::none(LANES) };
        add_contacts(LANES, group, index, &mut cursors, Some(Again::of(LANES, 1.0)), &mut system);
        let at = index * UNKNOWNS;
        for i in 0..UNKNOWNS {
            all[NODES * UNKNOWNS][at + i] -= system.rhs[i];
            for k in 0..UNKNOWNS {
                all[at + k][at + i] += system.block[i.max(k)][i.min(k)];
            }
            if index + 1 < NODES {
                all[NODES * UNKNOWNS][at + UNKNOWNS + i] += system.terms.gradient_b[i];
                for k in 0..UNKNOWNS {
                    all[at + UNKNOWNS + k][at + UNKNOWNS + i] += system.terms.block_bb[i.max(k)][i.min(k)];
                    // A row of `block_ab` is an unknown of the first node.
                    all[at + UNKNOWNS + k][at + i] += system.terms.block_ab[i][k];
                    all[at + i][at + UNKNOWNS + k] += system.terms.block_ab[i][k];
                }
            }
        }
    }
    all
}
