//! How large a piece of memory was asked for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, which notes the largest piece that was asked for.
pub struct Noting;

/// That piece (bytes).
pub static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all is the system allocator's; noting does not touch what it hands out.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}
