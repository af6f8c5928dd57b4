//! What can be wrong with a muscle's description.

use thiserror::Error;

use super::SCHEMA_VERSION;

/// What is wrong with a muscle's description. Keys are paths such as `path[2].radius`; names from files are cut to
/// 80 characters.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MuscleError {
    /// The text is not JSON, or not of the shape that muscles come in.
    #[error("{place}: {problem}; {fix}")]
    Json {
        /// The sidecar, or the node and the property.
        place: String,
        /// What is wrong.
        problem: String,
        /// How to mend it.
        fix: &'static str,
    },
    /// The schema's version is not one that is read.
    #[error(
        "{place}: version {version} is not read, versions 1 to {SCHEMA_VERSION} are; \
             write \"version\": {SCHEMA_VERSION}, or use a newer Sinew"
    )]
    Version {
        /// The sidecar, or the node and the property.
        place: String,
        /// The version that it says.
        version: String,
    },
    /// A value is of the wrong type.
    #[error("muscle {muscle:?}: {key}: {problem}; it needs {expected}")]
    Type {
        /// The muscle's name.
        muscle: String,
        /// The key.
        key: String,
        /// What it is.
        problem: String,
        /// What it should be.
        expected: String,
    },
    /// A number is out of range.
    #[error("muscle {muscle:?}: {key} is {value}; it needs {expected}")]
    Range {
        /// The muscle's name.
        muscle: String,
        /// The key.
        key: String,
        /// Its value.
        value: f64,
        /// What it should be.
        expected: String,
    },
    /// Something that a muscle cannot do without is not there.
    #[error("muscle {muscle:?}: {key} is missing; {fix}")]
    Missing {
        /// The muscle's name.
        muscle: String,
        /// The key.
        key: String,
        /// What to write.
        fix: &'static str,
    },
    /// Two keys contradict each other.
    #[error("muscle {muscle:?}: {key} and {other} contradict each other; {fix}")]
    Conflict {
        /// The muscle's name.
        muscle: String,
        /// One key.
        key: String,
        /// The other key.
        other: String,
        /// What to write.
        fix: &'static str,
    },
    /// No joint has that name.
    #[error("muscle {muscle:?}: {key}: there is no joint {joint:?}{hint}")]
    UnknownJoint {
        /// The muscle's name.
        muscle: String,
        /// The key.
        key: String,
        /// The name that leads nowhere.
        joint: String,
        /// What it might mean.
        hint: String,
    },
    /// Several joints have that name.
    #[error(
        "muscle {muscle:?}: {key}: {joint:?} is the name of several joints: {}; \
             write one of these, parent the muscle's object to its armature, or rename the joints", candidates.join(", ")
    )]
    AmbiguousJoint {
        /// The muscle's name.
        muscle: String,
        /// The key.
        key: String,
        /// The name.
        joint: String,
        /// Paths of the joints that it may mean, at most 8.
        candidates: Vec<String>,
    },
    /// No material preset has that name.
    #[error("muscle {muscle:?}: {key}: there is no material {material:?}{hint}; known are muscle, fat and tendon")]
    UnknownMaterial {
        /// The muscle's name.
        muscle: String,
        /// The key.
        key: String,
        /// The name that leads nowhere.
        material: String,
        /// What it might mean.
        hint: String,
    },
    /// A path, a bundle or what several keys say together makes no sense as a whole.
    #[error("muscle {muscle:?}: {key}: {problem}")]
    Shape {
        /// The muscle's name.
        muscle: String,
        /// The key.
        key: String,
        /// What is wrong, and the fix.
        problem: String,
    },
    /// A muscle's mesh or its ends cannot be found.
    #[error("muscle {muscle:?}: {key}: {problem}")]
    Mesh {
        /// The muscle's name.
        muscle: String,
        /// The key.
        key: String,
        /// What is wrong, and the fix.
        problem: String,
    },
    /// A bone's description makes no sense.
    #[error("bones[{bone}]: {key}: {problem}")]
    Bone {
        /// Which of the bones.
        bone: usize,
        /// The key.
        key: String,
        /// What is wrong, and the fix.
        problem: String,
    },
    /// Two muscles have one name.
    #[error("muscle {muscle:?}: name: {places} say the same name; rename one of them")]
    Duplicate {
        /// The name.
        muscle: String,
        /// Where it stands.
        places: String,
    },
}

impl MuscleError {
    /// The muscle's name, where the defect is a muscle's.
    pub fn muscle(&self) -> Option<&str> {
        match self {
            Self::Json { .. } | Self::Version { .. } | Self::Bone { .. } => None,
            Self::Type { muscle, .. }
            | Self::Range { muscle, .. }
            | Self::Missing { muscle, .. }
            | Self::Conflict { muscle, .. }
            | Self::UnknownJoint { muscle, .. }
            | Self::AmbiguousJoint { muscle, .. }
            | Self::UnknownMaterial { muscle, .. }
            | Self::Shape { muscle, .. }
            | Self::Mesh { muscle, .. }
            | Self::Duplicate { muscle, .. } => Some(muscle),
        }
    }

    /// The key at fault, a path such as `path[2].radius`.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Json { .. } => None,
            Self::Version { .. } => Some("version"),
            Self::Duplicate { .. } => Some("name"),
            Self::Type { key, .. }
            | Self::Range { key, .. }
            | Self::Missing { key, .. }
            | Self::Conflict { key, .. }
            | Self::UnknownJoint { key, .. }
            | Self::AmbiguousJoint { key, .. }
            | Self::UnknownMaterial { key, .. }
            | Self::Shape { key, .. }
            | Self::Mesh { key, .. }
            | Self::Bone { key, .. } => Some(key),
        }
    }
}
