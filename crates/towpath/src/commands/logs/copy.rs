//! Files that may be large and may still grow, handed on in pieces.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const PIECE: usize = 64 << 10;

/// Hands on a file's bytes from an offset to its end, or to `end`; returns how many those were.
/// Stops early when nobody reads them any more.
pub fn copy(
    path: &Path,
    from: u64,
    end: Option<u64>,
    sink: &mut dyn FnMut(&[u8]),
) -> io::Result<u64> {
    let file = File::open(path)?;
    let mut piece = vec![0; PIECE];
    let mut at = from;
    while !reader_gone() {
        let left = end.map_or(PIECE as u64, |end| end.saturating_sub(at)).min(PIECE as u64);
        match file.read_at(&mut piece[..left as usize], at) {
            Ok(0) => break,
            Ok(read) => {
                sink(&piece[..read]);
                at += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(at - from)
}

/// Whether stdout is a pipe that nobody reads.
pub fn reader_gone() -> bool {
    let stdout = io::stdout();
    let mut files = [PollFd::new(&stdout, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut files, Some(&now)).is_ok() && files[0].revents().contains(PollFlags::ERR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_handed_on_from_where_it_was_left() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("1.stdout");
        let text: Vec<u8> = (0..3 * PIECE + 5).map(|n| n as u8).collect();
        std::fs::write(&path, &text).expect("write");
        let mut got = Vec::new();
        let mut take = |bytes: &[u8]| got.extend_from_slice(bytes);
        assert_eq!(copy(&path, 0, Some(10), &mut take).expect("read"), 10);
        assert_eq!(copy(&path, 10, None, &mut take).expect("read"), text.len() as u64 - 10);
        assert_eq!(copy(&path, 1 << 40, None, &mut take).expect("read"), 0);
        assert_eq!(got, text);
        let gone = copy(&directory.path().join("no"), 0, None, &mut |_| {});
        assert_eq!(gone.expect_err("not there").kind(), io::ErrorKind::NotFound);
    }
}
