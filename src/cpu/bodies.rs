//! Chains as bodies: how much of each there is, how it moves, and that it keeps its momentum and angular momentum; its twin is
//! `shaders/bindings/bodies.wgsl`. See [`tree_motion`](super::tree_motion) for those that hang on each other.
//!
//! A section's spin is carried over from one frame to another by its angular momentum ([`carried_over`]): that from the frame at a
//! substep's start to the predicted one, and that, with what the solve's torques gave it, to where it turned. So what sections spin is
//! kept, whatever turns them aside. Of places that is not so: implicit Euler's forces act where the solve was set up, with x₁ = x₀ + hv₁,
//! and Σx₁ × mv₁ is Σx₀ × mv₀ − hΣv₀ × mv₁, of what spins as a rigid body (ωh)² less; a step that was shortened, or begun again, has no
//! balance of forces and gives it anything, and momentum too. But what nothing presses has what it had: a free chain is given what is
//! missing of that ([`keep_momenta`]), and one that meets others what is missing of that and of what these press it with
//! ([`left_out`](super::left_out)).

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::group::{Group, second_order, unpadded};
use super::holds::When;
use super::lanes::{Entry, Lane, Lanes, apart, each, unrolled};
use super::math::{LEAST_DIVISOR, Mat3, Quaternion, Sym3, V3};
use crate::layout::{chain, contact, input, node, rest, rigid};
use crate::step::StepParams;

/// A chain's motion as if it were rigid.
pub(super) struct RigidMotion<V> {
    /// Its centre of mass (m).
    pub centre: V3<V>,
    /// The centre's velocity (m/s).
    pub velocity: V3<V>,
    pub spin: V3<V>,
}

impl<V: Lane> RigidMotion<V> {
    /// That of each chain's tree, as it is kept.
    #[inline(always)]
    pub fn load<L: Lanes<V = V>>(lanes: L, rows: &[Entry<L::Scalar>]) -> Self {
        let [centre, velocity, spin] =
            each!(of in 0..3 => V3::load(lanes, rows, [rigid::CENTRE, rigid::VELOCITY, rigid::SPIN][of]));
        Self { centre, velocity, spin }
    }

    #[inline(always)]
    pub fn at(&self, place: V3<V>) -> (V3<V>, V3<V>) {
        (self.velocity + self.spin.cross(place - self.centre), self.spin)
    }

    /// How much faster a node moves and its section spins.
    #[inline(always)]
    fn within<L: Lanes<V = V>>(&self, lanes: L, row: &[Entry<L::Scalar>]) -> [V3<V>; 2] {
        let (velocity, spin) = self.at(V3::load(lanes, row, node::PLACE));
        [V3::load(lanes, row, node::VELOCITY) - velocity, V3::load(lanes, row, node::SPIN) - spin]
    }

    /// Adds it to the velocities of flagged chains, and such a share of its spin to their sections'.
    #[inline(always)]
    pub fn add_to<L: Lanes<V = V>>(&self, lanes: L, group: &mut Group<L::Scalar>, of_sections: V, flag: V) {
        for index in 0..group.rest.node_count {
            let there = unpadded_flag(lanes, group, index, flag);
            let row = group.row_mut(index);
            let (velocity, spin) = self.at(V3::load(lanes, row, node::PLACE));
            add(lanes, row, node::VELOCITY, velocity, there);
            add(lanes, row, node::SPIN, spin * of_sections, there);
        }
    }
}

/// A flag of chains that have a node there: padding goes its own way.
#[inline(always)]
fn unpadded_flag<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize, flag: L::V) -> L::V {
    let zero = lanes.splat(0.0);
    zero.where_less(lanes.at(group.rest.row(index), rest::RADIUS), flag, zero)
}

/// Adds to three entries of flagged lanes; the others stay, to the sign of a zero.
#[inline(always)]
fn add<L: Lanes>(lanes: L, row: &mut [Entry<L::Scalar>], at: usize, value: V3<L::V>, flag: L::V) {
    let old = V3::load(lanes, row, at);
    old.or(lanes, old + value, flag).store(lanes, row, at);
}

/// Spin about an axis of less than about this part of the inertia's trace counts as motion within the chain.
pub const SLENDER: f32 = 0.005;

/// Centre of mass, its velocity, and the spin that has the chain's angular momentum: Ω = I⁻¹L, but for what is
/// nearly an axis of no inertia. A slender chain has next to none about its length, where errors of angular momentum
/// that are nothing elsewhere make it whirl in a bow at its first bending frequency, a rigid motion that would last.
/// So Ω = (I² + (SLENDER·tr I)²)⁻¹ I L.
#[inline(always)]
pub(super) fn rigid_motion<L: Lanes>(lanes: L, body: &Body<L::V>) -> RigidMotion<L::V> {
    let spin = spin_of(lanes, body.inertia, body.angular, lanes.splat(SLENDER));
    RigidMotion { centre: body.centre, velocity: body.velocity, spin }
}

/// Adds to the velocities of each chain what a rigid motion of its tree is, which `rows` keep.
#[inline(always)]
pub(super) fn add_motion<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, rows: &[Entry<L::Scalar>]) {
    RigidMotion::load(lanes, rows).add_to(lanes, group, lanes.splat(0.0), lanes.splat(1.0));
}

/// A chain as a body: how much of it there is, and how it moves.
pub(super) struct Body<V> {
    /// Mass (kg).
    mass: V,
    /// Centre of mass from the chain's origin (m).
    centre: V3<V>,
    /// Its velocity (m/s).
    velocity: V3<V>,
    /// Angular momentum about the centre (kg·m²/s).
    angular: V3<V>,
    /// Inertia about the centre (kg·m²): the lower triangle.
    inertia: Mat3<V>,
}

/// How many entries [`Body::store`] writes.
pub(super) const BODY_ENTRIES: usize = 16;

impl<V: Lane> Body<V> {
    /// That of each chain.
    #[inline(always)]
    pub fn of<L: Lanes<V = V>>(lanes: L, group: &Group<L::Scalar>) -> Self {
        let body = Self::in_motion(lanes, group, When::Now);
        Self { inertia: inertia_about(lanes, group, body.centre), ..body }
    }

    /// As [`Body::of`] but for the inertia: now, or at the substep's start as it was predicted to go on.
    #[inline(always)]
    fn in_motion<L: Lanes<V = V>>(lanes: L, group: &Group<L::Scalar>, when: When) -> Self {
        let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
        let place_at = match when {
            When::Start => node::PREV_PLACE,
            When::Now => node::PLACE,
        };
        let (mut mass, mut moment, mut momentum) = (zero, V3([zero; 3]), V3([zero; 3]));
        for index in 0..group.rest.node_count {
            let (row, m) = (group.row(index), unpadded(lanes, group, index, rest::MASS));
            mass = mass + m;
            moment = moment + V3::load(lanes, row, place_at) * m;
            momentum = momentum + V3::load(lanes, row, node::VELOCITY) * m;
        }
        let inv_mass = one / zero.where_less(mass, mass, one);
        let (centre, velocity) = (moment * inv_mass, momentum * inv_mass);
        let mut angular = V3([zero; 3]);
        for index in 0..group.rest.node_count {
            let (row, m) = (group.row(index), unpadded(lanes, group, index, rest::MASS));
            let goes = (V3::load(lanes, row, node::VELOCITY) - velocity) * m;
            let of_section = inertia_of_section(lanes, group, index, when).apply(V3::load(lanes, row, node::SPIN));
            angular = angular + (V3::load(lanes, row, place_at) - centre).cross(goes) + of_section;
        }
        Self { mass, centre, velocity, angular, inertia: [[zero; 3]; 3] }
    }

    /// The angular momentum that it has by a spin.
    #[inline(always)]
    fn with_spin(&self, spin: V3<V>) -> V3<V> {
        let [[xx, ..], [xy, yy, _], [xz, yz, zz]] = self.inertia;
        V3([V3([xx, xy, xz]).dot(spin), V3([xy, yy, yz]).dot(spin), V3([xz, yz, zz]).dot(spin)])
    }

    /// Writes its fields in order, of the inertia xx, xy, yy, xz, yz, zz.
    #[inline(always)]
    pub fn store<L: Lanes<V = V>>(&self, lanes: L, entries: &mut [Entry<L::Scalar>]) {
        lanes.store(self.mass, &mut entries[0]);
        self.centre.store(lanes, entries, 1);
        self.velocity.store(lanes, entries, 4);
        self.angular.store(lanes, entries, 7);
        let mut at = 10;
        for i in 0..3 {
            for k in 0..=i {
                lanes.store(self.inertia[i][k], &mut entries[at]);
                at += 1;
            }
        }
    }
}

/// A chain's inertia about a point (kg·m²): the lower triangle.
#[inline(always)]
pub(super) fn inertia_about<L: Lanes>(lanes: L, group: &Group<L::Scalar>, centre: V3<L::V>) -> Mat3<L::V> {
    let mut inertia = [[lanes.splat(0.0); 3]; 3];
    for index in 0..group.rest.node_count {
        let m = unpadded(lanes, group, index, rest::MASS);
        let of_section = inertia_of_section(lanes, group, index, When::Now);
        let arm = V3::load(lanes, group.row(index), node::PLACE) - centre;
        let square = arm.dot(arm);
        for i in 0..3 {
            for k in 0..=i {
                inertia[i][k] = inertia[i][k] - m * arm.0[i] * arm.0[k] + of_section.get(i, k);
            }
            inertia[i][i] = inertia[i][i] + m * square;
        }
    }
    inertia
}

/// A section's inertia (kg·m²): in the frame and of the scale that it has now, or at the substep's start in the predicted frame.
#[inline(always)]
pub(super) fn inertia_of_section<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize, when: When) -> Sym3<L::V> {
    let [frame_at, scale_at] = match when {
        When::Start => [node::PREDICTED_FRAME, node::PREV_SCALE],
        When::Now => [node::FRAME, node::SCALE],
    };
    let row = group.row(index);
    let (frame, scale) = (Quaternion::load(lanes, row, frame_at), lanes.load(&row[scale_at]));
    let [uu, vv, uv, ww] = each!(k in 0..4 => {
        let at = [rest::INERTIA_U, rest::INERTIA_V, rest::INERTIA_UV, rest::INERTIA_W][k];
        unpadded(lanes, group, index, at) * (scale * scale)
    });
    Sym3::from_axes(frame.axes(lanes), uu, vv, uv, ww)
}

/// The spin that has an angular momentum, Ω = (I² + (slender·tr I)²)⁻¹ I L, see [`rigid_motion`]; no inertia gives no spin.
#[inline(always)]
pub(super) fn spin_of<L: Lanes>(lanes: L, mut inertia: Mat3<L::V>, angular: V3<L::V>, slender: L::V) -> V3<L::V> {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let trace = inertia[0][0] + inertia[1][1] + inertia[2][2];
    let inv_trace = one / zero.where_less(trace, trace, one);
    unrolled!(for i in 0..3 {
        for k in 0..=i {
            inertia[i][k] = inertia[i][k] * inv_trace;
            inertia[k][i] = inertia[i][k];
        }
    });
    let angular = angular * inv_trace;
    let [a, b, c] = inertia;
    let (a, b, c) = (V3(a), V3(b), V3(c));
    let rhs = V3([a.dot(angular), b.dot(angular), c.dot(angular)]);
    let least = slender * slender;

    // LDLᵀ; every pivot is at least slender² but for rounding.
    let d0 = one / (a.dot(a) + least);
    let (l10, l20) = (b.dot(a) * d0, c.dot(a) * d0);
    let d1 = one / (b.dot(b) + least - l10 * b.dot(a)).max(least);
    let m21 = c.dot(b) - l20 * b.dot(a);
    let l21 = m21 * d1;
    let d2 = one / (c.dot(c) + least - l20 * c.dot(a) - l21 * m21).max(least);
    let [x, y, z] = rhs.0;
    let y = y - l10 * x;
    let z = z - l20 * x - l21 * y;
    let z = z * d2;
    let y = y * d1 - l21 * z;
    let x = x * d0 - l10 * y - l20 * z;
    V3([x, y, z])
}

/// What counts as motion within a chain, see [`SLENDER`], where its sections spin with it: little over the √ε of its inertia's trace below
/// which rounding of the square leaves nothing.
pub const SLENDEREST: f32 = 5.0e-4;

/// As [`SLENDER`], of what a calm substep took: by it thrice, what has a share λ of the inertia's trace about its length is given
/// 1 − (1 + λ²/s²)⁻³ of that about it; a straight rod of ten radii nine tenths, one of fifty next to nothing.
pub const SLENDER_KEPT: f32 = 0.025;

/// Of a calm substep, the most that is given back over what the chain had.
pub const MOST_KEPT: f32 = 0.1;

/// The spin of a section in one frame that has the angular momentum that it has by a spin in another, I = ½I_w(1 + wwᵀ): of one that is
/// not round, that of a round one.
#[inline(always)]
pub(super) fn carried_over<L: Lanes>(lanes: L, [before, after]: [&Quaternion<L::V>; 2], spin: V3<L::V>) -> V3<L::V> {
    let ([.., before], [.., after]) = (before.axes(lanes), after.axes(lanes));
    let momentum = spin + before * before.dot(spin);
    momentum - after * (after.dot(momentum) * lanes.splat(0.5))
}

/// Slows what moves within flagged chains, which were led astray, by the energy that it costs to have them spin `faster`, or a share of
/// that where there is not enough: they may have lost less energy than spin. That share.
#[inline(always)]
fn pay_for<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, body: &Body<L::V>, faster: V3<L::V>, flag: L::V) -> L::V {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let spin = spin_of(lanes, body.inertia, body.angular, lanes.splat(SLENDEREST));
    let rigid = RigidMotion { centre: body.centre, velocity: body.velocity, spin };
    // Twice the energies (J).
    let costs = faster.dot(body.with_spin(spin + spin + faster));
    let mut within = zero;
    for index in 0..group.rest.node_count {
        let (row, m) = (group.row(index), unpadded(lanes, group, index, rest::MASS));
        let [velocity, spin] = rigid.within(lanes, row);
        let of_section = inertia_of_section(lanes, group, index, When::Now).apply(spin);
        within = within + (velocity.dot(velocity) * m + spin.dot(of_section));
    }
    // Costs are convex in the share, and 0 of none: a share costs no more than that share of all.
    let share = within.where_less(costs, within / costs.max(lanes.splat(LEAST_DIVISOR)), one);
    let slowed = (one - costs * share / within.max(lanes.splat(LEAST_DIVISOR))).clamp(zero, one).sqrt();
    for index in 0..group.rest.node_count {
        let there = unpadded_flag(lanes, group, index, flag);
        let row = group.row_mut(index);
        let [velocity, spin] = rigid.within(lanes, row);
        add(lanes, row, node::VELOCITY, velocity * (slowed - one), there);
        add(lanes, row, node::SPIN, spin * (slowed - one), there);
    }
    lanes.splat(0.5).where_less(flag, share, one)
}

/// How much momentum chains have.
pub(super) struct Momenta<V> {
    /// Momentum over mass: the velocity of their centres (m/s).
    velocity: V3<V>,
    /// Angular momentum about these (kg·m²/s).
    angular: V3<V>,
}

/// That of chains at the substep's start, as they were predicted to go on.
#[inline(always)]
pub(super) fn momenta_before<L: Lanes>(lanes: L, group: &Group<L::Scalar>) -> Momenta<L::V> {
    let Body { velocity, angular, .. } = Body::in_motion(lanes, group, When::Start);
    Momenta { velocity, angular }
}

/// Gives free chains that nothing presses the momentum and angular momentum that they had, as rigid bodies. Of what went as it should,
/// what has next to no inertia as one goes to its sections, as long as these spin slower than the whole would by all that it has:
/// damping within a chain that whirls takes them no farther, and beyond they would have more energy than the whirl.
#[inline(always)]
pub(super) fn keep_momenta<L: Lanes>(
    lanes: L,
    params: &StepParams,
    group: &mut Group<L::Scalar>,
    before: &Momenta<L::V>,
) {
    let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
    let (none, had) = (V3([zero; 3]), before.angular);
    let free = lanes.load(&group.inputs[input::HANGS]).where_less(half, one, zero);
    let rough = lanes.load(&group.chains[chain::ROUGH]);
    let meets = lanes.load(&group.chains[chain::MEETS]);
    let mut pressed = meets.max(second_order(lanes, params, group) * (one - rough));
    for row in group.contacts.chunks_exact(contact::ENTRIES) {
        // With what force what may be reached presses is not known of a chain that was led astray.
        let reaches = lanes.at(row, contact::STIFFNESS) * rough;
        let force = lanes.at(row, contact::DUAL).max(lanes.at(row, contact::BOUNCE));
        pressed = zero.where_less(force.max(reaches), one, pressed);
    }
    let keeps = half.where_less(pressed, zero, free);
    if !lanes.any(keeps) {
        return;
    }
    let body = Body::of(lanes, group);
    let velocity = before.velocity - body.velocity;
    let all_missing = had - body.angular;
    // Over the inertia, so that lengths of chains of any size are numbers.
    let [[xx, ..], [_, yy, _], [.., zz]] = body.inertia;
    let trace = xx + yy + zz;
    let per_inertia = one / zero.where_less(trace, trace, one);
    let most = ((had * per_inertia).length() * lanes.splat(MOST_KEPT)).max(lanes.splat(LEAST_DIVISOR));
    let share = most / (all_missing * per_inertia).length().max(most);
    let mut left = all_missing * half.where_less(rough, one, share);
    let slender = half.where_less(rough, lanes.splat(SLENDER), lanes.splat(SLENDER_KEPT));
    let mut spin = none;
    unrolled!(for _again in 0..3 {
        let more = spin_of(lanes, body.inertia, left, slender);
        spin = spin + more;
        left = left - body.with_spin(more);
    });
    let astray = rough.min(keeps);
    if lanes.any(astray) {
        spin = spin * apart!(lanes, pay_for(lanes, group, &body, spin, astray));
    }
    RigidMotion { centre: body.centre, velocity, spin }.add_to(lanes, group, one, keeps);

    let (mut of_sections, mut spins, mut weight) = ([[zero; 3]; 3], none, zero);
    for index in 0..group.rest.node_count {
        let (own, polar) =
            (inertia_of_section(lanes, group, index, When::Now), unpadded(lanes, group, index, rest::INERTIA_W));
        for i in 0..3 {
            for k in 0..=i {
                of_sections[i][k] = of_sections[i][k] + own.get(i, k);
            }
        }
        spins = spins + V3::load(lanes, group.row(index), node::SPIN) * polar;
        weight = weight + polar;
    }
    let rolls = spin_of(lanes, of_sections, left * (one - rough), lanes.splat(SLENDER));
    // By how much the whole would spin faster by all that it has than they do in the mean.
    let mean = spins * (one / zero.where_less(weight, weight, one));
    let behind = spin_of(lanes, body.inertia, had - body.with_spin(mean), lanes.splat(SLENDEREST));
    let rolls_by = (behind.dot(rolls) / rolls.dot(rolls).max(lanes.splat(LEAST_DIVISOR))).clamp(zero, one);
    for index in 0..group.rest.node_count {
        let there = unpadded_flag(lanes, group, index, keeps);
        add(lanes, group.row_mut(index), node::SPIN, rolls * rolls_by, there);
    }
}
