//! Warns where a value would be read as code after all: by a program that gets it inside a piece
//! of code (`bash -c "…{{v}}…"`, `eval`, `python -c`, `awk`), or by a builtin that takes names.
//!
//! The value still arrives exactly; it is the program the author chose that interprets it. A code
//! argument that is nothing but one place is meant that way, and only noted. These are warnings for
//! the reader of a recipe, not a guard: what is not in the tables is not seen.

use crate::ShellWarning;
use crate::programs::{self, Finding, Reading, Words};
use crate::region::Region;
use crate::syntax::*;
use crate::visit::{self, Visitor};
use std::collections::HashSet;
use std::ops::Range;

pub fn warn(block: &Block, region: &Region, warnings: &mut Vec<ShellWarning>) {
    let mut search = Search { region, holders: HashSet::new(), warnings };
    visit::block(block, &mut search);
}

struct Search<'a> {
    region: &'a Region,
    /// Variables that the text sets from a value.
    holders: HashSet<String>,
    warnings: &'a mut Vec<ShellWarning>,
}

impl Visitor for Search<'_> {
    fn statement(&mut self, statement: &Statement) {
        match &statement.command {
            Command::Simple(simple) => self.simple(simple, &statement.redirects),
            Command::Declare(declare) => self.declare(declare),
            Command::Chain { first, rest } => {
                let mut before = &**first;
                for (link, next) in rest {
                    if *link == Link::Pipe {
                        self.pipe(before, next);
                    }
                    before = next;
                }
            }
            _ => {}
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        if let AssignedValue::Scalar(word) = &assignment.value
            && self.direct(&word.range, &word.parts).is_some()
        {
            self.holders.insert(assignment.target.name.clone());
        }
    }

    fn arithmetic(&mut self, arithmetic: &Arithmetic) {
        let text = &self.region.text[arithmetic.range.clone()];
        let mut names = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let Some(name) = names.find(|n| self.holders.contains(*n)) else { return };
        self.warnings.push(ShellWarning {
            range: self.region.author(arithmetic.range.clone()),
            code: "value-as-code",
            message: format!(
                "bash calculates with `{name}`, and runs code that its value may hold"
            ),
            help: Some("use the place itself here: its value is checked to be an integer".into()),
            note: false,
        });
    }
}

impl Search<'_> {
    fn simple(&mut self, simple: &Simple, redirects: &[Redirect]) {
        let words = Words { words: &simple.words, region: self.region };
        let Some(program) = programs::resolve(&words) else { return };
        for Finding { word, reader, reading } in programs::code_words(&words, program) {
            let word = &simple.words[word];
            if let Some(place) = self.direct(&word.range, &word.parts) {
                let note = match reading {
                    Reading::Code => self.is_one_place(word),
                    Reading::PartOfCode | Reading::Name => false,
                    Reading::Integer => true,
                };
                self.push(place, reader, note);
            }
        }
        if let Some(reader) = programs::reads_code_from_stdin(&words, program) {
            self.redirected(redirects, reader);
        }
    }

    fn redirected(&mut self, redirects: &[Redirect], reader: &'static str) {
        for redirect in redirects {
            let found = match &redirect.target {
                Target::HereDoc(heredoc) => self.direct(&heredoc.body, &heredoc.parts),
                Target::HereString(word) => self.direct(&word.range, &word.parts),
                Target::File(_) => None,
            };
            if let Some(place) = found {
                self.push(place, reader, false);
            }
        }
    }

    /// `echo "…{{v}}…" | bash`.
    fn pipe(&mut self, before: &Statement, next: &Statement) {
        let (Command::Simple(from), Command::Simple(to)) = (&before.command, &next.command) else {
            return;
        };
        let words = Words { words: &to.words, region: self.region };
        let reader = programs::resolve(&words)
            .and_then(|program| programs::reads_code_from_stdin(&words, program));
        let Some(reader) = reader else { return };
        let prints = from.words.first().and_then(|w| w.text.as_deref());
        if matches!(prints, Some("echo" | "printf")) {
            for word in &from.words[1..] {
                if let Some(place) = self.direct(&word.range, &word.parts) {
                    self.push(place, reader, self.is_one_place(word));
                }
            }
        }
        self.redirected(&before.redirects, reader);
    }

    fn declare(&mut self, declare: &Declare) {
        if !crate::names::has_flag(declare, 'i') {
            return;
        }
        for assignment in &declare.assignments {
            if let Some(mark) = self.region.marks_in(&assignment.range).first() {
                let place = mark.at..mark.at + crate::region::MARK_LEN;
                self.push(place, "declare -i", true);
            }
        }
    }

    fn push(&mut self, place: Range<usize>, reader: &'static str, note: bool) {
        let (message, help) = programs::advice(reader, note);
        self.warnings.push(ShellWarning {
            range: self.region.author(place),
            code: "value-as-code",
            message,
            help,
            note,
        });
    }

    /// The first place in a word that is not inside a substitution: there it would be the data of
    /// another command.
    fn direct(&self, range: &Range<usize>, parts: &[Part]) -> Option<Range<usize>> {
        let mut inner = Substitutions(Vec::new());
        visit::parts(parts, &mut inner);
        let mark = self
            .region
            .marks_in(range)
            .iter()
            .find(|m| !inner.0.iter().any(|r| r.contains(&m.at)))?;
        Some(mark.at..mark.at + crate::region::MARK_LEN)
    }

    fn is_one_place(&self, word: &Word) -> bool {
        let text = &self.region.text[word.range.clone()];
        let bare = text.trim_matches('"');
        let bare = if bare.len() == text.len() { text.trim_matches('\'') } else { bare };
        self.region.marks_in(&word.range).len() == 1 && bare.len() == crate::region::MARK_LEN
    }
}

struct Substitutions(Vec<Range<usize>>);

impl Visitor for Substitutions {
    fn part(&mut self, part: &Part) {
        if let Part::Substitution { range, .. } = part {
            self.0.push(range.clone());
        }
    }
}
