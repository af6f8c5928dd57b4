//! A tree over triangles: fast winding numbers and rays.

use glam::DVec3;
use std::f64::consts::PI;

/// A cluster counts as far at this multiple of its radius; there its dipole stands for its triangles.
const FAR: f64 = 2.0;
/// Triangles in a leaf.
const LEAF: usize = 4;

struct Node {
    min: DVec3,
    max: DVec3,
    /// Area-weighted centre (m).
    centre: DVec3,
    /// Sum of the area vectors (m²).
    dipole: DVec3,
    /// (FAR × distance from `centre` to the farthest corner)², m².
    far_squared: f64,
    first: u32,
    /// 0 in inner nodes, whose first child is the next node.
    count: u32,
    /// The node after this one's subtree.
    skip: u32,
}

/// A bounding volume hierarchy over oriented triangles, stored in preorder.
pub(super) struct TriangleTree {
    nodes: Vec<Node>,
    triangles: Vec<[DVec3; 3]>,
    /// Where each triangle stood in the input.
    order: Vec<u32>,
}

impl TriangleTree {
    pub(super) fn new(triangles: &[[DVec3; 3]]) -> Self {
        let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
        let mut nodes = Vec::new();
        if !order.is_empty() {
            build(triangles, &mut order, 0, &mut nodes);
        }
        Self { nodes, triangles: order.iter().map(|&t| triangles[t as usize]).collect(), order }
    }

    /// Generalised winding number (Jacobson et al. 2013) with the dipole of far clusters (Barill et al. 2018): 1 inside
    /// a closed surface, 0 outside, in between near holes.
    pub(super) fn winding_number(&self, point: DVec3) -> f64 {
        let mut far = 0.0;
        let mut near = Turns::default();
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            let to = node.centre - point;
            let squared = to.length_squared();
            if squared > node.far_squared {
                far += to.dot(node.dipole) / (squared * squared.sqrt());
            } else if node.count == 0 {
                at += 1;
                continue;
            } else {
                let first = node.first as usize;
                for triangle in &self.triangles[first..first + node.count as usize] {
                    near.add(triangle, point);
                }
            }
            at = node.skip as usize;
        }
        (far + 2.0 * near.angle()) / (4.0 * PI)
    }

    /// Whether a ray meets any triangle but the one that stood at `except` in the input.
    pub(super) fn ray_meets(&self, origin: DVec3, direction: DVec3, except: u32) -> bool {
        let inverse = direction.recip();
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !ray_meets_box(origin, inverse, node.min, node.max) {
                at = node.skip as usize;
            } else if node.count == 0 {
                at += 1;
            } else {
                for index in node.first as usize..(node.first + node.count) as usize {
                    if self.order[index] != except && ray_meets_triangle(origin, direction, &self.triangles[index]) {
                        return true;
                    }
                }
                at = node.skip as usize;
            }
        }
        false
    }

    /// Whether a triangle may pass through a box: its own box and its plane do.
    pub(super) fn may_pass(&self, min: DVec3, max: DVec3) -> bool {
        let (centre, half) = (0.5 * (min + max), 0.5 * (max - min));
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if node.min.cmpgt(max).any() || node.max.cmplt(min).any() {
                at = node.skip as usize;
            } else if node.count == 0 {
                at += 1;
            } else {
                let first = node.first as usize;
                for &[a, b, c] in &self.triangles[first..first + node.count as usize] {
                    let normal = (b - a).cross(c - a);
                    let apart = a.min(b).min(c).cmpgt(max).any() || a.max(b).max(c).cmplt(min).any();
                    if !apart && normal.dot(centre - a).abs() <= normal.abs().dot(half) {
                        return true;
                    }
                }
                at = node.skip as usize;
            }
        }
        false
    }
}

fn build(triangles: &[[DVec3; 3]], order: &mut [u32], first: usize, nodes: &mut Vec<Node>) {
    let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (mut dipole, mut centre, mut area_sum) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for &t in order.iter() {
        let [a, b, c] = triangles[t as usize];
        (min, max) = (min.min(a).min(b).min(c), max.max(a).max(b).max(c));
        let area = 0.5 * (b - a).cross(c - a);
        dipole += area;
        centre += area.length() * (a + b + c) / 3.0;
        area_sum += area.length();
    }
    centre = if area_sum > 0.0 { centre / area_sum } else { 0.5 * (min + max) };
    let corners = order.iter().flat_map(|&t| triangles[t as usize]);
    let radius_squared = corners.map(|corner| corner.distance_squared(centre)).fold(0.0, f64::max);
    let far_squared = FAR * FAR * radius_squared;
    let leaf = order.len() <= LEAF;
    let count = if leaf { order.len() as u32 } else { 0 };
    let index = nodes.len();
    nodes.push(Node { min, max, centre, dipole, far_squared, first: first as u32, count, skip: 0 });
    if !leaf {
        let size = max - min;
        let axis = if size.x >= size.y && size.x >= size.z {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        let key = |t: u32| triangles[t as usize].iter().map(|corner| corner[axis]).sum::<f64>();
        let middle = order.len() / 2;
        order.select_nth_unstable_by(middle, |&s, &t| key(s).total_cmp(&key(t)).then(s.cmp(&t)));
        let (left, right) = order.split_at_mut(middle);
        build(triangles, left, first, nodes);
        build(triangles, right, first + middle, nodes);
    }
    nodes[index].skip = nodes.len() as u32;
}

/// A sum of half solid angles, kept as a product of complex numbers: one arc tangent for all of them.
struct Turns {
    real: f64,
    imaginary: f64,
    /// Whole turns that the product's argument lacks.
    turns: f64,
}

impl Default for Turns {
    fn default() -> Self {
        Self { real: 1.0, imaginary: 0.0, turns: 0.0 }
    }
}

impl Turns {
    /// Adds half the solid angle of a triangle (Van Oosterom and Strackee 1983), positive where its normal points away
    /// from the point.
    fn add(&mut self, &[a, b, c]: &[DVec3; 3], point: DVec3) {
        let (a, b, c) = (a - point, b - point, c - point);
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        let sine = a.dot(b.cross(c));
        let cosine = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        let size = sine.abs() + cosine.abs();
        if size == 0.0 {
            return;
        }
        let (sine, cosine) = (sine / size, cosine / size);
        let before = self.imaginary;
        (self.real, self.imaginary) = (self.real * cosine - before * sine, self.real * sine + before * cosine);
        if before >= 0.0 && sine > 0.0 && self.imaginary < 0.0 {
            self.turns += 1.0;
        } else if before < 0.0 && sine < 0.0 && self.imaginary >= 0.0 {
            self.turns -= 1.0;
        }
        // Each factor lies between 1/√2 and 1 in length.
        let length = self.real.abs() + self.imaginary.abs();
        if length < 1e-100 {
            (self.real, self.imaginary) = (self.real / length, self.imaginary / length);
        }
    }

    fn angle(&self) -> f64 {
        self.imaginary.atan2(self.real) + 2.0 * PI * self.turns
    }
}

fn ray_meets_box(origin: DVec3, inverse: DVec3, min: DVec3, max: DVec3) -> bool {
    let (low, high) = ((min - origin) * inverse, (max - origin) * inverse);
    let (near, far) = (low.min(high), low.max(high));
    near.max_element().max(0.0) <= far.min_element()
}

/// Möller and Trumbore 1997.
fn ray_meets_triangle(origin: DVec3, direction: DVec3, &[a, b, c]: &[DVec3; 3]) -> bool {
    let (ab, ac) = (b - a, c - a);
    let across = direction.cross(ac);
    let determinant = ab.dot(across);
    if determinant == 0.0 {
        return false;
    }
    let from = origin - a;
    let u = from.dot(across) / determinant;
    let up = from.cross(ab);
    let v = direction.dot(up) / determinant;
    u >= 0.0 && v >= 0.0 && u + v <= 1.0 && ac.dot(up) / determinant > 0.0
}
