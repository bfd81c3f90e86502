//! Recipes from a remote client: as runs of the real program, seen by every client, in conversations that
//! later runs continue.

use super::page_client::Page;
use super::phone_client::{Phone, Received, key, kinds, server};
use crate::support::{Signal, User, lives, signal_to, until, with_script};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use towpath_run::Fact;

const SESSION: &str = "22222222-2222-4222-8222-222222222222";

/// An agent that works until the file `go` is there, and then reports.
fn waiting(outcome: &str) -> String {
    let run = "echo $$ > pid; until [ -e go ]; do sleep 0.02; done";
    json!({ "run": run, "text": reporting(outcome) }).to_string() + "\n"
}

fn reporting(outcome: &str) -> String {
    format!("Worked.\n\n{{\"outcome\": \"{outcome}\"}}")
}

/// The answers of the agent; one that is no outcome is an answer as it is.
fn answers(user: &User, answers: &[&str]) {
    let line = |answer: &&str| match answer.starts_with('{') {
        true => (*answer).to_owned(),
        false => Value::from(reporting(answer)).to_string() + "\n",
    };
    user.write("answers.jsonl", &answers.iter().map(line).collect::<String>());
}

fn user() -> (User, Page, String) {
    let user = User::new();
    answers(&user, &["no-issues", "committed"]);
    let page = server(&user);
    let key = key(&user);
    (user, page, key)
}

fn exited(reason: &str) -> Value {
    json!({ "type": "recipe_exited", "session_id": SESSION, "reason": reason })
}

fn complete() -> Value {
    json!({ "type": "turn_complete", "session_id": SESSION })
}

fn started(step: &str, count: u32) -> Value {
    json!({
        "type": "recipe_started", "recipe_id": "review-and-commit", "session_id": SESSION,
        "recipe_label": "Review & Commit", "current_step": step, "step_count": count,
    })
}

#[test]
fn a_key_is_printed_kept_and_replaced() {
    let user = User::new();
    let page = Page::start(&user, &[]);
    let file = user.path("home/state/ui/phone-key");
    assert!(!file.exists(), "nobody has wanted one");
    let mut refused = Phone::open(&page, "/");
    refused.next();
    refused.send(&json!({ "type": "connect", "api_key": format!("untethered-{}", page.token) }));
    assert_eq!(refused.next()["type"], "auth_error");
    assert_eq!(refused.receive(), Received::Closed(1000));
    let printed = user.towpath(&["ui", "--phone", "--no-open"]).exits(0).stdout;
    let first = key(&user);
    let line = format!("phone: ws://127.0.0.1:{} key: {first}\n", page.port);
    assert_eq!(printed, format!("{}\n{line}", page.address));
    assert_eq!(first.len(), "untethered-".len() + 32);
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    assert_ne!(first, format!("untethered-{}", page.token));
    let mut phone = Phone::connect(&page, &first);
    let printed = user.towpath(&["ui", "--phone", "--print-url"]).exits(0).stdout;
    assert!(printed.ends_with(&line), "the key stays: {printed}");
    user.towpath(&["ui", "--phone", "--new-phone-key", "--no-open"]).exits(0);
    assert_ne!(key(&user), first);
    phone.send(&json!({ "type": "ping" }));
    assert_eq!(phone.next()["type"], "auth_error", "the old key is no key any more");
    assert_eq!(phone.receive(), Received::Closed(1000));
    Phone::connect(&page, &key(&user));
    user.towpath(&["ui", "--new-phone-key"]).exits(2);
}

#[test]
fn every_client_sees_the_same_and_one_that_comes_later_gets_the_state() {
    let (user, page, key) = user();
    answers(&user, &["issues-found", &waiting("complete"), "no-issues", "committed"]);
    let (mut first, mut second) = (Phone::connect(&page, &key), Phone::connect(&page, &key));
    first.start(&user, SESSION, "review-and-commit");
    first.expect(started("code-review", 1));
    first.expect(json!({ "type": "ack", "message": "Starting recipe..." }));
    second.expect(started("code-review", 1));
    until("the agent works", || !user.read("pid").is_empty());
    let mut third = Phone::connect(&page, &key);
    third.expect(started("fix", 2));
    drop(first);
    user.write("go", "");
    let seen = second.until("turn_complete");
    let expected = [
        json!({ "type": "recipe_step_started", "session_id": SESSION, "step": "code-review",
                "step_count": 1 }),
        json!({ "type": "recipe_step_transition", "session_id": SESSION,
                "from_step": "code-review", "to_step": "fix" }),
        json!({ "type": "recipe_step_started", "session_id": SESSION, "step": "fix",
                "step_count": 2 }),
    ];
    assert_eq!(seen[..3], expected);
    assert_eq!(seen[seen.len() - 2..], [exited("changes-committed"), complete()]);
    assert_eq!(third.until("turn_complete"), seen[3..], "the same from where it came");
    third.send(&json!({ "type": "ping" }));
    assert_eq!(third.next()["type"], "pong", "the turn is complete once");
    let runs = page.get("runs");
    assert_eq!(runs["runs"][0]["recipe_name"], "review-and-commit", "a run like all others");
}

#[test]
fn an_exit_is_reported_once_when_the_processes_are_gone() {
    let (user, page, key) = user();
    answers(&user, &[&waiting("no-issues")]);
    let (mut phone, mut other) = (Phone::connect(&page, &key), Phone::connect(&page, &key));
    phone.start(&user, SESSION, "review-and-commit");
    phone.until("recipe_step_started");
    until("the agent works", || !user.read("pid").is_empty());
    other.exit(SESSION);
    phone.expect(exited("user-requested"));
    assert!(!lives(&user.read("pid")), "the process is gone by then");
    let aborted = json!({ "type": "turn_complete", "session_id": SESSION, "aborted": true });
    phone.expect(aborted.clone());
    let seen = other.until("turn_complete");
    assert_eq!(seen.last(), Some(&aborted));
    assert_eq!(kinds(&seen).iter().filter(|kind| **kind == "recipe_exited").count(), 1);
    assert_eq!(
        user.towpath(&["show", user.run().as_str(), "--json"]).json()["status"],
        "cancelled"
    );
    // Nothing runs there any more.
    phone.exit(SESSION);
    phone.expect(exited("user-requested"));
    phone.send(&json!({ "type": "ping" }));
    assert_eq!(phone.next()["type"], "pong");
}

#[test]
fn a_session_with_a_run_is_locked_for_another() {
    let (user, page, key) = user();
    answers(&user, &[&waiting("no-issues"), "committed"]);
    let (mut phone, mut other) = (Phone::connect(&page, &key), Phone::connect(&page, &key));
    phone.start(&user, SESSION, "review-and-commit");
    other.until("recipe_step_started");
    other.start(&user, SESSION, "rebase");
    let message = "Session is currently processing a prompt. Please wait.";
    other.expect(json!({ "type": "session_locked", "message": message, "session_id": SESSION }));
    other.expect(json!({ "type": "error", "message": message, "session_id": SESSION }));
    assert_eq!(user.runs(), 1);
    user.write("go", "");
    phone.until("turn_complete");
    answers(&user, &["nothing-to-rebase"]);
    other.until("turn_complete");
    other.start(&user, SESSION, "retrospective");
    let begun = other.until("recipe_exited");
    assert_eq!(begun[0]["recipe_id"], "retrospective", "it is free again");
}

#[test]
fn a_run_of_the_terminal_is_seen_too_and_locks_its_session() {
    let (user, page, key) = user();
    answers(&user, &[&waiting("no-issues"), "committed"]);
    let mut phone = Phone::connect(&page, &key);
    let run = ["run", "review-and-commit", "--session", SESSION];
    let mut child = user.start(&with_script(&run));
    phone.expect(started("code-review", 1));
    assert_eq!(phone.next()["type"], "recipe_step_started", "no ack: another started it");
    until("the agent works", || !user.read("pid").is_empty());
    phone.start(&user, SESSION, "review-and-commit");
    assert_eq!(kinds(&[phone.next(), phone.next()]), ["session_locked", "error"]);
    user.write("go", "");
    assert_eq!(phone.until("turn_complete").last(), Some(&complete()));
    child.wait().expect("it ends");
}

#[test]
fn a_later_run_continues_the_conversation() {
    let (user, page, key) = user();
    let mut phone = Phone::connect(&page, &key);
    phone.start(&user, SESSION, "review-and-commit");
    phone.until("turn_complete");
    let first = user.run();
    answers(&user, &["no-issues", "nothing-to-commit"]);
    // The directory is known from before; underscores are hyphens.
    phone.send(&json!({
        "type": "start_recipe", "session-id": SESSION, "recipe_id": "review_and_commit",
    }));
    let seen = phone.until("turn_complete");
    assert_eq!(seen[0], started("code-review", 1));
    assert_eq!(seen[seen.len() - 2], exited("no-changes-to-commit"));
    let second = user.run();
    assert_ne!(first, second);
    let opened = |run| {
        let facts = user.facts(run);
        let session = facts.into_iter().find_map(|fact| match fact {
            Fact::JobStarted { session, .. } => session.map(|id| id.to_string()),
            _ => None,
        });
        session.expect("a session")
    };
    assert_eq!((opened(&first), opened(&second)), (SESSION.to_owned(), SESSION.to_owned()));
    let resumed = user.towpath(&["show", second.as_str(), "--json"]).json();
    assert_eq!(resumed["directory"], user.path("work").display().to_string().as_str());
    phone.send(&json!({ "type": "refresh_sessions", "recent_sessions_limit": 1 }));
    let list = phone.next();
    assert_eq!(
        (&list["total_count"], &list["sessions"][0]["session_id"]),
        (&json!(1), &json!(SESSION))
    );
    assert_eq!(list["sessions"][0]["message_count"], 8);
    assert!(list["sessions"][0]["last_modified"].is_i64(), "{list}");
    let recent = phone.next();
    assert_eq!((&recent["type"], &recent["limit"]), (&json!("recent_sessions"), &json!(1)));
    assert!(recent["sessions"][0]["last_modified"].is_string(), "{recent}");
}

#[test]
fn a_failure_is_an_error_and_no_complete_turn() {
    let (user, page, key) = user();
    answers(&user, &["{\"error\": \"auth\"}\n"]);
    let mut phone = Phone::connect(&page, &key);
    phone.start(&user, SESSION, "review-and-commit");
    let seen = phone.until("error");
    let (exited, error) = (&seen[seen.len() - 2], &seen[seen.len() - 1]);
    assert_eq!((&exited["reason"], &error["session_id"]), (&json!("error"), &json!(SESSION)));
    assert_eq!(exited["error"], error["message"]);
    let message = error["message"].as_str().expect("a text");
    assert!(message.starts_with("code-review failed: "), "{message}");
    phone.send(&json!({ "type": "ping" }));
    assert_eq!(phone.next()["type"], "pong", "nothing came between");
    answers(&user, &["no", "Still no."]);
    user.write("answers.jsonl", "\"No.\"\n\"Still no.\"\n");
    phone.start(&user, "other", "review-and-commit");
    let seen = phone.until("turn_complete");
    let retry = seen.iter().find(|m| m["type"] == "orchestration_retry").expect("a retry");
    assert_eq!(retry["error"], "No JSON block found in response");
    assert_eq!(seen[seen.len() - 2]["reason"], "orchestration-error");
}

#[test]
fn a_guardrail_is_the_reason_of_an_exit() {
    let (user, page, key) = user();
    answers(
        &user,
        &["issues-found", "complete", "issues-found", "complete", "issues-found", "complete"],
    );
    let mut phone = Phone::connect(&page, &key);
    phone.start(&user, SESSION, "review-and-commit");
    let seen = phone.until("turn_complete");
    assert_eq!(seen[seen.len() - 2], exited("max-step-visits-exceeded:code-review"));
}

#[test]
fn a_restart_is_another_session() {
    let (user, page, key) = user();
    answers(&user, &["complete", "no-issues", "committed", "no-tasks"]);
    let mut phone = Phone::connect(&page, &key);
    phone.start(&user, SESSION, "implement-and-review-all");
    let seen = phone.until("turn_complete");
    assert_eq!(seen[seen.len() - 2], exited("restart-new-session"));
    let again = phone.until("turn_complete");
    let next = again[0]["session_id"].as_str().expect("a session").to_owned();
    assert_eq!(kinds(&again[..3]), ["recipe_started", "ack", "recipe_step_started"]);
    assert_eq!(again[1]["message"], "Starting recipe in new session...");
    assert_ne!(next, SESSION);
    assert_eq!((next.len(), &again[0]["step_count"]), (36, &json!(1)));
    assert!(again.iter().all(|m| m["type"] == "ack" || m["session_id"] == next.as_str()));
    phone.send(&json!({ "type": "subscribe", "session_id": next }));
    let history = phone.next();
    assert_eq!(history["next_seq"], 3, "one prompt and one answer: {history}");
    assert_eq!(history["messages"][1]["role"], "assistant");
    // What it missed, had it been away.
    assert_eq!(phone.until("turn_complete")[0]["reason"], "no-tasks-available");
    phone.send(&json!({ "type": "subscribe", "session_id": SESSION }));
    assert_eq!(phone.until("turn_complete")[1], exited("restart-new-session"));
    // It exists, and can be continued.
    answers(&user, &["no-issues", "committed"]);
    phone.send(
        &json!({ "type": "start_recipe", "session_id": next, "recipe_id": "review-and-commit" }),
    );
    assert_eq!(phone.until("turn_complete")[0]["session_id"], next.as_str());
}

#[test]
fn a_killed_runner_and_a_resumed_run_are_reported() {
    let (user, page, key) = user();
    answers(&user, &[&waiting("no-issues"), "committed"]);
    let mut phone = Phone::connect(&page, &key);
    phone.start(&user, SESSION, "review-and-commit");
    phone.until("recipe_step_started");
    until("the agent works", || !user.read("pid").is_empty());
    let run = user.run();
    let owner = page.get(&format!("runs/{run}"))["owner"]["pid"].as_u64().expect("an owner");
    signal_to(owner as u32, Signal::KILL);
    let seen = phone.until("error");
    assert_eq!(seen[seen.len() - 2]["reason"], "error");
    let message = seen[seen.len() - 1]["message"].as_str().expect("a text").to_owned();
    let resume = format!("; to continue: towpath resume {run}");
    assert!(message.starts_with("its process is gone") && message.ends_with(&resume), "{message}");
    assert!(!lives(&user.read("pid")), "what it started is gone, too");
    user.write("go", "");
    user.towpath(&["resume", run.as_str()]).exits(0);
    let seen = phone.until("turn_complete");
    assert_eq!(seen[0], started("code-review", 1));
    assert_eq!(seen[seen.len() - 2], exited("changes-committed"));
}

#[test]
fn a_run_outlives_the_server_and_a_client_of_the_next_one_gets_the_state() {
    let (user, mut page, key) = user();
    answers(&user, &[&waiting("no-issues"), "committed"]);
    let mut phone = Phone::connect(&page, &key);
    phone.start(&user, SESSION, "review-and-commit");
    phone.until("recipe_step_started");
    page.kill();
    let page = server(&user);
    let mut phone = Phone::connect(&page, &key);
    phone.expect(started("code-review", 1));
    user.write("go", "");
    assert_eq!(phone.until("turn_complete").last(), Some(&complete()));
}

#[test]
fn prompts_and_answers_are_the_history_of_a_session() {
    let (user, page, key) = user();
    answers(&user, &[&waiting("no-issues"), "committed"]);
    let mut phone = Phone::connect(&page, &key);
    phone.send(&json!({ "type": "subscribe", "session_id": SESSION }));
    let empty = json!({
        "type": "session_history", "session_id": SESSION, "messages": [], "first_seq": null,
        "last_seq": null, "next_seq": 1, "is_complete": true, "gap": null,
    });
    phone.expect(empty);
    phone.start(&user, SESSION, "review-and-commit");
    let pushed = phone.until("session_history").pop().expect("a history");
    assert_eq!((&pushed["first_seq"], &pushed["messages"][0]["role"]), (&json!(1), &json!("user")));
    user.write("go", "");
    let mut numbers = vec![pushed["last_seq"].as_u64().expect("a number")];
    while numbers.last() != Some(&4) {
        let pushed = phone.until("session_history").pop().expect("a history");
        assert_eq!(pushed["first_seq"], numbers[numbers.len() - 1] + 1, "nothing twice: {pushed}");
        numbers.push(pushed["last_seq"].as_u64().expect("a number"));
    }
    phone.send(&json!({ "type": "unsubscribe", "session_id": SESSION }));
    phone.send(&json!({ "type": "set_max_message_size", "size_kb": 2 }));
    phone.send(&json!({ "type": "subscribe", "session_id": SESSION, "last_seq": 1 }));
    let rest = phone.until("session_history").pop().expect("a history");
    let roles: Vec<&Value> =
        rest["messages"].as_array().expect("a list").iter().map(|m| &m["role"]).collect();
    assert_eq!(roles, ["assistant", "user", "assistant"]);
    assert!(rest.to_string().len() <= 2048);
    assert_eq!(rest["messages"][0]["text"], reporting("no-issues"));
    assert!(rest["messages"][1]["text"].as_str().expect("a text").contains("bytes left out"));
    for (bad, code) in [(json!(-1), "invalid_subscribe"), (json!("x"), "invalid_subscribe")] {
        phone.send(&json!({ "type": "subscribe", "session_id": SESSION, "last_seq": bad }));
        assert_eq!(phone.until("error").pop().expect("an error")["code"], code);
    }
}

#[test]
fn what_the_command_refuses_is_an_error() {
    let machine = "id: own\nlabel: Own\ndescription: Ours\ninitialStep: a\nguardrails: {}\nsteps:\n  a:\n    \
                   command: touch ran\n    outcomes: [success, failure]\n    onOutcome:\n      \
                   success: { action: exit, reason: done }\n      \
                   failure: { action: exit, reason: failed }\n";
    let user = User::new().file(".towpath/recipes/own.yaml", machine).file("answers.jsonl", "");
    let page = server(&user);
    let mut phone = Phone::connect(&page, &key(&user));
    phone.send(&json!({ "type": "get_available_recipes" }));
    let recipes = phone.next();
    let own = json!({ "id": "own", "label": "Own", "description": "Ours" });
    let listed = recipes["recipes"].as_array().expect("a list");
    assert!(listed.contains(&own), "{recipes}");
    assert!(listed.iter().all(|recipe| recipe["id"] != "demo"), "no recipe without states");
    phone.start(&user, SESSION, "own");
    let refused = phone.next();
    assert_eq!((&refused["type"], &refused["session_id"]), (&json!("error"), &json!(SESSION)));
    assert!(refused["message"].as_str().expect("a text").contains("trust"), "{refused}");
    assert_eq!((user.runs(), user.read("ran")), (0, String::new()));
    let mut start = json!({ "type": "start_recipe", "session_id": SESSION, "recipe_id": "own" });
    for directory in ["work", "/nowhere/at/all"] {
        start["working_directory"] = json!(directory);
        phone.send(&start);
        let message = format!("{directory} is not an absolute directory");
        phone.expect(json!({ "type": "error", "message": message, "session_id": SESSION }));
    }
    phone.start(&user, &"s".repeat(129), "own");
    phone.expect(json!({ "type": "error", "message": "session_id has more than 128 bytes" }));
    user.towpath(&["trust", "--yes", ".towpath/recipes/own.yaml"]).exits(0);
    phone.start(&user, SESSION, "own");
    let seen = phone.until("turn_complete");
    assert_eq!(seen[seen.len() - 2], exited("done"));
}

#[test]
fn a_read_only_server_starts_and_ends_nothing() {
    let user = User::new();
    answers(&user, &[&waiting("no-issues"), "committed"]);
    let page = Page::start(&user, &["--phone", "--read-only"]);
    until("there is a key", || user.path("home/state/ui/phone-key").exists());
    let mut phone = Phone::connect(&page, &key(&user));
    phone.start(&user, SESSION, "review-and-commit");
    let refused = json!({
        "type": "error", "session_id": SESSION,
        "message": "this server is read-only: it starts, resumes and ends nothing",
    });
    phone.expect(refused.clone());
    let mut child = user.start(&with_script(&["run", "review-and-commit", "--session", SESSION]));
    phone.until("recipe_step_started");
    phone.exit(SESSION);
    phone.expect(refused);
    user.write("go", "");
    phone.until("turn_complete");
    child.wait().expect("it ends");
}
