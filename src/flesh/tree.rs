//! Rods that hang on rods.

use super::Chain;
use super::spec::{BuildError, Hang, RodSpec};
use crate::Pose;

/// A chain whose last node hangs on a node of another one, its stem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Branch {
    /// The chain's group and its lane there.
    pub chain: [usize; 2],
    /// Its last node.
    pub node: usize,
    /// The stem's group and its lane there.
    pub stem: [usize; 2],
    /// The node that it hangs on.
    pub stem_node: usize,
    /// Its last section at rest, in the frame of the one that it hangs on.
    pub rest: Pose,
}

impl Branch {
    /// Of a chain and its stem, at a node of that.
    pub fn new(chain: &Chain, stem: &Chain, stem_node: usize) -> Self {
        let node = chain.node_count() - 1;
        let rest = stem.rest[stem_node].inverse() * chain.rest[node];
        Self { chain: [chain.group, chain.lane], node, stem: [stem.group, stem.lane], stem_node, rest }
    }
}

/// How many rods there are between each rod and one that hangs on none.
///
/// # Errors
/// A rod that hangs on what is not there or on itself, or that a bone holds where it hangs.
pub(super) fn levels(rods: &[RodSpec]) -> Result<Vec<usize>, BuildError> {
    for rod in rods {
        let Some(Hang { rod: stem, node }) = rod.hangs else { continue };
        let missing = |field, index, count| BuildError::NoSuchStem { rod: rod.name.clone(), field, index, count };
        let nodes = rods.get(stem).ok_or_else(|| missing("rod", stem, rods.len()))?.nodes.len();
        if node >= nodes {
            return Err(missing("node", node, nodes));
        }
        if let Some(attachment) = rod.attachments.iter().position(|held| held.node + 1 == rod.nodes.len()) {
            return Err(BuildError::HeldAndHung { rod: rod.name.clone(), attachment });
        }
    }
    let stem = |rod: usize| rods[rod].hangs.map(|hang| hang.rod);
    let stems = |rod: usize| std::iter::successors(stem(rod), |&rod| stem(rod));
    let level = |rod: usize| {
        let level = stems(rod).take(rods.len()).count();
        if level < rods.len() {
            return Ok(level);
        }
        // So far along it is in the ring.
        let first = stems(rod).nth(rods.len() - 1).unwrap_or(rod);
        let ring = std::iter::once(first).chain(stems(first).take_while(|&rod| rod != first));
        Err(BuildError::HangsOnItself { rods: ring.map(|rod| format!("`{}`", rods[rod].name)).collect() })
    };
    (0..rods.len()).map(level).collect()
}
