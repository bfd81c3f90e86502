//! The list of machines.

use super::FIX;
use crate::support::User;

#[test]
fn the_list_has_every_machine_by_its_label() {
    let user = User::new().file("recipes/fix.yaml", FIX);
    let printed = user.towpath(&["as", "agent-recipes", "--list", "-R", "recipes"]).exits(0);
    let lines: Vec<&str> = printed.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "break-down-tasks          Break Down Tasks        Create implementation tasks from a \
             design document",
            "document-design           Document Design         Create a detailed design document \
             with examples and verification",
            "fix                       Fix                     Looks, runs the tests, fixes",
            "implement-and-review      Implement & Review      Implement task, review code, fix \
             issues, and commit",
            "implement-and-review-all  Implement & Review All  Implement all tasks, one per \
             session, restarting after each commit",
            "rebase                    Rebase                  Rebase current branch on local main \
             with conflict resolution",
            "refine-design             Refine Design           Improve an existing design document \
             through six focused review passes",
            "retrospective             Retrospective           Reflect on the session and identify \
             friction points",
            "review-and-commit         Review & Commit         Review existing changes, fix \
             issues, and commit",
        ]
    );
    let json = user.towpath(&["as", "agent-recipes", "--list", "--json", "-R", "recipes"]);
    let json = json.exits(0).json();
    let recipes = json["recipes"].as_array().expect("a list");
    assert_eq!(recipes.len(), lines.len());
    for (recipe, line) in recipes.iter().zip(lines) {
        let text = |key: &str| recipe[key].as_str().expect("a text");
        assert!(line.starts_with(text("name")) && line.ends_with(text("description")), "{recipe}");
        assert!(line.contains(text("label")) && recipe["kind"] == "machine");
    }
}
