//! The rules about a command that do not change it, and why, for the user who wonders.

use crate::terminal::format::clean;
use crate::terminal::out;
use serde_json::{Value, json};
use towpath_corrections::{ActiveRules, Correction, FileTrust, Rule, Scope, ToolCall, unapplied};

pub struct UnappliedRule {
    /// 0 for a rule of a file that was never trusted.
    number: u64,
    from: String,
    reason: String,
}

impl UnappliedRule {
    pub fn line(&self) -> String {
        let rule = match self.number {
            0 => format!("`{}`", clean(&self.from)),
            number => number.to_string(),
        };
        format!("rule {rule} is not applied: {}", clean(&self.reason))
    }

    pub fn json(&self) -> Value {
        json!({ "rule": self.number, "from": self.from, "reason": self.reason })
    }
}

/// The rules that match a command of the call, but are no part of its correction. Of a corrected call
/// only those that could have changed it are worth a line.
pub fn unapplied_rules(
    active: &ActiveRules,
    call: &ToolCall,
    correction: &Correction,
) -> Vec<UnappliedRule> {
    if matches!(correction, Correction::Denied(_)) {
        return Vec::new();
    }
    let used: Vec<&Rule> = active.rules.iter().collect();
    let reasons = unapplied(call, &used, correction).unwrap_or_default();
    let mut found = Vec::new();
    for rule in active.all() {
        let reason = match unused(active, rule) {
            Some(reason) => is_about(call, rule).then(|| reason.to_owned()),
            None => reasons
                .iter()
                .find(|reason| reason.rule == rule.number)
                .filter(|reason| !reason.absent || *correction == Correction::Unchanged)
                .map(|reason| reason.reason.clone()),
        };
        let from = rule.kind.from().to_owned();
        found.extend(reason.map(|reason| UnappliedRule { number: rule.number, from, reason }));
    }
    found
}

/// Why a rule is no rule for any call here.
fn unused(active: &ActiveRules, rule: &Rule) -> Option<&'static str> {
    let project = active.project.as_ref();
    if rule.scope == Scope::Project && project.is_some_and(|p| p.trust != FileTrust::Trusted) {
        return Some("its file is not trusted");
    }
    if !rule.enabled {
        return Some("it is disabled");
    }
    let there = active.rules.iter().any(|used| used.number == rule.number);
    (!there).then_some("the project has a rule for the same mistake")
}

fn is_about(call: &ToolCall, rule: &Rule) -> bool {
    unapplied(call, &[rule], &Correction::Unchanged).is_some_and(|found| !found.is_empty())
}

/// The other rules about programs that the line names.
pub fn print_related(active: &ActiveRules, call: &ToolCall, unapplied: &[UnappliedRule]) {
    let Some((_, line)) = call.command() else { return };
    let words: Vec<&str> =
        line.split(|c: char| c.is_whitespace() || ";&|()`".contains(c)).collect();
    let is_related = |rule: &&Rule| {
        let program = rule.kind.command().and_then(|command| command.split_whitespace().next());
        let explained = |one: &UnappliedRule| {
            (one.number, one.from.as_str()) == (rule.number, rule.kind.from())
        };
        program.is_some_and(|program| words.contains(&program)) && !unapplied.iter().any(explained)
    };
    let named = |rule: &Rule| match rule.number {
        0 => format!("`{}`", clean(rule.kind.from())),
        number => number.to_string(),
    };
    let related: Vec<String> = active.all().filter(is_related).map(named).collect();
    if related.is_empty() {
        return;
    }
    if towpath_corrections::unapplied(call, &[], &Correction::Unchanged).is_none() {
        out::line("  the line is not understood as bash, so nothing in it is changed");
    }
    out::line(format!("  rules about its programs: {}", related.join(", ")));
}
