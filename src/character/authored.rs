//! Authored muscles as they were laid: what their author is told of them, and whether they are where they can be.

use glam::{Affine3A, DVec3, Vec3};

use super::bones::Bones;
use super::first_flesh::{FleshOptions, Limb, RestSkin, find_limbs};
use super::muscles::{MuscleCourse, shorten};
use super::skin_tree::SkinTree;
use super::{Character, CharacterAsset, MuscleShape, MuscleSpec, rigid_part};

/// Share of the character's size that a muscle's end may be from its bone.
const FAR: f64 = 0.25;

/// A muscle of the author's, at scale 1.
#[derive(Clone, Debug, PartialEq)]
pub struct AuthoredMuscle {
    /// Its name.
    pub name: String,
    /// Length at rest (m), through the middle of its sections.
    pub length: f64,
    /// Radius (m) of the disc with the area of its largest section.
    pub radius: f64,
    /// Volume (m³).
    pub volume: f64,
    /// Tension at full activation (N).
    pub peak_force: f64,
    /// Its origin and its insertion.
    pub ends: [AuthoredEnd; 2],
}

/// An end of a muscle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AuthoredEnd {
    /// Index of the joint that holds it.
    pub joint: u32,
    /// Where it is (m) along the joint's axes at rest, from the joint.
    pub place: DVec3,
    /// Where it is (m) in model space at rest.
    pub model_place: DVec3,
    /// How far it is from the joint's bones (m): the lines to the joints beyond.
    pub from_bone: f64,
}

impl Character {
    /// The authored muscles, in the order of [`CharacterAsset::muscles`].
    pub fn authored_muscles(&self) -> Vec<AuthoredMuscle> {
        let asset = self.asset();
        let mut joints = Vec::new();
        asset.skeleton.model_matrices(&asset.skeleton.rest_pose(), &mut joints);
        let bones = Bones::new(asset);
        let chains = self.body().flesh.chains();
        let authored = &chains[chains.len() - self.courses().len()..];
        let muscle = |(course, chain): (&MuscleCourse, &crate::flesh::Chain)| {
            let rod = course.rod(Vec3::ONE, |_| 0);
            let largest = chain.sections.iter().map(|section| section.area).fold(0.0, f64::max);
            AuthoredMuscle {
                name: course.spec.name.clone(),
                length: length(&chain.rest.iter().map(|node| node.translation).collect::<Vec<_>>()),
                radius: (largest / std::f64::consts::PI).sqrt(),
                volume: chain.rest_volume,
                peak_force: rod.contraction.peak_force.unwrap_or(rod.material.peak_stress * largest),
                ends: course.ends().map(|(joint, model_place)| AuthoredEnd {
                    joint,
                    place: rigid_part(&joints[joint as usize]).inverse().transform_point(model_place),
                    model_place,
                    from_bone: bones.distance(&joints, joint, model_place),
                }),
            }
        };
        self.courses().iter().zip(authored).map(muscle).collect()
    }
}

/// The longest side of a box around places (m).
fn longest_side(places: impl Iterator<Item = Vec3>) -> f64 {
    let all = places.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
    if all.0.x <= all.1.x { f64::from((all.1 - all.0).max_element()) } else { 0.0 }
}

fn length(places: &[DVec3]) -> f64 {
    places.windows(2).map(|pair| pair[0].distance(pair[1])).sum()
}

impl MuscleCourse {
    /// The joints that hold its ends, and where those are (m) in model space.
    fn ends(&self) -> [(u32, DVec3); 2] {
        let (nodes, _) = self.bundle.sections();
        let place = |at: usize| nodes.get(at).map_or(DVec3::ZERO, |node| node.place);
        [(self.spec.origin.joint, place(0)), (self.spec.insertion.joint, place(nodes.len().saturating_sub(1)))]
    }

    /// Radius (m) of the disc with the area of its largest section.
    fn radius(&self) -> f64 {
        let (nodes, _) = self.bundle.sections();
        nodes.iter().map(|node| node.section.radius()).fold(0.0, f64::max)
    }
}

/// What muscles are held against: the character's size, its bones and limbs.
pub(super) struct Surroundings<'a> {
    asset: &'a CharacterAsset,
    joints: &'a [Affine3A],
    rest: &'a RestSkin,
    bones: Bones,
    tree: SkinTree,
    limbs: Vec<Limb>,
    /// The longest side (m) of what is no muscle's surface.
    size: f64,
}

impl<'a> Surroundings<'a> {
    /// Those of a character at rest.
    pub fn new(asset: &'a CharacterAsset, joints: &'a [Affine3A], rest: &'a RestSkin, options: &FleshOptions) -> Self {
        let tree = SkinTree::new(asset, joints, rest, options);
        let limbs = find_limbs(asset, &tree, joints, rest, options);
        let mut of_muscle = vec![false; rest.positions.len()];
        for mesh in asset.muscles.iter().filter_map(|muscle| muscle.mesh.as_ref()) {
            of_muscle[mesh.vertices.start as usize..mesh.vertices.end as usize].fill(true);
        }
        let skin = rest.positions.iter().zip(of_muscle).filter(|(_, of_muscle)| !of_muscle).map(|(place, _)| *place);
        let bones = Bones::new(asset);
        let size = longest_side(skin);
        let of_bones = || longest_side(bones.joints().map(|at| joints[at].translation.into()));
        // What has no size says nothing.
        let size = [size, of_bones()].into_iter().find(|size| *size > 0.0).unwrap_or(f64::INFINITY);
        Self { asset, joints, rest, bones, tree, limbs, size }
    }

    fn name(&self, joint: u32) -> &str {
        shorten(&self.asset.skeleton.joints[joint as usize].name)
    }

    /// Why a muscle whose shape is its mesh cannot be the character's, before it is viperized.
    pub fn refuse_mesh(&self, spec: &MuscleSpec) -> Option<String> {
        let mesh = spec.mesh.as_ref().filter(|_| spec.shape == MuscleShape::Mesh)?;
        let places = self.rest.positions.get(mesh.vertices.start as usize..mesh.vertices.end as usize)?;
        let ends = [("origin", spec.origin.joint), ("insertion", spec.insertion.joint)];
        let nearest = |joint: u32| {
            let at = self.joints[joint as usize].translation.as_dvec3();
            places.iter().map(|place| place.as_dvec3().distance(at)).fold(f64::INFINITY, f64::min)
        };
        ends.into_iter().find_map(|(end, joint)| {
            let fix = "move the object onto its bones, and apply its scale";
            self.too_far("its mesh", end, joint, nearest(joint), fix)
        })
    }

    fn too_far(&self, what: &str, end: &str, joint: u32, distance: f64, fix: &str) -> Option<String> {
        (distance > self.size).then(|| {
            format!(
                "{what} is {distance:.2} m from its {end}'s joint {:?}, and the whole character {:.2} m large; {fix}",
                self.name(joint),
                self.size
            )
        })
    }

    /// Why a muscle that was laid cannot be the character's.
    pub fn refuse(&self, course: &MuscleCourse) -> Option<String> {
        let fix = "places and radii are in metres: divide those in centimetres by 100";
        for ((joint, place), end) in course.ends().into_iter().zip(["origin", "insertion"]) {
            let distance = place.distance(self.joints[joint as usize].translation.as_dvec3());
            if let Some(why) = self.too_far("it", end, joint, distance, fix) {
                return Some(why);
            }
        }
        let radius = course.radius();
        (radius > self.size)
            .then(|| format!("its radius is {radius:.2} m, and the whole character {:.2} m large; {fix}", self.size))
    }

    /// What is odd about a muscle that was laid.
    pub fn oddities(&self, course: &MuscleCourse) -> Vec<String> {
        let mut odd = Vec::new();
        let ends = course.ends();
        let off = |joint: u32, place: DVec3| self.bones.distance(self.joints, joint, place);
        for (end, other, name) in [(0, 1, "origin"), (1, 0, "insertion")] {
            let (joint, place) = ends[end];
            let (distance, far) = (off(joint, place), FAR * self.size);
            if distance > far {
                let fix = if off(joint, ends[other].1) > far || off(ends[other].0, place) > far {
                    "move it there, or name another joint"
                } else if course.spec.shape == MuscleShape::Mesh {
                    "origin and insertion, or the signs of _SINEW_ENDS, seem to be swapped"
                } else {
                    "origin and insertion seem to be swapped"
                };
                odd.push(format!("its {name} is {distance:.2} m from the bone of {:?}; {fix}", self.name(joint)));
            }
        }
        let over = self.over(course.spec.origin.joint, course.spec.insertion.joint);
        let limbs = self.limbs.iter().filter(|limb| over.contains(&limb.joint));
        let limb = limbs.max_by(|a, b| a.radius_at(0.5).total_cmp(&b.radius_at(0.5)));
        let radius = course.radius();
        if let Some(limb) = limb.filter(|limb| radius > limb.radius_at(0.5)) {
            let fix = match course.spec.shape {
                MuscleShape::Mesh => "make its mesh thinner, or apply the object's scale",
                MuscleShape::Path(_) | MuscleShape::Bundle(_) => "radii are in metres",
            };
            odd.push(format!(
                "its radius is {radius:.3} m, thicker than the limb of {:?} with {:.3} m; {fix}",
                self.name(limb.joint),
                limb.radius_at(0.5)
            ));
        }
        odd
    }

    /// Two joints and those between them, by whose skin they are.
    fn over(&self, origin: u32, insertion: u32) -> Vec<u32> {
        let [up, down] = [origin, insertion].map(|joint| self.tree.up(joint).collect::<Vec<_>>());
        let common = up.iter().copied().find(|joint| down.contains(joint));
        let between =
            [up, down].into_iter().flat_map(|path| path.into_iter().take_while(|&joint| Some(joint) != common));
        let all = between.chain([origin, insertion]).map(|joint| self.tree.owners()[joint as usize]);
        all.collect()
    }
}
