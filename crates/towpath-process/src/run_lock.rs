//! One owner per run: an `flock` on a file, held by engine and warden together because both have
//! the same open file. It is given back by the end of the last of them, however it came, and never
//! by hand. The file's text only names the owner; the lock alone decides.

use crate::os::{self, ProcessKey};
use rustix::fs::{FlockOperation, Mode, OFlags, Stat, flock, fstat, open, stat};
use rustix::io::Errno;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often a lock is tried that is taken.
const PAUSE: Duration = Duration::from_millis(5);
/// After so many tries its holders are continued.
const WAKE_EVERY: u32 = 40;

/// The lock, held as long as this value or a copy of its file in a warden lives.
#[derive(Debug)]
pub struct RunLock {
    file: File,
}

#[derive(Debug)]
pub enum Acquire {
    Acquired(RunLock),
    Locked(Holder),
}

/// The owner of a lock, as its file names it; empty when the file cannot be read as ours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holder {
    pub pid: Option<u32>,
    pub host: Option<String>,
    /// Seconds since 1970.
    pub since: Option<u64>,
    /// Whether that process still runs on this machine. If not, its warden is still ending what it
    /// left, and the lock will be free within seconds.
    pub runs: bool,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.pid, &self.host) {
            (Some(pid), Some(host)) => write!(f, "process {pid} on {host}"),
            (Some(pid), None) => write!(f, "process {pid}"),
            _ => f.write_str("another process"),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Note {
    pid: u32,
    /// The process's start by the kernel's clock: the number alone could be someone else's.
    started: u64,
    host: String,
    since: u64,
}

impl RunLock {
    /// Takes the lock, creating its file (mode 0600), or returns its owner.
    pub fn try_acquire(path: &Path) -> io::Result<Acquire> {
        loop {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
            let file = open(path, flags, Mode::from_raw_mode(0o600))?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Ok(Acquire::Locked(read_holder(&file.into()))),
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno.into()),
            }
            // A file deleted meanwhile protects nothing: the next one would lock another.
            if is_named(&fstat(&file)?, path) {
                let lock = RunLock { file: file.into() };
                lock.write_note()?;
                return Ok(Acquire::Acquired(lock));
            }
        }
    }

    /// Whether this is still the file at `path`. One that was deleted or replaced locks nobody out.
    pub fn has_its_path(&self, path: &Path) -> bool {
        fstat(&self.file).is_ok_and(|ours| is_named(&ours, path))
    }

    /// The owner of the lock, as far as its file names it; `None` if that process is gone. For looking:
    /// it neither creates nor locks anything, so it cannot come between two owners.
    pub fn holder(path: &Path) -> Option<Holder> {
        RunLock::last_holder(path).filter(|holder| holder.runs)
    }

    /// The last owner of the lock, also when that process is gone.
    pub fn last_holder(path: &Path) -> Option<Holder> {
        File::open(path).ok().map(|file| read_holder(&file))
    }

    /// The processes that have the lock, whatever its file names: an engine, its warden, or both.
    pub fn holders(path: &Path) -> Vec<u32> {
        lock_owners(path).into_iter().map(|key| key.pid.unsigned_abs()).collect()
    }

    /// As `try_acquire`, and waits for a holder to end, at most this long. A holder that is stopped
    /// could never end: it is continued.
    pub fn wait_acquire(path: &Path, timeout: Duration) -> io::Result<Acquire> {
        let end = Instant::now() + timeout;
        let mut round = 0_u32;
        loop {
            let tried = RunLock::try_acquire(path)?;
            if matches!(tried, Acquire::Acquired(_)) || Instant::now() >= end {
                return Ok(tried);
            }
            if round.is_multiple_of(WAKE_EVERY) {
                RunLock::continue_holders(path);
            }
            round = round.wrapping_add(1);
            std::thread::sleep(PAUSE);
        }
    }

    /// Continues the processes that have the lock and are stopped.
    pub fn continue_holders(path: &Path) {
        for key in lock_owners(path) {
            os::signal(key, Signal::CONT);
        }
    }

    /// Ends, at once, the processes that have the lock: first the owner that its file names, whose warden then
    /// ends what is left and itself; after `patience` every holder.
    pub fn end_holders(path: &Path, patience: Duration) -> io::Result<()> {
        let owner = RunLock::holder(path).and_then(|holder| holder.pid);
        for key in lock_owners(path).iter().filter(|key| Some(key.pid.unsigned_abs()) == owner) {
            os::signal(*key, Signal::KILL);
        }
        if let Acquire::Locked(_) = RunLock::wait_acquire(path, patience)? {
            for key in lock_owners(path) {
                os::signal(key, Signal::KILL);
            }
        }
        Ok(())
    }

    fn write_note(&self) -> io::Result<()> {
        let pid = os::own_pid();
        let note = Note {
            pid: pid.unsigned_abs(),
            started: os::process(pid).map_or(0, |p| p.key.started),
            host: host(),
            since: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()),
        };
        let text = serde_json::to_vec(&note)?;
        // Never empty: a reader would think meanwhile that nobody has it.
        self.file.write_all_at(&text, 0)?;
        self.file.set_len(text.len() as u64)
    }
}

impl AsFd for RunLock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn is_named(ours: &Stat, path: &Path) -> bool {
    stat(path).is_ok_and(|named| (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino))
}

/// Never this process.
fn lock_owners(path: &Path) -> Vec<ProcessKey> {
    let Ok(file) = stat(path) else { return Vec::new() };
    let mut owners = os::lock_holders(file.st_dev, file.st_ino);
    owners.retain(|key| key.pid != os::own_pid());
    owners
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn read_holder(mut file: &File) -> Holder {
    let mut text = Vec::new();
    let read = file.by_ref().take(4096).read_to_end(&mut text);
    let note = read.ok().and_then(|_| serde_json::from_slice::<Note>(&text).ok());
    note.map_or_else(Holder::default, |note| {
        let process = i32::try_from(note.pid).ok().and_then(os::process);
        let same = process.is_some_and(|p| p.lives() && p.key.started == note.started);
        Holder {
            runs: same && note.host == host(),
            pid: Some(note.pid),
            host: Some(note.host),
            since: Some(note.since),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_second_owner_is_refused_and_learns_who_the_first_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("lock");
        let Acquire::Acquired(lock) = RunLock::try_acquire(&path).expect("lock") else {
            panic!("nobody locked it")
        };
        let mode = std::fs::metadata(&path).expect("file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let Acquire::Locked(holder) = RunLock::try_acquire(&path).expect("lock") else {
            panic!("two owners")
        };
        assert_eq!(holder.pid, Some(std::process::id()));
        assert!(holder.runs && holder.since.is_some());
        drop(lock);
        let again = RunLock::wait_acquire(&path, Duration::from_secs(5)).expect("lock");
        assert!(matches!(again, Acquire::Acquired(_)));
    }

    #[test]
    fn a_deleted_file_locks_nobody_out_and_a_new_one_is_its_own_lock() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("lock");
        let first = RunLock::try_acquire(&path).expect("lock");
        assert!(matches!(first, Acquire::Acquired(_)));
        std::fs::remove_file(&path).expect("delete");
        let second = RunLock::try_acquire(&path).expect("lock");
        assert!(matches!(second, Acquire::Acquired(_)));
        assert!(matches!(RunLock::try_acquire(&path).expect("lock"), Acquire::Locked(_)));
    }

    #[test]
    fn the_holders_are_those_that_have_the_lock_and_not_those_that_look() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("lock");
        let script = "exec 9> \"$1\"; flock 9; echo held; read _";
        let mut bash = std::process::Command::new("bash")
            .args(["-c", script, "_"])
            .arg(&path)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("bash");
        let mut line = [0; 5];
        bash.stdout.take().expect("a pipe").read_exact(&mut line).expect("it holds the lock");
        let _looking = File::open(&path).expect("the file");
        assert_eq!(RunLock::holders(&path), [bash.id()]);
        RunLock::end_holders(&path, Duration::ZERO).expect("a lock");
        bash.wait().expect("it ends");
        assert!(RunLock::holders(&path).is_empty());
    }

    #[test]
    fn a_foreign_text_in_the_file_is_no_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("lock");
        let _held = RunLock::try_acquire(&path).expect("lock");
        std::fs::write(&path, "what?").expect("write");
        let Acquire::Locked(holder) = RunLock::try_acquire(&path).expect("lock") else {
            panic!("two owners")
        };
        assert_eq!(holder, Holder::default());
        assert_eq!(holder.to_string(), "another process");
    }
}
