//! The connected parts of a mesh, and whether they are closed.

use std::collections::HashMap;

use glam::Vec3;

use crate::character::welding::Welded;

/// Share of a part's edges that may be borders of a closed one.
const BORDERS: f64 = 0.01;

/// For each triangle its part, and for each part whether it is closed: whether every edge is passed as often one way
/// as the other. Vertices at the same place are one.
pub(super) fn find(positions: &[Vec3], triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<bool>) {
    let welded = Welded::new(positions);
    let place = |corner: u32| welded.of_vertex()[corner as usize];
    let mut above: Vec<u32> = (0..welded.count() as u32).collect();
    fn root(above: &mut [u32], mut at: u32) -> u32 {
        while above[at as usize] != at {
            above[at as usize] = above[above[at as usize] as usize];
            at = above[at as usize];
        }
        at
    }
    let mut edges: HashMap<(u32, u32), i32> = HashMap::new();
    for corners in triangles {
        let [a, b, c] = corners.map(place);
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let (low, high) = (root(&mut above, from), root(&mut above, to));
            above[high as usize] = low;
            *edges.entry((from.min(to), from.max(to))).or_default() += if from < to { 1 } else { -1 };
        }
    }
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let mut parts = Vec::with_capacity(triangles.len());
    for corners in triangles {
        let root = root(&mut above, place(corners[0]));
        let next = numbers.len() as u32;
        parts.push(*numbers.entry(root).or_insert(next));
    }
    let mut counts = vec![(0_usize, 0_usize); numbers.len()];
    for (&(from, to), &balance) in &edges {
        if from != to {
            let count = &mut counts[numbers[&root(&mut above, from)] as usize];
            count.0 += 1;
            count.1 += usize::from(balance != 0);
        }
    }
    let closed = counts.into_iter().map(|(all, borders)| borders as f64 <= BORDERS * all as f64).collect();
    (parts, closed)
}
