//! The installed tools that may meet a requirement: those of its name, else those that have a program of
//! this name. They are seen by their links, which a resume finds again.

use crate::environment::{Environment, is_program};
use crate::files;
use std::path::{Path, PathBuf};
use towpath_tool::install::{InstallRecord, InstalledTools, ToolDirectories};
use towpath_tool::project_tools::{LOCK_FILE, LockFile};

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
        own.or(self.record.binaries.first()).map(|binary| self.link.join(&binary.path))
    }

    /// The install, by its link and by itself, and what its programs need beside it.
    pub fn directories(&self) -> Vec<PathBuf> {
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

/// The largest lock file that is read.
const MOST: u64 = 16 << 20;

/// The version that the project's lock file has for a tool. It only chooses among those that the user has
/// installed, so it counts without their consent.
pub fn locked_version(env: &Environment, name: &str) -> Option<String> {
    lock_file(env)?.find(name).map(|tool| tool.version.clone())
}

/// The tools of the project's lock file.
pub fn locked_tools(env: &Environment) -> Vec<String> {
    let tools = lock_file(env).map_or_else(Vec::new, |lock| lock.tools);
    tools.into_iter().map(|tool| tool.name).collect()
}

fn lock_file(env: &Environment) -> Option<LockFile> {
    let path = env.project_root(&env.current).join(LOCK_FILE);
    LockFile::read(&files::read_text(&path, MOST).ok()?).ok()
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
