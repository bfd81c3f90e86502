//! `towpath test` as a user uses it: suites that pass, every way to fail with what is shown of it,
//! bad test files, steps that nobody would miss, and nothing left behind however it ends.

use crate::support::{Printed, Signal, User, kill_hard, lives, signal, until};
use serde_json::json;
use std::fs;
use std::process::Stdio;

const DEPLOY: &str = r#"name: deploy
context:
  environment: staging
steps:
  - id: ci
    recipe: ci
  - id: build
    command: cat app.txt && echo "built {{environment}}"
  - id: review
    prompt: "Review this: {{build}}"
  - id: deploy
    command: scripts/deploy {{environment}}
  - id: notify
    command: echo "sent mail"
    condition: environment == "production"
"#;

const CI: &str = "name: ci
steps:
  - {id: lint, command: echo lint ok}
  - {id: slow, command: sleep 60, condition: full}
";

/// A user with a project whose recipes have a name, and an empty directory for temporary files.
fn user() -> User {
    let user = User::new();
    fs::create_dir(user.path("tmp")).unwrap();
    user.file("recipes/deploy.yaml", DEPLOY).file("recipes/ci.yaml", CI)
}

fn test(user: &User, arguments: &[&str]) -> Printed {
    let arguments: Vec<&str> = ["test"].iter().chain(arguments).copied().collect();
    let mut command = user.command(&arguments);
    command.env("TMPDIR", user.path("tmp"));
    let state = user.path("home/state").exists();
    let printed = Printed::from(command.output().expect("towpath starts"));
    let left: Vec<_> = fs::read_dir(user.path("tmp")).unwrap().collect();
    let kept = arguments.contains(&"--keep");
    assert!(kept || left.is_empty(), "left behind: {left:?}");
    assert_eq!(user.path("home/state").exists(), state, "the user's own state is not touched");
    printed
}

/// What was shown, without times, which no two runs share.
fn shown(printed: &Printed) -> String {
    let without = |line: &str| match line.rsplit_once("  ") {
        Some((before, time)) if time.ends_with(" s") => before.to_owned(),
        _ => line.to_owned(),
    };
    printed.stdout.lines().map(|line| without(line) + "\n").collect()
}

/// Plays one case against the project's recipe.
fn case(text: &str) -> Printed {
    let indented: String = text.lines().map(|line| format!("    {line}\n")).collect();
    let file = format!(
        "defaults:\n  files: {{app.txt: app}}\n  agents: {{review: fine}}\n  \
         stubs: {{deploy: echo deployed}}\ncases:\n  - name: it\n{indented}"
    );
    test(&user().file("recipes/deploy.test.yaml", &file), &["recipes"])
}

#[track_caller]
fn fails(text: &str, expected: &str) {
    let printed = case(text).exits(1);
    let head = "recipes/deploy.test.yaml · deploy\n  ✗ it  failed\n";
    let body = expected.lines().map(|line| format!("      {line}\n")).collect::<String>();
    assert_eq!(
        shown(&printed),
        format!("{head}{body}\n0 passed, 1 failed\n"),
        "{}",
        printed.stderr
    );
}

#[test]
fn a_suite_passes() {
    let suite = r#"
defaults:
  git: true
  files: {app.txt: "app\n"}
  agents: {review: looks fine}
cases:
  - name: deploys to staging
    stubs:
      deploy: echo "deployed {{environment}}" | tee where.txt
    expect:
      exit: 0
      ran: [ci, ci/lint, build, review, deploy]
      skipped: {ci/slow: condition false, notify: {contains: false}}
      tolerated: []
      degraded: []
      not_reached: []
      outputs: {deploy: "deployed {{environment}}", environment: staging, nothing: null}
      printed: {lint: lint ok, review: looks fine}
      prompts: {review: "Review this: app\nbuilt staging"}
      files: {where.txt: {contains: deployed, lacks: [x, z], matches: "^deployed"}, old.txt: null}
      checks:
        - test "$(git log --format='%an %s' main)" = "Towpath Test Start"
        - git status --short | grep -qx '?? where.txt'
  - name: stops when the deploy fails
    set: {environment: production}
    stubs:
      deploy: {stdout: "half\n", stderr: connection refused, exit: 7, files: {logs/x.log: hello}}
    expect:
      failed_at: deploy
      exit: 1
      error: {contains: [connection refused, exit 7]}
      ran: [ci, build, review, deploy]
      not_reached: [notify]
      printed: {deploy: half}
      files: {logs/x.log: hello}
  - name: runs the real command
    files:
      scripts/deploy: |
        #!/bin/sh
        echo "to $1 by $BY"
    env: {BY: "a user's hand"}
    set: {environment: "two words"}
    expect:
      outputs: {deploy: to two words by a user's hand}
"#;
    let user = user().file("recipes/deploy.test.yaml", suite);
    let printed = test(&user, &["recipes"]).exits(0);
    assert_eq!(
        shown(&printed),
        "recipes/deploy.test.yaml · deploy\n  \
           ✓ deploys to staging           passed\n  \
           ✓ stops when the deploy fails  passed\n  \
           ✓ runs the real command        passed\n\n3 passed\n"
    );
    assert_eq!(printed.stderr, "");
}

#[test]
fn another_end_is_reported_with_the_end_of_the_steps_output() {
    for (stub, error) in [
        ("seq 12; echo no such host >&2; exit 3", "exit 3: no such host"),
        ("seq 12; exit 3", "exit 3"),
    ] {
        fails(
            &format!("stubs: {{deploy: '{stub}'}}"),
            &format!(
                "the run should be done, and is failed at step `deploy`\n\
                 step `deploy` ended with:\n  … 3 lines before\n  4\n  5\n  6\n  7\n  8\n  9\n  10\n  \
                 11\n  12\n  {error}"
            ),
        );
    }
    fails(
        "expect: {failed_at: build, error: boom, exit: 1}",
        "the run should be failed, and is done\n\
         the exit code is not what was expected\n  - expected  1\n  + got       0\n\
         the step that failed is not what was expected\n  - expected  build\n  + got       no step\n\
         the error is not what was expected\n  - expected  boom\n  + got       \"\"",
    );
}

#[test]
fn lists_of_steps_are_exact() {
    fails(
        "expect: {ran: [ci, ci/lint, ci/slow, deploy, build]}",
        "the list of steps that ran is not what was expected\n  - expected  + got\n    ci\n    \
         ci/lint\n  - ci/slow\n  + build\n  + review\n    deploy\n  - build",
    );
    fails(
        "expect: {skipped: []}",
        "the list of skipped steps is not what was expected\n  - expected  none\n  + got       notify",
    );
    fails(
        "expect: {skipped: {notify: {matches: tag}}}",
        "the reason why `notify` was skipped does not match /tag/\nit is:\n  condition false",
    );
    fails(
        "expect: {not_reached: [notify]}",
        "the list of steps that were not reached is not what was expected\n  \
         - expected  notify\n  + got       none",
    );
    fails(
        "expect: {tolerated: [build]}",
        "the list of tolerated failures is not what was expected\n  \
         - expected  build\n  + got       none",
    );
}

#[test]
fn values_prompts_and_files_are_compared() {
    fails(
        "expect: {outputs: {build: \"app\\nbuilt prod\"}}",
        "the output `build` is not what was expected\n  - expected  + got\n  \
         - app\n  - built prod\n  + appbuilt staging",
    );
    fails(
        "expect: {printed: {ci/lint: {contains: [ok, warning], lacks: lint}}}",
        "what `ci/lint` printed does not contain \"warning\"\nit is:\n  lint ok\n\
         what `ci/lint` printed contains \"lint\"\nit is:\n  lint ok",
    );
    fails(
        "expect: {prompts: {review: Review}}",
        "the prompt of `review` is not what was expected\n  - expected  Review\n  \
         + got       Review this: appbuilt staging",
    );
    fails(
        "files: {dir/x: y}\nexpect: {files: {app.txt: null, gone: x, dir: x, dir/x: {is: z}}}",
        "app.txt is there, and should not be\ngone is not there\n\
         dir cannot be read: Is a directory (os error 21)\n\
         dir/x is not what was expected\n  - expected  z\n  + got       y",
    );
    fails(
        "expect: {checks: ['true', 'echo one; echo two >&2; exit 4', 'false']}",
        "a check failed: echo one; echo two >&2; exit 4\nit printed:\n  one\n  exit 4: two\n\
         a check failed: false\nit printed:\n  exit 1",
    );
}

#[test]
fn what_a_case_is_given_must_be_used() {
    fails(
        "agents: {reviw: x}\nstubs: {lint: echo, slow: echo}\nexpect: {ran: [lint]}",
        "`lint` is no step of deploy; did you mean `ci/lint`?  recipes/deploy.test.yaml:9\n\
         `reviw` is no step of deploy; did you mean `review`?  recipes/deploy.test.yaml:7",
    );
    fails(
        "agents: {review: [one, two]}",
        "answer 2 of 2 of `review` was never asked for  recipes/deploy.test.yaml:7",
    );
    fails(
        "agents: {review: []}",
        "step `review` asks an agent, and the case has no answer for it\n\
         add it under `agents`:\n  review: \"what the agent answers\"",
    );
    fails(
        "stubs: {notify: echo, review: echo}",
        "the stub of `notify` was never used: the step did not run  recipes/deploy.test.yaml:7\n\
         `review` is no bash step: only those have stubs  recipes/deploy.test.yaml:7",
    );
    fails(
        "setup: echo oh >&2; exit 9",
        "setup failed before the recipe ran\nit printed:\n  exit 9: oh",
    );
    fails("fixture: nowhere", "fixture nowhere: No such file or directory (os error 2)");
}

#[test]
fn an_input_that_nothing_reads_is_reported() {
    let printed = case("set: {enviroment: x}").exits(0);
    let reported = "warning: `enviroment` was set, but nothing declares or reads it; \
                did you mean `environment`?";
    assert!(printed.stdout.contains(reported), "{}", printed.stdout);
}

#[test]
fn inputs_keep_their_types() {
    let recipe = "name: typed
steps:
  - {id: text, command: echo text, condition: \"v == '5'\"}
  - {id: number, command: echo number, condition: v == 5}
  - {id: list, command: \"echo {{v}}\"}
";
    let tests = "cases:
  - {name: text, set: {v: \"5\"}, expect: {outputs: {list: \"5\", v: \"5\"}}}
  - {name: number, set: {v: 5}, expect: {skipped: {}, outputs: {v: 5}}}
  - {name: list, set: {v: [1, {a: null}]}, expect: {outputs: {list: '[1,{\"a\":null}]'}}}
";
    let user = User::new().file("typed.yaml", recipe).file("typed.test.yaml", tests);
    fs::create_dir(user.path("tmp")).unwrap();
    let printed = test(&user, &["typed.yaml", "--json", "--keep"]);
    let json = printed.json();
    let of = |index: usize| json["files"][0]["cases"][index]["directory"].as_str().unwrap();
    let context = |index: usize| {
        let result = fs::read_to_string(format!("{}/../../run.stdout", of(index))).unwrap();
        serde_json::from_str::<serde_json::Value>(&result).unwrap()["context"]["v"].clone()
    };
    assert_eq!([context(0), context(1)], [json!("5"), json!(5)]);
    assert_eq!(json["files"][0]["cases"][2]["status"], "passed", "{}", printed.stdout);
}

#[test]
fn agents_work_in_the_cases_directory() {
    let recipe = "name: fix
steps:
  - {id: plan, prompt: \"Plan {{what?}}\", output: plan}
  - {id: fix, prompt: \"Do {{plan}}\"}
  - {id: again, recipe: inner}
  - {id: check, command: cat a.txt b.txt}
";
    let inner = "name: inner\nsteps: [{id: fix, prompt: \"Again\"}]\n";
    let tests = r#"
cases:
  - name: by id, in order
    set: {what: it}
    files: {old.txt: x, a.txt: "1\n"}
    agents:
      plan: {answer: {steps: [1, 2]}}
      fix:
        - {answer: done, files: {a.txt: "two\n", old.txt: null, dir/deep.txt: "it's $HOME"}}
        - {run: cat a.txt a.txt > b.txt}
    expect:
      outputs: {check: "two\ntwo\ntwo", plan.steps: null}
      printed: {plan: {is: {steps: [1, 2]}}, fix: done}
      prompts: {plan: Plan it, fix: {contains: Do}, again/fix: Again}
      files: {old.txt: null, dir/deep.txt: it's $HOME}
  - name: a path wins
    agents: {plan: p, fix: any, again/fix: {answer: inner}}
    files: {a.txt: a, b.txt: b}
    expect:
      printed: {again/fix: inner}
      prompts: {again/fix: Again, plan: Plan}
  - name: waits for a limit
    agents:
      plan: {fault: limit, until: 2030-01-01T00:00:00Z}
    expect: {status: waiting, exit: 75, not_reached: [fix, again, check], ran: [plan]}
  - name: below a call that was not reached
    agents: {plan: {fault: auth, answer: who are you}}
    expect: {failed_at: plan, exit: 4, error: {contains: who are you}, not_reached: [fix, again, again/fix, check]}
"#;
    let user = User::new().file("fix.yaml", recipe).file("inner.yaml", inner);
    fs::create_dir(user.path("tmp")).unwrap();
    user.write("fix.test.yaml", tests);
    let printed = test(&user, &["fix.yaml"]).exits(0);
    assert!(printed.stdout.ends_with("4 passed\n"), "{}", printed.stdout);
}

#[test]
fn a_case_sees_nothing_of_the_users() {
    let recipe = "name: look\nsteps:
  - id: look
    command: echo \"$HOME|$PWD|${TOWPATH_BACKEND-none}|${AMPLIHACK_TREE_ID-none}\"; touch ~/mine
  - {id: top, command: git rev-parse --show-toplevel 2>/dev/null || echo none}
  - {id: kept, command: \"readlink link; cat sub/f; ./run\"}
";
    let tests = "cases:
  - name: apart
    fixture: fixtures/shop
    setup: echo more >> sub/f
    expect:
      outputs:
        look: {matches: '^(/.*)/home\\|(/.*)/home/work\\|none\\|none$', lacks: HOME}
        top: none
        kept: \"sub/f\\nf\\nmore\\nran\"
"
    .to_owned();
    let user = User::new().file("look.yaml", recipe).file("fixtures/shop/sub/f", "f\n");
    fs::create_dir(user.path("tmp")).unwrap();
    user.program("work/fixtures/shop/run", "#!/bin/sh\necho ran\n");
    std::os::unix::fs::symlink("sub/f", user.path("work/fixtures/shop/link")).unwrap();
    // Temporary directories lie in a repository: the case must not take it for its own.
    fs::create_dir(user.path(".git")).unwrap();
    let home = user.path("work").display().to_string();
    user.write("look.test.yaml", &tests.replace("HOME", &home));
    let mut command = user.command(&["test", "look.yaml"]);
    command.env("TMPDIR", user.path("tmp")).env("TOWPATH_BACKEND", "claude-code");
    command.env("AMPLIHACK_TREE_ID", "tree").env("AMPLIHACK_SESSION_DEPTH", "6");
    Printed::from(command.output().unwrap()).exits(0);
    assert!(!user.path("mine").exists());
}

#[test]
fn a_called_recipe_may_be_among_the_files_of_a_case() {
    let recipe = "name: caller\nsteps: [{id: call, recipe: callee}]\n";
    let tests = "cases:
  - name: with it
    files: {recipes/callee.yaml: \"name: callee\\nsteps: [{id: in, command: echo inside}]\\n\"}
    expect: {ran: [call, call/in], printed: {call/in: inside}}
  - name: without it
    expect: {exit: 2, error: {contains: there is no recipe `callee`}}
";
    let user = User::new().file("caller.yaml", recipe).file("caller.test.yaml", tests);
    fs::create_dir(user.path("tmp")).unwrap();
    test(&user, &["caller.test.yaml"]).exits(0);
}

#[test]
fn bad_test_files_are_refused_with_all_their_problems() {
    let user = user().file(
        "recipes/deploy.test.yaml",
        "cases:\n  - nme: one\n    expect:\n      stats: done\n      ran: build\n  - name: two\n    \
         files:\n      /etc/passwd: x\n",
    );
    let printed = test(&user, &[]).exits(2);
    assert_eq!(printed.stdout, "");
    for reported in [
        "recipes/deploy.test.yaml:2:5",
        "did you mean `name`?",
        "recipes/deploy.test.yaml:4:7",
        "did you mean `status`?",
        "`ran` must be a list of steps, this is a string",
        "write a relative path without `..`",
        "4 errors in recipes/deploy.test.yaml. Nothing was run.",
    ] {
        assert!(printed.stderr.contains(reported), "no {reported}\n{}", printed.stderr);
    }
    let json = test(&user, &["--json"]).exits(2).json();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["problems"].as_array().map(Vec::len), Some(4));
    assert_eq!(json["problems"][0]["line"], 2);
}

#[test]
fn a_bad_recipe_or_none_is_refused() {
    let user = User::new().file("a.test.yaml", "cases: [{name: x}]\n");
    fs::create_dir(user.path("tmp")).unwrap();
    test(&user, &["a.test.yaml"])
        .exits(2)
        .reports("a.test.yaml has no recipe of its name beside it");
    user.write("a.yaml", "name: a\nsteps:\n  - {id: x, comand: echo}\n");
    let printed = test(&user, &["a.test.yaml"]).exits(2).reports("a.yaml:3:13");
    assert!(printed.stderr.contains("did you mean `command`?"), "{}", printed.stderr);
    user.write("a.test.yaml", "recipe: b.yaml\ncases: [{name: x}]\n");
    test(&user, &["a.test.yaml"]).exits(2).reports("a.test.yaml:1:9");
}

#[test]
fn tests_are_found_by_recipe_by_directory_and_by_themselves() {
    let one = "cases: [{name: one}, {name: two}]\n";
    let echo = |name: &str| format!("name: {name}\nsteps: [{{id: a, command: echo}}]\n");
    let user = User::new()
        .file(".towpath/recipes/a.yaml", &echo("a"))
        .file(".towpath/recipes/a.test.yaml", one)
        .file("examples/deep/b.yaml", &echo("b"))
        .file("examples/deep/b.test.yaml", one)
        .file("elsewhere/c.yaml", &echo("c"))
        .file("elsewhere/c.test.yaml", one)
        .file("recipes/node_modules/d.test.yaml", "nonsense");
    fs::create_dir(user.path("tmp")).unwrap();
    user.towpath(&["trust", "--here", "--yes"]).exits(0);
    let files = |arguments: &[&str]| {
        let printed = test(&user, arguments).exits(0);
        let files: Vec<String> = printed
            .stdout
            .lines()
            .filter_map(|l| Some(l.split_once(" · ")?.0.to_owned()))
            .collect();
        files.join(" ")
    };
    let (a, b) = (".towpath/recipes/a.test.yaml", "examples/deep/b.test.yaml");
    let c = "elsewhere/c.test.yaml";
    assert_eq!(files(&[]), format!("{a} {b}"));
    assert_eq!(files(&["elsewhere"]), c);
    assert_eq!(files(&["elsewhere/c.yaml", c, "a"]), format!("{c} {a}"));
    let printed = test(&user, &["--case", "tw", "--jobs", "1"]).exits(0);
    assert!(
        printed.stdout.ends_with("2 passed\n") && !printed.stdout.contains("one"),
        "{}",
        printed.stdout
    );
    test(&user, &["--case", "three"]).exits(2).reports("no case has `three` in its name");
    test(&user, &["nowhere"]).exits(2).reports("nowhere: no such file, directory or recipe");
    test(&user, &["recipes"]).exits(2).reports("no test file below recipes");
    user.write("x.yaml", &echo("x"));
    test(&user, &["x.yaml"]).exits(2).reports("x.yaml has no tests: x.test.yaml does not exist");
    let empty = User::new();
    fs::create_dir(empty.path("tmp")).unwrap();
    test(&empty, &[]).exits(2).reports("no tests found: write NAME.test.yaml");
}

#[test]
fn the_result_is_one_object() {
    let user = user().file(
        "recipes/deploy.test.yaml",
        "defaults: {files: {app.txt: x}, agents: {review: y}, stubs: {deploy: echo hi}}\n\
         cases: [{name: good}, {name: bad, expect: {outputs: {deploy: ho}}}]\n",
    );
    let json = test(&user, &["recipes", "--json"]).exits(1).json();
    let mut cases = json["files"][0]["cases"].clone();
    for case in cases.as_array_mut().unwrap() {
        assert!(case["duration"].as_f64().unwrap() > 0.0);
        case["duration"] = json!(0);
    }
    assert_eq!(
        cases,
        json!([
            {"name": "good", "status": "passed", "duration": 0, "problems": []},
            {"name": "bad", "status": "failed", "duration": 0, "problems": [{
                "kind": "outputs", "message": "the output `deploy` is not what was expected",
                "expected": "ho", "got": "hi"}]},
        ])
    );
    assert_eq!(json["files"][0]["file"], "recipes/deploy.test.yaml");
    assert_eq!(json["files"][0]["recipe"], "deploy");
    let totals = [&json["schema"], &json["success"], &json["passed"], &json["failed"]];
    assert_eq!(totals, [&json!(1), &json!(false), &json!(1), &json!(1)]);
}

#[test]
fn a_directory_is_kept_when_asked_for() {
    let user = user().file(
        "recipes/deploy.test.yaml",
        "cases:\n  - name: Keep it!\n    files: {app.txt: x}\n    agents: {review: y}\n    \
         stubs: {deploy: touch made}\n",
    );
    let printed = test(&user, &["recipes", "--keep"]).exits(0);
    let line = printed.stdout.lines().find_map(|line| line.trim().strip_prefix("directory: "));
    let directory = std::path::PathBuf::from(line.expect("it is printed"));
    assert!(directory.join("made").exists());
    assert!(directory.starts_with(user.path("tmp").canonicalize().unwrap()));
}

#[test]
fn a_step_that_no_case_checks_is_found() {
    let suite = "defaults:
  files: {app.txt: x}
  agents: {review: [fine]}
  stubs: {deploy: {stdout: gone}}
cases:
  - {name: the build is looked at, expect: {outputs: {build: {contains: built}}}}
  - {name: the deploy is looked at, expect: {printed: {deploy: gone, review: fine}}}
";
    let user = user().file("recipes/deploy.test.yaml", suite);
    let printed = test(&user, &["recipes", "--mutate"]).exits(1);
    let expected = "
recipes/deploy.test.yaml · each step, disabled in turn
  ✗ ci      no case notices when step `ci` does nothing
  ✓ build   noticed by: the build is looked at
  ✓ review  noticed by: the deploy is looked at
  ✓ deploy  noticed by: the deploy is looked at
  ✗ notify  no case notices when step `notify` does nothing: none runs it

2 passed
3 of 5 steps noticed
";
    assert!(shown(&printed).ends_with(expected), "{}", printed.stdout);
    let json = test(&user, &["recipes", "--mutate", "--json"]).exits(1).json();
    let mutations = json["files"][0]["mutations"].as_array().unwrap();
    assert_eq!(mutations[0], json!({"step": "ci", "ran": true, "noticed_by": null}));
    assert_eq!(mutations[1]["noticed_by"], "the build is looked at");

    let good = "cases:
  - name: all of it
    set: {environment: production}
    files: {app.txt: x}
    agents: {review: fine}
    stubs: {deploy: echo gone}
    expect:
      printed: {ci/lint: lint ok, deploy: gone, review: fine, notify: sent mail}
      outputs: {build: {contains: built}}
";
    user.write("recipes/deploy.test.yaml", good);
    let printed = test(&user, &["recipes", "--mutate"]).exits(0);
    assert!(printed.stdout.ends_with("1 passed\n5 of 5 steps noticed\n"), "{}", printed.stdout);
    user.write("recipes/deploy.test.yaml", &good.replace("gone}", "no}"));
    let printed = test(&user, &["recipes", "--mutate"]).exits(1);
    let end = "no mutations: all cases must pass first\n";
    assert!(printed.stdout.ends_with(end), "{}", printed.stdout);
}

#[test]
fn a_closed_pipe_ends_the_output_and_not_the_tests() {
    let cases: String = (0..30).map(|n| format!("  - {{name: case {n}}}\n")).collect();
    let user = User::new().file("a.yaml", "name: a\nsteps: [{id: a, command: echo}]\n");
    fs::create_dir(user.path("tmp")).unwrap();
    user.write("a.test.yaml", &format!("cases:\n{cases}"));
    let mut command = user.command(&["test", "a.yaml"]);
    let mut child = command.env("TMPDIR", user.path("tmp")).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(fs::read_dir(user.path("tmp")).unwrap().count(), 0);
}

const LONG: &str = "name: long
steps:
  - id: wait
    command: |
      setsid sleep 600 & echo $! > \"$NOTE.tmp\"; mv \"$NOTE.tmp\" \"$NOTE\"
      sleep 600
";

/// A user whose test waits, and the note in which it wrote down a process.
fn waiting() -> (User, std::path::PathBuf, std::process::Child) {
    let user = User::new().file("long.yaml", LONG);
    fs::create_dir(user.path("tmp")).unwrap();
    let note = user.path("note");
    let cases = format!(
        "cases: [{{name: waits, env: {{NOTE: {}}}}}, {{name: b, env: {{NOTE: {}}}}}]\n",
        { note.display() },
        user.path("other").display()
    );
    user.write("long.test.yaml", &cases);
    let mut command = user.command(&["test", "long.yaml", "--jobs", "1"]);
    command.env("TMPDIR", user.path("tmp")).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    until("the step runs", || note.exists());
    (user, note, child)
}

#[test]
fn ctrl_c_leaves_no_process_and_no_directory() {
    for (sent, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let (user, note, mut child) = waiting();
        let pid = fs::read_to_string(&note).unwrap();
        assert!(lives(&pid));
        signal(&child, sent);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{sent:?}");
        assert!(!lives(&pid), "{sent:?}");
        assert!(!user.path("other").exists(), "the next case was not begun");
        assert_eq!(fs::read_dir(user.path("tmp")).unwrap().count(), 0, "{sent:?}");
    }
}

#[test]
fn a_killed_test_leaves_no_process() {
    let (_user, note, mut child) = waiting();
    let pid = fs::read_to_string(&note).unwrap();
    kill_hard(&mut child);
    until("the step's process is gone", || !lives(&pid));
}

#[test]
fn what_a_step_made_read_only_is_removed_too() {
    let user = User::new()
        .file("a.yaml", "name: a\nsteps: [{id: a, command: mkdir -p x/y; chmod -R 500 x}]\n");
    fs::create_dir(user.path("tmp")).unwrap();
    user.write("a.test.yaml", "cases: [{name: locks up}]\n");
    test(&user, &["a.yaml"]).exits(0);
}

#[test]
fn a_new_recipe_is_tested_by_its_directory() {
    let user = User::new();
    user.towpath(&["new", "greeting"]).exits(0);
    let printed = user.towpath(&["test", "."]).exits(0);
    assert!(
        printed.stdout.contains("greeting") && printed.stdout.contains("2 passed"),
        "{printed:?}"
    );
}

/// A clone's tests would run whatever its author wrote: they run after the user agreed, as recipes do.
#[test]
fn tests_that_are_only_found_run_after_the_user_agreed() {
    let recipe = "name: tt\nsteps:\n  - {id: a, command: touch \"$PROOF\"}\n";
    let tests = "cases: [{name: x, expect: {status: done}}]\n";
    let user = User::new()
        .file(".towpath/recipes/tt.yaml", recipe)
        .file(".towpath/recipes/tt.test.yaml", tests);
    let proof = user.path("proof");
    let run = |words: &[&str]| {
        let _ = fs::remove_file(&proof);
        let output = user.command(words).env("PROOF", &proof).output().expect("it starts");
        (Printed::from(output), proof.exists())
    };
    for words in [&["test"][..], &["test", "tt"], &["test", "--mutate"], &["test", "--json"]] {
        let (printed, ran) = run(words);
        printed.exits(5).reports("not trusted");
        assert!(!ran, "{words:?}");
    }
    assert!(!user.path("home/state").exists(), "asking writes nothing");
    // A path that is named is consent.
    let (printed, ran) = run(&["test", ".towpath/recipes/tt.test.yaml"]);
    printed.exits(0);
    assert!(ran);
    // The recipe alone is not enough once its tests have changed, nor the tests once the recipe has.
    user.towpath(&["trust", "--yes", ".towpath/recipes/tt.yaml"]).exits(0);
    assert!(run(&["test"]).1 && run(&["test", "tt"]).1);
    user.write(".towpath/recipes/tt.test.yaml", &tests.replace("x,", "y,"));
    assert!(!run(&["test"]).1);
    user.towpath(&["trust", "--yes", ".towpath/recipes/tt.test.yaml"]).exits(0);
    assert!(run(&["test"]).1);
    user.write(".towpath/recipes/tt.yaml", &recipe.replace("touch", "touch -m"));
    assert!(!run(&["test"]).1);
    let no = user.on_terminal(&["test"], 100, "n\n");
    assert!(no.contains("Trust it and run it?") && no.contains("touch -m"), "{no}");
    user.towpath(&["trust", "--here", "--yes"]).exits(0);
    assert!(run(&["test"]).1);
}
