//! Scene `arm`: the six muscles over the elbow, on the published points of OpenSim's model arm26.
//!
//! Places, peak forces, fibre and tendon lengths are those of `arm26.osim`, by the OpenSim Development Team (Reinbolt,
//! Seth, Habib, Hamner), adapted from a model by Kate Holzbaur, CC BY 3.0: K. R. S. Holzbaur, W. M. Murray and S. L.
//! Delp, "A Model of the Upper Extremity for Simulating Musculoskeletal Surgery and Analyzing Neuromuscular Control",
//! Annals of Biomedical Engineering 33 (2005). Of the model, the 9° to 12° of pennation of the triceps are left out, and
//! without parameter `bones` the surfaces that muscles wrap over: paths are straight between points. With it, muscles touch
//! [`HUMERUS`]. The numbers stand here alone: the generator of `assets/arm.glb` uses the same table.
//!
//! Frames: x forward, y up, z to the right of a right arm that hangs straight; lengths in metres.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::{Key, Scene, SceneError, SceneParameters};
use crate::character::{
    BoneSpec, CharacterAsset, FleshOptions, Joint, LocalTransform, MuscleEnd, MuscleMaterial, MuscleShape, MuscleSpec,
    PathPoint, Skeleton, Thickness,
};
use crate::{Character, Material, Pose};

/// A bone that points are fixed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bone {
    /// arm26's `base`: trunk and shoulder blade.
    Torso,
    /// arm26's `r_humerus`; its origin is the centre of the shoulder.
    Humerus,
    /// arm26's `r_ulna_radius_hand`; its origin is on the elbow's axis.
    Forearm,
}

impl Bone {
    /// All bones, parents first.
    pub const ALL: [Self; 3] = [Self::Torso, Self::Humerus, Self::Forearm];

    /// Its name in the scene.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Torso => "torso",
            Self::Humerus => "humerus",
            Self::Forearm => "forearm",
        }
    }
}

/// The shoulder (m) in the torso's frame.
pub const SHOULDER: DVec3 = DVec3::new(-0.017545, -0.007, 0.17);
/// The elbow (m) in the humerus' frame.
pub const ELBOW: DVec3 = DVec3::new(0.0061, -0.2904, -0.0123);
/// The elbow flexes by a positive turn about this axis of the humerus' frame.
pub const ELBOW_AXIS: DVec3 = DVec3::new(0.04940001, 0.03660001, 0.99810825);
/// How far the elbow flexes (rad): 130°.
pub const ELBOW_RANGE: f64 = 2.26892803;

/// Specific tension (Pa) by which the model's peak forces follow from cross-sections: 140 N/cm² (Holzbaur et al. 2005).
pub const SPECIFIC_TENSION: f64 = 1.4e6;
/// Strain beyond the optimal fibre length at which passive tension is peak tension (Thelen 2003).
pub const PASSIVE_STRAIN: f64 = 0.6;

/// Cross-sections that a path is made into: enough for its via points.
pub const SECTION_COUNT: u32 = 11;

/// A muscle as published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Muscle {
    /// Its name.
    pub name: &'static str,
    /// Peak isometric force (N).
    pub peak_force: f64,
    /// Fibre length of greatest tension (m).
    pub optimal_fibre_length: f64,
    /// Length of its tendons (m).
    pub tendon_slack_length: f64,
    /// What of that is at the insertion (m). arm26 does not say; heads of one muscle end in one tendon: that of the
    /// triceps is the lateral head's and that of the medial head, whose fibres start on the bone; that of the biceps is
    /// half of the short head's; brachialis starts on the bone.
    pub distal_tendon: f64,
    /// Origin, via points and insertion (m), each in its bone's frame.
    pub points: &'static [(Bone, DVec3)],
}

const fn torso(x: f64, y: f64, z: f64) -> (Bone, DVec3) {
    (Bone::Torso, DVec3::new(x, y, z))
}

const fn humerus(x: f64, y: f64, z: f64) -> (Bone, DVec3) {
    (Bone::Humerus, DVec3::new(x, y, z))
}

const fn forearm(x: f64, y: f64, z: f64) -> (Bone, DVec3) {
    (Bone::Forearm, DVec3::new(x, y, z))
}

/// arm26's muscles: BIClong, BICshort, BRA, TRIlong, TRIlat and TRImed.
pub const MUSCLES: [Muscle; 6] = [
    Muscle {
        name: "biceps_long",
        peak_force: 624.3,
        optimal_fibre_length: 0.1157,
        tendon_slack_length: 0.2723,
        distal_tendon: 0.09615,
        points: &[
            torso(-0.039235, 0.00347, 0.14795),
            torso(-0.028945, 0.01391, 0.15639),
            humerus(0.02131, 0.01793, 0.01028),
            humerus(0.02378, -0.00511, 0.01201),
            humerus(0.01345, -0.02827, 0.00136),
            humerus(0.01068, -0.07736, -0.00165),
            humerus(0.01703, -0.12125, 0.00024),
            humerus(0.0228, -0.1754, -0.0063),
            forearm(0.00751, -0.04839, 0.02179),
        ],
    },
    Muscle {
        name: "biceps_short",
        peak_force: 435.56,
        optimal_fibre_length: 0.1321,
        tendon_slack_length: 0.1923,
        distal_tendon: 0.09615,
        points: &[
            torso(0.004675, -0.01231, 0.13475),
            torso(-0.007075, -0.04004, 0.14507),
            humerus(0.01117, -0.07576, -0.01101),
            humerus(0.01703, -0.12125, -0.01079),
            humerus(0.0228, -0.1754, -0.0063),
            forearm(0.00751, -0.04839, 0.02179),
        ],
    },
    Muscle {
        name: "brachialis",
        peak_force: 987.26,
        optimal_fibre_length: 0.0858,
        tendon_slack_length: 0.0535,
        distal_tendon: 0.0535,
        points: &[humerus(0.0068, -0.1739, -0.0036), forearm(-0.0032, -0.0239, 0.0009)],
    },
    Muscle {
        name: "triceps_long",
        peak_force: 798.52,
        optimal_fibre_length: 0.134,
        tendon_slack_length: 0.143,
        distal_tendon: 0.098,
        points: &[
            torso(-0.05365, -0.01373, 0.14723),
            humerus(-0.02714, -0.11441, -0.00664),
            humerus(-0.03184, -0.22637, -0.01217),
            humerus(-0.01743, -0.26757, -0.01208),
            forearm(-0.0219, 0.01046, -0.00078),
        ],
    },
    Muscle {
        name: "triceps_lateral",
        peak_force: 624.3,
        optimal_fibre_length: 0.1138,
        tendon_slack_length: 0.098,
        distal_tendon: 0.098,
        points: &[
            humerus(-0.00599, -0.12646, 0.00428),
            humerus(-0.02344, -0.14528, 0.00928),
            humerus(-0.03184, -0.22637, -0.01217),
            humerus(-0.01743, -0.26757, -0.01208),
            forearm(-0.0219, 0.01046, -0.00078),
        ],
    },
    Muscle {
        name: "triceps_medial",
        peak_force: 624.3,
        optimal_fibre_length: 0.1138,
        tendon_slack_length: 0.0908,
        distal_tendon: 0.0908,
        points: &[
            humerus(-0.00838, -0.13695, -0.00906),
            humerus(-0.02601, -0.15139, -0.0108),
            humerus(-0.03184, -0.22637, -0.01217),
            humerus(-0.01743, -0.26757, -0.01208),
            forearm(-0.0219, 0.01046, -0.00078),
        ],
    },
];

/// The humerus as pills (m): in its frame from where to where, and how thick. The elbow is arm26's wrapping cylinder `TRI`, 50 mm long
/// with a radius of 16 mm, which is capitulum and trochlea: a pill's round ends are part of that length. The head is the ball of
/// the two lesser axes of arm26's ellipsoid `BIClonghh`. arm26 has no shaft: it is here as thick as adults' are in their middle,
/// 22 mm across, from the head to the elbow. Over bones of the forearm no muscle of arm26 wraps.
pub const HUMERUS: [(DVec3, DVec3, f64); 3] = [
    (DVec3::ZERO, ELBOW, 0.011),
    (DVec3::new(0.002857, -0.293157, -0.015812), DVec3::new(0.002743, -0.290643, 0.002012), 0.016),
    (DVec3::new(0.0033, 0.0073, 0.0003), DVec3::new(0.0033, 0.0073, 0.0003), 0.02),
];

impl Muscle {
    /// It as a spec along a path which is `length` (m) long at rest. Its belly is what tendons leave of that, and its
    /// passive tension reaches its peak force at [`PASSIVE_STRAIN`] beyond the optimal fibre length.
    pub fn spec(&self, path: Vec<PathPoint>, length: f64) -> MuscleSpec {
        let end = |point: Option<&PathPoint>| {
            point.map_or_else(MuscleEnd::default, |p| MuscleEnd { joint: p.joint, place: Some(p.place) })
        };
        let proximal = self.tendon_slack_length - self.distal_tendon;
        let optimal_stretch = self.optimal_fibre_length / (length - self.tendon_slack_length);
        MuscleSpec {
            name: self.name.into(),
            origin: end(path.first()),
            insertion: end(path.last()),
            shape: MuscleShape::Path(path),
            section_count: SECTION_COUNT,
            thickness: Some(Thickness::PeakForce(self.peak_force)),
            peak_stress: Some(SPECIFIC_TENSION),
            tendon: [proximal / length, self.distal_tendon / length],
            optimal_stretch,
            passive: 1.0 / ((1.0 + PASSIVE_STRAIN) * optimal_stretch - 1.0).exp_m1(),
            ..MuscleSpec::default()
        }
    }

    /// Length of its path (m) at a flexion of the elbow (rad).
    pub fn path_length(&self, flexion: f64) -> f64 {
        let bones = bones(flexion);
        let place = |&(bone, place): &(Bone, DVec3)| bones[bone as usize].transform_point(place);
        self.points.windows(2).map(|pair| place(&pair[0]).distance(place(&pair[1]))).sum()
    }

    /// Whether it flexes the elbow: whether flexion shortens it.
    pub fn is_flexor(&self) -> bool {
        self.path_length(ELBOW_RANGE) < self.path_length(0.0)
    }
}

/// Poses of [`Bone::ALL`] at a flexion of the elbow (rad); the torso is at the origin.
pub fn bones(flexion: f64) -> [Pose; 3] {
    let forearm = Pose::new(SHOULDER + ELBOW, DQuat::from_axis_angle(ELBOW_AXIS.normalize(), flexion));
    [Pose::IDENTITY, Pose::from_translation(SHOULDER), forearm]
}

/// The flexion (rad) at which muscles rest: bellies are nearest their optimal lengths, of which the cross-sections are.
pub const REST_FLEXION: f64 = 70.0 * DEGREE;
/// The flexion (rad) at which the elbow is held.
pub const HELD_FLEXION: f64 = 90.0 * DEGREE;
/// Excitation that keeps every muscle taut.
pub const LIGHT: f32 = 0.05;

const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// Time (s), flexion of the elbow (rad), excitation of its flexors.
const COURSE: [(f64, f64, f32); 8] = [
    (0.0, REST_FLEXION, LIGHT),
    (1.0, 0.0, LIGHT),
    (4.0, ELBOW_RANGE, LIGHT),
    (5.5, HELD_FLEXION, LIGHT),
    (6.0, HELD_FLEXION, LIGHT),
    (6.5, HELD_FLEXION, 1.0),
    (9.0, HELD_FLEXION, 1.0),
    (9.5, HELD_FLEXION, LIGHT),
];

pub(super) fn parameters(cantilevers: SceneParameters) -> SceneParameters {
    SceneParameters {
        rods: MUSCLES.len(),
        segments: SECTION_COUNT as usize - 1,
        length: ELBOW.length(),
        radius: (MUSCLES[0].peak_force / (std::f64::consts::PI * SPECIFIC_TENSION)).sqrt(),
        // At the muscle's own ν of 0.49 a belly at two thirds of its length strays by 1.7 % of its volume.
        material: Material { peak_stress: SPECIFIC_TENSION, poissons_ratio: 0.495, ..Material::muscle() },
        ..cantilevers
    }
}

pub(super) fn scene(parameters: &SceneParameters) -> Result<Scene, SceneError> {
    let character = Character::from_asset(skeleton_with_muscles(parameters), &FleshOptions::default())?;
    let body = character.body();
    let of_body = |flexion: f64| -> Vec<Pose> {
        let poses = bones(flexion);
        body.bones.iter().map(|&joint| poses[joint as usize]).collect()
    };
    let key = |&(time, flexion, flexors): &(f64, f64, f32)| {
        let excitation = |muscle: &Muscle| if muscle.is_flexor() { flexors } else { LIGHT };
        Key { time, bones: of_body(flexion), activations: MUSCLES.iter().map(excitation).collect() }
    };
    Ok(Scene {
        start: of_body(REST_FLEXION),
        keys: COURSE.iter().map(key).collect(),
        ..Scene::of(Arc::clone(&body.flesh), parameters.config)
    })
}

/// A character of bones and muscles alone.
fn skeleton_with_muscles(parameters: &SceneParameters) -> CharacterAsset {
    let rest = bones(REST_FLEXION);
    let joint = |(index, bone): (usize, Bone)| {
        let parent = index.checked_sub(1);
        let local = parent.map_or(rest[index], |parent| rest[parent].inverse() * rest[index]);
        Joint {
            name: bone.name().into(),
            parent: parent.map(|parent| parent as u32),
            rest: LocalTransform {
                translation: local.translation.as_vec3(),
                rotation: local.rotation.as_quat(),
                ..LocalTransform::IDENTITY
            },
        }
    };
    let Material { youngs_modulus, poissons_ratio, density, damping, peak_stress, .. } = parameters.material;
    let material = MuscleMaterial {
        youngs_modulus: Some(youngs_modulus),
        poissons_ratio: Some(poissons_ratio),
        density: Some(density),
        damping: Some(damping),
        ..MuscleMaterial::default()
    };
    let muscle = |muscle: &Muscle| {
        let point = |&(bone, place): &(Bone, DVec3)| PathPoint { joint: bone as u32, place, radius: None };
        let path = muscle.points.iter().map(point).collect();
        MuscleSpec {
            material,
            peak_stress: Some(peak_stress),
            section_count: u32::try_from(parameters.segments).unwrap_or(u32::MAX).saturating_add(1),
            // What arm26 publishes are paths straight from point to point, and no beds.
            fascia: false,
            ..muscle.spec(path, muscle.path_length(REST_FLEXION))
        }
    };
    let bone = |&(from, to, radius): &(DVec3, DVec3, f64)| BoneSpec {
        joint: Bone::Humerus as u32,
        from,
        to,
        radius,
        ..BoneSpec::default()
    };
    CharacterAsset {
        name: "arm".into(),
        bones: if parameters.bones { HUMERUS.iter().map(bone).collect() } else { Vec::new() },
        skeleton: Skeleton { joints: Bone::ALL.into_iter().enumerate().map(joint).collect() },
        muscles: MUSCLES.iter().map(muscle).collect(),
        ..CharacterAsset::default()
    }
}
