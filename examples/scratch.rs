use sinew::{Physics, Pose, scenes::Cantilevers, step::StepConfig};
fn main() {
    for (gamma, x) in [(1.0, 0.0), (5.0, 0.0), (20.0, 0.0), (5.0, 5000.0)] {
        for (sub, it) in [(4, 1), (1, 1)] {
            let scene = Cantilevers { rods: 1, ..Default::default() }.with_gamma(gamma, 9.81);
            let flesh = scene.build().unwrap();
            let mut p = Physics::new(StepConfig { substeps: sub, iterations: it, ..Default::default() });
            let bone = Pose::from_translation(glam::DVec3::new(x, x, x));
            let h = p.insert(flesh, &[bone], Pose::IDENTITY).unwrap();
            for f in 0..1200 {
                p.step(1.0 / 60.0).unwrap();
                if f % 300 == 299 {
                    let n = p.node(h, 0, 20).unwrap();
                    print!("({:.6} {:.6}) ", n.place.x - x, n.place.y - x);
                }
            }
            println!("gamma {gamma} x {x} sub {sub}: resets {}", p.health(h).unwrap().resets);
        }
    }
    for (n, sub) in [(50usize, 4u32), (1000, 4), (50, 1)] {
        let flesh = Cantilevers { rods: n, ..Default::default() }.build().unwrap();
        let mut p = Physics::new(StepConfig { substeps: sub, ..Default::default() });
        p.insert(flesh, &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
        let mut best = f64::MAX;
        let frames = 20000 / n;
        for _ in 0..5 {
            let t = std::time::Instant::now();
            for _ in 0..frames / 5 {
                p.step(1.0 / 60.0).unwrap();
            }
            best = best.min(t.elapsed().as_secs_f64() / (frames / 5) as f64);
        }
        println!(
            "{n} rods, {sub} substeps: {:.3} ms/frame, {:.1} ns per segment-solve, hash {:x}",
            best * 1e3,
            best * 1e9 / (n * 20 * sub as usize) as f64,
            p.state_hash()
        );
    }
}
