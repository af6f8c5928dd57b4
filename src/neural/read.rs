//! Networks from files.

use std::borrow::Cow;
use std::path::Path;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

use super::basis::{BLOCK, Precision, StoredBasis};
use super::network::{Header, StoredPart};
use super::{CorrectiveNetwork, ErrorRow, Layer, MeshHash, NetworkError, NetworkFault, PartSpec, Which};
use crate::files::read_at_most;

/// The key of the metadata under which everything is that is no tensor.
pub(super) const METADATA: &str = "sinew.network";

/// Version of the layout that is written, and the newest that is read.
pub(super) const VERSION: u64 = 1;

/// Bytes of the largest file that is read.
const MOST_BYTES: u64 = 2 << 30;

/// Vertices of the largest mesh.
const MOST_VERTICES: u64 = 1 << 24;

/// The metadata's one entry.
#[derive(serde::Serialize, Deserialize)]
pub(super) struct Metadata {
    pub version: u64,
    #[serde(default)]
    pub joints: Vec<String>,
    #[serde(default)]
    pub muscles: Vec<String>,
    pub vertices: u64,
    pub topology: String,
    pub rest_shape: String,
    #[serde(default)]
    pub threshold: f32,
    #[serde(default)]
    pub dropped: f32,
    #[serde(default)]
    pub errors: Vec<ErrorRow>,
}

impl CorrectiveNetwork {
    /// Reads a file.
    ///
    /// # Errors
    /// Where it cannot be read or is not as the table in [`crate::neural`] says, by what is wrong and what to do.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, NetworkError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let fault = |fault: NetworkFault| fault.of(&name);
        let bytes = read_at_most(path, MOST_BYTES).map_err(|error| fault(NetworkFault::Io(error)))?;
        let bytes = bytes.map_err(|bytes| fault(NetworkFault::TooLarge { bytes, most: MOST_BYTES }))?;
        Self::from_slice(&name, &bytes)
    }

    /// Reads a file's bytes; errors say `name`.
    ///
    /// # Errors
    /// Where they are not as the table in [`crate::neural`] says, by what is wrong and what to do.
    pub fn from_slice(name: &str, bytes: &[u8]) -> Result<Self, NetworkError> {
        read(bytes).map_err(|fault| fault.of(name))
    }
}

fn read(bytes: &[u8]) -> Result<CorrectiveNetwork, NetworkFault> {
    let broken = |error: safetensors::SafeTensorError| NetworkFault::NotSafetensors(error.to_string());
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
    let entry = metadata.metadata().as_ref().and_then(|entries| entries.get(METADATA));
    let header = header(entry.ok_or(NetworkFault::NotANetwork)?)?;
    let tensors = Tensors(SafeTensors::deserialize(bytes).map_err(broken)?);
    let passive = (!header.joints.is_empty()).then(|| tensors.part(Which::Passive, &header)).transpose()?;
    let active = (!header.muscles.is_empty()).then(|| tensors.part(Which::Active, &header)).transpose()?;
    let mean = tensors.numbers("mean", &[Some(header.vertex_count), Some(3)])?;
    CorrectiveNetwork::assemble(header, mean, [passive, active])
}

fn header(text: &str) -> Result<Header, NetworkFault> {
    // Another version may have other entries.
    #[derive(Deserialize)]
    struct Versioned {
        version: u64,
    }
    let wrong = |error: serde_json::Error| NetworkFault::Metadata(format!("{error}; export the network again"));
    let Versioned { version } = serde_json::from_str(text).map_err(wrong)?;
    if version != VERSION {
        return Err(NetworkFault::Version { found: version, newest: VERSION });
    }
    let metadata: Metadata = serde_json::from_str(text).map_err(wrong)?;
    let Metadata { joints, muscles, vertices, topology, rest_shape, threshold, dropped, errors, .. } = metadata;
    if vertices > MOST_VERTICES {
        return Err(NetworkFault::Metadata(format!("{vertices} vertices; at most {MOST_VERTICES} are read")));
    }
    let hash = |what: &str, digits: &str| {
        let hash =
            Some(digits).filter(|digits| digits.len() == 16).and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let fix = "16 hexadecimal digits, which `sinew inspect --json FILE` says";
        hash.ok_or_else(|| NetworkFault::Metadata(format!("{what} is {digits:?}; it must be {fix}")))
    };
    let mesh = MeshHash { topology: hash("topology", &topology)?, rest_shape: hash("rest_shape", &rest_shape)? };
    let vertex_count = vertices as usize;
    Ok(Header { joints, muscles, vertex_count, mesh, threshold, dropped, errors })
}

struct Tensors<'a>(SafeTensors<'a>);

impl<'a> Tensors<'a> {
    /// A tensor of a shape, in which `None` may be any.
    fn get(&self, name: &str, shape: &[Option<usize>]) -> Result<TensorView<'a>, NetworkFault> {
        let tensor = self.0.tensor(name).map_err(|_| NetworkFault::Missing(name.into()))?;
        let fits = |(&found, &expected): (&usize, &Option<usize>)| expected.is_none_or(|expected| found == expected);
        if tensor.shape().len() == shape.len() && tensor.shape().iter().zip(shape).all(fits) {
            return Ok(tensor);
        }
        let expected = shape.iter().map(|dim| dim.map_or_else(|| "any".into(), |dim| dim.to_string()));
        Err(NetworkFault::WrongShape {
            tensor: name.into(),
            found: tensor.shape().to_vec(),
            expected: format!("[{}]", expected.collect::<Vec<_>>().join(", ")),
        })
    }

    fn words<T>(
        &self,
        name: &str,
        shape: &[Option<usize>],
        (dtype, expected): (Dtype, &'static str),
        word: fn([u8; 4]) -> T,
    ) -> Result<Vec<T>, NetworkFault> {
        let tensor = self.get(name, shape)?;
        if tensor.dtype() != dtype {
            return Err(wrong_type(name, tensor.dtype(), expected));
        }
        Ok(tensor.data().chunks_exact(4).map(|bytes| word([0, 1, 2, 3].map(|byte| bytes[byte]))).collect())
    }

    fn numbers(&self, name: &str, shape: &[Option<usize>]) -> Result<Vec<f32>, NetworkFault> {
        self.words(name, shape, (Dtype::F32, "F32"), f32::from_le_bytes)
    }

    fn indices(&self, name: &str, shape: &[Option<usize>]) -> Result<Vec<u32>, NetworkFault> {
        self.words(name, shape, (Dtype::U32, "U32"), u32::from_le_bytes)
    }

    fn part(&self, which: Which, header: &Header) -> Result<StoredPart<'a>, NetworkFault> {
        let inputs = match which {
            Which::Passive => 9 * header.joints.len(),
            Which::Active => header.muscles.len(),
        };
        let name = |tensor: &str| format!("{}.{tensor}", which.name());
        let mut layers: [Layer; 3] = Default::default();
        let mut reads = inputs;
        for (index, layer) in layers.iter_mut().enumerate() {
            layer.bias = self.numbers(&name(&format!("layers.{index}.bias")), &[None])?;
            let shape = [Some(layer.bias.len()), Some(reads)];
            layer.weight = self.numbers(&name(&format!("layers.{index}.weight")), &shape)?;
            reads = layer.bias.len();
        }
        let spec = PartSpec {
            input_mean: self.numbers(&name("input.mean"), &[Some(inputs)])?,
            input_scale: self.numbers(&name("input.scale"), &[Some(inputs)])?,
            layers,
            low: self.numbers(&name("coefficients.low"), &[Some(reads)])?,
            high: self.numbers(&name("coefficients.high"), &[Some(reads)])?,
            basis: Vec::new(),
        };
        Ok(StoredPart { spec, basis: self.basis(which, reads)? })
    }

    fn basis(&self, which: Which, components: usize) -> Result<StoredBasis<'a>, NetworkFault> {
        let name = |tensor: &str| format!("{}.basis.{tensor}", which.name());
        let first = self.indices(&name("first"), &[Some(components + 1)])?;
        let blocks = self.indices(&name("blocks"), &[None])?;
        let rows = Some(blocks.len());
        let values = self.get(&name("values"), &[rows, Some(BLOCK), Some(3)])?;
        let precision = match values.dtype() {
            Dtype::F32 => Precision::F32,
            Dtype::F16 => Precision::F16,
            Dtype::I8 => Precision::I8,
            dtype => return Err(wrong_type(&name("values"), dtype, "F32, F16 or I8")),
        };
        let scales = if precision == Precision::F32 { Vec::new() } else { self.numbers(&name("scale"), &[rows])? };
        Ok(StoredBasis { precision, first, blocks, scales, values: Cow::Borrowed(values.data()) })
    }
}

fn wrong_type(name: &str, found: Dtype, expected: &'static str) -> NetworkFault {
    NetworkFault::WrongType { tensor: name.into(), found: found.to_string(), expected }
}
