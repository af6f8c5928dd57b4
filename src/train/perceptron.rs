//! The perceptron, on any of `burn`'s backends: two hidden layers with ReLU, and AdamW that trains it (Loshchilov and Hutter 2019).

// What burn's derives name.
use burn_core as burn;

use burn_autodiff::Autodiff;
use burn_core::module::{AutodiffModule, Module, Param, ParamId};
use burn_core::record::{FullPrecisionSettings, NamedMpkBytesRecorder, Record, Recorder};
use burn_core::tensor::activation::relu;
use burn_core::tensor::backend::{Backend, ExecutionError};
use burn_core::tensor::{Tensor, TensorData};
use burn_optim::adaptor::OptimizerAdaptor;
use burn_optim::{AdamW, AdamWConfig, GradientsParams, Optimizer};

use crate::bake::Random;
use crate::neural::Layer;

type Recorded = NamedMpkBytesRecorder<FullPrecisionSettings>;

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
fn tensor<B: Backend>(values: Vec<f32>, columns: usize, device: &B::Device) -> Tensor<B, 2> {
    let rows = values.len() / columns;
    Tensor::from_data(TensorData::new(values, [rows, columns]), device)
}

fn numbers<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Result<Vec<f32>, ExecutionError> {
    Ok(tensor.try_into_data()?.to_vec().expect("all are of 32 bits"))
}

/// A perceptron in training, on a device of a backend whose numbers have 32 bits.
pub(super) struct Trainee<B: Backend> {
    network: Perceptron<Autodiff<B>>,
    adam: OptimizerAdaptor<AdamW, Perceptron<Autodiff<B>>, Autodiff<B>>,
    device: B::Device,
}

impl<B: Backend> Trainee<B> {
    /// With weights evenly within ±√(6 / inputs) of each layer (He et al. 2015), and no biases. `widths` are of inputs, hidden layers
    /// and outputs.
    pub fn new(widths: [usize; 4], seed: u64, decay: f32, device: &B::Device) -> Self {
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
            let param = |number: u64, values: Vec<f32>| {
                let values = tensor::<Autodiff<B>>(values, outputs, device);
                Param::initialized(ParamId::from(2 * index as u64 + number), values.require_grad())
            };
            Dense { weight: param(0, weights), bias: param(1, vec![0.0; outputs]) }
        });
        Self {
            network: Perceptron { layers: layers.collect() },
            adam: AdamWConfig::new().with_epsilon(1.0e-8).with_weight_decay(decay).init(),
            device: device.clone(),
        }
    }

    /// A step on each batch, of rows of inputs and outputs; returns for each the mean over rows of the squared distance.
    pub fn steps(
        &mut self,
        batches: impl Iterator<Item = (Vec<f32>, Vec<f32>)>,
        columns: [usize; 2],
        rate: f64,
    ) -> Result<Vec<f32>, ExecutionError> {
        let step = |(inputs, targets): (Vec<f32>, Vec<f32>)| {
            let rows = inputs.len() / columns[0];
            let [inputs, targets] = [(inputs, columns[0]), (targets, columns[1])]
                .map(|(values, columns)| tensor(values, columns, &self.device));
            let loss = (self.network.forward(inputs) - targets).powi_scalar(2).sum() / rows as f32;
            let gradients = GradientsParams::from_grads(loss.backward(), &self.network);
            self.network = self.adam.step(rate, self.network.clone(), gradients);
            loss.inner()
        };
        // Read together: each time, a GPU would be waited for.
        numbers(Tensor::cat(batches.map(step).collect(), 0))
    }

    /// What it gives for rows of inputs.
    pub fn infer(&self, inputs: Vec<f32>, columns: usize) -> Result<Vec<f32>, ExecutionError> {
        numbers(self.network.valid().forward(tensor(inputs, columns, &self.device)))
    }

    /// Its layers as they stand.
    pub fn layers(&self) -> Result<[Layer; 3], ExecutionError> {
        let mut layers: [Layer; 3] = Default::default();
        for (layer, Dense { weight, bias }) in layers.iter_mut().zip(&self.network.layers) {
            *layer = Layer { weight: numbers(weight.val().transpose())?, bias: numbers(bias.val())? };
        }
        Ok(layers)
    }

    /// All of it, as bytes: the network, and Adam's moments.
    pub fn save(&self) -> [Vec<u8>; 2] {
        [record::<B, _>(self.network.clone().into_record()), record::<B, _>(self.adam.to_record())]
    }

    /// Goes on from what [`Self::save`] gave; `None` where that is not so.
    pub fn load(self, [network, adam]: [Vec<u8>; 2]) -> Option<Self> {
        let recorder = Recorded::new();
        let network = Recorder::<Autodiff<B>>::load(&recorder, network, &self.device).ok()?;
        let adam = Recorder::<Autodiff<B>>::load(&recorder, adam, &self.device).ok()?;
        Some(Self { network: self.network.load_record(network), adam: self.adam.load_record(adam), ..self })
    }
}

fn record<B: Backend, R: Record<Autodiff<B>>>(item: R) -> Vec<u8> {
    Recorder::<Autodiff<B>>::record(&Recorded::new(), item, ()).expect("in memory there is nothing to fail")
}
