//! What separates a process from the rest of its user: a user namespace, and keys of its own.

use rustix::io::Errno;
use rustix::process::{DumpableBehavior, getegid, geteuid, set_dumpable_behavior};
use std::{fs, io};

/// Moves this process, with one thread, into a user namespace in which it is the same user. It has every
/// capability there, and gives them up next.
pub(crate) fn own_user_namespace() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    // SAFETY: a plain call of a process with one thread.
    if unsafe { libc::unshare(libc::CLONE_NEWUSER) } < 0 {
        return Err(io::Error::last_os_error());
    }
    write_maps(user, group)
}

/// Maps this user and group to themselves.
pub(crate) fn write_maps(user: u32, group: u32) -> io::Result<()> {
    // A process whose user has changed cannot write its own files in `/proc` otherwise.
    set_dumpable_behavior(DumpableBehavior::Dumpable)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))
}

/// Gives up the keys of the user's session in the kernel, for this process and all that comes of it.
pub(crate) fn leave_session_keys() {
    const JOIN_SESSION_KEYRING: libc::c_long = 1;
    // SAFETY: without a name the call reads no memory. Where it is refused, there are no keys either.
    unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, std::ptr::null::<u8>()) };
}

/// Whether this kernel counts the processes of a user in each user namespace apart (since 5.14).
pub(crate) fn counts_by_namespace() -> bool {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let mut next = || numbers.next().and_then(Result::ok).ok_or(Errno::INVAL);
    matches!((next(), next()), (Ok(major), Ok(minor)) if (major, minor) >= (5, 14))
}
