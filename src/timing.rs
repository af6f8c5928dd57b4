//! How long stages take.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::step::Stage;

/// Time spent in each stage of a step, summed over threads (ms).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTimes([f64; Stage::ALL.len()]);

impl StageTimes {
    /// Time of one stage (ms).
    pub fn get(&self, stage: Stage) -> f64 {
        self.0[stage as usize]
    }

    /// Sets the time of one stage (ms).
    pub fn set(&mut self, stage: Stage, milliseconds: f64) {
        self.0[stage as usize] = milliseconds;
    }
}

/// Collects [`StageTimes`] from all threads.
#[derive(Debug, Default)]
pub(crate) struct StageClock {
    /// Whether to measure at all.
    enabled: bool,
    nanoseconds: [AtomicU64; Stage::ALL.len()],
}

impl StageClock {
    pub fn new(enabled: bool) -> Self {
        Self { enabled, ..Self::default() }
    }

    #[inline(always)]
    pub fn start(&self) -> Option<Instant> {
        self.enabled.then(Instant::now)
    }

    #[inline(always)]
    pub fn stop(&self, stage: Stage, start: Option<Instant>) {
        if let Some(start) = start {
            self.nanoseconds[stage as usize].fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
    }

    pub fn take(&self) -> StageTimes {
        let mut times = StageTimes::default();
        for (stage, nanoseconds) in Stage::ALL.into_iter().zip(&self.nanoseconds) {
            times.set(stage, nanoseconds.swap(0, Ordering::Relaxed) as f64 * 1.0e-6);
        }
        times
    }
}

/// Opens a profiler scope with a stage's name, until the end of the block.
macro_rules! stage_scope {
    ($stage:expr) => {
        #[cfg(feature = "puffin")]
        puffin::profile_scope!($stage.name());
    };
}
pub(crate) use stage_scope;
