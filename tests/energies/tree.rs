//! A tree of chains at rest under its weight, against one dense solve of the whole in f64.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::cpu::group::GroupRest;
use sinew::cpu::lanes::OneF64;
use sinew::cpu::math::{Quaternion, V3};
use sinew::cpu::rod_energies::{UNKNOWNS, residuals};
use sinew::cpu::strains::{Reference, Section, measure};
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::layout::rest;
use sinew::step::StepConfig;
use sinew::{Physics, Pose};

use super::common::{FRAME, material};
use super::{STEP, moved, solve_dense};

const GRAVITY: f64 = 9.81;

/// All sections of a tree, chain by chain.
type Sections = Vec<Vec<Section<f64>>>;

/// A tree in f64: what moves freely, and what that stores.
struct Tree<'a> {
    flesh: &'a Flesh,
    groups: Vec<GroupRest<f64>>,
}

impl<'a> Tree<'a> {
    fn new(flesh: &'a Flesh) -> Self {
        Self { flesh, groups: flesh.groups().iter().map(GroupRest::to_f64).collect() }
    }

    fn at_rest(&self) -> Sections {
        let section = |pose: &Pose| Section {
            place: V3(pose.translation.to_array()),
            scale: 1.0,
            frame: Quaternion(pose.rotation.to_array()),
        };
        self.flesh.chains().iter().map(|chain| chain.rest.iter().map(section).collect()).collect()
    }

    /// Chain, node and unknown of all that moves freely: not what a bone holds, and of what hangs on a stem its scale alone.
    fn unknowns(&self) -> Vec<(usize, usize, usize)> {
        let chains = self.flesh.chains().iter().enumerate();
        let all = chains.flat_map(|(c, chain)| (0..chain.node_count()).map(move |node| (c, chain, node)));
        let free = |(c, chain, node): (usize, &sinew::flesh::Chain, usize)| {
            let own_scale = chain.hangs.is_some() && node + 1 == chain.node_count();
            let clamped = chain.hangs.is_none() && node == 0;
            (0..UNKNOWNS)
                .filter(move |unknown| *unknown == 3 || !(own_scale || clamped))
                .map(move |unknown| (c, node, unknown))
        };
        all.flat_map(free).collect()
    }

    /// Puts branches where their stems have them, which are before them.
    fn join(&self, at: &mut Sections) {
        for (c, chain) in self.flesh.chains().iter().enumerate() {
            let Some(hang) = chain.hangs else { continue };
            let (last, stem) = (chain.node_count() - 1, at[hang.rod][hang.node]);
            let hung = self.flesh.chains()[hang.rod].rest[hang.node].inverse() * chain.rest[last];
            let rotation = DQuat::from_array(stem.frame.0);
            let DVec3 { x, y, z } = hung.translation;
            let place = DVec3::from_array(stem.place.0) + rotation * DVec3::new(stem.scale * x, stem.scale * y, z);
            let to = &mut at[c][last];
            to.place = V3(place.to_array());
            to.frame = Quaternion((rotation * hung.rotation).to_array());
        }
    }

    fn with(&self, at: &Sections, steps: impl IntoIterator<Item = ((usize, usize, usize), f64)>) -> Sections {
        let mut to = at.clone();
        for ((chain, node, unknown), by) in steps {
            to[chain][node] = moved(to[chain][node], unknown, by);
        }
        self.join(&mut to);
        to
    }

    /// Residuals r and their weights k of what segments of round sections store, Σ½k r²: BEND_UV is nothing.
    fn residuals(&self, at: &Sections) -> Vec<(f64, f64)> {
        let mut all = Vec::new();
        for (chain, at) in self.flesh.chains().iter().zip(at) {
            let (group, lane) = (&self.groups[chain.group], chain.lane);
            for (j, pair) in at.windows(2).enumerate() {
                let row = group.row(j);
                let lanes = OneF64(lane);
                let strain = measure(lanes, pair[0], pair[1], row[rest::INV_LENGTH][lane]);
                all.extend(residuals(lanes, &strain, row, &Reference::built(lanes, row)));
            }
            for j in 1..at.len() - 1 {
                let slope = |a: usize| (at[a + 1].scale - at[a].scale) * group.row(a)[rest::INV_LENGTH][lane];
                all.push((slope(j) - slope(j - 1), group.row(j)[rest::SURFACE_BENDING][lane]));
            }
        }
        all
    }

    /// What its weight stores (J).
    fn height(&self, at: &Sections) -> f64 {
        let chains = self.flesh.chains().iter().zip(at);
        let weights = chains.flat_map(|(chain, at)| {
            let group = &self.groups[chain.group];
            let mass = move |j: usize| group.row(j)[rest::MASS][chain.lane];
            at.iter().enumerate().map(move |(j, section)| mass(j) * GRAVITY * section.place.0[1])
        });
        weights.sum()
    }

    /// Where it comes to rest: Gauss–Newton steps of the whole until they are nothing, each with one dense solve.
    fn settled(&self) -> Sections {
        let unknowns = self.unknowns();
        let mut at = self.at_rest();
        for _ in 0..60 {
            let here = self.residuals(&at);
            let columns: Vec<(Vec<f64>, f64)> = unknowns
                .iter()
                .map(|unknown| {
                    let [ahead, behind] = [STEP, -STEP].map(|by| self.with(&at, [(*unknown, by)]));
                    let pairs = self.residuals(&ahead).into_iter().zip(self.residuals(&behind));
                    let slopes = pairs.map(|(ahead, behind)| (ahead.0 - behind.0) / (2.0 * STEP)).collect();
                    (slopes, (self.height(&ahead) - self.height(&behind)) / (2.0 * STEP))
                })
                .collect();
            let pull = |(slopes, weight): &(Vec<f64>, f64)| -> f64 {
                -weight - slopes.iter().zip(&here).map(|(slope, (r, k))| slope * r * k).sum::<f64>()
            };
            let product =
                |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).zip(&here).map(|((a, b), (_, k))| a * b * k).sum() };
            let matrix = columns.iter().map(|(a, _)| columns.iter().map(|(b, _)| product(a, b)).collect()).collect();
            let step = solve_dense(matrix, columns.iter().map(pull).collect());
            let longest = step.iter().fold(0.0_f64, |longest, by| longest.max(by.abs()));
            at = self.with(&at, unknowns.iter().copied().zip(step));
            if longest < 1.0e-9 {
                return at;
            }
        }
        panic!("the dense solve does not come to rest");
    }
}

/// A stem that a bone clamps, with two arms at its end and one at its middle that bears another one, all bent by their weight.
#[test]
fn a_branched_cantilever_rests_where_one_dense_solve_has_it() {
    let made = |name: &str, from: DVec3, to: DVec3, segments: usize, radius: f64| {
        let rod = RodSpec::straight(name, from, to, segments, radius);
        RodSpec { material: material(2.0e7, 0.4, 1000.0, 3.0), ..rod }
    };
    let end = DVec3::X;
    let (elbow, middle) = (DVec3::new(0.6, 0.05, 0.4), DVec3::new(0.5, 0.02, 0.02));
    let rods = [
        made("stem", DVec3::ZERO, end, 10, 0.04).attach(0, 0, Holds::CLAMP),
        made("left", end + DVec3::new(0.3, 0.1, 0.4), end, 6, 0.02).hang(0, 10),
        made("right", end + DVec3::new(0.1, 0.0, -0.3), end, 5, 0.015).hang(0, 10),
        made("upper", elbow, middle, 6, 0.02).hang(0, 5),
        made("lower", elbow + DVec3::new(0.3, 0.0, 0.05), elbow, 4, 0.012).hang(3, 0),
    ];
    let flesh = Arc::new(Flesh::build(&rods, &[Pose::IDENTITY]).unwrap());
    let tree = Tree::new(&flesh);
    let expected = tree.settled();

    let mut physics = Physics::with_config(StepConfig::default());
    let handle = physics.insert(flesh.clone(), &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
    (0..900).for_each(|_| physics.step_flesh(FRAME).unwrap());
    let (mut off, mut bent) = (0.0_f64, 0.0_f64);
    for (c, chain) in expected.iter().enumerate() {
        for (node, section) in chain.iter().enumerate() {
            let place = DVec3::from_array(section.place.0);
            off = off.max((physics.node(handle, c, node).unwrap().place - place).length());
            bent = bent.max((place - flesh.chains()[c].rest[node].translation).length());
        }
    }
    println!("a tree bent by {bent:.3} m rests {off:.1e} m from where one dense solve has it (bar 1e-5 of its length)");
    assert!(bent > 0.1, "{bent}");
    assert!(off <= 1.0e-5);
}
