//! How what was fitted at scale 1 follows to another scale, without a fit.
//!
//! S = diag(scale) takes places along the model's axes. A length along t becomes |S t|/|t| times as long and a volume
//! |det S| times as large, so that what lies across t gets |det S| |t| / |S t| times its area, whatever its shape, and
//! radii go by the root of that: bundles keep filling their skin also where the scale is not the same along all axes.

use glam::{Affine3A, DVec3, Vec3, Vec3A};

use super::{FittedMuscle, Limb, MuscleShape, MuscleSpec, Pill, Thickness};
use crate::Pose;
use crate::flesh::{BonePill, Bundle, Flesh, RodNode, frames_along, spacing};
use crate::layout::rest;
use crate::skin::{Skin, SkinSection};

/// By how much radii across a direction grow.
fn radius_growth(scale: DVec3, along: DVec3) -> f64 {
    let stretch = (scale * along).length() / along.length();
    if stretch.is_finite() && stretch > 0.0 {
        (volume_growth(scale) / stretch).sqrt()
    } else {
        volume_growth(scale).cbrt()
    }
}

/// The height (m) up to which fitted flesh is as stiff as flesh is. That of taller characters, which move as quickly and so
/// accelerate more, is stiffened as if they were scaled from this height.
pub const FITTED_HEIGHT: f64 = 2.75;

/// As [`FITTED_HEIGHT`] for the muscles that an author describes: as tall as animals are.
pub const AUTHORED_HEIGHT: f64 = 6.0;

/// How many times as much flesh accelerates at a scale as at 1 where it moves as before, at least 1.
///
/// What is s times as large accelerates s times as much, and what keeps it in its bed has to bear that. It takes s² times
/// the stress: so much stiffer, and stronger, flesh keeps the shape that it had. Smaller flesh stays as it is.
pub fn acceleration_growth(scale: DVec3) -> f64 {
    volume_growth(scale).cbrt().max(1.0)
}

/// As [`acceleration_growth`], of a character over one of a height (m), given its own and its joints at rest. What is much
/// larger than the joints is a stray mesh.
pub fn growth_by_height(own: f32, joints: &[Affine3A], height: f64) -> f64 {
    let places = || joints.iter().map(|joint| joint.translation);
    let (low, high) =
        places().fold((Vec3A::INFINITY, Vec3A::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
    let of_joints = (high - low).max_element();
    let own = if of_joints > 0.0 { own.min(2.0 * of_joints) } else { own };
    (f64::from(own) / height).max(1.0)
}

fn volume_growth(scale: DVec3) -> f64 {
    (scale.x * scale.y * scale.z).abs()
}

/// Whether a scale only changes the size, or mirrors.
fn keeps_shape(scale: DVec3) -> bool {
    scale.abs().max_element() == scale.abs().min_element()
}

impl Bundle {
    /// The bundle at a scale, and by how much the radii of each section grew.
    pub(super) fn scaled(&self, scale: DVec3) -> (Self, Vec<f64>) {
        let centres = self.centres();
        let directions: Vec<DVec3> = centres.windows(2).map(|pair| (pair[1] - pair[0]).normalize_or_zero()).collect();
        let along = (0..centres.len()).map(|j| {
            let before = directions.get(j.saturating_sub(1)).copied().unwrap_or_default();
            before + directions.get(j).copied().unwrap_or(before)
        });
        self.scaled_along(scale, along)
    }

    /// As [`Self::scaled`], given the direction that each section lies across.
    fn scaled_along(&self, scale: DVec3, along: impl Iterator<Item = DVec3>) -> (Self, Vec<f64>) {
        let mut growth: Vec<f64> = along.map(|along| radius_growth(scale, along)).collect();
        let mut bundle = self.clone();
        for fibre in &mut bundle.fibres {
            for (disc, growth) in fibre.iter_mut().zip(&growth) {
                disc.place *= scale;
                disc.radius *= growth;
            }
        }
        if !keeps_shape(scale) {
            // Sections may be tilted otherwise against the path now; in all, the volume is right.
            let left = bundle.fill(volume_growth(scale) * self.volume());
            growth.iter_mut().for_each(|growth| *growth *= left);
        }
        (bundle, growth)
    }

    /// Makes all fibres thicker or thinner, so that they have a volume (m³); returns by how much.
    fn fill(&mut self, volume: f64) -> f64 {
        let growth = (volume / self.volume()).sqrt();
        let growth = if growth.is_finite() { growth } else { 1.0 };
        self.fibres.iter_mut().flatten().for_each(|disc| disc.radius *= growth);
        growth
    }

    /// The sections' centroids.
    fn centres(&self) -> Vec<DVec3> {
        self.sections().0.iter().map(|node| node.place).collect()
    }

    /// Volume (m³) as [`Chain::rest_volume`](crate::flesh::Chain::rest_volume) has it.
    fn volume(&self) -> f64 {
        let (nodes, _) = self.sections();
        let frames = frames_along(&nodes.iter().map(|node| node.place).collect::<Vec<_>>(), None);
        let area = |pair: &[RodNode]| 0.5 * (pair[0].section.area + pair[1].section.area);
        nodes.windows(2).zip(frames.windows(2)).map(|(pair, ends)| area(pair) * spacing([&ends[0], &ends[1]])).sum()
    }

    /// Moves inner sections until none bends by more than a right angle: squeezed along it, a path that hardly wavers
    /// may fold.
    fn straighten(&mut self) {
        const ROUNDS: usize = 64;
        for _ in 0..ROUNDS {
            let centres = self.centres();
            let folds = |three: &[DVec3]| (three[1] - three[0]).dot(three[2] - three[1]) < 0.0;
            if !centres.windows(3).any(folds) {
                break;
            }
            for (j, three) in centres.windows(3).enumerate() {
                let shift = 0.25 * (three[0] + three[2]) - 0.5 * three[1];
                self.fibres.iter_mut().for_each(|fibre| fibre[j + 1].place += shift);
            }
        }
    }
}

impl MuscleSpec {
    /// The muscle on a character `size` times as large: places and radii with it, volumes with its third power, and the
    /// peak force with its square, so that stresses stay.
    pub fn scaled(mut self, size: f64) -> Self {
        for end in [&mut self.origin, &mut self.insertion] {
            end.place = end.place.map(|place| place * size);
        }
        match &mut self.shape {
            MuscleShape::Path(points) => {
                for point in points {
                    point.place *= size;
                    point.radius = point.radius.map(|radius| radius * size);
                }
            }
            MuscleShape::Bundle(bundle) => {
                for disc in bundle.fibres.iter_mut().flatten() {
                    disc.place *= size;
                    disc.radius *= size;
                }
            }
            MuscleShape::Mesh => {}
        }
        self.thickness = self.thickness.map(|thickness| match thickness {
            Thickness::Radius(radius) => Thickness::Radius(radius * size),
            Thickness::PeakForce(force) => Thickness::PeakForce(force * size.powi(2)),
            Thickness::Volume(volume) => Thickness::Volume(volume * size.powi(3)),
        });
        self
    }
}

impl Limb {
    /// The limb at a scale.
    pub(super) fn scaled(&self, scale: DVec3) -> Self {
        let growth = radius_growth(scale, self.line[1] - self.line[0]);
        Self {
            line: self.line.map(|place| place * scale),
            radii: self.radii.iter().map(|radius| radius * growth).collect(),
            ..self.clone()
        }
    }
}

impl FittedMuscle {
    /// The muscle at a scale.
    pub(super) fn scaled(&self, scale: DVec3) -> Self {
        Self {
            path: self.path.iter().map(|&place| place * scale).collect(),
            radii: self.scaled_radii(scale),
            bundle: self.scaled_bundle(scale),
            skin_volume: self.skin_volume * volume_growth(scale),
            ..self.clone()
        }
    }

    fn scaled_bundle(&self, scale: DVec3) -> Bundle {
        let (mut bundle, _) = self.bundle.scaled_along(scale, self.sections_along());
        if !keeps_shape(scale) {
            let volume = bundle.volume();
            bundle.straighten();
            bundle.fill(volume);
        }
        bundle
    }

    /// The direction of the path at each section.
    fn sections_along(&self) -> impl Iterator<Item = DVec3> {
        let spans: Vec<DVec3> = self.path.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let length: f64 = spans.iter().map(|span| span.length()).sum();
        let nodes = self.bundle.sections().0.into_iter();
        nodes.map(move |node| {
            let mut left = self.along(node.place).0 * length;
            let passed = |span: &&DVec3| {
                left -= span.length();
                left > 0.0
            };
            let span = spans.iter().take_while(passed).count();
            spans[span.min(spans.len() - 1)]
        })
    }

    /// Radii at stations that are evenly spaced along the scaled path.
    fn scaled_radii(&self, scale: DVec3) -> Vec<f64> {
        let spans: Vec<DVec3> = self.path.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // Where each span begins, on the path and on the scaled one.
        let mut starts = vec![(0.0, 0.0)];
        for &span in &spans {
            let (own, scaled) = starts[starts.len() - 1];
            starts.push((own + span.length(), scaled + (span * scale).length()));
        }
        let (length, scaled_length) = starts[spans.len()];
        let last = self.radii.len().saturating_sub(1).max(1);
        let at = |station: usize| {
            let wanted = scaled_length * station as f64 / last as f64;
            let k = starts.partition_point(|&(_, start)| start <= wanted).clamp(1, spans.len()) - 1;
            let ((own, scaled), (own_end, scaled_end)) = (starts[k], starts[k + 1]);
            let along = own + (own_end - own) * ((wanted - scaled) / (scaled_end - scaled)).clamp(0.0, 1.0);
            self.radius_at(along / length) * radius_growth(scale, spans[k])
        };
        (0..self.radii.len()).map(at).collect()
    }
}

impl Pill {
    /// The pill at a scale, given its bone at scale 1 and at that one.
    pub(super) fn scaled(&self, scale: DVec3, from: &Pose, to: &Pose) -> Self {
        let ends = self.ends.map(|end| from.transform_point(end.as_dvec3()));
        let growth = radius_growth(scale, ends[1] - ends[0]) as f32;
        let to_bone = to.inverse();
        Self {
            ends: ends.map(|end| to_bone.transform_point(end * scale).as_vec3()),
            radii: self.radii.map(|radius| radius * growth),
            ..*self
        }
    }
}

impl BonePill {
    /// The pill at a scale, given its bone at scale 1 and at that one.
    pub(super) fn scaled(&self, scale: DVec3, from: &Pose, to: &Pose) -> Self {
        let Pill { bone, ends, radii } =
            Pill { bone: self.bone, ends: self.ends, radii: [self.radius; 2] }.scaled(scale, from, to);
        Self { bone, ends, radius: radii[0], friction: self.friction }
    }
}

impl Skin {
    /// The skin at a scale, on the flesh at that scale: vertices follow the same sections by the same weights. Where it
    /// has a reach, that is `reach` of the section's radius.
    pub(super) fn scaled(&self, scale: Vec3, flesh: &Flesh, reach: f64) -> Self {
        let mut skin = self.clone();
        let across = scale.recip();
        for vertex in &mut skin.vertices {
            vertex.rest_position = (Vec3::from(vertex.rest_position) * scale).to_array();
            vertex.rest_tangent = (Vec3::from(vertex.rest_tangent) * scale).to_array();
            let normal = Vec3::from(vertex.rest_normal);
            vertex.rest_normal = (normal * across).normalize_or(normal).to_array();
        }
        skin.rest_scale *= scale;
        for section in &mut skin.sections {
            let (chain, node) = (section.chain as usize, section.node as usize);
            let radius = flesh.chains()[chain].sections[node].radius();
            let reach = if section.reach > 0.0 { (reach * radius) as f32 } else { 0.0 };
            *section = SkinSection { reach, ..SkinSection::new(flesh, chain, node) };
        }
        skin
    }
}

impl Flesh {
    /// Balances a chain under gravity as `first`, the same flesh at scale 1, is balanced, `size` times as large along all
    /// axes: its own weight strains what it hangs on by ρgL/E times what its shape says, so that nothing is solved anew.
    pub(super) fn balance_as(&mut self, first: &Self, chain: usize, size: f64) {
        let (group, lane, segments) =
            (self.chains[chain].group, self.chains[chain].lane, self.chains[chain].node_count() - 1);
        for segment in 0..segments {
            let from = first.groups[group].row(segment);
            let to = &mut self.groups[group].rows[segment * rest::ENTRIES..][..rest::ENTRIES];
            let from = |entry: usize| f64::from(from[entry][lane]);
            // An axial coefficient is ∝ E·A·L.
            let load = size.powi(4) * from(rest::AXIAL) / f64::from(to[rest::AXIAL][lane]);
            // Values without balance are there; of `unit`, so many as at scale 1 make one.
            let mut follow = |entry: usize, unit: f64| {
                let to = &mut to[entry][lane];
                let resting = f64::from(*to);
                *to = (resting + load / unit * (from(entry) - unit * resting)) as f32;
            };
            (0..3).for_each(|k| follow(rest::STRAIN + k, 1.0));
            (0..3).for_each(|k| follow(rest::DARBOUX + k, size));
            follow(rest::SCALE, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::{MuscleEnd, PathPoint};
    use crate::flesh::Disc;

    #[test]
    fn a_muscle_twice_as_large_has_twice_the_lengths_and_the_same_stress() {
        let point = |y: f64| PathPoint { joint: 0, place: DVec3::Y * y, radius: Some(0.1) };
        let end = MuscleEnd { joint: 0, place: Some(DVec3::X) };
        let spec = MuscleSpec {
            origin: end,
            insertion: end,
            shape: MuscleShape::Path(vec![point(0.0), point(1.0)]),
            thickness: Some(Thickness::PeakForce(300.0)),
            ..MuscleSpec::default()
        };
        let large = spec.clone().scaled(2.0);
        let twice = |y: f64| PathPoint { place: DVec3::Y * y, radius: Some(0.2), ..PathPoint::default() };
        assert_eq!(large.shape, MuscleShape::Path(vec![twice(0.0), twice(2.0)]));
        assert_eq!((large.origin.place, large.insertion.place), (Some(DVec3::X * 2.0), Some(DVec3::X * 2.0)));
        assert_eq!(large.thickness, Some(Thickness::PeakForce(1200.0)));
        let thick = |thickness| MuscleSpec { thickness: Some(thickness), ..spec.clone() }.scaled(2.0).thickness;
        assert_eq!(thick(Thickness::Radius(0.1)), Some(Thickness::Radius(0.2)));
        assert_eq!(thick(Thickness::Volume(1.0)), Some(Thickness::Volume(8.0)));
        let bundle = |size: f64| Bundle { fibres: vec![vec![Disc { place: DVec3::Z * size, radius: size }]] };
        let baked = MuscleSpec { shape: MuscleShape::Bundle(bundle(1.0)), ..spec };
        assert_eq!(baked.scaled(2.0).shape, MuscleShape::Bundle(bundle(2.0)));
    }

    #[test]
    fn a_stray_mesh_makes_no_giant() {
        let joints = [Vec3::ZERO, Vec3::Y].map(Affine3A::from_translation);
        assert!((growth_by_height(2.0, &joints, 1.0) - 2.0).abs() < 1.0e-12);
        assert!((growth_by_height(50.0, &joints, 1.0) - 2.0).abs() < 1.0e-12);
        assert!((growth_by_height(0.5, &joints, 1.0) - 1.0).abs() < 1.0e-12);
    }

    #[test]
    fn what_lies_across_keeps_its_share_of_the_volume() {
        let scale = DVec3::new(1.0, 2.0, 3.0);
        // Along y twice as long: the area across, 1 × 3, is three times as large.
        assert!((radius_growth(scale, DVec3::Y * 0.1).powi(2) - 3.0).abs() < 1.0e-12);
        assert!((radius_growth(DVec3::splat(5.0), DVec3::ONE) - 5.0).abs() < 1.0e-12);
        assert!((radius_growth(-scale, DVec3::ZERO) - 6.0_f64.cbrt()).abs() < 1.0e-12);
    }
}
