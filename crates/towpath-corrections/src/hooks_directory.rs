//! The directory of everything that hooks read and write, in the state directory: private, made when
//! it is first needed.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Every file that hooks and the commands around them keep there.
pub const OWN_FILES: [&str; 8] = [
    "calls.log",
    "calls.folding",
    "errors.log",
    "fold.lock",
    "hosts.json",
    "hosts.lock",
    "rules.lock",
    "rules.snapshot",
];
/// The directory with a file for each session of an agent.
pub const SESSIONS: &str = "sessions";

#[derive(Debug, Clone)]
pub struct HooksDirectory {
    path: PathBuf,
}

impl HooksDirectory {
    pub fn of(state: &Path) -> HooksDirectory {
        HooksDirectory { path: state.join("hooks") }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens a file below the directory for appending. What is missing is made.
    pub fn append(&self, name: &str) -> io::Result<File> {
        let path = self.file(name);
        let open =
            || OpenOptions::new().create(true).read(true).append(true).mode(0o600).open(&path);
        match open() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let folder = path.parent().unwrap_or(&self.path);
                DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
                open()
            }
            opened => opened,
        }
    }

    /// Gives a file whole new contents at once: a reader sees the old ones or the new ones.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temporary = format!("{name}.{}", std::process::id());
        let mut file = self.append(&temporary)?;
        let written = file
            .set_len(0)
            .and_then(|()| io::Write::write_all(&mut file, bytes))
            .and_then(|()| std::fs::rename(self.file(&temporary), self.file(name)));
        written.inspect_err(|_| {
            let _ = std::fs::remove_file(self.file(&temporary));
        })
    }
}
