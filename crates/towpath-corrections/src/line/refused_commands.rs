//! Which commands of a line a rule refuses, by what runs and not by how it is written: the program may
//! have a path, options may come before its subcommand, the refused option may be anywhere, and the
//! command may be in text that a shell reads. A line that is not understood is looked at in pieces.

use super::flag_rule::{Flag, option};
use super::{defined_functions, program_options};
use crate::command_prefix::{begins_with, static_words};
use crate::recipe;
use crate::rule::{Rule, RuleKind};
use std::collections::BTreeSet;
use towpath_shell::bash::tree::{Command, Link, Redirect, Simple, Statement, Target, Word};
use towpath_shell::bash::visit::{self, Visitor};
use towpath_shell::bash::{self, Script, SimpleCommand};

/// A rule and the command that it refuses, as it is written.
pub(super) type Refused<'a> = (&'a Rule, String);

/// Text in text is read this deep.
const MOST_DEPTH: usize = 4;

pub(super) fn find<'a>(script: &Script, rules: &[&'a Rule]) -> Vec<Refused<'a>> {
    let refusing = |rule: &&&Rule| matches!(rule.kind, RuleKind::Refuse { .. });
    match rules.iter().any(|rule| refusing(&rule)) {
        true => in_script(script, rules, MOST_DEPTH),
        false => Vec::new(),
    }
}

fn in_script<'a>(script: &Script, rules: &[&'a Rule], depth: usize) -> Vec<Refused<'a>> {
    let defined = defined_functions(script);
    let mut found = Vec::new();
    for command in script.commands().iter().flat_map(|command| started(script, command)) {
        // A function of that name is the agent's own program.
        if !defined.contains(name(script, &command))
            && let Some(rule) = refusing(script, &command, rules)
        {
            found.push((rule, recipe::raw_text(script.text(), &command)));
        }
    }
    if depth > 0 {
        let blanks = script.text().replace("${IFS}", " ").replace("$IFS", " ");
        let split = (blanks != script.text()).then_some(blanks);
        let texts = shell_texts(script).into_iter().chain(split);
        found.extend(texts.flat_map(|text| in_text(&text, rules, depth - 1)));
    }
    found.dedup_by(|one, other| one.0.number == other.0.number && one.1 == other.1);
    found
}

/// A command, and every command that it may start if it starts another one: which of its words that
/// is may depend on options and expansions.
fn started(script: &Script, command: &SimpleCommand) -> Vec<SimpleCommand> {
    let own = name(script, command);
    let starts = bash::starts_programs(own.rsplit('/').next().unwrap_or(own));
    let last = if starts { command.words.len() } else { 1 };
    let from = |at: usize| {
        let words = command.words.get(at..).unwrap_or_default().to_vec();
        let start = words.first().map_or(command.range.start, |word| word.range.start);
        SimpleCommand { range: start..command.range.end, words, ..command.clone() }
    };
    [command.clone()].into_iter().chain((1..last).map(from)).collect()
}

/// The program of a command as it is written; empty where only bash knows it.
fn name<'s>(script: &'s Script, command: &'s SimpleCommand) -> &'s str {
    let written = || Some(&script.text()[command.words.first()?.range.clone()]);
    let in_home = || written().filter(|name| name.starts_with("~/") && !name.contains(['$', '`']));
    command.name().or_else(in_home).unwrap_or_default()
}

fn in_text<'a>(text: &str, rules: &[&'a Rule], depth: usize) -> Vec<Refused<'a>> {
    match bash::parse(text) {
        Ok(script) => in_script(&script, rules, depth),
        Err(_) => in_pieces(text, rules),
    }
}

/// The visible part of a text that is not understood: each piece between two separators that is a
/// command by itself. What may be the body of a here-document is not looked at.
pub(super) fn in_pieces<'a>(text: &str, rules: &[&'a Rule]) -> Vec<Refused<'a>> {
    let document = text.find("<<").and_then(|at| Some(at + text[at..].find('\n')?));
    let seen = &text[..document.unwrap_or(text.len())];
    let named = |piece: &&str| {
        rules.iter().any(|rule| {
            let program = rule.kind.command().and_then(|from| from.split_whitespace().next());
            matches!(rule.kind, RuleKind::Refuse { .. })
                && program.is_some_and(|p| piece.contains(p))
        })
    };
    let pieces = seen.split(['\n', ';', '&', '|', '(', ')', '`', '{', '}']).map(without_keyword);
    let scripts = pieces.filter(named).filter_map(|piece| bash::parse(piece).ok());
    scripts.flat_map(|script| in_script(&script, rules, 0)).collect()
}

fn without_keyword(piece: &str) -> &str {
    const BEFORE_COMMAND: &[&str] = &["if", "then", "elif", "else", "while", "until", "do", "!"];
    let mut piece = piece.trim();
    while let Some((word, rest)) = piece.split_once(char::is_whitespace)
        && BEFORE_COMMAND.contains(&word)
    {
        piece = rest.trim_start();
    }
    piece
}

/// The rule that refuses a command: the one with the most words, unless a recipe has more.
fn refusing<'a>(script: &Script, command: &SimpleCommand, rules: &[&'a Rule]) -> Option<&'a Rule> {
    let words = |rule: &&Rule| match &rule.kind {
        RuleKind::Refuse { from, option } => {
            let words = static_words(from)?;
            let given = is_refused(script, command, &words, option);
            given.then(|| words.len() + usize::from(!option.is_empty()))
        }
        RuleKind::Recipe { from, .. } => {
            static_words(from).filter(|words| begins_with(command, words)).map(|words| words.len())
        }
        _ => None,
    };
    let matching = rules.iter().copied().filter_map(|rule| Some((words(&rule)?, rule)));
    let refuses = |rule: &Rule| matches!(rule.kind, RuleKind::Refuse { .. });
    let best = matching.max_by_key(|(words, rule)| (*words, refuses(rule)));
    best.map(|(_, rule)| rule).filter(|rule| refuses(rule))
}

/// Whether a command runs the words, with their options in any position, and has one of `any`.
fn is_refused(script: &Script, command: &SimpleCommand, words: &[String], any: &str) -> bool {
    let (own, path): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| word.starts_with('-') && word.len() > 1);
    let subcommand = path.get(1).map_or("", |word| word);
    let options = GivenOptions::of(script, command, subcommand);
    // A word behind an option may be its value.
    let last = words.iter().rposition(|word| !word.starts_with('-')).unwrap_or_default();
    let all = || last < path.len() && own.iter().all(|option| options.has(option));
    let any = || any.is_empty() || any.split(',').any(|option| options.has(option.trim()));
    (begins_with(command, words) || runs(script, command, &path) && all()) && any()
}

/// Whether a command runs this program with these subcommands, whatever options are between them.
fn runs(script: &Script, command: &SimpleCommand, path: &[&String]) -> bool {
    let Some((program, subcommands)) = path.split_first() else { return false };
    let name = name(script, command);
    if name != *program && name.rsplit('/').next() != Some(program) {
        return false;
    }
    let mut starts = BTreeSet::from([1]);
    for wanted in subcommands {
        let mut ends = BTreeSet::new();
        while let Some(at) = starts.pop_first() {
            let Some(word) = command.words.get(at) else { continue };
            if word.fixed() == Some(wanted) {
                ends.insert(at + 1);
            } else if let Some(option) = option(script, word) {
                starts.extend(after_option(name, &option).map(|words| at + words));
            }
        }
        starts = ends;
    }
    !starts.is_empty()
}

/// How many words an option takes, itself included. Of a program that is not known both counts.
fn after_option(program: &str, option: &str) -> impl Iterator<Item = usize> {
    let table = program_options::program(program, "");
    let short = table.cluster(option).filter(|_| table.known).map(|c| c.takes_next);
    let long = program_options::takes_next(program, "", option);
    let known = long || option.contains('=') || program_options::is_known(program);
    let takes = short.or(known.then_some(long));
    [1, 2].into_iter().filter(move |words| takes.is_none_or(|takes| takes == (*words == 2)))
}

/// The options of a command, up to `--`. Values are none.
struct GivenOptions {
    table: program_options::Program,
    long: BTreeSet<String>,
    letters: BTreeSet<char>,
}

impl GivenOptions {
    fn of(script: &Script, command: &SimpleCommand, subcommand: &str) -> GivenOptions {
        let name = command.name().unwrap_or_default();
        let table = program_options::program(name, subcommand);
        let (mut long, mut letters) = (BTreeSet::new(), BTreeSet::new());
        let mut words = command.words.iter().skip(1);
        while let Some(word) = words.next().filter(|word| word.fixed() != Some("--")) {
            let Some(option) = option(script, word) else { continue };
            let cluster = table.cluster(&option);
            let named = option.split_once('=').map_or(option.as_str(), |(name, _)| name);
            if word.fixed().is_some() || named.len() < option.len() {
                long.insert(named.to_owned());
            }
            let takes_next = cluster.as_ref().is_some_and(|cluster| cluster.takes_next)
                || program_options::takes_next(name, subcommand, &option);
            letters.extend(cluster.into_iter().flat_map(|c| c.letters.chars().collect::<Vec<_>>()));
            if takes_next {
                words.next();
            }
        }
        GivenOptions { table, long, letters }
    }

    /// `-rf` is two letters, which may be given apart.
    fn has(&self, option: &str) -> bool {
        let apart = || {
            let letters = option.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            let plain =
                |l: &&str| self.table.clusters && l.bytes().all(|b| b.is_ascii_alphabetic());
            letters.filter(plain).is_some_and(|l| l.chars().all(|c| self.letters.contains(&c)))
        };
        match Flag::parse(option) {
            Some(Flag::Short(letter)) => self.letters.contains(&letter),
            Some(Flag::Long(name)) => self.long.contains(&name) || apart(),
            None => false,
        }
    }
}

/// The texts in a script that a shell reads as code: what `eval`, `trap` and shells get among their
/// words, and what a shell gets as its standard input.
fn shell_texts(script: &Script) -> Vec<String> {
    let mut found = Vec::new();
    let shells: Vec<&SimpleCommand> =
        script.commands().iter().filter(|command| reads_stdin(command)).collect();
    for command in script.commands() {
        let code = towpath_shell::read_as(command, script.text(), &|_| false);
        let written = |at: usize| {
            let word = &command.words[at];
            let source = script.text()[word.range.clone()].trim_matches('"');
            word.fixed().unwrap_or(source).to_owned()
        };
        found.push(code.into_iter().map(written).collect::<Vec<_>>().join(" "));
        let inside = |shell: &&SimpleCommand| {
            command.range.start <= shell.range.start && shell.range.end <= command.range.end
        };
        if shells.iter().any(inside) {
            found.extend(command.redirects.iter().filter_map(|redirect| input(script, redirect)));
        }
    }
    let mut piped = Piped { script, shells: &shells, found };
    visit::block(script.body(), &mut piped);
    piped.found
}

/// The text that a redirection gives a program to read.
fn input(script: &Script, redirect: &Redirect) -> Option<String> {
    match &redirect.target {
        Target::HereDoc(doc) => Some(script.text()[doc.body.clone()].to_owned()),
        Target::HereString(word) => joined([word]),
        _ => None,
    }
}

/// Words with a blank between them, if bash expands none of them.
fn joined<'a>(words: impl IntoIterator<Item = &'a Word>) -> Option<String> {
    let words: Option<Vec<&str>> = words.into_iter().map(Word::fixed).collect();
    words.map(|words| words.join(" "))
}

/// A shell without code and without a file among its arguments.
fn reads_stdin(command: &SimpleCommand) -> bool {
    const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh"];
    let name = command.name().unwrap_or_default();
    let base = name.rsplit('/').next().unwrap_or(name);
    let is_option = |word: &Word| word.fixed().is_some_and(|text| text.starts_with(['-', '+']));
    let by_stdin = |word: &Word| word.fixed() == Some("-s");
    let arguments = &command.words[1.min(command.words.len())..];
    let code = |word: &Word| word.fixed().is_some_and(|t| !t.starts_with("--") && t.contains('c'));
    SHELLS.contains(&base)
        && (arguments.iter().any(by_stdin)
            || arguments.iter().all(|word| is_option(word) && !code(word)))
}

/// Texts that `echo` and `printf` write into a pipe that a shell reads.
struct Piped<'a> {
    script: &'a Script,
    shells: &'a [&'a SimpleCommand],
    found: Vec<String>,
}

impl Piped<'_> {
    fn has_shell(&self, simple: &Simple) -> bool {
        let inside = |shell: &&SimpleCommand| {
            let words = shell.words.first().map_or(&shell.range, |word| &word.range);
            simple.range.start <= words.start && words.end <= simple.range.end
        };
        self.shells.iter().any(inside)
    }
}

impl Visitor for Piped<'_> {
    fn statement(&mut self, statement: &Statement) {
        let Command::Chain { first, rest } = &statement.command else { return };
        let mut text = written(self.script, first);
        for (link, next) in rest {
            if let (Link::Pipe, Command::Simple(simple)) = (link, &next.command)
                && self.has_shell(simple)
            {
                self.found.extend(text.take());
            }
            text = written(self.script, next).or(text.filter(|_| *link == Link::Pipe));
        }
    }
}

/// The output of `echo` or `printf`, a line for each word of `printf`.
fn written(script: &Script, statement: &Statement) -> Option<String> {
    let Command::Simple(simple) = &statement.command else { return None };
    let (name, words) = simple.words.split_first()?;
    if let ("cat", [.., redirect]) = (name.fixed()?, statement.redirects.as_slice()) {
        return input(script, redirect);
    }
    let options = words.iter().take_while(|w| w.fixed().is_some_and(|t| t.starts_with('-')));
    match name.fixed()? {
        "echo" => joined(&words[options.count()..]),
        "printf" => {
            let words: Option<Vec<&str>> = words.iter().map(Word::fixed).collect();
            words.map(|words| words.join("\n").replace("\\n", "\n"))
        }
        _ => None,
    }
}
