//! A muscle of 8 fibres × 8 sections as one chain, against 8 rods whose sections are projected by (33)–(36) after every
//! substep: the same shape, for how much less time.

#[path = "../benches/baselines/separate_rods.rs"]
mod separate_rods;

use std::time::Instant;

use glam::{DQuat, DVec3};
use separate_rods::{Error, Muscles, apart};
use sinew::step::StepConfig;
use sinew::{Material, Pose};

const FRAME: f64 = 1.0 / 60.0;

fn muscles(count: usize, far_end_held: bool) -> Muscles {
    let material = Material { youngs_modulus: 1.0e5, poissons_ratio: 0.45, ..Material::default() };
    Muscles { count, fibres: 8, sections: 8, length: 0.2, radius: 0.005, ring: 0.014, material, far_end_held }
}

/// Both after 3 s, their far ends brought to `far` at once.
fn shapes(name: &str, muscles: Muscles, far: Pose, substeps: u32) -> Result<(f64, f64), Error> {
    let config = StepConfig { substeps, threads: 1, ..StepConfig::default() };
    let (mut chain, mut rods) = (muscles.as_chains(config)?, muscles.as_rods(config)?);
    let bones = [Pose::IDENTITY, far];
    chain.set_bones(&bones)?;
    rods.stepped.set_bones(&bones)?;
    for _ in 0..180 {
        chain.step(FRAME)?;
        rods.step(FRAME)?;
    }
    let (places, scales) = apart(&chain, &rods)?;
    let (moved, sunk) = (chain.node(0, 4)?.scale, chain.node(0, 4)?.place.y);
    println!(
        "{name}, {substeps} substeps: places {:.3} % of the length apart, scales {scales:.4} (the chain's 5th section: scale \
         {moved:.3}, y {sunk:.4} m)",
        100.0 * places
    );
    Ok((places, scales))
}

#[test]
fn explore() -> Result<(), Error> {
    let straight = |x: f64| Pose::from_translation(DVec3::X * x);
    for substeps in [4, 16] {
        shapes("cantilever", muscles(1, false), straight(0.2), substeps)?;
        shapes("stretched to 1.3", muscles(1, true), straight(0.26), substeps)?;
        shapes("held at rest length", muscles(1, true), straight(0.2), substeps)?;
        let bent = Pose::new(DVec3::new(0.2, 0.05, 0.0), DQuat::from_rotation_z(0.3));
        shapes("S bend", muscles(1, true), bent, substeps)?;
    }
    for count in [1, 8, 20] {
        let config = StepConfig { threads: 1, ..StepConfig::default() };
        let muscles = muscles(count, true);
        let (mut chain, mut rods) = (muscles.as_chains(config)?, muscles.as_rods(config)?);
        let mut ratios = Vec::new();
        for _ in 0..15 {
            let begin = Instant::now();
            (0..200 / count).try_for_each(|_| chain.step(FRAME))?;
            let own = begin.elapsed().as_secs_f64();
            let begin = Instant::now();
            (0..200 / count).try_for_each(|_| rods.step(FRAME))?;
            let theirs = begin.elapsed().as_secs_f64();
            let begin = Instant::now();
            for _ in 0..4 * (200 / count) {
                rods.stepped.step(FRAME / 4.0)?;
            }
            ratios.push((theirs / own, own, theirs, begin.elapsed().as_secs_f64()));
        }
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let per = 1e6 / (200 / count) as f64 / count as f64;
        let (ratio, own, theirs, stepping) = ratios[7];
        println!(
            "{count} muscles: chain {:.2} µs a muscle and frame, rods {:.2} (stepping {:.2}): {ratio:.1}",
            own * per,
            theirs * per,
            stepping * per
        );
    }
    Ok(())
}
