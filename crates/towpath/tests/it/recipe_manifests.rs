//! `towpath recipes manifest` and `check`.

use crate::support::Person;
use std::fs;

fn person() -> Person {
    let person = Person::new().file("recipes/a.yaml", "hello\n").file("recipes/b.yml", "");
    let person = person.file("recipes/team/c.json", "{}");
    person.file("recipes/a.test.yaml", "cases: []\n").file("recipes/README.md", "no recipe\n")
}

#[test]
fn a_manifest_is_what_other_programs_read() {
    let person = person();
    let said = person.towpath(&["recipes", "manifest", "recipes"]).exits(0);
    said.prints("4 files in recipes/_recipe_manifest.json\n");
    let text = person.read("recipes/_recipe_manifest.json");
    let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(manifest["a.yaml"], "5891b5b522d5df08");
    assert_eq!(manifest["b.yml"], "e3b0c44298fc1c14");
    let names: Vec<&String> = manifest.as_object().expect("a map").keys().collect();
    assert_eq!(names, ["a.test.yaml", "a.yaml", "b.yml", "team/c.json"]);
    let there = fs::read_dir(person.path("work/recipes")).expect("a folder").count();
    assert_eq!(there, 6, "and no other file");
    // The manifest is a file among recipes, and none of them.
    let again = person.towpath(&["recipes", "manifest", "recipes"]).exits(0);
    again.prints("4 files in recipes/_recipe_manifest.json\n");
    let listed = person.towpath(&["list", "-R", "recipes"]).exits(0).stdout;
    assert!(listed.contains("team/c") && !listed.contains("_recipe_manifest"), "{listed}");
}

#[test]
fn check_names_each_change() {
    let person = person();
    person.towpath(&["recipes", "check"]).exits(2).says("towpath recipes manifest recipes");
    person.towpath(&["recipes", "manifest"]).exits(0);
    let same = person.towpath(&["recipes", "check"]).exits(0);
    same.prints("no changes in recipes since its manifest\n");
    person.write("recipes/a.yaml", "other\n");
    person.write("recipes/team/new.yaml", "");
    fs::remove_file(person.path("work/recipes/b.yml")).expect("gone");
    let said = person.towpath(&["recipes", "check"]).exits(1);
    said.prints(
        "new       team/new.yaml\nmodified  a.yaml\ndeleted   b.yml\n\
         3 changes in recipes since its manifest\n",
    );
    let json = person.towpath(&["recipes", "check", "recipes", "--json"]).exits(1).json();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["changed"], true);
    assert_eq!(json["new"], serde_json::json!(["team/new.yaml"]));
    assert_eq!(json["modified"], serde_json::json!(["a.yaml"]));
    assert_eq!(json["deleted"], serde_json::json!(["b.yml"]));
}

#[test]
fn what_cannot_be_compared_is_said() {
    let person = person();
    person.write("recipes/_recipe_manifest.json", "{\"a.yaml\": 7}\n");
    let said = person.towpath(&["recipes", "check"]).exits(2);
    said.says("`a.yaml` has no hash of 16 hexadecimal digits");
    let json = person.towpath(&["recipes", "check", "--json"]).exits(2).json();
    assert_eq!(json["success"], false);
    person.towpath(&["recipes", "check", "nowhere"]).exits(2).says("no such directory");
    Person::new().towpath(&["recipes", "check"]).exits(2).says("name a directory");
    person.towpath(&["recipes"]).exits(2);
}
