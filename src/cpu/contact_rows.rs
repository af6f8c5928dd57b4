//! What touches a chain, as the solve sees it: a list of rows ([`contact`]) that says nothing of what they come from; its twin
//! is `shaders/bindings/contact_rows.wgsl`.
//!
//! `solve_contacts` writes them; the solve adds their terms, reckons what they store, and leaves in each with what force it
//! pressed. At rest a distance is some 10⁻⁷ m, less than a place has digits for, so a row has the distance at the substep's
//! start, and the force is read from the step that the linear solve found, not from where it led.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::holds::{Placed, across};
use super::lanes::{Entry, Lane, Lanes, each};
use super::math::{Quaternion, V3};
use super::rod_energies::{Mat7, SegmentTerms, Vec7};
use crate::layout::{contact, node};

/// From which share on of what it was in the way of a contact counts as pulled open: a hundredth of the force with which a node
/// presses that only its weight moves.
pub const PULLED: f32 = 1.0e-5;

/// How far over its radius what stays may be pulled open and be held nonetheless: what passes have others press it with, which the
/// solve does not know, may press it down again. That is as much as three hundredths of its radius where nothing held it.
pub const GENTLY: f32 = 3.0e-5;

/// How deep over its radius what a solve had out of the way may come into it: beyond, it was let through, and what it then presses
/// with would throw it out again.
pub const LET_THROUGH: f32 = 1.0e-3;

/// By which share of Coulomb's limit a solve may be off in friction.
pub const AMISS: f32 = 0.1;

/// The largest force (N) that a row remembers.
pub const MOST_DUAL: f32 = 1.0e30;

/// Which chains are solved again, and how.
#[derive(Clone, Copy)]
pub struct Again<V> {
    /// Flags them.
    pub solved: V,
    /// By which share of its diagonal their system is stiffened.
    pub stiffened: V,
    /// Flags those of which a step has led up Π.
    pub overshot: V,
}

impl<V: Lane> Again<V> {
    /// Such chains, as it is the first time.
    #[inline(always)]
    pub fn of<L: Lanes<V = V>>(lanes: L, solved: V) -> Self {
        Self { solved, stiffened: lanes.splat(0.0), overshot: lanes.splat(0.0) }
    }
}

/// The system of a node, and what the segment after it adds to that of the next.
pub struct System<V> {
    /// The node's block, lower triangle.
    pub block: Mat7<V>,
    /// Its right-hand side.
    pub rhs: Vec7<V>,
    /// The segment's, of which the first node's own are in `block` and `rhs`.
    pub terms: SegmentTerms<V>,
}

/// A contact row, see [`contact`].
#[derive(Clone, Copy)]
pub struct ContactRow<V> {
    /// Whether it acts on the second node too in any lane of the group.
    on_second: bool,
    /// Whether it is of a meeting with another chain.
    meets: bool,
    pub(super) along: V,
    pub(super) direction: V3<V>,
    pub(super) scale_term: V,
    pub(super) arm: V,
    gap: V,
    pub(super) stiffness: V,
    pub(super) friction: V,
    pub(super) limit: V,
    sticks: V,
    anchor: V3<V>,
    rolling: V,
    rolling_limit: V,
    turn: V3<V>,
    stays: V,
}

/// Friction as a solve takes it, given how far the surface has gone from its anchor: a stiffness (N/m) in all directions across
/// the row's own, less that along the pull where it slips, for there the pull stays Coulomb's limit.
pub(super) struct Friction<V> {
    /// Its pull over how far that is (N/m).
    pub(super) pull: V,
    pub(super) stiffness: V,
    pub(super) slipping: V,
    pub(super) way: V3<V>,
}

impl<V: Lane> Friction<V> {
    /// How it changes as the surface goes on (N).
    #[inline(always)]
    fn along(&self, goes: V3<V>) -> V3<V> {
        goes * self.stiffness - self.way * (self.slipping * self.way.dot(goes))
    }

    /// How it changes as a node turns, by rows.
    #[inline(always)]
    fn through<L: Lanes<V = V>>(&self, lanes: L, row: &ContactRow<V>) -> [V3<V>; 3] {
        let (lever, along) = (row.lever(lanes), row.couple(self.way * self.slipping));
        let of = |k: usize| lever[k] * self.stiffness - along * self.way.0[k];
        [of(0), of(1), of(2)]
    }
}

/// How far a chain has gone since the substep's start, at a node or where a row acts.
#[derive(Clone, Copy)]
pub struct Gone<V> {
    /// Its place (m).
    place: V3<V>,
    /// Its scale.
    scale: V,
    /// Its turn θ = 2·Im q, with q the turn's quaternion (rad).
    turn: V3<V>,
}

/// With what a row presses after a solve.
pub(super) struct Pressed<V> {
    /// Its force (N).
    pub(super) force: V,
    /// The friction that goes with it (N).
    pub(super) tangent: V3<V>,
    /// 2 where it was taken amiss: it is pulled open, which no contact holds back, or let through ([`LET_THROUGH`]); 1 where friction
    /// is off by [`AMISS`].
    pub(super) amiss: V,
}

impl<V: Lane> Gone<V> {
    /// A node that was where its row says, and is somewhere.
    #[inline(always)]
    pub fn of_node<L: Lanes<V = V>>(lanes: L, row: &[Entry<L::Scalar>], at: &Placed<V>) -> Self {
        let (zero, two) = (lanes.splat(0.0), lanes.splat(2.0));
        let turn = at.frame.product(Quaternion::load(lanes, row, node::PREV_FRAME).conjugate());
        // By the shorter way.
        let double = turn.0[3].where_less(zero, zero - two, two);
        Self { place: at.moved, scale: at.scale - lanes.load(&row[node::PREV_SCALE]), turn: turn.imaginary() * double }
    }
}

impl<V: Lane> ContactRow<V> {
    /// Reads a row.
    #[inline(always)]
    pub fn load<L: Lanes<V = V>>(lanes: L, row: &[Entry<L::Scalar>], meets: bool) -> Self
    where
        L::Scalar: Into<f64>,
    {
        Self {
            on_second: row[contact::ALONG].iter().any(|&along| along.into() > 0.0),
            meets,
            along: lanes.load(&row[contact::ALONG]),
            direction: V3::load(lanes, row, contact::DIRECTION),
            scale_term: lanes.load(&row[contact::SCALE_TERM]),
            arm: lanes.load(&row[contact::ARM]),
            gap: lanes.load(&row[contact::GAP]),
            stiffness: lanes.load(&row[contact::STIFFNESS]),
            friction: lanes.load(&row[contact::FRICTION]),
            limit: lanes.load(&row[contact::LIMIT]),
            sticks: lanes.load(&row[contact::STICKS]),
            anchor: V3::load(lanes, row, contact::ANCHOR),
            rolling: lanes.load(&row[contact::ROLLING]),
            rolling_limit: lanes.load(&row[contact::ROLLING_LIMIT]),
            turn: V3::load(lanes, row, contact::TURN),
            stays: lanes.load(&row[contact::STAYS]),
        }
    }

    /// How far the chain has gone there, given how far its nodes around it have.
    #[inline(always)]
    pub fn gone(&self, [first, second]: &[Gone<V>; 2]) -> Gone<V> {
        Gone {
            place: first.place + (second.place - first.place) * self.along,
            scale: first.scale + (second.scale - first.scale) * self.along,
            turn: first.turn + (second.turn - first.turn) * self.along,
        }
    }

    /// The distance (m), negative inside.
    #[inline(always)]
    pub fn distance(&self, gone: &Gone<V>) -> V {
        self.gap + (self.direction.dot(gone.place) - self.scale_term * gone.scale)
    }

    /// How far the surface has gone from where friction does not pull (m). What of that is along the direction is left out once more:
    /// what goes far with a surface that moves slides there by less than the way that is left is rounded by, and along a way that is not
    /// square to the direction what slips would be less than not stiff.
    #[inline(always)]
    pub(super) fn slid(&self, gone: &Gone<V>) -> V3<V> {
        across(self.swept(gone.place, gone.turn) - self.anchor, self.direction)
    }

    /// How far the surface goes across the direction where the chain goes and turns by so much.
    #[inline(always)]
    pub(super) fn swept(&self, place: V3<V>, turn: V3<V>) -> V3<V> {
        across(place, self.direction) + self.direction.cross(turn) * self.arm
    }

    /// How far the surface goes by a node's turn φ, by rows: r[d]×.
    ///
    /// It is the same wherever the node has turned to: with it, what passes have a row press with stays what the matrix makes of
    /// their steps. That of θ, (Re q)[d]× and more, is another one by some percent where a node turns by a few degrees in a substep,
    /// and friction is a thousand times as stiff as what else holds its turn: passes would drift off by as much, and blow up.
    #[inline(always)]
    fn lever<L: Lanes<V = V>>(&self, lanes: L) -> [V3<V>; 3] {
        let zero = lanes.splat(0.0);
        let V3([x, y, z]) = self.direction * self.arm;
        [V3([zero, zero - z, y]), V3([z, zero, zero - x]), V3([zero - y, x, zero])]
    }

    /// The couple of a pull on the surface.
    #[inline(always)]
    pub(super) fn couple(&self, pull: V3<V>) -> V3<V> {
        pull.cross(self.direction) * self.arm
    }

    /// Friction's pull over how far the surface has gone from its anchor (N/m): k_t, or as much less as keeps Coulomb's limit.
    #[inline(always)]
    pub(super) fn secant<L: Lanes<V = V>>(&self, lanes: L, slid: V3<V>) -> V {
        let far = slid.dot(slid).sqrt().max(lanes.splat(f32::MIN_POSITIVE));
        self.friction.min(self.limit / far)
    }

    /// Friction as the first solve takes it, or one `again`: by Newton's step, in which what slips has no stiffness along its way, and goes
    /// through where it would stop. Of what has `overshot` it has all that its pull is over how far it slid: what that stores is nowhere
    /// less than what friction does, and a step by it goes no farther than where friction stops it.
    ///
    /// Of meetings the other side is still to go: what slips is held back by the whole stiffness, which passes make up for.
    #[inline(always)]
    pub(super) fn coulomb<L: Lanes<V = V>>(&self, lanes: L, slid: V3<V>, again: Option<Again<V>>) -> Friction<V> {
        let (zero, half) = (lanes.splat(0.0), lanes.splat(0.5));
        let secant = self.secant(lanes, slid);
        if self.meets {
            return Friction { pull: secant, stiffness: self.friction, slipping: zero, way: slid.direction(lanes) };
        }
        let slips = secant.where_less(self.friction, secant, zero);
        let (stiffness, slipping) = match again {
            None => (half.where_less(self.sticks, self.friction, secant), half.where_less(self.sticks, zero, slips)),
            Some(Again { overshot, .. }) => (secant, half.where_less(overshot, zero, slips)),
        };
        Friction { pull: stiffness, stiffness, slipping, way: slid.direction(lanes) }
    }

    /// How far it has turned otherwise than what touches it (rad).
    #[inline(always)]
    pub(super) fn rolled(&self, gone: &Gone<V>) -> V3<V> {
        gone.turn - self.turn
    }

    /// Rolling friction's couple over that (N·m): κ, or as much less as keeps its limit.
    #[inline(always)]
    pub(super) fn rolling_secant<L: Lanes<V = V>>(&self, lanes: L, by: V3<V>) -> V {
        let far = by.dot(by).sqrt().max(lanes.splat(f32::MIN_POSITIVE));
        self.rolling.min(self.rolling_limit / far)
    }

    /// ½k·min(g, 0)², and friction's ½k_t|u − anchor|² up to where it slips, from there limit·(|u − anchor| − limit/2k_t) (J);
    /// rolling friction likewise.
    #[inline(always)]
    pub fn potential<L: Lanes<V = V>>(&self, lanes: L, gone: &Gone<V>) -> V {
        let depth = self.distance(gone).min(lanes.splat(0.0));
        let slid = self.slid(gone);
        let pull = self.secant(lanes, slid) * slid.dot(slid).sqrt();
        // With |u| the way, limit·(|u| − limit/2k_t) is pull·(2|u| − pull/k_t)/2; up to the limit that is pull·|u|/2.
        let half = lanes.splat(0.5);
        let spring = pull / self.friction.max(lanes.splat(f32::MIN_POSITIVE));
        let by = self.rolled(gone);
        let turned = by.dot(by).sqrt();
        let couple = self.rolling_secant(lanes, by) * turned;
        let spring_turn = couple / self.rolling.max(lanes.splat(f32::MIN_POSITIVE));
        let by_turning = couple * (turned * lanes.splat(2.0) - spring_turn);
        half * (self.stiffness * depth * depth
            + pull * (slid.dot(slid).sqrt() * lanes.splat(2.0) - spring)
            + by_turning)
    }

    /// With what it presses once the nodes around it have stepped by `delta` in the first solve or one `again`; `in_the_way`
    /// is how deep it was in the way before, see [`Self::in_the_way`], and `slid` how far the surface had gone from its anchor.
    #[inline(always)]
    pub(super) fn pressed_by<L: Lanes<V = V>>(
        &self,
        lanes: L,
        in_the_way: V,
        slid: V3<V>,
        [a, b]: [&Vec7<V>; 2],
        again: Option<Again<V>>,
    ) -> Pressed<V> {
        let (zero, one, most) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(MOST_DUAL));
        let step = |k: usize| a[k] + (b[k] - a[k]) * self.along;
        let (moved, turned) = (V3([step(0), step(1), step(2)]), V3([step(4), step(5), step(6)]));
        let left = in_the_way - (self.direction.dot(moved) - self.scale_term * step(3));
        // What is no number does not press.
        let force = zero.where_less(left, (self.stiffness * left).min(most), zero);
        let stays = if again.is_none() { self.stays } else { zero };
        let size = in_the_way.max(zero - in_the_way);
        let pulled = size * lanes.splat(PULLED) + stays * self.arm * lanes.splat(GENTLY);
        let open = left.where_less(zero - pulled, one, zero);
        let through = (self.arm * lanes.splat(LET_THROUGH)).where_less(left, one, zero);
        let through = zero.where_less(self.stiffness, through, zero);
        let (held, half) = (zero.where_less(in_the_way, one, zero) + stays, lanes.splat(0.5));
        let force = half.where_less(held, force, zero);
        let open = half.where_less(held, open, through);

        let goes = self.swept(moved, turned);
        let friction = self.coulomb(lanes, slid, again);
        let taken = slid * friction.pull + friction.along(goes);
        let pull = (slid + goes) * self.secant(lanes, slid + goes);
        let off = taken - pull;
        let amiss = (self.limit * lanes.splat(AMISS)).where_less(off.dot(off).sqrt(), one, zero).max(open + open);
        let amiss = if self.meets { zero } else { amiss };
        let number = taken.dot(taken).where_less(most, one, zero);
        let tangent = V3(each!(k in 0..3 => zero.where_less(number, zero - taken.0[k], zero)));
        Pressed { force, tangent, amiss }
    }

    /// The stiffness that the matrix of the `first` solve has of it, or of a later one, where the chain has gone so far, and the
    /// distance (m) by which it presses then. Passes make up for what a meeting holds back that has opened; one that had no stiffness
    /// there would be thrown by their forces. A chain that begins again from where it stood is not to be held there.
    #[inline(always)]
    pub(super) fn in_matrix<L: Lanes<V = V>>(&self, lanes: L, gone: &Gone<V>, first: bool) -> [V; 2] {
        let (zero, half) = (lanes.splat(0.0), lanes.splat(0.5));
        let distance = self.distance(gone);
        let within = distance.min(zero);
        if self.meets && first {
            return [self.stiffness, within];
        }
        let stays = if first { self.stays } else { zero };
        let held = distance.where_less(zero, lanes.splat(1.0), zero) + stays;
        [half.where_less(held, self.stiffness, zero), half.where_less(stays, distance, within)]
    }

    /// Rolling friction's stiffness that the matrix has of it, given what its couple is over how far it has turned (N·m).
    #[inline(always)]
    pub(super) fn rolling_in_matrix(&self, secant: V) -> V {
        if self.meets { self.rolling } else { secant }
    }

    /// How deep it is in the way (m), negative where it is off it, 0 where it is not stiff.
    #[inline(always)]
    pub fn in_the_way<L: Lanes<V = V>>(&self, lanes: L, gone: &Gone<V>) -> V {
        let zero = lanes.splat(0.0);
        zero.where_less(self.stiffness, zero - self.distance(gone), zero)
    }

    /// Adds its terms to the system of the node that begins its segment, and to those of the segment.
    ///
    /// With w the row's weight for a node, its unknowns have the block w²JᵀJ and the gradient wJᵀf: of place and scale by what
    /// presses, (d, −σ), and of place and turn by friction, (1 − ddᵀ, lever).
    #[inline(always)]
    pub fn add<L: Lanes<V = V>>(
        &self,
        lanes: L,
        gone: &Gone<V>,
        again: Option<Again<V>>,
        System { block, rhs, terms }: &mut System<V>,
    ) {
        let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
        let (d, sigma) = (self.direction, self.scale_term);
        let slid = self.slid(gone);
        let friction = self.coulomb(lanes, slid, again);
        let [stiffness, distance] = self.in_matrix(lanes, gone, again.is_none());
        let push = stiffness * distance;
        let pull = slid * friction.pull;
        let way = friction.way * friction.slipping;
        let mut both = [[zero; 4]; 4];
        let mut gradient = [zero; 4];
        for i in 0..3 {
            for k in 0..3 {
                both[i][k] = (stiffness - friction.stiffness) * d.0[i] * d.0[k] - way.0[i] * friction.way.0[k];
            }
            both[i][i] = both[i][i] + friction.stiffness;
            both[3][i] = -(stiffness * sigma * d.0[i]);
            both[i][3] = both[3][i];
            gradient[i] = push * d.0[i] + pull.0[i];
        }
        both[3][3] = stiffness * sigma * sigma;
        gradient[3] = -(push * sigma);

        let (first, second) = (one - self.along, self.along);
        let own = first * first;
        let pulled = friction.through(lanes, self);
        let mut turning = turning(lanes, &self.lever(lanes), &pulled);
        let by = self.rolled(gone);
        let secant = self.rolling_secant(lanes, by);
        let (rolled, rolls) = (by * secant, self.rolling_in_matrix(secant));
        for i in 0..3 {
            turning[i][i] = turning[i][i] + rolls;
        }
        let couple = self.couple(pull) + rolled;
        for i in 0..4 {
            rhs[i] = rhs[i] - first * gradient[i];
            for k in 0..=i {
                block[i][k] = block[i][k] + own * both[i][k];
            }
        }
        for i in 0..3 {
            rhs[4 + i] = rhs[4 + i] - first * couple.0[i];
            for k in 0..3 {
                block[4 + i][k] = block[4 + i][k] + own * pulled[k].0[i];
            }
            for k in 0..=i {
                block[4 + i][4 + k] = block[4 + i][4 + k] + own * turning[i][k];
            }
        }
        if self.on_second {
            let (mixed, next) = (first * second, second * second);
            for i in 0..4 {
                terms.gradient_b[i] = terms.gradient_b[i] + second * gradient[i];
                for k in 0..4 {
                    terms.block_ab[i][k] = terms.block_ab[i][k] + mixed * both[i][k];
                }
                for k in 0..=i {
                    terms.block_bb[i][k] = terms.block_bb[i][k] + next * both[i][k];
                }
            }
            for i in 0..3 {
                terms.gradient_b[4 + i] = terms.gradient_b[4 + i] + second * couple.0[i];
                for k in 0..3 {
                    terms.block_ab[4 + i][k] = terms.block_ab[4 + i][k] + mixed * pulled[k].0[i];
                    terms.block_ab[k][4 + i] = terms.block_ab[k][4 + i] + mixed * pulled[k].0[i];
                    terms.block_ab[4 + i][4 + k] = terms.block_ab[4 + i][4 + k] + mixed * turning[i][k];
                    terms.block_bb[4 + i][k] = terms.block_bb[4 + i][k] + next * pulled[k].0[i];
                }
                for k in 0..=i {
                    terms.block_bb[4 + i][4 + k] = terms.block_bb[4 + i][4 + k] + next * turning[i][k];
                }
            }
        }
    }
}

/// How the couple by a lever changes by a turn, given how the pull does: MᵀP.
#[inline(always)]
fn turning<L: Lanes>(lanes: L, lever: &[V3<L::V>; 3], pulled: &[V3<L::V>; 3]) -> [[L::V; 3]; 3] {
    let mut product = [[lanes.splat(0.0); 3]; 3];
    for i in 0..3 {
        for k in 0..3 {
            for j in 0..3 {
                product[i][k] = product[i][k] + lever[j].0[i] * pulled[j].0[k];
            }
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::lanes::{LANES, OneF32};
    use crate::cpu::rod_energies::UNKNOWNS;

    /// m/h² of 25 g in a substep of 1/120 s (N/m).
    const INERTIA: f32 = 360.0;

    /// How thick what touches is (m), and with what force it slips (N).
    const RADIUS: f32 = 0.025;
    const LIMIT: f32 = 0.5;

    /// A row that is pulled by how far its surface is from an anchor, across a direction; as stiff as a penalty against that inertia, and
    /// with that limit.
    fn row(direction: V3<f32>, anchor: V3<f32>) -> ContactRow<f32> {
        let mut stored = vec![[0.0; LANES]; contact::ENTRIES];
        let lanes = OneF32(0);
        direction.store(lanes, &mut stored, contact::DIRECTION);
        anchor.store(lanes, &mut stored, contact::ANCHOR);
        for (at, value) in [
            (contact::SCALE_TERM, RADIUS),
            (contact::ARM, RADIUS),
            (contact::GAP, -1.0e-6),
            (contact::STIFFNESS, 1000.0 * INERTIA),
            (contact::FRICTION, 1000.0 * INERTIA),
            (contact::LIMIT, LIMIT),
        ] {
            stored[at] = [value; LANES];
        }
        ContactRow::load(lanes, &stored, false)
    }

    /// Directions all round, and ways across them.
    fn directions() -> impl Iterator<Item = [V3<f32>; 2]> {
        (0..200).map(|k| {
            let (turn, height) = (2.4 * k as f32, (k as f32 - 99.5) / 100.0);
            let round = (1.0 - height * height).sqrt();
            let direction = V3([round * turn.cos(), height, round * turn.sin()]).direction(OneF32(0));
            [direction, across(V3([0.3, -0.5, 0.8]), direction).direction(OneF32(0))]
        })
    }

    /// Whether a symmetric matrix has a factor, given its lower triangle.
    fn is_positive(lower: &Mat7<f32>, on_diagonal: [f64; UNKNOWNS]) -> bool {
        let mut factor = [[0.0_f64; UNKNOWNS]; UNKNOWNS];
        for i in 0..UNKNOWNS {
            for k in 0..=i {
                let known: f64 = (0..k).map(|j| factor[i][j] * factor[k][j]).sum();
                let left = f64::from(lower[i][k]) + if i == k { on_diagonal[i] } else { 0.0 } - known;
                if i == k && left <= 0.0 {
                    return false;
                }
                factor[i][k] = if i == k { left.sqrt() } else { left / factor[k][k] };
            }
        }
        true
    }

    /// A surface goes 5 cm in the substep, as in a box that turns, and what it carries slides on it by 0.2 µm: it is thought to slide
    /// across it alone, and the matrix has no direction in which it would be less than not stiff.
    #[test]
    fn what_slides_little_on_what_goes_far_slides_across_it() {
        let lanes = OneF32(0);
        let (mut off, mut slid_least) = (0.0_f32, f32::INFINITY);
        for [direction, way] in directions() {
            let (far, turn) = (V3([0.031, 0.001, -0.04]), V3([0.0, 0.04, 0.0]));
            // It goes and turns with the surface, but for what it slides.
            let row = row(direction, across(far, direction) + direction.cross(turn) * RADIUS);
            let gone = Gone { place: far + way * 2.0e-7, scale: 0.0, turn };
            let slid = row.slid(&gone);
            slid_least = slid_least.min(slid.length());
            off = off.max(slid.direction(lanes).dot(direction).abs());
            let block = [[0.0; UNKNOWNS]; UNKNOWNS];
            let mut system = System { block, rhs: [0.0; UNKNOWNS], terms: SegmentTerms::none(lanes) };
            row.add(lanes, &gone, Some(Again::of(lanes, 1.0)), &mut system);
            let (place, lever) = (0.01 * f64::from(INERTIA), 0.01 * f64::from(INERTIA * RADIUS * RADIUS));
            assert!(is_positive(&system.block, [place, place, place, lever, lever, lever, lever]));
        }
        println!("slid {slid_least:.1e} m at least, {off:.1e} of it along the direction (bar 1e-5)");
        assert!(slid_least > 1.0e-7 && off < 1.0e-5);
    }

    /// Of what has overshot the solve has friction no less than it is, wherever a step leads: so its step ends no higher than it began. By
    /// Newton's it has it as if it never stopped.
    #[test]
    fn what_has_overshot_goes_no_farther_than_friction_lets_it() {
        let lanes = OneF32(0);
        let again = |overshot: f32| Some(Again { overshot, ..Again::of(lanes, 1.0) });
        let (mut above, mut below) = (f32::INFINITY, f32::INFINITY);
        for [direction, way] in directions() {
            let row = row(direction, V3([0.0; 3]));
            let aside = direction.cross(way);
            let at = |place: V3<f32>| Gone { place, scale: 0.0, turn: V3([0.0; 3]) };
            let potential = |place: V3<f32>| row.potential(lanes, &at(place)) - row.potential(lanes, &at(V3([0.0; 3])));
            let slid = way * 1.0e-5;
            for step in [-3.0e-5, -2.0e-5, -1.0e-5, 1.0e-5, 3.0e-5].into_iter().flat_map(|by| [way * by, aside * by]) {
                let rise = potential(slid + step) - potential(slid);
                let by = |overshot: f32| {
                    let friction = row.coulomb(lanes, slid, again(overshot));
                    (slid * friction.pull + friction.along(step) * 0.5).dot(step)
                };
                above = above.min((by(1.0) - rise) / (LIMIT * 1.0e-5));
                below = below.min((by(0.0) - rise) / (LIMIT * 1.0e-5));
            }
        }
        println!(
            "as the solve has it, it is above what it is by {above:.2} at least (bar -0.02); by Newton's step by {below:.2}"
        );
        assert!(above > -0.02 && below < -1.0);
    }
}
