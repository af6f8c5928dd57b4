//! Rods that hang on rods.

#[cfg(feature = "gpu")]
use std::cmp::Ordering;
use std::ops::Range;

use super::Chain;
#[cfg(feature = "gpu")]
use super::Flesh;
use super::spec::{BuildError, Hang, RodSpec};
use crate::Pose;
#[cfg(feature = "gpu")]
use crate::cpu::lanes::{Entry, LANES};
#[cfg(feature = "gpu")]
use crate::layout::{rest, tree};

/// A chain whose last node hangs on a node of another one, its stem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Branch {
    /// The chain's group and its lane there.
    pub chain: [usize; 2],
    /// Its last node.
    pub node: usize,
    /// The stem's group and its lane there.
    pub stem: [usize; 2],
    /// The node that it hangs on.
    pub stem_node: usize,
    /// Its last section at rest, in the frame of the one that it hangs on.
    pub rest: Pose,
}

impl Branch {
    /// Of a chain and its stem, at a node of that.
    pub fn new(chain: &Chain, stem: &Chain, stem_node: usize) -> Self {
        let node = chain.node_count() - 1;
        let rest = stem.rest[stem_node].inverse() * chain.rest[node];
        Self { chain: [chain.group, chain.lane], node, stem: [stem.group, stem.lane], stem_node, rest }
    }

    /// Which of two comes first by where they hang, and of those that hang in one place, as they are listed.
    #[cfg(feature = "gpu")]
    fn around_stem(&self, other: &Self) -> Ordering {
        let key = |Pose { translation, rotation }: Pose| translation.to_array().into_iter().chain(rotation.to_array());
        let places = key(self.rest).zip(key(other.rest)).map(|(one, other)| one.total_cmp(&other));
        places.fold(Ordering::Equal, Ordering::then).then(self.chain.cmp(&other.chain))
    }

    /// Whether another one hangs on the same section.
    pub fn is_beside(&self, other: &Self) -> bool {
        (self.stem, self.stem_node) == (other.stem, other.stem_node)
    }
}

/// Groups of rods with those beside each other whose rods hang on each other, each after those that its own hang on.
pub(super) fn together<'a>(groups: impl Iterator<Item = &'a [usize]>, rods: &[RodSpec]) -> Vec<&'a [usize]> {
    let groups: Vec<&[usize]> = groups.collect();
    let mut group_of = vec![0; rods.len()];
    for (group, members) in groups.iter().enumerate() {
        members.iter().for_each(|&rod| group_of[rod] = group);
    }
    // Of each, the first that it is together with.
    let mut first: Vec<usize> = (0..groups.len()).collect();
    for (rod, hang) in rods.iter().enumerate().filter_map(|(rod, spec)| Some((rod, spec.hangs?))) {
        let (own, stem) = (first[group_of[rod]], first[group_of[hang.rod]]);
        first.iter_mut().filter(|first| **first == own.max(stem)).for_each(|first| *first = own.min(stem));
    }
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&group| first[group]);
    order.into_iter().map(|group| groups[group]).collect()
}

/// The groups, beside each other, of which chains hang on each other; not those of which none does.
pub(super) fn families(branches: &[Branch]) -> Vec<Range<usize>> {
    let mut families: Vec<Range<usize>> = Vec::new();
    for Branch { chain: [group, _], stem: [stem, _], .. } in branches {
        let mut family = *stem..group + 1;
        while let Some(before) = families.pop_if(|before| before.end > family.start) {
            family = before.start.min(family.start)..before.end.max(family.end);
        }
        families.push(family);
    }
    families
}

#[cfg(feature = "gpu")]
impl Flesh {
    /// How many levels of chains that hang on chains it has.
    pub(crate) fn level_count(&self) -> u32 {
        self.numbered().1.into_iter().max().map_or(0, |level| level as u32 + 1)
    }

    /// Of each lane of all groups which one's chain is the root of its tree, and how many stems are below its own.
    fn numbered(&self) -> (Vec<usize>, Vec<usize>) {
        let mut roots: Vec<usize> = (0..self.groups.len() * LANES).collect();
        let mut levels = vec![0; roots.len()];
        // Stems come before what hangs on them.
        for branch in &self.branches {
            let [own, stem] = [branch.chain, branch.stem].map(number);
            (roots[own], levels[own]) = (roots[stem], levels[stem] + 1);
        }
        (roots, levels)
    }

    /// For each group the [`tree`] row that it has on a GPU; none of those of which no chain hangs on another or bears one.
    pub(crate) fn tree_rows(&self) -> Vec<Vec<Entry<f32>>> {
        if self.families.is_empty() {
            return vec![Vec::new(); self.groups.len()];
        }
        let (roots, levels) = self.numbered();
        let mut rows = vec![[[0.0; LANES]; rest::ENTRIES]; self.groups.len()];
        let mut set = |at: usize, entry: usize, value: usize| {
            std::mem::replace(&mut rows[at / LANES][entry][at % LANES], value as f32) as usize
        };
        // One more than the number while they are linked: 0 is none.
        let mut last = vec![0; roots.len()];
        for (at, &root) in roots.iter().enumerate() {
            let rest = &self.groups[at / LANES];
            let count = roots.iter().filter(|other| **other == root).count();
            let known = [
                (tree::CHAIN, at),
                (tree::ROOT, root),
                (tree::LEVEL, levels[at]),
                (tree::COUNT, count),
                (tree::STUMP, rest.node_count + rest.reaction_count),
            ];
            known.into_iter().for_each(|(entry, value)| _ = set(at, entry, value));
            match std::mem::replace(&mut last[root], at + 1) {
                0 => {}
                before => _ = set(before - 1, tree::FOLLOWING, at + 1),
            }
        }
        let mut by_node: Vec<&Branch> = self.branches.iter().collect();
        // Not as they are listed, which is nobody's business: a GPU sums in f32 what they add to their stem.
        by_node.sort_by(|one, other| one.stem_node.cmp(&other.stem_node).then_with(|| one.around_stem(other)));
        for Branch { chain, node, stem, stem_node, .. } in by_node.into_iter().rev() {
            let [own, stem] = [*chain, *stem].map(number);
            let next = set(stem, tree::FIRST, own + 1);
            let known =
                [(tree::NEXT, next), (tree::STEM, stem + 1), (tree::STEM_NODE, *stem_node), (tree::NODE, *node)];
            known.into_iter().for_each(|(entry, value)| _ = set(own, entry, value));
        }
        for row in &mut rows {
            for entry in [tree::STEM, tree::FIRST, tree::NEXT, tree::FOLLOWING] {
                row[entry].iter_mut().for_each(|name| *name -= 1.0);
            }
        }
        for Branch { chain: [group, lane], rest, .. } in &self.branches {
            let (place, frame) = (rest.translation.to_array(), rest.rotation.to_array());
            for (entry, value) in (tree::PLACE..).zip(place).chain((tree::FRAME..).zip(frame)) {
                rows[*group][entry][*lane] = value as f32;
            }
        }
        let of_trees = |(group, row): (usize, [Entry<f32>; rest::ENTRIES])| {
            if self.groups[group].is_in_tree() { row.to_vec() } else { Vec::new() }
        };
        rows.into_iter().enumerate().map(of_trees).collect()
    }
}

/// A lane's number among those of all groups.
#[cfg(feature = "gpu")]
fn number([group, lane]: [usize; 2]) -> usize {
    group * LANES + lane
}

/// How many rods there are between each rod and one that hangs on none.
///
/// # Errors
/// A rod that hangs on what is not there or on itself, or that a bone holds where it hangs.
pub(super) fn levels(rods: &[RodSpec]) -> Result<Vec<usize>, BuildError> {
    for rod in rods {
        let Some(Hang { rod: stem, node }) = rod.hangs else { continue };
        let missing = |field, index, count| BuildError::NoSuchStem { rod: rod.name.clone(), field, index, count };
        let nodes = rods.get(stem).ok_or_else(|| missing("rod", stem, rods.len()))?.nodes.len();
        if node >= nodes {
            return Err(missing("node", node, nodes));
        }
        if let Some(attachment) = rod.attachments.iter().position(|held| held.node + 1 == rod.nodes.len()) {
            return Err(BuildError::HeldAndHung { rod: rod.name.clone(), attachment });
        }
    }
    let stem = |rod: usize| rods[rod].hangs.map(|hang| hang.rod);
    let stems = |rod: usize| std::iter::successors(stem(rod), |&rod| stem(rod));
    let level = |rod: usize| {
        let level = stems(rod).take(rods.len()).count();
        if level < rods.len() {
            return Ok(level);
        }
        // So far along it is in the ring.
        let first = stems(rod).nth(rods.len() - 1).unwrap_or(rod);
        let ring = std::iter::once(first).chain(stems(first).take_while(|&rod| rod != first));
        Err(BuildError::HangsOnItself { rods: ring.map(|rod| format!("`{}`", rods[rod].name)).collect() })
    };
    (0..rods.len()).map(level).collect()
}
