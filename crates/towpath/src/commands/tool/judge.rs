//! `towpath tool judge`: the verdict on one recorded run of a program.

use super::{Execute, Invocation, Screen, clean, json};
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::terminal::{diagnostics, out};
use crate::tools::report::{VerdictLines, word};
use std::io::Read as _;
use towpath_core::Source;
use towpath_tool::{analyze, read_observation, verify_section};

/// More than this is no observation.
const MOST: u64 = 16 << 20;

/// Judge one recorded run of a program.
///
/// Reads an observation as one JSON object from standard input: `tool`, `command`, `exit` (a number,
/// "signal:N", "timeout", "output-limit" or "exec:ERRNO"), `stdout` and `stderr`; if known `via`, `file`,
/// `expected_version`, `aliases`, `install_path`, `terminal`. Prints the verdict, what it rests on and
/// the check that would be stored. Nothing is run.
///
/// Example: towpath tool judge --json < observation.json
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let source = Source::new("standard input", read_stdin()?);
        let observation = read_observation(&source).map_err(|problems| {
            let color = invocation.color();
            diagnostics::refuse_file(&problems, color, Exit::BadInput, ErrorKind::BadInput)
        })?;
        let analysis = analyze(&observation);
        let judgement = &analysis.judgement;
        let section = verify_section(&observation, judgement);
        if self.json {
            let mut shown = json!(analysis);
            shown["schema"] = json!(1);
            shown["tool"] = json!(observation.tool);
            shown["verify"] = json!(section);
            out::json(&shown);
            return Ok(Exit::Done);
        }
        let lines = VerdictLines {
            name: &observation.tool,
            verdict: judgement.verdict,
            version: judgement.version_found.as_deref(),
            because: word(judgement.evidence.kind),
            evidence: &judgement.evidence,
            warnings: &judgement.warnings,
            check: section.as_ref(),
        };
        lines.print(&Screen { width: None, color: false });
        if let Some(command) = &judgement.next_probe {
            out::line(clean(&format!("  the text suggests: {command}")));
        }
        Ok(Exit::Done)
    }
}

fn read_stdin() -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|error| CommandError::bad_input(format!("standard input: {error}")))?;
    if bytes.len() as u64 > MOST {
        return Err(CommandError::bad_input("standard input: larger than 16 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| CommandError::bad_input("standard input: not UTF-8"))
}
