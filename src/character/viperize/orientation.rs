//! Turns the triangles of a dirty mesh outward and leaves out its inner walls, so that winding numbers can be trusted.
//!
//! A sound mesh (every edge crossed as often one way as the other, two triangles on each) keeps its orientation. Any other is
//! cut into manifold patches at its edges of other valence and at its sharp ones; each patch is made coherent and turned so
//! that more rays leave its front than its back for infinity (after Takayama et al. 2014). Patches that neither side's rays
//! leave, or both sides' alike, are walls inside the muscle or sheets without thickness: they are left out.

use super::{mesh::TriangleMesh, tree::TriangleTree};
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Vertices closer than this part of the mesh's size along each axis are one.
const WELD: f64 = 1e-7;
/// Cosine of the angle between neighbours' normals below which their edge is sharp: where a wall has lost the triangle
/// on its other side, it meets the outer surface so.
const SHARP: f64 = 0.5;
/// Rays that leave one side of a patch, as a part of those shot, below which it is hidden.
const HIDDEN: f64 = 0.02;
/// Difference of the two sides' rays over their sum, below which a patch is a wall.
const WALL: f64 = 0.3;

/// What a muscle's surface is made of.
pub(super) struct Surface {
    /// Outward triangles.
    pub(super) triangles: Vec<[DVec3; 3]>,
    /// Whether they close: every edge is crossed as often one way as the other.
    pub(super) closed: bool,
    /// For each triangle of the mesh, the connected part of the surface that it belongs to.
    pub(super) part: Vec<usize>,
}

/// Who crosses an edge: triangle, and whether from its lower to its higher vertex.
type Edges = BTreeMap<(u32, u32), Vec<(u32, bool)>>;

pub(super) fn orient(mesh: &TriangleMesh) -> Surface {
    let welded = weld(mesh);
    let part = parts(&welded);
    let mut kept = BTreeSet::new();
    let mut distinct: Vec<[u32; 3]> = Vec::new();
    for &corners in &welded {
        let mut sorted = corners;
        sorted.sort_unstable();
        if sorted[0] != sorted[1] && sorted[1] != sorted[2] && kept.insert(sorted) {
            distinct.push(corners);
        }
    }
    let edges = edges(&distinct);
    let sound = edges.values().all(|users| users.len() == 2 && users[0].1 != users[1].1);
    if !sound {
        distinct = turned_outward(mesh, distinct, &edges);
    }
    let closed = sound || self::edges(&distinct).values().all(|users| balanced(users));
    let place = |vertex: u32| mesh.positions[vertex as usize];
    let mut surface = Surface { triangles: distinct.iter().map(|corners| corners.map(place)).collect(), closed, part };
    if sound && surface.signed_volume() < 0.0 {
        surface.triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
    }
    surface
}

impl Surface {
    /// Volume by the divergence theorem (m³).
    pub(super) fn signed_volume(&self) -> f64 {
        let origin = self.triangles.first().map_or(DVec3::ZERO, |corners| corners[0]);
        let volume = |&[a, b, c]: &[DVec3; 3]| (a - origin).dot((b - origin).cross(c - origin)) / 6.0;
        self.triangles.iter().map(volume).sum()
    }
}

fn balanced(users: &[(u32, bool)]) -> bool {
    2 * users.iter().filter(|user| user.1).count() == users.len()
}

/// The triangles with every vertex replaced by the first one at its place.
fn weld(mesh: &TriangleMesh) -> Vec<[u32; 3]> {
    let min = mesh.positions.iter().fold(DVec3::INFINITY, |min, &place| min.min(place));
    let max = mesh.positions.iter().fold(DVec3::NEG_INFINITY, |max, &place| max.max(place));
    let step = WELD * (max - min).max_element();
    let mut first = HashMap::new();
    let mut canonical = Vec::with_capacity(mesh.positions.len());
    for (vertex, &place) in mesh.positions.iter().enumerate() {
        let key = ((place - min) / step).round().to_array().map(|part| part as i64);
        canonical.push(*first.entry(key).or_insert(vertex as u32));
    }
    mesh.triangles.iter().map(|corners| corners.map(|vertex| canonical[vertex as usize])).collect()
}

/// Connected part of every triangle, numbered by its first vertex.
fn parts(triangles: &[[u32; 3]]) -> Vec<usize> {
    let vertices = triangles.iter().flatten().max().map_or(0, |&last| last as usize + 1);
    let mut parent: Vec<usize> = (0..vertices).collect();
    fn root(parent: &mut [usize], mut vertex: usize) -> usize {
        while parent[vertex] != vertex {
            parent[vertex] = parent[parent[vertex]];
            vertex = parent[vertex];
        }
        vertex
    }
    for &[a, b, c] in triangles {
        for other in [b, c] {
            let (a, other) = (root(&mut parent, a as usize), root(&mut parent, other as usize));
            parent[a.max(other)] = a.min(other);
        }
    }
    triangles.iter().map(|corners| root(&mut parent, corners[0] as usize)).collect()
}

fn edges(triangles: &[[u32; 3]]) -> Edges {
    let mut edges = Edges::new();
    for (triangle, &[a, b, c]) in triangles.iter().enumerate() {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            edges.entry((from.min(to), from.max(to))).or_default().push((triangle as u32, from < to));
        }
    }
    edges
}

fn turned_outward(mesh: &TriangleMesh, mut triangles: Vec<[u32; 3]>, edges: &Edges) -> Vec<[u32; 3]> {
    let corners: Vec<_> = triangles.iter().map(|corners| corners.map(|v| mesh.positions[v as usize])).collect();
    let normal = |triangle: u32| {
        let [a, b, c] = corners[triangle as usize];
        (b - a).cross(c - a).normalize_or_zero()
    };
    let mut neighbours = vec![Vec::new(); triangles.len()];
    for users in edges.values() {
        if let &[(a, a_up), (b, b_up)] = users.as_slice() {
            let against = a_up == b_up;
            if normal(a).dot(normal(b)) * if against { -1.0 } else { 1.0 } > SHARP {
                neighbours[a as usize].push((b, against));
                neighbours[b as usize].push((a, against));
            }
        }
    }
    let mut seen = vec![false; triangles.len()];
    let mut patches = Vec::new();
    for start in 0..triangles.len() {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let mut patch = vec![(start as u32, false)];
        let mut next = 0;
        while let Some(&(triangle, turned)) = patch.get(next) {
            next += 1;
            for &(neighbour, against) in &neighbours[triangle as usize] {
                if !std::mem::replace(&mut seen[neighbour as usize], true) {
                    patch.push((neighbour, turned != against));
                }
            }
        }
        patches.push(patch);
    }
    for &(triangle, turned) in patches.iter().flatten() {
        if turned {
            triangles[triangle as usize].swap(1, 2);
        }
    }

    let corners: Vec<_> = triangles.iter().map(|corners| corners.map(|v| mesh.positions[v as usize])).collect();
    let tree = TriangleTree::new(&corners);
    let mut outward = Vec::new();
    for patch in &patches {
        let (front, back) = rays_that_leave(&tree, &corners, patch);
        if front.max(back) < HIDDEN || (front - back).abs() < WALL * (front + back) {
            continue;
        }
        outward.extend(patch.iter().map(|&(triangle, _)| {
            let [a, b, c] = triangles[triangle as usize];
            if front > back { [a, b, c] } else { [a, c, b] }
        }));
    }
    outward
}

/// The parts of the rays from a patch's front and back that meet nothing.
fn rays_that_leave(tree: &TriangleTree, corners: &[[DVec3; 3]], patch: &[(u32, bool)]) -> (f64, f64) {
    let area = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).length();
    let total: f64 = patch.iter().map(|&(triangle, _)| area(corners[triangle as usize])).sum();
    let rays = (4 * patch.len()).clamp(64, 512);
    let mut left = [0_usize; 2];
    let (mut index, mut passed) = (0, 0.0);
    for ray in 0..rays {
        let target = (ray as f64 + 0.5) / rays as f64 * total;
        while index + 1 < patch.len() && passed + area(corners[patch[index].0 as usize]) < target {
            passed += area(corners[patch[index].0 as usize]);
            index += 1;
        }
        let triangle = patch[index].0;
        let [a, b, c] = corners[triangle as usize];
        // Additive recurrence of the generalised golden ratio in four dimensions (Roberts 2018).
        let [mut u, mut v, height, turn] = [0.856_674_88, 0.733_891_86, 0.628_706_71, 0.538_597_25]
            .map(|step: f64| (0.5 + step * (ray + 1) as f64).fract());
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        let origin = a + u * (b - a) + v * (c - a);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        if normal == DVec3::ZERO {
            continue;
        }
        let (across, up) = normal.any_orthonormal_pair();
        let (sin, cos) = (std::f64::consts::TAU * turn).sin_cos();
        let tangent = (1.0 - height).sqrt() * (cos * across + sin * up);
        for (side, left) in [1.0, -1.0].into_iter().zip(&mut left) {
            let direction = tangent + side * height.sqrt() * normal;
            *left += usize::from(!tree.ray_meets(origin, direction, triangle));
        }
    }
    (left[0] as f64 / rays as f64, left[1] as f64 / rays as f64)
}
