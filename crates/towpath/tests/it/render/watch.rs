//! `--watch`: a document is rendered again when it changes.

use crate::support::{User, signal, until};
use rustix::process::Signal;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

#[test]
fn what_follows_a_change_runs_again_and_what_is_before_it_does_not() {
    let document = "@run [echo 1 >> first; cat first]\n@embed [part.md]\n@run [echo 2 >> second]\n";
    let user = User::new().file("a.md", document).file("part.md", "old\n");
    let mut command = user.command(&["render", "a.md", "-w", "-o", "out.md"]);
    let mut child = command.stderr(Stdio::null()).spawn().expect("it starts");
    let out = |text: &str| user.path("work/out.md").exists() && user.read("out.md") == text;
    until("the first rendering", || out("1\nold\n"));
    user.write("part.md", "new\n");
    until("the change", || out("1\nnew\n"));
    until("the rest ran again", || user.count("second", "2") == 2);
    assert_eq!(user.count("first", "1"), 1, "what is before the change did not run again");
    user.write("a.md", "@run [echo half\n");
    user.write("a.md", &format!("{document}end\n"));
    until("another change", || out("1\nnew\nend\n"));
    signal(&child, Signal::INT);
    // While the result is written, the signal itself ends it; a shell shows 130 for that, too.
    let ended = child.wait().expect("it ends");
    assert_eq!(ended.code().or(ended.signal().map(|number| 128 + number)), Some(130));
}
