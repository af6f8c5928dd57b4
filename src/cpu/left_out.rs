//! What passes of chains that meet others left out of their momentum, and what is given to them for it; its twin is
//! `shaders/bindings/left_out.wgsl`.
//!
//! After the last pass pairs press with a force that is the same for both sides, and neither has moved by quite that. So the momentum
//! that a chain lacks is what pairs press it with in the end, less what it gained; or, where that does not tell, less what the system
//! has of it, row by row. A chain is given it as a rigid body. Chains that hang on each other are one body: what joints pull, and what
//! it takes to put branches where stems turned, which is no part of a linear step, is none of one chain alone. So what they lack is
//! summed over a tree first, and judged then.

use std::ops::Add;

use super::bodies::{RigidMotion, SLENDER, SLENDEREST, inertia_about, inertia_of_section, spin_of};
use super::contact_rows::ContactRow;
use super::contacts::is_idle;
use super::group::{Group, falls, second_order, unpadded};
use super::holds::{When, across};
use super::lanes::{Entry, Lane, Lanes, each};
use super::math::{Quaternion, V3};
use super::settle::{WANTED, load};
use super::solved::{Presses, has};
use crate::layout::{chain, contact, input, node, rest};
use crate::step::StepParams;

/// What passes left out of a momentum is given up to this share of what was gained in the substep or, up to [`MOST_GIVEN`], of what
/// there was, in the world, and [`LEAST_GIVEN`] more. Stiff pairs that hold something light between them are far from balance by a
/// force that is nothing to them and would throw it: 20 g at 180 m/s, and what it hits then at more.
pub const MOST_LEFT_OUT: f32 = 0.5;

/// See [`MOST_LEFT_OUT`] (m/s). Of what hits at 60 m/s, one side would else be given what the other, at rest, is not.
pub const MOST_GIVEN: f32 = 5.0;

/// See [`MOST_LEFT_OUT`] (m/s).
pub const LEAST_GIVEN: f32 = 0.1;

/// What gains no more than so many times what it falls in a substep lies on others, and is given no more than [`LYING_GIVEN`] of
/// that: what passes left out is another rest in every substep, and would shake it.
pub const LIES: f32 = 1.5;

/// See [`LIES`]: enough for what slides.
pub const LYING_GIVEN: f32 = 0.01;

/// Gives free chains, as rigid bodies, the momentum that passes left out. Sections of what moves spin with it, the less the more it
/// lies: what friction does to a chain about its own axis is nothing else, but what lies would creep. Of chains that hang on each
/// other they do not.
#[inline(always)]
pub fn restore<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>, wanted: &[Entry<L::Scalar>])
where
    L::Scalar: Into<f64>,
{
    let one = lanes.splat(1.0);
    let centre = centre_of(lanes, group);
    let balance = Balance::of(lanes, params, group, wanted, centre);
    let LeftOut { momentum, moves } = balance.left_out(lanes);
    let slender = lanes.splat(SLENDER) + moves * lanes.splat(SLENDEREST - SLENDER);
    let spin = spin_of(lanes, inertia_about(lanes, group, centre), momentum.angular, slender);
    let velocity = momentum.linear * balance.inv_mass(lanes);
    RigidMotion { centre, velocity, spin }.add_to(lanes, group, moves, one);
}

/// A chain's centre of mass from its origin (m).
#[inline(always)]
fn centre_of<L: Lanes>(lanes: L, group: &Group<L::Scalar>) -> V3<L::V> {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let (mut mass, mut moment) = (zero, V3([zero; 3]));
    for index in 0..group.rest.node_count {
        let m = unpadded(lanes, group, index, rest::MASS);
        mass = mass + m;
        moment = moment + V3::load(lanes, group.row(index), node::PLACE) * m;
    }
    moment * zero.where_less(mass, one / mass.max(lanes.splat(f32::MIN_POSITIVE)), zero)
}

/// A momentum (kg·m/s) and its moment about a point (kg·m²/s).
#[derive(Clone, Copy)]
pub(super) struct Momentum<V> {
    pub linear: V3<V>,
    pub angular: V3<V>,
}

impl<V: Lane> Momentum<V> {
    /// Of `force` at `point`, and a couple.
    #[inline(always)]
    fn at(point: V3<V>, force: V3<V>, couple: V3<V>) -> Self {
        Self { linear: force, angular: point.cross(force) + couple }
    }

    /// All of what a row presses with, at `point`.
    #[inline(always)]
    fn of_row(row: &ContactRow<V>, (force, pull, couple): Presses<V>, point: V3<V>) -> Self {
        Self::at(point, row.direction * force + across(pull, row.direction), couple)
    }

    #[inline(always)]
    fn times(self, by: V) -> Self {
        Self { linear: self.linear * by, angular: self.angular * by }
    }

    #[inline(always)]
    fn less(self, other: Self) -> Self {
        Self { linear: self.linear - other.linear, angular: self.angular - other.angular }
    }

    /// About a point from which the one that it was about is so far.
    #[inline(always)]
    pub fn shifted(self, arm: V3<V>) -> Self {
        Self::at(arm, self.linear, self.angular)
    }
}

impl<V: Lane> Add for Momentum<V> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { linear: self.linear + other.linear, angular: self.angular + other.angular }
    }
}

/// How the momentum of a chain, or of all chains of a tree, came about in a substep.
#[derive(Clone, Copy)]
pub(super) struct Balance<V> {
    /// kg.
    mass: V,
    /// How much falling gives it (kg·m/s).
    falls: V,
    /// A segment's length (m).
    length: V,
    /// What it had, as predicted (kg·m/s).
    had: V3<V>,
    /// What it gained.
    went: Momentum<V>,
    /// What it lacks by what pairs press with and the system has of it.
    by_rows: Momentum<V>,
    /// What it lacks by what pairs press with and it gained.
    by_motion: Momentum<V>,
    /// 1 where it was led astray or went far.
    rough: V,
    /// 1 where half-spaces hold it.
    held: V,
    /// 1 where its steps are second-order.
    second_order: V,
    /// 1 where it is free and meets others.
    free: V,
}

impl Balance<f64> {
    /// Whether passes may have left out anything of it that it is to be given.
    pub fn is_free(&self) -> bool {
        self.free > 0.5
    }
}

/// How many entries a [`Balance`] takes.
pub(super) const BALANCE_ENTRIES: usize = 28;

/// What passes left out.
pub(super) struct LeftOut<V> {
    pub momentum: Momentum<V>,
    /// 1 where it moves, 0 where it lies on others ([`LIES`]), or between.
    moves: V,
}

impl<V: Lane> Balance<V> {
    /// A chain's, about a point from its origin.
    #[inline(always)]
    pub fn of<L: Lanes<V = V>>(
        lanes: L,
        params: &StepParams,
        group: &Group<L::Scalar>,
        wanted: &[Entry<L::Scalar>],
        about: V3<V>,
    ) -> Self
    where
        L::Scalar: Into<f64>,
    {
        let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
        let none = Momentum { linear: V3([zero; 3]), angular: V3([zero; 3]) };
        // What pairs press with, where they touched at the start, and what of it is missing.
        let (mut pressed, mut missing) = (none, none);
        for slot in 0..group.meets.len() / contact::ENTRIES {
            let stored = &group.meets[slot * contact::ENTRIES..][..contact::ENTRIES];
            let Some(at) = group.solved_at(1, slot).filter(|_| !is_idle(stored)) else { continue };
            let index = stored[contact::SEGMENT][0].into() as usize;
            let row = ContactRow::load(lanes, stored, true);
            let ends = each!(end in 0..2 => V3::load(lanes, group.row(index + end), node::PREV_PLACE));
            let point = ends[0] + (ends[1] - ends[0]) * row.along + V3::load(lanes, stored, contact::MIDDLE) - about;
            let wanted = Momentum::of_row(&row, load(lanes, &wanted[slot * WANTED..][..WANTED], 0), point);
            let has = Momentum::of_row(&row, has(lanes, group, at, (1, slot)), point);
            (pressed, missing) = (pressed + wanted, missing + wanted.less(has));
        }
        let second_order = second_order(lanes, params, group);
        let inv_step = lanes.splat(params.inv_h) * (one + second_order * lanes.splat(0.5));
        let step = one / inv_step;
        let (mut mass, mut had, mut went) = (zero, none.linear, none);
        for index in 0..group.rest.node_count {
            let (row, m) = (group.row(index), unpadded(lanes, group, index, rest::MASS));
            mass = mass + m;
            had = had + V3::load(lanes, row, node::VELOCITY) * m;
            let lag = V3::load(lanes, row, node::MOVED) - V3::load(lanes, row, node::PREDICTED_MOVE);
            let arm = V3::load(lanes, row, node::PREV_PLACE) - about;
            let predicted = Quaternion::load(lanes, row, node::PREDICTED_FRAME);
            let turn = predicted.turn_on(lanes, Quaternion::load(lanes, row, node::FRAME));
            let spun = inertia_of_section(lanes, group, index, When::Start).apply(turn) * inv_step;
            went = went + Momentum::at(arm, lag * (m * inv_step), spun);
        }
        let mut held = zero;
        for row in group.contacts.chunks_exact(contact::ENTRIES) {
            held = zero.where_less(lanes.at(row, contact::DUAL), one, held);
        }
        // Others of the group may meet nobody.
        let meets = lanes.load(&group.chains[chain::MEETS]);
        Self {
            mass,
            falls: mass * falls(lanes, params, group).length() * step,
            length: lanes.at(group.rest.row(0), rest::LENGTH),
            had,
            went,
            by_rows: missing.times(step),
            by_motion: pressed.times(step).less(went),
            rough: lanes.load(&group.chains[chain::ROUGH]),
            held,
            second_order,
            free: lanes.load(&group.inputs[input::HANGS]).where_less(lanes.splat(0.5), meets, zero),
        }
    }

    /// About a point from which the one that it was about is so far.
    pub fn shifted(self, arm: V3<V>) -> Self {
        let [went, by_rows, by_motion] =
            [self.went, self.by_rows, self.by_motion].map(|momentum| momentum.shifted(arm));
        Self { went, by_rows, by_motion, ..self }
    }

    #[inline(always)]
    fn inv_mass<L: Lanes<V = V>>(&self, lanes: L) -> V {
        let zero = lanes.splat(0.0);
        zero.where_less(self.mass, lanes.splat(1.0) / self.mass.max(lanes.splat(f32::MIN_POSITIVE)), zero)
    }

    /// What of the momentum passes left out.
    ///
    /// All that is missing of it is told by where it went. Not of what half-spaces hold, a tree by any of its chains, with what force
    /// they do is not known so well: what was led astray there is given nothing. Of second-order steps only what was led astray is told so.
    #[inline(always)]
    pub fn left_out<L: Lanes<V = V>>(&self, lanes: L) -> LeftOut<V> {
        let (zero, one, least) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(f32::MIN_POSITIVE));
        let Self { mass, went, by_rows, rough, .. } = *self;
        let unheld = one - self.held;
        let is_told = rough.max(unheld * (one - self.second_order));
        let by_motion = self.by_motion.times(unheld);
        let linear = by_rows.linear.or(lanes, by_motion.linear, is_told);
        let angular = by_rows.angular.or(lanes, by_motion.angular, is_told);
        let falls = self.falls.max(least);
        let moves = (went.linear.length() / falls - lanes.splat(LIES)).clamp(zero, one);
        let most = lanes.splat(MOST_LEFT_OUT);
        let of_had = (self.had.length() * most).min(mass * lanes.splat(MOST_GIVEN));
        let of_moving = (went.linear.length() * most).max(of_had) + mass * lanes.splat(LEAST_GIVEN);
        let most_given = of_moving * moves + falls * lanes.splat(LYING_GIVEN);
        let most_turned = went.angular.length() * most * moves + most_given * self.length;
        let share = (most_given / linear.length().max(least)).min(one);
        let turn_share = (most_turned / angular.length().max(least)).min(share);
        let momentum = Momentum { linear: linear * (share * self.free), angular: angular * (turn_share * self.free) };
        LeftOut { momentum, moves }
    }

    /// Writes its fields in order.
    #[inline(always)]
    pub fn store<L: Lanes<V = V>>(&self, lanes: L, entries: &mut [Entry<L::Scalar>]) {
        let Self { mass, falls, length, had, went, by_rows, by_motion, rough, held, second_order, free } = self;
        let momenta = [went.linear, went.angular, by_rows.linear, by_rows.angular, by_motion.linear, by_motion.angular];
        for (k, value) in [*mass, *falls, *length].into_iter().enumerate() {
            lanes.store(value, &mut entries[k]);
        }
        had.store(lanes, entries, 3);
        for (k, value) in momenta.into_iter().enumerate() {
            value.store(lanes, entries, 6 + 3 * k);
        }
        for (k, value) in [*rough, *held, *second_order, *free].into_iter().enumerate() {
            lanes.store(value, &mut entries[24 + k]);
        }
    }

    /// What [`Balance::store`] wrote.
    #[inline(always)]
    pub fn load<L: Lanes<V = V>>(lanes: L, entries: &[Entry<L::Scalar>]) -> Self {
        let [mass, falls, length] = each!(k in 0..3 => lanes.load(&entries[k]));
        let [went, by_rows, by_motion] = each!(k in 0..3 => {
            let at = 6 + 6 * k;
            Momentum { linear: V3::load(lanes, entries, at), angular: V3::load(lanes, entries, at + 3) }
        });
        let [rough, held, second_order, free] = each!(k in 0..4 => lanes.load(&entries[24 + k]));
        let had = V3::load(lanes, entries, 3);
        Self { mass, falls, length, had, went, by_rows, by_motion, rough, held, second_order, free }
    }
}

/// Of chains as one body, both about the same point.
impl<V: Lane> Add for Balance<V> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            falls: self.falls + other.falls,
            length: self.length.max(other.length),
            had: self.had + other.had,
            went: self.went + other.went,
            by_rows: self.by_rows + other.by_rows,
            by_motion: self.by_motion + other.by_motion,
            rough: self.rough.max(other.rough),
            held: self.held.max(other.held),
            second_order: self.second_order.max(other.second_order),
            free: self.free.min(other.free),
        }
    }
}
