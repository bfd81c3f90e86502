//! Signals, timeouts and what commands leave behind.

use crate::support::{User, kill_hard, lives, signal, until};
use rustix::process::Signal;
use std::process::Stdio;

#[test]
fn an_interrupt_ends_the_command_and_prints_nothing() {
    let user = User::new().file(
        "a.md",
        "@run [echo $$ > pid; trap 'echo ended > ended; exit' TERM; sleep 60 & wait]\n",
    );
    let mut child =
        user.command(&["render", "a.md"]).stdout(Stdio::piped()).spawn().expect("it starts");
    until("the command runs", || user.path("work/pid").exists() && !user.read("pid").is_empty());
    signal(&child, Signal::INT);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    until("the command ended", || !lives(user.read("pid").trim()));
    assert_eq!(user.read("ended"), "ended\n");
    let renders = user.path("home/state/renders");
    assert_eq!(renders.read_dir().expect("commands have run there").count(), 0, "nothing is left");
}

#[test]
fn nothing_outlives_a_killed_renderer() {
    let user = User::new().file("a.md", "@run [setsid sleep 60 & echo $! > pid; sleep 60]\n");
    let mut child = user.start(&["render", "a.md"]);
    until("the command runs", || user.path("work/pid").exists() && !user.read("pid").is_empty());
    kill_hard(&mut child);
    until("its children are gone", || !lives(user.read("pid").trim()));
    user.write("b.md", "@run [echo fine]\n");
    user.towpath(&["render", "b.md"]).exits(0).prints("fine\n");
}

#[test]
fn a_background_child_does_not_keep_the_document() {
    let user = User::new().file("a.md", "@run [sleep 60 & echo $! > pid; echo out]\nend\n");
    user.towpath(&["render", "a.md"]).exits(0).prints("out\nend\n");
    assert!(!lives(user.read("pid").trim()), "it ends with the document");
}

#[test]
fn a_timeout_names_the_command() {
    let user = User::new().file("a.md", "\n@run [sleep 60]\n");
    let printed = user.towpath(&["render", "a.md", "--timeout", "0.3"]).exits(1).prints("");
    printed.reports("timed out after 0.3 s").reports("a.md:2");
}
