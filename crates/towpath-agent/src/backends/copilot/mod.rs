//! GitHub Copilot CLI (`copilot`), with one JSON object a line and the prompt by standard input. A
//! new session gets an id of our choosing. What was used is reported in a file only, and as the whole
//! session's total.

mod fault;
mod reader;
mod usage;

use crate::backend::{Backend, Reader};
use crate::backend_row::BackendRow;
use crate::call::Call;
use crate::capabilities::{Capabilities, SessionIds, UsageOf, WithoutModel};
use crate::invocation::Invocation;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) const ROW: BackendRow = BackendRow {
    id: "github-copilot",
    title: "GitHub Copilot CLI",
    programs: &["copilot"],
    variable: Some("COPILOT_CLI_PATH"),
    known: &["~/.local/bin/copilot"],
    model_variable: Some("COPILOT_MODEL"),
    install: "npm install -g @github/copilot",
    by_hand: Some("copilot --resume="),
    can: Capabilities {
        session_ids: SessionIds::Chosen,
        uuid_sessions: true,
        resume_elsewhere: true,
        tiers: false,
        without_model: WithoutModel::Kept,
        system_prompt: false,
        modes: Some(&["default"]),
        usage: UsageOf::Session,
        cost: false,
        limit_reset: false,
        reports_retries: true,
        lingers: false,
        as_root: None,
    },
    make: Some(|program, _| Arc::new(Copilot::new(program))),
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copilot {
    program: PathBuf,
}

impl Copilot {
    pub fn new(program: PathBuf) -> Copilot {
        Copilot { program }
    }
}

impl Backend for Copilot {
    fn row(&self) -> &'static BackendRow {
        &ROW
    }

    fn invocation(&self, call: &Call) -> Invocation {
        let mut arguments: Vec<OsString> =
            ["--output-format", "json", "--no-ask-user"].map(Into::into).into();
        // The one mode asks before it acts, and nobody answers.
        if call.mode.is_none() {
            arguments.push("--allow-all".into());
        }
        arguments.extend(call.model_argument());
        if let Some(session) = &call.session {
            // `--session-id` of a session that exists would resume it, and of one that is gone
            // would quietly begin a new one.
            let flag = if call.resume { "--resume" } else { "--session-id" };
            arguments.push(format!("{flag}={session}").into());
        }
        arguments.push("--usage-output-file".into());
        arguments.push(call.private.join(usage::FILE).into());
        let stdin = call.prompt_with_system();
        Invocation { reads: vec![usage::FILE], ..Invocation::new(&self.program, arguments, stdin) }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::CopilotReader::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> Call {
        Call {
            prompt: "- do\nit".into(),
            session: Some("u-1".into()),
            directory: "/w".into(),
            private: "/run/1.agent".into(),
            ..Call::default()
        }
    }

    fn made(call: &Call) -> Invocation {
        Copilot::new("/bin/copilot".into()).invocation(call)
    }

    fn arguments(call: &Call) -> String {
        made(call).arguments.join(" ".as_ref()).into_string().unwrap()
    }

    #[test]
    fn a_new_session_is_named_and_a_resumed_one_resumed() {
        const USAGE: &str = "--usage-output-file /run/1.agent/usage.json";
        let always = "--output-format json --no-ask-user --allow-all";
        assert_eq!(arguments(&call()), format!("{always} --session-id=u-1 {USAGE}"));
        let again = Call { resume: true, model: Some("gpt-5.4".into()), ..call() };
        assert_eq!(arguments(&again), format!("{always} --model=gpt-5.4 --resume=u-1 {USAGE}"));
        assert_eq!(made(&again).reads, ["usage.json"]);
    }

    #[test]
    fn the_default_mode_does_not_allow_all() {
        let asking = Call { mode: Some("default".into()), ..call() };
        assert!(!arguments(&asking).contains("--allow-all"));
    }

    #[test]
    fn the_prompt_goes_by_stdin_after_the_instructions_of_a_new_session() {
        let instructed = Call { system: Some("Be brief.".into()), ..call() };
        assert_eq!(made(&instructed).stdin, b"Be brief.\n\n- do\nit");
        assert_eq!(made(&Call { resume: true, ..instructed }).stdin, b"- do\nit");
    }
}
