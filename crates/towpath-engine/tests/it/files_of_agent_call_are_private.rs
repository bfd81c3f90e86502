//! A backend of one's own: its program is started with the files it wants, and what the program
//! leaves is handed to its reader. Both are for nobody else to see, and gone afterwards.

use crate::support::Workspace;
use std::sync::Arc;
use towpath_agent::{
    Backend, BackendRow, Call, CallProgress, End, InputFile, Invocation, Reader, Reply, backend_row,
};

const ASKS: &str = "
name: asks
steps:
  - id: ask
    prompt: Hello
    output: answer
";

/// Answers with what its program wrote, beside what it was given.
#[derive(Debug)]
struct Notes;

const PROGRAM: &str = r#"stat -c %a . in.txt > out.txt; pwd > where.txt; cat in.txt >> out.txt"#;

impl Backend for Notes {
    fn row(&self) -> &'static BackendRow {
        backend_row("scripted").expect("it is there")
    }

    fn invocation(&self, call: &Call) -> Invocation {
        let directory = call.private.to_str().expect("a plain path");
        Invocation {
            program: "/bin/bash".into(),
            arguments: ["-c", &format!("cd \"$0\"; {PROGRAM}"), directory].map(Into::into).into(),
            writes: vec![InputFile { name: "in.txt", contents: b"given\n".to_vec() }],
            reads: vec!["out.txt", "where.txt", "never-written.txt"],
            ..Invocation::default()
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(Notes)
    }
}

impl Reader for Notes {
    fn line(&mut self, _: &[u8]) -> Vec<CallProgress> {
        Vec::new()
    }

    fn end(self: Box<Self>, end: &End<'_>) -> Reply {
        assert!(end.at_ms > 0 && end.exit.success(), "{}", end.stderr);
        assert_eq!(end.file("never-written.txt"), None);
        let text = |name| String::from_utf8(end.file(name).expect(name).to_vec()).expect("text");
        Reply {
            result: Ok(text("out.txt") + &text("where.txt")),
            session: None,
            usage: None,
            session_total: None,
            denials: Vec::new(),
        }
    }
}

#[test]
fn a_calls_own_files_are_private_and_do_not_stay() {
    let workspace = Workspace::new(ASKS);
    let result = workspace.runner().backend(Arc::new(Notes)).run("recipe.yaml").expect("a result");
    let answer = result.context["answer"].as_str().expect("an answer").to_owned();
    let lines: Vec<&str> = answer.lines().collect();
    assert_eq!(lines[..3], ["700", "600", "given"]);
    let directory = std::path::Path::new(lines[3]);
    assert!(directory.is_absolute() && !directory.exists(), "{answer}");
    assert!(directory.parent().is_some_and(std::path::Path::exists), "the run's own stays");
}
