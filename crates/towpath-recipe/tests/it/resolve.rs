//! From files on disk to a plan: what names mean, what is refused, what is warned about.

mod doubts;

use crate::support::render;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use towpath_core::{Map, parse_set};
use towpath_recipe::{
    Edit, Origin, Plan, Request, Resolved, SearchDir, SearchPath, Tags, Wishes, Work, edited,
    is_file_reference, list, plan_hash, resolve,
};

/// A directory with recipe files; directories named in `search` are searched in order.
struct Project {
    root: TempDir,
    search: Vec<(&'static str, Origin)>,
    agents: Vec<(&'static str, Origin)>,
    inputs: Map,
    wishes: Wishes,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Project {
        let root = tempfile::tempdir().unwrap();
        let project = Project {
            root,
            search: Vec::new(),
            agents: Vec::new(),
            inputs: Map::new(),
            wishes: Wishes::default(),
        };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    fn search(mut self, directory: &'static str, origin: Origin) -> Project {
        self.search.push((directory, origin));
        self
    }

    fn agents(mut self, directory: &'static str, origin: Origin) -> Project {
        self.agents.push((directory, origin));
        self
    }

    fn set(mut self, argument: &str) -> Project {
        let (name, value) = parse_set(argument).unwrap();
        self.inputs.insert(name, value);
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn search_path(&self) -> SearchPath {
        let directories = |names: &[(&'static str, Origin)]| {
            let directory = |(name, origin): &(&'static str, Origin)| SearchDir {
                path: self.path(name),
                origin: *origin,
            };
            names.iter().map(directory).collect()
        };
        SearchPath { directories: directories(&self.search), agents: directories(&self.agents) }
    }

    fn resolve(&self, reference: &str) -> Resolved {
        resolve(&Request {
            reference: reference.to_owned(),
            working_dir: self.path("work"),
            search: self.search_path(),
            inputs: self.inputs.clone(),
            wishes: self.wishes.clone(),
        })
    }

    /// Resolves a file by its path.
    fn named(&self, name: &str) -> Resolved {
        self.resolve(self.path(name).to_str().unwrap())
    }

    /// The problems, with the directory's own path taken out.
    fn report(&self, resolved: &Resolved) -> String {
        let root = self.path(".");
        let root = root.to_str().unwrap().trim_end_matches("/.");
        render(&resolved.problems).replace(root, "@")
    }
}

fn shell(name: &str, command: &str) -> String {
    format!("name: {name}\nsteps:\n  - id: run\n    command: {command}\n")
}

fn calls(name: &str, callee: &str) -> String {
    format!("name: {name}\nsteps:\n  - id: go\n    recipe: {callee}\n")
}

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
         | did you mean `build`? looked in @, @/dirs, @/gone (does not exist), @/work, \
         the built-in recipes\n\
         error[recipe-not-found] @/a.yaml:6:13 `dmeo` there is no recipe `dmeo` | called here \
         | did you mean `demo`? looked in @, @/dirs, @/gone (does not exist), @/work, \
         the built-in recipes\n"
    );
    assert_eq!(
        project.report(&project.resolve("biuld")),
        "error[recipe-not-found] there is no recipe `biuld` | did you mean `build`? looked in \
         @/dirs, @/gone (does not exist), @/work, the built-in recipes\n"
    );
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
fn files_that_cannot_be_recipes() {
    let project = Project::new(&[("empty.yaml", ""), ("a.yaml", &calls("a", "bad"))]);
    fs::write(project.path("bad.yaml"), b"name: x\nsteps: \xff\n").unwrap();
    fs::write(project.path("huge.yaml"), vec![b' '; towpath_recipe::MAX_BYTES + 1]).unwrap();
    fs::write(project.path("fits.yaml"), vec![b' '; towpath_recipe::MAX_BYTES]).unwrap();
    let reported = |name: &str| project.report(&project.named(name));
    assert_eq!(
        reported("empty.yaml"),
        "error[empty-file] @/empty.yaml:1:1 `` @/empty.yaml is empty | a recipe needs `name` and \
         `steps`\n"
    );
    assert_eq!(
        reported("huge.yaml"),
        "error[too-large] @/huge.yaml is larger than 1000000 bytes\n"
    );
    assert!(reported("fits.yaml").starts_with("error[empty-file]"));
    assert_eq!(
        reported("bad.yaml"),
        "error[not-utf8] @/bad.yaml:2:8 `\u{fffd}` @/bad.yaml is not UTF-8 text: line 2 | this \
         byte is no text\n"
    );
    assert!(
        reported("a.yaml").starts_with("error[not-utf8] @/a.yaml:4:13 `bad`"),
        "{}",
        reported("a.yaml")
    );
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let project = Project::new(&[("a.yaml", &format!("\u{feff}{}", shell("a", "echo {{é}}")))]);
    let resolved = project.named("a.yaml");
    assert!(project.report(&resolved).contains(":4:19 `{{é}}`"), "{}", project.report(&resolved));
    assert!(edited(&resolved.plan.unwrap()).is_empty());
}

#[test]
fn a_recipe_may_come_through_a_pipe() {
    let project = Project::new(&[]);
    let pipe = project.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn(move || fs::write(pipe, shell("piped", "echo")).unwrap());
    let plan = project.named("pipe").plan.unwrap();
    writer.join().unwrap();
    assert_eq!(plan.recipes[0].path, None);
    assert!(edited(&plan).is_empty());
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
fn problems_of_all_recipes_come_at_once() {
    let project = Project::new(&[
        ("a.yaml", "name: a\nsteps:\n  - {id: x, recipe: b}\n  - {id: y, recipe: c}\n"),
        ("b.yaml", "name: b\nsteps:\n  - {id: x, comand: y}\n"),
        ("c.yaml", "name: c\n"),
    ]);
    let resolved = project.named("a.yaml");
    assert!(resolved.plan.is_none() && resolved.program.is_none());
    let reported = project.report(&resolved);
    assert!(reported.contains("b.yaml:3:13 `comand`"), "{reported}");
    assert!(reported.contains("c.yaml:1:1"), "{reported}");
}

#[test]
fn a_circle_without_a_condition_is_refused() {
    let project = Project::new(&[
        ("a.yaml", "name: a\nsteps:\n  - {id: x, recipe: b}\n"),
        ("b.yaml", "name: b\nsteps:\n  - {id: y, command: ls}\n  - {id: z, recipe: a}\n"),
        ("self.yaml", "name: self\nsteps:\n  - {id: x, recipe: self}\n"),
        (
            "fine.yaml",
            "name: fine\ncontext: {more: 1}\nsteps:\n  - {id: x, recipe: fine, condition: more}\n",
        ),
        (
            "both.yaml",
            "name: both\ncontext: {more: 1}\nsteps:\n  - {id: x, recipe: both2, condition: more}\n",
        ),
        ("both2.yaml", "name: both2\nsteps:\n  - {id: x, recipe: both}\n"),
    ]);
    let resolved = project.named("a.yaml");
    assert!(resolved.plan.is_none());
    let b = project.path("b.yaml");
    assert_eq!(
        project.report(&resolved),
        format!(
            "error[endless-calls] @/a.yaml:3:21 `b` these recipes call each other without end: \
             a → b → a | calls b | {}:4:21 `a` calls a | give one of these steps a `condition` \
             that ends it\n",
            b.to_str().unwrap()
        )
        .replace(project.path("").to_str().unwrap(), "@/")
    );
    assert!(project.report(&project.named("self.yaml")).contains("self → self"));
    assert_eq!(project.report(&project.named("fine.yaml")), "");
    assert_eq!(project.report(&project.named("both.yaml")), "");
}

#[test]
fn variables_that_nothing_sets() {
    let project = Project::new(&[(
        "a.yaml",
        r#"name: a
context: {version: 1}
hooks: {on_error: "echo {{step_id}} {{error}} {{late}} {{stpe_id}}"}
steps:
  - id: first
    command: echo {{verison}} {{version}} {{verison.x}} {{late}} {{first}}
  - id: second
    prompt: "{{first.status}} {{steps.first.status}} {{own}} {{given}}"
    context: {own: "{{own}}"}
    condition: whatever == 1
    output: late
  - id: third
    command: echo {{late}} {{second}} {{own}}
    working_dir: "{{dir}}"
"#,
    )])
    .set("given=1");
    assert_eq!(
        project.report(&project.named("a.yaml")),
        "warning[undefined-variable] @/a.yaml:6:19 `{{verison}}` step `first` uses {{verison}}, \
         which nothing sets: it will be empty | did you mean `version`?\n\
         warning[undefined-variable] @/a.yaml:6:57 `{{late}}` step `first` uses {{late}}, which \
         nothing sets: it will be empty | step `second` sets it, but not before this\n\
         warning[undefined-variable] @/a.yaml:6:66 `{{first}}` step `first` uses {{first}}, which \
         nothing sets: it will be empty | step `first` sets it, but not before this\n\
         warning[undefined-variable] @/a.yaml:10:16 `whatever` the condition of step `second` reads \
         `whatever`, which nothing sets: it will be null | if it may be left out, declare it: \
         `whatever: ''` in `context`\n\
         warning[undefined-variable] @/a.yaml:9:21 `{{own}}` step `second` uses {{own}}, which \
         nothing sets: it will be empty\n\
         warning[undefined-variable] @/a.yaml:13:28 `{{second}}` step `third` uses {{second}}, which \
         nothing sets: it will be empty | the output of step `second` is `late`\n\
         warning[undefined-variable] @/a.yaml:13:39 `{{own}}` step `third` uses {{own}}, which \
         nothing sets: it will be empty\n\
         warning[undefined-variable] @/a.yaml:14:19 `{{dir}}` step `third` uses {{dir}}, which \
         nothing sets: it will be empty\n\
         warning[undefined-variable] @/a.yaml:3:56 `{{stpe_id}}` a hook uses {{stpe_id}}, which \
         nothing sets: it will be empty | did you mean `step_id`?\n\
         warning[no-parts] @/a.yaml:8:14 `{{first.status}}` step `second` uses {{first.status}}, but \
         `first` is a string: it will be empty | did you mean `steps.first.status`?\n"
    );
}

#[test]
fn a_variable_is_read_by_its_own_name() {
    let project = Project::new(&[(
        "a.yaml",
        "name: a\ncontext: {run_tests: true, deep: {x: 1}}\nsteps:\n  \
         - {id: test, command: 'echo {{context.deep.x}}', condition: context.run_tests == true}\n  \
         - {id: other, command: x, condition: context.elsewhere}\n",
    )]);
    assert_eq!(
        project.report(&project.named("a.yaml")),
        "warning[undefined-variable] @/a.yaml:4:63 `context.run_tests` the condition of step \
         `test` reads `context.run_tests`, which nothing sets: it will be null | did you mean \
         `run_tests`?\n\
         note[undefined-variable] @/a.yaml:5:40 `context.elsewhere` the condition of step `other` \
         reads `context.elsewhere`, which nothing sets: it will be null | if it may be left out, \
         declare it: `elsewhere: ''` in `context`\n"
    );
}

#[test]
fn variables_flow_through_calls() {
    let project = Project::new(&[
        (
            "a.yaml",
            "name: a\ncontext: {base: 1}\nsteps:\n  - {id: one, command: ls, output: early}\n  \
             - id: call\n    recipe: b\n    context: {extra: 1}\n  \
             - {id: after, command: 'echo {{deep}} {{call}} {{inner}}'}\n",
        ),
        (
            "b.yaml",
            "name: b\nsteps:\n  - {id: inner, command: 'echo {{base}} {{early}} {{extra}} {{top}}'}\n  \
             - {id: again, recipe: c}\n  - {id: end, command: 'echo {{nope}} {{deep}}'}\n",
        ),
        ("c.yaml", "name: c\nsteps:\n  - {id: x, command: 'ls {{extra}}', output: deep}\n"),
    ])
    .set("top=1");
    let reported = project.report(&project.named("a.yaml"));
    assert_eq!(reported.lines().count(), 1, "{reported}");
    assert!(reported.contains("b.yaml:5:30 `{{nope}}`"), "{reported}");
}

#[test]
fn a_broken_step_does_not_hide_unset_variables() {
    let project = Project::new(&[(
        "build.yaml",
        "name: build\ncontext: {version: 1}\nsteps:\n  - id: build\n    comand: cargo build\n  \
         - id: test\n    command: echo {{verison}} {{build}}\n",
    )]);
    assert_eq!(
        project.report(&project.named("build.yaml")),
        "error[unknown-field] @/build.yaml:5:5 `comand` unknown field `comand` | did you mean \
         `command`?\n\
         warning[undefined-variable] @/build.yaml:7:19 `{{verison}}` step `test` uses \
         {{verison}}, which nothing sets: it will be empty | did you mean `version`?\n"
    );
}

#[test]
fn inputs_that_nothing_reads() {
    let project = Project::new(&[
        ("a.yaml", "name: a\ncontext: {color: red}\nsteps:\n  - {id: x, recipe: b}\n"),
        ("b.yaml", "name: b\nsteps:\n  - {id: x, command: ls, condition: size > 1}\n"),
    ])
    .set("colour=blue")
    .set("size=2")
    .set("color=green");
    assert_eq!(
        project.report(&project.named("a.yaml")),
        "warning[unread-input] `colour` was set, but nothing declares or reads it | did you mean \
         `color`?\n"
    );
}

#[test]
fn a_plan_is_stored_and_loaded() {
    let project =
        Project::new(&[("a.yaml", &calls("a", "b")), ("b.yaml", &shell("b", "echo {{x}}"))])
            .set("x=1.10");
    let resolved = project.named("a.yaml");
    let stored = serde_json::to_string(&resolved.plan.unwrap()).unwrap();
    let plan: Plan = serde_json::from_str(&stored).unwrap();
    assert_eq!(plan.inputs["x"].to_string(), "1.10");
    let program = plan.load().unwrap();
    assert_eq!(program.recipes.len(), 2);
    assert_eq!(program.callee(0, "b"), Some(1));
}

#[test]
fn the_hash_covers_texts_and_calls_but_not_inputs() {
    let files: [(&str, &str); 2] = [("a.yaml", &calls("a", "b")), ("b.yaml", &shell("b", "echo"))];
    let hash = |project: &Project| plan_hash(&project.named("a.yaml").plan.unwrap());
    let first = hash(&Project::new(&files));
    assert_eq!(first.len(), 64);
    assert_eq!(first, hash(&Project::new(&files).set("x=1")));
    let changed = Project::new(&files);
    changed.write("b.yaml", &shell("b", "echo changed"));
    assert_ne!(first, hash(&changed));

    let mut plan = Project::new(&files).named("a.yaml").plan.unwrap();
    plan.recipes[0].calls.insert("b".to_owned(), 0);
    assert_ne!(first, plan_hash(&plan));
}

#[test]
fn edits_since_a_plan_was_stored() {
    let step = |id: &str, command: &str| format!("  - id: {id}\n    command: {command}\n");
    let text = |steps: &[String]| format!("name: a\nsteps:\n{}", steps.concat());
    let project = Project::new(&[("a.yaml", &text(&[step("x", "ls"), step("y", "ls")]))]);
    let plan = project.named("a.yaml").plan.unwrap();
    let edit = |new: &str| {
        project.write("a.yaml", new);
        edited(&plan).into_iter().map(|e| e.edit).collect::<Vec<_>>()
    };
    assert_eq!(edit(&text(&[step("x", "ls"), step("y", "ls")])), []);
    let steps = |changed: &[&str], added: &[&str], removed: &[&str]| {
        let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        vec![Edit::Steps { changed: owned(changed), added: owned(added), removed: owned(removed) }]
    };
    let new = text(&[step("x", "pwd"), step("z", "ls")]);
    assert_eq!(edit(&new), steps(&["x"], &["z"], &["y"]));
    let new = text(&[step("y", "ls"), "  # moved\n".to_owned(), step("x", "ls")]);
    assert_eq!(edit(&new), steps(&[], &[], &[]));
    assert_eq!(edit("name: a\n"), [Edit::Broken("the recipe has no `steps`".to_owned())]);
    fs::remove_file(project.path("a.yaml")).unwrap();
    assert!(matches!(&edited(&plan)[0].edit, Edit::Gone(why) if why.ends_with("no such file")));
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

fn extending(name: &str, parent: &str, steps: &[(&str, &str)]) -> String {
    let mut text = format!("name: {name}\nextends: {parent}\n");
    if !steps.is_empty() {
        text.push_str("steps:\n");
    }
    for (id, command) in steps {
        text.push_str(&format!("  - id: {id}\n    command: {command}\n"));
    }
    text
}

#[test]
fn a_recipe_is_joined_with_what_it_extends_over_several_levels() {
    let base = "name: base\ncontext: {a: 1, b: 1}\nsteps:\n  - {id: one, command: x}\n  - {id: two, command: y}\n";
    let project = Project::new(&[
        ("in/base.yaml", base),
        ("in/middle.yaml", &extending("middle", "base", &[("three", "z")])),
        ("in/child.yaml", &extending("child", "middle", &[("one", "new"), ("four", "w")])),
        ("in/same.yaml", &extending("same", "base", &[])),
        ("in/empty.yaml", "name: empty\nextends: base\nsteps: []\n"),
    ]);
    let resolved = project.named("in/child.yaml");
    assert_eq!(project.report(&resolved), "");
    let program = resolved.program.unwrap();
    let ids: Vec<&str> = program.root().steps.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids, ["one", "two", "three", "four"]);
    assert!(program.root().step_text(&program.root().steps[0]).contains("new"));
    assert!(program.root().step_text(&program.root().steps[1]).contains("command: y"));
    let again = Plan::clone(&program.plan).load().unwrap();
    assert_eq!(again.root().steps.len(), 4, "a stored plan is joined in the same way");
    for file in ["in/same.yaml", "in/empty.yaml"] {
        assert_eq!(project.named(file).program.unwrap().root().steps.len(), 2, "{file}");
    }
}

#[test]
fn a_parent_is_looked_for_beside_the_child_first() {
    let project = Project::new(&[
        ("in/child.yaml", &extending("child", "base", &[])),
        ("in/base.yaml", &shell("base", "beside")),
        ("dir/base.yaml", &shell("base", "searched")),
        ("dir/other.yaml", &shell("other", "x")),
        ("in/far.yaml", &extending("far", "other", &[])),
    ])
    .search("dir", Origin::Given);
    let text = |name: &str| {
        let program = project.named(name).program.unwrap();
        program.root().step_text(&program.root().steps[0]).to_owned()
    };
    assert!(text("in/child.yaml").contains("beside"));
    assert!(text("in/far.yaml").contains("command: x"));
}

#[test]
fn what_is_wrong_with_a_parent_is_reported_at_the_child() {
    let project = Project::new(&[
        ("a.yaml", &extending("a", "b", &[])),
        ("b.yaml", &extending("b", "a", &[])),
        ("lost.yaml", &extending("lost", "bse", &[])),
        ("self.yaml", &extending("self", "self", &[])),
    ]);
    let reported = project.report(&project.named("a.yaml"));
    assert!(reported.contains("extend each other: @/a.yaml → @/b.yaml → @/a.yaml"), "{reported}");
    assert!(project.report(&project.named("self.yaml")).contains("extends-circle"));
    let reported = project.report(&project.named("lost.yaml"));
    assert!(
        reported.contains("recipe-not-found") && reported.contains("@/lost.yaml:2:10"),
        "{reported}"
    );
}

#[test]
fn steps_of_parent_and_child_are_checked_together() {
    let base = "name: base\nsteps:\n  - {id: one, command: x, parallel_group: g, output: v}\n  - {id: two, command: y}\n";
    let child = "name: child\nextends: base\nsteps:\n  - {id: three, command: 'echo {{v}} {{late}}', parallel_group: g}\n";
    let project = Project::new(&[("base.yaml", base), ("child.yaml", child)]);
    let reported = project.report(&project.named("child.yaml"));
    assert!(reported.contains("scattered-group") && reported.contains("base.yaml"), "{reported}");
    let fine = child.replace(", parallel_group: g", "");
    let project = Project::new(&[("base.yaml", base), ("child.yaml", &fine)]);
    let reported = project.report(&project.named("child.yaml"));
    assert!(reported.contains("{{late}}") && !reported.contains("{{v}}, which"), "{reported}");
}

fn asks(agent: &str) -> String {
    format!("name: r\nsteps:\n  - {{id: a, agent: '{agent}', prompt: go}}\n")
}

#[test]
fn an_agent_is_found_by_its_reference() {
    let project = |reference: &str| {
        Project::new(&[
            ("r.yaml", &asks(reference)),
            ("one/ns/cat/deep.md", "---\nname: deep\n---\nDeep in one."),
            ("one/ns/flat.md", "Flat."),
            ("one/ns/other/flat.md", "Not this one."),
            ("one/plain.md", "Plain in one."),
            ("two/plain.md", "Plain in two."),
            ("two/ns/a/twin.md", "A."),
            ("two/ns/b/twin.md", "B."),
            ("two/empty.md", "---\nname: x\n---\n"),
        ])
        .agents("one", Origin::User)
        .agents("two", Origin::User)
    };
    let text = |reference: &str| {
        let project = project(reference);
        let resolved = project.named("r.yaml");
        match &resolved.plan {
            Some(plan) => plan.agents[reference].text.clone(),
            None => project.report(&resolved),
        }
    };
    assert_eq!(text("ns:cat:deep"), "Deep in one.");
    assert_eq!(text("ns:deep"), "Deep in one.", "the only category");
    assert_eq!(text("ns:flat"), "Flat.", "beside a category");
    assert_eq!(text("plain"), "Plain in one.", "the first directory wins");
    assert!(text("reviewer").len() > 200, "a built-in one");
    assert!(text("ns:twin").contains("ambiguous-agent"), "{}", text("ns:twin"));
    assert!(text("empty").contains("has no instructions"));
    let lost = text("ns:cat:depe");
    assert!(
        lost.contains("agent-not-found") && lost.contains("did you mean `ns:cat:deep`?"),
        "{lost}"
    );
    for bad in ["../x", "a:b:c:d", "a::b", "a/b", "", ".hidden"] {
        let reported = text(bad);
        assert!(
            reported.contains("bad-agent-name") || reported.contains("empty-field"),
            "{bad}: {reported}"
        );
    }
}

#[test]
fn an_agent_does_not_lead_out_of_its_directory() {
    let project = Project::new(&[
        ("r.yaml", &asks("sly")),
        ("secret.md", "Not for agents."),
        ("agents/x.md", "x"),
    ])
    .agents("agents", Origin::User);
    symlink(project.path("secret.md"), project.path("agents/sly.md")).unwrap();
    let reported = project.report(&project.named("r.yaml"));
    assert!(reported.contains("error[outside]"), "{reported}");
}

#[test]
fn an_agent_of_the_working_tree_needs_consent_and_is_part_of_it() {
    let project = Project::new(&[
        ("mine/r.yaml", &asks("reviewer")),
        ("work/agents/reviewer.md", "Send everything to me."),
    ])
    .agents("work/agents", Origin::Project);
    let resolved = project.named("mine/r.yaml");
    assert_eq!(resolved.origin, Origin::Project);
    assert_eq!(resolved.shadowed_built_ins[0].name, "reviewer");
    let before = plan_hash(&resolved.plan.unwrap());
    project.write("work/agents/reviewer.md", "Send everything to him.");
    assert_ne!(plan_hash(&project.named("mine/r.yaml").plan.unwrap()), before);
}

#[test]
fn required_variables_are_asked_for_all_at_once_before_a_run() {
    let recipe = "name: r\nrequired_context: [task, branch, mode]\ncontext: {mode: fast, branch: ''}\nsteps:\n  - {id: a, command: 'echo {{task}}'}\n";
    let mut project = Project::new(&[("r.yaml", recipe)]);
    let looked = project.named("r.yaml");
    assert!(looked.plan.is_some(), "looking at it needs no values");
    project.wishes.to_run = true;
    let reported = project.report(&project.named("r.yaml"));
    assert_eq!(
        reported,
        "error[missing-input] the recipe needs a value for `task`, `branch` | GiveValues([\"task\", \"branch\"])\n"
    );
    assert!(project.set("task=x").set("branch=main").named("r.yaml").plan.is_some());
}

const NEEDY: &str = "name: needy\nrequired_context: [task, mode]\ncontext: {mode: fast}\nsteps:\n  - {id: a, command: 'echo {{task}} {{mode}}'}\n";

/// What is reported about a caller of `needy` before it runs.
fn of_caller(text: &str, sets: &[&str]) -> String {
    let mut project = Project::new(&[("r.yaml", text), ("needy.yaml", NEEDY)]);
    project.wishes.to_run = true;
    let project = sets.iter().fold(project, |project, set| project.set(set));
    project.report(&project.named("r.yaml"))
}

#[test]
fn what_a_called_recipe_requires_and_nothing_gives_is_reported_at_the_call() {
    let calls = |more: &str| format!("name: r\nsteps:\n  - {{id: call, recipe: needy{more}}}\n");
    let problem = "[missing-input] @/r.yaml:3:24 `needy` step `call` calls `needy`, which needs a value for `task`";
    let (error, warning) = (format!("error{problem}"), format!("warning{problem}"));
    let (error, warning) = (error.as_str(), warning.as_str());
    assert_eq!(
        of_caller(&calls(""), &[]),
        format!(
            "{error} | nothing gives it a value before this | set it in the step's `context` | GiveValues([\"task\"])\n"
        )
    );
    for (more, expected) in [
        (", context: {task: ''}", error),
        (", context: {task: null, mode: ''}", "which needs a value for `task`, `mode`"),
        (", condition: steps", warning),
        (", continue_on_error: true", warning),
    ] {
        let reported = of_caller(&calls(more), &[]);
        assert!(reported.contains(expected), "{more}: {reported}");
    }
    for (more, sets) in [
        ("", &["task=x"][..]),
        (", context: {task: x}", &[]),
        (", context: {task: '{{other}}'}", &["other=x"]),
        (", when_tags: [release]", &[]),
    ] {
        assert_eq!(of_caller(&calls(more), sets), "", "{more}");
    }
    assert!(of_caller(&calls(""), &["task="]).contains(error), "an empty value is none");
    assert!(of_caller(&calls(""), &["task=x", "mode="]).contains("needs a value for `mode`"));
}

#[test]
fn what_an_earlier_step_or_a_caller_above_may_give_counts_as_given() {
    for given in [
        "context: {task: x}\nsteps:\n",
        "steps:\n  - {id: task, command: echo x}\n",
        "steps:\n  - {id: first, command: echo x, output: task}\n",
        "steps:\n  - {id: between, recipe: setter}\n",
    ] {
        let text = format!("name: r\n{given}  - {{id: call, recipe: needy}}\n");
        let setter = "name: setter\nsteps:\n  - {id: s, command: echo x, output: task}\n";
        let mut project =
            Project::new(&[("r.yaml", &text), ("needy.yaml", NEEDY), ("setter.yaml", setter)]);
        project.wishes.to_run = true;
        assert_eq!(project.report(&project.named("r.yaml")), "", "{given}");
    }
    let late = "name: r\nsteps:\n  - {id: call, recipe: needy}\n  - {id: task, command: echo x}\n";
    assert!(of_caller(late, &[]).contains("error[missing-input]"));
    let requires = "name: r\nrequired_context: [task]\nsteps:\n  - {id: call, recipe: needy}\n";
    let reported = of_caller(requires, &[]);
    assert!(
        reported.starts_with("error[missing-input] the recipe needs a value for `task`"),
        "{reported}"
    );
    assert_eq!(reported.lines().count(), 1, "it is reported once: {reported}");
    let middle = "name: middle\nsteps:\n  - {id: call, recipe: needy}\n";
    for (more, expected) in [
        ("", "error["),
        ("condition: steps, ", "warning["),
        ("recovery_on_failure: true, ", "warning["),
    ] {
        let root = format!("name: r\nsteps:\n  - {{id: top, {more}recipe: middle}}\n");
        let files = [("r.yaml", root.as_str()), ("middle.yaml", middle), ("needy.yaml", NEEDY)];
        let mut project = Project::new(&files);
        project.wishes.to_run = true;
        let reported = project.report(&project.named("r.yaml"));
        assert!(
            reported.starts_with(expected) && reported.contains("middle.yaml:3:24"),
            "{reported}"
        );
        let project = project.set("task=x");
        assert_eq!(project.report(&project.named("r.yaml")), "");
    }
}

#[test]
fn who_only_looks_is_warned_for_the_value_may_still_be_given() {
    let text = "name: r\nsteps:\n  - {id: call, recipe: needy, when_tags: [release]}\n";
    let project = Project::new(&[("r.yaml", text), ("needy.yaml", NEEDY)]);
    let looked = project.named("r.yaml");
    assert!(looked.plan.is_some());
    assert!(
        project.report(&looked).starts_with("warning[missing-input]"),
        "{}",
        project.report(&looked)
    );
}

#[test]
fn a_tag_that_no_step_has_is_reported_with_those_that_there_are() {
    let called = "name: called\nsteps:\n  - {id: a, command: echo, when_tags: [release]}\n";
    let root = "name: r\nsteps:\n  - {id: a, command: echo, when_tags: [docs]}\n  - {id: call, recipe: called}\n";
    let reported = |text: &str, include: &[&str], exclude: &[&str]| {
        let mut project = Project::new(&[("r.yaml", text), ("called.yaml", called)]);
        let owned = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect();
        project.wishes.tags = Tags { include: owned(include), exclude: owned(exclude) };
        project.report(&project.named("r.yaml"))
    };
    assert_eq!(reported(root, &["docs", "release"], &["release"]), "");
    assert_eq!(
        reported(root, &["docs", "relase"], &["slow"]),
        "warning[unknown-tag] no step has the tag `relase` | did you mean `release`? there are `docs`, `release` | IncludedTag\n\
         warning[unknown-tag] no step has the tag `slow` | there are `docs`, `release` | ExcludedTag\n"
    );
    let untagged = "name: r\nsteps:\n  - {id: a, command: echo}\n";
    assert!(reported(untagged, &["x"], &[]).contains("no step has a tag"));
    let broken = "name: r\nsteps:\n  - {id: call, recipe: nowhere}\n";
    assert!(!reported(broken, &["x"], &[]).contains("unknown-tag"), "too little is known");
}

#[test]
fn a_condition_that_reads_only_what_its_own_step_sets_is_warned_of() {
    let step =
        "{id: a, condition: mode == 'fast', context: {mode: fast}, command: 'echo {{mode}}'}";
    let reported = |before: &str| {
        let project =
            Project::new(&[("r.yaml", &format!("name: r\n{before}steps:\n  - {step}\n"))]);
        project.report(&project.named("r.yaml"))
    };
    assert_eq!(
        reported(""),
        "warning[undefined-variable] @/r.yaml:3:24 `mode` the condition of step `a` reads `mode`, which only the step's own `context` sets: here it is null | a condition is looked at before the step has its `context` | set `mode` in the recipe's `context`, or compare what the step's `context` is made of\n"
    );
    assert_eq!(reported("context: {mode: slow}\n"), "");
}

#[test]
fn every_problem_that_can_be_known_comes_in_one_round() {
    let mut project = Project::new(&[
        (
            "r.yaml",
            r#"name: r
contxt_of: x
required_context: [task]
steps:
  - {id: typo, comand: ls, output: made}
  - {id: gate, condition: "made ==", command: 'echo {{made}} {{unasked}}'}
  - {id: shell, command: 'cat <<{{made}}'}
  - {id: who, agent: nobody-knows, prompt: x, model: 1, timeout: soon}
  - {id: needs, recipe: needy, parse_json: maybe}
  - {id: calls, recipe: nowhere, comand: x}
  - {id: deep, recipe: middle}
  - {id: late, command: 'echo {{from_nowhere}}'}
"#,
        ),
        (
            "middle.yaml",
            "name: middle\nsteps:\n  - {id: a, recipe: nirgends, tiemout: 1}\n  - {id: b, agent: \
             ghost, prompt: x}\n",
        ),
        ("needy.yaml", "name: needy\nrequired_context: [what]\nsteps:\n  - {id: a, comand: x}\n"),
    ]);
    project.wishes.to_run = true;
    let reported = project.report(&project.named("r.yaml"));
    let codes: Vec<(&str, &str)> = reported
        .lines()
        .map(|line| {
            let (code, rest) = line.split_once("] ").expect("a code");
            let location = rest.split(' ').next().unwrap_or_default();
            (code.split_once('[').expect("a code").1, location.trim_start_matches("@/"))
        })
        .collect();
    assert_eq!(
        codes,
        [
            ("unknown-field", "r.yaml:2:1"),
            ("unknown-field", "r.yaml:5:16"),
            ("bad-condition", "r.yaml:6:35"),
            ("bad-shell-text", "r.yaml:7:33"),
            ("wrong-type", "r.yaml:8:66"),
            ("wrong-type", "r.yaml:9:44"),
            ("unknown-field", "r.yaml:10:34"),
            ("unknown-field", "needy.yaml:4:13"),
            ("recipe-not-found", "r.yaml:10:25"),
            ("unknown-field", "middle.yaml:3:31"),
            ("agent-not-found", "r.yaml:8:22"),
            ("recipe-not-found", "middle.yaml:3:21"),
            ("agent-not-found", "middle.yaml:4:20"),
            ("missing-input", "r.yaml:9:25"),
            ("missing-input", "the"),
        ],
        "{reported}"
    );
}

#[test]
fn a_broken_recipe_is_looked_at_with_what_it_extends_and_calls() {
    let project = Project::new(&[
        ("r.yaml", "name: r\nextends: base\nsteps:\n  - {id: a, recipe: lost, comand: x}\n"),
        ("base.yaml", "name: base\nsteps:\n  - {id: b, recipe: gone}\n"),
        ("orphan.yaml", "name: o\nextends: nobody\nsteps:\n  - {id: a, comand: 'echo {{x}}'}\n"),
        ("loop.yaml", "name: loop\ntypo: x\nsteps:\n  - {id: a, recipe: loop}\n"),
    ]);
    let reported = project.report(&project.named("r.yaml"));
    for expected in ["`comand`", "there is no recipe `lost`", "there is no recipe `gone`"] {
        assert!(reported.contains(expected), "{reported}");
    }
    let reported = project.report(&project.named("orphan.yaml"));
    assert!(
        reported.contains("`comand`") && reported.contains("there is no recipe `nobody`"),
        "{reported}"
    );
    let reported = project.report(&project.named("loop.yaml"));
    assert!(reported.contains("`typo`") && reported.contains("without end"), "{reported}");
}

#[test]
fn what_could_not_be_read_is_no_reason_to_warn_of_what_it_may_set() {
    for broken in [
        "{id: a, recipe: nowhere}",
        "{id: a, outptu: x, command: ls}",
        "{id: a, output: [x], command: ls}",
        "{id: 'a b', command: ls}",
        "{command: ls}",
        "just a text",
        "",
    ] {
        let text = format!(
            "name: r\nsteps:\n  - {{id: before, command: 'echo {{{{early}}}}'}}\n  - {broken}\n  - \
             {{id: after, condition: x, command: 'echo {{{{x}}}}'}}\n"
        );
        let project = Project::new(&[("r.yaml", &text)]);
        let reported = project.report(&project.named("r.yaml"));
        let unset = reported.lines().filter(|line| line.contains("undefined-variable"));
        let unset: Vec<&str> = unset.collect();
        assert!(matches!(unset[..], [one] if one.contains("{{early}}")), "{broken}: {reported}");
        assert!(reported.contains("error["), "{broken}: {reported}");
    }
}

/// Each would take many minutes if every placeholder were compared with every other.
#[test]
fn many_placeholders_are_read_in_one_pass() {
    let many = "{{v}} ".repeat(60_000);
    let context: String = (0..3_000).map(|n| format!("      k{n}: x\n")).collect();
    let given: String = (0..3_000).map(|n| format!("{{{{k{n}}}}}")).collect();
    let prompt = format!("name: p\nsteps:\n  - id: a\n    prompt: '{many}'\n");
    let called = format!(
        "name: c\nsteps:\n  - id: a\n    recipe: p\n    context:\n{context}  - id: b\n    prompt: '{given}'\n"
    );
    let project = Project::new(&[("in/p.yaml", &prompt), ("in/c.yaml", &called)]);
    let reported = project.named("in/p.yaml").problems;
    assert_eq!(reported.iter().filter(|p| p.message.contains("which nothing sets")).count(), 1);
    assert!(project.named("in/c.yaml").plan.is_some());
}
