//! Pills of bones on the GPU: what is said of a flesh's, and how each instance's go in the frame.

use std::ops::Range;
use std::sync::Arc;

use super::GpuError;
use super::arrays::SOLIDS;
use super::residents::Upload;
use super::rows::{Rows, SharedRows, count};
use super::solid_pool::{bits, motion_of, send};
use crate::Pose;
use crate::cpu::bone_pills::moved_with;
use crate::cpu::lanes::LANES;
use crate::flesh::{BoneMotion, Flesh};
use crate::layout::{MAX_BONES, form, motion, solid};
use crate::step::StepParams;

/// Words of a pill's form: its ends and radius in its bone's frame, and its ends where the bone is at rest.
const SHAPE: usize = 13;

/// Where an instance's pills lie.
pub(super) struct PillRows {
    /// What is said of its flesh's.
    table: Range<u64>,
    /// How they go in the frame: for how many substeps that is told, then each pill's.
    motions: Range<u64>,
    /// What the GPU was told there.
    told: Vec<u32>,
}

/// Where a group has what pills are to it.
#[derive(Default)]
pub(super) struct PillsOfGroup {
    pub base: u32,
    pub count: u32,
    pub rest_base: u32,
    pub motion_base: u32,
}

/// What is said of fleshes' pills.
pub(super) type PillTables = SharedRows<Flesh, Range<u64>>;

impl PillRows {
    /// Of an instance, its motions not told yet.
    pub fn settle(
        upload: &mut Upload<'_>,
        (words, tables): (&mut Rows, &mut PillTables),
        flesh: &Arc<Flesh>,
    ) -> Result<Self, GpuError> {
        let table = match tables.join(flesh) {
            Some(table) => table.clone(),
            None => {
                let table = words.take(table_len(flesh) as u64);
                tables.add(flesh, table.clone());
                upload.rows(SOLIDS, table.start, &table_of(flesh, table.start as u32))?;
                table
            }
        };
        Ok(Self { table, motions: 0..0, told: Vec::new() })
    }

    /// Gives up what is the instance's.
    pub fn leave(self, (words, tables): (&mut Rows, &mut PillTables), flesh: &Arc<Flesh>) {
        words.give_back(self.motions);
        if let Some(table) = tables.leave(flesh) {
            words.give_back(table);
        }
    }

    /// Makes room for how they go in so many substeps; whether that is elsewhere.
    pub fn make_room(&mut self, words: &mut Rows, flesh: &Flesh, substeps: usize) -> bool {
        let needed = 1 + flesh.bone_pills.pills.len() * substeps * motion::ENTRIES;
        if needed <= count(&self.motions) {
            return false;
        }
        words.give_back(std::mem::take(&mut self.motions));
        self.motions = words.take(needed as u64);
        self.told.clear();
        true
    }

    /// Says how they go in a frame of these substeps.
    pub fn follow(
        &mut self,
        upload: &mut Upload<'_>,
        (flesh, bones): (&Flesh, &BoneMotion),
        substeps: &[&StepParams],
    ) -> Result<(), GpuError> {
        let pills = &flesh.bone_pills.pills;
        let still = pills.iter().all(|pill| bones.from[pill.bone] == bones.to[pill.bone]);
        let substeps = if still { &substeps[..substeps.len().min(1)] } else { substeps };
        let mut told = vec![substeps.len() as u32];
        for pill in pills {
            let (from, to) = (&bones.from[pill.bone], &bones.to[pill.bone]);
            for params in substeps {
                told.extend(motion_of(&moved_with([from, to], params)));
            }
        }
        send(upload, self.motions.start, &self.told, &told)?;
        self.told = told;
        Ok(())
    }

    /// Where each group of its flesh has what they are to it.
    pub fn of_groups(&self, flesh: &Flesh) -> Vec<PillsOfGroup> {
        let (base, count) = (self.table.start as u32, flesh.bone_pills.pills.len() as u32);
        let mut rest_base = base + count * (solid::ENTRIES + SHAPE) as u32;
        let of = |group: &crate::cpu::group::GroupRest<f32>| {
            let own = PillsOfGroup { base, count, rest_base, motion_base: self.motions.start as u32 };
            rest_base += words_of_group(count as usize, group.node_count) as u32;
            own
        };
        flesh.groups.iter().map(of).collect()
    }
}

fn words_of_group(pills: usize, nodes: usize) -> usize {
    (pills + 3 * nodes) * LANES
}

fn table_len(flesh: &Flesh) -> usize {
    let pills = flesh.bone_pills.pills.len();
    let groups = flesh.groups.iter().map(|group| words_of_group(pills, group.node_count));
    pills * (solid::ENTRIES + SHAPE) + groups.sum::<usize>()
}

/// What is said of each pill, then the form of each; then of each group, in which slots of its chains' bones each pill's bone is, and
/// where its nodes are at rest.
fn table_of(flesh: &Flesh, base: u32) -> Vec<u32> {
    let pills = &flesh.bone_pills.pills;
    let shapes = base as usize + pills.len() * solid::ENTRIES;
    let mut words = Vec::with_capacity(table_len(flesh));
    for (index, pill) in pills.iter().enumerate() {
        let mut row = [0; solid::ENTRIES];
        row[solid::FORM] = form::SEGMENT as u32;
        row[solid::SHAPE] = (shapes + index * SHAPE) as u32;
        row[solid::FRICTION] = pill.friction.to_bits();
        words.extend(row);
    }
    for pill in pills {
        let rest: Pose = flesh.bones[pill.bone];
        for end in pill.ends {
            words.extend(bits(end.to_array()));
        }
        words.push(pill.radius.to_bits());
        for end in pill.ends {
            words.extend(bits(rest.transform_point(end.as_dvec3()).as_vec3().to_array()));
        }
    }
    for (group, lanes) in flesh.groups.iter().zip(&flesh.bone_pills.lanes) {
        let chains = lanes.map(|chain| chain.map(|chain| &flesh.chains[chain]));
        for pill in pills {
            let slot = |chain: Option<&crate::flesh::Chain>| {
                let slot = chain.and_then(|chain| chain.bones.iter().position(|&bone| bone == pill.bone));
                slot.filter(|&slot| slot < MAX_BONES).unwrap_or(MAX_BONES) as u32
            };
            words.extend(chains.map(slot));
        }
        for node in 0..group.node_count {
            for chain in chains {
                let rest = chain.and_then(|chain| chain.rest.get(node.min(chain.node_count() - 1)));
                let place = rest.map_or(glam::Vec3::ZERO, |rest| rest.translation.as_vec3());
                words.extend(bits(place.to_array()));
            }
        }
    }
    words
}
