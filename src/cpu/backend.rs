//! The CPU as a backend: walks a frame's schedule over all instances.
//!
//! A run of the schedule is given to threads group by group; a group's rows stay in a core's cache through all stages of a run.
//! No thread takes up the next run before all have finished this one. Whoever takes which group, each group is stepped alike,
//! so the bits do not depend on it.

use super::deform_skin::Vertices;
use super::find_pairs::Meetings;
use super::group::Group;
use super::kin::Member;
use super::lanes::Entry;
use super::packs::Packing;
use super::tally::add_contacts;
use super::threads::Threads;
use super::{run_on_instance, run_on_vertices};
use crate::StepError;
use crate::backend::{BackendReport, FleshBackend, Frame, SegmentPair};
use crate::instances::{Active, Instance, Instances, deltas_of};
use crate::step::{Domain, Scheduled, Stage, runs};
use crate::timing::{StageClock, StageTimes};

/// Flesh on the CPU.
pub(crate) struct CpuBackend {
    threads: Threads,
    packing: Packing,
    meetings: Box<Meetings>,
}

impl Default for CpuBackend {
    fn default() -> Self {
        Self { threads: Threads::new(1), packing: Packing::default(), meetings: Box::default() }
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
        let threads = self.threads.of_frame(frame);
        let runner = Runner { frame, threads: threads.clone(), clock: &clock };
        if frame.passes == 0 {
            instances.iter_mut().for_each(Instance::part);
        }
        threads.on_one(|| {
            for run in runs(frame.schedule, frame.fused) {
                if run[0].stage.domain() == Domain::Chains {
                    runner.run_chains(run, instances, &mut self.packing, &mut self.meetings);
                } else {
                    runner.run(run, instances);
                }
            }
        });
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

    fn take_tallied(&mut self, step: u64) -> Option<u64> {
        Some(step)
    }

    fn pairs(&mut self) -> Result<Vec<SegmentPair>, StepError> {
        Ok(self.meetings.pairs().collect())
    }
}

/// A frame as the CPU runs it.
pub(super) struct Runner<'a> {
    pub frame: &'a Frame<'a>,
    pub threads: Threads,
    pub clock: &'a StageClock,
}

/// Room for a group's block factors, and for what is kept of its contact rows.
type GroupRoom<'a> = (&'a mut Vec<Entry<f32>>, &'a mut [Entry<f32>]);

impl Runner<'_> {
    /// Runs stages of chains.
    fn run_chains(&self, run: &[Scheduled], instances: &mut Instances, packing: &mut Packing, meetings: &mut Meetings) {
        let (meets, [first, last]) = (self.frame.passes > 0, [run[0], run[run.len() - 1]]);
        let begins = first.stage == Stage::MoveBones && self.frame.params[first.slot as usize].first_substep != 0;
        if begins && meets {
            self.find_meetings(first, instances, meetings);
        }
        self.clock.timed(first.stage, || {
            if begins {
                packing.plan(instances, !self.frame.solids.is_empty());
            }
            packing.gather(&self.threads, instances);
        });
        if begins && meets {
            self.clock.timed(Stage::SortSides, || meetings.sort_sides(&self.threads, packing));
        }
        let mut members = packing.members(instances, |active| self.part_of(run, active));
        if meets {
            self.run_meeting(run, members, meetings);
        } else {
            members.retain(|member| !member.run.is_empty());
            self.run_free(&mut members);
        }
        self.clock.timed(last.stage, || packing.scatter(&self.threads, instances));
        if meets {
            meetings.keep(&self.threads, instances);
        }
    }

    /// Runs a stage that is not of chains.
    fn run(&self, run: &[Scheduled], instances: &mut Instances) {
        let stage = run[0].stage;
        match stage.domain() {
            // What these are for, `run_chains` does.
            Domain::Chains | Domain::MeetingChains | Domain::Segments | Domain::CellsAround | Domain::Pairs => {}
            // Of a GPU's passes alone.
            Domain::LoneChains | Domain::Trees | Domain::TouchingChains | Domain::TalliedChains => {}
            Domain::Host | Domain::Instances => self.clock.timed(stage, || {
                let mut instances: Vec<_> = instances.iter_mut().collect();
                self.threads.for_many(&mut instances, |instance| run_on_instance(stage, self.frame, instance));
            }),
            Domain::Sections | Domain::MorphedVertices => self.clock.timed(stage, || {
                let mut instances: Vec<_> = instances.iter_mut().filter(|instance| instance.deforms).collect();
                self.threads.for_each(&mut instances, |instance| {
                    run_on_instance(stage, self.frame, instance);
                });
            }),
            Domain::Networks => self.clock.timed(stage, || {
                #[cfg(feature = "neural")]
                for (network, mut characters) in crate::instances::batches(instances) {
                    super::run_on_batch(stage, (self.frame.lane_width, &self.threads), &network, &mut characters);
                }
            }),
            Domain::NetworkVertices => {}
            Domain::Vertices => self.clock.timed(stage, || {
                let mut vertices: Vec<_> = instances
                    .iter_mut()
                    .filter(|instance| instance.deforms)
                    .flat_map(
                        |Instance { blocks, skin_inputs, section_matrices, morphed, network, vertices, .. }| {
                            let deltas = deltas_of(morphed, network.as_deref());
                            Vertices::new(blocks, skin_inputs, section_matrices, deltas, vertices)
                        },
                    )
                    .collect();
                self.threads.for_each(&mut vertices, |vertices| {
                    run_on_vertices(stage, self.frame.lane_width, vertices);
                });
            }),
        }
    }

    /// What of a run of chains' stages is done of an instance: flesh that only goes with its bones is brought there by the first
    /// of them.
    pub(super) fn part_of<'r>(&self, run: &'r [Scheduled], active: Active) -> &'r [Scheduled] {
        let first = run[0];
        let begins = first.stage == Stage::MoveBones && self.frame.params[first.slot as usize].first_substep != 0;
        match active {
            Active { flesh: true, .. } => run,
            Active { skin: true, .. } if begins => &run[..1],
            _ => &[],
        }
    }

    /// Runs stages of chains on a group; before a substep's first contacts it finds which solids it is near to.
    pub(super) fn on_group(&self, run: &[Scheduled], member: &mut Member<'_, '_>, (scratch, solved): GroupRoom<'_>) {
        let params = |of: &Scheduled| &self.frame.params[of.slot as usize];
        let finds = |of: &Scheduled| of.stage == Stage::SolveContacts && params(of).iteration == 0;
        let state = &*member.state;
        let none = self.frame.solids.is_empty() && member.around.bones.is_none();
        let alone = none && state.slots.is_empty() && state.tangents.is_empty();
        let tallied = member.pressed.is_some();
        let ends = |of: &Scheduled| tallied && of.stage == Stage::UpdateVelocities;
        for part in run.chunk_by(|before, next| (alone || !finds(next)) && !ends(before)) {
            if !alone && finds(&part[0]) {
                self.clock.timed(Stage::SolveContacts, || {
                    self.frame.solids.touch(params(&part[0]), member.rest, member.state, member.around);
                });
            }
            self.on_rows(part, &mut member.group(scratch, solved));
            let last = &part[part.len() - 1];
            if let Some(pressed) = member.pressed.as_mut().filter(|_| ends(last)) {
                let substep = params(last).h;
                self.clock.timed(Stage::Tally, || add_contacts(pressed, &member.state.contacts, substep));
            }
        }
    }

    fn on_rows(&self, run: &[Scheduled], group: &mut Group<f32>) {
        for scheduled in run {
            let params = &self.frame.params[scheduled.slot as usize];
            self.clock.timed(scheduled.stage, || self.frame.lane_width.run_stage(scheduled.stage, params, group));
        }
    }
}
