//! Correctives of all characters that share a network: both perceptrons, then the components block by block (thesis 6.3).
//!
//! All is one sum: what characters have in common (weights, components) are rows, each of which is multiplied by a number of each
//! character and added to what that one has so far, element by element in the rows' order. So a row of weights is read once for
//! four of them, and one of components is unpacked once for 32 and then read from the cache for every four, on the thread that
//! has these vertices; and the bits depend neither on the width of registers nor on who is run together with whom. A component
//! whose coefficient is 0 for all is not read: it would add 0 to sums that are never −0.

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};
use fearless_simd::{Simd, prelude::*};
use glam::Vec3;

use super::LaneWidth;
use super::lanes::with_instructions;
use super::threads::Threads;
use crate::layout::MOST_OUTPUT;
use crate::neural::{BLOCK, CorrectiveNetwork, Correctives, Layers, PARTS, Precision, Row, Which};

/// Characters whose sums are in registers together.
const GROUP: usize = 4;

/// Characters for which components are unpacked once.
const TILE: usize = 32;

/// Blocks of vertices that a thread takes at a time.
const BLOCKS: usize = 16;

/// Infers coefficients and deltas.
pub(crate) fn infer_correctives(
    width: LaneWidth,
    threads: &Threads,
    network: &CorrectiveNetwork,
    characters: &mut [&mut Correctives],
) {
    let mut runs: Vec<&mut Correctives> = Vec::with_capacity(characters.len());
    for character in characters {
        assert_eq!(character.coefficients.len(), network.component_count(), "correctives are of another network");
        assert_eq!(character.deltas.len(), network.vertex_count(), "correctives are of another network");
        if character.weight() > 0.0 {
            character.moves = true;
            runs.push(character);
        } else if std::mem::take(&mut character.moves) {
            character.deltas.fill(Vec3::ZERO);
        }
    }
    let mut groups: Vec<&mut [&mut Correctives]> = runs.chunks_mut(GROUP).collect();
    threads.for_each_init(&mut groups, Vec::new, |scratch, group| find_coefficients(width, network, group, scratch));

    let mut items = Vec::new();
    for tile in runs.chunks_mut(TILE) {
        let read = Which::BOTH.map(|which| read_components(network, tile, which));
        let mut chunks: Vec<_> = tile
            .iter_mut()
            .map(|character| {
                let weight = character.weight();
                let Correctives { coefficients, deltas, .. } = &mut **character;
                (&coefficients[..], weight, deltas.chunks_mut(BLOCKS * BLOCK))
            })
            .collect();
        for first_block in (0..network.basis.block_count()).step_by(BLOCKS) {
            let moved = chunks.iter_mut().map(|(coefficients, weight, deltas)| Moved {
                coefficients,
                weight: *weight,
                deltas: deltas.next().expect("a chunk for each of its blocks"),
            });
            items.push(Item { first_block, read, moved: moved.collect() });
        }
    }
    let level = width.level();
    threads.for_each_init(
        &mut items,
        Scratch::default,
        |scratch, item| with_instructions!(level, simd => find_deltas(simd, network, item, scratch)),
    );
}

/// Up to which component of a network, of all, any of some characters has more than nothing.
fn read_components(network: &CorrectiveNetwork, characters: &[&mut Correctives], which: Which) -> usize {
    let (first, last) = network.components_of(which);
    let has = |k: &usize| characters.iter().any(|character| character.coefficients[*k] != 0.0);
    (first..last).rev().find(has).map_or(first, |k| k + 1)
}

/// Coefficients of at most [`GROUP`] characters.
fn find_coefficients(
    width: LaneWidth,
    network: &CorrectiveNetwork,
    group: &mut [&mut Correctives],
    scratch: &mut Vec<f32>,
) {
    let mut first_input = 0;
    for (layers, which) in network.parts.iter().zip(Which::BOTH) {
        let Some(layers) = layers else { continue };
        let (first, last) = network.components_of(which);
        let inputs = first_input..first_input + layers.input_mean.len();
        first_input = inputs.end;
        // A full group shares the weights; others go one by one.
        let together = if group.len() == GROUP { GROUP } else { 1 };
        for characters in group.chunks_mut(together) {
            let mut units = vec![0.0; inputs.len() * together];
            for (i, character) in characters.iter().enumerate() {
                for (k, &input) in character.inputs[inputs.clone()].iter().enumerate() {
                    units[k * together + i] = (input - layers.input_mean[k]) / layers.input_scale[k];
                }
            }
            run_layers(width, layers, together, &mut units, scratch);
            for (i, character) in characters.iter_mut().enumerate() {
                let detail = match which {
                    Which::Passive => character.detail.passive,
                    Which::Active => character.detail.active,
                };
                for (k, coefficient) in character.coefficients[first..last].iter_mut().enumerate() {
                    let found = units[k * together + i];
                    // What has overflowed has as little as there may be.
                    let found = if found.abs() <= MOST_OUTPUT { found } else { 0.0 };
                    let share = if detail.is_nan() { 0.0 } else { (detail - k as f32).clamp(0.0, 1.0) };
                    *coefficient = found.clamp(layers.low[k], layers.high[k]) * share;
                }
            }
        }
    }
}

/// Runs a perceptron on `together` characters, whose inputs, and then outputs, are `units`, those of a unit together.
fn run_layers(width: LaneWidth, layers: &Layers, together: usize, units: &mut Vec<f32>, sums: &mut Vec<f32>) {
    for (index, layer) in layers.layers.iter().enumerate() {
        sums.clear();
        (0..together).for_each(|_| sums.extend_from_slice(&layer.biases));
        with_instructions!(width.level(), simd => match together {
            GROUP => add_rows::<_, GROUP, 2>(simd, &layer.weights, layer.width, units, sums),
            _ => add_rows::<_, 1, 4>(simd, &layer.weights, layer.width, units, sums),
        });
        units.clear();
        for output in 0..layer.outputs {
            for character in 0..together {
                let sum = sums[character * layer.width + output];
                // ReLU, which makes 0 of NaN, but for the last layer.
                units.push(if index < 2 { sum.max(0.0) } else { sum });
            }
        }
    }
}

/// Some blocks of vertices of at most [`TILE`] characters.
struct Item<'a> {
    first_block: usize,
    /// Up to which component of each network, of all, they are read.
    read: [usize; 2],
    moved: Vec<Moved<'a>>,
}

struct Moved<'a> {
    coefficients: &'a [f32],
    weight: f32,
    /// Of the item's blocks.
    deltas: &'a mut [Vec3],
}

#[derive(Default)]
struct Scratch {
    /// Of each full group the coefficients, those of a component together.
    coefficients: Vec<[f32; GROUP]>,
    /// By what each row of a block that is read is multiplied: for each full group for all of them, then for each other one.
    factors: Vec<f32>,
    /// Numbers of a part of a block.
    rows: Vec<f32>,
}

#[inline(always)]
fn find_deltas<S: Simd>(simd: S, network: &CorrectiveNetwork, item: &mut Item<'_>, scratch: &mut Scratch) {
    let basis = &network.basis;
    // A full group shares what is unpacked; others go one by one.
    let grouped = item.moved.len() / GROUP * GROUP;
    let (groups, alone) = item.moved.split_at_mut(grouped);
    gather_coefficients(network.component_count(), groups, &mut scratch.coefficients);
    for block in item.first_block..basis.block_count().min(item.first_block + BLOCKS) {
        let rows = basis.rows_of(block);
        let read = read_rows(rows, network.components_of(Which::Passive).1, item.read);
        let count = read[0].len() + read[1].len();
        let rows = [&rows[read[0].clone()], &rows[read[1].clone()]];
        gather_factors(network.component_count(), rows, &scratch.coefficients, alone, &mut scratch.factors);
        for part in 0..PARTS {
            let first = (block * PARTS + part) * BLOCK;
            let in_item = first - item.first_block * PARTS * BLOCK;
            let size = basis.row_words();
            let words = basis.words_of(block, part);
            let words =
                [&words[read[0].start * size..read[0].end * size], &words[read[1].start * size..read[1].end * size]];
            let (of_groups, of_alone) = scratch.factors.split_at(groups.len() * count);
            if !groups.is_empty() {
                scratch.rows.resize(count * BLOCK, 0.0);
                let (passive, active) = scratch.rows.split_at_mut(read[0].len() * BLOCK);
                unpack(simd, basis.precision, words[0], passive);
                unpack(simd, basis.precision, words[1], active);
            }
            for (index, group) in groups.chunks_exact_mut(GROUP).enumerate() {
                let factors = &of_groups[index * GROUP * count..][..GROUP * count];
                let mut sums = [0.0; GROUP * BLOCK];
                for own in sums.chunks_exact_mut(BLOCK) {
                    begin(&network.mean, first, own);
                }
                add_rows::<S, GROUP, 2>(simd, &scratch.rows, BLOCK, factors, &mut sums);
                for (moved, own) in group.iter_mut().zip(sums.chunks_exact(BLOCK)) {
                    write(moved, in_item, own);
                }
            }
            for (index, moved) in alone.iter_mut().enumerate() {
                let (passive, active) = of_alone[index * count..][..count].split_at(read[0].len());
                let mut sums = [0.0; BLOCK];
                begin(&network.mean, first, &mut sums);
                add_packed(simd, basis.precision, words[0], passive, &mut sums);
                add_packed(simd, basis.precision, words[1], active, &mut sums);
                write(moved, in_item, &sums);
            }
        }
    }
}

/// The passive and the active rows of a block that are read: those of components before each of `read`. Active components begin at
/// `second`.
fn read_rows(rows: &[Row], second: usize, read: [usize; 2]) -> [Range<usize>; 2] {
    let before = |component: usize| rows.partition_point(|row| (row.component as usize) < component);
    let active = before(second);
    [0..before(read[0]), active..before(read[1]).max(active)]
}

#[inline(always)]
fn gather_coefficients(components: usize, groups: &[Moved<'_>], coefficients: &mut Vec<[f32; GROUP]>) {
    coefficients.clear();
    for group in groups.chunks_exact(GROUP) {
        for k in 0..components {
            let mut together = [0.0; GROUP];
            for i in 0..GROUP {
                together[i] = group[i].coefficients[k];
            }
            coefficients.push(together);
        }
    }
}

#[inline(always)]
fn gather_factors(
    components: usize,
    rows: [&[Row]; 2],
    coefficients: &[[f32; GROUP]],
    alone: &[Moved<'_>],
    factors: &mut Vec<f32>,
) {
    factors.clear();
    for group in coefficients.chunks_exact(components) {
        for rows in rows {
            for row in rows {
                let mut own = group[row.component as usize];
                for factor in &mut own {
                    *factor *= row.scale;
                }
                factors.extend_from_slice(&own);
            }
        }
    }
    for moved in alone {
        for rows in rows {
            for row in rows {
                factors.push(moved.coefficients[row.component as usize] * row.scale);
            }
        }
    }
}

/// The mean displacement, from the mesh's number `first` on; beyond its end nothing.
#[inline(always)]
fn begin(mean: &[f32], first: usize, sums: &mut [f32]) {
    let mean = mean.get(first..).unwrap_or_default();
    let count = mean.len().min(sums.len());
    sums[..count].copy_from_slice(&mean[..count]);
}

#[inline(always)]
fn write(moved: &mut Moved<'_>, in_item: usize, sums: &[f32]) {
    let deltas: &mut [f32] = cast_slice_mut(moved.deltas);
    for (delta, sum) in deltas.get_mut(in_item..).unwrap_or_default().iter_mut().zip(sums) {
        *delta = sum * moved.weight;
    }
}

/// Adds rows of `width` numbers, each times a factor for each of `I` characters, to the sums of each; `V` registers of each of them
/// at a time.
#[inline(always)]
fn add_rows<S: Simd, const I: usize, const V: usize>(
    simd: S,
    rows: &[f32],
    width: usize,
    factors: &[f32],
    sums: &mut [f32],
) {
    let lanes = S::f32s::LEN;
    let mut at = 0;
    while at < width {
        let mut own = [[S::f32s::splat(simd, 0.0); V]; I];
        for i in 0..I {
            for v in 0..V {
                own[i][v] = S::f32s::from_slice(simd, &sums[i * width + at + v * lanes..][..lanes]);
            }
        }
        for (row, factors) in rows.chunks_exact(width).zip(factors.chunks_exact(I)) {
            let row = &row[at..][..V * lanes];
            for v in 0..V {
                let values = S::f32s::from_slice(simd, &row[v * lanes..][..lanes]);
                for i in 0..I {
                    own[i][v] += values * factors[i];
                }
            }
        }
        for i in 0..I {
            for v in 0..V {
                own[i][v].store_slice(&mut sums[i * width + at + v * lanes..][..lanes]);
            }
        }
        at += V * lanes;
    }
}

/// Four registers of a row's numbers, without their scale, from words of `PER` numbers each, from the word `at` on.
#[inline(always)]
fn numbers<S: Simd, const PER: usize>(simd: S, words: &[i32], at: usize) -> [S::f32s; 4] {
    let lanes = S::f32s::LEN;
    let zero = S::f32s::splat(simd, 0.0);
    let mut numbers = [zero; 4];
    let words = &words[at..][..4 / PER * lanes];
    match PER {
        1 => {
            let words: &[f32] = cast_slice(words);
            for v in 0..4 {
                numbers[v] = S::f32s::from_slice(simd, &words[v * lanes..][..lanes]);
            }
        }
        2 => {
            // Exponents of 16 bits, moved to where those of 32 are, are less by the difference of what is 1 in both.
            let raise = S::f32s::splat(simd, f32::from_bits((127 + 112) << 23));
            let sign_and_value = S::i32s::splat(simd, 0x8fff_e000_u32 as i32);
            for v in 0..2 {
                let word = S::i32s::from_slice(simd, &words[v * lanes..][..lanes]);
                numbers[v] = (word << 16 >> 3 & sign_and_value).bitcast::<S::f32s>() * raise;
                numbers[2 + v] = (word >> 3 & sign_and_value).bitcast::<S::f32s>() * raise;
            }
        }
        _ => {
            let word = S::i32s::from_slice(simd, words);
            numbers[0] = S::f32s::float_from(word << 24 >> 24);
            numbers[1] = S::f32s::float_from(word << 16 >> 24);
            numbers[2] = S::f32s::float_from(word << 8 >> 24);
            numbers[3] = S::f32s::float_from(word >> 24);
        }
    }
    numbers
}

/// Where in a row the register `v` of [`numbers`] is.
#[inline(always)]
fn offset<const PER: usize>(at: usize, lanes: usize, v: usize) -> usize {
    let registers = 4 / PER;
    v / registers * (BLOCK / PER) + at + v % registers * lanes
}

/// Writes the numbers of packed rows, without their scales.
#[inline(always)]
fn unpack<S: Simd>(simd: S, precision: Precision, words: &[u32], rows: &mut [f32]) {
    match precision {
        Precision::F32 => rows.copy_from_slice(cast_slice(words)),
        Precision::F16 => unpack_of::<S, 2>(simd, words, rows),
        Precision::I8 => unpack_of::<S, 4>(simd, words, rows),
    }
}

#[inline(always)]
fn unpack_of<S: Simd, const PER: usize>(simd: S, words: &[u32], rows: &mut [f32]) {
    let (lanes, count) = (S::f32s::LEN, BLOCK / PER);
    for (words, row) in words.chunks_exact(count).zip(rows.chunks_exact_mut(BLOCK)) {
        let mut at = 0;
        while at < count {
            let numbers = numbers::<S, PER>(simd, cast_slice(words), at);
            for v in 0..4 {
                numbers[v].store_slice(&mut row[offset::<PER>(at, lanes, v)..][..lanes]);
            }
            at += 4 / PER * lanes;
        }
    }
}

/// As [`add_rows`] for one character and packed rows: what is read from memory is at once worked with.
#[inline(always)]
fn add_packed<S: Simd>(simd: S, precision: Precision, words: &[u32], factors: &[f32], sums: &mut [f32]) {
    match precision {
        Precision::F32 => add_packed_of::<S, 1>(simd, words, factors, sums),
        Precision::F16 => add_packed_of::<S, 2>(simd, words, factors, sums),
        Precision::I8 => add_packed_of::<S, 4>(simd, words, factors, sums),
    }
}

#[inline(always)]
fn add_packed_of<S: Simd, const PER: usize>(simd: S, words: &[u32], factors: &[f32], sums: &mut [f32]) {
    let (lanes, count) = (S::f32s::LEN, BLOCK / PER);
    let mut at = 0;
    while at < count {
        let mut own = [S::f32s::splat(simd, 0.0); 4];
        for v in 0..4 {
            own[v] = S::f32s::from_slice(simd, &sums[offset::<PER>(at, lanes, v)..][..lanes]);
        }
        for (words, &factor) in words.chunks_exact(count).zip(factors) {
            let numbers = numbers::<S, PER>(simd, cast_slice(words), at);
            for v in 0..4 {
                own[v] += numbers[v] * factor;
            }
        }
        for v in 0..4 {
            own[v].store_slice(&mut sums[offset::<PER>(at, lanes, v)..][..lanes]);
        }
        at += 4 / PER * lanes;
    }
}
