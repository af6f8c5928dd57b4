//! What a network leaves over, by part of the skin: as it runs, its basis as it is stored.

use super::TrainingData;
use super::data::Split;
use crate::neural::{CorrectiveNetwork, Correctives, ErrorRow, Inference, SkinErrors};

/// The table of errors, and what each vertex lacks in what was held out.
pub(super) fn errors(data: &TrainingData, split: &Split, network: &CorrectiveNetwork) -> (Vec<ErrorRow>, SkinErrors) {
    let training = lacking(data, &split.training, network);
    let held_out = lacking(data, &split.held_out, network);
    let mut all_poses = training.clone();
    all_poses.join(&held_out);
    let moving = all_poses.moving();
    let whole = [("all".to_string(), (0..data.vertex_count as u32).collect())];
    let mut rows = Vec::new();
    for (poses, errors) in [("training", &training), ("held out", &held_out)] {
        for (part, vertices) in whole.iter().chain(&data.parts) {
            let vertices = || vertices.iter().map(|&vertex| vertex as usize);
            let (all, beyond) = (errors.over(vertices()), errors.over(vertices().filter(|&vertex| moving[vertex])));
            rows.push(ErrorRow {
                part: part.clone(),
                poses: poses.into(),
                count: errors.poses(),
                rms: all.network[0] as f32,
                max: all.network[1] as f32,
                skinning_rms: all.skinning[0] as f32,
                moving: beyond.vertices as u32,
                moving_rms: beyond.network[0] as f32,
                moving_skinning_rms: beyond.skinning[0] as f32,
            });
        }
    }
    (rows, held_out)
}

/// What vertices lack in some samples, in mesh space.
fn lacking(data: &TrainingData, samples: &[usize], network: &CorrectiveNetwork) -> SkinErrors {
    let mut errors = SkinErrors::new(data.vertex_count);
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
        let wanted = data.deltas[sample * 3 * data.vertex_count..].chunks_exact(3).map(glam::Vec3::from_slice);
        let given = character.deltas().iter();
        errors.add(given.zip(wanted).map(|(given, wanted)| [wanted.length(), given.distance(wanted)]));
    }
    errors
}
