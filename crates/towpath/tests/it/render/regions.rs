//! Marked regions of a file that is otherwise left alone.

use crate::support::{User, signal, until};
use rustix::process::Signal;

const README: &str = "# {{title}}\n\n<!-- towpath\n@text name = 'demo'\n@define version = @run [cat version]\n-->\n\n\
    @run [touch made]\n\n<!-- towpath:begin version -->\nold\n<!-- towpath:end -->\n\n```\n\
    <!-- towpath:begin version -->\n```\n<!-- towpath:begin name -->\n<!-- towpath:end -->\nend";

#[test]
fn only_the_regions_change() {
    let user = User::new().file("README.md", README).file("version", "1.2\n");
    user.towpath(&["render", "README.md", "--in-place", "--check", "README.md"])
        .exits(1)
        .shows("-old\n+1.2");
    assert_eq!(user.read("README.md"), README);
    user.towpath(&["render", "README.md", "--in-place"]).exits(0).prints("");
    let expected = README
        .replace("old\n", "1.2\n")
        .replace("<!-- towpath:begin name -->\n", "<!-- towpath:begin name -->\ndemo\n");
    assert_eq!(user.read("README.md"), expected);
    assert!(!user.path("work/made").exists(), "a directive outside of the comments is text");
    user.towpath(&["render", "README.md", "--in-place", "--check", "README.md"]).exits(0);
    user.towpath(&["render", "README.md", "--in-place"]).exits(0);
    assert_eq!(user.read("README.md"), expected);
}

const PRINTS_A_MARKER: &str = "<!-- towpath\n@define x = @run [printf 'a\\n<!-- towpath:%s -->\\nb' end]\n\
    -->\n<!-- towpath:begin x -->\nold\n<!-- towpath:end -->\n";

#[test]
fn json_never_replaces_the_file() {
    let user = User::new().file("README.md", README).file("version", "1.2\n");
    let json = ["render", "README.md", "--in-place", "--format", "json"];
    user.towpath(&json).exits(2).shows("cannot be used with --format json");
    assert_eq!(user.read("README.md"), README);
    user.towpath(&[&json[..], &["--list-commands"]].concat()).exits(0).shows("cat version");
}

#[test]
fn what_is_wrong_leaves_the_file_alone() {
    for (text, why) in [
        ("<!-- towpath:begin x -->\n<!-- towpath:end -->\n", "`x` is not defined"),
        ("<!-- towpath:begin x -->\nabc\n", "not closed"),
        ("<!-- towpath:end -->\n", "without a towpath:begin"),
        ("<!-- towpath\n@run [touch made]\n-->\n", "only definitions belong here"),
        ("<!-- towpath\n@text x = 'y'\n", "--> is missing"),
        ("<!-- towpath:begin -->\n<!-- towpath:end -->\n", "expected the name"),
        (PRINTS_A_MARKER, "a line that begins or ends a region"),
    ] {
        let user = User::new().file("a.md", text);
        user.towpath(&["render", "a.md", "--in-place"]).exits(2).reports(why);
        assert_eq!(user.read("a.md"), text);
        assert!(!user.path("work/made").exists());
    }
}

#[test]
fn a_file_without_regions_stays_and_that_is_reported() {
    let user = User::new().file("README.md", "# Hi\n");
    user.towpath(&["render", "README.md", "--in-place"])
        .exits(0)
        .reports("README.md has no regions, so nothing is replaced");
    assert_eq!(user.read("README.md"), "# Hi\n");
}

const EDITS_ITSELF: &str = "<!-- towpath\n@define a = @run [test -e once || { touch once; echo MY EDIT >> R.md; }; echo done]\n\
    -->\n<!-- towpath:begin a -->\n<!-- towpath:end -->\n";

#[test]
fn an_edit_that_is_made_while_commands_run_is_never_lost() {
    let user = User::new().file("R.md", EDITS_ITSELF);
    user.towpath(&["render", "R.md", "--in-place"])
        .exits(1)
        .reports("R.md changed while its commands ran: nothing was written");
    assert_eq!(user.read("R.md"), format!("{EDITS_ITSELF}MY EDIT\n"));
    user.towpath(&["render", "R.md", "--in-place"]).exits(0);
    assert!(user.read("R.md").ends_with("a -->\ndone\n<!-- towpath:end -->\nMY EDIT\n"));
}

#[test]
fn a_watched_file_is_rendered_again_with_the_edit_that_was_made_meanwhile() {
    let user = User::new().file("R.md", EDITS_ITSELF);
    let mut command = user.command(&["render", "R.md", "--in-place", "--watch"]);
    let mut child = command.stderr(std::process::Stdio::null()).spawn().expect("it starts");
    until("both are there", || {
        user.read("R.md").ends_with("a -->\ndone\n<!-- towpath:end -->\nMY EDIT\n")
    });
    signal(&child, Signal::INT);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

#[test]
fn what_a_command_printed_into_a_region_is_text_for_every_other_mode() {
    let printed = "- fix typo\n@run [touch made; echo harmless]\n{{log}}\n";
    let user = User::new().file("log.txt", printed).file(
        "R.md",
        "@text log = 'L'\n<!-- towpath\n@define log = @run [cat log.txt]\n-->\n<!-- towpath:begin log -->\n<!-- towpath:end -->\n{{log}}\n",
    );
    user.towpath(&["render", "R.md", "--in-place"]).exits(0);
    let rendered = user.towpath(&["render", "R.md"]).exits(0).stdout;
    assert!(
        rendered.contains(&format!("log -->\n{printed}<!-- towpath:end -->\nL\n")),
        "{rendered}"
    );
    user.towpath(&["render", "R.md", "--list-commands"]).exits(0).shows("runs no commands");
    assert!(!user.path("work/made").exists());
}

#[test]
fn a_region_that_loses_its_text_is_reported() {
    let user =
        User::new().file("R.md", "<!-- towpath:begin @run [true] -->\nold\n<!-- towpath:end -->\n");
    let strict = ["render", "R.md", "--in-place", "--strict"];
    user.towpath(&strict).exits(2).reports("this region had text, and is empty now");
    assert_eq!(user.count("R.md", "old"), 1);
    user.towpath(&strict[..3]).exits(0).reports("warning: this region had text");
    assert_eq!(user.count("R.md", "old"), 0);
    user.towpath(&strict).exits(0);
}

#[test]
fn a_missing_tool_does_not_empty_a_region() {
    let text = "<!-- towpath\n@define usage = @run [./tool --help | sed 's/^/    /']\n-->\n\
        <!-- towpath:begin usage -->\n    Usage: tool\n<!-- towpath:end -->\n";
    let user = User::new().file("R.md", text);
    user.towpath(&["render", "R.md", "--in-place"]).exits(1).reports("exit code 127");
    assert_eq!(user.read("R.md"), text);
    user.towpath(&["render", "R.md", "--in-place", "--no-fail-fast"]).exits(0);
    assert_eq!(user.count("R.md", "Usage"), 0);
}

#[test]
fn a_marker_has_what_it_shows_and_its_indentation_is_kept() {
    let text = "- an item\n\n  <!-- towpath:begin $console(echo \"hi, $((1 + 1))\") -->\n  <!-- towpath:end -->\n\n\
        <!-- towpath:begin @run [printf 'a\\n\\nb'] -->\n<!-- towpath:end -->\n\
        <!-- towpath:begin @embed [part.md # B] -->\nold\n<!-- towpath:end -->\n\
          \x20 <!-- towpath\n  @define two(x) = @run [echo {{x}}2]\n  -->\n\
        <!-- towpath:begin $two(1) -->\n<!-- towpath:end -->\n";
    let user = User::new().file("R.md", text).file("part.md", "# A\n# B\nb\n");
    user.towpath(&["render", "R.md", "--in-place"]).exits(0);
    let expected = text
        .replace(
            ") -->\n  <!-- towpath:end",
            ") -->\n  ```console\n  $ echo \"hi, $((1 + 1))\"\n  hi, 2\n  ```\n  <!-- towpath:end",
        )
        .replace("b'] -->\n", "b'] -->\na\n\nb\n")
        .replace("old\n", "# B\nb\n")
        .replace("$two(1) -->\n", "$two(1) -->\n12\n");
    assert_eq!(user.read("R.md"), expected);
    user.towpath(&["render", "R.md", "--in-place", "--check"]).exits(0);
}

#[test]
fn other_comments_mark_regions_where_the_file_is_no_markdown() {
    let mut user = User::new();
    for (name, begin, end) in [
        ("a.py", "# towpath:begin @run [echo 'x = 1']", "# towpath:end"),
        ("a.rs", "// towpath:begin @run [echo 'x = 1']", "// towpath:end"),
        ("a.css", "/* towpath:begin @run [echo 'x = 1'] */", "/* towpath:end */"),
        ("a.rst", ".. towpath:begin @run [echo 'x = 1']", ".. towpath:end"),
        ("a.sql", "-- towpath:begin @run [echo 'x = 1']", "-- towpath:end"),
    ] {
        user = user.file(name, &format!("def f():\n    {begin}\n    old\n    {end}\n"));
        user.towpath(&["render", name, "--in-place"]).exits(0);
        let expected = format!("def f():\n    {begin}\n    x = 1\n    {end}\n");
        assert_eq!(user.read(name), expected);
    }
    user.write("h.md", "# towpath:begin x\n# towpath:end\n");
    user.towpath(&["render", "h.md", "--in-place"]).exits(0).reports("has no regions");
}

#[test]
fn several_files_are_rendered_in_one_call_and_the_most_severe_exit_is_that_of_all() {
    let region =
        |command: &str| format!("<!-- towpath:begin @run [{command}] -->\n<!-- towpath:end -->\n");
    let user = User::new()
        .file("a.md", &region("echo A"))
        .file("b.md", &region("exit 3"))
        .file("c.md", &region("echo C"));
    user.towpath(&["render", "a.md", "b.md", "c.md", "--in-place"]).exits(1).reports("b.md:1");
    assert_eq!((user.count("a.md", "A"), user.count("c.md", "C")), (1, 1));
    user.towpath(&["render", "a.md", "c.md", "--in-place", "--check"]).exits(0);
    user.write("c.md", &region("echo D"));
    user.towpath(&["render", "a.md", "c.md", "--in-place", "--check"]).exits(1).shows("+D");
    user.towpath(&["render", "a.md", "c.md"]).exits(2).reports("several documents need --in-place");
    user.towpath(&["render", "--in-place", "--check", "a.md", "c.md"]).exits(2);
}
