//! Where joints hang whose own parents have no say: on the joint whose skin theirs touches.

use std::collections::BinaryHeap;

use super::Rest;
use super::touch::Touches;

/// Joints nearer than this share of the figure's size are beside one another.
const BESIDE: f64 = 0.2;
/// Joints nearer than this share of it are in the same place.
const SAME_PLACE: f64 = 0.03;
/// Touches are alike where one is this share of the other.
const NEARLY: f64 = 0.5;

/// Hangs joints whose own parents have no say on the joints whose skin theirs touches most, from the topmost joint with
/// skin outwards; of those that it touches nearly as much, on the one with the fewest joints above it that were hung, or
/// else the fewest of any, or else the nearest. Those that touch none stay where they are. Gives back which were hung.
pub fn hang_adrift(rest: &Rest, owners: &[u32], parents: &mut [Option<u32>]) -> Vec<bool> {
    let islands = Islands::new(rest, owners);
    let mut hung = vec![false; parents.len()];
    if islands.roots.len() < 2 {
        return hung;
    }
    let touches = Touches::new(rest, owners);
    let islands = islands.settled(&touches);
    let mut hanging = Hanging {
        rest,
        islands: &islands,
        touches: &touches,
        held: vec![false; parents.len()],
        depth: vec![(0, 0); parents.len()],
        edge: BinaryHeap::new(),
    };
    for &anchor in &islands.roots {
        if hanging.held[anchor as usize] {
            continue;
        }
        hanging.hold(anchor);
        while let Some(Touching { to, strength, from }) = hanging.edge.pop() {
            if hanging.held[to as usize] {
                continue;
            }
            if !hanging.is_around(to, anchor) {
                let on = hanging.nearest(to, strength).unwrap_or(from);
                parents[to as usize] = Some(on);
                hung[to as usize] = true;
                let (above, all) = hanging.depth[on as usize];
                hanging.depth[to as usize] = (above + 1, all + 1);
            }
            hanging.hold(to);
        }
    }
    hung
}

/// Joints with skin, those together that hang on one another.
struct Islands {
    /// The nearest joint with skin above each joint.
    above: Vec<Option<u32>>,
    /// Joints with skin under none, or far from it; rising.
    roots: Vec<u32>,
    skinned: Vec<u32>,
    /// The joints with skin under each root, it included, parents first.
    members: Vec<Vec<u32>>,
}

impl Islands {
    fn new(rest: &Rest, owners: &[u32]) -> Self {
        let count = owners.len() as u32;
        let mut has_skin = vec![false; owners.len()];
        for joint in (0..count).filter(|&joint| rest.has_skin(joint)) {
            has_skin[owners[joint as usize] as usize] = true;
        }
        let own = |joint: &u32| owners[*joint as usize] == *joint && has_skin[*joint as usize];
        let skinned: Vec<u32> = (0..count).filter(own).collect();
        // Joints come after their parents.
        let mut above: Vec<Option<u32>> = vec![None; owners.len()];
        for joint in 0..count {
            above[joint as usize] = rest.parent(joint).and_then(|parent| {
                let owner = owners[parent as usize];
                if has_skin[owner as usize] && owner != joint { Some(owner) } else { above[parent as usize] }
            });
        }
        let unheld = |&joint: &u32| above[joint as usize].is_none_or(|above| !rest.are_within(BESIDE, above, joint));
        let roots = skinned.iter().copied().filter(unheld).collect();
        Self { above, roots, skinned, members: vec![Vec::new(); owners.len()] }
    }

    /// With those roots alone whose skin does not touch that of the joint above.
    fn settled(mut self, touches: &Touches) -> Self {
        let above = &self.above;
        self.roots.retain(|&root| above[root as usize].is_none_or(|above| touches.between(above, root) == 0.0));
        let mut island: Vec<u32> = (0..above.len() as u32).collect();
        for &joint in &self.skinned {
            if let (Err(_), Some(above)) = (self.roots.binary_search(&joint), above[joint as usize]) {
                island[joint as usize] = island[above as usize];
            }
            self.members[island[joint as usize] as usize].push(joint);
        }
        self
    }
}

/// What holds, and what touches it.
struct Hanging<'a> {
    rest: &'a Rest<'a>,
    islands: &'a Islands,
    touches: &'a Touches,
    held: Vec<bool>,
    /// How many joints that were hung, and how many with skin, are above each.
    depth: Vec<(u32, u32)>,
    edge: BinaryHeap<Touching>,
}

impl Hanging<'_> {
    /// Holds a root with all that hangs on it.
    fn hold(&mut self, root: u32) {
        for &from in &self.islands.members[root as usize] {
            self.held[from as usize] = true;
            if let (true, Some(above)) = (from != root, self.islands.above[from as usize]) {
                let (hung, all) = self.depth[above as usize];
                self.depth[from as usize] = (hung, all + 1);
            }
            let to_roots = self.touches.of(from).filter(|(to, _)| self.islands.roots.binary_search(to).is_ok());
            self.edge.extend(to_roots.map(|(to, strength)| Touching { strength, to, from }));
        }
    }

    /// Whether a root and an anchor hang on the same joint without skin, all around it, as legs and spine on bare hips. A
    /// control is where a joint with skin is too.
    fn is_around(&self, root: u32, anchor: u32) -> bool {
        let rest = self.rest;
        match (rest.parent(root), rest.parent(anchor)) {
            (Some(hips), Some(other)) if hips == other => {
                let apart = !rest.are_within(SAME_PLACE, hips, anchor);
                apart && rest.are_within(BESIDE, hips, root) && rest.are_within(BESIDE, hips, anchor)
            }
            _ => false,
        }
    }

    /// The joint to hang one on that touches what holds by `strength`.
    fn nearest(&self, to: u32, strength: f64) -> Option<u32> {
        let near = |&(joint, touch): &(u32, f64)| self.held[joint as usize] && touch >= NEARLY * strength;
        let away = |joint: u32| self.rest.place(joint).distance(self.rest.place(to));
        let nearest = self.touches.of(to).filter(near).min_by(|&(a, _), &(b, _)| {
            let order = self.depth[a as usize].cmp(&self.depth[b as usize]);
            order.then(away(a).total_cmp(&away(b)))
        });
        nearest.map(|(joint, _)| joint)
    }
}

/// A joint that is not yet held touches one that is.
struct Touching {
    strength: f64,
    to: u32,
    from: u32,
}

impl Ord for Touching {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |touching: &Self| std::cmp::Reverse((touching.to, touching.from));
        self.strength.total_cmp(&other.strength).then_with(|| key(self).cmp(&key(other)))
    }
}

impl PartialOrd for Touching {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Touching {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Touching {}
