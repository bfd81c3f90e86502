//! A file at a URL, and what releases and URLs have in common: the recipe for a file that has to be seen
//! before anything is known of it. Its checksum is that of the first download, unless the source has
//! published one.

use super::artifact_cache::PartialArtifact;
use super::candidate::Candidate;
use super::github;
use super::installed_programs::is_program_name;
use super::plain_files::FILES;
use super::release_asset::{ReleaseAsset, plain_program_name, version_in_name};
use super::source_context::{SourceContext, Unit};
use super::source_error::SourceError;
use super::source_ref::{SourceKind, SourceRef, check_version};
use crate::archive::{ArchiveError, ArchiveLimits, UnpackedFile, unpack};
use crate::download::Expected;
use crate::tool_recipe::{Action, Binary, PlatformWords};
use crate::verify_section::VERSION;
use std::fs::File;
use std::io::Read as _;
use std::net::IpAddr;
use std::path::Path;

/// The largest file that is downloaded.
pub(super) const LARGEST_DOWNLOAD: u64 = 2 << 30;
/// Where a file's name has no version.
const NO_VERSION: &str = "0";

/// Nothing is asked: the URL has a name and perhaps a version.
pub(super) fn look_up(source: &SourceRef, version: Option<&str>) -> Result<Candidate, SourceError> {
    let file = file_name(source.name());
    let version = version.or_else(|| version_in_name(file)).unwrap_or(NO_VERSION);
    check_version(version).map_err(SourceError::Version)?;
    let mut candidate = Candidate::new(source.clone(), version);
    candidate.asset = Some(ReleaseAsset {
        file: file.to_owned(),
        url: source.name().to_owned(),
        size: None,
        sha256: None,
    });
    Ok(candidate)
}

/// Whether the file at an address can be replaced on its way.
pub fn can_be_replaced(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host != "localhost" && !host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The last part of a URL's path.
pub(super) fn file_name(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let name = path.rsplit_once('/').map_or("", |(_, name)| name);
    if name.is_empty() || name.starts_with('.') { "download" } else { name }
}

/// What a tool from a URL is called.
pub(super) fn tool_name(url: &str) -> &str {
    let name = plain_program_name(file_name(url));
    let name = name.split_once('.').map_or(name, |(stem, _)| stem);
    if is_program_name(name) { name } else { "tool" }
}

/// The steps that install the candidate's file, which is fetched and looked into, and the names of its programs.
/// The file is kept, as the install of the recipe asks for it.
pub(super) fn steps_for(
    candidate: &Candidate,
    tool: &str,
    partial: &mut PartialArtifact,
    context: &mut SourceContext<'_>,
) -> Result<(Vec<Action>, Vec<String>), SourceError> {
    let asset = candidate.asset.as_ref();
    let asset = asset.ok_or_else(|| SourceError::NoFile("a file for this machine".to_owned()))?;
    let file = partial.part(FILES)?.join(&asset.file);
    let (clients, progress) = context.split();
    progress.phase("fetch");
    progress.line(&asset.file);
    let expected = Expected { sha256: asset.sha256.as_deref(), most_bytes: LARGEST_DOWNLOAD };
    let download = clients.http().download(&asset.url, &file, expected, &mut |done, total| {
        progress.amount(done, total, Unit::Bytes);
    })?;
    partial.add_file(&asset.file, &download.sha256, &asset.url);
    if candidate.source.kind() == SourceKind::GitHub {
        let repository = candidate.source.name();
        let attested = github::attestation(repository, &asset.file, &download.sha256, context)?;
        partial.artifact.attestation = Some(attested);
    }
    let shape = look_into(&file, &asset.file, tool, partial)?;
    let names = shape.as_ref().map_or_else(
        || vec![tool.to_owned()],
        |(_, programs)| programs.iter().map(|(_, name)| name.clone()).collect(),
    );
    // A version of one number could be anything in a URL.
    let general = |text: &str| match candidate.version.contains('.') {
        true => text.replace(&candidate.version, VERSION),
        false => text.to_owned(),
    };
    let binaries = |programs: &[(String, String)]| -> Vec<Binary> {
        let binary = |(path, name): &(String, String)| match path.rsplit('/').next() == Some(name) {
            true => Binary::Path(general(path)),
            false => Binary::Renamed { src: general(path), dest: name.clone() },
        };
        programs.iter().map(binary).collect()
    };
    let repo = candidate.source.name().to_owned();
    let asset_pattern = general(&asset.file);
    let words = PlatformWords::default();
    let (url, sha256) = (general(&asset.url), Some(download.sha256));
    let actions = match (candidate.source.kind(), shape) {
        (SourceKind::GitHub, Some((strip_dirs, programs))) => {
            let binaries = binaries(&programs);
            vec![Action::GithubArchive { repo, asset_pattern, strip_dirs, binaries, words }]
        }
        (SourceKind::GitHub, None) => {
            let (binary, binaries) = (Some(tool.to_owned()), Vec::new());
            vec![Action::GithubFile { repo, asset_pattern, binary, binaries, words }]
        }
        (_, Some((strip_dirs, programs))) => {
            let binaries = binaries(&programs);
            vec![Action::DownloadArchive { url, sha256, strip_dirs, binaries, words }]
        }
        (_, None) => {
            let binaries = binaries(&[(asset.file.clone(), tool.to_owned())]);
            let (checksum_url, dest) = (None, None);
            let download = Action::Download { url, sha256, checksum_url, dest, words };
            vec![download, Action::InstallBinaries { binaries }]
        }
    };
    Ok((actions, names))
}

/// How many directories are left out of an archive, and its programs.
type Shape = (u32, Vec<(String, String)>);

/// How many directories are left out of an archive, and the paths and names of its programs; none if the file
/// is a program itself.
fn look_into(
    file: &Path,
    name: &str,
    tool: &str,
    partial: &PartialArtifact,
) -> Result<Option<Shape>, SourceError> {
    let scratch = partial.scratch("content")?;
    let content = scratch.join("content");
    let files = match unpack(file, name, &content, 0, &ArchiveLimits::default()) {
        Ok(files) => files,
        Err(ArchiveError::UnknownKind) if is_program_file(file) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let is_program = |file: &&UnpackedFile| is_program_file(&content.join(&file.path));
    let programs: Vec<&str> =
        files.iter().filter(is_program).map(|file| file.path.as_str()).collect();
    let strip = u32::from(has_one_directory(&files));
    let programs = choose_programs(&programs, strip, tool);
    if programs.is_empty() {
        return Err(SourceError::NoFile(format!("a program in {name}")));
    }
    std::fs::remove_dir_all(&scratch).map_err(SourceError::io(&scratch))?;
    Ok(Some((strip, programs)))
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
