//! Bundles of fibres in space: what meshes are viperized into, and what muscles are made from.

use glam::DVec3;

/// A fibre where it passes a cross-section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// Its centre (m).
    pub place: DVec3,
    /// Its radius (m).
    pub radius: f64,
}

/// K fibres through M cross-sections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    /// `fibres[k][j]` is where fibre k passes section j; all have the same number of sections.
    pub fibres: Vec<Vec<Disc>>,
}

impl Bundle {
    /// How many sections its fibres pass.
    pub fn section_count(&self) -> usize {
        self.fibres.first().map_or(0, Vec::len)
    }
}
