//! Draws the scene with wgpu: floor, skin and bare flesh with the key light's shadow, and overlays of pills,
//! rods and contacts.

mod overlay;
mod pipelines;
mod skin;
mod targets;
mod view;

pub use overlay::{Detail, Hull, Overlay};
pub use skin::{SkinBuffers, SkinSource};
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
    /// Flesh without a skin.
    pub bare: Overlay,
    /// Pills, drawn over the skin.
    pub pills: Overlay,
    /// Rods, drawn over the pills.
    pub rods: Overlay,
    /// Contacts, drawn over the rods.
    pub contacts: Overlay,
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
        let [bare, pills, rods, contacts] = [
            ("bare flesh", Detail::PLAIN),
            ("pills", Detail::FINE),
            ("rods", Detail::FINE),
            ("contacts", Detail::LINE),
        ]
        .map(|named| Overlay::new(device, &pipelines.hulls_layout, named));
        let targets = Targets::new(device, format, [1, 1]);
        Self {
            pipelines,
            targets,
            view_buffer,
            view_group,
            shadow_group,
            shadow_view,
            skin: None,
            bare,
            pills,
            rods,
            contacts,
        }
    }

    /// Takes a character's triangles and colours.
    pub fn load_skin(&mut self, device: &wgpu::Device, vertex_count: usize, mesh: (&[[u32; 3]], &[[f32; 4]])) {
        self.skin = SkinBuffers::new(device, &self.pipelines.skin_layout, vertex_count, mesh);
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
            skin.draw(&mut pass, &self.pipelines.skin);
        }
        self.bare.draw(&mut pass, &self.pipelines.bare);
        drop(pass);
        let Pipelines { overlay, line, .. } = &self.pipelines;
        for (overlay, pipelines, resolve) in
            [(&self.pills, overlay, None), (&self.rods, overlay, None), (&self.contacts, line, Some(target.view))]
        {
            let mut pass = self.targets.pass(encoder, overlay.label, Some(resolve));
            target.limit(&mut pass);
            pass.set_bind_group(0, &self.view_group, &[]);
            // Depth alone first, so that only the nearest surface is blended over the picture.
            for pipeline in pipelines {
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
        pass.set_bind_group(0, &self.view_group, &[]);
        if let Some(skin) = &self.skin {
            skin.draw(&mut pass, &self.pipelines.shadow);
        }
        self.bare.draw(&mut pass, &self.pipelines.bare_shadow);
    }
}

#[cfg(test)]
mod tests {
    use sinew::{Backend, Pose};

    use super::*;
    use crate::camera::OrbitCamera;
    use crate::heap::SceneName;
    use crate::screenshot;
    use crate::shown::Shown;
    use crate::simulation::{Settings, Simulation};
    use crate::stage::{Overlays, Stage};
    use crate::test_support::{asset, graphics_device};
    use crate::thrown::Throw;

    const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
    const SIZE: [u32; 2] = [320, 240];

    /// Six steps of the octopus and a picture of it; without skin, of the bare floor.
    fn picture((device, queue): &(wgpu::Device, wgpu::Queue), backend: Backend, skinned: bool) -> Vec<u8> {
        let mut settings = Settings { sway: 0.2, ..Settings::default() };
        settings.stepper.0 = backend;
        let file = asset("octopus.glb");
        let mut simulation = Simulation::load(&file, &Default::default(), settings).expect("the asset loads");
        simulation.device = Some((device.clone(), queue.clone()));
        let [low, high] = simulation.bounds();
        let (centre, radius) = ((low + high) * 0.5, 0.5 * (high - low).length() as f32);

        let mut renderer = Renderer::new(device, FORMAT);
        let character = simulation.character().expect("was loaded");
        let mesh = &character.asset().mesh;
        let corners = (&character.body().triangles[..], &mesh.triangle_colors[..]);
        renderer.load_skin(device, mesh.positions.len(), corners);
        let camera = OrbitCamera::framing(centre, 0.9 * radius);
        let skin = renderer.skin.as_mut().expect("it has triangles");
        for _ in 0..6 {
            skin.keep(device, queue);
            simulation.step(1.0 / 60.0).expect("steps");
            skin.take(device, queue, &simulation.skin().expect("is there").expect("of a character"));
        }
        let on_gpu = matches!(simulation.skin(), Ok(Some(SkinSource::Gpu(_))));
        assert_eq!(on_gpu, backend == Backend::Gpu, "drawn from where it was made");
        skin.place(queue, &Pose::IDENTITY, camera.target, 0.5);
        if !skinned {
            renderer.skin = None;
        }

        let view = ViewUniform::new(&camera, SIZE[0] as f32 / SIZE[1] as f32, (centre, 1.3 * radius));
        read(device, queue, |encoder, target| renderer.draw(device, queue, encoder, target, &view))
    }

    /// What is drawn into a target.
    fn read(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        draw: impl FnOnce(&mut wgpu::CommandEncoder, &Target),
    ) -> Vec<u8> {
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: SIZE[0], height: SIZE[1], depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let target = Target { view: &texture.create_view(&Default::default()), size: SIZE, panel: 0.0 };
        let mut encoder = device.create_command_encoder(&Default::default());
        draw(&mut encoder, &target);
        queue.submit([encoder.finish()]);
        screenshot::read(device, queue, &texture).expect("comes back")
    }

    #[test]
    fn both_backends_draw_the_same_picture() {
        let Some(device) = graphics_device() else { return };
        let on_cpu = picture(&device, Backend::Cpu, true);
        let others = [picture(&device, Backend::Gpu, true), picture(&device, Backend::Cpu, false)];
        let [other_backend, bare] = others.map(|other| share_that_differs(&on_cpu, &other));
        println!("{:.3} % of pixels differ between backends, {:.1} % without skin", 1e2 * other_backend, 1e2 * bare);
        assert!(other_backend < 0.002 && bare > 0.05);
    }

    fn share_that_differs(a: &[u8], b: &[u8]) -> f64 {
        let pixels = a.chunks(3).zip(b.chunks(3));
        let differ = pixels.filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 8)).count();
        differ as f64 / f64::from(SIZE[0] * SIZE[1])
    }

    #[test]
    fn a_heap_what_is_thrown_at_it_and_its_contacts_are_drawn() {
        let Some((device, queue)) = graphics_device() else { return };
        let mut simulation = Simulation::open(SceneName::Octopuses, 3, Settings::default()).expect("opens");
        let [low, high] = simulation.bounds();
        let ball = ((low + high) * 0.5, 0.5 * (high - low).length() as f32);
        let camera = OrbitCamera::framing(ball.0, 0.9 * ball.1);
        (0..60).for_each(|_| simulation.step(1.0 / 60.0).expect("steps"));
        let mut renderer = Renderer::new(&device, FORMAT);
        let mut picture = |shown: &Shown, overlays| {
            let stage = Stage { shown, alpha: 1.0, camera: &camera, ball, overlays };
            read(&device, &queue, |encoder, target| stage.draw(&mut renderer, (&device, &queue), encoder, target))
        };
        let plain = Overlays::default();
        let mut shown = Shown::default();
        let floor = picture(&shown, plain);
        simulation.show(&mut shown).expect("is there");
        let heap = picture(&shown, plain);
        let contacts = picture(&shown, Overlays { contacts: true, ..plain });
        simulation.throw(&Throw::default(), camera.ray()).expect("flies");
        (0..12).for_each(|_| simulation.step(1.0 / 60.0).expect("steps"));
        simulation.show(&mut shown).expect("is there");
        let thrown = picture(&shown, plain);
        let shares = [(&floor, &heap), (&heap, &contacts), (&heap, &thrown)].map(|(a, b)| share_that_differs(a, b));
        println!("of the picture, {shares:.3?} are the heap, its contacts, and what was thrown");
        assert!(shares[0] > 0.05 && shares[1] > 0.002 && shares[2] > 0.005 && shares[1] < 0.3 * shares[0]);
    }
}
