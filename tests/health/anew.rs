//! Chains that are where flesh cannot be are laid anew, alone; flesh that is soft, strong or held crosswise is not.

use glam::{DQuat, DVec3, Quat, Vec3};
use sinew::flesh::{Holds, NodeState, RodNode, RodSpec};
use sinew::layout::chain;
use sinew::step::StepConfig;
use sinew::{LaneWidth, Material, Pose};

use crate::{FRAME, Stepped, limb, limb_at, rod, swinging};

type Spoil = fn(&mut [NodeState]);

/// What may become of a chain.
const SPOILS: [(&str, Spoil); 6] = [
    ("one node at 10³⁰ m", |nodes| nodes[3].place.x = 1.0e30),
    ("a place that is no number", |nodes| nodes[2].place.y = f64::NAN),
    ("a velocity that is no number", |nodes| nodes[4].velocity.z = f32::NAN),
    ("a scale without end", |nodes| nodes[1].scale = f32::INFINITY),
    ("10⁹ m away", |nodes| nodes.iter_mut().skip(1).for_each(|node| node.place.z += 1.0e9)),
    ("frames of nothing", |nodes| nodes.iter_mut().for_each(|node| node.frame = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0))),
];

/// The limb swinging for a second, one chain spoilt after a third of it.
fn swung(width: LaneWidth, spoilt: Option<(usize, Spoil)>) -> Stepped {
    let (rods, bones) = limb();
    let mut limb = Stepped::new(&rods, &bones, StepConfig::default());
    limb.physics.lane_width = width;
    for frame in 0..60 {
        if let (Some((chain, spoil)), 20) = (spoilt, frame) {
            set(&mut limb, chain, spoil);
        }
        limb.step(&limb_at(Pose::IDENTITY, swinging(f64::from(frame) * FRAME)), Pose::IDENTITY, FRAME);
        assert!(limb.is_finite(), "frame {frame}");
    }
    limb
}

fn set(of: &mut Stepped, chain: usize, spoil: Spoil) {
    let mut nodes = of.nodes(chain);
    spoil(&mut nodes);
    let flesh = of.flesh.clone();
    let state = of.physics.state_mut(of.handle).unwrap();
    for (index, node) in nodes.iter().enumerate() {
        state.set_node(&flesh, chain, index, node);
    }
}

#[test]
fn a_spoilt_chain_is_laid_anew_alone_and_its_neighbours_keep_their_bits() {
    let clean = swung(LaneWidth::Eight, None);
    assert_eq!(clean.resets(), 0);
    for (what, spoil) in SPOILS {
        for chain in [0, 3] {
            let spoilt = swung(LaneWidth::Eight, Some((chain, spoil)));
            let health = spoilt.physics.health(spoilt.handle).unwrap();
            println!("{what}: {health:?}; at the end {:.4} lengths off where its bones carry it", spoilt.off(chain));
            let [laid] = &health.laid_anew[..] else { panic!("{what}: one chain is laid anew") };
            assert_eq!(
                (laid.chain, laid.name.as_str(), laid.times, health.resets),
                (chain, ["hangs", "", "", "tied"][chain], 1, 1)
            );
            assert!(spoilt.off(chain) < 1.0, "{what}");
            for other in (0..4).filter(|other| *other != chain) {
                assert!(spoilt.nodes(other) == clean.nodes(other), "{what}: chain {other} noticed");
            }
        }
    }
}

#[test]
fn chains_are_laid_anew_with_the_same_bits_at_every_lane_width() {
    for (what, spoil) in SPOILS {
        let all =
            [LaneWidth::Eight, LaneWidth::EightBaseline, LaneWidth::One].map(|width| swung(width, Some((2, spoil))));
        let hashes = all.each_ref().map(|limb| limb.physics.state_hash());
        println!("{what}: {hashes:016x?}");
        assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{what}");
        assert!(all.iter().all(|limb| limb.resets() == 1));
    }
}

/// As [`SPOILS`], of what is finite, and out of what a stiff chain comes back by itself or is laid anew.
#[test]
fn an_upturned_chain_comes_back() {
    let (rods, bones) = limb();
    let upturned: Spoil = |nodes| {
        let first = nodes[0].place;
        for node in nodes.iter_mut().skip(1) {
            node.place = first - (node.place - first) * 9.0;
            node.scale = 0.06;
        }
    };
    let tied_up: Spoil = |nodes| {
        for (index, node) in nodes.iter_mut().enumerate() {
            node.frame = Quat::from_axis_angle(Vec3::Y, 3.1 * index as f32) * node.frame;
        }
    };
    for (what, spoil) in
        [("turned inside out, 9 times as long", upturned), ("every frame turned against the next", tied_up)]
    {
        for chain in 0..4 {
            let mut limb = Stepped::new(&rods, &bones, StepConfig::default());
            (0..240).for_each(|_| limb.step(&bones, Pose::IDENTITY, FRAME));
            let rest = limb.nodes(chain);
            set(&mut limb, chain, spoil);
            (0..240).for_each(|_| limb.step(&bones, Pose::IDENTITY, FRAME));
            let off = limb.nodes(chain).iter().zip(&rest).map(|(a, b)| a.place.distance(b.place)).fold(0.0, f64::max);
            let off = off / limb.flesh.chains()[chain].rest_length;
            println!(
                "{what}, `{}`: 4 s later {:.3} % of its length off (bar 5 %), laid anew {} times",
                rods[chain].name,
                100.0 * off,
                limb.resets()
            );
            assert!(off < 0.05 && limb.resets() <= 1);
        }
    }
}

#[test]
fn a_chain_is_laid_anew_with_the_motion_of_its_bones() {
    let (rods, bones) = limb();
    let mut limb = Stepped::new(&rods, &bones, StepConfig::default());
    let (speed, spin) = (DVec3::new(3.0, 0.0, -1.0), 2.0);
    for frame in 0..30 {
        let time = f64::from(frame) * FRAME;
        let root = Pose::new(speed * time, DQuat::from_rotation_y(spin * time));
        if frame == 29 {
            set(&mut limb, 2, SPOILS[1].1);
        }
        limb.step(&limb_at(root, 0.3), root, FRAME);
        if frame == 29 {
            let node = limb.nodes(2)[5];
            let arm = node.place - root.translation;
            let expected = speed + DVec3::Y.cross(arm) * spin;
            let off = node.velocity.as_dvec3().distance(expected);
            let spun = (node.spin.as_dvec3() - DVec3::Y * spin).length();
            println!(
                "laid anew at {:.3} m/s, its bones' {:.3} (bar 0.05), and {spun:.1e} rad/s off their spin",
                node.velocity.length(),
                expected.length()
            );
            assert!(off < 0.05 && spun < 0.01 && limb.resets() == 1);
        }
    }
}

#[test]
fn a_free_chain_is_laid_anew_where_it_was_or_at_the_root() {
    let spec = rod("free", DVec3::ZERO, 0.5, 8, 1.0e6);
    let root = Pose::from_translation(DVec3::new(2.0, 1.0, 0.0));
    let run = |spoil: Spoil| {
        let config = StepConfig { gravity: DVec3::ZERO, ..StepConfig::default() };
        let mut free = Stepped::new(std::slice::from_ref(&spec), &[], config);
        let mut nodes = free.nodes(0);
        nodes.iter_mut().for_each(|node| node.velocity = Vec3::new(0.0, 0.0, 4.0));
        let flesh = free.flesh.clone();
        for (index, node) in nodes.iter().enumerate() {
            free.physics.state_mut(free.handle).unwrap().set_node(&flesh, 0, index, node);
        }
        (0..60).for_each(|_| free.step(&[], root, FRAME));
        set(&mut free, 0, spoil);
        (0..60).for_each(|_| free.step(&[], root, FRAME));
        assert_eq!(free.resets(), 1);
        assert!(free.is_finite());
        free.nodes(0)[4]
    };
    // So turned and stretched that it does not find back.
    let knotted: Spoil = |nodes| {
        nodes.iter_mut().enumerate().for_each(|(index, node)| {
            node.place.x = 1.0e14 * index as f64;
        });
    };
    let node = run(SPOILS[1].1);
    println!("not finite: its middle lands at {:.3} m, the root's is 2.25, 1, 0", node.place);
    assert!(node.place.distance(DVec3::new(2.25, 1.0, 0.0)) < 0.01);
    let node = run(knotted);
    println!("10¹⁴ m long: its middle lands at {:.3} m", node.place);
}

#[test]
fn soft_flesh_that_hangs_by_its_own_weight_is_never_laid_anew() {
    // ρgL/E = 0.3, 3 and 12; hanging along its length, and as a cantilever.
    for weight in [0.3, 3.0, 12.0] {
        let youngs_modulus = 1000.0 * 9.81 * 0.5 / weight;
        for turn in [0.0, -std::f64::consts::FRAC_PI_2] {
            let mut spec = rod("soft", DVec3::ZERO, 0.5, 10, youngs_modulus).attach(0, 0, Holds::CLAMP);
            spec.material.poissons_ratio = 0.3;
            let bone = Pose::new(DVec3::ZERO, DQuat::from_rotation_z(turn));
            let mut soft = Stepped::new(&[spec], &[Pose::IDENTITY], StepConfig::default());
            let mut unwell = 0.0_f32;
            for _ in 0..1200 {
                soft.step(&[bone], Pose::IDENTITY, FRAME);
                let (_, chains) = soft.physics.state(soft.handle).unwrap().rows().next().unwrap();
                unwell = unwell.max(chains[chain::UNWELL][0]);
            }
            println!(
                "ρgL/E = {weight}, bone turned by {turn:.1}: stretched {:.2} times, unwell for {unwell:.2} s at most (bar 0.2), {} resets",
                soft.stretch(0),
                soft.resets()
            );
            assert!(soft.resets() == 0 && unwell < 0.2);
        }
    }
}

#[test]
fn strong_muscles_and_bones_held_crosswise_are_never_laid_anew() {
    let (mut rods, bones) = limb();
    for rod in &mut rods {
        rod.material.peak_stress = 3.0 * rod.material.youngs_modulus;
        rod.contraction.shortening = 0.8;
    }
    let short = rod("one segment", DVec3::new(0.35, 0.1, 0.0), 0.1, 1, 1.0e6);
    rods.push(short.attach(0, 0, Holds::CLAMP).attach(1, 1, Holds::CLAMP));
    for (what, far, activation) in [
        ("activation 10", limb_at(Pose::IDENTITY, 0.0)[1], 10.0),
        ("bones drawn apart to three times", Pose::from_translation(DVec3::X * 1.6), 0.0),
        ("bones drawn apart to ten times", Pose::from_translation(DVec3::X * 6.0), 0.0),
        ("bones in one place", Pose::from_translation(DVec3::X * 0.1), 0.0),
        ("bones past each other", Pose::from_translation(DVec3::X * -0.6), 1.0),
        ("a bone turned about", Pose::new(DVec3::X * 0.4, DQuat::from_rotation_y(3.1)), 0.5),
        ("a bone twisted", Pose::new(DVec3::X * 0.4, DQuat::from_rotation_x(3.1)), 0.0),
    ] {
        let mut limb = Stepped::new(&rods, &bones, StepConfig::default());
        for chain in 0..rods.len() {
            limb.physics.set_activation(limb.handle, chain, activation).unwrap();
        }
        for frame in 0..240 {
            let share = (f64::from(frame) / 60.0).min(1.0);
            let turn = DQuat::IDENTITY.slerp(far.rotation, share);
            let bone = Pose::new(bones[1].translation.lerp(far.translation, share), turn);
            limb.step(&[Pose::IDENTITY, bone], Pose::IDENTITY, FRAME);
        }
        println!("{what}: {:?}", limb.physics.health(limb.handle).unwrap());
        assert_eq!(limb.resets(), 0, "{what}");
    }
}

#[test]
fn counts_survive_a_teleport_and_a_snapshot() {
    let (rods, bones) = limb();
    let mut limb = Stepped::new(&rods, &bones, StepConfig::default());
    limb.step(&bones, Pose::IDENTITY, FRAME);
    set(&mut limb, 1, SPOILS[1].1);
    limb.step(&bones, Pose::IDENTITY, FRAME);
    let saved = limb.physics.save();
    limb.physics.teleport(limb.handle, &bones, Pose::IDENTITY).unwrap();
    set(&mut limb, 1, SPOILS[1].1);
    set(&mut limb, 3, SPOILS[2].1);
    limb.step(&bones, Pose::IDENTITY, FRAME);
    let counts = |limb: &Stepped| -> Vec<(String, u32)> {
        let health = limb.physics.health(limb.handle).unwrap();
        health.laid_anew.iter().map(|laid| (laid.name.clone(), laid.times)).collect()
    };
    println!("{:?}", counts(&limb));
    assert_eq!(counts(&limb), [("far".into(), 2), ("tied".into(), 1)]);
    limb.physics.restore(&saved).unwrap();
    limb.step(&bones, Pose::IDENTITY, FRAME);
    assert_eq!(counts(&limb), [("far".into(), 1)]);
}

/// An animal of a body and eight limbs that hangs by the tip of one: that stretches by the weight of all of it, and is not laid anew for
/// it, which would drop the animal again.
#[test]
fn what_hangs_by_one_limb_is_not_laid_anew() {
    let material = Material { youngs_modulus: 1.0e5, poissons_ratio: 0.45, damping: 3.0, ..Material::default() };
    let mut body = RodSpec::straight("body", DVec3::ZERO, DVec3::Y * 0.3, 5, 0.03);
    for (node, wider) in body.nodes.iter_mut().zip([2.2, 3.2, 3.8, 4.0, 3.4, 2.0]) {
        *node = RodNode::disc(node.place, wider * 0.03);
    }
    let limbs = (0..8).map(|limb| {
        let out = DQuat::from_rotation_y(std::f64::consts::TAU * f64::from(limb) / 8.0) * DVec3::X;
        let root = out * 0.048;
        // Of several lengths, which share a group and are padded there.
        let segments = [6, 3, 7, 4, 6, 5, 6, 6][limb as usize];
        RodSpec::straight(format!("limb {limb}"), root + (out * 0.6 - DVec3::Y * 0.8) * 0.5, root, segments, 0.021)
            .hang(0, 0)
    });
    let mut rods: Vec<RodSpec> = [body].into_iter().chain(limbs).collect();
    let turn = DQuat::from_rotation_arc((DVec3::X * 0.6 - DVec3::Y * 0.8).normalize(), DVec3::Y);
    for rod in &mut rods {
        rod.material = material;
        rod.nodes.iter_mut().for_each(|node| node.place = turn * node.place);
    }
    let held = Pose::from_translation(rods[1].nodes[0].place);
    rods[1] = rods[1].clone().attach(0, 0, Holds::PIN);
    let mut hanging = Stepped::new(&rods, &[held], StepConfig::default());
    let (mut stretched, mut fastest) = (0.0_f64, 0.0_f64);
    for _ in 0..300 {
        hanging.physics.step_flesh(FRAME).expect("steps");
        let quality = hanging.physics.quality();
        (stretched, fastest) = (stretched.max(quality.stretch_error_max), fastest.max(quality.speed_max));
    }
    let resets = hanging.resets();
    println!("stretched by {stretched:.2} at most, {fastest:.1} m/s (bar 10), laid anew {resets} times");
    assert!(stretched > 3.0, "its own weight is less than what the limb alone may be stretched");
    assert!(resets == 0 && fastest < 10.0);
}
