//! Pictures of a character without a graphics adapter: a small software rasteriser.
//!
//! The same scene gives the same bits on every machine: one thread, no transcendental functions beyond the
//! square root, exact integer coverage. A picture can therefore be pinned by [`Image::hash`].
//!
//! ```
//! use glam::Vec3;
//! use sinew::picture::{Bounds, Camera, OverlayRod, Scene};
//!
//! let points = [Vec3::new(0.0, 0.2, 0.0), Vec3::new(0.0, 1.0, 0.0)];
//! let bounds = Bounds::of(&points).grown(0.1);
//! let mut scene = Scene::new(Camera::framing(bounds, Vec3::new(1.0, 0.5, 2.0), 4.0 / 3.0));
//! scene.rods.push(OverlayRod { points: &points, radii: &[0.1, 0.05], colour: [0.8, 0.2, 0.1, 0.9] });
//! let image = scene.render(64, 48)?;
//! assert_eq!(image.rgba.len(), 64 * 48 * 4);
//! # Ok::<(), sinew::picture::PictureError>(())
//! ```

mod camera;
mod encode;
mod light;
mod palette;
mod raster;
mod render;
mod solids;

pub use camera::{Bounds, Camera};
pub use encode::write_gif;

use glam::Vec3;

/// The widest and the highest picture that can be drawn (pixels).
pub const MAX_SIDE: u32 = 8192;

/// What can go wrong while drawing or writing a picture.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// Two arrays that describe the same things have different lengths.
    #[error("{what}: {found} entries where there must be {expected}; pass one per {per}")]
    Length {
        /// The array at fault.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
        /// What each entry belongs to.
        per: &'static str,
    },
    /// A triangle names a vertex that is not there.
    #[error("triangle {triangle} names vertex {vertex}, but there are {count}; check the mesh's indices")]
    Index {
        /// Index of the triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many vertices there are.
        count: usize,
    },
    /// A picture without pixels, or too large a one.
    #[error("a picture of {width} x {height} pixels; each side must be 1 to 8192")]
    Size {
        /// Width asked for (pixels).
        width: u32,
        /// Height asked for (pixels).
        height: u32,
    },
    /// A moving picture without frames.
    #[error("a GIF needs at least one frame; draw one before writing")]
    NoFrames,
    /// A frame whose size differs from the first one's, or whose pixels do not fill it.
    #[error("frame {frame} is not {width} x {height} pixels like the first; draw all frames at one size")]
    FrameSize {
        /// Index of the frame.
        frame: usize,
        /// Width of the first frame (pixels).
        width: u32,
        /// Height of the first frame (pixels).
        height: u32,
    },
    /// The file could not be created or written.
    #[error("cannot write {path}: {source}; check that its folder exists and is writable")]
    Write {
        /// The file.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A finished picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Width (pixels).
    pub width: u32,
    /// Height (pixels).
    pub height: u32,
    /// Red, green, blue and alpha of each pixel, sRGB, rows from the top: `width * height * 4` bytes.
    pub rgba: Vec<u8>,
}

impl Image {
    /// FNV-1a of the size and all bytes, to pin a picture in a test.
    pub fn hash(&self) -> u64 {
        let size = [self.width.to_le_bytes(), self.height.to_le_bytes()].concat();
        size.iter()
            .chain(&self.rgba)
            .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }
}

/// A triangle mesh as it stands in the world.
#[derive(Clone, Copy, Debug)]
pub struct MeshView<'a> {
    /// Places (m).
    pub positions: &'a [Vec3],
    /// Normals, one per position; those that are zero or not finite are replaced by the triangle's own.
    pub normals: &'a [Vec3],
    /// Triangles, counter-clockwise from outside; those with a place that is not finite are left out.
    pub triangles: &'a [[u32; 3]],
    /// Linear RGBA of each triangle; alpha is ignored. One entry colours the whole mesh.
    pub triangle_colours: &'a [[f32; 4]],
}

/// A rod, drawn as a tube over the picture and through the skin.
#[derive(Clone, Copy, Debug)]
pub struct OverlayRod<'a> {
    /// Places of the nodes (m).
    pub points: &'a [Vec3],
    /// Radius at each node (m).
    pub radii: &'a [f32],
    /// Linear RGBA.
    pub colour: [f32; 4],
}

/// A pill, the hull of two spheres, drawn as a glassy shell through the skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverlayPill {
    /// Centres of the two spheres (m).
    pub ends: [Vec3; 2],
    /// Their radii (m).
    pub radii: [f32; 2],
    /// Linear RGBA.
    pub colour: [f32; 4],
}

/// The floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Height of the floor (m).
    pub height: f32,
    /// Side of a tile (m).
    pub tile: f32,
}

impl Default for Ground {
    fn default() -> Self {
        Self { height: 0.0, tile: 0.25 }
    }
}

/// Everything that one picture shows.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// Where it is seen from.
    pub camera: Camera,
    /// The floor, if it is to be seen.
    pub ground: Option<Ground>,
    /// Opaque meshes, lit smoothly from both sides; they cast shadows.
    pub meshes: Vec<MeshView<'a>>,
    /// Rods, over everything else.
    pub rods: Vec<OverlayRod<'a>>,
    /// Pills, over the meshes and under the rods.
    pub pills: Vec<OverlayPill>,
}

impl Scene<'_> {
    /// A scene with a floor at height 0 and nothing on it.
    pub fn new(camera: Camera) -> Self {
        Self { camera, ground: Some(Ground::default()), meshes: Vec::new(), rods: Vec::new(), pills: Vec::new() }
    }

    /// Draws the scene.
    ///
    /// # Errors
    /// [`PictureError::Size`], [`PictureError::Length`] and [`PictureError::Index`]. Places that are not finite,
    /// triangles without area and things behind the camera are left out without an error.
    pub fn render(&self, width: u32, height: u32) -> Result<Image, PictureError> {
        if !(1..=MAX_SIDE).contains(&width) || !(1..=MAX_SIDE).contains(&height) {
            return Err(PictureError::Size { width, height });
        }
        self.meshes.iter().try_for_each(MeshView::check)?;
        self.rods.iter().try_for_each(OverlayRod::check)?;
        Ok(render::render(self, width, height))
    }
}

impl MeshView<'_> {
    fn check(&self) -> Result<(), PictureError> {
        let (vertices, triangles) = (self.positions.len(), self.triangles.len());
        check_length("normals", self.normals.len(), vertices, "position")?;
        if self.triangle_colours.len() != 1 {
            check_length("triangle_colours", self.triangle_colours.len(), triangles, "triangle")?;
        }
        for (triangle, corners) in self.triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices) {
                return Err(PictureError::Index { triangle, vertex, count: vertices });
            }
        }
        Ok(())
    }
}

impl OverlayRod<'_> {
    fn check(&self) -> Result<(), PictureError> {
        check_length("radii", self.radii.len(), self.points.len(), "point")
    }
}

fn check_length(what: &'static str, found: usize, expected: usize, per: &'static str) -> Result<(), PictureError> {
    if found == expected { Ok(()) } else { Err(PictureError::Length { what, found, expected, per }) }
}

#[cfg(test)]
mod tests;
