//! From rod specs to rest rows.

use glam::{DMat3, DQuat, DVec3};

use super::spec::{BuildError, RodSpec};
use crate::Pose;
use crate::cpu::group::GroupRest;
use crate::cpu::lanes::{Entry, LANES};
use crate::layout::rest;
use crate::material::{Moduli, Section};

/// The most nodes of a rod.
pub const MAX_NODES: usize = 1024;
/// The shortest segment (m).
const LEAST_LENGTH: f64 = 1.0e-6;

/// Where a rod went, and what the host needs of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The rod's name.
    pub name: String,
    /// Its group.
    pub group: usize,
    /// Its lane in the group.
    pub lane: usize,
    /// The first and second bone that it hangs on; the same one twice, or `None` where it is free.
    pub bones: Option<[usize; 2]>,
    /// Rest poses of its nodes, in the space of the bones' rest poses.
    pub rest: Vec<Pose>,
    /// Rest sections of its nodes.
    pub sections: Vec<Section>,
    /// Rest volume (m³).
    pub rest_volume: f64,
}

impl Chain {
    /// How many nodes it has.
    pub fn node_count(&self) -> usize {
        self.rest.len()
    }
}

/// Rods ready to be stepped; immutable and shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Flesh {
    pub(crate) chains: Vec<Chain>,
    pub(crate) groups: Vec<GroupRest<f32>>,
    pub(crate) bones: Vec<Pose>,
}

impl Flesh {
    /// Builds rods that hang on bones, given the bones' rest poses.
    ///
    /// # Errors
    /// A [`BuildError`] that names the rod and the field: too few or too many nodes, numbers that are not finite or
    /// out of range, segments without length, attachments to nodes or bones that are not there.
    pub fn build(rods: &[RodSpec], bones: &[Pose]) -> Result<Self, BuildError> {
        if let Some(bone) = bones.iter().position(|pose| !pose.is_finite()) {
            return Err(BuildError::BoneNotFinite { bone });
        }
        let mut order: Vec<usize> = (0..rods.len()).collect();
        for rod in rods {
            check(rod, bones.len())?;
        }
        // Chains of like length share a group, so that little is padding.
        order.sort_by_key(|&index| std::cmp::Reverse(rods[index].nodes.len()));
        let mut chains: Vec<Option<Chain>> = vec![None; rods.len()];
        let mut groups = Vec::new();
        for (group, members) in order.chunks(LANES).enumerate() {
            let mut rest = inert_group(rods[members[0]].nodes.len());
            for (lane, &index) in members.iter().enumerate() {
                chains[index] = Some(fill_lane(&mut rest, group, lane, &rods[index], bones));
            }
            groups.push(rest);
        }
        let chains = chains.into_iter().flatten().collect();
        Ok(Self { chains, groups, bones: bones.to_vec() })
    }

    /// The chains, in the order of the rods given to [`Flesh::build`].
    pub fn chains(&self) -> &[Chain] {
        &self.chains
    }

    /// Index of the first chain of a name.
    pub fn chain_named(&self, name: &str) -> Option<usize> {
        self.chains.iter().position(|chain| chain.name == name)
    }

    /// The bones' rest poses.
    pub fn bones(&self) -> &[Pose] {
        &self.bones
    }

    /// The two bones that carry a node, and how far it is from the first (0) to the second (1); `None` where the chain
    /// is free.
    ///
    /// # Panics
    /// Where there is no such chain or node.
    pub fn carriers(&self, chain: usize, node: usize) -> Option<([usize; 2], f64)> {
        let Chain { group, lane, bones, .. } = &self.chains[chain];
        let along = self.groups[*group].row(node)[rest::BONE_BLEND][*lane];
        bones.map(|bones| (bones, f64::from(along)))
    }

    /// For each node of each group, which lanes a bone holds anything of or carries.
    pub fn carried_lanes(&self) -> impl Iterator<Item = Vec<[bool; LANES]>> {
        let carried = |row: &[Entry<f32>]| {
            std::array::from_fn(|lane| {
                [rest::FREE_PLACE, rest::FREE_FRAME, rest::FREE_SCALE].iter().any(|&entry| row[entry][lane] == 0.0)
                    || row[rest::CARRIED][lane] != 0.0
            })
        };
        self.groups.iter().map(move |group| group.rows.chunks(rest::ENTRIES).map(carried).collect())
    }

    /// The groups that the stages step, for tests and benches.
    #[doc(hidden)]
    pub fn groups(&self) -> &[GroupRest<f32>] {
        &self.groups
    }

    /// Nodes of all rods.
    pub fn node_count(&self) -> usize {
        self.chains.iter().map(Chain::node_count).sum()
    }
}

fn check(rod: &RodSpec, bone_count: usize) -> Result<(), BuildError> {
    let name = || rod.name.clone();
    let count = rod.nodes.len();
    if count < 2 {
        return Err(BuildError::TooFewNodes { rod: name(), count });
    }
    if count > MAX_NODES {
        return Err(BuildError::TooManyNodes { rod: name(), count, most: MAX_NODES });
    }
    let range = |field: &str, value: f64, low: f64, high: f64, expected: &'static str| {
        if value.is_finite() && value >= low && value <= high {
            Ok(())
        } else {
            Err(BuildError::OutOfRange { rod: name(), field: field.into(), value, expected })
        }
    };
    let m = &rod.material;
    range("material.youngs_modulus", m.youngs_modulus, 1.0, 1.0e13, "between 1 and 10¹³ Pa")?;
    range("material.poissons_ratio", m.poissons_ratio, -0.5, 0.4999, "between -0.5 and 0.4999")?;
    range("material.density", m.density, 1.0e-2, 1.0e6, "between 10⁻² and 10⁶ kg/m³")?;
    range("material.damping", m.damping, 0.0, 1.0e6, "between 0 and 10⁶ 1/s")?;
    range("material.peak_stress", m.peak_stress, 0.0, 1.0e13, "between 0 and 10¹³ Pa")?;
    let moduli = m.moduli();
    for (field, value) in [
        ("axial_modulus", moduli.axial_modulus),
        ("shear_modulus", moduli.shear_modulus),
        ("lateral_modulus", moduli.lateral_modulus),
        ("bending_modulus", moduli.bending_modulus),
        ("torsion_modulus", moduli.torsion_modulus),
        ("volume_bending_modulus", moduli.volume_bending_modulus),
        ("surface_bending", moduli.surface_bending),
        ("smoothing", moduli.smoothing),
    ] {
        range(&format!("material.overrides.{field}"), value, 0.0, 1.0e17, "between 0 and 10¹⁷")?;
    }
    range(
        "material.overrides.volume_modulus",
        moduli.volume_modulus,
        -(moduli.axial_modulus / 3.0).min(moduli.lateral_modulus / 6.0),
        1.0e17,
        "above minus a third of the axial and a sixth of the lateral modulus, and below 10¹⁷",
    )?;
    for (j, node) in rod.nodes.iter().enumerate() {
        for value in node.place.to_array() {
            range(&format!("nodes[{j}].place"), value, -1.0e9, 1.0e9, "finite, within 10⁹ m")?;
        }
        let s = &node.section;
        let radius = s.radius();
        range(&format!("nodes[{j}].section.area"), s.area, 1.0e-12, 1.0e6, "between 10⁻¹² and 10⁶ m²")?;
        for (field, value) in [
            ("second_moment_u", s.second_moment_u),
            ("second_moment_v", s.second_moment_v),
            ("torsion_constant", s.torsion_constant),
        ] {
            // A section slimmer than this has no say in f32 beside its own area.
            let (low, high) = (1.0e-6 * s.area * radius * radius, 1.0e6 * s.area * radius * radius);
            range(&format!("nodes[{j}].section.{field}"), value, low, high, "within 10⁻⁶ to 10⁶ of area²/π")?;
        }
        let most = (s.second_moment_u * s.second_moment_v).sqrt() * 0.999;
        range(
            &format!("nodes[{j}].section.product_moment"),
            s.product_moment,
            -most,
            most,
            "smaller than the root of the two second moments' product",
        )?;
    }
    for (node, pair) in rod.nodes.windows(2).enumerate() {
        let length = pair[0].place.distance(pair[1].place);
        if length < LEAST_LENGTH {
            return Err(BuildError::ShortSegment { rod: name(), node, length, least: LEAST_LENGTH });
        }
    }
    for (j, triple) in rod.nodes.windows(3).enumerate() {
        let before = (triple[1].place - triple[0].place).normalize();
        let after = (triple[2].place - triple[1].place).normalize();
        if before.dot(after) < -0.87 {
            return Err(BuildError::Folded { rod: name(), node: j + 1 });
        }
    }
    let mut bones: Vec<usize> = Vec::new();
    for (attachment, held) in rod.attachments.iter().enumerate() {
        for (field, index, count) in [("node", held.node, count), ("bone", held.bone, bone_count)] {
            if index >= count {
                return Err(BuildError::NoSuch { rod: name(), attachment, field, index, count });
            }
        }
        if !bones.contains(&held.bone) {
            bones.push(held.bone);
        }
    }
    if bones.len() > 2 {
        return Err(BuildError::TooManyBones { rod: name(), count: bones.len() });
    }
    Ok(())
}

/// A group of padding: nodes that weigh something and do nothing.
fn inert_group(node_count: usize) -> GroupRest<f32> {
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
        ] {
            rows[node * rest::ENTRIES + entry] = [1.0; LANES];
        }
    }
    GroupRest {
        node_count,
        rows,
        held: vec![false; node_count],
        carried: vec![false; node_count],
        has_free_chain: false,
        has_surface_bending: false,
    }
}

fn fill_lane(group: &mut GroupRest<f32>, index: usize, lane: usize, rod: &RodSpec, bones: &[Pose]) -> Chain {
    let poses = rest_poses(rod);
    let moduli = rod.material.moduli();
    let count = rod.nodes.len();
    let lengths: Vec<f64> = poses.windows(2).map(|p| p[0].translation.distance(p[1].translation)).collect();
    let rows = &mut group.rows;
    let mut set = |node: usize, entry: usize, value: f64| rows[node * rest::ENTRIES + entry][lane] = value as f32;

    for j in 0..count {
        let before = if j > 0 { lengths[j - 1] } else { 0.0 };
        let after = if j + 1 < count { lengths[j] } else { 0.0 };
        let lumped = 0.5 * (before + after);
        let s = &rod.nodes[j].section;
        let weight = rod.material.density * lumped;
        set(j, rest::MASS, weight * s.area);
        set(j, rest::INERTIA_U, weight * s.second_moment_u);
        set(j, rest::INERTIA_V, weight * s.second_moment_v);
        set(j, rest::INERTIA_UV, weight * s.product_moment);
        set(j, rest::INERTIA_W, weight * (s.second_moment_u + s.second_moment_v));
        set(j, rest::RADIUS, s.radius());
        set(j, rest::DAMPING, rod.material.damping);
        if before > 0.0 && after > 0.0 {
            let second = 0.5 * (s.second_moment_u + s.second_moment_v);
            let coefficient = moduli.surface_bending * second * 2.0 / (before + after);
            set(j, rest::SURFACE_BENDING, coefficient);
            group.has_surface_bending |= coefficient > 0.0;
        }
    }
    for j in 0..count - 1 {
        let mean = mean_section(&rod.nodes[j].section, &rod.nodes[j + 1].section);
        for (entry, value) in segment_entries(&moduli, &mean, lengths[j], &poses[j], &poses[j + 1]) {
            set(j, entry, value);
        }
        set(j, rest::STRING_INERTIA, 0.25 * rod.material.density * mean.area * lengths[j].powi(3));
        set(j, rest::ACTIVE, rod.material.peak_stress * mean.area * lengths[j]);
    }
    let slots = attach(group, lane, rod, &poses, bones);
    let rest_volume =
        (0..count - 1).map(|j| 0.5 * (rod.nodes[j].section.area + rod.nodes[j + 1].section.area) * lengths[j]).sum();
    Chain {
        name: rod.name.clone(),
        group: index,
        lane,
        bones: slots,
        rest: poses,
        sections: rod.nodes.iter().map(|node| node.section).collect(),
        rest_volume,
    }
}

/// How far apart the stiffnesses of one segment may be, so that f32 can carry them in one matrix.
///
/// A segment much longer than thick (r/l below some 1/300) would have a shear stiffness that says nothing beside its
/// bending stiffness but that tangent and frame agree; one much thicker than long (r/l above some 300), a bending
/// stiffness that says nothing but that its two discs are parallel. Both still say so at this ratio.
const STIFFNESS_RATIO: f64 = 1.0e5;

/// Coefficients and rest values of a segment, see [`crate::layout::rest`].
fn segment_entries(moduli: &Moduli, s: &Section, length: f64, a: &Pose, b: &Pose) -> [(usize, f64); 18] {
    let near = if a.rotation.dot(b.rotation) < 0.0 { -b.rotation } else { b.rotation };
    let middle = (a.rotation + near).normalize();
    let strain = middle.conjugate() * ((b.translation - a.translation) / length);
    let relative = a.rotation.conjugate() * near;
    let darboux = relative.xyz() * (4.0 / (1.0 + relative.w) / length);
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
        (rest::DARBOUX, darboux.x),
        (rest::DARBOUX + 1, darboux.y),
        (rest::DARBOUX + 2, darboux.z),
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

fn mean_section(a: &Section, b: &Section) -> Section {
    Section {
        area: 0.5 * (a.area + b.area),
        second_moment_u: 0.5 * (a.second_moment_u + b.second_moment_u),
        second_moment_v: 0.5 * (a.second_moment_v + b.second_moment_v),
        product_moment: 0.5 * (a.product_moment + b.product_moment),
        torsion_constant: 0.5 * (a.torsion_constant + b.torsion_constant),
    }
}

/// Writes what bones hold; returns the chain's two bones.
fn attach(
    group: &mut GroupRest<f32>,
    lane: usize,
    rod: &RodSpec,
    poses: &[Pose],
    bones: &[Pose],
) -> Option<[usize; 2]> {
    let mut held = rod.attachments.clone();
    held.sort_by_key(|attachment| attachment.node);
    let (Some(first), Some(last)) = (held.first(), held.last()) else {
        group.has_free_chain = true;
        return None;
    };
    let second = held.iter().rev().find(|a| a.bone != first.bone).unwrap_or(last);
    let slots = [first.bone, second.bone];
    let both_ends = first.node == 0 && first.holds.place && last.node + 1 == poses.len() && last.holds.place;
    let arc: Vec<f64> = std::iter::once(0.0)
        .chain(poses.windows(2).scan(0.0, |sum, p| {
            *sum += p[0].translation.distance(p[1].translation);
            Some(*sum)
        }))
        .collect();
    let (from, to) = (arc[first.node], arc[second.node]);
    for (j, along) in arc.iter().enumerate() {
        let blend = if to > from { ((along - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
        let row = &mut group.rows[j * rest::ENTRIES..][..rest::ENTRIES];
        row[rest::BONE_BLEND][lane] = blend as f32;
        if both_ends {
            let slot = usize::from(blend > 0.5);
            row[rest::CARRIED][lane] = 1.0;
            row[rest::HOLD_SLOT][lane] = slot as f32;
            write_local(row, lane, &(bones[slots[slot]].inverse() * poses[j]));
            group.carried[j] = true;
        }
    }
    for attachment in &held {
        group.held[attachment.node] = true;
        group.carried[attachment.node] = true;
        let row: &mut [Entry<f32>] = &mut group.rows[attachment.node * rest::ENTRIES..][..rest::ENTRIES];
        write_local(row, lane, &(bones[attachment.bone].inverse() * poses[attachment.node]));
        let free = |held: bool| if held { 0.0 } else { 1.0 };
        row[rest::FREE_PLACE][lane] = free(attachment.holds.place);
        row[rest::FREE_FRAME][lane] = free(attachment.holds.frame);
        row[rest::FREE_SCALE][lane] = free(attachment.holds.scale);
        row[rest::HOLD_SLOT][lane] = if attachment.bone == slots[0] { 0.0 } else { 1.0 };
    }
    Some(slots)
}

fn write_local(row: &mut [Entry<f32>], lane: usize, local: &Pose) {
    for (k, value) in local.translation.to_array().into_iter().enumerate() {
        row[rest::HOLD_PLACE + k][lane] = value as f32;
    }
    for (k, value) in local.rotation.to_array().into_iter().enumerate() {
        row[rest::HOLD_FRAME + k][lane] = value as f32;
    }
}

/// Frames along the path: tangents halve the angle at inner nodes, and u is carried along without twist.
fn rest_poses(rod: &RodSpec) -> Vec<Pose> {
    let places: Vec<DVec3> = rod.nodes.iter().map(|node| node.place).collect();
    let directions: Vec<DVec3> = places.windows(2).map(|p| (p[1] - p[0]).normalize()).collect();
    let tangent = |j: usize| {
        let before = directions[j.saturating_sub(1)];
        let after = directions[j.min(directions.len() - 1)];
        (before + after).normalize()
    };
    let first = tangent(0);
    let wanted = rod.u_axis.unwrap_or_else(|| first.any_orthonormal_vector());
    let across = wanted - first * first.dot(wanted);
    let u = if across.length() > 1.0e-9 { across.normalize() } else { first.any_orthonormal_vector() };
    let mut frame = DQuat::from_mat3(&DMat3::from_cols(u, first.cross(u), first)).normalize();
    let mut last = first;
    places
        .iter()
        .enumerate()
        .map(|(j, &place)| {
            let next = tangent(j);
            frame = (DQuat::from_rotation_arc(last, next) * frame).normalize();
            last = next;
            Pose::new(place, frame)
        })
        .collect()
}
