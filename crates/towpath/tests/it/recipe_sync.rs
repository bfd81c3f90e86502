//! `towpath recipes sync`, with real repositories.

use crate::support::{Printed, User};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn recipe(text: &str) -> String {
    format!("name: x\nsteps:\n  - id: a\n    command: echo {text}\n")
}

/// A project in `work`, and beside it `team`, a repository with two recipes.
fn user() -> User {
    let user = User::new();
    for folder in ["work", "team"] {
        fs::create_dir_all(user.path(folder)).expect("a folder");
        user.git(folder, &["init", "--quiet", "--initial-branch=main"]);
    }
    publish(&user, &[("recipes/ship.yaml", "one"), ("recipes/deploy.yaml", "one")]);
    user
}

/// Files of the team, committed.
fn publish(user: &User, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = user.path("team").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, recipe(text)).expect("a file");
    }
    user.git("team", &["add", "--all"]);
    user.git("team", &["commit", "--quiet", "--message", "Publish"]);
}

fn sync(user: &User, more: &[&str]) -> Printed {
    let mut arguments = vec!["recipes", "sync", "../team"];
    arguments.extend(more);
    user.towpath(&arguments)
}

const HERE: &str = ".towpath/recipes";

fn here(name: &str) -> String {
    format!("{HERE}/{name}")
}

#[test]
fn a_sync_without_apply_changes_nothing() {
    let user = user().file(&here("ship.yaml"), &recipe("mine")).file(&here("own.yaml"), "");
    let printed = sync(&user, &[]).exits(0);
    for line in [
        "new        deploy.yaml\n",
        "only here  own.yaml\n",
        "changed    ship.yaml  (changed here, kept)\n",
        "    --- ship.yaml (here)\n    +++ ship.yaml (upstream)\n",
        "    -    command: echo mine\n    +    command: echo one\n",
        "1 new, 1 changed, 1 only here: nothing was changed; --apply takes over 1 file\n",
    ] {
        assert!(printed.stdout.contains(line), "no {line:?} in\n{}", printed.stdout);
    }
    assert_eq!(user.read(&here("ship.yaml")), recipe("mine"));
    assert_eq!(fs::read_dir(user.path("work").join(HERE)).expect("a folder").count(), 2);
    assert_eq!(user.git("work", &["remote"]), "", "and its repository knows nothing of it");
    assert_eq!(user.git("work", &["for-each-ref"]), "");
    let cache = user.path("home/cache/recipes");
    let mode = fs::metadata(cache).expect("a cache").permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "what was fetched is the user's own");
}

#[test]
fn what_was_not_changed_here_follows_upstream() {
    let user = user();
    let printed = sync(&user, &["--apply"]).exits(0);
    assert!(printed.stdout.ends_with("2 new: took over 2 files\n"), "{}", printed.stdout);
    assert_eq!(user.read(&here("ship.yaml")), recipe("one"));
    user.towpath(&["recipes", "check"]).exits(0);
    let printed = sync(&user, &["--apply"]).exits(0);
    assert!(printed.stdout.ends_with("2 same: nothing to take over\n"), "{}", printed.stdout);

    publish(&user, &[("recipes/ship.yaml", "two"), ("recipes/deploy.yaml", "two")]);
    user.write(&here("ship.yaml"), &recipe("mine"));
    let printed = sync(&user, &["--apply"]).exits(1);
    let end = "2 changed: took over 1 file, kept 1; --force takes all\n";
    assert!(printed.stdout.ends_with(end), "{}", printed.stdout);
    assert_eq!(user.read(&here("deploy.yaml")), recipe("two"));
    assert_eq!(user.read(&here("ship.yaml")), recipe("mine"));
    let check = user.towpath(&["recipes", "check", "--json"]).exits(1).json();
    assert_eq!(check["modified"], serde_json::json!(["ship.yaml"]), "it is still known as changed");

    sync(&user, &["--apply", "--force"]).exits(0);
    assert_eq!(user.read(&here("ship.yaml")), recipe("two"));
    user.towpath(&["recipes", "check"]).exits(0);
}

#[test]
fn what_was_deleted_here_stays_away() {
    let user = user();
    sync(&user, &["--apply"]).exits(0);
    fs::remove_file(user.path("work").join(here("ship.yaml"))).expect("gone");
    let printed = sync(&user, &["--apply"]).exits(1);
    assert!(printed.stdout.contains("new        ship.yaml  (deleted here, kept)\n"));
    assert!(!user.path("work").join(here("ship.yaml")).exists());
    sync(&user, &["--apply", "--force"]).exits(0);
    assert_eq!(user.read(&here("ship.yaml")), recipe("one"));
    sync(&user, &["--force"]).exits(2);
}

#[test]
fn a_tag_a_commit_and_a_folder_can_be_named() {
    let user = user();
    user.git("team", &["tag", "-a", "v1", "-m", "v1"]);
    let first = user.git("team", &["rev-parse", "HEAD"]);
    publish(&user, &[("recipes/ship.yaml", "two"), ("other/x.yaml", "x")]);
    let json = |more: &[&str]| {
        let mut arguments = vec!["--json"];
        arguments.extend(more);
        sync(&user, &arguments).exits(0).json()
    };
    let newest = json(&[]);
    assert_eq!(newest["schema"], 1);
    assert_eq!(newest["path"], "recipes");
    assert_ne!(newest["commit"], first.as_str());
    assert_eq!(json(&["--ref", "v1"])["commit"], first.as_str());
    assert_eq!(json(&["--ref", &first])["commit"], first.as_str());
    let other = json(&["--path", "other/"]);
    assert_eq!(other["files"][0]["name"], "x.yaml");
    assert_eq!(other["files"][0]["state"], "new");
    assert_eq!(other["files"][0]["taken"], false);
    sync(&user, &["--path", "nowhere"]).exits(2).reports("no such directory");
    sync(&user, &["--path", "../x"]).exits(2).reports("inside the repository");
    sync(&user, &["--ref", "a:b"]).exits(2).reports("give a branch");
    sync(&user, &["--ref", "nowhere"]).exits(5).reports("git fetch");
    user.towpath(&["recipes", "sync", "../team", "--ref=--upload-pack=x"]).exits(2);
    user.towpath(&["recipes", "sync", "--", "--upload-pack=x"]).exits(2);
    user.towpath(&["recipes", "sync", "../nowhere"]).exits(5).reports("git fetch");
}

#[test]
fn the_users_own_git_is_left_alone() {
    let user = user();
    // A hook that git would run at every change of a reference, and another repository to work in.
    let hooks = user.path("hooks");
    user.program("hooks/reference-transaction", "#!/bin/sh\ntouch \"$HOME/hooked\"\n");
    fs::write(user.path(".gitconfig"), format!("[core]\nhooksPath = {}\n", hooks.display()))
        .expect("settings");
    let output = user
        .command(&["recipes", "sync", "../team", "--apply"])
        .env("GIT_DIR", user.path("work/.git"))
        .env("GIT_WORK_TREE", user.path("work"))
        .env("GIT_INDEX_FILE", user.path("index"))
        .output();
    Printed::from(output.expect("towpath starts")).exits(0);
    assert!(!user.path("hooked").exists(), "no hook has run");
    assert!(!user.path("index").exists());
    fs::remove_file(user.path(".gitconfig")).expect("gone");
    assert_eq!(user.git("work", &["for-each-ref"]), "");
    assert_eq!(user.git("work", &["rev-list", "--all", "--count"]), "0");

    sync(&user, &["--remote", "upstream"]).exits(0).reports("added the remote upstream");
    assert_eq!(user.git("work", &["remote", "get-url", "upstream"]), "../team");
    sync(&user, &["--remote", "upstream"]).exits(0);
    let other = user.towpath(&["recipes", "sync", "../other", "--remote", "upstream"]);
    other.exits(2).reports("exists already, for ../team");
    sync(&user, &["--remote", "--x"]).exits(2);
}

#[test]
fn a_repository_brings_nothing_but_recipes() {
    let user = user();
    publish(&user, &[("recipes/.hidden/x.yaml", "x"), ("recipes/note.md", "x")]);
    symlink("/etc/passwd", user.path("team/recipes/link.yaml")).expect("a link");
    publish(&user, &[("recipes/sub/y.yaml", "y")]);
    // Here a folder leads out of the directory.
    fs::create_dir_all(user.path("work").join(HERE)).expect("a folder");
    fs::create_dir(user.path("outside")).expect("a folder");
    symlink(user.path("outside"), user.path("work").join(here("sub"))).expect("a link");
    let printed = sync(&user, &["--apply"]).exits(1);
    assert!(
        printed.stdout.contains("not taken: link.yaml is a symbolic link\n"),
        "{}",
        printed.stdout
    );
    assert!(printed.stdout.contains("sub is a symbolic link, kept)"), "{}", printed.stdout);
    assert_eq!(fs::read_dir(user.path("outside")).expect("a folder").count(), 0);
    let there = fs::read_dir(user.path("work").join(HERE)).expect("a folder");
    let mut there: Vec<String> =
        there.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    there.sort();
    assert_eq!(there, ["_recipe_manifest.json", "deploy.yaml", "ship.yaml", "sub"]);
    let run = user.towpath(&["run", "ship"]).exits(5);
    run.reports("is not trusted");
}

#[test]
fn a_url_that_is_a_command_does_not_run() {
    let user = User::new();
    let url = "ext::sh -c touch% gotcha";
    user.towpath(&["recipes", "sync", url]).exits(2).reports("runs a command");
    // A rewriting of URLs must not bring it back.
    let rewrite = "[url \"ext::sh -c touch% gotcha% \"]\ninsteadOf = team:\n";
    fs::write(user.path(".gitconfig"), rewrite).expect("settings");
    user.towpath(&["recipes", "sync", "team:x"]).exits(5).reports("not allowed");
    assert!(!user.path("work/gotcha").exists());
}

#[test]
fn nobody_is_asked_for_a_password_and_none_is_shown() {
    let user = User::new();
    let asks = user.program("asks", "#!/bin/sh\ntouch \"$HOME/asked\"; echo secret\n");
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\n\
                  Content-Length: 0\r\nConnection: close\r\n\r\n",
            );
        }
    });
    for login in ["", "ann:hunter2@"] {
        let url = format!("http://{login}127.0.0.1:{port}/x.git");
        let output = user
            .command(&["recipes", "sync", &url])
            .env("GIT_ASKPASS", &asks)
            .env("SSH_ASKPASS", &asks)
            .env("DISPLAY", ":0")
            .env("no_proxy", "127.0.0.1")
            .output();
        let printed = Printed::from(output.expect("towpath starts")).exits(5).reports("git fetch");
        assert!(!printed.stderr.contains("hunter2"), "{}", printed.stderr);
    }
    assert!(!user.path("asked").exists());
}
