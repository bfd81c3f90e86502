//! `towpath recipes sync`, with real repositories.

use crate::support::{Person, Said};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

fn recipe(text: &str) -> String {
    format!("name: x\nsteps:\n  - id: a\n    command: echo {text}\n")
}

fn git(person: &Person, folder: &str, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=Ann",
            "-c",
            "user.email=ann@localhost",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(arguments)
        .current_dir(person.path(folder))
        .env("HOME", person.path(""))
        .output()
        .expect("git starts");
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A project in `work`, and beside it `team`, a repository with two recipes.
fn person() -> Person {
    let person = Person::new();
    for folder in ["work", "team"] {
        fs::create_dir_all(person.path(folder)).expect("a folder");
        git(&person, folder, &["init", "--quiet", "--initial-branch=main"]);
    }
    publish(&person, &[("recipes/ship.yaml", "one"), ("recipes/deploy.yaml", "one")]);
    person
}

/// Files of the team, committed.
fn publish(person: &Person, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = person.path("team").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, recipe(text)).expect("a file");
    }
    git(person, "team", &["add", "--all"]);
    git(person, "team", &["commit", "--quiet", "--message", "Publish"]);
}

fn sync(person: &Person, more: &[&str]) -> Said {
    let mut arguments = vec!["recipes", "sync", "../team"];
    arguments.extend(more);
    person.towpath(&arguments)
}

const HERE: &str = ".towpath/recipes";

fn here(name: &str) -> String {
    format!("{HERE}/{name}")
}

#[test]
fn looking_changes_nothing() {
    let person = person().file(&here("ship.yaml"), &recipe("mine")).file(&here("own.yaml"), "");
    let said = sync(&person, &[]).exits(0);
    for line in [
        "new        deploy.yaml\n",
        "only here  own.yaml\n",
        "changed    ship.yaml  (changed here, stays as it is)\n",
        "    --- ship.yaml (here)\n    +++ ship.yaml (upstream)\n",
        "    -    command: echo mine\n    +    command: echo one\n",
        "1 new, 1 changed, 1 only here: nothing was changed; --apply takes over 1 file\n",
    ] {
        assert!(said.stdout.contains(line), "no {line:?} in\n{}", said.stdout);
    }
    assert_eq!(person.read(&here("ship.yaml")), recipe("mine"));
    assert_eq!(fs::read_dir(person.path("work").join(HERE)).expect("a folder").count(), 2);
    assert_eq!(git(&person, "work", &["remote"]), "", "and its repository knows nothing of it");
    assert_eq!(git(&person, "work", &["for-each-ref"]), "");
    let cache = person.path("home/cache/recipes");
    let mode = fs::metadata(cache).expect("a cache").permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "what was fetched is the person's own");
}

#[test]
fn what_was_not_changed_here_follows_upstream() {
    let person = person();
    let said = sync(&person, &["--apply"]).exits(0);
    assert!(said.stdout.ends_with("2 new: took over 2 files\n"), "{}", said.stdout);
    assert_eq!(person.read(&here("ship.yaml")), recipe("one"));
    person.towpath(&["recipes", "check"]).exits(0);
    let said = sync(&person, &["--apply"]).exits(0);
    assert!(said.stdout.ends_with("2 same: nothing to take over\n"), "{}", said.stdout);

    publish(&person, &[("recipes/ship.yaml", "two"), ("recipes/deploy.yaml", "two")]);
    person.write(&here("ship.yaml"), &recipe("mine"));
    let said = sync(&person, &["--apply"]).exits(1);
    let end = "2 changed: took over 1 file, 1 held back; --force takes all\n";
    assert!(said.stdout.ends_with(end), "{}", said.stdout);
    assert_eq!(person.read(&here("deploy.yaml")), recipe("two"));
    assert_eq!(person.read(&here("ship.yaml")), recipe("mine"));
    let check = person.towpath(&["recipes", "check", "--json"]).exits(1).json();
    assert_eq!(check["modified"], serde_json::json!(["ship.yaml"]), "it is still known as changed");

    sync(&person, &["--apply", "--force"]).exits(0);
    assert_eq!(person.read(&here("ship.yaml")), recipe("two"));
    person.towpath(&["recipes", "check"]).exits(0);
}

#[test]
fn what_was_deleted_here_stays_away() {
    let person = person();
    sync(&person, &["--apply"]).exits(0);
    fs::remove_file(person.path("work").join(here("ship.yaml"))).expect("gone");
    let said = sync(&person, &["--apply"]).exits(1);
    assert!(said.stdout.contains("new        ship.yaml  (deleted here, stays as it is)\n"));
    assert!(!person.path("work").join(here("ship.yaml")).exists());
    sync(&person, &["--apply", "--force"]).exits(0);
    assert_eq!(person.read(&here("ship.yaml")), recipe("one"));
    sync(&person, &["--force"]).exits(2);
}

#[test]
fn a_tag_a_commit_and_a_folder_can_be_named() {
    let person = person();
    git(&person, "team", &["tag", "-a", "v1", "-m", "v1"]);
    let first = git(&person, "team", &["rev-parse", "HEAD"]);
    publish(&person, &[("recipes/ship.yaml", "two"), ("other/x.yaml", "x")]);
    let json = |more: &[&str]| {
        let mut arguments = vec!["--json"];
        arguments.extend(more);
        sync(&person, &arguments).exits(0).json()
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
    sync(&person, &["--path", "nowhere"]).exits(2).says("no such folder");
    sync(&person, &["--path", "../x"]).exits(2).says("inside the repository");
    sync(&person, &["--ref", "a:b"]).exits(2).says("name a branch");
    sync(&person, &["--ref", "nowhere"]).exits(5).says("git fetch");
    person.towpath(&["recipes", "sync", "../team", "--ref=--upload-pack=x"]).exits(2);
    person.towpath(&["recipes", "sync", "--", "--upload-pack=x"]).exits(2);
    person.towpath(&["recipes", "sync", "../nowhere"]).exits(5).says("git fetch");
}

#[test]
fn the_persons_own_git_is_left_alone() {
    let person = person();
    // A hook that git would run at every change of a reference, and another repository to work in.
    let hooks = person.path("hooks");
    fs::create_dir(&hooks).expect("a folder");
    let hook = hooks.join("reference-transaction");
    fs::write(&hook, "#!/bin/sh\ntouch \"$HOME/hooked\"\n").expect("a hook");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("permissions");
    fs::write(person.path(".gitconfig"), format!("[core]\nhooksPath = {}\n", hooks.display()))
        .expect("settings");
    let output = person
        .command(&["recipes", "sync", "../team", "--apply"])
        .env("GIT_DIR", person.path("work/.git"))
        .env("GIT_WORK_TREE", person.path("work"))
        .env("GIT_INDEX_FILE", person.path("index"))
        .output();
    Said::from(output.expect("towpath starts")).exits(0);
    assert!(!person.path("hooked").exists(), "no hook has run");
    assert!(!person.path("index").exists());
    fs::remove_file(person.path(".gitconfig")).expect("gone");
    assert_eq!(git(&person, "work", &["for-each-ref"]), "");
    assert_eq!(git(&person, "work", &["rev-list", "--all", "--count"]), "0");

    sync(&person, &["--remote", "upstream"]).exits(0).says("made the remote upstream");
    assert_eq!(git(&person, "work", &["remote", "get-url", "upstream"]), "../team");
    sync(&person, &["--remote", "upstream"]).exits(0);
    let other = person.towpath(&["recipes", "sync", "../other", "--remote", "upstream"]);
    other.exits(2).says("it is there already, for ../team");
    sync(&person, &["--remote", "--x"]).exits(2);
}

#[test]
fn a_repository_brings_nothing_but_recipes() {
    let person = person();
    publish(&person, &[("recipes/.hidden/x.yaml", "x"), ("recipes/note.md", "x")]);
    symlink("/etc/passwd", person.path("team/recipes/link.yaml")).expect("a link");
    publish(&person, &[("recipes/sub/y.yaml", "y")]);
    // Here a folder leads out of the directory.
    fs::create_dir_all(person.path("work").join(HERE)).expect("a folder");
    fs::create_dir(person.path("outside")).expect("a folder");
    symlink(person.path("outside"), person.path("work").join(here("sub"))).expect("a link");
    let said = sync(&person, &["--apply"]).exits(1);
    assert!(said.stdout.contains("not taken: link.yaml is a symbolic link\n"), "{}", said.stdout);
    assert!(said.stdout.contains("sub is a symbolic link, stays as it is)"), "{}", said.stdout);
    assert_eq!(fs::read_dir(person.path("outside")).expect("a folder").count(), 0);
    let there = fs::read_dir(person.path("work").join(HERE)).expect("a folder");
    let mut there: Vec<String> =
        there.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    there.sort();
    assert_eq!(there, ["_recipe_manifest.json", "deploy.yaml", "ship.yaml", "sub"]);
    let run = person.towpath(&["run", "ship"]).exits(5);
    run.says("is not trusted");
}

#[test]
fn a_url_that_is_a_command_does_not_run() {
    let person = Person::new();
    let url = "ext::sh -c touch% gotcha";
    person.towpath(&["recipes", "sync", url]).exits(2).says("runs a command");
    // A rewriting of URLs must not bring it back.
    let rewrite = "[url \"ext::sh -c touch% gotcha% \"]\ninsteadOf = team:\n";
    fs::write(person.path(".gitconfig"), rewrite).expect("settings");
    person.towpath(&["recipes", "sync", "team:x"]).exits(5).says("not allowed");
    assert!(!person.path("work/gotcha").exists());
}

#[test]
fn nobody_is_asked_for_a_password_and_none_is_shown() {
    let person = Person::new();
    let asks = person.path("asks");
    fs::write(&asks, "#!/bin/sh\ntouch \"$HOME/asked\"; echo secret\n").expect("a script");
    fs::set_permissions(&asks, fs::Permissions::from_mode(0o755)).expect("permissions");
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
    for user in ["", "ann:hunter2@"] {
        let url = format!("http://{user}127.0.0.1:{port}/x.git");
        let output = person
            .command(&["recipes", "sync", &url])
            .env("GIT_ASKPASS", &asks)
            .env("SSH_ASKPASS", &asks)
            .env("DISPLAY", ":0")
            .env("no_proxy", "127.0.0.1")
            .output();
        let said = Said::from(output.expect("towpath starts")).exits(5).says("git fetch");
        assert!(!said.stderr.contains("hunter2"), "{}", said.stderr);
    }
    assert!(!person.path("asked").exists());
}
