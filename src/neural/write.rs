//! Networks to files.

use std::borrow::Cow;
use std::path::Path;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, serialize};

use super::basis::{BLOCK, Precision, StoredBasis};
use super::network::Header;
use super::read::{METADATA, Metadata, VERSION};
use super::{CorrectiveNetwork, Layers, NetworkError, NetworkFault, Which};
use crate::files::write_whole;

/// A tensor's name, type, shape and bytes.
type Tensor<'a> = (String, Dtype, Vec<usize>, Cow<'a, [u8]>);

impl CorrectiveNetwork {
    /// Writes it to a file, beside its place and then there: what is killed leaves the one that was there before.
    ///
    /// # Errors
    /// Where that cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), NetworkError> {
        let path = path.as_ref();
        let fault = |error| NetworkFault::Io(error).of(&path.display().to_string());
        write_whole(path, &self.to_bytes()).map_err(fault)
    }

    /// The bytes of its file, the same for the same network.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Header { joints, muscles, vertex_count, mesh, threshold, dropped, errors } = self.header.clone();
        let [topology, rest_shape] = mesh.digits();
        let metadata = Metadata {
            version: VERSION,
            joints,
            muscles,
            vertices: vertex_count as u64,
            topology,
            rest_shape,
            threshold,
            dropped,
            errors,
        };
        let metadata = serde_json::to_string(&metadata).expect("text and numbers are JSON");
        let parts = || self.parts.iter().zip(Which::BOTH).filter_map(|(layers, which)| Some((layers.as_ref()?, which)));
        let bases: Vec<StoredBasis<'_>> = parts()
            .map(|(_, which)| self.components_of(which))
            .map(|(begin, end)| self.basis.unpack(begin, end))
            .collect();
        let mean = self.mean.iter().flat_map(|value| value.to_le_bytes()).collect();
        let mut tensors: Vec<Tensor<'_>> = vec![("mean".into(), Dtype::F32, vec![vertex_count, 3], Cow::Owned(mean))];
        parts().zip(&bases).for_each(|((layers, which), basis)| add_part(&mut tensors, which, layers, basis));
        let views = tensors.iter().map(|(name, dtype, shape, bytes)| {
            let view = TensorView::new(*dtype, shape.clone(), bytes).expect("shapes are those of the bytes");
            (name.as_str(), view)
        });
        // One entry: of several the order would not be the same every time.
        let metadata = [(METADATA.to_string(), metadata)].into_iter().collect();
        serialize(views, Some(metadata)).expect("shapes are those of the bytes")
    }
}

fn add_part<'a>(tensors: &mut Vec<Tensor<'a>>, which: Which, layers: &Layers, basis: &'a StoredBasis<'_>) {
    let spec = layers.spec();
    let mut numbers = |name: &str, values: &[f32], shape: &[usize]| {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        tensors.push((format!("{}.{name}", which.name()), Dtype::F32, shape.to_vec(), Cow::Owned(bytes)));
    };
    let mut reads = spec.input_mean.len();
    numbers("input.mean", &spec.input_mean, &[reads]);
    numbers("input.scale", &spec.input_scale, &[reads]);
    for (index, layer) in spec.layers.iter().enumerate() {
        let outputs = layer.bias.len();
        numbers(&format!("layers.{index}.weight"), &layer.weight, &[outputs, reads]);
        numbers(&format!("layers.{index}.bias"), &layer.bias, &[outputs]);
        reads = outputs;
    }
    numbers("coefficients.low", &spec.low, &[reads]);
    numbers("coefficients.high", &spec.high, &[reads]);
    let rows = basis.blocks.len();
    if basis.precision != Precision::F32 {
        numbers("basis.scale", &basis.scales, &[rows]);
    }
    for (name, values) in [("first", &basis.first), ("blocks", &basis.blocks)] {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        tensors.push((format!("{}.basis.{name}", which.name()), Dtype::U32, vec![values.len()], Cow::Owned(bytes)));
    }
    let dtype = match basis.precision {
        Precision::F32 => Dtype::F32,
        Precision::F16 => Dtype::F16,
        Precision::I8 => Dtype::I8,
    };
    let name = format!("{}.basis.values", which.name());
    tensors.push((name, dtype, vec![rows, BLOCK, 3], Cow::Borrowed(&basis.values)));
}
