//! The probes of one tool: which one is next, and the verdict of all together, with the check that would be
//! stored. The version is asked for first, then help; bare words only when the tool itself has advertised
//! them, and never nothing at all: a program without arguments may do its work. A broken probe decides
//! against any later help.

use crate::detector::{is_echo, judge, not_the_tool, outweighs, prints_name};
use crate::observation::{Observation, ProcessEnd};
use crate::repair_metadata::{RepairMetadata, RepairMethod};
use crate::verdict::{Evidence, EvidenceKind, Judgement, Verdict};
use crate::verify_analysis::verify_section;
use crate::verify_section::VerifySection;
use crate::version_token::same_version;
use serde::Serialize;

/// One run and its verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    pub observation: Observation,
    pub judgement: Judgement,
}

impl Probe {
    pub fn new(observation: Observation) -> Probe {
        let judgement = judge(&observation);
        Probe { observation, judgement }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolVerdict {
    pub verdict: Verdict,
    pub evidence: Evidence,
    /// The command of the probe that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_found: Option<String>,
    /// The check that would be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifySection>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The verdict on a tool, from all of its probes in their order.
pub fn combine(probes: &[Probe]) -> ToolVerdict {
    let counted = counted(probes);
    let decides = deciding(&counted);
    let judgement = decides.map_or_else(
        || Judgement::new(Verdict::Unknown, Evidence { kind: EvidenceKind::Silence, text: None }),
        |probe| probe.judgement.clone(),
    );
    let mut warnings = judgement.warnings.clone();
    if judgement.verdict == Verdict::Alive && warnings.is_empty() {
        warnings.push("the tool answers, but it shows neither its version nor its help".to_owned());
    }
    ToolVerdict {
        verdict: judgement.verdict,
        command: decides.map(|probe| probe.observation.command.clone()),
        verify: decides.and_then(|probe| verify_section(&probe.observation, &judgement)),
        version_found: judgement.version_found,
        evidence: judgement.evidence,
        warnings,
    }
}

/// The first probe with the greatest verdict.
fn deciding(counted: &[Probe]) -> Option<&Probe> {
    let greatest = counted.iter().map(|probe| probe.judgement.verdict).max();
    counted.iter().find(|probe| Some(probe.judgement.verdict) == greatest)
}

/// The probes as they count. Good signs prove nothing where the name in them is an echo, or beside an answer
/// of another program that they do not outweigh.
fn counted(probes: &[Probe]) -> Vec<Probe> {
    let (renamed, mut counted): (Vec<Probe>, Vec<Probe>) =
        probes.iter().cloned().partition(|probe| probe.observation.is_renamed());
    disprove(&mut counted, |probe| {
        renamed.iter().any(|other| is_echo(&probe.observation, &other.observation))
    });
    let is_other = |probe: &&Probe| probe.judgement.evidence.kind == EvidenceKind::OtherProgram;
    let others: Vec<Observation> =
        counted.iter().filter(is_other).map(|probe| probe.observation.clone()).collect();
    disprove(&mut counted, |probe| {
        !others.iter().all(|other| outweighs(&probe.observation, other))
    });
    counted
}

fn disprove(probes: &mut [Probe], proves_nothing: impl Fn(&Probe) -> bool) {
    for probe in probes.iter_mut().filter(|probe| probe.judgement.verdict.works()) {
        if proves_nothing(probe) {
            probe.judgement = not_the_tool(probe.judgement.clone());
        }
    }
}

impl ToolVerdict {
    /// What a repair of this check would be: the section to store and a record of the change. None if the
    /// tool is not known to work, or if the check is as it would be written.
    pub fn repair(&self, original: &VerifySection) -> Option<(VerifySection, RepairMetadata)> {
        let repaired = self.verify.clone().filter(|section| section != original)?;
        let method = RepairMethod::of_commands(&original.command, &repaired.command);
        let metadata = RepairMetadata::new(original, &repaired, method);
        Some((repaired, metadata))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeRequest {
    /// The program of which the tool is a subcommand: `cargo` for `cargo-x`.
    pub host: Option<&'static str>,
    /// Under a name that no program has.
    pub renamed: bool,
    pub arguments: Vec<String>,
    /// With a pseudo-terminal.
    pub terminal: bool,
}

impl ProbeRequest {
    pub(crate) fn new(arguments: Vec<String>) -> ProbeRequest {
        ProbeRequest { host: None, renamed: false, arguments, terminal: false }
    }
}

/// What a rung needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// No help was seen so far.
    NoHelp,
    /// The tool's text has named it, and no help was seen.
    AdvertisedHelp,
    Advertised,
}

const LADDER: &[(&str, Needs)] = &[
    ("--version", Needs::Nothing),
    ("-V", Needs::Nothing),
    ("-version", Needs::Nothing),
    ("--help", Needs::NoHelp),
    ("-h", Needs::NoHelp),
    ("-help", Needs::AdvertisedHelp),
    ("help", Needs::AdvertisedHelp),
    ("version", Needs::Advertised),
];

/// Programs whose subcommands are programs of their own.
const HOSTS: &[(&str, &str)] = &[("cargo-", "cargo")];

/// Each one costs the whole time limit.
const MOST_TIMEOUTS: usize = 2;

/// The next probe of a tool, or none when enough is known.
pub fn next_probe(tool: &str, probes: &[Probe]) -> Option<ProbeRequest> {
    let seen = |verdict| probes.iter().filter(|p| p.judgement.verdict == verdict).count();
    let decided = seen(Verdict::Broken) + seen(Verdict::WorksByVersion) > 0;
    if decided || seen(Verdict::Timeout) >= MOST_TIMEOUTS {
        return None;
    }
    if let Some(request) = probes.last().and_then(with_terminal) {
        return Some(request);
    }
    let help = seen(Verdict::WorksByHelp) > 0;
    let rung = LADDER.iter().find(|(argument, needs)| {
        let advertised = || probes.iter().any(|probe| advertises(probe, argument));
        let wanted = match needs {
            Needs::Nothing => true,
            Needs::NoHelp => !help,
            Needs::AdvertisedHelp => !help && advertised(),
            Needs::Advertised => advertised(),
        };
        wanted && !probes.iter().any(|probe| probe.observation.arguments() == [*argument])
    });
    let plain = |(argument, _): &(&str, Needs)| ProbeRequest::new(vec![(*argument).to_owned()]);
    rung.map(plain).or_else(|| through_host(tool, probes))
}

/// The next probe to run again under another name: a program that prints the name it was started by prints
/// the other one. Where no version is expected nothing contradicts the name, and the expected version needs
/// no such proof.
pub(crate) fn next_name_proof(probes: &[Probe]) -> Option<ProbeRequest> {
    let counted = counted(probes);
    let decides = deciding(&counted).filter(|probe| probe.judgement.verdict.works())?;
    let expected = decides.observation.expected_version.as_deref()?;
    let found = decides.judgement.version_found.as_deref();
    if found.is_some_and(|found| same_version(found, expected)) {
        return None;
    }
    let good = counted.iter().filter(|probe| probe.judgement.verdict.works());
    let mut good = good.map(|probe| &probe.observation).filter(|o| prints_name(o));
    let renamed = |run: &Observation| ProbeRequest {
        renamed: true,
        terminal: run.terminal,
        ..ProbeRequest::new(run.arguments())
    };
    let unproven = good.find(|run| {
        let direct = run.command.split(' ').next() == Some(&run.tool);
        let is_proof = |other: &Probe| {
            other.observation.is_renamed() && other.observation.arguments() == run.arguments()
        };
        direct && !probes.iter().any(is_proof)
    });
    unproven.map(renamed)
}

/// A crash for want of a terminal is tried again with one.
fn with_terminal(last: &Probe) -> Option<ProbeRequest> {
    let observation = &last.observation;
    let crashed = !matches!(&observation.end, ProcessEnd::Exited(code) if *code < 128);
    let lacks = last.judgement.evidence.kind == EvidenceKind::Terminal;
    (crashed && lacks && !observation.terminal)
        .then(|| ProbeRequest { terminal: true, ..ProbeRequest::new(observation.arguments()) })
}

fn advertises(probe: &Probe, argument: &str) -> bool {
    let suggested = probe.judgement.next_probe.as_deref();
    suggested.and_then(|command| command.split_once(' ')).is_some_and(|(_, rest)| rest == argument)
}

/// `cargo x --version` for `cargo-x`.
fn through_host(tool: &str, probes: &[Probe]) -> Option<ProbeRequest> {
    let found = HOSTS.iter().find_map(|(prefix, host)| Some((tool.strip_prefix(prefix)?, *host)));
    let (subcommand, host) = found?;
    let arguments = vec![subcommand.to_owned(), "--version".to_owned()];
    let tried = probes.iter().any(|probe| probe.observation.arguments() == arguments);
    (!tried).then(|| ProbeRequest { host: Some(host), ..ProbeRequest::new(arguments) })
}
