//! Pairs from the grid against all pairs.

mod common;

use common::Random;
use glam::Vec3;
use sinew::cpu::grid::{Pair, PairFinder, PairThreads, Sphere};

/// Scenes of all kinds; sizes over three decades, fast ones have large margins.
fn scene(random: &mut Random, kind: usize) -> Vec<Sphere> {
    let count = [0, 1, 2, 300, 1200][kind % 5];
    let spread = [0.0, 0.3, 3.0, 30.0, 1.0e4][kind % 7 % 5];
    let far = if kind % 11 == 10 { 1.0e6 } else { 0.0 };
    let mut spheres: Vec<Sphere> = (0..count)
        .map(|index| {
            let place = random.vector(-1.0, 1.0).as_vec3() * spread as f32 + Vec3::splat(far);
            let radius = 10.0_f64.powf(random.uniform(-3.0, 0.0)) as f32;
            let radius = if index % 50 == 49 { radius + 2.0 } else { radius };
            // Some in a row, some all at one place.
            let place = match kind % 6 {
                4 => Vec3::new(index as f32 * 0.01, 0.0, 0.0),
                5 if index % 2 == 0 => Vec3::splat(far),
                _ => place,
            };
            Sphere { centre: place.to_array(), radius: if kind % 13 == 12 { 0.0 } else { radius } }
        })
        .collect();
    if count > 100 {
        spheres[7].centre[1] = f32::NAN;
        spheres[8].radius = f32::INFINITY;
        spheres[9].radius = -1.0;
        spheres[10].centre = [1.0e30, -1.0e30, 1.0e30];
    }
    spheres
}

fn is_sound(sphere: &Sphere) -> bool {
    sphere.centre.iter().all(|x| x.is_finite()) && sphere.radius.is_finite() && sphere.radius >= 0.0
}

fn all_pairs(spheres: &[Sphere]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (i, a) in spheres.iter().enumerate().filter(|(_, a)| is_sound(a)) {
        for (k, b) in spheres.iter().enumerate().skip(i + 1).filter(|(_, b)| is_sound(b)) {
            let apart = Vec3::from_array(a.centre) - Vec3::from_array(b.centre);
            let square = apart.x * apart.x + apart.y * apart.y + apart.z * apart.z;
            if square <= (a.radius + b.radius) * (a.radius + b.radius) {
                pairs.push([i as u32, k as u32]);
            }
        }
    }
    pairs
}

#[test]
fn the_grid_finds_all_pairs_and_no_others() {
    let mut random = Random(5);
    let mut finder = PairFinder::default();
    let (mut pairs, mut total) = (Vec::new(), 0);
    for kind in 0..66 {
        let spheres = scene(&mut random, kind);
        let expected = all_pairs(&spheres);
        for threads in [1, 2, 4] {
            let left_out = finder.find(&PairThreads::new(threads), &spheres, |_, _| true, &mut pairs);
            assert_eq!(left_out, spheres.iter().filter(|sphere| !is_sound(sphere)).count());
            assert!(pairs == expected, "scene {kind}, {threads} threads");
        }
        total += expected.len();
        let odd = |a: u32, b: u32| (a + b) % 2 == 1;
        finder.find(&PairThreads::new(1), &spheres, odd, &mut pairs);
        assert!(pairs.iter().eq(expected.iter().filter(|[a, b]| odd(*a, *b))));
    }
    println!("66 scenes, {total} pairs: the same sets");
}

/// A heap that is as dense whatever its size, with sizes over two decades.
#[test]
fn time_grows_as_the_number_of_spheres_does() {
    let mut random = Random(9);
    let mut finder = PairFinder::default();
    let threads = PairThreads::new(1);
    let mut pairs = Vec::new();
    let mut time = |count: usize| {
        let side = (count as f64).cbrt() * 0.03;
        let spheres: Vec<Sphere> = (0..count)
            .map(|index| {
                let radius = if index % 100 == 0 { 0.06 } else { random.uniform(0.003, 0.02) } as f32;
                Sphere { centre: (random.vector(0.0, 1.0) * side).as_vec3().to_array(), radius }
            })
            .collect();
        let rounds = (200_000 / count).max(1);
        let best = (0..5)
            .map(|_| {
                let start = std::time::Instant::now();
                (0..rounds).for_each(|_| {
                    finder.find(&threads, &spheres, |_, _| true, &mut pairs);
                });
                start.elapsed().as_secs_f64() / rounds as f64
            })
            .fold(f64::MAX, f64::min);
        (best, pairs.len())
    };
    let (few, many) = (2_000, 64_000);
    let (small, large) = (time(few), time(many));
    let exponent = (large.0 / small.0).ln() / (many as f64 / few as f64).ln();
    println!(
        "{few} spheres, {} pairs: {:.0} ns a sphere; {many}, {} pairs: {:.0}; exponent {exponent:.2} (bar 1.25)",
        small.1,
        small.0 / few as f64 * 1.0e9,
        large.1,
        large.0 / many as f64 * 1.0e9
    );
    assert!(exponent <= 1.25);
}
