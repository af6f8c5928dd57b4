//! How far each joint turns: as animations show, or as a file of limits says.

use std::collections::BTreeMap;

use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

use super::BakeFault;
use crate::character::{Animation, CharacterAsset, LocalTransform};

/// Animations are looked at so often (1/s), and at most so often each.
const LOOKS: (f32, usize) = (30.0, 4096);

/// A range of less than this (degrees) is none.
const LEAST_RANGE: f64 = 0.1;

/// Degrees that limits may say.
const MOST_DEGREES: f64 = 360.0;

/// Where poses come from.
#[derive(Clone, Debug, PartialEq)]
pub enum PoseSource {
    /// The character's animations: half of the poses are near their frames, half anywhere within the ranges that they reach.
    Animations,
    /// Limits, which overrule what animations reach.
    Limits(Limits),
}

/// An axis of a joint's own, as it is at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// x.
    X,
    /// y, along which bones go that come from Blender.
    Y,
    /// z.
    Z,
}

/// What three numbers make a rotation from rest, R̄ᵀR, seen in the joint's own axes at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turns {
    /// A rotation vector: angle times axis.
    Vector,
    /// Angles about three axes, whose rotations are multiplied in this order, the last one nearest to the skin.
    Euler([Axis; 3]),
    /// The rotation about this axis (twist) first, then a rotation vector across it (swing).
    SwingTwist(Axis),
}

/// How far a joint turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointRange {
    /// Its name, with ancestors before it where several have it.
    pub joint: String,
    /// What the numbers are.
    pub turns: Turns,
    /// The least of each (degrees), about x, y and z.
    pub low: [f64; 3],
    /// The most of each (degrees).
    pub high: [f64; 3],
}

impl JointRange {
    /// The rotation at a place of the range, 0 to 1 along each axis.
    pub fn rotation(&self, place: [f64; 3]) -> DQuat {
        let angles = [0, 1, 2].map(|k| (self.low[k] + (self.high[k] - self.low[k]) * place[k]).to_radians());
        let about = |axis: Axis| DQuat::from_axis_angle(DVec3::AXES[axis as usize], angles[axis as usize]);
        let turn = match self.turns {
            Turns::Vector => DQuat::from_scaled_axis(angles.into()),
            Turns::Euler([a, b, c]) => about(a) * about(b) * about(c),
            Turns::SwingTwist(axis) => {
                let mut swing = DVec3::from(angles);
                swing[axis as usize] = 0.0;
                DQuat::from_scaled_axis(swing) * about(axis)
            }
        };
        turn.normalize()
    }

    /// A rotation vector's rotation, by no more than a share of the range to either side: what frames are moved by.
    pub(super) fn around(&self, share: f64, place: [f64; 3]) -> DQuat {
        let half = |k: usize| (self.high[k] - self.low[k]).to_radians() * share;
        DQuat::from_scaled_axis(DVec3::from([0, 1, 2].map(|k| half(k) * (2.0 * place[k] - 1.0))))
    }

    pub(super) fn is_any(&self) -> bool {
        (0..3).any(|k| self.low[k].abs().max(self.high[k].abs()) >= LEAST_RANGE)
    }
}

/// Limits of joints, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits(pub Vec<JointRange>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsFile {
    version: u64,
    joints: BTreeMap<String, JointLimits>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JointLimits {
    euler: Option<Angles>,
    order: Option<String>,
    twist_axis: Option<Axis>,
    twist: Option<[f64; 2]>,
    swing: Option<Angles>,
}

/// Degrees about each axis, from and to.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Angles {
    x: [f64; 2],
    y: [f64; 2],
    z: [f64; 2],
}

impl Limits {
    /// Reads a file of limits, degrees about a joint's own axes at rest; axes that are not named do not turn:
    ///
    /// ```json
    /// { "version": 1, "joints": {
    ///     "elbow": { "euler": { "x": [0, 130] }, "order": "xyz" },
    ///     "shoulder": { "twist_axis": "y", "twist": [-45, 45], "swing": { "x": [-60, 90], "z": [-30, 30] } } } }
    /// ```
    ///
    /// # Errors
    /// [`BakeFault::Limits`] where that is not so, with the line or the joint.
    pub fn from_json(text: &str) -> Result<Self, BakeFault> {
        let wrong =
            |error: serde_json::Error| BakeFault::Limits(format!("{error}; see `sinew bake --help` for the form"));
        let file: LimitsFile = serde_json::from_str(text).map_err(wrong)?;
        if file.version != 1 {
            return Err(BakeFault::Version { found: file.version, newest: 1 });
        }
        let ranges = file.joints.into_iter().map(|(joint, limits)| limits.range(joint));
        ranges.collect::<Result<_, _>>().map(Self)
    }
}

impl JointLimits {
    fn range(self, joint: String) -> Result<JointRange, BakeFault> {
        let wrong = |what: String| BakeFault::Limits(format!("joint {joint:?}: {what}"));
        let (turns, angles) = match self {
            Self { euler: Some(angles), order, twist_axis: None, twist: None, swing: None } => {
                let order = order.as_deref().unwrap_or("xyz");
                let axes = euler_order(order)
                    .ok_or_else(|| wrong(format!("order is {order:?}; it must have x, y and z, each once")))?;
                (Turns::Euler(axes), angles)
            }
            Self { euler: None, order: None, twist_axis, twist, swing } if twist.is_some() || swing.is_some() => {
                let axis = twist_axis.unwrap_or(Axis::Y);
                let mut angles = swing.unwrap_or_default();
                let along = match axis {
                    Axis::X => &mut angles.x,
                    Axis::Y => &mut angles.y,
                    Axis::Z => &mut angles.z,
                };
                if *along != [0.0; 2] {
                    return Err(wrong("swing has the axis of the twist; give that as twist".into()));
                }
                *along = twist.unwrap_or_default();
                (Turns::SwingTwist(axis), angles)
            }
            _ => {
                return Err(wrong("it must have either euler (and order), or twist and swing (and twist_axis)".into()));
            }
        };
        let all = [angles.x, angles.y, angles.z];
        if let Some([low, high]) =
            all.into_iter().find(|[low, high]| !(-MOST_DEGREES <= *low && low <= high && *high <= MOST_DEGREES))
        {
            return Err(wrong(format!(
                "[{low}, {high}] must ascend between -{MOST_DEGREES} and {MOST_DEGREES} degrees"
            )));
        }
        Ok(JointRange { joint, turns, low: all.map(|range| range[0]), high: all.map(|range| range[1]) })
    }
}

fn euler_order(text: &str) -> Option<[Axis; 3]> {
    let axis = |byte| match byte {
        b'x' => Some(Axis::X),
        b'y' => Some(Axis::Y),
        b'z' => Some(Axis::Z),
        _ => None,
    };
    let &[a, b, c] = text.as_bytes() else { return None };
    (a != b && b != c && a != c).then_some([axis(a)?, axis(b)?, axis(c)?])
}

/// How a pose turns a joint from its rest.
pub(super) fn turned(rest: &LocalTransform, pose: &LocalTransform) -> DQuat {
    let turn = (rest.rotation.as_dquat().conjugate() * pose.rotation.as_dquat()).normalize();
    if turn.is_finite() { turn } else { DQuat::IDENTITY }
}

/// Times (s) at which an animation is looked at.
fn looks(animation: &Animation) -> impl Iterator<Item = f32> {
    let count = ((animation.duration * LOOKS.0).ceil() as usize).clamp(1, LOOKS.1);
    let duration = animation.duration;
    (0..=count).map(move |look| duration * look as f32 / count as f32)
}

/// The rotation vectors (degrees) that animations reach, joint by joint, widened by a share of themselves.
pub(super) fn reached(asset: &CharacterAsset, beyond: f64) -> Vec<[[f64; 3]; 2]> {
    let joints = &asset.skeleton.joints;
    let (mut low, mut high) = (vec![DVec3::ZERO; joints.len()], vec![DVec3::ZERO; joints.len()]);
    for animation in &asset.animations {
        let mut pose = asset.skeleton.rest_pose();
        let mut last = vec![DVec3::ZERO; joints.len()];
        for time in looks(animation) {
            animation.sample(time, &mut pose);
            for (index, joint) in joints.iter().enumerate() {
                let turn = turned(&joint.rest, &pose[index]);
                let turn = if turn.w < 0.0 { -turn } else { turn };
                let mut vector = turn.to_scaled_axis();
                // Half a turn on, the same rotation goes the other way round: as it came.
                let back = vector - vector.normalize_or_zero() * std::f64::consts::TAU;
                if back.distance(last[index]) < vector.distance(last[index]) {
                    vector = back;
                }
                last[index] = vector;
                low[index] = low[index].min(vector);
                high[index] = high[index].max(vector);
            }
        }
    }
    let within = |vector: DVec3| vector.to_array().map(|angle| angle.to_degrees().clamp(-180.0, 180.0));
    let widened = |(low, high): (DVec3, DVec3)| {
        let margin = (high - low) * (0.5 * beyond);
        [within(low - margin), within(high + margin)]
    };
    low.into_iter().zip(high).map(widened).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(joint: &str) -> Result<JointRange, String> {
        let text = format!(r#"{{ "version": 1, "joints": {{ "j": {joint} }} }}"#);
        Limits::from_json(&text).map(|limits| limits.0[0].clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn limits_turn_as_they_say() {
        let range = limits(r#"{ "euler": { "x": [0, 90], "z": [-20, 40] }, "order": "zyx" }"#).unwrap();
        let wanted = DQuat::from_rotation_z(0.2_f64.mul_add(60.0, -20.0).to_radians())
            * DQuat::from_rotation_x(45.0_f64.to_radians());
        assert!(range.rotation([0.5, 0.9, 0.2]).angle_between(wanted) < 1.0e-7);
        let range = limits(r#"{ "twist": [-30, 30], "swing": { "x": [0, 60] } }"#).unwrap();
        assert_eq!(range.turns, Turns::SwingTwist(Axis::Y));
        let wanted = DQuat::from_rotation_x(30.0_f64.to_radians()) * DQuat::from_rotation_y(30.0_f64.to_radians());
        assert!(range.rotation([0.5, 1.0, 0.3]).angle_between(wanted) < 1.0e-7);
        assert!(range.rotation([0.0, 0.5, 0.5]).angle_between(DQuat::IDENTITY) < 1.0e-7);
    }

    #[test]
    fn limits_that_say_nothing_or_too_much_name_the_joint() {
        for (text, part) in [
            (r#"{}"#, "either euler"),
            (r#"{ "euler": {}, "twist": [0, 1] }"#, "either euler"),
            (r#"{ "euler": { "x": [40, 20] } }"#, "must ascend"),
            (r#"{ "euler": { "x": [0, 400] } }"#, "must ascend"),
            (r#"{ "euler": {}, "order": "xxz" }"#, "each once"),
            (r#"{ "twist": [0, 1], "swing": { "y": [0, 5] } }"#, "the axis of the twist"),
        ] {
            let error = limits(text).unwrap_err();
            assert!(error.contains("\"j\"") && error.contains(part), "{text}: {error}");
        }
        for text in
            [r#"{ "euler": { "w": [0, 1] } }"#, r#"{ "euler": { "x": [0] } }"#, r#"{ "euler": { "x": 1e999 } }"#]
        {
            assert!(limits(text).unwrap_err().contains("line 1"), "{text}");
        }
        assert!(matches!(
            Limits::from_json(r#"{ "version": 2, "joints": {} }"#),
            Err(BakeFault::Version { found: 2, .. })
        ));
    }
}
