//! Pictures of the window in files.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Writes a texture of four bytes a pixel as a PNG.
pub fn save(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    texture: &wgpu::Texture,
    path: &Path,
) -> Result<(), Box<dyn Error>> {
    let rgb = read(device, queue, texture)?;
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), texture.width(), texture.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header()?.write_image_data(&rgb)?;
    Ok(())
}

/// Copies a texture of four bytes a pixel to the host, three bytes a pixel, red first.
pub fn read(device: &wgpu::Device, queue: &wgpu::Queue, texture: &wgpu::Texture) -> Result<Vec<u8>, Box<dyn Error>> {
    let (width, height) = (texture.width(), texture.height());
    let row = 4 * width;
    let padded_row = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("screenshot"),
        size: u64::from(padded_row) * u64::from(height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(padded_row), rows_per_image: None },
        },
        texture.size(),
    );
    queue.submit([encoder.finish()]);
    let (sender, receiver) = std::sync::mpsc::channel();
    buffer.map_async(wgpu::MapMode::Read, .., move |result| {
        // The receiver waits below, so that sending cannot fail.
        sender.send(result).ok();
    });
    device.poll(wgpu::PollType::wait_indefinitely())?;
    receiver.recv()??;
    let bytes = buffer.get_mapped_range(..)?;
    let blue_first = matches!(texture.format(), wgpu::TextureFormat::Bgra8Unorm | wgpu::TextureFormat::Bgra8UnormSrgb);
    Ok(bytes
        .chunks(padded_row as usize)
        .flat_map(|padded| padded[..row as usize].chunks(4))
        .flat_map(|p| if blue_first { [p[2], p[1], p[0]] } else { [p[0], p[1], p[2]] })
        .collect())
}
