//! Stage `solve_contacts`: which half-spaces the nodes' spheres touch in this substep, how hard, and how much friction that
//! allows; its twin is `shaders/solve_contacts.wgsl`.
//!
//! What it finds are contact rows ([`contact`]) for the next solve: for each node one of each half-space, then those of the planes
//! that are tangent to solids there. Penalties are stiff against the node's own inertia, k = β·m/h²: a node carrying the weight of
//! n nodes sinks by n·g·h²/β.
//!
//! Friction is Coulomb's as elastic and perfectly plastic contact has it: a spring of the same stiffness up to the limit μλ, the
//! limit from there. Only the normal force λ is lagged: it is the one with which the last solve pressed. The spring's anchor is
//! where it goes on pulling as it did in the last substep, so that what sticks does not creep. The solve takes each row either
//! as sticking, by the spring, or as slipping, by the limit, which has no stiffness along the pull: the exact Newton step on
//! either side. On which side it begins is foreseen here: on the spring's where it stuck, and where the limit is enough to stop
//! the node alone; where that proves wrong, the chain is solved again. Where chains meet others it begins there only where both
//! hold, or where the limit is enough many times over ([`AMPLE`]): of what has one of the two alone, where a hundred octopuses land,
//! three of four slip.
//!
//! What is pressed on by hundreds of times its weight, as flesh beneath a heap is, meets what is stiffer: so much that the force of
//! the last solve has it a hundredth of its radius deep ([`FIRM`]). A chain's own bones let in what was in them at rest, and what
//! is squeezed there keeps its scale.
//!
//! What comes at something with restitution is stopped first, which tells how heavy it is there: by what impulse it became how much
//! slower, the least of all substeps that it takes. Then a force throws it, of as much as has that mass leave e times as fast as it
//! came: it goes to where the nodes of the row are predicted to go, and the solve spreads it over what was stopped. So a rod that
//! lands on its end bounces as one that lands flat, as far as it is stiff against a substep. What comes at a surface reaches it within
//! a substep and is stopped in the next; what is soft, or meets a penalty that is no stiffer than [`STIFFEST`], later. An impulse of
//! all these substeps together, given back in one, would throw what is near the surface with the energy of what is not.
//!
//! A half-space moves through the frame as a rigid body does. How deep a node is inside is measured against where the
//! half-space was at the substep's start, and it is pushed out of that at [`RECOVERY_SPEED`], or with what bore it; of what the
//! half-space itself goes in the substep it is pushed out at once. Padding touches nothing.

use super::carry::carried;
use super::contact_rows::MOST_DUAL;
use super::group::{Group, falls, second_order, unpadded};
use super::holds::across;
use super::lanes::{Entry, Lane, Lanes, each};
use super::math::{LEAST_DIVISOR, Quaternion, V3};
use crate::layout::{chain, contact, node, plane, rest, tangent};
use crate::step::StepParams;

/// β: contact stiffness over m/h² (1). Lower sinks deeper; higher costs f32 digits.
pub const PENALTY: f32 = 1000.0;

/// The most that contact stiffness over mass is (1/s²), however short the substep: what lies under its own weight is
/// g/[`STIFFEST`] deep, a few units in the last place of a place within a metre.
pub const STIFFEST: f32 = 1.0e7;

/// How deep over its radius a node may come by itself at the speed that it has: a fast one meets more than [`STIFFEST`].
pub const STOPS: f32 = 0.05;

/// How stiff a surface is at least, over the force with which it pressed last over the radius: what a force that lasts presses on it is
/// a hundredth of its radius deep, up to [`FIRMEST`] times as stiff as by its mass.
pub const FIRM: f32 = 100.0;

/// How deep over its radius what a force presses on it counts as lying there, as does all that accelerates a node by less than
/// [`MOST_LOAD`]. What is deeper and pressed by more is squeezed between what moves: it meets nothing firmer, or the force that it takes to
/// squeeze it would grow with each substep.
pub const SQUEEZED: f32 = 0.1;

/// See [`SQUEEZED`] (m/s²): two thousand times a node's own weight.
pub const MOST_LOAD: f32 = 2.0e4;

/// How many times as stiff as by the chain's mass that is at most.
pub const FIRMEST: f32 = 1.0e4;

/// Which share of Coulomb's limit is below it.
pub const STICKING: f32 = 0.999;

/// How many times as much as it takes to stop a node alone the limit is at the least where what slipped among others, which push it
/// on, is foreseen to stick.
pub const AMPLE: f32 = 8.0;

/// How fast a node that is found inside a half-space is pushed out (m/s).
pub const RECOVERY_SPEED: f32 = 1.0;

/// How fast (m/s) what bounces is to come at least. Beside that, twice as fast as it falls in a substep: what rests comes by that.
pub const LEAST_BOUNCE: f32 = 0.01;

/// At which share of that, or of how fast it came, it is stopped.
pub const STILL_COMES: f32 = 0.1;

/// How long (s) it may take to stop what is to bounce, beside two substeps: what is pushed comes on.
pub const LONGEST_STOP: f32 = 0.0125;

/// Writes each node's row of each half-space, and the rows of what solids' tangent planes touch.
#[inline(always)]
pub fn solve_contacts<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>)
where
    L::Scalar: Into<f64>,
{
    let planes = group.planes.len() / plane::ENTRIES;
    let mut tangents = group.tangents.chunks_exact(tangent::ENTRIES).peekable();
    if planes == 0 && tangents.peek().is_none() {
        return;
    }
    let (alpha, share) = (params.alpha, params.substep_share());
    let mut slot = 0;
    for index in 0..group.rest.node_count {
        let node = Point::of_node(lanes, group, index);
        for row in group.planes.chunks_exact(plane::ENTRIES) {
            let there = Surface::between(lanes, row, [alpha - share, alpha], share);
            write_row(lanes, params, group, slot, (index, &node), &there);
            slot += 1;
        }
        while let Some(row) = tangents.next_if(|row| row[tangent::SEGMENT][0].into() as usize == index) {
            let plane = Surface::between(lanes, &row[tangent::PLANE..], [0.0, 1.0], 1.0);
            let there = Surface {
                dents: lanes.load(&row[tangent::DENTS]),
                allowed: lanes.load(&row[tangent::ALLOWED]),
                own: lanes.load(&row[tangent::OWN]),
                ..plane
            };
            let shared = lanes.load(&row[tangent::SHARE]);
            let along = lanes.load(&row[tangent::ALONG]);
            let touching = if lanes.any(lanes.splat(0.0).where_less(along, lanes.splat(1.0), lanes.splat(0.0))) {
                let next = Point::of_node(lanes, group, (index + 1).min(group.rest.node_count - 1));
                Point::between(lanes, [&node, &next], along)
            } else {
                node
            };
            write_row(lanes, params, group, slot, (index, &touching.shared(shared)), &there);
            slot += 1;
        }
    }
}

/// A point of a chain's axis in a substep: a node, or between two.
#[derive(Clone, Copy)]
struct Point<V> {
    /// Where on its segment.
    along: V,
    /// Its place at the substep's start (m).
    start: V3<V>,
    /// How far it has gone since (m).
    moved: V3<V>,
    /// How far it would go (m).
    predicted: V3<V>,
    /// Its velocity at the start (m/s).
    velocity: V3<V>,
    /// How far it would turn (rad).
    turned: V3<V>,
    /// The rod's direction at the start.
    axis: V3<V>,
    rest_radius: V,
    prev_radius: V,
    radius: V,
    /// The radius of which it obeys its bones (m).
    obeyed_radius: V,
    /// How much of that may be dented (m): all of it where it is not held.
    yields: V,
    /// Which share of it bones hold or carry wherever they go.
    obeys: V,
    /// Where they carry it (m).
    carried: V3<V>,
    mass: V,
    /// One over its inertia about the axis (1/(kg·m²)), 0 where it does not turn.
    inv_inertia: V,
    /// The mass that its stiffness goes by (kg); 0 where nothing is there to touch.
    weight: V,
}

impl<V: Lane> Point<V> {
    #[inline(always)]
    fn of_node<L: Lanes<V = V>>(lanes: L, group: &Group<L::Scalar>, index: usize) -> Self
    where
        L::Scalar: Into<f64>,
    {
        let one = lanes.splat(1.0);
        let least = lanes.splat(f32::MIN_POSITIVE);
        let rest_row = group.rest.row(index);
        let row = group.row(index);
        let start = V3::load(lanes, row, node::PREV_PLACE);
        let prev_frame = Quaternion::load(lanes, row, node::PREV_FRAME);
        let rest_radius = lanes.load(&rest_row[rest::RADIUS]);
        let prev_radius = rest_radius * lanes.load(&row[node::PREV_SCALE]);
        // What bones hold, and flesh between two held ends, goes where they carry it, into the solid too.
        let held = one - lanes.load(&rest_row[rest::FREE_PLACE]);
        let mut carried_place = start;
        if group.rest.carried[index] {
            carried_place = carried(lanes, group.rest, &group.chains[chain::BONE_NOW..], index).0;
        }
        let mass = lanes.load(&rest_row[rest::MASS]).max(least);
        Self {
            along: lanes.splat(0.0),
            start,
            moved: V3::load(lanes, row, node::MOVED),
            predicted: V3::load(lanes, row, node::PREDICTED_MOVE),
            velocity: V3::load(lanes, row, node::OLDER_VELOCITY),
            turned: prev_frame.turn_on(lanes, Quaternion::load(lanes, row, node::PREDICTED_FRAME)),
            axis: prev_frame.axes(lanes)[2],
            rest_radius,
            prev_radius,
            radius: rest_radius * lanes.load(&row[node::SCALE]),
            // What swells is pushed out, but where it is held.
            obeyed_radius: rest_radius + (prev_radius - rest_radius) * held,
            yields: rest_radius * (one - held),
            obeys: held.max(lanes.load(&rest_row[rest::CARRIED])),
            carried: carried_place,
            mass,
            inv_inertia: lanes.load(&rest_row[rest::FREE_FRAME]) / lanes.load(&rest_row[rest::INERTIA_W]).max(least),
            weight: unpadded(lanes, group, index, rest::MASS),
        }
    }

    /// Its stiffness (N/m) against what it goes towards by so much in the substep (m).
    #[inline(always)]
    fn contact_stiffness<L: Lanes<V = V>>(&self, lanes: L, params: &StepParams, goes: V) -> V {
        let inv_h = lanes.splat(params.inv_h);
        let speed = goes.max(lanes.splat(0.0)) * inv_h;
        let rate = speed / (self.prev_radius * lanes.splat(STOPS)).max(lanes.splat(f32::MIN_POSITIVE));
        let most = lanes.splat(STIFFEST).max(rate * rate);
        (lanes.splat(PENALTY) * inv_h * inv_h).min(most) * self.weight
    }

    /// Between two nodes: what it weighs is what a force there moves.
    #[inline(always)]
    fn between<L: Lanes<V = V>>(lanes: L, [a, b]: [&Self; 2], along: V) -> Self {
        let one = lanes.splat(1.0);
        let least = lanes.splat(f32::MIN_POSITIVE);
        let mix = |a: V, b: V| a + (b - a) * along;
        let mix3 = |a: V3<V>, b: V3<V>| a + (b - a) * along;
        let (first, second) = ((one - along) * (one - along), along * along);
        let together = |a: V, b: V| one / (first / a.max(least) + second / b.max(least)).max(least);
        Self {
            along,
            start: mix3(a.start, b.start),
            moved: mix3(a.moved, b.moved),
            predicted: mix3(a.predicted, b.predicted),
            velocity: mix3(a.velocity, b.velocity),
            turned: mix3(a.turned, b.turned),
            axis: a.axis,
            rest_radius: mix(a.rest_radius, b.rest_radius),
            prev_radius: mix(a.prev_radius, b.prev_radius),
            radius: mix(a.radius, b.radius),
            obeyed_radius: mix(a.obeyed_radius, b.obeyed_radius),
            yields: mix(a.yields, b.yields),
            obeys: mix(a.obeys, b.obeys),
            carried: mix3(a.carried, b.carried),
            mass: together(a.mass, b.mass),
            inv_inertia: mix(a.inv_inertia, b.inv_inertia),
            weight: together(a.weight, b.weight),
        }
    }

    /// It with a share of its weight against what it touches.
    #[inline(always)]
    fn shared(self, share: V) -> Self {
        Self { weight: self.weight * share, ..self }
    }

    /// What its surface weighs (kg) against a force across a normal, along a way: it turns about the rod's axis too.
    #[inline(always)]
    fn inertia<L: Lanes<V = V>>(&self, lanes: L, normal: V3<V>, way: V3<V>) -> V {
        let about_axis = self.prev_radius * normal.cross(way.direction(lanes)).dot(self.axis);
        self.mass / (lanes.splat(1.0) + about_axis * about_axis * self.inv_inertia * self.mass)
    }
}

/// Writes the row in a slot of what a point on a segment touches.
#[inline(always)]
fn write_row<L: Lanes>(
    lanes: L,
    params: &StepParams,
    group: &mut Group<L::Scalar>,
    slot: usize,
    (segment, point): (usize, &Point<L::V>),
    there: &Surface<L::V>,
) {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let inv_step = lanes.splat(params.inv_h) * (one + second_order(lanes, params, group) * lanes.splat(0.5));
    let Point { start, moved, prev_radius, .. } = *point;
    let normal = there.later.normal;
    let obeyed_radius = point.obeyed_radius - point.yields * there.dents;
    let carried = (there.later.distance(point.carried) - obeyed_radius).min(zero) * point.obeys;
    let other = one - there.own;
    let allowed = carried * other + there.allowed;
    let was = there.earlier.distance(start) - prev_radius - allowed;
    let gap = there.later.distance(start) - prev_radius - allowed;
    let now = gap + (normal.dot(moved) - (point.radius - prev_radius));

    // What may reach it in this substep is told now.
    let approach = now - was;
    let reach = was.min(now).min(now + approach).min(gap + normal.dot(point.predicted));

    // As if the point were part of it: what is carried turns with it.
    let slide = across(there.sweep(lanes, start - normal * prev_radius), normal);
    let foreseen = across(point.predicted, normal) + normal.cross(point.turned) * prev_radius - slide;
    let meets = lanes.load(&group.chains[chain::MEETS]);
    let fall = falls(lanes, params, group);
    let least = (fall.length() * lanes.splat(2.0 * params.h)).max(lanes.splat(LEAST_BOUNCE));
    let row = &mut group.contacts[slot * contact::ENTRIES..][..contact::ENTRIES];
    let dual = lanes.load(&row[contact::DUAL]);
    // What threw in the last substep is over.
    let thrown = if params.iteration == 0 { lanes.load(&row[contact::BOUNCE]).max(zero) } else { zero };
    let lasting = dual - thrown;
    let by_mass = point.contact_stiffness(lanes, params, was - gap - normal.dot(point.predicted));
    let last = lanes.load(&row[contact::STIFFNESS]);
    // Later solves of the substep have at least the same, where it pressed.
    let by_force = if params.iteration == 0 { firmness(lanes, [lasting, last], point) } else { last };
    let stiffness = by_mass.max(by_force.min(by_mass * lanes.splat(FIRMEST)));
    // As fast as the surface goes against how fast it comes itself.
    let comes = (was - gap) * lanes.splat(params.inv_h) - normal.dot(point.velocity);
    // In a short substep too it bears what it bore: but for what it took to stop it. Later solves go on from there.
    let slowed = (lanes.load(&row[contact::COMES]) - comes).max(zero);
    let bore = (lasting - slowed * (point.weight * lanes.splat(params.h_over_last_h * params.inv_h))).max(zero);
    let borne = (bore / stiffness.max(lanes.splat(f32::MIN_POSITIVE))).min(prev_radius * lanes.splat(1.0 / FIRM));
    let kept = (was + borne.max(lanes.splat(RECOVERY_SPEED * params.h))).min(zero);
    let begins = gap - kept;
    let begins =
        if params.iteration == 0 { begins } else { zero.where_less(last, lanes.load(&row[contact::GAP]), begins) };
    if params.iteration == 0 {
        stop_or_throw(lanes, params, row, there.restitution, [comes, least, was, zero - normal.dot(fall)]);
    }
    let bounce = lanes.load(&row[contact::BOUNCE]).max(zero);
    let pressing = reach.min(zero - bounce).where_less(zero, stiffness, zero);
    let tangent = across(V3::load(lanes, row, contact::TANGENT), normal);
    let pulled = tangent.dot(tangent).sqrt();
    let stuck = pulled.where_less(lanes.load(&row[contact::LIMIT]) * lanes.splat(STICKING), one, zero);
    let limit = (there.friction * (zero.where_less(lasting, lasting, zero) + bounce)).min(lanes.splat(MOST_DUAL));
    let inertia = point.inertia(lanes, normal, foreseen);
    let takes = foreseen.dot(foreseen).sqrt() * inertia * inv_step * inv_step;
    let least = lanes.splat(LEAST_DIVISOR);
    let holds = limit.min(pulled) / pulled.max(least) / stiffness.max(least);
    let goes_on = zero.where_less(stiffness, holds, zero);
    let (anchor, sticks) = if params.iteration == 0 {
        (slide + tangent * goes_on, foreseen_to_stick(lanes, stuck, [takes, limit], meets))
    } else {
        (V3::load(lanes, row, contact::ANCHOR), zero)
    };

    lanes.store(lanes.splat(segment as f32), &mut row[contact::SEGMENT]);
    lanes.store(point.along, &mut row[contact::ALONG]);
    normal.store(lanes, row, contact::DIRECTION);
    lanes.store(point.rest_radius * other, &mut row[contact::SCALE_TERM]);
    lanes.store(begins, &mut row[contact::GAP]);
    lanes.store(pressing, &mut row[contact::STIFFNESS]);
    lanes.store(prev_radius, &mut row[contact::ARM]);
    lanes.store(pressing, &mut row[contact::FRICTION]);
    lanes.store(limit, &mut row[contact::LIMIT]);
    lanes.store(sticks, &mut row[contact::STICKS]);
    let stays = zero.where_less(lasting.min(pressing), meets, zero);
    lanes.store(zero.where_less(bounce, zero - one, stays), &mut row[contact::STAYS]);
    anchor.store(lanes, row, contact::ANCHOR);
    // What does not press remembers nothing: the solve passes over it.
    for entry in &mut row[contact::DUAL..contact::TANGENT + 3] {
        lanes.store(zero.where_less(pressing, lanes.load(entry), zero), entry);
    }
    if params.iteration == 0 && lanes.any(zero.where_less(bounce, one, zero)) {
        throw(lanes, group, segment, (normal * bounce, point.along), one / inv_step);
    }
}

/// How stiff a surface is that a point pressed with such a force (N) where it was as stiff as that: what lies there has it firmer, what is
/// squeezed there not.
#[inline(always)]
fn firmness<L: Lanes>(lanes: L, [lasting, last]: [L::V; 2], point: &Point<L::V>) -> L::V {
    let radius = point.prev_radius;
    let firm = lasting * lanes.splat(FIRM) / radius.max(lanes.splat(f32::MIN_POSITIVE));
    let lies = (last * radius * lanes.splat(SQUEEZED)).max(point.weight * lanes.splat(MOST_LOAD));
    lasting.where_less(lies, firm, last)
}

/// Flags what is foreseen to stick, given whether it stuck, how much it takes to stop the node alone (N) and Coulomb's limit (N), and
/// whether its chain meets others.
#[inline(always)]
fn foreseen_to_stick<L: Lanes>(lanes: L, stuck: L::V, [takes, limit]: [L::V; 2], meets: L::V) -> L::V {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let stops = takes.where_less(limit, one, zero);
    let amply = (takes * lanes.splat(AMPLE)).where_less(limit, one, zero);
    let foreseen = lanes.splat(0.5).where_less(meets, stops.min(stuck.max(amply)), stops.max(stuck));
    zero.where_less(limit, foreseen, zero)
}

/// How heavy what comes at a row is, as that stops it, and once it has, with what force it throws it (N): so that it leaves as fast
/// as it came, by restitution. Given how fast it comes, is to come at least (m/s), is away (m), and falls (m/s²).
#[inline(always)]
fn stop_or_throw<L: Lanes>(
    lanes: L,
    params: &StepParams,
    row: &mut [Entry<L::Scalar>],
    restitution: L::V,
    [comes, least, away, falls]: [L::V; 4],
) {
    let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
    let came_before = lanes.load(&row[contact::COMES]);
    lanes.store(comes, &mut row[contact::COMES]);
    if params.bounces == 0 {
        lanes.store(zero, &mut row[contact::BOUNCE]);
        return;
    }
    let last_h = lanes.splat(params.h / params.h_over_last_h);
    let impulse = lanes.load(&row[contact::DUAL]) * last_h;
    // For how long it has been stopped: what did not press, not at all.
    let stopped = zero.where_less(impulse, zero - lanes.load(&row[contact::BOUNCE]), zero).max(zero);
    let slowed = came_before - comes + falls * last_h;
    let weighs = zero.where_less(slowed, impulse / slowed.max(lanes.splat(f32::MIN_POSITIVE)), zero);
    let weighed = lanes.load(&row[contact::MASS]);
    let least_mass = zero.where_less(weighed.min(weighs), weighed.min(weighs), weighed.max(weighs));
    let mass = zero.where_less(stopped, least_mass.min(lanes.splat(MOST_DUAL)), zero);
    // It falls on until it is there.
    let after = (away / comes.max(lanes.splat(f32::MIN_POSITIVE))).clamp(zero, lanes.splat(params.h));
    let came = zero.where_less(stopped, lanes.load(&row[contact::CAME]), comes + falls * after);

    let enough = zero.where_less(stopped, least.max(came) * lanes.splat(STILL_COMES), least);
    let in_time = stopped.where_less(lanes.splat(LONGEST_STOP.max(1.5 * params.h)), one, zero);
    let comes_on = enough.where_less(comes, restitution, zero);
    let leaves = zero.where_less(comes_on, zero, (restitution * came + comes).max(zero));
    let bounces = zero.where_less(restitution, one, zero);
    let throws = (mass * leaves * bounces * lanes.splat(params.inv_h)).min(lanes.splat(MOST_DUAL));
    let comes_on = zero.where_less(comes_on, in_time, zero);
    let stopped = stopped + lanes.splat(params.h);
    lanes.store(half.where_less(comes_on, zero - stopped, throws), &mut row[contact::BOUNCE]);
    lanes.store(mass * bounces, &mut row[contact::MASS]);
    lanes.store(came * bounces, &mut row[contact::CAME]);
}

/// Adds to what a segment's nodes are predicted to go what a force on a point of it (N) makes of it in a step of so long (s).
#[inline(always)]
fn throw<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    segment: usize,
    (force, along): (V3<L::V>, L::V),
    step: L::V,
) {
    let one = lanes.splat(1.0);
    let nodes = [segment, (segment + 1).min(group.rest.node_count - 1)];
    for (index, share) in nodes.into_iter().zip([one - along, along]) {
        let mass = unpadded(lanes, group, index, rest::MASS).max(lanes.splat(f32::MIN_POSITIVE));
        let gained = force * (share * lanes.load(&group.rest.row(index)[rest::FREE_PLACE]) * step / mass);
        let row = group.row_mut(index);
        (V3::load(lanes, row, node::VELOCITY) + gained).store(lanes, row, node::VELOCITY);
        (V3::load(lanes, row, node::PREDICTED_MOVE) + gained * step).store(lanes, row, node::PREDICTED_MOVE);
    }
}

/// A half-space's plane as the chain sees it.
struct Plane<V> {
    normal: V3<V>,
    offset: V,
}

impl<V: Lane> Plane<V> {
    #[inline(always)]
    fn distance(&self, point: V3<V>) -> V {
        self.normal.dot(point) - self.offset
    }
}

/// A half-space in a substep.
struct Surface<V> {
    /// At the substep's start.
    earlier: Plane<V>,
    /// At its end.
    later: Plane<V>,
    friction: V,
    restitution: V,
    /// By which share of its radius it dents flesh that its bones carry into it.
    dents: V,
    /// How far what touches may be from it beside that (m), at most 0.
    allowed: V,
    /// 1 where it is a bone of the chain's own, else 0.
    own: V,
    /// How far it goes in the substep at the chain's origin (m).
    goes: V3<V>,
    /// By how much it turns (rad).
    turns: V3<V>,
}

impl<V: Lane> Surface<V> {
    /// Between two shares of the way that a plane row has it go; `share` is the one between.
    #[inline(always)]
    fn between<L: Lanes<V = V>>(lanes: L, row: &[Entry<L::Scalar>], [start, end]: [f32; 2], share: f32) -> Self {
        let (from, to) = (V3::load(lanes, row, plane::NORMAL_FROM), V3::load(lanes, row, plane::NORMAL_TO));
        let (offset_from, offset_to) = (lanes.load(&row[plane::OFFSET_FROM]), lanes.load(&row[plane::OFFSET_TO]));
        let [earlier, later] = each!(of in 0..2 => {
            let alpha = lanes.splat([start, end][of]);
            let normal = from + (to - from) * alpha;
            // A lane without a chain has none.
            let inv_length = lanes.splat(1.0) / normal.dot(normal).max(lanes.splat(f32::MIN_POSITIVE)).sqrt();
            Plane {
                normal: normal * inv_length,
                offset: (offset_from + (offset_to - offset_from) * alpha) * inv_length,
            }
        });
        let share = lanes.splat(share);
        Self {
            earlier,
            later,
            friction: lanes.load(&row[plane::FRICTION]),
            restitution: lanes.load(&row[plane::RESTITUTION]),
            dents: lanes.splat(0.0),
            allowed: lanes.splat(0.0),
            own: lanes.splat(0.0),
            goes: V3::load(lanes, row, plane::MOVE) * share,
            turns: V3::load(lanes, row, plane::TURN) * share,
        }
    }

    /// How far its surface goes in the substep at a point (m), along the arc's chord to the second order.
    #[inline(always)]
    fn sweep<L: Lanes<V = V>>(&self, lanes: L, point: V3<V>) -> V3<V> {
        let straight = self.goes + self.turns.cross(point);
        straight + self.turns.cross(straight) * lanes.splat(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::lanes::OneF32;

    /// What lies on a node has it a hundredth of its radius deep. Of what is pushed a third of its radius in, by what does not give way,
    /// the surface is as firm as it was: firmer, it would be pressed with as much more, and firmer yet in each substep.
    #[test]
    fn surfaces_get_no_firmer_for_what_is_squeezed() {
        let zero = V3([0.0; 3]);
        let (mass, radius) = (0.1_f32, 0.03_f32);
        let point = Point {
            along: 0.0,
            start: zero,
            moved: zero,
            predicted: zero,
            velocity: zero,
            turned: zero,
            axis: zero,
            rest_radius: radius,
            prev_radius: radius,
            radius,
            obeyed_radius: radius,
            yields: 0.0,
            obeys: 0.0,
            carried: zero,
            mass,
            inv_inertia: 0.0,
            weight: mass,
        };
        let firmness = |force: f32, last: f32| firmness(OneF32(0), [force, last], &point);
        let by_mass = STIFFEST * mass;
        for weights in [10.0, 300.0, 1000.0] {
            let force = weights * mass * 9.81;
            let depth = force / firmness(force, by_mass);
            assert!((depth / (0.01 * radius) - 1.0).abs() < 1.0e-5, "{weights}: {depth}");
        }
        let mut stiffness = by_mass;
        for _ in 0..10 {
            stiffness = by_mass.max(firmness(stiffness * 0.3 * radius, stiffness));
        }
        assert_eq!(stiffness, by_mass);
        // Once it lies there with less it is less firm.
        assert!(firmness(1.0, 100.0 * by_mass) < by_mass);
    }

    #[test]
    fn what_slips_among_others_is_foreseen_to_slip_on() {
        let sticks = |stuck: bool, takes: f32, meets: bool| {
            let [stuck, meets] = [stuck, meets].map(|flag| f32::from(u8::from(flag)));
            foreseen_to_stick(OneF32(0), stuck, [takes, 1.0], meets) > 0.5
        };
        for stuck in [false, true] {
            assert!(sticks(stuck, 0.5, false) && sticks(stuck, 0.1, true), "the limit is enough");
            assert_eq!(sticks(stuck, 0.5, true), stuck, "what slipped is pushed on");
            assert_eq!(sticks(stuck, 2.0, false), stuck, "a chain alone holds what it held");
            assert!(!sticks(stuck, 2.0, true), "more than the limit holds");
        }
        assert_eq!(foreseen_to_stick(OneF32(0), 1.0, [0.0, 0.0], 0.0), 0.0, "nothing holds what nothing presses");
    }
}
