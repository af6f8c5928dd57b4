//! What a muscle is, before it becomes a rod.

use std::ops::Range;

use glam::{Affine3A, DVec3};

use crate::Material;
use crate::character::rigid_part;
use crate::flesh::Bundle;
use crate::layout::MAX_BONES;

/// Most points a path may have.
pub const MAX_PATH_POINTS: usize = 64;

/// Most joints a muscle may go over, origin and insertion included, each counted as often as the muscle comes to it.
pub const MAX_MUSCLE_JOINTS: usize = MAX_BONES;

/// A muscle as its author describes it. Joints are indices into [`Skeleton::joints`](crate::character::Skeleton).
///
/// [`check_muscles`](super::check_muscles) says whether it makes sense on a skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct MuscleSpec {
    /// Its name, one of a kind in a character.
    pub name: String,
    /// The bone that holds the first cross-section.
    pub origin: MuscleEnd,
    /// The bone that holds the last cross-section.
    pub insertion: MuscleEnd,
    /// What its fibres follow.
    pub shape: MuscleShape,
    /// The part of the character's mesh that is this muscle's surface. It stays in the mesh and is drawn with it.
    pub mesh: Option<MuscleMesh>,
    /// How thick a path is where its points do not say. On a mesh or a bundle, which have their own thickness, only
    /// [`Thickness::PeakForce`] has a meaning: it sets the peak stress on the largest cross-section.
    pub thickness: Option<Thickness>,
    /// Radius of a path's ends over that of its belly, where its points do not say: 0.05 to 1.
    pub taper: f64,
    /// Fibres K that a path or a mesh is made into, 1 to 64.
    pub fibre_count: u32,
    /// Cross-sections M that a path or a mesh is made into, 2 to 64. A path has one at each of its points, and so never
    /// fewer than points.
    pub section_count: u32,
    /// What it is made of.
    pub material: MuscleMaterial,
    /// Active stress at full activation (Pa), 0 to 10⁹; `None`: the material's.
    pub peak_stress: Option<f64>,
    /// Fractions of the rest length at the origin and at the insertion that are tendon and do not contract: each 0 to
    /// 0.9, together at most 0.9.
    pub tendon: [f64; 2],
    /// Length at which active tension is greatest, over the rest length: 0.5 to 2.
    pub optimal_stretch: f64,
    /// Passive tension over peak tension, of f_p = e^(stretch − 1) − 1 beyond the rest length, beside the material's own
    /// elasticity: 0 to 100.
    pub passive: f64,
    /// Shortening velocity at which active tension vanishes (optimal lengths/s), 0.1 to 1000; `None`: tension does not
    /// depend on velocity.
    pub max_velocity: Option<f64>,
    /// Time constant of rising activation (s), 0 to 10.
    pub activation_time: f64,
    /// Time constant of falling activation (s), 0 to 10.
    pub deactivation_time: f64,
    /// Whether cross-sections keep their size.
    pub rigid: bool,
    /// Whether fascia keeps it in its bed: each cross-section is tied softly to the path along which bones carry the muscle,
    /// along which it slides, and what they let in rests shorter and thicker.
    pub fascia: bool,
    /// Fraction of the rest length that full activation takes away, 0 to 0.9.
    pub shortening: f64,
}

impl Default for MuscleSpec {
    /// 8 fibres through 8 sections, without a shape. Activation times are those of Thelen (2003).
    fn default() -> Self {
        Self {
            name: String::new(),
            origin: MuscleEnd::default(),
            insertion: MuscleEnd::default(),
            shape: MuscleShape::Path(Vec::new()),
            mesh: None,
            thickness: None,
            taper: 0.4,
            fibre_count: 8,
            section_count: 8,
            material: MuscleMaterial::default(),
            peak_stress: None,
            tendon: [0.0; 2],
            optimal_stretch: 1.0,
            passive: 0.0,
            max_velocity: None,
            activation_time: 0.015,
            deactivation_time: 0.050,
            rigid: false,
            fascia: true,
            shortening: 0.0,
        }
    }
}

/// Where a muscle ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MuscleEnd {
    /// Index of the joint.
    pub joint: u32,
    /// Place as in [`PathPoint::place`]; `None`: found from the shape.
    pub place: Option<DVec3>,
}

/// What a muscle's fibres follow.
#[derive(Clone, Debug, PartialEq)]
pub enum MuscleShape {
    /// A path: the first point is the origin, the last the insertion, those between are via points.
    Path(Vec<PathPoint>),
    /// The surface [`MuscleSpec::mesh`], to be viperized.
    Mesh,
    /// Fibres in model space at rest (m), as viperizing left them. Their counts replace
    /// [`MuscleSpec::fibre_count`] and [`MuscleSpec::section_count`].
    Bundle(Bundle),
}

/// A point that a muscle passes, carried by a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathPoint {
    /// Index of the joint.
    pub joint: u32,
    /// Place (m) along the joint's axes at rest, from the joint; the joint's scale does not apply.
    pub place: DVec3,
    /// The muscle's radius there (m); `None`: from [`MuscleSpec::thickness`] and [`MuscleSpec::taper`], without a
    /// thickness interpolated along the path between points that have one.
    pub radius: Option<f64>,
}

impl PathPoint {
    /// Place in model space (m), given the joint's matrix to model space.
    pub fn model_place(&self, joint: &Affine3A) -> DVec3 {
        rigid_part(joint).transform_point(self.place)
    }
}

/// What says how thick a path is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Thickness {
    /// Radius of the belly (m).
    Radius(f64),
    /// Peak isometric force (N): the belly's cross-section is this over the peak stress.
    PeakForce(f64),
    /// Volume (m³), tendons included.
    Volume(f64),
}

impl Thickness {
    /// Its key in files.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Radius(_) => "radius",
            Self::PeakForce(_) => "peak_force",
            Self::Volume(_) => "volume",
        }
    }
}

/// What a muscle is made of: a preset, single values of which may be replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MuscleMaterial {
    /// Where the values come from.
    pub preset: MaterialPreset,
    /// Replaces [`Material::youngs_modulus`] (Pa), 10² to 10¹².
    pub youngs_modulus: Option<f64>,
    /// Replaces [`Material::poissons_ratio`], −0.5 to 0.4999.
    pub poissons_ratio: Option<f64>,
    /// Replaces [`Material::density`] (kg/m³), 1 to 2·10⁴.
    pub density: Option<f64>,
    /// Replaces [`Material::damping`] (1/s), 0 to 10⁶.
    pub damping: Option<f64>,
}

impl MuscleMaterial {
    /// The preset's material with the values replaced that are given here.
    pub fn replace_in(&self, preset: Material) -> Material {
        Material {
            youngs_modulus: self.youngs_modulus.unwrap_or(preset.youngs_modulus),
            poissons_ratio: self.poissons_ratio.unwrap_or(preset.poissons_ratio),
            density: self.density.unwrap_or(preset.density),
            damping: self.damping.unwrap_or(preset.damping),
            ..preset
        }
    }
}

/// A kind of tissue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MaterialPreset {
    /// Skeletal muscle.
    #[default]
    Muscle,
    /// Fat, which does not contract.
    Fat,
    /// Tendon, which does not contract.
    Tendon,
}

impl MaterialPreset {
    /// All presets.
    pub const ALL: [Self; 3] = [Self::Muscle, Self::Fat, Self::Tendon];

    /// Its material.
    pub fn material(self) -> Material {
        match self {
            Self::Muscle => Material::muscle(),
            Self::Fat => Material::fat(),
            Self::Tendon => Material::tendon(),
        }
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Muscle => "muscle",
            Self::Fat => "fat",
            Self::Tendon => "tendon",
        }
    }

    /// The preset of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }
}

/// The part of a character's mesh that is a muscle's surface.
#[derive(Clone, Debug, PartialEq)]
pub struct MuscleMesh {
    /// The joint that is the mesh's node.
    pub joint: u32,
    /// Its vertices in [`SkinMesh::positions`](crate::character::SkinMesh).
    pub vertices: Range<u32>,
    /// Its triangles in [`SkinMesh::triangles`](crate::character::SkinMesh).
    pub triangles: Range<u32>,
    /// What the author says of its ends.
    pub ends: MeshEnds,
    /// Vertices at the origin, indices into [`SkinMesh::positions`](crate::character::SkinMesh), rising. Exporters
    /// split vertices: others at the same places may be missing. Empty for [`MeshEnds::Nearest`].
    pub sources: Vec<u32>,
    /// Vertices at the insertion, as `sources`.
    pub sinks: Vec<u32>,
}

/// How a muscle mesh's ends are said.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum MeshEnds {
    /// Not at all: they are the mesh's ends nearest the two bones.
    #[default]
    Nearest,
    /// By this vertex attribute: negative sources, positive sinks.
    Attribute(String),
    /// By indices of the node's vertices in the file, its primitives one after another.
    Vertices {
        /// Vertices at the origin.
        sources: Vec<u32>,
        /// Vertices at the insertion.
        sinks: Vec<u32>,
    },
}
