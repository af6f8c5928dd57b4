//! The triangles of a primitive, whatever its mode and indices.

use gltf::json::mesh::{Mode, Primitive};
use gltf::json::validation::Checked;

use super::ImportError;
use super::accessor::{INDICES, View};
use super::context::Context;

/// The triangles of a primitive as indices below `vertex_count`, counter-clockwise as in the file.
///
/// Triangles that name a vertex twice are dropped, those that name a missing one too, with a warning. Points and
/// lines give none.
pub(super) fn read(
    context: &Context,
    primitive: &Primitive,
    vertex_count: usize,
    object: &dyn Fn() -> String,
) -> Result<Vec<[u32; 3]>, ImportError> {
    let Checked::Valid(mode) = primitive.mode else {
        context.warn(format!("{object} has an unknown mode; left out", object = object()));
        return Ok(Vec::new());
    };
    if !matches!(mode, Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan) {
        context.warn(format!("{} is made of {mode:?}, which have no skin; left out", object()));
        return Ok(Vec::new());
    }
    let indices = match primitive.indices {
        Some(accessor) => Some(context.view(accessor, &INDICES, &|| format!("{}, indices", object()))?),
        None => None,
    };
    let corners = Corners { indices, vertex_count };
    let len = corners.len();
    let count = match mode {
        Mode::Triangles => len / 3,
        _ => len.saturating_sub(2),
    };
    if count == 0 || (mode == Mode::Triangles && !len.is_multiple_of(3)) {
        context
            .warn(format!("{} has {len} corners, which do not make whole triangles; the rest is left out", object()));
    }
    context.budget.spend(count, 2 * size_of::<[u32; 3]>(), object)?;
    let mut triangles = Vec::with_capacity(count);
    let (mut missing, mut degenerate) = (0, 0);
    for i in 0..count {
        let triangle = match mode {
            Mode::Triangles => [3 * i, 3 * i + 1, 3 * i + 2],
            Mode::TriangleFan => [i + 1, i + 2, 0],
            _ => [i, i + 1 + i % 2, i + 2 - i % 2],
        }
        .map(|corner| corners.vertex(corner));
        if triangle.iter().any(|&vertex| vertex as usize >= vertex_count) {
            missing += 1;
        } else if triangle[0] == triangle[1] || triangle[1] == triangle[2] || triangle[2] == triangle[0] {
            degenerate += 1;
        } else {
            triangles.push(triangle);
        }
    }
    if missing > 0 {
        context.warn(format!(
            "{}: {missing} of {count} triangles name vertices beyond its {vertex_count}; left out",
            object()
        ));
    }
    // Strips join their pieces with triangles of no area.
    if degenerate > 0 && mode == Mode::Triangles {
        context.warn(format!("{}: {degenerate} of {count} triangles name a vertex twice; left out", object()));
    }
    Ok(triangles)
}

struct Corners<'a> {
    indices: Option<View<'a>>,
    vertex_count: usize,
}

impl Corners<'_> {
    fn len(&self) -> usize {
        self.indices.as_ref().map_or(self.vertex_count, |view| view.count)
    }

    fn vertex(&self, corner: usize) -> u32 {
        self.indices.as_ref().map_or(corner as u32, |view| view.integer(corner, 0))
    }
}
