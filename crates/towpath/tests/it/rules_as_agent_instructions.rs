//! Rules written as instructions for an agent.

use crate::rules_export_and_import::with_rules;
use serde_json::json;

#[test]
fn instructions_are_written_between_markers_and_again_without_a_change() {
    let user = with_rules().file("AGENTS.md", "# Ours\n\nBe kind.\n");
    user.towpath(&["rules", "agents-md"])
        .exits(0)
        .shows("## gt (recipes)\n\n- Do NOT use `gt wait`.");
    std::os::unix::fs::symlink("AGENTS.md", user.path("work/CLAUDE.md")).expect("a link");
    user.towpath(&["rules", "agents-md", "--append", "CLAUDE.md"])
        .exits(0)
        .prints("1 rule written to CLAUDE.md\n");
    let text = user.read("AGENTS.md");
    assert!(text.starts_with("# Ours\n\nBe kind.\n\n<!-- towpath"), "{text}");
    assert!(user.path("work/CLAUDE.md").is_symlink());
    user.towpath(&["rules", "agents-md", "--append", "AGENTS.md"])
        .exits(0)
        .prints("AGENTS.md has 1 rule already\n");
    user.towpath(&["rules", "enable", "1"]).exits(0);
    user.towpath(&["rules", "agents-md", "--append", "AGENTS.md"]).exits(0);
    assert_eq!(user.read("AGENTS.md").matches("<!-- towpath").count(), 2);
    assert!(user.read("AGENTS.md").contains("Use `rg` instead of `grep`"));
    let json = user.towpath(&["rules", "agents-md", "--project", "--json"]).exits(0).json();
    assert_eq!(json["instructions"], json!([]));
}
