//! Shows proposals one by one on a terminal, and does what the user answers.

use super::print_rest;
use crate::corrections::proposal_view::proposal_lines;
use crate::corrections::rule_view::summary;
use crate::corrections::shown;
use crate::environment::Environment;
use crate::exit::CommandError;
use crate::terminal::format::{clean, now_ms};
use crate::terminal::out;
use std::process::Command;
use towpath_corrections::failure::Recorded;
use towpath_corrections::failure::{Proposal, Suggestions, judge};
use towpath_corrections::{
    AboutRules, Error, ImportedRules, NewRule, Rule, RuleBook, RulesFormat, key_text, write_rules,
};

enum Answer {
    Accept,
    Edit,
    Dismiss,
    Skip,
    Quit,
}

pub fn review(
    env: &Environment,
    recorded: &Recorded,
    suggestions: &Suggestions,
) -> Result<(), CommandError> {
    let total = suggestions.proposals.len();
    for (index, proposal) in suggestions.proposals.iter().enumerate() {
        out::line(format!("{} of {total}", index + 1));
        let mut proposal = proposal.clone();
        loop {
            out::line(proposal_lines(&proposal, env).join("\n"));
            match ask() {
                Answer::Accept => accept(env, &proposal)?,
                Answer::Dismiss => dismiss(env, &proposal)?,
                Answer::Skip => {}
                Answer::Quit => return Ok(()),
                Answer::Edit => {
                    match edited(env, &proposal, recorded)? {
                        Ok(better) => proposal = better,
                        Err(why) => out::line(format!("that rule is no good: {}", clean(&why))),
                    }
                    continue;
                }
            }
            break;
        }
        out::line("");
    }
    print_rest(suggestions);
    Ok(())
}

/// The end of the input means to leave the rest alone.
fn ask() -> Answer {
    loop {
        out::stdout(b"accept, edit, dismiss, skip or quit? [a/e/d/s/q] ");
        let mut answer = String::new();
        match std::io::stdin().read_line(&mut answer) {
            Ok(0) | Err(_) => return Answer::Quit,
            Ok(_) => {}
        }
        match answer.trim().to_ascii_lowercase().as_str() {
            "a" | "accept" => return Answer::Accept,
            "e" | "edit" => return Answer::Edit,
            "d" | "dismiss" => return Answer::Dismiss,
            "" | "s" | "skip" => return Answer::Skip,
            "q" | "quit" => return Answer::Quit,
            _ => {}
        }
    }
}

fn rule(new: &NewRule) -> Result<Rule, CommandError> {
    let checked = new.clone().check(0, false);
    checked.map_err(|error| CommandError::bad_input(error.to_string()))
}

fn accept(env: &Environment, proposal: &Proposal) -> Result<(), CommandError> {
    let rule = rule(&proposal.rule)?;
    let set = RuleBook::open(&env.directories.state)?.set(std::slice::from_ref(&rule))?;
    let number = set.first().map_or(0, |set| set.number().unsigned_abs());
    out::line(format!("rule {number} added: {}", summary(&rule)));
    Ok(())
}

fn dismiss(env: &Environment, proposal: &Proposal) -> Result<(), CommandError> {
    let key = key_text(&proposal.rule.kind.key());
    RuleBook::open(&env.directories.state)?
        .change(|store| store.suggestion_dismiss(&key, now_ms()).map_err(Error::from))?;
    out::line("dismissed; it is not proposed again");
    Ok(())
}

/// The rule as the user has changed it, checked and tried on all recorded calls.
fn edited(
    env: &Environment,
    proposal: &Proposal,
    recorded: &Recorded,
) -> Result<Result<Proposal, String>, CommandError> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: std::io::Error| CommandError::setup(format!("{what}: {error}"))
    };
    let file = tempfile::Builder::new().prefix("rule-").suffix(".toml").tempfile();
    let file = file.map_err(failed("a file for the rule"))?;
    let text = write_rules(&[rule(&proposal.rule)?], &AboutRules::default(), RulesFormat::Toml);
    std::fs::write(file.path(), text).map_err(failed("a file for the rule"))?;
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| env.get(name));
    let editor = editor.filter(|editor| !editor.is_empty()).cloned().unwrap_or("vi".into());
    let status = Command::new("sh")
        .args(["-c", "eval \"$EDITOR_TO_RUN\" '\"$1\"'", "sh"])
        .arg(file.path())
        .env("EDITOR_TO_RUN", editor)
        .status()
        .map_err(failed("the editor"))?;
    if !status.success() {
        return Ok(Err("the editor failed".to_owned()));
    }
    let rules = match ImportedRules::read(&env.current, file.path()) {
        Ok(imported) => imported.rules,
        Err(error) => return Ok(Err(shown(env, error).message)),
    };
    let [rule] = rules.as_slice() else { return Ok(Err("write one rule".to_owned())) };
    let new = NewRule {
        kind: rule.kind.clone(),
        message: rule.message.clone(),
        directory: rule.directory.clone(),
    };
    Ok(judge(new, &proposal.evidence, &recorded.calls))
}
