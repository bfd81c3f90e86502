//! Whether a user without any right reaches what a policy names. In namespaces everything is mounted
//! where it does; elsewhere a directory on the way, such as root's home, may be closed to others. Then
//! commands stay root, without its capabilities, because they could not even be started otherwise.

use super::confinement::Confinement;
use super::policy::Policy;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const READ: u32 = 0o4;
const WRITE: u32 = 0o2;
const ENTER: u32 = 0o1;

pub(super) fn user_can_be_dropped(confinement: &Confinement, policy: &Policy) -> bool {
    confinement.has_namespaces()
        || (policy.readable.iter().all(|path| is_open(path, READ))
            && policy.writable.iter().all(|path| is_open(path, READ | WRITE)))
}

/// Whether everyone has these rights to a file or directory, and can get there.
fn is_open(path: &Path, rights: u32) -> bool {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let enter = if real.is_dir() { ENTER } else { 0 };
    let ways = path.ancestors().skip(1).chain(real.ancestors().skip(1));
    has(&real, rights | enter)
        && ways.filter(|way| !way.as_os_str().is_empty()).all(|way| has(way, ENTER))
}

fn has(path: &Path, rights: u32) -> bool {
    path.metadata().is_ok_and(|found| found.permissions().mode() & rights == rights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};

    #[test]
    fn a_closed_directory_on_the_way_is_noticed() {
        let directory = tempfile::tempdir_in("/tmp").unwrap();
        let inner = directory.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::set_permissions(&inner, Permissions::from_mode(0o755)).unwrap();
        let reading = Policy { readable: vec![inner.clone()], ..Policy::default() };
        let writing = Policy { writable: vec![inner], ..Policy::default() };
        let mode =
            |mode| fs::set_permissions(directory.path(), Permissions::from_mode(mode)).unwrap();
        mode(0o700);
        assert!(!user_can_be_dropped(&Confinement::Landlock, &reading));
        assert!(user_can_be_dropped(&Confinement::Namespaces, &reading));
        mode(0o711);
        assert!(user_can_be_dropped(&Confinement::Landlock, &reading));
        assert!(!user_can_be_dropped(&Confinement::None, &writing));
    }
}
