//! Skin weights: closed forms of the distances and of skin on one rod, fairness, exact sums, and what is degenerate.

mod common;

use common::Random;
use glam::{DQuat, DVec3, Vec3};
use sinew::character::skin_weights::{
    Pull, PullLimit, SkinFairing, SkinPill, bundle_pills, carrier_weights, flesh_pills,
};
use sinew::cpu::{
    LaneWidth,
    deform_skin::{Deltas, Vertices, deform_skin},
    pose_sections::pose_sections,
    skin_blocks::SkinBlocks,
};
use sinew::flesh::{Bundle, Disc, Flesh, FleshState, Holds, RodSpec};
use sinew::{
    MAX_SECTIONS, PaletteMatrix, Pose, SectionWeight, Skin, SkinInputs, SkinSection, SkinVertex, SkinnedVertices,
};

const RADIUS: f64 = 0.05;
const SEGMENTS: usize = 10;

/// A tube around the x axis from 0 to `length`: `rings` rings of `around` vertices, the first column doubled as a seam.
fn tube(length: f64, radius: f64, rings: usize, around: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut places = Vec::new();
    for ring in 0..rings {
        for column in 0..=around {
            let angle = (column % around) as f64 / around as f64 * std::f64::consts::TAU;
            let x = length * ring as f64 / (rings - 1) as f64;
            places.push(DVec3::new(x, radius * angle.cos(), radius * angle.sin()).as_vec3());
        }
    }
    let columns = around as u32 + 1;
    let quad = |ring: u32, column: u32| {
        let at = ring * columns + column;
        [[at, at + 1, at + columns], [at + 1, at + columns + 1, at + columns]]
    };
    let triangles =
        (0..rings as u32 - 1).flat_map(|ring| (0..around as u32).flat_map(move |column| quad(ring, column))).collect();
    (places, triangles)
}

/// A free rod along x, 1 m long.
fn rod() -> Flesh {
    Flesh::build(&[RodSpec::straight("rod", DVec3::ZERO, DVec3::X, SEGMENTS, RADIUS)], &[]).expect("sound")
}

fn whole(places: &[Vec3], triangles: &[[u32; 3]], pills: &[SkinPill]) -> Vec<Vec<SectionWeight>> {
    SkinFairing { places, triangles, pills, pull: Pull::Whole, fair: true }.weights()
}

fn sum(weights: &[SectionWeight]) -> f32 {
    weights.iter().map(|pair| pair.weight).sum()
}

/// A muscle's own surface: wholly the flesh's, its joints the bones that carry its sections.
fn own_surface(flesh: &Flesh, places: &[Vec3], weights: &[Vec<SectionWeight>]) -> Skin {
    let mut skin = Skin { sections: SkinSection::all(flesh), palette_len: flesh.bones().len() + 1, ..Skin::default() };
    for (place, weights) in places.iter().zip(weights) {
        let mut vertex = SkinVertex {
            position: place.to_array(),
            first_section: skin.weights.len() as u32,
            normal: [0.0, 1.0, 0.0],
            section_count: weights.len() as u32,
            rest_position: place.to_array(),
            rest_normal: [0.0, 1.0, 0.0],
            ..SkinVertex::default()
        };
        for (k, (bone, weight)) in carrier_weights(&skin.sections, weights, 8).into_iter().enumerate() {
            vertex.joints[k / 2] |= bone << (16 * (k % 2));
            vertex.weights[k] = weight;
        }
        skin.vertices.push(vertex);
        skin.weights.extend(weights);
    }
    skin
}

/// Places and normals of skin as its flesh stands on bones, the palette being the bones' motions.
fn deformed(flesh: &Flesh, skin: &Skin, state: &FleshState, bones: &[Pose], root: &Pose) -> (Vec<Vec3>, Vec<Vec3>) {
    let mut inputs = SkinInputs::default();
    inputs.gather(flesh, state, bones, root);
    let matrix = |pose: &sinew::ModelPose| -> PaletteMatrix {
        let rotation = glam::Quat::from_array(pose.rotation);
        sinew::palette_matrix(&glam::Affine3A::from_rotation_translation(rotation, pose.translation.into()))
    };
    inputs.palette = inputs.bones.iter().map(matrix).collect();
    let mut matrices = Vec::new();
    pose_sections(skin, &inputs, state, 1.0, &mut matrices);
    let blocks = SkinBlocks::new(skin.clone().into());
    let deformed = |width| {
        let mut out = SkinnedVertices::default();
        Vertices::new(&blocks, &inputs, &matrices, Deltas::default(), &mut out)
            .for_each(|mut some| deform_skin(width, &mut some));
        [out.positions, out.normals]
    };
    let [places, normals] = deformed(LaneWidth::Eight);
    for width in [LaneWidth::EightBaseline, LaneWidth::One] {
        assert_eq!(deformed(width), [places.clone(), normals.clone()], "the same bits");
    }
    (places, normals)
}

/// The tube on the free rod, its nodes moved: place, turn and scale of the node at rest at x.
fn moved_tube(turned: impl Fn(f64) -> (DVec3, DQuat, f32)) -> (Vec<Vec3>, Vec<Vec3>) {
    let flesh = rod();
    let (places, triangles) = tube(1.0, 1.1 * RADIUS, 41, 24);
    let weights = whole(&places, &triangles, &flesh_pills(&flesh));
    let skin = own_surface(&flesh, &places, &weights);
    let mut state = FleshState::at_rest(&flesh, &[], &Pose::IDENTITY);
    for j in 0..=SEGMENTS {
        let mut node = state.node(&flesh, 0, j);
        let (place, turn, scale) = turned(node.place.x);
        node.frame = (turn * node.frame.as_dquat()).as_quat();
        (node.place, node.scale) = (place, scale);
        state.set_node(&flesh, 0, j, &node);
    }
    let (moved, _) = deformed(&flesh, &skin, &state, &[], &Pose::IDENTITY);
    (places, moved)
}

/// Largest distance (m) of the moved tube from where a map takes its rest places, of those with x in a range.
fn off((rest, moved): &(Vec<Vec3>, Vec<Vec3>), [from, to]: [f64; 2], map: impl Fn(DVec3) -> DVec3) -> f64 {
    let inside = |rest: &Vec3| (from..=to).contains(&f64::from(rest.x));
    let pairs = rest.iter().zip(moved).filter(|(rest, _)| inside(rest));
    pairs.map(|(rest, moved)| map(rest.as_dvec3()).distance(moved.as_dvec3())).fold(0.0, f64::max)
}

#[test]
fn the_closest_point_of_a_pill_minimises_the_distance() {
    let mut random = Random(7);
    let mut worst = 0.0_f64;
    for _ in 0..2000 {
        let ends = [random.vector(-1.0, 1.0), random.vector(-1.0, 1.0)];
        let radii = [random.uniform(0.0, 0.8), random.uniform(0.0, 0.8)];
        let pill = SkinPill { sections: [0, 1], chain: 0, fibre: 0, ends, radii };
        let place = random.vector(-2.0, 2.0);
        let at = |t: f64| place.distance(ends[0].lerp(ends[1], t)) - (radii[0] + (radii[1] - radii[0]) * t);
        let (t, distance) = pill.closest(place);
        let least = (0..=2000).map(|k| at(f64::from(k) / 2000.0)).fold(f64::INFINITY, f64::min);
        assert!((0.0..=1.0).contains(&t) && (distance - at(t)).abs() < 1.0e-12);
        worst = worst.max(distance - least);
    }
    println!("2000 pills: at most {worst:.1e} m above the least of 2001 samples");
    assert!(worst < 1.0e-9);
}

#[test]
fn equal_distances_give_equal_weights() {
    let pill = |chain: u32, y: f64| SkinPill {
        sections: [2 * chain, 2 * chain + 1],
        chain,
        fibre: 0,
        ends: [DVec3::new(0.0, y, 0.0), DVec3::new(1.0, y, 0.0)],
        radii: [RADIUS; 2],
    };
    let pills = [pill(0, 0.2), pill(1, -0.2)];
    for place in [Vec3::new(0.25, 0.0, 0.0), Vec3::new(0.25, 0.0, 0.3)] {
        let weights = &whole(&[place], &[], &pills)[0];
        println!("{place}: {weights:?}");
        let of = |section: u32| weights.iter().find(|pair| pair.section == section).map_or(0.0, |pair| pair.weight);
        assert!((of(0) - of(2)).abs() < 1.0e-6 && (of(1) - of(3)).abs() < 1.0e-6);
        assert!((of(0) - 0.375).abs() < 1.0e-6, "a quarter along its pill: 3/4 of a half");
    }
    // Twice as near is four times as much, far from the surfaces.
    let weights = &whole(&[Vec3::new(0.5, 1.85, 0.0)], &[], &[pill(0, 0.8), pill(1, -0.2)])[0];
    let of = |chain: u32| weights.iter().filter(|pair| pair.section / 2 == chain).map(|pair| pair.weight).sum::<f32>();
    println!("at 1 and 2 m: {} and {}", of(0), of(1));
    assert!((of(0) / of(1) - 4.0).abs() < 1.0e-4);
}

#[test]
fn a_tube_moves_as_the_similarity_of_its_rod() {
    let all = [-1.0, 2.0];
    let turn = DQuat::from_rotation_z(0.7) * DQuat::from_rotation_x(-0.4);
    let aside = DVec3::new(0.3, -0.2, 0.5);
    let rigid = off(&moved_tube(|x| (turn * DVec3::X * x + aside, turn, 1.0)), all, |v| turn * v + aside);
    let thick = off(&moved_tube(|x| (DVec3::X * x, DQuat::IDENTITY, 1.3)), all, |v| v * DVec3::new(1.0, 1.3, 1.3));
    println!("off the closed form: rigid motion {rigid:.1e} m, scaled by 1.3 across {thick:.1e} m");
    assert!(rigid < 1.0e-6 && thick < 1.0e-6);

    // What differs from section to section is smeared over their weights: exact to the second order inside, while at
    // the ends, where only one side has sections, it lags.
    let stretched = moved_tube(|x| (DVec3::X * (1.2 * x), DQuat::IDENTITY, 1.0));
    let longer = |v: DVec3| v * DVec3::new(1.2, 1.0, 1.0);
    let (inside, ends) = (off(&stretched, [0.2, 0.8], longer), off(&stretched, all, longer));
    println!("stretched by 1.2: {:.2} % of the radius inside, {:.2} % at the ends", 2.0e3 * inside, 2.0e3 * ends);
    assert!(inside < 0.03 * RADIUS && ends < 0.25 * RADIUS);

    let twisted = moved_tube(|x| (DVec3::X * x, DQuat::from_rotation_x(x), 1.0));
    let twist = |v: DVec3| DQuat::from_rotation_x(v.x) * v;
    let (inside, ends) = (off(&twisted, [0.2, 0.8], twist), off(&twisted, all, twist));
    println!("twisted by 1 rad: {:.2} % of the radius inside, {:.2} % at the ends", 2.0e3 * inside, 2.0e3 * ends);
    assert!(inside < 0.03 * RADIUS && ends < 0.1 * RADIUS);
}

#[test]
fn a_muscles_own_surface_follows_it_wherever_its_bones_are() {
    let mut random = Random(3);
    let bones = [Pose::IDENTITY, Pose::from_translation(DVec3::X)];
    let rod = RodSpec::straight("muscle", DVec3::ZERO, DVec3::X, SEGMENTS, RADIUS).attach(0, 0, Holds::CLAMP).attach(
        SEGMENTS,
        1,
        Holds::CLAMP,
    );
    let flesh = Flesh::build(&[rod], &bones).expect("sound");
    let (places, triangles) = tube(1.0, 1.1 * RADIUS, 21, 16);
    let weights = whole(&places, &triangles, &flesh_pills(&flesh));
    let skin = own_surface(&flesh, &places, &weights);
    let mut worst = 0.0_f64;
    for _ in 0..20 {
        let root = Pose::new(random.vector(-5.0e3, 5.0e3), random.rotation());
        let posed = bones.map(|_| root * Pose::new(random.vector(-1.0, 1.0), random.rotation()));
        let mut state = FleshState::at_rest(&flesh, &posed, &root);
        let origin = state.node(&flesh, 0, 0).place;
        for j in 0..=SEGMENTS {
            let mut node = state.node(&flesh, 0, j);
            node.place = origin + random.vector(-0.5, 0.5);
            node.frame = random.rotation().as_quat();
            node.scale = random.uniform(0.5, 1.5) as f32;
            state.set_node(&flesh, 0, j, &node);
        }
        let (moved, normals) = deformed(&flesh, &skin, &state, &posed, &root);
        assert!(normals.iter().all(|n| (n.length() - 1.0).abs() < 1.0e-5));
        for ((place, weights), moved) in places.iter().zip(&weights).zip(moved) {
            let mut expected = DVec3::ZERO;
            for pair in weights {
                let (node, rest) = (state.node(&flesh, 0, pair.section as usize), &flesh.chains()[0].rest);
                let rest = rest[pair.section as usize];
                let local = rest.inverse().transform_point(place.as_dvec3());
                let scale = f64::from(node.scale);
                let there = node.place + node.frame.as_dquat() * (local * DVec3::new(scale, scale, 1.0));
                expected += f64::from(pair.weight) * root.inverse().transform_point(there);
            }
            worst = worst.max(expected.distance(moved.as_dvec3()));
        }
    }
    println!("20 wild poses: at most {worst:.1e} m from Σ w T T̄⁻¹ v̄");
    assert!(worst < 5.0e-6);
}

#[test]
fn skin_at_rest_on_moved_bones_is_where_they_take_it() {
    let mut random = Random(11);
    let rest = Pose::new(DVec3::new(0.2, 1.4, -0.1), random.rotation());
    let rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X, SEGMENTS, RADIUS).attach(0, 0, Holds::CLAMP);
    let flesh = Flesh::build(&[rod], &[rest]).expect("sound");
    let (places, triangles) = tube(1.0, 1.1 * RADIUS, 21, 16);
    let skin = own_surface(&flesh, &places, &whole(&places, &triangles, &flesh_pills(&flesh)));
    let mut worst = 0.0_f32;
    for k in 0..20 {
        let root = Pose::new(random.vector(-5.0e3, 5.0e3), random.rotation());
        let motion = if k == 0 { Pose::IDENTITY } else { Pose::new(random.vector(-0.5, 0.5), random.rotation()) };
        let bones = [root * motion * rest];
        let state = FleshState::at_rest(&flesh, &bones, &root);
        let (moved, _) = deformed(&flesh, &skin, &state, &bones, &root);
        for (place, moved) in places.iter().zip(moved) {
            let off = motion.transform_point(place.as_dvec3()).as_vec3().distance(moved);
            worst = worst.max(off);
        }
    }
    println!("20 poses of the bone: at most {worst:.1e} of the tube's length off");
    assert!(worst <= 1.0e-6);
}

/// A sheet that two rods touch from below, of squares of 1 cm.
fn sheet() -> (Vec<Vec3>, Vec<[u32; 3]>, Vec<SkinPill>) {
    let rods =
        [0.0, 0.25].map(|z| RodSpec::straight("rod", DVec3::new(0.0, 0.0, z), DVec3::new(0.4, 0.0, z), 4, RADIUS));
    let flesh = Flesh::build(&rods, &[]).expect("sound");
    let at = |k: u32| Vec3::new(0.01 * (k % 41) as f32, 1.001 * RADIUS as f32, 0.01 * (k / 41) as f32 - 0.05);
    let quad = |k: u32| [[k, k + 1, k + 41], [k + 1, k + 42, k + 41]];
    let triangles = (0..41 * 35).filter(|k| k % 41 < 40).flat_map(quad).collect();
    ((0..41 * 36).map(at).collect(), triangles, flesh_pills(&flesh))
}

/// The largest part of its weights that a vertex does not share with a neighbour.
fn largest_jump(triangles: &[[u32; 3]], weights: &[Vec<SectionWeight>]) -> f32 {
    let jump = |a: u32, b: u32| -> f32 {
        let (a, b) = (&weights[a as usize], &weights[b as usize]);
        let of = |section: u32| b.iter().find(|pair| pair.section == section).map_or(0.0, |pair| pair.weight);
        (sum(a) + sum(b)) / 2.0 - a.iter().map(|pair| pair.weight.min(of(pair.section))).sum::<f32>()
    };
    triangles.iter().flat_map(|&[a, b, c]| [jump(a, b), jump(b, c), jump(c, a)]).fold(0.0, f32::max)
}

#[test]
fn fairing_makes_weights_smooth() {
    let (places, triangles, pills) = sheet();
    let [before, after] = [false, true].map(|fair| {
        let fairing = SkinFairing { places: &places, triangles: &triangles, pills: &pills, pull: Pull::Whole, fair };
        largest_jump(&triangles, &fairing.weights())
    });
    println!("largest jump over an edge of a tenth of a pill: {before:.3} before fairing, {after:.3} after");
    assert!(after < 0.16 && after < 0.8 * before);
}

#[test]
fn weights_sum_to_exactly_one_over_at_most_eight() {
    let mut random = Random(5);
    let fibre = |k: usize| -> Vec<Disc> {
        let angle = k as f64;
        let aside = DVec3::new(0.0, angle.sin(), angle.cos()) * 0.04;
        let disc = |j: usize| Disc { place: aside + DVec3::X * (0.05 * j as f64), radius: 0.02 };
        (0..12).map(disc).collect()
    };
    let bundle = Bundle { fibres: (0..8).map(fibre).collect() };
    let pills: Vec<SkinPill> = (0..3).flat_map(|chain| bundle_pills(&bundle, chain, 12 * chain)).collect();
    assert_eq!(pills.len(), 3 * 8 * 11);
    let places: Vec<Vec3> = (0..3000).map(|_| random.vector(-0.3, 0.9).as_vec3()).collect();
    let triangles: Vec<[u32; 3]> = (0..2998).map(|k| [k, k + 1, k + 2]).collect();
    let weights = whole(&places, &triangles, &pills);
    for weights in &weights {
        assert!(weights.len() <= MAX_SECTIONS && weights.iter().all(|pair| pair.weight > 0.0));
        assert_eq!((sum(weights), weights.iter().rev().map(|pair| pair.weight).sum::<f32>()), (1.0, 1.0));
    }
    println!("3000 vertices: all sums are 1; at most {} sections", weights.iter().map(Vec::len).max().unwrap_or(0));

    // Limits hold, and are used up.
    let limits: Vec<PullLimit> = places
        .iter()
        .map(|_| PullLimit {
            total: random.uniform(0.0, 1.0),
            chains: (0..3).map(|chain| (chain, random.uniform(-0.2, 0.6))).collect(),
        })
        .collect();
    for joined in [false, true] {
        let triangles = if joined { triangles.as_slice() } else { &[] };
        let fairing =
            SkinFairing { places: &places, triangles, pills: &pills, pull: Pull::Limited(&limits), fair: true };
        let (mut over, mut left) = (0.0_f64, 0.0_f64);
        for (weights, limit) in fairing.weights().iter().zip(&limits) {
            let mut pulls = [0.0; 3];
            weights.iter().for_each(|pair| pulls[pair.section as usize / 12] += f64::from(pair.weight));
            for (chain, most) in &limit.chains {
                over = over.max(pulls[*chain as usize] - most.max(0.0));
            }
            let all: f64 = limit.chains.iter().map(|(_, most)| most.max(0.0)).sum();
            let all = all.min(limit.total);
            over = over.max(pulls.iter().sum::<f64>() - all);
            left = left.max(all - pulls.iter().sum::<f64>());
        }
        println!("3000 limited vertices, joined {joined}: at most {over:.1e} over, {left:.1e} left of the limits");
        // Chains with less than a thousandth fall away, and the limits of vertices with neighbours are brought down to
        // the mean of those.
        assert!(over < 1.0e-6 && (joined || left < 2.0e-3));
    }
}

#[test]
fn both_sides_of_a_seam_have_the_same_weights() {
    let flesh = rod();
    let (places, triangles) = tube(1.0, 1.1 * RADIUS, 21, 16);
    let weights = whole(&places, &triangles, &flesh_pills(&flesh));
    for ring in 0..21 {
        assert_eq!(places[17 * ring], places[17 * ring + 16]);
        assert_eq!(weights[17 * ring], weights[17 * ring + 16]);
    }
    // Welded, the seam's vertices have neighbours on both sides, as all others have.
    let of = |vertex: usize| sum(&weights[vertex][..1]);
    let most = (1..16).map(|column| (of(17 * 7 + column) - of(17 * 7)).abs()).fold(0.0, f32::max);
    println!("the seam's strongest weight differs by at most {most:.1e} from those around it");
    assert!(most < 1.0e-3);
}

#[test]
fn what_is_degenerate_stays_finite() {
    let pill = |ends: [DVec3; 2], radii: [f64; 2]| SkinPill { sections: [0, 1], chain: 0, fibre: 0, ends, radii };
    let pills = [
        ("straight", pill([DVec3::ZERO, DVec3::X], [RADIUS; 2])),
        ("without length", pill([DVec3::ZERO; 2], [RADIUS; 2])),
        ("without length, one larger", pill([DVec3::ZERO; 2], [RADIUS, 2.0 * RADIUS])),
        ("a sphere within the other", pill([DVec3::ZERO, DVec3::X * 0.01], [RADIUS, 0.01])),
        ("without radius", pill([DVec3::ZERO, DVec3::X], [0.0; 2])),
        ("a point", pill([DVec3::ZERO; 2], [0.0; 2])),
        ("a cone", pill([DVec3::ZERO, DVec3::X * RADIUS], [RADIUS, 1.0e-9])),
    ];
    let places = [
        Vec3::ZERO,
        Vec3::X * 0.5,
        Vec3::X * 0.5,
        Vec3::new(0.5, RADIUS as f32, 0.0),
        Vec3::splat(1.0e9),
        Vec3::splat(f32::NAN),
        Vec3::splat(f32::INFINITY),
    ];
    // Without area, without length, naming what is not there, and joining what is not finite.
    let triangles = [[0, 1, 2], [0, 0, 0], [1, 3, 99], [3, 4, 5], [0, 5, 6]];
    for (name, pill) in pills {
        let weights = whole(&places, &triangles, &[pill]);
        for (place, weights) in places.iter().zip(&weights) {
            let expected = if place.is_finite() { 1.0 } else { 0.0 };
            assert_eq!(sum(weights), expected, "{name}: {place}");
        }
        assert_eq!(weights[1], weights[2], "{name}");
    }
    assert!(whole(&places, &triangles, &[]).iter().all(Vec::is_empty), "no pills, no weights");
    assert!(whole(&[], &[], &pills.map(|(_, pill)| pill)).is_empty());
    let none = vec![PullLimit::default(); places.len()];
    let fairing = SkinFairing {
        places: &places,
        triangles: &triangles,
        pills: &[pills[0].1],
        pull: Pull::Limited(&none),
        fair: true,
    };
    assert!(fairing.weights().iter().all(Vec::is_empty), "no limit, no weights");
}

#[test]
fn skin_that_names_what_is_not_there_is_refused() {
    let flesh = std::sync::Arc::new(rod());
    let (places, triangles) = tube(1.0, 1.1 * RADIUS, 5, 6);
    let skin = own_surface(&flesh, &places, &whole(&places, &triangles, &flesh_pills(&flesh)));
    let insert = |skin: Skin| {
        let mut physics = sinew::Physics::default();
        physics.insert_with_skin(flesh.clone(), skin.into(), &[], Pose::IDENTITY).map(|_| ())
    };
    assert_eq!(insert(skin.clone()), Ok(()));
    type Change = fn(&mut Skin);
    let changes: [(&str, Change, usize); 8] = [
        ("a section", |skin| skin.weights[skin.vertices[3].first_section as usize].section = 99, 3),
        ("weights", |skin| skin.vertices[2].first_section = u32::MAX, 2),
        ("too many", |skin| skin.vertices[0].section_count = 9, 0),
        ("a matrix", |skin| skin.vertices[4].joints[0] = 7, 4),
        ("a node", |skin| skin.sections[0].node = 11, 0),
        ("a chain", |skin| skin.sections[0].chain = 1, 0),
        ("a bone", |skin| skin.sections[0].bones[1] = 1, 0),
        ("followed by none", |skin| skin.sections.push(SkinSection { lane: 5, ..skin.sections[0] }), 35),
    ];
    for (name, change, vertex) in changes {
        let mut skin = skin.clone();
        change(&mut skin);
        let refused = insert(skin);
        println!("{name}: {refused:?}");
        assert_eq!(refused, Err(sinew::StepError::BadSkin(vertex)), "{name}");
    }
}
