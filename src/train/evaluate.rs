//! What a network leaves over, by part of the skin: as it runs, its basis as it is stored.

use super::TrainingData;
use super::data::Split;
use crate::neural::{CorrectiveNetwork, Correctives, ErrorRow, Inference};

/// Sums over the vertices of a part in some samples.
#[derive(Clone, Copy, Default)]
struct Sum {
    off: f64,
    largest: f64,
    moved: f64,
    count: usize,
}

pub(super) fn errors(data: &TrainingData, split: &Split, network: &CorrectiveNetwork) -> Vec<ErrorRow> {
    let all: Vec<u32> = (0..data.vertex_count as u32).collect();
    let whole = [("all".to_string(), all)];
    let parts: Vec<&(String, Vec<u32>)> = whole.iter().chain(&data.parts).collect();
    let mut rows = Vec::new();
    for (poses, samples) in [("training", &split.training), ("held out", &split.held_out)] {
        let mut sums = vec![Sum::default(); parts.len()];
        let inference = Inference::new(0);
        let mut character = Correctives::new(network);
        for &sample in samples {
            let activations = if network.muscles().is_empty() {
                &[][..]
            } else {
                &data.activations[sample * data.muscles.len()..][..data.muscles.len()]
            };
            character.set_inputs(network, &data.rotations(sample), activations);
            inference.infer(network, &mut [&mut character]);
            let given = character.deltas();
            let wanted = &data.deltas[sample * 3 * data.vertex_count..];
            for (sum, (_, vertices)) in sums.iter_mut().zip(&parts) {
                for &vertex in vertices {
                    let wanted = glam::Vec3::from_slice(&wanted[3 * vertex as usize..]);
                    let off = f64::from(given[vertex as usize].distance(wanted));
                    sum.off += off * off;
                    sum.largest = sum.largest.max(off);
                    sum.moved += f64::from(wanted.length_squared());
                    sum.count += 1;
                }
            }
        }
        for (sum, (part, _)) in sums.iter().zip(&parts) {
            let root = |sum_of: f64| (sum_of / sum.count.max(1) as f64).sqrt() as f32;
            rows.push(ErrorRow {
                part: part.clone(),
                poses: poses.into(),
                count: samples.len() as u32,
                rms: root(sum.off),
                max: sum.largest as f32,
                skinning_rms: root(sum.moved),
            });
        }
    }
    rows
}
