//! The starter set of rules: listed, and chosen.

use crate::support::User;

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
