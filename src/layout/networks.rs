//! Corrective networks: where their words lie, and which are at work.

use bytemuck::{Pod, Zeroable};

/// Instances of a network whose vertices a workgroup moves together, so that components are read once for them.
pub const NETWORK_GROUP: u32 = 4;

/// What a perceptron gives beyond this has overflowed, and counts as 0: a GPU need not tell NaN and infinity from numbers.
pub const MOST_OUTPUT: f32 = 3.0e38;

/// Where the layers of one of a network's two perceptrons lie.
///
/// From the first word on: means and scales of the inputs; of each layer the biases, then of each input a row of weights, filled up to
/// whole [`BLOCK_NUMBERS`]; the least and the largest coefficients.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct NetworkLayers {
    /// How many inputs it has.
    pub inputs: u32,
    /// Units of its first hidden layer.
    pub first_hidden: u32,
    /// Units of its second one.
    pub second_hidden: u32,
    /// How many components it has; 0 where it is not there.
    pub components: u32,
    /// Its first word among network words.
    pub words: u32,
}

/// Numbers of a part of a block of vertices, and of which rows of weights have whole multiples.
pub const BLOCK_NUMBERS: u32 = 64;

/// Where a network lies.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct NetworkPlace {
    /// Passive, active.
    pub layers: [NetworkLayers; 2],
    /// Mean displacements (m), among network words.
    pub mean_base: u32,
    /// How many numbers these are, three a vertex.
    pub mean_count: u32,
    /// Of each block of vertices the first row, and after the last how many there are, among network words.
    pub first_base: u32,
    /// Of each row its component and its scale, among network words.
    pub row_base: u32,
    /// The numbers of rows, packed: the first word among those of bases.
    pub basis_base: u32,
    /// Numbers in a word: 1, 2 or 4.
    pub per_word: u32,
}

/// A network at work for an instance.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct NetworkRun {
    /// Its place among networks.
    pub network: u32,
    /// Its first input.
    pub input_base: u32,
    /// The first of its units: of each perceptron scaled inputs and both hidden layers.
    pub unit_base: u32,
    /// Its first coefficient among units; the next ones are [`NETWORK_GROUP`] apart.
    pub coefficient_base: u32,
    /// The first word among skin deltas.
    pub delta_base: u32,
    /// What displacements are multiplied by.
    pub weight: f32,
    /// How many of the passive components count.
    pub passive_count: f32,
    /// How many of the active ones.
    pub active_count: f32,
}

/// Instances of a network whose vertices are moved together.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct NetworkGroup {
    /// The first one's run.
    pub run_base: u32,
    /// How many, at most [`NETWORK_GROUP`].
    pub run_count: u32,
    /// The workgroup of the first block of vertices.
    pub block_base: u32,
}
