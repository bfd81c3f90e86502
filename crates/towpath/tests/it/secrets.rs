//! `--secret`: a value is in nothing that is stored, shown or handed on, whatever prints it and
//! whoever is killed. Real runs; every byte of the state directory is searched.

use crate::support::{Person, Said, lives, until};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;
use towpath_store::RunFilter;

/// No beginning of it, long enough to tell, occurs anywhere else.
const VALUE: &str = "Tr0ub4dor&3/corr\"ect horse";

/// What gives the value away: itself, its beginning, and its usual disguises.
fn needles() -> Vec<String> {
    let whole = [VALUE, "Tr0ub4do", "Tr0ub4dor%263", "Tr0ub4dor&3/corr\\\"ect"];
    let base64 = ["VHIwdWI0ZG9y", "RyMHViNGRvci", "UcjB1YjRkb3Im"];
    whole.iter().chain(&base64).map(|text| text.to_string()).collect()
}

/// Everything below a directory that holds the value.
fn leaks(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory").map(|e| e.expect("an entry")) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(leaks(&path));
            continue;
        }
        // A file that goes meanwhile holds nothing any more.
        let bytes = fs::read(&path).unwrap_or_default();
        let holds = |n: &&String| bytes.windows(n.len()).any(|w| w == n.as_bytes());
        found.extend(needles().iter().find(holds).map(|n| format!("{}: {n}", path.display())));
    }
    found
}

/// Searches the whole state, and all that the commands which look say about it.
#[track_caller]
fn is_clean(person: &Person) {
    assert_eq!(leaks(&person.path("home")), Vec::<String>::new());
    let run = person.run();
    let run = run.as_str();
    for arguments in [
        &["show", run][..],
        &["show", run, "--json"],
        &["logs", run],
        &["runs"],
        &["runs", "--all", "--json"],
    ] {
        says_nothing(&person.towpath(arguments));
    }
}

#[track_caller]
fn says_nothing(said: &Said) {
    for needle in needles() {
        let said = format!("{}\n--\n{}", said.stdout, said.stderr);
        assert!(!said.contains(&needle), "{needle} in\n{said}");
    }
}

fn with(mut command: Command) -> Command {
    command.env("TOKEN", VALUE);
    command
}

/// Types a command in a shell in which the variable is set.
#[track_caller]
fn types(person: &Person, arguments: &[&str]) -> Said {
    let said = Said::from(with(person.command(arguments)).output().expect("towpath starts"));
    says_nothing(&said);
    said
}

const LEAKY: &str = r#"
name: leaky
steps:
  - id: plain
    output: said
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
      echo "{{said}}" > handed-on
      printf %s {{said}} >> handed-on
      [ -n "$TOKEN" ] && [ "$TOKEN" != '***' ] && echo "the step has it"
  - id: server
    command: |
      bash -c 'exec -a "server $TOKEN" sleep 1000' & echo $! > server
      until grep -q ^server /proc/$!/cmdline; do sleep 0.01; done
"#;

#[test]
fn a_secret_is_masked_in_whatever_a_step_prints_and_before_it_is_a_value() {
    let person = Person::new().file("leaky.yaml", LEAKY);
    let said = types(&person, &["run", "leaky.yaml", "--secret", "TOKEN", "--verbose"]).exits(0);
    for line in ["token: ***.", "<***>", "\"***\"", "the step has it"] {
        assert!(said.stdout.lines().any(|l| l == line), "no {line}:\n{}", said.stdout);
    }
    assert!(said.stderr.contains("again: ***."), "{}", said.stderr);
    assert!(said.stderr.contains("server *** 1000"), "{}", said.stderr);
    assert!(!lives(&person.read("server")));
    assert_eq!(person.read("handed-on"), "token: ***.\ntoken: ***.");
    is_clean(&person);
    let shown = person.towpath(&["show", person.run().as_str(), "--json"]).stdout;
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
    let person = Person::new().file("encoded.yaml", recipe);
    let mut command = person.command(&["run", "encoded.yaml", "--secret", "TOKEN", "--verbose"]);
    let said = Said::from(command.env("TOKEN", LONG_VALUE).output().expect("towpath starts"));
    let said = said.exits(0);
    let shown: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(shown[0], "dXNlcjp***", "{}", said.stdout);
    let narrow = shown[1..].join("\n");
    assert!(!narrow.contains("WnE3") && !narrow.contains("5a 71"), "{narrow}");
    let left = narrow.chars().filter(|c| c.is_alphanumeric()).count();
    assert!(left < 50, "three times the name, and two characters at the ends: {narrow}");
}

const INNER: &str = r#"
name: inner
steps:
  - id: talk
    output: said
    command: |
      echo "inner: $TOKEN"; printf 'user:%s' "$TOKEN" | base64; echo "$TOKEN" >&2
  - id: fail
    command: |
      echo "denied: $TOKEN {{said}}" >&2; touch began; eval "$THEN"; exit 1
"#;
const OUTER: &str = r#"
name: outer
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
    let person = Person::new().file("inner.yaml", INNER).file("outer.yaml", OUTER);
    let person = person.file("plain.yaml", plain);
    let mut command = with(person.command(&["run", "outer.yaml", "--secret", "TOKEN"]));
    command.env("TOWPATH", env!("CARGO_BIN_EXE_towpath")).stdout(std::process::Stdio::null());
    let mut runner = command.spawn().expect("towpath starts");
    until("the last inner run waits", || {
        person.path("work/killed-home").exists() && person.path("work/began").exists()
    });
    runner.kill().expect("the runner is there");
    runner.wait().expect("the runner is gone");
    let outer = RunFilter { recipe: Some("outer".into()), ..RunFilter::default() };
    let id = person.store().runs(&outer).expect("the runs can be listed")[0].id.to_string();
    until("nothing of it is left", || towpath_process::marked(&id).is_empty());
    for home in ["home", "work/inner-home", "work/killed-home"] {
        assert_eq!(leaks(&person.path(home)), Vec::<String>::new());
        let logs = with(person.command(&["logs"])).env("TOWPATH_HOME", person.path(home)).output();
        let said = Said::from(logs.expect("towpath starts"));
        says_nothing(&said);
    }
    let shown = person.towpath(&["logs", &id]).stdout;
    assert!(
        shown.contains("inner: ***") && shown.contains("<>") && shown.contains("<x>"),
        "{shown}"
    );
}

#[test]
fn a_secret_is_masked_in_recipe_variables_too() {
    let recipe = "name: env\nsteps:\n  - {id: had, command: 'printf \"<%s>\" \"$TOKEN\"'}\n  \
                  - {id: got, command: 'echo \"$RECIPE_VAR_had\"; echo \"$TOKEN\"'}\n";
    let person = Person::new().file("env.yaml", recipe);
    let said = types(&person, &["run", "env.yaml", "--secret", "TOKEN"]).exits(0);
    assert!(said.stdout.contains("<***><***>\n***\n"), "{}", said.stdout);
    is_clean(&person);
}

#[test]
fn without_the_flag_the_search_finds_it() {
    let person = Person::new().file("leaky.yaml", LEAKY);
    let run = with(person.command(&["run", "leaky.yaml"])).output().expect("towpath starts");
    assert!(Said::from(run).exits(0).stdout.contains(VALUE));
    assert!(!leaks(&person.path("home")).is_empty(), "the search itself works");
}

#[test]
fn a_failure_tells_its_reason_without_the_secret() {
    let recipe = r#"
name: fails
steps:
  - id: push
    command: |
      echo "fatal: could not read from https://x:$TOKEN@example.org" >&2
      exit 128
"#;
    let person = Person::new().file("fails.yaml", recipe);
    let said = types(&person, &["run", "fails.yaml", "--secret", "TOKEN"]).exits(1);
    assert!(said.stderr.contains("fatal: could not read from https://x:***@example.org"));
    is_clean(&person);
    let json = types(&person, &["run", "fails.yaml", "--secret", "TOKEN", "--json"]).exits(1);
    assert_eq!(
        json.json()["step_results"][0]["error"],
        "exit 128: fatal: could not read from https://x:***@example.org"
    );
    is_clean(&person);
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
      echo "the agent said: {{answer}}"
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
    let person = Person::new().file("asking.yaml", ASKING);
    person.write("good.jsonl", &answer);
    person.write("bad.jsonl", &fault);
    let run = ["run", "asking.yaml", "--secret", "TOKEN", "--calls", "calls", "--script"];
    let said = types(&person, &[&run[..], &["good.jsonl"]].concat()).exits(0);
    assert!(said.stdout.contains("the agent said: done with ***, thanks\n"), "{}", said.stdout);
    assert!(said.stderr.contains("logging in as ***"), "{}", said.stderr);
    is_clean(&person);
    let said = types(&person, &[&run[..], &["bad.jsonl"]].concat()).exits(4);
    assert!(said.stderr.contains("*** is not valid"), "{}", said.stderr);
    is_clean(&person);
    let calls = person.read("calls");
    assert!(calls.contains("use *** for the call"), "{calls}");
    assert!(needles().iter().all(|n| !calls.contains(n)), "{calls}");
}

/// Prints what Claude Code prints, with the secret in the places where it has been seen.
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
    let person = Person::new().file("asking.yaml", ASKING);
    let program = program(&person, AGENT);
    let run = person.command(&["run", "asking.yaml", "--secret", "TOKEN", "--json"]);
    let output = with(run).env("CLAUDE_CLI_PATH", &program).output().expect("towpath starts");
    let said = Said::from(output).exits(0);
    says_nothing(&said);
    assert_eq!(said.json()["step_results"][1]["output"], "it is ***!");
    assert_eq!(
        said.json()["summary"]["warnings"],
        serde_json::json!(["ask: the agent was denied: Bash echo ***"])
    );
    assert!(person.read("prompt-got").contains("use *** for the call"));
    is_clean(&person);
}

fn program(person: &Person, text: &str) -> PathBuf {
    person.write("claude", text);
    let program = person.path("work/claude");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).expect("a program");
    program
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
    let person = Person::new().file("halves.yaml", recipe);
    let program = program(&person, agent);
    let run = ["run", "halves.yaml", "--secret", "TOKEN", "--calls", "calls"];
    let mut run = with(person.command(&run)).env("CLAUDE_CLI_PATH", &program).spawn();
    let run = run.as_mut().expect("towpath starts");
    until("the agent is asked", || person.path("work/asked").exists());
    assert_eq!(leaks(&person.path("home")), Vec::<String>::new(), "while it works");
    person.write("go", "");
    assert!(run.wait().expect("towpath ends").success());
    assert!(person.read("prompt").starts_with("key ***!"), "{}", person.read("prompt"));
    assert!(person.read("calls").contains("key ***!"), "{}", person.read("calls"));
    is_clean(&person);
}

#[test]
fn what_cannot_be_a_secret_is_refused_before_anything_runs() {
    let recipe = "name: t\nsteps:\n  - {id: a, command: echo ran >> effects}\n";
    let person = Person::new().file("t.yaml", recipe);
    let run = ["run", "t.yaml", "--secret"];
    person.towpath(&[&run[..], &["TOKEN"]].concat()).exits(5).says("TOKEN is not set; set it");
    let mut empty = person.command(&[&run[..], &["TOKEN"]].concat());
    let empty = empty.env("TOKEN", "").output().expect("towpath starts");
    Said::from(empty).exits(5).says("TOKEN is not set");
    let mut short = person.command(&[&run[..], &["TOKEN"]].concat());
    let short = short.env("TOKEN", "abc").output().expect("towpath starts");
    Said::from(short).exits(5).says("fewer than 4 characters");
    let given = format!("TOKEN={VALUE}");
    types(&person, &[&run[..], &[&given]].concat()).exits(2).says("--secret TOKEN, with TOKEN set");
    person.towpath(&[&run[..], &["A,B"]].concat()).exits(2).says("takes one name");
    assert_eq!(person.read("effects"), "");
    assert!(!person.has_journal());
}

#[test]
fn what_would_be_stored_with_the_run_must_not_hold_a_secret() {
    let person = Person::new();
    person.write("t.yaml", "name: t\nsteps:\n  - {id: a, command: 'echo {{key}} >> effects'}\n");
    let quoted = VALUE.replace('"', "\\\"");
    person
        .write("literal.yaml", &format!("name: l\nsteps:\n  - {{id: a, command: \"{quoted}\"}}\n"));
    person.write("broken.yaml", &format!("name: l\nsteps:\n  - {{id: a, comand: \"{quoted}\"}}\n"));
    person.write("calls.yaml", "name: c\nsteps:\n  - {id: a, recipe: literal}\n");
    let set = format!("key=Bearer {VALUE}");
    let deep = format!("key={}", serde_json::json!({ "a": [VALUE] }));
    for set in [&set, &deep] {
        types(&person, &["run", "t.yaml", "--secret", "TOKEN", "--set", set])
            .exits(2)
            .says("--set key=… holds the value of TOKEN")
            .says("write $TOKEN in the command");
    }
    for recipe in ["literal.yaml", "calls.yaml"] {
        types(&person, &["run", recipe, "--secret", "TOKEN"])
            .exits(2)
            .says("literal.yaml holds the value of TOKEN");
    }
    // A problem is drawn with the line it stands in.
    types(&person, &["run", "broken.yaml", "--secret", "TOKEN"]).exits(2).says("comand");
    assert_eq!(person.read("effects"), "");
    assert_eq!(leaks(&person.path("home")), Vec::<String>::new());
    assert_eq!(person.runs(), 0);
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
    let person = Person::new().file("twice.yaml", TWICE);
    types(&person, &["run", "twice.yaml", "--secret", "TOKEN"]).exits(1);
    let run = person.run();
    let before = person.store().facts(&run).expect("the facts").len();
    person
        .towpath(&["resume", run.as_str()])
        .exits(5)
        .says("TOKEN is not set here: set it, then towpath resume");
    assert_eq!(person.store().facts(&run).expect("the facts").len(), before, "nothing recorded");
    person.write("ok", "");
    let said = types(&person, &["resume", run.as_str()]).exits(0);
    assert!(said.stdout.contains("second first *** "), "{}", said.stdout);
    assert_eq!(person.read("effects").lines().count(), 1, "what has finished stays finished");
    is_clean(&person);
}

#[test]
fn a_resume_may_name_another_secret_and_the_run_remembers_it() {
    let person = Person::new().file("twice.yaml", TWICE);
    let other = |arguments: &[&str]| {
        let mut command = with(person.command(arguments));
        Said::from(command.env("OTHER", "swordfish-42").output().expect("towpath starts"))
    };
    other(&["run", "twice.yaml", "--secret", "TOKEN"]).exits(1);
    let run = person.run();
    let said = other(&["resume", run.as_str(), "--secret", "OTHER", "--json"]).exits(1);
    let (out, err) = (&said.stdout, &said.stderr);
    assert!(!out.contains("swordfish") && !err.contains("swordfish"), "{out}\n{err}");
    types(&person, &["resume", run.as_str()]).exits(5).says("OTHER is not set here");
    person.write("ok", "");
    let said = other(&["resume", run.as_str()]).exits(0);
    // Its value from before the secret was named is masked, too, for a condition as for a command.
    assert_eq!(said.stdout, "second first *** *** *** ***\n");
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
    let person = Person::new().file("once.yaml", recipe);
    types(&person, &["run", "once.yaml", "--secret", "TOKEN"]);
    let run = person.run();
    let output = format!("receipt {VALUE}");
    let said = types(&person, &["resume", run.as_str(), "--done", "pay", "--output", &output]);
    assert_eq!(said.exits(0).stdout, "receipt ***\n");
    is_clean(&person);
}

#[test]
fn cancel_tells_no_command_line_that_it_cannot_mask() {
    let recipe = r#"
name: serve
steps:
  - id: server
    command: |
      (exec -a "server $TOKEN" sleep 1000) & pid=$!
      until grep -q ^server /proc/$pid/cmdline; do sleep 0.01; done
      echo $pid > server; wait
"#;
    let person = Person::new().file("serve.yaml", recipe);
    for known in [true, false] {
        let mut child = start(&person, &["run", "serve.yaml", "--secret", "TOKEN"]);
        let warden = until_warden(&child);
        until("the server runs", || !person.read("server").is_empty());
        kill_both(&mut child, warden);
        let run = person.run();
        let said = match known {
            true => types(&person, &["cancel", run.as_str()]).exits(0).says("server *** 1000"),
            false => person.towpath(&["cancel", run.as_str()]).exits(0).says("may hold a secret"),
        };
        says_nothing(&said);
        assert!(!lives(&person.read("server")));
        person.write("server", "");
        is_clean(&person);
    }
}

fn start(person: &Person, arguments: &[&str]) -> Child {
    let mut command = with(person.command(arguments));
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command.spawn().expect("towpath starts")
}

fn children(pid: u32) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let listed = listed.unwrap_or_default();
    listed.split_whitespace().map(|pid| pid.parse().expect("a process number")).collect()
}

fn until_warden(runner: &Child) -> u32 {
    until("the warden is there", || !children(runner.id()).is_empty());
    children(runner.id())[0]
}

/// Stopped first, because a runner that misses its warden ends everything by itself.
fn kill_both(runner: &mut Child, warden: u32) {
    send(runner.id(), Signal::STOP);
    send(warden, Signal::KILL);
    send(runner.id(), Signal::KILL);
    runner.wait().expect("the runner is gone");
}

/// One that is gone already is no error.
fn send(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.try_into().expect("a process number"));
    let _ = kill_process(pid.expect("a process number"), signal);
}

const LONG: &str = r#"
name: long
steps:
  - id: a
    command: &talk |
      for n in 1 2 3 4 5 6; do
        printf '%s' "$TOKEN"; printf '%s' "${TOKEN:0:13}"; printf '%s' "$TOKEN" >&2
        sleep 0.004
        printf '%s\n' "${TOKEN:13}"; printf %s "$TOKEN" | base64
      done
    output: said
  - {id: b, command: *talk}
  - id: c
    command: |
      printf %s {{said}} | tail -c 40; echo "$TOKEN"; sleep 0.02; echo "$TOKEN"
  - {id: d, command: *talk}
"#;

#[test]
fn whoever_is_killed_and_whenever_the_secret_is_nowhere() {
    let person = Person::new().file("long.yaml", LONG);
    let mut dice = u64::from(std::process::id()) | 1;
    let mut under_way = 0;
    for round in 0..20 {
        let mut child = start(&person, &["run", "long.yaml", "--secret", "TOKEN"]);
        let warden = until_warden(&child);
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((dice >> 33) % 220_000));
        under_way += u32::from(child.try_wait().expect("the runner can be asked").is_none());
        match round % 3 {
            0 => send(child.id(), Signal::KILL),
            1 => send(warden, Signal::KILL),
            _ => kill_both(&mut child, warden),
        }
        child.wait().expect("the runner is gone");
        is_clean(&person);
        let run = person.run();
        let said = types(&person, &["resume", run.as_str()]).exits(0);
        let told = !said.stdout.is_empty() || said.stderr.contains("is done");
        assert!(told, "{}", said.stderr);
        assert!(towpath_process::marked(run.as_str()).is_empty());
        is_clean(&person);
    }
    assert!(under_way >= 10, "{under_way} of 20 were killed while they ran");
}
