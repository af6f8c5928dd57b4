//! What acts on a node besides its segments and what touches it: inertia (73) and surface bending (15), each as a potential
//! and as its part of the node's system; its twin is `shaders/bindings/node_terms.wgsl`.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::group::Group;
use super::holds::Placed;
use super::lanes::{Entry, Lane, Lanes, each, unrolled};
use super::math::{Quaternion, Sym3, V3};
use super::rod_energies::{Mat7, Vec7};
use crate::layout::{node, rest};

/// Inertia (73) of a node, over h̃².
///
/// The turn from the prediction enters as e = 2·Im(q q̂⁻¹), whose derivative by a world turn is Re·1 − [Im]×.
#[inline(always)]
pub(super) fn add_inertia<L: Lanes>(
    lanes: L,
    inv_step2: L::V,
    rest_row: &[Entry<L::Scalar>],
    row: &[Entry<L::Scalar>],
    block: &mut Mat7<L::V>,
    rhs: &mut Vec7<L::V>,
) {
    let two = lanes.splat(2.0);
    let mass = lanes.at(rest_row, rest::MASS) * inv_step2;
    let lag = V3::load(lanes, row, node::PREDICTED_MOVE) - V3::load(lanes, row, node::MOVED);
    let swelling = lanes.at(rest_row, rest::INERTIA_W) * inv_step2;
    let prev_scale = lanes.load(&row[node::PREV_SCALE]);
    let turning = prev_scale * prev_scale * inv_step2;

    let predicted = Quaternion::load(lanes, row, node::PREDICTED_FRAME);
    let inertia = Sym3::from_axes(
        predicted.axes(lanes),
        lanes.at(rest_row, rest::INERTIA_U) * turning,
        lanes.at(rest_row, rest::INERTIA_V) * turning,
        lanes.at(rest_row, rest::INERTIA_UV) * turning,
        lanes.at(rest_row, rest::INERTIA_W) * turning,
    );
    let turn = Quaternion::load(lanes, row, node::FRAME).product(predicted.conjugate());
    let (e, w) = (turn.imaginary(), turn.0[3]);
    // J = w·1 − [e]×; torque = 2 Jᵀ·inertia·e, block = Jᵀ·inertia·J, where the node is as predicted.
    let pull = inertia.apply(e) * two;
    let torque = pull * w + e.cross(pull);
    unrolled!(for i in 0..3 {
        block[i][i] = block[i][i] + mass;
        rhs[i] = rhs[i] + mass * lag.0[i];
        rhs[4 + i] = rhs[4 + i] - torque.0[i];
        for k in 0..=i {
            block[4 + i][4 + k] = block[4 + i][4 + k] + inertia.get(i, k);
        }
    });
    block[3][3] = block[3][3] + swelling;
    let scale_lag = lanes.load(&row[node::PREDICTED_SCALE]) - lanes.load(&row[node::SCALE]);
    rhs[3] = rhs[3] + swelling * scale_lag;
}

/// With x where the node is now and x_n where it was at the substep's start, over h̃² (J):
/// [½‖x − x̂‖² − ½‖x_n − x̂‖², ½‖x − x_n‖² − ½‖x_n − x̂‖², ½‖x − x_n‖²]. Padding has none.
#[inline(always)]
pub(super) fn inertia_potential<L: Lanes>(
    lanes: L,
    inv_step2: L::V,
    rest_row: &[Entry<L::Scalar>],
    row: &[Entry<L::Scalar>],
    [start, now]: [&Placed<L::V>; 2],
) -> [L::V; 3] {
    let (zero, half, two) = (lanes.splat(0.0), lanes.splat(0.5), lanes.splat(2.0));
    let prev_scale = lanes.load(&row[node::PREV_SCALE]);
    let inv_step2 = zero.where_less(lanes.at(rest_row, rest::RADIUS), inv_step2, zero);
    let (mass, swelling) = (lanes.at(rest_row, rest::MASS), lanes.at(rest_row, rest::INERTIA_W));
    let turning = prev_scale * prev_scale * two;

    // With d = x − x_n and e = x − x̂: |e|² − |e − d|² = 2d·e − |d|², and so on.
    let (step, lag) = (now.moved - start.moved, now.moved - V3::load(lanes, row, node::PREDICTED_MOVE));
    let (scaled, scale_lag) = (now.scale - start.scale, now.scale - lanes.load(&row[node::PREDICTED_SCALE]));
    let both = mass * step.dot(lag) + swelling * scaled * scale_lag;
    let steps = half * (mass * step.dot(step) + swelling * scaled * scaled);
    let lags = half * (mass * lag.dot(lag) + swelling * scale_lag * scale_lag);
    let predicted = Quaternion::load(lanes, row, node::PREDICTED_FRAME);
    let turned = turning * turn_inertia(lanes, rest_row, start.frame, now.frame);
    let turn_lag = turning * turn_inertia(lanes, rest_row, predicted, now.frame);
    let foreseen = turning * turn_inertia(lanes, rest_row, predicted, start.frame);
    [
        (both - steps + (turn_lag - foreseen)) * inv_step2,
        (both - lags + (turned - foreseen)) * inv_step2,
        (steps + turned) * inv_step2,
    ]
}

/// eᵀIe with e half the sine's vector of the turn between two frames, in the first one's axes.
#[inline(always)]
fn turn_inertia<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    from: Quaternion<L::V>,
    to: Quaternion<L::V>,
) -> L::V {
    let [u, v, w] = from.conjugate().product(to).imaginary().0;
    lanes.at(rest_row, rest::INERTIA_U) * u * u
        + lanes.at(rest_row, rest::INERTIA_V) * v * v
        + lanes.at(rest_row, rest::INERTIA_UV) * lanes.splat(2.0) * u * v
        + lanes.at(rest_row, rest::INERTIA_W) * w * w
}

/// Surface bending (15): C·(s′₊ − s′₋)² at every inner node. It couples s_{j−1} and s_{j+1}: the gradient has it
/// whole; in the matrix that far entry is replaced by its bound 2|xy| ≤ x² + y² on the diagonal, without which the
/// rest would not be positive.
#[inline(always)]
pub(super) fn add_surface_bending<L: Lanes>(
    lanes: L,
    group: &Group<L::Scalar>,
    index: usize,
    block: &mut Mat7<L::V>,
    rhs: &mut Vec7<L::V>,
    coupling: &mut Mat7<L::V>,
) {
    let count = group.rest.node_count;
    let inner = |j: usize| j >= 1 && j + 1 < count;
    if inner(index) {
        let (c, before, after, residual) = bend_at(lanes, group, index);
        let both = before + after;
        rhs[3] = rhs[3] + c * both * residual;
        block[3][3] = block[3][3] + c * both * both;
        coupling[3][3] = coupling[3][3] - c * both * after;
    }
    if index >= 1 && inner(index - 1) {
        let (c, before, after, residual) = bend_at(lanes, group, index - 1);
        rhs[3] = rhs[3] - c * after * residual;
        block[3][3] = block[3][3] + c * after * (after + before);
    }
    if inner(index + 1) {
        let (c, before, after, residual) = bend_at(lanes, group, index + 1);
        rhs[3] = rhs[3] - c * before * residual;
        block[3][3] = block[3][3] + c * before * (before + after);
        coupling[3][3] = coupling[3][3] - c * before * (before + after);
    }
}

/// (15) at an inner node as it is now, as [`surface_bend`] has it.
#[inline(always)]
fn bend_at<L: Lanes>(lanes: L, group: &Group<L::Scalar>, j: usize) -> (L::V, L::V, L::V, L::V) {
    let scales = each!(k in 0..3 => lanes.load(&group.row(j + k - 1)[node::SCALE]));
    surface_bend(lanes, group, j, scales)
}

/// (15) at an inner node, of the scales before, at and after it: coefficient, inverse lengths before and after, residual.
#[inline(always)]
fn surface_bend<L: Lanes>(lanes: L, group: &Group<L::Scalar>, j: usize, scales: [L::V; 3]) -> (L::V, L::V, L::V, L::V) {
    let before = lanes.load(&group.rest.row(j - 1)[rest::INV_LENGTH]);
    let after = lanes.load(&group.rest.row(j)[rest::INV_LENGTH]);
    let residual = (scales[2] - scales[1]) * after - (scales[1] - scales[0]) * before;
    (lanes.load(&group.rest.row(j)[rest::SURFACE_BENDING]), before, after, residual)
}

/// (15) at an inner node, of the scales before, at and after it (J).
#[inline(always)]
pub(super) fn surface_potential<L: Lanes>(lanes: L, group: &Group<L::Scalar>, j: usize, scales: [L::V; 3]) -> L::V {
    let (c, _, _, residual) = surface_bend(lanes, group, j, scales);
    lanes.splat(0.5) * c * residual * residual
}
