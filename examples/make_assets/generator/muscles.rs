//! Muscles: arm26's on a model's joints, and as a glTF node's extras.

use super::Joint;
use glam::{DVec3, Vec3};
use gltf_json::Value;
use gltf_json::extras::RawValue;
use sinew::character::{MuscleShape, MuscleSpec, PathPoint, Thickness};
use sinew::scenes::arm::{Bone, ELBOW, ELBOW_AXIS, MUSCLES, SHOULDER};

/// A left arm in its bind pose, facing +Z.
pub struct LeftArm {
    pub shoulder: Vec3,
    pub elbow: Vec3,
    /// From shoulder to elbow.
    pub upper: Vec3,
    /// The elbow flexes by a positive turn about it; across `upper`.
    pub hinge: Vec3,
    /// Cosine and sine of the elbow's flexion.
    pub flexion: [f32; 2],
    /// The joints that stand for [`Bone::ALL`].
    pub joints: [usize; 3],
}

impl LeftArm {
    /// A place (m) of arm26, a right arm, in the model's bind pose. The shoulder and the elbow go to the model's, and
    /// arm26's z axis to the other side.
    fn place(&self, bone: Bone, p: DVec3) -> DVec3 {
        let shoulder = self.shoulder.as_dvec3();
        if bone == Bone::Torso {
            let p = p - SHOULDER;
            return shoulder + DVec3::new(p.z, p.y, p.x);
        }
        let (upper, hinge) = (self.upper.as_dvec3(), self.hinge.as_dvec3());
        let front = hinge.cross(upper);
        let y = -ELBOW.normalize();
        let z = (ELBOW_AXIS - y * ELBOW_AXIS.dot(y)).normalize();
        let p = DVec3::new(p.dot(y.cross(z)), p.dot(y), p.dot(z));
        if bone == Bone::Humerus {
            return shoulder + front * p.x - upper * p.y - hinge * p.z;
        }
        let [cosine, sine] = self.flexion.map(f64::from);
        let (turned_front, fore) = (front * cosine - upper * sine, upper * cosine + front * sine);
        self.elbow.as_dvec3() + turned_front * p.x - fore * p.y - hinge * p.z
    }

    /// arm26's muscles on the model's joints.
    pub fn muscles(&self, joints: &[Joint]) -> Vec<MuscleSpec> {
        let of = |muscle: &sinew::scenes::arm::Muscle| {
            let places: Vec<DVec3> = muscle.points.iter().map(|&(bone, p)| self.place(bone, p)).collect();
            let point = |(place, &(bone, _)): (&DVec3, &(Bone, DVec3))| {
                let joint = self.joints[bone as usize];
                let place = (*place - joints[joint].place.as_dvec3()) * 1.0e6;
                PathPoint { joint: joint as u32, place: place.round() / 1.0e6, radius: None }
            };
            let path = places.iter().zip(muscle.points).map(point).collect();
            let length = places.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
            muscle.spec(path, length)
        };
        MUSCLES.iter().map(of).collect()
    }
}

/// `extras.sinew.muscle` of a muscle along a path with a peak force.
pub fn muscle_extras(spec: &MuscleSpec, joints: &[Joint]) -> Box<RawValue> {
    // An exponential is behind one of them, whose last digits depend on the machine.
    let rounded = |value: f64| Value::from((value * 1.0e6).round() / 1.0e6);
    let list = |values: &[f64]| Value::from(values.iter().copied().map(rounded).collect::<Vec<_>>());
    let object = |entries: Vec<(&str, Value)>| entries.into_iter().collect::<Value>();
    let MuscleShape::Path(points) = &spec.shape else { panic!("{} has no path", spec.name) };
    let point = |point: &PathPoint| {
        let joint = joints[point.joint as usize].name.as_str();
        object(vec![("joint", joint.into()), ("place", list(&point.place.to_array()))])
    };
    let Some(Thickness::PeakForce(peak_force)) = spec.thickness else { panic!("{} has no peak force", spec.name) };
    let muscle = object(vec![
        ("path", points.iter().map(point).collect::<Vec<_>>().into()),
        ("section_count", spec.section_count.into()),
        ("peak_force", rounded(peak_force)),
        ("peak_stress", spec.peak_stress.into()),
        ("tendon", list(&spec.tendon)),
        ("optimal_stretch", rounded(spec.optimal_stretch)),
        ("passive", rounded(spec.passive)),
    ]);
    let extras = object(vec![("sinew", object(vec![("muscle", muscle)]))]);
    RawValue::from_string(extras.to_string()).expect("a value's text is JSON")
}
