//! How long stages take.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::step::Stage;

/// Opens a profiler scope with a stage's name. Puffin's own macro names a scope once for each place in the source.
#[cfg(feature = "puffin")]
fn stage_scope(stage: Stage) -> Option<puffin::ProfilerScope> {
    static SCOPES: [std::sync::OnceLock<puffin::ScopeId>; Stage::ALL.len()] =
        [const { std::sync::OnceLock::new() }; Stage::ALL.len()];
    let register =
        || puffin::ThreadProfiler::call(|profiler| profiler.register_named_scope(stage.name(), "", file!(), line!()));
    puffin::are_scopes_on().then(|| puffin::ProfilerScope::new(*SCOPES[stage as usize].get_or_init(register), ""))
}

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
    fn start(&self) -> Option<Instant> {
        self.enabled.then(Instant::now)
    }

    #[inline(always)]
    fn stop(&self, stage: Stage, start: Option<Instant>) {
        if let Some(start) = start {
            self.nanoseconds[stage as usize].fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
    }

    /// Runs a stage, or a part of it, as a scope of the profiler and by the clock.
    #[inline(always)]
    pub fn timed<R>(&self, stage: Stage, run: impl FnOnce() -> R) -> R {
        #[cfg(feature = "puffin")]
        let _scope = stage_scope(stage);
        let start = self.start();
        let done = run();
        self.stop(stage, start);
        done
    }

    pub fn take(&self) -> StageTimes {
        let mut times = StageTimes::default();
        for (stage, nanoseconds) in Stage::ALL.into_iter().zip(&self.nanoseconds) {
            times.set(stage, nanoseconds.swap(0, Ordering::Relaxed) as f64 * 1.0e-6);
        }
        times
    }
}
