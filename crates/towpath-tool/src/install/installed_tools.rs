//! What is installed: the versions of each tool that are visible, and which of them `bin/` leads to.
//! Removing one removes its links first, so that nothing ever leads to half an install.

use super::bin_links::{BinLinks, at};
use super::install_record::InstallRecord;
use super::staged_install::sandbox_of;
use super::tool_directories::{ToolDirectories, version_directory_name};
use crate::recipe_values::check_tool_name;
use crate::verification::SandboxSetup;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use towpath_process::sandbox::Confinement;

#[derive(Debug, Clone)]
pub struct InstalledTool {
    pub record: InstallRecord,
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
}

#[derive(Debug)]
pub struct InstalledTools<'a> {
    directories: &'a ToolDirectories,
}

impl<'a> InstalledTools<'a> {
    pub fn new(directories: &'a ToolDirectories) -> InstalledTools<'a> {
        InstalledTools { directories }
    }

    /// All versions of all tools, by name, the newest install first.
    pub fn list(&self) -> io::Result<Vec<InstalledTool>> {
        let mut tools = Vec::new();
        for name in names_in(&self.directories.tools())? {
            tools.extend(self.versions(&name)?);
        }
        Ok(tools)
    }

    /// The versions of one tool, the newest install first.
    pub fn versions(&self, name: &str) -> io::Result<Vec<InstalledTool>> {
        if check_tool_name(name).is_err() {
            return Ok(Vec::new());
        }
        let in_use = BinLinks::new(self.directories).version_in_use(name);
        let mut found = Vec::new();
        for entry in names_in(&self.directories.tool(name))? {
            let link = self.directories.tool(name).join(&entry);
            let Ok(directory) = fs::canonicalize(&link) else { continue };
            let Ok(record) = InstallRecord::read(&directory) else { continue };
            let in_use = in_use.as_deref() == Some(entry.as_str());
            found.push(InstalledTool { record, directory, in_use });
        }
        found.sort_by_key(|tool| std::cmp::Reverse(tool.record.installed_ms));
        Ok(found)
    }

    pub fn find(&self, name: &str, version: &str) -> io::Result<Option<InstalledTool>> {
        let wanted = version_directory_name(version);
        let is_it = |tool: &InstalledTool| version_directory_name(&tool.record.version) == wanted;
        Ok(self.versions(name)?.into_iter().find(is_it))
    }

    /// Removes one version. If it was in use, the newest one that is left is linked instead; it is
    /// returned.
    pub fn remove(&self, tool: &InstalledTool) -> io::Result<Option<InstalledTool>> {
        let record = &tool.record;
        let links = BinLinks::new(self.directories);
        links.remove(&record.tool, Some(&record.version))?;
        let link = self.directories.version(&record.tool, &record.version);
        fs::remove_file(&link).map_err(at(&link))?;
        remove_directory(&tool.directory).map_err(at(&tool.directory))?;
        let next = self.versions(&record.tool)?.into_iter().next().filter(|_| tool.in_use);
        if let Some(next) = &next {
            let InstallRecord { tool, version, .. } = &next.record;
            links.link(tool, version, &next.record.linked_programs(), true)?;
        }
        // Whoever installs the tool at this moment has made them again.
        let _ = fs::remove_dir(self.directories.tool(&record.tool));
        let _ = fs::remove_dir(self.directories.installs(&record.tool));
        Ok(next)
    }

    /// Removes what no link makes visible: installs that were interrupted. Only for whoever has the
    /// tool's lock.
    pub(super) fn remove_leftovers(&self, name: &str) -> io::Result<()> {
        let links = names_in(&self.directories.tool(name))?;
        let visible: Vec<PathBuf> = links
            .iter()
            .filter_map(|link| fs::canonicalize(self.directories.tool(name).join(link)).ok())
            .collect();
        for entry in names_in(&self.directories.installs(name))? {
            let directory = self.directories.installs(name).join(entry);
            let real = fs::canonicalize(&directory).unwrap_or_else(|_| directory.clone());
            if !visible.contains(&real) {
                remove_directory(&directory)?;
            }
        }
        Ok(())
    }
}

/// The names in a directory, sorted; hidden ones are not for users.
fn names_in(directory: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        // A file that was put there is no tool.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names: Vec<String> = names.collect::<io::Result<_>>()?;
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    Ok(names)
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
