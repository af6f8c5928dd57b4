//! Pictures to files.

use super::palette::Palette;
use super::{Image, PictureError};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

impl Image {
    /// Writes the picture as a PNG file.
    ///
    /// # Errors
    /// [`PictureError::Write`] when the file cannot be written; [`PictureError::FrameSize`] when `rgba` does not
    /// fill `width` by `height`.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<(), PictureError> {
        check(0, self, self)?;
        to_file(path.as_ref(), |file| {
            let mut encoder = png::Encoder::new(file, self.width, self.height);
            encoder.set_color(png::ColorType::Rgba);
            encoder.set_depth(png::BitDepth::Eight);
            let mut writer = encoder.write_header()?;
            writer.write_image_data(&self.rgba)?;
            writer.finish()?;
            Ok(())
        })
    }
}

/// Writes frames of one size as a GIF that repeats for ever, `frame_delay_ms` (ms, to the nearest 10) apart.
///
/// All frames share one palette, and each after the first holds only what changed.
///
/// # Errors
/// [`PictureError::NoFrames`], [`PictureError::FrameSize`], and [`PictureError::Write`] when the file cannot be
/// written.
pub fn write_gif(path: impl AsRef<Path>, frames: &[Image], frame_delay_ms: u32) -> Result<(), PictureError> {
    let first = frames.first().ok_or(PictureError::NoFrames)?;
    frames.iter().enumerate().try_for_each(|(i, frame)| check(i, frame, first))?;
    let palette = Palette::of(frames);
    let table: Vec<u8> = palette.colours.iter().copied().chain([[0; 3]]).flatten().collect();
    let same = palette.colours.len() as u8;
    // Viewers slow frames down that last less than 20 ms.
    let delay = frame_delay_ms.saturating_add(5).div_euclid(10).clamp(2, u32::from(u16::MAX)) as u16;
    let (width, height) = (first.width as usize, first.height as usize);
    to_file(path.as_ref(), |file| {
        let mut encoder = gif::Encoder::new(file, width as u16, height as u16, &table).map_err(io::Error::other)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(io::Error::other)?;
        let mut shown: Vec<u8> = Vec::new();
        for frame in frames {
            let next: Vec<u8> = frame.rgba.chunks_exact(4).map(|pixel| palette.index(pixel)).collect();
            let area = changed(&shown, &next, width);
            let (mut pixels, mut any_same) = (Vec::with_capacity(area.width * area.height), false);
            for y in area.top..area.top + area.height {
                let row = y * width + area.left..y * width + area.left + area.width;
                for (at, &index) in row.clone().zip(&next[row]) {
                    let unchanged = shown.get(at) == Some(&index);
                    any_same |= unchanged;
                    pixels.push(if unchanged { same } else { index });
                }
            }
            let block = gif::Frame {
                delay,
                dispose: gif::DisposalMethod::Keep,
                transparent: any_same.then_some(same),
                left: area.left as u16,
                top: area.top as u16,
                width: area.width as u16,
                height: area.height as u16,
                buffer: Cow::Owned(pixels),
                ..gif::Frame::default()
            };
            encoder.write_frame(&block).map_err(io::Error::other)?;
            shown = next;
        }
        Ok(())
    })
}

/// A rectangle of pixels.
struct Area {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

/// The smallest rectangle around all pixels that differ, at least one pixel; everything when nothing was shown.
fn changed(shown: &[u8], next: &[u8], width: usize) -> Area {
    let height = next.len() / width;
    if shown.len() != next.len() {
        return Area { left: 0, top: 0, width, height };
    }
    let (mut left, mut right, mut top, mut bottom) = (width, 0, height, 0);
    for (y, (old, new)) in shown.chunks_exact(width).zip(next.chunks_exact(width)).enumerate() {
        let Some(first) = old.iter().zip(new).position(|(a, b)| a != b) else { continue };
        let last = old.iter().zip(new).rposition(|(a, b)| a != b).unwrap_or(first);
        (left, right) = (left.min(first), right.max(last));
        (top, bottom) = (top.min(y), y);
    }
    if left > right {
        return Area { left: 0, top: 0, width: 1, height: 1 };
    }
    Area { left, top, width: right + 1 - left, height: bottom + 1 - top }
}

fn check(frame: usize, image: &Image, first: &Image) -> Result<(), PictureError> {
    let (width, height) = (first.width, first.height);
    let pixels = image.width as usize * image.height as usize;
    let fits = (image.width, image.height) == (width, height) && image.rgba.len() == pixels * 4 && pixels > 0;
    if fits && width <= u32::from(u16::MAX) && height <= u32::from(u16::MAX) {
        Ok(())
    } else {
        Err(PictureError::FrameSize { frame, width, height })
    }
}

fn to_file(path: &Path, body: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), PictureError> {
    let written = File::create(path).and_then(|file| {
        let mut file = BufWriter::new(file);
        body(&mut file)?;
        file.flush()
    });
    written.map_err(|source| PictureError::Write { path: path.to_path_buf(), source })
}
