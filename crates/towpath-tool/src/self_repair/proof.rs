//! The order in which an install is proven to work.

use super::model_proposal::{RepairModel, read_proposal, repair_prompt};
use crate::evaluate_verify_section::{CheckFailure, CheckOutcome};
use crate::probe::{Probe, combine};
use crate::repair_metadata::{RepairMetadata, RepairMethod};
use crate::tool_recipe::ToolRecipe;
use crate::verdict::Verdict;
use crate::verification::{
    CheckRun, ProbeReport, ProgramUnderTest, SandboxNote, SandboxSetup, VerifyError, probe,
    probe_after, run_check,
};
use crate::verify_analysis::{analyze, verify_section};
use crate::verify_section::{VerifyMode, VerifySection};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a model may propose a check.
const MOST_PROPOSALS: usize = 2;

/// An install that has to be proven to work.
#[derive(Debug)]
pub struct ProofRequest<'a> {
    pub recipe: &'a ToolRecipe,
    pub version: &'a str,
    pub install: &'a Path,
    /// By name and absolute path.
    pub programs: &'a [(String, PathBuf)],
    pub setup: &'a SandboxSetup,
    /// The recipe was generated: its check may be repaired.
    pub may_repair: bool,
}

/// What proves that an install works.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The recipe with the check that passed.
    pub recipe: ToolRecipe,
    /// Of the program that decides.
    pub verdict: Verdict,
    pub version_found: Option<String>,
    pub check: CheckRun,
    /// One for each program of the install.
    pub reports: Vec<ProbeReport>,
    pub repair: Option<RepairMetadata>,
    pub attempt: Option<Attempt>,
    pub sandbox: SandboxNote,
}

/// A repair that was tried, for whoever counts them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// How the check was found; none if it was not.
    pub method: Option<RepairMethod>,
    pub model_calls: usize,
    /// How long the model took, if one was asked.
    pub model_took: Option<Duration>,
}

/// The install is not known to work.
#[derive(Debug, Clone)]
pub struct NotVerified {
    pub verdict: Verdict,
    /// Why the check of the recipe failed.
    pub failure: CheckFailure,
    pub reports: Vec<ProbeReport>,
    pub attempt: Option<Attempt>,
    pub sandbox: SandboxNote,
    /// What became of asking a model.
    pub model: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    #[error("the install is not known to work: {}", .0.failure)]
    NotVerified(Box<NotVerified>),
    #[error(transparent)]
    Verify(#[from] VerifyError),
}

impl From<towpath_process::sandbox::SandboxError> for ProveError {
    fn from(error: towpath_process::sandbox::SandboxError) -> ProveError {
        ProveError::Verify(error.into())
    }
}

/// Proves that an install works, or returns why it is not known to.
pub fn prove(
    request: &ProofRequest<'_>,
    model: Option<&mut dyn RepairModel>,
) -> Result<Proof, ProveError> {
    let mut session = request.setup.open()?;
    let first = request.run(&request.recipe.verify, &mut session)?;
    let passed = first.outcome.passed();
    if !request.may_repair {
        return match passed {
            true => {
                let main = combine(&[Probe::new(first.observation.clone())]);
                let verdict = if main.verdict.works() { main.verdict } else { Verdict::Alive };
                request.proof(request.recipe.verify.clone(), first, verdict, None, &mut session)
            }
            false => request.refused(first, None, None),
        };
    }
    // An answer that a check for any version accepts may still be another program's.
    let probe = Probe::new(first.observation.clone());
    if passed && probe.judgement.verdict == Verdict::WorksByVersion {
        let section = refined(&request.recipe.verify, &probe);
        return request.proof(section, first, Verdict::WorksByVersion, None, &mut session);
    }
    let mut repair = Repair { request, first, report: None, model_calls: 0, model_took: None };
    if let Some(proof) = repair.by_output(&probe)? {
        return Ok(proof);
    }
    if let Some(proof) = repair.by_other_commands(probe, &mut session)? {
        return Ok(proof);
    }
    match model {
        Some(model) => repair.by_model(model),
        None => repair.failed(None),
    }
}

/// The generated check with the pattern that was found, where the check itself was right.
fn refined(section: &VerifySection, probe: &Probe) -> VerifySection {
    let pattern = section.pattern.clone().or_else(|| probe.judgement.pattern.clone());
    VerifySection { pattern, ..section.clone() }
}

type Session = towpath_process::sandbox::SandboxSession;

impl ProofRequest<'_> {
    fn tested(&self, name: &str, program: &Path) -> ProgramUnderTest {
        let metadata = &self.recipe.metadata;
        let mut aliases = metadata.aliases.clone();
        aliases.push(metadata.name.clone());
        ProgramUnderTest {
            program: program.to_owned(),
            name: name.to_owned(),
            aliases,
            expected_version: Some(self.version.to_owned()),
            install: Some(self.install.to_owned()),
        }
    }

    /// The program that decides.
    fn main(&self) -> ProgramUnderTest {
        let name = self.recipe.main_binary();
        let found = self.programs.iter().find(|(known, _)| known == name);
        let found = found.or_else(|| self.programs.first());
        match found {
            Some((name, program)) => self.tested(name, program),
            None => self.tested(name, &self.install.join("bin").join(name)),
        }
    }

    fn run(&self, section: &VerifySection, session: &mut Session) -> Result<CheckRun, ProveError> {
        Ok(run_check(section, self.version, &self.main(), self.programs, self.setup, session)?)
    }

    /// Runs a repaired check in a sandbox that no earlier run has touched.
    fn run_again(&self, section: &VerifySection) -> Result<CheckRun, ProveError> {
        self.run(section, &mut self.setup.open()?)
    }

    /// Probes every program; the one that decides has been judged already.
    fn reports(&self, session: &mut Session) -> Result<Vec<ProbeReport>, ProveError> {
        let probed = self
            .programs
            .iter()
            .map(|(name, program)| Ok(probe(&self.tested(name, program), self.setup, session)?));
        probed.collect()
    }

    fn proof(
        &self,
        section: VerifySection,
        check: CheckRun,
        verdict: Verdict,
        attempt: Option<(RepairMetadata, Attempt)>,
        session: &mut Session,
    ) -> Result<Proof, ProveError> {
        let version_found = match &check.outcome {
            CheckOutcome::Passed { version, .. } => version.clone(),
            CheckOutcome::Failed(_) => None,
        };
        let reports = self.reports(session)?;
        let (repair, attempt) = attempt.unzip();
        Ok(Proof {
            recipe: self.recipe.with_verify(section),
            verdict,
            version_found,
            check,
            reports,
            repair,
            attempt,
            sandbox: self.setup.note(),
        })
    }

    fn refused(
        &self,
        first: CheckRun,
        report: Option<ProbeReport>,
        attempt: Option<(Attempt, Option<String>)>,
    ) -> Result<Proof, ProveError> {
        let judged = combine(&[Probe::new(first.observation.clone())]);
        let verdict = report.as_ref().map_or(judged.verdict, |report| report.verdict.verdict);
        let failure = match first.outcome {
            CheckOutcome::Failed(failure) => failure,
            CheckOutcome::Passed { .. } => CheckFailure::OtherProgram,
        };
        let (attempt, model) = attempt.unzip();
        Err(ProveError::NotVerified(Box::new(NotVerified {
            verdict,
            failure,
            reports: report.into_iter().collect(),
            attempt,
            sandbox: self.setup.note(),
            model: model.flatten(),
        })))
    }
}

/// A repair under way.
struct Repair<'a, 'r> {
    request: &'a ProofRequest<'r>,
    first: CheckRun,
    report: Option<ProbeReport>,
    model_calls: usize,
    model_took: Option<Duration>,
}

impl Repair<'_, '_> {
    /// What the failed check itself has printed may be enough.
    fn by_output(&mut self, probe: &Probe) -> Result<Option<Proof>, ProveError> {
        let analysis = analyze(&probe.observation);
        let section = verify_section(&probe.observation, &probe.judgement);
        let Some(section) = section.filter(|_| analysis.repairable) else { return Ok(None) };
        self.accept(section, probe.judgement.verdict, RepairMethod::OutputDetection)
    }

    fn by_other_commands(
        &mut self,
        first: Probe,
        session: &mut Session,
    ) -> Result<Option<Proof>, ProveError> {
        let request = self.request;
        let report = probe_after(&request.main(), request.setup, session, vec![first])?;
        let found = report.verdict.repair(&request.recipe.verify);
        let verdict = report.verdict.verdict;
        self.report = Some(report);
        match found.filter(|_| verdict.works()) {
            Some((section, metadata)) => self.accept(section, verdict, metadata.method),
            None => Ok(None),
        }
    }

    /// Only where nothing is known: a model is never asked about what is known to be broken.
    fn by_model(mut self, model: &mut dyn RepairModel) -> Result<Proof, ProveError> {
        let verdict = self.report.as_ref().map_or(Verdict::Unknown, |r| r.verdict.verdict);
        if verdict != Verdict::Unknown {
            return self.failed(None);
        }
        let mut refused: Vec<String> = Vec::new();
        while self.model_calls < MOST_PROPOSALS {
            let probes = self.report.as_ref().map_or(&[][..], |report| &report.probes);
            let prompt =
                repair_prompt(self.request.recipe, probes, self.request.programs, &refused);
            self.model_calls += 1;
            let began = Instant::now();
            let answer = model.ask(&prompt);
            self.model_took = Some(self.model_took.unwrap_or_default() + began.elapsed());
            let section = match answer {
                Err(error) => return self.failed(Some(error)),
                Ok(answer) => read_proposal(&answer.text, self.request.programs),
            };
            match section {
                Err(problem) => refused.push(problem),
                Ok(section) => {
                    let shown = section.command.clone();
                    match self.accept(section, Verdict::Alive, RepairMethod::Model)? {
                        Some(proof) => return Ok(proof),
                        None => refused.push(format!("`{shown}`: the check does not pass")),
                    }
                }
            }
        }
        let last = refused.pop().unwrap_or_default();
        self.failed(Some(format!("the model's proposals were refused; the last one: {last}")))
    }

    /// Runs a repaired check. It counts only if it passes.
    fn accept(
        &mut self,
        section: VerifySection,
        verdict: Verdict,
        method: RepairMethod,
    ) -> Result<Option<Proof>, ProveError> {
        let check = self.request.run_again(&section)?;
        if !check.outcome.passed() {
            return Ok(None);
        }
        let metadata = RepairMetadata::new(&self.request.recipe.verify, &section, method);
        let attempt = self.attempt(Some(method));
        let verdict = match section.mode {
            VerifyMode::Version => Verdict::WorksByVersion,
            VerifyMode::Output => verdict,
        };
        let mut session = self.request.setup.open()?;
        let found = Some((metadata, attempt));
        self.request.proof(section, check, verdict, found, &mut session).map(Some)
    }

    fn attempt(&self, method: Option<RepairMethod>) -> Attempt {
        Attempt { method, model_calls: self.model_calls, model_took: self.model_took }
    }

    fn failed(self, model: Option<String>) -> Result<Proof, ProveError> {
        let attempt = self.attempt(None);
        self.request.refused(self.first, self.report, Some((attempt, model)))
    }
}
