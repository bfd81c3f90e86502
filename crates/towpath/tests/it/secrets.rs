//! `--secret`: a value is in nothing that is stored, shown or handed on, whatever prints it and
//! whoever is killed. Real runs; every byte of the state directory is searched.

use crate::support::{Printed, Signal, User, lives, signal, signal_to, until, warden_of};
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;
use towpath_store::RunFilter;

/// No beginning of it, long enough to report, occurs anywhere else.
const VALUE: &str = "Tr0ub4dor&3/corr\"ect horse";

/// What gives the value away: itself, its beginning, and its usual disguises.
fn needles() -> Vec<String> {
    let whole = [VALUE, "Tr0ub4do", "Tr0ub4dor%263", "Tr0ub4dor&3/corr\\\"ect"];
    let base64 = ["VHIwdWI0ZG9y", "RyMHViNGRvci", "UcjB1YjRkb3Im"];
    whole.iter().chain(&base64).map(std::string::ToString::to_string).collect()
}

/// Every file below a directory that contains the value.
fn leaks(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory").map(|e| e.expect("an entry")) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(leaks(&path));
            continue;
        }
        // A file that is removed meanwhile contains nothing any more.
        let bytes = fs::read(&path).unwrap_or_default();
        let contains = |n: &&String| bytes.windows(n.len()).any(|w| w == n.as_bytes());
        found.extend(needles().iter().find(contains).map(|n| format!("{}: {n}", path.display())));
    }
    found
}

/// Searches the whole state, and all that the commands which look show about it.
#[track_caller]
fn is_clean(user: &User) {
    assert_eq!(leaks(&user.path("home")), Vec::<String>::new());
    let run = user.run();
    let run = run.as_str();
    for arguments in [
        &["show", run][..],
        &["show", run, "--json"],
        &["logs", run],
        &["runs"],
        &["runs", "--all", "--json"],
    ] {
        reports_nothing(&user.towpath(arguments));
    }
}

#[track_caller]
fn reports_nothing(printed: &Printed) {
    for needle in needles() {
        let printed = format!("{}\n--\n{}", printed.stdout, printed.stderr);
        assert!(!printed.contains(&needle), "{needle} in\n{printed}");
    }
}

fn with(mut command: Command) -> Command {
    command.env("TOKEN", VALUE);
    command
}

/// Types a command in a shell in which the variable is set.
#[track_caller]
fn types(user: &User, arguments: &[&str]) -> Printed {
    let printed = Printed::from(with(user.command(arguments)).output().expect("towpath starts"));
    reports_nothing(&printed);
    printed
}

const LEAKY: &str = r#"
name: leaky
steps:
  - id: plain
    output: answer
    command: |
      echo "token: $TOKEN."
      echo "again: $TOKEN." >&2
  - id: pieces
    command: |
      printf '<%s' "${TOKEN:0:11}"; sleep 0.05; printf '%s' "${TOKEN:11:4}"; sleep 0.05
      printf '%s>\n' "${TOKEN:15}"
  - id: encoded
    command: |
      printf %s "$TOKEN" | base64
      printf '%s\n' "$TOKEN" | base64
      printf %s "user:$TOKEN" | base64
      printf %s "$TOKEN" | jq -Rs . 2> /dev/null || printf '"%s"\n' "${TOKEN//\"/\\\"}"
  - id: traced
    command: set -x; true "$TOKEN"
  - id: handed-on
    command: |
      echo "{{answer}}" > handed-on
      printf %s {{answer}} >> handed-on
      [ -n "$TOKEN" ] && [ "$TOKEN" != '***' ] && echo "the step has it"
  - id: server
    command: |
      bash -c 'exec -a "server $TOKEN" sleep 1000' & echo $! > server
      until grep -q ^server /proc/$!/cmdline; do sleep 0.01; done
"#;

#[test]
fn a_secret_is_masked_in_whatever_a_step_prints_and_before_it_is_a_value() {
    let user = User::new().file("leaky.yaml", LEAKY);
    let printed = types(&user, &["run", "leaky.yaml", "--secret", "TOKEN", "--verbose"]).exits(0);
    for line in ["token: ***.", "<***>", "\"***\"", "the step has it"] {
        assert!(printed.stdout.lines().any(|l| l == line), "no {line}:\n{}", printed.stdout);
    }
    assert!(printed.stderr.contains("again: ***."), "{}", printed.stderr);
    assert!(printed.stderr.contains("server *** 1000"), "{}", printed.stderr);
    assert!(!lives(&user.read("server")));
    assert_eq!(user.read("handed-on"), "token: ***.\ntoken: ***.");
    is_clean(&user);
    let shown = user.towpath(&["show", user.run().as_str(), "--json"]).stdout;
    assert!(shown.contains("token: ***."), "{shown}");
}

/// 93 characters, so that `base64` breaks its line inside.
const LONG_VALUE: &str =
    "Zq7_Xw4-Kv9.Bm2~Jt8Yp3Lr6Hn5Gd1Fs0CkQe+Ui/Oa=Nz7Wx4Vy9Tb2Ru8Ps3Mq6Lk5Jh1Gf0Dd_Sa-Zx4Cv9Bn2E";

#[test]
fn an_encoded_value_is_masked_however_its_lines_are_broken() {
    let recipe = r#"
name: encoded
steps:
  - id: wide
    command: printf 'user:%s' "$TOKEN" | base64
  - id: narrow
    command: |
      printf 'user:%s' "$TOKEN" | base64 -w 1 | tr -d '=' | wc -l
      for width in 1 5 64; do printf 'user:%s' "$TOKEN" | base64 -w $width | sed 's/^/    /'; done
      printf %s "$TOKEN" | od -An -v -tx1
"#;
    let user = User::new().file("encoded.yaml", recipe);
    let mut command = user.command(&["run", "encoded.yaml", "--secret", "TOKEN", "--verbose"]);
    let printed = Printed::from(command.env("TOKEN", LONG_VALUE).output().expect("towpath starts"));
    let printed = printed.exits(0);
    let shown: Vec<&str> = printed.stdout.lines().collect();
    assert_eq!(shown[0], "dXNlcjp***", "{}", printed.stdout);
    let narrow = shown[1..].join("\n");
    assert!(!narrow.contains("WnE3") && !narrow.contains("5a 71"), "{narrow}");
    let left = narrow.chars().filter(|c| c.is_alphanumeric()).count();
    assert!(left < 50, "three times the name, and two characters at the ends: {narrow}");
}

const INNER: &str = r#"
name: inner
steps:
  - id: talk
    output: answer
    command: |
      echo "inner: $TOKEN"; printf 'user:%s' "$TOKEN" | base64; echo "$TOKEN" >&2
  - id: fail
    command: |
      echo "denied: $TOKEN {{answer}}" >&2; touch began; eval "$THEN"; exit 1
"#;
const OUTER: &str = r#"
name: outer
fail_fast: false
steps:
  - id: same-home
    command: '"$TOWPATH" run inner.yaml --json; true'
  - id: other-home
    command: TOWPATH_HOME="$PWD/inner-home" "$TOWPATH" run inner.yaml --calls "$PWD/calls"; rm -f began
  - id: test
    command: '"$TOWPATH" as recipe-runner-rs inner.yaml; true'
  - id: unset
    command: 'env -u TOKEN "$TOWPATH" run plain.yaml && TOKEN=x "$TOWPATH" run plain.yaml'
  - id: killed
    command: TOWPATH_HOME="$PWD/killed-home" THEN='sleep 1000' "$TOWPATH" run inner.yaml
"#;

#[test]
fn a_towpath_that_a_step_starts_masks_the_outer_runs_secrets() {
    let plain = "name: plain\nsteps:\n  - {id: a, command: 'echo \"<$TOKEN>\"'}\n";
    let user = User::new().file("inner.yaml", INNER).file("outer.yaml", OUTER);
    let user = user.file("plain.yaml", plain);
    let mut command = with(user.command(&["run", "outer.yaml", "--secret", "TOKEN"]));
    command.env("TOWPATH", env!("CARGO_BIN_EXE_towpath")).stdout(std::process::Stdio::null());
    let mut runner = command.spawn().expect("towpath starts");
    until("the last inner run waits", || {
        user.path("work/killed-home").exists() && user.path("work/began").exists()
    });
    runner.kill().expect("the runner is there");
    runner.wait().expect("the runner is gone");
    let outer = RunFilter { recipe: Some("outer".into()), ..RunFilter::default() };
    let id = user.store().runs(&outer).expect("the runs can be listed")[0].id.to_string();
    until("nothing of it is left", || towpath_process::marked(&id).is_empty());
    for home in ["home", "work/inner-home", "work/killed-home"] {
        assert_eq!(leaks(&user.path(home)), Vec::<String>::new());
        let logs = with(user.command(&["logs"])).env("TOWPATH_HOME", user.path(home)).output();
        let printed = Printed::from(logs.expect("towpath starts"));
        reports_nothing(&printed);
    }
    let shown = user.towpath(&["logs", &id]).stdout;
    assert!(
        shown.contains("inner: ***") && shown.contains("<>") && shown.contains("<x>"),
        "{shown}"
    );
}

#[test]
fn a_secret_is_masked_in_recipe_variables_too() {
    let recipe = "name: env\nsteps:\n  - {id: had, command: 'printf \"<%s>\" \"$TOKEN\"'}\n  \
                  - {id: got, command: 'echo \"$RECIPE_VAR_had\"; echo \"$TOKEN\"'}\n";
    let user = User::new().file("env.yaml", recipe);
    let printed = types(&user, &["run", "env.yaml", "--secret", "TOKEN"]).exits(0);
    assert!(printed.stdout.contains("<***><***>\n***\n"), "{}", printed.stdout);
    is_clean(&user);
}

#[test]
fn without_the_flag_the_value_is_stored() {
    let user = User::new().file("leaky.yaml", LEAKY);
    let run = with(user.command(&["run", "leaky.yaml"])).output().expect("towpath starts");
    assert!(Printed::from(run).exits(0).stdout.contains(VALUE));
    assert!(!leaks(&user.path("home")).is_empty(), "the search itself works");
}

#[test]
fn a_failure_reports_its_reason_without_the_secret() {
    let recipe = r#"
name: fails
steps:
  - id: push
    command: |
      echo "fatal: could not read from https://x:$TOKEN@example.org" >&2
      exit 128
"#;
    let user = User::new().file("fails.yaml", recipe);
    let printed = types(&user, &["run", "fails.yaml", "--secret", "TOKEN"]).exits(1);
    assert!(printed.stderr.contains("fatal: could not read from https://x:***@example.org"));
    is_clean(&user);
    let json = types(&user, &["run", "fails.yaml", "--secret", "TOKEN", "--json"]).exits(1);
    assert_eq!(
        json.json()["steps"][0]["error"],
        "exit 128: fatal: could not read from https://x:***@example.org"
    );
    is_clean(&user);
}

const ASKING: &str = r#"
name: asking
steps:
  - id: key
    command: echo "$TOKEN"
  - id: ask
    prompt: "use {{key}} for the call"
    output: answer
  - id: quote
    command: |
      echo "the agent answered: {{answer}}"
"#;

#[test]
fn an_agents_prompt_answer_and_fault_are_masked() {
    let line = |object: serde_json::Value| format!("{object}\n");
    let answer = line(serde_json::json!({
        "text": format!("done with {VALUE}, thanks"),
        "run": "echo \"logging in as $TOKEN\"",
        "session_id": format!("session of {VALUE}"),
    }));
    let fault = line(serde_json::json!({ "error": format!("{VALUE} is not valid") }));
    let user = User::new().file("asking.yaml", ASKING);
    user.write("good.jsonl", &answer);
    user.write("bad.jsonl", &fault);
    let run = ["run", "asking.yaml", "--secret", "TOKEN", "--calls", "calls", "--script"];
    let printed = types(&user, &[&run[..], &["good.jsonl"]].concat()).exits(0);
    assert!(
        printed.stdout.contains("the agent answered: done with ***, thanks\n"),
        "{}",
        printed.stdout
    );
    assert!(printed.stderr.contains("logging in as ***"), "{}", printed.stderr);
    is_clean(&user);
    let printed = types(&user, &[&run[..], &["bad.jsonl"]].concat()).exits(4);
    assert!(printed.stderr.contains("*** is not valid"), "{}", printed.stderr);
    is_clean(&user);
    let calls = user.read("calls");
    assert!(calls.contains("use *** for the call"), "{calls}");
    assert!(needles().iter().all(|n| !calls.contains(n)), "{calls}");
}

/// Prints what Claude Code prints, with the secret wherever it has been seen.
const AGENT: &str = r#"#!/bin/bash
cat > prompt-got
esc=${TOKEN//\"/\\\"}
twice=${TOKEN//\"/\\\\\\\"}
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"curl -H '"$esc"'"}}]}}'
echo '{"type":"user","message":{"content":[{"type":"tool_result","content":"{\"key\":\"'"$twice"'\"}"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"permission_denials":[{"tool_name":"Bash","tool_input":{"command":"echo '"$esc"'"}}],"result":"it is \u0054'"${esc:1}"'!"}'
"#;

#[test]
fn an_agent_programs_stream_is_masked_and_still_understood() {
    let user = User::new().file("asking.yaml", ASKING);
    let program = user.program("work/claude", AGENT);
    let run = user.command(&["run", "asking.yaml", "--secret", "TOKEN", "--json"]);
    let output = with(run).env("CLAUDE_CLI_PATH", &program).output().expect("towpath starts");
    let printed = Printed::from(output).exits(0);
    reports_nothing(&printed);
    assert_eq!(printed.json()["steps"][1]["output"], "it is ***!");
    assert_eq!(
        printed.json()["summary"]["warnings"],
        serde_json::json!(["ask: the agent was denied: Bash echo ***"])
    );
    assert!(user.read("prompt-got").contains("use *** for the call"));
    is_clean(&user);
}

#[test]
fn two_harmless_values_that_make_a_secret_in_a_prompt_are_masked() {
    let recipe = r#"
name: halves
steps:
  - {id: a, command: 'echo "${TOKEN:0:7}"'}
  - {id: b, command: 'echo "${TOKEN:7}"'}
  - {id: ask, prompt: "key {{a}}{{b}}!"}
"#;
    let agent = r#"#!/bin/bash
cat > prompt; touch asked
until [ -e go ]; do sleep 0.01; done
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok"}'
"#;
    let user = User::new().file("halves.yaml", recipe);
    let program = user.program("work/claude", agent);
    let run = ["run", "halves.yaml", "--secret", "TOKEN", "--calls", "calls"];
    let mut run = with(user.command(&run)).env("CLAUDE_CLI_PATH", &program).spawn();
    let run = run.as_mut().expect("towpath starts");
    until("the agent is asked", || user.path("work/asked").exists());
    assert_eq!(leaks(&user.path("home")), Vec::<String>::new(), "while it works");
    user.write("go", "");
    assert!(run.wait().expect("towpath ends").success());
    assert!(user.read("prompt").starts_with("key ***!"), "{}", user.read("prompt"));
    assert!(user.read("calls").contains("key ***!"), "{}", user.read("calls"));
    is_clean(&user);
}

#[test]
fn what_cannot_be_a_secret_is_refused_before_anything_runs() {
    let recipe = "name: t\nsteps:\n  - {id: a, command: echo ran >> effects}\n";
    let user = User::new().file("t.yaml", recipe);
    let run = ["run", "t.yaml", "--secret"];
    user.towpath(&[&run[..], &["TOKEN"]].concat()).exits(5).reports("TOKEN is not set; set it");
    let mut empty = user.command(&[&run[..], &["TOKEN"]].concat());
    let empty = empty.env("TOKEN", "").output().expect("towpath starts");
    Printed::from(empty).exits(5).reports("TOKEN is not set");
    let mut short = user.command(&[&run[..], &["TOKEN"]].concat());
    let short = short.env("TOKEN", "abc").output().expect("towpath starts");
    Printed::from(short).exits(5).reports("fewer than 4 characters");
    let given = format!("TOKEN={VALUE}");
    types(&user, &[&run[..], &[&given]].concat())
        .exits(2)
        .reports("--secret TOKEN, with TOKEN set");
    user.towpath(&[&run[..], &["A,B"]].concat()).exits(2).reports("takes one name");
    assert_eq!(user.read("effects"), "");
    assert!(!user.has_journal());
}

#[test]
fn what_would_be_stored_with_the_run_must_not_contain_a_secret() {
    let user = User::new();
    user.write("t.yaml", "name: t\nsteps:\n  - {id: a, command: 'echo {{key}} >> effects'}\n");
    let quoted = VALUE.replace('"', "\\\"");
    user.write("literal.yaml", &format!("name: l\nsteps:\n  - {{id: a, command: \"{quoted}\"}}\n"));
    user.write("broken.yaml", &format!("name: l\nsteps:\n  - {{id: a, comand: \"{quoted}\"}}\n"));
    user.write("calls.yaml", "name: c\nsteps:\n  - {id: a, recipe: literal}\n");
    let set = format!("key=Bearer {VALUE}");
    let deep = format!("key={}", serde_json::json!({ "a": [VALUE] }));
    for set in [&set, &deep] {
        types(&user, &["run", "t.yaml", "--secret", "TOKEN", "--set", set])
            .exits(2)
            .reports("--set key=… contains the value of TOKEN")
            .reports("write $TOKEN in the command");
    }
    for recipe in ["literal.yaml", "calls.yaml"] {
        types(&user, &["run", recipe, "--secret", "TOKEN"])
            .exits(2)
            .reports("literal.yaml contains the value of TOKEN");
    }
    // A problem is drawn with the line it is in.
    types(&user, &["run", "broken.yaml", "--secret", "TOKEN"]).exits(2).reports("comand");
    assert_eq!(user.read("effects"), "");
    assert_eq!(leaks(&user.path("home")), Vec::<String>::new());
    assert_eq!(user.runs(), 0);
}

const TWICE: &str = r#"
name: twice
steps:
  - id: first
    command: echo "first $TOKEN $OTHER" | tee -a effects
  - id: second
    command: |
      echo "second {{first}} $TOKEN $OTHER"; [ -e ok ]
  - id: third
    condition: "'swordfish' in first"
    command: echo "third"
"#;

#[test]
fn a_resume_reads_the_variable_again_or_is_refused() {
    let user = User::new().file("twice.yaml", TWICE);
    types(&user, &["run", "twice.yaml", "--secret", "TOKEN"]).exits(1);
    let run = user.run();
    let before = user.facts(&run).len();
    user.towpath(&["resume", run.as_str()])
        .exits(5)
        .reports("TOKEN is not set here: set it, then towpath resume");
    assert_eq!(user.facts(&run).len(), before, "nothing recorded");
    user.write("ok", "");
    let printed = types(&user, &["resume", run.as_str()]).exits(0);
    assert!(printed.stdout.contains("second first *** "), "{}", printed.stdout);
    assert_eq!(user.read("effects").lines().count(), 1, "what has finished stays finished");
    is_clean(&user);
}

#[test]
fn a_resume_may_name_another_secret_and_the_run_remembers_it() {
    let user = User::new().file("twice.yaml", TWICE);
    let other = |arguments: &[&str]| {
        let mut command = with(user.command(arguments));
        Printed::from(command.env("OTHER", "swordfish-42").output().expect("towpath starts"))
    };
    other(&["run", "twice.yaml", "--secret", "TOKEN"]).exits(1);
    let run = user.run();
    let printed = other(&["resume", run.as_str(), "--secret", "OTHER", "--json"]).exits(1);
    let (out, err) = (&printed.stdout, &printed.stderr);
    assert!(!out.contains("swordfish") && !err.contains("swordfish"), "{out}\n{err}");
    types(&user, &["resume", run.as_str()]).exits(5).reports("OTHER is not set here");
    user.write("ok", "");
    let printed = other(&["resume", run.as_str()]).exits(0);
    // Its value from before the secret was named is masked, too, for a condition as for a command.
    assert_eq!(printed.stdout, "second first *** *** *** ***\n");
}

#[test]
fn an_answer_for_a_step_is_masked_too() {
    let recipe = r#"
name: once
steps:
  - {id: pay, effect: once, timeout: 1, command: sleep 60}
  - id: mail
    command: echo {{pay}}
"#;
    let user = User::new().file("once.yaml", recipe);
    types(&user, &["run", "once.yaml", "--secret", "TOKEN"]);
    let run = user.run();
    let output = format!("receipt {VALUE}");
    let printed = types(&user, &["resume", run.as_str(), "--done", "pay", "--output", &output]);
    assert_eq!(printed.exits(0).stdout, "receipt ***\n");
    is_clean(&user);
}

#[test]
fn cancel_reports_no_command_line_that_it_cannot_mask() {
    let recipe = r#"
name: serve
steps:
  - id: server
    command: |
      (exec -a "server $TOKEN" sleep 1000) & pid=$!
      until grep -q ^server /proc/$pid/cmdline; do sleep 0.01; done
      echo $pid > server; wait
"#;
    let user = User::new().file("serve.yaml", recipe);
    for known in [true, false] {
        let mut child = start(&user, &["run", "serve.yaml", "--secret", "TOKEN"]);
        let warden = warden_of(&child);
        until("the server runs", || !user.read("server").is_empty());
        kill_both(&mut child, warden);
        let run = user.run();
        let printed = match known {
            true => types(&user, &["cancel", run.as_str()]).exits(0).reports("server *** 1000"),
            false => {
                user.towpath(&["cancel", run.as_str()]).exits(0).reports("may contain a secret")
            }
        };
        reports_nothing(&printed);
        assert!(!lives(&user.read("server")));
        user.write("server", "");
        is_clean(&user);
    }
}

fn start(user: &User, arguments: &[&str]) -> Child {
    let mut command = with(user.command(arguments));
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command.spawn().expect("towpath starts")
}

/// Stopped first, because a runner that misses its warden ends everything by itself.
fn kill_both(runner: &mut Child, warden: u32) {
    signal(runner, Signal::STOP);
    signal_to(warden, Signal::KILL);
    signal_to(runner.id(), Signal::KILL);
    runner.wait().expect("the runner is gone");
}

const LONG: &str = r#"
name: long
steps:
  - id: a
    command: &talk |
      for n in 1 2 3 4 5 6; do
        printf '%s' "$TOKEN"; printf '%s' "${TOKEN:0:13}"; printf '%s' "$TOKEN" >&2
        sleep 0.008
        printf '%s\n' "${TOKEN:13}"; printf %s "$TOKEN" | base64
      done
    output: answer
  - {id: b, command: *talk}
  - id: c
    command: |
      printf %s {{answer}} | tail -c 40; echo "$TOKEN"; sleep 0.02; echo "$TOKEN"
  - {id: d, command: *talk}
"#;

#[test]
fn a_secret_is_stored_nowhere_whichever_process_is_killed() {
    let user = User::new().file("long.yaml", LONG);
    let mut dice = u64::from(std::process::id()) | 1;
    let mut under_way = 0;
    for round in 0..20 {
        let mut child = start(&user, &["run", "long.yaml", "--secret", "TOKEN"]);
        let warden = warden_of(&child);
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((dice >> 33) % 220_000));
        let lives = child.try_wait().expect("the runner can be asked").is_none();
        under_way += u32::from(lives);
        match round % 3 {
            _ if !lives => {}
            0 => signal_to(child.id(), Signal::KILL),
            1 => signal_to(warden, Signal::KILL),
            _ => kill_both(&mut child, warden),
        }
        child.wait().expect("the runner is gone");
        is_clean(&user);
        let run = user.run();
        let printed = types(&user, &["resume", run.as_str()]).exits(0);
        let reported = !printed.stdout.is_empty() || printed.stderr.contains("is done");
        assert!(reported, "{}", printed.stderr);
        assert!(towpath_process::marked(run.as_str()).is_empty());
        is_clean(&user);
    }
    assert!(under_way >= 10, "{under_way} of 20 were killed while they ran");
}
