//! Placeholders in words, down to the plain text in one quoting.

use super::{Done, Walk, mark_range};
use crate::bash::quoting::{self, Quoting};
use crate::bash::tree::*;
use crate::beside_placeholder;
use crate::guards::Guard;
use crate::integer_values::{self, Style};
use crate::mark::{Mark, escape_for_backtick};
use crate::placeholder_replacement::{Form, Mode};
use crate::refusal_messages::{self, Refusal};
use crate::text_edits::Edit;
use crate::unfilled_script_types::Piece;
use std::ops::Range;

impl Walk<'_, '_> {
    pub(super) fn words(&mut self, words: &[Word], mode: Mode) -> Done {
        words.iter().try_for_each(|w| self.word(w, mode))
    }

    pub(super) fn word(&mut self, word: &Word, mode: Mode) -> Done {
        if let Some(sequence) = word.sequences.iter().find(|s| self.region.has_mark(s)) {
            return Err(self.refuse(sequence, &refusal_messages::SEQUENCE));
        }
        if self.region.has_mark(&word.range)
            && beside_placeholder::names_descriptor(&self.region.text, &word.range)
        {
            return Err(self.refuse(&word.range, &refusal_messages::VARIABLE_NAME));
        }
        self.parts(&word.parts, mode)
    }

    /// A word that bash does not split after its expansions.
    pub(super) fn unsplit(&mut self, word: &Word, mode: Mode) -> Done {
        let before = std::mem::replace(&mut self.scope.unsplit, true);
        let done = self.word(word, mode);
        self.scope.unsplit = before;
        done
    }

    pub(super) fn parts(&mut self, parts: &[Part], mode: Mode) -> Done {
        parts.iter().try_for_each(|p| self.part(p, mode))
    }

    pub(super) fn part(&mut self, part: &Part, mode: Mode) -> Done {
        match part {
            Part::Literal(range) => self.literal(range, mode),
            Part::Single(range) => self.single(range, mode),
            Part::Ansi(range) => self.ansi(range, mode),
            Part::Double { parts, .. } => match mode {
                Mode::Integer(_) | Mode::Refuse(_) | Mode::Operand { .. } => {
                    self.parts(parts, mode)
                }
                _ => self.parts(parts, Mode::Double),
            },
            Part::Variable { range, .. } => self.no_mark(range, &refusal_messages::VARIABLE_NAME),
            Part::Unclear(range) => self.no_mark(range, &refusal_messages::UNSURE),
            Part::Class(range) => self.no_mark(range, &refusal_messages::CLASS),
            Part::Parameter(parameter) => self.parameter(parameter, mode),
            Part::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
            Part::Substitution { range, kind, body } => self.substitution(range, *kind, body, mode),
        }
    }

    pub(super) fn no_mark(&mut self, range: &Range<usize>, refusal: &'static Refusal) -> Done {
        match self.region.has_mark(range) {
            true => Err(self.refuse(range, refusal)),
            false => Ok(()),
        }
    }

    pub(super) fn arithmetic(&mut self, arithmetic: &Arithmetic) -> Done {
        for mark in self.marks(&arithmetic.range) {
            let array =
                beside_placeholder::subscripted_name(self.region, arithmetic.range.start, mark);
            if array.is_some_and(|name| self.scope.declared.associative(name)) {
                return Err(self.refuse(&mark_range(mark), &refusal_messages::ASSOCIATIVE));
            }
        }
        self.parts(&arithmetic.parts, Mode::Integer(Style::Parentheses))
    }

    pub(super) fn parameter(&mut self, parameter: &Parameter, mode: Mode) -> Done {
        self.no_mark(&parameter.target.range, &refusal_messages::VARIABLE_NAME)?;
        if let Some(subscript) = &parameter.target.subscript {
            self.subscript(&parameter.target.name, subscript, mode, false)?;
        }
        let calculated = Mode::Refuse(&refusal_messages::CALCULATED);
        let (value, pattern) = match mode {
            Mode::Integer(_) => (calculated, calculated),
            Mode::Refuse(_) => (mode, mode),
            Mode::Double => (Mode::Operand { heredoc: false }, Mode::Pattern),
            Mode::HereDoc => (Mode::Operand { heredoc: true }, Mode::Pattern),
            Mode::Operand { .. } => (mode, Mode::Pattern),
            Mode::Word | Mode::Pattern | Mode::Regex | Mode::Key => (Mode::Word, Mode::Pattern),
        };
        match &parameter.operation {
            Operation::None => Ok(()),
            Operation::Value(parts) => match self.assigning(parameter) {
                Some(operator) => self.default(parameter, operator, parts, value),
                None => self.parts(parts, value),
            },
            Operation::Pattern(parts) => self.parts(parts, pattern),
            Operation::Replace { pattern: find, with } => {
                self.parts(find, pattern)?;
                match mode == Mode::Word && !self.scope.unsplit {
                    true => self.parts(with, Mode::Refuse(&refusal_messages::REPLACEMENT)),
                    false => self.parts(with, pattern),
                }
            }
            Operation::Slice(parts) => self.parts(parts, Mode::Integer(Style::Parentheses)),
        }
    }

    /// The operator of `${x:=…}` and `${x=…}`, if a value is assigned.
    fn assigning(&self, parameter: &Parameter) -> Option<&'static str> {
        let target = &parameter.target;
        let end = target.subscript.as_ref().map_or(target.range.end, |s| s.range.end + 1);
        let operand = end..parameter.range.end;
        if !self.region.has_mark(&operand) {
            return None;
        }
        let rest = &self.region.text[operand];
        [":=", "="].into_iter().find(|operator| rest.starts_with(operator))
    }

    /// `${x:={{v}}}` assigns, and gives what it assigned without its quotes: bash would split it.
    /// `${x:-"${x:=…}"}` gives the same in one piece, and splits an `x` that was set as before.
    fn default(
        &mut self,
        parameter: &Parameter,
        operator: &str,
        parts: &[Part],
        mode: Mode,
    ) -> Done {
        let range = &parameter.range;
        let target = range.start + 2..parameter.target.range.end;
        if self.region.text[target.clone()] != parameter.target.name {
            return Err(self.refuse(range, &refusal_messages::UNSURE));
        }
        let mode = match self.assigned(&parameter.target.name) {
            Mode::Word => mode,
            evaluated => return self.parts(parts, evaluated),
        };
        let end = range.end - 1;
        let before = self.reader.references;
        if mode != Mode::Word {
            self.parts(parts, mode)?;
            self.guard_default(before, parameter, end);
            return Ok(());
        }
        let plain = |part: &Part| match part {
            Part::Literal(range) => !self.region.text[range.clone()].contains(['\\', '~']),
            part => !matches!(part, Part::Single(_) | Part::Ansi(_)),
        };
        if parameter.target.subscript.is_some() || !parts.iter().all(plain) {
            return Err(self.refuse(range, &refusal_messages::DEFAULT));
        }
        let kept = operator.replace('=', "-");
        let open = format!("{kept}\"${{{}", parameter.target.name);
        self.edits.push(Edit::text(target.end..target.end, open));
        self.parts(parts, Mode::Operand { heredoc: false })?;
        self.guard_default(before, parameter, end);
        self.edits.push(Edit::text(end..end, "}\""));
        Ok(())
    }

    fn guard_default(&mut self, before: usize, parameter: &Parameter, end: usize) {
        if self.reader.references > before {
            let guard = self.guard(Guard::Assigned, &parameter.target.name, true);
            self.edits.push(Edit::text(end..end, guard));
        }
    }

    pub(super) fn substitution(
        &mut self,
        range: &Range<usize>,
        kind: SubstitutionKind,
        body: &Block,
        mode: Mode,
    ) -> Done {
        let marked = self.region.has_mark(range);
        if kind == SubstitutionKind::Backtick {
            return if marked { self.backtick(range, mode) } else { Ok(()) };
        }
        if marked && self.region.text[range.clone()].starts_with("$((") {
            return Err(self.refuse(range, &refusal_messages::PARENTHESES));
        }
        self.block(body)
    }

    pub(super) fn backtick(&mut self, range: &Range<usize>, mode: Mode) -> Done {
        let body = range.start + 1..range.end - 1;
        let inner = self.written.backtick(body.clone(), mode == Mode::Double);
        let mut scope = self.scope.clone();
        scope.depth += 1;
        if scope.depth > 6 {
            return Err(self.refuse(range, &refusal_messages::DEEP));
        }
        let pieces = self.reader.region(&inner, scope)?;
        let with = pieces
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => Piece::Text(escape_for_backtick(&text)),
                integer => integer,
            })
            .collect();
        self.edits.push(Edit { range: body, with });
        Ok(())
    }

    pub(super) fn single(&mut self, range: &Range<usize>, mode: Mode) -> Done {
        let inner = range.start + 1..range.end - 1;
        match mode {
            Mode::Integer(_) | Mode::Refuse(_) => self.literal(&inner, mode),
            Mode::Operand { .. } if self.region.has_mark(range) => {
                // The quotes are text here, so what is between them must be plain text as well.
                match self.region.text[inner.clone()].contains(['$', '`', '"', '\\', '}']) {
                    true => Err(self.refuse(range, &refusal_messages::UNSURE)),
                    false => self.literal(&inner, mode),
                }
            }
            Mode::Double | Mode::HereDoc => self.no_mark(range, &refusal_messages::UNSURE),
            _ => self.leaf(&inner, Form::Single, Quoting::Single),
        }
    }

    pub(super) fn ansi(&mut self, range: &Range<usize>, mode: Mode) -> Done {
        let inner = range.start + 2..range.end - 1;
        match mode {
            Mode::Integer(_) | Mode::Refuse(_) => self.literal(&inner, mode),
            // A POSIX shell may read `$'` as a dollar and a quote.
            _ if self.scope.posix() => self.no_mark(range, &refusal_messages::UNSURE),
            Mode::Double | Mode::HereDoc | Mode::Operand { .. } => {
                self.no_mark(range, &refusal_messages::UNSURE)
            }
            _ => self.leaf(&inner, Form::Ansi, Quoting::Ansi),
        }
    }

    pub(super) fn literal(&mut self, range: &Range<usize>, mode: Mode) -> Done {
        match mode {
            Mode::Word => self.leaf(range, Form::Word, Quoting::Bare),
            Mode::Key => self.leaf(range, Form::Key, Quoting::Bare),
            Mode::Pattern => self.leaf(range, Form::Pattern, Quoting::Bare),
            Mode::Regex => {
                if beside_placeholder::mark_in_brackets(self.region, range) {
                    return Err(self.refuse(range, &refusal_messages::CLASS));
                }
                self.leaf(range, Form::Pattern, Quoting::Bare)
            }
            Mode::Double | Mode::Operand { heredoc: false } => {
                self.leaf(range, Form::Double, Quoting::Double)
            }
            Mode::HereDoc => self.leaf(range, Form::HereDoc, Quoting::HereDoc),
            Mode::Operand { heredoc: true } => self.leaf(range, Form::HereDoc, Quoting::Double),
            Mode::Integer(style) => self.integers(range, style),
            Mode::Refuse(refusal) => self.no_mark(range, refusal),
        }
    }

    pub(super) fn integers(&mut self, range: &Range<usize>, style: Style) -> Done {
        for mark in self.marks(range) {
            let text = &self.region.text;
            let here = mark_range(mark);
            let sign = text[here.clone()].chars().next().unwrap_or_default();
            if !integer_values::is_separate(text, here.clone(), sign, style) {
                return Err(self.refuse(&here, &refusal_messages::NUMBER));
            }
            self.write(mark, Form::Integer(style))?;
        }
        Ok(())
    }

    /// Plain text in one quoting, with placeholders in it.
    pub(super) fn leaf(&mut self, range: &Range<usize>, form: Form, quoting: Quoting) -> Done {
        let marks = self.marks(range);
        if marks.is_empty() {
            return Ok(());
        }
        if !quoting::is_inert(&self.region.text[range.clone()], quoting) {
            return Err(self.refuse(range, &refusal_messages::UNSURE));
        }
        for mark in marks {
            // An escape before the text can be a part of its own.
            let escapes = self.region.text[..range.start].trim_end_matches('\\').len();
            let before = &self.region.text[escapes..mark.at];
            match beside_placeholder::before_placeholder(before, quoting) {
                beside_placeholder::Before::Plain => {}
                // A `$` that was alone would join the reference that is written after it.
                beside_placeholder::Before::Dollar => {
                    self.edits.push(Edit::text(mark.at - 1..mark.at - 1, "\\"));
                }
                beside_placeholder::Before::Backslash => {
                    return Err(self.refuse(&mark_range(mark), &refusal_messages::BACKSLASH));
                }
            }
            self.write(mark, form)?;
        }
        Ok(())
    }

    pub(super) fn write(&mut self, mark: Mark, form: Form) -> Done {
        let in_function = self.scope.functions > 0;
        let Some(piece) = self.reader.meet(mark.placeholder, form, in_function) else {
            return Err(self.refuse(&mark_range(mark), &refusal_messages::UNSURE));
        };
        self.edits.push(Edit { range: mark_range(mark), with: vec![piece] });
        Ok(())
    }
}
