//! Which backend steps a [`Physics`](crate::Physics): the CPU or a GPU.

use std::ops::{Deref, DerefMut};

use crate::backend::{FleshBackend, Progress};
use crate::cpu::CpuBackend;

/// What to step with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// A GPU where there is one; the CPU where there is none, or only a software adapter, which the CPU outruns.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU, software adapters too.
    Gpu,
}

/// Why a backend is not to be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BackendError {
    /// The GPU, or that there is none.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] crate::gpu::GpuError),
    /// A build without GPU support.
    #[cfg(not(feature = "gpu"))]
    #[error("Backend::Gpu needs the crate feature `gpu`; build with it, or use Backend::Cpu")]
    NotBuilt,
}

/// The backend in use.
pub(crate) enum ActiveBackend {
    Cpu(CpuBackend),
    #[cfg(feature = "gpu")]
    Gpu(Box<crate::gpu::GpuBackend>),
}

impl Default for ActiveBackend {
    fn default() -> Self {
        Self::Cpu(CpuBackend::default())
    }
}

impl ActiveBackend {
    /// Makes the backend asked for, ready to step.
    #[cfg_attr(not(feature = "gpu"), allow(unused_variables, reason = "the CPU has nothing to compile"))]
    pub fn new(backend: Backend, progress: Progress<'_>) -> Result<Self, BackendError> {
        match backend {
            Backend::Cpu => Ok(Self::default()),
            #[cfg(not(feature = "gpu"))]
            Backend::Auto => Ok(Self::default()),
            #[cfg(not(feature = "gpu"))]
            Backend::Gpu => Err(BackendError::NotBuilt),
            #[cfg(feature = "gpu")]
            Backend::Auto => Ok(Self::on_hardware(progress).unwrap_or_default()),
            #[cfg(feature = "gpu")]
            Backend::Gpu => Ok(Self::on_gpu(crate::gpu::GpuDevice::new()?, progress)?),
        }
    }

    #[cfg(feature = "gpu")]
    pub fn on_gpu(device: crate::gpu::GpuDevice, progress: Progress<'_>) -> Result<Self, crate::gpu::GpuError> {
        Ok(Self::Gpu(Box::new(crate::gpu::GpuBackend::new(device, progress)?)))
    }

    /// A GPU that is one, if it works.
    #[cfg(feature = "gpu")]
    fn on_hardware(progress: Progress<'_>) -> Option<Self> {
        let device = crate::gpu::GpuDevice::new().ok().filter(|device| !device.is_software())?;
        Self::on_gpu(device, progress).ok()
    }
}

impl Deref for ActiveBackend {
    type Target = dyn FleshBackend;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Cpu(cpu) => cpu,
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => &**gpu,
        }
    }
}

impl DerefMut for ActiveBackend {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Cpu(cpu) => cpu,
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => &mut **gpu,
        }
    }
}

#[cfg(all(test, not(feature = "gpu")))]
mod tests {
    use super::*;

    #[test]
    fn without_gpu_support_auto_is_the_cpu() {
        assert!(ActiveBackend::new(Backend::Auto, &mut |_| ()).is_ok_and(|backend| backend.report().backend == "cpu"));
        assert_eq!(ActiveBackend::new(Backend::Gpu, &mut |_| ()).err(), Some(BackendError::NotBuilt));
    }
}
