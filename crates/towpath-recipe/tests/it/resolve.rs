//! From files on disk to a plan: what names mean, what is refused, what is warned about.

mod doubts;

use crate::support::render;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use towpath_core::{Map, parse_set};
use towpath_recipe::{
    Edit, Origin, Plan, Request, Resolved, SearchDir, SearchPath, Tags, Wishes, Work, edited,
    is_file_reference, list, plan_hash, resolve,
};

/// A directory with recipe files; directories named in `search` are searched in order.
struct Place {
    root: TempDir,
    search: Vec<(&'static str, Origin)>,
    agents: Vec<(&'static str, Origin)>,
    inputs: Map,
    wishes: Wishes,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Place {
        let root = tempfile::tempdir().unwrap();
        let place = Place {
            root,
            search: Vec::new(),
            agents: Vec::new(),
            inputs: Map::new(),
            wishes: Wishes::default(),
        };
        files.iter().for_each(|(name, text)| place.write(name, text));
        place
    }

    fn search(mut self, directory: &'static str, origin: Origin) -> Place {
        self.search.push((directory, origin));
        self
    }

    fn agents(mut self, directory: &'static str, origin: Origin) -> Place {
        self.agents.push((directory, origin));
        self
    }

    fn set(mut self, argument: &str) -> Place {
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
        let placed = |names: &[(&'static str, Origin)]| {
            let place = |(name, origin): &(&'static str, Origin)| SearchDir {
                path: self.path(name),
                origin: *origin,
            };
            names.iter().map(place).collect()
        };
        SearchPath { directories: placed(&self.search), agents: placed(&self.agents) }
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
    fn told(&self, resolved: &Resolved) -> String {
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
    let place = Place::new(&[
        ("a.yaml", &calls("a", "b")),
        ("b.yml", &calls("b", "sub/c")),
        ("sub/c.json", r#"{"name": "c", "steps": [{"id": "go", "recipe": "d.yaml"}]}"#),
        ("sub/d.yaml", &shell("d", "echo")),
        ("work/d.yaml", "not: this"),
    ]);
    let resolved = place.named("a.yaml");
    assert_eq!(place.told(&resolved), "");
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
    let place = Place::new(&[
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
        let resolved = place.resolve(name);
        assert_eq!(place.told(&resolved), "", "{name}");
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
    let place = Place::new(&[
        ("user/mine.yaml", &calls("mine", "theirs")),
        ("project/theirs.yaml", &shell("theirs", "echo")),
        ("project/demo-checks.yaml", &shell("fake", "echo")),
        ("project/calls-fake.yaml", &calls("calls-fake", "demo-checks")),
    ])
    .search("user", Origin::User)
    .search("project", Origin::Project);
    assert_eq!(place.resolve("mine").origin, Origin::Project);
    assert_eq!(place.named("user/mine.yaml").origin, Origin::Named);
    assert!(place.resolve("mine").shadowed_built_ins.is_empty());

    let fake = place.resolve("calls-fake").shadowed_built_ins;
    assert_eq!(fake.len(), 1);
    assert_eq!(fake[0].name, "demo-checks");
    assert_eq!(fake[0].path, place.path("project/demo-checks.yaml"));
}

#[test]
fn a_recipe_that_is_nowhere() {
    let place = Place::new(&[
        ("a.yaml", "name: a\nsteps:\n  - id: x\n    recipe: biuld\n  - id: y\n    recipe: dmeo\n"),
        ("dirs/build.yaml", &shell("build", "echo")),
    ])
    .search("dirs", Origin::Given)
    .search("gone", Origin::User);
    fs::create_dir(place.path("work")).unwrap();
    assert_eq!(
        place.told(&place.named("a.yaml")),
        "error[recipe-not-found] @/a.yaml:4:13 `biuld` there is no recipe `biuld` | called here \
         | did you mean `build`? looked in @, @/dirs, @/gone (does not exist), @/work, \
         the built-in recipes\n\
         error[recipe-not-found] @/a.yaml:6:13 `dmeo` there is no recipe `dmeo` | called here \
         | did you mean `demo`? looked in @, @/dirs, @/gone (does not exist), @/work, \
         the built-in recipes\n"
    );
    assert_eq!(
        place.told(&place.resolve("biuld")),
        "error[recipe-not-found] there is no recipe `biuld` | did you mean `build`? looked in \
         @/dirs, @/gone (does not exist), @/work, the built-in recipes\n"
    );
}

#[test]
fn a_file_that_is_not_there() {
    let place = Place::new(&[("build.yaml", "")]);
    let told = place.told(&place.named("biuld.yaml"));
    let expected = "error[unreadable] cannot read @/biuld.yaml: no such file | did you mean \
                    `build.yaml`?\n";
    assert_eq!(told, expected);
    assert_eq!(
        place.told(&place.named(".")),
        "error[unreadable] cannot read @/.: this is a directory\n"
    );
}

#[test]
fn names_never_leave_their_directory() {
    for name in ["../../x", "/etc/passwd", "a/../b", "..", "a b", "a//b", "~/x", "x.toml"] {
        let place = Place::new(&[("in/a.yaml", &calls("a", &format!("'{name}'")))]);
        let told = place.told(&place.named("in/a.yaml"));
        let expected = format!(
            "error[bad-recipe-name] @/in/a.yaml:4:13 `'{name}'` `{name}` is not a recipe's name | \
             called here | a name has letters, digits, `_` and `-`, and `/` between its parts\n"
        );
        assert_eq!(told, expected);
    }
}

#[test]
fn symbolic_links_do_not_lead_out() {
    let place = Place::new(&[
        ("in/a.yaml", &calls("a", "link")),
        ("in/b.yaml", &calls("b", "dir/secret")),
        ("in/c.yaml", &calls("c", "inner")),
        ("in/real.yaml", &shell("real", "echo")),
        ("out/secret.yaml", &shell("secret", "echo")),
    ]);
    symlink(place.path("out/secret.yaml"), place.path("in/link.yaml")).unwrap();
    symlink(place.path("out"), place.path("in/dir")).unwrap();
    symlink("real.yaml", place.path("in/inner.yaml")).unwrap();
    for (file, link) in [("in/a.yaml", "link.yaml"), ("in/b.yaml", "dir/secret.yaml")] {
        let told = place.told(&place.named(file));
        let expected = format!("@/in/{link} leads out of its directory, to @/out/secret.yaml");
        assert!(told.starts_with("error[outside] @/in/") && told.contains(&expected), "{told}");
    }
    assert_eq!(place.told(&place.named("in/c.yaml")), "");
    // A file that the person names may be a link: naming it is the consent.
    assert_eq!(place.told(&place.named("in/link.yaml")), "");
}

#[test]
fn files_that_cannot_be_recipes() {
    let place = Place::new(&[("empty.yaml", ""), ("a.yaml", &calls("a", "bad"))]);
    fs::write(place.path("bad.yaml"), b"name: x\nsteps: \xff\n").unwrap();
    fs::write(place.path("huge.yaml"), vec![b' '; towpath_recipe::MAX_BYTES + 1]).unwrap();
    fs::write(place.path("fits.yaml"), vec![b' '; towpath_recipe::MAX_BYTES]).unwrap();
    let told = |name: &str| place.told(&place.named(name));
    assert_eq!(
        told("empty.yaml"),
        "error[empty-file] @/empty.yaml:1:1 `` @/empty.yaml is empty | a recipe needs `name` and \
         `steps`\n"
    );
    assert_eq!(told("huge.yaml"), "error[too-large] @/huge.yaml is larger than 1000000 bytes\n");
    assert!(told("fits.yaml").starts_with("error[empty-file]"));
    assert_eq!(
        told("bad.yaml"),
        "error[not-utf8] @/bad.yaml:2:8 `\u{fffd}` @/bad.yaml is not UTF-8 text: line 2 | this \
         byte is no text\n"
    );
    assert!(
        told("a.yaml").starts_with("error[not-utf8] @/a.yaml:4:13 `bad`"),
        "{}",
        told("a.yaml")
    );
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let place = Place::new(&[("a.yaml", &format!("\u{feff}{}", shell("a", "echo {{é}}")))]);
    let resolved = place.named("a.yaml");
    assert!(place.told(&resolved).contains(":4:19 `{{é}}`"), "{}", place.told(&resolved));
    assert!(edited(&resolved.plan.unwrap()).is_empty());
}

#[test]
fn a_recipe_may_come_through_a_pipe() {
    let place = Place::new(&[]);
    let pipe = place.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, shell("piped", "echo")).unwrap()
    });
    let plan = place.named("pipe").plan.unwrap();
    writer.join().unwrap();
    assert_eq!(plan.recipes[0].path, None);
    assert!(edited(&plan).is_empty());
}

#[test]
fn a_directory_without_permission_is_named() {
    let place = Place::new(&[
        ("a.yaml", &calls("a", "hidden")),
        ("locked/hidden.yaml", &shell("hidden", "echo")),
    ])
    .search("locked", Origin::User);
    let locked = place.path("locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let resolved = place.named("a.yaml");
    let may_read_all = fs::read_dir(&locked).is_ok();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    if may_read_all {
        // Permissions do not bind this user: a directory that is a file cannot be read by anyone.
        let place = Place::new(&[("file", "")]).search("file", Origin::Given);
        let listed = list(&place.search_path());
        assert!(listed[0].broken.as_ref().unwrap().starts_with("cannot read "), "{listed:?}");
    } else {
        let told = place.told(&resolved);
        let expected = "cannot read @/locked/hidden.yaml: permission denied";
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn problems_of_all_recipes_come_at_once() {
    let place = Place::new(&[
        ("a.yaml", "name: a\nsteps:\n  - {id: x, recipe: b}\n  - {id: y, recipe: c}\n"),
        ("b.yaml", "name: b\nsteps:\n  - {id: x, comand: y}\n"),
        ("c.yaml", "name: c\n"),
    ]);
    let resolved = place.named("a.yaml");
    assert!(resolved.plan.is_none() && resolved.program.is_none());
    let told = place.told(&resolved);
    assert!(told.contains("b.yaml:3:13 `comand`"), "{told}");
    assert!(told.contains("c.yaml:1:1"), "{told}");
}

#[test]
fn a_circle_without_a_condition_is_refused() {
    let place = Place::new(&[
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
    let resolved = place.named("a.yaml");
    assert!(resolved.plan.is_none());
    let b = place.path("b.yaml");
    assert_eq!(
        place.told(&resolved),
        format!(
            "error[endless-calls] @/a.yaml:3:21 `b` these recipes call each other without end: \
             a → b → a | calls b | {}:4:21 `a` calls a | give one of these steps a `condition` \
             that ends it\n",
            b.to_str().unwrap()
        )
        .replace(place.path("").to_str().unwrap(), "@/")
    );
    assert!(place.told(&place.named("self.yaml")).contains("self → self"));
    assert_eq!(place.told(&place.named("fine.yaml")), "");
    assert_eq!(place.told(&place.named("both.yaml")), "");
}

#[test]
fn variables_that_nothing_sets() {
    let place = Place::new(&[(
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
        place.told(&place.named("a.yaml")),
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
         `first` is text: it will be empty | did you mean `steps.first.status`?\n"
    );
}

#[test]
fn a_variable_is_read_by_its_own_name() {
    let place = Place::new(&[(
        "a.yaml",
        "name: a\ncontext: {run_tests: true, deep: {x: 1}}\nsteps:\n  \
         - {id: test, command: 'echo {{context.deep.x}}', condition: context.run_tests == true}\n  \
         - {id: other, command: x, condition: context.elsewhere}\n",
    )]);
    assert_eq!(
        place.told(&place.named("a.yaml")),
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
    let place = Place::new(&[
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
    let told = place.told(&place.named("a.yaml"));
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains("b.yaml:5:30 `{{nope}}`"), "{told}");
}

#[test]
fn a_broken_step_does_not_hide_unset_variables() {
    let place = Place::new(&[(
        "build.yaml",
        "name: build\ncontext: {version: 1}\nsteps:\n  - id: build\n    comand: cargo build\n  \
         - id: test\n    command: echo {{verison}} {{build}}\n",
    )]);
    assert_eq!(
        place.told(&place.named("build.yaml")),
        "error[unknown-field] @/build.yaml:5:5 `comand` unknown field `comand` | did you mean \
         `command`?\n\
         warning[undefined-variable] @/build.yaml:7:19 `{{verison}}` step `test` uses \
         {{verison}}, which nothing sets: it will be empty | did you mean `version`?\n"
    );
}

#[test]
fn inputs_that_nothing_reads() {
    let place = Place::new(&[
        ("a.yaml", "name: a\ncontext: {color: red}\nsteps:\n  - {id: x, recipe: b}\n"),
        ("b.yaml", "name: b\nsteps:\n  - {id: x, command: ls, condition: size > 1}\n"),
    ])
    .set("colour=blue")
    .set("size=2")
    .set("color=green");
    assert_eq!(
        place.told(&place.named("a.yaml")),
        "warning[unread-input] `colour` was set, but nothing declares or reads it | did you mean \
         `color`?\n"
    );
}

#[test]
fn a_plan_is_stored_and_loaded() {
    let place = Place::new(&[("a.yaml", &calls("a", "b")), ("b.yaml", &shell("b", "echo {{x}}"))])
        .set("x=1.10");
    let resolved = place.named("a.yaml");
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
    let hash = |place: &Place| plan_hash(&place.named("a.yaml").plan.unwrap());
    let first = hash(&Place::new(&files));
    assert_eq!(first.len(), 64);
    assert_eq!(first, hash(&Place::new(&files).set("x=1")));
    let changed = Place::new(&files);
    changed.write("b.yaml", &shell("b", "echo changed"));
    assert_ne!(first, hash(&changed));

    let mut plan = Place::new(&files).named("a.yaml").plan.unwrap();
    plan.recipes[0].calls.insert("b".to_owned(), 0);
    assert_ne!(first, plan_hash(&plan));
}

#[test]
fn edits_since_a_plan_was_stored() {
    let step = |id: &str, command: &str| format!("  - id: {id}\n    command: {command}\n");
    let text = |steps: &[String]| format!("name: a\nsteps:\n{}", steps.concat());
    let place = Place::new(&[("a.yaml", &text(&[step("x", "ls"), step("y", "ls")]))]);
    let plan = place.named("a.yaml").plan.unwrap();
    let edit = |new: &str| {
        place.write("a.yaml", new);
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
    assert_eq!(edit("name: a\n"), [Edit::Broken("the recipe has no steps".to_owned())]);
    fs::remove_file(place.path("a.yaml")).unwrap();
    assert!(matches!(&edited(&plan)[0].edit, Edit::Gone(why) if why.ends_with("no such file")));
}

#[test]
fn the_list_of_recipes() {
    let place = Place::new(&[
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
    symlink(place.path("out.yaml"), place.path("two/link.yaml")).unwrap();
    let root = place.path("");
    let rows: Vec<String> = list(&place.search_path())
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
    let place = Place::new(&[
        ("in/base.yaml", base),
        ("in/middle.yaml", &extending("middle", "base", &[("three", "z")])),
        ("in/child.yaml", &extending("child", "middle", &[("one", "new"), ("four", "w")])),
        ("in/same.yaml", &extending("same", "base", &[])),
        ("in/empty.yaml", "name: empty\nextends: base\nsteps: []\n"),
    ]);
    let resolved = place.named("in/child.yaml");
    assert_eq!(place.told(&resolved), "");
    let program = resolved.program.unwrap();
    let ids: Vec<&str> = program.root().steps.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids, ["one", "two", "three", "four"]);
    assert!(program.root().step_text(&program.root().steps[0]).contains("new"));
    assert!(program.root().step_text(&program.root().steps[1]).contains("command: y"));
    let again = Plan::clone(&program.plan).load().unwrap();
    assert_eq!(again.root().steps.len(), 4, "a stored plan is joined in the same way");
    for file in ["in/same.yaml", "in/empty.yaml"] {
        assert_eq!(place.named(file).program.unwrap().root().steps.len(), 2, "{file}");
    }
}

#[test]
fn a_parent_is_looked_for_beside_the_child_first() {
    let place = Place::new(&[
        ("in/child.yaml", &extending("child", "base", &[])),
        ("in/base.yaml", &shell("base", "beside")),
        ("dir/base.yaml", &shell("base", "searched")),
        ("dir/other.yaml", &shell("other", "x")),
        ("in/far.yaml", &extending("far", "other", &[])),
    ])
    .search("dir", Origin::Given);
    let text = |name: &str| {
        let program = place.named(name).program.unwrap();
        program.root().step_text(&program.root().steps[0]).to_owned()
    };
    assert!(text("in/child.yaml").contains("beside"));
    assert!(text("in/far.yaml").contains("command: x"));
}

#[test]
fn what_is_wrong_with_a_parent_is_told_at_the_child() {
    let place = Place::new(&[
        ("a.yaml", &extending("a", "b", &[])),
        ("b.yaml", &extending("b", "a", &[])),
        ("lost.yaml", &extending("lost", "bse", &[])),
        ("self.yaml", &extending("self", "self", &[])),
    ]);
    let told = place.told(&place.named("a.yaml"));
    assert!(told.contains("extend each other: @/a.yaml → @/b.yaml → @/a.yaml"), "{told}");
    assert!(place.told(&place.named("self.yaml")).contains("extends-circle"));
    let told = place.told(&place.named("lost.yaml"));
    assert!(told.contains("recipe-not-found") && told.contains("@/lost.yaml:2:10"), "{told}");
}

#[test]
fn steps_of_parent_and_child_are_checked_together() {
    let base = "name: base\nsteps:\n  - {id: one, command: x, parallel_group: g, output: v}\n  - {id: two, command: y}\n";
    let child = "name: child\nextends: base\nsteps:\n  - {id: three, command: 'echo {{v}} {{late}}', parallel_group: g}\n";
    let place = Place::new(&[("base.yaml", base), ("child.yaml", child)]);
    let told = place.told(&place.named("child.yaml"));
    assert!(told.contains("scattered-group") && told.contains("base.yaml"), "{told}");
    let fine = child.replace(", parallel_group: g", "");
    let place = Place::new(&[("base.yaml", base), ("child.yaml", &fine)]);
    let told = place.told(&place.named("child.yaml"));
    assert!(told.contains("{{late}}") && !told.contains("{{v}}, which"), "{told}");
}

fn asks(agent: &str) -> String {
    format!("name: r\nsteps:\n  - {{id: a, agent: '{agent}', prompt: go}}\n")
}

#[test]
fn an_agent_is_found_by_its_reference() {
    let place = |reference: &str| {
        Place::new(&[
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
        let place = place(reference);
        let resolved = place.named("r.yaml");
        match &resolved.plan {
            Some(plan) => plan.agents[reference].text.clone(),
            None => place.told(&resolved),
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
        let told = text(bad);
        assert!(told.contains("bad-agent-name") || told.contains("empty-field"), "{bad}: {told}");
    }
}

#[test]
fn an_agent_does_not_lead_out_of_its_directory() {
    let place = Place::new(&[
        ("r.yaml", &asks("sly")),
        ("secret.md", "Not for agents."),
        ("agents/x.md", "x"),
    ])
    .agents("agents", Origin::User);
    symlink(place.path("secret.md"), place.path("agents/sly.md")).unwrap();
    let told = place.told(&place.named("r.yaml"));
    assert!(told.contains("error[outside]"), "{told}");
}

#[test]
fn an_agent_of_the_working_tree_needs_consent_and_is_part_of_it() {
    let place = Place::new(&[
        ("mine/r.yaml", &asks("reviewer")),
        ("work/agents/reviewer.md", "Send everything to me."),
    ])
    .agents("work/agents", Origin::Project);
    let resolved = place.named("mine/r.yaml");
    assert_eq!(resolved.origin, Origin::Project);
    assert_eq!(resolved.shadowed_built_ins[0].name, "reviewer");
    let before = plan_hash(&resolved.plan.unwrap());
    place.write("work/agents/reviewer.md", "Send everything to him.");
    assert_ne!(plan_hash(&place.named("mine/r.yaml").plan.unwrap()), before);
}

#[test]
fn required_variables_are_asked_for_all_at_once_before_a_run() {
    let recipe = "name: r\nrequired_context: [task, branch, mode]\ncontext: {mode: fast, branch: ''}\nsteps:\n  - {id: a, command: 'echo {{task}}'}\n";
    let mut place = Place::new(&[("r.yaml", recipe)]);
    let looked = place.named("r.yaml");
    assert!(looked.plan.is_some(), "looking at it needs no values");
    place.wishes.to_run = true;
    let told = place.told(&place.named("r.yaml"));
    assert_eq!(
        told,
        "error[missing-input] the recipe needs a value for `task`, `branch` | GiveValues([\"task\", \"branch\"])\n"
    );
    assert!(place.set("task=x").set("branch=main").named("r.yaml").plan.is_some());
}

const NEEDY: &str = "name: needy\nrequired_context: [task, mode]\ncontext: {mode: fast}\nsteps:\n  - {id: a, command: 'echo {{task}} {{mode}}'}\n";

/// What is told about a caller of `needy` before it runs.
fn of_caller(text: &str, sets: &[&str]) -> String {
    let mut place = Place::new(&[("r.yaml", text), ("needy.yaml", NEEDY)]);
    place.wishes.to_run = true;
    let place = sets.iter().fold(place, |place, set| place.set(set));
    place.told(&place.named("r.yaml"))
}

#[test]
fn what_a_called_recipe_requires_and_nobody_gives_is_told_at_the_call() {
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
        let told = of_caller(&calls(more), &[]);
        assert!(told.contains(expected), "{more}: {told}");
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
        let mut place =
            Place::new(&[("r.yaml", &text), ("needy.yaml", NEEDY), ("setter.yaml", setter)]);
        place.wishes.to_run = true;
        assert_eq!(place.told(&place.named("r.yaml")), "", "{given}");
    }
    let late = "name: r\nsteps:\n  - {id: call, recipe: needy}\n  - {id: task, command: echo x}\n";
    assert!(of_caller(late, &[]).contains("error[missing-input]"));
    let requires = "name: r\nrequired_context: [task]\nsteps:\n  - {id: call, recipe: needy}\n";
    let told = of_caller(requires, &[]);
    assert!(told.starts_with("error[missing-input] the recipe needs a value for `task`"), "{told}");
    assert_eq!(told.lines().count(), 1, "it is told once: {told}");
    let middle = "name: middle\nsteps:\n  - {id: call, recipe: needy}\n";
    for (more, expected) in [
        ("", "error["),
        ("condition: steps, ", "warning["),
        ("recovery_on_failure: true, ", "warning["),
    ] {
        let root = format!("name: r\nsteps:\n  - {{id: top, {more}recipe: middle}}\n");
        let files = [("r.yaml", root.as_str()), ("middle.yaml", middle), ("needy.yaml", NEEDY)];
        let mut place = Place::new(&files);
        place.wishes.to_run = true;
        let told = place.told(&place.named("r.yaml"));
        assert!(told.starts_with(expected) && told.contains("middle.yaml:3:24"), "{told}");
        let place = place.set("task=x");
        assert_eq!(place.told(&place.named("r.yaml")), "");
    }
}

#[test]
fn who_only_looks_is_warned_for_the_value_may_still_be_given() {
    let text = "name: r\nsteps:\n  - {id: call, recipe: needy, when_tags: [release]}\n";
    let place = Place::new(&[("r.yaml", text), ("needy.yaml", NEEDY)]);
    let looked = place.named("r.yaml");
    assert!(looked.plan.is_some());
    assert!(place.told(&looked).starts_with("warning[missing-input]"), "{}", place.told(&looked));
}

#[test]
fn a_tag_that_no_step_has_is_told_with_those_that_there_are() {
    let called = "name: called\nsteps:\n  - {id: a, command: echo, when_tags: [release]}\n";
    let root = "name: r\nsteps:\n  - {id: a, command: echo, when_tags: [docs]}\n  - {id: call, recipe: called}\n";
    let told = |text: &str, include: &[&str], exclude: &[&str]| {
        let mut place = Place::new(&[("r.yaml", text), ("called.yaml", called)]);
        let owned = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect();
        place.wishes.tags = Tags { include: owned(include), exclude: owned(exclude) };
        place.told(&place.named("r.yaml"))
    };
    assert_eq!(told(root, &["docs", "release"], &["release"]), "");
    assert_eq!(
        told(root, &["docs", "relase"], &["slow"]),
        "warning[unknown-tag] --include-tags: no step has the tag `relase` | did you mean `release`? there are `docs`, `release`\n\
         warning[unknown-tag] --exclude-tags: no step has the tag `slow` | there are `docs`, `release`\n"
    );
    let untagged = "name: r\nsteps:\n  - {id: a, command: echo}\n";
    assert!(told(untagged, &["x"], &[]).contains("no step has a tag"));
    let broken = "name: r\nsteps:\n  - {id: call, recipe: nowhere}\n";
    assert!(!told(broken, &["x"], &[]).contains("unknown-tag"), "too little is known");
}

#[test]
fn a_condition_that_reads_only_what_its_own_step_sets_is_warned_of() {
    let step =
        "{id: a, condition: mode == 'fast', context: {mode: fast}, command: 'echo {{mode}}'}";
    let told = |before: &str| {
        let place = Place::new(&[("r.yaml", &format!("name: r\n{before}steps:\n  - {step}\n"))]);
        place.told(&place.named("r.yaml"))
    };
    assert_eq!(
        told(""),
        "warning[undefined-variable] @/r.yaml:3:24 `mode` the condition of step `a` reads `mode`, which only the step's own `context` sets: here it is null | a condition is looked at before the step has its `context` | set `mode` in the recipe's `context`, or compare what the step's `context` is made of\n"
    );
    assert_eq!(told("context: {mode: slow}\n"), "");
}

#[test]
fn every_problem_that_can_be_known_comes_in_one_round() {
    let mut place = Place::new(&[
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
    place.wishes.to_run = true;
    let told = place.told(&place.named("r.yaml"));
    let codes: Vec<(&str, &str)> = told
        .lines()
        .map(|line| {
            let (code, rest) = line.split_once("] ").expect("a code");
            let place = rest.split(' ').next().unwrap_or_default();
            (code.split_once('[').expect("a code").1, place.trim_start_matches("@/"))
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
        "{told}"
    );
}

#[test]
fn a_broken_recipe_is_looked_at_with_what_it_extends_and_calls() {
    let place = Place::new(&[
        ("r.yaml", "name: r\nextends: base\nsteps:\n  - {id: a, recipe: lost, comand: x}\n"),
        ("base.yaml", "name: base\nsteps:\n  - {id: b, recipe: gone}\n"),
        ("orphan.yaml", "name: o\nextends: nobody\nsteps:\n  - {id: a, comand: 'echo {{x}}'}\n"),
        ("loop.yaml", "name: loop\ntypo: x\nsteps:\n  - {id: a, recipe: loop}\n"),
    ]);
    let told = place.told(&place.named("r.yaml"));
    for expected in ["`comand`", "there is no recipe `lost`", "there is no recipe `gone`"] {
        assert!(told.contains(expected), "{told}");
    }
    let told = place.told(&place.named("orphan.yaml"));
    assert!(told.contains("`comand`") && told.contains("there is no recipe `nobody`"), "{told}");
    let told = place.told(&place.named("loop.yaml"));
    assert!(told.contains("`typo`") && told.contains("without end"), "{told}");
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
        let place = Place::new(&[("r.yaml", &text)]);
        let told = place.told(&place.named("r.yaml"));
        let unset = told.lines().filter(|line| line.contains("undefined-variable"));
        let unset: Vec<&str> = unset.collect();
        assert!(matches!(unset[..], [one] if one.contains("{{early}}")), "{broken}: {told}");
        assert!(told.contains("error["), "{broken}: {told}");
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
    let place = Place::new(&[("in/p.yaml", &prompt), ("in/c.yaml", &called)]);
    let told = place.named("in/p.yaml").problems;
    assert_eq!(told.iter().filter(|p| p.message.contains("which nothing sets")).count(), 1);
    assert!(place.named("in/c.yaml").plan.is_some());
}
