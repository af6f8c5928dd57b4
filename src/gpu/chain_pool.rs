//! Chains on the GPU: whose rows lie where, and what the host writes of them.

use std::ops::Range;
use std::sync::Arc;

use glam::DVec3;

use super::GpuError;
use super::arrays::{
    CHAIN_ROWS, CONTACT_ROWS, FORCE_ROWS, GROUPS, INPUT_ROWS, NODE_ROWS, PLANE_ROWS, REACTION_ROWS, REST_OVERLAPS,
    REST_ROWS, SCRATCH_ROWS,
};
use super::pill_rows::PillRows;
use super::residents::Upload;
use super::rows::{Rows, SharedRows, count};
use super::solid_pool::SolidPool;
use crate::backend::HostFrame;
use crate::cpu::group::GroupRest;
use crate::cpu::lanes::Entry;
use crate::flesh::{Flesh, FleshState, GroupState};
use crate::instances::{Active, InstanceState, Pushes, SegmentName};
use crate::layout::{
    GROUPS_TOGETHER, Group, LANES, NO_RULE, OWN_CHAINS, TOUCHES, WITHIN_CHAINS, chain, contact, force, input, plane,
    touch,
};
use crate::step::FrameReport;
use crate::{Coefficient, CollisionGroups, Collisions, HalfSpace};

/// Where an instance's chains lie.
pub(super) struct ChainRows {
    /// Which instance's they are.
    instance: u32,
    pub nodes: Range<u64>,
    pub groups: Range<u64>,
    pub contacts: Range<u64>,
    /// What solids are to them, see [`touch`](crate::layout::touch): none before there are any.
    pub touches: Range<u64>,
    /// What of solids they touch in the frame.
    pub touching: Touching,
    /// Pills of their own bones.
    pub pills: Option<PillRows>,
    pub reactions: Range<u64>,
    scratch: Range<u64>,
    rest: Range<u64>,
    /// Its flesh's pairs of segments that overlap at rest; `None` until chains may first meet.
    overlaps: Option<Range<u64>>,
    /// In which recording the host told its state last.
    told_in: u64,
    /// What it touches.
    collisions: Collisions,
    pub flesh: Arc<Flesh>,
    /// What the host knows of the newest step recorded: bones and input rows; the rest is empty.
    pub front: FleshState,
    /// Activations after it, one for each chain.
    pub activations: Vec<f32>,
    /// What its input rows were written of last.
    given: Option<Given>,
    /// Of which step the state is that came back last and whose origins it follows.
    followed: u64,
    /// Whether they are other ones than the frame before's.
    rewritten: bool,
    /// Whether they say that it is stirred.
    stirred: bool,
}

/// All that an instance's input rows hang on beside bones, activations, pushes and half-spaces.
#[derive(Clone, Copy, PartialEq)]
struct Given {
    active: Active,
    collisions: Collisions,
    acceleration: DVec3,
    time: FrameReport,
    jump: f64,
    /// Whether the others were as in the frame before.
    stands: bool,
}

/// What of solids an instance's chains touch in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Touching {
    /// Those around.
    pub solids: bool,
    /// Pills of their own bones.
    pub pills: bool,
}

impl Touching {
    /// Whether there is anything.
    pub fn any(self) -> bool {
        self.solids || self.pills
    }
}

/// The chains of all instances.
#[derive(Default)]
pub(super) struct ChainPool {
    /// Groups that are stepped in the frame, of chains that neither hang on others nor bear them.
    pub lone: Vec<u32>,
    /// The others that are: those whose chains hang on each other in one workgroup, `None` in the places that they leave.
    pub trees: Vec<Option<u32>>,
    /// How many levels these have.
    pub level_count: u32,
    /// Groups that only go with their bones.
    pub carried: Vec<u32>,
    groups: Rows,
    nodes: Rows,
    contacts: Rows,
    reactions: Rows,
    scratch: Rows,
    rest: Rows,
    fleshes: SharedRows<Flesh, Range<u64>>,
    overlaps: Rows,
    overlapping: SharedRows<Flesh, Range<u64>>,
    /// The input rows and plane rows of the last frame: those of flesh that is given nothing else stay.
    inputs: Vec<Entry<f32>>,
    planes: Vec<Entry<f32>>,
    /// The half-spaces of which the latter are.
    half_spaces: Vec<HalfSpace>,
    forces: Vec<Entry<f32>>,
}

impl ChainPool {
    /// Takes in an instance's chains, of the slot of that number.
    pub fn settle(
        &mut self,
        upload: &mut Upload<'_>,
        instance: u32,
        (flesh, state): (&Arc<Flesh>, &InstanceState),
    ) -> Result<ChainRows, GpuError> {
        let nodes = flesh.groups.iter().map(|group| group.node_count as u64).sum();
        let reactions: u64 = flesh.groups.iter().map(|group| group.reaction_count as u64).sum();
        let trees = flesh.families.iter().map(|family| family.len() as u64).sum::<u64>();
        let rest = match self.fleshes.join(flesh) {
            Some(rows) => rows.clone(),
            None => {
                let of_group = |(group, tree): (&GroupRest<f32>, _)| [group.rows.clone(), tree].concat();
                let rows: Vec<Entry<f32>> = flesh.groups.iter().zip(flesh.tree_rows()).flat_map(of_group).collect();
                let rest = self.rest.take(nodes + trees);
                self.fleshes.add(flesh, rest.clone());
                upload.rows(REST_ROWS, rest.start, &rows)?;
                rest
            }
        };
        let rows = ChainRows {
            instance,
            nodes: self.nodes.take(nodes),
            groups: self.groups.take(flesh.groups.len() as u64),
            contacts: 0..0,
            touches: 0..0,
            touching: Touching::default(),
            pills: None,
            reactions: self.reactions.take(reactions),
            scratch: self.scratch.take(nodes + reactions + trees),
            rest,
            overlaps: None,
            told_in: 0,
            collisions: Collisions::default(),
            flesh: flesh.clone(),
            front: state.nodes.without_rows(),
            activations: state.activations.clone(),
            given: None,
            followed: u64::MAX,
            rewritten: true,
            stirred: false,
        };
        upload.reserve(SCRATCH_ROWS, self.scratch.end())?;
        self.write_groups(upload, &rows)?;
        Ok(rows)
    }

    /// Lets an instance's chains go.
    pub fn leave(&mut self, upload: &mut Upload<'_>, rows: ChainRows, solids: &mut SolidPool) -> Result<(), GpuError> {
        let groups = vec![Group::default(); count(&rows.groups)];
        upload.rows(GROUPS, rows.groups.start, &groups)?;
        self.nodes.give_back(rows.nodes);
        self.groups.give_back(rows.groups);
        self.contacts.give_back(rows.contacts);
        self.contacts.give_back(rows.touches);
        if let Some(pills) = rows.pills {
            pills.leave(solids.for_pills(), &rows.flesh);
        }
        self.reactions.give_back(rows.reactions);
        self.scratch.give_back(rows.scratch);
        if let Some(rest) = self.fleshes.leave(&rows.flesh) {
            self.rest.give_back(rest);
        }
        if rows.overlaps.is_some()
            && let Some(overlaps) = self.overlapping.leave(&rows.flesh)
        {
            self.overlaps.give_back(overlaps);
        }
        Ok(())
    }

    /// How many places groups have that are stepped.
    pub fn stepped(&self) -> usize {
        self.lone.len() + self.trees.len()
    }

    /// How many places there are for groups.
    pub fn group_rows(&self) -> u64 {
        self.groups.end()
    }

    /// How many rows of nodes, contacts and scratch there are room for: what follows is for chains that meet.
    pub fn node_rows(&self) -> u64 {
        self.nodes.end()
    }

    /// See [`Self::node_rows`].
    pub fn contact_rows(&self) -> u64 {
        self.contacts.end()
    }

    /// See [`Self::node_rows`].
    pub fn scratch_rows(&self) -> u64 {
        self.scratch.end()
    }

    /// Says which segments of an instance overlap at rest, where that is not known yet.
    pub fn find_overlaps(&mut self, upload: &mut Upload<'_>, rows: &mut ChainRows) -> Result<(), GpuError> {
        if rows.overlaps.is_some() {
            return Ok(());
        }
        let flesh = rows.flesh.clone();
        let overlaps = match self.overlapping.join(&flesh) {
            Some(overlaps) => overlaps.clone(),
            None => {
                let place = |name| place_in(&flesh, name);
                let pairs: Vec<[u32; 2]> = flesh.overlaps().iter().map(|pair| pair.map(place)).collect();
                let overlaps = self.overlaps.take(pairs.len() as u64);
                self.overlapping.add(&flesh, overlaps.clone());
                upload.rows(REST_OVERLAPS, overlaps.start, &pairs)?;
                overlaps
            }
        };
        rows.overlaps = Some(overlaps);
        self.write_groups(upload, rows)
    }

    /// Notes that the host has told an instance's state in a recording: what it touched before is forgotten.
    pub fn told(&self, upload: &mut Upload<'_>, rows: &mut ChainRows, recording: u64) -> Result<(), GpuError> {
        rows.told_in = recording;
        self.write_groups(upload, rows)
    }

    /// Says what an instance's chains touch, where that has changed.
    pub fn follow_collisions(
        &mut self,
        upload: &mut Upload<'_>,
        rows: &mut ChainRows,
        collisions: &Collisions,
    ) -> Result<(), GpuError> {
        if rows.collisions == *collisions {
            return Ok(());
        }
        rows.collisions = *collisions;
        self.write_groups(upload, rows)
    }

    /// Makes room for what an instance's chains may touch of so many half-spaces. With another count of them it is forgotten
    /// how hard they pressed.
    pub fn make_room_for_contacts(
        &mut self,
        upload: &mut Upload<'_>,
        rows: &mut ChainRows,
        planes: usize,
    ) -> Result<(), GpuError> {
        let contacts = count(&rows.nodes) * planes;
        if count(&rows.contacts) == contacts {
            return Ok(());
        }
        self.contacts.give_back(std::mem::take(&mut rows.contacts));
        rows.contacts = self.contacts.take(contacts as u64);
        upload.rows(CONTACT_ROWS, rows.contacts.start, &vec![[0.0; LANES as usize]; contacts * contact::ENTRIES])?;
        self.write_groups(upload, rows)
    }

    /// Has an instance's chains touch solids, and pills of its own bones, or not.
    pub fn follow_touching(
        &mut self,
        upload: &mut Upload<'_>,
        rows: &mut ChainRows,
        solids: &mut SolidPool,
        (touching, substeps): (Touching, usize),
    ) -> Result<(), GpuError> {
        let mut changed = rows.touching != touching;
        if touching.any() && rows.touches.is_empty() {
            rows.touches = self.contacts.take(rows.flesh.groups.iter().map(touch_rows_of).sum());
        }
        if touching.any() && !rows.touching.any() {
            // Nothing is known of what pressed when there was anything.
            let none = vec![[0.0; LANES as usize]; count(&rows.touches) * contact::ENTRIES];
            upload.rows(CONTACT_ROWS, rows.touches.start, &none)?;
        }
        if touching.pills {
            if rows.pills.is_none() {
                rows.pills = Some(PillRows::settle(upload, solids.for_pills(), &rows.flesh)?);
            }
            if let Some(pills) = &mut rows.pills {
                changed |= pills.make_room(solids.for_pills().0, &rows.flesh, substeps);
            }
        }
        rows.touching = touching;
        if changed { self.write_groups(upload, rows) } else { Ok(()) }
    }

    fn write_groups(&self, upload: &mut Upload<'_>, rows: &ChainRows) -> Result<(), GpuError> {
        let planes = rows.planes();
        let (mut offset, mut reactions, mut trees, mut touches) = (0, 0, 0, 0);
        let overlaps = rows.overlaps.clone().unwrap_or(0..0);
        let Collisions { own_chains, within_chains, groups: to_solids, friction, restitution, .. } = rows.collisions;
        let value = |own: Option<Coefficient>| own.map_or(0, |own| own.value.to_bits());
        let rule = |own: Option<Coefficient>| own.map_or(NO_RULE, |own| own.rule as u32);
        let to_solids = if rows.touching.solids { to_solids } else { CollisionGroups::NONE };
        let touch_count = if rows.touching.any() { TOUCHES } else { 0 };
        let pills = rows.pills.as_ref().filter(|_| rows.touching.pills);
        let mut pills = pills.map(|pills| pills.of_groups(&rows.flesh)).into_iter().flatten();
        let among_others = rows.collisions.among_others();
        let group = |rest: &GroupRest<f32>| {
            let pills = pills.next().unwrap_or_default();
            let group = Group {
                node_base: rows.nodes.start as u32 + offset,
                rest_base: rows.rest.start as u32 + offset + trees,
                node_count: rest.node_count as u32,
                contact_base: rows.contacts.start as u32 + offset * planes,
                reaction_base: rows.reactions.start as u32 + reactions,
                scratch_base: rows.scratch.start as u32 + offset + reactions + trees,
                segment_base: rows.nodes.start as u32 * LANES,
                overlap_base: overlaps.start as u32,
                overlap_count: count(&overlaps) as u32,
                told_in: rows.told_in as u32,
                own: if own_chains { OWN_CHAINS } else { 0 } | if within_chains { WITHIN_CHAINS } else { 0 },
                memberships: among_others.memberships,
                touches: among_others.filter,
                touch_base: rows.touches.start as u32 + touches,
                touch_count,
                to_solids: to_solids.memberships,
                touched_solids: to_solids.filter,
                rubs: value(friction),
                rubs_by: rule(friction),
                bounces: value(restitution),
                bounces_by: rule(restitution),
                pill_base: pills.base,
                pill_count: pills.count,
                pill_rest_base: pills.rest_base,
                pill_motion_base: pills.motion_base,
                instance: rows.instance,
            };
            touches += touch_rows_of(rest) as u32;
            offset += rest.node_count as u32;
            reactions += rest.reaction_count as u32;
            trees += u32::from(rest.is_in_tree());
            group
        };
        let groups: Vec<Group> = rows.flesh.groups.iter().map(group).collect();
        upload.rows(GROUPS, rows.groups.start, &groups)
    }

    /// Begins a frame's inputs of all chains: what is at work is none, rows are as they were. Whether half-spaces are, too.
    pub fn begin_inputs(&mut self, half_spaces: &[HalfSpace]) -> bool {
        let groups = self.groups.end() as usize;
        let stand = self.half_spaces == half_spaces;
        if !stand {
            self.half_spaces = half_spaces.to_vec();
        }
        self.inputs.resize(groups * input::ENTRIES, [0.0; _]);
        self.planes.resize(groups * half_spaces.len() * plane::ENTRIES, [0.0; _]);
        self.forces.clear();
        self.lone.clear();
        self.trees.clear();
        self.level_count = 0;
        self.carried.clear();
        stand
    }

    /// Takes an instance's inputs in, which are gathered.
    pub fn put_inputs(
        &mut self,
        (rows, active): (&mut ChainRows, Active),
        (pushes, stirred): (&Pushes, bool),
        frame: &HostFrame<'_>,
    ) {
        let rewritten = rows.rewritten || rows.stirred != stirred;
        rows.stirred = stirred;
        let ChainRows { front, flesh, groups, .. } = rows;
        match active {
            Active::PAUSED => return,
            Active { flesh: false, .. } => self.carried.extend(groups.start as u32..groups.end as u32),
            Active { flesh: true, .. } => {
                self.work(flesh, groups.start as u32);
            }
        }
        for (group, forces) in front.groups.iter_mut().zip(pushes.rows(flesh)).filter(|(_, forces)| !forces.is_empty())
        {
            group.inputs[input::FORCES] = [(self.forces.len() / force::ENTRIES) as f32; LANES as usize];
            self.forces.extend(forces);
        }
        if !rewritten {
            return;
        }
        let planes = frame.planes.len() * plane::ENTRIES;
        for (group, index) in front.groups.iter_mut().zip(groups.start as usize..) {
            group.inputs[input::STIRRED] = [f32::from(stirred); LANES as usize];
            self.inputs[index * input::ENTRIES..][..input::ENTRIES].copy_from_slice(&group.inputs);
            self.planes[index * planes..][..planes].copy_from_slice(&group.planes);
        }
    }

    /// Has the groups of flesh stepped in the frame, of which the first is `base`.
    fn work(&mut self, flesh: &Flesh, base: u32) {
        let is_lone = |group: &usize| !flesh.families.iter().any(|family| family.contains(group));
        self.lone.extend((0..flesh.groups.len()).filter(is_lone).map(|group| base + group as u32));
        for family in &flesh.families {
            let left = GROUPS_TOGETHER - self.trees.len() % GROUPS_TOGETHER;
            if left < family.len() {
                self.trees.resize(self.trees.len() + left, None);
            }
            self.trees.extend(family.clone().map(|group| Some(base + group as u32)));
        }
        if !flesh.families.is_empty() {
            self.level_count = self.level_count.max(flesh.level_count());
        }
    }

    /// Sends a frame's inputs of all chains.
    pub fn send_inputs(&mut self, upload: &mut Upload<'_>) -> Result<(), GpuError> {
        let lone = self.lone.iter().copied().map(Some);
        let working: Vec<Option<u32>> =
            lone.chain(self.trees.iter().copied()).chain(self.carried.iter().copied().map(Some)).collect();
        let rows = self.inputs.len().max(working.len() * input::ENTRIES);
        self.inputs.resize(rows, [0.0; _]);
        for (row, group) in self.inputs.chunks_exact_mut(input::ENTRIES).zip(working) {
            row[input::WORKS] = [group.map_or(-1.0, |group| group as f32); LANES as usize];
        }
        upload.rows(INPUT_ROWS, 0, &self.inputs)?;
        upload.rows(FORCE_ROWS, 0, &self.forces)?;
        upload.rows(PLANE_ROWS, 0, &self.planes)
    }
}

impl ChainRows {
    /// Stage `gather_inputs`, of one instance, given whether half-spaces stand; whether anything moves it. Where all is as in the frame
    /// before, its rows are.
    pub fn gather_inputs(
        &mut self,
        (active, collisions): (Active, &Collisions),
        (state, step, pushes): (&mut InstanceState, u64, &Pushes),
        (frame, half_spaces_stand): (&HostFrame<'_>, bool),
    ) -> bool {
        let Self { front, activations, flesh, given, followed, rewritten, .. } = self;
        let stirred = !pushes.is_empty() || !state.goes_on(&front.motion, activations);
        let InstanceState { nodes, bones, root, excitations, acceleration, health, .. } = state;
        let moved = std::mem::replace(followed, step) != step && front.follow(flesh, nodes);
        let stands = !moved
            && half_spaces_stand
            && pushes.is_empty()
            && settled(flesh, activations, excitations, frame.time.asked)
            && front.motion.stands(bones, root, &frame.time);
        let HostFrame { time, jump, .. } = *frame;
        let now = Given { active, collisions: *collisions, acceleration: *acceleration, time, jump, stands };
        let before = given.replace(now);
        *rewritten = !stands || before != Some(now);
        if *rewritten {
            let told = (bones.as_slice(), &*root, excitations.as_slice());
            let pushed = (*acceleration, pushes);
            frame.gather_inputs((flesh, active, collisions), (front, activations), told, pushed, health);
        }
        stirred
    }

    /// The place of a segment among those of all instances.
    pub fn place_of(&self, name: SegmentName) -> Option<u32> {
        let base = self.nodes.start as u32 * LANES;
        let place = place_in(&self.flesh, name);
        (u64::from(base + place) < self.nodes.end * u64::from(LANES)).then_some(base + place)
    }

    /// For how many half-spaces there is room.
    pub fn planes(&self) -> u32 {
        (count(&self.contacts) / count(&self.nodes).max(1)) as u32
    }

    /// Sends a state that the host has changed.
    pub fn take_state(&mut self, upload: &mut Upload<'_>, state: &FleshState, tag: u64) -> Result<(), GpuError> {
        let rows = |of: fn(&GroupState) -> &Vec<Entry<f32>>| -> Vec<Entry<f32>> {
            state.groups.iter().flat_map(of).copied().collect()
        };
        upload.rows(NODE_ROWS, self.nodes.start, &rows(|group| &group.nodes))?;
        let mut chains = rows(|group| &group.chains);
        // What the host sends is awake, whatever was read back of it.
        chains.chunks_exact_mut(chain::ENTRIES).for_each(|row| row[chain::SLEEPS] = [0.0; LANES as usize]);
        upload.rows(CHAIN_ROWS, self.groups.start, &chains)?;
        upload.rows(REACTION_ROWS, self.reactions.start, &rows(|group| &group.reactions))?;
        let contacts: Vec<_> = state.groups.iter().flat_map(GroupState::of_planes).collect();
        let entries = count(&self.contacts) * contact::ENTRIES;
        // Of another count of half-spaces, nothing is known of how hard they press.
        let contacts = if contacts.len() == entries { contacts } else { vec![[0.0; LANES as usize]; entries] };
        upload.rows(CONTACT_ROWS, self.contacts.start, &contacts)?;
        if !self.touches.is_empty() {
            let touches: Vec<_> = self
                .flesh
                .groups
                .iter()
                .zip(&state.groups)
                .flat_map(|(rest, group)| remembered(rest, group, tag))
                .collect();
            upload.rows(CONTACT_ROWS, self.touches.start, &touches)?;
        }
        self.front = state.without_rows();
        (self.given, self.followed) = (None, u64::MAX);
        Ok(())
    }
}

/// Whether activations stay as they are in a frame that takes so long (s).
fn settled(flesh: &Flesh, activations: &[f32], excitations: &[f32], time: f64) -> bool {
    let mut chains = flesh.chains().iter().zip(activations.iter().zip(excitations));
    chains.all(|(chain, (&now, &excitation))| chain.activation_after(time, now, excitation) == now)
}

/// How many contact rows say what solids are to a group.
fn touch_rows_of(rest: &GroupRest<f32>) -> u64 {
    1 + rest.node_count as u64 * 2 * u64::from(TOUCHES)
}

/// These rows, with what a group remembers of solids, as of the recording before one.
fn remembered(rest: &GroupRest<f32>, state: &GroupState, tag: u64) -> Vec<Entry<f32>> {
    let mut rows = vec![[0.0; LANES as usize]; touch_rows_of(rest) as usize * contact::ENTRIES];
    rows[touch::RECORDING] = [(tag.wrapping_sub(1) & 0xffff) as f32; LANES as usize];
    rows[touch::NEAR] = [if state.of_solids() > 0 { 1.0 } else { 0.0 }; LANES as usize];
    let row_of = |index: usize, place: usize| (1 + index * 2 * TOUCHES as usize + place) * contact::ENTRIES;
    for index in 0..rest.node_count {
        for place in 0..TOUCHES as usize {
            for at in touch::SOLID..touch::SOLID + 3 {
                rows[row_of(index, TOUCHES as usize + place) + at] = [-1.0; LANES as usize];
            }
        }
    }
    let mut taken = vec![[0; LANES as usize]; rest.node_count];
    state.pressing_solids(|[segment, lane], of_solid, row| {
        let place = taken[segment][lane];
        if place == TOUCHES as usize {
            return;
        }
        taken[segment][lane] += 1;
        rows[0][lane] += 1.0;
        let [own, tangent] = [place, place + TOUCHES as usize].map(|place| row_of(segment, place));
        for (k, value) in of_solid.into_iter().enumerate() {
            rows[tangent + touch::SOLID + k][lane] = value;
        }
        for entry in 0..contact::ENTRIES {
            rows[own + entry][lane] = row[entry][lane];
        }
    });
    rows
}

/// The place of a segment among those of its instance: one for each lane and node of each group.
fn place_in(flesh: &Flesh, [group, lane, index]: SegmentName) -> u32 {
    let before = flesh.groups.iter().take(usize::from(group)).map(|group| group.node_count as u32 * LANES).sum::<u32>();
    let count = flesh.groups.get(usize::from(group)).map_or(0, |group| group.node_count as u32);
    before + u32::from(lane) * count + u32::from(index)
}
