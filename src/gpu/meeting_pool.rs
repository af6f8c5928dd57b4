//! Chains that meet each other on the GPU: the room that segments and their pairs have.

use super::arrays::{
    CELLS, CONTACT_ROWS, MEET_ROWS, PAIR_SIZES, PAIRS, PARTNERS, SCRATCH_ROWS, SEGMENT_PAIRS, SEGMENTS,
};
use super::chain_pool::ChainPool;
use super::residents::Upload;
use super::{ArrayId, GpuError};
use crate::cpu::settle::WANTED;
use crate::layout::{CELLS_AROUND, CELLS_HEADER, LANES, PRESSING_WORDS, WORKGROUP_SIZE, scratch, solved};
use crate::step::StepParams;

/// The least number of pairs that there is room for: those of some characters, which so have room from the first frame on.
const LEAST_PAIRS: u64 = 8192;

/// Entries of what the last solve's matrix has of a contact row, and of what its pair wants.
const SOLVED_ROW: u64 = (solved::ENTRIES + WANTED) as u64;

/// For how much there is room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Capacities {
    /// Segments: a place for each lane and node of all groups, so that these are never too few.
    pub segments: u64,
    /// Cells in the grid's table: a power of two, from two to four for each segment. Several may share one: they are never too few
    /// either.
    pub cells: u64,
    /// Pairs of segments that may touch in a frame, and as many contact rows of those that do, of which a pair has up to four: at first
    /// as many as segments, or some thousand. How many a frame has is known some frames later; where that is more than three
    /// quarters there is then room for half as many again. Until then segments with the highest places go without pairs that there is
    /// no room for, and pairs without rows, and [`PairReport`] says so. Which segments these are is the same in every run, but not for
    /// how many frames, which hangs on when the count comes back; which pairs go without rows is not.
    pub pairs: u64,
}

/// How many pairs of segments a frame found that may touch each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairReport {
    /// How many there are.
    pub found: u64,
    /// How many contact rows those that touch had where that was most: two for each point, in each of the frame's solves.
    pub rows: u64,
    /// For how many of either there was room; of more than these some passed through each other in that frame.
    pub room: u64,
}

impl PairReport {
    /// Whether there was room for all.
    pub fn is_whole(&self) -> bool {
        self.found.max(self.rows) <= self.room
    }
}

/// Room for chains that meet.
#[derive(Default)]
pub(super) struct MeetingPool {
    pub room: Capacities,
    /// The newest recording that found pairs.
    recording: u64,
    /// That in which the host told what all pairs remember.
    told: u64,
    /// The first word among scratch rows of what the last solve's matrix has of contact rows.
    solved_base: u32,
}

impl MeetingPool {
    /// Makes room for a frame in which chains may meet, given how many pairs the newest frame found of which that is known, and how
    /// many are remembered that the host tells.
    pub fn make_room(
        &mut self,
        upload: &mut Upload<'_>,
        chains: &ChainPool,
        (found, remembered): (Option<PairReport>, u64),
    ) -> Result<(), GpuError> {
        let segments = chains.node_rows() * u64::from(LANES);
        // Before three quarters of the room are not enough.
        let nearly = found.filter(|report| 4 * report.found.max(report.rows) > 3 * report.room);
        let found = nearly.map_or(0, |report| report.found.max(report.rows) * 3 / 2);
        let pairs = self.room.pairs.max(found).max(remembered).max(segments).max(LEAST_PAIRS);
        let cells = (2 * segments).next_power_of_two();
        self.room = Capacities { segments, cells, pairs };
        let workgroups = u64::from(self.workgroups());
        let contacts = self.contact_rows(chains);
        let kept = (contacts * SOLVED_ROW).div_ceil(scratch::ENTRIES as u64);
        let rows: [(ArrayId, u64); 9] = [
            (SEGMENTS, segments),
            (CELLS, u64::from(CELLS_HEADER) + cells + segments + 2 * workgroups),
            (SEGMENT_PAIRS, segments),
            (PARTNERS, 2 * pairs),
            (PAIRS, 1 + pairs),
            (PAIR_SIZES, 1),
            (MEET_ROWS, pairs.div_ceil(u64::from(LANES))),
            (CONTACT_ROWS, contacts),
            (SCRATCH_ROWS, self.solved_row(chains) + kept),
        ];
        rows.into_iter().try_for_each(|(array, rows)| upload.reserve(array, rows))
    }

    /// How many contact rows there are, each of eight lanes, those of meetings last.
    fn contact_rows(&self, chains: &ChainPool) -> u64 {
        chains.contact_rows() + self.room.pairs.div_ceil(u64::from(LANES))
    }

    /// From which scratch row on is what the last solve's matrix has of contact rows: before are those of nodes, how many contact rows
    /// press, which is whose of the four that each pair may have, and words of bits of eight sides, of which a pair has two.
    fn solved_row(&self, chains: &ChainPool) -> u64 {
        let words = u64::from(PRESSING_WORDS) + 4 * self.room.pairs + (2 * self.room.pairs).div_ceil(u64::from(LANES));
        chains.scratch_rows() + words.div_ceil(scratch::ENTRIES as u64 * u64::from(LANES))
    }

    /// Where in scratch rows it is said how many contact rows pressed in a frame (bytes), in [`PRESSING_WORDS`] words.
    pub fn pressing(&self) -> u64 {
        u64::from(self.solved_base.saturating_sub(PRESSING_WORDS)) * size_of::<u32>() as u64
    }

    /// How many workgroups give each cell around each segment a thread.
    pub fn workgroups_around(&self) -> u32 {
        (self.room.segments * u64::from(CELLS_AROUND)).div_ceil(u64::from(WORKGROUP_SIZE)) as u32
    }

    /// How many workgroups give each segment a thread.
    pub fn workgroups(&self) -> u32 {
        self.room.segments.div_ceil(u64::from(WORKGROUP_SIZE)) as u32
    }

    /// Whether a recording, the newest, finds pairs.
    pub fn found_in(&self, recording: u64) -> bool {
        self.recording == recording
    }

    /// Notes that the host has told what all pairs remember in a recording.
    pub fn told_in(&mut self, recording: u64) {
        self.told = recording;
    }

    /// Tells kernels of it in a recording.
    pub fn tell(&mut self, params: &mut [StepParams], chains: &ChainPool, recording: u64) {
        let remembers = if self.told == recording { 2 } else { u32::from(self.recording + 1 == recording) };
        self.recording = recording;
        self.solved_base = (self.solved_row(chains) * scratch::ENTRIES as u64 * u64::from(LANES)) as u32;
        for params in params {
            params.segment_count = self.room.segments as u32;
            params.cell_count = self.room.cells as u32;
            params.pair_capacity = self.room.pairs as u32;
            params.meet_base = chains.contact_rows() as u32;
            params.solved_base = self.solved_base;
            params.remembers = remembers;
        }
    }
}
