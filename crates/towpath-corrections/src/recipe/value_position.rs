//! Where in a recipe's script a value is written: in which quotes, as what, and inside of which
//! constructs. The script is parsed with a mark in the position of each value.

use std::ops::Range;
use towpath_shell::bash::tree::*;
use towpath_shell::bash::visit::{self, Visitor};
use towpath_shell::bash::{Nesting, Script};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// Outside of quotes.
    Bare(Role),
    Double,
    /// In `'…'`, with the range of all of it.
    Single(Range<usize>),
    Ansi,
    HereDocument {
        quoted: bool,
    },
    /// Where bash calculates.
    Arithmetic,
}

/// What a word outside of quotes is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The whole name of a command.
    Name,
    /// A whole word in a list of words: an argument, a word of `for`.
    Argument,
    /// A whole element of an array, where `[0]=x` would be an assignment.
    Element,
    /// All of one value: of an assignment, the file of a redirection.
    Value,
    /// Compared with something: in `[[ … ]]` or `case`.
    Operand,
    /// Joined to other text in one word.
    Joined,
}

#[derive(Debug, Clone)]
pub(crate) struct Position {
    pub quoting: Quoting,
    /// What the command is part of, inside of the recipe.
    pub nesting: Vec<Nesting>,
    /// It may run never, or more than once.
    pub conditional: bool,
    /// A program reads the word as code.
    pub code: bool,
}

enum Region {
    Word(Role, Vec<Part>),
    HereDocument { quoted: bool },
    Arithmetic,
    Unsupported,
}

struct Collector {
    nesting: Vec<Nesting>,
    regions: Vec<(Range<usize>, Region, Vec<Nesting>)>,
    operands: Vec<Range<usize>>,
    /// Bash removes backslashes there first.
    backticks: Vec<Range<usize>>,
}

/// The positions of the marks in a script. `None` where one has no certain spelling.
pub(crate) fn find(script: &Script, marks: &[usize]) -> Option<Vec<Position>> {
    let mut collector = Collector {
        nesting: Vec::new(),
        regions: Vec::new(),
        operands: Vec::new(),
        backticks: Vec::new(),
    };
    visit::block(script.body(), &mut collector);
    marks.iter().map(|mark| collector.position(script, *mark)).collect()
}

impl Collector {
    fn add(&mut self, range: &Range<usize>, region: Region) {
        self.regions.push((range.clone(), region, self.nesting.clone()));
    }

    fn add_word(&mut self, word: &Word, role: Role) {
        self.add(&word.range, Region::Word(role, word.parts.clone()));
    }

    fn add_parts(&mut self, parts: &[Part]) {
        for part in parts {
            let range = part_range(part);
            self.add(&range, Region::Word(Role::Operand, vec![part.clone()]));
        }
    }

    fn position(&self, script: &Script, mark: usize) -> Option<Position> {
        if self.backticks.iter().any(|range| range.contains(&mark)) {
            return None;
        }
        let around = self.regions.iter().filter(|(range, ..)| range.contains(&mark));
        let (range, region, nesting) = around.rev().min_by_key(|(range, ..)| range.len())?;
        let quoting = match region {
            Region::Word(role, parts) => {
                let whole = range.len() == mark_length(script.text(), mark);
                let role = if whole || *role == Role::Operand { *role } else { Role::Joined };
                quoting(parts, mark, role)?
            }
            Region::HereDocument { quoted } => Quoting::HereDocument { quoted: *quoted },
            Region::Arithmetic => Quoting::Arithmetic,
            Region::Unsupported => return None,
        };
        let once = |nesting: &Nesting| {
            !matches!(
                nesting,
                Nesting::Loop
                    | Nesting::Branch
                    | Nesting::Condition
                    | Nesting::Function
                    | Nesting::AndOr { right: true }
            )
        };
        let operand = self.operands.iter().any(|range| range.contains(&mark));
        let conditional = operand || !nesting.iter().all(once);
        let code = is_code(script, mark);
        Some(Position { quoting, nesting: nesting.clone(), conditional, code })
    }
}

fn mark_length(text: &str, mark: usize) -> usize {
    text[mark..].chars().next().map_or(0, char::len_utf8)
}

/// Whether the program of a command reads the word around the mark as code.
fn is_code(script: &Script, mark: usize) -> bool {
    let open = |range: &Range<usize>| range.contains(&mark);
    script.commands().iter().any(|command| {
        let inside = |word: &Word| word.range.contains(&mark);
        command.words.iter().any(inside)
            && towpath_shell::read_as(command, script.text(), &open)
                .into_iter()
                .any(|index| inside(&command.words[index]))
    })
}

fn part_range(part: &Part) -> Range<usize> {
    match part {
        Part::Literal(range)
        | Part::Single(range)
        | Part::Ansi(range)
        | Part::Class(range)
        | Part::Unclear(range)
        | Part::Double { range, .. }
        | Part::Variable { range, .. }
        | Part::Substitution { range, .. } => range.clone(),
        Part::Parameter(parameter) => parameter.range.clone(),
        Part::Arithmetic(arithmetic) => arithmetic.range.clone(),
    }
}

fn quoting(parts: &[Part], mark: usize, role: Role) -> Option<Quoting> {
    let part = parts.iter().find(|part| part_range(part).contains(&mark))?;
    match part {
        Part::Literal(_) => Some(Quoting::Bare(role)),
        Part::Single(range) => Some(Quoting::Single(range.clone())),
        Part::Ansi(_) => Some(Quoting::Ansi),
        Part::Double { parts, .. } => {
            let inner = parts.iter().find(|part| part_range(part).contains(&mark));
            matches!(inner, None | Some(Part::Literal(_))).then_some(Quoting::Double)
        }
        _ => None,
    }
}

impl Visitor for Collector {
    fn enter(&mut self, nesting: Nesting) {
        self.nesting.push(nesting);
    }

    fn leave(&mut self) {
        self.nesting.pop();
    }

    fn comments(&mut self, comments: &[Range<usize>]) {
        for comment in comments {
            self.add(comment, Region::Unsupported);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        for redirect in &statement.redirects {
            match &redirect.target {
                Target::File(word) | Target::HereString(word) => self.add_word(word, Role::Value),
                Target::Duplicate(word) => self.add(&word.range, Region::Unsupported),
                Target::HereDoc(doc) => {
                    self.add(&doc.body, Region::HereDocument { quoted: doc.quoted });
                }
            }
        }
        match &statement.command {
            Command::Simple(simple) => {
                for (index, word) in simple.words.iter().enumerate() {
                    self.add_word(word, if index == 0 { Role::Name } else { Role::Argument });
                }
            }
            Command::Declare(declare) => {
                for word in &declare.dynamic {
                    self.add(&word.range, Region::Unsupported);
                }
            }
            Command::Compound(compound) => {
                for word in &compound.words {
                    self.add_word(word, Role::Argument);
                }
            }
            Command::Case { word, arms } => {
                self.add_word(word, Role::Operand);
                arms.iter().flat_map(|arm| &arm.patterns).for_each(|p| self.add_parts(p));
            }
            Command::Test(operands) => {
                for operand in operands {
                    match operand {
                        Operand::Word(word) => self.add_word(word, Role::Operand),
                        Operand::Pattern(parts) => self.add_parts(parts),
                        Operand::Regex(word) => self.add_parts(&word.parts),
                        Operand::Integer(word) => self.add(&word.range, Region::Arithmetic),
                        Operand::Name(range) => self.add(range, Region::Unsupported),
                    }
                }
            }
            Command::Function { names, .. } => {
                for name in names {
                    self.add(&name.range, Region::Unsupported);
                }
            }
            Command::Chain { .. } | Command::Arithmetic(_) => {}
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        match &assignment.value {
            AssignedValue::Scalar(word) => self.add_word(word, Role::Value),
            AssignedValue::Array(elements) => {
                for element in elements {
                    self.add_word(&element.value, Role::Element);
                }
            }
        }
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Parameter(parameter) => {
                self.operands.push(parameter.range.clone());
                self.add(&parameter.range, Region::Unsupported);
            }
            Part::Class(range) | Part::Unclear(range) => self.add(range, Region::Unsupported),
            Part::Substitution { range, kind: SubstitutionKind::Backtick, .. } => {
                self.backticks.push(range.clone());
            }
            _ => {}
        }
    }

    fn calculated(&mut self, array: Option<&str>, range: &Range<usize>, _parts: &[Part]) {
        let region = if array.is_some() { Region::Unsupported } else { Region::Arithmetic };
        self.add(range, region);
    }
}
