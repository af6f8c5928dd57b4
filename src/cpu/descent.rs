//! How chains go down Π, see [`solve_rods`](super::solve_rods): which steps are kept, shortened and followed by others. One loop
//! ([`run`]) for a group of chains, each for itself, and for chains that hang on each other ([`trees`](super::trees)), which do
//! all of it together. Its twin is `shaders/bindings/descent.wgsl`; the loops are in `shaders/solve_rods.wgsl`.

use super::contact_rows::Again;
use super::contacts::{meeting, press_on, stored_by_contacts};
use super::fibres::Excitation;
use super::group::{Group, contracts, second_order};
use super::holds::{Placed, When};
use super::lanes::{Entry, Lane, Lanes, apart, unrolled};
use super::potential::{Standing, rounding, standing};
use super::rod_energies::UNKNOWNS;
use super::solve_rods::{back, forth};
use super::solved::{sit_out, step_by};
use super::strains::most_stiffness;
use crate::layout::{chain, rest, scratch};
use crate::step::StepParams;

/// The least share of a step that a shorter one is taken for.
pub const LEAST_SHARE: f32 = 0.1;
/// How often a step is shortened before the chain stays where it is.
pub const SHORTENINGS: u32 = 6;
/// Which share of the foretold fall of Π is enough not to take another step.
pub const ENOUGH: f32 = 0.5;
/// How many steps a chain that meets others goes on by beyond those of the configuration where it is [`URGENT`].
pub const FURTHER: u32 = 8;
/// What a step makes Π fall by over its motion, and by more than rounding, where that may not be left to the next substep: it is
/// pressed by more than moves it, and where it stays in what presses it, it is pressed harder yet.
pub const URGENT: f32 = 1.0;
/// By which share of its diagonal a system is stiffened where a step of it as it is led nowhere: f32 has the pivots of one
/// that is bent and stretched beyond all measure to about a millionth of the diagonal, and least directions are noise.
pub const STIFFENED: f32 = 1.0e-4;
/// As [`solve_rods`](super::solve_rods::solve_rods).
#[inline(always)]
pub(super) fn descend<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>)
where
    L::Scalar: Into<f64>,
{
    let descent = Descent::begin(lanes, group);
    run(&mut OneGroup::new(lanes, params, group, descent), params.retries);
}

/// What goes down Π: a group of chains, each for itself, or all groups of chains that hang on each other.
pub(super) trait Descends {
    /// Takes a step, of all chains or `again` of those that are stepping.
    fn solve(&mut self, again: bool);
    /// Has those that have risen take another share of it.
    fn go_on(&mut self);
    /// Finds how those that have gone somewhere stand now.
    fn stand(&mut self);
    /// Judges the first step; whether any chain takes another.
    fn judge_first(&mut self) -> bool;
    /// Puts chains that have risen back to the substep's start.
    fn start_again(&mut self);
    /// Whether any chain has risen.
    fn rises(&mut self) -> bool;
    /// Shortens the step of those; to nothing if it may not be shortened further.
    fn shorten(&mut self, further: bool);
    /// Judges a further step; whether any chain takes another, `beyond` as many as the configuration has.
    fn judge(&mut self, beyond: bool) -> bool;
    /// Notes how it ended.
    fn end(&mut self);
}

/// Steps down Π in at most so many steps beyond the first, and [`FURTHER`] where that is not enough by far.
#[inline(always)]
pub(super) fn run(descending: &mut impl Descends, retries: u32) {
    let (mut solves, mut shortenings) = (0, 0);
    loop {
        if shortenings == 0 {
            descending.solve(solves > 0);
        } else {
            descending.go_on();
        }
        descending.stand();
        if solves == 0 {
            if !descending.judge_first() || retries == 0 {
                break;
            }
            descending.start_again();
            solves = 1;
            continue;
        }
        if shortenings <= SHORTENINGS && descending.rises() {
            descending.shorten(shortenings < SHORTENINGS);
            shortenings += 1;
            continue;
        }
        if !descending.judge(solves >= retries) || solves == retries + FURTHER {
            break;
        }
        (solves, shortenings) = (solves + 1, 0);
    }
    descending.end();
}

macro_rules! descent {
    ($($(#[doc = $doc:literal])+ $field:ident)+) => {
        /// How far chains have come. Flags are 1 where they hold of a lane's chain and 0 where not; what is done for one chain
        /// leaves the others as they are.
        #[derive(Clone, Copy)]
        pub(super) struct Descent<V> {
            $($(#[doc = $doc])+ pub $field: V,)+
        }

        /// How many entries [`Descent`] takes.
        pub(super) const DESCENT_ENTRIES: usize = [$(stringify!($field)),+].len();

        /// Where each of its entries is.
        #[allow(dead_code, non_camel_case_types, reason = "one for each field, by its name")]
        #[derive(Clone, Copy)]
        pub(super) enum Of {
            $($field),+
        }

        impl<V: Lane> Descent<V> {
            #[inline(always)]
            pub fn load<L: Lanes<V = V>>(lanes: L, entries: &[Entry<L::Scalar>; DESCENT_ENTRIES]) -> Self {
                Self { $($field: lanes.load(&entries[Of::$field as usize])),+ }
            }

            #[inline(always)]
            pub fn store<L: Lanes<V = V>>(&self, lanes: L, entries: &mut [Entry<L::Scalar>; DESCENT_ENTRIES]) {
                $(lanes.store(self.$field, &mut entries[Of::$field as usize]);)+
            }
        }
    };
}
descent! {
    /// Ψ at the substep's start (J).
    at_start
    /// Ψ now (J).
    stored
    /// Π now, as [`Standing::level`](super::potential::Standing::level) (J).
    level
    /// What motion has gained (J).
    gained
    /// Motion (J).
    motion
    /// By how much Π may seem to grow for rounding (J).
    unsure
    /// The least Π so far (J).
    lowest
    /// By how much the last step makes Π fall where Π is what the step takes it for (J).
    fall
    /// Where it goes too far to be trusted.
    far
    /// 1 where it took friction amiss, 2 where contacts.
    amiss
    /// Which share of it is taken.
    share
    /// Where Π has risen, or where a step was taken and how it stands is not known yet; of what steps alone.
    risen
    /// Where the first step led astray.
    astray
    /// Where it led astray or went far.
    rough
    /// Where it began again and has made no whole step since: with what its rows press it is not in balance.
    adrift
    /// Where another step is taken.
    stepping
    /// By which share of its diagonal the system is stiffened.
    stiffened
    /// Where a step has led up.
    overshot
    /// Where the chain meets another.
    meets
}

impl<V: Lane> Descent<V> {
    /// Before the first step.
    #[inline(always)]
    pub fn begin<L: Lanes<V = V>>(lanes: L, group: &Group<L::Scalar>) -> Self
    where
        L::Scalar: Into<f64>,
    {
        let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
        let mut at_start = lanes.load(&group.chains[chain::START_POTENTIAL]);
        if group.is_touched() {
            at_start = at_start + apart!(lanes, stored_by_contacts(lanes, group, When::Start));
        }
        Self {
            at_start,
            stored: zero,
            level: zero,
            gained: zero,
            motion: zero,
            unsure: zero,
            lowest: at_start,
            fall: zero,
            far: zero,
            amiss: zero,
            share: one,
            risen: one,
            astray: zero,
            rough: zero,
            adrift: zero,
            stepping: one,
            stiffened: zero,
            overshot: zero,
            meets: meeting(lanes, group),
        }
    }

    /// Judges the first step.
    #[inline(always)]
    pub fn judge_first<L: Lanes<V = V>>(&mut self, lanes: L) {
        let one = lanes.splat(1.0);
        let raised = risen_by(lanes, self.level - self.at_start, self.unsure, one);
        let grown = risen_by(lanes, self.stored + self.gained - self.at_start, self.unsure, one);
        self.astray = grown.max(raised);
        self.rough = self.astray.max(self.far);
        self.stepping = self.rough.max(self.amiss.min(one));
        self.lowest = raised.where_less(lanes.splat(0.5), self.level, self.at_start);
        self.risen = raised;
    }

    /// Flags which of the chains that have risen still do.
    #[inline(always)]
    pub fn rises<L: Lanes<V = V>>(&mut self, lanes: L) {
        self.risen = risen_by(lanes, self.level - self.lowest, self.unsure, self.risen);
    }

    /// Shortens their step to the least of the parabola through both levels that begins with the slope −2·fall; in the end, to
    /// nothing.
    #[inline(always)]
    pub fn shorten<L: Lanes<V = V>>(&mut self, lanes: L, further: bool) {
        let (zero, half) = (lanes.splat(0.0), lanes.splat(0.5));
        let foretold = self.fall * self.share;
        let bend = (self.level - self.lowest + foretold + foretold).max(lanes.splat(f32::MIN_POSITIVE));
        let shorter = self.share * (foretold / bend).clamp(lanes.splat(LEAST_SHARE), half);
        let shorter = if further { shorter } else { zero };
        self.share = self.risen.where_less(half, self.share, shorter);
    }

    /// Judges a further step. Of friction, passes of chains that meet others make up for what one more did not. Another one `beyond`
    /// as many as the configuration has only what is [`URGENT`] takes.
    #[inline(always)]
    pub fn judge<L: Lanes<V = V>>(&mut self, lanes: L, beyond: bool) {
        let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
        let short = (self.lowest - self.level).where_less(self.fall * lanes.splat(ENOUGH), one, zero);
        let amiss = lanes.splat(0.5).where_less(self.meets, self.amiss - one, self.amiss);
        self.adrift = self.share.where_less(one, self.adrift, zero);
        self.stepping = self.stepping.min(short.max(self.far).max(amiss));
        if beyond {
            let little = (self.motion * lanes.splat(URGENT)).max(self.unsure);
            let urgent = little.where_less(self.fall, self.meets, zero);
            self.stepping = self.stepping.min(urgent);
        }
        self.stiffened = self.share.where_less(lanes.splat(LEAST_SHARE), lanes.splat(STIFFENED), self.stiffened);
        self.overshot = self.share.where_less(one, one, self.overshot);
        // What was shortened to nothing has risen to the last, and may be done: it is not to stand anew with others.
        (self.lowest, self.risen) = (self.level, zero);
    }

    /// By which share of a further step rows come to press otherwise: by what is taken of it, where passes go on from that. What meets no
    /// other, or is adrift, only remembers it, and that as if it had taken all of it: what is squeezed flat takes little of any.
    #[inline(always)]
    fn share_pressed<L: Lanes<V = V>>(&self, lanes: L) -> V {
        let one = lanes.splat(1.0);
        lanes.splat(0.5).where_less(self.meets.min(one - self.adrift), self.share, one)
    }

    /// Which share of velocities there is energy for.
    #[inline(always)]
    fn kept<L: Lanes<V = V>>(&self, lanes: L) -> V {
        let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
        let left = (self.motion - self.gained - (self.stored - self.at_start)).max(zero);
        let kept = (left / self.motion.max(lanes.splat(f32::MIN_POSITIVE))).sqrt();
        let kept = left.where_less(self.motion, kept, one);
        // What chains that meet give each other is no one's growth, and would be lost to both.
        let kept = half.where_less(self.meets, one, kept);
        self.astray.where_less(half, one, kept)
    }
}

/// A group of chains that goes down Π, each for itself.
pub(super) struct OneGroup<'a, 'b, L: Lanes> {
    lanes: L,
    /// Whether fibres pull.
    contracting: bool,
    params: &'a StepParams,
    group: &'a mut Group<'b, L::Scalar>,
    inv_step2: L::V,
    pub descent: Descent<L::V>,
}

impl<'a, 'b, L: Lanes> OneGroup<'a, 'b, L>
where
    L::Scalar: Into<f64>,
{
    #[inline(always)]
    pub fn new(lanes: L, params: &'a StepParams, group: &'a mut Group<'b, L::Scalar>, descent: Descent<L::V>) -> Self {
        let second_order = second_order(lanes, params, group);
        let inv_step = lanes.splat(params.inv_h) * (lanes.splat(1.0) + second_order * lanes.splat(0.5));
        Self { lanes, contracting: contracts(group), params, group, inv_step2: inv_step * inv_step, descent }
    }

    #[inline(always)]
    fn excitation(&self) -> Option<Excitation<L::V>> {
        if self.contracting { Some(Excitation::of_chain(self.lanes, self.params, self.group)) } else { None }
    }

    /// Which chains are solved again, and how.
    #[inline(always)]
    fn again(&self) -> Again<L::V> {
        let Descent { stepping: solved, stiffened, overshot, .. } = self.descent;
        Again { solved, stiffened, overshot }
    }

    /// Sets the system up and eliminates its nodes in order.
    #[inline(always)]
    pub fn forth(&mut self, again: bool) {
        let (lanes, again, excitation) = (self.lanes, again.then_some(self.again()), self.excitation());
        if again.is_some() {
            keep(lanes, self.group);
        }
        let reacts = self.params.asks_for_reactions();
        apart!(lanes, forth(lanes, self.inv_step2, self.group, excitation, again, reacts));
    }

    /// Solves it from the last node on, and steps.
    #[inline(always)]
    pub fn back(&mut self, again: bool) {
        let (lanes, again) = (self.lanes, again.then_some(self.again()));
        let reacts = self.params.asks_for_reactions();
        let stepped = back(lanes, self.group, again, reacts);
        self.stepped(stepped);
    }

    #[inline(always)]
    fn stepped(&mut self, (fall, far, amiss): (L::V, L::V, L::V)) {
        let (lanes, descent) = (self.lanes, &mut self.descent);
        (descent.fall, descent.far, descent.amiss) = (fall, far, amiss);
        // Of those that have ended it stays which share of their last one they took.
        descent.share = lanes.splat(0.5).where_less(descent.stepping, lanes.splat(1.0), descent.share);
        descent.risen = descent.stepping;
    }
}

impl<L: Lanes> Descends for OneGroup<'_, '_, L>
where
    L::Scalar: Into<f64>,
{
    #[inline(always)]
    fn solve(&mut self, again: bool) {
        self.forth(again);
        self.back(again);
    }

    #[inline(always)]
    fn go_on(&mut self) {
        go_on(self.lanes, self.group, self.descent.share, self.descent.risen);
    }

    #[inline(always)]
    fn stand(&mut self) {
        let (lanes, excitation) = (self.lanes, self.excitation());
        let reached = apart!(lanes, standing(lanes, self.group, self.inv_step2, excitation));
        // Of what is reached now: of a step that led far astray, it would hide whatever a shorter one does.
        let unsure = rounding(lanes, self.group, self.inv_step2, &reached);
        let (level, stored) = (reached.level(), reached.stored.whole());
        let Standing { gained, motion, .. } = reached;
        // Those that stand where they stood know it of all of their tree.
        let (went, descent) = (self.descent.risen, &mut self.descent);
        let entries = [
            (&mut descent.level, level),
            (&mut descent.stored, stored),
            (&mut descent.gained, gained),
            (&mut descent.motion, motion),
            (&mut descent.unsure, unsure),
        ];
        for (entry, value) in entries {
            *entry = lanes.splat(0.5).where_less(went, value, *entry);
        }
    }

    #[inline(always)]
    fn judge_first(&mut self) -> bool {
        self.descent.judge_first(self.lanes);
        self.lanes.any(self.descent.stepping)
    }

    #[inline(always)]
    fn start_again(&mut self) {
        let risen = self.descent.risen;
        (self.descent.overshot, self.descent.adrift) = (risen, risen);
        start_again(self.lanes, self.group, risen);
    }

    #[inline(always)]
    fn rises(&mut self) -> bool {
        self.descent.rises(self.lanes);
        self.lanes.any(self.descent.risen)
    }

    #[inline(always)]
    fn shorten(&mut self, further: bool) {
        self.descent.shorten(self.lanes, further);
    }

    #[inline(always)]
    fn judge(&mut self, beyond: bool) -> bool {
        if self.group.is_touched() && self.lanes.any(self.descent.stepping) {
            apart!(self.lanes, press_on(self.lanes, self.group, self.again(), self.descent.share_pressed(self.lanes)));
        }
        self.descent.judge(self.lanes, beyond);
        self.lanes.any(self.descent.stepping)
    }

    #[inline(always)]
    fn end(&mut self) {
        let (lanes, group, one) = (self.lanes, &mut *self.group, self.lanes.splat(1.0));
        lanes.store(self.descent.kept(lanes), &mut group.chains[chain::CALM]);
        let mut rough = self.descent.rough.max(lanes.load(&group.chains[chain::ROUGH]));
        lanes.store(self.descent.meets, &mut group.chains[chain::MEETS]);
        // Of what took nothing of its last step the system is no good, or no number.
        let none = lanes.splat(0.0).where_less(self.descent.share, lanes.splat(0.0), one);
        let astray = self.descent.adrift.max(none);
        if !group.solved.is_empty() && lanes.any(astray) {
            apart!(lanes, sit_out(lanes, group, astray));
            // With what its rows would press is not known.
            rough = rough.max(astray.min(self.descent.meets));
        }
        lanes.store(rough, &mut group.chains[chain::ROUGH]);
        // What is stiffer than its step resolves hangs on the step.
        let stiff = most_stiffness(lanes, group.rest.row(0), self.inv_step2, lanes.epsilon()).is_some();
        // Of chains that hang on each other it is of all of them.
        let elastic_alone = !(self.contracting || stiff || group.is_touched() || group.rest.is_in_tree());
        let potential = if elastic_alone { self.descent.stored } else { -one };
        // What slides, or turns with the path, will be held elsewhere.
        let potential = lanes.splat(0.5).where_less(turning(lanes, group), -one, potential);
        lanes.store(potential, &mut group.chains[chain::POTENTIAL]);
    }
}

/// Flags chains that slide in their beds, or of which something that holds them turns with the path.
#[inline(always)]
fn turning<L: Lanes>(lanes: L, group: &Group<L::Scalar>) -> L::V {
    let mut flag = lanes.load(&group.rest.row(0)[rest::SLIDES_IN_BED]);
    for index in (0..group.rest.node_count).filter(|&index| group.rest.turns[index]) {
        flag = flag.max(lanes.load(&group.rest.row(index)[rest::TURNS]));
    }
    flag
}

/// Flags which of the flagged chains have risen, or are no longer numbers.
#[inline(always)]
fn risen_by<L: Lanes>(lanes: L, by: L::V, unsure: L::V, flag: L::V) -> L::V {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    flag.min(by.where_less(unsure, zero, one))
}

/// Puts flagged chains back to the substep's start.
#[inline(always)]
fn start_again<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, flag: L::V) {
    apart!(lanes, put_back(lanes, group, flag));
}

/// See [`start_again`].
#[inline(always)]
fn put_back<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, flag: L::V) {
    for index in 0..group.rest.node_count {
        let start = Placed::start(lanes, group, index);
        start.store_of(lanes, group.row_mut(index), flag);
    }
}

/// Keeps where the chains are, for [`go_on`].
#[inline(always)]
fn keep<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>) {
    apart!(lanes, keep_places(lanes, group));
}

/// See [`keep`].
#[inline(always)]
fn keep_places<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>) {
    for index in 0..group.rest.node_count {
        let now = Placed::now(lanes, group.row(index));
        let row = group.scratch_row(index);
        now.moved.store(lanes, row, scratch::BASE);
        lanes.store(now.scale, &mut row[scratch::BASE + 3]);
        now.frame.store(lanes, row, scratch::BASE + 4);
    }
}

/// Puts flagged chains where a share of the last solve's step takes them from where they were kept.
#[inline(always)]
fn go_on<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, share: L::V, flag: L::V) {
    apart!(lanes, take_share(lanes, group, share, flag));
}

/// See [`go_on`].
#[inline(always)]
fn take_share<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, share: L::V, flag: L::V) {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let moves = zero.where_less(share, one, zero);
    for index in 0..group.rest.node_count {
        let base = Placed::base(lanes, group, index);
        let row = group.scratch_row(index);
        let mut delta = [share; UNKNOWNS];
        unrolled!(for k in 0..7 {
            delta[k] = share * lanes.load(&row[scratch::STEP + k]);
        });
        let row = group.row_mut(index);
        // A step that is no number has no share.
        let to = base.or(lanes, &step_by(lanes, row, base, &delta), moves);
        to.store_of(lanes, row, flag);
    }
}
