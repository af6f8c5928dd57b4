//! Structs that Rust and WGSL both declare.

use bytemuck::Pod;

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
#[doc(hidden)]
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
