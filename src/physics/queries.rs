//! Queries against flesh: what they see of the state.

use glam::DVec3;

use super::Physics;
use crate::cpu::lanes::Entry;
use crate::flesh::{Flesh, FleshState};
use crate::layout::node;
use crate::queries::{Pill, Queries};

impl Physics {
    /// Takes a picture of all flesh that rays and shapes are cast against, and that says what is near or overlaps. It costs about half
    /// a microsecond a segment, once a step; [`Physics::update_queries`] keeps its memory.
    pub fn queries(&self) -> Queries {
        let mut queries = Queries::default();
        self.update_queries(&mut queries);
        queries
    }

    /// As [`Physics::queries`], in the place of what `queries` showed before, in its memory.
    pub fn update_queries(&self, queries: &mut Queries) {
        queries.take(self.instances.handles().flat_map(|(handle, instance)| {
            let (flesh, state) = (&*instance.flesh, &instance.state.nodes);
            (0..flesh.chains().len()).flat_map(move |chain| {
                pills(flesh, state, chain).map(move |(node, pill)| (handle, [chain, node], pill))
            })
        }));
    }
}

/// The segments of a chain: the node with which each begins, and its pill in the world.
fn pills<'a>(flesh: &'a Flesh, state: &'a FleshState, chain: usize) -> impl Iterator<Item = (usize, Pill)> + 'a {
    let (info, origin) = (&flesh.chains()[chain], state.origin(flesh, chain));
    let rows = &state.groups[info.group].nodes;
    let sphere = move |index: usize| {
        let row: &[Entry<f32>] = &rows[index * node::ENTRIES..][..node::ENTRIES];
        let place = [0, 1, 2].map(|k| f64::from(row[node::PLACE + k][info.lane]));
        // As `FleshState::node` has it.
        let radius = row[node::SCALE][info.lane] * info.sections[index].radius() as f32;
        (origin + DVec3::from_array(place), f64::from(radius))
    };
    (0..info.node_count().saturating_sub(1)).map(move |index| {
        let ((a, r), (b, s)) = (sphere(index), sphere(index + 1));
        (index, Pill { ends: [a, b], radii: [r, s] })
    })
}
