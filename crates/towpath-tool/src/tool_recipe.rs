//! A tool recipe: what the tool is, where its versions come from, how it is installed and how it is
//! verified, with the keys of tsuku's recipes. A value of [`ToolRecipe`] has passed all checks of the
//! reader; changing its verify section makes another value, and the original stays as it is.

use crate::recipe_provenance::Provenance;
use crate::sources::{SourceKind, SourceRef};
use crate::verify_section::{VERSION, VerifySection};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRecipe {
    pub metadata: Metadata,
    #[serde(default, skip_serializing_if = "is_default")]
    pub version: VersionKeys,
    pub steps: Vec<InstallStep>,
    pub verify: VerifySection,
    pub provenance: Option<Provenance>,
}

impl ToolRecipe {
    /// The same recipe with another verify section.
    #[must_use]
    pub fn with_verify(&self, verify: VerifySection) -> ToolRecipe {
        ToolRecipe { verify, ..self.clone() }
    }

    /// Whether both install the same and verify it in the same way, whatever their descriptions are.
    pub fn does_the_same(&self, other: &ToolRecipe) -> bool {
        let doing = |recipe: &ToolRecipe| {
            let Metadata { name, binaries, aliases, .. } = recipe.metadata.clone();
            let metadata = Metadata { name, binaries, aliases, ..Metadata::default() };
            ToolRecipe { metadata, provenance: None, ..recipe.clone() }
        };
        doing(self) == doing(other)
    }

    /// The same recipe for the programs that an install really has. Where the tool's name is not one of
    /// them, as `rg` of ripgrep, the first one is verified.
    #[must_use]
    pub fn with_programs(&self, programs: &[(String, PathBuf)]) -> ToolRecipe {
        let mut recipe = self.clone();
        let mut names: Vec<String> = programs.iter().map(|(name, _)| name.clone()).collect();
        if let Some(main) = self.main_of(&names) {
            names[..=main].rotate_right(1);
        }
        if let Some(first) = names.first().filter(|first| *first != self.main_binary()) {
            recipe.verify = VerifySection::by_version(first);
        }
        recipe.metadata.binaries = names;
        recipe
    }

    /// The same recipe for a tool that the user calls otherwise than its source does.
    #[must_use]
    pub fn with_name(&self, name: &str) -> ToolRecipe {
        let mut recipe = self.clone();
        name.clone_into(&mut recipe.metadata.name);
        recipe.metadata.binaries.sort_by_key(|program| program != name);
        if self.verify == VerifySection::by_version(self.main_binary()) {
            recipe.verify = VerifySection::by_version(recipe.main_binary());
        }
        recipe
    }

    /// Which of an install's programs decides: the one with the tool's name, else `tesseract` of
    /// `tesseract-ocr`.
    fn main_of(&self, programs: &[String]) -> Option<usize> {
        let source = self.source();
        let package = source.name().rsplit('/').next().unwrap_or_default();
        let wanted = [self.main_binary(), &self.metadata.name, package];
        let same = wanted.iter().find_map(|name| programs.iter().position(|p| p == name));
        let begins = |program: &&String| {
            let mut rests = wanted.iter().filter_map(|name| name.strip_prefix(program.as_str()));
            rests.any(|rest| rest.starts_with(['-', '_']))
        };
        let longest = programs.iter().filter(begins).max_by_key(|program| program.len());
        same.or_else(|| programs.iter().position(|program| Some(program) == longest))
    }

    /// The program that decides whether the tool works: the first of its binaries, else its name.
    pub fn main_binary(&self) -> &str {
        let listed = self.steps.iter().flat_map(|step| step.action.executables());
        let first = self.metadata.binaries.iter().chain(listed).next();
        first.unwrap_or(&self.metadata.name).rsplit('/').next().unwrap_or_default()
    }

    /// Where the tool and its versions come from. A recipe whose names are no names of the source has been
    /// refused by the reader.
    pub fn source(&self) -> SourceRef {
        let repository = self.version.github_repo.as_ref().map(|repo| (SourceKind::GitHub, repo));
        let named = repository.or_else(|| self.steps.iter().find_map(|step| step.action.package()));
        let (kind, name) = match named {
            Some((kind, name)) => (kind, name.clone()),
            None => (SourceKind::Url, self.address().unwrap_or_else(|| self.metadata.name.clone())),
        };
        SourceRef::checked(kind, name)
    }

    /// The SHA-256 that the file at its address must have.
    pub fn downloaded_hash(&self) -> Option<&str> {
        self.steps.iter().find_map(|step| match &step.action {
            Action::Download { sha256, .. } | Action::DownloadArchive { sha256, .. } => {
                sha256.as_deref()
            }
            _ => None,
        })
    }

    fn address(&self) -> Option<String> {
        let version = self.version.version.as_deref().unwrap_or_default();
        let url = self.steps.iter().find_map(|step| match &step.action {
            Action::Download { url, .. } | Action::DownloadArchive { url, .. } => Some(url),
            _ => None,
        });
        url.map(|url| url.replace(VERSION, version))
    }
}

/// `[metadata]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Metadata {
    pub name: String,
    pub description: Option<String>,
    pub homepage: Option<String>,
    pub license: Option<String>,
    /// The programs that an install provides; empty is the one with the recipe's name.
    #[serde(default, skip_serializing_if = "is_default")]
    pub binaries: Vec<String>,
    /// Other names that the tool prints of itself, such as that of its suite.
    #[serde(default, skip_serializing_if = "is_default")]
    pub aliases: Vec<String>,
}

/// `[version]`: where the versions of the tool come from, if its steps do not show it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VersionKeys {
    pub github_repo: Option<String>,
    /// The part of a release's tag before the version.
    pub tag_prefix: Option<String>,
    /// The one version of a plain archive.
    pub version: Option<String>,
}

/// One row of `[[steps]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallStep {
    #[serde(flatten)]
    pub action: Action,
    pub when: Option<Platform>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    NpmInstall {
        package: String,
        #[serde(default, skip_serializing_if = "is_default")]
        executables: Vec<String>,
    },
    CargoInstall {
        #[serde(rename = "crate")]
        package: String,
        #[serde(default, skip_serializing_if = "is_default")]
        features: Vec<String>,
        #[serde(default, skip_serializing_if = "is_default")]
        executables: Vec<String>,
    },
    PipxInstall {
        package: String,
        #[serde(default, skip_serializing_if = "is_default")]
        extras: Vec<String>,
        #[serde(default, skip_serializing_if = "is_default")]
        executables: Vec<String>,
    },
    /// An archive of a release, unpacked, with its programs.
    GithubArchive {
        repo: String,
        asset_pattern: String,
        #[serde(default, skip_serializing_if = "is_default")]
        strip_dirs: u32,
        binaries: Vec<Binary>,
        #[serde(flatten)]
        words: PlatformWords,
    },
    /// A program that is a file of a release.
    GithubFile {
        repo: String,
        asset_pattern: String,
        binary: Option<String>,
        #[serde(default, skip_serializing_if = "is_default")]
        binaries: Vec<Binary>,
        #[serde(flatten)]
        words: PlatformWords,
    },
    DownloadArchive {
        url: String,
        sha256: Option<String>,
        #[serde(default, skip_serializing_if = "is_default")]
        strip_dirs: u32,
        binaries: Vec<Binary>,
        #[serde(flatten)]
        words: PlatformWords,
    },
    Download {
        url: String,
        sha256: Option<String>,
        /// A list of checksums that has the file's.
        checksum_url: Option<String>,
        /// The name of the file; by default the last part of the URL.
        dest: Option<String>,
        #[serde(flatten)]
        words: PlatformWords,
    },
    Extract {
        archive: String,
        /// How many leading directories of each path are left out.
        #[serde(default, skip_serializing_if = "is_default")]
        strip_dirs: u32,
        #[serde(flatten)]
        words: PlatformWords,
    },
    InstallBinaries {
        #[serde(alias = "outputs")]
        binaries: Vec<Binary>,
    },
    /// Programs become executable when they are installed.
    Chmod {
        #[serde(default)]
        files: Vec<String>,
    },
    Run {
        /// The program and its arguments; no shell reads them.
        command: Vec<String>,
        #[serde(default, skip_serializing_if = "is_default")]
        network: bool,
    },
    /// An action of other programs that read such recipes.
    Foreign { name: String },
}

impl Action {
    fn executables(&self) -> &[String] {
        match self {
            Action::NpmInstall { executables, .. }
            | Action::CargoInstall { executables, .. }
            | Action::PipxInstall { executables, .. } => executables,
            _ => &[],
        }
    }

    /// The package or repository that it installs.
    fn package(&self) -> Option<(SourceKind, &String)> {
        match self {
            Action::NpmInstall { package, .. } => Some((SourceKind::Npm, package)),
            Action::CargoInstall { package, .. } => Some((SourceKind::Cargo, package)),
            Action::PipxInstall { package, .. } => Some((SourceKind::Pypi, package)),
            Action::GithubArchive { repo, .. } | Action::GithubFile { repo, .. } => {
                Some((SourceKind::GitHub, repo))
            }
            _ => None,
        }
    }
}

/// A program inside of what was extracted: its path, or that and the name it is installed by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Binary {
    Path(String),
    Renamed { src: String, dest: String },
}

impl Binary {
    /// Its path and its name.
    pub fn parts(&self) -> (&str, &str) {
        let (path, name) = match self {
            Binary::Path(path) => (path, path),
            Binary::Renamed { src, dest } => (src, dest),
        };
        (path, name.rsplit('/').next().unwrap_or(name))
    }
}

/// The words of file names for systems and processors: `{os}` is `linux` or `darwin`, `{arch}` is `amd64`
/// or `arm64`, unless a word is given for it here.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlatformWords {
    #[serde(default, skip_serializing_if = "is_default")]
    pub os_mapping: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub arch_mapping: BTreeMap<String, String>,
}

/// `when`: the platforms that a step is for. What is left out is any.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Platform {
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "one_or_more")]
    pub os: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "one_or_more")]
    pub arch: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "one_or_more")]
    pub libc: Vec<String>,
    /// `linux/amd64`
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "one_or_more")]
    pub platform: Vec<String>,
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Words {
        One(String),
        More(Vec<String>),
    }
    Ok(match Words::deserialize(deserializer)? {
        Words::One(word) => vec![word],
        Words::More(words) => words,
    })
}
