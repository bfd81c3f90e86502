//! What a recipe's name means: where it is looked for, which file wins, and what is refused.

use crate::temporary_project::{Project, calls, shell};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use towpath_recipe::{Origin, Work, is_file_reference, list};

#[test]
fn a_named_file_with_its_neighbours() {
    let project = Project::new(&[
        ("a.yaml", &calls("a", "b")),
        ("b.yml", &calls("b", "sub/c")),
        ("sub/c.json", r#"{"name": "c", "steps": [{"id": "go", "recipe": "d.yaml"}]}"#),
        ("sub/d.yaml", &shell("d", "echo")),
        ("work/d.yaml", "not: this"),
    ]);
    let resolved = project.named("a.yaml");
    assert_eq!(project.report(&resolved), "");
    assert_eq!(resolved.origin, Origin::Named);
    let program = resolved.program.unwrap();
    let names: Vec<&str> = program.recipes.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
    assert_eq!(program.callee(2, "d.yaml"), Some(3));
    assert_eq!(program.callee(0, "c"), None);
    assert!(matches!(&program.root().steps[0].work, Work::Recipe { name, .. } if name == "b"));
}

#[test]
fn names_are_found_in_order_and_built_ins_come_last() {
    let project = Project::new(&[
        ("one/x.yml", &shell("one", "echo")),
        ("two/x.yaml", &shell("two", "echo")),
        ("two/y.yaml", &shell("y", "echo")),
        ("work/z.yaml", &shell("z", "echo")),
        ("work/plain", &shell("plain", "echo")),
        ("work/demo.yaml", &shell("not the demo", "echo")),
    ])
    .search("one", Origin::Given)
    .search("missing", Origin::User)
    .search("two", Origin::User);
    let found = |name: &str| {
        let resolved = project.resolve(name);
        assert_eq!(project.report(&resolved), "", "{name}");
        (resolved.program.unwrap().root().name.clone(), resolved.origin)
    };
    assert_eq!(found("x"), ("one".to_owned(), Origin::Given));
    assert_eq!(found("y"), ("y".to_owned(), Origin::User));
    assert_eq!(found("z"), ("z".to_owned(), Origin::Project));
    assert_eq!(found("plain"), ("plain".to_owned(), Origin::Project));
    assert_eq!(found("demo"), ("demo".to_owned(), Origin::BuiltIn));
}

#[test]
fn what_a_reference_is() {
    for file in ["a.yaml", "a.yml", "x/a.json", "./a", "/a", "~/a", "../a"] {
        assert!(is_file_reference(file), "{file}");
    }
    for name in ["a", "testing/output-chaining", "a-b"] {
        assert!(!is_file_reference(name), "{name}");
    }
}

#[test]
fn the_project_vouches_for_what_it_adds() {
    let project = Project::new(&[
        ("user/mine.yaml", &calls("mine", "theirs")),
        ("project/theirs.yaml", &shell("theirs", "echo")),
        ("project/demo-checks.yaml", &shell("fake", "echo")),
        ("project/calls-fake.yaml", &calls("calls-fake", "demo-checks")),
    ])
    .search("user", Origin::User)
    .search("project", Origin::Project);
    assert_eq!(project.resolve("mine").origin, Origin::Project);
    assert_eq!(project.named("user/mine.yaml").origin, Origin::Named);
    assert!(project.resolve("mine").shadowed_built_ins.is_empty());

    let fake = project.resolve("calls-fake").shadowed_built_ins;
    assert_eq!(fake.len(), 1);
    assert_eq!(fake[0].name, "demo-checks");
    assert_eq!(fake[0].path, project.path("project/demo-checks.yaml"));
}

#[test]
fn a_recipe_that_is_nowhere() {
    let project = Project::new(&[
        ("a.yaml", "name: a\nsteps:\n  - id: x\n    recipe: biuld\n  - id: y\n    recipe: dmeo\n"),
        ("dirs/build.yaml", &shell("build", "echo")),
    ])
    .search("dirs", Origin::Given)
    .search("gone", Origin::User);
    fs::create_dir(project.path("work")).unwrap();
    assert_eq!(
        project.report(&project.named("a.yaml")),
        "error[recipe-not-found] @/a.yaml:4:13 `biuld` there is no recipe `biuld` | called here \
         | did you mean `build`? looked in @, @/dirs, the built-in recipes, @/work\n\
         error[recipe-not-found] @/a.yaml:6:13 `dmeo` there is no recipe `dmeo` | called here \
         | did you mean `demo`? looked in @, @/dirs, the built-in recipes, @/work\n"
    );
    assert_eq!(
        project.report(&project.resolve("biuld")),
        "error[recipe-not-found] there is no recipe `biuld` | did you mean `build`? looked in \
         @/dirs, the built-in recipes, @/work\n"
    );
    let project = project.search("missing", Origin::Given);
    let report = project.report(&project.resolve("biuld"));
    assert!(report.contains("@/missing (does not exist)"), "{report}");
}

#[test]
fn a_file_that_is_not_there() {
    let project = Project::new(&[("build.yaml", "")]);
    let reported = project.report(&project.named("biuld.yaml"));
    let expected = "error[unreadable] cannot read @/biuld.yaml: no such file | did you mean \
                    `build.yaml`?\n";
    assert_eq!(reported, expected);
    assert_eq!(
        project.report(&project.named(".")),
        "error[unreadable] cannot read @/.: this is a directory\n"
    );
}

#[test]
fn names_never_leave_their_directory() {
    for name in ["../../x", "/etc/passwd", "a/../b", "..", "a b", "a//b", "~/x", "x.toml"] {
        let project = Project::new(&[("in/a.yaml", &calls("a", &format!("'{name}'")))]);
        let reported = project.report(&project.named("in/a.yaml"));
        let expected = format!(
            "error[bad-recipe-name] @/in/a.yaml:4:13 `'{name}'` `{name}` is not a recipe's name | \
             called here | a name has letters, digits, `_` and `-`, and `/` between its parts\n"
        );
        assert_eq!(reported, expected);
    }
}

#[test]
fn symbolic_links_do_not_lead_out() {
    let project = Project::new(&[
        ("in/a.yaml", &calls("a", "link")),
        ("in/b.yaml", &calls("b", "dir/secret")),
        ("in/c.yaml", &calls("c", "inner")),
        ("in/real.yaml", &shell("real", "echo")),
        ("out/secret.yaml", &shell("secret", "echo")),
    ]);
    symlink(project.path("out/secret.yaml"), project.path("in/link.yaml")).unwrap();
    symlink(project.path("out"), project.path("in/dir")).unwrap();
    symlink("real.yaml", project.path("in/inner.yaml")).unwrap();
    for (file, link) in [("in/a.yaml", "link.yaml"), ("in/b.yaml", "dir/secret.yaml")] {
        let reported = project.report(&project.named(file));
        let expected = format!("@/in/{link} leads out of its directory, to @/out/secret.yaml");
        assert!(
            reported.starts_with("error[outside] @/in/") && reported.contains(&expected),
            "{reported}"
        );
    }
    assert_eq!(project.report(&project.named("in/c.yaml")), "");
    // A file that the user names may be a link: naming it is the consent.
    assert_eq!(project.report(&project.named("in/link.yaml")), "");
}

#[test]
fn a_directory_without_permission_is_named() {
    let project = Project::new(&[
        ("a.yaml", &calls("a", "hidden")),
        ("locked/hidden.yaml", &shell("hidden", "echo")),
    ])
    .search("locked", Origin::User);
    let locked = project.path("locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let resolved = project.named("a.yaml");
    let may_read_all = fs::read_dir(&locked).is_ok();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    if may_read_all {
        // Permissions do not bind this user: a directory that is a file cannot be read by anyone.
        let project = Project::new(&[("file", "")]).search("file", Origin::Given);
        let listed = list(&project.search_path());
        assert!(listed[0].broken.as_ref().unwrap().starts_with("cannot read "), "{listed:?}");
    } else {
        let reported = project.report(&resolved);
        let expected = "cannot read @/locked/hidden.yaml: permission denied";
        assert!(reported.contains(expected), "{reported}");
    }
}

#[test]
fn the_list_of_recipes() {
    let project = Project::new(&[
        (
            "one/b.yaml",
            "name: Bee\nversion: 1.10\ndescription: stings\nsteps:\n  - {id: x, command: ls}\n",
        ),
        ("one/a/deep.yml", &shell("deep", "ls")),
        ("one/broken.yaml", "name: x\nstep: 1\nfoo: 2\n"),
        ("one/b.json", "{}"),
        ("one/.hidden/x.yaml", &shell("x", "ls")),
        ("one/node_modules/x.yaml", &shell("x", "ls")),
        ("one/notes.txt", "hello"),
        ("two/b.yaml", &shell("b", "ls")),
        ("two/demo.yaml", &shell("demo", "ls")),
        ("out.yaml", &shell("out", "ls")),
    ])
    .search("one", Origin::Given)
    .search("none", Origin::User)
    .search("absent", Origin::Given)
    .search("two", Origin::Project);
    symlink(project.path("out.yaml"), project.path("two/link.yaml")).unwrap();
    let root = project.path("");
    let rows: Vec<String> = list(&project.search_path())
        .into_iter()
        .map(|l| {
            let path = l.path.as_deref().and_then(|p| p.strip_prefix(&root).ok());
            let path = path.unwrap_or(Path::new("built-in")).display().to_string();
            let name = l.name.replace(root.to_str().unwrap(), "@/");
            let broken = l.broken.unwrap_or_default().replace(root.to_str().unwrap(), "@/");
            let shadowed = if l.shadowed { "shadowed" } else { "" };
            format!(
                "{name}|{}|{}|{path}|{:?}|{broken}|{shadowed}|{}",
                l.version, l.description, l.origin, l.steps
            )
        })
        .collect();
    let rows = rows.join("\n");
    let fixed = "a/deep|1.0||one/a/deep.yml|Given|||1
b|1.10|stings|one/b.yaml|Given|||1
b|||one/b.json|Given|the recipe has no `name` (and 1 more)|shadowed|0
broken|||one/broken.yaml|Given|unknown field `step` (and 1 more)||0
@/absent|||absent|Given|cannot read @/absent: no such file||0
b|1.0||two/b.yaml|Project||shadowed|1
demo|1.0||two/demo.yaml|Project|||1
link|||two/link.yaml|Project|@/two/link.yaml leads out of its directory, to @/out.yaml||0
demo|1.0|";
    assert!(rows.starts_with(fixed), "{rows}");
    assert!(rows.contains("\ndemo-checks|1.0|"), "{rows}");
}
