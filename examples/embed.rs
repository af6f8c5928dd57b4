//! The smallest game loop: a character beside rapier in an hecs world, without a window.
//!
//! `cargo run --release --example embed`

use std::error::Error;

use sinew::components::{CharacterInstance, CharacterPose, RootTransform};
use sinew::hecs::World;
use sinew::rigid::RigidWorld;
use sinew::{Character, FixedStep, Physics, Pose};

/// What the game's display takes for a frame (s), and how long the game lasts (frames).
const FRAME_TIME: f64 = 1.0 / 144.0;
const FRAMES: u32 = 5 * 144;

fn main() -> Result<(), Box<dyn Error>> {
    let mut world = World::new();
    let mut rigid = RigidWorld::default();
    let mut physics = Physics::default();
    rigid.spawn_ground(0.0, 0.8)?;

    let arm = Character::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb"))?;
    let curl = arm.asset().animation("curl").ok_or("arm.glb has no animation `curl`")?;
    let entity = arm.spawn(&mut world, &mut rigid, &mut physics, Pose::IDENTITY)?;

    let mut steps = FixedStep::new(1.0 / 60.0);
    let (mut time, mut swing, mut radius) = (0.0, 0.0_f64, 0.0);
    for frame in 1..=FRAMES {
        for _ in 0..steps.advance(FRAME_TIME) {
            // The game animates the skeleton and moves the root; flesh follows.
            time += steps.dt;
            let (pose, root) = world.query_one_mut::<(&mut CharacterPose, &mut RootTransform)>(entity)?;
            curl.sample(curl.looped(time as f32), &mut pose.0);
            root.0.translation.x = 0.1 * (4.0 * time).sin();
            physics.step(&mut world, &mut rigid, steps.dt)?;

            // How far the forearm's flesh is from where its bones alone carry it.
            let instance = world.get::<&CharacterInstance>(entity)?;
            let chain = instance.body.flesh.chain_named("forearm to hand").ok_or("no flesh on the forearm")?;
            let middle = instance.body.flesh.chains()[chain].node_count() / 2;
            swing = swing.max(physics.swing(instance.flesh, chain, middle)?.length());
            radius = physics.node(instance.flesh, chain, middle)?.radius;
        }
        // The game draws: vertices are as the root sees them.
        let skin = sinew::world::vertices(&world, &physics, entity)?;
        if frame % 144 == 0 {
            let reach = skin.positions.iter().fold(f32::MIN, |reach, place| reach.max(place.x));
            print!("{time:.2} s: {} vertices reach {reach:.2} m to the side; ", skin.positions.len());
            println!("the flesh swung by {:.1} mm and is {:.1} mm thick", 1e3 * swing, 2e3 * radius);
            swing = 0.0;
        }
    }
    Ok(())
}
