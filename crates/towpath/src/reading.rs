//! Texts that a person hands over as a file. A pipe is as good as a file; what has no end, or is
//! larger than anybody means, is refused and never fills the memory.

use std::fs::File;
use std::io::{Error, Read};
use std::path::Path;

/// The most that a text for an agent, an output or a test file may have.
pub const TEXT: u64 = 16 << 20;
/// The most that a script of answers may have.
pub const SCRIPT: u64 = 64 << 20;

/// The bytes of a file or a pipe, `most` of them at most.
pub fn bytes(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(Error::other(format!("larger than {} MiB", most >> 20))),
        false => Ok(bytes),
    }
}

pub fn text(path: &Path, most: u64) -> Result<String, Error> {
    String::from_utf8(bytes(path, most)?).map_err(|_| Error::other("not UTF-8 text"))
}
