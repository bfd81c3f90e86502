//! The scripted backend: answers come from a file, so that recipes can be tried and tested without
//! a model. A call is still a real child, with its directory, its time and its effects on disk:
//! `bash` waits, runs the line's command, and prints the answer it is given on standard input.

mod reader;
mod script;
mod script_line;

pub use script::{Script, ScriptError};
pub use script_line::ScriptLine;

use crate::backend::{Backend, Reader};
use crate::backend_row::BackendRow;
use crate::call::Call;
use crate::capabilities::{Capabilities, SessionIds, UsageOf, WithoutModel};
use crate::invocation::Invocation;
use std::path::PathBuf;

pub(crate) const ROW: BackendRow = BackendRow {
    id: "scripted",
    title: "bash",
    programs: &["bash"],
    variable: None,
    known: &["/bin/bash"],
    model_variable: None,
    install: "apt install bash",
    by_hand: None,
    can: Capabilities {
        session_ids: SessionIds::Chosen,
        uuid_sessions: false,
        resume_elsewhere: true,
        tiers: true,
        without_model: WithoutModel::Own,
        system_prompt: true,
        modes: None,
        usage: UsageOf::Call,
        cost: true,
        limit_reset: true,
        reports_retries: true,
        lingers: false,
        as_root: None,
    },
    make: None,
};

/// `$1` is the delay in seconds, `$2` the command or nothing. The command's own output is no part
/// of the answer, and it must not read the answer.
const CHILD: &str = r#"if [ "$1" != 0 ]; then sleep "$1" || exit; fi
if [ -n "$2" ]; then "$BASH" -c "$2" </dev/null >&2 || exit; fi
exec cat"#;

/// One call, answered by one line of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct Scripted {
    pub line: ScriptLine,
    pub bash: PathBuf,
}

impl Backend for Scripted {
    fn row(&self) -> &'static BackendRow {
        &ROW
    }

    fn invocation(&self, _call: &Call) -> Invocation {
        let run = self.line.run.as_deref().unwrap_or("");
        let arguments = ["-c", CHILD, "scripted", &seconds(self.line.delay_ms), run];
        Invocation {
            program: self.bash.clone(),
            arguments: arguments.map(Into::into).to_vec(),
            stdin: self.line.text.clone().unwrap_or_default().into_bytes(),
            ..Invocation::default()
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::ScriptedReader::new(self.line.clone()))
    }
}

fn seconds(milliseconds: u64) -> String {
    match (milliseconds / 1000, milliseconds % 1000) {
        (whole, 0) => whole.to_string(),
        (whole, rest) => format!("{whole}.{rest:03}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_exact() {
        for (ms, text) in [(0, "0"), (1, "0.001"), (250, "0.250"), (1000, "1"), (61_020, "61.020")]
        {
            assert_eq!(seconds(ms), text);
        }
    }
}
