//! What the text itself says about its variables: which are declared associative, integer or a
//! reference, and which are arrays. Bash evaluates what is assigned to some of them, so a place
//! there needs more care. Known only from the text: what another file declares is not seen.

use crate::syntax::*;
use crate::visit::{self, Visitor};
use std::collections::HashSet;

#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Declared `-A` somewhere.
    associative: HashSet<String>,
    /// Declared otherwise, or unset, somewhere.
    otherwise: HashSet<String>,
    integer: HashSet<String>,
    reference: HashSet<String>,
    array: HashSet<String>,
    /// Named in text that is not understood: such a variable may be anything.
    unclear: HashSet<String>,
    /// Some command prints or exports function bodies (`export -f`, `declare -f`).
    pub functions_leave: bool,
}

/// Variables that bash itself keeps as integers: it evaluates what is assigned to them.
const BUILT_IN_INTEGERS: [&str; 6] =
    ["RANDOM", "SRANDOM", "OPTIND", "HISTCMD", "SECONDS", "LINENO"];
const BUILT_IN_ARRAYS: [&str; 9] = [
    "PIPESTATUS",
    "DIRSTACK",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_LINENO",
    "BASH_SOURCE",
    "FUNCNAME",
    "GROUPS",
    "BASH_REMATCH",
];

impl Names {
    /// The names of `block`, added to those of the text around it.
    pub fn of(block: &Block, outer: &Names) -> Names {
        let mut names = outer.clone();
        visit::block(block, &mut names);
        names
    }

    pub fn integer(&self, name: &str) -> bool {
        self.integer.contains(name)
            || BUILT_IN_INTEGERS.contains(&name)
            || self.unclear.contains(name)
    }

    pub fn reference(&self, name: &str) -> bool {
        self.reference.contains(name) || self.unclear.contains(name)
    }

    pub fn array(&self, name: &str) -> bool {
        self.array.contains(name) || BUILT_IN_ARRAYS.contains(&name)
    }

    pub fn associative_somewhere(&self, name: &str) -> bool {
        self.associative.contains(name)
    }

    /// Whether nothing in the text makes another thing of a name declared `-A`.
    pub fn only_associative(&self, name: &str) -> bool {
        self.associative.contains(name) && !self.otherwise.contains(name) && !self.reference(name)
    }

    /// An expansion or a quoted string that the tree does not show: of what is in it, only an
    /// assignment reaches the text around.
    pub fn add_hidden_piece(&mut self, text: &str) {
        self.functions_leave |= hands_over_functions(text);
        if ["=", "++", "--"].iter().any(|sign| text.contains(sign)) {
            self.unclear.extend(identifiers(text));
        }
        if text.contains('[') {
            self.array.extend(identifiers(text));
        }
    }

    /// Commands that the tree does not show.
    pub fn add_hidden_line(&mut self, text: &str) {
        self.functions_leave |= hands_over_functions(text);
        self.unclear.extend(identifiers(text));
    }
}

fn identifiers(text: &str) -> impl Iterator<Item = String> {
    let names = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    names.filter(|n| !n.is_empty()).map(str::to_owned)
}

fn hands_over_functions(text: &str) -> bool {
    ["declare", "typeset", "export", "set"].iter().any(|word| text.contains(word))
}

/// Whether a declaration has the flag letter, as in `-gA`.
pub fn has_flag(declare: &Declare, letter: char) -> bool {
    declare
        .flags
        .iter()
        .filter_map(|f| f.text.as_deref())
        .any(|f| f.strip_prefix('-').is_some_and(|letters| letters.contains(letter)))
}

pub fn declared(declare: &Declare) -> impl Iterator<Item = &Name> {
    declare.names.iter().chain(declare.assignments.iter().map(|a| &a.target))
}

impl Visitor for Names {
    fn statement(&mut self, statement: &Statement) {
        match &statement.command {
            Command::Declare(declare) => self.declaration(declare),
            Command::Simple(simple) => self.simple(simple),
            _ => {}
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        if assignment.target.subscript.is_some()
            || matches!(assignment.value, AssignedValue::Array(_))
        {
            self.array.insert(assignment.target.name.clone());
        }
    }

    fn part(&mut self, part: &Part) {
        if let Part::Parameter(parameter) = part
            && parameter.target.subscript.is_some()
        {
            self.array.insert(parameter.target.name.clone());
        }
    }
}

impl Names {
    fn declaration(&mut self, declare: &Declare) {
        self.functions_leave |= has_flag(declare, 'f');
        let scoped = !matches!(declare.variant.as_str(), "export" | "readonly");
        let associative = has_flag(declare, 'A');
        let array = associative || has_flag(declare, 'a');
        for target in declared(declare) {
            let name = || target.name.clone();
            if associative {
                self.associative.insert(name());
            } else if scoped || array {
                self.otherwise.insert(name());
            }
            if array {
                self.array.insert(name());
            }
            if has_flag(declare, 'i') {
                self.integer.insert(name());
            }
            if has_flag(declare, 'n') && declare.variant != "export" {
                self.reference.insert(name());
            }
        }
    }

    fn simple(&mut self, simple: &Simple) {
        let mut texts = simple.words.iter().filter_map(|w| w.text.as_deref());
        match texts.next() {
            Some("unset") => self.otherwise.extend(texts.map(str::to_owned)),
            Some("read" | "mapfile" | "readarray") => self.array.extend(texts.map(str::to_owned)),
            _ => {}
        }
    }
}
