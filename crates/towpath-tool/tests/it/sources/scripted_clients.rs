//! Clients that are scripts of the test: what no registry does on demand.

use super::{User, read};
use crate::archives::handmade::{Entry, zip_of};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use towpath_core::Source;
use towpath_tool::sources::{SourceError, SourceKind, SourceRef, look_up, search};
use towpath_tool::{ToolRecipe, read_recipe};

/// A user whose PATH has these scripts: a Rust whose cargo is one, a Node whose npm is one, a Python.
fn user(scripts: &[(&str, &str)]) -> User {
    let mut user = User::new();
    let (bin, npm) = (user.path("clients/bin"), user.path("clients/lib/node_modules/npm/bin"));
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(&npm).unwrap();
    let clients = user.path("clients");
    for (name, script) in scripts {
        match *name {
            "cargo" => write(&bin.join("rustc"), &format!("echo {}", clients.display())),
            "npm" => {
                fs::write(npm.join("npm-cli.js"), "").unwrap();
                fs::set_permissions(npm.join("npm-cli.js"), fs::Permissions::from_mode(0o755))
                    .unwrap();
                std::os::unix::fs::symlink(npm.join("npm-cli.js"), bin.join("npm")).unwrap();
                let own = bin.join("node");
                let own = format!("[ \"$1\" = -p ] && {{ echo {}; exit; }}\n", own.display());
                write(&bin.join("node"), &format!("{own}{script}"));
                continue;
            }
            _ => {}
        }
        write(&bin.join(name), script);
    }
    user.set("PATH", bin);
    user
}

fn write(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
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
        missing(SourceKind::Cargo, "rustc"),
        missing(SourceKind::Npm, "node"),
        missing(SourceKind::Pypi, "python3"),
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
        (
            "cargo",
            "mkdir -p \"$CARGO_HOME/registry/src/r/x\" \"$CARGO_HOME/registry/cache/r\"\n\
             : > \"$CARGO_HOME/registry/cache/r/x.crate\"\n\
             echo '{\"packages\":[{\"name\":\"tool\",\"version\":\"../../1\"}]}'",
        ),
        ("npm", "echo '{\"name\":\"../x\",\"version\":\"1.0.0\"}'"),
    ]);
    for source in ["cargo:tool", "npm:tool"] {
        let error = asks(&user, source).expect_err(source);
        assert!(matches!(error, SourceError::Output { .. }), "{error}");
    }
}

/// A client sees the configuration of its registry, and nothing else of the user.
#[test]
fn clients_see_the_configuration_of_their_registry_alone() {
    let mut user = user(&[(
        "cargo",
        "test -z \"$MY_SECRET\" || exit 9; test \"$CARGO_NET_RETRY\" = 7 || exit 8\n\
         grep -q mirror \"$CARGO_HOME/config.toml\" || exit 7; test ! -e \"$CARGO_HOME/other\" || exit 6\n\
         ls -A \"$HOME\" | grep -q . && exit 5; cat \"$USERS\" && exit 4; echo x > \"$USERS.new\" && exit 3\n\
         mkdir -p \"$CARGO_HOME/registry/src/r/tool-1.2.3\" \"$CARGO_HOME/registry/cache/r\"\n\
         : > \"$CARGO_HOME/registry/cache/r/tool-1.2.3.crate\"\n\
         echo '{\"packages\":[{\"name\":\"tool\",\"version\":\"1.2.3\",\"license\":\"MIT\"}]}'",
    )]);
    let home = user.path("home");
    fs::create_dir_all(home.join(".cargo")).unwrap();
    fs::write(home.join(".cargo/config.toml"), "# mirror").unwrap();
    fs::write(home.join(".cargo/other"), "").unwrap();
    fs::write(home.join("mine"), "secret").unwrap();
    let cargo = user.path("clients/bin/cargo");
    let script = fs::read_to_string(&cargo).unwrap();
    let mine = home.join("mine").display().to_string();
    fs::write(&cargo, script.replace("$USERS", &mine)).unwrap();
    user.environment.retain(|(name, _)| name != "CARGO_HOME");
    user.set("HOME", &home);
    user.set("MY_SECRET", "yes");
    user.set("CARGO_NET_RETRY", "7");
    assert_eq!(asks(&user, "cargo:tool").unwrap().as_deref(), Some("1.2.3"));
    let left = fs::read_dir(user.cache.join(".partial")).unwrap().count();
    assert_eq!(left, 0);
    assert!(!home.join("mine.new").exists());
}

/// A Python whose pip copies wheels from beside it; `tag` is what it is.
fn install_python(user: &User, tag: &str) {
    let clients = user.path("clients");
    let (own, wheels) = (clients.display(), clients.join("wheels"));
    let report = r#"{"install":[{"download_info":{"url":"https://x/my_tool.whl","archive_info":{"hashes":{"sha256":"00"}}},"metadata":{"name":"my-tool","version":"1.0"}}]}"#;
    let script = format!(
        "case \"$*\" in\n\
         '-c '*) echo '{{\"program\":\"{own}/bin/python3\",\"prefixes\":[\"{own}\"],\"pip\":\"{own}\",\"tag\":\"{tag}\"}}';;\n\
         *' download '*) while [ $# -gt 1 ]; do [ \"$1\" = --dest ] && to=$2; shift; done\n cp {}/* \"$to\";;\n\
         *my-tool*) echo '{report}';;\n\
         *) echo \"ERROR: No matching distribution found for x\" >&2; exit 1;;\n\
         esac",
        wheels.display()
    );
    write(&clients.join("bin/python3"), &script);
}

fn pip_recipe() -> ToolRecipe {
    read(
        "[metadata]\nname = \"my-tool\"\n\
         [[steps]]\naction = \"pipx_install\"\npackage = \"my-tool\"\n[verify]\ncommand = \"my-tool --version\"\n",
    )
}

#[test]
fn wheels_are_fetched_again_for_another_python() {
    let user = user(&[]);
    let wheel = zip_of(&[Entry::file(
        b"my_tool-1.0.dist-info/entry_points.txt",
        b"[console_scripts]\nmy-tool = a:b\n",
    )]);
    fs::create_dir(user.path("clients/wheels")).unwrap();
    fs::write(user.path("clients/wheels/my_tool-1.0-py3-none-any.whl"), wheel).unwrap();
    install_python(&user, "cpython-3.11-x");
    let first = user.fetch(&pip_recipe(), "1.0").unwrap();
    assert_eq!(first.made_for.as_deref(), Some("cpython-3.11-x"));
    assert_eq!(user.fetch(&pip_recipe(), "1.0").unwrap(), first);
    install_python(&user, "cpython-3.12-x");
    let second = user.fetch(&pip_recipe(), "1.0").unwrap();
    assert_eq!(second.made_for.as_deref(), Some("cpython-3.12-x"));
    fs::remove_file(user.path("clients/bin/python3")).unwrap();
    assert_eq!(user.fetch(&pip_recipe(), "1.0").unwrap(), second, "what is there is used");
}

#[test]
fn a_package_that_pip_does_not_find_is_not_there() {
    let user = user(&[]);
    install_python(&user, "cpython-3.11-x");
    assert!(asks(&user, "pypi:nothing").unwrap().is_none());
}

#[test]
fn names_of_a_recipe_that_are_no_names_are_refused() {
    for action in [
        "action = \"npm_install\"\npackage = \"a/b\"",
        "action = \"cargo_install\"\ncrate = \"a.b\"",
        "action = \"pipx_install\"\npackage = \"a\"\nextras = [\"@x\"]",
    ] {
        let text = format!(
            "[metadata]\nname = \"tool\"\n[[steps]]\n{action}\n[verify]\ncommand = \"tool --version\"\n"
        );
        let problems = read_recipe(&Source::new("tool.toml", text)).unwrap_err();
        assert!(problems[0].message.contains("is no name of"), "{problems:?}");
    }
}
