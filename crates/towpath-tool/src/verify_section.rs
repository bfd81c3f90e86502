//! `[verify]` of a tool recipe, with the fields of the original design, and its one evaluator: for a
//! repair, at install and whenever a tool is verified later. A declared check without a result fails, a
//! run that shows a broken install fails whatever its pattern finds, and another version than the
//! expected one passes with a warning.

use crate::command_words::{CommandWordsError, command_words};
use crate::detector::judge;
use crate::observation::{Observation, ProcessEnd};
use crate::output_pattern::{OutputPattern, PatternError};
use crate::printed_text::clean_text;
use crate::tool_recipe::is_default;
use crate::verdict::{Evidence, EvidenceKind, Verdict};
use crate::version_token::same_version;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The reason of a section that was repaired after the tool had not accepted `--version`.
pub const REPAIRED_REASON: &str = "verification repaired: tool does not support --version";

/// The placeholder for the installed version, in patterns and in the parameters of steps.
pub const VERSION: &str = "{version}";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifySection {
    pub command: String,
    /// A literal, or a regex between slashes. Without one a version has to be printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub mode: VerifyMode,
    #[serde(default, skip_serializing_if = "is_default")]
    pub exit_code: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerifyMode {
    /// The output has the version.
    #[default]
    Version,
    /// The output has a text that only a working tool prints; `reason` describes why there is no
    /// version.
    Output,
}

impl VerifySection {
    /// What a generated recipe is verified with at first.
    pub fn by_version(program: &str) -> VerifySection {
        VerifySection {
            command: format!("{program} --version"),
            pattern: None,
            mode: VerifyMode::Version,
            exit_code: 0,
            reason: None,
        }
    }

    /// The pattern that counts: without one a version has to be printed.
    pub fn effective_pattern(&self) -> &str {
        self.pattern.as_deref().unwrap_or(VERSION)
    }

    /// The words of the command. The version is filled in after the split: it is always one word.
    pub fn command_words(&self, version: &str) -> Result<Vec<String>, CommandWordsError> {
        let words = command_words(&self.command)?;
        Ok(words.into_iter().map(|word| word.replace(VERSION, version)).collect())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckOutcome {
    Passed { version: Option<String>, warning: Option<VersionMismatch> },
    Failed(CheckFailure),
}

impl CheckOutcome {
    pub fn passed(&self) -> bool {
        matches!(self, CheckOutcome::Passed { .. })
    }
}

/// The tool works, but it prints another version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Error)]
#[error("version {expected} was expected, {found} is printed")]
pub struct VersionMismatch {
    pub expected: String,
    pub found: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CheckFailure {
    #[error("the check has no result")]
    NotRun,
    #[error("{}", describe_end(.0))]
    Ended(ProcessEnd),
    #[error("the install is broken: {}", .0.text.as_deref().unwrap_or("no details"))]
    Broken(Evidence),
    #[error("exit code {expected} was expected, it was {found}")]
    ExitCode { expected: i32, found: i32 },
    #[error("what it prints is not known to be its own version or help")]
    OtherProgram,
    #[error("the output has no `{0}`")]
    NoMatch(String),
    #[error("the pattern cannot be used: {0}")]
    Pattern(PatternError),
}

fn describe_end(end: &ProcessEnd) -> String {
    match end {
        ProcessEnd::Exited(code) => format!("it ended with exit code {code}"),
        ProcessEnd::Signaled(signal) => format!("signal {signal} ended it"),
        ProcessEnd::TimedOut => "it did not end in time".to_owned(),
        ProcessEnd::OutputLimit => "it printed more than it may".to_owned(),
        ProcessEnd::MemoryLimit => "it used more memory than it may".to_owned(),
        ProcessEnd::ProcessLimit => "it made more processes than it may".to_owned(),
        ProcessEnd::NotStarted(error) => format!("it could not be started: {error}"),
    }
}

/// Whether a run of the section's command passes.
pub fn check(
    section: &VerifySection,
    run: Option<&Observation>,
    expected_version: Option<&str>,
) -> CheckOutcome {
    evaluate(section, run, expected_version).unwrap_or_else(CheckOutcome::Failed)
}

fn evaluate(
    section: &VerifySection,
    run: Option<&Observation>,
    expected: Option<&str>,
) -> Result<CheckOutcome, CheckFailure> {
    let run = run.ok_or(CheckFailure::NotRun)?;
    let found = run.exit_code().ok_or_else(|| CheckFailure::Ended(run.end.clone()))?;
    let judgement = judge(run);
    // A check may declare any exit code; only then the code alone is no sign.
    let only_code =
        judgement.evidence.kind == EvidenceKind::CannotRun && found == section.exit_code;
    if judgement.verdict == Verdict::Broken && !only_code {
        return Err(CheckFailure::Broken(judgement.evidence));
    }
    if found != section.exit_code {
        return Err(CheckFailure::ExitCode { expected: section.exit_code, found });
    }
    let text = format!("{}\n{}", clean_text(&run.stdout), clean_text(&run.stderr));
    let pattern = section.effective_pattern();
    let matched = OutputPattern::new(pattern)
        .map_err(CheckFailure::Pattern)?
        .find(&text, expected)
        .ok_or_else(|| CheckFailure::NoMatch(pattern.to_owned()))?;
    let warning = match (section.mode, expected, &matched.version) {
        (VerifyMode::Version, Some(expected), Some(found)) if !same_version(found, expected) => {
            Some(VersionMismatch { expected: expected.to_owned(), found: found.clone() })
        }
        _ => None,
    };
    Ok(CheckOutcome::Passed { version: matched.version, warning })
}
