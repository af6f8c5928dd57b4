//! A character's skin in buffers.

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Mat4};
use sinew::gpu::VertexSlice;
use sinew::layout::SkinnedVertex;
use sinew::{Pose, SkinnedVertices};
use wgpu::util::DeviceExt;

const VERTEX_BYTES: u64 = size_of::<SkinnedVertex>() as u64;

/// The uniform `Skin` of skin.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct SkinUniform {
    /// From model space to the picture's.
    model: Mat4,
    /// Where the skin begins in the buffer of the last step's vertices.
    first: u32,
    /// From the step before (0) to the last one (1).
    alpha: f32,
    padding: [u32; 2],
}

/// Where the skin after a step lies.
pub enum SkinSource<'a> {
    /// On the host: it is uploaded.
    Host(&'a SkinnedVertices),
    /// In the simulation's own buffer: it is drawn from there.
    Gpu(VertexSlice<'a>),
}

/// The arrays that the skin's shader pulls its corners from.
pub struct SkinBuffers {
    layout: wgpu::BindGroupLayout,
    uniform: wgpu::Buffer,
    /// The skin after the step before the last.
    earlier: wgpu::Buffer,
    /// Where a host's vertices go.
    uploaded: wgpu::Buffer,
    triangles: wgpu::Buffer,
    colours: wgpu::Buffer,
    vertex_count: usize,
    /// Where the skin after the last step lies: the buffer and its first vertex there.
    now: Option<(wgpu::Buffer, u64)>,
    group: Option<wgpu::BindGroup>,
    corner_count: u32,
}

impl SkinBuffers {
    /// For a mesh's triangles and their linear RGBA; `None` where there is nothing to draw.
    pub fn new(
        device: &wgpu::Device,
        layout: &wgpu::BindGroupLayout,
        vertex_count: usize,
        (triangles, colours): (&[[u32; 3]], &[[f32; 4]]),
    ) -> Option<Self> {
        if triangles.is_empty() || vertex_count == 0 {
            return None;
        }
        let array = |label, contents: &[u8]| {
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some(label),
                contents,
                usage: wgpu::BufferUsages::STORAGE,
            })
        };
        let empty = |label, size, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let bytes = VERTEX_BYTES * vertex_count as u64;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        Some(Self {
            layout: layout.clone(),
            uniform: empty("skin", size_of::<SkinUniform>() as u64, wgpu::BufferUsages::UNIFORM),
            earlier: empty("earlier vertices", bytes, usage),
            uploaded: empty("uploaded vertices", bytes, usage),
            triangles: array("triangles", bytemuck::cast_slice(triangles)),
            colours: array("colours", bytemuck::cast_slice(colours)),
            vertex_count,
            now: None,
            group: None,
            corner_count: 3 * triangles.len() as u32,
        })
    }

    /// Keeps the skin after the last step as that of the step before. Comes before a step, which writes over it.
    pub fn keep(&self, device: &wgpu::Device, queue: &wgpu::Queue) {
        let Some((buffer, first)) = &self.now else { return };
        let mut encoder = device.create_command_encoder(&Default::default());
        let bytes = VERTEX_BYTES * self.vertex_count as u64;
        encoder.copy_buffer_to_buffer(buffer, first * VERTEX_BYTES, &self.earlier, 0, Some(bytes));
        queue.submit([encoder.finish()]);
    }

    /// Takes the skin after a step; one of another length is left out.
    pub fn take(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, source: &SkinSource) {
        let now = match source {
            SkinSource::Host(vertices) => {
                let corners = vertices.positions.iter().zip(&vertices.normals);
                let packed: Vec<SkinnedVertex> = corners
                    .map(|(place, normal)| SkinnedVertex {
                        position: place.to_array(),
                        normal: normal.to_array(),
                        ..SkinnedVertex::default()
                    })
                    .collect();
                if packed.len() != self.vertex_count {
                    return;
                }
                queue.write_buffer(&self.uploaded, 0, bytemuck::cast_slice(&packed));
                (self.uploaded.clone(), 0)
            }
            SkinSource::Gpu(slice) if slice.count as usize == self.vertex_count => {
                (slice.buffer.clone(), slice.offset / VERTEX_BYTES)
            }
            SkinSource::Gpu(_) => return,
        };
        let first_time = self.now.is_none();
        if self.now.as_ref().is_none_or(|(buffer, _)| *buffer != now.0) {
            let resources = [&self.uniform, &self.earlier, &now.0, &self.triangles, &self.colours];
            let entries: Vec<_> = (0..)
                .zip(resources)
                .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
                .collect();
            let descriptor = wgpu::BindGroupDescriptor { label: Some("skin"), layout: &self.layout, entries: &entries };
            self.group = Some(device.create_bind_group(&descriptor));
        }
        self.now = Some(now);
        if first_time {
            self.keep(device, queue);
        }
    }

    /// Says where model space lies, `origin` being where the picture's own lies in the world (m), and what is shown
    /// between the last two steps.
    pub fn place(&self, queue: &wgpu::Queue, root: &Pose, origin: DVec3, alpha: f32) {
        let offset = (root.translation - origin).as_vec3();
        let model = Mat4::from_rotation_translation(root.rotation.as_quat(), offset);
        let first = self.now.as_ref().map_or(0, |(_, first)| *first as u32);
        let uniform = SkinUniform { model, first, alpha, padding: [0; 2] };
        queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&uniform));
    }

    /// Draws the skin, once there is one.
    pub fn draw(&self, pass: &mut wgpu::RenderPass, pipeline: &wgpu::RenderPipeline) {
        if let Some(group) = &self.group {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(1, group, &[]);
            pass.draw(0..self.corner_count, 0..1);
        }
    }
}
