//! The program under its other name `recipe-runner-rs`: what its own pages promise, kept.

use crate::read_only_commands::project;
use crate::support::{Printed, Signal, User, signal, until};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

const NAME: [&str; 2] = ["as", "recipe-runner-rs"];

fn command(user: &User, arguments: &[&str]) -> Command {
    user.command(&[&NAME, arguments].concat())
}

fn runner(user: &User, arguments: &[&str]) -> Printed {
    Printed::from(command(user, arguments).output().expect("it starts"))
}

/// Durations differ from run to run.
fn timeless(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some(at) = rest.find(" (") {
            let (before, after) = rest.split_at(at);
            let end = after.find(')').map_or(after.len(), |end| end + 1);
            let inside = &after[2..end.saturating_sub(1).max(2)];
            let is_time = inside
                .strip_suffix('s')
                .is_some_and(|n| n.chars().all(|c| c.is_ascii_digit() || c == '.'));
            out.push_str(before);
            out.push_str(if is_time { " (_s)" } else { &after[..end] });
            rest = &after[end..];
        }
        out.push_str(rest);
    }
    out
}

const HELLO: &str = r#"
name: "hello-world"
description: "A minimal recipe to verify your setup"
version: "1.0.0"
context:
  greeting: "Hello from the Recipe Runner!"
steps:
  - id: "greet"
    command: "echo '{{greeting}}'"
"#;

const BUILD: &str = "
name: build
steps:
  - { id: build, command: echo building }
  - { id: test, command: echo testing; echo oops >&2; exit 3, continue_on_error: true }
  - { id: deploy, command: echo deploying, when_tags: [release] }
";

#[test]
fn the_greeting_is_printed_and_the_summary_follows() {
    let user = User::new().file("hello.yaml", HELLO);
    let printed = runner(&user, &["hello.yaml"]).exits(0);
    assert_eq!(
        timeless(&printed.stdout),
        "Recipe: hello-world (v1.0.0)
Steps: 1

Hello from the Recipe Runner!

Recipe 'hello-world': SUCCESS (_s)
  [completed] greet (_s)
1 of 1 step ran
"
    );
    assert_eq!(printed.stderr, "");
    let printed = runner(&user, &["hello.yaml", "--set", "greeting=it's $HOME"]).exits(0);
    assert!(printed.stdout.contains("\nit's $HOME\n"), "{}", printed.stdout);
}

#[test]
fn a_summary_reports_what_was_skipped_tolerated_and_not_reached() {
    let recipe = "
name: mixed
steps:
  - { id: lint, command: exit 2, continue_on_error: true }
  - { id: gate, condition: \"false\", command: echo }
  - { id: test, command: echo half; echo boom >&2; exit 3 }
  - { id: ship, command: echo }
";
    let user = User::new().file("mixed.yaml", recipe);
    let printed = runner(&user, &["mixed.yaml"]).exits(1);
    let end = timeless(printed.stdout.split_once("Recipe 'mixed'").expect("a summary").1);
    assert_eq!(
        end,
        ": FAILED (_s)
  [failed] lint (_s) -- error: exit 2 (tolerated)
  [skipped] gate -- condition false
  [failed] test (_s) -- error: exit 3: boom
  [not reached] ship
2 of 4 steps ran · 1 skipped (gate: condition false) · 1 failed, tolerated (lint: exit 2) · 1 not reached
"
    );
    assert!(printed.stdout.contains("\nhalf\n"), "what a failed step printed is shown");
    printed.reports("boom\n").reports("nothing is lost: towpath resume ");
}

#[test]
fn progress_is_two_lines_per_step_on_stderr_and_nothing_else() {
    let user = User::new().file("build.yaml", &BUILD.replace("echo oops >&2; ", ""));
    let printed = runner(&user, &["build.yaml", "--progress", "--output-format", "json"]).exits(0);
    assert_eq!(
        printed.stderr,
        "[step:start] build (1/3)
[step:complete] build (1/3) — ok
[step:start] test (2/3)
[step:complete] test (2/3) — failed: exit 3, tolerated
[step:complete] deploy (3/3) — skipped: needs tag release
"
    );
    let printed = runner(&user, &["build.yaml", "--dry-run", "--progress"]).exits(0);
    assert_eq!(
        printed.stderr,
        "[step:start] build (1/3)
[step:complete] build (1/3) — dry run: would run
[step:start] test (2/3)
[step:complete] test (2/3) — dry run: would run
[step:complete] deploy (3/3) — skipped: needs tag release
"
    );
}

#[test]
fn the_result_has_steps_and_a_summary_and_no_context() {
    let user = User::new().file("build.yaml", BUILD);
    let arguments = ["build.yaml", "--output-format", "json", "--set", "secret=hunter2"];
    let printed = runner(&user, &arguments).exits(0);
    let json = printed.json();
    assert_eq!(json["steps"], json["step_results"]);
    let step = &json["steps"][1];
    assert_eq!((&step["step_id"], &step["status"]), (&json!("test"), &json!("failed")));
    assert_eq!((&step["output"], &step["error"]), (&json!("testing"), &json!("exit 3: oops")));
    assert!(step["duration"].is_f64() && json["duration"].is_f64());
    assert_eq!(json["summary"]["skipped"][0]["reason"], "needs tag release");
    assert_eq!((&json["recipe_name"], &json["success"]), (&json!("build"), &json!(true)));
    assert!(json.get("context").is_none() && !printed.stdout.contains("hunter2"));
}

#[test]
fn codes_are_0_1_2_and_an_error_before_the_first_step_is_an_object() {
    let user = User::new()
        .file("ok.yaml", "name: ok\nsteps:\n  - { id: a, command: \"true\" }\n")
        .file("bad.yaml", "name: bad\nsteps:\n  - { id: a, command: exit 7 }\n")
        .file("typo.yaml", "name: t\nsteps:\n  - { id: a, comand: echo }\n")
        .file("deep.yaml", "name: deep\nrecursion: { max_total_steps: 1 }\nsteps:\n  - { id: a, command: echo }\n  - { id: b, condition: a == '', command: echo }\n");
    runner(&user, &["ok.yaml"]).exits(0);
    runner(&user, &["bad.yaml"]).exits(1);
    runner(&user, &["typo.yaml"]).exits(2).reports("did you mean `command`?");
    runner(&user, &["nowhere"]).exits(2).reports("there is no recipe `nowhere`");
    runner(&user, &["nowhere.yaml"]).exits(2);
    runner(&user, &[]).exits(2).reports("no recipe");
    runner(&user, &["ok.yaml", "--set", "novalue"]).exits(2).reports("has no `=`");
    runner(&user, &["ok.yaml", "--output-format", "xml"]).exits(2);
    runner(&user, &["ok.yaml", "--wat"]).exits(2);
    let json = runner(&user, &["deep.yaml", "--output-format", "json"]).exits(1).json();
    assert_eq!(json["exit_code"], 1, "a limit is a failure under this name");
    let json = runner(&user, &["typo.yaml", "--output-format", "json"]).exits(2).json();
    assert_eq!(json["success"], false);
    assert_eq!(json["error"]["message"], "unknown field `comand`");
}

#[test]
fn signals_keep_their_codes() {
    let user = User::new()
        .file("wait.yaml", "name: wait\nsteps:\n  - { id: a, command: touch on; sleep 60 }\n");
    for (sent, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let _ = fs::remove_file(user.path("work/on"));
        let mut child = command(&user, &["wait.yaml"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("the step runs", || user.path("work/on").exists());
        signal(&child, sent);
        assert_eq!(child.wait().unwrap().code(), Some(code));
    }
}

#[test]
fn a_closed_pipe_is_no_panic_and_the_run_continues() {
    let recipe = "name: long\nsteps:\n  - { id: a, command: seq 100000 }\n  - { id: b, command: touch end }\n";
    let user = User::new().file("long.yaml", recipe);
    for format in ["text", "json"] {
        let _ = fs::remove_file(user.path("work/end"));
        let mut child = command(&user, &["long.yaml", "--output-format", format]).spawn().unwrap();
        drop(child.stdout.take());
        let printed = Printed::from(child.wait_with_output().unwrap());
        assert_eq!(printed.code, Some(0), "{printed:?}");
        assert!(!printed.stderr.contains("panicked") && user.path("work/end").exists());
    }
}

#[test]
fn a_full_stdout_is_a_failure_under_either_name() {
    let user = User::new().file("hello.yaml", HELLO);
    let runner: &[&[&str]] = &[&["--help"], &["--version"], &["list"], &["hello.yaml"]];
    let towpath: &[&[&str]] = &[&["--help"], &["--version"], &["list"], &["run", "--help"]];
    for (prefix, code, lines) in [(&NAME[..], 1, runner), (&[], 5, towpath)] {
        for line in lines {
            let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
            let mut command = user.command(&[prefix, line].concat());
            let printed = Printed::from(command.stdout(full).output().expect("it starts"));
            printed.exits(code).reports("cannot write to stdout");
        }
    }
}

#[test]
fn a_recipe_that_extends_one_beside_it_runs_as_it_is() {
    let user = User::new()
        .file("t/base.yaml", "name: base\ncontext: { who: base }\nsteps:\n  - { id: one, command: \"echo one {{who}}\" }\n  - { id: two, command: echo base two }\n")
        .file("t/11-extends.yaml", "name: child\nextends: base\ncontext: { who: child }\nsteps:\n  - { id: two, command: echo child two }\n  - { id: three, command: echo three }\n");
    let json = runner(&user, &["t/11-extends.yaml", "--output-format", "json"]).exits(0).json();
    let outputs: Vec<&Value> =
        json["steps"].as_array().unwrap().iter().map(|s| &s["output"]).collect();
    assert_eq!(outputs, ["one child", "child two", "three"]);
    let printed = runner(&user, &["t/11-extends.yaml", "--explain"]).exits(0);
    assert!(printed.stdout.contains("Extends: base\n") && printed.stdout.contains("  3. three\n"));
}

#[test]
fn validating_sees_conditions_called_recipes_and_variables() {
    let user = User::new()
        .file("ok.yaml", "name: ok\nsteps:\n  - { id: a, command: echo }\n  - { id: b, command: echo }\n")
        .file("condition.yaml", "name: c\nsteps:\n  - { id: a, condition: \"foo( ==\", command: echo }\n")
        .file("quoted.yaml", "name: p\nsteps:\n  - { id: a, command: echo }\n  - { id: b, condition: \"'x' in '{{a}}'\", command: echo }\n")
        .file("call.yaml", "name: c\nsteps:\n  - { id: a, recipe: nowhere }\n")
        .file("agent.yaml", "name: g\nsteps:\n  - { id: a, agent: \"no:such:agent\", prompt: x }\n")
        .file("warn.yaml", "name: w\ncontext: { version: 1 }\nsteps:\n  - id: a\n    command: echo {{verison}}\n  - id: b\n    condition: \"a and false\"\n    command: echo\n");
    runner(&user, &["ok.yaml", "--validate-only"])
        .exits(0)
        .prints("✓ Recipe 'ok' is valid (2 steps)\n");
    runner(&user, &["condition.yaml", "--validate-only"]).exits(2).reports("condition.yaml:3");
    runner(&user, &["quoted.yaml", "--validate-only"]).exits(2).reports("write `a`");
    runner(&user, &["call.yaml", "--validate-only"])
        .exits(2)
        .reports("there is no recipe `nowhere`");
    runner(&user, &["agent.yaml", "--validate-only"]).exits(0).reports("no:such:agent");
    runner(&user, &["warn.yaml", "--validate-only"]).exits(0).prints(
        "⚠ Recipe 'w' has 2 warning(s):
  - line 7: this step can never run: its condition is always false
  - line 5: step `a` uses {{verison}}, which nothing sets: it will be empty
",
    );
}

#[test]
fn explaining_shows_agents_commands_conditions_and_what_tags_leave_out() {
    let recipe = "
name: deploy
version: 1.2.0
steps:
  - { id: build, command: cargo build --release }
  - { id: test, condition: \"run_tests == true\", command: cargo test, when_tags: [test] }
  - { id: review, agent: \"amplihack:reviewer\", prompt: \"Review {{build}}\", when_tags: [slow] }
";
    let user = User::new()
        .file("deploy.yaml", recipe)
        .file(".claude/agents/amplihack/reviewer.md", "You review.\n");
    let printed = runner(&user, &["deploy.yaml", "--explain", "--include-tags", "test"]).exits(0);
    assert_eq!(
        printed.stdout,
        "Recipe: deploy
Version: 1.2.0
Steps:
  1. build
     Command: cargo build --release
  2. test
     Condition: run_tests == true
     Tags: test
     Command: cargo test
  3. review
     Tags: slow (left out: needs tag slow)
     Agent: amplihack:reviewer
     Prompt: Review {{build}}
"
    );
}

#[test]
fn a_recipe_without_a_version_has_1_0() {
    let user = User::new().file("v.yaml", "name: v\nsteps:\n  - { id: a, command: echo }\n");
    let printed = runner(&user, &["v.yaml", "--explain"]).exits(0);
    assert!(printed.stdout.contains("Version: 1.0\n"), "{}", printed.stdout);
}

#[test]
fn tagged_steps_run_only_when_asked_for_and_untagged_ones_always() {
    let recipe = "
name: tags
steps:
  - { id: always, command: echo }
  - { id: fast, command: echo, when_tags: [fast] }
  - { id: slow, command: echo, when_tags: [slow, nightly] }
";
    let user = User::new().file("tags.yaml", recipe);
    for (flags, expected) in [
        (&[][..], "completed skipped skipped"),
        (&["--include-tags", "fast"], "completed completed skipped"),
        (&["--include-tags", "fast,nightly"], "completed completed completed"),
        (&["--exclude-tags", "slow"], "completed completed skipped"),
        (&["--include-tags", "slow", "--exclude-tags", "nightly"], "completed skipped skipped"),
    ] {
        let arguments = [&["tags.yaml", "--output-format", "json"], flags].concat();
        let json = runner(&user, &arguments).exits(0).json();
        let statuses: Vec<&str> = json["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["status"].as_str().unwrap())
            .collect();
        assert_eq!(statuses.join(" "), expected, "{flags:?}");
    }
}

#[test]
fn a_gate_on_a_called_recipe_reads_the_output_of_its_last_step() {
    let user = User::new()
        .file("ci.yaml", "name: ci\nsteps:\n  - { id: test, command: echo PASS all }\n  - { id: off, condition: \"false\", command: echo }\n")
        .file("ship.yaml", "name: ship\nsteps:\n  - { id: ci, recipe: ci, output: ci_result }\n  - { id: gate, condition: \"ci_result and 'PASS' in ci_result\", command: \"echo open {{ci_result}}\" }\n");
    let printed = runner(&user, &["ship.yaml"]).exits(0);
    assert!(printed.stdout.contains("\nopen PASS all\n"), "{}", printed.stdout);
    assert!(printed.stdout.contains("    [completed] ci/test"), "{}", printed.stdout);
    assert!(printed.stdout.contains("skipped in called recipes (ci/off: condition false)"));
}

/// The lines of the one audit file in a directory, and its name.
fn audit(user: &User, directory: &str) -> (String, Vec<Value>) {
    let mut files: Vec<_> =
        fs::read_dir(user.path("work").join(directory)).unwrap().map(|e| e.unwrap()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let file = files.remove(0);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(file.path()).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (file.file_name().into_string().unwrap(), lines)
}

#[test]
fn an_audit_has_a_line_for_every_step_skipped_and_called_ones_too() {
    let user = User::new()
        .file("build.yaml", BUILD)
        .file("all.yaml", "name: all\nsteps:\n  - { id: sub, recipe: build }\n  - { id: json, command: echo no, parse_json: true }\n");
    runner(&user, &["all.yaml", "--audit-dir", "logs/audit"]).exits(0);
    let (name, lines) = audit(&user, "logs/audit");
    let run = user.run().to_string();
    assert!(name.starts_with("all_2") && name.ends_with(&format!("Z_{run}.jsonl")), "{name}");
    let reported: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| (line["step_id"].as_str().unwrap(), line["status"].as_str().unwrap()))
        .collect();
    assert_eq!(
        reported,
        [
            ("sub/build", "Completed"),
            ("sub/test", "Failed"),
            ("sub/deploy", "Skipped"),
            ("sub", "Completed"),
            ("json", "Degraded"),
        ]
    );
    assert_eq!((&lines[0]["error"], &lines[0]["output_len"]), (&Value::Null, &json!(8)));
    assert_eq!(
        (&lines[1]["error"], &lines[1]["tolerated"]),
        (&json!("exit 3: oops"), &json!(true))
    );
    assert_eq!(lines[2]["reason"], "needs tag release");
    assert!(lines.iter().all(|l| l["run_id"] == run.as_str() && l["duration_ms"].is_i64()));
    assert!(lines.iter().all(|l| l["timestamp"].as_str().is_some_and(|t| t.starts_with('2'))));
}

#[test]
fn two_runs_in_one_second_have_two_audits_and_no_name_leaves_the_directory() {
    let user =
        User::new().file("evil.yaml", "name: ../evil/x\nsteps:\n  - { id: a, command: echo }\n");
    for _ in 0..2 {
        user.towpath(&["run", "evil.yaml", "--audit-dir", "audit"]).exits(0);
    }
    let names: Vec<String> = fs::read_dir(user.path("work/audit"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 2);
    assert!(names.iter().all(|name| name.starts_with("_._evil_x_2")), "{names:?}");
    assert!(!user.path("evil").exists() && !user.path("work/evil").exists());
}

#[test]
fn a_resumed_run_has_an_audit_of_what_it_did_then() {
    let recipe = "name: r\nsteps:\n  - { id: a, command: echo }\n  - { id: b, command: test -e fixed }\n  - { id: c, condition: \"a == 'x'\", command: echo }\n";
    let user = User::new().file("r.yaml", recipe);
    user.towpath(&["run", "r.yaml", "--audit-dir", "first"]).exits(1);
    user.write("fixed", "");
    user.towpath(&["resume", "--last", "--audit-dir", "then"]).exits(0);
    let reported = |directory: &str| -> Vec<String> {
        let lines = audit(&user, directory).1;
        lines.iter().map(|l| format!("{} {}", l["step_id"], l["status"]).replace('"', "")).collect()
    };
    assert_eq!(reported("first"), ["a Completed", "b Failed"]);
    assert_eq!(reported("then"), ["b Completed", "c Skipped"]);
}

#[test]
fn a_step_declared_done_is_in_the_audit() {
    let recipe = "name: r\nsteps:\n  - { id: a, command: exit 1 }\n  - { id: b, condition: \"a != 'x'\", command: echo }\n  - { id: c, command: echo }\n";
    let user = User::new().file("r.yaml", recipe);
    user.towpath(&["run", "r.yaml"]).exits(1);
    user.towpath(&["resume", "--last", "--done", "a", "--output", "x", "--audit-dir", "audit"])
        .exits(0);
    let lines = audit(&user, "audit").1;
    let reported: Vec<&Value> = lines.iter().map(|line| &line["step_id"]).collect();
    assert_eq!(reported, ["a", "b", "c"]);
}

#[test]
fn an_audit_that_cannot_be_begun_is_an_error_before_anything_runs() {
    let user = User::new()
        .file("r.yaml", "name: r\nsteps:\n  - { id: a, command: touch ran }\n")
        .file("taken", "");
    runner(&user, &["r.yaml", "--audit-dir", "taken/x"]).exits(1).reports("--audit-dir taken/x");
    user.towpath(&["run", "r.yaml", "--audit-dir", "taken"]).exits(5).reports("--audit-dir taken");
    assert!(!user.path("work/ran").exists());
}

#[test]
fn an_audit_on_a_full_disk_is_an_error_and_the_runs_own_record_is_whole() {
    let steps: String =
        (0..40).map(|n| format!("  - {{ id: step{n}, command: echo {n} }}\n")).collect();
    let user = User::new().file("long.yaml", &format!("name: long\nsteps:\n{steps}"));
    fs::create_dir(user.path("work/audit")).unwrap();
    // One page, in a namespace where anybody may mount a file system of their own.
    let mount = "mount -t tmpfs -o size=4k none audit && exec \"$@\"";
    let plain = command(&user, &["long.yaml", "--audit-dir", "audit"]);
    let mut wrapped = Command::new("unshare");
    wrapped.args(["-rm", "sh", "-c", mount, "sh"]).arg(plain.get_program()).args(plain.get_args());
    wrapped.current_dir(user.path("work"));
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    let printed = Printed::from(wrapped.stdin(Stdio::null()).output().expect("unshare starts"));
    if printed.stderr.contains("unshare:") || printed.stderr.contains("mount:") {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "SKIPPED a full disk: {}", printed.stderr);
        return;
    }
    let printed = printed.exits(1).reports("is not complete: No space left on device");
    assert!(printed.stdout.contains("Recipe 'long': SUCCESS"), "{}", printed.stdout);
    let run = user.run().to_string();
    let printed = printed.reports(&format!("towpath show {run}"));
    drop(printed);
    let shown = user.towpath(&["show", &run, "--json"]).exits(0).json();
    let steps = shown["steps"].as_array().expect("its steps");
    assert_eq!(steps.iter().filter(|step| step["status"] == "completed").count(), 40);
}

#[test]
fn names_mean_the_same_to_list_and_run_and_broken_recipes_are_listed() {
    let recipe = |text: &str| {
        format!(
            "name: pick\nversion: \"{text}\"\ndescription: from {text}\nsteps:\n  - {{ id: a, command: echo {text} }}\n"
        )
    };
    let user = User::new()
        .file("one/pick.yaml", &recipe("one"))
        .file("two/pick.yaml", &recipe("two"))
        .file("env/pick.yaml", &recipe("env"))
        .file("env/only.yaml", "name: only\nsteps:\n  - { id: a, command: echo from env }\n")
        .file("one/broken.yaml", "name: [\n");
    let with_env = |arguments: &[&str]| {
        let mut command = command(&user, arguments);
        command.env("RECIPE_RUNNER_RECIPE_DIRS", "env");
        Printed::from(command.output().unwrap())
    };
    let printed = with_env(&["list", "-R", "one", "-R", "two"]).exits(0);
    assert!(printed.stdout.starts_with("NAME "), "{}", printed.stdout);
    assert!(printed.stdout.contains("from one") && !printed.stdout.contains("from two"));
    assert!(printed.stdout.contains("broken: "), "{}", printed.stdout);
    let found = printed.stdout.lines().count() - 2;
    assert!(printed.stdout.ends_with(&format!("{found} recipe(s) found.\n")), "{}", printed.stdout);
    let printed = with_env(&["pick", "-R", "one", "-R", "two"]).exits(0);
    assert!(printed.stdout.contains("\none\n"), "{}", printed.stdout);
    let printed = with_env(&["only", "-R", "one"]).exits(0);
    assert!(printed.stdout.contains("\nfrom env\n"), "the variable is looked at beside -R");
}

#[test]
fn a_steps_directory_is_below_the_working_directory_that_was_given() {
    let recipe = "name: d\nsteps:\n  - { id: a, working_dir: sub, command: pwd }\n";
    let user = User::new().file("d.yaml", recipe).file("there/sub/x", "");
    let printed = runner(&user, &["d.yaml", "-C", "there"]).exits(0);
    assert!(printed.stdout.contains("work/there/sub\n"), "{}", printed.stdout);
}

const FAKE: &str = "#!/bin/sh
cat > prompt.txt
echo \"$*\" > arguments.txt
echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"answered\",\"session_id\":\"s\"}'
";

fn with_agent() -> User {
    let recipe = "name: ask\nsteps:\n  - { id: ask, prompt: What now, auto_stage: true }\n  - { id: use, command: \"echo it was {{ask}}\" }\n";
    let user = User::new().file("ask.yaml", recipe);
    user.program("work/bin/agent", FAKE);
    user
}

#[test]
fn the_agent_program_is_chosen_by_flag_or_variable() {
    let user = with_agent();
    let printed = runner(&user, &["ask.yaml", "--agent-binary", "bin/agent"]).exits(0);
    assert!(printed.stdout.contains("it was answered\n"), "{}", printed.stdout);
    assert!(user.read("prompt.txt").contains("What now"), "{}", user.read("prompt.txt"));
    let mut command = command(&user, &["ask.yaml"]);
    command.env("AMPLIHACK_AGENT_BINARY", user.path("work/bin/agent"));
    Printed::from(command.output().unwrap()).exits(0);
}

#[test]
fn an_agent_that_is_not_there_is_refused_with_what_there_is() {
    let user = with_agent().file("plain.yaml", "name: p\nsteps:\n  - { id: a, command: echo }\n");
    let printed = runner(&user, &["ask.yaml", "--agent-binary", "aider"]).exits(2);
    let printed = printed.reports("no agent `aider`; use `claude`");
    drop(printed);
    runner(&user, &["ask.yaml", "--agent-binary", "bin/none"]).exits(2).reports("is not a program");
    let with = |recipe: &str| {
        let mut command = command(&user, &[recipe]);
        command.env("AMPLIHACK_AGENT_BINARY", "aider");
        Printed::from(command.output().unwrap())
    };
    with("ask.yaml").exits(2).reports("AMPLIHACK_AGENT_BINARY: no agent `aider`");
    with("plain.yaml").exits(0);
}

#[test]
fn nothing_is_staged_with_the_flag_whatever_a_step_sets() {
    let user = with_agent();
    user.git("work", &["init", "--quiet"]);
    let staged = || user.git("work", &["diff", "--cached", "--name-only"]);
    let arguments = ["ask.yaml", "--agent-binary", "bin/agent", "--no-auto-stage"];
    runner(&user, &arguments).exits(0);
    assert_eq!(staged(), "");
    fs::remove_file(user.path("work/prompt.txt")).unwrap();
    fs::remove_file(user.path("work/arguments.txt")).unwrap();
    runner(&user, &arguments[..3]).exits(0);
    assert_eq!(staged(), "arguments.txt\nprompt.txt");
}

const GUIDE: &str = "amplifier-bundle/recipes/guide.yaml";

/// A project with a recipe of its own under the name of a built-in, and one that calls it.
fn with_own_guide() -> User {
    let user = User::new()
        .file(GUIDE, "name: guide\nsteps:\n  - {id: ours, command: echo our own guide}\n")
        .file(".towpath/recipes/tour.yaml", "name: tour\nsteps:\n  - {id: call, recipe: guide}\n");
    fs::create_dir(user.path("work/.git")).expect("a project");
    user
}

#[test]
fn a_file_of_the_project_wins_over_a_built_in_of_its_name_everywhere() {
    let user = with_own_guide();
    let json = ["--output-format", "json"];
    for (arguments, sign) in [
        (&["guide"][..], "our own guide\n"),
        (&["guide", "--dry-run"], "[runs] ours -- echo our own guide"),
        (&["guide", "--explain"], "  1. ours\n"),
        (&["guide", "--validate-only"], "is valid (1 steps)"),
        (&["tour"], "our own guide\n"),
        (&["tour", "--dry-run"], "[runs] call/ours -- echo our own guide"),
    ] {
        let printed = runner(&user, arguments).exits(0);
        assert!(printed.stdout.contains(sign), "{arguments:?}: {printed:?}");
        let note = format!("note: {GUIDE} replaces the built-in `guide`\n");
        assert!(printed.stderr.contains(&note), "{arguments:?}: {printed:?}");
        let first = printed.stdout.lines().next().expect("a line");
        assert_eq!(first.contains(GUIDE), arguments[0] == "guide", "it names the file: {first}");
        let printed = runner(&user, &[arguments, &json].concat()).exits(0);
        assert!(!printed.stderr.contains("does not replace"), "{arguments:?}: {printed:?}");
    }
    let printed = runner(&user, &["guide"]).exits(0);
    assert!(printed.stderr.contains(&format!("warning: {GUIDE} was found in the working tree")));
    let explained = runner(&user, &["guide", "--explain", json[0], json[1]]).exits(0).json();
    assert_eq!(explained["recipes"][0]["steps"][0]["id"], "ours", "{explained}");
    let listed = runner(&user, &["list", json[0], json[1]]).exits(0).json();
    let guides = listed["recipes"].as_array().expect("a list").iter();
    let guides: Vec<_> = guides.filter(|recipe| recipe["name"] == "guide").collect();
    assert_eq!((&guides[0]["origin"], &guides[0]["shadowed"]), (&json!("project"), &json!(false)));
    assert_eq!((&guides[1]["origin"], &guides[1]["shadowed"]), (&json!("built-in"), &json!(true)));
    let printed = runner(&user, &["list"]).exits(0);
    let row = printed.stdout.lines().find(|line| line.starts_with("guide "));
    assert_eq!(row.expect("it is listed").split_whitespace().collect::<Vec<_>>(), ["guide", "1.0"]);
}

#[test]
fn a_broken_file_that_replaces_a_built_in_is_an_error() {
    let user = with_own_guide().file(GUIDE, "name: guide\nsteps:\n  - {id: a, comand: ls}\n");
    for more in [&[][..], &["--dry-run"], &["--explain"], &["--validate-only"]] {
        let printed = runner(&user, &[&["guide"], more].concat()).exits(2);
        assert!(printed.stderr.contains(GUIDE), "{more:?}: {printed:?}");
    }
}

#[test]
fn under_the_other_names_an_untrusted_file_replaces_no_built_in() {
    let user = with_own_guide();
    user.towpath(&["run", "guide"]).exits(5).prints("");
    let printed = user.towpath(&["run", "tour"]).exits(5).prints("");
    assert!(printed.stderr.contains("towpath trust --yes"), "{printed:?}");
    let printed = user.towpath(&["explain", "guide"]).exits(0);
    assert!(printed.stderr.contains("does not replace the built-in `guide`"), "{printed:?}");
    user.towpath(&["trust", "--yes", GUIDE]).exits(0);
    user.towpath(&["run", "guide"]).exits(0).prints("our own guide\n");
}

const TASKS: &str = r#"
name: tasks
context: { task_description: "" }
steps:
  - id: made
    command: printf '%s' "$RECIPE_VAR_task_description"
  - id: again
    command: printf '[%s]' "$RECIPE_VAR_made" > got; [ -e go ]
  - id: rest
    command: env | grep RECIPE_VAR || echo none
"#;

#[test]
fn a_step_gets_the_recipe_variables_that_it_names_and_no_others() {
    let task = "it's \"a\" $(touch pwned)\n  `touch pwned` *";
    let user = User::new().file("tasks.yaml", TASKS);
    let set = format!("task_description={task}");
    runner(&user, &["tasks.yaml", "--set", &set]).exits(1);
    assert_eq!(user.read("got"), format!("[{task}]"));
    // A resume fills them from the recorded outputs.
    user.write("got", "");
    user.write("go", "");
    let printed = user.towpath(&["resume", user.run().as_str()]).exits(0);
    assert_eq!(user.read("got"), format!("[{task}]"));
    assert!(printed.stdout.contains("none"), "{}", printed.stdout);
    assert!(!user.path("pwned").exists());
}

#[test]
fn under_its_other_name_it_has_the_other_programs_codes() {
    let user = project();
    let recipe_runner =
        |arguments: &[&str]| user.towpath(&[&["as", "recipe-runner-rs"], arguments].concat());
    recipe_runner(&["ci"]).exits(1).reports("warning: .towpath/recipes/ci.yaml was found");
    user.write("fixed", "");
    let json = recipe_runner(&["ci", "--output-format", "json"]).exits(0).json();
    assert_eq!(json["recipe_name"], "ci");
    assert_eq!(json["step_results"][0]["output"], "building debug");
    recipe_runner(&["ci", "--validate-only"]).exits(0).prints("✓ Recipe 'ci' is valid (4 steps)\n");
    recipe_runner(&["nowhere"]).exits(2);
}

#[test]
fn the_link_is_the_other_program_and_a_file_of_that_name_stays() {
    let user = project().file("bin/keep", "").file("taken/recipe-runner-rs", "mine");
    user.towpath(&["link", "bin"]).exits(0);
    let link = user.path("work/bin/recipe-runner-rs");
    let printed = Command::new(link).arg("--version").output().expect("the link starts");
    assert!(
        String::from_utf8_lossy(&printed.stdout).starts_with("recipe-runner-rs "),
        "{printed:?}"
    );
    user.towpath(&["link", "taken", "--force"]).exits(2).reports("a file of that name exists");
    assert_eq!(user.read("taken/recipe-runner-rs"), "mine");
}
