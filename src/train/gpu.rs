//! The GPU that networks are trained on. `burn` would choose one itself, and panic where there is none.

use std::sync::{Mutex, PoisonError};

use burn_wgpu::{RuntimeOptions, WgpuDevice, WgpuSetup, init_device};
use wgpu_of_burn as wgpu;

use super::TrainError;

/// The process' one: `burn` keeps for ever what it is given.
pub(super) fn device() -> Result<WgpuDevice, TrainError> {
    static DEVICE: Mutex<Option<WgpuDevice>> = Mutex::new(None);
    let mut device = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = &*device {
        return Ok(device.clone());
    }
    Ok(device.insert(init_device(pollster::block_on(setup())?, RuntimeOptions::default())).clone())
}

async fn setup() -> Result<WgpuSetup, TrainError> {
    let native = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let backends = wgpu::Backends::from_env().unwrap_or(native);
    let descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor { backends, ..descriptor });
    let name = std::env::var("WGPU_ADAPTER_NAME").unwrap_or_default().to_lowercase();
    let adapters = instance.enumerate_adapters(backends).await;
    let found: Vec<String> = adapters.iter().map(|adapter| adapter.get_info().name).collect();
    let fits = |adapter: &wgpu::Adapter| {
        let computes = adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS);
        computes && adapter.get_info().name.to_lowercase().contains(&name)
    };
    let rank = |adapter: &wgpu::Adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    };
    let adapter = adapters.into_iter().filter(fits).min_by_key(rank).ok_or_else(|| TrainError::NoAdapter {
        found: if found.is_empty() { "none at all".into() } else { format!("only {}", found.join(", ")) },
    })?;
    let info = adapter.get_info();
    // As `burn` asks for it, whose kernels go by what the adapter can: all but what wgpu warns of.
    let warned_of = wgpu::Features::MAPPABLE_PRIMARY_BUFFERS | wgpu::Features::all_experimental_mask();
    let descriptor = wgpu::DeviceDescriptor {
        required_features: adapter.features().difference(warned_of),
        required_limits: adapter.limits(),
        memory_hints: wgpu::MemoryHints::MemoryUsage,
        ..wgpu::DeviceDescriptor::default()
    };
    let (device, queue) = adapter
        .request_device(&descriptor)
        .await
        .map_err(|error| TrainError::NoDevice { adapter: info.name, message: error.to_string() })?;
    Ok(WgpuSetup { instance, adapter, device, queue, backend: info.backend })
}
