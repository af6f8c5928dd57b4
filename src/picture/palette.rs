//! One palette for a whole moving picture.

use super::Image;
use std::collections::BTreeMap;

/// Bits kept of each channel.
const BITS: u32 = 6;
/// Colours at most; one more entry of a GIF's table stands for "as before".
pub const COLOURS: usize = 255;

/// Up to [`COLOURS`] colours, and the nearest of them for each colour that was seen.
pub struct Palette {
    /// Red, green, blue.
    pub colours: Vec<[u8; 3]>,
    nearest: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Entry {
    colour: [u8; 3],
    weight: u64,
}

impl Palette {
    /// Median cut over all frames' colours. A colour weighs the square root of how often it occurs, so that a
    /// wide background does not take the small things' colours away.
    pub fn of(frames: &[Image]) -> Self {
        let mut sums: BTreeMap<usize, [u64; 4]> = BTreeMap::new();
        for pixel in frames.iter().flat_map(|f| f.rgba.chunks_exact(4)) {
            let sum = sums.entry(bin(pixel)).or_default();
            for channel in 0..3 {
                sum[channel] += u64::from(pixel[channel]);
            }
            sum[3] += 1;
        }
        let entries: Vec<Entry> = sums
            .values()
            .map(|s| Entry { colour: [0, 1, 2].map(|i| ((s[i] + s[3] / 2) / s[3]) as u8), weight: s[3].isqrt().max(1) })
            .collect();
        let colours = median_cut(entries.clone());
        let mut nearest = vec![0u8; 1 << (3 * BITS)];
        for entry in &entries {
            let distance = |c: &[u8; 3]| {
                // Luminance matters most: weights 3, 4, 2.
                (0..3).map(|i| [3, 4, 2][i] * (i32::from(c[i]) - i32::from(entry.colour[i])).pow(2)).sum::<i32>()
            };
            let best = (0..colours.len()).min_by_key(|&i| distance(&colours[i])).unwrap_or(0);
            nearest[bin(&entry.colour)] = best as u8;
        }
        Self { colours, nearest }
    }

    /// Index of the colour nearest to a pixel of one of the frames.
    pub fn index(&self, pixel: &[u8]) -> u8 {
        self.nearest[bin(pixel)]
    }
}

fn bin(pixel: &[u8]) -> usize {
    pixel[..3].iter().fold(0, |index, &c| index << BITS | usize::from(c >> (8 - BITS)))
}

fn median_cut(entries: Vec<Entry>) -> Vec<[u8; 3]> {
    let mut boxes = vec![entries];
    while boxes.len() < COLOURS {
        let widest = |entries: &Vec<Entry>| {
            let spread = |channel: usize| {
                let values = entries.iter().map(|e| u64::from(e.colour[channel]));
                values.clone().max().unwrap_or(0) - values.min().unwrap_or(0)
            };
            (0..3).map(|c| (spread(c) * [3, 4, 2][c], c)).max().unwrap_or((0, 0))
        };
        let cost = |entries: &Vec<Entry>| {
            let (spread, _) = widest(entries);
            spread * spread * entries.iter().map(|e| e.weight).sum::<u64>()
        };
        let Some(worst) = (0..boxes.len()).max_by_key(|&i| cost(&boxes[i])) else { break };
        let (spread, channel) = widest(&boxes[worst]);
        if spread == 0 {
            break;
        }
        let mut entries = std::mem::take(&mut boxes[worst]);
        entries.sort_by_key(|e| (e.colour[channel], e.colour));
        let half = entries.iter().map(|e| e.weight).sum::<u64>() / 2;
        let mut passed = 0;
        let before = entries.iter().take_while(|e| {
            passed += e.weight;
            passed <= half
        });
        let at = before.count().clamp(1, entries.len() - 1);
        let rest = entries.split_off(at);
        boxes[worst] = entries;
        boxes.push(rest);
    }
    let mean = |entries: &Vec<Entry>| {
        let weight = entries.iter().map(|e| e.weight).sum::<u64>().max(1);
        [0, 1, 2].map(|i| {
            ((entries.iter().map(|e| u64::from(e.colour[i]) * e.weight).sum::<u64>() + weight / 2) / weight) as u8
        })
    };
    boxes.iter().map(mean).collect()
}
