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

/// For each course the one that is its image, itself for one that lies in the mirror, and the mirror.
pub(super) type Images = Vec<Option<(usize, Plane)>>;

/// Mirrors face the same way where their normals agree to this cosine.
const SAME_WAY: f64 = 0.99;

/// Images in the mirror that most courses agree on, among those between any two of them; then, of the rest, in the next
/// best mirrors that face the same way.
pub(super) fn find(courses: &[Course]) -> Images {
    let mut images: Images = vec![None; courses.len()];
    let mut facing: Option<DVec3> = None;
    loop {
        let mut best: Vec<(usize, usize, Plane)> = Vec::new();
        for (i, a) in courses.iter().enumerate() {
            for (k, b) in courses.iter().enumerate().skip(i + 1) {
                let across = middle(b) - middle(a);
                let apart = a.path.len() == b.path.len() && across.length() >= TOLERANCE * a.length();
                if !apart || images[i].is_some() || images[k].is_some() {
                    continue;
                }
                for normal in [upright(across.normalize()), across.normalize()] {
                    let plane = Plane { normal, offset: normal.dot(0.5 * (middle(a) + middle(b))) };
                    let same_way = facing.is_none_or(|facing| facing.dot(normal).abs() > SAME_WAY);
                    if same_way && mirrors(&plane, a, b) {
                        let found = in_mirror(courses, &images, &plane);
                        if found.len() > best.len() {
                            best = found;
                        }
                    }
                }
            }
        }
        let Some((_, _, plane)) = best.first() else { return images };
        facing = facing.or(Some(plane.normal));
        for (i, k, plane) in best {
            images[i] = Some((k, plane));
        }
    }
}

/// Courses without an image yet that have one in a plane, with the image.
fn in_mirror(courses: &[Course], images: &Images, plane: &Plane) -> Vec<(usize, usize, Plane)> {
    let image = |course: usize| {
        (0..courses.len()).find(|&k| images[k].is_none() && mirrors(plane, &courses[course], &courses[k]))
    };
    let of: Vec<Option<usize>> =
        (0..courses.len()).map(|course| if images[course].is_none() { image(course) } else { None }).collect();
    let mutual = |(course, image): (usize, &Option<usize>)| {
        image.filter(|&other| of[other] == Some(course)).map(|other| (course, other, *plane))
    };
    of.iter().enumerate().filter_map(mutual).collect()
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
    for (index, image) in images.iter().enumerate() {
        let Some((other, plane)) = image.filter(|(other, _)| *other >= index) else { continue };
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
