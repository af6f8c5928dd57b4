//! Why a mesh cannot be viperized.

/// Why a mesh cannot be viperized; each names what to change.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ViperizeError {
    /// The mesh has no triangles with an area.
    #[error("the mesh has no triangles with an area: give it a surface")]
    NoTriangles,
    /// A triangle names a vertex that the mesh does not have.
    #[error("triangle {triangle} names vertex {vertex}, but the mesh has {vertices}: indices count from 0")]
    TriangleIndex {
        /// Which triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many the mesh has.
        vertices: usize,
    },
    /// A vertex is not finite, or so far out that its square is not.
    #[error("vertex {vertex} of the mesh is not finite, or over 1e100 m away: mend or remove it")]
    NotFinite {
        /// Which vertex.
        vertex: usize,
    },
    /// The surface encloses nothing.
    #[error("the mesh encloses no volume: close its surface, or give the sheet a thickness")]
    NoVolume,
    /// A number among the options is out of its range.
    #[error("{name} is {value}: choose {range}")]
    Option {
        /// Which option.
        name: &'static str,
        /// Its value.
        value: usize,
        /// What it may be.
        range: &'static str,
    },
    /// The straightness is not a weight.
    #[error("straightness is {value}: choose a finite number from 0 up")]
    Straightness {
        /// Its value.
        value: f64,
    },
    /// An end names a vertex that the mesh does not have.
    #[error("the {end} name vertex {vertex}, but the mesh has {vertices}: indices count from 0")]
    EndIndex {
        /// `sources` or `sinks`.
        end: &'static str,
        /// The vertex it names.
        vertex: u32,
        /// How many the mesh has.
        vertices: usize,
    },
    /// The attribute does not have a value per vertex.
    #[error("the attribute has {values} values, but the mesh has {vertices} vertices: give one per vertex")]
    AttributeLength {
        /// How many values it has.
        values: usize,
        /// How many the mesh has.
        vertices: usize,
    },
    /// A place given for an end is not finite.
    #[error("the place of the {end} is not finite: give metres in the mesh's own frame")]
    Place {
        /// `origin` or `insertion`.
        end: &'static str,
    },
    /// An end is empty.
    #[error("the muscle has no {end}: mark vertices where it is attached, below -0.5 for sources, above 0.5 for sinks")]
    EmptyEnd {
        /// `sources` or `sinks`.
        end: &'static str,
    },
    /// Nothing lies between the ends.
    #[error("sources and sinks meet or fill the whole muscle: mark two places with muscle between them")]
    EndsMeet,
    /// No part of the volume holds both ends.
    #[error("no connected part of the mesh holds both ends: join the parts, or mark both ends on one of them")]
    Disconnected,
    /// The surface joins the ends, the grid does not.
    #[error("the muscle is thinner than the grid's cells of {cell:.2e} m between its ends: use more cells")]
    TooThin {
        /// Edge of a cell (m).
        cell: f64,
    },
    /// A section has fewer sample points than fibres pass it.
    #[error("section {section} has {samples} sample points for {fibres} fibres: use more cells or fewer fibres")]
    ThinSection {
        /// Which section.
        section: usize,
        /// Its sample points.
        samples: usize,
        /// The fibres asked for.
        fibres: usize,
    },
    /// The harmonic solve did not converge.
    #[error("the harmonic field did not converge (residual {residual:.1e}): use fewer cells")]
    Harmonic {
        /// Relative residual reached.
        residual: f64,
    },
}
