//! Placeholders in assignments, declarations and subscripts: bash evaluates what some variables are given,
//! and reads a subscript as arithmetic or as a key depending on how its array was declared.

use super::{Done, Walk};
use crate::bash::tree::*;
use crate::beside_placeholder;
use crate::integer_values::Style;
use crate::placeholder_replacement::Mode;
use crate::refusal_messages;
use crate::variable_attributes;

impl Walk<'_, '_> {
    /// Remembers arrays that are certainly associative for the statements that follow.
    pub(super) fn declared(&mut self, statement: &Statement) {
        let command = match &statement.command {
            Command::Chain { first, rest }
                if rest.first().is_some_and(|(link, _)| *link != Link::Pipe) =>
            {
                &first.command
            }
            command => command,
        };
        let Command::Declare(declare) = command else { return };
        let certain = variable_attributes::certainly_declares(declare, self.scope.functions > 0);
        // A redirection that fails takes the declaration with it.
        let alone = !statement.background && statement.redirects.is_empty();
        if !(alone && certain && variable_attributes::has_flag(declare, 'A')) {
            return;
        }
        for name in variable_attributes::declared(declare) {
            if self.may_become_associative(&name.name, declare) {
                self.scope.associative.push(name.name.clone());
            }
        }
    }

    /// An array that the text has filled in any way before cannot become associative: what names the
    /// variable before its declaration may have.
    fn may_become_associative(&self, name: &str, declare: &Declare) -> bool {
        let before = &self.written.text[..declare.range.start];
        let mut earlier = before.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        self.names.only_associative(name) && !earlier.any(|word| word == name)
    }

    pub(super) fn declare(&mut self, declare: &Declare) -> Done {
        for assignment in &declare.prefix {
            self.assignment(assignment, None)?;
        }
        self.words(&declare.flags, Mode::Refuse(&refusal_messages::VARIABLE_NAME))?;
        for name in &declare.names {
            if let Some(subscript) = &name.subscript {
                self.parts(&subscript.parts, Mode::Refuse(&refusal_messages::VARIABLE_NAME))?;
            }
        }
        for assignment in &declare.assignments {
            self.assignment(assignment, Some(declare))?;
        }
        for word in &declare.dynamic {
            let plain =
                beside_placeholder::quoted_assignment(&self.region.text[word.range.clone()])
                    .is_some_and(|name| self.plain_variable(name, declare));
            let refused = Mode::Refuse(&refusal_messages::DECLARATION);
            self.word(word, if plain { Mode::Word } else { refused })?;
        }
        Ok(())
    }

    /// Whether a declaration only stores the value: no arithmetic, no array text, no reference.
    pub(super) fn plain_variable(&self, name: &str, declare: &Declare) -> bool {
        !"aAin".chars().any(|flag| variable_attributes::has_flag(declare, flag))
            && self.assigned(name) == Mode::Word
            && !self.existing_array(name, declare)
    }

    /// How bash reads what is assigned to `name`, in whatever way.
    pub(super) fn assigned(&self, name: &str) -> Mode {
        if self.names.is_code(name) {
            Mode::Refuse(&refusal_messages::CODE_VARIABLE)
        } else if self.names.unclear(name) {
            Mode::Refuse(&refusal_messages::ATTRIBUTES)
        } else if self.names.reference(name) {
            Mode::Refuse(&refusal_messages::REFERENCE)
        } else if self.names.integer(name) {
            Mode::Integer(Style::Bare)
        } else {
            Mode::Word
        }
    }

    /// `printf -v NAME` assigns what it prints.
    pub(super) fn printed_into(&self, arguments: &[Word]) -> Mode {
        let mut arguments = arguments.iter();
        let Some(first) = arguments.next() else { return Mode::Word };
        let target = match first.text.as_deref() {
            Some("-v") => arguments.next().and_then(|w| w.text.as_deref()),
            Some(text) if text.starts_with("-v") => Some(&text[2..]),
            _ => return Mode::Word,
        };
        match target {
            Some(name) => self.assigned(name.split('[').next().unwrap_or(name)),
            None if self.names.any_evaluated() => Mode::Refuse(&refusal_messages::ATTRIBUTES),
            None => Mode::Word,
        }
    }

    /// Whether a declaration could meet an array, of which bash would read the value as its text.
    fn existing_array(&self, name: &str, declare: &Declare) -> bool {
        let here = match declare.variant.as_str() {
            "declare" | "typeset" => {
                self.scope.functions == 0 || variable_attributes::has_flag(declare, 'g')
            }
            "local" => false,
            _ => return false,
        };
        self.names.array(name) || here && self.names.unseen_code()
    }

    pub(super) fn assignment(
        &mut self,
        assignment: &Assignment,
        declare: Option<&Declare>,
    ) -> Done {
        let name = assignment.target.name.as_str();
        let flag = |letter| declare.is_some_and(|d| variable_attributes::has_flag(d, letter));
        if let Some(subscript) = &assignment.target.subscript {
            self.subscript(name, subscript, Mode::Word, declare.is_some())?;
        }
        let mode = match self.assigned(name) {
            _ if flag('n') => Mode::Refuse(&refusal_messages::REFERENCE),
            Mode::Word if flag('i') => Mode::Integer(Style::Bare),
            mode => mode,
        };
        match &assignment.value {
            AssignedValue::Scalar(word) => {
                let existing = declare.is_some_and(|d| self.existing_array(name, d));
                let array = flag('a') || flag('A') || existing;
                self.unsplit(
                    word,
                    if array { Mode::Refuse(&refusal_messages::ARRAY_TEXT) } else { mode },
                )?;
            }
            AssignedValue::Array(elements) => {
                let associative = declare
                    .filter(|_| flag('A'))
                    .is_some_and(|declare| self.may_become_associative(name, declare));
                if associative {
                    self.scope.associative.push(name.to_owned());
                }
                for element in elements {
                    if let Some(key) = &element.key {
                        self.subscript(name, key, Mode::Word, false)?;
                    }
                    self.word(&element.value, mode)?;
                }
                if associative {
                    self.scope.associative.pop();
                }
            }
        }
        Ok(())
    }

    pub(super) fn associative(&self, name: &str) -> bool {
        self.scope.associative.iter().any(|a| a == name)
    }

    pub(super) fn subscript(
        &mut self,
        name: &str,
        subscript: &Subscript,
        outer: Mode,
        bare: bool,
    ) -> Done {
        let mode = if self.names.reference(name) {
            Mode::Refuse(&refusal_messages::REFERENCE)
        } else if self.associative(name) && !matches!(outer, Mode::Integer(_)) {
            Mode::Key
        } else if self.names.associative_somewhere(name) {
            Mode::Refuse(&refusal_messages::ASSOCIATIVE)
        } else if bare || beside_placeholder::is_one_mark(self.region, &subscript.range) {
            Mode::Integer(Style::Bare)
        } else {
            Mode::Integer(Style::Parentheses)
        };
        self.parts(&subscript.parts, mode)
    }
}
