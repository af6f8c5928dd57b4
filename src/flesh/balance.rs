//! Rest strains that balance the rest pose under gravity.
//!
//! A rod of rest strains ē sags by δ with K δ = M g, K = JᵀCJ at the rest pose. Less by J δ, they give it there the
//! stresses C J δ, whose gradient JᵀCJ δ is M g: the pose is in balance exactly, by the least elastic energy. The
//! cross-sections keep their size: (18) stays unstressed, and (12) takes what the moments of (14) do to the scale.

use glam::DVec3;

use crate::Pose;
use crate::cpu::group::{Group, GroupRest};
use crate::cpu::lanes::{Entry, LANES, Lanes, OneF64};
use crate::cpu::math::V3;
use crate::cpu::solve_rods::solve;
use crate::cpu::strains::{Section, measure};
use crate::layout::{chain, input, node, rest, scratch};

/// The share of gravity that the rod is let sag under, so that it does so linearly; down and up, so that what f32
/// leaves in the rest values has no say.
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
        // However long the step.
        row[rest::LEAST_COUNTED] = [1.0; LANES];
    }
    stiff.held.fill(true);
    stiff.reactions.fill(None);
    stiff.has_surface_bending = false;
    stiff.has_stiff_fibres = false;
    stiff.has_fascia = false;

    let inv_h = 1.0 / LONG;
    let strains_under = |share: f64| {
        let mut nodes = resting(group.node_count, lane, poses, gravity * (share / (inv_h * inv_h)));
        let mut group = Group {
            rest: &stiff,
            nodes: &mut nodes,
            inputs: &[[0.0; LANES]; input::ENTRIES],
            forces: &[],
            planes: &[],
            tangents: &[],
            chains: &mut [[0.0; LANES]; chain::ENTRIES],
            contacts: &mut [],
            meets: &mut [],
            solved: &mut [],
            reactions: &mut [],
            scratch: &mut vec![[0.0; LANES]; group.node_count * scratch::ENTRIES],
        };
        solve(lanes, inv_h * inv_h, &mut group, None, None, false);
        strains(lanes, &stiff, &nodes, poses.len())
    };
    let (down, up) = (strains_under(SHARE), strains_under(-SHARE));
    for (j, (down, up)) in down.into_iter().zip(up).enumerate() {
        let row = stiff.row(j);
        let by_load = |k: usize| (down[k] - up[k]) * (0.5 / SHARE);
        let (sheared, turned) = (by_load(0), by_load(1));
        let [bend_u, bend_v, bend_uv, torsion, lateral] =
            [rest::BEND_U, rest::BEND_V, rest::BEND_UV, rest::TORSION, rest::LATERAL].map(|at| lanes.at(row, at));
        let [ku, kv, kw] = turned.0;
        let moment = V3([bend_u * ku + bend_uv * kv, bend_uv * ku + bend_v * kv, torsion * kw]);
        let swelling = V3::load(lanes, row, rest::DARBOUX).dot(moment) / lateral.max(f64::MIN_POSITIVE);
        let rest_row = &mut group.rows[j * rest::ENTRIES..][..rest::ENTRIES];
        rest_row[rest::SCALE][lane] = (1.0 + swelling) as f32;
        for k in 0..3 {
            rest_row[rest::STRAIN + k][lane] = (lanes.at(row, rest::STRAIN + k) - sheared.0[k]) as f32;
            rest_row[rest::DARBOUX + k][lane] = (lanes.at(row, rest::DARBOUX + k) - turned.0[k]) as f32;
        }
    }
}

/// Node rows at rest, drawn by an acceleration that inertia alone would follow by `pull` (m).
fn resting(node_count: usize, lane: usize, poses: &[Pose], pull: DVec3) -> Vec<Entry<f64>> {
    let mut nodes = vec![[0.0; LANES]; node_count * node::ENTRIES];
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
            write(node::PREDICTED_MOVE, &pull.to_array());
        }
    }
    nodes
}

/// Γ and Ω of every segment.
fn strains(lanes: OneF64, group: &GroupRest<f64>, nodes: &[Entry<f64>], count: usize) -> Vec<[V3<f64>; 2]> {
    let section = |j: usize| Section::load(lanes, &nodes[j * node::ENTRIES..]);
    let strain = |j: usize| measure(lanes, section(j), section(j + 1), lanes.at(group.row(j), rest::INV_LENGTH));
    (0..count - 1).map(strain).map(|measured| [measured.strain, measured.darboux]).collect()
}
