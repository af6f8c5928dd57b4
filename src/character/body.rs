//! A character's body: its flesh, skin and pills, made from its asset at the scale of a spawn.

use std::sync::Arc;

use glam::{Affine3A, DMat3, DQuat, DVec3, Mat3A, Vec3};

use super::first_flesh::{FleshOptions, Limb, RestSkin, find_limbs, influences, owners};
use super::skin_weights::{Pull, PullLimit, SkinFairing, section_pills};
use super::{CharacterAsset, LocalTransform, MAX_INFLUENCES};
use crate::Pose;
use crate::flesh::{BuildError, Flesh, Holds, RodNode, RodSpec, SCALE_RANGE};
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
    /// The limbs that have flesh, one rod each, in the rods' order.
    pub limbs: Vec<Limb>,
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
        let limbs = find_limbs(asset, &joints, &rest, options);

        let bones: Vec<u32> = limbs.iter().map(|limb| limb.joint).collect();
        let bone_poses: Vec<Pose> = bones.iter().map(|&joint| rigid_part(&joints[joint as usize])).collect();
        let rods: Vec<RodSpec> =
            limbs.iter().enumerate().map(|(bone, limb)| rod_along(asset, limb, bone, options)).collect();
        let flesh = Flesh::build(&rods, &bone_poses)?;
        let skin = bind_skin(asset, &rest, &limbs, &flesh, options);
        let pills = limbs.iter().enumerate().map(|(bone, limb)| pill(limb, bone, &bone_poses[bone])).collect();
        let mirrored = scale.x * scale.y * scale.z < 0.0;
        let triangles =
            asset.mesh.triangles.iter().map(|&[a, b, c]| if mirrored { [a, c, b] } else { [a, b, c] }).collect();
        Ok(Self {
            scale,
            bones,
            limbs,
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

fn rod_along(asset: &CharacterAsset, limb: &Limb, bone: usize, options: &FleshOptions) -> RodSpec {
    let [from, to] = limb.line;
    let name = |joint: u32| asset.skeleton.joints[joint as usize].name.as_str();
    let nodes = (0..=options.segments)
        .map(|j| {
            let along = j as f64 / options.segments as f64;
            RodNode::disc(from.lerp(to, along), options.fill * limb.radius_at(along))
        })
        .collect();
    RodSpec {
        name: format!("{} to {}", name(limb.joint), name(limb.end_joint)),
        nodes,
        material: options.material_for(limb),
        ..Default::default()
    }
    .attach(0, bone, Holds::CLAMP)
    .attach(options.segments, bone, Holds::CLAMP)
}

fn pill(limb: &Limb, bone: usize, bone_pose: &Pose) -> Pill {
    let to_bone = bone_pose.inverse();
    let radius = |along: f64| limb.radius_at(along) as f32;
    Pill { bone, ends: limb.line.map(|end| to_bone.transform_point(end).as_vec3()), radii: [radius(0.0), radius(1.0)] }
}

/// 1 up to `from`, 0 beyond `to`, smooth between.
fn fade(value: f64, [from, to]: [f64; 2]) -> f64 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    1.0 - t * t * (3.0 - 2.0 * t)
}

/// How much of a vertex each limb's flesh may have: as much as the limb's joint pulls on it, fading with its distance,
/// so that skin near another bone, and skin far from the flesh, follows bones.
fn pull_limit(
    asset: &CharacterAsset,
    (rest, owners): (&RestSkin, &[u32]),
    vertex: usize,
    limbs: &[Limb],
    options: &FleshOptions,
) -> PullLimit {
    let chains = limbs.iter().enumerate().filter_map(|(chain, limb)| {
        let pull: f64 = influences(asset, vertex)
            .filter(|&(entry, _)| owners[asset.palette[entry].joint as usize] == limb.joint)
            .map(|(_, weight)| weight)
            .sum();
        let axis = (limb.line[1] - limb.line[0]) / limb.length();
        let offset = rest.positions[vertex].as_dvec3() - limb.line[0];
        let along = offset.dot(axis) / limb.length();
        let distance = (offset - axis * offset.dot(axis)).length();
        let beyond = (along - 1.0).max(-along).max(0.0);
        let most = pull * fade(distance / limb.radius_at(along), options.fade) * fade(beyond, [0.0, 0.2]);
        (most >= 1.0e-3).then_some((chain as u32, most))
    });
    PullLimit { total: 1.0, chains: chains.collect() }
}

fn bind_skin(asset: &CharacterAsset, rest: &RestSkin, limbs: &[Limb], flesh: &Flesh, options: &FleshOptions) -> Skin {
    let mesh = &asset.mesh;
    let owners = owners(asset);
    let limits: Vec<PullLimit> =
        (0..mesh.positions.len()).map(|vertex| pull_limit(asset, (rest, &owners), vertex, limbs, options)).collect();
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
