//! Why nothing can be baked, or what was baked cannot be read.

use crate::StepError;

/// Something about a bake that cannot be, by file.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {fault}")]
pub struct BakeError {
    /// The file, the folder or the character.
    pub name: String,
    /// What is wrong with it.
    pub fault: BakeFault,
}

/// What is wrong with a bake or its data.
#[derive(Debug, thiserror::Error)]
pub enum BakeFault {
    /// A file could not be read or written.
    #[error("{0}; check the path, its rights and the room on the disk")]
    Io(std::io::Error),
    /// An option out of range.
    #[error("{option} is {given}; it must be {allowed}")]
    Option {
        /// Its name.
        option: &'static str,
        /// What it is.
        given: String,
        /// What it may be.
        allowed: String,
    },
    /// Limits that are not as documented.
    #[error("{0}")]
    Limits(String),
    /// Nothing that could be sampled.
    #[error("{0}")]
    Nothing(String),
    /// A skin that is blended in another way than networks are.
    #[error(
        "its skin blends dual quaternions; deltas are pulled back through linear blending: set FleshOptions::blending to Linear"
    )]
    Blending,
    /// The flesh cannot be stepped.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A folder with the data of another bake.
    #[error("it is of another bake ({0}); bake into another folder, or remove this one")]
    OtherBake(String),
    /// A folder whose shards are not all there.
    #[error("there is no manifest.json: not all shards are baked; run the same `sinew bake` again without --shard")]
    Unfinished,
    /// Written by another version.
    #[error("it has format version {found}; this version reads {newest}: bake again, or update sinew")]
    Version {
        /// What it says.
        found: u64,
        /// What is read.
        newest: u64,
    },
    /// Cut off, or changed since it was written.
    #[error("it is damaged ({0}); run the same `sinew bake` again, which bakes anew what is damaged")]
    Damaged(String),
    /// More than there can be.
    #[error("it claims {what} of {given}; at most {most} are read: bake again with fewer")]
    TooLarge {
        /// What it claims.
        what: &'static str,
        /// How many or how much.
        given: u64,
        /// How many there may be.
        most: u64,
    },
    /// More than this machine has memory for.
    #[error(
        "its samples' displacements take {bytes} bytes of memory, which are not to be had: bake fewer samples, or train where there is more"
    )]
    NoMemory {
        /// How many.
        bytes: u64,
    },
    /// A number that is NaN, infinite or out of range.
    #[error("{tensor}[{index}] is {value}; it must be {allowed}: bake again")]
    BadNumber {
        /// The tensor's name.
        tensor: &'static str,
        /// Which of its numbers, counted through all dimensions.
        index: usize,
        /// The number.
        value: f64,
        /// What it may be.
        allowed: &'static str,
    },
    /// Data of another mesh, or of other joints or muscles.
    #[error("it does not fit `{character}`: {difference}; bake this character, or use the file that was baked")]
    WrongMesh {
        /// The character's name.
        character: String,
        /// What differs.
        difference: String,
    },
}

impl BakeFault {
    /// The same, said of a file.
    pub(super) fn of(self, name: impl std::fmt::Display) -> BakeError {
        BakeError { name: name.to_string(), fault: self }
    }
}

impl From<std::io::Error> for BakeFault {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
