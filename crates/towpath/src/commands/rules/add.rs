//! `towpath rules add`: one rule of any kind, checked before it is saved.

mod kind_args;
mod project_file;

use super::super::Execute;
use super::{in_host, show_project_problems};
use crate::corrections::active_rules;
use crate::corrections::correction_view::{correction_json, correction_lines};
use crate::corrections::rule_view::{
    directory_line, replaced_lines, rule_json, summary, warnings_here,
};
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::shown_path::shown_path;
use kind_args::KindArgs;
use serde_json::json;
use std::path::PathBuf;
use towpath_corrections::host::{HookEvent, Host};
use towpath_corrections::install::{Installed, installed};
use towpath_corrections::{
    Correction, NewRule, Rule, RuleBook, RuleError, RuleKind, RuleWarning, Scope, ToolCall, merge,
};

/// Add a rule, or replace the one for the same mistake.
///
/// Choose the kind that fits: `command` for another program, `flag` for an option, `tool` for the name
/// of a tool, `refuse` where there is nothing to write instead, `recipe` for a script instead of a
/// command, `literal` and `regex` for any other text.
///
/// Example: towpath rules add flag "git push" --force --force-with-lease --message "it is safer"
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    kind: KindArgs,
}

/// What every kind takes.
#[derive(Debug, clap::Args)]
pub struct SharedOptions {
    /// Why, or what to do instead. The agent reads it.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// Only for calls in this directory and below it.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Write the rule into the project's .towpath/rules.toml, for all who work on it.
    #[arg(long)]
    project: bool,
    /// Show what the rules, with this one, make of a command; of a tool's name for a tool's rule.
    #[arg(long, value_name = "COMMAND")]
    test: Option<String>,
    /// Check the rule and save nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let shared = self.kind.shared();
        let new = NewRule {
            kind: self.kind.kind(env)?,
            message: shared.message.clone(),
            directory: shared.dir.as_ref().map(|dir| directory(env, dir)).transpose()?,
        };
        let rule = new.check(0, self.kind.force()).map_err(refused)?;
        let added = match (shared.project, shared.dry_run) {
            (true, dry_run) => project_file::add(env, rule, dry_run)?,
            (false, true) => look(env, rule)?,
            (false, false) => save(env, rule)?,
        };
        let tested = shared.test.as_deref().map(|text| try_on(env, &added, text)).transpose()?;
        match shared.json {
            true => print_json(&added, tested.as_ref()),
            false => print(env, &added, tested.as_ref()),
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.kind.shared().json
    }
}

/// What became of a new rule.
struct AddedRule {
    rule: Rule,
    /// The rule that had its key.
    replaces: Option<Rule>,
    saved: bool,
    warnings: Vec<RuleWarning>,
    /// The project's file, and whether it is trusted now.
    file: Option<(PathBuf, bool)>,
}

/// What would become of it.
fn look(env: &Environment, rule: Rule) -> Result<AddedRule, CommandError> {
    let known = active_rules(env, env.journal()?.as_ref(), &env.current)?;
    let key = rule.key();
    let same = known.user.iter().find(|other| other.key() == key).cloned();
    let rule = Rule { number: same.as_ref().map_or(0, |same| same.number), ..rule };
    let warnings = warnings_here(env, &rule, &known.rules);
    Ok(AddedRule { replaces: same, saved: false, warnings, rule, file: None })
}

fn save(env: &Environment, rule: Rule) -> Result<AddedRule, CommandError> {
    let mut book = RuleBook::open(&env.directories.state)?;
    let key = rule.key();
    let replaces = book.rules()?.into_iter().find(|other| other.key() == key);
    let set = book.set(std::slice::from_ref(&rule))?.remove(0);
    let known = active_rules(env, Some(book.store()), &env.current)?;
    show_project_problems(env, known.project.as_ref());
    let number = set.number().unsigned_abs();
    let rule = known.rule(number).cloned().unwrap_or(Rule { number, ..rule });
    let warnings = warnings_here(env, &rule, &known.rules);
    Ok(AddedRule { replaces, saved: true, warnings, rule, file: None })
}

/// What the rules make of a call, once this one is among them.
fn try_on(
    env: &Environment,
    added: &AddedRule,
    text: &str,
) -> Result<(ToolCall, Correction), CommandError> {
    let mut active = active_rules(env, env.journal()?.as_ref(), &env.current)?;
    let there = active.rules.iter().any(|rule| rule.kind == added.rule.kind);
    if !there {
        let rule = Rule { scope: Scope::Project, ..added.rule.clone() };
        active.rules = merge(active.rules, vec![rule]);
    }
    let directory = added.rule.directory.clone();
    let directory = directory.map_or_else(|| env.current.clone(), PathBuf::from);
    let call = match &added.rule.kind {
        RuleKind::ToolName { host, .. } | RuleKind::ToolRecipe { host, .. } => {
            let host = Host::from_name(host).unwrap_or(Host::ClaudeCode);
            host.call(text, json!({}), Some(directory.display().to_string()))
        }
        _ => in_host(Host::ClaudeCode, text, &directory),
    };
    let correction = active.correct(&call);
    Ok((call, correction))
}

fn print(env: &Environment, added: &AddedRule, tested: Option<&(ToolCall, Correction)>) {
    let screen = Screen::new(env);
    out::line(format!("{}: {}", done(env, added), summary(&added.rule)));
    let more = match &added.replaces {
        Some(old) => replaced_lines(old, &added.rule, env),
        None => {
            directory_line(&added.rule, env).map(|line| format!("  {line}")).into_iter().collect()
        }
    };
    more.into_iter().for_each(out::line);
    for warning in &added.warnings {
        out::line(format!("{} {warning}", screen.paint(Tint::Attention, "warning:")));
    }
    if let Some((path, false)) = &added.file
        && added.saved
    {
        let path = shown_path(path, env);
        out::line(format!("{path} is not trusted; to see and use its rules: towpath trust {path}"));
    }
    if let Some((call, correction)) = tested {
        correction_lines(call, correction, &screen).into_iter().for_each(out::line);
    }
    // Once is enough.
    if added.saved && added.rule.number <= 1 && !has_hook(env) {
        out::note("no agent program applies rules yet; install the hook: towpath init claude-code");
    }
}

/// Whether some agent program has our hook before a call. What cannot be read may have it.
fn has_hook(env: &Environment) -> bool {
    let root = env.project_root(&env.current);
    let applies = |found: Installed| found.events.contains(&HookEvent::Pre);
    let mut found = Host::ALL.into_iter().flat_map(|host| installed(env, host, &root));
    found.any(|found| found.map_or(true, applies))
}

fn done(env: &Environment, added: &AddedRule) -> String {
    let file = added.file.as_ref().map(|(path, _)| shown_path(path, env));
    let to = file.as_ref().map_or(String::new(), |file| format!(" to {file}"));
    let of = file.as_ref().map_or(String::new(), |file| format!(" in {file}"));
    let rule = match added.rule.number {
        0 => "rule".to_owned(),
        number => format!("rule {number}"),
    };
    match (added.saved, added.replaces.is_some()) {
        (true, false) => format!("{rule} added{to}"),
        (true, true) => format!("{rule} replaced{of}"),
        (false, false) => format!("this rule can be added{to}"),
        (false, true) => format!("this rule would replace {rule}{of}"),
    }
}

fn print_json(added: &AddedRule, tested: Option<&(ToolCall, Correction)>) {
    let action = match (added.saved, added.replaces.is_some()) {
        (false, _) => "checked",
        (true, false) => "added",
        (true, true) => "replaced",
    };
    let file = added
        .file
        .as_ref()
        .map(|(path, trusted)| json!({ "path": path.display().to_string(), "trusted": trusted }));
    out::json(&json!({
        "schema": 1,
        "action": action,
        "replaces": added.replaces.is_some(),
        "replaced": added.replaces.as_ref().map(rule_json),
        "rule": rule_json(&added.rule),
        "file": file,
        "warnings": added.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "test": tested.map(|(call, correction)| correction_json(call, correction)),
    }));
}

/// The directory as a host names it: absolute, without links.
fn directory(env: &Environment, given: &std::path::Path) -> Result<String, CommandError> {
    let path = env.current.join(env.expand_home(given));
    let shown = given.display();
    let real = path.canonicalize().ok().filter(|path| path.is_dir());
    let real = real.ok_or_else(|| CommandError::bad_input(format!("{shown} is no directory")))?;
    let text = real.to_str().map(str::to_owned);
    text.ok_or_else(|| CommandError::bad_input(format!("{shown} is not UTF-8")))
}

/// Why a rule was refused, and what to do about it.
fn refused(error: RuleError) -> CommandError {
    let next = match &error {
        RuleError::Empty { what } if what == "the message" => {
            "; write what to do instead with --message"
        }
        RuleError::Empty { .. }
        | RuleError::SelfAlias { .. }
        | RuleError::BadRegex { .. }
        | RuleError::NoHook { .. }
        | RuleError::NoGroup { .. } => "",
        RuleError::BadTemplate { .. } => "; if {{ is no template here, add --no-template",
        RuleError::BadPosition => "; write the value alone or in quotes, or add --no-template",
        RuleError::NotWords { .. } => "; for any other text see: towpath rules add regex --help",
        RuleError::NotAFlag { .. } => "; write it as -r or as --recursive",
        RuleError::NotLetters { .. } => "; write them together, such as --valued ioP",
        RuleError::NotBash { .. } => "; if bash accepts it, add --force",
    };
    CommandError::bad_input(format!("{error}{next}"))
}
