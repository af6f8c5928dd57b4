//! Which instances lie where in the arrays.

use std::ops::Range;
use std::sync::Arc;

use super::arrays::{
    CHAIN_ROWS, CONTACT_ROWS, GROUPS, INPUT_ROWS, MODEL_POSES, NODE_ROWS, PALETTE, PLANE_ROWS, REACTION_ROWS,
    REST_ROWS, SCRATCH_ROWS, SECTION_BLOCKS, SECTION_MATRICES, SECTION_WEIGHTS, SKIN_BLOCKS, SKIN_SECTIONS,
    SKIN_VERTICES, SKINNED,
};
use super::rows::Rows;
use super::{Buffers, GpuDevice, GpuError};
use crate::backend::HostFrame;
use crate::cpu::lanes::Entry;
use crate::flesh::{BoneMotion, Flesh, FleshState, GroupState};
use crate::instances::{Instance, InstanceState, Slot};
use crate::layout::{Group, LANES, SectionBlock, SkinBlock, WORKGROUP_SIZE, contact, input, plane};
use crate::skin::{ModelPose, PaletteMatrix, Skin};

/// Where uploads go.
pub(super) struct Upload<'a> {
    pub gpu: &'a GpuDevice,
    pub buffers: &'a mut Buffers,
    pub encoder: &'a mut wgpu::CommandEncoder,
}

impl Upload<'_> {
    fn rows<T: bytemuck::Pod>(&mut self, id: super::ArrayId, first_row: u64, rows: &[T]) -> Result<(), GpuError> {
        self.buffers.upload(self.gpu, self.encoder, id, first_row, rows)
    }
}

/// An instance on the GPU.
pub(super) struct Resident {
    pub generation: u32,
    pub nodes: Range<u64>,
    pub groups: Range<u64>,
    pub skinned: Range<u64>,
    pub matrices: Range<u64>,
    pub contacts: Range<u64>,
    pub reactions: Range<u64>,
    scratch: Range<u64>,
    /// What the host knows of the newest step recorded: bones and input rows; the rest is empty.
    pub front: FleshState,
    /// Activations after it, one for each chain.
    activations: Vec<f32>,
    /// The first recording that began with the state that the host sent last.
    pub since: u64,
    poses: Range<u64>,
    palette: Range<u64>,
    flesh: Arc<Flesh>,
    skin: Arc<Skin>,
}

/// The host's part of an instance's state at a step.
pub(super) struct Front {
    pub slot: usize,
    pub generation: u32,
    /// Where its contact rows are in that step.
    pub contacts: Range<u64>,
    pub motion: BoneMotion,
    pub activations: Vec<f32>,
}

/// Rows of an asset, shared by its instances.
struct Shared<T> {
    owner: Arc<T>,
    users: usize,
    rows: Range<u64>,
    /// A skin's section weights and sections.
    weights: Range<u64>,
    sections: Range<u64>,
}

/// All instances on the GPU, and the tables that say where they lie.
#[derive(Default)]
pub(super) struct Residents {
    /// By the index of the instance's slot.
    pub slots: Vec<Option<Resident>>,
    pub nodes: Rows,
    pub groups: Rows,
    pub skinned: Rows,
    pub matrices: Rows,
    pub contacts: Rows,
    pub reactions: Rows,
    scratch: Rows,
    rest: Rows,
    vertices: Rows,
    weights: Rows,
    sections: Rows,
    poses: Rows,
    palette: Rows,
    fleshes: Vec<Shared<Flesh>>,
    skins: Vec<Shared<Skin>>,
    group_table: Vec<Group>,
    skin_blocks: Vec<SkinBlock>,
    section_blocks: Vec<SectionBlock>,
    tables_changed: bool,
    inputs: Vec<Entry<f32>>,
    planes: Vec<Entry<f32>>,
    pose_rows: Vec<ModelPose>,
    palette_rows: Vec<PaletteMatrix>,
}

impl Residents {
    /// Workgroups of skin.
    pub fn skin_block_count(&self) -> u32 {
        self.skin_blocks.len() as u32
    }

    /// Workgroups of sections.
    pub fn section_block_count(&self) -> u32 {
        self.section_blocks.len() as u32
    }

    /// The host's part of every instance's state after the newest step recorded.
    pub fn fronts(&self) -> Vec<Front> {
        let residents = self.slots.iter().enumerate();
        residents
            .filter_map(|(slot, resident)| {
                let Resident { generation, contacts, front, activations, .. } = resident.as_ref()?;
                let (contacts, motion, activations) = (contacts.clone(), front.motion.clone(), activations.clone());
                Some(Front { slot, generation: *generation, contacts, motion, activations })
            })
            .collect()
    }

    /// Makes the GPU's instances those of `slots`: rows for new ones, states that the host changed, none for those
    /// gone, and room for what each may touch of so many half-spaces. Recording `tag` is the first to see it.
    pub fn follow(
        &mut self,
        upload: &mut Upload<'_>,
        slots: &mut [Slot],
        planes: usize,
        tag: u64,
    ) -> Result<(), GpuError> {
        self.slots.resize_with(self.slots.len().max(slots.len()), || None);
        for (index, resident) in self.slots.iter_mut().enumerate() {
            let slot = slots.get(index).filter(|slot| slot.instance.is_some());
            let gone = |resident: &mut Resident| slot.is_none_or(|slot| slot.generation != resident.generation);
            if let Some(gone) = resident.take_if(gone) {
                self.nodes.give_back(gone.nodes);
                self.groups.give_back(gone.groups);
                self.skinned.give_back(gone.skinned);
                self.matrices.give_back(gone.matrices);
                self.contacts.give_back(gone.contacts);
                self.reactions.give_back(gone.reactions);
                self.scratch.give_back(gone.scratch);
                self.poses.give_back(gone.poses);
                self.palette.give_back(gone.palette);
                if let Some(shared) = release(&mut self.fleshes, &gone.flesh) {
                    self.rest.give_back(shared.rows);
                }
                if let Some(shared) = release(&mut self.skins, &gone.skin) {
                    self.vertices.give_back(shared.rows);
                    self.weights.give_back(shared.weights);
                    self.sections.give_back(shared.sections);
                }
                self.tables_changed = true;
            }
        }
        for (index, slot) in slots.iter_mut().enumerate() {
            let Some(instance) = &mut slot.instance else { continue };
            if self.slots[index].is_none() {
                let resident = self.settle(upload, slot.generation, instance)?;
                self.slots[index] = Some(resident);
                self.tables_changed = true;
                instance.changed = true;
            }
            let Some(resident) = &mut self.slots[index] else { continue };
            let contacts = (resident.nodes.end - resident.nodes.start) * planes as u64;
            if resident.contacts.end - resident.contacts.start != contacts {
                // Nothing is known of how hard they press.
                self.contacts.give_back(std::mem::take(&mut resident.contacts));
                resident.contacts = self.contacts.take(contacts);
                let none = vec![[0.0; LANES as usize]; contacts as usize * contact::ENTRIES];
                upload.rows(CONTACT_ROWS, resident.contacts.start, &none)?;
                self.tables_changed = true;
            }
            if instance.changed {
                resident.take_state(upload, &instance.state, tag)?;
                if !instance.placed {
                    resident.activations.clone_from(&instance.state.activations);
                }
                (instance.changed, instance.placed) = (false, false);
            }
        }
        if self.tables_changed {
            self.rebuild_tables();
            upload.rows(GROUPS, 0, &self.group_table)?;
            upload.rows(SKIN_BLOCKS, 0, &self.skin_blocks)?;
            upload.rows(SECTION_BLOCKS, 0, &self.section_blocks)?;
            upload.buffers.reserve(upload.gpu, upload.encoder, SCRATCH_ROWS, self.scratch.end())?;
            upload.buffers.reserve(upload.gpu, upload.encoder, SKINNED, self.skinned.end())?;
            upload.buffers.reserve(upload.gpu, upload.encoder, SECTION_MATRICES, self.matrices.end())?;
            self.tables_changed = false;
        }
        Ok(())
    }

    fn settle(&mut self, upload: &mut Upload<'_>, generation: u32, instance: &Instance) -> Result<Resident, GpuError> {
        let Instance { flesh, skin, .. } = instance;
        if !share(&mut self.fleshes, flesh) {
            let rows: Vec<Entry<f32>> = flesh.groups.iter().flat_map(|group| &group.rows).copied().collect();
            let owned = self.rest.take(flesh.groups.iter().map(|group| group.node_count as u64).sum());
            upload.rows(REST_ROWS, owned.start, &rows)?;
            self.fleshes.push(Shared { owner: flesh.clone(), users: 1, rows: owned, weights: 0..0, sections: 0..0 });
        }
        if !share(&mut self.skins, skin) {
            let vertices = self.vertices.take(skin.vertices.len() as u64);
            let weights = self.weights.take(skin.weights.len() as u64);
            let sections = self.sections.take(skin.sections.len() as u64);
            upload.rows(SKIN_VERTICES, vertices.start, &skin.vertices)?;
            upload.rows(SECTION_WEIGHTS, weights.start, &skin.weights)?;
            upload.rows(SKIN_SECTIONS, sections.start, &skin.sections)?;
            self.skins.push(Shared { owner: skin.clone(), users: 1, rows: vertices, weights, sections });
        }
        let nodes = flesh.groups.iter().map(|group| group.node_count as u64).sum();
        let reactions: u64 = flesh.groups.iter().map(|group| group.reaction_count() as u64).sum();
        Ok(Resident {
            generation,
            nodes: self.nodes.take(nodes),
            groups: self.groups.take(flesh.groups.len() as u64),
            skinned: self.skinned.take(skin.vertices.len() as u64),
            matrices: self.matrices.take(skin.sections.len() as u64),
            contacts: 0..0,
            reactions: self.reactions.take(reactions),
            scratch: self.scratch.take(nodes + reactions),
            poses: self.poses.take((flesh.chains().len() + flesh.bones().len() + 1) as u64),
            palette: self.palette.take(skin.palette_len as u64),
            front: instance.state.nodes.without_rows(),
            activations: instance.state.activations.clone(),
            since: 0,
            flesh: flesh.clone(),
            skin: skin.clone(),
        })
    }

    fn rebuild_tables(&mut self) {
        self.group_table.clear();
        self.group_table.resize(self.groups.end() as usize, Group::default());
        self.skin_blocks.clear();
        self.section_blocks.clear();
        for resident in self.slots.iter().flatten() {
            let rest_start = find(&self.fleshes, &resident.flesh).map_or(0, |shared| shared.rows.start);
            let (mut offset, mut reactions) = (0, 0);
            let planes =
                (resident.contacts.end - resident.contacts.start) / (resident.nodes.end - resident.nodes.start).max(1);
            for (group, rest) in (resident.groups.start as usize..).zip(&resident.flesh.groups) {
                self.group_table[group] = Group {
                    node_base: resident.nodes.start as u32 + offset,
                    rest_base: rest_start as u32 + offset,
                    node_count: rest.node_count as u32,
                    contact_base: resident.contacts.start as u32 + offset * planes as u32,
                    contact_count: (rest.node_count as u64 * planes) as u32,
                    reaction_base: resident.reactions.start as u32 + reactions,
                    scratch_base: resident.scratch.start as u32 + offset + reactions,
                };
                offset += rest.node_count as u32;
                reactions += rest.reaction_count() as u32;
            }
            let Some(skin) = find(&self.skins, &resident.skin) else { continue };
            let count = resident.skin.vertices.len() as u32;
            self.skin_blocks.extend((0..count).step_by(WORKGROUP_SIZE as usize).map(|first| SkinBlock {
                vertex_base: skin.rows.start as u32 + first,
                vertex_count: (count - first).min(WORKGROUP_SIZE),
                skinned_base: resident.skinned.start as u32 + first,
                weight_base: skin.weights.start as u32,
                matrix_base: resident.matrices.start as u32,
                palette_base: resident.palette.start as u32,
            }));
            let count = resident.skin.sections.len() as u32;
            self.section_blocks.extend((0..count).step_by(WORKGROUP_SIZE as usize).map(|first| SectionBlock {
                section_base: skin.sections.start as u32 + first,
                section_count: (count - first).min(WORKGROUP_SIZE),
                matrix_base: resident.matrices.start as u32 + first,
                group_base: resident.groups.start as u32,
                pose_base: resident.poses.start as u32,
                chain_count: resident.flesh.chains().len() as u32,
            }));
        }
    }

    /// Stage `gather_inputs`: what the host says of this frame.
    pub fn gather_inputs(
        &mut self,
        upload: &mut Upload<'_>,
        slots: &mut [Slot],
        frame: &HostFrame<'_>,
    ) -> Result<(), GpuError> {
        let planes = frame.planes.len() * plane::ENTRIES;
        self.inputs.resize(self.groups.end() as usize * input::ENTRIES, [0.0; _]);
        self.planes.resize(self.groups.end() as usize * planes, [0.0; _]);
        self.pose_rows.resize(self.poses.end() as usize, bytemuck::Zeroable::zeroed());
        self.palette_rows.resize(self.palette.end() as usize, [[0.0; 4]; 3]);
        for (resident, slot) in self.slots.iter_mut().zip(slots) {
            let (Some(resident), Some(Instance { flesh, state, skin_inputs, .. })) = (resident, &mut slot.instance)
            else {
                continue;
            };
            let InstanceState { bones, root, excitations, health, .. } = state;
            let Resident { front, activations, .. } = resident;
            frame.gather_inputs(flesh, front, activations, (bones, root, excitations), health);
            let rows = self.inputs.chunks_exact_mut(input::ENTRIES).skip(resident.groups.start as usize);
            for (row, group) in rows.zip(&resident.front.groups) {
                row.copy_from_slice(&group.inputs);
            }
            let rows = self.planes.chunks_exact_mut(planes.max(1)).skip(resident.groups.start as usize);
            for (row, group) in rows.zip(&resident.front.groups).filter(|_| planes > 0) {
                row.copy_from_slice(&group.planes);
            }
            skin_inputs.gather(flesh, &resident.front, &state.bones, &state.root);
            let poses = &mut self.pose_rows[resident.poses.start as usize..resident.poses.end as usize];
            let (chains, bones) = poses.split_at_mut(skin_inputs.chains.len());
            chains.copy_from_slice(&skin_inputs.chains);
            bones.copy_from_slice(&skin_inputs.bones);
            self.palette_rows[resident.palette.start as usize..resident.palette.end as usize]
                .copy_from_slice(&state.palette);
        }
        upload.rows(INPUT_ROWS, 0, &self.inputs)?;
        upload.rows(PLANE_ROWS, 0, &self.planes)?;
        upload.rows(MODEL_POSES, 0, &self.pose_rows)?;
        upload.rows(PALETTE, 0, &self.palette_rows)
    }
}

impl Resident {
    fn take_state(&mut self, upload: &mut Upload<'_>, state: &InstanceState, tag: u64) -> Result<(), GpuError> {
        let state = &state.nodes;
        let rows = |of: fn(&GroupState) -> &Vec<Entry<f32>>| -> Vec<Entry<f32>> {
            state.groups.iter().flat_map(of).copied().collect()
        };
        upload.rows(NODE_ROWS, self.nodes.start, &rows(|group| &group.nodes))?;
        upload.rows(CHAIN_ROWS, self.groups.start, &rows(|group| &group.chains))?;
        upload.rows(REACTION_ROWS, self.reactions.start, &rows(|group| &group.reactions))?;
        let contacts = rows(|group| &group.contacts);
        let entries = (self.contacts.end - self.contacts.start) as usize * contact::ENTRIES;
        // Of another count of half-spaces, nothing is known of how hard they press.
        let contacts = if contacts.len() == entries { contacts } else { vec![[0.0; LANES as usize]; entries] };
        upload.rows(CONTACT_ROWS, self.contacts.start, &contacts)?;
        self.front = state.without_rows();
        self.since = tag;
        Ok(())
    }
}

fn find<'a, T>(shared: &'a [Shared<T>], owner: &Arc<T>) -> Option<&'a Shared<T>> {
    shared.iter().find(|shared| Arc::ptr_eq(&shared.owner, owner))
}

/// Counts one more user of an asset that is there.
fn share<T>(shared: &mut [Shared<T>], owner: &Arc<T>) -> bool {
    let found = shared.iter_mut().find(|shared| Arc::ptr_eq(&shared.owner, owner));
    found.map(|shared| shared.users += 1).is_some()
}

/// Counts one user less; the asset itself when that was the last one.
fn release<T>(shared: &mut Vec<Shared<T>>, owner: &Arc<T>) -> Option<Shared<T>> {
    let index = shared.iter().position(|shared| Arc::ptr_eq(&shared.owner, owner))?;
    shared[index].users -= 1;
    (shared[index].users == 0).then(|| shared.swap_remove(index))
}
