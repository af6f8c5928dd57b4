//! The whole frame on one screen.
//!
//! [`FRAME`] is the order of the stages, written once, and [`stages!`](crate::step) what each of them is: one row and two
//! files, `src/cpu/NAME.rs` and `shaders/NAME.wgsl`. From these two tables come the enum [`Stage`], the CPU's modules and
//! runner, the GPU's kernels, and the profiler's scopes. A stage's name is its WGSL file, its CPU module, its pipeline, its
//! profiler scope and its timestamp label.
//!
//! Data flow of a frame: [`schedule`] lists its stages with the [`StepParams`] of each, both backends walk that list. The CPU
//! takes runs of it ([`runs`]): stages of chains that look at nothing but their own chain are run one after the other for each
//! group of chains, which so stays in cache; one that looks beyond waits for all groups, and all groups for it. On the GPU
//! every pass is a dispatch, and sees what those before it wrote.
//!
//! Chains that meet each other take stages of their own on a GPU ([`Domain::is_of_meetings`]). The CPU does what these do between
//! its stages of chains, see `src/cpu/members.rs`, and has flesh fall asleep at the frame's end, so that they are not in its schedule.
//! So is [`Stage::Tally`], which it does with the stages that it follows, and which no schedule has where nobody asks for events.

mod params;

use params::settlings;
pub use params::{StepParams, params_of};

use glam::DVec3;

/// The stages: what it does, its name twice, what one thread of it works on, and how.
///
/// - `looks`: `Own` where it reads and writes rows of its own element alone, `Beyond` where it reads others'.
/// - `wgsl`: the files of `shaders/bindings` that its kernel begins with, after all of `shaders/shared`.
/// - `loops`: `WrittenOut` where those of known count are: more to parse, less to compile and to run where chains' rows and
///   energies are gone through.
/// - `passes`, where there is not just the one of its own name: entry points of its WGSL in order, each with its
///   [`Size`]. On the CPU it is one function all the same.
macro_rules! stages {
    ($with:ident) => {
        $with! {
            /// Host: bones, activations and teleports become chain rows.
            GatherInputs gather_inputs Host {}
            /// Segments that may meet others, in the cells of a grid.
            GatherSegments gather_segments MeetingChains {
                looks: Beyond, wgsl: [], loops: AsWritten,
                passes: [clear_segments Size::Of(Domain::Segments), gather_segments Size::Domain]
            }
            /// Which of them may touch in the frame, and what they remember of the last one.
            FindPairs find_pairs Segments {
                looks: Beyond, wgsl: [], loops: AsWritten,
                passes: [
                    sum_cells Size::Domain, add_up_cells Size::Once, spread_cells Size::Domain, place_segments Size::Domain,
                    count_partners Size::Of(Domain::CellsAround), sum_pairs Size::Domain, add_up_pairs Size::Once, spread_pairs Size::Domain,
                    list_partners Size::Of(Domain::CellsAround), sort_partners Size::Domain, link_pairs Size::Domain
                ]
            }
            /// Which sides of pairs are of which segment.
            SortSides sort_sides MeetingChains { looks: Beyond, wgsl: [rows group scratch], loops: AsWritten }
            /// Which instances have been still for so long that they sleep.
            LetSleep let_sleep MeetingChains {
                looks: Beyond, wgsl: [], loops: AsWritten,
                passes: [
                    begin_watch Size::Of(Domain::Instances), follow_rest Size::Domain, spread_rest Size::Indirect("pair_sizes"),
                    let_sleep Size::Domain
                ]
            }
            /// Bones interpolated through the frame; targets of held nodes.
            MoveBones move_bones Chains { looks: Own, wgsl: [rows group scratch carry lay fascia], loops: AsWritten }
            /// Inertial prediction and the first iterate.
            Predict predict Chains {
                looks: Own, wgsl: [rows group scratch holds node_terms contact_rows fascia potential bodies trees tree_motion],
                loops: WrittenOut,
                passes: [predict Size::Of(Domain::LoneChains), predict_trees Size::Of(Domain::Trees)]
            }
            /// What touches the chains: contact rows for the solve.
            SolveContacts solve_contacts Chains {
                looks: Own, wgsl: [rows group holds carry solids mesh solid_slots], loops: AsWritten,
                passes: [touch_solids Size::Of(Domain::TouchingChains), solve_contacts Size::Domain]
            }
            /// Where chains touch each other, and how stiff that is: more contact rows.
            FindMeetings find_meetings Pairs {
                looks: Beyond, wgsl: [rows meetings carry], loops: AsWritten,
                passes: [begin_meetings Size::Once, find_meetings Size::Indirect("pair_sizes")]
            }
            /// One block-tridiagonal Gauss–Newton solve for every chain.
            SolveRods solve_rods Chains {
                looks: Own, wgsl: [rows group scratch holds node_terms contact_rows fascia potential solved descent trees stumps],
                loops: WrittenOut,
                passes: [solve_rods Size::Of(Domain::LoneChains), solve_trees Size::Of(Domain::Trees)]
            }
            /// With what force they press where both sides are.
            Press press Pairs {
                looks: Beyond, wgsl: [rows meetings], loops: AsWritten, passes: [press Size::Indirect("pair_sizes")]
            }
            /// What that moves chains by; in the end, the momentum that passes left out.
            Settle settle MeetingChains {
                looks: Own, wgsl: [rows group scratch holds contact_rows solved bodies trees stumps tree_motion left_out],
                loops: WrittenOut,
                passes: [settle Size::Of(Domain::LoneChains), settle_trees Size::Of(Domain::Trees)]
            }
            /// Velocities from the substep's motion.
            UpdateVelocities update_velocities Chains { looks: Own, wgsl: [rows group scratch bodies], loops: AsWritten }
            /// Who presses whom in the substep, where contact events are asked for.
            Tally tally TalliedChains { looks: Beyond, wgsl: [], loops: AsWritten }
            /// Chains that are where flesh cannot be are laid anew along their bones.
            CheckHealth check_health Chains {
                looks: Own, wgsl: [rows group scratch holds carry lay trees], loops: AsWritten,
                passes: [check_health Size::Of(Domain::LoneChains), check_health_trees Size::Of(Domain::Trees)]
            }
            /// What each instance says of itself unasked: how often chains of it were laid anew.
            ReportHealth report_health Instances { looks: Beyond, wgsl: [], loops: AsWritten }
            /// How far each cross-section has gone from where its bones alone would have it.
            PoseSections pose_sections Sections { looks: Beyond, wgsl: [], loops: AsWritten }
            /// What morph targets add to vertices before these are skinned.
            MorphSkin morph_skin MorphedVertices { looks: Beyond, wgsl: [], loops: AsWritten }
            /// What networks add to vertices before these are skinned.
            InferCorrectives infer_correctives Networks {
                looks: Beyond, wgsl: [], loops: AsWritten,
                passes: [infer_coefficients Size::Domain, infer_correctives Size::Of(Domain::NetworkVertices)]
            }
            /// Linear blend skinning and cross-sections move the vertices.
            DeformSkin deform_skin Vertices { looks: Beyond, wgsl: [], loops: AsWritten }
            /// Host: results to the world.
            ScatterOutputs scatter_outputs Host {}
        }
    };
}
pub(crate) use stages;

/// An entry of the frame's table.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    /// Runs once where it stands.
    Run(Stage),
    /// Runs `substeps` times.
    Substeps(&'static [Entry]),
    /// Runs `iterations` times.
    Iterations(&'static [Entry]),
    /// Runs once for each pass that brings chains together, and once more.
    Passes(&'static [Entry]),
}

use Entry::{Iterations, Passes, Run, Substeps};

/// The frame.
pub const FRAME: &[Entry] = &[
    Run(Stage::GatherInputs),
    Run(Stage::GatherSegments),
    Run(Stage::FindPairs),
    Run(Stage::SortSides),
    Run(Stage::LetSleep),
    Substeps(&[
        Run(Stage::MoveBones),
        Run(Stage::Predict),
        Iterations(&[
            Run(Stage::SolveContacts),
            Run(Stage::FindMeetings),
            Run(Stage::SolveRods),
            Passes(&[Run(Stage::Press), Run(Stage::Settle)]),
        ]),
        Run(Stage::UpdateVelocities),
        Run(Stage::Tally),
    ]),
    Run(Stage::CheckHealth),
    Run(Stage::ReportHealth),
    Run(Stage::PoseSections),
    Run(Stage::MorphSkin),
    Run(Stage::InferCorrectives),
    Run(Stage::DeformSkin),
    Run(Stage::ScatterOutputs),
];

/// What one thread of a stage works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// The host, once.
    Host,
    /// A chain; on the CPU, a group of chains.
    Chains,
    /// On a GPU, a chain that neither hangs on another nor bears one.
    LoneChains,
    /// On a GPU, the others: those that hang on each other in one workgroup.
    Trees,
    /// On a GPU, a chain where there is anything solid around.
    TouchingChains,
    /// On a GPU, a chain in a frame of which contact events are asked for.
    TalliedChains,
    /// An instance.
    Instances,
    /// A cross-section that skin follows; on the CPU, an instance.
    Sections,
    /// A vertex of skin that morph targets may move; on the CPU, an instance.
    MorphedVertices,
    /// A network of an instance; on the CPU, all instances of a network.
    Networks,
    /// A vertex that networks move, of some instances at once.
    NetworkVertices,
    /// A vertex of skin.
    Vertices,
    /// A chain that may meet others.
    MeetingChains,
    /// A segment that may meet others.
    Segments,
    /// On a GPU, a cell in which one looks for others.
    CellsAround,
    /// A pair of segments that may touch in the frame.
    Pairs,
}

impl Domain {
    /// Whether its stages are those of chains that meet, which a GPU has where there are passes.
    pub const fn is_of_meetings(self) -> bool {
        matches!(self, Self::MeetingChains | Self::Segments | Self::CellsAround | Self::Pairs)
    }
}

/// Of what a stage reads rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Looks {
    /// Its own element alone.
    Own,
    /// Others too: it waits for all of the stage before.
    Beyond,
}

/// How many threads a pass on the GPU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// One for each element of its stage's domain.
    Domain,
    /// One for each element of another domain.
    Of(Domain),
    /// One workgroup.
    Once,
    /// As many workgroups as the first three words of an array say that earlier passes wrote; its name. The pass itself does not
    /// bind it.
    Indirect(&'static str),
}

macro_rules! declare {
    ($($(#[doc = $doc:literal])+ $stage:ident $name:ident $domain:ident $row:tt)+) => {
        /// A stage of the frame.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Stage {
            $($(#[doc = $doc])+ $stage,)+
        }

        impl Stage {
            /// All stages, in the order in which they first run.
            pub const ALL: [Self; [$(Self::$stage),+].len()] = [$(Self::$stage),+];

            /// The stage's one name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$stage => stringify!($name),)+
                }
            }

            /// What one thread of it works on.
            pub const fn domain(self) -> Domain {
                match self {
                    $(Self::$stage => Domain::$domain,)+
                }
            }

            /// Of what it reads rows.
            pub const fn looks(self) -> Looks {
                match self {
                    $(Self::$stage => looks!($row),)+
                }
            }
        }
    };
}
macro_rules! looks {
    ({}) => {
        Looks::Beyond
    };
    ({ looks: $looks:ident $($rest:tt)* }) => {
        Looks::$looks
    };
}
stages!(declare);

/// The longest frame (s) that [`StepConfig::substeps`] are for. A longer one has more, so that a substep stays as short.
pub const LONGEST_FRAME: f64 = 1.0 / 30.0;

/// How many times [`StepConfig::substeps`] a frame has at most. Of the time that these leave out nothing is simulated: the
/// flesh goes with its bones.
pub const MOST_SPLIT: u32 = 8;

/// The most that [`StepConfig::substeps`] times [`StepConfig::iterations`] may be.
pub const MOST_SOLVES: u64 = 65_536;

/// The most that [`StepConfig::gravity`] may be (m/s²).
pub const MOST_GRAVITY: f64 = 1.0e6;

/// The most that [`StepConfig::passes`] may be.
pub const MOST_PASSES: u32 = 64;

/// The most that [`StepConfig::retries`] may be, beside what is urgent.
pub const MOST_RETRIES: u32 = 64;

/// How a frame is stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepConfig {
    /// Substeps of a frame of at most [`LONGEST_FRAME`], at least 1; see [`StepConfig::split`].
    pub substeps: u32,
    /// Solves a substep, at least 1.
    pub iterations: u32,
    /// Solves that a chain may take beyond each solve of the schedule that was led astray, went far or pulled at what it lifts
    /// off from, 1 to [`MOST_RETRIES`]: where bones jerk and motion is wild. A calm chain takes none of them. What meets other chains and
    /// is pressed by far more than moves it, as between two walls, takes up to 8 more: left in what presses it, it would be pressed
    /// harder yet.
    pub retries: u32,
    /// How many passes a substep bring chains together that touch, 0 to [`MOST_PASSES`]: 6 are enough for most, more for stiff
    /// impacts. With 0 chains pass through each other and cost nothing for it. Segments of one instance that overlap at rest leave
    /// each other alone. Where bones hold both ends of both chains, what these carry into each other is pushed out by up to half
    /// the smaller radius, less where it is deeper, and not at all from one and a half on; what touches the other from its far side, as
    /// bones have it, comes back through it. Who may touch whom is found once a frame, by how fast all then are; flesh that is paused
    /// is in nobody's way. On a GPU `Physics::pair_report` says whether there was room for all of them.
    pub passes: u32,
    /// Gravity (m/s²).
    pub gravity: DVec3,
    /// How time is integrated.
    pub integrator: Integrator,
    /// By how many lengths the root or a bone may go in one frame beyond what lies between standing still and going on as
    /// in the last one; farther is a jump, and taken as a teleport. Above 0; infinity takes nothing as a jump. The root's
    /// length is the flesh's size at rest; a bone's, against the root, that of the longest chain on it, and at least 0.15
    /// of the flesh's size. Frames longer than [`LONGEST_FRAME`] have as many times the lengths.
    pub jump: f64,
    /// After how long (s) flesh sleeps that stands still, alone or with all that it touches: it is not stepped, and keeps its shape
    /// and what presses it, until something wakes it (`Physics::wake` says what). Infinity, the default, lets none sleep. On a GPU
    /// flesh sleeps where there are [`StepConfig::passes`], and what it touches falls asleep and is woken an instance a frame.
    pub sleep_after: f64,
    /// By which share of its radius a node may go from where it was and stand still nonetheless, 0 to 1.
    pub sleep_within: f64,
    /// Threads on the CPU, which also find what a GPU is told; 0 takes all there are. A host that has threads of its own gives those
    /// (`Physics::thread_pool`).
    pub threads: usize,
}

impl Default for StepConfig {
    fn default() -> Self {
        Self {
            substeps: 4,
            iterations: 1,
            retries: 3,
            passes: 0,
            gravity: DVec3::new(0.0, -9.81, 0.0),
            integrator: Integrator::ImplicitEuler,
            jump: 1.0,
            sleep_after: f64::INFINITY,
            sleep_within: 0.01,
            threads: 0,
        }
    }
}

/// What became of a frame's time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameReport {
    /// Substeps taken.
    pub substeps: u32,
    /// Time that the flesh was simulated for (s), the last part of the frame.
    pub simulated: f64,
    /// Time that was asked for (s). Bones move through all of it.
    pub asked: f64,
}

impl StepConfig {
    /// How a frame of `dt` (s) is split: into [`StepConfig::substeps`] up to [`LONGEST_FRAME`], into as many more as it is
    /// longer, and into [`MOST_SPLIT`] times as many at most.
    pub fn split(&self, dt: f64) -> FrameReport {
        let most = self.substeps.saturating_mul(MOST_SPLIT);
        let simulated = dt.min(f64::from(MOST_SPLIT) * LONGEST_FRAME);
        // A frame of a whole number of substeps has no other for rounding.
        let wanted = f64::from(self.substeps) * (simulated / LONGEST_FRAME) * (1.0 - 1.0e-9);
        FrameReport { substeps: (wanted.ceil() as u32).clamp(self.substeps, most), simulated, asked: dt }
    }
}

/// How time is integrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// First order, damps fast motion. It takes of the angular momentum of what spins (ωh)² a substep; free chains are given that back,
    /// at most a tenth of all in a substep. What half-spaces hold, and chains that hang on each other, lose it.
    #[default]
    ImplicitEuler,
    /// Second-order backward differences (BDF2), where implicit Euler's damping shows. Flesh that hits flesh may lose 6 % of its
    /// momentum by it, by implicit Euler none. It needs equal steps: the first substep after `dt` or `substeps` change is an implicit
    /// Euler one, and so are all where anything has restitution.
    SecondOrder,
}

/// A stage in a frame's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// The stage.
    pub stage: Stage,
    /// Which of [`params_of`] it is run with: those of its substep and iteration, or of the one nearest to it where it stands
    /// outside.
    pub slot: u32,
}

/// The stages of a frame of `substeps` and so many `iterations` a substep in order; where there are `passes`, with those of chains
/// that meet, as a GPU has them.
pub fn schedule(substeps: u32, iterations: u32, passes: u32) -> Vec<Scheduled> {
    /// `slots` are those of the part of the frame that the table is for.
    fn walk(table: &[Entry], counts: [u32; 3], slots: std::ops::Range<u32>, into: &mut Vec<Scheduled>) {
        let [substeps, iterations, passes] = counts;
        let mut slot = slots.start;
        for entry in table {
            let (inner, count, each) = match *entry {
                Run(stage) => {
                    if passes > 0 || !stage.domain().is_of_meetings() {
                        into.push(Scheduled { stage, slot });
                    }
                    continue;
                }
                Substeps(inner) => (inner, substeps, iterations * settlings(passes)),
                Iterations(inner) => (inner, iterations, settlings(passes)),
                Passes(inner) => (inner, settlings(passes), 1),
            };
            for k in 0..count {
                let first = slots.start + k * each;
                walk(inner, counts, first..first + each, into);
            }
            slot = slots.end - 1;
        }
    }
    let mut stages = Vec::new();
    let slots = substeps * iterations * settlings(passes);
    walk(FRAME, [substeps, iterations, passes], 0..slots, &mut stages);
    stages
}

/// Parts of a schedule that the CPU runs at once: group by group, where no stage of it looks beyond; else a single stage.
pub fn runs(schedule: &[Scheduled], fused: bool) -> impl Iterator<Item = &[Scheduled]> {
    let alone = |of: &Scheduled| of.stage.domain() != Domain::Chains || of.stage.looks() == Looks::Beyond;
    schedule.chunk_by(move |before, after| fused && !alone(before) && !alone(after))
}

/// How a frame's table is walked: for tests that compare stage by stage, and for benches.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// The stage after whose first run the frame ends; `None` for all of it.
    pub last: Option<Stage>,
    /// Whether the CPU runs stages together that look at nothing but their own chain.
    pub fused: bool,
}

impl Default for Walk {
    fn default() -> Self {
        Self { last: None, fused: true }
    }
}

impl Walk {
    /// What of a schedule is walked.
    pub fn of<'a>(&self, schedule: &'a [Scheduled]) -> &'a [Scheduled] {
        let end = self.last.and_then(|last| schedule.iter().position(|scheduled| scheduled.stage == last));
        &schedule[..end.map_or(schedule.len(), |end| end + 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_has_the_parameters_of_its_substep_and_iteration() {
        let stages = schedule(2, 3, 0);
        let slots = |of: Stage| -> Vec<u32> {
            stages.iter().filter(|scheduled| scheduled.stage == of).map(|scheduled| scheduled.slot).collect()
        };
        assert_eq!(slots(Stage::GatherInputs), [0]);
        assert_eq!(slots(Stage::MoveBones), [0, 3], "a substep's first");
        assert_eq!(slots(Stage::SolveRods), [0, 1, 2, 3, 4, 5]);
        assert_eq!(slots(Stage::UpdateVelocities), [2, 5], "a substep's last");
        assert_eq!(slots(Stage::CheckHealth), [5]);
        assert_eq!(slots(Stage::ScatterOutputs), [5]);
        let config = StepConfig { substeps: 2, iterations: 2, ..StepConfig::default() };
        let params = params_of(&config, 1.0 / 60.0, 0.0, 0);
        let told: Vec<_> = params.iter().map(|params| (params.alpha, params.first_substep, params.iteration)).collect();
        assert_eq!(told, [(0.5, 1, 0), (0.5, 1, 1), (1.0, 0, 0), (1.0, 0, 1)]);
        let (stages, params) = (schedule(2, 2, 2), params_of(&config, 1.0 / 60.0, 0.0, 2));
        let of = |of: Stage| stages.iter().filter(move |scheduled| scheduled.stage == of);
        assert_eq!(of(Stage::SolveRods).map(|solve| solve.slot).collect::<Vec<_>>(), [0, 3, 6, 9]);
        assert_eq!(of(Stage::Settle).map(|pass| pass.slot).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
        assert_eq!((of(Stage::FindPairs).count(), of(Stage::CheckHealth).map(|last| last.slot).max()), (1, Some(11)));
        let told: Vec<_> =
            params.iter().map(|params| (params.first_substep, params.iteration, params.settling)).collect();
        assert_eq!(told[..7], [(1, 0, 0), (1, 0, 1), (1, 0, 2), (1, 1, 0), (1, 1, 1), (1, 1, 2), (0, 0, 0)]);
    }

    #[test]
    fn every_stage_is_in_the_frame() {
        let stages: Vec<_> = schedule(1, 1, 1).iter().map(|scheduled| scheduled.stage).collect();
        let mut first: Vec<Stage> = Vec::new();
        for stage in stages {
            if !first.contains(&stage) {
                first.push(stage);
            }
        }
        assert_eq!(first, Stage::ALL);
        // Where chains do not meet, none of that is.
        let others = Stage::ALL.into_iter().filter(|stage| !stage.domain().is_of_meetings()).collect::<Vec<_>>();
        assert_eq!(schedule(1, 1, 0).iter().map(|scheduled| scheduled.stage).collect::<Vec<_>>(), others);
    }

    #[test]
    fn chains_run_together_between_stages_that_look_beyond() {
        let stages = schedule(3, 2, 0);
        let local = |of: &Scheduled| of.stage.domain() == Domain::Chains && of.stage.looks() == Looks::Own;
        let together: Vec<_> = runs(&stages, true).collect();
        assert_eq!(together.concat(), stages);
        assert!(together.iter().all(|run| run.len() == 1 || run.iter().all(local)));
        assert!(together.windows(2).all(|pair| !(local(&pair[0][0]) && local(&pair[1][0]))), "no barrier for nothing");
        assert_eq!(runs(&stages, false).count(), stages.len());
        let until = Walk { last: Some(Stage::SolveRods), ..Walk::default() };
        assert_eq!(until.of(&stages).last().map(|last| last.stage), Some(Stage::SolveRods));
    }
}
