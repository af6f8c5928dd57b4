//! The solver of VIPER (2019) itself, for comparison: the update (28) of every potential, with the moduli, the
//! discretisation and the rows of this crate, so that both solvers look for the least of the same energy (77).
//!
//! Each potential of a segment is a constraint W with its multiplier λ: the strain (11) and the curvature (14) as
//! blocks of three, the scale (12), its difference (13) and the volume (18) alone. With errata 5,
//!
//! Δλ = β (h²∇W A⁻¹∇Wᵀ + K⁻¹)⁻¹ (W − K⁻¹λ), ΔX = −h²A⁻¹∇WᵀΔλ.
//!
//! The paper computes all constraints in parallel and averages the displacements (section 7). Averaged after the
//! fact, they no longer fit the multipliers and the solve ends beside the minimum; so the average is β here, on both.
//! Left out: (15), (19) and (20), which are 0 by default, and contacts.

#![allow(dead_code, reason = "each user takes a part")]
#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use sinew::cpu::group::Group;
use sinew::cpu::lanes::{Entry, LANES, Lane, Lanes};
use sinew::cpu::math::{Quaternion, V3};
use sinew::cpu::rod_energies::UNKNOWNS;
use sinew::cpu::strains::{Section, SegmentStrain, measure};
use sinew::layout::{node, rest};

/// Multipliers of a segment: strain (3), scale, difference, curvature (3), volume.
const MULTIPLIERS: usize = 9;

/// In which order constraints see each other's displacements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// All at once, as the paper does.
    Jacobi,
    /// One after the other along the rod, the paper's alternative.
    GaussSeidel,
}

/// The multipliers of a group's chains, and displacements that wait to be applied.
pub struct Viper2019<T> {
    multipliers: Vec<[Entry<T>; MULTIPLIERS]>,
    displacements: Vec<[Entry<T>; UNKNOWNS]>,
}

impl<T: Copy + Default> Viper2019<T> {
    /// λ = 0.
    pub fn new(node_count: usize) -> Self {
        Self {
            multipliers: vec![[[T::default(); LANES]; MULTIPLIERS]; node_count],
            displacements: vec![[[T::default(); LANES]; UNKNOWNS]; node_count],
        }
    }

    /// Back to λ = 0.
    pub fn reset(&mut self) {
        self.multipliers.fill([[T::default(); LANES]; MULTIPLIERS]);
    }

    /// One update (26), (28) of every constraint; `step` is h (s), `beta` the relaxation β.
    #[inline(always)]
    pub fn update<L: Lanes<Scalar = T>>(&mut self, lanes: L, step: f32, beta: f32, sweep: Sweep, group: &mut Group<T>) {
        let count = group.rest.node_count;
        let zero = lanes.splat(0.0);
        for displacement in &mut self.displacements {
            for entry in displacement {
                lanes.store(zero, entry);
            }
        }
        for index in 0..count - 1 {
            let parts: &[Part] = if sweep == Sweep::Jacobi { &[Part::All] } else { &Part::EACH };
            for &part in parts {
                self.segment(lanes, step, beta, part, index, group);
                if sweep == Sweep::GaussSeidel {
                    self.apply(lanes, index, group);
                    self.apply(lanes, index + 1, group);
                }
            }
        }
        if sweep == Sweep::Jacobi {
            for index in 0..count {
                self.apply(lanes, index, group);
            }
        }
    }

    #[inline(always)]
    fn segment<L: Lanes<Scalar = T>>(
        &mut self,
        lanes: L,
        step: f32,
        beta: f32,
        part: Part,
        index: usize,
        group: &Group<T>,
    ) {
        let (step2, beta) = (lanes.splat(step * step), lanes.splat(beta));
        let rest_row = group.rest.row(index);
        let inv_length = lanes.at(rest_row, rest::INV_LENGTH);
        let (row_a, row_b) = (group.row(index), group.row(index + 1));
        let strain = measure(lanes, section(lanes, row_a), section(lanes, row_b), inv_length);
        let weights =
            [Weights::of(lanes, step2, rest_row, row_a), Weights::of(lanes, step2, group.rest.row(index + 1), row_b)];
        let multipliers = &mut self.multipliers[index];
        let (before, after) = self.displacements.split_at_mut(index + 1);
        let (to_a, to_b) = (&mut before[index], &mut after[0]);
        let one = lanes.splat(1.0);
        let (half, s) = (lanes.splat(0.5), strain.scale);
        let [gu, gv, gw] = strain.strain.0;

        if part.has(Part::Strain) {
            let rows = [
                strain_row(lanes, &strain, inv_length, 0),
                strain_row(lanes, &strain, inv_length, 1),
                strain_row(lanes, &strain, inv_length, 2),
            ];
            let residual = [
                gu - lanes.at(rest_row, rest::STRAIN),
                gv - lanes.at(rest_row, rest::STRAIN + 1),
                gw - lanes.at(rest_row, rest::STRAIN + 2),
            ];
            let stiffness =
                [lanes.at(rest_row, rest::SHEAR), lanes.at(rest_row, rest::SHEAR), lanes.at(rest_row, rest::AXIAL)];
            let rise = block_update(lanes, beta, &rows, residual, stiffness, &weights, &mut multipliers[0..3]);
            for k in 0..3 {
                displace(lanes, &rows[k], rise[k], &weights, to_a, to_b);
            }
        }
        if part.has(Part::Scale) {
            let row = Row { scale: [half, half], ..Row::zero(lanes) };
            let rise = update(
                lanes,
                beta,
                &row,
                s - lanes.at(rest_row, rest::SCALE),
                lanes.at(rest_row, rest::LATERAL),
                &weights,
                &mut multipliers[3],
            );
            displace(lanes, &row, rise, &weights, to_a, to_b);
        }
        if part.has(Part::Difference) {
            let row = Row { scale: [-one, one], ..Row::zero(lanes) };
            let (residual, stiffness) = (strain.scale_difference, lanes.at(rest_row, rest::SCALE_DIFFERENCE));
            let rise = update(lanes, beta, &row, residual, stiffness, &weights, &mut multipliers[4]);
            displace(lanes, &row, rise, &weights, to_a, to_b);
        }
        if part.has(Part::Curvature) {
            let rate = (one + strain.half_turn.dot(strain.half_turn)) * inv_length * s;
            let omega = strain.darboux.0;
            let mut rows = [Row::zero(lanes); 3];
            let mut residual = omega;
            for k in 0..3 {
                let turn = strain.axes[k] * rate;
                rows[k].scale = [half * omega[k], half * omega[k]];
                rows[k].turn = [-turn, turn];
                residual[k] = s * omega[k] - lanes.at(rest_row, rest::DARBOUX + k);
            }
            let stiffness =
                [lanes.at(rest_row, rest::BEND_U), lanes.at(rest_row, rest::BEND_V), lanes.at(rest_row, rest::TORSION)];
            let rise = block_update(lanes, beta, &rows, residual, stiffness, &weights, &mut multipliers[5..8]);
            for k in 0..3 {
                displace(lanes, &rows[k], rise[k], &weights, to_a, to_b);
            }
        }
        if part.has(Part::Volume) {
            let mut row = strain_row(lanes, &strain, inv_length, 2).scaled(s * s);
            row.scale = [s * gw, s * gw];
            let residual = s * s * gw - lanes.at(rest_row, rest::STRETCH);
            let rise =
                update(lanes, beta, &row, residual, lanes.at(rest_row, rest::VOLUME), &weights, &mut multipliers[8]);
            displace(lanes, &row, rise, &weights, to_a, to_b);
        }
    }

    /// Moves a node by what waits for it.
    #[inline(always)]
    fn apply<L: Lanes<Scalar = T>>(&mut self, lanes: L, index: usize, group: &mut Group<T>) {
        let displacement = &mut self.displacements[index];
        let row = group.row_mut(index);
        let moved = V3::load(lanes, row, node::MOVED) + V3::load(lanes, displacement, 0);
        let scale = lanes.load(&row[node::SCALE]) + lanes.load(&displacement[3]);
        let frame = Quaternion::load(lanes, row, node::FRAME).turned(lanes, V3::load(lanes, displacement, 4));
        moved.store(lanes, row, node::MOVED);
        (V3::load(lanes, row, node::PREV_PLACE) + moved).store(lanes, row, node::PLACE);
        lanes.store(scale, &mut row[node::SCALE]);
        frame.store(lanes, row, node::FRAME);
        for entry in displacement {
            lanes.store(lanes.splat(0.0), entry);
        }
    }
}

/// Which constraints of a segment.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    All,
    Strain,
    Scale,
    Difference,
    Curvature,
    Volume,
}

impl Part {
    const EACH: [Self; 5] = [Self::Strain, Self::Scale, Self::Difference, Self::Curvature, Self::Volume];

    fn has(self, other: Self) -> bool {
        self == Self::All || self == other
    }
}

#[inline(always)]
fn section<L: Lanes>(lanes: L, row: &[Entry<L::Scalar>]) -> Section<L::V> {
    Section {
        place: V3::load(lanes, row, node::PLACE),
        scale: lanes.load(&row[node::SCALE]),
        frame: Quaternion::load(lanes, row, node::FRAME),
    }
}

/// h²A⁻¹ of a node, 0 for what a bone holds.
struct Weights<V> {
    place: V,
    scale: V,
    axes: [V3<V>; 3],
    turn: [V; 3],
}

impl<V: Lane> Weights<V> {
    #[inline(always)]
    fn of<L: Lanes<V = V>>(lanes: L, step2: V, rest_row: &[Entry<L::Scalar>], row: &[Entry<L::Scalar>]) -> Self {
        let prev_scale = lanes.load(&row[node::PREV_SCALE]);
        let turn = step2 * lanes.load(&rest_row[rest::FREE_FRAME]) / (prev_scale * prev_scale);
        Self {
            place: step2 * lanes.load(&rest_row[rest::FREE_PLACE]) / lanes.load(&rest_row[rest::MASS]),
            scale: step2 * lanes.load(&rest_row[rest::FREE_SCALE]) / lanes.load(&rest_row[rest::INERTIA_W]),
            axes: Quaternion::load(lanes, row, node::PREDICTED_FRAME).axes(lanes),
            turn: [
                turn / lanes.load(&rest_row[rest::INERTIA_U]),
                turn / lanes.load(&rest_row[rest::INERTIA_V]),
                turn / lanes.load(&rest_row[rest::INERTIA_W]),
            ],
        }
    }

    #[inline(always)]
    fn of_turn(&self, v: V3<V>) -> V3<V> {
        let [u, w, t] = self.axes;
        u * (u.dot(v) * self.turn[0]) + w * (w.dot(v) * self.turn[1]) + t * (t.dot(v) * self.turn[2])
    }
}

/// A row of ∇W: by b's place (by a's it is minus that), by both scales, by both rotations.
#[derive(Clone, Copy)]
struct Row<V> {
    place: V3<V>,
    scale: [V; 2],
    turn: [V3<V>; 2],
}

impl<V: Lane> Row<V> {
    #[inline(always)]
    fn zero<L: Lanes<V = V>>(lanes: L) -> Self {
        let zero = lanes.splat(0.0);
        Self { place: V3([zero; 3]), scale: [zero; 2], turn: [V3([zero; 3]); 2] }
    }

    #[inline(always)]
    fn scaled(self, by: V) -> Self {
        Self {
            place: self.place * by,
            scale: [self.scale[0] * by, self.scale[1] * by],
            turn: [self.turn[0] * by, self.turn[1] * by],
        }
    }

    /// This row h²A⁻¹ another one.
    #[inline(always)]
    fn weighted(&self, other: &Self, [a, b]: &[Weights<V>; 2]) -> V {
        self.place.dot(other.place) * (a.place + b.place)
            + self.scale[0] * other.scale[0] * a.scale
            + self.scale[1] * other.scale[1] * b.scale
            + self.turn[0].dot(a.of_turn(other.turn[0]))
            + self.turn[1].dot(b.of_turn(other.turn[1]))
    }
}

/// ∇Γ_k, see [`sinew::cpu::rod_energies`].
#[inline(always)]
fn strain_row<L: Lanes>(lanes: L, strain: &SegmentStrain<L::V>, inv_length: L::V, k: usize) -> Row<L::V> {
    let half = lanes.splat(0.5);
    let [u, v, w] = strain.axes;
    let t = u * strain.half_turn.0[0] + v * strain.half_turn.0[1] + w * strain.half_turn.0[2];
    let by_turn = strain.axes[k].cross(strain.slope);
    let twisted = by_turn.cross(t);
    Row {
        place: strain.axes[k] * inv_length,
        turn: [(by_turn + twisted) * half, (by_turn - twisted) * half],
        ..Row::zero(lanes)
    }
}

/// (28) of one constraint: takes Δλ into λ and returns it.
#[inline(always)]
fn update<L: Lanes>(
    lanes: L,
    beta: L::V,
    row: &Row<L::V>,
    residual: L::V,
    stiffness: L::V,
    weights: &[Weights<L::V>; 2],
    multiplier: &mut Entry<L::Scalar>,
) -> L::V {
    let compliance = lanes.splat(1.0) / stiffness;
    let lambda = lanes.load(multiplier);
    let rise = beta * (residual - compliance * lambda) / (row.weighted(row, weights) + compliance);
    lanes.store(lambda + rise, multiplier);
    rise
}

/// As [`update`], of a constraint of three rows.
#[inline(always)]
fn block_update<L: Lanes>(
    lanes: L,
    beta: L::V,
    rows: &[Row<L::V>; 3],
    residual: [L::V; 3],
    stiffness: [L::V; 3],
    weights: &[Weights<L::V>; 2],
    multipliers: &mut [Entry<L::Scalar>],
) -> [L::V; 3] {
    let one = lanes.splat(1.0);
    let compliance = [one / stiffness[0], one / stiffness[1], one / stiffness[2]];
    let lambda = [lanes.load(&multipliers[0]), lanes.load(&multipliers[1]), lanes.load(&multipliers[2])];
    let mut rhs = residual;
    for k in 0..3 {
        rhs[k] = beta * (residual[k] - compliance[k] * lambda[k]);
    }
    // LDLᵀ.
    let d0 = rows[0].weighted(&rows[0], weights) + compliance[0];
    let l10 = rows[1].weighted(&rows[0], weights) / d0;
    let l20 = rows[2].weighted(&rows[0], weights) / d0;
    let d1 = rows[1].weighted(&rows[1], weights) + compliance[1] - l10 * l10 * d0;
    let l21 = (rows[2].weighted(&rows[1], weights) - l20 * l10 * d0) / d1;
    let d2 = rows[2].weighted(&rows[2], weights) + compliance[2] - l20 * l20 * d0 - l21 * l21 * d1;
    let y1 = rhs[1] - l10 * rhs[0];
    let y2 = rhs[2] - l20 * rhs[0] - l21 * y1;
    let z = y2 / d2;
    let y = y1 / d1 - l21 * z;
    let rise = [rhs[0] / d0 - l10 * y - l20 * z, y, z];
    for k in 0..3 {
        lanes.store(lambda[k] + rise[k], &mut multipliers[k]);
    }
    rise
}

/// (26): −h²A⁻¹∇WᵀΔλ of one row, added to what waits for the two nodes.
#[inline(always)]
fn displace<L: Lanes>(
    lanes: L,
    row: &Row<L::V>,
    rise: L::V,
    [a, b]: &[Weights<L::V>; 2],
    to_a: &mut [Entry<L::Scalar>; UNKNOWNS],
    to_b: &mut [Entry<L::Scalar>; UNKNOWNS],
) {
    for (to, weights, place, scale, turn) in
        [(to_a, a, -row.place, row.scale[0], row.turn[0]), (to_b, b, row.place, row.scale[1], row.turn[1])]
    {
        let moved = V3::load(lanes, to, 0) - place * (weights.place * rise);
        let turned = V3::load(lanes, to, 4) - weights.of_turn(turn) * rise;
        let scaled = lanes.load(&to[3]) - weights.scale * scale * rise;
        moved.store(lanes, to, 0);
        lanes.store(scaled, &mut to[3]);
        turned.store(lanes, to, 4);
    }
}
