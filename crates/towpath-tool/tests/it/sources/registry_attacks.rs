//! Registries on loopback that attack: packages that run code while they are fetched, lie about what they
//! are, or change. The real clients of this machine ask them.

use super::User;
use crate::archives::handmade::{Entry, tar_of, zip_of};
use crate::loopback_server::{LoopbackServer, Reply};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256, Sha512};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use towpath_process::sandbox::EndStatus;
use towpath_tool::ToolRecipe;
use towpath_tool::attestation::Attestation;
use towpath_tool::download::DownloadError;
use towpath_tool::sources::{Locks, SourceError, TimeLimits, Unusable, fetched_version, look_up};

/// The content of a file that never arrives.
const DRIPPING: &[u8] = b"dripping";

/// Files by path, which a test may change.
#[derive(Clone, Default)]
struct Files(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl Files {
    fn put(&self, path: impl Into<String>, content: impl Into<Vec<u8>>) {
        self.0.lock().unwrap().insert(path.into(), content.into());
    }

    fn serve(&self) -> LoopbackServer {
        let files = Arc::clone(&self.0);
        LoopbackServer::new(move |path| {
            let path = path.split('?').next().unwrap_or(path);
            match files.lock().unwrap().get(path) {
                Some(content) if content == DRIPPING => Reply::Dripping,
                Some(content) => Reply::Body(content.clone()),
                None => Reply::Status(404),
            }
        })
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters = bytes.chunks(3).flat_map(|chunk| {
        let number =
            (0..3).fold(0_usize, |n, at| n << 8 | usize::from(*chunk.get(at).unwrap_or(&0)));
        (0..4).map(move |at| match at <= chunk.len() {
            true => char::from(LETTERS[number >> (18 - 6 * at) & 63]),
            false => '=',
        })
    });
    letters.collect()
}

/// A registry of npm with one package, and a user whose npm asks it.
fn npm(
    manifest: Value,
    files: &[(&str, &str)],
    integrity: Option<&str>,
) -> (User, LoopbackServer, Files) {
    let registry = Files::default();
    let server = registry.serve();
    let mut user = User::new();
    user.set("NPM_CONFIG_REGISTRY", server.url("/"));
    user.set("NPM_CONFIG_FETCH_RETRIES", "0");
    publish(&registry, &server, manifest, files, integrity);
    (user, server, registry)
}

fn publish(
    registry: &Files,
    server: &LoopbackServer,
    mut manifest: Value,
    files: &[(&str, &str)],
    integrity: Option<&str>,
) {
    manifest["name"] = json!("tool");
    manifest["version"] = json!("1.0.0");
    let manifest_file = manifest.to_string();
    let mut entries = vec![Entry::file(b"package/package.json", manifest_file.as_bytes())];
    for (name, content) in files {
        let name = format!("package/{name}");
        entries.push(Entry::file(name.as_bytes(), content.as_bytes()).with_mode(0o755));
    }
    let archive = gzip(&tar_of(&entries));
    let right = format!("sha512-{}", base64(&Sha512::digest(&archive)));
    manifest["dist"] = json!({
        "tarball": server.url("/tool/-/tool-1.0.0.tgz"),
        "integrity": integrity.unwrap_or(&right),
    });
    registry.put("/tool/-/tool-1.0.0.tgz", archive);
    let document = json!({
        "name": "tool",
        "dist-tags": { "latest": "1.0.0" },
        "versions": { "1.0.0": manifest },
        "maintainers": [{ "name": "mallory", "email": "m@example.org" }],
        "time": { "1.0.0": "2026-01-02T03:04:05.000Z" },
    });
    registry.put("/tool", document.to_string());
}

fn recipe(user: &User, source: &str) -> ToolRecipe {
    user.generate(&user.look_up(source, None).expect("it is there"))
}

const PROGRAM: (&str, &str) = ("cli.js", "#!/usr/bin/env node\nconsole.log('tool 1.0.0')\n");

#[test]
fn a_package_is_described_by_its_registry() {
    let (user, _server, _) =
        npm(json!({ "bin": "cli.js", "description": "A tool" }), &[PROGRAM], None);
    let candidate = user.look_up("npm:tool", None).unwrap();
    assert_eq!(candidate.description.as_deref(), Some("A tool"));
    assert_eq!(candidate.owner.as_deref(), Some("mallory"));
    assert_eq!(candidate.published.as_deref(), Some("2026-01-02T03:04:05.000Z"));
}

#[test]
fn a_repository_as_a_dependency_runs_nothing() {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let (repository, marker) = (directory.path().join("x"), directory.path().join("pwned"));
    fs::create_dir(&repository).unwrap();
    let script = repository.join("evil.sh");
    fs::write(&script, format!("#!/bin/sh\nid > {}\nexec git \"$@\"\n", marker.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(repository.join(".npmrc"), "git=./evil.sh\n").unwrap();
    fs::write(repository.join("package.json"), r#"{"name":"x","version":"1.0.0"}"#).unwrap();
    for arguments in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ] {
        let done =
            std::process::Command::new("git").args(arguments).current_dir(&repository).status();
        assert!(done.unwrap().success());
    }
    let from = format!("git+file://{}", repository.display());
    let manifest = json!({ "bin": "cli.js", "dependencies": { "x": from } });
    let (user, _server, _) = npm(manifest, &[PROGRAM], None);
    let error = user.fetch(&recipe(&user, "npm:tool"), "1.0.0").unwrap_err();
    assert!(matches!(error, SourceError::Client { .. }), "{error}");
    assert!(!marker.exists());
}

#[test]
fn scripts_of_a_package_run_without_network_and_away_from_the_users_files() {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let marker = directory.path().join("pwned");
    let script = format!(
        "id > {0} || (echo >/dev/tcp/127.0.0.1/1) || true; echo done > made",
        marker.display()
    );
    let manifest = json!({ "bin": "cli.js", "scripts": { "postinstall": script } });
    let (user, server, _) = npm(manifest, &[PROGRAM], None);
    let recipe = recipe(&user, "npm:tool");
    let artifact = user.fetch(&recipe, "1.0.0").unwrap();
    assert!(!marker.exists() && !artifact.directory.join("npm-0/node_modules/tool/made").exists());
    let asked = server.requests().len();
    let (install, _) = user.build(&recipe, "1.0.0", &artifact, "install").unwrap();
    assert!(!marker.exists());
    assert!(install.join("lib/npm/node_modules/tool/made").exists(), "the script has run");
    assert_eq!(server.requests().len(), asked);
}

#[test]
fn a_registry_that_lies_about_hashes_is_refused() {
    let wrong = "sha512-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==";
    let (user, _server, _) = npm(json!({ "bin": "cli.js" }), &[PROGRAM], Some(wrong));
    let error = user.fetch(&recipe(&user, "npm:tool"), "1.0.0").unwrap_err();
    assert!(error.to_string().contains("EINTEGRITY"), "{error}");
}

#[test]
fn a_registry_without_hashes_is_refused() {
    let (user, _server, _) = npm(json!({ "bin": "cli.js" }), &[PROGRAM], Some(""));
    let error = user.fetch(&recipe(&user, "npm:tool"), "1.0.0").unwrap_err();
    assert!(matches!(error, SourceError::Unusable { unusable: Unusable::NoHash, .. }), "{error}");
}

#[test]
fn other_bytes_under_a_locked_version_are_refused() {
    let (user, server, registry) = npm(json!({ "bin": "cli.js" }), &[PROGRAM], None);
    let recipe = recipe(&user, "npm:tool");
    let locks = user.fetch(&recipe, "1.0.0").unwrap().locks;
    let evil = ("cli.js", "#!/usr/bin/env node\nconsole.log('evil')\n");
    publish(&registry, &server, json!({ "bin": "cli.js" }), &[evil], None);
    let mut other = User::new();
    other.set("NPM_CONFIG_REGISTRY", server.url("/"));
    other.set("NPM_CONFIG_FETCH_RETRIES", "0");
    let error = other.fetch_locked(&recipe, "1.0.0", &locks).unwrap_err();
    assert!(error.to_string().contains("EINTEGRITY"), "{error}");
    // Fetched before, it needs no registry.
    drop(server);
    assert_eq!(user.fetch_locked(&recipe, "1.0.0", &locks).unwrap().locks, locks);
}

#[test]
fn a_package_for_another_node_is_refused() {
    let manifest = json!({ "bin": "cli.js", "engines": { "node": ">=999" } });
    let (user, _server, _) = npm(manifest, &[PROGRAM], None);
    let recipe = recipe(&user, "npm:tool");
    let error = user.fetch(&recipe, "1.0.0").unwrap_err();
    assert!(
        matches!(error, SourceError::Unusable { unusable: Unusable::OtherNode, .. }),
        "{error}"
    );
}

/// Packages for other machines that a mirror does not have are in no lock.
#[test]
fn a_lock_without_optional_packages_is_installed() {
    let manifest = json!({ "bin": "cli.js", "optionalDependencies": { "for-a-mac": "1.0.0" } });
    let (user, _server, _) = npm(manifest, &[PROGRAM], None);
    let recipe = recipe(&user, "npm:tool");
    let locks = user.fetch(&recipe, "1.0.0").unwrap().locks;
    let other = User { environment: user.environment, ..User::new() };
    assert_eq!(other.fetch_locked(&recipe, "1.0.0", &locks).unwrap().locks, locks);
}

/// An attestation may be absent; one that is there must be right.
#[test]
fn an_attestation_by_an_unknown_authority_is_refused() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attestations");
    let (user, _server, registry) = npm(json!({ "bin": "cli.js" }), &[PROGRAM], None);
    let recipe = recipe(&user, "npm:tool");
    let artifact = user.fetch(&recipe, "1.0.0").unwrap();
    assert_eq!(artifact.attestation, Some(Attestation::Absent));
    let other = User { environment: user.environment, ..User::new() };
    registry.put("/-/npm/v1/attestations/tool@1.0.0", fs::read(data.join("npm.json")).unwrap());
    let error = other.fetch(&recipe, "1.0.0").unwrap_err();
    assert!(matches!(error, SourceError::Attestation(_)), "{error}");
    assert!(error.to_string().starts_with("the attestation of npm:tool 1.0.0 is not in the log"));
    // A mirror that has a page for everything has no attestation.
    registry.put("/-/npm/v1/attestations/tool@1.0.0", "<html></html>");
    assert!(other.fetch(&recipe, "1.0.0").is_ok());
}

#[test]
fn a_registry_that_is_gone_is_no_empty_one() {
    let (user, server, _) = npm(json!({ "bin": "cli.js" }), &[PROGRAM], None);
    drop(server);
    let source = "npm:tool".parse().unwrap();
    let answer = user.with(|context| look_up(&source, None, context));
    assert!(matches!(answer, Err(SourceError::Client { .. })), "{answer:?}");
}

/// A wheel of `tool` with one program, and more lines for its metadata.
fn wheel(metadata: &str) -> Vec<u8> {
    wheel_of("1.0", metadata)
}

fn wheel_of(version: &str, metadata: &str) -> Vec<u8> {
    let metadata = format!("Metadata-Version: 2.1\nName: tool\nVersion: {version}\n{metadata}\n");
    let inside = |name: &str| format!("tool-{version}.dist-info/{name}").into_bytes();
    zip_of(&[
        Entry::file(b"tool.py", b"def main():\n    print('tool 1.0')\n"),
        Entry::file(&inside("METADATA"), metadata.as_bytes()),
        Entry::file(
            &inside("WHEEL"),
            b"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        ),
        Entry::file(&inside("entry_points.txt"), b"[console_scripts]\ntool = tool:main\n"),
        Entry::file(&inside("RECORD"), b""),
    ])
}

/// An index of PyPI with one package, and a user whose pip asks it.
fn pypi(wheel: &[u8], attributes: &str) -> (User, LoopbackServer, Files) {
    let index = Files::default();
    let server = index.serve();
    let hash: String = Sha256::digest(wheel).iter().map(|byte| format!("{byte:02x}")).collect();
    let link = format!(
        "<a href=\"/files/tool-1.0-py3-none-any.whl#sha256={hash}\" {attributes}>tool-1.0-py3-none-any.whl</a>"
    );
    index.put("/simple/tool/", format!("<html><body>{link}</body></html>"));
    index.put("/files/tool-1.0-py3-none-any.whl", wheel);
    let mut user = User::new();
    user.set("PIP_INDEX_URL", server.url("/simple"));
    user.set("PIP_TRUSTED_HOST", "127.0.0.1");
    user.set("PIP_RETRIES", "0");
    (user, server, index)
}

fn pip_recipe() -> ToolRecipe {
    super::read(
        "[metadata]\nname = \"tool\"\n\
         [[steps]]\naction = \"pipx_install\"\npackage = \"tool\"\n[verify]\ncommand = \"tool --version\"\n",
    )
}

#[test]
fn a_wheel_of_another_index_is_installed() {
    let (user, _server, _) = pypi(&wheel(""), "");
    let source = "pypi:tool".parse().unwrap();
    assert_eq!(fetched_version(&source, &user.cache), None);
    let artifact = user.fetch(&pip_recipe(), "1.0").unwrap();
    assert_eq!(artifact.attestation, Some(Attestation::Absent), "it does not answer in JSON");
    assert_eq!(fetched_version(&source, &user.cache).as_deref(), Some("1.0"));
    let lock = artifact.locks.values().next().unwrap();
    assert!(
        lock.starts_with("tool==1.0 --hash=sha256:") && lock.contains("/files/tool-1.0"),
        "{lock}"
    );
    let (install, built) = user.build(&pip_recipe(), "1.0", &artifact, "install").unwrap();
    assert!(user.run(&install, &built, "tool", &[]).contains("tool 1.0"));
}

#[test]
fn a_direct_reference_is_refused_and_runs_nothing_outside() {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let marker = directory.path().join("pwned");
    let setup = format!(
        "import os\ntry:\n    open({:?}, 'w').write('x')\nexcept OSError:\n    pass\nfrom setuptools import setup\nsetup(name='evil', version='1.0')\n",
        marker.display()
    );
    let sdist = gzip(&tar_of(&[
        Entry::file(b"evil-1.0/setup.py", setup.as_bytes()),
        Entry::file(b"evil-1.0/PKG-INFO", b"Metadata-Version: 1.0\nName: evil\nVersion: 1.0\n"),
    ]));
    // The address of the index is known only when it runs.
    let (mut user, server, index) = pypi(&wheel(""), "");
    let needs = format!("Requires-Dist: evil @ {}\n", server.url("/files/evil-1.0.tar.gz"));
    let (other, other_server, other_index) = pypi(&wheel(&needs), "");
    index.put("/files/evil-1.0.tar.gz", sdist);
    user.set("PIP_INDEX_URL", other_server.url("/simple"));
    let error = user.fetch(&pip_recipe(), "1.0").unwrap_err();
    assert!(!marker.exists());
    let refused = matches!(
        error,
        SourceError::Unusable { unusable: Unusable::DirectReference, .. }
            | SourceError::Client { .. }
    );
    assert!(refused, "{error}");
    drop((other, other_index));
}

#[test]
fn a_wheel_without_programs_is_a_library() {
    let wheel = zip_of(&[
        Entry::file(b"tool.py", b""),
        Entry::file(
            b"tool-1.0.dist-info/METADATA",
            b"Metadata-Version: 2.1\nName: tool\nVersion: 1.0\n",
        ),
        Entry::file(
            b"tool-1.0.dist-info/WHEEL",
            b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        ),
        Entry::file(b"tool-1.0.dist-info/RECORD", b""),
    ]);
    let (user, _server, _) = pypi(&wheel, "");
    let artifact = user.fetch(&pip_recipe(), "1.0").unwrap();
    let error = user.build(&pip_recipe(), "1.0", &artifact, "install").unwrap_err();
    assert_eq!(error.to_string(), "pypi:tool 1.0: a library, no programs");
}

/// The versions of a document of npm, each with its time.
fn npm_versions(registry: &Files, times: &[(&str, &str)]) {
    let text = registry.0.lock().unwrap()["/tool"].clone();
    let mut document: Value = serde_json::from_slice(&text).unwrap();
    let manifest = document["versions"]["1.0.0"].clone();
    document["time"] = json!({});
    for (version, time) in times {
        let mut own = manifest.clone();
        own["version"] = json!(version);
        document["versions"][*version] = own;
        document["time"][*version] = json!(time);
        document["dist-tags"]["latest"] = json!(version);
    }
    registry.put("/tool", document.to_string());
}

#[test]
fn a_version_that_was_published_lately_is_not_taken() {
    let (mut user, _server, registry) = npm(json!({ "bin": "cli.js" }), &[PROGRAM], None);
    let times = [
        ("1.0.0", "2026-01-02T03:04:05.000Z"),
        ("1.1.0", "2026-03-02T03:04:05.000Z"),
        ("1.2.0-beta.1", "2026-03-03T03:04:05.000Z"),
        ("1.2.0", "2026-03-09T03:04:05.000Z"),
    ];
    npm_versions(&registry, &times);
    let taken = |user: &User, version| {
        let candidate = user.look_up("npm:tool", version).unwrap();
        (candidate.version, candidate.newer, candidate.unusable)
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(taken(&user, None), ("1.2.0".to_owned(), None, None));
    user.released_before = some("2026-03-06T00:00:00Z");
    assert_eq!(taken(&user, None), ("1.1.0".to_owned(), some("1.2.0"), None));
    // A version that is asked for is the user's word.
    assert_eq!(taken(&user, Some("1.2.0")), ("1.2.0".to_owned(), None, None));
    user.released_before = some("2026-01-01T00:00:00Z");
    assert_eq!(taken(&user, None).2, Some(Unusable::TooYoung));
}

#[test]
fn young_versions_of_an_index_with_times_are_not_taken() {
    let (mut user, server, index) = pypi(&wheel(""), "");
    let file = |version: &str, time: &str| {
        let (name, bytes) = (format!("tool-{version}-py3-none-any.whl"), wheel_of(version, ""));
        let hash: String =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        index.put(format!("/files/{name}"), bytes);
        json!({ "filename": name, "url": server.url(&format!("/files/{name}")),
            "hashes": { "sha256": hash }, "upload-time": time })
    };
    let files = [file("1.0", "2026-01-02T03:04:05.000Z"), file("1.1", "2026-03-09T03:04:05.000Z")];
    let page = json!({ "meta": { "api-version": "1.1" }, "name": "tool", "files": files });
    index.put("/simple/tool/", page.to_string());
    let taken = |user: &User| {
        let candidate = user.look_up("pypi:tool", None).unwrap();
        (candidate.version, candidate.newer, candidate.unusable)
    };
    assert_eq!(taken(&user), ("1.1".to_owned(), None, None));
    user.released_before = Some("2026-03-06T00:00:00Z".to_owned());
    assert_eq!(taken(&user), ("1.0".to_owned(), Some("1.1".to_owned()), None));
    user.released_before = Some("2026-01-01T00:00:00Z".to_owned());
    assert_eq!(taken(&user).2, Some(Unusable::TooYoung));
}

#[test]
fn a_withdrawn_version_is_refused() {
    let (user, _server, _) = pypi(&wheel(""), "data-yanked=\"broken\"");
    let error = user.fetch(&pip_recipe(), "1.0").unwrap_err();
    assert!(matches!(error, SourceError::Unusable { unusable: Unusable::Yanked, .. }), "{error}");
}

#[test]
fn a_wheel_with_other_bytes_than_locked_is_refused() {
    let (user, _server, _) = pypi(&wheel(""), "");
    let locks: Locks = user.fetch(&pip_recipe(), "1.0").unwrap().locks;
    let (other, _other_server, _) = pypi(&wheel("Summary: other\n"), "");
    let error = other.fetch_locked(&pip_recipe(), "1.0", &locks).unwrap_err();
    assert!(error.to_string().to_lowercase().contains("hash"), "{error}");
}

#[test]
fn a_registry_without_release_times_is_named() {
    let (mut npm_user, _npm_server, registry) = npm(json!({ "bin": "cli.js" }), &[PROGRAM], None);
    npm_versions(&registry, &[]);
    let (mut pip_user, _pip_server, _) = pypi(&wheel(""), "");
    for (user, source, title) in
        [(&mut npm_user, "npm:tool", "npm"), (&mut pip_user, "pypi:tool", "PyPI")]
    {
        assert_eq!(user.look_up(source, None).unwrap().note, None);
        user.released_before = Some("2026-03-06T00:00:00Z".to_owned());
        let note = format!("{title} reports no release times; cool_down was not applied");
        assert_eq!(user.look_up(source, None).unwrap().note, Some(note));
        let version = user.look_up(source, None).unwrap().version;
        assert_eq!(user.look_up(source, Some(&version)).unwrap().note, None);
    }
}

/// Whether nobody waited longer than allowed.
fn took_too_long(error: &SourceError) -> bool {
    matches!(
        error,
        SourceError::Download(DownloadError::TimedOut { .. })
            | SourceError::Client { status: EndStatus::TimedOut, .. }
    )
}

#[test]
fn a_registry_that_drips_is_not_waited_for() {
    let server = LoopbackServer::new(|_| Reply::Dripping);
    let answer = Duration::from_secs(8);
    let mut user = User {
        github_url: server.url("/api"),
        time_limits: TimeLimits { answer, ..TimeLimits::default() },
        ..User::new()
    };
    user.set("NPM_CONFIG_REGISTRY", server.url("/"));
    user.set("PIP_INDEX_URL", server.url("/"));
    user.set("PIP_TRUSTED_HOST", "127.0.0.1");
    let answers = std::thread::scope(|scope| {
        let ask = |source: &'static str| {
            let user = &user;
            let source = source.parse().unwrap();
            scope.spawn(move || user.with(|context| look_up(&source, None, context)))
        };
        ["github:us/greet", "npm:tool", "pypi:tool"].map(ask).map(|thread| thread.join().unwrap())
    });
    for answer in answers {
        assert!(took_too_long(answer.as_ref().unwrap_err()), "{answer:?}");
    }
}

#[test]
fn a_package_that_drips_is_not_waited_for() {
    let (mut user, _server, registry) = npm(json!({ "bin": "cli.js" }), &[PROGRAM], None);
    let recipe = recipe(&user, "npm:tool");
    registry.put("/tool/-/tool-1.0.0.tgz", DRIPPING);
    user.time_limits.fetch = Duration::from_secs(8);
    let error = user.fetch(&recipe, "1.0.0").unwrap_err();
    assert!(took_too_long(&error), "{error}");
}
