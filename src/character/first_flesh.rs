//! Limbs of stock characters, found from the skeleton and the skin's weights, and how flesh is fitted to them.
//!
//! A joint J with a child joint C ([`super::skin_tree`]) is a limb segment where enough of the skin that J pulls lies
//! around the line from J to C, on all sides of it, at a distance that is sensible for its length. Twist joints along it
//! share it. Its flesh, a bundle of fibres
//! ([`super::fit`]), runs along that line and fills the skin around it, clamped at both ends to J; vertices follow it
//! as far as J pulls on them, fading with their distance.

use glam::{Affine3A, DVec3, Vec3};

use super::skin_tree::{SkinTree, WIDEST_GAP, extent, widest_gap};
use super::{CharacterAsset, MAX_INFLUENCES};
use crate::SkinBlending;

/// What counts as a limb, and how flesh is fitted to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleshOptions {
    /// Fibres of a limb's bundle, 1 to 64; 7 pack a round limb best.
    pub fibres: usize,
    /// Segments of a limb's bundle, one less than its cross-sections. The trunk has about as many.
    pub segments: usize,
    /// Whether a bundle fills the trunk, from the hips over the spine to the neck, where the skeleton has one. It
    /// takes the place of flesh on the spine's joints.
    pub trunk: bool,
    /// Whether rest strains are chosen so that the rest pose is in balance under 9.81 m/s² along −Y of model space:
    /// nothing sags when the character is spawned upright. Without gravity such flesh rises a little, by less than
    /// [`FleshOptions::sag`].
    pub balance: bool,
    /// How the skin blends its joints.
    pub blending: SkinBlending,
    /// Whether flesh stays out of the bones that the author describes ([`CharacterAsset::bones`]).
    pub bones: bool,
    /// Least vertices around a limb.
    pub least_vertices: usize,
    /// Least length of a limb over the character's height.
    pub least_length: f64,
    /// Least and most length of a limb over its mean radius.
    pub slenderness: [f64; 2],
    /// How far the flesh goes towards the skin: its distance from the bone over the skin's.
    pub fill: f64,
    /// Least share of a vertex's weight with which it belongs to a joint.
    pub least_weight: f64,
    /// Distances from the bone over the local radius at which the rod's pull starts to fade and is gone.
    pub fade: [f64; 2],
    /// Most that a change of gravity by 9.81 m/s² may sag a limb's flesh at its middle, over its radius; a limb whose
    /// flesh would sag more gets a stiffer material.
    pub sag: f64,
    /// How far skin follows a section of flesh away from its bone, at most, over the section's radius.
    pub reach: f64,
    /// What the flesh is made of.
    pub material: crate::Material,
}

impl Default for FleshOptions {
    fn default() -> Self {
        Self {
            fibres: 7,
            segments: 8,
            trunk: true,
            balance: true,
            blending: SkinBlending::Linear,
            bones: true,
            least_vertices: 8,
            least_length: 0.03,
            slenderness: [1.1, 14.0],
            fill: 1.0,
            least_weight: 0.3,
            fade: [1.6, 3.0],
            sag: 0.04,
            reach: 0.2,
            material: crate::Material::default(),
        }
    }
}

/// A limb segment with its flesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Limb {
    /// The joint that moves it.
    pub joint: u32,
    /// The joint at its far end.
    pub end_joint: u32,
    /// The twist joints along it, whose skin is the limb's too.
    pub twists: Vec<u32>,
    /// The joints that hold its flesh at both ends: `joint`, or those of the twist joints that move the skin there.
    pub held_by: [u32; 2],
    /// From the joint to the far end (m), model space at rest.
    pub line: [DVec3; 2],
    /// The skin's median distance from the line (m) at evenly spaced stations from end to end.
    pub radii: Vec<f64>,
}

impl Limb {
    /// Its length (m).
    pub fn length(&self) -> f64 {
        self.line[0].distance(self.line[1])
    }

    /// The skin's distance from the line (m) at a fraction of its length.
    pub fn radius_at(&self, along: f64) -> f64 {
        let last = self.radii.len() - 1;
        let at = along.clamp(0.0, 1.0) * last as f64;
        let (low, high) = (at.floor() as usize, (at.ceil() as usize).min(last));
        self.radii[low] + (self.radii[high] - self.radii[low]) * (at - low as f64)
    }
}

impl FleshOptions {
    /// The material of flesh with these sections over a span (m) between clamps: stiff enough that a clamped beam sags
    /// by no more than [`FleshOptions::sag`] under 9.81 m/s², ρgAL²(L²/384EI + 1/8κμA) with bending and shear both
    /// ∝ 1/E. Of sections that differ the thin ones count most (I and A of harmonic mean radii), of axes the weaker.
    pub fn stiffened(&self, span: f64, sections: &[crate::Section]) -> crate::Material {
        let mut material = self.material;
        let count = sections.len().max(1) as f64;
        let mean = |of: &dyn Fn(&crate::Section) -> f64| sections.iter().map(of).sum::<f64>() / count;
        let area = mean(&|s| s.area);
        let by_moment = mean(&|s| s.weaker_moment().powf(-0.25)).powi(4);
        let by_area = mean(&|s| s.area.powf(-0.5)).powi(2);
        let radius = mean(&|s| s.radius());
        let weight = material.density * 9.81 * span * span * area;
        let bending = span * span * by_moment / 384.0;
        let shear = material.youngs_modulus / (8.0 * material.moduli().shear_modulus) * by_area;
        let least = weight * (bending + shear) / (self.sag * radius);
        if least.is_finite() {
            material.youngs_modulus = material.youngs_modulus.max(least);
        }
        material
    }
}

/// The skin in model space at rest, with each vertex's pull by joint.
#[derive(Default)]
pub struct RestSkin {
    /// Places (m).
    pub positions: Vec<Vec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// The mesh's unit tangents, as long as they are in model space; empty where it has none.
    pub tangents: Vec<Vec3>,
    /// The linear part of what takes each vertex there from mesh space, by rows.
    pub linear: Vec<[[f32; 3]; 3]>,
}

/// Finds the limbs of a character; `joints` are the joints' matrices at rest, `skin` its skin.
pub fn find_limbs(
    asset: &CharacterAsset,
    tree: &SkinTree,
    joints: &[Affine3A],
    skin: &RestSkin,
    options: &FleshOptions,
) -> Vec<Limb> {
    let height = extent(skin);
    let pulled = tree.vertices(asset, options.least_weight);
    let mut limbs = Vec::new();
    for (joint, vertices) in pulled.iter().enumerate().filter(|(_, vertices)| !vertices.is_empty()) {
        let joint = joint as u32;
        let line_to =
            |child: u32| [joints[joint as usize].translation.as_dvec3(), joints[child as usize].translation.as_dvec3()];
        let hung: Vec<[DVec3; 2]> =
            tree.children(joint).iter().filter(|&&child| tree.is_hung(child)).map(|&child| line_to(child)).collect();
        let to = |&child: &u32| {
            let line = line_to(child);
            let found = limb(line, [joint, child], vertices, skin, height, options)?;
            let by_skin_alone = tree.is_hung(joint) || tree.is_hung(child);
            let sure = || {
                found.1.length() > 2.0 * options.least_length * height
                    && pulled[child as usize].len() * 10 > vertices.len()
                    && (!tree.is_hung(child) || goes_one_way(&line, &hung))
                    && is_all_around(&line, vertices, skin)
            };
            (!by_skin_alone || sure()).then_some(found)
        };
        let longest_run = |ends: &mut dyn Iterator<Item = &u32>| {
            let found = ends.filter_map(to).max_by(|(a, x), (b, y)| a.cmp(b).then(y.length().total_cmp(&x.length())));
            found.map(|(_, limb)| limb)
        };
        // A limb goes to the joint that moves what is beyond it; else to one that marks its end, if no control.
        let (mut moving, marks): (Vec<u32>, Vec<u32>) =
            tree.children(joint).iter().partition(|&&child| tree.has_skin_beyond(child));
        if moving.iter().any(|&child| !tree.is_hung(child)) {
            moving.retain(|&child| !tree.is_hung(child));
        }
        let mut ends = marks.iter().filter(|&&mark| reaches(&line_to(mark), vertices, skin));
        let mut found = longest_run(&mut moving.iter()).or_else(|| longest_run(&mut ends));
        if let Some(limb) = &mut found {
            limb.twists = tree.twists(joint).collect();
            limb.held_by = held_by(limb, asset, skin);
        }
        limbs.extend(found);
    }
    limbs
}

/// Whether none of some lines from a joint is as long as another one and leads elsewhere: no limb ends in one of two ears.
fn goes_one_way(line: &[DVec3; 2], lines: &[[DVec3; 2]]) -> bool {
    let along = line[1] - line[0];
    lines.iter().all(|other| {
        let other = other[1] - other[0];
        let alike = (other.length() - along.length()).abs() <= 0.03 * along.length();
        !alike || other.dot(along) >= 0.97 * along.length_squared()
    })
}

/// Whether some of the skin is as far along a line as its far end, nearly: the end of a limb, and not a control.
fn reaches(line: &[DVec3; 2], vertices: &[u32], skin: &RestSkin) -> bool {
    let axis = line[1] - line[0];
    let along = |&vertex: &u32| (skin.positions[vertex as usize].as_dvec3() - line[0]).dot(axis);
    vertices.iter().any(|vertex| along(vertex) >= 0.6 * axis.length_squared())
}

/// Whether skin goes all around a line, along most of it.
fn is_all_around(line: &[DVec3; 2], vertices: &[u32], skin: &RestSkin) -> bool {
    const STATIONS: usize = 5;
    let length = line[0].distance(line[1]);
    let axis = (line[1] - line[0]) / length;
    let across = axis.any_orthonormal_vector();
    let mut filled = [false; STATIONS];
    let mut angles = Vec::new();
    for &vertex in vertices {
        let offset = skin.positions[vertex as usize].as_dvec3() - line[0];
        let along = offset.dot(axis) / length;
        if (0.0..1.0).contains(&along) {
            filled[(along * STATIONS as f64) as usize] = true;
            angles.push(offset.dot(axis.cross(across)).atan2(offset.dot(across)));
        }
    }
    filled.into_iter().filter(|&filled| filled).count() + 1 >= STATIONS && widest_gap(angles) <= WIDEST_GAP
}

/// The first and the last along a limb of the joints that share its skin.
fn held_by(limb: &Limb, asset: &CharacterAsset, skin: &RestSkin) -> [u32; 2] {
    let sharing: Vec<u32> = std::iter::once(limb.joint).chain(limb.twists.iter().copied()).collect();
    if sharing.len() == 1 {
        return [limb.joint; 2];
    }
    let mut sums = vec![(0.0, 0.0); sharing.len()];
    let axis = (limb.line[1] - limb.line[0]) / limb.length();
    for vertex in 0..asset.mesh.positions.len() {
        for (entry, weight) in influences(asset, vertex) {
            if let Some(slot) = sharing.iter().position(|&joint| joint == asset.palette[entry].joint) {
                let along = (skin.positions[vertex].as_dvec3() - limb.line[0]).dot(axis);
                sums[slot].0 += weight * along;
                sums[slot].1 += weight;
            }
        }
    }
    let along = |slot: &usize| sums[*slot].0 / sums[*slot].1;
    let skinned = || (0..sharing.len()).filter(|&slot| sums[slot].1 > 0.0);
    let first = skinned().min_by(|a, b| along(a).total_cmp(&along(b)));
    let last = skinned().max_by(|a, b| along(a).total_cmp(&along(b)));
    [first, last].map(|slot| sharing[slot.unwrap_or(0)])
}

/// A vertex's palette entries and weights.
pub fn influences(asset: &CharacterAsset, vertex: usize) -> impl Iterator<Item = (usize, f64)> {
    let joints = asset.mesh.influence_joints[vertex];
    let weights = asset.mesh.influence_weights[vertex];
    (0..MAX_INFLUENCES).filter(move |&k| weights[k] > 0.0).map(move |k| (joints[k] as usize, f64::from(weights[k])))
}

/// The segment between two joints, if it is a limb, with how many vertices lie around it.
fn limb(
    line: [DVec3; 2],
    [joint, end_joint]: [u32; 2],
    vertices: &[u32],
    skin: &RestSkin,
    height: f64,
    options: &FleshOptions,
) -> Option<(usize, Limb)> {
    const STATIONS: usize = 5;
    let axis = line[1] - line[0];
    let length = axis.length();
    if !(length.is_finite() && length > options.least_length * height && length > 0.0) {
        return None;
    }
    let axis = axis / length;
    let across = axis.any_orthonormal_vector();
    let mut quadrants = [0_usize; 4];
    let mut around: Vec<(f64, f64)> = Vec::new();
    for &vertex in vertices {
        let offset = skin.positions[vertex as usize].as_dvec3() - line[0];
        let along = offset.dot(axis) / length;
        if (-0.1..=1.1).contains(&along) {
            let radial = offset - axis * offset.dot(axis);
            let (x, y) = (radial.dot(across), radial.dot(axis.cross(across)));
            quadrants[usize::from(x > 0.0) + 2 * usize::from(y > 0.0)] += 1;
            around.push((along, radial.length()));
        }
    }
    let filled = quadrants.iter().filter(|&&count| count > 0).count();
    if around.len() < options.least_vertices || filled < 3 {
        return None;
    }
    let median = |low: f64, high: f64| {
        let mut radii: Vec<f64> = around.iter().filter(|(t, _)| (low..=high).contains(t)).map(|&(_, r)| r).collect();
        radii.sort_by(f64::total_cmp);
        radii.get(radii.len() / 2).copied()
    };
    let whole = median(-0.1, 1.1)?;
    let [least, most] = options.slenderness;
    if !(whole > 0.0 && (least..=most).contains(&(length / whole))) {
        return None;
    }
    let radii = (0..STATIONS)
        .map(|i| {
            let t = i as f64 / (STATIONS - 1) as f64;
            let reach = 0.6 / (STATIONS - 1) as f64;
            // A station without vertices, or with stray ones, is as thick as the limb.
            median(t - reach, t + reach).unwrap_or(whole).clamp(0.4 * whole, 2.0 * whole)
        })
        .collect();
    Some((around.len(), Limb { joint, end_joint, twists: Vec::new(), held_by: [joint; 2], line, radii }))
}
