//! What is installed: the versions of each tool that are visible, and which of them `bin/` leads to. An
//! install whose record cannot be used is known as damaged, and everything else of it is left alone.
//! Removing one removes its links first, so that nothing ever leads to half an install.

use super::bin_links::{WantedLinks, names_in};
use super::install_record::InstallRecord;
use super::staged_install::{program_alone, sandbox_of};
use super::tool_directories::{ToolDirectories, at, version_directory_name, version_of_directory};
use crate::recipe_values::check_tool_name;
use crate::verification::SandboxSetup;
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use towpath_process::sandbox::Confinement;

#[derive(Debug, Clone)]
pub struct InstalledTool {
    pub record: InstallRecord,
    /// The link that makes it visible.
    pub link: PathBuf,
    /// The directory itself, after its link.
    pub directory: PathBuf,
    /// `bin/` leads to this version.
    pub in_use: bool,
}

impl InstalledTool {
    /// How its programs are run to verify them.
    pub fn sandbox(&self, confinement: &Confinement, own_program: &Path) -> SandboxSetup {
        sandbox_of(&self.directory, &self.record.runtime, confinement, own_program)
    }

    pub fn has_program(&self, name: &str) -> bool {
        self.record.binaries.iter().any(|binary| binary.name == name)
    }

    /// The file of a program, or of the first one, by the link.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let own = self.record.binaries.iter().find(|binary| binary.name == name);
        let binary = own.or(self.record.binaries.first())?;
        let alone = program_alone(&self.link, &binary.name);
        // Installs of earlier versions have only one directory for all.
        Some(if alone.exists() { alone } else { self.link.join(&binary.path) })
    }
}

/// A version that is visible, and whose record cannot be used.
#[derive(Debug, Clone, Serialize)]
pub struct DamagedTool {
    pub tool: String,
    pub version: String,
    pub problem: String,
}

/// Versions of tools, by name, the newest install first.
#[derive(Debug, Default)]
pub struct InstalledTools {
    pub tools: Vec<InstalledTool>,
    pub damaged: Vec<DamagedTool>,
}

impl InstalledTools {
    /// All versions of all tools.
    pub fn list(directories: &ToolDirectories) -> io::Result<InstalledTools> {
        let mut all = InstalledTools::default();
        for name in names_in(&directories.tools())? {
            let InstalledTools { tools, damaged } = InstalledTools::of(directories, &name)?;
            all.tools.extend(tools);
            all.damaged.extend(damaged);
        }
        Ok(all)
    }

    /// The versions of one tool.
    pub fn of(directories: &ToolDirectories, name: &str) -> io::Result<InstalledTools> {
        let mut found = InstalledTools::default();
        if check_tool_name(name).is_err() {
            return Ok(found);
        }
        let in_use = directories.version_in_use(name);
        for version in names_in(&directories.tool(name))? {
            let link = directories.tool(name).join(&version);
            let directory = fs::canonicalize(&link).map_err(at(Path::new("its directory")));
            let read = directory.and_then(|directory| {
                Ok((InstallRecord::read(&directory, name, &version)?, directory))
            });
            match read {
                Ok((record, directory)) => {
                    let in_use = in_use.as_ref() == Some(&version);
                    found.tools.push(InstalledTool { record, link, directory, in_use });
                }
                Err(error) => {
                    let (tool, problem) = (name.to_owned(), error.to_string());
                    let version = version_of_directory(&version);
                    found.damaged.push(DamagedTool { tool, version, problem });
                }
            }
        }
        found.tools.sort_by_key(|tool| std::cmp::Reverse(tool.record.installed_ms));
        Ok(found)
    }

    /// The names and versions of all, the damaged ones last.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let sound = self.tools.iter().map(|tool| (&*tool.record.tool, &*tool.record.version));
        sound.chain(self.damaged.iter().map(|tool| (&*tool.tool, &*tool.version)))
    }

    pub fn find(self, version: &str) -> Option<InstalledTool> {
        let wanted = version_directory_name(version);
        let is_it = |tool: &InstalledTool| version_directory_name(&tool.record.version) == wanted;
        self.tools.into_iter().find(is_it)
    }
}

impl ToolDirectories {
    /// Removes a version, also a damaged one. If it was in use, the newest one that is left is linked
    /// instead; it is returned. Only for whoever has the tool's lock.
    pub fn remove(&self, tool: &str, version: &str) -> io::Result<Option<InstalledTool>> {
        let directory = version_directory_name(version);
        let in_use = self.version_in_use(tool).as_ref() == Some(&directory);
        self.unlink(tool, |_, linked| linked == directory)?;
        let link = self.version(tool, version);
        fs::remove_file(&link).map_err(at(&link))?;
        self.remove_leftovers(tool)?;
        let next = InstalledTools::of(self, tool)?.tools.into_iter().next().filter(|_| in_use);
        if let Some(next) = &next {
            let InstallRecord { tool, version, .. } = &next.record;
            let wanted = WantedLinks { shadow: true, ..WantedLinks::OWN };
            self.link(tool, version, &next.record.linked_programs(), &wanted)?;
        }
        // Whoever installs the tool at this moment has made them again.
        let _ = fs::remove_dir(self.tool(tool));
        let _ = fs::remove_dir(self.installs(tool));
        Ok(next)
    }

    /// Removes what no link makes visible: installs that were interrupted. Only for whoever has the
    /// tool's lock.
    pub(super) fn remove_leftovers(&self, name: &str) -> io::Result<()> {
        let links = names_in(&self.tool(name))?;
        let visible: Vec<PathBuf> = links
            .iter()
            .filter_map(|link| fs::canonicalize(self.tool(name).join(link)).ok())
            .collect();
        for entry in names_in(&self.installs(name))? {
            let directory = self.installs(name).join(entry);
            let real = fs::canonicalize(&directory).unwrap_or_else(|_| directory.clone());
            if !visible.contains(&real) {
                remove_directory(&directory).map_err(at(&directory))?;
            }
        }
        Ok(())
    }
}

/// Removes a directory, also one whose directories its owner may not write.
pub(super) fn remove_directory(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(directory)?;
            fs::remove_dir_all(directory)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn make_writable(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}
