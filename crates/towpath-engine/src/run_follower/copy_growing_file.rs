//! Files that may be large and may still grow, read in pieces.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

const PIECE: usize = 64 << 10;

/// Gives a file's bytes from an offset to its end, or to `end`, until the sink wants no more; returns
/// how many those were.
pub(super) fn copy(
    path: &Path,
    from: u64,
    end: Option<u64>,
    sink: &mut dyn FnMut(&[u8]) -> bool,
) -> io::Result<u64> {
    let file = File::open(path)?;
    let mut piece = vec![0; PIECE];
    let mut at = from;
    loop {
        let left = end.map_or(PIECE as u64, |end| end.saturating_sub(at)).min(PIECE as u64);
        match file.read_at(&mut piece[..left as usize], at) {
            Ok(0) => break,
            Ok(read) => {
                at += read as u64;
                if !sink(&piece[..read]) {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(at - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_from_where_it_was_left() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("1.stdout");
        let text: Vec<u8> = (0..3 * PIECE + 5).map(|n| n as u8).collect();
        std::fs::write(&path, &text).expect("write");
        let mut got = Vec::new();
        let mut take = |bytes: &[u8]| {
            got.extend_from_slice(bytes);
            true
        };
        assert_eq!(copy(&path, 0, Some(10), &mut take).expect("read"), 10);
        assert_eq!(copy(&path, 10, None, &mut take).expect("read"), text.len() as u64 - 10);
        assert_eq!(copy(&path, 1 << 40, None, &mut take).expect("read"), 0);
        assert_eq!(got, text);
        assert_eq!(copy(&path, 0, None, &mut |_| false).expect("read"), PIECE as u64);
        let gone = copy(&directory.path().join("no"), 0, None, &mut |_| true);
        assert_eq!(gone.expect_err("not there").kind(), io::ErrorKind::NotFound);
    }
}
