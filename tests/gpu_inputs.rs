//! What a GPU is told of flesh in a frame: all that changed, by as many threads as there are.
#![cfg(feature = "gpu")]

mod common;

use std::sync::Arc;

use common::FRAME;
use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::step::StepConfig;
use sinew::{Active, Collisions, FleshHandle, HalfSpace, Physics, Pose};

const RADIUS: f64 = 0.03;
const SEGMENTS: usize = 6;
/// Enough for threads to share them.
const COUNT: usize = 40;
const FRAMES: usize = 96;

/// Rods beside each other: every second one held by a bone at an end, the others free, lying on the ground.
struct Crowd {
    physics: Physics,
    rods: Vec<FleshHandle>,
    held: Arc<Flesh>,
}

impl Crowd {
    fn new(mut physics: Physics, threads: usize) -> Self {
        physics.config = StepConfig { passes: 2, sleep_after: 0.2, threads, ..StepConfig::default() };
        physics.planes = vec![HalfSpace::ground(0.0, 0.5)];
        let spec = || RodSpec::straight("rod", DVec3::ZERO, DVec3::X * 0.4, SEGMENTS, RADIUS);
        let held = Arc::new(Flesh::build(&[spec().attach(0, 0, Holds::CLAMP)], &[Pose::IDENTITY]).unwrap());
        let free = Arc::new(Flesh::build(&[spec()], &[]).unwrap());
        let rods = (0..COUNT).map(|index| {
            let place = Self::place(index);
            match index % 2 {
                0 => physics.insert(held.clone(), &[Pose::from_translation(place)], Pose::IDENTITY),
                _ => physics.insert(free.clone(), &[], Pose::from_translation(place)),
            }
        });
        let rods = rods.collect::<Result<_, _>>().unwrap();
        Self { physics, rods, held }
    }

    fn place(index: usize) -> DVec3 {
        let height = if index.is_multiple_of(2) { 0.5 } else { RADIUS };
        DVec3::new((index % 8) as f64, height, (index / 8) as f64 * 0.3)
    }

    /// What happens before a frame.
    fn happens(&mut self, frame: usize) {
        let Self { physics, rods, held } = self;
        let bone = |index: usize, by: DVec3| [Pose::from_translation(Self::place(index) + by)];
        let turned = [Pose::new(Self::place(2), DQuat::from_rotation_y(1.0))];
        match frame {
            3 => physics.set_bones(rods[0], &bone(0, DVec3::Y * 0.02), Pose::IDENTITY),
            5 => physics.teleport(rods[2], &turned, Pose::IDENTITY),
            7 => physics.set_active(rods[4], Active::PAUSED),
            8 => physics.set_bones(rods[4], &bone(4, DVec3::Z * 0.1), Pose::IDENTITY),
            9 => physics.apply_impulse(rods[1], 0, 2, DVec3::new(0.0, 0.3, 0.1)),
            11 => physics.set_active(rods[4], Active { flesh: true, skin: true }),
            12 => {
                physics.planes.push(HalfSpace::new(DVec3::NEG_Y, -0.52, 0.1));
                Ok(())
            }
            14 => {
                physics.planes[0] = HalfSpace::ground(0.0, 0.5).moving(DVec3::Y * 0.03);
                Ok(())
            }
            15 => {
                physics.planes[0] = HalfSpace::ground(5.0e-4, 0.5);
                Ok(())
            }
            16 => physics.set_acceleration(rods[6], DVec3::Z * 5.0),
            18 => {
                physics.remove(rods[8]).unwrap();
                let bones = bone(8, DVec3::Z * 0.1);
                physics.insert(held.clone(), &bones, Pose::IDENTITY).map(|handle| rods[8] = handle)
            }
            20 => physics.reset(rods[10]),
            22 => physics.set_collisions(rods[3], Collisions { half_spaces: false, ..Collisions::default() }),
            // By now the others that lie sleep. One of them goes along with what carries it, and has another place than group at work.
            58 => physics.set_active(rods[0], Active::PAUSED),
            60 => physics.set_active(rods[COUNT - 1], Active { flesh: false, skin: true }),
            61 => {
                physics.set_bones(rods[COUNT - 1], &[], Pose::from_translation(Self::place(COUNT - 1) + DVec3::Y * 0.1))
            }
            // From here on nothing may sleep.
            86 => {
                physics.config.passes = 0;
                Ok(())
            }
            88 => physics.apply_impulse(rods[5], 0, 2, DVec3::new(0.0, 0.3, 0.1)),
            _ => Ok(()),
        }
        .unwrap();
    }

    /// Where all nodes are after all that, and how many slept before frame 86.
    fn run(mut self) -> (Vec<DVec3>, usize) {
        let mut slept = 0;
        for frame in 0..FRAMES {
            if frame == 86 {
                self.physics.finish().unwrap();
                slept = self.rods.iter().filter(|rod| self.physics.is_asleep(**rod).unwrap()).count();
            }
            self.happens(frame);
            self.physics.step_flesh(FRAME).unwrap();
        }
        self.physics.finish().unwrap();
        let nodes = |rod: &FleshHandle| {
            let rod = *rod;
            (0..=SEGMENTS).map(move |node| (rod, node))
        };
        let nodes = self.rods.iter().flat_map(nodes);
        (nodes.map(|(rod, node)| self.physics.node(rod, 0, node).unwrap().place).collect(), slept)
    }
}

/// On one thread, on several, and as on the CPU.
#[test]
fn whatever_changes_is_told() {
    let Some(gpu) = common::gpu() else { return };
    let on_gpu = |threads: usize| Crowd::new(Physics::with_gpu(gpu.clone()).unwrap(), threads).run();
    let (alone, slept) = on_gpu(1);
    assert_eq!(on_gpu(4), (alone.clone(), slept), "one thread, and four");
    let (expected, slept_there) = Crowd::new(Physics::default(), 1).run();
    let off = alone.iter().zip(&expected).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    println!("{COUNT} rods, {slept} asleep before passes were off ({slept_there}): {off:.1e} m off the CPU (bar 1e-4)");
    assert!(slept > 10 && slept == slept_there && off <= 1.0e-4);
}
