//! The tools of a project: `.towpath/tools.toml` and its lock file, found in a working tree, so that they
//! count once the user has trusted them.

use super::install_tool::{InstallOutcome, install};
use super::tool_session::ToolSession;
use super::wanted_tool::{WantedTool, read_optional, write};
use crate::environment::Environment;
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::tools_meeting_requirement::{MOST_LOCK, tools_subject};
use crate::session::trust::ConsentStatus;
use crate::terminal::diagnostics;
use std::path::PathBuf;
use towpath_core::Source;
use towpath_store::Store;
use towpath_tool::install::{WantedLinks, recipe_and_locks};
use towpath_tool::project_tools::{LOCK_FILE, LockFile, LockedTool, TOOLS_FILE, read_tools_file};
use towpath_tool::sources::SourceRef;
use towpath_tool::{Origin, ToolRequest, ToolSource};

#[derive(Debug)]
pub struct ProjectTools {
    root: PathBuf,
    pub tools: Vec<ToolRequest>,
    pub lock: LockFile,
}

impl ProjectTools {
    /// The tools of the project around the current directory; none where it has neither file.
    pub fn find(env: &Environment) -> Result<Option<ProjectTools>, CommandError> {
        let root = env.project_root(&env.current);
        match [TOOLS_FILE, LOCK_FILE].iter().any(|file| root.join(file).symlink_metadata().is_ok())
        {
            true => ProjectTools::read(env).map(Some),
            false => Ok(None),
        }
    }

    /// The tools of the project around the current directory, which the user has agreed to.
    pub fn read(env: &Environment) -> Result<ProjectTools, CommandError> {
        let root = env.project_root(&env.current);
        let path = root.join(TOOLS_FILE);
        let text = read_optional(&path, MOST_LOCK)?.ok_or_else(|| {
            CommandError::not_found(format!(
                "{} does not exist: name a tool, or list the project's tools there, such as \
                 `[tools]` and `kibi = \"cargo:kibi\"`",
                path.display()
            ))
        })?;
        let source = Source::new(path.display().to_string(), text.as_str());
        let tools = read_tools_file(&source).map_err(|problems| {
            diagnostics::refuse_file(&problems, env.color, Exit::BadInput, ErrorKind::BadInput)
        })?;
        let lock_path = root.join(LOCK_FILE);
        let lock = match read_optional(&lock_path, MOST_LOCK)? {
            None => LockFile::default(),
            Some(text) => LockFile::read(&text).map_err(|error| {
                let hint = "to lock the newest versions again, remove it";
                CommandError::bad_input(format!("{}: {error}; {hint}", lock_path.display()))
            })?,
        };
        let project = ProjectTools { root, tools, lock };
        project.require_trust(env)?;
        Ok(project)
    }

    /// Refuses what the user has not agreed to.
    fn require_trust(&self, env: &Environment) -> Result<(), CommandError> {
        let Some(subject) = tools_subject(&self.root) else { return Ok(()) };
        if subject.status(env.journal()?.as_ref())? == ConsentStatus::Trusted {
            return Ok(());
        }
        let file = subject.argument(env);
        let message = format!(
            "{TOOLS_FILE} was found in the working tree and is not trusted; to see it: towpath \
             trust {file}; to trust it: towpath trust --yes {file}"
        );
        Err(CommandError::new(Exit::Setup, ErrorKind::NotTrusted, message))
    }

    /// Refuses tools that the lock file does not have as they are asked for.
    pub fn require_lock(&self) -> Result<(), CommandError> {
        match self.tools.iter().find(|tool| self.locked(tool).is_none()) {
            None => Ok(()),
            Some(tool) => Err(CommandError::bad_input(format!(
                "{LOCK_FILE} has no `{}` from {}: run towpath tool install, and commit the file",
                tool.name, tool.from
            ))),
        }
    }

    /// Installs a tool as it is locked, or as its source has it now, and locks it.
    pub fn install(
        &mut self,
        session: &ToolSession<'_>,
        tool: &ToolRequest,
    ) -> Result<InstallOutcome, CommandError> {
        let outcome = match &tool.from {
            ToolSource::Package(from) => {
                install(session, &self.wanted(session, tool, from)?, None)?
            }
            ToolSource::System => InstallOutcome::of_system(session, &tool.name)?,
        };
        self.lock(session.env, tool, &outcome)?;
        Ok(outcome)
    }

    fn wanted(
        &self,
        session: &ToolSession<'_>,
        tool: &ToolRequest,
        from: &SourceRef,
    ) -> Result<WantedTool, CommandError> {
        let (from, links) = (from.clone(), WantedLinks::NOTHING);
        let Some(locked) = self.locked(tool) else {
            let (wanted, _) = WantedTool::from_source(session, tool, &from)?;
            return Ok(WantedTool { links, ..wanted });
        };
        let recipe = locked
            .recipe()
            .map_err(|error| CommandError::bad_input(format!("{LOCK_FILE}: {error}")))?;
        let (version, locks) = (locked.version.clone(), locked.locks.clone());
        // A check that was proven once is not repaired in silence.
        let (origin, released_before) = (Origin::User, None);
        Ok(WantedTool { recipe, origin, from, version, locks, links, released_before })
    }

    /// The entry of the lock file for a tool; the file of tools may have been edited since.
    fn locked(&self, tool: &ToolRequest) -> Option<&LockedTool> {
        self.lock.find(&tool.name).filter(|locked| {
            let has = |hash: &String| {
                locked.recipe().is_ok_and(|recipe| recipe.downloaded_hash() == Some(hash))
            };
            locked.from == tool.from.to_string()
                && tool.version.as_ref().is_none_or(|version| *version == locked.version)
                && tool.sha256.as_ref().is_none_or(has)
        })
    }

    /// Writes what was installed into the lock file; the user has agreed to its new contents, since
    /// they come from what they agreed to.
    fn lock(
        &mut self,
        env: &Environment,
        tool: &ToolRequest,
        outcome: &InstallOutcome,
    ) -> Result<(), CommandError> {
        if let (ToolSource::Package(from), Some(install)) = (&tool.from, outcome.install()) {
            let (recipe, locks) = recipe_and_locks(&install.directory).unwrap_or_default();
            let mut locked =
                LockedTool::new(&tool.name, from, &install.record.version, recipe, locks);
            locked.attestation.clone_from(&install.record.attestation);
            self.lock.put(locked);
        } else if let (InstallOutcome::System(found), true) = (outcome, outcome.works()) {
            // What the system has differs from machine to machine: the first one's version stays.
            if self.locked(tool).is_none() {
                let version = found.report.verdict.version_found.as_deref();
                self.lock.put(LockedTool::of_system(&tool.name, version));
            }
        } else {
            return Ok(());
        }
        let known: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        self.lock.tools.retain(|locked| known.contains(&locked.name.as_str()));
        write(&self.root.join(LOCK_FILE), &self.lock.write())?;
        if let Some(subject) = tools_subject(&self.root) {
            subject.record(&mut Store::open(&env.directories.state)?)?;
        }
        Ok(())
    }
}
