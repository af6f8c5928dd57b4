//! Corrective networks: what flesh does to skin, learnt offline, in microseconds (Chen 2024, chapter 6).
//!
//! A vertex at rest X is moved before it is skinned: φ(X) = LBS(X + PNN(X; Θ) + ANN(X; a); Θ) (section 6.1). The passive network
//! PNN reads how joints are turned, the active one ANN how strongly muscles are activated; each is a perceptron with two hidden
//! layers whose outputs are coefficients of a principal component analysis (6.3, figure 6.5), and the displacement is the analysis'
//! mean and the sum of its components, each times its coefficient.
//!
//! [`CorrectiveNetwork`] is such a pair for one mesh, read from one file or made of a [`NetworkSpec`]; it is immutable and shared.
//! [`Correctives`] is what one character keeps of it: inputs, coefficients and deltas. [`Inference`] runs all characters of a
//! network as one batch, so that weights are read once for four of them and components once for 32, on each thread. In a step the
//! stage `infer_correctives` does so, on a GPU too, and skinning adds the deltas: [`Physics::set_network`](crate::Physics::set_network).
//!
//! Places move; normals and tangents stay as they are in mesh space, and turn as skinning turns them. Displacements that bend the
//! surface much ask for an analysis of normals too, which the file does not have.
//!
//! ```
//! use glam::{Quat, Vec3};
//! use sinew::neural::*;
//!
//! // One joint, whose turn about x moves both vertices along y: the row of the rotation's sine is the only weight.
//! let mut first = Layer::zeros(9, 2);
//! // R₂₁ = sin, and its negative, so that what ReLU cuts off of one is in the other.
//! (first.weight[7], first.weight[9 + 7]) = (1.0, -1.0);
//! let second = Layer { weight: vec![1.0, 0.0, 0.0, 1.0], bias: vec![0.0; 2] };
//! let last = Layer { weight: vec![1.0, -1.0], bias: vec![0.0] };
//! let spec = NetworkSpec {
//!     joints: vec!["elbow".into()],
//!     mesh: MeshHash::of(&[Vec3::ZERO, Vec3::X], &[]),
//!     vertex_count: 2,
//!     mean: vec![0.0; 6],
//!     passive: Some(PartSpec {
//!         input_mean: vec![0.0; 9],
//!         input_scale: vec![1.0; 9],
//!         layers: [first, second, last],
//!         low: vec![-0.5],
//!         high: vec![0.5],
//!         basis: vec![0.0, 0.02, 0.0, 0.0, 0.04, 0.0],
//!     }),
//!     ..NetworkSpec::default()
//! };
//! let network = CorrectiveNetwork::new(&spec, Precision::F32, 0.0)?;
//! let network = CorrectiveNetwork::from_slice("elbow", &network.to_bytes())?;
//!
//! let mut character = Correctives::new(&network);
//! character.set_inputs(&network, &[Quat::from_rotation_x(0.3)], &[]);
//! Inference::new(1).infer(&network, &mut [&mut character]);
//! assert!((character.deltas()[1].y - 0.04 * 0.3_f32.sin()).abs() < 1.0e-6);
//!
//! // Farther than it was trained for: the coefficient stays in its range.
//! character.set_inputs(&network, &[Quat::from_rotation_x(1.5)], &[]);
//! Inference::new(1).infer(&network, &mut [&mut character]);
//! assert_eq!(character.deltas()[1].y, 0.04 * 0.5);
//! # Ok::<(), sinew::neural::NetworkError>(())
//! ```
//!
//! # The file
//!
//! One [safetensors] file. Its `__metadata__` has one entry, `sinew.network`, a JSON object:
//!
//! | key | what |
//! |---|---|
//! | `version` | 1 |
//! | `joints` | names of the joints that the passive network reads, in order; none where there is no passive network. Where a skeleton has several of one name, with ancestors before it: `Spine/Arm` |
//! | `muscles` | names of the muscles that the active network reads, in order; none where there is no active network |
//! | `vertices` | V, how many the mesh has |
//! | `topology`, `rest_shape` | hashes of the mesh ([`MeshHash`]), 16 hexadecimal digits each; `sinew inspect --json FILE` says them |
//! | `threshold`, `dropped` | blocks that a component moves by less than `threshold` (m) at both ends of its range are not stored, and no vertex lacks more than `dropped` (m) for it; both optional, 0 |
//! | `errors` | what its training left over, a list of [`ErrorRow`]s; optional |
//!
//! Tensor `mean` (V × 3, F32) is the mean displacement (m) in mesh space, of both networks' analyses together; the others are named
//! `passive.…` and `active.…`. I is the number of inputs (9 a joint, 1 a muscle), H₀ and H₁ that of the hidden
//! units, K that of the components. All are F32, but for what the table says. Matrices are as `torch.nn.Linear.weight` has them,
//! a row an output.
//!
//! | tensor | shape | what |
//! |---|---|---|
//! | `input.mean`, `input.scale` | I | the first layer reads (x − mean) / scale; scales are above 0 |
//! | `layers.0.weight`, `.bias` | H₀ × I, H₀ | first hidden layer, then ReLU; batch norm is folded in |
//! | `layers.1.weight`, `.bias` | H₁ × H₀, H₁ | second hidden layer, then ReLU |
//! | `layers.2.weight`, `.bias` | K × H₁, K | the coefficients |
//! | `coefficients.low`, `.high` | K | their ranges in training: at run time they stay within |
//! | `basis.first` | K + 1, U32 | component k has the rows `first[k]` to `first[k + 1]` of the next three; from 0, to N |
//! | `basis.blocks` | N, U32 | of which block of 64 vertices each row is, ascending within a component: vertex v is in block v / 64 |
//! | `basis.values` | N × 64 × 3, F32, F16 or I8 | what the component moves the block's vertices by; beyond the last vertex 0 |
//! | `basis.scale` | N | only with F16 and I8: values are to be multiplied by it |
//!
//! Inputs of the passive network are, joint after joint, the rows of R̄ᵀR, with R the joint's rotation relative to its parent and R̄
//! the same at rest: the identity at rest. Those of the active one are activations, 1 for all of a muscle's peak stress. Both
//! networks' bases have one type. Components come in the order of how much they explain: the level of detail cuts off the last.
//!
//! `tools/export_network.py` writes such a file from a pair of `torch.nn.Sequential`.
//!
//! [safetensors]: https://github.com/huggingface/safetensors

mod basis;
mod binding;
mod correctives;
mod error;
mod layers;
mod network;
mod read;
mod skin_errors;
mod spec;
mod write;

pub use basis::{BLOCK, Precision};
pub(crate) use basis::{PARTS, Row};
pub use binding::{Binding, Difference, MeshHash, NetworkMismatch};
pub use correctives::{Correctives, Detail, Inference};
pub use error::{NetworkError, NetworkFault};
pub(crate) use layers::Layers;
#[cfg(feature = "train")]
pub(crate) use network::MOST_REACH;
pub use network::{CorrectiveNetwork, NetworkPart, Which};
pub use skin_errors::{MOVING_SHARE, SkinErrors, SkinFigures, SkinnedBy};
pub use spec::{ErrorRow, Layer, NetworkSpec, PartSpec};
