//! `towpath new`, and built-in recipes taken out.

use crate::support::User;
use std::fs;

#[test]
fn a_first_recipe_runs_and_has_nothing_wrong() {
    let user = User::new();
    let printed = user.towpath(&["new", "nightly"]).exits(0);
    assert!(
        printed.stdout.starts_with("created nightly.yaml\n        nightly.test.yaml\n"),
        "{printed:?}"
    );
    assert!(printed.stdout.contains("  towpath run nightly.yaml "), "{printed:?}");
    let checked = user.towpath(&["validate", "--strict", "nightly.yaml"]).exits(0);
    checked.prints("no problems in nightly.yaml\n");
    user.towpath(&["run", "nightly.yaml"]).exits(0).prints("Hello, world\n");
    let loud = ["run", "nightly.yaml", "--set", "who=Ann", "--set", "loud=true"];
    user.towpath(&loud).exits(0).prints("Hello, Ann\nHELLO, ANN\n");
    let json = user.towpath(&["runs", "--json"]).exits(0).json();
    assert_eq!(json["runs"][0]["recipe_name"], "nightly");
}

#[test]
fn the_agent_step_of_a_first_recipe_only_lacks_its_comment_signs() {
    let user = User::new();
    user.towpath(&["new", "nightly"]).exits(0);
    let text = user.read("nightly.yaml");
    let (before, agent) = text.split_once("  # - id: answer").expect("an agent step");
    let agent = format!("  # - id: answer{agent}").replace("  # ", "  ");
    user.write("nightly.yaml", &format!("{before}{agent}"));
    user.towpath(&["validate", "--strict", "nightly.yaml"]).exits(0);
    user.write("answers.jsonl", "{\"text\": \"Hello yourself\"}\n");
    let run = ["run", "nightly.yaml", "--backend", "scripted", "--script", "answers.jsonl"];
    user.towpath(&run).exits(0).prints("Hello, world\nHello yourself\n");
}

#[test]
fn in_a_project_it_is_found_by_its_name() {
    let user = User::new().file(".towpath/recipes/other.yaml", "").file("deep/x", "");
    let mut command = user.command(&["new", "team/nightly"]);
    let made = command.current_dir(user.path("work/deep")).output().expect("towpath starts");
    assert!(made.status.success(), "{made:?}");
    assert_ne!(user.read(".towpath/recipes/team/nightly.test.yaml"), "");
    user.towpath(&["run", "team/nightly"]).exits(5).reports("is not trusted");
    user.towpath(&["trust", "--yes", ".towpath/recipes/team/nightly.yaml"]).exits(0);
    user.towpath(&["run", "team/nightly"]).exits(0).prints("Hello, world\n");
}

#[test]
fn in_a_project_the_first_line_names_the_schema() {
    let user = User::new();
    fs::create_dir(user.path("work/.git")).expect("a project");
    let printed = user.towpath(&["new", "team/nightly"]).exits(0);
    let created = "created .towpath/recipes/team/nightly.yaml
        .towpath/recipes/team/nightly.test.yaml
        .towpath/steps.schema.json
        .towpath/test.schema.json\n";
    assert!(printed.stdout.starts_with(created), "{printed:?}");
    for (file, format) in [("nightly.yaml", "steps"), ("nightly.test.yaml", "test")] {
        let text = user.read(&format!(".towpath/recipes/team/{file}"));
        let first = text.lines().next().expect("a line");
        let schema = first.strip_prefix("# yaml-language-server: $schema=").expect("its line");
        let schema = user.read(&format!(".towpath/recipes/team/{schema}"));
        assert_eq!(schema, user.towpath(&["schema", format]).exits(0).stdout);
    }
    user.towpath(&["validate", "--strict", ".towpath/recipes/team/nightly.yaml"]).exits(0);
    user.towpath(&["test", ".towpath/recipes/team/nightly.yaml"]).exits(0);
    user.write(".towpath/steps.schema.json", "mine");
    let printed = user.towpath(&["new", "--machine", "fix"]).exits(0);
    assert!(printed.stdout.contains(".towpath/machine.schema.json"), "{printed:?}");
    assert!(!printed.stdout.contains("steps.schema.json"), "{printed:?}");
    user.towpath(&["new", "other"]).exits(0);
    assert_eq!(user.read(".towpath/steps.schema.json"), "mine", "what is there stays");
    let first = "# yaml-language-server: $schema=../machine.schema.json\n";
    assert!(user.read(".towpath/recipes/fix.yaml").starts_with(first));
}

#[test]
fn existing_files_are_not_touched() {
    let user = User::new().file("mine.yaml", "mine\n").file("half.test.yaml", "mine\n");
    user.towpath(&["new", "mine"]).exits(2).reports("mine.yaml exists already");
    assert_eq!(user.read("mine.yaml"), "mine\n");
    user.towpath(&["new", "half.yaml"]).exits(2).reports("half.test.yaml exists already");
    assert!(!user.path("work/half.yaml").exists(), "not even half of it is made");
    std::os::unix::fs::symlink("nowhere", user.path("work/link.yaml")).expect("a link");
    user.towpath(&["new", "link"]).exits(2);
    assert!(!user.path("work/nowhere").exists());
    assert_eq!(fs::read_dir(user.path("work")).expect("a folder").count(), 3);
}

#[test]
fn a_name_that_yaml_would_read_as_something_else_is_quoted() {
    let user = User::new();
    for name in ["true", "1", "null", "2e5", "No"] {
        user.towpath(&["new", name]).exits(0);
        let file = format!("{name}.yaml");
        user.towpath(&["validate", "--strict", &file]).exits(0);
        let listed = user.towpath(&["explain", &file]).exits(0);
        assert!(listed.stdout.starts_with(&format!("{name} ")), "{}", listed.stdout);
    }
}

#[test]
fn a_file_that_cannot_be_created_is_reported() {
    let user = User::new();
    for bad in ["../x", "a b", "", "/tmp/x", "a//b", "x.yml", "a\u{1b}[2Jb"] {
        let printed = user.towpath(&["new", bad]).exits(2).reports("cannot be a recipe's name");
        assert!(!printed.stderr.contains('\u{1b}'), "{printed:?}");
    }
    for kind in ["--document", "--tool"] {
        user.towpath(&["new", "x", kind]).exits(2).reports("not available in this version");
        let help = user.towpath(&["new", "--help"]).exits(0).stdout;
        assert!(!help.contains(kind), "it is not offered: {help}");
    }
    assert_eq!(fs::read_dir(user.path("work")).expect("a folder").count(), 0);
}

#[test]
fn a_built_in_recipe_is_taken_out_once_and_waits_for_consent() {
    let user = User::new();
    let printed = user.towpath(&["recipes", "eject", "demo-checks"]).exits(0);
    assert!(
        printed.stdout.contains("towpath trust .towpath/recipes/demo-checks.yaml"),
        "{printed:?}"
    );
    let file = ".towpath/recipes/demo-checks.yaml";
    assert_eq!(user.read(file), towpath_recipe::builtin("demo-checks").expect("a built-in"));
    user.towpath(&["validate", "--strict", file]).exits(0);
    user.write(file, "mine\n");
    user.towpath(&["recipes", "eject", "demo-checks"]).exits(2).reports("exists already");
    assert_eq!(user.read(file), "mine\n");
    let printed = user.towpath(&["recipes", "eject", "demo", "--to", "mine"]).exits(0);
    assert!(printed.stdout.contains("towpath run mine/demo.yaml"), "{printed:?}");
    user.towpath(&["recipes", "eject", "demoo"]).exits(2).reports("did you mean `demo`?");
    user.towpath(&["recipes", "eject", "../demo"]).exits(2);
}

#[test]
fn a_built_in_machine_is_ejected_as_one_sound_file() {
    let user = User::new();
    fs::create_dir(user.path("work/.git")).expect("a project");
    for name in ["implement-and-review-all", "rebase"] {
        let printed = user.towpath(&["recipes", "eject", name]).exits(0);
        let file = format!(".towpath/recipes/{name}.yaml");
        assert!(printed.stdout.contains(&file), "{}", printed.stdout);
        assert!(!user.read(&file).contains("$include"));
        let printed = user.towpath(&["validate", &file, "--strict"]).exits(0);
        let problems = ["error: ", "warning: "];
        let found = problems.iter().any(|problem| printed.stdout.contains(problem));
        assert!(!found, "{}", printed.stdout);
    }
    assert!(!user.path("work/.towpath/recipes/shared").exists());
}

#[test]
fn a_new_machine_validates_and_passes_its_tests() {
    let user = User::new();
    let printed = user.towpath(&["new", "--machine", "fix-it"]).exits(0);
    assert!(printed.stdout.starts_with("created fix-it.yaml"), "{}", printed.stdout);
    user.towpath(&["validate", "fix-it.yaml", "--strict"]).exits(0);
    let printed = user.towpath(&["test", "fix-it.yaml", "--mutate"]).exits(0);
    assert!(printed.stdout.contains("9 of 9 changes noticed"), "{}", printed.stdout);
    let printed = user.towpath(&["new", "--machine", "Fix_it"]).exits(2);
    assert!(printed.stderr.contains("lower-case letters"), "{}", printed.stderr);
    let printed = user.towpath(&["new", "--machine", "team/fix-it"]).exits(0);
    assert!(printed.stdout.contains("created team/fix-it.yaml"), "{}", printed.stdout);
    user.towpath(&["validate", "team/fix-it.yaml", "--strict"]).exits(0);
}
