//! Proves that an install works, and repairs the check of a generated recipe that is wrong about it. The
//! order is that of the original design: run the check; if it fails, analyse what was printed and run the
//! repaired check in a new sandbox; then other commands; and only if nothing is known after that, and
//! the user has allowed it, a model. The recipe that comes in is never changed, and a recipe that its
//! user wrote is never repaired.

use super::model_proposal::{RepairModel, read_proposal, repair_prompt};
use crate::probe::{Probe, combine};
use crate::repair_metadata::{RepairMetadata, RepairMethod};
use crate::tool_recipe::ToolRecipe;
use crate::verdict::Verdict;
use crate::verification::{
    CheckRun, ProbeReport, ProgramUnderTest, SandboxNote, SandboxSetup, VerifyError, probe,
    run_check,
};
use crate::verify_section::{CheckFailure, CheckOutcome, VerifyMode, VerifySection};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use towpath_process::sandbox::{SandboxError, SandboxSession};

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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
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

impl From<SandboxError> for ProveError {
    fn from(error: SandboxError) -> ProveError {
        ProveError::Verify(error.into())
    }
}

/// Proves that an install works, or returns why it is not known to.
pub fn prove(
    request: &ProofRequest<'_>,
    model: Option<&mut dyn RepairModel>,
) -> Result<Proof, ProveError> {
    let (setup, main, declared) = (request.setup, request.main(), &request.recipe.verify);
    let mut session = setup.open()?;
    let first = request.run(declared, &mut session)?;
    let passed = first.outcome.passed();
    let mut probes = vec![Probe::new(first.observation.clone())];
    if !request.may_repair {
        let verdict = combine(&probes).verdict;
        return match passed {
            true if verdict.works() => request.proof(declared.clone(), first, verdict, None),
            true => request.proof(declared.clone(), first, Verdict::Alive, None),
            false => Err(request.refused(first, verdict, None, None, None)),
        };
    }
    main.prove_name(&mut probes, setup, &mut session)?;
    let answer = combine(&probes);
    // An answer that a check for any version accepts may still be another program's.
    if passed && answer.verdict == Verdict::WorksByVersion {
        let pattern = declared.pattern.clone().or_else(|| probes[0].judgement.pattern.clone());
        let section = VerifySection { pattern, ..declared.clone() };
        return request.proof(section, first, answer.verdict, None);
    }
    let mut attempt = Attempt::default();
    // What the failed check itself has printed may be enough.
    if let Some(section) = answer.verify.filter(|_| answer.verdict != Verdict::Alive) {
        let method = RepairMethod::OutputDetection;
        if let Some(proof) = request.accept(section, answer.verdict, method, &attempt)? {
            return Ok(proof);
        }
    }
    let report = main.probe_after(probes, setup, &mut session)?;
    let verdict = report.verdict.verdict;
    if let Some((section, metadata)) = report.verdict.repair(declared)
        && let Some(proof) = request.accept(section, verdict, metadata.method, &attempt)?
    {
        return Ok(proof);
    }
    // A model is never asked about what is known to be broken.
    let answer = match model.filter(|_| verdict == Verdict::Unknown) {
        Some(model) => match request.ask(model, &report.probes, &mut attempt)? {
            Ok(proof) => return Ok(proof),
            Err(refusal) => Some(refusal),
        },
        None => None,
    };
    Err(request.refused(first, verdict, Some(report), Some(attempt), answer))
}

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
        let (name, program) =
            found.expect("an install without programs is refused when it is built");
        self.tested(name, program)
    }

    fn run(
        &self,
        section: &VerifySection,
        session: &mut SandboxSession,
    ) -> Result<CheckRun, VerifyError> {
        run_check(section, self.version, &self.main(), self.programs, self.setup, session)
    }

    /// Runs a repaired check in a sandbox that no earlier run has touched. It counts only if it passes.
    fn accept(
        &self,
        section: VerifySection,
        verdict: Verdict,
        method: RepairMethod,
        attempt: &Attempt,
    ) -> Result<Option<Proof>, ProveError> {
        let check = self.run(&section, &mut self.setup.open()?)?;
        if !check.outcome.passed() {
            return Ok(None);
        }
        let verdict = match section.mode {
            VerifyMode::Version => Verdict::WorksByVersion,
            VerifyMode::Output => verdict,
        };
        let attempt = Attempt { method: Some(method), ..attempt.clone() };
        self.proof(section, check, verdict, Some(attempt)).map(Some)
    }

    /// Asks a model for a check. The error is why none was accepted.
    fn ask(
        &self,
        model: &mut dyn RepairModel,
        probes: &[Probe],
        attempt: &mut Attempt,
    ) -> Result<Result<Proof, String>, ProveError> {
        let mut refused: Vec<String> = Vec::new();
        while attempt.model_calls < MOST_PROPOSALS {
            let prompt = repair_prompt(self.recipe, probes, self.programs, &refused);
            attempt.model_calls += 1;
            let began = Instant::now();
            let answer = model.ask(&prompt);
            attempt.model_took = Some(attempt.model_took.unwrap_or_default() + began.elapsed());
            let section = match answer {
                Err(error) => return Ok(Err(error)),
                Ok(answer) => read_proposal(&answer, self.programs),
            };
            match section {
                Err(problem) => refused.push(problem),
                Ok(section) => {
                    let shown = section.command.clone();
                    match self.accept(section, Verdict::Alive, RepairMethod::Model, attempt)? {
                        Some(proof) => return Ok(Ok(proof)),
                        None => refused.push(format!("`{shown}`: the check does not pass")),
                    }
                }
            }
        }
        let last = refused.pop().unwrap_or_default();
        Ok(Err(format!("the model's proposals were refused; the last one: {last}")))
    }

    /// The proof by a check that has passed, with a probe of every program.
    fn proof(
        &self,
        section: VerifySection,
        check: CheckRun,
        verdict: Verdict,
        attempt: Option<Attempt>,
    ) -> Result<Proof, ProveError> {
        let version_found = match &check.outcome {
            CheckOutcome::Passed { version, .. } => version.clone(),
            CheckOutcome::Failed(_) => None,
        };
        let mut session = self.setup.open()?;
        let reports = self
            .programs
            .iter()
            .map(|(name, program)| probe(&self.tested(name, program), self.setup, &mut session));
        let reports = reports.collect::<Result<Vec<_>, _>>()?;
        let method = attempt.as_ref().and_then(|attempt| attempt.method);
        let repair = |method| RepairMetadata::new(&self.recipe.verify, &section, method);
        Ok(Proof {
            repair: method.map(repair),
            recipe: self.recipe.with_verify(section),
            verdict,
            version_found,
            check,
            reports,
            attempt,
            sandbox: self.setup.note(),
        })
    }

    fn refused(
        &self,
        first: CheckRun,
        verdict: Verdict,
        report: Option<ProbeReport>,
        attempt: Option<Attempt>,
        model: Option<String>,
    ) -> ProveError {
        let failure = match first.outcome {
            CheckOutcome::Failed(failure) => failure,
            CheckOutcome::Passed { .. } => CheckFailure::OtherProgram,
        };
        ProveError::NotVerified(Box::new(NotVerified {
            verdict,
            failure,
            reports: report.into_iter().collect(),
            attempt,
            sandbox: self.setup.note(),
            model,
        }))
    }
}
