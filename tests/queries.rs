//! Rays, casts and overlaps against searches over all segments, in f64.

mod common;
#[path = "common/search.rs"]
mod search;

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use common::{FRAME, Random};
use glam::{DQuat, DVec3};
use search::*;
use sinew::flesh::{Flesh, RodNode, RodSpec};
use sinew::queries::{Hit, Pill, Queries, QueryError};
use sinew::{FleshHandle, Physics, Pose};

#[test]
fn rays_meet_what_a_search_finds() {
    for at in PLACES {
        let mut random = Random(11);
        let physics = scene(&mut random, at, 8);
        let (queries, segments) = (physics.queries(), segments(&physics));
        assert_eq!(queries.segment_count(), segments.len());
        let mut tally = Tally::default();
        for index in 0..4000 {
            let (from, direction) = way(&mut random, &segments, at, index);
            let farthest = if index % 5 == 0 { random.uniform(0.1, 2.0) } else { f64::INFINITY };
            let hit = queries.cast_ray(from, direction, farthest, |_| true).unwrap();
            let unit = direction.normalize();
            // Relative to where it starts, as the search has the digits.
            let ray = |pill: &Pill, gone: f64| gap(unit * gone, &moved(pill, -from));
            let searched = search(&segments, from, 0.0, (unit, farthest), ray);
            tally.compare(&segments, searched, hit, farthest);
            if let Some(hit) = hit {
                assert!(hit.distance == 0.0 || hit.point.distance(from + unit * hit.distance) < 1.0e-8, "{hit:?}");
            }
        }
        tally.check("rays", at);
    }
}

#[test]
fn cast_spheres_meet_what_a_search_finds() {
    for at in PLACES {
        let mut random = Random(12);
        let physics = scene(&mut random, at, 8);
        let (queries, segments) = (physics.queries(), segments(&physics));
        let mut tally = Tally::default();
        for index in 0..3000 {
            let (from, direction) = way(&mut random, &segments, at, index);
            let (radius, farthest) = (random.log_uniform(1.0e-3, 0.1), random.uniform(0.1, 4.0));
            let hit = queries.cast_sphere(from, radius, direction, farthest, |_| true).unwrap();
            let unit = direction.normalize();
            let ball = |pill: &Pill, gone: f64| gap(unit * gone, &moved(pill, -from)) - radius;
            let searched = search(&segments, from, radius, (unit, farthest), ball);
            tally.compare(&segments, searched, hit, farthest);
            if let Some(hit) = hit.filter(|hit| hit.distance > 0.0) {
                let centre = from + unit * hit.distance;
                assert!((hit.point + hit.normal * radius).distance(centre) < 1.0e-8, "{hit:?}");
            }
        }
        tally.check("spheres", at);
    }
}

/// A pill of any kind at a place.
fn any_pill(random: &mut Random, at: DVec3, index: usize) -> Pill {
    let way = random.vector(-0.15, 0.15);
    let radii = [random.log_uniform(2.0e-3, 0.05), random.log_uniform(2.0e-3, 0.05)];
    match index % 7 {
        0 => Pill::sphere(at, radii[0]),
        1 => Pill::capsule(at, at + way, radii[0]),
        2 => Pill { ends: [at, at + way], radii: [0.0, radii[0]] },
        3 => Pill { ends: [at, at + way], radii: [radii[0], radii[0] + 1.5 * way.length()] },
        _ => Pill { ends: [at, at + way], radii },
    }
}

#[test]
fn cast_pills_meet_what_a_search_finds() {
    for at in PLACES {
        let mut random = Random(13);
        let physics = scene(&mut random, at, 8);
        let (queries, segments) = (physics.queries(), segments(&physics));
        let mut tally = Tally::default();
        for index in 0..1000 {
            let (from, direction) = way(&mut random, &segments, at, index);
            let pill = any_pill(&mut random, from, index / 2);
            let farthest = random.uniform(0.1, 4.0);
            let hit = queries.cast_pill(&pill, direction, farthest, |_| true).unwrap();
            let (unit, own) = (direction.normalize(), moved(&pill, -from));
            let cast = |flesh: &Pill, gone: f64| pill_gap(&moved(&own, unit * gone), &moved(flesh, -from));
            let searched = search(&segments, from, 2.0 * size(&pill), (unit, farthest), cast);
            tally.compare(&segments, searched, hit, farthest);
        }
        tally.check("pills", at);
    }
}

#[test]
fn the_nearest_and_what_overlaps_are_those_of_all_segments() {
    for at in PLACES {
        let mut random = Random(14);
        let physics = scene(&mut random, at, 8);
        let (queries, segments) = (physics.queries(), segments(&physics));
        let (mut worst, mut overlaps, mut touching, mut none) = ([0.0_f64; 4], 0, 0, 0);
        for index in 0..1500 {
            let (from, direction) = way(&mut random, &segments, at, index);
            // Every other one is at a segment.
            let point = if index % 2 == 0 { from } else { from + direction };
            let gaps: Vec<f64> =
                segments.iter().map(|segment| gap(DVec3::ZERO, &moved(&segment.pill, -point))).collect();
            let least = gaps.iter().copied().fold(f64::MAX, f64::min);
            let farthest = if index % 3 == 0 { random.uniform(0.0, 0.3) } else { f64::INFINITY };
            match queries.nearest(point, farthest, |_| true).unwrap() {
                Some(hit) => {
                    worst[0] = worst[0].max((hit.distance - least).abs());
                    worst[1] = worst[1].max(off(&segments, &hit));
                    assert!((point - hit.normal * hit.distance).distance(hit.point) < 1.0e-8, "{hit:?}");
                }
                None => {
                    assert!(least > farthest);
                    none += 1;
                }
            }
            let radius = random.log_uniform(1.0e-3, 0.3);
            let pill = any_pill(&mut random, point, index);
            let own = moved(&pill, -point);
            let gaps_of = |radius: f64| gaps.iter().map(move |gap| gap - radius);
            let near = |flesh: &Pill| flesh.ends[0].distance(point) < size(flesh) + 2.0 * size(&pill);
            let pill_gaps = segments.iter().map(|segment| {
                if near(&segment.pill) { pill_gap(&own, &moved(&segment.pill, -point)) } else { f64::MAX }
            });
            let mut found = [Vec::new(), Vec::new()];
            queries.overlap_sphere(point, radius, |_| true, |hit| found[0].push(hit)).unwrap();
            queries.overlap_pill(&pill, |_| true, |hit| found[1].push(hit)).unwrap();
            for (found, gaps) in found.iter().zip([gaps_of(radius).collect(), pill_gaps.collect::<Vec<_>>()]) {
                let mut found = found.iter().peekable();
                for (segment, gap) in segments.iter().zip(gaps) {
                    let hit = found.next_if(|hit| (hit.flesh, hit.chain, hit.segment) == segment.name);
                    if gap.abs() < 1.0e-9 {
                        touching += 1;
                    } else {
                        assert_eq!(hit.is_some(), gap < 0.0, "{:?} is {gap} m away", segment.name);
                    }
                    if let Some(hit) = hit {
                        worst[2] = worst[2].max((hit.distance - gap).abs());
                        worst[3] = worst[3].max(off(&segments, hit));
                        overlaps += 1;
                    }
                }
                assert!(found.next().is_none(), "in the order of handles, chains and segments");
            }
        }
        println!(
            "at {at}: the nearest off by {:.1e} m, {:.1e} of size ({none} with nothing near); {overlaps} overlaps ({touching} touch), off by {:.1e} m, {:.1e} of size (bar 1e-9 m, {BAR:.0e})",
            worst[0], worst[1], worst[2], worst[3]
        );
        assert!(
            worst[0] < 1.0e-9 && worst[2] < 1.0e-9 && worst[1].max(worst[3]) <= BAR && overlaps > 1000 && none > 20
        );
    }
}

/// Straight rods from places on, of two radii at their ends, each an instance; two segments.
fn rods(rods: &[(DVec3, DVec3, [f64; 2])]) -> (Physics, Vec<FleshHandle>) {
    let mut physics = Physics::default();
    let handles = rods.iter().map(|&(from, to, radii)| {
        let middle = RodNode::disc(from.lerp(to, 0.5), 0.5 * (radii[0] + radii[1]));
        let nodes = vec![RodNode::disc(from, radii[0]), middle, RodNode::disc(to, radii[1])];
        let flesh = Flesh::build(&[RodSpec { nodes, ..RodSpec::default() }], &[]).unwrap();
        physics.insert(flesh.into(), &[], Pose::IDENTITY).unwrap()
    });
    let handles = handles.collect();
    (physics, handles)
}

fn ray(queries: &Queries, from: DVec3, direction: DVec3) -> Option<Hit> {
    queries.cast_ray(from, direction, 100.0, |_| true).unwrap()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1.0e-7
}

#[test]
fn rays_along_beside_and_from_within() {
    let (physics, handles) = rods(&[(DVec3::ZERO, DVec3::X, [0.1, 0.1])]);
    let queries = physics.queries();
    // Along the axis, from both sides, and across.
    let along = ray(&queries, DVec3::X * -2.0, DVec3::X * 1.0e-200).unwrap();
    assert!(close(along.distance, 1.9) && along.normal.distance(DVec3::NEG_X) < 1.0e-7 && along.segment == 0);
    let back = ray(&queries, DVec3::X * 3.0, DVec3::X * -1.0e200).unwrap();
    assert!(close(back.distance, 1.9) && back.point.distance(DVec3::X * 1.1) < 1.0e-7 && back.segment == 1);
    let across = ray(&queries, DVec3::new(0.75, 1.0, 0.0), DVec3::NEG_Y).unwrap();
    assert!(close(across.distance, 0.9) && close(across.along, 0.5) && across.segment == 1);
    assert!(across.normal.distance(DVec3::Y) < 1.0e-7 && across.flesh == handles[0]);
    // From within, on the axis too, and away from it outside.
    for from in [DVec3::new(0.3, 0.02, 0.05), DVec3::new(0.3, 0.0, 0.0), DVec3::ZERO, DVec3::new(0.5, 0.0, 0.0)] {
        let within = ray(&queries, from, DVec3::new(0.3, 1.0, -2.0)).unwrap();
        assert!(within.distance == 0.0 && within.segment == 0 && within.normal.is_normalized(), "{within:?}");
        let off_axis = DVec3::new(0.0, within.point.y, within.point.z).length();
        assert!(close(off_axis, 0.1) || from == DVec3::ZERO, "{within:?}");
    }
    assert_eq!(ray(&queries, DVec3::new(0.5, 0.11, 0.0), DVec3::Y), None);
    // Parallel to it, a little inside, on and outside its surface; past its end; not that far.
    let beside = |radius: f64| ray(&queries, DVec3::new(-1.0, radius * 0.6, radius * 0.8), DVec3::X);
    assert!(beside(0.0999).is_some() && beside(0.1001).is_none());
    let radius = f64::from(0.1_f32);
    assert!(beside(radius).is_none_or(|hit| (hit.distance - 1.0).abs() < 1.0e-3 && hit.normal.is_finite()));
    assert!(beside(radius * (1.0 - 1.0e-12)).is_some_and(|hit| (hit.distance - 1.0).abs() < 1.0e-3));
    let tangent = |height: f64| ray(&queries, DVec3::new(0.3, height, -1.0), DVec3::Z);
    assert!(tangent(radius - 1.0e-9).is_some_and(|hit| (hit.distance - 1.0).abs() < 1.0e-4));
    assert!(tangent(radius + 1.0e-9).is_none());
    let short = |farthest: f64| queries.cast_ray(DVec3::new(0.3, 1.0, 0.0), DVec3::NEG_Y, farthest, |_| true).unwrap();
    assert!(short(0.8999).is_none() && short(0.9001).is_some() && short(0.0).is_none());
}

#[test]
fn pills_in_pills_and_pills_along_pills() {
    // A cone in closed form: sin of its half angle is 0.3; and a pill whose large end holds the other.
    let (mut physics, handles) = rods(&[
        (DVec3::ZERO, DVec3::X, [0.1, 0.4]),
        (DVec3::new(5.0, 0.0, 0.0), DVec3::new(6.0, 0.0, 0.0), [0.2, 0.2]),
    ]);
    let flesh = physics.flesh(handles[1]).unwrap().clone();
    for (node, place, scale) in [(0, 0.0, 1.0), (1, 0.1, 3.0), (2, 0.1, 3.0)] {
        let mut to = physics.node(handles[1], 0, node).unwrap();
        (to.place.x, to.scale) = (5.0 + place, scale);
        physics.state_mut(handles[1]).unwrap().set_node(&flesh, 0, node, &to);
    }
    let queries = physics.queries();
    let cosine = (1.0_f64 - 0.09).sqrt();
    // At x = 0.5 the cone's surface is as far out as c·n + r says.
    let height = (0.3 * 0.5 + 0.1) / cosine;
    let cone = ray(&queries, DVec3::new(0.5, 2.0, 0.0), DVec3::NEG_Y).unwrap();
    assert!(close(cone.distance, 2.0 - height), "{cone:?}, {height}");
    assert!(cone.normal.distance(DVec3::new(-0.3, cosine, 0.0)) < 1.0e-6, "{cone:?}");
    // From its axis, the surface is nearest where a sphere about there touches it.
    let axis = queries.nearest(DVec3::X * 0.5, 1.0, |_| true).unwrap().unwrap();
    assert!(close(axis.distance, -0.25) && close(axis.normal.x, -0.3), "{axis:?}");
    let held = ray(&queries, DVec3::new(5.1, 3.0, 0.0), DVec3::NEG_Y).unwrap();
    assert!(close(held.distance, 2.4) && held.segment == 0, "{held:?}");
    // Capsules laid upon a capsule, along it, across it, beside it.
    let (physics, _) = rods(&[(DVec3::ZERO, DVec3::X, [0.1, 0.1])]);
    let queries = physics.queries();
    let cast = |from: DVec3, to: DVec3, direction: DVec3| {
        queries.cast_pill(&Pill::capsule(from, to, 0.05), direction, 10.0, |_| true).unwrap()
    };
    let up = DVec3::Y;
    for (from, to) in [(DVec3::X * 0.2, DVec3::X * 0.7), (DVec3::new(0.3, 0.0, -2.0), DVec3::new(0.3, 0.0, 2.0))] {
        let laid = cast(from + up, to + up, DVec3::NEG_Y).unwrap();
        assert!(close(laid.distance, 0.85) && laid.normal.distance(up) < 1.0e-6, "{laid:?}");
    }
    let pushed = cast(DVec3::X * -3.0, DVec3::X * -2.0, DVec3::X).unwrap();
    assert!(close(pushed.distance, 1.85) && pushed.normal.distance(DVec3::NEG_X) < 1.0e-6, "{pushed:?}");
    assert!(cast(DVec3::new(-3.0, 0.1499, 0.0), DVec3::new(-2.0, 0.1499, 0.0), DVec3::X).is_some());
    assert!(cast(DVec3::new(-3.0, 0.1501, 0.0), DVec3::new(-2.0, 0.1501, 0.0), DVec3::X).is_none());
    assert_eq!(cast(DVec3::X * 0.2, DVec3::X * 0.7, up).unwrap().distance, 0.0);
}

#[test]
fn a_filter_leaves_instances_out_and_the_first_of_equals_is_found() {
    let same = (DVec3::ZERO, DVec3::X, [0.1, 0.1]);
    let (mut physics, handles) = rods(&[same, same, same]);
    let queries = physics.queries();
    let (from, down) = (DVec3::new(0.3, 1.0, 0.0), DVec3::NEG_Y);
    let first = |queries: &Queries, from: usize| {
        let filter = |flesh| handles[from..].contains(&flesh);
        let cast = queries.cast_ray(from_above(), down, 10.0, filter).unwrap().map(|hit| hit.flesh);
        assert_eq!(queries.nearest(from_above(), 10.0, filter).unwrap().map(|hit| hit.flesh), cast);
        let ball = queries.cast_sphere(from_above(), 0.1, down, 10.0, filter).unwrap().map(|hit| hit.flesh);
        let pill = Pill::sphere(from_above(), 0.1);
        assert_eq!(queries.cast_pill(&pill, down, 10.0, filter).unwrap().map(|hit| hit.flesh), ball);
        let mut overlap = Vec::new();
        queries.overlap_sphere(from_above(), 0.95, filter, |hit| overlap.push(hit.flesh)).unwrap();
        assert_eq!((overlap.first().copied(), ball), (cast, cast));
        cast
    };
    fn from_above() -> DVec3 {
        DVec3::new(0.3, 1.0, 0.0)
    }
    for (left, handle) in handles.iter().enumerate() {
        assert_eq!(first(&queries, left), Some(*handle));
    }
    assert_eq!(first(&queries, 3), None);
    // Of two that share a sphere the first, though the tree comes to the second first.
    let (two, ends) = rods(&[(DVec3::ZERO, DVec3::X, [0.1, 0.1]), (DVec3::ZERO, DVec3::NEG_X, [0.1, 0.1])]);
    assert_eq!(ray(&two.queries(), DVec3::Y, down).unwrap().flesh, ends[0]);
    // What was removed is there no more, once a picture is taken anew.
    physics.remove(handles[0]).unwrap();
    assert_eq!(ray(&queries, from, down).unwrap().flesh, handles[0]);
    assert_eq!(ray(&physics.queries(), from, down).unwrap().flesh, handles[1]);
}

#[test]
fn nothing_is_found_in_an_empty_scene() {
    let mut physics = Physics::default();
    let check = |queries: &Queries| {
        let pill = Pill::capsule(DVec3::ZERO, DVec3::X, 0.1);
        assert_eq!(ray(queries, DVec3::ZERO, DVec3::X), None);
        assert_eq!(queries.cast_pill(&pill, DVec3::X, f64::INFINITY, |_| true), Ok(None));
        assert_eq!(queries.nearest(DVec3::ZERO, f64::INFINITY, |_| true), Ok(None));
        queries.overlap_pill(&pill, |_| true, |hit| panic!("{hit:?}")).unwrap();
        assert_eq!(queries.segment_count(), 0);
    };
    check(&Queries::default());
    check(&physics.queries());
    let rod = Flesh::build(&[RodSpec::straight("rod", DVec3::ZERO, DVec3::X, 4, 0.1)], &[]).unwrap();
    let handle = physics.insert(rod.into(), &[], Pose::IDENTITY).unwrap();
    let mut queries = physics.queries();
    assert!(ray(&queries, DVec3::Y, DVec3::NEG_Y).is_some());
    physics.remove(handle).unwrap();
    physics.update_queries(&mut queries);
    check(&queries);
}

#[test]
fn what_is_no_query_is_refused() {
    let (physics, _) = rods(&[(DVec3::ZERO, DVec3::X, [0.1, 0.1])]);
    let (queries, all) = (physics.queries(), |_: FleshHandle| true);
    let bad_pill = Pill { ends: [DVec3::ZERO; 2], radii: [0.1, -0.1] };
    let refused = [
        queries.cast_ray(DVec3::NAN, DVec3::X, 1.0, all),
        queries.cast_ray(DVec3::X * 1.1e12, DVec3::X, 1.0, all),
        queries.cast_ray(DVec3::ZERO, DVec3::ZERO, 1.0, all),
        queries.cast_ray(DVec3::ZERO, DVec3::new(0.0, f64::INFINITY, 0.0), 1.0, all),
        queries.cast_ray(DVec3::ZERO, DVec3::X, -1.0, all),
        queries.cast_ray(DVec3::ZERO, DVec3::X, f64::NAN, all),
        queries.cast_sphere(DVec3::ZERO, -0.1, DVec3::X, 1.0, all),
        queries.cast_sphere(DVec3::ZERO, f64::NAN, DVec3::X, 1.0, all),
        queries.cast_pill(&bad_pill, DVec3::X, 1.0, all),
        queries.nearest(DVec3::INFINITY, 1.0, all),
        queries.nearest(DVec3::ZERO, -1.0, all),
        queries.overlap_sphere(DVec3::ZERO, f64::INFINITY, all, |_| ()).map(|()| None),
        queries.overlap_pill(&bad_pill, all, |_| ()).map(|()| None),
    ];
    for error in refused {
        println!("{}", error.unwrap_err());
    }
    assert_eq!(queries.cast_ray(DVec3::ZERO, DVec3::ZERO, 1.0, all), Err(QueryError::BadDirection(DVec3::ZERO)));
}

/// Numbers of any magnitude, and nodes thrown anywhere: nothing panics, and nothing that is found is no number.
#[test]
fn whatever_is_asked_is_answered_with_numbers() {
    let mut random = Random(15);
    let mut physics = scene(&mut random, DVec3::ZERO, 5);
    let mut answers = 0;
    for round in 0..40 {
        let handle = physics.instances().nth(round % 5).unwrap();
        let flesh = physics.flesh(handle).unwrap().clone();
        let mut node = physics.node(handle, 0, 2).unwrap();
        node.place = random.vector(-1.0, 1.0) * random.log_uniform(1.0e-30, 1.0e38);
        node.scale = random.log_uniform(1.0e-30, 1.0e20) as f32;
        if round > 0 {
            physics.state_mut(handle).unwrap().set_node(&flesh, 0, 2, &node);
        }
        let queries = physics.queries();
        let wild = |random: &mut Random| {
            let sign = if random.bits().is_multiple_of(2) { 1.0 } else { -1.0 };
            if random.bits().is_multiple_of(8) { 0.0 } else { sign * random.log_uniform(1.0e-300, 1.0e12) }
        };
        for _ in 0..500 {
            let [from, to, direction] =
                [0; 3].map(|_| DVec3::new(wild(&mut random), wild(&mut random), wild(&mut random)));
            let [a, b] = [0; 2].map(|_| wild(&mut random).abs());
            let pill = Pill { ends: [from, to], radii: [a, b] };
            let mut hits = Vec::new();
            for direction in [direction, -from, direction * 1.0e-15 - from] {
                if direction != DVec3::ZERO {
                    hits.extend(queries.cast_ray(from, direction, f64::INFINITY, |_| true).unwrap());
                    hits.extend(queries.cast_sphere(from, a, direction, b, |_| true).unwrap());
                    hits.extend(queries.cast_pill(&pill, direction, f64::MAX, |_| true).unwrap());
                }
            }
            hits.extend(queries.nearest(from, f64::INFINITY, |_| true).unwrap());
            queries.overlap_pill(&pill, |_| true, |hit| hits.push(hit)).unwrap();
            queries.overlap_sphere(from, a, |_| true, |hit| hits.push(hit)).unwrap();
            for hit in hits {
                let finite = hit.point.is_finite() && hit.distance.is_finite() && (0.0..=1.0).contains(&hit.along);
                assert!(finite && (hit.normal.length() - 1.0).abs() < 1.0e-9, "{hit:?} of {pill:?}");
                answers += 1;
            }
        }
    }
    println!("{answers} answers to wild queries, all finite");
}

#[test]
fn the_same_query_gets_the_same_bits() {
    let mut random = Random(16);
    let mut physics = scene(&mut random, DVec3::ZERO, 8);
    let asks: Vec<(DVec3, DVec3, f64)> =
        (0..500).map(|_| (random.vector(-1.5, 1.5), random.vector(-1.0, 1.0), random.log_uniform(0.01, 0.2))).collect();
    let answer = |queries: &Queries| -> Vec<String> {
        let ask = |&(from, direction, radius): &(DVec3, DVec3, f64)| {
            let mut hits = Vec::new();
            hits.extend(queries.cast_ray(from, direction, 3.0, |_| true).unwrap());
            hits.extend(queries.cast_sphere(from, radius, direction, 3.0, |_| true).unwrap());
            let pill = Pill::capsule(from, from + direction * 0.1, radius);
            hits.extend(queries.cast_pill(&pill, direction, 3.0, |_| true).unwrap());
            hits.extend(queries.nearest(from, 3.0, |_| true).unwrap());
            queries.overlap_pill(&pill, |_| true, |hit| hits.push(hit)).unwrap();
            format!("{hits:?}")
        };
        asks.iter().map(ask).collect()
    };
    let mut queries = physics.queries();
    let first = answer(&queries);
    assert_eq!(answer(&queries), first);
    assert_eq!(answer(&physics.queries()), first);
    // From several threads, and while the flesh goes on.
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| answer(&queries))).collect();
        physics.step_flesh(FRAME).unwrap();
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), first));
    });
    physics.update_queries(&mut queries);
    let moved = answer(&queries);
    assert!(moved != first && moved == answer(&physics.queries()));
}

/// How many pills are looked at, by what the filter is asked: in a crowd of muscled legs that gets larger.
#[test]
fn ten_times_the_flesh_costs_little_more() {
    let looked_at = |side: usize| {
        let (mut physics, mut random) = (Physics::default(), Random(17));
        let rod = |chain: usize| {
            let from = DVec3::new(0.1 * chain as f64, 0.0, 0.0);
            RodSpec::straight(format!("rod {chain}"), from, from + DVec3::new(0.05, 1.5, 0.02), 10, 0.03)
        };
        let flesh = Arc::new(Flesh::build(&[0, 1, 2, 3, 4].map(rod), &[]).unwrap());
        for place in 0..side * side {
            let [x, z] = [place % side, place / side].map(|k| 2.0 * k as f64);
            let root = Pose::new(DVec3::new(x, 0.0, z), DQuat::from_rotation_y(place as f64));
            physics.insert(flesh.clone(), &[], root).unwrap();
        }
        let mut queries = physics.queries();
        let start = Instant::now();
        physics.update_queries(&mut queries);
        let built = start.elapsed().as_secs_f64();
        let (count, mut hits) = (Cell::new(0_usize), 0);
        let all = |_: FleshHandle| {
            count.set(count.get() + 1);
            true
        };
        let extent = DVec3::new(2.0 * side as f64, 2.0, 2.0 * side as f64);
        let start = Instant::now();
        for _ in 0..1000 {
            let (from, direction) = (random.vector(0.0, 1.0) * extent, random.vector(-1.0, 1.0));
            let direction = direction * DVec3::new(1.0, 0.2, 1.0);
            hits += usize::from(queries.cast_ray(from, direction, f64::INFINITY, all).unwrap().is_some());
        }
        let cast = start.elapsed().as_secs_f64();
        let rays = count.take();
        for _ in 0..1000 {
            let point = random.vector(0.0, 1.0) * extent;
            hits += usize::from(queries.nearest(point, f64::INFINITY, all).unwrap().is_some());
        }
        let segments = queries.segment_count();
        println!(
            "{segments} segments: 1000 rays look at {rays} pills, 1000 points at {}, {hits} hits; taken anew in {:.2} ms, {:.2} µs a ray",
            count.get(),
            1.0e3 * built,
            1.0e3 * cast
        );
        [rays, count.get()].map(|count| count as f64)
    };
    let counts = [5, 16, 50].map(looked_at);
    for (few, many) in counts.iter().zip(&counts[1..]) {
        let growth = [0, 1].map(|k| many[k] / few[k]);
        println!("with 10 times the segments {:.2} times for rays, {:.2} for points (bar 3)", growth[0], growth[1]);
        assert!(growth.iter().all(|growth| *growth <= 3.0));
    }
}
