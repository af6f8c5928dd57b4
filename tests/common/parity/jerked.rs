//! Scenes in which bones jerk.

use glam::{DQuat, DVec3};
use sinew::flesh::Holds;
use sinew::step::Integrator;
use sinew::{HalfSpace, Pose};

use super::Scene;
use super::scenes::{hung, rods, soft};

/// Two bones of which one jumps by 0.6 m and turns by 1.5 rad, `by` times that, in every other step after
/// [`Scene::before`], and back.
fn jerking_bones(step: usize, by: f64) -> Vec<Pose> {
    let jerked = if step > 12 && step % 2 == 1 { by } else { 0.0 };
    let turn = DQuat::from_scaled_axis(DVec3::new(0.3, 1.2, 0.8) * jerked);
    vec![Pose::IDENTITY, Pose::new(DVec3::new(1.0 - 0.3 * jerked, 0.5 * jerked, -0.2 * jerked), turn)]
}

/// Rods between two bones that jerk, so that solves are led astray and steps shortened, to bounds and between them: by
/// themselves, long ones, and with all that stores energy. With jerks of 3 times, of 1.5 with long rods, or of 2 against a half-space,
/// runs of the CPU part from each other; so they do where they begin within one.
pub fn jerked() -> [Scene; 3] {
    let between = |segments: &[usize], material| {
        let rods = rods(DVec3::ZERO, DVec3::X, 0.05, segments, material);
        hung(hung(rods, 0, 0, Holds::CLAMP), 99, 1, Holds::CLAMP)
    };
    let few = [10, 7, 5];
    let alone = Scene::new("jerked", &between(&few, soft()), |step| jerking_bones(step, 2.5));
    let long = Scene::new("jerked, long", &between(&[40, 33], soft()), |step| jerking_bones(step, 1.0));
    let mut material = soft();
    material.overrides.surface_bending = Some(1.0e4);
    material.overrides.volume_bending_modulus = Some(1.0e4);
    material.fibre_modulus = 1.0e4;
    material.peak_stress = 2.0e4;
    let mut with_all = Scene::new("jerked with all", &between(&few, material), |step| jerking_bones(step, 1.2));
    with_all.activation = 0.5;
    with_all.planes = vec![HalfSpace::new(DVec3::Z, -0.055, 0.5)];
    with_all.config.integrator = Integrator::SecondOrder;
    with_all.config.iterations = 2;
    let mut scenes = [alone, long, with_all];
    for scene in &mut scenes {
        // They are to be followed, however far they go.
        scene.config.jump = f64::INFINITY;
    }
    scenes
}
