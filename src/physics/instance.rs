//! An instance of flesh as a [`Physics`](crate::Physics) keeps it.

use std::sync::Arc;

use glam::Vec3;

use super::Health;
use crate::Pose;
use crate::cpu::LaneWidth;
use crate::cpu::deform_skin::deform_vertices;
use crate::cpu::pose_sections::pose_sections;
use crate::flesh::{Flesh, FleshState};
use crate::skin::{PaletteMatrix, SectionMatrix, Skin, SkinInputs, SkinnedVertices};

/// What an instance keeps from step to step.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct InstanceState {
    pub nodes: FleshState,
    /// Where the bones are to be at the next frame's end.
    pub bones: Vec<Pose>,
    /// Where the root is to be at the next frame's end.
    pub root: Pose,
    /// What each chain's activation goes towards.
    pub excitations: Vec<f32>,
    /// One for each chain.
    pub activations: Vec<f32>,
    pub palette: Vec<PaletteMatrix>,
    pub health: Health,
}

pub(crate) struct Instance {
    pub flesh: Arc<Flesh>,
    pub skin: Arc<Skin>,
    pub state: InstanceState,
    pub skin_inputs: SkinInputs,
    pub section_matrices: Vec<SectionMatrix>,
    pub vertices: SkinnedVertices,
    /// Whether it is where it was put in and nothing said otherwise: the first pose of its bones is then where it starts.
    pub fresh: bool,
    /// Whether the host changed the state since a GPU last took it.
    pub changed: bool,
}

pub(crate) struct Slot {
    pub generation: u32,
    pub instance: Option<Instance>,
}

impl Instance {
    /// An instance at rest.
    pub fn new(flesh: Arc<Flesh>, skin: Arc<Skin>, bones: &[Pose], root: Pose) -> Self {
        let identity = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
        let state = InstanceState {
            nodes: FleshState::at_rest(&flesh, bones, &root),
            bones: bones.to_vec(),
            root,
            excitations: vec![0.0; flesh.chains().len()],
            activations: vec![0.0; flesh.chains().len()],
            palette: vec![identity; skin.palette_len],
            health: Health::default(),
        };
        let (skin_inputs, section_matrices, vertices) = Default::default();
        Self { flesh, skin, state, skin_inputs, section_matrices, vertices, fresh: true, changed: true }
    }

    pub fn reset(&mut self) {
        self.state.nodes.rest_on(&self.flesh, &self.state.bones, &self.state.root);
        self.changed = true;
    }

    /// Lets activations follow excitations for `dt` (s): da/dt = (u − a)/τ, in 64 implicit steps, (1 + dt/64τ)⁻⁶⁴ for
    /// e^(−dt/τ), which has the same bits on any machine.
    pub fn activate(&mut self, dt: f64) {
        let InstanceState { excitations, activations, .. } = &mut self.state;
        for (chain, (activation, &excitation)) in
            self.flesh.chains().iter().zip(activations.iter_mut().zip(&*excitations))
        {
            let [rise, fall] = chain.activation_times;
            let time = if excitation > *activation { rise } else { fall };
            if time == 0.0 {
                *activation = excitation;
            } else {
                let time = f64::from(time);
                let mut left = time / (time + dt / 64.0);
                for _ in 0..6 {
                    left *= left;
                }
                *activation = excitation + (*activation - excitation) * left as f32;
            }
        }
    }

    /// Skin as bones, palette and nodes stand.
    pub fn deform_skin(&mut self, width: LaneWidth) {
        let Self { flesh, skin, state, skin_inputs, section_matrices, vertices, .. } = self;
        skin_inputs.gather(flesh, &state.nodes, &state.bones, &state.root);
        skin_inputs.palette.clone_from(&state.palette);
        pose_sections(skin, skin_inputs, &state.nodes, section_matrices);
        vertices.positions.resize(skin.vertices.len(), Vec3::ZERO);
        vertices.normals.resize(skin.vertices.len(), Vec3::ZERO);
        let SkinnedVertices { positions, normals, .. } = vertices;
        deform_vertices(width, skin, (&skin_inputs.palette, section_matrices), &skin.vertices, (positions, normals));
    }
}

pub(crate) fn instances(slots: &mut [Slot]) -> impl Iterator<Item = &mut Instance> {
    slots.iter_mut().filter_map(|slot| slot.instance.as_mut())
}
