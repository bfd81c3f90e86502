//! `towpath rules import`: rules from a file, all or none of them.

use super::super::Execute;
use crate::corrections::rule_view::{replaced_lines, rule_json, summary};
use crate::corrections::shown;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::terminal::format::{clean, count};
use crate::terminal::out;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use towpath_corrections::{ImportedRules, Rule, RuleBook, RuleKey, user_rules};

/// Add the rules of a file to yours.
///
/// Takes what `towpath rules export` writes, a project's rules.toml, and what dp exports or keeps in
/// its database. A file with a mistake in it adds nothing.
///
/// Example: towpath rules import team-rules.toml --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A TOML or JSON file, or a database of dp.
    file: PathBuf,
    /// Replace your own rules for the same mistakes [default: keep yours]
    #[arg(long)]
    replace: bool,
    /// Show what would be added, and add nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What becomes of each rule of the file.
#[derive(Default)]
struct Import {
    added: Vec<Rule>,
    /// The user's own, and what it becomes.
    replaced: Vec<(Rule, Rule)>,
    /// The user's own differ, and stay.
    kept: Vec<Rule>,
    /// The user has them already.
    same: usize,
}

impl Import {
    /// The rules to save.
    fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.added.iter().chain(self.replaced.iter().map(|(_, rule)| rule))
    }
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let path = env.current.join(env.expand_home(&self.file));
        let file = ImportedRules::read(&env.current, &path).map_err(|error| shown(env, error))?;
        let import = self.sort(env, file.rules)?;
        if !self.dry_run {
            let set: Vec<Rule> = import.rules().cloned().collect();
            if !set.is_empty() {
                RuleBook::open(&env.directories.state)?.set(&set)?;
            }
        }
        match self.json {
            true => self.print_json(&import, &file.skipped),
            false => self.print(env, &import, &file.skipped),
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

impl Args {
    fn sort(&self, env: &Environment, rules: Vec<Rule>) -> Result<Import, CommandError> {
        let known = env.journal()?.as_ref().map_or(Ok(Vec::new()), user_rules)?;
        let known: HashMap<RuleKey, Rule> = known.into_iter().map(|r| (r.key(), r)).collect();
        let mut import = Import::default();
        for rule in rules {
            match known.get(&rule.key()) {
                None => import.added.push(rule),
                Some(own) if is_same(own, &rule) => import.same += 1,
                Some(own) if self.replace => import.replaced.push((own.clone(), rule)),
                Some(_) => import.kept.push(rule),
            }
        }
        Ok(import)
    }

    fn print(&self, env: &Environment, import: &Import, skipped: &[String]) {
        let would = if self.dry_run { "would be " } else { "" };
        for rule in &import.added {
            out::line(format!("{would}added: {}", summary(rule)));
        }
        for (old, rule) in &import.replaced {
            out::line(format!("{would}replaced: {}", summary(rule)));
            replaced_lines(old, rule, env).into_iter().for_each(out::line);
        }
        for rule in &import.kept {
            out::line(format!("kept yours, --replace takes this one: {}", summary(rule)));
        }
        for reason in skipped {
            out::line(format!("left out: {}", clean(reason)));
        }
        let changed = import.added.len() + import.replaced.len();
        let done = if self.dry_run { "would be imported" } else { "imported" };
        let same = match import.same {
            0 => String::new(),
            same => format!(", {} there already", count(same, "rule")),
        };
        out::line(format!("{} {done}{same}", count(changed, "rule")));
    }

    fn print_json(&self, import: &Import, skipped: &[String]) {
        let all = |rules: &[Rule]| rules.iter().map(rule_json).collect::<Vec<Value>>();
        let replaced: Vec<Value> =
            import.replaced.iter().map(|(_, rule)| rule_json(rule)).collect();
        out::json(&json!({
            "schema": 1,
            "dry_run": self.dry_run,
            "added": all(&import.added),
            "replaced": replaced,
            "kept": all(&import.kept),
            "unchanged": import.same,
            "left_out": skipped,
        }));
    }
}

/// Whether a user's rule is all that the file has.
fn is_same(own: &Rule, rule: &Rule) -> bool {
    own.kind == rule.kind
        && own.message == rule.message
        && own.directory == rule.directory
        && own.enabled == rule.enabled
}
