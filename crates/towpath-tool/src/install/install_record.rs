//! What is known of an install, as JSON inside of it: where it came from, what it is made of, how it was
//! verified and in which sandbox.

use super::installed_file_hashes::changed_files;
use super::tool_directories::{at, version_directory_name};
use crate::attestation::Attestation;
use crate::file_hash::file_sha256;
use crate::repair_metadata::RepairMetadata;
use crate::verdict::Verdict;
use crate::verify_section::VerifySection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The form that this program writes.
pub const SCHEMA: u32 = 1;
const FILE: &str = "towpath-tool.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallRecord {
    /// The form of the file; [`SCHEMA`] is written.
    pub schema: u32,
    pub tool: String,
    pub version: String,
    /// The source, as a user writes it: `cargo:kibi`.
    pub from: String,
    pub installed_ms: i64,
    /// Of everything that was fetched for it.
    pub integrity: String,
    /// As the source has published them, by the name of the file.
    #[serde(default)]
    pub checksums: BTreeMap<String, String>,
    /// Who has built it; none where nobody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attestation: Option<Attestation>,
    pub binaries: Vec<InstalledBinary>,
    pub verify: VerifySection,
    pub sandbox: SandboxRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair_metadata: Option<RepairMetadata>,
    /// Directories outside of the install that its programs need, such as an interpreter's.
    #[serde(default)]
    pub runtime: Vec<PathBuf>,
    /// The programs that `bin/` leads to while it is in use.
    #[serde(default)]
    pub linked: Vec<String>,
    /// Of the list of all its files; none in installs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledBinary {
    pub name: String,
    /// Inside of the install.
    pub path: PathBuf,
    pub sha256: String,
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_found: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxRecord {
    pub kind: String,
    pub not_enforced: Vec<String>,
}

impl InstallRecord {
    /// The record of an install, unless it is not one of that tool and of that directory's version.
    pub(super) fn read(install: &Path, tool: &str, version: &str) -> io::Result<InstallRecord> {
        let path = Path::new(FILE);
        let text = fs::read(install.join(path)).map_err(at(path))?;
        let record: InstallRecord =
            serde_json::from_slice(&text).map_err(|error| at(path)(error.into()))?;
        let is_inside =
            |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
        let binaries = &record.binaries;
        let problem = if record.schema != SCHEMA {
            "written by a newer version of this program"
        } else if record.tool != tool || version_directory_name(&record.version) != version {
            "it is of another tool or version"
        } else if binaries.is_empty() {
            "it has no program"
        } else if !binaries.iter().all(|b| is_inside(&b.path) && !b.name.contains('/')) {
            "a program of it is not in the install"
        } else {
            return Ok(record);
        };
        Err(at(path)(io::Error::other(problem)))
    }

    pub(super) fn write(&self, install: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self)?;
        let file = fs::File::create_new(install.join(FILE))?;
        io::Write::write_all(&mut &file, &text)?;
        file.sync_all()
    }

    /// The programs that are linked, by name and path inside of the install.
    pub fn linked_programs(&self) -> Vec<(String, PathBuf)> {
        let mut programs = self.relative_programs();
        programs.retain(|(name, _)| self.linked.contains(name));
        programs
    }

    /// The programs of the install, by name and path inside of it.
    pub fn relative_programs(&self) -> Vec<(String, PathBuf)> {
        self.binaries.iter().map(|binary| (binary.name.clone(), binary.path.clone())).collect()
    }

    /// The programs of the install, by name and absolute path.
    pub fn programs(&self, install: &Path) -> Vec<(String, PathBuf)> {
        let absolute = |binary: &InstalledBinary| (binary.name.clone(), install.join(&binary.path));
        self.binaries.iter().map(absolute).collect()
    }

    /// The programs and other files that are not what was installed.
    pub fn changed(&self, install: &Path) -> Vec<String> {
        let mut changed = self.changed_programs(install);
        if let Some(files) = self.files.as_ref().filter(|_| changed.is_empty()) {
            changed = changed_files(install, files).unwrap_or_else(|error| vec![error.to_string()]);
        }
        changed
    }

    fn changed_programs(&self, install: &Path) -> Vec<String> {
        let is_changed = |binary: &&InstalledBinary| {
            file_sha256(&install.join(&binary.path)).ok().as_ref() != Some(&binary.sha256)
        };
        self.binaries.iter().filter(is_changed).map(|binary| binary.name.clone()).collect()
    }
}
