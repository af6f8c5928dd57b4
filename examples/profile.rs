//! A crowd stepped for the puffin profiler: stages appear as scopes under the names of the stage table.
//!
//! `cargo run --release --example profile [FILE.glb [CHARACTERS [SECONDS]]]`, then, in another terminal,
//! `puffin_viewer --url 127.0.0.1:8585` (`cargo install puffin_viewer`).

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hecs::{Entity, World};
use sinew::components::{CharacterPose, RootTransform};
use sinew::rigid::RigidWorld;
use sinew::step::Stage;
use sinew::{Character, Physics, Pose, StageTimes};

const DT: f64 = 1.0 / 60.0;
/// Between neighbours of the crowd (m).
const SPACING: f64 = 2.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let own = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb"));
    let file = arguments.next().map_or(own, PathBuf::from);
    let mut number = |default: u32| match arguments.next() {
        Some(text) => text.to_string_lossy().parse(),
        None => Ok(default),
    };
    let (count, seconds) = (number(100)?, number(u32::MAX)?);

    let server = puffin_http::Server::new(&format!("127.0.0.1:{}", puffin_http::DEFAULT_PORT))?;
    puffin::set_scopes_on(true);

    let mut world = World::new();
    let mut rigid = RigidWorld::default();
    let mut physics = Physics::default();
    physics.measure_stages = true;
    rigid.spawn_ground(0.0, 0.8)?;
    let character = Character::load(&file)?;
    let side = f64::from(count).sqrt().ceil() as u32;
    let mut crowd = Vec::new();
    for index in 0..count {
        let place = glam::dvec3(f64::from(index % side), 0.0, f64::from(index / side)) * SPACING;
        crowd.push(character.spawn(&mut world, &mut rigid, &mut physics, Pose::from_translation(place))?);
    }
    let rods = character.body().flesh.chains().len() * crowd.len();
    println!("{count} characters, {rods} rods; connect puffin_viewer to 127.0.0.1:{}", puffin_http::DEFAULT_PORT);

    let start = Instant::now();
    let mut report = Report::default();
    while start.elapsed() < Duration::from_secs(seconds.into()) {
        puffin::GlobalProfiler::lock().new_frame();
        puffin::profile_scope!("frame");
        let frame = Instant::now();
        {
            puffin::profile_scope!("animate");
            animate(&mut world, &character, &crowd, report.time)?;
        }
        let step = Instant::now();
        physics.step(&mut world, &mut rigid, DT)?;
        report.add(step.elapsed(), physics.stage_times(), server.num_clients());
        // At the pace of a game, so that the viewer's timeline reads like one.
        std::thread::sleep(Duration::from_secs_f64(DT).saturating_sub(frame.elapsed()));
    }
    Ok(())
}

/// Everyone plays the first animation, each a little behind its neighbour, and sways.
fn animate(world: &mut World, character: &Character, crowd: &[Entity], time: f64) -> Result<(), Box<dyn Error>> {
    let animation = character.asset().animations.first();
    for (index, &entity) in crowd.iter().enumerate() {
        let time = time + 0.37 * index as f64;
        let (pose, root) = world.query_one_mut::<(&mut CharacterPose, &mut RootTransform)>(entity)?;
        if let Some(animation) = animation {
            animation.sample(animation.looped(time as f32), &mut pose.0);
        }
        root.0.translation.y = 0.05 * (5.0 * time).sin().abs();
    }
    Ok(())
}

/// A second's mean times, printed once a second.
#[derive(Default)]
struct Report {
    /// Simulated time (s).
    time: f64,
    steps: u32,
    step: Duration,
    stages: StageTimes,
}

impl Report {
    fn add(&mut self, step: Duration, stages: StageTimes, clients: usize) {
        self.time += DT;
        self.steps += 1;
        self.step += step;
        for stage in Stage::ALL {
            self.stages.set(stage, self.stages.get(stage) + stages.get(stage));
        }
        if self.steps < 60 {
            return;
        }
        let mean = |milliseconds: f64| milliseconds / f64::from(self.steps);
        print!("step {:.2} ms, {clients} viewers; summed over threads (ms):", mean(self.step.as_secs_f64() * 1e3));
        for stage in Stage::ALL {
            print!(" {} {:.3}", stage.name(), mean(self.stages.get(stage)));
        }
        println!();
        *self = Self { time: self.time, ..Self::default() };
    }
}
