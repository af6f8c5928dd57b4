//! How chains that hang on each other move as one rigid body: what damping leaves alone.

use glam::{DMat3, DVec3};

use super::group::Group;
use super::lanes::{LANES, OneF64};
use super::math::V3;
use super::predict::spin_of;
use super::trees::vector;
use crate::flesh::Branch;
use crate::layout::{chain, node, rest, rigid};

/// A value for each chain of some groups.
type Each<T> = Vec<[T; LANES]>;

/// Has each chain have what those of its tree have together.
fn together<T: Copy + std::ops::Add<Output = T>>(branches: &[Branch], each: &mut Each<T>) {
    for Branch { chain: [group, lane], stem: [stem, stem_lane], .. } in branches.iter().rev() {
        each[*stem][*stem_lane] = each[*stem][*stem_lane] + each[*group][*lane];
    }
    for Branch { chain: [group, lane], stem: [stem, stem_lane], .. } in branches {
        each[*group][*lane] = each[*stem][*stem_lane];
    }
}

/// A sum over the nodes of each chain, of mass (kg), polar inertia (kg·m²), place (m), velocity (m/s) and spin (rad/s).
fn sum_nodes<T: Copy + Default + std::ops::Add<Output = T>>(
    groups: &[Group<'_, f32>],
    origin: DVec3,
    of_node: impl Fn([usize; 2], [f64; 2], [DVec3; 3]) -> T,
) -> Each<T> {
    let of_lane = |at: usize, group: &Group<'_, f32>, lane: usize| {
        let from = vector(group.chains, chain::ORIGIN, lane) - origin;
        let own = (0..group.rest.node_count).take_while(|&index| group.rest.row(index)[rest::RADIUS][lane] > 0.0);
        own.fold(T::default(), |sum, index| {
            let (rest_row, row) = (group.rest.row(index), group.row(index));
            let masses = [rest::MASS, rest::INERTIA_W].map(|entry| f64::from(rest_row[entry][lane]));
            let place = from + vector(row, node::PLACE, lane);
            let motion = [place, vector(row, node::VELOCITY, lane), vector(row, node::SPIN, lane)];
            sum + of_node([at, lane], masses, motion)
        })
    };
    groups.iter().enumerate().map(|(at, group)| std::array::from_fn(|lane| of_lane(at, group, lane))).collect()
}

/// How much of trees there is, and how it lies.
struct Bodies {
    /// What all places are from (m).
    origin: DVec3,
    /// Mass of each chain's tree (kg).
    masses: Each<f64>,
    /// Mass times place (kg·m).
    moments: Each<DVec3>,
}

impl Bodies {
    fn of(groups: &[Group<'_, f32>], branches: &[Branch]) -> Self {
        let origin = groups.first().map_or(DVec3::ZERO, |group| vector(group.chains, chain::ORIGIN, 0));
        let mut masses = sum_nodes(groups, origin, |_, [mass, _], _| mass);
        let mut moments = sum_nodes(groups, origin, |_, [mass, _], [place, ..]| place * mass);
        together(branches, &mut masses);
        together(branches, &mut moments);
        Self { origin, masses, moments }
    }

    /// A sum over the tree of a chain over its mass.
    fn mean(&self, each: &Each<DVec3>, [group, lane]: [usize; 2]) -> DVec3 {
        let mass = self.masses[group][lane];
        each[group][lane] / if mass > 0.0 { mass } else { 1.0 }
    }

    /// Centre of mass (m).
    fn centre(&self, at: [usize; 2]) -> DVec3 {
        self.mean(&self.moments, at)
    }

    /// The spins (rad/s) that trees have for angular momenta about their centres (kg·m²/s).
    fn spins(&self, groups: &[Group<'_, f32>], branches: &[Branch], angular: &Each<DVec3>) -> Each<DVec3> {
        let mut inertia = sum_nodes(groups, self.origin, |at, [mass, polar], [place, ..]| {
            let arm = place - self.centre(at);
            let outer = DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
            DMat3::from_diagonal(DVec3::splat(mass * arm.length_squared() + polar)) - outer * mass
        });
        together(branches, &mut inertia);
        let spin = |inertia: &DMat3, angular: &DVec3| {
            DVec3::from_array(spin_of(OneF64(0), inertia.to_cols_array_2d(), V3(angular.to_array())).0)
        };
        let of_group = |(inertia, angular): (&[DMat3; LANES], &[DVec3; LANES])| {
            std::array::from_fn(|lane| spin(&inertia[lane], &angular[lane]))
        };
        inertia.iter().zip(angular).map(of_group).collect()
    }
}

/// Keeps with every chain how its tree moves, as [`rigid_motion`](super::predict::rigid_motion) has it of a chain by itself.
pub(super) fn keep_rigid_motions(groups: &mut [Group<'_, f32>], branches: &[Branch]) {
    let bodies = Bodies::of(groups, branches);
    let mut momenta = sum_nodes(groups, bodies.origin, |_, [mass, _], [_, velocity, _]| velocity * mass);
    together(branches, &mut momenta);
    let mut angular = sum_nodes(groups, bodies.origin, |at, [mass, polar], [place, velocity, spin]| {
        (place - bodies.centre(at)).cross(velocity - bodies.mean(&momenta, at)) * mass + spin * polar
    });
    together(branches, &mut angular);
    let spins = bodies.spins(groups, branches, &angular);
    for (at, (group, spins)) in groups.iter_mut().zip(&spins).enumerate() {
        for (lane, &spin) in spins.iter().enumerate() {
            let centre = bodies.centre([at, lane]) + bodies.origin - vector(group.chains, chain::ORIGIN, lane);
            let motion = [centre, bodies.mean(&momenta, [at, lane]), spin];
            for (entry, value) in [rigid::CENTRE, rigid::VELOCITY, rigid::SPIN].into_iter().zip(motion) {
                put(&mut group.scratch[entry..], lane, value);
            }
        }
    }
}

/// Gives trees, as rigid bodies, what their chains are to have more of: each a centre from its chain's origin (m), momentum
/// (kg·m/s) and moment about the centre (kg·m²/s).
pub(super) fn give_momenta(
    groups: &mut [Group<'_, f32>],
    branches: &[Branch],
    of_chain: impl Fn([usize; 2]) -> [DVec3; 3],
) {
    let bodies = Bodies::of(groups, branches);
    let all = |of: &dyn Fn([usize; 2]) -> DVec3| -> Each<DVec3> {
        let mut each = (0..groups.len()).map(|at| std::array::from_fn(|lane| of([at, lane]))).collect();
        together(branches, &mut each);
        each
    };
    let from = |[at, lane]: [usize; 2]| vector(groups[at].chains, chain::ORIGIN, lane) - bodies.origin;
    let momenta = all(&|at| of_chain(at)[1]);
    let angular = all(&|at| {
        let [centre, momentum, moment] = of_chain(at);
        moment + (centre + from(at) - bodies.centre(at)).cross(momentum)
    });
    let spins = bodies.spins(groups, branches, &angular);
    for (at, (group, spins)) in groups.iter_mut().zip(&spins).enumerate() {
        for (lane, spin) in spins.iter().enumerate() {
            let velocity = bodies.mean(&momenta, [at, lane]);
            let centre = bodies.centre([at, lane]) + bodies.origin - vector(group.chains, chain::ORIGIN, lane);
            for index in 0..group.rest.node_count {
                let row = group.row_mut(index);
                let arm = vector(row, node::PLACE, lane) - centre;
                let to = vector(row, node::VELOCITY, lane) + velocity + spin.cross(arm);
                put(&mut row[node::VELOCITY..], lane, to);
            }
        }
    }
}

fn put(row: &mut [[f32; LANES]], lane: usize, value: DVec3) {
    for (entry, value) in row.iter_mut().zip(value.to_array()) {
        entry[lane] = value as f32;
    }
}
