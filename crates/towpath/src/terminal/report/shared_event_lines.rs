//! The lines that every reporter prints for an event.

use super::fit_text::one_line;
use super::styled_line::{Line, Tone};
use crate::terminal::format::clean;
use crate::terminal::out::page_address;
use std::path::Path;
use towpath_core::{RunId, StepPath};
use towpath_engine::{EndedWith, EventKind};
use towpath_run::{Movement, StepResult};
use towpath_view::foreign_text::escaped;

/// The line that is printed for an event, whatever else a reporter does with it.
///
/// `elsewhere`: the run's directory is not the current one, so that its whole path is shown.
pub fn of(event: &EventKind, verbose: bool, elsewhere: bool) -> Option<Line> {
    match event {
        EventKind::RunStarted { run, recipe, directory, resumed, .. } => {
            let shown = if elsewhere { whole(directory) } else { last_name(directory) };
            Some(header(run, recipe, &shown, *resumed))
        }
        EventKind::Reminded { step, error } => Some(reminded(step, error)),
        EventKind::Moved { to: Movement::Restart(recipe), .. } => Some(restart(recipe)),
        EventKind::Staged { step, files } => Some(staged(step, files)),
        EventKind::Warning { step, message } => Some(warning(step.as_ref(), message)),
        EventKind::Ended { processes: ended, why } => processes(ended, *why, verbose),
        EventKind::Stopping => Some(stopping()),
        _ => None,
    }
}

/// `ship-release · run 7f3k · shop`, and the address of the run's page where there is one.
fn header(run: &RunId, recipe: &str, directory: &str, resumed: bool) -> Line {
    let resumed = if resumed { " resumed" } else { "" };
    let page = page_address(run).map_or(String::new(), |address| format!(" · {address}"));
    let rest = format!(" · run {run}{resumed} · {directory}{page}");
    Line::new().with(Tone::Strong, clean(recipe)).text(rest)
}

fn last_name(directory: &Path) -> String {
    escaped(directory.file_name().map_or(directory, Path::new))
}

fn whole(directory: &Path) -> String {
    format!("in {}", escaped(directory))
}

pub fn warning(step: Option<&StepPath>, message: &str) -> Line {
    let step = step.map_or(String::new(), |step| format!("{step}: "));
    Line::new().with(Tone::Attention, "warning").text(clean(&format!(": {step}{message}")))
}

/// `staged src/app.py and 2 more (fix)`
fn staged(step: &StepPath, files: &[String]) -> Line {
    let more = match files.len() {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let first = files.first().map_or("", String::as_str);
    Line::plain(clean(&format!("staged {first}{more} ({step})")))
}

/// What a state machine's step reported; of `other` and `failure` also the description.
pub fn report(result: &StepResult) -> Option<String> {
    let report = result.report.as_ref()?;
    let more = report.description.as_ref().or(report.why.as_ref());
    let more = more.map_or(String::new(), |text| format!(" ({text})"));
    Some(one_line(&format!("{}{more}", report.outcome)))
}

/// `review: No JSON block found in response; asked again`
fn reminded(step: &StepPath, error: &str) -> Line {
    Line::plain(clean(&format!("{step}: {error}; asked again")))
}

/// `restart implement-and-review-all in a new session`
fn restart(recipe: &str) -> Line {
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

/// The run is being stopped, and its children may take a while to end.
fn stopping() -> Line {
    Line::new().with(Tone::Attention, "stopping").text("; a second signal kills at once")
}

/// Processes that were ended. Those of a step that was ended are what a user expects, so they are
/// printed only with `--verbose`.
fn processes(processes: &[String], why: EndedWith, verbose: bool) -> Option<Line> {
    let why = match why {
        EndedWith::Step if !verbose => return None,
        EndedWith::Step => "with their step",
        EndedWith::Run => "with the run",
        EndedWith::DeadRunner => "left by a dead runner",
    };
    let list = clean(&processes.join(", "));
    Some(Line::plain(format!("processes ended, {why}: {list}")))
}
