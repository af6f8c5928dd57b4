//! Chains that hang on chains; its twins are `shaders/bindings/trees.wgsl` and the passes `predict_trees`, `solve_trees`,
//! `settle_trees` and `check_health_trees`.
//!
//! The last node of a branch goes with a section (c, s, R) of its stem: it is at c + R(s o_u, s o_v, o_w) and turned by R from
//! how it is at rest, so that of its seven unknowns only the scale is its own. A step (δc, δs, δθ) of the section gives it
//! δ = T(δc, δs, δθ), with the arm a = R(s o_u, s o_v, o_w): δc + δθ × a + δs R(o_u, o_v, 0), and δθ.
//!
//! Data flow of a solve: groups have the stems of their chains before them, so they are eliminated from the last to the first.
//! What is left of a branch then, its *stump*, is a block S and a right-hand side r of its last node's place and frame
//! ([`keep_stump`](super::stumps::keep_stump)); TᵀST and Tᵀr ([`give_to_stem`]) are added to the rows of the node that bears it
//! ([`add_borne`](super::stumps::add_borne)). From the first group to the last the system is solved, each branch by what its
//! stem's step gives it ([`go_with_stem`](super::stumps::go_with_stem)). A tree so costs what its chains cost, and it is solved
//! exactly. After a step branches are put where the section, which did not move along a straight line, has them. Chains that
//! settle keep T as they keep the rest of the system.
//!
//! All chains of a tree go down Π together: what they store and how they have moved is added up, and what is judged
//! of one holds for all ([`Forest::agree`]).
//!
//! On a GPU one thread is one chain here too. All chains of a tree, or groups of which any hang on each other, have their threads in
//! one workgroup, so that what is done group after group here is done level after level there, with a barrier between; sums over a
//! tree go through the workgroup's memory, in the same order for each of its chains.

use fearless_simd::{Simd, SimdBase};
use glam::DQuat;

use super::LaneWidth;
use super::bodies::{BODY_ENTRIES, Body, add_motion};
use super::descent::{DESCENT_ENTRIES, Descends, Descent, Of, OneGroup, run};
use super::group::{Group, is_kicked};
use super::holds::Placed;
use super::joints::{Bearing, Joint, vector};
use super::lanes::{Entry, Half, LANES, Lanes, OneF32, OneF64, Wide, apart, with_instructions};
use super::lay::lay;
use super::left_out::{BALANCE_ENTRIES, Balance, restore};
use super::math::V3;
use super::predict::kick;
use super::rod_energies::UNKNOWNS;
use super::settle::{settle_back, settle_forth, stand_still};
use super::stumps::give_to_stem;
use super::tree_motion::{Bodies, Each};
use crate::flesh::Branch;
use crate::layout::{borne, chain, input, node, scratch, stump};
use crate::step::{Stage, StepParams};

/// What is done to a group of chains on the way down Π.
#[derive(Clone, Copy)]
enum Part<'a> {
    Begin,
    Forth(bool),
    /// Of the whole system, or of its right-hand side.
    GiveToStem(bool),
    Back(bool),
    GoOn,
    Stand,
    JudgeFirst,
    StartAgain,
    Rises,
    Shorten(bool),
    Judge(bool),
    End,
    /// Of all chains, or of some that are flagged.
    SettleForth(&'a [Entry<f32>], bool),
    SettleBack(Option<f32>, bool),
    StandStill,
    /// Keeps how the momentum of chains came about.
    Balance(&'a [Entry<f32>]),
    /// Restores that of chains that hang on none.
    Restore(&'a [Entry<f32>]),
    /// Adds to velocities what the game does.
    Kick,
    /// Keeps what chains are as bodies.
    Bodies,
    /// Adds a kept rigid motion to the velocities.
    AddMotion,
    /// Lays chains anew that are flagged as having risen.
    Lay,
}

/// What is kept of a group's chains between parts: how far they have come, what they are as bodies, or how their momentum came about.
pub(super) type Kept = [Entry<f32>; BALANCE_ENTRIES];

pub(super) const NOTHING_KEPT: Kept = [[0.0; LANES]; BALANCE_ENTRIES];

const _: () =
    assert!(DESCENT_ENTRIES <= BALANCE_ENTRIES && BODY_ENTRIES <= BALANCE_ENTRIES, "all are kept in the same place");

/// All groups of an instance of which chains hang on each other.
pub(super) struct Forest<'a, 'b> {
    width: LaneWidth,
    params: &'a StepParams,
    branches: &'a [Branch],
    /// Of each group, those whose chains are in it.
    of_groups: Vec<&'a [Branch]>,
    groups: &'a mut [Group<'b, f32>],
    kept: &'a mut [Kept],
    /// For each group, and of it each node that bears chains, what these add to its rows; summed in f64, it is the same in whatever
    /// order they are.
    borne: Vec<Vec<Borne>>,
}

/// Sums of [`borne`] rows.
type Borne = [[f64; LANES]; borne::ENTRIES];

impl<'a, 'b> Forest<'a, 'b> {
    /// Whether a stage is done of a forest as a whole, and not group by group.
    pub fn is_for(stage: Stage) -> bool {
        matches!(stage, Stage::Predict | Stage::SolveRods | Stage::CheckHealth)
    }

    /// Of all groups, each with room for how far it has come.
    pub fn new(
        width: LaneWidth,
        params: &'a StepParams,
        branches: &'a [Branch],
        groups: &'a mut [Group<'b, f32>],
        kept: &'a mut [Kept],
    ) -> Self {
        let none = |group: &Group<'_, f32>| vec![[[0.0; LANES]; borne::ENTRIES]; group.rest.bearing_count];
        let borne = groups.iter().map(none).collect();
        let mut left = branches;
        let split = |group| {
            let (own, after) = left.split_at(left.iter().take_while(|branch| branch.chain[0] == group).count());
            left = after;
            own
        };
        let of_groups = (0..groups.len()).map(split).collect();
        Self { width, params, branches, of_groups, groups, kept, borne }
    }

    /// Runs a stage.
    pub fn run(&mut self, stage: Stage) {
        match stage {
            Stage::Predict => self.predict(),
            Stage::SolveRods => {
                self.all(Part::Begin);
                self.agree(Of::stepping, &[Of::at_start, Of::lowest], &[Of::meets]);
                run(self, self.params.retries);
            }
            Stage::CheckHealth => self.check_health(),
            _ => {}
        }
    }

    /// Settles to what pairs should press with; see [`settle`](super::settle). All go on by a share of the last pass's step. Where
    /// only `some` do, those that are flagged as stepping.
    pub fn settle(&mut self, wanted: &[&[Entry<f32>]], goes_on: Option<f32>, some: bool) {
        for group in (0..self.groups.len()).rev() {
            self.bear(group, UNKNOWNS);
            if self.steps(group) {
                self.part(group, Part::SettleForth(wanted[group], some));
                self.give_to_stems(group, false);
            } else {
                self.part(group, Part::StandStill);
            }
        }
        self.back(Part::SettleBack(goes_on, some));
    }

    /// Whether any of a group's chains is stepping.
    fn steps(&self, group: usize) -> bool {
        self.has(group, Of::stepping)
    }

    /// Whether a flag holds of any of a group's chains.
    fn has(&self, group: usize, of: Of) -> bool {
        self.kept[group][of as usize].iter().any(|&flag| flag > 0.5)
    }

    /// Solves and steps groups from the first to the last, of those that step.
    fn back(&mut self, back: Part<'_>) {
        for group in 0..self.groups.len() {
            if !self.steps(group) {
                continue;
            }
            for branch in self.of_groups[group] {
                let [stem, stem_lane] = branch.stem;
                let step = &self.groups[stem].scratch_row(branch.stem_node)[scratch::STEP..];
                let step: [f32; UNKNOWNS] = std::array::from_fn(|k| step[k][stem_lane]);
                let row = self.groups[group].stump_row();
                for (entry, value) in row[stump::STEP..].iter_mut().zip(step) {
                    entry[branch.chain[1]] = value;
                }
            }
            self.part(group, back);
            self.place(group);
        }
    }

    /// Restores the momentum that settling left out, to trees as rigid bodies; see [`left_out`](super::left_out).
    pub fn restore(&mut self, wanted: &[&[Entry<f32>]]) {
        for (group, wanted) in wanted.iter().enumerate() {
            if self.groups[group].rest.is_in_tree() {
                self.part(group, Part::Balance(wanted));
            } else {
                self.part(group, Part::Restore(wanted));
                self.kept[group] = NOTHING_KEPT;
            }
        }
        let balance = |kept: &Kept| {
            let kept = kept.map(|entry| entry.map(f64::from));
            std::array::from_fn(|lane| Balance::load(OneF64(lane), &kept))
        };
        let balances: Each<Balance<f64>> = self.kept.iter().map(balance).collect();
        if !balances.as_flattened().iter().any(Balance::is_free) {
            return;
        }
        self.bodies().write_gains(self.branches, &balances, self.kept);
        self.all(Part::AddMotion);
    }

    fn bodies(&mut self) -> Bodies {
        self.all(Part::Bodies);
        Bodies::of(self.groups, self.branches, self.kept)
    }

    fn predict(&mut self) {
        for group in 0..self.groups.len() {
            let own = &self.groups[group];
            if self.params.first_substep != 0 && own.rest.is_in_tree() && is_kicked(own.inputs) {
                self.part(group, Part::Kick);
            }
        }
        if self.groups.iter().any(|group| group.rest.has_free_chain) {
            self.bodies().write_motions(self.branches, self.groups);
        }
        for group in 0..self.groups.len() {
            for branch in self.of_groups[group] {
                let [stem, lane] = branch.stem;
                let start = Placed::start(OneF32(lane), &self.groups[stem], branch.stem_node);
                let joint = Bearing::of(self.groups, branch, &start).joint(self.groups, branch);
                let [place, frame] = [node::TARGET_PLACE, node::TARGET_FRAME];
                self.write(branch, &joint, place, frame);
            }
            self.each_for_itself(group, Stage::Predict);
        }
        (0..self.groups.len()).for_each(|group| self.place(group));
    }

    /// Lays all chains of a tree anew of which one was, and joins them.
    fn check_health(&mut self) {
        let resets = |groups: &[Group<'_, f32>]| -> Vec<Entry<f32>> {
            groups.iter().map(|group| group.chains[chain::RESETS]).collect()
        };
        let before = resets(self.groups);
        (0..self.groups.len()).for_each(|group| self.each_for_itself(group, Stage::CheckHealth));
        let laid = resets(self.groups);
        if before == laid {
            return;
        }
        let flags = |group: usize| std::array::from_fn(|lane| (laid[group][lane] != before[group][lane]) as u8 as f32);
        let own: Vec<Entry<f32>> = (0..laid.len()).map(flags).collect();
        for (kept, own) in self.kept.iter_mut().zip(&own) {
            kept[Of::risen as usize] = *own;
            kept[Of::stepping as usize] = [1.0; LANES];
        }
        self.agree(Of::stepping, &[], &[Of::risen]);
        let all: Vec<Entry<f32>> = self.kept.iter().map(|kept| kept[Of::risen as usize]).collect();
        for group in 0..self.groups.len() {
            let others = std::array::from_fn(|lane| all[group][lane] - own[group][lane]);
            self.kept[group][Of::risen as usize] = others;
            if others != [0.0; LANES] {
                self.part(group, Part::Lay);
            }
        }
        for branch in self.branches.iter().filter(|branch| all[branch.chain[0]][branch.chain[1]] > 0.5) {
            self.join(branch);
        }
    }

    /// Moves a chain that was laid anew, as it is, to where it hangs, and gives it its stem's velocity.
    fn join(&mut self, branch: &Branch) {
        let [stem, stem_lane] = branch.stem;
        let Joint { place, frame, .. } = Bearing::now(self.groups, branch).joint(self.groups, branch);
        let velocity = vector(self.groups[stem].row(branch.stem_node), node::VELOCITY, stem_lane);
        let ([group, lane], node) = (branch.chain, branch.node);
        let rows = &mut self.groups[group].nodes;
        let (old_place, old_frame) = (vector(row(rows, node), node::PLACE, lane), quaternion(row(rows, node), lane));
        let turn = frame * old_frame.conjugate();
        for index in 0..=node {
            let row = row_mut(rows, index);
            let to = place + turn * (vector(row, node::PLACE, lane) - old_place);
            let turned = (turn * quaternion(row, lane)).normalize();
            for at in [node::PLACE, node::PREV_PLACE] {
                put(row, at, lane, to.to_array());
            }
            for at in [node::FRAME, node::PREV_FRAME, node::PREDICTED_FRAME] {
                put(row, at, lane, turned.to_array());
            }
            for at in [node::VELOCITY, node::OLDER_VELOCITY] {
                put(row, at, lane, velocity.to_array());
            }
            for at in [node::SPIN, node::OLDER_SPIN] {
                put(row, at, lane, [0.0; 3]);
            }
        }
    }

    /// Writes where a branch's last node is to be.
    fn write(&mut self, branch: &Branch, joint: &Joint, place: usize, frame: usize) {
        let ([group, lane], node) = (branch.chain, branch.node);
        let row = row_mut(self.groups[group].nodes, node);
        let beside = if quaternion(row, lane).dot(joint.frame) < 0.0 { -joint.frame } else { joint.frame };
        put(row, place, lane, joint.place.to_array());
        put(row, frame, lane, beside.to_array());
    }

    /// Puts the last nodes of a group's branches where their stems have them now.
    fn place(&mut self, group: usize) {
        for beside in self.of_groups[group].chunk_by(Branch::is_beside) {
            let bearing = Bearing::now(self.groups, &beside[0]);
            for branch in beside {
                let joint = bearing.joint(self.groups, branch);
                self.write(branch, &joint, node::PLACE, node::FRAME);
                let lane = branch.chain[1];
                let row = row_mut(self.groups[group].nodes, branch.node);
                let moved = joint.place - vector(row, node::PREV_PLACE, lane);
                put(row, node::MOVED, lane, moved.to_array());
            }
        }
    }

    /// Writes so many entries of what a group's nodes bear, and begins to sum anew.
    fn bear(&mut self, group: usize, entries: usize) {
        for (bears, sums) in self.borne[group].iter_mut().enumerate() {
            for (entry, sums) in self.groups[group].borne_row(bears)[..entries].iter_mut().zip(sums) {
                *entry = std::mem::take(sums).map(|sum| sum as f32);
            }
        }
    }

    /// Adds what is left of a group's branches to what their stems' nodes bear: of the whole system, or of its right-hand side.
    fn give_to_stems(&mut self, group: usize, whole: bool) {
        let branches = self.of_groups[group];
        if branches.is_empty() {
            return;
        }
        self.part(group, Part::GiveToStem(whole));
        let entries = if whole { borne::ENTRIES } else { UNKNOWNS };
        for branch in branches {
            let ([stem, stem_lane], lane) = (branch.stem, branch.chain[1]);
            let Some(bears) = self.groups[stem].rest.bears[branch.stem_node] else { continue };
            let given = &self.groups[group].stump_row()[stump::BORNE..][..entries];
            for (sum, given) in self.borne[stem][bears].iter_mut().zip(given) {
                sum[stem_lane] += f64::from(given[lane]);
            }
        }
    }

    /// Keeps T of a group's branches, where their stems are now; of those that are solved `again` alone.
    fn keep_turnings(&mut self, group: usize, again: bool) {
        for beside in self.of_groups[group].chunk_by(Branch::is_beside) {
            let bearing = Bearing::now(self.groups, &beside[0]);
            for branch in beside {
                let lane = branch.chain[1];
                if again && self.kept[group][Of::stepping as usize][lane] < 0.5 {
                    continue;
                }
                let Joint { arm, outward, .. } = bearing.joint(self.groups, branch);
                let row = self.groups[group].stump_row();
                put(row, stump::ARM, lane, arm.to_array());
                put(row, stump::OUTWARD, lane, outward.to_array());
            }
        }
    }

    /// Adds entries up over the chains of each tree of which a flag holds, and has others be the largest of any. The flag is that of all
    /// chains of a tree, and none of these entries.
    fn agree(&mut self, flag: Of, sums: &[Of], largest: &[Of]) {
        let kept = &mut *self.kept;
        let is_of = |kept: &[Kept], [group, lane]: [usize; 2]| kept[group][flag as usize][lane] > 0.5;
        for Branch { chain: [group, lane], stem: [stem, stem_lane], .. } in self.branches.iter().rev() {
            if !is_of(kept, [*group, *lane]) {
                continue;
            }
            for entry in sums.iter().map(|of| *of as usize) {
                kept[*stem][entry][*stem_lane] += kept[*group][entry][*lane];
            }
            for entry in largest.iter().map(|of| *of as usize) {
                let (own, other) = (kept[*stem][entry][*stem_lane], kept[*group][entry][*lane]);
                kept[*stem][entry][*stem_lane] = own.max(other);
            }
        }
        for Branch { chain: [group, lane], stem: [stem, stem_lane], .. } in self.branches {
            if !is_of(kept, [*group, *lane]) {
                continue;
            }
            for entry in sums.iter().chain(largest).map(|of| *of as usize) {
                kept[*group][entry][*lane] = kept[*stem][entry][*stem_lane];
            }
        }
    }

    fn all(&mut self, part: Part<'_>) {
        (0..self.groups.len()).for_each(|group| self.part(group, part));
    }

    fn any(&self, of: Of) -> bool {
        self.kept.iter().any(|kept| kept[of as usize].iter().any(|&flag| flag > 0.5))
    }

    /// Runs a stage of a group's chains as if they hung on nothing.
    fn each_for_itself(&mut self, group: usize, stage: Stage) {
        self.width.run_stage(stage, self.params, &mut self.groups[group]);
    }

    fn part(&mut self, group: usize, part: Part<'_>) {
        let (params, group, kept) = (self.params, &mut self.groups[group], &mut self.kept[group]);
        match self.width {
            width @ (LaneWidth::Eight | LaneWidth::EightBaseline) => {
                with_instructions!(width.level(), simd => part_wide(simd, part, params, group, kept))
            }
            LaneWidth::One => (0..LANES).for_each(|lane| do_part(OneF32(lane), part, params, group, kept)),
        }
    }
}

impl Descends for Forest<'_, '_> {
    fn solve(&mut self, again: bool) {
        for group in (0..self.groups.len()).rev() {
            self.bear(group, borne::ENTRIES);
            if self.steps(group) {
                self.part(group, Part::Forth(again));
                self.keep_turnings(group, again);
                self.give_to_stems(group, true);
            }
        }
        self.back(Part::Back(again));
        self.agree(Of::stepping, &[Of::fall], &[Of::far, Of::amiss]);
    }

    fn go_on(&mut self) {
        for group in 0..self.groups.len() {
            if self.has(group, Of::risen) {
                self.part(group, Part::GoOn);
                self.place(group);
            }
        }
    }

    fn stand(&mut self) {
        for group in 0..self.groups.len() {
            if self.has(group, Of::risen) {
                self.part(group, Part::Stand);
            }
        }
        self.agree(Of::risen, &[Of::stored, Of::level, Of::gained, Of::motion, Of::unsure], &[]);
    }

    fn judge_first(&mut self) -> bool {
        self.all(Part::JudgeFirst);
        self.any(Of::stepping)
    }

    fn start_again(&mut self) {
        self.all(Part::StartAgain);
    }

    fn rises(&mut self) -> bool {
        self.all(Part::Rises);
        self.any(Of::risen)
    }

    fn shorten(&mut self, further: bool) {
        self.all(Part::Shorten(further));
    }

    fn judge(&mut self, beyond: bool) -> bool {
        self.all(Part::Judge(beyond));
        self.any(Of::stepping)
    }

    fn end(&mut self) {
        self.all(Part::End);
    }
}

#[inline(always)]
fn do_part<L: Lanes<Scalar = f32>>(
    lanes: L,
    part: Part<'_>,
    params: &StepParams,
    group: &mut Group<'_, f32>,
    kept: &mut Kept,
) {
    match part {
        Part::Lay => {
            let flag = lanes.load(&kept[Of::risen as usize]);
            lay(lanes, params, group, input::BONE_TO, flag);
            let resets = lanes.load(&group.chains[chain::RESETS]) + flag;
            lanes.store(resets, &mut group.chains[chain::RESETS]);
        }
        Part::SettleForth(wanted, some) => settle_forth(lanes, group, wanted, stepping(lanes, kept, some)),
        Part::Balance(wanted) => {
            let about = V3([lanes.splat(0.0); 3]);
            apart!(lanes, Balance::of(lanes, params, group, wanted, about)).store(lanes, kept);
        }
        Part::Restore(wanted) => apart!(lanes, restore(lanes, params, group, wanted)),
        Part::Kick => apart!(lanes, kick(lanes, group)),
        Part::Bodies => apart!(lanes, Body::of(lanes, group).store(lanes, kept)),
        Part::AddMotion => apart!(lanes, add_motion(lanes, group, kept)),
        Part::GiveToStem(whole) => apart!(lanes, give_to_stem(lanes, group, whole)),
        Part::SettleBack(goes_on, some) => settle_back(lanes, group, goes_on, stepping(lanes, kept, some)),
        Part::StandStill => apart!(lanes, stand_still(lanes, group)),
        _ => on_the_way(lanes, part, params, group, kept),
    }
}

/// Flags of who steps, where only `some` do.
#[inline(always)]
fn stepping<L: Lanes<Scalar = f32>>(lanes: L, kept: &Kept, some: bool) -> Option<L::V> {
    if some { Some(lanes.load(&kept[Of::stepping as usize])) } else { None }
}

#[inline(always)]
fn on_the_way<L: Lanes<Scalar = f32>>(
    lanes: L,
    part: Part<'_>,
    params: &StepParams,
    group: &mut Group<'_, f32>,
    kept: &mut Kept,
) {
    let descent = match part {
        Part::Begin => Descent::begin(lanes, group),
        _ => Descent::load(lanes, kept.first_chunk().expect("has room for it")),
    };
    let mut own = OneGroup::new(lanes, params, group, descent);
    match part {
        Part::Forth(again) => own.forth(again),
        Part::Back(again) => own.back(again),
        Part::GoOn => own.go_on(),
        Part::Stand => own.stand(),
        Part::JudgeFirst => _ = own.judge_first(),
        Part::StartAgain => own.start_again(),
        Part::Rises => _ = own.rises(),
        Part::Shorten(further) => own.shorten(further),
        Part::Judge(beyond) => _ = own.judge(beyond),
        Part::End => own.end(),
        // Others are not on the way down.
        _ => {}
    }
    own.descent.store(lanes, kept.first_chunk_mut().expect("has room for it"));
}

#[inline(always)]
fn part_wide<S: Simd>(simd: S, part: Part<'_>, params: &StepParams, group: &mut Group<'_, f32>, kept: &mut Kept) {
    if const { S::f32s::LEN < LANES } {
        do_part(Half(simd, 0), part, params, group, kept);
        do_part(Half(simd, 4), part, params, group, kept);
    } else {
        do_part(Wide(simd), part, params, group, kept);
    }
}

fn row(rows: &[Entry<f32>], index: usize) -> &[Entry<f32>] {
    &rows[index * node::ENTRIES..][..node::ENTRIES]
}

fn row_mut(rows: &mut [Entry<f32>], index: usize) -> &mut [Entry<f32>] {
    &mut rows[index * node::ENTRIES..][..node::ENTRIES]
}

fn quaternion(row: &[Entry<f32>], lane: usize) -> DQuat {
    DQuat::from_array([0, 1, 2, 3].map(|k| f64::from(row[node::FRAME + k][lane])))
}

fn put<const N: usize>(row: &mut [Entry<f32>], at: usize, lane: usize, values: [f64; N]) {
    for (entry, value) in row[at..].iter_mut().zip(values) {
        entry[lane] = value as f32;
    }
}
