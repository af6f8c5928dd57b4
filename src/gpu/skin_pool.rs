//! Skin on the GPU: whose rows lie where, and what the host writes of them.

use std::ops::Range;
use std::sync::Arc;

use super::GpuError;
use super::arrays::{
    MODEL_POSES, PALETTE, SECTION_BLOCKS, SECTION_MATRICES, SECTION_WEIGHTS, SKIN_BLOCKS, SKIN_SECTIONS, SKIN_VERTICES,
    SKINNED, WORKING_SECTION_BLOCKS, WORKING_SKIN_BLOCKS,
};
use super::chain_pool::ChainRows;
use super::delta_pool::{DeltaPool, DeltaRows};
use super::residents::Upload;
use super::rows::{Rows, SharedRows, count};
use crate::flesh::Flesh;
use crate::instances::InstanceState;
use crate::layout::{NO_DELTAS, SectionBlock, SkinBlock, WORKGROUP_SIZE};
use crate::skin::{DualMatrix, ModelPose, PaletteMatrix, Skin, SkinBlending, SkinInputs};

/// Where an instance's skin lies.
pub(super) struct SkinRows {
    pub skinned: Range<u64>,
    pub matrices: Range<u64>,
    skin_blocks: Range<u64>,
    section_blocks: Range<u64>,
    poses: Range<u64>,
    palette: Range<u64>,
    at_rest: AtRest,
    deltas: DeltaRows,
    skin: Arc<Skin>,
    /// Whether it was deformed since it is there.
    pub deformed: bool,
    /// Whether it goes with its sections.
    on_sections: bool,
}

/// Where a skin itself lies.
#[derive(Clone)]
pub(super) struct AtRest {
    vertices: Range<u64>,
    weights: Range<u64>,
    sections: Range<u64>,
}

impl SkinRows {
    /// Where among skin deltas what a network adds begins, while one does.
    #[cfg(feature = "neural")]
    pub fn network_base(&self) -> Option<u32> {
        Some(self.deltas.bases(0)[1]).filter(|&base| base != NO_DELTAS)
    }

    fn blocks(&self) -> Vec<SkinBlock> {
        let of = |(first, vertex_count)| {
            let [morph_base, network_base, linear_base] = self.deltas.bases(first);
            SkinBlock {
                vertex_base: self.at_rest.vertices.start as u32 + first,
                vertex_count,
                skinned_base: self.skinned.start as u32 + first,
                weight_base: self.at_rest.weights.start as u32,
                matrix_base: if self.on_sections { self.matrices.start as u32 } else { NO_DELTAS },
                palette_base: self.palette.start as u32,
                dual: u32::from(self.skin.blending == SkinBlending::DualQuaternion),
                morph_base,
                network_base,
                linear_base,
            }
        };
        parts(self.skin.vertices.len()).map(of).collect()
    }
}

/// Parts of so many that a workgroup each works on: the first of each, and how many.
pub(super) fn parts(count: usize) -> impl Iterator<Item = (u32, u32)> {
    let firsts = (0..count as u32).step_by(WORKGROUP_SIZE as usize);
    firsts.map(move |first| (first, (count as u32 - first).min(WORKGROUP_SIZE)))
}

/// How many rows of the palette an instance of a skin has: a matrix each, of 12 words; a dual quaternion has 16.
fn palette_rows(skin: &Skin) -> u64 {
    let count = skin.palette_len as u64;
    match skin.blending {
        SkinBlending::Linear => count,
        SkinBlending::DualQuaternion => (4 * count).div_ceil(3),
    }
}

/// The skin of all instances.
#[derive(Default)]
pub(super) struct SkinPool {
    /// Blocks that are at work in the frame, a workgroup each.
    pub working_skin_blocks: Vec<u32>,
    /// The same of sections, and which share of what these do skin goes along with.
    pub working_section_blocks: Vec<(u32, f32)>,
    skin_blocks: Rows,
    section_blocks: Rows,
    skinned: Rows,
    matrices: Rows,
    vertices: Rows,
    weights: Rows,
    sections: Rows,
    poses: Rows,
    palette: Rows,
    skins: SharedRows<Skin, AtRest>,
    pose_rows: Vec<ModelPose>,
    palette_rows: Vec<PaletteMatrix>,
    pub deltas: DeltaPool,
}

impl SkinPool {
    /// Takes in the skin of an instance whose chains are there.
    pub fn settle(
        &mut self,
        upload: &mut Upload<'_>,
        skin: &Arc<Skin>,
        flesh: &Flesh,
        chains: &ChainRows,
    ) -> Result<SkinRows, GpuError> {
        let at_rest = match self.skins.join(skin) {
            Some(rows) => rows.clone(),
            None => {
                let rows = AtRest {
                    vertices: self.vertices.take(skin.vertices.len() as u64),
                    weights: self.weights.take(skin.weights.len() as u64),
                    sections: self.sections.take(skin.sections.len() as u64),
                };
                self.skins.add(skin, rows.clone());
                let in_order: Vec<_> = skin.vertices.iter().map(|vertex| vertex.in_order()).collect();
                upload.rows(SKIN_VERTICES, rows.vertices.start, &in_order)?;
                upload.rows(SECTION_WEIGHTS, rows.weights.start, &skin.weights)?;
                upload.rows(SKIN_SECTIONS, rows.sections.start, &skin.sections)?;
                rows
            }
        };
        let blocks = |count: usize| count.div_ceil(WORKGROUP_SIZE as usize) as u64;
        let poses = (flesh.chains().len() + flesh.bones().len() + 1) as u64;
        let rows = SkinRows {
            skinned: self.skinned.take(skin.vertices.len() as u64),
            matrices: self.matrices.take(skin.sections.len() as u64),
            skin_blocks: self.skin_blocks.take(blocks(skin.vertices.len())),
            section_blocks: self.section_blocks.take(blocks(skin.sections.len())),
            poses: self.poses.take(if skin.is_empty() { 0 } else { poses }),
            palette: self.palette.take(palette_rows(skin)),
            at_rest,
            deltas: DeltaRows::default(),
            skin: skin.clone(),
            deformed: false,
            on_sections: true,
        };
        upload.reserve(SKINNED, self.skinned.end())?;
        upload.reserve(SECTION_MATRICES, self.matrices.end())?;
        let section_block = |(first, section_count)| SectionBlock {
            section_base: rows.at_rest.sections.start as u32 + first,
            section_count,
            matrix_base: rows.matrices.start as u32 + first,
            group_base: chains.groups.start as u32,
            pose_base: rows.poses.start as u32,
            chain_count: flesh.chains().len() as u32,
        };
        let section_blocks: Vec<_> = parts(skin.sections.len()).map(section_block).collect();
        upload.rows(SKIN_BLOCKS, rows.skin_blocks.start, &rows.blocks())?;
        upload.rows(SECTION_BLOCKS, rows.section_blocks.start, &section_blocks)?;
        Ok(rows)
    }

    /// Makes room for what moves an instance's vertices before they are skinned, while there is anything that does: morph targets,
    /// a network; and notes whether they go with its sections.
    pub fn follow_motion(
        &mut self,
        upload: &mut Upload<'_>,
        rows: &mut SkinRows,
        moving: [bool; 2],
        on_sections: bool,
    ) -> Result<(), GpuError> {
        let was = std::mem::replace(&mut rows.on_sections, on_sections);
        if self.deltas.follow(upload, &rows.skin, &mut rows.deltas, moving)? || was != on_sections {
            upload.rows(SKIN_BLOCKS, rows.skin_blocks.start, &rows.blocks())?;
        }
        Ok(())
    }

    /// Lets an instance's skin go.
    pub fn leave(&mut self, upload: &mut Upload<'_>, rows: SkinRows) -> Result<(), GpuError> {
        upload.rows(SKIN_BLOCKS, rows.skin_blocks.start, &vec![SkinBlock::default(); count(&rows.skin_blocks)])?;
        let none = vec![SectionBlock::default(); count(&rows.section_blocks)];
        upload.rows(SECTION_BLOCKS, rows.section_blocks.start, &none)?;
        self.skinned.give_back(rows.skinned);
        self.matrices.give_back(rows.matrices);
        self.skin_blocks.give_back(rows.skin_blocks);
        self.section_blocks.give_back(rows.section_blocks);
        self.poses.give_back(rows.poses);
        self.palette.give_back(rows.palette);
        self.deltas.leave(&rows.skin, rows.deltas);
        if let Some(at_rest) = self.skins.leave(&rows.skin) {
            self.vertices.give_back(at_rest.vertices);
            self.weights.give_back(at_rest.weights);
            self.sections.give_back(at_rest.sections);
        }
        Ok(())
    }

    /// Has a frame's inputs of all skin begin with none.
    pub fn begin_inputs(&mut self) {
        self.pose_rows.resize(self.poses.end() as usize, bytemuck::Zeroable::zeroed());
        self.palette_rows.resize(self.palette.end() as usize, [[0.0; 4]; 3]);
        self.deltas.begin_inputs();
        self.working_skin_blocks.clear();
        self.working_section_blocks.clear();
    }

    /// Takes in the inputs, which are gathered, of an instance that deforms its skin.
    pub fn put_inputs(&mut self, rows: &mut SkinRows, (state, rods): (&InstanceState, f32), inputs: &SkinInputs) {
        rows.deformed = true;
        self.deltas.gather_morphs(&rows.skin, &rows.deltas, &state.morphs);
        self.working_skin_blocks.extend(rows.skin_blocks.start as u32..rows.skin_blocks.end as u32);
        if rods > 0.0 {
            let blocks = rows.section_blocks.start as u32..rows.section_blocks.end as u32;
            self.working_section_blocks.extend(blocks.map(|block| (block, rods)));
        }
        let poses = &mut self.pose_rows[rows.poses.start as usize..rows.poses.end as usize];
        let (of_chains, of_bones) = poses.split_at_mut(inputs.chains.len());
        of_chains.copy_from_slice(&inputs.chains);
        of_bones.copy_from_slice(&inputs.bones);
        let palette = &mut self.palette_rows[rows.palette.start as usize..rows.palette.end as usize];
        if rows.skin.blending == SkinBlending::DualQuaternion {
            let entries: &mut [[f32; 4]] = bytemuck::cast_slice_mut(palette);
            for (entry, matrix) in entries.chunks_exact_mut(4).zip(&state.palette) {
                entry.copy_from_slice(bytemuck::cast_ref::<_, [[f32; 4]; 4]>(&DualMatrix::new(matrix)));
            }
        } else {
            palette.copy_from_slice(&state.palette);
        }
    }

    /// Sends a frame's inputs of all skin.
    pub fn send_inputs(&self, upload: &mut Upload<'_>) -> Result<(), GpuError> {
        upload.rows(WORKING_SKIN_BLOCKS, 0, &self.working_skin_blocks)?;
        let shares: Vec<_> =
            self.working_section_blocks.iter().map(|(block, share)| [*block, share.to_bits()]).collect();
        upload.rows(WORKING_SECTION_BLOCKS, 0, &shares)?;
        upload.rows(MODEL_POSES, 0, &self.pose_rows)?;
        upload.rows(PALETTE, 0, &self.palette_rows)?;
        self.deltas.send_inputs(upload)
    }
}
