//! A file that is fetched as it is, from an address or a release: locked by its hash and where it was. The
//! recipe or its source has the hash; where neither has, it is that of the first download.

use super::Fetching;
use super::building::inner;
use super::candidate::Candidate;
use super::github;
use super::host_platform::HostPlatform;
use super::release_asset::{ReleaseAsset, listed_sha256, version_in_name};
use super::source_context::Unit;
use super::source_error::{AtPath as _, Result, SourceError};
use super::source_ref::{SourceRef, check_version};
use crate::download::{Expected, shown};
use std::fs;
use std::net::IpAddr;
use ureq::http::Uri;

/// The part of an artifact that has plain files.
pub(super) const FILES: &str = "files";
const LARGEST_DOWNLOAD: u64 = 2 << 30;
const LARGEST_LIST: u64 = 16 << 20;
/// The version of a file whose name has none.
const NO_VERSION: &str = "0";

#[derive(Debug, Clone)]
pub(super) struct RemoteFile<'r> {
    /// The name that it is kept by.
    pub file: String,
    pub at: Address<'r>,
    pub sha256: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Address<'r> {
    Url {
        url: String,
        /// Where its hash is listed.
        checksums: Option<String>,
        /// The repository that an attestation of it must name.
        repository: Option<&'r str>,
    },
    /// The file of a release that has this name.
    Asset { repository: &'r str, version: &'r str },
}

impl<'r> RemoteFile<'r> {
    pub fn at(url: String, checksums: Option<String>, sha256: Option<String>) -> RemoteFile<'r> {
        let file = file_name(&url).to_owned();
        RemoteFile { file, at: Address::Url { url, checksums, repository: None }, sha256 }
    }

    /// Downloads it, exactly as it is locked where it is, and returns its hash.
    pub fn fetch(&self, work: &mut Fetching<'_>) -> Result<String> {
        let (context, name) = (work.context, &self.file);
        let locked = work.locks.get(&lock_key(name)).and_then(|lock| lock.split_once(' '));
        let (url, sha256, repository) = match (locked, &self.at) {
            (Some((sha256, url)), _) => (url.to_owned(), Some(sha256.to_owned()), None),
            (None, Address::Url { url, checksums, repository }) => {
                let listed = checksums.as_ref().map(|list| {
                    let text = context.http().text(list, &[], LARGEST_LIST)?;
                    let file = file_name(url);
                    let sha256 = text.and_then(|text| listed_sha256(&text, file));
                    sha256.ok_or_else(|| SourceError::NoFile(format!("{file} in {}", shown(list))))
                });
                let sha256 = self.sha256.clone().map_or(listed.transpose()?, Some);
                (url.clone(), sha256, *repository)
            }
            (None, Address::Asset { repository, version }) => {
                let asset = github::find_asset(repository, version, name, context)?;
                (asset.url, asset.sha256, Some(*repository))
            }
        };
        if sha256.is_none() && can_be_replaced(&url) {
            return Err(SourceError::Replaceable(shown(&url)));
        }
        let target = inner(&work.partial.part(FILES)?, name)?;
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).at(parent)?;
        }
        context.progress().line(name);
        let expected = Expected { sha256: sha256.as_deref(), most_bytes: LARGEST_DOWNLOAD };
        let found = context.http().download(&url, &target, expected, &mut |done, total| {
            context.progress().amount(done, total, Unit::Bytes);
        })?;
        let artifact = &mut work.partial.artifact;
        artifact.checksums.push((name.clone(), format!("sha256:{found}")));
        artifact.locks.insert(lock_key(name), format!("{found} {url}"));
        if let Some(repository) = repository {
            artifact.attestation = Some(github::attestation(repository, name, &found, context)?);
        }
        Ok(found)
    }
}

/// Files differ by machine.
fn lock_key(file: &str) -> String {
    format!("{file} {}", HostPlatform::current().word())
}

/// Nothing is asked: the URL has a name and perhaps a version.
pub(super) fn look_up(source: &SourceRef, version: Option<&str>) -> Result<Candidate> {
    let (url, file) = (source.name().to_owned(), file_name(source.name()).to_owned());
    let version = version.or_else(|| version_in_name(&file)).unwrap_or(NO_VERSION);
    check_version(version).map_err(SourceError::Version)?;
    let mut candidate = Candidate::new(source.clone(), version);
    candidate.asset = Some(ReleaseAsset { file, url, size: None, sha256: None });
    Ok(candidate)
}

/// Whether the file at an address can be replaced on its way.
pub fn can_be_replaced(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_here = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    uri.scheme_str() == Some("http") && host != "localhost" && !is_here
}

/// The last part of a URL's path.
pub(super) fn file_name(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let name = path.rsplit_once('/').map_or("", |(_, name)| name);
    if name.is_empty() || name.starts_with('.') { "download" } else { name }
}
