//! The mechanism that is found is one that works, and what it leaves open is listed.

use super::*;
use std::ffi::OsStr;
use towpath_process::sandbox::find_confinement;

/// With bubblewrap on the path it is bubblewrap, and without it our own namespaces.
pub fn the_strongest_is_found(kind: Kind) {
    let directory = bubblewrap().parent().expect("a directory").to_owned();
    let path = (kind == Kind::Bubblewrap).then_some(directory.as_os_str());
    let found = find_confinement(&own_program(), path).expect("a mechanism");
    assert_eq!(found, kind.confinement());
    assert_eq!(found.as_str(), format!("{kind:?}").to_lowercase());
    let broken = outside();
    let program = broken.path().join("bwrap");
    std::fs::write(&program, "#!/bin/sh\nexit 1\n").expect("a file");
    open_to_all(&program, 0o755);
    let found = find_confinement(&own_program(), Some(broken.path().as_os_str()));
    assert_eq!(found.expect("a mechanism"), Confinement::Namespaces, "one that fails is no choice");
    let error = find_confinement(Path::new("/bin/false"), Some(OsStr::new("/no/such:relative")))
        .expect_err("no server, no sandbox");
    let names: Vec<&str> = error.attempts.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["bubblewrap", "namespaces", "landlock"]);
    assert!(error.to_string().contains("`bwrap` is not installed"), "{error}");
}

pub fn what_is_open_is_listed(kind: Kind) {
    let open = kind.confinement().not_enforced(&policy());
    match kind {
        Kind::Bubblewrap | Kind::Namespaces => assert!(open.is_empty(), "{open:?}"),
        Kind::Landlock => {
            assert!(open.contains(&"network traffic other than TCP"), "{open:?}");
            assert!(open.contains(&"the size of temporary files"), "{open:?}");
            assert!(!open.contains(&"signals to other processes"), "{open:?}");
        }
        Kind::None => assert!(open.contains(&"the network") && open.contains(&"reading files")),
    }
    let networked = Policy { network: true, ..policy() };
    let open = kind.confinement().not_enforced(&networked);
    assert!(!open.iter().any(|what| what.contains("network")), "{open:?}");
}
