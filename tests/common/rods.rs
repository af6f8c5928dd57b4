//! What the physics tests share: one rod in a scene, its forces in f64, and a small random generator.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::cpu::lanes::{Entry, LANES, OneF64};
use sinew::cpu::math::{Quaternion, V3};
use sinew::cpu::rod_energies;
use sinew::cpu::strains::{Reference, Section};
use sinew::flesh::{Flesh, NodeState, RodSpec};
use sinew::step::StepConfig;
use sinew::{FleshHandle, Material, Physics, Pose, SectionWeight, Skin, SkinSection, SkinVertex};

/// The default frame (s).
pub const FRAME: f64 = 1.0 / 60.0;

/// Default steps without gravity.
pub fn weightless(substeps: u32) -> StepConfig {
    StepConfig { substeps, gravity: DVec3::ZERO, ..Default::default() }
}

/// A material without overrides.
pub fn material(youngs_modulus: f64, poissons_ratio: f64, density: f64, damping: f64) -> Material {
    Material { youngs_modulus, poissons_ratio, density, damping, ..Default::default() }
}

/// One rod in a scene of its own.
pub struct OneRod {
    pub physics: Physics,
    pub handle: FleshHandle,
}

impl OneRod {
    pub fn new(rod: &RodSpec, bones: &[Pose], config: StepConfig) -> Self {
        let flesh = Arc::new(Flesh::build(std::slice::from_ref(rod), bones).expect("the rod is in range"));
        let mut physics = Physics::with_config(config);
        let handle = physics.insert(flesh, bones, Pose::IDENTITY).expect("as many bones as built with");
        Self { physics, handle }
    }

    pub fn node_count(&self) -> usize {
        self.physics.flesh(self.handle).unwrap().node_count()
    }

    pub fn node(&self, index: usize) -> NodeState {
        self.physics.node(self.handle, 0, index).unwrap()
    }

    pub fn nodes(&self) -> Vec<NodeState> {
        (0..self.node_count()).map(|index| self.node(index)).collect()
    }

    pub fn set_node(&mut self, index: usize, to: &NodeState) {
        let flesh = self.physics.flesh(self.handle).unwrap().clone();
        self.physics.state_mut(self.handle).unwrap().set_node(&flesh, 0, index, to);
    }

    pub fn set_bones(&mut self, bones: &[Pose]) {
        self.physics.set_bones(self.handle, bones, Pose::IDENTITY).unwrap();
    }

    pub fn run(&mut self, dt: f64, frames: usize) {
        for _ in 0..frames {
            self.physics.step_flesh(dt).unwrap();
        }
    }

    /// Never reset, and every number finite.
    pub fn is_sound(&self) -> bool {
        self.physics.health(self.handle).unwrap().resets == 0 && self.physics.state(self.handle).unwrap().is_finite()
    }

    /// Force (N) and torque (N·m, about the segment's end) with which each segment pulls at its second node, in the
    /// world's axes, from the energy's gradient in f64.
    pub fn segment_pulls(&self) -> Vec<(DVec3, DVec3)> {
        let rest = self.physics.flesh(self.handle).unwrap().groups()[0].to_f64();
        let nodes = self.nodes();
        let origin = nodes[0].place;
        (0..nodes.len() - 1)
            .map(|j| {
                let (a, b) = (section(&nodes[j], origin), section(&nodes[j + 1], origin));
                let terms = rod_energies::segment_terms(
                    OneF64(0),
                    [a, b],
                    rest.row(j),
                    Reference::built(OneF64(0), rest.row(j)),
                    None,
                    0.0,
                );
                let [x, y, z, _, a, b, c] = terms.gradient_b;
                (DVec3::new(x, y, z), DVec3::new(a, b, c))
            })
            .collect()
    }

    /// Elastic energy of all segments (J), in f64.
    pub fn elastic_energy(&self) -> f64 {
        let rest = self.physics.flesh(self.handle).unwrap().groups()[0].to_f64();
        let nodes = self.nodes();
        let origin = nodes[0].place;
        (0..nodes.len() - 1)
            .map(|j| {
                let ends = [section(&nodes[j], origin), section(&nodes[j + 1], origin)];
                rod_energies::segment_potential(
                    OneF64(0),
                    ends,
                    rest.row(j),
                    Reference::built(OneF64(0), rest.row(j)),
                    None,
                )
                .whole()
            })
            .sum()
    }
}

/// A node as the energies read it.
pub fn section(node: &NodeState, origin: DVec3) -> Section<f64> {
    Section {
        place: V3((node.place - origin).to_array()),
        scale: f64::from(node.scale),
        frame: Quaternion(node.frame.as_dquat().normalize().to_array()),
    }
}

/// The same number in every lane.
pub fn entry(value: f64) -> Entry<f64> {
    [value; LANES]
}

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// Uniform in the logarithm.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        self.uniform(low.ln(), high.ln()).exp()
    }

    pub fn vector(&mut self, low: f64, high: f64) -> DVec3 {
        DVec3::new(self.uniform(low, high), self.uniform(low, high), self.uniform(low, high))
    }

    /// Uniform over all rotations.
    pub fn rotation(&mut self) -> DQuat {
        loop {
            let q = DQuat::from_xyzw(
                self.uniform(-1.0, 1.0),
                self.uniform(-1.0, 1.0),
                self.uniform(-1.0, 1.0),
                self.uniform(-1.0, 1.0),
            );
            if q.length() > 0.1 && q.length() < 1.0 {
                return q.normalize();
            }
        }
    }
}

/// A sheet of vertices along x that follows two matrices and none to eight sections.
pub fn sheet(flesh: &Flesh) -> Skin {
    let mut skin = Skin { palette_len: 2, sections: SkinSection::all(flesh), ..Skin::default() };
    let count = skin.sections.len() as u32;
    skin.sections.iter_mut().skip(3).step_by(4).for_each(|section| section.reach = 0.03);
    for index in 0..150u32 {
        let at = [index as f32 / 150.0, 0.05, 0.01 * (index % 5) as f32];
        let section_count = index % 9;
        let [x, y] = if index % 3 == 0 { [0.6, 0.8] } else { [0.0, 1.0] };
        skin.vertices.push(SkinVertex {
            position: at,
            first_section: skin.weights.len() as u32,
            normal: [x, y, 0.0],
            section_count,
            rest_position: at,
            rest_normal: [x, y, 0.0],
            joints: [1 << 16, 0, 0, 0],
            weights: [0.75, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            tangent: if index % 7 == 6 { [0.0; 4] } else { [y, -x, 0.0, if index % 2 == 0 { 1.0 } else { -1.0 }] },
            rest_tangent: if index % 7 == 6 { [0.0; 3] } else { [y, -x, 0.0] },
            ..SkinVertex::default()
        });
        let pair = |k: u32| SectionWeight { section: (7 * index + 11 * k) % count, weight: 0.4 / (k + 1) as f32 };
        skin.weights.extend((0..section_count).map(pair));
    }
    skin
}
