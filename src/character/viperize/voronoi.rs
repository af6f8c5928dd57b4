//! Restricted centroidal Voronoi sites on a section.

use super::iso_sections::{Sample, Section};
use glam::DVec3;

/// Lloyd iterations at most.
const ITERATIONS: usize = 60;
/// Movement of a site, as a part of its disc's radius, below which they stop.
const SETTLED: f64 = 1e-3;
/// Starts tried where no neighbouring section shows the way.
const STARTS: usize = 6;
/// Ratio of areas from which a site is moved from a crowded place to an empty one.
const UNEVEN: f64 = 1.4;

/// Where a fibre passes a section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Site {
    pub(super) place: DVec3,
    /// Index among the section's groups of samples: a site has a cell among the samples of its group only.
    pub(super) group: u32,
}

/// What of a section a site can take: its samples by group.
pub(super) struct Cells<'a> {
    pub(super) samples: &'a [Sample],
    /// Of every sample.
    pub(super) groups: Vec<u32>,
    /// Sites of the neighbouring sections that pull on this one's, fibre by fibre.
    pub(super) neighbours: Vec<&'a [Site]>,
    /// Weight of each neighbour, as a part of the mean area per site.
    pub(super) straightness: f64,
    /// Mean area per site (m²).
    pub(super) share: f64,
}

impl<'a> Cells<'a> {
    /// A section on its own.
    pub(super) fn new(section: &'a Section, groups: Vec<u32>, fibres: usize) -> Self {
        let share = section.area / fibres as f64;
        Self { samples: &section.samples, groups, neighbours: Vec::new(), straightness: 0.0, share }
    }

    /// The best sites of a few starts, all in group 0.
    pub(super) fn first_sites(&self, fibres: usize) -> Vec<Site> {
        let mut best = (f64::INFINITY, Vec::new());
        for start in 0..STARTS {
            let mut sites = self.farthest_points(fibres, start);
            self.relax(&mut sites);
            self.rebalance(&mut sites);
            let energy = self.energy(&sites);
            if energy < best.0 {
                best = (energy, sites);
            }
        }
        best.1
    }

    /// Lloyd's iteration: every site goes to the centroid of its cell and, by their weight, towards where the same
    /// fibre stands in the neighbouring sections, which are shifted so that a whole group is not pulled.
    pub(super) fn relax(&self, sites: &mut [Site]) {
        let settled = SETTLED * (self.share / std::f64::consts::PI).sqrt();
        for _ in 0..ITERATIONS {
            let mut sums = vec![(DVec3::ZERO, 0.0); sites.len()];
            for (sample, &group) in self.samples.iter().zip(&self.groups) {
                if let Some((nearest, _)) = nearest(sample.place, group, sites) {
                    sums[nearest].0 += sample.area * sample.place;
                    sums[nearest].1 += sample.area;
                }
            }
            for neighbour in &self.neighbours {
                let pull = self.straightness * self.share;
                for (fibre, shift) in shifts(sites, neighbour).into_iter().enumerate() {
                    sums[fibre].0 += pull * (neighbour[fibre].place + shift);
                    sums[fibre].1 += pull;
                }
            }
            let mut moved = 0.0_f64;
            for (site, (sum, weight)) in sites.iter_mut().zip(sums) {
                if weight > 0.0 {
                    let place = sum / weight;
                    moved = moved.max(place.distance(site.place));
                    site.place = place;
                }
            }
            if moved <= settled {
                break;
            }
        }
    }

    /// Moves sites from where they crowd to where they lack (the heads of a muscle, say), as long as that helps:
    /// Lloyd's iteration alone never carries a site across a gap.
    pub(super) fn rebalance(&self, sites: &mut [Site]) {
        for _ in 0..sites.len() {
            let mut areas = vec![0.0; sites.len()];
            let mut farthest = vec![(0.0, DVec3::ZERO); sites.len()];
            for (sample, &group) in self.samples.iter().zip(&self.groups) {
                let Some((nearest, squared)) = nearest(sample.place, group, sites) else { continue };
                areas[nearest] += sample.area;
                if squared > farthest[nearest].0 {
                    farthest[nearest] = (squared, sample.place);
                }
            }
            let Some((light, heavy)) = most_uneven(sites, &areas) else { return };
            let mut moved = sites.to_vec();
            moved[light].place = farthest[heavy].1;
            self.relax(&mut moved);
            if self.energy(&moved) >= self.energy(sites) {
                return;
            }
            sites.copy_from_slice(&moved);
        }
    }

    /// Second moment of the samples about their sites (m⁴).
    fn energy(&self, sites: &[Site]) -> f64 {
        let moment = |(sample, &group): (&Sample, &u32)| {
            nearest(sample.place, group, sites).map_or(0.0, |(_, squared)| sample.area * squared)
        };
        self.samples.iter().zip(&self.groups).map(moment).sum()
    }

    /// Samples each as far as can be from those before; `start` turns the first one round the section.
    fn farthest_points(&self, fibres: usize, start: usize) -> Vec<Site> {
        let count = self.samples.len();
        let mut next = self.samples[start * count / STARTS].place;
        let mut distances = vec![f64::INFINITY; count];
        let mut sites = Vec::with_capacity(fibres);
        while sites.len() < fibres {
            sites.push(Site { place: next, group: 0 });
            let mut farthest = (-1.0, next);
            for (distance, sample) in distances.iter_mut().zip(self.samples) {
                *distance = sample.place.distance_squared(next).min(*distance);
                if *distance > farthest.0 {
                    farthest = (*distance, sample.place);
                }
            }
            next = farthest.1;
        }
        sites
    }

    /// The sample nearest to a place.
    pub(super) fn nearest_sample(&self, place: DVec3) -> usize {
        let distance = |&sample: &usize| self.samples[sample].place.distance_squared(place);
        (0..self.samples.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
    }
}

/// The nearest site of a group and its squared distance (m²); the first of equals.
fn nearest(place: DVec3, group: u32, sites: &[Site]) -> Option<(usize, f64)> {
    let mut best = None;
    let mut least = f64::INFINITY;
    for (index, site) in sites.iter().enumerate() {
        let squared = site.place.distance_squared(place);
        if squared < least && site.group == group {
            least = squared;
            best = Some((index, squared));
        }
    }
    best
}

/// For every site, how far its group stands on average from the same fibres in a neighbouring section.
fn shifts(sites: &[Site], neighbour: &[Site]) -> Vec<DVec3> {
    let shift = |site: &Site| {
        let own = sites.iter().zip(neighbour).filter(|(other, _)| other.group == site.group);
        let (sum, count) = own.fold((DVec3::ZERO, 0.0), |(sum, count), (a, b)| (sum + a.place - b.place, count + 1.0));
        sum / count
    };
    sites.iter().map(shift).collect()
}

/// The sites with the least and the most area of the group where these differ most, if that is much.
fn most_uneven(sites: &[Site], areas: &[f64]) -> Option<(usize, usize)> {
    let mut pair = None;
    let mut most = UNEVEN;
    for light in 0..sites.len() {
        for heavy in 0..sites.len() {
            let ratio = areas[heavy] / areas[light].max(f64::MIN_POSITIVE);
            if sites[light].group == sites[heavy].group && areas[heavy] > 0.0 && ratio > most {
                most = ratio;
                pair = Some((light, heavy));
            }
        }
    }
    pair
}
