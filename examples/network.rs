//! A network in the place of muscles: near characters have their rods, far ones what these taught the arm's network.
//!
//! `cargo run --release --example network`
//!
//! A row of arms curls: all by their rods, all by their network, all skinned alone; then a viewer walks along the row, and the nearest
//! have rods.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use sinew::character::Animation;
use sinew::components::{CharacterInstance, CharacterPose};
use sinew::glam::{DVec3, Vec3};
use sinew::hecs::{Entity, World};
use sinew::neural::CorrectiveNetwork;
use sinew::{Character, FleshBudget, Physics, Pose, SkinMotion};

const DT: f64 = 1.0 / 60.0;
/// How many characters there are, how far apart (m), and for how many frames they are stepped.
const CROWD: u32 = 20;
const APART: f64 = 1.0;
const FRAMES: u32 = 180;

/// A row of characters with a network each.
struct Row {
    world: World,
    physics: Physics,
    crowd: Vec<Entity>,
    curl: Animation,
}

impl Row {
    fn new(arm: &Character, network: &Arc<CorrectiveNetwork>) -> Result<Self, Box<dyn Error>> {
        let (mut world, mut physics, mut crowd) = (World::new(), Physics::default(), Vec::new());
        for place in 0..CROWD {
            let place = Pose::from_translation(DVec3::Z * APART * f64::from(place));
            let entity = arm.spawn_without_bodies(&mut world, &mut physics, place)?;
            sinew::world::set_network(&world, &mut physics, entity, network.clone())?;
            sinew::world::activate(&mut world, entity, "biceps_long", 0.6)?;
            crowd.push(entity);
        }
        let curl = arm.asset().animation("curl").ok_or("arm.glb has no animation `curl`")?.clone();
        Ok(Self { world, physics, crowd, curl })
    }

    fn step(&mut self, frame: u32) -> Result<(), Box<dyn Error>> {
        for &entity in &self.crowd {
            let pose = &mut self.world.get::<&mut CharacterPose>(entity)?.0;
            self.curl.sample(self.curl.looped(frame as f32 * DT as f32), pose);
        }
        Ok(self.physics.step_world(&mut self.world, DT)?)
    }

    /// How many characters are moved by their rods, those that pass to or from them too.
    fn by_rods(&self) -> Result<usize, Box<dyn Error>> {
        let mut count = 0;
        for &entity in &self.crowd {
            let flesh = self.world.get::<&CharacterInstance>(entity)?.flesh;
            count += usize::from(self.physics.skin_motion(flesh)?.1[0] > 0.0);
        }
        Ok(count)
    }
}

/// Time of a frame since a start, by character (ms).
fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1.0e3 / f64::from(FRAMES * CROWD)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arm = Character::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb"))?;
    let network = CorrectiveNetwork::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.safetensors"))?;
    let network = Arc::new(network);
    let mut simulated: Vec<Vec3> = Vec::new();
    for (name, motion) in
        [("rods", SkinMotion::Rods), ("network", SkinMotion::Network), ("skinning alone", SkinMotion::None)]
    {
        let mut row = Row::new(&arm, &network)?;
        for &entity in &row.crowd {
            let flesh = row.world.get::<&CharacterInstance>(entity)?.flesh;
            row.physics.set_skin_motion(flesh, motion, 0.0)?;
        }
        let start = Instant::now();
        (1..=FRAMES).try_for_each(|frame| row.step(frame))?;
        print!("{name}: {:.3} ms a character and frame", milliseconds(start));
        let skin = &sinew::world::vertices(&row.world, &row.physics, row.crowd[0])?.positions;
        if simulated.is_empty() {
            simulated.clone_from(skin);
        }
        let squares: f32 = skin.iter().zip(&simulated).map(|(a, b)| a.distance_squared(*b)).sum();
        println!(", {:.2} mm (RMS) off the simulated skin", 1.0e3 * (squares / skin.len() as f32).sqrt());
    }

    // Who walks by has the nearest four simulated; skin passes from one to the other in a quarter of a second.
    let budget = FleshBudget { distance: 5.0, count: 4, seconds: 0.25, ..FleshBudget::default() };
    let mut row = Row::new(&arm, &network)?;
    let (start, mut most) = (Instant::now(), 0);
    for frame in 1..=FRAMES {
        let along = f64::from(frame) / f64::from(FRAMES) * APART * f64::from(CROWD);
        sinew::world::keep_to_budget(&mut row.world, &mut row.physics, &budget, DVec3::Z * along)?;
        row.step(frame)?;
        // At first all pass from rods.
        if frame > FRAMES / 10 {
            most = most.max(row.by_rods()?);
        }
    }
    println!("a viewer walks by: {:.3} ms a character and frame, at most {most} by rods at once", milliseconds(start));
    Ok(())
}
