//! The one path from a recipe to an installed tool, for `create`, `install`, `update` and a project's
//! tools: lock, fetch, build, prove, publish.

use super::agent_model::AgentModel;
use super::named_source::package_manager;
use super::probe_program::probe_program;
use super::repair_events::record_repair;
use super::tool_session::{ToolSession, setup};
use super::wanted_tool::{WantedTool, save_recipe};
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::tools_meeting_requirement::system_program;
use crate::terminal::format::now_ms;
use crate::terminal::out;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use towpath_core::Source;
use towpath_tool::install::{
    InstalledTool, InstalledTools, NotLinked, StagedInstall, recipe_and_locks,
};
use towpath_tool::self_repair::{NotVerified, Proof, ProofRequest, ProveError, RepairModel, prove};
use towpath_tool::verification::{ProbeReport, ProgramUnderTest, SandboxNote};
use towpath_tool::{Origin, ToolRecipe, read_recipe};

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
    pub tool: InstalledTool,
    /// Programs that were to be linked, and whose name belongs to something else.
    pub not_linked: Vec<NotLinked>,
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

impl InstallOutcome {
    /// A program of the system, probed where it is.
    pub fn of_system(
        session: &ToolSession<'_>,
        name: &str,
    ) -> Result<InstallOutcome, CommandError> {
        let program = system_program(name).ok_or_else(|| {
            let command = package_manager(session.env, name);
            let hint = command.map_or(String::new(), |it| format!("; to install it: {it}"));
            let message = format!("{name} is not on this system{hint}");
            CommandError::new(Exit::Setup, ErrorKind::MissingProgram, message)
        })?;
        let (name, file) = (name.to_owned(), program.clone());
        let tested = ProgramUnderTest { name, program: file, ..ProgramUnderTest::default() };
        let (report, sandbox) = probe_program(session, &tested)?;
        Ok(InstallOutcome::System(Box::new(SystemProgram { program, report, sandbox })))
    }

    pub fn works(&self) -> bool {
        match self {
            InstallOutcome::System(found) => found.report.verdict.verdict.works(),
            outcome => outcome.install().is_some(),
        }
    }

    pub fn exit(&self) -> Exit {
        if self.works() { Exit::Done } else { Exit::Failed }
    }

    /// The install that is there now.
    pub fn install(&self) -> Option<&InstalledTool> {
        match self {
            InstallOutcome::Already(tool) => Some(tool),
            InstallOutcome::Installed(installed) => Some(&installed.tool),
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
    let waiting = || out::note(format!("waiting for another install of {name}"));
    let lock = session.directories.lock(name, waiting).map_err(setup)?;
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
            let earlier = InstalledTools::of(&session.directories, name).unwrap_or_default();
            let earlier_origin = earlier
                .tools
                .into_iter()
                .filter_map(|tool| tool.record.attestation)
                .find_map(|attestation| attestation.origin().map(str::to_owned));
            let (tool, not_linked) =
                staged.publish(&proof, &wanted.from, &wanted.links, now_ms())?;
            let took = began.elapsed();
            let installed = Installed { tool, not_linked, proof, took, earlier_origin };
            Ok(InstallOutcome::Installed(Box::new(installed)))
        }
        Err(ProveError::NotVerified(why)) => {
            record_repair(session, name, why.attempt.as_ref());
            Ok(InstallOutcome::NotVerified { recipe: Box::new(recipe), why })
        }
        Err(error @ ProveError::Verify(_)) => Err(setup(error)),
    }
}

/// A version that is there as it is wanted, with its programs linked again.
fn already(
    session: &ToolSession<'_>,
    wanted: &WantedTool,
) -> Result<Option<InstalledTool>, CommandError> {
    let name = &wanted.recipe.metadata.name;
    let found = InstalledTools::of(&session.directories, name).map_err(setup)?;
    let Some(tool) = found.find(&wanted.version) else { return Ok(None) };
    let (recipe, locks) = recipe_and_locks(&tool.directory).unwrap_or_default();
    let other_locks = wanted.locks.iter().any(|(part, lock)| {
        // A part that was not fetched for this install is one of another platform.
        locks.get(part).is_some_and(|known| known != lock)
    });
    // Other bytes at an address.
    let other_bytes = wanted.recipe.downloaded_hash().is_some_and(|hash| {
        let hash = format!("sha256:{hash}");
        !tool.record.checksums.values().any(|known| *known == hash)
    });
    let is_changed = || !tool.record.changed(&tool.directory).is_empty();
    if tool.record.from != wanted.from.to_string() || other_locks || other_bytes || is_changed() {
        return Ok(None);
    }
    let recipe = read_recipe(&Source::new("the recipe of the install", recipe));
    let same = recipe.is_ok_and(|recipe| recipe.does_the_same(&wanted.recipe));
    // A generated recipe is the source's description of a version, which may be another one.
    if wanted.origin == Origin::User && !same {
        let version = &wanted.version;
        out::note(format!(
            "{name} {version} was installed with another recipe; installing it again"
        ));
        return Ok(None);
    }
    let mut programs = tool.record.linked_programs();
    if let Some(asked) = &wanted.links.programs {
        programs = tool.record.relative_programs();
        programs.retain(|(program, _)| asked.contains(program));
    }
    let not_linked = session.directories.link(name, &wanted.version, &programs, &wanted.links);
    not_linked.map_err(setup)?.iter().for_each(|program| out::note(program.to_string()));
    Ok(Some(tool))
}
