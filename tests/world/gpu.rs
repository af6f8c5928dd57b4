//! A world stepped on a GPU, whose states come back some steps later.

use glam::DVec3;

use sinew::ReadBack;

use crate::{Pose, Scene, character, common};

#[test]
fn a_world_on_a_gpu_moves_as_on_the_cpu() {
    let Some(gpu) = common::gpu_physics() else { return };
    let arm = character("arm.glb");
    let places = |physics| {
        let mut scene = Scene { physics, ..Scene::default() };
        scene.physics.read_back = ReadBack::ALL;
        let entity = scene.spawn(&arm, Pose::IDENTITY);
        let mut swing = 0.0_f64;
        for frame in 1..=30 {
            let time = f64::from(frame) / 60.0;
            scene.animate(entity, time);
            scene.sway(entity, Pose::IDENTITY, time);
            scene.step();
            swing = swing.max(scene.swing(entity));
        }
        scene.physics.finish().expect("nothing failed");
        (scene.nodes(entity).iter().map(|node| node.place).collect::<Vec<DVec3>>(), swing)
    };
    let ((on_cpu, cpu_swing), (on_gpu, gpu_swing)) = (places(sinew::Physics::default()), places(gpu));
    let apart = on_cpu.iter().zip(&on_gpu).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    println!(
        "arm over 30 frames: {apart:.1e} m apart (bar 1e-3), swung by {cpu_swing:.3} m on the CPU and {gpu_swing:.3} m on the GPU"
    );
    assert!(apart <= 1.0e-3 && cpu_swing > 1.0e-3 && gpu_swing > 1.0e-3);
}
