//! Components of the principal component analysis, by blocks of vertices: as a file has them, and as kernels read them.

use std::borrow::Cow;

use bytemuck::{Pod, Zeroable};
use half::f16;

/// How many vertices a block has.
pub const BLOCK: usize = 64;

/// A block's numbers (x, y, z of each vertex) are gone through in so many parts of [`BLOCK`] each.
pub(crate) const PARTS: usize = 3;

/// Numbers of a block.
pub(super) const BLOCK_VALUES: usize = BLOCK * PARTS;

/// What a number of the basis is stored in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 32 bits.
    F32,
    /// 16 bits, with a scale for each component and block.
    F16,
    /// 8 bits, with a scale for each component and block.
    I8,
}

impl Precision {
    /// Its name in a file, and on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::I8 => "I8",
        }
    }

    /// Bytes of a number.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 => 2,
            Self::I8 => 1,
        }
    }

    /// Numbers in a word of 32 bits.
    pub(crate) const fn per_word(self) -> usize {
        4 / self.bytes()
    }

    /// A number of a row's bytes, without the row's scale.
    pub(super) fn value(self, bytes: &[u8], index: usize) -> f32 {
        match self {
            Self::F32 => f32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[4 * index + byte])),
            Self::F16 => f16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]]).to_f32(),
            Self::I8 => f32::from(bytes[index] as i8),
        }
    }
}

/// One network's components as a file has them: row by row, those of a component together.
#[derive(Clone, Debug)]
pub(super) struct StoredBasis<'a> {
    pub precision: Precision,
    /// A component's first row, and after the last how many there are.
    pub first: Vec<u32>,
    /// Each row's block.
    pub blocks: Vec<u32>,
    /// Each row's scale; none in [`Precision::F32`].
    pub scales: Vec<f32>,
    /// [`BLOCK_VALUES`] numbers a row, little-endian.
    pub values: Cow<'a, [u8]>,
}

impl StoredBasis<'_> {
    /// Bytes of a row.
    pub fn row_bytes(&self) -> usize {
        BLOCK_VALUES * self.precision.bytes()
    }

    /// A row's numbers, scaled.
    pub fn row(&self, row: usize) -> [f32; BLOCK_VALUES] {
        let bytes = &self.values[row * self.row_bytes()..][..self.row_bytes()];
        let scale = self.scales.get(row).copied().unwrap_or(1.0);
        std::array::from_fn(|index| self.precision.value(bytes, index) * scale)
    }

    /// Stores a dense basis; what a component moves by no more than `threshold` (m) at the ends of its range `most` is left out.
    /// Adds to `dropped` what each vertex lacks for it (m).
    pub fn compress(
        basis: &[f32],
        most: &[f32],
        precision: Precision,
        threshold: f32,
        dropped: &mut [f64],
    ) -> StoredBasis<'static> {
        let (mut first, mut blocks, mut scales, mut values) = (vec![0], Vec::new(), Vec::new(), Vec::new());
        let length = 3 * dropped.len();
        for (component, &most) in basis.chunks(length.max(1)).zip(most) {
            for (block, moved) in component.chunks(BLOCK_VALUES).enumerate() {
                let lengths = || moved.chunks(3).map(|d| f64::from(d.iter().map(|x| x * x).sum::<f32>()).sqrt());
                let farthest = lengths().fold(0.0, f64::max) * f64::from(most);
                if farthest <= f64::from(threshold) {
                    let lacks = dropped[block * BLOCK..].iter_mut().zip(lengths());
                    lacks.for_each(|(lacks, length)| *lacks += length * f64::from(most));
                    continue;
                }
                blocks.push(block as u32);
                let largest = moved.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
                let scale = scale_of(precision, largest);
                if precision != Precision::F32 {
                    scales.push(scale);
                }
                let padded = moved.iter().copied().chain(std::iter::repeat(0.0)).take(BLOCK_VALUES);
                padded.for_each(|value| store(&mut values, precision, value / scale));
            }
            first.push(blocks.len() as u32);
        }
        StoredBasis { precision, first, blocks, scales, values: Cow::Owned(values) }
    }
}

/// What numbers of a row are divided by whose largest is `largest`.
fn scale_of(precision: Precision, largest: f32) -> f32 {
    // No subnormal, by which a number could not be divided.
    let largest = largest.max(1.0e-30);
    match precision {
        Precision::F32 => 1.0,
        // A power of two loses nothing, and keeps what is small beside the largest from 16 bits' subnormals.
        Precision::F16 => largest.log2().ceil().exp2(),
        Precision::I8 => largest / 127.0,
    }
}

fn store(values: &mut Vec<u8>, precision: Precision, value: f32) {
    match precision {
        Precision::F32 => values.extend(value.to_le_bytes()),
        Precision::F16 => values.extend(f16::from_f32(value).to_le_bytes()),
        Precision::I8 => values.push(value.round() as i8 as u8),
    }
}

/// A cache line of packed numbers.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
struct Line([u32; 16]);

/// A component on a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    /// Of both networks', the passive one's first.
    pub component: u32,
    /// 1 in [`Precision::F32`].
    pub scale: f32,
}

/// Both networks' components as kernels read them: block after block; of a block, part after part, and of each part its rows, the
/// passive network's first.
///
/// 64 numbers of a row fill 64, 32 or 16 words. With w words, word i holds the numbers i, i + w, …, the first in its lowest bits: a
/// register of words becomes registers of neighbouring numbers by shifts, whatever its width.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Basis {
    pub precision: Precision,
    /// A block's first row, and after the last how many there are.
    pub first: Vec<u32>,
    pub rows: Vec<Row>,
    lines: Vec<Line>,
}

impl Basis {
    /// Packs both networks' components, of which those of the second begin at `second`. Blocks must be there, and ascend in each
    /// component.
    pub(super) fn pack(
        precision: Precision,
        block_count: usize,
        parts: [Option<&StoredBasis<'_>>; 2],
        second: usize,
    ) -> Self {
        let mut first = vec![0_u32; block_count + 1];
        let all = || parts.into_iter().zip([0, second]).filter_map(|(part, begin)| Some((part?, begin)));
        all().for_each(|(part, _)| part.blocks.iter().for_each(|&block| first[block as usize + 1] += 1));
        (0..block_count).for_each(|block| first[block + 1] += first[block]);
        let count = first[block_count] as usize;
        let lines = BLOCK / precision.per_word() / 16;
        let mut basis = Self {
            precision,
            rows: vec![Row { component: 0, scale: 0.0 }; count],
            lines: vec![Line::zeroed(); count * PARTS * lines],
            first,
        };
        let mut placed = basis.first.clone();
        for (part, begin) in all() {
            for (component, range) in part.first.windows(2).enumerate() {
                for row in range[0] as usize..range[1] as usize {
                    let block = part.blocks[row] as usize;
                    let place = placed[block] as usize;
                    placed[block] += 1;
                    let scale = part.scales.get(row).copied().unwrap_or(1.0);
                    basis.rows[place] = Row { component: (begin + component) as u32, scale };
                    let bytes = &part.values[row * part.row_bytes()..][..part.row_bytes()];
                    basis.write(block, place, bytes);
                }
            }
        }
        basis
    }

    /// How many blocks of vertices there are.
    pub fn block_count(&self) -> usize {
        self.first.len() - 1
    }

    /// A block's rows.
    pub fn rows_of(&self, block: usize) -> &[Row] {
        &self.rows[self.first[block] as usize..self.first[block + 1] as usize]
    }

    /// Words of a row in one part.
    pub fn row_words(&self) -> usize {
        BLOCK / self.precision.per_word()
    }

    /// The words of a block's part, row after row.
    pub fn words_of(&self, block: usize, part: usize) -> &[u32] {
        let (begin, end) = (self.first[block] as usize, self.first[block + 1] as usize);
        let words: &[u32] = bytemuck::cast_slice(&self.lines);
        &words[(PARTS * begin + part * (end - begin)) * self.row_words()..][..(end - begin) * self.row_words()]
    }

    /// All words.
    #[cfg(feature = "gpu")]
    pub fn words(&self) -> &[u32] {
        bytemuck::cast_slice(&self.lines)
    }

    /// Bytes that a frame reads of it.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.lines) + size_of_val(&*self.rows)
    }

    /// Where of a part's row a number is: its word and its lowest bit.
    fn place(&self, index: usize) -> (usize, usize) {
        let words = self.row_words();
        (index % words, index / words * 8 * self.precision.bytes())
    }

    fn row_at(&self, block: usize, row: usize, part: usize) -> usize {
        let (begin, end) = (self.first[block] as usize, self.first[block + 1] as usize);
        (PARTS * begin + part * (end - begin) + row - begin) * self.row_words()
    }

    fn write(&mut self, block: usize, row: usize, bytes: &[u8]) {
        let size = self.precision.bytes();
        for (index, number) in bytes.chunks_exact(size).enumerate() {
            let (word, bit) = self.place(index % BLOCK);
            let bits = number.iter().rev().fold(0, |bits, &byte| bits << 8 | u32::from(byte));
            let at = self.row_at(block, row, index / BLOCK) + word;
            bytemuck::cast_slice_mut::<_, u32>(&mut self.lines)[at] |= bits << bit;
        }
    }

    fn read(&self, block: usize, row: usize, bytes: &mut Vec<u8>) {
        let size = self.precision.bytes();
        for index in 0..BLOCK_VALUES {
            let (word, bit) = self.place(index % BLOCK);
            let at = self.row_at(block, row, index / BLOCK) + word;
            let bits = bytemuck::cast_slice::<_, u32>(&self.lines)[at] >> bit;
            bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
        }
    }

    /// The components `begin` to `end` as a file has them.
    pub(super) fn unpack(&self, begin: usize, end: usize) -> StoredBasis<'static> {
        let mut rows_of = vec![Vec::new(); end - begin];
        for block in 0..self.block_count() {
            for row in self.first[block] as usize..self.first[block + 1] as usize {
                let component = self.rows[row].component as usize;
                if (begin..end).contains(&component) {
                    rows_of[component - begin].push((block, row));
                }
            }
        }
        let (mut first, mut blocks, mut scales, mut values) = (vec![0], Vec::new(), Vec::new(), Vec::new());
        for (block, row) in
            rows_of.iter().inspect(|rows| first.push(first[first.len() - 1] + rows.len() as u32)).flatten()
        {
            blocks.push(*block as u32);
            if self.precision != Precision::F32 {
                scales.push(self.rows[*row].scale);
            }
            self.read(*block, *row, &mut values);
        }
        StoredBasis { precision: self.precision, first, blocks, scales, values: Cow::Owned(values) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_bit_by_bit() {
        let vertices = 150;
        let dense = |components: usize, salt: usize| -> Vec<f32> {
            let mut values: Vec<f32> =
                (0..components * 3 * vertices).map(|i| ((i * 7919 + salt) % 1013) as f32 / 500.0 - 1.0).collect();
            // The first component leaves a block in the middle alone.
            values[BLOCK_VALUES..2 * BLOCK_VALUES].fill(0.0);
            values
        };
        for precision in [Precision::F32, Precision::F16, Precision::I8] {
            let mut dropped = vec![0.0; vertices];
            let stored = [(3, 5), (2, 11)].map(|(count, salt)| {
                StoredBasis::compress(&dense(count, salt), &vec![1.0; count], precision, 0.0, &mut dropped)
            });
            assert_eq!(stored[0].first, [0, 2, 5, 8], "a block that is not moved is not stored");
            let basis = Basis::pack(precision, 3, [Some(&stored[0]), Some(&stored[1])], 3);
            let components: Vec<u32> = basis.rows_of(1).iter().map(|row| row.component).collect();
            assert_eq!(components, [1, 2, 4], "rows of a block ascend");
            for (stored, range) in stored.iter().zip([(0, 3), (3, 5)]) {
                let unpacked = basis.unpack(range.0, range.1);
                assert_eq!((&unpacked.first, &unpacked.blocks), (&stored.first, &stored.blocks));
                assert_eq!((&unpacked.scales, &unpacked.values), (&stored.scales, &stored.values));
            }
            let most = match precision {
                Precision::F32 => 0.0,
                Precision::F16 => 1.0 / 2048.0,
                Precision::I8 => 1.0 / 254.0,
            };
            let wanted = dense(2, 11);
            let row = stored[1].row(stored[1].first[1] as usize);
            let off = row.iter().zip(&wanted[3 * vertices..]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(off <= most * 1.07 && (off > 0.0 || precision == Precision::F32), "{precision:?}: {off}");
        }
    }

    #[test]
    fn what_moves_by_less_than_the_threshold_is_left_out_and_said() {
        let mut basis = vec![0.0; 3 * 2 * BLOCK];
        (basis[4], basis[3 * BLOCK + 4]) = (0.5, 0.125);
        let mut dropped = vec![0.0; 2 * BLOCK];
        let stored = StoredBasis::compress(&basis, &[0.25], Precision::F16, 0.1, &mut dropped);
        assert_eq!(stored.blocks, [0]);
        assert_eq!(dropped.iter().copied().fold(0.0, f64::max), 0.03125);
        assert_eq!(dropped[BLOCK + 1], 0.03125);
    }
}
