//! A recipe on this machine: its steps that are for it, as the few things that can be fetched and
//! built, with every placeholder filled in.

use super::artifact_cache::{FetchRequest, Locks};
use super::host_platform::HostPlatform;
use super::registry::Package;
use super::remote_file::{Address, RemoteFile};
use super::source_error::{Result, SourceError};
use super::source_ref::{SourceKind, check_version};
use crate::read_recipe::needed_by;
use crate::tool_recipe::{Action, Binary, InstallStep, PlatformWords, ToolRecipe};

#[derive(Debug)]
pub(super) struct FetchPlan<'r> {
    pub request: FetchRequest,
    pub works: Vec<Work<'r>>,
}

#[derive(Debug)]
pub(super) enum Work<'r> {
    Package(Package<'r>),
    Download(RemoteFile<'r>),
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

impl<'r> FetchPlan<'r> {
    pub fn new(
        recipe: &'r ToolRecipe,
        version: &'r str,
        platform: &HostPlatform,
    ) -> Result<FetchPlan<'r>> {
        check_version(version).map_err(|_| SourceError::Version(version.to_owned()))?;
        let here = recipe.steps.iter().filter(|step| platform.matches(step.when.as_ref()));
        let (mut works, mut fetching) = (Vec::new(), Vec::new());
        for InstallStep { action, .. } in here {
            let number = works.len();
            works.extend(works_of(action, number, version, platform)?);
            let fetches = |work: &Work<'_>| matches!(work, Work::Package(_) | Work::Download(_));
            if works[number..].iter().any(fetches) {
                fetching.push(action);
            }
        }
        if works.is_empty() {
            return Err(SourceError::NoSteps);
        }
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

fn works_of<'r>(
    action: &'r Action,
    number: usize,
    version: &'r str,
    platform: &HostPlatform,
) -> Result<Vec<Work<'r>>> {
    let package = |kind: SourceKind, name: &'r str, options: &'r [String]| {
        let part = format!("{}-{number}", kind.word());
        vec![Work::Package(Package { kind, name, options, version, part })]
    };
    let fill = |text: &str, words: &PlatformWords| platform.fill(text, version, words);
    let programs = |binaries: &[Binary], words: &PlatformWords| {
        let filled = binaries.iter().map(|binary| {
            let (path, name) = binary.parts();
            (fill(path, words), fill(name, words))
        });
        Work::Programs(filled.collect())
    };
    let asset = |repository: &'r str, pattern: &str, words| {
        let (file, at) = (fill(pattern, words), Address::Asset { repository, version });
        RemoteFile { file, at, sha256: None }
    };
    let archive = |file: RemoteFile<'r>, strip: u32, binaries: &[Binary], words| {
        let extract = Work::Extract { archive: file.file.clone(), strip };
        vec![Work::Download(file), extract, programs(binaries, words)]
    };
    let none = PlatformWords::default();
    Ok(match action {
        Action::NpmInstall { package: name, .. } => package(SourceKind::Npm, name, &[]),
        Action::CargoInstall { package: name, features, .. } => {
            package(SourceKind::Cargo, name, features)
        }
        Action::PipxInstall { package: name, extras, .. } => {
            package(SourceKind::Pypi, name, extras)
        }
        Action::GithubArchive { repo, asset_pattern, strip_dirs, binaries, words } => {
            archive(asset(repo, asset_pattern, words), *strip_dirs, binaries, words)
        }
        Action::GithubFile { repo, asset_pattern, binary, binaries, words } => {
            let file = asset(repo, asset_pattern, words);
            let listed = binaries.first().map(|binary| binary.parts().1);
            let own = repo.rsplit('/').next().unwrap_or(repo);
            let name = binary.as_deref().or(listed).unwrap_or(own).to_owned();
            let programs = Work::Programs(vec![(file.file.clone(), name)]);
            vec![Work::Download(file), programs]
        }
        Action::DownloadArchive { url, sha256, strip_dirs, binaries, words } => {
            let file = RemoteFile::at(fill(url, words), None, sha256.clone());
            archive(file, *strip_dirs, binaries, words)
        }
        Action::Download { url, sha256, checksum_url, dest, words } => {
            let checksums = checksum_url.as_ref().map(|list| fill(list, words));
            let file = RemoteFile::at(fill(url, words), checksums, sha256.clone());
            let dest = dest.as_ref().map(|dest| fill(dest, words));
            vec![Work::Download(RemoteFile { file: dest.unwrap_or(file.file), ..file })]
        }
        Action::Extract { archive, strip_dirs, words } => {
            vec![Work::Extract { archive: fill(archive, words), strip: *strip_dirs }]
        }
        Action::InstallBinaries { binaries } => vec![programs(binaries, &none)],
        Action::Run { command, network } => {
            let command = command.iter().map(|word| fill(word, &none)).collect();
            vec![Work::Run { command, network: *network }]
        }
        Action::Chmod { .. } => Vec::new(),
        Action::Foreign { name } => return Err(SourceError::ForeignStep(needed_by(name))),
    })
}
