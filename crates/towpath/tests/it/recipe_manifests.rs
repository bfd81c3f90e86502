//! `towpath recipes manifest` and `check`.

use crate::support::User;
use std::fs;

fn user() -> User {
    let user = User::new().file("recipes/a.yaml", "hello\n").file("recipes/b.yml", "");
    let user = user.file("recipes/team/c.json", "{}");
    user.file("recipes/a.test.yaml", "cases: []\n").file("recipes/README.md", "no recipe\n")
}

#[test]
fn a_manifest_is_what_other_programs_read() {
    let user = user();
    let printed = user.towpath(&["recipes", "manifest", "recipes"]).exits(0);
    printed.prints("4 files in recipes/_recipe_manifest.json\n");
    let text = user.read("recipes/_recipe_manifest.json");
    let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(manifest["a.yaml"], "5891b5b522d5df08");
    assert_eq!(manifest["b.yml"], "e3b0c44298fc1c14");
    let names: Vec<&String> = manifest.as_object().expect("a map").keys().collect();
    assert_eq!(names, ["a.test.yaml", "a.yaml", "b.yml", "team/c.json"]);
    let there = fs::read_dir(user.path("work/recipes")).expect("a folder").count();
    assert_eq!(there, 6, "and no other file");
    // The manifest is a file among recipes, and none of them.
    let again = user.towpath(&["recipes", "manifest", "recipes"]).exits(0);
    again.prints("4 files in recipes/_recipe_manifest.json\n");
    let listed = user.towpath(&["list", "-R", "recipes"]).exits(0).stdout;
    assert!(listed.contains("team/c") && !listed.contains("_recipe_manifest"), "{listed}");
}

#[test]
fn check_names_each_change() {
    let user = user();
    user.towpath(&["recipes", "check"]).exits(2).reports("towpath recipes manifest recipes");
    user.towpath(&["recipes", "manifest"]).exits(0);
    let same = user.towpath(&["recipes", "check"]).exits(0);
    same.prints("no changes in recipes since its manifest\n");
    user.write("recipes/a.yaml", "other\n");
    user.write("recipes/team/new.yaml", "");
    fs::remove_file(user.path("work/recipes/b.yml")).expect("gone");
    let printed = user.towpath(&["recipes", "check"]).exits(1);
    printed.prints(
        "new       team/new.yaml\nmodified  a.yaml\ndeleted   b.yml\n\
         3 changes in recipes since its manifest\n",
    );
    let json = user.towpath(&["recipes", "check", "recipes", "--json"]).exits(1).json();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["changed"], true);
    assert_eq!(json["new"], serde_json::json!(["team/new.yaml"]));
    assert_eq!(json["modified"], serde_json::json!(["a.yaml"]));
    assert_eq!(json["deleted"], serde_json::json!(["b.yml"]));
}

#[test]
fn what_cannot_be_compared_is_reported() {
    let user = user();
    user.write("recipes/_recipe_manifest.json", "{\"a.yaml\": 7}\n");
    let printed = user.towpath(&["recipes", "check"]).exits(2);
    printed.reports("`a.yaml` has no hash of 16 hexadecimal digits");
    let json = user.towpath(&["recipes", "check", "--json"]).exits(2).json();
    assert_eq!(json["success"], false);
    user.towpath(&["recipes", "check", "nowhere"]).exits(2).reports("no such directory");
    User::new().towpath(&["recipes", "check"]).exits(2).reports("name a directory");
    user.towpath(&["recipes"]).exits(2);
}
