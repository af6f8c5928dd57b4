//! Stage `check_health`: a chain that is where flesh cannot be, for longer than it takes to come back by itself, is laid anew
//! along its bones; its twin is `shaders/check_health.wgsl`.
//!
//! What is measured of a chain ([`Extent`]), over all its segments and nodes: how far its segments are stretched, how much
//! its sections are swollen or thinned, how far neighbouring frames are turned against each other, how much of a segment's
//! volume is left between its sections (less than nothing where they have passed each other), and how far nodes are from
//! where their bones carry them. Bones may ask for any of it, and a soft chain may hang by its own weight: so each bound is
//! against where the bones carry the chain, and has the weight's stretch on top. See the constants for the bounds.
//!
//! Where a number is no longer one the chain is laid anew at once, else once it has been out of bounds for [`PATIENCE`]; see
//! [`lay`]. Chains beside it in its group keep their bits.
//!
//! Nearly every chain is within narrower bounds that say so without its carried path ([`suspects`]); only of others is
//! that path asked for.

use super::carry::{carried, lay};
use super::group::Group;
use super::lanes::{Lane, Lanes};
use super::math::{Quaternion, V3};
use crate::layout::{chain, input, node, rest};
use crate::step::StepParams;

/// The most that a segment may be stretched to, over its rest length, or over the most that the bones' path is, with the
/// weight's stretch on top.
pub const MOST_STRETCH: f32 = 5.0;

/// The farthest that a node may be from where its bones carry it, over the chain's length, or over that of the bones' path;
/// the weight's stretch on top.
pub const MOST_OFF: f32 = 3.0;

/// The part of [`MOST_OFF`] and [`MOST_STRETCH`] within which nothing else is asked of a chain.
pub const SLACK: f32 = 0.6;

/// The largest scale of a section: muscle that has shortened to a tenth at constant volume has 3.2. The least one is
/// half of what constant volume makes of the most that a segment may be stretched to.
pub const MOST_SWELLING: f32 = 8.0;

/// The square of the least cosine of half the angle between neighbouring frames, 151°; half that of the bones' path where
/// this is less.
pub const LEAST_TURN_DOT2: f32 = 0.0625;

/// The least volume of a segment, over that at rest; where the bones' path has hardly more, a tenth less than that.
pub const LEAST_FILL: f32 = 0.02;

/// How long (s) a chain may be out of bounds; time in which it is not counts off.
pub const PATIENCE: f32 = 0.5;

/// Beyond this square a place (m), a velocity (m/s) and the like are no longer numbers to go on with.
pub const FINITE: f32 = 1.0e30;

/// How far (m) from its origin the centre of a free chain may be, and how fast, so that it is laid anew there.
pub const WITHIN_REACH: f32 = 1.0e6;

/// What a path of sections is like at its worst.
#[derive(Clone, Copy)]
struct Extent<V> {
    /// The most that a segment is stretched to, squared.
    stretch2: V,
    /// The square of the least cosine of half the angle between neighbouring frames.
    turn_dot2: V,
    /// The least volume of a segment over that of its rest length at rest.
    fill: V,
    /// Its length (m).
    length: V,
}

impl<V: Lane> Extent<V> {
    #[inline(always)]
    fn none<L: Lanes<V = V>>(lanes: L) -> Self {
        let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
        Self { stretch2: zero, turn_dot2: one, fill: one, length: zero }
    }

    /// With one more segment, of 1 over its rest length (0 for padding), between two sections of a mean scale.
    #[inline(always)]
    fn with<L: Lanes<V = V>>(
        self,
        lanes: L,
        inv_length: V,
        [a, b]: [&(V3<V>, Quaternion<V>); 2],
        scale: V,
    ) -> Self {
        let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
        let along = b.0 - a.0;
        let length2 = along.dot(along);
        let cosine = a.1.dot(b.1);
        let tangents = a.1.axes(lanes)[2] + b.1.axes(lanes)[2];
        let fill = tangents.dot(along) * lanes.splat(0.5) * inv_length * scale * scale;
        let turn_dot2 = zero.where_less(inv_length, cosine * cosine, one);
        let fill = zero.where_less(inv_length, fill, one);
        let length = zero.where_less(inv_length, length2.sqrt(), zero);
        Self {
            stretch2: self.stretch2.max(length2 * inv_length * inv_length),
            turn_dot2: self.turn_dot2.min(turn_dot2),
            fill: self.fill.min(fill),
            length: self.length + length,
        }
    }
}

/// Lays chains anew that are no longer where flesh can be.
#[inline(always)]
pub fn check_health<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>) {
    let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
    let frame = lanes.splat(params.frame);
    let [broken, suspect] = suspects(lanes, params, group);
    let unwell = lanes.load(&group.chains[chain::UNWELL]);
    let mut ill = suspect;
    if lanes.any(suspect) {
        ill = suspect.min(out_of_bounds(lanes, params, group));
    }
    let unwell = ill.where_less(half, (unwell - frame).max(zero), unwell + frame);
    lanes.store(unwell, &mut group.chains[chain::UNWELL]);
    let lost = broken.max(lanes.splat(PATIENCE).where_less(unwell, one, zero));
    if lanes.any(lost) {
        lay(lanes, params, group, input::BONE_TO, lost);
        let resets = lanes.load(&group.chains[chain::RESETS]) + lost;
        lanes.store(resets, &mut group.chains[chain::RESETS]);
    }
}

/// Gravity times what the chain's own weight stretches it by.
#[inline(always)]
fn weight_stretch<L: Lanes>(lanes: L, params: &StepParams, group: &Group<L::Scalar>) -> L::V {
    let [x, y, z] = params.gravity;
    lanes.splat(x * x + y * y + z * z).sqrt() * lanes.load(&group.rest.row(0)[rest::WEIGHT_STRETCH])
}

/// Flags the chains of which a number is no longer one, and those that may be out of bounds.
///
/// A chain of length S whose first node is D from where its bones carry it has no node farther off than D + S and the length
/// of the bones' path.
#[inline(always)]
fn suspects<L: Lanes>(lanes: L, params: &StepParams, group: &Group<L::Scalar>) -> [L::V; 2] {
    let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
    let (mut sizes, mut most, mut least) = (zero, one, one);
    let mut extent = Extent::none(lanes);
    let mut here = place_and_frame(lanes, group, 0);
    let mut scale = lanes.load(&group.row(0)[node::SCALE]);
    for index in 0..group.rest.node_count {
        let row = group.row(index);
        let (velocity, spin) = (V3::load(lanes, row, node::VELOCITY), V3::load(lanes, row, node::SPIN));
        let rate = lanes.load(&row[node::SCALE_RATE]);
        let size = here.0.dot(here.0) + velocity.dot(velocity) + spin.dot(spin);
        // A sum, not the largest: that would pass over what is no number.
        sizes = sizes + size + rate * rate + scale * scale + here.1.dot(here.1);
        let rest_row = group.rest.row(index);
        let own = zero.where_less(lanes.at(rest_row, rest::RADIUS), scale, one);
        (most, least) = (most.max(own), least.min(own));
        if index + 1 < group.rest.node_count {
            let next = place_and_frame(lanes, group, index + 1);
            let next_scale = lanes.load(&group.row(index + 1)[node::SCALE]);
            let mean = (scale + next_scale) * half;
            extent = extent.with(lanes, lanes.at(rest_row, rest::INV_LENGTH), [&here, &next], mean);
            (here, scale) = (next, next_scale);
        }
    }
    let broken = sizes.where_less(lanes.splat(FINITE), zero, one);

    let first = group.rest.row(0);
    let whole = lanes.at(first, rest::LENGTH);
    let off = place_and_frame(lanes, group, 0).0 - carried(lanes, group.rest, &group.inputs[input::BONE_TO..], 0).0;
    let hangs = lanes.load(&group.inputs[input::HANGS]);
    let off = hangs.where_less(half, zero, off.dot(off).sqrt());
    let weight = weight_stretch(lanes, params, group);
    let stretch = (lanes.splat(MOST_STRETCH) + weight) * lanes.splat(SLACK);
    let reach = (lanes.splat(MOST_OFF * SLACK) + weight) * whole;
    let thinnest = half / stretch.sqrt();
    let fine = extent.stretch2.where_less(stretch * stretch, one, zero);
    let fine = fine.min(lanes.splat(LEAST_TURN_DOT2).where_less(extent.turn_dot2, one, zero));
    let fine = fine.min(lanes.splat(LEAST_FILL).where_less(extent.fill, one, zero));
    let fine = fine.min(most.where_less(lanes.splat(MOST_SWELLING), one, zero));
    let fine = fine.min(thinnest.where_less(least, one, zero));
    let fine = fine.min((off + extent.length).where_less(reach, one, zero));
    // Padding has no length.
    [broken, zero.where_less(whole, one - fine, zero).max(broken)]
}

/// Flags the chains that are out of bounds.
#[inline(always)]
fn out_of_bounds<L: Lanes>(lanes: L, params: &StepParams, group: &Group<L::Scalar>) -> L::V {
    let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
    let bones = &group.inputs[input::BONE_TO..];
    let hangs = lanes.load(&group.inputs[input::HANGS]);
    let (mut extent, mut path) = (Extent::none(lanes), Extent::none(lanes));
    let (mut off2, mut most, mut least) = (zero, one, one);
    let mut here = place_and_frame(lanes, group, 0);
    let mut carried_here = carried(lanes, group.rest, bones, 0);
    let mut scale = lanes.load(&group.row(0)[node::SCALE]);
    for index in 0..group.rest.node_count {
        let rest_row = group.rest.row(index);
        let radius = lanes.at(rest_row, rest::RADIUS);
        let own = zero.where_less(radius, scale, one);
        (most, least) = (most.max(own), least.min(own));
        let off = here.0 - carried_here.0;
        let off = hangs.where_less(half, zero, off.dot(off));
        off2 = off2.max(zero.where_less(radius, off, zero));
        if index + 1 < group.rest.node_count {
            let inv_length = lanes.at(rest_row, rest::INV_LENGTH);
            let next = place_and_frame(lanes, group, index + 1);
            let carried_next = carried(lanes, group.rest, bones, index + 1);
            let next_scale = lanes.load(&group.row(index + 1)[node::SCALE]);
            extent = extent.with(lanes, inv_length, [&here, &next], (scale + next_scale) * half);
            path = path.with(lanes, inv_length, [&carried_here, &carried_next], one);
            (here, carried_here, scale) = (next, carried_next, next_scale);
        }
    }

    let whole = lanes.at(group.rest.row(0), rest::LENGTH).max(path.length);
    let weight = weight_stretch(lanes, params, group);
    let stretch = lanes.splat(MOST_STRETCH) * path.stretch2.sqrt().max(one) + weight;
    let reach = (lanes.splat(MOST_OFF) + weight) * whole;
    let turn_dot2 = lanes.splat(LEAST_TURN_DOT2).min(path.turn_dot2 * half);
    let fill = lanes.splat(LEAST_FILL).min(path.fill - lanes.splat(0.1));
    let thinnest = half / stretch.sqrt();
    let fine = extent.stretch2.where_less(stretch * stretch, one, zero);
    let fine = fine.min(turn_dot2.where_less(extent.turn_dot2, one, zero));
    let fine = fine.min(fill.where_less(extent.fill, one, zero));
    let fine = fine.min(most.where_less(lanes.splat(MOST_SWELLING), one, zero));
    let fine = fine.min(thinnest.where_less(least, one, zero));
    let fine = fine.min(off2.where_less(reach * reach, one, zero));
    one - fine
}

#[inline(always)]
fn place_and_frame<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize) -> (V3<L::V>, Quaternion<L::V>) {
    let row = group.row(index);
    (V3::load(lanes, row, node::PLACE), Quaternion::load(lanes, row, node::FRAME))
}
