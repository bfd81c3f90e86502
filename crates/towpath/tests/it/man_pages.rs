//! `towpath man`.

use crate::support::User;
use std::fs;
use std::process::Command;

#[test]
fn every_command_has_a_page_that_the_formatter_takes() {
    let user = User::new();
    user.towpath(&["man", "share/man1"]).exits(0);
    let pages = user.path("work/share/man1");
    let help = user.towpath(&["--help"]).exits(0).stdout;
    let listed = help.split("Commands:").nth(1).and_then(|t| t.split("Options:").next());
    let mut commands = 0;
    for line in listed.expect("a list of commands").lines() {
        let Some(command) = line.split_whitespace().next() else { continue };
        let page = pages.join(format!("towpath-{command}.1"));
        let text = fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        assert!(text.contains(".SH SYNOPSIS") && text.contains("Example"), "{command}");
        commands += 1;
    }
    assert!(commands > 12, "{commands} commands");
    let nested = fs::read_to_string(pages.join("towpath-recipes-sync.1")).expect("a page");
    assert!(nested.contains("\\-\\-apply"), "{nested}");
    assert!(!pages.join("towpath-doors.1").exists(), "what is hidden has no page");
    for entry in fs::read_dir(&pages).expect("pages") {
        formats(&entry.expect("a page").path());
    }
}

/// The formatter has nothing to complain about.
fn formats(page: &std::path::Path) {
    let output = Command::new("groff").args(["-man", "-Tutf8", "-ww"]).arg(page).output();
    let output = output.expect("groff is installed, as by ./test");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.is_empty(), "{}: {printed}", page.display());
    assert!(String::from_utf8_lossy(&output.stdout).contains("towpath 0."), "its source is named");
}

#[test]
fn pages_are_replaced_and_nothing_else() {
    let user = User::new();
    user.towpath(&["man", "man1"]).exits(0);
    user.write("man1/towpath-run.1", ".TH towpath-run 1\nold\n");
    user.towpath(&["man", "man1"]).exits(0);
    assert!(user.read("man1/towpath-run.1").contains("SYNOPSIS"));
    user.write("man1/towpath-run.1", "my notes\n");
    user.write("man1/towpath.1", ".TH towpath 1\nold\n");
    user.towpath(&["man", "man1"]).exits(2).reports("towpath-run.1 exists and is not a page");
    assert_eq!(user.read("man1/towpath-run.1"), "my notes\n");
    assert_eq!(user.read("man1/towpath.1"), ".TH towpath 1\nold\n", "nothing was written");
    user.write("taken", "");
    user.towpath(&["man", "taken"]).exits(5);
}
