//! Solids' forms against parry3d's projections and dense scans: signed distances, normals, who says an edge, where pills are
//! deepest, and which triangles a box touches.

#![cfg(feature = "rapier")]

#[path = "common/rods.rs"]
#[allow(dead_code)]
mod rods;

use glam::{DVec3, Vec3};
use rods::Random;
use sinew::rapier3d::parry::query::PointQuery;
use sinew::rapier3d::parry::shape as parry;
use sinew::rapier3d::parry::transformation::try_convex_hull;
use sinew::{Convex, Mesh, Shape, ShapeError};

type Peer = Box<dyn parry::Shape>;

fn points(random: &mut Random, count: usize) -> Vec<Vec3> {
    (0..count).map(|_| random.vector(-1.0, 1.0).as_vec3()).collect()
}

/// Points on a ball, and the hull of them.
fn hull(random: &mut Random) -> (Vec<Vec3>, Shape) {
    let points: Vec<_> = points(random, 12).into_iter().map(Vec3::normalize).collect();
    let (points, triangles) = try_convex_hull(&points).expect("a volume");
    let shape = Shape::Convex(Convex::new(&points, triangles).expect("is convex"));
    (points, shape)
}

/// Forms of random sizes, each beside parry's.
fn forms(random: &mut Random) -> Vec<(&'static str, Shape, Peer)> {
    let mut size = || random.log_uniform(0.05, 2.0) as f32;
    let (radius, half_height, half) = (size(), size(), Vec3::new(size(), size(), size()));
    let [a, b] = [Vec3::new(size(), -size(), size()), Vec3::new(-size(), size(), size())];
    vec![
        ("ball", Shape::Ball { radius }, Box::new(parry::Ball::new(radius))),
        ("cuboid", Shape::Cuboid { half_extents: half }, Box::new(parry::Cuboid::new(half))),
        ("capsule", Shape::Capsule { ends: [a, b], radius }, Box::new(parry::Capsule::new(a, b, radius))),
        ("cylinder", Shape::Cylinder { half_height, radius }, Box::new(parry::Cylinder::new(half_height, radius))),
        ("cone", Shape::Cone { half_height, radius }, Box::new(parry::Cone::new(half_height, radius))),
    ]
}

/// A field of triangles over the xz plane, waved or flat.
fn field(waves: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let count = 9_u32;
    let height = |x: f32, z: f32| waves * ((3.0 * x).sin() * (2.0 * z).cos() + 0.3 * (7.0 * x * z).sin());
    let grid = (0..count * count).map(|k| [(k / count) as f32 / 4.0 - 1.0, (k % count) as f32 / 4.0 - 1.0]);
    let cells = (0..count - 1).flat_map(|i| (0..count - 1).map(move |k| i * count + k));
    let triangles = cells.flat_map(|at| [[at, at + 1, at + count], [at + count, at + 1, at + count + 1]]);
    (grid.map(|[x, z]| Vec3::new(x, height(x, z), z)).collect(), triangles.collect())
}

#[test]
fn distances_are_parrys() {
    let mut random = Random(7);
    let (mut worst, mut slope) = (0.0_f64, 0.0_f64);
    for _ in 0..40 {
        for (name, shape, peer) in forms(&mut random) {
            shape.check().expect(name);
            let [low, high] = shape.bounds().map(Vec3::as_dvec3);
            let size = low.distance(high);
            for _ in 0..100 {
                let point = (low + high) * 0.5 + random.vector(-1.0, 1.0) * size;
                let found = shape.surface(0, point);
                let there = peer.project_local_point(point.as_vec3(), false);
                let exact = f64::from(there.point.distance(point.as_vec3())) * if there.is_inside { -1.0 } else { 1.0 };
                assert!(found.own && (found.normal.length() - 1.0).abs() < 1.0e-9, "{name}");
                let off = (found.distance - exact).abs() / size;
                // Where the nearest place is another by a rounding, so is the normal.
                let step = 1.0e-6 * size;
                let ahead = shape.surface(0, point + found.normal * step).distance;
                slope = slope.max(1.0 - (ahead - found.distance) / step);
                assert!(off < 1.0e-5, "{name}: {} for {exact} at {point}", found.distance);
                worst = worst.max(off);
            }
        }
    }
    println!(
        "signed distances within {worst:.1e} of size of parry's (f32), along the normal they grow by 1 within {slope:.1e}"
    );
    // Inside, a step to the nearest face may pass where another is as near.
    assert!(slope < 1.0e-3);
}

/// A polyhedron is the hull of its points: what is nearest is in it, and all of it is behind the plane there. From inside no
/// direction leads out of it sooner than the normal. (Parry iterates in f32, and is up to 7·10⁻⁴ m off here.)
#[test]
fn distances_from_polyhedra_are_exact() {
    let mut random = Random(19);
    let mut inside = 0;
    for _ in 0..40 {
        let (points, shape) = hull(&mut random);
        let support = |way: DVec3| points.iter().map(|p| way.dot(p.as_dvec3())).fold(f64::MIN, f64::max);
        for _ in 0..50 {
            let point = random.vector(-1.5, 1.5);
            let found = shape.surface(0, point);
            let nearest = point - found.normal * found.distance;
            assert!((support(found.normal) - found.normal.dot(nearest)).abs() < 1.0e-6, "all is behind the plane");
            for _ in 0..100 {
                let way = random.rotation() * DVec3::X;
                assert!(way.dot(nearest) < support(way) + 1.0e-6, "the nearest place is in it");
                assert!(found.distance > 0.0 || way.dot(point) - support(way) < found.distance + 1.0e-6);
            }
            inside += usize::from(found.distance < 0.0);
        }
    }
    assert!(inside > 100);
}

/// At centres, on axes, edges and faces everything is a number.
#[test]
fn degenerate_points_have_a_normal() {
    let mut random = Random(3);
    let (points, triangles) = field(0.3);
    let mesh = |sided| Shape::Mesh(Mesh::new(points.clone(), triangles.clone(), sided).expect("triangles"));
    let forms = forms(&mut random).into_iter().map(|(_, shape, _)| shape);
    let line = Shape::Capsule { ends: [Vec3::ONE; 2], radius: 0.0 };
    for shape in forms.chain([mesh(true), mesh(false), line, hull(&mut Random(4)).1]) {
        let [low, high] = shape.bounds().map(Vec3::as_dvec3);
        let mut places: Vec<DVec3> = points.iter().map(|point| point.as_dvec3()).collect();
        for k in 0..27 {
            let share = DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9)) * 0.5;
            places.push(low + (high - low) * share);
        }
        places.extend([DVec3::ONE, DVec3::splat(1.0e9), DVec3::splat(1.0e-300)]);
        for place in places {
            for primitive in 0..shape.primitives() {
                let found = shape.surface(primitive, place);
                assert!(
                    found.distance.is_finite() && (found.normal.length() - 1.0).abs() < 1.0e-6,
                    "{shape:?} {place}"
                );
                let along = shape.deepest(primitive, [place, place + DVec3::X], [0.1, 0.2]);
                assert!(along.is_none_or(|along| (0.0..=1.0).contains(&along)));
                assert_eq!(shape.deepest(primitive, [place, place], [0.1, 0.1]), None);
            }
        }
    }
}

#[test]
fn a_pill_is_deepest_where_a_scan_finds_it() {
    let mut random = Random(5);
    let (points, triangles) = field(0.3);
    let mesh = Shape::Mesh(Mesh::new(points, triangles, false).expect("triangles"));
    let (mut between, mut worst) = (0, 0.0_f64);
    for _ in 0..20 {
        let forms = forms(&mut random).into_iter().map(|(name, shape, _)| (name, shape));
        for (name, shape) in forms.chain([("mesh", mesh.clone()), ("convex", hull(&mut random).1)]) {
            let [low, high] = shape.bounds().map(Vec3::as_dvec3);
            let size = low.distance(high);
            for _ in 0..20 {
                let ends = [(); 2].map(|()| (low + high) * 0.5 + random.vector(-1.0, 1.0) * size);
                let radii = [(); 2].map(|()| random.uniform(0.0, 0.3) * size);
                let primitive = random.bits() as u32 % shape.primitives();
                let gap = |t: f64| {
                    let place = ends[0].lerp(ends[1], t);
                    shape.surface(primitive, place).distance - (radii[0] + (radii[1] - radii[0]) * t)
                };
                let least = (0..=2000).map(|k| gap(f64::from(k) / 2000.0)).fold(f64::MAX, f64::min);
                let found = shape.deepest(primitive, ends, radii);
                between += usize::from(found.is_some());
                let reached = found.map_or(gap(0.0).min(gap(1.0)), gap);
                let off = (reached - least) / size;
                assert!(off < 1.0e-4, "{name}: {off:.1e} of size above the least");
                worst = worst.max(off);
            }
        }
    }
    println!("{between} pills deepest between their ends, all within {worst:.1e} of size of a scan");
    assert!(between > 500);
}

/// Of all triangles one says what is nearest, and none a tilted normal where the field is flat.
#[test]
fn one_triangle_says_an_edge() {
    let mut random = Random(11);
    for waves in [0.0, 0.4] {
        let (points, triangles) = field(waves);
        let peer = parry::TriMesh::new(points.clone(), triangles.clone()).expect("triangles");
        let shape = Shape::Mesh(Mesh::new(points, triangles, false).expect("triangles"));
        let mut several = 0;
        for k in 0..4000 {
            // Also right over the edges.
            let cell = |x: f64| if k % 4 == 0 { (x * 4.0).round() / 4.0 } else { x };
            let [x, z] = [(); 2].map(|()| cell(random.uniform(-0.99, 0.99)));
            let point = DVec3::new(x, random.uniform(-1.0, 1.0), z);
            let exact = f64::from(peer.distance_to_local_point(point.as_vec3(), false));
            let own: Vec<_> = (0..shape.primitives()).map(|k| shape.surface(k, point)).filter(|s| s.own).collect();
            let least = own.iter().map(|surface| surface.distance).fold(f64::MAX, f64::min);
            assert!((least - exact).abs() < 1.0e-5, "{least} for {exact} at {point}");
            several += usize::from(own.len() > 1);
            if waves == 0.0 {
                assert!(own.iter().all(|surface| surface.normal.y.abs() > 1.0 - 1.0e-9), "{own:?}");
            }
        }
        println!("waves of {waves}: the nearest is always someone's; {several} of 4000 have more than one near");
        assert!(waves > 0.0 || several == 0, "over an edge one of both");
    }
}

/// A box of triangles is a box, also from behind its faces.
#[test]
fn an_oriented_mesh_is_solid() {
    let corners = (0..8).map(|k| Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32) * 2.0 - 1.0);
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles: Vec<_> = faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    let mesh = Shape::Mesh(Mesh::new(corners.collect(), triangles, true).expect("triangles"));
    let cuboid = Shape::Cuboid { half_extents: Vec3::ONE };
    let mut random = Random(13);
    for _ in 0..4000 {
        let point = random.vector(-2.0, 2.0);
        let exact = cuboid.surface(0, point);
        let own: Vec<_> = (0..12).map(|k| mesh.surface(k, point)).filter(|surface| surface.own).collect();
        let outside = own.iter().filter(|surface| surface.distance > 0.0).map(|surface| surface.distance);
        let deepest = own.iter().map(|surface| surface.distance).filter(|d| *d <= 0.0).fold(f64::MIN, f64::max);
        if exact.distance > 0.0 {
            let least = outside.fold(f64::MAX, f64::min);
            assert!((least - exact.distance).abs() < 1.0e-9, "{least} for {} at {point}", exact.distance);
        } else {
            assert!((deepest - exact.distance).abs() < 1.0e-9, "{deepest} for {} at {point}", exact.distance);
            assert_eq!(outside.count(), 0);
        }
    }
}

#[test]
fn a_box_finds_its_triangles() {
    let mut random = Random(17);
    for count in [1, 3, 50, 700] {
        let corners = points(&mut random, 3 * count);
        let corners: Vec<_> = corners.iter().enumerate().map(|(k, p)| *p * 0.1 + corners[k / 3 * 3]).collect();
        let triangles: Vec<_> = (0..count as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        let shape = Shape::Mesh(Mesh::new(corners.clone(), triangles, false).expect("triangles"));
        for _ in 0..50 {
            let (middle, half) = (random.vector(-1.0, 1.0).as_vec3(), random.log_uniform(0.01, 1.0) as f32);
            let region = [middle - half, middle + half];
            let exact: Vec<u32> = (0..count as u32)
                .filter(|k| {
                    let own = &corners[3 * *k as usize..][..3];
                    let (low, high) = (own[0].min(own[1]).min(own[2]), own[0].max(own[1]).max(own[2]));
                    low.cmple(region[1]).all() && region[0].cmple(high).all()
                })
                .collect();
            let mut found = Vec::new();
            shape.primitives_in(region, &mut |k| found.push(k));
            found.sort_unstable();
            assert_eq!(found, exact);
        }
    }
}

#[test]
fn bad_shapes_are_named() {
    let size = |shape: Shape| shape.check();
    assert_eq!(size(Shape::Ball { radius: 0.0 }), Err(ShapeError::Size("radius")));
    assert_eq!(size(Shape::Ball { radius: f32::NAN }), Err(ShapeError::Size("radius")));
    assert_eq!(size(Shape::Cuboid { half_extents: Vec3::NEG_ONE }), Err(ShapeError::Size("half_extents")));
    assert_eq!(size(Shape::Cone { half_height: f32::INFINITY, radius: 1.0 }), Err(ShapeError::Size("half_height")));
    let bad = Shape::Capsule { ends: [Vec3::ZERO, Vec3::NAN], radius: 1.0 };
    assert_eq!(size(bad), Err(ShapeError::Point(1)));
    let three = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let mesh = |triangles| Mesh::new(three.clone(), triangles, false).map(|_| ());
    assert_eq!(mesh(vec![[0, 1, 3]]), Err(ShapeError::Index { triangle: 0, points: 3 }));
    assert_eq!(mesh(vec![[0, 1, 1]]), Err(ShapeError::Empty));
    assert_eq!(mesh(vec![]), Err(ShapeError::Empty));
    assert_eq!(mesh(vec![[0, 1, 1], [0, 1, 2]]), Ok(()));
    assert_eq!(Mesh::new(vec![Vec3::NAN; 3], vec![[0, 1, 2]], true).map(|_| ()), Err(ShapeError::Point(0)));
    let four = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let inward = vec![[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]];
    assert!(matches!(Convex::new(&four, inward), Err(ShapeError::NotConvex { .. })));
}

/// A pill over a thin closed slab, coarse above and fine below, is never told of the lower side.
#[test]
fn a_slab_has_one_side_towards_a_pill() {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for (height, cells) in [(0.0_f32, 1_u32), (-0.02, 20)] {
        let first = points.len() as u32;
        let at = |k: u32| k as f32 / cells as f32 - 0.5;
        points.extend((0..=cells).flat_map(|i| (0..=cells).map(move |k| Vec3::new(at(i), height, at(k)))));
        for i in 0..cells {
            for k in 0..cells {
                let corner = |i: u32, k: u32| first + i * (cells + 1) + k;
                let [a, b, c, d] = [corner(i, k), corner(i, k + 1), corner(i + 1, k), corner(i + 1, k + 1)];
                let up = [[a, b, c], [c, b, d]];
                triangles.extend(if height < 0.0 { up.map(|[a, b, c]| [a, c, b]) } else { up });
            }
        }
    }
    let shape = Shape::Mesh(Mesh::new(points, triangles, true).expect("triangles"));
    let mut random = Random(23);
    let mut told = 0;
    for _ in 0..2000 {
        let place = |random: &mut Random| {
            DVec3::new(random.uniform(-0.6, 0.6), random.uniform(0.0, 0.05), random.uniform(-0.6, 0.6))
        };
        let ends = [place(&mut random), place(&mut random)];
        for primitive in 0..shape.primitives() {
            let Some(along) = shape.deepest(primitive, ends, [0.03; 2]) else { continue };
            let found = shape.surface(primitive, ends[0].lerp(ends[1], along));
            let there = ends[0].lerp(ends[1], along) - found.normal * found.distance;
            let lower = there.y < -0.01 && there.x.abs().max(there.z.abs()) < 0.499;
            assert!(found.distance >= 0.0 && !(found.own && lower), "{there}");
            told += usize::from(found.own);
        }
    }
    println!("{told} of 2000 pills are deepest between their ends");
    assert!(told > 100);
}
