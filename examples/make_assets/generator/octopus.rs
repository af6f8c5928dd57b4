//! An octopus that sits on the floor, and takes a leap.

use super::field::{self, Part, capsule, chain, union};
use super::motion::{after, ease, turn, wave};
use super::{Bone, Joint, Material, Model, Surface, Track};
use glam::{Mat3, Vec3};

const fn v(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

const TENTACLES: usize = 8;
/// Joints of a tentacle; the last one moves its tip.
const LINKS: usize = 10;
const BODY: usize = 0;
const MANTLE: usize = 1;
const FIRST: usize = 2;
const EYES: [Vec3; 2] = [v(-0.088, 0.272, 0.082), v(0.088, 0.272, 0.082)];

fn radius(u: f32) -> f32 {
    0.058 + (0.0155 - 0.058) * u * (1.45 - 0.45 * u)
}

/// Place along a tentacle, `u` from 0 at the body to 1 at the tip.
fn path(tentacle: usize, u: f32) -> Vec3 {
    // All bend the same way round, a little unevenly, so that no two touch.
    let bend = if tentacle.is_multiple_of(2) { 0.125 } else { 0.095 };
    let turns = (tentacle as f32 + 0.5) / TENTACLES as f32 + bend * u * u;
    let reach = 0.062 + 0.60 * u - 0.06 * u * u;
    let sit = (1.0 - u / 0.42).max(0.0);
    let tip = (u - 0.72).max(0.0) / 0.28;
    let height = radius(u) + 0.115 * sit * sit + (0.05 + 0.03 * (tentacle % 3) as f32) * tip * tip;
    v(reach * wave(turns + 0.25), height, reach * wave(turns))
}

fn joint(tentacle: usize, link: usize) -> usize {
    FIRST + tentacle * LINKS + link
}

fn link_u(link: usize) -> f32 {
    link as f32 / LINKS as f32
}

fn joints() -> Vec<Joint> {
    let mut all = vec![
        Joint { name: "body".into(), parent: None, place: v(0.0, 0.17, 0.0) },
        Joint { name: "mantle".into(), parent: Some(BODY), place: v(0.0, 0.30, -0.03) },
    ];
    for t in 0..TENTACLES {
        for k in 0..LINKS {
            let parent = if k == 0 { BODY } else { joint(t, k - 1) };
            all.push(Joint { name: format!("tentacle_{t}_{k}"), parent: Some(parent), place: path(t, link_u(k)) });
        }
    }
    all
}

fn bones() -> Vec<Bone> {
    let mut bones = vec![
        Bone { joint: BODY, part: ellipsoid_back(v(0.0, 0.20, 0.01), v(0.10, 0.10, 0.10)) },
        Bone { joint: MANTLE, part: ellipsoid_back(v(0.0, 0.41, -0.09), v(0.12, 0.16, 0.12)) },
    ];
    for t in 0..TENTACLES {
        for k in 0..LINKS {
            let (a, b) = (link_u(k), link_u(k + 1));
            bones.push(Bone { joint: joint(t, k), part: capsule(path(t, a), path(t, b), radius(a), radius(b)) });
        }
    }
    bones
}

/// An ellipsoid whose long axis leans back.
fn ellipsoid_back(centre: Vec3, radii: Vec3) -> Part {
    let up = v(0.0, 0.9, -0.436).normalize();
    Part::Ellipsoid { centre, axes: Mat3::from_cols(Vec3::X, up, Vec3::X.cross(up)), radii }
}

/// How high the body is (m), how far the tentacles hang and how strongly they wave, at time `t`.
fn swim(t: f32) -> (f32, f32, f32) {
    let height = 0.60 * (ease(t, 0.12, 0.75) - ease(t, 1.0, 2.75)) - 0.03 * (ease(t, 0.0, 0.1) - ease(t, 0.1, 0.2))
        + 0.02 * (ease(t, 2.7, 2.8) - ease(t, 2.8, 3.0));
    let hang = ease(t, 0.22, 0.70) - ease(t, 0.85, 1.75);
    let waving = ease(t, 0.5, 1.0) - ease(t, 1.9, 2.8);
    (height, hang, waving)
}

pub fn octopus() -> Model {
    let limbs: Vec<Vec<Part>> = (0..TENTACLES)
        .map(|t| {
            let points: Vec<(Vec3, f32)> =
                (0..=2 * LINKS).map(|i| i as f32 / (2 * LINKS) as f32).map(|u| (path(t, u), radius(u))).collect();
            chain(&points).collect()
        })
        .collect();
    let head = [
        ellipsoid_back(v(0.0, 0.215, 0.015), v(0.105, 0.105, 0.105)),
        ellipsoid_back(v(0.0, 0.415, -0.085), v(0.142, 0.185, 0.140)),
    ];
    let brows = EYES.map(|eye| field::ellipsoid(eye - v(0.0, -0.004, 0.012), Vec3::splat(0.043)));
    let skin = |p: Vec3| {
        let head = field::blend(union(&head, 0.10, p), union(&brows, 0.01, p), 0.025);
        let limbs = limbs.iter().fold(1e3, |d: f32, limb| {
            // Within one limb the capsules join as they are.
            let own = limb.iter().fold(1e3, |d: f32, part| d.min(part.distance(p)));
            field::blend(d, own, 0.035)
        });
        field::blend(head, limbs, 0.075)
    };
    let outwards = EYES.map(|eye| v(eye.x * 0.75, 0.012, 0.085).normalize());
    let eyes: Vec<Part> = (0..2).map(|i| field::ellipsoid(EYES[i] + outwards[i] * 0.011, Vec3::splat(0.031))).collect();
    let pupils: Vec<Part> = (0..2)
        .map(|i| Part::Ellipsoid {
            centre: EYES[i] + outwards[i] * 0.0385,
            axes: {
                let side = Vec3::Y.cross(outwards[i]).normalize();
                Mat3::from_cols(side, outwards[i].cross(side), outwards[i])
            },
            radii: v(0.019, 0.013, 0.006),
        })
        .collect();
    let bones = bones();
    let fixed = [Bone { joint: BODY, part: capsule(Vec3::ZERO, Vec3::Y, 1.0, 1.0) }];
    let around_eyes = [v(-0.16, 0.20, 0.02), v(0.16, 0.34, 0.17)];
    let surfaces = vec![
        Surface::of(&skin, [v(-0.72, -0.03, -0.72), v(0.72, 0.64, 0.72)], 0.0165, &bones, 0),
        Surface::of(&|p| union(&eyes, 1e-3, p), around_eyes, 0.009, &fixed, 1),
        Surface::of(&|p| union(&pupils, 1e-3, p), around_eyes, 0.006, &fixed, 2),
    ];

    const FRAMES: u16 = 60;
    let times: Vec<f32> = (0..=FRAMES).map(|i| f32::from(i) / 20.0).collect();
    let mut tracks = vec![
        Track::Translation(BODY, times.iter().map(|&t| v(0.0, 0.17 + swim(t).0, 0.0)).collect()),
        Track::Rotation(MANTLE, times.iter().map(|&t| turn(Vec3::X, 9.0 * swim(t).2 * wave(t / 1.5))).collect()),
    ];
    for t in 0..TENTACLES {
        let turns = (t as f32 + 0.5) / TENTACLES as f32;
        let out = v(wave(turns + 0.25), 0.0, wave(turns));
        let down = out.cross(Vec3::NEG_Y);
        for k in 0..LINKS {
            let share = [26.0, 16.0, 8.0, 5.0, 3.0, 2.0, 2.0, 2.0, 2.0, 2.0][k];
            let key = |&time: &f32| {
                let (_, hang, waving) = swim(time);
                let phase = time / 1.5 - k as f32 * 0.11;
                let lift = 7.0 * waving * wave(phase + (t % 2) as f32 * 0.12);
                let sway = 5.0 * waving * wave(phase + t as f32 * 0.31);
                after(turn(down, share * hang + lift), turn(Vec3::Y, sway))
            };
            tracks.push(Track::Rotation(joint(t, k), times.iter().map(key).collect()));
        }
    }
    let material = |name, base_colour, roughness| Material { name, base_colour, roughness };
    Model {
        name: "octopus",
        copyright: None,
        animation: "swim",
        joints: joints(),
        muscles: Vec::new(),
        materials: vec![
            material("skin", [0.74, 0.23, 0.13, 1.0], 0.55),
            material("eyes", [0.88, 0.84, 0.70, 1.0], 0.3),
            material("pupils", [0.015, 0.012, 0.012, 1.0], 0.2),
        ],
        surfaces,
        times,
        tracks,
    }
}
