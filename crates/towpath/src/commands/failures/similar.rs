//! `towpath failures similar`: which name was meant.

use super::super::Execute;
use super::{WhichFailures, journal};
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use crate::terminal::screen::Screen;
use crate::terminal::table::Table;
use serde_json::json;
use towpath_corrections::failure::similar_tool_names::known_names;
use towpath_corrections::failure::similar_tool_names::{SIMILAR, similar};

/// Find the tool or the program that was meant with a name.
///
/// Names are compared by their words, and by what other agent programs call their tools. Looks among
/// the tools and programs of recorded calls that succeeded, and Claude Code's tools.
///
/// Example: towpath failures similar read_file
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Args {
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    which: WhichFailures,
    /// A name that may be meant, beside the recorded ones.
    #[arg(long, value_name = "NAME")]
    known: Vec<String>,
    /// How similar a name must be, from 0 to 1.
    #[arg(long, value_name = "SCORE", default_value_t = SIMILAR)]
    threshold: f64,
    /// Show at most N names.
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 5)]
    limit: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let calls = self.which.query(None).calls(journal(env)?.as_ref())?;
        let known = known_names(&calls, &self.known);
        let mut found = similar(&self.name, known.iter().map(String::as_str), self.threshold);
        found.truncate(self.limit);
        if self.json {
            out::json(&json!({ "schema": 1, "name": self.name, "similar": found }));
        } else if found.is_empty() {
            out::line(format!("no known name is similar to {}", self.name));
        } else {
            let mut table = Table::new(&["NAME", "SIMILARITY"]);
            for name in &found {
                table.row(vec![name.name.into(), format!("{:.2}", name.score).into()]);
            }
            table.print(&Screen::new(env));
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}
