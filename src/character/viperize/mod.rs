//! Viperization: a muscle's surface mesh becomes a bundle of fibres (VIPER section 8.1).
//!
//! ```text
//! TriangleMesh ─ orientation ─► outward triangles ─ tree, grid ─► VolumeGrid (generalised winding numbers)
//! Ends ─ ends ─► source and sink cells ─ harmonic ─► field 0…1 ─ iso_sections ─► arc length, M sections
//! sections ─ voronoi ⇄ combing ─► K sites per section, one per fibre ─ radii ─► Bundle with the mesh's volume
//! ```

mod combing;
mod ends;
mod error;
mod fibres;
mod grid;
mod harmonic;
mod iso_sections;
mod mesh;
mod orientation;
mod radii;
mod read;
mod tree;
mod voronoi;

pub use ends::Ends;
pub use error::ViperizeError;
pub use mesh::TriangleMesh;
pub use read::{ReadMeshError, read_obj, read_stl};

use crate::flesh::{Bundle, Disc};
use glam::DVec3;
use iso_sections::ArcLength;

/// How a mesh is viperized.
#[derive(Clone, Debug, PartialEq)]
pub struct ViperizeOptions {
    /// Fibres K, 1…64.
    pub fibres: usize,
    /// Sections M along the muscle, ends included, 2…64.
    pub sections: usize,
    /// Cells of the grid that fill the muscle, about; 1000…2 000 000. Time grows with them; a muscle thinner than about
    /// a cell somewhere needs more.
    pub cells: usize,
    /// How strongly a fibre's neighbours along it pull on each of its discs, against the evenness of the section's
    /// discs; 0 leaves it to them.
    pub straightness: f64,
    /// Rounds of alternating the sites' relaxation and the combing.
    pub rounds: usize,
}

impl Default for ViperizeOptions {
    fn default() -> Self {
        Self { fibres: 8, sections: 8, cells: 60_000, straightness: 0.05, rounds: 10 }
    }
}

/// A viperized mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Viperized {
    /// The fibres, from the origin to the insertion. All discs of a section have the same radius, and the truncated
    /// cones between consecutive discs, without half spheres at the ends, have the mesh's volume.
    pub bundle: Bundle,
    /// Volume that the mesh encloses (m³): of its outward triangles where they close without overlapping, else of the
    /// grid.
    pub mesh_volume: f64,
    /// Length of the muscle between its ends (m).
    pub length: f64,
    /// Arc length of every section from the origin's end (m).
    pub sections: Vec<f64>,
    /// Arc length at every disc's centre, `disc_places[k][j]` (m): the harmonic field, stretched so that it grows by a
    /// metre per metre.
    pub disc_places: Vec<Vec<f64>>,
    /// Edge of the grid's cells (m).
    pub cell: f64,
}

/// Fills a closed or dirty triangle mesh with `fibres` fibres through `sections` sections between its ends.
///
/// The same input gives the same bundle, to the bit. `progress` is called with 0…1 as the work goes on.
///
/// # Errors
/// Any [`ViperizeError`].
pub fn viperize(
    mesh: &TriangleMesh,
    ends: &Ends,
    options: &ViperizeOptions,
    progress: &mut dyn FnMut(f32),
) -> Result<Viperized, ViperizeError> {
    options.validate()?;
    mesh.validate()?;
    progress(0.0);
    let surface = orientation::orient(mesh);
    let tree = tree::TriangleTree::new(&surface.triangles);
    progress(0.1);
    let mut grid = grid::VolumeGrid::new(&surface.triangles, &tree, options.cells)?;
    progress(0.5);
    let whole = grid.volume();
    let roles = ends::find(&mut grid, mesh, &surface, ends)?;
    let joined = grid.volume();
    let mesh_volume =
        if surface.closed && !grid.overlapping { surface.signed_volume() * joined / whole } else { joined };
    progress(0.65);
    let mut field = vec![0.5; roles.len()];
    harmonic::solve(&grid, &roles, &mut field)?;
    progress(0.85);
    let arc = ArcLength::new(&grid, &roles, &field);
    let levels = arc.levels(options.sections, options.fibres, grid.size);
    let sections = iso_sections::sections(&grid, &arc, &levels);
    for (section, samples) in sections.iter().map(|section| section.samples.len()).enumerate() {
        if samples < options.fibres {
            return Err(ViperizeError::ThinSection { section, samples, fibres: options.fibres });
        }
    }
    let sites = fibres::lay(&sections, options, |place| grid.contains(place));
    progress(0.95);
    let between = |pair: &[f64]| arc.volume_before(pair[1]) - arc.volume_before(pair[0]);
    let targets = radii::Targets {
        areas: &levels.iter().map(|&level| arc.area(level, grid.size)).collect::<Vec<_>>(),
        volumes: &levels.windows(2).map(between).collect::<Vec<_>>(),
        total: mesh_volume,
    };
    let radii = radii::fit(&sites, &targets);
    let disc = |fibre: usize| move |(sites, &radius): (&Vec<DVec3>, &f64)| Disc { place: sites[fibre], radius };
    let fibre = |fibre: usize| sites.iter().zip(&radii).map(disc(fibre)).collect::<Vec<_>>();
    let fibres: Vec<_> = (0..options.fibres).map(fibre).collect();
    let along = |(section, disc): (usize, &Disc)| arc.at(&grid, disc.place).unwrap_or(levels[section]);
    let disc_places = fibres.iter().map(|fibre| fibre.iter().enumerate().map(along).collect()).collect();
    progress(1.0);
    Ok(Viperized {
        bundle: Bundle { fibres },
        mesh_volume,
        length: arc.length,
        sections: levels,
        disc_places,
        cell: grid.size,
    })
}

impl ViperizeOptions {
    fn validate(&self) -> Result<(), ViperizeError> {
        let within = |name, value, low, high, range| {
            if (low..=high).contains(&value) { Ok(()) } else { Err(ViperizeError::Option { name, value, range }) }
        };
        within("fibres", self.fibres, 1, 64, "1 to 64")?;
        within("sections", self.sections, 2, 64, "2 to 64")?;
        within("cells", self.cells, 1000, 2_000_000, "1000 to 2 000 000")?;
        within("rounds", self.rounds, 0, 1000, "0 to 1000")?;
        if self.straightness.is_finite() && self.straightness >= 0.0 {
            Ok(())
        } else {
            Err(ViperizeError::Straightness { value: self.straightness })
        }
    }
}
