//! `towpath trust --here`: a directory's recipes run whatever they become, as long as it is not revoked; and what
//! agents may do is in the question, the help and the pages.

use crate::support::{Printed, User};
use std::fs;
use std::path::Path;

const HELLO: &str = "name: hello\nsteps:\n  - {id: a, command: echo one}\n";
const ASKING: &str = "name: ask\nsteps:\n  - {id: a, prompt: Do it.}\n";

fn project() -> User {
    User::new().file(".towpath/recipes/hello.yaml", HELLO)
}

fn within(user: &User, folder: &str, words: &[&str]) -> Printed {
    Printed::from(user.command(words).current_dir(user.path(folder)).output().expect("it starts"))
}

#[test]
fn a_trusted_directory_runs_its_recipes_whatever_they_become() {
    let user = project();
    user.towpath(&["run", "hello"]).exits(5);
    user.towpath(&["trust", "--here", "--yes"]).exits(0);
    user.towpath(&["run", "hello"]).exits(0);
    user.write(".towpath/recipes/hello.yaml", &HELLO.replace("one", "two"));
    user.write(".towpath/recipes/new.yaml", &HELLO.replace("hello", "new"));
    user.towpath(&["run", "hello", "-q"]).exits(0).prints("two\n");
    fs::create_dir_all(user.path("work/deep")).expect("a folder");
    within(&user, "work/deep", &["run", "new", "-q"]).exits(0).prints("one\n");
    let list = user.towpath(&["list", "--json"]).json();
    assert_eq!(list["recipes"][0]["trusted"], true);
}

#[test]
fn what_it_means_is_stated_before_anything_is_trusted() {
    let user = project();
    let refused = user.towpath(&["trust", "--here"]).exits(5).reports("towpath trust --here --yes");
    let root = user.path("work").canonicalize().expect("it is there");
    for text in [
        root.to_str().expect("text"),
        "whatever they become. An agent that works here, a pull",
        "can rewrite them",
        "Agents run with all permissions",
        "what it changed is staged in git",
    ] {
        assert!(refused.stdout.contains(text), "no {text:?} in:\n{}", refused.stdout);
    }
    user.towpath(&["run", "hello"]).exits(5);
    let no = user.on_terminal(&["trust", "--here"], 80, "n\n");
    assert!(no.contains("Trust this directory? [y/N]"), "{no}");
    user.towpath(&["run", "hello"]).exits(5);
    user.on_terminal(&["trust", "--here"], 80, "y\n");
    user.towpath(&["run", "hello"]).exits(0);
}

#[test]
fn a_clone_within_a_trusted_directory_is_not_trusted() {
    let user = project();
    user.towpath(&["trust", "--here", "--yes"]).exits(0);
    user.write("vendor/lib/.towpath/recipes/hello.yaml", HELLO);
    within(&user, "work/vendor/lib", &["run", "hello"]).exits(5);
    fs::create_dir_all(user.path("work/vendor/other/.git")).expect("a folder");
    user.write("vendor/other/recipes/hello.yaml", HELLO);
    within(&user, "work/vendor/other", &["run", "hello"]).exits(5);
}

#[test]
fn it_is_for_recipes_alone() {
    let user = project().file(".towpath/settings.toml", "max_agents = 3\n");
    user.towpath(&["trust", "--here", "--yes"]).exits(0);
    user.towpath(&["settings"]).exits(0).reports(".towpath/settings.toml is not trusted");
}

#[test]
fn it_is_listed_by_doctor_and_can_be_revoked() {
    let user = project();
    user.towpath(&["trust", "--here", "--yes"])
        .exits(0)
        .shows("to revoke it: towpath trust --revoke .\n");
    let what = "all recipes of . run, whatever they become; to revoke it: towpath trust --revoke .";
    user.towpath(&["doctor"]).shows(what);
    user.towpath(&["trust", "--list"]).exits(0).shows("all its recipes, whatever they become");
    user.towpath(&["trust", "--revoke", "."]).exits(0).shows("no longer trusted: .\n");
    user.towpath(&["run", "hello"]).exits(5);
    assert!(!user.towpath(&["doctor"]).stdout.contains("whatever they become"));
}

#[test]
fn the_question_states_what_agents_may_do() {
    let user = User::new().file(".towpath/recipes/ask.yaml", ASKING);
    let asked = user.on_terminal(&["run", "ask"], 200, "n\n");
    for text in [
        "Agents run with all permissions",
        "what it changed is staged in git",
        "Trust it and run it?",
    ] {
        assert!(asked.contains(text), "no {text:?} in:\n{asked}");
    }
    let shown = user.towpath(&["trust"]).exits(5).stdout;
    assert!(shown.contains("Agents run with all permissions"), "{shown}");
    let plain = project().towpath(&["trust"]).exits(5).stdout;
    assert!(!plain.contains("Agents run"), "it asks no agent: {plain}");
    let help = user.towpath(&["trust", "--help"]).exits(0).stdout;
    assert!(help.contains("Agents run with all permissions"), "{help}");
}

#[test]
fn the_pages_state_what_agents_may_do() {
    for name in ["README.md", "docs/getting-started.md", "docs/trust.md", "docs/agents.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let text = fs::read_to_string(path).expect("the page is there");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["with all permissions", "staged in git"] {
            assert!(text.contains(part), "no {part:?} in {name}");
        }
    }
}
