//! A character's body: its flesh, skin and pills, made from its asset at the scale of a spawn.

use std::sync::Arc;

use glam::{Affine3A, DMat3, DQuat, DVec3, Mat3A, Vec3};

use super::first_flesh::{FleshOptions, Limb, RestSkin, find_limbs, influences};
use super::fit::{Figure, FittedMuscle, FittedPart, Layout, fit};
use super::muscles::MuscleCourse;
use super::scaling::{FITTED_HEIGHT, acceleration_growth, growth_by_height};
use super::skin_binding::bind_skin;
use super::skin_tree::SkinTree;
use super::{BoneSpec, CharacterAsset, LocalTransform};
use crate::flesh::{BonePill, BuildError, Contraction, Flesh, LIVELY, MOST_FORCE, RodSpec, SCALE_RANGE};
use crate::skin::Skin;
use crate::{Material, ModuliOverrides, Pose};

/// Share of a fitted bundle's length along which authored muscles run inside it where it gives way to them.
const GIVES_WAY: f64 = 0.5;

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
    /// The limbs that were found.
    pub limbs: Vec<Limb>,
    /// What was fitted, in the order of the first chains of [`Body::flesh`].
    pub muscles: Vec<FittedMuscle>,
    /// The muscles: fitted ones, then authored ones in the asset's order. A fitted bundle gives way where authored
    /// muscles run inside it along at least half of its length.
    pub flesh: Arc<Flesh>,
    /// The skin.
    pub skin: Arc<Skin>,
    /// Colliders of the limbs.
    pub pills: Vec<Pill>,
    /// Triangles, counter-clockwise from outside also where the scale mirrors.
    pub triangles: Arc<Vec<[u32; 3]>>,
    height: f32,
    /// How many times as much as a character of the height [`FITTED_HEIGHT`] it accelerates, at least 1.
    acceleration_growth: f64,
}

impl Body {
    /// Fits flesh to a character at scale 1; bundles that `courses` fill give way to them.
    ///
    /// # Errors
    /// A [`BuildError`] where the material or a muscle are out of range.
    pub(super) fn fit(
        asset: &CharacterAsset,
        courses: &[MuscleCourse],
        options: &FleshOptions,
    ) -> Result<Self, BuildError> {
        let (joints, rest) = rest_at(asset, Vec3::ONE);
        let tree = SkinTree::new(asset, &joints, &rest, options);
        let (limbs, mut muscles) = fitted(asset, &tree, &joints, &rest, options);
        let mut bones: Vec<u32> = limbs.iter().map(|limb| limb.joint).collect();
        let of_muscles = muscles.iter().map(|muscle| (&muscle.holds, &muscle.carriers));
        for (holds, carriers) in of_muscles.chain(courses.iter().map(|course| (&course.holds, &course.carriers))) {
            for joint in holds.iter().map(|hold| hold.1).chain(carriers.bones.iter().copied()) {
                if !bones.contains(&joint) {
                    bones.push(joint);
                }
            }
        }
        let of_bones = if options.bones { asset.bones.as_slice() } else { &[] };
        for bone in of_bones {
            if !bones.contains(&bone.joint) {
                bones.push(bone.joint);
            }
        }
        let bone_poses = rest_bones(&bones, &joints);
        let pills = muscles.iter().flat_map(|muscle| pills(muscle, &bones, &bone_poses)).collect();
        let line =
            |course: &MuscleCourse| course.bundle.sections().0.iter().map(|node| node.place).collect::<Vec<DVec3>>();
        let authored: Vec<Vec<DVec3>> = courses.iter().map(line).collect();
        muscles.retain(|muscle| muscle.share_run_by(&authored) < GIVES_WAY);
        let height = height(&rest.positions);
        let growth = growth_by_height(height, &joints, FITTED_HEIGHT);
        let options = &stiffened_for(options, growth);
        let rods = Rods { asset, courses, options, growth, limbs: &limbs, muscles: &muscles, bones: &bones };
        let bone_pill = |spec: &BoneSpec| Some(spec.pill(bones.iter().position(|&bone| bone == spec.joint)?));
        let bone_pills: Vec<BonePill> = of_bones.iter().filter_map(bone_pill).collect();
        let flesh = Flesh::build(&rods.at(Vec3::ONE)?, &bone_poses)?.with_bone_pills(&bone_pills)?;
        let skin = bind_skin(asset, (&rest, &tree), (&flesh, &bones), courses, options);
        Ok(Self {
            scale: Vec3::ONE,
            bones,
            limbs,
            muscles,
            flesh: Arc::new(flesh),
            skin: Arc::new(skin),
            pills,
            triangles: Arc::new(asset.mesh.triangles.clone()),
            height,
            acceleration_growth: growth,
        })
    }

    /// This body, which is one at scale 1, at a scale along the model's axes: nothing is fitted anew. Where fibres run,
    /// what gives way to what, and what the skin follows are the same; stiffness and balance are the scale's own.
    ///
    /// # Errors
    /// A [`BuildError`] where the scale is out of range, or a muscle becomes so at it.
    pub(super) fn scaled(
        &self,
        asset: &CharacterAsset,
        courses: &[MuscleCourse],
        scale: Vec3,
        options: &FleshOptions,
    ) -> Result<Self, BuildError> {
        if !scale.abs().to_array().iter().all(|size| SCALE_RANGE.contains(size)) {
            return Err(BuildError::Scale { scale });
        }
        let axes = scale.as_dvec3();
        let growth = self.acceleration_growth * acceleration_growth(axes);
        let options = &stiffened_for(options, growth);
        let limbs: Vec<Limb> = self.limbs.iter().map(|limb| limb.scaled(axes)).collect();
        let muscles: Vec<FittedMuscle> = self.muscles.iter().map(|muscle| muscle.scaled(axes)).collect();
        let bones = self.bones.clone();
        let bone_poses = rest_bones(&bones, &scaled_joints(asset, scale, &asset.skeleton.rest_pose()));
        let pill = |pill: &Pill| pill.scaled(axes, &self.flesh.bones()[pill.bone], &bone_poses[pill.bone]);
        let pills = self.pills.iter().map(pill).collect();
        let rods = Rods { asset, courses, options, growth, limbs: &limbs, muscles: &muscles, bones: &bones };
        let bone_pill = |pill: &BonePill| pill.scaled(axes, &self.flesh.bones()[pill.bone], &bone_poses[pill.bone]);
        let bone_pills: Vec<BonePill> = self.flesh.bone_pills().iter().map(bone_pill).collect();
        let flesh = rods.follow(scale, &bone_poses, &self.flesh)?.with_bone_pills(&bone_pills)?;
        let skin = self.skin.scaled(scale, &flesh, options.reach);
        let mirrored = scale.x * scale.y * scale.z < 0.0;
        let triangles = if mirrored {
            Arc::new(self.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect())
        } else {
            self.triangles.clone()
        };
        let height = self.height * scale.y.abs();
        let (flesh, skin) = (Arc::new(flesh), Arc::new(skin));
        Ok(Self { scale, bones, limbs, muscles, flesh, skin, pills, triangles, height, acceleration_growth: growth })
    }

    /// Height of the skin at rest (m).
    pub fn height(&self) -> f32 {
        self.height
    }

    /// What the flesh of a fitted muscle, by its index, is made of, given the options it was fitted with.
    pub fn material(&self, options: &FleshOptions, muscle: usize) -> Material {
        let options = stiffened_for(options, self.acceleration_growth);
        options.stiffened(self.muscles[muscle].span(), &self.flesh.chains()[muscle].sections)
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

#[cfg(feature = "neural")]
impl Body {
    /// How some joints are turned in a pose relative to their parents, seen from the same at rest (R̄⁻¹R): what
    /// [`Physics::set_joint_rotations`](crate::Physics::set_joint_rotations) takes, of the joints of a network's
    /// [`Binding`](crate::neural::Binding). `held` as for [`Self::posed`]. What the skeleton does not have is not turned.
    pub fn turns(
        &self,
        asset: &CharacterAsset,
        pose: &[LocalTransform],
        held: &[(u32, Pose)],
        joints: &[u32],
    ) -> Vec<glam::Quat> {
        let mut model = Vec::new();
        if !held.is_empty() {
            model = scaled_joints(asset, self.scale, pose);
            hold_joints(asset, pose, held, &mut model);
        }
        let is_held = |joint: u32| held.iter().any(|(of, _)| *of == joint);
        let turn = |&index: &u32| {
            let Some(joint) = asset.skeleton.joints.get(index as usize) else { return glam::Quat::IDENTITY };
            let now = match joint.parent {
                // Its pose does not say how a body turns it.
                parent if is_held(index) || parent.is_some_and(is_held) => {
                    let above = parent.map_or(Pose::IDENTITY, |parent| rigid_part(&model[parent as usize]));
                    (above.rotation.conjugate() * rigid_part(&model[index as usize]).rotation).as_quat()
                }
                _ => pose.get(index as usize).unwrap_or(&joint.rest).rotation,
            };
            (joint.rest.rotation.conjugate() * now).normalize()
        };
        joints.iter().map(turn).collect()
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

/// Height of places (m).
pub(super) fn height(positions: &[Vec3]) -> f32 {
    let (low, high) = positions.iter().fold((f32::MAX, f32::MIN), |(low, high), p| (low.min(p.y), high.max(p.y)));
    (high - low).max(0.0)
}

/// The joints' matrices and the skin at rest, at a scale.
pub(super) fn rest_at(asset: &CharacterAsset, scale: Vec3) -> (Vec<Affine3A>, RestSkin) {
    let joints = scaled_joints(asset, scale, &asset.skeleton.rest_pose());
    let mut palette = Vec::new();
    asset.palette_matrices(&joints, &mut palette);
    let rest = rest_skin(asset, &palette);
    (joints, rest)
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
    let mut rest = RestSkin::default();
    for vertex in 0..mesh.positions.len() {
        let mut sum = Affine3A::from_mat3_translation(glam::Mat3::ZERO, Vec3::ZERO);
        for (entry, weight) in influences(asset, vertex) {
            sum.matrix3 += palette[entry].matrix3 * weight as f32;
            sum.translation += palette[entry].translation * weight as f32;
        }
        rest.linear.push(sum.matrix3.transpose().to_cols_array_2d());
        rest.positions.push(sum.transform_point3(mesh.positions[vertex]));
        rest.normals.push(model_normal(&sum.matrix3, mesh.normals[vertex]));
        rest.tangents.extend(mesh.tangents.get(vertex).map(|tangent| sum.matrix3 * tangent.truncate()));
    }
    rest
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

/// Finds limbs and fits bundles to them and the trunk, given the joints' matrices and the skin at rest.
fn fitted(
    asset: &CharacterAsset,
    tree: &SkinTree,
    joints: &[Affine3A],
    rest: &RestSkin,
    options: &FleshOptions,
) -> (Vec<Limb>, Vec<FittedMuscle>) {
    let mut limbs = find_limbs(asset, tree, joints, rest, options);
    let strongest: Vec<u32> = (0..asset.mesh.positions.len()).map(|vertex| tree.strongest(asset, vertex)).collect();
    let figure = Figure {
        positions: &rest.positions,
        triangles: &asset.mesh.triangles,
        strongest: &strongest,
        joints: &joints.iter().map(|joint| joint.translation.as_dvec3()).collect::<Vec<_>>(),
        tree,
    };
    let layout = Layout { fibres: options.fibres, segments: options.segments, fill: options.fill };
    let muscles = fit(&figure, &mut limbs, options.trunk, &layout);
    (limbs, muscles)
}

/// Options for flesh that accelerates `growth` times as much.
fn stiffened_for(options: &FleshOptions, growth: f64) -> FleshOptions {
    let mut options = *options;
    options.material.youngs_modulus *= growth.powi(2);
    options.material.peak_stress *= growth.powi(2);
    // What is stiffened so as not to sag goes with its length by itself.
    options.sag /= growth;
    options
}

/// What the rods of a body are made of.
struct Rods<'a> {
    asset: &'a CharacterAsset,
    courses: &'a [MuscleCourse],
    options: &'a FleshOptions,
    /// See [`Body::acceleration_growth`].
    growth: f64,
    limbs: &'a [Limb],
    muscles: &'a [FittedMuscle],
    /// The joints that they hang on.
    bones: &'a [u32],
}

impl Rods<'_> {
    /// The rods of fitted muscles, which are at the scale, and authored ones, which are at scale 1.
    fn at(&self, scale: Vec3) -> Result<Vec<RodSpec>, BuildError> {
        let bone = |joint: u32| self.bones.iter().position(|&bone| bone == joint).unwrap_or(0);
        let mut rods: Vec<RodSpec> =
            self.muscles.iter().map(|muscle| self.fitted(muscle, bone)).collect::<Result<_, _>>()?;
        rods.extend(self.courses.iter().map(|course| course.rod(scale, bone)));
        Ok(rods)
    }

    /// The flesh at a scale, given that at 1.
    fn follow(&self, scale: Vec3, bone_poses: &[Pose], first: &Flesh) -> Result<Flesh, BuildError> {
        let mut rods = self.at(scale)?;
        let alike = scale.x > 0.0 && scale == Vec3::splat(scale.x);
        if !alike {
            return Flesh::build(&rods, bone_poses);
        }
        // Single moduli that the options say do not go with the stiffness that a size needs.
        if self.options.material.overrides != ModuliOverrides::default() {
            return Flesh::build_as(first, &rods, bone_poses);
        }
        let balanced = |rod: &mut RodSpec| std::mem::take(&mut rod.rest_gravity) != DVec3::ZERO;
        let balanced: Vec<bool> = rods.iter_mut().map(balanced).collect();
        let mut flesh = Flesh::build_as(first, &rods, bone_poses)?;
        for (chain, _) in balanced.into_iter().enumerate().filter(|(_, balanced)| *balanced) {
            flesh.balance_as(first, chain, f64::from(scale.x));
        }
        Ok(flesh)
    }

    /// The rod of a fitted muscle; `bone_of` gives a joint's bone.
    fn fitted(&self, muscle: &FittedMuscle, bone_of: impl Fn(u32) -> usize) -> Result<RodSpec, BuildError> {
        let name = |joint: u32| self.asset.skeleton.joints[joint as usize].name.as_str();
        let title = match muscle.part {
            FittedPart::Limb(limb) => {
                format!("{} to {}", name(self.limbs[limb].joint), name(self.limbs[limb].end_joint))
            }
            FittedPart::Trunk => "trunk".to_string(),
        };
        let mut rod = RodSpec::from_bundle(title, &muscle.bundle)?;
        let sections: Vec<crate::Section> = rod.nodes.iter().map(|node| node.section).collect();
        rod.material = self.options.stiffened(muscle.span(), &sections);
        if self.options.balance {
            rod.rest_gravity = DVec3::new(0.0, -9.81, 0.0);
        }
        rod.contraction = contraction(&rod);
        // A trunk's middle is held by the spine.
        let bed = if muscle.part == FittedPart::Trunk { 0.0 } else { RodSpec::FASCIA };
        rod.fascia = bed * self.growth;
        rod.carriers = muscle.carriers.map(&bone_of);
        for &(node, joint, holds) in &muscle.holds {
            rod = rod.attach(node, bone_of(joint), holds);
        }
        Ok(rod)
    }
}

/// How much shorter full activation makes the middle of fitted flesh, at most.
const FLEXED: f64 = 0.3;

/// How much longer that makes its thinnest section, at most.
const DRAWN: f64 = 0.3;

/// How fitted flesh contracts: by no more stress than it bears, one force all along it, as fibres do that go from end to
/// end, and so by that of its thinnest section; and its middle shortens, so that it bulges between its ends.
fn contraction(rod: &RodSpec) -> Contraction {
    let segments = rod.nodes.len() - 1;
    let least_area = rod.nodes.iter().map(|node| node.section.area).fold(f64::INFINITY, f64::min);
    let stress = rod.material.peak_stress.min(LIVELY * rod.material.youngs_modulus);
    let swell = |segment: usize| ((segment as f64 + 0.5) / segments as f64 * std::f64::consts::PI).sin();
    // Between ends that stay, the tension T = E·Σwl/Σ(l/A) draws the thinnest section out by T/EA.
    let (mut shortened, mut gives) = (0.0, 0.0);
    for (segment, pair) in rod.nodes.windows(2).enumerate() {
        let length = pair[0].place.distance(pair[1].place);
        shortened += swell(segment) * length;
        gives += 2.0 * length / (pair[0].section.area + pair[1].section.area);
    }
    let shortening = FLEXED.min(DRAWN * least_area * gives / shortened);
    Contraction {
        peak_force: Some((stress * least_area).min(MOST_FORCE)),
        shortening: if rod.material.peak_stress > 0.0 { shortening } else { 0.0 },
        shortens: (0..segments).map(swell).collect(),
        // Thelen (2003).
        activation_time: 0.015,
        deactivation_time: 0.05,
        ..Contraction::default()
    }
}

/// Where bones are, given the joints' matrices.
fn rest_bones(bones: &[u32], joints: &[Affine3A]) -> Vec<Pose> {
    bones.iter().map(|&joint| rigid_part(&joints[joint as usize])).collect()
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
