//! Gemini CLI (`gemini`), with one JSON object a line and the prompt by standard input. A new
//! session gets an id of our choosing, and is found again only from the directory it began in.
//! What goes wrong is shown by the process's exit code more than by its text.

mod fault;
mod reader;

use crate::backend::{Backend, Reader};
use crate::backend_row::BackendRow;
use crate::call::Call;
use crate::capabilities::{Capabilities, SessionIds, UsageOf, WithoutModel};
use crate::invocation::Invocation;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) const ROW: BackendRow = BackendRow {
    id: "gemini",
    title: "Gemini CLI",
    programs: &["gemini"],
    variable: Some("GEMINI_CLI_PATH"),
    known: &["~/.local/bin/gemini", "/usr/local/bin/gemini"],
    model_variable: None,
    install: "npm install -g @google/gemini-cli",
    by_hand: Some("gemini --resume "),
    can: Capabilities {
        session_ids: SessionIds::ChosenOnce,
        uuid_sessions: false,
        resume_elsewhere: false,
        tiers: false,
        without_model: WithoutModel::Own,
        system_prompt: false,
        modes: Some(&["default", "auto_edit", "plan", "yolo"]),
        usage: UsageOf::Call,
        cost: false,
        limit_reset: true,
        reports_retries: false,
        lingers: false,
        as_root: None,
    },
    make: Some(|program, _| Arc::new(Gemini::new(program))),
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gemini {
    program: PathBuf,
}

impl Gemini {
    pub fn new(program: PathBuf) -> Gemini {
        Gemini { program }
    }
}

impl Backend for Gemini {
    fn row(&self) -> &'static BackendRow {
        &ROW
    }

    fn invocation(&self, call: &Call) -> Invocation {
        let mode = call.mode.as_deref().unwrap_or("yolo");
        // Running a recipe is consent to what it does here: a folder nobody has trusted yet would
        // end every call.
        let mut arguments: Vec<OsString> =
            ["--output-format", "stream-json", "--skip-trust", "--approval-mode", mode]
                .map(Into::into)
                .into();
        arguments.extend(call.model_argument());
        if let Some(session) = &call.session {
            let flag = if call.resume { "--resume" } else { "--session-id" };
            arguments.push(format!("{flag}={session}").into());
        }
        let stdin = call.prompt_with_system();
        Invocation {
            // It restarts itself to have more memory, and the outer process then passes no
            // signal on.
            set: vec![("GEMINI_CLI_NO_RELAUNCH".into(), "true".into())],
            ..Invocation::new(&self.program, arguments, stdin)
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::GeminiReader::default())
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
            ..Call::default()
        }
    }

    fn made(call: &Call) -> Invocation {
        Gemini::new("/bin/gemini".into()).invocation(call)
    }

    fn arguments(call: &Call) -> String {
        made(call).arguments.join(" ".as_ref()).into_string().unwrap()
    }

    #[test]
    fn a_new_session_is_named_and_a_resumed_one_resumed() {
        const ALWAYS: &str = "--output-format stream-json --skip-trust --approval-mode";
        assert_eq!(arguments(&call()), format!("{ALWAYS} yolo --session-id=u-1"));
        let again = Call { resume: true, model: Some("gemini-2.5-pro".into()), ..call() };
        let expected = format!("{ALWAYS} yolo --model=gemini-2.5-pro --resume=u-1");
        assert_eq!(arguments(&again), expected);
        let plan = Call { mode: Some("plan".into()), session: None, ..call() };
        assert_eq!(arguments(&plan), format!("{ALWAYS} plan"));
    }

    #[test]
    fn the_prompt_goes_by_stdin_after_the_instructions_of_a_new_session() {
        let instructed = Call { system: Some("Be brief.".into()), ..call() };
        assert_eq!(made(&instructed).stdin, b"Be brief.\n\n- do\nit");
        assert_eq!(made(&Call { resume: true, ..instructed }).stdin, b"- do\nit");
    }

    #[test]
    fn one_process_that_hears_signals() {
        let relaunch = (OsString::from("GEMINI_CLI_NO_RELAUNCH"), OsString::from("true"));
        assert_eq!(made(&call()).set, [relaunch]);
    }
}
