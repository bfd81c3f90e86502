//! One install from its lock to its link: fetched, built in a directory of its own, and then either
//! published with what proves that it works, or removed. Dropping a staged install removes it.

use super::bin_links::{NotLinked, WantedLinks, replace_link};
use super::install_record::{InstallRecord, InstalledBinary, SCHEMA, SandboxRecord};
use super::installed_file_hashes::write_list;
use super::installed_tools::{InstalledTool, remove_directory};
use super::tool_directories::{ToolDirectories, at, version_directory_name};
use crate::file_hash::file_sha256;
use crate::read_recipe::write_recipe;
use crate::self_repair::Proof;
use crate::sources::{Artifact, Built, Locks, SourceContext, SourceError, SourceRef, build, fetch};
use crate::tool_recipe::ToolRecipe;
use crate::verification::SandboxSetup;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use towpath_process::sandbox::Confinement;

const RECIPE: &str = "towpath-tool.toml";
/// Has a directory for each program.
const ALONE: &str = "alone";
/// The choices of the clients for it.
const LOCKS: &str = "towpath-locks.json";

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    File(#[from] io::Error),
    #[error("{tool} {version} has no program")]
    NoPrograms { tool: String, version: String },
}

/// What was built and is not visible yet.
#[derive(Debug)]
pub struct StagedInstall<'a> {
    directories: &'a ToolDirectories,
    /// Locked as long as it is open.
    _lock: File,
    tool: String,
    version: String,
    directory: PathBuf,
    artifact: Artifact,
    built: Built,
    published: bool,
}

impl<'a> StagedInstall<'a> {
    /// Fetches and builds a version, exactly as it is locked where it is.
    pub fn build(
        directories: &'a ToolDirectories,
        lock: File,
        recipe: &ToolRecipe,
        version: &str,
        locks: &Locks,
        context: &SourceContext<'_>,
    ) -> Result<StagedInstall<'a>, InstallError> {
        let tool = recipe.metadata.name.clone();
        let installs = directories.installs(&tool);
        directories.remove_leftovers(&tool)?;
        let artifact = fetch(recipe, version, locks, context)?;
        let directory = new_directory(&installs, version).map_err(at(&installs))?;
        let mut staged = StagedInstall {
            directories,
            _lock: lock,
            tool,
            version: version.to_owned(),
            directory,
            artifact,
            built: Built::default(),
            published: false,
        };
        staged.built = build(recipe, version, &staged.artifact, &staged.directory, context)?;
        if staged.built.binaries.is_empty() {
            let (tool, version) = (staged.tool.clone(), staged.version.clone());
            return Err(InstallError::NoPrograms { tool, version });
        }
        Ok(staged)
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    /// The programs, by name and absolute path.
    pub fn programs(&self) -> Vec<(String, PathBuf)> {
        let absolute = |(name, path): &(String, PathBuf)| (name.clone(), self.directory.join(path));
        self.built.binaries.iter().map(absolute).collect()
    }

    /// How its programs are run to verify them.
    pub fn sandbox(&self, confinement: &Confinement, own_program: &Path) -> SandboxSetup {
        sandbox_of(&self.directory, &self.built.runtime, confinement, own_program)
    }

    /// Makes the install visible, with what proves that it works, and links what is asked for. Returns the
    /// programs, too, that were to be linked, and whose name belongs to something else.
    pub fn publish(
        mut self,
        proof: &Proof,
        from: &SourceRef,
        wanted: &WantedLinks,
        now_ms: i64,
    ) -> Result<(InstalledTool, Vec<NotLinked>), InstallError> {
        let bin = self.directories.bin();
        // Before anything is visible: an install without its links would be half of one.
        self.directories.require_writable_bin().map_err(at(&bin))?;
        let recipe = self.directory.join(RECIPE);
        fs::write(&recipe, write_recipe(&proof.recipe)).map_err(at(&recipe))?;
        let locks = self.directory.join(LOCKS);
        let text = serde_json::to_vec(&self.artifact.locks).expect("a map of texts is JSON");
        fs::write(&locks, text).map_err(at(&locks))?;
        let alone = self.directory.join(ALONE);
        self.make_alone(&alone).map_err(at(&alone))?;
        let linked = wanted.programs(proof.recipe.main_binary());
        let record = InstallRecord { linked, ..self.record(proof, from, now_ms)? };
        record.write(&self.directory).map_err(at(&self.directory))?;
        let link = self.directories.version(&self.tool, &self.version);
        self.link(&link).map_err(at(&link))?;
        self.published = true;
        let not_linked = self
            .directories
            .link(&self.tool, &self.version, &record.linked_programs(), wanted)
            .map_err(at(&bin))?;
        let entry = version_directory_name(&self.version);
        let in_use = self.directories.version_in_use(&self.tool) == Some(entry);
        Ok((InstalledTool { record, link, directory: self.directory.clone(), in_use }, not_linked))
    }

    /// Makes a directory for each program that has nothing else: whoever puts it on PATH gets no other
    /// program of the package, which may have the name of anything.
    fn make_alone(&self, directory: &Path) -> io::Result<()> {
        remove_directory(directory)?;
        for (name, path) in &self.built.binaries {
            fs::create_dir_all(directory.join(name))?;
            symlink(Path::new("../..").join(path), directory.join(name).join(name))?;
        }
        Ok(())
    }

    fn link(&self, link: &Path) -> io::Result<()> {
        let folder = self.directories.tool(&self.tool);
        fs::create_dir_all(&folder)?;
        let before = fs::canonicalize(link).ok();
        let name = self.directory.file_name().unwrap_or_default();
        let target = Path::new("../.installs").join(&self.tool).join(name);
        replace_link(link, &target)?;
        File::open(&folder)?.sync_all()?;
        // A link whose install was lost may have led to a directory of the same name.
        match before.filter(|before| Some(before) != fs::canonicalize(link).ok().as_ref()) {
            Some(before) => remove_directory(&before),
            None => Ok(()),
        }
    }

    fn record(
        &self,
        proof: &Proof,
        from: &SourceRef,
        installed_ms: i64,
    ) -> Result<InstallRecord, InstallError> {
        let mut binaries = Vec::new();
        for (name, path) in &self.built.binaries {
            let file = self.directory.join(path);
            let report = proof.reports.iter().find(|report| report.name == *name);
            binaries.push(InstalledBinary {
                name: name.clone(),
                path: path.clone(),
                sha256: file_sha256(&file).map_err(at(&file))?,
                verdict: report.map_or(crate::Verdict::Unknown, |report| report.verdict.verdict),
                version_found: report.and_then(|report| report.verdict.version_found.clone()),
            });
        }
        let not_enforced = proof.sandbox.not_enforced.iter().map(|&what| what.to_owned()).collect();
        Ok(InstallRecord {
            schema: SCHEMA,
            tool: self.tool.clone(),
            version: self.version.clone(),
            from: from.to_string(),
            installed_ms,
            integrity: self.artifact.integrity.clone(),
            checksums: self.artifact.checksums.iter().cloned().collect(),
            attestation: self.artifact.attestation.clone(),
            binaries,
            verify: proof.recipe.verify.clone(),
            sandbox: SandboxRecord { kind: proof.sandbox.kind.to_owned(), not_enforced },
            repair_metadata: proof.repair.clone(),
            runtime: self.built.runtime.clone(),
            linked: Vec::new(),
            files: Some(write_list(&self.directory).map_err(at(&self.directory))?),
        })
    }
}

impl Drop for StagedInstall<'_> {
    fn drop(&mut self) {
        if !self.published {
            let _ = remove_directory(&self.directory);
        }
    }
}

/// How the programs of an install are run to verify them.
pub(crate) fn sandbox_of(
    install: &Path,
    runtime: &[PathBuf],
    confinement: &Confinement,
    own_program: &Path,
) -> SandboxSetup {
    SandboxSetup {
        confinement: confinement.clone(),
        own_program: own_program.to_owned(),
        readable: runtime.iter().cloned().chain([install.to_owned()]).collect(),
        path: runtime.iter().map(|directory| directory.join("bin")).collect(),
        install_path: vec![install.join("bin")],
    }
}

/// A program of an install, in a directory that has no other.
pub(super) fn program_alone(install: &Path, name: &str) -> PathBuf {
    install.join(ALONE).join(name).join(name)
}

/// The recipe of an install, and what the clients have chosen for it.
pub fn recipe_and_locks(install: &Path) -> Option<(String, Locks)> {
    let recipe = fs::read_to_string(install.join(RECIPE)).ok()?;
    let locks = fs::read(install.join(LOCKS)).ok()?;
    Some((recipe, serde_json::from_slice(&locks).ok()?))
}

/// A directory that nobody else has.
fn new_directory(installs: &Path, version: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(installs)?;
    let version = version_directory_name(version);
    for number in 1.. {
        let directory = installs.join(format!("{version}-{number}"));
        match fs::create_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| directory),
        }
    }
    unreachable!("there are more numbers than directories")
}
