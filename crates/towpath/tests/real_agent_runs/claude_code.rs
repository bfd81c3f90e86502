//! The real Claude Code inside real runs, in full: every fault of its service, killed with and
//! without its runner, and sessions that may or may not be there.

mod stopped_while_answering;

use crate::set_up_real_program::model_server::{Answer, ModelServer};
use crate::set_up_real_program::{CLAUDE_CODE, ONE, STAY, finish, nothing_is_left, of};
use crate::support::{Signal, User, kill_hard, lives, signal_to};
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

const RECIPE: &str = "
name: real
steps:
  - id: ask
    prompt: Write made.txt
    output: answer
  - id: check
    command: cat made.txt; echo \"it answered {{answer}}\"
";

const EDITED: Answer = Answer::Text("{\"outcome\": \"edited\"}");

#[test]
fn a_step_is_done_and_its_answer_is_a_value() {
    let user = User::new().file("real.yaml", RECIPE);
    let script = vec![CLAUDE_CODE.tool("echo by claude > made.txt"), Answer::Text("all \"done\"")];
    let server = ModelServer::new(script);
    let result = CLAUDE_CODE.run(&user, &server, &["run", "real.yaml", "--json"]).exits(0).json();
    assert_eq!(result["steps"][1]["output"], "by claude\nit answered all \"done\"");
    assert!(result["summary"]["cost_usd"].as_f64().is_some_and(|c| c > 0.0), "{result}");
}

#[test]
fn what_its_tools_left_behind_dies_with_the_runner() {
    let user = User::new().file("real.yaml", RECIPE);
    let server = ModelServer::new(vec![CLAUDE_CODE.tool(STAY)]);
    let mut runner = CLAUDE_CODE.in_a_tool(&user, &server, &["run", "real.yaml"]);
    kill_hard(&mut runner);
    nothing_is_left(&user);
    assert!(!lives(&user.read("fg.pid")) && !lives(&user.read("bg.pid")));
}

/// Each fault has its exit codes and its word, and the same conversation continues after it.
#[test]
fn every_fault_of_the_service_is_reported_and_resumed_after() {
    for (fault, codes, word) in [
        (Answer::Error(401, &[], "bad key"), (4, 4), "auth"),
        (Answer::Error(429, &[], "slow down"), (75, 4), "limit"),
        (Answer::Error(500, &[], "boom"), (4, 4), "overloaded"),
        (Answer::Error(529, &[], "busy"), (4, 4), "overloaded"),
        (Answer::Nothing, (4, 4), "overloaded"),
    ] {
        let what = format!("{fault:?}");
        let user = User::new().file("one.yaml", ONE);
        let server = ModelServer::always(fault.clone());
        let arguments = ["as", "agent-recipes", "one.yaml"];
        let printed = CLAUDE_CODE.run(&user, &server, &arguments);
        assert_eq!(printed.code, Some(codes.1), "{what}: {}", printed.stderr);
        assert!(printed.stdout.ends_with("Exit: backend-error\n"), "{what}: {}", printed.stdout);
        // Made again, with the same fault, under the other name.
        let printed = CLAUDE_CODE.run(&user, &server, &["resume", "--last"]);
        assert_eq!(printed.code, Some(codes.0), "{what}: {}", printed.stderr);
        assert!(printed.stderr.contains(word), "{what}: {}", printed.stderr);

        server.now(vec![EDITED]);
        let printed = CLAUDE_CODE.run(&user, &server, &["resume", "--last", "--json"]).exits(0);
        assert_eq!(printed.json()["machine"]["reason"], "edited", "{what}");
        let reported = server.requests()[0].to_string();
        assert!(reported.matches("first of all").count() >= 2, "{what}: {reported}");
    }
}

/// A user's instructions are added to the program's own; those of an agent file replace them.
#[test]
fn a_users_instructions_are_added_to_the_programs_own() {
    let user = User::new().file("one.yaml", ONE);
    let server = ModelServer::always(EDITED);
    let system = |arguments: &[&str]| {
        CLAUDE_CODE.run(&user, &server, arguments).exits(0);
        server.requests().last().expect("a request")["system"].to_string()
    };
    let alone = system(&["run", "one.yaml"]);
    let reported = system(&["run", "one.yaml", "--system-prompt", "Be brief, please."]);
    assert!(reported.contains("Be brief, please.") && reported.len() >= alone.len(), "{reported}");
    let session = "0f8fad5b-d9cb-469f-a165-70867728950e";
    let both = ["run", "one.yaml", "--system-prompt", "Be brief.", "--session", session];
    CLAUDE_CODE.run(&user, &server, &both).exits(5).reports("keeps its first instructions");
}

/// A program that dies before it has stored anything leaves an id without a session. The next call
/// tries to continue with it, then opens it by the same id: one attempt.
#[test]
fn a_session_that_never_came_to_be_is_opened_once_by_its_id() {
    let user = User::new().file("one.yaml", ONE);
    let server = ModelServer::new(vec![EDITED]);
    let dead = user.program("dead", "#!/bin/sh\nkill -9 $$\n");
    let arguments = ["run", "one.yaml", "--calls", "calls.jsonl"];
    let mut command = CLAUDE_CODE.command(&user, &server, &arguments);
    command.env("CLAUDE_CLI_PATH", dead);
    finish(command).exits(4);

    let printed = CLAUDE_CODE.run(&user, &server, &["resume", "--last", "--json"]).exits(0);
    // What the first of the two reported is as if it had never been reported.
    assert!(!printed.stderr.contains("No conversation found"), "{}", printed.stderr);
    let result = printed.json();
    assert_eq!(result["machine"]["reason"], "edited");
    assert_eq!(result["steps"][0]["attempts"], 2, "{result:#}");
    let calls = user.read("calls.jsonl");
    let calls: Vec<Value> = calls.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let hows: Vec<&str> = calls.iter().map(|call| call["how"].as_str().unwrap()).collect();
    assert_eq!(hows, ["new", "resume", "new"]);
    assert!(calls.iter().all(|call| call["session"] == calls[0]["session"]), "{calls:?}");
}

const THREE: &str = "
id: three
label: Three
description: Three steps in one conversation
initialStep: first
guardrails: {}
steps:
  first:
    prompt: This is MARK-1.
    outcomes: [done]
    onOutcome: {done: {nextStep: second}}
  second:
    prompt: This is MARK-2.
    outcomes: [done]
    onOutcome: {done: {nextStep: third}}
  third:
    prompt: This is MARK-3.
    outcomes: [done]
    onOutcome: {done: {action: exit, reason: all-done}}
";

/// A conversation whose files are gone is a fault that comes again and again. In a new session the
/// agent learns what was done.
#[test]
fn a_conversation_that_is_gone_continues_in_a_new_session() {
    const DONE: Answer = Answer::Text("MARK-DONE\n{\"outcome\": \"done\"}");
    let user = User::new().file("three.yaml", THREE);
    let server = ModelServer::new(vec![DONE, Answer::Error(500, &[], "boom")]);
    CLAUDE_CODE.run(&user, &server, &["run", "three.yaml"]).exits(4);
    fs::remove_dir_all(user.path(".claude/projects")).expect("the program's conversations");
    for _ in 0..2 {
        let printed = CLAUDE_CODE.run(&user, &server, &["resume", "--last"]).exits(4);
        let printed = printed.reports("No conversation found");
        printed.reports(&format!("towpath resume {} --new-session", user.run()));
    }
    server.now(vec![DONE, DONE]);
    let resume = ["resume", "--last", "--new-session", "--json"];
    let reported = CLAUDE_CODE.run(&user, &server, &resume).exits(0).json();
    assert_eq!(reported["machine"]["reason"], "all-done");
    let requests = server.requests();
    let asked = requests[0]["messages"].to_string();
    assert!(asked.contains("- first: done") && asked.contains("MARK-DONE"), "{asked}");
    assert!(asked.contains("MARK-2") && requests.len() == 2, "{asked}");
}

/// A model that does each step with a tool call and then reports it, whatever the conversation has been
/// through. It forgets the outcome once.
fn steady() -> ModelServer {
    let mut forgot = false;
    ModelServer::by(move |request| {
        let reported = request["messages"].to_string();
        let last = reported.rfind("MARK-").expect("a prompt");
        let step = &reported[last + 5..last + 6];
        if !reported[last..].contains("tool_result") {
            return CLAUDE_CODE.tool(&format!("echo {step} >> log; sleep 0.1"));
        }
        if step == "2" && !std::mem::replace(&mut forgot, true) {
            return Answer::Text("I did it.");
        }
        Answer::Text("{\"outcome\": \"done\"}")
    })
}

/// Small numbers that look random; the same for the same seed.
fn dice(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    }
}

/// Processes of the agent's program itself.
fn agents(user: &User) -> Vec<String> {
    let is_agent = |pid: &String| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("stream-json")
    };
    of(user).into_iter().filter(is_agent).collect()
}

/// One may have ended by itself in between.
fn kill_agents(user: &User) {
    for pid in agents(user) {
        signal_to(pid.parse().expect("a process number"), Signal::KILL);
    }
}

/// One run from its start to its end, interrupted again and again.
fn interrupted(seed: u64) {
    let user = User::new().file("three.yaml", THREE);
    let server = steady();
    let mut dice = dice(seed);
    let mut cuts = 0;
    for tries in 0.. {
        assert!(tries < 6, "seed {seed}: it continues after its last interruption");
        let begun = user.has_journal() && user.runs() > 0;
        let arguments: &[&str] =
            if begun { &["resume", "--last", "--json"] } else { &["run", "three.yaml", "--json"] };
        let mut command = CLAUDE_CODE.command(&user, &server, arguments);
        let mut runner = command.stderr(Stdio::null()).spawn().expect("towpath starts");
        if cuts < 3 {
            std::thread::sleep(Duration::from_millis(dice(2500)));
            if dice(2) == 0 {
                runner.kill().expect("the runner can be killed");
            } else {
                kill_agents(&user);
            }
            cuts += 1;
        }
        let output = runner.wait_with_output().expect("the runner ends");
        nothing_is_left(&user);
        if output.status.code() == Some(0) {
            let result: Value = serde_json::from_slice(&output.stdout).expect("one object");
            // A run that was over before it was interrupted has nothing more to report.
            if result.get("machine").is_some() {
                assert_eq!(result["machine"]["reason"], "all-done", "seed {seed}: {result:#}");
            }
            break;
        }
    }
    // A step that was interrupted may have run again; none after a later one had begun.
    let log = user.read("log");
    let done: Vec<&str> = log.lines().collect();
    assert!(done.is_sorted(), "seed {seed}: {done:?}");
    for step in ["1", "2", "3"] {
        assert!(done.contains(&step), "seed {seed}: {done:?}");
    }
}

#[test]
fn killed_at_any_instant_a_run_comes_to_the_right_end() {
    let many = std::env::var("TOWPATH_AGENT_KILLS").ok().and_then(|text| text.parse().ok());
    let began = std::process::id().into();
    for seed in began..began + many.unwrap_or(3) {
        interrupted(seed);
    }
}
