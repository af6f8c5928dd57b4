//! How the CPU's work is spread over threads.

#[cfg(feature = "parallel")]
use std::sync::Arc;

/// The threads that the CPU steps with: its own, or a host's.
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

    /// The threads of a host's pool.
    #[cfg(feature = "parallel")]
    pub fn of_host(pool: Arc<rayon::ThreadPool>) -> Self {
        Self { count: pool.current_num_threads(), pool: Some(pool) }
    }

    /// The count asked for.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Runs something on one of them: what it then gives to all of them no thread waits long for.
    pub fn on_one<T: Send>(&self, run: impl FnOnce() -> T + Send) -> T {
        #[cfg(feature = "parallel")]
        if let Some(pool) = &self.pool {
            return pool.install(run);
        }
        run()
    }

    /// Runs `run` on every item, with what `init` makes for some of them at a time.
    pub fn for_each<T: Send, S>(
        &self,
        items: &mut [T],
        init: impl Fn() -> S + Sync + Send,
        run: impl Fn(&mut S, &mut T) + Sync + Send,
    ) {
        #[cfg(feature = "parallel")]
        if let (Some(pool), true) = (&self.pool, items.len() > 1) {
            use rayon::prelude::*;
            pool.install(|| items.par_iter_mut().for_each_init(&init, &run));
            return;
        }
        let mut scratch = init();
        items.iter_mut().for_each(|item| run(&mut scratch, item));
    }
}
