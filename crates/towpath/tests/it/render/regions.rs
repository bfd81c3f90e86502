//! Marked regions of a file that is otherwise left alone.

use crate::support::User;

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
