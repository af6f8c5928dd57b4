//! Which courses are mirror images of one another.

use glam::DVec3;

use super::course::Course;

/// How far mirror images may be from one another, over their length.
const TOLERANCE: f64 = 0.02;

/// A mirror: the points x with n·x = offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    pub(super) normal: DVec3,
    pub(super) offset: f64,
}

impl Plane {
    pub(super) fn image(&self, place: DVec3) -> DVec3 {
        place - self.normal * (2.0 * (self.normal.dot(place) - self.offset))
    }

    pub(super) fn turn(&self, direction: DVec3) -> DVec3 {
        direction - self.normal * (2.0 * self.normal.dot(direction))
    }
}

/// The character's mirror, and for each course the one that is its image, itself for one that lies in the mirror.
pub(super) struct Images {
    pub(super) plane: Option<Plane>,
    pub(super) of: Vec<Option<usize>>,
}

/// The mirror that most courses agree on, among those between any two of them.
pub(super) fn find(courses: &[Course]) -> Images {
    let mut best = Images { plane: None, of: vec![None; courses.len()] };
    let mut most = 0;
    for (i, a) in courses.iter().enumerate() {
        for b in &courses[i + 1..] {
            let (from, to) = (middle(a), middle(b));
            let across = to - from;
            if a.path.len() != b.path.len() || across.length() < TOLERANCE * a.length() {
                continue;
            }
            let normal = upright(across.normalize());
            let plane = Plane { normal, offset: normal.dot(0.5 * (from + to)) };
            if !mirrors(&plane, a, b) {
                continue;
            }
            let of: Vec<Option<usize>> =
                courses.iter().map(|course| courses.iter().position(|other| mirrors(&plane, course, other))).collect();
            let mutual = |(k, image): (usize, &Option<usize>)| image.filter(|&other| of[other] == Some(k));
            let of: Vec<Option<usize>> = of.iter().enumerate().map(mutual).collect();
            let count = of.iter().flatten().count();
            if count > most {
                most = count;
                best = Images { plane: Some(plane), of };
            }
        }
    }
    best
}

/// Exactly an axis of the model where it is nearly that.
fn upright(normal: DVec3) -> DVec3 {
    let axis = [DVec3::X, DVec3::Y, DVec3::Z].into_iter().find(|axis| axis.dot(normal).abs() > 0.9995);
    axis.unwrap_or(normal)
}

fn middle(course: &Course) -> DVec3 {
    course.path.iter().sum::<DVec3>() / course.path.len() as f64
}

fn mirrors(plane: &Plane, a: &Course, b: &Course) -> bool {
    let near = TOLERANCE * a.length();
    let alike = |(a, b): (&f64, &f64)| (a / b).max(b / a) < 1.6;
    a.path.len() == b.path.len()
        && a.path.iter().zip(&b.path).all(|(a, b)| plane.image(*a).distance(*b) < near)
        && a.radii.iter().zip(&b.radii).filter(|&(a, b)| !alike((a, b))).count() <= 2
}

/// Makes images exact: each side the mean of itself and the other's image.
pub(super) fn straighten(courses: &mut [Course], images: &Images) {
    let Some(plane) = images.plane else { return };
    for (index, image) in images.of.iter().enumerate() {
        let Some(other) = image.filter(|&other| other >= index) else { continue };
        let mean = |a: &DVec3, b: &DVec3| 0.5 * (*a + plane.image(*b));
        let path: Vec<DVec3> = courses[index].path.iter().zip(&courses[other].path).map(|(a, b)| mean(a, b)).collect();
        let radii: Vec<f64> =
            courses[index].radii.iter().zip(&courses[other].radii).map(|(a, b)| 0.5 * (a + b)).collect();
        if other != index {
            courses[other].path = path.iter().map(|&place| plane.image(place)).collect();
            courses[other].radii.clone_from(&radii);
        }
        courses[index].path = path;
        courses[index].radii = radii;
    }
}
