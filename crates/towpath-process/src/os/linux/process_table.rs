//! The table of processes, read from `/proc`, and signals sent by identity: a process is its number
//! *and* its start time, so that a number given to someone else meanwhile is never hit.

use rustix::process::{Pid, PidfdFlags, Signal, geteuid, pidfd_open, pidfd_send_signal};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use towpath_core::Secrets;

/// A process beyond doubt: its number, and its start in clock ticks since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ProcessKey {
    pub pid: i32,
    pub started: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub key: ProcessKey,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    state: u8,
    threads: u32,
    has_memory: bool,
}

impl Process {
    /// A zombie is dead, unless only its first thread has ended.
    pub fn lives(&self) -> bool {
        match self.state {
            b'Z' => self.threads > 1,
            b'X' | b'x' => false,
            _ => true,
        }
    }

    /// Has given up its memory and will run no further instruction of its program.
    pub fn is_dying(&self) -> bool {
        !self.has_memory
    }

    /// How many threads it has.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    pub fn is_stopped(&self) -> bool {
        self.state == b'T'
    }

    /// Waits in the kernel where no signal reaches it, such as for a disk that does not answer.
    pub fn hangs(&self) -> bool {
        self.state == b'D'
    }
}

pub(crate) fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

pub(crate) fn all_processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(process).collect()
}

pub(crate) fn process(pid: i32) -> Option<Process> {
    // A stat line has at most some 350 bytes; a short read would lose the start time.
    let mut buffer = [0; 1024];
    let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut buffer).ok()?;
    parse_stat(pid, &buffer[..length])
}

/// The name in parentheses may itself contain spaces, parentheses and any byte: fields are counted
/// from the last `)`.
fn parse_stat(pid: i32, line: &[u8]) -> Option<Process> {
    let after = line.iter().rposition(|&b| b == b')')? + 1;
    let fields: Vec<&str> = str::from_utf8(&line[after..]).ok()?.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<i32>().ok();
    Some(Process {
        key: ProcessKey { pid, started: fields.get(19)?.parse().ok()? },
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        state: *fields.first()?.as_bytes().first()?,
        threads: fields.get(17)?.parse().ok()?,
        has_memory: *fields.get(20)? != "0",
    })
}

/// Processes whose parent this one is, by any of its threads.
pub(crate) fn children_of(parent: i32) -> Vec<i32> {
    listed_children(parent).unwrap_or_else(|| {
        let table = all_processes().into_iter();
        table.filter(|p| p.parent == parent).map(|p| p.key.pid).collect()
    })
}

/// `None` where the kernel is built without these lists, or the process is gone.
fn listed_children(parent: i32) -> Option<Vec<i32>> {
    let mut children = Vec::new();
    for thread in fs::read_dir(format!("/proc/{parent}/task")).ok()? {
        let text = fs::read_to_string(thread.ok()?.path().join("children")).ok()?;
        children.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    Some(children)
}

/// The processes of this user that have a file open with an `flock` on it, the file known by device
/// and number.
pub(crate) fn lock_holders(device: u64, inode: u64) -> Vec<ProcessKey> {
    let has_lock = |process: &Process| {
        let pid = process.key.pid;
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.into_iter().any(|file| {
            let same = |m: fs::Metadata| (m.dev(), m.ino()) == (device, inode);
            let details = format!("/proc/{pid}/fdinfo/{}", file.file_name().display());
            fs::metadata(file.path()).is_ok_and(same)
                && fs::read_to_string(details).is_ok_and(|text| text.contains("FLOCK"))
        })
    };
    let living = all_processes().into_iter().filter(Process::lives);
    living.filter(has_lock).map(|process| process.key).collect()
}

/// The environment a process of this user was executed with; `None` when it cannot be known, which
/// may be for a moment only, while the process is executing.
pub(crate) fn environment_of(pid: i32) -> Option<Vec<u8>> {
    let path = format!("/proc/{pid}/environ");
    let file = File::open(path).ok()?;
    if file.metadata().ok()?.uid() != geteuid().as_raw() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(8 << 20).read_to_end(&mut bytes).ok()?;
    (!bytes.is_empty()).then_some(bytes)
}

/// The command line as users see it: one line, cut, without control characters. Masked before it
/// is cut, because half a secret would not be known as one.
pub(crate) fn command_of(pid: i32, secrets: &Secrets) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(format!("/proc/{pid}/cmdline")) {
        let _ = file.take(1000).read_to_end(&mut bytes);
    }
    if bytes.is_empty() {
        return name_of(pid, secrets);
    }
    one_line(&bytes, secrets)
}

/// Its short name alone, which can be read of a process that hangs in the kernel or is dead.
pub(crate) fn name_of(pid: i32, secrets: &Secrets) -> String {
    one_line(&fs::read(format!("/proc/{pid}/comm")).unwrap_or_default(), secrets)
}

fn one_line(bytes: &[u8], secrets: &Secrets) -> String {
    let bytes = secrets.mask_bytes(bytes);
    let words = String::from_utf8_lossy(&bytes);
    let line = words.trim_end_matches(['\0', '\n']).replace(|c: char| c.is_control(), " ");
    line.chars().take(200).collect()
}

/// Sends to exactly this process; nothing happens when it is gone.
pub(crate) fn signal(key: ProcessKey, signal: Signal) {
    let Some(pid) = Pid::from_raw(key.pid) else { return };
    let handle = pidfd_open(pid, PidfdFlags::empty());
    // The handle is taken first and the start time read after: if it is still the old one, the
    // handle can only be of that same process.
    if process(key.pid).is_none_or(|now| now.key != key) {
        return;
    }
    let _ = match handle {
        Ok(handle) => pidfd_send_signal(handle, signal),
        Err(_) => rustix::process::kill_process(pid, signal),
    };
}

/// Sends to a child of this process that it has not reaped: until then the number is the child's.
pub(crate) fn signal_child(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Sends to all of a group at once, which no fork inside the group can outrun. The caller knows
/// that the group's number is not free.
pub(crate) fn signal_group(group: i32, signal: Signal) {
    if let Some(group) = Pid::from_raw(group).filter(|_| group > 1) {
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let line = b"7 (a) R (b\xff) S 1 7 6 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 3 0 12345 1 1";
        let found = parse_stat(7, line).expect("a stat line");
        assert_eq!(found.key, ProcessKey { pid: 7, started: 12345 });
        assert_eq!((found.parent, found.group, found.session), (1, 7, 6));
        assert!(found.lives() && found.threads == 3);
    }

    #[test]
    fn a_zombie_lives_while_other_threads_run() {
        let line = |threads| format!("7 (a) Z 1 7 6 0 -1 0 1 0 0 0 0 0 0 0 20 0 {threads} 0 1 1 1");
        assert!(!parse_stat(7, line(1).as_bytes()).expect("stat").lives());
        assert!(parse_stat(7, line(2).as_bytes()).expect("stat").lives());
    }

    #[test]
    fn this_process_is_in_the_table() {
        let own = process(own_pid()).expect("own entry");
        assert!(all_processes().iter().any(|p| p.key == own.key && p.lives()));
    }

    #[test]
    fn a_signal_to_a_reused_number_is_not_sent() {
        let own = process(own_pid()).expect("own entry");
        signal(ProcessKey { started: own.key.started + 1, ..own.key }, Signal::KILL);
    }
}
