//! How chains that hang on each other move as one rigid body: what damping leaves alone, and what is given to all of them; its twin
//! is `shaders/bindings/tree_motion.wgsl`, and of what is given `shaders/bindings/left_out.wgsl`.

use glam::{DMat3, DVec3};

use super::bodies::{SLENDER, spin_of};
use super::group::Group;
use super::joints::vector;
use super::lanes::{LANES, OneF64};
use super::left_out::{Balance, Momentum};
use super::math::V3;
use super::trees::Kept;
use crate::flesh::Branch;
use crate::layout::{chain, rigid};

/// Mass, momentum and inertia of some chains from a point that a tree's have in common.
#[derive(Clone, Copy, Default)]
struct Body {
    /// kg.
    mass: f64,
    /// Mass times place (kg·m).
    moment: DVec3,
    /// kg·m/s.
    momentum: DVec3,
    /// About the point (kg·m²/s).
    angular: DVec3,
    /// About the point (kg·m²).
    inertia: DMat3,
}

impl std::ops::Add for Body {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            moment: self.moment + other.moment,
            momentum: self.momentum + other.momentum,
            angular: self.angular + other.angular,
            inertia: self.inertia + other.inertia,
        }
    }
}

/// The inertia (kg·m²) of a mass (kg) at an arm (m).
fn inertia_at(mass: f64, arm: DVec3) -> DMat3 {
    let outer = DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
    (DMat3::from_diagonal(DVec3::splat(arm.length_squared())) - outer) * mass
}

impl Body {
    /// A chain's, as its group keeps it ([`Body::store`](super::bodies::Body::store)), whose origin is at `from`.
    fn load(kept: &Kept, lane: usize, from: DVec3) -> Self {
        let [centre, velocity, spin] = [1, 4, 7].map(|at| vector(kept, at, lane));
        let [xx, xy, yy, xz, yz, zz] = [10, 11, 12, 13, 14, 15].map(|at| f64::from(kept[at][lane]));
        let own = DMat3::from_cols_array_2d(&[[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
        let (mass, place) = (f64::from(kept[0][lane]), from + centre);
        let momentum = velocity * mass;
        Self {
            mass,
            moment: place * mass,
            momentum,
            angular: spin + place.cross(momentum),
            inertia: own + inertia_at(mass, place),
        }
    }

    fn inv_mass(&self) -> f64 {
        if self.mass > 0.0 { 1.0 / self.mass } else { 0.0 }
    }

    /// Centre of mass (m).
    fn centre(&self) -> DVec3 {
        self.moment * self.inv_mass()
    }

    /// The motion that it has with such a momentum (kg·m/s) and angular momentum about the point (kg·m²/s): velocity of the centre
    /// (m/s) and spin (rad/s).
    fn motion(&self, momentum: DVec3, angular: DVec3) -> [DVec3; 2] {
        self.motion_about_centre(momentum, angular - self.centre().cross(momentum))
    }

    /// As [`Body::motion`], with the angular momentum about the centre.
    fn motion_about_centre(&self, momentum: DVec3, angular: DVec3) -> [DVec3; 2] {
        let inertia = self.inertia - inertia_at(self.mass, self.centre());
        let spin = spin_of(OneF64(0), inertia.to_cols_array_2d(), V3(angular.to_array()), f64::from(SLENDER));
        [momentum * self.inv_mass(), DVec3::from_array(spin.0)]
    }
}

/// Something of each chain of some groups.
pub(super) type Each<T> = Vec<[T; LANES]>;

/// Has each chain have what those of its tree have together.
fn together<T: Copy + std::ops::Add<Output = T>>(branches: &[Branch], each: &mut Each<T>) {
    for Branch { chain: [group, lane], stem: [stem, stem_lane], .. } in branches.iter().rev() {
        each[*stem][*stem_lane] = each[*stem][*stem_lane] + each[*group][*lane];
    }
    for Branch { chain: [group, lane], stem: [stem, stem_lane], .. } in branches {
        each[*group][*lane] = each[*stem][*stem_lane];
    }
}

/// Trees as bodies.
pub(super) struct Bodies {
    /// Where each chain's origin is from that of its tree's first stem (m).
    from: Each<DVec3>,
    /// Of each chain's tree.
    trees: Each<Body>,
}

impl Bodies {
    /// Of chains whose groups keep them as bodies.
    pub fn of(groups: &[Group<'_, f32>], branches: &[Branch], kept: &[Kept]) -> Self {
        let origin = |group: &Group<'_, f32>, lane| vector(group.chains, chain::ORIGIN, lane);
        let origins: Each<DVec3> = groups.iter().map(|group| std::array::from_fn(|lane| origin(group, lane))).collect();
        let mut from: Each<DVec3> = vec![[DVec3::ZERO; LANES]; groups.len()];
        // Stems come before what hangs on them.
        for Branch { chain: [group, lane], stem: [stem, stem_lane], .. } in branches {
            from[*group][*lane] = from[*stem][*stem_lane] + (origins[*group][*lane] - origins[*stem][*stem_lane]);
        }
        let bodies =
            |(kept, from): (&Kept, &[DVec3; LANES])| std::array::from_fn(|lane| Body::load(kept, lane, from[lane]));
        let mut trees: Each<Body> = kept.iter().zip(&from).map(bodies).collect();
        together(branches, &mut trees);
        Self { from, trees }
    }

    /// Writes how the tree of each chain moves, from the chain's origin, as [`rigid`] has it.
    pub fn write_motions(&self, branches: &[Branch], groups: &mut [Group<'_, f32>]) {
        self.write(branches, groups.iter_mut().map(|group| &mut *group.scratch), |tree, _| {
            tree.motion(tree.momentum, tree.angular)
        });
    }

    /// Writes for each chain the motion of its tree that has what passes left out of the tree's momentum, given how that of each of
    /// its chains came about, about the chain's origin.
    pub fn write_gains(&self, branches: &[Branch], balances: &Each<Balance<f64>>, kept: &mut [Kept]) {
        let v3 = |vector: DVec3| V3(vector.to_array());
        let at_point = |(balances, from): (&[Balance<f64>; LANES], &[DVec3; LANES])| {
            std::array::from_fn(|lane| balances[lane].shifted(v3(from[lane])))
        };
        let mut of_trees: Each<Balance<f64>> = balances.iter().zip(&self.from).map(at_point).collect();
        together(branches, &mut of_trees);
        self.write(branches, kept.iter_mut().map(|kept| &mut kept[..]), |tree, [group, lane]| {
            let Momentum { linear, angular } =
                of_trees[group][lane].shifted(v3(-tree.centre())).left_out(OneF64(0)).momentum;
            tree.motion_about_centre(DVec3::from_array(linear.0), DVec3::from_array(angular.0))
        });
    }

    /// Writes a motion of each tree to the rows of its chains.
    fn write<'a>(
        &self,
        branches: &[Branch],
        rows: impl Iterator<Item = &'a mut [[f32; LANES]]>,
        motion: impl Fn(&Body, [usize; 2]) -> [DVec3; 2],
    ) {
        let mut motions: Each<Option<[DVec3; 2]>> = vec![[None; LANES]; self.trees.len()];
        let of = |at @ [group, lane]: [usize; 2]| motion(&self.trees[group][lane], at);
        // Stems come before what hangs on them.
        for Branch { chain, stem, .. } in branches {
            let all = *motions[stem[0]][stem[1]].get_or_insert_with(|| of(*stem));
            motions[chain[0]][chain[1]] = Some(all);
        }
        for (group, rows) in rows.enumerate() {
            for lane in (0..LANES).filter(|&lane| self.trees[group][lane].mass > 0.0) {
                let [velocity, spin] = motions[group][lane].unwrap_or_else(|| of([group, lane]));
                let centre = self.trees[group][lane].centre() - self.from[group][lane];
                for (at, value) in [(rigid::CENTRE, centre), (rigid::VELOCITY, velocity), (rigid::SPIN, spin)] {
                    for (entry, value) in rows[at..].iter_mut().zip(value.to_array()) {
                        entry[lane] = value as f32;
                    }
                }
            }
        }
    }
}
