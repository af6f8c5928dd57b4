//! The contact rows of a group as the solve walks them: in the order of their segments, forth as the system is set up and back as
//! it is solved; its twin is in `shaders/bindings/contact_rows.wgsl` and `shaders/solve_rods.wgsl`.

use super::contact_rows::{ContactRow, Gone, Pressed, System};
use super::group::Group;
use super::holds::Placed;
use super::lanes::{Entry, Lane, Lanes};
use super::math::V3;
use super::rod_energies::Vec7;
use crate::layout::{contact, solved};

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

/// Writes a row's dual and tangent in the lanes of `solved` chains, or of all.
#[inline(always)]
fn note<L: Lanes>(lanes: L, row: &mut [Entry<L::Scalar>], solved: Option<L::V>, dual: L::V, tangent: V3<L::V>) {
    let (half, solved) = (lanes.splat(0.5), solved.unwrap_or(lanes.splat(1.0)));
    let values = [dual, tangent.0[0], tangent.0[1], tangent.0[2]];
    for (entry, value) in row[contact::DUAL..contact::TANGENT + 3].iter_mut().zip(values) {
        lanes.store(solved.where_less(half, lanes.load(entry), value), entry);
    }
}

/// Which contact rows are next: those that are not of meetings, and those that are, each in the order of their segments.
#[derive(Clone, Copy)]
pub struct Cursors {
    next: [usize; 2],
    begin: [usize; 2],
    end: [usize; 2],
}

impl Cursors {
    /// Before the first rows of a group.
    #[inline(always)]
    pub fn of<T>(group: &Group<T>) -> Self {
        let (first, all) = (group.first_meeting(), group.contacts.len() / contact::ENTRIES);
        Self { next: [0, first], begin: [0, first], end: [first, all] }
    }
}

/// Whether no lane of a row presses or may.
#[inline(always)]
fn is_idle<T: Copy + Into<f64>>(row: &[Entry<T>]) -> bool {
    row[contact::STIFFNESS].iter().all(|&value| value.into() == 0.0)
}

/// Adds the next rows whose segment a node begins to its system, and notes in those of `solved` chains how deep they are in the
/// way and how far they have slid. All chains are solved first, then some again.
#[inline(always)]
pub fn add_contacts<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    index: usize,
    cursors: &mut Cursors,
    solved: Option<L::V>,
    system: &mut System<L::V>,
) where
    L::Scalar: Into<f64>,
{
    let zero = lanes.splat(0.0);
    for list in 0..2 {
        while cursors.next[list] < cursors.end[list]
            && let Some((segment, row)) = contact_row(group.contacts, cursors.next[list])
            && segment == index
        {
            let slot = cursors.next[list];
            let at = slot * contact::ENTRIES;
            cursors.next[list] += 1;
            if is_idle(row) {
                note(lanes, &mut group.contacts[at..][..contact::ENTRIES], solved, zero, V3([zero; 3]));
                continue;
            }
            let row = ContactRow::load(lanes, row, list == 1);
            let gone = gone(lanes, group, &row, segment, |index| Placed::now(lanes, group.row(index)));
            row.add(lanes, &gone, solved.is_none(), system);
            let stored = &mut group.contacts[at..][..contact::ENTRIES];
            note(lanes, stored, solved, row.in_the_way(lanes, &gone), row.slid(&gone));
            if !group.solved.is_empty() {
                row.keep(lanes, &gone, solved, &mut group.solved[slot * solved::ENTRIES..][..solved::ENTRIES]);
            }
        }
    }
}

/// Leaves in the rows whose segment a node begins, going back, of `solved` chains, with what force they press once it and the
/// next have stepped by `delta`; a flag where one was taken amiss.
#[inline(always)]
pub fn press<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    index: usize,
    cursors: &mut Cursors,
    solved: Option<L::V>,
    delta: [&Vec7<L::V>; 2],
) -> L::V
where
    L::Scalar: Into<f64>,
{
    let mut flag = lanes.splat(0.0);
    for list in 0..2 {
        while cursors.next[list] > cursors.begin[list]
            && let Some((segment, row)) = contact_row(group.contacts, cursors.next[list] - 1)
            && segment == index
        {
            cursors.next[list] -= 1;
            if is_idle(row) {
                continue;
            }
            let row = ContactRow::load(lanes, row, list == 1);
            let stored = &mut group.contacts[cursors.next[list] * contact::ENTRIES..][..contact::ENTRIES];
            let (in_the_way, slid) = (lanes.load(&stored[contact::DUAL]), V3::load(lanes, stored, contact::TANGENT));
            let Pressed { force, tangent, amiss } = row.pressed_by(lanes, in_the_way, slid, delta, solved.is_none());
            flag = flag.max(amiss);
            note(lanes, stored, solved, force, tangent);
            if !group.solved.is_empty() {
                let slot = cursors.next[list];
                row.give_way(lanes, solved, &mut group.solved[slot * solved::ENTRIES..][..solved::ENTRIES], delta);
            }
        }
    }
    flag
}

/// What all rows store (J), the nodes being where `at` says.
#[inline(always)]
pub fn stored_by_contacts<L: Lanes>(lanes: L, group: &Group<L::Scalar>, at: impl Fn(usize) -> Placed<L::V>) -> L::V
where
    L::Scalar: Into<f64>,
{
    let mut stored = lanes.splat(0.0);
    for (segment, row) in contact_rows(group.contacts) {
        let row = ContactRow::load(lanes, row, false);
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
