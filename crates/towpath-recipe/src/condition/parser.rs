//! Reads tokens into a tree: `or` binds least, then `and`, `not`, one comparison, and what follows
//! an operand (`.name`, `[…]`, `.method(…)`). A comparison of a comparison is refused, since no two
//! languages agree on what it means; so is nesting beyond a fixed depth.

use super::ConditionError;
use super::functions::{self, Callable, FUNCTIONS, METHODS};
use super::parse_errors::{no_function, no_index, no_method};
use super::tokens::{Bracket, Token, TokenKind, tokens};
use super::tree::{Comparison, Kind, Link, LinkKind, Node};
use std::ops::Range;
use towpath_core::{Value, VarPath};

/// Brackets inside brackets. Bounds every recursion over a tree.
const MAX_NESTING: usize = 64;

type Parsed<T = Node> = Result<T, ConditionError>;

pub(super) fn parse(text: &str) -> Parsed {
    let mut parser = Parser { text, tokens: tokens(text), next: 0, depth: 0 };
    let root = parser.disjunction()?;
    match parser.kind() {
        TokenKind::End => Ok(root),
        _ => Err(parser.surplus(None)),
    }
}

pub(super) struct Parser<'a> {
    pub text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

impl Parser<'_> {
    pub fn token(&self) -> &Token {
        &self.tokens[self.next]
    }

    pub fn kind(&self) -> &TokenKind {
        &self.token().kind
    }

    pub fn kind_after(&self, count: usize) -> Option<&TokenKind> {
        self.tokens.get(self.next + count).map(|token| &token.kind)
    }

    pub fn previous(&self) -> Option<&Token> {
        self.next.checked_sub(1).map(|at| &self.tokens[at])
    }

    /// Steps over the current token, but never past the last one.
    fn take(&mut self) -> Token {
        let token = self.token().clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, kind: &TokenKind) -> bool {
        let there = self.kind() == kind;
        if there {
            self.take();
        }
        there
    }

    fn here(&self) -> usize {
        self.token().range.start
    }

    /// From an offset to the end of the last token taken.
    fn since(&self, start: usize) -> Range<usize> {
        let end = self.tokens[..self.next].last().map_or(start, |token| token.range.end);
        start..end.max(start)
    }

    fn disjunction(&mut self) -> Parsed {
        self.terms(&TokenKind::Or, Parser::conjunction, Kind::Or)
    }

    fn conjunction(&mut self) -> Parsed {
        self.terms(&TokenKind::And, Parser::negation, Kind::And)
    }

    fn terms(
        &mut self,
        joint: &TokenKind,
        term: fn(&mut Self) -> Parsed,
        kind: fn(Vec<Node>) -> Kind,
    ) -> Parsed {
        let start = self.here();
        let first = term(self)?;
        if self.kind() != joint {
            return Ok(first);
        }
        let mut terms = vec![first];
        while self.eat(joint) {
            terms.push(term(self)?);
        }
        Ok(Node { kind: kind(terms), range: self.since(start) })
    }

    fn negation(&mut self) -> Parsed {
        let start = self.here();
        let mut count = 0_usize;
        while self.eat(&TokenKind::Not) {
            count += 1;
        }
        let inner = self.comparison()?;
        if count == 0 {
            return Ok(inner);
        }
        let kind = Kind::Not { odd: count % 2 == 1, inner: Box::new(inner) };
        Ok(Node { kind, range: self.since(start) })
    }

    fn comparison(&mut self) -> Parsed {
        let start = self.here();
        let left = self.operand()?;
        let Some(comparison) = self.comparison_sign() else { return Ok(left) };
        let middle = self.here();
        let right = self.operand()?;
        let range = self.since(start);
        let second = self.here();
        if self.comparison_sign().is_some() {
            return Err(self.chained(range, middle, self.since(second)));
        }
        Ok(Node { kind: Kind::Compare(comparison, Box::new((left, right))), range })
    }

    fn comparison_sign(&mut self) -> Option<Comparison> {
        let comparison = match (self.kind(), self.kind_after(1)) {
            (TokenKind::Compare(comparison), _) => *comparison,
            (TokenKind::In, _) => Comparison::In,
            (TokenKind::Not, Some(TokenKind::In)) => {
                self.take();
                Comparison::NotIn
            }
            _ => return None,
        };
        self.take();
        Some(comparison)
    }

    fn operand(&mut self) -> Parsed {
        let start = self.here();
        let base = self.primary()?;
        let mut links = Vec::new();
        loop {
            let link_start = self.here();
            let kind = match self.kind() {
                TokenKind::Dot => self.member(start, &base, &links)?,
                TokenKind::Open(Bracket::Square) => LinkKind::Index(self.index()?),
                _ => break,
            };
            links.push(Link { kind, range: self.since(link_start) });
        }
        if links.is_empty() {
            return Ok(base);
        }
        Ok(Node { kind: Kind::Chain(Box::new(base), links), range: self.since(start) })
    }

    fn primary(&mut self) -> Parsed {
        let start = self.here();
        let kind = match self.kind().clone() {
            TokenKind::Text(text) => Kind::Literal(Value::String(text)),
            TokenKind::Number(number) => Kind::Literal(Value::Number(number)),
            TokenKind::True => Kind::Literal(Value::Bool(true)),
            TokenKind::False => Kind::Literal(Value::Bool(false)),
            TokenKind::Name => return self.name(),
            TokenKind::Open(Bracket::Square) => {
                let items = self.sequence(true)?;
                return Ok(Node { kind: Kind::List(items), range: self.since(start) });
            }
            TokenKind::Open(Bracket::Round) => return self.parenthesised(),
            _ => return Err(self.no_operand()),
        };
        self.take();
        Ok(Node { kind, range: self.since(start) })
    }

    fn parenthesised(&mut self) -> Parsed {
        let open = self.enter()?;
        let inner = self.disjunction()?;
        self.leave(&open, Bracket::Round)?;
        Ok(inner)
    }

    /// A function call, or a variable with all its dotted segments.
    fn name(&mut self) -> Parsed {
        let first = self.take().range;
        let start = first.start;
        let mut path = self.text[first.clone()].to_owned();
        if *self.kind() == TokenKind::Open(Bracket::Round) {
            return self.call(first);
        }
        let call = TokenKind::Open(Bracket::Round);
        while *self.kind() == TokenKind::Dot
            && self.kind_after(1) == Some(&TokenKind::Name)
            && self.kind_after(2) != Some(&call)
        {
            self.take();
            let segment = self.take().range;
            path.push('.');
            path.push_str(&self.text[segment]);
        }
        let path = VarPath::new(&path).expect("names of tokens have only the characters of a path");
        Ok(Node { kind: Kind::Variable(path), range: self.since(start) })
    }

    fn call(&mut self, name: Range<usize>) -> Parsed {
        let written = &self.text[name.clone()];
        let Some(entry) = functions::find(&FUNCTIONS, written) else {
            return Err(no_function(name, written));
        };
        let arguments = self.arguments(name.start, entry)?;
        Ok(Node { kind: Kind::Call(entry.what, arguments), range: self.since(name.start) })
    }

    /// The link after a dot: a method, or a key of a map.
    fn member(&mut self, start: usize, base: &Node, links: &[Link]) -> Parsed<LinkKind> {
        let receiver = self.since(start);
        let dot = self.take().range;
        if *self.kind() != TokenKind::Name {
            return Err(self
                .unreadable()
                .unwrap_or_else(|| ConditionError::new(dot, "a name is missing after this dot")));
        }
        let name = self.take().range;
        let written = &self.text[name.clone()];
        if let (Kind::Literal(Value::Number(_) | Value::Bool(_)), []) = (&base.kind, links) {
            let message = format!("`{}` is neither a string nor a map", &self.text[receiver]);
            return Err(
                ConditionError::new(dot.start..name.end, message).help("only strings have methods")
            );
        }
        if *self.kind() != TokenKind::Open(Bracket::Round) {
            if functions::find(&METHODS, written).is_some() && is_computed(base, links) {
                return Err(ConditionError::new(name, format!("`{written}` is a method"))
                    .help(format!("write `{written}()`")));
            }
            return Ok(LinkKind::Field(written.to_owned()));
        }
        let Some(entry) = functions::find(&METHODS, written) else {
            return Err(no_method(name, written, &self.text[receiver]));
        };
        let arguments = self.arguments(name.start, entry)?;
        Ok(LinkKind::Method(entry.what, arguments))
    }

    fn arguments<T>(&mut self, start: usize, entry: &Callable<T>) -> Parsed<Vec<Node>> {
        let arguments = self.sequence(false)?;
        if !entry.arity.takes(arguments.len()) {
            let count = arguments.len();
            let message = format!("`{}` takes {}, not {count}", entry.name, entry.arity);
            return Err(ConditionError::new(self.since(start), message));
        }
        Ok(arguments)
    }

    fn index(&mut self) -> Parsed {
        let open = self.enter()?;
        let index = self.disjunction()?;
        self.leave(&open, Bracket::Square)?;
        match &index.kind {
            Kind::Literal(value) if !may_be_index(value) => Err(no_index(self.text, &index)),
            _ => Ok(index),
        }
    }

    /// Expressions between brackets, with commas between them.
    fn sequence(&mut self, trailing_comma: bool) -> Parsed<Vec<Node>> {
        let bracket = match self.kind() {
            TokenKind::Open(bracket) => *bracket,
            _ => return Err(self.no_operand()),
        };
        let open = self.enter()?;
        let mut items = Vec::new();
        while *self.kind() != TokenKind::Close(bracket) {
            items.push(self.disjunction()?);
            let comma = self.eat(&TokenKind::Comma);
            if !comma {
                break;
            }
            if !trailing_comma && *self.kind() == TokenKind::Close(bracket) {
                return Err(self.no_operand());
            }
        }
        self.leave(&open, bracket)?;
        Ok(items)
    }

    fn enter(&mut self) -> Parsed<Range<usize>> {
        let open = self.take().range;
        self.depth += 1;
        if self.depth > MAX_NESTING {
            let message = format!("brackets are nested more than {MAX_NESTING} deep");
            return Err(ConditionError::new(open, message));
        }
        Ok(open)
    }

    fn leave(&mut self, open: &Range<usize>, bracket: Bracket) -> Parsed<()> {
        self.depth -= 1;
        if self.eat(&TokenKind::Close(bracket)) {
            return Ok(());
        }
        Err(self.surplus(Some((open, bracket))))
    }
}

/// An index into a list counts from 0; a key is a string.
fn may_be_index(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Number(n) => n.as_f64().is_some_and(|n| n >= 0.0 && n.fract() == 0.0),
        _ => false,
    }
}

/// Whether a value is a call's result or a literal, so that a key of it cannot be meant.
fn is_computed(base: &Node, links: &[Link]) -> bool {
    match links.last() {
        Some(link) => matches!(link.kind, LinkKind::Method(..)),
        None => matches!(base.kind, Kind::Literal(_) | Kind::Call(..)),
    }
}
