//! What of solids a group's segments may touch in a frame, and the contact rows that are laid for it, with what they remember; its
//! twin is `shaders/bindings/solid_slots.wgsl`, which lays them anew in every substep.

#[cfg(feature = "gpu")]
use super::lanes::Entry;
use super::lanes::LANES;
use crate::flesh::GroupState;
use crate::layout::{contact, node, plane, tangent};

/// By the cosine between normals, how alike primitives face of which one goes on with the other's friction.
pub(crate) const ALIKE: f32 = 0.9;

/// A segment of a group, and in each lane what it may touch.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SolidSlot {
    /// The node with which the segment begins.
    pub segment: u32,
    /// Which solid, and which of its primitives; [`SolidSlot::NOTHING`] in lanes that have none.
    pub touches: [[u32; 2]; LANES],
}

/// What a lane of a slot may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touches {
    /// A solid, and which of its primitives.
    Solid(usize, u32),
    /// A pill of the instance's own bones.
    BonePill(usize),
}

impl SolidSlot {
    /// Of a lane that has none.
    pub const NOTHING: [u32; 2] = [u32::MAX; 2];

    /// How many contact rows a slot has: its first node's, and that of what is deeper between both.
    pub const ROWS: usize = 2;

    /// What says of a place in the list of solids that it is one in that of the instance's own bone pills.
    const OF_PILLS: u32 = 1 << 31;

    /// A bone pill of the instance's own as a lane has it.
    pub fn of_pill(pill: usize) -> [u32; 2] {
        [Self::OF_PILLS | pill as u32, 0]
    }

    /// What a lane has.
    pub fn touched(touches: [u32; 2]) -> Option<Touches> {
        let [solid, primitive] = touches;
        match solid {
            _ if touches == Self::NOTHING => None,
            Self::OF_PILLS.. => Some(Touches::BonePill((solid & !Self::OF_PILLS) as usize)),
            _ => Some(Touches::Solid(solid as usize, primitive)),
        }
    }
}

impl GroupState {
    /// Lays the contact rows of half-spaces and solids anew, for these slots; what is remembered of each stays with it.
    pub(super) fn lay_contacts(&mut self, slots: Vec<SolidSlot>) {
        if slots == self.slots {
            return;
        }
        let (count, planes) = (self.nodes.len() / node::ENTRIES, self.planes.len() / plane::ENTRIES);
        let rows = (count * planes + SolidSlot::ROWS * slots.len()) * contact::ENTRIES;
        let old = std::mem::replace(&mut self.contacts, vec![[0.0; LANES]; rows]);
        let old_at = rows_of(count, planes, &self.slots);
        let new_at = rows_of(count, planes, &slots);
        for index in 0..count {
            let rows = planes * contact::ENTRIES;
            let [from, to] = [&old_at, &new_at].map(|at| at.0[index] * contact::ENTRIES);
            if let Some(old) = old.get(from..from + rows) {
                self.contacts[to..to + rows].copy_from_slice(old);
            }
        }
        for (slot, &to) in slots.iter().zip(&new_at.1) {
            let before = self.slots.partition_point(|old| old.segment < slot.segment);
            let same = self.slots[before..].iter().zip(&old_at.1[before..]);
            for (known, &from) in same.take_while(|(known, _)| known.segment == slot.segment) {
                for lane in (0..LANES).filter(|&lane| known.touches[lane] == slot.touches[lane]) {
                    for entry in 0..SolidSlot::ROWS * contact::ENTRIES {
                        let value = old[from * contact::ENTRIES + entry][lane];
                        self.contacts[to * contact::ENTRIES + entry][lane] = value;
                    }
                }
            }
        }
        self.slots = slots;
    }

    /// Where on its segment each slot's row between the nodes pressed last, in each lane; `NaN` where it did not.
    pub(super) fn pressed_between(&self) -> Vec<[f32; LANES]> {
        let Self { nodes, planes, slots, contacts, .. } = self;
        let (count, planes) = (nodes.len() / node::ENTRIES, planes.len() / plane::ENTRIES);
        let along = |row: usize| {
            let row = &contacts[(row + 1) * contact::ENTRIES..][..contact::ENTRIES];
            let pressed = |lane: usize| row[contact::DUAL][lane] > 0.0;
            std::array::from_fn(|lane| if pressed(lane) { row[contact::ALONG][lane] } else { f32::NAN })
        };
        rows_of(count, planes, slots).1.into_iter().map(along).collect()
    }

    /// Of a solid's primitives that a segment is behind, only the nearest of all is touched: what is in front of a thin wall is behind
    /// its other side. `depths` are how far they are, by slot and lane.
    pub(super) fn leave_far_sides(&mut self, depths: &[[[f64; SolidSlot::ROWS]; LANES]]) {
        let Self { slots, tangents, .. } = self;
        let mut first = 0;
        for segment in slots.chunk_by(|a, b| a.segment == b.segment) {
            let all = first..first + segment.len();
            first = all.end;
            for (row, lane) in (0..SolidSlot::ROWS).flat_map(|row| (0..LANES).map(move |lane| (row, lane))) {
                for slot in all.clone().filter(|&slot| depths[slot][lane][row] < 0.0) {
                    let (solid, depth) = (slots[slot].touches[lane][0], depths[slot][lane][row]);
                    let nearer = |&other: &usize| {
                        let least =
                            depths[other][lane].iter().fold(f64::INFINITY, |least, depth| least.min(depth.abs()));
                        let before = least < depth.abs() || (least == depth.abs() && other < slot);
                        other != slot && slots[other].touches[lane][0] == solid && before
                    };
                    if all.clone().any(|other| nearer(&other)) {
                        let left = &mut tangents[(slot * SolidSlot::ROWS + row) * tangent::ENTRIES..];
                        left[tangent::SHARE][lane] = 0.0;
                        // Nor does it throw what it has stopped.
                        left[tangent::PLANE + plane::RESTITUTION][lane] = 0.0;
                    }
                }
            }
        }
    }

    /// What a segment leaves of a solid's primitives goes with what is remembered to the one that it comes to: over a mesh's edges
    /// friction goes on.
    pub(super) fn hand_over(&mut self) {
        let Self { nodes, planes, slots, tangents, contacts, .. } = self;
        if slots.is_empty() {
            return;
        }
        let (count, planes) = (nodes.len() / node::ENTRIES, planes.len() / plane::ENTRIES);
        let rows = rows_of(count, planes, slots).1;
        let share = |slot: usize, row: usize, lane: usize| {
            tangents[(slot * SolidSlot::ROWS + row) * tangent::ENTRIES + tangent::SHARE][lane]
        };
        let mut first = 0;
        for segment in slots.chunk_by(|a, b| a.segment == b.segment) {
            let all = first..first + segment.len();
            first = all.end;
            for (row, lane) in (0..SolidSlot::ROWS).flat_map(|row| (0..LANES).map(move |lane| (row, lane))) {
                let at = |slot: usize| (rows[slot] + row) * contact::ENTRIES;
                for left in all.clone().filter(|&slot| share(slot, row, lane) == 0.0) {
                    if contacts[at(left) + contact::DUAL][lane] == 0.0 {
                        continue;
                    }
                    let solid = slots[left].touches[lane][0];
                    let comes_to = |&slot: &usize| {
                        slots[slot].touches[lane][0] == solid && share(slot, row, lane) > 0.0 && {
                            let now = (slot * SolidSlot::ROWS + row) * tangent::ENTRIES + tangent::PLANE;
                            let normals = (0..3).map(|k| {
                                let before = contacts[at(left) + contact::DIRECTION + k][lane];
                                before * tangents[now + plane::NORMAL_FROM + k][lane]
                            });
                            normals.sum::<f32>() > ALIKE
                        }
                    };
                    let Some(to) = all.clone().find(comes_to) else { continue };
                    // How it bounces is of one: of what stops it already, or of what did.
                    let stops = contacts[at(to) + contact::DUAL][lane] != 0.0;
                    for entry in (contact::BOUNCE..contact::ENTRIES).filter(|_| !stops) {
                        contacts[at(to) + entry][lane] = contacts[at(left) + entry][lane];
                    }
                    contacts[at(left) + contact::BOUNCE][lane] = 0.0;
                    // As firm as either was.
                    let [firm, was_firm] = [to, left].map(|slot| contacts[at(slot) + contact::STIFFNESS][lane]);
                    contacts[at(to) + contact::STIFFNESS][lane] = firm.max(was_firm);
                    let of_last = [contact::LIMIT, contact::DUAL];
                    for entry in of_last.into_iter().chain(contact::TANGENT..contact::TANGENT + 3) {
                        contacts[at(to) + entry][lane] += contacts[at(left) + entry][lane];
                        contacts[at(left) + entry][lane] = 0.0;
                    }
                }
            }
        }
    }

    /// What presses of solids, or may: which segment in which lane, which solid, primitive, and whether between the nodes, and its
    /// contact row.
    #[cfg(feature = "gpu")]
    pub(crate) fn pressing_solids(&self, mut told: impl FnMut([usize; 2], [f32; 3], &[Entry<f32>])) {
        let (count, planes) = (self.nodes.len() / node::ENTRIES, self.planes.len() / plane::ENTRIES);
        for (slot, first) in self.slots.iter().zip(rows_of(count, planes, &self.slots).1) {
            for (between, lane) in (0..SolidSlot::ROWS).flat_map(|row| (0..LANES).map(move |lane| (row, lane))) {
                let name = match SolidSlot::touched(slot.touches[lane]) {
                    None => continue,
                    Some(Touches::Solid(solid, primitive)) => [solid as f32, primitive as f32, between as f32],
                    Some(Touches::BonePill(pill)) => [-2.0 - pill as f32, 0.0, between as f32],
                };
                let Some(row) = self.contacts.get((first + between) * contact::ENTRIES..) else { continue };
                let presses = |at: usize| row.get(at).is_some_and(|entry| entry[lane] > 0.0);
                if row.len() >= contact::ENTRIES && (presses(contact::DUAL) || presses(contact::STIFFNESS)) {
                    told([slot.segment as usize, lane], name, row);
                }
            }
        }
    }

    /// Forgets solids: no row of theirs is left of what `contacts` has.
    pub(crate) fn leave_solids(&mut self) {
        self.slots.clear();
        self.tangents.clear();
    }

    /// The contact rows of half-spaces alone.
    #[cfg(feature = "gpu")]
    pub(crate) fn of_planes(&self) -> Vec<Entry<f32>> {
        let rows = (self.contacts.len() / contact::ENTRIES).saturating_sub(self.of_solids());
        let (count, width) = (self.nodes.len() / node::ENTRIES, contact::ENTRIES);
        let planes = rows / count.max(1);
        let at = rows_of(count, planes, &self.slots).0;
        at.into_iter().flat_map(|row| &self.contacts[row * width..(row + planes) * width]).copied().collect()
    }

    /// How many contact rows of half-spaces and solids there are to be.
    pub(crate) fn contact_count(&self) -> usize {
        self.nodes.len() / node::ENTRIES * (self.planes.len() / plane::ENTRIES) + self.of_solids()
    }

    /// How many contact rows of solids there are.
    pub(crate) fn of_solids(&self) -> usize {
        SolidSlot::ROWS * self.slots.len()
    }
}

/// The first contact row of each node, and of each slot: a node's half-spaces come before its slots.
fn rows_of(nodes: usize, planes: usize, slots: &[SolidSlot]) -> (Vec<usize>, Vec<usize>) {
    let (mut of_nodes, mut of_slots) = (Vec::with_capacity(nodes), Vec::with_capacity(slots.len()));
    let (mut row, mut next) = (0, slots.iter().peekable());
    for index in 0..nodes {
        of_nodes.push(row);
        row += planes;
        while next.next_if(|slot| slot.segment as usize == index).is_some() {
            of_slots.push(row);
            row += SolidSlot::ROWS;
        }
    }
    (of_nodes, of_slots)
}
