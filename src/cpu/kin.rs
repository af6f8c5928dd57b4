//! Groups as the CPU steps them: each alone, or all of instances whose chains hang on each other ([`trees`](super::trees)).

use super::backend::Runner;
use super::descent::Of;
use super::group::{Group, GroupRest};
use super::lanes::{Entry, LANES};
use super::packs::Whose;
use super::solids::Around;
use super::trees::{Forest, Kept, NOTHING_KEPT};
use crate::flesh::{Branch, GroupState};
use crate::instances::{Active, Instance, Pressed};
use crate::step::{Scheduled, StepParams};

/// A group that is stepped.
pub(super) struct Member<'a, 'r> {
    /// What of the schedule is done.
    pub run: &'r [Scheduled],
    /// Which chains of those that are stepped together hang on others.
    pub branches: &'a [Branch],
    /// Whether it is stepped with the one before.
    pub is_of_kin: bool,
    /// Of which instances its chains are.
    pub whose: Whose,
    pub rest: &'a GroupRest<f32>,
    pub state: &'a mut GroupState,
    pub around: Around<'a>,
    /// With what impulse its contact rows press in the frame, where that is asked for.
    pub pressed: Option<&'a mut Vec<Pressed>>,
}

/// What a group is stepped with, kept from group to group or from step to step.
#[derive(Default)]
pub(super) struct Room {
    pub scratch: Vec<Entry<f32>>,
    pub solved: Vec<Entry<f32>>,
    /// With what pairs press each lane of a meet row.
    pub wanted: Vec<Entry<f32>>,
    /// Which side of which point each lane of a meet row is: twice the point, of two a pair, and the side.
    pub links: Vec<[u32; LANES]>,
    /// Flags of the lanes that settle in a pass.
    pub settles: Entry<f32>,
}

/// The groups of an instance, each by itself, and what of the schedule is done of them.
pub(super) fn members_of<'a, 'r>(
    instance: &'a mut Instance,
    run: impl Fn(Active) -> &'r [Scheduled],
) -> impl Iterator<Item = Member<'a, 'r>> {
    let run = run(instance.works());
    let Instance { flesh, collisions, state, tally, forces, .. } = instance;
    let branches = flesh.branches.as_slice();
    let (motion, groups) = (&state.nodes.motion, &mut state.nodes.groups);
    let around = Around::of_groups(flesh, motion, forces, collisions);
    let pressed = tally.rows.iter_mut().map(Some).chain(std::iter::repeat_with(|| None));
    let groups = flesh.groups.iter().zip(groups).zip(around).zip(pressed);
    groups.map(move |(((rest, state), around), pressed)| Member {
        run,
        branches,
        is_of_kin: false,
        whose: Whose::ONE,
        rest,
        state,
        around,
        pressed,
    })
}

impl Member<'_, '_> {
    /// With which others of its kin a lane's chain settles: of an instance in which any hang on each other all do so
    /// together.
    pub fn settles_with(&self, lane: usize) -> usize {
        if self.branches.is_empty() { lane } else { self.whose.of(lane) }
    }

    /// It with its room.
    pub fn group<'g>(&'g mut self, scratch: &'g mut Vec<Entry<f32>>, solved: &'g mut [Entry<f32>]) -> Group<'g, f32> {
        scratch.resize(self.rest.scratch_len().max(scratch.len()), [0.0; LANES]);
        let GroupState { nodes, inputs, planes, tangents, chains, contacts, meets, reactions, .. } = &mut *self.state;
        let (rest, forces) = (self.rest, self.around.forces);
        Group { rest, nodes, inputs, forces, planes, tangents, chains, contacts, meets, solved, reactions, scratch }
    }
}

impl Runner<'_> {
    /// Runs stages on groups that meet nobody.
    pub(super) fn run_free(&self, members: &mut [Member<'_, '_>]) {
        let mut kin: Vec<_> = members.chunk_by_mut(|_, next| next.is_of_kin).collect();
        self.threads.for_each_init(&mut kin, Vec::new, |rooms: &mut Vec<Room>, members| {
            rooms.resize_with(members.len().max(rooms.len()), Room::default);
            self.run_kin(members[0].run, members, rooms);
        });
    }

    /// Runs stages on groups that are stepped together.
    pub(super) fn run_kin(&self, run: &[Scheduled], members: &mut [Member<'_, '_>], rooms: &mut [Room]) {
        if let [member] = members {
            return self.on_member(run, member, &mut rooms[0]);
        }
        for part in run.chunk_by(|one, next| Forest::is_for(one.stage) == Forest::is_for(next.stage)) {
            if !Forest::is_for(part[0].stage) {
                members.iter_mut().zip(&mut *rooms).for_each(|(member, room)| self.on_member(part, member, room));
                continue;
            }
            for scheduled in part {
                let (stage, params) = (scheduled.stage, &self.frame.params[scheduled.slot as usize]);
                self.clock.timed(stage, || self.as_forest(members, rooms, params, |forest, _| forest.run(stage)));
            }
        }
    }

    /// Does something to groups as a whole, with what pairs press each with.
    pub(super) fn as_forest(
        &self,
        members: &mut [Member<'_, '_>],
        rooms: &mut [Room],
        params: &StepParams,
        run: impl FnOnce(&mut Forest<'_, '_>, &[&[Entry<f32>]]),
    ) {
        let branches = members[0].branches;
        let (mut groups, mut wanted) = (Vec::with_capacity(members.len()), Vec::with_capacity(members.len()));
        let mut kept: Vec<Kept> = vec![NOTHING_KEPT; members.len()];
        for ((member, room), kept) in members.iter_mut().zip(rooms).zip(&mut kept) {
            let Room { scratch, solved, wanted: own, settles, .. } = room;
            groups.push(member.group(scratch, solved));
            wanted.push(own.as_slice());
            kept[Of::stepping as usize] = *settles;
        }
        run(&mut Forest::new(self.frame.lane_width, params, branches, &mut groups, &mut kept), &wanted);
    }

    fn on_member(&self, run: &[Scheduled], member: &mut Member<'_, '_>, room: &mut Room) {
        let Room { scratch, solved, .. } = room;
        scratch.resize(member.rest.scratch_len().max(scratch.len()), [0.0; LANES]);
        self.on_group(run, member, (scratch, solved));
    }
}
