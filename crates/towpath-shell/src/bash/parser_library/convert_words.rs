//! Words, patterns, expansions and here-documents of the parser's tree into ours.

use super::Converter;
use crate::bash::NotBash;
use crate::bash::quoting;
use crate::bash::tree::*;
use shuck_ast as ast;
use std::ops::Range;

impl Converter<'_> {
    pub(super) fn words<'w>(
        &self,
        words: impl IntoIterator<Item = &'w ast::Word>,
    ) -> Result<Vec<Word>, NotBash> {
        words.into_iter().map(|w| self.word(w)).collect()
    }

    pub(super) fn word(&self, word: &ast::Word) -> Result<Word, NotBash> {
        let range = self.range(word.span)?;
        let mut sequences = Vec::new();
        for brace in &word.brace_syntax {
            let sequence = brace.expansion_kind() == Some(ast::BraceExpansionKind::Sequence);
            if sequence && brace.expands() {
                sequences.push(self.inside(brace.span, &range)?);
            }
        }
        let text = match self.text[range.clone()] == self.written[range.clone()] {
            true => {
                ast::static_command_name_text(word, self.text).map(std::borrow::Cow::into_owned)
            }
            false => quoting::unquoted(&self.written[range.clone()]),
        };
        let parts = self.parts(&word.parts, &range)?;
        let one_word = quoting::is_one_word(self.text, &parts);
        Ok(Word { parts, range, text, sequences, one_word })
    }

    fn parts(
        &self,
        parts: &[ast::WordPartNode],
        outer: &Range<usize>,
    ) -> Result<Vec<Part>, NotBash> {
        parts.iter().map(|p| self.part(&p.kind, self.inside(p.span, outer)?)).collect()
    }

    fn part(&self, part: &ast::WordPart, range: Range<usize>) -> Result<Part, NotBash> {
        use ast::WordPart as P;
        Ok(match part {
            P::Literal(text) => self.literal(text, range)?,
            P::SingleQuoted { dollar: true, .. } => Part::Ansi(self.quoted(range, "$'", "'")?),
            P::SingleQuoted { dollar: false, .. } => Part::Single(self.quoted(range, "'", "'")?),
            P::DoubleQuoted { parts, dollar } => {
                let open = if *dollar { "$\"" } else { "\"" };
                let range = self.quoted(range, open, "\"")?;
                let inner = range.start + open.len()..range.end - 1;
                let parts = self.parts(parts, &inner)?;
                // The parser loses the text before some escapes.
                match parts.as_slice() {
                    [Part::Literal(text)] if text.is_empty() && !inner.is_empty() => {
                        return Err(self.unsure(range));
                    }
                    _ => Part::Double { parts, range },
                }
            }
            P::Variable(name) => Part::Variable { range, name: name.as_str().to_owned() },
            P::CommandSubstitution { body, syntax } => self.substitution(range, body, *syntax)?,
            P::ProcessSubstitution { body, .. } => Part::Substitution {
                range,
                kind: SubstitutionKind::Process,
                body: self.block(body)?,
            },
            P::ArithmeticExpansion { expression_word_ast, .. } => {
                self.arithmetic_expansion(range, expression_word_ast)?
            }
            P::Parameter(parameter) => self.parameter(parameter, range)?,
            P::ParameterExpansion { reference, operator, operand_word_ast, .. } => {
                self.operation_part(range, reference, Some(operator), operand_word_ast.as_deref())?
            }
            P::IndirectExpansion { reference, operator, operand_word_ast, .. } => self
                .operation_part(
                    range,
                    reference,
                    operator.as_deref(),
                    operand_word_ast.as_deref(),
                )?,
            P::Substring { reference, offset_word_ast, length_word_ast, .. }
            | P::ArraySlice { reference, offset_word_ast, length_word_ast, .. } => {
                self.slice(range, reference, offset_word_ast, length_word_ast.as_deref())?
            }
            P::Length(reference)
            | P::ArrayAccess(reference)
            | P::ArrayLength(reference)
            | P::ArrayIndices(reference)
            | P::Transformation { reference, .. } => {
                self.expansion(range, reference, Operation::None)?
            }
            P::PrefixMatch { prefix, .. } => {
                Part::Variable { range, name: prefix.as_str().to_owned() }
            }
            P::ZshQualifiedGlob(_) => return Err(self.unsure(range)),
        })
    }

    /// Text that the parser keeps in another form than the source must still come from its range.
    fn literal(&self, text: &ast::LiteralText, range: Range<usize>) -> Result<Part, NotBash> {
        let written = &self.text[range.clone()];
        // The `1` of `2>&1` has no range of its own.
        if written.is_empty() {
            return Ok(Part::Literal(range));
        }
        let kept = match text {
            ast::LiteralText::Source => written,
            ast::LiteralText::Owned(text) | ast::LiteralText::CookedSource(text) => text,
        };
        let mut rest = written.chars();
        match kept.chars().all(|c| rest.any(|w| w == c)) {
            true => Ok(Part::Literal(range)),
            false => Err(self.unsure(range)),
        }
    }

    fn quoted(
        &self,
        range: Range<usize>,
        open: &str,
        close: &str,
    ) -> Result<Range<usize>, NotBash> {
        let text = &self.text[range.clone()];
        let whole = text.len() >= open.len() + close.len();
        match whole && text.starts_with(open) && text.ends_with(close) {
            true => Ok(range),
            false => Err(self.unsure(range)),
        }
    }

    fn substitution(
        &self,
        range: Range<usize>,
        body: &ast::StmtSeq,
        syntax: ast::CommandSubstitutionSyntax,
    ) -> Result<Part, NotBash> {
        let empty = Block { statements: Vec::new(), comments: Vec::new() };
        let (kind, body, range) = match syntax {
            ast::CommandSubstitutionSyntax::DollarParen => {
                (SubstitutionKind::Dollar, self.block(body)?, self.quoted(range, "$(", ")")?)
            }
            ast::CommandSubstitutionSyntax::Backtick => {
                let range = self.quoted(range, "`", "`")?;
                let as_written = !self.text[range.clone()].contains('\\');
                let body = if as_written { self.block(body)? } else { empty };
                (SubstitutionKind::Backtick, body, range)
            }
        };
        Ok(Part::Substitution { range, kind, body })
    }

    fn parameter(
        &self,
        parameter: &ast::ParameterExpansion,
        range: Range<usize>,
    ) -> Result<Part, NotBash> {
        use ast::BourneParameterExpansion as B;
        let Some(bourne) = parameter.bourne() else { return Err(self.unsure(range)) };
        match bourne {
            B::Access { reference }
            | B::Length { reference }
            | B::Indices { reference }
            | B::Transformation { reference, .. } => {
                self.expansion(range, reference, Operation::None)
            }
            B::Indirect { reference, operator, operand_word_ast, .. } => self.operation_part(
                range,
                reference,
                operator.as_deref(),
                operand_word_ast.as_deref(),
            ),
            B::Operation { reference, operator, operand_word_ast, .. } => {
                self.operation_part(range, reference, Some(operator), operand_word_ast.as_deref())
            }
            B::Slice { reference, offset_word_ast, length_word_ast, .. } => {
                self.slice(range, reference, offset_word_ast, length_word_ast.as_deref())
            }
            B::PrefixMatch { prefix, .. } => {
                Ok(Part::Variable { range, name: prefix.as_str().to_owned() })
            }
        }
    }

    fn expansion(
        &self,
        range: Range<usize>,
        reference: &ast::VarRef,
        operation: Operation,
    ) -> Result<Part, NotBash> {
        if self.quoted(range.clone(), "${", "}").is_err() {
            return Ok(Part::Unclear(range));
        }
        let target = self.name(reference)?;
        Ok(Part::Parameter(Box::new(Parameter { range, target, operation })))
    }

    fn operation_part(
        &self,
        range: Range<usize>,
        reference: &ast::VarRef,
        operator: Option<&ast::ParameterOp>,
        operand: Option<&ast::Word>,
    ) -> Result<Part, NotBash> {
        use ast::ParameterOp as Op;
        let operand = |tree: &Self| match operand {
            Some(word) => tree.parts(&word.parts, &range),
            None => Ok(Vec::new()),
        };
        let operation = match operator {
            None => Operation::None,
            Some(Op::UseDefault | Op::AssignDefault | Op::UseReplacement | Op::Error) => {
                Operation::Value(operand(self)?)
            }
            Some(
                Op::RemovePrefixShort { pattern }
                | Op::RemovePrefixLong { pattern }
                | Op::RemoveSuffixShort { pattern }
                | Op::RemoveSuffixLong { pattern },
            ) => Operation::Pattern(self.pattern(pattern)?),
            Some(
                Op::ReplaceFirst { pattern, replacement_word_ast, .. }
                | Op::ReplaceAll { pattern, replacement_word_ast, .. },
            ) => Operation::Replace {
                pattern: self.pattern(pattern)?,
                with: self.parts(&replacement_word_ast.parts, &range)?,
            },
            Some(Op::UpperFirst | Op::UpperAll | Op::LowerFirst | Op::LowerAll) => {
                Operation::Pattern(operand(self)?)
            }
        };
        self.expansion(range, reference, operation)
    }

    fn slice(
        &self,
        range: Range<usize>,
        reference: &ast::VarRef,
        offset: &ast::Word,
        length: Option<&ast::Word>,
    ) -> Result<Part, NotBash> {
        let mut parts = self.parts(&offset.parts, &range)?;
        if let Some(length) = length {
            parts.extend(self.parts(&length.parts, &range)?);
        }
        self.expansion(range, reference, Operation::Slice(parts))
    }

    pub(super) fn name(&self, reference: &ast::VarRef) -> Result<Name, NotBash> {
        let subscript = reference.subscript.as_deref().map(|s| self.subscript(s)).transpose()?;
        Ok(Name {
            name: reference.name.as_str().to_owned(),
            range: self.range(reference.name_span)?,
            subscript,
        })
    }

    pub(super) fn subscript(&self, subscript: &ast::Subscript) -> Result<Subscript, NotBash> {
        let range = self.range(subscript.syntax_source_text().span())?;
        let parts = match subscript.word_ast() {
            Some(word) => self.parts(&word.parts, &range)?,
            None => Vec::new(),
        };
        Ok(Subscript { range, parts })
    }

    pub(super) fn pattern(&self, pattern: &ast::Pattern) -> Result<Vec<Part>, NotBash> {
        let outer = self.range(pattern.span)?;
        let mut parts = Vec::new();
        for node in &pattern.parts {
            let range = self.inside(node.span, &outer)?;
            match &node.kind {
                ast::PatternPart::Literal(text) => parts.push(self.literal(text, range)?),
                ast::PatternPart::AnyString | ast::PatternPart::AnyChar => {}
                ast::PatternPart::CharClass(_) => parts.push(Part::Class(range)),
                ast::PatternPart::Group { patterns, .. } => {
                    for pattern in patterns {
                        parts.extend(self.pattern(pattern)?);
                    }
                }
                ast::PatternPart::Word(word) => parts.extend(self.parts(&word.parts, &outer)?),
            }
        }
        Ok(parts)
    }

    /// `$((a) | b)` is a subshell in a substitution, whatever the parser made of it.
    fn arithmetic_expansion(&self, range: Range<usize>, word: &ast::Word) -> Result<Part, NotBash> {
        let doubled = self.quoted(range.clone(), "$((", "))").is_ok();
        if !doubled && self.quoted(range.clone(), "$[", "]").is_err() {
            return Ok(Part::Unclear(range));
        }
        let parts = self.parts(&word.parts, &range)?;
        Ok(Part::Arithmetic(Arithmetic { range, parts }))
    }

    pub(super) fn arithmetic(
        &self,
        range: Range<usize>,
        expression: Option<&ast::ArithmeticExprNode>,
    ) -> Result<Arithmetic, NotBash> {
        let mut parts = Vec::new();
        if let Some(expression) = expression {
            self.arithmetic_parts(expression, &range, &mut parts)?;
        }
        Ok(Arithmetic { range, parts })
    }

    fn arithmetic_parts(
        &self,
        node: &ast::ArithmeticExprNode,
        outer: &Range<usize>,
        out: &mut Vec<Part>,
    ) -> Result<(), NotBash> {
        use ast::ArithmeticExpr as E;
        match &node.kind {
            E::Number(_) | E::Variable(_) => {}
            E::ShellWord(word) => out.extend(self.parts(&word.parts, outer)?),
            E::Indexed { index, .. } => self.arithmetic_parts(index, outer, out)?,
            E::Parenthesized { expression: e } | E::Unary { expr: e, .. } => {
                self.arithmetic_parts(e, outer, out)?;
            }
            E::Postfix { expr, .. } => self.arithmetic_parts(expr, outer, out)?,
            E::Binary { left, right, .. } => {
                self.arithmetic_parts(left, outer, out)?;
                self.arithmetic_parts(right, outer, out)?;
            }
            E::Conditional { condition, then_expr, else_expr } => {
                for part in [condition, then_expr, else_expr] {
                    self.arithmetic_parts(part, outer, out)?;
                }
            }
            E::Assignment { target, value, .. } => {
                if let ast::ArithmeticLvalue::Indexed { index, .. } = target {
                    self.arithmetic_parts(index, outer, out)?;
                }
                self.arithmetic_parts(value, outer, out)?;
            }
        }
        Ok(())
    }

    pub(super) fn here_doc(&self, heredoc: &ast::Heredoc) -> Result<HereDoc, NotBash> {
        let delimiter = &heredoc.delimiter;
        let body = self.range(heredoc.body.span)?;
        // The parser takes the second one on a line for quoted, whatever is written.
        let quoted = self.text[self.range(delimiter.span)?].contains(['\'', '"', '\\']);
        let parts = match quoted {
            true => vec![Part::Literal(body.clone())],
            false => heredoc
                .body
                .parts
                .iter()
                .map(|p| self.here_doc_part(&p.kind, self.inside(p.span, &body)?))
                .collect::<Result<_, _>>()?,
        };
        let next = self.text[body.end..].split('\n').next().unwrap_or_default();
        let next = if delimiter.strip_tabs { next.trim_start_matches('\t') } else { next };
        Ok(HereDoc {
            delimiter: self.range(delimiter.span)?,
            end_line: quoting::unquoted(&self.written[self.range(delimiter.span)?])
                .unwrap_or_default(),
            quoted,
            closed: next == delimiter.cooked.as_str(),
            body,
            parts,
        })
    }

    fn here_doc_part(
        &self,
        part: &ast::HeredocBodyPart,
        range: Range<usize>,
    ) -> Result<Part, NotBash> {
        use ast::HeredocBodyPart as P;
        match part {
            P::Literal(text) => self.literal(text, range),
            P::Variable(name) => Ok(Part::Variable { range, name: name.as_str().to_owned() }),
            P::CommandSubstitution { body, syntax } => self.substitution(range, body, *syntax),
            P::ArithmeticExpansion { expression_word_ast, .. } => {
                self.arithmetic_expansion(range, expression_word_ast)
            }
            P::Parameter(parameter) => self.parameter(parameter, range),
        }
    }
}
