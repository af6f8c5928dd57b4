//! A bust on a stand with one whole arm, which has the muscles of arm26 over its elbow.

use super::field::{self, Part, capsule, chain, cut, ellipsoid, union};
use super::motion::{after, through, turn, wave};
use super::muscles::LeftArm;
use super::{Bone, Joint, Material, Model, Surface, Track};
use glam::{Quat, Vec3};
use sinew::scenes::arm::ELBOW;

/// What arm26's licence asks for.
const COPYRIGHT: &str = "Muscle paths, forces and lengths: OpenSim's arm26 by the OpenSim Development Team (Reinbolt, J; \
    Seth, A; Habib, A; Hamner, S), adapted from a model by Kate Holzbaur (Holzbaur, Murray, Delp 2005, Annals of \
    Biomedical Engineering 33:829-840), CC BY 3.0; mirrored and fitted to this character";

const fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Length of the forearm (m), of which arm26 says nothing: that of a person 1.78 m tall (0.146 of it, Winter 2009).
const FOREARM: f32 = 0.26;
/// The elbow's flexion in the bind pose, where it is held, and at most (degrees).
const BIND_FLEXION: f32 = 20.0;
const HELD_FLEXION: f32 = 90.0;
const MOST_FLEXION: f32 = 130.0;
const SHOULDER: Vec3 = v(0.175, 0.545, 0.0);
/// How far creases between parts of the body are filled (m).
const BLEND: f32 = 0.035;

/// Joints' indices.
const TORSO: usize = 1;
const HEAD: usize = 2;
const CLAVICLE: usize = 3;
const UPPER: usize = 4;
const FORE: usize = 5;
const HAND: usize = 6;
const FINGERS: usize = 7;
const FINGERTIPS: usize = 8;
const THUMB: usize = 9;

/// Places and directions of the bind pose.
struct Pose {
    /// Length of the upper arm (m): arm26's.
    length: f32,
    upper: Vec3,
    elbow: Vec3,
    fore: Vec3,
    wrist: Vec3,
    /// Across the hand towards the thumb, and out of its back.
    across: Vec3,
    back: Vec3,
    /// The elbow bends by turning about this axis.
    hinge: Vec3,
}

impl Pose {
    fn new() -> Self {
        let length = ELBOW.length() as f32;
        let upper = v(0.86, -0.51, 0.02).normalize();
        let hinge = upper.cross(v(0.1, 0.92, 0.38)).normalize();
        let [cosine, sine] = bind_flexion();
        let fore = (upper * cosine + hinge.cross(upper) * sine).normalize();
        let elbow = SHOULDER + upper * length;
        let across = v(0.0, 0.35, 1.0).reject_from(fore).normalize();
        let (wrist, back) = (elbow + fore * FOREARM, across.cross(fore));
        Self { length, upper, elbow, fore, wrist, across, back, hinge }
    }

    /// A place on the upper arm: a fraction of its length from the shoulder.
    fn on_upper_arm(&self, t: f32) -> Vec3 {
        SHOULDER + self.upper * (t * self.length)
    }

    fn left_arm(&self) -> LeftArm {
        LeftArm {
            shoulder: SHOULDER,
            elbow: self.elbow,
            upper: self.upper,
            hinge: self.hinge,
            flexion: bind_flexion(),
            joints: [CLAVICLE, UPPER, FORE],
        }
    }

    /// A place of the hand: along the forearm from the wrist, towards the thumb, out of the back (m).
    fn hand(&self, along: f32, across: f32, back: f32) -> Vec3 {
        self.wrist + self.fore * along + self.across * across + self.back * back
    }
}

/// Cosine and sine of the elbow's flexion in the bind pose.
fn bind_flexion() -> [f32; 2] {
    let turns = BIND_FLEXION / 360.0;
    [wave(turns + 0.25), wave(turns)]
}

/// Chest, shoulders and neck, flattened from front to back.
fn torso() -> Vec<Part> {
    vec![
        ellipsoid(v(0.0, 0.20, 0.0), v(0.125, 0.13, 0.095)),
        ellipsoid(v(0.0, 0.40, 0.005), v(0.168, 0.19, 0.118)),
        ellipsoid(v(0.062, 0.455, 0.052), v(0.085, 0.070, 0.062)),
        ellipsoid(v(-0.062, 0.455, 0.052), v(0.085, 0.070, 0.062)),
        capsule(v(-0.125, 0.548, -0.005), v(0.125, 0.548, -0.005), 0.056, 0.056),
        capsule(v(0.0, 0.57, -0.02), v(0.0, 0.68, 0.0), 0.056, 0.047),
    ]
}

fn skin(pose: &Pose) -> Vec<Part> {
    let mut parts = torso();
    parts.push(ellipsoid(v(0.0, 0.775, 0.012), v(0.074, 0.104, 0.088)));
    parts.push(ellipsoid(v(0.0, 0.725, 0.050), v(0.050, 0.052, 0.052)));
    // The other arm ends in a stub.
    parts.extend(chain(&[(v(-0.165, 0.545, 0.0), 0.060), (v(-0.215, 0.490, 0.0), 0.055)]));

    let front = pose.hinge.cross(pose.upper);
    let upper = |t: f32, lift: f32, r: f32| (pose.on_upper_arm(t) + front * lift, r);
    parts.extend(chain(&[
        upper(-0.04, 0.0, 0.058),
        upper(0.22, 0.0, 0.055),
        upper(0.5, 0.0, 0.043),
        upper(1.0, 0.0, 0.037),
    ]));
    // Biceps and triceps.
    parts.extend(chain(&[upper(0.34, 0.010, 0.038), upper(0.58, 0.015, 0.041), upper(0.84, 0.006, 0.030)]));
    parts.extend(chain(&[upper(0.28, -0.010, 0.040), upper(0.52, -0.014, 0.038), upper(0.85, -0.004, 0.031)]));
    let fore = |t: f32, lift: f32, r: f32| (pose.elbow + pose.fore * (t * FOREARM) + pose.across * lift, r);
    parts.extend(chain(&[
        fore(0.0, 0.0, 0.037),
        fore(0.25, 0.0, 0.042),
        fore(0.55, 0.0, 0.034),
        fore(1.0, 0.0, 0.024),
    ]));
    parts.extend(chain(&[fore(0.08, 0.010, 0.032), fore(0.3, 0.014, 0.033), fore(0.6, 0.006, 0.026)]));
    parts
}

/// Blended more tightly than the rest, so that the fingers stay apart.
fn hand(pose: &Pose) -> Vec<Part> {
    let mut parts = Vec::new();
    for (across, knuckle, length) in
        [(-0.030, 0.076, 0.066), (-0.010, 0.084, 0.080), (0.010, 0.086, 0.084), (0.030, 0.082, 0.074)]
    {
        parts.extend(chain(&[
            (pose.hand(0.0, across * 0.45, 0.0), 0.019),
            (pose.hand(knuckle, across, 0.002), 0.0145),
            (pose.hand(knuckle + length * 0.55, across * 1.04, -0.004), 0.0125),
            (pose.hand(knuckle + length, across, -0.016), 0.0105),
        ]));
    }
    parts.extend(chain(&[
        (pose.hand(0.018, 0.016, -0.004), 0.018),
        (pose.hand(0.052, 0.048, -0.012), 0.0155),
        (pose.hand(0.082, 0.062, -0.018), 0.0135),
        (pose.hand(0.110, 0.066, -0.022), 0.0110),
    ]));
    parts
}

fn bones(pose: &Pose) -> Vec<Bone> {
    let bone = |joint, a, b, ra, rb| Bone { joint, part: capsule(a, b, ra, rb) };
    vec![
        Bone { joint: TORSO, part: ellipsoid(v(0.0, 0.36, 0.0), v(0.135, 0.24, 0.11)) },
        bone(TORSO, v(-0.20, 0.52, 0.0), v(0.0, 0.55, -0.01), 0.06, 0.06),
        Bone { joint: HEAD, part: ellipsoid(v(0.0, 0.775, 0.01), v(0.08, 0.11, 0.09)) },
        bone(HEAD, v(0.0, 0.65, 0.0), v(0.0, 0.70, 0.0), 0.05, 0.05),
        bone(CLAVICLE, v(0.05, 0.55, -0.005), v(0.145, 0.550, 0.0), 0.050, 0.050),
        bone(UPPER, pose.on_upper_arm(0.10), pose.elbow, 0.055, 0.037),
        bone(FORE, pose.elbow, pose.wrist, 0.038, 0.025),
        bone(HAND, pose.wrist, pose.hand(0.078, 0.0, 0.0), 0.026, 0.030),
        bone(FINGERS, pose.hand(0.086, 0.0, 0.0), pose.hand(0.128, 0.0, -0.004), 0.028, 0.026),
        bone(FINGERTIPS, pose.hand(0.130, 0.0, -0.005), pose.hand(0.175, 0.0, -0.014), 0.026, 0.024),
        bone(THUMB, pose.hand(0.046, 0.044, -0.010), pose.hand(0.112, 0.067, -0.022), 0.014, 0.012),
    ]
}

fn joints(pose: &Pose) -> Vec<Joint> {
    let all: [(&str, Option<usize>, Vec3); 10] = [
        ("stand", None, Vec3::ZERO),
        ("torso", Some(0), v(0.0, 0.14, 0.0)),
        ("head", Some(TORSO), v(0.0, 0.66, 0.0)),
        ("clavicle", Some(TORSO), v(0.03, 0.555, 0.0)),
        ("upper_arm", Some(CLAVICLE), SHOULDER),
        ("forearm", Some(UPPER), pose.elbow),
        ("hand", Some(FORE), pose.wrist),
        ("fingers", Some(HAND), pose.hand(0.082, 0.0, 0.0)),
        ("fingertips", Some(FINGERS), pose.hand(0.130, 0.0, -0.005)),
        ("thumb", Some(HAND), pose.hand(0.030, 0.030, -0.006)),
    ];
    all.into_iter().map(|(name, parent, place)| Joint { name: name.into(), parent, place }).collect()
}

/// Elbow, shoulder and fingers at time `t` (degrees from the bind pose): the elbow goes through its range and is held.
fn curl(t: f32) -> [f32; 3] {
    let flexions = [
        (0.2, BIND_FLEXION),
        (0.7, 0.0),
        (0.9, 0.0),
        (2.2, MOST_FLEXION),
        (2.5, MOST_FLEXION),
        (3.0, HELD_FLEXION),
        (4.3, HELD_FLEXION),
        (4.9, BIND_FLEXION),
    ];
    let shoulder = through(t, &[(0.3, 0.0), (0.8, -8.0), (1.0, -8.0), (2.3, 14.0), (3.4, 6.0), (4.2, 6.0), (4.9, 0.0)]);
    let fingers = through(t, &[(0.9, 0.0), (1.7, 52.0), (4.3, 52.0), (4.9, 0.0)]);
    [through(t, &flexions) - BIND_FLEXION, shoulder, fingers]
}

pub fn arm() -> Model {
    let pose = Pose::new();
    let (skin, hand, torso, bones) = (skin(&pose), hand(&pose), torso(), bones(&pose));
    let fists = pose.hand(0.08, 0.0, 0.0);
    let body = |p: Vec3| {
        let arm = union(&skin, BLEND, p);
        if (p - fists).length_squared() < 0.04 { field::blend(arm, union(&hand, 0.008, p), 0.02) } else { arm }
    };
    // A sleeveless shirt, 9 mm over the skin.
    let shirt = |p: Vec3| {
        let cloth = union(&torso, BLEND, p) - 0.009;
        let neck = 0.105 - (v(p.x, (p.y - 0.655) * 0.85, p.z - 0.025)).length();
        let side = (p.x.abs() - 0.145 + (0.52 - p.y).min(0.0) * 0.35).max(-1.0);
        let hem = 0.105 - p.y;
        cut(cut(cut(cloth, neck, 0.014), side, 0.014), hem, 0.02)
    };
    let stand = |p: Vec3| {
        let around = v(p.x, 0.0, p.z).length();
        let disc = cut(around - 0.17, (p.y - 0.022).abs() - 0.022, 0.03);
        let post = cut(around - 0.028, (p.y - 0.08).abs() - 0.08, 0.004);
        field::blend(disc, post, 0.03)
    };
    let fixed = [Bone { joint: 0, part: capsule(Vec3::ZERO, Vec3::Y, 1.0, 1.0) }];
    let surfaces = vec![
        Surface::of(&body, [v(-0.31, 0.03, -0.17), v(0.86, 0.91, 0.36)], 0.0135, &bones, 0)
            .without(|p| shirt(p) < -0.003 || p.y < 0.14),
        Surface::of(&shirt, [v(-0.26, 0.05, -0.17), v(0.26, 0.68, 0.20)], 0.0138, &bones, 1),
        Surface::of(&stand, [v(-0.21, -0.02, -0.21), v(0.21, 0.2, 0.21)], 0.015, &fixed, 2),
    ];

    const FRAMES: u16 = 150;
    let times: Vec<f32> = (0..=FRAMES).map(|i| f32::from(i) / 30.0).collect();
    let keys = |of: &dyn Fn([f32; 3]) -> Quat| times.iter().map(|&t| of(curl(t))).collect::<Vec<_>>();
    let raise = pose.upper.cross(Vec3::Y).normalize();
    let grip = pose.across;
    let tracks = vec![
        Track::Rotation(CLAVICLE, keys(&|[_, shoulder, _]| turn(Vec3::Z, shoulder * 0.25))),
        Track::Rotation(
            UPPER,
            keys(&|[elbow, shoulder, _]| after(turn(raise, shoulder), turn(Vec3::Y, elbow * -0.12))),
        ),
        Track::Rotation(FORE, keys(&|[elbow, ..]| turn(pose.hinge, elbow))),
        Track::Rotation(HAND, keys(&|[.., fingers]| turn(grip, fingers * -0.2))),
        Track::Rotation(FINGERS, keys(&|[.., fingers]| turn(grip, fingers))),
        Track::Rotation(FINGERTIPS, keys(&|[.., fingers]| turn(grip, fingers * 1.1))),
        Track::Rotation(THUMB, keys(&|[.., fingers]| turn(pose.fore, fingers * -0.4))),
    ];
    let material = |name, base_colour, roughness| Material { name, base_colour, roughness };
    let joints = joints(&pose);
    Model {
        name: "arm",
        copyright: Some(COPYRIGHT),
        animation: "curl",
        muscles: pose.left_arm().muscles(&joints),
        joints,
        materials: vec![
            material("skin", [0.78, 0.47, 0.33, 1.0], 0.6),
            material("shirt", [0.10, 0.22, 0.30, 1.0], 0.9),
            material("stand", [0.055, 0.055, 0.06, 1.0], 0.4),
        ],
        surfaces,
        times,
        tracks,
    }
}
