//! Releases on a server that plays GitHub, and files at a URL.

use super::User;
use crate::archives::handmade::{Entry, tar_of};
use crate::loopback_server::{LoopbackServer, Reply};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use std::io::Write as _;
use std::sync::{Arc, Mutex};
use tar::EntryType;
use towpath_tool::Action;
use towpath_tool::archive::{ArchiveError, Refusal};
use towpath_tool::download::DownloadError;
use towpath_tool::sources::{SourceError, Unusable, generate};

const SCRIPT: &[u8] = b"#!/bin/sh\necho greet 1.2.3\n";

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn archive() -> Vec<u8> {
    let program = Entry::file(b"greet-1.2.3/bin/greet", SCRIPT).with_mode(0o755);
    let link = Entry::link(EntryType::Symlink, b"greet-1.2.3/greet", b"bin/greet");
    gz(&tar_of(&[program, Entry::file(b"greet-1.2.3/README", b"read me"), link]))
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn platform_word() -> &'static str {
    if std::env::consts::ARCH == "x86_64" { "x86_64" } else { "aarch64" }
}

type Files = Vec<(String, Vec<u8>)>;

/// A repository with one release; what the files contain can be changed.
struct Forge {
    server: LoopbackServer,
    files: Arc<Mutex<Files>>,
}

impl Forge {
    fn new(
        files: &[(&str, &[u8])],
        digest: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Forge {
        let files: Files =
            files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
        let files = Arc::new(Mutex::new(files));
        let (served, base) = (Arc::clone(&files), Arc::new(Mutex::new(String::new())));
        let own = Arc::clone(&base);
        let server = LoopbackServer::new(move |path| {
            let files = served.lock().unwrap().clone();
            let asset = |(name, bytes): &(String, Vec<u8>)| {
                let url = format!("{}/files/{name}", own.lock().unwrap());
                json!({ "name": name, "browser_download_url": url, "size": bytes.len(), "digest": digest(name) })
            };
            let release = || {
                let assets: Vec<_> = files.iter().map(asset).collect();
                json!({ "tag_name": "v1.2.3", "draft": false, "assets": assets,
                    "published_at": "2026-03-09T03:04:05Z" })
            };
            let older = || {
                let mut older = release();
                older["tag_name"] = json!("v1.2.2");
                older["published_at"] = json!("2026-01-02T03:04:05Z");
                older
            };
            let answer = match path {
                "/api/repos/us/greet" => json!({
                    "description": "Greets", "homepage": "", "html_url": "https://example.com/us/greet",
                    "license": { "spdx_id": "MIT" }
                }),
                "/api/repos/us/empty" => json!({ "description": null }),
                "/api/repos/us/greet/releases/latest"
                | "/api/repos/us/greet/releases/tags/v1.2.3" => release(),
                "/api/repos/us/greet/releases?per_page=100" => json!([release(), older()]),
                other => {
                    let name = other.strip_prefix("/files/").unwrap_or("none");
                    let file = files.iter().find(|(known, _)| known == name);
                    return file
                        .map_or(Reply::Status(404), |(_, bytes)| Reply::Body(bytes.clone()));
                }
            };
            Reply::Body(answer.to_string().into_bytes())
        });
        *base.lock().unwrap() = server.url("");
        Forge { server, files }
    }

    fn user(&self) -> User {
        User { github_url: self.server.url("/api/"), ..User::new() }
    }
}

#[test]
fn a_release_becomes_a_recipe_that_installs() {
    let name = format!("greet-1.2.3-{}-unknown-linux-gnu.tar.gz", platform_word());
    let bytes = archive();
    let digest = sha256(&bytes);
    let forge = Forge::new(&[(&name, &bytes), ("greet.exe", b"MZ")], move |_| {
        Some(format!("sha256:{digest}"))
    });
    let user = forge.user();
    let candidate = user.look_up("github:us/greet", None).unwrap();
    assert_eq!((candidate.version.as_str(), candidate.unusable), ("1.2.3", None));
    assert_eq!(candidate.license.as_deref(), Some("MIT"));
    assert_eq!(candidate.homepage.as_deref(), Some("https://example.com/us/greet"));
    let recipe = user.generate(&candidate);
    assert_eq!(recipe.metadata.binaries, ["greet"]);
    assert_eq!(recipe.verify.command, "greet --version");
    assert_eq!(recipe.version.tag_prefix.as_deref(), Some("v"));
    let Action::GithubArchive { repo, asset_pattern, .. } = &recipe.steps[0].action else {
        panic!()
    };
    let pattern = format!("greet-{{version}}-{}-unknown-linux-gnu.tar.gz", platform_word());
    assert_eq!((repo.as_str(), asset_pattern), ("us/greet", &pattern));
    let asked = forge.server.requests().len();
    let artifact = user.fetch(&recipe, "1.2.3").unwrap();
    assert_eq!(forge.server.requests().len(), asked, "it was fetched when the recipe was made");
    let (install, built) = user.build(&recipe, "1.2.3", &artifact, "install").unwrap();
    assert_eq!(built.binaries, [("greet".to_owned(), "bin/greet".into())]);
    assert_eq!(user.run(&install, &built, "greet", &["--version"]), "greet 1.2.3\n");
}

#[test]
fn a_release_that_was_published_lately_is_not_taken() {
    let forge = Forge::new(&[("greet-linux.tar.gz", &archive())], |_| None);
    let mut user = forge.user();
    let taken = |user: &User| {
        let candidate = user.look_up("github:us/greet", None).unwrap();
        (candidate.version, candidate.newer, candidate.unusable)
    };
    user.released_before = Some("2026-03-06T00:00:00Z".to_owned());
    assert_eq!(taken(&user), ("1.2.2".to_owned(), Some("1.2.3".to_owned()), None));
    user.released_before = Some("2026-01-01T00:00:00Z".to_owned());
    assert_eq!(taken(&user).2, Some(Unusable::TooYoung));
}

#[test]
fn a_release_is_found_by_its_version_or_not_at_all() {
    let forge = Forge::new(&[("greet-linux-riscv64.tar.gz", b"")], |_| None);
    let user = forge.user();
    let candidate = user.look_up("github:us/greet", Some("1.2.3")).unwrap();
    assert_eq!(candidate.unusable, Some(Unusable::NoAsset));
    assert_eq!(user.look_up("github:us/greet", Some("9.9")), None);
    assert_eq!(user.look_up("github:us/nothing", None), None);
    let empty = user.look_up("github:us/empty", None).unwrap();
    assert_eq!(empty.unusable, Some(Unusable::NoRelease));
}

#[test]
fn checksums_of_a_release_are_compared() {
    let name = "greet_linux.tar.gz";
    let bytes = archive();
    let list = format!("{}  other\n{} *{name}\n", "0".repeat(64), sha256(&bytes));
    let forge = Forge::new(&[(name, &bytes), ("SHA256SUMS", list.as_bytes())], |_| None);
    let user = forge.user();
    let candidate = user.look_up("github:us/greet", None).unwrap();
    if std::env::consts::ARCH != "x86_64" {
        assert_eq!(candidate.unusable, Some(Unusable::NoAsset));
        return;
    }
    assert_eq!(candidate.asset.as_ref().unwrap().sha256.as_deref(), Some(sha256(&bytes).as_str()));
    // The file is replaced after its checksum was published.
    forge.files.lock().unwrap()[0].1 = gz(b"something else");
    let error = user.with(|context| generate(&candidate, context)).unwrap_err();
    assert!(matches!(error, SourceError::Download(DownloadError::Checksum { .. })), "{error}");
    forge.files.lock().unwrap()[0].1 = bytes;
    let recipe = user.generate(&candidate);
    // And after the recipe was made, where the cache has nothing.
    forge.files.lock().unwrap()[0].1 = gz(b"something else");
    let other = forge.user();
    let error = other.fetch(&recipe, "1.2.3").unwrap_err();
    assert!(matches!(error, SourceError::Download(DownloadError::Checksum { .. })), "{error}");
    assert!(user.fetch(&recipe, "1.2.3").is_ok());
}

fn serve(name: &'static str, bytes: Vec<u8>) -> LoopbackServer {
    LoopbackServer::new(move |path| match path == format!("/dl/{name}") {
        true => Reply::Body(bytes.clone()),
        false => Reply::Status(404),
    })
}

#[test]
fn files_at_a_url_of_every_kind_install() {
    let zip = crate::archives::handmade::zip_of(&[Entry::file(b"greet-linux", SCRIPT)]);
    let cases: [(&'static str, Vec<u8>, &str); 4] = [
        ("greet-1.2.3.tar.gz", archive(), "1.2.3"),
        ("greet-1.2.3.gz", gz(SCRIPT), "1.2.3"),
        ("greet_v1.2.3_linux.zip", zip, "1.2.3"),
        ("greet", SCRIPT.to_vec(), "0"),
    ];
    for (name, bytes, version) in cases {
        let server = serve(name, bytes);
        let user = User::new();
        let candidate = user.look_up(&server.url(&format!("/dl/{name}")), None).unwrap();
        assert_eq!(candidate.version, version, "{name}");
        let recipe = user.generate(&candidate);
        assert_eq!(recipe.metadata.name, "greet", "{name}");
        assert_eq!(recipe.source().kind().word(), "url");
        let artifact = user.fetch(&recipe, version).unwrap();
        let (install, built) = user.build(&recipe, version, &artifact, "install").unwrap();
        assert_eq!(built.binaries[0].0, "greet", "{name}: {built:?}");
        assert_eq!(user.run(&install, &built, "greet", &[]), "greet 1.2.3\n", "{name}");
        assert_eq!(server.requests().len(), 1, "{name}: nothing is fetched twice");
    }
}

#[test]
fn what_cannot_be_a_tool_is_refused() {
    let no_program = gz(&tar_of(&[Entry::file(b"README", b"text")]));
    let evil = gz(&tar_of(&[Entry::file(b"../../escape", SCRIPT)]));
    let cases: [(&'static str, Vec<u8>); 3] =
        [("a-1.0.tar.gz", no_program), ("b-1.0.tar.gz", evil), ("c-1.0", b"<html>".to_vec())];
    for (name, bytes) in cases {
        let server = serve(name, bytes);
        let user = User::new();
        let candidate = user.look_up(&server.url(&format!("/dl/{name}")), None).unwrap();
        let error = user.with(|context| generate(&candidate, context)).unwrap_err();
        let expected = match (&name[..1], &error) {
            ("a", SourceError::NoFile(_)) => true,
            ("b", SourceError::Archive(ArchiveError::Refused { refusal, .. })) => {
                *refusal == Refusal::ParentDirectory
            }
            ("c", SourceError::Archive(ArchiveError::UnknownKind)) => true,
            _ => false,
        };
        assert!(expected, "{name}: {error:?}");
        assert!(!user.path("escape").exists() && !user.path("../escape").exists());
    }
}
