//! What comes and goes leaves nothing behind.
#![cfg(all(feature = "rapier", feature = "gltf"))]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

use glam::DVec3;
use hecs::World;
use sinew::rigid::RigidWorld;
use sinew::{Character, Physics, Pose};

/// The system's allocator, which counts the bytes that are held.
struct Counting;

static HELD: AtomicIsize = AtomicIsize::new(0);

// SAFETY: all is the system allocator's; counting does not touch what it hands out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as isize, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The only test of this file: others would be counted with it.
#[test]
fn a_thousand_characters_come_and_go_and_memory_is_flat() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/arm.glb");
    let arm = Character::load(path).expect("the project's own asset loads");
    let (mut world, mut rigid, mut physics) = (World::new(), RigidWorld::default(), Physics::default());
    physics.config.threads = 1;
    rigid.spawn_ground(-1.0, 0.5).expect("is a plane");
    // One that stays shares its body with those that come and go.
    let at = |x: f64| Pose::from_translation(DVec3::X * x);
    arm.spawn(&mut world, &mut rigid, &mut physics, at(0.0)).expect("spawns");
    let mut held = Vec::new();
    for cycle in 0..1000 {
        let guest = arm.spawn(&mut world, &mut rigid, &mut physics, at(2.0)).expect("spawns");
        physics.step(&mut world, &mut rigid, 1.0 / 60.0).expect("steps");
        if cycle % 2 == 0 {
            world.despawn(guest).expect("is there");
            physics.step(&mut world, &mut rigid, 1.0 / 60.0).expect("steps");
        } else {
            sinew::world::despawn(&mut world, &mut physics, &mut rigid, guest).expect("despawns");
        }
        if cycle % 100 == 99 {
            held.push(HELD.load(Ordering::Relaxed) / 1024);
        }
    }
    println!("KiB held after each 100 characters: {held:?}");
    assert!(held[9] - held[1] <= 16, "what comes and goes leaves something behind: {held:?}");
    assert_eq!((physics.instances().count(), world.len()), (1, 1));
}
