//! Habits of users of other tools: names of backends, files with a built-in's name, tags, the
//! same run in another checkout.

use crate::support::{Printed, User};
use std::fs;

const ASKS: &str = "name: r\nsteps:\n  - {id: a, prompt: hi}\n";

#[test]
fn a_backend_may_be_named_by_its_program() {
    let user = User::new().file("r.yaml", ASKS);
    let backend = |name: &str, value: &str| {
        let mut command = user.command(&["settings", "--json"]);
        Printed::from(command.env(name, value).output().expect("towpath starts"))
    };
    for (typed, id) in [("claude", "claude-code"), ("copilot", "github-copilot")] {
        let settings = backend("TOWPATH_BACKEND", typed).exits(0).stdout;
        assert!(settings.contains(&format!("\"{id}\"")), "{settings}");
        let named = user.towpath(&["run", "r.yaml", "--backend", typed, "--dry-run"]);
        named.exits(0);
    }
    backend("TOWPATH_BACKEND", "clade")
        .exits(5)
        .reports("TOWPATH_BACKEND: no agent backend `clade`");
    fs::create_dir_all(user.path("home/config")).expect("a directory");
    fs::write(user.path("home/config/settings.toml"), "max_agents = 2\nbackend = \"gemni\"\n")
        .expect("a file");
    let refused = user.towpath(&["run", "r.yaml"]).exits(5).reports("did you mean `gemini`?");
    refused.reports("settings.toml:2:11");
}

#[test]
fn a_file_with_the_name_of_a_built_in_is_named() {
    let mine = "name: mine\nsteps:\n  - {id: mine, command: echo mine}\n";
    let user = User::new().file("demo.yaml", mine);
    user.towpath(&["run", "demo", "--dry-run"])
        .exits(0)
        .reports("note: `demo` is the built-in recipe; the file runs by its path: ./demo.yaml");
    user.towpath(&["run", "./demo.yaml", "-q"]).exits(0).prints("mine\n");
    let user = User::new().file("recipes/demo.yaml", mine);
    user.towpath(&["run", "demo"]).exits(5);
    user.towpath(&["run", "demo", "--dry-run"])
        .exits(0)
        .shows("echo mine")
        .shows("Not trusted yet");
}

#[test]
fn steps_that_tags_leave_out_are_counted_under_the_other_name() {
    let text = "name: r\nsteps:\n  - {id: a, command: echo ran}\n  - {id: b, command: make, when_tags: [slow]}\n";
    let user = User::new().file("r.yaml", text);
    let as_runner =
        |more: &[&str]| user.towpath(&[&["as", "recipe-runner-rs", "r.yaml"], more].concat());
    as_runner(&[]).exits(0).reports("warning: 1 of 2 steps have tags and do not run");
    let asked = as_runner(&["--exclude-tags", "slow"]).exits(0);
    assert!(!asked.stderr.contains("have tags"), "{}", asked.stderr);
}

#[test]
fn a_failed_run_of_another_file_with_the_same_name_is_not_mentioned() {
    let fails = "name: r\nsteps:\n  - {id: a, command: exit 1}\n";
    let user = User::new().file("a.yaml", fails).file("b.yaml", &fails.replace("exit 1", "true"));
    user.towpath(&["run", "a.yaml"]).exits(1);
    let other = user.towpath(&["run", "b.yaml"]).exits(0);
    assert!(!other.stderr.contains("to resume it"), "{}", other.stderr);
    user.towpath(&["run", "a.yaml"]).exits(1).reports("to resume it: towpath resume");
}

#[test]
fn a_secret_that_was_typed_for_its_name_is_not_repeated() {
    let user = User::new().file("r.yaml", "name: r\nsteps:\n  - {id: a, command: ls}\n");
    for value in ["ghp_x9Yz81", "s3cr3t words", "ghp_x9Yz81=", "abc,ghp_x9Yz81"] {
        let refused = user.towpath(&["run", "r.yaml", "--secret", value]);
        assert_ne!(refused.code, Some(0), "{value}");
        let secret = value.trim_matches(['=', ',']);
        assert!(!refused.stderr.contains(secret), "{}", refused.stderr);
    }
    user.towpath(&["run", "r.yaml", "--secret", "MY_TOKEN"])
        .exits(5)
        .reports("MY_TOKEN is not set");
}

#[test]
fn a_run_continues_in_another_checkout() {
    let text = "name: r\nsteps:\n  - {id: a, command: echo first}\n  - {id: b, command: '[ -e go ] && pwd'}\n";
    let user = User::new().file("r.yaml", text);
    user.towpath(&["run", "r.yaml"]).exits(1);
    let run = user.run().to_string();
    fs::rename(user.path("work"), user.path("other")).expect("the checkout moves");
    fs::create_dir(user.path("work")).expect("a directory to work in");
    let empty = user.towpath(&["resume", &run, "-C", "."]).exits(5);
    empty.reports("has no r.yaml, with which the run was started");
    fs::write(user.path("other/go"), "").expect("a file");
    let resumed = user.towpath(&["resume", &run, "-C", "../other", "-q"]).exits(0);
    assert!(resumed.stdout.ends_with("/other\n"), "{}", resumed.stdout);
    let shown = user.towpath(&["show", &run, "--json"]).exits(0).stdout;
    assert!(shown.contains("/other\""), "{shown}");
}

#[test]
fn an_edit_in_another_checkout_is_used() {
    let text = "name: r\nsteps:\n  - {id: a, command: echo first}\n  - {id: b, command: 'false'}\n";
    let user = User::new().file("r.yaml", text);
    user.towpath(&["run", "r.yaml"]).exits(1);
    let run = user.run().to_string();
    fs::rename(user.path("work"), user.path("other")).expect("the checkout moves");
    fs::create_dir(user.path("work")).expect("a directory to work in");
    let edited = text.replace("'false'", "echo fixed; false");
    fs::write(user.path("other/r.yaml"), &edited).expect("a recipe");
    let recorded = user.towpath(&["resume", &run, "-C", "../other"]).exits(1);
    recorded.reports("--edited uses the new one");
    user.towpath(&["resume", &run, "--edited", "-q"]).exits(1).prints("fixed\n");
}
