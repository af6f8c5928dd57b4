//! A group of chains stepped stage by stage, in lanes of any kind.

use sinew::Pose;
use sinew::cpu::group::{Group, GroupRest};
use sinew::cpu::lanes::{Entry, LANES, Lanes};
use sinew::cpu::run_stage;
use sinew::flesh::{Flesh, FleshState};
use sinew::layout::{MAX_BONES, POSE, chain, contact, input, node, plane, reaction};
use sinew::step::{Scheduled, Stage, StepConfig, StepParams, params_of, schedule};

/// The first group of some flesh, at rest at first.
#[derive(Clone)]
pub struct Staged<T> {
    pub rest: GroupRest<T>,
    pub nodes: Vec<Entry<T>>,
    pub inputs: Vec<Entry<T>>,
    /// None until [`Staged::touch`].
    pub planes: Vec<Entry<T>>,
    pub contacts: Vec<Entry<T>>,
    pub reactions: Vec<Entry<T>>,
    pub chains: Vec<Entry<T>>,
    scratch: Vec<Entry<T>>,
    /// The last substep (s), 0 before the first.
    last_h: f64,
}

impl<T: Copy + From<f32> + Into<f64> + PartialEq> Staged<T> {
    pub fn new(flesh: &Flesh, bones: &[Pose], rest: GroupRest<T>) -> Self {
        let state = FleshState::at_rest(flesh, bones, &Pose::IDENTITY);
        let (nodes, chains) = state.rows().next().expect("a group");
        let as_lanes = |rows: &[Entry<f32>]| -> Vec<Entry<T>> { rows.iter().map(|entry| entry.map(T::from)).collect() };
        let chains = as_lanes(chains);
        let mut inputs = vec![[T::from(0.0); LANES]; input::ENTRIES];
        inputs[input::HANGS] = [T::from(if flesh.chains()[0].bones.is_empty() { 0.0 } else { 1.0 }); LANES];
        for entry in 0..MAX_BONES * POSE {
            for at in [input::BONE_FROM, input::BONE_TO] {
                inputs[at + entry] = chains[chain::BONE_NOW + entry];
            }
        }
        let scratch = vec![[T::from(0.0); LANES]; rest.scratch_len()];
        let reactions = vec![[T::from(0.0); LANES]; rest.reaction_count * reaction::ENTRIES];
        let (planes, contacts) = Default::default();
        Self { nodes: as_lanes(nodes), inputs, planes, contacts, reactions, chains, scratch, last_h: 0.0, rest }
    }

    /// Puts half-spaces beside the chains: plane rows.
    pub fn touch(&mut self, planes: Vec<Entry<T>>) {
        let slots = self.rest.node_count * planes.len() / plane::ENTRIES;
        self.contacts = vec![[T::from(0.0); LANES]; slots * contact::ENTRIES];
        self.planes = planes;
    }

    pub fn group(&mut self) -> Group<'_, T> {
        Group {
            rest: &self.rest,
            nodes: &mut self.nodes,
            inputs: &self.inputs,
            forces: &[],
            planes: &self.planes,
            tangents: &[],
            meets: &mut [],
            solved: &mut [],
            chains: &mut self.chains,
            contacts: &mut self.contacts,
            reactions: &mut self.reactions,
            scratch: &mut self.scratch,
        }
    }

    /// Entries of a node in a lane.
    pub fn read<const N: usize>(&self, index: usize, at: usize, lane: usize) -> [f64; N] {
        std::array::from_fn(|k| self.nodes[index * node::ENTRIES + at + k][lane].into())
    }

    /// Writes entries of a node in a lane.
    pub fn write(&mut self, index: usize, at: usize, lane: usize, values: impl IntoIterator<Item = T>) {
        for (k, value) in values.into_iter().enumerate() {
            self.nodes[index * node::ENTRIES + at + k][lane] = value;
        }
    }

    /// Where the bones go: they start from where they are.
    pub fn aim(&mut self, to: impl Fn(usize, usize) -> T) {
        for entry in 0..MAX_BONES * POSE {
            self.inputs[input::BONE_FROM + entry] = self.inputs[input::BONE_TO + entry];
            for lane in 0..LANES {
                self.inputs[input::BONE_TO + entry][lane] = to(entry, lane);
            }
        }
    }

    /// Steps one frame, lane by lane; `look` sees the group after each stage.
    pub fn frame<L: Lanes<Scalar = T>>(
        &mut self,
        lanes: impl Fn(usize) -> L,
        config: &StepConfig,
        dt: f64,
        mut look: impl FnMut(Stage, &StepParams, &mut Group<'_, T>),
    ) {
        let params = params_of(config, dt, self.last_h, 0);
        for Scheduled { stage, slot } in schedule(config.substeps, config.iterations, 0) {
            let params = params[slot as usize];
            let mut group = self.group();
            (0..LANES).for_each(|lane| run_stage(lanes(lane), stage, &params, &mut group));
            look(stage, &params, &mut group);
        }
        self.last_h = dt / f64::from(config.substeps);
    }
}
