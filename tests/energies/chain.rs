//! A chain with every energy on, its residuals written anew, and the dense system that they give.

use glam::{DQuat, DVec3};
use sinew::cpu::group::{Group, GroupRest};
use sinew::cpu::lanes::Entry;
use sinew::cpu::math::{Quaternion, V3};
use sinew::cpu::rod_energies::{UNKNOWNS, residuals};
use sinew::cpu::strains::{Reference, Section, measure};
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::layout::{chain, contact, input, node, reaction, rest};
use sinew::{Material, ModuliOverrides, Pose};

use super::common::{Random, entry};
use super::{LANES, STEP, moved};

/// A deformed chain in the middle of a substep, in f64: held at one end, in contact, with every energy on.
pub struct Chain {
    pub rest: GroupRest<f64>,
    pub nodes: Vec<Entry<f64>>,
    pub inputs: Vec<Entry<f64>>,
    pub chains: Vec<Entry<f64>>,
    pub contacts: Vec<Entry<f64>>,
    pub reactions: Vec<Entry<f64>>,
    pub inv_h: f64,
}

pub const NODES: usize = 6;
/// One over the substep (1/s).
pub const INV_H: f64 = 256.0;

impl Chain {
    pub fn new(random: &mut Random) -> Self {
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
        let inputs = vec![entry(0.0); input::ENTRIES];
        let mut contacts = vec![entry(0.0); NODES * contact::ENTRIES];
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
            put(row, node::PREV_FRAME, &turned(random, 0.15));
            put(row, node::TARGET_PLACE, &previous.to_array());
            put(row, node::TARGET_FRAME, &pose.rotation.to_array());
            let scale = random.uniform(0.95, 1.05);
            put(row, node::SCALE, &[scale]);
            put(row, node::PREV_SCALE, &[scale + random.uniform(-0.02, 0.02)]);
            put(row, node::PREDICTED_SCALE, &[scale + random.uniform(-0.02, 0.02)]);
            // Anywhere on the segment; two of them touch.
            let row = &mut contacts[j * contact::ENTRIES..][..contact::ENTRIES];
            put(row, contact::SEGMENT, &[j as f64]);
            put(row, contact::ALONG, &[if j + 1 < NODES { random.uniform(0.0, 1.0) } else { 0.0 }]);
            let direction = random.vector(-1.0, 1.0).normalize();
            put(row, contact::DIRECTION, &direction.to_array());
            put(row, contact::SCALE_TERM, &[random.uniform(0.05, 0.15)]);
            put(row, contact::GAP, &[if j % 2 == 0 { -0.05 } else { 5.0 }]);
            put(row, contact::STIFFNESS, &[random.uniform(50.0, 300.0)]);
            put(row, contact::FRICTION, &[if j % 2 == 0 { random.uniform(10.0, 90.0) } else { 0.0 }]);
            put(row, contact::ARM, &[random.uniform(0.05, 0.15)]);
            put(row, contact::LIMIT, &[1.0e3]);
            put(row, contact::ANCHOR, &random.vector(-0.01, 0.01).reject_from(direction).to_array());
        }
        let reactions = vec![entry(0.0); rest.reaction_count * reaction::ENTRIES];
        Self { rest, nodes, inputs, chains, contacts, reactions, inv_h: INV_H }
    }

    /// It as the stages see it.
    pub fn group<'a>(&'a mut self, scratch: &'a mut [Entry<f64>]) -> Group<'a, f64> {
        Group {
            rest: &self.rest,
            nodes: &mut self.nodes,
            inputs: &self.inputs,
            forces: &[],
            planes: &[],
            tangents: &[],
            meets: &mut [],
            solved: &mut [],
            chains: &mut self.chains,
            contacts: &mut self.contacts,
            reactions: &mut self.reactions,
            scratch,
        }
    }

    /// The nodes at the substep's start, the first one where its bone has it.
    pub fn at_start(&self) -> Vec<Section<f64>> {
        (0..NODES)
            .map(|j| {
                let (place, frame) = if j == 0 {
                    (node::TARGET_PLACE, node::TARGET_FRAME)
                } else {
                    (node::PREV_PLACE, node::PREV_FRAME)
                };
                Section {
                    place: V3(self.read(j, place)),
                    scale: self.read::<1>(j, node::PREV_SCALE)[0],
                    frame: Quaternion(self.read(j, frame)),
                }
            })
            .collect()
    }

    pub fn read<const N: usize>(&self, j: usize, at: usize) -> [f64; N] {
        std::array::from_fn(|k| self.nodes[j * node::ENTRIES + at + k][0])
    }

    pub fn sections(&self) -> Vec<Section<f64>> {
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
    pub fn residuals(&self, at: &[Section<f64>]) -> Vec<(f64, f64)> {
        self.residuals_with(at, |end, at| self.turn(end, &at.frame, node::PREV_FRAME))
    }

    /// As [`Self::residuals`], as a solve takes them: to friction, a step's turn adds to that before it, whatever that is.
    pub fn residuals_of_step(&self, at: &[Section<f64>]) -> Vec<(f64, f64)> {
        self.residuals_with(at, |end, at| {
            let before = self.turn(end, &Quaternion(self.read(end, node::FRAME)), node::PREV_FRAME);
            before + self.turn(end, &at.frame, node::FRAME)
        })
    }

    /// 2·Im of the turn of a node to a frame from one of its own.
    fn turn(&self, j: usize, to: &Quaternion<f64>, from: usize) -> DVec3 {
        let turn = DQuat::from_array(to.0) * DQuat::from_array(self.read(j, from)).conjugate();
        turn.xyz() * (2.0 * turn.w.signum())
    }

    fn residuals_with(&self, at: &[Section<f64>], turn: impl Fn(usize, &Section<f64>) -> DVec3) -> Vec<(f64, f64)> {
        let mut all = Vec::new();
        let inv_h2 = self.inv_h * self.inv_h;
        for (j, s) in at.iter().enumerate() {
            let rest_at = |entry: usize| self.rest.row(j)[entry][0];
            // (73): translation and scale.
            let previous: [f64; 3] = self.read(j, node::PREV_PLACE);
            let predicted: [f64; 3] = self.read(j, node::PREDICTED_MOVE);
            for k in 0..3 {
                all.push((s.place.0[k] - previous[k] - predicted[k], rest_at(rest::MASS) * inv_h2));
            }
            let [scale] = self.read(j, node::PREDICTED_SCALE);
            all.push((s.scale - scale, rest_at(rest::INERTIA_W) * inv_h2));
            // What touches the segment after the node, and friction.
            let row = &self.contacts[j * contact::ENTRIES..][..contact::ENTRIES];
            let vector = |at: usize| DVec3::from_array(std::array::from_fn(|k| row[at + k][0]));
            let (along, next) = (row[contact::ALONG][0], (j + 1).min(NODES - 1));
            let gone = |end: usize| {
                let place = DVec3::from_array(at[end].place.0) - DVec3::from_array(self.read(end, node::PREV_PLACE));
                (place, at[end].scale - self.read::<1>(end, node::PREV_SCALE)[0], turn(end, &at[end]))
            };
            let ((a, scaled_a, turn_a), (b, scaled_b, turn_b)) = (gone(j), gone(next));
            let (place, scaled) = (a.lerp(b, along), scaled_a + (scaled_b - scaled_a) * along);
            let direction = vector(contact::DIRECTION);
            let swept = direction.cross(turn_a.lerp(turn_b, along)) * row[contact::ARM][0];
            let distance = row[contact::GAP][0] + direction.dot(place) - row[contact::SCALE_TERM][0] * scaled;
            all.push((distance.min(0.0), row[contact::STIFFNESS][0]));
            let slid = place - direction * direction.dot(place) + swept - vector(contact::ANCHOR);
            all.extend(slid.to_array().map(|x| (x, row[contact::FRICTION][0])));
        }
        for (j, pair) in at.windows(2).enumerate() {
            let row = self.rest.row(j);
            let strain = measure(LANES, pair[0], pair[1], row[rest::INV_LENGTH][0]);
            let terms = residuals(LANES, &strain, row, &Reference::built(LANES, row));
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

    /// (73)'s rotations.
    pub fn turn_residuals(&self, at: &[Section<f64>]) -> Vec<(f64, f64)> {
        let mut all = Vec::new();
        for (j, s) in at.iter().enumerate() {
            let rest_at = |entry: usize| self.rest.row(j)[entry][0];
            let target = DQuat::from_array(self.read(j, node::PREDICTED_FRAME));
            let local = target.conjugate() * (DQuat::from_array(s.frame.0) * target.conjugate()).xyz() * 2.0;
            let [prev_scale] = self.read(j, node::PREV_SCALE);
            let turning = prev_scale * prev_scale * self.inv_h * self.inv_h;
            let (iu, iv, iuv) = (rest_at(rest::INERTIA_U), rest_at(rest::INERTIA_V), rest_at(rest::INERTIA_UV));
            // ½(Iu·x² + 2Iuv·x·y + Iv·y²) as a sum of squares.
            all.push((local.x + local.y * iuv / iu, iu * turning));
            all.push((local.y, (iv - iuv * iuv / iu) * turning));
            all.push((local.z, rest_at(rest::INERTIA_W) * turning));
        }
        all
    }

    /// The nodes where they are, turned as predicted.
    pub fn as_predicted(&self) -> Vec<Section<f64>> {
        let turned = |(j, s)| Section { frame: Quaternion(self.read(j, node::PREDICTED_FRAME)), ..s };
        self.sections().into_iter().enumerate().map(turned).collect()
    }

    /// Puts the nodes elsewhere.
    pub fn put(&mut self, at: &[Section<f64>]) {
        for (j, s) in at.iter().enumerate() {
            let previous: [f64; 3] = self.read(j, node::PREV_PLACE);
            let row = &mut self.nodes[j * node::ENTRIES..][..node::ENTRIES];
            for k in 0..3 {
                row[node::PLACE + k] = entry(s.place.0[k]);
                row[node::MOVED + k] = entry(s.place.0[k] - previous[k]);
            }
            row[node::SCALE] = entry(s.scale);
            for k in 0..4 {
                row[node::FRAME + k] = entry(s.frame.0[k]);
            }
        }
    }

    /// (15) at the inner nodes: ½C(s′₊ − s′₋)².
    pub fn surface_residuals(&self, at: &[Section<f64>]) -> Vec<(f64, f64)> {
        (1..NODES - 1)
            .map(|j| {
                let slope = |a: usize| (at[a + 1].scale - at[a].scale) * self.rest.row(a)[rest::INV_LENGTH][0];
                (slope(j) - slope(j - 1), self.rest.row(j)[rest::SURFACE_BENDING][0])
            })
            .collect()
    }

    /// Γ_u and Γ_v of every segment, each with the segment's weight.
    pub fn shears(&self, at: &[Section<f64>], weights: &[f64]) -> Vec<(f64, f64)> {
        at.windows(2)
            .zip(weights)
            .enumerate()
            .flat_map(|(j, (pair, &weight))| {
                let strain = measure(LANES, pair[0], pair[1], self.rest.row(j)[rest::INV_LENGTH][0]).strain;
                [(strain.0[0], weight), (strain.0[1], weight)]
            })
            .collect()
    }

    /// Gradient of the potential, and JᵀKJ, by central differences of the residuals.
    pub fn dense(
        &self,
        at: &[Section<f64>],
        of: impl Fn(&[Section<f64>]) -> Vec<(f64, f64)>,
    ) -> (Vec<f64>, Vec<Vec<f64>>) {
        let here = of(at);
        let size = NODES * UNKNOWNS;
        let columns: Vec<Vec<f64>> = (0..size)
            .map(|unknown| {
                let residual = |by: f64| {
                    let mut to = at.to_vec();
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
