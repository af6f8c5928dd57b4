//! Who may meet whom: groups, and what of itself flesh touches.

use std::collections::BTreeSet;
use std::sync::Arc;

use glam::DVec3;
use sinew::flesh::{Flesh, RodNode, RodSpec};
use sinew::step::StepConfig;
use sinew::{Coefficient, CollisionGroups, Collisions, CombineRule, HalfSpace, Physics, Pose, StepError};

use crate::common::{FRAME, material};
use crate::pile::{LENGTH, PASSES, Pile, RADIUS, SEGMENTS};

const PLAYERS: u32 = 1;
const ENEMIES: u32 = 2;
const GHOSTS: u32 = 4;

fn in_groups(memberships: u32, filter: u32) -> Collisions {
    Collisions { groups: CollisionGroups::new(memberships, filter), ..Collisions::default() }
}

/// Three logs above three others: a player on an enemy lies there, a ghost that wants enemies falls through one that wants none.
#[test]
fn groups_say_who_meets_whom() {
    let mut pile = Pile::crossed();
    let set = |pile: &mut Pile, log: usize, to: Collisions| pile.physics.set_collisions(pile.logs[log], to).unwrap();
    for log in 0..3 {
        set(&mut pile, log, in_groups(ENEMIES, PLAYERS | 1 << 31));
    }
    set(&mut pile, 3, in_groups(PLAYERS, ENEMIES | 1 << 31));
    set(&mut pile, 4, in_groups(GHOSTS, ENEMIES | 1 << 31));
    // The ground has no part in it for those that want none of its groups.
    pile.physics.planes[0].groups = CollisionGroups::new(1 << 31, PLAYERS | ENEMIES | GHOSTS);
    set(&mut pile, 5, in_groups(PLAYERS, GHOSTS));
    pile.run(60);
    let heights = [3, 4, 5].map(|log| pile.centre(log).y / RADIUS);
    println!(
        "a player on enemies lies {:.2} radii high, a ghost {:.2}, who wants no ground {:.1}",
        heights[0], heights[1], heights[2]
    );
    assert!((heights[0] - 3.0).abs() < 0.05 && (heights[1] - 1.0).abs() < 0.05 && heights[2] < -100.0);

    // Once it is wanted no more, the lower ones let go of it.
    let alone = Collisions { others: false, ..pile.physics.collisions(pile.logs[3]).unwrap() };
    set(&mut pile, 3, alone);
    pile.run(60);
    assert!((pile.centre(3).y / RADIUS - 1.0).abs() < 0.05);
    assert!(pile.physics.flesh_contacts().next().is_none());
    set(&mut pile, 4, Collisions { half_spaces: false, ..Collisions::default() });
    pile.run(60);
    assert!(pile.centre(4).y < -100.0 * RADIUS);
}

/// Saying what is so anyway, or what concerns others, changes no bit.
#[test]
fn who_wants_all_is_as_ever() {
    let mut hashes = BTreeSet::new();
    for kind in 0..3 {
        let mut pile = Pile::crossed();
        pile.physics.gather_events = kind == 2;
        if kind > 0 {
            for &log in &pile.logs {
                pile.physics.set_collisions(log, in_groups(PLAYERS | ENEMIES, PLAYERS)).unwrap();
            }
        }
        pile.run(40);
        hashes.insert(pile.physics.state_hash());
    }
    assert_eq!(hashes.len(), 1);
}

#[test]
fn bad_coefficients_are_refused() {
    let mut pile = Pile::crossed();
    let log = pile.logs[0];
    let own = |value: f32| Some(Coefficient::new(value, CombineRule::Average));
    let mut refused = |collisions: Collisions| pile.physics.set_collisions(log, collisions).unwrap_err();
    let same = |value: f32, bad: f32| value.to_bits() == bad.to_bits();
    for bad in [-0.1, f32::NAN, 1.1e3] {
        let error = refused(Collisions { friction: own(bad), ..Collisions::default() });
        assert!(matches!(error, StepError::BadFriction(value) if same(value, bad)), "{error:?}");
        let error = refused(Collisions { restitution: own(bad), ..Collisions::default() });
        assert!(matches!(error, StepError::BadRestitution(value) if same(value, bad)), "{error:?}");
    }
    assert_eq!(pile.physics.collisions(log), Ok(Collisions::default()));
    pile.physics.planes[0].restitution = 1.5;
    assert!(matches!(pile.physics.step_flesh(1.0 / 60.0), Err(StepError::BadPlane(0))));
}

/// A rod across another one of the same flesh.
#[test]
fn own_chains_meet_where_they_want_to() {
    let rod = |name: &str, place: DVec3, along: DVec3| {
        RodSpec::straight(name, place - along * (LENGTH / 2.0), place + along * (LENGTH / 2.0), SEGMENTS, RADIUS)
    };
    let upper = DVec3::Y * (4.0 * RADIUS);
    let flesh = Flesh::build(&[rod("lower", DVec3::Y * RADIUS, DVec3::X), rod("upper", upper, DVec3::Z)], &[]);
    let flesh = Arc::new(flesh.unwrap());
    let lies = |own_chains: bool| {
        let mut physics = Physics::with_config(StepConfig { passes: PASSES, ..StepConfig::default() });
        physics.planes = vec![HalfSpace::ground(0.0, 0.5)];
        let handle = physics.insert(flesh.clone(), &[], Pose::IDENTITY).unwrap();
        physics.set_collisions(handle, Collisions { own_chains, ..Collisions::default() }).unwrap();
        (0..60).for_each(|_| physics.step_flesh(FRAME).unwrap());
        physics.node(handle, 1, SEGMENTS / 2).unwrap().place.y / RADIUS
    };
    let [with, without] = [true, false].map(lies);
    println!("a rod on another one of its flesh lies {with:.2} radii high, where they do not meet {without:.2}");
    assert!((with - 3.0).abs() < 0.1 && (without - 1.0).abs() < 0.1);
}

/// A rod bent to a hairpin, whose legs are thrown at each other.
struct Hairpin {
    physics: Physics,
    handle: sinew::FleshHandle,
}

impl Hairpin {
    const LEG: usize = 8;
    const BEND: usize = 6;
    const NODES: usize = 2 * Self::LEG + Self::BEND + 1;

    fn new(mut physics: Physics, within_chains: bool) -> Self {
        let (radius, half) = (0.02, 0.1);
        let node = |j: usize| {
            let turn = std::f64::consts::PI * (j as f64 - Self::LEG as f64) / Self::BEND as f64;
            let leg = 0.06;
            match j {
                j if j < Self::LEG => DVec3::new(leg * (Self::LEG - j) as f64, half, 0.0),
                j if j > Self::LEG + Self::BEND => DVec3::new(leg * (j - Self::LEG - Self::BEND) as f64, -half, 0.0),
                _ => DVec3::new(-half * turn.sin(), half * turn.cos(), 0.0),
            }
        };
        let nodes = (0..Self::NODES).map(|j| RodNode::disc(node(j), radius)).collect();
        let straight = RodSpec::straight("hairpin", DVec3::ZERO, DVec3::X, Self::NODES - 1, radius);
        let rod = RodSpec { nodes, material: material(1.0e5, 0.3, 1000.0, 0.0), ..straight };
        let flesh = Arc::new(Flesh::build(&[rod], &[]).unwrap());
        physics.config = StepConfig { passes: PASSES, gravity: DVec3::ZERO, ..StepConfig::default() };
        let handle = physics.insert(flesh.clone(), &[], Pose::IDENTITY).unwrap();
        physics.set_collisions(handle, Collisions { within_chains, ..Collisions::default() }).unwrap();
        for j in 0..Self::NODES {
            let mut node = physics.node(handle, 0, j).unwrap();
            node.velocity.y = -2.0 * node.place.y.signum() as f32 * (node.place.x > 0.0) as u8 as f32;
            physics.state_mut(handle).unwrap().set_node(&flesh, 0, j, &node);
        }
        Self { physics, handle }
    }

    fn node(&self, j: usize) -> sinew::flesh::NodeState {
        self.physics.node(self.handle, 0, j).unwrap()
    }

    /// The gap between the legs' nodes over both radii, the least of all; negative where they have passed each other.
    fn gap(&self) -> f64 {
        let gaps = (0..Self::LEG).map(|j| {
            let (a, b) = (self.node(j), self.node(Self::NODES - 1 - j));
            (a.place.y - b.place.y) / f64::from(a.radius + b.radius) - 1.0
        });
        gaps.fold(f64::MAX, f64::min)
    }

    /// Momentum over a node's mass (m/s).
    fn momentum(&self) -> DVec3 {
        (0..Self::NODES).map(|j| self.node(j).velocity.as_dvec3()).sum()
    }
}

/// A rod whose legs are thrown at each other: they stop each other only where segments of one chain touch. What one leg gets the other
/// one gives.
#[test]
fn a_chain_meets_itself_where_it_wants_to() {
    let run = |within: bool| {
        let mut pin = Hairpin::new(Physics::default(), within);
        let start = pin.momentum();
        let (mut least, mut met) = (f64::MAX, 0);
        for _ in 0..20 {
            pin.physics.step_flesh(FRAME).unwrap();
            least = least.min(pin.gap());
            met += pin.physics.flesh_contacts().count();
        }
        assert_eq!(pin.physics.health(pin.handle).unwrap().resets, 0);
        (least, met, (pin.momentum() - start).length())
    };
    let ((through, none, _), (stopped, met, gained)) = (run(false), run(true));
    println!(
        "legs come as near as {stopped:.2} of both radii, {through:.2} where they do not meet; momentum off by {gained:.1e} m/s"
    );
    assert!(through < -1.0 && none == 0);
    // Of 32 m/s that all nodes have together.
    assert!(stopped > -0.05 && met > 0 && gained < 0.1);
}
