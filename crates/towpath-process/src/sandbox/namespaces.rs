//! What bubblewrap does, by our own calls, for machines that do not have it: namespaces, and a root with
//! nothing in it but the mounts of the plan. The process that begins stays outside and waits; its child
//! is the first process inside, and continues as the server.

use super::error::SandboxError;
use super::mount_plan::{Mount, mount_plan};
use super::policy::Policy;
use crate::os::{self, MountRights, Signals};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, geteuid, umask, waitpid};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

/// Where the root is built: any directory that every machine has. What is in it is seen again below
/// `OLD` as soon as the root has moved.
const BASE: &str = "/tmp";
const OLD: &str = "/old";
const NEW: &str = "/new";

const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const DEVICE_LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Returns in the first process of the new namespaces, and never in the process that called it.
pub(super) fn enter_namespaces(policy: &Policy) -> Result<(), String> {
    let is_root = geteuid().is_root();
    let plan = mount_plan(policy).map_err(|error: SandboxError| error.to_string())?;
    let sources = Sources::find(plan).map_err(|error| error.to_string())?;
    os::new_namespaces(policy.network, !is_root)
        .map_err(|error| format!("no new namespaces: {error}"))?;
    if let Some(child) = os::fork().map_err(|errno| format!("no process inside: {errno}"))? {
        wait_outside(child);
    }
    let mut doing = "the root";
    sources
        .mount_all(is_root && !policy.drop_user, &mut doing)
        .map_err(|error| format!("cannot mount {doing}: {error}"))?;
    if !policy.network {
        os::start_loopback().map_err(|errno| format!("no loopback: {errno}"))?;
    }
    Ok(())
}

/// Ends when the child does. What a terminal sends to this process is the server's business.
fn wait_outside(child: Pid) -> ! {
    let _signals = Signals::take_over();
    loop {
        match waitpid(Some(child), WaitOptions::empty()) {
            Err(Errno::INTR) => {}
            _ => os::exit_now(0),
        }
    }
}

/// The plan with the files that its mounts show, found while the machine's own root is in force.
struct Sources(Vec<(Mount, PathBuf)>);

impl Sources {
    fn find(plan: Vec<Mount>) -> io::Result<Sources> {
        let source = |mount: &Mount| match mount {
            Mount::Readable(path) | Mount::Writable(path) => fs::canonicalize(path),
            _ => Ok(PathBuf::new()),
        };
        let found = plan.into_iter().map(|mount| Ok((source(&mount)?, mount)));
        found
            .map(|found| found.map(|(source, mount)| (mount, source)))
            .collect::<io::Result<_>>()
            .map(Sources)
    }

    fn mount_all(&self, protects_kernel: bool, doing: &mut &'static str) -> io::Result<()> {
        let before = umask(Mode::empty());
        os::mount_memory(Path::new(BASE), "mode=755")?;
        for path in [OLD, NEW] {
            make_directory(&Path::new(BASE).join(&path[1..]))?;
        }
        rustix::process::pivot_root(BASE, format!("{BASE}{OLD}"))?;
        rustix::process::chdir("/")?;
        os::mount_memory(Path::new(NEW), "mode=755")?;
        for (mount, source) in &self.0 {
            *doing = name(mount);
            make(mount, source)?;
        }
        *doing = "the root";
        if protects_kernel {
            os::make_read_only(&inside(Path::new("/proc")))?;
        }
        for path in ["/dev", "/"] {
            os::make_read_only(&inside(Path::new(path)))?;
        }
        rustix::process::chdir(NEW)?;
        rustix::process::pivot_root(".", ".")?;
        // The old root, with the one that was in between.
        os::detach(Path::new("."))?;
        rustix::process::chdir("/")?;
        umask(before);
        Ok(())
    }
}

fn name(mount: &Mount) -> &'static str {
    match mount {
        Mount::Directory(_) | Mount::Symlink { .. } => "a directory of the root",
        Mount::Readable(_) | Mount::Writable(_) => "a visible path",
        Mount::Temporary { .. } => "temporary files",
        Mount::Processes => "/proc",
        Mount::Devices => "/dev",
    }
}

/// A path of the sandbox, while its root is still below ours.
fn inside(path: &Path) -> PathBuf {
    below(NEW, path)
}

fn below(root: &str, path: &Path) -> PathBuf {
    Path::new(root).join(path.strip_prefix("/").unwrap_or(path))
}

fn make(mount: &Mount, source: &Path) -> io::Result<()> {
    let at = inside(mount.at());
    match mount {
        Mount::Directory(_) => make_directory(&at),
        Mount::Symlink { target, .. } => symlink(target, &at),
        Mount::Readable(_) => show(source, &at, MountRights::ReadOnly),
        Mount::Writable(_) => show(source, &at, MountRights::Write),
        Mount::Temporary { bytes, .. } => {
            make_directory(&at)?;
            // Zero bytes would mean: without a limit.
            Ok(os::mount_memory(&at, &format!("mode=1777,size={}", bytes.max(&1)))?)
        }
        Mount::Processes => {
            make_directory(&at)?;
            Ok(os::mount_processes(&at)?)
        }
        Mount::Devices => make_devices(&at),
    }
}

fn make_directory(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o755).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done,
    }
}

/// Shows a file or a directory of the machine.
fn show(source: &Path, at: &Path, rights: MountRights) -> io::Result<()> {
    let source = below(OLD, source);
    match fs::metadata(&source)?.is_dir() {
        true => make_directory(at)?,
        // One that is there already is inside of a directory of the machine.
        false if at.exists() => {}
        false => drop(File::create_new(at)?),
    }
    Ok(os::bind(&source, at, rights)?)
}

fn make_devices(at: &Path) -> io::Result<()> {
    make_directory(at)?;
    os::mount_memory(at, "mode=755,size=1m")?;
    for device in DEVICES {
        show(&Path::new("/dev").join(device), &at.join(device), MountRights::Device)?;
    }
    for (name, target) in DEVICE_LINKS {
        symlink(target, at.join(name))?;
    }
    let terminals = at.join("pts");
    make_directory(&terminals)?;
    Ok(os::mount_terminals(&terminals)?)
}
