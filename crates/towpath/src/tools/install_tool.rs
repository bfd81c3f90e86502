//! The one path from a recipe to an installed tool, for `create`, `install`, `update` and a project's
//! tools: lock, fetch, build, prove, publish.

use super::ask_model_for_check::AgentModel;
use super::record_check_repairs;
use super::tool_session::ToolSession;
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::terminal::format::now_ms;
use crate::terminal::out;
use std::time::{Duration, Instant};
use towpath_tool::install::{
    BinLinks, InstallError, InstallLock, InstalledTool, InstalledTools, Published, StagedInstall,
    WantedLinks, recipe_and_locks,
};
use towpath_tool::self_repair::{NotVerified, Proof, ProofRequest, ProveError, RepairModel, prove};
use towpath_tool::sources::{Locks, SourceError, SourceRef};
use towpath_tool::{Origin, ToolRecipe};

/// A version of a tool to install.
#[derive(Debug, Clone)]
pub struct WantedTool {
    pub recipe: ToolRecipe,
    /// Only a generated recipe may be repaired.
    pub origin: Origin,
    pub from: SourceRef,
    pub version: String,
    /// What a lock file has for it.
    pub locks: Locks,
    /// Which of its programs `bin/` is to have.
    pub links: WantedLinks,
}

/// How it ended.
#[derive(Debug)]
pub enum InstallOutcome {
    Already(Box<InstalledTool>),
    Installed(Box<Installed>),
    NotVerified { recipe: Box<ToolRecipe>, why: Box<NotVerified> },
}

#[derive(Debug)]
pub struct Installed {
    pub published: Published,
    pub proof: Proof,
    pub took: Duration,
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
    let lock = InstallLock::take(&session.directories, name, &mut waiting)
        .map_err(|error| CommandError::setup(error.to_string()))?;
    if let Some(tool) = already(session, wanted)? {
        return Ok(InstallOutcome::Already(Box::new(tool)));
    }
    let staged = session.with_sources(|context| {
        let (directories, recipe) = (&session.directories, &wanted.recipe);
        StagedInstall::build(directories, lock, recipe, &wanted.version, &wanted.locks, context)
    });
    let staged = staged.map_err(install_error)?;
    let programs = staged.programs();
    let recipe = match wanted.origin {
        Origin::Generated => wanted.recipe.with_programs(&programs),
        Origin::User => wanted.recipe.clone(),
    };
    let setup = staged.sandbox(&session.confinement, &session.own_program);
    let request = ProofRequest {
        recipe: &recipe,
        version: &wanted.version,
        install: staged.directory(),
        programs: &programs,
        setup: &setup,
        may_repair: wanted.origin == Origin::Generated,
    };
    let model = model.as_mut().map(|model| &mut **model as &mut dyn RepairModel);
    match prove(&request, model) {
        Ok(mut proof) => {
            record_check_repairs::record(session, name, proof.attempt.as_ref());
            if wanted.origin == Origin::Generated {
                let from = wanted.from.to_string();
                proof.recipe = proof.recipe.generated(&from, proof.repair.clone());
            }
            let published = staged.publish(&proof, &wanted.from, &wanted.links, now_ms());
            let published = published.map_err(install_error)?;
            let took = began.elapsed();
            Ok(InstallOutcome::Installed(Box::new(Installed { published, proof, took })))
        }
        Err(ProveError::NotVerified(why)) => {
            record_check_repairs::record(session, name, why.attempt.as_ref());
            Ok(InstallOutcome::NotVerified { recipe: Box::new(recipe), why })
        }
        Err(error @ ProveError::Verify(_)) => Err(CommandError::setup(error.to_string())),
    }
}

/// A version that is there, with its programs linked again.
fn already(
    session: &ToolSession<'_>,
    wanted: &WantedTool,
) -> Result<Option<InstalledTool>, CommandError> {
    let name = &wanted.recipe.metadata.name;
    let tools = InstalledTools::new(&session.directories);
    let found = tools.find(name, &wanted.version).map_err(file_error)?;
    let same = |tool: &InstalledTool| {
        let has = recipe_and_locks(&tool.directory).map_or_else(Locks::new, |(_, locks)| locks);
        let other = |(part, lock): (&String, &String)| has.get(part).is_some_and(|l| l != lock);
        !wanted.locks.iter().any(other) && tool.record.from == wanted.from.to_string()
    };
    let Some(tool) = found.filter(same) else { return Ok(None) };
    // An edited recipe has to be proven, and so has a program that is not what was installed.
    let edited = wanted.origin == Origin::User && tool.record.verify != wanted.recipe.verify;
    if edited || !tool.record.changed(&tool.directory).is_empty() {
        return Ok(None);
    }
    let mut programs = tool.record.linked_programs();
    if let Some(asked) = &wanted.links.programs {
        programs = tool.record.relative_programs();
        programs.retain(|(program, _)| asked.contains(program));
    }
    let links = BinLinks::new(&session.directories);
    let not_linked = links.link(name, &wanted.version, &programs, wanted.links.shadow);
    not_linked.map_err(file_error)?.iter().for_each(|program| out::note(program.to_string()));
    Ok(Some(tool))
}

fn file_error(error: std::io::Error) -> CommandError {
    CommandError::setup(error.to_string())
}

fn install_error(error: InstallError) -> CommandError {
    match error {
        InstallError::Source(error) => source_error(&error),
        InstallError::NoPrograms { .. } => {
            CommandError::new(Exit::Failed, ErrorKind::NotVerified, error.to_string())
        }
        error => CommandError::setup(error.to_string()),
    }
}

/// What a source could not do, with what helps.
pub fn source_error(error: &SourceError) -> CommandError {
    let (exit, kind) = match error {
        SourceError::MissingClient(_) => (Exit::Setup, ErrorKind::MissingProgram),
        _ => (Exit::Failed, ErrorKind::Source),
    };
    CommandError::new(exit, kind, error.to_string())
}
