//! Forms of solids: signed distances, and where a pill is deepest in one.
//!
//! Forms are those of parry3d, with its conventions. What is asked of a form is asked of one of its primitives: all but meshes have
//! one. Distances of convex forms are exact inside and outside, and so convex functions of the point: a pill is deepest in a form at
//! a single stretch of it, which [`Shape::deepest`] finds by the derivative.

mod boxes;
mod convex;
mod distance;
mod mesh;

pub(crate) use boxes::Boxes;
pub use convex::Convex;
pub use mesh::Mesh;

use glam::{DVec3, Vec3};

/// A solid's form, in its own frame (m).
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A ball about the origin.
    Ball {
        /// Radius (m).
        radius: f32,
    },
    /// A box about the origin.
    Cuboid {
        /// Half of its sides (m).
        half_extents: Vec3,
    },
    /// All that is within a radius of a segment.
    Capsule {
        /// The segment's ends (m).
        ends: [Vec3; 2],
        /// Radius (m).
        radius: f32,
    },
    /// A cylinder along y about the origin.
    Cylinder {
        /// Half of its height (m).
        half_height: f32,
        /// Radius (m).
        radius: f32,
    },
    /// A cone along y about the origin, its apex at `half_height`.
    Cone {
        /// Half of its height (m).
        half_height: f32,
        /// Radius of its base (m).
        radius: f32,
    },
    /// A convex polyhedron.
    Convex(Convex),
    /// Triangles.
    Mesh(Mesh),
}

/// Why a shape is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// A size that no solid has.
    #[error("{0} must be above 0 m and at most 10⁹ m; a capsule's radius may be 0")]
    Size(&'static str),
    /// A point that is not finite.
    #[error("point {0} is not finite")]
    Point(usize),
    /// A triangle of points that are not there.
    #[error("triangle {triangle} names a point that is not there; there are {points}")]
    Index {
        /// Which triangle.
        triangle: usize,
        /// How many points there are.
        points: usize,
    },
    /// Nothing to touch.
    #[error("there is no triangle with an area; give at least one")]
    Empty,
    /// Not convex, or not closed.
    #[error(
        "point {point} is outside triangle {triangle}; a convex polyhedron's triangles face outward and are closed, else make it a mesh"
    )]
    NotConvex {
        /// Which point.
        point: usize,
        /// Outside of which triangle.
        triangle: usize,
    },
    /// More than can be counted.
    #[error("{0} points or triangles; there may be 2³¹ of each at most")]
    TooMany(usize),
}

/// What of a shape is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Signed distance (m), negative inside.
    pub distance: f64,
    /// Unit normal, out of the solid.
    pub normal: DVec3,
    /// Whether that is this primitive's to say: of all triangles that share an edge or a point, one is asked.
    pub own: bool,
}

impl Shape {
    /// Whether it is one.
    ///
    /// # Errors
    /// [`ShapeError`] names what is not.
    pub fn check(&self) -> Result<(), ShapeError> {
        let sized = |size: f32, name| if size > 0.0 && size <= LARGEST { Ok(()) } else { Err(ShapeError::Size(name)) };
        match self {
            Self::Ball { radius } => sized(*radius, "radius"),
            Self::Cuboid { half_extents } => {
                half_extents.to_array().into_iter().try_for_each(|x| sized(x, "half_extents"))
            }
            Self::Capsule { ends, radius } => match ends.iter().position(|end| !end.is_finite()) {
                Some(end) => Err(ShapeError::Point(end)),
                None if *radius == 0.0 => Ok(()),
                None => sized(*radius, "radius"),
            },
            Self::Cylinder { half_height, radius } | Self::Cone { half_height, radius } => {
                sized(*half_height, "half_height").and_then(|()| sized(*radius, "radius"))
            }
            // These are checked as they are made.
            Self::Convex(_) | Self::Mesh(_) => Ok(()),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ball { .. } => "ball",
            Self::Cuboid { .. } => "cuboid",
            Self::Capsule { .. } => "capsule",
            Self::Cylinder { .. } => "cylinder",
            Self::Cone { .. } => "cone",
            Self::Convex(_) => "convex polyhedron",
            Self::Mesh(_) => "mesh",
        }
    }

    /// Its least and largest corner (m).
    pub fn bounds(&self) -> [Vec3; 2] {
        let about = |half: Vec3| [-half, half];
        match self {
            Self::Ball { radius } => about(Vec3::splat(*radius)),
            Self::Cuboid { half_extents } => about(*half_extents),
            Self::Capsule { ends: [a, b], radius } => [a.min(*b) - *radius, a.max(*b) + *radius],
            Self::Cylinder { half_height, radius } | Self::Cone { half_height, radius } => {
                about(Vec3::new(*radius, *half_height, *radius))
            }
            Self::Convex(convex) => convex.bounds(),
            Self::Mesh(mesh) => mesh.bounds(),
        }
    }

    /// How many primitives it has: 1, or a mesh's triangles.
    pub fn primitives(&self) -> u32 {
        match self {
            Self::Mesh(mesh) => mesh.triangles(),
            _ => 1,
        }
    }

    /// Finds the primitives whose boxes touch a box, in an order that is always the same.
    pub fn primitives_in(&self, region: [Vec3; 2], found: &mut dyn FnMut(u32)) {
        match self {
            Self::Mesh(mesh) => mesh.boxes.touching(region, found),
            _ if boxes::touch(region, self.bounds()) => found(0),
            _ => {}
        }
    }

    /// How far a point is from a primitive, and in which direction. A mesh's triangle has no inside: of one of two sides, the
    /// distance is from the side on which the point is; of one of one side it is negative behind it.
    pub fn surface(&self, primitive: u32, point: DVec3) -> Surface {
        let (distance, normal) = match self {
            Self::Ball { radius } => distance::from_segment([DVec3::ZERO; 2], f64::from(*radius), point),
            Self::Capsule { ends, radius } => {
                distance::from_segment(ends.map(|end| end.as_dvec3()), f64::from(*radius), point)
            }
            Self::Cuboid { half_extents } => distance::from_cuboid(half_extents.as_dvec3(), point),
            Self::Cylinder { half_height, radius } => {
                distance::from_cylinder(f64::from(*half_height), f64::from(*radius), point)
            }
            Self::Cone { half_height, radius } => {
                distance::from_cone(f64::from(*half_height), f64::from(*radius), point)
            }
            Self::Convex(convex) => convex.surface(point),
            Self::Mesh(mesh) => return mesh.surface(primitive, point),
        };
        Surface { distance, normal, own: true }
    }

    /// Where between its ends a pill is deepest in a primitive, 0 at the first, 1 at the second: where the signed distance of its
    /// centres less their radii is least, of a mesh's triangle on whichever side. `None` where that is at an end, or everywhere, or
    /// behind what is solid there: its ends are told to come out.
    pub fn deepest(&self, primitive: u32, ends: [DVec3; 2], radii: [f64; 2]) -> Option<f64> {
        let along = ends[1] - ends[0];
        let gap = |t: f64| {
            let point = ends[0] + along * t;
            let (distance, normal) = match self {
                Self::Mesh(mesh) => mesh.thin(primitive, point),
                _ => {
                    let Surface { distance, normal, .. } = self.surface(primitive, point);
                    (distance, normal)
                }
            };
            let (grows, radius) = (radii[1] - radii[0], radii[0] + (radii[1] - radii[0]) * t);
            (distance - radius, normal.dot(along) - grows)
        };
        let flat = FLAT * along.length();
        let (mut first, mut last) = ((0.0, gap(0.0)), (1.0, gap(1.0)));
        if first.1.1 >= -flat || last.1.1 <= flat {
            return None;
        }
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (first.0 + last.0);
            let there = gap(middle);
            if there.1 < 0.0 {
                first = (middle, there);
            } else {
                last = (middle, there);
            }
        }
        // Where the tangents of both ends cross: the very place of a kink.
        let (falls, rises) = (first.1.1, last.1.1);
        let crossing = (first.1.0 - last.1.0 + rises * last.0 - falls * first.0) / (rises - falls);
        let found = if crossing >= first.0 && crossing <= last.0 { crossing } else { 0.5 * (first.0 + last.0) };
        let behind = matches!(self, Self::Mesh(mesh) if mesh.is_behind(primitive, ends[0] + along * found));
        (!behind).then_some(found)
    }
}

/// The largest size of a shape (m).
const LARGEST: f32 = 1.0e9;

/// Slopes of the gap over the length below which a pill lies flat.
pub(crate) const FLAT: f64 = 1.0e-4;

/// How often the deepest place of a pill is sought between two.
pub(crate) const BISECTIONS: u32 = 12;
