//! Which probe to run next. The version is asked for first, then help; bare words only when the tool
//! itself has advertised them, and never nothing at all: a program without arguments may do its work.

use crate::observation::ProcessEnd;
use crate::probe::Probe;
use crate::verdict::{EvidenceKind, Verdict};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProbeRequest {
    /// The program of which the tool is a subcommand: `cargo` for `cargo-x`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<&'static str>,
    pub arguments: Vec<String>,
    /// With a pseudo-terminal.
    pub terminal: bool,
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
    let plain = |argument: &str| ProbeRequest {
        host: None,
        arguments: vec![argument.to_owned()],
        terminal: false,
    };
    rung.map(|(argument, _)| plain(argument)).or_else(|| through_host(tool, probes))
}

/// A crash for want of a terminal is tried again with one.
fn with_terminal(last: &Probe) -> Option<ProbeRequest> {
    let crashed = !matches!(&last.observation.end, ProcessEnd::Exited(code) if *code < 128);
    let lacks = last.judgement.evidence.kind == EvidenceKind::Terminal;
    let request =
        || ProbeRequest { host: None, arguments: last.observation.arguments(), terminal: true };
    (crashed && lacks && !last.observation.terminal).then(request)
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
    (!tried).then_some(ProbeRequest { host: Some(host), arguments, terminal: false })
}
