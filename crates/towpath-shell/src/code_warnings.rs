//! Warns where a value would be read as code after all: by a program that gets it inside a piece
//! of code (`bash -c "…{{v}}…"`, `eval`, `python -c`, `awk`), or by a builtin that takes names.
//!
//! The value still arrives exactly; it is the program the author chose that interprets it. A code
//! argument that is nothing but one placeholder is meant that way, and only noted. These are warnings for
//! the reader of a recipe, not a guard: what is not in the tables is not seen.

use crate::ShellWarning;
use crate::bash::command_words::CommandWords;
use crate::bash::shell_code;
use crate::bash::tree::*;
use crate::bash::visit::{self, Visitor};
use crate::declared_variables::DeclaredVariables;
use crate::mark::Region;
use crate::read_as::{self, Finding, ReadAs};
use crate::{builtin_calls, nested_code, placeholder_context};
use std::collections::HashSet;
use std::ops::Range;

pub fn warn(
    block: &Block,
    region: &Region,
    names: &DeclaredVariables,
    warnings: &mut Vec<ShellWarning>,
) {
    let mut set_from_values = SetFromValues { region, names: HashSet::new() };
    visit::block(block, &mut set_from_values);
    let set_from_values = set_from_values.names;
    visit::block(block, &mut WarningSearch { region, names, set_from_values, warnings });
}

/// Variables that the text sets from a value.
struct SetFromValues<'a> {
    region: &'a Region,
    names: HashSet<String>,
}

impl Visitor for SetFromValues<'_> {
    fn statement(&mut self, statement: &Statement) {
        match &statement.command {
            Command::Compound(compound)
                if compound.words.iter().any(|w| self.is_given(&w.range, &w.parts)) =>
            {
                let names = compound.names.iter();
                self.names.extend(names.map(|n| self.region.text[n.clone()].to_owned()));
            }
            Command::Simple(simple) => {
                let given = simple.words.iter().any(|w| self.region.has_mark(&w.range))
                    || statement.redirects.iter().any(|r| self.region.has_mark(&r.range));
                match builtin_calls::called(simple) {
                    Some((name @ ("read" | "mapfile" | "readarray" | "printf"), arguments))
                        if given =>
                    {
                        let set = builtin_calls::names_set(name, arguments).into_iter();
                        self.names.extend(set.flatten().map(str::to_owned));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        if let AssignedValue::Scalar(word) = &assignment.value
            && self.is_given(&word.range, &word.parts)
        {
            self.names.insert(assignment.target.name.clone());
        }
    }
}

impl SetFromValues<'_> {
    fn is_given(&self, range: &Range<usize>, parts: &[Part]) -> bool {
        direct(self.region, range, parts).is_some()
    }
}

struct WarningSearch<'a> {
    region: &'a Region,
    names: &'a DeclaredVariables,
    set_from_values: HashSet<String>,
    warnings: &'a mut Vec<ShellWarning>,
}

impl Visitor for WarningSearch<'_> {
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
        let name = assignment.target.name.as_str();
        let AssignedValue::Scalar(word) = &assignment.value else { return };
        if self.names.integer(name) {
            self.calculated(None, &word.range, &word.parts);
        }
    }

    fn part(&mut self, part: &Part) {
        let Part::Parameter(parameter) = part else { return };
        let name = &parameter.target.name;
        let text = &self.region.text[parameter.range.clone()];
        let reads = match text {
            _ if text.starts_with("${!") => "the name of another variable",
            _ if text.ends_with("@P}") => "a prompt",
            _ => return,
        };
        if self.set_from_values.contains(name) {
            let message =
                format!("bash reads the value of `{name}` as {reads}, and runs code in it");
            self.warn(parameter.range.clone(), message, None, false);
        }
    }

    fn calculated(&mut self, array: Option<&str>, range: &Range<usize>, parts: &[Part]) {
        if array.is_some_and(|name| self.names.associative(name)) {
            return;
        }
        let help = "use the placeholder itself here: its value is checked to be an integer";
        let mut printed = Printed { region: self.region, placeholders: Vec::new() };
        visit::parts(parts, &mut printed);
        for placeholder in printed.placeholders {
            let message = "bash calculates with what is printed here, and runs code in it".into();
            self.warn(placeholder, message, Some(help.into()), false);
        }
        let text = &self.region.text[range.clone()];
        let mut names = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let Some(name) = names.find(|n| self.set_from_values.contains(*n)) else { return };
        let message =
            format!("bash calculates with `{name}`, and runs code that its value may contain");
        self.warn(range.clone(), message, Some(help.into()), false);
    }
}

/// Expansions of variables that were set from a value.
struct ExpandedVariables<'a, 'b> {
    search: &'a WarningSearch<'b>,
    found: Vec<Range<usize>>,
}

impl Visitor for ExpandedVariables<'_, '_> {
    fn part(&mut self, part: &Part) {
        let (name, range) = match part {
            Part::Variable { name, range } => (name, range),
            Part::Parameter(p) if matches!(p.operation, Operation::None) => {
                (&p.target.name, &p.range)
            }
            _ => return,
        };
        let quoted = self.search.region.text[range.clone()].ends_with("@Q}");
        if self.search.set_from_values.contains(name) && !quoted {
            self.found.push(range.clone());
        }
    }
}

/// Placeholders that `echo` or `printf` prints.
struct Printed<'a> {
    region: &'a Region,
    placeholders: Vec<Range<usize>>,
}

impl Visitor for Printed<'_> {
    fn statement(&mut self, statement: &Statement) {
        let Command::Simple(simple) = &statement.command else { return };
        if matches!(builtin_calls::called(simple), Some(("echo" | "printf", _))) {
            let words = simple.words.iter();
            self.placeholders.extend(words.filter_map(|w| direct(self.region, &w.range, &w.parts)));
        }
    }
}

impl WarningSearch<'_> {
    fn simple(&mut self, simple: &Simple, redirects: &[Redirect]) {
        let region = self.region;
        let words = CommandWords {
            words: &simple.words,
            source: &region.text,
            open: &|r| region.has_mark(r),
        };
        let Some(program) = shell_code::resolve(&words) else { return };
        let code = nested_code::find(simple, redirects, self.region);
        for word in &simple.words {
            let (name, _) =
                self.region.text[word.range.clone()].split_once('=').unwrap_or_default();
            let name = name.trim_start_matches(['"', '\'']);
            if placeholder_context::is_code(name, &self.region.text)
                && let Some(placeholder) = self.direct(&word.range, &word.parts)
            {
                let message = format!("bash expands or runs the value of `{name}`");
                self.warn(placeholder, message, Some("write the text itself".into()), false);
            }
        }
        for Finding { word, reader, read_as } in read_as::code_words(&words, program) {
            let word = &simple.words[word];
            // There the value arrives as one piece in the other shell, too.
            if code.as_ref().is_some_and(|c| c.range.contains(&word.range.start)) {
                continue;
            }
            if reader == "let" {
                self.calculated(None, &word.range, &word.parts);
            }
            if let Some(placeholder) = self.expanded(word) {
                let source = self.region.text[word.range.clone()].trim_matches('"');
                let note = matches!(read_as, ReadAs::Code | ReadAs::Integer)
                    && source.len() == placeholder.len();
                self.push(placeholder, reader, note);
            }
            if let Some(placeholder) = self.direct(&word.range, &word.parts) {
                let note = match read_as {
                    ReadAs::Code => self.is_one_placeholder(word),
                    ReadAs::PartOfCode | ReadAs::Name => false,
                    ReadAs::Integer => true,
                };
                self.push(placeholder, reader, note);
            }
        }
        if let Some(reader) = shell_code::reads_code_from_stdin(&words, program) {
            self.redirected(redirects, reader);
        }
        if let Some(reader) = shell_code::reads_code_from_file(&words, program) {
            let mut printed = Printed { region: self.region, placeholders: Vec::new() };
            simple.words.iter().for_each(|w| visit::parts(&w.parts, &mut printed));
            printed
                .placeholders
                .into_iter()
                .for_each(|placeholder| self.push(placeholder, reader, false));
        }
    }

    /// `$x` in a word, where `x` was set from a value. `${x@Q}` is quoted for a shell.
    fn expanded(&self, word: &Word) -> Option<Range<usize>> {
        let mut found = ExpandedVariables { search: self, found: Vec::new() };
        visit::parts(&word.parts, &mut found);
        found.found.into_iter().next()
    }

    fn redirected(&mut self, redirects: &[Redirect], reader: &'static str) {
        for redirect in redirects {
            let found = match &redirect.target {
                Target::HereDoc(heredoc) => self.direct(&heredoc.body, &heredoc.parts),
                Target::HereString(word) => self.direct(&word.range, &word.parts),
                Target::File(_) | Target::Duplicate(_) => None,
            };
            if let Some(placeholder) = found {
                self.push(placeholder, reader, false);
            }
        }
    }

    /// `echo "…{{v}}…" | bash`.
    fn pipe(&mut self, before: &Statement, next: &Statement) {
        let (Command::Simple(from), Command::Simple(to)) = (&before.command, &next.command) else {
            return;
        };
        let region = self.region;
        let words =
            CommandWords { words: &to.words, source: &region.text, open: &|r| region.has_mark(r) };
        let reader = shell_code::resolve(&words)
            .and_then(|program| shell_code::reads_code_from_stdin(&words, program));
        let Some(reader) = reader else { return };
        let prints = from.words.first().and_then(|w| w.text.as_deref());
        if matches!(prints, Some("echo" | "printf")) {
            for word in &from.words[1..] {
                if let Some(placeholder) = self.direct(&word.range, &word.parts) {
                    self.push(placeholder, reader, self.is_one_placeholder(word));
                }
            }
        }
        self.redirected(&before.redirects, reader);
    }

    fn declare(&mut self, declare: &Declare) {
        let integers = declare.assignments.iter().filter(|a| self.names.integer(&a.target.name));
        let marks: Vec<_> =
            integers.filter_map(|a| self.region.marks_in(&a.range).first()).copied().collect();
        for mark in marks {
            let placeholder = mark.at..mark.at + crate::mark::MARK_LEN;
            self.push(placeholder, "declare -i", true);
        }
    }

    fn push(&mut self, placeholder: Range<usize>, reader: &'static str, note: bool) {
        let (message, help) = read_as::advice(reader, note);
        self.warn(placeholder, message, help, note);
    }

    fn warn(
        &mut self,
        placeholder: Range<usize>,
        message: String,
        help: Option<String>,
        note: bool,
    ) {
        self.warnings.push(ShellWarning {
            range: self.region.author(placeholder),
            code: "value-as-code",
            message,
            help,
            note,
        });
    }

    fn direct(&self, range: &Range<usize>, parts: &[Part]) -> Option<Range<usize>> {
        direct(self.region, range, parts)
    }

    fn is_one_placeholder(&self, word: &Word) -> bool {
        is_one_placeholder(self.region, word)
    }
}

/// The first placeholder in a word that is not inside a substitution: there it would be the data of
/// another command.
fn direct(region: &Region, range: &Range<usize>, parts: &[Part]) -> Option<Range<usize>> {
    let mut inner = Substitutions(Vec::new());
    visit::parts(parts, &mut inner);
    let mark =
        region.marks_in(range).iter().find(|m| !inner.0.iter().any(|r| r.contains(&m.at)))?;
    Some(mark.at..mark.at + crate::mark::MARK_LEN)
}

/// Where a value would be the name of a variable for a builtin: bash evaluates a subscript in it.
pub fn value_as_name(simple: &Simple, region: &Region) -> Option<Range<usize>> {
    let words =
        CommandWords { words: &simple.words, source: &region.text, open: &|r| region.has_mark(r) };
    let findings = read_as::code_words(&words, shell_code::resolve(&words)?);
    let mut names = findings.iter().filter(|f| f.read_as == ReadAs::Name);
    names.find_map(|f| {
        let word = &simple.words[f.word];
        direct(region, &word.range, &word.parts)
    })
}

pub fn is_one_placeholder(region: &Region, word: &Word) -> bool {
    let text = &region.text[word.range.clone()];
    let bare = text.trim_matches('"');
    let bare = if bare.len() == text.len() { text.trim_matches('\'') } else { bare };
    region.marks_in(&word.range).len() == 1 && bare.len() == crate::mark::MARK_LEN
}

struct Substitutions(Vec<Range<usize>>);

impl Visitor for Substitutions {
    fn part(&mut self, part: &Part) {
        if let Part::Substitution { range, .. } = part {
            self.0.push(range.clone());
        }
    }
}
