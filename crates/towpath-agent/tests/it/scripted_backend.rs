//! Scripts: what they accept, which line a call takes, and what its child really does.

use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::process::Command;
use towpath_agent::{
    Backend as _, Call, CallFault, CallProgress, End, Exit, Reply, Script, Scripted,
};
use towpath_core::{FaultKind, StepPath, Usage};

fn step(path: &str) -> StepPath {
    StepPath::new(path)
}

fn call(directory: &Path) -> Call {
    Call { prompt: "p".into(), directory: directory.into(), ..Call::default() }
}

/// Runs the one line of a script as the engine would.
fn run(directory: &Path, line: &str) -> Reply {
    let mut script = Script::parse("s.jsonl", line).unwrap();
    let taken = script.take(&step("ask"), "any prompt").unwrap();
    let backend = Scripted {
        line: script.line(taken).expect("it was taken").clone(),
        bash: "/bin/bash".into(),
    };
    let made = backend.invocation(&call(directory));
    let mut stdin = tempfile::tempfile().unwrap();
    stdin.write_all(&made.stdin).unwrap();
    stdin.rewind().unwrap();
    let output = Command::new(&made.program)
        .args(&made.arguments)
        .current_dir(directory)
        .stdin(stdin)
        .output()
        .unwrap();
    let mut reader = backend.reader();
    for line in output.stdout.split_inclusive(|&byte| byte == b'\n') {
        reader.line(line);
    }
    let stderr = String::from_utf8(output.stderr).unwrap();
    reader.end(&End::new(Exit { code: output.status.code(), signal: None }, &stderr))
}

fn fault(reply: Reply) -> (FaultKind, Option<i64>, String) {
    let CallFault { kind, until_ms, message } = reply.result.unwrap_err();
    (kind, until_ms, message)
}

#[test]
fn the_answer_arrives_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let odd = "a \"quoted\" $(line)\n\n`x` {{y}} ü\ttab\\n\n";
    let long = "0123456789abcdef\n".repeat(20_000);
    for text in ["", "one line", odd, "no newline\nat the end", long.as_str()] {
        let written = serde_json::to_string(text).unwrap();
        assert_eq!(run(dir.path(), &written).result.as_deref(), Ok(text));
        let object = format!("{{\"text\": {written}, \"delay_ms\": 1}}");
        assert_eq!(run(dir.path(), &object).result.as_deref(), Ok(text));
    }
}

#[test]
fn a_command_works_in_the_agents_directory_and_its_output_is_no_answer() {
    let dir = tempfile::tempdir().unwrap();
    let line = r#"{"text": "done", "run": "echo noise; cat; printf %s \"$PWD\" > made"}"#;
    assert_eq!(run(dir.path(), line).result.as_deref(), Ok("done"));
    let made = std::fs::read_to_string(dir.path().join("made")).unwrap();
    assert_eq!(Path::new(&made), dir.path().canonicalize().unwrap());
}

#[test]
fn a_command_that_fails_is_a_crash_with_its_words() {
    let dir = tempfile::tempdir().unwrap();
    for line in [
        r#"{"text": "done", "run": "echo no such luck >&2; exit 7"}"#,
        r#"{"error": "limit", "run": "echo no such luck; exit 7"}"#,
    ] {
        let (kind, until, message) = fault(run(dir.path(), line));
        assert_eq!((kind, until), (FaultKind::Crash, None));
        assert_eq!(message, "the scripted command ended with exit code 7: no such luck");
    }
}

#[test]
fn faults_by_name() {
    let dir = tempfile::tempdir().unwrap();
    for (line, kind, until, message) in [
        (r#"{"error": "auth"}"#, FaultKind::Auth, None, "scripted fault: auth"),
        (r#"{"error": "overloaded", "text": "busy"}"#, FaultKind::Overloaded, None, "busy"),
        (r#"{"error": "bad_request"}"#, FaultKind::BadRequest, None, "scripted fault: bad request"),
        (r#"{"error": "crash"}"#, FaultKind::Crash, None, "scripted fault: crash"),
        (r#"{"error": "timeout"}"#, FaultKind::Timeout, None, "scripted fault: timeout"),
        (r#"{"error": "it fell over"}"#, FaultKind::Crash, None, "it fell over"),
        (
            r#"{"error": "limit", "until": "1970-01-01T01:00:02+01:00"}"#,
            FaultKind::Limit,
            Some(2000),
            "scripted fault: limit",
        ),
        (
            r#"{"error": "limit", "until": 1794787064, "text": "five hours"}"#,
            FaultKind::Limit,
            Some(1_794_787_064_000),
            "five hours",
        ),
    ] {
        assert_eq!(fault(run(dir.path(), line)), (kind, until, message.to_owned()), "{line}");
    }
    let with_effect = r#"{"error": "overloaded", "run": "touch half-done"}"#;
    assert!(run(dir.path(), with_effect).result.is_err());
    assert!(dir.path().join("half-done").exists());
}

#[test]
fn session_and_usage_come_from_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let line = r#"{"text": "t", "session_id": "s-1", "input_tokens": 5, "cost_usd": 0.25}"#;
    let reply = run(dir.path(), line);
    assert_eq!(reply.session, Some("s-1".into()));
    let usage = Usage { input_tokens: Some(5), output_tokens: None, cost_usd: Some(0.25) };
    assert_eq!(reply.usage, Some(usage));
    let silent = run(dir.path(), r#""t""#);
    assert_eq!((silent.session, silent.usage), (None, None));
}

#[test]
fn lines_with_and_without_their_newlines_read_the_same() {
    let script = Script::parse("s", r#"{"text": "", "session_id": "s-1"}"#).unwrap();
    let backend = Scripted {
        line: script.line(1).expect("the first line").clone(),
        bash: "/bin/bash".into(),
    };
    for lines in [["a\n", "\n", "b"], ["a", "", "b"]] {
        let mut reader = backend.reader();
        let progress: Vec<CallProgress> =
            lines.iter().flat_map(|l| reader.line(l.as_bytes())).collect();
        let [session, a, b] = [
            CallProgress::Session("s-1".into()),
            CallProgress::Writing("a".into()),
            CallProgress::Writing("b".into()),
        ];
        assert_eq!(progress, [session, a, b]);
        assert_eq!(reader.end(&End::new(Exit::code(0), "")).result.as_deref(), Ok("a\n\nb"));
    }
}

#[test]
fn a_call_takes_the_first_unused_line_that_fits() {
    let text = "{\"text\": \"r\", \"match\": \"review\"}\n\n\"first\"\r\n\"second\"\n";
    let mut script = Script::parse("s.jsonl", text).unwrap();
    assert_eq!(script.unused(), [1, 3, 4]);
    assert_eq!(script.take(&step("ask"), "build it"), Some(3));
    assert_eq!(script.take(&step("ask"), "please review"), Some(1));
    assert_eq!(script.take(&step("ask"), "review again"), Some(4));
    assert_eq!(script.take(&step("ask"), "review again"), None);
    assert_eq!(script.line(4).expect("the fourth line").text.as_deref(), Some("second"));

    let mut resumed = Script::parse("s.jsonl", text).unwrap();
    resumed.mark_used(3);
    resumed.mark_used(99);
    assert_eq!(resumed.take(&step("ask"), "build it"), Some(4));
    assert_eq!(resumed.unused(), [1]);
}

#[test]
fn a_line_can_belong_to_a_step_and_be_taken_again() {
    let text = concat!(
        r#"{"step": "ci/review", "text": "deep"}"#,
        "\n",
        r#"{"step": "review", "text": "any", "repeat": true}"#,
        "\n",
        r#"{"step": "fix", "match": "now", "text": "fixed"}"#,
    );
    let mut script = Script::parse("s.jsonl", text).unwrap();
    assert_eq!(script.take(&step("review"), "p"), Some(2));
    assert_eq!(script.take(&step("ci#2/review#3"), "p"), Some(1));
    assert_eq!(script.take(&step("ci/review"), "p"), Some(2), "by its id, again");
    assert_eq!(script.take(&step("preview"), "p"), None);
    assert_eq!(script.take(&step("fix"), "later"), None);
    assert_eq!(
        script.exhausted(&step("fix#2")).message,
        "s.jsonl has no answer for this prompt of step fix: no unused line matches (3)"
    );
    assert_eq!(script.take(&step("fix"), "now"), Some(3));
    assert_eq!(script.unused(), [0_u32; 0]);
}

#[test]
fn running_out_is_reported() {
    let mut script =
        Script::parse("s.jsonl", "\"a\"\n{\"text\": \"b\", \"match\": \"z\"}").unwrap();
    script.take(&step("ask"), "x");
    assert_eq!(script.take(&step("ask"), "x"), None);
    let fault = script.exhausted(&step("ask"));
    assert_eq!(fault.kind, FaultKind::Backend);
    assert_eq!(fault.message, "s.jsonl has no answer for this prompt: no unused line matches (2)");
    script.take(&step("ask"), "z");
    assert_eq!(
        script.exhausted(&step("ask")).message,
        "s.jsonl has no answer left: all 2 are used"
    );
}

#[test]
fn what_is_not_understood_is_refused_with_its_location() {
    for (line, expected) in [
        (r#"{"txt": "a"}"#, "unknown key `txt`; did you mean `text`?"),
        (
            r#"{"text": "a", "zebra": 1}"#,
            "unknown key `zebra`; known are text, error, until, session_id, input_tokens, \
             output_tokens, cost_usd, delay_ms, match, step, repeat, run",
        ),
        (r#"{"text": "a", "text": "b"}"#, "`text` is there twice"),
        (r#"{"text": 7}"#, "`text` is a text, not 7"),
        (r#"{"text": "a", "delay_ms": -1}"#, "`delay_ms` is a whole number, not -1"),
        (r#"{"text": "a", "input_tokens": 1.5}"#, "`input_tokens` is a whole number, not 1.5"),
        (r#"{"text": "a", "repeat": 1}"#, "`repeat` is true or false, not 1"),
        (r#"{"text": "a", "cost_usd": -1}"#, "`cost_usd` is an amount, not -1"),
        (
            r#"{"error": "limit", "until": "soon"}"#,
            "`until` is a time such as \"2030-01-31T12:00:00Z\" or unix seconds, not \"soon\"",
        ),
        (r#"{"text": "a", "until": 1}"#, "`until` needs an `error`"),
        (r#"{"match": "a"}"#, "a line needs `text`, `error` or `run`"),
        (
            "[1]",
            "a line is a JSON text or object: invalid type: sequence, expected a text or an \
             object at column 1",
        ),
        (
            r#"{"text": "a""#,
            "a line is a JSON text or object: EOF while parsing an object at column 12",
        ),
    ] {
        let error = Script::parse("dir/s.jsonl", &format!("\"fine\"\n\n{line}\n")).unwrap_err();
        assert_eq!((error.line, error.message.as_str()), (3, expected), "{line}");
        assert_eq!(error.to_string(), format!("dir/s.jsonl:3: {expected}"));
    }
}
