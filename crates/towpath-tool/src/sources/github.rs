//! Releases on GitHub, or on a server with the same API: the newest release or that of a version, and
//! its file for this machine. The description comes from the repository.

use super::candidate::{Candidate, Unusable};
use super::host_platform::HostPlatform;
use super::release_asset::{ReleaseAsset, checksum_asset, choose_asset, listed_sha256};
use super::source_context::SourceContext;
use super::source_error::SourceError;
use super::source_ref::{SourceRef, check_version};
use crate::download::HttpClient;
use serde::Deserialize;

const GITHUB: &str = "GitHub";
const LARGEST_ANSWER: u64 = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Release {
    tag_name: String,
    #[serde(default)]
    draft: bool,
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

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
struct Repository {
    description: Option<String>,
    homepage: Option<String>,
    html_url: Option<String>,
    license: Option<License>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct License {
    spdx_id: Option<String>,
}

pub(super) fn look_up(
    source: &SourceRef,
    version: Option<&str>,
    context: &SourceContext<'_>,
) -> Result<Option<Candidate>, SourceError> {
    let api = Api::new(source.name(), context);
    let repository = api.get::<Repository>("")?;
    let release = match version {
        None => api.get::<Release>("/releases/latest")?,
        Some(version) => api.release_of(version)?,
    };
    // A server may have releases and no description of the repository.
    if repository.is_none() && release.is_none() {
        return Ok(None);
    }
    let repository = repository.unwrap_or_default();
    let spdx = repository.license.and_then(|license| license.spdx_id);
    let spdx = spdx.filter(|license| license != "NOASSERTION");
    let page = repository.homepage.filter(|page| page.starts_with("http")).or(repository.html_url);
    let describe = |candidate: Candidate| {
        candidate.described(repository.description.as_deref(), page.as_deref(), spdx.as_deref())
    };
    let Some(release) = release else {
        if version.is_some() {
            return Ok(None);
        }
        let mut candidate = describe(Candidate::new(source.clone(), "0"));
        candidate.unusable = Some(Unusable::NoRelease);
        return Ok(Some(candidate));
    };
    let (_, version) = split_tag(&release.tag_name);
    check_version(version).map_err(|error| SourceError::output(GITHUB, error))?;
    let mut candidate = describe(Candidate::new(source.clone(), version));
    let tool = source.name().rsplit('/').next().unwrap_or_default();
    let assets: Vec<ReleaseAsset> = release.assets.into_iter().filter_map(asset).collect();
    let chosen = choose_asset(&assets, &HostPlatform::current(), tool).cloned();
    candidate.unusable = chosen.is_none().then_some(Unusable::NoAsset);
    candidate.asset = match chosen {
        Some(asset) if asset.sha256.is_none() => {
            Some(with_listed_checksum(asset, &assets, &api.http)?)
        }
        other => other,
    };
    candidate.tag_prefix =
        Some(split_tag(&release.tag_name).0.to_owned()).filter(|prefix| !prefix.is_empty());
    Ok(Some(candidate))
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

/// With the checksum from a file of the release, if it has one.
fn with_listed_checksum(
    asset: ReleaseAsset,
    assets: &[ReleaseAsset],
    http: &HttpClient,
) -> Result<ReleaseAsset, SourceError> {
    let Some(list) = checksum_asset(assets, &asset.file) else { return Ok(asset) };
    let text = http.text(&list.url, &[], LARGEST_ANSWER)?.unwrap_or_default();
    let sha256 = listed_sha256(&text, &asset.file);
    Ok(ReleaseAsset { sha256, ..asset })
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

    fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<Option<T>, SourceError> {
        let mut headers = vec![("accept", "application/vnd.github+json")];
        headers.extend(self.token.as_deref().map(|token| ("authorization", token)));
        let text = self.http.text(&format!("{}{path}", self.base), &headers, LARGEST_ANSWER)?;
        let read = |text: String| serde_json::from_str(&text);
        text.map(read).transpose().map_err(|error| SourceError::output(GITHUB, error))
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
