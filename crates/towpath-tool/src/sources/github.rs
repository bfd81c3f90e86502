//! Releases on GitHub, or on a server with the same API: the newest release or that of a version, and
//! its file for this machine. The description comes from the repository.

use super::candidate::{Candidate, Unusable};
use super::host_platform::HostPlatform;
use super::look_up::{Asked, Offer};
use super::release_asset::{ReleaseAsset, checksum_asset, choose_asset, listed_sha256};
use super::source_context::SourceContext;
use super::source_error::{Result, SourceError};
use super::source_ref::check_version;
use crate::attestation::{Attestation, AttestedFile};
use crate::download::HttpClient;
use serde::Deserialize;
use serde_json::Value;

const GITHUB: &str = "GitHub";
const LARGEST_ANSWER: u64 = 16 << 20;

#[derive(Debug, Deserialize)]
struct Release {
    tag_name: String,
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    prerelease: bool,
    #[serde(default)]
    published_at: Option<String>,
    #[serde(default)]
    assets: Vec<ReleaseAsset>,
}

impl Release {
    fn assets(self) -> Vec<ReleaseAsset> {
        let plain = |name: &str| {
            !name.starts_with('.') && !name.contains(|c: char| c == '/' || c.is_control())
        };
        let mut assets = self.assets;
        assets.retain(|asset| plain(&asset.file));
        for asset in &mut assets {
            // As `sha256:…`; older releases have none.
            let digest = asset.sha256.take();
            asset.sha256 =
                digest.and_then(|digest| Some(digest.strip_prefix("sha256:")?.to_owned()));
        }
        assets
    }
}

/// The newest release, or that of a version.
pub(super) fn look_up(asked: &Asked<'_>, context: &SourceContext<'_>) -> Result<Option<Offer>> {
    let api = Api::new(asked.source.name(), context);
    let repository: Option<Value> = api.get("")?;
    let release = match asked.version {
        None => api.get("/releases/latest")?,
        Some(version) => api.release_of(version)?,
    };
    // A server may have releases and no description of the repository.
    if release.is_none() && (repository.is_none() || asked.version.is_some()) {
        return Ok(None);
    }
    let repository = repository.unwrap_or_default();
    let spdx = repository["license"]["spdx_id"].as_str().filter(|spdx| *spdx != "NOASSERTION");
    let page = repository["homepage"].as_str().filter(|page| page.starts_with("http"));
    let page = page.or_else(|| repository["html_url"].as_str());
    let described = Candidate::new(asked.source.clone(), "0").described(
        repository["description"].as_str(),
        page,
        spdx,
    );
    let Some(release) = release else {
        let candidate = Candidate { unusable: Some(Unusable::NoRelease), ..described };
        return Ok(Some(Offer { candidate, older: None }));
    };
    let is_young = |release: &Release| asked.is_too_young(release.published_at.as_deref());
    let releases: Vec<Release> = match is_young(&release) {
        true => api.get("/releases?per_page=100")?.unwrap_or_default(),
        false => Vec::new(),
    };
    let usable = |one: &&Release| !one.draft && !one.prerelease && !is_young(one);
    let older = releases.iter().find(usable).map(|one| split_tag(&one.tag_name).1.to_owned());
    Ok(Some(Offer { candidate: api.candidate(release, described)?, older }))
}

/// Who has built a file of a repository.
pub(super) fn attestation(
    repository: &str,
    file: &str,
    sha256: &str,
    context: &SourceContext<'_>,
) -> Result<Attestation> {
    let api = Api::new(repository, context);
    // As a browser shows it; servers of companies have the interface below `/api/v3`.
    let site = context.github_url.replace("://api.", "://");
    let site = site.trim_end_matches('/').trim_end_matches("/api/v3");
    let attested = AttestedFile::github(&format!("{site}/{repository}"), file, sha256)?;
    let url = format!("{}/attestations/sha256:{sha256}", api.base);
    context.attestation(&url, &api.headers(), &attested, false)
}

/// The file of a release that has a name.
pub(super) fn find_asset(
    repository: &str,
    version: &str,
    name: &str,
    context: &SourceContext<'_>,
) -> Result<ReleaseAsset> {
    let api = Api::new(repository, context);
    let missing = || SourceError::NotFound {
        from: format!("`{name}` of github:{repository}"),
        version: version.to_owned(),
    };
    let release = api.release_of(version)?.ok_or_else(missing)?;
    let assets = release.assets();
    let found = assets.iter().find(|asset| asset.file == name).ok_or_else(missing)?;
    api.with_checksum(found.clone(), &assets)
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
    fn new(repository: &str, context: &SourceContext<'_>) -> Api {
        let base = context.github_url.trim_end_matches('/');
        let variable = |name| context.variable(name).and_then(|value| value.to_str());
        // Without one the API answers few questions in an hour. It is never sent unencrypted.
        let token = variable("GITHUB_TOKEN").or_else(|| variable("GH_TOKEN"));
        let token = token.filter(|_| base.starts_with("https://"));
        Api {
            http: context.http(),
            base: format!("{base}/repos/{repository}"),
            token: token.map(|token| format!("Bearer {token}")),
        }
    }

    fn headers(&self) -> Vec<(&str, &str)> {
        let token = self.token.as_deref().map(|token| ("authorization", token));
        [Some(("accept", "application/vnd.github+json")), token].into_iter().flatten().collect()
    }

    fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<Option<T>> {
        let url = format!("{}{path}", self.base);
        let text = self.http.text(&url, &self.headers(), LARGEST_ANSWER)?;
        let read = |text: String| serde_json::from_str(&text);
        text.map(read).transpose().map_err(|error| SourceError::output(GITHUB, error))
    }

    fn candidate(&self, release: Release, described: Candidate) -> Result<Candidate> {
        let (prefix, version) = split_tag(&release.tag_name);
        check_version(version).map_err(|error| SourceError::output(GITHUB, error))?;
        let (prefix, version) = (prefix.to_owned(), version.to_owned());
        let tool = described.source.name().rsplit('/').next().unwrap_or_default();
        let published = release.published_at.clone();
        let assets = release.assets();
        let chosen = choose_asset(&assets, &HostPlatform::current(), tool).cloned();
        Ok(Candidate {
            version,
            published,
            unusable: chosen.is_none().then_some(Unusable::NoAsset),
            asset: chosen.map(|asset| self.with_checksum(asset, &assets)).transpose()?,
            tag_prefix: Some(prefix).filter(|prefix| !prefix.is_empty()),
            ..described
        })
    }

    /// With the checksum from a file of the release, if it has one.
    fn with_checksum(&self, asset: ReleaseAsset, assets: &[ReleaseAsset]) -> Result<ReleaseAsset> {
        let list = checksum_asset(assets, &asset.file).filter(|_| asset.sha256.is_none());
        let Some(list) = list else { return Ok(asset) };
        let text = self.http.text(&list.url, &[], LARGEST_ANSWER)?.unwrap_or_default();
        Ok(ReleaseAsset { sha256: listed_sha256(&text, &asset.file), ..asset })
    }

    /// The release of a version, whatever its tags have before it.
    fn release_of(&self, version: &str) -> Result<Option<Release>> {
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
