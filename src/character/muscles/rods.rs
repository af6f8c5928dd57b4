//! From muscles as authors describe them to rods on joints.
//!
//! Data flow: [`MuscleSpec`] → [`lay`] → [`MuscleCourse`], fibres in model space at rest with the joints that hold them,
//! once a character → [`MuscleCourse::rod`], at the scale of a spawn → `RodSpec`.

use std::f64::consts::PI;
use std::ops::Range;

use glam::{Affine3A, DVec3, Vec3};

#[cfg(feature = "viperize")]
use super::MeshEnds;
use super::carriers::carriers;
use super::{MuscleMesh, MuscleShape, MuscleSpec, PathPoint, Thickness};
use crate::character::body::height;
#[cfg(feature = "viperize")]
use crate::character::body::rest_at;
use crate::character::scaling::{AUTHORED_HEIGHT, acceleration_growth, growth_by_height};
#[cfg(feature = "viperize")]
use crate::character::viperize::{Ends, TriangleMesh, ViperizeOptions, viperize};
use crate::character::{CharacterAsset, PaletteEntry};
use crate::flesh::{Bundle, Carriers, Contraction, Disc, Holds, RodSpec, frames_along};
use crate::{Material, Moduli, ModuliOverrides};

/// Where growing stops to stiffen (Pa).
const MOST_MODULUS: f64 = 1.0e12;

/// Stretch of tendon at peak force (Zajac 1989).
const TENDON_STRETCH: f64 = 0.04;
/// How much stiffer its sections are bound to its path, and to each other, than those of the belly: what is stretched and
/// swells beside a belly that has shortened would else rather tilt its sections, all the way round.
const TENDON_BINDING: f64 = 30.0;

/// Where a muscle's fibres run, in model space at rest (m), and what holds them.
#[derive(Clone, Debug, PartialEq)]
pub struct MuscleCourse {
    /// What it is made from.
    pub spec: MuscleSpec,
    /// Its fibres at scale 1.
    pub bundle: Bundle,
    /// Nodes, the joints that hold them and how, from origin to insertion.
    pub holds: Vec<(usize, u32, Holds)>,
    /// The joints that carry its sections.
    pub carriers: Carriers<u32>,
    /// Its own surface, if it has one.
    pub surface: Option<Surface>,
    /// How many times as much as on a character of the height [`AUTHORED_HEIGHT`] it accelerates, at least 1; 1 where its
    /// author says how stiff or how strong it is.
    pub acceleration_growth: f64,
}

/// A muscle's own surface: a part of the character's mesh that hangs on one node, and follows the muscle instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Its vertices in the character's mesh.
    pub vertices: Range<u32>,
    /// Its triangles in the character's mesh.
    pub triangles: Range<u32>,
    /// For each joint that holds the muscle, the palette entry by which the surface follows that joint.
    entries: Vec<(u32, u16)>,
}

impl Surface {
    /// The palette entry by which the surface follows a joint of the muscle's.
    pub fn palette_entry(&self, joint: u32) -> u16 {
        self.entries.iter().find(|(of, _)| *of == joint).map_or(0, |(_, entry)| *entry)
    }
}

/// Why a muscle's own surface moves as other skin does, by its joint weights, and not with the muscle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceFault {
    /// Its vertices do not all hang on one node.
    #[error("it is skinned; take it out of the skin (its Armature modifier, in Blender) and parent it to a bone")]
    Skinned,
    /// A joint that holds the muscle has no inverse.
    #[error("a joint that holds the muscle has no size; give it a scale other than 0")]
    FlatJoint,
    /// There are as many palette entries as vertices can name.
    #[error("the character has {} joints with skin and no room for more; merge some, or skin less", u16::MAX)]
    FullPalette,
}

/// Lets a muscle's own surface, if all of it hangs rigidly on one node, follow the muscle's joints: adds what the palette
/// needs for that. Joints are at rest. `None` for a muscle without a surface.
///
/// # Errors
/// [`SurfaceFault`].
pub fn free_surface(
    spec: &MuscleSpec,
    carriers: &Carriers<u32>,
    joints: &[Affine3A],
    asset: &mut CharacterAsset,
) -> Result<Option<Surface>, SurfaceFault> {
    let Some(mesh) = &spec.mesh else { return Ok(None) };
    let mut vertices = mesh.vertices.start as usize..mesh.vertices.end as usize;
    let Some(&[entry, ..]) = asset.mesh.influence_joints.get(vertices.start) else { return Ok(None) };
    let rigid = vertices.all(|vertex| {
        asset.mesh.influence_joints[vertex][0] == entry && asset.mesh.influence_weights[vertex][0] == 1.0
    });
    if !rigid {
        return Err(SurfaceFault::Skinned);
    }
    let home = asset.palette[entry as usize];
    let to_model = joints[home.joint as usize] * home.inverse_bind;
    let mut entries: Vec<(u32, u16)> = Vec::new();
    for &joint in &carriers.bones {
        if entries.iter().all(|(of, _)| *of != joint) {
            let at = u16::try_from(asset.palette.len()).map_err(|_| SurfaceFault::FullPalette)?;
            let inverse_bind = joints[joint as usize].inverse() * to_model;
            // A joint of no size has no inverse.
            if !inverse_bind.is_finite() {
                return Err(SurfaceFault::FlatJoint);
            }
            asset.palette.push(PaletteEntry { joint, inverse_bind });
            entries.push((joint, at));
        }
    }
    Ok(Some(Surface { vertices: mesh.vertices.clone(), triangles: mesh.triangles.clone(), entries }))
}

/// Why a muscle could not be laid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CourseError {
    /// Its mesh could not be viperized.
    #[cfg(feature = "viperize")]
    #[error("muscle `{muscle}`: its mesh could not be viperized: {source}")]
    Viperize {
        /// The muscle.
        muscle: String,
        /// What is wrong with the mesh.
        source: crate::character::viperize::ViperizeError,
    },
    /// Its mesh needs a feature.
    #[cfg(not(feature = "viperize"))]
    #[error("muscle `{muscle}`: meshes need feature `viperize`; build with it, or bake fibres by `sinew viperize`")]
    NoViperize {
        /// The muscle.
        muscle: String,
    },
    /// It has no mesh although its shape is one.
    #[error("muscle `{muscle}`: its shape is a mesh, but it has none; give it `mesh`, a path or fibres")]
    NoMesh {
        /// The muscle.
        muscle: String,
    },
}

/// Lays a muscle over the joints of a character at rest; `positions` is its skin in model space (m).
///
/// # Errors
/// [`CourseError`] where its mesh cannot become fibres.
pub fn lay(
    spec: &MuscleSpec,
    joints: &[Affine3A],
    asset: &CharacterAsset,
    positions: &[Vec3],
) -> Result<MuscleCourse, CourseError> {
    let mut course = if let Some(course) = lay_plain(spec, joints) {
        course
    } else {
        let mesh = spec.mesh.as_ref().ok_or_else(|| CourseError::NoMesh { muscle: spec.name.clone() })?;
        between_ends(spec, viperized(spec, mesh, joints, asset, positions)?)
    };
    let places: Vec<DVec3> = course.bundle.sections().0.iter().map(|node| node.place).collect();
    course.carriers = carriers(&course.holds, &places, &asset.skeleton, joints);
    let said = spec.material.youngs_modulus.is_some()
        || spec.peak_stress.is_some()
        || matches!(spec.thickness, Some(Thickness::PeakForce(_)));
    if !said {
        course.acceleration_growth = growth_by_height(height(positions), joints, AUTHORED_HEIGHT);
    }
    Ok(course)
}

/// Lays a muscle whose shape needs no mesh over joints at rest; `None` where it does.
pub fn lay_plain(spec: &MuscleSpec, joints: &[Affine3A]) -> Option<MuscleCourse> {
    match &spec.shape {
        MuscleShape::Path(points) => Some(along_path(spec, points, joints)),
        MuscleShape::Bundle(bundle) => Some(between_ends(spec, bundle.clone())),
        MuscleShape::Mesh => None,
    }
}

/// Fibres whose end sections are patches on the two bones.
fn between_ends(spec: &MuscleSpec, bundle: Bundle) -> MuscleCourse {
    let last = bundle.section_count().saturating_sub(1);
    let holds = vec![(0, spec.origin.joint, Holds::PIVOT), (last, spec.insertion.joint, Holds::PIVOT)];
    MuscleCourse::new(spec, bundle, holds)
}

/// A muscle's mesh in model space at rest (m) and where it starts and ends; `None` where it has no mesh.
#[cfg(feature = "viperize")]
pub fn muscle_surface(spec: &MuscleSpec, asset: &CharacterAsset) -> Option<(TriangleMesh, Ends)> {
    let (joints, rest) = rest_at(asset, Vec3::ONE);
    spec.mesh.as_ref().map(|mesh| surface_and_ends(spec, mesh, &joints, asset, &rest.positions))
}

#[cfg(feature = "viperize")]
fn surface_and_ends(
    spec: &MuscleSpec,
    mesh: &MuscleMesh,
    joints: &[Affine3A],
    asset: &CharacterAsset,
    positions: &[Vec3],
) -> (TriangleMesh, Ends) {
    let first = mesh.vertices.start;
    let surface = TriangleMesh {
        positions: positions[first as usize..mesh.vertices.end as usize].iter().map(|place| place.as_dvec3()).collect(),
        triangles: asset.mesh.triangles[mesh.triangles.start as usize..mesh.triangles.end as usize]
            .iter()
            .map(|triangle| triangle.map(|vertex| vertex - first))
            .collect(),
    };
    let own = |vertices: &[u32]| vertices.iter().map(|vertex| vertex - first).collect();
    let ends = match mesh.ends {
        MeshEnds::Nearest => Ends::Nearest([&spec.origin, &spec.insertion].map(|end| {
            let joint = &joints[end.joint as usize];
            end.place.map_or(joint.translation.as_dvec3(), |place| {
                PathPoint { joint: end.joint, place, radius: None }.model_place(joint)
            })
        })),
        MeshEnds::Attribute(_) | MeshEnds::Vertices { .. } => {
            Ends::Vertices { sources: own(&mesh.sources), sinks: own(&mesh.sinks) }
        }
    };
    (surface, ends)
}

#[cfg(feature = "viperize")]
fn viperized(
    spec: &MuscleSpec,
    mesh: &MuscleMesh,
    joints: &[Affine3A],
    asset: &CharacterAsset,
    positions: &[Vec3],
) -> Result<Bundle, CourseError> {
    let (surface, ends) = surface_and_ends(spec, mesh, joints, asset, positions);
    let options = ViperizeOptions {
        fibres: spec.fibre_count as usize,
        sections: spec.section_count as usize,
        ..ViperizeOptions::default()
    };
    viperize(&surface, &ends, &options, &mut |_| ())
        .map(|viperized| viperized.bundle)
        .map_err(|source| CourseError::Viperize { muscle: spec.name.clone(), source })
}

#[cfg(not(feature = "viperize"))]
fn viperized(
    spec: &MuscleSpec,
    _: &MuscleMesh,
    _: &[Affine3A],
    _: &CharacterAsset,
    _: &[Vec3],
) -> Result<Bundle, CourseError> {
    Err(CourseError::NoViperize { muscle: spec.name.clone() })
}

/// A path of sections: nodes at its points and between them.
struct Path {
    places: Vec<DVec3>,
    /// Arc length from the origin over the whole (1).
    along: Vec<f64>,
    length: f64,
    /// The node at each of the path's points.
    points: Vec<usize>,
}

fn path(points: &[DVec3], sections: usize) -> Path {
    let lengths: Vec<f64> = points.windows(2).map(|pair| pair[0].distance(pair[1])).collect();
    let length: f64 = lengths.iter().sum();
    let mut path = Path { places: vec![points[0]], along: vec![0.0], length, points: vec![0] };
    let mut before = 0.0;
    for ((pair, stretch), count) in points.windows(2).zip(&lengths).zip(shares(&lengths, sections - 1)) {
        for k in 1..=count {
            let t = k as f64 / count as f64;
            path.places.push(pair[0].lerp(pair[1], t));
            path.along.push((before + t * stretch) / length);
        }
        before += stretch;
        path.points.push(path.places.len() - 1);
    }
    path
}

/// How many segments each span of a path is made of: one at least, and else of the total by length, those that are left
/// to the largest remainders.
fn shares(lengths: &[f64], total: usize) -> Vec<usize> {
    let length: f64 = lengths.iter().sum();
    let mut counts = vec![1; lengths.len()];
    for _ in lengths.len()..total {
        let remainder = |span: usize| total as f64 * lengths[span] / length - counts[span] as f64;
        let largest = (0..lengths.len()).rev().max_by(|&a, &b| remainder(a).total_cmp(&remainder(b)));
        largest.into_iter().for_each(|span| counts[span] += 1);
    }
    counts
}

fn along_path(spec: &MuscleSpec, points: &[PathPoint], joints: &[Affine3A]) -> MuscleCourse {
    let places: Vec<DVec3> = points.iter().map(|point| point.model_place(&joints[point.joint as usize])).collect();
    let path = path(&places, spec.section_count as usize);
    let radii = radii(spec, points, &path);
    let last = points.len() - 1;
    let holds = points
        .iter()
        .zip(&path.points)
        .enumerate()
        .map(|(k, (point, &node))| {
            // A tendon's end turns on its bone.
            let holds = if k == 0 || k == last { Holds::PIVOT } else { Holds::GUIDE };
            (node, point.joint, holds)
        })
        .collect();
    let bundle = spread(&path.places, &radii, spec.fibre_count as usize);
    MuscleCourse::new(spec, bundle, holds)
}

/// Radius (m) at every node of a path: as its points say, else swelling from the tendons to the belly.
fn radii(spec: &MuscleSpec, points: &[PathPoint], path: &Path) -> Vec<f64> {
    let [origin, insertion] = spec.tendon;
    let swell = |along: f64| {
        let belly = ((along - origin) / (1.0 - origin - insertion)).clamp(0.0, 1.0);
        spec.taper + (1.0 - spec.taper) * (PI * belly).sin()
    };
    let shape: Vec<f64> = path.along.iter().map(|&along| swell(along)).collect();
    let squares = |pair: &[f64]| 0.5 * (pair[0] * pair[0] + pair[1] * pair[1]);
    let mean_square: f64 = shape.windows(2).zip(path.along.windows(2)).map(|(r, t)| squares(r) * (t[1] - t[0])).sum();
    let belly = match spec.thickness {
        Some(Thickness::Radius(radius)) => Some(radius),
        Some(Thickness::PeakForce(force)) => Some((force / (PI * peak_stress(spec))).sqrt()),
        Some(Thickness::Volume(volume)) => Some((volume / (PI * mean_square * path.length)).sqrt()),
        None => None,
    };
    let said: Vec<(f64, f64)> = points
        .iter()
        .zip(&path.points)
        .filter_map(|(point, &node)| point.radius.map(|radius| (path.along[node], radius)))
        .collect();
    let between = |along: f64| {
        let after = said.partition_point(|&(at, _)| at < along).min(said.len() - 1);
        let ((from, low), (to, high)) = (said[after.saturating_sub(1)], said[after]);
        let t = if to > from { ((along - from) / (to - from)).clamp(0.0, 1.0) } else { 1.0 };
        low + (high - low) * t
    };
    path.along
        .iter()
        .zip(shape)
        .map(|(&along, shape)| match belly {
            Some(belly) => {
                let here = said.iter().find(|(at, _)| (at - along).abs() < 1.0e-9);
                here.map_or(belly * shape, |&(_, radius)| radius)
            }
            None => between(along),
        })
        .collect()
}

/// Fibres spread evenly over discs of the radii given (m), each with an equal share of the area; the discs' centres are
/// their centroids.
fn spread(places: &[DVec3], radii: &[f64], count: usize) -> Bundle {
    // Vogel's spiral: equal areas at the golden angle.
    let golden = PI * (3.0 - 5.0_f64.sqrt());
    let share = (1.0 / count as f64).sqrt();
    let site = |k: usize| {
        let out =
            if count == 1 { 0.0 } else { (1.0 - share) * ((k as f64 + 0.5) / (count as f64 - 0.5)).sqrt().min(1.0) };
        let around = golden * k as f64;
        DVec3::new(out * around.cos(), out * around.sin(), 0.0)
    };
    let mean = (0..count).map(site).sum::<DVec3>() / count as f64;
    let frames = frames_along(places, None);
    let fibre = |k: usize| {
        let offset = site(k) - mean;
        frames
            .iter()
            .zip(radii)
            .map(|(frame, &radius)| Disc { place: frame.transform_point(offset * radius), radius: share * radius })
            .collect()
    };
    Bundle { fibres: (0..count).map(fibre).collect() }
}

/// What a muscle is made of.
pub fn material(spec: &MuscleSpec) -> Material {
    let mut material = spec.material.replace_in(spec.material.preset.material());
    material.peak_stress = spec.peak_stress.unwrap_or(material.peak_stress);
    material
}

/// Tendon of a muscle, which bears a stress (Pa) at peak force: fibres that are stiff along their path, in what the belly
/// is made of, and [`TENDON_BINDING`] times as stiff against all that tilts or turns its sections.
fn tendon(belly: Material, stress: f64) -> Material {
    let Moduli { shear_modulus, bending_modulus, torsion_modulus, .. } = belly.moduli();
    let bound = |modulus: f64| Some(TENDON_BINDING * modulus);
    let overrides = ModuliOverrides {
        shear_modulus: bound(shear_modulus),
        bending_modulus: bound(bending_modulus),
        torsion_modulus: bound(torsion_modulus),
        ..belly.overrides
    };
    Material { fibre_modulus: stress / TENDON_STRETCH, overrides, ..belly }
}

fn peak_stress(spec: &MuscleSpec) -> f64 {
    material(spec).peak_stress
}

impl MuscleCourse {
    /// Fibres that are held, not carried by anything yet.
    fn new(spec: &MuscleSpec, bundle: Bundle, holds: Vec<(usize, u32, Holds)>) -> Self {
        let carriers = Carriers::default();
        Self { spec: spec.clone(), bundle, holds, carriers, surface: None, acceleration_growth: 1.0 }
    }

    /// The rod at a scale along the model's axes; `bone_of` gives a joint's bone.
    pub fn rod(&self, scale: Vec3, mut bone_of: impl FnMut(u32) -> usize) -> RodSpec {
        let spec = &self.spec;
        let (bundle, growth) = self.bundle.scaled(scale.as_dvec3());
        let (nodes, fibres) = bundle.sections();
        let faster = self.acceleration_growth * acceleration_growth(scale.as_dvec3());
        let stiffer = faster.powi(2);
        let mut material = material(spec);
        material.youngs_modulus = (material.youngs_modulus * stiffer).min(material.youngs_modulus.max(MOST_MODULUS));
        material.peak_stress *= stiffer;
        let area = |j: usize| nodes[j].section.area;
        let belly = (0..nodes.len()).map(area).fold(0.0, f64::max);
        let force = match spec.thickness {
            // What it says of the unscaled belly.
            Some(Thickness::PeakForce(force)) => {
                let unscaled = (0..nodes.len()).map(|j| area(j) / growth[j].powi(2)).fold(0.0, f64::max);
                force * (belly / unscaled) * stiffer
            }
            _ => material.peak_stress * belly,
        };

        let lengths: Vec<f64> = nodes.windows(2).map(|pair| pair[0].place.distance(pair[1].place)).collect();
        let whole: f64 = lengths.iter().sum();
        let [low, high] = [spec.tendon[0] * whole, (1.0 - spec.tendon[1]) * whole];
        let mut from = 0.0;
        let mut contractile = Vec::with_capacity(lengths.len());
        for length in &lengths {
            let to = from + length;
            // Whole segments: tendon in half of one would be pulled out by the belly's tension in series with it.
            let share = (to.min(high) - from.max(low)) / length;
            contractile.push(if share >= 0.5 { 1.0 } else { 0.0 });
            from = to;
        }
        let segment_materials = if spec.tendon == [0.0; 2] {
            Vec::new()
        } else {
            let of = |(j, &share): (usize, &f64)| {
                if share > 0.0 { material } else { tendon(material, force / (0.5 * (area(j) + area(j + 1)))) }
            };
            contractile.iter().enumerate().map(of).collect()
        };
        let mut rod = RodSpec {
            name: spec.name.clone(),
            nodes,
            material,
            segment_materials,
            fibres,
            contraction: Contraction {
                contractile,
                peak_force: Some(force),
                optimal_stretch: Some(spec.optimal_stretch),
                passive: spec.passive,
                max_velocity: spec.max_velocity.map(|velocity| velocity * spec.optimal_stretch),
                shortening: spec.shortening,
                shortens: Vec::new(),
                activation_time: spec.activation_time,
                deactivation_time: spec.deactivation_time,
            },
            rigid: spec.rigid,
            slides_in_bed: true,
            fascia: if spec.fascia { RodSpec::FASCIA * faster } else { 0.0 },
            ..RodSpec::default()
        };
        rod.carriers = self.carriers.map(&mut bone_of);
        for &(node, joint, holds) in &self.holds {
            rod = rod.attach(node, bone_of(joint), holds);
        }
        rod
    }
}
