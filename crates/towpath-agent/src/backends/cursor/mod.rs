//! Cursor's agent (`cursor-agent`), in print mode with one JSON object a line. It was never run
//! here: it needs its vendor's service. Everything below follows the published documents, and takes
//! only what they promise. Its process has been seen to live on after the result, so it is ended then.

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
    id: "cursor",
    title: "Cursor",
    // Its other name, `agent`, is too common to be taken for it.
    programs: &["cursor-agent"],
    variable: Some("CURSOR_CLI_PATH"),
    known: &["~/.local/bin/cursor-agent"],
    model_variable: None,
    install: "curl https://cursor.com/install -fsS | bash",
    by_hand: Some("cursor-agent --resume "),
    can: Capabilities {
        session_ids: SessionIds::Returned,
        uuid_sessions: false,
        resume_elsewhere: false,
        tiers: false,
        without_model: WithoutModel::Kept,
        system_prompt: false,
        modes: Some(&["default"]),
        usage: UsageOf::Nothing,
        cost: false,
        limit_reset: false,
        reports_retries: false,
        lingers: true,
        as_root: None,
    },
    make: Some(|program, _| Arc::new(Cursor::new(program))),
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    program: PathBuf,
}

impl Cursor {
    pub fn new(program: PathBuf) -> Cursor {
        Cursor { program }
    }
}

impl Backend for Cursor {
    fn row(&self) -> &'static BackendRow {
        &ROW
    }

    fn invocation(&self, call: &Call) -> Invocation {
        let mut arguments: Vec<OsString> =
            ["--print", "--output-format", "stream-json", "--trust"].map(Into::into).into();
        // The one mode refuses what would need a user's consent.
        if call.mode.is_none() {
            arguments.push("--force".into());
        }
        arguments.extend(["--workspace".into(), call.directory.clone().into_os_string()]);
        arguments.extend(call.model_argument());
        if let (Some(session), true) = (&call.session, call.resume) {
            arguments.push(format!("--resume={session}").into());
        }
        Invocation::new(&self.program, arguments, call.prompt_with_system())
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::CursorReader::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(call: &Call) -> String {
        let made = Cursor::new("/bin/cursor-agent".into()).invocation(call);
        assert_eq!(made.stdin, b"- do\nit");
        made.arguments.join(" ".as_ref()).into_string().unwrap()
    }

    #[test]
    fn a_new_session_has_no_id_of_ours_and_a_resumed_one_its_own() {
        let call = Call { prompt: "- do\nit".into(), directory: "/w".into(), ..Call::default() };
        let always = "--print --output-format stream-json --trust --force --workspace /w";
        assert_eq!(arguments(&call), always);
        let chosen = Call { session: Some("c-1".into()), model: Some("gpt-5".into()), ..call };
        assert_eq!(arguments(&chosen), format!("{always} --model=gpt-5"));
        let again = Call { resume: true, ..chosen };
        assert_eq!(arguments(&again), format!("{always} --model=gpt-5 --resume=c-1"));
        let asking = Call { mode: Some("default".into()), model: None, ..again };
        assert!(!arguments(&asking).contains("--force"));
    }
}
