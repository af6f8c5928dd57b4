//! Stage `check_health`: a chain that is where flesh cannot be, for longer than it takes to come back by itself, is laid anew
//! along its bones; its twin is `shaders/check_health.wgsl`.
//!
//! What is measured of a chain (`Extent`), over all its segments and nodes: how far its segments are stretched, how much its
//! sections are swollen or thinned, how far neighbouring frames are turned against each other, how much of a segment's volume
//! is left between its sections (less than nothing where they have passed each other), and how far nodes are from where their
//! bones carry them. Bones may ask for any of it, and a soft chain may hang by its own weight: so each bound is against where
//! the bones carry the chain, and leaves room for how far it drops by its weight. See the constants for the bounds.
//!
//! What hangs on no bones is folded by what presses on it, a tentacle under a head, or squeezed flat, in the corner of a box that turns:
//! while something does it is not laid anew for its shape, or for how thin it is. It comes back by itself when that ends; anew, it would
//! lie in what presses it.
//!
//! Where a number is no longer one the chain is laid anew at once, else once it has been out of bounds for [`PATIENCE`]; see
//! `lay`. Chains beside it in its group keep their bits.
//!
//! Nearly every chain is within narrower bounds that say so without its carried path (`suspects`); only of others is
//! that path asked for.

use super::carry::carried;
use super::group::Group;
use super::lanes::{Lane, Lanes, apart};
use super::lay::lay;
use super::math::{Quaternion, V3};
use crate::layout::{chain, contact, input, node, rest};
use crate::step::StepParams;

/// The most that a segment may be stretched to, over its rest length, or over the most that the bones' path is; not less
/// than with twice what weight stretches it by, as where it drops.
pub const MOST_STRETCH: f32 = 4.0;

/// The farthest that a node may be from where its bones carry it, over the chain's length, or over that of the bones' path;
/// not less than a chain is long with twice what weight stretches it by.
pub const MOST_OFF: f32 = 2.5;

/// The largest scale of a section: muscle that has shortened to a tenth at constant volume has 3.2. The least one is
/// half of what constant volume makes of the most that a segment may be stretched to.
pub const MOST_SWELLING: f32 = 8.0;

/// The square of the least cosine of half the angle between neighbouring frames, 151°; half that of the bones' path where
/// this is less.
pub const LEAST_TURN_DOT2: f32 = 0.0625;

/// The least volume of a segment, over that at rest.
pub const LEAST_FILL: f32 = 0.02;

/// Where bones or weight stretch a chain beyond this, turns and volumes are not looked at: frames of what is so taut would
/// rather tilt than let it stretch on.
pub const TAUT: f32 = 2.0;

/// Where stretch or weight, F, pulls so much harder on a chain than its bending stiffness resists that it is bent where it is
/// held within a fraction of a segment, √(EI/F) a quarter of its length l, turns and volumes are not looked at: with the middles
/// of its segments along its path, frames of such a thread turn to and fro from node to node by twice what the hold does
/// against that. F l²/EI.
pub const LIMP: f32 = 16.0;

/// Where bones leave a segment less of its volume, they fold the chain, and turns, volumes and scales are not looked at.
pub const FOLDED: f32 = 0.2;

/// How long (s) a chain may be out of bounds; time in which it is not counts off.
pub const PATIENCE: f32 = 0.5;

/// How fast time counts in which bones jerk: flesh cannot follow all that they may do, and is not to be where it could be.
pub const JERKED_HASTE: f32 = 0.125;

/// How fast time counts in which no more is wrong than turns or volumes: whipped strings kink, and come out of it by
/// themselves.
pub const SHAPE_HASTE: f32 = 0.25;

/// A chain whose places (m), scales and frames and their rates (1/s) have a larger sum of squares is as good as not finite.
pub const FINITE: f32 = 1.0e30;

/// How far (m) from its origin the centre of a free chain may be, and how fast, so that it is laid anew there.
pub const WITHIN_REACH: f32 = 1.0e6;

/// A section of a path.
#[derive(Clone, Copy)]
struct Section<V> {
    place: V3<V>,
    frame: Quaternion<V>,
    tangent: V3<V>,
    scale: V,
}

impl<V: Lane> Section<V> {
    #[inline(always)]
    fn new<L: Lanes<V = V>>(lanes: L, (place, frame): (V3<V>, Quaternion<V>), scale: V) -> Self {
        Self { place, frame, tangent: frame.axes(lanes)[2], scale }
    }

    /// Where a node is.
    #[inline(always)]
    fn of_node<L: Lanes<V = V>>(lanes: L, group: &Group<L::Scalar>, index: usize) -> Self {
        let row = group.row(index);
        let pose = (V3::load(lanes, row, node::PLACE), Quaternion::load(lanes, row, node::FRAME));
        Self::new(lanes, pose, lanes.load(&row[node::SCALE]))
    }

    /// Where its bones carry it at the frame's end.
    #[inline(always)]
    fn carried<L: Lanes<V = V>>(lanes: L, group: &Group<L::Scalar>, index: usize) -> Self {
        Self::new(lanes, carried(lanes, group.rest, &group.inputs[input::BONE_TO..], index), lanes.splat(1.0))
    }
}

/// What a path of sections is like at its worst.
#[derive(Clone, Copy)]
struct Extent<V> {
    /// The most that a segment is stretched to, squared.
    stretch2: V,
    /// The square of the least cosine of half the angle between neighbouring frames.
    turn_dot2: V,
    /// The least volume of a segment over that of its rest length at rest.
    fill: V,
    /// The sum of l²/l̄ over the segments (m), at least the path's length squared over its rest length.
    spread: V,
    /// The largest scale.
    most: V,
    /// The least scale.
    least: V,
}

impl<V: Lane> Extent<V> {
    /// A path of one section.
    #[inline(always)]
    fn of<L: Lanes<V = V>>(lanes: L, first: &Section<V>) -> Self {
        let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
        Self { stretch2: zero, turn_dot2: one, fill: one, spread: zero, most: first.scale, least: first.scale }
    }

    /// With one more segment, of 1 over its rest length; of padding, 0.
    #[inline(always)]
    fn with<L: Lanes<V = V>>(self, lanes: L, inv_length: V, [a, b]: [&Section<V>; 2]) -> Self {
        let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
        let along = b.place - a.place;
        let spread = along.dot(along) * inv_length;
        let cosine = a.frame.dot(b.frame).max(zero);
        let scale = (a.scale + b.scale) * half;
        let fill = (a.tangent + b.tangent).dot(along) * (half * inv_length) * (scale * scale);
        let own = zero.where_less(inv_length, b.scale, one);
        Self {
            stretch2: self.stretch2.max(spread * inv_length),
            turn_dot2: self.turn_dot2.min(zero.where_less(inv_length, cosine * cosine, one)),
            fill: self.fill.min(zero.where_less(inv_length, fill, one)),
            spread: self.spread + spread,
            most: self.most.max(own),
            least: self.least.min(own),
        }
    }

    /// Flags the paths whose stretch is within its bound.
    #[inline(always)]
    fn stretched_within<L: Lanes<V = V>>(&self, lanes: L, stretch: V) -> V {
        self.stretch2.where_less(stretch * stretch, lanes.splat(1.0), lanes.splat(0.0))
    }

    /// Flags the paths whose turns, by the square of a cosine, and volumes are within bounds.
    #[inline(always)]
    fn shaped_within<L: Lanes<V = V>>(&self, lanes: L, turn_dot2: V) -> V {
        let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
        let fine = turn_dot2.where_less(self.turn_dot2, one, zero);
        fine.min(lanes.splat(LEAST_FILL).where_less(self.fill, one, zero))
    }

    /// Flags the paths no section of which is swollen too much.
    #[inline(always)]
    fn swollen_within<L: Lanes<V = V>>(&self, lanes: L) -> V {
        self.most.where_less(lanes.splat(MOST_SWELLING), lanes.splat(1.0), lanes.splat(0.0))
    }

    /// Flags the paths no section of which is too thin, where so much stretch is.
    #[inline(always)]
    fn thinned_within<L: Lanes<V = V>>(&self, lanes: L, stretch: V) -> V {
        let thinnest = lanes.splat(0.5) / stretch.sqrt();
        thinnest.where_less(self.least, lanes.splat(1.0), lanes.splat(0.0))
    }
}

/// Lays chains anew that are no longer where flesh can be.
#[inline(always)]
pub fn check_health<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>) {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let frame = lanes.splat(params.frame);
    let [broken, suspect] = suspects(lanes, params, group);
    let unwell = lanes.load(&group.chains[chain::UNWELL]);
    let mut ill = suspect;
    if lanes.any(suspect) {
        let jerked = lanes.load(&group.inputs[input::TELEPORT]);
        let haste = zero.where_less(jerked, lanes.splat(JERKED_HASTE), one);
        ill = suspect.min(apart!(lanes, out_of_bounds(lanes, params, group))) * haste;
    }
    let unwell = zero.where_less(ill, unwell + frame * ill, (unwell - frame).max(zero));
    lanes.store(unwell, &mut group.chains[chain::UNWELL]);
    let lost = broken.max(lanes.splat(PATIENCE).where_less(unwell, one, zero));
    if lanes.any(lost) {
        lay(lanes, params, group, input::BONE_TO, lost);
        let resets = lanes.load(&group.chains[chain::RESETS]) + lost;
        lanes.store(resets, &mut group.chains[chain::RESETS]);
    }
}

/// What a segment is stretched to by twice what its own weight, or that of its tree, and what the game has on it stretch it by.
#[inline(always)]
fn by_weight<L: Lanes>(lanes: L, params: &StepParams, group: &Group<L::Scalar>) -> L::V {
    let [x, y, z] = params.gravity;
    let load = lanes.splat(2.0) * lanes.load(&group.inputs[input::LOAD]);
    let twice = lanes.splat(4.0 * (x * x + y * y + z * z)).sqrt() + load;
    lanes.splat(1.0) + twice * lanes.load(&group.rest.row(0)[rest::WEIGHT_STRETCH])
}

/// Flags the chains that are threads where they are stretched by so much, see [`LIMP`]; by their first segments.
#[inline(always)]
fn limp<L: Lanes>(lanes: L, group: &Group<L::Scalar>, strain: L::V) -> L::V {
    let row = group.rest.row(0);
    let inv_length = lanes.at(row, rest::INV_LENGTH);
    let bending = lanes.at(row, rest::BEND_U).min(lanes.at(row, rest::BEND_V)) * (inv_length * inv_length);
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    (bending * lanes.splat(LIMP)).where_less(strain * lanes.at(row, rest::AXIAL), one, zero)
}

/// Flags the chains of which a number is no longer one, and those that may be out of bounds.
///
/// A chain of length S whose first node is D from where its bones carry it has no node farther off than D + S and the length
/// of the bones' path.
#[inline(always)]
fn suspects<L: Lanes>(lanes: L, params: &StepParams, group: &Group<L::Scalar>) -> [L::V; 2] {
    let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
    let first = Section::of_node(lanes, group, 0);
    let mut extent = Extent::of(lanes, &first);
    let (mut here, mut size) = (first, size_of(lanes, group, 0, &first));
    let mut unit = first.frame.dot(first.frame);
    for index in 1..group.rest.node_count {
        let next = Section::of_node(lanes, group, index);
        extent = extent.with(lanes, lanes.at(group.rest.row(index - 1), rest::INV_LENGTH), [&here, &next]);
        // A sum, not the largest: that would pass over what is no number.
        size = size + size_of(lanes, group, index, &next);
        unit = unit.min(next.frame.dot(next.frame));
        here = next;
    }
    // A frame of no length is none.
    let broken = size.where_less(lanes.splat(FINITE), zero, one).max(half.where_less(unit, zero, one));

    let whole = lanes.at(group.rest.row(0), rest::LENGTH);
    let off = first.place - Section::carried(lanes, group, 0).place;
    let off = lanes.load(&group.inputs[input::HANGS]).where_less(one, zero, off.dot(off).sqrt());
    let by_weight = by_weight(lanes, params, group);
    let stretch = lanes.splat(MOST_STRETCH).max(by_weight);
    let scaled = extent.swollen_within(lanes).min(extent.thinned_within(lanes, stretch));
    let fine = extent.stretched_within(lanes, stretch).min(scaled);
    let fine = fine.min(extent.shaped_within(lanes, lanes.splat(LEAST_TURN_DOT2)));
    let reach = (lanes.splat(MOST_OFF).max(by_weight) - one) * whole;
    let length = (extent.spread * whole).sqrt();
    let fine = fine.min((off + length).where_less(reach, one, zero));
    // Padding has no length.
    [broken, zero.where_less(whole, one - fine, zero).max(broken)]
}

/// What is not finite, or as good as that, where any number of a node's section or of its motion is not.
#[inline(always)]
fn size_of<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize, section: &Section<L::V>) -> L::V {
    let row = group.row(index);
    let (velocity, spin) = (V3::load(lanes, row, node::VELOCITY), V3::load(lanes, row, node::SPIN));
    let rate = lanes.load(&row[node::SCALE_RATE]);
    let pose = section.place.dot(section.place) + section.frame.dot(section.frame) + section.scale * section.scale;
    pose + velocity.dot(velocity) + spin.dot(spin) + rate * rate
}

/// How fast time counts in which chains are out of bounds: 0 where they are not.
#[inline(always)]
fn out_of_bounds<L: Lanes>(lanes: L, params: &StepParams, group: &Group<L::Scalar>) -> L::V {
    let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
    let (mut here, mut carried_here) = (Section::of_node(lanes, group, 0), Section::carried(lanes, group, 0));
    let (mut extent, mut path) = (Extent::of(lanes, &here), Extent::of(lanes, &carried_here));
    let mut off = here.place - carried_here.place;
    let mut off2 = off.dot(off);
    for index in 1..group.rest.node_count {
        let inv_length = lanes.at(group.rest.row(index - 1), rest::INV_LENGTH);
        let (next, carried_next) = (Section::of_node(lanes, group, index), Section::carried(lanes, group, index));
        let carried_next = Section { frame: carried_next.frame.beside(lanes, carried_here.frame), ..carried_next };
        extent = extent.with(lanes, inv_length, [&here, &next]);
        path = path.with(lanes, inv_length, [&carried_here, &carried_next]);
        off = next.place - carried_next.place;
        off2 = off2.max(zero.where_less(inv_length, off.dot(off), zero));
        (here, carried_here) = (next, carried_next);
    }
    // What hangs on a chain is where that is, and what is free anywhere.
    let off2 = lanes.load(&group.inputs[input::HANGS]).where_less(one, zero, off2);

    let whole = lanes.at(group.rest.row(0), rest::LENGTH);
    let whole = whole.max((path.spread * whole).sqrt());
    let by_weight = by_weight(lanes, params, group);
    let drawn = path.stretch2.sqrt().max(one);
    let stretch = (lanes.splat(MOST_STRETCH) * drawn).max(by_weight);
    let pulled = drawn.max(by_weight);
    let taut = lanes.splat(TAUT).where_less(pulled, one, zero).max(limp(lanes, group, pulled - one));
    let folded = path.fill.where_less(lanes.splat(FOLDED), one, zero);
    let turn_dot2 = lanes.splat(LEAST_TURN_DOT2).min(path.turn_dot2 * half);
    let reach = lanes.splat(MOST_OFF).max(by_weight) * whole;
    let fine = extent.stretched_within(lanes, stretch).min(off2.where_less(reach * reach, one, zero));
    let pressed = pressed_freely(lanes, group);
    let scaled = extent.swollen_within(lanes).min(extent.thinned_within(lanes, stretch).max(pressed));
    let fine = fine.min(scaled.max(folded));
    let shaped = extent.shaped_within(lanes, turn_dot2).max(taut).max(folded).max(pressed);
    (one - fine).max((one - shaped) * lanes.splat(SHAPE_HASTE))
}

/// Flags the chains that hang on no bones and that something presses on.
#[inline(always)]
fn pressed_freely<L: Lanes>(lanes: L, group: &Group<L::Scalar>) -> L::V {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let mut force = lanes.load(&group.chains[chain::MEETS]);
    for row in group.contacts.chunks_exact(contact::ENTRIES) {
        force = force.max(lanes.at(row, contact::DUAL));
    }
    let free = lanes.load(&group.inputs[input::HANGS]).where_less(one, one, zero);
    zero.where_less(force, free, zero)
}
