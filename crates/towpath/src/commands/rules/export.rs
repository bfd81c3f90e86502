//! `towpath rules export`: the user's rules as a file to share.

use super::super::Execute;
use super::no_rule;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::count;
use crate::terminal::out;
use std::path::PathBuf;
use towpath_core::files;
use towpath_corrections::{AboutRules, Rule, RulesFormat, user_rules, write_rules};

/// Write your rules as a file that others can import.
///
/// Numbers, hits and dates stay with you.
///
/// Example: towpath rules export --name team --output team-rules.toml
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only these rules [default: all]
    #[arg(value_name = "NUMBER")]
    rules: Vec<u64>,
    /// Write a new file instead of printing.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write TOML or JSON [default: by the file's name, else toml]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// A name for the rules, written into the file.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// What the rules are for, written into the file.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Who wrote them, written into the file.
    #[arg(long, value_name = "TEXT")]
    author: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Toml,
    Json,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let store = env.journal()?;
        let all = store.as_ref().map_or(Ok(Vec::new()), user_rules)?;
        let rules = self.chosen(all)?;
        let about = AboutRules {
            name: self.name.clone(),
            description: self.description.clone(),
            author: self.author.clone(),
        };
        let text = write_rules(&rules, &about, self.format());
        let Some(file) = &self.output else {
            out::stdout(text.as_bytes());
            return Ok(Exit::Done);
        };
        files::create(&env.current.join(env.expand_home(file)), text.as_bytes())
            .map_err(|error| CommandError::bad_input(format!("{}: {error}", file.display())))?;
        out::line(format!("{} written to {}", count(rules.len(), "rule"), file.display()));
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.format() == RulesFormat::Json && self.output.is_none()
    }
}

impl Args {
    fn chosen(&self, mut all: Vec<Rule>) -> Result<Vec<Rule>, CommandError> {
        let unknown = self.rules.iter().find(|number| !all.iter().any(|r| r.number == **number));
        if let Some(number) = unknown {
            return Err(no_rule(*number));
        }
        all.retain(|rule| self.rules.is_empty() || self.rules.contains(&rule.number));
        Ok(all)
    }

    fn format(&self) -> RulesFormat {
        match (self.format, &self.output) {
            (Some(Format::Toml), _) | (None, None) => RulesFormat::Toml,
            (Some(Format::Json), _) => RulesFormat::Json,
            (None, Some(file)) => RulesFormat::of_name(&file.to_string_lossy()),
        }
    }
}
