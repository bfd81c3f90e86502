//! `dp`: its verbs, flags, texts and exit codes over Towpath's rules and records. 0: done; 1: every
//! error; 2: `pave-check` has blocked a tool. Verbs without a counterpart name what does their work.

mod alias;
mod aliases;
mod aliases_file;
mod calls;
mod config_file;
mod dates;
mod env_needs;
mod flag_pairs;
mod ingest;
mod init;
mod inspect;
mod paths;
mod pave;
mod pave_check;
mod recorded_calls;
mod rule_of_flags;
mod similar;
mod sources;
mod stats;
mod suggest;

use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Ended, ErrorKind, Exit};
use crate::terminal::out;
use clap::{Parser, Subcommand};
use config_file::DpConfig;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use towpath_corrections::{Rule, RuleBook, user_rules};

/// Correct the commands, flags and tool names that agents get wrong.
///
/// The name of the program desire-path, on the rules and records of towpath.
///
/// Example: dp alias --cmd scp --flag r R
#[derive(Debug, Parser)]
#[command(name = "dp", version)]
#[command(after_help = "The same with more: towpath rules, towpath failures, towpath init")]
struct DpArgs {
    /// Use the journal in this file.
    #[arg(long, global = true, value_name = "FILE")]
    db: Option<PathBuf>,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Alias(alias::AliasArgs),
    Aliases(aliases::AliasesArgs),
    Pave(pave::PaveArgs),
    /// Check one call, which a hook describes on stdin.
    #[command(hide = true)]
    PaveCheck,
    Init(init::InitArgs),
    Ingest(ingest::IngestArgs),
    #[command(hide = true)]
    Record(ingest::IngestArgs),
    List(calls::ListArgs),
    Paths(paths::PathsArgs),
    Inspect(inspect::InspectArgs),
    Stats(stats::StatsArgs),
    Similar(similar::SimilarArgs),
    Suggest(suggest::SuggestArgs),
    Export(calls::ExportArgs),
    EnvNeeds(env_needs::EnvNeedsArgs),
    Config(config_file::ConfigArgs),
    /// List the agent programs whose calls can be recorded.
    Sources,
    /// Print the version.
    Version,
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// What every verb gets.
struct Dp<'a> {
    env: &'a Environment,
    db: Option<PathBuf>,
    json: bool,
    config: DpConfig,
}

impl Dp<'_> {
    /// All rules, of a journal that may not be there yet.
    fn rules(&self) -> Result<Vec<Rule>, CommandError> {
        let store = self.records()?;
        Ok(store.map(|store| user_rules(&store)).transpose()?.unwrap_or_default())
    }

    /// The rules, of the user or of the file that was named.
    fn book(&self) -> Result<RuleBook, CommandError> {
        match &self.db {
            Some(path) => Ok(RuleBook::in_file(&self.own_database(path)?)?),
            None => Ok(RuleBook::open(&self.env.directories.state)?),
        }
    }

    /// A file that was named, unless it is a database of the program that this name comes from.
    fn own_database(&self, path: &Path) -> Result<PathBuf, CommandError> {
        let full = self.env.current.join(path);
        if towpath_store::read_dp_aliases(&full).is_ok() {
            let path = path.display();
            let message = format!(
                "{path} is a database of another dp; to take its aliases: dp aliases import {path}"
            );
            return Err(CommandError::bad_input(message));
        }
        Ok(full)
    }
}

pub fn run(arguments: &[OsString], invocation: &Invocation) -> Ended {
    if let Some(database) = pave_check::asked(arguments) {
        return Ok(pave_check::answer(invocation, database)).into();
    }
    let arguments = flag_pairs::separated(arguments);
    let name = OsString::from("dp");
    let line = match DpArgs::try_parse_from(std::iter::once(name).chain(arguments)) {
        Ok(line) => line,
        Err(error) => return super::usage(&error, Exit::Failed).into(),
    };
    let result = execute(line, invocation);
    result.map_err(|error| CommandError { exit: Exit::Failed, ..error }).into()
}

fn execute(line: DpArgs, invocation: &Invocation) -> Result<Exit, CommandError> {
    let env = invocation.environment()?;
    let config = DpConfig::read(env)?;
    if !matches!(line.verb, Verb::Config(_) | Verb::Version) {
        config.check()?;
    }
    let json = line.json || config.is_json();
    let dp = Dp { env, db: line.db, json, config };
    match line.verb {
        Verb::Alias(args) => alias::execute(&dp, &args),
        Verb::Aliases(args) => aliases::execute(&dp, &args),
        Verb::Pave(args) => pave::execute(&dp, &args),
        Verb::PaveCheck => Ok(pave_check::answer(invocation, dp.db)),
        Verb::Init(args) => init::init(&dp, &args),
        Verb::Ingest(args) => ingest::execute(&dp, &args, "Ingested"),
        Verb::Record(args) => ingest::execute(&dp, &args, "Recorded"),
        Verb::List(args) => calls::list(&dp, &args),
        Verb::Paths(args) => paths::paths(&dp, &args),
        Verb::Inspect(args) => inspect::inspect(&dp, &args),
        Verb::Stats(args) => stats::execute(&dp, &args),
        Verb::Similar(args) => similar::execute(&dp, &args),
        Verb::Suggest(args) => suggest::execute(&dp, &args),
        Verb::Export(args) => calls::export(&dp, &args),
        Verb::EnvNeeds(args) => env_needs::execute(&dp, &args),
        Verb::Config(args) => config_file::execute(&dp, &args),
        Verb::Sources => sources::execute(&dp),
        Verb::Version => {
            out::line(format!("dp {} (towpath)", env!("CARGO_PKG_VERSION")));
            Ok(Exit::Done)
        }
        Verb::Other(words) => Err(elsewhere(&words)),
    }
}

/// Verbs of the program that this name comes from, and what does their work.
const ELSEWHERE: &[(&str, &str)] = &[
    ("completion", "completions of towpath: towpath completions"),
    ("map", "a rule can have a message: dp alias … --message TEXT"),
    ("mappings", "the messages of rules are in: towpath rules list"),
    ("recoveries", "what was run after a failure is in: towpath rules suggest"),
    ("serve", "records stay on this machine; to share rules: dp aliases export"),
    ("struggling", "what fails most is in: dp paths"),
    ("turns", "calls are recorded one by one: dp list"),
];

fn elsewhere(words: &[OsString]) -> CommandError {
    let verb = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let message = match ELSEWHERE.iter().find(|(name, _)| *name == verb) {
        Some((_, instead)) => format!("`dp {verb}` is not supported; {instead}"),
        None => format!("unknown command {verb:?} for \"dp\"; to see all: dp --help"),
    };
    CommandError::new(Exit::Failed, ErrorKind::BadInput, message)
}
