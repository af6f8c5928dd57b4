//! Π at the end of a substep against Π at its start, with what bones hold where they hold it now.

use glam::DVec3;
use sinew::cpu::fibres::Excitation;
use sinew::cpu::group::{Group, GroupRest};
use sinew::cpu::holds::Placed;
use sinew::cpu::lanes::{Entry, LANES, Lanes, OneF32, OneF64};
use sinew::cpu::math::{Quaternion, V3};
use sinew::cpu::potential::{rounding, standing};
use sinew::cpu::rod_energies::segment_potential;
use sinew::cpu::strains::{Reference, Section, most_stiffness};
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::layout::{POSE, chain, contact, input, node, plane, rest};
use sinew::step::{Integrator, Stage, StepConfig, StepParams};
use sinew::{Material, Pose};

use crate::common::Random;
use crate::stages::Staged;

/// Eight rods of `segments`, of any material and contraction, hung by one end, by both or by none; some guided in their
/// middle, in a bed of fascia, or stiff against bends of their surface.
fn random_rods(random: &mut Random, segments: usize) -> (Flesh, Vec<Pose>) {
    let hung = random.bits() % 3;
    let bones: Vec<Pose> = (0..hung).map(|k| Pose::from_translation(DVec3::X * (0.1 * k as f64))).collect();
    let rod = |random: &mut Random, index: usize| {
        let length = random.log_uniform(0.03, 1.0);
        let radius = length * random.log_uniform(0.01, 0.3);
        let mut rod = RodSpec::straight(format!("rod {index}"), DVec3::ZERO, DVec3::X * length, segments, radius);
        let youngs_modulus = random.log_uniform(1.0e3, 1.0e10);
        rod.material = Material {
            youngs_modulus,
            poissons_ratio: random.uniform(-0.4, 0.4999),
            density: random.log_uniform(100.0, 3000.0),
            damping: random.log_uniform(0.1, 10.0),
            peak_stress: youngs_modulus * random.log_uniform(0.01, 1.0),
            ..Material::default()
        };
        let maybe = |random: &mut Random, value: f64| (random.bits().is_multiple_of(2)).then_some(value);
        rod.contraction.optimal_stretch = maybe(random, 1.1);
        rod.contraction.max_velocity = maybe(random, 8.0);
        rod.contraction.passive = [0.0, 0.3][(random.bits() % 2) as usize];
        rod.contraction.shortening = [0.0, random.uniform(0.0, 0.9)][(random.bits() % 2) as usize];
        if hung > 0 {
            rod = rod.attach(0, 0, [Holds::CLAMP, Holds::PIN, Holds::PIVOT][(random.bits() % 3) as usize]);
        }
        if hung > 0 && segments > 1 && random.bits().is_multiple_of(3) {
            rod = rod.attach(segments / 2, 0, Holds::GUIDE);
        }
        if hung > 1 {
            rod = rod.attach(segments, 1, Holds::CLAMP);
        }
        if hung > 0 && random.bits().is_multiple_of(2) {
            rod.fascia = random.log_uniform(1.0, 1000.0);
            rod.slides_in_bed = random.bits().is_multiple_of(2);
        }
        if random.bits().is_multiple_of(3) {
            let stiff = youngs_modulus * radius.powi(2) * random.log_uniform(0.01, 10.0);
            rod.material.overrides.surface_bending = Some(stiff);
        }
        rod
    };
    let rods: Vec<RodSpec> = (0..LANES).map(|index| rod(random, index)).collect();
    (Flesh::build(&rods, &bones).expect("all in range"), bones)
}

/// Some energy (J), and the sum of what it is the small difference of.
#[derive(Clone, Copy, Default)]
struct Sum {
    value: f64,
    gross: f64,
    /// What of it is the inertia of nodes that guides move, across which they are only as far as rounding has it.
    guided: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        self.value += value;
        self.gross += value.abs();
    }
}

/// Π (J) of a lane's chain with its nodes `at` some places, each with how far it has moved (m), written anew: ½m|x − x̂|²/h̃²
/// and so on, and what segments, fascia, the surface's bends (15), contacts and friction store. `unit` is that in the last
/// place of 1 where it was solved.
fn potential(group: &Group<'_, f64>, lane: usize, params: &StepParams, unit: f64, at: &[(Section<f64>, DVec3)]) -> Sum {
    let lanes = OneF64(lane);
    let read = |index: usize, entry: usize| group.row(index)[entry][lane];
    let vector = |index: usize, entry: usize| DVec3::from_array(std::array::from_fn(|k| read(index, entry + k)));
    let quaternion =
        |index: usize, entry: usize| glam::DQuat::from_array(std::array::from_fn(|k| read(index, entry + k)));
    let inv_step2 = inv_step2(group, params, lane);
    let across = |v: DVec3, normal: DVec3| v - normal * normal.dot(v);
    let most = most_stiffness(lanes, group.rest.row(0), inv_step2, unit);
    let mut sum = Sum::default();
    for (index, (section, moved)) in at.iter().enumerate() {
        let of = |entry: usize| group.rest.row(index)[entry][lane];
        let lag = *moved - vector(index, node::PREDICTED_MOVE);
        // What bones hold is where they have it, to rounding, which is much of what they jerk it by.
        let goes = of(rest::FREE_PLACE).max(of(rest::SLIDES));
        let inertia = goes * 0.5 * of(rest::MASS) * inv_step2 * lag.length_squared();
        sum.add(inertia);
        sum.guided += of(rest::SLIDES) * inertia;
        sum.add(0.5 * of(rest::INERTIA_W) * inv_step2 * (section.scale - read(index, node::PREDICTED_SCALE)).powi(2));
        let predicted = quaternion(index, node::PREDICTED_FRAME);
        let e = (predicted.conjugate() * glam::DQuat::from_array(section.frame.0)).xyz();
        let turning = of(rest::INERTIA_U) * e.x * e.x
            + of(rest::INERTIA_V) * e.y * e.y
            + 2.0 * of(rest::INERTIA_UV) * e.x * e.y
            + of(rest::INERTIA_W) * e.z * e.z;
        sum.add(of(rest::FREE_FRAME) * 2.0 * read(index, node::PREV_SCALE).powi(2) * inv_step2 * turning);

        if group.rest.has_fascia {
            let off = vector(index, node::PREV_PLACE) + *moved - vector(index, node::BED);
            let path = vector(index, node::BED_PATH);
            sum.add(0.5 * of(rest::FASCIA) * off.length_squared());
            sum.add(0.5 * read(index, node::TIE) * across(off, path).length_squared());
        }
        if index > 0 && index + 1 < at.len() {
            let slope = |j: usize| (at[j + 1].0.scale - at[j].0.scale) * group.rest.row(j)[rest::INV_LENGTH][lane];
            sum.add(0.5 * of(rest::SURFACE_BENDING) * (slope(index) - slope(index - 1)).powi(2));
        }
    }
    for row in group.contacts.chunks_exact(contact::ENTRIES) {
        let of = |entry: usize| row[entry][lane];
        let vector = |at: usize| DVec3::from_array(std::array::from_fn(|k| of(at + k)));
        let (section, moved) = &at[of(contact::SEGMENT) as usize];
        let scaled = section.scale - read(of(contact::SEGMENT) as usize, node::PREV_SCALE);
        let direction = vector(contact::DIRECTION);
        let distance = of(contact::GAP) + direction.dot(*moved) - of(contact::SCALE_TERM) * scaled;
        sum.add(0.5 * of(contact::STIFFNESS) * distance.min(0.0).powi(2));
        let turn = glam::DQuat::from_array(section.frame.0)
            * quaternion(of(contact::SEGMENT) as usize, node::PREV_FRAME).conjugate();
        let swept = direction.cross(turn.xyz() * (2.0 * turn.w.signum())) * of(contact::ARM);
        let slid = across(*moved, direction) + swept - vector(contact::ANCHOR);
        // A spring up to Coulomb's limit, the limit from there.
        let (spring, limit, far) = (of(contact::FRICTION), of(contact::LIMIT), slid.length());
        sum.add(if spring * far > limit { limit * (far - 0.5 * limit / spring) } else { 0.5 * spring * far * far });
    }
    let acting = group.rest.has_stiff_fibres || group.inputs[input::ACTIVATION].iter().any(|x| *x != 0.0);
    for (index, pair) in at.windows(2).enumerate() {
        let mut excitation = Excitation::of_chain(lanes, params, group);
        excitation.prev_stretch = read(index, node::PREV_FIBRE_STRETCH);
        let excitation = acting.then_some(&excitation);
        let stored = segment_potential(
            lanes,
            [pair[0].0, pair[1].0],
            group.rest.row(index),
            Reference::of(lanes, group, index, most),
            excitation,
        );
        sum.add(stored.strain);
        sum.add(stored.turn);
    }
    sum
}

/// 1/h̃² (1/s²) of a lane's chain.
fn inv_step2<T: Copy + Into<f64>>(group: &Group<'_, T>, params: &StepParams, lane: usize) -> f64 {
    let second_order =
        if group.chains[chain::HISTORY][lane].into() < 1.0 { 0.0 } else { f64::from(params.second_order) };
    (f64::from(params.inv_h) * (1.0 + 0.5 * second_order)).powi(2)
}

/// Whether two neighbours are turned against each other by half a turn but for rounding, where the potential jumps.
fn on_edge(at: &[(Section<f64>, DVec3)]) -> bool {
    at.windows(2).any(|pair| pair[0].0.frame.dot(pair[1].0.frame).abs() < 1.0e-5)
}

/// The nodes of a lane's chain now, or at the substep's start with what bones hold where they hold it.
fn sections(group: &Group<'_, f64>, lane: usize, start: bool) -> Vec<(Section<f64>, DVec3)> {
    (0..group.rest.node_count)
        .map(|index| {
            let of = |entry: usize| group.rest.row(index)[entry][lane];
            let (row, free) = (group.row(index), |entry: usize| of(entry) == 1.0);
            // What bones hold is where it is held from the prediction on.
            let which = |now: usize, before: usize, is_free: bool| if start && is_free { before } else { now };
            let place = which(node::PLACE, node::PREV_PLACE, free(rest::FREE_PLACE));
            let frame = which(node::FRAME, node::PREV_FRAME, free(rest::FREE_FRAME));
            let scale = row[which(node::SCALE, node::PREV_SCALE, free(rest::FREE_SCALE))][lane];
            let vector = |at: usize| DVec3::from_array(std::array::from_fn(|k| row[at + k][lane]));
            let mut at = vector(place);
            let mut moved = if place == node::PREV_PLACE { DVec3::ZERO } else { vector(node::MOVED) };
            if start && of(rest::SLIDES) == 1.0 {
                let guide: [f64; 4] = std::array::from_fn(|k| row[node::TARGET_FRAME + k][lane]);
                let path = glam::DQuat::from_array(guide) * DVec3::Z;
                let off = vector(node::PREV_PLACE) - vector(node::TARGET_PLACE);
                moved -= off - path * path.dot(off);
                at = vector(node::PREV_PLACE) + moved;
            }
            let section = Section {
                place: V3(at.to_array()),
                scale,
                frame: Quaternion(std::array::from_fn(|k| row[frame + k][lane])),
            };
            (section, moved)
        })
        .collect()
}

/// What many random substeps found.
#[derive(Default)]
struct Found {
    substeps: usize,
    /// Of these, how many were led astray.
    rough: usize,
    /// Of these, how many began or ended with a contact.
    touching: usize,
    /// How many more were not looked at, see [`on_edge`].
    on_edge: usize,
    /// How many frames that bones hold are of another sign now than at the start.
    of_two_signs: usize,
    /// The most that Π has risen by, over what it may by rounding: of chains without a guide, and of those with one.
    worst: [f64; 2],
    at: String,
}

/// Eight chains thrown into any state, to be jerked, excited and stepped.
pub struct Thrown<T> {
    pub staged: Staged<T>,
    pub config: StepConfig,
    pub dt: f64,
    /// The rest rows in f64.
    wide: GroupRest<f64>,
    /// How far they are thrown, in lengths and in radians.
    far: f64,
    /// Where the bones are at first.
    home: Vec<Entry<T>>,
}

impl<T: Copy + From<f32> + Into<f64> + PartialEq> Thrown<T> {
    pub fn new(random: &mut Random, to: impl Fn(&Flesh) -> GroupRest<T>) -> Self {
        let segments = 1 + (random.bits() % 6) as usize;
        let (flesh, bones) = random_rods(random, segments);
        let mut staged = Staged::new(&flesh, &bones, to(&flesh));
        let wide = flesh.groups()[0].to_f64();
        let number = |x: f64| T::from(x as f32);
        let far = random.log_uniform(1.0e-3, 1.0);
        for lane in 0..LANES {
            for index in 0..=segments {
                let [x, y, z] = staged.read::<3>(index, node::PLACE, lane);
                let place = DVec3::new(x, y, z) + random.vector(-1.0, 1.0) * (far * length(&wide, lane));
                let turned = glam::DQuat::from_scaled_axis(random.vector(-1.0, 1.0) * (3.0 * far));
                let frame = turned * glam::DQuat::from_array(staged.read(index, node::FRAME, lane));
                staged.write(index, node::PLACE, lane, place.to_array().map(number));
                staged.write(index, node::FRAME, lane, frame.normalize().to_array().map(number));
                staged.write(index, node::SCALE, lane, [number(1.0 + far * random.uniform(-0.5, 1.0))]);
                staged.write(index, node::VELOCITY, lane, (random.vector(-10.0, 10.0) * far).to_array().map(number));
                staged.write(index, node::SPIN, lane, (random.vector(-100.0, 100.0) * far).to_array().map(number));
            }
        }
        let home = staged.chains[chain::BONE_NOW..][..chain::BONE_PREV].to_vec();
        let substeps = 1 + (random.bits() % 4) as u32;
        let integrator = [Integrator::ImplicitEuler, Integrator::SecondOrder][(random.bits() % 2) as usize];
        let (iterations, retries) = (1 + (random.bits() % 3) as u32, 1 + (random.bits() % 4) as u32);
        let config = StepConfig { substeps, iterations, retries, integrator, ..Default::default() };
        if random.bits().is_multiple_of(2) {
            // Two, of which one moves.
            let mut planes = vec![[number(0.0); LANES]; 2 * plane::ENTRIES];
            for (slot, lane) in (0..2).flat_map(|slot| (0..LANES).map(move |lane| (slot, lane))) {
                let still = if slot == 0 { 0.0 } else { far };
                let (normal, offset) = (random.vector(-1.0, 1.0).normalize(), random.uniform(-1.0, 0.3));
                let turned = (normal + random.vector(-0.1, 0.1) * still).normalize();
                let (moves, turns) = (random.vector(-0.3, 0.3) * still, random.vector(-0.1, 0.1) * still);
                for (at, values) in [
                    (plane::NORMAL_FROM, turned.extend(offset + random.uniform(-0.1, 0.1) * still).to_array()),
                    (plane::NORMAL_TO, normal.extend(offset).to_array()),
                    (plane::FRICTION, [random.uniform(0.0, 1.0), moves.x, moves.y, moves.z]),
                    (plane::TURN, [turns.x, turns.y, turns.z, 0.0]),
                ] {
                    for (k, value) in values.into_iter().enumerate().filter(|(k, _)| at + k < plane::ENTRIES) {
                        let in_metres =
                            [plane::OFFSET_FROM, plane::OFFSET_TO].contains(&(at + k)) || at + k >= plane::MOVE;
                        let unit = if in_metres && at + k < plane::TURN { length(&wide, lane) } else { 1.0 };
                        planes[slot * plane::ENTRIES + at + k][lane] = number(value * unit);
                    }
                }
            }
            staged.touch(planes);
        }
        let dt = random.log_uniform(1.0e-4, 0.1);
        Self { staged, config, dt, wide, far, home }
    }

    /// Jerks the bones from where they are, and excites some.
    pub fn jerk(&mut self, random: &mut Random) {
        let Self { staged, wide, far, home, .. } = self;
        let number = |x: f64| T::from(x as f32);
        let jumps: Vec<[f64; 2 * POSE]> = (0..LANES)
            .map(|lane| {
                let mut to: [f64; 2 * POSE] = std::array::from_fn(|entry| home[entry][lane].into());
                for pose in to.chunks_mut(POSE) {
                    let jump = random.vector(-1.0, 1.0) * (*far * length(wide, lane));
                    let turn = glam::DQuat::from_scaled_axis(random.vector(-1.0, 1.0) * *far);
                    let turned = (turn * glam::DQuat::from_slice(&pose[3..])).normalize().to_array();
                    pose.iter_mut().zip(jump.to_array()).for_each(|(x, by)| *x += by);
                    pose[3..].copy_from_slice(&turned);
                }
                to
            })
            .collect();
        staged.aim(|entry, lane| if entry < 2 * POSE { number(jumps[lane][entry]) } else { home[entry][lane] });
        for lane in 0..LANES {
            let excited = random.bits().is_multiple_of(3);
            staged.inputs[input::ACTIVATION][lane] = number(if excited { random.uniform(0.0, 10.0) } else { 0.0 });
        }
    }
}

/// A chain's length (m).
fn length(rest: &GroupRest<f64>, lane: usize) -> f64 {
    (0..rest.node_count - 1).map(|j| 1.0 / rest.row(j)[rest::INV_LENGTH][lane]).sum()
}

/// Looks at Π in some frames of thrown chains.
fn throw<T, L>(random: &mut Random, of: impl Fn(usize) -> L, to: impl Fn(&Flesh) -> GroupRest<T>, found: &mut Found)
where
    T: Copy + From<f32> + Into<f64> + PartialEq,
    L: Lanes<Scalar = T>,
    L::V: Into<f64>,
{
    let unit: f64 = of(0).epsilon().into();
    let mut thrown = Thrown::new(random, to);
    for _ in 0..8 {
        thrown.jerk(random);
        let Thrown { staged, config, dt, wide, .. } = &mut thrown;
        let mut before = Vec::new();
        staged.frame(&of, config, *dt, |stage, params, group| {
            if !matches!(stage, Stage::Predict | Stage::SolveRods | Stage::SolveContacts) {
                return;
            }
            let allowed: Vec<f64> = (0..LANES).map(|lane| allowed(of(lane), params, group, lane)).collect();
            let rows: [&[Entry<T>]; 4] = [group.nodes, group.inputs, group.chains, group.contacts];
            let mut rows = rows.map(as_f64);
            let [nodes, inputs, chains, contacts] = &mut rows;
            let there = Group { rest: wide, nodes, inputs, forces: &[], planes: &[], tangents: &[], meets: &mut [], solved: &mut [], chains, contacts, reactions: &mut [], scratch: &mut [] };
            // Contacts that are found between two solves of a substep were there at its start.
            if stage != Stage::SolveRods {
                let start = |lane: usize| {
                    let at = sections(&there, lane, true);
                    (potential(&there, lane, params, unit, &at), on_edge(&at))
                };
                before = (0..LANES).map(start).collect();
                return;
            }
            for lane in 0..LANES {
                let held = (0..wide.node_count).filter(|&index| wide.row(index)[rest::FREE_FRAME][lane] == 0.0);
                let now = |index: usize| Placed::now(OneF64(lane), there.row(index)).frame;
                let start = |index: usize| Placed::start(OneF64(lane), &there, index).frame;
                found.of_two_signs += held.filter(|&index| now(index).dot(start(index)) < 0.0).count();
                let at = sections(&there, lane, false);
                let (before, edge) = before[lane];
                if edge || on_edge(&at) {
                    found.on_edge += 1;
                    continue;
                }
                let now = potential(&there, lane, params, unit, &at);
                // A projection onto a guide rounds a few times, and is done at every step.
                let allowed = allowed[lane] + 8.0 * of(lane).epsilon().into() * before.guided;
                let risen = (now.value - before.value) / allowed.max(1.0e-13 * before.gross);
                found.substeps += 1;
                let mut touching = there.contacts.iter().skip(contact::STIFFNESS).step_by(contact::ENTRIES);
                found.touching += usize::from(touching.any(|stiffness| stiffness[lane] > 0.0));
                found.rough += usize::from(there.chains[chain::ROUGH][lane] > 0.5);
                let guided = usize::from((0..wide.node_count).any(|index| wide.row(index)[rest::SLIDES][lane] > 0.5));
                if risen.is_nan() || risen > found.worst[guided] {
                    found.worst[guided] = if risen.is_nan() { f64::INFINITY } else { risen };
                    found.at = format!(
                        "{:.9e} from {:.9e} J, h = {:.1e}, stiffest {:.1e}, rough {}, activation {:.1}, solver {:.9e} from {:.9e}",
                        now.value,
                        before.value,
                        params.h,
                        wide.row(0)[rest::FASTEST2][lane],
                        there.chains[chain::ROUGH][lane],
                        there.inputs[input::ACTIVATION][lane],
                        there.chains[chain::POTENTIAL][lane],
                        there.chains[chain::START_POTENTIAL][lane],
                    );
                }
            }
        });
    }
}

/// By how much (J) rounding lets Π rise, by the solver's own reckoning, of where its solve ended.
fn allowed<L: Lanes>(lanes: L, params: &StepParams, group: &Group<'_, L::Scalar>, lane: usize) -> f64
where
    L::Scalar: Copy + Into<f64>,
    L::V: Into<f64>,
{
    let inv_step2 = inv_step2(group, params, lane) as f32;
    let excitation = Excitation::of_chain(lanes, params, group);
    let stands = standing(lanes, group, lanes.splat(inv_step2), Some(excitation));
    rounding(lanes, group, lanes.splat(inv_step2), &stands).into()
}

fn as_f64<T: Copy + Into<f64>>(rows: &[Entry<T>]) -> Vec<Entry<f64>> {
    rows.iter().map(|entry| entry.map(Into::into)).collect()
}

#[test]
fn no_substep_ends_above_where_it_may_in_f64() {
    let (mut random, mut found) = (Random(21), Found::default());
    while found.substeps < 100_000 {
        throw(&mut random, OneF64, |flesh| flesh.groups()[0].to_f64(), &mut found);
    }
    let Found { substeps, rough, touching, on_edge, of_two_signs, worst: [alone, guided], at } = found;
    println!(
        "f64: {substeps} substeps, {rough} led astray, {touching} touching, {on_edge} on an edge: Π rose by {alone:.2e} of its rounding without guides, {guided:.2e} with (bar 1), last {at}"
    );
    assert_eq!(of_two_signs, 0, "frames that bones hold have another sign now than at the start");
    assert!(rough.min(touching) > substeps / 100 && on_edge < substeps / 100 && alone.max(guided) <= 1.0);
}

/// Rounding twice: that of the solver's sums, and that of the places it stores, which it does not see. With a guide four times:
/// where that has them at the start is a projection, eight roundings of half a unit by axis, product, sum and place.
#[test]
fn no_substep_ends_above_where_it_may_in_f32_but_for_rounding() {
    let (mut random, mut found) = (Random(22), Found::default());
    while found.substeps < 100_000 {
        throw(&mut random, OneF32, |flesh| flesh.groups()[0].clone(), &mut found);
    }
    let Found { substeps, rough, touching, on_edge, of_two_signs, worst: [alone, guided], at } = found;
    println!(
        "f32: {substeps} substeps, {rough} led astray, {touching} touching, {on_edge} on an edge: Π rose by {alone:.2e} of its rounding without guides, {guided:.2e} with (bars 2 and 4), last {at}"
    );
    assert_eq!(of_two_signs, 0, "frames that bones hold have another sign now than at the start");
    assert!(rough.min(touching) > substeps / 100 && on_edge < substeps / 100 && alone <= 2.0 && guided <= 4.0);
}
