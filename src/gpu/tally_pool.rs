//! Who presses whom on the GPU, where contact events are asked for: the room that tallies have, and what comes back of them.
//!
//! What a frame's substeps press with is summed where it is known, and comes back with the frame's other results, some frames later:
//! for each chain and each thing that presses it a row, in no order that says anything, which the host sorts.

use std::sync::Arc;

use super::GpuError;
use super::arrays::{ARRAYS, TALLIES};
use super::buffers::Buffers;
use super::readback::BufferPart;
use super::residents::Upload;
use crate::ContactWith;
use crate::instances::{FleshHandle, Slot};
use crate::layout::{LANES, tallies, tally};
use crate::physics::Named;

/// The least number of tallies that there is room for, and for how many of each chain there is at first: of what chains in a heap
/// touch, half have the pair themselves, and what lands all at once is to be told as it does.
const LEAST_TALLIES: u64 = 64;
const OF_CHAIN: u64 = 4;

/// Bytes of a row.
const ROW: u64 = 4 * tally::ENTRIES as u64;

/// How many tallies a frame made of who presses whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TallyReport {
    /// How many it would have made: one for each chain and each instance, half-space and solid that pressed it. Where there was no room
    /// for all, those that got none are counted anew whenever the chain comes to them, in every substep: there are no more than that.
    pub found: u64,
    /// For how many there was room. Of a frame that found more nothing is told: see
    /// [`Physics::contact_events`](crate::Physics::contact_events).
    pub room: u64,
}

impl TallyReport {
    /// Whether all are there.
    pub(super) fn is_whole(self) -> bool {
        self.found <= self.room
    }
}

/// What half-spaces and solids are called in a frame, by their places.
#[derive(Default)]
struct Names {
    planes: Vec<ContactWith>,
    solids: Vec<ContactWith>,
}

/// Room for tallies.
#[derive(Default)]
pub(super) struct TallyPool {
    /// For how many: at first [`OF_CHAIN`] for each chain, or [`LEAST_TALLIES`]. Whether a frame found more is known some frames later;
    /// then there is room for half as many again as it counted, but no more than twice what there was, as it counts too many, and as a
    /// buffer may hold. Until then such frames make no events, and [`TallyReport`] says so.
    room: u64,
    /// Which row is the first one's.
    first: u64,
    /// The newest recording that has any.
    recording: u64,
    names: Arc<Names>,
}

impl TallyPool {
    /// Has a recording begin with none, and makes room for those of so many groups and chains, given what is known of the newest frame
    /// that has arrived.
    pub fn begin(
        &mut self,
        upload: &mut Upload<'_>,
        named: &Named<'_>,
        ([groups, chains], known, recording): ([u64; 2], Option<TallyReport>, u64),
    ) -> Result<(), GpuError> {
        self.first = 1 + (groups * u64::from(LANES)).div_ceil(tally::ENTRIES as u64);
        let most = upload.buffers.most(upload.gpu, TALLIES).saturating_sub(self.first);
        let lacked = known.filter(|report| !report.is_whole() && report.room == self.room);
        let wanted = lacked.map_or(0, |report| (report.found * 3 / 2).min(2 * self.room));
        self.room = self.room.max(wanted).max(OF_CHAIN * chains).max(LEAST_TALLIES).min(most);
        self.recording = recording;
        self.names = Arc::new(Names { planes: named.planes().collect(), solids: named.solids().collect() });
        upload.reserve(TALLIES, self.first + self.room)?;
        upload.clear(TALLIES, self.first);
        let mut header = [0_u32; tally::ENTRIES];
        header[tallies::ROOM] = self.room as u32;
        header[tallies::FIRST] = self.first as u32;
        upload.rows(TALLIES, 0, &[header])
    }

    /// What comes back of a recording, the newest, if it has any.
    pub fn sent_in(&self, recording: u64) -> Option<SentTallies> {
        let Self { room, first, names, .. } = self;
        (*room > 0 && self.recording == recording).then(|| SentTallies {
            room: *room,
            first: *first,
            names: names.clone(),
        })
    }
}

/// Tallies of a frame that are sent back: the row before all others, and all there is room for.
pub(super) struct SentTallies {
    room: u64,
    first: u64,
    names: Arc<Names>,
}

/// Whose a slot was in a frame: the slot, its generation, and whether the instance slept.
pub(super) type Whose = (usize, u32, bool);

impl SentTallies {
    /// How many bytes they are.
    pub fn bytes(&self) -> usize {
        ((1 + self.room) * ROW) as usize
    }

    /// What is copied.
    pub fn parts<'a>(&self, buffers: &'a Buffers) -> [BufferPart<'a>; 2] {
        debug_assert_eq!(ARRAYS[TALLIES.0].row_bytes, ROW);
        let array = buffers.array(TALLIES);
        [(array, 0, ROW), (array, self.first * ROW, self.room * ROW)]
    }

    /// Leaves with the instances what pressed them, given whose the slots were; beside what is there of earlier frames, but for the
    /// first. Of a frame that had no room for all nothing is left: what it lacks would have parted and begun anew.
    pub fn leave(&self, bytes: &[u8], whose: &[Whose], slots: &mut [Slot], is_first: bool) -> TallyReport {
        let (header, rows) = bytes.split_at(ROW as usize);
        let header: [u32; tally::ENTRIES] = bytemuck::pod_read_unaligned(header);
        let report = TallyReport { found: header[tallies::FOUND].into(), room: self.room };
        if !report.is_whole() {
            return report;
        }
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&rows[..(report.found * ROW) as usize]);
        if is_first {
            let held = slots.iter_mut().filter_map(|slot| slot.instance.as_mut());
            held.for_each(|instance| instance.tally.begin(0, false));
        }
        let mut rows: Vec<&[u32]> = words.chunks_exact(tally::ENTRIES).collect();
        rows.sort_unstable_by_key(|row| [row[tally::INSTANCE], row[tally::CHAIN], row[tally::OTHER]]);
        let mut handles = vec![None; slots.len()];
        for &(slot, generation, _) in whose {
            let held = slots.get(slot).filter(|held| held.generation == generation && held.instance.is_some());
            if held.is_some() {
                handles[slot] = Some(FleshHandle::of(slot, generation));
            }
        }
        for row in rows {
            let Some((own, with)) = self.sides(row, &handles) else { continue };
            // Of two the lower one has it, whichever's rows come first.
            let (own, with, sign) = match with {
                ContactWith::Flesh(other) if other < own => (other, ContactWith::Flesh(own), -1.0),
                with => (own, with, 1.0),
            };
            let number = |at: usize| f32::from_bits(row[at]);
            let [x, y, z] = [0, 1, 2].map(|k| sign * number(tally::PUSH + k));
            if let Some(instance) = &mut slots[own.parts().0].instance {
                instance.tally.with.push((with, [number(tally::IMPULSE), x, y, z]));
            }
        }
        for &(slot, _, slept) in whose {
            if let (Some(_), Some(instance)) = (handles.get(slot).copied().flatten(), &mut slots[slot].instance) {
                instance.tally.slept = slept && (is_first || instance.tally.slept);
            }
        }
        report
    }

    /// Whose a tally is, and what presses it; `None` where either is gone.
    fn sides(&self, row: &[u32], handles: &[Option<FleshHandle>]) -> Option<(FleshHandle, ContactWith)> {
        let handle = |slot: u32| handles.get(slot as usize).copied().flatten();
        let other = row[tally::OTHER];
        let with = match other {
            tally::SOLID.. => self.names.solids.get((other - tally::SOLID) as usize).copied()?,
            tally::PLANE.. => self.names.planes.get((other - tally::PLANE) as usize).copied()?,
            _ => ContactWith::Flesh(handle(other)?),
        };
        Some((handle(row[tally::INSTANCE])?, with))
    }
}
