//! Scale-invariant shape matching, (32)–(36): transforms recovered, sections without a shape of their own, units and
//! noise.

mod common;

use common::Random;
use glam::{DMat3, DQuat, DVec3};
use sinew::Pose;
use sinew::flesh::{MatchError, RestDisc, RestSection, Similarity, rotational_part};

/// How the centres of a section's discs lie.
#[derive(Clone, Copy, Debug)]
enum Centres {
    Scattered,
    Collinear,
    Coincident,
}

/// Discs about 1 cm thick and 5 cm apart, each with a frame of its own.
fn section(random: &mut Random, count: usize, centres: Centres) -> RestSection {
    let from = random.vector(-0.5, 0.5);
    let along = random.vector(-0.05, 0.05);
    let discs = (0..count).map(|_| {
        let place = match centres {
            Centres::Scattered => from + random.vector(-0.05, 0.05),
            Centres::Collinear => from + along * random.uniform(-1.0, 1.0),
            Centres::Coincident => from,
        };
        RestDisc { pose: Pose::new(place, random.rotation()), radius: random.log_uniform(0.001, 0.02) }
    });
    RestSection::new(discs.collect()).unwrap()
}

fn transform(random: &mut Random, rotation: DQuat) -> Similarity {
    Similarity { translation: random.vector(-3.0, 3.0), rotation, scale: random.log_uniform(0.1, 10.0) }
}

fn half_turn(random: &mut Random) -> DQuat {
    DQuat::from_axis_angle((random.rotation() * DVec3::X).normalize(), std::f64::consts::PI)
}

/// The radius of the sphere that holds a section (m).
fn size(section: &RestSection) -> f64 {
    let reach = |disc: &RestDisc| disc.radius + disc.pose.translation.distance(section.centroid());
    section.discs().iter().map(reach).fold(0.0, f64::max)
}

/// The largest of: the scale's relative error, the angle (rad), and how far a point of the section's size is misplaced
/// relative to that size.
fn error(found: &Similarity, exact: &Similarity, section: &RestSection) -> f64 {
    let (discs, size) = (section.discs(), size(section));
    let off = |p: DVec3| found.transform_point(p).distance(exact.transform_point(p)) / (size * exact.scale);
    discs
        .iter()
        .map(|disc| off(disc.pose.translation))
        .chain([(found.scale / exact.scale - 1.0).abs(), found.rotation.angle_between(exact.rotation)])
        .fold(0.0, f64::max)
}

#[test]
fn any_similarity_transform_is_recovered() {
    for (name, centres, counts) in [
        ("scattered", Centres::Scattered, 2..13),
        ("collinear", Centres::Collinear, 2..9),
        ("coincident", Centres::Coincident, 2..9),
        ("one fibre", Centres::Coincident, 1..2),
    ] {
        let (mut worst, mut tried) = (0.0_f64, 0);
        for seed in 0..1500 {
            let random = &mut Random(seed);
            let count = counts.start + seed as usize % counts.len();
            let section = section(random, count, centres);
            let rotation = if seed % 3 == 0 { half_turn(random) } else { random.rotation() };
            let exact = transform(random, rotation);
            let current: Vec<Similarity> = section.carried(exact).collect();
            // From nothing, from a near guess, and from the worst ones: half a turn off.
            for start in [
                DQuat::IDENTITY,
                DQuat::from_scaled_axis(random.vector(-0.1, 0.1)) * rotation,
                half_turn(random) * rotation,
                rotation * DQuat::from_rotation_z(std::f64::consts::PI),
            ] {
                worst = worst.max(error(&section.matched(&current, start).unwrap(), &exact, &section));
                tried += 1;
            }
        }
        println!("{name}: {tried} matches, off by at most {worst:.1e} (bar 1e-5)");
        assert!(worst <= 1.0e-5);
    }
}

/// Horn 1987: the quaternion of the largest eigenvalue of a 4×4 matrix, here by its trace over all rotations.
fn largest_trace(matrix: &DMat3) -> f64 {
    let m = |i: usize, k: usize| matrix.col(k)[i];
    let (xx, yy, zz) = (m(0, 0), m(1, 1), m(2, 2));
    let (x, y, z) = (m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1));
    let (xy, xz, yz) = (m(0, 1) + m(1, 0), m(0, 2) + m(2, 0), m(1, 2) + m(2, 1));
    let mut n =
        [[xx + yy + zz, x, y, z], [x, xx - yy - zz, xy, xz], [y, xy, yy - xx - zz, yz], [z, xz, yz, zz - xx - yy]];
    // Squared over and over, shifted so that the largest eigenvalue is the largest in size.
    let shift = n.iter().flatten().map(|entry| entry.abs()).sum::<f64>();
    (0..4).for_each(|i| n[i][i] += shift);
    let original = n;
    for _ in 0..60 {
        let size = n.iter().flatten().map(|entry| entry.abs()).fold(0.0, f64::max);
        let product = |i: usize, k: usize| (0..4).map(|j| n[i][j] / size * (n[j][k] / size)).sum::<f64>();
        n = std::array::from_fn(|i| std::array::from_fn(|k| product(i, k)));
    }
    let length = |v: &[f64; 4]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let vector = n.into_iter().max_by(|a, b| length(a).total_cmp(&length(b))).unwrap();
    let quotient = |i: usize| vector[i] * (0..4).map(|k| original[i][k] * vector[k]).sum::<f64>();
    (0..4).map(quotient).sum::<f64>() / length(&vector).powi(2) - shift
}

#[test]
fn rotation_is_the_nearest_one_from_any_start() {
    let mut worst = 0.0_f64;
    for seed in 0..6000 {
        let random = &mut Random(seed);
        let vector = |random: &mut Random| random.vector(-1.0, 1.0);
        let mut matrix = DMat3::from_cols(vector(random), vector(random), vector(random));
        match seed % 4 {
            1 => matrix.z_axis = matrix.x_axis * 0.3 - matrix.y_axis,
            2 => matrix = DMat3::from_cols(matrix.x_axis, matrix.x_axis * -0.5, matrix.x_axis * 2.0),
            3 => matrix = DMat3::from_quat(random.rotation()) * DMat3::from_diagonal(vector(random).abs() + 0.1),
            _ => {}
        }
        matrix *= random.log_uniform(1.0e-9, 1.0e9);
        let best = largest_trace(&matrix);
        let size = matrix.to_cols_array().into_iter().map(|x| x * x).sum::<f64>().sqrt();
        let r = DMat3::from_quat(rotational_part(&matrix, random.rotation()));
        let found = r.x_axis.dot(matrix.x_axis) + r.y_axis.dot(matrix.y_axis) + r.z_axis.dot(matrix.z_axis);
        worst = worst.max((best - found) / size);
    }
    println!("tr(RᵀA) below the largest by at most {worst:.1e} of |A| (bar 1e-9)");
    assert!(worst <= 1.0e-9);
}

/// Discs that a transform and noise of this part of their size moved.
fn noisy(random: &mut Random, section: &RestSection, exact: Similarity, noise: f64) -> Vec<Similarity> {
    section
        .carried(exact)
        .map(|disc| Similarity {
            translation: disc.translation + random.vector(-1.0, 1.0) * (noise * size(section) * exact.scale),
            rotation: DQuat::from_scaled_axis(random.vector(-1.0, 1.0) * noise) * disc.rotation,
            scale: disc.scale * (1.0 + random.uniform(-1.0, 1.0) * noise),
        })
        .collect()
}

/// (33) with the weights of the match.
fn shape_energy(section: &RestSection, found: &Similarity, current: &[Similarity]) -> f64 {
    let each = section.carried(*found).zip(current).zip(section.discs()).map(|((carried, now), rest)| {
        let frame = |t: &Similarity| DMat3::from_quat(t.rotation) * t.scale;
        let turned = frame(&carried) - frame(now);
        let columns = 0.25 * (turned.x_axis.length_squared() + turned.y_axis.length_squared());
        let area = rest.radius * rest.radius;
        area * (carried.translation.distance_squared(now.translation) + area * columns)
    });
    each.sum()
}

#[test]
fn noise_moves_the_match_by_as_much_and_no_neighbour_is_better() {
    let (mut worst, mut worst_rise, mut drift) = (0.0_f64, f64::MAX, 0.0_f64);
    for seed in 0..400 {
        let random = &mut Random(seed);
        let section = section(random, 3 + seed as usize % 6, Centres::Scattered);
        let rotation = random.rotation();
        let exact = transform(random, rotation);
        let noise = [1.0e-3, 1.0e-2, 0.1][seed as usize % 3];
        let current = noisy(random, &section, exact, noise);
        let found = section.matched(&current, DQuat::IDENTITY).unwrap();
        let undisturbed: Vec<Similarity> = section.carried(exact).collect();
        let (drifted, disturbed) =
            (shape_energy(&section, &found, &undisturbed), shape_energy(&section, &exact, &current));
        worst = worst.max((drifted / disturbed).sqrt());

        let least = shape_energy(&section, &found, &current);
        for (along, step) in (0..14).flat_map(|along| [1.0e-4, 1.0e-2].map(|step| (along, step))) {
            let step = if along % 2 == 0 { step } else { -step };
            let mut other = found;
            let axis = DVec3::from_array(std::array::from_fn(|k| if k == along / 2 % 3 { step } else { 0.0 }));
            match along / 2 {
                0..3 => other.translation += axis * (0.05 * found.scale),
                3..6 => {
                    // About the section's own centroid.
                    let turn = Similarity::from(Pose::new(DVec3::ZERO, DQuat::from_scaled_axis(axis)));
                    let centre = Similarity::from(Pose::from_translation(found.transform_point(section.centroid())));
                    let back = Similarity::from(Pose::from_translation(-centre.translation));
                    other = centre * turn * back * found;
                }
                _ => other.scale *= 1.0 + step,
            }
            worst_rise = worst_rise.min(shape_energy(&section, &other, &current) / least - 1.0);
        }
        let area = |i: usize| section.discs()[i].radius.powi(2);
        let shift: DVec3 = section
            .carried(found)
            .zip(&current)
            .enumerate()
            .map(|(i, (a, b))| (a.translation - b.translation) * area(i))
            .sum();
        drift = drift.max(shift.length() / (0..current.len()).map(area).sum::<f64>() / exact.scale);
    }
    println!(
        "noise moves the match by at most {worst:.2} of itself (bar 1.1, root mean square over the discs); (33) at a neighbour is at least {worst_rise:.1e} \
         above its least (bar 0); the centroid moves by {drift:.1e} m (bar 1e-12)"
    );
    assert!(worst <= 1.1 && worst_rise > 0.0 && drift <= 1.0e-12);
}

#[test]
fn millimetres_give_the_same_shape() {
    let mut worst = 0.0_f64;
    for seed in 0..600 {
        let random = &mut Random(seed);
        let centres = [Centres::Scattered, Centres::Collinear, Centres::Coincident][seed as usize % 3];
        let section = section(random, 1 + seed as usize % 8, centres);
        let rotation = random.rotation();
        let exact = transform(random, rotation);
        let current = noisy(random, &section, exact, 0.1);
        let in_metres = section.matched(&current, DQuat::IDENTITY).unwrap();

        let larger = |disc: &RestDisc| RestDisc {
            pose: Pose::new(disc.pose.translation * 1.0e3, disc.pose.rotation),
            radius: disc.radius * 1.0e3,
        };
        let in_mm = RestSection::new(section.discs().iter().map(larger).collect()).unwrap();
        let moved: Vec<Similarity> =
            current.iter().map(|disc| Similarity { translation: disc.translation * 1.0e3, ..*disc }).collect();
        let mut found = in_mm.matched(&moved, DQuat::IDENTITY).unwrap();
        found.translation *= 1.0e-3;
        worst = worst.max(error(&found, &in_metres, &section));
    }
    println!("discs with 10 % noise, in metres and millimetres: matches differ by {worst:.1e} (bar 1e-4)");
    assert!(worst <= 1.0e-4);
}

#[test]
fn what_cannot_be_matched_is_said() {
    let disc = |radius: f64| RestDisc { pose: Pose::IDENTITY, radius };
    assert_eq!(RestSection::new(vec![]), Err(MatchError::NoDiscs));
    for radius in [0.0, -1.0, f64::INFINITY] {
        assert_eq!(RestSection::new(vec![disc(1.0), disc(radius)]), Err(MatchError::BadRestDisc { disc: 1, radius }));
    }
    assert!(RestSection::new(vec![disc(f64::NAN)]).is_err());
    let section = RestSection::new(vec![disc(0.1), disc(0.2)]).unwrap();
    let one = [Similarity::IDENTITY];
    assert_eq!(section.matched(&one, DQuat::IDENTITY), Err(MatchError::DiscCount { given: 1, expected: 2 }));
    let lost = Similarity { scale: f64::NAN, ..Similarity::IDENTITY };
    assert_eq!(section.matched(&[one[0], lost], DQuat::IDENTITY), Err(MatchError::NotFinite { disc: 1 }));
    // A start that is no rotation is none.
    let found = section.matched(&[one[0], one[0]], DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)).unwrap();
    assert!((found.scale - 1.0).abs() < 1.0e-12 && found.rotation.angle_between(DQuat::IDENTITY) < 1.0e-9);
}
