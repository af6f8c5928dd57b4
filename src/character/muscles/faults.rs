//! What in a muscle's description keeps its rod from being built: the key that its author wrote, and the fix.

use glam::Vec3;

use super::{MuscleCourse, MuscleError, MuscleShape, Thickness, shorten};
use crate::flesh::{BuildError, check_rod};

impl MuscleCourse {
    /// Whether its rod can be built at a scale along the model's axes.
    ///
    /// # Errors
    /// [`MuscleError::Shape`] with the key at fault.
    pub fn check(&self, scale: Vec3) -> Result<(), MuscleError> {
        let rod = self.rod(scale, |joint| joint as usize);
        check_rod(&rod, usize::MAX).map_err(|error| self.fault(&error, scale))
    }

    fn fault(&self, error: &BuildError, scale: Vec3) -> MuscleError {
        let (key, mut problem) = match error {
            BuildError::Folded { node, .. } => {
                let problem = format!("turns back on itself at section {node}; {}", self.bend_fix());
                (self.place_key(*node), problem)
            }
            BuildError::ShortSegment { node, length, least, .. } => {
                let fix = match self.spec.shape {
                    MuscleShape::Path(_) => "move its points apart, or lower section_count",
                    MuscleShape::Bundle(_) => "viperize it again, with fewer sections",
                    MuscleShape::Mesh => "lower section_count",
                };
                let problem =
                    format!("sections {node} and the next are {length:e} m apart, at least {least:e} m; {fix}");
                (self.place_key(*node), problem)
            }
            BuildError::OutOfRange { field, value, expected, .. } => self.out_of_range(field, *value, expected),
            other => (self.place_key(0), other.to_string()),
        };
        if scale != Vec3::ONE {
            problem += &format!(" (at the scale {scale})");
        }
        MuscleError::Shape { muscle: shorten(&self.spec.name).into(), key, problem }
    }

    fn out_of_range(&self, field: &str, value: f64, expected: &str) -> (String, String) {
        let (list, name) = (field.split('[').next().unwrap_or(field), field.rsplit('.').next().unwrap_or(field));
        // The last index of a field is its section's or segment's.
        let node = field.rsplit(['[', ']']).find_map(|part| part.parse().ok()).unwrap_or(0);
        let widest =
            self.bundle.fibres.iter().filter_map(|fibre| fibre.get(node)).fold(0.0, |r: f64, d| r.max(d.radius));
        let is = format!("is {value:e}; it must be {expected}");
        match (list, name) {
            // Fibres wider than any that can be built take their section's place along.
            ("nodes", "place") if widest > 1.0e3 => {
                let problem = format!("section {node}: its fibres' radius is {widest:e} m; {}", self.thickness_fix());
                (self.thickness_key(node), problem)
            }
            ("nodes", "place") => (self.place_key(node), format!("section {node}: its place {is}; move it")),
            ("nodes" | "fibres", _) => {
                (self.thickness_key(node), format!("section {node}: its {name} {is}; {}", self.thickness_fix()))
            }
            ("segment_materials", _) => {
                let fix = "raise taper or the radii at its ends, lower the muscle's force, or leave tendon out";
                (
                    "tendon".into(),
                    format!("what bears the whole muscle in segment {node} needs a stiffness whose {name} {is}; {fix}"),
                )
            }
            ("contraction.max_velocity", _) => (name.into(), format!("times optimal_stretch {is}; lower one of them")),
            ("contraction.peak_force", _) => {
                let key = if let Some(Thickness::PeakForce(_)) = self.spec.thickness { name } else { "peak_stress" };
                (
                    key.into(),
                    format!("the force (N) of its thickest section {is}; lower {key}, or make the muscle thinner"),
                )
            }
            _ => (field.into(), is),
        }
    }

    /// The last of a path's points at or before a section.
    fn point_at(&self, node: usize) -> usize {
        self.holds.partition_point(|(held, _, _)| *held <= node).saturating_sub(1)
    }

    /// The key that says where a section lies.
    fn place_key(&self, node: usize) -> String {
        match self.spec.shape {
            MuscleShape::Path(_) => format!("path[{}]", self.point_at(node)),
            MuscleShape::Bundle(_) => "bundle.fibres".into(),
            MuscleShape::Mesh => "mesh".into(),
        }
    }

    /// The key that says how thick a section is.
    fn thickness_key(&self, node: usize) -> String {
        let MuscleShape::Path(points) = &self.spec.shape else { return self.place_key(node) };
        let at = self.point_at(node);
        let own = self.holds.get(at).is_some_and(|(held, _, _)| *held == node)
            && points.get(at).is_some_and(|point| point.radius.is_some());
        match self.spec.thickness {
            Some(thickness) if !own => thickness.key().into(),
            _ => format!("path[{at}].radius"),
        }
    }

    fn bend_fix(&self) -> &'static str {
        match self.spec.shape {
            MuscleShape::Path(_) => "move that point, or add one, so that the path bends by less than 150° at each",
            MuscleShape::Bundle(_) => "viperize it again, with fewer sections",
            MuscleShape::Mesh => "lower section_count, or mark the mesh's ends",
        }
    }

    fn thickness_fix(&self) -> &'static str {
        match (&self.spec.shape, self.spec.thickness) {
            (MuscleShape::Path(_), Some(Thickness::Radius(_))) => "change radius, taper or fibre_count",
            (MuscleShape::Path(_), Some(Thickness::PeakForce(_))) => "change peak_force, peak_stress or taper",
            (MuscleShape::Path(_), Some(Thickness::Volume(_))) => "change volume or taper",
            (MuscleShape::Path(_), None) => "change the radii at the path's points",
            _ => "its fibres are too thin, or too far apart for how thin they are: change them, or viperize it again",
        }
    }
}
