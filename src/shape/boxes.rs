//! A tree of boxes.

use glam::Vec3;

/// Boxes at a leaf at most.
const AT_LEAF: usize = 4;

/// A tree over boxes: nodes in the order in which they are gone through, each with how many to leave out where its box is not touched.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Boxes {
    nodes: Vec<Node>,
    /// What the leaves hold, in their order.
    items: Vec<(u32, [Vec3; 2])>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    bounds: [Vec3; 2],
    /// How many nodes there are below.
    below: u32,
    /// Which items it holds, if it is a leaf.
    items: [u32; 2],
}

/// Whether boxes touch.
pub(crate) fn touch(a: [Vec3; 2], b: [Vec3; 2]) -> bool {
    a[0].cmple(b[1]).all() && b[0].cmple(a[1]).all()
}

fn around(items: &[(u32, [Vec3; 2])]) -> [Vec3; 2] {
    let none = [Vec3::INFINITY, Vec3::NEG_INFINITY];
    items.iter().fold(none, |all, (_, one)| [all[0].min(one[0]), all[1].max(one[1])])
}

impl Boxes {
    pub fn new(boxes: impl Iterator<Item = [Vec3; 2]>) -> Self {
        let mut tree = Self { nodes: Vec::new(), items: (0..).zip(boxes).collect() };
        let mut items = std::mem::take(&mut tree.items);
        if !items.is_empty() {
            tree.split(&mut items, 0);
        }
        tree.items = items;
        tree
    }

    /// Adds the node of some items that begin so far among all.
    fn split(&mut self, items: &mut [(u32, [Vec3; 2])], first: u32) {
        let bounds = around(items);
        let index = self.nodes.len();
        let held = if items.len() <= AT_LEAF { [first, first + items.len() as u32] } else { [0; 2] };
        self.nodes.push(Node { bounds, below: 0, items: held });
        if items.len() > AT_LEAF {
            let size = bounds[1] - bounds[0];
            let axis = (0..3).max_by(|&a, &b| size[a].total_cmp(&size[b])).unwrap_or(0);
            let middle = |(index, [low, high]): &(u32, [Vec3; 2])| (low[axis] + high[axis], *index);
            let half = items.len() / 2;
            items.select_nth_unstable_by(half, |a, b| {
                let (a, b) = (middle(a), middle(b));
                a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
            });
            let (low, high) = items.split_at_mut(half);
            self.split(low, first);
            self.split(high, first + half as u32);
        }
        self.nodes[index].below = (self.nodes.len() - index - 1) as u32;
    }

    /// All of it (m).
    pub fn bounds(&self) -> [Vec3; 2] {
        self.nodes.first().map_or([Vec3::ZERO; 2], |root| root.bounds)
    }

    /// Finds the boxes that touch one.
    pub fn touching(&self, region: [Vec3; 2], found: &mut dyn FnMut(u32)) {
        let mut next = 0;
        while let Some(node) = self.nodes.get(next) {
            let touched = touch(region, node.bounds);
            next += if touched { 1 } else { 1 + node.below as usize };
            if touched {
                let items = &self.items[node.items[0] as usize..node.items[1] as usize];
                items.iter().filter(|(_, bounds)| touch(region, *bounds)).for_each(|(index, _)| found(*index));
            }
        }
    }

    /// Its nodes and its items as words.
    #[cfg(feature = "gpu")]
    pub fn words(&self) -> [Vec<u32>; 2] {
        let corners = |[low, high]: [Vec3; 2]| low.to_array().into_iter().chain(high.to_array()).map(f32::to_bits);
        let node = |node: &Node| corners(node.bounds).chain([node.below]).chain(node.items).collect::<Vec<_>>();
        let item = |(index, bounds): &(u32, [Vec3; 2])| corners(*bounds).chain([*index]).collect::<Vec<_>>();
        [self.nodes.iter().flat_map(node).collect(), self.items.iter().flat_map(item).collect()]
    }
}
