//! What can go wrong with a file, and what the caller can turn.

use thiserror::Error;

use crate::character::{MuscleError, SidecarSource};

/// How a file is read.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportOptions {
    /// Metres that one unit of the file stands for. glTF says 1; a character drawn in centimetres needs 0.01.
    ///
    /// Translations, vertices, bind matrices and animated translations are converted; scales and rotations stay.
    pub meters_per_unit: f32,
    /// Bytes that the imported character may take, so that a small file cannot ask for all memory.
    /// `None`: 16 MiB and 64 times the bytes of the file and its buffers.
    pub memory_budget: Option<u64>,
    /// Where muscles come from besides the file itself.
    pub sidecar: SidecarSource,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self { meters_per_unit: 1.0, memory_budget: None, sidecar: SidecarSource::Beside }
    }
}

/// Why a file could not be imported.
///
/// Every variant names the file and, where there is one, the object in it and the way out.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file, or a buffer beside it, cannot be read.
    #[error("{file}: cannot read {what}: {source}; check that the path exists and is readable")]
    Io {
        /// The glTF file.
        file: String,
        /// What was being read.
        what: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The binary container is damaged.
    #[error("{file}: {problem}; the file is damaged or cut off: export or copy it again")]
    Container {
        /// The glTF file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The JSON is damaged, or an object lacks a field or has a wrong one.
    #[error("{file}: the glTF JSON is not valid: {source}; export the file again, or check it with the glTF validator")]
    Json {
        /// The glTF file.
        file: String,
        /// Where in the JSON, and why.
        source: serde_json::Error,
    },
    /// The file is of another major version of glTF.
    #[error("{file}: needs glTF {version}, only 2.0 can be read; export it as glTF 2.0")]
    Version {
        /// The glTF file.
        file: String,
        /// The version that it asks for.
        version: String,
    },
    /// The file requires an extension that is not supported.
    #[error("{file}: requires the extension {extension}; {fix}")]
    RequiredExtension {
        /// The glTF file.
        file: String,
        /// The extension's name.
        extension: String,
        /// How to get a file without it.
        fix: String,
    },
    /// A buffer's URI is refused or cannot be decoded.
    #[error("{file}: {object}: {problem}; export as .glb, or with buffers beside the file")]
    Uri {
        /// The glTF file.
        file: String,
        /// The object.
        object: String,
        /// Why.
        problem: String,
    },
    /// An index leads nowhere.
    #[error("{file}: {object} names {target} {index}, but the file has {len}; export the file again")]
    Index {
        /// The glTF file.
        file: String,
        /// The object that holds the index.
        object: String,
        /// What kind of object it names.
        target: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        len: usize,
    },
    /// An accessor's data is missing, too short or of the wrong type.
    #[error("{file}: {object}, accessor {accessor}: {problem}; export the file again")]
    Accessor {
        /// The glTF file.
        file: String,
        /// What reads the accessor.
        object: String,
        /// The accessor's index.
        accessor: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The nodes do not form a forest.
    #[error("{file}: {object} {problem}; each node needs one parent at most and no loops: export the file again")]
    NodeGraph {
        /// The glTF file.
        file: String,
        /// The node.
        object: String,
        /// What is wrong with its place.
        problem: String,
    },
    /// A number that geometry hangs on is infinite or not a number.
    #[error("{file}: {object} is not finite; check the model for NaN, infinite or absurdly large values")]
    NonFinite {
        /// The glTF file.
        file: String,
        /// The object and its field.
        object: String,
    },
    /// The character would take more memory than allowed.
    #[error(
        "{file}: {object} takes the import to {bytes} bytes where {budget} are allowed; \
             if the file is sound, raise ImportOptions::memory_budget"
    )]
    Budget {
        /// The glTF file.
        file: String,
        /// The object that asked.
        object: String,
        /// Bytes needed so far.
        bytes: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// More joints or skins than 16-bit palette indices can name.
    #[error(
        "{file}: {object} needs more than 65536 entries in the matrix palette; split the character or merge its skins"
    )]
    Palette {
        /// The glTF file.
        file: String,
        /// The object that asked.
        object: String,
    },
    /// A muscle's description is wrong.
    #[error("{file}: {source}")]
    Muscle {
        /// The glTF file, or the sidecar that says the key at fault.
        file: String,
        /// What is wrong.
        source: MuscleError,
    },
    /// An import option is out of range.
    #[error("ImportOptions::meters_per_unit is {0}; it needs to be positive and finite")]
    MetersPerUnit(f32),
}
