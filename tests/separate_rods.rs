//! A muscle of 8 fibres × 8 sections as one chain, against 8 rods whose sections are projected by (33)–(36) after every
//! substep: the same shape, for how much less time.
//!
//! Projected rods are bent by each rod's own soft bending and stiffened by the projection alone, which undoes what each
//! rod gave way. Where a rod gives way in one substep (EAh² above its ρAl²) there is little left to undo, so they need
//! short substeps to be as stiff as they are. A cantilever under its own weight shows it: its shape comes from the
//! bundle's bending stiffness and nothing else. Both are compared as accurate as each needs to be.

#[path = "../benches/baselines/separate_rods.rs"]
mod separate_rods;

use std::time::Instant;

use glam::{DQuat, DVec3};
use separate_rods::{Error, Muscles, apart};
use sinew::Pose;
use sinew::step::StepConfig;

const FRAME: f64 = 1.0 / 60.0;

fn config(substeps: u32) -> StepConfig {
    StepConfig { substeps, threads: 1, ..StepConfig::default() }
}

/// How far places (over the length) and scales are apart after 3 s, the far end brought to `far` at once.
fn shapes(muscles: Muscles, far: Pose, [of_chain, of_rods]: [u32; 2]) -> Result<(f64, f64), Error> {
    let (mut chain, mut rods) = (muscles.as_chains(config(of_chain))?, muscles.as_rods(config(of_rods))?);
    let bones = [Pose::IDENTITY, far];
    chain.set_bones(&bones)?;
    rods.stepped.set_bones(&bones)?;
    for _ in 0..180 {
        chain.step(FRAME)?;
        rods.step(FRAME)?;
    }
    apart(&chain, &rods)
}

/// Median over rounds: time of the chains, of the rods (µs a muscle and frame), and their ratio.
fn times(muscles: Muscles, [of_chain, of_rods]: [u32; 2]) -> Result<[f64; 3], Error> {
    let (mut chain, mut rods) = (muscles.as_chains(config(of_chain))?, muscles.as_rods(config(of_rods))?);
    let frames = 40;
    let each = 1.0e6 / (frames * muscles.count) as f64;
    let mut rounds = Vec::new();
    for _ in 0..11 {
        // From rest every time: they fall while they are measured.
        chain.physics.reset(chain.handle)?;
        rods.stepped.physics.reset(rods.stepped.handle)?;
        let begin = Instant::now();
        (0..frames).try_for_each(|_| chain.step(FRAME))?;
        let own = begin.elapsed().as_secs_f64() * each;
        let begin = Instant::now();
        (0..frames).try_for_each(|_| rods.step(FRAME))?;
        let theirs = begin.elapsed().as_secs_f64() * each;
        rounds.push([own, theirs, theirs / own]);
    }
    rounds.sort_by(|a, b| a[2].total_cmp(&b[2]));
    Ok(rounds[rounds.len() / 2])
}

#[test]
fn one_chain_has_the_shape_of_projected_rods() -> Result<(), Error> {
    let straight = |x: f64| Pose::from_translation(DVec3::X * x);
    let bent = Pose::new(DVec3::new(0.2, 0.05, 0.0), DQuat::from_rotation_z(0.3));
    for (name, held, far, bar) in [
        ("cantilever", false, straight(0.2), 0.01),
        ("held at rest length", true, straight(0.2), 0.01),
        ("stretched to 1.3", true, straight(0.26), 0.01),
        ("S bend", true, bent, 0.01),
    ] {
        let mut found = Vec::new();
        for substeps in [4, 16, 64] {
            found.push(shapes(Muscles::eight_by_eight(1, held), far, [4, substeps])?);
        }
        let told: Vec<String> =
            found.iter().map(|(places, scales)| format!("{:.2} % and {scales:.4}", 100.0 * places)).collect();
        println!(
            "{name}, chain with 4 substeps a frame: rods with 4, 16, 64 are {} apart in place and scale (bar at 64: 1 %, 0.01)",
            told.join(", ")
        );
        let (places, scales) = found[2];
        assert!(places <= bar && scales <= 0.01);
    }
    Ok(())
}

#[test]
fn one_chain_takes_a_quarter_of_the_time_at_most() -> Result<(), Error> {
    for (count, substeps, bar) in [(1, 4, None), (8, 4, Some(4.0)), (1, 64, Some(4.0)), (8, 64, Some(4.0))] {
        let [own, theirs, ratio] = times(Muscles::eight_by_eight(count, false), [4, substeps])?;
        println!(
            "{count} muscles, µs a muscle and frame: chain with 4 substeps {own:.1}, rods with {substeps} {theirs:.1}: {ratio:.1} \
             times as long ({})",
            bar.map_or("no bar: seven of eight lanes are idle, and the shapes differ".into(), |bar| format!(
                "bar {bar}"
            ))
        );
        assert!(bar.is_none_or(|bar| ratio >= bar));
    }
    Ok(())
}
