//! The incremental potential of a chain; its twin is `shaders/bindings/potential.wgsl`.
//!
//! Implicit Euler minimises Π(x) = ½‖x − x̂‖²_M/h̃² + Ψ(x), with x̂ the inertial prediction and Ψ all that stores energy:
//! segments, fibres, contacts, surface bending (15). Π(x_n) is the energy that the chain has at the substep's start x_n:
//! what it stores, with what bones hold where they hold it now, which is their work, and the motion that inertia and
//! gravity give it. Where a convex Ψ is minimised exactly, both Π(x) ≤ Π(x_n) and the energy after the step,
//! Ψ(x) + ½‖x − x_n‖²_M/h̃² ≤ Π(x_n).

use super::contacts::{stiffness_of_contacts, stored_by_contacts};
use super::fascia::tie_potential;
use super::fibres::Excitation;
use super::group::Group;
use super::holds::{Placed, When};
use super::lanes::{Lane, Lanes};
use super::node_terms::{inertia_potential, surface_potential};
use super::rod_energies::{Stored, segment_potential};
use super::strains::{Reference, most_stiffness};
use crate::layout::{chain, node, rest};

/// How a chain stands against the substep's start.
#[derive(Clone, Copy)]
pub struct Standing<V> {
    /// Ψ(x).
    pub stored: Stored<V>,
    /// ½‖x − x̂‖²_M/h̃² − ½‖x_n − x̂‖²_M/h̃² (J).
    pub past: V,
    /// ½‖x − x_n‖²_M/h̃² − ½‖x_n − x̂‖²_M/h̃² (J): what the chain's motion has gained.
    pub gained: V,
    /// ½‖x − x_n‖²_M/h̃² (J).
    pub motion: V,
}

impl<V: Lane> Standing<V> {
    /// Π(x) − ½‖x_n − x̂‖²_M/h̃² (J): what is Ψ at the substep's start.
    #[inline(always)]
    pub fn level(&self) -> V {
        self.stored.whole() + self.past
    }
}

/// Ψ (J) at the substep's start but for contacts, with what bones hold where they hold it now.
#[inline(always)]
pub fn stored_at_start<L: Lanes>(
    lanes: L,
    group: &Group<L::Scalar>,
    inv_step2: L::V,
    excitation: Option<Excitation<L::V>>,
) -> L::V
where
    L::Scalar: Into<f64>,
{
    let most = most_stiffness(lanes, group.rest.row(0), inv_step2, lanes.epsilon());
    let mut stored = Stored { strain: lanes.splat(0.0), turn: lanes.splat(0.0) };
    let mut before = Placed::start(lanes, group, 0);
    let mut here = before;
    for index in 0..group.rest.node_count {
        let next = if index + 1 < group.rest.node_count { Placed::start(lanes, group, index + 1) } else { here };
        let by_node = stored_by_node(lanes, group, index, [&before, &here, &next]);
        stored.strain = stored.strain + by_node;
        if index + 1 < group.rest.node_count {
            stored = stored.with(stored_by_segment(lanes, group, index, [&here, &next], most, excitation));
        }
        before = here;
        here = next;
    }
    stored.whole()
}

/// How the chain stands now.
#[inline(always)]
pub fn standing<L: Lanes>(
    lanes: L,
    group: &Group<L::Scalar>,
    inv_step2: L::V,
    excitation: Option<Excitation<L::V>>,
) -> Standing<L::V>
where
    L::Scalar: Into<f64>,
{
    let most = most_stiffness(lanes, group.rest.row(0), inv_step2, lanes.epsilon());
    let zero = lanes.splat(0.0);
    let mut sum = Standing { stored: Stored { strain: zero, turn: zero }, past: zero, gained: zero, motion: zero };
    let mut before = Placed::now(lanes, group.row(0));
    let mut here = before;
    for index in 0..group.rest.node_count {
        let (rest_row, row) = (group.rest.row(index), group.row(index));
        let next = if index + 1 < group.rest.node_count { Placed::now(lanes, group.row(index + 1)) } else { here };
        let start = Placed::start(lanes, group, index);
        let [past, gained, motion] = inertia_potential(lanes, inv_step2, rest_row, row, [&start, &here]);
        sum.past = sum.past + past;
        sum.gained = sum.gained + gained;
        sum.motion = sum.motion + motion;
        let by_node = stored_by_node(lanes, group, index, [&before, &here, &next]);
        sum.stored.strain = sum.stored.strain + by_node;
        if index + 1 < group.rest.node_count {
            sum.stored = sum.stored.with(stored_by_segment(lanes, group, index, [&here, &next], most, excitation));
        }
        before = here;
        here = next;
    }
    if group.is_touched() {
        let touching = stored_by_contacts(lanes, group, When::Now);
        sum.stored.strain = sum.stored.strain + touching;
    }
    sum
}

/// What surface bending (15) and fascia store at a node (J), given where it and its neighbours are.
#[inline(always)]
fn stored_by_node<L: Lanes>(
    lanes: L,
    group: &Group<L::Scalar>,
    index: usize,
    [before, here, next]: [&Placed<L::V>; 3],
) -> L::V {
    let mut stored = lanes.splat(0.0);
    if group.rest.has_surface_bending && index > 0 && index + 1 < group.rest.node_count {
        stored = surface_potential(lanes, group, index, [before.scale, here.scale, next.scale]);
    }
    if group.rest.has_fascia {
        stored = stored + tie_potential(lanes, group.rest.row(index), group.row(index), here.moved);
    }
    stored
}

/// What the segment after a node stores, given where its ends are.
#[inline(always)]
fn stored_by_segment<L: Lanes>(
    lanes: L,
    group: &Group<L::Scalar>,
    index: usize,
    [a, b]: [&Placed<L::V>; 2],
    most: Option<L::V>,
    excitation: Option<Excitation<L::V>>,
) -> Stored<L::V> {
    let (row, next) = (group.row(index), group.row(index + 1));
    let sections = [a.section(lanes, row), b.section(lanes, next)];
    let reference = Reference::of(lanes, group, index, most);
    match excitation {
        None => segment_potential(lanes, sections, group.rest.row(index), reference, None),
        Some(mut excitation) => {
            excitation.prev_stretch = lanes.load(&row[node::PREV_FIBRE_STRETCH]);
            segment_potential(lanes, sections, group.rest.row(index), reference, Some(&excitation))
        }
    }
}

/// By how many roundings a pivot of the solve is worth less than inertia where the chain is too stiff for its step: the
/// solve then has its strains only to so many roundings more.
pub const PIVOT_ROUNDINGS: f32 = 10.0;

/// The most that places over the chain's length, scales and frames are taken to be off by for that.
pub const MOST_ROUNDING: f32 = 1.0e-3;

/// Which share of what rounded strains could do to what is stored, did they all go the same way, they are taken to do. What they
/// are seen to do is less (`a_level_is_rounded_by_less_than_is_taken_for_unsure`); were more let pass, a chain could gain as much
/// in a step and lose it in the next one for ever.
pub const ALIGNED: f32 = 1.0 / 16.0;

/// By how much Π may seem to grow (J) because states and strains are rounded.
#[inline(always)]
pub fn rounding<L: Lanes>(lanes: L, group: &Group<L::Scalar>, inv_step2: L::V, standing: &Standing<L::V>) -> L::V
where
    L::Scalar: Into<f64>,
{
    let (one, two, least) = (lanes.splat(1.0), lanes.splat(2.0), lanes.splat(f32::MIN_POSITIVE));
    let (unit, first) = (lanes.epsilon(), group.rest.row(0));
    let unsolved = one + lanes.at(first, rest::FASTEST2) * unit * lanes.splat(PIVOT_ROUNDINGS) / inv_step2;
    let off = (unit * unsolved).min(lanes.splat(MOST_ROUNDING));
    let pressing = stiffness_of_contacts(lanes, group);
    let strain = (lanes.at(first, rest::STRAIN_ROUNDING) + node_rounding(lanes, group, pressing)) * off * off;
    let turn = lanes.at(first, rest::TURN_ROUNDING) * off * off;
    let Stored { strain: of_strain, turn: of_turn } = standing.stored;
    let (of_strain, of_turn) = (of_strain.max(-of_strain), of_turn.max(-of_turn));
    // Root by root: the product of what a step gone astray stores with anything may be more than f32 holds.
    let first_order = strain.sqrt() * of_strain.sqrt() + turn.sqrt() * of_turn.sqrt();
    let whole = of_strain + of_turn + standing.motion + standing.past.max(-standing.past);
    // Friction on half-spaces and solids has no potential that is its own: what it seems to store gets the whole. Whether the
    // chain meets others is of the last substep.
    let meets = lanes.load(&group.chains[chain::MEETS]);
    let aligned = lanes.splat(ALIGNED);
    let aligned = meets.where_less(lanes.splat(0.5), lanes.splat(0.0).where_less(pressing, one, aligned), aligned);
    (aligned * first_order + unit * whole) * two + strain + turn + least
}

/// As [`rest::STRAIN_ROUNDING`], of contacts, as stiff together as `pressing` (N/m), and fascia.
#[inline(always)]
fn node_rounding<L: Lanes>(lanes: L, group: &Group<L::Scalar>, pressing: L::V) -> L::V
where
    L::Scalar: Into<f64>,
{
    let mut stiffness = pressing;
    if group.rest.has_fascia {
        for index in 0..group.rest.node_count {
            let tie = lanes.load(&group.row(index)[node::TIE]);
            stiffness = stiffness + (lanes.at(group.rest.row(index), rest::FASCIA) + tie);
        }
    }
    let whole = lanes.at(group.rest.row(0), rest::LENGTH);
    lanes.splat(0.5) * stiffness * whole * whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Physics;
    use crate::cpu::lanes::{Entry, OneF32, OneF64};
    use crate::scenes::SceneParameters;
    use crate::step::{StepParams, params_of};

    /// Π against the substep's start, and by how much that may be off, as a group's chain has it.
    fn rise<L: Lanes>(lanes: L, params: &StepParams, group: &Group<L::Scalar>) -> [f64; 2]
    where
        L::Scalar: Into<f64>,
        L::V: Into<f64>,
    {
        let inv_step2 = lanes.splat(params.inv_h * params.inv_h);
        let excitation = Some(Excitation::of_chain(lanes, params, group));
        let reached = standing(lanes, group, inv_step2, excitation);
        let risen = reached.level() - stored_at_start(lanes, group, inv_step2, excitation);
        [risen, rounding(lanes, group, inv_step2, &reached)].map(Into::into)
    }

    /// A group of nothing but these.
    fn group<'a, T>(
        rest: &'a crate::cpu::group::GroupRest<T>,
        [nodes, chains]: [&'a mut [Entry<T>]; 2],
        inputs: &'a [Entry<T>],
    ) -> Group<'a, T> {
        Group {
            rest,
            nodes,
            inputs,
            chains,
            forces: &[],
            planes: &[],
            tangents: &[],
            contacts: &mut [],
            meets: &mut [],
            solved: &mut [],
            reactions: &mut [],
            scratch: &mut [],
        }
    }

    #[test]
    fn a_level_is_rounded_by_less_than_is_taken_for_unsure() {
        let (mut most, mut compared) = (0.0_f64, 0);
        for name in ["arm", "cantilevers"] {
            let parameters = SceneParameters { rods: 8, ..SceneParameters::of(name).unwrap() };
            let scene = parameters.build(name).unwrap();
            let mut physics = Physics::with_config(scene.config);
            let handle = scene.insert(&mut physics).unwrap();
            let params = params_of(&scene.config, 1.0 / 60.0, 0.0, 0)[0];
            for frame in 1..=240 {
                scene.drive(&mut physics, handle, f64::from(frame) / 60.0).unwrap();
                physics.step_flesh(1.0 / 60.0).unwrap();
                let instance = physics.instances.iter().next().unwrap();
                for (rest, state) in instance.flesh.groups.iter().zip(&instance.state.nodes.groups) {
                    let (mut nodes, mut chains) = (state.nodes.clone(), state.chains.clone());
                    let wide = |rows: &[Entry<f32>]| rows.iter().map(|e| e.map(f64::from)).collect::<Vec<_>>();
                    let (mut nodes64, mut chains64, inputs64) = (wide(&nodes), wide(&chains), wide(&state.inputs));
                    let rest64 = rest.to_f64();
                    let own = group(rest, [&mut nodes, &mut chains], &state.inputs);
                    let exact = group(&rest64, [&mut nodes64, &mut chains64], &inputs64);
                    for lane in (0..8).filter(|&lane| rest.row(0)[rest::RADIUS][lane] > 0.0) {
                        let [risen, unsure] = rise(OneF32(lane), &params, &own);
                        let [exactly, _] = rise(OneF64(lane), &params, &exact);
                        // What falls by far more is kept, whatever its roundings.
                        if own.chains[chain::RESETS][lane] == 0.0 && exactly > -100.0 * unsure {
                            most = most.max((risen - exactly).abs() / unsure);
                            compared += 1;
                        }
                    }
                }
            }
        }
        println!("{compared} levels are off by at most {most:.3} of what is taken for unsure");
        assert!(compared > 1000);
        assert!(most < 1.0, "roundings do more than is taken for unsure: {most}");
        assert!(most > 0.1, "ten times what roundings do is let pass: {most}");
    }
}
