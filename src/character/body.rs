//! A character's body: its flesh, skin and pills, made from its asset at the scale of a spawn.

use std::sync::Arc;

use glam::{Affine3A, DMat3, DQuat, DVec3, Mat3A, Vec3};

use super::first_flesh::{FleshOptions, Limb, RestSkin, find_limbs, influences, owners};
use super::fit::{Figure, FittedMuscle, FittedPart, Layout, fit};
use super::skin_weights::{Pull, PullLimit, SkinFairing, section_pills};
use super::{CharacterAsset, LocalTransform, MAX_INFLUENCES};
use crate::Pose;
use crate::flesh::{BuildError, Flesh, RodSpec, SCALE_RANGE};
use crate::skin::{Skin, SkinSection, SkinVertex};

/// A pill: the hull of two spheres, carried by a bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pill {
    /// Index into [`Body::bones`].
    pub bone: usize,
    /// Centres of the spheres (m) in the bone's frame.
    pub ends: [Vec3; 2],
    /// Their radii (m).
    pub radii: [f32; 2],
}

/// Flesh, skin and pills of a character at one scale; immutable and shared by all that are spawned at it.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Scale along the model's axes, baked into everything.
    pub scale: Vec3,
    /// The joints that flesh and pills hang on; a bone is the rigid part of its joint's motion.
    pub bones: Vec<u32>,
    /// The limbs that have flesh, one rod each, in the rods' order; a trunk's rod comes after them.
    pub limbs: Vec<Limb>,
    /// What was fitted, in the rods' order.
    pub muscles: Vec<FittedMuscle>,
    /// The rods.
    pub flesh: Arc<Flesh>,
    /// The skin.
    pub skin: Arc<Skin>,
    /// Colliders of the limbs.
    pub pills: Vec<Pill>,
    /// Triangles, counter-clockwise from outside also where the scale mirrors.
    pub triangles: Arc<Vec<[u32; 3]>>,
    height: f32,
}

impl Body {
    /// Fits flesh to a character scaled along the model's axes.
    ///
    /// # Errors
    /// A [`BuildError`] where the material or the scale are out of range.
    pub fn build(asset: &CharacterAsset, scale: Vec3, options: &FleshOptions) -> Result<Self, BuildError> {
        if !scale.abs().to_array().iter().all(|size| SCALE_RANGE.contains(size)) {
            return Err(BuildError::Scale { scale });
        }
        let joints = scaled_joints(asset, scale, &asset.skeleton.rest_pose());
        let mut palette = Vec::new();
        asset.palette_matrices(&joints, &mut palette);
        let rest = rest_skin(asset, &palette);
        let (limbs, muscles) = fitted(asset, scale, options);
        let mirrored = scale.x * scale.y * scale.z < 0.0;
        let triangles: Vec<[u32; 3]> =
            asset.mesh.triangles.iter().map(|&[a, b, c]| if mirrored { [a, c, b] } else { [a, b, c] }).collect();

        let mut bones: Vec<u32> = limbs.iter().map(|limb| limb.joint).collect();
        for &(_, joint, _) in muscles.iter().flat_map(|muscle| &muscle.holds) {
            if !bones.contains(&joint) {
                bones.push(joint);
            }
        }
        let bone_poses: Vec<Pose> = bones.iter().map(|&joint| rigid_part(&joints[joint as usize])).collect();
        let rods: Vec<RodSpec> =
            muscles.iter().map(|muscle| rod(asset, muscle, &limbs, &bones, options)).collect::<Result<_, _>>()?;
        let flesh = Flesh::build(&rods, &bone_poses)?;
        let skin = bind_skin(asset, &rest, &muscles, &flesh, options);
        let pills = muscles.iter().flat_map(|muscle| pills(muscle, &bones, &bone_poses)).collect();
        Ok(Self {
            scale,
            bones,
            limbs,
            muscles,
            flesh: Arc::new(flesh),
            skin: Arc::new(skin),
            pills,
            triangles: Arc::new(triangles),
            height: height(&rest.positions),
        })
    }

    /// Height of the skin at rest (m).
    pub fn height(&self) -> f32 {
        self.height
    }

    /// The skin's places (m) in a pose in model space, by linear blend skinning alone.
    pub fn rigid_vertices(&self, asset: &CharacterAsset, pose: &[LocalTransform]) -> Vec<Vec3> {
        let mut palette = Vec::new();
        asset.palette_matrices(&scaled_joints(asset, self.scale, pose), &mut palette);
        rest_skin(asset, &palette).positions
    }

    /// Where everything is in a pose (one transform a joint): the bones in the world, given the root's pose, and
    /// the skin's palette in model space. `held` are joints whose rigid part is given, in model space, instead of
    /// following the pose; what hangs on them goes along.
    pub fn posed(
        &self,
        asset: &CharacterAsset,
        pose: &[LocalTransform],
        root: &Pose,
        held: &[(u32, Pose)],
    ) -> (Vec<Pose>, Vec<Affine3A>) {
        let mut joints = scaled_joints(asset, self.scale, pose);
        if !held.is_empty() {
            hold_joints(asset, pose, held, &mut joints);
        }
        let mut palette = Vec::new();
        asset.palette_matrices(&joints, &mut palette);
        let bones = self.bones.iter().map(|&joint| *root * rigid_part(&joints[joint as usize])).collect();
        (bones, palette)
    }
}

/// Puts joints where rigid poses (model space) have them, keeping their scale, and takes their descendants along.
fn hold_joints(asset: &CharacterAsset, pose: &[LocalTransform], held: &[(u32, Pose)], joints: &mut [Affine3A]) {
    for (index, joint) in asset.skeleton.joints.iter().enumerate() {
        if let Some((_, to)) = held.iter().find(|(joint, _)| *joint as usize == index) {
            let moved = *to * rigid_part(&joints[index]).inverse();
            let moved = Affine3A::from_rotation_translation(moved.rotation.as_quat(), moved.translation.as_vec3());
            joints[index] = moved * joints[index];
        } else if let Some(parent) = joint.parent {
            let local = pose.get(index).copied().unwrap_or(joint.rest);
            joints[index] = joints[parent as usize] * local.to_affine();
        }
    }
}

fn height(positions: &[Vec3]) -> f32 {
    let (low, high) = positions.iter().fold((f32::MAX, f32::MIN), |(low, high), p| (low.min(p.y), high.max(p.y)));
    (high - low).max(0.0)
}

fn scaled_joints(asset: &CharacterAsset, scale: Vec3, pose: &[LocalTransform]) -> Vec<Affine3A> {
    let mut joints = Vec::new();
    asset.skeleton.model_matrices(pose, &mut joints);
    if scale != Vec3::ONE {
        let scale = Affine3A::from_scale(scale);
        joints.iter_mut().for_each(|joint| *joint = scale * *joint);
    }
    joints
}

/// The rigid part of a joint's matrix: its x axis, its y axis made orthogonal, and their cross product, so that
/// scale, shear and mirroring leave a proper rotation that moves steadily. An axis without length gives identity.
pub fn rigid_part(joint: &Affine3A) -> Pose {
    let x = joint.matrix3.x_axis.as_dvec3();
    let y = joint.matrix3.y_axis.as_dvec3();
    let translation = joint.translation.as_dvec3();
    let x = x.normalize_or_zero();
    let y = (y - x * x.dot(y)).normalize_or_zero();
    if x == DVec3::ZERO || y == DVec3::ZERO {
        return Pose::from_translation(translation);
    }
    let rotation = DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize();
    Pose::new(translation, rotation)
}

fn rest_skin(asset: &CharacterAsset, palette: &[Affine3A]) -> RestSkin {
    let mesh = &asset.mesh;
    let (positions, normals) = (0..mesh.positions.len())
        .map(|vertex| {
            let mut sum = Affine3A::from_mat3_translation(glam::Mat3::ZERO, Vec3::ZERO);
            for (entry, weight) in influences(asset, vertex) {
                sum.matrix3 += palette[entry].matrix3 * weight as f32;
                sum.translation += palette[entry].translation * weight as f32;
            }
            (sum.transform_point3(mesh.positions[vertex]), model_normal(&sum.matrix3, mesh.normals[vertex]))
        })
        .unzip();
    RestSkin { positions, normals }
}

fn model_normal(matrix: &Mat3A, normal: Vec3) -> Vec3 {
    let cofactors = Mat3A::from_cols(
        matrix.y_axis.cross(matrix.z_axis),
        matrix.z_axis.cross(matrix.x_axis),
        matrix.x_axis.cross(matrix.y_axis),
    );
    let side = if matrix.determinant() < 0.0 { -1.0 } else { 1.0 };
    (cofactors * normal * side).normalize_or(normal)
}

/// Finds limbs and fits bundles to them and the trunk. Where the scale is the same along all axes, in size, it is
/// applied to what was fitted without it, so that larger, smaller and mirrored characters have the same flesh.
fn fitted(asset: &CharacterAsset, scale: Vec3, options: &FleshOptions) -> (Vec<Limb>, Vec<FittedMuscle>) {
    let size = scale.abs();
    let same = size.max_element() - size.min_element() <= 1.0e-6 * size.max_element();
    let fit_scale = if same { Vec3::ONE } else { size };
    let joints = scaled_joints(asset, fit_scale, &asset.skeleton.rest_pose());
    let mut palette = Vec::new();
    asset.palette_matrices(&joints, &mut palette);
    let rest = rest_skin(asset, &palette);
    let mut limbs = find_limbs(asset, &joints, &rest, options);
    let owners = owners(asset);
    let strongest: Vec<u32> = (0..asset.mesh.positions.len())
        .map(|vertex| {
            let by_weight = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0));
            let entry = influences(asset, vertex).max_by(by_weight).map_or(0, |(entry, _)| entry);
            asset.palette.get(entry).map_or(0, |entry| owners[entry.joint as usize])
        })
        .collect();
    let figure = Figure {
        positions: &rest.positions,
        triangles: &asset.mesh.triangles,
        strongest: &strongest,
        joints: &joints.iter().map(|joint| joint.translation.as_dvec3()).collect::<Vec<_>>(),
        parents: &asset.skeleton.joints.iter().map(|joint| joint.parent).collect::<Vec<_>>(),
    };
    let layout = Layout { fibres: options.fibres, segments: options.segments, fill: options.fill };
    let mut muscles = fit(&figure, &mut limbs, options.trunk, &layout);
    let by = (scale / fit_scale).as_dvec3();
    let larger = (by.x * by.y * by.z).abs().cbrt();
    for limb in &mut limbs {
        limb.line.iter_mut().for_each(|place| *place *= by);
        limb.radii.iter_mut().for_each(|radius| *radius *= larger);
    }
    for muscle in &mut muscles {
        muscle.path.iter_mut().for_each(|place| *place *= by);
        muscle.radii.iter_mut().for_each(|radius| *radius *= larger);
        muscle.skin_volume *= larger.powi(3);
        for disc in muscle.bundle.fibres.iter_mut().flatten() {
            disc.place *= by;
            disc.radius *= larger;
        }
    }
    (limbs, muscles)
}

/// The rod of a fitted muscle.
fn rod(
    asset: &CharacterAsset,
    muscle: &FittedMuscle,
    limbs: &[Limb],
    bones: &[u32],
    options: &FleshOptions,
) -> Result<RodSpec, BuildError> {
    let name = |joint: u32| asset.skeleton.joints[joint as usize].name.as_str();
    let title = match muscle.part {
        FittedPart::Limb(limb) => format!("{} to {}", name(limbs[limb].joint), name(limbs[limb].end_joint)),
        FittedPart::Trunk => "trunk".to_string(),
    };
    let mut rod = RodSpec::from_bundle(title, &muscle.bundle)?;
    let sections: Vec<crate::Section> = rod.nodes.iter().map(|node| node.section).collect();
    rod.material = options.stiffened(muscle.span(), &sections);
    if options.balance {
        rod.rest_gravity = DVec3::new(0.0, -9.81, 0.0);
    }
    for &(node, joint, holds) in &muscle.holds {
        let bone = bones.iter().position(|&bone| bone == joint).unwrap_or(0);
        rod = rod.attach(node, bone, holds);
    }
    Ok(rod)
}

/// A pill for each stretch of a muscle's path.
fn pills(muscle: &FittedMuscle, bones: &[u32], bone_poses: &[Pose]) -> Vec<Pill> {
    let length: f64 = muscle.path.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
    let mut before = 0.0;
    let mut pills = Vec::new();
    for (pair, joint) in muscle.path.windows(2).zip(&muscle.joints) {
        let after = before + pair[0].distance(pair[1]);
        if let Some(bone) = bones.iter().position(|bone| bone == joint) {
            let to_bone = bone_poses[bone].inverse();
            let ends = [pair[0], pair[1]].map(|end| to_bone.transform_point(end).as_vec3());
            let radii = [before, after].map(|along| muscle.radius_at(along / length) as f32);
            pills.push(Pill { bone, ends, radii });
        }
        before = after;
    }
    pills
}

/// 1 up to `from`, 0 beyond `to`, smooth between.
fn fade(value: f64, [from, to]: [f64; 2]) -> f64 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    1.0 - t * t * (3.0 - 2.0 * t)
}

/// How much of a vertex each muscle may have: as much as the muscle's joints pull on it, fading with its distance,
/// so that skin near another bone, and skin far from the flesh, follows bones.
fn pull_limit(
    asset: &CharacterAsset,
    (rest, owners): (&RestSkin, &[u32]),
    vertex: usize,
    muscles: &[FittedMuscle],
    options: &FleshOptions,
) -> PullLimit {
    let chains = muscles.iter().enumerate().filter_map(|(chain, muscle)| {
        let pull: f64 = influences(asset, vertex)
            .filter(|&(entry, _)| muscle.joints.contains(&owners[asset.palette[entry].joint as usize]))
            .map(|(_, weight)| weight)
            .sum();
        let (along, distance) = muscle.along(rest.positions[vertex].as_dvec3());
        let beyond = (along - 1.0).max(-along).max(0.0);
        let most = pull * fade(distance / muscle.radius_at(along), options.fade) * fade(beyond, [0.0, 0.2]);
        (most >= 1.0e-3).then_some((chain as u32, most))
    });
    PullLimit { total: 1.0, chains: chains.collect() }
}

fn bind_skin(
    asset: &CharacterAsset,
    rest: &RestSkin,
    muscles: &[FittedMuscle],
    flesh: &Flesh,
    options: &FleshOptions,
) -> Skin {
    let mesh = &asset.mesh;
    let owners = owners(asset);
    let limits: Vec<PullLimit> =
        (0..mesh.positions.len()).map(|vertex| pull_limit(asset, (rest, &owners), vertex, muscles, options)).collect();
    let fairing = SkinFairing {
        places: &rest.positions,
        triangles: &mesh.triangles,
        pills: &section_pills(flesh),
        pull: Pull::Limited(&limits),
        fair: true,
    };
    let mut skin = Skin { sections: SkinSection::all(flesh), palette_len: asset.palette.len(), ..Skin::default() };
    for (vertex, weights) in fairing.weights().into_iter().enumerate() {
        let mut joints = [0_u32; MAX_INFLUENCES / 2];
        for (k, &joint) in mesh.influence_joints[vertex].iter().enumerate() {
            joints[k / 2] |= u32::from(joint) << (16 * (k % 2));
        }
        skin.vertices.push(SkinVertex {
            position: mesh.positions[vertex].to_array(),
            first_section: skin.weights.len() as u32,
            normal: mesh.normals[vertex].to_array(),
            section_count: weights.len() as u32,
            rest_position: rest.positions[vertex].to_array(),
            rest_normal: rest.normals[vertex].to_array(),
            joints,
            weights: mesh.influence_weights[vertex],
            ..SkinVertex::default()
        });
        skin.weights.extend(weights);
    }
    skin.drop_idle_sections();
    for section in &mut skin.sections {
        let radius = flesh.chains()[section.chain as usize].sections[section.node as usize].radius();
        section.reach = (options.reach * radius) as f32;
    }
    skin
}
