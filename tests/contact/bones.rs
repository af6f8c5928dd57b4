//! Muscles on their own bones: they wrap over them, stay where they lay at rest, and nothing that a game does throws them off.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use sinew::flesh::{BonePill, Flesh, Holds, RodSpec};
use sinew::step::StepConfig;
use sinew::{Active, FleshHandle, LaneWidth, Material, Physics, Pose, Touched};

use super::FAR;
use super::common::{FRAME, Random};

/// Radius of the bone, of the muscle, and how far from the hinge this is held (m).
const BONE: f64 = 0.02;
const MUSCLE: f64 = 0.008;
const ARM: f64 = 0.15;
const SEGMENTS: usize = 20;

/// A hinge about z whose second bone flexes by an angle, wherever the root is.
fn hinge(root: Pose, flexion: f64) -> [Pose; 2] {
    [root, root * Pose::new(DVec3::ZERO, DQuat::from_rotation_z(-flexion))]
}

/// A bone across the hinge.
fn across() -> BonePill {
    let half = Vec3::Z * 0.1;
    BonePill { bone: 0, ends: [-half, half], radius: BONE as f32, friction: 0.0 }
}

/// A muscle over the hinge that touches the bone across it at rest, `aside` along that (m).
fn over(aside: f64) -> RodSpec {
    let x = BONE + MUSCLE;
    let (from, to) = (DVec3::new(x, ARM, aside), DVec3::new(x, -ARM, aside));
    let mut rod = RodSpec::straight(format!("over {aside}"), from, to, SEGMENTS, MUSCLE);
    rod.material = Material { youngs_modulus: 1.0e5, damping: 10.0, ..Material::muscle() };
    rod.attach(0, 0, Holds::PIVOT).attach(SEGMENTS, 1, Holds::PIVOT)
}

struct Limb {
    physics: Physics,
    handle: FleshHandle,
}

impl Limb {
    fn new(rods: &[RodSpec], pills: &[BonePill], config: StepConfig) -> Self {
        let bones = hinge(Pose::IDENTITY, 0.0);
        let flesh = Flesh::build(rods, &bones).expect("in range").with_bone_pills(pills).expect("in range");
        let mut physics = Physics::with_config(config);
        let handle = physics.insert(Arc::new(flesh), &bones, Pose::IDENTITY).expect("finite");
        Self { physics, handle }
    }

    fn step(&mut self, root: Pose, flexion: f64) {
        self.physics.set_bones(self.handle, &hinge(root, flexion), root).expect("finite");
        self.physics.step_flesh(FRAME).expect("steps");
    }

    /// Flexes to an angle in half a second, and stays for as long again.
    fn flex(&mut self, from: f64, to: f64) {
        for frame in 1..=60 {
            self.step(Pose::IDENTITY, from + (to - from) * f64::from(frame.min(30)) / 30.0);
        }
    }

    fn excite(&mut self, to: f32) {
        for chain in 0..self.physics.flesh(self.handle).expect("is there").chains().len() {
            self.physics.set_activation(self.handle, chain, to).expect("within 0 to 1");
        }
    }

    fn nodes(&self, chain: usize) -> Vec<sinew::flesh::NodeState> {
        let count = self.physics.flesh(self.handle).expect("is there").chains()[chain].node_count();
        (0..count).map(|node| self.physics.node(self.handle, chain, node).expect("is there")).collect()
    }

    /// Length along the nodes (m).
    fn length(&self, chain: usize) -> f64 {
        self.nodes(chain).windows(2).map(|pair| pair[0].place.distance(pair[1].place)).sum()
    }

    /// How deep a chain is in the bone across the hinge, over its radius, and its radius (m) there.
    fn depth(&self, chain: usize) -> (f64, f64) {
        let nodes = self.nodes(chain);
        let at = |k: usize| {
            let (j, t) = (k / 16, (k % 16) as f64 / 16.0);
            let (a, b) = (&nodes[j], &nodes[j + 1]);
            let radius = f64::from(a.radius) + (f64::from(b.radius) - f64::from(a.radius)) * t;
            let place = a.place.lerp(b.place, t);
            (1.0 - (place.truncate().length() - BONE) / radius, radius)
        };
        (0..SEGMENTS * 16).map(at).fold((f64::MIN, 0.0), |most, here| if here.0 > most.0 { here } else { most })
    }

    fn is_sound(&self) -> bool {
        let resets = self.physics.health(self.handle).expect("is there").resets;
        resets == 0 && self.physics.state(self.handle).expect("is there").is_finite()
    }
}

/// Length (m) of a string from the one held end to the other over a cylinder about the hinge: tangent, arc, tangent.
fn wrapped(flexion: f64, radius: f64) -> f64 {
    let end = DVec3::new(BONE + MUSCLE, ARM, 0.0);
    let far = end.length();
    // How far round the hinge both ends are from each other, on the bone's side.
    let between = 2.0 * (ARM / (BONE + MUSCLE)).atan() + flexion;
    let arc = between - 2.0 * (radius / far).acos();
    if arc <= 0.0 {
        2.0 * far * (0.5 * between).sin()
    } else {
        2.0 * (far * far - radius * radius).sqrt() + radius * arc
    }
}

/// Wherever the joint is, the muscle is as long as a string over the bone.
#[test]
fn a_muscle_wraps_over_a_bone_as_a_string_does() {
    let mut failed = false;
    // Excited by 5, it pulls with 1.5 MPa, as arm26's do.
    for (substeps, excitation) in [(4, 0.0), (4, 0.3), (4, 1.0), (4, 5.0), (8, 1.0), (8, 5.0), (2, 1.0)] {
        let config = StepConfig { substeps, ..StepConfig::default() };
        let mut limb = Limb::new(&[over(0.0)], &[across()], config);
        limb.excite(excitation);
        let mut before = 0.0;
        for degrees in [20.0_f64, 45.0, 70.0, 90.0, 120.0, 140.0] {
            let flexion = degrees.to_radians();
            limb.flex(before, flexion);
            before = flexion;
            let (depth, radius) = limb.depth(0);
            let (found, exact) = (limb.length(0), wrapped(flexion, BONE + radius));
            let off = found / exact - 1.0;
            let tension = limb.physics.muscle(limb.handle, 0).expect("is there").origin_force.length();
            let force: f32 = limb.physics.contacts(limb.handle).expect("is there").map(|contact| contact.force).sum();
            println!(
                "{substeps} substeps, {degrees}°, excited by {excitation}: {:.2} mm long, a string {:.2} mm, {:+.2} % (bar 2 %); \
                 {:.2} % of its radius deep (bar 5 %); {tension:.1} N, presses with {force:.1} N",
                1e3 * found,
                1e3 * exact,
                100.0 * off,
                100.0 * depth
            );
            failed |= !(off.abs() <= 0.02 && depth <= 0.05 && limb.is_sound());
        }
    }
    assert!(!failed);
}

/// Bones in which muscles lie at rest, from the surface to past the axis, push nothing.
#[test]
fn what_lies_in_a_bone_at_rest_stays() {
    let weightless = StepConfig { gravity: DVec3::ZERO, ..StepConfig::default() };
    let pill = |depth: f64, tilt: f64, bone: usize| {
        let half = DQuat::from_rotation_x(tilt) * DVec3::Z * 0.05;
        let middle = DVec3::new(MUSCLE * (1.0 - depth), 0.06 * if bone == 0 { 1.0 } else { -1.0 }, 0.0);
        let ends = [middle - half, middle + half].map(|end| end.as_vec3());
        BonePill { bone, ends, radius: BONE as f32, friction: 0.5 }
    };
    for at in [DVec3::ZERO, FAR] {
        for depth in [0.0, 0.2, 0.5, 1.0, 2.0, 3.5] {
            let pills = [pill(depth, 0.0, 0), pill(depth, 1.2, 0), pill(depth, 0.4, 1), pill(depth, 1.57, 1)];
            let mut limb = Limb::new(&[over(0.0)], &pills, weightless);
            let root = Pose::from_translation(at);
            limb.physics.teleport(limb.handle, &hinge(root, 0.0), root).expect("finite");
            let start = limb.nodes(0);
            (0..240).for_each(|_| limb.step(root, 0.0));
            let moved = start.iter().zip(limb.nodes(0)).map(|(a, b)| a.place.distance(b.place)).fold(0.0, f64::max);
            println!(
                "{depth} radii deep at rest, {:.0} m away: moves by {moved:.1e} m in 4 s (bar 1e-6 of its length, {:.1e})",
                at.length(),
                2.0e-6 * ARM
            );
            assert!(limb.is_sound() && moved <= 2.0e-6 * ARM);
        }
    }
}

/// Flesh without bone pills, and with such as it never comes near to, is stepped to the same bits.
#[test]
fn bones_out_of_reach_change_nothing() {
    let far = BonePill { ends: [Vec3::Y * 30.0, Vec3::Y * 31.0], ..across() };
    let hash = |pills: &[BonePill]| {
        let mut limb = Limb::new(&[over(0.0), over(0.05)], pills, StepConfig::default());
        limb.excite(0.5);
        limb.flex(0.0, 1.5);
        limb.physics.state_hash()
    };
    let (without, far, near) = (hash(&[]), hash(&[far]), hash(&[across()]));
    println!("without bones {without:016x}, with far ones {far:016x}, with near ones {near:016x}");
    assert_eq!(without, far);
    assert_ne!(without, near);
}

/// What no animation should do: jumps, jerks, and muscles excited all at once. It stays whole, and wraps again afterwards.
#[test]
fn jerked_bones_leave_muscles_whole() {
    for substeps in [2, 4, 8] {
        for pills in [vec![], vec![across()]] {
            let config = StepConfig { substeps, ..StepConfig::default() };
            let mut limb = Limb::new(&[over(0.0), over(0.03)], &pills, config);
            let flexed = 120.0_f64.to_radians();
            limb.flex(0.0, flexed);
            let at = |x: f64| Pose::from_translation(DVec3::X * x);
            for (root, flexion, excitation) in [
                (at(100.0), flexed, 0.0_f32),
                (at(103.0), flexed, 0.0),
                (at(100.0), flexed, 1.0),
                (Pose::new(DVec3::X * 100.0, DQuat::from_rotation_y(3.0)), flexed, 0.0),
                (at(0.0), 0.0, 1.0),
                (at(0.0), flexed, 1.0),
                (at(0.0), -flexed, 1.0),
                (at(0.0), flexed, 0.0),
            ] {
                limb.excite(excitation);
                (0..20).for_each(|_| limb.step(root, flexion));
                assert!(limb.physics.state(limb.handle).expect("is there").is_finite());
            }
            (0..120).for_each(|_| limb.step(Pose::IDENTITY, flexed));
            let health = limb.physics.health(limb.handle).expect("is there");
            let (depth, radius) = limb.depth(0);
            let off = limb.length(0) / wrapped(flexed, BONE + radius) - 1.0;
            println!(
                "{substeps} substeps, {} bones: {} resets (bar 0), {} teleports; then {:+.2} % off a string's length, {:.2} % deep",
                pills.len(),
                health.resets,
                health.teleports,
                100.0 * off,
                100.0 * depth
            );
            assert!(health.resets == 0);
            assert!(pills.is_empty() || (off.abs() <= 0.02 && depth <= 0.05));
        }
    }
}

/// Eleven muscles in two groups go as each alone does.
#[test]
fn muscles_side_by_side_go_as_each_alone() {
    let rods: Vec<RodSpec> = (0..11).map(|k| over(0.012 * f64::from(k) - 0.06)).collect();
    let run = |rods: &[RodSpec], width: LaneWidth, threads: usize| {
        let mut limb = Limb::new(rods, &[across()], StepConfig { threads, ..StepConfig::default() });
        limb.physics.lane_width = width;
        limb.excite(0.5);
        limb.flex(0.0, 1.5);
        (0..rods.len()).map(|chain| limb.nodes(chain)).collect::<Vec<_>>()
    };
    let all = run(&rods, LaneWidth::Eight, 1);
    for (width, threads) in [(LaneWidth::One, 1), (LaneWidth::EightBaseline, 2)] {
        assert_eq!(all, run(&rods, width, threads), "{width:?}, {threads} threads");
    }
    let alone = rods.iter().map(|rod| run(std::slice::from_ref(rod), LaneWidth::Eight, 1).remove(0));
    let apart = |(a, b): (&Vec<sinew::flesh::NodeState>, Vec<sinew::flesh::NodeState>)| {
        a.iter().zip(b).map(|(a, b)| a.place.distance(b.place)).fold(0.0, f64::max)
    };
    let apart = all.iter().zip(alone).map(apart).fold(0.0, f64::max);
    println!("side by side and alone: {apart:.1e} m apart (bar 0)");
    assert!(apart == 0.0);
}

/// What is remembered of bones goes with a snapshot, to the bit, whatever the lanes.
#[test]
fn bones_are_saved_and_restored_to_the_bit() {
    let pill = BonePill { friction: 0.5, ..across() };
    let scene = || {
        let mut limb = Limb::new(&[over(0.0), over(0.02)], &[pill], StepConfig::default());
        limb.excite(0.6);
        limb.flex(0.0, 1.2);
        limb
    };
    let mut whole = scene();
    let snapshot = whole.physics.save_flesh(whole.handle).expect("is there");
    whole.flex(1.2, 2.0);
    for width in [LaneWidth::Eight, LaneWidth::One, LaneWidth::EightBaseline] {
        let mut other = scene();
        other.physics.lane_width = width;
        other.flex(1.2, 0.3);
        other.physics.restore_flesh(other.handle, &snapshot).expect("is its own");
        other.flex(1.2, 2.0);
        assert_eq!(whole.physics.state_hash(), other.physics.state_hash(), "{width:?}");
    }
}

/// Paused, it costs nothing and keeps its place; after that it goes on over the bone. What it touches is listed.
#[test]
fn paused_muscles_go_on_over_the_bone() {
    let mut limb = Limb::new(&[over(0.0)], &[across()], StepConfig::default());
    limb.excite(0.5);
    limb.flex(0.0, 1.2);
    limb.physics.set_active(limb.handle, Active { flesh: false, skin: true }).expect("is there");
    limb.flex(1.2, 1.4);
    limb.physics.set_active(limb.handle, Active::PAUSED).expect("is there");
    limb.flex(1.4, 1.6);
    limb.physics.set_active(limb.handle, Active::default()).expect("is there");
    limb.flex(1.6, 1.6);
    let (depth, radius) = limb.depth(0);
    let off = limb.length(0) / wrapped(1.6, BONE + radius) - 1.0;
    println!(
        "after a pause {:+.2} % off a string's length (bar 2 %), {:.2} % deep (bar 5 %)",
        100.0 * off,
        100.0 * depth
    );
    assert!(limb.is_sound() && off.abs() <= 0.02 && depth <= 0.05);
    let touched: Vec<_> =
        limb.physics.contacts(limb.handle).expect("is there").map(|contact| contact.touched).collect();
    assert!(!touched.is_empty() && touched.iter().all(|touched| *touched == Touched::BonePill(0)));
}

/// Two muscles on one bone that goes by itself, beside a rod that hangs on another: where a chain does not hang on a bone, its pills
/// still carry it.
#[test]
fn a_bone_that_a_muscle_does_not_hang_on_pushes_it() {
    let rod = RodSpec { material: Material { damping: 10.0, ..Material::muscle() }, ..over(0.0) };
    let (first, last) = (rod.attachments[0], rod.attachments[1]);
    let rod = RodSpec { attachments: Vec::new(), ..rod };
    let rod = rod.attach(first.node, 0, Holds::PIVOT).attach(last.node, 0, Holds::PIVOT);
    let still = [Pose::IDENTITY; 2];
    let pill = BonePill { bone: 1, ..across() };
    let flesh = Flesh::build(&[rod], &still).expect("in range").with_bone_pills(&[pill]).expect("in range");
    let mut physics = Physics::default();
    let handle = physics.insert(Arc::new(flesh), &still, Pose::IDENTITY).expect("finite");
    let mut deepest = f64::MIN;
    for frame in 1..=120 {
        let aside = 0.03 * (f64::from(frame) / 60.0).min(1.0);
        let bones = [Pose::IDENTITY, Pose::new(DVec3::X * aside, DQuat::from_rotation_z(aside))];
        physics.set_bones(handle, &bones, Pose::IDENTITY).expect("finite");
        physics.step_flesh(FRAME).expect("steps");
        for node in (0..=SEGMENTS).map(|node| physics.node(handle, 0, node).expect("is there")) {
            let gap = (node.place - DVec3::X * aside).truncate().length() - BONE - f64::from(node.radius);
            deepest = deepest.max(-gap / f64::from(node.radius));
        }
    }
    let middle = physics.node(handle, 0, SEGMENTS / 2).expect("is there").place;
    println!(
        "pushed aside by 30 mm: by {:.2} mm, {:.2} % of its radius deep (bar 5 %)",
        1e3 * (middle.x - BONE - MUSCLE),
        100.0 * deepest
    );
    assert!(middle.x - BONE - MUSCLE > 0.028 && deepest <= 0.05);
}

/// Muscles that touch each other beside the bone touch it as well.
#[test]
fn muscles_that_meet_lie_on_the_bone() {
    let rods: Vec<RodSpec> = (0..10).map(|k| over(0.017 * f64::from(k) - 0.07)).collect();
    let run = |threads: usize, width: LaneWidth| {
        let config = StepConfig { passes: 4, threads, ..StepConfig::default() };
        let mut limb = Limb::new(&rods, &[across()], config);
        limb.physics.lane_width = width;
        limb.excite(0.3);
        limb.flex(0.0, 1.5);
        limb
    };
    let limb = run(1, LaneWidth::Eight);
    let deepest = (0..rods.len()).map(|chain| limb.depth(chain).0).fold(f64::MIN, f64::max);
    println!("ten side by side, which touch: {:.2} % of a radius deep (bar 5 %)", 100.0 * deepest);
    assert!(limb.is_sound() && deepest <= 0.05);
    assert_eq!(limb.physics.state_hash(), run(2, LaneWidth::One).physics.state_hash());
}

/// Bones of any size and place, points and pills that swallow the whole limb among them, on bones that go anywhere.
#[test]
fn any_bones_leave_muscles_finite() {
    let mut random = Random(7);
    let (mut resets, mut touched) = (0, 0);
    for scene in 0..60 {
        let pill = |random: &mut Random| {
            let end = random.vector(-0.2, 0.2).as_vec3();
            let other = if random.uniform(0.0, 1.0) < 0.3 { end } else { random.vector(-0.2, 0.2).as_vec3() };
            let radius = random.log_uniform(1.0e-4, 1.0) as f32;
            BonePill { bone: usize::from(random.uniform(0.0, 1.0) < 0.5), ends: [end, other], radius, friction: 1.0 }
        };
        let pills: Vec<BonePill> = (0..1 + scene % 6).map(|_| pill(&mut random)).collect();
        let config = StepConfig { substeps: 1 + scene % 5, ..StepConfig::default() };
        let mut limb = Limb::new(&[over(0.0), over(0.02), over(-0.03)], &pills, config);
        for _ in 0..12 {
            limb.excite(random.uniform(0.0, 3.0) as f32);
            let far = random.log_uniform(1.0e-3, 10.0);
            let root = Pose::new(random.vector(-far, far), random.rotation());
            let flexion = random.uniform(-2.4, 2.4);
            (0..6).for_each(|_| limb.step(root, flexion));
            touched += limb.physics.contacts(limb.handle).expect("is there").count();
            assert!(limb.physics.state(limb.handle).expect("is there").is_finite(), "scene {scene}: {pills:?}");
        }
        resets += limb.physics.health(limb.handle).expect("is there").resets;
    }
    println!("60 scenes of 72 frames, thrown about in each sixth: {resets} resets (bar 0), {touched} contacts seen");
    assert!(resets == 0 && touched > 1000);
}
