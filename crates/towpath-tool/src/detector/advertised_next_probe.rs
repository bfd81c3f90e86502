//! The command that a program's own text suggests: `try "ip -help"`, a `version` in the list of its
//! commands, `-V  print version`. Bare words are tried only when they are advertised like this: tried
//! blindly, some programs take them for a file to write.

use super::line_regex_table::LineTable;
use super::prepared_observation::Reading;
use crate::clean_printed_text::Line;
use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Advertised {
    /// In a sentence that sends the user there.
    Named,
    /// In a list of commands or options.
    Listed,
}

static ADVERTISED: LineTable<Advertised> = LineTable::new("advertised");

/// The whole command, unless it is the one that was run.
pub(super) fn next_probe(reading: &Reading<'_>) -> Option<String> {
    let program = reading.observation.command.split_whitespace().next()?;
    let lines: Vec<&Line> = reading.own_lines().map(|(_, line)| line).collect();
    [Advertised::Listed, Advertised::Named].into_iter().find_map(|wanted| {
        let argument = lines.iter().find_map(|line| advertised(reading, line, wanted))?;
        Some(format!("{program} {argument}"))
    })
}

fn advertised(reading: &Reading<'_>, line: &Line, wanted: Advertised) -> Option<String> {
    let rows = ADVERTISED.matches(line).filter(|(kind, _)| *kind == wanted);
    let mut arguments = rows.filter_map(|(_, captures)| captures.name("argument"));
    let new = |argument: &str| !reading.arguments.iter().any(|given| given == argument);
    arguments.find(|argument| new(argument.as_str())).map(|argument| argument.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_used() {
        ADVERTISED.compile_all();
    }
}
