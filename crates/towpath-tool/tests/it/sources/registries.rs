//! One small tool from each registry: found, fetched, built in the sandbox, and run there.

use super::User;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use towpath_tool::sources::{Candidate, SourceError, SourceKind, Unusable, search};

/// From a name to a program that runs, and again without network and clients.
fn installs(source: &str, program: &str) -> Candidate {
    let mut user = User::with_kept_cache();
    let candidate = user.look_up(source, None).unwrap_or_else(|| panic!("{source} is not found"));
    assert!(candidate.unusable.is_none(), "{candidate:?}");
    let recipe = user.generate(&candidate);
    let version = candidate.version.as_str();
    let artifact = user.fetch(&recipe, version).unwrap();
    assert!(!artifact.checksums.is_empty(), "{artifact:?}");
    let (install, built) = user.build(&recipe, version, &artifact, "install").unwrap();
    check_files(&install);
    let printed = user.run(&install, &built, program, &["--version"]);
    let upstream = version.split('-').next().unwrap();
    assert!(printed.contains(upstream), "{program} {version}: {printed}");
    assert_eq!(built.binaries[0].0, program, "{built:?}");
    // Nothing but the cache is needed the second time.
    user.set("PATH", "/nothing/here");
    assert_eq!(user.fetch(&recipe, version).unwrap(), artifact);
    candidate
}

/// Everything belongs to the user, without special rights, and nothing of the build is left.
fn check_files(install: &Path) {
    let own = fs::metadata(install.parent().unwrap()).unwrap().uid();
    let mut waiting = vec![install.to_owned()];
    assert!(!install.join(".build").exists());
    while let Some(path) = waiting.pop() {
        let metadata = path.symlink_metadata().unwrap();
        assert_eq!(metadata.uid(), own, "{path:?}");
        assert!(metadata.is_symlink() || metadata.permissions().mode() & 0o7000 == 0, "{path:?}");
        if metadata.is_dir() {
            waiting.extend(fs::read_dir(path).unwrap().flatten().map(|entry| entry.path()));
        }
    }
}

#[test]
fn cargo() {
    let kibi = installs("cargo:kibi", "kibi");
    assert_eq!(kibi.binaries, ["kibi"]);
    assert!(kibi.description.unwrap().contains("text editor"));
    assert_eq!(kibi.license.as_deref(), Some("MIT OR Apache-2.0"));
}

#[test]
fn a_young_version_of_a_crate_is_not_taken() {
    let user = User { released_before: Some("2021-01-01T00:00:00Z".to_owned()), ..User::new() };
    let kibi = user.look_up("cargo:kibi", None).unwrap();
    assert_eq!(kibi.version, "0.2.1");
    assert!(kibi.newer.is_some_and(|newer| newer != "0.2.1"));
}

#[test]
fn npm() {
    let json5 = installs("npm:json5", "json5");
    assert_eq!(json5.binaries, ["json5"]);
    assert_eq!(json5.license.as_deref(), Some("MIT"));
}

#[test]
fn pypi() {
    let yamllint = installs("pypi:yamllint", "yamllint");
    assert!(yamllint.description.unwrap().contains("YAML"));
}

#[test]
fn names_and_versions_that_do_not_exist_are_not_found() {
    let user = User::new();
    for kind in ["cargo", "npm", "pypi"] {
        assert_eq!(user.look_up(&format!("{kind}:towpath-no-such-tool"), None), None, "{kind}");
    }
    for tool in ["cargo:kibi", "npm:json5", "pypi:yamllint"] {
        let source = tool.split_once(':').unwrap().0;
        assert_eq!(user.look_up(tool, Some("9876.5.4")), None, "{tool}");
        let mut recipe = user.generate(&user.look_up(tool, None).unwrap());
        recipe.metadata.name = "other".to_owned();
        let error = user.fetch(&recipe, "9876.5.4").unwrap_err();
        assert!(
            matches!(&error, SourceError::NotFound { from, .. } if from == tool),
            "{source}: {error}"
        );
    }
}

#[test]
fn a_library_has_no_programs() {
    let user = User::new();
    let library = user.look_up("cargo:cfg-if", None).unwrap();
    assert_eq!(library.unusable, Some(Unusable::Library));
    let recipe = user.generate(&library);
    let error = user.fetch(&recipe, &library.version).unwrap_err();
    assert!(matches!(error, SourceError::Unusable { unusable: Unusable::Library, .. }), "{error}");
    let library = user.look_up("npm:isarray", None).unwrap();
    assert_eq!(library.unusable, Some(Unusable::Library));
}

#[test]
fn every_registry_is_searched() {
    let user = User::new();
    let found = user.with(|context| search("yamllint", context));
    let kinds: Vec<SourceKind> = found.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [SourceKind::Cargo, SourceKind::Npm, SourceKind::Pypi]);
    let pypi =
        found.into_iter().find_map(|(kind, found)| (kind == SourceKind::Pypi).then_some(found));
    let candidate = pypi.unwrap().unwrap().unwrap();
    assert_eq!(candidate.source.to_string(), "pypi:yamllint");
}

/// A set that was resolved once is fetched again without asking what is newest, and nothing else is.
#[test]
fn a_lock_is_fetched_exactly() {
    for tool in ["cargo:kibi", "npm:json5", "pypi:yamllint"] {
        let first = User::with_kept_cache();
        let candidate = first.look_up(tool, None).unwrap();
        let (recipe, version) = (first.generate(&candidate), candidate.version.as_str());
        let artifact = first.fetch(&recipe, version).unwrap();
        assert!(!artifact.locks.is_empty(), "{tool}");
        let second = User::new();
        let again = second.fetch_locked(&recipe, version, &artifact.locks).unwrap();
        assert_eq!(again.locks, artifact.locks, "{tool}");
        assert_eq!(again.checksums, artifact.checksums, "{tool}");
        let mut other = artifact.locks.clone();
        for lock in other.values_mut() {
            *lock = lock.replacen("sha512-", "sha512-AAAA", 1).replace("sha256:", "sha256:0000");
            *lock = lock.replacen("crate: ", "crate: 0000", 1);
        }
        assert!(User::new().fetch_locked(&recipe, version, &other).is_err(), "{tool}");
    }
}
