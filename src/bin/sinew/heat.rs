//! Heat maps: what skin lacks as colours of its mesh, and pictures side by side with a scale beneath.

use sinew::picture::Image;

use crate::figures::canvas::{write, written_size};

/// sRGB, from nothing to all of the scale: pale as bone, yellow, red, dark.
const STOPS: [[u8; 3]; 5] = [[214, 214, 220], [250, 222, 120], [240, 140, 45], [200, 35, 40], [90, 0, 60]];
const INK: [u8; 3] = [25, 28, 32];
const PAPER: [u8; 3] = [255, 255, 255];
/// Of the strip with the scale, and of the scale in it (pixels).
const STRIP: u32 = 26;
const SCALE_WIDTH: u32 = 180;
const MARGIN: u32 = 6;

/// What a share of the scale looks like (sRGB, 0 to 255).
fn srgb(share: f32) -> [f32; 3] {
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f32;
    let from = (place as usize).min(STOPS.len() - 2);
    let way = place - from as f32;
    std::array::from_fn(|k| {
        let [low, high] = [STOPS[from][k], STOPS[from + 1][k]].map(f32::from);
        low + (high - low) * way
    })
}

/// Linear colours of triangles, by what their corners lack (m), the darkest for `most` (m) and more.
pub fn heat(triangles: &[[u32; 3]], lacks: &[f32], most: f32) -> Vec<[f32; 4]> {
    let colour = |triangle: &[u32; 3]| {
        let mean = triangle.iter().map(|&corner| lacks[corner as usize]).sum::<f32>() / 3.0;
        let [r, g, b] = srgb(mean / most.max(f32::MIN_POSITIVE)).map(|channel| (channel / 255.0).powf(2.2));
        [r, g, b, 1.0]
    };
    triangles.iter().map(colour).collect()
}

/// Pictures of one size side by side, each with its title, over the scale that `heat` has with `most` (m).
pub fn side_by_side(panels: &[(String, Image)], most: f32) -> Image {
    let (width, height) = panels.first().map_or((1, 1), |(_, image)| (image.width, image.height));
    let whole = width * panels.len() as u32;
    let mut all = blank(whole, height + STRIP);
    for (index, (title, image)) in (0..).zip(panels) {
        let (left, row) = ((index * width * 4) as usize, (width * 4) as usize);
        for (to, from) in all.rgba.chunks_exact_mut(whole as usize * 4).zip(image.rgba.chunks_exact(row)) {
            to[left..left + row].copy_from_slice(from);
        }
        write(&mut all, (index * width + MARGIN, MARGIN), title, INK);
    }
    let (before, after) = ("0", format!("{:.1} mm and more from the simulated skin", most * 1.0e3));
    let room = SCALE_WIDTH + written_size(before).0 + written_size(&after).0 + 2 * MARGIN;
    let left = whole.saturating_sub(room) / 2;
    let (bar, top) = (left + written_size(before).0 + MARGIN, height + (STRIP - written_size(before).1) / 2);
    write(&mut all, (left, top), before, INK);
    write(&mut all, (bar + SCALE_WIDTH + MARGIN, top), &after, INK);
    for (x, y) in (bar..(bar + SCALE_WIDTH).min(whole)).flat_map(|x| (top + 1..top + 12).map(move |y| (x, y))) {
        let colour = srgb((x - bar) as f32 / (SCALE_WIDTH - 1) as f32).map(|channel| channel.round() as u8);
        let pixel = (y * whole + x) as usize * 4;
        all.rgba[pixel..pixel + 3].copy_from_slice(&colour);
    }
    all
}

fn blank(width: u32, height: u32) -> Image {
    let [r, g, b] = PAPER;
    Image { width, height, rgba: [r, g, b, 255].repeat(width as usize * height as usize) }
}
