//! Which variables a piece of bash reads, and which ones a script sets or may set.

use std::collections::BTreeSet;
use std::ops::Range;
use towpath_shell::bash::Script;
use towpath_shell::bash::tree::*;
use towpath_shell::bash::visit::{self, Visitor};

/// Variables and parameters that a text reads.
#[derive(Debug, Default)]
pub(crate) struct Names(pub BTreeSet<String>);

pub(crate) fn names_of(text: &str, parts: &[Part], tilde: bool) -> Names {
    let mut reads = Reads { text, names: BTreeSet::new(), outside: None };
    visit::parts(parts, &mut reads);
    if tilde {
        reads.names.extend(["HOME", "PWD", "OLDPWD"].map(str::to_owned));
    }
    Names(reads.names)
}

/// What the text outside of a range reads.
pub(crate) fn names_outside(script: &Script, range: &Range<usize>) -> Names {
    let mut reads =
        Reads { text: script.text(), names: BTreeSet::new(), outside: Some(range.clone()) };
    visit::block(script.body(), &mut reads);
    // Code in a word, as of `bash -c`, is not part of the tree.
    for command in script.commands() {
        command.words.iter().for_each(|word| visit::parts(&word.parts, &mut reads));
    }
    Names(reads.names)
}

struct Reads<'a> {
    text: &'a str,
    names: BTreeSet<String>,
    /// What is inside of this range does not count.
    outside: Option<Range<usize>>,
}

impl Reads<'_> {
    fn counts(&self, range: &Range<usize>) -> bool {
        !self.outside.as_ref().is_some_and(|o| o.start <= range.start && range.end <= o.end)
    }
}

impl Visitor for Reads<'_> {
    fn part(&mut self, part: &Part) {
        match part {
            Part::Variable { range, name } if self.counts(range) => {
                self.names.insert(name.clone());
            }
            Part::Parameter(parameter) if self.counts(&parameter.range) => {
                self.names.insert(parameter.target.name.clone());
            }
            _ => {}
        }
    }

    fn calculated(&mut self, _array: Option<&str>, range: &Range<usize>, _parts: &[Part]) {
        if self.counts(range) {
            self.names.extend(identifiers(&self.text[range.clone()]));
        }
    }
}

fn identifiers(text: &str) -> impl Iterator<Item = String> {
    let letters = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let named = |word: &&str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    text.split(letters).filter(named).map(str::to_owned)
}

/// What a script changes for the words that are expanded after it.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub variables: BTreeSet<String>,
    pub functions: BTreeSet<String>,
    /// `eval` and `source` may set anything.
    pub any: bool,
    pub directory: bool,
    pub options: bool,
    /// `set` and `shift`.
    pub positional: bool,
}

pub(crate) fn changes_of(script: &Script) -> Changes {
    let mut collector = ChangeCollector { text: script.text(), changes: Changes::default() };
    visit::block(script.body(), &mut collector);
    for command in script.commands() {
        let Some(name) = command.name() else { continue };
        let changes = &mut collector.changes;
        match name {
            "eval" | "source" | "." => changes.any = true,
            "cd" | "pushd" | "popd" => changes.directory = true,
            "set" | "shopt" => (changes.options, changes.positional) = (true, true),
            "shift" => changes.positional = true,
            "read" | "mapfile" | "readarray" | "getopts" | "printf" | "unset" | "let" | "wait"
            | "declare" | "typeset" | "local" | "export" | "readonly" => {
                let words = command.words.iter().skip(1);
                for word in words {
                    changes.variables.extend(identifiers(&script.text()[word.range.clone()]));
                }
                changes
                    .variables
                    .extend(["REPLY", "MAPFILE", "OPTARG", "OPTIND"].map(str::to_owned));
            }
            _ => {}
        }
    }
    collector.changes
}

struct ChangeCollector<'a> {
    text: &'a str,
    changes: Changes,
}

impl Visitor for ChangeCollector<'_> {
    fn statement(&mut self, statement: &Statement) {
        match &statement.command {
            Command::Compound(compound) => {
                let names = compound.names.iter().map(|range| self.text[range.clone()].to_owned());
                self.changes.variables.extend(names);
                if compound.kind == CompoundKind::Coprocess {
                    self.changes.variables.insert("COPROC".to_owned());
                }
            }
            Command::Function { names, .. } => {
                let names = names.iter().filter_map(|name| name.text.clone());
                self.changes.functions.extend(names);
            }
            Command::Test(_) => {
                self.changes.variables.insert("BASH_REMATCH".to_owned());
            }
            _ => {}
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.changes.variables.insert(assignment.target.name.clone());
    }

    fn part(&mut self, part: &Part) {
        if let Part::Parameter(parameter) = part
            && matches!(parameter.operation, Operation::Value(_))
        {
            self.changes.variables.insert(parameter.target.name.clone());
        }
    }

    fn calculated(&mut self, _array: Option<&str>, range: &Range<usize>, _parts: &[Part]) {
        self.changes.variables.extend(identifiers(&self.text[range.clone()]));
    }
}

impl Changes {
    /// Whether a word that reads these may expand to something else after the script has begun.
    /// `single` is a script of one simple command, which expands its words before it does anything.
    pub fn touch(&self, names: &Names, single: bool) -> bool {
        let volatile = ["?", "!", "_", "PIPESTATUS", "LINENO"];
        let positional =
            |name: &str| name.bytes().all(|b| b.is_ascii_digit() || b"@*#".contains(&b));
        let here = ["PWD", "OLDPWD", "DIRSTACK"];
        names.0.iter().any(|name| {
            let name = name.as_str();
            self.variables.contains(name)
                || self.any
                || !single && volatile.contains(&name)
                || self.positional && positional(name)
                || self.directory && here.contains(&name)
        })
    }
}

/// Whether a name is a positional parameter, which a function has its own of.
pub(crate) fn reads_positional(names: &Names) -> bool {
    names.0.iter().any(|name| name.bytes().all(|b| b.is_ascii_digit() || b"@*#".contains(&b)))
}
