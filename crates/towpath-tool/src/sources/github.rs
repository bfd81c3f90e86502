//! Releases on GitHub, or on a server with the same API: the newest release or that of a version, and
//! its file for this machine. The description comes from the repository.

use super::candidate::{Candidate, Unusable};
use super::host_platform::HostPlatform;
use super::release_asset::{ReleaseAsset, checksum_asset, choose_asset, listed_sha256};
use super::source_context::SourceContext;
use super::source_error::SourceError;
use super::source_ref::{SourceRef, check_version};
use crate::attestation::{Attestation, AttestedFile};
use crate::download::HttpClient;
use serde::Deserialize;
use serde_json::Value;

const GITHUB: &str = "GitHub";
const LARGEST_ANSWER: u64 = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Release {
    tag_name: String,
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    prerelease: bool,
    #[serde(default)]
    published_at: Option<String>,
    #[serde(default)]
    assets: Vec<Asset>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Asset {
    name: String,
    browser_download_url: String,
    size: Option<u64>,
    /// `sha256:…`; older releases have none.
    digest: Option<String>,
}

/// The newest release that is not too young, or that of a version.
pub(super) fn look_up(
    source: &SourceRef,
    version: Option<&str>,
    context: &mut SourceContext<'_>,
) -> Result<Option<Candidate>, SourceError> {
    let api = Api::new(source.name(), context);
    let repository: Option<Value> = api.get("")?;
    let newest = match version {
        None => api.get::<Release>("/releases/latest")?,
        Some(version) => api.release_of(version)?,
    };
    // A server may have releases and no description of the repository.
    if newest.is_none() && (repository.is_none() || version.is_some()) {
        return Ok(None);
    }
    let repository = repository.unwrap_or_default();
    let spdx = repository["license"]["spdx_id"].as_str().filter(|spdx| *spdx != "NOASSERTION");
    let page = repository["homepage"].as_str().filter(|page| page.starts_with("http"));
    let page = page.or_else(|| repository["html_url"].as_str());
    let described = Candidate::new(source.clone(), "0").described(
        repository["description"].as_str(),
        page,
        spdx,
    );
    let Some(newest) = newest else {
        return Ok(Some(Candidate { unusable: Some(Unusable::NoRelease), ..described }));
    };
    let bound = context.released_before.as_deref().filter(|_| version.is_none());
    let is_old = |release: &Release| {
        release.published_at.as_deref().zip(bound).is_none_or(|(at, bound)| at <= bound)
    };
    let older = match is_old(&newest) {
        true => None,
        false => {
            let releases: Vec<Release> = api.get("/releases?per_page=100")?.unwrap_or_default();
            let usable = |release: &Release| !release.draft && !release.prerelease;
            releases.into_iter().find(|release| usable(release) && is_old(release))
        }
    };
    let taken = api.candidate(older.clone().unwrap_or_else(|| newest.clone()), &described)?;
    Ok(Some(match older {
        Some(_) => taken.instead_of(api.candidate(newest, &described)?),
        None if is_old(&newest) => taken,
        None => taken.too_young(),
    }))
}

/// Who has built a file of a repository.
pub(super) fn attestation(
    repository: &str,
    file: &str,
    sha256: &str,
    context: &mut SourceContext<'_>,
) -> Result<Attestation, SourceError> {
    let api = Api::new(repository, context);
    // As a browser shows it; servers of companies have the interface below `/api/v3`.
    let site = context.github_url.replace("://api.", "://");
    let site = site.trim_end_matches('/').trim_end_matches("/api/v3");
    let attested = AttestedFile::github(&format!("{site}/{repository}"), file, sha256)?;
    let url = format!("{}/attestations/sha256:{sha256}", api.base);
    context.split().0.attestation(&url, &api.headers(), &attested, false)
}

/// The file of a release that has a name.
pub(super) fn find_asset(
    repository: &str,
    version: &str,
    name: &str,
    context: &mut SourceContext<'_>,
) -> Result<ReleaseAsset, SourceError> {
    let api = Api::new(repository, context);
    let missing = || SourceError::NotFound {
        from: format!("`{name}` of github:{repository}"),
        version: version.to_owned(),
    };
    let release = api.release_of(version)?.ok_or_else(missing)?;
    let assets: Vec<ReleaseAsset> = release.assets.into_iter().filter_map(asset).collect();
    let found = assets.iter().find(|asset| asset.file == name).ok_or_else(missing)?;
    api.with_checksum(found.clone(), &assets)
}

fn asset(asset: Asset) -> Option<ReleaseAsset> {
    let plain = !asset.name.contains('/')
        && !asset.name.starts_with('.')
        && !asset.name.contains(char::is_control);
    let sha256 = asset.digest.as_deref().and_then(|digest| digest.strip_prefix("sha256:"));
    plain.then(|| ReleaseAsset {
        sha256: sha256.map(str::to_owned),
        size: asset.size,
        url: asset.browser_download_url,
        file: asset.name,
    })
}

/// A tag as what precedes the version, and the version: `v1.2`, `release-1.2`, `jq-1.2`.
fn split_tag(tag: &str) -> (&str, &str) {
    let digit = tag.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    tag.split_at(digit)
}

struct Api {
    http: HttpClient,
    base: String,
    token: Option<String>,
}

impl Api {
    fn new(repository: &str, context: &mut SourceContext<'_>) -> Api {
        let base = context.github_url.trim_end_matches('/').to_owned();
        let (clients, _) = context.split();
        let variable = |name| clients.variable(name).and_then(|value| value.to_str());
        // Without one the API answers few questions in an hour. It is never sent unencrypted.
        let token = variable("GITHUB_TOKEN").or_else(|| variable("GH_TOKEN"));
        let token = token.filter(|_| base.starts_with("https://"));
        Api {
            http: clients.http(),
            base: format!("{base}/repos/{repository}"),
            token: token.map(|token| format!("Bearer {token}")),
        }
    }

    fn headers(&self) -> Vec<(&str, &str)> {
        let token = self.token.as_deref().map(|token| ("authorization", token));
        [Some(("accept", "application/vnd.github+json")), token].into_iter().flatten().collect()
    }

    fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<Option<T>, SourceError> {
        let url = format!("{}{path}", self.base);
        let text = self.http.text(&url, &self.headers(), LARGEST_ANSWER)?;
        let read = |text: String| serde_json::from_str(&text);
        text.map(read).transpose().map_err(|error| SourceError::output(GITHUB, error))
    }

    fn candidate(&self, release: Release, described: &Candidate) -> Result<Candidate, SourceError> {
        let (prefix, version) = split_tag(&release.tag_name);
        check_version(version).map_err(|error| SourceError::output(GITHUB, error))?;
        let tool = described.source.name().rsplit('/').next().unwrap_or_default();
        let assets: Vec<ReleaseAsset> = release.assets.into_iter().filter_map(asset).collect();
        let chosen = choose_asset(&assets, &HostPlatform::current(), tool).cloned();
        Ok(Candidate {
            version: version.to_owned(),
            published: release.published_at,
            unusable: chosen.is_none().then_some(Unusable::NoAsset),
            asset: chosen.map(|asset| self.with_checksum(asset, &assets)).transpose()?,
            tag_prefix: Some(prefix.to_owned()).filter(|prefix| !prefix.is_empty()),
            ..described.clone()
        })
    }

    /// With the checksum from a file of the release, if it has one.
    fn with_checksum(
        &self,
        asset: ReleaseAsset,
        assets: &[ReleaseAsset],
    ) -> Result<ReleaseAsset, SourceError> {
        let list = checksum_asset(assets, &asset.file).filter(|_| asset.sha256.is_none());
        let Some(list) = list else { return Ok(asset) };
        let text = self.http.text(&list.url, &[], LARGEST_ANSWER)?.unwrap_or_default();
        Ok(ReleaseAsset { sha256: listed_sha256(&text, &asset.file), ..asset })
    }

    /// The release of a version, whatever its tags have before it.
    fn release_of(&self, version: &str) -> Result<Option<Release>, SourceError> {
        for tag in [format!("v{version}"), version.to_owned()] {
            if let Some(release) = self.get::<Release>(&format!("/releases/tags/{tag}"))? {
                return Ok(Some(release));
            }
        }
        let releases: Vec<Release> = self.get("/releases?per_page=100")?.unwrap_or_default();
        let has_version =
            |release: &Release| !release.draft && split_tag(&release.tag_name).1 == version;
        Ok(releases.into_iter().find(has_version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_a_prefix_and_a_version() {
        let cases = [
            ("v1.2.3", ("v", "1.2.3")),
            ("1.2.3", ("", "1.2.3")),
            ("jq-1.7.1", ("jq-", "1.7.1")),
            ("release-2024-01-01", ("release-", "2024-01-01")),
            ("@scope/tool@1.0.0", ("@scope/tool@", "1.0.0")),
            ("nightly", ("", "nightly")),
        ];
        for (tag, expected) in cases {
            assert_eq!(split_tag(tag), expected, "{tag}");
        }
    }
}
