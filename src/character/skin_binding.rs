//! Which flesh a character's skin follows: how much of each vertex the muscles beneath may have, and what of its bones'
//! weights a muscle's own surface gets.

use std::sync::Arc;

use glam::DVec3;

use super::first_flesh::{FleshOptions, RestSkin, influences};
use super::muscles::MuscleCourse;
use super::skin_tree::SkinTree;
use super::skin_weights::{Pull, PullLimit, SkinFairing, carrier_weights, flesh_pills};
use super::{CharacterAsset, MAX_INFLUENCES};
use crate::flesh::{Chain, Flesh};
use crate::skin::{SectionWeight, Skin, SkinSection, SkinVertex};

/// Binds the skin to flesh on joints.
pub(super) fn bind_skin(
    asset: &CharacterAsset,
    (rest, tree): (&RestSkin, &SkinTree),
    (flesh, bones): (&Flesh, &[u32]),
    courses: &[MuscleCourse],
    options: &FleshOptions,
) -> Skin {
    let mesh = &asset.mesh;
    let mut skin = Skin { sections: SkinSection::all(flesh), palette_len: asset.palette.len(), ..Skin::default() };
    skin.blending = options.blending;
    (skin.rest_linear, skin.morphs) = (Arc::new(rest.linear.clone()), mesh.morphs.clone());
    let pills = flesh_pills(flesh);
    let limits = pull_limits(asset, (rest, tree), (flesh, bones), options);
    let fairing = SkinFairing {
        places: &rest.positions,
        triangles: &mesh.triangles,
        pills: &pills,
        pull: Pull::Limited(&limits),
        fair: true,
    };
    let mut weights = fairing.weights();
    let mut influences: Vec<_> =
        mesh.influence_joints.iter().copied().zip(mesh.influence_weights.iter().copied()).collect();

    let first_chain = flesh.chains().len() - courses.len();
    for (index, course) in courses.iter().enumerate() {
        let Some(surface) = &course.surface else { continue };
        let chain = (first_chain + index) as u32;
        let own: Vec<_> = pills.iter().filter(|pill| pill.chain == chain).copied().collect();
        let range = surface.vertices.start as usize..surface.vertices.end as usize;
        let triangles: Vec<[u32; 3]> = mesh.triangles[surface.triangles.start as usize..surface.triangles.end as usize]
            .iter()
            .map(|triangle| triangle.map(|vertex| vertex - surface.vertices.start))
            .collect();
        let places = &rest.positions[range.clone()];
        let fairing = SkinFairing { places, triangles: &triangles, pills: &own, pull: Pull::Whole, fair: true };
        for (vertex, sections) in range.zip(fairing.weights()) {
            influences[vertex] = carried(&skin.sections, &sections, |bone| surface.palette_entry(bones[bone as usize]));
            weights[vertex] = sections;
        }
    }

    for (vertex, (sections, (entries, strengths))) in weights.into_iter().zip(influences).enumerate() {
        let mut joints = [0_u32; MAX_INFLUENCES / 2];
        for (k, &entry) in entries.iter().enumerate() {
            joints[k / 2] |= u32::from(entry) << (16 * (k % 2));
        }
        skin.vertices.push(SkinVertex {
            position: mesh.positions[vertex].to_array(),
            first_section: skin.weights.len() as u32,
            normal: mesh.normals[vertex].to_array(),
            section_count: sections.len() as u32,
            rest_position: rest.positions[vertex].to_array(),
            rest_normal: rest.normals[vertex].to_array(),
            joints,
            weights: strengths,
            tangent: mesh.tangents.get(vertex).copied().unwrap_or_default().to_array(),
            rest_tangent: rest.tangents.get(vertex).copied().unwrap_or_default().to_array(),
            ..SkinVertex::default()
        });
        skin.weights.extend(sections);
    }
    skin.drop_idle_sections();
    for section in &mut skin.sections {
        let chain = section.chain as usize;
        let radius = flesh.chains()[chain].sections[section.node as usize].radius();
        let own_surface = chain >= first_chain && courses[chain - first_chain].surface.is_some();
        section.reach = if own_surface { 0.0 } else { (options.reach * radius) as f32 };
    }
    skin
}

/// Palette entries and weights of a vertex that follows sections alone: those of the bones that carry them.
fn carried(
    sections: &[SkinSection],
    weights: &[SectionWeight],
    entry: impl Fn(u32) -> u16,
) -> ([u16; MAX_INFLUENCES], [f32; MAX_INFLUENCES]) {
    let (mut entries, mut strengths) = ([0; MAX_INFLUENCES], [0.0; MAX_INFLUENCES]);
    for (k, (bone, weight)) in carrier_weights(sections, weights, MAX_INFLUENCES).into_iter().enumerate() {
        (entries[k], strengths[k]) = (entry(bone), weight);
    }
    (entries, strengths)
}

/// 1 up to `from`, 0 beyond `to`, smooth between.
fn fade(value: f64, [from, to]: [f64; 2]) -> f64 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    1.0 - t * t * (3.0 - 2.0 * t)
}

/// How much of each vertex each chain may have: as much as the joints that the chain goes over pull on the vertex, fading
/// with its distance, so that skin near another bone, and skin far from the flesh, follows bones.
fn pull_limits(
    asset: &CharacterAsset,
    (rest, tree): (&RestSkin, &SkinTree),
    (flesh, bones): (&Flesh, &[u32]),
    options: &FleshOptions,
) -> Vec<PullLimit> {
    let owners = tree.owners();
    let over: Vec<Vec<u32>> = flesh.chains().iter().map(|chain| joints_over(tree, chain, bones)).collect();
    let limit = |vertex: usize| {
        let place = rest.positions[vertex].as_dvec3();
        let chains = flesh.chains().iter().enumerate().filter_map(|(index, chain)| {
            let pull: f64 = influences(asset, vertex)
                .filter(|&(entry, _)| over[index].contains(&owners[asset.palette[entry].joint as usize]))
                .map(|(_, weight)| weight)
                .sum();
            if pull < LEAST_PULL {
                return None;
            }
            let (distance, beyond) = beside(chain, place);
            let most = pull * fade(distance, options.fade) * fade(beyond, [0.0, 0.2]);
            (most >= LEAST_PULL).then_some((index as u32, most))
        });
        PullLimit { total: 1.0, chains: chains.collect() }
    };
    (0..rest.positions.len()).map(limit).collect()
}

/// The joints that a chain hangs on, and those between them, by whose skin they move.
fn joints_over(tree: &SkinTree, chain: &Chain, bones: &[u32]) -> Vec<u32> {
    let mut over: Vec<u32> = chain.bones.iter().map(|&bone| bones[bone]).collect();
    for pair in chain.bones.windows(2) {
        let [first, second] = [0, 1].map(|k| tree.up(bones[pair[k]]).collect::<Vec<_>>());
        let common = first.iter().copied().find(|joint| second.contains(joint));
        for path in [first, second] {
            over.extend(path.into_iter().take_while(|&joint| Some(joint) != common));
        }
    }
    over.iter_mut().for_each(|joint| *joint = tree.owners()[*joint as usize]);
    over.sort_unstable();
    over.dedup();
    over
}

/// Less than this is nothing.
const LEAST_PULL: f64 = 1.0e-3;

/// How far a place is from a chain's path over the chain's radius there, and how far beyond its ends over its length.
fn beside(chain: &Chain, place: DVec3) -> (f64, f64) {
    let last = chain.rest.len() - 2;
    let mut length = 0.0;
    let mut nearest = (f64::MAX, 0.0, 0.0);
    for (j, pair) in chain.rest.windows(2).enumerate() {
        let (from, to) = (pair[0].translation, pair[1].translation);
        let stretch = from.distance(to);
        length += stretch;
        let along = (place - from).dot(to - from) / (stretch * stretch);
        let t = along.clamp(0.0, 1.0);
        let axis = (to - from) / stretch;
        let offset = place - from - axis * (along * stretch);
        // Beyond an end, the distance is that from the line.
        let open = (j == 0 && along < 0.0) || (j == last && along > 1.0);
        let away = if open { offset.length() } else { place.distance(from.lerp(to, t)) };
        let beyond = if open { (along - t).abs() * stretch } else { 0.0 };
        let radius = chain.sections[j].radius() * (1.0 - t) + chain.sections[j + 1].radius() * t;
        if away + beyond < nearest.0 {
            nearest = (away + beyond, away / radius, beyond);
        }
    }
    (nearest.1, nearest.2 / length)
}
