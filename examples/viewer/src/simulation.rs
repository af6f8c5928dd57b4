//! The scene: one character in an hecs world beside rapier, or a heap of flesh, what is thrown at it, and what the panel
//! sets.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use glam::{DVec3, Vec3};
use hecs::{Entity, World};
use sinew::LaneWidth;
use sinew::character::{FleshOptions, ImportOptions};
use sinew::components::{Activations, BoneBodies, CharacterInstance, CharacterPose, MorphWeights, RootTransform};
use sinew::flesh::Chain;
use sinew::rigid::RigidWorld;
use sinew::{Backend, Character, FleshHandle, Health, Physics, Pose, ReadBack, StageTimes, StepError};

use crate::bone_solids::{BoneSolids, own_flesh};
use crate::draw::SkinSource;
use crate::heap::{Heap, SceneName};
use crate::shown::{BareFlesh, Pressed, Rod, Shown};
use crate::thrown::{Throw, Thrown};

/// After how long flesh sleeps that stands still (s).
const SLEEP_AFTER: f64 = 0.5;

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
    /// Passes a substep that bring flesh together that touches; without, flesh passes through flesh.
    pub passes: u32,
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
            passes: 6,
            stepper: (Backend::Cpu, LaneWidth::Eight),
        }
    }
}

/// How much flesh there is, by instances, and where it is pressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Flesh that is stepped.
    pub awake: usize,
    /// Flesh that sleeps.
    pub asleep: usize,
    /// Flesh, awake or asleep, that was thrown.
    pub thrown: usize,
    /// Points at which flesh is pressed; `None` where the backend does not list them.
    pub contacts: Option<usize>,
}

/// Whose flesh it is.
enum Subject {
    Character(Box<Actor>),
    Heap(Box<Heap>),
}

/// A character in the world.
struct Actor {
    character: Character,
    entity: Entity,
    spawned_with: FleshOptions,
    bones: BoneSolids,
}

/// A scene, stepped.
pub struct Simulation {
    /// What the next step goes by.
    pub settings: Settings,
    /// Where the root rests, before it sways.
    pub home: Pose,
    /// What draws, and so what a GPU steps on; the CPU steps until there is one.
    pub device: Option<(wgpu::Device, wgpu::Queue)>,
    subject: Subject,
    thrown: Thrown,
    world: World,
    rigid: RigidWorld,
    physics: Physics,
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
        let (mut world, mut rigid, mut physics) = (World::new(), RigidWorld::default(), physics());
        rigid.spawn_ground(0.0, 0.8)?;
        let entity = spawn(&character, &mut world, &mut rigid, &mut physics, Pose::IDENTITY)?;
        let spawned_with = settings.flesh;
        let actor = Actor { character, entity, spawned_with, bones: BoneSolids::default() };
        Ok(Self::of(Subject::Character(Box::new(actor)), settings, world, rigid, physics))
    }

    /// Drops so many of a heap's things on the ground, stepped by the CPU at first.
    pub fn open(name: SceneName, count: usize, mut settings: Settings) -> Result<Self, Box<dyn Error>> {
        let mut physics = physics();
        let heap = Heap::open(name, count, &mut physics)?;
        settings.stepper.0 = Backend::Cpu;
        Ok(Self::of(Subject::Heap(Box::new(heap)), settings, World::new(), RigidWorld::default(), physics))
    }

    fn of(subject: Subject, settings: Settings, world: World, rigid: RigidWorld, mut physics: Physics) -> Self {
        physics.config.sleep_after = SLEEP_AFTER;
        Self {
            settings,
            home: Pose::IDENTITY,
            device: None,
            subject,
            thrown: Thrown::default(),
            world,
            rigid,
            physics,
            stepping_on: Backend::Cpu,
            time: 0.0,
            step_time: 0.0,
        }
    }

    /// Steps everything by `dt` (s). Where what is set anew is refused, all stays as it was and the error says why.
    pub fn step(&mut self, dt: f64) -> Result<(), Box<dyn Error>> {
        self.fit_flesh()?;
        self.time += dt;
        self.pose()?;
        let Settings { substeps, passes, .. } = self.settings;
        (self.physics.config.substeps, self.physics.config.passes) = (substeps, passes);
        let stepped_on = self.stepping_on;
        self.switch_stepper()?;
        self.place_solids(dt)?;
        let start = Instant::now();
        let stepped = self.physics.step(&mut self.world, &mut self.rigid, dt);
        self.step_time = start.elapsed().as_secs_f64() * 1e3;
        self.thrown.stepped(&mut self.physics, stepped.is_err())?;
        if stepped.is_err() && stepped_on != self.stepping_on {
            self.settings.stepper.0 = stepped_on;
            self.switch_stepper()?;
        }
        Ok(stepped?)
    }

    /// Says where bones come to be in the next step.
    fn pose(&mut self) -> Result<(), Box<dyn Error>> {
        let Actor { character, entity, .. } = match &self.subject {
            Subject::Character(actor) => &**actor,
            Subject::Heap(heap) => return heap.drive(&mut self.physics, self.time),
        };
        let asset = character.asset();
        let mut pose = asset.skeleton.rest_pose();
        if let Some(animation) = self.settings.animation.and_then(|index| asset.animations.get(index)) {
            let time = animation.looped(self.time as f32);
            animation.sample(time, &mut pose);
            if let Ok(mut weights) = self.world.get::<&mut MorphWeights>(*entity) {
                weights.0 = asset.mesh.morphs.iter().map(|morph| morph.weight).collect();
                animation.sample_morphs(time, &asset.mesh.morphs, &mut weights.0);
            }
        }
        let swing = self.settings.sway * (std::f64::consts::TAU * self.settings.sway_rate * self.time).sin();
        let root = Pose::new(self.home.translation + self.home.rotation * DVec3::X * swing, self.home.rotation);
        let (posed, placed, activations) =
            self.world.query_one_mut::<(&mut CharacterPose, &mut RootTransform, &mut Activations)>(*entity)?;
        posed.0 = pose;
        placed.0 = root;
        activations.0.fill(self.settings.activation);
        Ok(())
    }

    /// Has the character's bones stop what is thrown.
    fn place_solids(&mut self, dt: f64) -> Result<(), Box<dyn Error>> {
        self.physics.solids.clear();
        let Subject::Character(actor) = &mut self.subject else { return Ok(()) };
        if self.thrown.len() == 0 {
            actor.bones.forget();
            return Ok(());
        }
        let mut query = self.world.query_one::<(&CharacterInstance, &BoneBodies)>(actor.entity);
        let (instance, bodies) = query.get()?;
        let bones = bodies.0.iter().map(|body| self.rigid.body_pose(*body)).collect::<Result<_, _>>()?;
        self.physics.solids = actor.bones.follow(&instance.body, bones, dt);
        Ok(())
    }

    /// Throws something from an eye (m) forward, a unit vector. Where the next step refuses it, it is taken back.
    pub fn throw(&mut self, throw: &Throw, ray: [DVec3; 2]) -> Result<(), Box<dyn Error>> {
        self.thrown.throw(&mut self.physics, throw, ray)
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
        let Subject::Character(actor) = &mut self.subject else { return Ok(()) };
        if self.settings.flesh == actor.spawned_with {
            return Ok(());
        }
        actor.spawned_with = self.settings.flesh;
        let character = actor.character.with_flesh(&self.settings.flesh)?;
        let entity = spawn(&character, &mut self.world, &mut self.rigid, &mut self.physics, self.home)?;
        sinew::world::despawn(&mut self.world, &mut self.physics, &mut self.rigid, actor.entity)?;
        (actor.character, actor.entity) = (character, entity);
        Ok(())
    }

    /// Puts the character elsewhere, at rest; nothing on the way is touched.
    pub fn teleport(&mut self, to: DVec3) -> Result<(), Box<dyn Error>> {
        let Subject::Character(actor) = &self.subject else { return Ok(()) };
        self.home.translation = to;
        sinew::world::teleport(&mut self.world, &mut self.physics, &mut self.rigid, actor.entity, self.home)?;
        Ok(())
    }

    /// Puts the character's flesh at rest on its bones and the animation at its start, and takes away what was thrown.
    pub fn reset(&mut self) -> Result<(), Box<dyn Error>> {
        self.time = 0.0;
        self.thrown.clear(&mut self.physics)?;
        let home = self.home.translation;
        self.teleport(home)
    }

    /// Where the character's skin after the last step lies; a heap has none.
    pub fn skin(&self) -> Result<Option<SkinSource<'_>>, Box<dyn Error>> {
        let Subject::Character(actor) = &self.subject else { return Ok(None) };
        let flesh = self.world.get::<&CharacterInstance>(actor.entity)?.flesh;
        Ok(Some(match self.physics.vertex_slice(flesh)? {
            Some(slice) => SkinSource::Gpu(slice),
            None => SkinSource::Host(self.physics.vertices(flesh)?),
        }))
    }

    /// Waits for a GPU's rods, which else arrive some steps after the skin; whether there were any to wait for.
    pub fn settle(&mut self) -> Result<bool, Box<dyn Error>> {
        let now = self.physics.step_count();
        let behind = self.physics.instances().any(|flesh| self.physics.state_step(flesh).is_ok_and(|step| step < now));
        if behind {
            self.physics.finish()?;
        }
        Ok(behind)
    }

    /// What there is to draw beside the skin after the last step, written over `shown`.
    pub fn show(&self, shown: &mut Shown) -> Result<(), Box<dyn Error>> {
        shown.root = self.home;
        shown.rods.clear();
        shown.pills.clear();
        if let Subject::Character(actor) = &self.subject {
            let mut query = self.world.query_one::<(&CharacterInstance, &RootTransform, &BoneBodies)>(actor.entity);
            let (instance, root, bodies) = query.get()?;
            shown.root = root.0;
            shown.rods = self.rods(instance.flesh)?;
            for pill in &instance.body.pills {
                let bone = self.rigid.body_pose(bodies.0[pill.bone])?;
                shown.pills.push((pill.ends.map(|end| bone.transform_point(end.as_dvec3())), pill.radii));
            }
        }
        shown.bare.clear();
        for (number, handle) in self.bare() {
            let asleep = self.physics.is_asleep(handle)?;
            shown.bare.push(BareFlesh { number, asleep, rods: self.rods(handle)? });
        }
        shown.contacts = self.contacts()?;
        Ok(())
    }

    /// The flesh without a skin, each with its number.
    fn bare(&self) -> impl Iterator<Item = (usize, FleshHandle)> {
        let heap = match &self.subject {
            Subject::Character(_) => &[][..],
            Subject::Heap(heap) => &heap.flesh[..],
        };
        let thrown = self.thrown.iter().map(|(number, handle)| (heap.len() + number, handle));
        heap.iter().copied().enumerate().chain(thrown)
    }

    fn rods(&self, handle: FleshHandle) -> Result<Vec<Rod>, StepError> {
        let chains = self.physics.flesh(handle)?.chains().iter().enumerate();
        let rod = |(chain, info): (usize, &Chain)| {
            let nodes = (0..info.node_count()).map(|node| self.physics.node(handle, chain, node));
            nodes.map(|node| node.map(|node| (node.place, node.radius))).collect()
        };
        chains.map(rod).collect()
    }

    /// Where ground, solids, bones and other flesh press flesh; a GPU's are not all listed, and so none.
    fn contacts(&self) -> Result<Vec<Pressed>, StepError> {
        let mut contacts = Vec::new();
        if self.lists_contacts() {
            for handle in self.physics.instances() {
                let pressed = |at: sinew::Contact| Pressed { point: at.point, normal: at.normal, force: at.force };
                contacts.extend(self.physics.contacts(handle)?.map(pressed));
            }
            let pressed = |at: sinew::FleshContact| Pressed { point: at.point, normal: at.normal, force: at.force };
            contacts.extend(self.physics.flesh_contacts().map(pressed));
        }
        Ok(contacts)
    }

    fn lists_contacts(&self) -> bool {
        self.stepping_on == Backend::Cpu
    }

    /// How much flesh there is.
    pub fn counts(&self) -> Counts {
        let all = self.physics.instances().count();
        let asleep = self.physics.instances().filter(|&flesh| self.physics.is_asleep(flesh) == Ok(true)).count();
        let contacts = if self.lists_contacts() { self.contacts().ok().map(|contacts| contacts.len()) } else { None };
        Counts { awake: all - asleep, asleep, thrown: self.thrown.len(), contacts }
    }

    /// The farthest that any of the character's nodes is from where its bones alone carry it (m).
    pub fn swing(&self) -> f64 {
        let Subject::Character(actor) = &self.subject else { return 0.0 };
        let Ok(instance) = self.world.get::<&CharacterInstance>(actor.entity) else { return 0.0 };
        let chains = instance.body.flesh.chains().iter().enumerate();
        let nodes = chains.flat_map(|(index, chain)| (0..chain.node_count()).map(move |node| (index, node)));
        nodes
            .filter_map(|(chain, node)| self.physics.swing(instance.flesh, chain, node).ok())
            .fold(0.0, |most, swing| most.max(swing.length()))
    }

    /// The character, unless it is a heap.
    pub fn character(&self) -> Option<&Character> {
        match &self.subject {
            Subject::Character(actor) => Some(&actor.character),
            Subject::Heap(_) => None,
        }
    }

    /// Which scene it is.
    pub fn scene(&self) -> SceneName {
        match &self.subject {
            Subject::Character(_) => SceneName::Character,
            Subject::Heap(heap) => heap.name,
        }
    }

    /// How often the character's flesh went bad and was put back to rest.
    pub fn health(&self) -> Health {
        let Subject::Character(actor) = &self.subject else { return Health::default() };
        self.world.get::<&Health>(actor.entity).map(|health| (*health).clone()).unwrap_or_default()
    }

    /// How long the last step took (ms), and its stages.
    pub fn times(&self) -> (f64, StageTimes) {
        (self.step_time, self.physics.stage_times())
    }

    /// The box around the skin as it was spawned, or around a heap, in the world (m).
    pub fn bounds(&self) -> [DVec3; 2] {
        let home = self.home.translation;
        let actor = match &self.subject {
            Subject::Character(actor) => actor,
            Subject::Heap(heap) => return heap.bounds(&self.physics).unwrap_or([home; 2]),
        };
        let Ok(skin) = sinew::world::vertices(&self.world, &self.physics, actor.entity) else { return [home; 2] };
        let low = skin.positions.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = skin.positions.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        if low.x > high.x {
            return [home; 2];
        }
        [low, high].map(|corner| self.home.transform_point(corner.as_dvec3()))
    }
}

/// Spawns a character whose bones leave its flesh alone.
fn spawn(
    character: &Character,
    world: &mut World,
    rigid: &mut RigidWorld,
    physics: &mut Physics,
    home: Pose,
) -> Result<Entity, Box<dyn Error>> {
    let entity = character.spawn(world, rigid, physics, home)?;
    let flesh = world.get::<&CharacterInstance>(entity)?.flesh;
    physics.set_collisions(flesh, own_flesh())?;
    Ok(entity)
}

/// Without flesh yet.
fn physics() -> Physics {
    let mut physics = Physics::default();
    physics.measure_stages = true;
    // A GPU's vertices are drawn where they lie.
    physics.read_back = ReadBack { state: true, ..ReadBack::NOTHING };
    physics
}
