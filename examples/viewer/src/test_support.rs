//! What several tests need.

use std::path::{Path, PathBuf};

use sinew::gpu::GpuDevice;

/// A character of the project's own.
pub fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets").join(name)
}

/// A device without a window. Without an adapter the caller returns, after a line that says so; where
/// `SINEW_REQUIRE_ADAPTER=1` demands one, that is a failure.
pub fn graphics_device() -> Option<(wgpu::Device, wgpu::Queue)> {
    match GpuDevice::new() {
        Ok(gpu) => Some((gpu.device().clone(), gpu.queue().clone())),
        Err(error) => {
            let demanded = std::env::var("SINEW_REQUIRE_ADAPTER").is_ok_and(|demand| demand == "1");
            assert!(!demanded, "{error}");
            println!("skipped: no adapter: {error}");
            None
        }
    }
}
