//! Finds the quoting context of every placeholder by walking the tree, and writes each for it.
//!
//! Where bash's reading is not certain the walk refuses: a placeholder met twice or not at all, text that
//! a parser may have passed over, a subscript of which the kind is unknown. The walk never looks at
//! a value.

use crate::bash::tree::*;
use crate::integer_values::Style;
use crate::mark::{MARK_LEN, Mark, Region};
use crate::placeholder_replacement::{Form, Mode};
use crate::refusal_messages::{self, Refusal};
use crate::shell_text_analysis::{Scope, ShellTextAnalysis};
use crate::text_edits::Edit;
use crate::{ShellError, beside_placeholder};
use std::ops::Range;

pub struct Walk<'a, 'r> {
    /// The text that the tree was made from.
    pub region: &'a Region,
    /// The text as it was written.
    pub written: &'a Region,
    pub scope: Scope,
    pub reader: &'a mut ShellTextAnalysis<'r>,
    pub edits: Vec<Edit>,
}

mod assignments;
mod commands;
mod here_docs;
mod loops;
mod words;

use assignments::Position;
pub use assignments::is_code;

type Done = Result<(), ShellError>;

impl Walk<'_, '_> {
    pub fn block(&mut self, block: &Block) -> Done {
        let unsplit = std::mem::take(&mut self.scope.unsplit);
        self.comments(&block.comments)?;
        for statement in &block.statements {
            self.statement(statement)?;
        }
        self.scope.unsplit = unsplit;
        Ok(())
    }

    pub fn comments(&mut self, comments: &[Range<usize>]) -> Done {
        for comment in comments {
            for mark in self.marks(comment) {
                self.write(mark, Form::Comment)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Done {
        self.comments(&statement.comments)?;
        statement.redirects.iter().try_for_each(|r| self.redirect(r))?;
        match &statement.command {
            Command::Simple(simple) => self.simple(simple, &statement.redirects)?,
            Command::Declare(declare) => self.declare(declare)?,
            Command::Chain { first, rest } => {
                self.statement(first)?;
                for (_, statement) in rest {
                    self.statement(statement)?;
                }
            }
            Command::Compound(compound) => self.compound(compound)?,
            Command::Case { word, arms } => {
                self.unsplit(word, Mode::Word)?;
                for arm in arms {
                    arm.patterns.iter().try_for_each(|p| self.parts(p, Mode::Pattern))?;
                    self.block(&arm.body)?;
                }
            }
            Command::Test(operands) => operands.iter().try_for_each(|o| self.operand(o))?,
            Command::Arithmetic(arithmetic) => self.arithmetic(arithmetic)?,
            Command::Function { names, body } => {
                self.words(names, Mode::Refuse(&refusal_messages::FUNCTION_NAME))?;
                self.scope.functions += 1;
                self.statement(body)?;
                self.scope.functions -= 1;
            }
        }
        Ok(())
    }

    fn compound(&mut self, compound: &Compound) -> Done {
        let (before, inside) = self.region.text.split_at(compound.range.start);
        let doubled = inside.starts_with("((") || before.ends_with('(') && inside.starts_with('(');
        if compound.kind == CompoundKind::Subshell
            && doubled
            && self.region.has_mark(&compound.range)
        {
            return Err(self.refuse(&compound.range, &refusal_messages::PARENTHESES));
        }
        compound
            .names
            .iter()
            .try_for_each(|n| self.no_mark(n, &refusal_messages::VARIABLE_NAME))?;
        self.loop_words(compound)?;
        compound.arithmetic.iter().try_for_each(|a| self.arithmetic(a))?;
        compound.blocks.iter().try_for_each(|b| self.block(b))
    }

    fn operand(&mut self, operand: &Operand) -> Done {
        match operand {
            Operand::Word(word) => self.unsplit(word, Mode::Word),
            Operand::Pattern(parts) => self.parts(parts, Mode::Pattern),
            Operand::Regex(word) => self.word(word, Mode::Regex),
            Operand::Integer(word) => self.word(word, Mode::Integer(Style::Bare)),
            Operand::Name(range) => match self.region.has_mark(range) {
                true => Err(self.refuse(range, &refusal_messages::VARIABLE_NAME)),
                false => Ok(()),
            },
        }
    }

    fn redirect(&mut self, redirect: &Redirect) -> Done {
        match &redirect.target {
            Target::File(word) => self.word(word, Mode::Word),
            Target::HereString(word) => self.unsplit(word, Mode::Word),
            Target::Duplicate(word) => self.duplicate(redirect, word),
            Target::HereDoc(heredoc) => self.here_doc(heredoc),
        }
    }

    /// `>& file` is `&> file`, but bash expands the file's name twice.
    fn duplicate(&mut self, redirect: &Redirect, word: &Word) -> Done {
        let operator = redirect.range.start..word.range.start.max(redirect.range.start);
        let written = self.region.text[operator.clone()].trim_end();
        let descriptor = written.strip_suffix(">&").map(|n| n.trim_start_matches('0'));
        let named =
            beside_placeholder::ends_with_descriptor_name(&self.region.text[..operator.start]);
        let (marked, ours) =
            (self.region.has_mark(&word.range), matches!(descriptor, Some("" | "1")));
        if named || !ours || !marked && word.text.is_some() {
            return self.word(word, Mode::Word);
        }
        // `>&word-` moves a descriptor.
        let moves = self.region.text[word.range.clone()].trim_end_matches(['"', '\'']);
        let file = beside_placeholder::is_file_name(&self.region.text, &word.parts);
        if !self.scope.posix() && file && !moves.ends_with('-') {
            // Also where no placeholder is: a variable may have a value.
            let operator = operator.start..operator.start + written.len();
            self.edits.push(Edit::text(operator, "&>"));
        } else if marked {
            return Err(self.refuse(&word.range, &refusal_messages::DESCRIPTOR));
        }
        self.word(word, Mode::Word)
    }

    fn marks(&self, range: &Range<usize>) -> Vec<Mark> {
        self.region.marks_in(range).to_vec()
    }

    /// Points at the first placeholder in `range`, if there is one.
    fn refuse(&self, range: &Range<usize>, refusal: &Refusal) -> ShellError {
        match self.region.marks_in(range).first() {
            Some(mark) => self.reader.error_at(mark.placeholder, refusal),
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
