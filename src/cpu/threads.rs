//! How the CPU's work is spread over threads.

#[cfg(feature = "parallel")]
use std::sync::Arc;

#[cfg(feature = "parallel")]
use rayon::prelude::*;

use crate::backend::Frame;

/// Of how many items on, each of which is little work, these are spread over threads: of fewer, a barrier would cost more.
const MANY: usize = 32;

/// In how many parts at the least each thread takes up its share of some items: what is left in the end, of which not all have some,
/// is small.
#[cfg(feature = "parallel")]
const PARTS: usize = 8;

/// The threads that the CPU works with: its own, or a host's.
#[derive(Clone)]
pub(crate) struct Threads {
    #[cfg(feature = "parallel")]
    pool: Option<Arc<rayon::ThreadPool>>,
    count: usize,
}

impl Threads {
    /// `count` threads; 0 for as many as there are cores.
    pub fn new(count: usize) -> Self {
        #[cfg(feature = "parallel")]
        // Without threads to be had, one goes on alone.
        let pool = if count == 1 { None } else { rayon::ThreadPoolBuilder::new().num_threads(count).build().ok() };
        Self {
            #[cfg(feature = "parallel")]
            pool: pool.map(Arc::new),
            count,
        }
    }

    /// Those of a frame: the host's, or as many of its own as it is to have, kept from frame to frame.
    pub fn of_frame(&mut self, frame: &Frame<'_>) -> Self {
        #[cfg(feature = "parallel")]
        if let Some(pool) = frame.pool {
            return Self { count: pool.current_num_threads(), pool: Some(pool.clone()) };
        }
        if self.count != frame.threads {
            *self = Self::new(frame.threads);
        }
        self.clone()
    }

    /// Runs something on one of them: what it then gives to all of them no thread waits long for.
    pub fn on_one<T: Send>(&self, run: impl FnOnce() -> T + Send) -> T {
        #[cfg(feature = "parallel")]
        if let Some(pool) = &self.pool {
            return pool.install(run);
        }
        run()
    }

    /// Those of a frame for [`Self::for_many`] of so many items; none are made where it would not have any.
    #[cfg(feature = "gpu")]
    pub fn for_so_many(&mut self, frame: &Frame<'_>, count: usize) -> Self {
        if count < MANY { Self::new(1) } else { self.of_frame(frame) }
    }

    /// Runs `run` on every item, each of which is little work.
    pub fn for_many<T: Send>(&self, items: &mut [T], run: impl Fn(&mut T) + Sync + Send) {
        if items.len() < MANY {
            return items.iter_mut().for_each(run);
        }
        self.for_each(items, run);
    }

    /// Runs `run` on every item.
    pub fn for_each<T: Send>(&self, items: &mut [T], run: impl Fn(&mut T) + Sync + Send) {
        #[cfg(feature = "parallel")]
        if let (Some(pool), true) = (&self.pool, items.len() > 1) {
            let most = (items.len() / (PARTS * pool.current_num_threads())).max(1);
            pool.install(|| items.par_iter_mut().with_max_len(most).for_each(&run));
            return;
        }
        items.iter_mut().for_each(run);
    }

    /// Runs `run` on every item, with what `init` makes for some of them at a time.
    pub fn for_each_init<T: Send, S>(
        &self,
        items: &mut [T],
        init: impl Fn() -> S + Sync + Send,
        run: impl Fn(&mut S, &mut T) + Sync + Send,
    ) {
        #[cfg(feature = "parallel")]
        if let (Some(pool), true) = (&self.pool, items.len() > 1) {
            pool.install(|| items.par_iter_mut().for_each_init(&init, &run));
            return;
        }
        let mut scratch = init();
        items.iter_mut().for_each(|item| run(&mut scratch, item));
    }
}
