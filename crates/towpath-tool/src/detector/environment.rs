//! Step 6: the program needs something that this environment does not have. That is neither a fault of
//! the install nor a proof that it works.

use super::line_table::LineTable;
use super::reading::Reading;
use crate::printed_text::Line;
use crate::verdict::EvidenceKind::{self, *};
use crate::verdict::{Evidence, Judgement, Verdict};

static ENVIRONMENT: LineTable<EvidenceKind> = LineTable::new("missing-from-environment");

pub(super) fn judge(reading: &Reading<'_>) -> Option<Judgement> {
    let evidence = find(reading, |_| true)?;
    Some(match lacks_only_display(reading) {
        None => Judgement::new(Verdict::Environment, evidence),
        Some(pattern) => Judgement {
            pattern: Some(pattern),
            warnings: vec!["without a display it was not seen working".to_owned()],
            ..Judgement::new(Verdict::Alive, evidence)
        },
    })
}

/// The complaint of a program that lacks nothing but a display: its file is whole, opens displays and has the
/// tool's name, and every line that it prints is about the display. No display program shows more here.
fn lacks_only_display(reading: &Reading<'_>) -> Option<String> {
    let name = reading.observation.file.as_ref()?.display_program()?;
    let complaint = |line: &Line| {
        let mut found = ENVIRONMENT.matches(line).filter(|(kind, _)| *kind == Display);
        found.next().map(|(_, captures)| captures[0].trim().to_owned())
    };
    let complaints: Option<Vec<String>> = reading.own_lines().map(complaint).collect();
    complaints?.into_iter().next().filter(|_| reading.names.is_name(name))
}

/// Entries of lists, which describe and do not complain: options, and names of errors.
static LISTED: LineTable<&str> = LineTable::new("listed");

/// Whether a line complains about a missing display or terminal.
pub(super) fn lacks_screen(line: &Line) -> bool {
    let mut found = ENVIRONMENT.matches(line);
    LISTED.find(line).is_none() && found.any(|(kind, _)| matches!(kind, Display | Terminal))
}

/// Whether a line complains about the environment.
pub(super) fn is_complaint(line: &Line) -> bool {
    ENVIRONMENT.find(line).is_some()
}

/// Whether a line complains about what another machine may have. A license belongs to the program.
pub(super) fn is_complaint_of_machine(line: &Line) -> bool {
    is_complaint(line) && !ENVIRONMENT.matches(line).any(|(kind, _)| kind == License)
}

/// The first line that complains about the environment, of the kinds that are asked for.
pub(super) fn find(
    reading: &Reading<'_>,
    wanted: impl Fn(EvidenceKind) -> bool,
) -> Option<Evidence> {
    let mut lines = reading.own_lines().filter(|line| LISTED.find(line).is_none());
    lines.find_map(|line| {
        let (kind, _) = ENVIRONMENT.matches(line).find(|(kind, _)| wanted(*kind))?;
        Some(line.evidence(kind))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_used() {
        ENVIRONMENT.compile_all();
        LISTED.compile_all();
    }
}
