//! An instance of flesh.

use std::sync::Arc;

use glam::DVec3;

use super::{Active, Health, InstanceNetwork, Mix, Pushes, ReadBack, Rest, Tally, Touch};
use crate::cpu::deform_skin::Deltas;
use crate::cpu::lanes::Entry;
use crate::cpu::morph_skin::Morphed;
use crate::cpu::skin_blocks::SkinBlocks;
use crate::flesh::{Flesh, FleshState};
use crate::layout::HealthReport;
use crate::skin::{PaletteMatrix, SectionMatrix, SkinInputs, SkinnedVertices};
use crate::{Collisions, Pose};

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
    /// One for each chain, of the step that `nodes` shows.
    pub activations: Vec<f32>,
    pub palette: Vec<PaletteMatrix>,
    /// How much of each morph target its skin has.
    pub morphs: Vec<f32>,
    /// What accelerates it beside gravity (m/s²).
    pub acceleration: DVec3,
    /// Whom its segments touched in the newest frame, in ascending order.
    pub touches: Vec<Touch>,
    /// Whether it sleeps.
    pub rest: Rest,
    pub health: Health,
}

pub(crate) struct Instance {
    pub flesh: Arc<Flesh>,
    /// The skin, and its vertices as the CPU deforms them.
    pub blocks: Arc<SkinBlocks>,
    pub state: InstanceState,
    pub skin_inputs: SkinInputs,
    pub section_matrices: Vec<SectionMatrix>,
    /// What morph targets add to vertices, where the CPU steps.
    pub morphed: Morphed,
    /// What else adds to them.
    pub network: Option<Box<InstanceNetwork>>,
    /// How much of rods and network moves its skin in the frame.
    pub mix: Mix,
    pub vertices: SkinnedVertices,
    /// What it said of itself after the newest frame that is known.
    pub report: HealthReport,
    /// The step that `state` shows.
    pub step: u64,
    /// What of it a step does while it is awake.
    pub active: Active,
    /// Whether its skin is deformed in the frame.
    pub deforms: bool,
    /// Whether what moves vertices before they are skinned was changed since.
    pub redeform: bool,
    /// What it touches.
    pub collisions: Collisions,
    /// What of it a GPU sends back, beside what is sent of all.
    pub asked: ReadBack,
    /// Whether the world around it wants its state, where it must be sent back for that.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code))]
    pub wanted: bool,
    /// What the game gives it in the next step.
    pub pushes: Pushes,
    /// With what it was pressed in the newest step, where events are asked for; where a GPU steps, in those that have come back.
    pub tally: Tally,
    /// Force rows of the frame, where the CPU steps.
    pub forces: Vec<Vec<Entry<f32>>>,
    /// Whether it is where it was put in and nothing said otherwise: the first pose of its bones is then where it starts.
    pub fresh: bool,
    /// Whether the host changed the state since a GPU last took it.
    pub changed: bool,
    /// Whether that was only to put it at rest elsewhere, so that its activations go on from where a GPU has them.
    pub placed: bool,
    /// Whether the host has woken it since a GPU was last told.
    pub stirred: bool,
    /// The character in an hecs world that it is of, with which it goes.
    #[cfg(feature = "hecs")]
    pub entity: Option<hecs::Entity>,
}

impl Instance {
    /// An instance at rest.
    pub fn new(flesh: Arc<Flesh>, blocks: Arc<SkinBlocks>, bones: &[Pose], root: Pose) -> Self {
        let identity = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
        let state = InstanceState {
            nodes: FleshState::at_rest(&flesh, bones, &root),
            bones: bones.to_vec(),
            root,
            excitations: vec![0.0; flesh.chains().len()],
            activations: vec![0.0; flesh.chains().len()],
            palette: vec![identity; blocks.skin.palette_len],
            morphs: blocks.skin.morph_weights(),
            acceleration: DVec3::ZERO,
            touches: Vec::new(),
            rest: Rest::default(),
            health: Health::default(),
        };
        let (skin_inputs, section_matrices, vertices) = Default::default();
        Self {
            flesh,
            blocks,
            state,
            skin_inputs,
            section_matrices,
            morphed: Morphed::default(),
            network: None,
            mix: Mix::default(),
            vertices,
            report: HealthReport::default(),
            step: 0,
            active: Active::default(),
            deforms: false,
            redeform: false,
            collisions: Collisions::default(),
            asked: ReadBack::NOTHING,
            wanted: false,
            pushes: Pushes::default(),
            tally: Tally::default(),
            forces: Vec::new(),
            fresh: true,
            changed: true,
            placed: false,
            stirred: false,
            #[cfg(feature = "hecs")]
            entity: None,
        }
    }

    /// What a GPU sends back of it after a step, of what is asked for of all and of it, of what the world around wants, and of
    /// what names the chains that were laid anew.
    #[cfg(feature = "gpu")]
    pub fn sent_back(&self, of_all: ReadBack) -> ReadBack {
        let asked = of_all.or(self.asked);
        let unnamed = self.state.health.lacks_names(self.report.resets);
        let skin = self.active.skin;
        ReadBack {
            state: asked.state || self.wanted || unnamed,
            vertices: asked.vertices && skin,
            sections: asked.sections && skin,
        }
    }

    /// What a frame does of its chains while it is awake: nothing where its skin does not go with them.
    pub fn steps(&self) -> Active {
        if self.mix.rods > 0.0 { self.active } else { Active::PAUSED }
    }

    /// The same in this frame: nothing while it sleeps.
    pub fn works(&self) -> Active {
        if self.state.rest.is_asleep() { Active::PAUSED } else { self.steps() }
    }

    /// Begins a frame of `dt` (s): its skin passes on from what moved it to what is to.
    pub fn begin_frame(&mut self, dt: f64) {
        self.redeform |= self.mix.advance(dt);
        #[cfg(feature = "neural")]
        if let Some(network) = &mut self.network {
            network.correctives.share = self.mix.network;
        }
    }

    /// Forgets whom its chains touched.
    pub fn part(&mut self) {
        self.state.touches.clear();
        self.state.nodes.groups.iter_mut().for_each(|group| group.meets.clear());
    }

    /// Puts it at rest on its bones, without velocity.
    pub fn reset(&mut self) {
        self.state.nodes.rest_on(&self.flesh, &self.state.bones, &self.state.root);
        self.part();
        self.state.rest.begin();
        self.state.health.forget_names(self.state.nodes.resets(&self.flesh).sum());
        self.placed |= !self.changed;
        self.changed = true;
    }
}

/// What moves an instance's vertices before they are skinned.
pub(crate) fn deltas_of<'a>(morphed: &'a Morphed, network: Option<&'a InstanceNetwork>) -> Deltas<'a> {
    let by_network = network.map_or(&[][..], InstanceNetwork::deltas);
    Deltas { places: [&morphed.places, by_network], normals: &morphed.normals, tangents: &morphed.tangents }
}
