//! With what impulse an instance's flesh was pressed in a step: summed up over its substeps, where events are asked for.

use super::FleshHandle;
use crate::cpu::lanes::{Entry, LANES};
use crate::layout::contact;

/// What came on one row in a step, in each lane: the impulse along the normal, and all of it with friction, 3 entries (N·s).
pub(crate) type Pressed = [Entry<f32>; 4];

/// What presses an instance in a step.
#[derive(Default)]
pub(crate) struct Tally {
    /// For each group, one for each of its contact rows of half-spaces, solids and bone pills; none where nobody asks.
    pub rows: Vec<Vec<Pressed>>,
    /// Other instances that come after it, segment by segment: the impulse along the normal, and all of it, on it (N·s).
    pub flesh: Vec<(FleshHandle, [f32; 4])>,
    /// Whether the instance slept all through the step: what pressed it goes on.
    pub slept: bool,
}

impl Tally {
    /// Begins a step with nothing; that of flesh of so many groups, where it is asked for.
    pub fn begin(&mut self, groups: usize, asleep: bool) {
        self.slept = asleep;
        self.rows.resize_with(groups, Vec::new);
        self.rows.iter_mut().for_each(Vec::clear);
        self.flesh.clear();
    }
}

/// Adds with what force contact rows press at the end of a substep of so long (s).
pub(crate) fn add_contacts(pressed: &mut Vec<Pressed>, contacts: &[Entry<f32>], substep: f32) {
    pressed.resize(contacts.len() / contact::ENTRIES, [[0.0; LANES]; 4]);
    for (sums, row) in pressed.iter_mut().zip(contacts.chunks_exact(contact::ENTRIES)) {
        let force = &row[contact::DUAL];
        if force.iter().any(|&force| force > 0.0) {
            add(sums, force, &row[contact::DIRECTION..], &row[contact::TANGENT..], substep);
        }
    }
}

/// Adds what forces along a direction, and pulls across it, come to in a substep, in lanes in which they press.
pub(crate) fn add(sums: &mut Pressed, force: &Entry<f32>, direction: &[Entry<f32>], pull: &[Entry<f32>], substep: f32) {
    for lane in (0..LANES).filter(|&lane| force[lane] > 0.0 && force[lane].is_finite()) {
        let impulse = force[lane] * substep;
        sums[0][lane] += impulse;
        for k in 0..3 {
            let all = impulse * direction[k][lane] + pull[k][lane] * substep;
            sums[1 + k][lane] += if all.is_finite() { all } else { 0.0 };
        }
    }
}
