//! `towpath rules enable` and `towpath rules disable`.

use super::super::Execute;
use super::no_rule;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use serde_json::json;
use towpath_corrections::RuleBook;

/// Apply disabled rules again.
///
/// Example: towpath rules enable 12
#[derive(Debug, clap::Args)]
pub struct EnableArgs {
    #[command(flatten)]
    chosen: ChosenRules,
}

/// Keep rules without applying them.
///
/// A rule of a project is disabled for you alone.
///
/// Example: towpath rules disable 12 13
#[derive(Debug, clap::Args)]
pub struct DisableArgs {
    #[command(flatten)]
    chosen: ChosenRules,
}

#[derive(Debug, clap::Args)]
struct ChosenRules {
    /// The numbers of the rules.
    #[arg(required = true, value_name = "NUMBER")]
    rules: Vec<u64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for EnableArgs {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        self.chosen.enable(invocation, true)
    }

    fn json(&self) -> bool {
        self.chosen.json
    }
}

impl Execute for DisableArgs {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        self.chosen.enable(invocation, false)
    }

    fn json(&self) -> bool {
        self.chosen.json
    }
}

impl ChosenRules {
    fn enable(&self, invocation: &Invocation, enabled: bool) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        if env.journal()?.is_none() {
            return Err(no_rule(self.rules[0]));
        }
        let mut book = RuleBook::open(&env.directories.state)?;
        // All or none: a wrong number changes nothing.
        for number in &self.rules {
            if !book.has(*number)? {
                return Err(no_rule(*number));
            }
        }
        for number in &self.rules {
            book.enable(*number, enabled)?;
        }
        if self.json {
            out::json(&json!({ "schema": 1, "rules": self.rules, "enabled": enabled }));
        } else {
            let word = if enabled { "enabled" } else { "disabled" };
            for number in &self.rules {
                out::line(format!("rule {number} {word}"));
            }
        }
        Ok(Exit::Done)
    }
}
