//! The perceptron, on `burn`'s ndarray backend: two hidden layers with ReLU, and AdamW that trains it (Loshchilov and Hutter 2019).

// What burn's derives name.
use burn_core as burn;

use burn_autodiff::Autodiff;
use burn_core::module::{AutodiffModule, Module, Param, ParamId};
use burn_core::record::{FullPrecisionSettings, NamedMpkBytesRecorder, Record, Recorder};
use burn_core::tensor::activation::relu;
use burn_core::tensor::backend::Backend;
use burn_core::tensor::{Tensor, TensorData};
use burn_ndarray::{NdArray, NdArrayDevice};
use burn_optim::adaptor::OptimizerAdaptor;
use burn_optim::{AdamW, AdamWConfig, GradientsParams, Optimizer};

use crate::bake::Random;
use crate::neural::Layer;

type Plain = NdArray<f32>;
type Cpu = Autodiff<Plain>;
type Recorded = NamedMpkBytesRecorder<FullPrecisionSettings>;

const DEVICE: NdArrayDevice = NdArrayDevice::Cpu;

#[derive(Module, Debug)]
struct Dense<B: Backend> {
    weight: Param<Tensor<B, 2>>,
    bias: Param<Tensor<B, 2>>,
}

#[derive(Module, Debug)]
pub(super) struct Perceptron<B: Backend> {
    layers: Vec<Dense<B>>,
}

impl<B: Backend> Perceptron<B> {
    fn forward(&self, inputs: Tensor<B, 2>) -> Tensor<B, 2> {
        let mut values = inputs;
        for (index, layer) in self.layers.iter().enumerate() {
            values = values.matmul(layer.weight.val()) + layer.bias.val();
            if index + 1 < self.layers.len() {
                values = relu(values);
            }
        }
        values
    }
}

/// Rows of numbers.
fn tensor<B: Backend<Device = NdArrayDevice>>(values: Vec<f32>, columns: usize) -> Tensor<B, 2> {
    let rows = values.len() / columns;
    Tensor::from_data(TensorData::new(values, [rows, columns]), &DEVICE)
}

fn numbers<B: Backend>(tensor: Tensor<B, 2>) -> Vec<f32> {
    tensor.into_data().to_vec().expect("all are of 32 bits")
}

/// A perceptron in training.
pub(super) struct Trainee {
    network: Perceptron<Cpu>,
    adam: OptimizerAdaptor<AdamW, Perceptron<Cpu>, Cpu>,
}

impl Trainee {
    /// With weights evenly within ±√(6 / inputs) of each layer (He et al. 2015), and no biases. `widths` are of inputs, hidden layers
    /// and outputs.
    pub fn new(widths: [usize; 4], seed: u64, decay: f32) -> Self {
        let mut random = Random::new(seed);
        let mut weight = |inputs: usize, outputs: usize| {
            let most = (6.0 / inputs as f64).sqrt();
            let unit = |random: &mut Random| f64::from(random.below(1 << 24)) / f64::from(1 << 23) - 1.0;
            (0..inputs * outputs).map(|_| (most * unit(&mut random)) as f32).collect::<Vec<f32>>()
        };
        let layers = widths.windows(2).enumerate().map(|(index, pair)| {
            let [inputs, outputs] = [pair[0], pair[1]];
            // The last layer starts small, near the mean.
            let scale = if index == 2 { 0.1 } else { 1.0 };
            let weights = weight(inputs, outputs).into_iter().map(|value| value * scale).collect();
            let param = |number: u64, tensor: Tensor<Cpu, 2>| {
                Param::initialized(ParamId::from(2 * index as u64 + number), tensor.require_grad())
            };
            Dense { weight: param(0, tensor(weights, outputs)), bias: param(1, tensor(vec![0.0; outputs], outputs)) }
        });
        Self {
            network: Perceptron { layers: layers.collect() },
            adam: AdamWConfig::new().with_epsilon(1.0e-8).with_weight_decay(decay).init(),
        }
    }

    /// One step on a batch, of rows of inputs and outputs; returns the mean over rows of the squared distance.
    pub fn step(&mut self, (inputs, targets): (Vec<f32>, Vec<f32>), columns: [usize; 2], rate: f64) -> f32 {
        let rows = inputs.len() / columns[0];
        let off = self.network.forward(tensor(inputs, columns[0])) - tensor(targets, columns[1]);
        let loss = off.powi_scalar(2).sum() / rows as f32;
        let gradients = GradientsParams::from_grads(loss.backward(), &self.network);
        self.network = self.adam.step(rate, self.network.clone(), gradients);
        loss.into_scalar()
    }

    /// What it gives for rows of inputs.
    pub fn infer(&self, inputs: Vec<f32>, columns: usize) -> Vec<f32> {
        numbers(self.network.valid().forward(tensor::<Plain>(inputs, columns)))
    }

    /// Its layers as they stand.
    pub fn layers(&self) -> [Layer; 3] {
        [0, 1, 2].map(|index| {
            let Dense { weight, bias } = &self.network.layers[index];
            Layer { weight: numbers(weight.val().transpose()), bias: numbers(bias.val()) }
        })
    }

    /// All of it, as bytes: the network, and Adam's moments.
    pub fn save(&self) -> [Vec<u8>; 2] {
        [record(self.network.clone().into_record()), record(self.adam.to_record())]
    }

    /// Goes on from what [`Self::save`] gave; `None` where that is not so.
    pub fn load(self, [network, adam]: [Vec<u8>; 2]) -> Option<Self> {
        let recorder = Recorded::new();
        let network = Recorder::<Cpu>::load(&recorder, network, &DEVICE).ok()?;
        let adam = Recorder::<Cpu>::load(&recorder, adam, &DEVICE).ok()?;
        Some(Self { network: self.network.load_record(network), adam: self.adam.load_record(adam) })
    }
}

fn record<R: Record<Cpu>>(item: R) -> Vec<u8> {
    Recorder::<Cpu>::record(&Recorded::new(), item, ()).expect("in memory there is nothing to fail")
}
