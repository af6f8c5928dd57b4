//! Scenes of many pills, and queries answered by searches over all of them, in f64.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, Holds, RodNode, RodSpec};
use sinew::queries::{Hit, Pill};
use sinew::{FleshHandle, Physics, Pose};

use crate::common::{FRAME, Random};

/// How far off distances may be, over the size of what is met.
pub const BAR: f64 = 1.0e-5;
/// Over that size, how near to touching a search leaves undecided.
pub const TOUCHING: f64 = 1.0e-8;
/// Places at which scenes are: at the world's origin and 1000 km away.
pub const PLACES: [DVec3; 2] = [DVec3::ZERO, DVec3::new(8.0e5, -20.0, -6.0e5)];

/// A segment as the state has it.
pub struct Segment {
    pub name: (FleshHandle, usize, usize),
    pub pill: Pill,
}

pub fn segments(physics: &Physics) -> Vec<Segment> {
    let mut all = Vec::new();
    for handle in physics.instances() {
        for (chain, info) in physics.flesh(handle).unwrap().chains().iter().enumerate() {
            for segment in 0..info.node_count() - 1 {
                let nodes = [segment, segment + 1].map(|node| physics.node(handle, chain, node).unwrap());
                let pill = Pill { ends: nodes.map(|node| node.place), radii: nodes.map(|node| f64::from(node.radius)) };
                all.push(Segment { name: (handle, chain, segment), pill });
            }
        }
    }
    all
}

/// Instances of several bent chains whose radii vary, after a few frames; one has pills in pills, spheres, tips and cones.
pub fn scene(random: &mut Random, at: DVec3, count: usize) -> Physics {
    let mut physics = Physics::default();
    for instance in 0..count {
        let chains = 2 + instance % 3;
        let rods: Vec<RodSpec> = (0..chains)
            .map(|chain| {
                let (count, from) = (6 + 3 * chain + instance % 5, random.vector(-0.2, 0.2));
                let (way, bend) = (random.vector(-1.0, 1.0).normalize() * 0.05, random.vector(-0.02, 0.02));
                let radii = [random.log_uniform(0.005, 0.04), random.log_uniform(0.005, 0.04)];
                let node = |j: usize| {
                    let s = j as f64 / count as f64;
                    let radius = radii[0] + (radii[1] - radii[0]) * s + 0.004 * (9.0 * s).sin().abs();
                    let turned = DQuat::from_scaled_axis(bend * j as f64 * 4.0) * way;
                    RodNode::disc(from + turned * j as f64, radius)
                };
                let nodes = (0..=count).map(node).collect();
                let rod = RodSpec { name: format!("rod {chain}"), nodes, ..RodSpec::default() };
                if instance % 2 == 0 { rod.attach(0, 0, Holds::CLAMP) } else { rod }
            })
            .collect();
        let root = Pose::new(at + random.vector(-1.0, 1.0), random.rotation());
        let bones: &[Pose] = if instance % 2 == 0 { &[root] } else { &[] };
        let rest: &[Pose] = if instance % 2 == 0 { &[Pose::IDENTITY] } else { &[] };
        let flesh = Arc::new(Flesh::build(&rods, rest).unwrap());
        physics.insert(flesh, bones, root).unwrap();
    }
    (0..5).for_each(|_| physics.step_flesh(FRAME).unwrap());
    let odd = physics.instances().last().unwrap();
    let flesh = physics.flesh(odd).unwrap().clone();
    let nodes: Vec<_> = (0..6).map(|node| physics.node(odd, 0, node).unwrap()).collect();
    let (mut last, before) = (physics.node(odd, 1, 0).unwrap(), physics.node(odd, 1, 1).unwrap());
    let state = physics.state_mut(odd).unwrap();
    for (index, mut node) in nodes.iter().copied().enumerate() {
        match index {
            // A sphere, a tip, and a cone so blunt that it is nearly a plane.
            3 => node.place = nodes[2].place,
            0 => node.scale = 1.0e-4,
            5 => {
                let length = node.place.distance(nodes[4].place);
                node.scale *= (nodes[4].radius + (0.999_998 * length) as f32) / node.radius;
            }
            _ => {}
        }
        state.set_node(&flesh, 0, index, &node);
    }
    // One end in the other.
    last.scale *= 1.1 * (before.radius + last.place.distance(before.place) as f32) / last.radius;
    state.set_node(&flesh, 1, 0, &last);
    physics
}

/// The least of a convex function, and where.
pub fn golden(low: f64, high: f64, steps: usize, of: impl Fn(f64) -> f64) -> (f64, f64) {
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (low, high);
    let mut best =
        [low, high].map(|x| (of(x), x)).into_iter().fold((f64::MAX, 0.0), |a, b| if b.0 < a.0 { b } else { a });
    let (mut x, mut y) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_x, mut at_y) = (of(x), of(y));
    for _ in 0..steps {
        if at_x < at_y {
            (high, y, at_y) = (y, x, at_x);
            x = high - ratio * (high - low);
            at_x = of(x);
        } else {
            (low, x, at_x) = (x, y, at_y);
            y = low + ratio * (high - low);
            at_y = of(y);
        }
    }
    for found in [(at_x, x), (at_y, y)] {
        best = if found.0 < best.0 { found } else { best };
    }
    best
}

/// The gap between a point and a pill, by a search over its spheres.
pub fn gap(point: DVec3, pill: &Pill) -> f64 {
    let ends = pill.ends.map(|end| end - point);
    let sphere = |s: f64| ends[0].lerp(ends[1], s).length() - pill.radii[0] - (pill.radii[1] - pill.radii[0]) * s;
    golden(0.0, 1.0, 42, sphere).0
}

/// The gap between two pills, by a search over the spheres of both.
pub fn pill_gap(a: &Pill, b: &Pill) -> f64 {
    let sphere = |s: f64| {
        let radius = a.radii[0] + (a.radii[1] - a.radii[0]) * s;
        let centre = a.ends[0].lerp(a.ends[1], s);
        gap(centre, b) - radius
    };
    golden(0.0, 1.0, 42, sphere).0
}

pub fn moved(pill: &Pill, by: DVec3) -> Pill {
    Pill { ends: pill.ends.map(|end| end + by), ..*pill }
}

pub fn size(pill: &Pill) -> f64 {
    pill.ends[0].distance(pill.ends[1]) + pill.radii[0].max(pill.radii[1])
}

/// What a search says of a cast: after how far, if ever; `None` where it cannot tell.
pub fn search(
    segments: &[Segment],
    from: DVec3,
    reach: f64,
    way: (DVec3, f64),
    gap: impl Fn(&Pill, f64) -> f64,
) -> Option<f64> {
    let (direction, farthest) = way;
    let mut first = f64::INFINITY;
    for Segment { pill, .. } in segments {
        let middle = pill.ends[0].lerp(pill.ends[1], 0.5) - from;
        let (ahead, reach) = (middle.dot(direction), size(pill) + reach);
        let beside = (middle - direction * ahead).length();
        if beside > reach || ahead < -reach || ahead - reach > farthest.min(first) {
            continue;
        }
        if gap(pill, 0.0) <= 0.0 {
            first = 0.0;
            continue;
        }
        let (low, high) = ((ahead - reach).max(0.0), (ahead + reach).max(0.0).min(farthest));
        let (least, at) = golden(low, high, 40, |gone| gap(pill, gone));
        if least.abs() <= TOUCHING * size(pill) {
            return None;
        }
        if least < 0.0 {
            let (mut out, mut inside) = (low, at);
            for _ in 0..44 {
                let gone = 0.5 * (out + inside);
                if gap(pill, gone) > 0.0 { out = gone } else { inside = gone }
            }
            first = first.min(inside);
        }
    }
    Some(first)
}

/// What is off in a hit, over the size of its segment: its point from the surface, its normal from what the gap grows along.
pub fn off(segments: &[Segment], hit: &Hit) -> f64 {
    let segment = segments.iter().find(|segment| segment.name == (hit.flesh, hit.chain, hit.segment)).unwrap();
    let pill = &segment.pill;
    let ends = pill.ends.map(|end| end - hit.point);
    let local = Pill { ends, ..*pill };
    let out = 0.5 * size(pill);
    assert!((hit.normal.length() - 1.0).abs() < 1.0e-12 && (0.0..=1.0).contains(&hit.along), "{hit:?}");
    let sphere =
        ends[0].lerp(ends[1], hit.along).length() - (pill.radii[0] + (pill.radii[1] - pill.radii[0]) * hit.along);
    let offs = [gap(DVec3::ZERO, &local), gap(hit.normal * out, &local) - out, sphere];
    offs.into_iter().fold(0.0_f64, |most, off| most.max(off.abs())) / size(pill)
}

/// A start and a direction: every other one goes by, or at, a segment.
pub fn way(random: &mut Random, segments: &[Segment], at: DVec3, index: usize) -> (DVec3, DVec3) {
    let from = at + random.vector(-1.6, 1.6);
    if index.is_multiple_of(2) {
        return (from, random.vector(-1.0, 1.0));
    }
    // Half of those at one of the last instance, which has all kinds.
    let among = if index % 4 == 1 { 33 } else { segments.len() };
    let pill = &segments[segments.len() - 1 - random.bits() as usize % among].pill;
    let beside = random.vector(-1.0, 1.0) * pill.radii[0].max(pill.radii[1]) * random.uniform(0.0, 2.0);
    (from, pill.ends[0].lerp(pill.ends[1], random.uniform(0.0, 1.0)) + beside - from)
}

#[derive(Default, Debug)]
pub struct Tally {
    pub hits: usize,
    pub misses: usize,
    pub undecided: usize,
    pub worst: f64,
    pub worst_hit: f64,
}

impl Tally {
    pub fn compare(&mut self, segments: &[Segment], searched: Option<f64>, hit: Option<Hit>, farthest: f64) {
        let Some(first) = searched else {
            self.undecided += 1;
            return;
        };
        match hit {
            Some(hit) => {
                let own = segments.iter().find(|own| own.name == (hit.flesh, hit.chain, hit.segment)).unwrap();
                self.worst = self.worst.max((hit.distance - first).abs() / size(&own.pill));
                self.worst_hit = self.worst_hit.max(off(segments, &hit));
                self.hits += 1;
            }
            None => {
                assert!(first > farthest || first.is_infinite(), "missed what is {first} m away");
                self.misses += 1;
            }
        }
    }

    pub fn check(&self, name: &str, at: DVec3) {
        let Self { hits, misses, undecided, worst, worst_hit } = self;
        println!(
            "{name} at {at}: {hits} hits, {misses} misses, {undecided} undecided; distance off by {worst:.1e} of size, point and normal by {worst_hit:.1e} (bar {BAR:.0e})"
        );
        assert!(*worst <= BAR && *worst_hit <= BAR && *hits > 100 && *misses > 100 && undecided * 200 <= hits + misses);
    }
}
