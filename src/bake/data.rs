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

    /// Bytes of the displacements of all used samples; each shard's file is as large as those that its manifest says are in it.
    ///
    /// # Errors
    /// [`BakeFault::Damaged`] or [`BakeFault::Io`], of the first shard that is not.
    #[cfg(feature = "train")]
    pub(crate) fn check_sizes(&self) -> Result<u64, BakeError> {
        let Manifest { plan, shards, .. } = &self.manifest;
        let mut all = 0;
        for entry in shards {
            let path = self.folder.join(&entry.file);
            let found = std::fs::metadata(&path).map_err(|error| BakeFault::Io(error).of(path.display()))?.len();
            let claimed = u64::from(entry.used) * 12 * plan.vertices;
            if found < claimed {
                let what =
                    format!("it has {found} bytes, the displacements that the manifest says are in it {claimed}");
                return Err(BakeFault::Damaged(what).of(path.display()));
            }
            all += claimed;
        }
        Ok(all)
    }

    /// Something amiss with all of it.
    #[cfg(feature = "train")]
    pub(crate) fn fault(&self, fault: BakeFault) -> BakeError {
        fault.of(self.folder.display())
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
