//! Leaving a machine: links that lead to this program go, towpath's own directories when asked
//! for, and nothing of anybody else's.

use crate::support::{Person, kill_hard, until};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const OK: &str = "name: ok\nsteps:\n  - {id: a, command: echo hello}\n";

/// A person with a link, a run and settings.
fn person() -> Person {
    let person = Person::new().file("ok.yaml", OK).file("s.yaml", OK);
    fs::create_dir_all(person.path(".local/bin")).expect("a folder");
    let bin = person.path(".local/bin").display().to_string();
    person.towpath(&["link", &bin]).exits(0);
    person.towpath(&["run", "ok.yaml", "-q"]).exits(0);
    fs::create_dir_all(person.path("home/config")).expect("a folder");
    fs::write(person.path("home/config/settings.toml"), "max_agents = 3\n").expect("a file");
    person
}

fn link(person: &Person) -> std::path::PathBuf {
    person.path(".local/bin/recipe-runner-rs")
}

#[test]
fn links_go_and_everything_else_is_named() {
    let person = person();
    let said = person.towpath(&["uninstall", "--dry-run"]).exits(0);
    assert!(said.stdout.starts_with("would remove the link ~/.local/bin/recipe-runner-rs\n"));
    assert!(link(&person).exists());
    // Neither a file nor a link of somebody else's is ours.
    let bin = person.path(".local/bin");
    fs::write(bin.join("dp"), "mine").expect("a file");
    symlink("/bin/true", bin.join("meld")).expect("a link");
    let said = person.towpath(&["uninstall"]).exits(0);
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(lines[0], "removed the link ~/.local/bin/recipe-runner-rs");
    assert_eq!(lines[1], "removed the link ~/.local/bin/agent-recipes");
    assert!(lines[2].starts_with("kept: ~/home/state, ~/home/config ("), "{lines:?}");
    let program = env!("CARGO_BIN_EXE_towpath");
    assert_eq!(lines[4], format!("the program itself: rm {program}"));
    assert!(Path::new(program).exists());
    assert!(link(&person).symlink_metadata().is_err());
    assert!(bin.join("dp").exists() && bin.join("meld").exists());
    assert_eq!(person.runs(), 1);
    let said = person.towpath(&["uninstall"]).exits(0);
    assert!(said.stdout.starts_with("nothing to remove\n"), "{}", said.stdout);
}

#[test]
fn everything_goes_when_asked_for_with_a_yes() {
    let person = person();
    let said = person.towpath(&["uninstall", "--purge", "--dry-run"]).exits(0);
    assert!(said.stdout.contains("would remove ~/home/state, "), "{}", said.stdout);
    let said = person.towpath(&["uninstall", "--purge"]).exits(5).says("uninstall --purge --yes");
    assert!(said.stderr.contains("~/home/config, "), "{}", said.stderr);
    assert!(link(&person).exists() && person.runs() == 1, "nothing went without a yes");
    let said = person.towpath(&["uninstall", "--purge", "--yes"]).exits(0);
    assert!(said.stdout.contains("removed ~/home/config, "), "{}", said.stdout);
    assert!(!person.path("home").exists());
    assert!(link(&person).symlink_metadata().is_err());
    assert_eq!(person.read("ok.yaml"), OK, "a project is not touched");
    person.towpath(&["uninstall", "--purge", "--yes"]).exits(0);
    assert!(!person.path("home").exists());
}

#[test]
fn while_a_run_is_alive_nothing_goes() {
    let person = person();
    let slow = "name: slow\nsteps:\n  - {id: a, command: 'touch began; sleep 60'}\n";
    person.write("slow.yaml", slow);
    let mut runner = person.start(&["run", "slow.yaml"]);
    until("the step runs", || person.path("work/began").exists());
    person.towpath(&["uninstall", "--purge", "--yes"]).exits(5).says("is alive (process ");
    assert!(link(&person).exists());
    kill_hard(&mut runner);
    person.towpath(&["uninstall", "--purge", "--yes"]).exits(0);
    assert!(!person.path("home").exists());
}

/// All files below a directory.
fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().map(|e| e.expect("an entry").path())
    {
        match entry.is_dir() && !entry.is_symlink() {
            true => found.extend(files(&entry)),
            false => found.push(entry.display().to_string()),
        }
    }
    found.sort();
    found
}

const THEIRS: [&str; 10] = [
    "letter.txt",
    "data/prices.csv",
    "data/recipes/soup.yaml",
    "cache/index.bin",
    "cache/demo/film.mp4",
    "cache/recipes/soup.git",
    "config/app.toml",
    "config/recipes/soup.txt",
    "state/machine.json",
    "state/runs/data/lap1",
];

#[test]
fn only_what_is_ours_goes_and_what_is_left_is_named() {
    let person = person();
    person.towpath(&["run", "demo", "-q"]).exits(0);
    fs::create_dir_all(person.path("home/config/recipes")).expect("a folder");
    fs::write(person.path("home/config/recipes/mine.yaml"), OK).expect("a file");
    for name in THEIRS {
        let path = person.path("home").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "theirs").expect("a file");
    }
    let look = person.towpath(&["uninstall", "--purge", "--dry-run"]).exits(0);
    let said = person.towpath(&["uninstall", "--purge", "--yes"]).exits(0);
    assert_eq!(look.stdout.replace("would remove", "removed"), said.stdout);
    let line = "left in ~/home/state, not towpath's: machine.json, runs/data\n";
    assert!(said.stdout.contains(line), "{}", said.stdout);
    assert!(said.stdout.contains("removed ~/home/cache, "), "{}", said.stdout);
    assert!(!said.stdout.contains("removed ~/home/data"), "{}", said.stdout);
    let mut theirs = THEIRS.map(|name| person.path("home").join(name).display().to_string());
    theirs.sort();
    assert_eq!(files(&person.path("home")), theirs);
}

#[test]
fn where_nothing_is_ours_nothing_goes() {
    let person = Person::new();
    let theirs = [
        "config/settings.toml",
        "config/recipes/soup.yaml",
        "config/agents/smith.md",
        "data/x",
        "state/runs/data/lock",
        "state/sessions/x",
        "cache/demo/x",
    ];
    for name in theirs {
        let path = person.path("home").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "").expect("a file");
    }
    let said = person.towpath(&["uninstall", "--purge", "--yes"]).exits(0);
    assert!(said.stdout.starts_with("nothing to remove\n"), "{}", said.stdout);
    assert!(said.stdout.contains("left in ~/home/data, not towpath's: x\n"), "{}", said.stdout);
    assert_eq!(files(&person.path("home")).len(), theirs.len());
}

#[test]
fn a_place_that_is_a_link_is_refused_and_links_inside_are_not_followed() {
    let person = person();
    fs::create_dir(person.path("elsewhere")).expect("a folder");
    fs::write(person.path("elsewhere/lock"), "").expect("a file");
    symlink(person.path("elsewhere"), person.path("home/state/runs/abcd")).expect("a link");
    symlink(person.path("elsewhere"), person.path("home/data")).expect("a link");
    let purge = ["uninstall", "--purge", "--yes"];
    person.towpath(&purge).exits(5).says("is a link or a file");
    assert_eq!(person.runs(), 1);
    fs::remove_file(person.path("home/data")).expect("it goes");
    person.towpath(&purge).exits(0).shows("not towpath's: runs/abcd\n");
    assert!(person.path("elsewhere/lock").exists());
}
