//! What sleeps on the GPU: room for how still instances are, and what stirs them.

use glam::DVec3;

use super::GpuError;
use super::arrays::{REST_WATCHES, STILL_PLACES};
use super::residents::Upload;
use crate::layout::{rest_watch, stir};
use crate::physics::Changes;
use crate::step::StepParams;

/// Room for that.
#[derive(Default)]
pub(super) struct SleepPool {
    /// Whether anything may sleep in the frame, and in the one before: what slept in that is woken where nothing may any more.
    may: [bool; 2],
    /// In how many boxes something changes.
    stirs: u32,
}

impl SleepPool {
    /// Makes room for a frame of so many rows of nodes and instances, and sends where something changes.
    pub fn follow(
        &mut self,
        upload: &mut Upload<'_>,
        [node_rows, instances]: [u64; 2],
        (may_sleep, changes): (bool, &Changes),
    ) -> Result<(), GpuError> {
        self.may = [may_sleep, self.may[0]];
        if !self.works() {
            return Ok(());
        }
        let corners = |[low, high]: &[DVec3; 2]| -> [f32; stir::ENTRIES] {
            let [low, high] = [low, high].map(|corner| corner.as_vec3().to_array());
            let mut entries = [0.0; stir::ENTRIES];
            entries[stir::LOW..][..3].copy_from_slice(&low);
            entries[stir::HIGH..][..3].copy_from_slice(&high);
            entries
        };
        let boxes: Vec<f32> = changes.boxes.iter().flat_map(corners).collect();
        let watches = instances * 2 * rest_watch::ENTRIES as u64;
        self.stirs = changes.boxes.len() as u32;
        upload.reserve(STILL_PLACES, node_rows)?;
        upload.reserve(REST_WATCHES, watches + boxes.len() as u64)?;
        upload.rows(REST_WATCHES, watches, &boxes)
    }

    /// Whether the frame has that stage.
    pub fn works(&self) -> bool {
        self.may.contains(&true)
    }

    /// Tells kernels of it.
    pub fn tell(&self, params: &mut StepParams) {
        params.stir_count = self.stirs;
    }
}
