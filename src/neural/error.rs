//! Why a network cannot be read, written or made.

/// A network that cannot be used, by file.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {fault}")]
pub struct NetworkError {
    /// The file, or what the caller calls it.
    pub name: String,
    /// What is wrong with it.
    pub fault: NetworkFault,
}

/// What is wrong with a network.
#[derive(Debug, thiserror::Error)]
pub enum NetworkFault {
    /// The file could not be read or written.
    #[error("{0}; check the path and its rights")]
    Io(std::io::Error),
    /// More bytes than any network has.
    #[error(
        "it has {bytes} bytes or more; a network has at most {most}: store the basis in 8 bits, or with a threshold"
    )]
    TooLarge {
        /// How many there are at least.
        bytes: u64,
        /// How many there may be.
        most: u64,
    },
    /// Not a safetensors file, or part of one.
    #[error("it is no whole safetensors file ({0}); copy or export it again")]
    NotSafetensors(String),
    /// A safetensors file of something else.
    #[error(
        "its metadata lacks \"sinew.network\": it is not a corrective network; export one with tools/export_network.py"
    )]
    NotANetwork,
    /// Written by a newer version, or by none.
    #[error("it has format version {found}; this version reads {newest}: export it again, or update sinew")]
    Version {
        /// What it says.
        found: u64,
        /// What is read.
        newest: u64,
    },
    /// Metadata that is not as documented.
    #[error("sinew.network in its metadata: {0}")]
    Metadata(String),
    /// A tensor that is not there.
    #[error("tensor {0} is missing; export the network again with it")]
    Missing(String),
    /// A tensor of another type.
    #[error("tensor {tensor} is {found}; it must be {expected}")]
    WrongType {
        /// Its name.
        tensor: String,
        /// Its type.
        found: String,
        /// What it may be.
        expected: &'static str,
    },
    /// A tensor of another shape.
    #[error("tensor {tensor} has the shape {found:?}; it must be {expected}")]
    WrongShape {
        /// Its name.
        tensor: String,
        /// Its shape.
        found: Vec<usize>,
        /// What it must be.
        expected: String,
    },
    /// A number that is NaN, infinite or out of range.
    #[error("{tensor}[{index}] is {value}; it must be {allowed}: {fix}")]
    BadNumber {
        /// The tensor's name.
        tensor: String,
        /// Which of its numbers, counted through all dimensions.
        index: usize,
        /// The number.
        value: f64,
        /// What it may be.
        allowed: String,
        /// What to do.
        fix: &'static str,
    },
    /// A network that moves skin farther than any flesh.
    #[error(
        "at the ends of its coefficients' ranges it moves a vertex of block {block} by {reach:.1e} m; the most is {most:e} m: check that displacements are in metres and ranges are those of training"
    )]
    TooFar {
        /// The block of vertices.
        block: usize,
        /// How far (m).
        reach: f64,
        /// How far it may be (m).
        most: f64,
    },
}

impl NetworkFault {
    /// The same, said of a file.
    pub(super) fn of(self, name: &str) -> NetworkError {
        NetworkError { name: name.into(), fault: self }
    }
}
