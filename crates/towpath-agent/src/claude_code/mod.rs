//! Claude Code (`claude`), driven in print mode with one JSON object a line. The prompt goes by
//! standard input: one argument holds 131,071 bytes at most, and a prompt may begin with `-`.
//! Background tasks are off: a task that ends after the answer would add a turn and replace it.

mod doing;
mod fault;
mod reader;
mod usage;

use crate::backend::{Backend, Reader};
use crate::call::{Call, Invocation};
use crate::environment;
use crate::table::BackendRow;
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) const ROW: BackendRow = BackendRow {
    id: "claude-code",
    title: "Claude Code",
    programs: &["claude"],
    variable: Some("CLAUDE_CLI_PATH"),
    known: &["~/.claude/local/claude"],
    modes: Some(&["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"]),
    install: "npm install -g @anthropic-ai/claude-code",
    make: Some(|program, root| Box::new(ClaudeCode::new(program, root))),
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaudeCode {
    program: PathBuf,
    root: bool,
}

impl ClaudeCode {
    /// `root`: we run as root, where the program skips permissions only if told that it is in a
    /// sandbox.
    pub fn new(program: PathBuf, root: bool) -> ClaudeCode {
        ClaudeCode { program, root }
    }
}

impl Backend for ClaudeCode {
    fn id(&self) -> &'static str {
        ROW.id
    }

    fn invocation(&self, call: &Call) -> Invocation {
        let mut arguments: Vec<OsString> = match &call.mode {
            Some(mode) => vec!["--permission-mode".into(), mode.into()],
            None => vec!["--dangerously-skip-permissions".into()],
        };
        arguments
            .extend(["--print", "--output-format", "stream-json", "--verbose"].map(Into::into));
        if let Some(model) = &call.model {
            arguments.extend(["--model".into(), model.into()]);
        }
        if let Some(session) = &call.session {
            let flag = if call.resume { "--resume" } else { "--session-id" };
            arguments.extend([flag.into(), session.into()]);
        }
        if let (Some(system), false) = (&call.system, call.resume) {
            // As one word: the text may begin with a dash.
            arguments.push(format!("--system-prompt={system}").into());
        }
        let mut set = vec![("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS".into(), "1".into())];
        if self.root {
            set.push(("IS_SANDBOX".into(), "1".into()));
        }
        Invocation {
            program: self.program.clone(),
            arguments,
            set,
            remove: environment::removed(),
            stdin: call.prompt.clone().into_bytes(),
        }
    }

    fn keeps(&self, variable: &str) -> bool {
        environment::keeps(variable)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::ClaudeReader::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> Call {
        Call { prompt: "- do\nit".into(), directory: "/w".into(), ..Call::default() }
    }

    fn arguments(call: &Call) -> String {
        let made = ClaudeCode::new("/bin/claude".into(), false).invocation(call);
        made.arguments.join(" ".as_ref()).into_string().unwrap()
    }

    #[test]
    fn a_new_session_is_named_and_a_resumed_one_resumed() {
        const ALWAYS: &str =
            "--dangerously-skip-permissions --print --output-format stream-json --verbose";
        assert_eq!(arguments(&call()), ALWAYS);
        let new = Call { session: Some("u-1".into()), model: Some("opus".into()), ..call() };
        assert_eq!(arguments(&new), format!("{ALWAYS} --model opus --session-id u-1"));
        let again = Call { resume: true, ..new };
        assert_eq!(arguments(&again), format!("{ALWAYS} --model opus --resume u-1"));
    }

    #[test]
    fn a_mode_takes_the_place_of_skipped_permissions_and_instructions_open_a_session() {
        let plan = Call { mode: Some("plan".into()), system: Some("- Be brief.".into()), ..call() };
        assert_eq!(
            arguments(&plan),
            "--permission-mode plan --print --output-format stream-json --verbose \
             --system-prompt=- Be brief."
        );
        let again = Call { session: Some("u-1".into()), resume: true, ..plan };
        assert!(!arguments(&again).contains("system-prompt"), "the session knows them");
    }

    #[test]
    fn the_prompt_goes_by_stdin_only() {
        let made = ClaudeCode::new("/bin/claude".into(), false).invocation(&call());
        assert_eq!(made.stdin, b"- do\nit");
        assert_eq!(made.program, PathBuf::from("/bin/claude"));
    }

    #[test]
    fn only_root_says_that_it_is_in_a_sandbox() {
        let set = |root| ClaudeCode::new("/bin/claude".into(), root).invocation(&call()).set;
        let background = (OsString::from("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"), "1".into());
        assert_eq!(set(false), std::slice::from_ref(&background));
        assert_eq!(set(true), [background, ("IS_SANDBOX".into(), "1".into())]);
    }
}
