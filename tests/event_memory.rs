//! Contact events allocate nothing in a frame.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use glam::{DQuat, DVec3, Vec3};
use sinew::flesh::{Flesh, RodSpec};
use sinew::step::StepConfig;
use sinew::{HalfSpace, Physics, Pose, Shape, Solid};

/// The system's allocator, which counts how often it is asked.
struct Counting;

static ASKED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all is the system allocator's; counting does not touch what it hands out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Logs on the ground, on a box and on each other, at rest.
fn scene(gather_events: bool) -> Physics {
    let config = StepConfig { passes: 6, threads: 1, ..StepConfig::default() };
    let mut physics = Physics::with_config(config);
    physics.gather_events = gather_events;
    physics.planes = vec![HalfSpace::ground(0.0, 0.5)];
    let shape = Arc::new(Shape::Cuboid { half_extents: Vec3::new(0.2, 0.1, 0.2) });
    physics.solids = vec![Solid::new(shape, Pose::from_translation(DVec3::new(0.0, 0.1, 1.0)), 0.5)];
    let rod = RodSpec::straight("log", DVec3::X * -0.25, DVec3::X * 0.25, 10, 0.03);
    let flesh = Arc::new(Flesh::build(&[rod], &[]).expect("in range"));
    let places = [DVec3::new(0.0, 0.03, -0.1), DVec3::new(0.0, 0.03, 0.1), DVec3::new(0.0, 0.23, 1.0)];
    for place in places {
        physics.insert(flesh.clone(), &[], Pose::from_translation(place)).expect("finite");
    }
    let across = Pose::new(DVec3::Y * 0.09, DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2));
    physics.insert(flesh, &[], across).expect("finite");
    physics
}

/// The only test of this file: others would be counted with it.
#[test]
fn events_allocate_nothing_once_they_are_warm() {
    let mut events = 0;
    let [without, with] = [false, true].map(|gather| {
        let mut physics = scene(gather);
        // Until all lies still: who is near whom is then the same in every frame.
        (0..120).for_each(|_| physics.step_flesh(1.0 / 60.0).expect("steps"));
        let before = ASKED.load(Ordering::Relaxed);
        for _ in 0..30 {
            physics.step_flesh(1.0 / 60.0).expect("steps");
            events += physics.contact_events().map(|event| usize::from(event.impulse > 0.0)).sum::<usize>();
        }
        ASKED.load(Ordering::Relaxed) - before
    });
    println!("30 frames allocate {without} times, with {events} events {with} times");
    assert!(events >= 30 * 5);
    assert_eq!(with, without);
}
