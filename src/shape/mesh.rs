//! Meshes of triangles; the twin of what a GPU asks of one is `shaders/bindings/mesh.wgsl`.
//!
//! Where triangles meet in a plane or in a valley, a point that is over one of them must not be told of the other's edge: its
//! direction is off, and what slides over would stumble. So an edge is only told of where the point is in its Voronoi region, that
//! of all triangles at it, and by one of these alone; a corner likewise.

use std::collections::HashMap;

use glam::{DVec3, Vec3};

use super::boxes::Boxes;
use super::{ShapeError, Surface};

/// Triangles: solid behind, or thin with two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    points: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    one_sided: bool,
    /// Of each edge that a triangle is asked of, from its corner on, which other points the triangles there have.
    across_edges: Lists,
    /// Of each corner that a triangle is asked of, which points the triangles there have beside it.
    around_corners: Lists,
    /// Of each triangle: by bits, which of its edges and corners it is asked of: it is the first there.
    asked: Vec<u8>,
    pub(super) boxes: Boxes,
}

/// Lists of points, three for each triangle.
#[derive(Clone, Debug, Default, PartialEq)]
struct Lists {
    ends: Vec<u32>,
    points: Vec<u32>,
}

impl Lists {
    fn of(&self, triangle: u32, which: usize) -> &[u32] {
        let at = triangle as usize * 3 + which;
        let first = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.points[first as usize..self.ends[at] as usize]
    }

    fn push(&mut self, points: impl Iterator<Item = u32>) {
        self.points.extend(points);
        self.ends.push(self.points.len() as u32);
    }
}

/// Of what of a triangle a point is nearest to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feature {
    Face,
    /// From a corner to the next.
    Edge(usize),
    Corner(usize),
}

/// How far a direction may be outside an edge's or a corner's region, by its cosine.
const SLACK: f64 = 1.0e-6;

impl Mesh {
    /// Of points (m) and triangles, counter-clockwise from outside. One-sided ones are solid behind: what has come through is
    /// brought back. Equal points are one; triangles without an area are left out, and count nonetheless.
    ///
    /// # Errors
    /// [`ShapeError`] where numbers are not finite, indices name nothing, or no triangle has an area.
    pub fn new(points: Vec<Vec3>, triangles: Vec<[u32; 3]>, one_sided: bool) -> Result<Self, ShapeError> {
        check(&points, &triangles)?;
        let mut first_at = HashMap::new();
        let bits = |point: &Vec3| (*point + Vec3::ZERO).to_array().map(f32::to_bits);
        let welded: Vec<u32> =
            (0..).zip(&points).map(|(index, point)| *first_at.entry(bits(point)).or_insert(index)).collect();
        let mut triangles: Vec<[u32; 3]> =
            triangles.into_iter().map(|triangle| triangle.map(|point| welded[point as usize])).collect();
        let place = |point: u32| points[point as usize].as_dvec3();
        let area = |[a, b, c]: [u32; 3]| (place(b) - place(a)).cross(place(c) - place(a)).length_squared();
        // One without an area becomes one without an extent, which nothing is nearest to.
        let is_whole: Vec<bool> = triangles.iter().map(|&triangle| area(triangle) > 0.0).collect();
        if !is_whole.contains(&true) {
            return Err(ShapeError::Empty);
        }
        let mut at_edges: HashMap<[u32; 2], Vec<(u32, u32)>> = HashMap::new();
        let mut at_corners: HashMap<u32, Vec<(u32, [u32; 2])>> = HashMap::new();
        for ((index, triangle), _) in (0..).zip(&mut triangles).zip(&is_whole).filter(|(_, whole)| **whole) {
            for k in 0..3 {
                let [a, b, c] = [0, 1, 2].map(|j| triangle[(k + j) % 3]);
                at_edges.entry([a.min(b), a.max(b)]).or_default().push((index, c));
                at_corners.entry(a).or_default().push((index, [b, c]));
            }
        }
        let (mut across_edges, mut around_corners) = (Lists::default(), Lists::default());
        let mut asked = vec![0; triangles.len()];
        for (index, triangle) in (0..).zip(&triangles) {
            for k in 0..3 {
                let [a, b] = [0, 1].map(|j| triangle[(k + j) % 3]);
                let edge = at_edges.get(&[a.min(b), a.max(b)]).map_or(&[][..], Vec::as_slice);
                let corner = at_corners.get(&a).map_or(&[][..], Vec::as_slice);
                let first = edge.first().is_some_and(|(first, _)| *first == index);
                let first_at_corner = corner.first().is_some_and(|(first, _)| *first == index);
                asked[index as usize] |= u8::from(first) << k | u8::from(first_at_corner) << (3 + k);
                // Only the first is asked.
                let (edge, corner) = (if first { edge } else { &[] }, if first_at_corner { corner } else { &[] });
                across_edges.push(edge.iter().map(|(_, across)| *across));
                around_corners.push(corner.iter().flat_map(|(_, others)| *others));
            }
        }
        let boxes = triangles.iter().zip(&is_whole).map(|(triangle, whole)| {
            let [a, b, c] = triangle.map(|point| points[point as usize]);
            // What is empty touches nothing.
            if *whole { [a.min(b).min(c), a.max(b).max(c)] } else { [Vec3::INFINITY, Vec3::NEG_INFINITY] }
        });
        let boxes = Boxes::new(boxes);
        Ok(Self { points, triangles, one_sided, across_edges, around_corners, asked, boxes })
    }

    pub(super) fn bounds(&self) -> [Vec3; 2] {
        self.boxes.bounds()
    }

    pub(super) fn triangles(&self) -> u32 {
        self.triangles.len() as u32
    }

    fn place(&self, point: u32) -> DVec3 {
        self.points[point as usize].as_dvec3()
    }

    pub(super) fn surface(&self, index: u32, point: DVec3) -> Surface {
        let triangle = self.triangles[index as usize];
        let corners = triangle.map(|point| self.place(point));
        let face = (corners[1] - corners[0]).cross(corners[2] - corners[0]).try_normalize().unwrap_or(DVec3::Y);
        let above = face.dot(point - corners[0]);
        let (place, feature) = nearest(corners, point);
        let side = if above < 0.0 { -face } else { face };
        if feature == Feature::Face {
            return match self.one_sided {
                true => Surface { distance: above, normal: face, own: true },
                false => Surface { distance: above.abs(), normal: side, own: true },
            };
        }
        let from = point - place;
        let distance = from.length();
        let normal = if distance > 0.0 { from / distance } else { side };
        let is_asked = |bit: usize| self.asked[index as usize] >> bit & 1 == 1;
        let own = match feature {
            Feature::Edge(k) => is_asked(k) && self.is_at_edge(index, k, normal),
            Feature::Corner(k) => is_asked(3 + k) && self.is_at_corner(index, k, normal),
            Feature::Face => unreachable!("these were told of above"),
        };
        Surface { distance, normal, own }
    }

    /// As a GPU has it.
    #[cfg(feature = "gpu")]
    pub(crate) fn words(&self) -> Vec<u32> {
        use crate::layout::{mesh, triangle};
        let [nodes, items] = self.boxes.words();
        let items_at = mesh::ENTRIES + nodes.len();
        let triangles_at = items_at + items.len();
        let points_at = triangles_at + self.triangles.len() * triangle::ENTRIES;
        let across_at = points_at + self.points.len() * 3;
        let around_at = across_at + self.across_edges.points.len();
        let mut words = vec![0; mesh::ENTRIES];
        words[mesh::ONE_SIDED] = u32::from(self.one_sided);
        words[mesh::NODE_COUNT] = nodes.len() as u32 / crate::layout::BOX_NODE_ENTRIES;
        words[mesh::ITEMS] = items_at as u32;
        words[mesh::TRIANGLES] = triangles_at as u32;
        words[mesh::POINTS] = points_at as u32;
        words.extend(nodes);
        words.extend(items);
        let list = |lists: &Lists, at: usize, triangle: u32, which: usize| {
            let own = lists.of(triangle, which);
            let first = lists.ends[triangle as usize * 3 + which] as usize - own.len();
            [(at + first) as u32, own.len() as u32]
        };
        for (index, (points, asked)) in (0..).zip(self.triangles.iter().zip(&self.asked)) {
            words.extend(points);
            words.push(u32::from(*asked));
            words.extend((0..3).flat_map(|edge| list(&self.across_edges, across_at, index, edge)));
            words.extend((0..3).flat_map(|corner| list(&self.around_corners, around_at, index, corner)));
        }
        words.extend(self.points.iter().flat_map(|point| point.to_array().map(f32::to_bits)));
        words.extend(&self.across_edges.points);
        words.extend(&self.around_corners.points);
        words
    }

    /// How far a point is from a triangle on whichever side, and in which direction: a convex function of the point.
    pub(super) fn thin(&self, index: u32, point: DVec3) -> (f64, DVec3) {
        let found = self.surface(index, point);
        if found.distance < 0.0 { (-found.distance, -found.normal) } else { (found.distance, found.normal) }
    }

    /// Whether a point is behind a triangle's plane where what is there is solid.
    pub(super) fn is_behind(&self, index: u32, point: DVec3) -> bool {
        let [a, b, c] = self.triangles[index as usize].map(|point| self.place(point));
        self.one_sided && (b - a).cross(c - a).dot(point - a) < 0.0
    }

    /// Whether a direction from a triangle's edge is in the edge's region, given that it is the first triangle there.
    fn is_at_edge(&self, index: u32, k: usize, normal: DVec3) -> bool {
        let triangle = self.triangles[index as usize];
        let [from, to] = [0, 1].map(|j| self.place(triangle[(k + j) % 3]));
        let along = (to - from).normalize();
        let mut faces = DVec3::ZERO;
        for (nth, &other) in self.across_edges.of(index, k).iter().enumerate() {
            let inward = self.place(other) - from;
            // A sliver has no say.
            let Some(inward) = (inward - along * along.dot(inward)).try_normalize() else { continue };
            if normal.dot(inward) > SLACK {
                return false;
            }
            faces += along.cross(inward) * if nth == 0 { 1.0 } else { -1.0 };
        }
        !self.one_sided || normal.dot(faces) > 0.0
    }

    /// Whether a direction from a triangle's corner is in the corner's region, given that it is the first triangle there.
    fn is_at_corner(&self, index: u32, k: usize, normal: DVec3) -> bool {
        let corner = self.place(self.triangles[index as usize][k]);
        let mut faces = DVec3::ZERO;
        for others in self.around_corners.of(index, k).chunks_exact(2) {
            let [a, b] = [0, 1].map(|j| (self.place(others[j]) - corner).normalize());
            if normal.dot(a) > SLACK || normal.dot(b) > SLACK {
                return false;
            }
            // By their angles there.
            let face = a.cross(b);
            faces += face.normalize_or_zero() * face.length().atan2(a.dot(b));
        }
        !self.one_sided || normal.dot(faces) > 0.0
    }
}

/// Whether points are finite and triangles name them.
pub(super) fn check(points: &[Vec3], triangles: &[[u32; 3]]) -> Result<(), ShapeError> {
    const MOST: usize = 1 << 31;
    if let Some(count) = [points.len(), triangles.len()].into_iter().find(|&count| count > MOST) {
        return Err(ShapeError::TooMany(count));
    }
    if let Some(point) = points.iter().position(|point| !point.is_finite()) {
        return Err(ShapeError::Point(point));
    }
    let there = |triangle: &[u32; 3]| triangle.iter().all(|&point| (point as usize) < points.len());
    match triangles.iter().position(|triangle| !there(triangle)) {
        Some(triangle) => Err(ShapeError::Index { triangle, points: points.len() }),
        None => Ok(()),
    }
}

/// The point of a triangle that is nearest to one, and what of it that is on.
pub(super) fn nearest(corners: [DVec3; 3], point: DVec3) -> (DVec3, Feature) {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    let size2 = normal.length_squared();
    // Signed areas over the edges, seen from the face.
    let inside = |k: usize| {
        let (from, to) = (corners[k], corners[(k + 1) % 3]);
        (to - from).cross(point - from).dot(normal)
    };
    if size2 > 0.0 && (0..3).all(|k| inside(k) > 0.0) {
        return (point - normal * (normal.dot(point - a) / size2), Feature::Face);
    }
    let on_edge = |k: usize| {
        let (from, along) = (corners[k], corners[(k + 1) % 3] - corners[k]);
        let share = along.dot(point - from) / along.length_squared().max(f64::MIN_POSITIVE);
        let feature = match share {
            share if share <= 0.0 => Feature::Corner(k),
            share if share >= 1.0 => Feature::Corner((k + 1) % 3),
            _ => Feature::Edge(k),
        };
        (from + along * share.clamp(0.0, 1.0), feature)
    };
    let edges = [0, 1, 2].map(on_edge);
    edges
        .into_iter()
        .min_by(|a, b| a.0.distance_squared(point).total_cmp(&b.0.distance_squared(point)))
        .expect("there are three")
}
