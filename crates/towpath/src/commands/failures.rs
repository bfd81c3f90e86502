//! `towpath failures`: what agents called that failed, as their hooks and failed steps recorded it.

mod export;
mod inspect;
mod list;
mod paths;
mod similar;
mod stats;

use super::Execute;
use crate::duration_arguments::milliseconds;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::terminal::format::now_ms;
use crate::terminal::screen::Screen;
use clap::builder::PossibleValuesParser;
use towpath_corrections::failure::{FailureQuery, RUN_HOST};
use towpath_corrections::host::Host;

/// Look at the calls of agents' tools that failed.
///
/// Hooks record the calls of agents, and runs their failed steps. What failed because something does
/// not exist is a mistake; `towpath rules suggest` proposes rules for those.
///
/// Example: towpath failures paths --since 7d
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<FailuresCommand>,
    #[command(flatten)]
    list: list::Args,
}

#[derive(Debug, clap::Subcommand)]
enum FailuresCommand {
    List(list::Args),
    Paths(paths::Args),
    Stats(stats::Args),
    Inspect(inspect::Args),
    Similar(similar::Args),
    Export(export::Args),
}

/// Which failures to look at.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
struct WhichFailures {
    /// Only calls of this age at most, such as 90m, 12h, 30d or 2w.
    #[arg(long, value_name = "AGE", value_parser = milliseconds)]
    since: Option<i64>,
    /// Only calls in this agent program, or in runs of recipes (towpath).
    #[arg(long, value_name = "NAME", value_parser = hosts())]
    host: Option<String>,
    /// Only calls of this tool.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
}

impl WhichFailures {
    fn query(&self, limit: Option<u32>) -> FailureQuery {
        FailureQuery {
            since_ms: self.since.map(|age| now_ms().saturating_sub(age)),
            host: self.host.clone(),
            tool: self.tool.clone(),
            limit,
        }
    }
}

fn hosts() -> PossibleValuesParser {
    PossibleValuesParser::new(Host::ALL.map(Host::name).into_iter().chain([RUN_HOST]))
}

/// What is printed where nothing failed.
const NOTHING: &str = "no failures are recorded; to record those of an agent: towpath init HOST";

impl Args {
    fn command(&self) -> &dyn Execute {
        match &self.command {
            None => &self.list,
            Some(FailuresCommand::List(args)) => args,
            Some(FailuresCommand::Paths(args)) => args,
            Some(FailuresCommand::Stats(args)) => args,
            Some(FailuresCommand::Inspect(args)) => args,
            Some(FailuresCommand::Similar(args)) => args,
            Some(FailuresCommand::Export(args)) => args,
        }
    }
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        self.command().execute(invocation)
    }

    fn json(&self) -> bool {
        self.command().json()
    }
}

/// Where a table of all columns would show the beginnings of words only.
fn is_narrow(screen: &Screen) -> bool {
    screen.width.is_some_and(|width| width < 60)
}

/// The journal with what hooks have recorded.
fn journal(env: &Environment) -> Result<Option<towpath_store::Store>, CommandError> {
    crate::corrections::folded_journal(env)
}
