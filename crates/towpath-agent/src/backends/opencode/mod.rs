//! OpenCode (`opencode run`), with one JSON object a line. The prompt goes by standard input: given
//! as an argument it arrives in quotation marks. The program names its sessions itself. It looks for
//! its directory in `PWD`, whatever the directory of its process is, so it is set.

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
    id: "opencode",
    title: "OpenCode",
    programs: &["opencode"],
    variable: Some("OPENCODE_CLI_PATH"),
    known: &["~/.opencode/bin/opencode"],
    model_variable: None,
    install: "npm install -g opencode-ai",
    by_hand: Some("opencode --session "),
    can: Capabilities {
        session_ids: SessionIds::Returned,
        uuid_sessions: false,
        // From another directory it makes the call, prints nothing and never ends.
        resume_elsewhere: false,
        tiers: false,
        without_model: WithoutModel::Kept,
        system_prompt: false,
        modes: Some(&["default"]),
        usage: UsageOf::Call,
        cost: true,
        limit_reset: true,
        reports_retries: false,
        lingers: false,
        as_root: None,
    },
    make: Some(|program, _| Arc::new(OpenCode::new(program))),
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCode {
    program: PathBuf,
}

impl OpenCode {
    pub fn new(program: PathBuf) -> OpenCode {
        OpenCode { program }
    }
}

impl Backend for OpenCode {
    fn row(&self) -> &'static BackendRow {
        &ROW
    }

    fn invocation(&self, call: &Call) -> Invocation {
        let mut arguments: Vec<OsString> = ["run", "--format", "json"].map(Into::into).into();
        arguments.extend(["--dir".into(), call.directory.clone().into_os_string()]);
        // The one mode asks what the user's settings require, and nobody answers.
        if call.mode.is_none() {
            arguments.push("--auto".into());
        }
        arguments.extend(call.model_argument());
        match &call.session {
            Some(session) if call.resume => arguments.push(format!("--session={session}").into()),
            // Without a title the program asks a model for one.
            _ => arguments.push("--title=towpath".into()),
        }
        Invocation::new(&self.program, arguments, call.prompt_with_system())
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::OpenCodeReader::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(call: &Call) -> String {
        let made = OpenCode::new("/bin/opencode".into()).invocation(call);
        made.arguments.join(" ".as_ref()).into_string().unwrap()
    }

    fn call() -> Call {
        Call { prompt: "- do\nit".into(), directory: "/w d".into(), ..Call::default() }
    }

    #[test]
    fn a_new_session_has_a_title_and_a_resumed_one_its_id() {
        let always = "run --format json --dir /w d --auto";
        assert_eq!(arguments(&call()), format!("{always} --title=towpath"));
        let chosen = Call { session: Some("ses_1".into()), ..call() };
        assert_eq!(arguments(&chosen), format!("{always} --title=towpath"), "it names them itself");
        let again = Call { resume: true, model: Some("p/m".into()), ..chosen };
        assert_eq!(arguments(&again), format!("{always} --model=p/m --session=ses_1"));
    }

    #[test]
    fn the_default_mode_leaves_permissions_to_the_users_settings() {
        let asking = Call { mode: Some("default".into()), ..call() };
        assert_eq!(arguments(&asking), "run --format json --dir /w d --title=towpath");
    }

    #[test]
    fn the_prompt_goes_by_stdin_after_the_instructions_of_a_new_session() {
        let stdin = |call: &Call| {
            let made = OpenCode::new("/bin/opencode".into()).invocation(call);
            String::from_utf8(made.stdin).unwrap()
        };
        assert_eq!(stdin(&call()), "- do\nit");
        let instructed = Call { system: Some("Be brief.".into()), ..call() };
        assert_eq!(stdin(&instructed), "Be brief.\n\n- do\nit");
        let again = Call { session: Some("ses_1".into()), resume: true, ..instructed };
        assert_eq!(stdin(&again), "- do\nit");
    }
}
