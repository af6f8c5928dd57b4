//! A perceptron's layers as kernels read them.

use super::{BLOCK, Layer, PartSpec};

/// A layer with its weights turned over: of each input a row of outputs, filled up with zeros to whole registers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rows {
    pub inputs: usize,
    pub outputs: usize,
    /// Outputs with those that fill up.
    pub width: usize,
    pub weights: Vec<f32>,
    pub biases: Vec<f32>,
}

impl Rows {
    fn new(layer: &Layer) -> Self {
        let outputs = layer.bias.len();
        let (inputs, width) = (layer.weight.len() / outputs.max(1), outputs.next_multiple_of(BLOCK));
        let mut weights = vec![0.0; inputs * width];
        for (output, row) in layer.weight.chunks(inputs.max(1)).enumerate() {
            row.iter().enumerate().for_each(|(input, &weight)| weights[input * width + output] = weight);
        }
        let mut biases = layer.bias.clone();
        biases.resize(width, 0.0);
        Self { inputs, outputs, width, weights, biases }
    }

    fn layer(&self) -> Layer {
        let weight = |output: usize| (0..self.inputs).map(move |input| self.weights[input * self.width + output]);
        Layer { weight: (0..self.outputs).flat_map(weight).collect(), bias: self.biases[..self.outputs].to_vec() }
    }
}

/// One of the two networks without its components.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layers {
    pub input_mean: Vec<f32>,
    pub input_scale: Vec<f32>,
    pub layers: [Rows; 3],
    pub low: Vec<f32>,
    pub high: Vec<f32>,
}

impl Layers {
    pub fn new(spec: PartSpec) -> Self {
        let layers = [0, 1, 2].map(|layer| Rows::new(&spec.layers[layer]));
        let PartSpec { input_mean, input_scale, low, high, .. } = spec;
        Self { input_mean, input_scale, layers, low, high }
    }

    /// As it was given, without the basis.
    pub fn spec(&self) -> PartSpec {
        PartSpec {
            input_mean: self.input_mean.clone(),
            input_scale: self.input_scale.clone(),
            layers: [0, 1, 2].map(|layer| self.layers[layer].layer()),
            low: self.low.clone(),
            high: self.high.clone(),
            basis: Vec::new(),
        }
    }
}
