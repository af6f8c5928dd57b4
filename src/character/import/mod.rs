//! Characters from glTF 2.0 files; the only place that names the `gltf` crate.
//!
//! The crate's typed JSON is used, its readers are not: a file can make those panic, so every index, offset and
//! count is checked here first. What geometry or skinning hang on is an [`ImportError`] when it is broken; what a
//! character can do without is left out with a warning.

mod accessor;
mod animations;
mod buffers;
mod container;
mod context;
mod document;
mod error;
mod influences;
mod meshes;
mod morphs;
mod muscle_extras;
mod muscles;
mod node_mesh;
mod nodes;
mod overlooked;
mod rigs;
mod skins;
mod spelling;
mod triangles;

use std::fs;
use std::path::Path;

use glam::{Affine3A, Vec3};

pub use error::{ImportError, ImportOptions};

use super::{CharacterAsset, MuscleSpec, Sidecar, SidecarError, SidecarSource, SkinMesh, sidecar_path};
use buffers::{Buffers, Places};
use context::{Budget, Context, Warnings};
use document::Document;
use skins::Palette;

/// Heights (m) between which a character is not remarkable.
const PLAUSIBLE_HEIGHT: std::ops::RangeInclusive<f32> = 0.2..=4.0;

impl CharacterAsset {
    /// Reads a character from a `.glb`, `.gltf` or `.vrm` file and the buffers beside it.
    ///
    /// Every mesh of the default scene becomes part of [`Self::mesh`], in the order of nodes and primitives in the
    /// file: skinned ones by their skin, ignoring their own node's transform as glTF demands, others hanging on
    /// their node. Vertices that no triangle uses are left out. Images are not read.
    ///
    /// Muscles are those of the nodes' `extras.sinew.muscle` or extension `SINEW_muscle`, with what
    /// [`ImportOptions::sidecar`] says of them on top, key by key. Their meshes stay in [`Self::mesh`].
    ///
    /// # Errors
    ///
    /// [`ImportError`] where the file cannot be read or what is in it has no sound meaning. Lesser defects are in
    /// [`Self::warnings`].
    pub fn load(path: impl AsRef<Path>, options: &ImportOptions) -> Result<Self, ImportError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let bytes =
            fs::read(path).map_err(|source| ImportError::Io { file: file.clone(), what: "the file".into(), source })?;
        let beside = match options.sidecar {
            SidecarSource::Beside => Sidecar::read(sidecar_path(path)).map_err(|error| match error {
                SidecarError::Io { file, source } => ImportError::Io { file, what: "the sidecar".into(), source },
                SidecarError::Muscle { file, source } => ImportError::Muscle { file, source },
            })?,
            SidecarSource::Nowhere | SidecarSource::Given(_) => None,
        };
        let mut asset = Self::read(&file, &bytes, path.parent(), beside.as_ref(), options)?;
        asset.name = path.file_stem().map_or_else(|| file, |stem| stem.to_string_lossy().into_owned());
        Ok(asset)
    }

    /// As [`Self::load`], from the bytes of the file.
    ///
    /// `name` becomes [`Self::name`] and stands for the file in messages. Without `base_dir` only buffers inside
    /// the file (binary chunk, data URIs) can be read.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    pub fn from_slice(
        name: &str,
        bytes: &[u8],
        base_dir: Option<&Path>,
        options: &ImportOptions,
    ) -> Result<Self, ImportError> {
        Self::read(name, bytes, base_dir, None, options)
    }

    fn read(
        file: &str,
        bytes: &[u8],
        base_dir: Option<&Path>,
        beside: Option<&Sidecar>,
        options: &ImportOptions,
    ) -> Result<Self, ImportError> {
        let sidecar = match &options.sidecar {
            SidecarSource::Given(sidecar) => Some(sidecar),
            SidecarSource::Beside => beside,
            SidecarSource::Nowhere => None,
        };
        let meters_per_unit = options.meters_per_unit;
        if !(meters_per_unit.is_finite() && meters_per_unit > 0.0) {
            return Err(ImportError::MetersPerUnit(meters_per_unit));
        }
        let warnings = Warnings::default();
        let container = container::split(file, bytes, &warnings)?;
        let document = Document::parse(file, container.json)?;
        let places = Places { file, binary: container.binary, base_dir, warnings: &warnings };
        let buffers = Buffers::fetch(&document, &places)?;
        let total = options.memory_budget.unwrap_or_else(|| {
            let sidecar = sidecar.map_or(0, |sidecar| sidecar.bytes);
            let source = buffers.total_bytes().saturating_add(bytes.len() as u64).saturating_add(sidecar);
            source.saturating_mul(64).saturating_add(16 << 20)
        });
        let budget = Budget::new(file, total);
        let context = Context {
            file,
            document: &document,
            buffers: &buffers,
            meters_per_unit,
            budget: &budget,
            warnings: &warnings,
        };
        let mut asset = read_asset(&context, sidecar)?;
        overlooked::warn(&context, container.json, !asset.muscles.is_empty());
        asset.name = file.into();
        asset.warnings = warnings.finish();
        Ok(asset)
    }
}

fn read_asset<'a>(context: &Context<'a>, sidecar: Option<&'a Sidecar>) -> Result<CharacterAsset, ImportError> {
    let graph = nodes::read(context)?;
    let rigs = rigs::Rigs::new(context, &graph);
    let plans = muscles::plan(context, &graph, &rigs, sidecar)?;
    let mut muscle_meshes = muscles::node_meshes(&plans);
    let mut rest_model = Vec::new();
    graph.skeleton.model_matrices(&graph.skeleton.rest_pose(), &mut rest_model);
    let mut palette = Palette::new(context, &graph, &rest_model);
    let mut mesh = SkinMesh::default();
    let skinned_vertices = meshes::read(context, &graph, &mut palette, &mut mesh, &mut muscle_meshes)?;
    let Palette { entries, rest, .. } = palette;
    let muscles = muscles::finish(context, &graph, &rigs, plans, &muscle_meshes)?;
    let bones = muscles::bones(context, &graph, sidecar)?;
    let animations = animations::read(context, &graph.joint_of, &mesh.morphs)?;
    if mesh.triangles.is_empty() {
        context.warn("nothing in the scene has triangles: nothing is skinned and there is nothing to see".into());
    } else if skinned_vertices == 0 {
        context
            .warn("nothing is skinned: all meshes hang on their nodes; export the character with its armature".into());
    }
    warn_of_height(context, &mesh, &rest, &muscles);
    Ok(CharacterAsset {
        name: String::new(),
        skeleton: graph.skeleton,
        palette: entries,
        mesh,
        animations,
        muscles,
        bones,
        warnings: Vec::new(),
    })
}

/// Warns where the character at rest, its muscles' own surfaces apart, is as tall as a house or as small as a finger.
///
/// One that lies down, or is drawn flat, is judged by its longest side before it is called small.
fn warn_of_height(context: &Context, mesh: &SkinMesh, palette_rest: &[Affine3A], muscles: &[MuscleSpec]) {
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let mut of_muscle = vec![false; mesh.positions.len()];
    for surface in muscles.iter().filter_map(|muscle| muscle.mesh.as_ref()) {
        of_muscle[surface.vertices.start as usize..surface.vertices.end as usize].fill(true);
    }
    let vertices = mesh.positions.iter().zip(&mesh.influence_joints).zip(&mesh.influence_weights).zip(&of_muscle);
    for (((position, joints), weights), _) in vertices.filter(|(_, of_muscle)| !**of_muscle) {
        let carry = |(&joint, &weight): (&u16, &f32)| palette_rest[joint as usize].transform_point3(*position) * weight;
        let place: Vec3 = joints.iter().zip(weights).filter(|(_, weight)| **weight > 0.0).map(carry).sum();
        low = low.min(place);
        high = high.max(place);
    }
    let size = high - low;
    if !size.is_finite() || (size.y <= *PLAUSIBLE_HEIGHT.end() && size.max_element() >= *PLAUSIBLE_HEIGHT.start()) {
        return;
    }
    context.warn(format!(
        "the character is {:.3} m tall ({:.3} × {:.3} × {:.3} m) at rest, where {} to {} m would be usual; \
         if the file is not in metres, set meters_per_unit, --meters-per-unit of the tool (now {})",
        size.y,
        size.x,
        size.y,
        size.z,
        PLAUSIBLE_HEIGHT.start(),
        PLAUSIBLE_HEIGHT.end(),
        context.meters_per_unit
    ));
}
