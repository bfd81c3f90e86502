//! The installed tools that may meet a requirement: those of its name, else those that have a program of
//! this name; and those that the project has locked. They are seen by their links, which a resume finds again.

use crate::environment::Environment;
use crate::files;
use crate::files::is_program;
use crate::session::trust::{ConsentSubject, visible};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use towpath_engine::FoundProgram;
use towpath_store::PlanHash;
use towpath_tool::install::{InstallRecord, InstalledTools, ToolDirectories, program_alone};
use towpath_tool::project_tools::{LOCK_FILE, LockFile, LockedTool, TOOLS_FILE};

/// One version of a tool.
#[derive(Debug)]
pub struct InstalledVersion {
    pub version: String,
    /// The project's lock file has it.
    pub is_locked: bool,
    /// The user's `bin/` leads to it.
    in_use: bool,
    /// The link to the install.
    link: PathBuf,
    /// The install itself.
    directory: PathBuf,
    pub record: InstallRecord,
}

impl InstalledVersion {
    /// The file of a program, or of the first one.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let own = self.record.binaries.iter().find(|binary| binary.name == name);
        let binary = own.or(self.record.binaries.first())?;
        let alone = program_alone(&self.link, &binary.name);
        // Installs of earlier versions have only one directory for all.
        Some(if alone.exists() { alone } else { self.link.join(&binary.path) })
    }

    /// The tool as a program that a run finds, by its directory.
    pub fn found(&self, name: &str) -> Option<FoundProgram> {
        let program = self.program(name).filter(|file| is_program(file))?;
        Some(FoundProgram {
            program,
            readable: self.directories(),
            version: Some(self.version.clone()),
            directory_first: true,
        })
    }

    /// The install, by its link and by itself, and what its programs need beside it.
    fn directories(&self) -> Vec<PathBuf> {
        let own = [self.link.clone(), self.directory.clone()];
        own.into_iter().chain(self.record.runtime.iter().cloned()).collect()
    }
}

/// Directories of programs that the system has, or its administrator has put there.
const SYSTEM: [&str; 7] = [
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/usr/local/sbin",
    "/usr/sbin",
    "/sbin",
    "/run/current-system/sw/bin",
];

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

/// The version that the project's lock file has for a tool. It only chooses among those that the user has
/// installed, so it counts without their consent.
pub fn locked_version(env: &Environment, name: &str) -> Option<String> {
    lock_file(env)?.find(name).map(|tool| tool.version.clone())
}

/// The tools of the project's lock file, each with its install if there is one.
pub fn locked_tools(env: &Environment) -> Vec<(LockedTool, Option<InstalledVersion>)> {
    let tools = lock_file(env).map_or_else(Vec::new, |lock| lock.tools);
    let install = |tool: LockedTool| {
        let mut found = installed(env, &tool.name).into_iter();
        let install = found.find(|found| found.is_locked && found.record.tool == tool.name);
        (tool, install)
    };
    tools.into_iter().map(install).collect()
}

fn lock_file(env: &Environment) -> Option<LockFile> {
    let path = env.project_root(&env.current).join(LOCK_FILE);
    LockFile::read(&files::read_text(&path, MOST_LOCK).ok()?).ok()
}

/// The version of a tool, or of one with a program of that name, that is used here: the project's, else
/// the user's, else the one that was installed last.
pub fn version_here(env: &Environment, name: &str) -> Option<InstalledVersion> {
    let rank = |tool: &InstalledVersion| (!tool.is_locked, !tool.in_use);
    installed(env, name).into_iter().min_by_key(rank)
}

/// The versions of the tool with this name; of every tool that has a program with this name where there
/// is none. What cannot be read is not installed.
pub fn installed(env: &Environment, name: &str) -> Vec<InstalledVersion> {
    let own = &env.directories;
    let directories = ToolDirectories::new(&own.data, &own.cache, &own.config);
    let tools = InstalledTools::new(&directories);
    let mut found = tools.versions(name).unwrap_or_default();
    if found.is_empty() {
        found = tools.list().unwrap_or_default();
        found.retain(|tool| tool.record.binaries.iter().any(|binary| binary.name == name));
    }
    let lock = lock_file(env).unwrap_or_default();
    let locked = |record: &InstallRecord| lock.find(&record.tool).map(|tool| &tool.version);
    let version = |tool: towpath_tool::install::InstalledTool| InstalledVersion {
        is_locked: locked(&tool.record) == Some(&tool.record.version),
        in_use: tool.in_use,
        version: tool.record.version.clone(),
        link: directories.version(&tool.record.tool, &tool.record.version),
        directory: tool.directory,
        record: tool.record,
    };
    found.into_iter().map(version).collect()
}
