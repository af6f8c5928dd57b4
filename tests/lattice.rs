//! Chains share a lattice of origins: kernels know where one chain is from another, however far both are from the world's
//! origin.

mod common;

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::layout::{chain, node};
use sinew::{FleshHandle, Physics, Pose};

/// Three rods side by side, 1 m apart, each on a bone of its own; the last is so short that its origin has a finer step.
fn three() -> Flesh {
    let rod = |bone: usize, length: f64| {
        let from = DVec3::Z * bone as f64;
        let to = from + DVec3::X * length;
        RodSpec::straight(format!("rod {bone}"), from, to, 8, length / 15.0).attach(0, bone, Holds::CLAMP)
    };
    let bones = PLACES.map(|z| Pose::from_translation(DVec3::Z * z));
    Flesh::build(&[rod(0, 0.3), rod(1, 0.3), rod(2, 0.02)], &bones).unwrap()
}

/// Where their bones are (m).
const PLACES: [f64; 3] = [0.0, 1.0, 2.0];

/// A chain's origin and the place of its last node, as kernels see them.
fn seen(physics: &Physics, handle: FleshHandle, index: usize) -> [Vec3; 2] {
    let info = &physics.flesh(handle).unwrap().chains()[index];
    let (nodes, chains) = physics.state(handle).unwrap().rows().nth(info.group).unwrap();
    let vec3 = |rows: &[[f32; 8]], at: usize| Vec3::from_array(std::array::from_fn(|k| rows[at + k][info.lane]));
    [vec3(chains, chain::ORIGIN), vec3(nodes, (info.node_count() - 1) * node::ENTRIES + node::PLACE)]
}

/// Where the ends of all chains are from that of the first one, as kernels have it, and by how much that is off (m): two
/// instances of three chains that swing about and walk 3 m, `far` from the world's origin.
fn from_the_first(mut physics: Physics, far: DVec3) -> (Vec<Vec3>, f64) {
    let flesh = Arc::new(three());
    // 1 m behind each other.
    let places = [far, far + DVec3::X];
    let bones = |place: DVec3, frame: usize| {
        let t = frame as f64 / 60.0;
        PLACES.map(|z| {
            let turn = DQuat::from_rotation_z(0.6 * ((5.0 + z) * t).sin());
            Pose::new(place + DVec3::new(3.0 * t, 0.0, z), turn)
        })
    };
    let roots = places.map(Pose::from_translation);
    let handles: Vec<FleshHandle> =
        (0..2).map(|k| physics.insert(flesh.clone(), &bones(places[k], 0), roots[k]).unwrap()).collect();
    for frame in 1..=60 {
        for (handle, place) in handles.iter().zip(places) {
            let walked = Pose::from_translation(place + DVec3::X * (frame as f64 / 20.0));
            physics.set_bones(*handle, &bones(place, frame), walked).unwrap();
        }
        physics.step_flesh(1.0 / 60.0).unwrap();
    }
    physics.finish().unwrap();
    let chains: Vec<_> = handles.iter().flat_map(|handle| (0..3).map(|chain| (*handle, chain))).collect();
    let [first_origin, first_place] = seen(&physics, handles[0], 0);
    let first = physics.node(handles[0], 0, 8).unwrap().place;
    let mut worst = 0.0_f64;
    let between = chains.iter().map(|&(handle, index)| {
        let [origin, place] = seen(&physics, handle, index);
        let from_first = (origin - first_origin) + (place - first_place);
        let exact = physics.node(handle, index, 8).unwrap().place - first;
        worst = worst.max(from_first.as_dvec3().distance(exact));
        from_first
    });
    (between.collect(), worst)
}

fn check(physics: impl Fn() -> Physics) {
    let (here, _) = from_the_first(physics(), DVec3::ZERO);
    for far in
        [DVec3::splat(0.061), DVec3::new(3000.037, 10.011, -4000.093), DVec3::new(8.0e5 + 0.03, 1000.0, -6.0e5 - 0.05)]
    {
        let (there, worst) = from_the_first(physics(), far);
        let moved = here.iter().zip(&there).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        println!(
            "{:7.0} m: differences of places off by {worst:.1e} m, from those at 0 m by {moved:.1e}",
            far.length()
        );
        // What f32 has of a metre is 10⁻⁷; poses that are not of the lattice are rounded to as much before.
        assert!(worst <= 1.0e-6 && moved <= 1.0e-6);
        assert!(there[1].y.abs() > 0.01 && (there[1].z - 1.0).abs() < 0.01, "each swings by itself: {there:?}");
    }
}

#[test]
fn kernels_know_where_chains_are_from_one_another() {
    check(Physics::default);
}

#[cfg(feature = "gpu")]
#[test]
fn kernels_know_it_on_the_gpu() {
    let Some(gpu) = common::gpu() else { return };
    check(|| Physics::with_device(gpu.device().clone(), gpu.queue().clone()).unwrap());
}

/// Distances of the nodes of a free rod from its first one, over its length (m), and how far along its path that fell: after 20 s
/// in which it turned end over end.
fn shape_after(mut physics: Physics, length: f64) -> (Vec<f64>, DVec3) {
    let rod = RodSpec::straight("free", DVec3::ZERO, DVec3::X * length, 8, length / 15.0);
    let flesh = Arc::new(Flesh::build(&[rod], &[]).unwrap());
    let handle = physics.insert(flesh.clone(), &[], Pose::IDENTITY).unwrap();
    for index in 0..9 {
        let mut node = physics.node(handle, 0, index).unwrap();
        node.spin = Vec3::Z * 0.5;
        node.velocity = Vec3::Y * (0.5 * (node.place.x - 0.5 * length)) as f32;
        physics.state_mut(handle).unwrap().set_node(&flesh, 0, index, &node);
    }
    for _ in 0..20 * 60 {
        physics.step_flesh(1.0 / 60.0).unwrap();
    }
    physics.finish().unwrap();
    assert_eq!(physics.health(handle).unwrap().resets, 0);
    let places: Vec<_> = (0..9).map(|index| physics.node(handle, 0, index).unwrap().place).collect();
    (places.iter().map(|place| place.distance(places[0]) / length).collect(), places[0])
}

/// Flesh without bones takes its origin along: what fell for 2 km is shaped as what hangs where it was put. In a substep it goes
/// 0.8 m, in which f32 has 6·10⁻⁸ m: of the segments of a rod of 1 mm 5·10⁻⁴.
#[test]
fn free_flesh_is_as_exact_far_from_where_it_was_put() {
    for (length, bar) in [(0.001, 1.0e-3), (0.02, 5.0e-5), (0.5, 5.0e-6)] {
        fallen_as_it_hung(Physics::default(), length, bar);
    }
}

/// On a GPU as it is read back, some frames late.
#[cfg(feature = "gpu")]
#[test]
fn free_flesh_is_as_exact_there_on_the_gpu() {
    let Some(mut gpu) = common::gpu_physics() else { return };
    gpu.read_back = sinew::ReadBack { state: true, ..sinew::ReadBack::NOTHING };
    fallen_as_it_hung(gpu, 0.5, 5.0e-6);
}

fn fallen_as_it_hung(falls: Physics, length: f64, bar: f64) {
    let (here, _) = shape_after(Physics::with_config(common::weightless(4)), length);
    let (there, place) = shape_after(falls, length);
    let off = here.iter().zip(&there).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    println!("{length} m, fallen to {:.0} m: shape off by {off:.1e} of its length", place.y);
    assert!(place.y < -1900.0 && off <= bar);
}

/// One that was put nowhere is laid anew, and its origin is where it was.
#[test]
fn free_flesh_that_was_put_nowhere_comes_back() {
    for nowhere in [DVec3::new(f64::NAN, 100.0, 0.0), DVec3::new(0.0, f64::INFINITY, 50.0), DVec3::splat(1.0e12)] {
        let rod = RodSpec::straight("free", DVec3::ZERO, DVec3::X, 8, 0.05);
        let flesh = Arc::new(Flesh::build(&[rod], &[]).unwrap());
        let mut physics = Physics::with_config(common::weightless(4));
        let handle = physics.insert(flesh.clone(), &[], Pose::IDENTITY).unwrap();
        let mut node = physics.node(handle, 0, 0).unwrap();
        node.place = nowhere;
        physics.state_mut(handle).unwrap().set_node(&flesh, 0, 0, &node);
        (0..120).for_each(|_| physics.step_flesh(1.0 / 60.0).unwrap());
        let (place, resets) = (physics.node(handle, 0, 0).unwrap().place, physics.health(handle).unwrap().resets);
        println!("{nowhere}: back at {place}, laid anew {resets} times");
        assert!(resets == 1 && place.length() < 1.0, "{nowhere}: {place} {resets}");
    }
}

/// Beyond what f32 has digits for at ⅛ m, origins are as coarse as these digits, and flesh goes on.
#[test]
fn flesh_a_million_kilometres_away_swings_too() {
    let (there, worst) = from_the_first(Physics::default(), DVec3::new(6.0e8, 0.0, -7.0e8));
    println!("{there:?}, off by {worst:.1e} m");
    assert!(worst <= 1.0e-4 && there[1].y.abs() > 0.01 && (there[1].z - 1.0).abs() < 0.01);
}
