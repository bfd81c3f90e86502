//! The verdict on one probe, by its evidence and not by its exit code. The steps are tried in their order,
//! and the first one that finds something decides: the file, the end of the process, signs of a broken
//! install, a version, help, an answer about our argument, a complaint about the environment. A broken
//! install comes before all good signs, since it may print them too.

mod answer;
mod broken;
mod environment;
mod help;
mod identity;
mod line_table;
mod process_end;
mod reading;
mod version;

use crate::observation::{Observation, made_up_name};
use crate::printed_text::Line;
use crate::verdict::{Evidence, EvidenceKind, Judgement, Verdict};
use line_table::LineTable;
use reading::Reading;
use regex::Regex;

type Step = fn(&Reading<'_>) -> Option<Judgement>;

const STEPS: &[Step] = &[
    process_end::judge_file,
    process_end::judge_end,
    broken::judge,
    version::judge,
    help::judge,
    answer::judge,
    environment::judge,
];

/// Judges one run of a program. A run under another name only shows whether it prints that name.
pub fn judge(observation: &Observation) -> Judgement {
    let reading = Reading::new(observation);
    if observation.is_renamed() {
        return unknown(&reading);
    }
    let found = STEPS.iter().find_map(|step| step(&reading));
    let mut judgement = found.unwrap_or_else(|| unknown(&reading));
    if judgement.verdict.works() && identity::is_other_program(&reading) {
        judgement = not_the_tool(judgement);
    }
    if !matches!(judgement.verdict, Verdict::Broken | Verdict::WorksByVersion) {
        judgement.next_probe = advertised_probe(&reading);
    }
    judgement
}

/// Good signs of another program prove nothing.
pub(crate) fn not_the_tool(judgement: Judgement) -> Judgement {
    let evidence = Evidence { kind: EvidenceKind::OtherProgram, text: judgement.evidence.text };
    Judgement::new(Verdict::Unknown, evidence)
}

/// Whether a good sign counts beside an answer of another program: the answer has the tool's name, and where
/// the other program has printed its title, the expected version too.
pub(crate) fn outweighs(good: &Observation, other: &Observation) -> bool {
    let good = Reading::new(good);
    match identity::has_other_title(&Reading::new(other)) {
        true => version::find(&good).is_some_and(|found| found.is_expected(&good)),
        false => good.names_tool(),
    }
}

pub(crate) fn prints_name(observation: &Observation) -> bool {
    Reading::new(observation).names_tool()
}

/// Whether the name that a program prints is the one that it was started by: in the same run under another
/// name that one is in its position, and the tool's is nowhere.
pub(crate) fn is_echo(run: &Observation, renamed: &Observation) -> bool {
    let (own, other) = (Reading::new(run), Reading::new(renamed));
    // `/opt/bin/NAME` and `NAME` are the same, and so are other widths of the text around it.
    let words = |line: &Line, name: &str| {
        let path = Regex::new(&format!(r"(?i)(?:[^\s'`\x22]*/)?{}", regex::escape(name)));
        let plain = path.expect("an escaped name").replace_all(&line.text, "\0");
        plain.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let name = made_up_name(&run.tool);
    let printed: Vec<_> = other.own_lines().map(|line| words(line, &name)).collect();
    let mut naming = own.own_lines().filter(|line| own.names.is_in(&line.lower));
    run.arguments() == renamed.arguments()
        && own.names_tool()
        && !other.names_tool()
        && naming.all(|line| printed.contains(&words(line, &run.tool)))
}

fn unknown(reading: &Reading<'_>) -> Judgement {
    let last = reading.own_lines().last().map(|line| line.text.trim().to_owned());
    let kind = match last {
        None => EvidenceKind::Silence,
        Some(_) if reading.is_uncaught => EvidenceKind::UncaughtException,
        Some(_) => EvidenceKind::NoEvidence,
    };
    Judgement::new(Verdict::Unknown, Evidence { kind, text: last })
}

/// Arguments in a list of commands or options (`listed`), or in a sentence that sends the user there.
static ADVERTISED: LineTable<&str> = LineTable::new("advertised");

/// The command that a program's own text suggests, unless it is the one that was run: `try "ip -help"`, a
/// `version` in the list of its commands, `-V  print version`. Bare words are tried only when they are
/// advertised like this: tried blindly, some programs take them for a file to write.
fn advertised_probe(reading: &Reading<'_>) -> Option<String> {
    let program = reading.observation.command.split_whitespace().next()?;
    ["listed", "named"].into_iter().find_map(|wanted| {
        let rows = reading.own_lines().flat_map(|line| ADVERTISED.matches(line));
        let rows = rows.filter(|(kind, _)| *kind == wanted);
        let mut arguments = rows.filter_map(|(_, captures)| captures.name("argument"));
        let is_new = |argument: &regex::Match<'_>| {
            !reading.arguments.iter().any(|given| given == argument.as_str())
        };
        arguments.find(is_new).map(|argument| format!("{program} {}", argument.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_used() {
        ADVERTISED.compile_all();
    }
}
