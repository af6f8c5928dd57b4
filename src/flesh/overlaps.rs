//! Segments of one flesh that leave each other alone: those that overlap at rest, and of one chain those that are near along it.

use super::Chain;
use crate::cpu::grid::{PairFinder, PairThreads, Sphere};
use crate::cpu::group::GroupRest;
use crate::cpu::lanes::OneF64;
use crate::cpu::math::V3;
use crate::cpu::pills::{Pill, nearest};
use crate::instances::SegmentName;
use crate::layout::rest;

/// How deep two segments are in each other, over the smaller radius, from which on they overlap: less is what rods that lie on each
/// other are off by.
const OVERLAP: f64 = 0.01;

/// Two segments of one chain are near where what is between them is shorter than this many of their radii: a chain that turns round
/// until they meet, its inside compressed to nothing.
const NEAR: f64 = std::f64::consts::PI;

/// All pairs of such segments, in ascending order.
pub(super) fn overlaps(chains: &[Chain], groups: &[GroupRest<f32>]) -> Vec<[SegmentName; 2]> {
    let mut in_order: Vec<&Chain> = chains.iter().collect();
    in_order.sort_by_key(|chain| (chain.group, chain.lane));
    let (mut names, mut pills): (Vec<SegmentName>, Vec<Pill<f64>>) = (Vec::new(), Vec::new());
    for chain in in_order {
        let radius = |index: usize| f64::from(groups[chain.group].row(index)[rest::RADIUS][chain.lane]);
        for index in 0..chain.node_count() - 1 {
            names.push([chain.group, chain.lane, index].map(|part| part as u16));
            pills.push(Pill {
                ends: [index, index + 1].map(|index| V3(chain.rest[index].translation.to_array())),
                radii: [index, index + 1].map(radius),
            });
        }
    }
    let common = pills.first().map_or([0.0; 3], |pill| pill.ends[0].0);
    let sphere = |pill: &Pill<f64>| {
        let (middle, along) = (pill.centre(0.5), pill.ends[1] - pill.ends[0]);
        let radius = 0.5 * along.dot(along).sqrt() + pill.radii[0].max(pill.radii[1]);
        // What rounding to f32 may take.
        let radius = radius * (1.0 + 1.0e-5);
        Sphere { centre: std::array::from_fn(|k| (middle.0[k] - common[k]) as f32), radius: radius as f32 }
    };
    let spheres: Vec<Sphere> = pills.iter().map(sphere).collect();
    let of_one_chain = |a: usize, b: usize| names[a][..2] == names[b][..2];
    // How long all segments before each are together (m).
    let mut before = vec![0.0];
    for pill in &pills {
        let along = pill.ends[1] - pill.ends[0];
        before.push(before[before.len() - 1] + along.dot(along).sqrt());
    }
    let largest = |index: usize| pills[index].radii[0].max(pills[index].radii[1]);
    let is_near =
        |a: usize, b: usize| of_one_chain(a, b) && before[b] - before[a + 1] <= NEAR * largest(a).max(largest(b));
    let overlap = |a: u32, b: u32| {
        let [one, other] = [a, b].map(|index| &pills[index as usize]);
        let smaller = one.radii.into_iter().chain(other.radii).fold(f64::MAX, f64::min);
        !is_near(a as usize, b as usize) && nearest(OneF64(0), one, other).gap < -OVERLAP * smaller
    };
    let mut pairs = Vec::new();
    PairFinder::default().find(&PairThreads::new(1), &spheres, overlap, &mut pairs);
    let thickest = (0..pills.len()).map(largest).fold(0.0, f64::max);
    for a in 0..pills.len() {
        let within = |&b: &usize| of_one_chain(a, b) && before[b] - before[a + 1] <= NEAR * thickest;
        let near = (a + 1..pills.len()).take_while(within).filter(|&b| is_near(a, b));
        pairs.extend(near.map(|b| [a as u32, b as u32]));
    }
    pairs.sort_unstable();
    pairs.into_iter().map(|pair| pair.map(|index| names[index as usize])).collect()
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::overlaps;
    use crate::Pose;
    use crate::flesh::{Flesh, RodSpec};

    /// Rods at random places, of which many overlap, at a size.
    fn tangle(size: f64) -> Vec<RodSpec> {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        };
        let mut place = || DVec3::new(random(), random(), random());
        let rod = |_| {
            let (from, to) = (place() * size, place() * size);
            RodSpec::straight("rod", from, to, 6, 0.03 * size)
        };
        (0..24).map(rod).collect()
    }

    #[test]
    fn what_overlaps_does_at_any_size() {
        let bones = [Pose::IDENTITY];
        let first = Flesh::build(&tangle(1.0), &bones).unwrap();
        let pairs = |flesh: &Flesh| overlaps(&flesh.chains, &flesh.groups);
        assert!(pairs(&first).len() > 100, "{} pairs", pairs(&first).len());
        for size in [0.013, 0.7, 1.3, 21.0] {
            let flesh = Flesh::build_as(&first, &tangle(size), &bones).unwrap();
            assert_eq!(pairs(&first), pairs(&flesh), "at {size}");
            assert_eq!(flesh, Flesh::build(&tangle(size), &bones).unwrap(), "at {size}");
        }
    }

    #[cfg(feature = "gltf")]
    #[test]
    fn what_overlaps_of_an_octopus_does_at_any_size() {
        let octopus = crate::Character::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/octopus.glb")).unwrap();
        let first = &octopus.body().flesh;
        assert!(first.overlaps.len() > 1000, "{} pairs", first.overlaps.len());
        for size in [0.05, 0.7, 1.3, 20.0] {
            let flesh = octopus.body_at(glam::Vec3::splat(size)).unwrap().flesh.clone();
            assert_eq!(overlaps(&flesh.chains, &flesh.groups), first.overlaps[..], "at {size}");
        }
    }
}
