//! Surface nets: one vertex in each cell that the surface crosses, moved onto the surface; one quad for each
//! grid edge that it crosses.

use glam::Vec3;

type Mesh = (Vec<Vec3>, Vec<Vec3>, Vec<[u32; 3]>);

/// Vertices on the zero surface of `field`, unit normals along its gradient, triangles counter-clockwise from
/// outside.
pub fn mesh(field: &dyn Fn(Vec3) -> f32, [low, high]: [Vec3; 2], cell: f32) -> Mesh {
    let count = ((high - low) / cell).to_array().map(|n| n as usize + 2);
    let [nx, ny, nz] = count;
    let at = |x: usize, y: usize, z: usize| (z * ny + y) * nx + x;
    let place = |x: usize, y: usize, z: usize| low + Vec3::new(x as f32, y as f32, z as f32) * cell;
    let mut values = Vec::with_capacity(nx * ny * nz);
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                values.push(field(place(x, y, z)));
            }
        }
    }

    let gradient = |p: Vec3| {
        let h = cell * 0.1;
        let slope = |d: Vec3| field(p + d * h) - field(p - d * h);
        Vec3::new(slope(Vec3::X), slope(Vec3::Y), slope(Vec3::Z)) / (2.0 * h)
    };
    let mut vertex = vec![u32::MAX; values.len()];
    let (mut positions, mut normals) = (Vec::new(), Vec::new());
    for z in 0..nz - 1 {
        for y in 0..ny - 1 {
            for x in 0..nx - 1 {
                let corner = |k: usize| (x + (k & 1), y + (k >> 1 & 1), z + (k >> 2 & 1));
                let value = |k: usize| {
                    let (x, y, z) = corner(k);
                    values[at(x, y, z)]
                };
                let (mut sum, mut crossings) = (Vec3::ZERO, 0.0);
                for axis in [1, 2, 4] {
                    for k in (0..8).filter(|k| k & axis == 0) {
                        let (a, b) = (value(k), value(k | axis));
                        if (a < 0.0) != (b < 0.0) {
                            let [p, q] = [k, k | axis].map(|k| {
                                let (x, y, z) = corner(k);
                                place(x, y, z)
                            });
                            sum += p + (q - p) * (a / (a - b));
                            crossings += 1.0;
                        }
                    }
                }
                if crossings == 0.0 {
                    continue;
                }
                let mut p = sum / crossings;
                for _ in 0..3 {
                    let g = gradient(p);
                    let step = g * (field(p) / g.length_squared().max(1e-6));
                    p -= step.clamp_length_max(cell * 0.25);
                }
                vertex[at(x, y, z)] = positions.len() as u32;
                positions.push(p);
                normals.push(gradient(p).try_normalize().unwrap_or(Vec3::Y));
            }
        }
    }

    let mut triangles = Vec::new();
    for z in 1..nz - 1 {
        for y in 1..ny - 1 {
            for x in 1..nx - 1 {
                let here = values[at(x, y, z)] < 0.0;
                // Along each axis, the four cells around the edge, turning about the axis.
                let edges = [
                    (at(x + 1, y, z), [at(x, y - 1, z - 1), at(x, y, z - 1), at(x, y, z), at(x, y - 1, z)]),
                    (at(x, y + 1, z), [at(x - 1, y, z - 1), at(x - 1, y, z), at(x, y, z), at(x, y, z - 1)]),
                    (at(x, y, z + 1), [at(x - 1, y - 1, z), at(x, y - 1, z), at(x, y, z), at(x - 1, y, z)]),
                ];
                for (there, cells) in edges {
                    if here == (values[there] < 0.0) {
                        continue;
                    }
                    let [a, mut b, c, mut d] = cells.map(|cell| vertex[cell]);
                    if !here {
                        std::mem::swap(&mut b, &mut d);
                    }
                    let length = |i: u32, j: u32| (positions[i as usize] - positions[j as usize]).length_squared();
                    if length(a, c) <= length(b, d) {
                        triangles.extend([[a, b, c], [a, c, d]]);
                    } else {
                        triangles.extend([[a, b, d], [b, c, d]]);
                    }
                }
            }
        }
    }
    (positions, normals, triangles)
}
