//! `towpath rules suggest`: rules that recorded mistakes lead to. None is used before the user accepts
//! it.

mod ask_agent;
mod review;

use super::super::Execute;
use crate::corrections::folded_journal;
use crate::corrections::proposal_view::proposal_lines;
use crate::duration_arguments::milliseconds;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::session::choose_agent::AgentFlags;
use crate::terminal::format::{count, now_ms};
use crate::terminal::out;
use serde_json::json;
use towpath_corrections::failure::FailureQuery;
use towpath_corrections::failure::Recorded;
use towpath_corrections::failure::Suggestions;

/// Propose rules for mistakes that agents have made.
///
/// A mistake is a command, a flag or a tool that does not exist. What the same session ran next, and
/// that worked, becomes the rule. Every rule is tried on all recorded calls; one that would have
/// changed a call that worked is not proposed. On a terminal you accept, edit or dismiss each; one that
/// you dismiss is not proposed again.
///
/// Example: towpath rules suggest --since 30d
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Learn from calls of this age at most, such as 90m, 12h, 30d or 2w.
    #[arg(long, value_name = "AGE", value_parser = milliseconds)]
    since: Option<i64>,
    /// Only mistakes that were made at least N times.
    #[arg(long, value_name = "N", default_value_t = 2)]
    least: usize,
    /// Ask an agent for rules where nothing that worked was recorded.
    #[arg(long)]
    model: bool,
    #[command(flatten)]
    agent: AgentFlags,
    /// Print one JSON object, and ask nothing.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let query = FailureQuery {
            since_ms: self.since.map(|age| now_ms().saturating_sub(age)),
            ..FailureQuery::default()
        };
        let recorded = Recorded::read(folded_journal(env)?.as_ref(), &query)?;
        let mut suggestions = recorded.suggestions(self.least);
        if self.model {
            ask_agent::add(env, &self.agent, &recorded, &mut suggestions)?;
        }
        let ask = env.stdout_terminal && !env.unattended;
        match (self.json, ask) {
            (true, _) => print_json(&suggestions),
            (false, _) if suggestions.proposals.is_empty() => print_nothing(&suggestions),
            (false, true) => review::review(env, &recorded, &suggestions)?,
            (false, false) => print(env, &suggestions),
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn print_json(suggestions: &Suggestions) {
    out::json(&json!({
        "schema": 1,
        "proposals": suggestions.proposals,
        "unanswered": suggestions.unanswered,
        "harmful": suggestions.harmful,
    }));
}

fn print(env: &Environment, suggestions: &Suggestions) {
    for proposal in &suggestions.proposals {
        out::line(proposal_lines(proposal, env).join("\n"));
        out::line("");
    }
    print_rest(suggestions);
    out::line("nothing was added; on a terminal you can accept, edit or dismiss each of them");
}

fn print_nothing(suggestions: &Suggestions) {
    out::line("no rules to propose; to see what fails: towpath failures paths");
    print_rest(suggestions);
}

/// What there is no rule for.
fn print_rest(suggestions: &Suggestions) {
    if !suggestions.unanswered.is_empty() {
        let mistakes = count(suggestions.unanswered.len(), "mistake");
        out::line(format!("{mistakes} without anything known to work; --model asks an agent"));
    }
    if !suggestions.harmful.is_empty() {
        let mistakes = count(suggestions.harmful.len(), "mistake");
        out::line(format!("{mistakes} not proposed: the same call has worked elsewhere"));
    }
}
