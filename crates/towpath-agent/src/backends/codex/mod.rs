//! Codex (`codex exec`), with one JSON object a line and the prompt by standard input. The program
//! names its sessions itself, and counts tokens over a whole session. It reports its faults as
//! sentences alone; which ones it has is written down in `fault.rs`.

mod fault;
mod rate_limit_reset;
mod reader;

use crate::backend::{Backend, Reader};
use crate::backend_row::BackendRow;
use crate::call::Call;
use crate::capabilities::{Capabilities, SessionIds, UsageOf, WithoutModel};
use crate::invocation::{Invocation, LONGEST_ARGUMENT};
use jiff::tz::TimeZone;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) const ROW: BackendRow = BackendRow {
    id: "codex",
    title: "Codex",
    programs: &["codex"],
    variable: Some("CODEX_CLI_PATH"),
    known: &["~/.local/bin/codex", "/usr/local/bin/codex"],
    model_variable: None,
    install: "npm install -g @openai/codex",
    by_hand: Some("codex resume "),
    can: Capabilities {
        session_ids: SessionIds::Returned,
        uuid_sessions: true,
        resume_elsewhere: true,
        tiers: false,
        without_model: WithoutModel::Own,
        system_prompt: true,
        modes: Some(&["read-only", "workspace-write", "danger-full-access"]),
        usage: UsageOf::Session,
        cost: false,
        limit_reset: true,
        reports_retries: true,
        lingers: false,
        as_root: None,
    },
    make: Some(|program, zone| Arc::new(Codex::new(program, zone))),
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Codex {
    program: PathBuf,
    /// The program reports the end of a rate limit as a time of day.
    zone: TimeZone,
}

impl Codex {
    pub fn new(program: PathBuf, zone: TimeZone) -> Codex {
        Codex { program, zone }
    }
}

impl Backend for Codex {
    fn row(&self) -> &'static BackendRow {
        &ROW
    }

    fn invocation(&self, call: &Call) -> Invocation {
        let resumed = call.session.as_ref().filter(|_| call.resume);
        let mut arguments: Vec<OsString> = vec!["exec".into()];
        if resumed.is_some() {
            arguments.push("resume".into());
        }
        // Outside a git repository the program refuses to work without this.
        arguments.extend(["--json", "--skip-git-repo-check"].map(Into::into));
        match &call.mode {
            // `resume` has no `--sandbox`, but takes the setting.
            Some(mode) => arguments.extend(setting("sandbox_mode", mode)),
            None => arguments.push("--dangerously-bypass-approvals-and-sandbox".into()),
        }
        arguments.extend(call.model_argument());
        let mut prompt = call.prompt.clone();
        if let (Some(system), None) = (&call.system, resumed) {
            let [flag, instructions] = setting("developer_instructions", system);
            if instructions.len() <= LONGEST_ARGUMENT {
                arguments.extend([flag, instructions]);
            } else {
                prompt = call.prompt_with_system();
            }
        }
        // Arguments without a flag come last: the session, then where the prompt is.
        if let Some(session) = resumed {
            arguments.extend(["--".into(), session.as_str().into()]);
        }
        arguments.push("-".into());
        Invocation::new(&self.program, arguments, prompt)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::CodexReader::new(self.zone.clone()))
    }
}

/// A setting for this call alone. Its value is read as TOML.
fn setting(name: &str, value: &str) -> [OsString; 2] {
    // JSON's strings are TOML's, but for this one character, which TOML wants escaped.
    let quoted = serde_json::Value::from(value).to_string().replace('\u{7f}', "\\u007F");
    ["-c".into(), format!("{name}={quoted}").into()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> Call {
        Call { prompt: "- do\nit".into(), directory: "/w".into(), ..Call::default() }
    }

    fn made(call: &Call) -> Invocation {
        Codex::new("/bin/codex".into(), TimeZone::UTC).invocation(call)
    }

    fn arguments(call: &Call) -> String {
        made(call).arguments.join(" ".as_ref()).into_string().unwrap()
    }

    #[test]
    fn a_new_session_is_named_by_the_program_and_resumed_by_that_name() {
        const AUTO: &str =
            "--json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox";
        assert_eq!(arguments(&call()), format!("exec {AUTO} -"));
        let chosen = Call { session: Some("u-1".into()), model: Some("gpt-6".into()), ..call() };
        assert_eq!(arguments(&chosen), format!("exec {AUTO} --model=gpt-6 -"));
        let again = Call { resume: true, ..chosen };
        assert_eq!(arguments(&again), format!("exec resume {AUTO} --model=gpt-6 -- u-1 -"));
        assert_eq!(made(&again).stdin, b"- do\nit");
    }

    #[test]
    fn a_mode_is_a_sandbox_also_on_resume() {
        const ASKED: &str = r#"--json --skip-git-repo-check -c sandbox_mode="read-only""#;
        let plan = Call { mode: Some("read-only".into()), ..call() };
        assert_eq!(arguments(&plan), format!("exec {ASKED} -"));
        let again = Call { session: Some("u-1".into()), resume: true, ..plan };
        assert_eq!(arguments(&again), format!("exec resume {ASKED} -- u-1 -"));
    }

    #[test]
    fn instructions_open_a_session_as_one_quoted_value() {
        let instructed = Call { system: Some("Write \"hi\"\n\u{7f}ü".into()), ..call() };
        let expected = r#"developer_instructions="Write \"hi\"\n\u007Fü""#;
        assert!(
            made(&instructed).arguments.contains(&expected.into()),
            "{}",
            arguments(&instructed)
        );
        assert_eq!(made(&instructed).stdin, b"- do\nit");
        let again = Call { session: Some("u-1".into()), resume: true, ..instructed };
        assert!(!arguments(&again).contains("instructions"), "the session knows them");
    }

    #[test]
    fn instructions_too_long_for_an_argument_are_before_the_prompt() {
        let long = "word ".repeat(40_000);
        let instructed = made(&Call { system: Some(long.clone()), ..call() });
        assert!(instructed.arguments.iter().all(|argument| argument.len() < 1000));
        assert_eq!(instructed.stdin, format!("{}\n\n- do\nit", long.trim_end()).into_bytes());
    }
}
