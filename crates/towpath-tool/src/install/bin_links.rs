//! The links in `bin/`, one for each program of the tools that are in use. A link belongs to the tool
//! that it points into; a file that is no link of ours is never replaced.

use super::tool_directories::{ToolDirectories, at, version_directory_name};
use serde::Serialize;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

/// Directories of programs that the system has, or its administrator has put there.
pub const SYSTEM: [&str; 7] = [
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/usr/local/sbin",
    "/usr/sbin",
    "/sbin",
    "/run/current-system/sw/bin",
];

/// Which programs of an install are linked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedLinks {
    /// None is the tool's own program; an empty list is nothing.
    pub programs: Option<Vec<String>>,
    /// Also where a system directory has the name.
    pub shadow: bool,
}

impl WantedLinks {
    pub const OWN: WantedLinks = WantedLinks { programs: None, shadow: false };
    pub const NOTHING: WantedLinks = WantedLinks { programs: Some(Vec::new()), shadow: false };

    pub(super) fn programs(&self, own: &str) -> Vec<String> {
        self.programs.clone().unwrap_or_else(|| vec![own.to_owned()])
    }
}

/// A program that is not linked, because something else has its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotLinked {
    pub program: String,
    pub taken_by: PathBuf,
}

impl fmt::Display for NotLinked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotLinked { program, taken_by } = self;
        write!(f, "{program} is not linked: {} has its name", taken_by.display())?;
        let is_system = SYSTEM.iter().any(|directory| taken_by.starts_with(directory));
        if is_system { write!(f, "; --shadow links it all the same") } else { Ok(()) }
    }
}

impl ToolDirectories {
    /// The tool and its version that a link of ours in `bin/` leads to, the version by its directory's
    /// name. None for what we did not make.
    pub fn linked(&self, program: &str) -> Option<(String, String)> {
        let target = fs::read_link(self.bin().join(program)).ok()?;
        let mut parts = target.strip_prefix("../tools").ok()?.components();
        let mut name = || match parts.next()? {
            Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
            _ => None,
        };
        Some((name()?, name()?))
    }

    /// Fails where no link can be made at all.
    pub(super) fn require_writable_bin(&self) -> io::Result<()> {
        fs::create_dir_all(self.bin())?;
        let trial = self.bin().join(format!(".trial.{}", std::process::id()));
        replace_link(&trial, Path::new("nothing"))?;
        fs::remove_file(trial)
    }

    /// Links programs of a version, and removes links of the tool to others. Where nothing is to be linked
    /// the links stay, but for those that lead to nothing now. Returns the programs whose name the system, another
    /// tool, or a file that is not ours has already.
    pub fn link(
        &self,
        tool: &str,
        version: &str,
        programs: &[(String, PathBuf)],
        wanted: &WantedLinks,
    ) -> io::Result<Vec<NotLinked>> {
        let mut not_linked = Vec::new();
        for (program, inside) in programs {
            fs::create_dir_all(self.bin())?;
            let path = self.bin().join(program);
            let of_system = SYSTEM.iter().map(|directory| Path::new(directory).join(program));
            let of_system = of_system.into_iter().find(|file| !wanted.shadow && file.exists());
            let taken_by = match self.linked(program) {
                Some((owner, _)) if owner == tool => None,
                None if path.symlink_metadata().is_err() => of_system,
                _ => Some(path.clone()),
            };
            if let Some(taken_by) = taken_by {
                not_linked.push(NotLinked { program: program.clone(), taken_by });
                continue;
            }
            let target = Path::new("../tools").join(tool);
            let target = target.join(version_directory_name(version)).join(inside);
            replace_link(&path, &target)?;
        }
        self.unlink(tool, |program, _| match *wanted == WantedLinks::NOTHING {
            true => !self.bin().join(program).exists(),
            false => !programs.iter().any(|(current, _)| current == program),
        })?;
        Ok(not_linked)
    }

    /// The directory's name of the version of a tool that `bin/` leads to.
    pub(super) fn version_in_use(&self, tool: &str) -> Option<String> {
        let names = names_in(&self.bin()).ok()?;
        let linked = names.iter().filter_map(|program| self.linked(program));
        linked.into_iter().find(|(owner, _)| owner == tool).map(|(_, version)| version)
    }

    /// Removes the links to programs of a tool that are not wanted, by program and version.
    pub(super) fn unlink(
        &self,
        tool: &str,
        unwanted: impl Fn(&str, &str) -> bool,
    ) -> io::Result<()> {
        for program in names_in(&self.bin())? {
            let linked = self.linked(&program).filter(|(owner, _)| owner == tool);
            if linked.is_some_and(|(_, version)| unwanted(&program, &version)) {
                let path = self.bin().join(&program);
                fs::remove_file(&path).map_err(at(&path))?;
            }
        }
        Ok(())
    }
}

/// Makes a link, or gives it another target, in one step.
pub(super) fn replace_link(path: &Path, target: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let _ = fs::remove_file(&new);
    symlink(target, &new)?;
    fs::rename(&new, path).inspect_err(|_| {
        let _ = fs::remove_file(&new);
    })
}

/// The names in a directory, sorted; hidden ones are not for users.
pub(super) fn names_in(directory: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        // A file that was put there is no tool.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries.map_err(at(directory))?,
    };
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names: Vec<String> = names.collect::<io::Result<_>>()?;
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    Ok(names)
}
