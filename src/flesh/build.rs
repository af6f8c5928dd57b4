//! Rods ready to be stepped: which chains there are, and which group each is in; their rest rows are [`rest_rows`](super::rest_rows)'s.

use std::ops::Range;
use std::sync::Arc;

use glam::DVec3;

use super::bone_pills::BonePills;
use super::bundle::Fibre;
use super::check::check;
use super::overlaps::overlaps;
use super::rest_rows::{fill_lane, inert_group, number_borne, number_reactions, weigh_trees};
use super::spec::{BuildError, Hang, RodSpec};
use super::tree::{Branch, families, levels, together};
use crate::Pose;
use crate::cpu::group::GroupRest;
use crate::cpu::lanes::{Entry, LANES};
use crate::instances::SegmentName;
use crate::layout::rest;
use crate::material::Section;

/// Where a rod went, and what the host needs of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The rod's name.
    pub name: String,
    /// Its group.
    pub group: usize,
    /// Its lane in the group.
    pub lane: usize,
    /// The bones that it hangs on, in order along it; none where it is free.
    pub bones: Vec<usize>,
    /// What its last node hangs on: another chain, and a node of that.
    pub hangs: Option<Hang>,
    /// Rest poses of its nodes, in the space of the bones' rest poses.
    pub rest: Vec<Pose>,
    /// Rest sections of its nodes.
    pub sections: Vec<Section>,
    /// `fibres[k][j]` is fibre k where it passes node j; none for a rod that is one fibre along its axis.
    pub fibres: Vec<Vec<Fibre>>,
    /// Time constants (s) with which activation rises and falls to excitation.
    pub activation_times: [f32; 2],
    /// Rest volume (m³).
    pub rest_volume: f64,
    /// Rest length (m).
    pub rest_length: f64,
}

impl Chain {
    /// How many nodes it has.
    pub fn node_count(&self) -> usize {
        self.rest.len()
    }

    /// Its activation `dt` (s) later, on its way to what excites it: da/dt = (u − a)/τ, in 64 implicit steps,
    /// (1 + dt/64τ)⁻⁶⁴ for e^(−dt/τ), which has the same bits on any machine; at once where τ is 0.
    pub(crate) fn activation_after(&self, dt: f64, activation: f32, excitation: f32) -> f32 {
        let [rise, fall] = self.activation_times;
        let time = f64::from(if excitation > activation { rise } else { fall });
        if time == 0.0 {
            return excitation;
        }
        let mut left = time / (time + dt / 64.0);
        for _ in 0..6 {
            left *= left;
        }
        excitation + (activation - excitation) * left as f32
    }

    /// The bone in a slot of the layout's rows, where a chain of fewer bones repeats its last.
    pub(crate) fn bone_in_slot(&self, slot: usize) -> Option<usize> {
        self.bones.get(slot).or(self.bones.last()).copied()
    }
}

/// Rods ready to be stepped; immutable and shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Flesh {
    pub(crate) chains: Vec<Chain>,
    /// Chains come after those that they hang on.
    pub(crate) groups: Vec<GroupRest<f32>>,
    /// Chains that hang on others, in the order of their groups.
    pub(crate) branches: Vec<Branch>,
    /// Which groups, beside each other, have chains that hang on each other.
    pub(crate) families: Vec<Range<usize>>,
    pub(crate) bones: Vec<Pose>,
    /// How long the box around all rods is along its diagonal (m).
    pub(crate) size: f64,
    /// For each bone, the length of the longest rod that hangs on it, at least a share of the size (m); infinite where
    /// none does.
    pub(crate) reaches: Vec<f64>,
    /// Segments that leave each other alone: those that overlap at rest, and of one chain those that are near; in ascending order.
    pub(super) overlaps: Arc<[[SegmentName; 2]]>,
    /// What of its bones it stays out of.
    pub(crate) bone_pills: BonePills,
}

/// The least share of the flesh's size that a bone's reach is: so that hands, which are fast, do not seem to jump.
pub(super) const LEAST_REACH: f64 = 0.15;

impl Flesh {
    /// Builds rods that hang on bones, given the bones' rest poses.
    ///
    /// # Errors
    /// A [`BuildError`] that names the rod and the field: too few or too many nodes, numbers that are not finite or
    /// out of range, segments without length, attachments to nodes or bones that are not there.
    pub fn build(rods: &[RodSpec], bones: &[Pose]) -> Result<Self, BuildError> {
        let flesh = Self::assemble(rods, bones)?;
        let overlaps = overlaps(&flesh.chains, &flesh.groups).into();
        Ok(Self { overlaps, ..flesh })
    }

    /// As [`Flesh::build`], of the same rods at another size than `first` has them, the same along all axes: what overlaps there
    /// does here.
    pub(crate) fn build_as(first: &Self, rods: &[RodSpec], bones: &[Pose]) -> Result<Self, BuildError> {
        Ok(Self { overlaps: first.overlaps.clone(), ..Self::assemble(rods, bones)? })
    }

    /// [`Flesh::build`] but for what overlaps.
    fn assemble(rods: &[RodSpec], bones: &[Pose]) -> Result<Self, BuildError> {
        if let Some(bone) = bones.iter().position(|pose| !pose.is_finite()) {
            return Err(BuildError::BoneNotFinite { bone });
        }
        let mut order: Vec<usize> = (0..rods.len()).collect();
        for rod in rods {
            check(rod, bones.len())?;
        }
        let levels = levels(rods)?;
        let mut lone: Vec<bool> = rods.iter().map(|rod| rod.hangs.is_none()).collect();
        rods.iter().filter_map(|rod| rod.hangs).for_each(|hang| lone[hang.rod] = false);
        // Chains of like length share a group, so that little is padding; those that hang on none, and bear none, are among themselves.
        let kind = |index: usize| (lone[index], levels[index]);
        order.sort_by_key(|&index| (kind(index), std::cmp::Reverse(rods[index].nodes.len())));
        let mut chains: Vec<Option<Chain>> = vec![None; rods.len()];
        let mut groups = Vec::new();
        let alike = order.chunk_by(|&a, &b| kind(a) == kind(b));
        let grouped = together(alike.flat_map(|level| level.chunks(LANES)), rods);
        for (group, members) in grouped.into_iter().enumerate() {
            let mut rest = inert_group(rods[members[0]].nodes.len());
            rest.chain_count = members.len();
            for (lane, &index) in members.iter().enumerate() {
                chains[index] = Some(fill_lane(&mut rest, group, lane, &rods[index], bones));
            }
            number_reactions(&mut rest);
            groups.push(rest);
        }
        let chains: Vec<Chain> = chains.into_iter().flatten().collect();
        let mut branches: Vec<Branch> = chains
            .iter()
            .filter_map(|chain| chain.hangs.map(|Hang { rod, node }| Branch::new(chain, &chains[rod], node)))
            .collect();
        branches.sort_by_key(|branch| branch.chain);
        branches.iter().for_each(|branch| number_borne(&mut groups, branch));
        weigh_trees(&mut groups, &branches);
        let families = families(&branches);
        let places = || rods.iter().flat_map(|rod| &rod.nodes).map(|node| node.place);
        let size = places().fold(DVec3::NEG_INFINITY, DVec3::max) - places().fold(DVec3::INFINITY, DVec3::min);
        let size = if rods.is_empty() { f64::INFINITY } else { size.length() };
        let mut reaches = vec![f64::INFINITY; bones.len()];
        for chain in &chains {
            for &bone in &chain.bones {
                let so_far = if reaches[bone].is_finite() { reaches[bone] } else { LEAST_REACH * size };
                reaches[bone] = so_far.max(chain.rest_length);
            }
        }
        let (overlaps, bone_pills) = (Arc::default(), BonePills::default());
        Ok(Self { chains, groups, branches, families, bones: bones.to_vec(), size, reaches, overlaps, bone_pills })
    }

    /// Segments that leave each other alone: those that overlap at rest, and of one chain those that are near; in ascending order.
    pub(crate) fn overlaps(&self) -> &[[SegmentName; 2]] {
        &self.overlaps
    }

    /// The chains, in the order of the rods given to [`Flesh::build`].
    pub fn chains(&self) -> &[Chain] {
        &self.chains
    }

    /// The chain itself where it has bones, else the one that it hangs on, or that hangs on, that has; the last one of them if none
    /// has.
    pub(crate) fn anchored<'a>(&'a self, chain: &'a Chain) -> &'a Chain {
        let stem =
            |chain: &&'a Chain| chain.hangs.filter(|_| chain.bones.is_empty()).map(|hang| &self.chains[hang.rod]);
        std::iter::successors(Some(chain), stem).last().unwrap_or(chain)
    }

    /// A chain's mass (kg).
    pub fn mass(&self, chain: usize) -> f64 {
        let info = &self.chains[chain];
        let rest = &self.groups[info.group];
        (0..info.node_count()).map(|node| f64::from(rest.row(node)[rest::MASS][info.lane])).sum()
    }

    /// Index of the first chain of a name.
    pub fn chain_named(&self, name: &str) -> Option<usize> {
        self.chains.iter().position(|chain| chain.name == name)
    }

    /// The two bones that turn a node of a chain as they carry it, and how far it goes with the second (0 to 1); `None`
    /// for a free chain. On the way to a socket that is the bone before it alone.
    pub fn carriers(&self, chain: usize, node: usize) -> Option<([usize; 2], f64)> {
        let info = &self.chains[chain];
        let row = self.groups[info.group].row(node);
        let entry = |entry: usize| f64::from(row[entry][info.lane]);
        let bones = [rest::TURN_SLOT, rest::NEXT_TURN_SLOT].map(|slot| info.bone_in_slot(entry(slot) as usize));
        let [Some(first), Some(second)] = bones else { return None };
        Some(([first, second], (entry(rest::BONE_BLEND) - entry(rest::HOLD_SLOT)).max(0.0)))
    }

    /// The bones' rest poses.
    pub fn bones(&self) -> &[Pose] {
        &self.bones
    }

    /// For each node of each group, of which lanes it is asked in every substep where bones have it.
    pub fn targeted_lanes(&self) -> impl Iterator<Item = Vec<[bool; LANES]>> {
        let targeted = |first: &[Entry<f32>], row: &[Entry<f32>]| {
            std::array::from_fn(|lane| {
                first[rest::TIED][lane] != 0.0
                    || [rest::FREE_PLACE, rest::FREE_FRAME, rest::FREE_SCALE]
                        .iter()
                        .any(|&entry| row[entry][lane] == 0.0)
                    || row[rest::SLIDES][lane] != 0.0
            })
        };
        let lanes = move |group: &GroupRest<f32>| {
            group.rows.chunks(rest::ENTRIES).map(|row| targeted(group.row(0), row)).collect()
        };
        self.groups.iter().map(lanes)
    }

    /// The groups that the stages step, for tests and benches.
    #[doc(hidden)]
    pub fn groups(&self) -> &[GroupRest<f32>] {
        &self.groups
    }

    /// Nodes of all rods.
    pub fn node_count(&self) -> usize {
        self.chains.iter().map(Chain::node_count).sum()
    }
}
