//! A folder of shards: what is whole in it stays, what is lacking is baked, and the manifest comes last.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::{BakeError, BakeFault};
use super::manifest::{FlawedSample, MANIFEST, MOST_MANIFEST, Manifest, PlanHead, ShardEntry, VERSION, shard_file};
use super::plan::Plan;
use super::settle::{Sample, bake_sample};
use super::shard::{MOST_HEADER, Shard};
use crate::files::{read_at_most, remove_parts, write_whole};

/// Every n-th shard, from the i-th on: the share of one of n machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// i, from 0.
    pub index: u32,
    /// n, at least 1.
    pub count: u32,
}

impl Part {
    /// All shards.
    pub const WHOLE: Self = Self { index: 0, count: 1 };
}

/// How far a bake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BakeProgress {
    /// Samples of this part that are there.
    pub done: u32,
    /// Those of them that were there before.
    pub kept: u32,
    /// Samples of this part.
    pub total: u32,
}

/// What a bake has done.
#[derive(Clone, Debug, PartialEq)]
pub struct BakeSummary {
    /// Shards of this part that were there before.
    pub kept: u32,
    /// Shards that were baked.
    pub baked: u32,
    /// Shards that were there but damaged, and so baked anew.
    pub damaged: u32,
    /// The manifest, where no shard of any part is lacking.
    pub manifest: Option<Manifest>,
}

/// What the manifest needs of a shard.
type Told = (ShardEntry, Vec<FlawedSample>);

/// Bakes what a part of a folder lacks, on so many threads (0 for all there are), and writes the manifest once no part's shards are
/// lacking. Shards are written beside their places and moved there, so that none is ever half there; what was left of a killed run
/// goes on. The same plan gives the same bytes.
///
/// # Errors
/// [`BakeFault::OtherBake`] where the folder has the data of another plan, [`BakeFault::Io`], [`BakeFault::Step`].
pub fn bake(
    plan: &Plan,
    folder: &Path,
    part: Part,
    threads: usize,
    progress: &(dyn Fn(BakeProgress) + Sync),
) -> Result<BakeSummary, BakeError> {
    let at_folder = |fault: BakeFault| fault.of(folder.display());
    if part.index >= part.count {
        let (given, allowed) = (format!("{}/{}", part.index, part.count), "i/n with i from 0 to n - 1".into());
        return Err(at_folder(BakeFault::Option { option: "shard", given, allowed }));
    }
    fs::create_dir_all(folder).map_err(|error| at_folder(error.into()))?;
    let before = manifest_before(plan, folder)?;
    let pool = Workers::new(threads).map_err(at_folder)?;
    let own = (part.index..plan.shard_count()).step_by(part.count as usize);
    let mut told: Vec<Option<Told>> = (0..plan.shard_count()).map(|_| None).collect();
    let mut summary = BakeSummary { kept: 0, baked: 0, damaged: 0, manifest: None };
    let total = own.clone().map(|shard| plan.head.samples_of(shard).len() as u32).sum();
    let (mut kept, mut lacking) = (0, Vec::new());
    for shard in own {
        let path = folder.join(shard_file(shard));
        match read_shard(&path, (&plan.head, &plan.hash), shard) {
            Ok((found, hash)) => {
                told[shard as usize] = Some(tell(&found, shard, hash));
                summary.kept += 1;
                kept += found.len() as u32;
            }
            Err(error) => {
                match &error.fault {
                    BakeFault::Io(io) if io.kind() == std::io::ErrorKind::NotFound => {}
                    BakeFault::Io(_) | BakeFault::OtherBake(_) | BakeFault::Version { .. } => return Err(error),
                    _ => summary.damaged += 1,
                }
                lacking.push(shard);
            }
        }
    }
    let done = AtomicU32::new(kept);
    progress(BakeProgress { done: kept, kept, total });
    for shard in lacking {
        let range = plan.head.samples_of(shard);
        let baked = pool.map(range.clone(), &|number| {
            let sample = bake_sample(plan, number);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress(BakeProgress { done, kept, total });
            sample
        });
        let samples = baked.into_iter().collect::<Result<Vec<_>, _>>().map_err(at_folder)?;
        let baked = Shard::new(range.start, &samples);
        let (bytes, hash) = baked.to_bytes(&plan.hash, shard);
        put(&folder.join(shard_file(shard)), &bytes)?;
        told[shard as usize] = Some(tell(&baked, shard, hash));
        summary.baked += 1;
    }
    let as_before = |manifest: &Manifest| {
        let entries = told.iter().zip(&manifest.shards);
        part != Part::WHOLE
            && entries.into_iter().all(|(told, entry)| told.as_ref().is_none_or(|told| told.0 == *entry))
    };
    summary.manifest = match before.filter(as_before) {
        // What others have baked is not read again by each of them.
        Some(manifest) => Some(manifest),
        None => finish(plan, folder, told)?,
    };
    Ok(summary)
}

fn tell(shard: &Shard, number: u32, hash: String) -> Told {
    (shard.entry(number, hash), shard.flawed().collect())
}

/// The manifest of a folder that may be gone on with, if it has a whole one.
fn manifest_before(plan: &Plan, folder: &Path) -> Result<Option<Manifest>, BakeError> {
    let path = folder.join(MANIFEST);
    match read_manifest(&path) {
        Ok(there) if there.plan_hash == plan.hash => Ok(Some(there)),
        Ok(there) => {
            let differs = there.plan.difference(&plan.head);
            Err(BakeFault::OtherBake(differs.unwrap_or_else(|| "its plan's hash differs".into())).of(path.display()))
        }
        // It is written anew.
        Err(BakeError { fault: BakeFault::Damaged(_) | BakeFault::Unfinished, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes the manifest, if all shards are there and whole.
fn finish(plan: &Plan, folder: &Path, mut told: Vec<Option<Told>>) -> Result<Option<Manifest>, BakeError> {
    let lacking =
        |(shard, told): (usize, &Option<Told>)| told.is_none() && !folder.join(shard_file(shard as u32)).exists();
    if told.iter().enumerate().any(lacking) {
        return Ok(None);
    }
    for (shard, told) in (0..).zip(&mut told).filter(|(_, told)| told.is_none()) {
        match read_shard(&folder.join(shard_file(shard)), (&plan.head, &plan.hash), shard) {
            Ok((found, hash)) => *told = Some(tell(&found, shard, hash)),
            // Whose it is bakes it anew.
            Err(BakeError { fault: BakeFault::Damaged(_) | BakeFault::BadNumber { .. }, .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let (shards, flawed): (Vec<_>, Vec<_>) = told.into_iter().flatten().unzip();
    let flawed = flawed.into_iter().flatten().collect();
    let manifest = Manifest { version: VERSION, plan: plan.head.clone(), plan_hash: plan.hash.clone(), shards, flawed };
    put(&folder.join(MANIFEST), manifest.to_text().as_bytes())?;
    let ours = |name: &str| name.starts_with("shard-") || name.starts_with(MANIFEST);
    remove_parts(folder, ours).map_err(|error| BakeFault::Io(error).of(folder.display()))?;
    Ok(Some(manifest))
}

/// Reads a file of at most so many bytes.
fn read_file(path: &Path, what: &'static str, most: u64) -> Result<Vec<u8>, BakeFault> {
    read_at_most(path, most)?.map_err(|given| BakeFault::TooLarge { what, given, most })
}

/// Reads a shard of a plan, and its hash.
pub(super) fn read_shard(path: &Path, plan: (&PlanHead, &str), shard: u32) -> Result<(Shard, String), BakeError> {
    let read = || {
        let most = plan.0.shard_bytes()? + MOST_HEADER;
        let bytes = match read_file(path, "bytes", most) {
            Err(BakeFault::TooLarge { given, .. }) => {
                Err(BakeFault::Damaged(format!("it has {given} bytes or more, its plan {most} at most")))
            }
            read => read,
        }?;
        Shard::from_bytes(&bytes, plan, shard)
    };
    read().map_err(|fault: BakeFault| fault.of(path.display()))
}

/// Reads a manifest; [`BakeFault::Unfinished`] where there is none.
pub(super) fn read_manifest(path: &Path) -> Result<Manifest, BakeError> {
    let read = || {
        let bytes = match read_file(path, "bytes", MOST_MANIFEST) {
            Err(BakeFault::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => Err(BakeFault::Unfinished),
            read => read,
        }?;
        let text = std::str::from_utf8(&bytes).map_err(|error| BakeFault::Damaged(error.to_string()))?;
        Manifest::from_text(text)
    };
    read().map_err(|fault: BakeFault| fault.of(path.display()))
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), BakeError> {
    write_whole(path, bytes).map_err(|error| BakeFault::Io(error).of(path.display()))
}

/// The threads that samples are baked on.
struct Workers {
    #[cfg(feature = "parallel")]
    pool: Option<rayon::ThreadPool>,
}

impl Workers {
    #[cfg(feature = "parallel")]
    fn new(threads: usize) -> Result<Self, BakeFault> {
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool =
            (threads != 1).then(pool).transpose().map_err(|error| BakeFault::Io(std::io::Error::other(error)))?;
        Ok(Self { pool })
    }

    #[cfg(not(feature = "parallel"))]
    fn new(_threads: usize) -> Result<Self, BakeFault> {
        Ok(Self {})
    }

    fn map(
        &self,
        range: std::ops::Range<u32>,
        bake: &(dyn Fn(u32) -> Result<Sample, BakeFault> + Sync),
    ) -> Vec<Result<Sample, BakeFault>> {
        #[cfg(feature = "parallel")]
        if let Some(pool) = &self.pool {
            use rayon::prelude::*;
            return pool.install(|| range.into_par_iter().map(bake).collect());
        }
        range.map(bake).collect()
    }
}
