//! What `npm view --json` prints of a package, and what a lock file has.

use super::installed_programs::is_program_name;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PackageView {
    pub name: String,
    pub version: String,
    pub description: Option<String>,
    pub homepage: Option<String>,
    pub license: Option<String>,
    pub repository: Option<String>,
    /// Who publishes it.
    pub owner: Option<String>,
    /// The day of this version.
    pub published: Option<String>,
    pub programs: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum View {
    Found(Box<PackageView>),
    NotFound,
}

impl PackageView {
    /// What is asked for.
    pub const FIELDS: &'static [&'static str] = &[
        "name",
        "version",
        "description",
        "homepage",
        "license",
        "repository",
        "bin",
        "maintainers",
        "time",
    ];
}

/// The answer to `npm view`, also to a failed one; none if it is neither.
pub(super) fn read_view(text: &str) -> Option<View> {
    if text.trim().is_empty() {
        return None;
    }
    let json: Value = serde_json::from_str(text).ok()?;
    // A range has several versions, in the order of their publication.
    let json = match json {
        Value::Array(versions) => versions.into_iter().next_back()?,
        one => one,
    };
    if let Some(error) = json.get("error") {
        let code = error.get("code").and_then(Value::as_str);
        return (code == Some("E404")).then_some(View::NotFound);
    }
    let string = |key: &str| json.get(key).and_then(Value::as_str).map(str::to_owned);
    let name = string("name")?;
    let programs = programs_of(&name, json.get("bin"));
    let repository = json.get("repository").and_then(|repository| repository.get("url"));
    let repository = repository.and_then(Value::as_str).map(str::to_owned);
    let version = string("version")?;
    let maintainers = json.get("maintainers").and_then(Value::as_array).into_iter().flatten();
    let owners: Vec<&str> = maintainers.filter_map(Value::as_str).take(3).collect();
    let owners = owners.iter().map(|owner| owner.split(" <").next().unwrap_or(owner));
    let owner = owners.collect::<Vec<_>>().join(", ");
    let published = json.get("time").and_then(|time| time.get(&version)?.as_str());
    Some(View::Found(Box::new(PackageView {
        owner: (!owner.is_empty()).then_some(owner),
        published: published.and_then(|time| time.get(..10)).map(str::to_owned),
        version,
        description: string("description"),
        homepage: string("homepage"),
        license: string("license"),
        repository: repository.or_else(|| string("repository")),
        programs,
        name,
    })))
}

/// Whether `npm install` failed because there is no such package, or not this version.
pub(super) fn is_not_found(stderr: &str, package: &str) -> bool {
    let has = |text: &str| stderr.contains(text);
    has(&format!("No matching version found for {package}@"))
        || (has("npm error code E404") && has(&format!("'{package}@")))
}

/// `bin` of a manifest: a map of names, or one path for the package's own name without its scope.
pub(super) fn programs_of(package: &str, bin: Option<&Value>) -> Vec<String> {
    let own = package.rsplit('/').next().unwrap_or(package);
    let names = match bin {
        Some(Value::String(path)) if !path.is_empty() => vec![own],
        Some(Value::Object(map)) => map.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    names.into_iter().filter(|name| is_program_name(name)).map(str::to_owned).collect()
}

/// The registry's checksums of all packages: `semver-7.8.6` and `sha512-…`. None if one has none.
pub(super) fn checksums_of_lock(text: &str) -> Option<Vec<(String, String)>> {
    let json: Value = serde_json::from_str(text).ok()?;
    let packages = json.get("packages").and_then(Value::as_object)?.iter();
    // A package inside of another one came with it.
    let fetched = packages.filter(|(path, package)| {
        !path.is_empty() && package.get("inBundle") != Some(&Value::Bool(true))
    });
    let checksum = |(path, package): (&String, &Value)| {
        let name = path.rsplit_once("node_modules/")?.1;
        let version = package.get("version")?.as_str()?;
        let integrity = package.get("integrity")?.as_str()?;
        Some((format!("{name}-{version}"), integrity.to_owned()))
    };
    fetched.map(checksum).collect()
}

/// Whether a package of the lock file has scripts for its installation.
pub(super) fn has_install_scripts(text: &str) -> bool {
    let json: Value = serde_json::from_str(text).unwrap_or_default();
    let packages = json.get("packages").and_then(Value::as_object);
    let has_script = |package: &Value| package.get("hasInstallScript") == Some(&Value::Bool(true));
    packages.into_iter().flatten().any(|(_, package)| has_script(package))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COWSAY: &str = r#"{
        "name": "cowsay",
        "version": "1.6.0",
        "description": "cowsay is a configurable talking cow",
        "homepage": "https://github.com/piuccio/cowsay",
        "license": "MIT",
        "repository": { "type": "git", "url": "git+https://github.com/piuccio/cowsay.git" },
        "bin": { "cowsay": "./cli.js", "cowthink": "./cli.js" }
    }"#;
    const NOT_FOUND: &str = r#"{
        "error": {
            "code": "E404",
            "summary": "No match found for version 99.0.0",
            "detail": "The requested resource 'semver@99.0.0' could not be found"
        }
    }"#;
    const OFFLINE: &str = r#"{ "error": { "code": "ECONNREFUSED", "summary": "request failed" } }"#;

    #[test]
    fn answers_of_npm_are_read() {
        let Some(View::Found(cowsay)) = read_view(COWSAY) else { panic!("it is found") };
        assert_eq!((cowsay.name.as_str(), cowsay.version.as_str()), ("cowsay", "1.6.0"));
        assert_eq!(cowsay.programs, ["cowsay", "cowthink"]);
        assert_eq!(cowsay.license.as_deref(), Some("MIT"));
        let repository = cowsay.repository.as_deref();
        assert_eq!(repository, Some("git+https://github.com/piuccio/cowsay.git"));
        assert_eq!(read_view(NOT_FOUND), Some(View::NotFound));
        for text in ["", "\n", "npm error", OFFLINE, "{}", "[]", r#"{"name":"x"}"#] {
            assert_eq!(read_view(text), None, "{text:?}");
        }
        let several =
            r#"[{"name":"a","version":"1.0.0"},{"name":"a","version":"1.1.0","bin":"x.js"}]"#;
        let Some(View::Found(last)) = read_view(several) else { panic!("it is found") };
        assert_eq!((last.version.as_str(), &last.programs[..]), ("1.1.0", &["a".to_owned()][..]));
    }

    #[test]
    fn what_is_not_there_is_not_a_failure() {
        let version = "npm error code ETARGET\nnpm error notarget No matching version found for semver@99.0.0.\n";
        let package = "npm error code E404\nnpm error 404  The requested resource 'no-such@1.0.0' could not be found\n";
        assert!(is_not_found(version, "semver") && is_not_found(package, "no-such"));
        assert!(
            !is_not_found(version, "other") && !is_not_found("npm error code ECONNREFUSED", "x")
        );
    }

    #[test]
    fn one_path_is_the_program_of_the_package() {
        let programs =
            |package, bin: &str| programs_of(package, serde_json::from_str(bin).ok().as_ref());
        assert_eq!(programs("@scope/tool", r#""cli.js""#), ["tool"]);
        assert_eq!(programs("tool", r#"{"a": "x", "../b": "y", "-c": "z"}"#), ["a"]);
        assert!(programs("tool", r#""""#).is_empty());
        assert!(programs("tool", "null").is_empty());
    }

    #[test]
    fn a_lock_file_has_checksums_and_scripts() {
        let lock = r#"{ "packages": {
            "": { "dependencies": { "@a/b": "1.0.0" } },
            "node_modules/@a/b": { "version": "1.0.0", "integrity": "sha512-x" },
            "node_modules/c/node_modules/d": { "version": "2.0.0", "integrity": "sha512-y", "hasInstallScript": true },
            "node_modules/e": { "version": "3.0.0", "inBundle": true }
        } }"#;
        let expected = [("@a/b-1.0.0", "sha512-x"), ("d-2.0.0", "sha512-y")];
        let expected = expected.map(|(name, sum)| (name.to_owned(), sum.to_owned()));
        assert_eq!(checksums_of_lock(lock), Some(expected.into()));
        assert_eq!(
            checksums_of_lock(&lock.replace("sha512-y", "").replace("\"integrity\": \"\",", "")),
            None
        );
        assert!(has_install_scripts(lock));
        assert!(!has_install_scripts(&lock.replace("true", "false")));
        assert!(checksums_of_lock("no JSON").is_none() && !has_install_scripts(""));
    }
}
