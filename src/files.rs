//! Files that are written whole or not at all, and read no farther than they may be long.

use std::fs::{self, File};
#[cfg(feature = "bake")]
use std::io::ErrorKind;
use std::io::{Read as _, Result, Write as _};
use std::path::{Path, PathBuf};

/// What ends the names of files that are not whole yet.
const PART: &str = "part";

/// Reads a file of at most `most` bytes; of a longer one how many it has at least. Pipes and devices do not say how long they are.
pub fn read_at_most(path: &Path, most: u64) -> Result<std::result::Result<Vec<u8>, u64>> {
    let file = File::open(path)?;
    let said = file.metadata()?.len();
    if said > most {
        return Ok(Err(said));
    }
    // One byte more, by which the end is seen without more room being made.
    let mut bytes = Vec::with_capacity(said as usize + 1);
    file.take(most + 1).read_to_end(&mut bytes)?;
    let read = bytes.len() as u64;
    Ok(if read > most { Err(read) } else { Ok(bytes) })
}

/// Writes a file beside its place, and moves it there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    // Those of two that write the same differ.
    let nanos =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}-{nanos}.{PART}", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = File::options().write(true).create_new(true).open(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let Err(error) = written.and_then(|()| fs::rename(&beside, path)) else { return Ok(()) };
    // Whatever is left of it is no one's. Who was faster with the same may have removed it, thinking that a kill had left it.
    drop(fs::remove_file(&beside));
    if fs::read(path).is_ok_and(|there| there == bytes) { Ok(()) } else { Err(error) }
}

/// Removes from a folder what killed runs have left half written, of files whose names begin as `ours` says.
#[cfg(feature = "bake")]
pub fn remove_parts(folder: &Path, ours: impl Fn(&str) -> bool) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if ours(&name) && path.extension().is_some_and(|end| end == PART) {
            match fs::remove_file(&path) {
                // Another has been faster, or has made it whole.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                removed => removed?,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_to_their_end_and_no_farther() {
        let path = std::env::temp_dir().join(format!("sinew-files-{}", std::process::id()));
        write_whole(&path, &[7; 100]).unwrap();
        assert_eq!(read_at_most(&path, 100).unwrap(), Ok(vec![7; 100]));
        assert_eq!(read_at_most(&path, 99).unwrap(), Err(100));
        fs::remove_file(&path).unwrap();
        assert!(read_at_most(&path, 99).is_err());
        // Which says that it has none.
        #[cfg(unix)]
        assert_eq!(read_at_most(Path::new("/dev/zero"), 1000).unwrap(), Err(1001));
    }
}
