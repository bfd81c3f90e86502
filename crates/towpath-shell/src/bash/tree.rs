//! The part of bash's syntax that Towpath looks at, as plain data with byte ranges.
//!
//! A tree of these is made by the `parser_library` module alone and refers to the text it was made from.
//! It keeps what decides how a piece of text is read (quoting, substitutions, subscripts, names)
//! and drops the rest; nothing here runs or expands anything.

use std::ops::Range;

/// Statements that run one after another, and the comments among them.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub statements: Vec<Statement>,
    pub comments: Vec<Range<usize>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub command: Command,
    pub redirects: Vec<Redirect>,
    pub comments: Vec<Range<usize>>,
    pub background: bool,
    /// `!` is in front of it.
    pub negated: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Simple(Simple),
    Declare(Declare),
    /// Commands joined by `&&`, `||` or a pipe.
    Chain {
        first: Box<Statement>,
        rest: Vec<(Link, Statement)>,
    },
    Compound(Compound),
    Case {
        word: Word,
        arms: Vec<Arm>,
    },
    /// `[[ … ]]`.
    Test(Vec<Operand>),
    /// `(( … ))`.
    Arithmetic(Arithmetic),
    Function {
        names: Vec<Word>,
        body: Box<Statement>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    And,
    Or,
    Pipe,
}

/// A command name with its arguments. Without words it only assigns or redirects.
#[derive(Debug, Clone, PartialEq)]
pub struct Simple {
    pub range: Range<usize>,
    pub assignments: Vec<Assignment>,
    pub words: Vec<Word>,
}

/// `declare`, `typeset`, `local`, `export`, `readonly` as bash's own keywords of assignment.
#[derive(Debug, Clone, PartialEq)]
pub struct Declare {
    pub range: Range<usize>,
    pub variant: String,
    /// Where the variant is written.
    pub name: Range<usize>,
    pub flags: Vec<Word>,
    pub names: Vec<Name>,
    pub assignments: Vec<Assignment>,
    /// Operands whose shape only the running shell knows.
    pub dynamic: Vec<Word>,
    /// Assignments in front of the command.
    pub prefix: Vec<Assignment>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    pub name: String,
    pub range: Range<usize>,
    pub subscript: Option<Subscript>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub range: Range<usize>,
    pub target: Name,
    pub value: AssignedValue,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AssignedValue {
    Scalar(Word),
    Array(Vec<Element>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    pub key: Option<Subscript>,
    pub value: Word,
}

/// The text between the brackets of `a[…]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Subscript {
    pub range: Range<usize>,
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Compound {
    pub range: Range<usize>,
    pub kind: CompoundKind,
    /// Where a variable is named.
    pub names: Vec<Range<usize>>,
    pub words: Vec<Word>,
    pub arithmetic: Vec<Arithmetic>,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompoundKind {
    /// Its blocks are a condition and a body in turn, and at last what `else` runs.
    If,
    /// Its blocks are the condition and the body.
    While,
    Until,
    For,
    ArithmeticFor,
    Select,
    Group,
    Subshell,
    /// `time`, around one statement.
    Time,
    /// `coproc`, around one statement.
    Coprocess,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    pub patterns: Vec<Vec<Part>>,
    pub body: Block,
}

/// One operand of `[[ … ]]`, with how bash reads it.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    Word(Word),
    Pattern(Vec<Part>),
    Regex(Word),
    Integer(Word),
    /// The name of a variable (`-v`, `-R`).
    Name(Range<usize>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Redirect {
    pub range: Range<usize>,
    pub target: Target,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    File(Word),
    /// The word of `>&` and `<&`. Where it is no descriptor, bash expands it a second time.
    Duplicate(Word),
    HereString(Word),
    HereDoc(HereDoc),
}

#[derive(Debug, Clone, PartialEq)]
pub struct HereDoc {
    /// The delimiter as written, quotes included.
    pub delimiter: Range<usize>,
    pub end_line: String,
    pub quoted: bool,
    pub body: Range<usize>,
    /// For a quoted one, the body as one literal.
    pub parts: Vec<Part>,
    /// Whether the line that ends it follows the body.
    pub closed: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Word {
    pub range: Range<usize>,
    pub parts: Vec<Part>,
    /// The word after quote removal, if nothing in it is expanded.
    pub text: Option<String>,
    /// Unquoted `{a..b}`.
    pub sequences: Vec<Range<usize>>,
    /// Bash gives exactly one word for it, whatever that is.
    pub one_word: bool,
}

impl Word {
    /// The word after quote removal, if bash gives exactly this one word for it: nothing in it is
    /// expanded, as a pattern, a tilde or braces neither.
    pub fn fixed(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| self.one_word)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Unquoted text, or the plain text inside the enclosing quotes.
    Literal(Range<usize>),
    /// `'…'`, quotes included.
    Single(Range<usize>),
    /// `$'…'`, quotes included.
    Ansi(Range<usize>),
    /// `"…"` or `$"…"`, quotes included.
    Double {
        range: Range<usize>,
        parts: Vec<Part>,
    },
    /// `$name` and the special parameters.
    Variable {
        range: Range<usize>,
        name: String,
    },
    Parameter(Box<Parameter>),
    Substitution {
        range: Range<usize>,
        kind: SubstitutionKind,
        body: Block,
    },
    Arithmetic(Arithmetic),
    /// `[…]` in a pattern.
    Class(Range<usize>),
    /// An expansion of which the parser and the text do not agree.
    Unclear(Range<usize>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubstitutionKind {
    Dollar,
    /// The body is only given when it has no backslash: with one, bash reads other text than the
    /// one that is written.
    Backtick,
    Process,
}

/// An arithmetic expression: its range, and the words in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Arithmetic {
    pub range: Range<usize>,
    pub parts: Vec<Part>,
}

/// `${name…}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub range: Range<usize>,
    pub target: Name,
    pub operation: Operation,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    None,
    /// `:-`, `:=`, `:+`, `:?` and their forms without the colon.
    Value(Vec<Part>),
    /// `#`, `##`, `%`, `%%`, `^`, `^^`, `,`, `,,`.
    Pattern(Vec<Part>),
    Replace {
        pattern: Vec<Part>,
        with: Vec<Part>,
    },
    Slice(Vec<Part>),
}
