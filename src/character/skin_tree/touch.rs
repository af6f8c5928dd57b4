//! Whose skin touches whose.

use std::collections::BTreeMap;

use super::{Rest, pulls};
use crate::character::welding::Welded;

/// How much of a vertex's skin a joint must have for a touch (weights).
const LEAST_PULL: f64 = 0.05;

/// How strongly the skins of joints touch: the sum of both weights' products over vertices and edges.
pub struct Touches(BTreeMap<u32, BTreeMap<u32, f64>>);

impl Touches {
    pub fn new(rest: &Rest, owners: &[u32]) -> Self {
        let mesh = &rest.asset.mesh;
        let welded = Welded::new(&rest.skin.positions);
        // By place: seams and neighbouring parts have vertices of their own there.
        let mut at: Vec<Vec<(u32, f64)>> = vec![Vec::new(); welded.count()];
        for (vertex, &place) in welded.of_vertex().iter().enumerate() {
            let here = &mut at[place as usize];
            for (joint, weight) in pulls(rest.asset, owners, vertex) {
                match here.iter_mut().find(|(known, _)| *known == joint) {
                    Some((_, most)) => *most = most.max(weight),
                    None if weight >= LEAST_PULL => here.push((joint, weight)),
                    None => {}
                }
            }
        }
        let neighbours = welded.neighbours(&mesh.triangles);
        let mut touches = Self(BTreeMap::new());
        for (place, here) in at.iter().enumerate() {
            touches.add(here, here);
            for &other in neighbours.of(place).iter().filter(|&&other| other as usize > place) {
                touches.add(here, &at[other as usize]);
                touches.add(&at[other as usize], here);
            }
        }
        touches
    }

    fn add(&mut self, here: &[(u32, f64)], there: &[(u32, f64)]) {
        for &(a, pull) in here {
            for &(b, other) in there.iter().filter(|(b, _)| *b != a) {
                *self.0.entry(a).or_default().entry(b).or_default() += pull * other;
            }
        }
    }

    pub fn between(&self, a: u32, b: u32) -> f64 {
        self.0.get(&a).and_then(|touched| touched.get(&b)).copied().unwrap_or(0.0)
    }

    /// The joints that a joint's skin touches, and how strongly.
    pub fn of(&self, joint: u32) -> impl Iterator<Item = (u32, f64)> {
        self.0.get(&joint).into_iter().flatten().map(|(&joint, &strength)| (joint, strength))
    }
}
