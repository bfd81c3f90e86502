//! Placeholders in assignments, declarations and subscripts: bash evaluates what some variables are given,
//! and reads a subscript as arithmetic or as a key depending on how its array was declared.

use super::{Done, Walk};
use crate::bash::tree::*;
use crate::beside_placeholder;
use crate::builtin_calls;
use crate::guards::{self, Guard};
use crate::integer_values::Style;
use crate::placeholder_replacement::Mode;
use crate::refusal_messages;
use crate::text_edits::Edit;
use std::ops::Range;

/// Variables whose value bash expands like code, or runs.
const CODE: [&str; 8] =
    ["BASH_ALIASES", "BASH_CMDS", "BASH_ENV", "PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND"];

/// Whether bash expands or runs the value of this variable. Only interactive shells look at `ENV`.
pub fn is_code(name: &str, text: &str) -> bool {
    let interactive = |(_, rest): (usize, &str)| {
        let flags = rest["sh -".len()..].split(|c: char| !c.is_ascii_alphabetic()).next();
        flags.is_some_and(|letters| letters.contains('i'))
    };
    let mut shells = text.match_indices("sh -").map(|(at, _)| (at, &text[at..]));
    CODE.contains(&name) || name == "ENV" && shells.any(interactive)
}

fn has_flag(declare: &Declare, letter: char) -> bool {
    let words = declare.flags.iter().chain(&declare.dynamic).filter_map(|f| f.text.as_deref());
    words.filter_map(|f| f.strip_prefix('-')).any(|letters| letters.contains(letter))
}

/// The end of the last word.
fn declare_end(declare: &Declare) -> usize {
    let words = declare.flags.iter().chain(&declare.dynamic).map(|w| w.range.end);
    let names = declare.names.iter().map(|n| n.range.end);
    let ends = words.chain(names).chain(declare.assignments.iter().map(|a| a.range.end));
    ends.max().unwrap_or(declare.name.end)
}

/// Where an assignment is.
#[derive(Clone, Copy)]
pub enum Position<'a> {
    Alone,
    /// In front of a command.
    Prefix,
    In(&'a Declare),
}

impl Walk<'_, '_> {
    pub(super) fn declare(&mut self, declare: &Declare) -> Done {
        let first = self.is_local(declare) && self.names_local_first(declare);
        if first {
            let names = self.names_with_values(declare).join(" ");
            let open = format!("{{ {} {names}; ", declare.variant);
            self.edits.push(Edit::text(declare.range.start..declare.range.start, open));
        }
        for assignment in &declare.prefix {
            self.assignment(assignment, Position::Prefix)?;
        }
        self.words(&declare.flags, Mode::Refuse(&refusal_messages::VARIABLE_NAME))?;
        for name in &declare.names {
            if let Some(subscript) = &name.subscript {
                self.parts(&subscript.parts, Mode::Refuse(&refusal_messages::VARIABLE_NAME))?;
            }
        }
        for assignment in &declare.assignments {
            self.assignment(assignment, Position::In(declare))?;
        }
        for word in &declare.dynamic {
            let source = &self.region.text[word.range.clone()];
            match beside_placeholder::quoted_assignment(source).map(str::to_owned) {
                Some(name) => self.scalar(&name, word, Position::In(declare))?,
                None => self.word(word, Mode::Refuse(&refusal_messages::DECLARATION))?,
            }
        }
        if first {
            let end = declare_end(declare);
            self.edits.push(Edit::text(end..end, "; }"));
        }
        Ok(())
    }

    /// Whether a declaration makes variables of the function around it.
    fn is_local(&self, declare: &Declare) -> bool {
        let exports = matches!(declare.variant.as_str(), "export" | "readonly");
        self.scope.functions > 0 && !exports && !has_flag(declare, 'g')
    }

    fn names_with_values<'d>(&self, declare: &'d Declare) -> Vec<&'d str> {
        let given = declare.assignments.iter().filter(|a| {
            matches!(a.value, AssignedValue::Scalar(_)) && self.region.has_mark(&a.range)
        });
        given.map(|a| a.target.name.as_str()).collect()
    }

    /// Whether the names that get a value can be declared by a command of their own before, so that
    /// bash is asked about the function's own variables. Not where their old values are used.
    fn names_local_first(&self, declare: &Declare) -> bool {
        let names = self.names_with_values(declare);
        let text = &self.region.text[declare.range.clone()];
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let used = words.filter(|word| names.contains(word)).count();
        !names.is_empty() && used == names.len() && declare.prefix.is_empty() && !self.scope.posix()
    }

    /// How bash reads what is assigned to `name`, in whatever way.
    pub(super) fn assigned(&self, name: &str) -> Mode {
        let text = &self.region.text;
        let Some(name) = self.scope.declared.target(name) else {
            return Mode::Refuse(&refusal_messages::REFERENCE);
        };
        if is_code(name, text) {
            Mode::Refuse(&refusal_messages::CODE_VARIABLE)
        } else if self.scope.declared.integer(name) {
            Mode::Integer(Style::Bare)
        } else if self.scope.posix() && guards::declares(text) {
            Mode::Refuse(&refusal_messages::ATTRIBUTES)
        } else {
            Mode::Word
        }
    }

    /// The mode of a value that a declaration stores in a variable that it is given as `name=value`.
    fn declared(&self, name: &str, declare: &Declare) -> Mode {
        let exports = matches!(declare.variant.as_str(), "export" | "readonly");
        let quoted =
            |w: &Word| beside_placeholder::quoted_assignment(&self.region.text[w.range.clone()]);
        let unknown = declare.flags.iter().any(|f| f.text.is_none())
            || declare.dynamic.iter().any(|w| quoted(w).is_none());
        match self.assigned(name) {
            _ if has_flag(declare, 'n') && !exports => Mode::Refuse(&refusal_messages::REFERENCE),
            _ if unknown && !exports => Mode::Refuse(&refusal_messages::ATTRIBUTES),
            Mode::Word if has_flag(declare, 'i') => Mode::Integer(Style::Bare),
            mode => mode,
        }
    }

    fn scalar(&mut self, name: &str, word: &Word, position: Position) -> Done {
        let (mode, guard, assigned) = match position {
            Position::Alone => (self.assigned(name), Guard::Assigned, true),
            Position::Prefix => (self.assigned(name), Guard::Assigned, false),
            Position::In(declare) if has_flag(declare, 'a') || has_flag(declare, 'A') => {
                (Mode::Refuse(&refusal_messages::ARRAY_TEXT), Guard::Declared, false)
            }
            Position::In(declare) => {
                let exports = matches!(declare.variant.as_str(), "export" | "readonly");
                let here = !self.is_local(declare) || self.names_local_first(declare);
                let guard = if exports { Guard::Assigned } else { Guard::Declared };
                (self.declared(name, declare), guard, here)
            }
        };
        let before = self.reader.references;
        self.unsplit(word, mode)?;
        self.guard_word(before, mode, guard, name, assigned, &word.range);
        Ok(())
    }

    /// Asks bash about `name` at the end of a word in which some value is.
    fn guard_word(
        &mut self,
        before: usize,
        mode: Mode,
        guard: Guard,
        name: &str,
        assigned: bool,
        word: &Range<usize>,
    ) {
        if self.reader.references > before && matches!(mode, Mode::Word | Mode::Key) {
            let expansion = self.guard(guard, name, assigned);
            self.edits.push(Edit::text(word.end..word.end, format!("\"{expansion}\"")));
        }
    }

    /// Empty for a shell that has no way to ask: there text that declares is refused.
    pub(super) fn guard(&self, guard: Guard, name: &str, assigned: bool) -> String {
        match self.scope.posix() {
            true => String::new(),
            false => guard.expansion(&self.reader.prefix, name, assigned),
        }
    }

    /// `read`, `printf -v` and their like assign what they read. A value that was used before could
    /// be among it, in a function also one that is used later, and in the output of everything where
    /// the text opens files for that.
    pub(super) fn names_set(&mut self, simple: &Simple) -> Done {
        let opened = ["exec", "coproc"].iter().any(|word| self.region.text.contains(word));
        let used = self.scope.functions > 0 || !self.reader.variables.is_empty();
        if !opened && !used {
            return Ok(());
        }
        let Some((called, arguments)) = builtin_calls::called(simple) else { return Ok(()) };
        let default = match called {
            "read" => Some("REPLY"),
            "mapfile" | "readarray" => Some("MAPFILE"),
            "getopts" => None,
            "printf" if simple.words.iter().any(|w| self.region.has_mark(&w.range)) => None,
            _ => return Ok(()),
        };
        let mut names = builtin_calls::names_set(called, arguments);
        names.extend((called == "getopts").then_some(Some("OPTARG")));
        if names.is_empty() {
            names.extend(default.map(Some));
        }
        let mut asked = String::new();
        for name in names {
            let Some(name) = name.map(|n| n.split('[').next().unwrap_or(n)) else {
                if self.scope.declared.any_evaluated() {
                    return Err(self.refuse(&simple.range, &refusal_messages::ATTRIBUTES));
                }
                continue;
            };
            match self.assigned(name) {
                Mode::Integer(_) if called == "printf" => {}
                Mode::Integer(_) => {
                    return Err(self.refuse(&simple.range, &refusal_messages::EVALUATED_READ));
                }
                Mode::Refuse(refusal) => return Err(self.refuse(&simple.range, refusal)),
                // Bash itself sets `_` before the next command.
                _ if !beside_placeholder::is_name(name) || name == "_" => {}
                _ => asked += &self.guard(Guard::Assigned, name, called == "read"),
            }
        }
        if !asked.is_empty() && used {
            let at = simple.words[0].range.start;
            let text = format!("{}g=\"{asked}\" ", self.reader.prefix);
            self.edits.push(Edit::text(at..at, text));
        }
        Ok(())
    }

    /// `printf -v NAME` assigns what it prints.
    pub(super) fn printed_into(&self, arguments: &[Word]) -> Mode {
        let name = builtin_calls::names_set("printf", arguments).into_iter().flatten().next();
        match name.map(|n| self.assigned(n.split('[').next().unwrap_or(n))) {
            Some(Mode::Integer(style)) => Mode::Integer(style),
            _ => Mode::Word,
        }
    }

    pub(super) fn assignment(&mut self, assignment: &Assignment, position: Position) -> Done {
        let name = assignment.target.name.as_str();
        let declares = matches!(position, Position::In(_));
        if let Some(subscript) = &assignment.target.subscript {
            self.subscript(name, subscript, Mode::Word, declares)?;
        }
        match &assignment.value {
            AssignedValue::Scalar(word) if assignment.target.subscript.is_some() => {
                self.element(name, word, self.assigned(name))
            }
            AssignedValue::Scalar(word) => self.scalar(name, word, position),
            AssignedValue::Array(elements) => {
                let (mode, new) = match position {
                    Position::In(declare) => {
                        (self.declared(name, declare), self.makes_keys(declare))
                    }
                    _ => (self.assigned(name), false),
                };
                for element in elements {
                    match &element.key {
                        Some(key) if new => self.key(name, key, Guard::NewKey)?,
                        Some(key) => self.subscript(name, key, Mode::Word, false)?,
                        None => {}
                    }
                    self.element(name, &element.value, mode)?;
                }
                Ok(())
            }
        }
    }

    fn element(&mut self, name: &str, word: &Word, mode: Mode) -> Done {
        let before = self.reader.references;
        self.word(word, mode)?;
        self.guard_word(before, mode, Guard::Assigned, name, false, &word.range);
        Ok(())
    }

    /// Whether a declaration makes an associative array of what is none yet.
    fn makes_keys(&self, declare: &Declare) -> bool {
        let known = |f: &str| {
            let letters = f.strip_prefix('-');
            letters.is_some_and(|l| !l.is_empty() && l.chars().all(|c| "Agilrtux".contains(c)))
        };
        let here = match declare.variant.as_str() {
            "local" => self.scope.functions > 0,
            variant => matches!(variant, "declare" | "typeset"),
        };
        let flags = declare.flags.iter().all(|f| f.text.as_deref().is_some_and(known));
        here && flags && declare.dynamic.is_empty() && has_flag(declare, 'A')
    }

    fn key(&mut self, name: &str, subscript: &Subscript, guard: Guard) -> Done {
        if self.scope.posix() {
            return self.parts(&subscript.parts, Mode::Refuse(&refusal_messages::ASSOCIATIVE));
        }
        let before = self.reader.references;
        self.parts(&subscript.parts, Mode::Key)?;
        self.guard_word(before, Mode::Key, guard, name, false, &subscript.range);
        Ok(())
    }

    pub(super) fn subscript(
        &mut self,
        name: &str,
        subscript: &Subscript,
        outer: Mode,
        bare: bool,
    ) -> Done {
        let mode = if self.scope.declared.reference(name) {
            Mode::Refuse(&refusal_messages::REFERENCE)
        } else if self.scope.declared.associative(name) {
            if !bare && !matches!(outer, Mode::Integer(_)) {
                return self.key(name, subscript, Guard::Key);
            }
            Mode::Refuse(&refusal_messages::ASSOCIATIVE)
        } else if bare || beside_placeholder::is_one_mark(self.region, &subscript.range) {
            Mode::Integer(Style::Bare)
        } else {
            Mode::Integer(Style::Parentheses)
        };
        self.parts(&subscript.parts, mode)
    }
}
