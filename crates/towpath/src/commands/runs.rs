//! `towpath runs`: the runs, newest first, from their summaries alone.

mod prune;

use super::Execute;
use crate::environment::{Environment, Invocation, local_zone};
use crate::exit::{CommandError, Exit};
use crate::session::project_scope::ProjectScope;
use crate::session::run_status::{status_of, tint};
use crate::session::time_flags::LIMITS;
use crate::terminal::format::{ago, clean, count, duration, local_time, money, now_ms};
use crate::terminal::out;
use crate::terminal::screen::Screen;
use crate::terminal::shown_path::shown_path;
use crate::terminal::table::{Cell, Table};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::collections::HashMap;
use towpath_core::{RunId, RunStatus, StatusKind};
use towpath_shell::bash::quote;
use towpath_store::{RunFilter, RunRow, Store, Summary};
use towpath_view::run_json::{
    StepInFlight, bring_up_to_date, dollars, position, runs_json, steps_in_flight,
};

/// List runs, newest first.
///
/// Lists the runs of this project and of the worktrees of its repository, or of this directory
/// outside of a project.
///
/// Example: towpath runs --all
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<RunsCommand>,
    /// List the runs of all directories.
    #[arg(long)]
    pub all: bool,
    /// Show at most N runs.
    #[arg(short = 'n', value_name = "N", default_value_t = 20)]
    pub number: usize,
    /// Only runs with this status.
    #[arg(long, value_name = "STATUS", value_parser = status_parser())]
    pub status: Option<StatusKind>,
    /// Only runs of this recipe.
    #[arg(long, value_name = "NAME")]
    pub recipe: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum RunsCommand {
    Prune(prune::Args),
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        if let Some(RunsCommand::Prune(args)) = &self.command {
            return prune::execute(args, env);
        }
        let store = env.journal()?;
        let all = match &store {
            Some(store) => listed(store)?,
            None => Vec::new(),
        };
        let total = all.len();
        let here = ProjectScope::new(env);
        let mut rows = all;
        if let (Some(store), false) = (&store, self.all) {
            rows.retain(|(row, _)| here.has(store, row));
        }
        rows.retain(|(_, status)| self.status.is_none_or(|wanted| status.is(wanted)));
        rows.retain(|(row, _)| self.recipe.as_ref().is_none_or(|wanted| row.recipe == *wanted));
        let found = rows.len();
        rows.truncate(self.number);
        let mut in_flight = HashMap::new();
        if let Some(store) = &store {
            for (row, _) in &mut rows {
                let steps = bring_up_to_date(store, row, LIMITS)
                    .map_or_else(Vec::new, |known| steps_in_flight(&known.run.view()));
                in_flight.insert(row.id.clone(), steps);
            }
        }
        if self.json {
            out::json(&runs_json(&rows, &local_zone()));
        } else if found == 0 {
            out::line(nothing(self, total));
        } else {
            print(&rows, &in_flight, self.all, env);
            if found > rows.len() {
                let more = count(found - rows.len(), "more run");
                out::line(format!("and {more}, older: towpath runs{} -n {found}", self.filters()));
            }
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        match &self.command {
            Some(RunsCommand::Prune(args)) => args.json,
            None => self.json,
        }
    }
}

impl Args {
    /// The flags that choose runs, as they are typed.
    fn filters(&self) -> String {
        let all = if self.all { " --all" } else { "" };
        let status = self.status.map_or(String::new(), |status| format!(" --status {status}"));
        let recipe = self.recipe.as_ref();
        let recipe = recipe.map_or(String::new(), |name| format!(" --recipe {}", quote(name)));
        format!("{all}{status}{recipe}")
    }
}

/// Takes every status that a run can have.
fn status_parser() -> impl TypedValueParser<Value = StatusKind> {
    let words = PossibleValuesParser::new(StatusKind::ALL.map(StatusKind::as_str));
    words.map(|word| StatusKind::named(&word).expect("the parser takes only words of a status"))
}

fn listed(store: &Store) -> Result<Vec<(RunRow, RunStatus)>, CommandError> {
    let rows = store.runs(&RunFilter::default())?;
    let with_status = |row: RunRow| {
        let status = status_of(store, &row);
        (row, status)
    };
    Ok(rows.into_iter().map(with_status).collect())
}

fn nothing(args: &Args, total: usize) -> String {
    let of = args.recipe.as_ref().map_or(String::new(), |name| format!(" of {}", clean(name)));
    let are = args.status.map_or(String::new(), |status| format!(" that are {status}"));
    let what = format!("runs{of}{are}");
    match total {
        0 => "no runs yet; to start one: towpath run demo".to_owned(),
        _ if args.all => format!("no {what}"),
        _ => format!("no {what} here; in all directories: towpath runs --all"),
    }
}

fn print(
    rows: &[(RunRow, RunStatus)],
    in_flight: &HashMap<RunId, Vec<StepInFlight>>,
    all: bool,
    env: &Environment,
) {
    let first = rows.first().map(|(row, _)| &row.directory);
    let several = all || rows.iter().any(|(row, _)| Some(&row.directory) != first);
    let mut header = vec!["RUN", "RECIPE", "STATUS", "STARTED", "TOOK", "COST", "WHERE"];
    if several {
        header.push("DIRECTORY");
    }
    let mut table = Table::new(&header);
    let now = now_ms();
    for (row, status) in rows {
        let mut cells = vec![
            row.id.as_str().into(),
            Cell::from(&row.recipe),
            Cell::tinted(status.as_str(), tint(status)),
            ago(row.created_ms, now).into(),
            took(row, status, now).into(),
            cost(row).into(),
            location(row, in_flight.get(&row.id).map_or(&[], Vec::as_slice), now).into(),
        ];
        if several {
            cells.push(shown_path(&row.directory, env).into());
        }
        table.row(cells);
    }
    table.print(&Screen::new(env));
}

/// Where a run is: of one that has not ended, the first of its steps that run or were interrupted.
fn location(row: &RunRow, in_flight: &[StepInFlight], now: i64) -> String {
    match in_flight {
        [] => position(&row.summary.status, &|until| local_time(until, now)),
        [only] => clean(only.path.as_str()),
        [first, more @ ..] => format!("{} and {} more", clean(first.path.as_str()), more.len()),
    }
}

fn took(row: &RunRow, status: &RunStatus, now: i64) -> String {
    match status {
        RunStatus::Running => duration(now - row.created_ms),
        _ if row.summary.active_ms == 0 => "–".to_owned(),
        _ => duration(row.summary.active_ms),
    }
}

fn cost(row: &RunRow) -> String {
    let Summary { cost_microusd, cost_unknown, .. } = row.summary;
    match (cost_microusd.map(dollars), cost_unknown) {
        (Some(usd), false) => money(usd),
        // The known part; calls that reported no cost come on top.
        (Some(usd), true) => format!("{}+", money(usd)),
        (None, true) => "unknown".to_owned(),
        (None, false) => "–".to_owned(),
    }
}
