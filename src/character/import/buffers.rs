//! Fetches each buffer's bytes: the binary chunk, a data URI or a file beside the glTF.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::ImportError;
use super::context::{Warnings, named, shorten};
use super::document::Document;

/// Padding is optional: exporters disagree about it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Where a file's bytes may come from.
pub(super) struct Places<'a> {
    pub file: &'a str,
    pub binary: Option<&'a [u8]>,
    pub base_dir: Option<&'a Path>,
    pub warnings: &'a Warnings,
}

/// The bytes of all buffers; buffers of the same URI share them.
pub(super) struct Buffers<'a> {
    blobs: Vec<Cow<'a, [u8]>>,
    /// Which blob each buffer of the document has.
    blob_of: Vec<usize>,
}

impl<'a> Buffers<'a> {
    pub fn fetch(document: &Document, places: &Places<'a>) -> Result<Self, ImportError> {
        let mut longest: HashMap<&str, u64> = HashMap::new();
        for buffer in &document.buffers {
            if let Some(uri) = &buffer.uri {
                let length = longest.entry(uri).or_default();
                *length = buffer.byte_length.0.max(*length);
            }
        }
        let mut blob_of_uri: HashMap<&str, usize> = HashMap::new();
        let mut buffers = Self { blobs: Vec::new(), blob_of: Vec::new() };
        for (index, buffer) in document.buffers.iter().enumerate() {
            let object = || named("buffer", index, buffer.name.as_deref());
            let known = buffer.uri.as_deref().and_then(|uri| blob_of_uri.get(uri).copied());
            let blob = known.unwrap_or(buffers.blobs.len());
            if known.is_none() {
                buffers.blobs.push(match (&buffer.uri, places.binary) {
                    (Some(uri), _) => places.resolve(uri, longest.get(uri.as_str()).copied().unwrap_or(0), &object)?,
                    (None, Some(binary)) if index == 0 => Cow::Borrowed(binary),
                    (None, _) => Cow::Borrowed(&[][..]),
                });
            }
            if let Some(uri) = &buffer.uri {
                blob_of_uri.insert(uri, blob);
            }
            buffers.blob_of.push(blob);
            let (says, has) = (buffer.byte_length.0, buffers.blobs[blob].len());
            if (has as u64) < says {
                places.warnings.push(format!("{} says {says} bytes but has {has}; the rest is missing", object()));
            }
        }
        Ok(buffers)
    }

    pub fn get(&self, buffer: usize) -> Option<&[u8]> {
        self.blob_of.get(buffer).map(|&blob| &*self.blobs[blob])
    }

    /// Bytes held, all buffers together.
    pub fn total_bytes(&self) -> u64 {
        self.blobs.iter().map(|blob| blob.len() as u64).sum()
    }
}

impl<'a> Places<'a> {
    fn refused(&self, object: String, problem: String) -> ImportError {
        ImportError::Uri { file: self.file.into(), object, problem }
    }

    fn resolve(&self, uri: &str, length: u64, object: &dyn Fn() -> String) -> Result<Cow<'a, [u8]>, ImportError> {
        if let Some(data) = uri.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:")).map(|_| &uri[5..]) {
            return decode_data(data).map(Cow::Owned).map_err(|problem| self.refused(object(), problem));
        }
        let relative = relative_path(uri).map_err(|problem| self.refused(object(), problem))?;
        let Some(base_dir) = self.base_dir else {
            let problem = format!("lies in {:?}, but no base_dir was given to find it in", shorten(uri));
            return Err(self.refused(object(), problem));
        };
        let path = base_dir.join(relative);
        let fail = |source| ImportError::Io {
            file: self.file.into(),
            what: format!("{} from {}", object(), path.display()),
            source,
        };
        let file = File::open(&path).map_err(fail)?;
        if !file.metadata().map_err(fail)?.is_file() {
            return Err(self.refused(object(), format!("{} is not a plain file", path.display())));
        }
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes).map_err(fail)?;
        Ok(Cow::Owned(bytes))
    }
}

/// The bytes of a data URI after its scheme: `[mime][;base64],data`.
fn decode_data(data: &str) -> Result<Vec<u8>, String> {
    let (header, body) = data.split_once(',').ok_or("its data URI has no comma before the data")?;
    let body = percent_decode(body)?;
    if !header.to_ascii_lowercase().ends_with(";base64") {
        return Ok(body.into_owned());
    }
    BASE64.decode(&body[..]).map_err(|error| format!("its data URI is not base64: {error}"))
}

fn percent_decode(text: &str) -> Result<Cow<'_, [u8]>, String> {
    if !text.contains('%') {
        return Ok(Cow::Borrowed(text.as_bytes()));
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16));
        match (digit(), digit()) {
            (Some(high), Some(low)) => decoded.push((high * 16 + low) as u8),
            _ => return Err("its URI has a % without two hexadecimal digits".into()),
        }
    }
    Ok(Cow::Owned(decoded))
}

/// A URI as a path that stays inside the base directory.
fn relative_path(uri: &str) -> Result<PathBuf, String> {
    let decoded = percent_decode(uri)?;
    let text = std::str::from_utf8(&decoded).map_err(|_| "its URI is not UTF-8".to_string())?;
    let shown = shorten(text);
    let colon = text.find(':');
    if colon.is_some_and(|at| text.find(['/', '\\']).is_none_or(|slash| at < slash)) {
        return Err(format!("the URI {shown:?} has a scheme or drive; only data URIs and relative paths are read"));
    }
    if text.starts_with(['/', '\\']) {
        return Err(format!("the URI {shown:?} is absolute; only paths beside the file are read"));
    }
    let mut path = PathBuf::new();
    for part in text.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if !path.pop() => return Err(format!("the URI {shown:?} leads out of the file's directory")),
            ".." => {}
            _ => path.push(part),
        }
    }
    if path.as_os_str().is_empty() {
        return Err(format!("the URI {shown:?} names no file"));
    }
    Ok(path)
}
