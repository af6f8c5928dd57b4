//! What sleeps on the GPU: room for how still instances are, and what stirs them.

use glam::DVec3;

use super::GpuError;
use super::arrays::{CHAIN_ROWS, REST_WATCHES, STILL_PLACES};
use super::residents::{Residents, Upload};
use crate::instances::Slot;
use crate::layout::{chain, rest_watch, stir};
use crate::physics::Changes;
use crate::step::StepParams;

/// Of which frame what chain rows say of sleep is ([`chain::SLEEPS`]).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// They say nothing.
    Nothing,
    /// Of one before which they may have slept.
    Before,
    /// Of one in which they may sleep.
    Now,
}

impl Residents {
    /// Has chain rows say nothing of sleep any more where they are not asked in a frame: of those that are not stepped, or where
    /// nothing may sleep. What slept before that frame stage `let_sleep` wakes.
    pub fn follow_sleep(&mut self, upload: &mut Upload<'_>, slots: &[Slot], may_sleep: bool) {
        self.sleep.works = may_sleep;
        for (resident, slot) in self.slots.iter_mut().zip(slots) {
            let (Some(resident), Some(instance)) = (resident, &slot.instance) else { continue };
            let before = resident.sleeps;
            resident.sleeps = match before {
                _ if !instance.steps().flesh => Told::Nothing,
                _ if may_sleep => Told::Now,
                Told::Now => Told::Before,
                Told::Before | Told::Nothing => Told::Nothing,
            };
            if before != Told::Nothing && resident.sleeps == Told::Nothing {
                let groups = resident.chains.groups.clone();
                groups.for_each(|group| upload.clear_entry(CHAIN_ROWS, group, chain::SLEEPS));
            }
            self.sleep.works |= resident.sleeps == Told::Before;
        }
    }
}

/// Room for that.
#[derive(Default)]
pub(super) struct SleepPool {
    /// Whether the frame has stage `let_sleep`.
    works: bool,
    /// In how many boxes something changes.
    stirs: u32,
}

impl SleepPool {
    /// Makes room for a frame of so many rows of nodes and instances, and sends where something changes.
    pub fn make_room(
        &mut self,
        upload: &mut Upload<'_>,
        [node_rows, instances]: [u64; 2],
        changes: &Changes,
    ) -> Result<(), GpuError> {
        if !self.works {
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
        self.works
    }

    /// Tells kernels of it.
    pub fn tell(&self, params: &mut StepParams) {
        params.stir_count = self.stirs;
    }
}
