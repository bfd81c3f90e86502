//! Rules that are shared: exported and imported.

use crate::support::User;
use serde_json::json;

pub fn with_rules() -> User {
    let user = User::new();
    user.towpath(&["rules", "add", "command", "grep", "rg", "--message", "rg is faster"]).exits(0);
    let script = "until gt status; do\n  sleep 5\ndone";
    user.towpath(&["rules", "add", "recipe", "gt wait", script, "--timeout", "600"]).exits(0);
    user.towpath(&["rules", "disable", "1"]).exits(0);
    user
}

/// The rules without what is their owner's.
pub fn bodies(user: &User) -> Vec<serde_json::Value> {
    let json = user.towpath(&["rules", "--json"]).exits(0).json();
    let mut rules = json["rules"].as_array().expect("rules").clone();
    for rule in &mut rules {
        let fields = rule.as_object_mut().expect("an object");
        fields.retain(|key, _| !["number", "created_at", "hits"].contains(&key.as_str()));
    }
    rules
}

#[test]
fn exported_rules_are_imported_as_they_were() {
    let from = with_rules();
    for file in ["rules.toml", "rules.json"] {
        let export = ["rules", "export", "--name", "team", "-o", file];
        from.towpath(&export).exits(0).prints(&format!("2 rules written to {file}\n"));
        from.towpath(&export).exits(2).reports("exists");
        let to = User::new().file(file, &from.read(file));
        to.towpath(&["rules", "import", file, "--dry-run"])
            .exits(0)
            .shows("would be added: grep → rg\n")
            .shows("2 rules would be imported\n");
        assert!(!to.has_journal(), "a dry run saves nothing");
        to.towpath(&["rules", "import", file]).exits(0).shows("2 rules imported\n");
        assert_eq!(bodies(&to), bodies(&from), "{file}");
        to.towpath(&["rules", "import", file])
            .exits(0)
            .prints("0 rules imported, 2 rules there already\n");
    }
    let printed = from.towpath(&["rules", "export", "2", "--format", "json"]).exits(0).json();
    assert_eq!(printed["rule"][0]["from"], "gt wait");
    from.towpath(&["rules", "export", "9"]).exits(2).reports("there is no rule 9");
}

#[test]
fn an_import_keeps_your_own_rules_unless_they_are_to_be_replaced() {
    let user =
        with_rules().file("a.toml", "[[rule]]\nkind = 'command'\nfrom = 'grep'\nto = 'ag'\n");
    user.towpath(&["rules", "import", "a.toml"])
        .exits(0)
        .prints("kept yours, --replace takes this one: grep → ag\n0 rules imported\n");
    let json = user.towpath(&["rules", "import", "a.toml", "--replace", "--json"]).exits(0).json();
    assert_eq!((&json["replaced"][0]["to"], &json["added"]), (&json!("ag"), &json!([])));
    user.towpath(&["rules", "test", "grep x"]).shows("+ ag x");
}

#[test]
fn a_file_with_a_mistake_imports_nothing() {
    let text = "[[rule]]\nkind = 'command'\nfrom = 'a'\nto = 'b'\n[[rule]]\nkind = 'regex'\n\
                from = '('\nto = 'x'\n";
    let user = User::new().file("a.toml", text).file("b.json", "{");
    user.towpath(&["rules", "import", "a.toml"]).exits(2).reports("a.toml:7:8");
    user.towpath(&["rules", "import", "b.json"]).exits(2).reports("b.json:1");
    user.towpath(&["rules", "import", "gone.toml"]).exits(2).reports("gone.toml");
    assert!(!user.has_journal());
}
