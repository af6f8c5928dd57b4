//! What is drawn into before it is resolved to the window: colour and depth with several samples a pixel.

use super::{DEPTH_FORMAT, SAMPLES};

/// Colour and depth of one size.
pub struct Targets {
    format: wgpu::TextureFormat,
    size: [u32; 2],
    colour: wgpu::TextureView,
    depth: wgpu::TextureView,
}

impl Targets {
    /// Of a size in pixels.
    pub fn new(device: &wgpu::Device, format: wgpu::TextureFormat, size: [u32; 2]) -> Self {
        Self {
            format,
            size,
            colour: texture(device, "samples", size, format, SAMPLES),
            depth: texture(device, "depth", size, DEPTH_FORMAT, SAMPLES),
        }
    }

    /// Takes a new size in pixels.
    pub fn resize(&mut self, device: &wgpu::Device, size: [u32; 2]) {
        if self.size != size {
            *self = Self::new(device, self.format, size);
        }
    }

    /// A pass with its depth cleared. `over` keeps the colours that are there, and says where they are resolved to.
    pub fn pass<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
        label: &str,
        over: Option<Option<&wgpu::TextureView>>,
    ) -> wgpu::RenderPass<'a> {
        let load = if over.is_some() { wgpu::LoadOp::Load } else { wgpu::LoadOp::Clear(wgpu::Color::BLACK) };
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some(label),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.colour,
                depth_slice: None,
                resolve_target: over.flatten(),
                ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }
}

/// A texture to draw into; one of a single sample can be read by shaders.
pub fn texture(
    device: &wgpu::Device,
    label: &str,
    size: [u32; 2],
    format: wgpu::TextureFormat,
    sample_count: u32,
) -> wgpu::TextureView {
    let readable = if sample_count == 1 { wgpu::TextureUsages::TEXTURE_BINDING } else { wgpu::TextureUsages::empty() };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | readable,
        view_formats: &[],
    });
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}
