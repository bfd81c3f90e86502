//! Directories that a program of a package expects at the root of the system, and that are only in the
//! install. Search paths cannot lead it there, so what needs them fails, whatever `--version` shows.

use regex::bytes::Regex;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static DIRECTORY: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?-u)/(?:usr/(?:share|lib|libexec)|etc)/[A-Za-z0-9][A-Za-z0-9_.+-]*";
    Regex::new(pattern).expect("the pattern is valid")
});

/// How much of a program is searched.
const MOST: u64 = 64 << 20;

/// The directories that a program names and that only the unpacked tree has.
pub(super) fn fixed_paths(root: &Path, program: &str) -> io::Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    File::open(root.join(program))?.take(MOST).read_to_end(&mut bytes)?;
    let named: BTreeSet<&[u8]> =
        DIRECTORY.find_iter(&bytes).map(|found| found.as_bytes()).collect();
    let paths = named.into_iter().map(|path| String::from_utf8_lossy(path).into_owned());
    let only_inside = |path: &String| {
        root.join(path.trim_start_matches('/')).is_dir() && !Path::new(path).exists()
    };
    Ok(paths.filter(only_inside).map(PathBuf::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_only_the_tree_has_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for path in ["usr/games", "usr/share/towpath-no-such-cows/cows", "usr/share/doc"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        let script = b"#!/usr/bin/perl\n\xff my $d = '/usr/share/towpath-no-such-cows/cows';\n\
            # /usr/share/doc /usr/share/towpath-nowhere /etc/passwd\n";
        fs::write(root.join("usr/games/cowsay"), script).unwrap();
        let found = fixed_paths(root, "usr/games/cowsay").unwrap();
        assert_eq!(found, [Path::new("/usr/share/towpath-no-such-cows")]);
    }
}
