//! The links in `bin/`, one for each program of the tools that are in use. A link belongs to the tool
//! that it points into; a file that is no link of ours is never replaced.

use super::tool_directories::{ToolDirectories, version_directory_name};
use serde::Serialize;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

#[derive(Debug)]
pub struct BinLinks<'a> {
    directories: &'a ToolDirectories,
}

/// Where the programs of the system are, and those that its administrator has put there.
const SYSTEM: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

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

/// What a name in `bin/` is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BinEntry {
    Free,
    /// A link of ours, into this version of this tool.
    Tool {
        tool: String,
        version: String,
    },
    /// Something that we did not make.
    Foreign,
}

impl<'a> BinLinks<'a> {
    pub fn new(directories: &'a ToolDirectories) -> BinLinks<'a> {
        BinLinks { directories }
    }

    pub fn path(&self, program: &str) -> PathBuf {
        self.directories.bin().join(program)
    }

    pub fn entry(&self, program: &str) -> BinEntry {
        let path = self.path(program);
        if path.symlink_metadata().is_err() {
            return BinEntry::Free;
        }
        let target = fs::read_link(&path).ok();
        target.as_deref().and_then(owner).unwrap_or(BinEntry::Foreign)
    }

    /// Whether links can be made at all.
    pub(super) fn require_writable(&self) -> io::Result<()> {
        fs::create_dir_all(self.directories.bin())?;
        let trial = self.directories.bin().join(format!(".trial.{}", std::process::id()));
        replace_link(&trial, Path::new("nothing"))?;
        fs::remove_file(trial)
    }

    /// Links programs of a version. Returns those whose name the system, another tool, or a file that is
    /// not ours has already.
    pub fn link(
        &self,
        tool: &str,
        version: &str,
        programs: &[(String, PathBuf)],
        shadow: bool,
    ) -> io::Result<Vec<NotLinked>> {
        let mut not_linked = Vec::new();
        if programs.is_empty() {
            return Ok(not_linked);
        }
        fs::create_dir_all(self.directories.bin())?;
        for (program, inside) in programs {
            let of_system = SYSTEM.iter().map(|directory| Path::new(directory).join(program));
            let of_system = of_system.into_iter().find(|file| !shadow && file.exists());
            let taken_by = match self.entry(program) {
                // A link of the same tool stays its own.
                BinEntry::Tool { tool: own, .. } if own == tool => None,
                BinEntry::Free => of_system,
                BinEntry::Tool { .. } | BinEntry::Foreign => Some(self.path(program)),
            };
            if let Some(taken_by) = taken_by {
                not_linked.push(NotLinked { program: program.clone(), taken_by });
                continue;
            }
            let target = Path::new("../tools").join(tool);
            let target = target.join(version_directory_name(version)).join(inside);
            replace_link(&self.path(program), &target)?;
        }
        let current: Vec<&str> = programs.iter().map(|(program, _)| program.as_str()).collect();
        self.unlink(tool, |program| !current.contains(&program))?;
        Ok(not_linked)
    }

    /// Removes the links into a version of a tool, or into all of them.
    pub fn remove(&self, tool: &str, version: Option<&str>) -> io::Result<()> {
        self.unlink(tool, |program| match (self.entry(program), version) {
            (BinEntry::Tool { version: linked, .. }, Some(version)) => {
                linked == version_directory_name(version)
            }
            (entry, _) => entry != BinEntry::Foreign,
        })
    }

    /// The version of a tool that `bin/` leads to.
    pub fn version_in_use(&self, tool: &str) -> Option<String> {
        self.names().ok()?.iter().find_map(|program| match self.entry(program) {
            BinEntry::Tool { tool: owner, version } if owner == tool => Some(version),
            _ => None,
        })
    }

    fn unlink(&self, tool: &str, unwanted: impl Fn(&str) -> bool) -> io::Result<()> {
        for program in self.names()? {
            let ours =
                matches!(self.entry(&program), BinEntry::Tool { tool: owner, .. } if owner == tool);
            if ours && unwanted(&program) {
                let path = self.path(&program);
                fs::remove_file(&path).map_err(at(&path))?;
            }
        }
        Ok(())
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(self.directories.bin()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }
}

/// Whose link this is: `../tools/TOOL/VERSION/…`.
fn owner(target: &Path) -> Option<BinEntry> {
    let mut parts = target.strip_prefix("../tools").ok()?.components();
    let mut name = || match parts.next()? {
        Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
        _ => None,
    };
    Some(BinEntry::Tool { tool: name()?, version: name()? })
}

/// An error with the path that it is about.
pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
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
