//! The one path from a recipe to an installed tool, for `create`, `install`, `update` and a project's
//! tools: lock, fetch, build, prove, publish.

use super::ask_model_for_check::AgentModel;
use super::probe_program::probe_program;
use super::repair_events::record_repair;
use super::tool_session::{ToolSession, setup};
use super::wanted_tool::{WantedTool, save_recipe};
use crate::exit_codes_and_errors::{CommandError, Exit};
use crate::terminal::format::now_ms;
use crate::terminal::out;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use towpath_tool::install::{
    BinLinks, InstallLock, InstallRecord, InstalledTool, InstalledTools, Published, StagedInstall,
    recipe_and_locks,
};
use towpath_tool::self_repair::{NotVerified, Proof, ProofRequest, ProveError, RepairModel, prove};
use towpath_tool::sources::Locks;
use towpath_tool::verification::{ProbeReport, ProgramUnderTest, SandboxNote};
use towpath_tool::{Origin, ToolRecipe};

/// How it ended.
#[derive(Debug)]
pub enum InstallOutcome {
    Already(Box<InstalledTool>),
    Installed(Box<Installed>),
    NotVerified {
        recipe: Box<ToolRecipe>,
        why: Box<NotVerified>,
    },
    /// Nothing is installed: the system has it.
    System(Box<SystemProgram>),
}

#[derive(Debug)]
pub struct Installed {
    pub published: Published,
    pub proof: Proof,
    pub took: Duration,
    /// The source that an earlier version was built from, as attested.
    pub earlier_origin: Option<String>,
}

/// A program of the system, probed.
#[derive(Debug)]
pub struct SystemProgram {
    pub program: PathBuf,
    pub report: ProbeReport,
    pub sandbox: SandboxNote,
}

impl SystemProgram {
    pub fn probe(
        session: &ToolSession<'_>,
        name: &str,
        program: PathBuf,
    ) -> Result<SystemProgram, CommandError> {
        let name = name.to_owned();
        let tested =
            ProgramUnderTest { name, program: program.clone(), ..ProgramUnderTest::default() };
        let (report, sandbox) = probe_program(session, &tested)?;
        Ok(SystemProgram { program, report, sandbox })
    }
}

impl InstallOutcome {
    pub fn works(&self) -> bool {
        match self {
            InstallOutcome::System(found) => found.report.verdict.verdict.works(),
            outcome => outcome.install().is_some(),
        }
    }

    pub fn exit(&self) -> Exit {
        if self.works() { Exit::Done } else { Exit::Failed }
    }

    /// The install that is there now, and its directory.
    pub fn install(&self) -> Option<(&InstallRecord, &Path)> {
        match self {
            InstallOutcome::Already(tool) => Some((&tool.record, &tool.directory)),
            InstallOutcome::Installed(installed) => {
                Some((&installed.published.record, &installed.published.directory))
            }
            InstallOutcome::NotVerified { .. } | InstallOutcome::System(_) => None,
        }
    }
}

/// Installs a tool, and saves its recipe if that was generated.
pub fn install_and_save(
    session: &ToolSession<'_>,
    wanted: &WantedTool,
    model: Option<&mut AgentModel<'_>>,
) -> Result<InstallOutcome, CommandError> {
    let outcome = install(session, wanted, model)?;
    match &outcome {
        InstallOutcome::Installed(installed) if wanted.origin == Origin::Generated => {
            save_recipe(session, &installed.proof.recipe)?;
        }
        InstallOutcome::Already(tool) => wanted.save_if_missing(session, tool)?,
        _ => {}
    }
    Ok(outcome)
}

/// Installs a tool, unless this version is there already.
pub fn install(
    session: &ToolSession<'_>,
    wanted: &WantedTool,
    mut model: Option<&mut AgentModel<'_>>,
) -> Result<InstallOutcome, CommandError> {
    let began = Instant::now();
    let name = &wanted.recipe.metadata.name;
    let mut waiting = || out::note(format!("waiting for another install of {name}"));
    let lock = InstallLock::take(&session.directories, name, &mut waiting).map_err(setup)?;
    if let Some(tool) = already(session, wanted)? {
        return Ok(InstallOutcome::Already(Box::new(tool)));
    }
    let staged = session.with_sources(|context| {
        let (directories, recipe) = (&session.directories, &wanted.recipe);
        context.released_before.clone_from(&wanted.released_before);
        StagedInstall::build(directories, lock, recipe, &wanted.version, &wanted.locks, context)
    })?;
    let programs = staged.programs();
    let recipe = match wanted.origin {
        Origin::Generated => wanted.recipe.with_programs(&programs),
        Origin::User => wanted.recipe.clone(),
    };
    let setup_of_sandbox = staged.sandbox(&session.confinement, &session.own_program);
    let request = ProofRequest {
        recipe: &recipe,
        version: &wanted.version,
        install: staged.directory(),
        programs: &programs,
        setup: &setup_of_sandbox,
        may_repair: wanted.origin == Origin::Generated,
    };
    let model = model.as_mut().map(|model| &mut **model as &mut dyn RepairModel);
    match prove(&request, model) {
        Ok(mut proof) => {
            record_repair(session, name, proof.attempt.as_ref());
            if wanted.origin == Origin::Generated {
                let from = wanted.from.to_string();
                proof.recipe = proof.recipe.generated(&from, proof.repair.clone());
            }
            let earlier = InstalledTools::new(&session.directories).versions(name);
            let earlier = earlier.unwrap_or_default().into_iter();
            let earlier_origin = earlier
                .filter_map(|tool| tool.record.attestation)
                .find_map(|attestation| attestation.origin().map(str::to_owned));
            let published = staged.publish(&proof, &wanted.from, &wanted.links, now_ms())?;
            let took = began.elapsed();
            let installed = Installed { published, proof, took, earlier_origin };
            Ok(InstallOutcome::Installed(Box::new(installed)))
        }
        Err(ProveError::NotVerified(why)) => {
            record_repair(session, name, why.attempt.as_ref());
            Ok(InstallOutcome::NotVerified { recipe: Box::new(recipe), why })
        }
        Err(error @ ProveError::Verify(_)) => Err(setup(error)),
    }
}

/// A version that is there, with its programs linked again.
fn already(
    session: &ToolSession<'_>,
    wanted: &WantedTool,
) -> Result<Option<InstalledTool>, CommandError> {
    let name = &wanted.recipe.metadata.name;
    let tools = InstalledTools::new(&session.directories);
    let same = |tool: &InstalledTool| {
        let has = recipe_and_locks(&tool.directory).map_or_else(Locks::new, |(_, locks)| locks);
        let other = |(part, lock): (&String, &String)| has.get(part).is_some_and(|l| l != lock);
        !wanted.locks.iter().any(other) && tool.record.from == wanted.from.to_string()
    };
    let found = tools.find(name, &wanted.version).map_err(setup)?;
    let Some(tool) = found.filter(same) else { return Ok(None) };
    // An edited recipe has to be proven, and so have other bytes at an address and a program that is not
    // what was installed.
    let edited = wanted.origin == Origin::User && tool.record.verify != wanted.recipe.verify;
    let other_bytes = wanted.recipe.downloaded_hash().is_some_and(|hash| {
        let hash = format!("sha256:{hash}");
        !tool.record.checksums.values().any(|known| *known == hash)
    });
    if edited || other_bytes || !tool.record.changed(&tool.directory).is_empty() {
        return Ok(None);
    }
    let mut programs = tool.record.linked_programs();
    if let Some(asked) = &wanted.links.programs {
        programs = tool.record.relative_programs();
        programs.retain(|(program, _)| asked.contains(program));
    }
    let links = BinLinks::new(&session.directories);
    let not_linked = links.link(name, &wanted.version, &programs, wanted.links.shadow);
    not_linked.map_err(setup)?.iter().for_each(|program| out::note(program.to_string()));
    Ok(Some(tool))
}
