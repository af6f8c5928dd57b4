//! Networks on the GPU: whose words lie where, and what the host writes of them.

use std::ops::Range;
use std::sync::Arc;

use super::arrays::{
    NETWORK_BASES, NETWORK_GROUPS, NETWORK_INPUTS, NETWORK_RUNS, NETWORK_UNITS, NETWORK_WORDS, NETWORKS,
};
use super::residents::Upload;
use super::rows::{Rows, SharedRows};
use super::{GpuDevice, GpuError};
use crate::instances::InstanceNetwork;
use crate::layout::{NETWORK_GROUP, NetworkGroup, NetworkLayers, NetworkPlace, NetworkRun};
use crate::neural::{CorrectiveNetwork, Layers};

/// Where a network lies.
#[derive(Clone)]
struct NetworkRows {
    place: u64,
    words: Range<u64>,
    bases: Range<u64>,
}

/// An instance at work in the frame.
struct Working {
    network: Arc<CorrectiveNetwork>,
    run: NetworkRun,
}

/// The networks of all instances.
#[derive(Default)]
pub(super) struct NetworkPool {
    places: Rows,
    words: Rows,
    bases: Rows,
    networks: SharedRows<CorrectiveNetwork, NetworkRows>,
    working: Vec<Working>,
    inputs: Vec<f32>,
    groups: Vec<NetworkGroup>,
    /// How many blocks of vertices there are to move, those of a group once.
    pub block_count: u32,
}

/// More components than any network has: more of them counted are all.
const ALL: f32 = 1.0e9;

impl NetworkPool {
    /// How many instances are at work in the frame, and in how many groups.
    pub fn counts(&self) -> [u32; 2] {
        [self.working.len() as u32, self.groups.len() as u32]
    }

    /// Makes an instance's network the one that it has now; `had` is the one that it had.
    pub fn follow(
        &mut self,
        upload: &mut Upload<'_>,
        had: &mut Option<Arc<CorrectiveNetwork>>,
        has: Option<&Arc<CorrectiveNetwork>>,
    ) -> Result<(), GpuError> {
        if had.as_ref().map(Arc::as_ptr) == has.map(Arc::as_ptr) {
            return Ok(());
        }
        self.leave(had);
        if let Some(network) = has {
            if self.networks.join(network).is_none() {
                let rows = self.settle(upload, network)?;
                self.networks.add(network, rows);
            }
            *had = Some(network.clone());
        }
        Ok(())
    }

    /// Lets go the network that an instance had.
    pub fn leave(&mut self, had: &mut Option<Arc<CorrectiveNetwork>>) {
        if let Some(network) = had.take()
            && let Some(NetworkRows { place, words, bases }) = self.networks.leave(&network)
        {
            self.places.give_back(place..place + 1);
            self.words.give_back(words);
            self.bases.give_back(bases);
        }
    }

    fn settle(&mut self, upload: &mut Upload<'_>, network: &CorrectiveNetwork) -> Result<NetworkRows, GpuError> {
        let mut words: Vec<u32> = Vec::new();
        let mut starts = [0; 2];
        for (layers, start) in network.parts.iter().zip(&mut starts) {
            *start = words.len();
            layers.iter().for_each(|layers| write_layers(layers, &mut words));
        }
        let mean = words.len();
        words.extend(network.mean.iter().map(|number| number.to_bits()));
        let first = words.len();
        words.extend(&network.basis.first);
        let row = words.len();
        words.extend(network.basis.rows.iter().flat_map(|row| [row.component, row.scale.to_bits()]));
        debug_assert_eq!(words.len(), word_count(network));
        let bases = network.basis.words();
        let rows = NetworkRows {
            place: self.places.take(1).start,
            words: self.words.take(words.len() as u64),
            bases: self.bases.take(bases.len() as u64),
        };
        let at = |word: usize| (rows.words.start + word as u64) as u32;
        let layers = |part: usize| {
            network.parts[part].as_ref().map_or(NetworkLayers::default(), |layers| {
                let [first, second, last] = layers.layers.each_ref().map(|layer| layer.outputs as u32);
                NetworkLayers {
                    inputs: layers.input_mean.len() as u32,
                    first_hidden: first,
                    second_hidden: second,
                    components: last,
                    words: at(starts[part]),
                }
            })
        };
        let place = NetworkPlace {
            layers: [layers(0), layers(1)],
            mean_base: at(mean),
            mean_count: network.mean.len() as u32,
            first_base: at(first),
            row_base: at(row),
            basis_base: rows.bases.start as u32,
            per_word: network.basis.precision.per_word() as u32,
        };
        upload.rows(NETWORKS, rows.place, &[place])?;
        upload.rows(NETWORK_WORDS, rows.words.start, &words)?;
        upload.rows(NETWORK_BASES, rows.bases.start, bases)?;
        Ok(rows)
    }

    /// Has a frame's inputs begin with none.
    pub fn begin_inputs(&mut self) {
        self.working.clear();
        self.inputs.clear();
    }

    /// Stage `gather_inputs`, of the network of one instance that deforms its skin, whose deltas begin at a word.
    pub fn gather_inputs(&mut self, own: &mut InstanceNetwork, activations: &[f32], delta_base: u32) {
        own.gather_inputs(activations);
        let detail = own.correctives.detail;
        let counted = |count: f32| if count.is_nan() { 0.0 } else { count.clamp(0.0, ALL) };
        let run = NetworkRun {
            input_base: self.inputs.len() as u32,
            delta_base,
            weight: own.correctives.weight(),
            passive_count: counted(detail.passive),
            active_count: counted(detail.active),
            ..NetworkRun::default()
        };
        self.inputs.extend_from_slice(&own.correctives.inputs);
        self.working.push(Working { network: own.network.clone(), run });
    }

    /// Sends a frame's inputs.
    pub fn send_inputs(&mut self, upload: &mut Upload<'_>) -> Result<(), GpuError> {
        self.groups.clear();
        self.block_count = 0;
        // Those of a network together.
        self.working.sort_by_key(|working| Arc::as_ptr(&working.network));
        let mut units = 0;
        let mut run_base = 0;
        for batch in self.working.chunk_by_mut(|a, b| Arc::ptr_eq(&a.network, &b.network)) {
            let network = batch[0].network.clone();
            let place = self.networks.get(&network).expect("was followed before its inputs are gathered").place as u32;
            let own_units: usize = network.parts.iter().flatten().map(units_of).sum();
            for group in batch.chunks_mut(NETWORK_GROUP as usize) {
                let coefficients = units;
                units += NETWORK_GROUP * network.component_count() as u32;
                for (slot, Working { run, .. }) in (0..).zip(&mut *group) {
                    (run.network, run.unit_base, run.coefficient_base) = (place, units, coefficients + slot);
                    units += own_units as u32;
                }
                let run_count = group.len() as u32;
                self.groups.push(NetworkGroup { run_base, run_count, block_base: self.block_count });
                self.block_count += network.basis.block_count() as u32;
                run_base += run_count;
            }
        }
        let runs: Vec<NetworkRun> = self.working.iter().map(|working| working.run).collect();
        upload.reserve(NETWORK_UNITS, u64::from(units))?;
        upload.rows(NETWORK_INPUTS, 0, &self.inputs)?;
        upload.rows(NETWORK_RUNS, 0, &runs)?;
        upload.rows(NETWORK_GROUPS, 0, &self.groups)
    }
}

/// Whether a device has room for networks, each counted once.
///
/// # Errors
/// [`GpuError::NetworksTooLarge`].
pub(crate) fn check_networks<'a>(
    gpu: &GpuDevice,
    networks: impl Iterator<Item = &'a Arc<CorrectiveNetwork>>,
) -> Result<(), GpuError> {
    let limit = gpu.most_bytes();
    let mut seen: Vec<&Arc<CorrectiveNetwork>> = Vec::new();
    // Of the arrays `network_words` and `network_bases`.
    let mut bytes = [0_u64; 2];
    for network in networks {
        if seen.iter().any(|other| Arc::ptr_eq(other, network)) {
            continue;
        }
        seen.push(network);
        for (bytes, words) in bytes.iter_mut().zip([word_count(network), network.basis.words().len()]) {
            *bytes += 4 * words as u64;
        }
    }
    match bytes.into_iter().find(|bytes| *bytes > limit) {
        Some(bytes) => Err(GpuError::NetworksTooLarge { bytes, limit }),
        None => Ok(()),
    }
}

/// How many words beside its basis a network has.
fn word_count(network: &CorrectiveNetwork) -> usize {
    let of_part = |part: &Layers| {
        let layers: usize = part.layers.iter().map(|layer| layer.biases.len() + layer.weights.len()).sum();
        layers + 2 * (part.input_mean.len() + part.low.len())
    };
    let basis = &network.basis;
    network.parts.iter().flatten().map(of_part).sum::<usize>()
        + network.mean.len()
        + basis.first.len()
        + 2 * basis.rows.len()
}

/// Scaled inputs and hidden units of a perceptron.
fn units_of(layers: &Layers) -> usize {
    layers.input_mean.len() + layers.layers[..2].iter().map(|layer| layer.outputs).sum::<usize>()
}

/// In the order of [`NetworkLayers`].
fn write_layers(layers: &Layers, words: &mut Vec<u32>) {
    let mut write = |numbers: &[f32]| words.extend(numbers.iter().map(|number| number.to_bits()));
    write(&layers.input_mean);
    write(&layers.input_scale);
    for layer in &layers.layers {
        write(&layer.biases);
        write(&layer.weights);
    }
    write(&layers.low);
    write(&layers.high);
}
