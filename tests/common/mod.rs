//! What several tests need.
#![allow(dead_code, reason = "each test binary uses a part")]

#[cfg(feature = "gpu")]
pub mod layout;
#[cfg(feature = "gpu")]
pub mod mutation;
#[cfg(feature = "neural")]
mod network;
mod noting;
#[cfg(feature = "gpu")]
pub mod parity;
mod rods;

#[cfg(feature = "gpu")]
use std::sync::{Mutex, PoisonError};
#[cfg(feature = "gpu")]
use std::thread::ThreadId;

#[allow(unused_imports, reason = "each test binary uses a part")]
pub use noting::{LARGEST, Noting};
#[allow(unused_imports, reason = "each test binary uses a part")]
pub use rods::*;

#[cfg(feature = "neural")]
#[allow(unused_imports, reason = "each test binary uses a part")]
pub use network::network;

/// The machine's GPU, software ones too. Without one the caller returns, after a line that says so; where
/// `SINEW_REQUIRE_ADAPTER=1` demands an adapter, that is a failure.
#[cfg(feature = "gpu")]
pub fn gpu() -> Option<sinew::gpu::GpuDevice> {
    sinew::gpu::GpuDevice::new().map_or_else(no_adapter, Some)
}

/// An empty scene on the machine's GPU, whose device all scenes of a test share; else as [`gpu`]. Tests have one each: Mesa compiles
/// kernels on the device's one thread. It is never dropped: at the end of a test's thread wgpu's own thread-locals may be gone.
#[cfg(feature = "gpu")]
pub fn gpu_physics() -> Option<sinew::Physics> {
    static OF_TESTS: Mutex<Vec<(ThreadId, sinew::gpu::GpuDevice)>> = Mutex::new(Vec::new());
    let own = std::thread::current().id();
    let of_test = || OF_TESTS.lock().unwrap_or_else(PoisonError::into_inner);
    let there = of_test().iter().find(|(test, _)| *test == own).map(|(_, device)| device.clone());
    let device = there.or_else(|| gpu().inspect(|made| of_test().push((own, made.clone()))));
    device.map(|device| sinew::Physics::with_gpu(device).unwrap())
}

/// As [`gpu_physics`], on a device of its own: for what loses it or counts its waits.
#[cfg(feature = "gpu")]
pub fn gpu_physics_alone() -> Option<sinew::Physics> {
    gpu().map(|own| sinew::Physics::with_gpu(own).unwrap())
}

/// The CPU, and a GPU where there is one, of which nothing is sent back.
pub fn backends() -> Vec<(&'static str, sinew::Physics)> {
    let mut backends = vec![("CPU", sinew::Physics::default())];
    #[cfg(feature = "gpu")]
    backends.extend(gpu_physics().map(|gpu| ("GPU", gpu)));
    backends.iter_mut().for_each(|(_, physics)| physics.read_back = sinew::ReadBack::NOTHING);
    backends
}

/// A muscle that hangs on a bone, whose activation takes 0.05 s to rise.
pub fn slow_muscle(physics: &mut sinew::Physics) -> sinew::FleshHandle {
    use sinew::flesh::{Contraction, Flesh, Holds, RodSpec};
    use sinew::glam::DVec3;
    let slow = Contraction { activation_time: 0.05, ..Contraction::default() };
    let rod = RodSpec { contraction: slow, ..RodSpec::straight("slow", DVec3::ZERO, DVec3::X, 8, 0.02) };
    let flesh = std::sync::Arc::new(Flesh::build(&[rod.attach(0, 0, Holds::CLAMP)], &[sinew::Pose::IDENTITY]).unwrap());
    physics.insert(flesh, &[sinew::Pose::IDENTITY], sinew::Pose::IDENTITY).unwrap()
}

#[cfg(feature = "gpu")]
fn no_adapter<T>(error: sinew::gpu::GpuError) -> Option<T> {
    let none = matches!(error, sinew::gpu::GpuError::NoAdapter { .. } | sinew::gpu::GpuError::NoDevice { .. });
    skip_without_adapter(none, &error);
    None
}

/// Says that a part of a test is skipped for want of an adapter; fails where one is demanded, or where that is not what is wrong.
pub fn skip_without_adapter(none: bool, error: &dyn std::error::Error) {
    let demanded = std::env::var("SINEW_REQUIRE_ADAPTER").is_ok_and(|demand| demand == "1");
    assert!(none && !demanded, "{error}");
    println!("skipped: no adapter: {error}");
}

/// A folder of the shared data beside the checkout, which never enters the repository. Without it the caller
/// returns, after a line that says so; where `SINEW_REQUIRE_DATA=1` demands it, that is a failure.
pub fn data(folder: &str) -> Option<std::path::PathBuf> {
    let path = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")).join(folder);
    if path.is_dir() {
        return Some(path);
    }
    assert!(std::env::var_os("SINEW_REQUIRE_DATA").is_none_or(|demand| demand != "1"), "no folder {}", path.display());
    println!("skipped: no folder {}", path.display());
    None
}
