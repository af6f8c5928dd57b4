//! Which cells are sources and which are sinks.

use super::{
    ViperizeError,
    grid::{NONE, VolumeGrid},
    harmonic,
    iso_sections::gradient,
    mesh::TriangleMesh,
    orientation::Surface,
};
use glam::{DVec3, IVec3};

/// Where a muscle starts and ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ends {
    /// The two ends of its mesh that are farthest apart along it; the one with the lower coordinate along the axis in
    /// which they differ most is the origin.
    #[default]
    Auto,
    /// The ends of its mesh nearest two places (m): origin and insertion, such as the bones' joints.
    Nearest([DVec3; 2]),
    /// Vertices of its mesh; a face is part of an end if all its vertices are.
    Vertices {
        /// At the origin.
        sources: Vec<u32>,
        /// At the insertion.
        sinks: Vec<u32>,
    },
    /// A value per vertex: below −0.5 at the origin, above 0.5 at the insertion.
    Attribute(Vec<f32>),
}

/// What a cell is to the harmonic field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Free,
    Source,
    Sink,
}

/// Depth of the end zones that are found, as a part of the muscle's length.
const DEPTH: f64 = 0.02;
/// Area of a blunt end's face, as a part of the muscle's mean section, at least.
const BLUNT: f64 = 0.4;
/// How far it may lean, as a part of the muscle's mean radius.
const FACE_DEPTH: f64 = 1.0;
/// Cosine of the angle between such a face and the flow, at least.
const SQUARE: f64 = 0.6;
/// Length over which a head stands apart, as a part of the muscle's, from which it has an end of its own.
const HEAD: f64 = 0.05;

/// Finds every cell's role and leaves the cells out of the grid that are not joined to both ends.
///
/// # Errors
/// Those of [`super::viperize`] about ends and connection.
pub(super) fn find(
    grid: &mut VolumeGrid,
    mesh: &TriangleMesh,
    surface: &Surface,
    ends: &Ends,
) -> Result<Vec<Role>, ViperizeError> {
    match ends {
        Ends::Auto => {
            let components = grid.flood(|_| true);
            let largest = (0..components.len()).max_by_key(|&index| (components[index].len(), usize::MAX - index));
            let seeds = largest.map_or(&[][..], |index| &components[index][..1]);
            let first = farthest(&geodesic(grid, seeds));
            let second = farthest(&geodesic(grid, &[first]));
            let difference = grid.centre(second as usize) - grid.centre(first as usize);
            let axis = (0..3).max_by(|&a, &b| difference[a].abs().total_cmp(&difference[b].abs())).unwrap_or(0);
            let seeds = if difference[axis] < 0.0 { [second, first] } else { [first, second] };
            from_seeds(grid, surface, seeds)
        }
        Ends::Nearest(places) => {
            for (place, end) in places.iter().zip(["origin", "insertion"]) {
                if !place.is_finite() {
                    return Err(ViperizeError::Place { end });
                }
            }
            let seeds = places.map(|place| {
                let distance = |&cell: &usize| grid.centre(cell).distance_squared(place);
                let nearest = (0..grid.cells.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
                nearest.unwrap_or(0) as u32
            });
            from_seeds(grid, surface, seeds)
        }
        Ends::Vertices { sources, sinks } => {
            let mut marks = vec![0_i8; mesh.positions.len()];
            for (vertices, end, mark) in [(sources, "sources", -1), (sinks, "sinks", 1)] {
                for &vertex in vertices {
                    let vertices = marks.len();
                    match marks.get_mut(vertex as usize) {
                        None => return Err(ViperizeError::EndIndex { end, vertex, vertices }),
                        Some(other) if *other == -mark => return Err(ViperizeError::EndsMeet),
                        Some(free) => *free = mark,
                    }
                }
            }
            from_marks(grid, mesh, surface, &marks)
        }
        Ends::Attribute(values) => {
            let vertices = mesh.positions.len();
            if values.len() != vertices {
                return Err(ViperizeError::AttributeLength { values: values.len(), vertices });
            }
            let mark = |&value: &f32| i8::from(value > 0.5) - i8::from(value < -0.5);
            from_marks(grid, mesh, surface, &values.iter().map(mark).collect::<Vec<_>>())
        }
    }
}

/// Ends under marked vertices and faces.
fn from_marks(
    grid: &mut VolumeGrid,
    mesh: &TriangleMesh,
    surface: &Surface,
    marks: &[i8],
) -> Result<Vec<Role>, ViperizeError> {
    let mut roles = vec![Role::Free; grid.cells.len()];
    for (mark, role, end) in [(-1, Role::Source, "sources"), (1, Role::Sink, "sinks")] {
        let (mut any, mut meet) = (false, false);
        let mut set = |place: DVec3| {
            let Some(cell) = nearest_cell(grid, place) else { return };
            meet |= roles[cell] != Role::Free && roles[cell] != role;
            roles[cell] = role;
            any = true;
        };
        mesh.positions.iter().zip(marks).filter(|(_, other)| **other == mark).for_each(|(place, _)| set(*place));
        for corners in &mesh.triangles {
            if corners.iter().all(|&vertex| marks[vertex as usize] == mark) {
                sample(corners.map(|vertex| mesh.positions[vertex as usize]), 0.5 * grid.size, &mut set);
            }
        }
        if meet {
            return Err(ViperizeError::EndsMeet);
        }
        if !any {
            return Err(ViperizeError::EmptyEnd { end });
        }
    }
    keep_joined(grid, surface, roles)
}

/// Places on a triangle, at most `step` apart.
fn sample([a, b, c]: [DVec3; 3], step: f64, each: &mut impl FnMut(DVec3)) {
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    let steps = (longest / step).ceil().clamp(1.0, 2048.0) as usize;
    for u in 0..=steps {
        for v in 0..=steps - u {
            let (u, v) = (u as f64 / steps as f64, v as f64 / steps as f64);
            each(a + u * (b - a) + v * (c - a));
        }
    }
}

/// The cell at a place on the surface, or the nearest one beside it.
fn nearest_cell(grid: &VolumeGrid, place: DVec3) -> Option<usize> {
    let at = grid.position(place);
    let around = (0..27).map(|index| at + IVec3::new(index % 3, index / 3 % 3, index / 9) - 1);
    let cells = around.map(|at| grid.at(at)).filter(|&cell| cell != NONE);
    let distance = |cell: u32| grid.centre(cell as usize).distance_squared(place);
    cells.min_by(|&a, &b| distance(a).total_cmp(&distance(b))).map(|cell| cell as usize)
}

/// Ends of the mesh near two cells: the field between the cells gives the surface that halves the volume, and the ends
/// lie where a flow that wells up everywhere and drains through that surface starts. Its potential grows towards every
/// end as half the square of the distance to it, and square to a blunt end.
fn from_seeds(grid: &mut VolumeGrid, surface: &Surface, seeds: [u32; 2]) -> Result<Vec<Role>, ViperizeError> {
    if seeds[0] == seeds[1] {
        return Err(ViperizeError::EndsMeet);
    }
    let mut roles = vec![Role::Free; grid.cells.len()];
    roles[seeds[0] as usize] = Role::Source;
    roles[seeds[1] as usize] = Role::Sink;
    let roles = keep_joined(grid, surface, roles)?;
    let mut field = vec![0.5; roles.len()];
    harmonic::solve(grid, &roles, &mut field)?;
    let mut sorted = field.clone();
    let (_, &mut middle, _) = sorted.select_nth_unstable_by(field.len() / 2, f64::total_cmp);
    let before = |cell: usize| field[cell] < middle;
    let drain = |cell: usize| {
        let neighbours = &grid.cells[cell].neighbours;
        neighbours.iter().any(|&next| next != NONE && before(next as usize) != before(cell))
    };
    let drained: Vec<Role> = (0..roles.len()).map(|cell| if drain(cell) { Role::Source } else { Role::Free }).collect();
    let mut potential = vec![0.0; roles.len()];
    harmonic::poisson(grid, &drained, 1.0, &mut potential)?;
    let highest = |first: bool| {
        let own = (0..roles.len()).filter(|&cell| before(cell) == first);
        own.map(|cell| potential[cell]).fold(0.0, f64::max)
    };
    let length = (2.0 * highest(true)).sqrt() + (2.0 * highest(false)).sqrt();
    let mut roles = vec![Role::Free; roles.len()];
    for head in heads(grid, &potential, length) {
        let role = if before(head as usize) { Role::Source } else { Role::Sink };
        let towards = if role == Role::Sink { 1.0 } else { -1.0 };
        for cell in end_zone(grid, &potential, &|cell| towards * gradient(grid, cell, &field), head, length) {
            roles[cell as usize] = role;
        }
    }
    keep_joined(grid, surface, roles)
}

/// The cells at the end of a head: its face, if it is blunt, else those less deep below its summit than `DEPTH`.
/// `flow` is that towards it.
fn end_zone(grid: &VolumeGrid, potential: &[f64], flow: &dyn Fn(usize) -> DVec3, head: u32, length: f64) -> Vec<u32> {
    let radius = (grid.volume() / (std::f64::consts::PI * length)).sqrt();
    let depth = (DEPTH * length).max(grid.size);
    let below = |cell: u32| (2.0 * (potential[head as usize] - potential[cell as usize]).max(0.0)).sqrt();
    let around = grid.reach(head, |cell| below(cell) < 2.0 * radius);
    let inner = around.iter().filter(|&&cell| below(cell) > radius);
    let towards = inner.map(|&cell| flow(cell as usize)).sum::<DVec3>().normalize_or_zero();
    let outward = |cell: u32| {
        let [x, y, z, to_x, to_y, to_z] = grid.cells[cell as usize].open.map(f64::from);
        DVec3::new(x - to_x, y - to_y, z - to_z)
    };
    let square = |cell: u32| {
        let beside = grid.cells[cell as usize].neighbours.into_iter().filter(|&next| next != NONE);
        let normal = outward(cell) + beside.map(outward).sum::<DVec3>();
        normal.normalize_or_zero().dot(towards) > SQUARE
    };
    let near_face = |cell: u32| below(cell) < FACE_DEPTH * radius && square(cell);
    let mut face = grid.reach(head, near_face);
    face.retain(|&cell| outward(cell).dot(towards) > 0.0);
    let area = face.len() as f64 * grid.size * grid.size;
    let blunt = area > BLUNT * std::f64::consts::PI * radius * radius;
    if blunt { face } else { grid.reach(head, |cell| below(cell) < depth) }
}

/// The tip of every head: the potential's summits that stand high enough above the pass to a higher one.
fn heads(grid: &VolumeGrid, potential: &[f64], length: f64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..potential.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| potential[b as usize].total_cmp(&potential[a as usize]).then(a.cmp(&b)));
    // The summit that each visited cell leads up to; summits lead to themselves until they are joined to higher ones.
    let mut summits = vec![NONE; potential.len()];
    fn summit(summits: &mut [u32], mut cell: u32) -> u32 {
        while summits[cell as usize] != cell {
            summits[cell as usize] = summits[summits[cell as usize] as usize];
            cell = summits[cell as usize];
        }
        cell
    }
    let mut heads = Vec::new();
    for &cell in &order {
        summits[cell as usize] = cell;
        for &neighbour in &grid.cells[cell as usize].neighbours {
            if neighbour == NONE || summits[neighbour as usize] == NONE {
                continue;
            }
            let (one, other) = (summit(&mut summits, cell), summit(&mut summits, neighbour));
            let higher = |a: u32, b: u32| (potential[a as usize], b) > (potential[b as usize], a);
            let (high, low) = if higher(one, other) { (one, other) } else { (other, one) };
            if high != low {
                let fall = potential[low as usize] - potential[cell as usize];
                if (2.0 * fall).sqrt() > HEAD * length {
                    heads.push(low);
                }
                summits[low as usize] = high;
            }
        }
    }
    heads.extend(order.iter().copied().filter(|&cell| summits[cell as usize] == cell));
    heads
}

/// Leaves the cells out that are not joined to both ends.
fn keep_joined(grid: &mut VolumeGrid, surface: &Surface, roles: Vec<Role>) -> Result<Vec<Role>, ViperizeError> {
    let mut keep = vec![false; roles.len()];
    let (mut joined, mut free) = (false, false);
    for component in grid.flood(|_| true) {
        let has = |role: Role| component.iter().any(|&cell| roles[cell as usize] == role);
        if has(Role::Source) && has(Role::Sink) {
            joined = true;
            free |= has(Role::Free);
            for &cell in &component {
                keep[cell as usize] = true;
            }
        }
    }
    let touch = |(cell, neighbour): (usize, u32)| {
        neighbour != NONE && roles[cell] == Role::Source && roles[neighbour as usize] == Role::Sink
    };
    let meet = (0..roles.len()).any(|cell| grid.cells[cell].neighbours.iter().any(|&next| touch((cell, next))));
    if !joined {
        let one_part = surface.part.windows(2).all(|parts| parts[0] == parts[1]);
        return Err(if one_part { ViperizeError::TooThin { cell: grid.size } } else { ViperizeError::Disconnected });
    }
    if meet || !free {
        return Err(ViperizeError::EndsMeet);
    }
    if keep.iter().all(|&keep| keep) {
        return Ok(roles);
    }
    grid.retain(&keep);
    Ok(roles.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(role, _)| role).collect())
}

/// Chamfer lengths of steps along one, two and three axes, in fifths of a cell (Borgefors 1986).
pub(super) const STEPS: [u32; 3] = [5, 7, 9];

/// Distance of every cell from the nearest of `seeds` through open faces, in fifths of a cell; `u32::MAX` where none
/// is joined to it.
pub(super) fn geodesic(grid: &VolumeGrid, seeds: &[u32]) -> Vec<u32> {
    let mut distances = vec![u32::MAX; grid.cells.len()];
    for &seed in seeds {
        distances[seed as usize] = 0;
    }
    // Buckets in a ring, one per distance: no step is longer than the ring.
    const RING: usize = STEPS[2] as usize + 1;
    let mut ring: [Vec<u32>; RING] = std::array::from_fn(|_| Vec::new());
    ring[0].extend(seeds);
    let (mut distance, mut empty) = (0_u32, 0);
    while empty < RING {
        let bucket = std::mem::take(&mut ring[distance as usize % RING]);
        empty = if bucket.is_empty() { empty + 1 } else { 0 };
        for cell in bucket {
            if distances[cell as usize] != distance {
                continue;
            }
            let mut reach = |to: u32, steps: usize| {
                let reached = distance + STEPS[steps];
                if reached < distances[to as usize] {
                    distances[to as usize] = reached;
                    ring[reached as usize % RING].push(to);
                }
            };
            let next = |cell: u32, side: usize| grid.cells[cell as usize].neighbours[side];
            for first in 0..6 {
                let a = next(cell, first);
                if a == NONE {
                    continue;
                }
                reach(a, 0);
                for second in (0..6).filter(|second| second % 3 != first % 3) {
                    let b = next(a, second);
                    if b == NONE {
                        continue;
                    }
                    reach(b, 1);
                    let third = 3 - first % 3 - second % 3;
                    for c in [next(b, third), next(b, third + 3)] {
                        if c != NONE {
                            reach(c, 2);
                        }
                    }
                }
            }
        }
        distance += 1;
    }
    distances
}

fn farthest(distances: &[u32]) -> u32 {
    let reached = |distance: u32| if distance == u32::MAX { 0 } else { distance };
    let order = |&cell: &usize| (reached(distances[cell]), usize::MAX - cell);
    (0..distances.len()).max_by_key(order).unwrap_or(0) as u32
}
