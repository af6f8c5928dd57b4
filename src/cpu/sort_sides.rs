//! Stage `sort_sides`: which of all sides of pairs are whose. Its twin is `shaders/sort_sides.wgsl`.

use super::find_pairs::Meetings;
use super::gather_segments::Segment;
use super::lanes::LANES;
use super::meetings::Side;
use crate::instances::Instances;
use crate::layout::shown;

/// A group that may meet others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeetingGroup {
    /// Which node of what is shown is its first.
    pub base: u32,
    /// Which of [`Meetings::sides`] each lane's begin with, and where the last one's end.
    pub sides: [u32; LANES + 1],
}

impl Meetings {
    /// Sorts the pairs' sides by their segments, and says who shows where.
    pub fn sort_sides(&mut self, instances: &Instances) {
        let segments = &self.segments;
        let mut next = vec![0_u32; segments.len() + 1];
        for segment in self.pairs.iter().flatten() {
            next[*segment as usize + 1] += 1;
        }
        for index in 1..next.len() {
            next[index] += next[index - 1];
        }
        let (mut nodes, mut index) = (0, 0);
        let mut sides_of = |place: usize| -> [u32; LANES + 1] {
            std::array::from_fn(|lane| {
                let first = next[index];
                let own = segments[index..].iter();
                index += own.take_while(|segment| (segment.place, segment.lane) == (place as u32, lane as u32)).count();
                first
            })
        };
        let mut first = 0;
        for instance in instances.iter() {
            let rests = &instance.flesh.groups;
            let sides: Vec<_> = (first..first + rests.len()).map(&mut sides_of).collect();
            let meets = |sides: &[u32; LANES + 1]| sides[LANES] > sides[0];
            // What hangs together is stepped together.
            let together = !instance.flesh.branches.is_empty() && sides.iter().any(meets);
            for ((group, sides), rest) in self.groups[first..].iter_mut().zip(sides).zip(rests) {
                if together || meets(&sides) {
                    *group = Some(MeetingGroup { base: nodes as u32, sides });
                    nodes += rest.node_count;
                }
            }
            first += rests.len();
        }
        self.sides.clear();
        self.sides.resize(2 * self.pairs.len(), Side::default());
        for (segments_of, &slot) in self.pairs.iter().zip(&self.slots) {
            for (side, &segment) in segments_of.iter().enumerate() {
                let Segment { node, place, lane, .. } = segments[segment as usize];
                let at = &mut next[segment as usize];
                self.sides[*at as usize] = Side { segment: node, pair: slot, side: side as u32 };
                *at += 1;
                let base = self.groups[place as usize].map_or(0, |group| group.base);
                let row = (base + node) * shown::ENTRIES as u32 + lane;
                self.blocks[slot as usize / LANES].first[side][slot as usize % LANES] = row;
            }
        }
        self.shown.resize(nodes * shown::ENTRIES, [0.0; LANES]);
    }
}
