//! An observation prepared for the steps of the detector: cleaned lines of both streams, the names of the
//! tool, the arguments that were given to it, and which lines only quote source code of a traceback.

use super::line_table::LineTable;
use crate::observation::Observation;
use crate::output_pattern::pattern_of_line;
use crate::printed_text::{Line, lines_of};
use crate::tool_names::ToolNames;
use std::ops::Range;

pub(super) struct Reading<'a> {
    pub observation: &'a Observation,
    /// stdout, then stderr.
    pub lines: Vec<Line>,
    /// How many of the lines are of stdout.
    pub of_stdout: usize,
    pub names: ToolNames,
    pub arguments: Vec<String>,
    /// Which lines belong to the stack of an uncaught exception. They quote source code, in which anything
    /// may be written.
    quoted: Vec<bool>,
    /// There is a stack, so the program ended by an exception.
    pub is_uncaught: bool,
}

impl<'a> Reading<'a> {
    pub fn new(observation: &'a Observation) -> Reading<'a> {
        let mut lines = lines_of(&observation.stdout);
        let of_stdout = lines.len();
        lines.extend(lines_of(&observation.stderr));
        let quoted = stack_lines(&lines);
        let is_uncaught = quoted.contains(&true);
        let others = observation.aliases.iter().map(String::as_str);
        let names = ToolNames::new(&observation.tool, others);
        let arguments = observation.arguments();
        Reading { observation, lines, of_stdout, names, arguments, quoted, is_uncaught }
    }

    /// The lines that the program wrote itself: no quoted source code, no stack.
    pub fn own_lines(&self) -> impl Iterator<Item = &Line> {
        self.own_lines_of(0..self.lines.len())
    }

    pub fn own_lines_of(&self, lines: Range<usize>) -> impl Iterator<Item = &Line> {
        let quoted = &self.quoted[lines.clone()];
        let own = self.lines[lines].iter().zip(quoted);
        own.filter(|(line, quoted)| !**quoted && !line.is_blank()).map(|(line, _)| line)
    }

    /// Whether a line of what was printed has the tool's name.
    pub fn names_tool(&self) -> bool {
        self.own_lines().any(|line| self.names.is_in(&line.lower))
    }

    /// Whether the program was asked for its version.
    pub fn asks_version(&self) -> bool {
        let asks = |argument: &String| argument.to_lowercase().trim_matches('-').starts_with('v');
        self.arguments.iter().any(asks)
    }

    /// Whether a text is one of our arguments, perhaps in quotes or at the end of a path.
    pub fn is_argument(&self, text: &str) -> bool {
        let text = text.trim_matches(|c: char| "'\"`‘’“”:,. ".contains(c));
        let last = text.rsplit('/').next().unwrap_or(text);
        self.arguments.iter().any(|argument| argument == text || argument == last)
    }

    /// Whether a line quotes one of our arguments: an option as a word, a bare word only in quotes.
    pub fn quotes_argument(&self, line: &str) -> bool {
        self.arguments.iter().any(|argument| match argument.starts_with('-') {
            true => has_option(line, argument),
            false => {
                let quotes =
                    [('\'', '\''), ('"', '"'), ('`', '\''), ('`', '`'), ('‘', '’'), ('“', '”')];
                quotes
                    .iter()
                    .any(|(open, close)| line.contains(&format!("{open}{argument}{close}")))
            }
        })
    }

    /// The pattern with which a stored check finds this line again.
    pub fn pattern_of_line(&self, line: &str) -> Option<String> {
        pattern_of_line(line, &self.names, self.observation.install_path.as_deref())
    }

    /// How the process ended, when it ended by itself.
    pub fn exit_code(&self) -> Option<i32> {
        self.observation.exit_code()
    }
}

/// Lines of a stack. After a line of the kind `block` the indented ones belong to it.
static STACK: LineTable<&str> = LineTable::new("stack");

fn stack_lines(lines: &[Line]) -> Vec<bool> {
    let mut inside = false;
    let mut is_quoted = |line: &Line| {
        let found = STACK.find(line);
        inside &= line.text.is_empty() || line.text.starts_with([' ', '\t']);
        let quoted = inside || found.is_some();
        inside |= found == Some("block");
        quoted
    };
    lines.iter().map(&mut is_quoted).collect()
}

/// Whether an option is there as a word: not as a part of a longer one.
fn has_option(line: &str, option: &str) -> bool {
    line.match_indices(option).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + option.len()..].chars().next();
        let joined =
            |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_');
        !joined(before) && !joined(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_used() {
        STACK.compile_all();
    }
}
