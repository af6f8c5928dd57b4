//! The GPU that a bench is run on.

use sinew::gpu::GpuDevice;

/// The best one of the machine, and says what it is; ends the bench where there is none.
pub fn open() -> GpuDevice {
    let device = GpuDevice::new().unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(2)
    });
    println!("{}, {}", device.report(), device.report().driver);
    if device.is_software() {
        println!("this is no GPU: these figures say nothing of one, and no bar is looked at");
    }
    if !device.has_timestamps() {
        println!("it has no timestamps: only whole steps are timed");
    }
    device
}
