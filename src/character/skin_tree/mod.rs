//! The skeleton as the skin sees it, so that limbs are found by what the skin follows and not by how a rig is built.
//!
//! ```text
//! weights ─► joints with skin ─► twist joints share their limb's ─► joints whose parents have no say hang on the
//! joint whose skin they touch
//! ```
//!
//! Rigs for animators keep joints that deform under controls, or all side by side: an upper arm then hangs on a mechanism
//! that no skin follows, or on nothing. And a limb's skin may be shared among twist joints along it, which turn about the
//! limb's axis and are no limbs themselves.

mod hang;
mod touch;
mod twist;

use glam::{Affine3A, DVec3};

use super::first_flesh::{FleshOptions, RestSkin, influences};
use super::{CharacterAsset, MAX_INFLUENCES};
use hang::hang_adrift;
pub use twist::{WIDEST_GAP, widest_gap};

/// Which joint the vertices of each joint belong to, and how those joints hang together.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinTree {
    owners: Vec<u32>,
    parents: Vec<Option<u32>>,
    order: Vec<u32>,
    children: Vec<Vec<u32>>,
    skin_beyond: Vec<bool>,
    twists: Vec<(u32, u32)>,
    hung: Vec<bool>,
}

/// A character at rest.
struct Rest<'a> {
    asset: &'a CharacterAsset,
    /// Places of the joints (m).
    places: Vec<DVec3>,
    skin: &'a RestSkin,
    /// For each joint, the vertices that belong to it.
    pulled: Vec<Vec<u32>>,
    /// The figure's longest side (m).
    size: f64,
}

impl Rest<'_> {
    fn parent(&self, joint: u32) -> Option<u32> {
        self.asset.skeleton.joints[joint as usize].parent
    }

    fn has_skin(&self, joint: u32) -> bool {
        !self.pulled[joint as usize].is_empty()
    }

    fn place(&self, joint: u32) -> DVec3 {
        self.places[joint as usize]
    }

    /// Whether two joints are nearer than a share of the figure's size.
    fn are_within(&self, share: f64, a: u32, b: u32) -> bool {
        self.place(a).distance(self.place(b)) <= share * self.size
    }

    fn vertex(&self, vertex: u32) -> DVec3 {
        self.skin.positions[vertex as usize].as_dvec3()
    }
}

impl SkinTree {
    /// Looks at a character at rest; `joints` are the joints' matrices, `skin` its skin.
    pub fn new(asset: &CharacterAsset, joints: &[Affine3A], skin: &RestSkin, options: &FleshOptions) -> Self {
        let mut owners = rigid_owners(asset);
        let rest = Rest {
            asset,
            places: joints.iter().map(|joint| joint.translation.as_dvec3()).collect(),
            skin,
            pulled: vertices_by_joint(asset, &owners, options.least_weight),
            size: extent(skin),
        };
        let mut twists = twist::beside(&rest, &owners, options);
        twists.iter().for_each(|&(twist, limb)| owners[twist as usize] = limb);
        let mut parents: Vec<Option<u32>> = (0..joints.len() as u32).map(|joint| rest.parent(joint)).collect();
        let hung = hang_adrift(&rest, &owners, &mut parents);
        let mut order = order(&parents);
        let in_line = twist::in_line(&rest, &owners, &parents, &order);
        let mut limb_of: Vec<u32> = (0..parents.len() as u32).collect();
        in_line.iter().for_each(|&(twist, limb)| limb_of[twist as usize] = limb);
        owners.iter_mut().for_each(|owner| *owner = limb_of[*owner as usize]);
        twists.extend(in_line);
        // What hangs on a twist joint hangs on its limb.
        if !twists.is_empty() {
            parents.iter_mut().flatten().for_each(|parent| *parent = owners[*parent as usize]);
            for &(twist, limb) in &twists {
                parents[twist as usize] = Some(limb);
            }
            order = self::order(&parents);
        }
        let mut skin_beyond: Vec<bool> = vec![false; parents.len()];
        (0..parents.len()).filter(|&joint| rest.has_skin(joint as u32)).for_each(|joint| {
            skin_beyond[owners[joint] as usize] = true;
        });
        for &joint in order.iter().rev() {
            if let (true, Some(parent)) = (skin_beyond[joint as usize], parents[joint as usize]) {
                skin_beyond[parent as usize] = true;
            }
        }
        let twists = twists.into_iter().map(|(twist, _)| (twist, owners[twist as usize])).collect();
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); parents.len()];
        for (joint, parent) in parents.iter().enumerate() {
            if let (Some(parent), true) = (parent, owners[joint] == joint as u32) {
                children[*parent as usize].push(joint as u32);
            }
        }
        Self { owners, parents, order, children, skin_beyond, twists, hung }
    }

    /// For each joint, the joint whose limb its vertices belong to.
    pub fn owners(&self) -> &[u32] {
        &self.owners
    }

    /// For each joint, the one that it hangs on.
    pub fn parents(&self) -> &[Option<u32>] {
        &self.parents
    }

    /// All joints, parents before children.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Whether a joint or one beyond it has skin.
    pub fn has_skin_beyond(&self, joint: u32) -> bool {
        self.skin_beyond[joint as usize]
    }

    /// The joints that hang on a joint and own their vertices.
    pub fn children(&self, joint: u32) -> &[u32] {
        &self.children[joint as usize]
    }

    /// Whether a joint hangs on another one by skin alone.
    pub fn is_hung(&self, joint: u32) -> bool {
        self.hung[joint as usize]
    }

    /// The twist joints whose skin is a joint's.
    pub fn twists(&self, joint: u32) -> impl Iterator<Item = u32> {
        self.twists.iter().filter(move |(_, limb)| *limb == joint).map(|&(twist, _)| twist)
    }

    /// A joint and those that it hangs on, up to the root.
    pub fn up(&self, joint: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(joint), |&joint| self.parents[joint as usize])
    }

    /// For each joint, the vertices that belong to it.
    pub fn vertices(&self, asset: &CharacterAsset, least_weight: f64) -> Vec<Vec<u32>> {
        vertices_by_joint(asset, &self.owners, least_weight)
    }

    /// The joint that pulls strongest on a vertex; of those that pull alike, the first in the palette.
    pub fn strongest(&self, asset: &CharacterAsset, vertex: usize) -> u32 {
        let mut entries: Vec<usize> = influences(asset, vertex).map(|(entry, _)| entry).collect();
        entries.sort_unstable();
        let pulls = pulls(asset, &self.owners, vertex);
        let pull = |joint: u32| pulls.iter().find(|(by, _)| *by == joint).map_or(0.0, |(_, weight)| *weight);
        let owners = entries.iter().rev().map(|&entry| self.owners[asset.palette[entry].joint as usize]);
        owners.max_by(|&a, &b| pull(a).total_cmp(&pull(b))).unwrap_or(0)
    }
}

/// The longest side of the skin (m).
pub fn extent(skin: &RestSkin) -> f64 {
    let low = skin.positions.iter().copied().fold(glam::Vec3::INFINITY, glam::Vec3::min);
    let high = skin.positions.iter().copied().fold(glam::Vec3::NEG_INFINITY, glam::Vec3::max);
    if low.x <= high.x { f64::from((high - low).max_element()) } else { 0.0 }
}

/// For each joint, the joint whose limb its vertices belong to: a mesh that hangs on a childless node of its own is
/// a rigid part of the node above.
fn rigid_owners(asset: &CharacterAsset) -> Vec<u32> {
    let joints = &asset.skeleton.joints;
    let mut owners: Vec<u32> = (0..joints.len() as u32).collect();
    let mut has_child = vec![false; joints.len()];
    joints.iter().filter_map(|joint| joint.parent).for_each(|parent| has_child[parent as usize] = true);
    for entry in &asset.palette {
        let joint = entry.joint as usize;
        let rigid = entry.inverse_bind == Affine3A::IDENTITY;
        if let (true, false, Some(parent)) = (rigid, has_child[joint], joints[joint].parent) {
            owners[joint] = parent;
        }
    }
    owners
}

/// The joints that own a vertex, and how strongly.
fn pulls(asset: &CharacterAsset, owners: &[u32], vertex: usize) -> Vec<(u32, f64)> {
    let mut by_joint: Vec<(u32, f64)> = Vec::with_capacity(MAX_INFLUENCES);
    for (entry, weight) in influences(asset, vertex) {
        let joint = owners[asset.palette[entry].joint as usize];
        match by_joint.iter_mut().find(|(j, _)| *j == joint) {
            Some((_, sum)) => *sum += weight,
            None => by_joint.push((joint, weight)),
        }
    }
    by_joint
}

fn vertices_by_joint(asset: &CharacterAsset, owners: &[u32], least_weight: f64) -> Vec<Vec<u32>> {
    let mut pulled = vec![Vec::new(); asset.skeleton.joints.len()];
    // Muscles' own surfaces on bones are no limb's skin.
    let rigid = |vertex: usize| {
        influences(asset, vertex).all(|(entry, _)| asset.palette[entry].inverse_bind == Affine3A::IDENTITY)
    };
    let mut surface = vec![false; asset.mesh.positions.len()];
    for mesh in asset.muscles.iter().filter_map(|muscle| muscle.mesh.as_ref()) {
        for vertex in mesh.vertices.start as usize..(mesh.vertices.end as usize).min(surface.len()) {
            surface[vertex] = rigid(vertex);
        }
    }
    for vertex in (0..surface.len()).filter(|&vertex| !surface[vertex]) {
        for (joint, weight) in pulls(asset, owners, vertex) {
            if weight >= least_weight {
                pulled[joint as usize].push(vertex as u32);
            }
        }
    }
    pulled
}

/// All joints, parents before children, else by index.
fn order(parents: &[Option<u32>]) -> Vec<u32> {
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); parents.len()];
    let mut order = Vec::with_capacity(parents.len());
    for (joint, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => children[*parent as usize].push(joint as u32),
            None => order.push(joint as u32),
        }
    }
    let mut next = 0;
    while let Some(&joint) = order.get(next) {
        order.extend(&children[joint as usize]);
        next += 1;
    }
    order
}
