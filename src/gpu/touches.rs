//! What segments that press against each other remember, between the instances and the arrays: told to a GPU with all their states,
//! and taken from it where a host waits for these.

use super::arrays::{MEET_ROWS, PAIRS, PARTNERS, SEGMENT_PAIRS};
use super::meeting_pool::Capacities;
use super::readback::read_now;
use super::residents::{Residents, Upload};
use super::{Buffers, GpuDevice, GpuError};
use crate::backend::SegmentPair;
use crate::cpu::lanes::Entry;
use crate::instances::{FleshHandle, Instance, REMEMBERED, Slot, Touch};
use crate::layout::{LANES, NO_PAIR, meet, partners};

/// What both points of a pair remember.
type Memory = [[f32; REMEMBERED]; 2];

/// Words of a pair.
const PAIR_WORDS: usize = 8;

/// Which of two frames in turn a recording is.
fn frame_of(recording: u64) -> usize {
    (recording & 1) as usize
}

/// Where a pair has the k-th entry that a point remembers of a frame: its entry among rows, and its lane.
fn entry_of(pair: usize, frame: usize, point: usize, k: usize) -> (usize, usize) {
    let lanes = LANES as usize;
    let before = 2 * meet::FORCE + (frame * 2 + point) * REMEMBERED;
    (pair / lanes * meet::OF_PAIRS + before + k, pair % lanes)
}

/// The same as the other side has it: what pulls one pushes the other.
fn turned_round(memory: Memory) -> Memory {
    let sides = meet::PULL - meet::MEMORY.start..meet::OVER_MASS - meet::MEMORY.start;
    memory.map(|mut point| {
        point[sides.clone()].iter_mut().for_each(|value| *value = -*value);
        point
    })
}

/// The pairs of a GPU's newest frame that found any, in the order of its segments, by the places of their instances.
pub(super) fn pairs_now(
    gpu: &GpuDevice,
    buffers: &Buffers,
    residents: &Residents,
) -> Result<Vec<(usize, SegmentPair)>, GpuError> {
    let array = buffers.array(PAIRS);
    let words: Vec<u32> = bytemuck::pod_collect_to_vec(&read_now(gpu, &[(array, 0, array.size())])?);
    let pairs = words[PAIR_WORDS..].chunks_exact(PAIR_WORDS).take(words[0] as usize).enumerate();
    let named = pairs.filter(|(_, pair)| pair[0] != NO_PAIR).filter_map(|(index, pair)| {
        let [a, b] = [0, 4].map(|side| residents.name_of(pair[side], pair[side + 1]));
        Some((index, [a?, b?]))
    });
    Ok(named.collect())
}

/// What of a slot a GPU's state is shown of: what the host has changed since is the host's.
fn shown(slot: &mut Slot) -> Option<&mut Instance> {
    slot.instance.as_mut().filter(|instance| instance.steps().flesh && !instance.changed)
}

/// Leaves with the instances what pairs of the newest frame that touch remember, after a recording that found them.
pub(super) fn take(
    gpu: &GpuDevice,
    buffers: &Buffers,
    (residents, slots): (&Residents, &mut [Slot]),
    recording: u64,
) -> Result<(), GpuError> {
    let pairs = pairs_now(gpu, buffers, residents)?;
    let array = buffers.array(MEET_ROWS);
    let rows: Vec<Entry<f32>> = bytemuck::pod_collect_to_vec(&read_now(gpu, &[(array, 0, array.size())])?);
    let handles: Vec<FleshHandle> =
        slots.iter().enumerate().map(|(slot, held)| FleshHandle::of(slot, held.generation)).collect();
    slots.iter_mut().filter_map(shown).for_each(|instance| instance.state.touches.clear());
    for (pair, names) in pairs {
        let memory: Memory = std::array::from_fn(|point| {
            std::array::from_fn(|k| {
                let (entry, lane) = entry_of(pair, frame_of(recording), point, k);
                rows[entry][lane]
            })
        });
        let is_first = names[0] < names[1];
        let ([(own, own_name), (other, theirs)], points) =
            if is_first { (names, memory) } else { ([names[1], names[0]], turned_round(memory)) };
        if Touch::remembers(&points)
            && let Some(instance) = shown(&mut slots[own])
        {
            instance.state.touches.push(Touch { own: own_name, other: handles[other], theirs, points });
        }
    }
    slots.iter_mut().filter_map(shown).for_each(|instance| instance.state.touches.sort_unstable_by_key(Touch::pair));
    Ok(())
}

/// Pairs of segments by their places, with what they remember, in order.
pub(super) type Remembered = Vec<([u32; 2], Memory)>;

/// What all instances remember.
pub(super) fn remembered(residents: &Residents, slots: &[Slot]) -> Remembered {
    let mut pairs = Remembered::new();
    let place = |slot: usize, name| residents.slots.get(slot)?.as_ref()?.chains.place_of(name);
    for (slot, instance) in slots.iter().enumerate().filter_map(|(slot, held)| Some((slot, held.instance.as_ref()?))) {
        for touch in &instance.state.touches {
            let (other, generation) = touch.other.parts();
            let is_there = slots.get(other).is_some_and(|slot| slot.generation == generation);
            if let (Some(a), Some(b), true) = (place(slot, touch.own), place(other, touch.theirs), is_there) {
                let pair = if a < b { ([a, b], touch.points) } else { ([b, a], turned_round(touch.points)) };
                pairs.push(pair);
            }
        }
    }
    pairs.sort_unstable_by_key(|(pair, _)| *pair);
    pairs
}

/// Puts that in the arrays as of the frame before a recording.
pub(super) fn tell(
    upload: &mut Upload<'_>,
    room: Capacities,
    pairs: &Remembered,
    recording: u64,
) -> Result<(), GpuError> {
    let frame = 1 - frame_of(recording);
    let segments = room.segments as usize;
    let mut lists: Vec<Vec<u32>> = vec![Vec::new(); segments];
    for ([a, b], _) in pairs {
        lists[*a as usize].push(*b);
        lists[*b as usize].push(*a);
    }
    let mut words = vec![[[0_u32; partners::ENTRIES]; 2]; segments];
    let mut listed: Vec<[u32; 2]> = Vec::with_capacity(2 * pairs.len());
    let mut first_pair = 0;
    for (segment, (list, words)) in lists.iter_mut().zip(&mut words).enumerate() {
        list.sort_unstable();
        let upper = list.iter().filter(|partner| **partner as usize > segment).count() as u32;
        let row = &mut words[frame];
        row[partners::FIRST] = listed.len() as u32;
        (row[partners::COUNT], row[partners::LISTED]) = (list.len() as u32, list.len() as u32);
        (row[partners::FIRST_PAIR], row[partners::UPPER]) = (first_pair, upper);
        first_pair += upper;
        listed.extend(list.iter().map(|partner| [*partner; 2]));
    }
    let mut rows: Vec<Entry<f32>> = vec![[0.0; LANES as usize]; pairs.len().div_ceil(LANES as usize) * meet::OF_PAIRS];
    for (pair, (_, memory)) in pairs.iter().enumerate() {
        for (point, values) in memory.iter().enumerate() {
            for (k, value) in values.iter().enumerate() {
                let (entry, lane) = entry_of(pair, frame, point, k);
                rows[entry][lane] = *value;
            }
        }
    }
    upload.rows(SEGMENT_PAIRS, 0, &words)?;
    upload.rows(PARTNERS, 0, &listed)?;
    upload.rows(MEET_ROWS, 0, &rows)
}
