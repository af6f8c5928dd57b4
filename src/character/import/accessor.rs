//! Reads accessors element by element, every bound checked once when the view is made.
//!
//! Not `gltf::accessor::Iter`: it panics on offsets outside their view, and a view that reads on demand needs no
//! memory however many elements an accessor claims.

use gltf::json::accessor::{ComponentType, Type};
use gltf::json::validation::Checked;
use gltf::json::{Accessor, Index, buffer};

use super::ImportError;
use super::context::Context;

/// What an attribute may be made of.
pub(super) struct Expected {
    pub types: &'static [Type],
    pub components: &'static [ComponentType],
}

const NORMALIZABLE: &[ComponentType] = &[ComponentType::F32, ComponentType::U8, ComponentType::U16];

pub(super) const FLOAT_VEC3: Expected = Expected { types: &[Type::Vec3], components: &[ComponentType::F32] };
pub(super) const FLOAT_VEC4: Expected = Expected { types: &[Type::Vec4], components: &[ComponentType::F32] };
pub(super) const FLOAT_MAT4: Expected = Expected { types: &[Type::Mat4], components: &[ComponentType::F32] };
pub(super) const FLOAT_SCALAR: Expected = Expected { types: &[Type::Scalar], components: &[ComponentType::F32] };
/// Marks with signs; only floats and signed integers have both.
pub(super) const ENDS: Expected = Expected {
    types: &[Type::Scalar],
    components: &[ComponentType::F32, ComponentType::I8, ComponentType::I16, ComponentType::U8, ComponentType::U16],
};
pub(super) const WEIGHTS: Expected = Expected { types: &[Type::Vec4], components: NORMALIZABLE };
pub(super) const COLORS: Expected = Expected { types: &[Type::Vec3, Type::Vec4], components: NORMALIZABLE };
pub(super) const JOINTS: Expected =
    Expected { types: &[Type::Vec4], components: &[ComponentType::U8, ComponentType::U16, ComponentType::U32] };
pub(super) const INDICES: Expected =
    Expected { types: &[Type::Scalar], components: &[ComponentType::U8, ComponentType::U16, ComponentType::U32] };
pub(super) const MORPH_WEIGHTS: Expected = Expected {
    types: &[Type::Scalar],
    components: &[ComponentType::F32, ComponentType::I8, ComponentType::U8, ComponentType::I16, ComponentType::U16],
};
pub(super) const QUATERNIONS: Expected = Expected {
    types: &[Type::Vec4],
    components: &[ComponentType::F32, ComponentType::I8, ComponentType::U8, ComponentType::I16, ComponentType::U16],
};

/// An accessor whose data is known to be there.
pub(super) struct View<'a> {
    /// Number of elements.
    pub count: usize,
    /// Components per element.
    pub width: usize,
    component: ComponentType,
    /// `None`: all zeros.
    base: Option<Strided<'a>>,
    sparse: Option<Sparse<'a>>,
}

/// Elements of fixed size, the last one inside `bytes`.
struct Strided<'a> {
    bytes: &'a [u8],
    stride: usize,
}

/// Elements that replace those of the base, by rising index.
struct Sparse<'a> {
    indices: Vec<u32>,
    values: Strided<'a>,
}

impl Context<'_> {
    /// Opens an accessor, or says what about it stands against that; `object` names who reads it.
    pub fn view(
        &self,
        index: Index<Accessor>,
        expected: &Expected,
        object: &dyn Fn() -> String,
    ) -> Result<View<'_>, ImportError> {
        let accessor = self.lookup(&self.document.accessors, index.value(), "accessor", object)?;
        self.open(accessor, expected, object).map_err(|defect| match defect {
            Defect::Budget(error) => error,
            Defect::Problem(problem) => {
                ImportError::Accessor { file: self.file.into(), object: object(), accessor: index.value(), problem }
            }
        })
    }

    /// As [`Self::view`] for data that a character can do without: a defect becomes a warning.
    pub fn optional_view(
        &self,
        index: Index<Accessor>,
        expected: &Expected,
        object: &dyn Fn() -> String,
    ) -> Option<View<'_>> {
        match self.view(index, expected, object) {
            Ok(view) => Some(view),
            Err(error) => {
                let text = error.to_string();
                let text = text.strip_prefix(self.file).and_then(|text| text.strip_prefix(": ")).unwrap_or(&text);
                self.warn(format!("left out: {text}"));
                None
            }
        }
    }

    fn open(&self, accessor: &Accessor, expected: &Expected, object: &dyn Fn() -> String) -> Result<View<'_>, Defect> {
        let Checked::Valid(type_) = accessor.type_ else { return Err("its type is unknown".to_string().into()) };
        let Checked::Valid(component) = accessor.component_type.as_ref() else {
            return Err("its componentType is unknown".to_string().into());
        };
        let component = component.0;
        if !expected.types.contains(&type_) || !expected.components.contains(&component) {
            let (types, components) = (expected.types, expected.components);
            return Err(format!("is {type_:?} of {component:?}, needs {types:?} of {components:?}").into());
        }
        let count = u32::try_from(accessor.count.0)
            .map_err(|_| format!("counts {} elements, more than 32-bit indices reach", accessor.count.0))?
            as usize;
        let size = component.size() * type_.multiplicity();
        let offset = accessor.byte_offset.map_or(0, |offset| offset.0);
        let base = match accessor.buffer_view {
            Some(view) => Some(self.strided(view, offset, count, size)?),
            None => None,
        };
        let sparse = match &accessor.sparse {
            Some(sparse) => {
                let changed = usize::try_from(sparse.count.0).unwrap_or(usize::MAX);
                let Checked::Valid(index_type) = sparse.indices.component_type.as_ref() else {
                    return Err("its sparse indices' componentType is unknown".to_string().into());
                };
                let index_type = index_type.0;
                let at = sparse.indices.byte_offset.0;
                let indices = self.strided(sparse.indices.buffer_view, at, changed, index_type.size())?;
                let values = self.strided(sparse.values.buffer_view, sparse.values.byte_offset.0, changed, size)?;
                self.budget.spend(changed, size_of::<u32>(), object).map_err(Defect::Budget)?;
                let indices: Vec<u32> =
                    (0..changed).map(|element| unsigned(indices.element(element), index_type)).collect();
                if !indices.is_sorted_by(|a, b| a < b) || indices.last().is_some_and(|&last| last as usize >= count) {
                    return Err(format!("its sparse indices do not rise below its count of {count}").into());
                }
                Some(Sparse { indices, values })
            }
            None => None,
        };
        Ok(View { count, width: type_.multiplicity(), component, base, sparse })
    }

    fn strided(
        &self,
        view: Index<buffer::View>,
        offset: u64,
        count: usize,
        size: usize,
    ) -> Result<Strided<'_>, String> {
        let index = view.value();
        let view = self.document.buffer_views.get(index).ok_or_else(|| format!("there is no bufferView {index}"))?;
        let buffer = view.buffer.value();
        let bytes = self.buffers.get(buffer).ok_or_else(|| format!("there is no buffer {buffer}"))?;
        let stride = view.byte_stride.map_or(size, |stride| stride.0);
        if stride < size {
            return Err(format!("bufferView {index} has elements of {size} bytes every {stride}"));
        }
        if count == 0 {
            return Ok(Strided { bytes: &[], stride });
        }
        let length = (count as u64 - 1).checked_mul(stride as u64).and_then(|last| last.checked_add(size as u64));
        let start = view.byte_offset.map_or(0, |offset| offset.0).checked_add(offset);
        let range = (|| {
            let (length, start) = (length?, start?);
            if offset.checked_add(length)? > view.byte_length.0 {
                return None;
            }
            bytes.get(usize::try_from(start).ok()?..usize::try_from(start.checked_add(length)?).ok()?)
        })();
        let bytes = range.ok_or_else(|| {
            format!(
                "{count} elements of {size} bytes every {stride} from byte {offset} do not fit bufferView {index} \
                 ({} bytes) in buffer {buffer} ({} bytes)",
                view.byte_length.0,
                bytes.len()
            )
        })?;
        Ok(Strided { bytes, stride })
    }
}

enum Defect {
    Problem(String),
    Budget(ImportError),
}

impl From<String> for Defect {
    fn from(problem: String) -> Self {
        Self::Problem(problem)
    }
}

impl Strided<'_> {
    /// The bytes from an element's start on.
    fn element(&self, element: usize) -> &[u8] {
        self.bytes.get(element.saturating_mul(self.stride)..).unwrap_or_default()
    }
}

/// The first `N` bytes, zeros beyond the end.
fn head<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

fn unsigned(bytes: &[u8], component: ComponentType) -> u32 {
    match component {
        ComponentType::U8 | ComponentType::I8 => u8::from_le_bytes(head(bytes)).into(),
        ComponentType::U16 | ComponentType::I16 => u16::from_le_bytes(head(bytes)).into(),
        ComponentType::U32 | ComponentType::F32 => u32::from_le_bytes(head(bytes)),
    }
}

impl View<'_> {
    /// Bytes of one component; empty where the accessor is zero.
    fn component(&self, element: usize, component: usize) -> &[u8] {
        let replaced = self.sparse.as_ref().and_then(|sparse| {
            let at = sparse.indices.binary_search(&u32::try_from(element).ok()?).ok()?;
            Some(sparse.values.element(at))
        });
        let bytes = replaced.or_else(|| self.base.as_ref().map(|base| base.element(element)));
        bytes.and_then(|bytes| bytes.get(component * self.component.size()..)).unwrap_or_default()
    }

    /// Whether no buffer stands behind any element.
    pub fn is_all_zero(&self) -> bool {
        self.base.is_none() && self.sparse.is_none()
    }

    /// One component as an index; 0 beyond the end.
    pub fn integer(&self, element: usize, component: usize) -> u32 {
        unsigned(self.component(element, component), self.component)
    }

    /// One component as a number, integers normalised to 0…1 or −1…1 (glTF 2.0, 3.11); 0 beyond the end.
    pub fn number(&self, element: usize, component: usize) -> f32 {
        let bytes = self.component(element, component);
        match self.component {
            ComponentType::F32 => f32::from_le_bytes(head(bytes)),
            ComponentType::U8 => f32::from(u8::from_le_bytes(head(bytes))) / 255.0,
            ComponentType::U16 => f32::from(u16::from_le_bytes(head(bytes))) / 65535.0,
            ComponentType::I8 => (f32::from(i8::from_le_bytes(head(bytes))) / 127.0).max(-1.0),
            ComponentType::I16 => (f32::from(i16::from_le_bytes(head(bytes))) / 32767.0).max(-1.0),
            ComponentType::U32 => u32::from_le_bytes(head(bytes)) as f32,
        }
    }

    /// The first `N` components as numbers.
    pub fn numbers<const N: usize>(&self, element: usize) -> [f32; N] {
        std::array::from_fn(|component| self.number(element, component))
    }
}
