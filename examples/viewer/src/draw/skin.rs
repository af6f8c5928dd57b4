//! A character's skin in buffers.

use glam::Mat4;
use sinew::SkinnedVertices;
use wgpu::util::DeviceExt;

/// The arrays that the skin's shader pulls its corners from.
pub struct SkinBuffers {
    positions: wgpu::Buffer,
    normals: wgpu::Buffer,
    vertex_count: usize,
    /// From model space to the picture's.
    pub model: wgpu::Buffer,
    /// All of them, bound.
    pub group: wgpu::BindGroup,
    /// Three a triangle.
    pub corner_count: u32,
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
        let filled = |label, size, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let bytes = 12 * vertex_count as u64;
        let positions = filled("positions", bytes, wgpu::BufferUsages::STORAGE);
        let normals = filled("normals", bytes, wgpu::BufferUsages::STORAGE);
        let model = filled("model", size_of::<Mat4>() as u64, wgpu::BufferUsages::UNIFORM);
        let triangle_array = array("triangles", bytemuck::cast_slice(triangles));
        let colour_array = array("colours", bytemuck::cast_slice(colours));
        let resources = [&model, &positions, &normals, &triangle_array, &colour_array];
        let entries: Vec<_> = (0..)
            .zip(resources)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let group =
            device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("skin"), layout, entries: &entries });
        Some(Self { positions, normals, vertex_count, model, group, corner_count: 3 * triangles.len() as u32 })
    }

    /// Uploads the skin after a step; one of another length is left out.
    pub fn upload(&self, queue: &wgpu::Queue, vertices: &SkinnedVertices) {
        if vertices.positions.len() == self.vertex_count && vertices.normals.len() == self.vertex_count {
            queue.write_buffer(&self.positions, 0, bytemuck::cast_slice(&vertices.positions));
            queue.write_buffer(&self.normals, 0, bytemuck::cast_slice(&vertices.normals));
        }
    }
}
