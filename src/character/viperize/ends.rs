//! Which cells are sources and which are sinks.

use super::{
    ViperizeError,
    grid::{NONE, VolumeGrid},
    harmonic,
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
/// Heads that end within this part of the muscle's length below the longest one end at the same bone.
const HEADS: f64 = 0.12;

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
        let mut places: Vec<DVec3> = Vec::new();
        places.extend(mesh.positions.iter().zip(marks).filter(|(_, other)| **other == mark).map(|(place, _)| *place));
        for corners in &mesh.triangles {
            if corners.iter().all(|&vertex| marks[vertex as usize] == mark) {
                sample(corners.map(|vertex| mesh.positions[vertex as usize]), 0.5 * grid.size, &mut places);
            }
        }
        let mut any = false;
        for place in places {
            let Some(cell) = nearest_cell(grid, place) else { continue };
            if roles[cell] != Role::Free && roles[cell] != role {
                return Err(ViperizeError::EndsMeet);
            }
            roles[cell] = role;
            any = true;
        }
        if !any {
            return Err(ViperizeError::EmptyEnd { end });
        }
    }
    keep_joined(grid, surface, roles)
}

/// Places on a triangle, at most `step` apart.
fn sample([a, b, c]: [DVec3; 3], step: f64, places: &mut Vec<DVec3>) {
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    let steps = (longest / step).ceil().clamp(1.0, 2048.0) as usize;
    for u in 0..=steps {
        for v in 0..=steps - u {
            let (u, v) = (u as f64 / steps as f64, v as f64 / steps as f64);
            places.push(a + u * (b - a) + v * (c - a));
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

/// Ends of the mesh near two cells. The field between the cells gives the surface that halves the volume; the places
/// farthest from it on either side, along the muscle, are its ends, so that a blunt end is cut square.
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
    let crossed = |cell: &u32| {
        let neighbours = &grid.cells[*cell as usize].neighbours;
        neighbours.iter().any(|&next| next != NONE && before(next as usize) != before(*cell as usize))
    };
    let halving: Vec<u32> = (0..grid.cells.len() as u32).filter(crossed).collect();
    let distances = geodesic(grid, &halving);
    let side = |first: bool| -> Vec<u32> {
        let on_side = |(cell, &distance): (usize, &u32)| if before(cell) == first { distance } else { 0 };
        distances.iter().enumerate().map(on_side).collect()
    };
    let sides = [side(true), side(false)];
    let length: u32 = sides.iter().map(|side| side.iter().copied().max().unwrap_or(0)).sum();
    let mut roles = vec![Role::Free; grid.cells.len()];
    for (side, role) in sides.iter().zip([Role::Source, Role::Sink]) {
        for cell in end_zone(grid, side, f64::from(length)) {
            roles[cell as usize] = role;
        }
    }
    keep_joined(grid, surface, roles)
}

/// The cells at the far end of every head.
fn end_zone(grid: &VolumeGrid, distances: &[u32], length: f64) -> Vec<u32> {
    let top = f64::from(distances.iter().copied().max().unwrap_or(0));
    let depth = (DEPTH * length).max(f64::from(STEPS[0]));
    let floor = (top - HEADS * length).max(0.5 * top);
    let far = |cell: u32| f64::from(distances[cell as usize]) > floor;
    let mut zone = Vec::new();
    for head in grid.flood(far) {
        if !far(head[0]) {
            continue;
        }
        let own = head.iter().map(|&cell| f64::from(distances[cell as usize])).fold(0.0, f64::max);
        if own == top || own - floor > depth {
            zone.extend(head.iter().filter(|&&cell| f64::from(distances[cell as usize]) > own - depth));
        }
    }
    zone
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
