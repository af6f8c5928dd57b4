//! Flesh in a box that turns: what its walls and floor carry along, and slips on them, comes to rest against them.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use sinew::scenes::octopuses::Octopus;
use sinew::step::StepConfig;
use sinew::{FleshHandle, Physics, Pose, Shape, Solid};

use super::common::FRAME;

/// Half its width inside, and how high and thick its walls are (m).
const INSIDE: f64 = 1.1;
const HIGH: f64 = 2.0;
const THICK: f64 = 0.2;

/// A floor and four walls so much wider (m), turned about y by so much and turning by so much (rad, rad/s).
fn turning_box(wider: f64, turned: f64, spin: f64) -> Vec<Solid> {
    let part = |half: DVec3, at: DVec3, about: f64| {
        let turn = DQuat::from_rotation_y(turned + about);
        let shape = Arc::new(Shape::Cuboid { half_extents: half.as_vec3() });
        let pose = Pose::new(turn * at, turn);
        Solid { spin: DVec3::Y * spin, centre: DVec3::ZERO, ..Solid::new(shape, pose, 0.8) }
    };
    let [outside, middle] = [INSIDE + wider + THICK, INSIDE + wider + 0.5 * THICK];
    let floor = part(DVec3::new(2.0, 0.1, 2.0), DVec3::Y * -0.1, 0.0);
    let walls = (0..4).map(|side| {
        let half = DVec3::new(0.5 * THICK, 0.5 * HIGH, outside);
        part(half, DVec3::new(middle, 0.5 * HIGH, 0.0), f64::from(side) * std::f64::consts::FRAC_PI_2)
    });
    std::iter::once(floor).chain(walls).collect()
}

/// Octopuses in it, that have come to lie on its floor.
struct Turning {
    physics: Physics,
    octopuses: Vec<FleshHandle>,
    /// By how much the box is wider (m), and has turned (rad).
    wider: f64,
    turned: f64,
}

impl Turning {
    fn new(count: usize, passes: u32, wider: f64) -> Self {
        let config = StepConfig { substeps: 2, passes, threads: 1, ..StepConfig::default() };
        let mut physics = Physics::with_config(config);
        physics.solids = turning_box(wider, 0.0, 0.0);
        let flesh = Octopus::default().build().expect("in range");
        let octopuses = (0..count).map(|index| {
            let [x, y, z] = [0.3 * (index % 2) as f64, 0.5 + 0.5 * (index / 2) as f64, 0.3 * (index % 3) as f64];
            let root = Pose::new(DVec3::new(x, y, z), DQuat::from_rotation_y(2.4 * index as f64));
            physics.insert(Arc::clone(&flesh), &[], root).expect("finite")
        });
        let octopuses = octopuses.collect();
        (0..120).for_each(|_| physics.step_flesh(FRAME).expect("steps"));
        Self { physics, octopuses, wider, turned: 0.0 }
    }

    /// Steps a frame in which the box turns at such a speed (rad/s).
    fn step(&mut self, spin: f64) {
        self.turned += spin * FRAME;
        self.physics.solids = turning_box(self.wider, self.turned, spin);
        self.physics.step_flesh(FRAME).expect("steps");
    }

    /// How fast flesh goes in it, the median of all nodes (m/s).
    fn slides(&self, spin: f64) -> f64 {
        let turning = Vec3::Y * spin as f32;
        let mut speeds: Vec<f64> = Vec::new();
        for &octopus in &self.octopuses {
            let flesh = self.physics.flesh(octopus).expect("is there");
            for (index, chain) in flesh.chains().iter().enumerate() {
                let nodes = (0..chain.node_count()).map(|j| self.physics.node(octopus, index, j).expect("is there"));
                let slides = nodes.map(|node| (node.velocity - turning.cross(node.place.as_vec3())).length());
                speeds.extend(slides.map(f64::from));
            }
        }
        speeds.sort_unstable_by(f64::total_cmp);
        speeds[speeds.len() / 2]
    }
}

/// How flesh fared in a box that came to turn within a second, and turned on for eight.
struct Fared {
    /// How fast it went at most, and against the box at last (m/s).
    fastest: f64,
    slides: f64,
    /// What an octopus stored at most in the mean (J).
    stored: f64,
    resets: u32,
}

impl Fared {
    fn of(count: usize, passes: u32, wider: f64, spin: f64) -> Self {
        let mut scene = Turning::new(count, passes, wider);
        let (mut fastest, mut stored) = (0.0_f64, 0.0_f64);
        for frame in 0..540 {
            scene.step(spin * (f64::from(frame) / 60.0).min(1.0));
            let quality = scene.physics.quality();
            (fastest, stored) = (fastest.max(quality.speed_max), stored.max(quality.energy.elastic / count as f64));
        }
        let resets = scene.octopuses.iter().map(|&octopus| scene.physics.health(octopus).expect("is there").resets);
        let (resets, slides) = (resets.sum(), scene.slides(spin));
        println!(
            "{count} octopuses, {passes} passes, {spin} rad/s: {fastest:.1} m/s at most, {stored:.0} J stored in each at most, {resets} \
             laid anew, {slides:.2} m/s against the box at last"
        );
        Self { fastest, slides, stored, resets }
    }
}

/// What slipped on what carried it along was thought to slip on, through where friction would stop it: its steps were shortened in nearly
/// every substep, it sat the passes out, and was wound up until it burst, at 200 m/s. Four times its weight presses it into a corner.
///
/// How far it is wound up there for a moment differs by rounding alone, as of a box that is 10⁻⁷ m wider: of 2 and of 4 octopuses all of
/// eight such boxes hold the bars.
#[test]
fn flesh_comes_to_rest_in_a_box_that_turns() {
    for (count, passes, boxes) in [(3, 0, 1), (2, 6, 8), (4, 6, 8), (6, 6, 1), (8, 6, 1)] {
        for wider in (0..boxes).map(|index| 1.0e-7 * f64::from(index)) {
            let Fared { fastest, slides, stored, resets } = Fared::of(count, passes, wider, 5.0);
            println!("  (bars: 25 m/s, 80 J, 0 laid anew, 0.2 m/s)");
            assert!(fastest < 25.0 && stored < 80.0 && resets == 0 && slides < 0.2);
        }
    }
}
