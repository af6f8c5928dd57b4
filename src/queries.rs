//! Rays, shapes that are cast, and what is near or overlaps: queries against flesh as it is after a step.
//!
//! Flesh is here what it is where it touches: each segment of a rod is a [`Pill`], the hull of the spheres at its nodes. The skin
//! around it plays no part. [`Queries`] holds the pills and a tree of boxes around them; a query then looks at few of them.
//!
//! ```
//! use glam::DVec3;
//! use sinew::{Physics, Pose, flesh::{Flesh, RodSpec}};
//!
//! let rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X, 20, 0.01);
//! let mut physics = Physics::default();
//! let handle = physics.insert(Flesh::build(&[rod], &[])?.into(), &[], Pose::IDENTITY)?;
//! let queries = physics.queries();
//! let hit = queries.cast_ray(DVec3::new(0.4, 2.0, 0.0), DVec3::NEG_Y, 10.0, |_| true)?.expect("the rod is below");
//! assert_eq!((hit.flesh, hit.chain), (handle, 0));
//! assert!((hit.distance - 1.99).abs() < 1.0e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod pill;
mod tree;

pub use pill::Pill;

use std::ops::Range;

use glam::DVec3;

use crate::FleshHandle;
use pill::{Foot, unit};
use tree::{Bounds, Tree};

/// Where a query met flesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Which instance.
    pub flesh: FleshHandle,
    /// Which of its chains.
    pub chain: usize,
    /// Which of the chain's segments: the node with which it begins.
    pub segment: usize,
    /// Where on the segment, 0 at its first node, 1 at its second.
    pub along: f64,
    /// Where on the segment's surface, in the world (m).
    pub point: DVec3,
    /// Unit normal of the surface there, out of the flesh.
    pub normal: DVec3,
    /// Of a cast, how far it has gone; else the gap to the segment, negative inside (m).
    pub distance: f64,
}

/// Why a query cannot be answered.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum QueryError {
    /// A place that is not finite, or too far away.
    #[error("{what} is at {value} m; it must be finite and within 10¹² m of the world's origin along each axis")]
    BadPlace {
        /// Which place.
        what: &'static str,
        /// Where it is.
        value: DVec3,
    },
    /// A direction that is none.
    #[error("the direction is {0}; it must be finite and not zero, of any length")]
    BadDirection(DVec3),
    /// A radius or a distance that is none.
    #[error("{what} is {value} m; it must be at least 0, and a radius at most 10¹² m")]
    BadLength {
        /// Which length.
        what: &'static str,
        /// How long it is.
        value: f64,
    },
}

/// The farthest that a query's places may be from the world's origin, and its largest radius (m).
const FARTHEST: f64 = 1.0e12;

/// How many segments of a chain share a leaf of the tree.
const RUN: usize = 4;

/// A segment of flesh.
#[derive(Clone, Copy, Debug)]
struct Segment {
    name: Name,
    pill: Pill,
}

/// Names a segment; in this order they come where they are equally near.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    flesh: FleshHandle,
    chain: u32,
    segment: u32,
}

/// All flesh of a scene as it was at one moment, to be asked where it is ([`Physics::queries`](crate::Physics::queries)).
///
/// It is a copy: threads may ask it at once, and a step may go on meanwhile. It shows what
/// [`Physics::state`](crate::Physics::state) showed, of instances that are paused too; on a GPU as that last arrived where it is
/// asked for ([`ReadBack::state`](crate::ReadBack::state)).
///
/// Every query takes a `filter`, which says of an instance whether it is looked at: `|_| true` for all, `|flesh| flesh != own`
/// for all others. The same query gets the same answer, bit by bit. Of segments that are equally near, it is the first in the
/// order of handles, chains and segments.
///
/// Distances are right to 10⁻⁹ of the sizes of the pills that meet, 10⁻¹⁵ of the way that was gone, and to what f64 has of places
/// so far from the world's origin (10⁻¹⁰ m at 1000 km), divided, for casts, by the sine at which they meet the surface; what
/// passes by so closely may count as a hit. Where axes of two pills are within 10⁻⁴ of parallel, gaps between them may be too
/// large by 10⁻⁹ times their length squared over their radii.
#[derive(Clone, Debug, Default)]
pub struct Queries {
    /// Where the tree has its origin.
    origin: DVec3,
    /// In the order of their names.
    segments: Vec<Segment>,
    /// The segments of each of the tree's leaves.
    runs: Vec<Range<usize>>,
    boxes: Vec<Bounds>,
    tree: Tree,
}

/// The nearest that was found, its segment, and what the query knows of it.
type Best = Option<(f64, Segment, Foot)>;

impl Queries {
    /// How many segments there are.
    pub fn segment_count(&self) -> usize {
        self.segments.len()
    }

    /// Takes segments in the place of those that it has; those of a chain come one after another.
    pub(crate) fn take(&mut self, segments: impl Iterator<Item = (FleshHandle, [usize; 2], Pill)>) {
        let Self { origin, segments: own, runs, boxes, tree } = self;
        own.clear();
        own.extend(segments.filter(|(_, _, pill)| is_sound(pill)).map(|(flesh, [chain, segment], pill)| {
            let name = Name { flesh, chain: chain as u32, segment: segment as u32 };
            Segment { name, pill }
        }));
        *origin = own.first().map_or(DVec3::ZERO, |segment| segment.pill.ends[0]);
        runs.clear();
        boxes.clear();
        let chains = own.chunk_by(|a, b| (a.name.flesh, a.name.chain) == (b.name.flesh, b.name.chain));
        for run in chains.flat_map(|chain| chain.chunks(RUN)) {
            let first = runs.last().map_or(0, |last: &Range<usize>| last.end);
            runs.push(first..first + run.len());
            boxes.push(run.iter().fold(Bounds::NONE, |all, segment| all.with(&bounds(&segment.pill, *origin))));
        }
        tree.build(boxes);
    }

    /// Where a ray first meets flesh, at most `farthest` away (m, infinity for any); at its start where that is inside flesh. The
    /// direction may have any length.
    ///
    /// # Errors
    /// [`QueryError`] for a place, a direction or a distance that is none.
    pub fn cast_ray(
        &self,
        from: DVec3,
        direction: DVec3,
        farthest: f64,
        filter: impl Fn(FleshHandle) -> bool,
    ) -> Result<Option<Hit>, QueryError> {
        self.cast_sphere(from, 0.0, direction, farthest, filter)
    }

    /// Where a sphere (m) that goes straight on first meets flesh, its centre from `from` on, after at most `farthest` (m,
    /// infinity for any); at its start where that already touches. The direction may have any length.
    ///
    /// # Errors
    /// As for [`Queries::cast_ray`], and for a radius that is none.
    pub fn cast_sphere(
        &self,
        from: DVec3,
        radius: f64,
        direction: DVec3,
        farthest: f64,
        filter: impl Fn(FleshHandle) -> bool,
    ) -> Result<Option<Hit>, QueryError> {
        check_pill(&Pill::sphere(from, radius))?;
        let direction = check_direction(direction)?;
        check_length("farthest", farthest)?;
        let found = self.first_met((from, [radius; 3]), direction, farthest, filter, |pill, farthest| {
            let pill = pill.grown(radius);
            let gone = pill.met_by_point(from, direction, farthest)?;
            Some((gone, pill.foot(from, direction * gone)))
        });
        Ok(found)
    }

    /// Where a pill that goes straight on without turning first meets flesh, after at most `farthest` (m, infinity for any); at its
    /// start where that already touches. The direction may have any length.
    ///
    /// # Errors
    /// As for [`Queries::cast_sphere`].
    pub fn cast_pill(
        &self,
        pill: &Pill,
        direction: DVec3,
        farthest: f64,
        filter: impl Fn(FleshHandle) -> bool,
    ) -> Result<Option<Hit>, QueryError> {
        check_pill(pill)?;
        let direction = check_direction(direction)?;
        check_length("farthest", farthest)?;
        Ok(self.first_met(middle_and_half(pill), direction, farthest, filter, |flesh, farthest| {
            flesh.met_by_pill(pill, direction, farthest)
        }))
    }

    /// Tells of every segment that overlaps or touches a sphere (m), in the order of handles, chains and segments; where it is
    /// nearest to the sphere's centre, and the gap to the sphere, negative.
    ///
    /// # Errors
    /// [`QueryError`] for a place or a radius that is none.
    pub fn overlap_sphere(
        &self,
        centre: DVec3,
        radius: f64,
        filter: impl Fn(FleshHandle) -> bool,
        found: impl FnMut(Hit),
    ) -> Result<(), QueryError> {
        check_pill(&Pill::sphere(centre, radius))?;
        self.overlapping((centre, [radius; 3]), filter, found, |flesh| {
            let foot = flesh.foot(centre, DVec3::ZERO);
            Foot { gap: foot.gap - radius, ..foot }
        });
        Ok(())
    }

    /// As [`Queries::overlap_sphere`], of a pill: where its spheres and the segment's are deepest in each other, and how deep.
    ///
    /// # Errors
    /// As for [`Queries::overlap_sphere`].
    pub fn overlap_pill(
        &self,
        pill: &Pill,
        filter: impl Fn(FleshHandle) -> bool,
        found: impl FnMut(Hit),
    ) -> Result<(), QueryError> {
        check_pill(pill)?;
        self.overlapping(middle_and_half(pill), filter, found, |flesh| flesh.foot_of_pill(pill, DVec3::ZERO));
        Ok(())
    }

    /// The segment whose surface is nearest to a point, at most `farthest` away (m, infinity for any); of those that the point is
    /// inside, that in which it is deepest.
    ///
    /// # Errors
    /// [`QueryError`] for a place or a distance that is none.
    pub fn nearest(
        &self,
        point: DVec3,
        farthest: f64,
        filter: impl Fn(FleshHandle) -> bool,
    ) -> Result<Option<Hit>, QueryError> {
        check_pill(&Pill::sphere(point, 0.0))?;
        check_length("farthest", farthest)?;
        let from = (point - self.origin).to_array();
        let foot = |pill: &Pill, _| {
            let foot = pill.foot(point, DVec3::ZERO);
            Some((foot.gap, foot))
        };
        Ok(self.best(farthest, |bounds| Some(bounds.distance(from)), filter, foot))
    }

    /// Of the segments that something in a box goes to, the first that it meets.
    fn first_met(
        &self,
        (middle, half): (DVec3, [f64; 3]),
        direction: DVec3,
        farthest: f64,
        filter: impl Fn(FleshHandle) -> bool,
        met: impl Fn(&Pill, f64) -> Option<(f64, Foot)>,
    ) -> Option<Hit> {
        let from = (middle - self.origin).to_array();
        // Never infinite, so that no entry is NaN.
        let inv = direction.to_array().map(|rate| 1.0 / rate.abs().max(1.0e-280).copysign(rate));
        self.best(farthest.min(10.0 * FARTHEST), |bounds| bounds.entry(from, half, inv), filter, met)
    }

    /// The segment for which `reach` says the least, at most `farthest`.
    fn best(
        &self,
        farthest: f64,
        near: impl Fn(&Bounds) -> Option<f64>,
        filter: impl Fn(FleshHandle) -> bool,
        reach: impl Fn(&Pill, f64) -> Option<(f64, Foot)>,
    ) -> Option<Hit> {
        let mut best: Best = None;
        self.tree.visit(farthest, near, |leaf, mut farthest| {
            for segment in &self.segments[self.runs[leaf].clone()] {
                let found = if filter(segment.name.flesh) { reach(&segment.pill, farthest) } else { None };
                let Some((distance, foot)) = found.filter(|found| found.0 <= farthest) else { continue };
                if best.is_none_or(|best| (distance, segment.name) < (best.0, best.1.name)) {
                    best = Some((distance, *segment, foot));
                }
                farthest = distance;
            }
            farthest
        });
        best.map(|(distance, segment, foot)| segment.hit(foot, distance))
    }

    /// Tells of the segments to which `foot` has a gap of 0 or less; those in a box come into question.
    fn overlapping(
        &self,
        (middle, half): (DVec3, [f64; 3]),
        filter: impl Fn(FleshHandle) -> bool,
        found: impl FnMut(Hit),
        foot: impl Fn(&Pill) -> Foot,
    ) {
        let from = (middle - self.origin).to_array();
        let near = |bounds: &Bounds| {
            let [low, high] = [bounds.low, bounds.high].map(|corner| corner.map(f64::from));
            (0..3).all(|k| low[k] - half[k] <= from[k] && from[k] <= high[k] + half[k]).then_some(0.0)
        };
        let mut hits = Vec::new();
        self.tree.visit(0.0, near, |leaf, farthest| {
            for segment in &self.segments[self.runs[leaf].clone()] {
                let foot = if filter(segment.name.flesh) { Some(foot(&segment.pill)) } else { None };
                if let Some(foot) = foot.filter(|foot| foot.gap <= 0.0) {
                    hits.push((segment.name, segment.hit(foot, foot.gap)));
                }
            }
            farthest
        });
        hits.sort_unstable_by_key(|hit| hit.0);
        hits.into_iter().map(|hit| hit.1).for_each(found);
    }
}

impl Segment {
    fn hit(&self, foot: Foot, distance: f64) -> Hit {
        let Foot { along, normal, .. } = foot;
        let Name { flesh, chain, segment } = self.name;
        let point = self.pill.centre(along) + normal * self.pill.radius(along);
        Hit { flesh, chain: chain as usize, segment: segment as usize, along, point, normal, distance }
    }
}

/// A pill's bounding box, seen from an origin, wider by more than rounding makes of it.
fn bounds(pill: &Pill, origin: DVec3) -> Bounds {
    let (middle, half) = middle_and_half(pill);
    let far = pill.ends[0].abs().max(pill.ends[1].abs()).max(origin.abs()).max_element();
    let margin = 1.0e-7 * DVec3::from_array(half).max_element() + 1.0e-15 * far;
    let (middle, half) = (middle - origin, DVec3::from_array(half) + margin);
    Bounds::around((middle - half).to_array(), (middle + half).to_array())
}

/// The middle of a pill's bounding box, and half its sides (m).
fn middle_and_half(pill: &Pill) -> (DVec3, [f64; 3]) {
    let [a, b] = [0, 1].map(|k| (pill.ends[k] - pill.radii[k], pill.ends[k] + pill.radii[k]));
    let (low, high) = (a.0.min(b.0), a.1.max(b.1));
    ((low + high) * 0.5, ((high - low) * 0.5).to_array())
}

/// Whether a segment's numbers are such.
fn is_sound(pill: &Pill) -> bool {
    pill.ends.iter().all(|end| end.is_finite()) && pill.radii.iter().all(|radius| radius.is_finite())
}

fn check_pill(pill: &Pill) -> Result<(), QueryError> {
    for value in pill.ends {
        if !(value.abs().max_element() <= FARTHEST && value.is_finite()) {
            return Err(QueryError::BadPlace { what: "the query", value });
        }
    }
    match pill.radii.into_iter().find(|radius| !(0.0..=FARTHEST).contains(radius)) {
        Some(value) => Err(QueryError::BadLength { what: "the radius", value }),
        None => Ok(()),
    }
}

fn check_length(what: &'static str, value: f64) -> Result<(), QueryError> {
    if value >= 0.0 { Ok(()) } else { Err(QueryError::BadLength { what, value }) }
}

/// A direction of length 1.
fn check_direction(direction: DVec3) -> Result<DVec3, QueryError> {
    unit(direction).map(|unit| unit.0).ok_or(QueryError::BadDirection(direction))
}
