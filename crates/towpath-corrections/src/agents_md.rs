//! Rules as instructions for an agent, for an `AGENTS.md` or `CLAUDE.md`: what the agent reads there it
//! does not get wrong. The text depends on the rules alone, not on their numbers, so that a file in git
//! changes only when a rule does.

use crate::line::Flag;
use crate::rule::{Rule, RuleKind};
use crate::tool_call::DEFAULT_HOST;

/// How much of a script is shown, in characters.
const PREVIEW: usize = 60;

/// The instructions as Markdown; empty where no rule is enabled.
pub fn agents_md(rules: &[Rule]) -> String {
    let (tools, commands): (Vec<&Rule>, Vec<&Rule>) =
        sorted(rules).into_iter().partition(|rule| heading(rule).is_none());
    let mut text = String::new();
    if !tools.is_empty() {
        text.push_str("# Tool Name Corrections\n\n");
        text.push_str("The following tool names are INCORRECT. Use the correct names instead:\n\n");
        text.push_str(&list(&tools));
    }
    if !commands.is_empty() {
        text.push_str("# Command Corrections\n\n");
        for group in commands.chunk_by(|a, b| heading(a) == heading(b)) {
            let heading = group.first().and_then(|rule| heading(rule)).unwrap_or_default();
            text.push_str(&format!("## {heading}\n\n"));
            text.push_str(&list(group));
        }
    }
    text
}

fn list(rules: &[&Rule]) -> String {
    let items: String = rules.iter().map(|rule| format!("- {}\n", line(rule))).collect();
    format!("{items}\n")
}

/// The instructions alone, one for each rule.
pub fn agents_md_lines(rules: &[Rule]) -> Vec<String> {
    sorted(rules).into_iter().map(line).collect()
}

/// The enabled rules: tool names first, then commands by their headings.
fn sorted(rules: &[Rule]) -> Vec<&Rule> {
    let mut rules: Vec<&Rule> = rules.iter().filter(|rule| rule.enabled).collect();
    rules.sort_by_cached_key(|rule| (heading(rule), rule.key()));
    rules
}

/// The heading that a rule is listed under. A tool's name has none of its own.
fn heading(rule: &Rule) -> Option<String> {
    let first = |from: &str| one_line(from.split_whitespace().next().unwrap_or_default());
    Some(match &rule.kind {
        RuleKind::ToolName { .. } | RuleKind::ToolRecipe { .. } => return None,
        RuleKind::Flag { command, .. } | RuleKind::Literal { command, .. } => one_line(command),
        RuleKind::Command { from, to } => format!("{} → {}", one_line(from), one_line(to)),
        RuleKind::ParameterLiteral { tool, parameter, .. }
        | RuleKind::Regex { tool, parameter, .. } => {
            format!("{} (param: {})", one_line(tool), one_line(parameter))
        }
        RuleKind::Recipe { from, .. } => format!("{} (recipes)", first(from)),
        RuleKind::Refuse { from, .. } => format!("{} (refused)", first(from)),
    })
}

fn line(rule: &Rule) -> String {
    let (from, to) = (code(rule.kind.from()), code(rule.kind.to()));
    let message = rule.message.as_deref().map(one_line).filter(|message| !message.is_empty());
    let mut text = match &rule.kind {
        RuleKind::ToolName { .. } => format!("Do NOT call {from}. Use {to} instead."),
        RuleKind::ToolRecipe { script, .. } => {
            format!("Do NOT call {from}. Run this in the shell instead: {}", code(&preview(script)))
        }
        RuleKind::Flag { from, to, .. } if to.is_empty() => {
            format!("Flag {} should be left out", code(&flag(from)))
        }
        RuleKind::Flag { from, to, .. } => {
            format!("Flag {} should be {}", code(&flag(from)), code(&flag(to)))
        }
        RuleKind::Command { .. } => format!("Use {to} instead of {from}"),
        RuleKind::Literal { to: end, .. } | RuleKind::ParameterLiteral { to: end, .. }
            if end.is_empty() =>
        {
            format!("{from} should be left out")
        }
        RuleKind::Literal { .. } | RuleKind::ParameterLiteral { .. } => format!("{from} → {to}"),
        RuleKind::Regex { to: end, .. } if end.is_empty() => {
            format!("Pattern {from} should be left out")
        }
        RuleKind::Regex { .. } => format!("Pattern {from} → {to}"),
        RuleKind::Recipe { to, .. } => {
            let preview = code(&preview(to));
            format!("Do NOT use {from}. It will be expanded to: {preview}")
        }
        RuleKind::Refuse { option, .. } => {
            let with =
                if option.is_empty() { String::new() } else { format!(" with {}", code(option)) };
            format!("Do NOT use {from}{with}. {}", message.as_deref().unwrap_or_default())
        }
    };
    match message {
        Some(message) if !matches!(rule.kind, RuleKind::Refuse { .. }) => {
            text.push_str(&format!(" ({message})"));
        }
        _ => {}
    }
    text + &scope(rule)
}

/// Where the rule counts, unless it does everywhere.
fn scope(rule: &Rule) -> String {
    let mut text = String::new();
    if let RuleKind::ToolName { host, .. } | RuleKind::ToolRecipe { host, .. } = &rule.kind
        && host != DEFAULT_HOST
    {
        text.push_str(&format!(" (in {})", one_line(host)));
    }
    if let Some(directory) = &rule.directory {
        text.push_str(&format!(" (only in {})", code(directory)));
    }
    text
}

fn flag(text: &str) -> String {
    Flag::parse(text).map_or_else(|| text.to_owned(), |flag| flag.text())
}

/// In one line. Characters that a terminal would obey, or that let text run the other way, are escaped.
fn one_line(text: &str) -> String {
    let line =
        text.split('\n').map(|line| line.trim_end_matches('\r')).collect::<Vec<_>>().join(" ");
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        match c.is_control() && c != '\t' || turns(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown
}

fn preview(script: &str) -> String {
    let script = one_line(script);
    match script.chars().count() > PREVIEW {
        true => script.chars().take(PREVIEW - 3).chain("...".chars()).collect(),
        false => script,
    }
}

/// A span of code, whatever backticks the text contains.
fn code(text: &str) -> String {
    let text = one_line(text);
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default() + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

const BEGIN: &str = "<!-- towpath corrections: begin -->";
const END: &str = "<!-- towpath corrections: end -->";

/// A file's markers are not one pair in order, so that nobody knows what is between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the lines `{BEGIN}` and `{END}` must each be there once, in this order")]
pub struct BrokenMarkers;

/// The text of a file with the instructions between two markers: where they already are, else at
/// the end. Without instructions the markers are taken out too. All other bytes stay.
pub fn with_agents_md(old: &str, instructions: &str) -> Result<String, BrokenMarkers> {
    let line_end = if old.contains("\r\n") { "\r\n" } else { "\n" };
    let section = match instructions.trim().is_empty() {
        true => String::new(),
        false => format!("{BEGIN}\n{}\n{END}\n", instructions.trim()).replace('\n', line_end),
    };
    let range = match section_range(old)? {
        Some(range) => range,
        None if section.is_empty() => return Ok(old.to_owned()),
        None => {
            let gap = match old {
                "" => "",
                _ if old.ends_with(&line_end.repeat(2)) => "",
                _ if old.ends_with('\n') => line_end,
                _ => &line_end.repeat(2),
            };
            return Ok(format!("{old}{gap}{section}"));
        }
    };
    Ok(format!("{}{section}{}", &old[..range.start], &old[range.end..]))
}

/// The lines from one marker to the other.
fn section_range(text: &str) -> Result<Option<std::ops::Range<usize>>, BrokenMarkers> {
    let (mut begins, mut ends, mut at) = (Vec::new(), Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        match line.trim() {
            BEGIN => begins.push(at),
            END => ends.push(at + line.len()),
            _ => {}
        }
        at += line.len();
    }
    match (begins.as_slice(), ends.as_slice()) {
        ([], []) => Ok(None),
        ([begin], [end]) if begin < end => Ok(Some(*begin..*end)),
        _ => Err(BrokenMarkers),
    }
}
