//! `towpath rules list`: all rules of the user and of this project, and which of them are not used.

use super::super::Execute;
use super::{not_applied, show_project_problems};
use crate::corrections::active_rules;
use crate::corrections::folded_journal;
use crate::corrections::rule_view::{directory_line, rule_json, summary};
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::terminal::format::rfc3339;
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::shown_path::shown_path;
use crate::terminal::table::{Cell, Table};
use serde_json::{Value, json};
use std::collections::HashSet;
use towpath_corrections::{ActiveRules, FileTrust, ProjectRules, Rule, Scope};

/// List the rules.
///
/// HITS is how many calls of agents a rule has matched. A rule of this project is used instead of your
/// own for the same mistake, unless you disable it.
///
/// Example: towpath rules list --json
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Args {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let active = active_rules(env, folded_journal(env)?.as_ref(), &env.current)?;
        show_project_problems(env, active.project.as_ref());
        match self.json {
            true => print_json(&active),
            false => print(env, &active),
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn print_json(active: &ActiveRules) {
    let used = UsedRules::of(active);
    let each = |rule| {
        let mut fields = rule_json(rule);
        fields["used"] = json!(used.status(rule) == RuleStatus::Enabled);
        fields
    };
    let rules: Vec<Value> = active.all().map(each).collect();
    let pause = active.pause.map(
        |pause| json!({ "since": rfc3339(pause.since_ms), "until": pause.until_ms.map(rfc3339) }),
    );
    let project = active.project.as_ref().map(|project| {
        json!({
            "path": project.path.display().to_string(),
            "trusted": project.trust == FileTrust::Trusted,
            "valid": project.problems.is_empty(),
        })
    });
    out::json(&json!({ "schema": 1, "rules": rules, "project": project, "pause": pause }));
}

fn print(env: &Environment, active: &ActiveRules) {
    if active.all().next().is_none() {
        out::line("no rules yet; to add one: towpath rules add command python python3");
        out::line("to choose from mistakes that agents often make: towpath rules starter");
        return;
    }
    print_table(env, active);
    if let Some(ProjectRules { path, trust, .. }) = &active.project
        && *trust != FileTrust::Trusted
    {
        let path = shown_path(path, env);
        let why = if *trust == FileTrust::New { "is not trusted" } else { "has changed" };
        out::line(format!("{path} {why}; to see and use its rules: towpath trust {path}"));
    }
    if let Some(why) = not_applied(env, active) {
        out::line(why);
    }
}

/// What a rule is about is worth more than its kind, where there is no room for both.
const NARROW: usize = 60;

fn print_table(env: &Environment, active: &ActiveRules) {
    let screen = Screen::new(env);
    let with_kind = screen.width.is_none_or(|width| width >= NARROW);
    let used = UsedRules::of(active);
    let mut header = vec!["RULE", "KIND", "WHAT", "HITS", "STATUS"];
    header.retain(|column| with_kind || *column != "KIND");
    let mut table = Table::new(&header);
    let add = |rule: &Rule, table: &mut Table| {
        table.row(row(rule, used.status(rule), with_kind));
        if let Some(directory) = directory_line(rule, env) {
            table.below(format!("  {directory}"), Tint::Dim);
        }
    };
    active.user.iter().for_each(|rule| add(rule, &mut table));
    if let Some(project) = &active.project {
        table.below(format!("{}:", shown_path(&project.path, env)), Tint::Dim);
        project.rules.iter().for_each(|rule| add(rule, &mut table));
    }
    table.print(&screen);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RuleStatus {
    Enabled,
    Disabled,
    NotTrusted,
    /// The project has a rule for the same mistake.
    Replaced,
}

/// Which rules correct calls here.
struct UsedRules {
    numbers: HashSet<u64>,
    project_trusted: bool,
}

impl UsedRules {
    fn of(active: &ActiveRules) -> UsedRules {
        let project = active.project.as_ref();
        UsedRules {
            numbers: active.rules.iter().map(|rule| rule.number).collect(),
            project_trusted: project.is_some_and(|p| p.trust == FileTrust::Trusted),
        }
    }

    fn status(&self, rule: &Rule) -> RuleStatus {
        match rule.scope {
            Scope::Project if !self.project_trusted => RuleStatus::NotTrusted,
            _ if !rule.enabled => RuleStatus::Disabled,
            Scope::User if !self.numbers.contains(&rule.number) => RuleStatus::Replaced,
            _ => RuleStatus::Enabled,
        }
    }
}

fn row(rule: &Rule, status: RuleStatus, with_kind: bool) -> Vec<Cell> {
    let (word, tint) = match status {
        RuleStatus::Enabled => ("enabled", Tint::None),
        RuleStatus::Disabled => ("disabled", Tint::Dim),
        RuleStatus::NotTrusted => ("not trusted", Tint::Attention),
        RuleStatus::Replaced => ("replaced", Tint::Dim),
    };
    let number = if rule.number == 0 { "–".to_owned() } else { rule.number.to_string() };
    let mut cells = vec![Cell::from(number)];
    if with_kind {
        cells.push(rule.kind.name().as_str().into());
    }
    cells.extend([summary(rule).into(), rule.hits.to_string().into(), Cell::tinted(word, tint)]);
    cells
}
