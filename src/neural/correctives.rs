//! What a character keeps of a network, and what runs all characters of one as a batch.

use glam::{Mat3, Quat, Vec3, Vec4};

use super::CorrectiveNetwork;
use crate::LaneWidth;
use crate::cpu::infer_correctives::infer_correctives;
use crate::cpu::threads::Threads;

/// How much of a network a character has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detail {
    /// What all displacements are multiplied by, 0 to 1. At 0 the network is not run.
    pub weight: f32,
    /// How many of the passive network's components count, from the first one on, of which the last one counts by the fraction: what
    /// goes down evenly never jumps. Those that do not count are not read.
    pub passive: f32,
    /// As `passive`, of the active network.
    pub active: f32,
}

impl Default for Detail {
    /// All of it.
    fn default() -> Self {
        Self { weight: 1.0, passive: f32::INFINITY, active: f32::INFINITY }
    }
}

/// What a character keeps of a network: its inputs, coefficients, and what its vertices are moved by.
#[derive(Clone, Debug, PartialEq)]
pub struct Correctives {
    /// How much of the network it has.
    pub detail: Detail,
    /// Which of the network's joints are read; others count as at rest.
    pub joint_mask: Vec<bool>,
    /// Which of the network's muscles are read; others count as relaxed.
    pub muscle_mask: Vec<bool>,
    pub(crate) inputs: Vec<f32>,
    pub(crate) coefficients: Vec<f32>,
    pub(crate) deltas: Vec<Vec3>,
    /// Whether `deltas` may be other than 0.
    pub(crate) moves: bool,
    /// By what the weight is multiplied while what moves the skin changes.
    pub(crate) share: f32,
}

impl Correctives {
    /// Those of a character at rest, not inferred yet.
    pub fn new(network: &CorrectiveNetwork) -> Self {
        let mut correctives = Self {
            detail: Detail::default(),
            joint_mask: vec![true; network.joints().len()],
            muscle_mask: vec![true; network.muscles().len()],
            inputs: Vec::new(),
            coefficients: vec![0.0; network.component_count()],
            deltas: vec![Vec3::ZERO; network.vertex_count()],
            moves: false,
            share: 1.0,
        };
        let (joints, muscles) = (network.joints().len(), network.muscles().len());
        correctives.set_inputs(network, &vec![Quat::IDENTITY; joints], &vec![0.0; muscles]);
        correctives
    }

    /// Sets what the network reads: of each of its joints the rotation relative to its parent, seen from the same at rest
    /// (R̄⁻¹R), of any length, and of each of its muscles the activation (1 for all of its peak stress). What is not finite, or no
    /// rotation, counts as at rest.
    ///
    /// # Panics
    /// Where there are not as many as the network has joints and muscles.
    pub fn set_inputs(&mut self, network: &CorrectiveNetwork, rotations: &[Quat], activations: &[f32]) {
        let counts = (network.joints().len(), network.muscles().len());
        assert_eq!((rotations.len(), activations.len()), counts, "one rotation a joint, one activation a muscle");
        self.inputs.clear();
        for (index, &rotation) in rotations.iter().enumerate() {
            let read = self.joint_mask.get(index).copied().unwrap_or(true);
            let turn = rotation_of(rotation).filter(|_| read);
            let rotation = turn.map_or(Mat3::IDENTITY, Mat3::from_quat);
            self.inputs.extend(rotation.transpose().to_cols_array());
        }
        for (index, &activation) in activations.iter().enumerate() {
            let read = self.muscle_mask.get(index).copied().unwrap_or(true) && activation.is_finite();
            self.inputs.push(if read { activation } else { 0.0 });
        }
    }

    /// What all displacements are multiplied by; 0 where the network is not run, also where that is no number.
    pub(crate) fn weight(&self) -> f32 {
        if self.detail.weight > 0.0 { self.detail.weight.min(1.0) * self.share } else { 0.0 }
    }

    /// The coefficients last inferred, the passive network's first: within their ranges in training, and by the detail.
    pub fn coefficients(&self) -> &[f32] {
        &self.coefficients
    }

    /// What was last inferred: by what each vertex is moved in mesh space before it is skinned (m).
    pub fn deltas(&self) -> &[Vec3] {
        &self.deltas
    }
}

/// The rotation that a quaternion of any length is along, if it is along one; a unit one is that to the bit.
fn rotation_of(quaternion: Quat) -> Option<Quat> {
    if quaternion.is_normalized() {
        return Some(quaternion);
    }
    Vec4::from(quaternion).try_normalize().map(Quat::from_vec4)
}

/// Runs networks on the CPU.
pub struct Inference {
    /// With which lanes; the bits are the same with all.
    pub lane_width: LaneWidth,
    threads: Threads,
}

impl Inference {
    /// On so many threads; 0 for all cores.
    pub fn new(threads: usize) -> Self {
        Self { lane_width: LaneWidth::default(), threads: Threads::new(threads) }
    }

    /// Infers coefficients and deltas of all characters of a network at once; the bits are those of each alone, on any number of
    /// threads.
    ///
    /// # Panics
    /// Where one of them was made for another network.
    pub fn infer(&self, network: &CorrectiveNetwork, characters: &mut [&mut Correctives]) {
        infer_correctives(self.lane_width, &self.threads, network, characters);
    }
}
