//! The bytes that the CPU and the GPU share.
//!
//! Node data is `[group][node][entry][lane]` of 4-byte words: a group is [`LANES`] chains side by side, padded
//! to the group's own node count, and one chain is one lane. A node row of an array with E entries is therefore
//! E × [`LANES`] words, 32 bytes an entry, which is what one SIMD register and one sector of a GPU's memory hold.
//!
//! Every struct here implements [`WgslStruct`]; `tests/layout.rs` parses the shaders and compares.

use bytemuck::{Pod, Zeroable};

/// Chains side by side in a group: lanes of one SIMD register, words of one 32-byte sector.
pub const LANES: u32 = 8;

/// Threads of a compute workgroup; one thread works on one chain. WebGPU's default limit is 256.
pub const WORKGROUP_SIZE: u32 = 64;

/// Workgroups in a row of a dispatch, WebGPU's default limit; larger dispatches have several rows.
pub const MAX_WORKGROUPS: u32 = 65535;

/// [`LANES`] chains that are stored, and on the CPU solved, side by side.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Group {
    /// Row of the group's first node in every per-node array.
    pub node_base: u32,
    /// Nodes of the group's longest chain; shorter chains are padded to it.
    pub node_count: u32,
    /// Lanes in use, 1 to [`LANES`]; the others hold padding.
    pub chain_count: u32,
}

/// What changes from substep to substep, the same for every chain: the uniform of every stage.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct StepParams {
    /// Acceleration of gravity in the world's axes (m/s²).
    pub gravity: [f32; 3],
    /// Length of a substep (s).
    pub substep_seconds: f32,
    /// Part of the frame that has passed at the end of this substep, 0 to 1.
    pub frame_fraction: f32,
    /// Index of the substep in the frame.
    pub substep: u32,
    /// Index of the iteration in the substep.
    pub iteration: u32,
    /// Groups in the group table.
    pub group_count: u32,
}

/// Word index of one entry of one lane in an array whose node rows have `entries` entries.
pub const fn word(row: u32, entries: u32, entry: u32, lane: u32) -> usize {
    (row as usize * entries as usize + entry as usize) * LANES as usize + lane as usize
}

/// Workgroups that give each chain of `group_count` groups its thread.
pub const fn workgroups(group_count: u32) -> u32 {
    (group_count as u64 * LANES as u64).div_ceil(WORKGROUP_SIZE as u64) as u32
}

/// One field of a struct that shaders declare too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WgslField {
    /// Its name on both sides.
    pub name: &'static str,
    /// Its first byte in the struct.
    pub offset: usize,
    /// Its size (bytes).
    pub size: usize,
}

/// A struct that shaders declare under the same name, with the same fields at the same bytes.
///
/// Implemented by [`wgsl_struct!`](crate::wgsl_struct), which reads offsets from the compiler.
pub trait WgslStruct: Pod {
    /// Its name on both sides.
    const NAME: &'static str;
    /// Its fields, in order.
    const FIELDS: &'static [WgslField];
}

/// [`WgslStruct`] as a value, so that different structs fit one list.
#[derive(Clone, Copy, Debug)]
pub struct StructLayout {
    /// Its name on both sides.
    pub name: &'static str,
    /// Bytes from one element to the next in an array.
    pub stride: usize,
    /// Its fields, in order.
    pub fields: &'static [WgslField],
}

impl StructLayout {
    /// The layout of `T`.
    pub const fn of<T: WgslStruct>() -> Self {
        Self { name: T::NAME, stride: size_of::<T>(), fields: T::FIELDS }
    }
}

/// Size of the field that `_field` projects to (bytes); for [`wgsl_struct!`](crate::wgsl_struct).
pub const fn field_size<T, F>(_field: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Implements [`WgslStruct`] for a `repr(C)` struct; forgetting a field does not compile.
#[macro_export]
macro_rules! wgsl_struct {
    ($type:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::layout::WgslStruct for $type {
            const NAME: &'static str = stringify!($type);
            const FIELDS: &'static [$crate::layout::WgslField] = &[$($crate::layout::WgslField {
                name: stringify!($field),
                offset: std::mem::offset_of!($type, $field),
                size: $crate::layout::field_size::<$type, _>(|s| &s.$field),
            }),+];
        }
        const _: fn($type) = |$type { $($field: _),+ }| {};
    };
}

wgsl_struct!(Group { node_base, node_count, chain_count });
wgsl_struct!(StepParams { gravity, substep_seconds, frame_fraction, substep, iteration, group_count });

/// Every struct that a shader may declare under the same name.
pub const STRUCTS: &[StructLayout] = &[StructLayout::of::<Group>(), StructLayout::of::<StepParams>()];

/// Every constant that a shader may declare under the same name.
pub const CONSTANTS: &[(&str, u32)] =
    &[("LANES", LANES), ("WORKGROUP_SIZE", WORKGROUP_SIZE), ("MAX_WORKGROUPS", MAX_WORKGROUPS)];
