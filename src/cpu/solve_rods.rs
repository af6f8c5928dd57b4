//! Stage `solve_rods`: one Gauss–Newton step of implicit Euler for every chain, (77)–(78), as one factor and solve
//! of its block-tridiagonal system; its twin is `shaders/solve_rods.wgsl`.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::block_tridiagonal::{back_substitute, eliminate, factor, solve_lower, solve_lower_columns, store_factor};
use super::fibres::Excitation;
use super::group::{Group, contracts, has_planes};
use super::lanes::{Entry, Lane, Lanes, unrolled};
use super::math::{Quaternion, Sym3, V3};
use super::predict::SCALE_LIMIT;
use super::rod_energies::{Mat7, Section, UNKNOWNS, Vec7, segment_terms};
use super::solve_contacts::contact_gap;
use crate::layout::{chain, input, node, rest};
use crate::step::StepParams;

/// The least pivot, over the diagonal entry that it is what is left of. In exact arithmetic no pivot is below the
/// inertia; where a rod is stiffer than its inertia by more than f32 has digits, one can be all rounding.
pub const LEAST_PIVOT: f32 = 1.0e-6;

/// How many times its own length one solve may move a chain's node.
pub const REACH: f32 = 16.0;
/// The least and the largest scale.
pub const LEAST_SCALE: f32 = 0.05;
/// See [`LEAST_SCALE`].
pub const MOST_SCALE: f32 = 20.0;

/// Solves every chain of the group and moves its nodes.
#[inline(always)]
pub fn solve_rods<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>)
where
    L::Scalar: Into<f64>,
{
    if contracts(group) {
        solve::<L, true>(lanes, params, group);
    } else {
        solve::<L, false>(lanes, params, group);
    }
}

/// As [`solve_rods`], apart for groups whose fibres pull and groups whose fibres do not, which then pay nothing for it.
#[inline(always)]
fn solve<L: Lanes, const CONTRACTING: bool>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>)
where
    L::Scalar: Into<f64>,
{
    let zero = lanes.splat(0.0);
    let one = lanes.splat(1.0);
    let count = group.rest.node_count;
    let touching = has_planes(group.inputs);
    let second_order = lanes.load(&group.chains[chain::HISTORY]) * lanes.splat(params.second_order);
    let inv_step = lanes.splat(params.inv_h) * (one + second_order * lanes.splat(0.5));
    let inv_step2 = inv_step * inv_step;
    let mut excitation = Excitation {
        activation: lanes.load(&group.inputs[input::ACTIVATION]),
        prev_stretch: zero,
        inv_step: lanes.splat(params.inv_h),
    };

    let mut block = [[zero; UNKNOWNS]; UNKNOWNS];
    let mut rhs = [zero; UNKNOWNS];
    // What the nodes before took off the block's diagonal.
    let mut eliminated = [zero; UNKNOWNS];
    let mut length = zero;
    let mut here = Section::load(lanes, group.row(0));
    for index in 0..count {
        let rest_row = group.rest.row(index);
        let mut next_block = [[zero; UNKNOWNS]; UNKNOWNS];
        let mut next_rhs = [zero; UNKNOWNS];
        let mut coupling = [[zero; UNKNOWNS]; UNKNOWNS];

        add_inertia(lanes, inv_step2, rest_row, group.row(index), &mut block, &mut rhs);
        if index + 1 < count {
            let next = Section::load(lanes, group.row(index + 1));
            let slack = lanes.at(rest_row, rest::STRING_INERTIA) * inv_step2;
            if CONTRACTING {
                excitation.prev_stretch = lanes.load(&group.row(index)[node::PREV_FIBRE_STRETCH]);
            }
            let pulled = if CONTRACTING { Some(&excitation) } else { None };
            let terms = segment_terms(lanes, here, next, rest_row, pulled, slack);
            let inv_length = lanes.at(rest_row, rest::INV_LENGTH);
            length = length + zero.where_less(inv_length, one / inv_length, zero);
            unrolled!(for i in 0..7 {
                rhs[i] = rhs[i] - terms.gradient_a[i];
                next_rhs[i] = -terms.gradient_b[i];
                for k in 0..=i {
                    block[i][k] = block[i][k] + terms.block_aa[i][k];
                    next_block[i][k] = terms.block_bb[i][k];
                }
                for k in 0..UNKNOWNS {
                    coupling[i][k] = terms.block_ab[i][k];
                }
            });
            here = next;
        }
        if group.rest.has_surface_bending {
            add_surface_bending(lanes, group, index, &mut block, &mut rhs, &mut coupling);
        }
        if touching {
            add_contact(lanes, inv_step2, rest_row, group.row(index), &mut block, &mut rhs);
        }
        if group.rest.held[index] {
            hold(lanes, rest_row, &mut block, &mut rhs, &mut coupling);
        }
        if group.rest.slides[index] {
            guide(lanes, rest_row, group.row(index), &mut block, &mut rhs, &mut coupling);
        }
        if index + 1 < count && group.rest.held[index + 1] {
            hold_columns(lanes, group.rest.row(index + 1), &mut coupling);
        }
        if index + 1 < count && group.rest.slides[index + 1] {
            guide_columns(lanes, group.rest.row(index + 1), group.row(index + 1), &mut coupling);
        }

        let mut least = [zero; UNKNOWNS];
        unrolled!(for i in 0..7 {
            least[i] = (block[i][i] + eliminated[i]) * lanes.splat(LEAST_PIVOT);
            eliminated[i] = next_block[i][i];
        });
        let inv_pivot = factor(lanes, &mut block, &least);
        solve_lower(&block, &mut rhs);
        solve_lower_columns(&block, &mut coupling);
        if index + 1 < count {
            eliminate(&coupling, &inv_pivot, &rhs, &mut next_block, &mut next_rhs);
        }
        unrolled!(for i in 0..7 {
            eliminated[i] = eliminated[i] - next_block[i][i];
        });
        store_factor(lanes, group.scratch_row(index), &block, &inv_pivot, &coupling, &rhs);
        block = next_block;
        rhs = next_rhs;
    }

    let inv_reach = one / (length * lanes.splat(REACH)).max(lanes.splat(1.0e-6));
    let mut delta = [zero; UNKNOWNS];
    for index in (0..count).rev() {
        delta = back_substitute(lanes, group.scratch_row(index), &delta);
        move_node(lanes, group.row_mut(index), &delta, inv_reach);
    }
}

/// Inertia (73) of a node, over h̃².
///
/// The turn from the prediction enters as e = 2·Im(q q̂⁻¹), whose derivative by a world turn is Re·1 − [Im]×.
#[inline(always)]
fn add_inertia<L: Lanes>(
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
    // J = w·1 − [e]×; torque = 2 Jᵀ·inertia·e, block = Jᵀ·inertia·J.
    let pull = inertia.apply(e) * two;
    let torque = pull * w + e.cross(pull);
    let [x, y, z] = e.0;
    let columns = [V3([w, -z, y]), V3([z, w, -x]), V3([-y, x, w])];

    unrolled!(for i in 0..3 {
        block[i][i] = block[i][i] + mass;
        rhs[i] = rhs[i] + mass * lag.0[i];
        rhs[4 + i] = rhs[4 + i] - torque.0[i];
        let turned = inertia.apply(columns[i]);
        for k in 0..=i {
            block[4 + i][4 + k] = block[4 + i][4 + k] + turned.dot(columns[k]);
        }
    });
    block[3][3] = block[3][3] + swelling;
    let scale_lag = lanes.load(&row[node::PREDICTED_SCALE]) - lanes.load(&row[node::SCALE]);
    rhs[3] = rhs[3] + swelling * scale_lag;
}

/// Surface bending (15): C·(s′₊ − s′₋)² at every inner node. It couples s_{j−1} and s_{j+1}: the gradient has it
/// whole; in the matrix that far entry is replaced by its bound 2|xy| ≤ x² + y² on the diagonal, without which the
/// rest would not be positive.
#[inline(always)]
fn add_surface_bending<L: Lanes>(
    lanes: L,
    group: &Group<L::Scalar>,
    index: usize,
    block: &mut Mat7<L::V>,
    rhs: &mut Vec7<L::V>,
    coupling: &mut Mat7<L::V>,
) {
    let count = group.rest.node_count;
    let scale = |j: usize| lanes.load(&group.row(j)[node::SCALE]);
    // Coefficient, inverse lengths before and after, residual, at the inner node j.
    let centre = |j: usize| {
        let before = lanes.load(&group.rest.row(j - 1)[rest::INV_LENGTH]);
        let after = lanes.load(&group.rest.row(j)[rest::INV_LENGTH]);
        let residual = (scale(j + 1) - scale(j)) * after - (scale(j) - scale(j - 1)) * before;
        (lanes.load(&group.rest.row(j)[rest::SURFACE_BENDING]), before, after, residual)
    };
    let inner = |j: usize| j >= 1 && j + 1 < count;
    if inner(index) {
        let (c, before, after, residual) = centre(index);
        let both = before + after;
        rhs[3] = rhs[3] + c * both * residual;
        block[3][3] = block[3][3] + c * both * both;
        coupling[3][3] = coupling[3][3] - c * both * after;
    }
    if index >= 1 && inner(index - 1) {
        let (c, before, after, residual) = centre(index - 1);
        rhs[3] = rhs[3] - c * after * residual;
        block[3][3] = block[3][3] + c * after * (after + before);
    }
    if inner(index + 1) {
        let (c, before, after, residual) = centre(index + 1);
        rhs[3] = rhs[3] - c * before * residual;
        block[3][3] = block[3][3] + c * before * (before + after);
        coupling[3][3] = coupling[3][3] - c * before * (before + after);
    }
}

/// The contact that `solve_contacts` handed over: ½k·min(n·c − offset − s·r, 0)² and friction ½k_t|moved_t|².
///
/// Friction may hold with at most μλ = k_t|moved_t|, and how far the node will slide is not known yet. Alone, inertia
/// would carry it by y = |predicted move_t| − μλh̃²/m; pulled by its rod, it goes on like in the last substep. The larger
/// of the two, so that friction never exceeds Coulomb's but for a rod that changes its pull: k_t = μλ/max(y, |last
/// move_t|), at most k, which is sticking. A rod that slides freely to its stop gets one substep further than it should.
#[inline(always)]
pub(crate) fn add_contact<L: Lanes>(
    lanes: L,
    inv_step2: L::V,
    rest_row: &[Entry<L::Scalar>],
    row: &[Entry<L::Scalar>],
    block: &mut Mat7<L::V>,
    rhs: &mut Vec7<L::V>,
) {
    let zero = lanes.splat(0.0);
    let normal = V3::load(lanes, row, node::CONTACT_NORMAL);
    let radius = lanes.load(&rest_row[rest::RADIUS]);
    let gap = contact_gap(lanes, rest_row, row);
    let sticking = lanes.load(&row[node::CONTACT_STIFFNESS]);
    let stiffness = gap.where_less(zero, sticking, zero);
    let slid = across(V3::load(lanes, row, node::MOVED), normal);
    let predicted = across(V3::load(lanes, row, node::PREDICTED_MOVE), normal);
    let last = across(V3::load(lanes, row, node::OLDER_MOVE), normal);
    let limit = lanes.load(&row[node::FRICTION_LIMIT]);
    let inertia = (lanes.load(&rest_row[rest::MASS]) * inv_step2).max(lanes.splat(1.0e-30));
    let alone = predicted.dot(predicted).sqrt() - limit / inertia;
    let slide = alone.max(last.dot(last).sqrt());
    let friction = (limit / slide.max(lanes.splat(1.0e-12))).min(sticking);
    let push = stiffness * gap;
    for i in 0..3 {
        rhs[i] = rhs[i] - push * normal.0[i] - friction * slid.0[i];
        for k in 0..=i {
            block[i][k] = block[i][k] + (stiffness - friction) * normal.0[i] * normal.0[k];
        }
        block[i][i] = block[i][i] + friction;
        block[3][i] = block[3][i] - stiffness * radius * normal.0[i];
    }
    rhs[3] = rhs[3] + push * radius;
    block[3][3] = block[3][3] + stiffness * radius * radius;
}

/// What of a vector is across a unit normal.
#[inline(always)]
fn across<V: Lane>(v: V3<V>, normal: V3<V>) -> V3<V> {
    v - normal * normal.dot(v)
}

#[inline(always)]
fn free_unknowns<L: Lanes>(lanes: L, rest_row: &[Entry<L::Scalar>]) -> Vec7<L::V> {
    let place = lanes.load(&rest_row[rest::FREE_PLACE]);
    let scale = lanes.load(&rest_row[rest::FREE_SCALE]);
    let frame = lanes.load(&rest_row[rest::FREE_FRAME]);
    [place, place, place, scale, frame, frame, frame]
}

/// Takes held unknowns out of the node's system: their change is zero.
#[inline(always)]
fn hold<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    block: &mut Mat7<L::V>,
    rhs: &mut Vec7<L::V>,
    coupling: &mut Mat7<L::V>,
) {
    let one = lanes.splat(1.0);
    let free = free_unknowns(lanes, rest_row);
    for i in 0..UNKNOWNS {
        rhs[i] = rhs[i] * free[i];
        for k in 0..=i {
            block[i][k] = block[i][k] * free[i] * free[k];
        }
        block[i][i] = block[i][i] + (one - free[i]);
        for k in 0..UNKNOWNS {
            coupling[i][k] = coupling[i][k] * free[i];
        }
    }
}

/// Takes the next node's held unknowns out of the coupling.
#[inline(always)]
fn hold_columns<L: Lanes>(lanes: L, next_rest_row: &[Entry<L::Scalar>], coupling: &mut Mat7<L::V>) {
    let free = free_unknowns(lanes, next_rest_row);
    for row in coupling {
        for k in 0..UNKNOWNS {
            row[k] = row[k] * free[k];
        }
    }
}

/// What is left of a vector's first three entries where the node slides: their part along the guide w, or all of it
/// where it does not.
#[inline(always)]
fn along_guide<V: Lane>(v: [V; 3], w: V3<V>, slides: V) -> [V; 3] {
    let v = V3(v);
    (v - across(v, w) * slides).0
}

/// The guide of a node that slides: the path's direction through it, through the place that the bone gives it.
#[inline(always)]
fn guide_axis<L: Lanes>(lanes: L, row: &[Entry<L::Scalar>]) -> V3<L::V> {
    Quaternion::load(lanes, row, node::TARGET_FRAME).axes(lanes)[2]
}

/// Takes the place across its guide out of the system of a node that slides: P·block·P + (1 − P), with P = wwᵀ on the
/// place.
#[inline(always)]
fn guide<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    row: &[Entry<L::Scalar>],
    block: &mut Mat7<L::V>,
    rhs: &mut Vec7<L::V>,
    coupling: &mut Mat7<L::V>,
) {
    let w = guide_axis(lanes, row);
    let slides = lanes.load(&rest_row[rest::SLIDES]);
    let [x, y, z] = along_guide([rhs[0], rhs[1], rhs[2]], w, slides);
    (rhs[0], rhs[1], rhs[2]) = (x, y, z);
    for i in 3..UNKNOWNS {
        let [x, y, z] = along_guide([block[i][0], block[i][1], block[i][2]], w, slides);
        (block[i][0], block[i][1], block[i][2]) = (x, y, z);
    }
    let mut columns = [
        [block[0][0], block[1][0], block[2][0]],
        [block[1][0], block[1][1], block[2][1]],
        [block[2][0], block[2][1], block[2][2]],
    ];
    for column in &mut columns {
        *column = along_guide(*column, w, slides);
    }
    for i in 0..3 {
        let row = along_guide([columns[0][i], columns[1][i], columns[2][i]], w, slides);
        for k in 0..=i {
            block[i][k] = row[k] - slides * w.0[i] * w.0[k];
        }
        block[i][i] = block[i][i] + slides;
    }
    for k in 0..UNKNOWNS {
        let [x, y, z] = along_guide([coupling[0][k], coupling[1][k], coupling[2][k]], w, slides);
        (coupling[0][k], coupling[1][k], coupling[2][k]) = (x, y, z);
    }
}

/// Takes the next node's place across its guide out of the coupling.
#[inline(always)]
fn guide_columns<L: Lanes>(
    lanes: L,
    next_rest_row: &[Entry<L::Scalar>],
    next_row: &[Entry<L::Scalar>],
    coupling: &mut Mat7<L::V>,
) {
    let w = guide_axis(lanes, next_row);
    let slides = lanes.load(&next_rest_row[rest::SLIDES]);
    for row in coupling {
        let [x, y, z] = along_guide([row[0], row[1], row[2]], w, slides);
        (row[0], row[1], row[2]) = (x, y, z);
    }
}

/// Applies a step to a node, held within bounds that a step worth taking is far from: a turn of one radian, a move
/// of [`REACH`] chain lengths, and a scale within a factor of its value at the substep's start and of its rest value.
/// What is left of a diverging chain is then finite, and free to come back.
#[inline(always)]
fn move_node<L: Lanes>(lanes: L, row: &mut [Entry<L::Scalar>], delta: &Vec7<L::V>, inv_reach: L::V) {
    let one = lanes.splat(1.0);
    let [x, y, z, scaling, a, b, c] = *delta;
    let (step, turn) = (V3([x, y, z]), V3([a, b, c]));
    let over = step * inv_reach;
    let step = step * (one / (one + over.dot(over)).sqrt());
    let turn = turn * (one / (one + turn.dot(turn)).sqrt());
    let moved = V3::load(lanes, row, node::MOVED) + step;
    let prev_scale = lanes.load(&row[node::PREV_SCALE]);
    let (least, most) = (prev_scale * lanes.splat(1.0 / SCALE_LIMIT), prev_scale * lanes.splat(SCALE_LIMIT));
    let scale = (lanes.load(&row[node::SCALE]) + scaling).clamp(least, most);
    let scale = scale.clamp(lanes.splat(LEAST_SCALE), lanes.splat(MOST_SCALE));
    let frame = Quaternion::load(lanes, row, node::FRAME).turned(lanes, turn);
    moved.store(lanes, row, node::MOVED);
    (V3::load(lanes, row, node::PREV_PLACE) + moved).store(lanes, row, node::PLACE);
    lanes.store(scale, &mut row[node::SCALE]);
    frame.store(lanes, row, node::FRAME);
}
