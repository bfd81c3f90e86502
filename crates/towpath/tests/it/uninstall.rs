//! Leaving a machine: links that lead to this program go, towpath's own directories when asked
//! for, and nothing of anybody else's.

use crate::support::{User, kill_hard, until};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const OK: &str = "name: ok\nsteps:\n  - {id: a, command: echo hello}\n";

/// A user with a link, a run and settings.
fn user() -> User {
    let user = User::new().file("ok.yaml", OK).file("s.yaml", OK);
    fs::create_dir_all(user.path(".local/bin")).expect("a folder");
    let bin = user.path(".local/bin").display().to_string();
    user.towpath(&["link", &bin]).exits(0);
    user.towpath(&["run", "ok.yaml", "-q"]).exits(0);
    fs::create_dir_all(user.path("home/config")).expect("a folder");
    fs::write(user.path("home/config/settings.toml"), "max_agents = 3\n").expect("a file");
    user
}

fn link(user: &User) -> std::path::PathBuf {
    user.path(".local/bin/recipe-runner-rs")
}

#[test]
fn links_are_removed_and_everything_else_is_named() {
    let user = user();
    let printed = user.towpath(&["uninstall", "--dry-run"]).exits(0);
    assert!(printed.stdout.starts_with("would remove the link ~/.local/bin/recipe-runner-rs\n"));
    assert!(link(&user).exists());
    // Neither a file nor a link of another user's is ours.
    let bin = user.path(".local/bin");
    fs::remove_file(bin.join("dp")).expect("a link");
    fs::write(bin.join("dp"), "mine").expect("a file");
    fs::remove_file(bin.join("meld")).expect("a link");
    symlink("/bin/true", bin.join("meld")).expect("a link");
    let printed = user.towpath(&["uninstall"]).exits(0);
    let lines: Vec<&str> = printed.stdout.lines().collect();
    assert_eq!(lines[0], "removed the link ~/.local/bin/recipe-runner-rs");
    assert_eq!(lines[1], "removed the link ~/.local/bin/agent-recipes");
    assert!(lines[2].starts_with("kept: ~/home/state, ~/home/config ("), "{lines:?}");
    let program = env!("CARGO_BIN_EXE_towpath");
    assert_eq!(lines[4], format!("to remove the program itself: rm {program}"));
    assert!(Path::new(program).exists());
    assert!(link(&user).symlink_metadata().is_err());
    assert!(bin.join("dp").exists() && bin.join("meld").exists());
    assert_eq!(user.runs(), 1);
    let printed = user.towpath(&["uninstall"]).exits(0);
    assert!(printed.stdout.starts_with("nothing to remove\n"), "{}", printed.stdout);
}

#[test]
fn everything_is_removed_after_a_yes() {
    let user = user();
    user.towpath(&["rules", "add", "command", "grep", "rg"]).exits(0);
    assert!(user.path("home/state/hooks/rules.lock").exists());
    let printed = user.towpath(&["uninstall", "--purge", "--dry-run"]).exits(0);
    assert!(printed.stdout.contains("would remove ~/home/state, "), "{}", printed.stdout);
    let printed =
        user.towpath(&["uninstall", "--purge"]).exits(5).reports("uninstall --purge --yes");
    assert!(printed.stderr.contains("~/home/config, "), "{}", printed.stderr);
    assert!(link(&user).exists() && user.runs() == 1, "nothing went without a yes");
    let printed = user.towpath(&["uninstall", "--purge", "--yes"]).exits(0);
    assert!(printed.stdout.contains("removed ~/home/config, "), "{}", printed.stdout);
    assert!(!user.path("home").exists());
    assert!(link(&user).symlink_metadata().is_err());
    assert_eq!(user.read("ok.yaml"), OK, "a project is not touched");
    user.towpath(&["uninstall", "--purge", "--yes"]).exits(0);
    assert!(!user.path("home").exists());
}

#[test]
fn nothing_is_removed_while_a_run_is_alive() {
    let user = user();
    let slow = "name: slow\nsteps:\n  - {id: a, command: 'touch began; sleep 60'}\n";
    user.write("slow.yaml", slow);
    let mut runner = user.start(&["run", "slow.yaml"]);
    until("the step runs", || user.path("work/began").exists());
    user.towpath(&["uninstall", "--purge", "--yes"]).exits(5).reports("is active (process ");
    assert!(link(&user).exists());
    kill_hard(&mut runner);
    user.towpath(&["uninstall", "--purge", "--yes"]).exits(0);
    assert!(!user.path("home").exists());
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
fn only_own_files_are_removed_and_the_rest_is_named() {
    let user = user();
    user.towpath(&["run", "demo", "-q"]).exits(0);
    fs::create_dir_all(user.path("home/config/recipes")).expect("a folder");
    fs::write(user.path("home/config/recipes/mine.yaml"), OK).expect("a file");
    for name in THEIRS {
        let path = user.path("home").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "theirs").expect("a file");
    }
    let look = user.towpath(&["uninstall", "--purge", "--dry-run"]).exits(0);
    let printed = user.towpath(&["uninstall", "--purge", "--yes"]).exits(0);
    assert_eq!(look.stdout.replace("would remove", "removed"), printed.stdout);
    let line = "left in ~/home/state, not towpath's: machine.json, runs/data\n";
    assert!(printed.stdout.contains(line), "{}", printed.stdout);
    assert!(printed.stdout.contains("removed ~/home/cache, "), "{}", printed.stdout);
    assert!(!printed.stdout.contains("removed ~/home/data"), "{}", printed.stdout);
    let mut theirs = THEIRS.map(|name| user.path("home").join(name).display().to_string());
    theirs.sort();
    assert_eq!(files(&user.path("home")), theirs);
}

#[test]
fn nothing_is_removed_where_nothing_is_ours() {
    let user = User::new();
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
        let path = user.path("home").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "").expect("a file");
    }
    let printed = user.towpath(&["uninstall", "--purge", "--yes"]).exits(0);
    assert!(printed.stdout.starts_with("nothing to remove\n"), "{}", printed.stdout);
    assert!(
        printed.stdout.contains("left in ~/home/data, not towpath's: x\n"),
        "{}",
        printed.stdout
    );
    assert_eq!(files(&user.path("home")).len(), theirs.len());
}

#[test]
fn a_directory_that_is_a_link_is_refused_and_links_inside_are_not_followed() {
    let user = user();
    fs::create_dir(user.path("elsewhere")).expect("a folder");
    fs::write(user.path("elsewhere/lock"), "").expect("a file");
    symlink(user.path("elsewhere"), user.path("home/state/runs/abcd")).expect("a link");
    symlink(user.path("elsewhere"), user.path("home/data")).expect("a link");
    let purge = ["uninstall", "--purge", "--yes"];
    user.towpath(&purge).exits(5).reports("is a link or a file");
    assert_eq!(user.runs(), 1);
    fs::remove_file(user.path("home/data")).expect("it goes");
    user.towpath(&purge).exits(0).shows("not towpath's: runs/abcd\n");
    assert!(user.path("elsewhere/lock").exists());
}
