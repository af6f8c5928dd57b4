//! Lays fibres through sections: relaxation within each, combing from one to the next.

use super::{
    ViperizeOptions, combing,
    iso_sections::{Sample, Section},
    voronoi::{Cells, Site},
};
use glam::DVec3;

/// Where every fibre passes every section, `[section][fibre]`.
///
/// Sites start on the largest section and are carried outwards from there. A section's samples are grouped by the
/// connected piece of the muscle that joins them to the section before, and each piece hands on as many fibres as it
/// took: in a muscle with several heads, fibres part where the heads do and stay in theirs.
pub(super) fn lay(sections: &[Section], options: &ViperizeOptions, inside: impl Fn(DVec3) -> bool) -> Vec<Vec<DVec3>> {
    let largest = (0..sections.len()).max_by(|&a, &b| sections[a].area.total_cmp(&sections[b].area)).unwrap_or(0);
    let mut cells: Vec<Cells> = Vec::with_capacity(sections.len());
    for (index, section) in sections.iter().enumerate() {
        let group = |sample: &Sample| if index == largest { 0 } else { sample.pieces[usize::from(index < largest)] };
        cells.push(Cells::new(section, section.samples.iter().map(group).collect(), options.fibres));
    }
    let mut sites = vec![Vec::new(); sections.len()];
    sites[largest] = cells[largest].first_sites(options.fibres);
    let steps: Vec<(usize, usize)> = outward(largest, sections.len()).collect();
    for &(from, to) in &steps {
        sites[to] = carried(&cells[from], &sites[from], &cells[to], usize::from(from < to));
    }

    for round in 0..=options.rounds {
        let mut changed = false;
        for &(from, to) in &steps {
            let pieces = pieces(&cells[from], &sites[from], usize::from(from < to));
            changed |= combing::comb(&sites[from].clone(), &pieces, &mut sites[to]);
        }
        let before = sites.clone();
        if round == options.rounds {
            break;
        }
        for (index, (cells, sites)) in cells.iter_mut().zip(&mut sites).enumerate() {
            let beside = [index.checked_sub(1), Some(index + 1)];
            let neighbours = beside.into_iter().flatten().filter_map(|beside| before.get(beside));
            let pulled = Cells {
                samples: cells.samples,
                groups: std::mem::take(&mut cells.groups),
                neighbours: neighbours.map(Vec::as_slice).collect(),
                straightness: options.straightness,
                share: cells.share,
            };
            pulled.relax(sites);
            cells.groups = pulled.groups;
        }
        if !changed && sites == before {
            break;
        }
    }

    let restricted = |(cells, sites): (&Cells, Vec<Site>)| {
        let restricted = |site: Site| {
            let nearest = || cells.samples[cells.nearest_sample(site.place)].place;
            if inside(site.place) { site.place } else { nearest() }
        };
        sites.into_iter().map(restricted).collect()
    };
    cells.iter().zip(sites).map(restricted).collect()
}

/// Steps from a section to its neighbours, outwards.
fn outward(largest: usize, count: usize) -> impl Iterator<Item = (usize, usize)> {
    let down = (0..largest).rev().map(|to| (to + 1, to));
    down.chain((largest + 1..count).map(|to| (to - 1, to)))
}

/// The piece of the muscle on one side of a section that each site lies on.
fn pieces(cells: &Cells, sites: &[Site], side: usize) -> Vec<u32> {
    sites.iter().map(|site| cells.samples[cells.nearest_sample(site.place)].pieces[side]).collect()
}

/// Sites carried to the next section: each group shifted to its new samples and scaled like the section, then relaxed.
fn carried(from: &Cells, sites: &[Site], to: &Cells, side: usize) -> Vec<Site> {
    let mut carried = sites.to_vec();
    for (site, piece) in carried.iter_mut().zip(pieces(from, sites, side)) {
        // A piece that ends between the sections hands its fibres to the nearest one that goes on.
        let goes_on = to.groups.contains(&piece);
        site.group = if goes_on { piece } else { to.groups[to.nearest_sample(site.place)] };
    }
    let scale = (to.share / from.share).sqrt();
    let groups: std::collections::BTreeSet<u32> = carried.iter().map(|site| site.group).collect();
    for group in groups {
        let own = to.samples.iter().zip(&to.groups).filter(|(_, other)| **other == group);
        let (sum, area) = own.fold((DVec3::ZERO, 0.0), |(sum, area), (sample, _)| {
            (sum + sample.area * sample.place, area + sample.area)
        });
        let members = carried.iter().filter(|site| site.group == group);
        let (places, count) = members.fold((DVec3::ZERO, 0.0), |(sum, count), site| (sum + site.place, count + 1.0));
        if area > 0.0 {
            for site in carried.iter_mut().filter(|site| site.group == group) {
                site.place = sum / area + scale * (site.place - places / count);
            }
        }
    }
    to.relax(&mut carried);
    to.rebalance(&mut carried);
    carried
}
