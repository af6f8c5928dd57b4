//! Rest strains that balance the rest pose under gravity.
//!
//! A rod of rest strains ē sags by δ with K δ = M g, K = JᵀCJ at the rest pose. Less by J δ, they give it there the
//! stresses C J δ, whose gradient JᵀCJ δ is M g: the pose is in balance exactly, by the least elastic energy, with the
//! cross-sections at their rest size since (12) and (18) stay unstressed.

use glam::DVec3;

use crate::Pose;
use crate::cpu::group::{Group, GroupRest};
use crate::cpu::lanes::{Entry, LANES, Lanes, OneF64};
use crate::cpu::math::V3;
use crate::cpu::rod_energies::{Section, measure};
use crate::cpu::run_stage;
use crate::layout::{chain, input, node, rest, scratch};
use crate::step::{Stage, StepConfig, StepParams};

/// The share of gravity that the rod is let sag under, so that it does so linearly.
const SHARE: f64 = 1.0e-6;

/// A time step (s) after which inertia has no say.
const LONG: f64 = 1.0e6;

/// Changes the rest strains of one lane, whose nodes rest at `poses`; some node must be clamped.
pub(super) fn balance(group: &mut GroupRest<f32>, lane: usize, poses: &[Pose], gravity: DVec3) {
    let lanes = OneF64(lane);
    let mut stiff = group.to_f64();
    for row in stiff.rows.chunks_mut(rest::ENTRIES) {
        for entry in [rest::VOLUME, rest::VOLUME_BEND_U, rest::VOLUME_BEND_V, rest::FREE_SCALE, rest::ACTIVE] {
            row[entry] = [0.0; LANES];
        }
    }
    stiff.held.fill(true);
    stiff.has_surface_bending = false;
    stiff.has_passive_tension = false;

    let config = StepConfig { substeps: 1, gravity: DVec3::ZERO, ..Default::default() };
    let params = StepParams::new(&config, LONG, 0, 0.0);
    let inv_h = f64::from(params.inv_h);
    let mut nodes = vec![[0.0; LANES]; group.node_count * node::ENTRIES];
    for (j, row) in nodes.chunks_mut(node::ENTRIES).enumerate() {
        let pose = poses[j.min(poses.len() - 1)];
        let mut write = |at: usize, values: &[f64]| {
            for (entry, &value) in row[at..].iter_mut().zip(values) {
                entry[lane] = value;
            }
        };
        for at in [node::SCALE, node::PREV_SCALE, node::PREDICTED_SCALE] {
            write(at, &[1.0]);
        }
        for at in [node::FRAME, node::PREV_FRAME, node::PREDICTED_FRAME, node::TARGET_FRAME] {
            write(at, &pose.rotation.to_array());
        }
        for at in [node::PLACE, node::PREV_PLACE] {
            write(at, &(pose.translation - poses[0].translation).to_array());
        }
        if j < poses.len() {
            write(node::PREDICTED_MOVE, &(gravity * (SHARE / (inv_h * inv_h))).to_array());
        }
    }
    let strains = |nodes: &[Entry<f64>]| -> Vec<[V3<f64>; 2]> {
        let section = |j: usize| Section::load(lanes, &nodes[j * node::ENTRIES..]);
        let strain = |j: usize| measure(lanes, section(j), section(j + 1), lanes.at(stiff.row(j), rest::INV_LENGTH));
        (0..poses.len() - 1).map(strain).map(|measured| [measured.strain, measured.darboux]).collect()
    };
    let upright = strains(&nodes);
    run_stage(
        lanes,
        Stage::SolveRods,
        &params,
        &mut Group {
            rest: &stiff,
            nodes: &mut nodes,
            inputs: &[[0.0; LANES]; input::ENTRIES],
            chains: &mut [[0.0; LANES]; chain::ENTRIES],
            scratch: &mut vec![[0.0; LANES]; group.node_count * scratch::ENTRIES],
        },
    );
    for (j, (sagged, upright)) in strains(&nodes).into_iter().zip(upright).enumerate() {
        for (at, (sagged, upright)) in [rest::STRAIN, rest::DARBOUX].into_iter().zip(sagged.into_iter().zip(upright)) {
            for k in 0..3 {
                let entry = &mut group.rows[j * rest::ENTRIES + at + k][lane];
                *entry = (f64::from(*entry) - (sagged.0[k] - upright.0[k]) / SHARE) as f32;
            }
        }
    }
}
