//! A muscle as VIPER (2019) has it: K rods of their own, whose cross-sections are set to what shape matching (33)–(36)
//! makes of them after every substep; beside it the same muscle as one chain of cross-sections.

#![allow(dead_code, reason = "each user takes a part")]

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, Holds, NodeState, RestDisc, RestSection, RodNode, RodSpec, Similarity};
use sinew::step::StepConfig;
use sinew::{FleshHandle, Material, Physics, Pose, Section};

/// What goes wrong while setting up.
pub type Error = Box<dyn std::error::Error>;

/// Straight muscles along x from bone 0 to bone 1, side by side: one fibre in the axis, the others on a ring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Muscles {
    /// How many.
    pub count: usize,
    /// Fibres of each.
    pub fibres: usize,
    /// Cross-sections of each.
    pub sections: usize,
    /// Length (m).
    pub length: f64,
    /// Radius of a fibre (m).
    pub radius: f64,
    /// Radius of the ring (m).
    pub ring: f64,
    /// What they are made of.
    pub material: Material,
    /// Whether bone 1 holds the far ends.
    pub far_end_held: bool,
}

impl Muscles {
    /// Muscles of 8 fibres × 8 sections, 20 cm long and 4 cm thick, of 100 kPa.
    pub fn eight_by_eight(count: usize, far_end_held: bool) -> Self {
        let material = Material { youngs_modulus: 1.0e5, poissons_ratio: 0.45, ..Material::default() };
        Self { count, fibres: 8, sections: 8, length: 0.2, radius: 0.005, ring: 0.014, material, far_end_held }
    }

    /// Where fibre i lies in a section (m), across x.
    fn offset(&self, fibre: usize) -> DVec3 {
        if fibre == 0 {
            return DVec3::ZERO;
        }
        let angle = TAU * (fibre - 1) as f64 / (self.fibres - 1) as f64;
        DVec3::new(0.0, angle.cos(), angle.sin()) * self.ring
    }

    /// The section's properties from its fibres; u is y and v is z.
    fn section(&self) -> Section {
        let area = PI * self.radius * self.radius;
        let own = area * self.radius * self.radius / 4.0;
        let sum = |of: fn(DVec3) -> f64| (0..self.fibres).map(|i| own + area * of(self.offset(i)).powi(2)).sum::<f64>();
        let (about_u, about_v) = (sum(|p| p.z), sum(|p| p.y));
        Section {
            area: area * self.fibres as f64,
            second_moment_u: about_u,
            second_moment_v: about_v,
            product_moment: 0.0,
            torsion_constant: about_u + about_v,
        }
    }

    fn rod(&self, name: String, from: DVec3, section: Section) -> RodSpec {
        let place = |j: usize| from + DVec3::X * (self.length * j as f64 / (self.sections - 1) as f64);
        let nodes = (0..self.sections).map(|j| RodNode { place: place(j), section }).collect();
        let rod = RodSpec { name, nodes, material: self.material, u_axis: Some(DVec3::Y), ..RodSpec::default() };
        let rod = rod.attach(0, 0, Holds::CLAMP);
        if self.far_end_held { rod.attach(self.sections - 1, 1, Holds::CLAMP) } else { rod }
    }

    fn root(&self, muscle: usize) -> DVec3 {
        DVec3::Z * (0.2 * muscle as f64)
    }

    /// The bones at rest.
    pub fn bones(&self) -> [Pose; 2] {
        [Pose::IDENTITY, Pose::from_translation(DVec3::X * self.length)]
    }

    /// Each muscle as one chain.
    pub fn as_chains(&self, config: StepConfig) -> Result<Stepped, Error> {
        let section = self.section();
        let rods: Vec<RodSpec> =
            (0..self.count).map(|m| self.rod(format!("muscle {m}"), self.root(m), section)).collect();
        Stepped::new(&rods, &self.bones(), config)
    }

    /// Each muscle as rods of their own.
    pub fn as_rods(&self, config: StepConfig) -> Result<Projected, Error> {
        let rods: Vec<RodSpec> = (0..self.count * self.fibres)
            .map(|k| {
                let (muscle, fibre) = (k / self.fibres, k % self.fibres);
                let from = self.root(muscle) + self.offset(fibre);
                self.rod(format!("muscle {muscle}, fibre {fibre}"), from, Section::disc(self.radius))
            })
            .collect();
        // One substep a call, so that the projection comes after every one.
        let stepped = Stepped::new(&rods, &self.bones(), StepConfig { substeps: 1, ..config })?;
        let chains = stepped.flesh.chains();
        let section = |muscle: usize, j: usize| {
            let disc = |i: usize| RestDisc { pose: chains[muscle * self.fibres + i].rest[j], radius: self.radius };
            RestSection::new((0..self.fibres).map(disc).collect())
        };
        let sections = (0..self.count * self.sections)
            .map(|k| section(k / self.sections, k % self.sections))
            .collect::<Result<Vec<_>, _>>()?;
        let rotations = vec![DQuat::IDENTITY; sections.len()];
        Ok(Projected { stepped, sections, rotations, muscles: *self, substeps: config.substeps, discs: Vec::new() })
    }
}

/// Flesh in a scene of its own.
pub struct Stepped {
    pub physics: Physics,
    pub flesh: Arc<Flesh>,
    pub handle: FleshHandle,
}

impl Stepped {
    fn new(rods: &[RodSpec], bones: &[Pose], config: StepConfig) -> Result<Self, Error> {
        let flesh = Arc::new(Flesh::build(rods, bones)?);
        let mut physics = Physics::with_config(config);
        let handle = physics.insert(flesh.clone(), bones, Pose::IDENTITY)?;
        Ok(Self { physics, flesh, handle })
    }

    pub fn set_bones(&mut self, bones: &[Pose]) -> Result<(), Error> {
        Ok(self.physics.set_bones(self.handle, bones, Pose::IDENTITY)?)
    }

    pub fn node(&self, rod: usize, index: usize) -> Result<NodeState, Error> {
        Ok(self.physics.node(self.handle, rod, index)?)
    }

    pub fn step(&mut self, dt: f64) -> Result<(), Error> {
        Ok(self.physics.step_flesh(dt)?)
    }
}

/// Rods whose cross-sections are projected after every substep.
pub struct Projected {
    pub stepped: Stepped,
    sections: Vec<RestSection>,
    /// Each section's last rotation, from which the next match starts.
    rotations: Vec<DQuat>,
    muscles: Muscles,
    substeps: u32,
    discs: Vec<Similarity>,
}

impl Projected {
    /// A frame.
    pub fn step(&mut self, dt: f64) -> Result<(), Error> {
        let substep = dt / f64::from(self.substeps);
        for _ in 0..self.substeps {
            self.stepped.step(substep)?;
            self.project(substep)?;
        }
        Ok(())
    }

    /// Sets every disc to T* T̄_i, and its velocity along, but for what bones hold.
    fn project(&mut self, substep: f64) -> Result<(), Error> {
        let Muscles { fibres, sections, far_end_held, .. } = self.muscles;
        let Stepped { physics, flesh, handle } = &mut self.stepped;
        let state = physics.state_mut(*handle)?;
        for (index, section) in self.sections.iter().enumerate() {
            let (muscle, j) = (index / sections, index % sections);
            if j == 0 || (far_end_held && j + 1 == sections) {
                continue;
            }
            self.discs.clear();
            for i in 0..fibres {
                let node = state.node(flesh, muscle * fibres + i, j);
                let rotation = node.frame.as_dquat();
                self.discs.push(Similarity { translation: node.place, rotation, scale: f64::from(node.scale) });
            }
            let matched = section.matched(&self.discs, self.rotations[index])?;
            self.rotations[index] = matched.rotation;
            for (i, (to, from)) in section.carried(matched).zip(&self.discs).enumerate() {
                let mut node = state.node(flesh, muscle * fibres + i, j);
                let turn = (to.rotation * from.rotation.conjugate()).to_scaled_axis();
                let turn = if turn.length() > PI { turn * (1.0 - TAU / turn.length()) } else { turn };
                node.velocity += ((to.translation - from.translation) / substep).as_vec3();
                node.spin += (turn / substep).as_vec3();
                node.place = to.translation;
                node.scale = to.scale as f32;
                node.frame = to.rotation.normalize().as_quat();
                state.set_node(flesh, muscle * fibres + i, j, &node);
            }
        }
        Ok(())
    }

    /// Centroid of a muscle's section (m), and its mean scale.
    pub fn section(&self, muscle: usize, j: usize) -> Result<(DVec3, f64), Error> {
        let fibres = self.muscles.fibres;
        let (mut place, mut scale) = (DVec3::ZERO, 0.0);
        for i in 0..fibres {
            let node = self.stepped.node(muscle * fibres + i, j)?;
            place += node.place / fibres as f64;
            scale += f64::from(node.scale) / fibres as f64;
        }
        Ok((place, scale))
    }
}

/// How far the first muscle's sections are apart, over its length, and how much their scales differ.
pub fn apart(chain: &Stepped, rods: &Projected) -> Result<(f64, f64), Error> {
    let (mut places, mut scales) = (0.0_f64, 0.0_f64);
    for j in 0..rods.muscles.sections {
        let node = chain.node(0, j)?;
        let (place, scale) = rods.section(0, j)?;
        places = places.max(node.place.distance(place) / rods.muscles.length);
        scales = scales.max((f64::from(node.scale) - scale).abs());
    }
    Ok((places, scales))
}
