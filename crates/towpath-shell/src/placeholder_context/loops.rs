//! Placeholders in the words of `for` and `select`.

use super::{Done, Walk};
use crate::bash::tree::*;
use crate::guards::Guard;
use crate::placeholder_replacement::Mode;
use crate::refusal_messages;
use crate::text_edits::Edit;

impl Walk<'_, '_> {
    /// `for` and `select` assign every word to their variable, which the body can change: they get
    /// a variable of our own, and the body begins with the assignment, where bash can be asked.
    pub(super) fn loop_words(&mut self, compound: &Compound) -> Done {
        let Some(range) = compound.names.first() else {
            return self.words(&compound.words, Mode::Word);
        };
        let name = self.region.text[range.clone()].to_owned();
        let mode = match self.scope.declared.reference(&name) {
            true => Mode::Refuse(&refusal_messages::REFERENCE),
            false => self.assigned(&name),
        };
        let before = self.reader.references;
        self.words(&compound.words, mode)?;
        if self.reader.references == before || mode != Mode::Word || self.scope.posix() {
            return Ok(());
        }
        let Some(body) = self.loop_body(compound) else {
            return Err(self.refuse(&compound.range, &refusal_messages::UNSURE));
        };
        let variable = format!("{}l{before}", self.reader.prefix);
        let guard = self.guard(Guard::Assigned, &name, true);
        self.edits.push(Edit::text(range.clone(), variable.as_str()));
        self.edits.push(Edit::text(body..body, format!(" {name}=\"${variable}{guard}\";")));
        Ok(())
    }

    /// Where the body begins: after `do`, or after `{`.
    fn loop_body(&self, compound: &Compound) -> Option<usize> {
        let mut at = compound.words.last()?.range.end;
        loop {
            let rest = &self.region.text[at..];
            at += match rest.chars().next()? {
                ' ' | '\t' | '\n' | ';' | '\\' => 1,
                '#' => rest.find('\n')?,
                '{' => return Some(at + 1),
                _ => return rest.starts_with("do").then_some(at + 2),
            };
        }
    }
}
