//! Surfaces whose volume and axis are known.

use glam::DVec3;
use sinew::character::viperize::TriangleMesh;
use std::f64::consts::TAU;

/// A closed tube: `rings` + 1 rings of `sides` vertices at t = 0…1, where `axis` gives the centre and two directions
/// across and `radius` the radius, and a centre vertex on each end.
pub fn tube(
    rings: usize,
    sides: usize,
    axis: impl Fn(f64) -> (DVec3, DVec3, DVec3),
    radius: impl Fn(f64) -> f64,
) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for ring in 0..=rings {
        let t = ring as f64 / rings as f64;
        let (centre, x, y) = axis(t);
        for side in 0..sides {
            let (sin, cos) = (TAU * side as f64 / sides as f64).sin_cos();
            mesh.positions.push(centre + radius(t) * (cos * x + sin * y));
        }
    }
    let vertex = |ring: usize, side: usize| (ring * sides + side % sides) as u32;
    for ring in 0..rings {
        for side in 0..sides {
            let [a, b] = [vertex(ring, side), vertex(ring, side + 1)];
            let [c, d] = [vertex(ring + 1, side), vertex(ring + 1, side + 1)];
            mesh.triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    for (ring, t) in [(0, 0.0), (rings, 1.0)] {
        let centre = mesh.positions.len() as u32;
        mesh.positions.push(axis(t).0);
        for side in 0..sides {
            let [a, b] = [vertex(ring, side), vertex(ring, side + 1)];
            mesh.triangles.push(if ring == 0 { [centre, b, a] } else { [centre, a, b] });
        }
    }
    mesh
}

/// Origin, direction and length of the cylinder and the spindle (m): askew to the grid, away from the world's origin.
pub const START: DVec3 = DVec3::new(1.0, -0.4, 2.0);
pub const LENGTH: f64 = 0.24;

pub fn direction() -> DVec3 {
    DVec3::new(0.3, 0.9, -0.2).normalize()
}

fn straight(t: f64) -> (DVec3, DVec3, DVec3) {
    let (x, y) = direction().any_orthonormal_pair();
    (START + t * LENGTH * direction(), x, y)
}

pub const CYLINDER_RADIUS: f64 = 0.03;

pub fn cylinder() -> TriangleMesh {
    tube(24, 48, straight, |_| CYLINDER_RADIUS)
}

/// Vertices of the cylinder's two end faces.
pub fn cylinder_faces() -> [Vec<u32>; 2] {
    let last = 25 * 48;
    [(0..48).chain([last]).collect(), (last - 48..last).chain([last + 1]).collect()]
}

pub fn spindle_radius(t: f64) -> f64 {
    0.004 + 0.03 * (std::f64::consts::PI * t).sin().powi(2)
}

pub fn spindle() -> TriangleMesh {
    tube(48, 32, straight, spindle_radius)
}

pub const BEND_RADIUS: f64 = 0.1;
pub const BEND_ANGLE: f64 = 2.6;
pub const BENT_RADIUS: f64 = 0.025;

/// A tube along an arc about the z axis.
pub fn bent_tube() -> TriangleMesh {
    let axis = |t: f64| {
        let (sin, cos) = (BEND_ANGLE * t).sin_cos();
        let out = DVec3::new(cos, sin, 0.0);
        (BEND_RADIUS * out, out, -DVec3::Z)
    };
    tube(64, 32, axis, |_| BENT_RADIUS)
}

/// Two heads that join a belly: three closed tubes that overlap.
pub fn two_heads() -> TriangleMesh {
    let line = |from: DVec3, to: DVec3| {
        move |t: f64| {
            let (x, y) = (to - from).normalize().any_orthonormal_pair();
            (from + t * (to - from), x, y)
        }
    };
    let joint = DVec3::new(0.0, 0.12, 0.0);
    let belly = tube(24, 24, line(DVec3::ZERO, joint), |t| 0.01 + 0.015 * (3.0 * t).min(1.0));
    let heads = [1.0, -1.0].map(|side| {
        let start = joint - DVec3::new(-side * 0.01, 0.02, 0.0);
        tube(24, 24, line(start, DVec3::new(side * 0.05, 0.25, 0.0)), move |_| if side > 0.0 { 0.012 } else { 0.008 })
    });
    heads.into_iter().fold(belly, |mut all, part| {
        let offset = all.positions.len() as u32;
        all.positions.extend(part.positions);
        all.triangles.extend(part.triangles.iter().map(|corners| corners.map(|vertex| vertex + offset)));
        all
    })
}

/// Numbers 0…1 that look random and are the same everywhere (SplitMix64).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64
    }
}

/// Leaves out a part of the triangles.
pub fn with_holes(mut mesh: TriangleMesh, part: f64) -> TriangleMesh {
    let mut numbers = Numbers(1);
    mesh.triangles.retain(|_| numbers.next() >= part);
    mesh
}

/// Turns a part of the triangles over.
pub fn with_flips(mut mesh: TriangleMesh, part: f64) -> TriangleMesh {
    let mut numbers = Numbers(2);
    for corners in &mut mesh.triangles {
        if numbers.next() < part {
            corners.swap(1, 2);
        }
    }
    mesh
}

/// Adds a part of the triangles again, some turned over.
pub fn with_duplicates(mut mesh: TriangleMesh, part: f64) -> TriangleMesh {
    let mut numbers = Numbers(3);
    let again: Vec<_> = mesh.triangles.iter().copied().filter(|_| numbers.next() < part).collect();
    mesh.triangles.extend(again.into_iter().map(|[a, b, c]| if numbers.next() < 0.5 { [a, b, c] } else { [a, c, b] }));
    mesh
}

/// Puts walls across the cylinder at some of its rings, on the rings' own vertices: edges of valence 3.
pub fn with_walls(mut mesh: TriangleMesh) -> TriangleMesh {
    for ring in [4_u32, 11, 19] {
        let first = ring * 48;
        mesh.triangles.extend((1..47).map(|side| [first, first + side, first + side + 1]));
    }
    mesh
}
