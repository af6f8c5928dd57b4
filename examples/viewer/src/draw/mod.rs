//! Draws the scene with wgpu: floor, skin with the key light's shadow, and overlays of pills and rods.

mod overlay;
mod pipelines;
mod skin;
mod targets;
mod view;

use glam::{DVec3, Mat4};
use sinew::Pose;

pub use overlay::{Hull, Overlay};
pub use skin::SkinBuffers;
pub use view::ViewUniform;

use pipelines::Pipelines;
use targets::Targets;

/// Samples a pixel.
const SAMPLES: u32 = 4;
/// Texels along a side of the shadow map.
const SHADOW_SIDE: u32 = 2048;
const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Where a picture goes.
pub struct Target<'a> {
    /// All of it.
    pub view: &'a wgpu::TextureView,
    /// Its size (pixels).
    pub size: [u32; 2],
    /// How much of its left side the panel hides (pixels); the scene fills the rest.
    pub panel: f32,
}

impl Target<'_> {
    /// Width over height of what the scene fills.
    pub fn aspect(&self) -> f32 {
        let [width, height] = self.size.map(|side| side as f32);
        (width - self.panel).max(1.0) / height.max(1.0)
    }

    fn limit(&self, pass: &mut wgpu::RenderPass) {
        let [width, height] = self.size.map(|side| side as f32);
        let panel = self.panel.clamp(0.0, width - 1.0);
        pass.set_viewport(panel, 0.0, width - panel, height, 0.0, 1.0);
    }
}

/// Pipelines, targets and the buffers of what is shown.
pub struct Renderer {
    pipelines: Pipelines,
    targets: Targets,
    view_buffer: wgpu::Buffer,
    view_group: wgpu::BindGroup,
    shadow_group: wgpu::BindGroup,
    shadow_view: wgpu::TextureView,
    /// The skin; `None` until a character is loaded.
    pub skin: Option<SkinBuffers>,
    /// Pills, drawn over the skin.
    pub pills: Overlay,
    /// Rods, drawn over the pills.
    pub rods: Overlay,
}

impl Renderer {
    /// For pictures in a format.
    pub fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Self {
        let pipelines = Pipelines::new(device, format);
        let view_buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("view"),
            size: size_of::<ViewUniform>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let view_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("view"),
            layout: &pipelines.view_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: view_buffer.as_entire_binding() }],
        });
        let shadow_view = targets::texture(device, "shadow", [SHADOW_SIDE; 2], DEPTH_FORMAT, 1);
        let shadow_sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("shadow"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            compare: Some(wgpu::CompareFunction::LessEqual),
            ..Default::default()
        });
        let shadow_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("shadow"),
            layout: &pipelines.shadow_layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(&shadow_view) },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::Sampler(&shadow_sampler) },
            ],
        });
        let pills = Overlay::new(device, &pipelines.hulls_layout, "pills");
        let rods = Overlay::new(device, &pipelines.hulls_layout, "rods");
        let targets = Targets::new(device, format, [1, 1]);
        Self { pipelines, targets, view_buffer, view_group, shadow_group, shadow_view, skin: None, pills, rods }
    }

    /// Takes a character's triangles and colours.
    pub fn load_skin(&mut self, device: &wgpu::Device, vertex_count: usize, mesh: (&[[u32; 3]], &[[f32; 4]])) {
        self.skin = SkinBuffers::new(device, &self.pipelines.skin_layout, vertex_count, mesh);
    }

    /// Says where the skin's model space lies; `origin` is where the picture's own lies in the world (m).
    pub fn place_skin(&self, queue: &wgpu::Queue, root: &Pose, origin: DVec3) {
        let offset = (root.translation - origin).as_vec3();
        let model = Mat4::from_rotation_translation(root.rotation.as_quat(), offset);
        if let Some(skin) = &self.skin {
            queue.write_buffer(&skin.model, 0, bytemuck::bytes_of(&model));
        }
    }

    /// Draws everything into `target`, a view of the renderer's format.
    pub fn draw(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        target: &Target,
        view: &ViewUniform,
    ) {
        self.targets.resize(device, target.size);
        queue.write_buffer(&self.view_buffer, 0, bytemuck::bytes_of(view));
        self.draw_shadow(encoder);
        let mut pass = self.targets.pass(encoder, "scene", None);
        target.limit(&mut pass);
        pass.set_bind_group(0, &self.view_group, &[]);
        pass.set_bind_group(2, &self.shadow_group, &[]);
        pass.set_pipeline(&self.pipelines.floor);
        pass.draw(0..3, 0..1);
        if let Some(skin) = &self.skin {
            pass.set_pipeline(&self.pipelines.skin);
            pass.set_bind_group(1, &skin.group, &[]);
            pass.draw(0..skin.corner_count, 0..1);
        }
        drop(pass);
        for (overlay, resolve) in [(&self.pills, None), (&self.rods, Some(target.view))] {
            let mut pass = self.targets.pass(encoder, overlay.label, Some(resolve));
            target.limit(&mut pass);
            pass.set_bind_group(0, &self.view_group, &[]);
            // Depth alone first, so that only the nearest surface is blended over the picture.
            for pipeline in [&self.pipelines.overlay_depth, &self.pipelines.overlay] {
                overlay.draw(&mut pass, pipeline);
            }
        }
    }

    fn draw_shadow(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadow"),
            color_attachments: &[],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.shadow_view,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Store }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        let Some(skin) = &self.skin else { return };
        pass.set_pipeline(&self.pipelines.shadow);
        pass.set_bind_group(0, &self.view_group, &[]);
        pass.set_bind_group(1, &skin.group, &[]);
        pass.draw(0..skin.corner_count, 0..1);
    }
}
