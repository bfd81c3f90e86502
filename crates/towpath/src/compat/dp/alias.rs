//! `dp alias`: sets or deletes one rule.

use super::Dp;
use super::aliases::shortened;
use crate::corrections::correction_view::correction_lines;
use crate::corrections::rule_view::{directory_line, warnings_here};
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use crate::terminal::screen::Screen;
use serde_json::json;
use std::path::PathBuf;
use towpath_core::files;
use towpath_corrections::{
    ActiveRules, NewRule, Rule, RuleBook, RuleError, RuleKey, RuleKind, SHELL_TOOL, ToolCall,
    resolved, with_resolved_directories,
};
use towpath_store::SetRule;

/// Create, replace or delete a tool name alias or a correction rule.
///
/// dp alias read_file Read
/// dp alias --cmd scp --flag r R --message "scp uses -R"
/// dp alias --cmd grep --replace rg
/// dp alias --cmd scp "user@host:" "user@new:"
/// dp alias --tool Bash --param command --regex "curl -k" "curl --cacert c.pem"
/// dp alias --recipe "gt await-signal" 'while true; do …; done'
/// dp alias --recipe-tool await_signal --file recipe.sh
/// dp alias --delete --recipe "gt await-signal"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct AliasArgs {
    /// FROM and TO, or FROM and SCRIPT.
    #[arg(value_name = "FROM TO")]
    pub words: Vec<String>,
    /// Delete the rule that the same flags would create.
    #[arg(long)]
    pub delete: bool,
    /// Correct this command, or the command that begins with these words.
    #[arg(long, value_name = "COMMAND")]
    pub cmd: Option<String>,
    /// Correct a flag of --cmd: OLD NEW, or OLD,NEW; an empty NEW drops it.
    #[arg(long, value_name = "OLD,NEW")]
    pub flag: Vec<String>,
    /// With --flag: letters of the command that take a value.
    #[arg(long, value_name = "LETTERS")]
    pub valued: Option<String>,
    /// Use this command instead of --cmd.
    #[arg(long, value_name = "COMMAND")]
    pub replace: Option<String>,
    /// Correct a parameter of this tool.
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// The parameter of --tool.
    #[arg(long, value_name = "NAME")]
    pub param: Option<String>,
    /// FROM is a regular expression.
    #[arg(long)]
    pub regex: bool,
    /// Replace a whole command, which begins with FROM, by a script.
    #[arg(long)]
    pub recipe: bool,
    /// Answer a call of the tool FROM, which does not exist, with a script.
    #[arg(long)]
    pub recipe_tool: bool,
    /// Read the script from a file.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Take {{ in the script as it is.
    #[arg(long)]
    pub no_template: bool,
    /// Give the script this many seconds, where the host has a timeout.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
    /// Keep a script that is not understood as bash.
    #[arg(long)]
    pub force: bool,
    /// The host whose tool name FROM is.
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,
    /// What the agent is shown when the rule is applied.
    #[arg(long, value_name = "TEXT")]
    pub message: Option<String>,
    /// Check the rule and save nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Show what the rules, with this one, make of a command.
    #[arg(long, value_name = "COMMAND")]
    pub test: Option<String>,
}

pub fn execute(dp: &Dp<'_>, args: &AliasArgs) -> Result<Exit, CommandError> {
    args.check().map_err(CommandError::bad_input)?;
    let script = args.file.as_ref().map(|path| read_script(dp, path)).transpose()?;
    let kind = args.kind(script).map_err(CommandError::bad_input)?;
    match args.delete {
        true => delete(dp, &kind),
        false => set(dp, args, kind),
    }
}

/// As `"$(cat FILE)"` would give it.
fn read_script(dp: &Dp<'_>, path: &std::path::Path) -> Result<String, CommandError> {
    let text = files::read_text(&dp.env.current.join(path), files::MOST_TEXT);
    let text =
        text.map_err(|error| CommandError::bad_input(format!("{}: {error}", path.display())))?;
    Ok(text.trim_end_matches('\n').to_owned())
}

fn set(dp: &Dp<'_>, args: &AliasArgs, kind: RuleKind) -> Result<Exit, CommandError> {
    let new = NewRule { kind, message: args.message.clone(), directory: None };
    let rule = new.check(0, args.force).map_err(refused)?;
    let mut book = dp.book()?;
    let before = book.rules()?;
    let replaced = before.iter().find(|other| other.key() == rule.key());
    let rule = match args.dry_run {
        true => Rule { number: replaced.map_or(0, |old| old.number), ..rule },
        false => saved(&mut book, rule)?,
    };
    match dp.json {
        true => out::json(&json!({
            "action": if args.dry_run { "checked" } else { "set" },
            "from": rule.kind.from(),
            "to": rule.kind.to(),
        })),
        false => out::line(set_line(&rule, args.dry_run)),
    }
    if let Some(old) = replaced {
        let would = if args.dry_run { "would replace" } else { "replaces" };
        let was = shortened(old.kind.to());
        let only = directory_line(old, dp.env).map_or(String::new(), |only| format!(" ({only})"));
        out::note(format!("it {would} rule {}, which was: {was}{only}", old.number));
    }
    let mut rules: Vec<Rule> = before.into_iter().filter(|old| old.key() != rule.key()).collect();
    for warning in warnings_here(dp.env, &rule, &rules) {
        out::note(format!("warning: {warning}"));
    }
    rules.push(rule);
    if let Some(command) = &args.test {
        show_test(dp, rules, command);
    }
    Ok(Exit::Done)
}

fn saved(book: &mut RuleBook, rule: Rule) -> Result<Rule, CommandError> {
    let set = book.set(std::slice::from_ref(&rule))?;
    let number = set.first().map_or(0, |set: &SetRule| set.number().unsigned_abs());
    Ok(Rule { number, ..rule })
}

fn set_line(rule: &Rule, dry_run: bool) -> String {
    let kind = &rule.kind;
    let (from, to) = (kind.from(), shortened(kind.to()));
    let set = if dry_run { "can be set" } else { "set" };
    let key = kind.key();
    match (kind, key.command.as_str()) {
        (RuleKind::ToolName { .. }, _) => format!("Alias {set}: {from} -> {to}"),
        (_, "") => format!("Rule {set}: {from} -> {to} ({})", type_word(kind)),
        (_, command) => format!("Rule {set}: {command} {from} -> {to} ({})", type_word(kind)),
    }
}

/// The word for a kind that this name has always used.
pub fn type_word(kind: &RuleKind) -> &'static str {
    match kind {
        RuleKind::ToolName { .. } => "alias",
        RuleKind::ToolRecipe { .. } => "recipe-tool",
        other => other.name().as_str(),
    }
}

fn show_test(dp: &Dp<'_>, rules: Vec<Rule>, command: &str) {
    let mut call = ToolCall::claude_code(SHELL_TOOL, json!({ "command": command }));
    call.directory = dp.env.current.to_str().map(resolved);
    let rules = with_resolved_directories(rules);
    let correction = ActiveRules { rules, ..ActiveRules::default() }.correct(&call);
    let lines = correction_lines(&call, &correction, &Screen::new(dp.env));
    lines.into_iter().for_each(out::line);
}

fn delete(dp: &Dp<'_>, kind: &RuleKind) -> Result<Exit, CommandError> {
    let mut book = dp.book()?;
    let rules = book.rules()?;
    let Some(rule) = rules.iter().find(|rule| rule.key() == kind.key()) else {
        return Err(not_found(&kind.key(), &rules));
    };
    book.remove(rule.number)?;
    match dp.json {
        true => out::json(&json!({ "action": "deleted", "from": kind.from() })),
        false => out::line(format!("Alias deleted: {}", kind.from())),
    }
    Ok(Exit::Done)
}

/// A rule of another kind may be the one that is meant.
fn not_found(key: &RuleKey, rules: &[Rule]) -> CommandError {
    let message = format!("alias {:?} not found", key.from);
    let other = rules.iter().find(|rule| rule.kind.from() == key.from);
    CommandError::bad_input(match other {
        Some(rule) => {
            let word = type_word(&rule.kind);
            format!(
                "{message}; rule {0} ({word}) has this name: towpath rules remove {0}",
                rule.number
            )
        }
        None => message,
    })
}

fn refused(error: RuleError) -> CommandError {
    let next = match &error {
        RuleError::NotBash { .. } => "; if bash accepts it, add --force",
        RuleError::BadTemplate { .. } | RuleError::BadPosition => {
            "; to take {{ as it is, add --no-template"
        }
        _ => "",
    };
    CommandError::bad_input(format!("{error}{next}"))
}
