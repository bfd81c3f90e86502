//! The verdict on one probe, by its evidence and not by its exit code. The steps are tried in their order,
//! and the first one that finds something decides: the file, the end of the process, signs of a broken
//! install, a version, help, an answer about our argument, a complaint about the environment. A broken
//! install comes before all good signs, since it may print them too.

mod advertised_next_probe;
mod another_program_than_expected;
mod answer_about_argument;
mod broken_install_output;
mod file_fault_or_process_end;
mod first_line_version;
mod help_output;
mod line_regex_table;
mod missing_from_environment;
mod prepared_observation;
mod uncaught_exception;
mod version_masks;
mod version_output;

use crate::probe_observation::Observation;
use crate::verdict_and_evidence::{Evidence, EvidenceKind, Judgement, Verdict};
use prepared_observation::Reading;

type Step = fn(&Reading<'_>) -> Option<Judgement>;

const STEPS: &[Step] = &[
    file_fault_or_process_end::judge_file,
    file_fault_or_process_end::judge_end,
    broken_install_output::judge,
    version_output::judge,
    help_output::judge,
    answer_about_argument::judge,
    missing_from_environment::judge,
];

/// Judges one run of a program.
pub fn judge(observation: &Observation) -> Judgement {
    let reading = Reading::new(observation);
    let found = STEPS.iter().find_map(|step| step(&reading));
    let mut judgement = found.unwrap_or_else(|| unknown(&reading));
    if judgement.verdict.works() && another_program_than_expected::is_other_program(&reading) {
        judgement = not_the_tool(judgement);
    }
    if !matches!(judgement.verdict, Verdict::Broken | Verdict::WorksByVersion) {
        judgement.next_probe = advertised_next_probe::next_probe(&reading);
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
    match another_program_than_expected::has_other_title(&Reading::new(other)) {
        true => version_output::find(&good).is_some_and(|found| found.is_expected(&good)),
        false => another_program_than_expected::names_tool(&good),
    }
}

fn unknown(reading: &Reading<'_>) -> Judgement {
    let last = reading.own_lines().last().map(|(_, line)| line.text.trim().to_owned());
    let kind = match last {
        None => EvidenceKind::Silence,
        Some(_) if reading.exception.uncaught => EvidenceKind::UncaughtException,
        Some(_) => EvidenceKind::NoEvidence,
    };
    Judgement::new(Verdict::Unknown, Evidence { kind, text: last })
}
