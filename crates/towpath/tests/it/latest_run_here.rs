//! `show`, `logs`, `cancel`, `resume` and `report` without an id: the latest run of this project that the
//! command applies to, which stderr names. `runs` filtered by recipe, and with directories.

use crate::support::{Printed, Signal, User, signal, until};
use std::fs;

const OK: &str = "name: fine\nsteps:\n  - {id: a, command: echo fine}\n";
const BAD: &str = "name: broken\nsteps:\n  - {id: a, command: \"echo bad; test -e fixed\"}\n";
const SLOW: &str = "name: slow\nsteps:\n  - {id: a, command: \"echo on > started; sleep 600\"}\n";

fn user() -> User {
    let user = User::new().file("fine.yaml", OK).file("broken.yaml", BAD).file("slow.yaml", SLOW);
    fs::create_dir_all(user.path("work/.towpath")).expect("a folder");
    fs::create_dir_all(user.path("work/deep")).expect("a folder");
    fs::create_dir_all(user.path("elsewhere")).expect("a folder");
    user
}

fn within(user: &User, folder: &str, words: &[&str]) -> Printed {
    Printed::from(user.command(words).current_dir(user.path(folder)).output().expect("it starts"))
}

#[test]
fn show_and_logs_take_the_latest_run_of_the_project() {
    let user = user();
    user.towpath(&["run", "broken.yaml"]).exits(1);
    user.towpath(&["run", "fine.yaml"]).exits(0);
    let fine = user.run();
    within(&user, "elsewhere", &["run", "../work/broken.yaml"]).exits(1);
    let note = format!("run {fine} of fine, done, started just now\n");
    for folder in ["work", "work/deep"] {
        let shown = within(&user, folder, &["show"]).exits(0).reports(&note);
        assert!(shown.stdout.starts_with("fine · done"), "{}", shown.stdout);
        let logs = within(&user, folder, &["logs"]).exits(0).reports(&note);
        assert_eq!(logs.stdout, "fine\n");
    }
    let json = user.towpath(&["show", "--json"]).exits(0).json();
    assert_eq!(json["run_id"], fine.as_str());
    assert!(!user.towpath(&["show", fine.as_str()]).stderr.contains("started"), "it was named");
}

#[test]
fn a_step_or_a_recipe_instead_of_a_run_is_answered_with_the_run() {
    let user = user();
    user.towpath(&["run", "fine.yaml"]).exits(0);
    let run = user.run();
    for command in ["show", "logs"] {
        let printed = user.towpath(&[command, "fine"]).exits(2);
        printed.reports(&format!("it is the recipe of the latest one: towpath show {run}\n"));
    }
    user.towpath(&["show", "zzzz"]).exits(2).reports("there is no run zzzz; `towpath runs` lists");
    user.towpath(&["trust", "demo"])
        .exits(2)
        .reports("demo is a built-in recipe, which needs no trust");
    user.write(".towpath/recipes/ci.yaml", OK);
    user.towpath(&["trust", "ci"]).exits(2).reports("towpath trust .towpath/recipes/ci.yaml\n");
    user.write("two.yaml", "name: two\nsteps:\n  - {id: compile, command: echo}\n");
    user.towpath(&["run", "two.yaml"]).exits(0);
    let run = user.run();
    user.towpath(&["show", "compile"])
        .exits(2)
        .reports(&format!("it is a step of the latest one: towpath show {run} compile\n"));
}

#[test]
fn resume_takes_the_latest_run_that_can_be_resumed() {
    let user = user();
    user.towpath(&["resume"]).exits(2).reports("no run here can be resumed");
    user.towpath(&["run", "broken.yaml"]).exits(1);
    let broken = user.run();
    user.towpath(&["run", "fine.yaml"]).exits(0);
    user.write("fixed", "");
    user.towpath(&["resume"])
        .exits(0)
        .reports(&format!("run {broken} of broken, failed, started "));
    user.towpath(&["resume"]).exits(2).reports("no run here can be resumed");
}

#[test]
fn again_takes_the_latest_run_also_one_that_is_done() {
    let user = user();
    user.towpath(&["run", "broken.yaml"]).exits(1);
    user.towpath(&["run", "fine.yaml"]).exits(0);
    let fine = user.run();
    user.towpath(&["resume", "--again", "a"])
        .exits(0)
        .reports(&format!("run {fine} of fine, done, started "))
        .reports("runs again: a");
}

#[test]
fn cancel_takes_the_latest_run_that_has_not_ended() {
    let user = user();
    user.towpath(&["cancel"]).exits(2).reports("nothing has run yet");
    let mut slow = user.start(&["run", "slow.yaml"]);
    until("it has started", || user.path("work/started").exists());
    let id = user.run();
    user.towpath(&["run", "fine.yaml"]).exits(0);
    user.towpath(&["cancel"])
        .exits(0)
        .reports(&format!("run {id} of slow, running, started "))
        .shows(&format!("run {id} is cancelled\n"));
    slow.wait().expect("it ends");
    user.towpath(&["cancel"]).exits(2).reports("no run here can be cancelled");
}

#[test]
fn runs_are_filtered_by_recipe_and_name_their_directory_where_there_are_several() {
    let user = user();
    user.towpath(&["run", "fine.yaml"]).exits(0);
    let first = user.run();
    user.towpath(&["run", "broken.yaml"]).exits(1);
    let one = user.towpath(&["runs", "--recipe", "fine"]).exits(0).stdout;
    assert!(one.contains(first.as_str()) && one.lines().count() == 2, "{one}");
    assert!(!one.contains("DIRECTORY"), "all are in one directory: {one}");
    let json = user.towpath(&["runs", "--recipe", "fine", "--json"]).json();
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(1));
    within(&user, "work/deep", &["run", "../fine.yaml"]).exits(0);
    let two = user.towpath(&["runs"]).exits(0).stdout;
    let rows: Vec<&str> = two.lines().collect();
    assert!(rows[0].ends_with("DIRECTORY") && rows[1].ends_with("deep"), "{two}");
    let none = user.towpath(&["runs", "--recipe", "nope", "--status", "done"]).exits(0).stdout;
    assert_eq!(
        none,
        "no runs of nope that are done here; in all directories: towpath runs --all\n"
    );
    let more = user.towpath(&["runs", "--recipe", "fine", "-n", "1"]).exits(0).stdout;
    assert!(more.ends_with("older: towpath runs --recipe fine -n 2\n"), "{more}");
}

/// The status that completion shows beside each run, and the runs that it offers.
fn offered(user: &User, command: &str) -> Vec<(String, String)> {
    let mut asked = user.command(&["--", "towpath", command, ""]);
    asked.env("TOWPATH_COMPLETE", "fish").env("_CLAP_COMPLETE_INDEX", "2");
    let printed = Printed::from(asked.output().expect("it starts")).exits(0).stdout;
    let rows = printed.lines().filter_map(|line| line.split_once('\t'));
    rows.map(|(run, help)| {
        let status = help.split(", ").nth(1).unwrap_or_default();
        (run.to_owned(), status.to_owned())
    })
    .collect()
}

#[test]
fn completion_and_runs_agree_on_every_status() {
    let user = user();
    user.towpath(&["run", "fine.yaml"]).exits(0);
    user.towpath(&["run", "broken.yaml"]).exits(1);
    let mut killed = user.start(&["run", "slow.yaml"]);
    until("it has started", || user.path("work/started").exists());
    let interrupted = user.run();
    signal(&killed, Signal::KILL);
    killed.wait().expect("it is gone");
    until("its warden is gone, too", || user.towpath(&["runs"]).stdout.contains("interrupted"));
    let table = user.towpath(&["runs"]).stdout;
    let row = table.lines().find(|line| line.contains("interrupted")).expect("its row");
    assert!(row.ends_with(" a"), "it names the interrupted step: {row:?}");
    let json = user.towpath(&["runs", "--json"]).json();
    let listed = json["runs"].as_array().expect("a list").iter();
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let listed: Vec<(String, String)> =
        listed.map(|run| (text(&run["run_id"]), text(&run["status"]))).collect();
    assert_eq!(offered(&user, "show"), listed);
    let with = |statuses: &[&str]| -> Vec<(String, String)> {
        listed.iter().filter(|(_, status)| statuses.contains(&status.as_str())).cloned().collect()
    };
    assert_eq!(offered(&user, "resume"), with(&["failed", "interrupted"]));
    assert_eq!(offered(&user, "cancel"), with(&["interrupted"]));
    assert_eq!(with(&["interrupted"])[0].0, interrupted.as_str());
    for status in towpath_core::StatusKind::ALL {
        user.towpath(&["runs", "--status", status.as_str()]).exits(0);
        let mut asked = user.command(&["--", "towpath", "runs", "--status", status.as_str()]);
        asked.env("TOWPATH_COMPLETE", "fish").env("_CLAP_COMPLETE_INDEX", "3");
        let printed = Printed::from(asked.output().expect("it starts")).exits(0).stdout;
        assert_eq!(printed.lines().next(), Some(status.as_str()));
    }
}
