//! Stage `tally`: who presses whom in a substep, where contact events are asked for; its twin is `shaders/tally.wgsl`.
//!
//! Here each contact row and each pair of segments has a sum of its own, which lasts for the frame as rows do, and both are added to
//! with the stages that find what presses: rows after `update_velocities`, pairs after the substep's last pass. On a GPU, where a
//! segment's rows of solids are others' in the next substep, and each number goes over the bus, each chain has one sum for each
//! instance, half-space and solid that presses it.

use super::lanes::{Entry, LANES};
use super::meetings::PairBlock;
use crate::instances::{Pressed, REMEMBERED};
use crate::layout::{contact, meet};

/// Adds with what force contact rows press at the end of a substep of so long (s).
pub(super) fn add_contacts(pressed: &mut Vec<Pressed>, contacts: &[Entry<f32>], substep: f32) {
    pressed.resize(contacts.len() / contact::ENTRIES, [[0.0; LANES]; 4]);
    for (sums, row) in pressed.iter_mut().zip(contacts.chunks_exact(contact::ENTRIES)) {
        let force = &row[contact::DUAL];
        if force.iter().any(|&force| force > 0.0) {
            add(sums, force, &row[contact::DIRECTION..], &row[contact::TANGENT..], substep);
        }
    }
}

/// Adds with what force pairs press at the end of a substep of so long (s).
pub(super) fn add_meetings(pressed: &mut [Pressed], blocks: &[PairBlock], substep: f32) {
    for (sums, block) in pressed.iter_mut().zip(blocks) {
        for (row, memory) in block.points.iter().zip(&block.memory) {
            let of_all: [Entry<f32>; REMEMBERED] = std::array::from_fn(|k| memory.map(|of_one| of_one[k]));
            add(sums, &of_all[0], &row[meet::DIRECTION..], &of_all[1..], substep);
        }
    }
}

/// Adds what forces along a direction, and pulls across it, come to in a substep, in lanes in which they press.
fn add(sums: &mut Pressed, force: &Entry<f32>, direction: &[Entry<f32>], pull: &[Entry<f32>], substep: f32) {
    for lane in (0..LANES).filter(|&lane| force[lane] > 0.0 && force[lane].is_finite()) {
        let impulse = force[lane] * substep;
        sums[0][lane] += impulse;
        for k in 0..3 {
            let all = impulse * direction[k][lane] + pull[k][lane] * substep;
            sums[1 + k][lane] += if all.is_finite() { all } else { 0.0 };
        }
    }
}
