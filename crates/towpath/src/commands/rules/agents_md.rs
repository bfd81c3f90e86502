//! `towpath rules agents-md`: the rules as instructions that an agent reads.

use super::super::Execute;
use crate::corrections::active_rules;
use crate::corrections::agents_md;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::count;
use crate::terminal::out;
use serde_json::json;
use std::path::PathBuf;
use towpath_corrections::{Scope, agents_md, agents_md_lines};

/// Print the rules as instructions for an agent.
///
/// An agent that reads them makes fewer of the mistakes. With --append they are written into a file
/// between two markers: run it again after a change of the rules, and nothing else in the file changes.
///
/// Example: towpath rules agents-md --append AGENTS.md
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write them into this file, which is made if it is not there.
    #[arg(long, value_name = "FILE")]
    append: Option<PathBuf>,
    /// Only the rules of this project, for a file that others read too.
    #[arg(long)]
    project: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let mut rules = active_rules(env, env.journal()?.as_ref(), &env.current)?.rules;
        rules.retain(|rule| rule.enabled && (!self.project || rule.scope == Scope::Project));
        let changed = match &self.append {
            Some(file) => Some(agents_md::write(env, file, &rules)?),
            None => None,
        };
        if self.json {
            let lines = agents_md_lines(&rules);
            out::json(&json!({ "schema": 1, "instructions": lines, "changed": changed }));
        } else if let (Some(file), Some(changed)) = (&self.append, changed) {
            let (file, rules) = (file.display(), count(rules.len(), "rule"));
            out::line(match changed {
                true => format!("{rules} written to {file}"),
                false => format!("{file} has {rules} already"),
            });
        } else if rules.is_empty() {
            out::line("no rules yet; to add one: towpath rules add command python python3");
        } else {
            out::stdout(agents_md(&rules).as_bytes());
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}
