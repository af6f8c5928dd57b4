//! The contact rows of a group as the solve walks them: in the order of their segments, forth as the system is set up and back as
//! it is solved; its twin is in `shaders/bindings/contact_rows.wgsl` and `shaders/solve_rods.wgsl`.

use super::contact_rows::{Again, ContactRow, Gone, Pressed, System};
use super::group::Group;
use super::holds::{Placed, When};
use super::lanes::{Entry, Lane, Lanes, each};
use super::math::V3;
use super::rod_energies::Vec7;
use super::solved::{keep_pressing, pressing, step_of};
use crate::layout::contact;

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

/// Writes a row's dual and tangent.
#[inline(always)]
fn note<L: Lanes>(lanes: L, row: &mut [Entry<L::Scalar>], dual: L::V, tangent: V3<L::V>) {
    lanes.store(dual, &mut row[contact::DUAL]);
    tangent.store(lanes, row, contact::TANGENT);
}

/// Which contact rows are next, of half-spaces and of meetings, each in the order of their segments.
#[derive(Clone, Copy)]
pub struct Cursors {
    next: [usize; 2],
    count: [usize; 2],
}

impl Cursors {
    /// Before the first rows of a group.
    #[inline(always)]
    pub fn of<T>(group: &Group<T>) -> Self {
        Self { next: [0; 2], count: group.touching().map(|rows| rows.len() / contact::ENTRIES) }
    }

    /// After the last rows of a group.
    #[inline(always)]
    pub fn after<T>(group: &Group<T>) -> Self {
        let Self { count, .. } = Self::of(group);
        Self { next: count, count }
    }

    /// The next row of a kind, if its segment begins with a node.
    #[inline(always)]
    pub fn forth<T: Copy + Into<f64>>(&mut self, group: &Group<T>, kind: usize, index: usize) -> Option<usize> {
        let slot = self.next[kind];
        let there = slot < self.count[kind] && segment(group.touching()[kind], slot) == index;
        self.next[kind] += usize::from(there);
        there.then_some(slot)
    }

    /// The next row that presses, of half-spaces and solids, then of meetings, if its segment begins with a node: its kind and slot.
    #[inline(always)]
    pub fn to_next<T: Copy + Into<f64>>(&mut self, group: &Group<T>, index: usize) -> Option<(usize, usize)> {
        for kind in 0..2 {
            while let Some(slot) = self.forth(group, kind, index) {
                if !is_idle(&group.touching()[kind][slot * contact::ENTRIES..][..contact::ENTRIES]) {
                    return Some((kind, slot));
                }
            }
        }
        None
    }

    /// The row of a kind before it, if its segment begins with a node.
    #[inline(always)]
    pub fn back<T: Copy + Into<f64>>(&mut self, group: &Group<T>, kind: usize, index: usize) -> Option<usize> {
        let slot = self.next[kind].checked_sub(1)?;
        let there = segment(group.touching()[kind], slot) == index;
        self.next[kind] -= usize::from(there);
        there.then_some(slot)
    }
}

/// Which node begins a row's segment.
#[inline(always)]
fn segment<T: Copy + Into<f64>>(rows: &[Entry<T>], slot: usize) -> usize {
    rows[slot * contact::ENTRIES + contact::SEGMENT][0].into() as usize
}

/// Whether no lane of a row presses or may.
#[inline(always)]
pub fn is_idle<T: Copy + Into<f64>>(row: &[Entry<T>]) -> bool {
    // All of them are looked at, which takes less than to stop.
    row[contact::STIFFNESS].iter().fold(true, |idle, &value| idle & (value.into() == 0.0))
}

/// Passes the next rows whose segment a node begins as long as they are idle; whether there is one after them that is not, and
/// [`add_contacts`] has something to add.
#[inline(always)]
pub fn pass_idle<T: Copy + Into<f64>>(group: &Group<T>, index: usize, cursors: &mut Cursors) -> bool {
    let next = cursors.to_next(group, index);
    if let Some((kind, _)) = next {
        cursors.next[kind] -= 1;
    }
    next.is_some()
}

/// Adds the next rows whose segment a node begins to its system. All chains are solved first, which notes in them how deep they are in the
/// way and how far they have slid, for [`press`]; then some `again`.
#[inline(always)]
pub fn add_contacts<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    index: usize,
    cursors: &mut Cursors,
    again: Option<Again<L::V>>,
    system: &mut System<L::V>,
) where
    L::Scalar: Into<f64>,
{
    let nodes = gone(lanes, group, index, When::Now);
    while let Some((kind, slot)) = cursors.to_next(group, index) {
        let row = &group.touching()[kind][slot * contact::ENTRIES..][..contact::ENTRIES];
        let row = ContactRow::load(lanes, row, kind == 1);
        let gone = row.gone(&nodes);
        row.add(lanes, &gone, again, system);
        if again.is_none() {
            let (in_the_way, slid) = (row.in_the_way(lanes, &gone), row.slid(&gone));
            note(lanes, group.contact_mut(kind, slot), in_the_way, slid);
        }
        if let Some(at) = group.solved_at(kind, slot) {
            row.keep(lanes, &gone, again, &mut group.solved[at]);
        }
    }
}

/// Leaves in the rows whose segment a node begins, going back, with what force they press once it and the next have stepped by `delta` in
/// the first solve; how any was taken amiss. Of a further one it hangs on how much of the step is taken, see [`press_on`].
#[inline(always)]
pub fn press<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    index: usize,
    cursors: &mut Cursors,
    delta: [&Vec7<L::V>; 2],
) -> L::V
where
    L::Scalar: Into<f64>,
{
    let mut flag = lanes.splat(0.0);
    for kind in 0..2 {
        while let Some(slot) = cursors.back(group, kind, index) {
            let row = &group.touching()[kind][slot * contact::ENTRIES..][..contact::ENTRIES];
            if is_idle(row) {
                continue;
            }
            let row = ContactRow::load(lanes, row, kind == 1);
            let stored = group.contact_mut(kind, slot);
            let (in_the_way, slid) = (lanes.load(&stored[contact::DUAL]), V3::load(lanes, stored, contact::TANGENT));
            let Pressed { force, tangent, amiss } = row.pressed_by(lanes, in_the_way, slid, delta, None);
            flag = flag.max(amiss);
            note(lanes, stored, force, tangent);
            if let Some(at) = group.solved_at(kind, slot) {
                let solved_row = &mut group.solved[at];
                let before = pressing(lanes, solved_row);
                keep_pressing(lanes, solved_row, row.pressing_on(lanes, solved_row, before, delta));
            }
        }
    }
    flag
}

/// A segment's nodes where a further step began, and the step that the solve found for them.
#[derive(Clone, Copy)]
struct FurtherStep<V> {
    from: [Gone<V>; 2],
    by: [Vec7<V>; 2],
}

impl<V: Lane> FurtherStep<V> {
    #[inline(always)]
    fn of<L: Lanes<V = V>>(lanes: L, group: &Group<L::Scalar>, segment: usize) -> Self {
        let nodes = ends(group, segment);
        let from =
            each!(end in 0..2 => Gone::of_node(lanes, group.row(nodes[end]), &Placed::base(lanes, group, nodes[end])));
        Self { from, by: each!(end in 0..2 => step_of(lanes, group.kept_row(nodes[end]))) }
    }

    /// With what a row presses once they have made all of it.
    #[inline(always)]
    fn pressed<L: Lanes<V = V>>(&self, lanes: L, row: &ContactRow<V>, again: Again<V>) -> Pressed<V> {
        let (gone, [a, b]) = (row.gone(&self.from), &self.by);
        row.pressed_by(lanes, row.in_the_way(lanes, &gone), row.slid(&gone), [a, b], Some(again))
    }
}

/// How rows of chains that are solved again are taken amiss by the step that the solve found.
#[inline(always)]
pub fn amiss_again<L: Lanes>(lanes: L, group: &Group<L::Scalar>, again: Again<L::V>) -> L::V
where
    L::Scalar: Into<f64>,
{
    let (mut flag, mut cursors) = (lanes.splat(0.0), Cursors::of(group));
    for index in 0..group.rest.node_count {
        let mut steps = None;
        while let Some((kind, slot)) = cursors.to_next(group, index) {
            let step = match steps {
                Some(step) => step,
                None => FurtherStep::of(lanes, group, index),
            };
            steps = Some(step);
            let row = ContactRow::load(lanes, &group.touching()[kind][slot * contact::ENTRIES..], kind == 1);
            flag = flag.max(step.pressed(lanes, &row, again).amiss);
        }
    }
    flag
}

/// Rows of chains that are solved again come to press by a share with what they would after all of the step, and by the rest with what they
/// did before. Solves are linear: where the step is taken by that share, too, a chain that was in balance still is.
#[inline(always)]
pub fn press_on<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, again: Again<L::V>, share: L::V)
where
    L::Scalar: Into<f64>,
{
    let share = lanes.splat(0.5).where_less(again.solved, share, lanes.splat(0.0));
    let mut cursors = Cursors::of(group);
    for index in 0..group.rest.node_count {
        let mut steps = None;
        while let Some((kind, slot)) = cursors.to_next(group, index) {
            let step = match steps {
                Some(step) => step,
                None => FurtherStep::of(lanes, group, index),
            };
            steps = Some(step);
            let row = ContactRow::load(lanes, &group.touching()[kind][slot * contact::ENTRIES..], kind == 1);
            let Pressed { force, tangent, .. } = step.pressed(lanes, &row, again);
            let stored = group.contact_mut(kind, slot);
            let (before, pulled) = (lanes.load(&stored[contact::DUAL]), V3::load(lanes, stored, contact::TANGENT));
            let tangent = V3(each!(k in 0..3 => part_way(lanes, pulled.0[k], tangent.0[k], share)));
            note(lanes, stored, part_way(lanes, before, force, share), tangent);
            let Some(at) = group.solved_at(kind, slot) else { continue };
            let solved_row = &mut group.solved[at];
            let (before, couple) = pressing(lanes, solved_row);
            let here = row.pressing(lanes, &row.gone(&step.from), false);
            let (after, turned) = row.pressing_on(lanes, solved_row, here, [&step.by[0], &step.by[1]]);
            let couple = V3(each!(k in 0..3 => part_way(lanes, couple.0[k], turned.0[k], share)));
            keep_pressing(lanes, solved_row, (part_way(lanes, before, after, share), couple));
        }
    }
}

/// A share of the way from a value to another one; of no share the first one, whatever the other is.
#[inline(always)]
fn part_way<L: Lanes>(lanes: L, from: L::V, to: L::V, share: L::V) -> L::V {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    share.where_less(one, zero.where_less(share, from + (to - from) * share, from), to)
}

/// Flags chains that touch others.
#[inline(always)]
pub fn meeting<L: Lanes>(lanes: L, group: &Group<L::Scalar>) -> L::V {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let mut flag = zero;
    for row in group.meets.chunks_exact(contact::ENTRIES) {
        flag = zero.where_less(lanes.at(row, contact::STIFFNESS), one, flag);
    }
    flag
}

/// What all rows store (J).
#[inline(always)]
pub fn stored_by_contacts<L: Lanes>(lanes: L, group: &Group<L::Scalar>, when: When) -> L::V
where
    L::Scalar: Into<f64>,
{
    let mut stored = lanes.splat(0.0);
    let mut cursors = Cursors::of(group);
    for index in 0..group.rest.node_count {
        let mut nodes = None;
        while let Some((kind, slot)) = cursors.to_next(group, index) {
            let row = &group.touching()[kind][slot * contact::ENTRIES..][..contact::ENTRIES];
            let row = ContactRow::load(lanes, row, kind == 1);
            let there = match nodes {
                Some(there) => there,
                None => gone(lanes, group, index, when),
            };
            nodes = Some(there);
            stored = stored + row.potential(lanes, &row.gone(&there));
        }
    }
    stored
}

/// The nodes of a segment. After the last node there is none, and a row has no weight for it.
#[inline(always)]
fn ends<T>(group: &Group<T>, segment: usize) -> [usize; 2] {
    [segment, (segment + 1).min(group.rest.node_count - 1)]
}

/// How far the nodes of a segment have gone, which all rows of it share.
#[inline(always)]
pub(super) fn gone<L: Lanes>(lanes: L, group: &Group<L::Scalar>, segment: usize, when: When) -> [Gone<L::V>; 2] {
    let nodes = ends(group, segment);
    each!(end in 0..2 => Gone::of_node(lanes, group.row(nodes[end]), &Placed::at(lanes, group, nodes[end], when)))
}

/// The stiffness of all rows together (N/m).
#[inline(always)]
pub fn stiffness_of_contacts<L: Lanes>(lanes: L, group: &Group<L::Scalar>) -> L::V
where
    L::Scalar: Into<f64>,
{
    let (mut sum, mut cursors) = (lanes.splat(0.0), Cursors::of(group));
    for index in 0..group.rest.node_count {
        while let Some((kind, slot)) = cursors.to_next(group, index) {
            sum = sum + lanes.at(&group.touching()[kind][slot * contact::ENTRIES..], contact::STIFFNESS);
        }
    }
    sum
}
