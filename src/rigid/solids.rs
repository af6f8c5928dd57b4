//! Rapier's colliders as the flesh touches them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use glam::Vec3;
use rapier3d::math::Pose as RapierPose;
use rapier3d::parry::transformation::try_convex_hull;
use rapier3d::prelude::{
    CoefficientCombineRule, Collider, ColliderHandle, HeightField, InteractionGroups, RigidBodyHandle,
    Shape as RapierShape, ShapeType, SharedShape, TriMeshFlags, TypedShape, Voxels,
};

use super::RigidWorld;
#[cfg(doc)]
use crate::Physics;
use crate::shape::{Convex, Mesh};
use crate::{CollisionGroups, CombineRule, HalfSpace, Shape, ShapeError, Solid};

/// What the flesh knows of rapier's colliders, kept from step to step: a mesh is gone through once.
pub struct TouchedColliders {
    /// With which of rapier's groups any flesh collides, as a collider of its own would: everything by default. Beside that each
    /// instance has groups of its own ([`Collisions::groups`](crate::Collisions::groups)), which a collider's groups are tested
    /// with, too.
    pub groups: InteractionGroups,
    /// Of which collider each of rapier's solids is, in the order of [`RigidWorld::solids`]: in [`Physics::all_solids`] they come after
    /// [`Physics::solids`].
    pub colliders: Vec<ColliderHandle>,
    /// Colliders that the flesh passes through though it would collide with them, and why: of the newest step.
    pub left_out: Vec<(ColliderHandle, LeftOut)>,
    /// By the address at which rapier keeps a shape, which stays there as long as this does.
    known: HashMap<usize, Known>,
}

impl Default for TouchedColliders {
    fn default() -> Self {
        Self { groups: InteractionGroups::all(), colliders: Vec::new(), left_out: Vec::new(), known: HashMap::new() }
    }
}

/// Why flesh passes through a collider.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LeftOut {
    /// A form of the host's own.
    #[error(
        "flesh does not touch shapes of type {0:?}: build the collider of rapier's own shapes, or of a compound of them"
    )]
    Form(ShapeType),
    /// A shape that is none.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// No solid that flesh can touch.
    #[error(
        "flesh cannot touch the collider: it is farther than 10⁹ m, a number is not finite, its friction or border is not within 0 and 1000, or its restitution is no number"
    )]
    Place,
}

/// A part of a shape: where it is in the collider, what it is, and how much thicker.
type Part = (RapierPose, Arc<Shape>, f32);

/// What a shape is to the flesh.
struct Known {
    /// Whether a collider has it in this step; what none has any more is forgotten.
    seen: bool,
    /// Keeps it where it is.
    _shape: SharedShape,
    parts: Result<Vec<Part>, LeftOut>,
}

impl RigidWorld {
    /// Every half-space collider that flesh touches as a [`HalfSpace`], in the order of rapier's set (which depends only on the
    /// order of insertions and removals): enabled, no sensor, and in groups that [`TouchedColliders::groups`] collide with. They bring
    /// their groups and the rules of their friction and restitution, and are named by [`collider_id`].
    ///
    /// Those on moving bodies are where their body was after the last step, and move as it did.
    pub fn half_spaces(&self) -> Vec<HalfSpace> {
        let touched = self.colliders.iter().filter(|(_, collider)| self.touched.collide_with(collider));
        touched
            .filter_map(|(handle, collider)| {
                let shape = collider.shape().as_halfspace()?;
                let pose = self.to_world(collider.position());
                let normal = (pose.rotation * shape.normal.as_dvec3()).normalize();
                let still = HalfSpace {
                    friction_rule: collider.friction_combine_rule().into(),
                    restitution: collider.restitution().clamp(0.0, 1.0),
                    restitution_rule: collider.restitution_combine_rule().into(),
                    groups: collider.collision_groups().into(),
                    id: Some(collider_id(handle)),
                    ..HalfSpace::new(normal, normal.dot(pose.translation), collider.friction())
                };
                let Some(body) = collider.parent().and_then(|body| self.bodies.get(body)) else { return Some(still) };
                let centre = self.origin + body.center_of_mass().as_dvec3();
                Some(still.moving(body.linvel().as_dvec3()).turning(body.angvel().as_dvec3(), centre))
            })
            .collect()
    }

    /// Every other enabled collider that is no sensor as [`Solid`]s for the flesh, several of a compound, in the order of rapier's
    /// set: those that [`TouchedColliders::groups`] collide with, but for those on [`RigidWorld::character_bones`] and on bodies
    /// that `passes` names. They bring their groups and the rules of their friction and restitution, and are named by
    /// [`collider_id`]. Fixed ones dent no flesh ([`Solid::dents`]). They are where they were after the last step, and move as they
    /// did in it. Solids on one side: oriented triangle meshes, height fields and voxels; other meshes are thin and have two.
    pub fn solids(&mut self, passes: impl Fn(RigidBodyHandle) -> bool) -> Vec<Solid> {
        let mut touched = std::mem::take(&mut self.touched);
        touched.left_out.clear();
        touched.colliders.clear();
        touched.known.values_mut().for_each(|known| known.seen = false);
        let bones: HashSet<_> = self.character_bones.iter().collect();
        let mut solids = Vec::new();
        for (handle, collider) in self.colliders.iter() {
            let body = collider.parent();
            let own = body.is_some_and(|body| bones.contains(&body) || passes(body));
            if own || !touched.collide_with(collider) || collider.shape().as_halfspace().is_some() {
                continue;
            }
            let parts = match touched.parts(collider.shared_shape()) {
                Ok(parts) => parts,
                Err(why) => {
                    let why = why.clone();
                    touched.left_out.push((handle, why));
                    continue;
                }
            };
            let before = solids.len();
            let body = body.and_then(|body| self.bodies.get(body));
            let friction = if collider.friction() > 1.0e3 { 1.0e3 } else { collider.friction() };
            for (place, shape, border_radius) in parts {
                let pose = self.to_world(&(*collider.position() * *place));
                let mut solid = Solid {
                    border_radius: *border_radius,
                    friction_rule: collider.friction_combine_rule().into(),
                    restitution: collider.restitution().clamp(0.0, 1.0),
                    restitution_rule: collider.restitution_combine_rule().into(),
                    groups: collider.collision_groups().into(),
                    id: Some(collider_id(handle)),
                    ..Solid::new(shape.clone(), pose, friction)
                };
                if body.is_none_or(|body| body.is_fixed()) {
                    solid.dents = 0.0;
                }
                if let Some(body) = body {
                    let centre = self.origin + body.center_of_mass().as_dvec3();
                    solid = solid.moving(body.linvel().as_dvec3()).turning(body.angvel().as_dvec3(), centre);
                }
                if solid.clone().still().is_sound() {
                    solids.push(solid);
                }
            }
            let is_whole = solids.len() == before + parts.len();
            touched.colliders.resize(solids.len(), handle);
            if !is_whole {
                touched.left_out.push((handle, LeftOut::Place));
            }
        }
        touched.known.retain(|_, known| known.seen);
        self.touched = touched;
        solids
    }
}

/// By which number a collider's solids and half-spaces are named in contact events ([`ContactWith::World`](crate::ContactWith)).
pub fn collider_id(collider: ColliderHandle) -> u64 {
    let (index, generation) = collider.into_raw_parts();
    u64::from(generation) << 32 | u64::from(index)
}

/// The collider that [`collider_id`] names so.
pub fn collider_of(id: u64) -> ColliderHandle {
    ColliderHandle::from_raw_parts(id as u32, (id >> 32) as u32)
}

impl From<InteractionGroups> for CollisionGroups {
    /// Without the mode of the test: flesh must want it and what it touches, as with rapier where one side is of mode `And`.
    fn from(groups: InteractionGroups) -> Self {
        Self::new(groups.memberships.bits(), groups.filter.bits())
    }
}

impl From<CoefficientCombineRule> for CombineRule {
    fn from(rule: CoefficientCombineRule) -> Self {
        match rule {
            CoefficientCombineRule::Average => Self::Average,
            CoefficientCombineRule::Min => Self::Min,
            CoefficientCombineRule::Multiply => Self::Multiply,
            CoefficientCombineRule::Max => Self::Max,
            CoefficientCombineRule::ClampedSum => Self::ClampedSum,
            CoefficientCombineRule::GeometricMean => Self::GeometricMean,
        }
    }
}

impl TouchedColliders {
    /// Whether flesh collides with a collider, whatever it is on.
    fn collide_with(&self, collider: &Collider) -> bool {
        collider.is_enabled() && !collider.is_sensor() && collider.collision_groups().test(self.groups)
    }

    /// What a shape is made of.
    fn parts(&mut self, shape: &SharedShape) -> Result<&Vec<Part>, &LeftOut> {
        let at = Arc::as_ptr(&shape.0).cast::<()>() as usize;
        let known = self.known.entry(at).or_insert_with(|| {
            let mut parts = Vec::new();
            let found = add_parts(&**shape, &RapierPose::IDENTITY, &mut parts);
            Known { seen: true, _shape: shape.clone(), parts: found.map(|()| parts) }
        });
        known.seen = true;
        known.parts.as_ref()
    }
}

fn add_parts(shape: &dyn RapierShape, place: &RapierPose, parts: &mut Vec<Part>) -> Result<(), LeftOut> {
    let (form, border) = match shape.as_typed_shape() {
        TypedShape::Compound(compound) => {
            return compound
                .shapes()
                .iter()
                .try_for_each(|(within, shape)| add_parts(&**shape, &(*place * *within), parts));
        }
        TypedShape::Polyline(line) => {
            let capsules = line.segments().map(|segment| Shape::Capsule { ends: [segment.a, segment.b], radius: 0.0 });
            parts.extend(capsules.map(|capsule| (*place, Arc::new(capsule), 0.0)));
            return Ok(());
        }
        TypedShape::RoundCuboid(round) => (form_of(&round.inner_shape)?, round.border_radius),
        TypedShape::RoundTriangle(round) => (form_of(&round.inner_shape)?, round.border_radius),
        TypedShape::RoundCylinder(round) => (form_of(&round.inner_shape)?, round.border_radius),
        TypedShape::RoundCone(round) => (form_of(&round.inner_shape)?, round.border_radius),
        TypedShape::RoundConvexPolyhedron(round) => (form_of(&round.inner_shape)?, round.border_radius),
        _ => (form_of(shape)?, 0.0),
    };
    form.check()?;
    parts.push((*place, Arc::new(form), border));
    Ok(())
}

/// A shape that is one form, without a border.
fn form_of(shape: &dyn RapierShape) -> Result<Shape, LeftOut> {
    Ok(match shape.as_typed_shape() {
        TypedShape::Ball(ball) => Shape::Ball { radius: ball.radius },
        TypedShape::Cuboid(cuboid) => Shape::Cuboid { half_extents: cuboid.half_extents },
        TypedShape::Capsule(capsule) => {
            Shape::Capsule { ends: [capsule.segment.a, capsule.segment.b], radius: capsule.radius }
        }
        TypedShape::Segment(segment) => Shape::Capsule { ends: [segment.a, segment.b], radius: 0.0 },
        TypedShape::Cylinder(cylinder) => {
            Shape::Cylinder { half_height: cylinder.half_height, radius: cylinder.radius }
        }
        TypedShape::Cone(cone) => Shape::Cone { half_height: cone.half_height, radius: cone.radius },
        TypedShape::ConvexPolyhedron(polyhedron) => {
            // Its own faces are taken together where they nearly lie in a plane, and are none.
            let hull = try_convex_hull(polyhedron.points()).map_err(|_| ShapeError::Empty)?;
            Shape::Convex(Convex::new(&hull.0, hull.1)?)
        }
        TypedShape::Triangle(triangle) => {
            Shape::Mesh(Mesh::new(vec![triangle.a, triangle.b, triangle.c], vec![[0, 1, 2]], false)?)
        }
        TypedShape::TriMesh(mesh) => {
            let oriented = mesh.flags().contains(TriMeshFlags::ORIENTED);
            Shape::Mesh(Mesh::new(mesh.vertices().to_vec(), mesh.indices().to_vec(), oriented)?)
        }
        TypedShape::HeightField(field) => Shape::Mesh(mesh_of_field(field)?),
        TypedShape::Voxels(voxels) => Shape::Mesh(mesh_of_voxels(voxels)?),
        _ => return Err(LeftOut::Form(shape.shape_type())),
    })
}

/// A height field, solid below.
fn mesh_of_field(field: &HeightField) -> Result<Mesh, ShapeError> {
    let (points, mut triangles) = field.to_trimesh();
    for triangle in &mut triangles {
        let [a, b, c] = triangle.map(|point| points[point as usize]);
        if (b - a).cross(c - a).y < 0.0 {
            triangle.swap(1, 2);
        }
    }
    Mesh::new(points, triangles, true)
}

/// The free faces of voxels, whose corners are put where they are the same for all that share them.
fn mesh_of_voxels(voxels: &Voxels) -> Result<Mesh, ShapeError> {
    let (points, triangles) = voxels.to_trimesh();
    let size = voxels.voxel_size();
    let corner = |point: Vec3| (point / size).round() * size;
    Mesh::new(points.into_iter().map(corner).collect(), triangles, true)
}
