//! The arguments of bubblewrap for a policy. As root it makes no user namespace, so that what root
//! alone may read can be shown; the server then gives up the user. For others it makes one. It does not
//! end by itself with its parent's thread: the server sees for itself when its owner is gone.

use super::mount_plan::Mount;
use super::policy::Policy;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the server keeps for commands in a sandbox in which root stays root.
const FILE_CAPABILITIES: [&str; 4] = ["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID"];
/// What it needs to become another user.
const USER_CAPABILITIES: [&str; 2] = ["CAP_SETUID", "CAP_SETGID"];

/// Everything before the command that is run inside.
pub(super) fn arguments(policy: &Policy, plan: &[Mount], is_root: bool) -> Vec<OsString> {
    let mut words = Words::default();
    words.add(&["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]);
    if !policy.network {
        words.add(&["--unshare-net"]);
    }
    if is_root {
        words.add(&["--cap-drop", "ALL"]);
        let kept = if policy.drop_user { &USER_CAPABILITIES[..] } else { &FILE_CAPABILITIES };
        for capability in kept {
            words.add(&["--cap-add", capability]);
        }
    } else {
        words.add(&["--unshare-user"]);
    }
    // The server is the first process: nothing inside can signal it, and all end when it ends.
    words.add(&["--as-pid-1"]);
    for mount in plan {
        words.mount(mount);
    }
    // Root may write there without any capability, and much of it belongs to the whole machine.
    if is_root && !policy.drop_user {
        words.add(&["--remount-ro", "/proc"]);
    }
    words.add(&["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "--"]);
    words.0
}

#[derive(Debug, Default)]
struct Words(Vec<OsString>);

impl Words {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn paths(&mut self, option: &str, paths: [&Path; 2]) {
        self.0.push(option.into());
        self.0.extend(paths.map(|path| path.as_os_str().to_owned()));
    }

    fn mount(&mut self, mount: &Mount) {
        match mount {
            Mount::Directory(at) => self.one("--dir", at),
            Mount::Symlink { at, target } => self.paths("--symlink", [target, at]),
            Mount::Readable(path) => self.paths("--ro-bind", [path, path]),
            Mount::Writable(path) => self.paths("--bind", [path, path]),
            Mount::Temporary { at, bytes } => {
                // Zero bytes would mean: without a limit.
                self.add(&["--perms", "1777", "--size", &bytes.max(&1).to_string()]);
                self.one("--tmpfs", at);
            }
            Mount::Processes => self.one("--proc", &"/proc".into()),
            Mount::Devices => self.one("--dev", &"/dev".into()),
        }
    }

    fn one(&mut self, option: &str, path: &PathBuf) {
        self.0.extend([option.into(), path.into()]);
    }
}
