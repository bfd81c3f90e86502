//! Mounts in a mount namespace of our own: thin names for the few kinds that a sandbox needs.

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind_recursive, unmount};
use std::ffi::{CString, c_uint};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// What a mount shall not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MountRights {
    ReadOnly,
    /// Neither devices nor programs of other users.
    Write,
    Device,
}

/// Shows `source`, with all that is mounted below it, at `target`.
pub(crate) fn bind(source: &Path, target: &Path, rights: MountRights) -> Result<(), Errno> {
    mount_bind_recursive(source, target)?;
    let recursive = libc::AT_RECURSIVE as c_uint;
    set(target, rights, recursive)
}

/// Changes one mount, and none below it.
pub(crate) fn make_read_only(target: &Path) -> Result<(), Errno> {
    set_attributes(target, libc::MOUNT_ATTR_RDONLY, 0)
}

fn set(target: &Path, rights: MountRights, flags: c_uint) -> Result<(), Errno> {
    let set = match rights {
        MountRights::ReadOnly => {
            libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV
        }
        MountRights::Write => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
        MountRights::Device => libc::MOUNT_ATTR_NOSUID,
    };
    set_attributes(target, set, flags)
}

fn set_attributes(path: &Path, set: u64, flags: c_uint) -> Result<(), Errno> {
    let attributes = libc::mount_attr { attr_set: set, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)?;
    // SAFETY: the path ends in NUL, and the structure has the size that is given with it.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            CWD.as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 {
        return Ok(());
    }
    Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
}

/// An empty file system in memory. `options` as in `mount -o`.
pub(crate) fn mount_memory(target: &Path, options: &str) -> Result<(), Errno> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount_with("tmpfs", target, flags, options)
}

/// The processes of this process's namespace.
pub(crate) fn mount_processes(target: &Path) -> Result<(), Errno> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount_with("proc", target, flags, "")
}

/// Terminals that nobody outside has.
pub(crate) fn mount_terminals(target: &Path) -> Result<(), Errno> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount_with("devpts", target, flags, "newinstance,ptmxmode=0666,mode=620")
}

fn mount_with(kind: &str, target: &Path, flags: MountFlags, options: &str) -> Result<(), Errno> {
    let options = CString::new(options).map_err(|_| Errno::INVAL)?;
    mount(kind, target, kind, flags, options.as_c_str())
}

/// Takes a mount away, with all below it, as soon as nothing uses it.
pub(crate) fn detach(target: &Path) -> Result<(), Errno> {
    unmount(target, UnmountFlags::DETACH)
}
