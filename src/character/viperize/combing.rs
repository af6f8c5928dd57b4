//! Combing: which site of a section belongs to which fibre.

use super::voronoi::Site;
use pathfinding::{kuhn_munkres::kuhn_munkres_min, matrix::Matrix};

/// Costs are whole numbers of this part of the largest one.
const STEPS: f64 = (1_u64 << 40) as f64;
/// Cost of a change from one piece of the muscle to another, as a multiple of the largest distance.
const CHANGE: i64 = 1 << 10;

/// Reorders a section's sites so that the fibres' lengths from the section before add up to the least (VIPER section
/// 8.1: minimum-cost bipartite matching by the Hungarian algorithm). `pieces` are those of the muscle in which each
/// fibre leaves the section before; it stays in its own. Says whether anything changed.
pub(super) fn comb(before: &[Site], pieces: &[u32], sites: &mut [Site]) -> bool {
    let length = |fibre: usize, site: &Site| before[fibre].place.distance(site.place);
    let pairs = || (0..before.len()).flat_map(|fibre| sites.iter().map(move |site| (fibre, site)));
    let longest = pairs().map(|(fibre, site)| length(fibre, site)).fold(f64::MIN_POSITIVE, f64::max);
    let cost = |(fibre, site): (usize, &Site)| {
        let change = if site.group == pieces[fibre] { 0 } else { CHANGE * STEPS as i64 };
        change + (length(fibre, site) / longest * STEPS) as i64
    };
    let Ok(costs) = Matrix::from_vec(before.len(), sites.len(), pairs().map(cost).collect()) else { return false };
    let (_, order) = kuhn_munkres_min(&costs);
    let combed: Vec<Site> = order.iter().map(|&site| sites[site]).collect();
    sites.copy_from_slice(&combed);
    order.iter().enumerate().any(|(fibre, &site)| fibre != site)
}
