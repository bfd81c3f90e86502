//! Whether a failed call was a mistake: the program reports that something does not exist, and that
//! something is a word of the call. Most failures are none: a failing test, a missing file, a server
//! that is down. What a script inside of the call got wrong is not a word of the call either.

use super::error_wordings::{self, Unknown};
use super::mistake::Mistake;
use super::subcommand_words;
use std::ops::Range;
use towpath_shell::bash::tree::Word;
use towpath_shell::bash::{self, Script, SimpleCommand};

/// More of an output is not searched.
const MOST_SEARCHED: usize = 64 * 1024;

/// The mistake of a failed command line.
pub fn classify(command: &str, exit_code: Option<i64>, error: &str) -> Option<Mistake> {
    classified(command, exit_code, error).map(|(mistake, _)| mistake)
}

/// The mistake, and whose wording reported it.
pub fn classified(
    command: &str,
    exit_code: Option<i64>,
    error: &str,
) -> Option<(Mistake, &'static str)> {
    let script = bash::parse(command).ok()?;
    let error = beginning(error);
    let not_found = exit_code.or_else(|| written_exit_code(error)) == Some(NOT_FOUND);
    let line = Line { script: &script, error };
    for (parser, named) in error_wordings::found(error) {
        let mistake = match parser.unknown {
            Unknown::Tool => None,
            Unknown::StartedCommand if !not_found => None,
            Unknown::Command | Unknown::StartedCommand => line.unknown_command(named),
            Unknown::Subcommand => line.unknown_subcommand(named),
            Unknown::Flag => named.split_whitespace().find_map(|n| line.unknown_flag(n)),
        };
        // A pattern may name nothing: some programs do not repeat the option.
        let mistake = mistake.or_else(|| {
            (parser.unknown == Unknown::Flag && named.is_empty()).then(|| line.only_long_flag())?
        });
        if let Some(mistake) = mistake {
            return Some((mistake, parser.name));
        }
    }
    (not_found && is_silent(error)).then(|| line.only_command())?.map(|m| (m, "exit code 127"))
}

/// The mistake of a call of a tool that is no shell, or of a shell that does not exist.
pub fn classify_tool(host: &str, tool: &str, error: &str) -> Option<Mistake> {
    let named = |(parser, name): (&error_wordings::Parser, &str)| {
        parser.unknown == Unknown::Tool && name.trim_end_matches("</tool_use_error>") == tool
    };
    let text = beginning(error);
    let text = text.trim_start_matches("<tool_use_error>").trim_start_matches("Error: ");
    let mistake = || Mistake::Tool { host: host.to_owned(), tool: tool.to_owned() };
    error_wordings::found(text).any(named).then(mistake)
}

/// What a shell exits with if there is no such command.
const NOT_FOUND: i64 = 127;

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MOST_SEARCHED)]
}

/// Some hosts write the exit code into the text.
fn written_exit_code(error: &str) -> Option<i64> {
    let rest = error.trim_start().strip_prefix("Exit code ")?;
    rest.lines().next()?.trim().parse().ok()
}

/// Whether nothing was printed but the exit code.
fn is_silent(error: &str) -> bool {
    let rest = error.trim();
    rest.is_empty() || written_exit_code(rest).is_some() && rest.lines().count() == 1
}

struct Line<'a> {
    script: &'a Script,
    error: &'a str,
}

impl Line<'_> {
    /// Of a path it is the file that is missing.
    fn unknown_command(&self, name: &str) -> Option<Mistake> {
        let named = |command: &&SimpleCommand| command.name() == Some(name);
        let found = !name.contains('/') && self.script.commands().iter().any(|c| named(&c));
        found.then(|| Mistake::Command { program: name.to_owned() })
    }

    fn only_command(&self) -> Option<Mistake> {
        match self.script.commands() {
            [only] => self.unknown_command(only.name()?),
            _ => None,
        }
    }

    /// Of several words the last that is one of the line.
    fn unknown_subcommand(&self, named: &str) -> Option<Mistake> {
        let word = named.split_whitespace().next_back()?;
        if word.starts_with('-') {
            return None;
        }
        let at = |command: &SimpleCommand| {
            command.words.iter().skip(1).position(|w| w.fixed() == Some(word)).map(|at| at + 1)
        };
        let (command, at) = self.only(at)?;
        let before = words(&command.words[..at]);
        // Options before the subcommand are no part of its name.
        let named: Vec<&str> =
            before.iter().map_while(|w| w.filter(|w| !w.starts_with('-'))).collect();
        Some(Mistake::Subcommand { command: named.join(" "), subcommand: word.to_owned() })
    }

    fn unknown_flag(&self, named: &str) -> Option<Mistake> {
        let named = named.trim_matches(|c| "'\"`,".contains(c));
        // The dashes of `--port` read as a cluster of letters.
        if named == "-" {
            return self.only_long_flag();
        }
        self.flag_mistake(|word| flag_in(word, named))
    }

    fn only_long_flag(&self) -> Option<Mistake> {
        let long = |word: &str| word.starts_with("--").then(|| name(word).to_owned());
        let commands = self.script.commands().iter();
        let count = commands.flat_map(|c| &c.words).filter(|w| w.fixed().and_then(long).is_some());
        (count.count() == 1).then(|| self.flag_mistake(long))?
    }

    fn flag_mistake(&self, flag: impl Fn(&str) -> Option<String>) -> Option<Mistake> {
        let at = |command: &SimpleCommand| {
            let options = command.words.iter().take_while(|w| w.fixed() != Some("--"));
            options.skip(1).position(|w| start(self.script, w).and_then(&flag).is_some())
        };
        let (command, at) = self.only(|command| at(command).map(|at| at + 1))?;
        let typed = flag(start(self.script, &command.words[at])?)?;
        let before = words(&command.words[..at]);
        let path = &before[..subcommand_words::length(&before, self.error)];
        let path: Option<Vec<&str>> = path.iter().copied().collect();
        Some(Mistake::Flag { command: path?.join(" "), flag: typed })
    }

    /// The one command that has the word. Of a command and the one that it starts it is the latter;
    /// of several it is the one that the error names.
    fn only(
        &self,
        find: impl Fn(&SimpleCommand) -> Option<usize>,
    ) -> Option<(&SimpleCommand, usize)> {
        let mut found: Vec<(&SimpleCommand, usize)> = Vec::new();
        for command in self.script.commands() {
            let Some(at) = find(command) else { continue };
            let range =
                |c: &SimpleCommand, at: usize| -> Range<usize> { c.words[at].range.clone() };
            found.retain(|(c, a)| range(c, *a) != range(command, at));
            found.push((command, at));
        }
        if found.len() > 1 {
            found.retain(|(command, _)| self.names(command));
        }
        let first = found.first().copied()?;
        let same = |(command, _): &(&SimpleCommand, usize)| command.name() == first.0.name();
        found.iter().all(same).then_some(first)
    }

    fn names(&self, command: &SimpleCommand) -> bool {
        let Some(program) = command.name() else { return false };
        let base = program.rsplit('/').next().unwrap_or(program);
        let divides = |c: char| !(c.is_alphanumeric() || "-_.+".contains(c));
        self.error.split(divides).any(|word| word == base)
    }
}

pub(super) fn words(words: &[Word]) -> Vec<Option<&str>> {
    words.iter().map(Word::fixed).collect()
}

/// A word, or what is written before its first expansion: the option of `--name="$x"`.
fn start<'a>(script: &'a Script, word: &'a Word) -> Option<&'a str> {
    word.fixed().or_else(|| {
        let source = &script.text()[word.range.clone()];
        source.split_once('=').map(|(name, _)| name).filter(|name| name.starts_with('-'))
    })
}

/// An option without its value.
pub(super) fn name(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// The option of a word that an error names, which may leave out the dashes or name one letter.
fn flag_in(word: &str, named: &str) -> Option<String> {
    let option = name(word);
    let bare = option.trim_start_matches('-');
    if bare.len() == option.len() || bare.is_empty() {
        return None;
    }
    let named = name(named).trim_start_matches('-');
    if named == bare {
        return Some(option.to_owned());
    }
    let mut letters = named.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else { return None };
    let cluster = option.len() == bare.len() + 1 && bare.contains(letter);
    cluster.then(|| format!("-{letter}"))
}
