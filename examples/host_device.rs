//! A game that owns the wgpu device: steps are recorded into its own encoder, vertices are drawn where they lie.
//!
//! `cargo run --release --example host_device`

use std::error::Error;

use sinew::gpu::GpuError;
use sinew::wgpu;
use sinew::{Character, Physics, Pose, ReadBack, StepError, palette_matrix};

/// How long the game lasts (frames), and which of them it gives up, as when a window has no picture to draw on.
const FRAMES: u32 = 60;
const GIVEN_UP: u32 = 20;

/// A device with at least wgpu::Limits::default(); with TIMESTAMP_QUERY stages could be timed too.
fn open() -> Result<(wgpu::Device, wgpu::Queue), Box<dyn Error>> {
    let adapter = pollster::block_on(wgpu::Instance::default().request_adapter(&Default::default()))?;
    Ok(pollster::block_on(adapter.request_device(&Default::default()))?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut device, mut queue) = open()?;
    let mut physics = Physics::with_device_with_progress(device.clone(), queue.clone(), |progress| {
        if let Some(stage) = progress.compiling {
            println!("compiling {stage}: {} of {} are ready", progress.ready, progress.total);
        }
    })?;
    // The game draws from GPU memory; ask_for has more of one instance come back.
    physics.read_back = ReadBack::NOTHING;

    let arm = Character::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb"))?;
    let curl = arm.asset().animation("curl").ok_or("arm.glb has no animation `curl`")?;
    let (asset, body, root) = (arm.asset(), arm.body(), Pose::IDENTITY);
    let mut pose = asset.skeleton.rest_pose();
    let (bones, _) = body.posed(asset, &pose, &root, &[]);
    let flesh = physics.insert_with_skin(body.flesh.clone(), body.skin.clone(), &bones, root)?;
    physics.set_activation_named(flesh, "biceps_long", 0.5)?;

    for frame in 1..=FRAMES {
        curl.sample(curl.looped(frame as f32 / 60.0), &mut pose);
        let (bones, palette) = body.posed(asset, &pose, &root, &[]);
        physics.set_bones(flesh, &bones, root)?;
        physics.set_palette(flesh, palette.iter().map(palette_matrix))?;

        let mut encoder = device.create_command_encoder(&Default::default());
        match physics.encode(1.0 / 60.0, &mut encoder) {
            // The driver says so, or physics.report_device_lost from the game's own handler.
            Err(StepError::Gpu(GpuError::Lost { .. })) => {
                (device, queue) = open()?;
                physics.switch_to_device(device.clone(), queue.clone())?;
                continue;
            }
            recorded => recorded?,
        }
        if frame == GIVEN_UP {
            // Sinew must know of an encoder that is not submitted: its step has not happened.
            drop(encoder);
            physics.encoder_dropped()?;
            continue;
        }
        // The game's own passes, which read positions and normals as the step leaves them.
        let vertices = physics.vertex_slice(flesh)?.ok_or("no vertices on the GPU")?;
        queue.submit([encoder.finish()]);
        if frame % 20 == 0 {
            let (first, count) = (vertices.offset, vertices.count);
            println!("frame {frame}: step {}, {count} vertices from byte {first} on", physics.step_count());
        }
    }
    // Never in a frame: waits for the GPU.
    physics.finish()?;
    println!("{:?}: step {} has arrived", physics.backend_report(), physics.state_step(flesh)?);
    Ok(())
}
