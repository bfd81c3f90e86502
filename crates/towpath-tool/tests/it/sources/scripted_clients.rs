//! Clients that are scripts of the test: what no registry does on demand.

use super::{User, read};
use crate::archives::handmade::{Entry, zip_of};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use towpath_tool::ToolRecipe;
use towpath_tool::sources::{SourceError, SourceKind, SourceRef, Unusable, look_up, search};

/// A user whose PATH has these scripts and a few programs of the system.
fn user(scripts: &[(&str, &str)]) -> User {
    let mut user = User::new();
    let bin = user.path("clients");
    fs::create_dir(&bin).unwrap();
    for (name, script) in scripts {
        let path = bin.join(name);
        fs::write(&path, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    user.set("PATH", bin);
    user
}

fn asks(user: &User, source: &str) -> Result<Option<String>, SourceError> {
    let source: SourceRef = source.parse().unwrap();
    let found = user.with(|context| look_up(&source, None, context))?;
    Ok(found.map(|candidate| candidate.version))
}

#[test]
fn a_missing_client_is_named() {
    let user = user(&[]);
    let found = user.with(|context| search("tool", context));
    let clients: Vec<(SourceKind, String)> = found
        .into_iter()
        .map(|(kind, answer)| (kind, answer.expect_err("no client").to_string()))
        .collect();
    let missing = |kind, client| (kind, format!("`{client}` is not installed"));
    let expected = [
        missing(SourceKind::Cargo, "cargo"),
        missing(SourceKind::Npm, "npm"),
        missing(SourceKind::Pypi, "python3"),
        missing(SourceKind::Deb, "apt-get"),
    ];
    assert_eq!(clients, expected);
}

#[test]
fn a_client_that_fails_is_not_one_that_finds_nothing() {
    let user = user(&[
        ("cargo", "echo \"error: failed to download from \\`x\\`\" >&2; exit 101"),
        ("npm", "echo 'npm error code ECONNREFUSED' >&2; exit 1"),
    ]);
    for source in ["cargo:tool", "npm:tool"] {
        let error = asks(&user, source).expect_err(source);
        assert!(
            matches!(&error, SourceError::Client { message, .. } if !message.is_empty()),
            "{error}"
        );
    }
}

#[test]
fn what_a_client_prints_is_not_believed() {
    let user = user(&[
        ("cargo", "printf 'tool\\nx\\nversion: ../../1\\n'"),
        ("npm", "echo '{\"name\":\"../x\",\"version\":\"1.0.0\"}'"),
    ]);
    for source in ["cargo:tool", "npm:tool"] {
        let error = asks(&user, source).expect_err(source);
        assert!(matches!(error, SourceError::Output { .. }), "{error}");
    }
}

#[test]
fn clients_see_the_users_environment_in_a_directory_of_ours() {
    let mut user = user(&[(
        "cargo",
        "ls -A >&2; test -z \"$(ls -A)\" || exit 9; test \"$MY_SETTING\" = yes || exit 8; test \"$LC_ALL\" = C || exit 7\n\
         printf 'tool #a\\nA tool\\nversion: 1.2.3\\nlicense: MIT\\n'",
    )]);
    user.set("MY_SETTING", "yes");
    user.set("LC_ALL", "de_DE.UTF-8");
    assert_eq!(asks(&user, "cargo:tool").unwrap().as_deref(), Some("1.2.3"));
    let left = fs::read_dir(user.cache.join(".partial")).unwrap().count();
    assert_eq!(left, 0);
}

/// A Python whose pip copies wheels; `tag` is what it is.
fn python(user: &User, tag: &str) -> String {
    let (wheels, log) = (user.path("wheels"), user.path("log"));
    let (wheels, log) = (wheels.display(), log.display());
    let clients = user.path("clients");
    format!(
        "case \"$*\" in\n\
         '-c '*) echo '{{\"program\":\"{}/python3\",\"prefixes\":[\"/usr\"],\"pip\":\"/usr/lib\",\"tag\":\"{tag}\"}}';;\n\
         *' download '*) echo download >> {log}\n while [ $# -gt 1 ]; do [ \"$1\" = --dest ] && to=$2; shift; done\n cp {wheels}/* \"$to\";;\n\
         *) echo \"ERROR: No matching distribution found for x\" >&2; exit 1;;\n\
         esac",
        clients.display()
    )
}

fn install_python(user: &User, tag: &str) {
    let path = user.path("clients/python3");
    fs::write(&path, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{}\n", python(user, tag))).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn pip_recipe() -> ToolRecipe {
    read(
        "[metadata]\nname = \"my-tool\"\n[version]\nsource = \"pypi\"\npackage = \"my-tool\"\n\
         [[steps]]\naction = \"pip_install\"\npackage = \"my-tool\"\n[verify]\ncommand = \"my-tool --version\"\n",
    )
}

#[test]
fn wheels_are_fetched_again_for_another_python() {
    let user = user(&[]);
    let wheel = zip_of(&[Entry::file(
        b"my_tool-1.0.dist-info/entry_points.txt",
        b"[console_scripts]\nmy-tool = a:b\n",
    )]);
    fs::create_dir(user.path("wheels")).unwrap();
    fs::write(user.path("wheels/my_tool-1.0-py3-none-any.whl"), wheel).unwrap();
    install_python(&user, "cpython-3.11-x");
    let fetched = || fs::read_to_string(user.path("log")).map_or(0, |log| log.lines().count());
    let first = user.fetch(&pip_recipe(), "1.0").unwrap();
    assert_eq!(first.made_for.as_deref(), Some("cpython-3.11-x"));
    assert_eq!(user.fetch(&pip_recipe(), "1.0").unwrap(), first);
    assert_eq!(fetched(), 1);
    install_python(&user, "cpython-3.12-x");
    let second = user.fetch(&pip_recipe(), "1.0").unwrap();
    assert_eq!((second.made_for.as_deref(), fetched()), (Some("cpython-3.12-x"), 2));
    fs::remove_file(user.path("clients/python3")).unwrap();
    assert_eq!(user.fetch(&pip_recipe(), "1.0").unwrap(), second, "what is there is used");
}

#[test]
fn a_wheel_without_programs_is_a_library() {
    let user = user(&[]);
    fs::create_dir(user.path("wheels")).unwrap();
    let wheel = zip_of(&[Entry::file(b"my_tool/__init__.py", b"")]);
    fs::write(user.path("wheels/my_tool-1.0-py3-none-any.whl"), wheel).unwrap();
    install_python(&user, "cpython-3.11-x");
    let error = user.fetch(&pip_recipe(), "1.0").unwrap_err();
    assert!(matches!(error, SourceError::Unusable { unusable: Unusable::Library, .. }), "{error}");
    assert_eq!(error.to_string(), "pypi:my-tool 1.0: a library, no programs");
    assert!(asks(&user, "pypi:nothing").unwrap().is_none());
}

#[test]
fn names_of_a_recipe_that_are_no_names_are_refused() {
    let user = user(&[]);
    for (source, action) in [
        ("npm", "action = \"npm_install\"\npackage = \"a/b\""),
        ("cargo", "action = \"cargo_install\"\npackage = \"a.b\""),
        ("pypi", "action = \"pip_install\"\npackage = \"a\"\nextras = [\"@x\"]"),
        ("deb", "action = \"deb_install\"\npackages = [\"a\", \"b/sid\"]"),
    ] {
        let recipe = read(&format!(
            "[metadata]\nname = \"tool\"\n[version]\nsource = \"{source}\"\npackage = \"tool\"\n\
             [[steps]]\n{action}\n[verify]\ncommand = \"tool --version\"\n"
        ));
        let error = user.fetch(&recipe, "1.0").unwrap_err();
        assert!(matches!(error, SourceError::Name(_)), "{source}: {error}");
    }
}
