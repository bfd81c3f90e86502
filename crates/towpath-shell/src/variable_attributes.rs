//! What can be known of its variables from the text alone: which are declared associative, integer or a
//! reference, which are arrays, and what could change that unseen. Bash evaluates what is assigned to
//! some of them, so a placeholder there needs more care. Known only from the text: what another file
//! declares is not seen, but that it could is.

use crate::bash::parser_library;
use crate::bash::tree::*;
use crate::bash::visit::{self, Visitor};
use crate::builtin_calls::{self, DeclarationOperand};
use std::collections::HashSet;

#[derive(Debug, Clone, Default)]
pub struct VariableAttributes {
    /// Declared `-A` somewhere.
    associative: HashSet<String>,
    /// Declared otherwise, or unset, somewhere.
    otherwise: HashSet<String>,
    integer: HashSet<String>,
    reference: HashSet<String>,
    array: HashSet<String>,
    /// Given to a command that only bash knows: it could be `declare -i`.
    unclear: HashSet<String>,
    /// Set by `read` and its like, from data that is not in the text.
    read: HashSet<String>,
    /// `read` and its like set a name that only bash knows.
    reads_any: bool,
    /// A declaration could have made any name an integer or a reference.
    any_attribute: bool,
    /// Some word is a declaration as text, as in `x='declare -i n'`.
    kept_declaration: bool,
    /// A command is called whose name only bash knows.
    unknown_command: bool,
    /// Something could have unset any name, or made an array of it.
    any_shape: bool,
    /// Where code first runs in this shell that the text does not show.
    unseen_code: Option<usize>,
    /// Some command prints or exports function bodies (`export -f`, `declare -f`, `set -a`).
    pub functions_leave: bool,
    /// An interactive shell is started.
    interactive: bool,
    /// `set -k`: an argument `name=value` is an assignment.
    pub keyword: bool,
}

/// Variables that bash itself keeps as integers: it evaluates what is assigned to them.
const BUILT_IN_INTEGERS: [&str; 6] =
    ["RANDOM", "SRANDOM", "OPTIND", "HISTCMD", "SECONDS", "LINENO"];
const BUILT_IN_ARRAYS: [&str; 16] = [
    "PIPESTATUS",
    "DIRSTACK",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_LINENO",
    "BASH_SOURCE",
    "FUNCNAME",
    "GROUPS",
    "BASH_REMATCH",
    "BASH_ALIASES",
    "BASH_CMDS",
    "BASH_VERSINFO",
    "COMP_WORDS",
    "COMPREPLY",
    "COPROC",
    "MAPFILE",
];
/// Variables that bash sets from what commands are given and what they read.
const SET_BY_BASH: [&str; 7] = ["_", "PWD", "OLDPWD", "OPTARG", "REPLY", "MAPFILE", "BASH_ARGV0"];
/// Variables whose value bash expands like code, or runs.
const CODE: [&str; 8] =
    ["BASH_ALIASES", "BASH_CMDS", "BASH_ENV", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND"];

impl VariableAttributes {
    /// The names of `block`, added to those of the text around it.
    pub fn of(block: &Block, text: &str, outer: &VariableAttributes) -> VariableAttributes {
        let mut search = AttributeSearch { names: outer.clone(), text, at: 0, depth: 0 };
        search.names.unseen_code = outer.unseen_code.and(Some(0));
        search.subscripted(text);
        visit::block(block, &mut search);
        search.names
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
        self.any_shape || self.array.contains(name) || BUILT_IN_ARRAYS.contains(&name)
    }

    /// Whether bash expands or runs the value of this variable. Only interactive shells look at `ENV`.
    pub fn is_code(&self, name: &str) -> bool {
        CODE.contains(&name) || name == "ENV" && self.interactive
    }

    /// Whether only bash knows if this is an integer or a reference.
    pub fn unclear(&self, name: &str) -> bool {
        // What is declared about a reference is declared about a variable with another name.
        let through = self.reference.iter().any(|r| self.integer.contains(r));
        let kept = self.kept_declaration && self.unknown_command;
        self.any_attribute || kept || through || self.unclear.contains(name)
    }

    pub fn associative_somewhere(&self, name: &str) -> bool {
        self.associative.contains(name)
    }

    /// Whether nothing in the text makes another thing of a name declared `-A`.
    pub fn only_associative(&self, name: &str) -> bool {
        let unsure = self.any_shape || self.any_attribute || self.unseen_code();
        let through = self.reference.iter().any(|r| self.otherwise.contains(r));
        let other = self.otherwise.contains(name) || self.reference(name);
        self.associative.contains(name) && !unsure && !through && !other
    }

    /// Whether code runs in this shell that the text does not show.
    pub fn unseen_code(&self) -> bool {
        self.unseen_code.is_some()
    }

    pub fn unseen_code_before(&self, at: usize) -> bool {
        self.unseen_code.is_some_and(|unseen| unseen < at)
    }

    /// Whether bash evaluates what it sets from a command's own words.
    pub fn arguments_are_evaluated(&self) -> bool {
        SET_BY_BASH.iter().any(|name| self.is_evaluated(name))
    }

    /// Whether `read` or its like sets a variable of which bash evaluates the value.
    pub fn reads_are_evaluated(&self) -> bool {
        let evaluated =
            |name: &String| self.is_evaluated(name) || self.unclear(name) || self.is_code(name);
        self.read.iter().any(evaluated) || self.reads_any && self.any_evaluated()
    }

    fn is_evaluated(&self, name: &str) -> bool {
        self.integer(name) || self.reference(name)
    }

    /// Whether bash evaluates what is assigned to some name of this text.
    pub fn any_evaluated(&self) -> bool {
        self.any_attribute || !(self.integer.is_empty() && self.reference.is_empty())
    }

    /// An expansion or a quoted string that the tree does not show: of what is in it, only an
    /// assignment reaches the text around. That gives no attribute, but may make an array.
    pub fn add_hidden_piece(&mut self, text: &str) {
        self.functions_leave |= hands_over_functions(text);
        if text.contains('[') {
            self.array.extend(identifiers(text));
        }
    }

    /// Commands that the tree does not show.
    pub fn add_hidden_line(&mut self, text: &str) {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        self.functions_leave |= hands_over_functions(text);
        self.keyword |= text.contains("set") && text.contains('k');
        self.array.extend(identifiers(text));
        self.otherwise.extend(identifiers(text));
        if has(&["declare", "typeset", "local", "readonly", "export"]) {
            self.unclear.extend(identifiers(text));
            let evaluates = |t: &str| t.starts_with('-') && t.contains(['i', 'n']);
            let dynamic = text.contains(['$', '`']);
            self.any_attribute |= dynamic && text.split_whitespace().any(evaluates);
        }
        if has(&["unset", "read", "mapfile"]) {
            self.any_shape |= text.contains(['$', '`']);
        }
        if has(&["eval", "source", ". ", "trap", "alias", "enable", "fc"]) {
            self.unseen_code = Some(0);
        }
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
        .chain(&declare.dynamic)
        .filter_map(|f| f.text.as_deref())
        .any(|f| f.strip_prefix('-').is_some_and(|letters| letters.contains(letter)))
}

/// Whether a declaration certainly happens, with these flags and names.
pub fn certainly_declares(declare: &Declare, in_function: bool) -> bool {
    let known = |f: &str| {
        let letters = f.strip_prefix('-');
        letters.is_some_and(|l| !l.is_empty() && l.chars().all(|c| "Agilrtux".contains(c)))
    };
    let texts = declare.flags.iter().all(|f| f.text.as_deref().is_some_and(known));
    let here = match declare.variant.as_str() {
        "local" => in_function,
        variant => matches!(variant, "declare" | "typeset"),
    };
    here && texts && declare.dynamic.is_empty()
}

pub fn declared(declare: &Declare) -> impl Iterator<Item = &Name> {
    declare.names.iter().chain(declare.assignments.iter().map(|a| &a.target))
}

/// Code inside code is read this deep.
const MAX_DEPTH: usize = 4;

struct AttributeSearch<'a> {
    names: VariableAttributes,
    text: &'a str,
    /// The command that is looked at.
    at: usize,
    depth: usize,
}

impl Visitor for AttributeSearch<'_> {
    fn statement(&mut self, statement: &Statement) {
        match &statement.command {
            Command::Declare(declare) => self.declare(declare),
            Command::Simple(simple) => self.simple(simple),
            // `coproc NAME` makes an array.
            Command::Compound(compound) if compound.kind == CompoundKind::Coprocess => {
                let names = compound.names.iter().map(|n| self.text[n.clone()].to_owned());
                self.names.array.extend(names.clone());
                self.names.otherwise.extend(names);
            }
            _ => {}
        }
    }

    fn word(&mut self, word: &Word) {
        let mut words = word.text.iter().flat_map(|text| text.split_whitespace());
        let first = words.next().is_some_and(|w| w != "export" && builtin_calls::declares(w));
        self.names.kept_declaration |= first && words.next().is_none_or(|w| w.starts_with('-'));
    }

    fn assignment(&mut self, assignment: &Assignment) {
        if assignment.target.subscript.is_some()
            || matches!(assignment.value, AssignedValue::Array(_))
        {
            self.names.array.insert(assignment.target.name.clone());
        }
    }
}

impl AttributeSearch<'_> {
    /// Whoever writes `name[` may have an array.
    fn subscripted(&mut self, text: &str) {
        for (at, _) in text.match_indices('[') {
            let before = text[..at].trim_end_matches(['"', '\'', '\\']);
            let name = before
                .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .map_or(before, |i| &before[i..])
                .trim_start_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            if !name.is_empty() {
                self.names.array.insert(name.to_owned());
            }
        }
    }

    fn declare(&mut self, declare: &Declare) {
        let flags = declare.flags.iter().filter_map(|f| f.text.as_deref());
        let letters: String = flags.filter(|f| f.starts_with('-')).collect();
        let names = declared(declare).map(|n| DeclarationOperand::Named(n.name.clone()));
        let other = declare.dynamic.iter().map(|w| builtin_calls::operand(w, self.text));
        let operands: Vec<DeclarationOperand> =
            names.chain(other).chain([DeclarationOperand::Flags(letters)]).collect();
        self.declaration(&declare.variant, &operands);
    }

    fn declaration(&mut self, variant: &str, operands: &[DeclarationOperand]) {
        let letters: String = operands
            .iter()
            .filter_map(|o| match o {
                DeclarationOperand::Flags(letters) => Some(letters.as_str()),
                _ => None,
            })
            .collect();
        let has = |letter| letters.contains(letter);
        self.names.functions_leave |= has('f');
        if has('f') || has('F') || has('p') {
            return;
        }
        let scoped = !matches!(variant, "export" | "readonly");
        // `export -n` takes the export away.
        let evaluated = has('i') || has('n') && variant != "export";
        for operand in operands {
            match operand {
                DeclarationOperand::Flags(_) => {}
                DeclarationOperand::Named(name) => self.attributes(name, variant, &letters),
                DeclarationOperand::Unknown => {
                    self.names.any_attribute |= evaluated;
                    self.names.any_shape |= has('a') || has('A') || scoped;
                }
                DeclarationOperand::Anything => {
                    self.names.any_attribute |= scoped;
                    self.names.any_shape |= variant != "export";
                }
            }
        }
    }

    fn attributes(&mut self, name: &str, variant: &str, letters: &str) {
        let has = |letter| letters.contains(letter);
        let array = has('a') || has('A');
        let scoped = !matches!(variant, "export" | "readonly");
        let mut into = |set: fn(&mut VariableAttributes) -> &mut HashSet<String>| {
            set(&mut self.names).insert(name.to_owned());
        };
        if has('A') {
            into(|n| &mut n.associative);
        } else if scoped || array {
            into(|n| &mut n.otherwise);
        }
        if array {
            into(|n| &mut n.array);
        }
        if has('i') {
            into(|n| &mut n.integer);
        }
        if has('n') && variant != "export" {
            into(|n| &mut n.reference);
        }
    }

    fn simple(&mut self, simple: &Simple) {
        if self.depth == 0 {
            self.at = simple.range.start;
        }
        for text in simple.words.iter().filter_map(|w| w.text.as_deref()) {
            self.subscripted(text);
        }
        let Some((name, arguments)) = builtin_calls::called(simple) else {
            return self.unknown_command(simple);
        };
        let texts = || arguments.iter().filter_map(|w| w.text.as_deref());
        let flag = |t: &str| t.starts_with('-') && !t.starts_with("--") && t.contains('i');
        self.names.interactive |= name.ends_with("sh") && texts().any(flag);
        match name {
            _ if builtin_calls::declares(name) => {
                let operands: Vec<DeclarationOperand> =
                    arguments.iter().map(|w| builtin_calls::operand(w, self.text)).collect();
                self.declaration(name, &operands);
            }
            "unset" => self.unset(arguments),
            "read" | "mapfile" | "readarray" | "getopts" => {
                for word in builtin_calls::names_set(name, arguments) {
                    let known = word.text.clone();
                    self.names.reads_any |= known.is_none();
                    self.names.any_shape |= known.is_none() && name != "getopts";
                    self.names.array.extend(known.clone());
                    self.names.read.extend(known);
                }
                if texts().any(|t| t.starts_with("-C")) {
                    self.unseen();
                }
            }
            "eval" => self.code(arguments),
            "trap" => self.code(arguments.get(..1).unwrap_or_default()),
            "source" | "." | "fc" | "enable" => self.unseen(),
            "alias" if ["expand_aliases", "posix"].iter().any(|o| self.text.contains(o)) => {
                self.names.any_attribute = true;
                self.unseen();
            }
            "set" | "shopt" => self.options(arguments),
            _ => {}
        }
    }

    /// `$command -i n`: it could be anything that declares, unsets or reads.
    fn unknown_command(&mut self, simple: &Simple) {
        self.names.unknown_command |= simple.words.first().is_some_and(|w| w.text.is_none());
        let texts: Vec<&str> = simple.words.iter().filter_map(|w| w.text.as_deref()).collect();
        let evaluates = |t: &&str| t.starts_with('-') && t.contains(['i', 'n']);
        let names = texts.iter().map(std::string::ToString::to_string);
        if texts.iter().any(evaluates) {
            self.names.unclear.extend(names.clone());
        }
        self.names.otherwise.extend(names);
    }

    fn unset(&mut self, arguments: &[Word]) {
        for word in arguments {
            match (builtin_calls::operand(word, self.text), word.text.as_deref()) {
                (DeclarationOperand::Flags(_), _) => {}
                (DeclarationOperand::Named(name), Some(text)) => {
                    let element = text.contains('[') && !text.contains(['@', '*']);
                    self.names.otherwise.extend((!element).then_some(name));
                }
                _ => self.names.any_shape = true,
            }
        }
    }

    /// Code that runs in this shell: read where it is plain text.
    fn code(&mut self, words: &[Word]) {
        let texts: Option<Vec<&str>> = words.iter().map(|w| w.text.as_deref()).collect();
        let code = texts.map(|t| t.join(" ")).filter(|_| self.depth < MAX_DEPTH);
        match code.as_deref().map(|code| (code, parser_library::parse(code, code))) {
            Some((code, Ok(block))) => {
                let names = std::mem::take(&mut self.names);
                let mut inner =
                    AttributeSearch { names, text: code, at: self.at, depth: self.depth + 1 };
                inner.subscripted(code);
                visit::block(&block, &mut inner);
                self.names = inner.names;
            }
            _ => self.unseen(),
        }
    }

    fn unseen(&mut self) {
        self.names.unseen_code.get_or_insert(self.at);
    }

    fn options(&mut self, arguments: &[Word]) {
        for word in arguments {
            match word.text.as_deref() {
                Some("--") => break,
                Some(option) => {
                    let letters = option.strip_prefix('-').unwrap_or_default();
                    self.names.functions_leave |= option == "allexport" || letters.contains('a');
                    self.names.keyword |= option == "keyword" || letters.contains('k');
                }
                None => self.names.functions_leave = true,
            }
        }
    }
}
