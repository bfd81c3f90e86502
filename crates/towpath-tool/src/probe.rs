//! Several probes of one tool become its verdict: the one that decides, and the check that would be
//! stored. A broken probe decides against any later help.

use crate::detector::{judge, not_the_tool, outweighs};
use crate::observation::Observation;
use crate::repair_metadata::{RepairMetadata, RepairMethod};
use crate::verdict::{Evidence, EvidenceKind, Judgement, Verdict};
use crate::verify_analysis::verify_section;
use crate::verify_section::VerifySection;
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
    let is_other = |probe: &&Probe| probe.judgement.evidence.kind == EvidenceKind::OtherProgram;
    let others: Vec<&Observation> =
        probes.iter().filter(is_other).map(|probe| &probe.observation).collect();
    let counted = probes.iter().map(|probe| {
        let counts = |other: &&Observation| outweighs(&probe.observation, other);
        match probe.judgement.verdict.works() && !others.iter().all(counts) {
            true => Probe { judgement: not_the_tool(probe.judgement.clone()), ..probe.clone() },
            false => probe.clone(),
        }
    });
    combine_of_tool(&counted.collect::<Vec<Probe>>())
}

fn combine_of_tool(probes: &[Probe]) -> ToolVerdict {
    let greatest = probes.iter().map(|probe| probe.judgement.verdict).max();
    let decides = probes.iter().find(|probe| Some(probe.judgement.verdict) == greatest);
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
