//! A proposed rule as a user sees it: what it does, what led to it, and what it would have changed.

use super::rule_view::{summary, warnings_here};
use crate::environment::Environment;
use crate::terminal::format::{clean, count};
use crate::terminal::report::wrapped;
use crate::terminal::screen::{Screen, Tint};
use towpath_corrections::failure::Proposal;
use towpath_corrections::{Rule, RuleKind};

/// Nothing is shortened but the head: what is accepted must be seen.
pub fn proposal_lines(proposal: &Proposal, env: &Environment) -> Vec<String> {
    let screen = &Screen::new(env);
    let broken = |text: &str, used: usize| match screen.width {
        Some(width) => wrapped(text, width.saturating_sub(used).max(1)),
        None => vec![text.to_owned()],
    };
    let checked = proposal.rule.clone().check(0, true).ok();
    let head = checked.as_ref().map_or(String::new(), |rule: &Rule| {
        format!("{}: {}", rule.kind.name().as_str(), summary(rule))
    });
    let mut lines = broken(&head, 0);
    for text in evidence(proposal) {
        let dim = |line: String| format!("  {}", screen.paint(Tint::Dim, &line));
        lines.extend(broken(&text, 2).into_iter().map(dim));
    }
    for warning in checked.iter().flat_map(|rule| warnings_here(env, rule, &[])) {
        let mark = screen.paint(Tint::Attention, "warning:");
        let text = broken(&warning.to_string(), 11).join("\n           ");
        lines.push(format!("  {mark} {text}"));
    }
    for change in &proposal.back_test.examples {
        for (mark, tint, text) in
            [("-", Tint::Bad, Some(&change.before)), ("+", Tint::Good, change.after.as_ref())]
        {
            for line in text.into_iter().flat_map(|text| text.lines()) {
                for (index, piece) in broken(&clean(line), 4).into_iter().enumerate() {
                    let mark = if index == 0 { mark } else { " " };
                    lines.push(format!("  {} {piece}", screen.paint(tint, mark)));
                }
            }
        }
    }
    lines
}

fn evidence(proposal: &Proposal) -> Vec<String> {
    let evidence = &proposal.evidence;
    let times = |number: usize| match number {
        1 => "once".to_owned(),
        number => format!("{number} times"),
    };
    let sessions = count(evidence.sessions, "session");
    let mut lines =
        vec![format!("{}: {} in {sessions}", evidence.mistake, times(evidence.occurrences))];
    if proposal.recovered > 0 {
        lines.push(format!("this worked {} afterwards", times(proposal.recovered)));
    }
    let calls = count(proposal.back_test.changed, "recorded call");
    let verb = match proposal.rule.kind {
        RuleKind::Refuse { .. } | RuleKind::ToolName { .. } => "refused",
        _ => "changed",
    };
    lines.push(format!("would have {verb} {calls}, none of which had worked"));
    lines
        .extend(proposal.rule.message.iter().map(|message| format!("message: {}", clean(message))));
    lines
}
