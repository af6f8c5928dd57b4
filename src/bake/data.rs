//! What was baked, for whoever trains with it.

use std::path::{Path, PathBuf};

use super::error::{BakeError, BakeFault};
use super::folder::{read_manifest, read_shard};
use super::manifest::{MANIFEST, Manifest};
use super::shard::Shard;
use crate::character::Character;
use crate::neural::MeshHash;

/// A folder whose shards are all there.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSet {
    folder: PathBuf,
    manifest: Manifest,
}

impl DataSet {
    /// Opens a folder, by its manifest.
    ///
    /// # Errors
    /// [`BakeFault::Unfinished`] where it has no manifest yet, [`BakeFault::Damaged`], [`BakeFault::Version`],
    /// [`BakeFault::TooLarge`] or [`BakeFault::Io`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, BakeError> {
        let folder = folder.as_ref().to_path_buf();
        Ok(Self { manifest: read_manifest(&folder.join(MANIFEST))?, folder })
    }

    /// What it has.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Reads a shard.
    ///
    /// # Errors
    /// [`BakeFault::Damaged`] where it is not the one that the manifest says, [`BakeFault::BadNumber`] or [`BakeFault::Io`].
    ///
    /// # Panics
    /// Where there is no such shard.
    pub fn shard(&self, shard: usize) -> Result<Shard, BakeError> {
        let Manifest { plan, plan_hash, shards, .. } = &self.manifest;
        let entry = &shards[shard];
        let path = self.folder.join(&entry.file);
        let (read, hash) = read_shard(&path, (plan, plan_hash), shard as u32)?;
        if hash != entry.hash {
            return Err(
                BakeFault::Damaged(format!("its hash is {hash}, in the manifest {}", entry.hash)).of(path.display())
            );
        }
        Ok(read)
    }

    /// Whether it is of a character's mesh.
    ///
    /// # Errors
    /// [`BakeFault::WrongMesh`].
    pub fn check(&self, character: &Character) -> Result<(), BakeError> {
        let (asset, plan) = (character.asset(), &self.manifest.plan);
        let [topology, rest_shape] = MeshHash::of(&asset.mesh.positions, &asset.mesh.triangles).digits();
        let vertices = asset.mesh.positions.len().to_string();
        let differs = [
            ("vertices", vertices, plan.vertices.to_string()),
            ("topology", topology, plan.topology.clone()),
            ("rest shape", rest_shape, plan.rest_shape.clone()),
        ];
        match differs.into_iter().find(|(_, found, expected)| found != expected) {
            Some((what, found, expected)) => Err(BakeFault::WrongMesh {
                character: asset.name.clone(),
                difference: format!("its {what} is {found}, that of the data {expected}"),
            }
            .of(self.folder.display())),
            None => Ok(()),
        }
    }
}
