//! The CPU as a backend: walks a frame's schedule over all instances.
//!
//! A run of the schedule is given to threads group by group; a group's rows stay in a core's cache through all stages of a run.
//! No thread takes up the next run before all have finished this one. Whoever takes which group, each group is stepped alike,
//! so the bits do not depend on it.

use fearless_simd::Simd;
use fearless_simd::prelude::*;

use super::deform_skin::Vertices;
use super::find_pairs::Meetings;
use super::grid::PairThreads;
use super::group::{Group, GroupRest};
use super::lanes::{Entry, Half, LANES, Lanes, OneF32, Wide, apart, with_instructions};
use super::meetings::{find_meetings, show};
use super::passes::pass;
use super::threads::Threads;
use super::{LaneWidth, run_on_instance, run_on_vertices, run_stage};
use crate::StepError;
use crate::backend::{BackendReport, FleshBackend, Frame};
use crate::flesh::GroupState;
use crate::instances::{Active, Instance, Instances};
use crate::layout::{contact, shown, solved};
use crate::step::{Domain, Scheduled, Stage, StepParams, runs};
use crate::timing::{StageClock, StageTimes, stage_scope};

/// Flesh on the CPU.
pub(crate) struct CpuBackend {
    threads: Threads,
    meetings: Meetings,
}

impl Default for CpuBackend {
    fn default() -> Self {
        Self { threads: Threads::new(1), meetings: Meetings::default() }
    }
}

impl CpuBackend {
    /// The host's threads, or as many of its own as it is to have, kept from frame to frame.
    fn threads(&mut self, frame: &Frame<'_>) -> Threads {
        #[cfg(feature = "parallel")]
        if let Some(pool) = frame.pool {
            return Threads::of_host(pool.clone());
        }
        if self.threads.count() != frame.threads {
            self.threads = Threads::new(frame.threads);
        }
        self.threads.clone()
    }
}

impl FleshBackend for CpuBackend {
    fn ready(&self) -> Result<(), StepError> {
        Ok(())
    }

    fn report(&self) -> BackendReport {
        BackendReport { backend: "cpu", adapter: None }
    }

    fn step(&mut self, instances: &mut Instances, frame: &Frame<'_>) -> Result<StageTimes, StepError> {
        let clock = StageClock::new(frame.timed);
        let runner = Runner { frame, threads: self.threads(frame), clock: &clock };
        if frame.passes == 0 {
            instances.iter_mut().for_each(|instance| instance.state.nodes.part());
        }
        for run in runs(frame.schedule, frame.fused) {
            if frame.passes > 0 && run[0].stage.domain() == Domain::Chains {
                runner.run_meeting(run, instances, &mut self.meetings);
            } else {
                runner.run(run, instances);
            }
        }
        Ok(clock.take())
    }

    fn finish(&mut self, _: &mut Instances, _: u64) -> Result<(), StepError> {
        Ok(())
    }

    fn start_again(&mut self, _: &mut Instances) -> Result<Option<u64>, StepError> {
        Ok(None)
    }

    fn give_up(&mut self, _: &mut Instances) {}

    fn put_at(&mut self, _: u64) {}
}

/// A frame as the CPU runs it.
struct Runner<'a> {
    frame: &'a Frame<'a>,
    threads: Threads,
    clock: &'a StageClock,
}

/// A group that meets others, with its room.
type Meeting<'a> = (&'a GroupRest<f32>, &'a mut GroupState, &'a [Entry<f32>], Scratch, Scratch);

/// What groups that meet do together.
#[derive(Clone, Copy)]
enum Together<'a> {
    Find(&'a StepParams),
    Pass(&'a StepParams, bool),
}

#[inline(always)]
fn together<L: Lanes<Scalar = f32>>(lanes: L, what: Together<'_>, group: &mut Group<f32>) {
    match what {
        Together::Find(params) => apart!(lanes, find_meetings(lanes, params, group)),
        Together::Pass(params, first) => apart!(lanes, pass(lanes, params, group, first)),
    }
}

#[inline(always)]
fn together_wide<S: Simd>(simd: S, what: Together<'_>, group: &mut Group<f32>) {
    if const { S::f32s::LEN < LANES } {
        together(Half(simd, 0), what, group);
        together(Half(simd, 4), what, group);
    } else {
        together(Wide(simd), what, group);
    }
}

/// Room for a group's block factors, kept from group to group.
type Scratch = Vec<Entry<f32>>;

impl Runner<'_> {
    /// Runs a part of the schedule: stages of chains, or a single other one.
    fn run(&self, run: &[Scheduled], instances: &mut Instances) {
        let stage = run[0].stage;
        match stage.domain() {
            Domain::Chains => {
                let groups = instances.iter_mut().flat_map(|instance| {
                    let Instance { flesh, active, state, forces, .. } = instance;
                    let run = self.part_of(run, *active);
                    let forces = forces.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
                    let groups = flesh.groups.iter().zip(&mut state.nodes.groups).zip(forces);
                    groups.filter(|_| !run.is_empty()).map(move |group| (run, group))
                });
                let mut groups: Vec<_> = groups.collect();
                self.threads.for_each(&mut groups, Scratch::new, |scratch, (run, ((rest, state), forces))| {
                    self.run_chains(run, rest, state, forces, scratch);
                });
            }
            // Little for each: a barrier would cost more.
            Domain::Host | Domain::Instances => self.timed(stage, || {
                instances.iter_mut().for_each(|instance| run_on_instance(stage, self.frame, instance));
            }),
            Domain::Sections => self.timed(stage, || {
                let mut instances: Vec<_> = instances.iter_mut().filter(|instance| instance.active.skin).collect();
                self.threads.for_each(
                    &mut instances,
                    || (),
                    |(), instance| {
                        run_on_instance(stage, self.frame, instance);
                    },
                );
            }),
            Domain::Vertices => self.timed(stage, || {
                let mut vertices: Vec<_> = instances
                    .iter_mut()
                    .filter(|instance| instance.active.skin)
                    .flat_map(|Instance { skin, skin_inputs, section_matrices, vertices, .. }| {
                        Vertices::new(skin, &skin_inputs.palette, section_matrices, vertices)
                    })
                    .collect();
                self.threads.for_each(
                    &mut vertices,
                    || (),
                    |(), vertices| {
                        run_on_vertices(stage, self.frame.lane_width, vertices);
                    },
                );
            }),
        }
    }

    /// Runs stages of chains some of which may meet: those that do not, at once; the others stage by stage, and they show each
    /// other where they are between.
    fn run_meeting(&self, run: &[Scheduled], instances: &mut Instances, meetings: &mut Meetings) {
        let params = &self.frame.params;
        let first = &params[run[0].slot as usize];
        if first.first_substep != 0 {
            let [x, y, z] = first.gravity;
            let gravity = (x * x + y * y + z * z).sqrt();
            meetings.find(instances, &PairThreads(self.threads.clone()), first.frame, gravity);
        }
        let groups = instances.iter_mut().flat_map(|instance| {
            let Instance { flesh, active, state, forces, .. } = instance;
            let run = self.part_of(run, *active);
            let forces = forces.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
            let groups = flesh.groups.iter().zip(&mut state.nodes.groups).zip(forces);
            groups.map(move |group| (run, group))
        });
        let (mut free, mut meeting) = (Vec::new(), Vec::new());
        for ((run, ((rest, state), forces)), base) in groups.zip(&meetings.bases) {
            match base {
                Some(_) if !run.is_empty() => {
                    let solved = state.contacts.len() / contact::ENTRIES * solved::ENTRIES;
                    meeting.push((rest, state, forces, Scratch::new(), vec![[0.0; LANES]; solved]));
                }
                _ if !run.is_empty() => free.push((run, ((rest, state), forces))),
                _ => {}
            }
        }
        self.threads.for_each(&mut free, Scratch::new, |scratch, (run, ((rest, state), forces))| {
            self.run_chains(run, rest, state, forces, scratch);
        });
        let mut shown = vec![[0.0; LANES]; meetings.nodes * shown::ENTRIES];
        for scheduled in run {
            let params = &params[scheduled.slot as usize];
            let one = std::slice::from_ref(scheduled);
            let finds = scheduled.stage == Stage::SolveContacts && params.iteration == 0;
            if finds {
                self.show(&mut meeting, false, &mut shown);
            }
            let seen = shown.as_slice();
            self.threads.for_each(
                &mut meeting,
                || (),
                |(), (rest, state, forces, scratch, solved)| {
                    self.run_chains_seeing(one, rest, state, forces, scratch, (seen, solved));
                    if finds {
                        self.on_chains(rest, state, forces, scratch, (seen, solved), Together::Find(params));
                    }
                },
            );
            if scheduled.stage == Stage::SolveRods {
                for pass in 0..self.frame.passes {
                    self.show(&mut meeting, true, &mut shown);
                    let seen = shown.as_slice();
                    self.threads.for_each(
                        &mut meeting,
                        || (),
                        |(), (rest, state, forces, scratch, solved)| {
                            self.on_chains(
                                rest,
                                state,
                                forces,
                                scratch,
                                (seen, solved),
                                Together::Pass(params, pass == 0),
                            );
                        },
                    );
                }
            }
        }
    }

    fn show(&self, meeting: &mut [Meeting<'_>], solved: bool, shown: &mut [Entry<f32>]) {
        let mut rest_of = shown;
        let mut work: Vec<_> = meeting
            .iter_mut()
            .map(|(rest, state, ..)| {
                let (own, after) = std::mem::take(&mut rest_of).split_at_mut(rest.node_count * shown::ENTRIES);
                rest_of = after;
                (*rest, state, own)
            })
            .collect();
        self.threads.for_each(
            &mut work,
            || (),
            |(), (rest, state, own)| {
                let GroupState { nodes, inputs, planes, chains, contacts, meets, reactions } = state;
                let group = Group {
                    rest,
                    nodes,
                    inputs,
                    forces: &[],
                    planes,
                    chains,
                    contacts,
                    meets,
                    solved: &mut [],
                    shown: &[],
                    reactions,
                    scratch: &mut [],
                };
                show(&group, solved, own);
            },
        );
    }

    fn on_chains(
        &self,
        rest: &GroupRest<f32>,
        state: &mut GroupState,
        forces: &[Entry<f32>],
        scratch: &mut Scratch,
        (shown, solved): (&[Entry<f32>], &mut Scratch),
        what: Together<'_>,
    ) {
        let GroupState { nodes, inputs, planes, chains, contacts, meets, reactions } = state;
        let mut group =
            Group { rest, nodes, inputs, forces, planes, chains, contacts, meets, solved, shown, reactions, scratch };
        match self.frame.lane_width {
            width @ (LaneWidth::Eight | LaneWidth::EightBaseline) => {
                with_instructions!(width.level(), simd => together_wide(simd, what, &mut group))
            }
            LaneWidth::One => (0..LANES).for_each(|lane| together(OneF32(lane), what, &mut group)),
        }
    }

    /// What of a run of chains' stages is done of an instance: flesh that only goes with its bones is brought there by the first
    /// of them.
    fn part_of<'r>(&self, run: &'r [Scheduled], active: Active) -> &'r [Scheduled] {
        let first = run[0];
        let begins = first.stage == Stage::MoveBones && self.frame.params[first.slot as usize].first_substep != 0;
        match active {
            Active { flesh: true, .. } => run,
            Active { skin: true, .. } if begins => &run[..1],
            _ => &[],
        }
    }

    fn timed(&self, stage: Stage, run: impl FnOnce()) {
        stage_scope!(stage);
        let start = self.clock.start();
        run();
        self.clock.stop(stage, start);
    }

    fn run_chains(
        &self,
        run: &[Scheduled],
        rest: &GroupRest<f32>,
        state: &mut GroupState,
        forces: &[Entry<f32>],
        scratch: &mut Scratch,
    ) {
        self.run_chains_seeing(run, rest, state, forces, scratch, (&[], &mut Scratch::new()));
    }

    fn run_chains_seeing(
        &self,
        run: &[Scheduled],
        rest: &GroupRest<f32>,
        state: &mut GroupState,
        forces: &[Entry<f32>],
        scratch: &mut Scratch,
        (shown, solved): (&[Entry<f32>], &mut Scratch),
    ) {
        scratch.resize(rest.scratch_len().max(scratch.len()), [0.0; LANES]);
        let GroupState { nodes, inputs, planes, chains, contacts, meets, reactions } = state;
        let mut group =
            Group { rest, nodes, inputs, forces, planes, chains, contacts, meets, solved, shown, reactions, scratch };
        match self.frame.lane_width {
            width @ (LaneWidth::Eight | LaneWidth::EightBaseline) => {
                with_instructions!(width.level(), simd => self.run_vectors(simd, run, &mut group))
            }
            LaneWidth::One => self.each(run, |stage, params| {
                (0..LANES).for_each(|lane| run_stage(OneF32(lane), stage, params, &mut group));
            }),
        }
    }

    /// Eight chains at once, or twice four, as the registers have it. A stage is done for the whole group before the
    /// next one starts, so that what it asks of the group has one answer whatever the width.
    #[inline(always)]
    fn run_vectors<S: Simd>(&self, simd: S, run: &[Scheduled], group: &mut Group<f32>) {
        for scheduled in run {
            let (start, params) = (self.clock.start(), &self.frame.params[scheduled.slot as usize]);
            // Known to the compiler, which so leaves out the width that is not run.
            if const { S::f32s::LEN < LANES } {
                run_stage(Half(simd, 0), scheduled.stage, params, group);
                run_stage(Half(simd, 4), scheduled.stage, params, group);
            } else {
                run_stage(Wide(simd), scheduled.stage, params, group);
            }
            self.clock.stop(scheduled.stage, start);
        }
    }

    fn each(&self, run: &[Scheduled], mut step: impl FnMut(Stage, &StepParams)) {
        for scheduled in run {
            let start = self.clock.start();
            step(scheduled.stage, &self.frame.params[scheduled.slot as usize]);
            self.clock.stop(scheduled.stage, start);
        }
    }
}
