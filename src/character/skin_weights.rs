//! Which cross-sections skin follows, and how strongly (VIPER 7.4, after Thiery et al. 2013).
//!
//! A muscle is seen as pills, the hulls of two neighbouring discs of a fibre. A vertex starts with weights
//! proportional to the inverse squared distance to each fibre's closest pill; at parameter t of that pill, the section
//! at its first end gets 1 − t of it and the one at its second end t. (The paper takes all pills of a fibre. All fibres
//! share their muscle's sections here, so that would only smear the weights along it: as far as it is thick, which at
//! the ends of a stout muscle is half its length.) The weights are then faired over the mesh by implicit diffusion, on
//! places rather than vertices so that seams of texture coordinates stay closed, held to what each chain may pull, and
//! pruned to [`MAX_SECTIONS`].

use glam::{DVec3, Vec3};

use super::welding::{Neighbours, Welded};
use crate::flesh::{Bundle, Disc, Fibre, Flesh};
use crate::skin::{MAX_SECTIONS, SectionWeight, SkinSection};

/// The hull of two neighbouring discs of a fibre at rest, as spheres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinPill {
    /// The sections at its two ends, as [`SkinSection::all`] counts them.
    pub sections: [u32; 2],
    /// The chain.
    pub chain: u32,
    /// The fibre of the chain; its pills stand together.
    pub fibre: u32,
    /// Centres of the two spheres (m).
    pub ends: [DVec3; 2],
    /// Their radii (m).
    pub radii: [f64; 2],
}

impl SkinPill {
    /// The parameter (0 at the first end, 1 at the second) of the sphere whose surface is closest to a place (m), and
    /// the signed distance to that surface (m), negative inside; (83) with errata 6.
    pub fn closest(&self, place: DVec3) -> (f64, f64) {
        let ([from, to], [r1, r2]) = (self.ends, self.radii);
        let length = from.distance(to);
        let t = if (r1 - r2).abs() < length {
            let axis = (to - from) / length;
            let a = (place - from).dot(axis);
            let b = (place - from - axis * a).length();
            let sine = (r1 - r2) / length;
            ((a - b * sine / (1.0 - sine * sine).sqrt()) / length).clamp(0.0, 1.0)
        } else {
            // One sphere holds the other.
            f64::from(u8::from(r2 > r1))
        };
        (t, place.distance(from.lerp(to, t)) - (r1 + (r2 - r1) * t))
    }
}

/// How steeply the pills of sections' own discs may taper. Discs are often thicker than they are apart; steeper, the
/// thickest one would swallow the others, and all skin would follow it alone.
const STEEPEST: f64 = 0.25;

/// The pills of all chains of flesh: of their fibres, or of the sections' own discs where a rod is one fibre along its
/// axis; thinned where they taper steeply.
pub fn flesh_pills(flesh: &Flesh) -> Vec<SkinPill> {
    let mut pills = Vec::new();
    let mut first = 0;
    for (chain, info) in flesh.chains().iter().enumerate() {
        let axis = || vec![info.sections.iter().map(|s| Fibre { offset: DVec3::ZERO, radius: s.radius() }).collect()];
        let fibres = if info.fibres.is_empty() { axis() } else { info.fibres.clone() };
        let disc = |(j, fibre): (usize, &Fibre)| Disc {
            place: info.rest[j].transform_point(fibre.offset),
            radius: fibre.radius,
        };
        let thinned = |fibre: &Vec<Fibre>| thinned(fibre.iter().enumerate().map(disc).collect());
        pills.extend(bundle_pills(&Bundle { fibres: fibres.iter().map(thinned).collect() }, chain as u32, first));
        first += info.node_count() as u32;
    }
    pills
}

/// A fibre that tapers by [`STEEPEST`] at most.
fn thinned(mut discs: Vec<Disc>) -> Vec<Disc> {
    let steps: Vec<f64> = discs.windows(2).map(|pair| STEEPEST * pair[0].place.distance(pair[1].place)).collect();
    (0..steps.len()).for_each(|j| discs[j + 1].radius = discs[j + 1].radius.min(discs[j].radius + steps[j]));
    (0..steps.len()).rev().for_each(|j| discs[j].radius = discs[j].radius.min(discs[j + 1].radius + steps[j]));
    discs
}

/// The pills of the fibres of one chain, given its first section.
pub fn bundle_pills(bundle: &Bundle, chain: u32, first_section: u32) -> Vec<SkinPill> {
    let pill = |fibre: u32, j: u32, discs: &[Disc]| SkinPill {
        sections: [first_section + j, first_section + j + 1],
        chain,
        fibre,
        ends: [discs[0].place, discs[1].place],
        radii: [discs[0].radius, discs[1].radius],
    };
    let fibres = (0..).zip(&bundle.fibres);
    fibres.flat_map(|(fibre, discs)| (0..).zip(discs.windows(2)).map(move |(j, pair)| pill(fibre, j, pair))).collect()
}

/// How much of a vertex flesh may have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PullLimit {
    /// The most that all chains together may pull, 0 to 1.
    pub total: f64,
    /// Chains that may pull, each with the most that it may, 0 to 1.
    pub chains: Vec<(u32, f64)>,
}

/// Whom the vertices belong to.
#[derive(Clone, Copy, Debug)]
pub enum Pull<'a> {
    /// All of every vertex to the flesh: a muscle's own surface. Weights sum to exactly 1.
    Whole,
    /// At most as much of each vertex as its limit says: a character's skin. A chain takes its whole limit unless all
    /// limits together exceed the total, or its limit is above the mean of those of the vertices around.
    Limited(&'a [PullLimit]),
}

/// A mesh at rest and the flesh beneath it.
#[derive(Clone, Copy, Debug)]
pub struct SkinFairing<'a> {
    /// Places of the vertices (m), in the space of the pills.
    pub places: &'a [Vec3],
    /// Triangles; corners that name no vertex are left out.
    pub triangles: &'a [[u32; 3]],
    /// The flesh.
    pub pills: &'a [SkinPill],
    /// Whom the vertices belong to.
    pub pull: Pull<'a>,
    /// Whether to fair the weights; without, they are those of the distances alone.
    pub fair: bool,
}

/// A place's weights by section, in the sections' order.
type Row = Vec<(u32, f64)>;

/// Weights below this share of a chain's greatest have no say.
const LEAST_SHARE: f64 = 1.0e-3;
/// Distances to pills are known to this share of their radius.
const SKIN_DEPTH: f64 = 0.05;
/// How far weights diffuse in a step, over the length of the closest pill.
const REACH: f64 = 0.25;
/// Implicit steps of the diffusion, and sweeps of Jacobi's method in each.
const STEPS: usize = 2;
const SWEEPS: usize = 8;
/// How often limits are brought down to the mean of those around.
const SOFTENINGS: usize = 3;
/// The unit in which weights are counted, so that their sums are exact in f32.
const GRAIN: f64 = 1.0 / (1 << 24) as f64;

impl SkinFairing<'_> {
    /// Weights of each vertex, at most [`MAX_SECTIONS`], strongest first; none where no flesh may pull, and at places
    /// that are not finite.
    pub fn weights(&self) -> Vec<Vec<SectionWeight>> {
        let welded = Welded::new(self.places);
        let chains = Chains::new(self.pills);
        let around = welded.neighbours(self.triangles);
        let mut limits = self.limits(&welded, &chains);
        if self.fair && matches!(self.pull, Pull::Limited(_)) {
            (0..SOFTENINGS).for_each(|_| limits = soften(&limits, &around));
        }
        let mut reaches = vec![0.0; welded.count()];
        let mut rows: Vec<Row> = (0..welded.count())
            .map(|place| {
                let (row, reach) = start(self.pills, &chains, welded.place(place), &limits[place]);
                reaches[place] = reach;
                row
            })
            .collect();
        if self.fair {
            fair(&mut rows, &reaches, &welded, &around);
        }
        let shared: Vec<Vec<SectionWeight>> =
            rows.iter().zip(&limits).map(|(row, limit)| finish(row, limit, &chains)).collect();
        welded.of_vertex().iter().map(|&place| shared[place as usize].clone()).collect()
    }

    /// Each place's limit: the least of its vertices'.
    fn limits(&self, welded: &Welded, chains: &Chains) -> Vec<PullLimit> {
        let Pull::Limited(given) = self.pull else {
            let all = chains.ranges.iter().map(|(chain, _)| (*chain, 1.0)).collect();
            return vec![PullLimit { total: 1.0, chains: all }; welded.count()];
        };
        let mut limits: Vec<Option<PullLimit>> = vec![None; welded.count()];
        for (&place, limit) in welded.of_vertex().iter().zip(given) {
            match &mut limits[place as usize] {
                Some(least) => {
                    least.total = least.total.min(limit.total);
                    let of = |chain: u32| limit.chains.iter().find(|(c, _)| *c == chain).map_or(0.0, |(_, most)| *most);
                    least.chains.iter_mut().for_each(|(chain, most)| *most = most.min(of(*chain)));
                }
                none => *none = Some(limit.clone()),
            }
        }
        let sound = |limit: Option<PullLimit>| {
            let mut limit = limit.unwrap_or_default();
            limit.chains.retain(|(_, most)| *most > 0.0);
            limit.chains.sort_by_key(|(chain, _)| *chain);
            limit
        };
        limits.into_iter().map(sound).collect()
    }
}

/// Limits no higher than the mean of those next to them, so that flesh lets go before another bone takes over where
/// the bones' own weights jump.
fn soften(limits: &[PullLimit], around: &Neighbours) -> Vec<PullLimit> {
    let of = |place: usize, chain: u32| {
        let chains = &limits[place].chains;
        chains.binary_search_by_key(&chain, |(chain, _)| *chain).map_or(0.0, |found| chains[found].1)
    };
    let soft = |(place, limit): (usize, &PullLimit)| {
        let others = around.of(place);
        let mean = |chain: u32| -> f64 {
            others.iter().map(|&other| of(other as usize, chain)).sum::<f64>() / others.len() as f64
        };
        let lower = |&(chain, most): &(u32, f64)| (chain, if others.is_empty() { most } else { most.min(mean(chain)) });
        let mut chains: Vec<(u32, f64)> = limit.chains.iter().map(lower).collect();
        chains.retain(|(_, most)| *most > 0.0);
        PullLimit { total: limit.total, chains }
    };
    limits.iter().enumerate().map(soft).collect()
}

/// The pills of each chain, and the chain of each section.
struct Chains {
    ranges: Vec<(u32, Vec<u32>)>,
    of_section: Vec<u32>,
}

impl Chains {
    fn new(pills: &[SkinPill]) -> Self {
        let sections = pills.iter().flat_map(|pill| pill.sections).max().map_or(0, |most| most as usize + 1);
        let mut of_section = vec![u32::MAX; sections];
        let mut ranges: Vec<(u32, Vec<u32>)> = Vec::new();
        for (index, pill) in pills.iter().enumerate() {
            pill.sections.iter().for_each(|&section| of_section[section as usize] = pill.chain);
            match ranges.iter_mut().find(|(chain, _)| *chain == pill.chain) {
                Some((_, pills)) => pills.push(index as u32),
                None => ranges.push((pill.chain, vec![index as u32])),
            }
        }
        ranges.sort_by_key(|(chain, _)| *chain);
        ranges.iter_mut().for_each(|(_, indices)| indices.sort_by_key(|&index| pills[index as usize].fibre));
        Self { ranges, of_section }
    }

    fn pills(&self, chain: u32) -> &[u32] {
        self.ranges.binary_search_by_key(&chain, |(chain, _)| *chain).map_or(&[], |found| &self.ranges[found].1)
    }
}

/// The weights of a place by its distances, and the length of its closest pill (m).
fn start(pills: &[SkinPill], chains: &Chains, place: DVec3, limit: &PullLimit) -> (Row, f64) {
    if !place.is_finite() {
        return (Row::new(), 0.0);
    }
    let mut near: Vec<(f64, f64, &SkinPill, f64)> = Vec::new();
    for &(chain, most) in &limit.chains {
        for &index in chains.pills(chain) {
            let pill = &pills[index as usize];
            let (t, distance) = pill.closest(place);
            match near.last_mut().filter(|(_, _, last, _)| (last.chain, last.fibre) == (chain, pill.fibre)) {
                Some(best) if distance < best.0 => *best = (distance, t, pill, most),
                Some(_) => {}
                None => near.push((distance, t, pill, most)),
            }
        }
    }
    let Some(closest) = near.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { return (Row::new(), 0.0) };
    let (least, t, pill, _) = *closest;
    let radius = pill.radii[0] + (pill.radii[1] - pill.radii[0]) * t;
    let length = pill.ends[0].distance(pill.ends[1]);
    let depth = (SKIN_DEPTH * radius).max(1.0e-6 * length).max(f64::MIN_POSITIVE.sqrt());
    let mut row = Row::new();
    let mut total = 0.0;
    for (distance, t, pill, most) in near {
        // Inside the flesh, pills shrink until the closest one's surface is met.
        let above = distance - least.min(0.0);
        let weight = most * (least.max(0.0).powi(2) + depth * depth) / (above * above + depth * depth);
        total += weight;
        add(&mut row, pill.sections[0], weight * (1.0 - t));
        add(&mut row, pill.sections[1], weight * t);
    }
    row.retain_mut(|(_, weight)| {
        *weight /= total;
        *weight > 0.0
    });
    row.sort_by_key(|(section, _)| *section);
    (row, if length > 0.0 { length } else { radius })
}

fn add(row: &mut Row, section: u32, weight: f64) {
    match row.iter_mut().find(|(s, _)| *s == section) {
        Some((_, sum)) => *sum += weight,
        None => row.push((section, weight)),
    }
}

/// Implicit diffusion over the mesh, (I + τL) w' = w with L of the edges' lengths, as far as a share of the closest
/// pill's length and never much further than the next places in a sweep.
fn fair(rows: &mut Vec<Row>, reaches: &[f64], welded: &Welded, around: &Neighbours) {
    let sections = rows.iter().flatten().map(|(section, _)| *section).max().map_or(0, |most| most as usize + 1);
    let mut sums = vec![0.0; sections];
    let mut next = rows.clone();
    for _ in 0..STEPS {
        let before = rows.clone();
        for _ in 0..SWEEPS {
            for (place, row) in next.iter_mut().enumerate() {
                // Places without flesh neither take nor give.
                if before[place].is_empty() {
                    continue;
                }
                let time = (REACH * reaches[place]).powi(2);
                let mut touched = Vec::new();
                let mut total = 1.0;
                gather(&before[place], 1.0, &mut sums, &mut touched);
                let others = around.of(place);
                let valence = others.len() as f64;
                for &other in others {
                    let length2 = welded.place(place).distance_squared(welded.place(other as usize));
                    if rows[other as usize].is_empty() {
                        continue;
                    }
                    let share = 4.0 / valence * (time / length2).min(1.0);
                    gather(&rows[other as usize], share, &mut sums, &mut touched);
                    total += share;
                }
                touched.sort_unstable();
                row.clear();
                for section in touched {
                    let weight = std::mem::take(&mut sums[section as usize]) / total;
                    if weight > 0.1 * LEAST_SHARE * LEAST_SHARE {
                        row.push((section, weight));
                    }
                }
            }
            std::mem::swap(rows, &mut next);
        }
    }
}

fn gather(row: &Row, share: f64, sums: &mut [f64], touched: &mut Vec<u32>) {
    for &(section, weight) in row {
        let sum = &mut sums[section as usize];
        if *sum == 0.0 {
            touched.push(section);
        }
        *sum += share * weight;
    }
}

/// Holds a place's weights to its limits and prunes them.
fn finish(row: &Row, limit: &PullLimit, chains: &Chains) -> Vec<SectionWeight> {
    let mut weights = row.clone();
    hold(&mut weights, limit, chains);
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    weights.retain(|(_, weight)| *weight > LEAST_SHARE * total);
    weights.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    weights.truncate(MAX_SECTIONS);
    hold(&mut weights, limit, chains);
    // Counted in grains, sums are exact; what rounding leaves is the strongest one's.
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let grains = |weight: f64| (weight / GRAIN).floor();
    let rest: f64 = weights.iter().skip(1).map(|(_, weight)| grains(*weight)).sum();
    let counts = weights.iter().enumerate().map(|(k, &(section, weight))| {
        let count = if k == 0 { (total / GRAIN).round() - rest } else { grains(weight) };
        SectionWeight { section, weight: (count * GRAIN) as f32 }
    });
    counts.filter(|pair| pair.weight > 0.0).collect()
}

/// Gives each chain what it is granted.
fn hold(weights: &mut Row, limit: &PullLimit, chains: &Chains) {
    let chain_of = |section: u32| {
        let chain = chains.of_section[section as usize];
        limit.chains.binary_search_by_key(&chain, |(chain, _)| *chain).ok()
    };
    let mut shares = vec![0.0; limit.chains.len()];
    weights.retain(|&(section, weight)| {
        let chain = chain_of(section);
        chain.inspect(|&chain| shares[chain] += weight).is_some()
    });
    let granted = grant(&shares, limit);
    for (section, weight) in weights.iter_mut() {
        if let Some(chain) = chain_of(*section) {
            *weight *= granted[chain] / shares[chain];
        }
    }
}

/// What each chain gets of a place: in proportion to its share, up to its limit and all up to the total.
fn grant(shares: &[f64], limit: &PullLimit) -> Vec<f64> {
    let mut granted = vec![0.0; shares.len()];
    let mut waiting: Vec<usize> = (0..shares.len()).filter(|&chain| shares[chain] > 0.0).collect();
    let mut left = limit.total.clamp(0.0, 1.0);
    while !waiting.is_empty() && left > 0.0 {
        let sum: f64 = waiting.iter().map(|&chain| shares[chain]).sum();
        let most = |chain: usize| limit.chains[chain].1;
        let (full, rest): (Vec<usize>, Vec<usize>) =
            waiting.iter().partition(|&&chain| shares[chain] / sum * left >= most(chain));
        if full.is_empty() {
            rest.iter().for_each(|&chain| granted[chain] = shares[chain] / sum * left);
            break;
        }
        for &chain in &full {
            granted[chain] = most(chain).min(left);
            left -= granted[chain];
        }
        waiting = rest;
    }
    granted
}

/// The bones that carry what a vertex follows, Σ w·carriers, strongest first: with these as its joints' weights, linear
/// blend skinning takes the vertex where its sections' bones have it, and the sections the rest of the way. The number
/// of bones stands for the root. At most `most` (the weakest fall away and the others make up for them).
pub fn carrier_weights(sections: &[SkinSection], weights: &[SectionWeight], most: usize) -> Vec<(u32, f32)> {
    let mut bones: Row = Vec::new();
    for pair in weights {
        let section = &sections[pair.section as usize];
        let (weight, blend) = (f64::from(pair.weight), f64::from(section.bone_blend));
        for (bone, share) in section.bones.into_iter().zip([1.0 - blend, blend]) {
            if share > 0.0 {
                add(&mut bones, bone, weight * share);
            }
        }
    }
    let total: f64 = bones.iter().map(|(_, weight)| weight).sum();
    bones.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    bones.truncate(most);
    let kept: f64 = bones.iter().map(|(_, weight)| weight).sum();
    bones.into_iter().map(|(bone, weight)| (bone, (weight * total / kept) as f32)).collect()
}
