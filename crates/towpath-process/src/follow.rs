//! Reads a growing output file piece by piece. Keeps one buffer, never the output, so that a
//! gigabyte costs no memory; never waits for more.

use crate::os;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

const BUFFER: usize = 64 << 10;
/// Descriptors that are left to others.
const RESERVED: usize = 24;

#[derive(Debug)]
pub struct Follow {
    file: File,
    offset: u64,
    buffer: Box<[u8]>,
    cut: bool,
}

impl Follow {
    /// From the beginning. The file must exist: it does once the job is `Started`.
    pub fn open(path: &Path) -> io::Result<Follow> {
        Ok(Follow::new(File::open(path)?))
    }

    /// As `open`, but only while descriptors are plentiful: for a reader that can wait until the job has
    /// ended. The ends of jobs need descriptors of their own.
    pub fn open_if_plentiful(path: &Path) -> Option<Follow> {
        let file = File::open(path).ok()?;
        // The lowest free number is taken: all below it are in use.
        let used = usize::try_from(file.as_raw_fd()).unwrap_or(usize::MAX);
        (used < os::file_limit().saturating_sub(RESERVED)).then(|| Follow::new(file))
    }

    pub fn new(file: File) -> Follow {
        Follow { file, offset: 0, buffer: vec![0; BUFFER].into(), cut: false }
    }

    /// Continues from this offset.
    pub fn at(mut self, offset: u64) -> Follow {
        self.offset = offset;
        self
    }

    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether the file was truncated behind the reader: what followed was then read from
    /// the file's new beginning.
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    /// Hands on what has come since the last call, and returns how many bytes that were. A writer
    /// that is faster than the reader does not keep it here: what is written meanwhile waits.
    pub fn read_new(&mut self, sink: &mut dyn FnMut(&[u8])) -> io::Result<u64> {
        let mut count = 0;
        self.read_while(&mut |bytes| {
            sink(bytes);
            count += bytes.len() as u64;
            true
        })?;
        Ok(count)
    }

    /// As `read_new`, until the sink has had enough. Returns whether everything was handed on.
    pub fn read_while(&mut self, sink: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<bool> {
        let size = self.file.metadata()?.len();
        if size < self.offset {
            self.offset = 0;
            self.cut = true;
        }
        while self.offset < size {
            let wanted = usize::try_from(size - self.offset).map_or(BUFFER, |n| n.min(BUFFER));
            let got = match self.file.read_at(&mut self.buffer[..wanted], self.offset) {
                Ok(0) => return Ok(true),
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.offset += got as u64;
            if !sink(&self.buffer[..got]) {
                return Ok(self.offset >= size);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn new_of(follow: &mut Follow) -> Vec<u8> {
        let mut got = Vec::new();
        let count = follow.read_new(&mut |bytes| got.extend_from_slice(bytes)).expect("readable");
        assert_eq!(count, got.len() as u64);
        got
    }

    #[test]
    fn hands_on_each_byte_once() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let mut follow = Follow::open(file.path()).expect("open");
        assert_eq!(new_of(&mut follow), b"");
        file.write_all(b"one").expect("write");
        assert_eq!(new_of(&mut follow), b"one");
        let large: Vec<u8> = (0..3 * BUFFER + 7).map(|n| n as u8).collect();
        file.write_all(&large).expect("write");
        assert_eq!(new_of(&mut follow), large);
        assert_eq!(new_of(&mut follow), b"");
        let mut later = Follow::open(file.path()).expect("open").at(follow.offset() - 2);
        assert_eq!(new_of(&mut later), &large[large.len() - 2..]);
    }

    #[test]
    fn a_truncated_file_is_read_from_its_new_beginning() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(b"before").expect("write");
        let mut follow = Follow::open(file.path()).expect("open");
        assert_eq!(new_of(&mut follow), b"before");
        std::fs::write(file.path(), b"new").expect("write");
        assert_eq!(new_of(&mut follow), b"new");
        assert!(follow.was_cut());
    }
}
