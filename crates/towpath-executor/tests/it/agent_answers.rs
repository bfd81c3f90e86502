//! Agent calls, answered by programs that print what the real ones have printed.

use crate::support::{Run, Seen, job};
use jiff::tz::TimeZone;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use towpath_core::FaultKind;
use towpath_executor::{
    AgentWork, Call, EndStatus, Executor as _, ExecutorError, Finished, JobSpec, LocalAgents, Work,
    backend_row,
};

/// What the program of a backend printed in one call.
pub fn recorded(backend: &str) -> String {
    let file = format!("../towpath-agent/tests/recorded/{backend}.jsonl");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A backend whose program is this bash text.
pub fn backend(id: &str, directory: &Path, program: &str) -> LocalAgents {
    let path = program_file(directory, program);
    let make = backend_row(id).and_then(|row| row.make).expect("a backend with a program");
    LocalAgents::Program(make(path, TimeZone::UTC))
}

fn program_file(directory: &Path, text: &str) -> PathBuf {
    let path = directory.join("agent");
    fs::write(&path, format!("#!/bin/bash\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

pub fn call(directory: &Path, id: u32, prompt: &str) -> JobSpec {
    let call = Call { prompt: prompt.into(), ..Call::default() };
    JobSpec {
        key: format!("s{id}#1.0.0:agent").parse().unwrap(),
        work: Work::Agent(Box::new(AgentWork { call, ..AgentWork::default() })),
        ..job(directory, id, "")
    }
}

/// Makes one call of a program that reads its input and runs this text.
fn answered(id: &str, program: &str) -> (Finished, Seen) {
    let programs = tempfile::tempdir().unwrap();
    let mut run = Run::with(backend(id, programs.path(), program));
    let job = call(run.directory.path(), 1, "do it");
    run.start(job);
    let end = run.end_of(1);
    (end, run.seen)
}

fn printing(text: &str, then: &str) -> String {
    format!("cat > /dev/null\ncat <<'RECORDED'\n{}\nRECORDED\n{then}", text.trim_end())
}

pub fn recorded_lines_are_an_answer() {
    for id in ["codex", "github-copilot", "cursor", "gemini", "opencode"] {
        let file = id.trim_start_matches("github-");
        let (end, seen) = answered(id, &printing(&recorded(file), ""));
        assert_eq!(end.status, EndStatus::Exited(0), "{id}: {end:?}");
        let answer = end.answer.unwrap_or_else(|| panic!("{id} has no answer"));
        assert!(!answer.is_empty(), "{id}");
        assert_eq!(seen.stdout_of("s1"), format!("{answer}\n"), "{id}: it is the step's output");
        let session = end.session.unwrap_or_else(|| panic!("{id} has no session"));
        assert_eq!(seen.sessions.first(), Some(&session), "{id}");
    }
}

pub fn what_is_seen_on_the_way() {
    let (end, seen) = answered("codex", &printing(&recorded("codex"), ""));
    assert_eq!(end.answer.as_deref(), Some("Hello.\n{\"outcome\": \"ok\"}"));
    assert_eq!(seen.sessions, ["t-1".into()]);
    assert!(seen.activities.iter().any(|a| a == "Bash echo hi; exit 3"), "{seen:?}");
    let usage = end.session_total.or(end.usage).expect("what it cost");
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(300), Some(30)));
}

pub fn a_program_that_dies_is_a_fault_with_its_last_words() {
    let lines = recorded("codex");
    let begun = lines.lines().take(3).collect::<Vec<_>>().join("\n");
    let (end, _) = answered("codex", &printing(&begun, "echo no such model >&2; exit 9"));
    assert!(
        matches!(end.status, EndStatus::Faulted { kind: FaultKind::Crash, .. }),
        "{:?}",
        end.status
    );
    assert!(end.message.as_ref().is_some_and(|m| m.contains("no such model")), "{end:?}");
    assert!(end.answer.is_none());
}

pub fn without_a_backend_no_call_is_made() {
    let mut run = Run::new();
    let job = call(run.directory.path(), 1, "do it");
    assert!(matches!(run.executor.start(job), Err(ExecutorError::NoBackend)));
    assert_eq!(run.finish(2, "exit 3").status, EndStatus::Exited(3));
}
