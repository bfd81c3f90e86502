//! The names of the errors with which the kernel refuses to execute a file.

use rustix::io::Errno;

const NAMES: &[(Errno, &str)] = &[
    (Errno::TOOBIG, "E2BIG"),
    (Errno::ACCESS, "EACCES"),
    (Errno::AGAIN, "EAGAIN"),
    (Errno::FAULT, "EFAULT"),
    (Errno::INVAL, "EINVAL"),
    (Errno::IO, "EIO"),
    (Errno::ISDIR, "EISDIR"),
    (Errno::LIBBAD, "ELIBBAD"),
    (Errno::LOOP, "ELOOP"),
    (Errno::MFILE, "EMFILE"),
    (Errno::NAMETOOLONG, "ENAMETOOLONG"),
    (Errno::NFILE, "ENFILE"),
    (Errno::NOENT, "ENOENT"),
    (Errno::NOEXEC, "ENOEXEC"),
    (Errno::NOMEM, "ENOMEM"),
    (Errno::NOTDIR, "ENOTDIR"),
    (Errno::PERM, "EPERM"),
    (Errno::STALE, "ESTALE"),
    (Errno::TXTBSY, "ETXTBSY"),
];

/// Its symbol, or `E` and its number where it is not in the list.
pub(super) fn errno_name(errno: Errno) -> String {
    let known = NAMES.iter().find(|(known, _)| *known == errno);
    known.map_or_else(|| format!("E{}", errno.raw_os_error()), |(_, name)| (*name).to_owned())
}
