//! Machines on the real agent programs, answered by a scripted model server on loopback: what each
//! must do to be an agent of ours.

use crate::set_up_real_program::model_server::{Answer, ModelServer};
use crate::set_up_real_program::{
    Agent, CLAUDE_CODE, CODEX, COPILOT, GEMINI, ONE, OPENCODE, STAY, interrupt, nothing_is_left,
};
use crate::support::{User, lives};
use serde_json::{Value, json};

const FIX: &str = "
id: fix
label: Fix
description: Three steps in one conversation
initialStep: edit
guardrails: {}
steps:
  edit:
    prompt: Write made.txt, first of all.
    outcomes: [edited]
    onOutcome: {edited: {nextStep: judge}}
  judge:
    prompt: Answer whether it is good.
    outcomes: [good, bad]
    onOutcome: {good: {nextStep: commit}, bad: {nextStep: edit}}
  commit:
    prompt: Commit it.
    outcomes: [committed]
    onOutcome: {committed: {action: exit, reason: changes-committed}}
";

const REFUSED: Answer = Answer::Error(401, &[], "bad key");

/// Three steps, a tool, a reminder, then a key that is refused; and with a good one on to the end.
fn walks(agent: &Agent, cost: &str) {
    let user = User::new().file("fix.yaml", FIX);
    let server = ModelServer::new(vec![
        agent.tool("echo by an agent > made.txt"),
        Answer::Text("Written.\n{\"outcome\": \"edited\"}"),
        Answer::Text("It looks good to me."),
        Answer::Text("{\"outcome\": \"good\"}"),
        // One program asks three times before it believes it.
        REFUSED,
        REFUSED,
        REFUSED,
    ]);
    let printed = agent.run(&user, &server, &["as", "agent-recipes", "fix.yaml"]).exits(4);
    let printed = printed.reports("auth").reports("nothing is lost: towpath resume").reports(cost);
    let printed = printed.prints(
        "Written.\n{\"outcome\": \"edited\"}\nIt looks good to me.\n{\"outcome\": \"good\"}\n\
         Exit: backend-error\n",
    );
    assert_eq!(user.read("made.txt"), "by an agent\n");
    drop(printed);

    server.now(vec![Answer::Text("Done.\n{\"outcome\": \"committed\"}")]);
    let result = agent.run(&user, &server, &["resume", "--last", "--json"]).exits(0).json();
    let machine = &result["machine"];
    assert_eq!(machine["reason"], "changes-committed", "{result:#}");
    assert_eq!(machine["stepVisitCounts"], json!({"edit": 1, "judge": 1, "commit": 1}));
    assert_eq!(used(&result), [(200, 20), (100, 10), (100, 10), (100, 10)], "{result:#}");

    let requests = server.requests();
    assert_eq!(requests.len(), 1, "the finished steps were not asked again");
    let reported = requests[0].to_string();
    for part in ["first of all", "Written.", "looks good to me", "did not include", "Commit it"] {
        assert!(reported.contains(part), "the conversation has no {part:?}: {reported}");
    }
    nothing_is_left(&user);
    is_seen(&user, agent, machine["sessionId"].as_str().expect("a session"));
}

/// What it did can be read afterwards, its answer apart, and its conversation continued by hand.
fn is_seen(user: &User, agent: &Agent, session: &str) {
    let run = user.run();
    let printed = user.towpath(&["logs", run.as_str(), "edit"]).exits(0);
    let did = |line: &str| line.starts_with("  ") && line.contains("echo by an agent > made.txt");
    assert!(printed.stderr.lines().any(did), "{}", printed.stderr);
    assert!(!printed.stderr.contains("Written."), "the answer twice: {}", printed.stderr);
    printed.prints("Written.\n{\"outcome\": \"edited\"}\n");
    let row = towpath_agent::backend_row(agent.backend).expect("a backend");
    let command = row.by_hand(session).expect("a way to continue by hand");
    user.towpath(&["show", run.as_str()]).exits(0).shows(&command);
}

/// What each call that reported something has used, of tokens in and out.
fn used(result: &Value) -> Vec<(u64, u64)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let calls = list(&result["steps"]).into_iter().flat_map(|step| list(&step["calls"]));
    let failed = |call: &Value| call["error"].as_str().is_some_and(|e| e.starts_with("agent: "));
    let reported = calls.filter(|call| !failed(call));
    let count = |call: &Value, of: &str| call[of].as_u64().unwrap_or(u64::MAX);
    reported.map(|call| (count(&call, "input_tokens"), count(&call, "output_tokens"))).collect()
}

/// Interrupted in the middle of a tool nothing is left, and the same conversation continues.
fn is_interrupted(agent: &Agent) {
    let user = User::new().file("one.yaml", ONE);
    let server = ModelServer::new(vec![agent.tool(STAY)]);
    let runner = agent.in_a_tool(&user, &server, &["as", "agent-recipes", "one.yaml"]);
    assert_eq!(interrupt(runner), Some(130));
    nothing_is_left(&user);
    assert!(!lives(&user.read("fg.pid")) && !lives(&user.read("bg.pid")));

    server.now(vec![Answer::Text("{\"outcome\": \"edited\"}")]);
    let result = agent.run(&user, &server, &["resume", "--last", "--json"]).exits(0).json();
    assert_eq!(result["machine"]["reason"], "edited", "{result:#}");
    let reported = server.requests()[0].to_string();
    assert_eq!(
        reported.matches("first of all").count(),
        2,
        "asked again in one session: {reported}"
    );
}

/// A small model for the first step; the second names none and gets the program's own again.
const SMALL: &str = "
id: small
label: Small
description: A small model for the first step
initialStep: first
guardrails: {}
steps:
  first:
    prompt: Begin.
    model: haiku
    outcomes: [go]
    onOutcome: {go: {nextStep: second}}
  second:
    prompt: Continue.
    outcomes: [go]
    onOutcome: {go: {action: exit, reason: went}}
";

fn takes_its_own_model_again(agent: &Agent, settings: &str) {
    let user = User::new().file("small.yaml", SMALL);
    std::fs::create_dir_all(user.path("home/config")).expect("a folder");
    std::fs::write(user.path("home/config/settings.toml"), settings).expect("settings");
    let server = ModelServer::always(Answer::Text("{\"outcome\": \"go\"}"));
    let printed = agent.run(&user, &server, &["run", "small.yaml"]).exits(0);
    assert!(!printed.stderr.contains("of an earlier step"), "{}", printed.stderr);
    let models: Vec<String> = server.requests().iter().map(|r| r["model"].to_string()).collect();
    let small = |model: &String| model.contains("haiku") || model.contains("small");
    assert_eq!(models.iter().map(small).collect::<Vec<_>>(), [true, false], "{models:?}");
}

#[test]
fn claude_code_takes_its_own_model_again() {
    takes_its_own_model_again(&CLAUDE_CODE, "");
}

#[test]
fn copilot_takes_its_own_model_again() {
    takes_its_own_model_again(&COPILOT, "[models.github-copilot]\nhaiku = \"small\"\n");
}

#[test]
fn opencode_takes_its_own_model_again() {
    let settings = "[models.opencode]\nhaiku = \"fake/small\"\ndefault = \"fake/scripted\"\n";
    takes_its_own_model_again(&OPENCODE, settings);
}

#[test]
fn claude_code_walks_a_machine() {
    walks(&CLAUDE_CODE, "Cost: $0.");
}

#[test]
fn claude_code_is_interrupted() {
    is_interrupted(&CLAUDE_CODE);
}

#[test]
fn codex_walks_a_machine() {
    walks(&CODEX, "Cost: unknown (");
}

#[test]
fn codex_is_interrupted() {
    is_interrupted(&CODEX);
}

#[test]
fn copilot_walks_a_machine() {
    walks(&COPILOT, "Cost: unknown (");
}

#[test]
fn copilot_is_interrupted() {
    is_interrupted(&COPILOT);
}

#[test]
fn gemini_walks_a_machine() {
    walks(&GEMINI, "Cost: unknown (");
}

#[test]
fn gemini_is_interrupted() {
    is_interrupted(&GEMINI);
}

/// Of a first turn that failed Gemini CLI keeps the id and nothing else. The next call tries to continue
/// with it and opens another one: one attempt, and the conversation stays there.
#[test]
fn gemini_opens_another_session_after_a_first_turn_that_failed() {
    let user = User::new().file("one.yaml", ONE);
    let server = ModelServer::new(vec![REFUSED]);
    let arguments = ["as", "agent-recipes", "one.yaml", "--calls", "calls.jsonl"];
    GEMINI.run(&user, &server, &arguments).exits(4).reports("auth");

    server.now(vec![Answer::Text("Written."), Answer::Text("{\"outcome\": \"edited\"}")]);
    let result = GEMINI.run(&user, &server, &["resume", "--last", "--json"]).exits(0).json();
    assert_eq!(result["machine"]["reason"], "edited", "{result:#}");
    assert_eq!(result["steps"][0]["attempts"], 2, "{result:#}");
    let reported = server.requests().last().expect("two").to_string();
    assert!(reported.contains("Written.") && reported.contains("did not include"), "{reported}");
    let calls = user.read("calls.jsonl");
    let calls: Vec<Value> = calls.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let hows: Vec<&str> = calls.iter().map(|call| call["how"].as_str().unwrap()).collect();
    assert_eq!(hows, ["new", "resume", "new", "resume"]);
    let session = |at: usize| calls[at]["session"].as_str().unwrap();
    assert_eq!((session(0), session(2)), (session(1), session(3)));
    assert_ne!(session(0), session(2));
}

#[test]
fn opencode_walks_a_machine() {
    walks(&OPENCODE, "Cost: $0.");
}

#[test]
fn opencode_is_interrupted() {
    is_interrupted(&OPENCODE);
}
