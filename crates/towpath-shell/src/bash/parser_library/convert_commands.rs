//! Commands, redirections and assignments of the parser's tree into ours.

use super::Converter;
use crate::bash::NotBash;
use crate::bash::tree::*;
use shuck_ast as ast;
use std::ops::Range;

impl Converter<'_> {
    pub(super) fn block(&self, seq: &ast::StmtSeq) -> Result<Block, NotBash> {
        let statements = seq.iter().map(|s| self.statement(s)).collect::<Result<_, _>>()?;
        let mut comments = self.comments(&seq.leading_comments)?;
        comments.extend(self.comments(&seq.trailing_comments)?);
        Ok(Block { statements, comments })
    }

    fn comments(&self, comments: &[ast::Comment]) -> Result<Vec<Range<usize>>, NotBash> {
        comments
            .iter()
            .map(|c| {
                let range = usize::from(c.range.start())..usize::from(c.range.end());
                match self.text.get(range.clone()) {
                    Some(text) if text.starts_with('#') && !text.contains('\n') => Ok(range),
                    _ => Err(self.unsure(0..0)),
                }
            })
            .collect()
    }

    fn statement(&self, stmt: &ast::Stmt) -> Result<Statement, NotBash> {
        let mut comments = self.comments(&stmt.leading_comments)?;
        comments.extend(self.comments(stmt.inline_comment.as_slice())?);
        Ok(Statement {
            command: self.command(&stmt.command)?,
            redirects: self.redirects(&stmt.redirects)?,
            comments,
            background: matches!(stmt.terminator, Some(ast::StmtTerminator::Background(_))),
            negated: stmt.negated,
        })
    }

    fn command(&self, command: &ast::Command) -> Result<Command, NotBash> {
        match command {
            ast::Command::Simple(simple) => self.simple(simple),
            ast::Command::Builtin(builtin) => self.builtin(builtin),
            ast::Command::Decl(declare) => self.declare(declare),
            ast::Command::Binary(binary) => self.chain(binary),
            ast::Command::Compound(compound) => self.compound(compound),
            ast::Command::Function(function) => Ok(Command::Function {
                names: self.words(function.header.entries.iter().map(|e| &e.word))?,
                body: Box::new(self.statement(&function.body)?),
            }),
            ast::Command::AnonymousFunction(function) => {
                Err(self.unsure(self.range(function.span)?))
            }
        }
    }

    fn simple(&self, simple: &ast::SimpleCommand) -> Result<Command, NotBash> {
        let named = simple.name.span.start.offset() < simple.name.span.end.offset();
        let name = named.then_some(&simple.name);
        Ok(Command::Simple(Simple {
            range: self.range(simple.span)?,
            assignments: self.assignments(&simple.assignments)?,
            words: self.words(name.into_iter().chain(&simple.args))?,
        }))
    }

    /// `exit 1` and its like. The parser gives no range for their name.
    fn builtin(&self, builtin: &ast::BuiltinCommand) -> Result<Command, NotBash> {
        use ast::BuiltinCommand as B;
        let (name, span, first, rest, assignments) = match builtin {
            B::Break(b) => ("break", b.span, &b.depth, &b.extra_args, &b.assignments),
            B::Continue(b) => ("continue", b.span, &b.depth, &b.extra_args, &b.assignments),
            B::Return(b) => ("return", b.span, &b.code, &b.extra_args, &b.assignments),
            B::Exit(b) => ("exit", b.span, &b.code, &b.extra_args, &b.assignments),
        };
        let range = self.range(span)?;
        let arguments = self.words(first.iter().chain(rest))?;
        let assignments = self.assignments(assignments)?;
        let end = arguments.first().map_or(range.end, |word| word.range.start);
        let at = self.builtin_name(name, range.start..end, &assignments);
        let mut words = vec![Word {
            range: at.clone(),
            parts: if at.is_empty() { Vec::new() } else { vec![Part::Literal(at)] },
            text: Some(name.into()),
            sequences: Vec::new(),
            one_word: true,
        }];
        words.extend(arguments);
        Ok(Command::Simple(Simple { range, assignments, words }))
    }

    /// Where the name is between the assignments and the first argument. Empty if it is not written
    /// plainly there.
    fn builtin_name(
        &self,
        name: &str,
        within: Range<usize>,
        assignments: &[Assignment],
    ) -> Range<usize> {
        let from = assignments.last().map_or(within.start, |a| a.range.end).min(within.end);
        let text = &self.text[from..within.end];
        let bounds = |c: char| c.is_ascii_whitespace() || "<>;&|()".contains(c);
        let whole = |at: usize| {
            let before = text[..at].chars().next_back().is_none_or(bounds);
            before && text[at + name.len()..].chars().next().is_none_or(bounds)
        };
        let found = text.match_indices(name).map(|(at, _)| at).find(|at| whole(*at));
        found.map_or(within.start..within.start, |at| from + at..from + at + name.len())
    }

    fn declare(&self, clause: &ast::DeclClause) -> Result<Command, NotBash> {
        let mut declare = Declare {
            range: self.range(clause.span)?,
            variant: clause.variant.as_str().to_owned(),
            name: self.range(clause.variant_span)?,
            flags: Vec::new(),
            names: Vec::new(),
            assignments: Vec::new(),
            dynamic: Vec::new(),
            prefix: self.assignments(&clause.assignments)?,
        };
        for operand in &clause.operands {
            match operand {
                ast::DeclOperand::Flag(word) => declare.flags.push(self.word(word)?),
                ast::DeclOperand::Name(name) => declare.names.push(self.name(name)?),
                ast::DeclOperand::Assignment(a) => declare.assignments.push(self.assignment(a)?),
                ast::DeclOperand::Dynamic(word) => declare.dynamic.push(self.word(word)?),
            }
        }
        Ok(Command::Declare(declare))
    }

    /// Long chains nest to the left in the parser's tree: they are unrolled without recursion.
    fn chain(&self, binary: &ast::BinaryCommand) -> Result<Command, NotBash> {
        let mut rest = Vec::new();
        let mut at = binary;
        let first = loop {
            let link = match at.op {
                ast::BinaryOp::And => Link::And,
                ast::BinaryOp::Or => Link::Or,
                ast::BinaryOp::Pipe | ast::BinaryOp::PipeAll => Link::Pipe,
            };
            rest.push((link, self.statement(&at.right)?));
            match &at.left.command {
                ast::Command::Binary(left) if plain(&at.left) => at = left,
                _ => break self.statement(&at.left)?,
            }
        };
        rest.reverse();
        Ok(Command::Chain { first: Box::new(first), rest })
    }

    fn compound(&self, compound: &ast::CompoundCommand) -> Result<Command, NotBash> {
        use ast::CompoundCommand as C;
        let built = match compound {
            C::If(c) => {
                let mut blocks = vec![self.block(&c.condition)?, self.block(&c.then_branch)?];
                for (condition, body) in &c.elif_branches {
                    blocks.extend([self.block(condition)?, self.block(body)?]);
                }
                blocks.extend(c.else_branch.as_ref().map(|b| self.block(b)).transpose()?);
                self.blocks(CompoundKind::If, c.span, blocks)?
            }
            C::For(c) => Compound {
                names: c.targets.iter().map(|t| self.range(t.span)).collect::<Result<_, _>>()?,
                words: self.words(c.words.iter().flatten())?,
                ..self.blocks(CompoundKind::For, c.span, vec![self.block(&c.body)?])?
            },
            C::Select(c) => Compound {
                names: vec![self.range(c.variable_span)?],
                words: self.words(&c.words)?,
                ..self.blocks(CompoundKind::Select, c.span, vec![self.block(&c.body)?])?
            },
            C::ArithmeticFor(c) => self.arithmetic_for(c)?,
            C::While(c) => {
                let blocks = vec![self.block(&c.condition)?, self.block(&c.body)?];
                self.blocks(CompoundKind::While, c.span, blocks)?
            }
            C::Until(c) => {
                let blocks = vec![self.block(&c.condition)?, self.block(&c.body)?];
                self.blocks(CompoundKind::Until, c.span, blocks)?
            }
            C::Subshell(body) => {
                self.blocks(CompoundKind::Subshell, body.span, vec![self.block(body)?])?
            }
            C::BraceGroup(body) => {
                self.blocks(CompoundKind::Group, body.span, vec![self.block(body)?])?
            }
            C::Time(c) => self.wrapped(CompoundKind::Time, c.span, c.command.as_deref())?,
            C::Coproc(c) => Compound {
                names: c.name_span.map(|s| self.range(s)).transpose()?.into_iter().collect(),
                ..self.wrapped(CompoundKind::Coprocess, c.span, Some(&c.body))?
            },
            C::Case(c) => return self.case(c),
            C::Conditional(c) => {
                let mut operands = Vec::new();
                self.test(&c.expression, TestReading::Word, &mut operands)?;
                return Ok(Command::Test(operands));
            }
            C::Arithmetic(c) => {
                let range = self.range(c.span)?;
                return Ok(Command::Arithmetic(self.arithmetic(range, c.expr_ast.as_ref())?));
            }
            C::Repeat(c) => return Err(self.unsure(self.range(c.span)?)),
            C::Foreach(c) => return Err(self.unsure(self.range(c.span)?)),
            C::Always(c) => return Err(self.unsure(self.range(c.span)?)),
        };
        Ok(Command::Compound(built))
    }

    fn blocks(
        &self,
        kind: CompoundKind,
        span: ast::Span,
        blocks: Vec<Block>,
    ) -> Result<Compound, NotBash> {
        Ok(Compound {
            range: self.range(span)?,
            kind,
            names: Vec::new(),
            words: Vec::new(),
            arithmetic: Vec::new(),
            blocks,
        })
    }

    /// `time` and `coproc`: a command around one statement.
    fn wrapped(
        &self,
        kind: CompoundKind,
        span: ast::Span,
        body: Option<&ast::Stmt>,
    ) -> Result<Compound, NotBash> {
        let statements = body.map(|s| self.statement(s)).transpose()?.into_iter().collect();
        self.blocks(kind, span, vec![Block { statements, comments: Vec::new() }])
    }

    fn arithmetic_for(&self, c: &ast::ArithmeticForCommand) -> Result<Compound, NotBash> {
        let blocks = vec![self.block(&c.body)?];
        let mut compound = self.blocks(CompoundKind::ArithmeticFor, c.span, blocks)?;
        for (span, expression) in [
            (c.init_span, &c.init_ast),
            (c.condition_span, &c.condition_ast),
            (c.step_span, &c.step_ast),
        ] {
            if let Some(span) = span {
                let range = self.range(span)?;
                compound.arithmetic.push(self.arithmetic(range, expression.as_ref())?);
            }
        }
        Ok(compound)
    }

    fn case(&self, case: &ast::CaseCommand) -> Result<Command, NotBash> {
        let mut arms = Vec::new();
        for item in &case.cases {
            let patterns =
                item.patterns.iter().map(|p| self.pattern(p)).collect::<Result<_, _>>()?;
            arms.push(Arm { patterns, body: self.block(&item.body)? });
        }
        Ok(Command::Case { word: self.word(&case.word)?, arms })
    }

    fn test(
        &self,
        expression: &ast::ConditionalExpr,
        reading: TestReading,
        out: &mut Vec<Operand>,
    ) -> Result<(), NotBash> {
        use ast::ConditionalExpr as E;
        match expression {
            E::Binary(b) => {
                let (left, right) = readings(b.op);
                self.test(&b.left, left, out)?;
                self.test(&b.right, right, out)?;
            }
            E::Unary(u) => {
                use ast::ConditionalUnaryOp as Op;
                let reading = match u.op {
                    Op::VariableSet | Op::ReferenceVariable => TestReading::Name,
                    _ => TestReading::Word,
                };
                self.test(&u.expr, reading, out)?;
            }
            E::Parenthesized(p) => self.test(&p.expr, reading, out)?,
            E::Word(word) => out.push(match reading {
                TestReading::Word => Operand::Word(self.word(word)?),
                TestReading::Integer => Operand::Integer(self.word(word)?),
                TestReading::Name => Operand::Name(self.range(word.span)?),
            }),
            E::Pattern(pattern) => out.push(Operand::Pattern(self.pattern(pattern)?)),
            E::Regex(word) => out.push(Operand::Regex(self.word(word)?)),
            E::VarRef(name) => out.push(Operand::Name(self.range(name.span)?)),
        }
        Ok(())
    }

    fn redirects(&self, redirects: &[ast::Redirect]) -> Result<Vec<Redirect>, NotBash> {
        redirects.iter().map(|r| self.redirect(r)).collect()
    }

    fn redirect(&self, redirect: &ast::Redirect) -> Result<Redirect, NotBash> {
        let target = match &redirect.target {
            ast::RedirectTarget::Word(word) if redirect.kind == ast::RedirectKind::HereString => {
                Target::HereString(self.word(word)?)
            }
            ast::RedirectTarget::Word(word)
                if matches!(
                    redirect.kind,
                    ast::RedirectKind::DupOutput | ast::RedirectKind::DupInput
                ) =>
            {
                Target::Duplicate(self.descriptor(redirect, word)?)
            }
            ast::RedirectTarget::Word(word) => Target::File(self.word(word)?),
            ast::RedirectTarget::Heredoc(heredoc) => Target::HereDoc(self.here_doc(heredoc)?),
        };
        let mut range = self.range(redirect.span)?;
        // The parser's range of `{fd}>f` begins after the variable, whose own is without braces.
        if let Some(variable) = redirect.fd_var_span {
            range.start = range.start.min(self.range(variable)?.start.saturating_sub(1));
        }
        Ok(Redirect { range, target })
    }

    /// The parser gives no range for the `1` of `2>&1`.
    fn descriptor(&self, redirect: &ast::Redirect, word: &ast::Word) -> Result<Word, NotBash> {
        let word = self.word(word)?;
        let redirect = self.range(redirect.span)?;
        let source = &self.text[redirect.clone()];
        let digits = source.trim_start_matches(|c| !matches!(c, '<' | '>'));
        let digits = digits.trim_start_matches(['<', '>', '&']);
        let found = word.text.as_deref().is_some_and(|text| text == digits && !text.is_empty());
        if !word.range.is_empty() || !found {
            return Ok(word);
        }
        let range = redirect.end - digits.len()..redirect.end;
        Ok(Word { parts: vec![Part::Literal(range.clone())], range, ..word })
    }

    pub(super) fn assignments(&self, list: &[ast::Assignment]) -> Result<Vec<Assignment>, NotBash> {
        list.iter().map(|a| self.assignment(a)).collect()
    }

    fn assignment(&self, assignment: &ast::Assignment) -> Result<Assignment, NotBash> {
        let value = match &assignment.value {
            ast::AssignmentValue::Scalar(word) => AssignedValue::Scalar(self.word(word)?),
            ast::AssignmentValue::Compound(array) => AssignedValue::Array(
                array.elements.iter().map(|e| self.element(e)).collect::<Result<_, _>>()?,
            ),
        };
        Ok(Assignment {
            range: self.range(assignment.span)?,
            target: self.name(&assignment.target)?,
            value,
        })
    }

    fn element(&self, element: &ast::ArrayElem) -> Result<Element, NotBash> {
        let key = match element {
            ast::ArrayElem::Sequential(_) => None,
            ast::ArrayElem::Keyed { key, .. } | ast::ArrayElem::KeyedAppend { key, .. } => {
                Some(self.subscript(key)?)
            }
        };
        Ok(Element { key, value: self.word(&element.value().word)? })
    }
}

#[derive(Clone, Copy)]
enum TestReading {
    Word,
    Integer,
    Name,
}

fn readings(op: ast::ConditionalBinaryOp) -> (TestReading, TestReading) {
    use ast::ConditionalBinaryOp as Op;
    match op {
        Op::ArithmeticEq
        | Op::ArithmeticNe
        | Op::ArithmeticLe
        | Op::ArithmeticGe
        | Op::ArithmeticLt
        | Op::ArithmeticGt => (TestReading::Integer, TestReading::Integer),
        _ => (TestReading::Word, TestReading::Word),
    }
}

fn plain(stmt: &ast::Stmt) -> bool {
    stmt.redirects.is_empty()
        && stmt.leading_comments.is_empty()
        && stmt.inline_comment.is_none()
        && !stmt.negated
}
