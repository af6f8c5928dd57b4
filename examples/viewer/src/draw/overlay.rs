//! Hulls of two spheres, over the picture or in it.

use bytemuck::{Pod, Zeroable};

/// Into how many triangles a hull is cut.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// Corners around it.
    pub sides: u32,
    /// Rings from each pole to the rim of its cap, at least 2.
    pub rings: u32,
}

impl Detail {
    /// Of what is seen alone.
    pub const FINE: Self = Self { sides: 20, rings: 6 };
    /// Of what there are hundreds of.
    pub const PLAIN: Self = Self { sides: 14, rings: 4 };
    /// Of lines.
    pub const LINE: Self = Self { sides: 6, rings: 2 };

    /// The constants of hull.wgsl.
    pub fn constants(self) -> [(&'static str, f64); 2] {
        [("SIDES", self.sides.into()), ("RINGS", self.rings.into())]
    }

    /// Corners of a hull's triangles: two for each patch between rings and sides.
    fn corners(self) -> u32 {
        (2 * self.rings - 1) * self.sides * 6
    }
}

/// The hull of two spheres, as hull.wgsl reads it; places are in the picture's space (m).
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct Hull {
    /// Centre of the first sphere.
    pub start: [f32; 3],
    /// Its radius.
    pub start_radius: f32,
    /// Centre of the second sphere.
    pub end: [f32; 3],
    /// Its radius.
    pub end_radius: f32,
    /// Linear.
    pub colour: [f32; 3],
    /// From a glassy shell (0) to a solid body (1); in the picture all are solid.
    pub body: f32,
}

/// Hulls that are drawn together.
pub struct Overlay {
    /// What profilers call it.
    pub label: &'static str,
    /// How finely its hulls are cut.
    pub detail: Detail,
    layout: wgpu::BindGroupLayout,
    buffer: wgpu::Buffer,
    group: wgpu::BindGroup,
    count: u32,
}

impl Overlay {
    /// None yet.
    pub fn new(device: &wgpu::Device, layout: &wgpu::BindGroupLayout, (label, detail): (&'static str, Detail)) -> Self {
        let (buffer, group) = room_for(device, layout, label, 64);
        Self { label, detail, layout: layout.clone(), buffer, group, count: 0 }
    }

    /// Replaces the hulls.
    pub fn upload(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, hulls: &[Hull]) {
        if self.buffer.size() < size_of_val(hulls) as u64 {
            (self.buffer, self.group) = room_for(device, &self.layout, self.label, hulls.len().next_power_of_two());
        }
        queue.write_buffer(&self.buffer, 0, bytemuck::cast_slice(hulls));
        self.count = hulls.len() as u32;
    }

    /// Draws all hulls by a pipeline of the same detail.
    pub fn draw(&self, pass: &mut wgpu::RenderPass, pipeline: &wgpu::RenderPipeline) {
        if self.count > 0 {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(1, &self.group, &[]);
            pass.draw(0..self.detail.corners(), 0..self.count);
        }
    }
}

fn room_for(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    label: &str,
    hulls: usize,
) -> (wgpu::Buffer, wgpu::BindGroup) {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: (hulls * size_of::<Hull>()) as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some(label),
        layout,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
    });
    (buffer, group)
}
