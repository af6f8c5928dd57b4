//! How the CPU steps groups whose chains may meet others: stage by stage, and between these all show where they are, and pairs
//! find where they touch and how hard. See [`meetings`](super::meetings).

use fearless_simd::{Simd, SimdBase};

use super::LaneWidth;
use super::backend::{Runner, Scratch, group_of};
use super::find_pairs::{MeetingGroup, Meetings};
use super::grid::PairThreads;
use super::group::{Group, GroupRest};
use super::lanes::{Entry, Half, LANES, Lanes, OneF32, Wide, apart, with_instructions};
use super::meetings::{PairBlock, Side, find_meetings, press, show, show_gone};
use super::settle::{GOES_ON, WANTED, recount, restore, settle};
use super::solids::Around;
use crate::flesh::GroupState;
use crate::instances::{Instance, Instances};
use crate::layout::{contact, meet, shown, solved};
use crate::step::{Scheduled, Stage, StepParams};

/// A group that meets others, with its room.
struct Member<'a> {
    rest: &'a GroupRest<f32>,
    state: &'a mut GroupState,
    around: Around<'a>,
    meeting: MeetingGroup,
    room: &'a mut Room,
}

/// What a group that meets others works with.
#[derive(Default)]
pub(super) struct Room {
    scratch: Scratch,
    solved: Scratch,
    wanted: Scratch,
    /// Which side of which point each lane of a meet row is: twice the point, of two a pair, and the side.
    links: Vec<[u32; LANES]>,
}

/// Of a lane of a meet row in which nothing is met.
const NO_LINK: u32 = u32::MAX;

/// How many blocks of pairs a thread takes up at a time.
const BLOCKS: usize = 16;

/// What a group that meets others does between two waits.
#[derive(Clone, Copy)]
enum Turn<'a> {
    /// Stages.
    Stages(&'a [Scheduled]),
    /// Shows where it is.
    Show(&'a StepParams),
    /// Recounts what led it astray.
    Recount,
    /// Shows how far it has gone.
    ShowGone,
    /// Settles to what is wanted, and goes on by a share of the last pass's step.
    Settle(Option<f32>),
    /// Restores the momentum that this left out.
    Restore(&'a StepParams),
}

impl Runner<'_> {
    /// Runs stages of chains some of which may meet: those that do not, at once; the others stage by stage, and they show each
    /// other where they are between.
    pub(super) fn run_meeting(&self, run: &[Scheduled], instances: &mut Instances, meetings: &mut Meetings) {
        let params = &self.frame.params;
        let first = &params[run[0].slot as usize];
        if run[0].stage == Stage::MoveBones && first.first_substep != 0 {
            let [x, y, z] = first.gravity;
            let gravity = (x * x + y * y + z * z).sqrt();
            meetings.find(instances, &PairThreads(self.threads.clone()), first.frame, gravity);
        }
        self.run_members(run, instances, meetings);
        meetings.keep(instances);
    }

    fn run_members(&self, run: &[Scheduled], instances: &mut Instances, meetings: &mut Meetings) {
        let params = &self.frame.params;
        let Meetings { blocks, sides, groups, shown, rooms, .. } = meetings;
        rooms.resize_with(groups.iter().flatten().count().max(rooms.len()), Room::default);
        let all = instances.iter_mut().flat_map(|instance| {
            let Instance { flesh, active, state, forces, .. } = instance;
            let run = self.part_of(run, *active);
            let (motion, groups) = (&state.nodes.motion, &mut state.nodes.groups);
            let groups = flesh.groups.iter().zip(groups).zip(Around::of_groups(flesh, motion, forces));
            groups.map(move |group| (run, group))
        });
        let (mut free, mut members) = (Vec::new(), Vec::new());
        let mut rooms = rooms.iter_mut();
        for ((run, ((rest, state), around)), meeting) in all.zip(&*groups) {
            match (meeting, rooms.len()) {
                (Some(meeting), 1..) => {
                    let room = rooms.next().expect("there is one for each");
                    members.push(Member { rest, state, around, meeting: *meeting, room });
                }
                _ if !run.is_empty() => {
                    state.meets.clear();
                    free.push((run, ((rest, state), around)));
                }
                _ => {}
            }
        }
        self.threads.for_each(&mut free, Scratch::new, |scratch, (run, ((rest, state), around))| {
            self.run_chains(run, rest, state, *around, scratch);
        });
        if members.is_empty() {
            return;
        }
        // Up to where meetings are found, and on from there up to the solve.
        let mut done = 0;
        for (at, scheduled) in run.iter().enumerate() {
            let params = &params[scheduled.slot as usize];
            if scheduled.stage == Stage::SolveContacts {
                let (before, first) = (&run[done..=at], params.iteration == 0);
                self.for_members(&mut members, shown, |member, shown| {
                    self.take_turn(member, shown, Turn::Stages(before));
                    if first {
                        self.take_turn(member, shown, Turn::Show(params));
                    }
                });
                self.on_blocks(blocks, shown, Some(params));
                self.for_members(&mut members, shown, |member, _| make_rows(member, sides, blocks));
                done = at + 1;
            }
            if scheduled.stage == Stage::SolveRods {
                let solve = &run[done..=at];
                self.for_members(&mut members, shown, |member, shown| {
                    self.take_turn(member, shown, Turn::Stages(solve));
                    self.take_turn(member, shown, Turn::Recount);
                    self.take_turn(member, shown, Turn::ShowGone);
                });
                self.on_blocks(blocks, shown, None);
                for pass in 0..self.frame.passes {
                    let goes_on = (pass > 0 && pass + 1 < self.frame.passes).then_some(GOES_ON);
                    self.for_members(&mut members, shown, |member, shown| {
                        gather_wanted(member.room, blocks);
                        self.take_turn(member, shown, Turn::Settle(goes_on));
                        self.take_turn(member, shown, Turn::ShowGone);
                    });
                    self.on_blocks(blocks, shown, None);
                }
                // Of the substep's last solve.
                if self.frame.params.get(scheduled.slot as usize + 1).is_none_or(|next| next.iteration == 0) {
                    self.for_members(&mut members, shown, |member, shown| {
                        gather_wanted(member.room, blocks);
                        self.take_turn(member, shown, Turn::Restore(params));
                    });
                }
                done = at + 1;
            }
        }
        let rest = &run[done..];
        self.for_members(&mut members, shown, |member, shown| self.take_turn(member, shown, Turn::Stages(rest)));
    }

    /// Runs on every member, with what it shows.
    fn for_members(
        &self,
        members: &mut [Member<'_>],
        shown: &mut [Entry<f32>],
        run: impl Fn(&mut Member<'_>, &mut [Entry<f32>]) + Sync + Send,
    ) {
        let mut left = shown;
        let mut work: Vec<_> = members
            .iter_mut()
            .map(|member| {
                let (own, after) = std::mem::take(&mut left).split_at_mut(member.rest.node_count * shown::ENTRIES);
                left = after;
                (member, own)
            })
            .collect();
        self.threads.for_each(&mut work, || (), |(), (member, own)| run(member, own));
    }

    /// Finds where pairs meet in a substep of these parameters, or with what force they press.
    fn on_blocks(&self, blocks: &mut [PairBlock], shown: &[Entry<f32>], finds: Option<&StepParams>) {
        let mut chunks: Vec<_> = blocks.chunks_mut(BLOCKS).collect();
        let shown = shown.as_flattened();
        self.threads.for_each(
            &mut chunks,
            || (),
            |(), blocks| match self.frame.lane_width {
                width @ (LaneWidth::Eight | LaneWidth::EightBaseline) => {
                    with_instructions!(width.level(), simd => meet_wide(simd, blocks, shown, finds))
                }
                LaneWidth::One => (0..LANES).for_each(|lane| meet_in(OneF32(lane), blocks, shown, finds)),
            },
        );
    }

    fn take_turn(&self, member: &mut Member<'_>, shown: &mut [Entry<f32>], turn: Turn<'_>) {
        let Member { rest, state, around, room, .. } = member;
        let Room { scratch, solved, wanted, .. } = &mut **room;
        scratch.resize(rest.scratch_len().max(scratch.len()), [0.0; LANES]);
        if let Turn::Stages(run) = turn {
            return self.on_group(run, (rest, state, *around), (scratch, solved));
        }
        let mut group = group_of(rest, state, around.forces, scratch, solved);
        let start = self.clock.start();
        match self.frame.lane_width {
            width @ (LaneWidth::Eight | LaneWidth::EightBaseline) => {
                with_instructions!(width.level(), simd => in_turn_wide(simd, turn, &mut group, wanted, shown))
            }
            LaneWidth::One => (0..LANES).for_each(|lane| in_turn(OneF32(lane), turn, &mut group, wanted, shown)),
        }
        self.clock.stop(Stage::SolveContacts, start);
    }
}

#[inline(always)]
fn in_turn<L: Lanes<Scalar = f32>>(
    lanes: L,
    turn: Turn<'_>,
    group: &mut Group<f32>,
    wanted: &[Entry<f32>],
    shown: &mut [Entry<f32>],
) {
    match turn {
        Turn::Stages(_) => {}
        Turn::Show(params) => apart!(lanes, show(lanes, params, group, shown)),
        Turn::Recount => apart!(lanes, recount(lanes, group)),
        Turn::ShowGone => apart!(lanes, show_gone(lanes, group, shown)),
        Turn::Restore(params) => apart!(lanes, restore(lanes, params, group, wanted)),
        Turn::Settle(goes_on) => apart!(lanes, settle(lanes, group, wanted, goes_on)),
    }
}

#[inline(always)]
fn in_turn_wide<S: Simd>(
    simd: S,
    turn: Turn<'_>,
    group: &mut Group<f32>,
    wanted: &[Entry<f32>],
    shown: &mut [Entry<f32>],
) {
    if const { S::f32s::LEN < LANES } {
        in_turn(Half(simd, 0), turn, group, wanted, shown);
        in_turn(Half(simd, 4), turn, group, wanted, shown);
    } else {
        in_turn(Wide(simd), turn, group, wanted, shown);
    }
}

#[inline(always)]
fn meet_in<L: Lanes<Scalar = f32>>(lanes: L, blocks: &mut [PairBlock], shown: &[f32], finds: Option<&StepParams>) {
    for block in blocks {
        match finds {
            Some(params) => apart!(lanes, find_meetings(lanes, params, shown, block)),
            None => apart!(lanes, press(lanes, shown, block)),
        }
    }
}

#[inline(always)]
fn meet_wide<S: Simd>(simd: S, blocks: &mut [PairBlock], shown: &[f32], finds: Option<&StepParams>) {
    if const { S::f32s::LEN < LANES } {
        meet_in(Half(simd, 0), blocks, shown, finds);
        meet_in(Half(simd, 4), blocks, shown, finds);
    } else {
        meet_in(Wide(simd), blocks, shown, finds);
    }
}

/// A group's contact rows of what its chains meet in a substep, in the order of their segments.
fn make_rows(member: &mut Member<'_>, sides: &[Side], blocks: &[PairBlock]) {
    let Member { rest, state, meeting, room, .. } = member;
    let Room { solved, wanted, links, .. } = &mut **room;
    let rows = &mut state.meets;
    rows.clear();
    links.clear();
    let mut next = meeting.sides;
    for segment in 0..rest.node_count as u32 {
        let begin = links.len();
        for lane in 0..LANES {
            let mut slot = begin;
            while next[lane] < meeting.sides[lane + 1]
                && let side = &sides[next[lane] as usize]
                && side.segment == segment
            {
                next[lane] += 1;
                for point in 0..2 {
                    let (row, from) = side.of(blocks, point);
                    if row[meet::STIFFNESS][from] == 0.0 {
                        continue;
                    }
                    if slot == links.len() {
                        links.push([NO_LINK; LANES]);
                        rows.resize(links.len() * contact::ENTRIES, [0.0; LANES]);
                        rows[slot * contact::ENTRIES + contact::SEGMENT] = [segment as f32; LANES];
                    }
                    side.write_row(blocks, point, &mut rows[slot * contact::ENTRIES..][..contact::ENTRIES], lane);
                    links[slot][lane] = (side.pair * 2 + point as u32) * 2 + side.side;
                    slot += 1;
                }
            }
        }
    }
    let slots = if rows.is_empty() { 0 } else { state.contacts.len() / contact::ENTRIES + links.len() };
    solved.resize(slots * solved::ENTRIES, [0.0; LANES]);
    // In lanes without a link nothing is wanted.
    wanted.clear();
    wanted.resize(links.len() * WANTED, [0.0; LANES]);
}

/// With what pairs press each lane of a group's meet rows.
fn gather_wanted(room: &mut Room, blocks: &[PairBlock]) {
    for (link, wanted) in room.links.iter().zip(room.wanted.chunks_exact_mut(WANTED)) {
        for (lane, &link) in link.iter().enumerate().filter(|(_, link)| **link != NO_LINK) {
            let (point, side) = (link as usize / 2, link % 2);
            let (pair, point) = (point / 2, point % 2);
            let (row, from) = (&blocks[pair / LANES].points[point], pair % LANES);
            let sign = if side == 0 { 1.0 } else { -1.0 };
            wanted[0][lane] = row[meet::FORCE][from];
            for k in 0..3 {
                wanted[1 + k][lane] = sign * row[meet::PULL + k][from];
                wanted[4 + k][lane] = sign * row[meet::COUPLE + k][from];
            }
        }
    }
}
