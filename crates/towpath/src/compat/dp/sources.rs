//! `dp sources`: the agent programs whose calls can be recorded.

use super::Dp;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use crate::terminal::screen::Screen;
use crate::terminal::table::{Cell, Table};
use serde_json::{Value, json};
use towpath_corrections::host::Host;
use towpath_corrections::install::HostFiles;

pub fn execute(dp: &Dp<'_>) -> Result<Exit, CommandError> {
    let rows = Host::ALL.map(|host| (host.name(), format!("{} hooks", HostFiles::of(host).title)));
    if dp.json {
        let source = |(name, about): &(&str, String)| json!({ "name": name, "description": about });
        out::json(&rows.iter().map(source).collect::<Value>());
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["NAME", "DESCRIPTION"]);
    for (name, about) in rows {
        table.row(vec![Cell::from(name), about.into()]);
    }
    table.print(&Screen::new(dp.env));
    Ok(Exit::Done)
}
