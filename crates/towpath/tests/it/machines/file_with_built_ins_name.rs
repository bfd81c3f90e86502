//! What an untrusted or broken file of a built-in's name means.

use super::{FIX, script};
use crate::support::User;
use std::fs;

/// A project whose file has the id of a built-in.
fn shadowing() -> User {
    let own = FIX.replace("id: fix", "id: retrospective");
    let user = User::new().file(".towpath/recipes/retrospective.yaml", &own);
    fs::create_dir(user.path("work/.git")).expect("a project");
    script(&user, &["complete"]);
    user
}

const FILE: &str = ".towpath/recipes/retrospective.yaml";

#[test]
fn an_untrusted_file_of_a_built_ins_name_runs_under_no_name() {
    let user = shadowing();
    let run = ["run", "retrospective", "--script", "answers.jsonl"];
    let printed = user.towpath(&run).exits(5).prints("");
    assert!(printed.stderr.contains(&format!("to trust it: towpath trust --yes {FILE}")));
    let other = ["as", "agent-recipes", "retrospective", "--script", "answers.jsonl"];
    let printed = user.towpath(&other).exits(0);
    assert_eq!(printed.stdout.lines().last(), Some("Exit: retrospective-complete"));
    let note = format!("{FILE} is not trusted and does not replace the built-in");
    assert!(printed.stderr.contains(&note), "{}", printed.stderr);
    user.towpath(&["trust", "--yes", FILE]).exits(0);
    script(&user, &["fine"]);
    user.towpath(&run).exits(0);
    let printed = user.towpath(&other).exits(0);
    assert_eq!(printed.stdout.lines().last(), Some("Exit: all-fine"));
    assert!(!printed.stderr.contains("not trusted"), "{}", printed.stderr);
}

#[test]
fn a_broken_file_that_replaces_a_built_in_is_reported_and_nothing_runs() {
    let user = shadowing();
    user.towpath(&["trust", "--yes", FILE]).exits(0);
    let broken = user.read(FILE).replace("nextStep: fix", "nextStep: fxi");
    for text in [broken.as_str(), "", "id: retrospective\n"] {
        user.write(FILE, text);
        let script = ["--script", "answers.jsonl"];
        let run = [&["run", "retrospective"], &script[..]].concat();
        for looking in [&run[..], &["validate", "retrospective"], &["explain", "retrospective"]] {
            let printed = user.towpath(looking).exits(2);
            let reported = printed.stdout.clone() + &printed.stderr;
            assert!(reported.contains(FILE), "{looking:?}: {reported}");
        }
        let dry = [&run[..], &["--dry-run"]].concat();
        user.towpath(&dry).exits(2);
        let other = [&["as", "agent-recipes", "retrospective"], &script[..]].concat();
        let printed = user.towpath(&other).exits(0);
        assert!(printed.stderr.contains("does not replace the built-in"), "{printed:?}");
    }
    user.write(FILE, FIX);
    user.write(".towpath/recipes/retrospective.yml", FIX);
    let printed = user.towpath(&["run", "retrospective"]).exits(2);
    assert!(printed.stderr.contains("`retrospective` is both "), "{}", printed.stderr);
}

#[test]
fn the_list_shows_what_is_shadowed() {
    let user = shadowing();
    let shadowed = |user: &User| -> Vec<String> {
        let printed = user.towpath(&["as", "agent-recipes", "--list"]).exits(0);
        let lines = printed.stdout.lines().filter(|line| line.ends_with(" (shadowed)"));
        lines.map(|line| line.split_whitespace().nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(shadowed(&user), ["Fix"]);
    user.towpath(&["trust", "--yes", FILE]).exits(0);
    assert_eq!(shadowed(&user), ["Retrospective"]);
}
