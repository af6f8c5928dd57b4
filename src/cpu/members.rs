//! How the CPU steps groups whose chains may meet others: stage by stage, and between these all show where they are, and pairs
//! find where they touch and how hard. See [`meetings`](super::meetings).

use fearless_simd::{Simd, SimdBase};

use super::LaneWidth;
use super::backend::Runner;
use super::find_meetings::find_meetings;
use super::find_pairs::Meetings;
use super::grid::PairThreads;
use super::group::Group;
use super::kin::{Member, Room};
use super::lanes::{Entry, Half, LANES, Lanes, OneF32, Wide, apart, with_instructions};
use super::left_out::restore;
use super::meetings::{PairBlock, Side, show, show_gone};
use super::press::press;
use super::settle::{GOES_ON, WANTED, settle, unsettled};
use super::sort_sides::MeetingGroup;
use super::tally::add_meetings;
use crate::instances::Instances;
use crate::layout::{contact, meet, shown, solved};
use crate::step::{Scheduled, Stage, StepParams};

/// Of a lane of a meet row in which nothing is met.
const NO_LINK: u32 = u32::MAX;

/// How many blocks of pairs a thread takes up at a time.
const BLOCKS: usize = 32;

/// Groups that are stepped together and meet others.
struct Kin<'k, 'a, 'r> {
    members: &'k mut [Member<'a, 'r>],
    rooms: &'k mut [Room],
    meeting: &'k [MeetingGroup],
    /// Which nodes of what is shown are theirs.
    shown: std::ops::Range<usize>,
    /// Which of them settle in a pass, see [`Member::settles_with`].
    settles: Vec<bool>,
    /// Whether any did in the last one.
    settled: bool,
}

impl Kin<'_, '_, '_> {
    /// Makes their contact rows of what they meet. Where any does, passes go on from rows of all of them.
    fn make_rows(&mut self, sides: &[Side], blocks: &[PairBlock]) {
        for ((member, room), met) in self.members.iter_mut().zip(&mut *self.rooms).zip(self.meeting) {
            make_rows((member, room, met), sides, blocks);
        }
        let meet = self.rooms.iter().any(|room| !room.links.is_empty());
        for (member, room) in self.members.iter().zip(&mut *self.rooms) {
            let slots = member.state.contacts.len() / contact::ENTRIES + room.links.len();
            room.solved.resize(if meet { slots * solved::ENTRIES } else { 0 }, [0.0; LANES]);
        }
    }

    /// Gathers with what pairs press them; says whether any can.
    fn gather_wanted(&mut self, blocks: &[PairBlock]) -> bool {
        self.rooms.iter_mut().for_each(|room| gather_wanted(room, blocks));
        self.rooms.iter().any(|room| !room.links.is_empty())
    }
}

/// What a group that meets others does between two waits.
#[derive(Clone, Copy)]
enum Turn<'a> {
    /// Shows where it is.
    Show(&'a StepParams),
    /// Shows how far it has gone.
    ShowGone,
    /// Tells who is pressed otherwise than they have it; of one instance, whether any is.
    Compare(&'a StepParams, bool),
    /// Settles to what is wanted, and goes on by a share of the last pass's step; whether only flagged lanes do.
    Settle(Option<f32>, bool),
    /// Restores the momentum that this left out.
    Restore(&'a StepParams),
}

impl Runner<'_> {
    /// Finds who may meet in the frame that a stage begins.
    pub(super) fn find_meetings(&self, first: Scheduled, instances: &mut Instances, meetings: &mut Meetings) {
        let StepParams { frame, gravity: [x, y, z], .. } = self.frame.params[first.slot as usize];
        let gravity = (x * x + y * y + z * z).sqrt();
        let threads = PairThreads(self.threads.clone());
        meetings.find(self.frame.lane_width, &threads, instances, frame, gravity, self.clock);
    }

    /// Runs stages of chains some of which may meet: those that do not, at once; the others stage by stage, and they show each
    /// other where they are between.
    pub(super) fn run_meeting(&self, run: &[Scheduled], all: Vec<Member<'_, '_>>, meetings: &mut Meetings) {
        let params = &self.frame.params;
        let Meetings { blocks, sides, groups, shown, rooms, pressed, .. } = meetings;
        pressed.clear();
        pressed.resize(if self.frame.events.is_some() { blocks.len() } else { 0 }, [[0.0; LANES]; 4]);
        rooms.resize_with(groups.iter().flatten().count().max(rooms.len()), Room::default);
        let (mut free, mut members, mut meeting) = (Vec::new(), Vec::new(), Vec::new());
        for (member, met) in all.into_iter().zip(&*groups) {
            match met {
                Some(met) => {
                    members.push(member);
                    meeting.push(*met);
                }
                None if !member.run.is_empty() => {
                    member.state.meets.clear();
                    free.push(member);
                }
                None => {}
            }
        }
        self.run_free(&mut free);
        if members.is_empty() {
            return;
        }
        let mut kin = Vec::new();
        let (mut rooms, mut meeting, mut shown_left) = (&mut rooms[..], &meeting[..], 0);
        for members in members.chunk_by_mut(|_, next| next.is_of_kin) {
            let (own, left) = rooms.split_at_mut(members.len());
            let (met, others) = meeting.split_at(members.len());
            let nodes = members.iter().map(|member| member.rest.node_count).sum::<usize>();
            let shown = shown_left..shown_left + nodes;
            kin.push(Kin { members, rooms: own, meeting: met, shown, settles: Vec::new(), settled: false });
            (rooms, meeting, shown_left) = (left, others, shown_left + nodes);
        }
        // Up to where meetings are found, and on from there up to the solve.
        let (mut done, mut restores) = (0, None);
        for (at, scheduled) in run.iter().enumerate() {
            let params = &params[scheduled.slot as usize];
            if scheduled.stage == Stage::SolveContacts {
                let (before, first, left_out) = (&run[done..=at], params.iteration == 0, restores.take());
                self.for_kin(&mut kin, shown, |kin, shown| {
                    self.restore(kin, blocks, left_out);
                    self.run_kin(before, kin.members, kin.rooms);
                    if first {
                        self.take_turn(kin, shown, Turn::Show(params));
                    }
                });
                self.on_blocks(blocks, shown, Some(params));
                done = at + 1;
            }
            if scheduled.stage == Stage::SolveRods {
                let solve = &run[done..=at];
                self.for_kin(&mut kin, shown, |kin, shown| {
                    self.clock.timed(Stage::FindMeetings, || kin.make_rows(sides, blocks));
                    self.run_kin(solve, kin.members, kin.rooms);
                    self.take_turn(kin, shown, Turn::ShowGone);
                });
                self.on_blocks(blocks, shown, None);
                for pass in 0..self.frame.passes {
                    self.for_kin(&mut kin, shown, |kin, shown| {
                        let goes_on = (pass > 0 && kin.settled && pass + 1 < self.frame.passes).then_some(GOES_ON);
                        kin.settled = self.clock.timed(Stage::Settle, || {
                            let unsettled = kin.gather_wanted(blocks) && self.is_unsettled(kin, params);
                            if unsettled {
                                self.settle(kin, params, goes_on);
                            }
                            unsettled
                        });
                        if kin.settled {
                            self.take_turn(kin, shown, Turn::ShowGone);
                        }
                    });
                    if !kin.iter().any(|kin| kin.settled) {
                        break;
                    }
                    self.on_blocks(blocks, shown, None);
                }
                // Of the substep's last solve.
                if self.frame.params.get(scheduled.slot as usize + 1).is_none_or(|next| next.iteration == 0) {
                    restores = Some(params);
                    self.clock.timed(Stage::Tally, || add_meetings(pressed, blocks, params.h));
                }
                done = at + 1;
            }
        }
        let rest = &run[done..];
        self.for_kin(&mut kin, shown, |kin, _| {
            self.restore(kin, blocks, restores);
            self.run_kin(rest, kin.members, kin.rooms);
        });
    }

    /// Runs on all who are stepped together, with what they show.
    fn for_kin(
        &self,
        kin: &mut [Kin<'_, '_, '_>],
        shown: &mut [Entry<f32>],
        run: impl Fn(&mut Kin<'_, '_, '_>, &mut [Entry<f32>]) + Sync + Send,
    ) {
        let mut left = shown;
        let mut work: Vec<_> = kin
            .iter_mut()
            .map(|kin| {
                let (own, after) = std::mem::take(&mut left).split_at_mut(kin.shown.len() * shown::ENTRIES);
                left = after;
                (kin, own)
            })
            .collect();
        self.threads.for_each(&mut work, |(kin, own)| run(kin, own));
    }

    /// Flags of who settle together (see [`Member::settles_with`]) whether any is pressed otherwise than it has it; whether any is.
    fn is_unsettled(&self, kin: &mut Kin<'_, '_, '_>, params: &StepParams) -> bool {
        let settles = &mut kin.settles;
        settles.clear();
        // Those that only one instance's chains are in come last, and soon say that it does.
        for (member, room) in kin.members.iter_mut().zip(&mut *kin.rooms).rev() {
            let chains = member.rest.chain_count;
            settles.resize(settles.len().max(member.settles_with(chains - 1) + 1), false);
            if (0..chains).all(|lane| settles[member.settles_with(lane)]) {
                continue;
            }
            room.settles = [0.0; LANES];
            let as_one = member.whose.is_one() && !member.branches.is_empty();
            self.on_lanes(member, room, &mut [], Turn::Compare(params, as_one));
            (0..chains).for_each(|lane| settles[member.settles_with(lane)] |= room.settles[lane] > 0.5);
        }
        settles.contains(&true)
    }

    /// Settles chains to what is wanted, and has them go on by a share of the last pass's step.
    fn settle(&self, kin: &mut Kin<'_, '_, '_>, params: &StepParams, goes_on: Option<f32>) {
        let some = kin.settles.contains(&false);
        for (member, room) in kin.members.iter().zip(&mut *kin.rooms) {
            let settles = |lane| kin.settles.get(member.settles_with(lane)).is_some_and(|settles| *settles);
            room.settles = std::array::from_fn(|lane| f32::from(u8::from(settles(lane))));
        }
        if let [member] = kin.members {
            self.on_lanes(member, &mut kin.rooms[0], &mut [], Turn::Settle(goes_on, some));
        } else {
            self.as_forest(kin.members, kin.rooms, params, |forest, wanted| forest.settle(wanted, goes_on, some));
        }
    }

    /// Restores the momentum that settling left out, at the end of a substep of these parameters.
    fn restore(&self, kin: &mut Kin<'_, '_, '_>, blocks: &[PairBlock], ends: Option<&StepParams>) {
        let Some(params) = ends else { return };
        self.clock.timed(Stage::Settle, || {
            if !kin.gather_wanted(blocks) {
                return;
            }
            if let [member] = kin.members {
                self.on_lanes(member, &mut kin.rooms[0], &mut [], Turn::Restore(params));
            } else {
                self.as_forest(kin.members, kin.rooms, params, |forest, wanted| forest.restore(wanted));
            }
        });
    }

    /// Finds where pairs meet in a substep of these parameters, or with what force they press.
    fn on_blocks(&self, blocks: &mut [PairBlock], shown: &[Entry<f32>], finds: Option<&StepParams>) {
        let mut chunks: Vec<_> = blocks.chunks_mut(BLOCKS).collect();
        let stage = if finds.is_some() { Stage::FindMeetings } else { Stage::Press };
        let meet = |blocks: &mut [PairBlock]| match self.frame.lane_width {
            width @ (LaneWidth::Eight | LaneWidth::EightBaseline) => {
                with_instructions!(width.level(), simd => meet_wide(simd, blocks, shown, finds))
            }
            LaneWidth::One => (0..LANES).for_each(|lane| meet_in(OneF32(lane), blocks, shown, finds)),
        };
        self.threads.for_each(&mut chunks, |blocks| self.clock.timed(stage, || meet(blocks)));
    }

    fn take_turn(&self, kin: &mut Kin<'_, '_, '_>, shown: &mut [Entry<f32>], turn: Turn<'_>) {
        let stage = if matches!(turn, Turn::Show(_)) { Stage::FindMeetings } else { Stage::Press };
        self.clock.timed(stage, || {
            let mut left = shown;
            for (member, room) in kin.members.iter_mut().zip(&mut *kin.rooms) {
                let (own, after) = std::mem::take(&mut left).split_at_mut(member.rest.node_count * shown::ENTRIES);
                left = after;
                self.on_lanes(member, room, own, turn);
            }
        });
    }

    fn on_lanes(&self, member: &mut Member<'_, '_>, room: &mut Room, shown: &mut [Entry<f32>], turn: Turn<'_>) {
        let Room { scratch, solved, wanted, settles, .. } = room;
        let mut turning = Turning { group: &mut member.group(scratch, solved), wanted, settles, shown };
        match self.frame.lane_width {
            width @ (LaneWidth::Eight | LaneWidth::EightBaseline) => {
                with_instructions!(width.level(), simd => in_turn_wide(simd, turn, &mut turning))
            }
            LaneWidth::One => (0..LANES).for_each(|lane| in_turn(OneF32(lane), turn, &mut turning)),
        }
    }
}

/// A group that takes a turn.
struct Turning<'t, 'g> {
    group: &'t mut Group<'g, f32>,
    /// With what pairs press it.
    wanted: &'t [Entry<f32>],
    /// Flags of who settles.
    settles: &'t mut Entry<f32>,
    /// What it shows.
    shown: &'t mut [Entry<f32>],
}

#[inline(always)]
fn in_turn<L: Lanes<Scalar = f32>>(lanes: L, turn: Turn<'_>, Turning { group, wanted, settles, shown }: &mut Turning) {
    match turn {
        Turn::Compare(params, of_one) => {
            lanes.store(apart!(lanes, unsettled(lanes, params, group, wanted, of_one)), settles)
        }
        Turn::Show(params) => apart!(lanes, show(lanes, params, group, shown)),
        Turn::ShowGone => apart!(lanes, show_gone(lanes, group, shown)),
        Turn::Restore(params) => apart!(lanes, restore(lanes, params, group, wanted)),
        Turn::Settle(goes_on, some) => {
            let flag = if some { Some(lanes.load(settles)) } else { None };
            settle(lanes, group, wanted, goes_on, flag)
        }
    }
}

#[inline(always)]
fn in_turn_wide<S: Simd>(simd: S, turn: Turn<'_>, turning: &mut Turning) {
    if const { S::f32s::LEN < LANES } {
        in_turn(Half(simd, 0), turn, turning);
        in_turn(Half(simd, 4), turn, turning);
    } else {
        in_turn(Wide(simd), turn, turning);
    }
}

#[inline(always)]
fn meet_in<L: Lanes<Scalar = f32>>(
    lanes: L,
    blocks: &mut [PairBlock],
    shown: &[Entry<f32>],
    finds: Option<&StepParams>,
) {
    for block in blocks {
        match finds {
            Some(params) => apart!(lanes, find_meetings(lanes, params, shown, block)),
            None => apart!(lanes, press(lanes, shown, block)),
        }
    }
}

#[inline(always)]
fn meet_wide<S: Simd>(simd: S, blocks: &mut [PairBlock], shown: &[Entry<f32>], finds: Option<&StepParams>) {
    if const { S::f32s::LEN < LANES } {
        meet_in(Half(simd, 0), blocks, shown, finds);
        meet_in(Half(simd, 4), blocks, shown, finds);
    } else {
        meet_in(Wide(simd), blocks, shown, finds);
    }
}

/// A group's contact rows of what its chains meet in a substep, in the order of their segments.
fn make_rows(
    (member, room, meeting): (&mut Member<'_, '_>, &mut Room, &MeetingGroup),
    sides: &[Side],
    blocks: &[PairBlock],
) {
    let Member { rest, state, .. } = member;
    let Room { wanted, links, .. } = room;
    let rows = &mut state.meets;
    rows.clear();
    links.clear();
    let mut next = meeting.sides.map(|[first, _]| first);
    for segment in 0..rest.node_count as u32 {
        let begin = links.len();
        for lane in 0..LANES {
            let mut slot = begin;
            while next[lane] < meeting.sides[lane][1]
                && let side = &sides[next[lane] as usize]
                && side.segment == segment
            {
                next[lane] += 1;
                let (block, from) = side.of(blocks);
                if block.stiffness[from] == 0.0 {
                    continue;
                }
                for point in 0..2 {
                    if block.points[point][meet::STIFFNESS][from] == 0.0 {
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
            let pressed = &blocks[pair / LANES].memory[point][pair % LANES];
            let sign = if side == 0 { 1.0 } else { -1.0 };
            wanted[0][lane] = pressed[0];
            for k in 1..WANTED {
                wanted[k][lane] = sign * pressed[k];
            }
        }
    }
}
