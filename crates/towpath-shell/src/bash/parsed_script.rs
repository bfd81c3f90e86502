//! A text that was understood completely: its tree and every simple command in it, code inside of
//! words included.

use super::scanner::{self, Atom, Kind, Scan, Within};
use super::simple_commands::{self, InnerCode, SimpleCommand};
use super::tree::{Block, Command, CompoundKind};
use super::{NotBash, Reason, deep_stack, difference, parser_library};
use std::ops::Range;

/// The most bytes of a text.
pub const LONGEST: usize = 64 * 1024;

/// Code inside code is read this deep.
const MAX_DEPTH: usize = 6;

#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    text: String,
    body: Block,
    commands: Vec<SimpleCommand>,
}

/// Parses a whole script, and refuses what is not understood to the last byte.
pub fn parse(text: &str) -> Result<Script, NotBash> {
    if text.len() > LONGEST {
        return Err(NotBash { range: 0..0, reason: Reason::TooLong });
    }
    if let Some(at) = text.find('\0') {
        return Err(NotBash::unsure(at..at + 1));
    }
    let parsed = deep_stack::run(text, || {
        let (body, mut commands) = understood(text, 0)?;
        commands.sort_by_key(|c| (c.range.start, std::cmp::Reverse(c.range.end), c.nesting.len()));
        Ok(Script { text: text.to_owned(), body, commands })
    });
    parsed.unwrap_or_else(|| Err(NotBash::unsure(0..0)))
}

/// The words of one command as they are written, quotes included. Anything but words is refused.
pub fn tokenize(text: &str) -> Result<Vec<&str>, NotBash> {
    // As arguments, reserved words and assignments are words like any other.
    let front = ": ";
    let back = |range: Range<usize>| {
        let moved = |at: usize| at.saturating_sub(front.len()).min(text.len());
        moved(range.start)..moved(range.end)
    };
    let script =
        parse(&format!("{front}{text}")).map_err(|e| NotBash { range: back(e.range), ..e })?;
    let [statement] = script.body.statements.as_slice() else {
        return Err(NotBash::syntax(0..text.len(), "this is more than one command"));
    };
    let command = script.commands.first().filter(|c| !c.words.is_empty() && c.is_alone());
    let Some(command) = command.filter(|c| c.redirects.is_empty() && statement.comments.is_empty())
    else {
        return Err(NotBash::syntax(0..text.len(), "this is more than words"));
    };
    Ok(command.words[1..].iter().map(|w| &text[back(w.range.clone())]).collect())
}

impl Script {
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn body(&self) -> &Block {
        &self.body
    }

    /// Whether all of the text is one `{ …; }`.
    pub fn is_one_group(&self) -> bool {
        let [statement] = self.body.statements.as_slice() else { return false };
        let Command::Compound(compound) = &statement.command else { return false };
        let bare = statement.redirects.is_empty() && !statement.background;
        compound.kind == CompoundKind::Group && bare
    }

    /// Every simple command, in text order, an outer one before those inside of it. A command that
    /// another one starts follows that one.
    pub fn commands(&self) -> &[SimpleCommand] {
        &self.commands
    }
}

fn understood(text: &str, depth: usize) -> Result<(Block, Vec<SimpleCommand>), NotBash> {
    if depth > MAX_DEPTH {
        return Err(NotBash::unsure(0..text.len()));
    }
    let scan = scanner::scan(text, &|_| true)?;
    if let Some(range) = scan.doubts.first() {
        return Err(NotBash::unsure(range.clone()));
    }
    let body = agreed(text, text, &scan)
        .or_else(|error| agreed(&without_escapes(text, &scan), text, &scan).map_err(|_| error))?;
    let found = simple_commands::find(text, &body, &scan.words)?;
    let mut commands = found.commands;
    for code in found.codes {
        match code_commands(&code, depth) {
            Ok(inner) => commands.extend(inner),
            Err(error) if code.required => return Err(error),
            Err(_) => {}
        }
    }
    Ok((body, commands))
}

/// The tree of `text`, if the scanner agrees with it. `written` differs from it in escapes alone.
fn agreed(text: &str, written: &str, scan: &Scan) -> Result<Block, NotBash> {
    let body = parser_library::parse(text, written)?;
    match difference::difference(text, &|_| true, &body, &scan.atoms, &scan.words) {
        None => Ok(body),
        Some(range) => Err(NotBash::unsure(range)),
    }
}

/// The text with a dot for every byte of an escape: the parser library gives wrong ranges after some
/// of them, and to everything around they are plain text of the same length.
fn without_escapes(text: &str, scan: &Scan) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut open: Vec<&Atom> = Vec::new();
    let mut atoms = scan.atoms.iter().peekable();
    for at in 0..bytes.len() {
        open.retain(|atom| at < atom.range.end);
        while let Some(atom) = atoms.next_if(|a| a.range.start <= at) {
            if atom.kind == Kind::Escape && atom.within != Within::Arithmetic {
                bytes[atom.range.clone()].fill(b'.');
            }
            open.push(atom);
        }
        let joins = bytes[at..].starts_with(b"\\\n");
        if joins && open.last().is_some_and(|atom| atom.kind == Kind::Double) {
            bytes[at..at + 2].fill(b'.');
        }
    }
    String::from_utf8(bytes).expect("whole characters were replaced by ASCII")
}

/// The commands of code in a word, with their ranges in the text around.
fn code_commands(code: &InnerCode, depth: usize) -> Result<Vec<SimpleCommand>, NotBash> {
    let text: String = code.characters.iter().map(|(_, c)| c).collect();
    let mut written: Vec<&Range<usize>> = Vec::with_capacity(text.len());
    for (range, c) in &code.characters {
        written.extend(std::iter::repeat_n(range, c.len_utf8()));
    }
    let end = written.last().map_or(0, |range| range.end);
    let moved = |range: &Range<usize>| {
        let start = written.get(range.start).map_or(end, |r| r.start);
        start..written[range.start..range.end].last().map_or(start, |r| r.end)
    };
    let (_, mut commands) =
        understood(&text, depth + 1).map_err(|e| NotBash { range: moved(&e.range), ..e })?;
    for c in &mut commands {
        c.relocate(&code.nesting, &moved);
    }
    Ok(commands)
}
