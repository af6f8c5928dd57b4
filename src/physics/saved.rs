//! What snapshots are made of, and how they are written: a format's number, the sizes of its rows, then the state.

use std::sync::Arc;

use crate::cpu::contact_rows::MOST_DUAL;
use crate::cpu::solid_slots::SolidSlot;
use crate::flesh::{BoneMotion, Flesh, GroupState};
use crate::instances::{Instance, InstanceNetwork, InstanceState, MOST_ACCELERATION, Mix, NetworkSettings};
use crate::layout::{LANES, chain, contact, input, meet, node, plane, reaction};
use crate::skin::MOST_MORPH_WEIGHT;
use crate::{Collisions, Pose};

/// Number of the format in which snapshots are serialised. Another field in a state is another format.
pub const SNAPSHOT_VERSION: u32 = 16;

/// Entries of each row kind that states hold, and the lanes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RowSizes {
    /// Entries of a node row.
    pub node: u32,
    /// Entries of an input row.
    pub input: u32,
    /// Entries of a plane row.
    pub plane: u32,
    /// Entries of a chain row.
    pub chain: u32,
    /// Entries of a contact row.
    pub contact: u32,
    /// Entries that a point of two segments remembers.
    pub meet: u32,
    /// Entries of a reaction row.
    pub reaction: u32,
    /// Lanes.
    pub lanes: u32,
}

impl RowSizes {
    /// Those of this build.
    pub const CURRENT: Self = Self {
        node: node::ENTRIES as u32,
        input: input::ENTRIES as u32,
        plane: plane::ENTRIES as u32,
        chain: chain::ENTRIES as u32,
        contact: contact::ENTRIES as u32,
        meet: (meet::MEMORY.end - meet::MEMORY.start) as u32,
        reaction: reaction::ENTRIES as u32,
        lanes: LANES,
    };
}

/// Why a snapshot cannot be restored; nothing has changed then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SnapshotError {
    /// A snapshot that another version of Sinew has written.
    #[error(
        "the snapshot has format {found}, this Sinew reads {SNAPSHOT_VERSION}; restore it with the Sinew that saved it"
    )]
    Version {
        /// Its format.
        found: u32,
    },
    /// A snapshot whose rows are laid out otherwise.
    #[error(
        "the snapshot's rows have {found:?} entries, this Sinew's {:?}; restore it with the Sinew that saved it",
        RowSizes::CURRENT
    )]
    Rows {
        /// Its rows.
        found: RowSizes,
    },
    /// A snapshot of other flesh.
    #[error("the snapshot is of other flesh: {difference}; restore it to the same character at the same scale")]
    OtherFlesh {
        /// What is different.
        difference: String,
    },
    /// A snapshot that was damaged, or edited.
    #[error("the snapshot's {0} have values that no state has; it was damaged, save anew")]
    NotSound(&'static str),
    /// The handle names no instance, or the device failed.
    #[error(transparent)]
    Step(#[from] crate::StepError),
}

/// A state with what says whether it can be read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Saved<T> {
    format: u32,
    rows: RowSizes,
    /// None where format or rows are others'.
    state: Option<T>,
}

impl<T> Saved<T> {
    pub fn new(state: T) -> Self {
        Self { format: SNAPSHOT_VERSION, rows: RowSizes::CURRENT, state: Some(state) }
    }

    pub fn state(&self) -> Result<&T, SnapshotError> {
        match &self.state {
            Some(state) => Ok(state),
            None if self.format != SNAPSHOT_VERSION => Err(SnapshotError::Version { found: self.format }),
            None => Err(SnapshotError::Rows { found: self.rows }),
        }
    }
}

/// An instance's state, and of which flesh it is.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SavedFlesh {
    shape: FleshShape,
    pub state: InstanceState,
    /// How much of rods and network moves its skin.
    pub mix: Mix,
    /// What is set of its network, if it has one.
    pub network: Option<NetworkSettings>,
    /// What it touched, which it is not given back: what slept so wakes where it touches something else.
    pub collisions: Collisions,
}

/// What flesh looks like: itself, or what was read of it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(from = "Vec<ChainShape>"))]
enum FleshShape {
    Itself(Arc<Flesh>),
    Read(Vec<ChainShape>),
}

/// A chain as one tells it from others.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct ChainShape {
    name: String,
    nodes: u32,
    /// Rest length (m).
    length: f64,
}

impl From<Vec<ChainShape>> for FleshShape {
    fn from(chains: Vec<ChainShape>) -> Self {
        Self::Read(chains)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for FleshShape {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.chains().serialize(serializer)
    }
}

impl FleshShape {
    fn chains(&self) -> Vec<ChainShape> {
        match self {
            Self::Itself(flesh) => chain_shapes(flesh),
            Self::Read(chains) => chains.clone(),
        }
    }
}

fn chain_shapes(flesh: &Flesh) -> Vec<ChainShape> {
    let shape = |chain: &crate::flesh::Chain| ChainShape {
        name: chain.name.clone(),
        nodes: chain.node_count() as u32,
        length: chain.rest_length,
    };
    flesh.chains().iter().map(shape).collect()
}

impl PartialEq for SavedFlesh {
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.shape, &other.shape) {
            (FleshShape::Itself(a), FleshShape::Itself(b)) if Arc::ptr_eq(a, b) => true,
            (a, b) => a.chains() == b.chains(),
        };
        let alike = self.mix == other.mix && self.network == other.network && self.collisions == other.collisions;
        same && alike && self.state == other.state
    }
}

impl SavedFlesh {
    pub fn of(instance: &Instance) -> Self {
        let mut state = instance.state.clone();
        // These are made anew by the next substep.
        for group in &mut state.nodes.groups {
            group.meets.clear();
            group.tangents.clear();
        }
        let network = instance.network.as_deref().map(InstanceNetwork::settings);
        let (shape, mix, collisions) = (FleshShape::Itself(instance.flesh.clone()), instance.mix, instance.collisions);
        Self { shape, state, mix, network, collisions }
    }

    /// Whether an instance can take the state.
    pub fn check(&self, instance: &Instance) -> Result<(), SnapshotError> {
        self.check_shape(&instance.flesh)?;
        self.check_lengths(&instance.state)?;
        self.check_values()
    }

    fn check_shape(&self, flesh: &Arc<Flesh>) -> Result<(), SnapshotError> {
        if matches!(&self.shape, FleshShape::Itself(own) if Arc::ptr_eq(own, flesh)) {
            return Ok(());
        }
        let other = |difference: String| Err(SnapshotError::OtherFlesh { difference });
        let (saved, there) = (self.shape.chains(), chain_shapes(flesh));
        if saved.len() != there.len() {
            return other(format!("it has {} chains, this flesh {}", saved.len(), there.len()));
        }
        let alike = |a: &ChainShape, b: &ChainShape| {
            a.name == b.name && a.nodes == b.nodes && (a.length - b.length).abs() <= 1.0e-3 * b.length
        };
        match saved.iter().zip(&there).find(|(a, b)| !alike(a, b)) {
            None => Ok(()),
            Some((a, b)) => {
                let words = |c: &ChainShape| format!("`{}` with {} nodes over {:.4} m", c.name, c.nodes, c.length);
                other(format!("it has {} where this flesh has {}", words(a), words(b)))
            }
        }
    }

    /// Whether every list is as long as the instance's own.
    fn check_lengths(&self, own: &InstanceState) -> Result<(), SnapshotError> {
        let lengths = |state: &InstanceState| {
            let rows = state.nodes.groups.iter().map(|group| {
                let GroupState { nodes, inputs, chains, reactions, .. } = group;
                [nodes, inputs, chains, reactions].map(Vec::len)
            });
            let whole = [
                state.nodes.motion.from.len(),
                state.nodes.motion.to.len(),
                state.nodes.motion.left.len(),
                state.bones.len(),
                state.excitations.len(),
                state.activations.len(),
                state.palette.len(),
                state.morphs.len(),
            ];
            (rows.collect::<Vec<_>>(), whole)
        };
        if lengths(&self.state) == lengths(own) {
            return Ok(());
        }
        let difference =
            "its bones, its skin's palette or morph targets, or its rows are not as many as this flesh's".into();
        Err(SnapshotError::OtherFlesh { difference })
    }

    /// Whether what the next step takes for granted is sound; chains whose nodes are not are laid anew by it.
    fn check_values(&self) -> Result<(), SnapshotError> {
        let InstanceState {
            nodes,
            bones,
            root,
            excitations,
            activations,
            palette,
            morphs,
            acceleration,
            touches,
            rest,
            ..
        } = &self.state;
        let BoneMotion { from, to, root: roots, time, .. } = &nodes.motion;
        let mut poses = [bones, from, to].into_iter().flatten().chain(roots).chain([root]);
        for (sound, what) in [
            (poses.all(Pose::is_sound) && (0.0..=10.0).contains(time), "bones"),
            (excitations.iter().chain(activations).all(|value| (0.0..=10.0).contains(value)), "activations"),
            (acceleration.length() <= MOST_ACCELERATION, "accelerations"),
            (palette.iter().flatten().flatten().all(|value| value.is_finite()), "palette matrices"),
            (morphs.iter().all(|weight| weight.abs() <= MOST_MORPH_WEIGHT), "morph weights"),
            (nodes.groups.iter().all(has_sound_chains), "chain rows"),
            (nodes.groups.iter().all(has_sound_contacts), "contact rows"),
            (touches.iter().flat_map(|touch| touch.points).flatten().all(|value| value.abs() <= MOST_DUAL), "touches"),
            (self.mix.is_sound(), "skin motion"),
            (rest.fits(nodes.groups.iter().map(|group| group.nodes.len() / node::ENTRIES)), "sleep"),
        ] {
            if !sound {
                return Err(SnapshotError::NotSound(what));
            }
        }
        Ok(())
    }
}

/// Whether what a group's chains remember of the last substep is something that they can.
fn has_sound_chains(group: &GroupState) -> bool {
    let within =
        |entry: usize, low: f32, high: f32| group.chains[entry].iter().all(|value| (low..=high).contains(value));
    within(chain::HISTORY, -1.0e9, 1.0)
        && within(chain::RESETS, 0.0, 16_777_216.0)
        && within(chain::ROUGH, 0.0, 1.0)
        && within(chain::UNWELL, 0.0, 1.0e3)
        && within(chain::ACTIVATION, 0.0, 10.0)
        && (chain::ORIGIN..chain::ORIGIN + 3).all(|entry| within(entry, -2.0e9, 2.0e9))
        && group.inputs[input::ORIGIN..][..3] == group.chains[chain::ORIGIN..][..3]
        && [chain::START_POTENTIAL, chain::POTENTIAL, chain::MEAN_STRETCH]
            .into_iter()
            .all(|entry| within(entry, f32::MIN, f32::MAX))
}

/// Whether a group has as many contacts of each half-space as nodes, beside those of solids, and each forces that one can remember.
fn has_sound_contacts(group: &GroupState) -> bool {
    let GroupState { nodes, planes, contacts, slots, .. } = group;
    let count = nodes.len() / node::ENTRIES;
    let of_planes = contacts.len().checked_sub(slots.len() * SolidSlot::ROWS * contact::ENTRIES);
    let of = |entry: usize| contacts.iter().skip(entry).step_by(contact::ENTRIES).flatten();
    planes.len() % plane::ENTRIES == 0
        && slots.is_sorted_by_key(|slot| slot.segment)
        && slots.iter().all(|slot| (slot.segment as usize) < count)
        && of_planes.is_some_and(|entries| entries % (count * contact::ENTRIES).max(1) == 0)
        && of(contact::DUAL).chain(of(contact::LIMIT)).all(|force| (0.0..=MOST_DUAL).contains(force))
        && (contact::TANGENT..contact::ENTRIES).flat_map(of).all(|force| force.abs() <= MOST_DUAL)
}

#[cfg(feature = "serde")]
mod format {
    use std::fmt;
    use std::marker::PhantomData;

    use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
    use serde::ser::{Serialize, SerializeStruct, Serializer};

    use super::{RowSizes, SNAPSHOT_VERSION, Saved};

    /// In the order in which they are written, also by formats that sort them.
    const FIELDS: &[&str] = &["format", "rows", "state"];

    impl<T: Serialize> Serialize for Saved<T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut fields = serializer.serialize_struct("Snapshot", FIELDS.len())?;
            fields.serialize_field(FIELDS[0], &self.format)?;
            fields.serialize_field(FIELDS[1], &self.rows)?;
            fields.serialize_field(FIELDS[2], &self.state)?;
            fields.end()
        }
    }

    impl<'de, T: Deserialize<'de>> Deserialize<'de> for Saved<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_struct("Snapshot", FIELDS, Fields(PhantomData))
        }
    }

    /// Reads a state only where its format and rows are this build's: no other has a shape that is known here.
    struct Fields<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
        type Value = Saved<T>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a snapshot: its format, its rows, then its state")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Saved<T>, A::Error> {
            let missing = |at: usize| Error::missing_field(FIELDS[at]);
            let format = seq.next_element()?.ok_or_else(|| missing(0))?;
            let unread = Saved { format, rows: RowSizes::CURRENT, state: None };
            if format != SNAPSHOT_VERSION {
                return Ok(unread);
            }
            let rows = seq.next_element()?.ok_or_else(|| missing(1))?;
            if rows != RowSizes::CURRENT {
                return Ok(Saved { rows, ..unread });
            }
            let state = seq.next_element()?.ok_or_else(|| missing(2))?;
            Ok(Saved { format, rows, state })
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Saved<T>, A::Error> {
            let (mut format, mut rows, mut state) = (None, None, None);
            while let Some(key) = map.next_key::<String>()? {
                let known = format == Some(SNAPSHOT_VERSION);
                match key.as_str() {
                    "format" => format = Some(map.next_value()?),
                    "rows" if known => rows = Some(map.next_value()?),
                    "state" if known && rows == Some(RowSizes::CURRENT) => state = map.next_value()?,
                    _ => drop(map.next_value::<IgnoredAny>()?),
                }
            }
            let format = format.ok_or_else(|| Error::missing_field(FIELDS[0]))?;
            let known = format == SNAPSHOT_VERSION;
            let rows = if known { rows.ok_or_else(|| Error::missing_field(FIELDS[1]))? } else { RowSizes::CURRENT };
            if known && rows == RowSizes::CURRENT && state.is_none() {
                return Err(Error::missing_field(FIELDS[2]));
            }
            Ok(Saved { format, rows, state })
        }
    }
}
