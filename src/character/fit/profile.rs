//! How far the skin is from a course, all around, at every station.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use super::course::{BEYOND, Course, Frames, Station};
use super::trunk::limb_skin;
use super::{Figure, FittedPart, parts};

/// Rays around a station; an even number, so that a profile's mirror image is one.
pub(super) const RAYS: usize = 32;
/// How far rays go that meet the course's own skin, over the usual distance of the skin.
const OWN_CAP: f64 = 2.2;
/// How far rays go that run on into other parts, over the median of those that meet the course's own skin.
const OTHER_CAP: f64 = 1.25;
/// So many rays that meet own skin have a median.
const LEAST_OWN: usize = 5;
/// Own skin nearer than this, over the usual distance, is something within.
const WITHIN: f64 = 0.1;
/// Without skin in a direction, this share of the usual distance.
const GUESS: f64 = 0.8;
/// How far a profile's centre may be from the path, over the usual distance of the skin.
const OFF_CENTRE: f64 = 0.4;

/// The direction of a ray; none lies on an axis.
pub(super) fn direction(ray: usize) -> DVec2 {
    DVec2::from_angle((ray as f64 + 0.5) * TAU / RAYS as f64)
}

/// The skin's triangles.
pub(super) struct Triangles {
    places: Vec<DVec3>,
    corners: Vec<[u32; 3]>,
    normals: Vec<DVec3>,
    strongest: Vec<[u32; 3]>,
    /// The connected part of the mesh that each triangle belongs to.
    parts: Vec<u32>,
    /// Which parts are closed.
    closed: Vec<bool>,
}

impl Triangles {
    pub(super) fn new(figure: &Figure) -> Self {
        let sound = |triangle: &&[u32; 3]| {
            triangle.iter().all(|&corner| figure.positions.get(corner as usize).is_some_and(|place| place.is_finite()))
        };
        let corners: Vec<[u32; 3]> = figure.triangles.iter().filter(sound).copied().collect();
        let places: Vec<DVec3> = figure.positions.iter().map(|place| place.as_dvec3()).collect();
        let normal = |corners: &[u32; 3]| {
            let [a, b, c] = corners.map(|corner| places[corner as usize]);
            (b - a).cross(c - a)
        };
        let normals = corners.iter().map(normal).collect();
        let strongest =
            corners.iter().map(|triangle| triangle.map(|corner| figure.strongest[corner as usize])).collect();
        let (parts, closed) = parts::find(figure.positions, &corners);
        Self { places, corners, normals, strongest, parts, closed }
    }

    /// Which triangles are a course's own, by the joints that pull strongest on them.
    fn own(&self, figure: &Figure, courses: &[Course], course: usize) -> Vec<bool> {
        let mut of_course = vec![false; figure.joints.len()];
        match courses[course].part {
            FittedPart::Limb(_) => courses[course].joints.iter().for_each(|&joint| of_course[joint as usize] = true),
            FittedPart::Trunk => {
                let limb = |course: &&Course| course.part != FittedPart::Trunk;
                let lines: Vec<super::Limb> = courses.iter().filter(limb).map(as_limb).collect();
                of_course = limb_skin(figure, &lines).into_iter().map(|limb| !limb).collect();
            }
        }
        self.strongest.iter().map(|corners| corners.iter().any(|&joint| of_course[joint as usize])).collect()
    }

    /// Where the plane of a station cuts the skin.
    fn cut(&self, own: &[bool], station: &Station) -> Vec<Cut> {
        let mut cuts = Vec::new();
        let heights: Vec<f64> = self.places.iter().map(|&place| (place - station.place).dot(station.w)).collect();
        for (index, corners) in self.corners.iter().enumerate() {
            let above = corners.map(|corner| heights[corner as usize] >= 0.0);
            if above[0] == above[1] && above[1] == above[2] {
                continue;
            }
            let heights = corners.map(|corner| heights[corner as usize]);
            let places = corners.map(|corner| self.places[corner as usize]);
            let mut ends = [DVec2::ZERO; 2];
            let mut found = 0;
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                if above[a] != above[b] && found < 2 {
                    // From the same side whichever triangle asks, so that neighbours agree to the bit.
                    let (low, high) = if above[a] { (b, a) } else { (a, b) };
                    let t = heights[low] / (heights[low] - heights[high]);
                    ends[found] = station.flat(places[low] + (places[high] - places[low]) * t);
                    found += 1;
                }
            }
            let normal = self.normals[index];
            let out = DVec2::new(normal.dot(station.u), normal.dot(station.v));
            let part = self.parts[index];
            cuts.push(Cut { ends, out, own: own[index], part, closed: self.closed[part as usize] });
        }
        cuts
    }
}

fn as_limb(course: &Course) -> super::Limb {
    let [from, to] = [course.path[0], course.path[course.path.len() - 1]];
    let joint = course.joints[0];
    super::Limb {
        joint,
        end_joint: joint,
        twists: Vec::new(),
        held_by: [joint; 2],
        line: [from, to],
        radii: course.radii.clone(),
    }
}

/// A stretch of skin in the plane of a station.
struct Cut {
    ends: [DVec2; 2],
    out: DVec2,
    own: bool,
    part: u32,
    closed: bool,
}

/// The space around a course: one polygon a station, star-shaped about its centre.
#[derive(Clone, Debug)]
pub(super) struct Profiles {
    pub(super) centres: Vec<DVec2>,
    pub(super) radii: Vec<[f64; RAYS]>,
    /// Whether skin closes around the station, so that its profile is known.
    pub(super) known: Vec<bool>,
    /// Share of the inner rays that end at the course's own skin.
    pub(super) own: f64,
}

/// The space that is there on all sides given: stations of courses that are to have the same profiles.
pub(super) fn common(skin: &Triangles, figure: &Figure, courses: &[Course], sides: &[(usize, Frames)]) -> Profiles {
    let cuts: Vec<Vec<Vec<Cut>>> = sides
        .iter()
        .map(|(course, frames)| {
            let own = skin.own(figure, courses, *course);
            frames.stations.iter().map(|station| skin.cut(&own, station)).collect()
        })
        .collect();
    let stations = &sides[0].1.stations;
    let count = stations.len();
    let inner = |s: usize| (BEYOND..count - BEYOND).contains(&s);
    let mut closed = vec![0; count];
    let mut own = 0;
    let mut all = |centres: &[DVec2]| -> Vec<[f64; RAYS]> {
        closed.fill(0);
        own = 0;
        let mut profiles = vec![[f64::INFINITY; RAYS]; count];
        for side in &cuts {
            let reaches: Vec<[Reach; RAYS]> = (0..count)
                .map(|s| std::array::from_fn(|ray| reach(&side[s], centres[s], direction(ray), stations[s].radius)))
                .collect();
            let whole = median(reaches[BEYOND..count - BEYOND].iter().flatten());
            for (s, (radii, reaches)) in profiles.iter_mut().zip(&reaches).enumerate() {
                let usual = stations[s].radius;
                let all = whole.unwrap_or(usual);
                let median = median(reaches.iter()).map_or(all, |median| median.min(all));
                for (radius, reach) in radii.iter_mut().zip(reaches) {
                    closed[s] += usize::from(reach.inside);
                    own += usize::from(reach.own && inner(s));
                    let cap = if reach.own { OWN_CAP * usual } else { OTHER_CAP * median };
                    let guess = if inner(s) { GUESS * median } else { 0.0 };
                    let distance = reach.distance.filter(|_| reach.inside || inner(s));
                    *radius = radius.min(distance.map_or(guess, |distance| distance.min(cap)));
                }
            }
        }
        profiles
    };
    let raw = all(&vec![DVec2::ZERO; count]);
    let offsets: Vec<DVec2> =
        (0..count).map(|s| centroid(&raw[s]).clamp_length_max(OFF_CENTRE * stations[s].radius)).collect();
    // Smoothly along, from the inner stations alone.
    let smooth = |s: usize| {
        let near = s.clamp(BEYOND, count - 1 - BEYOND);
        let (low, high) = (near.saturating_sub(3).max(BEYOND), (near + 3).min(count - 1 - BEYOND));
        (low..=high).map(|k| offsets[k]).sum::<DVec2>() / (high + 1 - low) as f64
    };
    let centres: Vec<DVec2> = (0..count).map(smooth).collect();
    let radii = all(&centres);
    let rays = sides.len() * RAYS;
    let open = closed[BEYOND..count - BEYOND].iter().sum::<usize>() * 2 < rays * (count - 2 * BEYOND);
    let known = (0..count).map(|s| inner(s) || !open).collect();
    let own = own as f64 / (rays * (count - 2 * BEYOND)) as f64;
    Profiles { centres, radii, known, own }
}

/// The median reach of the rays that end at the course's own skin, if they are enough.
fn median<'a>(reaches: impl Iterator<Item = &'a Reach>) -> Option<f64> {
    let mut own: Vec<f64> = reaches.filter(|reach| reach.own).filter_map(|reach| reach.distance).collect();
    own.sort_by(f64::total_cmp);
    if own.len() < LEAST_OWN { None } else { Some(own[own.len() / 2]) }
}

/// What a ray meets.
struct Reach {
    /// How far the solid reaches (m).
    distance: Option<f64>,
    /// Whether the ray starts inside the solid.
    inside: bool,
    /// Whether it ends at the course's own skin.
    own: bool,
}

/// How far the solid reaches from a place. Along the ray, every closed part of the skin that is left takes one from the
/// winding number, every one that is entered adds one. An open part counts where it is the course's own, until it is
/// left for the first time; others, capes say, would never end.
fn reach(cuts: &[Cut], from: DVec2, direction: DVec2, usual: f64) -> Reach {
    let mut hits: Vec<(f64, i32, &Cut)> = Vec::new();
    for cut in cuts {
        let [a, b] = cut.ends.map(|end| end - from);
        let (side_a, side_b) = (direction.perp_dot(a), direction.perp_dot(b));
        if (side_a >= 0.0) == (side_b >= 0.0) {
            continue;
        }
        let t = side_a / (side_a - side_b);
        let distance = (a + (b - a) * t).dot(direction);
        if distance > 0.0 {
            hits.push((distance, if cut.out.dot(direction) > 0.0 { 1 } else { -1 }, cut));
        }
    }
    hits.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut winding: i32 = hits.iter().filter(|hit| hit.2.closed).map(|hit| hit.1).sum();
    let open_end = hits.iter().position(|&(distance, sign, cut)| {
        let around = |part: u32| hits.iter().filter(|hit| hit.2.part == part).map(|hit| hit.1).sum::<i32>() > 0;
        !cut.closed && cut.own && sign > 0 && distance > WITHIN * usual && around(cut.part)
    });
    let inside = winding >= 1 || open_end.is_some();
    for (index, &(distance, sign, cut)) in hits.iter().enumerate() {
        if cut.closed {
            winding -= sign;
        }
        let last = open_end.is_none_or(|end| index >= end);
        let guess = !inside && cut.own && distance > WITHIN * usual;
        if guess || (inside && last && winding <= 0) {
            return Reach { distance: Some(distance), inside, own: cut.own };
        }
    }
    Reach { distance: None, inside, own: false }
}

fn centroid(radii: &[f64; RAYS]) -> DVec2 {
    let (mut area, mut moment) = (0.0, DVec2::ZERO);
    for (ray, &radius) in radii.iter().enumerate() {
        area += radius * radius;
        moment += direction(ray) * (radius * radius * radius * 2.0 / 3.0);
    }
    if area > 0.0 { moment / area } else { DVec2::ZERO }
}

impl Profiles {
    /// Corners of a station's polygon, drawn in to `fill`.
    fn corner(&self, station: usize, ray: usize, fill: f64) -> DVec2 {
        self.centres[station] + direction(ray) * (self.radii[station][ray] * fill)
    }

    /// Area of a station's polygon.
    pub(super) fn area(&self, station: usize) -> f64 {
        let wedge = 0.5 * (TAU / RAYS as f64).sin();
        let radii = &self.radii[station];
        (0..RAYS).map(|ray| wedge * radii[ray] * radii[(ray + 1) % RAYS]).sum()
    }

    /// How far a place is inside the polygon drawn in to `fill`; negative outside.
    pub(super) fn depth(&self, station: usize, place: DVec2, fill: f64) -> f64 {
        let mut least = f64::INFINITY;
        let mut inside = false;
        for ray in 0..RAYS {
            let (a, b) = (self.corner(station, ray, fill), self.corner(station, (ray + 1) % RAYS, fill));
            let along = b - a;
            let t = ((place - a).dot(along) / along.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            least = least.min(place.distance(a + along * t));
            if (a.y > place.y) != (b.y > place.y) && place.x < a.x + along.x * (place.y - a.y) / along.y {
                inside = !inside;
            }
        }
        if inside { least } else { -least }
    }
}
