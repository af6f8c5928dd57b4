//! Triangle meshes from STL and OBJ files.

use super::TriangleMesh;
use glam::DVec3;
use std::collections::HashMap;

/// Why a file is not a triangle mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReadMeshError {
    /// A line of a text file cannot be read.
    #[error("line {line}: {problem}")]
    Line {
        /// Which, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A binary STL file ends early.
    #[error("the file has {bytes} bytes, but its {triangles} triangles need {needed}: it is cut off, or not STL")]
    Truncated {
        /// How long it is.
        bytes: usize,
        /// How many triangles it says it holds.
        triangles: u32,
        /// How long it would be.
        needed: u64,
    },
    /// The file is neither text nor long enough to be a binary STL file.
    #[error("the file is neither text nor binary STL: export the mesh as STL or OBJ")]
    Unknown,
    /// The unit is not a length.
    #[error("a unit of {0} m: give the metres per unit of the file, such as 0.001 for millimetres")]
    Unit(f64),
}

/// Reads an STL file, text or binary; corners at the same place become one vertex. `metres_per_unit` is the length of
/// the file's unit (m).
///
/// # Errors
/// Any [`ReadMeshError`].
pub fn read_stl(bytes: &[u8], metres_per_unit: f64) -> Result<TriangleMesh, ReadMeshError> {
    let unit = checked_unit(metres_per_unit)?;
    let mut corners = Corners { unit, ..Corners::default() };
    let said = bytes.get(80..84).and_then(|said| said.try_into().ok()).map(u32::from_le_bytes);
    let needed = said.map(|triangles| 84 + 50 * u64::from(triangles));
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.trim_start().starts_with("solid"));
    match (text, said, needed) {
        // Some writers start binary files with "solid" too: the length tells.
        (text, Some(triangles), Some(needed)) if text.is_none() || needed == bytes.len() as u64 => {
            if (bytes.len() as u64) < needed {
                return Err(ReadMeshError::Truncated { bytes: bytes.len(), triangles, needed });
            }
            for facet in bytes[84..].chunks_exact(50).take(triangles as usize) {
                let number = |index: usize| {
                    let at = 12 + 4 * index;
                    f64::from(f32::from_le_bytes([facet[at], facet[at + 1], facet[at + 2], facet[at + 3]]))
                };
                let corner = |corner: usize| [3 * corner, 3 * corner + 1, 3 * corner + 2].map(number);
                let triangle = [0, 1, 2].map(|index| corners.vertex(corner(index)));
                corners.mesh.triangles.push(triangle);
            }
        }
        (Some(text), ..) => {
            let mut facet = Vec::with_capacity(3);
            for (line, words) in lines(text) {
                match words.first() {
                    Some(&"vertex") => facet.push(corners.vertex(numbers(line, &words)?)),
                    Some(&"endfacet") => {
                        let problem = || format!("a facet has {} corners, not 3", facet.len());
                        let triangle = facet.as_slice().try_into();
                        corners
                            .mesh
                            .triangles
                            .push(triangle.map_err(|_| ReadMeshError::Line { line, problem: problem() })?);
                        facet.clear();
                    }
                    _ => {}
                }
            }
        }
        _ => return Err(ReadMeshError::Unknown),
    }
    Ok(corners.mesh)
}

/// Reads the vertices and faces of a Wavefront OBJ file; polygons become fans of triangles. `metres_per_unit` is the
/// length of the file's unit (m).
///
/// # Errors
/// [`ReadMeshError::Line`], [`ReadMeshError::Unit`], [`ReadMeshError::Unknown`].
pub fn read_obj(bytes: &[u8], metres_per_unit: f64) -> Result<TriangleMesh, ReadMeshError> {
    let unit = checked_unit(metres_per_unit)?;
    let text = std::str::from_utf8(bytes).map_err(|_| ReadMeshError::Unknown)?;
    let mut mesh = TriangleMesh::default();
    for (line, words) in lines(text) {
        match words.first() {
            Some(&"v") => mesh.positions.push(unit * DVec3::from_array(numbers(line, &words)?)),
            Some(&"f") => {
                let vertices = mesh.positions.len();
                let corner = |word: &&str| vertex(line, word, vertices);
                let polygon = words[1..].iter().map(corner).collect::<Result<Vec<_>, _>>()?;
                if polygon.len() < 3 {
                    let problem = format!("a face has {} corners", polygon.len());
                    return Err(ReadMeshError::Line { line, problem });
                }
                let fan = polygon[1..].windows(2).map(|pair| [polygon[0], pair[0], pair[1]]);
                mesh.triangles.extend(fan);
            }
            _ => {}
        }
    }
    Ok(mesh)
}

fn checked_unit(metres_per_unit: f64) -> Result<f64, ReadMeshError> {
    let length = metres_per_unit.is_finite() && metres_per_unit > 0.0;
    if length { Ok(metres_per_unit) } else { Err(ReadMeshError::Unit(metres_per_unit)) }
}

/// The words of every line with its number, from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    text.lines().enumerate().map(|(line, words)| (line + 1, words.split_whitespace().collect()))
}

/// The three numbers after a line's first word.
fn numbers(line: usize, words: &[&str]) -> Result<[f64; 3], ReadMeshError> {
    let mut numbers = [0.0; 3];
    for (index, number) in numbers.iter_mut().enumerate() {
        let word = words.get(index + 1).copied().unwrap_or("");
        let parsed = word.parse().ok().filter(|number: &f64| number.is_finite());
        let problem = || format!("coordinate {} of a vertex is `{word}`, not a number", index + 1);
        *number = parsed.ok_or_else(|| ReadMeshError::Line { line, problem: problem() })?;
    }
    Ok(numbers)
}

/// The vertex of a face's corner `v`, `v/vt` or `v/vt/vn`, counted from 1, or from the last one if negative.
fn vertex(line: usize, word: &str, vertices: usize) -> Result<u32, ReadMeshError> {
    let index = word.split('/').next().and_then(|index| index.parse::<i64>().ok());
    let from_zero = match index {
        Some(index) if index > 0 => Some(index - 1),
        Some(index) if index < 0 => index.checked_add(vertices as i64),
        _ => None,
    };
    let known = from_zero.and_then(|index| u32::try_from(index).ok()).filter(|&index| (index as usize) < vertices);
    let problem = || format!("a face's corner is `{word}`, but {vertices} vertices stand above it");
    known.ok_or_else(|| ReadMeshError::Line { line, problem: problem() })
}

/// Gathers corners into vertices.
#[derive(Default)]
struct Corners {
    unit: f64,
    mesh: TriangleMesh,
    known: HashMap<[u64; 3], u32>,
}

impl Corners {
    fn vertex(&mut self, place: [f64; 3]) -> u32 {
        // + 0.0 makes one of both zeros.
        let key = place.map(|part| (part + 0.0).to_bits());
        let next = self.mesh.positions.len() as u32;
        *self.known.entry(key).or_insert_with(|| {
            self.mesh.positions.push(self.unit * DVec3::from_array(place));
            next
        })
    }
}
