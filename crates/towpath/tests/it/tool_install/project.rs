//! The tools of a project and their lock file.

use super::release_server::{ReleaseServer, archive};
use super::{GREET, create, installs, visible};
use crate::support::User;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::fs;

fn project(user: &User, url: &str) {
    let text = format!("[tools]\ngreet = {{ from = \"url:{url}\" }}\n");
    user.write(".towpath/tools.toml", &text);
}

#[test]
fn a_projects_tools_are_trusted_locked_and_installed_offline() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    project(&user, &server.tool(&user, "greet", "1.2.0", GREET));
    user.towpath(&["tool", "install"]).exits(5).reports("towpath trust --yes .towpath/tools.toml");
    assert_eq!(visible(&user), Vec::<String>::new());
    user.towpath(&["trust", ".towpath/tools.toml"]).exits(5).shows("greet-1.2.0.tar.gz");
    user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
    user.towpath(&["tool", "install"]).exits(0).shows("greet 1.2.0 installed");
    let lock = user.read(".towpath/tools.lock");
    assert!(lock.contains("greet-{version}.tar.gz") && lock.contains("sha256 = "), "{lock}");
    // Writing the lock file asks for no new consent; its next reader installs without a network.
    user.towpath(&["tool", "remove", "greet"]).exits(0);
    server.close();
    user.towpath(&["tool", "install"]).exits(0).shows("greet 1.2.0 installed");
    assert_eq!(user.read(".towpath/tools.lock"), lock, "it is as it was");
}

#[test]
fn what_was_locked_is_what_is_installed() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    project(&user, &server.tool(&user, "greet", "1.2.0", GREET));
    user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
    user.towpath(&["tool", "install"]).exits(0);
    user.towpath(&["tool", "remove", "greet"]).exits(0);
    let lock = user.read(".towpath/tools.lock");
    let last = lock.split("sha256 = \"").nth(1).expect("the hash of what was fetched");
    let hash = last.split('"').next().expect("a hash");
    user.write(".towpath/tools.lock", &lock.replace(hash, &"0".repeat(hash.len())));
    user.towpath(&["tool", "install"]).exits(5).reports("is not trusted");
    user.towpath(&["trust", "--yes"]).exits(0);
    user.towpath(&["tool", "install"]).exits(1).reports("SHA-256");
    assert_eq!((visible(&user), installs(&user, "greet")), (Vec::new(), 0));
}

#[test]
fn the_lock_has_every_tool_of_the_project_and_the_users_own_stay() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let old = server.tool(&user, "greet", "1.2.0", GREET);
    let new = server.tool(&user, "greet", "1.3.0", &GREET.replace("1.2.0", "1.3.0"));
    let other = server.tool(&user, "other", "1.0.0", &GREET.replace("greet 1.2.0", "other 1.0.0"));
    create(&user, "greet", &old, &[]).exits(0);
    create(&user, "other", &other, &[]).exits(0);
    let text = format!("[tools]\ngreet = \"url:{new}\"\nother = \"url:{other}\"\n");
    user.write(".towpath/tools.toml", &text);
    user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
    user.towpath(&["tool", "install", "--frozen"]).exits(2).reports("tools.lock has no `greet`");
    user.towpath(&["tool", "install"]).exits(0);
    let lock = user.read(".towpath/tools.lock");
    assert!(lock.contains("name = \"greet\"") && lock.contains("name = \"other\""), "{lock}");
    // The user still runs the version that the user has created.
    let bin = user.path("home/data/bin/greet").canonicalize().expect("it is linked");
    assert!(bin.display().to_string().contains("1.2.0"), "{}", bin.display());
    user.towpath(&["tool", "run", "greet", "--version"]).exits(0).prints("greet 1.3.0\n");
    user.towpath(&["tool", "shell", "greet", "--version"]).exits(0).prints("greet 1.3.0\n");
    let which = user.towpath(&["tool", "which", "greet", "--json"]).exits(0).json();
    assert_eq!((&which["version"], &which["link"]), (&"1.3.0".into(), &json!(null)), "{which}");
    assert!(which["file"].as_str().is_some_and(|file| file.contains("/greet/1.3.0")), "{which}");
    user.towpath(&["tool", "run", "nothing"]).exits(2).reports("no installed tool has");
    user.towpath(&["tool", "remove", "greet@1.3.0", "other"]).exits(0);
    user.towpath(&["tool", "shell", "true"]).exits(5).reports("greet is not installed");
    server.close();
    user.towpath(&["tool", "install", "--frozen"]).exits(0).shows("greet 1.3.0 installed");
    assert_eq!(user.read(".towpath/tools.lock"), lock);
}

#[test]
fn problems_of_the_file_are_reported_with_their_location() {
    let user = User::on_disk();
    user.write(".towpath/tools.toml", "[tools]\nx = \"carg:x\"\n\"../y\" = \"npm:y\"\nz = 3\n");
    let printed = user.towpath(&["tool", "install"]).exits(2);
    for text in ["tools.toml:2", "tools.toml:3", "tools.toml:4", "carg"] {
        assert!(printed.stderr.contains(text), "no {text} in {}", printed.stderr);
    }
    fs::remove_file(user.path("work/.towpath/tools.toml")).expect("it is there");
}

#[test]
fn a_broken_lock_file_is_refused_with_its_line_and_what_to_do() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    project(&user, &server.tool(&user, "greet", "1.2.0", GREET));
    user.write(".towpath/tools.lock", "form = 3\n\n[[tool]]\nname = greet\n");
    user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
    let printed = user.towpath(&["tool", "install"]).exits(2);
    printed.reports("tools.lock: line 4: ").reports("to lock the newest versions again, remove it");
}

#[test]
fn the_hint_about_path_is_given_once() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let mut text = "[tools]\n".to_owned();
    for name in ["greet", "greets"] {
        let url = server.tool(&user, name, "1.2.0", &GREET.replace("greet", name));
        text += &format!("{name} = {{ from = \"url:{url}\" }}\n");
    }
    user.write(".towpath/tools.toml", &text);
    user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
    let printed = user.towpath(&["tool", "install"]).exits(0);
    assert_eq!(printed.stdout.matches(" 1.2.0 installed in ").count(), 2, "{}", printed.stdout);
    assert_eq!(printed.stderr.matches("is not on PATH").count(), 1, "{}", printed.stderr);
}

#[test]
fn one_tool_that_fails_does_not_stop_the_others() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let (none, url) =
        (server.url("none-1.0.0.tar.gz"), server.tool(&user, "greet", "1.2.0", GREET));
    let text = format!("[tools]\nabsent = \"url:{none}\"\ngreet = {{ from = \"url:{url}\" }}\n");
    user.write(".towpath/tools.toml", &text);
    user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
    let printed = user.towpath(&["tool", "install"]);
    assert_ne!(printed.code, Some(0), "{}", printed.stderr);
    assert!(printed.stderr.contains("absent: "), "{}", printed.stderr);
    assert!(printed.stdout.contains("greet 1.2.0 installed"), "{}", printed.stdout);
}

/// Nobody has to write `requires` for what the project has locked.
#[test]
fn steps_use_the_tools_of_their_project() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    create(&user, "greet", &server.tool(&user, "greet", "1.2.0", GREET), &[]).exits(0);
    project(&user, &server.tool(&user, "greet", "1.3.0", &GREET.replace("1.2.0", "1.3.0")));
    user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
    user.towpath(&["tool", "install"]).exits(0);
    user.write("r.yaml", "name: r\nsteps:\n  - {id: a, command: greet --version}\n");
    user.towpath(&["run", "r.yaml"]).exits(0).shows("greet 1.3.0\n");
    // A requirement comes before what the project has locked.
    let requires =
        "name: q\nrequires: [greet<1.3]\nsteps:\n  - {id: a, command: greet --version}\n";
    user.write("q.yaml", requires);
    user.towpath(&["run", "q.yaml"]).exits(0).shows("greet 1.2.0\n");
    user.towpath(&["tool", "remove", "greet@1.3.0"]).exits(0);
    user.write("r.yaml", "name: r\nsteps:\n  - {id: a, command: echo done}\n");
    let note = "the project's tools are not all installed: greet 1.3.0 (towpath tool install)";
    let printed = user.towpath(&["run", "r.yaml"]).exits(0).shows("done\n");
    assert_eq!(printed.stderr.matches(note).count(), 1, "{}", printed.stderr);
    let quiet = user.towpath(&["run", "r.yaml", "--quiet"]).exits(0);
    assert!(!quiet.stderr.contains(note), "{}", quiet.stderr);
}

#[test]
fn a_lock_file_that_is_not_trusted_gives_steps_no_programs() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    project(&user, &server.tool(&user, "greet", "1.3.0", &GREET.replace("1.2.0", "1.3.0")));
    user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
    user.towpath(&["tool", "install"]).exits(0);
    let lock = user.read(".towpath/tools.lock");
    user.write(".towpath/tools.lock", &format!("{lock}\n# changed\n"));
    user.write("r.yaml", "name: r\nsteps:\n  - {id: a, command: command -v greet || echo none}\n");
    let printed = user.towpath(&["run", "r.yaml"]).exits(0).shows("none\n");
    printed.reports("are not used, because it is not trusted; to see it: towpath trust");
}

/// As an install of them: what comes first on PATH is what the user has trusted.
#[test]
fn a_shell_has_only_tools_that_are_trusted() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    user.towpath(&["tool", "shell", "echo", "no project"]).exits(0).prints("no project\n");
    project(&user, &server.tool(&user, "greet", "1.2.0", GREET));
    user.towpath(&["tool", "shell", "true"])
        .exits(5)
        .reports("towpath trust --yes .towpath/tools.toml");
    user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
    user.towpath(&["tool", "install"]).exits(0);
    let lock = user.read(".towpath/tools.lock");
    user.write(".towpath/tools.lock", &format!("{lock}\n# changed\n"));
    user.towpath(&["tool", "shell", "greet"]).exits(5).reports("is not trusted");
    user.write(".towpath/tools.lock", "form = 3\n\n[[tool]]\nname = greet\n");
    user.towpath(&["tool", "shell", "greet"]).exits(2).reports("tools.lock: line 4: ");
    user.write(".towpath/tools.lock", &lock);
    user.towpath(&["tool", "shell", "greet"]).exits(0).prints("hello\n");
}

#[test]
fn a_program_of_the_system_may_be_a_tool_of_the_project() {
    let user = User::on_disk();
    user.write(".towpath/tools.toml", "[tools]\ntar = \"system\"\n");
    user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
    user.towpath(&["tool", "install", "--frozen"]).exits(2).reports("has no `tar` from system");
    let printed = user.towpath(&["tool", "install"]).exits(0);
    assert!(printed.stdout.contains(" of the system works: /"), "{}", printed.stdout);
    let lock = user.read(".towpath/tools.lock");
    assert!(lock.contains("name = \"tar\"\nfrom = \"system\"\nversion = "), "{lock}");
    assert_eq!(visible(&user), Vec::<String>::new());
    // What another machine has is not written over it.
    let other = lock.replace("version = \"1", "version = \"0.1");
    user.write(".towpath/tools.lock", &other);
    user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
    user.towpath(&["tool", "install", "--frozen"]).exits(0);
    assert_eq!(user.read(".towpath/tools.lock"), other);
    user.towpath(&["tool", "shell", "tar", "--version"]).exits(0).shows("tar");
    user.towpath(&["tool", "run", "tar", "--version"]).exits(0).shows("tar");
    let which = user.towpath(&["tool", "which", "tar", "--json"]).exits(0).json();
    assert_eq!((&which["tool"], &which["version"]), (&"tar".into(), &json!(null)), "{which}");
    user.write("r.yaml", "name: r\nsteps:\n  - {id: a, command: tar --version}\n");
    let printed = user.towpath(&["run", "r.yaml"]).exits(0);
    assert!(!printed.stderr.contains("not all installed"), "{}", printed.stderr);
    user.write(".towpath/tools.toml", "[tools]\nno-such-program = \"system\"\n");
    user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
    user.towpath(&["tool", "install"]).exits(5).reports("no-such-program is not on this system");
}

#[test]
fn an_address_of_a_project_may_have_a_hash() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let bytes = archive(&user, "greet", "1.2.0", &[("greet", GREET)]);
    let right: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    server.put("greet-1.2.0.tar.gz", bytes);
    let url = server.url("greet-1.2.0.tar.gz");
    let project = |hash: &str| {
        let text = format!("[tools]\ngreet = {{ from = \"url:{url}\", sha256 = \"{hash}\" }}\n");
        user.write(".towpath/tools.toml", &text);
        user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
    };
    let wrong = "ab".repeat(32);
    project(&wrong);
    user.towpath(&["tool", "install"]).exits(1).reports(&wrong).reports(&right);
    assert_eq!(visible(&user), Vec::<String>::new());
    project(&right);
    user.towpath(&["tool", "install"]).exits(0).shows("greet 1.2.0 installed");
    // What was locked does not have another hash.
    project(&wrong);
    user.towpath(&["tool", "install", "--frozen"]).exits(2).reports("has no `greet`");
}

/// A run continues with the version that it was begun with.
#[test]
fn a_resume_keeps_the_tools_of_the_project() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let version = |version: &str| {
        project(&user, &server.tool(&user, "greet", version, &GREET.replace("1.2.0", version)));
        user.towpath(&["trust", "--yes", ".towpath/tools.toml"]).exits(0);
        user.towpath(&["tool", "install"]).exits(0);
    };
    version("1.2.0");
    let command = "greet --version; test -e go";
    user.write("r.yaml", &format!("name: r\nsteps:\n  - {{id: a, command: '{command}'}}\n"));
    user.towpath(&["run", "r.yaml"]).exits(1).shows("greet 1.2.0\n");
    version("1.3.0");
    user.write("go", "");
    user.towpath(&["resume"]).exits(0).shows("greet 1.2.0\n");
}
