//! A network in the place of muscles: near characters have their rods, far ones what these taught the arm's network.
//!
//! `cargo run --release --example network`

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use sinew::components::{CharacterInstance, CharacterPose};
use sinew::hecs::{Entity, World};
use sinew::neural::CorrectiveNetwork;
use sinew::{Character, Physics, Pose, SkinMotion};

const DT: f64 = 1.0 / 60.0;
/// How many characters there are, and for how many frames they are stepped.
const CROWD: usize = 20;
const FRAMES: u32 = 180;

/// Steps a crowd whose skin is moved so; its last skin, and what a character took of a frame (ms).
fn stepped(
    arm: &Character,
    network: &Arc<CorrectiveNetwork>,
    motion: SkinMotion,
) -> Result<(Vec<sinew::glam::Vec3>, f64), Box<dyn Error>> {
    let (mut world, mut physics) = (World::new(), Physics::default());
    let mut crowd: Vec<Entity> = Vec::new();
    for _ in 0..CROWD {
        let entity = arm.spawn_without_bodies(&mut world, &mut physics, Pose::IDENTITY)?;
        sinew::world::set_network(&world, &mut physics, entity, network.clone())?;
        sinew::world::activate(&mut world, entity, "biceps_long", 0.6)?;
        let flesh = world.get::<&CharacterInstance>(entity)?.flesh;
        // At once; `seconds` above 0 blends from one to the other, as when a character walks away.
        physics.set_skin_motion(flesh, motion, 0.0)?;
        crowd.push(entity);
    }
    let curl = arm.asset().animation("curl").ok_or("arm.glb has no animation `curl`")?;
    let start = Instant::now();
    for frame in 1..=FRAMES {
        for &entity in &crowd {
            curl.sample(curl.looped(frame as f32 * DT as f32), &mut world.get::<&mut CharacterPose>(entity)?.0);
        }
        physics.step_world(&mut world, DT)?;
    }
    let took = start.elapsed().as_secs_f64() * 1.0e3 / (f64::from(FRAMES) * CROWD as f64);
    Ok((sinew::world::vertices(&world, &physics, crowd[0])?.positions.clone(), took))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arm = Character::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb"))?;
    let network = CorrectiveNetwork::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.safetensors"))?;
    let network = Arc::new(network);
    let (simulated, took) = stepped(&arm, &network, SkinMotion::Rods)?;
    println!("rods: {took:.3} ms a character and frame");
    for (name, motion) in [("network", SkinMotion::Network), ("skinning alone", SkinMotion::None)] {
        let (skin, took) = stepped(&arm, &network, motion)?;
        let squares: f32 = skin.iter().zip(&simulated).map(|(a, b)| a.distance_squared(*b)).sum();
        let off = (squares / skin.len() as f32).sqrt();
        println!("{name}: {took:.3} ms a character and frame, {:.2} mm (RMS) off the simulated skin", 1.0e3 * off);
    }
    Ok(())
}
