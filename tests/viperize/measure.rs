//! What a bundle is worth, measured without the library's own grid or winding numbers.

use glam::DVec3;
use sinew::character::viperize::{TriangleMesh, Viperized};
use sinew::flesh::Disc;
use std::f64::consts::PI;

pub fn signed_volume(mesh: &TriangleMesh) -> f64 {
    let corner = |vertex: u32| mesh.positions[vertex as usize] - mesh.positions[0];
    mesh.triangles.iter().map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c))) / 6.0).sum()
}

pub struct Measured {
    /// Truncated cones of all fibres over the mesh's volume.
    pub volume: f64,
    /// What of the pills' volume, each counted on its own, is inside the mesh.
    pub pills_inside: f64,
    /// What of their union is.
    pub union_inside: f64,
    /// What of the mesh is inside any pill.
    pub covered: f64,
    /// Greatest fall of the fibres' summed length if any two swapped a neighbour (m).
    pub best_swap: f64,
    /// Whether every fibre's arc lengths grow.
    pub monotone: bool,
}

impl Measured {
    /// Against a closed, sound mesh: points of a grid, inside where a line along z has crossed the surface an odd
    /// number of times.
    pub fn new(name: &str, mesh: &TriangleMesh, viperized: &Viperized) -> Self {
        let fibres = &viperized.bundle.fibres;
        let pills: Vec<[Disc; 2]> = fibres.iter().flat_map(|f| f.windows(2).map(|pair| [pair[0], pair[1]])).collect();
        let cone = |[a, b]: &[Disc; 2]| {
            let square = a.radius * a.radius + a.radius * b.radius + b.radius * b.radius;
            PI / 3.0 * a.place.distance(b.place) * square
        };
        let mut min = mesh.positions.iter().fold(DVec3::INFINITY, |min, place| min.min(*place));
        let mut max = mesh.positions.iter().fold(DVec3::NEG_INFINITY, |max, place| max.max(*place));
        for disc in fibres.iter().flatten() {
            (min, max) = (min.min(disc.place - disc.radius), max.max(disc.place + disc.radius));
        }
        let true_volume = signed_volume(mesh);
        let step = (true_volume / 60_000.0).cbrt();
        let counts = ((max - min) / step).ceil().as_uvec3();
        let [mut in_mesh, mut in_union, mut in_both, mut in_pills, mut pills_in_mesh] = [0.0_f64; 5];
        for x in 0..counts.x {
            for y in 0..counts.y {
                // Off the mesh's vertices and edges.
                let column = min + step * DVec3::new(f64::from(x) + 0.513_7, f64::from(y) + 0.487_1, 0.0);
                let crossings = crossings(mesh, column);
                let near: Vec<_> = pills.iter().filter(|pill| beside(column, pill)).collect();
                for z in 0..counts.z {
                    let point = column + DVec3::Z * step * (f64::from(z) + 0.5);
                    let inside = crossings.iter().filter(|&&crossing| crossing < point.z).count() % 2 == 1;
                    let pills = near.iter().filter(|pill| in_pill(point, pill)).count() as f64;
                    in_mesh += f64::from(u8::from(inside));
                    in_pills += pills;
                    in_union += pills.min(1.0);
                    if inside {
                        pills_in_mesh += pills;
                        in_both += pills.min(1.0);
                    }
                }
            }
        }
        let grows = |places: &Vec<f64>| places.windows(2).all(|pair| pair[0] < pair[1]);
        let measured = Self {
            volume: pills.iter().map(cone).sum::<f64>() / true_volume,
            pills_inside: pills_in_mesh / in_pills,
            union_inside: in_both / in_union,
            covered: in_both / in_mesh,
            best_swap: best_swap(fibres),
            monotone: viperized.disc_places.iter().all(grows),
        };
        println!(
            "{name}: {:.1} cm³ (points: {:.1}), rods {:.4} of it; pills inside {:.3}, their union {:.3}; mesh covered \
             {:.3}; best swap {:.1e} m; monotone {}",
            true_volume * 1e6,
            in_mesh * step.powi(3) * 1e6,
            measured.volume,
            measured.pills_inside,
            measured.union_inside,
            measured.covered,
            measured.best_swap,
            measured.monotone
        );
        measured
    }

    /// The bars of every muscle.
    pub fn assert(&self, volume: f64) {
        assert!((self.volume - 1.0).abs() <= volume, "rods' volume {} of the mesh's", self.volume);
        assert!(self.pills_inside >= 0.85 && self.union_inside >= 0.85, "pills stick out");
        assert!(self.covered >= 0.75, "the mesh is not filled");
        assert!(self.best_swap <= 1e-9 && self.monotone, "fibres swap or turn back");
    }
}

/// Heights at which a line along z meets the mesh.
fn crossings(mesh: &TriangleMesh, column: DVec3) -> Vec<f64> {
    let mut heights = Vec::new();
    for corners in &mesh.triangles {
        let [a, b, c] = corners.map(|vertex| mesh.positions[vertex as usize] - column);
        let cross = |p: DVec3, q: DVec3| p.x * q.y - p.y * q.x;
        let (u, v, w) = (cross(b, c), cross(c, a), cross(a, b));
        if (u > 0.0 && v > 0.0 && w > 0.0) || (u < 0.0 && v < 0.0 && w < 0.0) {
            heights.push(column.z + (u * a.z + v * b.z + w * c.z) / (u + v + w));
        }
    }
    heights
}

/// Whether a column along z may meet a pill.
fn beside(column: DVec3, [a, b]: &[Disc; 2]) -> bool {
    let (low, high) = ((a.place - a.radius).min(b.place - b.radius), (a.place + a.radius).max(b.place + b.radius));
    column.x >= low.x && column.x <= high.x && column.y >= low.y && column.y <= high.y
}

/// Whether a point is in the convex hull of two balls (VIPER (83) with errata 6).
fn in_pill(point: DVec3, [a, b]: &[Disc; 2]) -> bool {
    let length = a.place.distance(b.place);
    let fall = a.radius - b.radius;
    if length <= fall.abs() {
        return point.distance(a.place) < a.radius || point.distance(b.place) < b.radius;
    }
    let along = (b.place - a.place) / length;
    let x = (point - a.place).dot(along);
    let y = (point - a.place - x * along).length();
    let t = ((x - y * fall / (length * length - fall * fall).sqrt()) / length).clamp(0.0, 1.0);
    point.distance(a.place.lerp(b.place, t)) < a.radius - t * fall
}

fn best_swap(fibres: &[Vec<Disc>]) -> f64 {
    let mut best = 0.0_f64;
    for a in fibres {
        for b in fibres {
            for (a, b) in a.windows(2).zip(b.windows(2)) {
                let length = |p: &Disc, q: &Disc| p.place.distance(q.place);
                let now = length(&a[0], &a[1]) + length(&b[0], &b[1]);
                best = best.max(now - length(&a[0], &b[1]) - length(&b[0], &a[1]));
            }
        }
    }
    best
}
