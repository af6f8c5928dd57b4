//! Where training stands, in a file that a killed run goes on from.

use std::path::{Path, PathBuf};

use burn_core::tensor::backend::{Backend, ExecutionError};
use serde::{Deserialize, Serialize};

use super::TrainError;
use super::perceptron::Trainee;
use crate::bake::hash_bytes;
use crate::files::{remove_parts, write_whole};
use crate::neural::{Layer, Which};

/// Where training stands, beside the network itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Stand {
    /// For each epoch, what is left over in training and of what is held out.
    pub history: Vec<[f32; 2]>,
    /// After how many epochs the best was.
    pub best_epoch: u32,
    /// The best's layers.
    #[serde(with = "numbers")]
    pub best: [Layer; 3],
}

/// Layers as lists.
mod numbers {
    use super::Layer;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(layers: &[Layer; 3], serializer: S) -> Result<S::Ok, S::Error> {
        // As bits: numbers in decimals need not come back the same.
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
        layers.each_ref().map(|layer| [bits(&layer.weight), bits(&layer.bias)]).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[Layer; 3], D::Error> {
        let values = |bits: Vec<u32>| bits.into_iter().map(f32::from_bits).collect();
        let layers = <[[Vec<u32>; 2]; 3]>::deserialize(deserializer)?;
        Ok(layers.map(|[weight, bias]| Layer { weight: values(weight), bias: values(bias) }))
    }
}

impl Stand {
    /// Epochs done.
    pub fn epoch(&self) -> u32 {
        self.history.len() as u32
    }

    /// Takes in an epoch, and its layers if it is the best so far.
    pub fn note(
        &mut self,
        losses: [f32; 2],
        layers: impl FnOnce() -> Result<[Layer; 3], ExecutionError>,
    ) -> Result<(), ExecutionError> {
        let best = self.history.get((self.best_epoch as usize).wrapping_sub(1)).map_or(f32::INFINITY, |best| best[1]);
        self.history.push(losses);
        if losses[1] < best {
            (self.best_epoch, self.best) = (self.epoch(), layers()?);
        }
        Ok(())
    }
}

/// A network's checkpoint's name.
fn file_of(which: Which) -> String {
    format!("{}.checkpoint", which.name())
}

/// A network's checkpoint: text and bytes in JSON, after a line with their hash.
pub(super) struct Checkpoint {
    path: PathBuf,
    key: String,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    /// Of data, options and network: what it may be gone on with.
    key: String,
    stand: Stand,
    network: Vec<u8>,
    adam: Vec<u8>,
}

impl Checkpoint {
    pub fn new(folder: &Path, which: Which, key: &str) -> Self {
        Self { path: folder.join(file_of(which)), key: hash_bytes(key.as_bytes()) }
    }

    /// Removes what runs that were killed while they wrote one have left of it.
    pub fn remove_parts(folder: &Path) -> Result<(), TrainError> {
        let ours = |name: &str| Which::BOTH.iter().any(|&which| name.starts_with(&file_of(which)));
        remove_parts(folder, ours).map_err(|error| TrainError::Io { name: folder.display().to_string(), error })
    }

    /// Where training stood; none where there is no whole checkpoint of the same data and options.
    pub fn load<B: Backend>(&self, trainee: Trainee<B>) -> Option<(Trainee<B>, Stand)> {
        let text = std::fs::read_to_string(&self.path).ok()?;
        let (hash, text) = text.split_once('\n')?;
        if hash_bytes(text.as_bytes()) != hash {
            return None;
        }
        let Saved { key, stand, network, adam } = serde_json::from_str(text).ok()?;
        if key != self.key {
            return None;
        }
        Some((trainee.load([network, adam])?, stand))
    }

    pub fn save<B: Backend>(&self, trainee: &Trainee<B>, stand: &Stand) -> Result<(), TrainError> {
        let [network, adam] = trainee.save();
        let saved = Saved { key: self.key.clone(), stand: stand.clone(), network, adam };
        let text = serde_json::to_string(&saved).expect("numbers are JSON");
        let text = format!("{}\n{text}", hash_bytes(text.as_bytes()));
        let fail = |error| TrainError::Io { name: self.path.display().to_string(), error };
        std::fs::create_dir_all(self.path.parent().unwrap_or(Path::new("."))).map_err(fail)?;
        write_whole(&self.path, text.as_bytes()).map_err(fail)
    }
}
