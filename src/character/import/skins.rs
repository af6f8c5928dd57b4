//! The matrix palette: which joints pull on vertices, with which bind matrices.

use std::collections::HashMap;
use std::rc::Rc;

use glam::{Affine3A, Mat3A, Vec3A};

use super::ImportError;
use super::accessor::FLOAT_MAT4;
use super::context::Context;
use super::nodes::Graph;
use crate::character::PaletteEntry;

/// The palette while it grows.
pub(super) struct Palette<'a> {
    context: &'a Context<'a>,
    graph: &'a Graph,
    /// From joint to model space at rest, one per joint.
    rest_model: &'a [Affine3A],
    pub entries: Vec<PaletteEntry>,
    /// From mesh to model space at rest, one per entry.
    pub rest: Vec<Affine3A>,
    /// Whether the matrix in `rest` turns things inside out, one per entry.
    pub mirrors: Vec<bool>,
    index_of: HashMap<(u32, [u32; 12]), u16>,
    /// The entries of each skin that was asked for.
    skins: HashMap<usize, Rc<[u16]>>,
}

impl<'a> Palette<'a> {
    pub fn new(context: &'a Context<'a>, graph: &'a Graph, rest_model: &'a [Affine3A]) -> Self {
        Self {
            context,
            graph,
            rest_model,
            entries: Vec::new(),
            rest: Vec::new(),
            mirrors: Vec::new(),
            index_of: HashMap::new(),
            skins: HashMap::new(),
        }
    }

    /// The entry of a joint with a bind matrix; equal ones are shared.
    fn entry(&mut self, joint: u32, inverse_bind: Affine3A, object: &dyn Fn() -> String) -> Result<u16, ImportError> {
        let key = (joint, inverse_bind.to_cols_array().map(f32::to_bits));
        if let Some(&known) = self.index_of.get(&key) {
            return Ok(known);
        }
        let Ok(index) = u16::try_from(self.entries.len()) else {
            return Err(ImportError::Palette { file: self.context.file.into(), object: object() });
        };
        let rest = self.rest_model[joint as usize] * inverse_bind;
        if !rest.is_finite() {
            return Err(self.context.non_finite(format!("{}, joint times bind matrix", object())));
        }
        self.entries.push(PaletteEntry { joint, inverse_bind });
        self.rest.push(rest);
        self.mirrors.push(rest.matrix3.determinant() < 0.0);
        self.index_of.insert(key, index);
        Ok(index)
    }

    /// The entry of a mesh that hangs on a node.
    pub fn rigid(&mut self, node: usize) -> Result<u16, ImportError> {
        let context = self.context;
        self.entry(self.graph.joint_of[node], Affine3A::IDENTITY, &|| context.node_name(node))
    }

    /// The entries of a skin, one per joint of it.
    pub fn skin(&mut self, skin: usize) -> Result<Rc<[u16]>, ImportError> {
        if let Some(known) = self.skins.get(&skin) {
            return Ok(known.clone());
        }
        let entries: Rc<[u16]> = self.read_skin(skin)?.into();
        self.skins.insert(skin, entries.clone());
        Ok(entries)
    }

    fn read_skin(&mut self, index: usize) -> Result<Vec<u16>, ImportError> {
        let context = self.context;
        let object = || context.skin_name(index);
        let skin = &context.document.skins[index];
        if skin.joints.is_empty() {
            context.warn(format!("{} has no joints; its meshes hang on their nodes", object()));
        }
        let binds = match skin.inverse_bind_matrices {
            Some(accessor) => {
                let view = context.view(accessor, &FLOAT_MAT4, &object)?;
                if view.count < skin.joints.len() {
                    return Err(ImportError::Accessor {
                        file: context.file.into(),
                        object: object(),
                        accessor: accessor.value(),
                        problem: format!("has {} bind matrices for {} joints", view.count, skin.joints.len()),
                    });
                }
                Some(view)
            }
            None => None,
        };
        let per_joint = size_of::<PaletteEntry>() + 2 * size_of::<Affine3A>();
        context.budget.spend(skin.joints.len(), per_joint, object)?;
        let mut projective = 0;
        let mut entries = Vec::with_capacity(skin.joints.len());
        for (slot, joint) in skin.joints.iter().map(|joint| joint.value()).enumerate() {
            context.lookup(&context.document.nodes, joint, "joint node", object)?;
            let inverse_bind = match &binds {
                Some(view) => {
                    let m: [f32; 16] = view.numbers(slot);
                    if !m.iter().all(|value| value.is_finite()) {
                        return Err(context.non_finite(format!("{}, bind matrix {slot}", object())));
                    }
                    let last_row = [m[3], m[7], m[11], m[15] - 1.0];
                    projective += usize::from(last_row.iter().any(|value| value.abs() > 1e-4));
                    Affine3A {
                        matrix3: Mat3A::from_cols_array(&[m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]]),
                        translation: Vec3A::new(m[12], m[13], m[14]) * context.meters_per_unit,
                    }
                }
                None => Affine3A::IDENTITY,
            };
            entries.push(self.entry(self.graph.joint_of[joint], inverse_bind, &object)?);
        }
        if projective > 0 {
            context.warn(format!(
                "{}: {projective} bind matrices do not end in the row 0 0 0 1; read as if they did",
                object()
            ));
        }
        Ok(entries)
    }
}
