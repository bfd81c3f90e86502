//! What a session ran after a mistake, and which rule would have written that at once.
//!
//! A later command of the same program counts if it is the mistaken one with another word in the
//! position of the mistake. One whose word is near is believed at once. Any other is believed if
//! several sessions recovered in the same way, and only where it has arguments of the mistaken one or
//! was run at once.

use super::classify_failed_call::name;
use super::mistake::Mistake;
use super::similar_tool_names::is_near;
use crate::command_prefix;
use crate::rule::RuleKind;
use towpath_shell::bash::{self, Script, SimpleCommand};

/// A rule that a recovery leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub kind: RuleKind,
    /// What was written instead is near in its words.
    pub near: bool,
}

/// Another word in the position of the mistake.
struct OtherWord {
    candidate: Candidate,
    /// The command has arguments of the mistaken one.
    shared: bool,
}

/// A command line that had a mistake.
pub(super) struct Failed<'a> {
    pub mistake: &'a Mistake,
    script: Script,
    /// The index of the mistaken command.
    at: usize,
}

impl<'a> Failed<'a> {
    pub fn new(mistake: &'a Mistake, line: &str) -> Option<Failed<'a>> {
        let script = bash::parse(line).ok()?;
        let at = script.commands().iter().rposition(|command| has(mistake, command))?;
        Some(Failed { mistake, script, at })
    }

    fn words(&self) -> Vec<String> {
        texts(&self.script, &self.script.commands()[self.at])
    }

    /// What the lines that succeeded later in the session lead to, in their order. The first may
    /// have been run at once. What is near counts most, and a word more than a whole line.
    pub fn recovered_by(&self, lines: &[&str], at_once: bool) -> Option<Candidate> {
        let parsed: Vec<Script> = lines.iter().filter_map(|line| bash::parse(line).ok()).collect();
        let mut others = Vec::new();
        for (index, ran) in parsed.iter().enumerate() {
            let alike = ran.commands().len() == self.script.commands().len();
            for command in ran.commands() {
                let Some(other) = self.with_other_word(ran, command) else { continue };
                if other.candidate.near {
                    return Some(other.candidate);
                }
                if alike && (other.shared || at_once && index == 0) {
                    others.push(other.candidate);
                }
            }
        }
        let line = || parsed.iter().find_map(|script| self.as_recipe(script));
        others.into_iter().next().or_else(line)
    }

    fn with_other_word(&self, ran: &Script, command: &SimpleCommand) -> Option<OtherWord> {
        let (failed, words) = (self.words(), texts(ran, command));
        let (candidate, arguments) = match self.mistake {
            Mistake::Tool { .. } => return None,
            Mistake::Command { program } => (other_program(program, &failed, &words)?, 1),
            Mistake::Subcommand { command, subcommand } => {
                let candidate = other_subcommand(command, subcommand, &failed, &words)?;
                (candidate, command.split(' ').count() + 1)
            }
            Mistake::Flag { command, flag } => {
                let candidate = other_flag(command, flag, &failed, &words)?;
                (candidate, command.split(' ').count())
            }
        };
        let shared = failed.iter().skip(arguments).any(|word| words.contains(word));
        Some(OtherWord { candidate, shared })
    }

    /// A whole line in the position of a whole command, of the same program and with words of it.
    fn as_recipe(&self, ran: &Script) -> Option<Candidate> {
        let [command] = self.script.commands() else { return None };
        let plain = command.redirects.is_empty() && command.assignments.is_empty();
        let words: Option<Vec<&str>> = command.words.iter().map(|word| word.fixed()).collect();
        let words = words.filter(|words| plain && words.len() <= MOST_WORDS)?;
        let program = |c: &SimpleCommand| c.name() == command.name() && !has(self.mistake, c);
        let about = shares_words(&words[1..], ran.text());
        (about && ran.commands().iter().any(program)).then_some(())?;
        let from = words.iter().map(|word| bash::quote(word)).collect::<Vec<_>>().join(" ");
        let to = ran.text().trim().to_owned();
        let template = false;
        let kind = RuleKind::Recipe { from, to, template, timeout: None };
        Some(Candidate { kind, near: false })
    }
}

/// Whether at least half of the longer words are in a text.
fn shares_words(words: &[&str], text: &str) -> bool {
    let words: Vec<String> =
        words.iter().flat_map(|word| super::similar_tool_names::words(word)).collect();
    let long: Vec<&String> = words.iter().filter(|word| word.len() > 2).collect();
    let shared = long.iter().filter(|word| text.contains(word.as_str())).count();
    shared > 0 && shared * 2 >= long.len()
}

/// A longer command is rarely typed twice.
const MOST_WORDS: usize = 6;

/// Whether a command of a line has the mistake.
pub(super) fn line_has(mistake: &Mistake, line: &str) -> bool {
    let words = mistake.words().unwrap_or_default();
    let possible = words.split(' ').all(|word| line.contains(word.trim_start_matches('-')));
    let script = possible.then(|| bash::parse(line).ok()).flatten();
    script.is_some_and(|script| script.commands().iter().any(|command| has(mistake, command)))
}

/// Whether a command has the mistake.
fn has(mistake: &Mistake, command: &SimpleCommand) -> bool {
    let begins = |words: &str| {
        command_prefix::static_words(words)
            .is_some_and(|words| command_prefix::begins_with(command, &words))
    };
    match mistake {
        Mistake::Tool { .. } => false,
        Mistake::Command { program } => command.name() == Some(program),
        Mistake::Subcommand { command: path, subcommand } => {
            begins(path) && command.words.iter().any(|w| w.fixed() == Some(subcommand))
        }
        Mistake::Flag { command: path, flag } => {
            begins(path) && command.words.iter().any(|w| w.fixed().is_some_and(|w| is(w, flag)))
        }
    }
}

/// Whether a word is the option, or a cluster with its letter.
fn is(word: &str, flag: &str) -> bool {
    let cluster = || {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let letter = flag.strip_prefix('-').filter(|letter| letter.len() == 1)?;
        Some(letters.contains(letter))
    };
    name(word) == flag || cluster().unwrap_or(false)
}

/// The words as values, or as they are written where bash expands them.
fn texts(script: &Script, command: &SimpleCommand) -> Vec<String> {
    let text = |range: &std::ops::Range<usize>| script.text()[range.clone()].to_owned();
    command.words.iter().map(|w| w.fixed().map_or_else(|| text(&w.range), str::to_owned)).collect()
}

fn other_program(program: &str, failed: &[String], ran: &[String]) -> Option<Candidate> {
    let first = ran.first().filter(|first| *first != program)?;
    let arguments = &failed[1..];
    let near = is_near(program, first);
    let to = match ran.strip_suffix(arguments) {
        Some(start) if !arguments.is_empty() && !start.is_empty() => start,
        _ if near => &ran[..1],
        _ => return None,
    };
    // `docker-compose up` and `docker compose up`.
    let joined = to.join("-") == program;
    command_rule(program, to, near || joined)
}

fn other_subcommand(
    path: &str,
    subcommand: &str,
    failed: &[String],
    ran: &[String],
) -> Option<Candidate> {
    let path: Vec<&str> = path.split(' ').collect();
    let length = path.len();
    let same = ran.len() > length && path.iter().zip(ran).all(|(a, b)| a == b);
    let next = ran.get(length).filter(|next| same && *next != subcommand)?;
    let at = failed.iter().position(|word| word == subcommand)?;
    let near = is_near(subcommand, next);
    let to = match ran.strip_suffix(&failed[at + 1..]) {
        Some(start) if start.len() > length => start,
        _ if near => &ran[..=length],
        _ => return None,
    };
    let near = to[length..].iter().any(|word| is_near(subcommand, word));
    command_rule(&[&path[..], &[subcommand]].concat().join(" "), to, near)
}

fn command_rule(from: &str, to: &[String], near: bool) -> Option<Candidate> {
    let plain = |word: &String| command_prefix::static_words(&bash::quote(word)).is_some();
    let to = to.iter().all(plain).then(|| to.iter().map(|word| bash::quote(word)))?;
    let to = to.collect::<Vec<_>>().join(" ");
    let kind = RuleKind::Command { from: from.to_owned(), to };
    Some(Candidate { kind, near })
}

fn other_flag(path: &str, flag: &str, failed: &[String], ran: &[String]) -> Option<Candidate> {
    let path: Vec<&str> = path.split(' ').collect();
    let same = ran.len() >= path.len() && path.iter().zip(ran).all(|(a, b)| a == b);
    if !same || ran.iter().any(|word| is(word, flag)) {
        return None;
    }
    let (removed, added) = (without(failed, ran), without(ran, failed));
    let to = match (removed.as_slice(), added.as_slice()) {
        ([old], [new]) if is(old, flag) && new.starts_with('-') => other_option(old, flag, new)?,
        // `--name x` and `--other=x`.
        ([old, value], [new]) if is(old, flag) && new.split_once('=')?.1 == *value => {
            name(new).to_owned()
        }
        ([old], [new, value]) if is(old, flag) && old.split_once('=')?.1 == *value => new.clone(),
        ([old], []) if is(old, flag) && may_be_dropped(flag) => String::new(),
        _ => return None,
    };
    let near = is_near(flag, &to);
    let command = path.join(" ");
    let kind = RuleKind::Flag { command, from: flag.to_owned(), to, valued: String::new() };
    Some(Candidate { kind, near })
}

/// The option that a word has in another one's position: the same value, or one other letter.
fn other_option(old: &str, flag: &str, new: &str) -> Option<String> {
    if name(old) == flag {
        let value = |word: &str| word.split_once('=').map(|(_, value)| value.to_owned());
        return (value(old) == value(new)).then(|| name(new).to_owned());
    }
    let letter = flag.chars().next_back()?;
    let rest: String = old.chars().filter(|c| *c != letter).collect();
    let mut others = new.chars().filter(|c| !rest.contains(*c));
    let other = others.next().filter(|_| others.next().is_none() && !new.starts_with("--"))?;
    Some(format!("-{other}"))
}

/// Without one of these a command would do more than what was asked for.
fn may_be_dropped(flag: &str) -> bool {
    let name = flag.trim_start_matches('-');
    let careful = ["dry", "check", "confirm", "diff", "help", "interactive", "keep", "no", "only"];
    let more = ["plan", "preview", "prompt", "read", "safe", "simulate", "skip", "test", "version"];
    let words = super::similar_tool_names::words(name);
    let is_careful = |word: &String| careful.iter().chain(&more).any(|c| c == word);
    name.len() > 1 && !words.iter().any(is_careful)
}

/// The words that the other list does not have, each as often as it is missing there.
fn without(words: &[String], other: &[String]) -> Vec<String> {
    let mut rest: Vec<&String> = other.iter().collect();
    let mut missing = Vec::new();
    for word in words {
        match rest.iter().position(|r| *r == word) {
            Some(at) => drop(rest.swap_remove(at)),
            None => missing.push(word.clone()),
        }
    }
    missing
}
