//! What touches a chain, as the solve sees it: a list of rows ([`contact`]) that says nothing of what they come from; its twin
//! is `shaders/bindings/contact_rows.wgsl`.
//!
//! `solve_contacts` writes them; the solve adds their terms, reckons what they store, and leaves in each with what force it
//! pressed. At rest a distance is some 10⁻⁷ m, less than a place has digits for, so a row has the distance at the substep's
//! start, and the force is read from the step that the linear solve found, not from where it led.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::group::Group;
use super::holds::{Placed, across};
use super::lanes::{Entry, Lane, Lanes};
use super::math::V3;
use super::rod_energies::{Mat7, SegmentTerms, Vec7};
use crate::layout::{contact, node};

/// From which share on of what it was in the way of a contact counts as pulled open: a hundredth of the force with which a node
/// presses that only its weight moves.
pub const PULLED: f32 = 1.0e-5;

/// The largest force (N) that a row remembers.
pub const MOST_DUAL: f32 = 1.0e30;

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
    along: V,
    direction: V3<V>,
    scale_term: V,
    gap: V,
    stiffness: V,
    friction: V,
    slide: V3<V>,
}

/// How far a chain has gone since the substep's start where a row acts.
#[derive(Clone, Copy)]
pub struct Gone<V> {
    /// Its centre line (m).
    place: V3<V>,
    /// Its scale.
    scale: V,
}

impl<V: Lane> ContactRow<V> {
    /// Reads a row.
    #[inline(always)]
    pub fn load<L: Lanes<V = V>>(lanes: L, row: &[Entry<L::Scalar>]) -> Self
    where
        L::Scalar: Into<f64>,
    {
        Self {
            on_second: row[contact::ALONG].iter().any(|&along| along.into() > 0.0),
            along: lanes.load(&row[contact::ALONG]),
            direction: V3::load(lanes, row, contact::DIRECTION),
            scale_term: lanes.load(&row[contact::SCALE_TERM]),
            gap: lanes.load(&row[contact::GAP]),
            stiffness: lanes.load(&row[contact::STIFFNESS]),
            friction: lanes.load(&row[contact::FRICTION]),
            slide: V3::load(lanes, row, contact::SLIDE),
        }
    }

    /// How far the chain has gone there, given its nodes around it and where these are.
    #[inline(always)]
    pub fn gone<L: Lanes<V = V>>(&self, lanes: L, rows: [&[Entry<L::Scalar>]; 2], [a, b]: [&Placed<V>; 2]) -> Gone<V> {
        let scaled = |row: &[Entry<L::Scalar>], at: &Placed<V>| at.scale - lanes.load(&row[node::PREV_SCALE]);
        let (first, second) = (scaled(rows[0], a), scaled(rows[1], b));
        Gone { place: a.moved + (b.moved - a.moved) * self.along, scale: first + (second - first) * self.along }
    }

    /// The distance (m), negative inside.
    #[inline(always)]
    pub fn distance(&self, gone: &Gone<V>) -> V {
        self.gap + (self.direction.dot(gone.place) - self.scale_term * gone.scale)
    }

    /// How far the chain has slid on what it touches (m).
    #[inline(always)]
    fn slid(&self, gone: &Gone<V>) -> V3<V> {
        across(gone.place, self.direction) - self.slide
    }

    /// ½k·min(g, 0)², and friction's ½k_t|slid|² (J).
    #[inline(always)]
    pub fn potential<L: Lanes<V = V>>(&self, lanes: L, gone: &Gone<V>) -> V {
        let depth = self.distance(gone).min(lanes.splat(0.0));
        let slid = self.slid(gone);
        lanes.splat(0.5) * (self.stiffness * depth * depth + self.friction * slid.dot(slid))
    }

    /// With what force it presses (N) once the nodes around it have stepped by `delta`, and a flag where it is pulled open,
    /// which no contact holds back; `in_the_way` is how deep it was in the way before, see [`Self::in_the_way`].
    #[inline(always)]
    pub fn pressed_by<L: Lanes<V = V>>(&self, lanes: L, in_the_way: V, [a, b]: [&Vec7<V>; 2]) -> [V; 2] {
        let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
        let step = |k: usize| a[k] + (b[k] - a[k]) * self.along;
        let left = in_the_way - (self.direction.dot(V3([step(0), step(1), step(2)])) - self.scale_term * step(3));
        // What is no number does not press.
        let force = zero.where_less(left, (self.stiffness * left).min(lanes.splat(MOST_DUAL)), zero);
        let open = left.where_less(zero - in_the_way * lanes.splat(PULLED), one, zero);
        [force, open].map(|value| zero.where_less(in_the_way, value, zero))
    }

    /// How deep it is in the way (m), 0 where it is not, or is not stiff.
    #[inline(always)]
    pub fn in_the_way<L: Lanes<V = V>>(&self, lanes: L, gone: &Gone<V>) -> V {
        let zero = lanes.splat(0.0);
        zero.where_less(self.stiffness, (zero - self.distance(gone)).max(zero), zero)
    }

    /// Adds its terms to the system of the node that begins its segment, and to those of the segment.
    ///
    /// With w the row's weight for a node, the node's unknowns (place, scale) have the block w²B and the gradient w·∇.
    #[inline(always)]
    pub fn add<L: Lanes<V = V>>(&self, lanes: L, gone: &Gone<V>, System { block, rhs, terms }: &mut System<V>) {
        let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
        let (d, friction, sigma) = (self.direction, self.friction, self.scale_term);
        let distance = self.distance(gone);
        let stiffness = distance.where_less(zero, self.stiffness, zero);
        let push = stiffness * distance;
        let slid = self.slid(gone);
        let mut both = [[zero; 4]; 4];
        let mut gradient = [zero; 4];
        for i in 0..3 {
            for k in 0..3 {
                both[i][k] = (stiffness - friction) * d.0[i] * d.0[k];
            }
            both[i][i] = both[i][i] + friction;
            both[3][i] = -(stiffness * sigma * d.0[i]);
            both[i][3] = both[3][i];
            gradient[i] = push * d.0[i] + friction * slid.0[i];
        }
        both[3][3] = stiffness * sigma * sigma;
        gradient[3] = -(push * sigma);

        let (first, second) = (one - self.along, self.along);
        let own = first * first;
        for i in 0..4 {
            rhs[i] = rhs[i] - first * gradient[i];
            for k in 0..=i {
                block[i][k] = block[i][k] + own * both[i][k];
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
        }
    }
}

/// The row in a slot, and which node begins its segment; `None` after the last.
#[inline(always)]
pub fn contact_row<T: Copy + Into<f64>>(contacts: &[Entry<T>], slot: usize) -> Option<(usize, &[Entry<T>])> {
    let row = contacts.get(slot * contact::ENTRIES..)?.get(..contact::ENTRIES)?;
    Some((row[contact::SEGMENT][0].into() as usize, row))
}

/// All rows, with the nodes that begin their segments.
#[inline(always)]
pub fn contact_rows<T: Copy + Into<f64>>(contacts: &[Entry<T>]) -> impl Iterator<Item = (usize, &[Entry<T>])> {
    (0..contacts.len() / contact::ENTRIES).filter_map(|slot| contact_row(contacts, slot))
}

/// Adds the rows from a slot on whose segment a node begins to its system, and notes in those of `solved` chains how deep they
/// are in the way; the first slot that is not one of them.
#[inline(always)]
pub fn add_contacts<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    index: usize,
    mut slot: usize,
    solved: L::V,
    system: &mut System<L::V>,
) -> usize
where
    L::Scalar: Into<f64>,
{
    while let Some((segment, row)) = contact_row(group.contacts, slot)
        && segment == index
    {
        let row = ContactRow::load(lanes, row);
        let gone = gone(lanes, group, &row, segment, |index| Placed::now(lanes, group.row(index)));
        row.add(lanes, &gone, system);
        let dual = &mut group.contacts[slot * contact::ENTRIES + contact::DUAL];
        lanes.store(solved.where_less(lanes.splat(0.5), lanes.load(dual), row.in_the_way(lanes, &gone)), dual);
        slot += 1;
    }
    slot
}

/// Leaves in the rows before a slot whose segment a node begins, of `solved` chains, with what force they press once it and the
/// next have stepped by `delta`; the last slot that is not one of them, and a flag where one is pulled open.
#[inline(always)]
pub fn press<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    index: usize,
    mut slot: usize,
    solved: L::V,
    delta: [&Vec7<L::V>; 2],
) -> (usize, L::V)
where
    L::Scalar: Into<f64>,
{
    let mut pulled = lanes.splat(0.0);
    while slot > 0
        && let Some((segment, row)) = contact_row(group.contacts, slot - 1)
        && segment == index
    {
        slot -= 1;
        let row = ContactRow::load(lanes, row);
        let dual = &mut group.contacts[slot * contact::ENTRIES + contact::DUAL];
        let [force, open] = row.pressed_by(lanes, lanes.load(dual), delta);
        pulled = pulled.max(open);
        lanes.store(solved.where_less(lanes.splat(0.5), lanes.load(dual), force), dual);
    }
    (slot, pulled)
}

/// What all rows store (J), the nodes being where `at` says.
#[inline(always)]
pub fn stored_by_contacts<L: Lanes>(lanes: L, group: &Group<L::Scalar>, at: impl Fn(usize) -> Placed<L::V>) -> L::V
where
    L::Scalar: Into<f64>,
{
    let mut stored = lanes.splat(0.0);
    for (segment, row) in contact_rows(group.contacts) {
        let row = ContactRow::load(lanes, row);
        stored = stored + row.potential(lanes, &gone(lanes, group, &row, segment, &at));
    }
    stored
}

#[inline(always)]
fn gone<L: Lanes>(
    lanes: L,
    group: &Group<L::Scalar>,
    row: &ContactRow<L::V>,
    segment: usize,
    at: impl Fn(usize) -> Placed<L::V>,
) -> Gone<L::V> {
    // After the last node there is none, and the row has no weight for it.
    let next = (segment + 1).min(group.rest.node_count - 1);
    row.gone(lanes, [group.row(segment), group.row(next)], [&at(segment), &at(next)])
}

/// The stiffness of all rows together (N/m).
#[inline(always)]
pub fn stiffness_of_contacts<L: Lanes>(lanes: L, group: &Group<L::Scalar>) -> L::V {
    let rows = group.contacts.chunks_exact(contact::ENTRIES);
    rows.fold(lanes.splat(0.0), |sum, row| sum + lanes.load(&row[contact::STIFFNESS]))
}
