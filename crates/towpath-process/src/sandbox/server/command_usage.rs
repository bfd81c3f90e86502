//! How much memory and how many threads a command's processes have now. The pages of files are not
//! counted: they are shared, and the kernel takes them back when it needs them.

use crate::os::{self, Process};
use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub memory: u64,
    pub threads: u64,
}

/// Of every process but this one, in a process namespace of our own.
pub(super) fn usage_of_namespace() -> Usage {
    let own = os::own_pid();
    sum(os::all_processes().into_iter().filter(|process| process.key.pid != own))
}

/// Of everything below this process.
pub(super) fn usage_of_descendants() -> Usage {
    let (mut open, mut met) = (vec![os::own_pid()], HashSet::new());
    while let Some(pid) = open.pop() {
        open.extend(os::children_of(pid).into_iter().filter(|child| met.insert(*child)));
    }
    sum(met.into_iter().filter_map(os::process))
}

/// Of everything that this user runs on the machine, as far as it is visible.
pub(super) fn threads_of_user(user: u32) -> u64 {
    let is_theirs = |process: &Process| user_of(&status_of(process.key.pid)) == Some(user);
    os::all_processes().iter().filter(|p| is_theirs(p)).map(|p| u64::from(p.threads())).sum()
}

fn user_of(status: &str) -> Option<u32> {
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_ascii_whitespace().next()?.parse().ok()
}

fn sum(processes: impl Iterator<Item = Process>) -> Usage {
    let mut usage = Usage::default();
    for process in processes.filter(Process::lives) {
        usage.threads += u64::from(process.threads());
        usage.memory = usage.memory.saturating_add(memory_of(process.key.pid));
    }
    usage
}

fn memory_of(pid: i32) -> u64 {
    own_memory(&status_of(pid))
}

fn status_of(pid: i32) -> String {
    // In one piece, as the kernel makes it: each read would make all of it again.
    let mut bytes = vec![0; 8 << 10];
    let file = File::open(format!("/proc/{pid}/status"));
    let length = file.and_then(|mut file| file.read(&mut bytes)).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

fn own_memory(status: &str) -> u64 {
    let counted = ["RssAnon:", "RssShmem:", "VmSwap:"];
    let kilobytes = |line: &str| {
        let value = counted.iter().find_map(|name| line.strip_prefix(name))?;
        value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    status.lines().filter_map(kilobytes).map(|kb| kb.saturating_mul(1024)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_memory_that_is_a_processs_own_is_counted() {
        let status = "Name:\tRssAnon: 9 kB\nVmRSS:\t 900 kB\nRssAnon:\t  10 kB\nRssFile:\t 800 kB\n\
                      RssShmem:\t 2 kB\nVmSwap:\t 1 kB\nThreads:\t4\n";
        assert_eq!(own_memory(status), 13 * 1024);
        assert!(memory_of(os::own_pid()) > 0);
    }

    #[test]
    fn this_process_is_counted_for_its_user() {
        let own = rustix::process::getuid().as_raw();
        assert_eq!(user_of(&status_of(os::own_pid())), Some(own));
        assert!(threads_of_user(own) >= 1);
    }
}
