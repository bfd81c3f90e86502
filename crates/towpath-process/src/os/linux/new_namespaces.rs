//! Namespaces of our own for a process and all that comes of it.

use super::own_user_namespace::write_maps;
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{getegid, geteuid};
use std::ffi::{c_char, c_int, c_short};
use std::io;

/// Moves this process, with one thread, into new namespaces for mounts, IPC and names, and for the
/// network unless it is shared; its next child is the first of a new process namespace. With a user
/// namespace where it could do none of that otherwise. Mounts made from now on are seen by nobody else.
pub(crate) fn new_namespaces(shares_network: bool, with_user: bool) -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let mut kinds =
        libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
    if !shares_network {
        kinds |= libc::CLONE_NEWNET;
    }
    if with_user {
        unshare(libc::CLONE_NEWUSER)?;
        write_maps(user, group)?;
    }
    unshare(kinds)?;
    // Not every kernel has it, and it only hides names.
    let _ = unshare(libc::CLONE_NEWCGROUP);
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    Ok(())
}

fn unshare(kinds: c_int) -> io::Result<()> {
    // SAFETY: a plain call.
    match unsafe { libc::unshare(kinds) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Lets programs talk to themselves in a network namespace that has no other network.
pub(crate) fn start_loopback() -> Result<(), Errno> {
    use rustix::net::{AddressFamily, SocketType, socket};
    use std::os::fd::AsRawFd as _;
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // SAFETY: the structure is the one that both calls take, with a name that ends in NUL.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (target, byte) in request.ifr_name.iter_mut().zip(b"lo") {
            *target = *byte as c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &request) < 0 {
            let error = io::Error::last_os_error();
            return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
        }
    }
    Ok(())
}
