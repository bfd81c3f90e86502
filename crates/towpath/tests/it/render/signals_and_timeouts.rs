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

#[test]
fn a_signal_ends_a_renderer_whose_result_nobody_reads() {
    let user = User::new().file("a.md", "@run [echo $$ > pid; echo out]\n");
    let fifo = user.path("work/fifo");
    std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo is there");
    let mut child = user.start(&["render", "a.md", "-o", "fifo"]);
    until("the command runs", || user.path("work/pid").exists() && !user.read("pid").is_empty());
    until("the command ended", || !lives(user.read("pid").trim()));
    signal(&child, Signal::TERM);
    until("the renderer ends", || child.try_wait().expect("a child").is_some());
}

#[test]
fn files_of_a_renderer_with_the_same_number_are_left_alone() {
    let user = User::new().file("a.md", "@run [echo out]\n");
    let renders = user.path("home/state/renders");
    // In a container the same number may be another process: here it is this one's own, locked.
    let script = "mkdir -p \"$0/$$\" && exec 9>\"$0/$$/lock\" && flock 9 && exec \"$@\"";
    let towpath = user.command(&["render", "a.md"]);
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", script]).arg(&renders).arg(towpath.get_program()).args(towpath.get_args());
    for (name, value) in towpath.get_envs() {
        bash.env(name, value.unwrap_or_default());
    }
    bash.current_dir(towpath.get_current_dir().expect("a directory"));
    let printed = bash.output().expect("bash starts");
    assert_eq!(String::from_utf8_lossy(&printed.stdout), "out\n");
    assert_eq!(renders.read_dir().expect("a directory").count(), 1, "the locked one is there");
}

#[test]
fn an_output_that_is_gone_is_no_empty_output() {
    let user = User::new();
    let renders = user.path("home/state/renders");
    let document = format!("start\n@run [echo out; rm -rf '{}'/*]\nend\n", renders.display());
    user.write("a.md", &document);
    let printed = user.command(&["render", "a.md"]).output().expect("it starts");
    assert!(!printed.status.success() && printed.stdout.is_empty(), "{printed:?}");
}
