//! Splits a file into its JSON and its binary chunk.
//!
//! Not `gltf::Glb`: its header subtracts from an unchecked length, and it refuses files whose later chunks,
//! which readers are told to skip, are unknown.

use super::ImportError;
use super::context::Warnings;

pub(super) struct Container<'a> {
    pub json: &'a [u8],
    pub binary: Option<&'a [u8]>,
}

/// Takes `.gltf` text and `.glb` containers apart alike.
pub(super) fn split<'a>(file: &str, bytes: &'a [u8], warnings: &Warnings) -> Result<Container<'a>, ImportError> {
    if bytes.starts_with(b"glTF") {
        return split_binary(file, bytes, warnings);
    }
    let json = strip_byte_order_mark(bytes, warnings);
    match json.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => Ok(Container { json, binary: None }),
        Some(_) => Err(damaged(file, "is neither a binary glTF (.glb) nor glTF JSON".into())),
        None => Err(damaged(file, "is empty".into())),
    }
}

fn damaged(file: &str, problem: String) -> ImportError {
    ImportError::Container { file: file.into(), problem }
}

fn strip_byte_order_mark<'a>(bytes: &'a [u8], warnings: &Warnings) -> &'a [u8] {
    match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => {
            warnings.push("the JSON starts with a byte order mark, which glTF forbids; save it as plain UTF-8".into());
            rest
        }
        None => bytes,
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(word.try_into().ok()?))
}

fn split_binary<'a>(file: &str, bytes: &'a [u8], warnings: &Warnings) -> Result<Container<'a>, ImportError> {
    let (Some(version), Some(length)) = (word(bytes, 4), word(bytes, 8)) else {
        return Err(damaged(file, format!("the .glb header has 12 bytes, the file {}", bytes.len())));
    };
    if version != 2 {
        return Err(ImportError::Version { file: file.into(), version: format!("container version {version}") });
    }
    let length = length as usize;
    if length != bytes.len() {
        warnings.push(format!("the .glb header says {length} bytes, the file has {}; copy it again", bytes.len()));
    }
    let mut rest = bytes.get(12..length.clamp(12, bytes.len())).unwrap_or_default();
    let mut json = None;
    let mut binary = None;
    let mut index = 0;
    while !rest.is_empty() {
        let (Some(size), Some(kind)) = (word(rest, 0), rest.get(4..8)) else {
            if json.is_none() {
                return Err(damaged(file, "the JSON chunk's header is cut off".into()));
            }
            warnings.push(format!("{} bytes after the last .glb chunk are ignored", rest.len()));
            break;
        };
        let body = &rest[8..];
        let size = size as usize;
        if size > body.len() {
            return Err(damaged(file, format!(".glb chunk {index} says {size} bytes, {} are left", body.len())));
        }
        match kind {
            b"JSON" if index == 0 => json = Some(&body[..size]),
            _ if index == 0 => return Err(damaged(file, "the first .glb chunk is not JSON".into())),
            b"BIN\0" if binary.is_none() && index == 1 => binary = Some(&body[..size]),
            _ => warnings.push(format!(".glb chunk {index} is not one that glTF 2.0 knows there; ignored")),
        }
        rest = body.get(size.saturating_add(3) & !3..).unwrap_or_default();
        index += 1;
    }
    match json {
        Some(json) => Ok(Container { json: strip_byte_order_mark(json, warnings), binary }),
        None => Err(damaged(file, "the .glb has no chunks".into())),
    }
}
