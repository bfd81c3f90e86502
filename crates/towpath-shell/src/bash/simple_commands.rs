//! Every simple command of a text, with its words, what it is part of and what it starts.

use super::command_words::CommandWords;
use super::nesting::Nesting;
use super::quoting::{self, Written};
use super::scanner::ScannedWord;
use super::shell_code::code_indexes;
use super::tree::*;
use super::visit::{self, Visitor};
use super::{NotBash, code_programs, relocate_tree, wrapper_programs};
use std::ops::Range;

/// Programs that start one another are looked through this deep.
const MAX_WRAPPERS: usize = 8;

/// A command's name with its arguments, assignments and redirections.
#[derive(Debug, Clone, PartialEq)]
pub struct SimpleCommand {
    /// From its first word, assignment or redirection to the last.
    pub range: Range<usize>,
    pub assignments: Vec<Assignment>,
    /// The name first. Empty where it only assigns or redirects.
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
    /// Which of the words are a command that this one starts, as those after `sudo -u root`. That
    /// command is in the list as well.
    pub starts: Vec<Range<usize>>,
    /// The outermost first.
    pub nesting: Vec<Nesting>,
}

impl SimpleCommand {
    /// The name, if it is known and bash does not expand it.
    pub fn name(&self) -> Option<&str> {
        self.words.first().and_then(Word::fixed)
    }

    /// Whether it is a statement of its own: nothing is piped, negated or joined to it, and it is
    /// neither in the background nor started by another program.
    pub fn is_alone(&self) -> bool {
        self.nesting.last().is_none_or(Nesting::is_list)
    }
}

/// Code inside a word, which another parse reads.
pub struct InnerCode {
    pub characters: Vec<Written>,
    pub nesting: Vec<Nesting>,
    /// The text around it is not understood without it.
    pub required: bool,
}

/// The commands of one text, and the code in its words that is not part of its tree.
#[derive(Default)]
pub struct Found {
    pub commands: Vec<SimpleCommand>,
    pub codes: Vec<InnerCode>,
}

pub fn find(text: &str, body: &Block, scanned: &[ScannedWord]) -> Result<Found, NotBash> {
    let mut collector = Collector {
        text,
        scanned,
        nesting: Vec::new(),
        backticks: 0,
        found: Found::default(),
        unsure: None,
    };
    visit::block(body, &mut collector);
    match collector.unsure {
        Some(range) => Err(NotBash::unsure(range)),
        None => Ok(collector.found),
    }
}

struct Collector<'a> {
    text: &'a str,
    /// Sorted by end.
    scanned: &'a [ScannedWord],
    nesting: Vec<Nesting>,
    /// Backtick substitutions around this point: their text is read on its own.
    backticks: usize,
    found: Found,
    unsure: Option<Range<usize>>,
}

fn is_backtick(nesting: &Nesting) -> bool {
    matches!(nesting, Nesting::Substitution { kind: SubstitutionKind::Backtick, .. })
}

impl Visitor for Collector<'_> {
    fn enter(&mut self, nesting: Nesting) {
        self.nesting.push(nesting);
        let Some(Nesting::Substitution { kind, range, quoted }) = self.nesting.last() else {
            return;
        };
        if *kind != SubstitutionKind::Backtick {
            return;
        }
        if self.backticks == 0 {
            let body = range.start + 1..range.end - 1;
            let characters = quoting::backtick_characters(self.text, body, *quoted);
            let nesting = self.nesting.clone();
            self.found.codes.push(InnerCode { characters, nesting, required: true });
        }
        self.backticks += 1;
    }

    fn leave(&mut self) {
        let left = self.nesting.pop();
        self.backticks -= usize::from(left.is_some_and(|n| is_backtick(&n)));
    }

    /// The parser library drops the inside of a substitution that it cannot parse.
    fn part(&mut self, part: &Part) {
        let Part::Substitution { range, kind, body } = part else { return };
        let dropped = *kind != SubstitutionKind::Backtick
            && body.statements.is_empty()
            && self.scanned.iter().any(|word| range.contains(&word.range.start));
        if dropped && self.backticks == 0 {
            self.unsure.get_or_insert(range.clone());
        }
    }

    fn statement(&mut self, statement: &Statement) {
        if self.backticks > 0 {
            return;
        }
        if let Some(range) = empty_block(&statement.command) {
            self.unsure.get_or_insert(range);
        }
        let (assignments, words) = match &statement.command {
            Command::Simple(simple) => (&simple.assignments, simple.words.clone()),
            Command::Declare(declare) => (&declare.prefix, declared_words(declare, self.text)),
            _ => return,
        };
        let words = words.into_iter().map(|w| self.checked(w, &statement.redirects)).collect();
        let command = SimpleCommand {
            range: 0..0,
            assignments: assignments.clone(),
            words,
            redirects: statement.redirects.clone(),
            starts: Vec::new(),
            nesting: self.nesting.clone(),
        };
        self.push(command);
    }
}

impl Collector<'_> {
    /// A word as it is written, which the scanner must see as a whole word as well.
    fn checked(&mut self, mut word: Word, redirects: &[Redirect]) -> Word {
        trim_continuation(&mut word, self.text);
        let source = &self.text[word.range.clone()];
        let from = self.scanned.partition_point(|w| w.range.end < word.range.end);
        let seen = self.scanned[from..]
            .iter()
            .take_while(|w| {
                self.text[word.range.end..w.range.end].trim_end_matches("\\\n").is_empty()
            })
            .any(|w| w.range.start == word.range.start);
        let redirected =
            |r: &Redirect| r.range.start < word.range.end && word.range.start < r.range.end;
        if source.is_empty() || !seen || redirects.iter().any(redirected) {
            self.unsure.get_or_insert(word.range.clone());
        }
        word.text = word.text.and_then(|_| quoting::unquoted(source));
        word
    }

    /// Adds a command, and those that it starts.
    fn push(&mut self, mut command: SimpleCommand) {
        let started = self.started(&command);
        command.starts = started.iter().map(|(words, _)| words.clone()).collect();
        let ranges = command.words.iter().map(|w| &w.range);
        let ranges = ranges.chain(command.assignments.iter().map(|a| &a.range));
        let ranges = ranges.chain(command.redirects.iter().map(|r| &r.range));
        let (start, end) = ranges.fold((usize::MAX, 0), |(start, end), range| {
            (start.min(range.start), end.max(range.end))
        });
        command.range = start.min(end)..end;
        let inner: Vec<SimpleCommand> = started
            .into_iter()
            .map(|(range, wrapper)| SimpleCommand {
                range: 0..0,
                assignments: Vec::new(),
                words: command.words[range].to_vec(),
                redirects: Vec::new(),
                starts: Vec::new(),
                nesting: command
                    .nesting
                    .iter()
                    .cloned()
                    .chain([Nesting::Wrapper(wrapper)])
                    .collect(),
            })
            .collect();
        if let Some(code) = self.shell_code(&command) {
            self.found.codes.push(code);
        }
        self.found.commands.push(command);
        for command in inner {
            self.push(command);
        }
    }

    /// The words that are another command's, each with the program that starts it.
    fn started(&self, command: &SimpleCommand) -> Vec<(Range<usize>, &'static str)> {
        let wrappers =
            command.nesting.iter().rev().take_while(|n| matches!(n, Nesting::Wrapper(_)));
        if wrappers.count() >= MAX_WRAPPERS {
            return Vec::new();
        }
        let words = CommandWords { words: &command.words, source: self.text, open: &|_| false };
        if words.base(0) == Some("find") {
            let found = wrapper_programs::executed_by_find(&words, 0).into_iter();
            return found.map(|range| (range, "find")).collect();
        }
        let Some(started) = wrapper_programs::started(&words, 0) else { return Vec::new() };
        let range = started.program..command.words.len();
        let plain = |word: &Word| word.fixed().is_some_and(quoting::is_plain_for_shells);
        let joined =
            started.joined && !words.get(range.clone()).is_some_and(|w| w.iter().all(plain));
        match started.certain && !started.stopped && !joined && !range.is_empty() {
            true => vec![(range, started.wrapper)],
            false => Vec::new(),
        }
    }

    /// `bash -c CODE`, `bash <<< CODE` or `eval CODE` where the code is one static word.
    fn shell_code(&self, command: &SimpleCommand) -> Option<InnerCode> {
        let words = CommandWords { words: &command.words, source: self.text, open: &|_| false };
        let at = match words.base(0)? {
            "bash" | "sh" | "dash" | "ash" => {
                let code = &code_programs::PROGRAMS[0].code;
                match code_indexes(&words, 0, code).first() {
                    Some(at) => *at,
                    None => return self.here_string_code(command),
                }
            }
            "eval" if words.words.len() == 2 => 1,
            // `watch 'a | b'` hands its words to a shell.
            _ => {
                let joined =
                    wrapper_programs::started(&words, 0).filter(|s| s.joined && s.certain)?;
                let only = command.starts.is_empty() && joined.program + 1 == words.words.len();
                Some(joined.program).filter(|_| only && !joined.stopped)?
            }
        };
        let certain = command.words[..at].iter().all(|w| w.fixed().is_some());
        // In one quoting, so that whatever is written there instead has one way to be written.
        self.code_in(command, command.words.get(at).filter(|_| certain)?)
    }

    fn here_string_code(&self, command: &SimpleCommand) -> Option<InnerCode> {
        match (command.words.as_slice(), command.redirects.as_slice()) {
            ([_], [Redirect { target: Target::HereString(word), .. }]) => {
                self.code_in(command, word)
            }
            _ => None,
        }
    }

    fn code_in(&self, command: &SimpleCommand, word: &Word) -> Option<InnerCode> {
        let characters = quoting::characters(word, self.text, &|_| false)?;
        let mut nesting = command.nesting.clone();
        nesting.push(Nesting::ShellCode { word: word.range.clone() });
        (word.parts.len() == 1).then_some(InnerCode { characters, nesting, required: false })
    }
}

/// An empty block, which the parser library and the scanner let pass, and bash does not.
fn empty_block(command: &Command) -> Option<Range<usize>> {
    let Command::Compound(c) = command else { return None };
    let empty = c.blocks.iter().any(|b| b.statements.is_empty());
    (empty && c.kind != CompoundKind::Time).then(|| c.range.clone())
}

/// `declare -r a=1` as words.
fn declared_words(declare: &Declare, text: &str) -> Vec<Word> {
    let name = |n: &Name| match &n.subscript {
        None => n.range.clone(),
        Some(subscript) => n.range.start..subscript.range.end + 1,
    };
    let as_text = |range: Range<usize>| Word {
        text: quoting::unquoted(&text[range.clone()]),
        parts: vec![Part::Literal(range.clone())],
        range,
        sequences: Vec::new(),
        one_word: true,
    };
    let assigned = |a: &Assignment| match &a.value {
        AssignedValue::Scalar(value) if a.target.subscript.is_none() => {
            let mut front = a.range.start..value.range.start;
            let mut rest = value.parts.as_slice();
            if let Some((Part::Literal(first), others)) = rest.split_first() {
                (front.end, rest) = (first.end, others);
            }
            let mut parts = vec![Part::Literal(front)];
            parts.extend(rest.iter().cloned());
            let one_word = quoting::is_one_word(text, &parts);
            Word { parts, one_word, ..as_text(a.range.clone()) }
        }
        // Only bash divides this.
        _ => Word {
            parts: vec![Part::Unclear(a.range.clone())],
            text: None,
            one_word: false,
            ..as_text(a.range.clone())
        },
    };
    let mut words = vec![as_text(declare.name.clone())];
    words.extend(declare.flags.iter().chain(&declare.dynamic).cloned());
    words.extend(declare.names.iter().map(|n| as_text(name(n))));
    words.extend(declare.assignments.iter().map(assigned));
    words.sort_by_key(|w| w.range.start);
    words
}

/// The parser counts a backslash and newline at the end of a word to the word.
fn trim_continuation(word: &mut Word, text: &str) {
    let source = &text[word.range.clone()];
    let mut end = source.len();
    while let Some(rest) = source[..end].strip_suffix("\\\n") {
        if rest.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1 {
            break;
        }
        end = rest.len();
    }
    let end = word.range.start + end;
    let before = word.range.end;
    word.range.end = end;
    if let Some(Part::Literal(last)) = word.parts.last_mut()
        && last.end == before
    {
        last.end = end.max(last.start);
    }
}

impl SimpleCommand {
    /// The command of some code, as part of the text around the code.
    pub(super) fn relocate(&mut self, outer: &[Nesting], moved: &relocate_tree::Moved) {
        self.range = moved(&self.range);
        self.assignments.iter_mut().for_each(|a| relocate_tree::assignment(a, moved));
        self.words.iter_mut().for_each(|w| relocate_tree::word(w, moved));
        self.redirects.iter_mut().for_each(|r| relocate_tree::redirect(r, moved));
        for nesting in &mut self.nesting {
            if let Nesting::Substitution { range, .. } | Nesting::ShellCode { word: range } =
                nesting
            {
                *range = moved(range);
            }
        }
        self.nesting.splice(0..0, outer.iter().cloned());
    }
}
