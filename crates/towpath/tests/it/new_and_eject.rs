//! `towpath new`, and built-in recipes taken out.

use crate::support::Person;
use std::fs;

#[test]
fn a_first_recipe_runs_and_has_nothing_wrong() {
    let person = Person::new();
    let said = person.towpath(&["new", "nightly"]).exits(0);
    assert!(said.stdout.starts_with("made nightly.yaml\n     nightly.test.yaml\n"), "{said:?}");
    assert!(said.stdout.contains("  towpath run nightly.yaml "), "{said:?}");
    let checked = person.towpath(&["validate", "--strict", "nightly.yaml"]).exits(0);
    checked.prints("no problems in nightly.yaml\n");
    person.towpath(&["run", "nightly.yaml"]).exits(0).prints("Hello, world\n");
    let loud = ["run", "nightly.yaml", "--set", "who=Ann", "--set", "loud=true"];
    person.towpath(&loud).exits(0).prints("Hello, Ann\nHELLO, ANN\n");
    let json = person.towpath(&["runs", "--json"]).exits(0).json();
    assert_eq!(json["runs"][0]["recipe_name"], "nightly");
}

#[test]
fn the_agent_step_of_a_first_recipe_only_lacks_its_comment_signs() {
    let person = Person::new();
    person.towpath(&["new", "nightly"]).exits(0);
    let text = person.read("nightly.yaml");
    let (before, agent) = text.split_once("  # - id: answer").expect("an agent step");
    let agent = format!("  # - id: answer{agent}").replace("  # ", "  ");
    person.write("nightly.yaml", &format!("{before}{agent}"));
    person.towpath(&["validate", "--strict", "nightly.yaml"]).exits(0);
    person.write("answers.jsonl", "{\"text\": \"Hello yourself\"}\n");
    let run = ["run", "nightly.yaml", "--backend", "scripted", "--script", "answers.jsonl"];
    person.towpath(&run).exits(0).prints("Hello, world\nHello yourself\n");
}

#[test]
fn in_a_project_it_is_found_by_its_name() {
    let person = Person::new().file(".towpath/recipes/other.yaml", "").file("deep/x", "");
    let mut command = person.command(&["new", "team/nightly"]);
    let made = command.current_dir(person.path("work/deep")).output().expect("towpath starts");
    assert!(made.status.success(), "{made:?}");
    assert_ne!(person.read(".towpath/recipes/team/nightly.test.yaml"), "");
    person.towpath(&["run", "team/nightly"]).exits(5).says("is not trusted");
    person.towpath(&["trust", "--yes", ".towpath/recipes/team/nightly.yaml"]).exits(0);
    person.towpath(&["run", "team/nightly"]).exits(0).prints("Hello, world\n");
}

#[test]
fn nothing_that_is_there_is_touched() {
    let person = Person::new().file("mine.yaml", "mine\n").file("half.test.yaml", "mine\n");
    person.towpath(&["new", "mine"]).exits(2).says("mine.yaml is there already");
    assert_eq!(person.read("mine.yaml"), "mine\n");
    person.towpath(&["new", "half.yaml"]).exits(2).says("half.test.yaml is there already");
    assert!(!person.path("work/half.yaml").exists(), "not even half of it is made");
    std::os::unix::fs::symlink("nowhere", person.path("work/link.yaml")).expect("a link");
    person.towpath(&["new", "link"]).exits(2);
    assert!(!person.path("work/nowhere").exists());
    assert_eq!(fs::read_dir(person.path("work")).expect("a folder").count(), 3);
}

#[test]
fn a_name_that_yaml_would_read_as_something_else_is_quoted() {
    let person = Person::new();
    for name in ["true", "1", "null", "2e5", "No"] {
        person.towpath(&["new", name]).exits(0);
        let file = format!("{name}.yaml");
        person.towpath(&["validate", "--strict", &file]).exits(0);
        let listed = person.towpath(&["explain", &file]).exits(0);
        assert!(listed.stdout.starts_with(&format!("{name} ")), "{}", listed.stdout);
    }
}

#[test]
fn what_cannot_be_made_is_said() {
    let person = Person::new();
    for bad in ["../x", "a b", "", "/tmp/x", "a//b", "x.yml", "a\u{1b}[2Jb"] {
        let said = person.towpath(&["new", bad]).exits(2).says("cannot be a recipe's name");
        assert!(!said.stderr.contains('\u{1b}'), "{said:?}");
    }
    for kind in ["--document", "--tool"] {
        person.towpath(&["new", "x", kind]).exits(2).says("not available in this version");
    }
    assert_eq!(fs::read_dir(person.path("work")).expect("a folder").count(), 0);
}

#[test]
fn a_built_in_recipe_is_taken_out_once_and_waits_for_consent() {
    let person = Person::new();
    let said = person.towpath(&["recipes", "eject", "demo-checks"]).exits(0);
    assert!(said.stdout.contains("towpath trust .towpath/recipes/demo-checks.yaml"), "{said:?}");
    let file = ".towpath/recipes/demo-checks.yaml";
    assert_eq!(person.read(file), towpath_recipe::builtin("demo-checks").expect("a built-in"));
    person.towpath(&["validate", "--strict", file]).exits(0);
    person.write(file, "mine\n");
    person.towpath(&["recipes", "eject", "demo-checks"]).exits(2).says("is there already");
    assert_eq!(person.read(file), "mine\n");
    let said = person.towpath(&["recipes", "eject", "demo", "--to", "mine"]).exits(0);
    assert!(said.stdout.contains("towpath run mine/demo.yaml"), "{said:?}");
    person.towpath(&["recipes", "eject", "demoo"]).exits(2).says("did you mean `demo`?");
    person.towpath(&["recipes", "eject", "../demo"]).exits(2);
}
