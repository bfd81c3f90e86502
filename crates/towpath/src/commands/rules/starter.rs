//! `towpath rules starter`: mistakes that agents often make, to choose from.

use super::super::Execute;
use super::in_host;
use crate::corrections::correction_view::correction_lines;
use crate::corrections::rule_view::{replaced_lines, rule_json, summary};
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::terminal::format::count;
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::table::{Cell, Table};
use serde_json::{Value, json};
use towpath_core::nearest;
use towpath_corrections::host::Host;
use towpath_corrections::{
    Correction, NewRule, Rule, RuleBook, RuleIndex, RuleKind, STARTER, StarterRule, ToolCall,
    correct, user_rules,
};
use towpath_store::SetRule;

/// Choose from rules for mistakes that agents often make.
///
/// Without NAMES they are listed. None is used before you choose it: some are right on some machines
/// only.
///
/// Example: towpath rules starter docker-compose git-push-lease
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The rules to add.
    #[arg(value_name = "NAMES")]
    starters: Vec<String>,
    /// Add all of them.
    #[arg(long, conflicts_with = "starters")]
    all: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let chosen = self.chosen()?;
        if chosen.is_empty() {
            let known = env.journal()?.as_ref().map_or(Ok(Vec::new()), user_rules)?;
            self.list(env, &known);
            return Ok(Exit::Done);
        }
        let each = |starter: &&'static StarterRule| {
            let own = rules(starter)?.into_iter().enumerate();
            Ok(own.map(|(at, rule)| ((at == 0).then_some(*starter), rule)).collect::<Vec<_>>())
        };
        let chosen = chosen.iter().map(each).collect::<Result<Vec<_>, CommandError>>()?.concat();
        let (chosen, rules): (Vec<Option<&StarterRule>>, Vec<Rule>) = chosen.into_iter().unzip();
        let mut book = RuleBook::open(&env.directories.state)?;
        let before = book.rules()?;
        let set = book.set(&rules)?;
        let numbers = set.iter().map(|set| set.number().unsigned_abs());
        let rules: Vec<Rule> =
            rules.into_iter().zip(numbers).map(|(rule, number)| Rule { number, ..rule }).collect();
        if self.json {
            let added: Vec<Value> = rules.iter().map(rule_json).collect();
            out::json(&json!({ "schema": 1, "added": added }));
        } else {
            for ((starter, rule), set) in chosen.iter().zip(&rules).zip(&set) {
                print_added(env, *starter, rule, *set);
                let old = before.iter().find(|old| old.key() == rule.key());
                let lines = old.map_or(Vec::new(), |old| replaced_lines(old, rule, env));
                lines.into_iter().for_each(out::line);
            }
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

impl Args {
    fn chosen(&self) -> Result<Vec<&'static StarterRule>, CommandError> {
        if self.all {
            return Ok(STARTER.iter().collect());
        }
        let named = |name: &String| {
            let found = STARTER.iter().find(|starter| starter.name == *name);
            found.ok_or_else(|| unknown(name))
        };
        self.starters.iter().map(named).collect()
    }

    fn list(&self, env: &Environment, known: &[Rule]) {
        let has = |rule: &Rule| known.iter().any(|known| known.key() == rule.key());
        let all = STARTER.iter().filter_map(|starter| Some((starter, rules(starter).ok()?)));
        if self.json {
            let each = |(starter, rule): (&StarterRule, Rule)| {
                let mut fields = rule_json(&rule);
                fields["name"] = json!(starter.name);
                fields["added"] = json!(has(&rule));
                fields
            };
            let all = all.flat_map(|(starter, own)| own.into_iter().map(move |r| (starter, r)));
            let all: Vec<Value> = all.map(each).collect();
            out::json(&json!({ "schema": 1, "starter": all }));
            return;
        }
        let mut table = Table::new(&["NAME", "WHAT", "STATUS"]);
        for (starter, own) in all {
            let status = if own.iter().all(has) { "added" } else { "" };
            let status = Cell::tinted(status, Tint::Good);
            let near = match own.len() - 1 {
                0 => String::new(),
                near => format!(", and {}", count(near, "near spelling")),
            };
            let what = own.first().map(summary).unwrap_or_default();
            table.row(vec![starter.name.as_str().into(), format!("{what}{near}").into(), status]);
        }
        table.print(&Screen::new(env));
        out::line("to add some: towpath rules starter NAMES");
    }
}

fn rules(starter: &StarterRule) -> Result<Vec<Rule>, CommandError> {
    let wrong = |error| CommandError::bad_input(format!("{}: {error}", starter.name));
    let each = |new: NewRule| new.check(0, false).map_err(wrong);
    starter.rules().into_iter().map(each).collect()
}

/// The rule, and what it makes of the line that its starter was tried with. One for a near spelling
/// has none of its own.
fn print_added(env: &Environment, starter: Option<&StarterRule>, rule: &Rule, set: SetRule) {
    let done = if matches!(set, SetRule::Added(_)) { "added" } else { "replaced" };
    out::line(format!("rule {} {done}: {}", rule.number, summary(rule)));
    let Some((before, _)) = starter.and_then(|starter| starter.changed.first()) else { return };
    let call = call(env, rule, before);
    let correction = correct(&call, &RuleIndex::new(vec![rule.clone()]));
    if correction != Correction::Unchanged {
        correction_lines(&call, &correction, &Screen::new(env)).into_iter().for_each(out::line);
    }
}

fn call(env: &Environment, rule: &Rule, before: &str) -> ToolCall {
    match &rule.kind {
        RuleKind::ToolName { .. } | RuleKind::ToolRecipe { .. } => {
            Host::ClaudeCode.call(before, json!({}), None)
        }
        _ => in_host(Host::ClaudeCode, before, &env.current),
    }
}

fn unknown(name: &str) -> CommandError {
    let near = nearest(name, STARTER.iter().map(|starter| starter.name.as_str()));
    let near = near.map_or(String::new(), |near| format!(": did you mean `{near}`?"));
    let message =
        format!("there is no starter rule `{name}`{near}; `towpath rules starter` lists them");
    CommandError::new(Exit::BadInput, ErrorKind::NotFound, message)
}
