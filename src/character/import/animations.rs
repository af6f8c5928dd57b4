//! Animations: what cannot be sampled is left out with a warning, so that every track kept is sound.

use std::collections::HashSet;

use glam::{Quat, Vec3};
use gltf::json::animation::Interpolation as FileInterpolation;
use gltf::json::validation::Checked;

use super::ImportError;
use super::accessor::{Expected, FLOAT_SCALAR, FLOAT_VEC3, MORPH_WEIGHTS, QUATERNIONS, View};
use super::context::{Context, named, shorten};
use super::document::{Animation as FileAnimation, Channel};
use crate::MorphTarget;
use crate::character::{Animation, Interpolation, Track, TrackValues};

pub(super) fn read(context: &Context, joint_of: &[u32], morphs: &[MorphTarget]) -> Result<Vec<Animation>, ImportError> {
    let sources = context.document.animations.iter().enumerate();
    sources.map(|(index, source)| Reader { context, source, joint_of, morphs, index }.read()).collect()
}

struct Reader<'a> {
    context: &'a Context<'a>,
    source: &'a FileAnimation,
    joint_of: &'a [u32],
    morphs: &'a [MorphTarget],
    index: usize,
}

impl Reader<'_> {
    fn name(&self) -> String {
        named("animation", self.index, self.source.name.as_deref())
    }

    fn read(&self) -> Result<Animation, ImportError> {
        let name = self.source.name.clone().filter(|name| !name.is_empty());
        let mut animation = Animation {
            name: name.unwrap_or_else(|| format!("animation {}", self.index)),
            duration: 0.0,
            tracks: Vec::new(),
        };
        let mut driven = HashSet::new();
        for (number, channel) in self.source.channels.iter().enumerate() {
            let object = || format!("{}, channel {number}", self.name());
            let Some(track) = self.track(channel, &object)? else { continue };
            if !driven.insert((track.joint, channel.target.path.as_str())) {
                self.context.warn(format!("{} drives what another channel drives; left out", object()));
                continue;
            }
            animation.duration = track.times.last().copied().unwrap_or(0.0).max(animation.duration);
            animation.tracks.push(track);
        }
        if animation.tracks.is_empty() {
            self.context.warn(format!("{} moves no joint", self.name()));
        }
        Ok(animation)
    }

    /// A channel as a track; `None`, with a warning, where it cannot be sampled.
    fn track(&self, channel: &Channel, object: &dyn Fn() -> String) -> Result<Option<Track>, ImportError> {
        let reject = |problem: String| {
            self.context.warn(format!("{} {problem}; left out", object()));
            Ok(None)
        };
        let Some(node) = channel.target.node.map(|node| node.value()) else {
            return reject("has no target node".into());
        };
        let Some(&joint) = self.joint_of.get(node) else {
            return reject(format!("targets node {node}, the file has {}", self.joint_of.len()));
        };
        let Some(sampler) = self.source.samplers.get(channel.sampler.value()) else {
            return reject(format!("names sampler {}, which does not exist", channel.sampler.value()));
        };
        let own = |morph: &&MorphTarget| channel.target.path == "weights" && morph.joint == joint;
        let targets = self.morphs.iter().filter(own).count();
        let expected = match channel.target.path.as_str() {
            "weights" if targets == 0 => {
                return reject(format!(
                    "drives the morph targets of {}, whose mesh has none",
                    self.context.node_name(node)
                ));
            }
            "weights" => &MORPH_WEIGHTS,
            "translation" | "scale" => &FLOAT_VEC3,
            "rotation" => &QUATERNIONS,
            other => return reject(format!("drives {:?}, which joints do not have", shorten(other))),
        };
        let interpolation = match sampler.interpolation {
            Checked::Valid(FileInterpolation::Linear) => Interpolation::Linear,
            Checked::Valid(FileInterpolation::Step) => Interpolation::Step,
            Checked::Valid(FileInterpolation::CubicSpline) => Interpolation::CubicSpline,
            Checked::Invalid => return reject("has an unknown interpolation".into()),
        };
        let Some(input) = self.open(sampler.input, &FLOAT_SCALAR, "times", object) else { return Ok(None) };
        let Some(output) = self.open(sampler.output, expected, "values", object) else { return Ok(None) };
        let numbers = if channel.target.path == "weights" { targets } else { 1 };
        let per_key = numbers * if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        if input.count == 0 || output.count / per_key < input.count {
            return reject(format!("has {} values for {} keys", output.count, input.count));
        }
        if output.count != input.count * per_key {
            self.context.warn(format!(
                "{} has {} values for {} keys; the rest is ignored",
                object(),
                output.count,
                input.count
            ));
        }
        self.context.budget.spend(input.count, 4 + per_key * 16, object)?;
        let Some(keys) = self.keys(&input, object) else { return Ok(None) };
        let times = keys.iter().map(|&key| input.number(key, 0)).collect();
        let elements = || keys.iter().flat_map(|&key| key * per_key..(key + 1) * per_key);
        let vectors =
            |factor: f32| elements().map(|at| Vec3::from_array(output.numbers(at)) * factor).collect::<Vec<_>>();
        let values = match channel.target.path.as_str() {
            "translation" => TrackValues::Translation(vectors(self.context.meters_per_unit)),
            "scale" => TrackValues::Scale(vectors(1.0)),
            "weights" => TrackValues::Weights(elements().map(|at| output.number(at, 0)).collect()),
            _ => TrackValues::Rotation(elements().map(|at| Quat::from_array(output.numbers(at))).collect()),
        };
        let mut track = Track { joint, interpolation, times, values };
        match settle(&mut track.values, per_key) {
            Ok(0) => {}
            Ok(off) => self.context.warn(format!("{}: {off} rotations are not of unit length; normalised", object())),
            Err(problem) => return reject(problem.into()),
        }
        Ok(Some(track))
    }

    fn open(
        &self,
        accessor: gltf::json::Index<gltf::json::Accessor>,
        expected: &Expected,
        what: &'static str,
        object: &dyn Fn() -> String,
    ) -> Option<View<'_>> {
        self.context.optional_view(accessor, expected, &|| format!("{}, {what}", object()))
    }

    /// The keys whose times rise; `None`, with a warning, where a time is not finite.
    fn keys(&self, input: &View, object: &dyn Fn() -> String) -> Option<Vec<usize>> {
        let mut keys = Vec::with_capacity(input.count);
        let mut last = f32::NEG_INFINITY;
        for key in 0..input.count {
            let time = input.number(key, 0);
            if !time.is_finite() {
                self.context.warn(format!("{} has a key time that is not finite; left out", object()));
                return None;
            }
            if time > last {
                keys.push(key);
                last = time;
            }
        }
        if keys.len() < input.count {
            let dropped = input.count - keys.len();
            self.context.warn(format!(
                "{}: {dropped} of {} key times do not rise; those keys are left out",
                object(),
                input.count
            ));
        }
        Some(keys)
    }
}

/// Normalises the rotations that are values, not tangents, and says how many were off.
fn settle(values: &mut TrackValues, per_key: usize) -> Result<usize, &'static str> {
    match values {
        TrackValues::Translation(vectors) | TrackValues::Scale(vectors) => {
            if vectors.iter().all(|vector| vector.is_finite()) { Ok(0) } else { Err("has values that are not finite") }
        }
        TrackValues::Weights(weights) => {
            if weights.iter().all(|weight| weight.is_finite()) {
                Ok(0)
            } else {
                Err("has weights that are not finite")
            }
        }
        TrackValues::Rotation(rotations) => {
            let mut off = 0;
            for (index, rotation) in rotations.iter_mut().enumerate() {
                if !rotation.is_finite() {
                    return Err("has rotations that are not finite");
                }
                if index % per_key != per_key / 2 {
                    continue;
                }
                let length = rotation.length();
                if !(length.is_finite() && length > 1e-6) {
                    return Err("has a rotation of length 0");
                }
                off += usize::from((length - 1.0).abs() > 1e-2);
                *rotation /= length;
            }
            Ok(off)
        }
    }
}
