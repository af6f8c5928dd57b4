//! Pill against pill in closed form, against a search in f64, on the CPU and on the GPU.

mod common;

use common::Random;
use glam::{DQuat, DVec3};
use sinew::cpu::lanes::{OneF32, OneF64};
use sinew::cpu::math::V3;
use sinew::cpu::pills::{Nearest, Pill, nearest, points};

/// A pill's ends and radii.
type Spheres = ([DVec3; 2], [f64; 2]);

/// What D(s, t) is at the least, by golden sections in both.
fn search(a: &Spheres, b: &Spheres) -> f64 {
    let at = |of: &Spheres, along: f64| (of.0[0].lerp(of.0[1], along), of.1[0] + (of.1[1] - of.1[0]) * along);
    let gap = |s: f64, t: f64| {
        let ((p, r), (q, w)) = (at(a, s), at(b, t));
        p.distance(q) - r - w
    };
    golden(|s| golden(|t| gap(s, t)))
}

/// The least of a convex function between 0 and 1.
fn golden(of: impl Fn(f64) -> f64) -> f64 {
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut x, mut y) = (1.0 - ratio, ratio);
    let (mut at_x, mut at_y) = (of(x), of(y));
    for _ in 0..36 {
        if at_x < at_y {
            (high, y, at_y) = (y, x, at_x);
            x = high - ratio * (high - low);
            at_x = of(x);
        } else {
            (low, x, at_x) = (x, y, at_y);
            y = low + ratio * (high - low);
            at_y = of(y);
        }
    }
    at_x.min(at_y).min(of(0.0)).min(of(1.0))
}

/// A pair of pills of any size between a millimetre and ten metres; every other one is degenerate in one way.
fn pair(random: &mut Random, index: usize) -> (Spheres, Spheres) {
    let size = 10.0_f64.powf(random.uniform(-3.0, 1.0));
    let pill = |random: &mut Random| -> Spheres {
        let from = random.vector(-1.0, 1.0) * size;
        let to = from + random.vector(-1.0, 1.0) * size;
        ([from, to], [random.uniform(0.01, 0.5) * size, random.uniform(0.01, 0.5) * size])
    };
    let (mut a, mut b) = (pill(random), pill(random));
    match index % 22 {
        // Spheres.
        1 => a.0[1] = a.0[0],
        3 => (a.0[1], b.0[1]) = (a.0[0], b.0[0]),
        // A cone's tip, and one end in the other.
        5 => a.1[0] = 0.0,
        7 => a.1[1] = a.1[0] + 1.5 * a.0[0].distance(a.0[1]),
        // Along each other, and on one line.
        9 => b.0[1] = b.0[0] + (a.0[1] - a.0[0]) * random.uniform(-2.0, 2.0),
        11 => (b.0[0], b.0[1]) = (a.0[0].lerp(a.0[1], 0.3), a.0[0].lerp(a.0[1], 1.8)),
        // The same, or the same the other way round.
        13 => b = a,
        15 => b = ([a.0[1], a.0[0]], [a.1[1], a.1[0]]),
        // Axes that cross.
        17 => {
            let (middle, half) = (a.0[0].lerp(a.0[1], 0.4), random.vector(-1.0, 1.0) * size);
            b.0 = [middle - half, middle + half];
        }
        // Cylinders.
        19 => (a.1[1], b.1[1]) = (a.1[0], b.1[0]),
        // Nearly along each other.
        21 => b.0[1] = b.0[0] + (a.0[1] - a.0[0]) + random.vector(-1.0e-4, 1.0e-4) * size,
        _ => {}
    }
    (a, b)
}

fn in_f32((ends, radii): &Spheres) -> Pill<f32> {
    Pill { ends: ends.map(|end| V3(end.as_vec3().to_array())), radii: radii.map(|radius| radius as f32) }
}

/// As f32 has them.
fn in_f64(pill: &Pill<f32>) -> Spheres {
    (pill.ends.map(|end| DVec3::from_array(end.0.map(f64::from))), pill.radii.map(f64::from))
}

/// The largest length of a pair.
fn size_of_pair(a: &Spheres, b: &Spheres) -> f64 {
    let [a_length, b_length] = [a, b].map(|of| of.0[0].distance(of.0[1]).max(of.1[0]).max(of.1[1]));
    a_length.max(b_length).max(a.0[0].distance(b.0[0]))
}

/// By how much what is said of a place and a gap there is off what pills are there, over their size; not a number where that is
/// none.
fn off(a: &Spheres, b: &Spheres, found: &Nearest<f32>) -> f64 {
    let [s, t] = found.along.map(f64::from);
    if !((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)) {
        return f64::NAN;
    }
    let apart = a.0[0].lerp(a.0[1], s) - b.0[0].lerp(b.0[1], t);
    let radii = a.1[0] + (a.1[1] - a.1[0]) * s + b.1[0] + (b.1[1] - b.1[0]) * t;
    let direction = DVec3::from_array(found.direction.0.map(f64::from));
    let off = (apart.length() - radii - f64::from(found.gap)).abs();
    let turned = (direction * apart.length() - apart).length();
    // A direction is one of length 1 wherever it is.
    let unit = if (direction.length() - 1.0).abs() < 1.0e-5 { 0.0 } else { f64::NAN };
    off.max(turned) / size_of_pair(a, b) + unit
}

/// The larger of two, not a number where either is none.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// By how much a search finds depths otherwise, and by how much witnesses are off.
#[derive(Clone, Copy, Default)]
struct Worst {
    depth: f64,
    witnesses: f64,
}

impl Worst {
    fn add(&mut self, [p, q]: &[Pill<f32>; 2], least: f64, found: &Nearest<f32>) {
        let (a, b) = (in_f64(p), in_f64(q));
        self.depth = worse(self.depth, (f64::from(found.gap) - least).abs() / size_of_pair(&a, &b));
        self.witnesses = worse(self.witnesses, off(&a, &b, found));
    }

    fn is_within_bar(&self) -> bool {
        self.depth <= 1.0e-4 && self.witnesses <= 1.0e-4
    }
}

fn pairs(count: usize) -> Vec<[Pill<f32>; 2]> {
    let mut random = Random(21);
    let mut pair = |index| pair(&mut random, index);
    (0..count).map(&mut pair).map(|(a, b)| [in_f32(&a), in_f32(&b)]).collect()
}

#[test]
fn the_deepest_spheres_are_those_that_a_search_finds() {
    let pairs = pairs(100_000);
    let mut worst = Worst::default();
    #[cfg(feature = "gpu")]
    let (on_gpu, mut worst_on_gpu) = (on_gpu::find(&pairs, None), Worst::default());
    for (index, pair) in pairs.iter().enumerate() {
        let least = search(&in_f64(&pair[0]), &in_f64(&pair[1]));
        worst.add(pair, least, &nearest(OneF32(0), &pair[0], &pair[1]));
        assert!(worst.is_within_bar(), "{:.1e}, {:.1e} in case {}", worst.depth, worst.witnesses, index % 22);
        #[cfg(feature = "gpu")]
        if let Some(found) = &on_gpu {
            worst_on_gpu.add(pair, least, &found[index].deepest);
            let Worst { depth, witnesses } = worst_on_gpu;
            assert!(worst_on_gpu.is_within_bar(), "on the GPU {depth:.1e}, {witnesses:.1e} in case {}", index % 22);
        }
    }
    let count = pairs.len();
    let Worst { depth, witnesses } = worst;
    println!("{count} pairs: depth off by {depth:.1e} of size, witnesses by {witnesses:.1e} (bar 1e-4)");
    #[cfg(feature = "gpu")]
    if on_gpu.is_some() {
        let Worst { depth, witnesses } = worst_on_gpu;
        println!("on the GPU: depth off by {depth:.1e} of size, witnesses by {witnesses:.1e} (bar 1e-4)");
    }
}

#[cfg(feature = "gpu")]
mod on_gpu {
    use super::*;
    use sinew::gpu::{
        ArrayId, ArraySpec, Buffers, GpuDevice, Kernel, KernelSpec, Loops, Recorder, Workgroups, read_now, wgpu,
    };
    use sinew::layout::WORKGROUP_SIZE;
    use sinew::step::{Size, StepParams};

    const ARRAYS: &[ArraySpec] =
        &[ArraySpec::words("trial_pairs", 16), ArraySpec::words("trial_nearest", WORDS as u32)];
    const PILLS: KernelSpec = KernelSpec {
        stage: "trial_pills",
        entry: "trial_pills",
        size: Size::Domain,
        source: include_str!("shaders/trial_pills.wgsl"),
        loops: Loops::AsWritten,
    };
    const WORDS: usize = 20;

    /// What the kernel says of a pair.
    pub struct Found {
        pub deepest: Nearest<f32>,
        pub points: [Nearest<f32>; 2],
        pub shares: [f32; 2],
    }

    /// A line of `pills.wgsl` with `⟨what⟩` marked, and what becomes of that.
    type Mutant = (&'static str, &'static str);

    const MUTANTS: &[Mutant] = &[
        ("let along = dot(from_first, axis) ⟨/⟩ larger(length2", "*"),
        ("let rest2 = length2 ⟨-⟩ grows * grows;", "+"),
        ("where_less(0.0, rest2, between(along ⟨+⟩ lean, 0.0, 1.0), end);", "-"),
        ("let end = where_less(0.0, grows, ⟨1.0⟩, 0.0);", "0.5"),
        ("length - (pill_radius(a, along.x) ⟨+⟩ pill_radius(b, along.y))", "-"),
        ("let way = select(fallback, direction(apart), ⟨1.0e-12⟩ < length);", "-1.0"),
        ("let is_deeper = other.gap ⟨<⟩ best.gap;", ">"),
        ("vec2<f32>(nearest_to(a, b.first), ⟨0.0⟩)", "1.0"),
        ("let alpha = (grows_a * vv ⟨+⟩ grows_b * uv) * inv;", "-"),
        ("let beta = ⟨-⟩((grows_b * uu", ""),
        ("let p = far * grows_a ⟨-⟩ dot(start, u);", "+"),
        ("between((q * uu ⟨+⟩ p * uv) * inv", "-"),
        ("let is_crossing = 1.0e-6 ⟨<⟩ left && larger(", ">"),
        ("select(vec3<f32>(0.0, ⟨1.0⟩, 0.0), one_line", "0.0"),
        ("onto(a, b, deepest.along.x + (end ⟨-⟩ deepest.along.x) * reach", "+"),
        ("point_towards(a, b, deepest, last, ⟨1.0⟩ - share, vec2<f32>(along, bears), level)", "2.0"),
        ("let first = between(dot(b.first ⟨-⟩ a.first, u)", "+"),
        ("let last = between(dot(b.last ⟨-⟩ a.first, u)", "+"),
        ("let along = lie_along(off2 * (1.0 / (CROSSED ⟨*⟩ CROSSED)));", "+"),
        ("let bears = lie_along(off2 * (1.0 / (ROCKS ⟨*⟩ ROCKS)));", "+"),
        ("let thinness = smaller(radii.x, radii.y) ⟨*⟩ 2.0", "+"),
        ("let u = along_a ⟨-⟩ deepest.direction * leans.x;", "+"),
        ("let v = along_b ⟨-⟩ deepest.direction * leans.y;", "+"),
        ("let slopes = vec2<f32>(leans.x ⟨-⟩ (a.radii.y", "+"),
        ("leans.y ⟨+⟩ (b.radii.y - b.radii.x));", "-"),
        ("let off2 = where_less(0.0, uu * vv, crosses2 ⟨+⟩ leads2, 1.0);", "-"),
        ("larger(uu * vv, MIN_POSITIVE) ⟨*⟩ thinness;", "/"),
    ];

    /// What the kernel, or what becomes of it by a change, says of pairs; `None` without a GPU.
    pub fn find(pairs: &[[Pill<f32>; 2]], changed: Option<&Mutant>) -> Option<Vec<Found>> {
        let gpu = common::gpu()?;
        Some(find_on(&gpu, pairs, changed))
    }

    fn find_on(gpu: &GpuDevice, pairs: &[[Pill<f32>; 2]], changed: Option<&Mutant>) -> Vec<Found> {
        let mut written = PILLS.written();
        if let Some((line, to)) = changed {
            let (before, rest) = line.split_once('⟨').expect("has a mark");
            let (what, after) = rest.split_once('⟩').expect("has a mark");
            let line = format!("{before}{what}{after}");
            assert_eq!(written.matches(&line).count(), 1, "{line}");
            written = written.replace(&line, &format!("{before}{to}{after}"));
        }
        let words = |pill: &Pill<f32>| {
            let [from, to] = pill.ends.map(|end| end.0);
            [from[0], from[1], from[2], to[0], to[1], to[2], pill.radii[0], pill.radii[1]]
        };
        let given: Vec<f32> = pairs.iter().flatten().flat_map(words).collect();
        let mut buffers = Buffers::new(gpu, ARRAYS).unwrap();
        let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        buffers.upload(gpu, &mut encoder, ArrayId(0), 0, &given).unwrap();
        buffers.reserve(gpu, &mut encoder, ArrayId(1), pairs.len() as u64).unwrap();
        let params = StepParams { group_count: pairs.len() as u32, ..StepParams::default() };
        buffers.upload_params(gpu, &mut encoder, &[params]).unwrap();
        let kernel = Kernel::written_so(gpu, &buffers, &PILLS, &written).unwrap();
        let mut recorder = Recorder::new(&mut encoder, None);
        recorder.dispatch(&kernel, 0, Workgroups::Count((pairs.len() as u32).div_ceil(WORKGROUP_SIZE)));
        recorder.finish(gpu, 1).unwrap();
        gpu.queue().submit([encoder.finish()]);
        let bytes = read_now(gpu, &[(buffers.array(ArrayId(1)), 0, (pairs.len() * WORDS * 4) as u64)]).unwrap();
        let words: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes);
        let nearest = |words: &[f32]| Nearest {
            along: [words[0], words[1]],
            direction: V3([words[2], words[3], words[4]]),
            gap: words[5],
        };
        let found = |words: &[f32]| Found {
            deepest: nearest(words),
            points: [nearest(&words[6..]), nearest(&words[12..])],
            shares: [words[18], words[19]],
        };
        words.chunks_exact(WORDS).map(found).collect()
    }

    /// By how much points' witnesses are off, and their gaps by their shares off those that the CPU finds, over the pair's size.
    fn worst_of(pairs: &[[Pill<f32>; 2]], found: &[Found]) -> f64 {
        let mut worst = 0.0;
        for ([p, q], found) in pairs.iter().zip(found) {
            let (a, b) = (in_f64(p), in_f64(q));
            let on_cpu = points(OneF32(0), p, q);
            let mean = |gaps: [f32; 2], shares: [f32; 2]| {
                (0..2).map(|k| f64::from(gaps[k]) * f64::from(shares[k])).sum::<f64>() / size_of_pair(&a, &b)
            };
            let on_cpu = mean(on_cpu.map(|point| point.nearest.gap), on_cpu.map(|point| point.share));
            let on_gpu = mean(found.points.each_ref().map(|point| point.gap), found.shares);
            // Where two centres are one, any direction is as good.
            let deepest = nearest(OneF32(0), p, q);
            let apart = deepest.gap + p.radius(deepest.along[0]) + q.radius(deepest.along[1]);
            if f64::from(apart) > 1.0e-5 * size_of_pair(&a, &b) {
                worst = worse(worst, (on_gpu - on_cpu).abs());
            }
            for point in &found.points {
                worst = worse(worst, off(&a, &b, point));
            }
        }
        worst
    }

    #[test]
    fn points_are_those_of_the_cpu() {
        let pairs = pairs(22_000);
        let Some(found) = find(&pairs, None) else { return };
        let worst = worst_of(&pairs, &found);
        println!("{} pairs of points: off by {worst:.1e} of size (bar 1e-4)", pairs.len());
        assert!(worst <= 1.0e-4);
    }

    #[test]
    fn a_changed_kernel_is_seen() {
        let Some(gpu) = common::gpu() else { return };
        let pairs = pairs(2_200);
        let least: Vec<f64> = pairs.iter().map(|[a, b]| search(&in_f64(a), &in_f64(b))).collect();
        for mutant in MUTANTS {
            let found = find_on(&gpu, &pairs, Some(mutant));
            let mut worst = Worst::default();
            for ((pair, least), found) in pairs.iter().zip(&least).zip(&found) {
                worst.add(pair, *least, &found.deepest);
            }
            let off = worst_of(&pairs, &found);
            let seen = !worst.is_within_bar() || off.is_nan() || off > 1.0e-4;
            assert!(seen, "{} became {} unseen", mutant.0, mutant.1);
        }
        println!("{} changed kernels: all seen", MUTANTS.len());
    }
}

/// Shares are of the whole, points are on the pills, and none of them jumps as one pill turns past the other.
#[test]
fn points_of_contact_do_not_hop() {
    let lanes = OneF64(0);
    let pill = |from: DVec3, to: DVec3, radii: [f64; 2]| Pill { ends: [V3(from.to_array()), V3(to.to_array())], radii };
    let a = pill(DVec3::ZERO, DVec3::X, [0.1, 0.12]);
    let mut worst = 0.0_f64;
    let step = 1.0e-4;
    for slope in [0.0, 0.02, -0.05] {
        let mut before: Option<(DVec3, f64)> = None;
        for k in 0..20_000 {
            let angle = -1.0 + step * f64::from(k);
            let way = DVec3::new(angle.cos(), slope * angle, angle.sin()).normalize() * 0.45;
            let b = pill(DVec3::new(0.5, 0.19, 0.02) - way, DVec3::new(0.5, 0.19, 0.02) + way, [0.1, 0.09]);
            let both = points(lanes, &a, &b);
            assert!((both[0].share + both[1].share - 1.0).abs() < 1.0e-12);
            // The couple and the force of penalties that are as stiff as their shares.
            let moments = both.map(|point| {
                let depth = (-point.nearest.gap).max(0.0) * point.share;
                let at = DVec3::from_array(a.centre(point.nearest.along[0]).0);
                (at.cross(DVec3::from_array(point.nearest.direction.0)) * depth, depth)
            });
            let now = (moments[0].0 + moments[1].0, moments[0].1 + moments[1].1);
            if let Some(before) = before {
                worst = worst.max(((now.0 - before.0).length() + (now.1 - before.1).abs()) / step);
            }
            before = Some(now);
        }
    }
    println!("as a pill turns by 1 rad, depth and its moment change by {worst:.2} m at most (bar 1)");
    assert!(worst <= 1.0);
}

/// Pills touch along a line where the gap grows little along it over the smaller radius: a thin one across a thick one does where
/// one as thin does not.
#[test]
fn what_is_thin_touches_what_is_thick_along_a_line() {
    let lanes = OneF64(0);
    let (thin, angle) = (0.01, 0.4_f64);
    let pill = |way: DVec3, height: f64, radius: f64| Pill {
        ends: [-way, way].map(|end| V3((end + DVec3::Y * height).to_array())),
        radii: [radius; 2],
    };
    let apart = |radius: f64| {
        let a = pill(DVec3::X * 0.05, thin, thin);
        let b = pill(DVec3::new(angle.cos(), 0.0, angle.sin()) * 0.05, -radius, radius);
        let both = points(lanes, &a, &b);
        let along = both.map(|point| 0.1 * point.nearest.along[0]);
        (both.map(|point| point.nearest.gap / thin), (along[1] - along[0]).abs() * both[1].share * 2.0)
    };
    let (gaps, far) = apart(0.2);
    let (_, near) = apart(thin);
    println!(
        "a pill of 1 cm touches one of 20 cm at points {:.1} cm apart, {:.1} % of its radius off (bars 3 and 10), and one of 1 cm at \
         points {:.1} cm apart (bar 0)",
        100.0 * far,
        100.0 * gaps[0].max(gaps[1]),
        100.0 * near
    );
    assert!(far >= 0.03 && gaps[0].max(gaps[1]) <= 0.1 && near == 0.0);
}

/// Cones side by side, whose surfaces lie along each other where their axes do not, touch along them: as one rocks against the other,
/// out of their common plane or in it, the force does not hop from one end to the other.
#[test]
fn cones_touch_along_their_surfaces() {
    let lanes = OneF64(0);
    let (length, radii) = (0.06_f64, [0.1, 0.06]);
    // Half of the angle at the tip.
    let lean = ((radii[0] - radii[1]) / length).asin();
    // Along x where they touch, with its first sphere below or above.
    let cone = |side: f64, rocks: DQuat| {
        let way = DVec3::new(lean.cos(), -side * lean.sin(), 0.0) * length;
        let first = DVec3::Y * side * (radii[0] - 0.001);
        let middle = DVec3::X * (0.5 * length * lean.cos());
        Pill { ends: [first, first + way].map(|end| V3((rocks * (end - middle) + middle).to_array())), radii }
    };
    let below = cone(-1.0, DQuat::IDENTITY);
    let step = 1.0e-5;
    let arm = |rocks: DQuat| {
        let above = cone(1.0, rocks);
        let forces = points(lanes, &above, &below).map(|point| {
            let depth = (-point.nearest.gap).max(0.0) * point.share;
            (above.centre(point.nearest.along[0]).0[0] * depth, depth)
        });
        (forces[0].0 + forces[1].0) / (forces[0].1 + forces[1].1)
    };
    for (name, axis) in [("in their plane", DVec3::Z), ("out of it", DVec3::Y)] {
        let arms: Vec<f64> = (-1_000..1_000).map(|k| arm(DQuat::from_axis_angle(axis, step * f64::from(k)))).collect();
        let worst = arms.windows(2).map(|pair| (pair[1] - pair[0]).abs() / length).fold(0.0, f64::max);
        println!(
            "cones that rock by 0.01 rad {name}: in 1e-5 rad the force goes {worst:.1e} of a length along them at most (bar 1e-3)"
        );
        assert!(worst <= 1.0e-3);
    }
}

/// A thin tip that stands on what is thick touches it at a point, its end.
#[test]
fn what_stands_on_its_end_touches_at_a_point() {
    let pill = |from: DVec3, to: DVec3, radius: f64| Pill {
        ends: [from, to].map(|end| V3(end.to_array())),
        radii: [radius; 2],
    };
    let thick = pill(DVec3::new(-0.2, -0.1, 0.0), DVec3::new(0.2, -0.1, 0.0), 0.1);
    for (from, to) in [(0.1, 0.003), (0.003, 0.1)] {
        let tip = pill(DVec3::Y * from, DVec3::Y * to, 0.003);
        for [a, b] in [[&tip, &thick], [&thick, &tip]] {
            for point in points(OneF64(0), a, b).into_iter().filter(|point| point.share > 0.0) {
                assert!(point.nearest.gap.abs() < 1.0e-12, "{} m off its end", point.nearest.gap);
            }
        }
    }
}

/// Where cones that lie along each other are deepest at an end of one, a point is there: the chain's next segment, if it has one, has
/// handed the contact over.
#[test]
fn what_is_deepest_at_an_end_is_a_point() {
    let mut random = Random(17);
    let (mut worst, mut count) = (0.0_f64, 0);
    for _ in 0..20_000 {
        let cone = |random: &mut Random, from: DVec3, way: DVec3| Pill {
            ends: [from, from + way].map(|end| V3(end.to_array())),
            radii: [random.uniform(0.05, 0.4), random.uniform(0.05, 0.4)],
        };
        let way = random.vector(-1.0, 1.0);
        let (beside, other) = (random.vector(-0.5, 0.5), way + random.vector(-0.2, 0.2));
        let (a, b) = (cone(&mut random, DVec3::ZERO, way), cone(&mut random, beside, other));
        let lanes = OneF64(0);
        let deepest = nearest(lanes, &a, &b);
        if !matches!(deepest.along[0], 0.0 | 1.0) {
            continue;
        }
        count += 1;
        let radius = deepest.along.iter().zip([&a, &b]).map(|(&along, pill)| pill.radius(along)).fold(1.0, f64::min);
        let deeper = points(lanes, &a, &b).map(|point| point.nearest.gap).into_iter().fold(f64::MAX, f64::min);
        worst = worst.max((deeper - deepest.gap) / radius);
    }
    println!(
        "{count} pairs deepest at an end: the deeper point is {worst:.1e} of a radius less deep at most (bar 1e-9)"
    );
    assert!(count > 5_000 && worst <= 1.0e-9);
}
