//! Rods that hang on rods.

use std::ops::Range;

use super::spec::{BuildError, Hang, RodSpec};
use super::{Chain, Flesh};
use crate::Pose;
use crate::cpu::lanes::{Entry, LANES};
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
    /// How many levels of chains that hang on chains it has; 0 where none does.
    pub(crate) fn level_count(&self) -> u32 {
        let stem = |chain: &&Chain| chain.hangs.map(|hang| &self.chains[hang.rod]);
        let levels = |chain| std::iter::successors(Some(chain), stem).count() as u32;
        self.chains.iter().map(levels).max().filter(|&levels| levels > 1).unwrap_or(0)
    }

    /// For each group the [`tree`] row that it has, if it is of a family.
    pub(crate) fn tree_rows(&self) -> Vec<Option<Vec<Entry<f32>>>> {
        let number = |[group, lane]: [usize; 2]| (group * LANES + lane) as f32;
        let mut rows = vec![None; self.groups.len()];
        for group in self.families.iter().cloned().flatten() {
            let of_lanes = |of: &dyn Fn(usize) -> f32| std::array::from_fn(|lane| of(lane));
            let mut row: Vec<Entry<f32>> = vec![[0.0; LANES]; rest::ENTRIES];
            for entry in [tree::CHAIN, tree::ROOT] {
                row[entry] = of_lanes(&|lane| number([group, lane]));
            }
            for entry in [tree::STEM, tree::FIRST, tree::NEXT, tree::FOLLOWING] {
                row[entry] = [-1.0; LANES];
            }
            let rest = &self.groups[group];
            row[tree::STUMP] = [(rest.node_count + rest.reaction_count()) as f32; LANES];
            rows[group] = Some(row);
        }
        let mut set = |[group, lane]: [usize; 2], entry: usize, value: f32| {
            let row = rows[group].as_mut().expect("it is of a family");
            std::mem::replace(&mut row[entry][lane], value)
        };
        // Of each tree the last chain so far, by the number of its root.
        let mut last: Vec<[usize; 2]> = (0..self.groups.len() * LANES).map(|at| [at / LANES, at % LANES]).collect();
        let mut roots = last.clone();
        let mut levels = vec![0.0; last.len()];
        for branch in &self.branches {
            let Branch { chain, node, stem, stem_node, rest } = *branch;
            let [own, below] = [chain, stem].map(|at| number(at) as usize);
            (roots[own], levels[own]) = (roots[below], levels[below] + 1.0);
            let root = number(roots[own]);
            let before = std::mem::replace(&mut last[root as usize], chain);
            set(before, tree::FOLLOWING, number(chain));
            let frame = rest.rotation.to_array();
            let place = rest.translation.to_array();
            let of_rest = (tree::PLACE..).zip(place).chain((tree::FRAME..).zip(frame));
            let known = [
                (tree::STEM, number(stem)),
                (tree::STEM_NODE, stem_node as f32),
                (tree::NODE, node as f32),
                (tree::ROOT, root),
                (tree::LEVEL, levels[own]),
            ];
            for (entry, value) in known.into_iter().chain(of_rest.map(|(entry, value)| (entry, value as f32))) {
                set(chain, entry, value);
            }
        }
        let mut counts = vec![0.0; roots.len()];
        roots.iter().for_each(|&root| counts[number(root) as usize] += 1.0);
        for (at, root) in
            roots.iter().enumerate().filter(|(at, _)| self.families.iter().any(|f| f.contains(&(at / LANES))))
        {
            set([at / LANES, at % LANES], tree::COUNT, counts[number(*root) as usize]);
        }
        let mut by_node: Vec<&Branch> = self.branches.iter().collect();
        by_node.sort_by_key(|branch| (branch.stem_node, branch.chain));
        for branch in by_node.into_iter().rev() {
            let next = set(branch.stem, tree::FIRST, number(branch.chain));
            set(branch.chain, tree::NEXT, next);
        }
        rows
    }
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
