//! Whether muscles make sense on a skeleton.

use std::collections::HashSet;

use glam::{Affine3A, DVec3, Vec3};

use super::spec::{MAX_MUSCLE_JOINTS, MAX_PATH_POINTS};
use super::{MuscleError, MuscleMesh, MuscleShape, MuscleSpec, PathPoint, Thickness, lay_plain, shorten};
use crate::character::Skeleton;
use crate::flesh::Bundle;

/// The range of a number in a muscle's description, inclusive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuscleLimits {
    /// The key.
    pub key: &'static str,
    /// Lowest value.
    pub low: f64,
    /// Highest value.
    pub high: f64,
    /// Its unit; empty for pure numbers.
    pub unit: &'static str,
}

/// The range of every number in the description of a muscle or a bone.
pub const MUSCLE_LIMITS: [MuscleLimits; 21] = {
    const fn limits(key: &'static str, low: f64, high: f64, unit: &'static str) -> MuscleLimits {
        MuscleLimits { key, low, high, unit }
    }
    [
        limits("place", -1.0e4, 1.0e4, "m"),
        limits("radius", 1.0e-5, 10.0, "m"),
        limits("peak_force", 1.0e-3, 1.0e8, "N"),
        limits("volume", 1.0e-12, 100.0, "m³"),
        limits("taper", 0.05, 1.0, ""),
        limits("fibre_count", 1.0, 64.0, ""),
        limits("section_count", 2.0, 64.0, ""),
        limits("youngs_modulus", 1.0e2, 1.0e12, "Pa"),
        limits("poissons_ratio", -0.5, 0.4999, ""),
        limits("density", 1.0, 2.0e4, "kg/m³"),
        limits("damping", 0.0, 1.0e6, "1/s"),
        limits("peak_stress", 0.0, 1.0e9, "Pa"),
        limits("tendon", 0.0, 0.9, ""),
        limits("optimal_stretch", 0.5, 2.0, ""),
        limits("passive", 0.0, 100.0, ""),
        limits("max_velocity", 0.1, 1.0e3, "optimal lengths/s"),
        limits("activation_time", 0.0, 10.0, "s"),
        limits("deactivation_time", 0.0, 10.0, "s"),
        limits("shortening", 0.0, 0.9, ""),
        limits("fibres", 1.0, 64.0, ""),
        limits("friction", 0.0, 10.0, ""),
    ]
};

/// Shortest way between two points of a path, or two sections of a fibre (m).
const LEAST_LENGTH: f64 = 1.0e-4;

impl MuscleLimits {
    /// The range of a key; paths such as `path[2].radius` have that of their last name.
    pub fn of(key: &str) -> Option<&'static Self> {
        let last = key.rsplit('.').next().unwrap_or(key);
        let name = last.split('[').next().unwrap_or(last);
        MUSCLE_LIMITS.iter().find(|limits| limits.key == name)
    }

    /// The range for muscles of characters that may be `sizes` times as large or as small.
    pub(super) fn for_sizes(&self, sizes: f64) -> Self {
        let factor = match self.unit {
            "m" => sizes,
            // A force is a stress, which stays, times an area.
            "N" => sizes.powi(2),
            "m³" => sizes.powi(3),
            _ => 1.0,
        };
        let low = if self.low < 0.0 { self.low * factor } else { self.low / factor };
        Self { low, high: self.high * factor, ..*self }
    }

    /// The range in words.
    pub fn words(&self) -> String {
        let Self { low, high, unit, .. } = self;
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        format!("a number from {} to {}{unit}", figure(*low), figure(*high))
    }
}

fn figure(value: f64) -> String {
    if value != 0.0 && !(1.0e-3..1.0e6).contains(&value.abs()) { format!("{value:e}") } else { format!("{value}") }
}

/// How much larger and smaller than authors may write them the lengths of a muscle can be: what
/// [`ImportOptions::meters_per_unit`](crate::character::ImportOptions) makes of them.
pub(in crate::character) const SIZES: f64 = 100.0;

/// Checks every muscle on the skeleton that its joints are of, and that each name is there once; lengths may be 100 times
/// larger or smaller than [`MUSCLE_LIMITS`] have them, volumes and forces accordingly. What passes can be built into a rod
/// at scale 1; of muscles with a mesh only viperizing can tell.
///
/// # Errors
/// [`MuscleError`], with the muscle and the key at fault.
pub fn check_muscles(muscles: &[MuscleSpec], skeleton: &Skeleton) -> Result<(), MuscleError> {
    check_sizes(muscles, skeleton, SIZES)
}

/// As [`check_muscles`], with lengths that may be `sizes` times larger or smaller.
pub(in crate::character) fn check_sizes(
    muscles: &[MuscleSpec],
    skeleton: &Skeleton,
    sizes: f64,
) -> Result<(), MuscleError> {
    let mut rest_model = Vec::new();
    if !muscles.is_empty() {
        skeleton.model_matrices(&skeleton.rest_pose(), &mut rest_model);
    }
    let mut names = HashSet::new();
    for spec in muscles {
        Check { spec, rest_model: &rest_model, sizes }.all()?;
        if !names.insert(spec.name.as_str()) {
            let muscle = shorten(&spec.name).into();
            return Err(MuscleError::Duplicate { muscle, places: "two muscles".into() });
        }
    }
    Ok(())
}

struct Check<'a> {
    spec: &'a MuscleSpec,
    /// From joint to model space at rest, one per joint.
    rest_model: &'a [Affine3A],
    /// How much larger and smaller than [`MUSCLE_LIMITS`] say lengths may be.
    sizes: f64,
}

impl Check<'_> {
    fn name(&self) -> String {
        shorten(&self.spec.name).into()
    }

    fn all(&self) -> Result<(), MuscleError> {
        let spec = self.spec;
        if spec.name.is_empty() {
            let fix = "give the muscle a name";
            return Err(MuscleError::Missing { muscle: self.name(), key: "name".into(), fix });
        }
        match &spec.shape {
            MuscleShape::Path(points) => self.path(points)?,
            MuscleShape::Bundle(bundle) => self.bundle(bundle)?,
            MuscleShape::Mesh if spec.mesh.is_none() => {
                let fix = "put the muscle on a node with a mesh, or give it a path";
                return Err(MuscleError::Missing { muscle: self.name(), key: "mesh".into(), fix });
            }
            MuscleShape::Mesh => {}
        }
        self.numbers()?;
        for (key, end) in [("origin", &spec.origin), ("insertion", &spec.insertion)] {
            self.joint(key, end.joint)?;
            if let Some(place) = end.place {
                self.place(&format!("{key}.place"), place)?;
            }
        }
        spec.mesh.as_ref().map_or(Ok(()), |mesh| self.mesh(mesh))?;
        lay_plain(spec, self.rest_model).map_or(Ok(()), |course| course.check(Vec3::ONE))
    }

    fn numbers(&self) -> Result<(), MuscleError> {
        let spec = self.spec;
        match spec.thickness {
            Some(Thickness::Radius(radius)) => self.limit("radius", radius)?,
            Some(Thickness::PeakForce(force)) => self.limit("peak_force", force)?,
            Some(Thickness::Volume(volume)) => self.limit("volume", volume)?,
            None => {}
        }
        self.limit("taper", spec.taper)?;
        self.limit("fibre_count", spec.fibre_count.into())?;
        self.limit("section_count", spec.section_count.into())?;
        let material = &spec.material;
        for (key, value) in [
            ("material.youngs_modulus", material.youngs_modulus),
            ("material.poissons_ratio", material.poissons_ratio),
            ("material.density", material.density),
            ("material.damping", material.damping),
            ("peak_stress", spec.peak_stress),
            ("max_velocity", spec.max_velocity),
        ] {
            value.map_or(Ok(()), |value| self.limit(key, value))?;
        }
        self.limit("tendon[0]", spec.tendon[0])?;
        self.limit("tendon[1]", spec.tendon[1])?;
        let both = spec.tendon[0] + spec.tendon[1];
        if both > 0.9 {
            let expected = "two fractions of at most 0.9 together, so that some muscle is left".into();
            return Err(MuscleError::Range { muscle: self.name(), key: "tendon".into(), value: both, expected });
        }
        self.limit("optimal_stretch", spec.optimal_stretch)?;
        self.limit("passive", spec.passive)?;
        self.limit("activation_time", spec.activation_time)?;
        self.limit("deactivation_time", spec.deactivation_time)?;
        self.limit("shortening", spec.shortening)?;
        let weak = spec.peak_stress.unwrap_or(spec.material.preset.material().peak_stress) == 0.0;
        if weak && matches!((&spec.shape, spec.thickness), (MuscleShape::Path(_), Some(Thickness::PeakForce(_)))) {
            let fix = "a force over no stress has no cross-section: raise peak_stress (fat and tendon have none), or say radius instead";
            let (key, other) = ("peak_force".into(), "peak_stress".into());
            return Err(MuscleError::Conflict { muscle: self.name(), key, other, fix });
        }
        Ok(())
    }

    fn limit(&self, key: &str, value: f64) -> Result<(), MuscleError> {
        match MuscleLimits::of(key).map(|limits| limits.for_sizes(self.sizes)) {
            Some(limits) if !(limits.low..=limits.high).contains(&value) => {
                let expected = limits.words();
                Err(MuscleError::Range { muscle: self.name(), key: key.into(), value, expected })
            }
            _ => Ok(()),
        }
    }

    fn place(&self, key: &str, place: DVec3) -> Result<(), MuscleError> {
        (0..3).try_for_each(|axis| self.limit(&format!("{key}[{axis}]"), place[axis]))
    }

    fn joint(&self, key: &str, joint: u32) -> Result<(), MuscleError> {
        if (joint as usize) < self.rest_model.len() {
            return Ok(());
        }
        let hint = format!("; the skeleton has {}", self.rest_model.len());
        let (muscle, joint) = (self.name(), format!("joint {joint}"));
        Err(MuscleError::UnknownJoint { muscle, key: key.into(), joint, hint })
    }

    fn shape(&self, key: impl Into<String>, problem: String) -> MuscleError {
        MuscleError::Shape { muscle: self.name(), key: key.into(), problem }
    }

    fn path(&self, points: &[PathPoint]) -> Result<(), MuscleError> {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            let fix = "give a path of two points or more, or a mesh, or origin and insertion with a place each";
            return Err(MuscleError::Missing { muscle: self.name(), key: "path".into(), fix });
        };
        if !(2..=MAX_PATH_POINTS).contains(&points.len()) {
            let problem = format!("has {} points; it needs 2 to {MAX_PATH_POINTS}", points.len());
            return Err(self.shape("path", problem));
        }
        for (at, point) in points.iter().enumerate() {
            self.joint(&format!("path[{at}].joint"), point.joint)?;
            self.place(&format!("path[{at}].place"), point.place)?;
            if let Some(radius) = point.radius {
                self.limit(&format!("path[{at}].radius"), radius)?;
            }
        }
        let mut joints: Vec<u32> = points.iter().map(|point| point.joint).collect();
        joints.dedup();
        if joints.len() > MAX_MUSCLE_JOINTS {
            let problem = format!(
                "goes over {} joints, each counted as often as it comes to it; at most {MAX_MUSCLE_JOINTS} can carry \
                 it: leave out points, or split the muscle",
                joints.len()
            );
            return Err(self.shape("path", problem));
        }
        for (key, end, point) in [("origin", &self.spec.origin, first), ("insertion", &self.spec.insertion, last)] {
            if end.joint != point.joint || end.place.is_some_and(|place| place != point.place) {
                let fix = "the path begins at the origin and ends at the insertion: leave them out beside a path";
                let other = if key == "origin" { "path[0]".into() } else { format!("path[{}]", points.len() - 1) };
                return Err(MuscleError::Conflict { muscle: self.name(), key: key.into(), other, fix });
            }
        }
        for (at, pair) in points.windows(2).enumerate() {
            let [a, b] = [pair[0], pair[1]].map(|point| point.model_place(&self.rest_model[point.joint as usize]));
            let length = a.distance(b);
            if !(length.is_finite() && length >= LEAST_LENGTH / self.sizes) {
                let problem = format!("lies {length} m from path[{at}] at rest; move or remove one of them");
                return Err(self.shape(format!("path[{}]", at + 1), problem));
            }
        }
        if self.spec.thickness.is_none() && points.iter().all(|point| point.radius.is_none()) {
            let fix = "say radius, peak_force or volume, or a radius at the path's points";
            return Err(MuscleError::Missing { muscle: self.name(), key: "radius".into(), fix });
        }
        Ok(())
    }

    fn bundle(&self, bundle: &Bundle) -> Result<(), MuscleError> {
        self.limit("bundle.fibres", bundle.fibres.len() as f64)?;
        let sections = bundle.section_count();
        for (k, fibre) in bundle.fibres.iter().enumerate() {
            let key = || format!("bundle.fibres[{k}]");
            if fibre.len() != sections {
                let problem = format!("has {} sections, fibre 0 has {sections}; they need the same", fibre.len());
                return Err(self.shape(key(), problem));
            }
            if !(2..=64).contains(&sections) {
                return Err(self.shape(key(), format!("has {sections} sections; it needs 2 to 64")));
            }
            for (j, disc) in fibre.iter().enumerate() {
                self.place(&format!("{}[{j}].place", key()), disc.place)?;
                self.limit(&format!("{}[{j}].radius", key()), disc.radius)?;
            }
        }
        let centre = |j: usize| bundle.fibres.iter().map(|fibre| fibre[j].place).sum::<DVec3>();
        for j in 1..sections {
            let length = centre(j).distance(centre(j - 1)) / bundle.fibres.len() as f64;
            if length < LEAST_LENGTH / self.sizes {
                let problem = format!("sections {} and {j} are {length} m apart; viperize it again", j - 1);
                return Err(self.shape("bundle.fibres", problem));
            }
        }
        Ok(())
    }

    fn mesh(&self, mesh: &MuscleMesh) -> Result<(), MuscleError> {
        self.joint("mesh", mesh.joint)?;
        let fail =
            |key: &str, problem: String| Err(MuscleError::Mesh { muscle: self.name(), key: key.into(), problem });
        if mesh.vertices.is_empty() || mesh.triangles.is_empty() {
            return fail("mesh", "has no triangles; put the muscle on a node with a mesh".into());
        }
        if mesh.sources.is_empty() != mesh.sinks.is_empty() {
            return fail("sinks", "sources and sinks go together; give both or neither".into());
        }
        for (key, list) in [("sources", &mesh.sources), ("sinks", &mesh.sinks)] {
            if let Some(vertex) = list.iter().find(|vertex| !mesh.vertices.contains(vertex)) {
                return fail(key, format!("vertex {vertex} is not one of the mesh's {:?}", mesh.vertices));
            }
        }
        let sources: HashSet<u32> = mesh.sources.iter().copied().collect();
        match mesh.sinks.iter().find(|vertex| sources.contains(vertex)) {
            Some(vertex) => fail("sinks", format!("vertex {vertex} is a source too; let the ends not touch")),
            None => Ok(()),
        }
    }
}
