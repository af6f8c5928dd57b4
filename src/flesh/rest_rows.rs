//! A chain's rest rows ([`rest`]): what its rod's spec comes to where kernels read it, lane by lane of a group.

use glam::DVec3;

use super::attach::{attach, tie};
use super::balance::balance;
use super::build::Chain;
use super::bundle::{Fibre, frames_along};
use super::spec::RodSpec;
use super::state::beside;
use super::tree::Branch;
use crate::Pose;
use crate::cpu::group::GroupRest;
use crate::cpu::lanes::{Entry, LANES};
use crate::layout::rest;
use crate::material::{Moduli, Section};

/// A group of padding: nodes that weigh something and do nothing.
pub(super) fn inert_group(node_count: usize) -> GroupRest<f32> {
    let mut rows = vec![[0.0; LANES]; node_count * rest::ENTRIES];
    for node in 0..node_count {
        for entry in [
            rest::MASS,
            rest::INERTIA_U,
            rest::INERTIA_V,
            rest::INERTIA_W,
            rest::FREE_PLACE,
            rest::FREE_FRAME,
            rest::FREE_SCALE,
            rest::HOLD_FRAME + 3,
            rest::NEXT_FRAME + 3,
        ] {
            rows[node * rest::ENTRIES + entry] = [1.0; LANES];
        }
    }
    GroupRest {
        node_count,
        chain_count: 0,
        rows,
        held: vec![false; node_count],
        carried: vec![false; node_count],
        slides: vec![false; node_count],
        turns: vec![false; node_count],
        reactions: vec![None; node_count],
        reaction_count: 0,
        hung: vec![false; node_count],
        bears: vec![None; node_count],
        bearing_count: 0,
        bone_count: 1,
        has_free_chain: false,
        has_surface_bending: false,
        has_stiff_fibres: false,
        has_fascia: false,
        has_beds: false,
        has_chords: false,
    }
}

/// Gives each node of which bones hold the place or the frame, or which they guide, in any lane, its reaction row.
pub(super) fn number_reactions(group: &mut GroupRest<f32>) {
    for j in 0..group.node_count {
        let count = group.reaction_count;
        let row = &mut group.rows[j * rest::ENTRIES..][..rest::ENTRIES];
        let any = |entry: usize, value: f32| row[entry].contains(&value);
        let reacts = any(rest::FREE_PLACE, 0.0) || any(rest::FREE_FRAME, 0.0) || any(rest::SLIDES, 1.0);
        group.reactions[j] = reacts.then_some(count);
        row[rest::REACTION] = [if reacts { count as f32 } else { -1.0 }; LANES];
        group.reaction_count += usize::from(reacts);
    }
}

/// Notes in the groups' rows that a chain hangs on another.
pub(super) fn number_borne(groups: &mut [GroupRest<f32>], branch: &Branch) {
    let group = &mut groups[branch.chain[0]];
    group.hung[branch.node] = true;
    group.rows[branch.node * rest::ENTRIES + rest::HUNG][branch.chain[1]] = 1.0;
    let stem = &mut groups[branch.stem[0]];
    let bears = &mut stem.bears[branch.stem_node];
    if bears.is_none() {
        *bears = Some(stem.bearing_count);
        stem.bearing_count += 1;
    }
}

/// Writes a rod's rest rows into a lane; what the host needs of it.
pub(super) fn fill_lane(group: &mut GroupRest<f32>, index: usize, lane: usize, rod: &RodSpec, bones: &[Pose]) -> Chain {
    let places: Vec<DVec3> = rod.nodes.iter().map(|node| node.place).collect();
    // Fibres' offsets are in the frames without a wanted axis.
    let u_axis = if rod.fibres.is_empty() { rod.u_axis } else { None };
    let mut poses = frames_along(&places, u_axis);
    for j in 1..poses.len() {
        poses[j].rotation = beside(poses[j].rotation, poses[j - 1].rotation);
    }
    let material = |segment: usize| rod.segment_materials.get(segment).unwrap_or(&rod.material);
    let count = rod.nodes.len();
    let lengths: Vec<f64> = poses.windows(2).map(|p| p[0].translation.distance(p[1].translation)).collect();
    let rows = &mut group.rows;
    let mut set = |node: usize, entry: usize, value: f64| rows[node * rest::ENTRIES + entry][lane] = value as f32;

    for j in 0..count {
        let before = if j > 0 { lengths[j - 1] } else { 0.0 };
        let after = if j + 1 < count { lengths[j] } else { 0.0 };
        let lumped = 0.5 * (before + after);
        let s = &rod.nodes[j].section;
        let weight = 0.5 * (before * material(j.saturating_sub(1)).density + after * material(j).density);
        set(j, rest::MASS, weight * s.area);
        set(j, rest::INERTIA_U, weight * s.second_moment_u);
        set(j, rest::INERTIA_V, weight * s.second_moment_v);
        set(j, rest::INERTIA_UV, weight * s.product_moment);
        set(j, rest::INERTIA_W, weight * (s.second_moment_u + s.second_moment_v));
        set(j, rest::RADIUS, s.radius());
        set(j, rest::DAMPING, rod.material.damping);
        if before > 0.0 && after > 0.0 {
            let second = 0.5 * (s.second_moment_u + s.second_moment_v);
            let modulus = 0.5 * (material(j - 1).moduli().surface_bending + material(j).moduli().surface_bending);
            let coefficient = modulus * second / lumped;
            set(j, rest::SURFACE_BENDING, coefficient);
            group.has_surface_bending |= coefficient > 0.0;
        }
    }
    for j in 0..count - 1 {
        let mean = mean_section(&rod.nodes[j].section, &rod.nodes[j + 1].section);
        for (entry, value) in segment_entries(&material(j).moduli(), &mean, lengths[j], &poses[j], &poses[j + 1]) {
            set(j, entry, value);
        }
        for (entry, value) in fibre_entries(rod, j, [&poses[j], &poses[j + 1]]) {
            set(j, entry, value);
        }
    }
    let rest_length: f64 = lengths.iter().sum();
    let peaks: Vec<f64> =
        (0..count - 1).map(|j| f64::from(group.rows[j * rest::ENTRIES + rest::ACTIVE][lane]) / lengths[j]).collect();
    let strongest = peaks.iter().copied().fold(0.0, f64::max);
    for (j, length) in lengths.iter().enumerate() {
        let in_series = strongest * (1.0 - contractile(rod, j)) * length;
        group.rows[j * rest::ENTRIES + rest::SERIES][lane] = in_series as f32;
        group.has_stiff_fibres |= in_series > 0.0 || material(j).fibre_modulus > 0.0;
    }
    group.has_stiff_fibres |= rod.contraction.passive > 0.0;
    let bones_along = attach(group, lane, rod, &poses, bones);
    if rod.rigid {
        for j in 0..count {
            group.rows[j * rest::ENTRIES + rest::FREE_SCALE][lane] = 0.0;
            group.held[j] = true;
        }
    }
    // Free flesh has no bed.
    if rod.fascia > 0.0 && !bones_along.is_empty() {
        tie(group, lane, rod);
    }
    count_stiffness(&mut group.rows, lane, &lengths);
    for (entry, value) in rounding(&group.rows, lane, &lengths)
        .into_iter()
        .chain([(rest::LENGTH, rest_length), (rest::WEIGHT_STRETCH, weight_stretch(&group.rows, lane, count))])
    {
        group.rows[entry][lane] = value as f32;
    }
    let clamped = rod.attachments.iter().any(|attachment| attachment.holds.place && attachment.holds.frame);
    if clamped && rod.hangs.is_none() && rod.rest_gravity != DVec3::ZERO {
        balance(group, lane, &poses, rod.rest_gravity);
    }
    let rest_volume = (0..count - 1)
        .map(|j| {
            let area = 0.5 * (rod.nodes[j].section.area + rod.nodes[j + 1].section.area);
            area * spacing([&poses[j], &poses[j + 1]])
        })
        .sum();
    Chain {
        name: rod.name.clone(),
        group: index,
        lane,
        bones: bones_along,
        hangs: rod.hangs,
        rest: poses,
        sections: rod.nodes.iter().map(|node| node.section).collect(),
        fibres: rod.fibres.clone(),
        activation_times: [rod.contraction.activation_time as f32, rod.contraction.deactivation_time as f32],
        rest_volume,
        rest_length,
    }
}

/// How far apart the stiffnesses of one segment may be, so that f32 can carry them in one matrix.
///
/// A segment much longer than thick (r/l below some 1/300) would have a shear stiffness that says nothing beside its
/// bending stiffness but that tangent and frame agree; one much thicker than long (r/l above some 300), a bending
/// stiffness that says nothing but that its two discs are parallel. Both still say so at this ratio.
const STIFFNESS_RATIO: f64 = 1.0e5;

/// Coefficients and rest values of a segment, see [`crate::layout::rest`].
fn segment_entries(moduli: &Moduli, s: &Section, length: f64, a: &Pose, b: &Pose) -> [(usize, f64); 26] {
    let (strain, darboux) = rest_strain([a, b]);
    let polar = s.second_moment_u + s.second_moment_v;
    // A negative λ(ε + 2η)² becomes 3λε² + 6λη² − 2λ(ε − η)², see `cpu::rod_energies`.
    let negative = moduli.volume_modulus.min(0.0);
    let axial = (moduli.axial_modulus + 3.0 * negative) * s.area * length;
    let volume = (moduli.volume_modulus + negative) * s.area * length;
    let lateral = (moduli.lateral_modulus + 6.0 * negative) * s.area * length;
    let slenderness = polar / (s.area * length * length);
    let stiffest = moduli.axial_modulus.max(moduli.shear_modulus);
    // Not so soft that a taut rod's frames would rather tilt than let it stretch.
    let soft = (stiffest * slenderness * STIFFNESS_RATIO).max(0.05 * moduli.shear_modulus);
    let shear = moduli.shear_modulus.min(soft) * s.area * length;
    let softened = (STIFFNESS_RATIO / slenderness).min(1.0) * length;
    // (12) at two Gauss points is (s − 1)² + Δ²/12; (13) has half the lateral modulus on polar/2.
    let difference = lateral / 12.0
        + 0.25 * moduli.lateral_modulus * polar / length
        + moduli.smoothing * moduli.lateral_modulus * s.area * length;
    let difference = difference.min(lateral * STIFFNESS_RATIO);
    [
        (rest::INV_LENGTH, 1.0 / length),
        (rest::STRAIN, strain.x),
        (rest::STRAIN + 1, strain.y),
        (rest::STRAIN + 2, strain.z),
        (rest::STRETCH, strain.z),
        (rest::SCALE, 1.0),
        (rest::DARBOUX, darboux.x),
        (rest::DARBOUX + 1, darboux.y),
        (rest::DARBOUX + 2, darboux.z),
        (rest::BUILT_STRAIN, strain.x),
        (rest::BUILT_STRAIN + 1, strain.y),
        (rest::BUILT_STRAIN + 2, strain.z),
        (rest::BUILT_DARBOUX, darboux.x),
        (rest::BUILT_DARBOUX + 1, darboux.y),
        (rest::BUILT_DARBOUX + 2, darboux.z),
        (rest::AXIAL, axial),
        (rest::SHEAR, shear),
        (rest::LATERAL, lateral),
        (rest::SCALE_DIFFERENCE, difference),
        (rest::VOLUME, volume),
        (rest::BEND_U, moduli.bending_modulus * s.second_moment_u * softened),
        (rest::BEND_V, moduli.bending_modulus * s.second_moment_v * softened),
        (rest::BEND_UV, moduli.bending_modulus * s.product_moment * softened),
        (rest::TORSION, moduli.torsion_modulus * s.torsion_constant * softened),
        (rest::VOLUME_BEND_U, moduli.volume_bending_modulus * s.second_moment_u * length),
        (rest::VOLUME_BEND_V, moduli.volume_bending_modulus * s.second_moment_v * length),
    ]
}

/// How many times stiffer than its fibres pull a segment is counted at least.
const STIFFER_THAN_FIBRES: f64 = 1000.0;

/// See [`rest::STRAIN_TIME2`] and [`rest::LEAST_COUNTED`].
fn count_stiffness(rows: &mut [Entry<f32>], lane: usize, lengths: &[f64]) {
    for (j, length) in lengths.iter().enumerate() {
        let at = |node: usize, entry: usize| f64::from(rows[node * rest::ENTRIES + entry][lane]).abs();
        let stiffness: f64 = [rest::AXIAL, rest::SHEAR, rest::VOLUME].map(|entry| at(j, entry)).iter().sum();
        let time2 = length * length * at(j, rest::MASS).min(at(j + 1, rest::MASS)) / stiffness;
        let pull =
            at(j, rest::ACTIVE) * (1.0 + at(j, rest::PASSIVE)) + at(j, rest::SERIES) + at(j, rest::FIBRE_STIFFNESS);
        // Activation that shortens the reference pulls with the stiffness itself.
        let shortens = at(j, rest::SHORTENING) > 0.0;
        let least = if shortens { 1.0 } else { (STIFFER_THAN_FIBRES * pull / stiffness).min(1.0) };
        let row = &mut rows[j * rest::ENTRIES..][..rest::ENTRIES];
        row[rest::STRAIN_TIME2][lane] = time2 as f32;
        row[rest::LEAST_COUNTED][lane] = least as f32;
    }
}

/// What rounding is worth to a chain, see [`rest::STRAIN_ROUNDING`]. Places count from the chain's origin, so that what
/// their last digits are to a segment grows with the chain's length over its own.
fn rounding(rows: &[Entry<f32>], lane: usize, lengths: &[f64]) -> [(usize, f64); 3] {
    let whole: f64 = lengths.iter().sum();
    let (mut strain, mut turn, mut fastest) = (0.0, 0.0, 0.0_f64);
    for (j, length) in lengths.iter().enumerate() {
        let at = |node: usize, entry: usize| f64::from(rows[node * rest::ENTRIES + entry][lane]).abs();
        let of = |entries: &[usize]| entries.iter().map(|&entry| at(j, entry)).sum::<f64>();
        // Shortened muscle resists shear by so much more.
        let sheared = at(j, rest::AXIAL) * at(j, rest::SHORTENING);
        let along = of(&[rest::AXIAL, rest::SHEAR, rest::VOLUME, rest::FIBRE_STIFFNESS]) + sheared;
        let scale = of(&[rest::LATERAL, rest::SCALE_DIFFERENCE]) + 4.0 * at(j, rest::VOLUME);
        strain += 0.5 * (along * (1.0 + whole / length).powi(2) + scale);
        turn += 0.5 * of(&[rest::BEND_U, rest::BEND_V, rest::TORSION]) * (4.0 / length).powi(2);
        fastest = fastest.max(along / (length * length * at(j, rest::MASS).min(at(j + 1, rest::MASS))));
    }
    [(rest::STRAIN_ROUNDING, strain), (rest::TURN_ROUNDING, turn), (rest::FASTEST2, fastest)]
}

/// Writes how heavy each chain is with its tree, and has it be stretched by the weight of all of that: whichever bones hold may bear the
/// rest. Stems come before what hangs on them.
pub(super) fn weigh_trees(groups: &mut [GroupRest<f32>], branches: &[Branch]) {
    let mass = |group: &GroupRest<f32>, lane: usize| -> f32 {
        let rows = (0..group.node_count).map(|node| group.row(node));
        // Padding has no radius.
        rows.filter(|row| row[rest::RADIUS][lane] > 0.0).map(|row| row[rest::MASS][lane]).sum()
    };
    let own: Vec<[f32; LANES]> = groups.iter().map(|group| std::array::from_fn(|lane| mass(group, lane))).collect();
    let mut whole = own.clone();
    for Branch { chain: [group, lane], stem: [stem, stem_lane], .. } in branches.iter().rev() {
        whole[*stem][*stem_lane] += whole[*group][*lane];
    }
    for Branch { chain: [group, lane], stem: [stem, stem_lane], .. } in branches {
        whole[*group][*lane] = whole[*stem][*stem_lane];
    }
    for ((group, own), whole) in groups.iter_mut().zip(own).zip(whole) {
        group.rows[rest::BODY_MASS] = whole;
        let stretches = &mut group.rows[rest::WEIGHT_STRETCH];
        for lane in (0..LANES).filter(|lane| whole[*lane] > own[*lane]) {
            stretches[lane] = (stretches[lane] * (whole[lane] / own[lane])).min(1.0e6);
        }
    }
}

/// See [`rest::WEIGHT_STRETCH`]; at most 10⁶.
fn weight_stretch(rows: &[Entry<f32>], lane: usize, count: usize) -> f64 {
    let at = |node: usize, entry: usize| f64::from(rows[node * rest::ENTRIES + entry][lane]);
    let mass: f64 = (0..count).map(|j| at(j, rest::MASS)).sum();
    // What is stretched far shears instead, where that is easier.
    let stiffness = |j: usize| at(j, rest::AXIAL).min(at(j, rest::SHEAR)) * at(j, rest::INV_LENGTH);
    let softest = (0..count - 1).map(stiffness).fold(f64::INFINITY, f64::min);
    (mass / softest).min(1.0e6)
}

/// How far apart two sections are along their mean tangent (m): times their mean area, the volume between them, however
/// they are sheared against each other.
pub(crate) fn spacing([a, b]: [&Pose; 2]) -> f64 {
    let near = beside(b.rotation, a.rotation);
    ((a.rotation + near).normalize() * DVec3::Z).dot(b.translation - a.translation)
}

/// Γ (1) and Ω (1/m) of a segment between two poses that are its rest length apart.
fn rest_strain([a, b]: [&Pose; 2]) -> (DVec3, DVec3) {
    let length = a.translation.distance(b.translation);
    let near = beside(b.rotation, a.rotation);
    let middle = (a.rotation + near).normalize();
    let relative = a.rotation.conjugate() * near;
    let strain = middle.conjugate() * ((b.translation - a.translation) / length);
    (strain, relative.xyz() * (4.0 / (1.0 + relative.w) / length))
}

pub(super) fn contractile(rod: &RodSpec, segment: usize) -> f64 {
    rod.contraction.contractile.get(segment).copied().unwrap_or(1.0)
}

/// The most active stress that flesh bears off its axis, over its Young's modulus: by more, the couples of fibres that run
/// aside or aslant would crumple it. What holds a real muscle against them runs between its fibres.
pub const LIVELY: f64 = 0.3;

/// What the fibres of a segment do, see [`crate::cpu::fibres::fibre_stretch`]: each by its area as a share.
fn fibre_entries(rod: &RodSpec, segment: usize, ends: [&Pose; 2]) -> [(usize, f64); 12] {
    let length = ends[0].translation.distance(ends[1].translation);
    let (strain, darboux) = rest_strain(ends);
    let axis = [0, 1].map(|k| Fibre { offset: DVec3::ZERO, radius: rod.nodes[segment + k].section.radius() });
    let contractile = contractile(rod, segment);
    // Tendon bears its tension in its middle: off-axis fibres would put couples on sections that hardly resist bending.
    let pairs: Vec<[Fibre; 2]> = if rod.fibres.is_empty() || contractile == 0.0 {
        vec![axis]
    } else {
        rod.fibres.iter().map(|fibre| [fibre[segment], fibre[segment + 1]]).collect()
    };
    let (mut sum, mut by_darboux, mut by_scale, mut by_difference) = (0.0, DVec3::ZERO, 0.0, 0.0);
    for [a, b] in pairs {
        let area = 0.5 * (a.area() + b.area());
        let (middle, spread) = (0.5 * (a.offset + b.offset), (b.offset - a.offset) / length);
        let slope = strain + spread + darboux.cross(middle);
        let tangent = slope.normalize_or(DVec3::Z);
        sum += area * slope.length();
        by_darboux += area * middle.cross(tangent);
        by_scale += area * tangent.dot(spread);
        by_difference += area * tangent.dot(middle) / length;
    }
    let contraction = &rod.contraction;
    let shortens = contraction.shortens.get(segment).copied().unwrap_or(contractile);
    let material = rod.segment_materials.get(segment).unwrap_or(&rod.material);
    let peak_force = contraction.peak_force.unwrap_or(rod.material.peak_stress * sum);
    let borne = (LIVELY * material.youngs_modulus * sum / peak_force.max(f64::MIN_POSITIVE)).min(1.0);
    let aside = borne / sum;
    // All of them together are as long as at rest where nothing is strained.
    let along = 1.0 - aside * (by_scale + by_darboux.dot(darboux));
    [
        (rest::ACTIVE, peak_force * contractile * length),
        (rest::FIBRE_STRAIN, along / strain.length().max(f64::MIN_POSITIVE)),
        (rest::FIBRE_DARBOUX, by_darboux.x * aside),
        (rest::FIBRE_DARBOUX + 1, by_darboux.y * aside),
        (rest::FIBRE_DARBOUX + 2, by_darboux.z * aside),
        (rest::FIBRE_SCALE, by_scale * aside),
        (rest::FIBRE_DIFFERENCE, by_difference * aside),
        (rest::INV_OPTIMAL, contraction.optimal_stretch.map_or(0.0, |stretch| 1.0 / stretch)),
        (rest::PASSIVE, contraction.passive),
        (rest::INV_MAX_VELOCITY, contraction.max_velocity.map_or(0.0, |velocity| 1.0 / velocity)),
        (rest::SHORTENING, contraction.shortening * shortens),
        (rest::FIBRE_STIFFNESS, material.fibre_modulus * sum * length),
    ]
}

fn mean_section(a: &Section, b: &Section) -> Section {
    Section {
        area: 0.5 * (a.area + b.area),
        second_moment_u: 0.5 * (a.second_moment_u + b.second_moment_u),
        second_moment_v: 0.5 * (a.second_moment_v + b.second_moment_v),
        product_moment: 0.5 * (a.product_moment + b.product_moment),
        torsion_constant: 0.5 * (a.torsion_constant + b.torsion_constant),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flesh::Flesh;

    /// A stem of two segments, of half a kilogram a segment, a branch on it and a twig on that of one segment each; a rod beside.
    #[test]
    fn chains_weigh_as_much_as_their_tree() {
        let rod = |name: &str, from: DVec3, to: DVec3, segments: usize| {
            let mut rod = RodSpec::straight(name, from, to, segments, 0.05);
            rod.material.density = 0.5 / (std::f64::consts::PI * 0.05 * 0.05 * 0.1);
            rod
        };
        let (x, y) = (DVec3::X * 0.1, DVec3::Y * 0.1);
        let rods = [
            rod("stem", DVec3::ZERO, y * 2.0, 2),
            rod("branch", x + y, y, 1).hang(0, 1),
            rod("twig", x * 2.0 + y, x + y, 1).hang(1, 0),
            rod("beside", DVec3::Z, DVec3::Z + x * 3.0, 3),
        ];
        let flesh = Flesh::build(&rods, &[]).unwrap();
        let masses: Vec<f32> = flesh
            .groups
            .iter()
            .flat_map(|group| (0..LANES).map(move |lane| group.row(0)[rest::BODY_MASS][lane]))
            .filter(|mass| *mass > 0.0)
            .collect();
        assert_eq!(masses.len(), rods.len());
        let weighs = |mass: f32| masses.iter().filter(|found| (**found / mass - 1.0).abs() < 1.0e-5).count();
        assert_eq!([weighs(2.0), weighs(1.5)], [3, 1], "{masses:?}");
    }
}
