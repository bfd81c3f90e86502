//! Commands that only read (`runs`, `show`, `logs`, `list`, `validate`, `explain`, `--version`), word
//! for word as a user sees them, and the promise that they have no effects.

use crate::support::strace::{Traced, is_side_file, traced};
use crate::support::{Printed, User, until};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Command;

pub const CI: &str = "
name: ci
description: Builds and tests
context:
  mode: debug
steps:
  - id: build
    command: echo building {{mode}}; echo one warning >&2
  - id: lint
    condition: mode == 'release'
    command: echo linting
  - id: tests
    recipe: tests
  - id: publish
    command: echo publish
";

pub const TESTS: &str = "
name: tests
steps:
  - id: unit
    command: echo unit ok
  - id: smoke
    command: echo smoke; [ -e fixed ] || { echo connection refused >&2; exit 3; }
";

/// A project whose recipes nobody has agreed to.
pub fn project() -> User {
    User::new().file(".towpath/recipes/ci.yaml", CI).file(".towpath/recipes/tests.yaml", TESTS)
}

/// The same with a run that has failed.
fn failed() -> (User, String) {
    let user = project();
    user.towpath(&["run", "./.towpath/recipes/ci.yaml"]).exits(1);
    let run = user.run().to_string();
    (user, run)
}

/// Durations under ten seconds are all alike.
fn steady(text: &str) -> String {
    let mut steady = text.to_owned();
    for tenth in 1..100 {
        let duration = format!(" {}.{} s", tenth / 10, tenth % 10);
        steady = steady.replace(&duration, " 0.0 s");
    }
    steady
}

#[track_caller]
pub fn shows(printed: Printed, expected: &str) {
    assert_eq!(steady(&printed.stdout), expected, "stderr:\n{}", printed.stderr);
    assert_eq!(printed.code, Some(0));
}

#[test]
fn an_empty_home_is_reported_and_stays_empty() {
    let user = User::new();
    shows(user.towpath(&["runs"]), "no runs yet; to start one: towpath run demo\n");
    shows(user.towpath(&["runs", "--json"]), "{\n  \"schema\": 1,\n  \"runs\": []\n}\n");
    shows(user.towpath(&["trust", "--list"]), "nothing is trusted yet\n");
    shows(user.towpath(&["trust"]), "nothing here needs trust\n");
    shows(
        user.towpath(&["settings"]),
        "SETTING                 VALUE                   FROM\n\
         backend                 claude-code             default\n\
         max_agents              10                      default\n\
         recipe_dirs             –                       default\n\
         step_timeout            –                       default\n\
         idle_timeout            –                       default\n\
         retry_wait              60                      default\n\
         corrections.permission  vouched                 default\n\
         corrections.mode        apply                   default\n\
         tools.github_url        https://api.github.com  default\n\
         tools.telemetry_url     –                       default\n\
         tools.model             false                   default\n\
         tools.cool_down         3                       default\n",
    );
    for command in ["show", "logs", "cancel"] {
        let printed = user.towpath(&[command, "7f3k"]).exits(2);
        assert_eq!(printed.stderr, "error: there is no run 7f3k: nothing has run yet\n");
    }
    assert!(!user.path("home").exists(), "looking created something");
}

#[test]
fn a_record_of_an_older_towpath_is_upgraded_by_whoever_looks_first() {
    let sample =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../towpath-store/tests/fixtures/schema-1.db");
    for looking in [
        &["runs", "--all"][..],
        &["list"],
        &["explain", "demo"],
        &["run", "demo"],
        &["show", "7f3k"],
    ] {
        let user = User::new();
        let state = user.path("home/state");
        std::fs::create_dir_all(&state).expect("a folder");
        std::fs::copy(sample, state.join("journal.db")).expect("a copy");
        let printed = user.towpath(looking);
        // The sample's plan is none that could be shown.
        let code = if looking[0] == "show" { 5 } else { 0 };
        assert_eq!(printed.code, Some(code), "{looking:?}: {}", printed.stderr);
        assert!(!printed.stderr.contains("schema"), "{looking:?}: {}", printed.stderr);
    }
}

#[test]
fn a_failed_run_reports_where_and_how_to_continue() {
    let (user, run) = failed();
    shows(
        user.towpath(&["runs"]),
        &format!(
            "RUN   RECIPE  STATUS  STARTED   TOOK   COST  WHERE\n\
             {run}  ci      failed  just now  0.0 s  –     tests/smoke\n"
        ),
    );
    shows(
        user.towpath(&["show", &run]),
        &format!(
            "ci · failed · just now · work
  ✓ build          done         0.0 s  echo building {{{{mode}}}}; echo one warning >&2
  – lint           skipped             condition false
  ✗ tests          failed       0.0 s  2 of 2 steps
    ✓ tests/unit   done         0.0 s  echo unit ok
    ✗ tests/smoke  failed       0.0 s  exit 3 · connection refused
  · publish        not reached

  tests/smoke  connection refused
               command: echo smoke; [ -e fixed ] || {{ echo connection refused >&2; exit 3; }}
               full output: towpath logs {run} tests/smoke

  nothing is lost: towpath resume {run}
  after changing the recipe: towpath resume {run} --edited
"
        ),
    );
    let json = user.towpath(&["show", &run, "--json"]).exits(0).json();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["resume"], format!("towpath resume {run}"));
    assert_eq!(json["steps"][2]["children"][1]["exit_code"], 3);
    user.write("fixed", "");
    user.towpath(&["resume", &run]).exits(0);
    let printed = user.towpath(&["show", &run]).exits(0);
    let row = "✓ tests/smoke  done     0.0 s  2 attempts · echo smoke; [ -e fixed ]";
    assert!(steady(&printed.stdout).contains(row), "{printed:?}");
    assert!(!printed.stdout.contains("resume"), "a run that is done needs no advice: {printed:?}");
}

#[test]
fn where_only_another_recipe_helps_no_other_way_is_offered() {
    let user = User::new().file(
        "count.yaml",
        "name: count\ncontext: { n: many }\nsteps:\n  - { id: add, command: \"echo $(( {{n}} + 1 ))\" }\n",
    );
    let printed = user.towpath(&["run", "count.yaml"]).exits(1);
    let run = user.run().to_string();
    let edited = format!("\n  after changing the recipe: towpath resume {run} --edited\n");
    for text in [&printed.stderr, &user.towpath(&["show", &run]).exits(0).stdout] {
        assert!(text.ends_with(&edited), "{text}");
        assert!(!text.contains("nothing is lost") && !text.contains("full output"), "{text}");
    }
    user.write("count.yaml", &user.read("count.yaml").replace("many", "1"));
    user.towpath(&["resume", &run]).exits(1);
    user.towpath(&["resume", &run, "--edited"]).exits(0).prints("2\n");
}

#[test]
fn logs_keep_the_streams_apart_and_show_the_latest_try() {
    let (user, run) = failed();
    let printed = user.towpath(&["logs", &run]).exits(0).prints("building debug\nunit ok\nsmoke\n");
    assert_eq!(
        printed.stderr,
        "── build\none warning\n── tests/unit\n── tests/smoke\nconnection refused\n"
    );
    let printed = user.towpath(&["logs", &run, "smoke"]).exits(0).prints("smoke\n");
    assert_eq!(printed.stderr, "connection refused\n");
    user.write("fixed", "");
    user.towpath(&["resume", &run]).exits(0);
    let printed = user.towpath(&["logs", &run, "smoke"]).exits(0).prints("smoke\n");
    assert_eq!(printed.stderr, "try 2 of 2; --all shows every one\n");
    let printed = user.towpath(&["logs", &run, "smoke", "--all"]).exits(0).prints("smoke\nsmoke\n");
    assert_eq!(printed.stderr, "connection refused\n");
    let printed = user.towpath(&["logs", &run, "biuld"]).exits(2);
    assert_eq!(printed.stderr, "error: no step `biuld` in this run; did you mean `build`?\n");
    let printed = user.towpath(&["logs", &run, "lint"]).exits(2);
    assert_eq!(printed.stderr, "error: lint has not run: there is no output of it\n");
}

#[test]
fn an_agents_answer_is_its_log_and_so_is_what_went_wrong() {
    let user = User::new()
        .file("ask.yaml", "name: ask\nsteps:\n  - id: ask\n    prompt: what?\n")
        .file("good.jsonl", "{\"text\":\"forty-two\",\"cost_usd\":0.25}\n")
        .file("bad.jsonl", "{\"text\":\"too many\",\"error\":\"overloaded\"}\n");
    let ask = |script: &str| {
        user.towpath(&["run", "ask.yaml", "--backend", "scripted", "--script", script])
    };
    ask("good.jsonl").exits(0);
    let run = user.run().to_string();
    user.towpath(&["logs", &run, "ask"]).exits(0).prints("forty-two\n");
    shows(
        user.towpath(&["show", &run]),
        "ask · done · just now · work · $0.25\n  ✓ ask  done  0.0 s  $0.25 · forty-two\n",
    );
    ask("bad.jsonl").exits(4);
    let printed = user.towpath(&["logs", user.run().as_str(), "ask"]).exits(0).prints("");
    assert!(!printed.stderr.contains("nothing was printed"), "{printed:?}");
}

#[test]
fn a_large_output_comes_whole() {
    let user = User::new().file(
        "large.yaml",
        "name: large\nsteps:\n  - id: big\n    command: seq 100000; printf end\n",
    );
    user.towpath(&["run", "large.yaml"]).exits(0);
    let printed = user.towpath(&["logs", user.run().as_str(), "big"]).exits(0);
    let expected: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    assert!(printed.stdout == expected + "end", "{} bytes came", printed.stdout.len());
}

pub const WAITING: &str = "
name: waiting
steps:
  - id: wait
    command: echo before; until [ -e go ]; do sleep 0.02; done; echo after
  - id: pay
    effect: once
    command: echo paid > paid; sleep 60
";

#[test]
fn logs_follow_a_run_of_another_process_to_its_end() {
    let user = User::new().file("waiting.yaml", &WAITING.replace("sleep 60", "echo done"));
    let mut runner = user.start(&["run", "waiting.yaml"]);
    until("the run is recorded", || user.has_journal() && user.runs() == 1);
    let run = user.run().to_string();
    let mut follower = user.command(&["logs", &run, "-f"]).spawn().expect("logs starts");
    let mut seen = BufReader::new(follower.stdout.take().expect("its stdout"));
    let mut line = String::new();
    seen.read_line(&mut line).expect("a line while the step runs");
    assert_eq!(line, "before\n");
    assert!(user.towpath(&["runs"]).stdout.contains("waiting  running  just now"));
    let printed = user.towpath(&["logs", &run, "biuld", "-f"]).exits(2);
    assert_eq!(
        printed.stderr,
        format!("error: no step `biuld` in this run; towpath show {run} lists 2 steps\n")
    );
    user.write("go", "");
    let mut rest = String::new();
    seen.read_to_string(&mut rest).expect("the rest");
    assert_eq!(rest, "after\ndone\n");
    assert!(follower.wait().expect("logs ends").success());
    assert!(runner.wait().expect("the run ends").success());
}

#[test]
fn recipes_are_listed_with_what_a_user_must_know() {
    let user = project()
        .file(".towpath/recipes/bad.yaml", "name: bad\nsteps:\n  - id: x\n    comand: ls\n")
        .file(".towpath/recipes/demo.yaml", "name: demo\nsteps:\n  - id: x\n    command: ls\n");
    let printed = user.towpath(&["list"]).exits(0);
    let lines: Vec<String> = printed.stdout.lines().map(squeezed).collect();
    assert_eq!(
        lines[..5],
        [
            "NAME VERSION STEPS DESCRIPTION FROM",
            "bad broken: unknown field `comand` .towpath/recipes/bad.yaml",
            "ci 1.0 4 not trusted: Builds and tests .towpath/recipes/ci.yaml",
            "demo 1.0 1 shadowed, not trusted .towpath/recipes/demo.yaml",
            "tests 1.0 2 not trusted .towpath/recipes/tests.yaml",
        ]
    );
    assert!(lines[5].starts_with("demo 1.0 ") && lines[5].ends_with(" built-in"), "{}", lines[5]);
    user.write("top.yaml", "name: top\nsteps:\n  - {id: x, command: ls}\n");
    user.write("compose.yaml", "services: {}\n");
    let listed = user.towpath(&["list"]).exits(0).stdout;
    let last = listed.lines().last().map(squeezed).unwrap_or_default();
    assert_eq!(last, "top 1.0 1 not trusted top.yaml", "right in the working directory");
    assert!(!listed.contains("compose"), "no recipe: {listed}");
    let printed = user.towpath(&["explain", "demo"]).exits(0).reports(
        "note: .towpath/recipes/demo.yaml is not trusted and does not replace the built-in \
         `demo`; to use it: towpath trust .towpath/recipes/demo.yaml\n",
    );
    assert!(printed.stdout.starts_with("demo 1.0 (built-in demo)\n"), "{printed:?}");
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn all_problems_are_reported_at_once_with_their_locations() {
    let recipe =
        "name: build\nsteps:\n  - id: test\n    comand: ls\n  - id: test\n    command: ls\n";
    let user = User::new().file("build.yaml", recipe);
    let printed = user.towpath(&["validate", "build.yaml"]).exits(2);
    assert!(printed.stdout.contains("did you mean `command`?"), "{printed:?}");
    assert!(printed.stdout.contains("two steps have the id `test`"), "{printed:?}");
    assert!(printed.stdout.ends_with("2 errors in build.yaml. Nothing was run.\n"), "{printed:?}");
    let json = user.towpath(&["validate", "build.yaml", "--json"]).exits(2).json();
    assert_eq!((&json["schema"], &json["valid"]), (&1.into(), &false.into()));
    assert_eq!(json["problems"][0]["code"], "unknown-field");
    assert_eq!(json["problems"][0]["line"], 4);
    user.write("build.yaml", "name: build\nsteps:\n  - id: a\n    command: echo {{nothing}}\n");
    user.towpath(&["validate", "build.yaml"]).exits(2);
    user.towpath(&["validate", "build.yaml", "--set", "nothing=1"]).exits(0);
    user.write("build.yaml", "name: build\nsteps:\n  - {id: a, condition: 1 == 2, command: ls}\n");
    user.towpath(&["validate", "build.yaml"]).exits(0);
    user.towpath(&["validate", "build.yaml", "--strict"]).exits(2);
}

#[test]
fn a_recipe_is_explained_without_being_run() {
    let user = project();
    let printed = user.towpath(&["explain", ".towpath/recipes/ci.yaml", "--set", "mode=release"]);
    shows(
        printed,
        "ci 1.0 (.towpath/recipes/ci.yaml)
  Builds and tests

inputs
  mode  set  release

steps
  build    bash    echo building {{mode}}; echo one warning >&2
  lint     bash    echo linting
      if mode == 'release', else → tests
  tests    recipe  tests
    unit   bash    echo unit ok
    smoke  bash    echo smoke; [ -e fixed ] || { echo connection refused >&2; exit 3; }
  publish  bash    echo publish

at most 200 steps, recipes at most 6 deep. Nothing was run.
",
    );
    let printed = user.towpath(&["explain", "ci"]).exits(0);
    let last = "Not trusted yet; to trust it: towpath trust .towpath/recipes/ci.yaml\n";
    assert!(printed.stdout.ends_with(last), "{printed:?}");
}

#[test]
fn the_version_is_answered_at_once_and_reads_as_before() {
    let user = User::new();
    for name in ["towpath", "recipe-runner-rs", "meld"] {
        let ask = |arguments: &[&str]| {
            let prefix: &[&str] = if name == "towpath" { &[] } else { &["as", name] };
            user.towpath(&[prefix, arguments].concat())
        };
        // Two flags in one word are read by the whole command line.
        let reported = ask(&["-Vh"]).exits(0).stdout;
        assert_eq!(reported, format!("{name} {}\n", env!("CARGO_PKG_VERSION")));
        for asked in [&["--version"][..], &["-V"], &["--version", "run"], &["-V", "--nonsense"]] {
            ask(asked).exits(0).prints(&reported);
        }
        ask(&["--version=2"]).exits(2).reports("unexpected value");
    }
    user.towpath(&["run", "--version"]).exits(2);
}

/// Printed past the test harness, which would swallow it: a check that did not run did not pass.
fn reported_as_skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED commands_that_only_read_have_no_effects: {why}");
}

#[test]
fn commands_that_only_read_have_no_effects() {
    let user = project().file(".towpath/settings.toml", "max_agents = 3\n");
    let works = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    match works {
        Ok(output) if output.status.success() => {}
        Ok(output) => return reported_as_skipped(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => return reported_as_skipped(&format!("strace: {error}")),
    }
    let looks: [&[&str]; 13] = [
        &["list"],
        &["validate", "ci"],
        &["explain", "ci"],
        &["settings"],
        &["runs", "--all"],
        &["trust", "--list"],
        &["trust", "--json"],
        &["as", "recipe-runner-rs", "ci", "--explain"],
        &["as", "recipe-runner-rs", "ci", "--validate-only"],
        &["as", "recipe-runner-rs", "list"],
        &["run", "ci", "--dry-run"],
        &["run", "demo", "--dry-run"],
        &["as", "recipe-runner-rs", "ci", "--dry-run", "--progress", "--audit-dir", "audit"],
    ];
    for look in looks {
        let Traced { started, changed } = traced(&user, look);
        assert_eq!((started.len(), changed.len()), (0, 0), "{look:?}: {started:?} {changed:?}");
    }
    assert!(!user.path("home").exists());

    let run = traced(&user, &["run", "./.towpath/recipes/ci.yaml"]);
    assert!(!run.started.is_empty() && !run.changed.is_empty(), "a run is seen: {run:?}");
    let id = user.run().to_string();
    let state = user.path("home/state");
    for look in [&["show", &id][..], &["logs", &id], &["runs"], &["list"], &["explain", "ci"]] {
        let Traced { started, changed } = traced(&user, look);
        let elsewhere = changed.iter().filter(|call| !is_side_file(call, &state));
        assert_eq!(started, [""; 0], "{look:?}");
        assert_eq!(elsewhere.collect::<Vec<_>>(), [""; 0], "{look:?}");
    }
}
