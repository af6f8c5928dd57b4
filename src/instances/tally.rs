//! With what impulse an instance's flesh was pressed in a step: summed up over its substeps, where events are asked for.

use crate::ContactWith;
use crate::cpu::lanes::Entry;

/// What came on one row in a step, in each lane: the impulse along the normal, and all of it with friction, 3 entries (N·s).
pub(crate) type Pressed = [Entry<f32>; 4];

/// What presses an instance in a step.
#[derive(Default)]
pub(crate) struct Tally {
    /// For each group, one for each of its contact rows of half-spaces, solids and bone pills; none where nobody asks, or a GPU steps.
    pub rows: Vec<Vec<Pressed>>,
    /// Other instances that come after it, segment by segment: the impulse along the normal, and all of it, on it (N·s). Where a GPU
    /// steps, all that presses it, chain by chain, in all steps that have arrived since it was last asked.
    pub with: Vec<(ContactWith, [f32; 4])>,
    /// Whether the instance slept all through the step, or all those steps: what pressed it goes on.
    pub slept: bool,
}

impl Tally {
    /// Begins a step with nothing; that of flesh of so many groups, where it is asked for.
    pub fn begin(&mut self, groups: usize, asleep: bool) {
        self.slept = asleep;
        self.rows.resize_with(groups, Vec::new);
        self.rows.iter_mut().for_each(Vec::clear);
        self.with.clear();
    }
}
