//! Stage `settle_dust`: a stage that shows what adding one touches; its twin is `shaders/settle_dust.wgsl`.

use super::group::Group;
use super::lanes::{Lane, Lanes};
use crate::layout::node;
use crate::step::StepParams;

/// Takes a millionth of their velocity away from all nodes.
#[inline(always)]
pub fn settle_dust<L: Lanes>(lanes: L, _: &StepParams, group: &mut Group<L::Scalar>) {
    let kept = lanes.splat(1.0 - 1.0e-6);
    for index in 0..group.rest.node_count {
        let row = group.row_mut(index);
        for entry in &mut row[node::VELOCITY..node::VELOCITY + 3] {
            lanes.store((lanes.load(entry) * kept).max(lanes.splat(-1.0e30)), entry);
        }
    }
}
