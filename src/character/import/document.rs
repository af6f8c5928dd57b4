//! The parts of the glTF JSON that a character needs; cameras, images and textures are passed over unread.

use gltf::json::validation::Checked;
use gltf::json::{Accessor, Buffer, Extras, Index, Mesh, Node, Skin, accessor, animation, buffer};
use serde::Deserialize;

use super::ImportError;

#[derive(Deserialize)]
pub(super) struct Document {
    pub asset: Asset,
    pub scene: Option<Index<Scene>>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    #[serde(default)]
    pub skins: Vec<Skin>,
    #[serde(default)]
    pub materials: Vec<Material>,
    #[serde(default)]
    pub animations: Vec<Animation>,
    #[serde(default)]
    pub accessors: Vec<Accessor>,
    #[serde(default, rename = "bufferViews")]
    pub buffer_views: Vec<buffer::View>,
    #[serde(default)]
    pub buffers: Vec<Buffer>,
    #[serde(default, rename = "extensionsRequired")]
    pub extensions_required: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct Asset {
    version: String,
    #[serde(rename = "minVersion")]
    min_version: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub nodes: Vec<Index<Node>>,
    #[serde(default)]
    pub extras: Extras,
}

#[derive(Deserialize)]
pub(super) struct Material {
    pub name: Option<String>,
    #[serde(rename = "pbrMetallicRoughness")]
    pub pbr: Option<MetallicRoughness>,
    #[serde(default)]
    pub extras: Extras,
}

#[derive(Deserialize)]
pub(super) struct MetallicRoughness {
    #[serde(rename = "baseColorFactor")]
    pub base_color_factor: Option<[f32; 4]>,
}

#[derive(Deserialize)]
pub(super) struct Animation {
    pub name: Option<String>,
    #[serde(default)]
    pub channels: Vec<Channel>,
    #[serde(default)]
    pub samplers: Vec<Sampler>,
}

#[derive(Deserialize)]
pub(super) struct Channel {
    pub sampler: Index<Sampler>,
    pub target: Target,
}

/// `path` stays text: extensions add paths of their own, which only this channel should suffer from.
#[derive(Deserialize)]
pub(super) struct Target {
    pub node: Option<Index<Node>>,
    pub path: String,
}

#[derive(Deserialize)]
pub(super) struct Sampler {
    pub input: Index<accessor::Accessor>,
    #[serde(default)]
    pub interpolation: Checked<animation::Interpolation>,
    pub output: Index<accessor::Accessor>,
}

impl Document {
    pub(super) fn parse(file: &str, json: &[u8]) -> Result<Self, ImportError> {
        let document: Self =
            serde_json::from_slice(json).map_err(|source| ImportError::Json { file: file.into(), source })?;
        document.check_version(file)?;
        for extension in &document.extensions_required {
            if let Some(fix) = unreadable(extension) {
                let (file, extension) = (file.into(), super::context::shorten(extension).into());
                return Err(ImportError::RequiredExtension { file, extension, fix: fix.into() });
            }
        }
        Ok(document)
    }

    /// A client reads any 2.x file unless its `minVersion` says more (glTF 2.0, 3.2).
    fn check_version(&self, file: &str) -> Result<(), ImportError> {
        let Asset { version, min_version } = &self.asset;
        let readable = match min_version {
            Some(least) => least == "2.0",
            None => version.split('.').next() == Some("2"),
        };
        if readable {
            return Ok(());
        }
        let version = super::context::shorten(min_version.as_ref().unwrap_or(version)).into();
        Err(ImportError::Version { file: file.into(), version })
    }
}

/// What to do about a required extension, or `None` where it changes nothing that a character needs.
fn unreadable(extension: &str) -> Option<&'static str> {
    let looks_only = ["KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_", "MSFT_texture_", "VRM"];
    if looks_only.iter().any(|prefix| extension.starts_with(prefix)) {
        return None;
    }
    Some(match extension {
        "KHR_draco_mesh_compression" => {
            "in Blender's glTF export turn off Data > Compression, or run `gltf-transform copy IN OUT` on it"
        }
        "EXT_meshopt_compression" | "KHR_meshopt_compression" => {
            "run gltfpack without -c or -cc, export again from Blender, or run `gltf-transform copy IN OUT` on it"
        }
        "KHR_mesh_quantization" => {
            "run gltfpack with -noq, export again from Blender, or run `gltf-transform dequantize IN OUT` on it"
        }
        _ => "export the file without it (in Blender: glTF export, no third-party extensions)",
    })
}
