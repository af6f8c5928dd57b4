//! Instances that are paused, stepped without skin, or whose skin goes with bones while their flesh is not stepped: each costs what
//! it does, the others do not notice, and what goes on does so without a jolt.

mod common;

use std::sync::Arc;
use std::time::Instant;

use common::{FRAME, backends, material};
use glam::{DQuat, DVec3};
use sinew::flesh::{Carriers, Flesh, Holds, RodSpec};
use sinew::{Active, FleshHandle, Physics, Pose, ReadBack, Skin};

const SKIN_ALONE: Active = Active { flesh: false, skin: true };
const WITHOUT_SKIN: Active = Active { flesh: true, skin: false };

/// A limb of two bones at whose joint it bends, along which rods hang by one end, and its skin.
fn limb() -> (Arc<Flesh>, Arc<Skin>) {
    let hung = |index: usize| {
        let aside = DVec3::new(0.0, 0.06, 0.1 * index as f64);
        let mut rod = RodSpec::straight(format!("rod {index}"), aside, aside + DVec3::X * 0.8, 8 + index, 0.03);
        rod.material = material(2.0e7, 0.45, 1000.0, 3.0);
        rod.carriers =
            Carriers { bones: vec![0, 1], nodes: (0..9 + index).map(|j| j as f64 / (8 + index) as f64).collect() };
        rod.attach(0, 0, Holds::CLAMP)
    };
    let flesh = Flesh::build(&[hung(0), hung(1), hung(2)], &bones(&Pose::IDENTITY, 0.0)).unwrap();
    let skin = common::sheet(&flesh);
    (Arc::new(flesh), Arc::new(skin))
}

fn bones(root: &Pose, bend: f64) -> [Pose; 2] {
    let joint = Pose::new(DVec3::X * 0.4, DQuat::from_rotation_z(bend));
    [*root, *root * joint]
}

/// A character of a limb in a scene.
struct Limb {
    flesh: Arc<Flesh>,
    handle: FleshHandle,
}

impl Limb {
    fn new(physics: &mut Physics, (flesh, skin): &(Arc<Flesh>, Arc<Skin>), root: &Pose) -> Self {
        let handle = physics.insert_with_skin(flesh.clone(), skin.clone(), &bones(root, 0.0), *root).unwrap();
        Self { flesh: flesh.clone(), handle }
    }

    /// A frame's pose, and how its skin goes with it: joint i's motion from rest, as the root sees it.
    fn pose(&self, physics: &mut Physics, root: &Pose, bend: f64) {
        let posed = bones(root, bend);
        physics.set_bones(self.handle, &posed, *root).unwrap();
        let moved = posed.iter().zip(self.flesh.bones()).map(|(now, rest)| root.inverse() * *now * rest.inverse());
        let matrices: Vec<_> = moved
            .map(|pose| {
                let turn =
                    glam::Affine3A::from_rotation_translation(pose.rotation.as_quat(), pose.translation.as_vec3());
                sinew::palette_matrix(&turn)
            })
            .collect();
        physics.set_palette(self.handle, matrices.into_iter()).unwrap();
    }

    /// How far each node is from where its bones carry it, as the root sees it (m).
    fn swings(&self, physics: &Physics, root: &Pose) -> Vec<DVec3> {
        let chains = self.flesh.chains().iter().enumerate();
        let nodes = chains.flat_map(|(chain, info)| (0..info.node_count()).map(move |node| (chain, node)));
        let swing = |(chain, node)| root.rotation.inverse() * physics.swing(self.handle, chain, node).unwrap();
        nodes.map(swing).collect()
    }
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

fn longest(swings: &[DVec3]) -> f64 {
    swings.iter().map(|swing| swing.length()).fold(0.0, f64::max)
}

/// A root that runs and turns.
fn running(frame: usize) -> Pose {
    let t = frame as f64 * FRAME;
    Pose::new(DVec3::new(5.0 * t, 0.0, (2.0 * t).sin()), DQuat::from_rotation_y(0.7 * t))
}

#[test]
fn a_paused_one_stays_as_it_is_and_the_others_do_not_notice() {
    for (name, mut physics) in backends() {
        let made = limb();
        let root = Pose::IDENTITY;
        let [one, other] = [(); 2].map(|()| Limb::new(&mut physics, &made, &root));
        let mut twin = Physics::default();
        let alone = Limb::new(&mut twin, &made, &root);
        let hash = |physics: &Physics, limb: &Limb| format!("{:?}", limb.swings(physics, &root));
        for frame in 0..20 {
            if frame == 8 {
                physics.set_active(one.handle, Active::PAUSED).unwrap();
            }
            physics.step_flesh(FRAME).unwrap();
            twin.step_flesh(FRAME).unwrap();
            if frame == 7 {
                physics.finish().unwrap();
            }
        }
        let paused = {
            physics.finish().unwrap();
            hash(&physics, &one)
        };
        physics.step_flesh(FRAME).unwrap();
        physics.finish().unwrap();
        assert_eq!(hash(&physics, &one), paused, "{name}: it moved");
        twin.step_flesh(FRAME).unwrap();
        let off = farthest(&other.swings(&physics, &root), &alone.swings(&twin, &root));
        assert!(off <= if name == "CPU" { 0.0 } else { 1.0e-6 }, "{name}: the other one is {off} m off");

        // It goes on as if there had been no time between.
        physics.set_active(one.handle, Active::default()).unwrap();
        let mut late = Physics::default();
        let later = Limb::new(&mut late, &made, &root);
        for physics in [&mut physics, &mut late] {
            (0..5).for_each(|_| physics.step_flesh(FRAME).unwrap());
        }
        (0..8).for_each(|_| late.step_flesh(FRAME).unwrap());
        physics.finish().unwrap();
        let (now, then) = (one.swings(&physics, &root), later.swings(&late, &root));
        let off = farthest(&now, &then);
        println!("{name}: after a pause, {off:.1e} m from what swings without by {:.3} m", longest(&then));
        assert!(longest(&then) > 0.01 && off <= if name == "CPU" { 0.0 } else { 1.0e-6 });
    }
}

#[test]
fn flesh_is_stepped_alike_with_and_without_its_skin() {
    for (name, mut physics) in backends() {
        physics.read_back = ReadBack { vertices: true, ..ReadBack::NOTHING };
        let made = limb();
        let limbs = [(); 2].map(|()| Limb::new(&mut physics, &made, &running(0)));
        physics.set_active(limbs[1].handle, WITHOUT_SKIN).unwrap();
        for frame in 1..=10 {
            limbs.iter().for_each(|limb| limb.pose(&mut physics, &running(frame), 0.04 * frame as f64));
            physics.step_flesh(FRAME).unwrap();
        }
        physics.finish().unwrap();
        let [with, without] = limbs.each_ref().map(|limb| limb.swings(&physics, &running(10)));
        assert_eq!(with, without);
        let skins = limbs.each_ref().map(|limb| physics.vertices(limb.handle).unwrap().positions.clone());
        println!("{name}: {} vertices with skin, {} without", skins[0].len(), skins[1].len());
        // A GPU has what it has of skin deformed once.
        let moved = |skin: &[glam::Vec3]| skin.iter().zip(&skins[0]).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(!skins[0].is_empty() && (skins[1].is_empty() || moved(&skins[1]) > 1.0e-3));
    }
}

/// Flesh that is not stepped goes with its bones in the shape that it had, and its skin with both, at any pose.
#[test]
fn skin_goes_with_bones_though_its_flesh_is_not_stepped() {
    let mut told = Vec::new();
    for (name, mut physics) in backends() {
        physics.read_back = ReadBack { vertices: true, ..ReadBack::NOTHING };
        let made = limb();
        let limb = Limb::new(&mut physics, &made, &running(0));
        for frame in 1..=10 {
            limb.pose(&mut physics, &running(frame), 0.0);
            physics.step_flesh(FRAME).unwrap();
        }
        physics.finish().unwrap();
        let swings = limb.swings(&physics, &running(10));
        let skin = physics.vertices(limb.handle).unwrap().positions.clone();
        assert!(longest(&swings) > 0.01, "nothing swings");

        physics.set_active(limb.handle, SKIN_ALONE).unwrap();
        for frame in 11..=60 {
            limb.pose(&mut physics, &running(frame), 0.0);
            physics.step_flesh(FRAME).unwrap();
        }
        physics.finish().unwrap();
        let carried = farthest(&limb.swings(&physics, &running(60)), &swings);
        let same = physics.vertices(limb.handle).unwrap().positions.clone();
        let moved = same.iter().zip(&skin).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        println!(
            "{name}: after 50 frames of running, flesh is {carried:.1e} m and skin {moved:.1e} m from where it was against its bones"
        );
        assert!(carried < 1.0e-5 && moved < 1.0e-5);

        // The joint bends: it goes round with the second bone.
        for frame in 61..=90 {
            limb.pose(&mut physics, &running(frame), 0.05 * (frame - 60) as f64);
            physics.step_flesh(FRAME).unwrap();
        }
        physics.finish().unwrap();
        let bent = limb.swings(&physics, &running(90));
        let longer = bent.iter().zip(&swings).map(|(a, b)| (a.length() - b.length()).abs()).fold(0.0, f64::max);
        println!("{name}: bent by 1.5 rad, nodes are {longer:.1e} m more or less from where bones carry them");
        assert!(longer < 1.0e-4 && farthest(&bent, &swings) > 0.01);
        assert_eq!(physics.health(limb.handle).unwrap().teleports, 0);
        told.push(bent);
    }
    if let [on_cpu, on_gpu] = &told[..] {
        assert!(farthest(on_cpu, on_gpu) < 1.0e-5);
    }
}

/// Flesh that goes on while its bones run swings no more than flesh that was stepped all the time.
#[test]
fn what_goes_on_while_it_runs_does_not_jolt() {
    for (name, mut physics) in backends() {
        let made = limb();
        let limbs = [(); 3].map(|()| Limb::new(&mut physics, &made, &running(0)));
        let modes = [None, Some(Active::PAUSED), Some(SKIN_ALONE)];
        let (mut most, mut when_it_went_on) = ([0.0_f64; 3], Vec::new());
        for frame in 1..=90 {
            for (limb, mode) in limbs.iter().zip(modes) {
                match (frame, mode) {
                    (20, Some(mode)) => physics.set_active(limb.handle, mode).unwrap(),
                    (60, Some(_)) => physics.set_active(limb.handle, Active::default()).unwrap(),
                    _ => (),
                }
                limb.pose(&mut physics, &running(frame), 0.3 * (0.1 * frame as f64).sin());
            }
            physics.step_flesh(FRAME).unwrap();
            if frame >= 60 {
                physics.finish().unwrap();
                let swings = limbs.each_ref().map(|limb| limb.swings(&physics, &running(frame)));
                for (swings, most) in swings.iter().zip(&mut most) {
                    *most = most.max(longest(swings));
                }
                if frame == 60 {
                    when_it_went_on = swings.to_vec();
                } else if frame == 90 {
                    let moved = |(now, then): (&Vec<DVec3>, &Vec<DVec3>)| farthest(now, then) > 0.005;
                    assert!(swings.iter().zip(&when_it_went_on).all(moved), "{name}: one does not go on");
                }
            }
        }
        println!(
            "{name}: swings by {:.3} m throughout, {:.3} m after a pause, {:.3} m after its skin alone",
            most[0], most[1], most[2]
        );
        assert!(most[0] > 0.005 && most[1..].iter().all(|most_after| *most_after < 1.5 * most[0]));
        for limb in &limbs {
            let health = physics.health(limb.handle).unwrap();
            assert!(health.resets == 0 && health.teleports == 0, "{health:?}");
        }
    }
}

#[test]
fn each_costs_what_it_does() {
    let made = limb();
    let modes = [Active::default(), WITHOUT_SKIN, SKIN_ALONE, Active::PAUSED];
    let mut scenes = modes.map(|active| {
        let mut physics = Physics::default();
        physics.config.threads = 1;
        let limbs: Vec<Limb> = (0..100).map(|_| Limb::new(&mut physics, &made, &Pose::IDENTITY)).collect();
        limbs.iter().for_each(|limb| physics.set_active(limb.handle, active).unwrap());
        (physics, limbs)
    });
    let mut times = [(); 4].map(|()| Vec::new());
    // In turns, each first in one of four: what else the machine does then hits all of them.
    for frame in 1..=61 {
        for turn in 0..4 {
            let of = (frame + turn) % 4;
            let (physics, limbs) = &mut scenes[of];
            limbs.iter().for_each(|limb| limb.pose(physics, &running(frame), 0.0));
            let start = Instant::now();
            physics.step_flesh(FRAME).unwrap();
            times[of].push(1.0e6 * start.elapsed().as_secs_f64() / 100.0);
        }
    }
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let [all, without_skin, skin_alone, paused] = times;
    // Of each turn: the machine may be half as fast in the next.
    let of_all = |times: Vec<f64>| median(times.iter().zip(&all).map(|(time, all)| time / all).collect());
    let [without_skin, skin_alone, paused] = [without_skin, skin_alone, paused].map(of_all);
    println!(
        "an instance a frame: {:.1} µs; without skin {without_skin:.2}, skin alone {skin_alone:.2}, paused {paused:.3} of that",
        median(all.clone())
    );
    assert!(without_skin < 1.0 && skin_alone < 0.6 && paused < 0.05);
}

/// A paused instance that is saved goes on, restored, as it would have.
#[test]
fn a_snapshot_of_a_paused_one_knows_that_it_stayed_behind() {
    let made = limb();
    let mut physics = Physics::default();
    let limb = Limb::new(&mut physics, &made, &running(0));
    let steps = |physics: &mut Physics, frames: std::ops::RangeInclusive<usize>| {
        for frame in frames {
            limb.pose(physics, &running(frame), 0.0);
            physics.step_flesh(FRAME).unwrap();
        }
    };
    steps(&mut physics, 1..=10);
    physics.set_active(limb.handle, Active::PAUSED).unwrap();
    steps(&mut physics, 11..=20);
    let saved = physics.save();
    physics.set_active(limb.handle, Active::default()).unwrap();
    steps(&mut physics, 21..=30);
    let hash = physics.state_hash();
    physics.restore(&saved).unwrap();
    steps(&mut physics, 21..=30);
    assert_eq!(physics.state_hash(), hash);
    let swing = longest(&limb.swings(&physics, &running(30)));
    assert!(swing < 0.3, "{swing} m");
}
