//! What one probe means for the check of a recipe, with the fields of the original design. Whether a
//! check can be repaired follows from the verdict; the signs that the design names are reported beside
//! it, so that both can be compared.

use crate::detector::judge;
use crate::observation::Observation;
use crate::output_pattern::pattern_of_line;
use crate::tool_names::ToolNames;
use crate::verdict::{Judgement, Verdict};
use crate::verify_section::{REPAIRED_REASON, VerifyMode, VerifySection};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyAnalysis {
    /// This run gives a check that can be stored.
    pub repairable: bool,
    /// The tool's name, if the output has it.
    pub tool_name: Option<String>,
    /// None when the process did not end by itself.
    pub exit_code: Option<i32>,
    pub has_usage_text: bool,
    pub has_tool_name: bool,
    /// Of both streams, in bytes.
    pub output_length: usize,
    pub suggested_mode: Option<VerifyMode>,
    pub suggested_pattern: Option<String>,
    #[serde(flatten)]
    pub judgement: Judgement,
}

/// Judges a run and describes what a repair could use.
pub fn analyze(observation: &Observation) -> VerifyAnalysis {
    let judgement = judge(observation);
    let section = verify_section(observation, &judgement);
    let section = section.filter(|_| judgement.verdict != Verdict::Alive);
    let output = format!("{}{}", observation.stdout, observation.stderr);
    let has_tool_name = output.contains(&observation.tool);
    VerifyAnalysis {
        repairable: section.is_some(),
        tool_name: has_tool_name.then(|| observation.tool.clone()),
        exit_code: observation.exit_code(),
        has_usage_text: output.to_lowercase().contains("usage:"),
        has_tool_name,
        output_length: output.len(),
        suggested_mode: section.as_ref().map(|section| section.mode),
        suggested_pattern: section.and_then(|section| section.pattern),
        judgement,
    }
}

/// The verify section that a verdict on a run would write; none if the run proves nothing.
pub fn verify_section(observation: &Observation, judgement: &Judgement) -> Option<VerifySection> {
    let exit_code = observation.exit_code()?;
    let command = observation.command.clone();
    let (mode, pattern) = match judgement.verdict {
        Verdict::WorksByVersion => (VerifyMode::Version, judgement.pattern.clone()?),
        Verdict::WorksByHelp => (VerifyMode::Output, judgement.pattern.clone()?),
        Verdict::Alive => {
            let pattern = judgement.pattern.clone();
            (VerifyMode::Output, pattern.or_else(|| rejection(observation, judgement))?)
        }
        _ => return None,
    };
    let asked = observation.arguments() == ["--version"];
    let reason = match mode {
        VerifyMode::Version if asked && exit_code == 0 => None,
        VerifyMode::Version if asked => {
            Some(format!("the version is printed with exit code {exit_code}"))
        }
        _ => Some(REPAIRED_REASON.to_owned()),
    };
    Some(VerifySection { command, pattern: Some(pattern), mode, exit_code, reason })
}

/// The line of an answer about our argument, without the program's path before it.
fn rejection(observation: &Observation, judgement: &Judgement) -> Option<String> {
    let line = judgement.evidence.text.as_deref()?;
    let message = match line.split_once(": ") {
        Some((before, after)) if before.rsplit('/').next() == Some(&observation.tool) => after,
        _ => line,
    };
    let names = ToolNames::new(&observation.tool, observation.aliases.iter().map(String::as_str));
    pattern_of_line(message, &names, observation.install_path.as_deref())
}
