//! What is found, and what is refused before anything runs.

use crate::support::Workspace;
use towpath_engine::{
    Compared, Error, ExecutionListener, Map, NullListener, Origin, SearchPath,
    check_upstream_changes, discover_recipes, find_recipe, list_recipes, render_shell,
    sync_upstream, update_manifest, verify_global_installation, verify_installation,
};

const GOOD: &str = "name: good\nsteps:\n  - {id: a, command: 'echo good'}\n";

#[test]
fn recipes_are_discovered_listed_and_found() {
    let workspace = Workspace::new(GOOD);
    for directory in ["one", "two"] {
        std::fs::create_dir(workspace.path(directory)).unwrap();
    }
    workspace.write("one/same.yaml", &GOOD.replace("steps", "description: first\nsteps"));
    workspace.write("two/same.yaml", &GOOD.replace("steps", "description: second\nsteps"));
    workspace.write("two/broken.yaml", "name: broken\nsteps: nothing\n");
    let search =
        SearchPath::given([workspace.path("one"), workspace.path("two"), workspace.path("three")]);
    let found = find_recipe(&search, "same").expect("it is there");
    assert_eq!((found.description.as_str(), found.origin), ("first", Origin::Given));
    assert_eq!(found.path, Some(workspace.path("one/same.yaml")));
    let map = discover_recipes(&search);
    assert!(map["broken"].broken.is_some() && map["demo"].origin == Origin::BuiltIn);
    let names: Vec<String> = list_recipes(&search).into_iter().map(|r| r.name).collect();
    assert!(names.is_sorted() && names.iter().filter(|n| *n == "same").count() == 1, "{names:?}");

    let directories = verify_installation(&search);
    let seen: Vec<(bool, usize, usize)> =
        directories.iter().map(|p| (p.exists, p.recipes, p.broken.len())).collect();
    assert_eq!(seen, [(true, 1, 0), (true, 2, 1), (false, 0, 0)]);

    let result = workspace.runner().search([workspace.path("one")]).run("same").expect("a result");
    assert_eq!(result.step("a").unwrap().output.as_deref(), Some("good"));
}

#[test]
fn directories_of_recipes_are_recorded_checked_and_compared() {
    let workspace = Workspace::new(GOOD);
    for (name, text) in [("here/a.yaml", "1"), ("here/b.yaml", "1"), ("there/a.yaml", "1")] {
        let path = workspace.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        workspace.write(name, text);
    }
    let (here, there) = (workspace.path("here"), workspace.path("there"));
    assert!(check_upstream_changes(&here).is_err(), "there is no manifest");
    let written = update_manifest(&here).expect("a manifest");
    assert_eq!(written, here.join("_recipe_manifest.json"));
    workspace.write("here/a.yaml", "2");
    workspace.write("here/c.yaml", "1");
    std::fs::remove_file(here.join("b.yaml")).unwrap();
    let changes = check_upstream_changes(&here).expect("changes");
    assert_eq!((changes.new, changes.modified), (vec!["c.yaml".into()], vec!["a.yaml".into()]));
    assert_eq!(changes.deleted, ["b.yaml"]);
    let compared = sync_upstream(&here, &there).expect("both are there");
    let changed = Compared::Changed { modified_here: true };
    assert_eq!(compared, [("a.yaml".into(), changed), ("c.yaml".into(), Compared::OnlyHere)]);
    assert!(sync_upstream(&here, &workspace.path("nowhere")).is_err());
    assert!(update_manifest(&workspace.path("nowhere")).is_err());
}

#[test]
fn the_names_of_recipe_runner_rs_are_there() {
    fn listens(_: impl ExecutionListener) {}
    listens(NullListener);
    let search = SearchPath::given(["/no/such/directory"]);
    assert_eq!(verify_global_installation(&search), verify_installation(&search));
    let refused =
        render_shell("cat <<{{end}}\nx\n", &Map::new()).expect_err("no value is safe here");
    assert!(!refused.to_string().is_empty());
}

#[test]
fn what_cannot_run_is_refused_with_its_reason() {
    let workspace = Workspace::new(GOOD);
    let error = |recipe: &str| workspace.runner().run(recipe).expect_err("refused").to_string();
    let missing = error("no-such.yaml");
    assert!(missing.contains("no-such.yaml"), "{missing}");
    workspace.write(
        "work/bad.yaml",
        "name: bad\nsteps:\n  - {id: a, comand: x}\n  - {id: a, command: y}\n",
    );
    let bad = error("bad.yaml");
    assert!(bad.contains("bad.yaml:3:13: unknown field `comand`"), "{bad}");
    assert_eq!(bad.lines().count(), 2, "all at once: {bad}");
    workspace.write("work/asks.yaml", "name: asks\nsteps:\n  - {id: a, prompt: why}\n");
    assert!(matches!(workspace.runner().run("asks.yaml"), Err(Error::NoAgent)));
    assert!(matches!(workspace.runner().resume("zzzz"), Err(Error::NoSuchRun(_))));
    let mut nowhere = workspace.runner().working_dir(workspace.path("nowhere"));
    assert!(matches!(nowhere.run("recipe.yaml"), Err(Error::Directory { .. })));
}

#[test]
fn a_recipe_that_is_only_found_in_the_tree_needs_trust() {
    let workspace = Workspace::new(GOOD);
    let refused = workspace.runner().run("recipe").expect_err("nobody has named this file");
    let Error::NotTrusted { path } = &refused else { panic!("{refused}") };
    assert_eq!(*path, workspace.path("work/recipe.yaml").canonicalize().unwrap());
    assert!(workspace.runner().trust_working_tree().run("recipe").expect("a result").success);
}

#[test]
fn without_init_and_without_a_warden_nothing_runs() {
    let workspace = Workspace::new(GOOD);
    let mut runner =
        towpath_engine::Runner::new(workspace.path("state")).working_dir(workspace.path("work"));
    assert!(matches!(runner.run("recipe.yaml"), Err(Error::NoWarden)));
    assert!(!workspace.path("state").exists());
}
