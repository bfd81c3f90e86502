//! `towpath settings`: each setting in effect here, and where it comes from.

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::session::project_settings::settings_for;
use crate::settings::value_text;
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::shown_path::shown_path;
use crate::terminal::table::{Cell, Table};
use std::path::Path;
use towpath_core::Value;

/// Show the settings of this directory, and where each comes from.
///
/// A project's own settings are used once they are trusted.
///
/// Example: towpath settings --json
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let settings = settings_for(env, &env.current)?;
        if self.json {
            let each =
                |(key, value, source)| (key, serde_json::json!({"value": value, "source": source}));
            let rows: serde_json::Map<String, Value> =
                settings.rows().into_iter().map(each).collect();
            out::json(&serde_json::json!({ "schema": 1, "settings": rows }));
            return Ok(Exit::Done);
        }
        let mut table = Table::new(&["SETTING", "VALUE", "FROM"]);
        for (key, value, source) in settings.rows() {
            let tint = if source == "default" { Tint::Dim } else { Tint::None };
            let source = match Path::new(&source).is_absolute() {
                true => shown_path(Path::new(&source), env),
                false => source,
            };
            table.row(vec![key.into(), value_text(&value).into(), Cell::tinted(source, tint)]);
        }
        table.print(&Screen::new(env));
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}
