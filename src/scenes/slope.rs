//! Scenes `slope`, of rods that lie along a slope, and `rolling`, of logs that lie across it.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};

use super::{Moved, Prop, Scene, SceneError, SceneParameters};
use crate::flesh::{BuildError, Flesh, Holds, RodSpec};
use crate::step::StepConfig;
use crate::{Coefficient, Collisions, CombineRule, HalfSpace, Material, Mesh, Motion, Pose, Shape, Solid};

/// What the ground of a slope is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlopeSurface {
    /// A half-space.
    #[default]
    Plane,
    /// A box.
    Cuboid,
    /// Triangles, thin and with two sides.
    Mesh,
    /// Rods that a bone holds, each across the flesh that lies on it.
    Rods,
}

impl SlopeSurface {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Plane, Self::Cuboid, Self::Mesh, Self::Rods];

    /// Their names.
    pub(super) const NAMES: &str = "plane, cuboid, mesh or rods";

    /// The one of a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|surface| surface.name() == name)
    }

    /// Its name as a parameter.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plane => "plane",
            Self::Cuboid => "cuboid",
            Self::Mesh => "mesh",
            Self::Rods => "rods",
        }
    }
}

/// How far a slope reaches to every side of where rods start, over their length.
const REACH: f64 = 20.0;

/// How many rods of a slope there are to the length of one that lies on it.
const RAILS: f64 = 5.0;

/// How far a slope of rods goes on down from where rods start, over their length.
const AHEAD: f64 = 8.0;

/// How many cells a mesh has along each side.
const CELLS: u32 = 24;

pub(super) fn parameters(cantilevers: SceneParameters) -> SceneParameters {
    let material = Material { youngs_modulus: 1.0e7, damping: 0.0, ..Material::default() };
    SceneParameters {
        rods: 3,
        segments: 10,
        length: 0.5,
        radius: 0.03,
        angle: 30.0,
        material,
        config: StepConfig { passes: 6, ..StepConfig::default() },
        ..cantilevers
    }
}

pub(super) fn rolling_parameters(cantilevers: SceneParameters) -> SceneParameters {
    SceneParameters { rods: 1, angle: 5.0, ..parameters(cantilevers) }
}

pub(super) fn scene(parameters: &SceneParameters) -> Result<Scene, SceneError> {
    on_slope(parameters, false)
}

pub(super) fn rolling(parameters: &SceneParameters) -> Result<Scene, SceneError> {
    let scene = on_slope(parameters, true)?;
    let turn = turn_of(parameters);
    let motion = Motion {
        velocity: turn * DVec3::X * parameters.speed,
        spin: DVec3::NEG_Z * parameters.spin,
        centre: turn * DVec3::Y * parameters.radius,
    };
    Ok(Scene { motions: vec![motion], ..scene })
}

/// From the slope's frame, in which it falls along x and is below y = 0, to the world.
fn turn_of(parameters: &SceneParameters) -> DQuat {
    DQuat::from_rotation_z(-parameters.angle.to_radians())
}

/// Rods that lie on the slope, each beside the last or, where they are across it, at its end.
fn on_slope(parameters: &SceneParameters, across: bool) -> Result<Scene, SceneError> {
    let SceneParameters { rods: count, segments, length, radius, material, config, .. } = *parameters;
    let (along, spacing) = if across { (DVec3::Z, 1.2 * length) } else { (DVec3::X, 4.0 * radius) };
    let rods: Vec<RodSpec> = (0..count)
        .map(|index| {
            let aside = (index as f64 - 0.5 * (count as f64 - 1.0)) * spacing;
            let (middle, half) = (DVec3::new(0.0, radius, aside), along * (0.5 * length));
            let mut rod = RodSpec::straight(format!("rod {index}"), middle - half, middle + half, segments, radius);
            rod.material = material;
            rod
        })
        .collect();
    let flesh = Arc::new(Flesh::build(&rods, &[])?);
    let scene = Scene { roots: vec![turned(parameters)], ..Scene::of(flesh, config) };
    let friction = parameters.friction as f32;
    let far = (REACH * length) as f32;
    let solid =
        |shape, place| Solid::new(Arc::new(shape), turned(parameters) * Pose::from_translation(place), friction);
    Ok(match parameters.surface {
        SlopeSurface::Plane => {
            Scene { planes: vec![HalfSpace::new(turn_of(parameters) * DVec3::Y, 0.0, friction)], ..scene }
        }
        SlopeSurface::Cuboid => {
            let half_extents = Vec3::new(far, length as f32, far);
            let slab = solid(Shape::Cuboid { half_extents }, DVec3::NEG_Y * length);
            Scene { solids: vec![Moved::still(slab)], ..scene }
        }
        SlopeSurface::Mesh => {
            let mesh = solid(Shape::Mesh(sheet(far)?), DVec3::ZERO);
            Scene { solids: vec![Moved::still(mesh)], ..scene }
        }
        SlopeSurface::Rods => {
            let (wide, ahead) = (0.5 * (count as f64 * spacing + length), AHEAD * length);
            let rails = if across {
                Rails { along: DVec3::X, aside: DVec3::Z, from: -wide, to: wide, reach: ahead }
            } else {
                Rails { along: DVec3::Z, aside: DVec3::X, from: -length, to: ahead, reach: wide }
            };
            let flesh = rails.build(parameters)?;
            let prop = Prop { flesh, bones: vec![turned(parameters)], root: Pose::IDENTITY };
            let friction = Some(Coefficient::new(friction, CombineRule::Average));
            Scene { props: vec![prop], collisions: Collisions { friction, ..Collisions::default() }, ..scene }
        }
    })
}

fn turned(parameters: &SceneParameters) -> Pose {
    Pose::new(DVec3::ZERO, turn_of(parameters))
}

/// A sheet of triangles in the xz plane that reaches so far to every side (m).
fn sheet(far: f32) -> Result<Mesh, SceneError> {
    let at = |k: u32| far * (2.0 * k as f32 / CELLS as f32 - 1.0);
    let side = CELLS + 1;
    let points = (0..side * side).map(|k| Vec3::new(at(k / side), 0.0, at(k % side))).collect();
    let cells = (0..CELLS).flat_map(|i| (0..CELLS).map(move |k| i * side + k));
    let triangles = cells.flat_map(|at| [[at, at + 1, at + side], [at + side, at + 1, at + side + 1]]).collect();
    // A length that is none is told of where the rods are built.
    Mesh::new(points, triangles, false).map_err(|_| SceneError::BadValue {
        key: "length".into(),
        value: far.to_string(),
        expected: "a length (m)",
    })
}

/// Rods side by side in a slope, whose tops are in its plane and which a bone holds all along.
struct Rails {
    /// Which way they go, and which way they lie beside each other.
    along: DVec3,
    aside: DVec3,
    /// From where to where (m).
    from: f64,
    to: f64,
    /// How far each goes to both sides (m).
    reach: f64,
}

impl Rails {
    fn build(&self, parameters: &SceneParameters) -> Result<Arc<Flesh>, BuildError> {
        let Self { along, aside, from, to, reach } = *self;
        let SceneParameters { length, radius, material, .. } = *parameters;
        let spacing = length / RAILS;
        let count = ((to - from) / spacing).ceil() as usize;
        let pieces = ((reach / (4.0 * radius)).ceil() as usize).clamp(2, 500);
        let rail = |index: usize| {
            let middle = aside * (from + (index as f64 + 0.5) * spacing) - DVec3::Y * radius;
            let (from, to) = (middle - along * reach, middle + along * reach);
            let rod = RodSpec::straight(format!("rail {index}"), from, to, pieces, radius);
            let rod = RodSpec { rigid: true, material, ..rod };
            (0..=pieces).fold(rod, |rod, node| rod.attach(node, 0, Holds { scale: true, ..Holds::CLAMP }))
        };
        let rails: Vec<RodSpec> = (0..count).map(rail).collect();
        Ok(Arc::new(Flesh::build(&rails, &[Pose::IDENTITY])?))
    }
}
