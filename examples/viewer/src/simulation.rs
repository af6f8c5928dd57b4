//! The scene: one character in an hecs world beside rapier, and what its panel sets.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use glam::{DVec3, Vec3};
use hecs::{Entity, World};
use sinew::LaneWidth;
use sinew::character::{FleshOptions, ImportOptions};
use sinew::components::{Activations, BoneBodies, CharacterInstance, CharacterPose, MorphWeights, RootTransform};
use sinew::rigid::RigidWorld;
use sinew::{Backend, Character, Health, Physics, Pose, ReadBack, StageTimes};

use crate::draw::SkinSource;
use crate::shown::Shown;

/// What the panel sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How flesh is fitted; a change fits and spawns anew.
    pub flesh: FleshOptions,
    /// Activation of all limbs, 0 to 1.
    pub activation: f32,
    /// Which of the character's animations plays, if any.
    pub animation: Option<usize>,
    /// The root's swing to either side (m).
    pub sway: f64,
    /// Swings a second (Hz).
    pub sway_rate: f64,
    /// Substeps a step.
    pub substeps: u32,
    /// What steps, [`Backend::Cpu`] or [`Backend::Gpu`]; a change takes all state along.
    pub stepper: (Backend, LaneWidth),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            flesh: FleshOptions::default(),
            activation: 0.0,
            animation: Some(0),
            sway: 0.0,
            sway_rate: 1.0,
            substeps: 4,
            stepper: (Backend::Cpu, LaneWidth::Eight),
        }
    }
}

/// One character, stepped.
pub struct Simulation {
    /// What the next step goes by.
    pub settings: Settings,
    /// Where the root rests, before it sways.
    pub home: Pose,
    /// What draws, and so what a GPU steps on; the CPU steps until there is one.
    pub device: Option<(wgpu::Device, wgpu::Queue)>,
    character: Character,
    world: World,
    rigid: RigidWorld,
    physics: Physics,
    entity: Entity,
    spawned_with: FleshOptions,
    stepping_on: Backend,
    /// Time that the animation has played (s).
    time: f64,
    /// How long the last step took (ms).
    step_time: f64,
}

impl Simulation {
    /// Loads a character and puts it on the ground.
    pub fn load(path: &Path, import: &ImportOptions, settings: Settings) -> Result<Self, Box<dyn Error>> {
        let character = Character::load_with(path, import, &settings.flesh)?;
        let mut world = World::new();
        let mut rigid = RigidWorld::default();
        rigid.spawn_ground(0.0, 0.8)?;
        let mut physics = Physics::default();
        physics.measure_stages = true;
        // A GPU's vertices are drawn where they lie.
        physics.read_back = ReadBack { state: true, ..ReadBack::NOTHING };
        let home = Pose::IDENTITY;
        let entity = character.spawn(&mut world, &mut rigid, &mut physics, home)?;
        let spawned_with = settings.flesh;
        Ok(Self {
            settings,
            home,
            device: None,
            character,
            world,
            rigid,
            physics,
            entity,
            spawned_with,
            stepping_on: Backend::Cpu,
            time: 0.0,
            step_time: 0.0,
        })
    }

    /// Steps everything by `dt` (s).
    pub fn step(&mut self, dt: f64) -> Result<(), Box<dyn Error>> {
        self.fit_flesh()?;
        self.time += dt;
        let asset = self.character.asset();
        let mut pose = asset.skeleton.rest_pose();
        if let Some(animation) = self.settings.animation.and_then(|index| asset.animations.get(index)) {
            let time = animation.looped(self.time as f32);
            animation.sample(time, &mut pose);
            if let Ok(mut weights) = self.world.get::<&mut MorphWeights>(self.entity) {
                weights.0 = asset.mesh.morphs.iter().map(|morph| morph.weight).collect();
                animation.sample_morphs(time, &asset.mesh.morphs, &mut weights.0);
            }
        }
        let swing = self.settings.sway * (std::f64::consts::TAU * self.settings.sway_rate * self.time).sin();
        let root = Pose::new(self.home.translation + self.home.rotation * DVec3::X * swing, self.home.rotation);
        let (posed, placed, activations) =
            self.world.query_one_mut::<(&mut CharacterPose, &mut RootTransform, &mut Activations)>(self.entity)?;
        posed.0 = pose;
        placed.0 = root;
        activations.0.fill(self.settings.activation);
        self.physics.config.substeps = self.settings.substeps;
        self.switch_stepper()?;
        let start = Instant::now();
        self.physics.step(&mut self.world, &mut self.rigid, dt)?;
        self.step_time = start.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    /// Steps by what the settings say. Where that is not to be had, goes on by what there was and says why.
    fn switch_stepper(&mut self) -> Result<(), Box<dyn Error>> {
        let (backend, lanes) = self.settings.stepper;
        self.physics.lane_width = lanes;
        if backend == self.stepping_on {
            return Ok(());
        }
        let switched = match (&self.device, backend) {
            (Some((device, queue)), Backend::Gpu) => self.physics.switch_to_device(device.clone(), queue.clone()),
            (None, Backend::Gpu) => return Ok(()),
            _ => self.physics.switch_backend(backend),
        };
        if let Err(error) = switched {
            self.settings.stepper.0 = self.stepping_on;
            return Err(error.into());
        }
        self.stepping_on = backend;
        Ok(())
    }

    /// Spawns the character anew where the flesh's options have changed.
    fn fit_flesh(&mut self) -> Result<(), Box<dyn Error>> {
        if self.settings.flesh == self.spawned_with {
            return Ok(());
        }
        self.spawned_with = self.settings.flesh;
        let character = self.character.with_flesh(&self.settings.flesh)?;
        let entity = character.spawn(&mut self.world, &mut self.rigid, &mut self.physics, self.home)?;
        sinew::world::despawn(&mut self.world, &mut self.physics, &mut self.rigid, self.entity)?;
        (self.character, self.entity) = (character, entity);
        Ok(())
    }

    /// Puts the character elsewhere, at rest; nothing on the way is touched.
    pub fn teleport(&mut self, to: DVec3) -> Result<(), Box<dyn Error>> {
        self.home.translation = to;
        sinew::world::teleport(&mut self.world, &mut self.physics, &mut self.rigid, self.entity, self.home)?;
        Ok(())
    }

    /// Puts the flesh at rest on its bones and the animation at its start.
    pub fn reset(&mut self) -> Result<(), Box<dyn Error>> {
        self.time = 0.0;
        let home = self.home.translation;
        self.teleport(home)
    }

    /// Where the skin after the last step lies.
    pub fn skin(&self) -> Result<SkinSource<'_>, Box<dyn Error>> {
        let flesh = self.world.get::<&CharacterInstance>(self.entity)?.flesh;
        Ok(match self.physics.vertex_slice(flesh)? {
            Some(slice) => SkinSource::Gpu(slice),
            None => SkinSource::Host(self.physics.vertices(flesh)?),
        })
    }

    /// Waits for a GPU's rods, which else arrive some steps after the skin; whether there were any to wait for.
    pub fn settle(&mut self) -> Result<bool, Box<dyn Error>> {
        let flesh = self.world.get::<&CharacterInstance>(self.entity)?.flesh;
        let behind = self.physics.state_step(flesh)? < self.physics.step_count();
        if behind {
            self.physics.finish()?;
        }
        Ok(behind)
    }

    /// What there is to draw beside the skin after the last step, written over `shown`.
    pub fn show(&self, shown: &mut Shown) -> Result<(), Box<dyn Error>> {
        let mut query = self.world.query_one::<(&CharacterInstance, &RootTransform, &BoneBodies)>(self.entity);
        let (instance, root, bodies) = query.get()?;
        shown.root = root.0;
        shown.rods.clear();
        for (index, chain) in instance.body.flesh.chains().iter().enumerate() {
            let nodes = (0..chain.node_count()).map(|node| self.physics.node(instance.flesh, index, node));
            shown.rods.push(nodes.map(|node| node.map(|node| (node.place, node.radius))).collect::<Result<_, _>>()?);
        }
        shown.pills.clear();
        for pill in &instance.body.pills {
            let bone = self.rigid.body_pose(bodies.0[pill.bone])?;
            shown.pills.push((pill.ends.map(|end| bone.transform_point(end.as_dvec3())), pill.radii));
        }
        Ok(())
    }

    /// The farthest that any rod's node is from where its bones alone carry it (m).
    pub fn swing(&self) -> f64 {
        let Ok(instance) = self.world.get::<&CharacterInstance>(self.entity) else { return 0.0 };
        let chains = instance.body.flesh.chains().iter().enumerate();
        let nodes = chains.flat_map(|(index, chain)| (0..chain.node_count()).map(move |node| (index, node)));
        nodes
            .filter_map(|(chain, node)| self.physics.swing(instance.flesh, chain, node).ok())
            .fold(0.0, |most, swing| most.max(swing.length()))
    }

    /// The character.
    pub fn character(&self) -> &Character {
        &self.character
    }

    /// How often the flesh went bad and was put back to rest.
    pub fn health(&self) -> Health {
        self.world.get::<&Health>(self.entity).map(|health| (*health).clone()).unwrap_or_default()
    }

    /// How long the last step took (ms), and its stages.
    pub fn times(&self) -> (f64, StageTimes) {
        (self.step_time, self.physics.stage_times())
    }

    /// The box around the skin as it was spawned, in the world (m).
    pub fn bounds(&self) -> [DVec3; 2] {
        let home = self.home.translation;
        let Ok(skin) = sinew::world::vertices(&self.world, &self.physics, self.entity) else { return [home; 2] };
        let low = skin.positions.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = skin.positions.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        if low.x > high.x {
            return [home; 2];
        }
        [low, high].map(|corner| self.home.transform_point(corner.as_dvec3()))
    }
}
