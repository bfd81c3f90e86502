//! Placeholders in the words of a simple command. What the command is decides how it reads them.

use super::{Done, Position, Walk};
use crate::bash::tree::*;
use crate::integer_values::Style;
use crate::nested_code::{self, NestedCode};
use crate::placeholder_replacement::Mode;
use crate::refusal_messages;
use crate::shell_text_analysis::Scope;
use crate::text_edits::Edit;
use crate::{beside_placeholder, builtin_calls, code_warnings, guards};

/// Builtins of zsh that calculate with an argument.
const ZSH: [&str; 16] = [
    "break", "bye", "continue", "exit", "float", "integer", "logout", "print", "printf", "private",
    "read", "repeat", "return", "shift", "test", "[",
];

impl Walk<'_, '_> {
    pub(super) fn simple(&mut self, simple: &Simple, redirects: &[Redirect]) -> Done {
        let alone = simple.words.is_empty();
        for assignment in &simple.assignments {
            self.assignment(assignment, if alone { Position::Alone } else { Position::Prefix })?;
        }
        let Some(name) = simple.words.first() else { return Ok(()) };
        if beside_placeholder::assigns_to_mark(self.region, &name.range) {
            return Err(self.refuse(&name.range, &refusal_messages::VARIABLE_NAME));
        }
        if let Some(range) = code_warnings::value_as_name(simple, self.written) {
            return Err(self.refuse(&range, &refusal_messages::VARIABLE_NAME));
        }
        let before = self.reader.references;
        self.command_words(simple, redirects)?;
        self.names_set(simple)?;
        if self.reader.references > before {
            self.name(simple);
        }
        Ok(())
    }

    fn command_words(&mut self, simple: &Simple, redirects: &[Redirect]) -> Done {
        let mode = match builtin_calls::called(simple) {
            Some((name, _)) if builtin_calls::declares(name) => {
                Mode::Refuse(&refusal_messages::DECLARATION)
            }
            Some(("let", _)) => Mode::Integer(Style::Bare),
            Some((name, _)) if self.scope.shell == Some("zsh") && ZSH.contains(&name) => {
                Mode::Refuse(&refusal_messages::CALCULATED)
            }
            Some(("printf", arguments)) => self.printed_into(arguments),
            _ => Mode::Word,
        };
        self.word(&simple.words[0], Mode::Word)?;
        let code = nested_code::find(simple, redirects, self.written);
        let inside = |w: &&Word| code.as_ref().is_some_and(|c| c.range.contains(&w.range.start));
        for word in simple.words[1..].iter().filter(|w| !inside(w)) {
            let source = &self.region.text[word.range.clone()];
            if source.contains('=') && beside_placeholder::sets_keyword(&self.region.text) {
                self.no_mark(&word.range, &refusal_messages::KEYWORD)?;
            }
            self.word(word, mode)?;
        }
        code.map_or(Ok(()), |code| self.nested(&code))
    }

    /// A name that bash expands is asked what it is, and no alias replaces one that it does not.
    fn name(&mut self, simple: &Simple) {
        let at = simple.words[0].range.start;
        let starts = |t: &str| matches!(t, "command" | "builtin") || t.starts_with('-');
        let mut called = simple.words.iter().skip_while(|w| w.fixed().is_some_and(starts));
        let expanded =
            |w: &Word| w.fixed().is_none() && !code_warnings::is_one_placeholder(self.written, w);
        if called.next().is_some_and(expanded) || self.may_be_option(simple) {
            let asked = guards::asked_command(&self.reader.prefix);
            self.edits.push(Edit::text(at..at, asked));
        } else if self.reader.aliases
            && self.region.text[at..].starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            self.edits.push(Edit::text(at..at, "\\"));
        }
    }

    /// Whether an option that takes a name may come from outside of the text: `printf {{v}}` with the
    /// value `-va[…]`, `test $operator {{v}}`.
    fn may_be_option(&self, simple: &Simple) -> bool {
        let marked = |word: &Word| self.region.has_mark(&word.range);
        let open = |word: &Word| word.text.is_none() || marked(word);
        match builtin_calls::called(simple) {
            Some(("printf", words)) => words.first().is_some_and(open),
            Some(("test" | "[", words)) => {
                words.windows(2).any(|pair| open(&pair[0]) && marked(&pair[1]))
            }
            Some((name, _)) => name == "wait",
            None => false,
        }
    }

    /// The command gets its code in a variable, filled for the shell that reads it.
    fn nested(&mut self, code: &NestedCode) -> Done {
        let shells = self.scope.shells + 1;
        if shells > nested_code::MAX_DEPTH {
            return Err(self.refuse(&code.range, &refusal_messages::DEEP_SHELLS));
        }
        let scope = Scope { shells, shell: Some(code.shell), ..Scope::default() };
        let in_function = self.scope.functions > 0;
        if let Some(reference) = self.reader.nested(&code.region, scope, in_function)? {
            self.edits.push(Edit::text(code.range.clone(), reference));
        }
        Ok(())
    }
}
