//! What a sandbox with namespaces shows of the machine, as a list of mounts in the order in which they
//! are made: what is nearer to the root first, so that no mount hides a deeper one. The same list is
//! bubblewrap's arguments and our own system calls. Everything that is not in it does not exist inside.

use super::error::SandboxError;
use super::policy::Policy;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The private temporary directory; all that commands may leave is in it or in `SHARED_MEMORY`.
pub(super) const TEMPORARY: &str = "/tmp";
const OTHER_TEMPORARY: &str = "/var/tmp";
pub(super) const SHARED_MEMORY: &str = "/dev/shm";
/// Where fresh homes and working directories are made.
pub(super) const SCRATCH: &str = "/tmp/sandbox";

/// Neither homes nor data: what programs need of a system to run at all. Of `/var` these are the
/// directories in which packages keep scores, caches and tables for their own programs, by name and not by
/// their mode: the sandbox of an ordinary user has that user's rights, and everything else there (mail,
/// spools, logs, backups, core dumps, databases) is a user's or a service's.
pub(super) const SYSTEM: [&str; 20] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/var/games",
    "/var/cache/fontconfig",
    "/var/cache/man",
    "/var/lib/aspell",
    "/var/lib/dictionaries-common",
    "/var/lib/dpkg",
    "/var/lib/games",
    "/var/lib/ghostscript",
    "/var/lib/texmf",
];
/// Never shown: the sandbox has its own.
const PRIVATE: [&str; 5] = ["/", TEMPORARY, OTHER_TEMPORARY, "/run", SCRATCH];
/// A deeper path is refused: the temporary files above it could not be removed without it.
const DEEPEST: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mount {
    /// A directory of the empty root, for what is mounted below.
    Directory(PathBuf),
    Symlink {
        at: PathBuf,
        target: PathBuf,
    },
    Readable(PathBuf),
    Writable(PathBuf),
    /// With room for so many bytes, and writable for everyone.
    Temporary {
        at: PathBuf,
        bytes: u64,
    },
    Processes,
    Devices,
}

impl Mount {
    pub fn at(&self) -> &Path {
        match self {
            Mount::Directory(at) | Mount::Readable(at) | Mount::Writable(at) => at,
            Mount::Symlink { at, .. } | Mount::Temporary { at, .. } => at,
            Mount::Processes => Path::new("/proc"),
            Mount::Devices => Path::new("/dev"),
        }
    }
}

/// The mounts for this policy; the root itself is made read-only after them.
pub(super) fn mount_plan(policy: &Policy) -> Result<Vec<Mount>, SandboxError> {
    let bytes = policy.limits.scratch_bytes;
    let mut mounts = vec![
        Mount::Processes,
        Mount::Devices,
        Mount::Temporary { at: SHARED_MEMORY.into(), bytes },
        Mount::Temporary { at: TEMPORARY.into(), bytes },
        Mount::Directory("/run".into()),
    ];
    // A link has nothing below it.
    let shown = policy.readable.iter().chain(&policy.writable);
    if !shown.into_iter().any(|path| path.starts_with(OTHER_TEMPORARY)) {
        mounts.push(Mount::Symlink { at: OTHER_TEMPORARY.into(), target: TEMPORARY.into() });
    }
    mounts.extend(SYSTEM.iter().filter_map(|path| system(Path::new(path))));
    if policy.network {
        mounts.extend(resolver());
    }
    for (paths, mount) in [
        (&policy.readable, Mount::Readable as fn(PathBuf) -> Mount),
        (&policy.writable, Mount::Writable),
    ] {
        for path in paths {
            check(path).map_err(|source| SandboxError::Path { path: path.clone(), source })?;
            mounts.retain(|known| known.at() != path);
            mounts.push(mount(path.clone()));
        }
    }
    mounts.sort_by_key(|mount| depth(mount.at()));
    Ok(with_parents(mounts))
}

/// A link stays one, because programs look at where it leads.
fn system(path: &Path) -> Option<Mount> {
    let state = fs::symlink_metadata(path).ok()?;
    if state.is_symlink() {
        let target = fs::read_link(path).ok()?;
        return Some(Mount::Symlink { at: path.to_owned(), target });
    }
    Some(Mount::Readable(path.to_owned()))
}

/// The file that `/etc/resolv.conf` leads to, where that is outside of `/etc`.
fn resolver() -> Option<Mount> {
    let file = fs::canonicalize("/etc/resolv.conf").ok()?;
    let visible = SYSTEM.iter().any(|system| file.starts_with(system));
    (!visible).then_some(Mount::Readable(file))
}

fn check(path: &Path) -> io::Result<()> {
    let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    let wrong = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    if !path.is_absolute() || !path.components().all(plain) {
        return wrong("it is not an absolute path without `.` and `..`");
    }
    if PRIVATE.iter().any(|private| path == Path::new(private)) || path.starts_with(SCRATCH) {
        return wrong("the sandbox has its own");
    }
    if ["/proc", "/dev", "/sys"].iter().any(|system| path.starts_with(system)) {
        return wrong("it belongs to the kernel");
    }
    if depth(path) > DEEPEST {
        return wrong("it is too deep");
    }
    fs::metadata(path).map(|_| ())
}

fn depth(path: &Path) -> usize {
    path.components().count()
}

/// With a directory for every parent that nothing else makes: bubblewrap makes some of those it needs
/// readable for nobody else.
fn with_parents(mounts: Vec<Mount>) -> Vec<Mount> {
    let mut plan: Vec<Mount> = Vec::new();
    let mut made: BTreeSet<PathBuf> = BTreeSet::from(["/".into()]);
    for mount in mounts {
        let parents: Vec<&Path> = mount.at().ancestors().skip(1).collect();
        for parent in parents.into_iter().rev() {
            // What is inside of a directory of the machine is there already.
            let inside = |m: &Mount| {
                matches!(
                    m,
                    Mount::Readable(_)
                        | Mount::Writable(_)
                        | Mount::Symlink { .. }
                        | Mount::Devices
                ) && parent.starts_with(m.at())
            };
            if !made.contains(parent) && !plan.iter().any(inside) {
                plan.push(Mount::Directory(parent.to_owned()));
                made.insert(parent.to_owned());
            }
        }
        made.insert(mount.at().to_owned());
        plan.push(mount);
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(readable: &[&str], writable: &[&str]) -> Vec<Mount> {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        let policy =
            Policy { readable: paths(readable), writable: paths(writable), ..Policy::default() };
        mount_plan(&policy).expect("a plan")
    }

    #[test]
    fn nothing_is_mounted_before_what_is_above_it() {
        let plan = plan(&["/usr/bin", "/var/lib"], &["/usr", "/var"]);
        for (index, mount) in plan.iter().enumerate() {
            let later = &plan[index + 1..];
            assert!(!later.iter().any(|l| mount.at().starts_with(l.at())), "{mount:?} is hidden");
        }
        let position = |wanted: &Mount| plan.iter().position(|m| m == wanted).expect("it is there");
        let (above, inside) = (Mount::Writable("/usr".into()), Mount::Readable("/usr/bin".into()));
        assert!(position(&above) < position(&inside));
    }

    #[test]
    fn every_parent_exists_and_homes_do_not() {
        let plan = plan(&[], &[]);
        assert!(plan.contains(&Mount::Directory("/var".into())), "{plan:?}");
        for hidden in ["/home", "/root", "/srv", "/mnt", "/var/mail", "/var/log", "/sys"] {
            assert!(!plan.iter().any(|m| m.at() == Path::new(hidden)), "{hidden}");
        }
        for above in ["/var", "/var/lib", "/var/cache"] {
            let mut shown = plan.iter().filter(|mount| mount.at() == Path::new(above));
            assert!(shown.all(|mount| matches!(mount, Mount::Directory(_))), "{plan:?}");
        }
    }

    #[test]
    fn what_cannot_be_shown_is_refused() {
        for path in ["relative", "/", "/tmp", "/usr/../home", "/proc/self", "/dev/null", "/no/such"]
        {
            let policy = Policy { readable: vec![path.into()], ..Policy::default() };
            let error = mount_plan(&policy).expect_err(path);
            assert!(matches!(error, SandboxError::Path { .. }), "{error}");
        }
    }
}
