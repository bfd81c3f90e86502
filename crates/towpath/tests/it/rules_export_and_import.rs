//! Rules that come from elsewhere and are shared: exported, imported, chosen from the starter set, and
//! written as instructions for an agent.

use crate::support::User;
use serde_json::json;

fn with_rules() -> User {
    let user = User::new();
    user.towpath(&["rules", "add", "command", "grep", "rg", "--message", "rg is faster"]).exits(0);
    let script = "until gt status; do\n  sleep 5\ndone";
    user.towpath(&["rules", "add", "recipe", "gt wait", script, "--timeout", "600"]).exits(0);
    user.towpath(&["rules", "disable", "1"]).exits(0);
    user
}

/// The rules without what is their owner's.
fn bodies(user: &User) -> Vec<serde_json::Value> {
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

#[test]
fn starter_rules_are_listed_and_chosen() {
    let user = User::new();
    let listed = user.towpath(&["rules", "starter"]).exits(0);
    listed
        .shows("docker-compose       docker-compose → docker compose")
        .shows("git push --force → --force-with-lease, and 1 near spelling")
        .shows("to add some: towpath rules starter NAMES");
    assert!(!user.path("home").exists(), "looking created something");
    user.towpath(&["rules", "starter", "docker-compse"])
        .exits(2)
        .reports("did you mean `docker-compose`?");
    user.towpath(&["rules", "starter", "docker-compose", "read-file"]).exits(0).prints(
        "rule 1 added: docker-compose → docker compose\n\
         \x20 - docker-compose up -d\n\
         \x20 + docker compose up -d\n\
         \x20 rule 1: docker-compose → docker compose (docker-compose is now a subcommand of docker)\n\
         rule 2 added: read_file → Read\n\
         \x20 - read_file\n\
         \x20 refused by rule 2: The tool is called Read, with the parameter file_path\n\
         rule 3 added: ReadFile → Read\n\
         rule 4 added: readFile → Read\n\
         rule 5 added: read → Read\n",
    );
    let json = user.towpath(&["rules", "starter", "--json"]).exits(0).json();
    let all = json["starter"].as_array().expect("a list");
    let mut added: Vec<&str> =
        all.iter().filter(|s| s["added"] == true).filter_map(|s| s["name"].as_str()).collect();
    added.dedup();
    assert_eq!(added, ["docker-compose", "read-file"]);
    user.towpath(&["rules", "starter", "--all"])
        .exits(0)
        .shows("rule 1 replaced: docker-compose → docker compose\n");
    let rules = user.towpath(&["rules", "--json"]).json();
    assert_eq!(rules["rules"].as_array().map(Vec::len), Some(all.len()));
}

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
