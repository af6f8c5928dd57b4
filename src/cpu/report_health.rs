//! Stage `report_health`: how often chains of each instance were laid anew; its twin is `shaders/report_health.wgsl`.
//!
//! Of all that a frame makes of an instance this alone comes back from a GPU unasked, with whether it sleeps: on the CPU the host
//! knows that.

use crate::flesh::FleshState;
use crate::layout::{HealthReport, chain};

/// What an instance says of itself after the frame of a `recording`.
pub fn report_health(state: &FleshState, recording: u32) -> HealthReport {
    let mut resets = 0.0;
    for group in &state.groups {
        for lane in group.chains[chain::RESETS] {
            resets += lane;
        }
    }
    HealthReport { resets: resets as u32, recording, asleep: 0 }
}
