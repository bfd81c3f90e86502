//! Claude Code (`claude`), driven in print mode with one JSON object a line. The prompt goes by
//! standard input: one argument takes 131,071 bytes at most, and a prompt may begin with `-`.
//! Background tasks are off: a task that ends after the answer would add a turn and replace it.

mod fault;
mod reader;
mod usage;

use crate::backend::{Backend, Reader};
use crate::backend_row::BackendRow;
use crate::call::Call;
use crate::capabilities::{AsRoot, Capabilities, SessionIds, UsageOf, WithoutModel};
use crate::invocation::{InputFile, Invocation, LONGEST_ARGUMENT};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) const ROW: BackendRow = BackendRow {
    id: "claude-code",
    title: "Claude Code",
    programs: &["claude"],
    variable: Some("CLAUDE_CLI_PATH"),
    known: &["~/.claude/local/claude"],
    model_variable: Some("ANTHROPIC_MODEL"),
    install: "npm install -g @anthropic-ai/claude-code",
    by_hand: Some("claude --resume "),
    can: Capabilities {
        session_ids: SessionIds::Chosen,
        uuid_sessions: true,
        resume_elsewhere: true,
        tiers: true,
        without_model: WithoutModel::Named("default"),
        system_prompt: true,
        modes: Some(&["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"]),
        usage: UsageOf::Call,
        cost: true,
        limit_reset: true,
        reports_retries: true,
        lingers: false,
        as_root: Some(AsRoot {
            variable: "IS_SANDBOX",
            mode: "bypassPermissions",
            directory: ("CLAUDE_CONFIG_DIR", ".claude"),
            managed: "/etc/claude-code/managed-settings.json",
        }),
    },
    make: Some(|program, _| Arc::new(ClaudeCode::new(program))),
};

/// Where instructions are that do not fit into an argument.
const SYSTEM: &str = "system.md";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaudeCode {
    program: PathBuf,
    /// Settings beside the user's own, as JSON.
    settings: Option<String>,
}

impl ClaudeCode {
    pub fn new(program: PathBuf) -> ClaudeCode {
        ClaudeCode { program, settings: None }
    }

    /// With settings that are added to the user's own: the hooks of both run.
    pub fn with_settings(self, settings: String) -> ClaudeCode {
        ClaudeCode { settings: Some(settings), ..self }
    }
}

impl Backend for ClaudeCode {
    fn row(&self) -> &'static BackendRow {
        &ROW
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
        if let Some(settings) = &self.settings {
            arguments.extend(["--settings".into(), settings.into()]);
        }
        if let Some(session) = &call.session {
            let flag = if call.resume { "--resume" } else { "--session-id" };
            arguments.extend([flag.into(), session.as_str().into()]);
        }
        let mut writes = Vec::new();
        if let (Some(system), false) = (&call.system, call.resume) {
            let flag =
                if call.appends_system { "--append-system-prompt" } else { "--system-prompt" };
            if system.len() <= LONGEST_ARGUMENT {
                // As one word: the text may begin with a dash.
                arguments.push(format!("{flag}={system}").into());
            } else {
                let contents = system.clone().into_bytes();
                writes.push(InputFile { name: SYSTEM, contents });
                arguments.push(format!("{flag}-file").into());
                arguments.push(call.private.join(SYSTEM).into());
            }
        }
        Invocation {
            program: self.program.clone(),
            arguments,
            set: vec![("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS".into(), "1".into())],
            stdin: call.prompt.clone().into_bytes(),
            writes,
            ..Invocation::default()
        }
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
        let made = ClaudeCode::new("/bin/claude".into()).invocation(call);
        made.arguments.join(" ".as_ref()).into_string().unwrap()
    }

    #[test]
    fn instructions_replace_the_programs_own_or_are_added_to_them() {
        let instructed = Call { system: Some("- Be brief.".into()), ..call() };
        assert!(arguments(&instructed).ends_with("--system-prompt=- Be brief."));
        let beside = Call { appends_system: true, ..instructed };
        assert!(arguments(&beside).ends_with("--append-system-prompt=- Be brief."));
        let long = Call { system: Some("x".repeat(200_000)), ..beside };
        assert!(arguments(&long).contains(" --append-system-prompt-file "));
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
    fn settings_are_added_to_every_call() {
        let claude = ClaudeCode::new("/bin/claude".into()).with_settings("{\"hooks\":{}}".into());
        for resume in [false, true] {
            let call = Call { session: Some("u-1".into()), resume, ..call() };
            let made = claude.invocation(&call).arguments.join(" ".as_ref());
            let made = made.into_string().unwrap();
            assert!(made.contains(" --settings {\"hooks\":{}} "), "{made}");
        }
    }

    #[test]
    fn a_mode_replaces_skipped_permissions_and_instructions_open_a_session() {
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
    fn instructions_too_long_for_an_argument_go_by_a_file() {
        let long = "word ".repeat(40_000);
        let private = PathBuf::from("/run/1.agent");
        let instructed = Call { system: Some(long.clone()), private, ..call() };
        assert!(arguments(&instructed).ends_with(" --system-prompt-file /run/1.agent/system.md"));
        let made = ClaudeCode::new("/bin/claude".into()).invocation(&instructed);
        assert_eq!(made.writes, [InputFile { name: "system.md", contents: long.into_bytes() }]);
    }

    #[test]
    fn the_prompt_goes_by_stdin_only() {
        let made = ClaudeCode::new("/bin/claude".into()).invocation(&call());
        assert_eq!(made.stdin, b"- do\nit");
        assert_eq!(made.program, PathBuf::from("/bin/claude"));
    }

    /// As root the program skips permissions only in a sandbox: whether it is in one, we
    /// cannot know. The user's own variable is passed on.
    #[test]
    fn background_tasks_are_off_and_a_sandbox_is_the_users_to_claim() {
        let claude = ClaudeCode::new("/bin/claude".into());
        let background = (OsString::from("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"), "1".into());
        assert_eq!(claude.invocation(&call()).set, [background]);
        assert!(claude.keeps("IS_SANDBOX"));
    }
}
