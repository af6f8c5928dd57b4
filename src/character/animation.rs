//! Poses over time: sampling animations and carrying a pose through the skeleton to the matrix palette.

use glam::{Affine3A, DVec3, Quat, Vec3};

use super::{Animation, CharacterAsset, Interpolation, LocalTransform, Skeleton, Track, TrackValues};
use crate::MorphTarget;

impl Skeleton {
    /// The pose of the file, one transform per joint.
    pub fn rest_pose(&self) -> Vec<LocalTransform> {
        self.joints.iter().map(|joint| joint.rest).collect()
    }

    /// Writes each joint's matrix from joint to model space (m) into `out`, one per joint.
    ///
    /// `pose` holds one transform per joint relative to its parent; joints beyond its end rest.
    pub fn model_matrices(&self, pose: &[LocalTransform], out: &mut Vec<Affine3A>) {
        out.clear();
        out.reserve(self.joints.len());
        for (index, joint) in self.joints.iter().enumerate() {
            let local = pose.get(index).copied().unwrap_or(joint.rest).to_affine();
            let parent = joint.parent.and_then(|parent| out.get(parent as usize).copied());
            out.push(match parent {
                Some(parent) => parent * local,
                None => local,
            });
        }
    }
}

impl CharacterAsset {
    /// Writes the matrix palette, from mesh space to model space (m), into `out`, one per [`Self::palette`] entry.
    ///
    /// `model_matrices` comes from [`Skeleton::model_matrices`]. Vertices go by the weighted sum of these
    /// matrices, normals by its inverse transpose.
    pub fn palette_matrices(&self, model_matrices: &[Affine3A], out: &mut Vec<Affine3A>) {
        out.clear();
        out.extend(self.palette.iter().map(|entry| {
            let joint = model_matrices.get(entry.joint as usize).copied().unwrap_or(Affine3A::IDENTITY);
            joint * entry.inverse_bind
        }));
    }

    /// Where the joints are at rest (m), in model space.
    pub fn joint_places(&self) -> Vec<DVec3> {
        let mut joints = Vec::new();
        self.skeleton.model_matrices(&self.skeleton.rest_pose(), &mut joints);
        joints.iter().map(|joint| joint.translation.as_dvec3()).collect()
    }

    /// The first animation of that name.
    pub fn animation(&self, name: &str) -> Option<&Animation> {
        self.animations.iter().find(|animation| animation.name == name)
    }
}

impl Animation {
    /// Writes what the animation drives at `time_s` (s) into `pose`, one transform per joint; the rest of the
    /// pose stays as it is.
    ///
    /// Before a track's first key it holds the first value, after its last key the last.
    pub fn sample(&self, time_s: f32, pose: &mut [LocalTransform]) {
        for track in &self.tracks {
            let Some(joint) = pose.get_mut(track.joint as usize) else { continue };
            let Some(span) = track.span(time_s) else { continue };
            match &track.values {
                TrackValues::Translation(values) => {
                    joint.translation = span.vector(track.interpolation, values, joint.translation);
                }
                TrackValues::Scale(values) => joint.scale = span.vector(track.interpolation, values, joint.scale),
                TrackValues::Rotation(values) => {
                    joint.rotation = span.rotation(track.interpolation, values, joint.rotation);
                }
                TrackValues::Weights(_) => {}
            }
        }
    }

    /// Writes the weights of morph targets that the animation drives at `time_s` (s) into `weights`, one for each of `morphs`, those
    /// of the animation's [`SkinMesh`](super::SkinMesh); the rest stay as they are. As for [`Self::sample`] outside of the keys.
    pub fn sample_morphs(&self, time_s: f32, morphs: &[MorphTarget], weights: &mut [f32]) {
        for track in &self.tracks {
            let TrackValues::Weights(values) = &track.values else { continue };
            let Some(span) = track.span(time_s) else { continue };
            let own = || (0..morphs.len()).filter(|&index| morphs[index].joint == track.joint);
            let count = own().count();
            for (target, index) in own().enumerate() {
                if let Some(weight) = weights.get_mut(index) {
                    *weight = span.number(track.interpolation, values, [count, target], *weight);
                }
            }
        }
    }

    /// `time_s` (s) wrapped into the animation's duration.
    pub fn looped(&self, time_s: f32) -> f32 {
        if self.duration > 0.0 { time_s.rem_euclid(self.duration) } else { 0.0 }
    }
}

/// Where a time lies among a track's keys.
struct Span {
    /// The key at or before the time.
    from: usize,
    /// The key after it, or the same one outside the keys.
    to: usize,
    /// How far from `from` to `to`, 0…1.
    fraction: f32,
    /// Time between the keys (s).
    duration: f32,
}

impl Track {
    fn span(&self, time_s: f32) -> Option<Span> {
        let last = self.times.len().checked_sub(1)?;
        let after = self.times.partition_point(|&key| key <= time_s);
        if after == 0 || after > last {
            let key = after.min(last);
            return Some(Span { from: key, to: key, fraction: 0.0, duration: 0.0 });
        }
        let (from, to) = (self.times[after - 1], self.times[after]);
        let duration = to - from;
        Some(Span { from: after - 1, to: after, fraction: (time_s - from) / duration, duration })
    }
}

impl Span {
    /// Weights of value, out-tangent, next value and next in-tangent of the Hermite spline (glTF 2.0, appendix C.5).
    fn hermite(&self) -> [f32; 4] {
        let (t, d) = (self.fraction, self.duration);
        let (t2, t3) = (t * t, t * t * t);
        [2.0 * t3 - 3.0 * t2 + 1.0, d * (t3 - 2.0 * t2 + t), 3.0 * t2 - 2.0 * t3, d * (t3 - t2)]
    }

    /// The value between the keys, or `fallback` where the track holds too few values or overflows.
    fn vector(&self, interpolation: Interpolation, values: &[Vec3], fallback: Vec3) -> Vec3 {
        let get = |index: usize| values.get(index).copied().unwrap_or(fallback);
        let value = match interpolation {
            Interpolation::Step => get(self.from),
            Interpolation::Linear => get(self.from).lerp(get(self.to), self.fraction),
            Interpolation::CubicSpline => {
                let [a, b, c, d] = self.hermite();
                get(3 * self.from + 1) * a
                    + get(3 * self.from + 2) * b
                    + get(3 * self.to + 1) * c
                    + get(3 * self.to) * d
            }
        };
        if value.is_finite() { value } else { fallback }
    }

    /// As [`Self::vector`], a number of `count` together, of which it is the one at a place.
    fn number(&self, interpolation: Interpolation, values: &[f32], [count, at]: [usize; 2], fallback: f32) -> f32 {
        let get = |index: usize| values.get(index * count + at).copied().unwrap_or(fallback);
        let value = match interpolation {
            Interpolation::Step => get(self.from),
            Interpolation::Linear => get(self.from) * (1.0 - self.fraction) + get(self.to) * self.fraction,
            Interpolation::CubicSpline => {
                let [a, b, c, d] = self.hermite();
                get(3 * self.from + 1) * a
                    + get(3 * self.from + 2) * b
                    + get(3 * self.to + 1) * c
                    + get(3 * self.to) * d
            }
        };
        if value.is_finite() { value } else { fallback }
    }

    /// As [`Self::vector`], a unit quaternion.
    fn rotation(&self, interpolation: Interpolation, values: &[Quat], fallback: Quat) -> Quat {
        let get = |index: usize| values.get(index).copied().unwrap_or(fallback);
        let value = match interpolation {
            Interpolation::Step => get(self.from),
            Interpolation::Linear => get(self.from).slerp(get(self.to), self.fraction),
            Interpolation::CubicSpline => {
                let [a, b, c, d] = self.hermite();
                get(3 * self.from + 1) * a
                    + get(3 * self.from + 2) * b
                    + get(3 * self.to + 1) * c
                    + get(3 * self.to) * d
            }
        };
        let length = value.length();
        if length.is_finite() && length > 1e-6 { value / length } else { fallback }
    }
}
