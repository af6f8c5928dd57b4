//! Which samples are baked: each a function of the plan and its number alone.

use std::path::Path;

use glam::{Affine3A, DQuat, Mat3};

use super::error::{BakeError, BakeFault};
use super::hash::{Fnv, hash_bytes};
use super::manifest::{MOST_BYTES, PlanHead};
use super::ranges::{self, JointRange, PoseSource};
use super::sequence::{Random, Stream, every_other};
use super::{BakeOptions, Limits};
use crate::character::{Animation, Character, CharacterAsset, JointNames, LocalTransform};
use crate::flesh::Flesh;
use crate::layout::rest;
use crate::neural::MeshHash;
use crate::skin::SkinBlending;

/// The file that a character was read from, as the manifest says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// What errors call it.
    pub name: String,
    /// Of its bytes ([`hash_bytes`](super::hash_bytes())).
    pub hash: String,
}

impl Source {
    /// Of a file.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn of(path: &Path) -> Result<Self, BakeError> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| BakeFault::Io(error).of(&name))?;
        Ok(Self { hash: hash_bytes(&bytes), name })
    }
}

/// What one sample is.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedSample {
    /// Which pose it has: samples of one have the same number; 0 is rest.
    pub pose: u32,
    /// R̄ᵀR of each of the plan's joints.
    pub rotations: Vec<DQuat>,
    /// Of each of the plan's muscles.
    pub activations: Vec<f32>,
}

impl PlannedSample {
    /// What a network reads of it: 9 numbers a joint, as [`crate::neural`] says.
    pub fn inputs(&self) -> impl Iterator<Item = f32> {
        let rows = |turn: &DQuat| Mat3::from_quat(turn.as_quat()).transpose().to_cols_array();
        self.rotations.iter().flat_map(rows)
    }
}

/// Which samples are baked of a character.
pub struct Plan {
    pub(super) character: Character,
    pub(super) head: PlanHead,
    /// The hash of `head`.
    pub(super) hash: String,
    /// The plan's joints in the skeleton.
    joints: Vec<u32>,
    /// The plan's muscles among the flesh's chains.
    pub(super) chains: Vec<usize>,
    per_pose: u32,
    /// For each joint, whether poses may have it from an animation.
    animated: Vec<bool>,
    /// For each pose, its place in each joint's range …
    turns: Vec<Stream>,
    /// … and when in which animation it is, where it is near one.
    times: Option<Stream>,
    /// For each sample, how active each muscle is.
    levels: Vec<Stream>,
}

impl Plan {
    /// Plans samples of a character. `sources` say where poses come from; with none they come from its animations.
    ///
    /// # Errors
    /// [`BakeFault::Option`], [`BakeFault::Limits`] where they name no joint, [`BakeFault::Nothing`] where nothing turns or there is
    /// no skin, [`BakeFault::Blending`].
    pub fn new(
        character: &Character,
        source: &Source,
        sources: &[PoseSource],
        options: &BakeOptions,
    ) -> Result<Self, BakeError> {
        plan(character, source, sources, options).map_err(|fault| fault.of(&source.name))
    }

    /// What the manifest says of it.
    pub fn head(&self) -> &PlanHead {
        &self.head
    }

    /// Of all that samples follow from, 16 hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// How many shards there are.
    pub fn shard_count(&self) -> u32 {
        self.head.shard_count()
    }

    /// A sample.
    ///
    /// # Panics
    /// Where `number` is not below [`BakeOptions::samples`].
    pub fn sample(&self, number: u32) -> PlannedSample {
        let options = &self.head.options;
        assert!(number < options.samples, "there are {} samples", options.samples);
        let (pose, slot) = (number / self.per_pose, number % self.per_pose);
        let rotations = if pose == 0 { vec![DQuat::IDENTITY; self.joints.len()] } else { self.rotations(pose) };
        let activations = if slot == 0 { vec![0.0; self.chains.len()] } else { self.activations(pose, slot) };
        PlannedSample { pose, rotations, activations }
    }

    fn rotations(&self, pose: u32) -> Vec<DQuat> {
        let asset = self.character.asset();
        let near = self.times.as_ref().filter(|_| every_other(pose)).map(|times| frame(asset, times.number(pose)));
        let turn = |(k, range): (usize, &JointRange)| {
            let (joint, place) = (self.joints[k] as usize, self.turns[k].point(pose));
            match &near {
                Some(pose) if self.animated[k] => {
                    let rest = &asset.skeleton.joints[joint].rest;
                    (ranges::turned(rest, &pose[joint]) * range.around(self.head.options.around, place)).normalize()
                }
                _ => range.rotation(place),
            }
        };
        self.head.joints.iter().enumerate().map(turn).collect()
    }

    /// One muscle and several by turns.
    fn activations(&self, pose: u32, slot: u32) -> Vec<f32> {
        let (most, count) = (f64::from(self.head.options.most_activation), self.chains.len());
        let turn = pose * (self.per_pose - 1) + slot - 1;
        let level = |k: usize| self.levels[k].number(turn);
        let alone = (turn / 2) as usize % count.max(1);
        let active = |k: usize| match turn % 2 {
            // Never none at all.
            0 if k == alone => 1.0 - level(k),
            0 => 0.0,
            // Each with even odds.
            _ => (2.0 * level(k) - 1.0).max(0.0),
        };
        (0..count).map(|k| (most * active(k)) as f32).collect()
    }

    /// The pose of a sample, one transform a joint of the skeleton, so far on the way from rest to it, 0 to 1.
    pub(super) fn pose_of(&self, sample: &PlannedSample, way: f64) -> Vec<LocalTransform> {
        let mut pose = self.character.asset().skeleton.rest_pose();
        for (&joint, turn) in self.joints.iter().zip(&sample.rotations) {
            let turn = if turn.w < 0.0 { -*turn } else { *turn };
            let part = DQuat::from_scaled_axis(turn.to_scaled_axis() * way);
            let rotation = &mut pose[joint as usize].rotation;
            *rotation = (rotation.as_dquat() * part).normalize().as_quat();
        }
        pose
    }
}

/// The frame of an animation, at a place on all of them in a row, 0 to 1.
fn frame(asset: &CharacterAsset, place: f64) -> Vec<LocalTransform> {
    // What holds a single pose counts as well.
    let length = |animation: &Animation| f64::from(animation.duration.max(0.1));
    let mut left = place * asset.animations.iter().map(length).sum::<f64>();
    let mut pose = asset.skeleton.rest_pose();
    for (index, animation) in asset.animations.iter().enumerate() {
        if left < length(animation) || index + 1 == asset.animations.len() {
            animation.sample(left as f32, &mut pose);
            break;
        }
        left -= length(animation);
    }
    pose
}

fn plan(
    character: &Character,
    source: &Source,
    sources: &[PoseSource],
    options: &BakeOptions,
) -> Result<Plan, BakeFault> {
    options.check()?;
    let (asset, body) = (character.asset(), character.body());
    let names = JointNames::new(&asset.skeleton);
    let limits = sources.iter().filter_map(|source| match source {
        PoseSource::Animations => None,
        PoseSource::Limits(limits) => Some(limits),
    });
    let limited = limited(&names, limits)?;
    let animations = sources.is_empty() || sources.contains(&PoseSource::Animations);
    if sources.contains(&PoseSource::Animations) && asset.animations.is_empty() {
        return Err(BakeFault::Nothing(
            "it has no animations to take poses from; give limits (--poses LIMITS.json)".into(),
        ));
    }
    if body.skin.blending != SkinBlending::Linear {
        return Err(BakeFault::Blending);
    }
    let size = extent(&body.rigid_vertices(asset, &asset.skeleton.rest_pose()));
    if size <= 0.0 || !size.is_finite() {
        return Err(BakeFault::Nothing("it has no skin; a character without a mesh needs no network".into()));
    }

    let reached = ranges::reached(asset, options.beyond);
    let carrying = carrying(character);
    let (mut joints, mut head_joints, mut animated) = (Vec::new(), Vec::new(), Vec::new());
    for joint in 0..asset.skeleton.joints.len() {
        let limit = limited.iter().find(|(limited, _)| *limited as usize == joint);
        let range = match limit {
            Some((_, range)) => (*range).clone(),
            None if animations && carrying[joint] => {
                let [low, high] = reached[joint];
                JointRange { joint: String::new(), turns: ranges::Turns::Vector, low, high }
            }
            None => continue,
        };
        let Some(name) = names.reference(joint as u32).filter(|_| range.is_any()) else { continue };
        joints.push(joint as u32);
        animated.push(limit.is_none());
        head_joints.push(JointRange { joint: name, ..range });
    }
    if joints.is_empty() {
        let fix = "give limits (--poses LIMITS.json), or a file with animations that turn its joints";
        return Err(BakeFault::Nothing(format!("nothing says how its joints turn; {fix}")));
    }
    let chains = pulling(&body.flesh);
    let mesh = MeshHash::of(&asset.mesh.positions, &asset.mesh.triangles).digits();
    let [topology, rest_shape] = mesh;
    let head = PlanHead {
        sinew: env!("CARGO_PKG_VERSION").into(),
        character: asset.name.clone(),
        file_hash: source.hash.clone(),
        character_hash: character_hash(character).digits(),
        topology,
        rest_shape,
        vertices: asset.mesh.positions.len() as u64,
        size,
        joints: head_joints,
        muscles: chains.iter().map(|&chain| body.flesh.chains()[chain].name.clone()).collect(),
        animations: if animations { asset.animations.len() as u32 } else { 0 },
        options: options.clone(),
    };
    let bytes = head.shard_bytes()?;
    if bytes > MOST_BYTES {
        return Err(BakeFault::Option {
            option: "shard_samples",
            given: options.shard_samples.to_string(),
            allowed: format!("fewer, so that a shard of {bytes} bytes has at most {MOST_BYTES}"),
        });
    }
    let hash = head.hash();

    // Streams follow the seed and the joints' names, not how many there are: a joint more changes no other's poses.
    let stream = |kind: &str, name: &str, count: u32| {
        let number = Fnv::new().add(kind.as_bytes()).add(name.as_bytes()).value();
        Stream::new(Random::new(options.seed).next(), number, count)
    };
    // Without muscles there is nothing that samples of one pose could differ in.
    let per_pose = if chains.is_empty() { 1 } else { options.per_pose };
    let poses = options.samples.div_ceil(per_pose);
    let near = animations && animated.contains(&true);
    Ok(Plan {
        turns: head.joints.iter().map(|range| stream("joint", &range.joint, poses)).collect(),
        times: near.then(|| stream("time", "", poses)),
        levels: head.muscles.iter().map(|name| stream("muscle", name, options.samples)).collect(),
        character: character.clone(),
        head,
        hash,
        joints,
        chains,
        per_pose,
        animated,
    })
}

/// Limits by joint.
fn limited<'a>(
    names: &JointNames<'_>,
    limits: impl Iterator<Item = &'a Limits>,
) -> Result<Vec<(u32, &'a JointRange)>, BakeFault> {
    let mut found: Vec<(u32, &JointRange)> = Vec::new();
    for range in limits.flat_map(|limits| &limits.0) {
        let joint = names.find(&range.joint, "", "").map_err(|error| {
            let candidates = match &error {
                crate::character::MuscleError::AmbiguousJoint { candidates, .. } => {
                    format!("there are several: {}", candidates.join(", "))
                }
                crate::character::MuscleError::UnknownJoint { hint, .. } => format!("there is none{hint}"),
                error => error.to_string(),
            };
            BakeFault::Limits(format!("limits of joint {:?}: {candidates}", range.joint))
        })?;
        if found.iter().any(|(other, _)| *other == joint) {
            return Err(BakeFault::Limits(format!(
                "limits of joint {:?} are there twice; give them once",
                range.joint
            )));
        }
        found.push((joint, range));
    }
    Ok(found)
}

/// For each joint, whether skin or flesh goes with it.
fn carrying(character: &Character) -> Vec<bool> {
    let (asset, body) = (character.asset(), character.body());
    let mut carrying = vec![false; asset.skeleton.joints.len()];
    for vertex in &body.skin.vertices {
        let entries = vertex.joints.iter().flat_map(|pair| [pair & 0xffff, pair >> 16]);
        for (entry, _) in entries.zip(vertex.weights).filter(|(_, weight)| *weight > 0.0) {
            if let Some(entry) = asset.palette.get(entry as usize) {
                carrying[entry.joint as usize] = true;
            }
        }
    }
    body.bones.iter().for_each(|&bone| carrying[bone as usize] = true);
    // Parents come before children.
    for joint in (0..carrying.len()).rev() {
        if let (true, Some(parent)) = (carrying[joint], asset.skeleton.joints[joint].parent) {
            carrying[parent as usize] = true;
        }
    }
    carrying
}

/// The chains that pull when they are active, of several of one name the first.
fn pulling(flesh: &Flesh) -> Vec<usize> {
    let chains = flesh.chains();
    let pulls = |chain: &usize| {
        let info = &chains[*chain];
        let group = &flesh.groups()[info.group];
        let first = chains.iter().position(|other| other.name == info.name) == Some(*chain);
        first && (0..info.node_count()).any(|node| group.row(node)[rest::ACTIVE][info.lane] > 0.0)
    };
    (0..chains.len()).filter(pulls).collect()
}

/// The longest side of the box around places (m).
fn extent(places: &[glam::Vec3]) -> f64 {
    let low = places.iter().copied().fold(glam::Vec3::INFINITY, glam::Vec3::min);
    let high = places.iter().copied().fold(glam::Vec3::NEG_INFINITY, glam::Vec3::max);
    f64::from((high - low).max_element())
}

/// Of all of a character that samples follow from, however it was loaded.
fn character_hash(character: &Character) -> Fnv {
    let (asset, body) = (character.asset(), character.body());
    let (flesh, skin) = (&body.flesh, &body.skin);
    let mut hash = Fnv::new();
    for joint in &asset.skeleton.joints {
        let LocalTransform { translation, rotation, scale } = joint.rest;
        hash = hash.add(joint.name.as_bytes()).add(&joint.parent.unwrap_or(u32::MAX).to_le_bytes());
        hash = hash
            .add(bytemuck::bytes_of(&translation))
            .add(bytemuck::bytes_of(&rotation))
            .add(bytemuck::bytes_of(&scale));
    }
    for entry in &asset.palette {
        let inverse_bind: [f32; 12] = Affine3A::to_cols_array(&entry.inverse_bind);
        hash = hash.add(&entry.joint.to_le_bytes()).add(bytemuck::bytes_of(&inverse_bind));
    }
    for animation in &asset.animations {
        for frame in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let mut pose = asset.skeleton.rest_pose();
            animation.sample(animation.duration * frame, &mut pose);
            hash = pose.iter().fold(hash, |hash, joint| hash.add(bytemuck::bytes_of(&joint.rotation)));
        }
    }
    for chain in flesh.chains() {
        hash = hash.add(chain.name.as_bytes()).add(bytemuck::bytes_of(&chain.activation_times));
    }
    for group in flesh.groups() {
        hash = hash.add(bytemuck::cast_slice(&group.rows));
    }
    for pill in flesh.bone_pills() {
        let ends: [[f32; 3]; 2] = pill.ends.map(|end| end.to_array());
        hash =
            hash.add(bytemuck::bytes_of(&ends)).add(&pill.radius.to_le_bytes()).add(&(pill.bone as u64).to_le_bytes());
    }
    hash = hash.add(bytemuck::cast_slice(&body.bones)).add(bytemuck::cast_slice(&skin.vertices));
    hash.add(bytemuck::cast_slice(&skin.weights)).add(bytemuck::cast_slice(&skin.sections))
}
