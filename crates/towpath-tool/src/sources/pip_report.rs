//! What pip prints about a package: the report of an install that does not happen, the list of versions,
//! and that there is nothing.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PackageReport {
    pub name: String,
    pub version: String,
    pub summary: Option<String>,
    pub homepage: Option<String>,
    pub license: Option<String>,
    pub author: Option<String>,
    pub url: String,
    pub sha256: Option<String>,
    /// It comes from an address that a package has, and not from an index.
    pub is_direct: bool,
    pub is_yanked: bool,
}

/// The one package in a report of `pip install --dry-run --no-deps --report -`.
pub(super) fn read_report(text: &str) -> Option<Vec<PackageReport>> {
    let json: Value = serde_json::from_str(text).ok()?;
    json.get("install")?.as_array()?.iter().map(read_package).collect()
}

fn read_package(package: &Value) -> Option<PackageReport> {
    let metadata = package.get("metadata")?;
    let string = |key: &str| {
        let text = metadata.get(key).and_then(Value::as_str);
        text.filter(|text| !text.trim().is_empty()).map(str::to_owned)
    };
    let list = |key: &str| -> Vec<&str> {
        let list = metadata.get(key).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let urls = list("project_url");
    let page =
        labelled_url(&urls, &["homepage", "home"]).or_else(|| labelled_url(&urls, REPOSITORY));
    // Some licenses are given by a classifier only.
    let classified = list("classifier").into_iter().find_map(classified_license).map(str::to_owned);
    let download = package.get("download_info")?;
    let hashes = download.get("archive_info").and_then(|archive| archive.get("hashes"));
    let is = |key: &str| package.get(key) == Some(&Value::Bool(true));
    Some(PackageReport {
        name: string("name")?,
        version: string("version")?,
        summary: string("summary"),
        homepage: string("home_page").or(page),
        license: string("license_expression")
            .or_else(|| string("license").filter(|text| text.len() <= 80))
            .or(classified),
        author: string("author").or_else(|| string("author_email")),
        url: download.get("url")?.as_str()?.to_owned(),
        sha256: hashes.and_then(|hashes| hashes.get("sha256")?.as_str()).map(str::to_owned),
        is_direct: is("is_direct"),
        is_yanked: is("is_yanked"),
    })
}

const REPOSITORY: &[&str] = &["repository", "source", "source code", "sources", "code", "github"];

/// The first of `Label, URL` with one of these labels.
fn labelled_url(urls: &[&str], labels: &[&str]) -> Option<String> {
    let labelled = |wanted: &&str| {
        let pairs = urls.iter().filter_map(|text| text.split_once(','));
        let mut found = pairs.filter(|(label, _)| label.trim().eq_ignore_ascii_case(wanted));
        found.next().map(|(_, url)| url.trim().to_owned())
    };
    labels.iter().find_map(labelled)
}

/// `License :: OSI Approved :: MIT License`
fn classified_license(classifier: &str) -> Option<&str> {
    let rest = classifier.strip_prefix("License :: ")?;
    rest.rsplit(" :: ").next().filter(|license| *license != "OSI Approved")
}

/// Whether pip has found nothing, rather than failed.
pub(super) fn is_not_found(stderr: &str) -> bool {
    let has = |text: &str| stderr.lines().any(|line| line.starts_with(text));
    let unreachable = ["Retrying (", "Failed to establish a new connection", "Could not fetch URL"];
    has("ERROR: No matching distribution found for")
        && !unreachable.iter().any(|text| stderr.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: &str = r#"{ "version": "1", "pip_version": "23.2.1", "install": [ {
        "download_info": { "url": "https://x/black.whl", "archive_info": { "hashes": { "sha256": "00" } } },
        "metadata": {
            "metadata_version": "2.5", "name": "black", "version": "26.10.1",
            "summary": "The uncompromising code formatter.", "license_expression": "MIT",
            "project_url": [ "Documentation, https://black.readthedocs.io/",
                "Repository, https://github.com/psf/black", "Issues, https://x/issues" ]
        } } ] }"#;

    #[test]
    fn a_report_is_read() {
        let black = &read_report(BLACK).unwrap()[0];
        assert_eq!((black.name.as_str(), black.version.as_str()), ("black", "26.10.1"));
        assert_eq!(black.homepage.as_deref(), Some("https://github.com/psf/black"));
        assert_eq!(black.license.as_deref(), Some("MIT"));
        assert_eq!(
            (black.url.as_str(), black.sha256.as_deref()),
            ("https://x/black.whl", Some("00"))
        );
        assert!(!black.is_direct && !black.is_yanked);
        let old = BLACK.replace("\"license_expression\": \"MIT\"", &format!("\"license\": \"{}\", \"classifier\": [\"License :: OSI Approved\", \"License :: OSI Approved :: MIT License\"]", "text ".repeat(40)));
        assert_eq!(read_report(&old).unwrap()[0].license.as_deref(), Some("MIT License"));
        assert_eq!(read_report(r#"{"install":[]}"#), Some(Vec::new()));
        for text in ["", "{}", "ERROR", r#"{"install":[{}]}"#] {
            assert_eq!(read_report(text), None);
        }
    }

    #[test]
    fn the_absence_of_a_package_is_read() {
        let nothing = "ERROR: Could not find a version that satisfies the requirement x (from versions: none)\nERROR: No matching distribution found for x\n";
        assert!(is_not_found(nothing));
        let offline =
            format!("WARNING: Retrying (Retry(total=4)) after connection broken by x\n{nothing}");
        assert!(!is_not_found(&offline));
        assert!(!is_not_found("ERROR: pip is broken"));
    }
}
