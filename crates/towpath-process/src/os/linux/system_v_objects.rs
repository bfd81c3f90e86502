//! System V shared memory, semaphores and message queues: they outlive the processes that made them.

use std::fs;
use std::ptr;

/// Removes every one that this process may remove, in an IPC namespace of our own; whether none is left.
pub(crate) fn remove_system_v_objects() -> bool {
    for (kind, remove) in KINDS {
        for id in identifiers(kind) {
            remove(id);
        }
    }
    KINDS.iter().all(|(kind, _)| identifiers(kind).is_empty())
}

/// The name of its table, and what removes one.
type Kind = (&'static str, fn(i32));

const KINDS: [Kind; 3] =
    [("shm", remove_memory), ("sem", remove_semaphores), ("msg", remove_queue)];

/// The second column, below the line of titles.
fn identifiers(kind: &str) -> Vec<i32> {
    let table = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
    let id = |line: &str| line.split_ascii_whitespace().nth(1)?.parse().ok();
    table.lines().skip(1).filter_map(id).collect()
}

fn remove_memory(id: i32) {
    // SAFETY: removing reads no memory of ours.
    unsafe { libc::shmctl(id, libc::IPC_RMID, ptr::null_mut()) };
}

fn remove_semaphores(id: i32) {
    // SAFETY: removing takes no further argument.
    unsafe { libc::semctl(id, 0, libc::IPC_RMID) };
}

fn remove_queue(id: i32) {
    // SAFETY: removing reads no memory of ours.
    unsafe { libc::msgctl(id, libc::IPC_RMID, ptr::null_mut()) };
}
