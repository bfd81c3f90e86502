//! Lines of ours about happenings, the same in every reporter.

use super::line::{Line, Tone, one_line};
use crate::terminal::format::clean;
use std::path::Path;
use towpath_core::{RunId, StepPath};
use towpath_engine::EndedWith;
use towpath_run::StepResult;

/// `ship-release · run 7f3k · shop`
pub fn header(run: &RunId, recipe: &str, directory: &Path, resumed: bool) -> Line {
    let name = directory.file_name().unwrap_or(directory.as_os_str());
    let name = match name.to_str() {
        Some(name) => clean(name),
        None => name.as_encoded_bytes().escape_ascii().to_string(),
    };
    let resumed = if resumed { " resumed" } else { "" };
    let rest = format!(" · run {run}{resumed} · {name}");
    Line::new().with(Tone::Strong, clean(recipe)).text(rest)
}

pub fn warning(step: Option<&StepPath>, message: &str) -> Line {
    let step = step.map_or(String::new(), |step| format!("{step}: "));
    Line::new().with(Tone::Attention, "warning").text(clean(&format!(": {step}{message}")))
}

/// `staged src/app.py and 2 more (fix)`
pub fn staged(step: &StepPath, files: &[String]) -> Line {
    let more = match files.len() {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let first = files.first().map_or("", String::as_str);
    Line::plain(clean(&format!("staged {first}{more} ({step})")))
}

/// What a machine's step reported: `other` and `failure` say more than their name.
pub fn report(result: &StepResult) -> Option<String> {
    let report = result.report.as_ref()?;
    let more = report.description.as_ref().or(report.why.as_ref());
    let more = more.map_or(String::new(), |text| format!(" ({text})"));
    Some(one_line(&format!("{}{more}", report.outcome)))
}

/// `review: No JSON block found in response; asked once more`
pub fn reminded(step: &StepPath, error: &str) -> Line {
    Line::plain(clean(&format!("{step}: {error}; asked once more")))
}

/// `restart implement-and-review-all in a new session`
pub fn restart(recipe: &str) -> Line {
    Line::plain(clean(&format!("restart {recipe} in a new session")))
}

/// `silent for 3 min`, once a silence is worth a word.
pub fn silence(ms: i64) -> Option<String> {
    match ms / 60_000 {
        ..=0 => None,
        minutes @ 1..120 => Some(format!("silent for {minutes} min")),
        minutes => Some(format!("silent for {} h", minutes / 60)),
    }
}

/// The run was told to stop, and its children may take a while to obey.
pub fn stopping() -> Line {
    Line::new().with(Tone::Attention, "stopping").text("; once more kills at once")
}

/// Processes that were ended. Those that went down with a step that was told to end are what a
/// person expects, so they are only told to whoever wants to know everything.
pub fn processes(processes: &[String], why: EndedWith, verbose: bool) -> Option<Line> {
    let why = match why {
        EndedWith::Step if !verbose => return None,
        EndedWith::Step => "with their step",
        EndedWith::Run => "with the run",
        EndedWith::DeadRunner => "left by a dead runner",
    };
    let list = clean(&processes.join(", "));
    Some(Line::plain(format!("processes ended, {why}: {list}")))
}
