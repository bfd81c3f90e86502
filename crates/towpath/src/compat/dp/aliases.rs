//! `dp aliases`: all rules in a table, and their way into a file and back.

use super::alias::type_word;
use super::{Dp, aliases_file};
use crate::exit::{CommandError, Exit};
use crate::terminal::format::{clean, rfc3339};
use crate::terminal::out;
use crate::terminal::screen::Screen;
use crate::terminal::table::{Cell, Table};
use serde_json::{Value, json};
use towpath_corrections::Rule;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// List all tool name aliases and correction rules.
///
/// Example: dp aliases export -o rules.toml
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub struct AliasesArgs {
    #[command(subcommand)]
    verb: Option<AliasesVerb>,
}

#[derive(Debug, clap::Subcommand)]
enum AliasesVerb {
    Export(aliases_file::ExportArgs),
    Import(aliases_file::ImportArgs),
}

pub fn execute(dp: &Dp<'_>, args: &AliasesArgs) -> Result<Exit, CommandError> {
    match &args.verb {
        Some(AliasesVerb::Export(args)) => aliases_file::export(dp, args),
        Some(AliasesVerb::Import(args)) => aliases_file::import(dp, args),
        None => list(dp),
    }
}

fn list(dp: &Dp<'_>) -> Result<Exit, CommandError> {
    let mut rules = dp.book()?.rules()?;
    rules.sort_by_cached_key(|rule| {
        let key = rule.key();
        (key.tool, key.command, key.from)
    });
    if dp.json {
        out::json(&rules.iter().map(alias_json).collect());
        return Ok(Exit::Done);
    }
    if rules.is_empty() {
        out::note("No aliases configured.");
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["FROM", "TO", "TYPE", "COMMAND", "CREATED"]);
    for rule in &rules {
        let kind = type_word(&rule.kind);
        let kind = if rule.enabled { kind.to_owned() } else { format!("{kind} (disabled)") };
        table.row(vec![
            Cell::from(rule.kind.from()),
            shortened(rule.kind.to()).into(),
            kind.into(),
            rule.key().command.into(),
            created(rule).into(),
        ]);
    }
    table.print(&Screen::new(dp.env));
    Ok(Exit::Done)
}

/// `2026-02-10 19:00:00`
fn created(rule: &Rule) -> String {
    rfc3339(rule.created_ms).chars().take(19).collect::<String>().replace('T', " ")
}

fn alias_json(rule: &Rule) -> Value {
    let key = rule.key();
    let tool_name = key.tool.is_empty() && key.parameter.is_empty();
    let mut alias = json!({
        "from": rule.kind.from(),
        "to": rule.kind.to(),
        "tool": key.tool,
        "param": key.parameter,
        "command": key.command,
        "match_kind": if tool_name { "" } else { key.kind.as_str() },
        "message": rule.message.as_deref().unwrap_or_default(),
        "created_at": rfc3339(rule.created_ms),
        "number": rule.number,
        "enabled": rule.enabled,
        "hits": rule.hits,
    });
    if let Some(fields) = alias.as_object_mut() {
        fields.retain(|key, value| key == "to" || value != "");
    }
    alias
}

/// The widest that a replacement is shown, in columns of the terminal.
const WIDEST: usize = 40;

/// A text in one line, cut to 40 columns.
pub fn shortened(text: &str) -> String {
    let text = clean(&text.replace('\r', "").replace('\n', " "));
    if text.width() <= WIDEST {
        return text;
    }
    let mut cut = String::new();
    let mut width = 0;
    for letter in text.chars() {
        width += letter.width().unwrap_or_default();
        if width > WIDEST - 3 {
            break;
        }
        cut.push(letter);
    }
    format!("{cut}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TestTruncateTo of the seed's program, in columns instead of bytes.
    #[test]
    fn truncate_to() {
        assert_eq!(shortened("rg"), "rg");
        assert_eq!(shortened("a\r\nb"), "a b");
        assert_eq!(shortened(&"x".repeat(40)), "x".repeat(40));
        assert_eq!(shortened(&"x".repeat(41)), format!("{}...", "x".repeat(37)));
        assert_eq!(shortened(&"語".repeat(30)), format!("{}...", "語".repeat(18)));
        assert_eq!(shortened(&"e\u{301}".repeat(40)), "e\u{301}".repeat(40));
    }
}
