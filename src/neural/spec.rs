//! A network as plain numbers: what a trainer has.

use serde::{Deserialize, Serialize};

use super::MeshHash;

/// A pair of networks for one mesh, before its basis is packed. The file's table in [`crate::neural`] says what each entry is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NetworkSpec {
    /// Joints that the passive network reads, by name.
    pub joints: Vec<String>,
    /// Muscles that the active network reads, by name.
    pub muscles: Vec<String>,
    /// How many vertices the mesh has.
    pub vertex_count: usize,
    /// Which mesh it is.
    pub mesh: MeshHash,
    /// Mean displacement (m), x, y, z of each vertex: the sum of what both networks' analyses have.
    pub mean: Vec<f32>,
    /// Reads 9 entries a joint.
    pub passive: Option<PartSpec>,
    /// Reads 1 activation a muscle.
    pub active: Option<PartSpec>,
    /// What training left over.
    pub errors: Vec<ErrorRow>,
}

/// One of the two networks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartSpec {
    /// What is subtracted from each input.
    pub input_mean: Vec<f32>,
    /// What each input is divided by, then.
    pub input_scale: Vec<f32>,
    /// Two hidden layers, each with ReLU behind it, and the one whose outputs are the coefficients.
    pub layers: [Layer; 3],
    /// Smallest coefficients in training.
    pub low: Vec<f32>,
    /// Largest coefficients in training.
    pub high: Vec<f32>,
    /// Displacement of a coefficient of 1 (m), component after component, each as [`NetworkSpec::mean`].
    pub basis: Vec<f32>,
}

/// A fully connected layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    /// A row of inputs for each output, as `torch.nn.Linear` has it.
    pub weight: Vec<f32>,
    /// One for each output.
    pub bias: Vec<f32>,
}

impl Layer {
    /// One that gives 0.
    pub fn zeros(inputs: usize, outputs: usize) -> Self {
        Self { weight: vec![0.0; inputs * outputs], bias: vec![0.0; outputs] }
    }
}

/// What a network's training left over on a part of the skin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorRow {
    /// Which part of the skin; `all` for all of it.
    pub part: String,
    /// Over which poses: `training`, or `held out`.
    pub poses: String,
    /// Over how many poses.
    pub count: u32,
    /// Root of the mean square of what vertices lack (m).
    pub rms: f32,
    /// The most that a vertex lacks (m).
    pub max: f32,
    /// As `rms`, of skinning without the network.
    pub skinning_rms: f32,
    /// How many of the part's vertices move beyond skinning ([`SkinErrors::moving`](super::SkinErrors::moving) over all poses); 0
    /// where that was not asked.
    #[serde(default)]
    pub moving: u32,
    /// As `rms`, over these alone.
    #[serde(default)]
    pub moving_rms: f32,
    /// As `skinning_rms`, over these alone.
    #[serde(default)]
    pub moving_skinning_rms: f32,
}

impl ErrorRow {
    /// Which share of what skinning lacks (RMS, over vertices that move beyond it) the network removes; none where no vertex does.
    pub fn removed(&self) -> Option<f32> {
        (self.moving > 0 && self.moving_skinning_rms > 0.0).then(|| 1.0 - self.moving_rms / self.moving_skinning_rms)
    }
}
