//! Characters in a world: spawning to despawning, teleports, saved states, threads, bad luck and bad requests.

#![cfg(all(feature = "rapier", feature = "gltf"))]

mod bodies;
#[path = "../common/mod.rs"]
mod common;
mod crowded;
mod errors;
mod events;
mod faults;
#[cfg(feature = "gpu")]
mod gpu;
mod lifecycle;
mod same_bits;
mod sizes;
mod snapshots;
mod steps;

use glam::{DVec3, Vec3};
use hecs::{Entity, World};
use sinew::character::FleshOptions;
use sinew::components::{CharacterInstance, CharacterPose, RootTransform};
use sinew::flesh::NodeState;
use sinew::rigid::RigidWorld;
use sinew::step::StepConfig;
use sinew::{Character, FleshHandle, Health, Physics, Pose, SkinnedVertices};

/// The default frame (s).
const FRAME: f64 = 1.0 / 60.0;

fn asset_file(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name)
}

fn character(name: &str) -> Character {
    let character = Character::load(asset_file(name)).expect("the project's own asset loads");
    // Many scenes here are weightless, where strains that balance gravity would lift the flesh.
    character.with_flesh(&FleshOptions { balance: false, ..*character.flesh_options() }).expect("fits")
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, y, z))
}

/// A world with all that steps in it.
#[derive(Default)]
struct Scene {
    world: World,
    rigid: RigidWorld,
    physics: Physics,
}

impl Scene {
    fn weightless() -> Self {
        let config = StepConfig { gravity: DVec3::ZERO, ..StepConfig::default() };
        let rigid = RigidWorld { gravity: Vec3::ZERO, ..RigidWorld::default() };
        Self { physics: Physics::with_config(config), rigid, ..Self::default() }
    }

    fn spawn(&mut self, character: &Character, root: Pose) -> Entity {
        character.spawn(&mut self.world, &mut self.rigid, &mut self.physics, root).expect("spawns")
    }

    fn despawn(&mut self, entity: Entity) {
        sinew::world::despawn(&mut self.world, &mut self.physics, &mut self.rigid, entity).expect("despawns");
    }

    fn step(&mut self) {
        self.physics.step(&mut self.world, &mut self.rigid, FRAME).expect("steps");
    }

    /// Steps once with a character's first animation at a time (s).
    fn animate(&mut self, entity: Entity, time: f64) {
        let (instance, pose) =
            self.world.query_one_mut::<(&CharacterInstance, &mut CharacterPose)>(entity).expect("is there");
        let animation = &instance.character.asset().animations[0];
        animation.sample(animation.looped(time as f32), &mut pose.0);
    }

    /// Sways the root sideways.
    fn sway(&mut self, entity: Entity, home: Pose, time: f64) {
        let root = self.world.query_one_mut::<&mut RootTransform>(entity).expect("is there");
        root.0 = Pose::new(home.translation + DVec3::X * (0.2 * (5.0 * time).sin()), home.rotation);
    }

    fn flesh(&self, entity: Entity) -> FleshHandle {
        self.world.get::<&CharacterInstance>(entity).expect("is there").flesh
    }

    fn skin(&self, entity: Entity) -> SkinnedVertices {
        sinew::world::vertices(&self.world, &self.physics, entity).expect("is there").clone()
    }

    fn health(&self, entity: Entity) -> Health {
        (*self.world.get::<&Health>(entity).expect("is there")).clone()
    }

    fn nodes(&self, entity: Entity) -> Vec<NodeState> {
        let handle = self.flesh(entity);
        let flesh = self.physics.flesh(handle).expect("is there");
        let state = self.physics.state(handle).expect("is there");
        let all = flesh.chains().iter().enumerate().flat_map(|(c, chain)| (0..chain.node_count()).map(move |j| (c, j)));
        all.map(|(chain, node)| state.node(flesh, chain, node)).collect()
    }

    /// A chain by its name, and the first bone that it hangs on.
    fn chain_and_bone(&self, entity: Entity, name: &str) -> (usize, usize) {
        let flesh = self.physics.flesh(self.flesh(entity)).expect("is there");
        let chain = flesh.chain_named(name).unwrap_or_else(|| panic!("there is no chain {name}"));
        (chain, flesh.chains()[chain].bones[0])
    }

    /// The largest distance of a chain's node from where its bones carry it (m).
    fn chain_swing(&self, entity: Entity, chain: usize) -> f64 {
        let handle = self.flesh(entity);
        let count = self.physics.flesh(handle).expect("is there").chains()[chain].node_count();
        let swing = |node| self.physics.swing(handle, chain, node).expect("is there").length();
        (0..count).map(swing).fold(0.0, f64::max)
    }

    /// The largest distance of any node from where its bones carry it (m).
    fn swing(&self, entity: Entity) -> f64 {
        let chains = self.physics.flesh(self.flesh(entity)).expect("is there").chains().len();
        (0..chains).map(|chain| self.chain_swing(entity, chain)).fold(0.0, f64::max)
    }

    /// The largest swing (m) and speed (m/s) of fitted flesh, which rests where its bones carry it in any pose;
    /// authored muscles over a bent joint do not.
    fn fitted_motion(&self, entity: Entity) -> (f64, f32) {
        let handle = self.flesh(entity);
        let count = self.world.get::<&CharacterInstance>(entity).expect("is there").body.muscles.len();
        let chains = &self.physics.flesh(handle).expect("is there").chains()[..count];
        let speed = |chain, node| self.physics.node(handle, chain, node).expect("is there").velocity.length();
        let all = chains.iter().enumerate().flat_map(|(c, chain)| (0..chain.node_count()).map(move |j| (c, j)));
        let fastest = all.map(|(chain, node)| speed(chain, node)).fold(0.0, f32::max);
        ((0..count).map(|chain| self.chain_swing(entity, chain)).fold(0.0, f64::max), fastest)
    }

    /// The fastest node (m/s).
    fn speed(&self, entity: Entity) -> f32 {
        self.nodes(entity).iter().map(|node| node.velocity.length()).fold(0.0, f32::max)
    }
}
