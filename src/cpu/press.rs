//! Stage `press`: with what force pairs of segments press, and friction pulls, where both sides have gone to; see
//! [`meetings`](super::meetings). Its twin is `shaders/press.wgsl`.

use super::contact_rows::MOST_DUAL;
use super::lanes::{Entry, LANES, Lane, Lanes, each};
use super::math::V3;
use super::meetings::{Going, PairBlock, ROLLING, ROLLS, ShownNodes};
use crate::layout::meet;

/// Finds with what force the segments of eight pairs press, and friction pulls, where both sides have gone to.
#[inline(always)]
pub fn press<L: Lanes<Scalar = f32>>(lanes: L, shown: &[Entry<f32>], block: &mut PairBlock) {
    let zero = lanes.splat(0.0);
    let PairBlock { first, stiffness, points: rows, turn_anchors, memory, over_masses, .. } = block;
    if *stiffness == [0.0; LANES] {
        return;
    }
    let sides = each!(side in 0..2 => each!(next in 0..2 => {
        Going::of(ShownNodes { shown, first: &first[side], after: next as i32 }.going(lanes))
    }));
    for point in 0..2 {
        let row = &rows[point];
        let stiffness = lanes.at(row, meet::STIFFNESS);
        let direction = V3::load(lanes, row, meet::DIRECTION);
        let [along, scale_terms, arms] = each!(of in 0..3 => {
            let at = [meet::ALONG, meet::SCALE_TERM, meet::ARM][of];
            each!(side in 0..2 => lanes.at(row, at + side))
        });
        let friction = lanes.at(row, meet::FRICTION);
        let going = each!(side in 0..2 => Going::between([&sides[side][0], &sides[side][1]], along[side]));
        let closed = lanes.at(row, meet::GAP) + direction.dot(going[0].moved - going[1].moved)
            - (scale_terms[0] * going[0].scaling + scale_terms[1] * going[1].scaling);
        let force = (stiffness * (zero - closed).max(zero)).min(lanes.splat(MOST_DUAL));
        let slid = going[0].swept(direction, arms[0]) - going[1].swept(-direction, arms[1]);
        let pull = (V3::load(lanes, row, meet::ANCHOR) - slid) * friction;
        let (size, limit) = (pull.dot(pull).sqrt(), lanes.at(row, meet::RUBS) * force);
        let pull = pull * (limit.min(size) / size.max(lanes.splat(f32::MIN_POSITIVE)));
        let radius = arms[0].min(arms[1]);
        let rolling = friction * radius * radius * lanes.splat(ROLLING);
        let couple = (V3::load(lanes, &turn_anchors[point], 0) - (going[0].turn - going[1].turn)) * rolling;
        let (size, limit) = (couple.dot(couple).sqrt(), lanes.splat(ROLLS) * force * radius);
        let couple = couple * (limit.min(size) / size.max(lanes.splat(f32::MIN_POSITIVE)));
        // Of what cannot touch all else may be of another substep.
        let force = zero.where_less(stiffness, force, zero);
        let [x, y, z] = each!(k in 0..3 => zero.where_less(stiffness, pull.0[k], zero));
        let [u, v, w] = each!(k in 0..3 => zero.where_less(stiffness, couple.0[k], zero));
        lanes.scatter([force, x, y, z, u, v, w, lanes.load(&over_masses[point])], &mut memory[point]);
    }
}
