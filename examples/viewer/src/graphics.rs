//! The window's device and surface, and a frame on it.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use winit::window::Window;

use crate::draw::{Renderer, Target};
use crate::screenshot;

/// Everything that draws into one window.
pub struct Graphics {
    /// Draws the scene.
    pub renderer: Renderer,
    /// Where buffers come from.
    pub device: wgpu::Device,
    /// Where they are filled.
    pub queue: wgpu::Queue,
    /// The adapter's name.
    pub adapter: String,
    /// Whether the adapter computes on the CPU.
    pub software: bool,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    egui: egui_wgpu::Renderer,
}

/// What egui asks to be painted.
pub struct Painting {
    /// Its triangles.
    pub jobs: Vec<egui::ClippedPrimitive>,
    /// Changes of its textures.
    pub textures: egui::TexturesDelta,
    /// Pixels a point.
    pub pixels_per_point: f32,
}

impl Graphics {
    /// For a window.
    pub fn new(window: &Arc<Window>, display: winit::event_loop::OwnedDisplayHandle) -> Result<Self, Box<dyn Error>> {
        let instance =
            wgpu::Instance::new(wgpu::InstanceDescriptor::new_with_display_handle_from_env(Box::new(display)));
        let surface = instance.create_surface(window.clone())?;
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            compatible_surface: Some(&surface),
            ..Default::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&options))?;
        let available = adapter.limits();
        // The simulation shares the device: room for large characters, and timestamps for its stages.
        let required_limits = wgpu::Limits {
            max_buffer_size: available.max_buffer_size,
            max_storage_buffer_binding_size: available.max_storage_buffer_binding_size,
            ..wgpu::Limits::default().using_resolution(available)
        };
        let required_features = adapter.features() & wgpu::Features::TIMESTAMP_QUERY;
        let descriptor = wgpu::DeviceDescriptor { required_features, required_limits, ..Default::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))?;
        let capabilities = surface.get_capabilities(&adapter);
        // Shaders encode colours themselves, and egui wants it so.
        let format = egui_wgpu::preferred_framebuffer_format(&capabilities.formats)?;
        let size = window.inner_size();
        let mut config = surface
            .get_default_config(&adapter, size.width.max(1), size.height.max(1))
            .ok_or("the adapter cannot draw to this window")?;
        config.format = format;
        config.present_mode = wgpu::PresentMode::AutoVsync;
        surface.configure(&device, &config);
        let renderer = Renderer::new(&device, format);
        let egui = egui_wgpu::Renderer::new(&device, format, egui_wgpu::RendererOptions::default());
        let info = adapter.get_info();
        let software = info.device_type == wgpu::DeviceType::Cpu;
        Ok(Self { renderer, adapter: info.name, software, device, queue, surface, config, egui })
    }

    /// Device and queue, for others that work on them.
    pub fn shared(&self) -> (wgpu::Device, wgpu::Queue) {
        (self.device.clone(), self.queue.clone())
    }

    /// Takes the window's new size (pixels).
    pub fn resize(&mut self, size: [u32; 2]) {
        [self.config.width, self.config.height] = size.map(|side| side.max(1));
        self.surface.configure(&self.device, &self.config);
    }

    /// The window's size (pixels).
    pub fn size(&self) -> [u32; 2] {
        [self.config.width, self.config.height]
    }

    /// Draws a frame into the window; one that the window cannot take now is left out.
    pub fn present(
        &mut self,
        window: &Window,
        scene: impl FnOnce(&mut Self, &mut wgpu::CommandEncoder, &wgpu::TextureView),
        painting: &mut Painting,
    ) {
        self.set_textures(&painting.textures);
        self.present_painted(window, scene, painting);
        self.free_textures(&mut painting.textures);
    }

    fn present_painted(
        &mut self,
        window: &Window,
        scene: impl FnOnce(&mut Self, &mut wgpu::CommandEncoder, &wgpu::TextureView),
        painting: &Painting,
    ) {
        use wgpu::CurrentSurfaceTexture::{Lost, Outdated, Suboptimal, Success};
        let frame = match self.surface.get_current_texture() {
            Success(frame) | Suboptimal(frame) => frame,
            Outdated | Lost => return self.surface.configure(&self.device, &self.config),
            _ => return,
        };
        let view = frame.texture.create_view(&Default::default());
        self.draw(&view, scene, painting);
        window.pre_present_notify();
        self.queue.present(frame);
    }

    /// Draws a frame into a picture file.
    pub fn save(
        &mut self,
        path: &Path,
        scene: impl FnOnce(&mut Self, &mut wgpu::CommandEncoder, &wgpu::TextureView),
        painting: &mut Painting,
    ) -> Result<(), Box<dyn Error>> {
        let texture = self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("screenshot"),
            size: wgpu::Extent3d { width: self.config.width, height: self.config.height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: self.config.format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        self.set_textures(&painting.textures);
        self.draw(&texture.create_view(&Default::default()), scene, painting);
        self.free_textures(&mut painting.textures);
        screenshot::save(&self.device, &self.queue, &texture, path)
    }

    fn draw(
        &mut self,
        view: &wgpu::TextureView,
        scene: impl FnOnce(&mut Self, &mut wgpu::CommandEncoder, &wgpu::TextureView),
        painting: &Painting,
    ) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        scene(self, &mut encoder, view);
        self.paint(&mut encoder, view, painting);
        self.queue.submit([encoder.finish()]);
    }

    fn paint(&mut self, encoder: &mut wgpu::CommandEncoder, view: &wgpu::TextureView, painting: &Painting) {
        let screen =
            egui_wgpu::ScreenDescriptor { size_in_pixels: self.size(), pixels_per_point: painting.pixels_per_point };
        self.egui.update_buffers(&self.device, &self.queue, encoder, &painting.jobs, &screen);
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("panel"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store },
            })],
            ..Default::default()
        });
        self.egui.render(&mut pass.forget_lifetime(), &painting.jobs, &screen);
    }

    /// Takes new textures before painting; also where nothing is painted, since egui tells of each only once.
    fn set_textures(&mut self, textures: &egui::TexturesDelta) {
        for (id, deltas) in &textures.set {
            for delta in deltas {
                self.egui.update_texture(&self.device, &self.queue, *id, delta);
            }
        }
    }

    /// Lets textures go that nothing paints with any more.
    fn free_textures(&mut self, textures: &mut egui::TexturesDelta) {
        for id in &textures.free {
            self.egui.free_texture(id);
        }
        textures.clear();
    }

    /// What a scene is drawn into.
    pub fn target<'a>(&self, view: &'a wgpu::TextureView, panel: f32) -> Target<'a> {
        Target { view, size: self.size(), panel }
    }
}
