//! What a sandboxed command may reach and how much it may use. Plain data: a confinement enforces it.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What commands may reach, beside the system's own directories, which they may read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Visible at the same path, read-only. Files or directories; each must exist.
    #[serde(default, with = "towpath_core::os_text::list")]
    pub readable: Vec<PathBuf>,
    /// Visible at the same path, and writable. Each must exist.
    #[serde(default, with = "towpath_core::os_text::list")]
    pub writable: Vec<PathBuf>,
    /// Whether the machine's network can be reached. Without it there is an own loopback at most.
    #[serde(default)]
    pub network: bool,
    /// Where the sandbox is opened by root: commands run as a user without any right.
    #[serde(default)]
    pub drop_user: bool,
    #[serde(default)]
    pub limits: Limits,
}

/// How much the commands of a sandbox may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// What the private temporary files of one command may take, in memory: once below `/tmp` with its
    /// home, and once in `/dev/shm`.
    pub scratch_bytes: u64,
    /// Resident memory of all processes of one command, without the pages of files.
    pub memory_bytes: u64,
    /// Processes and threads of one command.
    pub processes: u64,
    /// The largest file that may be written.
    pub file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            scratch_bytes: 1 << 30,
            memory_bytes: 4 << 30,
            processes: 1024,
            file_bytes: 1 << 30,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

    #[test]
    fn a_policy_survives_json_whatever_its_paths_are() {
        let odd = PathBuf::from(OsString::from_vec(b"/a\xff\n".to_vec()));
        let policy =
            Policy { readable: vec![odd, "/b".into()], network: true, ..Policy::default() };
        let text = serde_json::to_string(&policy).expect("text");
        assert_eq!(serde_json::from_str::<Policy>(&text).expect("a policy"), policy);
        assert_eq!(serde_json::from_str::<Policy>("{}").expect("a policy"), Policy::default());
    }
}
