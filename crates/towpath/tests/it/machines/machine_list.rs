//! The list of machines.

use super::FIX;
use crate::machine_validation::{row, with};
use crate::support::User;
use serde_json::{Value, json};

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

#[test]
fn machines_are_listed_among_recipes() {
    let user = with(&row("v100"));
    user.write(".towpath/recipes/demo.json", &user.read("demo.json"));
    user.write(".towpath/recipes/shared/rc.json", &user.read("shared/rc.json"));
    user.write(".towpath/recipes/rebase.yaml", "id: rebase\nsteps: {}\n");
    let printed = user.towpath(&["list", "--json"]).exits(0).json();
    let recipes = printed["recipes"].as_array().expect("a list");
    let own: Vec<&Value> = recipes.iter().filter(|r| r["origin"] == "project").collect();
    let shown =
        |r: &Value| json!([r["name"], r["kind"], r["label"], r["steps"], r["error"].is_null()]);
    assert_eq!(
        own.iter().map(|r| shown(r)).collect::<Vec<_>>(),
        [
            json!(["demo", "machine", "D", 3, true]),
            json!(["rebase", "steps", null, 0, false]),
            // The same file right in the working directory.
            json!(["demo", "machine", "D", 3, true]),
        ]
    );
    let built_in = recipes.iter().filter(|r| r["origin"] == "built-in" && r["kind"] == "machine");
    assert_eq!(built_in.count(), 8);
    let shadowed = recipes.iter().find(|r| r["name"] == "rebase" && r["origin"] == "built-in");
    assert_eq!(
        shadowed.expect("it is listed")["shadowed"],
        json!(false),
        "a broken, untrusted file never shadows"
    );
}
