//! A group of chains as the stages see it; its twin is `shaders/bindings/group.wgsl`.

use super::lanes::{Entry, Lane, Lanes};
use super::math::V3;
use crate::layout::{MAX_BONES, POSE, borne, chain, contact, held, input, node, rest, scratch, solved, stump};
use crate::step::StepParams;

/// What eight chains are made of: rest rows and what can be known from them beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRest<T> {
    /// Nodes of the longest chain; shorter ones are padded.
    pub node_count: usize,
    /// How many of its lanes have chains, from the first on.
    pub chain_count: usize,
    /// `[node][entry][lane]`, see [`crate::layout::rest`].
    pub rows: Vec<Entry<T>>,
    /// For each node, whether a bone holds anything of it in any lane.
    pub held: Vec<bool>,
    /// For each node, whether a bone holds or carries it in any lane.
    pub carried: Vec<bool>,
    /// The most bones that a lane's chain hangs on, at least 1.
    pub bone_count: usize,
    /// Whether any lane has a chain that hangs on no bone.
    pub has_free_chain: bool,
    /// For each node, whether it slides along a guide in any lane.
    pub slides: Vec<bool>,
    /// For each node, whether what holds it turns with the path in any lane.
    pub turns: Vec<bool>,
    /// For each node, which reaction row is its: where bones hold its place or frame, or guide it, in any lane.
    pub reactions: Vec<Option<usize>>,
    /// How many reaction rows there are.
    pub reaction_count: usize,
    /// For each node, whether it hangs on another chain's in any lane.
    pub hung: Vec<bool>,
    /// For each node of which any lane's bears chains that hang on it, which [`borne`](crate::layout::borne) row is its.
    pub bears: Vec<Option<usize>>,
    /// How many nodes bear chains that hang on them.
    pub bearing_count: usize,
    /// Whether any lane resists surface bending, (15).
    pub has_surface_bending: bool,
    /// Whether any lane's fibres act without activation: by a stiffness, passive tension, or tension expected in series.
    pub has_stiff_fibres: bool,
    /// Whether fascia ties any lane's chain.
    pub has_fascia: bool,
    /// Whether any lane's chain slides in its bed.
    pub has_beds: bool,
    /// Whether any lane's chain goes straight round the inside of bends.
    pub has_chords: bool,
}

impl<T> GroupRest<T> {
    /// The rest row of a node.
    #[inline(always)]
    pub fn row(&self, node: usize) -> &[Entry<T>] {
        &self.rows[node * rest::ENTRIES..][..rest::ENTRIES]
    }

    /// Whether any of its chains hangs on another or bears one.
    pub fn is_in_tree(&self) -> bool {
        self.hung.contains(&true) || self.bears.iter().any(Option::is_some)
    }

    /// How many entries of room a solve has: a row for each node, each node of which there is a reaction, each that bears chains,
    /// and one of what is left of chains that hang.
    pub fn scratch_len(&self) -> usize {
        let stump = usize::from(self.hung.contains(&true));
        (self.node_count + self.reaction_count + self.bearing_count + stump) * scratch::ENTRIES
    }
}

impl GroupRest<f32> {
    /// Whether bones hold a node of one of its chains, or carry it as flesh between two ends that they hold.
    pub fn obeys(&self, node: usize, lane: usize) -> bool {
        let row = self.row(node);
        row[rest::FREE_PLACE][lane] < 0.5 || row[rest::CARRIED][lane] > 0.5
    }

    /// The same for f64 lanes.
    pub fn to_f64(&self) -> GroupRest<f64> {
        GroupRest {
            node_count: self.node_count,
            chain_count: self.chain_count,
            rows: self.rows.iter().map(|entry| entry.map(f64::from)).collect(),
            held: self.held.clone(),
            carried: self.carried.clone(),
            slides: self.slides.clone(),
            turns: self.turns.clone(),
            reactions: self.reactions.clone(),
            reaction_count: self.reaction_count,
            hung: self.hung.clone(),
            bears: self.bears.clone(),
            bearing_count: self.bearing_count,
            bone_count: self.bone_count,
            has_free_chain: self.has_free_chain,
            has_surface_bending: self.has_surface_bending,
            has_stiff_fibres: self.has_stiff_fibres,
            has_fascia: self.has_fascia,
            has_beds: self.has_beds,
            has_chords: self.has_chords,
        }
    }
}

/// A group during a step.
pub struct Group<'a, T> {
    /// What its chains are made of.
    pub rest: &'a GroupRest<T>,
    /// `[node][entry][lane]`, see [`crate::layout::node`].
    pub nodes: &'a mut [Entry<T>],
    /// `[entry][lane]`, see [`crate::layout::input`].
    pub inputs: &'a [Entry<T>],
    /// `[node][entry][lane]`, see [`crate::layout::force`]; none where no node is pushed.
    pub forces: &'a [Entry<T>],
    /// `[plane][entry][lane]`, see [`crate::layout::plane`].
    pub planes: &'a [Entry<T>],
    /// `[slot][entry][lane]`, see [`crate::layout::tangent`]; none where no solid is near.
    pub tangents: &'a [Entry<T>],
    /// `[entry][lane]`, see [`crate::layout::chain`].
    pub chains: &'a mut [Entry<T>],
    /// `[slot][entry][lane]`, see [`crate::layout::contact`]: of half-spaces and tangent planes.
    pub contacts: &'a mut [Entry<T>],
    /// The same, of meetings with other chains.
    pub meets: &'a mut [Entry<T>],
    /// `[slot][entry][lane]`, see [`crate::layout::solved`], of both kinds of contact rows in this order; none where no chain
    /// meets another.
    pub solved: &'a mut [Entry<T>],
    /// `[reaction][entry][lane]`, see [`crate::layout::reaction`].
    pub reactions: &'a mut [Entry<T>],
    /// [`GroupRest::scratch_len`] rows: room for each node's block factor, see [`crate::layout::scratch`], then for the rows
    /// of each node of which there is a reaction, see [`crate::layout::held`], of each that bears chains, see
    /// [`crate::layout::borne`], and one [`crate::layout::stump`] row.
    pub scratch: &'a mut [Entry<T>],
}

impl<T> Group<'_, T> {
    /// The row of a node.
    #[inline(always)]
    pub fn row(&self, node: usize) -> &[Entry<T>] {
        &self.nodes[node * node::ENTRIES..][..node::ENTRIES]
    }

    /// The row of a node, to write.
    #[inline(always)]
    pub fn row_mut(&mut self, node: usize) -> &mut [Entry<T>] {
        &mut self.nodes[node * node::ENTRIES..][..node::ENTRIES]
    }

    /// The scratch row of a node of which there is a reaction.
    #[inline(always)]
    pub fn held_row(&mut self, reaction: usize) -> &mut [Entry<T>] {
        &mut self.scratch[(self.rest.node_count + reaction) * scratch::ENTRIES..][..held::ENTRIES]
    }

    /// The scratch row of what a node bears.
    #[inline(always)]
    pub fn borne_row(&mut self, bears: usize) -> &mut [Entry<T>] {
        let at = self.rest.node_count + self.rest.reaction_count + bears;
        &mut self.scratch[at * scratch::ENTRIES..][..borne::ENTRIES]
    }

    /// The scratch row of what is left of chains that hang on others.
    #[inline(always)]
    pub fn stump_row(&mut self) -> &mut [Entry<T>] {
        let at = self.rest.node_count + self.rest.reaction_count + self.rest.bearing_count;
        &mut self.scratch[at * scratch::ENTRIES..][..stump::ENTRIES]
    }

    /// Both kinds of contact rows: of what is no chain, and of meetings.
    #[inline(always)]
    pub fn touching(&self) -> [&[Entry<T>]; 2] {
        [self.contacts, self.meets]
    }

    /// Whether anything may touch its chains.
    #[inline(always)]
    pub fn is_touched(&self) -> bool {
        !(self.contacts.is_empty() && self.meets.is_empty())
    }

    /// A contact row, to write.
    #[inline(always)]
    pub fn contact_mut(&mut self, kind: usize, slot: usize) -> &mut [Entry<T>] {
        let rows = if kind == 0 { &mut *self.contacts } else { &mut *self.meets };
        &mut rows[slot * contact::ENTRIES..][..contact::ENTRIES]
    }

    /// Where among [`Self::solved`] a contact row's entries are; `None` where nothing is kept of it.
    #[inline(always)]
    pub fn solved_at(&self, kind: usize, slot: usize) -> Option<std::ops::Range<usize>> {
        let slot = if kind == 0 { slot } else { self.contacts.len() / contact::ENTRIES + slot };
        let at = slot * solved::ENTRIES;
        (!self.solved.is_empty()).then_some(at..at + solved::ENTRIES)
    }

    /// What a solve has kept of a node.
    #[inline(always)]
    pub fn kept_row(&self, node: usize) -> &[Entry<T>] {
        &self.scratch[node * scratch::ENTRIES..][..scratch::ENTRIES]
    }

    /// The scratch row of a node.
    #[inline(always)]
    pub fn scratch_row(&mut self, node: usize) -> &mut [Entry<T>] {
        &mut self.scratch[node * scratch::ENTRIES..][..scratch::ENTRIES]
    }
}

/// Whether any chain's bones are elsewhere at once at the frame's start.
#[inline(always)]
pub fn has_teleports<T: Copy + Into<f64>>(inputs: &[Entry<T>]) -> bool {
    inputs[input::TELEPORT].iter().any(|&value| value.into() > 0.5)
}

/// Whether any chain's velocities are changed at the frame's start.
#[inline(always)]
pub fn is_kicked<T: Copy + Into<f64>>(inputs: &[Entry<T>]) -> bool {
    inputs[input::KICKED].iter().any(|&value| value.into() > 0.5)
}

/// Whether any chain's fibres have a say.
#[inline(always)]
pub fn contracts<T: Copy + Into<f64>>(group: &Group<T>) -> bool {
    group.rest.has_stiff_fibres || group.inputs[input::ACTIVATION].iter().any(|&value| value.into() != 0.0)
}

/// Whether any bone of the group moves in this substep or moved in the last one.
#[inline(always)]
pub fn bones_move<T: Copy + PartialEq>(chains: &[Entry<T>]) -> bool {
    let poses = |at: usize| &chains[at..at + MAX_BONES * POSE];
    poses(chain::BONE_PREV) != poses(chain::BONE_NOW) || poses(chain::BONE_OLDER) != poses(chain::BONE_PREV)
}

/// Whether it is known of every chain what it stored where the last solve ended.
#[inline(always)]
pub fn known<T: Copy + Into<f64>>(group: &Group<T>) -> bool {
    group.chains[chain::HISTORY].iter().all(|&value| value.into() == 1.0)
        && group.chains[chain::POTENTIAL].iter().all(|&value| value.into() >= 0.0)
}

/// 1 where the second-order step is taken, else 0.
#[inline(always)]
pub fn second_order<L: Lanes>(lanes: L, params: &StepParams, group: &Group<L::Scalar>) -> L::V {
    let history = lanes.load(&group.chains[chain::HISTORY]);
    history.where_less(lanes.splat(1.0), lanes.splat(0.0), lanes.splat(params.second_order))
}

/// How a chain falls that nothing holds (m/s²).
#[inline(always)]
pub fn falls<L: Lanes>(lanes: L, params: &StepParams, group: &Group<L::Scalar>) -> V3<L::V> {
    let [x, y, z] = params.gravity;
    V3([lanes.splat(x), lanes.splat(y), lanes.splat(z)]) + V3::load(lanes, group.inputs, input::ACCELERATION)
}

/// 1 where a segment follows the node, else 0: padding is no path.
#[inline(always)]
pub fn goes_on<L: Lanes>(lanes: L, rest: &GroupRest<L::Scalar>, index: usize) -> L::V {
    let zero = lanes.splat(0.0);
    zero.where_less(lanes.at(rest.row(index), rest::INV_LENGTH), lanes.splat(1.0), zero)
}

/// A mass of a node; padding has no radius and so no say.
#[inline(always)]
pub fn unpadded<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize, entry: usize) -> L::V {
    let zero = lanes.splat(0.0);
    let row = group.rest.row(index);
    zero.where_less(lanes.at(row, rest::RADIUS), lanes.at(row, entry), zero)
}

/// Forgets what touched the flagged chains.
#[inline(always)]
pub fn forget_contacts<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, flag: L::V) {
    let (zero, half) = (lanes.splat(0.0), lanes.splat(0.5));
    for row in group.contacts.chunks_exact_mut(contact::ENTRIES) {
        let tangent = contact::TANGENT..contact::TANGENT + 3;
        let others = [contact::STIFFNESS, contact::FRICTION, contact::DUAL];
        for entry in tangent.chain(others).chain(contact::BOUNCE..contact::ENTRIES) {
            lanes.store(flag.where_less(half, lanes.load(&row[entry]), zero), &mut row[entry]);
        }
    }
}
