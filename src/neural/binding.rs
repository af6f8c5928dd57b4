//! Whether a network is for a character, and where its inputs come from there.

use glam::Vec3;

use super::CorrectiveNetwork;
use crate::SkinBlending;
use crate::character::{Character, JointNames, MuscleError};

/// Which mesh a network is for.
///
/// Both hashes are FNV-1a (64 bits) over words of 32 bits in place of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MeshHash {
    /// Of the number of vertices and the corners of all triangles.
    pub topology: u64,
    /// Of the bits of all places in mesh space (m), x, y, z of each vertex, with 0 for −0.
    pub rest_shape: u64,
}

impl MeshHash {
    /// The hashes of a mesh.
    pub fn of(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let hash = |words: &mut dyn Iterator<Item = u32>| {
            words.fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| {
                (hash ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3)
            })
        };
        Self {
            topology: hash(&mut std::iter::once(positions.len() as u32).chain(triangles.iter().flatten().copied())),
            rest_shape: hash(&mut positions.iter().flat_map(Vec3::to_array).map(|x| (x + 0.0).to_bits())),
        }
    }

    /// Topology and rest shape as a file has them.
    pub fn digits(self) -> [String; 2] {
        [self.topology, self.rest_shape].map(|hash| format!("{hash:016x}"))
    }
}

/// Where a network's inputs are on a character.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// For each joint of the network, its index in the character's skeleton.
    pub joints: Vec<u32>,
    /// For each muscle of the network, its chain in the character's flesh.
    pub muscles: Vec<u32>,
}

/// What about a character is not as a network needs it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// Another number of vertices.
    #[error(
        "the mesh has {found} vertices, the network is for {expected}: it is of another mesh; train it on this one"
    )]
    Vertices {
        /// How many the character has.
        found: usize,
        /// How many the network moves.
        expected: usize,
    },
    /// Vertices or triangles in another order.
    #[error(
        "its topology is {found:016x}, the network's {expected:016x}: vertices or triangles were added, removed or reordered; use the file that it was trained on, or train it again"
    )]
    Topology {
        /// The character's.
        found: u64,
        /// The network's.
        expected: u64,
    },
    /// Vertices in other places.
    #[error(
        "its rest shape is {found:016x}, the network's {expected:016x}: vertices were moved, or the import's unit is another; use the file and the meters_per_unit that it was trained with, or train it again"
    )]
    RestShape {
        /// The character's.
        found: u64,
        /// The network's.
        expected: u64,
    },
    /// A skin that blends dual quaternions, where what the network adds was learnt beneath linear blending.
    #[error(
        "its skin blends dual quaternions, the network is trained for linear blending: set FleshOptions::blending to Linear"
    )]
    Blending,
    /// A joint that is not there, or of which there are several.
    #[error("{0}")]
    Joint(String),
    /// A muscle that is not there.
    #[error("there is no muscle {muscle:?}; there are: {known}: rename it there, or train the network with these")]
    Muscle {
        /// The network's name for it.
        muscle: String,
        /// Those that there are.
        known: String,
    },
}

/// A network that does not fit a character, by everything that differs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the network does not fit `{character}`: {}", list(.differences))]
pub struct NetworkMismatch {
    /// The character's name.
    pub character: String,
    /// What differs.
    pub differences: Vec<Difference>,
}

/// Most differences that are listed.
const MOST_LISTED: usize = 8;

fn list(differences: &[Difference]) -> String {
    let mut lines: Vec<String> = differences.iter().take(MOST_LISTED).map(ToString::to_string).collect();
    if differences.len() > MOST_LISTED {
        lines.push(format!("and {} more", differences.len() - MOST_LISTED));
    }
    lines.join("; ")
}

impl CorrectiveNetwork {
    /// Finds a network's joints and muscles on a character.
    ///
    /// # Errors
    /// Everything that differs: the mesh, how its skin blends, joints or muscles that are not there.
    pub fn bind(&self, character: &Character) -> Result<Binding, NetworkMismatch> {
        let asset = character.asset();
        let mut differences = Vec::new();
        let (found, expected) = (MeshHash::of(&asset.mesh.positions, &asset.mesh.triangles), self.mesh());
        if asset.mesh.positions.len() != self.vertex_count() {
            let found = asset.mesh.positions.len();
            differences.push(Difference::Vertices { found, expected: self.vertex_count() });
        } else {
            if found.topology != expected.topology {
                differences.push(Difference::Topology { found: found.topology, expected: expected.topology });
            }
            if found.rest_shape != expected.rest_shape {
                differences.push(Difference::RestShape { found: found.rest_shape, expected: expected.rest_shape });
            }
        }
        if character.body().skin.blending != SkinBlending::Linear {
            differences.push(Difference::Blending);
        }
        let names = JointNames::new(&asset.skeleton);
        let mut binding = Binding::default();
        for joint in self.joints() {
            match names.find(joint, "", "") {
                Ok(index) => binding.joints.push(index),
                Err(error) => differences.push(Difference::Joint(joint_fault(joint, &error))),
            }
        }
        let chains = character.body().flesh.chains();
        for muscle in self.muscles() {
            match chains.iter().position(|chain| chain.name == *muscle) {
                Some(chain) => binding.muscles.push(chain as u32),
                None => {
                    let known = chains.iter().take(MOST_LISTED).map(|chain| chain.name.as_str());
                    let mut known = known.collect::<Vec<_>>().join(", ");
                    if chains.len() > MOST_LISTED {
                        known += ", …";
                    }
                    differences.push(Difference::Muscle { muscle: muscle.clone(), known });
                }
            }
        }
        if differences.is_empty() {
            Ok(binding)
        } else {
            Err(NetworkMismatch { character: asset.name.clone(), differences })
        }
    }
}

fn joint_fault(joint: &str, error: &MuscleError) -> String {
    match error {
        MuscleError::UnknownJoint { hint, .. } => {
            format!(
                "there is no joint {joint:?}{hint}: rename it there, or train the network with the joints that there are"
            )
        }
        MuscleError::AmbiguousJoint { candidates, .. } => {
            format!("there are several joints {joint:?}: {}; name one so in the network", candidates.join(", "))
        }
        error => error.to_string(),
    }
}
