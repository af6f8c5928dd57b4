//! Flesh that broke comes back: chains that are where flesh cannot be, jumps of root and bones, long frames.

mod anew;
mod brutal;
mod jumps;
mod long_frames;

use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, Holds, NodeState, RodSpec};
use sinew::step::StepConfig;
use sinew::{FleshHandle, Material, Physics, Pose};

/// A frame (s).
const FRAME: f64 = 1.0 / 60.0;

/// A rod along x from `from`, of a length (m), with so many segments and a Young's modulus (Pa).
fn rod(name: &str, from: DVec3, length: f64, segments: usize, youngs_modulus: f64) -> RodSpec {
    let mut rod = RodSpec::straight(name, from, from + DVec3::X * length, segments, 0.08 * length);
    rod.material = Material { youngs_modulus, poissons_ratio: 0.45, damping: 4.0, ..Material::default() };
    rod
}

/// A limb of two bones of 0.4 m: flesh on each, one muscle over the joint, and one that fascia ties.
fn limb() -> (Vec<RodSpec>, [Pose; 2]) {
    let bones = [Pose::IDENTITY, Pose::from_translation(DVec3::X * 0.4)];
    let hangs = rod("hangs", DVec3::new(0.05, 0.06, 0.0), 0.3, 8, 3.0e5).attach(0, 0, Holds::CLAMP);
    let far = rod("far", DVec3::new(0.45, -0.06, 0.0), 0.3, 6, 3.0e5).attach(0, 1, Holds::CLAMP);
    let over = |name: &str, z: f64| {
        let rod = rod(name, DVec3::new(0.1, 0.05, z), 0.6, 10, 2.0e5);
        rod.attach(0, 0, Holds::CLAMP).attach(10, 1, Holds::CLAMP)
    };
    let mut tied = over("tied", 0.08);
    tied.fascia = RodSpec::FASCIA;
    (vec![hangs, far, over("over", -0.08), tied], bones)
}

/// Some flesh, stepped.
struct Stepped {
    physics: Physics,
    handle: FleshHandle,
    flesh: Arc<Flesh>,
}

impl Stepped {
    fn new(rods: &[RodSpec], bones: &[Pose], config: StepConfig) -> Self {
        let flesh = Arc::new(Flesh::build(rods, bones).expect("the rods are in range"));
        let mut physics = Physics::with_config(config);
        let handle = physics.insert(flesh.clone(), bones, Pose::IDENTITY).expect("as many bones as built with");
        Self { physics, handle, flesh }
    }

    fn step(&mut self, bones: &[Pose], root: Pose, dt: f64) {
        self.physics.set_bones(self.handle, bones, root).expect("sound poses");
        self.physics.step_flesh(dt).expect("steps");
    }

    fn nodes(&self, chain: usize) -> Vec<NodeState> {
        let count = self.flesh.chains()[chain].node_count();
        (0..count).map(|node| self.physics.node(self.handle, chain, node).expect("is there")).collect()
    }

    fn all_nodes(&self) -> Vec<Vec<NodeState>> {
        (0..self.flesh.chains().len()).map(|chain| self.nodes(chain)).collect()
    }

    /// The largest distance of a chain's node from where its bones carry it, over the chain's length.
    fn off(&self, chain: usize) -> f64 {
        let info = &self.flesh.chains()[chain];
        let swing = |node| self.physics.swing(self.handle, chain, node).expect("is there").length();
        (0..info.node_count()).map(swing).fold(0.0, f64::max) / info.rest_length
    }

    /// The most that a segment of a chain is stretched to.
    fn stretch(&self, chain: usize) -> f64 {
        let info = &self.flesh.chains()[chain];
        let rest = info.rest.windows(2).map(|pair| pair[0].translation.distance(pair[1].translation));
        self.nodes(chain)
            .windows(2)
            .zip(rest)
            .map(|(pair, rest)| pair[0].place.distance(pair[1].place) / rest)
            .fold(0.0, f64::max)
    }

    fn resets(&self) -> u32 {
        self.physics.health(self.handle).expect("is there").resets
    }

    fn is_finite(&self) -> bool {
        self.physics.state(self.handle).expect("is there").is_finite()
    }
}

/// The limb's bones with its root at a place, the joint bent by an angle (rad) away from the side that muscles go over.
fn limb_at(root: Pose, angle: f64) -> [Pose; 2] {
    [root, root * Pose::new(DVec3::X * 0.4, DQuat::from_rotation_z(-angle))]
}

/// The bend of a limb that swings (rad), after a time (s).
fn swinging(time: f64) -> f64 {
    0.5 + 0.5 * (4.0 * time).sin()
}
