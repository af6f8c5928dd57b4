//! What comes back of the instances: of each a report after every frame, and what the host asks for beside it. All of it
//! arrives some frames later and says of which it is; nothing waits for it.

use std::collections::VecDeque;
use std::ops::Range;

use super::arrays::{
    ARRAYS, CHAIN_ROWS, CONTACT_ROWS, NODE_ROWS, PAIR_SIZES, REACTION_ROWS, REPORTS, SCRATCH_ROWS, SECTION_MATRICES,
    SKINNED,
};
use super::meeting_pool::PairReport;
use super::readback::{BufferPart, read_now};
use super::residents::{Resident, Residents};
use super::tally_pool::{SentTallies, TallyReport, Whose};
use super::{ArrayId, Buffers, GpuDevice, GpuError, Readback};
use crate::flesh::BoneMotion;
use crate::instances::{Instance, ReadBack, Slot};
use crate::layout::{HealthReport, LANES, PRESSING_WORDS, SkinnedVertex, contact, node};

/// How many frames' results may be under way.
pub(super) const DEPTH: usize = 4;

/// How many frames are remembered that have not arrived, because their encoder was dropped or their results were left out.
const REMEMBERED: usize = 64;

/// An array of which an instance's rows are read back, and whether they are asked for.
type Read = (ArrayId, fn(ReadBack) -> bool);

/// All of them, one after the other.
const READ: [Read; 6] = [
    (NODE_ROWS, |asked| asked.state),
    (CHAIN_ROWS, |asked| asked.state),
    (CONTACT_ROWS, |asked| asked.state),
    (REACTION_ROWS, |asked| asked.state),
    (SKINNED, |asked| asked.vertices),
    (SECTION_MATRICES, |asked| asked.sections),
];

/// Bytes of a report.
const REPORT: usize = size_of::<HealthReport>();

/// Bytes of how many pairs were found, and of how many contact rows they have.
const PAIR_BYTES: usize = ARRAYS[PAIR_SIZES.0].row_bytes as usize;
const PRESSING_BYTES: usize = PRESSING_WORDS as usize * size_of::<u32>();

/// The host's part of an instance's state after a frame, and where the rest is.
struct Front {
    slot: usize,
    generation: u32,
    motion: BoneMotion,
    activations: Vec<f32>,
    planes: u32,
    /// Whether its skin was deformed in a frame up to this one.
    deformed: bool,
    /// Whether its flesh was stepped, or slept.
    steps: bool,
    asked: ReadBack,
    /// Its rows of each array of [`READ`].
    rows: [Range<u64>; READ.len()],
    /// Its bytes of each in what is read back; empty where it is not.
    bytes: [Range<usize>; READ.len()],
}

impl Front {
    fn new(slot: usize, resident: &Resident, (asked, steps): (ReadBack, bool)) -> Self {
        let Resident { generation, chains, skin, .. } = resident;
        // Rows that no frame has written may have been another's.
        let asked =
            ReadBack { vertices: asked.vertices && skin.deformed, sections: asked.sections && skin.deformed, ..asked };
        let rows = [&chains.nodes, &chains.groups, &chains.contacts, &chains.reactions, &skin.skinned, &skin.matrices];
        Self {
            slot,
            generation: *generation,
            motion: chains.front.motion.clone(),
            activations: chains.activations.clone(),
            planes: chains.planes(),
            deformed: skin.deformed,
            steps,
            asked,
            rows: rows.map(Range::clone),
            bytes: Default::default(),
        }
    }
}

/// A frame, as what is read back of it.
struct Sent {
    /// Counts recordings, also over a [`Physics::restore`](crate::Physics::restore), which turns steps back.
    tag: u64,
    step: u64,
    /// One for each slot, whether it has an instance or not.
    reports: u64,
    /// Whether it found pairs of segments.
    finds: bool,
    /// Bytes of how many, and of how many contact rows.
    pairs: Range<usize>,
    /// Where among scratch rows the latter is said (bytes).
    pressing: u64,
    /// Who presses whom in it, where that was asked for, and the bytes of that.
    tallies: Option<SentTallies>,
    tallied: Range<usize>,
    fronts: Vec<Front>,
}

impl Sent {
    /// Given what is asked for of a slot's instance, and whether it is stepped.
    fn new(
        (tag, step, finds): (u64, u64, bool),
        residents: &Residents,
        told: impl Fn(usize) -> (ReadBack, bool),
    ) -> Self {
        let slots = residents.slots.iter().enumerate();
        let fronts = slots.filter_map(|(slot, resident)| Some(Front::new(slot, resident.as_ref()?, told(slot))));
        let reports = residents.slots.len() as u64;
        let tallies = residents.tallies.sent_in(tag);
        let pressing = if finds { residents.meetings.pressing() } else { 0 };
        let mut sent =
            Self { tag, step, reports, finds, pairs: 0..0, pressing, tallies, tallied: 0..0, fronts: fronts.collect() };
        sent.place();
        sent
    }

    /// The same with all that there is.
    fn whole(mut self) -> Self {
        for front in &mut self.fronts {
            front.asked = ReadBack { state: true, vertices: front.deformed, sections: front.deformed };
        }
        self.place();
        self
    }

    /// Says where the bytes of what is asked for will be: array by array, in each by instances.
    fn place(&mut self) {
        let mut end = self.reports as usize * REPORT;
        for (kind, (array, is_asked)) in READ.into_iter().enumerate() {
            for front in &mut self.fronts {
                let rows = if is_asked(front.asked) { front.rows[kind].clone() } else { 0..0 };
                let start = end;
                end += ((rows.end - rows.start) * ARRAYS[array.0].row_bytes) as usize;
                front.bytes[kind] = start..end;
            }
        }
        self.pairs = end..end + if self.finds { PAIR_BYTES + PRESSING_BYTES } else { 0 };
        let end = self.pairs.end;
        self.tallied = end..end + self.tallies.as_ref().map_or(0, SentTallies::bytes);
    }

    /// How many pairs it found, if it did.
    fn pair_report(&self, bytes: &[u8]) -> Option<PairReport> {
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes[self.pairs.clone()]);
        let [.., found, recording, room, most, last] = words[..] else { return None };
        let (found, room) = (u64::from(found), u64::from(room));
        // Where none were counted, there are none.
        let rows = u64::from(most.max(last)).min(4 * found);
        (recording == self.tag as u32).then_some(PairReport { found, rows, room })
    }

    /// What is copied, in the order of the bytes; neighbours are copied at once.
    fn parts<'a>(&self, buffers: &'a Buffers) -> Vec<BufferPart<'a>> {
        let mut parts: Vec<BufferPart<'a>> = vec![(buffers.array(REPORTS), 0, self.reports * REPORT as u64)];
        for (kind, (array, _)) in READ.into_iter().enumerate() {
            for front in self.fronts.iter().filter(|front| !front.bytes[kind].is_empty()) {
                let first = front.rows[kind].start * ARRAYS[array.0].row_bytes;
                let bytes = front.bytes[kind].len() as u64;
                let buffer = buffers.array(array);
                match parts.last_mut() {
                    Some((last, from, many)) if *last == buffer && *from + *many == first => *many += bytes,
                    _ => parts.push((buffer, first, bytes)),
                }
            }
        }
        if self.finds {
            parts.push((buffers.array(PAIR_SIZES), 0, PAIR_BYTES as u64));
            parts.push((buffers.array(SCRATCH_ROWS), self.pressing, PRESSING_BYTES as u64));
        }
        parts.extend(self.tallies.iter().flat_map(|tallies| tallies.parts(buffers)));
        parts.retain(|(.., bytes)| *bytes > 0);
        parts
    }

    /// Which instances were in which slots, and which of them slept.
    fn whose(&self, bytes: &[u8]) -> Vec<Whose> {
        let of_front = |front: &Front| {
            let report = self.report_of(front, bytes);
            let slept = front.steps && report.recording == self.tag as u32 && report.asleep != 0;
            (front.slot, front.generation, slept)
        };
        self.fronts.iter().map(of_front).collect()
    }

    fn report_of(&self, front: &Front, bytes: &[u8]) -> HealthReport {
        bytemuck::pod_read_unaligned(&bytes[front.slot * REPORT..][..REPORT])
    }

    /// Shows its instances as they were after it, as far as they were asked for and the host has not changed them since.
    fn show(&self, residents: &Residents, slots: &mut [Slot], bytes: &[u8]) {
        for front in &self.fronts {
            let resident = residents.slots.get(front.slot).and_then(Option::as_ref);
            let (Some(resident), Some(slot)) = (resident, slots.get_mut(front.slot)) else { continue };
            let known = resident.generation == front.generation && slot.generation == front.generation;
            let Some(instance) = slot.instance.as_mut().filter(|_| known) else { continue };
            // What was only put at rest elsewhere goes on with its activations.
            let activated = self.tag >= resident.activated_since && (!instance.changed || instance.placed);
            if front.asked.state && activated {
                instance.state.activations.clone_from(&front.activations);
            }
            if self.tag >= resident.since && !instance.changed {
                let report = self.report_of(front, bytes);
                self.show_one(front, instance, report, bytes);
            }
        }
    }

    fn show_one(&self, front: &Front, instance: &mut Instance, report: HealthReport, bytes: &[u8]) {
        let [mut nodes, mut chains, mut contacts, mut reactions, vertices, mut sections] =
            front.bytes.each_ref().map(|place| &bytes[place.clone()]);
        if front.asked.state {
            for group in &mut instance.state.nodes.groups {
                let slots = group.nodes.len() / node::ENTRIES * front.planes as usize;
                // What solids press, and how chains touch each other, does not come back with it.
                group.leave_solids();
                group.meets.clear();
                group.contacts.resize(slots * contact::ENTRIES, [0.0; LANES as usize]);
                take_rows(&mut group.nodes, &mut nodes);
                take_rows(&mut group.chains, &mut chains);
                take_rows(&mut group.contacts, &mut contacts);
                take_rows(&mut group.reactions, &mut reactions);
            }
            instance.state.touches.clear();
            instance.state.nodes.take_origins();
            instance.state.nodes.motion.clone_from(&front.motion);
            instance.step = self.step;
        }
        if front.asked.sections {
            let rows = &front.rows[READ.len() - 1];
            instance.section_matrices.resize((rows.end - rows.start) as usize, bytemuck::Zeroable::zeroed());
            take_rows(&mut instance.section_matrices, &mut sections);
        }
        if front.asked.vertices {
            let skinned = &mut instance.vertices;
            skinned.positions.clear();
            skinned.normals.clear();
            skinned.tangents.clear();
            let has_tangents = !instance.blocks.mesh_tangents.is_empty();
            for vertex in vertices.chunks_exact(size_of::<SkinnedVertex>()) {
                let vertex: SkinnedVertex = bytemuck::pod_read_unaligned(vertex);
                skinned.positions.push(vertex.position.into());
                skinned.normals.push(vertex.normal.into());
                if has_tangents {
                    skinned.tangents.push(vertex.tangent.into());
                }
            }
            skinned.step = self.step;
        }
        // Of a frame that was stopped before its report there is an older one.
        if report.recording == self.tag as u32 {
            instance.report = report;
        } else if front.asked.state {
            instance.report.resets = instance.state.nodes.resets(&instance.flesh).sum();
        }
        instance.state.health.follow(&instance.flesh, &instance.state.nodes, instance.report.resets);
    }
}

/// Fills rows from the first bytes there are, and goes on behind them.
fn take_rows<T: bytemuck::Pod>(rows: &mut [T], bytes: &mut &[u8]) {
    let target: &mut [u8] = bytemuck::cast_slice_mut(rows);
    let (own, rest) = bytes.split_at(target.len());
    target.copy_from_slice(own);
    *bytes = rest;
}

/// Who presses whom, as far as it has arrived.
#[derive(Default)]
struct Tallied {
    /// The tag of the newest frame of which it has.
    tag: u64,
    /// How many tallies that made.
    report: Option<TallyReport>,
    /// The step of the newest that was left with the instances since it was last asked.
    step: Option<u64>,
}

impl Tallied {
    /// Leaves with the instances what pressed them in a frame, once.
    fn take(&mut self, sent: &Sent, bytes: &[u8], slots: &mut [Slot]) {
        let Some(tallies) = sent.tallies.as_ref().filter(|_| sent.tag > self.tag) else { return };
        let report = tallies.leave(&bytes[sent.tallied.clone()], &sent.whose(bytes), slots, self.step.is_none());
        self.tag = sent.tag;
        self.report = Some(report);
        if report.is_whole() {
            self.step = Some(sent.step);
        }
    }
}

/// What was read back and is on its way.
pub(super) struct Results {
    readback: Readback,
    /// The newest that has arrived, and those after it.
    under_way: VecDeque<Sent>,
    /// The tag and the step of the newest that the instances were shown.
    shown: (u64, u64),
    /// How many pairs of segments the newest frame found that has arrived.
    pairs: Option<PairReport>,
    tallied: Tallied,
    /// How many bytes the last frame has sent back.
    pub bytes: u64,
}

impl Results {
    pub fn new() -> Self {
        let readback = Readback::new("results", DEPTH);
        let (under_way, tallied) = Default::default();
        Self { readback, under_way, shown: (0, 0), pairs: None, tallied, bytes: 0 }
    }

    /// Has a frame's results sent back, as far as each instance's are asked for; `told` says that, and whether it is stepped. Where too
    /// many are under way they are left out.
    pub fn send(
        &mut self,
        (gpu, encoder): (&GpuDevice, &mut wgpu::CommandEncoder),
        buffers: &Buffers,
        residents: &Residents,
        (tag, step, finds): (u64, u64, bool),
        told: impl Fn(usize) -> (ReadBack, bool),
    ) -> Result<(), GpuError> {
        self.bytes = 0;
        let sent = Sent::new((tag, step, finds), residents, told);
        if sent.tallies.is_none() {
            // What frames before it made is of before events were switched off.
            self.tallied.tag = tag;
        }
        // Of no instance nothing is copied, but that what pressed the last one has parted; that the frame was is remembered.
        let is_empty = sent.fronts.is_empty() && sent.tallies.is_none();
        let parts = if is_empty { Vec::new() } else { sent.parts(buffers) };
        // No hit is missed where several frames arrive at once.
        self.readback.keep_older(sent.tallies.is_some());
        if self.readback.enqueue(gpu, encoder, tag, &parts)? {
            self.bytes = parts.iter().map(|(.., bytes)| bytes).sum();
        }
        self.under_way.push_back(sent);
        if self.under_way.len() > REMEMBERED {
            self.under_way.pop_front();
        }
        Ok(())
    }

    /// How many pairs of segments the newest frame found that has arrived; `None` where it did not look for any.
    pub fn pairs(&self) -> Option<PairReport> {
        self.pairs
    }

    /// How many tallies the newest frame made that has arrived and had any.
    pub fn tallies(&self) -> Option<TallyReport> {
        self.tallied.report
    }

    /// The newest step of which tallies were left with the instances since this was last asked.
    pub fn take_tallied(&mut self) -> Option<u64> {
        self.tallied.step.take()
    }

    /// The tag of the newest that the instances were shown.
    pub fn arrived(&self) -> u64 {
        self.shown.0
    }

    /// Takes in what has arrived, without waiting.
    pub fn poll(&mut self, gpu: &GpuDevice, residents: &Residents, slots: &mut [Slot]) -> Result<(), GpuError> {
        let polled = self.take_arrived(gpu, slots);
        if let Some((tag, bytes)) = self.readback.latest()
            && tag > self.shown.0
            && let Some(index) = self.under_way.iter().rposition(|sent| sent.tag == tag)
        {
            self.under_way.drain(..index);
            let sent = &self.under_way[0];
            sent.show(residents, slots, bytes);
            self.pairs = sent.pair_report(bytes);
            self.shown = (tag, sent.step);
        }
        polled
    }

    /// Takes in what has arrived, and of all of it who presses whom; nothing else is shown yet.
    fn take_arrived(&mut self, gpu: &GpuDevice, slots: &mut [Slot]) -> Result<(), GpuError> {
        let Self { readback, under_way, tallied, .. } = self;
        let polled = readback.poll(gpu);
        let older = readback.take_older();
        let older = older.iter().map(|(tag, bytes)| (*tag, bytes.as_slice()));
        for (tag, bytes) in older.chain(readback.latest()) {
            if let Some(sent) = under_way.iter().find(|sent| sent.tag == tag) {
                tallied.take(sent, bytes, slots);
            }
        }
        polled
    }

    /// Waits for the frame of a tag, the newest recorded, and shows all of it.
    pub fn show_now(
        &mut self,
        gpu: &GpuDevice,
        buffers: &Buffers,
        (residents, slots): (&Residents, &mut [Slot]),
        (tag, step): (u64, u64),
    ) -> Result<(), GpuError> {
        gpu.check()?;
        let finds = residents.meetings.found_in(tag);
        let steps = |slot: usize| slots.get(slot)?.instance.as_ref().map(|instance| instance.steps().flesh);
        let sent = Sent::new((tag, step, finds), residents, |slot| (ReadBack::ALL, steps(slot).unwrap_or_default()));
        let bytes = read_now(gpu, &sent.parts(buffers))?;
        self.take_arrived(gpu, slots)?;
        self.tallied.take(&sent, &bytes, slots);
        sent.show(residents, slots, &bytes);
        if finds {
            self.pairs = sent.pair_report(&bytes);
        }
        self.shown = (tag, step);
        self.under_way.clear();
        Ok(())
    }

    /// Waits for all that was submitted, and shows all of the newest frame that was, whichever that is; `buffers` are as they
    /// were after it. Returns its step.
    pub fn show_submitted(
        &mut self,
        gpu: &GpuDevice,
        buffers: &mut Buffers,
        (residents, slots): (&Residents, &mut [Slot]),
    ) -> Result<u64, GpuError> {
        gpu.wait()?;
        self.poll(gpu, residents, slots)?;
        let versions: Vec<BufferPart<'_>> =
            buffers.versions(REPORTS).map(|buffer| (buffer, 0, buffer.size())).collect();
        let reports = read_now(gpu, &versions)?;
        let reports = reports.chunks_exact(REPORT).map(bytemuck::pod_read_unaligned::<HealthReport>);
        let newest = reports.map(|report| report.recording).max().unwrap_or(0);
        let known = newest.wrapping_sub(self.shown.0 as u32).cast_signed() <= 0;
        if let Some(index) = self.under_way.iter().position(|sent| sent.tag as u32 == newest)
            && let Some(sent) = self.under_way.drain(index..).next()
        {
            buffers.take_back(sent.tag);
            let sent = sent.whole();
            let bytes = read_now(gpu, &sent.parts(buffers))?;
            self.tallied.take(&sent, &bytes, slots);
            sent.show(residents, slots, &bytes);
            self.shown = (sent.tag, sent.step);
        } else if !known {
            let message = format!("more than {REMEMBERED} frames were dropped at once");
            return Err(GpuError::Refused { message });
        }
        self.under_way.clear();
        Ok(self.shown.1)
    }

    /// The step of the newest frame that was recorded, or that the instances were shown.
    pub fn newest_step(&self) -> u64 {
        self.under_way.back().map_or(self.shown.1, |sent| sent.step)
    }

    /// What is under way counts no more: the host has put every instance at a step.
    pub fn put_at(&mut self, tag: u64, step: u64) {
        self.under_way.clear();
        self.shown = (tag, step);
    }
}
