//! What moves vertices on the GPU before they are skinned: whose words lie where, and what the host writes of them.

#[cfg(feature = "neural")]
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::GpuError;
use super::arrays::{MORPH_BLOCKS, MORPH_PULLS, MORPH_STARTS, MORPH_WEIGHTS, SKIN_DELTAS};
use super::residents::Upload;
use super::rows::{Rows, SharedRows};
use super::skin_pool::parts;
#[cfg(feature = "neural")]
use super::{GpuDevice, arrays::ARRAYS};
use crate::layout::{MorphBlock, MorphPull, NO_DELTAS};
use crate::skin::Skin;

/// Words that a vertex has of each: of morph targets place, normal and tangent; of networks the place; M̄.
const WORDS: [u32; 3] = [9, 3, 9];

/// Where an instance's lie.
#[derive(Default)]
pub(super) struct DeltaRows {
    /// Words among skin deltas: of morph targets, of a network, and, shared by all of the skin, M̄. `None` where there is nothing.
    words: [Option<Range<u64>>; 3],
    morphs: Option<MorphRows>,
}

impl DeltaRows {
    /// Where each is of a vertex.
    pub fn bases(&self, vertex: u32) -> [u32; 3] {
        let base = |kind: usize| self.words[kind].as_ref().map(|words| words.start as u32 + WORDS[kind] * vertex);
        [0, 1, 2].map(|kind| base(kind).unwrap_or(NO_DELTAS))
    }
}

/// Where a skin's morph targets lie.
#[derive(Clone)]
struct MorphRows {
    starts: Range<u64>,
    pulls: Range<u64>,
}

/// What moves the vertices of all instances.
#[derive(Default)]
pub(super) struct DeltaPool {
    words: Rows,
    starts: Rows,
    pulls: Rows,
    linears: SharedRows<Skin, Range<u64>>,
    targets: SharedRows<Skin, MorphRows>,
    /// Of the frame, a workgroup each.
    pub morph_blocks: Vec<MorphBlock>,
    morph_weights: Vec<f32>,
}

impl DeltaPool {
    /// Makes room for what moves the vertices of an instance now, or no longer; whether that was otherwise.
    pub fn follow(
        &mut self,
        upload: &mut Upload<'_>,
        skin: &Arc<Skin>,
        rows: &mut DeltaRows,
        moving: [bool; 2],
    ) -> Result<bool, GpuError> {
        let there = [0, 1].map(|kind| rows.words[kind].is_some());
        if there == moving {
            return Ok(false);
        }
        for kind in (0..2).filter(|&kind| there[kind] != moving[kind]) {
            match rows.words[kind].take() {
                Some(words) => self.words.give_back(words),
                None => rows.words[kind] = Some(self.take(upload, skin, kind)?),
            }
        }
        match (&rows.morphs, moving[0]) {
            (None, true) => rows.morphs = Some(self.join_targets(upload, skin)?),
            (Some(_), false) => self.leave_targets(skin, rows),
            _ => {}
        }
        match (&rows.words[2], moving != [false; 2]) {
            (None, true) => rows.words[2] = Some(self.join_linear(upload, skin)?),
            (Some(_), false) => self.leave_linear(skin, rows),
            _ => {}
        }
        Ok(true)
    }

    /// Lets go what an instance has.
    pub fn leave(&mut self, skin: &Arc<Skin>, mut rows: DeltaRows) {
        rows.words[..2].iter_mut().filter_map(Option::take).for_each(|words| self.words.give_back(words));
        self.leave_targets(skin, &mut rows);
        self.leave_linear(skin, &mut rows);
    }

    fn take(&mut self, upload: &mut Upload<'_>, skin: &Skin, kind: usize) -> Result<Range<u64>, GpuError> {
        let words = self.words.take(u64::from(WORDS[kind]) * skin.vertices.len() as u64);
        upload.reserve(SKIN_DELTAS, self.words.end())?;
        Ok(words)
    }

    fn join_linear(&mut self, upload: &mut Upload<'_>, skin: &Arc<Skin>) -> Result<Range<u64>, GpuError> {
        if let Some(words) = self.linears.join(skin) {
            return Ok(words.clone());
        }
        let words = self.take(upload, skin, 2)?;
        let linear: Vec<_> = (0..skin.vertices.len()).map(|vertex| skin.linear_of(vertex)).collect();
        upload.rows(SKIN_DELTAS, words.start, &linear)?;
        self.linears.add(skin, words.clone());
        Ok(words)
    }

    fn leave_linear(&mut self, skin: &Arc<Skin>, rows: &mut DeltaRows) {
        if rows.words[2].take().is_some()
            && let Some(words) = self.linears.leave(skin)
        {
            self.words.give_back(words);
        }
    }

    fn join_targets(&mut self, upload: &mut Upload<'_>, skin: &Arc<Skin>) -> Result<MorphRows, GpuError> {
        if let Some(rows) = self.targets.join(skin) {
            return Ok(rows.clone());
        }
        let (starts, pulls) = by_vertices(skin);
        let rows =
            MorphRows { starts: self.starts.take(starts.len() as u64), pulls: self.pulls.take(pulls.len() as u64) };
        upload.rows(MORPH_STARTS, rows.starts.start, &starts)?;
        upload.rows(MORPH_PULLS, rows.pulls.start, &pulls)?;
        self.targets.add(skin, rows.clone());
        Ok(rows)
    }

    fn leave_targets(&mut self, skin: &Arc<Skin>, rows: &mut DeltaRows) {
        if rows.morphs.take().is_some()
            && let Some(MorphRows { starts, pulls }) = self.targets.leave(skin)
        {
            self.starts.give_back(starts);
            self.pulls.give_back(pulls);
        }
    }

    /// Has a frame's inputs begin with none.
    pub fn begin_inputs(&mut self) {
        self.morph_blocks.clear();
        self.morph_weights.clear();
    }

    /// Stage `gather_inputs`, of the morph targets of one instance that deforms its skin.
    pub fn gather_morphs(&mut self, skin: &Skin, rows: &DeltaRows, weights: &[f32]) {
        let (Some(morphs), Some(words)) = (&rows.morphs, &rows.words[0]) else { return };
        let weight_base = self.morph_weights.len() as u32;
        self.morph_weights.extend(skin.morphs.iter().zip(weights).map(|(morph, weight)| weight - morph.weight));
        self.morph_blocks.extend(parts(skin.vertices.len()).map(|(first, vertex_count)| MorphBlock {
            vertex_count,
            start_base: morphs.starts.start as u32 + first,
            pull_base: morphs.pulls.start as u32,
            weight_base,
            delta_base: words.start as u32 + WORDS[0] * first,
        }));
    }

    /// Sends a frame's inputs.
    pub fn send_inputs(&self, upload: &mut Upload<'_>) -> Result<(), GpuError> {
        upload.rows(MORPH_BLOCKS, 0, &self.morph_blocks)?;
        upload.rows(MORPH_WEIGHTS, 0, &self.morph_weights)
    }
}

/// Whether a device has room for what moves the vertices of instances: of each its skin, and whether morph targets and a network do.
///
/// # Errors
/// [`GpuError::ArrayTooLarge`].
#[cfg(feature = "neural")]
pub(crate) fn check_deltas<'a>(
    gpu: &GpuDevice,
    instances: impl Iterator<Item = (&'a Arc<Skin>, [bool; 2])>,
) -> Result<(), GpuError> {
    let mut skins: HashSet<*const Skin> = HashSet::new();
    let mut words = 0;
    for (skin, moving) in instances {
        let shared = moving != [false; 2] && skins.insert(Arc::as_ptr(skin));
        let of_vertex: u32 =
            WORDS.iter().zip([moving[0], moving[1], shared]).filter_map(|(words, there)| there.then_some(words)).sum();
        words += u64::from(of_vertex) * skin.vertices.len() as u64;
    }
    let spec = &ARRAYS[SKIN_DELTAS.0];
    let (bytes, limit) = (words * spec.row_bytes, gpu.most_bytes());
    if bytes > limit { Err(GpuError::ArrayTooLarge { array: spec.name, bytes, limit }) } else { Ok(()) }
}

/// Morph targets' rows, those of a vertex together, and where these begin and the last ones end.
fn by_vertices(skin: &Skin) -> (Vec<u32>, Vec<MorphPull>) {
    let mut starts = vec![0_u32; skin.vertices.len() + 1];
    let rows = || (0..).zip(skin.morphs.iter()).flat_map(|(morph, of)| of.rows.iter().map(move |row| (morph, row)));
    rows().for_each(|(_, row)| starts[row.vertex as usize + 1] += 1);
    (0..skin.vertices.len()).for_each(|vertex| starts[vertex + 1] += starts[vertex]);
    let mut next = starts.clone();
    let mut pulls = vec![MorphPull::default(); starts[skin.vertices.len()] as usize];
    for (morph, row) in rows() {
        let place = &mut next[row.vertex as usize];
        let tangent = if skin.has_tangents() { row.tangent } else { [0.0; 3] };
        pulls[*place as usize] = MorphPull { morph, place: row.place, normal: row.normal, tangent };
        *place += 1;
    }
    (starts, pulls)
}
