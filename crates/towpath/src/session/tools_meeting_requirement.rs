//! The tools that may meet a requirement: the installed ones of its name, else those that have a program of
//! this name; and those that the project has locked, which may be of the system. Installed ones are seen by
//! their links, which a resume finds again.

use crate::environment::Environment;
use crate::session::trust::{ConsentSubject, visible};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use towpath_core::files;
use towpath_core::files::is_program;
use towpath_engine::FoundProgram;
use towpath_store::PlanHash;
use towpath_tool::install::{InstalledTool, InstalledTools, SYSTEM};
use towpath_tool::project_tools::{LOCK_FILE, LockFile, LockedTool, TOOLS_FILE};

/// One version of a tool.
#[derive(Debug)]
pub struct InstalledVersion {
    /// The project's lock file has it.
    pub is_locked: bool,
    pub tool: InstalledTool,
}

impl InstalledVersion {
    /// The tool as a program that a run finds, by its directory.
    pub fn found(&self, name: &str) -> Option<FoundProgram> {
        let InstalledTool { record, link, directory, .. } = &self.tool;
        let program = self.tool.program(name).filter(|file| is_program(file))?;
        // The install, by its link and by itself, and what its programs need beside it.
        let own = [link, directory].into_iter().chain(&record.runtime);
        Some(FoundProgram {
            program,
            readable: own.cloned().collect(),
            version: Some(record.version.clone()),
            directory_first: true,
        })
    }
}

/// The file of a program of the system, also where PATH does not lead to it.
pub fn system_program(name: &str) -> Option<PathBuf> {
    SYSTEM.iter().map(|directory| Path::new(directory).join(name)).find(|file| is_program(file))
}

/// The largest lock file that is read: it has everything that was resolved.
pub const MOST_LOCK: u64 = 16 << 20;

/// The file of tools of a project, as something to agree to. With its lock file, whose recipes are run.
pub fn tools_subject(root: &Path) -> Option<ConsentSubject> {
    let path = root.join(TOOLS_FILE);
    let text = files::read_text(&path, MOST_LOCK).ok()?;
    let lock = files::read_text(&root.join(LOCK_FILE), MOST_LOCK).unwrap_or_default();
    let mut hash = Sha256::new();
    hash.update(b"towpath tools 1\0");
    hash.update(text.as_bytes());
    hash.update(b"\0");
    hash.update(lock.as_bytes());
    let locked = format!("with {LOCK_FILE} ({} bytes)", lock.len());
    let lines = text.lines().chain((!lock.is_empty()).then_some(locked.as_str()));
    Some(ConsentSubject {
        path: path.canonicalize().unwrap_or(path),
        hash: PlanHash(hash.finalize().into()),
        what: "project tools".to_owned(),
        contents: lines.map(|line| format!("  {}\n", visible(line))).collect(),
        agents: false,
        files: Vec::new(),
    })
}

/// The tools of the project's lock file. Which version of a tool they name only chooses among those that the
/// user has, so it counts without their consent.
pub fn locked_tools(env: &Environment) -> Vec<LockedTool> {
    let path = env.project_root(&env.current).join(LOCK_FILE);
    let text = files::read_text(&path, MOST_LOCK).ok();
    text.and_then(|text| LockFile::read(&text).ok()).unwrap_or_default().tools
}

/// The install of a tool that the project has locked.
pub fn install_of(env: &Environment, locked: &LockedTool) -> Option<InstalledTool> {
    let tools = InstalledTools::of(&env.tools(), &locked.name).ok()?;
    tools.find(&locked.version).filter(|_| !locked.is_of_system())
}

/// What a name means here.
#[derive(Debug)]
pub enum ProgramHere {
    /// A program of a tool, or the first one of the tool with this name.
    Installed(Box<InstalledTool>),
    /// The project has chosen the system's.
    System(PathBuf),
}

impl ProgramHere {
    /// The project's version of a tool, or of one with a program of that name; else the user's, else the one
    /// that was installed last.
    pub fn find(env: &Environment, name: &str) -> Option<ProgramHere> {
        let is_system = |tool: &LockedTool| tool.name == name && tool.is_of_system();
        if locked_tools(env).iter().any(is_system) {
            return system_program(name).map(ProgramHere::System);
        }
        let rank = |found: &InstalledVersion| (!found.is_locked, !found.tool.in_use);
        let found = installed(env, name).into_iter().min_by_key(rank)?;
        Some(ProgramHere::Installed(Box::new(found.tool)))
    }

    pub fn file(&self, name: &str) -> Option<PathBuf> {
        match self {
            ProgramHere::Installed(tool) => tool.program(name),
            ProgramHere::System(program) => Some(program.clone()),
        }
    }
}

/// The versions of the tool with this name; of every tool that has a program with this name where there
/// is none. What cannot be read is not installed.
pub fn installed(env: &Environment, name: &str) -> Vec<InstalledVersion> {
    let directories = env.tools();
    let mut found = InstalledTools::of(&directories, name).unwrap_or_default().tools;
    if found.is_empty() {
        found = InstalledTools::list(&directories).unwrap_or_default().tools;
        found.retain(|tool| tool.has_program(name));
    }
    let locked = locked_tools(env);
    let version = |tool: InstalledTool| {
        let same = |locked: &LockedTool| {
            let record = &tool.record;
            locked.name == record.tool && locked.version == record.version && !locked.is_of_system()
        };
        InstalledVersion { is_locked: locked.iter().any(same), tool }
    };
    found.into_iter().map(version).collect()
}
