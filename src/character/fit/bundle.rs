//! Fibres in profiles: sites by Lloyd's iteration, radii as the space allows.

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};

use super::course::{BEYOND, Course, FINE, Frames};
use super::profile::{Profiles, RAYS, direction};
use super::{FittedMuscle, FittedPart, Layout};
use crate::flesh::{Bundle, Carriers, Disc, Holds};

/// Rings of samples in a profile.
const RINGS: usize = 8;
/// Rounds of Lloyd's iteration a section.
const ROUNDS: usize = 12;
/// Share of a profile that equal discs side by side can take.
const PACKING: f64 = 0.85;
/// How much larger than its share a disc may be, where there is space.
const LARGEST: f64 = 1.7;
/// How thick discs side by side may be over the distance between them; they may overlap a little.
const CROWDED: f64 = 0.56;
/// How thin a disc may get, over its share.
const THINNEST: f64 = 0.35;
/// How far pills may stand out of the profile drawn in, over the skin's usual distance.
const SLACK: f64 = 0.05;

/// Sites (m) in the plane of each section and their radii (m), `[section][fibre]`.
pub(super) struct Laid {
    sites: Vec<Vec<DVec2>>,
    radii: Vec<Vec<f64>>,
}

/// Spreads fibres over the profiles.
pub(super) fn lay(frames: &Frames, profiles: &Profiles, layout: &Layout) -> Laid {
    let sections = frames.section_count();
    let fibres = layout.fibres.clamp(1, 64);
    // From the middle outwards.
    let middle = sections / 2;
    let mut shapes: Vec<Vec<DVec2>> = vec![Vec::new(); sections];
    shapes[middle] = relaxed(profiles, Frames::of_section(middle), start(fibres));
    for section in middle + 1..sections {
        shapes[section] = relaxed(profiles, Frames::of_section(section), shapes[section - 1].clone());
    }
    for section in (0..middle).rev() {
        shapes[section] = relaxed(profiles, Frames::of_section(section), shapes[section + 1].clone());
    }
    // Fibres run straight where the space allows.
    let smooth = |section: usize, fibre: usize| {
        let (low, high) = (section.saturating_sub(1), (section + 1).min(sections - 1));
        0.5 * shapes[section][fibre] + 0.25 * (shapes[low][fibre] + shapes[high][fibre])
    };
    let sites: Vec<Vec<DVec2>> = (0..sections)
        .map(|section| {
            let station = Frames::of_section(section);
            (0..fibres).map(|fibre| unshaped(profiles, station, smooth(section, fibre), layout.fill)).collect()
        })
        .collect();
    let radii = radii(frames, profiles, &sites, layout);
    Laid { sites, radii }
}

/// Sites in a unit disc: one ring, with one in its middle from 7 on, with an inner ring from 10 on; mirrored in both
/// axes where their number allows.
fn start(fibres: usize) -> Vec<DVec2> {
    let inner = match fibres {
        1 => 1,
        0..=6 => 0,
        7..=9 => 1,
        _ => 3 * fibres / 10,
    };
    let ring = |count: usize, radius: f64| {
        (0..count).map(move |k| DVec2::from_angle(TAU * (k as f64 + 0.5) / count as f64) * radius)
    };
    ring(inner, if inner > 1 { 0.33 } else { 0.0 }).chain(ring(fibres - inner, 0.68)).collect()
}

/// The profile's radius in a direction, between its rays.
fn radius_towards(radii: &[f64; RAYS], towards: DVec2) -> f64 {
    let at = (towards.to_angle() / TAU * RAYS as f64 - 0.5).rem_euclid(RAYS as f64);
    let low = at.floor() as usize % RAYS;
    radii[low] + (radii[(low + 1) % RAYS] - radii[low]) * (at - at.floor())
}

/// From the unit disc into a station's profile drawn in to `fill`.
fn unshaped(profiles: &Profiles, station: usize, shape: DVec2, fill: f64) -> DVec2 {
    profiles.centres[station] + shape * (radius_towards(&profiles.radii[station], shape) * fill)
}

/// Lloyd's iteration in a station's profile. Sites are in the unit disc: their place from the centre over the
/// profile's radius in their direction.
fn relaxed(profiles: &Profiles, station: usize, mut shapes: Vec<DVec2>) -> Vec<DVec2> {
    let radii = &profiles.radii[station];
    let mut samples = Vec::with_capacity(RAYS * RINGS);
    for (ray, &radius) in radii.iter().enumerate() {
        for ring in 0..RINGS {
            let out = ((ring as f64 + 0.5) / RINGS as f64).sqrt();
            samples.push((direction(ray) * (radius * out), radius * radius));
        }
    }
    let mut sites: Vec<DVec2> = shapes.iter().map(|&shape| shape * radius_towards(radii, shape)).collect();
    for _ in 0..ROUNDS {
        let mut sums = vec![(DVec2::ZERO, 0.0); sites.len()];
        for &(place, weight) in &samples {
            let nearest = (0..sites.len())
                .min_by(|&a, &b| sites[a].distance_squared(place).total_cmp(&sites[b].distance_squared(place)));
            if let Some(nearest) = nearest {
                sums[nearest].0 += place * weight;
                sums[nearest].1 += weight;
            }
        }
        for (site, (sum, weight)) in sites.iter_mut().zip(sums) {
            if weight > 0.0 {
                *site = sum / weight;
            }
        }
    }
    for (shape, site) in shapes.iter_mut().zip(sites) {
        let radius = radius_towards(radii, site);
        *shape = if radius > 0.0 { site / radius } else { *shape };
    }
    shapes
}

/// As thick as their share of the area, as long as no pill stands out of the profiles around.
#[allow(clippy::needless_range_loop, reason = "a fibre's radius at both ends of a segment")]
fn radii(frames: &Frames, profiles: &Profiles, sites: &[Vec<DVec2>], layout: &Layout) -> Vec<Vec<f64>> {
    let stations = &frames.stations;
    let share: Vec<f64> = (0..sites.len())
        .map(|section| {
            let area = profiles.area(Frames::of_section(section)) * layout.fill * layout.fill;
            let usual = stations[Frames::of_section(section)].radius;
            (PACKING * area / (PI * sites[section].len() as f64)).sqrt().max(1.0e-3 * usual)
        })
        .collect();
    let place = |section: usize, fibre: usize| stations[Frames::of_section(section)].space(sites[section][fibre]);
    let depth = |station: usize, place: DVec3| {
        let slack = SLACK * stations[station].radius;
        profiles.depth(station, stations[station].flat(place), layout.fill) + slack
    };
    let mut radii: Vec<Vec<f64>> = sites
        .iter()
        .enumerate()
        .map(|(section, own)| {
            let at = Frames::of_section(section);
            let gap = |fibre: usize| {
                let others = own.iter().enumerate().filter(|(other, _)| *other != fibre);
                others.map(|(_, site)| site.distance(own[fibre])).fold(f64::INFINITY, f64::min)
            };
            (0..own.len())
                .map(|fibre| {
                    let centre = place(section, fibre);
                    let mut radius = (LARGEST * share[section]).min(CROWDED * gap(fibre));
                    for (station, frame) in stations.iter().enumerate() {
                        let off = (centre - frame.place).dot(frame.w);
                        if off.abs() < radius && profiles.known[station] && near(station, at) {
                            let depth = depth(station, centre).max(0.0);
                            radius = radius.min(depth.hypot(off));
                        }
                    }
                    radius.max(THINNEST * share[section])
                })
                .collect()
        })
        .collect();
    // Between the sections.
    for section in 0..sites.len() - 1 {
        for fibre in 0..sites[section].len() {
            for fine in 1..FINE {
                let t = fine as f64 / FINE as f64;
                let (a, b) = (place(section, fibre), place(section + 1, fibre));
                let radius = radii[section][fibre] * (1.0 - t) + radii[section + 1][fibre] * t;
                let depth = depth(Frames::of_section(section) + fine, a.lerp(b, t));
                let shrink = depth / radius;
                if shrink < 1.0 {
                    for end in [section, section + 1] {
                        radii[end][fibre] = (radii[end][fibre] * shrink.max(0.0)).max(THINNEST * share[end]);
                    }
                }
            }
        }
    }
    radii
}

/// Whether a sphere at one station may reach another without going around a bend.
fn near(a: usize, b: usize) -> bool {
    a.abs_diff(b) <= 2 * FINE + BEYOND
}

/// The bundle in the frames of one side.
pub(super) fn place(course: &Course, frames: &Frames, profiles: &Profiles, laid: &Laid) -> FittedMuscle {
    let sections = laid.sites.len();
    let disc = |section: usize, fibre: usize| Disc {
        place: frames.stations[Frames::of_section(section)].space(laid.sites[section][fibre]),
        radius: laid.radii[section][fibre],
    };
    let fibre = |fibre: usize| (0..sections).map(|section| disc(section, fibre)).collect();
    let bundle = Bundle { fibres: (0..laid.sites[0].len()).map(fibre).collect() };
    let bundle = if runs_on(&bundle, frames) { bundle } else { round(frames, laid.sites[0].len()) };
    let (holds, carriers) = holds(course, frames);
    let inner = BEYOND..frames.stations.len() - BEYOND;
    let skin_volume = inner.clone().zip(inner.skip(1)).map(|(a, b)| {
        0.5 * (profiles.area(a) + profiles.area(b)) * (frames.stations[b].along - frames.stations[a].along)
    });
    let spanned = frames.stations[frames.stations.len() - 1 - BEYOND].along - frames.stations[BEYOND].along;
    FittedMuscle {
        part: course.part,
        joints: course.joints.iter().chain(&course.twists).copied().collect(),
        path: course.path.clone(),
        radii: if course.part == FittedPart::Trunk { round_radii(frames, profiles) } else { course.radii.clone() },
        bundle,
        holds,
        carriers,
        skin_volume: skin_volume.sum::<f64>() * frames.length / spanned,
        own_skin: profiles.own,
        mirror: None,
    }
}

/// What holds a muscle's sections, and what carries them.
fn holds(course: &Course, frames: &Frames) -> (Vec<(usize, u32, Holds)>, Carriers<u32>) {
    let last = frames.section_count() - 1;
    let [first, second] = course.held_by;
    let Some(end_joint) = course.end_joint else {
        // A guide's node may slide out of reach when its bones jerk.
        let inner = |(point, &section): (usize, &usize)| match point {
            0 => (section, first, Holds::CLAMP),
            _ if section == last => (section, second, Holds::CLAMP),
            _ => (section, course.joints[point], Holds::PIN),
        };
        return (frames.joint_sections.iter().enumerate().map(inner).collect(), Carriers::default());
    };
    // A limb's flesh pulls on the joint at its far end, and goes with the limb.
    let holds = vec![(0, first, Holds::CLAMP), (last, end_joint, Holds::SOCKET)];
    let nodes = (0..=last).map(|section| section as f64 / last as f64).collect();
    if first == second {
        return (holds, Carriers { bones: vec![first, end_joint], nodes });
    }
    (holds, Carriers { bones: vec![first, second, end_joint], nodes })
}

/// Radii of the discs with the profiles' areas, at evenly spaced sections.
fn round_radii(frames: &Frames, profiles: &Profiles) -> Vec<f64> {
    const STATIONS: usize = 5;
    let last = frames.section_count() - 1;
    let at = |k: usize| Frames::of_section((k * last + (STATIONS - 1) / 2) / (STATIONS - 1));
    (0..STATIONS).map(|k| (profiles.area(at(k)) / PI).sqrt()).collect()
}

/// Whether a bundle's sections follow one another as its course does.
fn runs_on(bundle: &Bundle, frames: &Frames) -> bool {
    let (nodes, _) = bundle.sections();
    nodes.windows(2).enumerate().all(|(section, pair)| {
        let [a, b] = [section, section + 1].map(|section| frames.stations[Frames::of_section(section)].place);
        let step = pair[1].place - pair[0].place;
        step.is_finite() && step.dot(b - a) > 0.25 * a.distance_squared(b)
    })
}

/// Fibres around the path, as if the skin were round.
fn round(frames: &Frames, fibres: usize) -> Bundle {
    let thickness = (0.7 / fibres as f64).sqrt();
    let disc = |shape: DVec2, section: usize| {
        let station = &frames.stations[Frames::of_section(section)];
        Disc { place: station.space(shape * (0.9 * station.radius)), radius: 0.9 * thickness * station.radius }
    };
    let fibre = |shape: DVec2| (0..frames.section_count()).map(|section| disc(shape, section)).collect();
    Bundle { fibres: start(fibres).into_iter().map(fibre).collect() }
}
