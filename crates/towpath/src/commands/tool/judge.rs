//! `towpath tool judge`: the verdict on one recorded run of a program.

use super::super::Execute;
use crate::environment::Invocation;
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::terminal::format::clean;
use crate::terminal::{diagnostics, out};
use serde_json::json;
use std::io::Read as _;
use towpath_core::Source;
use towpath_tool::{
    Observation, VerifyAnalysis, VerifySection, analyze, read_observation, verify_section,
};

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
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let source = Source::new("standard input", read_stdin()?);
        let observation = read_observation(&source).map_err(|problems| {
            diagnostics::refuse_file(
                &problems,
                invocation.color(),
                Exit::BadInput,
                ErrorKind::BadInput,
            )
        })?;
        let analysis = analyze(&observation);
        let section = verify_section(&observation, &analysis.judgement);
        if self.json {
            let mut shown = json!({ "schema": 1, "tool": observation.tool });
            let fields = serde_json::to_value(&analysis).expect("an analysis can be written");
            let fields = fields.as_object().into_iter().flatten();
            fields.for_each(|(name, value)| shown[name] = value.clone());
            shown["verify"] = json!(section);
            out::json(&shown);
        } else {
            lines(&observation, &analysis, section.as_ref()).into_iter().for_each(out::line);
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn lines(
    observation: &Observation,
    analysis: &VerifyAnalysis,
    section: Option<&VerifySection>,
) -> Vec<String> {
    let judgement = &analysis.judgement;
    let version = judgement.version_found.as_deref().map_or(String::new(), |v| format!(" {v}"));
    let verdict = judgement.verdict.as_str();
    let mut lines = vec![clean(&format!("{}: {verdict}{version}", observation.tool))];
    let kind = serde_json::to_value(judgement.evidence.kind).unwrap_or_default();
    let text = judgement.evidence.text.as_deref().unwrap_or("nothing was printed");
    lines.push(clean(&format!("  because of {}: {text}", kind.as_str().unwrap_or_default())));
    lines.extend(judgement.warnings.iter().map(|warning| clean(&format!("  warning: {warning}"))));
    if let Some(section) = section {
        let VerifySection { command, exit_code, .. } = section;
        let pattern = section.effective_pattern();
        let check = format!("  check: {command} prints `{pattern}` with exit code {exit_code}");
        lines.push(clean(&check));
    }
    if let Some(command) = &judgement.next_probe {
        lines.push(clean(&format!("  the text suggests: {command}")));
    }
    lines
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
