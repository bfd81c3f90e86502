//! A recipe on this machine: its steps that are for it, as the few things that can be fetched and
//! built, with every placeholder filled in.

use super::archive_url::file_name;
use super::artifact_cache::{FetchRequest, Locks};
use super::host_platform::HostPlatform;
use super::registry::Package;
use super::source_error::SourceError;
use super::source_ref::{SourceKind, check_version};
use crate::read_recipe::needed_by;
use crate::tool_recipe::{Action, Binary, PlatformWords, ToolRecipe};

#[derive(Debug)]
pub(super) struct FetchPlan<'r> {
    pub request: FetchRequest,
    pub works: Vec<Work<'r>>,
}

#[derive(Debug)]
pub(super) enum Work<'r> {
    Package {
        kind: SourceKind,
        name: &'r str,
        options: &'r [String],
        part: String,
    },
    Download(RemoteFile),
    Extract {
        archive: String,
        strip: u32,
    },
    /// Paths, and the names that they are installed by.
    Programs(Vec<(String, String)>),
    Run {
        command: Vec<String>,
        network: bool,
    },
}

/// A file that is fetched as it is.
#[derive(Debug, Clone)]
pub(super) struct RemoteFile {
    /// The name that it is kept by.
    pub file: String,
    pub at: Address,
    pub sha256: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Address {
    Url {
        url: String,
        checksums: Option<String>,
    },
    /// The file of a release of a repository that has this name.
    Asset {
        repository: String,
        name: String,
    },
}

impl<'r> Work<'r> {
    pub fn package(&self, version: &'r str) -> Option<Package<'_>> {
        match self {
            Work::Package { kind, name, options, part } => {
                Some(Package { kind: *kind, name, options, version, part })
            }
            _ => None,
        }
    }
}

impl<'r> FetchPlan<'r> {
    pub fn new(
        recipe: &'r ToolRecipe,
        version: &str,
        platform: &HostPlatform,
    ) -> Result<FetchPlan<'r>, SourceError> {
        check_version(version).map_err(|_| SourceError::Version(version.to_owned()))?;
        let here = recipe.steps.iter().filter(|step| platform.matches(step.when.as_ref()));
        let here: Vec<&Action> = here.map(|step| &step.action).collect();
        let mut works = Vec::new();
        for action in &here {
            let number = works.len();
            works.extend(works_of(action, number, version, platform)?);
        }
        if works.is_empty() {
            return Err(SourceError::NoSteps);
        }
        let fetching: Vec<&Action> = here.into_iter().filter(|action| fetches(action)).collect();
        let request = FetchRequest {
            source: recipe.source(),
            version: version.to_owned(),
            steps: serde_json::to_value(fetching).expect("actions are JSON"),
            platform: platform.word(),
            locks: Locks::new(),
        };
        Ok(FetchPlan { request, works })
    }
}

fn fetches(action: &Action) -> bool {
    !matches!(
        action,
        Action::Extract { .. }
            | Action::InstallBinaries { .. }
            | Action::Run { .. }
            | Action::Chmod { .. }
    )
}

fn works_of<'r>(
    action: &'r Action,
    number: usize,
    version: &str,
    platform: &HostPlatform,
) -> Result<Vec<Work<'r>>, SourceError> {
    let package = |kind: SourceKind, name: &'r str, options: &'r [String]| {
        let part = format!("{}-{number}", kind.word());
        Ok(vec![Work::Package { kind, name, options, part }])
    };
    let fill = |text: &str, words: &PlatformWords| platform.fill(text, version, words);
    let programs = |binaries: &[Binary], words: &PlatformWords| {
        let filled = binaries.iter().map(|binary| {
            let (path, name) = binary.parts();
            (fill(path, words), fill(name, words))
        });
        Work::Programs(filled.collect())
    };
    let none = PlatformWords::default();
    let asset = |repository: &str, pattern: &str, words| {
        let name = fill(pattern, words);
        let at = Address::Asset { repository: repository.to_owned(), name: name.clone() };
        RemoteFile { file: name, at, sha256: None }
    };
    match action {
        Action::NpmInstall { package: name, .. } => package(SourceKind::Npm, name, &[]),
        Action::CargoInstall { package: name, features, .. } => {
            package(SourceKind::Cargo, name, features)
        }
        Action::PipxInstall { package: name, extras, .. } => {
            package(SourceKind::Pypi, name, extras)
        }
        Action::GithubArchive { repo, asset_pattern, strip_dirs, binaries, words } => {
            let file = asset(repo, asset_pattern, words);
            let extract = Work::Extract { archive: file.file.clone(), strip: *strip_dirs };
            Ok(vec![Work::Download(file), extract, programs(binaries, words)])
        }
        Action::GithubFile { repo, asset_pattern, binary, binaries, words } => {
            let file = asset(repo, asset_pattern, words);
            let listed = binaries.first().map(|binary| binary.parts().1.to_owned());
            let own = repo.rsplit('/').next().unwrap_or(repo).to_owned();
            let name = binary.clone().or(listed).unwrap_or(own);
            let programs = Work::Programs(vec![(file.file.clone(), name)]);
            Ok(vec![Work::Download(file), programs])
        }
        Action::DownloadArchive { url, sha256, strip_dirs, binaries, words } => {
            let url = fill(url, words);
            let file = file_name(&url).to_owned();
            let extract = Work::Extract { archive: file.clone(), strip: *strip_dirs };
            let at = Address::Url { url, checksums: None };
            let file = RemoteFile { file, at, sha256: sha256.clone() };
            Ok(vec![Work::Download(file), extract, programs(binaries, words)])
        }
        Action::Download { url, sha256, checksum_url, dest, words } => {
            let url = fill(url, words);
            let dest = dest.as_ref().map(|dest| fill(dest, words));
            let file = dest.unwrap_or_else(|| file_name(&url).to_owned());
            let checksums = checksum_url.as_ref().map(|list| fill(list, words));
            let at = Address::Url { url, checksums };
            Ok(vec![Work::Download(RemoteFile { file, at, sha256: sha256.clone() })])
        }
        Action::Extract { archive, strip_dirs, words } => {
            Ok(vec![Work::Extract { archive: fill(archive, words), strip: *strip_dirs }])
        }
        Action::InstallBinaries { binaries } => Ok(vec![programs(binaries, &none)]),
        Action::Run { command, network } => {
            let command = command.iter().map(|word| fill(word, &none)).collect();
            Ok(vec![Work::Run { command, network: *network }])
        }
        Action::Chmod { .. } => Ok(Vec::new()),
        Action::Foreign { name } => Err(SourceError::ForeignStep(needed_by(name))),
    }
}
