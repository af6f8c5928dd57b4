//! Which segments may touch those of other chains in a frame, and the contact rows that they then have.
//!
//! A segment is a pill; its bounding sphere, widened by how far it may go in the frame, goes through the grid. Segments of one
//! chain do not meet, nor do those of one instance that overlap at rest. In all lanes of a group a row is on the same segment, so
//! a segment has as many rows as in the lane that meets most.

use glam::DVec3;

use super::grid::{Pair, PairFinder, PairThreads, Sphere};
use super::lanes::{Entry, LANES, OneF64};
use super::math::V3;
use super::pills::{Pill, nearest};
use crate::flesh::{Flesh, GroupState};
use crate::instances::Instances;
use crate::layout::{chain, contact, meet, node, rest};

/// How many segments a group has at most, for names of segments.
const MOST_SEGMENTS: usize = 4096;

/// A segment.
#[derive(Clone, Copy)]
struct Segment {
    /// Which of the groups that there are.
    place: usize,
    instance: usize,
    group: usize,
    index: usize,
    lane: usize,
}

impl Segment {
    /// What names it within its instance.
    fn name(&self) -> f32 {
        ((self.group * MOST_SEGMENTS + self.index) * LANES + self.lane) as f32
    }
}

/// Who meets whom.
#[derive(Default)]
pub(super) struct Meetings {
    finder: PairFinder,
    pairs: Vec<Pair>,
    /// Which node of what is shown is the first of each group's, in the order of instances and groups; `None` of those that
    /// meet nobody.
    pub bases: Vec<Option<usize>>,
    /// How many nodes are shown.
    pub nodes: usize,
}

impl Meetings {
    /// Finds who may meet in a frame of so long (s), and gives every group the rows for it.
    pub fn find(&mut self, instances: &mut Instances, threads: &PairThreads, frame: f32, gravity: f32) {
        let mut segments = Vec::new();
        let mut spheres = Vec::new();
        let mut origin: Option<DVec3> = None;
        let mut place = 0;
        for (slot, (_, instance)) in instances.handles().enumerate() {
            for (group, (rest, state)) in instance.flesh.groups.iter().zip(&instance.state.nodes.groups).enumerate() {
                for index in 0..rest.node_count.saturating_sub(1) {
                    for lane in 0..LANES {
                        if instance.active.flesh && rest.row(index)[rest::INV_LENGTH][lane] > 0.0 {
                            let (ends, radius, speed) =
                                sphere_of(state, rest.row(index), rest.row(index + 1), index, lane);
                            let common = *origin.get_or_insert(ends[0]);
                            let margin = speed * frame + 0.5 * gravity * frame * frame + 0.05 * radius;
                            let centre = (ends[0] + ends[1]) * 0.5 - common;
                            let half = 0.5 * ends[0].distance(ends[1]) as f32;
                            spheres
                                .push(Sphere { centre: centre.as_vec3().to_array(), radius: half + radius + margin });
                            segments.push(Segment { place, instance: slot, group, index, lane });
                        }
                    }
                }
                place += 1;
            }
        }
        let fleshes: Vec<_> = instances.iter().map(|instance| instance.flesh.clone()).collect();
        let keep = |a: u32, b: u32| {
            let (a, b) = (&segments[a as usize], &segments[b as usize]);
            if a.instance != b.instance {
                return true;
            }
            let alike = (a.group, a.lane) == (b.group, b.lane);
            !alike && rest_gap(&fleshes[a.instance], a, b) > 0.0
        };
        self.finder.find(threads, &spheres, keep, &mut self.pairs);

        // Whom each segment meets, in ascending order.
        let mut met: Vec<Vec<u32>> = vec![Vec::new(); segments.len()];
        for &[a, b] in &self.pairs {
            met[a as usize].push(b);
            met[b as usize].push(a);
        }
        let mut counts: Vec<Vec<usize>> = Vec::new();
        self.bases.clear();
        self.nodes = 0;
        for instance in instances.iter() {
            for rest in &instance.flesh.groups {
                counts.push(vec![0; rest.node_count]);
                self.bases.push(None);
            }
        }
        for (segment, met) in segments.iter().zip(&met) {
            let most = &mut counts[segment.place][segment.index];
            *most = (*most).max(met.len());
        }
        let mut place = 0;
        for instance in instances.iter() {
            for rest in &instance.flesh.groups {
                if counts[place].iter().any(|&count| count > 0) {
                    self.bases[place] = Some(self.nodes);
                    self.nodes += rest.node_count;
                }
                place += 1;
            }
        }
        let mut of_place: Vec<Vec<usize>> = vec![Vec::new(); place];
        for (index, segment) in segments.iter().enumerate() {
            of_place[segment.place].push(index);
        }
        let mut place = 0;
        for instance in instances.iter_mut() {
            for state in &mut instance.state.nodes.groups {
                let partners = of_place[place].iter().map(|&index| (index, &segments[index], &met[index]));
                make_rows(state, &counts[place], partners, &segments, &self.bases);
                place += 1;
            }
        }
    }
}

/// A segment's ends in the world (m), its larger radius (m) and how fast it goes (m/s).
fn sphere_of(
    state: &GroupState,
    rest: &[Entry<f32>],
    next_rest: &[Entry<f32>],
    index: usize,
    lane: usize,
) -> ([DVec3; 2], f32, f32) {
    let vector =
        |rows: &[Entry<f32>], at: usize| DVec3::from_array(std::array::from_fn(|k| f64::from(rows[at + k][lane])));
    let origin = vector(&state.chains, chain::ORIGIN);
    let row = |index: usize| &state.nodes[index * node::ENTRIES..][..node::ENTRIES];
    let ends = [index, index + 1].map(|index| origin + vector(row(index), node::PLACE));
    let speed = [index, index + 1].map(|index| vector(row(index), node::VELOCITY).length() as f32);
    let radius = |rest: &[Entry<f32>], index: usize| rest[rest::RADIUS][lane] * row(index)[node::SCALE][lane];
    (ends, radius(rest, index).max(radius(next_rest, index + 1)), speed[0].max(speed[1]))
}

/// The gap between two segments of one instance at rest (m).
fn rest_gap(flesh: &Flesh, a: &Segment, b: &Segment) -> f64 {
    let pill = |segment: &Segment| {
        let chain = flesh.chains().iter().find(|chain| (chain.group, chain.lane) == (segment.group, segment.lane));
        let rest = &chain.expect("has a segment").rest;
        let radius = |index: usize| f64::from(flesh.groups[segment.group].row(index)[rest::RADIUS][segment.lane]);
        Pill {
            ends: [segment.index, segment.index + 1].map(|index| V3(rest[index].translation.to_array())),
            radii: [segment.index, segment.index + 1].map(radius),
        }
    };
    nearest(OneF64(0), &pill(a), &pill(b)).gap
}

/// A group's rows of a frame: two for each pair, in the order of segments; what was remembered of a pair is kept.
fn make_rows<'a>(
    state: &mut GroupState,
    counts: &[usize],
    partners: impl Iterator<Item = (usize, &'a Segment, &'a Vec<u32>)>,
    segments: &[Segment],
    bases: &[Option<usize>],
) {
    let total: usize = counts.iter().sum::<usize>() * 2;
    let first = state.contacts.len() / contact::ENTRIES - state.meets.len() / meet::ENTRIES;
    let old_contacts = state.contacts.split_off(first * contact::ENTRIES);
    let old_meets = std::mem::take(&mut state.meets);
    if total == 0 {
        return;
    }
    state.contacts.resize((first + total) * contact::ENTRIES, [0.0; LANES]);
    state.meets.resize(total * meet::ENTRIES, [0.0; LANES]);
    let mut begin = Vec::with_capacity(counts.len());
    let mut slot = 0;
    for (index, &count) in counts.iter().enumerate() {
        begin.push(slot);
        for _ in 0..count * 2 {
            let at = (first + slot) * contact::ENTRIES;
            state.contacts[at + contact::SEGMENT] = [index as f32; LANES];
            state.contacts[at + contact::DIRECTION] = [1.0; LANES];
            state.meets[slot * meet::ENTRIES + meet::OTHER] = [-1.0; LANES];
            state.meets[slot * meet::ENTRIES + meet::RATIO] = [1.0; LANES];
            slot += 1;
        }
    }
    for (own, segment, met) in partners {
        let lane = segment.lane;
        for (rank, &other) in met.iter().enumerate() {
            let partner = &segments[other as usize];
            let Some(base) = bases[partner.place] else { continue };
            for point in 0..2 {
                let slot = begin[segment.index] + rank * 2 + point;
                let row = &mut state.meets[slot * meet::ENTRIES..][..meet::ENTRIES];
                row[meet::OTHER][lane] = (base + partner.index) as f32;
                row[meet::LANE][lane] = partner.lane as f32;
                row[meet::INSTANCE][lane] = partner.instance as f32;
                row[meet::SEGMENT][lane] = partner.name();
                row[meet::POINT][lane] = point as f32;
                row[meet::FIRST][lane] = if (own as u32) < other { 1.0 } else { 0.0 };
                let same = |old: usize| {
                    let (row, old_row) = (&*row, &old_meets[old * meet::ENTRIES..][..meet::ENTRIES]);
                    let alike = |entry: usize| row[entry][lane] == old_row[entry][lane];
                    old_row[meet::OTHER][lane] >= 0.0
                        && old_contacts[old * contact::ENTRIES + contact::SEGMENT][lane] == segment.index as f32
                        && [meet::INSTANCE, meet::SEGMENT, meet::POINT].into_iter().all(alike)
                };
                if let Some(old) = (0..old_meets.len() / meet::ENTRIES).find(|&old| same(old)) {
                    for entry in meet::ALONG..meet::ENTRIES {
                        row[entry][lane] = old_meets[old * meet::ENTRIES + entry][lane];
                    }
                    for entry in contact::ALONG..contact::ENTRIES {
                        state.contacts[(first + slot) * contact::ENTRIES + entry][lane] =
                            old_contacts[old * contact::ENTRIES + entry][lane];
                    }
                }
            }
        }
    }
}
