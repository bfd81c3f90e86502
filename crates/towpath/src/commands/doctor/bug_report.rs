//! A bug report as Markdown on stdout. It is for the user to read before they send it: nothing is sent, and
//! what looks like a secret is masked.

use super::finding::Finding;
use super::findings_report::{Group, wrong};
use crate::environment::{Environment, local_zone, system};
use crate::exit::CommandError;
use crate::session::find_run;
use crate::session::project_settings::settings_for;
use crate::session::run_status::status_of;
use crate::session::time_flags::LIMITS;
use crate::settings::value_text;
use crate::terminal::format::clean;
use crate::terminal::out;
use crate::terminal::report::find;
use towpath_core::RunStatus;
use towpath_corrections::masking::Masking;
use towpath_engine::recorded;
use towpath_run::RunOutcome;
use towpath_store::{RunRow, Store};
use towpath_view::amounts_and_times::rfc3339;

/// More of what a step printed helps no reader.
const MOST_LINES: usize = 40;

/// Prints the report of a run, of the latest one here where the name is empty, or of none if there is none.
pub fn print(env: &Environment, groups: &[Group], run: &str) -> Result<(), CommandError> {
    let mut text = introduction();
    text.push_str(&settings(env)?);
    text.push_str(&findings(groups));
    let named = Some(run).filter(|run| !run.is_empty());
    if let Some((store, row)) = find_run(env, named)? {
        text.push_str(&of_run(&store, &row)?);
    }
    let variables = env.variables.iter().filter_map(|(n, v)| Some((n.to_str()?, v.to_str()?)));
    let mut text = Masking::new(variables).text(&text);
    if let Some(home) = env.home.as_ref().and_then(|home| home.to_str()).filter(|h| h.len() > 1) {
        text = text.replace(home, "~");
    }
    out::line(text.trim_end());
    Ok(())
}

/// A user without any run may report, too.
fn find_run(
    env: &Environment,
    name: Option<&str>,
) -> Result<Option<(Store, RunRow)>, CommandError> {
    let Some(store) = env.journal()? else {
        return if name.is_some() { find_run::open(env, name).map(|_| None) } else { Ok(None) };
    };
    match find_run::named_or_latest(&store, env, name, |_| true, "can be reported") {
        Ok(row) => Ok(Some((store, row))),
        Err(_) if name.is_none() => Ok(None),
        Err(error) => Err(error),
    }
}

fn introduction() -> String {
    let ((os, arch), version) = (system(), env!("CARGO_PKG_VERSION"));
    let first = |file: &str, key: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        clean(line.trim_matches('"'))
    };
    let distribution = first("/etc/os-release", "PRETTY_NAME=");
    let kernel = first("/proc/sys/kernel/osrelease", "");
    format!(
        "# Towpath bug report\n\n\
         Read it before you send it. What looks like a secret is masked.\n\n\
         What happened, and what did you expect?\n\n\
         ## System\n\n\
         - towpath {version}\n\
         - {os} {arch}, {distribution}, kernel {kernel}\n\n"
    )
}

fn settings(env: &Environment) -> Result<String, CommandError> {
    let mut text = "## Settings\n\n".to_owned();
    for (key, value, source) in settings_for(env, &env.current)?.rows() {
        if source != "default" {
            text.push_str(&format!("- {key}: {} ({source})\n", value_text(&value)));
        }
    }
    text.push_str("- all others: default\n\n");
    Ok(text)
}

fn findings(groups: &[Group]) -> String {
    let line = |finding: &Finding| {
        let [name, text] = [&finding.name, &finding.text].map(|words| clean(words));
        format!("- {}: {name}: {text}\n", finding.level.word())
    };
    let wrong: String = wrong(groups).map(line).collect();
    let wrong = if wrong.is_empty() { "no problems found\n" } else { &wrong };
    format!("## towpath doctor\n\n{wrong}\n")
}

fn of_run(store: &Store, row: &RunRow) -> Result<String, CommandError> {
    let status = status_of(store, row);
    let started = rfc3339(row.created_ms, &local_zone());
    let mut text = format!(
        "## Run {}\n\n- recipe: {}\n- status: {}\n- started: {started}\n",
        row.id,
        clean(&row.recipe),
        status.as_str(),
    );
    if status == RunStatus::Done {
        return Ok(text);
    }
    // A record that cannot be replayed is part of the report.
    let run = match recorded(store, &row.id, LIMITS) {
        Ok(recorded) => recorded.run,
        Err(error) => return Ok(format!("{text}- it cannot be shown: {error}\n")),
    };
    if let Some(RunOutcome::Failed { step, failure }) = run.outcome() {
        let steps = run.view();
        let kind = find(&steps, &step).map_or("step", |view| view.kind.as_str());
        text.push_str(&format!("- failed step: {step} ({kind}): {}\n\n", clean(&failure.message)));
        let lines: Vec<&str> = failure.detail.lines().collect();
        for line in &lines[lines.len().saturating_sub(MOST_LINES)..] {
            text.push_str(&format!("    {}\n", clean(line)));
        }
    }
    Ok(text)
}
