//! Finds the quoting context of every place by walking the tree, and writes each place for it.
//!
//! Where bash's reading is not certain the walk refuses: a place met twice or not at all, text that
//! a parser may have passed over, a subscript of which the kind is unknown. The walk never looks at
//! a value.

use crate::form::{self, Form, Mode, Refusal};
use crate::integer::{self, Style};
use crate::names::{self, Names};
use crate::reader::{Reader, Scope};
use crate::region::{MARK_LEN, Mark, Region, escape_for_backtick};
use crate::rewrite::{Edit, Piece};
use crate::syntax::*;
use crate::{ShellError, literal};
use std::ops::Range;

pub struct Walk<'a, 'r> {
    pub region: &'a Region,
    pub names: &'a Names,
    pub scope: Scope,
    pub reader: &'a mut Reader<'r>,
    pub edits: Vec<Edit>,
}

type Done = Result<(), ShellError>;

impl Walk<'_, '_> {
    pub fn block(&mut self, block: &Block) -> Done {
        let known = self.scope.associative.len();
        self.comments(&block.comments)?;
        for statement in &block.statements {
            self.statement(statement)?;
            self.declared(statement);
        }
        self.scope.associative.truncate(known);
        Ok(())
    }

    fn comments(&mut self, comments: &[Range<usize>]) -> Done {
        for comment in comments {
            for mark in self.marks(comment) {
                self.write(mark, Form::Comment)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Done {
        self.comments(&statement.comments)?;
        match &statement.command {
            Command::Simple(simple) => self.simple(simple)?,
            Command::Declare(declare) => self.declare(declare)?,
            Command::Chain { first, rest } => {
                self.statement(first)?;
                if rest.first().is_some_and(|(link, _)| *link != Link::Pipe) {
                    self.declared(first);
                }
                for (_, statement) in rest {
                    self.statement(statement)?;
                }
            }
            Command::Compound(compound) => self.compound(compound)?,
            Command::Case { word, arms } => {
                self.word(word, Mode::Word)?;
                for arm in arms {
                    arm.patterns.iter().try_for_each(|p| self.parts(p, Mode::Pattern))?;
                    self.block(&arm.body)?;
                }
            }
            Command::Test(operands) => operands.iter().try_for_each(|o| self.operand(o))?,
            Command::Arithmetic(arithmetic) => self.arithmetic(arithmetic)?,
            Command::Function { names, body } => {
                self.words(names, Mode::Refuse(&form::FUNCTION_NAME))?;
                self.scope.functions += 1;
                self.statement(body)?;
                self.scope.functions -= 1;
            }
        }
        statement.redirects.iter().try_for_each(|r| self.redirect(r))
    }

    /// Remembers arrays that are certainly associative for the statements that follow.
    fn declared(&mut self, statement: &Statement) {
        let command = match &statement.command {
            Command::Chain { first, rest }
                if rest.first().is_some_and(|(link, _)| *link != Link::Pipe) =>
            {
                &first.command
            }
            command => command,
        };
        let Command::Declare(declare) = command else { return };
        if statement.background || !names::has_flag(declare, 'A') {
            return;
        }
        for name in names::declared(declare) {
            if self.may_become_associative(&name.name) {
                self.scope.associative.push(name.name.clone());
            }
        }
    }

    fn may_become_associative(&self, name: &str) -> bool {
        self.names.only_associative(name) && !self.scope.arrays.iter().any(|a| a == name)
    }

    fn simple(&mut self, simple: &Simple) -> Done {
        for assignment in &simple.assignments {
            self.assignment(assignment, None)?;
        }
        let Some(name) = simple.words.first() else { return Ok(()) };
        if literal::assigns_to_mark(self.region, &name.range) {
            return Err(self.refuse(&name.range, &form::VARIABLE_NAME));
        }
        let text = |i: usize| simple.words.get(i).and_then(|w| w.text.as_deref());
        let wrapped = matches!(text(0), Some("command" | "builtin"));
        let mode = match text(usize::from(wrapped)) {
            Some("declare" | "typeset" | "local" | "export" | "readonly") => {
                Mode::Refuse(&form::DECLARATION)
            }
            Some("let") => Mode::Integer(Style::Bare),
            _ => Mode::Word,
        };
        self.word(name, Mode::Word)?;
        self.words(&simple.words[1..], mode)
    }

    fn declare(&mut self, declare: &Declare) -> Done {
        for assignment in &declare.prefix {
            self.assignment(assignment, None)?;
        }
        self.words(&declare.flags, Mode::Refuse(&form::VARIABLE_NAME))?;
        for name in &declare.names {
            if let Some(subscript) = &name.subscript {
                self.parts(&subscript.parts, Mode::Refuse(&form::VARIABLE_NAME))?;
            }
        }
        for assignment in &declare.assignments {
            self.assignment(assignment, Some(declare))?;
        }
        for word in &declare.dynamic {
            let plain = literal::quoted_assignment(&self.region.text[word.range.clone()])
                .is_some_and(|name| self.plain_variable(name, declare));
            let refused = Mode::Refuse(&form::DECLARATION);
            self.word(word, if plain { Mode::Word } else { refused })?;
        }
        Ok(())
    }

    /// Whether a declaration only stores the value: no arithmetic, no array text, no reference.
    fn plain_variable(&self, name: &str, declare: &Declare) -> bool {
        !"aAin".chars().any(|flag| names::has_flag(declare, flag))
            && !self.names.integer(name)
            && !self.names.reference(name)
            && !self.names.array(name)
    }

    fn assignment(&mut self, assignment: &Assignment, declare: Option<&Declare>) -> Done {
        let name = assignment.target.name.as_str();
        let flag = |letter| declare.is_some_and(|d| names::has_flag(d, letter));
        if let Some(subscript) = &assignment.target.subscript {
            self.subscript(name, subscript, Mode::Word, declare.is_some())?;
        }
        let mode = if flag('n') || self.names.reference(name) {
            Mode::Refuse(&form::REFERENCE)
        } else if flag('i') || self.names.integer(name) {
            Mode::Integer(Style::Bare)
        } else {
            Mode::Word
        };
        match &assignment.value {
            AssignedValue::Scalar(word) => {
                let existing = declare
                    .is_some_and(|d| matches!(d.variant.as_str(), "declare" | "typeset"))
                    && self.names.array(name);
                let array = flag('a') || flag('A') || existing;
                self.word(word, if array { Mode::Refuse(&form::ARRAY_TEXT) } else { mode })?;
            }
            AssignedValue::Array(elements) => {
                let associative = flag('A') && self.may_become_associative(name);
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
        let array = assignment.target.subscript.is_some()
            || matches!(assignment.value, AssignedValue::Array(_));
        if array && !flag('A') && !self.associative(name) {
            self.scope.arrays.push(name.to_owned());
        }
        Ok(())
    }

    fn associative(&self, name: &str) -> bool {
        self.scope.associative.iter().any(|a| a == name)
    }

    fn subscript(
        &mut self,
        name: &str,
        subscript: &Subscript,
        outer: Mode,
        bare: bool,
    ) -> Done {
        let mode = if self.names.reference(name) {
            Mode::Refuse(&form::REFERENCE)
        } else if self.associative(name) && !matches!(outer, Mode::Integer(_)) {
            Mode::Key
        } else if self.names.associative_somewhere(name) {
            Mode::Refuse(&form::ASSOCIATIVE)
        } else if bare || literal::is_one_mark(self.region, &subscript.range) {
            Mode::Integer(Style::Bare)
        } else {
            Mode::Integer(Style::Parentheses)
        };
        self.parts(&subscript.parts, mode)
    }

    fn compound(&mut self, compound: &Compound) -> Done {
        let (before, inside) = self.region.text.split_at(compound.range.start);
        let doubled = inside.starts_with("((") || before.ends_with('(') && inside.starts_with('(');
        if compound.kind == CompoundKind::Subshell
            && doubled
            && self.region.has_mark(&compound.range)
        {
            return Err(self.refuse(&compound.range, &form::PARENTHESES));
        }
        compound.names.iter().try_for_each(|n| self.no_mark(n, &form::VARIABLE_NAME))?;
        self.words(&compound.words, Mode::Word)?;
        compound.arithmetic.iter().try_for_each(|a| self.arithmetic(a))?;
        compound.blocks.iter().try_for_each(|b| self.block(b))
    }

    fn operand(&mut self, operand: &Operand) -> Done {
        match operand {
            Operand::Word(word) => self.word(word, Mode::Word),
            Operand::Pattern(parts) => self.parts(parts, Mode::Pattern),
            Operand::Regex(word) => self.word(word, Mode::Regex),
            Operand::Integer(word) => self.word(word, Mode::Integer(Style::Bare)),
            Operand::Name(range) => match self.region.has_mark(range) {
                true => Err(self.refuse(range, &form::VARIABLE_NAME)),
                false => Ok(()),
            },
        }
    }

    fn redirect(&mut self, redirect: &Redirect) -> Done {
        match &redirect.target {
            Target::File(word) | Target::HereString(word) => self.word(word, Mode::Word),
            Target::HereDoc(heredoc) => self.here_doc(heredoc),
        }
    }

    fn here_doc(&mut self, heredoc: &HereDoc) -> Done {
        if self.region.has_mark(&heredoc.delimiter) {
            return Err(self.refuse(&heredoc.delimiter, &form::DELIMITER));
        }
        if !self.region.has_mark(&heredoc.body) {
            return Ok(());
        }
        if !heredoc.closed {
            return Err(self.refuse(&heredoc.delimiter, &form::UNCLOSED));
        }
        match heredoc.quoted {
            true => self.quoted_here_doc(heredoc),
            false => self.parts(&heredoc.parts, Mode::HereDoc),
        }
    }

    /// Becomes an expanding one in which all of the author's text is escaped: a value pasted into a
    /// quoted one could hold its end line, and the rest would run.
    fn quoted_here_doc(&mut self, heredoc: &HereDoc) -> Done {
        if !literal::is_plain_word(&heredoc.end_line) {
            return Err(self.refuse(&heredoc.delimiter, &form::ODD_DELIMITER));
        }
        self.edits.push(Edit::text(heredoc.delimiter.clone(), heredoc.end_line.as_str()));
        let body = &self.region.text[heredoc.body.clone()];
        for (offset, _) in body.match_indices(['$', '`', '\\']) {
            let at = heredoc.body.start + offset;
            self.edits.push(Edit::text(at..at, "\\"));
        }
        for mark in self.marks(&heredoc.body) {
            self.write(mark, Form::HereDoc)?;
        }
        Ok(())
    }

    fn words(&mut self, words: &[Word], mode: Mode) -> Done {
        words.iter().try_for_each(|w| self.word(w, mode))
    }

    fn word(&mut self, word: &Word, mode: Mode) -> Done {
        if let Some(sequence) = word.sequences.iter().find(|s| self.region.has_mark(s)) {
            return Err(self.refuse(sequence, &form::SEQUENCE));
        }
        if self.region.has_mark(&word.range) && literal::names_descriptor(&self.region.text, &word.range)
        {
            return Err(self.refuse(&word.range, &form::VARIABLE_NAME));
        }
        self.parts(&word.parts, mode)
    }

    fn parts(&mut self, parts: &[Part], mode: Mode) -> Done {
        parts.iter().try_for_each(|p| self.part(p, mode))
    }

    fn part(&mut self, part: &Part, mode: Mode) -> Done {
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
            Part::Variable { range, .. } => self.no_mark(range, &form::VARIABLE_NAME),
            Part::Unclear(range) => self.no_mark(range, &form::UNSURE),
            Part::Class(range) => self.no_mark(range, &form::CLASS),
            Part::Parameter(parameter) => self.parameter(parameter, mode),
            Part::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
            Part::Substitution { range, kind, body } => self.substitution(range, *kind, body, mode),
        }
    }

    fn no_mark(&mut self, range: &Range<usize>, refusal: &'static Refusal) -> Done {
        match self.region.has_mark(range) {
            true => Err(self.refuse(range, refusal)),
            false => Ok(()),
        }
    }

    fn arithmetic(&mut self, arithmetic: &Arithmetic) -> Done {
        for mark in self.marks(&arithmetic.range) {
            let array = literal::subscripted_name(self.region, arithmetic.range.start, mark);
            if array.is_some_and(|name| self.names.associative_somewhere(name)) {
                return Err(self.refuse(&mark_range(mark), &form::ASSOCIATIVE));
            }
        }
        self.parts(&arithmetic.parts, Mode::Integer(Style::Parentheses))
    }

    fn parameter(&mut self, parameter: &Parameter, mode: Mode) -> Done {
        self.no_mark(&parameter.target.range, &form::VARIABLE_NAME)?;
        if let Some(subscript) = &parameter.target.subscript {
            self.subscript(&parameter.target.name, subscript, mode, false)?;
        }
        let calculated = Mode::Refuse(&form::CALCULATED);
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
            Operation::Value(parts) => self.parts(parts, value),
            Operation::Pattern(parts) => self.parts(parts, pattern),
            Operation::Replace { pattern: find, with } => {
                self.parts(find, pattern)?;
                self.parts(with, pattern)
            }
            Operation::Slice(parts) => self.parts(parts, Mode::Integer(Style::Parentheses)),
        }
    }

    fn substitution(
        &mut self,
        range: &Range<usize>,
        kind: SubstitutionKind,
        body: &Block,
        mode: Mode,
    ) -> Done {
        if !self.region.has_mark(range) {
            return Ok(());
        }
        if kind == SubstitutionKind::Backtick {
            return self.backtick(range, mode);
        }
        if self.region.text[range.clone()].starts_with("$((") {
            return Err(self.refuse(range, &form::PARENTHESES));
        }
        self.block(body)
    }

    fn backtick(&mut self, range: &Range<usize>, mode: Mode) -> Done {
        let body = range.start + 1..range.end - 1;
        let inner = self.region.backtick(body.clone(), mode == Mode::Double);
        let mut scope = self.scope.clone();
        scope.depth += 1;
        if scope.depth > 6 {
            return Err(self.refuse(range, &form::DEEP));
        }
        let pieces = self.reader.region(&inner, self.names, scope)?;
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

    fn single(&mut self, range: &Range<usize>, mode: Mode) -> Done {
        let inner = range.start + 1..range.end - 1;
        match mode {
            Mode::Integer(_) | Mode::Refuse(_) => self.literal(&inner, mode),
            Mode::Operand { .. } if self.region.has_mark(range) => {
                // The quotes are text here, so what is between them must be plain text as well.
                match self.region.text[inner.clone()].contains(['$', '`', '"', '\\', '}']) {
                    true => Err(self.refuse(range, &form::UNSURE)),
                    false => self.literal(&inner, mode),
                }
            }
            Mode::Double | Mode::HereDoc => self.no_mark(range, &form::UNSURE),
            _ => self.leaf(&inner, Form::Single, literal::Quoting::Single),
        }
    }

    fn ansi(&mut self, range: &Range<usize>, mode: Mode) -> Done {
        let inner = range.start + 2..range.end - 1;
        match mode {
            Mode::Integer(_) | Mode::Refuse(_) => self.literal(&inner, mode),
            Mode::Double | Mode::HereDoc | Mode::Operand { .. } => {
                self.no_mark(range, &form::UNSURE)
            }
            _ => self.leaf(&inner, Form::Ansi, literal::Quoting::Ansi),
        }
    }

    fn literal(&mut self, range: &Range<usize>, mode: Mode) -> Done {
        use literal::Quoting;
        match mode {
            Mode::Word => self.leaf(range, Form::Word, Quoting::Bare),
            Mode::Key => self.leaf(range, Form::Key, Quoting::Bare),
            Mode::Pattern => self.leaf(range, Form::Pattern, Quoting::Bare),
            Mode::Regex => {
                if literal::mark_in_brackets(self.region, range) {
                    return Err(self.refuse(range, &form::CLASS));
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

    fn integers(&mut self, range: &Range<usize>, style: Style) -> Done {
        for mark in self.marks(range) {
            let text = &self.region.text;
            let here = mark_range(mark);
            let sign = text[here.clone()].chars().next().unwrap_or_default();
            if !integer::stands_alone(text, here.clone(), sign, style) {
                return Err(self.refuse(&here, &form::NUMBER));
            }
            self.write(mark, Form::Integer(style))?;
        }
        Ok(())
    }

    /// Plain text in one quoting, with places in it.
    fn leaf(&mut self, range: &Range<usize>, form: Form, quoting: literal::Quoting) -> Done {
        let marks = self.marks(range);
        if marks.is_empty() {
            return Ok(());
        }
        if !literal::is_inert(&self.region.text[range.clone()], quoting) {
            return Err(self.refuse(range, &form::UNSURE));
        }
        for mark in marks {
            let before = &self.region.text[range.start..mark.at];
            match literal::before_place(before, quoting) {
                literal::Before::Plain => {}
                // A `$` that stood alone would join the reference that is written after it.
                literal::Before::Dollar => {
                    self.edits.push(Edit::text(mark.at - 1..mark.at - 1, "\\"));
                }
                literal::Before::Backslash => {
                    return Err(self.refuse(&mark_range(mark), &form::BACKSLASH));
                }
            }
            self.write(mark, form)?;
        }
        Ok(())
    }

    fn write(&mut self, mark: Mark, form: Form) -> Done {
        let leaves = self.scope.functions > 0 && self.names.functions_leave;
        if leaves && !matches!(form, Form::Comment | Form::Integer(_)) {
            return Err(self.refuse(&mark_range(mark), &form::FUNCTION_LEAVES));
        }
        let Some(piece) = self.reader.meet(mark.place, form) else {
            return Err(self.refuse(&mark_range(mark), &form::UNSURE));
        };
        self.edits.push(Edit { range: mark_range(mark), with: vec![piece] });
        Ok(())
    }

    fn marks(&self, range: &Range<usize>) -> Vec<Mark> {
        self.region.marks_in(range).to_vec()
    }

    /// Points at the first place in `range`, if there is one.
    fn refuse(&self, range: &Range<usize>, refusal: &Refusal) -> ShellError {
        match self.region.marks_in(range).first() {
            Some(mark) => self.reader.error_at(mark.place, refusal),
            None => ShellError {
                range: self.region.author(range.clone()),
                message: refusal.message.into(),
                help: Some(refusal.help.into()),
            },
        }
    }
}

pub fn mark_range(mark: Mark) -> Range<usize> {
    mark.at..mark.at + MARK_LEN
}
