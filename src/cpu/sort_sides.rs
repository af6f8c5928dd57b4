//! Stage `sort_sides`: which of all sides of pairs are whose. Its twin is `shaders/sort_sides.wgsl`.

use super::find_pairs::{Meetings, in_chunks};
use super::gather_segments::Segment;
use super::lanes::LANES;
use super::meetings::Side;
use super::packs::Packing;
use super::threads::Threads;
use crate::layout::shown;

/// A group that may meet others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeetingGroup {
    /// Which node of what is shown is its first.
    pub base: u32,
    /// Which of [`Meetings::sides`] are each lane's: the first, and the one after the last.
    pub sides: [[u32; 2]; LANES],
}

impl Meetings {
    /// Sorts the pairs' sides by their segments, and says who shows where, of groups as they are stepped.
    pub fn sort_sides(&mut self, threads: &Threads, packing: &Packing) {
        let segments = &self.segments;
        let mut next = vec![0_u32; segments.len() + 1];
        for segment in self.pairs.iter().flatten() {
            next[*segment as usize + 1] += 1;
        }
        for index in 1..next.len() {
            next[index] += next[index - 1];
        }
        let mut sides = vec![[[0; 2]; LANES]; packing.groups.len()];
        let mut first = 0;
        for chain in segments.chunk_by(Segment::is_of_chain) {
            let at = packing.places[chain[0].place as usize];
            let last = first + chain.len();
            sides[at.group][at.lane + chain[0].lane as usize] = [first, last].map(|index| next[index]);
            first = last;
        }
        let meets = |sides: &[[u32; 2]; LANES]| sides.iter().any(|[first, last]| last > first);
        let mut nodes = 0;
        let mut begin = 0;
        self.groups.clear();
        for kin in packing.groups.chunk_by(|_, next| next.is_of_kin) {
            let end = begin + kin.len();
            // What is stepped together shows together.
            let shows = sides[begin..end].iter().any(meets);
            self.groups.extend(kin.iter().zip(&sides[begin..end]).map(|(group, sides)| {
                let base = nodes as u32;
                nodes += if shows { group.node_count } else { 0 };
                shows.then_some(MeetingGroup { base, sides: *sides })
            }));
            begin = end;
        }
        self.sides.clear();
        self.sides.resize(2 * self.pairs.len(), Side::default());
        for (segments_of, &slot) in self.pairs.iter().zip(&self.slots) {
            for (side, &segment) in segments_of.iter().enumerate() {
                let at = &mut next[segment as usize];
                let node = segments[segment as usize].node;
                self.sides[*at as usize] = Side { segment: node, pair: slot, side: side as u32 };
                *at += 1;
            }
        }
        let Self { pairs, groups, order, blocks, .. } = self;
        let row_of = |segment: u32| {
            let Segment { node, place, lane, .. } = segments[segment as usize];
            let stepped = packing.places[place as usize];
            let base = groups[stepped.group].map_or(0, |group| group.base);
            (base + node) * shown::ENTRIES as u32 + stepped.lane as u32 + lane
        };
        threads.for_each(&mut in_chunks(order, blocks), |(pairs_of, blocks)| {
            for (at, &pair) in pairs_of.iter().enumerate() {
                for (side, row) in pairs[pair as usize].map(row_of).into_iter().enumerate() {
                    blocks[at / LANES].first[side][at % LANES] = row;
                }
            }
        });
        self.shown.resize(nodes * shown::ENTRIES, [0.0; LANES]);
    }
}
