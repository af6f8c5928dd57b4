//! Which of several joints of one name a muscle means: the one of its own armature.

use std::collections::HashMap;

use super::context::Context;
use super::nodes::Graph;

/// The armatures of a file.
pub(super) struct Rigs<'a> {
    graph: &'a Graph,
    /// The joints of each skin, sorted.
    skins: Vec<Vec<u32>>,
    /// The skin of each node that has one, by the joint that the node is.
    skin_of: HashMap<u32, usize>,
}

impl<'a> Rigs<'a> {
    /// Looks through the skins. Indices that lead nowhere are left out; what reads meshes says so.
    pub fn new(context: &Context, graph: &'a Graph) -> Self {
        let joint_of = |node: usize| graph.joint_of.get(node).copied();
        let skins = context.document.skins.iter().map(|skin| {
            let mut joints: Vec<u32> = skin.joints.iter().filter_map(|joint| joint_of(joint.value())).collect();
            joints.sort_unstable();
            joints
        });
        let skinned = context.document.nodes.iter().enumerate();
        let skin_of = skinned.filter_map(|(node, source)| Some((joint_of(node)?, source.skin?.value()))).collect();
        Self { graph, skins: skins.collect(), skin_of }
    }

    /// The joint among `joints` that belongs to the armature of a muscle's node: to the skin of that node, to the skin
    /// whose joint the node hangs on, or else to the nearest of the nodes above that has any of them below it. `None`
    /// where there is none, or several.
    pub fn own(&self, node: u32, joints: &[u32]) -> Option<u32> {
        let parent = |joint: &u32| self.graph.skeleton.joints[*joint as usize].parent;
        let above: Vec<u32> = std::iter::successors(Some(node), parent).collect();
        let of_skin = |skin: &Vec<u32>| -> Vec<u32> {
            joints.iter().copied().filter(|joint| skin.binary_search(joint).is_ok()).collect()
        };
        let worn = self.skin_of.get(&node).and_then(|&skin| self.skins.get(skin)).map(of_skin);
        let held = || {
            let skin = self.skins.iter().filter(|skin| above.iter().any(|joint| skin.binary_search(joint).is_ok()));
            let mut found: Vec<u32> = skin.flat_map(of_skin).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let beside = || {
            let below = |top: &u32| -> Vec<u32> {
                let is_below = |joint: &u32| std::iter::successors(Some(*joint), parent).any(|joint| joint == *top);
                joints.iter().copied().filter(is_below).collect()
            };
            above.iter().map(below).find(|found| !found.is_empty()).unwrap_or_default()
        };
        let found = worn.filter(|found| !found.is_empty()).unwrap_or_else(held);
        let found = if found.is_empty() { beside() } else { found };
        match found[..] {
            [joint] => Some(joint),
            [] => None,
            _ => self.only_bone(&found),
        }
    }

    /// The one among `joints` that a skin names, where the others are objects of the same name.
    pub fn only_bone(&self, joints: &[u32]) -> Option<u32> {
        let is_bone = |joint: &&u32| self.skins.iter().any(|skin| skin.binary_search(joint).is_ok());
        let mut bones = joints.iter().filter(is_bone);
        match (bones.next(), bones.next()) {
            (Some(&bone), None) => Some(bone),
            _ => None,
        }
    }
}
