//! Clients of a server whose journal has runs: found and listed however many there are, followed, continued
//! and ended. The program is a script that notes what it is asked for.

use super::{connect, error, keyed, with_key};
use crate::support::{Running, Socket, fact, until};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::{fs, io};
use towpath_core::{JobKey, RunId, SessionId};
use towpath_engine::lock_run;
use towpath_recipe::{MachineOptions, Plan, PlannedRecipe};
use towpath_run::{Fact, JobEnd, JobStatus, Output};
use towpath_store::{NewFact, NewRun, OutputRef, Store, Summary};

/// Lists one recipe, refuses to run it, and cancels slowly.
const PROGRAM: &str = r#"#!/bin/sh
case "$1" in
list) echo '{"recipes":[{"name":"talk","kind":"machine","shadowed":false,"error":null}]}' ;;
cancel) echo "$@" >> cancelled; for _ in $(seq 600); do [ -e stop ] && exit; sleep 0.1; done ;;
*) echo "$@" > arguments; echo refused >&2; exit 1 ;;
esac
"#;

fn with_program() -> Running {
    let server = Running::with(|config| config.program = config.directory.join("program"));
    let program = server.directory.path().join("program");
    fs::write(&program, PROGRAM).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("a mode");
    with_key(server)
}

/// A state machine that checks, then asks; it begins with either.
fn machine(first: &str) -> String {
    format!(
        "id: talk\nlabel: Talk\ndescription: Talks.\ninitialStep: {first}\nguardrails: {{}}\nsteps:\n  \
         check:\n    command: 'true'\n    outcomes: [success, failure]\n    onOutcome:\n      \
         success: {{ nextStep: ask }}\n      failure: {{ action: exit, reason: bad }}\n  \
         ask:\n    prompt: Well?\n    outcomes: [done, other]\n    onOutcome:\n      \
         done: {{ action: exit, reason: done }}\n      other: {{ action: exit, reason: other }}\n"
    )
}

struct NewTalk<'a> {
    recipe: String,
    session: Option<&'a str>,
    backend: &'a str,
}

impl NewTalk<'_> {
    /// A run without an owner.
    fn add(&self, store: &mut Store, id: &str, facts: &[NewFact]) -> RunId {
        self.create(store, id, facts, &mut |_| Ok(()))
    }

    /// A run that this process owns, until its lock is removed.
    fn add_owned(&self, store: &mut Store, facts: &[NewFact]) -> RunId {
        let other = steps().add(store, "0000", &[]);
        drop(lock_run(store, &other).expect("a lock"));
        let lock = store.run_directory(&other).join("lock");
        let note = fs::read(lock).expect("the name of its owner");
        store.delete_run(&other).expect("it is deleted");
        self.create(store, "7f3k", facts, &mut |run| fs::write(run.join("lock"), &note))
    }

    fn create(
        &self,
        store: &mut Store,
        id: &str,
        facts: &[NewFact],
        claim: &mut dyn FnMut(&Path) -> io::Result<()>,
    ) -> RunId {
        let text = self.recipe.clone();
        let recipe = PlannedRecipe { source: "talk.yaml".into(), text, ..PlannedRecipe::default() };
        let conversation = self.session.map(SessionId::from);
        let machine = MachineOptions { conversation, ..MachineOptions::default() };
        let plan = Plan { recipes: vec![recipe], machine, ..Plan::default() };
        let new = NewRun {
            recipe: "talk".to_owned(),
            source: "talk.yaml".to_owned(),
            directory: "/work".into(),
            plan: json!({ "plan": plan, "options": { "backend": self.backend } }).to_string(),
            created_ms: 1,
            summary: Summary::default(),
        };
        let id = RunId::new(id).expect("an id");
        let facts = [&[fact(&Fact::Started)], facts].concat();
        store.create_claimed_run(&new, &mut |_| id.clone(), &facts, claim).expect("a run");
        id
    }
}

/// A run that begins with a step, in a session.
fn talk<'a>(first: &str, session: &'a str) -> NewTalk<'a> {
    NewTalk { recipe: machine(first), session: Some(session), backend: "claude-code" }
}

/// A run that is no conversation.
fn steps() -> NewTalk<'static> {
    let recipe = "name: ci\nsteps:\n  - {id: build, command: 'true'}\n".to_owned();
    NewTalk { recipe, session: None, backend: "claude-code" }
}

fn key(job: &str) -> JobKey {
    job.parse().expect("a key")
}

fn asked(session: &str, backend: &str) -> NewFact {
    fact(&Fact::JobStarted {
        key: key("ask#1.0.0:agent"),
        line: None,
        session: Some(SessionId::from(session)),
        backend: Some(backend.to_owned()),
        model: None,
    })
}

fn answered() -> NewFact {
    let mut end = JobEnd::new(JobStatus::Exited(0));
    end.output = Output::Text("Well.\n\n{\"outcome\": \"done\"}".to_owned());
    fact(&Fact::JobFinished { key: key("ask#1.0.0:agent"), end })
}

/// The next message about a session.
#[track_caller]
fn next_in(socket: &mut Socket, session: &str) -> Value {
    loop {
        let message = socket.json();
        if message["session_id"] == session {
            return message;
        }
    }
}

/// Returns when the server has looked at the journal.
fn look(socket: &mut Socket) {
    socket.send(&json!({ "type": "exit_recipe", "session_id": "nobody" }).to_string());
    assert_eq!(next_in(socket, "nobody")["type"], "recipe_exited");
}

fn list(socket: &mut Socket) -> Value {
    socket.send(&json!({ "type": "refresh_sessions" }).to_string());
    loop {
        let message = socket.json();
        if message["type"] == "session_list" {
            return message;
        }
    }
}

#[test]
fn every_session_is_counted_and_found_however_old_it_is() {
    let server = keyed();
    let mut store = server.store();
    for number in 0..60 {
        let session = format!("session-{number}");
        let facts = [asked(&session, "claude-code"), answered()];
        talk("ask", &session).add(&mut store, &format!("t{number:03}"), &facts);
    }
    for number in 0..201 {
        steps().add(&mut store, &format!("s{number:03}"), &[]);
    }
    let mut socket = connect(&server);
    let list = list(&mut socket);
    let sessions = list["sessions"].as_array().expect("a list");
    assert_eq!((&list["total_count"], sessions.len()), (&json!(60), 50));
    assert_eq!(sessions[0]["session_id"], "session-59", "the newest first");
    socket.send(&json!({ "type": "subscribe", "session_id": "session-0" }).to_string());
    let history = next_in(&mut socket, "session-0");
    assert_eq!((&history["type"], &history["next_seq"]), (&json!("session_history"), &json!(3)));
}

#[test]
fn a_session_is_listed_as_it_is_now() {
    let server = keyed();
    let mut socket = connect(&server);
    let mut store = server.store();
    let run = talk("ask", "c").add(&mut store, "7f3k", &[asked("c", "claude-code")]);
    let counts = |list: &Value| list["sessions"][0]["message_count"].clone();
    assert_eq!(counts(&list(&mut socket)), 1);
    store.append(&run, &[answered()], None).expect("a fact");
    assert_eq!(counts(&list(&mut socket)), 2);
    store.delete_run(&run).expect("it is deleted");
    assert_eq!(list(&mut socket)["total_count"], 0);
}

#[test]
fn a_run_is_cancelled_once_however_often_that_is_asked() {
    let server = with_program();
    let mut store = server.store();
    let run = talk("ask", "c").add_owned(&mut store, &[asked("agent-1", "claude-code")]);
    let mut socket = connect(&server);
    assert_eq!(socket.json()["type"], "recipe_started");
    // The agent's program knows the session by another name.
    for number in 0..40 {
        let session = if number % 2 == 0 { "c" } else { "agent-1" };
        socket.send(&json!({ "type": "exit_recipe", "session_id": session }).to_string());
    }
    // Both need a thread while the command waits.
    socket.send(&json!({ "type": "get_command_history" }).to_string());
    assert_eq!(socket.json()["type"], "command_history");
    assert_eq!(server.get("/api/v1/runs").status, 200);
    let cancelled = server.directory.path().join("cancelled");
    until("it is being cancelled", || cancelled.exists());
    fs::remove_file(store.run_directory(&run).join("lock")).expect("the owner is gone");
    fs::write(server.directory.path().join("stop"), "").expect("a file");
    // Whoever asks when nothing runs any more is answered alone.
    let is_answer = |message: &Value| message["reason"] == "user-requested";
    let mut ends = std::iter::from_fn(|| Some(socket.json())).filter(|m| !is_answer(m));
    let kinds = [ends.next(), ends.next()].map(|end| end.expect("a message")["type"].clone());
    assert_eq!(kinds, ["recipe_exited", "error"]);
    assert_eq!(fs::read_to_string(cancelled).expect("a text"), "cancel -- 7f3k\n");
}

#[test]
fn an_error_of_the_journal_loses_no_message() {
    let server = keyed();
    let mut store = server.store();
    let check = key("check#1.0.0:bash");
    let facts = [fact(&Fact::job_started(check.clone()))];
    let run = talk("check", "c").add_owned(&mut store, &facts);
    let mut socket = connect(&server);
    assert_eq!(socket.json()["type"], "recipe_started");
    let mut end = JobEnd::new(JobStatus::Exited(0));
    end.output = Output::OnDisk { len: 5 };
    let finished = fact(&Fact::JobFinished { key: check, end });
    let stdout = Some(OutputRef::File { name: "2.stdout".to_owned(), len: 5, sum: None });
    store.append(&run, &[NewFact { stdout, ..finished }], None).expect("a fact");
    look(&mut socket);
    fs::write(store.run_directory(&run).join("2.stdout"), "fine\n").expect("an output");
    store.append(&run, &[asked("c", "claude-code")], None).expect("a fact");
    let moved = json!({
        "type": "recipe_step_transition", "session_id": "c", "from_step": "check", "to_step": "ask",
    });
    assert_eq!(next_in(&mut socket, "c"), moved);
    let entered = json!({
        "type": "recipe_step_started", "session_id": "c", "step": "ask", "step_count": 2,
    });
    assert_eq!(next_in(&mut socket, "c"), entered);
}

#[test]
fn an_end_that_cannot_be_read_is_an_error() {
    let server = keyed();
    let mut store = server.store();
    let run = talk("ask", "c").add_owned(&mut store, &[asked("c", "claude-code")]);
    let mut socket = connect(&server);
    assert_eq!(socket.json()["type"], "recipe_started");
    store.append(&run, &[NewFact::new(3, "ended", "{")], None).expect("a fact");
    fs::remove_file(store.run_directory(&run).join("lock")).expect("the owner is gone");
    socket.send(&json!({ "type": "exit_recipe", "session_id": "nobody" }).to_string());
    let exited = next_in(&mut socket, "c");
    assert_eq!((&exited["type"], &exited["reason"]), (&json!("recipe_exited"), &json!("error")));
    let why = exited["error"].as_str().expect("a text");
    assert!(why.starts_with("the end of run 7f3k cannot be read: "), "{why}");
    let error = next_in(&mut socket, "c");
    assert_eq!((&error["type"], &error["message"]), (&json!("error"), &json!(why)));
}

#[test]
fn a_session_is_continued_by_the_agent_that_has_it() {
    let server = with_program();
    let mut store = server.store();
    let facts = |session, backend| [asked(session, backend), answered()];
    talk("ask", "c").add(&mut store, "1111", &facts("agent-1", "claude-code"));
    let mut socket = connect(&server);
    let mut arguments = |provider: Option<&str>| {
        let start = json!({
            "type": "start_recipe", "session_id": "c", "recipe_id": "talk", "provider": provider,
            "working_directory": server.directory.path(),
        });
        socket.send(&start.to_string());
        let refused = json!({ "type": "error", "message": "refused", "session_id": "c" });
        while socket.json() != refused {}
        let arguments = fs::read_to_string(server.directory.path().join("arguments"));
        let arguments = arguments.expect("a text").trim_end().to_owned();
        let flags = arguments.strip_prefix("run --quiet --conversation=c ").expect("a start");
        flags.strip_suffix(" -- talk").expect("a recipe").to_owned()
    };
    assert_eq!(arguments(Some("claude")), "--session=agent-1 --backend=claude-code");
    assert_eq!(arguments(None), "--session=agent-1 --backend=claude-code");
    assert_eq!(arguments(Some("copilot")), "--backend=github-copilot");
    let other = NewTalk { backend: "github-copilot", ..talk("ask", "c") };
    other.add(&mut store, "2222", &facts("agent-2", "github-copilot"));
    assert_eq!(arguments(None), "--session=agent-2 --backend=github-copilot");
    assert_eq!(arguments(Some("copilot")), "--session=agent-2 --backend=github-copilot");
    assert_eq!(arguments(Some("claude")), "--session=agent-1 --backend=claude-code");
}

#[test]
fn a_refused_start_is_not_answered_when_another_client_starts_there() {
    let server = with_program();
    let mut socket = connect(&server);
    let start = json!({
        "type": "start_recipe", "session_id": "c", "recipe_id": "nope",
        "working_directory": server.directory.path(),
    });
    socket.send(&start.to_string());
    error(&mut socket, "Recipe not found: nope");
    let mut store = server.store();
    talk("ask", "c").add_owned(&mut store, &[]);
    assert_eq!(next_in(&mut socket, "c")["type"], "recipe_started");
    assert_eq!(socket.json()["type"], "recipe_step_started", "no ack");
}
