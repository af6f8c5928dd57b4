//! The JSON of bones, a sidecar's `bones`, key by key.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::joint_names::nearest;
use super::object::keys;
use super::schema::Object;
use super::{BoneSpec, JointNames, MuscleError, shorten};

/// A bone: a pill on a joint that the character's muscles stay out of. Lengths are in metres, whatever the file's unit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "bone"))]
pub(in crate::character) struct BoneObject {
    /// The joint's name; among namesakes with parents before it: `Spine/Arm`.
    pub joint: String,
    /// Where the bone's line begins (m) along the joint's axes at rest, from the joint.
    pub from: [f64; 3],
    /// Where it ends (m). Default: where it begins, which makes it a ball.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<[f64; 3]>,
    /// Radius (m).
    pub radius: f64,
    /// Coulomb's coefficient of friction. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
}

impl BoneObject {
    /// Reads a sidecar's bone; what `warn` gets names the bone and the key.
    ///
    /// # Errors
    /// [`MuscleError::Bone`].
    pub fn read(object: &Object, bone: usize, warn: &mut dyn FnMut(String)) -> Result<Self, MuscleError> {
        let known = keys::<Self>();
        for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
            let hint = match nearest(key, known.iter().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("known are {}", known.join(", ")),
            };
            warn(format!("bones[{bone}]: the key {} is unknown and left out; {hint}", shorten(key)));
        }
        serde_path_to_error::deserialize(object).map_err(|error| {
            let key = shorten(&error.path().to_string()).to_string();
            let problem: String = error.inner().to_string().chars().take(160).collect();
            let fix = "it needs {\"joint\": name, \"from\": [x, y, z], \"to\": [x, y, z], \"radius\": m, \"friction\": number}";
            MuscleError::Bone { bone, key, problem: format!("{problem}; {fix}") }
        })
    }

    /// The bone, its joint looked up.
    ///
    /// # Errors
    /// [`MuscleError::Bone`] where there is no such joint, or several.
    pub fn to_spec(&self, bone: usize, joints: &JointNames) -> Result<BoneSpec, MuscleError> {
        let joint = joints.find(&self.joint, "", "joint").map_err(|error| {
            let problem = match error {
                MuscleError::UnknownJoint { joint, hint, .. } => format!("there is no joint {joint:?}{hint}"),
                MuscleError::AmbiguousJoint { joint, candidates, .. } => {
                    let of = candidates.join(", ");
                    format!("{joint:?} is the name of several joints: {of}; write one of these, or rename the joints")
                }
                other => other.to_string(),
            };
            MuscleError::Bone { bone, key: "joint".into(), problem }
        })?;
        let [from, to] = [self.from, self.to.unwrap_or(self.from)].map(DVec3::from_array);
        Ok(BoneSpec { joint, from, to, radius: self.radius, friction: self.friction.unwrap_or(0.0) })
    }

    /// What says all of a bone; `None` where its joint has no name of its own.
    pub fn of(spec: &BoneSpec, joints: &JointNames) -> Option<Self> {
        let BoneSpec { joint, from, to, radius, friction } = *spec;
        let (from, to) = (from.to_array(), Some(to.to_array()));
        Some(Self { joint: joints.reference(joint)?, from, to, radius, friction: Some(friction) })
    }
}

/// The objects of a sidecar's `bones`.
///
/// # Errors
/// [`MuscleError::Bone`] where they are no list of objects.
pub(in crate::character) fn bones_of(bones: Value) -> Result<Vec<Object>, MuscleError> {
    let fail = |bone, problem: &str| MuscleError::Bone { bone, key: "bones".into(), problem: problem.into() };
    let Value::Array(list) = bones else {
        return Err(fail(0, "is no list; write \"bones\": [{\"joint\": …, \"from\": …, \"to\": …, \"radius\": …}, …]"));
    };
    let object = |(bone, value)| match value {
        Value::Object(object) => Ok(object),
        _ => Err(fail(bone, "is no object; write {\"joint\": …, \"from\": …, \"to\": …, \"radius\": …}")),
    };
    list.into_iter().enumerate().map(object).collect()
}
