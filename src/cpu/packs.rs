//! Chains of several instances that share a group's lanes: those of one flesh that leave most of their own group's empty, as the
//! heads of octopuses do.
//!
//! Data flow of a frame: [`Packing::plan`] says which groups of all instances are stepped as one, and which are kin, stepped one after
//! the other as chains of theirs hang on each other. Rows that share a group are copied into it before the stages of chains
//! ([`Packing::gather`]) and out of it after them ([`Packing::scatter`]); between, it is a group like any other
//! ([`Packing::members`]). No lane's chain is stepped otherwise than it would be alone, but for roundings where what is asked of a
//! group has another answer for its other lanes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::group::GroupRest;
use super::kin::{Member, members_of};
use super::lanes::{Entry, LANES};
use super::solids::Around;
use super::threads::Threads;
use crate::flesh::{Branch, Flesh, GroupState};
use crate::instances::{Active, Instance, Instances, Pressed};
use crate::step::Scheduled;

/// For how many threads instances with trees of chains leave something to do: those that are stepped together have one.
const THREADS: usize = 8;

/// How the groups of all instances are stepped in a frame.
#[derive(Default)]
pub(super) struct Packing {
    /// In the order in which they are stepped, those of kin beside each other.
    pub groups: Vec<Stepped>,
    /// Where each group of all instances is stepped, in the order of these.
    pub places: Vec<Place>,
    /// Which of all groups each stepped one is, one part after the other.
    parts: Vec<u32>,
    packs: Vec<Pack>,
    /// Which chains hang on others, of kin of several instances.
    trees: Vec<Vec<Branch>>,
}

/// A group as it is stepped.
pub(super) struct Stepped {
    /// Whether it is stepped with the one before.
    pub is_of_kin: bool,
    pub whose: Whose,
    pub node_count: usize,
    parts: Range<usize>,
    /// Whether it is the next of [`Packing::packs`]; else it is stepped where it is.
    is_packed: bool,
    /// Which of [`Packing::trees`] has its branches; `None` where they are its instance's.
    tree: Option<usize>,
}

/// Where a group's lanes are stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// In which of [`Packing::groups`].
    pub group: usize,
    /// In which lane its first one is.
    pub lane: usize,
}

/// Of which instances of its kin a group's lanes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whose {
    first: usize,
    /// How many lanes are of one instance.
    lanes: usize,
}

impl Whose {
    /// All of one instance.
    pub const ONE: Self = Self { first: 0, lanes: LANES };

    /// Which instance a lane is of; of spare lanes, none that there is.
    pub fn of(self, lane: usize) -> usize {
        self.first + lane / self.lanes
    }

    /// Whether all lanes are of one instance.
    pub fn is_one(self) -> bool {
        self.lanes == LANES
    }
}

/// A group that instances share.
struct Pack {
    flesh: Arc<Flesh>,
    /// Which of its groups.
    group: usize,
    /// Of how many instances.
    count: usize,
    rest: GroupRest<f32>,
    state: GroupState,
    pressed: Vec<Pressed>,
}

/// Instances of one flesh that are stepped together, by the places of their first groups.
struct Herd<'a> {
    flesh: &'a Arc<Flesh>,
    first: Vec<usize>,
}

impl Packing {
    /// Finds how the groups of all instances are stepped; with `solids` around, each by itself.
    pub fn plan(&mut self, instances: &Instances, solids: bool) {
        self.groups.clear();
        self.parts.clear();
        self.trees.clear();
        let mut packed = 0;
        for Herd { flesh, first } in &herds(instances, solids) {
            let begin = self.groups.len();
            let tree = (first.len() > 1 && !flesh.branches.is_empty()).then_some(self.trees.len());
            for (group, rest) in flesh.groups.iter().enumerate() {
                let shared = first.len() > 1 && is_sparse(rest);
                let lanes = if shared { rest.chain_count } else { LANES };
                for (instance, places) in first.chunks(if shared { first.len() } else { 1 }).enumerate() {
                    let parts = self.parts.len()..self.parts.len() + places.len();
                    self.parts.extend(places.iter().map(|place| (place + group) as u32));
                    let is_of_kin = !flesh.branches.is_empty() && self.groups.len() > begin;
                    let whose = Whose { first: if flesh.branches.is_empty() { 0 } else { instance }, lanes };
                    if shared {
                        self.fit_pack(packed, flesh, group, places.len());
                        packed += 1;
                    }
                    let node_count = rest.node_count;
                    self.groups.push(Stepped { is_of_kin, whose, node_count, parts, is_packed: shared, tree });
                }
            }
            if tree.is_some() {
                let branches = self.branches_of(flesh, first, begin);
                self.trees.push(branches);
            }
        }
        self.packs.truncate(packed);
        self.places.clear();
        self.places.resize(self.parts.len(), Place { group: 0, lane: 0 });
        for (group, stepped) in self.groups.iter().enumerate() {
            for (part, place) in self.parts[stepped.parts.clone()].iter().enumerate() {
                self.places[*place as usize] = Place { group, lane: part * stepped.whose.lanes };
            }
        }
    }

    /// Has a pack that is of so many instances' groups.
    fn fit_pack(&mut self, at: usize, flesh: &Arc<Flesh>, group: usize, count: usize) {
        let fits = |pack: &Pack| Arc::ptr_eq(&pack.flesh, flesh) && (pack.group, pack.count) == (group, count);
        if self.packs.get(at).is_some_and(fits) {
            return;
        }
        let mut rest = flesh.groups[group].clone();
        let lanes = rest.chain_count;
        for entry in &mut rest.rows {
            (1..count).for_each(|instance| entry.copy_within(0..lanes, instance * lanes));
        }
        rest.chain_count = count * lanes;
        let pack = Pack { flesh: flesh.clone(), group, count, rest, state: GroupState::default(), pressed: Vec::new() };
        self.packs.truncate(at);
        self.packs.push(pack);
    }

    /// The branches of instances that are kin, whose groups begin with one; by their chains' groups, as one flesh has them.
    fn branches_of(&self, flesh: &Flesh, first: &[usize], begin: usize) -> Vec<Branch> {
        let mut stepped = HashMap::new();
        for (at, group) in self.groups[begin..].iter().enumerate() {
            for (part, place) in self.parts[group.parts.clone()].iter().enumerate() {
                stepped.insert(*place as usize, [at, part * group.whose.lanes]);
            }
        }
        let mut branches = Vec::with_capacity(first.len() * flesh.branches.len());
        for first in first {
            let there = |[group, lane]: [usize; 2]| {
                let [at, shift] = stepped[&(first + group)];
                [at, lane + shift]
            };
            branches.extend(flesh.branches.iter().map(|branch| Branch {
                chain: there(branch.chain),
                stem: there(branch.stem),
                ..*branch
            }));
        }
        branches.sort_by_key(|branch| branch.chain);
        branches
    }

    /// Copies what shares groups into them.
    pub fn gather(&mut self, threads: &Threads, instances: &Instances) {
        let Self { groups, parts, packs, .. } = self;
        let states: Vec<_> = instances
            .iter()
            .flat_map(|Instance { state, tally, .. }| {
                let pressed = tally.rows.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
                state.nodes.groups.iter().zip(pressed)
            })
            .collect();
        let mut packed: Vec<_> = groups.iter().filter(|group| group.is_packed).zip(packs).collect();
        threads.for_each(&mut packed, |(stepped, pack)| {
            for (part, &place) in parts[stepped.parts.clone()].iter().enumerate() {
                let (state, pressed) = states[place as usize];
                pack.take(state, pressed, [part * stepped.whose.lanes, stepped.whose.lanes]);
            }
        });
    }

    /// Copies what shares groups out of them.
    pub fn scatter(&self, threads: &Threads, instances: &mut Instances) {
        let Self { groups, parts, packs, .. } = self;
        let mut states: Vec<_> = instances
            .iter_mut()
            .flat_map(|Instance { state, tally, .. }| {
                let pressed = tally.rows.iter_mut().map(Some).chain(std::iter::repeat_with(|| None));
                state.nodes.groups.iter_mut().zip(pressed).map(Some)
            })
            .collect();
        let packed = groups.iter().filter(|group| group.is_packed).zip(packs);
        let mut packed: Vec<_> = packed
            .map(|(stepped, pack)| {
                let own = parts[stepped.parts.clone()].iter().filter_map(|&place| states[place as usize].take());
                (pack, stepped.whose.lanes, own.collect::<Vec<_>>())
            })
            .collect();
        threads.for_each(&mut packed, |(pack, lanes, own)| {
            for (part, (state, pressed)) in own.iter_mut().enumerate() {
                pack.give(state, pressed.as_deref_mut(), [part * *lanes, *lanes]);
            }
        });
    }

    /// All groups as they are stepped, and what of the schedule is done of them.
    pub fn members<'a, 'r>(
        &'a mut self,
        instances: &'a mut Instances,
        run: impl Fn(Active) -> &'r [Scheduled],
    ) -> Vec<Member<'a, 'r>> {
        let Self { groups, parts, packs, trees, .. } = self;
        let mut alone: Vec<_> =
            instances.iter_mut().flat_map(|instance| members_of(instance, &run)).map(Some).collect();
        let mut packs = packs.iter_mut();
        let stepped = groups.iter().filter_map(|stepped| {
            let mut of = alone[parts[stepped.parts.start] as usize].take()?;
            if stepped.is_packed {
                let Pack { rest, state, pressed, .. } = packs.next()?;
                let around = Around { forces: &[], ..of.around };
                let pressed = of.pressed.is_some().then_some(pressed);
                of = Member { rest, state, around, pressed, ..of };
            }
            let branches = stepped.tree.map_or(of.branches, |tree| &trees[tree]);
            Some(Member { branches, is_of_kin: stepped.is_of_kin, whose: stepped.whose, ..of })
        });
        stepped.collect()
    }
}

/// Whether a group's chains leave room for as many of another instance.
fn is_sparse(rest: &GroupRest<f32>) -> bool {
    (1..=LANES / 2).contains(&rest.chain_count)
}

/// All instances, those beside each other that are stepped together.
fn herds(instances: &Instances, solids: bool) -> Vec<Herd<'_>> {
    let able: Vec<Option<_>> = instances.iter().map(|instance| alike(instance).filter(|_| !solids)).collect();
    let mut counts = HashMap::new();
    able.iter().flatten().for_each(|alike| *counts.entry(alike).or_insert(0_usize) += 1);
    let (mut herds, mut open): (Vec<Herd<'_>>, HashMap<_, usize>) = (Vec::with_capacity(able.len()), HashMap::new());
    let mut place = 0;
    for (instance, alike) in instances.iter().zip(&able) {
        let flesh = &instance.flesh;
        let joins = alike.as_ref().and_then(|alike| {
            let herd = *open.get(alike)?;
            (herds[herd].first.len() < most_of(flesh, counts[alike])).then_some(herd)
        });
        match joins {
            Some(herd) => herds[herd].first.push(place),
            None => {
                if let Some(alike) = alike {
                    open.insert(alike, herds.len());
                }
                herds.push(Herd { flesh, first: vec![place] });
            }
        }
        place += flesh.groups.len();
    }
    herds
}

/// How many of so many instances of a flesh are stepped together.
fn most_of(flesh: &Flesh, count: usize) -> usize {
    let chains = flesh.groups.iter().filter(|rest| is_sparse(rest)).map(|rest| rest.chain_count).max();
    let most = chains.map_or(1, |chains| LANES / chains);
    let all_shared = flesh.groups.iter().all(is_sparse);
    if flesh.branches.is_empty() || all_shared { most } else { (count / THREADS).clamp(1, most) }
}

/// What instances have in common whose chains may share a group; `None` of those that are stepped by themselves.
fn alike(instance: &Instance) -> Option<(*const Flesh, usize)> {
    let Instance { flesh, state, collisions, forces, .. } = instance;
    let groups = &state.nodes.groups;
    let untouched = |group: &GroupState| group.slots.is_empty() && group.tangents.is_empty();
    let mut around = flesh.groups.iter().zip(Around::of_groups(flesh, &state.nodes.motion, forces, collisions));
    let mut bones = || around.any(|(_, around)| around.bones.is_some());
    let alone = forces.iter().all(Vec::is_empty) && groups.iter().all(untouched) && !bones();
    let shares = flesh.groups.iter().any(is_sparse) && instance.works().flesh && alone;
    shares.then(|| (Arc::as_ptr(flesh), groups[0].planes.len()))
}

impl Pack {
    /// Copies so many lanes of an instance in, from one on. Lanes that no chain is in are those of the first one's.
    fn take(&mut self, state: &GroupState, pressed: &[Pressed], [first, lanes]: [usize; 2]) {
        let own = &mut self.state;
        if first == 0 {
            own.clone_from(state);
            self.pressed.clear();
            self.pressed.extend_from_slice(pressed);
            return;
        }
        let lanes = [0..lanes, first..first + lanes];
        copy(&state.inputs, &mut own.inputs, &lanes);
        copy(&state.planes, &mut own.planes, &lanes);
        for (from, to) in stepped(state).into_iter().zip(stepped_mut(own)) {
            copy(from, to, &lanes);
        }
        copy(pressed.as_flattened(), self.pressed.as_flattened_mut(), &lanes);
    }

    /// Copies so many lanes of an instance out, from one on.
    fn give(&self, state: &mut GroupState, pressed: Option<&mut Vec<Pressed>>, [first, lanes]: [usize; 2]) {
        let lanes = [first..first + lanes, 0..lanes];
        state.meets.resize(self.state.meets.len(), [0.0; LANES]);
        copy(&self.state.meets, &mut state.meets, &lanes);
        for (from, to) in stepped(&self.state).into_iter().zip(stepped_mut(state)) {
            copy(from, to, &lanes);
        }
        if let Some(pressed) = pressed {
            pressed.resize(self.pressed.len(), [[0.0; LANES]; 4]);
            copy(self.pressed.as_flattened(), pressed.as_flattened_mut(), &lanes);
        }
    }
}

/// What a step changes of a group, and goes on from.
fn stepped(state: &GroupState) -> [&[Entry<f32>]; 4] {
    [&state.nodes, &state.chains, &state.contacts, &state.reactions]
}

/// See [`stepped`].
fn stepped_mut(state: &mut GroupState) -> [&mut [Entry<f32>]; 4] {
    [&mut state.nodes, &mut state.chains, &mut state.contacts, &mut state.reactions]
}

/// Copies some lanes of rows to others.
fn copy(from: &[Entry<f32>], to: &mut [Entry<f32>], [these, those]: &[Range<usize>; 2]) {
    debug_assert_eq!(these.len(), those.len());
    // Lane by lane: of so few, copying a slice would be a call for each entry.
    for (this, that) in these.clone().zip(those.clone()) {
        to.iter_mut().zip(from).for_each(|(to, from)| to[that] = from[this]);
    }
}
