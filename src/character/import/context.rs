//! What every step of an import shares: the document, its bytes, the memory budget and the warnings.

use std::cell::{Cell, RefCell};

use super::ImportError;
use super::buffers::Buffers;
use super::document::Document;
use crate::character::Warning;

/// More warnings than a person reads; the rest are counted.
const MAX_WARNINGS: usize = 200;

pub(super) struct Context<'a> {
    pub file: &'a str,
    pub document: &'a Document,
    pub buffers: &'a Buffers<'a>,
    pub meters_per_unit: f32,
    pub budget: &'a Budget<'a>,
    pub warnings: &'a Warnings,
}

impl Context<'_> {
    pub fn warn(&self, text: String) {
        self.warnings.push(text);
    }

    pub fn non_finite(&self, object: String) -> ImportError {
        ImportError::NonFinite { file: self.file.into(), object }
    }

    /// `items[index]`, or the error that names `object`.
    pub fn lookup<'b, T>(
        &self,
        items: &'b [T],
        index: usize,
        target: &'static str,
        object: impl FnOnce() -> String,
    ) -> Result<&'b T, ImportError> {
        items.get(index).ok_or_else(|| ImportError::Index {
            file: self.file.into(),
            object: object(),
            target,
            index,
            len: items.len(),
        })
    }

    pub fn node_name(&self, index: usize) -> String {
        named("node", index, self.document.nodes.get(index).and_then(|node| node.name.as_deref()))
    }

    pub fn mesh_name(&self, index: usize) -> String {
        named("mesh", index, self.document.meshes.get(index).and_then(|mesh| mesh.name.as_deref()))
    }

    pub fn skin_name(&self, index: usize) -> String {
        named("skin", index, self.document.skins.get(index).and_then(|skin| skin.name.as_deref()))
    }
}

/// Bytes that the import may still take.
pub(super) struct Budget<'a> {
    file: &'a str,
    total: u64,
    spent: Cell<u64>,
}

impl<'a> Budget<'a> {
    pub fn new(file: &'a str, total: u64) -> Self {
        Self { file, total, spent: Cell::new(0) }
    }

    /// Pays for `count` items of `size` bytes before they are allocated.
    pub fn spend(&self, count: usize, size: usize, object: impl FnOnce() -> String) -> Result<(), ImportError> {
        let bytes = (count as u64).saturating_mul(size as u64).saturating_add(self.spent.get());
        if bytes > self.total {
            return Err(ImportError::Budget { file: self.file.into(), object: object(), bytes, budget: self.total });
        }
        self.spent.set(bytes);
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct Warnings {
    kept: RefCell<Vec<Warning>>,
    dropped: Cell<usize>,
}

impl Warnings {
    pub fn push(&self, text: String) {
        let mut kept = self.kept.borrow_mut();
        if kept.len() < MAX_WARNINGS {
            kept.push(Warning(text));
        } else {
            self.dropped.set(self.dropped.get() + 1);
        }
    }

    pub fn finish(self) -> Vec<Warning> {
        let mut kept = self.kept.into_inner();
        match self.dropped.get() {
            0 => {}
            more => kept.push(Warning(format!("{more} more warnings like these; mend the ones above first"))),
        }
        kept
    }
}

/// An object as messages name it: `node 3 "Hips"`.
pub(super) fn named(kind: &str, index: usize, name: Option<&str>) -> String {
    match name {
        Some(name) if !name.is_empty() => format!("{kind} {index} {:?}", shorten(name)),
        _ => format!("{kind} {index}"),
    }
}

/// At most 80 characters of a text from the file.
pub(super) fn shorten(text: &str) -> &str {
    text.char_indices().nth(80).map_or(text, |(end, _)| &text[..end])
}
