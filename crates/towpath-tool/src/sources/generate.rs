//! A recipe from what a source has. It begins with the usual check, `NAME --version`; whether the tool
//! accepts that is found out when it is verified. The file of a release or of a URL has to be seen before
//! anything is known of it.

use super::Fetching;
use super::artifact_cache::{ArtifactCache, Locks, PartialArtifact};
use super::building::is_program_name;
use super::candidate::Candidate;
use super::fetch_plan::FetchPlan;
use super::host_platform::HostPlatform;
use super::release_asset::plain_program_name;
use super::remote_file::{Address, FILES, RemoteFile, file_name};
use super::source_context::SourceContext;
use super::source_error::{AtPath as _, Result, SourceError};
use super::source_ref::SourceKind;
use crate::archive::{ArchiveError, ArchiveLimits, UnpackedFile, unpack};
use crate::tool_recipe::{
    Action, Binary, InstallStep, Metadata, PlatformWords, ToolRecipe, VersionKeys,
};
use crate::verify_section::{VERSION, VerifySection};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

/// The recipe for a candidate. The file of a release or of a URL is fetched and looked into, because
/// its recipe needs the paths of its programs; nothing else is fetched here.
pub fn generate(candidate: &Candidate, context: &SourceContext<'_>) -> Result<ToolRecipe> {
    let source = &candidate.source;
    let name = match source.kind() {
        SourceKind::Url => tool_name(source.name()),
        // The package's name without scope or owner.
        _ => source.name().rsplit('/').next().unwrap_or_default(),
    };
    let (package, executables) = (source.name().to_owned(), Vec::new());
    let mut version = VersionKeys::default();
    let mut binaries = candidate.binaries.clone();
    let mut fetched = None;
    let none = Vec::new();
    let actions = match source.kind() {
        SourceKind::Cargo => vec![Action::CargoInstall { package, features: none, executables }],
        SourceKind::Npm => vec![Action::NpmInstall { package, executables }],
        SourceKind::Pypi => vec![Action::PipxInstall { package, extras: none, executables }],
        kind => {
            match kind {
                SourceKind::Url => version.version = Some(candidate.version.clone()),
                _ => version.tag_prefix.clone_from(&candidate.tag_prefix),
            }
            let looked_into = look_into_file(candidate, name, context)?;
            binaries = looked_into.programs.iter().map(|(_, name)| name.clone()).collect();
            let actions = looked_into.actions(candidate);
            fetched = Some(looked_into.partial);
            actions
        }
    };
    // The tool's own program decides whether it works.
    binaries.retain(|program| is_program_name(program));
    binaries.sort_by_key(|program| program != name);
    let mut recipe = ToolRecipe {
        metadata: Metadata {
            name: name.to_owned(),
            description: candidate.description.clone(),
            homepage: candidate.homepage.clone(),
            license: candidate.license.clone(),
            binaries,
            aliases: Vec::new(),
        },
        version,
        steps: actions.into_iter().map(|action| InstallStep { action, when: None }).collect(),
        verify: VerifySection::by_version(""),
        provenance: None,
    };
    recipe.verify = VerifySection::by_version(recipe.main_binary());
    if let Some(partial) = fetched {
        // The same request that installing the recipe makes, so that nothing is fetched twice.
        let plan = FetchPlan::new(&recipe, &candidate.version, &HostPlatform::current())?;
        ArtifactCache::new(&context.cache).publish(&plan.request, partial)?;
    }
    Ok(recipe)
}

/// What a tool from a URL is called.
fn tool_name(url: &str) -> &str {
    let name = plain_program_name(file_name(url));
    let name = name.split_once('.').map_or(name, |(stem, _)| stem);
    if is_program_name(name) { name } else { "tool" }
}

/// A candidate's file, fetched.
struct LookedInto {
    file: String,
    url: String,
    sha256: String,
    /// How many directories of an archive are left out; none if the file is a program itself.
    strip: Option<u32>,
    /// Paths and names.
    programs: Vec<(String, String)>,
    /// It is kept, as the install of the recipe asks for it.
    partial: PartialArtifact,
}

fn look_into_file(
    candidate: &Candidate,
    tool: &str,
    context: &SourceContext<'_>,
) -> Result<LookedInto> {
    let asset = candidate.asset.clone();
    let asset = asset.ok_or_else(|| SourceError::NoFile("a file for this machine".to_owned()))?;
    let source = &candidate.source;
    let repository = (source.kind() == SourceKind::GitHub).then_some(source.name());
    let at = Address::Url { url: asset.url.clone(), checksums: None, repository };
    let remote = RemoteFile { file: asset.file, at, sha256: asset.sha256 };
    context.progress().phase("fetch");
    let partial = ArtifactCache::new(&context.cache).begin()?;
    let mut work = Fetching { locks: &Locks::new(), partial, context };
    let sha256 = remote.fetch(&mut work)?;
    let (file, partial) = (remote.file, work.partial);
    let (path, scratch) = (partial.part(FILES)?.join(&file), partial.scratch("content")?);
    let content = scratch.join("content");
    let (strip, programs) = match unpack(&path, &file, &content, 0, &ArchiveLimits::default()) {
        Ok(files) => {
            let strip = u32::from(has_one_directory(&files));
            let is_program = |file: &&UnpackedFile| is_program_file(&content.join(&file.path));
            let programs = files.iter().filter(is_program).map(|file| file.path.as_str());
            let programs = choose_programs(&programs.collect::<Vec<_>>(), strip, tool);
            (Some(strip), programs)
        }
        Err(ArchiveError::UnknownKind) if is_program_file(&path) => {
            (None, vec![(file.clone(), tool.to_owned())])
        }
        Err(error) => return Err(error.into()),
    };
    if programs.is_empty() {
        return Err(SourceError::NoFile(format!("a program in {file}")));
    }
    fs::remove_dir_all(&scratch).at(&scratch)?;
    Ok(LookedInto { file, url: asset.url, sha256, strip, programs, partial })
}

impl LookedInto {
    /// The steps that install it, for every version that is named alike.
    fn actions(&self, candidate: &Candidate) -> Vec<Action> {
        // A version of one number could be anything in a URL.
        let general = |text: &str| match candidate.version.contains('.') {
            true => text.replace(&candidate.version, VERSION),
            false => text.to_owned(),
        };
        let binary = |(path, name): &(String, String)| match path.rsplit('/').next() == Some(name) {
            true => Binary::Path(general(path)),
            false => Binary::Renamed { src: general(path), dest: name.clone() },
        };
        let binaries: Vec<Binary> = self.programs.iter().map(binary).collect();
        let (repo, asset_pattern) = (candidate.source.name().to_owned(), general(&self.file));
        let (url, sha256) = (general(&self.url), Some(self.sha256.clone()));
        let words = PlatformWords::default();
        match (candidate.source.kind(), self.strip) {
            (SourceKind::GitHub, Some(strip_dirs)) => {
                vec![Action::GithubArchive { repo, asset_pattern, strip_dirs, binaries, words }]
            }
            (SourceKind::GitHub, None) => {
                let binary = Some(self.programs[0].1.clone());
                let binaries = Vec::new();
                vec![Action::GithubFile { repo, asset_pattern, binary, binaries, words }]
            }
            (_, Some(strip_dirs)) => {
                vec![Action::DownloadArchive { url, sha256, strip_dirs, binaries, words }]
            }
            (_, None) => {
                let (checksum_url, dest) = (None, None);
                let download = Action::Download { url, sha256, checksum_url, dest, words };
                vec![download, Action::InstallBinaries { binaries }]
            }
        }
    }
}

/// Whether everything is in one directory, which only repeats the name of the archive.
fn has_one_directory(files: &[UnpackedFile]) -> bool {
    let top = |file: &UnpackedFile| file.path.split_once('/').map(|(top, _)| top.to_owned());
    let Some(first) = files.first().and_then(top) else { return false };
    first != "bin" && files.iter().all(|file| top(file).as_ref() == Some(&first))
}

/// Which files are the programs that a user wants: those in `bin/`, else those at the top, else those
/// with the tool's name. The tool's own comes first.
fn choose_programs(paths: &[&str], strip: u32, tool: &str) -> Vec<(String, String)> {
    let stripped = paths.iter().map(|path| match strip {
        0 => *path,
        _ => path.split_once('/').map_or(*path, |(_, rest)| rest),
    });
    let named: Vec<(&str, &str)> = stripped
        .map(|path| (path, path.rsplit('/').next().unwrap_or(path)))
        .filter(|(_, name)| is_program_name(name) && !is_helper(name))
        .collect();
    let kind = |(path, name): &(&str, &str)| match path.strip_suffix(name) {
        Some("bin/" | "usr/bin/") => Some(0),
        Some("") => Some(1),
        _ => plain_program_name(name).eq_ignore_ascii_case(tool).then_some(2),
    };
    let best = named.iter().filter_map(kind).min();
    let chosen = named.iter().filter(|program| best.is_some() && kind(program) == best);
    let mut programs: Vec<(String, String)> = chosen
        .map(|(path, name)| ((*path).to_owned(), plain_program_name(name).to_owned()))
        .collect();
    programs.sort_by_key(|(_, name)| (!name.eq_ignore_ascii_case(tool), name.clone()));
    programs.dedup_by(|one, two| one.1 == two.1);
    programs
}

/// Scripts that install, and libraries, are no programs for a user.
fn is_helper(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    let installs =
        ["install", "uninstall", "setup", "configure", "autogen", "build", "postinstall"];
    installs.contains(&stem.as_str()) || name.contains(".so") || name.ends_with(".dylib")
}

/// By its first bytes: an archive may not have kept what is executable.
fn is_program_file(file: &Path) -> bool {
    let mut head = [0; 4];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut head));
    let mach_o = [[0xcf, 0xfa, 0xed, 0xfe], [0xca, 0xfe, 0xba, 0xbe]];
    read.is_ok() && (head == *b"\x7fELF" || head.starts_with(b"#!") || mach_o.contains(&head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_urls() {
        let cases = [
            (
                "https://example.com/dl/hexyl-v0.16.0-x86_64-unknown-linux-gnu.tar.gz?x=/y",
                "hexyl-v0.16.0-x86_64-unknown-linux-gnu.tar.gz",
                "hexyl",
            ),
            ("https://example.com/jq-linux64", "jq-linux64", "jq"),
            ("https://example.com/tool.zip#part", "tool.zip", "tool"),
            ("https://example.com/", "download", "download"),
            ("https://example.com", "download", "download"),
            ("https://example.com/.hidden", "download", "download"),
            ("https://example.com/%20x", "%20x", "tool"),
        ];
        for (url, file, tool) in cases {
            assert_eq!((file_name(url), tool_name(url)), (file, tool), "{url}");
        }
    }

    #[test]
    fn programs_are_chosen_by_where_they_are() {
        let choose = |paths: &[&str], strip, tool| -> Vec<String> {
            let programs = choose_programs(paths, strip, tool);
            programs.into_iter().map(|(path, name)| format!("{path} {name}")).collect()
        };
        assert_eq!(
            choose(&["t/bin/b", "t/bin/tool", "t/lib/x", "t/install.sh"], 1, "tool"),
            ["bin/tool tool", "bin/b b"]
        );
        assert_eq!(choose(&["rg", "complete/x"], 0, "ripgrep"), ["rg rg"]);
        assert_eq!(
            choose(&["deep/down/tool-linux-amd64", "deep/other"], 0, "tool"),
            ["deep/down/tool-linux-amd64 tool"]
        );
        assert_eq!(choose(&["install.sh", "libx.so", "a/b/c"], 0, "tool"), [""; 0]);
    }

    #[test]
    fn one_directory_around_everything_is_left_out() {
        let files = |paths: &[&str]| -> Vec<UnpackedFile> {
            let file = |path: &&str| UnpackedFile { path: (*path).to_owned(), executable: true };
            paths.iter().map(file).collect()
        };
        assert!(has_one_directory(&files(&["t-1.0/a", "t-1.0/b/c"])));
        assert!(!has_one_directory(&files(&["t-1.0/a", "b"])));
        assert!(!has_one_directory(&files(&["bin/a", "bin/b"])));
        assert!(!has_one_directory(&files(&["a"])) && !has_one_directory(&[]));
    }
}
