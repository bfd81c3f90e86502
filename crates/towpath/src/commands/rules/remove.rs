//! `towpath rules remove`: rules by their numbers.

use super::super::Execute;
use super::no_rule;
use crate::corrections::active_rules;
use crate::corrections::rule_view::{rule_json, summary};
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use serde_json::json;
use towpath_corrections::{RULES_FILE, RuleBook, Scope};

/// Remove rules.
///
/// A number is never given to another rule. To keep a rule for later, disable it.
///
/// Example: towpath rules remove 12
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The numbers of the rules.
    #[arg(required = true, value_name = "NUMBER")]
    rules: Vec<u64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        if env.journal()?.is_none() {
            return Err(no_rule(self.rules[0]));
        }
        let mut book = RuleBook::open(&env.directories.state)?;
        let known = active_rules(env, Some(book.store()), &env.current)?;
        let of_number = |number: &u64| {
            let rule = known.rule(*number).ok_or_else(|| no_rule(*number))?;
            match rule.scope {
                Scope::User => Ok(rule),
                Scope::Project => Err(in_project(*number)),
            }
        };
        // All or none: a wrong number removes nothing.
        let chosen = self.rules.iter().map(of_number).collect::<Result<Vec<_>, _>>()?;
        for rule in &chosen {
            book.remove(rule.number)?;
        }
        if self.json {
            let removed: Vec<_> = chosen.iter().map(|rule| rule_json(rule)).collect();
            out::json(&json!({ "schema": 1, "removed": removed }));
        } else {
            for rule in &chosen {
                out::line(format!("rule {} removed: {}", rule.number, summary(rule)));
            }
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn in_project(number: u64) -> CommandError {
    CommandError::bad_input(format!(
        "rule {number} is in {RULES_FILE}: remove it there, or for you alone: towpath rules disable \
         {number}"
    ))
}
