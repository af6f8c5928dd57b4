//! A mesh by its places: vertices that a seam doubles are one.

use std::collections::HashMap;

use glam::{DVec3, Vec3};

/// Vertices at the same place, to a millionth of the mesh's size.
const TOLERANCE: f64 = 1.0e-6;

/// The places of a mesh, and which vertices lie at each.
pub struct Welded {
    places: Vec<DVec3>,
    of_vertex: Vec<u32>,
}

/// For each place, those that an edge joins it to.
pub struct Neighbours {
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl Welded {
    /// Welds vertices, each to the first one within reach.
    pub fn new(vertices: &[Vec3]) -> Self {
        let finite = || vertices.iter().filter(|place| place.is_finite());
        let low = finite().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = finite().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        let size = if low.x <= high.x { f64::from((high - low).max_element()) } else { 0.0 };
        let reach = (TOLERANCE * size).max(f64::from(f32::MIN_POSITIVE));
        let cell = |value: f64| (value / (4.0 * reach)).floor() as i64;
        let mut places: Vec<DVec3> = Vec::new();
        let mut cells: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
        let of_vertex = vertices
            .iter()
            .map(|vertex| {
                let place = vertex.as_dvec3();
                let at = if low.x <= high.x { place - low.as_dvec3() } else { place };
                let (from, to) = ((at - reach).to_array().map(cell), (at + reach).to_array().map(cell));
                let mut found = None;
                for x in from[0]..=to[0] {
                    for y in from[1]..=to[1] {
                        for z in from[2]..=to[2] {
                            let there = cells.get(&[x, y, z]).into_iter().flatten();
                            let mut near = there.filter(|&&p| places[p as usize].distance(place) <= reach);
                            found = found.or_else(|| near.next().copied());
                        }
                    }
                }
                found.unwrap_or_else(|| {
                    let index = places.len() as u32;
                    places.push(place);
                    cells.entry(at.to_array().map(cell)).or_default().push(index);
                    index
                })
            })
            .collect();
        Self { places, of_vertex }
    }

    /// How many places.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Where a place is (m).
    pub fn place(&self, place: usize) -> DVec3 {
        self.places[place]
    }

    /// The place of each vertex.
    pub fn of_vertex(&self) -> &[u32] {
        &self.of_vertex
    }

    /// Which places edges of triangles join; corners that name no vertex are left out.
    pub fn neighbours(&self, triangles: &[[u32; 3]]) -> Neighbours {
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(6 * triangles.len());
        for triangle in triangles {
            let corners = triangle.map(|corner| self.of_vertex.get(corner as usize).copied());
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                if let (Some(a), Some(b)) = (corners[a], corners[b])
                    && a != b
                {
                    edges.extend([[a, b], [b, a]]);
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let mut starts = vec![0; self.places.len() + 1];
        edges.iter().for_each(|[from, _]| starts[*from as usize + 1] += 1);
        for place in 0..self.places.len() {
            starts[place + 1] += starts[place];
        }
        Neighbours { starts, others: edges.into_iter().map(|[_, to]| to).collect() }
    }
}

impl Neighbours {
    /// The neighbours of a place.
    pub fn of(&self, place: usize) -> &[u32] {
        &self.others[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}
